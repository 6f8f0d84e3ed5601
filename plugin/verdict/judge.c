/* judge.c
 * Calls of a monitor that failed, have no response or bring nothing, connections that ended under it, and packets whose lack did harm.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/judge.h"

#include "text/value-strings.h"
#include "verdict/counter-problems.h"
#include "verdict/timing.h"

#include <math.h>

#define AGAIN_S 0.5       /* seconds: a client that asks for something else by then does not wait for the response */
#define IDLE_S 60.0       /* seconds: firewalls forget a connection without packets after a minute or more */
#define IDLE_STOP_S 590.0 /* seconds: Remote Registry stops when nobody asked for ten minutes */
#define LOOP 3            /* responses without data in a row, after the last sample */
#define MANY_OPEN 10      /* queries left open: fewer are no finding */
#define MOST_BEHIND 64    /* calls after one that are looked at for whether the client goes on */
#define FEWEST_RESENT 3 /* times that a request is resent, without any packet of the server, before the way is broken */
#define STATUS_CANCELLED 0xc0000120

enum { ACCESS_DENIED = 5, UNKNOWN_INTERFACE = 0x1c010003 };

/* Returns true for a session that expired or was deleted: the client can make another one. */
static bool is_session_status(uint32_t status)
{
    return status == STATUS_NETWORK_SESSION_EXPIRED || status == STATUS_USER_SESSION_DELETED;
}

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

/* Returns true if the same call succeeded later, or, of a fault, a denial or an opening, the peers have a later sample. Of a query's opening and its
 * ValidateCounters that sample is of a query that began later. False for calls for counter data. */
