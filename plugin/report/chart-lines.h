/* chart-lines.h
 * Each counter of a capture as a line of a chart.
 *
 * A line with more points than its share of what a page may hold is thinned: of each part of them the smallest, the largest and the
 * first gap stay, at their own times, so that no peak is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <wsutil/json_dumper.h>

#include "perf/summary.h"
#include "taps/keyed-list.h"
#include "values/value-stream.h"

/* A response with values. */
typedef struct {
    const void *query; /* query, or question of a key; compared only. NULL: of a line without results */
    uint32_t number;   /* of the query's calls for values, answered or not; a size probe and its repetition are one */
    double at;         /* seconds since 1970 */
} chart_sample;

/* The line of a path. */
typedef struct {
    const char *path;
    counter_identity whose; /* the first counter of that path, which the caller compares */
    perf_summary results;   /* of all results, also those without a point of their own */
    uint64_t assumed;       /* number of results that are assumed */
    wmem_array_t *points;   /* perf_line_point; NULL without results */
    chart_sample newest;    /* that had a result of the line */
} chart_line;

/* All lines of a capture. Begins as zeros. */
typedef struct {
    keyed_list all;   /* chart_line, with results or without: the caller adds them */
    uint64_t values;  /* results that came, omitted ones too; a second of a line and sample not */
    uint64_t omitted; /* results without a line */
    bool is_thinned;  /* a line has fewer points than results and gaps */
} chart_lines;

/* Begins without a line; frees those of before. */
void chart_lines_begin(chart_lines *lines);

/* Adds a result to a line. Needs: a finite value and times. `line`: NULL: it has no room, or is of another counter; it is omitted. Of a
 * sample only the first result of a line counts. Changes: adds a gap in front of the result, at half the time, if a call of the query between
 * brought no result of the line. */
void chart_line_add(chart_lines *lines, chart_line *line, const chart_sample *sample, double value, bool is_assumed);

/* Writes two members of a JSON object. "series": for each line [path, unit, results, their minimum, mean, maximum, last, number assumed, clock,
 * values, places where assumed ones begin and end in turn]; "clocks": lists of times, of which `clock` is a place from 0. `begin`: seconds since
 * 1970, at which times begin. Changes: thins lines, sorts points by time; more results may come. */
void chart_lines_put(json_dumper *json, chart_lines *lines, double begin);
