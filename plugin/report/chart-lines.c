/* chart-lines.c
 * Each counter of a capture as a line of a chart.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "report/chart-lines.h"

#include <math.h>

/* A page has at most 20 MB. Bytes of all lines in it; of those all but points; of one, without path and points, at most. */
#define PAGE_BYTES 19000000
#define PATHS_BYTES 14000000
#define LINE_BYTES 190

/* Points that are kept while results come: 36 MB. */
#define MOST_POINTS 1500000

static void free_line(void *data)
{
    chart_line *line = data;

    g_array_free(line->points, TRUE);
    g_string_free(line->json, TRUE);
    g_free(line->path);
    g_free(line);
}

static void free_query(void *data)
{
    g_array_free(((chart_query *)data)->times, TRUE);
    g_free(data);
}

void chart_lines_begin(chart_lines *lines)
{
    *lines = (chart_lines){.by_path = g_hash_table_new_full(wmem_str_hash, g_str_equal, NULL, free_line),
                           .all = g_ptr_array_new(),
                           .by_query = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, free_query),
                           .clocks = g_ptr_array_new_with_free_func(g_free)};
}

void chart_lines_end(chart_lines *lines)
{
    g_hash_table_destroy(lines->by_path);
    g_hash_table_destroy(lines->by_query);
    g_ptr_array_free(lines->clocks, TRUE);
    g_ptr_array_free(lines->all, TRUE);
}

chart_query *chart_query_find_or_create(chart_lines *lines, const char *key)
{
    chart_query *query = g_hash_table_lookup(lines->by_query, key);

    if (query == NULL) {
        query = g_new0(chart_query, 1);
        query->times = g_array_new(FALSE, FALSE, sizeof(double));
        g_hash_table_insert(lines->by_query, g_strdup(key), query);
    }
    return query;
}

void chart_query_add_request(chart_query *query, double at)
{
    chart_query_add_response(query, query->asked, query->asked > 0);
    query->asked = at;
}

void chart_query_add_response(chart_query *query, double at, bool is_time)
{
    query->asked = 0;
    if (is_time) {
        g_array_append_val(query->times, at);
    }
}

chart_line *chart_line_find_or_create(chart_lines *lines, const char *path)
{
    chart_line *line = g_hash_table_lookup(lines->by_path, path);

    if (line == NULL && lines->path_bytes < PATHS_BYTES) {
        line = g_new0(chart_line, 1);
        line->path = g_strdup(path);
        line->points = g_array_new(FALSE, FALSE, sizeof(chart_point));
        line->json = g_string_new(NULL);
        line->bucket_size = 1;
        lines->path_bytes += LINE_BYTES + 2 * strlen(path);
        g_hash_table_insert(lines->by_path, line->path, line);
    }
    return line;
}

/* --- Thinning ---------------------------------------------------------------------------------------------------- */

static void add_to_bucket(chart_bucket *bucket, const chart_point *point)
{
    if (isnan(point->value)) {
        bucket->gap = bucket->gaps++ == 0 ? *point : bucket->gap;
        return;
    }
    bucket->low = bucket->values == 0 || point->value < bucket->low.value ? *point : bucket->low;
    bucket->high = bucket->values == 0 || point->value > bucket->high.value ? *point : bucket->high;
    bucket->values++;
}

