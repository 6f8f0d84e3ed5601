/* timing.c
 * Late requests and slow responses of a monitor, by the rule of perf/timing; whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include <math.h>

/* Seconds by which a server's clock moves otherwise than the capture's from one query to the next before it is another clock. */
#define OTHER_CLOCK 60.0

/* Seconds: a longer response time may be the capture's clock, which was set. */
#define CLOCK_SET 300.0

/* Slow responses to other monitors that one late request is compared with. */
#define MOST_BUSY 1000

typedef enum {
    CAUSE_UNKNOWN,
    CAUSE_WINDOW,
    CAUSE_RESENT,
    CAUSE_ENDED,
    CAUSE_CONNECTS,
    CAUSE_BUSY,
    CAUSE_ACKED
} cause_kind;

/* Who made something late or slow, and the frame that shows it, 0: nothing does. */
typedef struct {
    verdict_party party; /* PARTY_UNKNOWN: the server or the network */
    cause_kind kind;
    uint32_t frame;
} late_cause;

/* --- Requests -------------------------------------------------------------------------------------------------- */

static bool lacks_data(const monitor_sample *sample)
{
    return sample->outcome == CALL_PROBE || sample->outcome == CALL_NO_DATA || sample->outcome == CALL_DONE;
}

/* The median of the times between samples, of sealed ones from each to the one as many before as queries are open. */
static double usual_between_samples(const verdict_monitor *monitor)
{
    double *times = wmem_alloc_array(monitor->pool, double, monitor->num_samples + 1);
    uint32_t count = 0, stride = 1;

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        times[count] = monitor->samples[i].asked;
        count += monitor->samples[i].outcome == CALL_SAMPLE;
        stride = MAX(stride, monitor->samples[i].num_open);
    }
    count = count > stride ? count - stride : 0;
    for (uint32_t i = 0; i < count; i++) {
        times[i] = times[i + stride] - times[i];
    }
    return perf_median(times, count);
}

/* Joins a size probe and the request that repeats it with more room: the repetition gets the probe's time. Changes: the monitor's samples. */
static void join_probes(verdict_monitor *monitor)
{
    wmem_map_t *next =
        wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal); /* query -> 1 + place of the request behind */
    double soon = usual_between_samples(monitor) / TIMING_PROBE_SHARE;
    uint32_t left = 0;

    for (uint32_t i = monitor->num_samples; i-- > 0;) {
        monitor_sample *sample = &monitor->samples[i];
        uint32_t place = GPOINTER_TO_UINT(wmem_map_lookup(next, GUINT_TO_POINTER(sample->query)));
        sample->repetition =
            place > 0 && lacks_data(sample) && monitor->samples[place - 1].asked - sample->asked < soon ? place - 1 : 0;
        wmem_map_insert(next, GUINT_TO_POINTER(sample->query), GUINT_TO_POINTER(i + 1));
    }
    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_sample *sample = &monitor->samples[i];
        if (sample->repetition > 0) {
            monitor->samples[sample->repetition].asked = sample->asked;
        } else {
            monitor->samples[left++] = *sample;
        }
    }
    monitor->num_samples = left;
}

/* Gives requests of several sealed queries that are open at once their turns, since nothing tells which query each is of. */
static timing_request *requests_of(const verdict_monitor *monitor)
{
    timing_request *requests = wmem_alloc_array(monitor->pool, timing_request, monitor->num_samples + 1);
    wmem_map_t *turns = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_sample *sample = &monitor->samples[i];
        void *query = GUINT_TO_POINTER(sample->query);
        uint32_t turn = GPOINTER_TO_UINT(wmem_map_lookup(turns, query));
        requests[i] =
            (timing_request){sample->asked, sample->sent,  sample->answered,
                             sample->clock, sample->query, sample->num_open > 1 ? turn % sample->num_open : 0};
        wmem_map_insert(turns, query, GUINT_TO_POINTER(turn + 1));
    }
    return requests;
}

/* --- Causes ---------------------------------------------------------------------------------------------------- */

