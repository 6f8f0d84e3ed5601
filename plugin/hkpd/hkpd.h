/* hkpd.h
 * HKEY_PERFORMANCE_DATA: PERF_DATA_BLOCK (winperf.h) as a stream of readings; it and lists of titles in the tree and the Info
 * column; and the hook into Wireshark's winreg dissector, which offers none.
 *
 * A buffer dissector takes the bytes, a tree and a context, and knows nothing of DCE/RPC.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"
#include "tree/values.h"
#include "perf/block-walk.h"

/* --- hkpd-readings.c: the stream --- */

extern const readings_layout hkpd_readings_layout;

/* For whoever shows the structures between the values too: the next event of the walk that the stream makes. At a
 * PERF_BLOCK_VALUE the reading is as if it had been pulled. */
perf_block_event hkpd_readings_event(readings *r);
perf_block_walk *hkpd_readings_walk(const readings *r);

/* The three clocks of the block whose header the walk has just announced. */
perf_point hkpd_clocks(const perf_block_walk *walk);

/* Its SystemName, without backslashes before it, in `pool`; NULL if it has none that is sound. */
const char *hkpd_system_name(wmem_allocator_t *pool, tvbuff_t *tvb, const perf_block_walk *walk);

/* "explorer/3", "svchost#2", "" of the instance that the walk is in. */
const char *hkpd_readings_instance(readings *r);

/* --- hkpd-buffers.c: what is shown --- */

typedef struct {
    uint32_t index;
    const char *text;
} hkpd_title;

/* A list of them, as hkpd_title: pairs of a number and a text, each with its terminator. `others`: how often there was something else
 * in a pair's place, or no end. `goes_on`: the list went on behind that, so that it was not cut but changed: which texts were is not known. */
wmem_array_t *hkpd_titles(tvbuff_t *tvb, wmem_allocator_t *pool, uint32_t *others, bool *goes_on);

/* Shows them, and returns how many titles there are. */
uint32_t hkpd_dissect_titles(tvbuff_t *tvb, proto_tree *tree, findings_report *report, uint32_t *others);

/* Title indexes of a block's objects, in its order and in `pool`; PERF_NO_OBJECT for one that is no sample: it has no values, or it is
 * not certain which of them stands where or whose it is. */
const uint32_t *hkpd_objects(tvbuff_t *tvb, wmem_allocator_t *pool, bool has_faults, uint32_t *count);

void hkpd_buffers_register(int proto);

/* Shows it. Does nothing if nobody looks and nothing is wrong. */
void hkpd_dissect_block(proto_tree *tree, findings_report *report, const readings_answer *answer,
                        const perf_block_summary *summary);

/* --- winreg-hook.c: a copy of winreg's table of operations, with some entries replaced, takes the table's place --- */

/* Some of its operations ([MS-RRP] 3.1.4); packet-hkpd.c lists all that are looked at. */
#define WINREG_CREATE_KEY 6
#define WINREG_ENUM_VALUE 10
#define WINREG_QUERY_VALUE 17

/* Puts `count` entries, by number, in the place of the stock ones; where one's name or request is NULL the stock one stays. Nothing
 * is hooked where the stock dissector has no such table, and no entry whose name is not the stock one's. Calls of `sealed` are
 * explained, if they are, where `is_active` says that ours are looked at. */
void winreg_hook_install(const dcerpc_sub_dissector *entries, unsigned count, const rpc_operation *sealed,
                         bool (*is_active)(void));

/* The stock function of a PDU whose entry was replaced. */
int winreg_stock(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep);
