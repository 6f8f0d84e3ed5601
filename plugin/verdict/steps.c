/* steps.c
 * Steps of a client on its way to data, and what TCP shows of its connections.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/steps.h"

#include "tap/tapped.h"
#include "taps/output.h"
#include "text/text.h"
#include "verdict/step-outcomes.h"

#include <epan/conversation.h>
#include <epan/dissectors/packet-ntlmssp.h>
#include <epan/dissectors/packet-smb2.h>
#include <epan/dissectors/packet-tcp.h>
#include <epan/epan_dissect.h>
#include <epan/to_str.h>

enum { PORT_KERBEROS = 88, PORT_MAPPER = 135, PORT_SMB = 445 };
enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };

/* Events of a connection that are kept, those that one question looks at, and losses of peers. */
#define MAX_EVENTS 100000
#define MAX_EVENTS_LOOKED_AT 1000
#define MAX_LOSSES 1000

#define RESENT_AFTER 0.1 /* seconds: a packet that was captured twice comes earlier than a retransmission */

/* Characters of one name of an account, and bytes of all accounts of a pipe. */
enum { MAX_NAME = 64, MAX_ACCOUNTS = 512 };

/* Fields without a tap that has them. X(number, name): the listener's filter */
#define SEEN_FIELDS(X) \
    X(KERBEROS_ERROR, "kerberos.error_code") \
    X(KERBEROS_LOGON, "kerberos.SNameString") \
    X(SECURITY, "smb2.sec_mode") \
    X(SESSION, "smb2.session_flags") \
    X(ENCRYPTED, "smb2.header.transform.msg_size")

#define SEEN_NUMBER(number, ...) SEEN_##number,
#define SEEN_NAME(number, name) name,
#define SEEN_FILTER(number, name) " || " name
enum { SEEN_FIELDS(SEEN_NUMBER) NUM_SEEN_FIELDS };
static const char *const field_names[] = {SEEN_FIELDS(SEEN_NAME)};
static int field_ids[NUM_SEEN_FIELDS];

static wmem_allocator_t *memory; /* NULL: nobody watches */
verdict_peers *steps_first_peers;
static verdict_peers **end_of_peers = &steps_first_peers;
static unsigned num_peers;
static wmem_map_t *by_addresses; /* "client server" -> verdict_peers */
static verdict_connection *connections, **end_of_connections = &connections;
static GHashTable *by_number; /* Wireshark's number of a conversation -> verdict_connection; emptied with the capture */
static capture_times times;
static bool has_other_uses; /* than performance counters, of any peers */

static verdict_moment now_of(const packet_info *pinfo)
{
    return (verdict_moment){pinfo->num, nstime_to_sec(&pinfo->abs_ts)};
}

/* --- Peers and connections --------------------------------------------------------------------------------------- */

/* Returns the peers of a packet's addresses. `from_client`: its source is the client. */
static verdict_peers *find_or_create_peers(packet_info *pinfo, bool from_client)
{
    const char *source = address_to_str(pinfo->pool, &pinfo->src), *to = address_to_str(pinfo->pool, &pinfo->dst);
    const char *client = from_client ? source : to, *server = from_client ? to : source;
    const char *key = wmem_strdup_printf(pinfo->pool, "%s %s", client, server);
    verdict_peers *peers = wmem_map_lookup(by_addresses, key);

    if (peers == NULL) {
        peers = wmem_new0(memory, verdict_peers);
        peers->number = num_peers++;
        peers->client = wmem_strdup(memory, client);
        peers->server = peers->called = wmem_strdup(memory, server);
        peers->losses = wmem_array_new(memory, sizeof(verdict_span));
        peers->cut.pool = memory;
        *end_of_peers = peers;
        end_of_peers = &peers->next;
        wmem_map_insert(by_addresses, wmem_strdup(memory, key), peers);
    }
    return peers;
}

static void set_ends(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    connection->peers = find_or_create_peers(pinfo, from_client);
    connection->client_port = from_client ? pinfo->srcport : pinfo->destport;
    connection->port = from_client ? pinfo->destport : pinfo->srcport;
}

/* Returns true if the client sent the packet. Addresses tell it only where both ports are equal. */
static bool is_from_client(const verdict_connection *connection, packet_info *pinfo)
{
    return connection->client_port == connection->port
               ? strcmp(address_to_str(pinfo->pool, &pinfo->src), connection->peers->client) == 0
               : pinfo->srcport == connection->client_port;
}

static bool is_known_port(uint32_t port)
{
    return port == PORT_SMB || port == PORT_MAPPER;
}

static verdict_connection *find_of_conversation(const conversation_t *conversation)
{
    return conversation ? g_hash_table_lookup(by_number, GUINT_TO_POINTER(conversation->conv_index)) : NULL;
}

/* Returns the connection of a packet, NULL: none. `may_join`: for the TCP tap, the first to see a packet. Wireshark 4.4 begins a conversation with a
 * SYN/ACK behind a FIN. If of the one before one direction alone was captured, both are one connection. Changes: then `by_number`. */
static verdict_connection *find_packet_connection(packet_info *pinfo, bool may_join)
{
    const conversation_t *conversation = memory && pinfo->ptype == PT_TCP ? find_conversation_pinfo(pinfo, 0) : NULL;
    verdict_connection *connection = find_of_conversation(conversation);

    if (connection == NULL && conversation && may_join) {
        verdict_connection *half = find_of_conversation(find_conversation(
            pinfo->num - 1, &pinfo->src, &pinfo->dst, CONVERSATION_TCP, pinfo->srcport, pinfo->destport, 0));
        bool from_client = half && pinfo->srcport == half->client_port;
        if (half && half->by[from_client].packets == 0 && half->by[!from_client].packets > 0) {
            g_hash_table_insert(by_number, GUINT_TO_POINTER(conversation->conv_index), half);
            return half;
        }
    }
    return connection;
}

