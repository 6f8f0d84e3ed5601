/* summary.c
 * Statistics of numbers as they come, and lines thinned.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void perf_summary_add(perf_summary *summary, double value)
{
    if (summary->count++ == 0) {
        summary->min = summary->max = value;
    }
    summary->last = value;
    summary->min = fmin(summary->min, value);
    summary->max = fmax(summary->max, value);
    summary->sum += value;
}

double perf_summary_mean(const perf_summary *summary)
{
    return summary->count > 0 ? summary->sum / (double)summary->count : 0;
}

void perf_spread_add(perf_spread *spread, double value)
{
    uint32_t at = 0;

    if (spread->num_values < PERF_SPREAD_NEWEST) {
        at = spread->num_values++;
    } else {
        while (spread->values[at].number != spread->count - PERF_SPREAD_NEWEST) {
            at++;
        }
    }
    for (; at > 0 && spread->values[at - 1].value > value; at--) {
        spread->values[at] = spread->values[at - 1];
    }
    for (; at + 1 < spread->num_values && spread->values[at + 1].value < value; at++) {
        spread->values[at] = spread->values[at + 1];
    }
    spread->values[at].value = value;
    spread->values[at].number = spread->count++;
}

double perf_spread_median(const perf_spread *spread)
{
    uint32_t count = spread->num_values;

    return count > 0 ? spread->values[(count - 1) / 2].value / 2 + spread->values[count / 2].value / 2 : 0;
}

int perf_compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

double perf_median(const double *numbers, size_t count)
{
    double *sorted = count > 0 ? malloc(count * sizeof *sorted) : NULL, middle = 0;

    if (sorted) {
        memcpy(sorted, numbers, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, perf_compare_numbers);
        middle = sorted[(count - 1) / 2] / 2 + sorted[count / 2] / 2;
    }
    free(sorted);
    return middle;
}

size_t perf_line_thin(perf_line_point *points, size_t count, size_t most)
{
    size_t part_size = count > most ? count / (most / 3) + 1 : 1, kept = 0;

    for (size_t first = 0, next; first < count; first = next) {
        size_t low = first, high = first, gap = count;
        for (next = first; next < count && next - first < part_size; next++) {
            double value = points[next].value;
            gap = isnan(value) && gap == count ? next : gap;
            low = value < points[low].value || isnan(points[low].value) ? next : low;
            high = value > points[high].value || isnan(points[high].value) ? next : high;
        }
        for (size_t i = first; i < next; i++) {
            if (i == low || i == high || i == gap) {
                points[kept++] = points[i];
            }
        }
    }
    return kept;
}
