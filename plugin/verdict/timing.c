/* timing.c
 * Late requests and slow responses of a monitor, by the rule of perf/timing; whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include <math.h>

#define OTHER_CLOCK_S 60.0 /* seconds that a server's clock moves more or less than the capture's: another clock */
#define CLOCK_SET_S 300.0  /* seconds: a longer response time may be the capture's clock, which was set */

/* A possible cause of a late request or a slow response. */
typedef struct {
    bool holds;
    verdict_party party; /* PARTY_UNKNOWN: the server or the network */
    const char *why;     /* end of the sentence's brackets */
} late_cause;

/* Returns what shows between two times: a zero window, or a retransmission or a call that took at least half of `delay` (seconds). */
static late_cause find_event_cause(const verdict_connection *connection, double begin, double end, double delay)
{
    const connection_event *last, *event = steps_events(connection->events, begin, &last);

    for (; event < last && event->at.time <= end; event++) {
        if (event->kind == EVENT_ZERO_WINDOW) {
            return (late_cause){true, event->is_by_client ? PARTY_CLIENT : PARTY_SERVER, ""};
        }
        if (event->kind == EVENT_RESENT && event->at.time - event->since >= delay / 2) {
            return (late_cause){true, PARTY_NETWORK, ", packets were resent"};
        }
        if (event->kind == EVENT_SLOW_CALL && event->at.time - event->since >= delay / 2) {
            return (late_cause){true, PARTY_UNKNOWN, ", another call was slow"};
        }
    }
    return (late_cause){.holds = false};
}

static bool is_within(const verdict_moment *moment, double begin, double end)
{
    return moment->frame > 0 && moment->time >= begin && moment->time <= end;
}

/* Returns the first cause that holds. `before`: the sample before a late one; NULL: the sample's response is slow. `delay`: seconds too many. */
static late_cause find_cause(const monitor_call *before, const monitor_call *sample, double delay)
{
    const verdict_connection *connection = sample->connection;
    double begin = before ? before->asked : sample->sent, end = before ? sample->asked : sample->answered;
    double soon = begin + delay / 2;
    bool is_connecting =
        before && is_within(&connection->syn, begin, end) && connection->first_call - connection->syn.time >= delay / 2;
    const late_cause causes[] = {
        find_event_cause((before ? before : sample)->connection, begin, end, delay),
        find_event_cause(connection, begin, end, delay),
        {is_connecting, PARTY_UNKNOWN, ", the client tried to connect"},
        {before != NULL, PARTY_CLIENT, ""},
        {sample->began > 0 && sample->began <= soon, PARTY_NETWORK, ", their first packets came soon"},
        {sample->acked > 0 && sample->acked <= soon, PARTY_SERVER, ""},
        {delay > CLOCK_SET_S, PARTY_UNKNOWN, "; or the capture's clock was set"},
        {true, PARTY_UNKNOWN, ""}};
    const late_cause *first = causes;

    while (!first->holds) {
        first++;
    }
    return *first;
}

/* Late requests, or slow responses, that one party causes. */
typedef struct {
    verdict_evidence shown;
    perf_spread seconds; /* gaps, or response times */
    const char *why;     /* late_cause.why of the first */
} late_group;

/* Adds the packet that is late: the response, or an unanswered request. */
static void add_sample(wmem_allocator_t *pool, verdict_evidence *shown, const monitor_call *sample)
{
    evidence_add(pool, shown,
                 sample->frame > 0 ? (verdict_moment){sample->frame, sample->answered}
                                   : (verdict_moment){sample->asked_frame, sample->asked});
}

/* Adds a late sample, or one whose response is slow, to the group of its cause's party. `seconds`: its gap or response time. */
static void add_to_group(const verdict_monitor *monitor, late_group *groups, late_cause cause,
                         const monitor_call *sample, double seconds)
{
    late_group *group = &groups[cause.party];

    group->why = group->why ? group->why : cause.why;
    perf_spread_add(&group->seconds, seconds);
    add_sample(monitor->pool, &group->shown, sample);
}

/* Adds a finding for each party that causes some: number of samples, median and usual seconds. */
static void add_groups(verdict_monitor *monitor, verdict_kind kind, const late_group *groups, double usual)
{
    static const char *const words[][PARTY_UNKNOWN + 1] = {
        {[PARTY_CLIENT] = "$C polled $S late",
         [PARTY_SERVER] = "$S did not read what $C sent, window 0",
         [PARTY_NETWORK] = "The network between $C and $S delayed polls",
         [PARTY_UNKNOWN] = "$S (or the network) delayed polls of $C"},
        {[PARTY_CLIENT] = "$C did not read what $S sent, window 0",
         [PARTY_SERVER] = "$S responds slowly to $C",
         [PARTY_NETWORK] = "The network between $C and $S delays responses",
         [PARTY_UNKNOWN] = "$S (or the network) responds slowly to $C"}};

    for (verdict_party party = PARTY_CLIENT; party <= PARTY_UNKNOWN; party++) {
        const late_group *group = &groups[party];
        if (group->seconds.count > 0) {
            monitor_add_finding(monitor, kind, party == PARTY_UNKNOWN ? PARTY_SERVER : party, &group->shown,
                                "%s (%u of %u samples[, %s, usually %s%s]): $T", words[kind == VERDICT_SLOW][party],
                                (unsigned)group->seconds.count, monitor->num_samples,
                                verdict_seconds(monitor->pool, perf_spread_median(&group->seconds)),
                                verdict_seconds(monitor->pool, usual), group->why);
        }
    }
}

