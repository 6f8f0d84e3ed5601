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
    double lowest, highest;   /* results; NAN: there is none */
    const char *least, *most; /* the same formatted, with the unit; without a result the first value */
    const char *note;         /* " (assumed)" if any value is, else "" */
} watched_values;

/* A row of the table. */
typedef struct watched_counter {
    hf_register_info field;
    char **patterns;                    /* of paths, in lower case; freed with the row */
    int hf;                             /* FT_DOUBLE */
    watched_values values;              /* watch_format()'s, of the newest response */
    struct watched_counter *next;       /* in the order of the table */
    struct watched_counter *next_match; /* next row that matches the path that was asked for; NULL: none */
} watched_counter;

/* Registers the table as a preference of `module`, and the fields as `proto`'s. */
void watch_register(int proto, module_t *module);

/* Returns true if a filter, a column or the visible tree references a field of the table. `tree`: NULL: false. */
bool watch_is_wanted(proto_tree *tree);

/* Returns the first row that matches a path; NULL: none, or no path. The others are behind its `next_match`, until another path is asked for. */
watched_counter *watch_rows_of(const char *path);

/* Returns "cpu 12.4 %, gpu 0.4 % to 10.9 %, 7 values" for the watched counters of a response, in `pool`; "81 (raw; first sample), first of 7 values"
 * without results; NULL if there is none. Changes: `covered` is the number of values that match. */
const char *watch_format(wmem_allocator_t *pool, const counter_response *response, unsigned *covered);
