/* summary.h
 * What is left of a series of numbers once they have gone by: extremes and mean, median and spread
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* Begins as zeros. The numbers are finite; all but `count` hold only when there were any. */
typedef struct perf_summary {
    uint64_t count;
    double first;
    double last;
    double min;
    double max;
    double sum;
    double lost; /* what rounding took from the sum */
} perf_summary;

void perf_summary_add(perf_summary *summary, double value);
double perf_summary_mean(const perf_summary *summary);

/* The middle one of `count` numbers; the mean of the two middle ones of an even count; 0 without numbers or memory. */
double perf_median(const double *numbers, size_t count);

/* Median of the newest numbers while more come, in bounded memory and time. */
#define PERF_SPREAD_NEWEST 256

typedef struct perf_spread_value {
    double value;
    uint64_t number; /* how many came before it */
} perf_spread_value;

/* Begins as zeros. */
typedef struct perf_spread {
    perf_spread_value *values; /* ascending by value */
    uint32_t num_values;
    uint32_t room;
    uint64_t count; /* of all numbers */
} perf_spread;

/* Adds a number. If there is no memory, it does not count. */
void perf_spread_add(perf_spread *spread, double value);

/* Frees what it holds, not itself; it is empty then. */
void perf_spread_free(perf_spread *spread);

/* 0 without numbers. */
double perf_spread_median(const perf_spread *spread);
