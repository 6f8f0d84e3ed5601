/* pace.h
 * Which samples of a handle are late, and whether the client or the server made them so.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/samples.h"

#include "perf/calculate.h"
#include "perf/summary.h"

/* A sample is late if the time since the one before is so many times the median of those before it, of which there are at least
 * so many: what comes later changes no verdict. */
#define PACE_LATE 1.5
#define PACE_FEWEST 3

enum { PACE_IN_TIME, PACE_ASKED_LATE, PACE_ANSWERED_LATE, PACE_VERDICTS };

/* All times in seconds. Begins as zeros; state_pace_free() frees what it points to. */
typedef struct state_pace {
    double
        waited; /* for answers: of the calls since the sample before, and of its own, which delays the next one, too */
    perf_spread intervals;
    perf_spread waits;
    perf_point clocks; /* of the newest sample */
    struct state_pace *next;
} state_pace;

void state_pace_free(state_pace *pace);

/* A time between two samples, judged by those before. An answer is to blame if the client waited longer than it mostly does, by
 * at least half of what the time is too long. */
unsigned state_pace_judge(state_pace *pace, double interval);

/* A late sample. */
struct state_late {
    unsigned verdict;
    double interval;
    double usual;
};

/* On the first pass: one that lives as long as the file; and a sample that came so long after the one before (0: there is none) and took
 * so long. NULL if it is in time. */
state_pace *pace_new(void);
const struct state_late *pace_judge(state_pace *pace, double interval, double seconds);

/* On the first pass, how long a call of the handle took (seconds; negative: not known). Of one that brought its newest sample: judges how
 * long after the one before it came, and sets `late`; of `clocks` only the three clocks are read. Samples that answer other questions (HKEY_PERFORMANCE_DATA) have a pace of their own; `question` lives as long as the file. */
void pace_wait(state_handle *handle, const char *question, double seconds);
void pace_sample(state_sample *sample, const char *question, const perf_point *clocks, double seconds);

void paces_register(void);
