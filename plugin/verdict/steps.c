/* steps.c
 * Steps of a client on its way to data, and what TCP shows of its connections.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "tap/call-tap.h"
#include "taps/output.h"
#include "text/text.h"

#include <epan/conversation.h>
#include <epan/dissectors/packet-ntlmssp.h>
#include <epan/dissectors/packet-smb2.h>
#include <epan/dissectors/packet-tcp.h>
#include <epan/epan_dissect.h>
#include <epan/to_str.h>

enum { PORT_KERBEROS = 88, PORT_MAPPER = 135, PORT_SMB = 445, FIRST_DYNAMIC_PORT = 49152 };

#define MAX_LOSSES 1000  /* losses that are kept of peers */
#define MAX_OVERCOME 100 /* failures that were made good, of peers */
#define TRIED_SHARE 3    /* a gap divided by this: so long the client tries at least, where a failure is its cause */

#define PROMPT_SHARE 0.1 /* of the seconds of retransmissions: an acknowledgment within is that of the newest copy */
#define RESENT_AFTER 0.1 /* seconds: a packet that was captured twice comes earlier than a retransmission */

/* --- Outcomes ---------------------------------------------------------------------------------------------------- */

/* Outcomes that are no NTSTATUS. Without an answer, or with an end of the connection in its place (one more): a SYN, a request. Then doubts: if the
 * client leaves. Kerberos errors (RFC 4120 7.5.9) are counted from OUTCOME_KERBEROS. */
enum { OUTCOME_SILENT = 1, OUTCOME_RESET, OUTCOME_UNANSWERED, OUTCOME_ENDED, OUTCOME_SIGNING, OUTCOME_GUEST };
enum { OUTCOME_REFUSED = OUTCOME_GUEST + 1, OUTCOME_NO_INTERFACE, OUTCOME_KERBEROS = 1000 };

/* A step's kind of finding; sentence if it fails; words for what the client does while it waits. Connections have outcomes of their own. */
static const struct {
    verdict_kind kind;
    const char *fails, *does;
} step_rows[] = {
    [STEP_MAP] = {VERDICT_BIND_REFUSED, "$S tells $C no port of the interface", "asks for the interface's port"},
    [STEP_NEGOTIATE] = {VERDICT_LOGON_FAILED, "$S has no version of SMB for $C", "logs on"},
    [STEP_LOGON] = {VERDICT_LOGON_FAILED, "$S refuses the logon of $C", "logs on"},
    [STEP_SHARE] = {VERDICT_SHARE_DENIED, "$S does not give $C the share IPC$", "wants IPC$"},
    [STEP_PIPE] = {VERDICT_PIPE_MISSING, "$S does not open the pipe winreg for $C", "opens the pipe winreg"},
    [STEP_BIND] = {VERDICT_BIND_REFUSED, "$S does not offer $C the interface", "asks for the interface"},
    [STEP_CALL] = {VERDICT_PIPE_BROKEN, "$S fails calls of $C on the pipe winreg", ""},
};

#define OF_STEP VERDICT_NUM_KINDS

typedef struct {
    uint32_t number;
    const char *name;  /* NULL: it has none */
    verdict_kind kind; /* OF_STEP, and PIPE_DENIED but where the pipe is opened: the step's */
    verdict_party party;
    const char *meaning; /* for brackets behind the step's sentence; or, from "$" on, a sentence in its place */
} outcome_row;

