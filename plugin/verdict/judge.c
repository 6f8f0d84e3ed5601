/* judge.c
 * Calls of a monitor that failed, have no response or bring nothing, connections that ended under it, and packets whose lack did harm.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "text/value-strings.h"

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
    return connection->end.frame > 0 && !connection->is_ended_by_client;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Kind of failure of a call. */
typedef enum {
    WRONG_NOTHING,
    WRONG_SILENT,     /* the server does not answer */
    WRONG_RESENT,     /* the request was resent in vain, */
    WRONG_IDLE,       /* after a pause */
    WRONG_LARGE,      /* the response was resent in vain */
    WRONG_IDLE_STOP,  /* the pipe failed after a pause, and works again */
    WRONG_PIPE,       /* the pipe failed */
    WRONG_EMPTY,      /* no data */
    WRONG_SEALED,     /* no data, sealed */
    WRONG_ROOM,       /* a size probe */
    WRONG_PROTECTION, /* the four ways to fail, of which a monitor has the first alone: the others are consequences */
    WRONG_INTERFACE,
    WRONG_RIGHTS,
    WRONG_FAILED,
    NUM_WRONG
} call_wrong;

/* Finding of each. `behind_sample`: so many calls behind the last sample make one; 0: any call does.
 * %s in `text`: operation, error. WRONG_PIPE is a step's. */
static const struct {
    verdict_kind kind;
    verdict_party party;
    const char *text;
    unsigned behind_sample;
} wrong_rows[NUM_WRONG] = {
    [WRONG_SILENT] = {VERDICT_UNANSWERED, PARTY_SERVER, "$S does not answer %s of $C$N: $T", 0},
    [WRONG_RESENT] = {VERDICT_UNANSWERED, PARTY_NETWORK, "$S does not answer %s of $C, sent again and again$N: $T", 0},
    [WRONG_IDLE] = {VERDICT_BROKEN, PARTY_NETWORK,
                    "The network (an idle firewall?) dropped the connection of $C to $S$N: $T", 0},
    [WRONG_LARGE] = {VERDICT_UNANSWERED, PARTY_NETWORK, "The network drops large responses of $S to $C (MTU?)$N: $T",
                     0},
    [WRONG_IDLE_STOP] = {VERDICT_PAUSE, PARTY_SERVER,
                         "$S stopped Remote Registry while $C was idle, and started it again$N: $T", 0},
    [WRONG_EMPTY] = {VERDICT_NO_DATA, PARTY_SERVER, "$S answers $C without data$N: $T", LOOP},
    [WRONG_SEALED] = {VERDICT_NO_DATA, PARTY_SERVER,
                      "$S answers $C without data (it fails, or $C offers too little room)$N: $T", 0},
    [WRONG_ROOM] = {VERDICT_NO_DATA, PARTY_CLIENT, "$C offers $S too little room each time, and gets no sample: $T",
                    LOOP},
    [WRONG_PROTECTION] = {VERDICT_NOT_SEALED, PARTY_CLIENT, "$S denies calls that $C signed but did not seal: $T", 0},
    [WRONG_INTERFACE] = {VERDICT_BIND_REFUSED, PARTY_SERVER, "$S does not offer the interface for %s of $C (%s)$N: $T",
                         0},
    [WRONG_RIGHTS] = {VERDICT_CALL_FAILED, PARTY_SERVER, "$S answers %s of $C with %s$N: $T", 0},
    [WRONG_FAILED] = {VERDICT_CALL_FAILED, PARTY_SERVER, "$S answers %s of $C with %s$N: $T", 0},
};

/* Calls with which the same is wrong. */
typedef struct {
    verdict_evidence shown;
    const monitor_call *first;
    bool is_mixed; /* others have another operation or error than the first */
} wrong_calls;

/* Returns true for a call for no data if a query of its peers began later and got samples. False for an error other than a denial of what is no
 * opening. */
static bool is_made_good(const monitor_call *call)
{
    const verdict_peers *pair = call->query->pair;
    bool is_other_error = call->outcome == CALL_FAILED && !call->is_fault && call->status != ACCESS_DENIED &&
                          !g_str_has_prefix(call->operation, "Open");

    return !call->asks && !is_other_error && pair && pair->sampled_began > MAX(call->asked_frame, call->frame);
}

