/* columns.h
 * The paths that the answers of one handle held, each with a number of its own.
 *
 * Answers of a handle mostly hold the same values in the same order. So a path is compared with the one that stood in its
 * place in the answer before, and looked up only where it differs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/tapped.h"

/* A handle that asks for ever new instances has no more paths than these; what goes beyond is left out and counted. */
#define MAX_COLUMNS 1000000

/* All paths that one statistic or export keeps take no more than these bytes. */
#define MAX_PATH_BYTES (32 << 20)

#define NO_COLUMN UINT32_MAX

typedef struct {
    GPtrArray *paths;    /* by number */
    GArray *marks;       /* tapped_mark, by number, of all its values; kept by whoever asks */
    GHashTable *numbers; /* path -> number + 1 */
    GStringChunk *texts; /* theirs */
    uint32_t bytes;      /* theirs */
    uint32_t *kept;      /* those of all columns that belong together */
    GArray *places;      /* uint32_t: the number of what stood at each place of the answer before */
    unsigned place;      /* where the answer is */
    uint64_t left_out;   /* values without a column */
} columns;

/* `kept` begins with 0, and outlives all columns that share it. */
void columns_init(columns *c, uint32_t *kept);
void columns_clear(columns *c);

/* The next answer begins. */
void columns_next_answer(columns *c);

/* The number of the path of the reading that was pulled last; NO_COLUMN where there is none, or there are too many. */
uint32_t columns_number(columns *c, readings *r);

/* The number of a path; NO_COLUMN where there are too many. */
uint32_t columns_of_path(columns *c, const char *path);

static inline const char *columns_path(const columns *c, uint32_t number)
{
    return g_ptr_array_index(c->paths, number);
}
