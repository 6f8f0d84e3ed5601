/* judge.c
 * Calls of a monitor that failed, have no response or bring nothing, connections that ended under it, and packets whose lack did harm.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "text/value-strings.h"

#include <math.h>

#define IDLE_S 60.0        /* seconds: firewalls forget a connection without packets after a minute or more */
#define IDLE_STOP_S 590.0  /* seconds: Remote Registry stops when nobody asked for ten minutes */
#define MOST_COMPARED 1000 /* monitors of which one may get what another lacks */
#define FEWEST_RESENT 3    /* times that a packet is resent and never acknowledged before the way is broken */
#define STATUS_CANCELLED 0xc0000120
#define UNKNOWN_INTERFACE 0x1c010003 /* nca_unk_if ([C706]), a fault's status */

/* Returns true if a FIN or RST ended the connection that is not the client's: the server sent it, or a firewall. */
static bool is_ended_by_server(const verdict_connection *connection)
{
    return connection->end.frame > 0 && !connection->is_ended_by_client;
}

#define PROBLEM_ROW(problem, kind, party, fewest, text) {VERDICT_##kind, PARTY_##party, fewest, text},
static const struct {
    verdict_kind kind;
    verdict_party party;
    unsigned fewest;
    const char *text; /* NULL: steps_add_failure() has it */
} problem_rows[NUM_PROBLEMS] = {PROBLEMS(PROBLEM_ROW)};

