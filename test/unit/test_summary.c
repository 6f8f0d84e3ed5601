/* test_summary.c
 * Mean, median and spread against sorting everything
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned failures;
static uint64_t state = 88172645463325252U;

static double next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state % 1000003) / 997;
}

static void expect(const char *what, double got, double expected)
{
    if (got != expected) {
        fprintf(stderr, "%s: %.17g, expected %.17g\n", what, got, expected);
        failures++;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double middle(const double *sorted, unsigned count)
{
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Of the newest numbers: random ones, few different ones, descending ones; of all in another order. */
static void test_spread(unsigned count, unsigned kinds)
{
    unsigned newest = count < PERF_SPREAD_NEWEST ? count : PERF_SPREAD_NEWEST;
    double *all = calloc(count, sizeof *all), *shuffled = calloc(count, sizeof *all), *numbers = all + count - newest;
    perf_spread spread = {0};

    for (unsigned i = 0; i < count; i++) {
        all[i] = kinds == 0 ? next_random() : kinds == 1 ? -1.0 * i : floor(next_random()) / kinds;
        perf_spread_add(&spread, all[i]);
        unsigned other = (unsigned)(next_random() * 997) % (i + 1);
        shuffled[i] = shuffled[other];
        shuffled[other] = all[i];
    }
    qsort(numbers, newest, sizeof *numbers, compare);
    expect("median", perf_spread_median(&spread), middle(numbers, newest));
    expect("count", spread.count, count);
    expect("kept", spread.num_values, newest);
    qsort(all, count, sizeof *all, compare);
    expect("median of all", perf_median(shuffled, count), middle(all, count));
    free(all);
    free(shuffled);
}

static void test_summary(void)
{
    perf_summary summary = {0};

    expect("no mean", perf_summary_mean(&summary), 0);
    perf_summary_add(&summary, -2);
    perf_summary_add(&summary, 5);
    perf_summary_add(&summary, 3);
    expect("last", summary.last, 3);
    expect("min", summary.min, -2);
    expect("max", summary.max, 5);
    expect("mean", perf_summary_mean(&summary), 2);
}

/* Of a long line each part keeps its smallest, its largest and its first gap, in their order; of a short one all stay. */
static void test_line(size_t count, size_t most)
{
    perf_line_point points[1000];

    for (size_t i = 0; i < count; i++) {
        points[i] = (perf_line_point){(double)i,
                                      i % 50 == 7 ? NAN
                                      : i == 400  ? 1e9
                                      : i == 401  ? -1e9
                                                  : next_random(),
                                      i % 3 == 0};
    }
    size_t kept = perf_line_thin(points, count, most);
    unsigned peaks = 0, gaps = 0, last = 0;
    for (size_t i = 0; i < kept; i++) {
        expect("order", i == 0 || points[i].at > points[i - 1].at, 1);
        expect("with its place", points[i].is_assumed, (unsigned)points[i].at % 3 == 0);
        peaks += fabs(points[i].value) == 1e9;
        gaps += isnan(points[i].value);
        last = (unsigned)points[i].at;
    }
    expect("points", count <= most ? kept == count : kept <= most && kept >= most / 3, 1);
    expect("peaks", peaks, 2);
    expect("some gaps", gaps >= (count <= most ? count / 50 : 1), 1);
    expect("the end", count - last < 3 * count / most + 2, 1);
}

int main(void)
{
    perf_spread none = {0};

    test_summary();
    for (size_t most = 3; most < 1200; most += most / 8 + 1) {
        test_line(1000, most);
        test_line(999, most);
    }
    expect("no median", perf_spread_median(&none), 0);
    for (unsigned kinds = 0; kinds < 3; kinds++) {
        for (unsigned count = 1; count < 40; count++) {
            test_spread(count, kinds);
        }
        test_spread(PERF_SPREAD_NEWEST, kinds);
        test_spread(10000, kinds);
    }
    return failures > 0;
}
