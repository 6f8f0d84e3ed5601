/* watch.h
 * Watched counters: the user's table `pcq_watch`, whose rows are fields `pcq.watch.NAME`. Which values each row means is found
 * once for a place in the answers to a handle, and holds as long as they have the same path there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/readings.h"

/* A row of the table. */
typedef struct {
    const char *name;
    char *patterns; /* of paths, in capitals; its own */
    int hf;         /* FT_DOUBLE */
} watch_row;

/* The table, as a preference of `module`; its fields are `proto`'s. */
void watch_register(int proto, module_t *module);

/* The watched values of one answer; NULL if nobody looks at one of the fields. */
typedef struct watch_stream watch_stream;
watch_stream *watch_begin(proto_tree *tree, const readings_answer *answer);

/* The same for whoever shows what the user watches, without a tree; NULL if the table is empty. */
watch_stream *watch_begin_all(const readings_answer *answer);

/* The rows that fit the reading which was pulled last, with a NULL behind them. To be called for each reading in turn. */
watch_row *const *watch_fitting(watch_stream *stream, readings *r);

/* As Windows compares names: letter by letter in capitals, and never one for two. To be freed. */
char *watch_in_capitals(const char *text);
