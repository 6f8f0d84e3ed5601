/* queries-table.c
 * `-z pcq,queries[,FILTER]`: what each query, or handle of HKEY_PERFORMANCE_DATA, was used for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/accounts.h"
#include "taps/query-rows.h"
#include "taps/table.h"

#include <math.h>

/* Of one view. */
typedef struct {
    query_rows *rows;
    uint32_t sealed; /* how many of them are shown */
} queries;

typedef struct {
    unsigned row;
    const query_row *of;
} shown_row;

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

/* --- What a row shows ------------------------------------------------------------------------------------------ */

static void show_intervals(table_view *view, unsigned row, const pace *p)
{
    double interval = perf_spread_median(&p->judged.intervals);

    table_set_number(view, row, INTERVAL, interval);
    table_set_number(view, row, JITTER, perf_spread_deviation(&p->judged.intervals, interval));
    table_set_number(view, row, LONGEST, p->lengths.max);
    table_set_count(view, row, LATE_ASKED, p->late[PACE_ASKED_LATE]);
    table_set_count(view, row, LATE_ANSWERED, p->late[PACE_ANSWERED_LATE]);
}

static void show_frame(table_view *view, unsigned row, unsigned column, uint32_t frame, const char *none)
{
    char text[32];

    snprintf(text, sizeof text, "frame %u", frame);
    table_set_text(view, row, column, frame != 0 ? text : none);
}

static void show_handle(table_view *view, unsigned row, const query_row *of)
{
    const char *kind = of->is_sealed ? "sealed" : of->is_hkpd ? "handle" : "query";
    char text[64];

    if (of->handles > 1) {
        snprintf(text, sizeof text, "%s %u and %" PRIu64 " more", kind, of->number, of->handles - 1);
        table_set_text(view, row, HANDLE, text);
    }
    if (of->is_sealed) {
        table_set_text(view, row, OPENED,
                       of->handles > 1 ? "sealed (intervals by the capture's clock; one by the sizes of its requests)"
                                       : "sealed (intervals by the capture's clock)");
        return;
    }
    show_frame(view, row, OPENED, of->opened_frame, "before the capture");
    show_frame(view, row, CLOSED, of->closed_frame, "left open");
    table_set_number(view, row, COUNTERS, (double)of->counters);
    table_set_number(view, row, REFUSED, (double)of->refused);
    table_set_number(view, row, FAILED, (double)of->failed);
}

static void show_figures(table_view *view, unsigned row, const query_row *of)
{
    uint32_t frame;

    show_handle(view, row, of);
    table_set_text(view, row, CLIENT, of->client);
    table_set_text(view, row, SERVER, of->server);
    table_set_text(view, row, ACCOUNT, of->account);
    table_set_number(view, row, PROBES, (double)(of->probes + of->talk.probes));
    table_set_number(view, row, NO_DATA, (double)(of->no_data + sealed_talk_no_data(&of->talk, &frame)));
    if (of->offsets.count > 0) {
        table_set_number(view, row, CLOCK, perf_summary_mean(&of->offsets));
    }
    if (of->pace.judged.intervals.count > 0) {
        show_intervals(view, row, &of->pace);
    }
    if (of->pace.responses.count > 0) {
        table_set_number(view, row, RESPONSE, perf_spread_median(&of->pace.responses));
        table_set_number(view, row, SLOWEST, of->pace.slowest);
        table_set_number(view, row, SLOWEST_FRAME, of->pace.slowest_frame);
    }
}

static void show(table_view *view, unsigned row)
{
    const query_row *of = ((const shown_row *)table_data(view, row))->of;

    table_set_count(view, row, SAMPLES, of->samples);
    if (of->samples > 0) {
        table_set_number(view, row, SIZE, round((double)of->bytes / (double)of->samples));
    }
    if (!of->is_other) {
        show_figures(view, row, of);
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static void begin(table_view *view)
{
    ((queries *)view->own)->rows = query_rows_new();
}

static void end(table_view *view)
{
    query_rows_free(((queries *)view->own)->rows);
}

static void forget(table_view *view)
{
    query_rows_forget(((queries *)view->own)->rows);
}

static void show_row(table_view *view, query_row *of)
{
    queries *own = view->own;
    shown_row *shown;
    char name[32];

    of->may_go_on = false;
    if (of->is_sealed && of->number == 0) {
        of->number = ++own->sealed;
    }
    snprintf(name, sizeof name, "%s %u", of->is_sealed ? "sealed" : of->is_hkpd ? "handle" : "query", of->number);
    shown = of->is_other ? table_others(view) : table_row(view, of, name, NULL);
    shown->of = of;
    table_changed(view, shown->row);
}

/* Not a handle that the server does not know, as far as was seen by now. */
static bool has_row(const query_row *of)
{
    return of->is_other || of->is_sealed || of->number > 0;
}

static void count(table_view *view, packet_info *pinfo, const tapped_call *tapped)
{
    query_row *of = query_rows_count(((queries *)view->own)->rows, pinfo, tapped);

    if (of && has_row(of) && (!of->may_go_on || of->is_closed)) {
        show_row(view, of);
    }
}

/* Nothing goes on as those that are left. */
static void show_rest(table_view *view)
{
    const GPtrArray *all = ((queries *)view->own)->rows->all;

    for (unsigned i = 0; i < all->len; i++) {
        query_row *of = g_ptr_array_index(all, i);
        if (of->may_go_on && has_row(of)) {
            show_row(view, of);
        }
    }
}

void queries_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Queries", .cli_string = "pcq,queries", .nfields = NUM_COLUMNS},
        .columns = columns_shown,
        .row_size = sizeof(shown_row),
        .own_size = sizeof(queries),
        .watch = accounts_watch,
        .begin = begin,
        .count = count,
        .judge = show_rest,
        .show = show,
        .forget = forget,
        .end = end,
    };

    table_register(&table);
}
