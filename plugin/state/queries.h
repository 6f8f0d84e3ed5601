/* queries.h
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_QUERIES_H
#define PCQ_STATE_QUERIES_H

#include "state/facts.h"
#include "state/handles.h"

/* Which instances a name asks for. */
typedef enum {
    PERF_ASKS_ONE,    /* that one, or it is no name at all */
    PERF_ASKS_ALL,    /* "*" */
    PERF_ASKS_PATTERN /* another pattern with * or ? */
} perf_asks;

/* PERF_COUNTER_IDENTIFIER ([MS-PCQ] 2.2.4.6). */
typedef struct {
    uint8_t guid[16];
    uint32_t counter_id;  /* PERF_NO_ID: all counters */
    uint32_t instance_id; /* PERF_NO_ID: any */
    uint32_t index;
    uint32_t status;
    const char *instance; /* name or pattern, NULL if there is none */
    const uint8_t *utf16; /* the same as it was sent, without terminator */
    uint32_t utf16_size;  /* bytes */
    /* worked out when the query keeps it, 0 before */
    perf_asks asks;
    uint64_t digest; /* of utf16 (perf/hash.h); 0 without a name */
} perf_identifier;

/* What an identifier asks for (not its index and status), as keys of maps. */
unsigned perf_identifier_hash(const void *key);
gboolean perf_identifier_equal(const void *a, const void *b);

void perf_queries_register(void);

/* An identifier and the server's verdict on it, from one event to another. */
typedef struct {
    perf_identifier identifier;
    uint32_t from;
    unsigned number; /* among all entries of the query, in the order they were added */
} perf_query_entry;

/* A ValidateCounters response: adds or removes the identifiers whose status is 0, and notes the others. */
void perf_query_changed(perf_handle *handle, bool add, const perf_identifier *identifiers, uint32_t count,
                        uint32_t event);

/* One whose meaning is not known: from here on the list of counters is not complete. */
void perf_query_unknown_change(perf_handle *handle, uint32_t event);

/* A QueryCounterInfo response: which block belongs to which identifier. */
void perf_query_info(perf_handle *handle, const perf_identifier *identifiers, uint32_t count, uint32_t event,
                     uint32_t frame);

/* Entries that hold at an event, in the order they were added; `next` is 0 at first. NULL at the end. */
const perf_query_entry *perf_query_entries(const perf_handle *handle, uint32_t event, unsigned *next);

/* How many entries hold at an event, and how many of refused identifiers. */
void perf_query_counts(const perf_handle *handle, uint32_t event, unsigned *held, unsigned *refused);

/* What a query was from one change of its counters to the next. */
typedef struct perf_query_epoch perf_query_epoch;

/* That of an event; NULL if nothing is known of the handle's query. */
const perf_query_epoch *perf_query_epoch_at(const perf_handle *handle, uint32_t event);

/* Which identifier each block of a sample belongs to. */
typedef struct {
    const perf_identifier **blocks; /* `count` of them, NULL where it is not known */
    uint32_t count;
    bool assumed; /* by the order of the identifiers */
} perf_assignment;

/* What one QueryCounterInfo response said: which identifier each block belongs to. */
typedef struct {
    uint32_t event;
    uint32_t frame;
    uint32_t count;
    perf_identifier *by_index;
} perf_query_index;

/* The one that tells whose the blocks of a sample of the epoch are; NULL where only perf_query_assign() can tell. A block
 * is an identifier's if its type (dwType) fits. */
const perf_query_index *perf_query_index_at(const perf_query_epoch *epoch, uint32_t event);
bool perf_identifier_fits(const perf_identifier *identifier, uint32_t type);

/* Without an index: a block is given to an identifier if every way to give all of them agrees on it; where the order of the
 * identifiers is one of those ways, that order is assumed for the others. `types` holds the dwType of each of `count`
 * blocks. Returns false if nothing is known. */
bool perf_query_assign(wmem_allocator_t *pool, const perf_query_epoch *epoch, uint32_t event, const uint32_t *types,
                       uint32_t count, perf_assignment *assignment);

#endif
