/* handles.h
 * Handles: queries, and keys of the registry.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/servers.h"

#define PERF_HANDLE_SIZE 20 /* of a context handle */

typedef struct state_handle state_handle;

typedef enum {
    PERF_HANDLE_QUERY,
    PERF_HANDLE_HKPD,      /* key with performance data */
    PERF_HANDLE_OTHER_KEY, /* another key of the registry: found as if it were PERF_HANDLE_HKPD, never numbered */
    NUM_HANDLE_KINDS
} state_handle_kind;

/* A handle, from the response that opened it on. */
struct state_handle {
    state_handle_kind kind;
    state_server *server;
    uint8_t bytes[PERF_HANDLE_SIZE];
    uint32_t number;       /* among those of its kind, from 1 in the order of the capture; 0 as long as nothing showed
                            * that the server knows it */
    uint32_t opened_frame; /* 0: not captured */
    uint32_t closed_frame; /* of the request that closed it, 0: not closed in this capture */
    const char *machine;   /* szMachine without backslashes, or SystemName; NULL if not known */
    const char *place;     /* its server's address and port, where another server was called so before; else NULL */
    struct state_query *query;
    struct hkpd_key *key;        /* HKPD: which key it is; of the protocol's own making */
    struct state_sample *newest; /* only for the first pass */
    uint32_t unsound;            /* PerflibV2: event of the first answer that is no sample; 0: none */
    wmem_map_t *series;          /* question -> sample_series; only for the first pass */
};

/* A handle takes the place of an earlier one with the same bytes. One whose opening was captured (`frame` is not 0) is confirmed. */
state_handle *handle_open(state_handle_kind kind, state_server *server, const uint8_t *bytes, uint32_t frame,
                          const char *machine);

/* The newest, closed or not; NULL if there is none. For the first pass: a call keeps what it found. */
state_handle *handle_find(state_handle_kind kind, state_server *server, const uint8_t *bytes);

/* The server answered for it: it takes the next number, if it has none. Another key's handle never gets one. */
void handle_confirm(state_handle *handle);

/* Returns what paths of PerflibV2 call the server of a handle (may be NULL): as the client put it, else its address. Those of
 * HKEY_PERFORMANCE_DATA have SystemName. */
const char *handle_machine(const state_handle *handle, const state_server *server);

/* Notes what its server was called, and where it is if another one was called so before. NULL: by its address. */
void handle_note_name(state_handle *handle, const char *machine);

void handles_register(void);
