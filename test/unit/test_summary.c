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

int main(void)
{
    perf_spread none = {0};

    test_summary();
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
