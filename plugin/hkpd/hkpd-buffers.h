/* hkpd-buffers.h
 * What HKEY_PERFORMANCE_DATA answers: PERF_DATA_BLOCK and lists of titles, in the tree and the Info column.
 *
 * A buffer dissector takes the bytes, a tree and a context, and knows nothing of DCE/RPC.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/values.h"
#include "state/state.h"
#include "dcerpc/reader.h"
#include "perf/block-walk.h"

typedef struct {
    findings_report *report;
    readings_answer answer;
    perf_block_summary summary; /* by perf_block_check() */
    value_first first;
} hkpd_context;

typedef struct {
    uint32_t index;
    const char *text;
} hkpd_title;

/* A list of them, as hkpd_title; NULL if it is not whole: pairs of a number and a text, each with its terminator. */
wmem_array_t *hkpd_titles(tvbuff_t *tvb, wmem_allocator_t *pool);

/* Shows them, and returns how many pairs there are. */
uint32_t hkpd_dissect_titles(tvbuff_t *tvb, proto_tree *tree, findings_report *report);

/* A block's objects, in its order and in `pool`; PERF_NO_OBJECT for one that is no sample: it has no values, or it is not
 * certain which of them stands where or whose it is. */
state_object_place *hkpd_object_places(tvbuff_t *tvb, wmem_allocator_t *pool, uint32_t *count);

void hkpd_buffers_register(int proto);

/* Shows it. Does nothing if nobody looks and nothing is wrong. */
void hkpd_dissect_block(proto_tree *tree, hkpd_context *context);