/* Returns a new connection, at its first packet. Until a SYN or a call tells, its client is the peer without a known port, or with the higher one. */
static verdict_connection *create_connection(packet_info *pinfo)
{
    verdict_connection *connection = wmem_new0(memory, verdict_connection);
    bool is_lower = !is_known_port(pinfo->srcport) && pinfo->destport <= pinfo->srcport;

    connection->events = wmem_array_new(memory, sizeof(connection_event));
    connection->syns.pool = memory;
    set_ends(connection, pinfo, is_known_port(pinfo->destport) || is_lower);
    *end_of_connections = connection;
    end_of_connections = &connection->next;
    g_hash_table_insert(by_number, GUINT_TO_POINTER(find_conversation_pinfo(pinfo, 0)->conv_index), connection);
    return connection;
}

/* Sets the client of a connection, once. Changes: packets that were counted by direction are swapped if the guess by ports was wrong. */
static void set_client(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    if (!connection->is_client_known) {
        if (is_from_client(connection, pinfo) != from_client) {
            const verdict_connection old = *connection;
            connection->by[BY_CLIENT] = old.by[BY_SERVER];
            connection->by[BY_SERVER] = old.by[BY_CLIENT];
        }
        connection->is_client_known = true;
        set_ends(connection, pinfo, from_client);
    }
}

verdict_connection *steps_find_connection(packet_info *pinfo, bool from_client)
{
    verdict_connection *connection = find_packet_connection(pinfo, false);

    if (connection) {
        set_client(connection, pinfo, from_client);
        connection->peers->has_messages = true;
    }
    return connection;
}

/* --- Steps ------------------------------------------------------------------------------------------------------- */

/* Returns true if a success proves nothing of a failure: another account has it, or, at a later step, one that is not known (NULL). */
static bool is_of_other_account(const setup_failure *failure, const char *account, bool is_same_step)
{
    return failure->account && (account ? strcmp(account, failure->account) != 0 : !is_same_step);
}

/* Notes a success of a step. Changes: up to this step nothing waits, and failures are forgotten, but those of other accounts. */
static void pass_step(verdict_connection *connection, setup_step step, uint32_t frame)
{
    verdict_peers *peers = connection->peers;

    for (unsigned i = 0; i <= step; i++) {
        setup_failure *failure = &peers->failures[i];
        connection->waits[i].frame = 0;
        if (!is_of_other_account(failure, connection->logon, i == step)) {
            failure->shown.frames = NULL;
        }
    }
    peers->passed[step] = frame;
}

/* Notes a failure of a step. Changes: replaces frames of failures at another port or of another account. */
static void fail_step(verdict_peers *peers, setup_step step, uint32_t outcome, uint32_t port, const char *account,
                      verdict_moment at)
{
    setup_failure *failure = &peers->failures[step];

    if (failure->port != port || g_strcmp0(failure->account, account) != 0) {
        failure->shown.frames = NULL;
    }
    failure->outcome = outcome;
    failure->port = port;
    failure->account = account;
    failure->shown.pool = memory;
    peers->is_ours |= step == STEP_PIPE;
    evidence_add(&failure->shown, at.frame, at.time);
}

/* Notes a failure of a connection's step, of its account if that is why. Changes: the step waits no longer. */
static void fail_connection(verdict_connection *connection, setup_step step, uint32_t outcome, verdict_moment at)
{
    const char *account = step == STEP_LOGON || outcome == STATUS_ACCESS_DENIED ? connection->logon : NULL;

    connection->waits[step].frame = 0;
    fail_step(connection->peers, step, outcome, connection->port, account, at);
}

/* Returns the furthest step that waits for its answer, NUM_STEPS: none. */
static setup_step waiting_step(const verdict_connection *connection)
{
    setup_step found = NUM_STEPS;

    for (unsigned step = 0; step < NUM_STEPS; step++) {
        found = connection->waits[step].frame > 0 ? (setup_step)step : found;
    }
    return found;
}

void steps_note_call(verdict_connection *connection, const packet_info *pinfo, bool is_response)
{
    verdict_peers *peers = connection->peers;

    connection->end.frame = connection->smb2_frame > 0 ? 0 : connection->end.frame; /* another pipe was closed */
    peers->is_ours = true;
    peers->mapped_port = is_known_port(connection->port) ? peers->mapped_port : connection->port;
    pass_step(connection, is_response ? STEP_CALL : STEP_BIND, pinfo->num);
}

void steps_name_server(verdict_peers *peers, const char *name)
{
    peers->called = wmem_strdup(memory, name);
}

/* --- TCP --------------------------------------------------------------------------------------------------------- */

static void add_event(verdict_connection *connection, const connection_event *event)
{
    if (wmem_array_get_count(connection->events) < MAX_EVENTS) {
        wmem_array_append(connection->events, event, 1);
    }
}

const connection_event *steps_events(const verdict_connection *connection, double begin, const connection_event **end)
{
    unsigned first = 0, count = connection ? wmem_array_get_count(connection->events) : 0;
    const connection_event *events = count > 0 ? wmem_array_get_raw(connection->events) : NULL;

    *end = NULL;
    if (events == NULL) {
        return NULL;
    }
    for (unsigned step = 1U << 30; step > 0; step /= 2) {
        first += first + step <= count && events[first + step - 1].at.time < begin ? step : 0;
    }
    *end = events + MIN(count, first + MAX_EVENTS_LOOKED_AT);
    return events + first;
}

const connection_event *steps_find_event(const verdict_connection *connection, event_kind kind, uint32_t about,
                                         double begin, double end)
{
    const connection_event *last, *event = steps_events(connection, begin, &last);

    while (event < last && event->at.time <= end && (event->kind != kind || (about > 0 && event->about != about))) {
        event++;
    }
    return event < last && event->at.time <= end ? event : NULL;
}

/* Stores the end of a connection; of several the first counts. */
static void end_connection(verdict_connection *connection, bool by_client, verdict_moment at)
{
    if (connection->end.frame == 0) {
        connection->end = at;
        connection->is_ended_by_client = by_client;
    }
}

