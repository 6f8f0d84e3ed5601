/* handles.h
 * Context handles: queries of PerflibV2, and keys of performance data of the registry.
 *
 * A handle is its kind, its server and its 20 bytes. It is created on the first pass, and ends with the file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/servers.h"

#define PERF_HANDLE_SIZE 20 /* bytes: attributes and a UUID */

typedef struct state_handle state_handle;

typedef enum { PERF_HANDLE_QUERY, PERF_HANDLE_HKPD, NUM_HANDLE_KINDS } state_handle_kind;

struct state_handle {
    state_handle_kind kind;
    state_server *server;
    uint8_t bytes[PERF_HANDLE_SIZE];
    uint32_t number;           /* among those of its kind, from 1; 0: the server has not answered for it */
    uint32_t opened_frame;     /* 0: not captured */
    uint32_t closed_frame;     /* of the request that closed it, 0: not closed in this capture */
    const char *machine;       /* szMachine without backslashes, or SystemName; NULL: not known */
    struct state_query *query; /* NULL: nobody used it as a query */
    wmem_map_t *series;        /* question -> sample_series; first pass only */
};

/* Opens a handle, which takes the place of an earlier one with the same bytes. `frame`: of the response, which confirms it; 0: not captured.
 * `machine`: as the member, kept as long as the file. Returns the handle. */
state_handle *handle_open(state_handle_kind kind, state_server *server, const uint8_t *bytes, uint32_t frame,
                          const char *machine);

/* Finds the newest handle with these bytes, closed or not. Needs: the first pass; later the map
 * has the capture's last handles, and a call has its own. Returns NULL without one. */
state_handle *handle_find(state_handle_kind kind, state_server *server, const uint8_t *bytes);

/* Notes that the server answered for the handle, which proves that it exists. Changes: gives it the next number, if it has none. */
void handle_confirm(state_handle *handle);

/* True for 20 zeros, which no handle is. */
bool handle_is_null(const uint8_t *bytes);

/* Returns what paths of PerflibV2 call the server of a handle: as the client put it; its address if that is not known or `handle` is NULL. */
const char *handle_machine(const state_handle *handle, const state_server *server);

/* Has handles and their numbers end with each file. Once, as the plugin begins. */
void handles_register(void);