/* Adds a problem to its monitor; one whose key succeeded later counts in `all` alone. */
static void tally_problem(const verdict *v, const shown_problem *problem)
{
    const verdict_monitor *monitor = problem->query->monitor;
    problem_sum *sum = &problem->query->monitor->problems[problem->number];

    sum->all += problem->things;
    if (GPOINTER_TO_UINT(wmem_map_lookup(v->succeeded, &problem->key)) > problem->at.frame) {
        return;
    }
    if (sum->shown.count == 0) {
        sum->first = *problem;
    }
    sum->things += problem->things;
    sum->is_mixed |= problem->what != sum->first.what || problem->status != sum->first.status;
    evidence_add(monitor->pool, &sum->shown, problem->at);
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Returns true for a call for no data if a query of its peers began later and got samples, but not after an error other than a denial of what is no
 * opening. */
static bool is_made_good(const monitor_call *call)
{
    const verdict_peers *pair = call->connection->peers;
    bool is_other_error = call->outcome == CALL_FAILED && !call->is_fault && call->status != ACCESS_DENIED &&
                          !g_str_has_prefix(call->operation, "Open");

    return !call->asks && !is_other_error && pair->sampled_began > monitor_call_shown_at(call).frame;
}

/* Returns true if a peer resent again and again what it sent at `when` (seconds since 1970), and the other one never acknowledged it. */
static bool is_resent_in_vain(const verdict_connection *connection, bool by_client, double when)
{
    return connection->by[!by_client].heard_at <= when && connection->by[by_client].resent >= FEWEST_RESENT;
}

/* Returns true if the server, or a firewall, ended the connection soon behind a request. */
static bool has_ended_instead(const monitor_call *call)
{
    const verdict_connection *connection = call->connection;

    return is_ended_by_server(connection) && connection->end.time - call->asked.time < STEPS_LONG_WAIT;
}

/* Returns true if a request has no response within STEPS_LONG_WAIT, and neither the capture nor the connection's end is why. `until`: time until
 * which it waits, seconds since 1970. */
static bool is_unanswered(const monitor_call *call, double until)
{
    const verdict_connection *connection = call->connection;
    const verdict_peers *pair = connection->peers;
    uint32_t lacks = MAX(pair->lacks[LACKS_PACKETS].until.frame, pair->lacks[LACKS_BYTES].until.frame);
    bool is_unseen = MAX(lacks, pair->unread) > call->asked.frame;

    return until - call->asked.time >= STEPS_LONG_WAIT && !steps.was_set && !is_unseen && !has_ended_instead(call) &&
           !steps_is_one_way(connection) && !is_made_good(call);
}

/* Returns why a request has no response; PROBLEM_NONE: that is no problem, or another finding. What its client cancels after a while is unanswered. */
static monitor_problem find_missing(const verdict_monitor *monitor, const monitor_call *call)
{
    const pipe_failure *failure = call->failure;
    double idle = call == monitor->calls ? 0 : call->asked.time - MAX(call[-1].asked.time, call[-1].answered.time);

    if (failure && failure->status != STATUS_CANCELLED) {
        const verdict_peers *pair = call->connection->peers;
        bool came_back = pair->sampled > failure->at.frame || pair->logged_on > failure->at.frame;
        bool is_of_session = failure->status == STATUS_NETWORK_SESSION_EXPIRED ||
                             failure->status == STATUS_USER_SESSION_DELETED; /* the client can make another one */
        return !came_back            ? PROBLEM_PIPE
               : is_of_session       ? PROBLEM_NONE
               : idle >= IDLE_STOP_S ? PROBLEM_IDLE_STOP
                                     : PROBLEM_PIPE;
    }
    if (call->query->number + call->query->num_open == 0 && has_ended_instead(call) && !is_made_good(call)) {
        return PROBLEM_CLOSED; /* of an open query judge_open() says it */
    }
    if (!is_unanswered(call, failure ? failure->at.time : steps.last)) {
        return PROBLEM_NONE;
    }
    return is_resent_in_vain(call->connection, false, call->asked.time)   ? PROBLEM_LARGE
           : !is_resent_in_vain(call->connection, true, call->asked.time) ? PROBLEM_SILENT
           : idle >= IDLE_S                                               ? PROBLEM_IDLE
                                                                          : PROBLEM_RESENT;
}

/* Returns what is wrong with a call that has a response, also one that never reached the client (LARGE). A single probe or empty response counts: its
 * `fewest` judges. Malformed data is count_problems()'s, late and slow samples are timing.c's. */
static monitor_problem find_wrong_response(const monitor_call *call)
{
    if (call->outcome == CALL_FAILED) {
        return call->does_not_seal                 ? PROBLEM_PROTECTION
               : call->status == UNKNOWN_INTERFACE ? PROBLEM_INTERFACE
               : call->status == ACCESS_DENIED     ? PROBLEM_RIGHTS
                                                   : PROBLEM_FAILED;
    }
    bool is_slow = !call->asks && call->seconds >= STEPS_LONG_WAIT && !steps.was_set;

    return call->outcome == CALL_EMPTY   ? (call->query->is_sealed ? PROBLEM_SEALED : PROBLEM_EMPTY)
           : call->outcome == CALL_PROBE ? PROBLEM_ROOM
           : is_resent_in_vain(call->connection, false, call->began) ? PROBLEM_LARGE
           : is_slow                                                 ? PROBLEM_SLOW
                                                                     : PROBLEM_NONE;
}

/* Judges a call: what is wrong with it becomes a problem. A sample ends what lasts until one; a probe that the client repeats with room is none of these. */
static void judge_call(const verdict *v, verdict_monitor *monitor, const monitor_call *call)
{
    monitor_problem number = call->outcome == CALL_WAITS ? find_missing(monitor, call) : find_wrong_response(call);
    bool is_pipe = number == PROBLEM_PIPE || number == PROBLEM_IDLE_STOP;
    unsigned *num_probes = &monitor->problems[PROBLEM_ROOM].shown.count;
    const shown_problem own = {.query = call->query,
                               .number = number,
                               .at = is_pipe                    ? call->failure->at
                                     : number == PROBLEM_CLOSED ? call->connection->end
                                                                : monitor_call_shown_at(call),
                               .what = call->operation,
                               .status = is_pipe ? call->failure->status : call->status,
                               .is_fault = call->is_fault,
                               .key = call->key};

    if (call->outcome == CALL_SAMPLE) {
        monitor->problems[PROBLEM_EMPTY].shown.count = *num_probes = 0;
    }
    *num_probes -= call->asks && call->outcome != CALL_PROBE && *num_probes > 0;
    if (number != PROBLEM_NONE) {
        tally_problem(v, &own);
    }
}

/* Shows queries whose connection the server, or a firewall, ended, but not behind a long wait, which is said of its call; and those that the client
 * left open. A connection's end closes all of its handles, so one that was open alone is not left. */
static void judge_open(const verdict *v, const verdict_monitor *monitor)
{
    const verdict_connection *before = NULL; /* of the query before */

    for (verdict_query *query = monitor->first; query; query = query->next) {
        /* the client did not close it, or any sealed one of its connection */
        bool is_open = query->is_sealed ? query->num_open > 0 : query->number > 0 && query->closed_frame == 0;
        const verdict_connection *own = query->connection;
        bool is_left = own->end.frame == 0 || own == before || (query->next && query->next->connection == own);
        double long_before = own->end.time - STEPS_LONG_WAIT;
        bool has_waited = own->asked.time > 0 && own->asked.time <= long_before;
        before = own;
        if (is_open && is_ended_by_server(own) && !has_waited && !is_resent_in_vain(own, false, long_before)) {
            tally_problem(v, &(shown_problem){.query = query, .number = PROBLEM_CLOSED, .at = own->end});
        }
        if (is_open && query->opened_frame > 0 && is_left) {
            tally_problem(v, &(shown_problem){.query = query, .number = PROBLEM_LEFT_OPEN, .at = query->first});
        }
    }
}

/* Returns true if lost or truncated packets did harm: samples or responses are missing, no data came, or values are assumed. `lacks_some`:
 * timing_find() saw a gap that lost packets may explain. */
static bool is_lack_harmful(const verdict *v, const verdict_monitor *monitor, bool lacks_some)
{
    bool is_harmful = lacks_some || monitor->num_samples == 0 || monitor->problems[PROBLEM_ASSUMED].things > 0 ||
                      v->omitted.counts[OMITTED_UNTYPED] > 0;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        /* the last request, and one whose pipe failed, have no response in any case */
        bool is_missing = call->outcome == CALL_WAITS && call + 1 < monitor->end && !call->failure;
        is_harmful |= is_missing || call->outcome == CALL_EMPTY || call->outcome == CALL_DAMAGED;
    }
    return is_harmful;
}

