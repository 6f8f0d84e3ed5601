/* test_chart_lines.c
 * Lines of a report: thinned they keep each peak, the order of times and their room; short ones stay whole; samples without a value are gaps.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <math.h>

#include "report/chart-lines.h"

#define LONG 40
#define VALUES 2000000
#define PAGE 20000000 /* bytes */

static const perf_line_point *point(const chart_line *line, unsigned i)
{
    return wmem_array_index(line->points, i);
}

static void check(const chart_line *line, unsigned count, double low, double high)
{
    double least = point(line, 0)->value, most = least;

    for (unsigned i = 0; i < wmem_array_get_count(line->points); i++) {
        assert(i == 0 || point(line, i)->at >= point(line, i - 1)->at);
        least = MIN(least, point(line, i)->value);
        most = MAX(most, point(line, i)->value);
    }
    assert(line->results.count == count && line->results.min == low && line->results.max == high);
    assert(least == low && most == high);
}

static void add(chart_lines *lines, const char *query, unsigned number, const char *path, double value)
{
    static const perf_counter_type type = {.unit = "/sec"};
    const chart_sample sample = {query, number, number};
    chart_line *line = keyed_list_find_or_add(&lines->all, path, sizeof *line);

    line->whose.type = &type;
    chart_line_add(lines, line, &sample, value, false);
}

/* Returns what a page has of all lines, to be freed. */
static char *put(chart_lines *lines)
{
    json_dumper json = {.output_string = g_string_new(NULL)};

    json_dumper_begin_object(&json);
    chart_lines_put(&json, lines, 0);
    json_dumper_end_object(&json);
    json_dumper_finish(&json);
    return g_string_free(json.output_string, FALSE);
}

/* Of a path twice in a sample the second does not count; of `quiet` there are few. */
static void fill(chart_lines *lines)
{
    char path[16];

    for (unsigned i = 0; i < VALUES; i++) {
        unsigned number = i % LONG, sample = i / LONG;
        snprintf(path, sizeof path, "line %u", number);
        add(lines, "query", sample, path,
            sample == 1000 + number   ? 1e6
            : sample == 2000 + number ? -1e6
                                      : (sample % 7) / 3.0);
        add(lines, "query", sample, path, 2e9);
        if (sample % 20000 == 0 && number == 0) {
            add(lines, "other", sample / 20000, "quiet", i);
        }
    }
}

static void test_large(void)
{
    chart_lines lines = {0};
    uint64_t points = 0;

    chart_lines_begin(&lines);
    fill(&lines);
    char *text = put(&lines);
    assert(lines.is_thinned && lines.omitted == 0 && lines.values == VALUES + 3);
    assert(wmem_list_count(lines.all.entries) == LONG + 1);
    for (wmem_list_frame_t *at = wmem_list_head(lines.all.entries); at; at = wmem_list_frame_next(at)) {
        const chart_line *line = wmem_list_frame_data(at);
        points += wmem_array_get_count(line->points);
        if (strcmp(line->path, "quiet") == 0) {
            assert(line->results.count == 3 && wmem_array_get_count(line->points) == 3);
        } else {
            check(line, VALUES / LONG, -1e6, 1e6);
            assert(wmem_array_get_count(line->points) > 1000);
        }
    }
    assert(points <= 400000 && points > 200000);
    assert(strlen(text) < PAGE);
    g_free(text);
    wmem_destroy_allocator(lines.all.pool);
}

/* A counter that each second sample lacks has a gap at each of these; thinned it still has some, and less points. */
static void test_gaps(void)
{
    enum { SAMPLES = 100000 };
    chart_lines lines = {0};

    chart_lines_begin(&lines);
    for (unsigned i = 0; i < SAMPLES; i++) {
        add(&lines, "query", i, "always", i);
        if (i % 2 == 0) {
            add(&lines, "query", i, "at times", i);
        }
    }
    char *text = put(&lines);
    const chart_line *always = wmem_list_frame_data(wmem_list_head(lines.all.entries)),
                     *at_times = wmem_list_frame_data(wmem_list_tail(lines.all.entries));
    assert(wmem_array_get_count(always->points) == SAMPLES && wmem_array_get_count(at_times->points) == SAMPLES - 1);
    for (unsigned i = 0; i < SAMPLES - 1; i++) {
        assert(fabs(point(at_times, i)->at - i) < 0.001 &&
               (i % 2 == 0 ? point(at_times, i)->value == i : isnan(point(at_times, i)->value)));
    }
    g_free(text);
    wmem_destroy_allocator(lines.all.pool);
}

/* A sample without a result is a gap in all its lines, which share one list of times. */
static void test_clocks(void)
{
    chart_lines lines = {0};

    chart_lines_begin(&lines);
    for (unsigned i = 0; i < 4; i += i == 0 ? 2 : 1) {
        add(&lines, "query", i, "a", i);
        add(&lines, "query", i, "b", i);
    }
    char *text = put(&lines);
    assert(strstr(text, "\"clocks\":[[0,1000,1000,1000]]}") && strstr(text, ",0,0,[0,null,2,3],[]]"));
    g_free(text);
    wmem_destroy_allocator(lines.all.pool);
}

/* A list has room for so many bytes of entries and keys, and no more. */
static void test_room(void)
{
    keyed_list list = {0};

    keyed_list_begin(&list, NULL, 2 * (sizeof(chart_line) + 1));
    assert(keyed_list_find_or_add(&list, "a", sizeof(chart_line)));
    const chart_line *line = keyed_list_find_or_add(&list, "b", sizeof *line);
    assert(line && keyed_list_find_or_add(&list, "b", sizeof *line) == line);
    assert(keyed_list_find_or_add(&list, "", 1) == NULL && keyed_list_find_or_add(&list, NULL, 1) == NULL);
    wmem_destroy_allocator(list.pool);
}

int main(void)
{
    test_large();
    test_gaps();
    test_clocks();
    test_room();
    return 0;
}