/* Notes a SYN, which waits, or its SYN/ACK (`is_answer`). A SYN behind its SYN/ACK shows that the capture is not in order. */
static void see_syn(verdict_connection *connection, packet_info *pinfo, bool is_answer, verdict_moment now)
{
    set_client(connection, pinfo, !is_answer);
    if (is_answer) {
        connection->is_open = true;
        pass_step(connection, STEP_CONNECT, now.frame);
        return;
    }
    if (connection->is_open && connection->syn.frame == 0 && connection->peers->disordered.frame == 0) {
        connection->peers->disordered = now;
    }
    connection->syn = connection->syn.frame > 0 ? connection->syn : now;
    connection->waits[STEP_CONNECT] = connection->syn;
    evidence_add(&connection->syns, now.frame, now.time);
}

/* Notes a FIN or RST: the connection was refused, the client left after `doubt`, or the server ended it while a step waits. `is_lacking`: it
 * acknowledges what was not captured, perhaps the client's FIN, so it blames nobody. */
static void see_end(verdict_connection *connection, bool by_client, bool is_reset, bool is_lacking, verdict_moment now)
{
    setup_step step = waiting_step(connection);

    if (is_reset && !connection->is_open && connection->syn.frame > 0 && !by_client) {
        fail_connection(connection, STEP_CONNECT, OUTCOME_RESET, now);
        connection->syns.frames = NULL;
    } else if (connection->end.frame == 0) {
        const setup_failure *logon = &connection->peers->failures[STEP_LOGON];
        bool is_explained = logon->shown.frames && logon->outcome != connection->doubt_outcome;
        if (by_client && connection->doubt.frame > 0 && !is_explained) {
            fail_connection(connection, STEP_LOGON, connection->doubt_outcome, connection->doubt);
        } else if (!by_client && step < NUM_STEPS && connection->lost_frame <= connection->waits[step].frame &&
                   !is_lacking) {
            fail_connection(connection, step, OUTCOME_ENDED, now);
        }
        end_connection(connection, by_client || is_lacking, now);
    }
}

/* Notes that the capture lacks packets between the connection's newest and this one. Beyond MAX_LOSSES the last one grows. */
static void add_loss(verdict_connection *connection, verdict_moment now)
{
    wmem_array_t *losses = connection->peers->losses;
    unsigned count = wmem_array_get_count(losses);

    if (count < MAX_LOSSES) {
        wmem_array_append(losses, &(verdict_span){connection->newest, now.time, now.frame}, 1);
    } else {
        ((verdict_span *)wmem_array_index(losses, count - 1))->until = now.time;
    }
    connection->lost_frame = now.frame;
}

/* Takes events, losses and acknowledgments from Wireshark's analysis of a packet. Returns whether it acknowledges what was not captured. */
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
    double rto = nstime_to_sec(&found->rto_ts);
    if ((found->flags & WS_TCP_RESENT) && rto >= RESENT_AFTER) {
        add_event(connection, &(connection_event){EVENT_RESENT, by_client, now, now.time - rto, 0, 0});
    }
    if (found->flags & WS_TCP_ZERO_WINDOW) {
        add_event(connection, &(connection_event){EVENT_ZERO_WINDOW, by_client, now, 0, 0, 0});
    }
    if (!by_client && found->frame_acked > 0 && tcp->th_seglen == 0) {
        connection->acked = (verdict_moment){found->frame_acked, now.time};
    }
    if (found->flags & (WS_TCP_LOST_PACKET | WS_TCP_ACK_LOST_PACKET)) {
        add_loss(connection, now);
    }
    return found->flags & WS_TCP_ACK_LOST_PACKET;
}

/* Notes a TCP packet by its direction: SYN, acknowledgment, begin of a response, end. */
static void see_segment(verdict_connection *connection, packet_info *pinfo, const tcp_info_t *tcp, verdict_moment now)
{
    bool by_client = is_from_client(connection, pinfo), has_ack = tcp->th_flags & TCP_ACK;
    bool is_lacking = see_analysis(connection, pinfo, tcp, by_client, now);

    if (tcp->th_flags & TCP_SYN) {
        see_syn(connection, pinfo, has_ack, now);
        return;
    }
    connection->by[by_client].packets++;
    connection->by[by_client].newest = now.time;
    if (has_ack && connection->by[by_client].heard > 0 && tcp->th_rawack != connection->by[by_client].heard) {
        connection->by[by_client].heard_at = now.time;
    }
    connection->by[by_client].heard = has_ack ? tcp->th_rawack : connection->by[by_client].heard;
    if (!connection->is_open && (tcp->th_seglen > 0 || (has_ack && !(tcp->th_flags & TCP_RST)))) {
        connection->is_open = true; /* before the capture, or its acceptance was lost */
        pass_step(connection, STEP_CONNECT, now.frame);
    }
    if (tcp->th_have_seglen && tcp->th_seglen > 0) {
        bool goes_on = !by_client && connection->response_began > 0;
        connection->begins = connection->begins.frame > 0 ? connection->begins : now;
        connection->response_began = by_client ? 0 : goes_on ? connection->response_began : now.time;
    }
    if (tcp->th_flags & (TCP_FIN | TCP_RST)) {
        see_end(connection, by_client, tcp->th_flags & TCP_RST, is_lacking, now);
    }
}

/* Notes a TCP packet, and the capture's times. Changes: creates its connection. Quoted packets of ICMP errors do not count. */
static tap_packet_status steps_see_tcp(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tcp,
                                       tap_flags_t flags _U_)
{
    const verdict_moment now = now_of(pinfo);
    verdict_connection *connection = pinfo->flags.in_error_pkt ? NULL : find_packet_connection(pinfo, true);

    if (connection == NULL && (pinfo->flags.in_error_pkt || find_conversation_pinfo(pinfo, 0) == NULL)) {
        return TAP_PACKET_DONT_REDRAW;
    }
    connection = connection ? connection : create_connection(pinfo);
    times.first = times.first > 0 ? times.first : now.time;
    times.was_set |= now.time <= times.last - 1;
    times.last = now.time;
    if (pinfo->fd->cap_len < pinfo->fd->pkt_len) {
        evidence_add(&connection->peers->cut, now.frame, now.time);
    }
    see_segment(connection, pinfo, tcp, now);
    connection->newest = now.time;
    return TAP_PACKET_DONT_REDRAW;
}