/* Returns true if a peer resent again and again what it sent at `when` (seconds since 1970), and the other one never acknowledged it. */
static bool is_resent_in_vain(const verdict_connection *connection, bool by_client, double when)
{
    const connection_event *last, *event = steps_events(connection->events, when, &last);
    unsigned resent = 0;

    if (connection->by[!by_client].heard_at > when) {
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
    const verdict_evidence *cut = pair ? &pair->lacks[LACKS_ENDS] : NULL;
    bool is_cut = cut && cut->frames && cut->until.frame > call->asked_frame;
    bool has_loss = pair && steps_find_event(pair->losses, EVENT_LOST, 0, call->asked, INFINITY);
    bool has_ended = is_ended_by_server(connection) && connection->end.frame > call->asked_frame &&
                     connection->end.time - call->asked < STEPS_LONG_WAIT;

    return until - call->asked >= STEPS_LONG_WAIT && !steps_times().was_set && !is_cut && !has_ended &&
           !steps_is_one_way(connection) && !has_loss && !is_made_good(call);
}

/* Returns the SMB2 error in place of a request's response; NULL: none. */
static const connection_event *find_pipe_failure(const monitor_call *call)
{
    return call->outcome == CALL_WAITS
               ? steps_find_event(call->connection->events, EVENT_PIPE_FAILED, call->asked_frame, call->asked, INFINITY)
               : NULL;
}

/* Returns why a request has no response. `failure`: SMB2 error in the place of the response, NULL: none; a call that its client cancels after a
 * while is unanswered. */
static call_wrong find_missing(const verdict_monitor *monitor, const monitor_call *call,
                               const connection_event *failure)
{
    double idle = call == monitor->calls ? 0 : call->asked - MAX(call[-1].asked, call[-1].answered);

    if (failure && failure->status != STATUS_CANCELLED) {
        const verdict_peers *pair = call->query->pair;
        bool is_anew = pair->sampled > failure->at.frame || pair->logged_on > failure->at.frame;
        bool is_of_session = failure->status == STATUS_NETWORK_SESSION_EXPIRED ||
                             failure->status == STATUS_USER_SESSION_DELETED; /* the client can make another one */
        return !is_anew              ? WRONG_PIPE
               : is_of_session       ? WRONG_NOTHING
               : idle >= IDLE_STOP_S ? WRONG_IDLE_STOP
                                     : WRONG_PIPE;
    }
    if (!is_unanswered(call, failure ? failure->at.time : steps_times().last)) {
        return WRONG_NOTHING;
    }
    return !is_resent_in_vain(call->connection, true, call->asked) ? WRONG_SILENT
           : idle >= IDLE_S                                        ? WRONG_IDLE
                                                                   : WRONG_RESENT;
}

/* Returns what is wrong with a call that has a response. */
static call_wrong find_wrong_response(const monitor_call *call)
{
    if (call->outcome == CALL_FAILED) {
        bool is_unknown = call->is_fault && call->status == UNKNOWN_INTERFACE;
        return is_made_good(call)              ? WRONG_NOTHING
               : call->does_not_seal           ? WRONG_PROTECTION
               : is_unknown                    ? WRONG_INTERFACE
               : call->status == ACCESS_DENIED ? WRONG_RIGHTS
                                               : WRONG_FAILED;
    }
    return call->outcome == CALL_EMPTY   ? (call->query->is_sealed ? WRONG_SEALED : WRONG_EMPTY)
           : call->outcome == CALL_PROBE ? WRONG_ROOM
           : call->began > 0 && is_resent_in_vain(call->connection, false, call->began) ? WRONG_LARGE
                                                                                        : WRONG_NOTHING;
}

/* Counts what is wrong with a call. Changes: the status of the monitor's failed pipe; a sample ends what lasts until one. */
static void count_wrong(const verdict_monitor *monitor, wrong_calls *all, const monitor_call *call, uint32_t *status)
{
    const connection_event *failure = find_pipe_failure(call);
    bool waits = call->outcome == CALL_WAITS;
    call_wrong wrong = waits ? find_missing(monitor, call, failure) : find_wrong_response(call);
    bool is_pipe = wrong == WRONG_PIPE || wrong == WRONG_IDLE_STOP;
    verdict_moment at = is_pipe ? failure->at
                        : waits ? (verdict_moment){call->asked_frame, call->asked}
                                : (verdict_moment){call->frame, call->answered};
    wrong_calls *calls = &all[wrong];

    for (unsigned i = 0; i < NUM_WRONG && call->outcome == CALL_SAMPLE; i++) {
        all[i].shown.frames = wrong_rows[i].behind_sample > 0 ? NULL : all[i].shown.frames;
    }
    if (wrong != WRONG_NOTHING) {
        calls->first = calls->first ? calls->first : call;
        calls->is_mixed |= call->operation != calls->first->operation || call->status != calls->first->status;
        evidence_add(monitor->pool, &calls->shown, at);
        *status = wrong == WRONG_PIPE ? failure->status : *status;
    }
}

/* Adds a finding for each thing that is wrong with calls. */
static void find_wrong_calls(verdict_monitor *monitor)
{
    wrong_calls all[NUM_WRONG] = {{.first = NULL}};
    uint32_t status = 0;
    bool has_failed = false;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        count_wrong(monitor, all, call, &status);
    }
    for (call_wrong wrong = WRONG_SILENT; wrong < NUM_WRONG && !has_failed; wrong++) {
        verdict_evidence *shown = &all[wrong].shown;
        const monitor_call *first = all[wrong].first;
        if (wrong == WRONG_PIPE || evidence_count(shown) < MAX(wrong_rows[wrong].behind_sample, 1)) {
            continue;
        }
        const char *error = (first->is_fault ? text_fault : text_win32_error)(monitor->pool, first->status);
        has_failed = wrong >= WRONG_PROTECTION;
        if (has_failed && all[wrong].is_mixed) {
            shown->more = wmem_strdup_printf(monitor->pool, "first %s: %s", first->operation, error);
            error = wmem_strconcat(monitor->pool, "errors, first ", error, NULL);
        }
        shown->meaning = wrong > WRONG_PROTECTION ? text_error_meaning(first->status) : NULL;
        monitor_add_finding(monitor, wrong_rows[wrong].kind, wrong_rows[wrong].party, shown, wrong_rows[wrong].text,
                            all[wrong].is_mixed ? "calls" : first->operation, error);
    }
    if (all[WRONG_PIPE].first && monitor->pair) {
        const setup_failure failure = {.step = STEP_CALL, .outcome = status, .shown = all[WRONG_PIPE].shown};
        steps_add_failure(monitor->pool, monitor->pair, &failure, &monitor->findings);
    }
}

