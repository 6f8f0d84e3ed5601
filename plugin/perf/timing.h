/* timing.h
 * Lateness and slowness: which requests for counter data came late, which responses are slow. Packets and the summary use the same rules.
 *
 * A size probe and the request that repeats it with more room are one request. All times are seconds.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMING_LATE 1.5         /* times the usual gap: a gap is long beyond this */
#define TIMING_LATE_ACROSS 3.0  /* times the usual gap: a gap from one query to the next is late beyond this */
#define TIMING_LATE_LEAST 0.05  /* seconds more than usual: three ticks of Windows's timer are no lateness */
#define TIMING_FEWEST_GAPS 8    /* gaps: fewer do not tell what is usual */
#define TIMING_RARE 10          /* one gap in ten may be long; if more are, long gaps belong to the monitor's timing */
#define TIMING_PROBE_SHARE 4    /* a probe's repetition follows within the usual gap divided by this */
#define TIMING_SLOW 5.0         /* seconds: a response is slow, whatever is usual */
#define TIMING_SLOW_FACTOR 4    /* times the lower quartile of the response times */
#define TIMING_SLOW_EXTRA 0.1   /* seconds added to these: from 1 ms to 50 ms is not slow */
#define TIMING_SLOW_LEAST 1.0   /* seconds: not slow below this, or below half the usual gap if that is less */
#define TIMING_SLOW_GAPS 3      /* gaps: fewer do not tell half of what */
#define TIMING_REPEATED 0.5     /* seconds after a response without data in which the request is repeated */
#define TIMING_OTHER_CLOCK 60.0 /* seconds that a server's clock moves more or less than all others: another clock */

/* True if a gap is longer than `factor` times the usual one (seconds), and by TIMING_LATE_LEAST at least. */
bool timing_is_long(double seconds, double usual, double factor);

/* True if the usual gap is the sampling interval: there are enough gaps, and long ones (timing_is_long()) are rare. */
bool timing_is_even(uint64_t gaps, uint64_t num_long);

/* True if a request is late, `gap` seconds after the one before it. `waited`: seconds from that one to its response, in which the client cannot
 * ask again; negative: there is none, which is reported elsewhere. */
bool timing_is_late(double gap, double waited, double usual, double factor);

/* Returns the seconds from which on a response is slow. `quartile`: the lower one of response times; `usual`: seconds, of `gaps` gaps. */
double timing_slow_from(double quartile, double usual, uint64_t gaps);

/* --- A packet: from what came before it ------------------------------------------------------------------------ */

/* A late request's gap, or a slow response's time, and the usual one, in seconds. `seconds` 0: not late, or not slow. */
typedef struct {
    double seconds, usual;
} timing_fact;

/* Requests for the same data, as packets show them. Begins as zeros. */
typedef struct timing_series {
    double requested;  /* when the newest was sent, or its probe; 0: none was */
    double sent;       /* when its newest repetition was sent */
    double waited;     /* seconds until its response; negative: none came yet */
    bool is_probe;     /* the newest was answered without data: a size probe, or failed */
    timing_fact late;  /* gap of the newest, if it is late */
    perf_spread gaps;  /* between requests */
    perf_spread waits; /* response times of data */
} timing_series;

/* Adds a request, sent at `when` seconds. One that soon repeats a size probe counts as the probe's, and changes `sent` alone. Needs: the
 * order of the capture; `when` above 0. Changes: `late` and the gaps. */
void timing_add_request(timing_series *series, double when);

/* Adds the newest request's response, which took `seconds` (negative: not known). Returns its time and the lower quartile if it is slow. */
timing_fact timing_add_response(timing_series *series, double seconds, bool has_data);

/* --- A monitor: from all that was captured ---------------------------------------------------------------------- */

typedef struct {
    double when;      /* of the request, or of its size probe; timing_append() sets it */
    double sent;      /* of the request that was answered */
    double answered;  /* when the response was there; 0: there is none */
    double clock;     /* the server's performance time in seconds; 0: not known */
    double date;      /* the server's time of day; of a known clock */
    const void *call; /* the caller's */
    uint32_t query;   /* number of the query */
    uint32_t before;  /* place of its query's one before, TIMING_FIRST: none; timing_append() sets it */
    bool is_in_turn;  /* n sealed queries are open, nothing tells which is asked: `before` is the n-th before */
    bool has_no_data; /* the response: a size probe, or failed */
} timing_request;

#define TIMING_FIRST UINT32_MAX /* no request stands before */

typedef struct {
    uint32_t before, request; /* places of both requests */
    uint32_t previous; /* place of the gap before in its chain of queries, one after the other; TIMING_FIRST: none */
    double seconds;
    double usual;   /* in its chain, or, if that is more, in the monitor; negative: not judged yet */
    bool is_across; /* from one query to the next */
    bool is_late;
    bool is_other_clock; /* across, and the server was restarted meanwhile, or is another machine */
} timing_gap;

typedef struct {
    double usual;     /* the median of the gaps, 0: there are none */
    double quartile;  /* the lower one of response times */
    double slow_from; /* response times from here on are slow */
    double jitter;    /* the median of what gaps are longer or shorter than usual, 0: there are none */
    uint32_t num_gaps;
    uint32_t longest; /* place of the longest gap; meaningless without gaps */
    bool is_even;     /* the usual gap is the sampling interval, of all chains */
    bool takes_turns; /* some are in turn: late if none was asked for as long, and the usual gap may be of no query */
} timing_verdict;

/* Adds a request to `count` others, or in the place of its query's newest (its place; TIMING_FIRST: none), if it repeats that within TIMING_REPEATED.
 * Returns its place. `num_open`: sealed queries that are open, more than one: is_in_turn. Needs: requests by time, room for one more. Changes: `count`. */
uint32_t timing_append(timing_request *requests, uint32_t *count, uint32_t newest, uint32_t num_open,
                       timing_request request);

/* Judges a monitor. Needs: requests by time, less than 2^32. Returns zeros without memory. Changes: fills `gaps`, with room for `count`. */
timing_verdict timing_judge(const timing_request *requests, uint32_t count, timing_gap *gaps);
