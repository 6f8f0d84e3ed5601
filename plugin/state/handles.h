/* handles.h
 * Lives of handles: from the response that opened one to the request that closed it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/hosts.h"

#define PERF_HANDLE_SIZE 20 /* of a context handle */

/* Of more connections than a client has for one query, which one lost a call is not looked for. */
#define HANDLE_CONNECTIONS 4

typedef struct state_handle state_handle;

typedef enum {
    PERF_HANDLE_QUERY,
    PERF_HANDLE_HKPD,      /* key with performance data */
    PERF_HANDLE_OTHER_KEY, /* another key of the registry: found as if it were PERF_HANDLE_HKPD, never numbered */
    NUM_HANDLE_KINDS
} state_handle_kind;

/* One life of a handle: from the response that opened it to the request that closed it. */
struct state_handle {
    state_handle_kind kind;
    state_host *server;
    uint8_t bytes[PERF_HANDLE_SIZE];
    uint32_t number;       /* among those of its kind, from 1 in the order of the capture; 0 as long as nothing showed
                            * that the server knows it */
    uint32_t begin;        /* event of the opening, or of the first use if that was not captured */
    uint32_t end;          /* event of the closing, UINT32_MAX as long as none was seen */
    bool is_gone;          /* the server answered the closing: what it answers after that is another life's */
    uint32_t opened_frame; /* 0: not captured */
    uint32_t closed_frame; /* 0: not closed in this capture */
    const char *machine;   /* szMachine without backslashes, or SystemName; NULL if not known */
    const char *place;     /* its server's address and port, where another server was called so before; else NULL */
    struct state_query *query;
    struct state_association *association; /* of the connections that it was used on; NULL before */
    struct {
        const uint32_t *heard;         /* event of what the client sent there last; NULL: no connection */
        uint32_t used;                 /* event of its latest call */
    } connections[HANDLE_CONNECTIONS]; /* that it was used on last; only for the first pass */
    struct hkpd_key *key;              /* HKPD: which key it is; of the protocol's own making */
    struct state_sample *newest;       /* only for the first pass */
    uint32_t unsound;                  /* PerflibV2: event of the first answer that is no sample; 0: none */
    wmem_map_t *series;                /* question -> sample_series; only for the first pass */
    wmem_map_t *objects;               /* HKPD: title index -> its newest state_object; only for the first pass */
};

/* Begins a life, and ends none of the same bytes. One that begins with the response that opened it (`frame` is not 0) is confirmed. */
state_handle *handle_open(state_handle_kind kind, state_server *server, const uint8_t *bytes, uint32_t event,
                          uint32_t frame, const char *machine);

/* The life that was begun last, ended or not; NULL if there is none. For the first pass: a call keeps what it found. */
state_handle *handle_find(state_handle_kind kind, state_server *server, const uint8_t *bytes);

/* The server answered for it: it takes the next number, if it has none. Another key's handle never gets one. */
void handle_confirm(state_handle *handle);

/* What paths of PerflibV2 call the machine that a handle (may be NULL) is of: as the client put it, else its address. Those of
 * HKEY_PERFORMANCE_DATA have SystemName. */
const char *handle_machine(const state_handle *handle, const state_host *server);

/* Notes what its server was called, and where it is if another one was called so before. NULL: by its address. */
void handle_note_name(state_handle *handle, const char *machine);

/* UINT32_MAX and 0: the server refused to. */
void handle_close(state_handle *handle, uint32_t event, uint32_t frame);

void handles_register(void);
