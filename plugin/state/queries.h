/* queries.h
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/facts.h"
#include "state/samples.h"

typedef perf_identifier state_identifier;
typedef perf_asks state_asks;

/* --- Association groups ([MS-RPCE] 3.3.1.3) ---------------------------------------------------------------------- */

/* The connections of one client to one port of a server that share its context handles. A call that was made on any of them and not seen may
 * have changed each of its queries. Made for the first connection that is of it; ends with the file. */
#define ASSOCIATION_UNKNOWN 0 /* the server's answer to the bind was not seen: it may be any */

typedef struct state_association {
    address client;
    address server;
    uint32_t port;
    uint32_t group;
    struct state_association
        *unknown;                  /* of the same client and port: for connections of which the group is not known, */
    struct state_association *all; /* and for whatever is of any of their groups */
    struct state_association
        *shares;          /* of all groups: another client's unknown one, whose handles this one used last */
    wmem_list_t *handles; /* state_handle, the newest first: queries that one call more may bring into doubt */
    uint32_t unseen;      /* event of the latest call that was not seen, or not read, or of its answer */
    uint32_t missed;      /* event at which a call was last known to be missing */
    unsigned open;        /* calls that were not read and have no answer yet */
    unsigned opening;     /* requests of OpenQueryHandle whose answer was not read: any closed handle may be theirs */
} state_association;

state_association *query_association(const address *client, const address *server, uint32_t port, uint32_t group);

/* True if a client has a query with this handle at a server's port, which one call more may bring into doubt. */
bool query_is_handle(const address *client, const address *server, uint32_t port, const uint8_t *bytes);

/* --- Identifiers -------------------------------------------------------------------------------------------------- */

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
    uint32_t end;     /* UINT32_MAX as long as it holds */
    const void *told; /* by the QueryCounterInfo that was compared with it last */
} state_query_entry;

/* A ValidateCounters request. `*end_frame`, as long as the file, becomes that of its response or fault, also of one that cannot be
 * read. */
void query_change_requested(state_handle *handle, uint32_t event, const uint32_t *end_frame);

/* The response to the ValidateCounters of `request_event`, whatever its status. Until then it is not known what the query holds, nor in
 * which blocks, unless QueryCounterInfo tells. */
void query_change_answered(state_handle *handle, uint32_t request_event, uint32_t event);

/* What it did: adds or removes the identifiers whose status is 0, and notes the others. */
void query_changed(state_handle *handle, bool add, const state_identifier *identifiers, uint32_t count, uint32_t event);

/* So many that nobody saw what they did, after event `begin`, as is known at `event`: one alone shows in the number of blocks; two may add one
 * counter and remove another. */
void query_change_unseen(state_handle *handle, uint32_t begin, uint32_t event, unsigned number);

/* One whose meaning is not known: from here on the list of counters is not complete. */
void query_unknown_change(state_handle *handle, uint32_t event);

/* A call on a connection of the association speaks of the query: what is not seen of the one may change the other. */
void query_used(state_handle *handle, state_association *association);

/* So many calls of an association were made after event `begin`, and at `event` it is known that they were not seen, or not read. */
void query_calls_unseen(state_association *association, uint32_t begin, uint32_t event, unsigned number);

/* An answer to QueryCounterData, as it is kept: if its blocks should be others a change was missed. */
void query_blocks_counted(state_handle *handle, const state_sample *sample);

/* The first identifier whose index is another's or beyond the last, `count` if each has a block of its own. */
uint32_t query_first_odd_index(const state_identifier *identifiers, uint32_t count);

/* A QueryCounterInfo response: which block belongs to which identifier, as of `request_event`. */
void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t request_event,
                uint32_t event);

/* Entries that hold at an event, in the order they were added; `next` is 0 at first. NULL at the end. */
const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next);

/* How many entries hold at an event, and how many of refused identifiers. */
void query_counts(const state_handle *handle, uint32_t event, unsigned *held, unsigned *refused);

/* True if all that the query holds at an event is known: no change that was asked for before is under way, nor was one missed. */
bool query_is_complete(const state_handle *handle, uint32_t event);

/* What one QueryCounterInfo response said: which identifier each block belongs to. */
typedef struct {
    uint32_t count;
    state_identifier *by_index;
    uint32_t
        asked_as_of; /* the version of its server's facts by which pcq/pcq-readings.c found out what they ask for, 0 before; */
    bool asks_patterns;
    bool asks_own_ids; /* all counters of a set, or those that are a process' or thread's own id */
} state_query_index;

/* What a query was from one change of its counters to the next. */
typedef struct state_query_epoch state_query_epoch;

/* A query as an answer with so many blocks shows it. */
typedef struct {
    const struct state_query *query;
    uint32_t event;                 /* as of which; 0: several changes may have been done or not, or nothing is known */
    const state_query_epoch *epoch; /* NULL if nothing is known */
    const state_query_index *index; /* tells whose the blocks are; NULL where only query_assign() can tell */
    bool is_assumed;                /* calls that were not seen may have changed it */
} state_query_view;

state_query_view query_view(const state_handle *handle, uint32_t request_event, uint32_t response_event,
                            uint32_t blocks);

/* A block is an identifier's if its type (dwType) fits. */
bool query_identifier_fits(const state_identifier *identifier, uint32_t type);

/* Which identifier each block of a sample belongs to. */
typedef struct {
    const state_identifier **blocks; /* `count` of them, NULL where it is not known */
    bool assumed; /* they are: by the order of the identifiers, or as before calls that are missing */
    uint32_t count;
} state_assignment;

/* Without an index: the only block is the only identifier's; several are assumed to stand in the order in which the identifiers
 * were added, if all fit so. `types` holds the dwType of each of `count` blocks. */
void query_assign(wmem_allocator_t *pool, const state_query_view *view, const uint32_t *types, uint32_t count,
                  state_assignment *assignment);

void queries_register(void);
