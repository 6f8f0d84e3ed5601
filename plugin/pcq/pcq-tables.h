/* pcq-tables.h
 * The blocks of counter data ([MS-PCQ] 2.2.4.8 to 2.2.4.11) as tables of a sample, and where the query's identifiers say
 * that a counter of an instance stands.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/layout.h"

/* One of the samples. Blocks are found as far as somebody asks. */
typedef struct {
    reading_side base;
    perf_filled_form data;
    state_host *server;
    const state_query_epoch *epoch; /* NULL if nothing is known of the query */
    uint32_t event;                 /* as of when its identifiers count */
    const state_sample *sample;     /* NULL if it is none, */
    bool has_doubts;                /* or some of its blocks are not sound: both given by whoever sets it up */
    wmem_array_t *blocks;           /* those that were found so far; NULL as long as none was asked for */
    perf_walk scout;                /* behind them */
    bool at_end;
    const state_query_index *index; /* tells whose each block is, */
    state_assignment assigned;      /* or all of them together do; blocks is NULL as long as it was not needed */
    bool *refuted;                  /* of each block then: what was assigned cannot be; NULL where all can */
    bool any_assumed;               /* some block is only assumed to be whose it was assigned to */
    wmem_map_t *by_identifier;
    wmem_array_t *pattern_blocks;
} pcq_side;

void pcq_side_init(pcq_side *side, wmem_allocator_t *pool, const state_handle *handle, uint32_t event,
                   const perf_filled_form *data);

/* Whose a block is, NULL if that is not known; and whether that is assumed from the order of the identifiers. */
const state_identifier *pcq_side_identifier(pcq_side *side, uint32_t block);

/* The same of a block whose type is at hand: mostly no block has to be looked for then. */
const state_identifier *pcq_side_identifier_of_type(pcq_side *side, uint32_t block, uint32_t type);
bool pcq_side_assumed(pcq_side *side, uint32_t block);
bool pcq_side_any_assumed(pcq_side *side);

/* True if a block is nobody's because a known type refutes whose it seemed to be. */
bool pcq_side_refuted(pcq_side *side, uint32_t block);

/* The number of the PERF_COUNTER_DATA at an offset that a walk announced; size 0 if it is none, or the offset 0. */
perf_raw pcq_raw_at(const perf_filled_form *data, uint32_t offset);

/* True if it is not certain which of the block's values stands where: it is compared with nothing. */
bool pcq_side_doubtful(pcq_side *side, uint32_t block);

/* The block as a table; NULL if there is none. */
reading_table *pcq_side_table(pcq_side *side, uint32_t block);

/* A counter of the instance that a row of a block of `here` has, as the block's identifier asked for it. */
typedef struct {
    pcq_side *here;
    uint32_t block;
    uint32_t row;
    uint32_t column; /* where the counter may well be */
    uint32_t counter_id;
} pcq_wanted;

/* True if the block of both samples was asked for alike: for samples of one form, whose blocks are of the same types. */
bool pcq_side_same_block(pcq_side *here, pcq_side *there, uint32_t block);

/* Where it stands in a sample. `has_counter` is set if the counter is there, whether the instance is or not. */
bool pcq_side_find(pcq_side *side, const pcq_wanted *want, reading_place *place, bool *has_counter);
