/* monitor-samples.c
 * Monitors, joined of their queries: samples, timing, statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "perf/summary.h"

#include <math.h>

#define PROBE_S 0.5    /* seconds after a size probe's response in which the client asks again */
#define FAILED_S 5.0   /* seconds without data after which a sealed response without data has failed, and */
#define FAILED_TIMES 3 /* times the mean interval of samples */

/* --- Monitors ----------------------------------------------------------------------------------------------------- */

/* Returns "NAME (ADDRESS)", the address alone if the name is not known (NULL) or is the address. */
static const char *format_server(wmem_allocator_t *pool, const char *called, const char *server)
{
    bool has_name = called && strcmp(called, server) != 0;

    return has_name ? wmem_strdup_printf(pool, "%s (%s)", called, server) : server;
}

verdict_monitor *monitor_new(wmem_allocator_t *pool, verdict_peers *pair, const verdict_query *first)
{
    verdict_monitor *monitor = wmem_new0(pool, verdict_monitor);
    double *stats = monitor->stats.numbers;
    const char **texts = monitor->stats.texts;

    monitor->pool = pool;
    monitor->pair = pair;
    monitor->first = first;
    monitor->queries = wmem_array_new(pool, sizeof first);
    monitor->list = wmem_array_new(pool, sizeof(monitor_call));
    for (unsigned i = 0; i < NUM_STATS; i++) {
        stats[i] = NAN;
    }
    stats[STAT_SAMPLES] = stats[STAT_PROBES] = stats[STAT_LATE_ASKED] = stats[STAT_LATE_ANSWERED] = 0;
    texts[STAT_CLIENT] = first ? first->client : pair->client;
    texts[STAT_ACCOUNT] = first ? first->account : "";
    texts[STAT_SERVER] = first ? format_server(pool, first->is_sealed ? NULL : first->called, first->server)
                               : format_server(pool, pair->called, pair->server);
    return monitor;
}

/* Returns a key that all queries of one protocol, client, server and account have. */
static const char *format_peers(wmem_allocator_t *pool, const verdict_query *query)
{
    return wmem_strdup_printf(pool, "%d %s %s %s", query->is_hkpd, query->client,
                              query->pair ? query->pair->server : query->server, query->account);
}

/* Returns true for calls without a query, and a question without a sample: they join their peers' first monitor, and count as no query there. */
static bool is_aside(const verdict_query *query)
{
    return query->is_of_peers || (query->is_hkpd && !query->is_sealed && query->samples == 0);
}

/* Returns the key of a query's monitor. A query whose counters are not known has a key, and a monitor, of its own. */
static const char *format_monitor_key(wmem_allocator_t *pool, const verdict_query *query)
{
    const char *peers = format_peers(pool, query);

    return is_aside(query) ? peers
           : query->asked_for > 0
               ? wmem_strdup_printf(pool, "%d %u %s %s", query->is_sealed, query->asked_for, peers, query->server)
               : wmem_strdup_printf(pool, "%u", query->place);
}

/* Adds a query to the monitor of its key. Needs: those that are not aside come first. Returns the monitor, created if there is none. */
static verdict_monitor *add_query(const verdict *v, wmem_map_t *by_key, const verdict_query *query)
{
    const char *key = format_monitor_key(v->pool, query), *peers = format_peers(v->pool, query);
    verdict_monitor *monitor = wmem_map_lookup(by_key, key);

    if (monitor == NULL) {
        monitor = monitor_new(v->pool, query->pair, query);
        g_ptr_array_add(v->monitors, monitor);
        wmem_map_insert(by_key, key, monitor);
    }
    if (!query->is_sealed && !wmem_map_contains(by_key, peers)) {
        wmem_map_insert(by_key, peers, monitor);
    }
    wmem_array_append_one(monitor->queries, query);
    monitor->num_queries += !is_aside(query);
    return monitor;
}

/* --- Samples ------------------------------------------------------------------------------------------------------ */

