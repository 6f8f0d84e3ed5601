/* pace.h
 * How often a monitor takes a sample, how long it waits for the answer, and who is late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/pace.h"

/* All times in seconds. Begins as zeros; what takes long in it is freed by pace_free(). */
typedef struct {
    state_pace judged;
    perf_summary lengths; /* of intervals */
    perf_spread responses;
    double slowest; /* response, and its frame */
    uint32_t slowest_frame;
    uint64_t late[PACE_VERDICTS];
    uint32_t frames[PACE_VERDICTS]; /* the first of each, and how long after the one before it came */
    double firsts[PACE_VERDICTS];
} pace;

void pace_free(pace *p);

/* A sample came in this frame, so long after the one before; then how long its answer took, negative where that is not known.
 * Who is late is what state/pace says of the sample (NULL: sealed); behind another handle it is judged here by the same rule. */
void pace_add_interval(pace *p, double interval, uint32_t frame, const state_sample *sample);
void pace_add_response(pace *p, double seconds, uint32_t frame);

/* What came after that, as far as a monitor's verdict needs it. */
void pace_add_all(pace *p, const pace *later);
