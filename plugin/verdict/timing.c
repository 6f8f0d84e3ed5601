/* timing.c
 * Late requests and slow responses of a monitor, by the rule of perf/timing; whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/timing.h"

#include <math.h>

#define OTHER_CLOCK_S 60.0 /* seconds that a server's clock moves more or less than the capture's: another clock */
#define CLOCK_SET_S 300.0  /* seconds: a longer response time may be the capture's clock, which was set */

/* The party that made something late or slow. */
typedef struct {
    verdict_party party; /* PARTY_UNKNOWN: the server or the network */
    const char *why;     /* end of the sentence's brackets; "": shown, without words; NULL: nothing tells */
} late_cause;

static const char connection_ended[] = ", the connection had ended";

/* Returns the cause that TCP shows between two times: a zero window, or a retransmission that took at least half of `delay` (seconds). */
static late_cause find_cause(const verdict_connection *connection, double begin, double end, double delay)
{
    const connection_event *last, *event = steps_events(connection, begin, &last);

    for (; event < last && event->at.time <= end; event++) {
        if (event->kind == EVENT_ZERO_WINDOW) {
            return (late_cause){event->is_by_client ? PARTY_CLIENT : PARTY_SERVER, ""};
        }
        if (event->kind == EVENT_RESENT && event->at.time - event->since >= delay / 2) {
            return (late_cause){PARTY_NETWORK, ", packets were resent"};
        }
    }
    return (late_cause){PARTY_UNKNOWN, NULL};
}

/* Returns the cause of a late request b after request a: by TCP, a begin or end of a connection, else the client. `delay`: seconds beyond usual. */
static late_cause find_late_cause(const monitor_call *a, const monitor_call *b, double delay)
{
    const verdict_connection *old = a->connection, *new = b->connection;
    late_cause found = find_cause(old, a->asked, b->asked, delay);

    if (found.why == NULL && new != old) {
        found = find_cause(new, a->asked, b->asked, delay);
    }
    if (found.why) {
        return found;
    }
    if (old && old->end.frame > 0 && old->end.time >= a->asked && old->end.time <= b->asked) {
        return (late_cause){old->is_ended_by_client ? PARTY_CLIENT : PARTY_UNKNOWN, connection_ended};
    }
    if (new &&new->syn.frame > 0 && new->syn.time >= a->asked &&new->syn.time <= b->asked - delay / 2) {
        return (late_cause){PARTY_UNKNOWN, ", the client tried to connect"};
    }
    return (late_cause){PARTY_CLIENT, NULL};
}

/* Returns the cause of a slow response: by TCP; the network if its first segment came soon; the server if it acknowledged the request soon. */
static late_cause find_slow_cause(const monitor_call *slow)
{
    double delay = slow->answered - slow->sent;
    late_cause found = find_cause(slow->connection, slow->sent, slow->answered, delay);

    if (found.why == NULL && slow->began > 0 && slow->began - slow->sent <= delay / 2) {
        return (late_cause){PARTY_NETWORK, ", their first packets came soon"};
    }
    if (found.why == NULL && slow->acked > 0 && slow->acked - slow->sent <= delay / 2) {
        return (late_cause){PARTY_SERVER, ""};
    }
    return found;
}

/* Late requests, or slow responses, that one party causes. */
typedef struct {
    verdict_evidence shown;
    perf_spread seconds; /* gaps, or response times */
    double usual;        /* seconds: the usual gap, or lower quartile of response times */
    const char *why;     /* late_cause.why of the first */
} late_group;

/* Adds the packet that is late: the response, or an unanswered request. */
static void add_sample(verdict_evidence *shown, const monitor_call *sample)
{
    evidence_add(shown, sample->frame > 0 ? sample->frame : sample->asked_frame,
                 sample->answered > 0 ? sample->answered : sample->asked);
}

/* Adds a sample to the group of its cause's party. `seconds`: its gap or response time; `usual`: the usual one. */
static void add_to_group(const verdict_monitor *monitor, late_group *groups, const late_cause *cause,
                         const monitor_call *sample, double seconds, double usual)
{
    late_group *group = &groups[cause->party];

    if (group->seconds.count == 0) {
        *group = (late_group){.shown = {.pool = monitor->pool}, .usual = usual, .why = cause->why};
    }
    perf_spread_add(&group->seconds, seconds);
    add_sample(&group->shown, sample);
}

/* Adds a finding for each party that causes some: number of `of_all`, median seconds, usual seconds. */
static void add_groups(verdict_monitor *monitor, bool is_slow, const late_group *groups, uint32_t of_all)
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

    for (unsigned party = 0; party <= PARTY_UNKNOWN; party++) {
        const late_group *group = &groups[party];
        if (group->seconds.count == 0) {
            continue;
        }
        double seconds = perf_spread_median(&group->seconds);
        bool is_clock = is_slow && seconds > CLOCK_SET_S && group->why == NULL;
        monitor_add_finding(monitor, is_slow ? VERDICT_SLOW : VERDICT_ASKED_LATE,
                            party == PARTY_UNKNOWN ? PARTY_SERVER : (verdict_party)party, &group->shown,
                            "%s (%u of %u %s[, %s, usually %s%s]): $T", words[is_slow][party],
                            (unsigned)group->seconds.count, of_all, is_slow ? "responses" : "samples",
                            verdict_seconds(monitor->pool, seconds), verdict_seconds(monitor->pool, group->usual),
                            is_clock     ? "; or the capture's clock was set"
                            : group->why ? group->why
                                         : "");
    }
}

