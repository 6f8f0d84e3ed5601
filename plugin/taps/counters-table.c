/* counters-table.c
 * `-z pcq,counters[,FILTER or PATHS]`: statistics of each counter's results.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "perf/summary.h"
#include "taps/keyed-list.h"
#include "taps/stat-table.h"
#include "text/text.h"

#include <math.h>

/* Statistics of a path. */
typedef struct {
    const char *path;
    uint64_t samples;       /* values, with a result or without */
    uint64_t resets;        /* values without a result, as the counter or its base decreased; no assumed ones */
    uint64_t response;      /* number of the newest response that has it; 0: none */
    bool is_assumed;        /* one of its values is assumed */
    counter_identity whose; /* the first counter of that path; others, and other servers', are not counted */
    perf_summary results;
} counter_row;

static keyed_list counter_rows;
static uint64_t newest_response; /* number of the newest response with values, from 1; never begins again */

/* Counts the stream's value in its path's row. Texts, values without a path, a path's second value of a response, and those of another
 * counter with the same path have no row, and are counted as omitted. */
static void count_value(omissions *omitted, value_stream *stream, const char *path)
{
    counter_row *row = stream->counter->is_text ? NULL : keyed_list_find_or_add(&counter_rows, path, sizeof *row);

    if (row == NULL || row->response == newest_response || !value_stream_is_same_counter(stream, &row->whose)) {
        omitted->counts[OMITTED_WITHOUT_ROW]++;
        return;
    }
    perf_result result = value_stream_result(stream);
    omissions_count_value(omitted, stream, &result);
    row->response = newest_response;
    row->samples++;
    row->is_assumed |= value_stream_assumed(stream);
    row->resets += perf_is_reset(result.none) && !value_stream_assumed(stream);
    if (result.none == PERF_NO_RESULT_OK) {
        perf_summary_add(&row->results, result.value);
    }
}

/* Counts the values of a sample. */
static void counters_count(void *data _U_, packet_info *pinfo, const call_tap_data *tapped)
{
    if (call_tap_has_sample(tapped)) {
        value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
        newest_response++;
        while (value_stream_next(stream)) {
            const char *path = value_stream_path(stream);
            if (omissions_ask(&counters_table.omitted, path)) {
                count_value(&counters_table.omitted, stream, path);
            }
        }
    }
}

static const table_column counter_columns[] = {
    {"Counter", NULL}, {"Samples", "%.0f"}, {"Min", "%.6g"}, {"Mean", "%.6g"},
    {"Max", "%.6g"},   {"Last", "%.6g"},    {"Unit", NULL},  {"Resets", "%.0f"},
};

/* stat_table.fill: adds a row for each path, in the order in which they came. Without any result its numbers and unit are blank. */
static void counters_fill(stat_table *t)
{
    for (wmem_list_frame_t *at = wmem_list_head(counter_rows.entries); at; at = wmem_list_frame_next(at)) {
        const counter_row *from = wmem_list_frame_data(at);
        const perf_summary *results = &from->results;
        bool any = results->count > 0;
        const table_cell cells[] = {
            {.text = text_marked(counter_rows.pool, from->path, from->is_assumed)},
            {.number = (double)from->samples},
            {.number = any ? results->min : NAN},
            {.number = any ? perf_summary_mean(results) : NAN},
            {.number = any ? results->max : NAN},
            {.number = any ? results->last : NAN},
            {.text = any ? from->whose.type->unit : NULL},
            {.number = (double)from->resets},
        };
        stat_table_add_row(t, cells, G_N_ELEMENTS(cells));
    }
}

stat_table counters_table = {
    .ui = {.title = "Performance Counter Values",
           .cli_string = "pcq,counters",
           .nfields = G_N_ELEMENTS(counter_columns)},
    .columns = counter_columns,
    .takes_paths = true,
    .data = &counter_rows,
    .begin = keyed_list_begin_paths,
    .count = counters_count,
    .fill = counters_fill,
};