/* Outcomes of a step that fails, with their meaning. docs/symptoms.md has the same list. */
static const outcome_row outcomes[] = {
    {0xc000006d, "STATUS_LOGON_FAILURE", OF_STEP, PARTY_CLIENT, "wrong name or password"},
    {0xc000006a, "STATUS_WRONG_PASSWORD", OF_STEP, PARTY_CLIENT, "wrong password"},
    {0xc0000064, "STATUS_NO_SUCH_USER", OF_STEP, PARTY_CLIENT, "no such account"},
    {0xc0000234, "STATUS_ACCOUNT_LOCKED_OUT", OF_STEP, PARTY_CLIENT, "account is locked"},
    {0xc0000072, "STATUS_ACCOUNT_DISABLED", OF_STEP, PARTY_CLIENT, "account is disabled"},
    {0xc0000193, "STATUS_ACCOUNT_EXPIRED", OF_STEP, PARTY_CLIENT, "account expired"},
    {0xc000006e, "STATUS_ACCOUNT_RESTRICTION", OF_STEP, PARTY_CLIENT, "account is restricted"},
    {0xc0000071, "STATUS_PASSWORD_EXPIRED", OF_STEP, PARTY_CLIENT, "password expired"},
    {0xc0000224, "STATUS_PASSWORD_MUST_CHANGE", OF_STEP, PARTY_CLIENT, "password has to be changed"},
    {0xc000006f, "STATUS_INVALID_LOGON_HOURS", OF_STEP, PARTY_CLIENT, "not at this hour"},
    {0xc0000070, "STATUS_INVALID_WORKSTATION", OF_STEP, PARTY_CLIENT, "not from this machine"},
    {0xc000015b, "STATUS_LOGON_TYPE_NOT_GRANTED", OF_STEP, PARTY_CLIENT, "not from the network"},
    {0xc0000133, "STATUS_TIME_DIFFERENCE_AT_DC", OF_STEP, PARTY_CLIENT, "clock skew"},
    {0xc0000418, "STATUS_NTLM_BLOCKED", OF_STEP, PARTY_SERVER, "NTLM is not allowed"},
    {0xc000005e, "STATUS_NO_LOGON_SERVERS", OF_STEP, PARTY_SERVER, "no domain controller found"},
    {0xc000018d, "STATUS_TRUSTED_RELATIONSHIP_FAILURE", OF_STEP, PARTY_SERVER, "no trust in its domain"},
    {0xc00000d0, "STATUS_REQUEST_NOT_ACCEPTED", OF_STEP, PARTY_SERVER, "no more sessions"},
    {STATUS_ACCESS_DENIED, "STATUS_ACCESS_DENIED", VERDICT_PIPE_DENIED, PARTY_SERVER, "no rights"},
    {0xc00000bb, "STATUS_NOT_SUPPORTED", OF_STEP, PARTY_SERVER, "not supported"},
    {0xc00000cc, "STATUS_BAD_NETWORK_NAME", OF_STEP, PARTY_SERVER, "no such share"},
    {0xc0000034, "STATUS_OBJECT_NAME_NOT_FOUND", OF_STEP, PARTY_SERVER, "Remote Registry is disabled?"},
    {0xc00000ac, "STATUS_PIPE_NOT_AVAILABLE", VERDICT_PIPE_STARTING, PARTY_SERVER, "Remote Registry is starting?"},
    {0xc00000ab, "STATUS_INSTANCE_NOT_AVAILABLE", VERDICT_PIPE_STARTING, PARTY_SERVER, "no free instance; starting?"},
    {0xc000014b, "STATUS_PIPE_BROKEN", OF_STEP, PARTY_SERVER, "service ended?"},
    {0xc00000b0, "STATUS_PIPE_DISCONNECTED", OF_STEP, PARTY_SERVER, "service ended?"},
    {0xc00000c9, "STATUS_NETWORK_NAME_DELETED", OF_STEP, PARTY_SERVER, "the share was ended"},
    {0xc0000128, "STATUS_FILE_CLOSED", OF_STEP, PARTY_SERVER, "the pipe was closed"},
    {0xc00000b5, "STATUS_IO_TIMEOUT", OF_STEP, PARTY_SERVER, "timed out"},
    {STATUS_NETWORK_SESSION_EXPIRED, "STATUS_NETWORK_SESSION_EXPIRED", VERDICT_SESSION_EXPIRED, PARTY_SERVER,
     "session expired"},
    {STATUS_USER_SESSION_DELETED, "STATUS_USER_SESSION_DELETED", VERDICT_SESSION_EXPIRED, PARTY_SERVER,
     "session deleted"},
    {OUTCOME_KERBEROS + 6, "KDC_ERR_C_PRINCIPAL_UNKNOWN", OF_STEP, PARTY_CLIENT, "no such account"},
    {OUTCOME_KERBEROS + 7, "KDC_ERR_S_PRINCIPAL_UNKNOWN", OF_STEP, PARTY_SERVER, "no SPN of the name in use"},
    {OUTCOME_KERBEROS + 14, "KDC_ERR_ETYPE_NOSUPP", OF_STEP, PARTY_SERVER, "no encryption type in common"},
    {OUTCOME_KERBEROS + 18, "KDC_ERR_CLIENT_REVOKED", OF_STEP, PARTY_CLIENT, "account is locked or disabled"},
    {OUTCOME_KERBEROS + 23, "KDC_ERR_KEY_EXPIRED", OF_STEP, PARTY_CLIENT, "password expired"},
    {OUTCOME_KERBEROS + 24, "KDC_ERR_PREAUTH_FAILED", OF_STEP, PARTY_CLIENT, "wrong password"},
    {OUTCOME_KERBEROS + 37, "KRB_AP_ERR_SKEW", OF_STEP, PARTY_CLIENT, "clock skew"},
    {OUTCOME_KERBEROS + 41, "KRB_AP_ERR_MODIFIED", OF_STEP, PARTY_CLIENT, "wrong key: alias or SPN?"},
    {OUTCOME_SILENT, NULL, VERDICT_UNREACHABLE, PARTY_NETWORK,
     "$S does not answer $C on port $F (a firewall, or no such machine)"},
    {OUTCOME_RESET, NULL, VERDICT_REFUSED_CONNECTION, PARTY_SERVER,
     "$S refuses $C connections on port $F (nobody listens, or a firewall)"},
    {OUTCOME_UNANSWERED, NULL, VERDICT_UNANSWERED, PARTY_SERVER, "$S does not answer $C, which "},
    {OUTCOME_ENDED, NULL, VERDICT_BROKEN, PARTY_SERVER, "$S (or a firewall) ends the connection as $C "},
    {OUTCOME_SIGNING, NULL, OF_STEP, PARTY_CLIENT, "one side requires SMB signing?"},
    {OUTCOME_GUEST, NULL, VERDICT_LOGON_FAILED, PARTY_CLIENT, "guest access only"},
    {OUTCOME_REFUSED, NULL, OF_STEP, PARTY_SERVER, "refused"},
    {OUTCOME_NO_INTERFACE, NULL, OF_STEP, PARTY_SERVER, "it is not there"},
    {0, NULL, OF_STEP, PARTY_SERVER, ""}, /* any other NTSTATUS or Kerberos error */
};

/* Returns the last row for an outcome that has none. */
static const outcome_row *find_outcome_row(uint32_t number)
{
    const outcome_row *row = outcomes;

    while (row->number != number && row->number > 0) {
        row++;
    }
    return row;
}

/* --- Peers and connections --------------------------------------------------------------------------------------- */

static wmem_allocator_t *memory; /* NULL: nobody watches */
steps_seen steps;

/* Returns the peers of a packet's addresses. `from_client`: its source is the client. */
static verdict_peers *find_or_create_peers(packet_info *pinfo, bool from_client)
{
    const char *source = address_to_str(pinfo->pool, &pinfo->src), *to = address_to_str(pinfo->pool, &pinfo->dst);
    const char *client = from_client ? source : to, *server = from_client ? to : source;
    const char *key = wmem_strdup_printf(pinfo->pool, "%s %s", client, server);
    verdict_peers *peers = wmem_map_lookup(steps.by_addresses, key);

    if (peers == NULL) {
        peers = wmem_new0(memory, verdict_peers);
        peers->client = wmem_strdup(memory, client);
        peers->server = peers->called = wmem_strdup(memory, server);
        peers->asker = wmem_map_lookup(steps.by_addresses, client);
        if (peers->asker == NULL) {
            peers->asker = peers;
            wmem_map_insert(steps.by_addresses, peers->client, peers);
        }
        peers->losses = wmem_array_new(memory, sizeof(capture_gap));
        peers->overcome = wmem_array_new(memory, sizeof(setup_failure));
        peers->next = steps.newest_peers;
        steps.newest_peers = peers;
        wmem_map_insert(steps.by_addresses, wmem_strdup(memory, key), peers);
    }
    return peers;
}