/* Returns the frame in which the client closed its query, or the connection around it; 0: it did not. */
static uint32_t find_close(const monitor_call *sample)
{
    const verdict_connection *connection = sample->connection;
    uint32_t by_call = query_closed_frame(sample->query);

    return by_call > 0 ? by_call : connection && connection->is_ended_by_client ? connection->end.frame : 0;
}

/* Adds findings of late requests, and of pauses behind a close by the client. Returns whether a long gap lacks packets that nobody resent. A gap in
 * which packets are lost is not late, nor one that follows a broken connection. Changes: num_late. */
static bool find_late(verdict_monitor *monitor)
{
    late_group groups[PARTY_UNKNOWN + 1] = {{.usual = 0}};
    verdict_evidence pauses = {.pool = monitor->pool};
    bool lacks_some = false;

    for (uint32_t i = 0; i < monitor->timing.num_gaps; i++) {
        const timing_gap *gap = &monitor->gaps[i];
        const monitor_call *a = &monitor->samples[gap->before], *b = &monitor->samples[gap->request];
        if (!timing_is_long(gap->seconds, monitor->timing.usual, TIMING_LATE)) {
            continue;
        }
        double end = b->answered > 0 ? b->answered : b->asked;
        bool is_unseen = peers_have_loss(monitor->pair, a->asked, end);
        /* what is resent was lost on its way */
        lacks_some |= is_unseen && !steps_find_event(b->connection, EVENT_RESENT, 0, a->asked, end);
        if (!gap->is_late || is_unseen) {
            continue;
        }
        uint32_t closed = gap->is_across ? find_close(a) : 0;
        if (closed > 0 && closed < MAX(b->asked_frame, b->frame)) {
            add_sample(&pauses, b);
            continue;
        }
        late_cause cause = find_late_cause(a, b, gap->seconds - monitor->timing.usual);
        if (cause.why != connection_ended || cause.party == PARTY_CLIENT || !monitor_has(monitor, VERDICT_BROKEN)) {
            add_to_group(monitor, groups, &cause, b, gap->seconds,
                         monitor->timing.usual); /* else the gap is its consequence */
            monitor->num_late++;
        }
    }
    add_groups(monitor, /* is_slow */ false, groups, monitor->num_samples);
    monitor_add_finding(monitor, VERDICT_PAUSE, PARTY_CLIENT, &pauses, "$C paused between two %s to $S$N: $T",
                        monitor->first->is_hkpd ? "handles" : "queries");
    return lacks_some;
}

/* Adds findings of slow responses, by the party that causes them. Needs: take_timing() chose the slow samples. */
static void find_slow(verdict_monitor *monitor)
{
    late_group groups[PARTY_UNKNOWN + 1] = {{.usual = 0}};
    uint32_t answered = 0;

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        answered += monitor->samples[i].answered > 0;
    }
    for (uint32_t i = 0; i < monitor->num_slow; i++) {
        const monitor_call *slow = &monitor->samples[monitor->slow[i]];
        late_cause cause = find_slow_cause(slow);
        add_to_group(monitor, groups, &cause, slow, slow->answered - slow->sent, monitor->timing.quartile);
    }
    add_groups(monitor, /* is_slow */ true, groups, answered);
}

/* Adds a finding of a server that was restarted, or of another machine that answers by its name. Between samples of two queries its performance
 * time moves otherwise than the capture's, and than its own time of day, by OTHER_CLOCK_S. */
static void find_other_clock(verdict_monitor *monitor)
{
    verdict_evidence shown = {.pool = monitor->pool};
    const monitor_call *before = NULL;
    double old = 0, new = 0;

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_call *sample = &monitor->samples[i];
        if (sample->clock <= 0) {
            continue;
        }
        double ticked = before ? sample->clock - before->clock : 0;
        if (before && before->query != sample->query &&
            fabs(ticked - (sample->answered - before->answered)) >= OTHER_CLOCK_S &&
            fabs(ticked - (sample->date - before->date)) >= OTHER_CLOCK_S) {
            old = shown.frames ? old : before->clock;
            new = shown.frames ? new : sample->clock;
            add_sample(&shown, sample);
        }
        before = sample;
    }
    monitor_add_finding(monitor, VERDICT_OTHER_CLOCK, PARTY_SERVER, &shown,
                        "$S is not as it was for $C: restarted, or another machine[ (clock %s, then %s)]: $T",
                        verdict_seconds(monitor->pool, old), verdict_seconds(monitor->pool, new));
}

bool timing_find(verdict_monitor *monitor)
{
    bool lacks_some = false;

    if (!steps_times().was_set) {
        find_slow(monitor);
        lacks_some = find_late(monitor);
        find_other_clock(monitor);
        monitor->stats.numbers[STAT_LATE_ASKED] = monitor->num_late;
        monitor->stats.numbers[STAT_LATE_ANSWERED] = monitor->num_slow;
    }
    return lacks_some;
}
