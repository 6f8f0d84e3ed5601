/* ladder.c
 * How far each client got with each server, and what stopped it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/ladder.h"

/* [MS-RPCE] 2.2.1.1.8: a level of authentication. */
enum { LEVEL_PRIVACY = 6 };

static GPtrArray *pairs;
static GHashTable *by_addresses; /* "client server" -> the same */
static bool has_other_uses;      /* any of them, */
static bool any_ours;            /* any is ours, and */
static GHashTable *askers;       /* whose clients these are */

/* What each outcome says: $S is the server, $C the client, $1 the port. The last of a rung, without an outcome, is for all others. */
static const struct {
    ladder_rung rung;
    uint32_t outcome;
    verdict_kind kind;
    verdict_party party;
    const char *name, *text;
} outcomes[] = {
    {RUNG_REACH, OUTCOME_SILENT, VERDICT_UNREACHABLE, PARTY_NETWORK, "",
     "$S does not answer on port $1 (a firewall, or no such machine)"},
    {RUNG_REACH, OUTCOME_RESET, VERDICT_REFUSED_CONNECTION, PARTY_SERVER, "",
     "$S refuses connections on port $1 (nobody listens, or a firewall)"},
    {RUNG_REACH, OUTCOME_ICMP, VERDICT_UNREACHABLE, PARTY_NETWORK, "ICMP: unreachable",
     "$S cannot be reached on port $1, says a router (firewall?)"},
    {RUNG_REACH, OUTCOME_ICMP_PORT, VERDICT_REFUSED_CONNECTION, PARTY_SERVER, "ICMP: port unreachable",
     "$S refuses port $1 by ICMP (nobody listens, or a firewall)"},
    {RUNG_LOGON, OUTCOME_UNANSWERED, VERDICT_UNANSWERED, PARTY_SERVER, "", "$S does not answer the logon of $C"},
    {RUNG_LOGON, OUTCOME_ENDED, VERDICT_BROKEN, PARTY_SERVER, "", "$S ends the connection as $C logs on"},
    {RUNG_LOGON, 0xc000006d, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_LOGON_FAILURE",
     "$C gives $S a wrong name or password"},
    {RUNG_LOGON, 0xc000006a, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_WRONG_PASSWORD",
     "$C gives $S a wrong password"},
    {RUNG_LOGON, 0xc0000064, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_NO_SUCH_USER",
     "$C logs on to $S with an account that is not there"},
    {RUNG_LOGON, 0xc0000234, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_ACCOUNT_LOCKED_OUT",
     "$C logs on to $S with an account that is locked"},
    {RUNG_LOGON, 0xc0000072, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_ACCOUNT_DISABLED",
     "$C logs on to $S with an account that is disabled"},
    {RUNG_LOGON, 0xc0000071, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_PASSWORD_EXPIRED",
     "$C logs on to $S with a password that expired"},
    {RUNG_LOGON, 0xc0000224, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_PASSWORD_MUST_CHANGE",
     "$C logs on to $S with a password that has to be changed"},
    {RUNG_LOGON, 0xc0000193, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_ACCOUNT_EXPIRED",
     "$C logs on to $S with an account that expired"},
    {RUNG_LOGON, 0xc000006e, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_ACCOUNT_RESTRICTION",
     "$C logs on to $S with an account that is restricted"},
    {RUNG_LOGON, 0xc000006f, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_INVALID_LOGON_HOURS",
     "$C logs on to $S at an hour that its account may not"},
    {RUNG_LOGON, 0xc0000070, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_INVALID_WORKSTATION",
     "$C is no machine from which its account may log on to $S"},
    {RUNG_LOGON, 0xc000015b, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_LOGON_TYPE_NOT_GRANTED",
     "$C has an account that may not log on to $S from the network"},
    {RUNG_LOGON, 0xc0000133, VERDICT_LOGON_FAILED, PARTY_CLIENT, "STATUS_TIME_DIFFERENCE_AT_DC",
     "$C logs on to $S with a clock that is too far off (clock skew)"},
    {RUNG_LOGON, OUTCOME_SKEW, VERDICT_LOGON_FAILED, PARTY_CLIENT, "KRB_AP_ERR_SKEW",
     "$C logs on to $S with a ticket of another time of day (clock skew)"},
    {RUNG_LOGON, 0xc000005e, VERDICT_LOGON_FAILED, PARTY_SERVER, "STATUS_NO_LOGON_SERVERS",
     "$S finds no logon server (domain controller) for $C"},
    {RUNG_LOGON, 0xc000018d, VERDICT_LOGON_FAILED, PARTY_SERVER, "STATUS_TRUSTED_RELATIONSHIP_FAILURE",
     "$S is not trusted by its domain (trust relationship) and cannot log $C on"},
    {RUNG_LOGON, 0xc000018c, VERDICT_LOGON_FAILED, PARTY_SERVER, "STATUS_TRUSTED_DOMAIN_FAILURE",
     "$S is not trusted by the domain (trust relationship) of $C"},
    {RUNG_LOGON, 0xc000018b, VERDICT_LOGON_FAILED, PARTY_SERVER, "STATUS_NO_TRUST_SAM_ACCOUNT",
     "$S has no account in its domain (trust relationship) to log $C on"},
    {RUNG_LOGON, 0xc00000d0, VERDICT_LOGON_FAILED, PARTY_SERVER, "STATUS_REQUEST_NOT_ACCEPTED",
     "$S accepts no more sessions, as that of $C"},
    {RUNG_LOGON, 0xc000035c, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_NETWORK_SESSION_EXPIRED",
     "$S lets the session of $C expire"},
    {RUNG_LOGON, 0xc0000203, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_USER_SESSION_DELETED",
     "$S deleted the session of $C"},
    {RUNG_LOGON, 0xc0000022, VERDICT_LOGON_FAILED, PARTY_SERVER, "STATUS_ACCESS_DENIED", "$S denies $C the logon"},
    {RUNG_LOGON, 0, VERDICT_LOGON_FAILED, PARTY_SERVER, "", "$S refuses the logon of $C"},
    {RUNG_SHARE, OUTCOME_UNANSWERED, VERDICT_UNANSWERED, PARTY_SERVER, "",
     "$S does not answer $C, which wants the share IPC$"},
    {RUNG_SHARE, OUTCOME_ENDED, VERDICT_BROKEN, PARTY_SERVER, "", "$S ends the connection as $C wants the share IPC$"},
    {RUNG_SHARE, 0xc0000022, VERDICT_SHARE_DENIED, PARTY_SERVER, "STATUS_ACCESS_DENIED",
     "$S denies $C the share IPC$, which pipes need"},
    {RUNG_SHARE, 0xc00000cc, VERDICT_SHARE_DENIED, PARTY_SERVER, "STATUS_BAD_NETWORK_NAME",
     "$S has no share IPC$, which pipes need"},
    {RUNG_SHARE, 0xc000035c, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_NETWORK_SESSION_EXPIRED",
     "$S lets the session of $C expire"},
    {RUNG_SHARE, 0xc0000203, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_USER_SESSION_DELETED",
     "$S deleted the session of $C"},
    {RUNG_SHARE, 0, VERDICT_SHARE_DENIED, PARTY_SERVER, "", "$S does not give $C the share IPC$, which pipes need"},
    {RUNG_PIPE, OUTCOME_UNANSWERED, VERDICT_UNANSWERED, PARTY_SERVER, "",
     "$S does not answer $C, which opens the pipe winreg"},
    {RUNG_PIPE, OUTCOME_ENDED, VERDICT_BROKEN, PARTY_SERVER, "", "$S ends the connection as $C opens the pipe winreg"},
    {RUNG_PIPE, 0xc0000034, VERDICT_PIPE_MISSING, PARTY_SERVER, "STATUS_OBJECT_NAME_NOT_FOUND",
     "$S has no pipe winreg (Remote Registry is disabled?)"},
    {RUNG_PIPE, 0xc00000ac, VERDICT_PIPE_STARTING, PARTY_SERVER, "STATUS_PIPE_NOT_AVAILABLE",
     "$S has no pipe winreg yet (Remote Registry is starting?)"},
    {RUNG_PIPE, 0xc00000ab, VERDICT_PIPE_STARTING, PARTY_SERVER, "STATUS_INSTANCE_NOT_AVAILABLE",
     "$S has no free instance of the pipe winreg"},
    {RUNG_PIPE, 0xc0000022, VERDICT_PIPE_DENIED, PARTY_SERVER, "STATUS_ACCESS_DENIED",
     "$S denies $C the pipe winreg: no rights on it"},
    {RUNG_PIPE, 0xc000035c, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_NETWORK_SESSION_EXPIRED",
     "$S lets the session of $C expire"},
    {RUNG_PIPE, 0xc0000203, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_USER_SESSION_DELETED",
     "$S deleted the session of $C"},
    {RUNG_PIPE, 0, VERDICT_PIPE_MISSING, PARTY_SERVER, "", "$S does not open the pipe winreg"},
    {RUNG_BIND, OUTCOME_UNANSWERED, VERDICT_UNANSWERED, PARTY_SERVER, "",
     "$S does not answer $C, which asks for the interface"},
    {RUNG_BIND, OUTCOME_ENDED, VERDICT_BROKEN, PARTY_SERVER, "", "$S ends the connection as $C asks for the interface"},
    {RUNG_BIND, OUTCOME_MAPPER, VERDICT_BIND_REFUSED, PARTY_SERVER, "fault",
     "$S does not tell $C the interface's port (its endpoint mapper faults)"},
    {RUNG_BIND, OUTCOME_UNMAPPED, VERDICT_INTERFACE_MISSING, PARTY_SERVER, "ept_s_not_registered",
     "$S does not offer PerflibV2: its endpoint mapper has it not registered"},
    {RUNG_BIND, OUTCOME_UNKNOWN, VERDICT_INTERFACE_MISSING, PARTY_SERVER, "bind_ack: abstract syntax not supported",
     "$S does not have the interface that $C binds"},
    {RUNG_BIND, OUTCOME_REFUSED, VERDICT_BIND_REFUSED, PARTY_SERVER, "bind_ack: provider rejection",
     "$S refuses the bind of $C"},
    {RUNG_BIND, OUTCOME_NAK, VERDICT_BIND_REFUSED, PARTY_SERVER, "bind_nak", "$S refuses the bind of $C (bind_nak)"},
    {RUNG_CALL, 0xc000014b, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_PIPE_BROKEN",
     "$S broke the pipe winreg (its service ended?)"},
    {RUNG_CALL, 0xc00000b0, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_PIPE_DISCONNECTED",
     "$S disconnected the pipe winreg (its service ended?)"},
    {RUNG_CALL, 0xc00000b1, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_PIPE_CLOSING",
     "$S closes the pipe winreg (its service ended?)"},
    {RUNG_CALL, 0xc000035c, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_NETWORK_SESSION_EXPIRED",
     "$S lets the session of $C expire (session expired)"},
    {RUNG_CALL, 0xc0000203, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_USER_SESSION_DELETED",
     "$S deleted the session of $C"},
    {RUNG_CALL, 0xc00000c9, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_NETWORK_NAME_DELETED",
     "$S ends the share of the pipe of $C (STATUS_NETWORK_NAME_DELETED)"},
    {RUNG_CALL, 0xc0000128, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_FILE_CLOSED",
     "$S closed the pipe of $C (STATUS_FILE_CLOSED)"},
    {RUNG_CALL, 0xc00000b5, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_IO_TIMEOUT",
     "$S answers a call of $C with STATUS_IO_TIMEOUT"},
    {RUNG_CALL, 0xc0000022, VERDICT_PIPE_BROKEN, PARTY_SERVER, "STATUS_ACCESS_DENIED",
     "$S denies $C the use of its pipe (STATUS_ACCESS_DENIED)"},
    {RUNG_CALL, 0, VERDICT_PIPE_BROKEN, PARTY_SERVER, "", "$S answers calls of $C to the pipe with an error"},
};

