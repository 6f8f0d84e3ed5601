/* test_series.c
 * Lines of a report: thinned they keep each peak, the order of times and their room; short ones stay whole.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <math.h>

#include "report/series.h"

#define LONG 40
#define VALUES 1000000
#define EMPTY 100000
#define PAGE (20 << 20)
#define POINT 26 /* characters of a point in the page */

static const series_point *point(const series *s, unsigned i)
{
    return &g_array_index(s->points, series_point, i);
}

static void check(const series *s, unsigned count, double low, double high)
{
    double least = point(s, 0)->value, most = least;

    for (unsigned i = 0; i < s->points->len; i++) {
        assert(i == 0 || point(s, i)->at >= point(s, i - 1)->at);
        least = MIN(least, point(s, i)->value);
        most = MAX(most, point(s, i)->value);
    }
    assert(s->results.count == count && s->results.min == low && s->results.max == high);
    assert(least == low && most == high);
}

/* Of a path twice in an answer the second is left out, also if the first has no result; of `quiet` there are few. */
static void fill(series_set *set)
{
    char path[16];

    for (unsigned i = 0; i < EMPTY; i++) {
        snprintf(path, sizeof path, "empty %u", i);
        series_add(set, 1, series_of(set, path), 0, NAN, false);
    }
    for (unsigned i = 0; i < VALUES; i++) {
        unsigned number = i % LONG, sample = i / LONG;
        snprintf(path, sizeof path, "line %u", number);
        double value = sample == 1000 + number ? 1e6 : sample == 2000 + number ? -1e6 : (double)(sample % 7);
        series_add(set, sample + 1, series_of(set, path), sample, value, false);
        series_add(set, sample + 1, series_of(set, path), sample, 2e9, false);
        if (sample % 10000 == 0 && number == 0) {
            series_add(set, sample + 1, series_of(set, "quiet"), sample, i, false);
        }
    }
    series_add(set, VALUES, series_of(set, "quiet"), VALUES, NAN, false);
    series_add(set, VALUES, series_of(set, "quiet"), VALUES, 20000 * LONG, false);
    series_finish(set);
}

int main(void)
{
    series_set set;
    uint64_t points = 0;

    series_begin(&set);
    fill(&set);
    assert(set.is_thinned && set.left_out == VALUES + 1 && set.values == 2 * VALUES + 4);
    assert(set.all->len == EMPTY + LONG + 1);
    for (unsigned i = EMPTY; i < set.all->len; i++) {
        const series *s = g_ptr_array_index(set.all, i);
        points += s->points->len;
        if (strcmp(s->path, "quiet") == 0) {
            check(s, 3, 0, 20000 * LONG);
            assert(s->points->len == 3);
        } else {
            check(s, VALUES / LONG, -1e6, 1e6);
            assert(s->points->len > 1000);
        }
    }
    assert(points == set.num_points && points * POINT < PAGE);
    series_end(&set);
    return 0;
}