/* --- Findings ------------------------------------------------------------------------------------------------------ */

/* Returns "CLIENT gets it: may this account read it?" if another client or account asks the same of this server and lacks nothing; else NULL. */
static const char *format_rights_question(const verdict *v, const verdict_query *own)
{
    for (unsigned i = 0; i < MIN(v->monitors->len, MOST_COMPARED); i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        const verdict_query *other = monitor->first;
        bool is_whole = monitor->num_samples > 0 && monitor->problems[PROBLEM_NOT_DELIVERED].things == 0;
        bool is_other = strcmp(other->client, own->client) != 0 || strcmp(other->account, own->account) != 0;
        bool is_same = other->asked_for > 0 && other->asked_for == own->asked_for;
        if (is_whole && is_other && is_same && strcmp(other->server, own->server) == 0) {
            return wmem_strdup_printf(v->pool, "%s gets it: may this account read it?", other->client);
        }
    }
    return NULL;
}

/* Adds the finding of a problem. $F: first path, or operation; "calls" if these or their errors differ. `more`: number of counters or values. Needs: its
 * row has a text. */
static void add_problem_finding(const verdict *v, verdict_monitor *monitor, monitor_problem number)
{
    const problem_sum *sum = &monitor->problems[number];
    const char *error = (sum->first.is_fault ? text_fault : text_win32_error)(monitor->pool, sum->first.status);
    const char *meaning = text_error_meaning(sum->first.status);
    verdict_evidence shown = sum->shown;

    shown.which = sum->first.what;
    if (sum->things > (shown.which ? 1 : shown.count)) {
        shown.more = wmem_strdup_printf(monitor->pool, "%" PRIu64 " in all", sum->things);
    } else if (sum->things == 0 && sum->is_mixed) {
        shown.which = "calls";
        error = wmem_strconcat(monitor->pool, "errors, first ", error, NULL);
    }
    shown.advice = number == PROBLEM_NOT_DELIVERED ? format_rights_question(v, monitor->first)
                   : number == PROBLEM_REFUSED || number == PROBLEM_BLOCK_FAILED || number > PROBLEM_PROTECTION
                       ? meaning
                       : NULL;
    monitor_add_finding(monitor, problem_rows[number].kind, problem_rows[number].party, &shown,
                        problem_rows[number].text, error);
}

