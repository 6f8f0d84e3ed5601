/* pace.h
 * Which samples of a handle are late, and whether the client or the server made them so.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/samples.h"

#include "perf/calculate.h"
#include "perf/summary.h"

/* A sample is late if the time since the one before is so many times the longest of those before it, of which there are at least
 * so many; what an answer took too long does not count among these. What comes later changes no verdict. */
#define PACE_LATE 1.5
#define PACE_FEWEST 3

enum { PACE_IN_TIME, PACE_ASKED_LATE, PACE_ANSWERED_LATE };

/* Those for a sample since the sample before, whatever came of them: who asked in time is not to blame if the server failed. All times in seconds;
 * begins as zeros. */
typedef struct {
    double newest;  /* this may be that of the sample before */
    double longest; /* from one to the next, while the client waited for no answer */
    unsigned count;
    bool is_waiting;  /* the newest has no answer yet */
    bool misses_some; /* perhaps: calls were not captured */
} pace_requests;

void pace_ask(pace_requests *requests, double when);

/* All times in seconds. Begins as zeros. */
typedef struct state_pace {
    double
        waited; /* for answers: of the calls since the sample before, and of its own, which delays the next one, too */
    pace_requests requests;
    perf_spread intervals;
    double longest; /* of them, without what an answer took too long */
    perf_spread waits;
    perf_point clocks; /* of the newest sample, */
    uint32_t event;    /* and when it was answered, 0 without one */
    /* asked late, unless the client asked on another connection, of which that is not known yet; NULL without one */
    struct state_sample *perhaps_late;
    const struct state_late *how_late;
} state_pace;

/* A response without one came in so many seconds. */
void pace_wait_for(state_pace *pace, double seconds);

/* A late sample. */
struct state_late {
    unsigned verdict;
    double interval;        /* seconds since the sample before */
    double median_interval; /* of those before, seconds */
};

/* Adds the next sample to a pace, on the first pass. `event`: of its answer, which took `seconds` (negative: not known); of `clocks` only the
 * three clocks are read. Returns how late it is, as long as the file; NULL if it is in time. */
const struct state_late *pace_pass(state_pace *pace, uint32_t event, const perf_point *clocks, double seconds);

/* The three below are of the first pass. Samples of a handle that answer other questions (HKEY_PERFORMANCE_DATA) have a pace of their own;
 * `question` lives as long as the file. */
state_pace *pace_of(state_handle *handle, const char *question);

/* A sample was asked for. */
void pace_request(state_handle *handle, const char *question, const nstime_t *when);

/* The call that brought the sample took `seconds` (negative: not known). Judges how long after the sample before it came, and sets
 * `sample->late`; of `clocks` only the three clocks are read. */
void pace_sample(state_sample *sample, const char *question, const perf_point *clocks, double seconds);
