/* timing.c
 * Lateness and slowness: which requests for counter data came late, which responses are slow.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/timing.h"

#include <math.h>
#include <stdlib.h>

bool timing_is_long(double seconds, double usual, double factor)
{
    return seconds > factor * usual && seconds >= usual + TIMING_LATE_LEAST;
}

bool timing_is_even(uint64_t gaps, uint64_t num_long)
{
    return gaps >= TIMING_FEWEST_GAPS && (num_long <= 1 || num_long * TIMING_RARE <= gaps);
}

bool timing_is_late(double gap, double waited, double usual, double factor)
{
    return timing_is_long(gap, usual, factor) && waited >= 0 && timing_is_long(gap - waited, usual, TIMING_LATE);
}

double timing_slow_from(double quartile, double usual, uint64_t gaps)
{
    double least = gaps >= TIMING_SLOW_GAPS ? fmin(TIMING_SLOW_LEAST, usual / 2) : TIMING_SLOW_LEAST;

    return fmin(TIMING_SLOW, fmax(TIMING_SLOW_FACTOR * quartile + TIMING_SLOW_EXTRA, least));
}

/* True if `usual` is the sampling interval by the newest gaps. These ascend, so long ones are at the end. */
static bool is_even_series(const perf_spread *gaps, double usual)
{
    uint32_t num_long = 0;

    while (num_long < gaps->num_values &&
           timing_is_long(gaps->values[gaps->num_values - 1 - num_long].value, usual, TIMING_LATE)) {
        num_long++;
    }
    return timing_is_even(gaps->num_values, num_long);
}

void timing_add_request(timing_series *series, double when)
{
    double usual = perf_spread_median(&series->gaps), gap = when - series->requested;
    bool is_soon = series->gaps.count == 0 || gap < usual / TIMING_PROBE_SHARE;

    series->sent = when;
    if (series->requested > 0 && series->is_probe && is_soon) {
        series->is_probe = false;
        return;
    }
    series->late = (timing_fact){0, 0};
    if (series->requested > 0 && gap > 0) {
        if (is_even_series(&series->gaps, usual) && timing_is_late(gap, series->waited, usual, TIMING_LATE)) {
            series->late = (timing_fact){gap, usual};
        }
        perf_spread_add(&series->gaps, gap);
    }
    series->requested = when;
    series->waited = -1;
    series->is_probe = false;
}

timing_fact timing_add_response(timing_series *series, double seconds, bool has_data)
{
    uint32_t count = series->waits.num_values;
    double quartile = count > 0 ? series->waits.values[count / 4].value : 0;
    double from = count < TIMING_FEWEST_GAPS
                      ? TIMING_SLOW
                      : timing_slow_from(quartile, perf_spread_median(&series->gaps), series->gaps.num_values);

    series->is_probe = !has_data;
    if (seconds < 0) {
        return (timing_fact){0, 0};
    }
    series->waited = series->sent - series->requested + seconds;
    if (!has_data) {
        return (timing_fact){0, 0};
    }
    perf_spread_add(&series->waits, seconds);
    return seconds >= from ? (timing_fact){seconds, quartile} : (timing_fact){0, 0};
}

uint32_t timing_append(timing_request *requests, uint32_t *count, uint32_t newest, uint32_t num_open,
                       timing_request request)
{
    const timing_request *before = newest != TIMING_FIRST ? &requests[newest] : NULL;
    bool is_repetition = before && before->has_no_data && request.sent - before->answered < TIMING_REPEATED;
    uint32_t place = is_repetition ? newest : (*count)++;

    request.when = is_repetition ? before->when : request.sent;
    request.before = is_repetition ? before->before : newest;
    request.is_in_turn = num_open > 1;
    if (request.is_in_turn) {
        request.before = place >= num_open ? place - num_open : TIMING_FIRST;
    }
    requests[place] = request;
    return place;
}

/* Returns the gap between two requests, by their places, not late. */
static timing_gap gap_between(const timing_request *requests, uint32_t before, uint32_t request)
{
    return (timing_gap){.before = before,
                        .request = request,
                        .seconds = requests[request].when - requests[before].when,
                        .usual = -1,
                        .is_across = requests[before].query != requests[request].query};
}

/* Pairs each request with the one before; a query's first with the newest end of another, which the monitor goes on from. Queries that are open
 * at the same time are thus chains of their own. `ending`: places of the gaps that end in each request. Needs: `has_next` is false, room for `count` in
 * all. Returns how many gaps there are. */
static uint32_t find_gaps(const timing_request *requests, uint32_t count, bool *has_next, uint32_t *ended,
                          uint32_t *ending, timing_gap *gaps)
{
    uint32_t num_gaps = 0, num_ended = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (requests[i].before != TIMING_FIRST) {
            has_next[requests[i].before] = true;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = requests[i].before;
        if (before == TIMING_FIRST && num_ended > 0) {
            before = ended[--num_ended];
        }
        ending[i] = before != TIMING_FIRST ? num_gaps : TIMING_FIRST;
        if (before != TIMING_FIRST) {
            gaps[num_gaps] = gap_between(requests, before, i);
            gaps[num_gaps++].previous = ending[before];
        }
        if (!has_next[i]) {
            ended[num_ended++] = i;
        }
    }
    return num_gaps;
}

/* True if the gap's request is late. A query's first gap never is: the client sets up, then its timer begins. Nor is one that is not long by
 * the server's clock. */
