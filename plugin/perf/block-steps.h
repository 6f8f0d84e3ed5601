/* block-steps.h
 * Where the next structure of a PERF_DATA_BLOCK is, and whether it can be there: for the walk alone (block-walk.h).
 *
 * All look at a bounded number of bytes, but for perf_block_counters_room(), which looks at each definition once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_BLOCK_STEPS_H
#define PCQ_PERF_BLOCK_STEPS_H

#include "perf/block-walk.h"

/* Bytes of text before its terminator, at most `room` of them. */
uint32_t perf_block_text_size(const uint8_t *text, uint32_t room, bool wide);

/* Whether the header's own fields place its name inside it. */
bool perf_block_system_name_fits(const perf_block_walk *walk);

/* Nothing but zeros where an object should be. */
bool perf_block_is_blank(const uint8_t *object);

/* Whether an object can begin at `at`. */
bool perf_block_object_begins(const perf_block_walk *walk, uint32_t at);

/* Whether a counter block of the current object can be `step` bytes behind `at`. */
bool perf_block_counters_follow(const perf_block_walk *walk, uint32_t at, uint32_t step);

/* Bytes from the counter definition, instance or counter block at an offset to what follows. 0 if that cannot be found;
 * a definition's own size is not checked. */
uint32_t perf_block_definition_step(const perf_block_walk *walk, uint32_t definition);
uint32_t perf_block_instance_step(const perf_block_walk *walk, uint32_t at);
uint32_t perf_block_counters_step(const perf_block_walk *walk, uint32_t at);

/* Whether a definition's value lies inside a counter block of `room` bytes. */
bool perf_block_value_fits(const perf_block_walk *walk, uint32_t definition, uint32_t room);

/* The bytes that the current object's counter blocks have, before its first definition is read. */
uint32_t perf_block_counters_room(const perf_block_walk *walk);

#endif
