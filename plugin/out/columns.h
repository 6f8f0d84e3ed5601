/* columns.h
 * The paths that the answers of one handle held, each with a number of its own.
 *
 * Answers of a handle mostly hold the same values in the same order: a path is compared with the one that stood in its
 * place in the answer before, and looked up only where it differs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_OUT_COLUMNS_H
#define PCQ_OUT_COLUMNS_H

#include "ws_compat.h"

/* A handle that asks for ever new instances has no more paths than these; what goes beyond is left out and counted. */
#define MAX_COLUMNS 1000000

#define NO_COLUMN UINT32_MAX

typedef struct {
    GPtrArray *paths;    /* by number */
    GHashTable *numbers; /* path -> number + 1 */
    GStringChunk *texts; /* theirs */
    GArray *order;       /* uint32_t: number at each place of the answer before */
    uint64_t left_out;   /* values without a column */
} columns;

void columns_init(columns *c);
void columns_clear(columns *c);

/* The number of a path at a place of an answer; NO_COLUMN where there are too many. */
uint32_t columns_number(columns *c, unsigned place, const char *path);

static inline const char *columns_path(const columns *c, uint32_t number)
{
    return g_ptr_array_index(c->paths, number);
}

#endif