/* Adds findings of all problems of a monitor. */
static void find_problems(const verdict *v, verdict_monitor *monitor)
{
    bool has_failed = false;

    for (monitor_call *call = monitor->calls; call < monitor->end; call++) {
        call->outcome = call->outcome == CALL_FAILED && is_made_good(call) ? CALL_DONE : call->outcome;
        judge_call(v, monitor, call);
    }
    judge_open(v, monitor);
    bool lacks_some = !steps.was_set && timing_find(monitor);
    for (monitor_problem i = 0; i < NUM_PROBLEMS && !has_failed; i++) {
        if (problem_rows[i].text && monitor->problems[i].shown.count >= problem_rows[i].fewest &&
            !(i == PROBLEM_NAMES && monitor->has_names)) {
            add_problem_finding(v, monitor, i);
            has_failed = i >= PROBLEM_PROTECTION;
        }
    }
    steps_find_lacking(monitor, is_lack_harmful(v, monitor, lacks_some));
    const problem_sum *pipe = &monitor->problems[PROBLEM_PIPE];
    if (pipe->shown.count > 0) {
        const setup_failure failure = {.step = STEP_CALL, .outcome = pipe->first.status, .shown = pipe->shown};
        steps_add_failure(monitor, &failure);
    }
}

/* --- The judgement ------------------------------------------------------------------------------------------------ */

/* Adds findings of failed steps to the peers' first monitor. Without one, or if an account fails while that one has samples: to a new monitor. */
static void find_peers_failures(verdict *v)
{
    wmem_map_t *firsts = wmem_map_new(v->pool, g_direct_hash, g_direct_equal);

    for (unsigned i = v->monitors->len; i > 0; i--) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i - 1);
        wmem_map_insert(firsts, monitor->pair, monitor);
    }
    for (verdict_peers *pair = steps.newest_peers; pair; pair = pair->next) {
        verdict_monitor *first = wmem_map_lookup(firsts, pair);
        const setup_failure *failure = &pair->failure;
        const char *account = failure->shown.count > 0 && failure->step == STEP_LOGON ? failure->shown.which : NULL;
        /* who has samples is another account's monitor */
        bool is_other = first && account && first->num_samples > 0;
        first = is_other ? NULL : first;
        verdict_query *none = wmem_new(v->pool, verdict_query);
        *none = (verdict_query){.client = pair->client, .server = pair->server, .account = ""};
        verdict_monitor *monitor = first ? first : monitor_new(v->pool, pair, none);
        bool is_cut = pair->lacks[LACKS_BYTES].count > 0 && pair->is_ours;
        bool is_unread = is_cut || (v->queries->len == 0 && v->omitted.counts[OMITTED_UNDECODED] == 0);
        steps_find(monitor);
        if (first == NULL && is_unread) {
            steps_find_lacking(monitor, true /* is_harmful */);
        }
        if (first == NULL && monitor->findings) {
            g_ptr_array_add(v->monitors, monitor);
        }
    }
}

void verdict_judge(verdict *v)
{
    monitors_join(v);
    for (unsigned i = 0; i < v->problems->len; i++) {
        tally_problem(v, g_ptr_array_index(v->problems, i));
    }
    for (unsigned i = 0; i < v->monitors->len; i++) {
        find_problems(v, g_ptr_array_index(v->monitors, i));
    }
    find_peers_failures(v);
}

/* Compares by the worst findings, for g_ptr_array_sort(); a monitor without findings is last. */
static int compare_monitors(const void *a, const void *b)
{
    const verdict_finding *x = (*(verdict_monitor *const *)a)->findings, *y = (*(verdict_monitor *const *)b)->findings;

    return x && y ? verdict_finding_compare(x, y) : (x == NULL) - (y == NULL);
}

void verdict_judge_for_display(verdict *v)
{
    unsigned shown = 0;

    verdict_judge(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        bool has_data = monitor->num_samples > 0 || monitor->num_probes > 1; /* else it reads names */
        if (monitor->findings || has_data || (i + 1 == v->monitors->len && shown == 0)) {
            g_ptr_array_index(v->monitors, shown++) = monitor;
        }
    }
    g_ptr_array_set_size(v->monitors, (int)shown);
    g_ptr_array_sort(v->monitors, compare_monitors);
}