/* --- Pairs ----------------------------------------------------------------------------------------------------- */

static void pair_free(void *data)
{
    verdict_pair *pair = data;

    for (unsigned i = 0; i < NUM_RUNGS; i++) {
        verdict_forget(&pair->failures[i].shown);
    }
    g_free(pair->client);
    g_free(pair->server);
    g_free(pair->called);
    g_free(pair);
}

verdict_pair *verdict_ladder_pair(const char *client, const char *server)
{
    char *key = g_strdup_printf("%s %s", client, server);

    if (pairs == NULL) {
        pairs = g_ptr_array_new_with_free_func(pair_free);
        by_addresses = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    }
    verdict_pair *pair = g_hash_table_lookup(by_addresses, key);
    if (pair) {
        g_free(key);
        return pair;
    }
    pair = g_new0(verdict_pair, 1);
    pair->client = g_strdup(client);
    pair->server = g_strdup(server);
    pair->called = g_strdup(server);
    g_ptr_array_add(pairs, pair);
    g_hash_table_insert(by_addresses, key, pair);
    return pair;
}

verdict_pair *verdict_ladder_at(unsigned number)
{
    return pairs && number < pairs->len ? g_ptr_array_index(pairs, number) : NULL;
}

static bool is_port_of_calls(const verdict_pair *pair, uint32_t port)
{
    return port == 135 || port == 139 || port == 445 || (port > 0 && port == pair->tcp_port);
}

