/* queries-table.c
 * `-z pcq,queries[,FILTER]`: what each query, or handle of HKEY_PERFORMANCE_DATA, was used for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/table.h"
#include "readings/tapped.h"
#include "perf/summary.h"

#include <math.h>

#include <epan/tap.h>
#include <epan/to_str.h>

/* Handles with a row of their own; the others share one, of which only samples and their bytes are counted. */
#define MAX_ROWS 100000

/* 1 January 1970 as FILETIME, and its units. */
#define EPOCH_1970 116444736000000000
#define UNITS_A_SECOND 1e7

/* A server's clock is not that far off: then it is none (some count from the start of the machine). */
#define MAX_CLOCK_OFFSET 1e9

/* Columns. Those from the size on stay empty as long as there is nothing to show, and so does all behind them. */
enum {
    HANDLE,
    CLIENT,
    SERVER,
    OPENED,
    CLOSED,
    COUNTERS,
    REFUSED,
    SAMPLES,
    SIZE,
    CLOCK,
    INTERVAL,
    JITTER,
    LONGEST,
    NUM_COLUMNS
};

static stat_tap_table_item columns_shown[NUM_COLUMNS] = {
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Handle", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Client", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Server", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Opened", "%s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Closed", "%s"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Counters", "%u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Refused", "%u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Samples", "%u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bytes/sample", "%u"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Server clock (s)", "%+.3f"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Interval (s)", "%.6f"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Jitter (s)", "%.6f"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Longest (s)", "%.6f"},
};

/* One handle. */
typedef struct {
    const state_handle *handle;
    bool is_hkpd;
    uint32_t row;
    char *texts[SERVER + 1];
    char *opened;
    char *closed;
    uint32_t closed_frame; /* of `closed` */
    uint64_t samples;
    uint64_t bytes;
    uint32_t counters;
    uint32_t refused;
    perf_point clocks; /* of the last sample */
    perf_summary offsets;
    perf_summary lengths;
    perf_spread intervals;
} query;

/* Of the one table that there is; emptied with it. */
static struct {
    taps_table table;
    GPtrArray *all;      /* query, in the order of the rows */
    GHashTable *queries; /* state_handle -> query, of those that the capture still knows */
    query *others;       /* NULL as long as there is room */
} state;

/* --- Life ------------------------------------------------------------------------------------------------------ */

static void free_query(void *data)
{
    query *q = data;

    for (unsigned i = 0; i < array_length(q->texts); i++) {
        g_free(q->texts[i]);
    }
    g_free(q->opened);
    g_free(q->closed);
    perf_spread_free(&q->intervals);
    g_free(q);
}

static void empty(void)
{
    if (state.queries) {
        g_hash_table_destroy(state.queries);
        g_ptr_array_free(state.all, TRUE);
    }
    state.queries = g_hash_table_new(NULL, NULL);
    state.all = g_ptr_array_new_with_free_func(free_query);
    state.others = NULL;
}

