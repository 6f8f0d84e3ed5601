/* judge.c
 * Calls of a monitor that failed, have no response or bring nothing, connections that ended under it, and packets whose lack did harm.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "text/value-strings.h"
#include "verdict/counter-problems.h"
#include "verdict/timing.h"

#include <math.h>

#define IDLE_S 60.0       /* seconds: firewalls forget a connection without packets after a minute or more */
#define IDLE_STOP_S 590.0 /* seconds: Remote Registry stops when nobody asked for ten minutes */
#define LOOP 3            /* responses without data in a row, after the last sample */
#define MANY_OPEN 10      /* queries left open: fewer are no finding */
#define FEWEST_RESENT 3   /* times that a packet is resent and never acknowledged before the way is broken */
#define STATUS_CANCELLED 0xc0000120

enum { ACCESS_DENIED = 5, UNKNOWN_INTERFACE = 0x1c010003 };

/* Returns true if the client did not close the query, or any sealed one of its connection. Once the capture is closed only sealed ones count. */
static bool is_open(const verdict_query *query)
{
    return query->is_sealed ? query->num_open > 0 : query->handle && query_closed_frame(query) == 0;
}

/* Returns true if a FIN or RST ended the connection that is not the client's: the server sent it, or a firewall. */
static bool is_ended_by_server(const verdict_connection *connection)
{
    return connection && connection->end.frame > 0 && !connection->is_ended_by_client;
}

/* --- Calls that failed -------------------------------------------------------------------------------------------- */

/* Returns true for a call for no data if its peers have a later sample; if it opens a query or adds counters, of a query that began later. False
 * for an error other than a denial of what is no opening. */
static bool is_made_good(const monitor_call *call)
{
    static const char *const begins[] = {"OpenQueryHandle", "ValidateCounters", NULL};
    const verdict_peers *pair = call->query->pair;
    bool is_other_error = call->outcome == CALL_FAILED && !call->is_fault && call->status != ACCESS_DENIED &&
                          !g_str_has_prefix(call->operation, "Open");

    return !call->asks && !is_other_error && pair &&
           (g_strv_contains(begins, call->operation) ? pair->sampled_began : pair->sampled) >
               MAX(call->asked_frame, call->frame);
}

/* Adds the finding of calls that failed. `first`: gives operation and error; `is_mixed`: others have another one. Changes: `shown`: more, meaning. */
static void add_failed(verdict_monitor *monitor, verdict_evidence *shown, const monitor_call *first, bool is_mixed)
{
    const char *error =
        first->is_fault ? text_fault(monitor->pool, first->status) : text_win32_error(monitor->pool, first->status);

    shown->more = is_mixed ? wmem_strdup_printf(monitor->pool, "first %s: %s", first->operation, error) : NULL;
    shown->meaning = first->does_not_seal ? NULL : text_error_meaning(first->status);
    if (first->does_not_seal) {
        monitor_add_finding(monitor, VERDICT_NOT_SEALED, PARTY_CLIENT, shown,
                            "$S denies calls that $C signed but did not seal: $T");
    } else if (first->is_fault && first->status == UNKNOWN_INTERFACE) {
        monitor_add_finding(monitor, VERDICT_BIND_REFUSED, PARTY_SERVER, shown,
                            "$S does not have the interface for %s of $C: %s $T", first->operation, error);
    } else {
        monitor_add_finding(monitor, VERDICT_CALL_FAILED, PARTY_SERVER, shown, "$S answers %s of $C with %s%s%s: $T",
                            is_mixed ? "calls" : first->operation, is_mixed ? "errors$N, first " : "", error,
                            is_mixed ? "" : "$N");
    }
}

/* Adds one finding of all failed calls that are not made good. If calls are denied, others are consequences and do not count. */
static void find_failed(verdict_monitor *monitor)
{
    verdict_evidence shown = {.pool = monitor->pool};
    const monitor_call *first = NULL;
    bool is_mixed = false;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_denied = call->status == ACCESS_DENIED, any_denied = first && first->status == ACCESS_DENIED;
        if (call->outcome != CALL_FAILED || (any_denied && !is_denied) || is_made_good(call)) {
            continue;
        }
        if (first == NULL || (is_denied && !any_denied)) {
            first = call;
            shown.frames = NULL;
        }
        is_mixed |= call->status != first->status || call->operation != first->operation;
        evidence_add(&shown, call->frame, call->answered);
    }
    if (first) {
        add_failed(monitor, &shown, first, is_mixed);
    }
}

/* --- Calls without a response ------------------------------------------------------------------------------------- */