static void set_ends(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    connection->peers = find_or_create_peers(pinfo, from_client);
    connection->client_port = from_client ? pinfo->srcport : pinfo->destport;
    connection->port = from_client ? pinfo->destport : pinfo->srcport;
}

static bool is_from_client(const verdict_connection *connection, const packet_info *pinfo)
{
    return pinfo->srcport == connection->client_port;
}

/* Returns the connection of a packet, created with the first one; NULL: none. UDP counts for Kerberos. A SYN tells the server, else the lower port. Needs:
 * somebody watches. */
static verdict_connection *find_connection(packet_info *pinfo)
{
    bool is_tcp = pinfo->ptype == PT_TCP;
    const conversation_t *conversation =
        is_tcp || pinfo->srcport == PORT_KERBEROS ? find_conversation_pinfo(pinfo, 0) : NULL;

    if (conversation == NULL) {
        return NULL;
    }
    const void *key = GUINT_TO_POINTER(conversation->conv_index);
    verdict_connection *connection = wmem_map_lookup(steps.by_number, key);
    if (connection == NULL) {
        const struct tcp_analysis *analysis = is_tcp ? ws_tcp_analysis(pinfo) : NULL;
        uint32_t port =
            analysis && analysis->server_port > 0 ? analysis->server_port : MIN(pinfo->srcport, pinfo->destport);
        connection = wmem_new0(memory, verdict_connection);
        connection->begin = verdict_now(pinfo);
        set_ends(connection, pinfo, pinfo->destport == port);
        wmem_map_insert(steps.by_number, key, connection);
    }
    return connection;
}

/* Notes a message of SMB2 or DCE/RPC. `from_client`: it is a request. Changes: the client, where the ports told it wrongly. */
static void note_message(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    if (is_from_client(connection, pinfo) != from_client) {
        set_ends(connection, pinfo, from_client);
        memset(connection->by, 0, sizeof connection->by);
    }
    connection->peers->has_messages = true;
}

/* Notes that the peers use performance counters. */
static void mark_ours(verdict_peers *peers)
{
    peers->is_ours = peers->asker->asks = steps.has_asker = true;
}

/* --- Steps ------------------------------------------------------------------------------------------------------- */

/* Adds a moment to a failure or a wait, unless that is of a later step; of another outcome, port or account it begins anew. Needs:
 * `account` outlives it. */
static void note_moment(setup_failure *known, const verdict_connection *connection, setup_step step, uint32_t outcome,
                        const char *account, verdict_moment at)
{
    bool is_known = known->shown.count > 0;
    bool is_same = is_known && known->outcome == outcome && known->connection->port == connection->port &&
                   g_strcmp0(known->shown.which, account) == 0;

    if (is_known && known->step > step) {
        return;
    }
    if (!is_same) {
        *known = (setup_failure){.step = step, .outcome = outcome, .shown = {.which = account, .lasts = true}};
    }
    known->connection = connection;
    known->before = known->shown.until;
    evidence_add(memory, &known->shown, at);
}

/* Forgets a failure, or a wait. Changes: failures, and SYNs before the one that was answered, are kept for a gap that they may explain. */
static void forget_failure(verdict_peers *peers, setup_failure *failure)
{
    bool is_silent = failure->outcome == OUTCOME_SILENT;

    if (is_silent && failure->shown.count > 0) {
        failure->shown.count--;
        failure->shown.until = failure->before;
    }
    bool is_kept = failure->shown.count > 0 && (is_silent || failure == &peers->failure);
    if (is_kept && wmem_array_get_count(peers->overcome) < MAX_OVERCOME) {
        failure->shown.lasts = false;
        wmem_array_append(peers->overcome, failure, 1);
    }
    failure->shown.count = 0;
}

/* Notes a success of a step. Changes: up to this step nothing waits, and a failure is forgotten, unless another account has it, or perhaps has: a pipe was
 * denied, and the success is of a connection that was there before, so it is no later try. */
static void pass_step(verdict_connection *connection, setup_step step, uint32_t frame)
{
    verdict_peers *peers = connection->peers;
    setup_failure *failure = &peers->failure, *waits = &peers->waits;
    const char *account = failure->shown.which;
    bool is_older = connection != failure->connection && connection->begin.frame < failure->shown.since.frame;
    bool is_same_account =
        account ? g_strcmp0(connection->logon, account) == 0 : !(is_older && failure->outcome == STATUS_ACCESS_DENIED);

    if (failure->step <= step && is_same_account) {
        forget_failure(peers, failure);
    }
    if (waits->step <= step) {
        forget_failure(peers, waits);
    }
    peers->asker->refused = step < STEP_LOGON ? peers->asker->refused : REFUSED_NOTHING;
    peers->logged_on = step == STEP_LOGON ? frame : peers->logged_on;
}

/* Notes a failure of a connection's step, of its account if that is why. Changes: the step waits no longer; a refused logon's account is none. */
static void fail_step(verdict_connection *connection, setup_step step, uint32_t outcome, verdict_moment at)
{
    setup_failure *waits = &connection->peers->waits;
    bool is_of_account = step == STEP_LOGON || outcome == STATUS_ACCESS_DENIED || outcome == OUTCOME_GUEST;

    waits->shown.count = waits->step == step ? 0 : waits->shown.count;
    connection->account = step == STEP_LOGON ? NULL : connection->account;
    note_moment(&connection->peers->failure, connection, step, outcome, is_of_account ? connection->logon : NULL, at);
    connection->logon = step == STEP_LOGON ? NULL : connection->logon;
}