/* --- SMB2 -------------------------------------------------------------------------------------------------------- */

/* [MS-SMB2] 2.2.1.2 and 2.2.10; [MS-ERREF] 2.3.1 */
enum { NEGOTIATE, SESSION_SETUP, TREE_CONNECT = 3, CREATE = 5, CLOSE, READ = 8, WRITE, IOCTL = 11 };
enum { IS_RESPONSE = 1, SIGNING_REQUIRED = 2, IS_GUEST = 1, SHARE_OF_PIPES = 2, STATUS_PENDING = 0x103 };
#define STATUS_MORE_PROCESSING 0xc0000016
#define IS_ERROR(status) ((status) >> 30 == 3)

/* Returns the name of the file or share that a message is about, "": not known. */
static const char *message_name(const smb2_info_t *smb)
{
    const smb2_fid_info_t *file = smb->file ? smb->file : smb->saved ? smb->saved->file : NULL;
    bool is_tree = smb->opcode == TREE_CONNECT, is_asked = smb->saved && smb->saved->extra_info;
    bool has_name = is_asked && smb->saved->extra_info_type == (is_tree ? SMB2_EI_TREENAME : SMB2_EI_FILENAME);

    if (has_name) {
        return smb->saved->extra_info;
    }
    const char *name = is_tree ? (smb->tree ? smb->tree->name : NULL) : file ? file->name : NULL;
    return name ? name : "";
}

static bool is_named(const char *name, const char *word)
{
    size_t size = strlen(name), wanted = strlen(word);

    return size >= wanted && g_ascii_strcasecmp(name + size - wanted, word) == 0 &&
           (size == wanted || name[size - wanted - 1] == '\\');
}

/* Returns the step that a message is about; NUM_STEPS: none. */
static setup_step message_step(const smb2_info_t *smb)
{
    bool is_of_pipes = smb->tree == NULL || smb->tree->share_type == SHARE_OF_PIPES;

    return smb->opcode == NEGOTIATE                                                        ? STEP_NEGOTIATE
           : smb->opcode == SESSION_SETUP                                                  ? STEP_LOGON
           : smb->opcode == TREE_CONNECT && is_named(message_name(smb), "ipc$")            ? STEP_SHARE
           : smb->opcode == CREATE && is_of_pipes && is_named(message_name(smb), "winreg") ? STEP_PIPE
                                                                                           : NUM_STEPS;
}

/* Notes a request of SMB2: its step waits; a CLOSE of the pipe winreg ends the connection's use by its client. */
static void see_message_request(verdict_connection *connection, const smb2_info_t *smb, verdict_moment now)
{
    setup_step step = message_step(smb);

    if (smb->opcode == SESSION_SETUP || smb->opcode == TREE_CONNECT) {
        connection->doubt.frame = 0; /* the client goes on */
    }
    if (step < NUM_STEPS) {
        connection->waits[step] = now;
    } else if (smb->opcode == CLOSE && is_named(message_name(smb), "winreg")) {
        end_connection(connection, true, now);
    }
}

/* Notes a response of SMB2: its step passes or fails. An error for a call's READ, WRITE or IOCTL is an event. Other files are other uses. */
static void see_message_response(verdict_connection *connection, const smb2_info_t *smb, verdict_moment now)
{
    uint32_t asked = smb->saved ? smb->saved->frame_req : 0;
    setup_step step = message_step(smb);
    bool is_call = smb->opcode == READ || smb->opcode == WRITE || smb->opcode == IOCTL;
    bool names = smb->opcode == TREE_CONNECT || smb->opcode == CREATE;

    if (names && step == NUM_STEPS && asked > 0) { /* only its request had the name */
        step = smb->opcode == TREE_CONNECT ? STEP_SHARE : STEP_PIPE;
        step = connection->waits[step].frame == asked ? step : NUM_STEPS;
    }
    if (smb->status == STATUS_MORE_PROCESSING) {
        connection->waits[STEP_LOGON].frame = 0;
    } else if (is_call && IS_ERROR(smb->status)) {
        add_event(connection, &(connection_event){EVENT_PIPE_FAILED, false, now, 0, asked, smb->status});
    } else if (step < NUM_STEPS && IS_ERROR(smb->status)) {
        fail_connection(connection, step, smb->status, now);
    } else if (step < NUM_STEPS) {
        pass_step(connection, step, now.frame);
        connection->end.frame = step == STEP_PIPE ? 0 : connection->end.frame;
    } else if (names && !IS_ERROR(smb->status)) {
        has_other_uses = connection->peers->has_other_uses = true;
    }
}

static tap_packet_status steps_see_smb2(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_,
                                        const void *message, tap_flags_t flags _U_)
{
    const smb2_info_t *smb = message;
    verdict_connection *connection = find_packet_connection(pinfo, false);

    if (connection) {
        connection->peers->has_messages = true;
        connection->smb2_frame = pinfo->num;
        if (!(smb->flags & IS_RESPONSE)) {
            see_message_request(connection, smb, now_of(pinfo));
        } else if (smb->status != STATUS_PENDING) {
            see_message_response(connection, smb, now_of(pinfo));
        }
        connection->response_began = 0; /* later data is another message */
    }
    return TAP_PACKET_DONT_REDRAW;
}

/* --- Logons ------------------------------------------------------------------------------------------------------ */