/* Why a request has no response that its client got. */
typedef enum {
    MISSING_NOTHING,
    MISSING_SILENT,    /* the server is silent */
    MISSING_RESENT,    /* the request was resent in vain, */
    MISSING_IDLE,      /* after a pause */
    MISSING_LARGE,     /* the response was resent in vain */
    MISSING_IDLE_STOP, /* the pipe failed after a pause, and works again */
    MISSING_PIPE,      /* the pipe failed */
    NUM_MISSING
} missing_cause;

/* Finding of each; %s: operation. That of MISSING_PIPE is a step's. */
static const struct {
    verdict_kind kind;
    verdict_party party;
    const char *text;
} missing_rows[] = {
    [MISSING_SILENT] = {VERDICT_UNANSWERED, PARTY_SERVER, "$S does not answer %s of $C$N: $T"},
    [MISSING_RESENT] = {VERDICT_UNANSWERED, PARTY_NETWORK, "$S does not answer %s of $C, sent again and again$N: $T"},
    [MISSING_IDLE] = {VERDICT_BROKEN, PARTY_NETWORK,
                      "The network (an idle firewall?) dropped the connection of $C to $S$N: $T"},
    [MISSING_LARGE] = {VERDICT_UNANSWERED, PARTY_NETWORK, "The network drops large responses of $S to $C (MTU?)$N: $T"},
    [MISSING_IDLE_STOP] = {VERDICT_PAUSE, PARTY_SERVER,
                           "$S stopped Remote Registry while $C was idle, and started it again$N: $T"},
};

/* Returns true if a peer resent again and again what it sent at `when` (seconds since 1970), and the other one never acknowledged it. */
static bool is_resent_in_vain(const verdict_connection *connection, bool by_client, double when)
{
    const connection_event *last, *event = steps_events(connection, when, &last);
    unsigned resent = 0;

    if (connection == NULL || connection->by[!by_client].heard_at > when) {
        return false;
    }
    for (; event < last; event++) {
        resent += event->kind == EVENT_RESENT && event->is_by_client == by_client;
    }
    return resent >= FEWEST_RESENT;
}

/* Returns true if a request has no response within STEPS_LONG_WAIT, and neither the capture nor the connection's end is why. `until`: time until
 * which it waits, seconds since 1970. */
static bool is_unanswered(const monitor_call *call, double until)
{
    const verdict_connection *connection = call->connection;
    const verdict_peers *pair = call->query->pair;
    bool is_cut = pair && pair->cut.frames && pair->cut.last > call->asked_frame;
    bool has_ended = is_ended_by_server(connection) && connection->end.frame > call->asked_frame &&
                     connection->end.time - call->asked < STEPS_LONG_WAIT;

    return until - call->asked >= STEPS_LONG_WAIT && !steps_times().was_set && !is_cut && !has_ended &&
           !steps_is_one_way(connection) && !peers_have_loss(pair, call->asked, INFINITY) && !is_made_good(call);
}

/* Returns the SMB2 error in place of a request's response; NULL: none. */
static const connection_event *find_pipe_failure(const monitor_call *call)
{
    return call->outcome == CALL_WAITS
               ? steps_find_event(call->connection, EVENT_PIPE_FAILED, call->asked_frame, 0, INFINITY)
               : NULL;
}

/* Returns why a call's response is missing. `failure`: find_pipe_failure(). A call that its client cancels after a while is unanswered. */
static missing_cause find_missing_cause(const verdict_monitor *monitor, const monitor_call *call,
                                        const connection_event *failure)
{
    bool is_first = call == monitor->calls;
    double idle = is_first ? 0 : call->asked - MAX(call[-1].asked, call[-1].answered);

    if (call->outcome != CALL_WAITS) {
        return call->began > 0 && is_resent_in_vain(call->connection, false, call->began) ? MISSING_LARGE
                                                                                          : MISSING_NOTHING;
    }
    if (failure && failure->status != STATUS_CANCELLED) {
        const verdict_peers *pair = call->query->pair;
        bool is_anew = pair->sampled > failure->at.frame || pair->logged_on > failure->at.frame;
        bool is_of_session = failure->status == STATUS_NETWORK_SESSION_EXPIRED ||
                             failure->status == STATUS_USER_SESSION_DELETED; /* the client can make another one */
        return !is_anew              ? MISSING_PIPE
               : is_of_session       ? MISSING_NOTHING
               : idle >= IDLE_STOP_S ? MISSING_IDLE_STOP
                                     : MISSING_PIPE;
    }
    if (!is_unanswered(call, failure ? failure->at.time : steps_times().last)) {
        return MISSING_NOTHING;
    }
    return !is_resent_in_vain(call->connection, true, call->asked) ? MISSING_SILENT
           : idle >= IDLE_S                                        ? MISSING_IDLE
                                                                   : MISSING_RESENT;
}

