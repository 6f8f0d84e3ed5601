/* sealed-talk.h
 * What sizes and times of sealed calls say of a connection's talk about queries: what it asks for, size probes, failures. It is inferred.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/summary.h"
#include "readings/tapped.h"

/* Responses without data that wait for what the next ones say of them; more at a time are failures. */
#define SEALED_TALK_WAITING 16

/* Begins as zeros. */
typedef struct {
    unsigned asked_for; /* stands for what was asked before the first sample, by operations and sizes */
    unsigned num_open;  /* queries */
    bool is_closed;     /* the last call closed the only one */
    bool has_sample;
    uint64_t probes;
    uint64_t no_data;       /* answers that no data followed in time, */
    uint32_t no_data_frame; /* and the first */
    unsigned num_waiting;
    struct {
        nstime_t at; /* when the response came, and in which frame */
        uint32_t frame;
    } waiting[SEALED_TALK_WAITING];
} sealed_talk;

/* A call of a query; `intervals` are those between the samples so far. */
void sealed_talk_count(sealed_talk *talk, const packet_info *pinfo, const tapped_call *tapped,
                       const perf_spread *intervals);

/* Another query or connection goes on with it. */
void sealed_talk_join(sealed_talk *talk, const sealed_talk *later);

/* Answers to who wanted data that brought none, and were no size probe; and the first one's frame. */
uint64_t sealed_talk_no_data(const sealed_talk *talk, uint32_t *frame);
