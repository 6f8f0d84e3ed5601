/* queries-table.c
 * `-z pcq,queries[,FILTER]`: what each query, or handle of HKEY_PERFORMANCE_DATA, was used for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/table.h"
#include "perf/summary.h"

#include <math.h>

#include <epan/to_str.h>

/* 1 January 1970 as FILETIME, and its units. */
#define EPOCH_1970 116444736000000000
#define UNITS_A_SECOND 1e7

/* A server's clock is not that far off: then it is none (some count from the start of the machine). */
#define MAX_CLOCK_OFFSET 1e9

enum {
    HANDLE,
    SAMPLES,
    INTERVAL,
    JITTER,
    LONGEST,
    SIZE,
    COUNTERS,
    REFUSED,
    CLOCK,
    CLIENT,
    SERVER,
    OPENED,
    CLOSED,
    NUM_COLUMNS
};

static stat_tap_table_item columns_shown[NUM_COLUMNS] = {
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Handle", "%s"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Samples", "%u"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Interval (s)", "%.6f"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Jitter (s)", "%.6f"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Longest (s)", "%.6f"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Bytes/sample", "%.0f"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Counters", "%u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Refused", "%u"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Server clock (s)", "%+.3f"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Client", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Server", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Opened", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Closed", "%s"},
};

/* One handle. */
typedef struct {
    unsigned row;
    const state_handle *handle; /* NULL of the row that all others share */
    bool is_hkpd;
    uint32_t closed_frame; /* 0: left open */
    uint64_t samples;
    uint64_t bytes;
    uint32_t counters;
    uint32_t refused;
    perf_point clocks; /* of the last sample */
    perf_summary offsets;
    perf_summary lengths;
    perf_spread intervals;
} query;

/* Of one view. */
typedef struct {
    GHashTable *queries; /* state_handle -> query, of those that the capture still knows */
} queries;

/* --- Life ------------------------------------------------------------------------------------------------------ */

static void free_query(void *data)
{
    query *q = data;

    perf_spread_free(&q->intervals);
    g_free(q);
}

static void begin(table_view *view)
{
    ((queries *)view->own)->queries = g_hash_table_new(NULL, NULL);
}

static void end(table_view *view)
{
    g_hash_table_destroy(((queries *)view->own)->queries);
}

/* Later ones are of others. */
static void forget_handles(table_view *view)
{
    g_hash_table_remove_all(((queries *)view->own)->queries);
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static void show_ends(table_view *view, query *q, packet_info *pinfo, const tapped_call *tapped)
{
    const char *server = host_address(tapped->server), *machine = q->handle->machine;
    bool has_name = machine && *machine;

    table_set_text(view, q->row, CLIENT, address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src));
    table_set_text(view, q->row, SERVER,
                   has_name ? wmem_strdup_printf(pinfo->pool, "%s (%s)", machine, server) : server);
    table_set_text(view, q->row, OPENED,
                   q->handle->opened_frame ? wmem_strdup_printf(pinfo->pool, "frame %u", q->handle->opened_frame)
                                           : "before the capture");
}

static query *query_of(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    const state_handle *handle = tapped->handle;
    GHashTable *known = ((queries *)view->own)->queries;
    query *q = g_hash_table_lookup(known, handle);

    if (q) {
        return q;
    }
    if (table_is_full(view)) {
        return table_others(view, sizeof(query));
    }
    q = g_new0(query, 1);
    q->handle = handle;
    q->is_hkpd = tapped->is_hkpd;
    table_add(view, wmem_strdup_printf(pinfo->pool, "%s %u", q->is_hkpd ? "hkpd" : "query", handle->number), q);
    show_ends(view, q, pinfo, tapped);
    g_hash_table_insert(known, (void *)handle, q);
    return q;
}

static void show(table_view *view, unsigned row)
{
    const query *q = table_data(view, row);
    char closed[32] = "left open";

    table_set_count(view, row, SAMPLES, q->samples);
    if (q->samples > 0) {
        table_set_number(view, row, SIZE, round((double)q->bytes / (double)q->samples));
    }
    if (q->handle == NULL) {
        return;
    }
    table_set_count(view, row, COUNTERS, q->counters);
    table_set_count(view, row, REFUSED, q->refused);
    if (q->closed_frame != 0) {
        snprintf(closed, sizeof closed, "frame %u", q->closed_frame);
    }
    table_set_text(view, row, CLOSED, closed);
    if (q->offsets.count > 0) {
        table_set_number(view, row, CLOCK, perf_summary_mean(&q->offsets));
    }
    if (q->intervals.count > 0) {
        double median = perf_spread_median(&q->intervals);
        table_set_number(view, row, INTERVAL, median);
        table_set_number(view, row, JITTER, perf_spread_deviation(&q->intervals, median));
        table_set_number(view, row, LONGEST, q->lengths.max);
    }
}

/* --- Samples --------------------------------------------------------------------------------------------------- */

static void count_clocks(query *q, const packet_info *pinfo, const perf_point *clocks)
{
    double seconds = ((double)(int64_t)(clocks->time_100ns - EPOCH_1970)) / UNITS_A_SECOND;
    double offset = seconds - (double)pinfo->abs_ts.secs - pinfo->abs_ts.nsecs / 1e9;

    if (fabs(offset) < MAX_CLOCK_OFFSET) {
        perf_summary_add(&q->offsets, offset);
    }
    double interval = q->samples > 0 ? perf_interval(clocks, &q->clocks) : 0;
    if (interval > 0) {
        perf_spread_add(&q->intervals, interval);
        perf_summary_add(&q->lengths, interval);
    }
    q->clocks = *clocks;
}

/* Counters of a query are its identifiers; of a block, the definitions of its objects. */
static uint32_t count_definitions(readings *r)
{
    uint32_t count = 0;
    const reading *at;

    while ((at = readings_next(r)) != NULL) {
        count += at->row == 0;
    }
    return count;
}

static void count_answer(query *q, packet_info *pinfo, const tapped_call *tapped)
{
    q->bytes += tvb_reported_length(tapped->answer->tvb);
    if (q->handle != NULL) {
        readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
        count_clocks(q, pinfo, &r->now->clocks);
        if (q->is_hkpd) {
            q->counters = count_definitions(r);
        }
    }
    q->samples++;
}

static void count(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    const state_handle *handle = tapped->handle;

    if (handle == NULL || handle->number == 0) {
        return; /* the server does not know the handle, as far as was seen by now */
    }
    query *q = query_of(view, pinfo, tapped);
    if (tapped->answer && tapped->answer->sample) {
        count_answer(q, pinfo, tapped);
    }
    if (q->handle) {
        if (!q->is_hkpd && tapped->is_response && (tapped->num_identifiers > 0 || tapped->answer)) {
            query_counts(handle, tapped->event, &q->counters, &q->refused);
        }
        q->closed_frame = handle->closed_frame;
    }
    table_changed(view, q->row);
}

void queries_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Queries",
               .cli_string = "pcq,queries",
               .nfields = NUM_COLUMNS,
               .fields = columns_shown},
        .own_size = sizeof(queries),
        .begin = begin,
        .count = count,
        .show = show,
        .forget = forget_handles,
        .end = end,
        .free_row = free_query,
    };

    table_register(&table);
}
