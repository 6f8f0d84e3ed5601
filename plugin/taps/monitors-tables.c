/* monitors-tables.c
 * Tables of monitors, and so windows: `-z pcq,monitors[,FILTER]`, the summary, with a row for each finding, worst first, and for each
 * monitor; `-z pcq,queries[,FILTER]`, what queries, or handles of HKEY_PERFORMANCE_DATA, were used for, with a row for each monitor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/accounts.h"
#include "taps/monitors.h"
#include "taps/table.h"

#include <math.h>

typedef struct {
    taps_table table; /* first: Wireshark's listener points to it */
    monitors *monitors;
} monitors_table;

/* All are made anew each time: they are known by their numbers. */
static unsigned next_row(taps_table *t, const char *text)
{
    char key[16];

    snprintf(key, sizeof key, "%u", t->rows->len);
    unsigned row = *(unsigned *)table_row(t, key, text, NULL);
    table_set_text(t, row, 0, text);
    return row;
}

static void count(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    monitors *m = ((monitors_table *)t)->monitors;

    monitors_count(m, pinfo, tapped);
    if (t->in_window && monitors_are_due(m)) {
        t->judge(t);
    }
}

static void begin(taps_table *t)
{
    monitors_reset(((monitors_table *)t)->monitors);
}

/* --- Findings -------------------------------------------------------------------------------------------------- */

#define FINDING_COLUMNS(X) \
    X(FINDING, TABLE_ITEM_STRING, "Finding", NULL, 0) \
    X(TIMES, TABLE_ITEM_FLOAT, "Times", "%.0f", 0) \
    X(FIRST_FRAME, TABLE_ITEM_FLOAT, "First frame", "%.0f", 0) \
    X(FINDING_INTERVAL, TABLE_ITEM_FLOAT, "Interval (s)", "%.6f", 0) \
    X(FINDING_RESPONSE, TABLE_ITEM_FLOAT, "Response (s)", "%.6f", 0) \
    X(FINDING_CLIENT, TABLE_ITEM_STRING, "Client", NULL, 0) \
    X(FINDING_SERVER, TABLE_ITEM_STRING, "Server", NULL, 0) \
    X(WHICH, TABLE_ITEM_STRING, "First of them", NULL, 0)

enum { FINDING_COLUMNS(TABLE_NUMBER) NUM_FINDING_COLUMNS };

static const table_column finding_columns[] = {FINDING_COLUMNS(TABLE_COLUMN)};

/* The number stands first: so what is worst stands at the top, also where a window sorts. */
static unsigned put_row(taps_table *t, const monitor *of, const char *what, uint64_t times)
{
    char *text = g_strdup_printf("%3u. %s", t->rows->len + 1, what);

    unsigned row = next_row(t, g_strdelimit(text, "_", ' '));
    g_free(text);
    table_set_number(t, row, TIMES, (double)times);
    table_set_text(t, row, FINDING_CLIENT, of->client);
    table_set_text(t, row, FINDING_SERVER, of->server);
    return row;
}

static void put_findings(taps_table *t, const monitor *of)
{
    for (unsigned finding = 0; finding < MONITOR_NUM_FINDINGS; finding++) {
        const monitor_finding *found = &of->findings[finding];
        if (found->count > 0) {
            unsigned row = put_row(t, of, monitor_finding_kinds[finding].name, found->count);
            table_set_number(t, row, FIRST_FRAME, found->frame);
            table_set_text(t, row, WHICH, found->what ? found->what : "");
        }
    }
}

static void judge_findings(taps_table *t)
{
    monitors *m = ((monitors_table *)t)->monitors;

    table_clear(t);
    monitors_judge(m);
    for (unsigned i = 0; i < m->all->len; i++) {
        const monitor *of = g_ptr_array_index(m->all, i);
        put_findings(t, of);
        unsigned row = put_row(t, of, monitor_is_healthy(of) ? "all is well" : "samples", of->samples);
        if (of->pace.intervals.count > 0) {
            table_set_number(t, row, FINDING_INTERVAL, perf_spread_median(&of->pace.intervals));
        }
        if (of->responses.count > 0) {
            table_set_number(t, row, FINDING_RESPONSE, perf_spread_median(&of->responses));
        }
    }
}

/* --- Queries --------------------------------------------------------------------------------------------------- */

#define COLUMNS(X) \
    X(HANDLE, TABLE_ITEM_STRING, "Handle", NULL, 0) \
    X(SAMPLES, TABLE_ITEM_UINT, "Samples", "%u", 0) \
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
    X(ACCOUNT, TABLE_ITEM_STRING, "Account", NULL, 0) \
    X(PROBES, TABLE_ITEM_FLOAT, "Size probes", "%.0f", 0) \
    X(NO_DATA, TABLE_ITEM_FLOAT, "No data", "%.0f", 0)

enum { COLUMNS(TABLE_NUMBER) NUM_COLUMNS };

static const table_column columns_shown[] = {COLUMNS(TABLE_COLUMN)};

