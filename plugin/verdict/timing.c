/* timing.c
 * Late requests and slow responses of a monitor, by the rule of perf/timing; whose they are, and what shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include <math.h>

#define CLOCK_SET_S 300.0 /* seconds: a longer response time may be the capture's clock, which was set */

/* Causes of late requests and slow responses, from PARTY_CLIENT on; PARTY_UNKNOWN: the server or the network; CAUSE_SILENT: the client or the network. */
enum { CAUSE_ANY = PARTY_UNKNOWN + 1, CAUSE_SILENT, NUM_CAUSES };

static bool is_within(const verdict_moment *moment, double begin, double end)
{
    return moment->time >= begin && moment->time <= end;
}

/* Returns the troubles of a connection until the request of the sample before; zeros if that went by another connection. */
static const connection_troubles *find_troubles_before(const monitor_call *before, const monitor_call *call)
{
    static const connection_troubles none;

    return before->connection == call->connection ? &before->at_request : &none;
}

/* Returns the first cause that holds. `before`: the request before a late one; NULL: the response is slow. `delay`: seconds too many, of
 * which a retransmission or another call explains the lateness if it took at least half. Any party may be the cause of a wait so long that the
 * capture's clock may have been set, and where the client reads the rest of a response by SMB itself. */
static unsigned find_cause(const timing_request *before, const timing_request *request, double delay)
{
    enum { PORT_SMB = 445, ONE_FRAGMENT = 4280 /* bytes */ };
    const monitor_call *call = request->call;
    const verdict_connection *connection = call->connection;
    double begin = before ? before->when : request->sent, end = before ? request->when : request->answered;
    double soon = begin + delay / 2;
    bool is_connecting =
        before && is_within(&connection->syn, begin, end) && connection->first_call - connection->syn.time >= delay / 2;
    const connection_troubles *from = before ? find_troubles_before(before->call, call) : &call->at_request,
                              *to = before ? &call->at_request : &call->at_response;
    bool is_slow = to->slow - from->slow >= delay / 2 || is_connecting ||
                   to->silent[BY_SERVER] - from->silent[BY_SERVER] >= delay / 2;

    return to->full[BY_CLIENT] > from->full[BY_CLIENT]                    ? PARTY_CLIENT
           : to->full[BY_SERVER] > from->full[BY_SERVER]                  ? PARTY_SERVER
           : to->resent - from->resent >= delay / 2                       ? PARTY_NETWORK
           : is_slow                                                      ? PARTY_UNKNOWN
           : to->silent[BY_CLIENT] - from->silent[BY_CLIENT] >= delay / 2 ? CAUSE_SILENT
           : before                                                       ? PARTY_CLIENT
           : call->began > 0 && call->began <= soon                       ? PARTY_NETWORK
           : call->acked > 0 && call->acked <= soon                       ? PARTY_SERVER
           : delay > CLOCK_SET_S                                          ? CAUSE_ANY
           : connection->port == PORT_SMB && call->size > ONE_FRAGMENT    ? CAUSE_ANY
                                                                          : PARTY_UNKNOWN;
}

/* Causes: the party that is blamed, words for late requests and for slow responses. CAUSE_ANY makes no request late. */
static const struct {
    verdict_party party;
    const char *late, *slow;
} cause_rows[NUM_CAUSES] = {
    [PARTY_CLIENT] = {PARTY_CLIENT, "$C polled $S late", "$C did not read what $S sent, window 0"},
    [PARTY_SERVER] = {PARTY_SERVER, "$S did not read what $C sent, window 0", "$S responds slowly to $C"},
    [PARTY_NETWORK] = {PARTY_NETWORK, "The network between $C and $S delayed polls",
                       "The network between $C and $S delays responses"},
    [PARTY_UNKNOWN] = {PARTY_SERVER, "$S (or the network) delayed polls of $C",
                       "$S (or the network) responds slowly to $C"},
    [CAUSE_ANY] = {PARTY_UNKNOWN, NULL, "Responses of $S to $C are slow"},
    [CAUSE_SILENT] = {PARTY_CLIENT, "$C (or the network) delayed polls of $S",
                      "$C (or the network) delays responses of $S"},
};

/* Late requests, or slow responses, of one cause. */
typedef struct {
    verdict_evidence shown;
    perf_spread seconds; /* gaps, or response times */
    double usual;        /* of the newest one, seconds */
} late_group;

