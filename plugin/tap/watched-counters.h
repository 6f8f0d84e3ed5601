/* watched-counters.h
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
} watched_counter;

/* pcq.watched: "gpu = 0.4 % to 10.9 %, 7 values"; FT_STRING */
extern int watch_hf_sum;

/* Registers the table as a preference of `module`, and the fields as `proto`'s. */
void watch_register(int proto, module_t *module);

/* Returns true if a filter, a column or the visible tree references a field of the table. */
bool watch_is_wanted(proto_tree *tree);
/* Returns true if the user watches any counter: for the Info column, which shows values without a tree. */
bool watch_has_rows(void);

/* Returns the rows that match a path (NULL: none), with a NULL behind them. They hold until another path is asked for. */
watched_counter *const *watch_rows_of(const char *path);

/* Sums up the watched rows of a response, from its first `most_values` values, for its tree or Info column. Needs: a new stream. Returns a text for
 * each row that matches any, its name, `between` and "12.4 %", "0.4 % to 10.9 %, 7 values", or, without results or of several units, "81 (raw; first
 * sample), first of 7 values"; NULL behind them; all in the stream's pool. Changes: reads the stream; `covered` is the number of values that match. */
const char **watch_sum_up(value_stream *stream, unsigned most_values, const char *between, unsigned *covered);
