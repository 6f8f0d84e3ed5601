/* monitor-samples.c
 * Monitors, joined of their queries: samples, timing, statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "perf/summary.h"

#include <math.h>

#define PROBE_S 0.5        /* seconds in which data follows a size probe while no interval is known */
#define FAILED_S 5.0       /* seconds after which a sealed response without data has failed, and */
#define FAILED_INTERVALS 3 /* intervals without data */

/* --- Monitors ----------------------------------------------------------------------------------------------------- */

static int compare_calls(const void *a, const void *b)
{
    const monitor_call *x = a, *y = b;
    uint32_t frame_x = x->frame ? x->frame : x->asked_frame, frame_y = y->frame ? y->frame : y->asked_frame;

    return frame_x != frame_y ? (frame_x > frame_y) - (frame_x < frame_y)
                              : (x->asked_frame > y->asked_frame) - (x->asked_frame < y->asked_frame);
}

/* Returns "NAME (ADDRESS)", the address alone if the name is not known (NULL) or is the address. */
static const char *format_server(wmem_allocator_t *pool, const char *called, const char *server)
{
    bool has_name = called && strcmp(called, server) != 0;

    return has_name ? wmem_strdup_printf(pool, "%s (%s)", called, server) : server;
}

/* Returns a monitor without queries and calls, its counts 0, other numbers NAN. `first`: its query, NULL: none; `pair`: NULL: not by TCP. */
static verdict_monitor *monitor_new(wmem_allocator_t *pool, verdict_peers *pair, const verdict_query *first)
{
    verdict_monitor *monitor = wmem_new0(pool, verdict_monitor);

    monitor->pool = pool;
    monitor->pair = pair;
    monitor->first = first;
    monitor->queries = wmem_array_new(pool, sizeof first);
    for (unsigned i = 0; i < NUM_STATS; i++) {
        monitor->stats.numbers[i] = NAN;
    }
    monitor->stats.numbers[STAT_SAMPLES] = monitor->stats.numbers[STAT_PROBES] = 0;
    monitor->stats.numbers[STAT_LATE_ASKED] = monitor->stats.numbers[STAT_LATE_ANSWERED] = 0;
    monitor->stats.texts[STAT_CLIENT] = monitor_client(monitor);
    return monitor;
}

verdict_monitor *monitor_new_of_peers(wmem_allocator_t *pool, verdict_peers *pair)
{
    verdict_monitor *monitor = monitor_new(pool, pair, NULL);

    monitor->stats.texts[STAT_ACCOUNT] = "";
    monitor->stats.texts[STAT_SERVER] = format_server(pool, pair->called, pair->server);
    return monitor;
}

/* Returns a key that all queries of one protocol, client, server and account have. */
static const char *format_peers(wmem_allocator_t *pool, const verdict_query *query)
{
    return wmem_strdup_printf(pool, "%d %s %s %s", query->is_hkpd, query->client,
                              query->pair ? query->pair->server : query->server, query->account);
}

/* Returns the key of a query's monitor. A query whose counters are not known has a key, and a monitor, of its own. */
static const char *format_monitor_key(wmem_allocator_t *pool, const verdict_query *query)
{
    return query->asked_for > 0 ? wmem_strdup_printf(pool, "%d %u %s %s", query->is_sealed, query->asked_for,
                                                     format_peers(pool, query), query->server)
                                : wmem_strdup_printf(pool, "%u", query->place);
}

/* Returns true for calls without a query, and a question without a sample: they join their peers' first monitor, and count as no query there. */
static bool is_aside(const verdict_query *query)
{
    return query->is_of_peers || (query->is_hkpd && !query->is_sealed && query->samples == 0);
}

/* Adds a query to the monitor of its key. Needs: those that are not aside come first. Changes: creates the monitor if there is none. */
static void add_query(const verdict *v, wmem_map_t *by_key, const verdict_query *query)
{
    const char *peers = format_peers(v->pool, query), *key = format_monitor_key(v->pool, query);
    verdict_monitor *monitor = wmem_map_lookup(by_key, key);
    bool is_own = monitor != NULL || !is_aside(query);

    key = is_own ? key : peers;
    monitor = monitor ? monitor : wmem_map_lookup(by_key, key);
    if (monitor == NULL) {
        monitor = monitor_new(v->pool, query->pair, query);
        g_ptr_array_add(v->monitors, monitor);
        wmem_map_insert(by_key, key, monitor);
    }
    if (!query->is_sealed && !wmem_map_contains(by_key, peers)) {
        wmem_map_insert(by_key, peers, monitor);
    }
    wmem_array_append_one(monitor->queries, query);
    monitor->num_queries += is_own;
}