static int compare_times(const void *a, const void *b)
{
    const chart_point *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Makes points of a bucket, in the order of their times. Changes: the bucket is empty. */
static void pour_bucket(chart_bucket *bucket, GArray *points)
{
    chart_point poured[3];
    unsigned count = 0;

    if (bucket->values > 0) {
        poured[count++] = bucket->low;
    }
    if (bucket->values > 0 && bucket->high.value > bucket->low.value) {
        poured[count++] = bucket->high;
    }
    if (bucket->gaps > 0) {
        poured[count++] = bucket->gap;
    }
    qsort(poured, count, sizeof *poured, compare_times);
    g_array_append_vals(points, poured, count);
    *bucket = (chart_bucket){0};
}

static void thin_line(chart_line *line)
{
    GArray *thick = line->points;
    chart_bucket bucket = {0};

    line->points = g_array_sized_new(FALSE, FALSE, sizeof(chart_point), thick->len / 2 + 2);
    for (unsigned i = 0; i < thick->len; i++) {
        add_to_bucket(&bucket, &g_array_index(thick, chart_point, i));
        if (i % 4 == 3 || i + 1 == thick->len) {
            pour_bucket(&bucket, line->points);
        }
    }
    g_array_free(thick, TRUE);
    line->bucket_size = line->bucket_size == 1 ? 4 : 2 * line->bucket_size;
}

/* Returns false if all lines are short. Lines shorter than half the mean have less than half of all points: at least an eighth of all goes, in a time proportional to the results since. */
static bool make_room(chart_lines *lines)
{
    uint64_t mean = lines->num_points / lines->all->len, before = lines->num_points;

    for (unsigned i = 0; i < lines->all->len; i++) {
        chart_line *line = g_ptr_array_index(lines->all, i);
        if (line->points->len >= mean / 2 && line->points->len > 4) {
            lines->num_points -= line->points->len;
            thin_line(line);
            lines->num_points += line->points->len;
        }
    }
    lines->is_thinned |= lines->num_points < before;
    return lines->num_points < before;
}

/* --- Results as they come ------------------------------------------------------------------------------------------ */

static void pour_line(chart_lines *lines, chart_line *line)
{
    lines->num_points -= line->points->len;
    pour_bucket(&line->bucket, line->points);
    lines->num_points += line->points->len;
}

static void add_point(chart_lines *lines, chart_line *line, double at, double value, bool is_assumed)
{
    const chart_point point = {at, value, is_assumed};

    add_to_bucket(&line->bucket, &point);
    if (line->bucket.values + line->bucket.gaps >= line->bucket_size) {
        pour_line(lines, line);
    }
    if (lines->num_points > MOST_POINTS) {
        make_room(lines);
    }
}

void chart_line_add(chart_lines *lines, chart_line *line, chart_query *query, double value, bool is_assumed)
{
    unsigned place = query->times->len - 1;
    bool is_same_query = line && line->query == query, is_twice = is_same_query && line->place == place;

    if (is_twice && value == line->newest) {
        return;
    }
    lines->values++;
    if (line == NULL || is_twice) {
        lines->omitted++;
        return;
    }
    if (is_same_query && line->place + 1 < place) {
        add_point(lines, line, g_array_index(query->times, double, line->place + 1), NAN, false);
    }
    if (line->results.count == 0) {
        g_ptr_array_add(lines->all, line);
    }
    line->query = query;
    line->place = place;
    line->newest = value;
    line->assumed += is_assumed;
    perf_summary_add(&line->results, value);
    add_point(lines, line, g_array_index(query->times, double, place), value, is_assumed);
}

/* --- The end ------------------------------------------------------------------------------------------------------- */

void chart_append_number(GString *text, double number)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];

    g_ascii_formatd(digits, sizeof digits, "%.15g", number);
    if (g_ascii_strtod(digits, NULL) != number) {
        g_ascii_dtostr(digits, sizeof digits, number);
    }
    g_string_append(text, digits);
}

static char *format_clock(const chart_line *line, double begin)
{
    GString *text = g_string_new("[");
    int64_t before = 0;

    for (unsigned i = 0; i < line->points->len; i++) {
        int64_t at = (int64_t)((g_array_index(line->points, chart_point, i).at - begin) * 1000 + 0.5);
        g_string_append_printf(text, "%s%" PRId64, i > 0 ? "," : "", at - before);
        before = at;
    }
    return g_string_free(g_string_append_c(text, ']'), FALSE);
}

static void format_points(chart_line *line)
{
    GString *runs = g_string_new(NULL);
    unsigned assumed = 0;

    g_string_assign(line->json, "[");
    for (unsigned i = 0; i < line->points->len; i++) {
        const chart_point *point = &g_array_index(line->points, chart_point, i), *next = point + 1;
        assumed += point->is_assumed;
        if (point->is_assumed && (i + 1 == line->points->len || !next->is_assumed)) {
            g_string_append_printf(runs, "%s%u,%u", runs->len > 0 ? "," : "", i + 1 - assumed, assumed);
            assumed = 0;
        }
        g_string_append(line->json, i > 0 ? "," : "");
        if (isnan(point->value)) {
            g_string_append(line->json, "null");
        } else {
            chart_append_number(line->json, point->value);
        }
    }
    g_string_append_printf(line->json, "],[%s]", runs->str);
    g_string_free(runs, TRUE);
}

/* Writes the text of all lines. Returns its size. */
static uint64_t format_lines(chart_lines *lines, double begin)
{
    GHashTable *known = g_hash_table_new(wmem_str_hash, g_str_equal);
    uint64_t size = lines->path_bytes;

    g_ptr_array_set_size(lines->clocks, 0);
    for (unsigned i = 0; i < lines->all->len; i++) {
        chart_line *line = g_ptr_array_index(lines->all, i);
        char *clock = format_clock(line, begin);
        void *place;
        if (g_hash_table_lookup_extended(known, clock, NULL, &place)) {
            g_free(clock);
        } else {
            place = GUINT_TO_POINTER(lines->clocks->len);
            g_hash_table_insert(known, clock, place);
            g_ptr_array_add(lines->clocks, clock);
            size += strlen(clock);
        }
        line->clock = GPOINTER_TO_UINT(place);
        format_points(line);
        size += line->json->len;
    }
    g_hash_table_destroy(known);
    return size;
}

void chart_lines_finish(chart_lines *lines, double begin)
{
    for (unsigned i = 0; i < lines->all->len; i++) {
        chart_line *line = g_ptr_array_index(lines->all, i);
        pour_line(lines, line);
        g_array_sort(line->points, compare_times);
    }
    while (format_lines(lines, begin) > PAGE_BYTES && make_room(lines)) {
    }
}
