/* ladder.c
 * How far each client got with each server, and what stopped it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/ladder.h"

wmem_allocator_t *verdict_ladder_memory;
verdict_pair *verdict_ladder_first;
static verdict_pair **end_of_pairs;
static wmem_map_t *by_addresses; /* "client server" -> the same */
static bool has_other_uses;      /* any of them */
static wmem_map_t *askers;       /* clients of those that are ours */

#define ROW(rung, outcome, kind, party, name, text) \
    { \
        RUNG_##rung, outcome, VERDICT_##kind, PARTY_##party, name, text \
    }
#define STATUS(rung, outcome, kind, name, text) ROW(rung, outcome, kind, SERVER, "STATUS_" name, text)
#define LOGON(outcome, party, name, text) ROW(LOGON, outcome, LOGON_FAILED, party, "STATUS_" name, text)

/* What each outcome says, of NUM_RUNGS wherever it is: $S is the server, $C the client, $F the port. The last of a rung, without an outcome, is for all others. */
static const struct {
    ladder_rung rung;
    uint32_t outcome;
    verdict_kind kind;
    verdict_party party;
    const char *name, *text;
} outcomes[] = {
    {NUM_RUNGS, 0xc000035c, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_NETWORK_SESSION_EXPIRED",
     "$S lets the session of $C expire (session expired)"},
    {NUM_RUNGS, 0xc0000203, VERDICT_SESSION_EXPIRED, PARTY_SERVER, "STATUS_USER_SESSION_DELETED",
     "$S deleted the session of $C"},
    ROW(REACH, OUTCOME_SILENT, UNREACHABLE, NETWORK, "",
        "$S does not answer on port $F (a firewall, or no such machine)"),
    ROW(REACH, OUTCOME_RESET, REFUSED_CONNECTION, SERVER, "",
        "$S refuses connections on port $F (nobody listens, or a firewall)"),
    ROW(REACH, OUTCOME_ICMP, UNREACHABLE, NETWORK, "ICMP: unreachable",
        "$S cannot be reached on port $F, says a router (firewall?)"),
    ROW(REACH, OUTCOME_ICMP_PORT, REFUSED_CONNECTION, SERVER, "ICMP: port unreachable",
        "$S refuses port $F by ICMP (nobody listens, or a firewall)"),
    ROW(LOGON, OUTCOME_UNANSWERED, UNANSWERED, SERVER, "", "$S does not answer the logon of $C"),
    ROW(LOGON, OUTCOME_ENDED, BROKEN, SERVER, "", "$S ends the connection as $C logs on"),
    LOGON(0xc000006d, CLIENT, "LOGON_FAILURE", "$C gives $S a wrong name or password"),
    LOGON(0xc000006a, CLIENT, "WRONG_PASSWORD", "$C gives $S a wrong password"),
    LOGON(0xc0000064, CLIENT, "NO_SUCH_USER", "$C logs on to $S with an account that is not there"),
    LOGON(0xc0000234, CLIENT, "ACCOUNT_LOCKED_OUT", "$C logs on to $S with an account that is locked"),
    LOGON(0xc0000072, CLIENT, "ACCOUNT_DISABLED", "$C logs on to $S with an account that is disabled"),
    LOGON(0xc0000071, CLIENT, "PASSWORD_EXPIRED", "$C logs on to $S with a password that expired"),
    LOGON(0xc0000224, CLIENT, "PASSWORD_MUST_CHANGE", "$C logs on to $S with a password that has to be changed"),
    LOGON(0xc0000193, CLIENT, "ACCOUNT_EXPIRED", "$C logs on to $S with an account that expired"),
    LOGON(0xc000006e, CLIENT, "ACCOUNT_RESTRICTION", "$C logs on to $S with an account that is restricted"),
    LOGON(0xc000006f, CLIENT, "INVALID_LOGON_HOURS", "$C logs on to $S at an hour that its account may not"),
    LOGON(0xc0000070, CLIENT, "INVALID_WORKSTATION", "$C is no machine from which its account may log on to $S"),
    LOGON(0xc000015b, CLIENT, "LOGON_TYPE_NOT_GRANTED", "$C has an account that may not log on to $S from the network"),
    LOGON(0xc0000133, CLIENT, "TIME_DIFFERENCE_AT_DC",
          "$C logs on to $S with a clock that is too far off (clock skew)"),
    ROW(LOGON, OUTCOME_KERBEROS + 37, LOGON_FAILED, CLIENT, "KRB_AP_ERR_SKEW",
        "$C logs on to $S with a ticket of another time of day (clock skew)"),
    ROW(LOGON, OUTCOME_KERBEROS + 41, LOGON_FAILED, CLIENT, "KRB_AP_ERR_MODIFIED",
        "$S cannot read the Kerberos ticket of $C (alias or SPN?)"),
    ROW(LOGON, OUTCOME_KERBEROS + 14, LOGON_FAILED, SERVER, "KDC_ERR_ETYPE_NOSUPP",
        "$S supports no encryption of the ticket of $C"),
    ROW(LOGON, OUTCOME_KERBEROS + 7, LOGON_FAILED, SERVER, "KDC_ERR_S_PRINCIPAL_UNKNOWN",
        "$S is not known to Kerberos by the name that $C uses (SPN)"),
    ROW(LOGON, OUTCOME_SIGNING, LOGON_FAILED, CLIENT, "",
        "$S and $C do not agree on SMB signing, and the client leaves"),
    LOGON(0xc0000418, SERVER, "NTLM_BLOCKED", "$S allows no NTLM, with which $C logs on"),
    LOGON(0xc000005e, SERVER, "NO_LOGON_SERVERS", "$S finds no logon server (domain controller) for $C"),
    LOGON(0xc000018d, SERVER, "TRUSTED_RELATIONSHIP_FAILURE",
          "$S is not trusted by its domain (trust relationship) and cannot log $C on"),
    LOGON(0xc000018c, SERVER, "TRUSTED_DOMAIN_FAILURE", "$S is not trusted by the domain (trust relationship) of $C"),
    LOGON(0xc000018b, SERVER, "NO_TRUST_SAM_ACCOUNT",
          "$S has no account in its domain (trust relationship) to log $C on"),
    LOGON(0xc00000d0, SERVER, "REQUEST_NOT_ACCEPTED", "$S accepts no more sessions, as that of $C"),
    LOGON(0xc0000022, SERVER, "ACCESS_DENIED", "$S denies $C the logon"),
    LOGON(0xc00000bb, SERVER, "NOT_SUPPORTED", "$S takes no such logon as that of $C (NTLM?)"),
    ROW(LOGON, OUTCOME_NO_VERSION, LOGON_FAILED, SERVER, "STATUS_NOT_SUPPORTED",
        "$S has no version of SMB in common with $C"),
    ROW(LOGON, 0, LOGON_FAILED, SERVER, "", "$S refuses the logon of $C"),
    ROW(SHARE, OUTCOME_UNANSWERED, UNANSWERED, SERVER, "", "$S does not answer $C, which wants the share IPC$"),
    ROW(SHARE, OUTCOME_ENDED, BROKEN, SERVER, "", "$S ends the connection as $C wants the share IPC$"),
    STATUS(SHARE, 0xc0000022, SHARE_DENIED, "ACCESS_DENIED", "$S denies $C the share IPC$, which pipes need"),
    STATUS(SHARE, 0xc00000cc, SHARE_DENIED, "BAD_NETWORK_NAME", "$S has no share IPC$, which pipes need"),
    ROW(SHARE, 0, SHARE_DENIED, SERVER, "", "$S does not give $C the share IPC$, which pipes need"),
    ROW(PIPE, OUTCOME_UNANSWERED, UNANSWERED, SERVER, "", "$S does not answer $C, which opens the pipe winreg"),
    ROW(PIPE, OUTCOME_ENDED, BROKEN, SERVER, "", "$S ends the connection as $C opens the pipe winreg"),
    STATUS(PIPE, 0xc0000034, PIPE_MISSING, "OBJECT_NAME_NOT_FOUND",
           "$S has no pipe winreg (Remote Registry is disabled?)"),
    STATUS(PIPE, 0xc00000ac, PIPE_STARTING, "PIPE_NOT_AVAILABLE",
           "$S has no pipe winreg yet (Remote Registry is starting?)"),
    STATUS(PIPE, 0xc00000ab, PIPE_STARTING, "INSTANCE_NOT_AVAILABLE", "$S has no free instance of the pipe winreg"),
    STATUS(PIPE, 0xc0000022, PIPE_DENIED, "ACCESS_DENIED", "$S denies $C the pipe winreg: no rights on it"),
    ROW(PIPE, 0, PIPE_MISSING, SERVER, "", "$S does not open the pipe winreg"),
    ROW(BIND, OUTCOME_UNANSWERED, UNANSWERED, SERVER, "", "$S does not answer $C, which asks for the interface"),
    ROW(BIND, OUTCOME_ENDED, BROKEN, SERVER, "", "$S ends the connection as $C asks for the interface"),
    ROW(BIND, OUTCOME_MAPPER, BIND_REFUSED, SERVER, "fault",
        "$S does not tell $C the interface's port (its endpoint mapper faults)"),
    ROW(BIND, OUTCOME_UNMAPPED, BIND_REFUSED, SERVER, "ept_s_not_registered",
        "$S does not offer PerflibV2: it is not registered with the endpoint mapper"),
    ROW(BIND, OUTCOME_UNKNOWN, BIND_REFUSED, SERVER, "bind_ack: abstract syntax not supported",
        "$S does not have the interface that $C binds"),
    ROW(BIND, OUTCOME_REFUSED, BIND_REFUSED, SERVER, "bind_ack: provider rejection", "$S refuses the bind of $C"),
    ROW(BIND, OUTCOME_NAK, BIND_REFUSED, SERVER, "", "$S refuses the bind of $C (bind_nak)"),
    STATUS(CALL, 0xc000014b, PIPE_BROKEN, "PIPE_BROKEN", "$S broke the pipe winreg (its service ended?)"),
    STATUS(CALL, 0xc00000b0, PIPE_BROKEN, "PIPE_DISCONNECTED", "$S disconnected the pipe winreg (its service ended?)"),
    STATUS(CALL, 0xc00000b1, PIPE_BROKEN, "PIPE_CLOSING", "$S closes the pipe winreg (its service ended?)"),
    STATUS(CALL, 0xc00000c9, PIPE_BROKEN, "NETWORK_NAME_DELETED", "$S ends the share of the pipe of $C"),
    STATUS(CALL, 0xc0000128, PIPE_BROKEN, "FILE_CLOSED", "$S closed the pipe of $C"),
    STATUS(CALL, 0xc00000b5, PIPE_BROKEN, "IO_TIMEOUT", "$S lets a call of $C time out"),
    STATUS(CALL, 0xc0000022, PIPE_BROKEN, "ACCESS_DENIED", "$S denies $C the use of its pipe"),
    ROW(CALL, 0, PIPE_BROKEN, SERVER, "", "$S answers calls of $C to the pipe with an error"),
};