/* Returns true if the client closed the sample's query, or the connection around it. */
static bool is_closed_by_client(const monitor_call *sample)
{
    return *sample->query->closed_frame > 0 || sample->connection->is_ended_by_client;
}

/* Returns true if the server, or the network, ended the connection between two samples: that is a finding, and the gap its consequence. */
static bool is_consequence(const monitor_call *before, const monitor_call *sample)
{
    const verdict_connection *connection = before->connection;

    return !connection->is_ended_by_client && is_within(&connection->end, before->asked, sample->asked);
}

/* Adds findings of late requests, and of pauses behind a close by the client. Returns whether a long gap lacks packets that nobody resent. A gap in
 * which packets are lost is not late. Changes: number of late samples. */
static bool find_late(verdict_monitor *monitor)
{
    late_group groups[PARTY_UNKNOWN + 1] = {{.why = NULL}};
    verdict_evidence pauses = {.frames = NULL};
    double usual = monitor->timing.usual;
    bool lacks_some = false;

    for (uint32_t i = 0; i < monitor->timing.num_gaps; i++) {
        const timing_gap *gap = &monitor->gaps[i];
        const monitor_call *before = &monitor->samples[gap->before], *sample = &monitor->samples[gap->request];
        double end = sample->answered > 0 ? sample->answered : sample->asked;
        bool is_long = timing_is_long(gap->seconds, usual, TIMING_LATE);
        bool is_unseen =
            is_long && monitor->pair && steps_find_event(monitor->pair->losses, EVENT_LOST, 0, before->asked, end);
        /* what is resent was lost on its way */
        lacks_some |= is_unseen && !steps_find_event(sample->connection->events, EVENT_RESENT, 0, before->asked, end);
        if (!gap->is_late || is_unseen || is_consequence(before, sample)) {
            continue;
        }
        late_cause cause = find_cause(before, sample, gap->seconds - usual);
        if (gap->is_across && is_closed_by_client(before) && cause.party == PARTY_CLIENT) {
            add_sample(monitor->pool, &pauses, sample);
        } else {
            add_to_group(monitor, groups, cause, sample, gap->seconds);
            monitor->stats.numbers[STAT_LATE_ASKED]++;
        }
    }
    add_groups(monitor, VERDICT_ASKED_LATE, groups, usual);
    monitor_add_finding(monitor, VERDICT_PAUSE, PARTY_CLIENT, &pauses, "$C paused between two %s to $S$N: $T",
                        monitor->first->is_hkpd ? "handles" : "queries");
    return lacks_some;
}

/* Adds findings of slow responses, by the party that causes them. Changes: number of slow samples. */
static void find_slow(verdict_monitor *monitor)
{
    late_group groups[PARTY_UNKNOWN + 1] = {{.why = NULL}};

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_call *sample = &monitor->samples[i];
        double delay = sample->answered - sample->sent;
        if (sample->answered > 0 && sample->seconds >= 0 && delay >= monitor->timing.slow_from) {
            add_to_group(monitor, groups, find_cause(NULL, sample, delay), sample, delay);
            monitor->stats.numbers[STAT_LATE_ANSWERED]++;
        }
    }
    add_groups(monitor, VERDICT_SLOW, groups, monitor->timing.quartile);
}

/* Adds a finding of a server that was restarted, or of another machine that answers by its name. Between samples of two queries its performance
 * time moves otherwise than the capture's, and than its own time of day, by OTHER_CLOCK_S. */
static void find_other_clock(verdict_monitor *monitor)
{
    verdict_evidence shown = {.frames = NULL};
    const monitor_call *before = NULL, *old = NULL, *new = NULL;

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_call *sample = &monitor->samples[i];
        if (sample->clock <= 0) {
            continue;
        }
        double ticked = before ? sample->clock - before->clock : 0;
        if (before && before->query != sample->query &&
            fabs(ticked - (sample->answered - before->answered)) >= OTHER_CLOCK_S &&
            fabs(ticked - (sample->date - before->date)) >= OTHER_CLOCK_S) {
            old = old ? old : before;
            new = new ? new : sample;
            add_sample(monitor->pool, &shown, sample);
        }
        before = sample;
    }
    if (new) {
        monitor_add_finding(monitor, VERDICT_OTHER_CLOCK, PARTY_SERVER, &shown,
                            "$S is not as it was for $C: restarted, or another machine[ (clock %s, then %s)]: $T",
                            verdict_seconds(monitor->pool, old->clock), verdict_seconds(monitor->pool, new->clock));
    }
}

bool timing_find(verdict_monitor *monitor)
{
    if (steps_times().was_set) {
        return false;
    }
    find_slow(monitor);
    find_other_clock(monitor);
    return find_late(monitor);
}
