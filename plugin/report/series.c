/* series.c
 * Each counter of a capture as a line that a picture needs no more of.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "report/series.h"

#include <math.h>

/* A page has at most 20 MB: what a point and a counter take of it as text, at most, beside its path. */
#define PAGE_BYTES (19 << 20)
#define POINT_BYTES 26
#define SERIES_BYTES 150

/* Of these, for counters and their paths; and what is kept of all, most of which may never have a result. */
#define PATHS_BYTES (9 << 20)
#define KEPT_BYTES (4 * PATHS_BYTES)

static uint64_t size_of(const char *path)
{
    return SERIES_BYTES + 2 * strlen(path);
}

static void series_free(void *data)
{
    series *s = data;

    g_array_free(s->points, TRUE);
    g_free(s->path);
    g_free(s);
}

void series_begin(series_set *set)
{
    *set = (series_set){.by_path = g_hash_table_new(wmem_str_hash, g_str_equal),
                        .all = g_ptr_array_new_with_free_func(series_free)};
}

void series_end(series_set *set)
{
    g_hash_table_destroy(set->by_path);
    g_ptr_array_free(set->all, TRUE);
}

/* Two points in the order of their times, or the one that both are. */
static void append(GArray *points, const series_point *low, const series_point *high)
{
    const series_point both[2] = {low->at <= high->at ? *low : *high, low->at <= high->at ? *high : *low};

    g_array_append_vals(points, both, low->value == high->value ? 1 : 2);
}

static void thin(series *s)
{
    const series_point *points = (const series_point *)(const void *)s->points->data;
    GArray *kept = g_array_sized_new(FALSE, FALSE, sizeof *points, s->points->len / 2 + 2);

    for (unsigned i = 0; i < s->points->len; i += 4) {
        const series_point *low = &points[i], *high = low;
        for (unsigned k = i + 1; k < MIN(i + 4, s->points->len); k++) {
            low = points[k].value < low->value ? &points[k] : low;
            high = points[k].value > high->value ? &points[k] : high;
        }
        append(kept, low, high);
    }
    g_array_free(s->points, TRUE);
    s->points = kept;
    s->one_of = s->one_of == 1 ? 4 : 2 * s->one_of;
}

/* Those that are shorter than half the mean have less than half of all points: a quarter of all goes at least, and the time that it takes is in
 * proportion to what has come since. */
static void make_room(series_set *set)
{
    uint64_t mean = set->num_points / set->all->len;

    set->is_thinned = true;
    for (unsigned i = 0; i < set->all->len; i++) {
        series *s = g_ptr_array_index(set->all, i);
        if (s->points->len >= mean / 2 && s->points->len > 4) {
            set->num_points -= s->points->len;
            thin(s);
            set->num_points += s->points->len;
        }
    }
}

series *series_of(series_set *set, const char *path)
{
    series *s = g_hash_table_lookup(set->by_path, path);

    if (s == NULL && set->kept < KEPT_BYTES) {
        s = g_new0(series, 1);
        s->path = g_strdup(path);
        s->points = g_array_new(FALSE, FALSE, sizeof(series_point));
        s->one_of = 1;
        set->kept += size_of(path);
        g_hash_table_insert(set->by_path, s->path, s);
        g_ptr_array_add(set->all, s);
    }
    return s;
}

static void pour(series_set *set, series *s)
{
    unsigned before = s->points->len;

    if (s->waiting > 0) {
        append(s->points, &s->low, &s->high);
        set->num_points += s->points->len - before;
        s->waiting = 0;
    }
}

void series_add(series_set *set, uint64_t answer, series *s, double at, double value, bool assumed)
{
    const series_point point = {at, value};
    bool is_twice = s && s->answer == answer;

    if (is_twice && value == s->newest) {
        return;
    }
    set->values += isfinite(value);
    if (s && !is_twice) {
        s->answer = answer;
        s->newest = value;
    }
    if (s == NULL || is_twice || !isfinite(value) || (s->results.count == 0 && set->bytes >= PATHS_BYTES)) {
        set->left_out += isfinite(value);
        return;
    }
    set->bytes += s->results.count == 0 ? size_of(s->path) : 0;
    perf_summary_add(&s->results, value);
    s->assumed += assumed;
    s->low = s->waiting == 0 || value < s->low.value ? point : s->low;
    s->high = s->waiting == 0 || value > s->high.value ? point : s->high;
    if (++s->waiting >= s->one_of) {
        pour(set, s);
    }
    if (set->bytes + POINT_BYTES * set->num_points > PAGE_BYTES) {
        make_room(set);
    }
}

void series_finish(series_set *set)
{
    for (unsigned i = 0; i < set->all->len; i++) {
        pour(set, g_ptr_array_index(set->all, i));
    }
}
