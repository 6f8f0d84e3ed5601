/* pace.c
 * How often a monitor takes a sample, how long it waits for the answer, and who is late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/pace.h"

void pace_free(pace *p)
{
    state_pace_free(&p->judged);
    perf_spread_free(&p->responses);
}

void pace_add_interval(pace *p, double interval, uint32_t frame, const state_sample *sample)
{
    unsigned verdict = state_pace_judge(&p->judged, interval);

    if (sample && sample->previous) {
        verdict = sample->late ? sample->late->verdict : PACE_IN_TIME;
    }
    perf_summary_add(&p->lengths, interval);
    if (p->late[verdict]++ == 0) {
        p->frames[verdict] = frame;
        p->firsts[verdict] = interval;
    }
}

void pace_add_response(pace *p, double seconds, uint32_t frame)
{
    p->judged.waited = MAX(seconds, 0);
    if (seconds >= 0) {
        perf_spread_add(&p->responses, seconds);
    }
    if (seconds >= 0 && (p->slowest_frame == 0 || seconds > p->slowest)) {
        p->slowest = seconds;
        p->slowest_frame = frame;
    }
}

void pace_add_all(pace *p, const pace *later)
{
    perf_spread_add_all(&p->judged.intervals, &later->judged.intervals);
    perf_spread_add_all(&p->judged.waits, &later->judged.waits);
    perf_spread_add_all(&p->responses, &later->responses);
    p->judged.waited = later->judged.waited;
    p->lengths.max = MAX(p->lengths.max, later->lengths.max);
    if (later->slowest > p->slowest) {
        p->slowest = later->slowest;
        p->slowest_frame = later->slowest_frame;
    }
    for (unsigned i = 0; i < PACE_VERDICTS; i++) {
        if (p->late[i] == 0) {
            p->frames[i] = later->frames[i];
            p->firsts[i] = later->firsts[i];
        }
        p->late[i] += later->late[i];
    }
}
