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
    readings_answer answer;
    perf_data_summary summary; /* filled by pcq_check_data(), or the form's */
    value_first first;
} pcq_data_context;

/* Walks the buffer without looking at values. Returns true if something in it can be compared with other
 * samples; each block answers for itself (perf_walk_block_sound()). */
bool pcq_check_data(tvbuff_t *tvb, perf_data_summary *summary);

/* Shows it, once the context is filled. Does nothing if nobody looks and nothing is wrong. */
void pcq_dissect_data(proto_tree *tree, pcq_data_context *context);

#endif