/* Adds an account to those of the packet's pipe, else of the session: "A or B". Nothing tells which of them a call is of. */
static void learn_account(verdict_connection *connection, packet_info *pinfo, const char *account)
{
    const char **known = &connection->accounts[dcerpc_get_transport_salt(pinfo) != 0];

    if (*known == NULL) {
        *known = wmem_strdup(memory, account);
    } else if (strstr(*known, account) == NULL && strlen(*known) < MAX_ACCOUNTS) {
        *known = wmem_strconcat(memory, *known, " or ", account, NULL);
    }
}

/* Returns a name for display: at most MAX_NAME characters, control characters escaped; NULL becomes "". */
static const char *logon_name(packet_info *pinfo, const uint8_t *name)
{
    const char *text = name ? text_cut(pinfo->pool, (const char *)name, MAX_NAME) : "";

    return ws_format_text(pinfo->pool, text, strlen(text));
}

static tap_packet_status steps_see_ntlm(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_,
                                        const void *message, tap_flags_t flags _U_)
{
    enum { AUTHENTICATE = 3 }; /* [MS-NLMP] 2.2.1.3 */
    const ntlmssp_header_t *ntlm = message;
    verdict_connection *connection = ntlm->type == AUTHENTICATE ? find_packet_connection(pinfo, false) : NULL;

    if (connection) { /* "LAB\\Administrator (WORKSTATION)" */
        const char *domain = logon_name(pinfo, ntlm->domain_name), *user = logon_name(pinfo, ntlm->acct_name);
        const char *from = logon_name(pinfo, ntlm->host_name);
        connection->logon = wmem_strconcat(memory, domain, *domain ? "\\" : "", *user ? user : "NULL", NULL);
        learn_account(connection, pinfo,
                      *from ? wmem_strdup_printf(pinfo->pool, "%s (%s)", connection->logon, from) : connection->logon);
    }
    return TAP_PACKET_DONT_REDRAW;
}

const char *steps_find_account(packet_info *pinfo)
{
    const verdict_connection *connection = find_packet_connection(pinfo, false);
    const char *account = connection ? connection->accounts[dcerpc_get_transport_salt(pinfo) != 0] : NULL;

    account = account || connection == NULL ? account : connection->accounts[0];
    return account ? account : "";
}

/* --- Binds, and fields ------------------------------------------------------------------------------------------- */

/* Notes binds, calls to the endpoint mapper, and (any other operation) a call on a connection whose bind was not captured. */
static tap_packet_status steps_see_setup(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                         tap_flags_t flags _U_)
{
    enum { ABSTRACT_SYNTAX = 1 }; /* [C706] p_provider_reason_t */
    const tapped_call *tapped = call;
    const verdict_moment now = now_of(pinfo);
    bool is_map = strcmp(tapped->operation, "Map") == 0, is_bind = strcmp(tapped->operation, "Bind") == 0;
    verdict_connection *connection = steps_find_connection(pinfo, !tapped->is_response);
    verdict_peers *peers = connection ? connection->peers : NULL;

    if (connection && !is_map && !is_bind) {
        peers->unbound = peers->unbound.frame > 0 || connection->syn.frame > 0 ? peers->unbound : now;
    } else if (connection && !tapped->is_response) {
        connection->waits[STEP_BIND] = now;
        peers->is_ours |= is_map || !tapped->is_hkpd;
        peers->is_bound |= is_bind;
    } else if (connection && tapped->has_failed && !connection->is_mapper_read) { /* else it is the end of a list */
        peers->is_ours = true;
        uint32_t bind_outcome = tapped->is_fault                    ? OUTCOME_NAK
                                : tapped->status == ABSTRACT_SYNTAX ? OUTCOME_NO_SYNTAX
                                                                    : OUTCOME_REJECTED;
        uint32_t map_outcome = tapped->is_fault ? OUTCOME_MAP_FAULT : OUTCOME_NOT_REGISTERED;
        fail_connection(connection, STEP_BIND, is_map ? map_outcome : bind_outcome, now);
    } else if (connection && is_map) {
        connection->waits[STEP_BIND].frame = 0;
        connection->is_mapper_read = true;
        peers->mapped_port = tapped->port > 0 ? tapped->port : peers->mapped_port;
    } else if (connection) {
        pass_step(connection, STEP_BIND, now.frame);
    }
    return TAP_PACKET_DONT_REDRAW;
}

/* Returns the packet's first field of this name, NULL: none. */
static field_info *find_field(const epan_dissect_t *edt, unsigned which)
{
    const GPtrArray *fields = proto_get_finfo_ptr_array(edt->tree, field_ids[which]);

    return fields && fields->len > 0 ? g_ptr_array_index(fields, 0) : NULL;
}

typedef struct {
    uint32_t number;
    const char *name;
    verdict_kind kind;
    verdict_party party;
    const char *meaning;
} outcome_row;

enum { VERDICT_NONE = VERDICT_NUM_KINDS };
#define OUTCOME_ROW(number, name, kind, party, meaning) \
    {number, name, (verdict_kind)VERDICT_##kind, PARTY_##party, meaning},
static const outcome_row outcomes[] = {STEP_OUTCOMES(OUTCOME_ROW)};

/* Returns NULL for an outcome without a name. */
static const outcome_row *find_outcome_row(uint32_t number)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(outcomes); i++) {
        if (outcomes[i].number == number) {
            return &outcomes[i];
        }
    }
    return NULL;
}

/* Notes a Kerberos error as a failed logon: to the key distribution center that sent a named one, else in place of the packet's NTSTATUS. */
static void see_kerberos_error(verdict_connection *connection, packet_info *pinfo, uint32_t outcome)
{
    if (pinfo->srcport == PORT_KERBEROS) {
        if (find_outcome_row(outcome)) { /* others, as KDC_ERR_PREAUTH_REQUIRED, are part of a logon that succeeds */
            fail_step(find_or_create_peers(pinfo, false), STEP_LOGON, outcome, PORT_KERBEROS, NULL, now_of(pinfo));
        }
    } else if (connection && connection->peers->failures[STEP_LOGON].shown.last == pinfo->num) {
        connection->peers->failures[STEP_LOGON].outcome = outcome;
    } else if (connection) {
        fail_connection(connection, STEP_LOGON, outcome, now_of(pinfo));
    }
}

