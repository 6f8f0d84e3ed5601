/* chart-lines.c
 * Each counter of a capture as a line of a chart.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "report/chart-lines.h"

#include <math.h>

/* A page has at most 20 MB. Bytes of lines in it; bytes of their paths; bytes of all paths that are kept, most of which may never get a result. */
#define PAGE_BYTES (19 << 20)
#define PATHS_BYTES (9 << 20)
#define KEPT_BYTES (4 * PATHS_BYTES)

/* Text of a line beside its path and its values, at most. */
#define LINE_BYTES 190

/* Points that are kept while results come: 36 MB. */
#define MOST_POINTS 1500000

static uint64_t path_bytes(const char *path)
{
    return LINE_BYTES + 2 * strlen(path);
}

static void free_line(void *data)
{
    chart_line *line = data;

    g_array_free(line->points, TRUE);
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
    *lines = (chart_lines){.by_path = g_hash_table_new(wmem_str_hash, g_str_equal),
                           .all = g_ptr_array_new_with_free_func(free_line),
                           .by_query = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, free_query),
                           .clocks = g_ptr_array_new()};
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
    if (query->asked > 0) {
        g_array_append_val(query->times, query->asked);
    }
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

    if (line == NULL && lines->kept_bytes < KEPT_BYTES) {
        line = g_new0(chart_line, 1);
        line->path = g_strdup(path);
        line->points = g_array_new(FALSE, FALSE, sizeof(chart_point));
        line->bucket_size = 1;
        lines->kept_bytes += path_bytes(path);
        g_hash_table_insert(lines->by_path, line->path, line);
        g_ptr_array_add(lines->all, line);
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
    GArray *kept = g_array_sized_new(FALSE, FALSE, sizeof(chart_point), line->points->len / 2 + 2);
    chart_bucket bucket = {0};

    for (unsigned i = 0; i < line->points->len; i++) {
        add_to_bucket(&bucket, &g_array_index(line->points, chart_point, i));
        if (i % 4 == 3 || i + 1 == line->points->len) {
            pour_bucket(&bucket, kept);
        }
    }
    g_array_free(line->points, TRUE);
    line->points = kept;
    line->bucket_size = line->bucket_size == 1 ? 4 : 2 * line->bucket_size;
}

/* Lines shorter than half the mean have less than half of all points: at least an eighth of all goes, and the time is in proportion to what has come
 * since. */
static void make_room(chart_lines *lines)
{
    uint64_t mean = lines->num_points / lines->all->len;

    lines->is_thinned = true;
    for (unsigned i = 0; i < lines->all->len; i++) {
        chart_line *line = g_ptr_array_index(lines->all, i);
        if (line->points->len >= mean / 2 && line->points->len > 4) {
            lines->num_points -= line->points->len;
            thin_line(line);
            lines->num_points += line->points->len;
        }
    }
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
    double at = g_array_index(query->times, double, place);
    bool has_value = isfinite(value), is_same_query = line && line->query == query;
    bool is_twice = is_same_query && line->place == place;

    if (is_twice && value == line->newest) {
        return;
    }
    lines->values += has_value;
    if (line == NULL || is_twice || (has_value && line->results.count == 0 && lines->shown_bytes >= PATHS_BYTES)) {
        lines->omitted += has_value;
        return;
    }
    if (line->results.count > 0 && is_same_query && line->place + 1 < place) {
        add_point(lines, line, g_array_index(query->times, double, line->place + 1), NAN, false);
    }
    line->query = query;
    line->place = place;
    line->newest = value;
    if (has_value) {
        lines->shown_bytes += line->results.count == 0 ? path_bytes(line->path) : 0;
        perf_summary_add(&line->results, value);
        line->assumed += is_assumed;
    }
    if (line->results.count > 0) {
        add_point(lines, line, at, has_value ? value : NAN, has_value && is_assumed);
    }
}

/* --- The end ------------------------------------------------------------------------------------------------------- */

const char *chart_format_value(char text[CHART_VALUE_SIZE], double value)
{
    g_ascii_formatd(text, CHART_VALUE_SIZE, "%.15g", value);
    if (g_ascii_strtod(text, NULL) != value) {
        g_ascii_formatd(text, CHART_VALUE_SIZE, "%.17g", value);
    }
    return text;
}

static void sort_points(chart_line *line)
{
    for (unsigned i = 1; i < line->points->len; i++) {
        if (g_array_index(line->points, chart_point, i).at < g_array_index(line->points, chart_point, i - 1).at) {
            g_array_sort(line->points, compare_times);
            return;
        }
    }
}

static void set_hash_of_times(chart_line *line)
{
    const unsigned prime = 16777619; /* FNV-1a's */

    line->hash_of_times = line->points->len;
    for (unsigned i = 0; i < line->points->len; i++) {
        int64_t at = chart_milliseconds(0, g_array_index(line->points, chart_point, i).at);
        line->hash_of_times = (line->hash_of_times ^ (unsigned)at) * prime;
    }
}

static unsigned hash_times(const void *line)
{
    return ((const chart_line *)line)->hash_of_times;
}

static int equal_times(const void *a, const void *b)
{
    const GArray *x = ((const chart_line *)a)->points, *y = ((const chart_line *)b)->points;
    bool is_equal = x->len == y->len;

    for (unsigned i = 0; is_equal && i < x->len; i++) {
        is_equal = g_array_index(x, chart_point, i).at == g_array_index(y, chart_point, i).at;
    }
    return is_equal;
}

static uint64_t count_times_text(const GArray *points)
{
    uint64_t size = 16;

    for (unsigned i = 1; i < points->len; i++) {
        int64_t step =
            chart_milliseconds(g_array_index(points, chart_point, i - 1).at, g_array_index(points, chart_point, i).at);
        for (size += 2; step >= 10; step /= 10) {
            size++;
        }
    }
    return size;
}

/* Gives each line the clock that has its times. Returns how many bytes clocks and values have as text. */
static uint64_t find_clocks(chart_lines *lines)
{
    GHashTable *known = g_hash_table_new(hash_times, equal_times);
    char text[CHART_VALUE_SIZE];
    uint64_t size = 0;

    g_ptr_array_set_size(lines->clocks, 0);
    for (unsigned i = 0; i < lines->all->len; i++) {
        chart_line *line = g_ptr_array_index(lines->all, i);
        set_hash_of_times(line);
        const chart_line *first = g_hash_table_lookup(known, line);
        line->clock = first ? first->clock : lines->clocks->len;
        if (first == NULL) {
            g_hash_table_add(known, line);
            g_ptr_array_add(lines->clocks, line);
            size += count_times_text(line->points);
        }
        for (unsigned k = 0; k < line->points->len; k++) {
            double value = g_array_index(line->points, chart_point, k).value;
            size += isnan(value) ? strlen("null,") : strlen(chart_format_value(text, value)) + 1;
        }
    }
    g_hash_table_destroy(known);
    return size;
}

void chart_lines_finish(chart_lines *lines)
{
    for (unsigned i = 0; i < lines->all->len; i++) {
        pour_line(lines, g_ptr_array_index(lines->all, i));
        sort_points(g_ptr_array_index(lines->all, i));
    }
    while (find_clocks(lines) + lines->shown_bytes > PAGE_BYTES) {
        make_room(lines);
    }
}