static void show_intervals(taps_table *t, unsigned row, const monitor *of)
{
    double interval = perf_spread_median(&of->pace.intervals);

    table_set_number(t, row, INTERVAL, interval);
    table_set_number(t, row, JITTER, perf_spread_deviation(&of->pace.intervals, interval));
    table_set_number(t, row, LONGEST, of->longest);
}

static void show_frame(taps_table *t, unsigned row, unsigned column, uint32_t frame, const char *none)
{
    char text[32];

    snprintf(text, sizeof text, "frame %u", frame);
    table_set_text(t, row, column, frame != 0 ? text : none);
}

static void show_handle(taps_table *t, unsigned row, const monitor *of)
{
    if (of->is_sealed) {
        table_set_text(t, row, OPENED,
                       of->handles > 1 ? "sealed (intervals by the capture's clock; one by the sizes of its requests)"
                                       : "sealed (intervals by the capture's clock)");
        return;
    }
    /* a filter may have left out the call that closed it */
    const state_handle *newest = of->newest.handle;

    show_frame(t, row, OPENED, of->opened_frame, "before the capture");
    show_frame(t, row, CLOSED, newest ? newest->closed_frame : of->newest.closed_frame, "left open");
    table_set_number(t, row, COUNTERS, (double)of->newest.counters);
    table_set_number(t, row, REFUSED, (double)of->refusals);
    table_set_number(t, row, FAILED, (double)of->failed);
}

static void show_figures(taps_table *t, unsigned row, const monitor *of)
{
    show_handle(t, row, of);
    table_set_text(t, row, CLIENT, of->client);
    table_set_text(t, row, SERVER, of->server);
    table_set_text(t, row, ACCOUNT, of->account);
    table_set_number(t, row, PROBES, (double)(of->probes + of->talk.probes));
    table_set_number(t, row, NO_DATA, (double)(of->no_data + of->talk.no_data));
    if (of->num_offsets > 0) {
        table_set_number(t, row, CLOCK, of->offsets / (double)of->num_offsets);
    }
    if (of->pace.intervals.count > 0) {
        show_intervals(t, row, of);
    }
    if (of->responses.count > 0) {
        table_set_number(t, row, RESPONSE, perf_spread_median(&of->responses));
        table_set_number(t, row, SLOWEST, of->slowest);
        table_set_number(t, row, SLOWEST_FRAME, of->slowest_frame);
    }
}

static void show_query(taps_table *t, const monitor *of, uint32_t number)
{
    const char *kind = of->is_sealed ? "sealed" : of->kind == PERF_HANDLE_HKPD ? "handle" : "query";
    char text[64], more[32] = "";

    if (of->handles > 1) {
        snprintf(more, sizeof more, " and %" PRIu64 " more", of->handles - 1);
    }
    snprintf(text, sizeof text, "%s %u%s", kind, number, more);
    unsigned row = next_row(t, of->is_other ? TABLE_OTHERS : text);
    table_set_count(t, row, SAMPLES, of->samples);
    table_set_count(t, row, LATE_ASKED, of->findings[MONITOR_ASKED_LATE].count);
    table_set_count(t, row, LATE_ANSWERED, of->findings[MONITOR_ANSWERED_LATE].count);
    if (of->samples > 0) {
        table_set_number(t, row, SIZE, round((double)of->bytes / (double)of->samples));
    }
    if (!of->is_other) {
        show_figures(t, row, of);
    }
}

/* Not what has no handle, or one that the server does not know, as far as was seen by now. */
static void judge_queries(taps_table *t)
{
    monitors *m = ((monitors_table *)t)->monitors;
    uint32_t sealed = 0;

    table_clear(t);
    monitors_join(m);
    for (unsigned i = 0; i < m->all->len; i++) {
        const monitor *of = g_ptr_array_index(m->all, i);
        if (of->is_sealed) {
            show_query(t, of, ++sealed);
        } else if (of->number > 0 || of->is_other) {
            show_query(t, of, of->number);
        }
    }
}

void monitors_tables_register(void)
{
    static monitors_table queries = {
        .table = {.ui = {.title = "Performance Counter Queries", .cli_string = "pcq,queries", .nfields = NUM_COLUMNS},
                  .columns = columns_shown,
                  .row_size = sizeof(unsigned),
                  .watch = accounts_watch,
                  .begin = begin,
                  .count = count,
                  .judge = judge_queries},
    };
    static monitors_table findings = {
        .table = {.ui = {.title = "Performance Counter Monitors",
                         .cli_string = "pcq,monitors",
                         .nfields = NUM_FINDING_COLUMNS},
                  .columns = finding_columns,
                  .row_size = sizeof(unsigned),
                  .watch = monitors_watch,
                  .begin = begin,
                  .count = count,
                  .judge = judge_findings},
    };

    queries.monitors = monitors_new(false);
    findings.monitors = monitors_new(true);
    table_register(&queries.table);
    table_register(&findings.table);
}