/* Notes what only fields say: a Kerberos error fails the logon; a Kerberos ticket makes the account "Kerberos"; a response that names the client a
 * guest, or does not fit its signing, is kept as `doubt`, and fails the logon if the client leaves next; the first packet of SMB3 that nothing
 * opened. Needs: steps_see_smb2() saw the packet first. */
static tap_packet_status steps_see_fields(void *data _U_, packet_info *pinfo, epan_dissect_t *edt,
                                          const void *frame _U_, tap_flags_t flags _U_)
{
    verdict_connection *connection = find_packet_connection(pinfo, false);
    field_info *error = find_field(edt, SEEN_KERBEROS_ERROR), *security = find_field(edt, SEEN_SECURITY);
    field_info *session = find_field(edt, SEEN_SESSION);
    bool by_client = connection && is_from_client(connection, pinfo);
    uint32_t mode = security ? fvalue_get_uinteger(WS_FIELD_VALUE(security)) : 0;

    if (error) {
        see_kerberos_error(connection, pinfo, OUTCOME_KERBEROS + (uint32_t)fvalue_get_sinteger(WS_FIELD_VALUE(error)));
    }
    if (by_client && find_field(edt, SEEN_KERBEROS_LOGON)) {
        learn_account(connection, pinfo, "Kerberos");
    }
    if (connection && security && by_client) {
        connection->wants_signing = mode & SIGNING_REQUIRED;
    }
    bool is_guest = session && (fvalue_get_uinteger(WS_FIELD_VALUE(session)) & IS_GUEST);
    bool is_signing = connection && security && ((mode & SIGNING_REQUIRED) || (mode == 0 && connection->wants_signing));
    if (connection && !by_client && (is_guest || is_signing)) {
        connection->doubt = now_of(pinfo);
        connection->doubt_outcome = is_guest ? OUTCOME_GUEST : OUTCOME_SIGNING;
    }
    if (connection && find_field(edt, SEEN_ENCRYPTED) && connection->smb2_frame != pinfo->num &&
        connection->peers->encrypted.frame == 0) {
        connection->peers->encrypted = now_of(pinfo);
    }
    return TAP_PACKET_DONT_REDRAW;
}

/* --- Listening --------------------------------------------------------------------------------------------------- */

static void steps_reset(void *data _U_)
{
    g_hash_table_remove_all(by_number);
    connections = NULL;
    end_of_connections = &connections;
    steps_first_peers = NULL;
    end_of_peers = &steps_first_peers;
    wmem_free_all(memory);
    by_addresses = wmem_map_new(memory, wmem_str_hash, g_str_equal);
    times = (capture_times){0, 0, false};
    num_peers = 0;
    has_other_uses = false;
}

/* Empties the map when a capture is closed: Wireshark numbers conversations of the next one from 0 again. */
static void forget_conversations(void)
{
    g_hash_table_remove_all(by_number);
}

void steps_watch(void)
{
    static int taps[5];

    if (memory) {
        return;
    }
    memory = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    by_number = g_hash_table_new(g_direct_hash, g_direct_equal);
    steps_reset(NULL);
    for (unsigned i = 0; i < NUM_SEEN_FIELDS; i++) {
        field_ids[i] = proto_registrar_get_id_byname(field_names[i]);
    }
    register_cleanup_routine(forget_conversations);
    output_listen("tcp", &taps[0], NULL, steps_reset, steps_see_tcp, NULL);
    output_listen("smb2", &taps[1], NULL, NULL, steps_see_smb2, NULL);
    output_listen("ntlmssp", &taps[2], NULL, NULL, steps_see_ntlm, NULL);
    output_listen(TAPPED_SETUP_NAME, &taps[3], NULL, NULL, steps_see_setup, NULL);
    output_listen("frame", &taps[4], &(SEEN_FIELDS(SEEN_FILTER))[4], NULL, steps_see_fields, NULL);
}

capture_times steps_times(void)
{
    return times;
}

/* --- The judgement ----------------------------------------------------------------------------------------------- */

/* Peers as they are judged. */
typedef struct {
    setup_failure failures[NUM_STEPS];
    verdict_moment one_way; /* begin of a connection of which one direction was captured */
} peers_state;

/* A client, with all its servers. */
typedef struct {
    bool asks;          /* for performance data */
    uint32_t logged_on; /* frame of its latest success of a logon, or a later step */
    uint32_t refused;   /* frame of the latest error of a key distribution center */
} client_state;

struct steps_judgement {
    wmem_allocator_t *pool;
    peers_state *states;
    wmem_map_t *clients; /* address -> client_state */
    bool has_asker, has_one_way;
};

/* Adds an unanswered request or SYN to the judged failures, unless its step or a later one passed behind it, or the step failed otherwise. */
static void add_silence(steps_judgement *judgement, const verdict_connection *connection, setup_step step,
                        uint32_t outcome, verdict_moment at)
{
    const verdict_peers *peers = connection->peers;
    setup_failure *failure = &judgement->states[peers->number].failures[step];

    for (unsigned i = step; i < NUM_STEPS; i++) {
        if (peers->passed[i] > at.frame) {
            return;
        }
    }
    if (failure->outcome != outcome || failure->port != connection->port || failure->shown.frames == NULL) {
        if (failure->shown.frames && (failure->shown.last > at.frame || failure->port == connection->port)) {
            return;
        }
        *failure = (setup_failure){outcome, connection->port, NULL, {.pool = judgement->pool}};
    }
    evidence_add(&failure->shown, at.frame, at.time);
}

