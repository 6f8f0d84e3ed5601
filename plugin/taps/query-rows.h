/* query-rows.h
 * What each query, or handle of HKEY_PERFORMANCE_DATA, was used for; one that a client opens again and again is one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/tapped.h"
#include "taps/pace.h"
#include "taps/sealed-talk.h"

typedef struct {
    const void *key; /* what it was found by: its first handle or sealed connection */
    unsigned place;  /* in `all` */
    char *client, *server;
    char *account; /* "" if no logon was seen */
    bool is_sealed;
    bool is_hkpd;
    bool is_other; /* those for which there is no room */
    bool
        may_go_on; /* until its first sample, or until it is shown: another one of its client and server may be this one */
    bool is_closed; /* its last handle */
    const state_handle *newest;
    uint32_t number; /* of the first handle, 0 as long as the server is not known to know it; sealed: as it is shown */
    uint32_t opened_frame; /* of the first handle, 0 if that was before the capture; and of the last one: */
    uint32_t closed_frame; /* 0: left open */
    uint64_t handles;      /* or sealed connections */
    uint64_t samples;
    uint64_t bytes; /* of them */
    uint64_t probes;
    uint64_t no_data; /* answers to who wanted some */
    uint64_t refused; /* identifiers */
    uint64_t failed;  /* blocks */
    uint64_t counters;
    int64_t unknown;       /* of them, that no ValidateCounters in the capture added */
    perf_point clocks;     /* of the last sample, */
    nstime_t request_time; /* or when it was asked for: of a sealed one */
    sealed_talk talk;
    perf_summary offsets; /* of the server's clock from the capture's */
    pace pace;
} query_row;

/* All of a capture. */
typedef struct {
    GPtrArray *all;     /* query_row */
    GHashTable *whose;  /* state_handle or sealed connection -> query_row */
    GHashTable *latest; /* client, server and counters -> the one of them that began last */
    query_row *others;  /* for which there is no room; in `all` */
} query_rows;

query_rows *query_rows_new(void);
void query_rows_free(query_rows *rows);

/* The capture goes, perhaps in its middle (tshark -M): what was counted stays. */
void query_rows_forget(query_rows *rows);

/* The server of a call, as the client called it and by its address. To be freed. */
char *query_server_name(const tapped_call *tapped);

/* Stands for the counters of a query, in whatever order, or for what the client asks HKEY_PERFORMANCE_DATA for: never 0. */
unsigned query_counters(const tapped_call *tapped);

/* Each call that was captured once. Whose it is; NULL if it is nobody's. One that may go on as another is gone when it does. */
query_row *query_rows_count(query_rows *rows, packet_info *pinfo, const tapped_call *tapped);