static void join_calls(verdict_monitor *monitor)
{
    unsigned size = 0;

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        size += monitor_query(monitor, i)->calls->len;
    }
    monitor->calls = monitor->end = wmem_alloc_array(monitor->pool, monitor_call, size + 1);
    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const GArray *calls = monitor_query(monitor, i)->calls;
        for (unsigned n = 0; n < calls->len; n++) {
            *monitor->end++ = g_array_index(calls, monitor_call, n);
        }
    }
    qsort(monitor->calls, size, sizeof *monitor->calls, compare_calls);
}

/* --- Samples ------------------------------------------------------------------------------------------------------ */

/* Makes rare samples of a sealed key CALL_DONE, as lists of names: asked once or twice, while another question is asked more often. */
static void settle_names(const verdict_monitor *monitor)
{
    enum { FEWEST = 3 };
    wmem_map_t *asked = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);
    unsigned most = 0;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        void *question = GUINT_TO_POINTER(call->subject);
        unsigned times = GPOINTER_TO_UINT(wmem_map_lookup(asked, question)) + (call->outcome == CALL_SAMPLE);
        wmem_map_insert(asked, question, GUINT_TO_POINTER(times));
        most = MAX(most, times);
    }
    for (monitor_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_rare = GPOINTER_TO_UINT(wmem_map_lookup(asked, GUINT_TO_POINTER(call->subject))) < FEWEST;
        if (call->outcome == CALL_SAMPLE && is_rare && most >= FEWEST) {
            call->outcome = CALL_DONE;
            call->asks = false;
        }
    }
}

/* Returns the median interval of samples in seconds, 0: not known. If n sealed queries are open, an interval goes from a sample to the nth behind. */
static double find_usual_time(const verdict_monitor *monitor)
{
    double *times = wmem_alloc_array(monitor->pool, double, monitor->end - monitor->calls + 1);
    uint32_t count = 0, stride = 1;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        times[count] = call->asked;
        count += call->outcome == CALL_SAMPLE && call->asked > 0;
        stride = MAX(stride, call->num_open);
    }
    count = count > stride ? count - stride : 0;
    for (uint32_t i = 0; i < count; i++) {
        times[i] = times[i + stride] - times[i];
    }
    return perf_median(times, count);
}

/* Settles sealed responses without data. Data within `soon` seconds: it was a size probe. No data for three intervals, and 5 s: all stay CALL_EMPTY.
 * Else CALL_DONE: nothing is known. `usual`: seconds between samples. */
static void settle_sealed(const verdict_monitor *monitor, double usual, double soon)
{
    double patience = MAX(FAILED_INTERVALS * usual, FAILED_S);
    monitor_call *first = NULL; /* response without data since the last sample */

    for (monitor_call *call = monitor->calls; call <= monitor->end; call++) {
        bool has_data = call < monitor->end && call->outcome == CALL_SAMPLE;
        double next = has_data ? call->asked : steps_times().last;
        if (call < monitor->end && call->outcome == CALL_EMPTY) {
            first = first ? first : call;
        }
        for (monitor_call *one = first; one && one < call && (has_data || call == monitor->end); one++) {
            if (one->outcome == CALL_EMPTY) {
                one->outcome = has_data && next - one->answered <= soon ? CALL_PROBE
                               : next - first->answered >= patience     ? CALL_EMPTY
                                                                        : CALL_DONE;
            }
        }
        first = has_data ? NULL : first;
    }
}

static int compare_samples(const void *a, const void *b)
{
    const monitor_call *x = a, *y = b;

    return x->asked != y->asked ? (x->asked > y->asked) - (x->asked < y->asked)
                                : (x->asked_frame > y->asked_frame) - (x->asked_frame < y->asked_frame);
}

/* Fills `samples`, by time, with copies of requests for counter data; of a key only those of the monitor's question. A size probe and its query's
 * next request within `soon` seconds are one: `asked` is the probe's, `sent` the latter's. */