void verdict_ladder_note_calls(verdict_pair *pair, uint32_t port)
{
    pair->has_calls = true;
    if (!is_port_of_calls(pair, port)) {
        pair->tcp_port = port;
    }
}

void verdict_ladder_note_other_use(verdict_pair *pair)
{
    pair->has_other_uses = has_other_uses = true;
}

void verdict_ladder_reset(void)
{
    if (askers) {
        g_hash_table_remove_all(askers);
    }
    if (pairs) {
        g_hash_table_remove_all(by_addresses);
        g_ptr_array_set_size(pairs, 0);
    }
    has_other_uses = false;
}

/* --- Steps ----------------------------------------------------------------------------------------------------- */

static void pass(verdict_pair *pair, ladder_rung rung, uint32_t port, double when)
{
    pair->passed[rung] = when;
    if (rung == RUNG_REACH) {
        pair->reached_port = port;
    }
    for (unsigned i = 0; i <= rung; i++) {
        if (i != RUNG_REACH || rung > RUNG_REACH || pair->failures[i].port == port) {
            verdict_forget(&pair->failures[i].shown);
        }
    }
}

/* A later try came through already. */
static bool is_passed(const verdict_pair *pair, ladder_rung rung, uint32_t port, double when)
{
    for (unsigned i = rung; i < NUM_RUNGS; i++) {
        if (pair->passed[i] > when && (i != RUNG_REACH || pair->reached_port == port)) {
            return true;
        }
    }
    return false;
}