/* Adds a finding for each cause of some: number of samples, median seconds, and usual ones unless most are such. */
static void add_groups(verdict_monitor *monitor, verdict_kind kind, const late_group *groups)
{
    for (unsigned cause = PARTY_CLIENT; cause < NUM_CAUSES; cause++) {
        const late_group *group = &groups[cause];
        const char *words = kind == VERDICT_SLOW ? cause_rows[cause].slow : cause_rows[cause].late;
        if (group->seconds.count > 0) {
            const char *seconds = format_seconds(monitor, ", ", perf_spread_median(&group->seconds));
            bool is_usual = 2 * group->seconds.count > monitor->num_requests; /* what they are is usual then */
            const char *usually = is_usual ? "" : format_seconds(monitor, ", usually ", group->usual);
            monitor_add_finding(monitor, kind, cause_rows[cause].party, &group->shown,
                                "%s (%u of %u samples[%s%s]): $T", words, (unsigned)group->seconds.count,
                                monitor->num_requests, seconds, usually);
        }
    }
}

/* Adds findings of late requests, of failures on the way to a query that were made good too late for a sample, of pauses behind a close by the client,
 * and of a server that was restarted, or another machine that has its name.
 * Returns whether a long gap lacks packets that nobody resent. A gap in which packets are lost is not late. Changes: number of late samples. */
static bool find_late(verdict_monitor *monitor)
{
    late_group groups[NUM_CAUSES] = {{.seconds = {.count = 0}}};
    verdict_evidence pauses = {.count = 0}, others = {.count = 0};
    double up = 0; /* seconds that the newest other server runs */
    bool lacks_some = false;

    for (const timing_gap *gap = monitor->gaps; gap < monitor->gaps + monitor->timing.num_gaps; gap++) {
        const timing_request *from = &monitor->requests[gap->before], *to = &monitor->requests[gap->request];
        const monitor_call *before = from->call, *call = to->call;
        const verdict_moment shown_at = monitor_call_shown_at(call);
        bool is_closed = before->query->closed_frame > 0 || before->connection->is_ended_by_client; /* by the client */
        bool is_long = timing_is_long(gap->seconds, gap->usual, TIMING_LATE);
        bool is_unseen = is_long && steps_has_loss(monitor->pair, from->when, shown_at.time);
        /* what is resent was lost on its way */
        lacks_some |= is_unseen && call->at_response.resent <= find_troubles_before(before, call)->resent;
        /* the server, or the network, ended the connection: that is a finding, and the gap its consequence */
        bool is_cut =
            !before->connection->is_ended_by_client && is_within(&before->connection->end, from->when, to->when);
        if (gap->is_other_clock) {
            up = to->clock;
            evidence_add(monitor->pool, &others, shown_at);
        }
        const setup_failure *failure = is_long && gap->is_across && from->answered > 0 && !is_unseen && !is_cut
                                           ? steps_find_overcome(monitor->pair, from->when, to->when)
                                           : NULL;
        if (failure) {
            steps_add_failure(monitor, failure);
        }
        if (!gap->is_late || is_unseen || is_cut || failure) {
            continue;
        }
        unsigned cause = find_cause(from, to, gap->seconds - gap->usual);
        if (gap->is_across && is_closed && cause == PARTY_CLIENT) {
            evidence_add(monitor->pool, &pauses, shown_at);
        } else {
            perf_spread_add(&groups[cause].seconds, gap->seconds);
            evidence_add(monitor->pool, &groups[cause].shown, shown_at);
            groups[cause].usual = gap->usual;
            monitor->num_late++;
        }
    }
    add_groups(monitor, VERDICT_ASKED_LATE, groups);
    monitor_add_finding(monitor, VERDICT_PAUSE, PARTY_CLIENT, &pauses, "$C paused between two %s to $S$N: $T",
                        monitor->first->is_hkpd ? "handles" : "queries");
    monitor_add_finding(monitor, VERDICT_OTHER_CLOCK, PARTY_SERVER, &others,
                        "$S is not as it was for $C: restarted, or another machine[, up for %.0f s]: $T", up);
    return lacks_some;
}

/* Adds findings of slow responses, by the party that causes them. Changes: number of slow samples. */
static void find_slow(verdict_monitor *monitor)
{
    late_group groups[NUM_CAUSES] = {{.seconds = {.count = 0}}};

    for (uint32_t i = 0; i < monitor->num_requests; i++) {
        const timing_request *request = &monitor->requests[i];
        const monitor_call *call = request->call;
        double delay = request->answered - request->sent;
        if (delay >= monitor->timing.slow_from) {
            late_group *group = &groups[find_cause(NULL, request, delay)];
            perf_spread_add(&group->seconds, delay);
            evidence_add(monitor->pool, &group->shown, monitor_call_shown_at(call));
            group->usual = monitor->timing.quartile;
            monitor->num_slow++;
        }
    }
    add_groups(monitor, VERDICT_SLOW, groups);
}

bool timing_find(verdict_monitor *monitor)
{
    find_slow(monitor);
    return find_late(monitor);
}