verdict_connection *steps_note_call(packet_info *pinfo, bool is_response)
{
    verdict_connection *connection = find_connection(pinfo);

    if (connection == NULL) {
        return NULL;
    }
    note_message(connection, pinfo, !is_response);
    mark_ours(connection->peers);
    if (connection->port >= FIRST_DYNAMIC_PORT) {
        connection->peers->service_port = connection->port;
    }
    connection->end.frame = is_response ? connection->end.frame : 0; /* another pipe was closed */
    connection->first_call = connection->first_call > 0 ? connection->first_call : verdict_now(pinfo).time;
    if (is_response && connection->logon) {
        wmem_map_insert(steps.accounts, connection->logon, connection);
    }
    connection->asked = is_response ? (verdict_moment){connection->asked.frame, 0} : verdict_now(pinfo);
    pass_step(connection, is_response ? STEP_CALL : STEP_BIND, pinfo->num);
    return connection;
}

void steps_name_server(verdict_peers *peers, const char *name)
{
    if (g_ascii_strcasecmp(peers->called, name) != 0) {
        peers->called = wmem_strdup(memory, name);
    }
}

/* --- TCP --------------------------------------------------------------------------------------------------------- */

bool steps_has_loss(const verdict_peers *peers, double begin, double end)
{
    bool has_loss = false;

    for (unsigned i = wmem_array_get_count(peers->losses); i > 0 && !has_loss; i--) {
        const capture_gap *loss = wmem_array_index(peers->losses, i - 1);
        has_loss = loss->until >= begin && loss->since <= end;
    }
    return has_loss;
}

const setup_failure *steps_find_overcome(const verdict_peers *peers, double begin, double end)
{
    const setup_failure *found = NULL;

    for (unsigned i = wmem_array_get_count(peers->overcome); i > 0; i--) {
        const setup_failure *failure = wmem_array_index(peers->overcome, i - 1);
        double since = failure->shown.since.time;
        found = since > begin && since <= end - (end - begin) / TRIED_SHARE ? failure : found;
    }
    return found;
}

/* Notes a FIN or RST while a step waits: the server ended the connection instead, or the client left because of a doubt that nothing else explains.
 * `is_lacking`: it acknowledges what was not captured, perhaps the client's FIN. */
static void see_end(verdict_connection *connection, bool by_client, bool is_lacking, verdict_moment now)
{
    const setup_failure *failure = &connection->peers->failure;
    setup_failure *waits = &connection->peers->waits;
    verdict_peers *asker = connection->peers->asker;
    bool is_waiting = waits->shown.count > 0 && waits->connection == connection,
         is_doubt = waits->outcome >= OUTCOME_SIGNING;
    bool is_first = connection->end.frame == 0 || waits->outcome == OUTCOME_SILENT; /* a FIN may answer the client's */
    bool is_explained =
        asker->refused > REFUSED_NOTHING || (failure->shown.count > 0 && failure->outcome != waits->outcome);

    if (is_waiting && (is_doubt ? by_client && !is_explained : !by_client && is_first)) {
        fail_step(connection, waits->step, is_doubt ? waits->outcome : waits->outcome + 1,
                  is_doubt ? waits->shown.until : now);
    } else if (is_waiting && now.time - waits->shown.since.time < STEPS_LONG_WAIT) {
        waits->shown.count = 0; /* the client did not wait long */
    }
    if (connection->account == NULL && connection->port == PORT_SMB && asker->refused == REFUSED_TICKET) {
        asker->refused = REFUSED_LOGON;
    }
    if (connection->end.frame == 0) {
        connection->end = now;
        connection->is_ended_by_client = by_client || is_lacking;
    }
}

/* Notes a retransmission, `rto` seconds after its segment was sent first. Behind a hole of the capture the other one lacks that, too. */
static void see_resent(verdict_connection *connection, const tcp_info_t *tcp, bool by_client, double rto, double now)
{
    connection_way *way = &connection->by[by_client];
    const uint32_t heard = connection->by[!by_client].heard;

    if (rto >= RESENT_AFTER) {
        bool is_heard = (int32_t)(heard - tcp->th_rawseq - tcp->th_seglen) >= 0;
        *(is_heard ? &connection->troubles.resent : &way->waited) += rto;
        way->resent_at = now;
        way->resent++;
    }
    if (tcp->th_rawseq == heard) {
        connection->peers->not_captured -= way->holes;
        way->holes = 0;
    }
}

/* Takes troubles, losses and acknowledgments from Wireshark's analysis of a packet. Returns whether it acknowledges what was not captured. */
static bool see_analysis(verdict_connection *connection, packet_info *pinfo, const tcp_info_t *tcp, bool by_client,
                         verdict_moment now)
{
    const struct tcp_analysis *analysis = ws_tcp_analysis(pinfo);
    wmem_tree_key_t key[] = {
        {1, (uint32_t[]){now.frame}}, {1, (uint32_t[]){tcp->th_rawseq}}, {1, (uint32_t[]){tcp->th_rawack}}, {0, NULL}};
    const struct tcp_acked *found = analysis ? wmem_tree_lookup32_array(analysis->acked_table, key) : NULL;

    if (found == NULL) {
        return false;
    }
    if (found->flags & WS_TCP_RESENT) {
        see_resent(connection, tcp, by_client, nstime_to_sec(&found->rto_ts), now.time);
    }
    connection->troubles.full[by_client] += (found->flags & WS_TCP_ZERO_WINDOW) > 0;
    if (!by_client && found->frame_acked > 0 && tcp->th_seglen == 0) {
        connection->acked = (verdict_moment){found->frame_acked, now.time};
    }
    if (found->flags & (WS_TCP_LOST_PACKET | WS_TCP_ACK_LOST_PACKET)) {
        const capture_gap gap = {connection->newest, now.time};
        wmem_array_t *losses = connection->peers->losses;
        verdict_evidence *lacks = &connection->peers->lacks[LACKS_PACKETS];
        connection->peers->not_captured++;
        if (found->flags & WS_TCP_LOST_PACKET) {
            connection_way *way = &connection->by[by_client];
            way->holes = (int32_t)(connection->by[!by_client].heard - way->behind) < 0 ? way->holes + 1 : 1;
            way->behind = tcp->th_rawseq;
        }
        lacks->count = MIN(lacks->count, MAX_LOSSES - 1); /* each monitor of the peers sorts them */
        evidence_add(memory, lacks, now);
        if (wmem_array_get_count(losses) < lacks->count) {
            wmem_array_append_one(losses, gap);
        }
        ((capture_gap *)wmem_array_index(losses, lacks->count - 1))->until = now.time;
        connection->peers->waits.shown.count = 0; /* what is lost may be the answer, or a request */
    }
    return found->flags & WS_TCP_ACK_LOST_PACKET;
}