/* Adds a finding for each cause for which responses are missing. */
static void find_unanswered(verdict_monitor *monitor)
{
    verdict_evidence shown[NUM_MISSING] = {{.pool = NULL}};
    const char *operations[NUM_MISSING] = {NULL};
    uint32_t status = 0;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        const connection_event *failure = find_pipe_failure(call);
        missing_cause cause = find_missing_cause(monitor, call, failure);
        bool is_failure = cause == MISSING_PIPE || cause == MISSING_IDLE_STOP, is_large = cause == MISSING_LARGE;
        if (cause == MISSING_NOTHING) {
            continue;
        }
        shown[cause].pool = monitor->pool;
        operations[cause] = operations[cause] ? operations[cause] : call->operation;
        status = cause == MISSING_PIPE ? failure->status : status;
        evidence_add(&shown[cause],
                     is_failure ? failure->at.frame
                     : is_large ? call->frame
                                : call->asked_frame,
                     is_failure ? failure->at.time
                     : is_large ? call->answered
                                : call->asked);
    }
    for (missing_cause cause = MISSING_SILENT; cause < MISSING_PIPE; cause++) {
        if (shown[cause].frames) {
            monitor_add_finding(monitor, missing_rows[cause].kind, missing_rows[cause].party, &shown[cause],
                                missing_rows[cause].text, operations[cause]);
        }
    }
    if (shown[MISSING_PIPE].frames && monitor->pair) {
        steps_add_pipe_failure(monitor->pair, status, &shown[MISSING_PIPE], &monitor->findings);
    }
}

/* Adds a finding if LOOP or more responses behind the last sample have no data, or only ask for more room. Sealed: if any has none. */
static void find_no_data(verdict_monitor *monitor)
{
    verdict_evidence empty = {.pool = monitor->pool}, probes = {.pool = monitor->pool};
    bool is_sealed = monitor->first->is_sealed;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->outcome == CALL_SAMPLE) {
            probes.frames = NULL;
            empty.frames = is_sealed ? empty.frames : NULL;
        } else if (call->outcome == CALL_EMPTY || call->outcome == CALL_PROBE) {
            evidence_add(call->outcome == CALL_EMPTY ? &empty : &probes, call->frame, call->answered);
        }
    }
    if (evidence_count(&empty) >= (is_sealed ? 1 : LOOP)) {
        monitor_add_finding(monitor, VERDICT_NO_DATA, PARTY_SERVER, &empty, "$S answers $C without data%s$N: $T",
                            is_sealed ? " (it fails, or $C offers too little room)" : "");
    } else if (evidence_count(&probes) >= LOOP) {
        monitor_add_finding(monitor, VERDICT_NO_DATA, PARTY_CLIENT, &probes,
                            "$C offers $S too little room each time, and gets no sample: $T");
    }
}

/* Adds findings of queries whose connection the server, or a firewall, ended, and of MANY_OPEN or more that the client left open. */
static void find_open(verdict_monitor *monitor)
{
    verdict_evidence broken = {.pool = monitor->pool}, left = {.pool = monitor->pool};
    const char *word = monitor_handle_word(monitor);

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const verdict_query *query = monitor_query(monitor, i);
        if (!is_open(query)) {
            continue;
        }
        if (is_ended_by_server(query->connection)) {
            evidence_add(&broken, query->connection->end.frame, query->connection->end.time);
        }
        if (query->opened_frame > 0) {
            evidence_add(&left, query->first_frame, query->first_time);
        }
    }
    monitor_add_finding(monitor, VERDICT_BROKEN, PARTY_SERVER, &broken,
                        "$S (or a firewall) closed the connection from $C with a %s open$N: $T", word);
    if (evidence_count(&left) >= MANY_OPEN) {
        monitor_add_finding(monitor, VERDICT_HANDLES_OPEN, PARTY_CLIENT, &left, "$C left %u handles open on $S: $T",
                            evidence_count(&left));
    }
}

/* --- Packets that were not captured ------------------------------------------------------------------------------- */

/* Adds findings of lost and truncated packets, if they did harm: data or responses are missing, or values are assumed. `lacks_some`: timing_find()
 * saw a gap that lost packets may explain. */
