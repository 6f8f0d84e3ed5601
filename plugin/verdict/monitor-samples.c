/* monitor-samples.c
 * Monitors, joined of their queries: samples, timing, statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "perf/summary.h"

#include <math.h>

/* --- Monitors ----------------------------------------------------------------------------------------------------- */

verdict_monitor *monitor_new(wmem_allocator_t *pool, verdict_peers *pair, verdict_query *first)
{
    verdict_monitor *monitor = wmem_new(pool, verdict_monitor);

    *monitor = (verdict_monitor){
        .pool = pool,
        .pair = pair,
        .called = pair->called,
        .first = first,
        .last = first,
        .list = wmem_array_new(pool, sizeof(monitor_call)),
        .counters = NAN,
        .bytes = NAN,
        .response = NAN,
        .ahead = NAN,
    };
    return monitor;
}

/* Adds a query to the monitor of its protocol, peers, account and counters; if these are not known, to one of its own. A question without a sample joins its
 * peers' first monitor, and counts as no query there. Changes: creates the monitor if there is none. */
static void add_query(const verdict *v, wmem_map_t *by_key, verdict_query *query)
{
    bool is_aside = query->is_hkpd && !query->is_sealed && query->samples == 0;
    const char *peers = wmem_strdup_printf(v->pool, "%d %d %s %s %s", query->is_hkpd, query->is_sealed, query->client,
                                           query->server, query->account);
    const char *key = is_aside               ? peers
                      : query->asked_for > 0 ? wmem_strdup_printf(v->pool, "%u %s", query->asked_for, peers)
                                             : wmem_strdup_printf(v->pool, "%u", query->place);
    verdict_monitor *monitor = wmem_map_lookup(by_key, key);

    if (monitor) {
        monitor->last = monitor->last->next = query;
    } else {
        monitor = monitor_new(v->pool, query->connection->peers, query);
        g_ptr_array_add(v->monitors, monitor);
        wmem_map_insert(by_key, key, monitor);
    }
    if (!wmem_map_contains(by_key, peers)) {
        wmem_map_insert(by_key, peers, monitor);
    }
    query->monitor = monitor;
    query->next = NULL;
    query->newest = TIMING_FIRST;
    monitor->number = monitor->number > 0 ? monitor->number : query->number;
    monitor->has_names |= query->has_names;
    monitor->is_marked |= query->is_marked;
    monitor->closed_frame = query->closed_frame;
    if (!is_aside) {
        monitor->num_queries++;
        monitor->counters = query->counters;
    }
}

/* --- Samples ------------------------------------------------------------------------------------------------------ */

/* Returns true for a sample of a sealed key that is a list of names: asked for once or twice, while another question is asked more often. */
static bool is_list_of_names(const verdict *v, const monitor_call *call)
{
    enum { FEWEST = 3 };

    return call->query->is_sealed && call->query->most_asked >= FEWEST &&
           GPOINTER_TO_UINT(wmem_map_lookup(v->samples, &call->key)) < FEWEST;
}

/* Settles each sealed response without data, CALL_EMPTY until then. It becomes CALL_PROBE if the next sample, or what is never answered, is requested within
 * TIMING_REPEATED. It stays CALL_EMPTY if the time without data lasts QUIET_S and QUIET_TIMES usual intervals: from its first empty response to such a
 * request, or to the capture's end. Else it becomes CALL_DONE. Needs: a sealed monitor, its timing. Changes: `outcome` of its calls. */
static void settle_sealed(const verdict_monitor *monitor)
{
    const double most = MAX(QUIET_TIMES * monitor->timing.usual, QUIET_S);
    const monitor_call *next = monitor->calls; /* sample, list of names, or unanswered call behind a call */
    double since = 0;                          /* when the time without data began */

    for (monitor_call *call = monitor->calls; call < monitor->end; call++) {
        while (next < monitor->end && (next <= call || (next->size == 0 && next->outcome != CALL_WAITS))) {
            next++;
        }
        if (call->size > 0) {
            since = 0;
        } else if (call->outcome == CALL_EMPTY) {
            double until = next < monitor->end ? next->asked.time : steps.last;
            since = since > 0 ? since : call->answered.time;
            call->outcome = next < monitor->end && until - call->answered.time <= TIMING_REPEATED ? CALL_PROBE
                            : until - since >= most                                               ? CALL_EMPTY
                                                                                                  : CALL_DONE;
        }
    }
}

