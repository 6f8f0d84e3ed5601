/* hkpd-tables.h
 * The objects of PERF_DATA_BLOCK (winperf.h) as tables of a sample.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_TABLES_H
#define PCQ_HKPD_HKPD_TABLES_H

#include "readings/layout.h"

#include "perf/block-walk.h"

/* A counter as its definition says it. */
typedef struct {
    uint32_t title_index; /* CounterNameTitleIndex */
    uint32_t type;
    uint32_t size;
    uint32_t offset;
    uint64_t key; /* index, and which of those with the same index */
    const perf_counter_type *known_type;
} hkpd_column;

typedef struct {
    reading_table base;
    uint32_t title_index;
    uint64_t perf_time;
    uint64_t perf_freq;
    wmem_array_t *columns;   /* hkpd_column */
    wmem_map_t *by_counter;  /* key of a column -> column + 1 */
    perf_block_walk walk;    /* behind the last row that was read */
    wmem_array_t *cells;     /* where each row's counter block is */
    perf_block_walk ahead;   /* the same for names, */
    reading_instances names; /* by which children know their parents: they are told by no parent of their own */
} hkpd_table;

/* One of the samples. */
typedef struct {
    reading_side base;
    const state_sample *sample; /* knows where each object stands; NULL: they have to be found one after the other */
    perf_block_walk scout;      /* behind the last object that was found */
    bool at_end;
    wmem_array_t *tables; /* hkpd_table * */
    wmem_map_t *by_index; /* title index -> the first such hkpd_table */
    wmem_map_t *parents;  /* of all samples of a stream: who is a parent -> its number */
} hkpd_side;

/* Of an answer's bytes; and of an earlier sample, for the same stream. */
hkpd_side *hkpd_side_new(wmem_allocator_t *pool, const uint8_t *bytes, uint32_t size);
hkpd_side *hkpd_side_of_sample(const hkpd_side *now, const state_sample *sample);

/* An object by its place in the block (not in a side of an earlier sample) or by its title index; NULL if there is none. */
hkpd_table *hkpd_side_table(hkpd_side *side, uint32_t number);
hkpd_table *hkpd_side_table_of(hkpd_side *side, uint32_t title_index);

const hkpd_column *hkpd_table_column(const hkpd_table *table, uint32_t column);

/* Column of the same counter in another sample; `hint` is where it may well be. UINT32_MAX if it is not there. */
uint32_t hkpd_table_find(hkpd_table *table, const hkpd_column *counter, uint32_t hint);

/* `size` bytes behind `offset` of a row's counter block as a number; size 0 if they are none or not there. */
perf_raw hkpd_table_number(hkpd_table *table, uint32_t row, uint64_t offset, uint32_t size);

/* Bytes of a counter that are its number: some servers count the second number of a MULTI timer into its size. */
uint32_t hkpd_number_size(const hkpd_column *column);

/* The name of an instance's parent as it was sent; false without one, or where the block does not hold it. */
bool hkpd_parent_name(hkpd_side *side, const perf_block_walk *walk, const hkpd_table **object, reading_name *parent);

#endif
