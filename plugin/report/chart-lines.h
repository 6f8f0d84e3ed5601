/* chart-lines.h
 * Each counter of a capture as a line of a chart, in bounded memory.
 *
 * A listener adds the results as they come. If all lines together have more points than a page may hold, the longer ones are thinned: of every
 * four neighbors the smallest and the largest stay, at their own times, so that no peak is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/summary.h"
#include "values/value-stream.h"

typedef struct {
    double at;    /* seconds since 1970 */
    double value; /* NAN: a gap, the counter has no value at this time */
    bool is_assumed;
} chart_point;

/* Neighbors that become at most three points: the smallest, the largest, the first gap. Begins as zeros. */
typedef struct {
    chart_point low, high, gap;
    unsigned values, gaps;
} chart_bucket;

/* One question of a query or key, asked again and again. */
typedef struct {
    GArray *times; /* double, seconds since 1970: of its samples, and of requests that got none */
    double asked;  /* time of a request that has no response yet, 0: none */
} chart_query;

/* One path. */
typedef struct {
    char *path;
    counter_identity whose;
    perf_summary results; /* all of them, also those without a point of their own */
    uint64_t assumed;     /* results that are assumed */
    GArray *points;       /* chart_point */
    unsigned bucket_size; /* results and gaps of a bucket; 1: each is a point */
    chart_bucket bucket;  /* results that are no points yet */
    chart_query *query;   /* the one that delivered the path last */
    unsigned place;       /* place of that sample among the query's times */
    double newest;        /* result in that sample */
    unsigned clock;       /* place of its list of times among chart_lines.clocks */
    GString *json; /* two arrays, "[1,null,2.5],[]": values, and runs of assumed ones (place of the first, how many) */
} chart_line;

/* All lines of a capture. `clocks` and the `json` of lines are made by chart_lines_finish(). */
typedef struct {
    GHashTable *by_path;  /* path -> chart_line, with results or without; owns them */
    GPtrArray *all;       /* chart_line with results, in the order of their first */
    GHashTable *by_query; /* key -> chart_query; owns both */
    GPtrArray *
        clocks; /* each list of times once, as JSON: milliseconds since `begin`, then from one to the next; owns them */
    uint64_t values;     /* results that were added */
    uint64_t omitted;    /* results without room, or of a path that the sample had before */
    uint64_t path_bytes; /* text of all lines but their points, as if each were in the page */
    uint64_t num_points;
    bool is_thinned;
} chart_lines;

void chart_lines_begin(chart_lines *lines);
void chart_lines_end(chart_lines *lines);

/* `key`: tells a query from all others. */
chart_query *chart_query_find_or_create(chart_lines *lines, const char *key);

/* Adds a request for a sample. Changes: if the one before got no response, it is a time of the query, too. */
void chart_query_add_request(chart_query *query, double at);

/* Adds a response; `is_time`: it is one to the query's question, with a sample or without. */
void chart_query_add_response(chart_query *query, double at, bool is_time);

/* Returns NULL without room for another path. */
chart_line *chart_line_find_or_create(chart_lines *lines, const char *path);

/* Adds a result of the query's newest sample to a line (may be NULL). Of a sample the first result of a line counts. Needs: a finite value and finite
 * times. Changes: adds a gap in front where the query's samples between had no result of the line. */
void chart_line_add(chart_lines *lines, chart_line *line, chart_query *query, double value, bool is_assumed);

/* Writes a number as the shortest text that reads back as the same one. */
void chart_append_number(GString *text, double number);

/* Makes points of all results, thins the lines until their text fits the page, and writes it. More results may come. */
void chart_lines_finish(chart_lines *lines, double begin);
