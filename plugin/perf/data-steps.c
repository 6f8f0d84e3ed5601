/* data-steps.c
 * What can stand at a place of counter data.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-steps.h"

bool perf_walk_block_type_known(uint32_t type)
{
    return type == PERF_ERROR_RETURN || type == PERF_SINGLE_COUNTER || type == PERF_MULTIPLE_COUNTERS ||
           type == PERF_MULTIPLE_INSTANCES || type == PERF_COUNTERSET;
}

bool perf_walk_block_fits(const perf_walk *walk, uint32_t at)
{
    if (at == walk->size) {
        return true;
    }
    if (at > walk->size || walk->size - at < PERF_COUNTER_HEADER_SIZE) {
        return false;
    }
    uint32_t type = perf_le32(walk->data + at + 4);
    uint32_t size = perf_le32(walk->data + at + 8);
    return perf_walk_block_type_known(type) && size >= PERF_COUNTER_HEADER_SIZE && size <= walk->size - at;
}

bool perf_walk_value_possible(const perf_walk *walk, uint32_t at)
{
    if (at > walk->limit || walk->limit - at < PERF_COUNTER_DATA_SIZE) {
        return false;
    }
    uint32_t size = perf_le32(walk->data + at + 4);
    return size >= PERF_COUNTER_DATA_SIZE && size <= walk->limit - at &&
           perf_le32(walk->data + at) <= size - PERF_COUNTER_DATA_SIZE;
}

bool perf_walk_value_fits(const perf_walk *walk, uint32_t at)
{
    if (at > walk->limit || walk->limit - at < PERF_COUNTER_DATA_SIZE) {
        return false;
    }
    uint32_t data_size = perf_le32(walk->data + at);
    uint32_t size = perf_le32(walk->data + at + 4);
    return data_size > 0 && data_size <= walk->limit - at - PERF_COUNTER_DATA_SIZE && size <= walk->limit - at &&
           (size == PERF_COUNTER_DATA_SIZE + data_size || size == perf_align8(PERF_COUNTER_DATA_SIZE + data_size));
}

bool perf_walk_instances_fit(const perf_walk *walk, uint32_t at)
{
    return at <= walk->limit && walk->limit - at >= PERF_MULTI_INSTANCES_SIZE &&
           perf_le32(walk->data + at) == walk->limit - at;
}

bool perf_walk_goes_on(const perf_walk *walk, uint32_t at)
{
    if (walk->values_left > 0) {
        return perf_walk_value_fits(walk, at);
    }
    if (walk->instance.index == PERF_NO_INSTANCE || walk->instances_left == 0) {
        return at <= walk->limit && (walk->limit - at < 8 || walk->block.open_end);
    }
    if (at > walk->limit || walk->limit - at < PERF_INSTANCE_HEADER_SIZE) {
        return false;
    }
    uint32_t size = perf_le32(walk->data + at);
    return size >= PERF_INSTANCE_HEADER_SIZE && size <= walk->limit - at &&
           (walk->counters.count == 0 || perf_walk_value_fits(walk, at + size));
}
