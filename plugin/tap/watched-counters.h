/* watched-counters.h
 * Watched counters: the user's table `pcq_watch`, whose rows are fields `pcq.watch.NAME`, and what they have in an answer. Paths
 * that a statistic is asked for are written as the table's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"

/* Values of a row in a response. Begins as zeros. */
typedef struct {
    unsigned count;           /* number of values, with a result or without */
    const char *unit;         /* of the newest result; NULL: there is none */
    bool has_units;           /* results have several units */
    double lowest, highest;   /* results */
    const char *least, *most; /* the same formatted, with the unit; NULL without results */
    const char *first;        /* the first value formatted, with a result or without */
    const char *note;         /* " (assumed)" if any value is, else "" */
} watched_values;

/* A row of the table. */
typedef struct watched_counter {
    hf_register_info field;
    const char *name;
    char **patterns;                    /* of paths, without case; its own */
    int hf;                             /* FT_DOUBLE */
    watched_values values;              /* watch_sum_up()'s, of the newest response */
    struct watched_counter *next;       /* in the order of the table */
    struct watched_counter *next_match; /* next row that matches the path that was asked for; NULL: none */
} watched_counter;

/* pcq.watched: "gpu = 0.4 % to 10.9 %, 7 values"; FT_STRING */
extern int watch_hf_sum;

/* Registers the table as a preference of `module`, and the fields as `proto`'s. */
void watch_register(int proto, module_t *module);

/* Returns true if a filter, a column or the visible tree references a field of the table. */
bool watch_is_wanted(proto_tree *tree);
/* Returns true if the user watches any counter: for the Info column, which shows values without a tree. */
bool watch_has_rows(void);

/* Returns the first row that matches a path; NULL: none, or no path. The others are behind its `next_match`, until another path is asked for. */
watched_counter *watch_rows_of(const char *path);

/* Sums up the watched rows of a response, from its first `most_values` values, for its tree or Info column. Needs: a new stream. Returns a text for
 * each row that matches any, its name, `between` and "12.4 %", "0.4 % to 10.9 %, 7 values", or, without results or of several units, "81 (raw; first
 * sample), first of 7 values"; NULL behind them; all in the stream's pool. Changes: reads the stream; `covered` is the number of values that match. */
const char **watch_sum_up(value_stream *stream, unsigned most_values, const char *between, unsigned *covered);