/* --- Pairs ----------------------------------------------------------------------------------------------------- */

verdict_pair *verdict_ladder_pair(const char *client, const char *server)
{
    if (by_addresses == NULL) {
        by_addresses = wmem_map_new(verdict_ladder_memory, wmem_str_hash, g_str_equal);
        end_of_pairs = &verdict_ladder_first;
    }
    char *key = wmem_strdup_printf(verdict_ladder_memory, "%s %s", client, server);
    verdict_pair *pair = wmem_map_lookup(by_addresses, key);
    if (pair) {
        wmem_free(verdict_ladder_memory, key);
        return pair;
    }
    pair = wmem_new0(verdict_ladder_memory, verdict_pair);
    pair->client = wmem_strdup(verdict_ladder_memory, client);
    pair->server = pair->called = wmem_strdup(verdict_ladder_memory, server);
    pair->losses = wmem_array_new(verdict_ladder_memory, sizeof(verdict_span));
    pair->cut.pool = pair->missed.pool = verdict_ladder_memory;
    *end_of_pairs = pair;
    end_of_pairs = &pair->next;
    wmem_map_insert(by_addresses, key, pair);
    return pair;
}

/* Clients of SMB try both ports at once: what comes of the second says nothing. */
static bool is_second_port(const verdict_pair *pair, uint32_t port)
{
    return port == PORT_NETBIOS && pair->call_port != port &&
           (pair->call_port == PORT_SMB || pair->passed[RUNG_LOGON] > 0);
}