/* Finds what TCP's analysis says of a connection between two times. */
static late_cause find_cause(const verdict_connection *connection, double begin, double end, double delay)
{
    unsigned first = connection ? verdict_wire_from(connection, begin, 0) : 0;
    unsigned count = connection ? MIN(wmem_array_get_count(connection->events), first + WIRE_MOST_LOOKED_AT) : 0;

    for (unsigned i = first; i < count && verdict_wire_event(connection, i)->time <= end; i++) {
        const wire_event *event = verdict_wire_event(connection, i);
        if (event->kind == WIRE_ZERO_WINDOW) {
            bool is_client = verdict_wire_by_client(connection, event);
            return (late_cause){is_client ? PARTY_CLIENT : PARTY_SERVER, CAUSE_WINDOW, event->frame};
        }
        if (event->kind == WIRE_RESENT && event->time - event->since >= delay / 2) {
            return (late_cause){PARTY_NETWORK, CAUSE_RESENT, event->frame};
        }
    }
    return (late_cause){PARTY_UNKNOWN, CAUSE_UNKNOWN, 0};
}

/* Finds a slow response to another monitor of the client, for which it waited meanwhile. Returns its frame, 0: there is none. */
static uint32_t find_busy(const verdict_monitor *monitor, const GPtrArray *all, double begin, double end, double delay)
{
    unsigned looked_at = 0;

    for (unsigned i = 0; i < all->len && looked_at < MOST_BUSY; i++) {
        const verdict_monitor *other = g_ptr_array_index(all, i);
        bool is_same_client = other != monitor && strcmp(verdict_client(other), verdict_client(monitor)) == 0;
        for (uint32_t n = 0; is_same_client && n < other->num_slow && looked_at < MOST_BUSY; n++, looked_at++) {
            const monitor_sample *slow = &other->samples[other->slow[n]];
            if (MIN(slow->answered, end) - MAX(slow->sent, begin) >= delay / 2) {
                return slow->frame;
            }
        }
    }
    return 0;
}

/* Finds why request b came late after request a. */
static late_cause find_late_cause(const verdict_monitor *monitor, const GPtrArray *all, const monitor_sample *a,
                                  const monitor_sample *b, double delay)
{
    const verdict_connection *old = a->connection, *new = b->connection;
    late_cause found = find_cause(old, a->asked, b->asked, delay);

    if (found.kind == CAUSE_UNKNOWN && new != old) {
        found = find_cause(new, a->asked, b->asked, delay);
    }
    if (found.kind != CAUSE_UNKNOWN) {
        return found;
    }
    uint32_t busy = find_busy(monitor, all, a->asked, b->asked, delay);
    const wire_event *ended = verdict_wire_find(old, WIRE_ENDED, 0, a->asked, b->asked);
    if (busy > 0) {
        return (late_cause){PARTY_CLIENT, CAUSE_BUSY, busy};
    }
    if (ended) {
        bool is_client = verdict_wire_by_client(old, ended);
        return (late_cause){is_client ? PARTY_CLIENT : PARTY_UNKNOWN, CAUSE_ENDED, ended->frame};
    }
    if (new &&new->since >= a->asked &&new->since > 0 && new->since <= b->asked - delay / 2) {
        return (late_cause){PARTY_UNKNOWN, CAUSE_CONNECTS, 0};
    }
    return (late_cause){PARTY_CLIENT, CAUSE_UNKNOWN, 0};
}

/* Finds why a response is slow. */
static late_cause find_slow_cause(const monitor_sample *slow)
{
    double delay = slow->answered - slow->sent;
    late_cause found = find_cause(slow->connection, slow->sent, slow->answered, delay);

    if (found.kind == CAUSE_UNKNOWN && slow->acked > 0 && slow->acked - slow->sent <= delay / 2) {
        return (late_cause){PARTY_SERVER, CAUSE_ACKED, 0};
    }
    return found;
}

/* --- Findings -------------------------------------------------------------------------------------------------- */

/* What is late, or slow, by one party. */
typedef struct {
    verdict_evidence shown;
    uint32_t count;
    perf_spread seconds; /* how long each took, */
    double usual;        /* and what is usual */
    cause_kind kind;     /* of the first */
} late_group;