/* Returns true for a sample of a sealed key that is a list of names: asked for once or twice, while another question is asked more often. */
static bool is_list_of_names(const monitor_call *call)
{
    enum { FEWEST = 3 };
    unsigned times = GPOINTER_TO_UINT(wmem_map_lookup(call->query->questions, GUINT_TO_POINTER(call->subject)));

    return call->outcome == CALL_SAMPLE && times < FEWEST && call->query->most_asked >= FEWEST;
}

/* Settles each sealed response without data, CALL_EMPTY until then. It becomes CALL_PROBE if the
 * next sample is requested within PROBE_S. It stays CALL_EMPTY if the time without data lasts
 * FAILED_S and FAILED_TIMES mean intervals of the samples before. Else it becomes CALL_DONE.
 * That time lasts from its first empty response to the next sample's request, or to the
 * capture's end. Needs: a sealed monitor. Changes: `outcome` of its calls. */
static void settle_sealed(const verdict_monitor *monitor)
{
    const monitor_call *next = monitor->calls, *first = NULL, *last = NULL; /* samples: behind a call, and before it */
    double since = 0;                                                       /* when the time without data began */
    unsigned samples = 0;

    for (monitor_call *call = monitor->calls; call < monitor->end; call++) {
        while (next < monitor->end && (next <= call || next->outcome != CALL_SAMPLE)) {
            next++;
        }
        if (call->outcome == CALL_SAMPLE) {
            first = first ? first : call;
            last = call;
            samples++;
            since = 0;
        } else if (call->outcome == CALL_EMPTY) {
            double interval = samples > 1 ? (last->asked - first->asked) / (samples - 1) : 0;
            double until = next < monitor->end ? next->asked : steps_times().last;
            since = since > 0 ? since : call->answered;
            call->outcome = next < monitor->end && until - call->answered <= PROBE_S  ? CALL_PROBE
                            : until - since >= MAX(FAILED_TIMES * interval, FAILED_S) ? CALL_EMPTY
                                                                                      : CALL_DONE;
        }
    }
}

/* Fills `samples` with copies of requests for counter data; of a key only those of the monitor's question. A response without data and its query's
 * next request, within PROBE_S, are one: `asked` is the former's, `sent` the latter's. */
static void take_samples(verdict_monitor *monitor)
{
    wmem_map_t *newest = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal); /* query -> its newest sample */

    monitor->samples = wmem_alloc_array(monitor->pool, monitor_call, monitor->end - monitor->calls + 1);
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        monitor_call sample = *call, *before = wmem_map_lookup(newest, call->query);
        if (!call->asks || (call->query->is_hkpd && call->query->asked_for != monitor->first->asked_for)) {
            continue;
        }
        sample.sent = sample.asked = call->asked > 0 ? call->asked : call->answered;
        if (before &&
            (before->outcome == CALL_PROBE || before->outcome == CALL_DONE || before->outcome == CALL_EMPTY) &&
            sample.sent - before->answered < PROBE_S) {
            sample.asked = before->asked;
        } else {
            before = &monitor->samples[monitor->num_samples++];
        }
        *before = sample;
        wmem_map_insert(newest, sample.query, before);
    }
}

/* Returns the samples as timing_judge() takes them. Those of several sealed queries that are open at once get turns: nothing tells whose each is. */
static timing_request *make_requests(const verdict_monitor *monitor)
{
    timing_request *requests = wmem_alloc_array(monitor->pool, timing_request, monitor->num_samples + 1);
    wmem_map_t *turns = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);

    for (uint32_t i = 0; i < monitor->num_samples; i++) {
        const monitor_call *sample = &monitor->samples[i];
        uint32_t turn = GPOINTER_TO_UINT(wmem_map_lookup(turns, sample->query));
        requests[i] = (timing_request){.when = sample->asked,
                                       .sent = sample->sent,
                                       .answered = sample->answered,
                                       .clock = sample->clock,
                                       .query = sample->query->place,
                                       .turn = sample->num_open > 1 ? turn % sample->num_open : 0};
        wmem_map_insert(turns, sample->query, GUINT_TO_POINTER(turn + 1));
    }
    return requests;
}

