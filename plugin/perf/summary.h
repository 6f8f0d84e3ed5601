/* summary.h
 * Statistics of numbers as they come: extremes, mean, median; and lines of them in time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extremes, sum and the last of finite numbers. Begins as zeros; all but `count` mean something once there are any. */
typedef struct perf_summary {
    uint64_t count;
    double last;
    double min;
    double max;
    double sum;
} perf_summary;

/* Adds a finite number. */
void perf_summary_add(perf_summary *summary, double value);
/* Returns the mean; 0 without numbers. */
double perf_summary_mean(const perf_summary *summary);

/* Compares two doubles for qsort(), ascending. */
int perf_compare_numbers(const void *a, const void *b);

/* Returns the median of `count` numbers; 0 without numbers or memory. */
double perf_median(const double *numbers, size_t count);

/* The newest numbers, sorted, for their median while more come. Begins as zeros. */
#define PERF_SPREAD_NEWEST 64 /* numbers that are kept */

typedef struct perf_spread {
    struct {
        double value;
        uint64_t number;          /* how many came before it */
    } values[PERF_SPREAD_NEWEST]; /* ascending by value */
    uint32_t num_values;
    uint64_t count; /* of all numbers, with those that are no longer kept */
} perf_spread;

/* Adds a number, in the place of the oldest if PERF_SPREAD_NEWEST are there. */
void perf_spread_add(perf_spread *spread, double value);

/* Returns the median of the newest numbers; 0 without numbers. */
double perf_spread_median(const perf_spread *spread);

/* A point of a line. */
typedef struct perf_line_point {
    double at;    /* seconds; first, for perf_compare_numbers() */
    double value; /* NAN: a gap, there is no value at this time */
    bool is_assumed;
} perf_line_point;

/* Thins a line in place: of each part of its points the smallest, the largest and the first gap stay, in their order. There are so many parts that at
 * most `most` points stay, and mostly two thirds of them; of no more than `most` points all do. Needs: `most` is 3 at least. Returns how many stay. */
size_t perf_line_thin(perf_line_point *points, size_t count, size_t most);
