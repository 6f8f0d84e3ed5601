/* handles.h
 * Lives of handles: from the response that opened one to the request that closed it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_HANDLES_H
#define PCQ_STATE_HANDLES_H

#include "state/hosts.h"

#define PERF_HANDLE_SIZE 20

typedef struct perf_handle perf_handle;

typedef enum {
    PERF_HANDLE_QUERY,
    PERF_HANDLE_HKPD,      /* key with performance data */
    PERF_HANDLE_OTHER_KEY, /* another key of the registry: found as if it were PERF_HANDLE_HKPD, never numbered */
    NUM_HANDLE_KINDS
} perf_handle_kind;

/* One life of a handle: from the response that opened it to the request that closed it. */
struct perf_handle {
    perf_handle_kind kind;
    perf_server *server;
    perf_server *client; /* its address, NULL if not known */
    uint8_t bytes[PERF_HANDLE_SIZE];
    uint32_t number;       /* among those of its kind, from 1 in the order of the capture; 0 as long as nothing showed
                            * that the server knows it */
    uint32_t begin;        /* event of the opening, or of the first use if that was not captured */
    uint32_t end;          /* event of the closing, UINT32_MAX as long as none was seen */
    uint32_t opened_frame; /* 0: not captured */
    uint32_t closed_frame; /* 0: not closed in this capture */
    const char *machine;   /* szMachine without backslashes, NULL if not known */
    struct perf_query *query;
    struct hkpd_key *key;       /* HKPD: which key it is; of the protocol's own making */
    struct perf_sample *newest; /* only for the first pass */
    wmem_map_t *objects;        /* HKPD: title index -> newest perf_sample with it; only for the first pass */
};

/* Begins a life. One that begins with the response that opened it (`frame` is not 0) is confirmed. */
perf_handle *perf_handle_open(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event,
                              uint32_t frame, const char *machine);

/* The life that is current at an event; one that has ended is found until the next begins. NULL if there is none. */
perf_handle *perf_handle_find(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event);

/* The server answered for it: it takes the next number, if it has none. Another key's handle never gets one. */
void perf_handle_confirm(perf_handle *handle);

void perf_handle_close(perf_handle *handle, uint32_t event, uint32_t frame);

/* The server refused to close it. */
void perf_handle_not_closed(perf_handle *handle);

void perf_handles_register(void);

#endif