/* Notes a SYN: a step waits, if calls may go to the port: SMB, the endpoint mapper, or of those that Windows gives to services the one that
 * calls went to, or, once the mapper told one anew, any. */
static void see_syn(verdict_connection *connection, verdict_moment now)
{
    const verdict_peers *peers = connection->peers;
    bool is_told = peers->service_port == connection->port || (peers->service_port == 0 && peers->was_mapped);
    bool is_service = is_told && connection->port >= FIRST_DYNAMIC_PORT;

    if (connection->syn.frame == 0) {
        if (connection->begin.frame < now.frame) {
            evidence_add(memory, &connection->peers->lacks[LACKS_ORDER], now);
        }
        connection->syn = now;
    }
    if (is_service || connection->port == PORT_SMB || connection->port == PORT_MAPPER) {
        note_moment(&connection->peers->waits, connection, is_service ? STEP_CONNECT_SERVICE : STEP_CONNECT,
                    OUTCOME_SILENT, NULL, now);
    }
}

/* Notes a packet by its direction: acknowledgment, also of what was resent, begin of a response. */
static void see_segment(verdict_connection *connection, const tcp_info_t *tcp, bool by_client, verdict_moment at)
{
    connection_way *way = &connection->by[by_client], *other = &connection->by[!by_client];
    connection_troubles *troubles = &connection->troubles;

    way->packets++;
    if ((tcp->th_flags & (TH_ACK | TH_RST)) == TH_ACK && tcp->th_rawack != way->heard) {
        way->heard_at = way->heard > 0 ? at.time : 0;
        way->heard = tcp->th_rawack;
        bool has_come = at.time - other->resent_at <= PROMPT_SHARE * other->waited; /* the newest copy alone */
        *(has_come ? &troubles->resent : &troubles->silent[by_client]) += other->waited;
        other->waited = 0;
        other->resent = 0;
    }
    if (connection->peers->has_messages && steps_is_one_way(connection)) {
        connection->peers->asker->one_way = connection;
    }
    bool has_data = tcp->th_seglen > 0;
    bool is_next = by_client || connection->response_began <= 0 || connection->has_whole_message;
    bool is_unread = connection->asked.time > 0 && connection->response_began > connection->asked.time;
    if (has_data && by_client && is_unread && connection->port != PORT_SMB) { /* it asks on, so it had the response */
        connection->peers->unread = at.frame;
    }
    if (has_data && is_next) {
        connection->response_began = by_client ? 0 : at.time;
        connection->has_whole_message = false;
    }
}

/* Notes the capture's times, of any packet. */
static void see_frame(verdict_connection *connection _U_, packet_info *pinfo, const epan_dissect_t *edt _U_,
                      const void *frame _U_)
{
    double now = verdict_now(pinfo).time;

    steps.first = steps.first > 0 ? steps.first : now;
    steps.was_set |= now <= steps.last - 1;
    steps.last = now;
}

/* Notes a TCP packet. */
static void see_tcp(verdict_connection *connection, packet_info *pinfo, const epan_dissect_t *edt _U_,
                    const void *packet)
{
    const tcp_info_t *tcp = packet;
    const verdict_moment now = verdict_now(pinfo);
    bool by_client = is_from_client(connection, pinfo), has_ack = tcp->th_flags & TH_ACK;
    bool is_lacking = see_analysis(connection, pinfo, tcp, by_client, now);
    const setup_failure *waits = &connection->peers->waits;
    bool is_connecting = waits->outcome == OUTCOME_SILENT && waits->connection->port == connection->port;

    connection->newest = now.time;
    if (pinfo->fd->cap_len < pinfo->fd->pkt_len) {
        evidence_add(memory, &connection->peers->lacks[LACKS_BYTES], now);
        connection->peers->has_messages |= connection->port == PORT_SMB; /* cut so short that none is seen */
    }
    if (has_ack && !(tcp->th_flags & TH_RST) && is_connecting) { /* SYN/ACK, or a later one */
        pass_step(connection, waits->step, now.frame);
    }
    if (tcp->th_flags & TH_SYN && !has_ack) {
        see_syn(connection, now);
    }
    see_segment(connection, tcp, by_client, now);
    if (tcp->th_flags & (TH_FIN | TH_RST)) {
        see_end(connection, by_client, is_lacking, now);
    }
}

/* --- SMB2 -------------------------------------------------------------------------------------------------------- */

/* [MS-SMB2] 2.2.3, 2.2.6 and 2.2.10; [MS-ERREF] 2.3.1 */
enum { SIGNING_ENABLED = 1, IS_GUEST = 1, SHARE_OF_PIPES = 2, NT_STATUS_PENDING = 0x103 };
#define STATUS_MORE_PROCESSING 0xc0000016

/* Returns true if a message is about a file or share whose name ends so. */
static bool is_about(const smb2_info_t *smb, const char *word)
{
    const smb2_fid_info_t *file = smb->file ? smb->file : smb->saved ? smb->saved->file : NULL;
    const char *asked = smb->saved ? smb->saved->extra_info : NULL;
    const char *name = asked ? asked : file ? file->name : smb->tree ? smb->tree->name : NULL;
    size_t size = name ? strlen(name) : 0, wanted = strlen(word);

    return size >= wanted && g_ascii_strcasecmp(name + size - wanted, word) == 0;
}

/* Returns the step that a message is about; NUM_STEPS: none. */
static setup_step message_step(const smb2_info_t *smb)
{
    bool is_of_pipes = smb->tree == NULL || smb->tree->share_type == SHARE_OF_PIPES;

    return smb->opcode == SMB2_COM_NEGOTIATE_PROTOCOL                                 ? STEP_NEGOTIATE
           : smb->opcode == SMB2_COM_SESSION_SETUP                                    ? STEP_LOGON
           : smb->opcode == SMB2_COM_TREE_CONNECT && is_about(smb, "ipc$")            ? STEP_SHARE
           : smb->opcode == SMB2_COM_CREATE && is_of_pipes && is_about(smb, "winreg") ? STEP_PIPE
                                                                                      : NUM_STEPS;
}

