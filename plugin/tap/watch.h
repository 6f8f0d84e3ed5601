/* watch.h
 * Watched counters: the user's table `pcq_watch`, whose rows are fields `pcq.watch.NAME`, and what they have in an answer. Which
 * rows fit a path is found once. Paths that a statistic is asked for are written as the table's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"

/* A row of the table. */
typedef struct {
    const char *name;
    char **patterns; /* of paths, in capitals; its own */
    int hf;          /* FT_DOUBLE */
} watch_row;

/* pcq.watched: "gpu = 0.4 to 10.9 %, 7 instances", and pcq.watched.hint: how a counter becomes a watched one; FT_STRING */
extern int watch_hf_sum, watch_hf_hint;

/* The table, as a preference of `module`; its fields are `proto`'s. */
void watch_register(int proto, module_t *module);

/* True if somebody looks at one of the fields. */
bool watch_is_wanted(proto_tree *tree);
/* True if the user watches any counter: for the Info column, which shows values without a tree. */
bool watch_has_rows(void);

/* The rows that fit a path (may be NULL), with a NULL behind them; until another is asked of. */
watch_row *const *watch_rows_of(const char *path);

/* --- What they have in an answer --------------------------------------------------------------------------------- */

/* Values of a row in a response. A path that the response has twice counts once. */
typedef struct {
    const watch_row *row;
    unsigned values;
    unsigned results;          /* of them */
    const char *set, *counter; /* of all, NULL where they are of several */
    const char *unit;          /* of all results */
    double lowest, highest;    /* result, */
    const char *least, *most;  /* in words */
    const char *first;         /* value in words, with a result or without */
    const char *note;          /* what of any is assumed */
} watch_values;

typedef struct {
    wmem_array_t *rows; /* watch_values, as they turned up */
    unsigned covered;   /* values looked through that fit one of these rows or several */
    bool whole;         /* all values were looked through */
} watch_survey;

/* Looks through at most `most_values` for the first `most_rows` rows that fit any. */
watch_survey watch_look_through(value_stream *stream, unsigned most_values, unsigned most_rows);

/* NULL where the row fits nothing, or nobody looked. */
const watch_values *watch_values_of(const watch_survey *survey, const watch_row *row);

/* "12.4 %"; "0.4 to 10.9 %, 7 instances"; "0.0 % each, 2 instances"; "81 (raw; first sample), first of 7 instances". */
const char *watch_words(wmem_allocator_t *pool, const watch_values *values);
