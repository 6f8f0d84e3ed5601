/* summary.c
 * What is left of a series of numbers
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 32

void perf_summary_add(perf_summary *summary, double value)
{
    if (summary->count++ == 0) {
        summary->first = summary->min = summary->max = value;
    }
    summary->last = value;
    summary->min = fmin(summary->min, value);
    summary->max = fmax(summary->max, value);
    /* Neumaier's sum: the mean of a million small numbers behind a large one stays right. */
    double sum = summary->sum + value;
    summary->lost += fabs(summary->sum) >= fabs(value) ? (summary->sum - sum) + value : (value - sum) + summary->sum;
    summary->sum = sum;
}

double perf_summary_mean(const perf_summary *summary)
{
    return summary->count > 0 ? (summary->sum + summary->lost) / (double)summary->count : 0;
}

/* --- Median -------------------------------------------------------------- */

/* Puts neighbours together as long as none becomes heavier than its share. */
static void thin_out(perf_spread *spread)
{
    uint64_t share = spread->count / PERF_SPREAD_RANKS;
    uint32_t to = 0;

    for (uint32_t i = 1; i < spread->num_values; i++) {
        perf_spread_value *kept = &spread->values[to], *next = &spread->values[i];
        if (kept->weight + next->weight <= share) {
            if (next->weight > kept->weight) {
                kept->value = next->value;
            }
            kept->weight += next->weight;
        } else {
            spread->values[++to] = *next;
        }
    }
    spread->num_values = to + 1;
}

static bool make_room(perf_spread *spread)
{
    if (spread->num_values < spread->room) {
        return true;
    }
    if (spread->room >= PERF_SPREAD_EXACT) {
        thin_out(spread);
        return true;
    }
    uint32_t room = spread->room > 0 ? 2 * spread->room : FIRST_ROOM;
    perf_spread_value *values = realloc(spread->values, room * sizeof *values);
    if (values == NULL) {
        return false;
    }
    spread->values = values;
    spread->room = room;
    return true;
}

/* The first that is larger. */
static uint32_t place_of(const perf_spread *spread, double value)
{
    uint32_t low = 0, high = spread->num_values;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (spread->values[middle].value <= value) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void add_weighted(perf_spread *spread, double value, uint64_t weight)
{
    if (!make_room(spread)) {
        return;
    }
    uint32_t at = place_of(spread, value);
    spread->count += weight;
    if (at > 0 && spread->values[at - 1].value == value) {
        spread->values[at - 1].weight += weight;
        return;
    }
    memmove(spread->values + at + 1, spread->values + at, (spread->num_values - at) * sizeof *spread->values);
    spread->values[at] = (perf_spread_value){value, weight};
    spread->num_values++;
}

void perf_spread_add(perf_spread *spread, double value)
{
    add_weighted(spread, value, 1);
}

void perf_spread_free(perf_spread *spread)
{
    free(spread->values);
    memset(spread, 0, sizeof *spread);
}

/* The number at this place of all in order, from 0. */
static double value_at(const perf_spread *spread, uint64_t place)
{
    const perf_spread_value *at = spread->values;

    for (; place >= at->weight; at++) {
        place -= at->weight;
    }
    return at->value;
}

double perf_spread_median(const perf_spread *spread)
{
    uint64_t low = (spread->count - 1) / 2, high = spread->count / 2;

    return spread->count > 0 ? value_at(spread, low) / 2 + value_at(spread, high) / 2 : 0;
}

double perf_spread_deviation(const perf_spread *spread, double median)
{
    perf_spread distances = {0};

    for (uint32_t i = 0; i < spread->num_values; i++) {
        add_weighted(&distances, fabs(spread->values[i].value - median), spread->values[i].weight);
    }
    double deviation = perf_spread_median(&distances);
    perf_spread_free(&distances);
    return deviation;
}