/* Returns the number in the packet's first field of this name; 1: the field has none; `none`: there is no such field. */
static uint32_t find_number(const epan_dissect_t *edt, const char *name, uint32_t none)
{
    const GPtrArray *fields = proto_get_finfo_ptr_array(edt->tree, proto_registrar_get_id_byname(name));
    field_info *field = fields && fields->len > 0 ? g_ptr_array_index(fields, 0) : NULL;
    enum ftenum type = field ? field->hfinfo->type : FT_NONE;

    return field == NULL                           ? none
           : type == FT_INT32                      ? (uint32_t)fvalue_get_sinteger(WS_FIELD_VALUE(field))
           : type == FT_UINT8 || type == FT_UINT16 ? fvalue_get_uinteger(WS_FIELD_VALUE(field))
                                                   : 1;
}

/* Notes a request of SMB2, whose step waits, or its response, whose step passes or fails, by a Kerberos error if it has one. A CLOSE of the last pipe winreg
 * ends the connection's use; an error for a call's READ, WRITE or IOCTL is a pipe_failure; other files are other uses. */
static void see_smb2(verdict_connection *connection, packet_info *pinfo, const epan_dissect_t *edt, const void *message)
{
    const smb2_info_t *smb = message;
    const verdict_moment now = verdict_now(pinfo);
    setup_failure *waits = &connection->peers->waits;
    uint32_t asked = smb->opcode == SMB2_COM_READ ? connection->asked.frame : smb->saved ? smb->saved->frame_req : 0;
    uint32_t kerberos = find_number(edt, "kerberos.error_code", 0);
    bool is_response = smb->flags & SMB2_FLAGS_RESPONSE, is_error = is_response && smb->status >> 30 == 3;
    /* that the share is there is said without its name */
    bool is_share =
        is_response && smb->opcode == SMB2_COM_TREE_CONNECT && waits->shown.count > 0 && waits->step == STEP_SHARE;
    setup_step step = is_share ? STEP_SHARE : message_step(smb);

    connection->peers->has_messages = true;
    connection->has_whole_message = true; /* later data is another one */
    if (!is_response && step < NUM_STEPS) {
        note_moment(waits, connection, step, OUTCOME_UNANSWERED, NULL, now);
        if (step == STEP_PIPE) {
            mark_ours(connection->peers);
        }
    } else if (!is_response) {
        bool is_pipe = smb->opcode == SMB2_COM_CLOSE && is_about(smb, "winreg");
        bool is_end = is_pipe && connection->num_pipes <= 1;
        connection->num_pipes -= is_pipe;
        connection->end = is_end ? now : connection->end;
        connection->is_ended_by_client |= is_end;
    } else if (kerberos > 0) {
        fail_step(connection, STEP_LOGON, OUTCOME_KERBEROS + kerberos, now);
    } else if (smb->status == STATUS_MORE_PROCESSING) {
        waits->shown.count -= waits->step == step && waits->shown.count > 0; /* its latest request was answered */
    } else if (is_error && step == NUM_STEPS) {
        const pipe_failure failure = {now, smb->status};
        bool is_unread = connection->asked.time <= 0 && connection->peers->is_ours && is_about(smb, "winreg");
        wmem_map_insert(steps.pipe_failures, GUINT_TO_POINTER(asked), wmem_memdup(memory, &failure, sizeof failure));
        if (is_unread && find_outcome_row(smb->status)->number > 0) { /* of a sealed call */
            fail_step(connection, STEP_CALL, smb->status, now);
        }
    } else if (is_error) {
        fail_step(connection, step, smb->status, now);
    } else if (step < NUM_STEPS && smb->status != NT_STATUS_PENDING) {
        connection->num_pipes += step == STEP_PIPE;
        pass_step(connection, step, now.frame);
    } else if (smb->opcode == SMB2_COM_TREE_CONNECT || smb->opcode == SMB2_COM_CREATE) {
        connection->peers->has_other_uses = true;
    }
}

/* --- Logons ------------------------------------------------------------------------------------------------------ */

/* Returns "" for NULL. */
static const char *logon_name(const uint8_t *name)
{
    return name ? (const char *)name : "";
}

/* Stores the account of a pipe, or of a session. If two use one session, nothing tells which of them a call is of: none is known. */
static void learn_account(verdict_connection *connection, packet_info *pinfo, const char *account)
{
    const char *known = connection->account;
    bool is_known = known == NULL || strcmp(known, account) == 0 || dcerpc_get_transport_salt(pinfo) != 0;

    connection->account = is_known ? wmem_strdup(memory, account) : "";
}

/* Notes the account of a logon by NTLM, with the client's name. */
static void see_ntlm(verdict_connection *connection, packet_info *pinfo, const epan_dissect_t *edt _U_,
                     const void *message)
{
    enum { AUTHENTICATE = 3 }; /* [MS-NLMP] 2.2.1.3 */
    const ntlmssp_header_t *ntlm = message;

    if (ntlm->type == AUTHENTICATE) { /* "LAB\Administrator (WORKSTATION)" */
        const char *domain = logon_name(ntlm->domain_name), *user = logon_name(ntlm->acct_name);
        const char *from = logon_name(ntlm->host_name);
        connection->logon = wmem_strconcat(memory, domain, *domain ? "\\" : "", *user ? user : "NULL", NULL);
        learn_account(connection, pinfo,
                      *from ? wmem_strdup_printf(pinfo->pool, "%s (%s)", connection->logon, from) : connection->logon);
    }
}

const char *steps_find_account(packet_info *pinfo)
{
    const char *account = find_connection(pinfo)->account;

    return account ? account : "";
}

/* --- Binds, and fields ------------------------------------------------------------------------------------------- */

