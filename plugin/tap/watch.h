/* watch.h
 * Watched counters: the user's table `pcq_watch`, whose rows are fields `pcq.watch.NAME`, and what they have in an answer. Paths
 * that a statistic is asked for are written as the table's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"

/* A row of the table. */
typedef struct {
    const char *name;
    char **patterns; /* of paths, without case; its own */
    int hf;          /* FT_DOUBLE */
} watch_row;

/* pcq.watched: "gpu = 0.4 % to 10.9 %, 7 values"; FT_STRING */
extern int watch_hf_sum;

/* Registers the table as a preference of `module`, and the fields as `proto`'s. */
void watch_register(int proto, module_t *module);

/* Returns true if a filter, a column or the visible tree references a field of the table. */
bool watch_is_wanted(proto_tree *tree);
/* Returns true if the user watches any counter: for the Info column, which shows values without a tree. */
bool watch_has_rows(void);

/* Returns the rows that match a path (NULL: none), with a NULL behind them. They hold until another path is asked for. */
watch_row *const *watch_rows_of(const char *path);

/* --- What they have in an answer --------------------------------------------------------------------------------- */

/* Values of a row in a response. */
typedef struct {
    const watch_row *row;
    unsigned values;          /* number of values, with a result or without */
    const char *unit;         /* of the newest result; NULL: there is none */
    bool has_units;           /* results have several units */
    double lowest, highest;   /* results */
    const char *least, *most; /* the same formatted, with the unit; NULL without results */
    const char *first;        /* the first value formatted, with a result or without */
    const char *note;         /* " (assumed)" if any value is, else "" */
} watch_values;

typedef struct {
    wmem_array_t *rows; /* watch_values, in the order of their first value */
    unsigned covered;   /* values looked through that match one of these rows or several */
    bool whole;         /* all values were looked through */
} watch_survey;

/* Sums up the watched rows of a response, for its tree or Info column. At most `most_values` values are looked through, and only the first
 * `most_rows` rows that match any are taken. Needs: a new stream. Returns arrays and texts in its pool. Changes: reads the stream. */
watch_survey watch_look_through(value_stream *stream, unsigned most_values, unsigned most_rows);

/* Returns the values of a row; NULL: it matches nothing, or the survey is of zeros. */
const watch_values *watch_values_of(const watch_survey *survey, const watch_row *row);

/* Formats the values of a row: "12.4 %"; "0.4 % to 10.9 %, 7 values"; without results, or of several units, "81 (raw; first sample), first of 7
 * values". Needs: values. */
const char *watch_words(wmem_allocator_t *pool, const watch_values *values);
