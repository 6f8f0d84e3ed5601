/* chart-lines.c
 * Each counter of a capture as a line of a chart.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "report/chart-lines.h"

#include "taps/csv.h"

#include <math.h>

/* Points of all lines, of which each has an equal share: 8 MB in a page. */
#define MOST_POINTS 400000

/* Lines of a page: the first. */
#define MOST_LINES 40000

void chart_lines_begin(chart_lines *lines)
{
    *lines = (chart_lines){.all = lines->all};
    keyed_list_begin(&lines->all, NULL);
}

/* --- Points ------------------------------------------------------------------------------------------------------ */

static chart_point *get_point(const chart_line *line, unsigned i)
{
    return wmem_array_index(line->points, i);
}

/* Thins a line: of each part of its points the smallest, the largest and the first gap stay, in their order. There are so many parts that at most
 * `most` points stay, and mostly two thirds of them. */
static void thin_line(chart_line *line, wmem_allocator_t *pool, unsigned most)
{
    wmem_array_t *kept = wmem_array_new(pool, sizeof(chart_point));
    unsigned count = wmem_array_get_count(line->points), part = count / (most / 3) + 1;

    for (unsigned first = 0, next; first < count; first = next) {
        unsigned low = first, high = first, gap = count;
        for (next = first; next < count && next - first < part; next++) {
            double value = get_point(line, next)->value;
            gap = isnan(value) ? MIN(gap, next) : gap;
            low = value < get_point(line, low)->value || isnan(get_point(line, low)->value) ? next : low;
            high = value > get_point(line, high)->value || isnan(get_point(line, high)->value) ? next : high;
        }
        for (unsigned i = first; i < next; i++) {
            if (i == low || i == high || i == gap) {
                wmem_array_append(kept, get_point(line, i), 1);
            }
        }
    }
    line->points = kept;
}

/* Adds a point, or a gap if `value` is NAN. `at`: seconds since 1970. */
static void add_point(const chart_lines *lines, chart_line *line, double at, double value, bool is_assumed)
{
    const chart_point point = {at, value, is_assumed};

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

/* --- The end ------------------------------------------------------------------------------------------------------- */

/* Returns a line's times as a JSON list, to be freed: milliseconds from `begin` to the first, then from each to the next. Lines of one query mostly
 * have the same. */
static char *format_clock(const chart_line *line, double begin)
{
    GString *text = g_string_new(NULL);
    int64_t before = 0;

    for (unsigned i = 0; i < wmem_array_get_count(line->points); i++) {
        int64_t at = (int64_t)((get_point(line, i)->at - begin) * 1000 + 0.5);
        g_string_append_printf(text, "%c%" PRId64, i > 0 ? ',' : '[', at - before);
        before = at;
    }
    g_string_append_c(text, ']');
    return g_string_free(text, FALSE);
}

/* Writes a number with the fewest digits that give it again; NAN: null. */
static void put_number(json_dumper *json, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    json_dumper_value_anyf(json, "%s", isnan(number) ? "null" : csv_format_number(text, number));
}

/* Writes the array of a line. `clock`: place of its times in "clocks". Needs: a result. */
static void put_line(json_dumper *json, const chart_line *line, unsigned clock)
{
    unsigned count = wmem_array_get_count(line->points);
    bool is_assumed = false;

    json_dumper_begin_array(json);
    json_dumper_value_string(json, line->path);
    json_dumper_value_string(json, line->whose.type ? line->whose.type->unit : "");
    json_dumper_value_anyf(json, "%" PRIu64, line->results.count);
    put_number(json, line->results.min);
    put_number(json, perf_summary_mean(&line->results));
    put_number(json, line->results.max);
    put_number(json, line->results.last);
    json_dumper_value_anyf(json, "%" PRIu64 ",%u", line->assumed, clock);
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < count; i++) {
        put_number(json, get_point(line, i)->value);
    }
    json_dumper_end_array(json);
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < count; i++) {
        if (get_point(line, i)->is_assumed != is_assumed) {
            json_dumper_value_anyf(json, "%u", i);
            is_assumed = !is_assumed;
        }
    }
    json_dumper_end_array(json);
    json_dumper_end_array(json);
}

/* Times of a line, as they are written, and where. */
typedef struct {
    const char *text;
    unsigned number; /* place in "clocks", from 1 */
} chart_clock;

void chart_lines_put(json_dumper *json, chart_lines *lines, double begin)
{
    keyed_list clocks = {0}; /* chart_clock */
    unsigned most = MAX(MOST_POINTS / MAX(lines->all.entries->len, 1), 4);

    keyed_list_begin(&clocks, NULL);
    lines->hidden = 0;
    json_dumper_set_member_name(json, "series");
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < lines->all.entries->len; i++) {
        chart_line *line = g_ptr_array_index(lines->all.entries, i);
        if (i >= MOST_LINES || line->results.count == 0) {
            lines->hidden += line->results.count;
            continue;
        }
        wmem_array_sort(line->points, perf_compare_numbers); /* by time */
        if (wmem_array_get_count(line->points) > most) {
            thin_line(line, lines->all.pool, most);
            lines->is_thinned = true;
        }
        char *times = format_clock(line, begin);
        chart_clock *clock = keyed_list_find_or_add(&clocks, times, sizeof *clock);
        clock->number = clock->number > 0 ? clock->number : clocks.entries->len;
        put_line(json, line, clock->number - 1);
        g_free(times);
    }
    json_dumper_end_array(json);
    json_dumper_set_member_name(json, "clocks");
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < clocks.entries->len; i++) {
        json_dumper_value_anyf(json, "%s", ((chart_clock *)g_ptr_array_index(clocks.entries, i))->text);
    }
    json_dumper_end_array(json);
    wmem_destroy_allocator(clocks.pool);
}