/* Adds findings of queries whose connection the server, or a firewall, ended, and of MANY_OPEN or more that the client left open. */
static void find_open(verdict_monitor *monitor)
{
    verdict_evidence broken = {.frames = NULL}, left = {.frames = NULL};
    const char *word = monitor_handle_word(monitor);

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const verdict_query *query = monitor_query(monitor, i);
        if (!is_open(query)) {
            continue;
        }
        if (is_ended_by_server(query->connection)) {
            evidence_add(monitor->pool, &broken, query->connection->end);
        }
        if (query->opened_frame > 0) {
            evidence_add(monitor->pool, &left, (verdict_moment){query->first_frame, query->first_time});
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

/* Adds findings of lost and truncated packets, if they did harm: samples or responses are missing, no data came, or values are assumed.
 * `lacks_some`: timing_find() saw a gap that lost packets may explain. */
static void find_lacking(verdict_monitor *monitor, bool lacks_some)
{
    const verdict_peers *pair = monitor->pair;
    bool is_harmful = lacks_some || monitor->stats.numbers[STAT_SAMPLES] <= 0;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        /* the last request, and one whose pipe failed, have no response in any case */
        bool is_missing = call->outcome == CALL_WAITS && call + 1 < monitor->end && find_pipe_failure(call) == NULL;
        is_harmful |= is_missing || call->outcome == CALL_EMPTY || call->outcome == CALL_DAMAGED;
    }
    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        for (unsigned kind = PROBLEM_ASSUMED; kind <= PROBLEM_UNTYPED; kind++) {
            is_harmful |= monitor_query(monitor, i)->problems[kind].things > 0;
        }
    }
    if (pair && is_harmful) {
        monitor_add_finding(monitor, VERDICT_LOST, PARTY_CAPTURE, &pair->lacks[LACKS_PACKETS],
                            "The capture lacks packets of $C and $S[, or their order]: $T");
        monitor_add_finding(monitor, VERDICT_LOST, PARTY_CAPTURE, &pair->lacks[LACKS_ENDS],
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
        const char *account = failure->shown.frames && failure->step == STEP_LOGON ? failure->shown.which : NULL;
        /* who has samples is another account's monitor */
        bool is_other = first && account && first->stats.numbers[STAT_SAMPLES] > 0;
        first = is_other ? NULL : first;
        verdict_monitor *monitor = first ? first : monitor_new(v->pool, pair, NULL);
        bool is_cut = pair->lacks[LACKS_ENDS].frames && pair->is_ours;
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
        find_wrong_calls(monitor);
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

void verdict_judge_for_display(verdict *v)
{
    unsigned shown = 0;

    verdict_judge(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        const double *stats = monitor->stats.numbers;
        bool has_data = stats[STAT_SAMPLES] > 0 || stats[STAT_PROBES] > 1; /* else it reads names */
        if (monitor->findings || has_data || (i + 1 == v->monitors->len && shown == 0)) {
            g_ptr_array_index(v->monitors, shown++) = monitor;
        }
    }
    g_ptr_array_set_size(v->monitors, (int)shown);
    g_ptr_array_sort(v->monitors, compare_monitors);
}

const verdict_query *verdict_count(verdict *v, packet_info *pinfo, const call_tap_data *tapped)
{
    verdict_query *query = monitors_count(v, pinfo, tapped);

    if (query) {
        problems_count(v, query, pinfo, tapped);
    }
    return query;
}