static bool is_port_of_calls(const verdict_pair *pair, uint32_t port)
{
    return port == PORT_MAPPER || (port == PORT_NETBIOS && !is_second_port(pair, port)) || port == PORT_SMB ||
           (port > 0 && port == pair->tcp_port);
}

void verdict_ladder_note_calls(verdict_pair *pair, uint32_t port)
{
    pair->call_port = port;
    if (!is_port_of_calls(pair, port)) {
        pair->tcp_port = port;
    }
}

void verdict_ladder_note_other_use(verdict_pair *pair)
{
    has_other_uses = true;
    if (pair) {
        pair->has_other_uses = true;
    }
}

void verdict_ladder_reset(void)
{
    if (by_addresses) {
        wmem_free_all(verdict_ladder_memory);
    }
    by_addresses = NULL;
    verdict_ladder_first = NULL;
    has_other_uses = false;
}

/* --- Steps ----------------------------------------------------------------------------------------------------- */

/* Another account's logon does not make good that this one is refused. */
static bool is_of_other_account(const ladder_failure *failure, ladder_rung rung, const char *account)
{
    return failure->account && (rung > RUNG_LOGON || (account && strcmp(account, failure->account) != 0));
}

static void note_passed(verdict_pair *pair, ladder_rung rung, uint32_t port, const char *account, double when)
{
    pair->passed[rung] = when;
    if (rung == RUNG_REACH) {
        pair->reached_port = port;
    }
    for (unsigned i = 0; i <= rung; i++) {
        bool is_same = i != RUNG_REACH || rung > RUNG_REACH || pair->failures[i].port == port;
        if (is_same && !(i == RUNG_LOGON && is_of_other_account(&pair->failures[i], rung, account))) {
            pair->failures[i].shown.frames = NULL;
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

void verdict_ladder_step(verdict_pair *pair, ladder_rung rung, uint32_t outcome, uint32_t port, const char *account,
                         uint32_t frame, double when)
{
    ladder_failure *failure = &pair->failures[rung];

    if (outcome == OUTCOME_PASSED) {
        note_passed(pair, rung, port, account, when);
        return;
    }
    bool is_said = outcome == OUTCOME_SILENT && failure->shown.frames && failure->outcome != OUTCOME_SILENT &&
                   failure->port == port;
    bool has_first = failure->shown.frames && failure->port == PORT_SMB;
    bool is_second = rung == RUNG_REACH && (is_second_port(pair, port) || (has_first && port == PORT_NETBIOS));
    if (is_said || is_second || (account == NULL && is_passed(pair, rung, port, when))) {
        return;
    }
    failure->outcome = outcome;
    failure->account = account ? wmem_strdup(verdict_ladder_memory, account) : NULL;
    failure->port = port;
    failure->newest = MAX(failure->newest, frame);
    pair->is_ours |= rung == RUNG_PIPE;
    failure->shown.pool = verdict_ladder_memory;
    evidence_add(&failure->shown, frame, when);
}

/* --- Findings -------------------------------------------------------------------------------------------------- */

void verdict_ladder_judge(wmem_allocator_t *pool)
{
    askers = wmem_map_new(pool, wmem_str_hash, g_str_equal);
    for (verdict_pair *pair = verdict_ladder_first; pair; pair = pair->next) {
        if (pair->is_ours || pair->call_port > 0) {
            wmem_map_insert(askers, pair->client, pair);
        }
    }
}

/* Does anything say that performance counters are meant? The client asks others for them; or the capture has nothing else that explains
 * the connection, and a refusal is no end that many connections have. */
static bool is_meant(const verdict_pair *pair, ladder_rung rung, uint32_t outcome)
{
    const verdict_pair *asked = wmem_map_lookup(askers, pair->client);
    bool lacks_answers = outcome == OUTCOME_SILENT && asked && asked->one_way.frame > 0;
    bool is_alone =
        wmem_map_size(askers) == 0 && !has_other_uses && outcome != OUTCOME_UNANSWERED && outcome != OUTCOME_ENDED;

    if (rung <= RUNG_SHARE && pair->has_other_uses && pair->sampled > pair->failures[rung].newest) {
        return false; /* samples go on, and the client wants other things, too */
    }
    return !lacks_answers && (pair->is_ours || pair->call_port > 0 || (asked && !pair->has_other_uses) || is_alone);
}

/* "SRV01 has no pipe winreg (Remote Registry is disabled?): 192.0.2.11 since 10:02:29, frame 101" */
static void say(wmem_allocator_t *pool, const verdict_pair *pair, ladder_rung rung, const ladder_failure *failure,
                const char *rest, verdict_finding **findings)
{
    unsigned row = 0;

    while ((outcomes[row].rung != rung && outcomes[row].rung != NUM_RUNGS) ||
           (outcomes[row].outcome != failure->outcome && outcomes[row].outcome != 0)) {
        row++;
    }
    const char *name = *outcomes[row].name     ? wmem_strdup_printf(pool, " (%s)", outcomes[row].name)
                       : failure->outcome > 99 ? wmem_strdup_printf(pool, " (STATUS_… 0x%08x)", failure->outcome)
                                               : "";
    const char *account = failure->account ? wmem_strconcat(pool, "[ (", failure->account, ")]", NULL) : "";
    const char *text = wmem_strconcat(pool, outcomes[row].text, account,
                                      strstr(outcomes[row].text, "$C") ? ": $T" : ": $C, $T", rest, "|", name, NULL);
    verdict_evidence shown = failure->shown;
    shown.pool = pool;
    shown.which = wmem_strdup_printf(pool, "%u", failure->port);
    verdict_add_finding(findings, outcomes[row].kind, outcomes[row].party, &shown, true, pair->called, pair->client,
                        text);
}

/* How far the pair came where it failed; NUM_RUNGS: it did not, or a later try came through. */
static ladder_rung failed_rung(const verdict_pair *pair)
{
    ladder_rung rung = NUM_RUNGS;

    for (unsigned i = 0; i < NUM_RUNGS; i++) {
        rung = pair->failures[i].shown.frames ? (ladder_rung)i : rung;
    }
    return rung;
}

void verdict_ladder_find(wmem_allocator_t *pool, const verdict_pair *pair, verdict_finding **findings)
{
    ladder_rung rung = failed_rung(pair);

    if (rung < NUM_RUNGS && (rung > RUNG_REACH || is_port_of_calls(pair, pair->failures[RUNG_REACH].port)) &&
        is_meant(pair, rung, pair->failures[rung].outcome)) {
        say(pool, pair, rung, &pair->failures[rung], "", findings);
    }
}

void verdict_ladder_say(const verdict_pair *pair, uint32_t status, const verdict_evidence *shown,
                        verdict_finding **findings)
{
    say(shown->pool, pair, RUNG_CALL, &(ladder_failure){.outcome = status, .shown = *shown}, "", findings);
}

void verdict_ladder_find_unread(wmem_allocator_t *pool, const verdict_pair *pair, verdict_finding **findings)
{
    const struct {
        verdict_moment first;
        const char *text;
    } reasons[] = {{pair->has_messages ? pair->one_way : (verdict_moment){.frame = 0},
                    "The capture has one direction alone of what $C and $S say"},
                   {pair->disordered, "The capture has packets of $C and $S in the wrong order (merged files?)"},
                   {pair->strange, "The capture has SMB on port $F of $S, which -d tcp.port==$F,nbss reads"},
                   {pair->unbound, "The capture begins after the bind of $C to $S"}};

    if (pair->has_messages && pair->cut.frames) {
        verdict_evidence cut = pair->cut;
        cut.pool = pool;
        cut.is_unread = true;
        verdict_add_finding(findings, VERDICT_LOST, PARTY_CAPTURE, &cut, true, pair->called, pair->client,
                            "The capture cuts frames of $C and $S short: $T");
        return;
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(reasons); i++) {
        if (reasons[i].first.frame > 0) {
            verdict_evidence shown = {
                .pool = pool, .is_unread = true, .which = wmem_strdup_printf(pool, "%u", pair->strange_port)};
            evidence_add(&shown, reasons[i].first.frame, reasons[i].first.time);
            verdict_add_finding(findings, VERDICT_LOST, PARTY_CAPTURE, &shown, true, pair->called, pair->client,
                                wmem_strdup_printf(pool, "%s: frame %u", reasons[i].text, reasons[i].first.frame));
            return;
        }
    }
}

const char *verdict_ladder_why_nothing(wmem_allocator_t *pool)
{
    for (const verdict_pair *pair = verdict_ladder_first; pair; pair = pair->next) {
        if (pair->encrypted.frame > 0) {
            return wmem_strdup_printf(
                pool, "SMB3 encrypts what %s and %s say, and no key opens it: frame %u, docs/decryption.md",
                pair->client, pair->called, pair->encrypted.frame);
        }
    }
    /* of a client of which it is not known what it wants */
    verdict_finding *findings = NULL;
    for (const verdict_pair *pair = verdict_ladder_first; pair && !has_other_uses && !findings; pair = pair->next) {
        ladder_rung rung = failed_rung(pair);
        if (rung < NUM_RUNGS && rung > RUNG_REACH) {
            say(pool, pair, rung, &pair->failures[rung], "; nothing tells what for", &findings);
        }
    }
    return findings ? findings->text
                    : "No call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: docs/symptoms.md, \"Wireshark shows "
                      "none of it\"";
}
