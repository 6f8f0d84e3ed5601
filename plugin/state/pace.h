/* pace.h
 * Which samples of a handle are late or came in a slow response, as their packets state it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/samples.h"

#include "perf/timing.h"

/* How a sample departs from those before it; what comes later changes nothing. */
typedef struct state_late {
    timing_fact late; /* the gap between its request and the one before */
    timing_fact slow; /* its response time */
} state_late;

/* Adds the response to the newest request, on the first pass. `seconds`: negative: not known. Returns: how the sample departs, as long as
 * the file; NULL: it is as usual, or there is none. */
const state_late *pace_respond(timing_series *series, double seconds, bool has_data);
