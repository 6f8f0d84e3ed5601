/* fuzz_data_walk.c
 * The walk through counter data: it stays inside its bytes, comes to an end in a number of steps that the bytes bound,
 * and agrees with the check that passes over rows. Whatever fills the blanks of its form is walked in the same way.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-form.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
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

/* --- Its form --------------------------------------------------------------------------------------------------- */

/* Other numbers: no bits, all bits, what looks like the header of a value or a block, and one of those that stood there. */
static void change_numbers(uint64_t *numbers, uint32_t count)
{
    static const uint64_t odd[] = {0, UINT64_MAX, 16ULL << 32 | 8, 12ULL << 32 | 4, 24ULL << 32 | 16, 1ULL << 32};
    const uint32_t kinds = sizeof odd / sizeof *odd + 1;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t kind = (uint32_t)(numbers[i] ^ numbers[i] >> 17 ^ i) % kinds;
        numbers[i] = kind < kinds - 1 ? odd[kind] : numbers[count - 1 - i];
    }
}

static void check_walked_alike(const uint8_t *data, const uint8_t *other, uint32_t size)
{
    perf_walk a, b;
    perf_walk_event event;

    perf_walk_init(&a, data, size);
    perf_walk_init(&b, other, size);
    do {
        event = perf_walk_next(&a);
        assert(event == perf_walk_next(&b) && event != PERF_WALK_FAULT);
        b.data = data; /* all else is the same */
        assert(memcmp(&a, &b, sizeof a) == 0);
        b.data = other;
    } while (event != PERF_WALK_END);
}

static void check_numbers(perf_filled_form *filled, const uint8_t *data)
{
    perf_walk walk;
    perf_walk_event event;

    perf_walk_init(&walk, filled->bytes, filled->size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_VALUE) {
            uint32_t at = walk.value.data, most = walk.value.data_size < 8 ? walk.value.data_size : 8;
            assert(memcmp(perf_form_at(filled, at), data + at, most) == 0);
        }
    }
    for (uint32_t at = 8; at < PERF_DATA_HEADER_SIZE; at += 8) {
        assert(memcmp(perf_form_at(filled, at), data + at, 8) == 0);
    }
}

static void check_form(uint8_t *first, const uint8_t *data, uint32_t size, const perf_data_summary *walked)
{
    perf_form *form = perf_form_new(first, size);

    if (form == NULL) {
        return;
    }
    uint64_t *numbers = malloc(form->num_numbers * sizeof *numbers);
    uint8_t *bytes = memcpy(malloc(size), data, size);
    perf_filled_form filled = {first, size, form, numbers, 0};

    assert(walked->faults == 0 && perf_form_read(form, data, size, numbers));
    check_numbers(&filled, data);
    change_numbers(numbers, form->num_numbers);
    perf_form_fill(form, numbers, bytes);
    check_walked_alike(data, bytes, size);
    check_numbers(&filled, bytes);
    assert(perf_form_read(form, bytes, size, numbers));
    perf_form_fill(form, numbers, first);
    assert(memcmp(first, bytes, size) == 0);
    free(numbers);
    free(bytes);
    perf_form_free(form);
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
    uint8_t *copy = memcpy(malloc(size + 1), data, size);
    check_form(copy, data, (uint32_t)size, &walked);
    free(copy);
    return 0;
}