static void find_lacking(verdict_monitor *monitor, bool lacks_some)
{
    const verdict_peers *pair = monitor->pair;
    verdict_evidence lost = {.pool = monitor->pool};
    unsigned responses = 0, unreadable = 0;
    bool is_harmful = monitor->stats.numbers[STAT_SAMPLES] <= 0;

    if (pair == NULL) {
        return;
    }
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        bool waits = call->outcome == CALL_WAITS;
        /* the last request, and one whose pipe failed, have no response in any case */
        responses += waits && call + 1 < monitor->end && find_pipe_failure(call) == NULL;
        unreadable += call->outcome == CALL_EMPTY || call->outcome == CALL_DAMAGED || (waits && call->asks);
    }
    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        for (unsigned kind = PROBLEM_ASSUMED; kind <= PROBLEM_UNTYPED; kind++) {
            is_harmful |= monitor_query(monitor, i)->problems[kind].things > 0;
        }
    }
    for (unsigned i = 0; i < wmem_array_get_count(pair->losses); i++) {
        const verdict_span *loss = wmem_array_index(pair->losses, i);
        evidence_add(&lost, loss->frame, loss->until);
    }
    if (is_harmful || lacks_some || responses > 0) {
        lost.more = responses > 0 ? wmem_strdup_printf(monitor->pool, "responses missing: %u", responses) : NULL;
        monitor_add_finding(monitor, VERDICT_LOST, PARTY_CAPTURE, &lost,
                            "The capture lacks packets of $C and $S[, or their order]: $T");
    }
    if (is_harmful || unreadable > 0) {
        verdict_evidence cut = pair->cut;
        cut.pool = monitor->pool;
        monitor_add_finding(monitor, VERDICT_LOST, PARTY_CAPTURE, &cut,
                            "The capture cuts frames of $C and $S short: $T");
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
    for (verdict_peers *pair = steps_first_peers; pair; pair = pair->next) {
        verdict_monitor *first = wmem_map_lookup(firsts, pair);
        const setup_failure *failure = &pair->failure;
        const char *account = failure->shown.frames && failure->step == STEP_LOGON ? failure->account : NULL;
        /* who has samples is another account's monitor */
        bool is_other = first && account && first->stats.numbers[STAT_SAMPLES] > 0;
        first = is_other ? NULL : first;
        verdict_monitor *monitor = first ? first : monitor_new_of_peers(v->pool, pair);
        bool is_cut = pair->cut.frames && pair->is_ours;
        bool is_unread = is_cut || (v->queries->len == 0 && v->omitted.undecoded == 0);
        steps_find(v->pool, pair, &monitor->findings);
        if (first || (!monitor->findings && is_unread)) {
            steps_find_unread(v->pool, pair, first != NULL, &monitor->findings);
        }
        if (first == NULL && monitor->findings) {
            g_ptr_array_add(v->monitors, monitor);
        }
    }
}

void verdict_judge(verdict *v)
{
    verdict_set_span(v->pool, steps_times().first, steps_times().last);
    monitors_join(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        find_failed(monitor);
        find_unanswered(monitor);
        find_no_data(monitor);
        find_open(monitor);
        find_lacking(monitor, timing_find(monitor));
        problems_find(v, monitor);
    }
    find_peers_failures(v);
}

/* Compares by the worst findings, for g_ptr_array_sort(); a monitor without findings is last. */
static int compare_monitors(const void *a, const void *b)
{
    const verdict_finding *x = (*(verdict_monitor *const *)a)->findings, *y = (*(verdict_monitor *const *)b)->findings;

    return x && y ? verdict_finding_compare(x, y) : (x == NULL) - (y == NULL);
}

/* Returns true if there is something to say of a monitor: findings, samples, several size probes, or steps alone. One that read names has nothing. */
static bool is_shown(const verdict_monitor *monitor)
{
    const double *stats = monitor->stats.numbers;

    return monitor->first == NULL || monitor->findings || stats[STAT_SAMPLES] > 0 || stats[STAT_PROBES] > 1;
}

void verdict_judge_for_display(verdict *v)
{
    unsigned shown = 0;

    verdict_judge(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        if (is_shown(monitor) || (i + 1 == v->monitors->len && shown == 0)) {
            g_ptr_array_index(v->monitors, shown++) = monitor;
        }
    }
    g_ptr_array_set_size(v->monitors, (int)shown);
    g_ptr_array_sort(v->monitors, compare_monitors);
}

const verdict_query *verdict_count(verdict *v, packet_info *pinfo, const tapped_call *tapped)
{
    verdict_query *query = monitors_count(v, pinfo, tapped);

    if (query) {
        problems_count(v, query, pinfo, tapped);
    }
    return query;
}