void verdict_ladder_step(verdict_pair *pair, ladder_rung rung, uint32_t outcome, uint32_t port, uint32_t frame,
                         double when)
{
    ladder_failure *failure = &pair->failures[rung];

    if (outcome == OUTCOME_PASSED) {
        pass(pair, rung, port, when);
        return;
    }
    bool is_said = outcome == OUTCOME_SILENT && failure->shown.frames && failure->outcome != OUTCOME_SILENT &&
                   failure->port == port;
    if (is_said || is_passed(pair, rung, port, when)) {
        return;
    }
    failure->outcome = outcome;
    failure->port = port;
    pair->is_ours |= rung == RUNG_PIPE;
    verdict_show(&failure->shown, frame, when);
}

/* --- Findings -------------------------------------------------------------------------------------------------- */

void verdict_ladder_judge(bool is_mixed)
{
    has_other_uses |= is_mixed;
    any_ours = false;
    if (askers == NULL) {
        askers = g_hash_table_new(wmem_str_hash, g_str_equal);
    }
    g_hash_table_remove_all(askers);
    for (unsigned i = 0; pairs && i < pairs->len; i++) {
        verdict_pair *pair = g_ptr_array_index(pairs, i);
        if (pair->is_ours || pair->has_calls) {
            any_ours = true;
            g_hash_table_add(askers, pair->client);
        }
    }
}

/* Does anything say that performance counters are meant? The client asks others for them; or the capture has nothing else that explains
 * the connection, and a refusal is no end that many connections have. */
static bool is_meant(const verdict_pair *pair, uint32_t outcome)
{
    bool asks_others = g_hash_table_contains(askers, pair->client);
    bool is_alone = !any_ours && !has_other_uses && outcome != OUTCOME_UNANSWERED && outcome != OUTCOME_ENDED;

    return pair->is_ours || pair->has_calls || (asks_others && !pair->has_other_uses) || is_alone;
}

