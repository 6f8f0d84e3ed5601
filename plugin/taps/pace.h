/* pace.h
 * How often a monitor takes a sample, how long it waits for the answer, and who is late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include "perf/summary.h"

/* An interval is late if it is so many times as long as the median. */
#define PACE_LATE 1.5

enum { PACE_IN_TIME, PACE_ASKED_LATE, PACE_ANSWERED_LATE, PACE_VERDICTS };

/* All times in seconds. Begins as zeros; what takes long in it is freed by pace_free(). */
typedef struct {
    double waited; /* for answers, since the last sample and for it */
    perf_summary lengths;
    perf_spread intervals;
    perf_spread waits;
    perf_spread responses;
    double slowest; /* response, and its frame */
    uint32_t slowest_frame;
    GArray *intervals_kept;         /* NULL before the first */
    uint64_t late[PACE_VERDICTS];   /* of those that are not among them */
    uint32_t frames[PACE_VERDICTS]; /* the first of these */
} pace;

void pace_free(pace *p);

/* A sample came in this frame, so long after the one before; then how long its answer took, negative where that is not known. */
void pace_add_interval(pace *p, double interval, uint32_t frame);
void pace_add_response(pace *p, double seconds, uint32_t frame);

/* How many intervals were late, and the first frame of each verdict, 0 without one. The first 4,096 intervals are judged by the median
 * of all, later ones by the median of those before. An answer is to blame if the client waited longer than it mostly does, by at least
 * half of what the interval is too long. */
void pace_judge(const pace *p, uint64_t late[PACE_VERDICTS], uint32_t frames[PACE_VERDICTS]);
