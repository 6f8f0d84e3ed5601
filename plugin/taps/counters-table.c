/* counters-table.c
 * `-z pcq,counters[,FILTER or PATHS]`: what each counter did.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/table.h"
#include "perf/summary.h"
#include "text/text.h"

/* One path. */
typedef struct {
    unsigned row;
    uint64_t samples, resets;
    uint64_t answer; /* that had it last */
    bool is_assumed; /* of one of its samples it is assumed that it is its own */
    counter_identity whose;
    perf_summary results;
} counter;

#define COLUMNS(X) \
    X(PATH, TABLE_ITEM_STRING, "Counter", NULL, 0) \
    X(SAMPLES, TABLE_ITEM_UINT, "Samples", "%u", offsetof(counter, samples)) \
    X(MINIMUM, TABLE_ITEM_FLOAT, "Min", "%.6g", 0) \
    X(MEAN, TABLE_ITEM_FLOAT, "Mean", "%.6g", 0) \
    X(MAXIMUM, TABLE_ITEM_FLOAT, "Max", "%.6g", 0) \
    X(LAST, TABLE_ITEM_FLOAT, "Last", "%.6g", 0) \
    X(UNIT, TABLE_ITEM_STRING, "Unit", NULL, 0) \
    X(RESETS, TABLE_ITEM_UINT, "Resets", "%u", offsetof(counter, resets))

enum { COLUMNS(TABLE_NUMBER) NUM_COLUMNS };

static const table_column columns_shown[] = {COLUMNS(TABLE_COLUMN)};

/* Answers that were counted. */
static uint64_t answers;

static void show(taps_table *t, unsigned row)
{
    const counter *c = table_data(t, row);
    const perf_summary *results = &c->results;

    if (results->count == 0 || c == t->others) {
        return;
    }
    table_set_text(t, row, UNIT, c->whose.type->unit);
    table_set_number(t, row, LAST, results->last);
    table_set_number(t, row, MINIMUM, results->min);
    table_set_number(t, row, MEAN, perf_summary_mean(results));
    table_set_number(t, row, MAXIMUM, results->max);
}

static void count_value(taps_table *t, value_stream *stream)
{
    const char *path = value_stream_path(stream);

    if (!watch_paths_fit(t->paths, path)) {
        return;
    }
    const char *shown = tapped_placed(stream->pool, stream->response.handle, path);
    counter *c = path ? table_row(t, shown, shown) : NULL;
    bool is_repeated = c && c != t->others && c->answer == answers;
    bool is_of_other = c && c != t->others && !is_repeated && !value_stream_is_same_counter(stream, &c->whose);
    t->left.repeated += is_repeated;
    t->left.of_others += is_of_other;
    if (is_repeated || is_of_other) {
        return;
    }
    perf_result result = value_stream_result(stream);
    left_out_count_marks(&t->left, left_out_marks(stream, &result));
    if (c) {
        c->answer = answers;
        c->samples++;
        if (value_stream_is_assumed(stream) && !c->is_assumed && c != t->others) {
            c->is_assumed = true;
            table_set_text(t, c->row, PATH, text_marked(stream->pool, shown, true));
        }
        c->resets += perf_is_reset(result.none) && !value_stream_is_assumed(stream);
        if (result.none == PERF_NO_RESULT_OK) {
            perf_summary_add(&c->results, result.value);
        }
        table_changed(t, c->row);
    }
}

static void count_answer(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    const counter_value *at;

    answers++;
    while ((at = value_stream_next(stream)) != NULL) {
        if (at->is_text) {
            bool fits = watch_paths_fit(t->paths, value_stream_path(stream));
            t->left.texts += fits;
            left_out_count_marks(&t->left, fits ? left_out_marks(stream, &(perf_result){0, PERF_NO_RESULT_OK}) : 0);
        } else {
            count_value(t, stream);
        }
    }
}

static void counters_count(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    if (tapped->answer && tapped->answer->sample && tapped->answer->handle) {
        count_answer(t, pinfo, tapped);
    }
}

void counters_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Values", .cli_string = "pcq,counters", .nfields = NUM_COLUMNS},
        .columns = columns_shown,
        .row_size = sizeof(counter),
        .takes_paths = true,
        .count = counters_count,
        .show = show,
        .keeps_rows = true,
    };

    table_register(&table);
}
