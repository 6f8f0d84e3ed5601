/* summary-table.c
 * `-z pcq,monitors[,FILTER]`: the summary as a table, and so as a window: a row for each finding, worst first, and for each monitor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/monitors.h"
#include "taps/table.h"

/* From so many rows on a window that is being filled is not made anew with each call. */
#define MANY_ROWS 50

typedef struct {
    monitors *monitors;
    unsigned calls;
} summary_view;

#define COLUMNS(X) \
    X(FINDING, TABLE_ITEM_STRING, "Finding", NULL, 0) \
    X(TIMES, TABLE_ITEM_FLOAT, "Times", "%.0f", 0) \
    X(FIRST_FRAME, TABLE_ITEM_FLOAT, "First frame", "%.0f", 0) \
    X(INTERVAL, TABLE_ITEM_FLOAT, "Interval (s)", "%.6f", 0) \
    X(RESPONSE, TABLE_ITEM_FLOAT, "Response (s)", "%.6f", 0) \
    X(CLIENT, TABLE_ITEM_STRING, "Client", NULL, 0) \
    X(SERVER, TABLE_ITEM_STRING, "Server", NULL, 0) \
    X(WHICH, TABLE_ITEM_STRING, "First of them", NULL, 0)

enum { COLUMNS(TABLE_NUMBER) NUM_COLUMNS };

static const table_column columns_shown[] = {COLUMNS(TABLE_COLUMN)};

#define FINDING_NAME(number, name, ...) name,
static const char *const finding_names[] = {MONITOR_FINDINGS(FINDING_NAME)};

static void begin(table_view *view)
{
    summary_view *own = view->own;

    own->monitors = monitors_new();
}

/* Rows are known by their numbers, whatever capture they are of. */
static void keep(table_view *view _U_)
{
}

static void end(table_view *view)
{
    summary_view *own = view->own;

    monitors_free(own->monitors);
}

static unsigned put_row(table_view *view, unsigned number, const monitor *of, const char *what, uint64_t times)
{
    char key[16], *text = g_strdup_printf("%3u. %s", number, what);

    snprintf(key, sizeof key, "%u", number);
    unsigned row = *(unsigned *)table_row(view, key, text, NULL);
    g_strdelimit(text, "_", ' ');
    table_set_text(view, row, FINDING, text);
    table_set_number(view, row, TIMES, (double)times);
    table_set_text(view, row, CLIENT, of->client);
    table_set_text(view, row, SERVER, of->server);
    g_free(text);
    return row;
}

/* "first": what is worst stands at the top. */
static void judge(table_view *view)
{
    const monitors *m = ((summary_view *)view->own)->monitors;
    unsigned number = 0;

    table_start_over(view);
    monitors_judge(((summary_view *)view->own)->monitors);
    for (unsigned i = 0; i < m->judged->len; i++) {
        const monitor *of = g_ptr_array_index(m->judged, i);
        for (unsigned finding = 0; finding < MONITOR_NUM_FINDINGS; finding++) {
            const monitor_finding *found = &of->findings[finding];
            if (found->count > 0) {
                unsigned row = put_row(view, ++number, of, finding_names[finding], found->count);
                table_set_number(view, row, FIRST_FRAME, found->frame);
                table_set_text(view, row, WHICH, found->what ? found->what : "");
            }
        }
        unsigned row = put_row(view, ++number, of, monitor_is_healthy(of) ? "all is well" : "samples", of->samples);
        if (of->pace.judged.intervals.count > 0) {
            table_set_number(view, row, INTERVAL, perf_spread_median(&of->pace.judged.intervals));
        }
        if (of->pace.responses.count > 0) {
            table_set_number(view, row, RESPONSE, perf_spread_median(&of->pace.responses));
        }
    }
}

static void count(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    summary_view *own = view->own;

    monitors_count(own->monitors, pinfo, tapped);
    if (table_in_window() && (view->rows->len < MANY_ROWS || ++own->calls % view->rows->len == 0)) {
        judge(view);
    }
}

void summary_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Monitors", .cli_string = "pcq,monitors", .nfields = NUM_COLUMNS},
        .columns = columns_shown,
        .row_size = sizeof(unsigned),
        .has_text_keys = true,
        .own_size = sizeof(summary_view),
        .watch = monitors_watch,
        .begin = begin,
        .count = count,
        .judge = judge,
        .forget = keep,
        .end = end,
    };

    table_register(&table);
}
