/* pcq-data.h
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) in the tree and the Info column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PCQ_DATA_H
#define PCQ_PCQ_DATA_H

#include "dcerpc/reader.h"
#include "tree/values.h"
#include "state/state.h"

#include "perf/data-walk.h"

void pcq_data_register(int proto);

typedef struct {
    findings_report *report;
    state_host *server;
    state_handle *handle; /* NULL if the request was not read */
    state_sample *sample; /* this answer's, NULL if it is none */
    uint32_t event;
    uint32_t names_event;      /* as of when names are looked up */
    bool is_repeated;          /* another frame answered the same call before */
    bool has_form;             /* its bytes have the sample's form: this was made sure */
    perf_data_summary summary; /* filled by pcq_check_data(), or the form's */
    value_first first;
} pcq_data_context;

/* Walks the buffer without looking at values. Returns true if something in it can be compared with other
 * samples; each block answers for itself (perf_walk_block_sound()). */
bool pcq_check_data(tvbuff_t *tvb, perf_data_summary *summary);

/* Shows it, once the context is filled. Does nothing if nobody looks and nothing is wrong. */
void pcq_dissect_data(tvbuff_t *tvb, proto_tree *tree, pcq_data_context *context);

/* The same as a stream of readings. */
readings_answer pcq_data_answer(tvbuff_t *tvb, const pcq_data_context *context);

#endif