static void add_to_group(const verdict_monitor *monitor, late_group *groups, const late_cause *cause,
                         const monitor_sample *sample, double seconds, double usual)
{
    late_group *group = &groups[cause->party];

    if (group->count++ == 0) {
        *group = (late_group){.shown = {.pool = monitor->pool}, .count = 1, .usual = usual, .kind = cause->kind};
    }
    perf_spread_add(&group->seconds, seconds);
    evidence_add(&group->shown, sample->frame > 0 ? sample->frame : sample->asked_frame,
                 sample->answered > 0 ? sample->answered : sample->asked);
}

static const char *cause_words(const late_group *group, bool is_slow)
{
    return group->kind == CAUSE_RESENT                                  ? ", packets were resent"
           : group->kind == CAUSE_ENDED                                 ? ", the connection had ended"
           : group->kind == CAUSE_CONNECTS                              ? ", the client tried to connect"
           : group->kind == CAUSE_BUSY                                  ? ", it waited for another response"
           : is_slow && perf_spread_median(&group->seconds) > CLOCK_SET ? "; or the capture's clock was set"
                                                                        : "";
}

/* Says what is late or slow: who, what, to whom, how many, how long instead of what. */
static void say_group(verdict_monitor *monitor, bool is_slow, verdict_party party, late_group *group, uint32_t of_all)
{
    static const char *const late_words[] = {[PARTY_CLIENT] = "$C polled $S late",
                                             [PARTY_SERVER] = "$S did not read what $C sent, window 0",
                                             [PARTY_NETWORK] = "The network between $C and $S delayed polls",
                                             [PARTY_UNKNOWN] = "$S (or the network) delayed polls of $C"};
    static const char *const slow_words[] = {[PARTY_CLIENT] = "$C did not read what $S sent, window 0",
                                             [PARTY_SERVER] = "$S responds slowly to $C",
                                             [PARTY_NETWORK] = "The network between $C and $S delays responses",
                                             [PARTY_UNKNOWN] = "$S (or the network) responds slowly to $C"};
    bool is_read = party == PARTY_CLIENT && group->kind == CAUSE_WINDOW && !is_slow;
    const char *who = is_read ? slow_words[PARTY_CLIENT] : (is_slow ? slow_words : late_words)[party];

    const char *seconds = verdict_seconds(monitor->pool, perf_spread_median(&group->seconds));
    verdict_find(monitor, is_slow ? VERDICT_SLOW : VERDICT_ASKED_LATE, party == PARTY_UNKNOWN ? PARTY_SERVER : party,
                 &group->shown, "%s (%u of %u %s[, %s, usually %s%s]): $T", who, group->count, of_all,
                 is_slow ? "responses" : "samples", seconds, verdict_seconds(monitor->pool, group->usual),
                 cause_words(group, is_slow));
}

static void say_groups(verdict_monitor *monitor, bool is_slow, late_group *groups, uint32_t of_all)
{
    for (unsigned party = 0; party <= PARTY_UNKNOWN; party++) {
        if (groups[party].count > 0) {
            say_group(monitor, is_slow, (verdict_party)party, &groups[party], of_all);
        }
    }
}

void verdict_timing_learn(verdict_monitor *monitor)
{
    join_probes(monitor);
    monitor->gaps = wmem_alloc_array(monitor->pool, timing_gap, monitor->num_samples + 1);
    monitor->timing = timing_judge(requests_of(monitor), monitor->num_samples, monitor->gaps);
    monitor->slow = wmem_alloc_array(monitor->pool, uint32_t, monitor->num_samples + 1);
    for (uint32_t i = 0; i < monitor->num_samples && !verdict_wire_was_set(); i++) {
        const monitor_sample *sample = &monitor->samples[i];
        if (sample->answered > 0 && sample->sent_known &&
            sample->answered - sample->sent >= monitor->timing.slow_from) {
            monitor->slow[monitor->num_slow++] = i;
        }
    }
}

static bool is_lost(const verdict_monitor *monitor, double begin, double end)
{
    const verdict_pair *pair = monitor->pair;

    for (unsigned i = 0; pair && i < wmem_array_get_count(pair->losses); i++) {
        const verdict_span *loss = wmem_array_index(pair->losses, i);
        if (loss->until >= begin && loss->since <= end) {
            return true;
        }
    }
    return false;
}

