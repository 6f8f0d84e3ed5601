/* chart-lines.h
 * Each counter of a capture as a line of a chart, in bounded memory.
 *
 * A listener adds the results as they come. If all lines together have more points than a page may hold, the longer ones are thinned: of
 * every four neighbors the smallest and the largest stay, at their own times, so that no peak is lost.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/summary.h"
#include "readings/readings.h"

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
    GArray *times; /* of its samples, and of requests for one that got none (double, seconds since 1970) */
    double asked;  /* time of a request that has no response yet, 0: none */
} chart_query;

/* One path. */
typedef struct {
    char *path;
    readings_whose whose;
    perf_summary results; /* all of them, also those without a point of their own */
    uint64_t assumed;     /* results that are assumed */
    GArray *points;       /* chart_point, ascending by time after chart_lines_finish() */
    unsigned bucket_size; /* results and gaps of a bucket; 1: each is a point */
    chart_bucket bucket;  /* results that are no points yet */
    chart_query *query;   /* the one that delivered the path last */
    unsigned place;       /* place of that sample among the query's times */
    double newest;        /* result in that sample, NAN: none */
    unsigned clock;       /* place among chart_lines.clocks, after chart_lines_finish() */
    unsigned hash_of_times;
} chart_line;

/* All lines of a capture. */
typedef struct {
    GHashTable *by_path;  /* path -> chart_line */
    GPtrArray *all;       /* chart_line, in the order of their first samples; owns them */
    GHashTable *by_query; /* key -> chart_query; owns both */
    GPtrArray *clocks;    /* chart_line, one for each list of times, after chart_lines_finish() */
    uint64_t values;      /* results that were added */
    uint64_t omitted;     /* results without room, or of a path that the sample had before */
    uint64_t kept_bytes;  /* of all paths, as text of the page */
    uint64_t shown_bytes; /* of those with results */
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

/* Adds a result of the query's newest sample, or NAN for none, to a line (may be NULL). Of a sample the first result of a line counts. Needs: finite
 * times. Changes: adds a gap in front where the query's samples between had no result of the line. */
void chart_line_add(chart_lines *lines, chart_line *line, chart_query *query, double value, bool is_assumed);

/* Writes a value as the shortest text that reads back as the same number. Returns the text. */
#define CHART_VALUE_SIZE 40
const char *chart_format_value(char text[CHART_VALUE_SIZE], double value);

/* Milliseconds from one time to the next, as the page has them. */
static inline int64_t chart_milliseconds(double from, double to)
{
    return (int64_t)((to - from) * 1000 + 0.5);
}

/* Makes points of all results, and thins the lines until their text fits the page. More may come. */
void chart_lines_finish(chart_lines *lines);
