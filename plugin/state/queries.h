/* queries.h
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/facts.h"
#include "state/handles.h"

#include "perf/identifier.h"

typedef perf_identifier state_identifier;
typedef perf_asks state_asks;

/* Stands for the bytes of a name where they are too many to be compared again and again; never 0. Keyed: nobody can make two
 * names with the same. */
uint64_t query_name_digest(const uint8_t *utf16, uint32_t size);

/* What an identifier asks for (not its index and status), as keys of maps. */
unsigned query_identifier_hash(const void *key);
gboolean query_identifier_equal(const void *a, const void *b);

/* An identifier and the server's verdict on it, from one event to another. */
typedef struct {
    state_identifier identifier;
    uint32_t from;
    uint32_t end; /* UINT32_MAX as long as it holds */
} state_query_entry;

/* A ValidateCounters request. `*end_frame`, as long as the file, becomes that of its response or fault, also of one that cannot be
 * read. */
void query_change_requested(state_handle *handle, uint32_t event, const uint32_t *end_frame);

/* The response to the ValidateCounters of `request_event`, whatever its status. Until then it is not known what the query holds, nor in
 * which blocks, unless QueryCounterInfo tells. */
void query_change_answered(state_handle *handle, uint32_t request_event, uint32_t event);

/* What it did: adds or removes the identifiers whose status is 0, and notes the others. */
void query_changed(state_handle *handle, bool add, const state_identifier *identifiers, uint32_t count, uint32_t event);

/* One whose meaning is not known: from here on the list of counters is not complete. */
void query_unknown_change(state_handle *handle, uint32_t event);

/* The answer to the QueryCounterData of `request_event` has so many blocks: if they should be others a change was missed. */
void query_blocks_counted(state_handle *handle, uint32_t blocks, uint32_t request_event, uint32_t event);

/* At event `event` it is known that one call is missing, before `end`. It may have been a change, which the next answer's number of blocks
 * tells; of answers that another change overlaps nothing is known from here on. */
void query_call_missed(state_handle *handle, uint32_t end, uint32_t event);

/* At event `event` it is known that two calls are missing between two others, perhaps a removal and an addition: what was known is
 * assumed behind the first until QueryCounterInfo tells. One alone would be seen by the number of blocks. */
void query_calls_missed(state_handle *handle, uint32_t begin, uint32_t end, uint32_t event);

/* A QueryCounterInfo response: which block belongs to which identifier, as of `request_event`. */
void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t request_event,
                uint32_t event, uint32_t frame);

/* Entries that hold at an event, in the order they were added; `next` is 0 at first. NULL at the end. */
const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next);

/* How many entries hold at an event, and how many of refused identifiers. */
void query_counts(const state_handle *handle, uint32_t event, unsigned *held, unsigned *refused);

/* What a query was from one change of its counters to the next. */
typedef struct state_query_epoch state_query_epoch;

/* True if all that the query holds at an event is known: no change that was asked for before is under way, nor was one missed. */
bool query_is_complete(const state_handle *handle, uint32_t event);

/* An answer shows the query as of some moment between its request and its response. Where changes were asked or answered in
 * between, the event of the one state that has as many blocks and of which it is known; 0 if there are several, or none. One
 * change alone either adds or removes: without another number of blocks it did nothing. */
uint32_t query_as_of(const state_handle *handle, uint32_t request_event, uint32_t response_event, uint32_t blocks);

/* That of an event; NULL if nothing is known of the handle's query. */
const state_query_epoch *query_epoch_at(const state_handle *handle, uint32_t event);

/* Which identifier each block of a sample belongs to. */
typedef struct {
    const state_identifier **blocks; /* `count` of them, NULL where it is not known */
    bool assumed; /* they are: by the order of the identifiers, or as before calls that are missing */
    uint32_t count;
} state_assignment;

/* What one QueryCounterInfo response said: which identifier each block belongs to. */
typedef struct {
    uint32_t event;
    uint32_t frame;
    uint32_t count;
    state_identifier *by_index;
} state_query_index;

/* The one that tells whose the `blocks` blocks of a sample of the epoch are; NULL where only query_assign() can tell. A
 * block is an identifier's if its type (dwType) fits. */
const state_query_index *query_index_at(const state_query_epoch *epoch, uint32_t event, uint32_t blocks);

/* Calls that were missed since may have changed whose the blocks of an answer of the epoch are, as of an event. */
bool query_is_assumed(const state_query_epoch *epoch, uint32_t event);
bool query_identifier_fits(const state_identifier *identifier, uint32_t type);

/* Without an index: the only block is the only identifier's; several are assumed to stand in the order in which the identifiers
 * were added, if all fit so. `types` holds the dwType of each of `count` blocks. */
void query_assign(wmem_allocator_t *pool, const state_query_epoch *epoch, uint32_t event, const uint32_t *types,
                  uint32_t count, state_assignment *assignment);
