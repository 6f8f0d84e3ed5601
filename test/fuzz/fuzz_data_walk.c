/* fuzz_data_walk.c
 * The walk through counter data: it stays inside its bytes, comes to an end in a number of steps that the bytes bound,
 * and agrees with the check that passes over rows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/bytes.h"
#include "perf/data-walk.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- The walk ------------------------------------------------------------------------------------------------- */

static void check_inside(const perf_walk *walk, uint32_t offset, uint32_t size)
{
    assert(offset <= walk->size && size <= walk->size - offset);
}

static void check_event(const perf_walk *walk, perf_walk_event event)
{
    switch (event) {
    case PERF_WALK_BLOCK:
        check_inside(walk, walk->block.offset, PERF_COUNTER_HEADER_SIZE);
        check_inside(walk, walk->block.offset, walk->block.limit - walk->block.offset);
        check_inside(walk, walk->block.limit, walk->block.end - walk->block.limit);
        break;
    case PERF_WALK_COUNTERS:
        check_inside(walk, walk->counters.offset, walk->counters.size);
        check_inside(walk, walk->counters.ids, 4 * walk->counters.count);
        break;
    case PERF_WALK_INSTANCES:
        check_inside(walk, walk->instances.offset, PERF_MULTI_INSTANCES_SIZE);
        break;
    case PERF_WALK_INSTANCE:
        check_inside(walk, walk->instance.offset, walk->instance.size);
        check_inside(walk, walk->instance.name, walk->instance.name_size);
        break;
    case PERF_WALK_VALUE:
        check_inside(walk, walk->value.offset, walk->value.size);
        check_inside(walk, walk->value.data, walk->value.data_size);
        break;
    case PERF_WALK_NO_VALUE:
        check_inside(walk, walk->value.offset, PERF_COUNTER_DATA_SIZE);
        break;
    case PERF_WALK_FAULT:
        check_inside(walk, walk->fault.offset, 0);
        assert(walk->fault.what < PERF_NUM_FAULTS);
        break;
    default:
        break;
    }
}

static void count(perf_data_summary *sum, const perf_walk *walk, perf_walk_event event)
{
    sum->blocks += event == PERF_WALK_BLOCK;
    sum->values += event == PERF_WALK_VALUE;
    sum->faults += event == PERF_WALK_FAULT;
    sum->sound_blocks += event == PERF_WALK_BLOCK && perf_walk_block_sound(walk);
}

static void walk_all(const uint8_t *data, uint32_t size, perf_data_summary *sum)
{
    perf_walk walk;
    perf_walk_event event;
    size_t steps = 0;

    memset(sum, 0, sizeof *sum);
    perf_walk_init(&walk, data, size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        check_event(&walk, event);
        count(sum, &walk, event);
        assert(++steps <= 16 + (size_t)size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perf_data_summary walked, checked;

    if (size > UINT32_MAX) {
        return 0;
    }
    walk_all(data, (uint32_t)size, &walked);
    bool sound = perf_data_check(data, (uint32_t)size, &checked);
    assert(sound == (walked.faults == 0) && walked.faults == checked.faults);
    assert(walked.blocks == checked.blocks && walked.values == checked.values);
    assert(walked.sound_blocks == checked.sound_blocks);
    return 0;
}
