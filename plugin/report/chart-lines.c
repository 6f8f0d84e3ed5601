/* chart-lines.c
 * Each counter of a capture as a line of a chart.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "report/chart-lines.h"

#include "text/numbers.h"

#include <math.h>

/* Points of all lines, of which each has an equal share: 8 MB in a page. */
#define MOST_POINTS 400000

/* Bytes of all lines and their paths: about 40,000 lines. */
#define LINES_ROOM (8 << 20)

void chart_lines_begin(chart_lines *lines)
{
    *lines = (chart_lines){.all = lines->all};
    keyed_list_begin(&lines->all, NULL, LINES_ROOM);
}

/* --- Points ------------------------------------------------------------------------------------------------------ */

/* Adds a point, or a gap if `value` is NAN. `at`: seconds since 1970. */
static void add_point(const chart_lines *lines, chart_line *line, double at, double value, bool is_assumed)
{
    const perf_line_point point = {at, value, is_assumed};

    line->points = line->points ? line->points : wmem_array_new(lines->all.pool, sizeof point);
    wmem_array_append_one(line->points, point);
}

void chart_line_add(chart_lines *lines, chart_line *line, const chart_sample *sample, double value, bool is_assumed)
{
    bool is_same_query = line && line->newest.query == sample->query;

    if (is_same_query && line->newest.number == sample->number) {
        return;
    }
    lines->values++;
    if (line == NULL) {
        lines->omitted++;
        return;
    }
    if (is_same_query && line->newest.number + 1 < sample->number) {
        add_point(lines, line, (line->newest.at + sample->at) / 2, NAN, false /* is_assumed */);
    }
    line->newest = *sample;
    line->assumed += is_assumed;
    perf_summary_add(&line->results, value);
    add_point(lines, line, sample->at, value, is_assumed);
}

/* Sorts the points of a line by time, and thins them to `most`. */
static void thin_line(chart_lines *lines, chart_line *line, unsigned most)
{
    unsigned count = wmem_array_get_count(line->points);

    wmem_array_sort(line->points, perf_compare_numbers);
    perf_line_point *points = wmem_array_get_raw(line->points);
    unsigned kept = (unsigned)perf_line_thin(points, count, most);
    if (kept < count) {
        line->points = wmem_array_sized_new(lines->all.pool, sizeof *points, kept);
        wmem_array_append(line->points, points, kept);
        lines->is_thinned = true;
    }
}

/* --- The end ------------------------------------------------------------------------------------------------------- */

/* Times of a line, as they are written, and where. */
typedef struct {
    const char *text;
    unsigned number; /* place in "clocks", from 1 */
} chart_clock;

/* Appends an element of a JSON list: a number with the fewest digits that give it again; NAN: null. */
static void append_number(wmem_strbuf_t *list, double number)
{
    char text[TEXT_NUMBER_SIZE];

    wmem_strbuf_append(list, wmem_strbuf_get_len(list) > 0 ? "," : "");
    wmem_strbuf_append(list, isnan(number) ? "null" : text_exact_number(text, number));
}

/* Writes the array of a line. Needs: a result. Changes: `clocks` has its times, as milliseconds from `begin` to the first, then from each to the next.
 * Lines of one query mostly have the same. */
static void put_line(json_dumper *json, const chart_line *line, double begin, keyed_list *clocks)
{
    wmem_strbuf_t *numbers = wmem_strbuf_new(clocks->pool, ""), *values = wmem_strbuf_new(clocks->pool, ""),
                  *assumed = wmem_strbuf_new(clocks->pool, ""), *times = wmem_strbuf_new(clocks->pool, "");
    bool is_assumed = false;
    double before = 0;

    for (unsigned i = 0; i < wmem_array_get_count(line->points); i++) {
        const perf_line_point *point = wmem_array_index(line->points, i);
        double at = floor((point->at - begin) * 1000 + 0.5);
        append_number(times, at - before);
        append_number(values, point->value);
        if (point->is_assumed != is_assumed) {
            append_number(assumed, i);
        }
        is_assumed = point->is_assumed;
        before = at;
    }
    chart_clock *clock = keyed_list_find_or_add(clocks, wmem_strbuf_get_str(times), sizeof *clock);
    clock->number = clock->number > 0 ? clock->number : wmem_list_count(clocks->entries);
    append_number(numbers, line->results.min);
    append_number(numbers, perf_summary_mean(&line->results));
    append_number(numbers, line->results.max);
    append_number(numbers, line->results.last);
    json_dumper_begin_array(json);
    json_dumper_value_string(json, line->path);
    json_dumper_value_string(json, line->whose.type->unit);
    json_dumper_value_anyf(json, "%" PRIu64 ",%s,%" PRIu64 ",%u,[%s],[%s]", line->results.count,
                           wmem_strbuf_get_str(numbers), line->assumed, clock->number - 1, wmem_strbuf_get_str(values),
                           wmem_strbuf_get_str(assumed));
    json_dumper_end_array(json);
}

void chart_lines_put(json_dumper *json, chart_lines *lines, double begin)
{
    keyed_list clocks = {0}; /* chart_clock */

    keyed_list_begin(&clocks, NULL, SIZE_MAX);
    json_dumper_set_member_name(json, "series");
    json_dumper_begin_array(json);
    for (wmem_list_frame_t *at = wmem_list_head(lines->all.entries); at; at = wmem_list_frame_next(at)) {
        chart_line *line = wmem_list_frame_data(at);
        if (line->results.count > 0) {
            thin_line(lines, line, MOST_POINTS / wmem_list_count(lines->all.entries));
            put_line(json, line, begin, &clocks);
        }
    }
    json_dumper_end_array(json);
    json_dumper_set_member_name(json, "clocks");
    json_dumper_begin_array(json);
    for (wmem_list_frame_t *at = wmem_list_head(clocks.entries); at; at = wmem_list_frame_next(at)) {
        json_dumper_value_anyf(json, "[%s]", ((chart_clock *)wmem_list_frame_data(at))->text);
    }
    json_dumper_end_array(json);
    wmem_destroy_allocator(clocks.pool);
}