/* Judges a connection's unanswered SYNs, or the request of its furthest step, and whether one direction alone was captured. */
static void judge_connection(steps_judgement *judgement, const verdict_connection *connection)
{
    const verdict_peers *peers = connection->peers;
    peers_state *state = &judgement->states[peers->number];
    setup_step step = waiting_step(connection);
    double until = connection->end.frame > 0 ? connection->end.time : times.last;

    if (steps_is_one_way(connection)) {
        state->one_way = state->one_way.frame > 0 ? state->one_way : connection->begins;
        judgement->has_one_way |= peers->is_ours;
    }
    if (step == NUM_STEPS || times.was_set || connection->lost_frame > connection->waits[step].frame) {
        return;
    }
    bool is_long = until - connection->waits[step].time >= STEPS_LONG_WAIT;
    if (step != STEP_CONNECT && is_long && connection->by[BY_SERVER].packets > 0) {
        add_silence(judgement, connection, step, OUTCOME_UNANSWERED, connection->waits[step]);
    }
    unsigned num_syns = step == STEP_CONNECT ? evidence_count(&connection->syns) : 0;
    /* a single SYN may have been answered unseen, if the server answers others */
    for (unsigned i = 0; i < num_syns && (num_syns > 1 || (is_long && !peers->has_messages)); i++) {
        add_silence(judgement, connection, step, OUTCOME_SILENT,
                    (verdict_moment){evidence_frame(&connection->syns, i), connection->syn.time});
    }
}

/* Adds the peers' state to that of their client. Changes: creates the client's with its first peers. */
static void judge_client(steps_judgement *judgement, const verdict_peers *peers)
{
    client_state *client = wmem_map_lookup(judgement->clients, peers->client);
    const setup_failure *logon = &peers->failures[STEP_LOGON];

    if (client == NULL) {
        client = wmem_new0(judgement->pool, client_state);
        wmem_map_insert(judgement->clients, peers->client, client);
    }
    client->asks |= peers->is_ours;
    judgement->has_asker |= client->asks;
    for (unsigned i = STEP_LOGON; i < NUM_STEPS; i++) {
        client->logged_on = MAX(client->logged_on, peers->passed[i]);
    }
    if (logon->port == PORT_KERBEROS && logon->shown.frames) {
        client->refused = MAX(client->refused, logon->shown.last);
    }
}

steps_judgement *steps_judge(wmem_allocator_t *pool)
{
    steps_judgement *judgement = wmem_new0(pool, steps_judgement);

    judgement->pool = pool;
    judgement->states = wmem_alloc0_array(pool, peers_state, num_peers + 1);
    judgement->clients = wmem_map_new(pool, wmem_str_hash, g_str_equal);
    for (const verdict_peers *peers = steps_first_peers; peers; peers = peers->next) {
        peers_state *state = &judgement->states[peers->number];
        memcpy(state->failures, peers->failures, sizeof state->failures);
        judge_client(judgement, peers);
    }
    for (const verdict_connection *connection = connections; connection; connection = connection->next) {
        judge_connection(judgement, connection);
    }
    return judgement;
}

/* Returns the furthest step that failed, NUM_STEPS: none. */
static setup_step failed_step(const steps_judgement *judgement, const verdict_peers *peers)
{
    const setup_failure *failures = judgement->states[peers->number].failures;
    setup_step found = NUM_STEPS;

    for (unsigned step = 0; step < NUM_STEPS; step++) {
        found = failures[step].shown.frames ? (setup_step)step : found;
    }
    return found;
}

/* Returns true if a failed step is about performance counters, by the peers' calls, the pipe, or the client's other servers. If the capture has
 * nothing else, a refusal is, too. Other ports, missing directions and later Kerberos logons exclude it first. */
static bool is_meant(const steps_judgement *judgement, const verdict_peers *peers, setup_step step)
{
    const setup_failure *failure = &judgement->states[peers->number].failures[step];
    const client_state *client = wmem_map_lookup(judgement->clients, peers->client);
    bool is_port = is_known_port(failure->port) || (failure->port > 0 && failure->port == peers->mapped_port);
    bool is_refusal = failure->outcome != OUTCOME_UNANSWERED && failure->outcome != OUTCOME_ENDED;

    if ((step == STEP_CONNECT && !is_port) || (failure->outcome == OUTCOME_SILENT && judgement->has_one_way) ||
        (failure->outcome == OUTCOME_SIGNING && client->refused > 0) ||
        (failure->port == PORT_KERBEROS && client->logged_on > failure->shown.last)) {
        return false;
    }
    return peers->is_ours || step == STEP_PIPE || (client->asks && !peers->has_other_uses) ||
           (!judgement->has_asker && !has_other_uses && is_refusal);
}

/* Kind of finding of each step; sentence if it fails; words for what the client does while it waits, "": not needed. */
static const struct {
    verdict_kind kind;
    const char *fails, *does;
} step_words[] = {
    [STEP_CONNECT] = {VERDICT_REFUSED_CONNECTION,
                      "$S refuses $C connections on port $F (nobody listens, or a firewall)", ""},
    [STEP_NEGOTIATE] = {VERDICT_LOGON_FAILED, "$S has no version of SMB for $C", "logs on"},
    [STEP_LOGON] = {VERDICT_LOGON_FAILED, "$S refuses the logon of $C", "logs on"},
    [STEP_SHARE] = {VERDICT_SHARE_DENIED, "$S does not give $C the share IPC$", "wants IPC$"},
    [STEP_PIPE] = {VERDICT_PIPE_MISSING, "$S does not open the pipe winreg for $C", "opens the pipe winreg"},
    [STEP_BIND] = {VERDICT_BIND_REFUSED, "$S does not offer $C the interface", "asks for the interface"},
    [STEP_CALL] = {VERDICT_PIPE_BROKEN, "$S fails calls of $C on the pipe winreg", ""},
};

