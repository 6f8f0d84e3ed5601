/* queries.h
 * Counters of a query, and whose each block of its data is.
 *
 * From one change of its counters (ValidateCounters) to the next a query is in one epoch. A call keeps the epochs that it saw at its request
 * and its response. QueryCounterInfo tells which block is which counter's, for all data of the epoch, earlier data too.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/handles.h"

#include "perf/structures.h"

/* Hash an identifier, and compare two, without index and status, as keys of maps. The hash has all parts in one, so it is no sum of theirs. */
unsigned query_identifier_hash(const void *key);
gboolean query_identifier_equal(const void *a, const void *b);

/* Returns the first identifier whose index is an earlier one's or beyond the last, `count` if each has a block of its own. */
uint32_t query_first_odd_index(const perf_identifier *identifiers, uint32_t count);

/* Counters by blocks. */
typedef struct query_index {
    uint32_t count;                    /* number of blocks */
    const perf_identifier *by_index[]; /* identifier of each block */
} query_index;

/* Created on the first pass; ends with the file. */
typedef struct query_epoch {
    uint32_t accepted;  /* number of its counters */
    unsigned hash;      /* sum of the hashes of their identifiers */
    query_index *index; /* sent by QueryCounterInfo, NULL: not sent */
    query_index *order; /* counters in the order in which they were added, if none was sent; NULL: no data */
    bool is_complete;   /* all its counters are known */
    bool is_assumed;    /* its counters are contradicted, or nobody sent them */
} query_epoch;

/* A query as the data of a response shows it. Zeros: nothing is known. */
typedef struct query_snapshot {
    const query_epoch *epoch; /* NULL: its blocks are nobody's */
    uint32_t blocks;          /* number of blocks in the response */
    bool is_assumed;          /* the counters may have been others */
} query_snapshot;

/* Returns the epoch that a request sees. `unread`: frame of its connection's latest ValidateCounters that could not be read, of whichever query;
 * 0: none. Changes: creates the query; an `unread` behind its newest change begins a change of unknown counters. */
const query_epoch *query_see_request(state_handle *handle, uint32_t unread);

/* A ValidateCounters, from its request to query_end_change(). Lives as long as the file. */
typedef struct query_change query_change;

/* Begins a change, which the request in `frame` asks for: to `add` or remove. `identifiers`: copied; NULL: they could not be read. Returns what
 * query_end_change() ends. Changes: the query is changing until then, or until its data or QueryCounterInfo settle it. */
query_change *query_begin_change(state_handle *handle, bool add, const perf_identifier *identifiers, uint32_t count,
                                 uint32_t frame);

/* Ends a change, which did what the response's `identifiers` say by their status; without any nothing. `is_known`: false: an epoch begins whose
 * counters are not all known. Does nothing if `change` has ended, or is NULL. */
void query_end_change(query_change *change, bool is_known, const perf_identifier *identifiers, uint32_t count);

/* Applies a response to QueryCounterInfo. `asked_in`: frame of its request. Needs: each index is below `count`, and none is there twice. Changes:
 * its counters and their blocks are those of the epoch, and earlier changes have ended. A request from before a change changes nothing. */
void query_apply_info(state_handle *handle, const perf_identifier *identifiers, uint32_t count, uint32_t asked_in);

/* Compares a response's number of blocks with the query's counters. `asked`: the epoch that its request saw. Returns the epoch that the blocks are
 * of, if any. Changes: the number that all pending changes together make applies them. Another one: if the request saw
 * an older epoch, the blocks are that one's; if malformed (not `is_sound`), or all pending changes could be read, nobody's; else an epoch begins whose
 * counters are not all known. */
query_snapshot query_check_block_count(state_handle *handle, const query_epoch *asked, uint32_t blocks, bool is_sound);

/* Returns the identifier of each block, as sent or assumed; NULL: none is known, or there is no snapshot. `is_assumed`: set, unless NULL is returned. */
const query_index *query_snapshot_index(const query_snapshot *snapshot, bool *is_assumed);

/* Returns the identifier that a block answers; NULL: not known, or the block's dwType (`type`) does not fit what the identifier asks for (all counters,
 * all instances); an error's fits any. */
const perf_identifier *query_index_identifier(const query_index *blocks, uint32_t block, uint32_t type);
