/* refusals.h
 * Counters, objects and calls that a client asked for and did not get, and why: the one list of `-z pcq,refusals`, the report and the
 * summary.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tap/call-tap.h"
#include "taps/keyed-list.h"

typedef enum {
    REFUSED_COUNTER,   /* ValidateCounters: the server did not add it */
    REFUSED_BLOCK,     /* a block with an error instead of values */
    REFUSED_INSTANCES, /* a counterset without instances in this sample: no failure */
    REFUSED_OBJECT,    /* HKEY_PERFORMANCE_DATA: an object that was asked for is not in the sample */
    REFUSED_CALL       /* the whole call failed, or a fault */
} refusal_kind;

/* A refusal of a response. Ends with the packet. */
typedef struct {
    refusal_kind kind;
    const char *path; /* marked if assumed; of a call its operation; of an unknown block words in parentheses */
    uint32_t status;  /* Win32 error, or status of a fault; 0: the error has no number */
    uint64_t key;     /* of a counter, call_tap_identifier_key() */
} refusal;

/* Returns the refusals of a response, an array of refusal in `pool`, in this order: counters, the call, blocks, objects. A request has none. */
wmem_array_t *refusals_find(wmem_allocator_t *pool, const call_tap_data *tapped);

/* A client's refusals of one path and error, as the first was. */
typedef struct {
    const char *key; /* server, client, error and path */
    const char *path;
    const char *error; /* name; "no instances" or "not delivered" if it has no number */
    const char *description;
    const char *client;
    uint64_t count;
    uint32_t first_frame;
    const char *query; /* "query 2", "handle 1"; NULL: it is not known */
} refusal_row;

/* Counts all refusals of a call. A repeated response has none. `list`: keyed_list of refusal_row. */
void refusals_count(void *list, packet_info *pinfo, const call_tap_data *tapped);