/* Notes binds, calls to the endpoint mapper, and "Unbound": a call without a bind, as where the capture begins behind it. */
static void see_setup(verdict_connection *connection, packet_info *pinfo, const epan_dissect_t *edt _U_,
                      const void *call)
{
    enum { ABSTRACT_SYNTAX = 1 }; /* [C706] p_provider_reason_t */
    const call_tap_data *tapped = call;
    const verdict_moment now = verdict_now(pinfo);
    bool is_map = strcmp(tapped->operation, "Map") == 0, is_unbound = strcmp(tapped->operation, "Unbound") == 0;
    setup_step step = is_map ? STEP_MAP : STEP_BIND;

    note_message(connection, pinfo, !tapped->is_response);
    verdict_peers *peers = connection->peers;
    if (is_unbound) {
        if (connection->syn.frame == 0) {
            evidence_add(memory, &peers->lacks[LACKS_BEGIN], now);
            peers->waits.shown.count = 0; /* the client got past it, unseen */
        }
        return;
    }
    if (!tapped->is_hkpd) {
        mark_ours(peers);
    }
    if (!tapped->is_response) {
        note_moment(&peers->waits, connection, step, OUTCOME_UNANSWERED, NULL, now);
    } else if (tapped->has_failed) {
        bool is_absent = !tapped->is_fault && (is_map || tapped->status == ABSTRACT_SYNTAX);
        fail_step(connection, step, is_absent ? OUTCOME_NO_INTERFACE : OUTCOME_REFUSED, now);
    } else {
        peers->was_mapped |= is_map;
        peers->service_port = is_map ? 0 : peers->service_port;
        pass_step(connection, step, now.frame);
    }
}

/* Notes what only fields say: an error, named, of a key distribution center fails the logon; a Kerberos ticket makes the account "Kerberos"; a response that
 * names the client a guest, or, before any logon, does not fit its signing, gives a doubt until the client goes on; the first packet of SMB3 that nothing
 * opened. */
static void see_fields(verdict_connection *connection, packet_info *pinfo, const epan_dissect_t *edt,
                       const void *frame _U_)
{
    const verdict_moment now = verdict_now(pinfo);
    verdict_peers *peers = connection->peers;
    uint32_t error = OUTCOME_KERBEROS + find_number(edt, "kerberos.error_code", 0);
    bool is_guest = find_number(edt, "smb2.session_flags", 0) & IS_GUEST;
    bool is_signing =
        find_number(edt, "smb2.sec_mode", SIGNING_ENABLED) != SIGNING_ENABLED; /* required, or not possible */

    /* it asks for more before each logon, which is no failure */
    if (connection->port == PORT_KERBEROS && find_outcome_row(error)->number > 0) {
        peers->asker->refused = REFUSED_TICKET;
        fail_step(connection, STEP_LOGON, error, now);
    }
    if (is_from_client(connection, pinfo)) {
        if (find_number(edt, "kerberos.SNameString", 0)) {
            learn_account(connection, pinfo, "Kerberos");
        }
    } else if (is_guest || (is_signing && peers->logged_on == 0)) {
        note_moment(&peers->waits, connection, is_guest ? STEP_SHARE : STEP_LOGON,
                    is_guest ? OUTCOME_GUEST : OUTCOME_SIGNING, NULL, now);
    }
    if (steps.encrypted == 0 && find_number(edt, "smb2.header.transform.enc_data", 0)) {
        steps.encrypted = now.frame;
    }
}

/* --- Listening --------------------------------------------------------------------------------------------------- */

static void steps_reset(void *data _U_)
{
    wmem_free_all(memory);
    steps = (steps_seen){
        .by_addresses = wmem_map_new(memory, wmem_str_hash, g_str_equal),
        .by_number = wmem_map_new_autoreset(memory, wmem_file_scope(), g_direct_hash, g_direct_equal),
        .accounts = wmem_map_new(memory, wmem_str_hash, g_str_equal),
        .pipe_failures = wmem_map_new(memory, g_direct_hash, g_direct_equal),
    };
}

/* Wireshark's taps, and what sees their packets. */
typedef struct {
    const char *name;
    void (*see)(verdict_connection *connection, packet_info *pinfo, const epan_dissect_t *edt, const void *tapped);
    const char *filter; /* NULL: all packets */
    bool is_on;         /* a listener is registered */
} watched_tap;

static watched_tap watched_taps[] = {
    {"frame", see_frame, NULL, false},
    {"tcp", see_tcp, NULL, false},
    {"smb2", see_smb2, NULL, false},
    {"ntlmssp", see_ntlm, NULL, false},
    {SETUP_TAP_NAME, see_setup, NULL, false},
    /* fields that no tap hands over, as see_fields() asks for them */
    {"frame", see_fields,
     "kerberos.error_code || kerberos.SNameString || smb2.sec_mode || smb2.session_flags || "
     "smb2.header.transform.enc_data",
     false},
};

static tap_packet_status steps_see_packet(void *tap, packet_info *pinfo, epan_dissect_t *edt, const void *tapped,
                                          tap_flags_t flags _U_)
{
    const watched_tap *watched = tap;
    verdict_connection *connection = find_connection(pinfo);

    if (connection || watched->see == see_frame) {
        watched->see(connection, pinfo, edt, tapped);
    }
    return TAP_PACKET_DONT_REDRAW;
}

void steps_watch(void)
{
    if (memory == NULL) {
        memory = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
        steps_reset(NULL);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(watched_taps); i++) {
        watched_tap *tap = &watched_taps[i];
        /* a reading makes trees for the filters that were there as it began; Wireshark aborts at one that came later */
        if (!tap->is_on && !(tap->filter && output_is_reading())) {
            tap->is_on = output_listen(tap->name, tap, tap->filter, steps_reset, steps_see_packet, NULL);
        }
    }
}

/* --- The judgement ----------------------------------------------------------------------------------------------- */