static void take_samples(verdict_monitor *monitor, double soon)
{
    wmem_map_t *probes =
        wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal); /* query -> its newest sample, if without data */
    uint32_t count = 0;

    monitor->samples = wmem_alloc_array(monitor->pool, monitor_call, monitor->end - monitor->calls + 1);
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        monitor->samples[count] = *call;
        monitor->samples[count].sent = call->asked > 0 ? call->asked : call->answered;
        monitor->samples[count].asked = monitor->samples[count].sent;
        count += call->asks && (!call->query->is_hkpd || call->query->asked_for == monitor->first->asked_for);
    }
    qsort(monitor->samples, count, sizeof *monitor->samples, compare_samples);
    for (uint32_t i = 0; i < count; i++) {
        monitor_call sample = monitor->samples[i], *probe = wmem_map_lookup(probes, sample.query);
        bool lacks_data = sample.outcome == CALL_PROBE || sample.outcome == CALL_DONE ||
                          (sample.outcome == CALL_EMPTY && sample.query->is_sealed);
        bool is_repetition = probe && sample.asked - probe->sent < soon;
        sample.asked = is_repetition ? probe->asked : sample.asked;
        probe = is_repetition ? probe : &monitor->samples[monitor->num_samples++];
        *probe = sample;
        wmem_map_insert(probes, sample.query, lacks_data ? probe : NULL);
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

/* Fills samples, gaps and timing of a monitor. Changes: settles outcomes of its sealed calls first. */
static void take_timing(verdict_monitor *monitor)
{
    if (monitor->first->is_sealed && monitor->first->is_hkpd) {
        settle_names(monitor);
    }
    double usual = find_usual_time(monitor), soon = usual > 0 ? usual / TIMING_PROBE_SHARE : PROBE_S;
    if (monitor->first->is_sealed) {
        settle_sealed(monitor, usual, soon);
    }
    take_samples(monitor, soon);
    monitor->gaps = wmem_alloc_array(monitor->pool, timing_gap, monitor->num_samples + 1);
    monitor->timing = timing_judge(make_requests(monitor), monitor->num_samples, monitor->gaps);
}

/* --- Statistics --------------------------------------------------------------------------------------------------- */

/* Fills statistics of samples: number, bytes, response times, seconds that the server's time of day is ahead of the capture's. That is ignored if
 * it is off by decades. `seconds`, `offsets`: scratch, with room for all calls and one more. */
static void count_samples(verdict_monitor *monitor, double *seconds, double *offsets)
{
    const double most = 1e9; /* seconds, of a clock that is set at all */
    double *stats = monitor->stats.numbers, bytes = 0, slowest = -1;
    unsigned num_seconds = 0, num_offsets = 0;

    stats[STAT_PROBES] = stats[STAT_NO_DATA] = 0;
    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_sample = call->outcome == CALL_SAMPLE;
        stats[STAT_SAMPLES] += is_sample;
        bytes += is_sample ? call->size : 0;
        stats[STAT_PROBES] += call->outcome == CALL_PROBE;
        stats[STAT_NO_DATA] += call->asks && (call->outcome == CALL_FAILED || call->outcome == CALL_EMPTY);
        if (is_sample && call->seconds >= 0) {
            stats[STAT_SLOWEST_FRAME] = call->seconds > slowest ? call->frame : stats[STAT_SLOWEST_FRAME];
            stats[STAT_SLOWEST] = slowest = MAX(slowest, call->seconds);
            seconds[num_seconds++] = call->seconds;
        }
        offsets[num_offsets] = call->date - call->answered;
        num_offsets += is_sample && fabs(offsets[num_offsets]) < most;
    }
    stats[STAT_SIZE] = stats[STAT_SAMPLES] > 0 ? round(bytes / stats[STAT_SAMPLES]) : NAN;
    stats[STAT_RESPONSE] = num_seconds > 0 ? perf_median(seconds, num_seconds) : NAN;
    stats[STAT_CLOCK] = num_offsets > 0 ? perf_median(offsets, num_offsets) : NAN;
}

/* Fills the statistics of gaps: interval, jitter, longest; without gaps they stay NAN. `numbers`: scratch, with room for all gaps. */
static void find_intervals(verdict_monitor *monitor, double *numbers)
{
    double *stats = monitor->stats.numbers;
    const timing_verdict *timing = &monitor->timing;

    if (timing->num_gaps > 0) {
        for (uint32_t i = 0; i < timing->num_gaps; i++) {
            numbers[i] = fabs(monitor->gaps[i].seconds - timing->usual);
        }
        stats[STAT_INTERVAL] = timing->usual;
        stats[STAT_JITTER] = perf_median(numbers, timing->num_gaps);
        stats[STAT_LONGEST] = monitor->gaps[timing->longest].seconds;
    }
}

