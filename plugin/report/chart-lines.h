/* chart-lines.h
 * Each counter of a capture as a line of a chart, in bounded memory.
 *
 * A line with more points than its share of what a page may hold is thinned: of a group of neighbors the smallest, the largest and the
 * first gap stay, at their own times, so that no peak is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <wsutil/json_dumper.h>

#include "perf/summary.h"
#include "values/value-stream.h"

typedef struct {
    double at;    /* seconds since 1970 */
    double value; /* NAN: a gap, the counter has no value at this time */
    bool is_assumed;
} chart_point;

/* A question of a query or key, asked again and again. Begins as zeros. */
typedef struct {
    unsigned samples; /* and requests that got none */
    double at;        /* seconds since 1970: of the newest */
    bool is_asked;    /* the newest request has no response yet */
} chart_query;

/* The line of a path. */
typedef struct {
    char *path;
    counter_identity whose;
    perf_summary results; /* all of them, also those without a point of their own */
    uint64_t assumed;     /* results that are assumed */
    GArray *points;       /* chart_point */
    unsigned thinned;     /* points in front that stand for groups */
    unsigned group_size;  /* results and gaps of a group; 1: each is a point */
    chart_query *query;   /* the one that delivered the path last */
    unsigned sample;      /* number of that sample in the query */
    double at, newest;    /* its time, and the result in it */
} chart_line;

/* All lines of a capture. */
typedef struct {
    GHashTable *by_path;  /* path -> chart_line, with results or without; owns them */
    GPtrArray *all;       /* chart_line with results, in the order of their first */
    GHashTable *by_query; /* key -> chart_query; owns both */
    uint64_t values;      /* results that were added */
    uint64_t omitted;     /* results without room, or of a path that the sample had before */
    uint64_t path_bytes;  /* text of all lines but their points, as if each were in the page */
    bool is_thinned;
} chart_lines;

void chart_lines_begin(chart_lines *lines);
void chart_lines_end(chart_lines *lines);

/* `key`: tells a query from all others. */
chart_query *chart_query_find_or_create(chart_lines *lines, const char *key);

/* Adds a request for a sample. Changes: if the one before got no response, it counts as a sample. */
void chart_query_add_request(chart_query *query, double at);

/* Adds a response; `is_sample`: it is one to the query's question, with values or without. */
void chart_query_add_response(chart_query *query, double at, bool is_sample);

/* Returns NULL without room for another path. */
chart_line *chart_line_find_or_create(chart_lines *lines, const char *path);

/* Adds a result of the query's newest sample to a line. `line`: NULL: no room for its path, or another counter has that path; it is counted as
 * omitted. Of a sample the first result of a line counts; a second is omitted, an equal one ignored. Needs: a finite value and finite times. Changes: adds a gap in front, half way, where the query's samples between had no result of the line. */
void chart_line_add(chart_lines *lines, chart_line *line, chart_query *query, double value, bool is_assumed);

/* Writes all lines as members of a JSON object: "series", for each line [path, unit, results, their minimum, mean, maximum and last, how many are
 * assumed, clock, values, runs of assumed ones], and "clocks", the lists of times that they have. More results may come. `begin`: seconds
 * since 1970. */
void chart_lines_put(json_dumper *json, chart_lines *lines, double begin);