/* Fills the monitor's requests, of a key only those of the monitor's question, and judges their times. */
static void find_intervals(verdict_monitor *monitor)
{
    size_t most = (size_t)(monitor->end - monitor->calls) + 1;

    monitor->requests = wmem_alloc_array(monitor->pool, timing_request, most);
    monitor->gaps = wmem_alloc_array(monitor->pool, timing_gap, most);
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        verdict_query *query = call->query;
        const timing_request request = {.sent = call->asked.time,
                                        .answered = call->answered.time,
                                        .clock = call->clock,
                                        .date = call->date,
                                        .call = call,
                                        .query = query->place,
                                        .has_no_data = call->outcome == CALL_PROBE || call->outcome == CALL_EMPTY};
        if (call->asks && (!query->is_hkpd || query->asked_for == monitor->first->asked_for)) {
            query->newest =
                timing_append(monitor->requests, &monitor->num_requests, query->newest, call->num_open, request);
        }
    }
    monitor->timing = timing_judge(monitor->requests, monitor->num_requests, monitor->gaps);
}

/* --- Statistics --------------------------------------------------------------------------------------------------- */

/* Returns the median of an array of doubles; NAN: it is empty. */
static double find_median(wmem_array_t *numbers)
{
    unsigned count = wmem_array_get_count(numbers);

    return count > 0 ? perf_median(wmem_array_get_raw(numbers), count) : NAN;
}

/* Fills statistics of calls: number, bytes, response times, seconds that the server's time of day is ahead of the capture's. */
static void count_samples(verdict_monitor *monitor)
{
    wmem_array_t *seconds = wmem_array_new(monitor->pool, sizeof(double));
    wmem_array_t *offsets = wmem_array_new(monitor->pool, sizeof(double));
    double bytes = 0;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        monitor->num_probes += call->outcome == CALL_PROBE;
        monitor->num_empty += call->asks && (call->outcome == CALL_FAILED || call->outcome == CALL_EMPTY);
        if (call->outcome != CALL_SAMPLE) {
            continue;
        }
        monitor->last_sampled = call->answered.frame;
        monitor->num_samples++;
        bytes += call->size;
        if (call->seconds >= 0) {
            wmem_array_append_one(seconds, call->seconds);
            monitor->slowest = monitor->slowest && call->seconds <= monitor->slowest->seconds ? monitor->slowest : call;
        }
        double offset = call->date - call->answered.time;
        if (fabs(offset) < 1e9) { /* seconds, of a clock that is set at all */
            wmem_array_append_one(offsets, offset);
        }
    }
    monitor->bytes = monitor->num_samples > 0 ? round(bytes / monitor->num_samples) : NAN;
    monitor->response = find_median(seconds);
    monitor->ahead = find_median(offsets);
}

void monitors_join(verdict *v)
{
    uint32_t sealed = 0;

    g_ptr_array_set_size(v->monitors, 0);
    wmem_free_all(v->pool);
    wmem_map_t *by_key = wmem_map_new(v->pool, wmem_str_hash, g_str_equal);
    for (unsigned i = 0; i < v->queries->len; i++) {
        verdict_query *query = g_ptr_array_index(v->queries, i);
        const state_handle *handle = wmem_map_lookup(v->handles, query);
        query->closed_frame = handle ? handle->closed_frame : query->closed_frame;
        add_query(v, by_key, query);
    }
    for (unsigned i = 0; i < v->calls->len; i++) {
        monitor_call call = *(const monitor_call *)g_ptr_array_index(v->calls, i);
        if (call.outcome == CALL_SAMPLE && is_list_of_names(v, &call)) {
            call.outcome = CALL_DONE;
            call.asks = false;
        }
        if (call.outcome == CALL_WAITS) {
            call.failure = wmem_map_lookup(steps.pipe_failures, GUINT_TO_POINTER(call.asked.frame));
        }
        wmem_array_append_one(call.query->monitor->list, call);
    }
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        monitor->calls = wmem_array_get_raw(monitor->list);
        monitor->end = monitor->calls + wmem_array_get_count(monitor->list);
        find_intervals(monitor);
        if (monitor->first->is_sealed) {
            monitor->number = ++sealed;
            settle_sealed(monitor);
        }
        count_samples(monitor);
    }
}