bool verdict_ladder_does_not_seal(const verdict_pair *pair)
{
    return pair && pair->is_bound && pair->level > 0 && pair->level < LEVEL_PRIVACY;
}

/* "SRV01 has no pipe winreg (Remote Registry is disabled?): 192.0.2.11 since 10:02:29, frame 101" */
static void say(const verdict_pair *pair, ladder_rung rung, const ladder_failure *failure, GPtrArray *findings)
{
    unsigned row = 0;

    while (outcomes[row].rung != rung || (outcomes[row].outcome != failure->outcome && outcomes[row].outcome != 0)) {
        row++;
    }
    bool has_client = strstr(outcomes[row].text, "$C") != NULL;
    char *text = g_strconcat(outcomes[row].text, has_client ? ", since $T" : ": $C since $T", NULL);
    char *port = g_strdup_printf("%u", failure->port);
    verdict_shown shown = {g_array_copy(failure->shown.frames), failure->shown.first, failure->shown.since,
                           *outcomes[row].name     ? g_strdup(outcomes[row].name)
                           : failure->outcome > 99 ? g_strdup_printf("STATUS_… 0x%08x", failure->outcome)
                                                   : NULL};
    verdict_say(findings, outcomes[row].kind, outcomes[row].party, &shown, text,
                &(verdict_words){.server = pair->called, .client = pair->client, .words = {port}});
    g_free(text);
    g_free(port);
}

void verdict_ladder_find(verdict_pair *pair, GPtrArray *findings)
{
    unsigned rung = NUM_RUNGS;

    while (rung > 0 && pair->failures[rung - 1].shown.frames == NULL) {
        rung--;
    }
    if (rung-- == 0 || (rung == RUNG_REACH && !is_port_of_calls(pair, pair->failures[RUNG_REACH].port)) ||
        !is_meant(pair, pair->failures[rung].outcome)) {
        return;
    }
    say(pair, rung, &pair->failures[rung], findings);
}

void verdict_ladder_say(verdict_pair *pair, uint32_t status, const verdict_shown *shown, GPtrArray *findings)
{
    say(pair, RUNG_CALL, &(ladder_failure){.outcome = status, .shown = *shown}, findings);
}

void verdict_ladder_find_unread(const verdict_pair *pair, GPtrArray *findings)
{
    const struct {
        verdict_kind kind;
        uint32_t frame;
        const char *text;
    } reasons[] = {
        {VERDICT_CUT, pair->has_messages ? pair->cut_frame : 0, "The capture cuts frames of $C and $S short: frame $2"},
        {VERDICT_ONE_WAY, pair->has_messages ? pair->one_way_frame : 0,
         "The capture has one direction alone of what $C and $S say: frame $2"},
        {VERDICT_OTHER_PORT, pair->strange_frame,
         "The capture has SMB on port $1 of $S, which -d tcp.port==$1,nbss reads: frame $2"},
        {VERDICT_FROM_MIDDLE, pair->unbound_frame, "The capture begins behind the bind of $C to $S: frame $2"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(reasons); i++) {
        if (reasons[i].frame > 0) {
            verdict_shown shown = {.frames = NULL};
            char *port = g_strdup_printf("%u", pair->strange_port), *frame = g_strdup_printf("%u", reasons[i].frame);
            verdict_show(&shown, reasons[i].frame, pair->first_time);
            verdict_say(findings, reasons[i].kind, PARTY_CAPTURE, &shown, reasons[i].text,
                        &(verdict_words){.server = pair->called, .client = pair->client, .words = {port, frame}});
            g_free(port);
            g_free(frame);
            return;
        }
    }
}

char *verdict_ladder_why_nothing(void)
{
    for (unsigned i = 0; pairs && i < pairs->len; i++) {
        const verdict_pair *pair = g_ptr_array_index(pairs, i);
        if (pair->encrypted_frame > 0) {
            return g_strdup_printf(
                "SMB3 encrypts what %s and %s say, and no key opens it: frame %u, docs/decryption.md", pair->client,
                pair->called, pair->encrypted_frame);
        }
    }
    return g_strdup(
        "No call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: docs/symptoms.md, \"Wireshark shows none of it\"");
}