/* --- Statistics --------------------------------------------------------------------------------------------------- */

/* Fills statistics of calls: number, bytes, response times, seconds that the server's time of day is ahead of the capture's. That is ignored if
 * it is off by decades. */
static void count_samples(verdict_monitor *monitor)
{
    const double most = 1e9; /* seconds, of a clock that is set at all */
    size_t room = (size_t)(monitor->end - monitor->calls) + 1;
    double *seconds = wmem_alloc_array(monitor->pool, double, room);
    double *offsets = wmem_alloc_array(monitor->pool, double, room);
    double *stats = monitor->stats.numbers, bytes = 0, slowest = -1;
    unsigned num_seconds = 0, num_offsets = 0;

    stats[STAT_NO_DATA] = 0;
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        stats[STAT_PROBES] += call->outcome == CALL_PROBE;
        stats[STAT_NO_DATA] += call->asks && (call->outcome == CALL_FAILED || call->outcome == CALL_EMPTY);
        if (call->outcome != CALL_SAMPLE) {
            continue;
        }
        monitor->last_sampled = MAX(monitor->last_sampled, call->frame);
        stats[STAT_SAMPLES]++;
        bytes += call->size;
        if (call->seconds >= 0) {
            stats[STAT_SLOWEST_FRAME] = call->seconds > slowest ? call->frame : stats[STAT_SLOWEST_FRAME];
            stats[STAT_SLOWEST] = slowest = MAX(slowest, call->seconds);
            seconds[num_seconds++] = call->seconds;
        }
        offsets[num_offsets] = call->date - call->answered;
        num_offsets += fabs(offsets[num_offsets]) < most;
    }
    stats[STAT_SIZE] = stats[STAT_SAMPLES] > 0 ? round(bytes / stats[STAT_SAMPLES]) : NAN;
    stats[STAT_RESPONSE] = num_seconds > 0 ? perf_median(seconds, num_seconds) : NAN;
    stats[STAT_CLOCK] = num_offsets > 0 ? perf_median(offsets, num_offsets) : NAN;
}

/* Fills samples, gaps, timing and its statistics: interval, jitter, longest; without gaps they stay NAN. */
static void find_intervals(verdict_monitor *monitor)
{
    double *stats = monitor->stats.numbers;
    const timing_verdict *timing = &monitor->timing;

    take_samples(monitor);
    double *numbers = wmem_alloc_array(monitor->pool, double, monitor->num_samples + 1);
    monitor->gaps = wmem_alloc_array(monitor->pool, timing_gap, monitor->num_samples + 1);
    monitor->timing = timing_judge(make_requests(monitor), monitor->num_samples, monitor->gaps);
    for (uint32_t i = 0; i < timing->num_gaps; i++) {
        numbers[i] = fabs(monitor->gaps[i].seconds - timing->usual);
    }
    if (timing->num_gaps > 0) {
        stats[STAT_INTERVAL] = timing->usual;
        stats[STAT_JITTER] = perf_median(numbers, timing->num_gaps);
        stats[STAT_LONGEST] = monitor->gaps[timing->longest].seconds;
    }
}

/* Fills the texts of Query, Opened and Closed. */
static void describe_handles(verdict_monitor *monitor)
{
    const verdict_query *first = monitor->first;
    unsigned more = MAX(monitor->num_queries, 1) - 1;
    const char **texts = monitor->stats.texts, *kind = first->is_sealed ? "sealed" : monitor_handle_word(monitor);
    uint32_t closed = query_closed_frame(monitor_query(monitor, more));

    texts[STAT_HANDLE] =
        wmem_strdup_printf(monitor->pool, more > 0 ? "%s %u and %u more" : "%s %u", kind, monitor->number, more);
    if (first->is_sealed) {
        texts[STAT_OPENED] = "sealed (intervals by the capture's clock)";
        return;
    }
    texts[STAT_OPENED] = first->opened_frame > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", first->opened_frame)
                                                 : "before the capture";
    texts[STAT_CLOSED] = closed > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", closed) : "left open";
}