static bool is_made_good(const verdict_monitor *monitor, const monitor_call *call)
{
    static const char *const steps[] = {"OpenQueryHandle", "EnumerateCounterSet", "OpenHKPD", "OpenHKLM", NULL};
    bool is_step = call->is_fault || call->status == ACCESS_DENIED || g_strv_contains(steps, call->operation);
    bool opens = strcmp(call->operation, steps[0]) == 0 || strcmp(call->operation, "ValidateCounters") == 0;
    const verdict_peers *pair = monitor->pair;
    uint32_t frame = MAX(call->asked_frame, call->frame);

    return !call->asks && (query_succeeded_after(call, frame) ||
                           (is_step && pair && (opens ? pair->sampled_began : pair->sampled) > frame));
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
    } else if (first->status == ACCESS_DENIED) {
        monitor_add_finding(monitor, VERDICT_CALL_FAILED, PARTY_SERVER, shown,
                            "$S denies calls of $C (access denied: no rights)$N: $T");
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
        if (call->outcome != CALL_FAILED || (any_denied && !is_denied) || is_made_good(monitor, call)) {
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

/* Returns the time until which the client waited: of its next call behind half an interval (else AGAIN_S), or the capture's end. */
static double find_wait_end(const verdict_monitor *monitor, const monitor_call *call)
{
    double usual = monitor->timing.usual, soon = call->asked + (usual > 0 ? usual / 2 : AGAIN_S);

    for (const monitor_call *next = call + 1; next < monitor->end && next - call < MOST_BEHIND; next++) {
        if (next->asked > soon) {
            return next->asked;
        }
    }
    return steps_times().last;
}

/* Returns true if the capture may lack a response, or the end of the connection is the finding instead. `until`: time when waiting ended. */
static bool is_unseen(const verdict_monitor *monitor, const monitor_call *call, double until)
{
    const verdict_connection *connection = call->connection;
    const verdict_peers *pair = monitor->pair;
    /* who gets no response sends again, or ends the connection */
    bool is_cut_off = connection && connection->newest <= call->asked && pair && pair->sampled > call->asked_frame;
    bool has_ended = is_ended_by_server(connection) && connection->end.frame > call->asked_frame &&
                     connection->end.time - call->asked < STEPS_LONG_WAIT && is_open(call->query);

    return steps_times().was_set || is_cut_off || has_ended || call->query->ends_garbled ||
           (connection && steps_is_one_way(connection)) ||
           (pair && pair->cut.frames && pair->cut.last > call->asked_frame) ||
           peers_have_loss(pair, call->asked, until);
}

/* Returns true if a response is missing though the client, or the capture, waited long enough for it, and nothing else explains or mends that. */
static bool is_unanswered(const verdict_monitor *monitor, const monitor_call *call)
{
    double until = find_wait_end(monitor, call);
    double patience = until < steps_times().last ? MAX(STEPS_LONG_WAIT, 3 * monitor->timing.usual) : STEPS_LONG_WAIT;

    return until - call->asked >= patience && !is_unseen(monitor, call, until) && !is_made_good(monitor, call);
}

/* Returns true if no call of the monitor was sent or answered in the `seconds` before this one. */
static bool is_after_idling(const verdict_monitor *monitor, const monitor_call *call, double seconds)
{
    return call > monitor->calls && call->asked - MAX(call[-1].asked, call[-1].answered) >= seconds;
}

/* Returns true if a peer retransmitted at least FEWEST_RESENT times from `begin` on (seconds since 1970). */
static bool is_resent_often(const verdict_connection *connection, bool by_client, double begin)
{
    const connection_event *last, *event = steps_events(connection, begin, &last);
    unsigned resent = 0;

    for (; event < last; event++) {
        resent += event->kind == EVENT_RESENT && event->is_by_client == by_client;
    }
    return resent >= FEWEST_RESENT;
}

/* Returns true if the server sent a response again and again, and the client never acknowledged it: the network drops packets of its size. */
static bool is_never_received(const monitor_call *call)
{
    const verdict_connection *connection = call->connection;

    return connection && call->answered > 0 && connection->by[BY_CLIENT].heard_at <= call->began && call->began > 0 &&
           is_resent_often(connection, /* by_client */ false, call->answered);
}

/* Returns true if the client resent a request in vain, and the server, which was heard before, is silent: a firewall forgot the connection. */
static bool is_cut_between(const monitor_call *call)
{
    const verdict_connection *connection = call->connection;

    return connection && connection->by[BY_SERVER].newest > 0 && connection->by[BY_SERVER].newest < call->asked &&
           is_resent_often(connection, /* by_client */ true, call->asked);
}

/* Adds findings of requests without a response (silent server, failed pipe, idle stop, idle firewall), and of responses that never arrived. */
static void find_unanswered(verdict_monitor *monitor)
{
    verdict_evidence broken = {.pool = monitor->pool}, shown = {.pool = monitor->pool}, idle = {.pool = monitor->pool},
                     silent = {.pool = monitor->pool}, large = {.pool = monitor->pool};
    const monitor_call *first = NULL;
    uint32_t status = 0;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->outcome != CALL_WAITS) {
            if (is_never_received(call)) {
                evidence_add(&large, call->frame, call->answered);
            }
            continue;
        }
        const connection_event *failure =
            steps_find_event(call->connection, EVENT_PIPE_FAILED, call->asked_frame, 0, INFINITY);
        bool is_cancelled = failure && failure->status == STATUS_CANCELLED;
        bool is_anew =
            failure && (monitor->pair->sampled > failure->at.frame || monitor->pair->logged_on > failure->at.frame);
        bool is_silent =
            failure ? is_cancelled && failure->at.time - call->asked >= STEPS_LONG_WAIT : is_unanswered(monitor, call);
        if (!failure && call->asks && is_after_idling(monitor, call, IDLE_S) && is_cut_between(call)) {
            evidence_add(&silent, call->asked_frame, call->asked);
        } else if (is_silent) {
            first = first ? first : call;
            evidence_add(&shown, call->asked_frame, call->asked);
        } else if (failure && !is_cancelled && !(is_session_status(failure->status) && is_anew)) {
            bool is_idle_stop = is_anew && is_after_idling(monitor, call, IDLE_STOP_S);
            status = is_idle_stop ? status : failure->status;
            evidence_add(is_idle_stop ? &idle : &broken, failure->at.frame, failure->at.time);
        }
    }
    monitor_add_finding(monitor, VERDICT_PAUSE, PARTY_SERVER, &idle,
                        "$S stopped Remote Registry while $C was idle, and started it again$N: $T");
    monitor_add_finding(monitor, VERDICT_BROKEN, PARTY_NETWORK, &silent,
                        "The network (an idle firewall?) dropped the connection of $C to $S$N: $T");
    monitor_add_finding(monitor, VERDICT_UNANSWERED, PARTY_NETWORK, &large,
                        "The network drops large responses of $S to $C (MTU?)$N: $T");
    if (broken.frames && monitor->pair) {
        steps_add_pipe_failure(monitor->pair, status, &broken, &monitor->findings);
    }
    if (first) {
        bool is_resent =
            steps_find_event(first->connection, EVENT_RESENT, 0, first->asked, first->asked + STEPS_LONG_WAIT);
        monitor_add_finding(monitor, VERDICT_UNANSWERED, is_resent ? PARTY_NETWORK : PARTY_SERVER, &shown,
                            "$S does not answer %s of $C%s$N: $T", first->operation,
                            is_resent ? ", sent again and again" : "");
    }
}