/* Handles go with the capture, perhaps in its middle (tshark -M): rows stay, and later ones are of others. */
static void forget_capture(void)
{
    if (state.queries) {
        g_hash_table_remove_all(state.queries);
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static char *server_text(const tapped_call *tapped)
{
    const char *server = host_address(tapped->server), *machine = tapped->handle->machine;

    if (machine == NULL || *machine == '\0') {
        return g_strdup(server);
    }
    char *plain = table_text(machine), *text = g_strdup_printf("%s (%s)", plain, server);
    g_free(plain);
    return text;
}

static query *add_query(const packet_info *pinfo, const tapped_call *tapped)
{
    query *q = g_new0(query, 1);
    char *client = address_to_str(NULL, tapped->is_response ? &pinfo->dst : &pinfo->src);

    q->handle = tapped->handle;
    q->is_hkpd = tapped->is_hkpd;
    q->texts[HANDLE] = g_strdup_printf("%s %u", q->is_hkpd ? "hkpd" : "query", q->handle->number);
    q->texts[CLIENT] = g_strdup(client);
    q->texts[SERVER] = server_text(tapped);
    q->opened =
        q->handle->opened_frame ? g_strdup_printf("frame %u", q->handle->opened_frame) : g_strdup("before the capture");
    wmem_free(NULL, client);
    q->row = table_rows(&state.table);
    stat_tap_table_item_type *row = table_add(&state.table);
    for (unsigned i = 0; i < array_length(q->texts); i++) {
        table_set_text(&row[i], q->texts[i]);
    }
    table_set_text(&row[OPENED], q->opened);
    g_hash_table_insert(state.queries, (void *)q->handle, q);
    g_ptr_array_add(state.all, q);
    return q;
}

/* The row of handles without one of their own. */
static query *others(void)
{
    if (state.others == NULL) {
        query *q = state.others = g_new0(query, 1);
        q->row = table_rows(&state.table);
        q->texts[HANDLE] = g_strdup(TABLE_OTHERS);
        stat_tap_table_item_type *row = table_add(&state.table);
        table_set_text(&row[HANDLE], q->texts[HANDLE]);
        for (unsigned i = CLIENT; i <= CLOSED; i++) {
            table_set_text(&row[i], ""); /* tshark shows a row as far as its first cell without a value */
        }
        g_ptr_array_add(state.all, q);
    }
    return state.others;
}

static query *query_of(const packet_info *pinfo, const tapped_call *tapped)
{
    query *q = g_hash_table_lookup(state.queries, tapped->handle);

    return q ? q : state.all->len < MAX_ROWS ? add_query(pinfo, tapped) : others();
}

static void show_closing(query *q, stat_tap_table_item_type *row)
{
    if (q->closed && q->closed_frame == q->handle->closed_frame) {
        return;
    }
    g_free(q->closed);
    q->closed_frame = q->handle->closed_frame;
    q->closed = q->closed_frame ? g_strdup_printf("frame %u", q->closed_frame) : g_strdup("left open");
    table_set_text(&row[CLOSED], q->closed);
}

static void show_samples(const query *q, stat_tap_table_item_type *row)
{
    table_set_count(&row[SAMPLES], q->samples);
    if (q->samples > 0) {
        table_set_count(&row[SIZE], (q->bytes + q->samples / 2) / q->samples);
    }
}

static void show(query *q)
{
    stat_tap_table_item_type *row = table_row(&state.table, q->row);

    show_samples(q, row);
    table_set_count(&row[COUNTERS], q->counters);
    table_set_count(&row[REFUSED], q->refused);
    if (q == state.others) {
        return;
    }
    show_closing(q, row);
    if (q->samples == 0) {
        return;
    }
    table_set_number(&row[CLOCK], q->offsets.count > 0 ? perf_summary_mean(&q->offsets) : NAN);
    if (q->intervals.count > 0) {
        double median = perf_spread_median(&q->intervals);
        table_set_number(&row[INTERVAL], median);
        table_set_number(&row[JITTER], perf_spread_deviation(&q->intervals, median));
        table_set_number(&row[LONGEST], q->lengths.max);
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
static uint32_t count_counters(readings *r)
{
    uint32_t count = 0;
    const reading *at;

    while ((at = readings_next(r)) != NULL) {
        count += at->row == 0;
    }
    return count;
}

static void count_held(query *q, uint32_t event)
{
    unsigned held, refused;

    query_counts(q->handle, event, &held, &refused);
    q->counters = held;
    q->refused = refused;
}

static void count_answer(query *q, packet_info *pinfo, const tapped_call *tapped)
{
    q->bytes += tvb_reported_length(tapped->answer->tvb);
    if (q == state.others) {
        q->samples++;
        return;
    }
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    count_clocks(q, pinfo, &r->now->clocks);
    q->samples++;
    if (q->is_hkpd) {
        q->counters = count_counters(r);
    }
}

static tap_packet_status count(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                               tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;
    const state_handle *handle = tapped->handle;
    bool counts = handle && handle->number > 0 && !tapped->is_repeated;
    query *q = counts ? query_of(pinfo, tapped) : NULL;

    if (q == NULL) {
        return TAP_PACKET_DONT_REDRAW; /* the server does not know the handle, as far as was seen by now */
    }
    if (tapped->answer && tapped->answer->sample) {
        count_answer(q, pinfo, tapped);
    }
    if (q != state.others && !q->is_hkpd && tapped->is_response && (tapped->num_identifiers > 0 || tapped->answer)) {
        count_held(q, tapped->event);
    }
    show(q);
    return TAP_PACKET_REDRAW;
}

void queries_table_register(void)
{
    static const stat_tap_table_ui ui = {
        .title = "Performance Counter Queries",
        .cli_string = "pcq,queries",
        .packet_func = count,
        .nfields = NUM_COLUMNS,
        .fields = columns_shown,
    };

    table_register(&state.table, &ui, empty);
    register_cleanup_routine(forget_capture);
}
