/* refusals.h
 * Counters, objects and calls that a client asked for and did not get, and why: the one list of `-z pcq,refusals`, the report and the
 * summary.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tap/tapped.h"

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
    const char *path; /* REFUSED_CALL: its operation; a sentence in parentheses if it is not known whose block it is */
    bool is_assumed;  /* the path is assumed */
    uint32_t status;  /* Win32 error, or status of a fault; 0: the error has no number */
} refusal;

typedef void (*refusal_visitor)(void *data, packet_info *pinfo, const tapped_call *tapped, const refusal *found);

/* Calls `visit` for each refusal of a response, in this order: counters, the call, blocks, objects. A request has none. */
void refusals_visit(packet_info *pinfo, const tapped_call *tapped, refusal_visitor visit, void *data);

/* Refusals of a capture that have one path, error, server and client. All texts end with the list. */
typedef struct {
    const char *path, *error, *description, *client;
    uint64_t count;
    uint32_t first_frame;
    bool is_hkpd;
    bool is_usual;         /* tapped_is_usual_failure() of a call; false of other kinds */
    uint32_t query;        /* number of the first query or handle, 0: none is known */
    uint32_t newest_query; /* highest number of a query until now */
    uint32_t more_queries; /* queries after the first that had it, of rising numbers alone */
} refusal_row;

/* The list. Begins as zeros. */
typedef struct {
    GPtrArray *rows;     /* refusal_row, in the order of their first; NULL: nothing was counted */
    GHashTable *by_key;  /* server, client, error and path -> refusal_row */
    GStringChunk *texts; /* of all rows, and the keys */
    uint64_t omitted;    /* refusals without room for a row */
} refusals;

/* Counts all refusals of a call. A repeated response has none. */
void refusals_count(refusals *list, packet_info *pinfo, const tapped_call *tapped);

/* Frees the rows. Changes: the list is empty and may be used again. */
void refusals_clear(refusals *list);
