/* fuzz_block_walk.c
 * The walk through PERF_DATA_BLOCK: it stays inside its bytes, every event is one that the bytes can pay for, and it agrees
 * with the check that does not look at values.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../unit/object_sound.h"
#include "perf/block-walk.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    uint64_t objects, sound_objects, definitions, instances, values, faults;
} sums;

static void check_inside(const perf_block_walk *walk, uint32_t offset, uint32_t size)
{
    assert(offset <= walk->size && size <= walk->size - offset);
}

static void check_event(const perf_block_walk *walk, perf_block_event event)
{
    switch (event) {
    case PERF_BLOCK_HEADER:
        check_inside(walk, 0, PERF_DATA_BLOCK_SIZE);
        if (walk->header.name_room > 0) {
            check_inside(walk, walk->header.name, walk->header.name_room);
        }
        break;
    case PERF_BLOCK_OBJECT:
        check_inside(walk, walk->object.offset, PERF_OBJECT_TYPE_SIZE);
        check_inside(walk, walk->object.offset, walk->object.end - walk->object.offset);
        break;
    case PERF_BLOCK_DEFINITION:
        check_inside(walk, walk->definition.offset, walk->definition.size);
        break;
    case PERF_BLOCK_INSTANCE:
        check_inside(walk, walk->instance.offset, walk->instance.size);
        check_inside(walk, walk->instance.name, walk->instance.name_room);
        assert(walk->instance.name_size <= walk->instance.name_room);
        break;
    case PERF_BLOCK_COUNTERS:
        check_inside(walk, walk->counters.offset, walk->counters.size);
        break;
    case PERF_BLOCK_VALUE:
        check_inside(walk, walk->value.definition, PERF_COUNTER_DEFINITION_SIZE);
        check_inside(walk, walk->value.offset, walk->value.size);
        break;
    case PERF_BLOCK_FAULT:
        check_inside(walk, walk->fault.offset, 0);
        assert(walk->fault.what < PERF_NUM_BLOCK_FAULTS);
        break;
    default:
        break;
    }
}

/* Values come in rows of as many as there are definitions: cells, not bytes. They are passed over beyond this. */
#define MOST_VALUES 100000

static void walk_all(const uint8_t *data, uint32_t size, sums *sum)
{
    perf_block_walk walk;
    perf_block_event event;
    uint64_t steps = 0, values = 0;

    memset(sum, 0, sizeof *sum);
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        check_event(&walk, event);
        bool cell = event == PERF_BLOCK_VALUE;
        sum->objects += event == PERF_BLOCK_OBJECT;
        sum->sound_objects += event == PERF_BLOCK_OBJECT && perf_block_holds_values(&walk) && object_sound(&walk);
        sum->definitions += event == PERF_BLOCK_DEFINITION;
        sum->instances += event == PERF_BLOCK_INSTANCE;
        sum->values += event == PERF_BLOCK_VALUE;
        sum->faults += event == PERF_BLOCK_FAULT;
        if (cell && ++values > MOST_VALUES) {
            perf_block_skip_values(&walk);
        }
        steps += !cell;
        assert(steps <= 16 + (uint64_t)size);
    }
    sum->values = values > MOST_VALUES ? UINT64_MAX : sum->values;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perf_block_summary checked;
    sums walked;

    if (size > UINT32_MAX) {
        return 0;
    }
    walk_all(data, (uint32_t)size, &walked);
    bool sound = perf_block_check(data, (uint32_t)size, &checked);
    assert(walked.objects == checked.objects);
    assert(walked.definitions == checked.definitions);
    assert(walked.instances == checked.instances);
    assert(walked.sound_objects == checked.sound_objects);
    assert(sound == (walked.faults == 0) && walked.faults == checked.faults);
    assert(walked.values == UINT64_MAX || walked.values == checked.values);
    return 0;
}
