/* queries-table.c
 * `-z pcq,queries[,FILTER]`: what each query, or handle of HKEY_PERFORMANCE_DATA, was used for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/accounts.h"
#include "taps/pace.h"
#include "taps/table.h"

#include <math.h>

#include <epan/to_str.h>

/* 1 January 1970 as FILETIME, and its units. */
#define EPOCH_1970 116444736000000000
#define UNITS_A_SECOND 1e7

/* A server's clock is not that far off: then it is none (some count from the start of the machine). */
#define MAX_CLOCK_OFFSET 1e9

/* One handle. */
typedef struct {
    unsigned row;
    const state_handle *handle; /* NULL of a sealed connection's and of the row that all others share */
    bool is_sealed;
    bool is_hkpd;
    uint32_t closed_frame; /* 0: left open */
    uint64_t samples;
    uint64_t bytes;
    uint64_t refused; /* identifiers */
    uint64_t failed;  /* blocks */
    uint64_t counters;
    int64_t unknown;       /* of them, that no ValidateCounters in the capture added */
    perf_point clocks;     /* of the last sample */
    nstime_t request_time; /* a sealed one, by the capture's clock */
    perf_summary offsets;
    pace pace;
} query;

#define COLUMNS(X) \
    X(HANDLE, TABLE_ITEM_STRING, "Handle", NULL, 0) \
    X(SAMPLES, TABLE_ITEM_UINT, "Samples", "%u", offsetof(query, samples)) \
    X(INTERVAL, TABLE_ITEM_FLOAT, "Interval (s)", "%.6f", 0) \
    X(JITTER, TABLE_ITEM_FLOAT, "Jitter (s)", "%.6f", 0) \
    X(LONGEST, TABLE_ITEM_FLOAT, "Longest (s)", "%.6f", 0) \
    X(LATE_ASKED, TABLE_ITEM_UINT, "Late asked", "%u", 0) \
    X(LATE_ANSWERED, TABLE_ITEM_UINT, "Late answered", "%u", 0) \
    X(RESPONSE, TABLE_ITEM_FLOAT, "Response (s)", "%.6f", 0) \
    X(SLOWEST, TABLE_ITEM_FLOAT, "Slowest (s)", "%.6f", 0) \
    X(SLOWEST_FRAME, TABLE_ITEM_FLOAT, "Slowest frame", "%.0f", 0) \
    X(SIZE, TABLE_ITEM_FLOAT, "Bytes/sample", "%.0f", 0) \
    X(COUNTERS, TABLE_ITEM_FLOAT, "Counters", "%.0f", 0) \
    X(REFUSED, TABLE_ITEM_FLOAT, "Refused", "%.0f", 0) \
    X(FAILED, TABLE_ITEM_FLOAT, "Failed blocks", "%.0f", 0) \
    X(CLOCK, TABLE_ITEM_FLOAT, "Server clock (s)", "%+.3f", 0) \
    X(CLIENT, TABLE_ITEM_STRING, "Client", NULL, 0) \
    X(SERVER, TABLE_ITEM_STRING, "Server", NULL, 0) \
    X(OPENED, TABLE_ITEM_STRING, "Opened", NULL, 0) \
    X(CLOSED, TABLE_ITEM_STRING, "Closed", NULL, 0) \
    X(ACCOUNT, TABLE_ITEM_STRING, "Account", NULL, 0)

enum { COLUMNS(TABLE_NUMBER) NUM_COLUMNS };

static const table_column columns_shown[] = {COLUMNS(TABLE_COLUMN)};

/* --- Life ------------------------------------------------------------------------------------------------------ */

