/* fuzz_data_walk.c
 * The walk through counter data: it stays inside its bytes, comes to an end in a number of steps that the bytes bound,
 * agrees with the check that passes over rows, and with a reader of its own for data without any fault. Whatever fills the
 * blanks of its form is walked in the same way.
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

/* --- A reader of its own, for what has no fault and counts its padding --------------------------------------------- */

typedef struct {
    const uint8_t *at, *end;
} span;

static uint32_t number(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* A structure of at least `least` bytes that says its size at `where`, and only whole steps of 8. */
static bool take(span *from, uint32_t least, uint32_t where, span *structure)
{
    size_t left = (size_t)(from->end - from->at);

    if (left < least) {
        return false;
    }
    uint32_t size = number(from->at + where);
    if (size < least || size > left || size % 8 != 0) {
        return false;
    }
    *structure = (span){from->at, from->at + size};
    from->at += size;
    return true;
}

static bool values(span *from, uint32_t n, perf_data_summary *sum)
{
    span value;

    for (; n > 0; n--, sum->values++) {
        if (!take(from, 8, 4, &value) || number(value.at) > (size_t)(value.end - value.at) - 8) {
            return false;
        }
    }
    return true;
}

static bool ids(span *from, uint32_t *n)
{
    span list;

    if (!take(from, 8, 0, &list)) {
        return false;
    }
    *n = number(list.at + 4);
    return *n <= (size_t)(list.end - list.at - 8) / 4;
}

static bool has_terminator(const uint8_t *name, const uint8_t *end)
{
    for (; end - name >= 2; name += 2) {
        if (name[0] == 0 && name[1] == 0) {
            return true;
        }
    }
    return false;
}

static bool instances(span *from, uint32_t columns, perf_data_summary *sum)
{
    span list, instance;

    if (!take(from, 8, 0, &list)) {
        return false;
    }
    uint32_t n = number(list.at + 4);
    for (list.at += 8; n > 0; n--) {
        if (!take(&list, 8, 0, &instance) ||
            (instance.end - instance.at > 8 && !has_terminator(instance.at + 8, instance.end)) ||
            !values(&list, columns, sum)) {
            return false;
        }
    }
    return list.at == list.end;
}

static bool block(span *from, perf_data_summary *sum)
{
    uint32_t columns = 1;
    span body;

    if (!take(from, 16, 8, &body)) {
        return false;
    }
    uint32_t type = number(body.at + 4);
    body.at += 16;
    sum->blocks++;
    sum->sound_blocks++;
    bool sound = type == 0   ? true
                 : type == 1 ? values(&body, 1, sum)
                 : type == 2 ? ids(&body, &columns) && values(&body, columns, sum)
                 : type == 4 ? instances(&body, 1, sum)
                 : type == 6 ? ids(&body, &columns) && instances(&body, columns, sum)
                             : false;
    return sound && body.at == body.end;
}

static bool read_plainly(const uint8_t *data, uint32_t size, perf_data_summary *sum)
{
    span all = {data, data + size};

    memset(sum, 0, sizeof *sum);
    if (size < 48 || number(data) != size) {
        return false;
    }
    uint32_t n = number(data + 4);
    all.at += 48;
    for (; n > 0; n--) {
        if (!block(&all, sum)) {
            return false;
        }
    }
    return all.at == all.end;
}

static void check_same(const perf_data_summary *a, const perf_data_summary *b)
{
    assert(a->blocks == b->blocks);
    assert(a->values == b->values);
    assert(a->sound_blocks == b->sound_blocks);
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

static void check_numbers(const perf_filled_form *filled, const uint8_t *data)
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
    perf_filled_form filled = {first, size, form, numbers};

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
    perf_data_summary walked, checked, plain;

    if (size > UINT32_MAX) {
        return 0;
    }
    walk_all(data, (uint32_t)size, &walked);
    bool sound = perf_data_check(data, (uint32_t)size, &checked);
    assert(sound == (walked.faults == 0) && walked.faults == checked.faults);
    check_same(&walked, &checked);
    if (read_plainly(data, (uint32_t)size, &plain)) {
        assert(sound);
        check_same(&plain, &checked);
    }
    uint8_t *copy = memcpy(malloc(size + 1), data, size);
    check_form(copy, data, (uint32_t)size, &walked);
    free(copy);
    return 0;
}