/* Adds a finding: "SRV01 refuses the logon of 192.0.2.10 (no rights): 10:02:29, frame 101 (STATUS_NAME)". `rest`: text behind the frame. */
static void add_failure(wmem_allocator_t *pool, const verdict_peers *peers, setup_step step,
                        const setup_failure *failure, const char *rest, verdict_finding **findings)
{
    const outcome_row *row = find_outcome_row(failure->outcome);
    const char *name = row ? row->name : "";
    verdict_kind kind = step_words[step].kind;
    verdict_party party = row ? row->party : PARTY_SERVER;
    const char *fails = step_words[step].fails;

    if (row && row->kind == VERDICT_SESSION_EXPIRED) {
        kind = row->kind;
        fails = "$S ended the session of $C";
    } else if (row && row->kind < VERDICT_NUM_KINDS && step == STEP_PIPE) {
        kind = row->kind;
    } else if (failure->outcome == OUTCOME_SILENT) {
        kind = VERDICT_UNREACHABLE;
        party = PARTY_NETWORK;
        fails = "$S does not answer $C on port $F (a firewall, or no such machine)";
    } else if (failure->outcome == OUTCOME_UNANSWERED) {
        kind = VERDICT_UNANSWERED;
        fails = wmem_strconcat(pool, "$S does not answer $C, which ", step_words[step].does, NULL);
    } else if (failure->outcome == OUTCOME_ENDED) {
        kind = VERDICT_BROKEN;
        fails = wmem_strconcat(pool, "$S (or a firewall) ends the connection as $C ", step_words[step].does, NULL);
    } else if (failure->outcome == OUTCOME_SIGNING || failure->outcome == OUTCOME_GUEST) {
        fails = failure->outcome == OUTCOME_GUEST ? "$C leaves $S after its logon" : "$C leaves $S before it logs on";
    } else if (step == STEP_LOGON && party == PARTY_CLIENT) {
        fails = "$C cannot log on to $S";
    }
    const char *account = failure->account && row ? " as $F" : ""; /* which may be "SQL$SALES" */
    const char *why = row                     ? wmem_strconcat(pool, " (", row->meaning, ")", NULL)
                      : failure->outcome > 99 ? wmem_strdup_printf(pool, " (STATUS 0x%08x)", failure->outcome)
                                              : "";
    verdict_evidence shown = failure->shown;
    shown.pool = pool;
    shown.which = step == STEP_CONNECT ? wmem_strdup_printf(pool, "%u", failure->port) : failure->account;
    verdict_add_finding(findings, kind, party, &shown, true, peers->called, peers->client,
                        wmem_strconcat(pool, fails, account, why, ": $T", rest, *name ? "| (" : NULL, name, ")", NULL));
    for (verdict_finding *finding = *findings; finding && *name; finding = finding->next) {
        if (finding->kind == kind && finding->frames[0] == shown.first && !strstr(finding->text, name)) {
            finding->more = name; /* the sentence has no room for it */
        }
    }
}

void steps_find(const steps_judgement *judgement, const verdict_peers *peers, verdict_finding **findings)
{
    setup_step step = failed_step(judgement, peers);
    bool is_consequence = false;

    if (step == NUM_STEPS || !is_meant(judgement, peers, step)) {
        return;
    }
    const setup_failure *failure = &judgement->states[peers->number].failures[step];
    for (const verdict_finding *cause = *findings; cause; cause = cause->next) {
        is_consequence |= step == STEP_CONNECT && cause->lasts && cause->since <= failure->shown.since &&
                          (cause->kind == VERDICT_BROKEN || cause->kind == VERDICT_UNANSWERED);
    }
    if (!is_consequence) {
        add_failure(judgement->pool, peers, step, failure, "", findings);
    }
}

void steps_add_pipe_failure(const verdict_peers *peers, uint32_t status, const verdict_evidence *shown,
                            verdict_finding **findings)
{
    add_failure(shown->pool, peers, STEP_CALL, &(setup_failure){.outcome = status, .shown = *shown}, "", findings);
}

void steps_find_unread(const steps_judgement *judgement, const verdict_peers *peers, bool has_calls,
                       verdict_finding **findings)
{
    const verdict_moment none = {0, 0}, one_way = judgement->states[peers->number].one_way;
    const struct {
        verdict_moment first;
        const char *text;
    } reasons[] = {
        {peers->has_messages ? one_way : none, "The capture has one direction alone of what $C and $S say: $T"},
        {peers->disordered, "The capture has packets of $C and $S in the wrong order (merged files?): $T"},
        {peers->unbound, "The capture begins after the bind of $C to $S: $T"}};
    verdict_evidence shown = peers->has_messages ? peers->cut : (verdict_evidence){.frames = NULL};
    const char *text = "The capture cuts frames of $C and $S short: $T";

    if (has_calls && one_way.frame == 0) {
        return;
    }
    shown.pool = judgement->pool;
    shown.is_unread = true;
    for (unsigned i = 0; shown.frames == NULL && i < G_N_ELEMENTS(reasons); i++) {
        if (reasons[i].first.frame > 0) {
            evidence_add(&shown, reasons[i].first.frame, reasons[i].first.time);
            text = reasons[i].text;
        }
    }
    verdict_add_finding(findings, VERDICT_LOST, PARTY_CAPTURE, &shown, true, peers->called, peers->client, text);
}

const char *steps_why_nothing(const steps_judgement *judgement)
{
    verdict_finding *findings = NULL;

    for (const verdict_peers *peers = steps_first_peers; peers; peers = peers->next) {
        if (peers->encrypted.frame > 0) {
            return wmem_strdup_printf(
                judgement->pool, "SMB3 encrypts what %s and %s say, and no key opens it: frame %u, docs/decryption.md",
                peers->client, peers->called, peers->encrypted.frame);
        }
    }
    /* a failed step, though nothing tells that it is for performance counters */
    for (const verdict_peers *peers = steps_first_peers; peers && !has_other_uses && !findings; peers = peers->next) {
        setup_step step = failed_step(judgement, peers);
        if (step < NUM_STEPS && step > STEP_CONNECT) {
            add_failure(judgement->pool, peers, step, &judgement->states[peers->number].failures[step],
                        "; nothing tells what for", &findings);
        }
    }
    return findings ? findings->text
                    : "No call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: docs/symptoms.md, \"Wireshark shows "
                      "none of it\"";
}