/* Adds a finding if LOOP or more responses behind the last sample have no data, or only ask for more room. Sealed: if any has none. */
static void find_no_data(verdict_monitor *monitor)
{
    verdict_evidence empty = {.pool = monitor->pool}, probes = {.pool = monitor->pool};
    bool is_sealed = monitor->first->is_sealed;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->outcome == CALL_SAMPLE && !is_sealed) {
            empty.frames = probes.frames = NULL;
        } else if (call->outcome == CALL_EMPTY || call->outcome == CALL_PROBE) {
            evidence_add(call->outcome == CALL_EMPTY ? &empty : &probes, call->frame, call->answered);
        }
    }
    if (is_sealed) {
        monitor_add_finding(monitor, VERDICT_NO_DATA, PARTY_SERVER, &empty,
                            "$S answers without data (it fails, or $C offers too little room): $T");
    } else if (evidence_count(&empty) >= LOOP) {
        monitor_add_finding(monitor, VERDICT_NO_DATA, PARTY_SERVER, &empty, "$S answers $C without data$N: $T");
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

/* Returns the first frame with a value that is assumed or has no known type; UINT32_MAX: there is none. */
static uint32_t find_first_doubt(const verdict_monitor *monitor)
{
    uint32_t first = UINT32_MAX;

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        for (unsigned kind = PROBLEM_ASSUMED; kind <= PROBLEM_UNTYPED; kind++) {
            const counter_problem *problem = &monitor_query(monitor, i)->problems[kind];
            first = problem->things > 0 ? MIN(first, problem->shown.first) : first;
        }
    }
    return first;
}

/* Returns true if the capture may lack a call's response. The last call, and one whose pipe failed, have none in any case. */
static bool may_be_missing(const verdict_monitor *monitor, const monitor_call *call)
{
    return call->outcome == CALL_WAITS && call + 1 < monitor->end &&
           !steps_find_event(call->connection, EVENT_PIPE_FAILED, call->asked_frame, 0, INFINITY);
}

/* Adds findings of lost and truncated packets, if they did harm. `lacks_some`: timing_find() saw a gap that lost packets may explain. */
static void judge_capture(verdict_monitor *monitor, bool lacks_some)
{
    verdict_evidence lost = {.pool = monitor->pool}, cut = {.pool = monitor->pool};
    bool has_samples = monitor->stats.numbers[STAT_SAMPLES] > 0;
    uint32_t doubt = find_first_doubt(monitor), begin = 0, end = UINT32_MAX;
    const verdict_peers *pair = monitor->pair;
    unsigned responses = 0, unreadable = 0;

    if (pair == NULL) {
        return;
    }
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        responses += may_be_missing(monitor, call);
        unreadable +=
            call->outcome == CALL_EMPTY || call->outcome == CALL_DAMAGED || (call->outcome == CALL_WAITS && call->asks);
    }
    if (doubt == UINT32_MAX) {
        begin = monitor->first->first_frame;
    }
    if (has_samples) {
        end = MAX(monitor->end[-1].asked_frame, monitor->end[-1].frame);
    }
    for (unsigned i = 0; i < wmem_array_get_count(pair->losses); i++) {
        const verdict_span *loss = wmem_array_index(pair->losses, i);
        if (loss->frame >= begin && loss->frame <= end) {
            evidence_add(&lost, loss->frame, loss->until);
        }
    }
    if (lacks_some || doubt < UINT32_MAX || responses > 0 || !has_samples) {
        lost.more = responses > 0 ? wmem_strdup_printf(monitor->pool, "responses missing: %u", responses) : NULL;
        monitor_add_finding(monitor, VERDICT_LOST, PARTY_CAPTURE, &lost,
                            "The capture lacks packets of $C and $S[, or their order]: $T");
    }
    /* what was cut before they came may have said whose the doubtful values are, and of which type */
    for (unsigned i = 0; i < evidence_count(&pair->cut); i++) {
        uint32_t frame = pair->cut.frames[i];
        if (unreadable > 0 || !has_samples || (doubt < UINT32_MAX && frame <= doubt)) {
            evidence_add(&cut, frame, frame == pair->cut.first ? pair->cut.since : pair->cut.until);
        }
    }
    monitor_add_finding(monitor, VERDICT_LOST, PARTY_CAPTURE, &cut, "The capture cuts frames of $C and $S short: $T");
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
        bool is_cut = pair->cut.frames && pair->is_ours && !pair->is_bound;
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
    steps_judge();
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        find_failed(monitor);
        find_unanswered(monitor);
        find_no_data(monitor);
        find_open(monitor);
        judge_capture(monitor, timing_find(monitor));
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

    if (monitor->first && monitor->first->ends_garbled && stats[STAT_SAMPLES] <= 0) {
        return false; /* the garbled calls are a monitor of their own */
    }
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