/* Finds what came late. Returns whether the capture lacks packets where something would have. */
static bool find_late(verdict_monitor *monitor, const GPtrArray *all)
{
    late_group groups[PARTY_UNKNOWN + 1] = {{.count = 0}};
    verdict_evidence pauses = {.pool = monitor->pool};
    bool lacks_some = false;

    for (uint32_t i = 0; i < monitor->timing.num_gaps; i++) {
        const timing_gap *gap = &monitor->gaps[i];
        const monitor_sample *a = &monitor->samples[gap->before], *b = &monitor->samples[gap->request];
        if (!timing_is_long(gap->seconds, monitor->timing.usual, TIMING_LATE)) {
            continue;
        }
        bool is_unseen = is_lost(monitor, a->asked, b->answered > 0 ? b->answered : b->asked);
        lacks_some |= is_unseen;
        if (gap->is_late && !is_unseen && gap->is_across && a->closed > 0 &&
            a->closed < MAX(b->asked_frame, b->frame)) {
            evidence_add(&pauses, b->frame > 0 ? b->frame : b->asked_frame, b->answered > 0 ? b->answered : b->asked);
        } else if (gap->is_late && !is_unseen) {
            late_cause cause = find_late_cause(monitor, all, a, b, gap->seconds - monitor->timing.usual);
            if (cause.kind == CAUSE_ENDED && cause.party != PARTY_CLIENT && verdict_has(monitor, VERDICT_BROKEN)) {
                continue; /* the gap is what came of it */
            }
            add_to_group(monitor, groups, &cause, b, gap->seconds, monitor->timing.usual);
            monitor->num_late++;
        }
    }
    say_groups(monitor, false, groups, monitor->num_samples);
    verdict_find(monitor, VERDICT_PAUSE, PARTY_CLIENT, &pauses, "$C paused between two %s to $S$N: $T",
                 monitor->talks->is_hkpd ? "handles" : "queries");
    return lacks_some;
}

static void find_slow(verdict_monitor *monitor)
{
    late_group groups[PARTY_UNKNOWN + 1] = {{.count = 0}};
    uint32_t answered = 0;

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        answered += monitor->samples[i].answered > 0;
    }
    for (uint32_t i = 0; i < monitor->num_slow; i++) {
        const monitor_sample *slow = &monitor->samples[monitor->slow[i]];
        late_cause cause = find_slow_cause(slow);
        add_to_group(monitor, groups, &cause, slow, slow->answered - slow->sent, monitor->timing.quartile);
    }
    say_groups(monitor, true, groups, answered);
}

/* From one query to the next the server's performance time moves otherwise than the capture's, and than its own time of day: it was restarted, or
 * another machine answers by its name. */
static void find_other_clock(verdict_monitor *monitor)
{
    verdict_evidence shown = {.pool = monitor->pool};
    const monitor_sample *before = NULL;
    double old = 0, new = 0;

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_sample *sample = &monitor->samples[i];
        if (sample->clock <= 0) {
            continue;
        }
        double ticked = before ? sample->clock - before->clock : 0,
               passed = before ? sample->answered - before->answered : 0;
        double dated = before ? sample->date - before->date : 0;
        if (before && before->query != sample->query && fabs(ticked - passed) >= OTHER_CLOCK &&
            fabs(ticked - dated) >= OTHER_CLOCK) {
            old = shown.frames ? old : before->clock;
            new = shown.frames ? new : sample->clock;
            evidence_add(&shown, sample->frame, sample->answered);
        }
        before = sample;
    }
    if (shown.frames) {
        verdict_find(monitor, VERDICT_OTHER_CLOCK, PARTY_SERVER, &shown,
                     "$S is not as it was for $C: restarted, or another machine[ (clock %s, then %s)]: $T",
                     verdict_seconds(monitor->pool, old), verdict_seconds(monitor->pool, new));
    }
}

bool verdict_timing_find(verdict_monitor *monitor, const GPtrArray *all)
{
    bool lacks_some = false;

    if (!verdict_wire_was_set()) {
        find_slow(monitor);
        lacks_some = find_late(monitor, all);
        find_other_clock(monitor);
        monitor->figures.numbers[FIGURE_LATE_ASKED] = monitor->num_late;
        monitor->figures.numbers[FIGURE_LATE_ANSWERED] = monitor->num_slow;
    }
    return lacks_some;
}