/* Returns the furthest step that failed or waits long for its answer; without frames: none did. A single SYN may have been answered unseen. */
static const setup_failure *find_failure(const verdict_peers *peers)
{
    const setup_failure *failure = &peers->failure, *waits = &peers->waits;
    bool is_further = waits->shown.count > 0 && (failure->shown.count == 0 || waits->step > failure->step);
    bool is_long = waits->outcome == OUTCOME_SILENT
                       ? waits->shown.count > 1
                       : waits->outcome == OUTCOME_UNANSWERED && waits->connection->by[BY_SERVER].packets > 0 &&
                             steps.last - waits->shown.since.time >= STEPS_LONG_WAIT;

    return is_further && is_long ? waits : failure;
}

void steps_add_failure(verdict_monitor *monitor, const setup_failure *failure)
{
    setup_step step = failure->step;
    const outcome_row *row = find_outcome_row(failure->outcome);
    const header_field_info *statuses = proto_registrar_get_byname("smb2.nt_status"); /* BASE_EXT_STRING */
    value_string_ext *names = (value_string_ext *)statuses->strings;
    const char *meaning =
        row->number > 0 ? row->meaning
        : failure->outcome >> 30 == 3
            ? ws_val_to_str_ext(monitor->pool, failure->outcome, names, "STATUS 0x%08x")
            : wmem_strdup_printf(monitor->pool, "Kerberos error %u", failure->outcome - OUTCOME_KERBEROS);
    bool is_of_step = row->kind == OF_STEP || (row->kind == VERDICT_PIPE_DENIED && step != STEP_PIPE);
    bool is_center = failure->connection && failure->connection->port == PORT_KERBEROS;
    bool is_client = row->party == PARTY_CLIENT;
    const char *fails = is_center   ? is_client ? "$C cannot log on, says the KDC $S"
                                                : "$S[, a key distribution center,] gives $C no ticket to log on"
                        : is_client ? "$C cannot log on to $S"
                                    : step_rows[step].fails;
    const char *account = failure->shown.which ? " as $F" : "";
    const char *text = *meaning == '$' ? wmem_strconcat(monitor->pool, meaning, step_rows[step].does, account, NULL)
                                       : wmem_strconcat(monitor->pool, fails, account, " (", meaning, ")", NULL);
    verdict_evidence shown = failure->shown;

    shown.more = row->name;
    shown.advice = row->number > 0 ? NULL : "what this status means is in [MS-ERREF] 2.3.1, or RFC 4120 7.5.9";
    if (failure->outcome <= OUTCOME_RESET) {
        shown.which = wmem_strdup_printf(monitor->pool, "%u", failure->connection->port);
    }
    monitor_add_finding(monitor, is_of_step ? step_rows[step].kind : row->kind, row->party, &shown, "%s: $T", text);
}

void steps_find(verdict_monitor *monitor)
{
    const verdict_peers *peers = monitor->pair, *asker = peers->asker;
    const setup_failure *failure = find_failure(peers);
    bool is_doubt = failure->outcome == OUTCOME_SIGNING || failure->outcome == OUTCOME_GUEST;
    /* about performance counters: of the peers; or, unless a doubt, if the client or its account asks any server for them, or nobody does: all but
     * a server's other uses, and the share that only pipes have */
    bool is_other_use = peers->has_other_uses && failure->step != STEP_SHARE;
    const char *account = failure->shown.which;
    bool has_asked = !is_doubt && (asker->asks || (account && wmem_map_contains(steps.accounts, account)));
    bool is_meant = peers->is_ours || (!is_other_use && (has_asked || !steps.has_asker));
    bool is_unseen = failure->outcome == OUTCOME_SILENT && steps_is_one_way(asker->one_way); /* if it was answered */
    bool is_consequence = false;

    if (failure->shown.count == 0 || !is_meant || is_unseen ||
        (failure->connection->port == PORT_KERBEROS &&
         asker->refused < (asker->asks ? REFUSED_LOGON : REFUSED_TICKET))) {
        return;
    }
    for (const verdict_finding *cause = monitor->findings; cause; cause = cause->next) {
        is_consequence |= failure->outcome <= OUTCOME_RESET && cause->lasts &&
                          (cause->kind == VERDICT_BROKEN || cause->kind == VERDICT_UNANSWERED);
    }
    if (!is_consequence) {
        steps_add_failure(monitor, failure);
    }
}

void steps_find_lacking(verdict_monitor *monitor, bool is_harmful)
{
    static const char *const words[NUM_LACKS] = {
        [LACKS_WAY] = "The capture has one direction alone of what $C and $S say",
        [LACKS_PACKETS] = "The capture lacks packets of $C and $S[, or their order]",
        [LACKS_BYTES] = "The capture cuts frames of $C and $S short",
        [LACKS_ORDER] = "The capture has packets of $C and $S in the wrong order (merged files?)",
        [LACKS_BEGIN] = "The capture begins in the middle of a connection of $C to $S",
    };
    const verdict_peers *peers = monitor->pair;
    const verdict_connection *one_way = peers->asker->one_way;
    bool has_calls = monitor->calls < monitor->end;
    verdict_evidence lacks[NUM_LACKS];

    memcpy(lacks, peers->lacks, sizeof lacks);
    if (steps_is_one_way(one_way) && one_way->peers == peers) {
        evidence_add(monitor->pool, &lacks[LACKS_WAY], one_way->begin);
    }
    for (unsigned i = 0; i < NUM_LACKS && peers->has_messages && (has_calls || !monitor->findings); i++) {
        bool is_of_calls = i == LACKS_PACKETS || i == LACKS_BYTES;
        lacks[i].is_unread = !has_calls || i == LACKS_WAY;
        if (i == LACKS_WAY || (has_calls ? is_of_calls && is_harmful : i != LACKS_PACKETS)) {
            bool is_network = i == LACKS_PACKETS && peers->not_captured == 0;
            lacks[i].advice = is_network ? "-o tcp.reassemble_out_of_order:TRUE reads what was sent again" : NULL;
            monitor_add_finding(monitor, VERDICT_LOST, is_network ? PARTY_NETWORK : PARTY_CAPTURE, &lacks[i], "%s: $T",
                                is_network ? "The network between $C and $S lost packets, which were sent again"
                                           : words[i]);
        }
    }
}