/* Fills the texts of Query, Opened and Closed. Needs: the monitor's number. */
static void describe_handles(verdict_monitor *monitor)
{
    const verdict_query *first = monitor->first, *last = monitor_query(monitor, MAX(monitor->num_queries, 1) - 1);
    const char **texts = monitor->stats.texts, *kind = first->is_sealed ? "sealed" : monitor_handle_word(monitor);
    unsigned more = MAX(monitor->num_queries, 1) - 1;
    uint32_t closed = query_closed_frame(last);

    texts[STAT_HANDLE] =
        wmem_strdup_printf(monitor->pool, more > 0 ? "%s %u and %u more" : "%s %u", kind, monitor->number, more);
    if (first->is_sealed) {
        texts[STAT_OPENED] = more > 0 ? "sealed (intervals by the capture's clock; one by the sizes of its requests)"
                                      : "sealed (intervals by the capture's clock)";
        return;
    }
    texts[STAT_OPENED] = first->opened_frame > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", first->opened_frame)
                                                 : "before the capture";
    texts[STAT_CLOSED] = closed > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", closed) : "left open";
}

/* Fills the statistics of counters: refused and failed of all queries; their number by the newest query. */
static void sum_queries(verdict_monitor *monitor)
{
    double *stats = monitor->stats.numbers;

    stats[STAT_REFUSED] = stats[STAT_FAILED] = 0;
    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const verdict_query *query = monitor_query(monitor, i);
        stats[STAT_COUNTERS] = query->is_of_peers ? stats[STAT_COUNTERS] : query->counters;
        stats[STAT_FAILED] += (double)query->failed_blocks;
        stats[STAT_REFUSED] += (double)query->problems[PROBLEM_REFUSED].things;
    }
}

/* Fills number, samples, timing and statistics of a monitor. Needs: join_calls(). Changes: `sealed`: number of the newest sealed monitor. */
static void learn_monitor(verdict_monitor *monitor, uint32_t *sealed)
{
    const verdict_query *first = monitor->first;
    size_t room = (size_t)(monitor->end - monitor->calls) + 1;
    double *numbers = wmem_alloc_array(monitor->pool, double, 2 * room);

    monitor->stats.texts[STAT_SERVER] =
        format_server(monitor->pool, first->is_sealed ? NULL : first->called, first->server);
    monitor->stats.texts[STAT_ACCOUNT] = first->account;
    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries) && monitor->number == 0; i++) {
        monitor->number = first->is_sealed ? ++*sealed : monitor_query(monitor, i)->number;
    }
    if (monitor->number > 0) { /* else the server knows none */
        describe_handles(monitor);
    }
    if (!first->is_sealed) {
        sum_queries(monitor);
    }
    take_timing(monitor);
    find_intervals(monitor, numbers);
    count_samples(monitor, numbers, numbers + room);
}

void monitors_join(verdict *v)
{
    uint32_t sealed = 0;

    g_ptr_array_set_size(v->monitors, 0);
    wmem_free_all(v->pool);
    wmem_map_t *by_key = wmem_map_new(v->pool, wmem_str_hash, g_str_equal);
    for (unsigned aside = 0; aside < 2; aside++) {
        for (unsigned i = 0; i < v->queries->len; i++) {
            const verdict_query *query = g_ptr_array_index(v->queries, i);
            if (is_aside(query) == aside) {
                add_query(v, by_key, query);
            }
        }
    }
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        join_calls(monitor);
        learn_monitor(monitor, &sealed);
    }
}

const char *monitor_server(const verdict_monitor *monitor)
{
    const verdict_query *first = monitor->first;

    return first && first->called ? first->called : monitor->pair ? monitor->pair->called : first->server;
}

const char *monitor_client(const verdict_monitor *monitor)
{
    return monitor->first ? monitor->first->client : monitor->pair->client;
}

bool monitor_has(const verdict_monitor *monitor, verdict_kind kind)
{
    const verdict_finding *finding = monitor->findings;

    while (finding && finding->kind != kind) {
        finding = finding->next;
    }
    return finding != NULL;
}

static bool has_sample_after(const verdict_monitor *monitor, uint32_t frame)
{
    const monitor_call *call = monitor->end;

    while (call > monitor->calls && (call[-1].outcome != CALL_SAMPLE || call[-1].frame < frame)) {
        call--;
    }
    return call > monitor->calls && call[-1].frame > frame;
}

void monitor_add_finding(verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                         const verdict_evidence *shown, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    verdict_add_finding(&monitor->findings, kind, party, shown, !has_sample_after(monitor, shown->last),
                        monitor_server(monitor), monitor_client(monitor),
                        wmem_strdup_vprintf(monitor->pool, format, arguments));
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

bool peers_have_loss(const verdict_peers *pair, double begin, double end)
{
    for (unsigned i = 0; pair && i < wmem_array_get_count(pair->losses); i++) {
        const verdict_span *loss = wmem_array_index(pair->losses, i);
        if (loss->until >= begin && loss->since <= end) {
            return true;
        }
    }
    return false;
}