static bool is_late_gap(const timing_request *requests, const timing_gap *gap)
{
    double usual = gap->usual;
    const timing_request *before = &requests[gap->before], *request = &requests[gap->request];
    double waited = before->answered > 0 ? before->answered - before->when : -1,
           ticked = request->clock - before->clock;
    bool has_clocks = before->clock > 0 && request->clock > before->clock;
    bool is_start = !gap->is_across && before->before == TIMING_FIRST;

    return timing_is_late(gap->seconds, waited, usual, gap->is_across ? TIMING_LATE_ACROSS : TIMING_LATE) &&
           !is_start && !(has_clocks && !timing_is_long(ticked, usual, TIMING_LATE));
}

/* True if from one query to the next the server's performance time moves otherwise than the capture's, and than its own time of day. One that stood for a
 * while goes on, as of a machine that was suspended. The newest known clock counts of the query before. */
static bool has_other_clock(const timing_request *requests, const timing_gap *gap)
{
    const timing_request *before = &requests[gap->before], *request = &requests[gap->request];

    while (before->clock <= 0 && before->before != TIMING_FIRST) {
        before = &requests[before->before];
    }
    double ticked = request->clock - before->clock, passed = request->answered - before->answered;
    bool has_stood = ticked >= 0 && ticked <= passed;
    return gap->is_across && before->clock > 0 && request->clock > 0 && !has_stood &&
           fabs(ticked - passed) >= TIMING_OTHER_CLOCK &&
           fabs(ticked - (request->date - before->date)) >= TIMING_OTHER_CLOCK;
}

/* Judges a chain by what is usual in it, or, if that is more, in the monitor. Needs: its newest gap, `numbers` with room for all. Returns true if it is
 * slower than the monitor. Changes: its gaps: what is usual, and, if the chain is even or goes as an even monitor does, which are late. */
static bool judge_chain(const timing_verdict *v, const timing_request *requests, timing_gap *gaps, uint32_t newest,
                        double *numbers)
{
    uint32_t count = 0, num_long = 0;

    for (uint32_t i = newest; i != TIMING_FIRST; i = gaps[i].previous) {
        numbers[count++] = gaps[i].seconds;
    }
    double usual = fmax(perf_median(numbers, count), v->usual);
    for (uint32_t i = 0; i < count; i++) {
        num_long += timing_is_long(numbers[i], usual, TIMING_LATE);
    }
    bool is_slower = timing_is_long(usual, v->usual, TIMING_LATE);
    bool is_even = timing_is_even(count, num_long) || (v->is_even && !is_slower);
    for (uint32_t i = newest; i != TIMING_FIRST; i = gaps[i].previous) {
        gaps[i].usual = usual;
        gaps[i].is_late = is_even && is_late_gap(requests, &gaps[i]);
    }
    return is_slower;
}

/* Finds the longest gap, other clocks, whether the gaps are even, and which are late. Needs: `numbers` with room for all. Changes: `v`, gaps. */
static void judge_gaps(timing_verdict *v, const timing_request *requests, timing_gap *gaps, double *numbers)
{
    uint32_t num_long = 0;
    bool has_slower = false;

    for (uint32_t i = 0; i < v->num_gaps; i++) {
        num_long += timing_is_long(gaps[i].seconds, v->usual, TIMING_LATE);
        v->longest = gaps[i].seconds > gaps[v->longest].seconds ? i : v->longest;
        gaps[i].is_other_clock = has_other_clock(requests, &gaps[i]);
    }
    v->is_even = timing_is_even(v->num_gaps, num_long);
    for (uint32_t i = v->num_gaps; i-- > 0;) { /* a chain's newest gap comes first */
        has_slower |= gaps[i].usual < 0 && judge_chain(v, requests, gaps, i, numbers);
    }
    v->is_even &= !has_slower;
}

timing_verdict timing_judge(const timing_request *requests, uint32_t count, timing_gap *gaps)
{
    bool *has_next = calloc(count + 1, sizeof *has_next);
    uint32_t *ended = malloc((count + 1) * sizeof *ended), *ending = malloc((count + 1) * sizeof *ending);
    double *numbers = calloc(count + 1, sizeof *numbers);
    timing_verdict v = {.num_gaps = 0};
    uint32_t num_waits = 0;

    if (has_next && ended && ending && numbers) {
        v.num_gaps = find_gaps(requests, count, has_next, ended, ending, gaps);
        for (uint32_t i = 0; i < v.num_gaps; i++) {
            numbers[i] = gaps[i].seconds;
        }
        v.usual = perf_median(numbers, v.num_gaps);
        for (uint32_t i = 0; i < count; i++) {
            v.takes_turns |= requests[i].is_in_turn;
            numbers[num_waits] = requests[i].answered - requests[i].sent;
            num_waits += requests[i].answered > 0;
        }
        for (uint32_t i = 1; v.takes_turns && i < count; i++) {
            gaps[i - 1] = gap_between(requests, i - 1, i);
            gaps[i - 1].previous = i > 1 ? i - 2 : TIMING_FIRST;
            v.num_gaps = i;
        }
        qsort(numbers, num_waits, sizeof *numbers, perf_compare_numbers);
        v.quartile = num_waits > 0 ? numbers[num_waits / 4] : 0;
        v.slow_from = timing_slow_from(v.quartile, v.usual, v.num_gaps);
        judge_gaps(&v, requests, gaps, numbers);
        for (uint32_t i = 0; i < v.num_gaps; i++) {
            numbers[i] = fabs(gaps[i].seconds - v.usual);
        }
        v.jitter = perf_median(numbers, v.num_gaps);
    }
    free(numbers);
    free(ending);
    free(ended);
    free(has_next);
    return v;
}
