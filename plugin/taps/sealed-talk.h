/* sealed-talk.h
 * What sizes and times of sealed calls say of a connection's talk about queries: what it asks for, size probes, failures. It is inferred.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/summary.h"
#include "tap/tapped.h"

/* Begins as zeros. */
typedef struct {
    unsigned asked_for; /* stands for what was asked before the first sample, by operations and sizes */
    unsigned num_open;  /* queries */
    bool is_closed;     /* the last call closed the only one */
    bool has_sample;
    uint64_t probes;
    uint64_t no_data;       /* answers that no data followed in time, */
    uint32_t no_data_frame; /* and the first */
    unsigned num_waiting;   /* others, for what the next ones say of them: */
    nstime_t waiting_since; /* when the newest came, */
    uint32_t waiting_frame; /* and in which frame the first */
} sealed_talk;

/* A call of a query; `intervals` are those between the samples so far. */
void sealed_talk_count(sealed_talk *talk, const packet_info *pinfo, const tapped_call *tapped,
                       const perf_spread *intervals);

/* Another query or connection goes on with it. */
void sealed_talk_join(sealed_talk *talk, const sealed_talk *later);
