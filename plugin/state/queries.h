/* queries.h
 * Counters of a query, and whose each block of its data is.
 *
 * From one change of its counters (ValidateCounters) to the next a query is in one epoch. A call keeps the epochs that it saw, at its request
 * and at its response, so that it looks the same whenever somebody looks. QueryCounterInfo tells which block is which counter's, of all data of
 * the epoch, earlier data too.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/metadata.h"
#include "state/handles.h"

#include "perf/identifier.h"

typedef perf_identifier state_identifier;
typedef perf_asks state_asks;

/* --- Identifiers -------------------------------------------------------------------------------------------------- */

/* Stands for the bytes of a name where they are too many to be compared again and again; never 0. Keyed: nobody can make two
 * names with the same. */
uint64_t query_name_digest(const uint8_t *utf16, uint32_t size);

/* Compare two identifiers without index and status, as keys of maps. */
unsigned query_identifier_hash(const void *key);
gboolean query_identifier_equal(const void *a, const void *b);

/* Returns the first identifier whose index is another's or beyond the last, `count` if each has a block of its own. */
uint32_t query_first_odd_index(const state_identifier *identifiers, uint32_t count);

/* --- Epochs ------------------------------------------------------------------------------------------------------- */

/* An identifier with the server's verdict on it. */
typedef struct {
    state_identifier identifier; /* status 0: accepted */
    uint32_t from;               /* number of the first epoch with it */
    uint32_t end;                /* number of the first without it, UINT32_MAX: there is none */
    uint32_t told;               /* by which QueryCounterInfo of the query last, from 1 */
} query_counter;

/* Blocks' counters, as one QueryCounterInfo told them, or in the order in which they were added. */
typedef struct {
    uint32_t count;
    const state_identifier **by_index; /* NULL: nobody's */
} query_index;

typedef struct query_epoch {
    uint32_t number;        /* among those of its query, from 0 */
    wmem_array_t *counters; /* query_counter *, in the order in which they were added; shared with other epochs */
    uint32_t accepted;      /* how many the server accepted */
    uint32_t refused;       /* how many it refused */
    unsigned hash;          /* sum of the hashes of all identifiers */
    uint32_t blocks;        /* of the latest data while it is not complete, UINT32_MAX before */
    query_index *index;     /* as QueryCounterInfo told it, NULL before */
    query_index
        *order;       /* made when somebody asks: accepted counters as they were added, if all are of one counterset */
    bool is_complete; /* all its counters are known */
    bool is_assumed;  /* they are contradicted, or nobody told them */
} query_epoch;

/* A query as a request saw it. */
typedef struct {
    const query_epoch *epoch; /* NULL: no query */
    uint32_t changes;         /* asked for so far */
    bool is_changing;         /* the outcome of a change is not known yet */
} query_moment;

/* A query as the data of a response shows it. Zeros: nothing is known. */
typedef struct query_snapshot {
    const query_epoch *epoch; /* NULL: its blocks are nobody's */
    uint32_t blocks;
    bool is_assumed; /* the counters may have been others */
} query_snapshot;

/* What a ValidateCounters asks for, until it is answered. */
typedef struct query_change query_change;

/* Returns the query as the request in hand sees it. `unread_changes`: how many changes its connection asked for until now that nobody could
 * read; `connection` tells connections apart. */
query_moment query_see_request(state_handle *handle, const void *connection, uint32_t unread_changes);

/* A request for a change. `identifiers`: NULL if they could not be read. Returns what its response ends. */
query_change *query_begin_change(state_handle *handle, bool add, const state_identifier *identifiers, uint32_t count);

/* Its response with success: what has status 0 is done. */
void query_apply_change(query_change *change, bool add, const state_identifier *identifiers, uint32_t count);

/* Its response, or fault, says that nothing was done (`has_failed`); or what was done is not known. */
void query_end_change(query_change *change, bool has_failed);

/* A response to QueryCounterInfo, of the request that saw `asked`. */
void query_apply_info(state_handle *handle, const state_identifier *identifiers, uint32_t count,
                      const query_moment *asked);

/* A response with so many blocks of data, to the request that saw `asked`. Returns whose they are. Changes: if the response is well-formed
 * (`is_sound`), another number of blocks than the query has counters begins an epoch of which nothing is known. */
query_snapshot query_check_block_count(state_handle *handle, const query_moment *asked, uint32_t blocks, bool is_sound);

/* The newest epoch; NULL of a handle that nobody used. */
const query_epoch *query_get_epoch(const state_handle *handle);

/* Returns the epoch's next counter, refused ones too; NULL behind the last. `next` is 0 at first. */
const query_counter *query_next_counter(const query_epoch *epoch, unsigned *next);

/* --- Whose a block is --------------------------------------------------------------------------------------------- */

/* True if a block of this dwType can be the identifier's. */
bool query_identifier_fits(const state_identifier *identifier, uint32_t type);

/* Returns whose each block is; NULL: all are nobody's. */
const query_index *query_snapshot_index(const query_snapshot *snapshot);

/* Returns the identifier whose block it is, NULL if it is nobody's. `type`: the block's dwType. */
static inline const state_identifier *query_index_identifier(const query_index *index, uint32_t block, uint32_t type)
{
    const state_identifier *identifier = index && block < index->count ? index->by_index[block] : NULL;

    return identifier && query_identifier_fits(identifier, type) ? identifier : NULL;
}

/* True if whose the blocks are is assumed; false if all are nobody's. */
bool query_snapshot_is_assumed(const query_snapshot *snapshot);
