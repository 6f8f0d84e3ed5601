/* watch.h
 * Watched counters: the user's table `pcq_watch`, whose rows are fields `pcq.watch.NAME`. Which rows fit a path is
 * found once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/readings.h"

/* A row of the table. */
typedef struct {
    const char *name;
    char **patterns; /* of paths, in capitals; its own */
    int hf;          /* FT_DOUBLE */
} watch_row;

/* The table, as a preference of `module`; its fields are `proto`'s. */
void watch_register(int proto, module_t *module);

/* True if somebody looks at one of the fields. */
bool watch_is_wanted(proto_tree *tree);
/* True if the user watches any counter: for the Info column, which shows values without a tree. */
bool watch_has_rows(void);

/* The rows that fit the reading which was pulled last, with a NULL behind them; until it is asked of another. */
watch_row *const *watch_fitting(readings *r);