/* Fills number and statistics of queries: refused and failed of all, counters by the newest. Changes: `sealed`: number of the newest sealed monitor. */
static void sum_queries(verdict_monitor *monitor, uint32_t *sealed)
{
    const verdict_query *first = monitor->first;
    double *stats = monitor->stats.numbers, refused = 0, failed = 0;

    monitor->number = first->is_sealed ? ++*sealed : 0;
    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const verdict_query *query = monitor_query(monitor, i);
        monitor->number = monitor->number > 0 ? monitor->number : query->number;
        stats[STAT_COUNTERS] = query->is_of_peers ? stats[STAT_COUNTERS] : query->counters;
        failed += (double)query->failed_blocks;
        refused += (double)query->problems[PROBLEM_REFUSED].things;
    }
    stats[STAT_REFUSED] = first->is_sealed ? NAN : refused;
    stats[STAT_FAILED] = first->is_sealed ? NAN : failed;
}

void monitors_join(verdict *v)
{
    verdict_monitor **monitors;
    uint32_t sealed = 0;

    g_ptr_array_set_size(v->monitors, 0);
    wmem_free_all(v->pool);
    wmem_map_t *by_key = wmem_map_new(v->pool, wmem_str_hash, g_str_equal);
    monitors = wmem_alloc_array(v->pool, verdict_monitor *, v->queries->len + 1); /* of each query */
    for (unsigned aside = 0; aside < 2; aside++) {
        for (unsigned i = 0; i < v->queries->len; i++) {
            const verdict_query *query = g_ptr_array_index(v->queries, i);
            if (is_aside(query) == aside) {
                monitors[i] = add_query(v, by_key, query);
            }
        }
    }
    for (unsigned i = 0; i < v->calls->len; i++) {
        monitor_call call = g_array_index(v->calls, monitor_call, i);
        if (is_list_of_names(&call)) {
            call.outcome = CALL_DONE;
            call.asks = false;
        }
        wmem_array_append_one(monitors[call.query->place]->list, call);
    }
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        monitor->calls = wmem_array_get_raw(monitor->list);
        monitor->end = monitor->calls + wmem_array_get_count(monitor->list);
        sum_queries(monitor, &sealed);
        if (monitor->number > 0) { /* else the server knows none */
            describe_handles(monitor);
        }
        if (monitor->first->is_sealed) {
            settle_sealed(monitor);
        }
        find_intervals(monitor);
        count_samples(monitor);
    }
}

const char *monitor_server(const verdict_monitor *monitor)
{
    const verdict_query *first = monitor->first;

    return first && first->called ? first->called : monitor->pair ? monitor->pair->called : first->server;
}

bool monitor_has(const verdict_monitor *monitor, verdict_kind kind)
{
    const verdict_finding *finding = monitor->findings;

    while (finding && finding->kind != kind) {
        finding = finding->next;
    }
    return finding != NULL;
}

void monitor_add_finding(verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                         const verdict_evidence *shown, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    verdict_add_finding(monitor->pool, &monitor->findings, kind, party, shown,
                        monitor->last_sampled <= shown->until.frame, monitor_server(monitor),
                        monitor->stats.texts[STAT_CLIENT], wmem_strdup_vprintf(monitor->pool, format, arguments));
    va_end(arguments);
}

bool monitor_is_none_late(const verdict_monitor *monitor)
{
    bool is_marked = false;

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        is_marked |= monitor_query(monitor, i)->is_marked;
    }
    return monitor->timing.is_even && !monitor->timing.is_any_long && !steps_times().was_set &&
           monitor->stats.numbers[STAT_LATE_ANSWERED] == 0 && !is_marked;
}
