/* data-steps.h
 * What can stand at a place of counter data: for the walk alone (data-walk.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_DATA_STEPS_H
#define PCQ_PERF_DATA_STEPS_H

#include "perf/bytes.h"
#include "perf/data-walk.h"

/* What perf_walk_next() reads next. */
enum {
    NEXT_HEADER,
    NEXT_BLOCK,
    NEXT_COUNTERS,
    NEXT_INSTANCES,
    NEXT_INSTANCE,
    NEXT_VALUE,
    NEXT_FAULT,
    NEXT_SKIP,
    NEXT_BLOCK_END,
    NEXT_TRAILER,
    NEXT_NOTHING
};

/* How values whose dwSize is no multiple of 8 are stepped over. */
enum {
    PADDING_UNKNOWN,
    PADDING_NOT_COUNTED, /* there is padding, dwSize leaves it out */
    PADDING_NONE
};

/* True if one of four 16-bit units is 0. */
static inline bool perf_has_zero_unit(uint64_t units)
{
    return ((units - 0x0001000100010001U) & ~units & 0x8000800080008000U) != 0;
}

bool perf_walk_block_type_known(uint32_t type);

/* A block, or the buffer's end, at `at`. */
bool perf_walk_block_fits(const perf_walk *walk, uint32_t at);

/* A PERF_COUNTER_DATA whose sizes contradict neither each other nor its block. */
bool perf_walk_value_possible(const perf_walk *walk, uint32_t at);

/* One as servers send it: dwDataSize is above 0, and dwSize is 8 more, or that rounded up to a multiple of 8. */
bool perf_walk_value_fits(const perf_walk *walk, uint32_t at);

/* A PERF_MULTI_INSTANCES that reaches to the block's end. */
bool perf_walk_instances_fit(const perf_walk *walk, uint32_t at);

/* What comes behind a value: the next one, the next instance or the end. */
bool perf_walk_goes_on(const perf_walk *walk, uint32_t at);

#endif
