/* series.h
 * Each counter of a capture as a line that a picture needs no more of, in bounded memory.
 *
 * A listener adds the results as they come. When all lines together have more points than a page may hold, the longer half
 * of them is thinned: of every four neighbours the smallest and the largest stay, at their own times, so that no peak is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/summary.h"
#include "readings/readings.h"

typedef struct {
    double at; /* seconds since 1970 */
    double value;
} series_point;

/* One path. */
typedef struct {
    char *path;
    readings_whose whose;
    perf_summary results;   /* of all, also of those that have no point any more */
    uint64_t assumed;       /* results */
    GArray *points;         /* series_point, in the order in which they came */
    unsigned one_of;        /* results that become two points: the smallest and the largest; 1: each is a point */
    unsigned waiting;       /* results that are not points yet, and of them */
    series_point low, high; /* these */
    uint64_t answer;        /* in which it came last, */
    double newest;          /* its value there, the first one; NAN: none */
} series;

/* All of a capture. */
typedef struct {
    GHashTable *by_path; /* path -> series */
    GPtrArray *all;      /* the same, in the order in which they turned up; owns them */
    uint64_t values;     /* results that were added, */
    uint64_t left_out; /* and those of them for which there was no room, or of a path that had another in the answer */
    uint64_t kept;     /* bytes of all counters, as they would be in the page, */
    uint64_t bytes;    /* and of those that have results */
    uint64_t num_points;
    bool is_thinned;
} series_set;

void series_begin(series_set *set);
void series_end(series_set *set);

/* NULL: there is no room for a path more. */
series *series_of(series_set *set, const char *path);

/* A result of a line (may be NULL), or NAN for none; times are finite. Of one answer, by its number from 1 on, the first counts. */
void series_add(series_set *set, uint64_t answer, series *s, double at, double value, bool assumed);

/* Behind the last: what waits becomes points. More may come. */
void series_finish(series_set *set);
