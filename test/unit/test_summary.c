/* test_summary.c
 * Mean, median and spread against sorting everything
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;
static uint64_t state = 88172645463325252U;

static double next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state % 1000003) / 997;
}

static void expect(const char *what, double got, double low, double high)
{
    if (!(got >= low && got <= high)) {
        fprintf(stderr, "%s: %.17g, expected %.17g to %.17g\n", what, got, low, high);
        failures++;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of `count` sorted numbers, and what lies `off` places beside it. */
static double middle(const double *sorted, unsigned count, int off)
{
    int low = (int)(count - 1) / 2 + off, high = (int)count / 2 + off;

    low = low < 0 ? 0 : low;
    high = high >= (int)count ? (int)count - 1 : high;
    return (sorted[low] + sorted[high]) / 2;
}

static void test_spread(unsigned count, unsigned kinds, int off)
{
    double *numbers = calloc(count, sizeof *numbers);
    perf_spread spread = {0};

    for (unsigned i = 0; i < count; i++) {
        numbers[i] = kinds == 0 ? next_random() : kinds == 1 ? i : floor(next_random()) / kinds;
        perf_spread_add(&spread, numbers[i]);
    }
    qsort(numbers, count, sizeof *numbers, compare);
    double median = perf_spread_median(&spread);
    expect("median", median, middle(numbers, count, -off), middle(numbers, count, off));
    for (unsigned i = 0; i < count; i++) {
        numbers[i] = fabs(numbers[i] - median);
    }
    qsort(numbers, count, sizeof *numbers, compare);
    expect("deviation", perf_spread_deviation(&spread, median), middle(numbers, count, -2 * off),
           middle(numbers, count, 2 * off));
    if (spread.count != count || spread.num_values > PERF_SPREAD_EXACT) {
        fprintf(stderr, "%u numbers: count %u, %u kept\n", count, (unsigned)spread.count, spread.num_values);
        failures++;
    }
    perf_spread_free(&spread);
    free(numbers);
}

static void test_summary(void)
{
    perf_summary summary = {0};

    expect("no mean", perf_summary_mean(&summary), 0, 0);
    perf_summary_add(&summary, -2);
    perf_summary_add(&summary, 5);
    perf_summary_add(&summary, 3);
    expect("first", summary.first, -2, -2);
    expect("last", summary.last, 3, 3);
    expect("min", summary.min, -2, -2);
    expect("max", summary.max, 5, 5);
    expect("mean", perf_summary_mean(&summary), 2, 2);
    memset(&summary, 0, sizeof summary);
    perf_summary_add(&summary, 1e17);
    for (unsigned i = 0; i < 1000000; i++) {
        perf_summary_add(&summary, 1);
    }
    perf_summary_add(&summary, -1e17);
    expect("mean of small ones", perf_summary_mean(&summary), 1000000.0 / 1000002, 1000000.0 / 1000002);
}

/* What comes again takes no more room; what was freed can begin anew. */
static void test_equal_numbers(void)
{
    static const double numbers[] = {7, 5, 7, 5, 7};
    perf_spread spread = {0};

    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            perf_spread_add(&spread, numbers[i]);
        }
        expect("kept", spread.num_values, 2, 2);
        expect("of all", (double)spread.count, 5, 5);
        expect("median of two", perf_spread_median(&spread), 7, 7);
        perf_spread_free(&spread);
    }
}

int main(void)
{
    perf_spread none = {0};

    test_summary();
    test_equal_numbers();
    expect("no median", perf_spread_median(&none), 0, 0);
    expect("no deviation", perf_spread_deviation(&none, 0), 0, 0);
    for (unsigned count = 1; count < 40; count++) {
        test_spread(count, 0, 0);
        test_spread(count, 7, 0);
    }
    test_spread(PERF_SPREAD_EXACT, 0, 0);
    test_spread(200000, 7, 0); /* few different ones */
    test_spread(200000, 0, 200000 / PERF_SPREAD_RANKS);
    test_spread(200000, 1, 200000 / PERF_SPREAD_RANKS);
    return failures > 0;
}