static void free_query(void *data)
{
    query *q = data;

    pace_free(&q->pace);
    g_free(q);
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static query *query_of(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    const state_handle *handle = tapped->handle;
    const char *name = wmem_strdup_printf(pinfo->pool, "%s %u", tapped->is_hkpd ? "hkpd" : "query", handle->number);
    bool is_new = false;
    query *q = table_row(view, handle, name, &is_new);

    if (is_new) {
        const char *server = handle->place ? handle->place : host_address(tapped->server), *machine = handle->machine;
        const address *client = tapped->is_response ? &pinfo->dst : &pinfo->src;
        bool has_name = machine && *machine;
        q->handle = handle;
        q->is_hkpd = tapped->is_hkpd;
        table_set_text(view, q->row, CLIENT, address_to_str(pinfo->pool, client));
        table_set_text(view, q->row, SERVER,
                       has_name ? wmem_strdup_printf(pinfo->pool, "%s (%s)", machine, server) : server);
        table_set_text(view, q->row, ACCOUNT, account_of(pinfo));
        table_set_text(view, q->row, OPENED,
                       handle->opened_frame ? wmem_strdup_printf(pinfo->pool, "frame %u", handle->opened_frame)
                                            : "before the capture");
    }
    return q;
}

static void show_intervals(table_view *view, const query *q)
{
    double interval = perf_spread_median(&q->pace.judged.intervals);

    table_set_number(view, q->row, INTERVAL, interval);
    table_set_number(view, q->row, JITTER, perf_spread_deviation(&q->pace.judged.intervals, interval));
    table_set_number(view, q->row, LONGEST, q->pace.lengths.max);
    table_set_count(view, q->row, LATE_ASKED, q->pace.late[PACE_ASKED_LATE]);
    table_set_count(view, q->row, LATE_ANSWERED, q->pace.late[PACE_ANSWERED_LATE]);
}

static void show(table_view *view, unsigned row)
{
    const query *q = table_data(view, row);
    char closed[32] = "left open";

    if (q->samples > 0) {
        table_set_number(view, row, SIZE, round((double)q->bytes / (double)q->samples));
    }
    if (!q->is_sealed) {
        table_set_number(view, row, COUNTERS, (double)q->counters);
        table_set_number(view, row, REFUSED, (double)q->refused);
        table_set_number(view, row, FAILED, (double)q->failed);
    }
    if (q->closed_frame != 0) {
        snprintf(closed, sizeof closed, "frame %u", q->closed_frame);
    }
    if (q->handle) {
        table_set_text(view, row, CLOSED, closed);
    }
    if (q->offsets.count > 0) {
        table_set_number(view, row, CLOCK, perf_summary_mean(&q->offsets));
    }
    if (q->pace.judged.intervals.count > 0) {
        show_intervals(view, q);
    }
    if (q->pace.responses.count > 0) {
        table_set_number(view, row, RESPONSE, perf_spread_median(&q->pace.responses));
        table_set_number(view, row, SLOWEST, q->pace.slowest);
        table_set_number(view, row, SLOWEST_FRAME, q->pace.slowest_frame);
    }
}

/* --- Samples --------------------------------------------------------------------------------------------------- */

static void count_sample(query *q, packet_info *pinfo, const tapped_call *tapped)
{
    const perf_point *clocks = &readings_begin_for_all(pinfo->pool, tapped->answer)->current->clocks;
    double interval = q->samples > 0 ? perf_interval(clocks, &q->clocks) : 0;
    double seconds = ((double)(int64_t)(clocks->time_100ns - EPOCH_1970)) / UNITS_A_SECOND;
    double offset = seconds - (double)pinfo->abs_ts.secs - pinfo->abs_ts.nsecs / 1e9;

    if ((pinfo->presence_flags & PINFO_HAS_TS) && fabs(offset) < MAX_CLOCK_OFFSET) {
        perf_summary_add(&q->offsets, offset);
    }
    if (interval > 0) {
        pace_add_interval(&q->pace, interval, pinfo->num, tapped->answer->sample);
    }
    q->clocks = *clocks;
    pace_add_response(&q->pace, tapped->seconds, pinfo->num);
    q->failed += tapped->failed;
}

/* Where a ValidateCounters was not captured, the blocks of an answer and QueryCounterInfo say how many it added. */
static void count_counters(query *q, const tapped_call *tapped)
{
    unsigned held = 0, refused;

    if (!q->is_hkpd) {
        query_counts(q->handle, tapped->event, &held, &refused);
    }
    if (tapped->has_counters) {
        q->unknown = (int64_t)tapped->counters - held;
    }
    q->counters = (uint64_t)MAX(q->unknown + held, 0);
    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        q->refused += tapped_is_refused(tapped, i);
    }
}

/* --- Sealed connections ---------------------------------------------------------------------------------------- */

/* Which handle a call is about is sealed, too: a connection's are one. */
static query *sealed_query_of(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    unsigned *number = view->own;
    const char *name = wmem_strdup_printf(pinfo->pool, "sealed %u", *number + 1);
    bool is_new = false;
    query *q = table_row(view, tapped->sealed.connection, name, &is_new);

    if (is_new) {
        const address *client = tapped->is_response ? &pinfo->dst : &pinfo->src;
        ++*number;
        q->is_sealed = true;
        table_set_text(view, q->row, CLIENT, address_to_str(pinfo->pool, client));
        table_set_text(view, q->row, SERVER, host_address(tapped->server));
        table_set_text(view, q->row, OPENED, "sealed (intervals by the capture's clock)");
        table_set_text(view, q->row, ACCOUNT, account_of(pinfo));
    }
    return q;
}

/* The server takes its time when it begins an answer, which may take long and many fragments: the request is next to that. */
static void count_sealed_sample(query *q, packet_info *pinfo, const tapped_call *tapped)
{
    nstime_t interval;

    nstime_delta(&interval, &tapped->sealed.request_time, &q->request_time);
    if (q->samples > 0 && nstime_to_sec(&interval) > 0) {
        pace_add_interval(&q->pace, nstime_to_sec(&interval), pinfo->num, NULL);
    }
    q->request_time = tapped->sealed.request_time;
    pace_add_response(&q->pace, tapped->seconds, pinfo->num);
}

static void count_sealed(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    query *q = sealed_query_of(view, pinfo, tapped);

    q->pace.judged.waited += MAX(tapped->seconds, 0);
    if (tapped->sealed.sample_size > 0) {
        if (q->is_sealed) {
            count_sealed_sample(q, pinfo, tapped);
        }
        q->samples++;
        q->bytes += tapped->sealed.sample_size;
    }
    table_changed(view, q->row);
}

static void count(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    if (tapped->sealed.uses_query) {
        count_sealed(view, pinfo, tapped);
    }
    if (tapped->handle == NULL || tapped->handle->number == 0) {
        return; /* the server does not know the handle, as far as was seen by now */
    }
    query *q = query_of(view, pinfo, tapped);
    if (q->handle) {
        q->pace.judged.waited += MAX(tapped->seconds, 0);
        if (tapped->answer && tapped->answer->sample) {
            count_sample(q, pinfo, tapped);
        }
        if (tapped->is_response) {
            count_counters(q, tapped);
        }
        q->closed_frame = q->handle->closed_frame;
    }
    if (tapped->answer && tapped->answer->sample) {
        q->samples++;
        q->bytes += tvb_reported_length(tapped->answer->tvb);
    }
    table_changed(view, q->row);
}

void queries_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Queries", .cli_string = "pcq,queries", .nfields = NUM_COLUMNS},
        .columns = columns_shown,
        .row_size = sizeof(query),
        .own_size = sizeof(unsigned), /* number of sealed connections */
        .start = accounts_watch,
        .count = count,
        .show = show,
        .free_row = free_query,
    };

    table_register(&table);
}
