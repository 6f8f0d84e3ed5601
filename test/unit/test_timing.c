/* test_timing.c
 * Where a gap begins to be long, a series even, a response slow; and what a packet says of itself
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/timing.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static void test_predicates(void)
{
    assert(!timing_is_long(1.5, 1, TIMING_LATE) && timing_is_long(1.51, 1, TIMING_LATE));
    assert(!timing_is_long(.06, .02, TIMING_LATE) && timing_is_long(.08, .02, TIMING_LATE));
    assert(!timing_is_even(7, 0) && timing_is_even(8, 1) && !timing_is_even(19, 2) && timing_is_even(20, 2));
    assert(timing_is_late(3, .1, 1, TIMING_LATE) && !timing_is_late(3, -1, 1, TIMING_LATE));
    assert(!timing_is_late(3, 2, 1, TIMING_LATE) && !timing_is_late(3, .1, 1, TIMING_LATE_ACROSS));
    assert(timing_slow_from(.01, 10, 2) == 1 && timing_slow_from(.01, 1, 3) == .5);
    assert(fabs(timing_slow_from(.4, 1, 3) - 1.7) < 1e-9 && timing_slow_from(2, 1, 3) == 5);
}

/* Each second, from a first moment; every response takes 10 ms. */
static double poll(timing_series *series, double when, unsigned count)
{
    for (; count > 0; count--, when += 1) {
        timing_add_request(series, when);
        assert(series->late.seconds == 0 && timing_add_response(series, .01, true).seconds == 0);
    }
    return when;
}

static void test_packets(void)
{
    timing_series series = {0}, few = {0}, probed = {0}, silent = {0};
    double when = poll(&series, 1000, 9);

    timing_add_request(&series, when + 1);
    assert(series.late.seconds == 2 && series.late.usual == 1);
    timing_fact slow = timing_add_response(&series, 4.2, true);
    assert(slow.seconds == 4.2 && slow.usual == .01);
    timing_add_request(&series, when + 6.3); /* it waited for the response before */
    assert(series.late.seconds == 0);

    timing_add_request(&few, poll(&few, 1000, 8) + 1); /* seven gaps */
    assert(few.late.seconds == 0 && timing_add_response(&few, 5, true).seconds == 5);

    when = poll(&probed, 1000, 9); /* a size probe and its repetition */
    timing_add_request(&probed, when);
    timing_add_response(&probed, .01, false);
    timing_add_request(&probed, when + .02);
    timing_add_response(&probed, .01, true);
    assert(fabs(probed.waited - .03) < 1e-9 && probed.gaps.count == 9);
    timing_add_request(&probed, when + 1);
    assert(probed.late.seconds == 0 && probed.gaps.count == 10);

    timing_add_request(&silent, poll(&silent, 1000, 9)); /* unanswered: said elsewhere */
    timing_add_request(&silent, 1020);
    assert(silent.late.seconds == 0);
}

static void test_appended(void)
{
    timing_request all[8] = {0};
    const timing_request probe = {.sent = 10, .answered = 10.1, .has_no_data = true},
                         sample = {.sent = 10.2, .answered = 10.3};
    const timing_request later = {.sent = 11}, failed = {.sent = 12, .answered = 12.1, .has_no_data = true},
                         anew = {.sent = 13};
    uint32_t count = 0;

    assert(timing_append(all, &count, TIMING_FIRST, 0, probe) == 0 && timing_append(all, &count, 0, 0, sample) == 0);
    assert(count == 1 && all[0].when == 10 && all[0].sent == 10.2 && all[0].before == TIMING_FIRST);
    assert(timing_append(all, &count, 0, 0, later) == 1 && all[1].when == 11 && all[1].before == 0);
    assert(timing_append(all, &count, 1, 1, failed) == 2 &&
           timing_append(all, &count, 2, 0, anew) == 3); /* too late to repeat it */
    assert(timing_append(all, &count, 0, 2, anew) == 4 && all[4].is_in_turn && all[4].before == 2);
    assert(timing_append(all, &count, 0, 7, anew) == 5 && all[5].before == TIMING_FIRST);
}

int main(void)
{
    test_predicates();
    test_packets();
    test_appended();
    return 0;
}
