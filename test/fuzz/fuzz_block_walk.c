/* fuzz_block_walk.c
 * The walk through PERF_DATA_BLOCK: it stays inside its bytes, every event is one that the bytes can pay for, it agrees
 * with the check that does not look at values, and with a reader of its own for blocks without any fault.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "../unit/object_sound.h"
#include "perf/block-walk.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- The walk ------------------------------------------------------------------------------------------------- */

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

/* --- A reader of its own, for little-endian blocks without any fault ------------------------------------------------ */

typedef struct {
    const uint8_t *data;
    uint64_t end;
} bytes;

static uint64_t number(const bytes *b, uint64_t at)
{
    const uint8_t *p = b->data + at;

    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24;
}

/* The size at `at`, 0 if it is below `least` or leads beyond the end. */
static uint64_t size_at(const bytes *b, uint64_t at, uint64_t least)
{
    if (at > b->end || b->end - at < least) {
        return 0;
    }
    uint64_t size = number(b, at);
    return size >= least && size <= b->end - at ? size : 0;
}

static bool row(const bytes *b, uint64_t *at, uint64_t definitions, uint64_t n, sums *sum)
{
    uint64_t size = size_at(b, *at, 4);

    if (size == 0 || size % 8 != 0) {
        return false;
    }
    for (uint64_t d = definitions; n > 0; n--, d += number(b, d)) {
        uint64_t width = number(b, d + 32), place = number(b, d + 36);
        if (width > 0 && (place < 4 || place + width > size)) {
            return false;
        }
        sum->values++;
    }
    *at += size;
    return true;
}

/* Some value begins within another that is a number, or that it ends behind. */
static bool values_cross(const bytes *b, uint64_t definitions, uint64_t count)
{
    for (uint64_t i = 0, d = definitions; i < count; i++, d += number(b, d)) {
        for (uint64_t k = 0, e = definitions; k < count; k++, e += number(b, e)) {
            uint64_t from = number(b, d + 36), other = number(b, e + 36), end = other + number(b, e + 32);
            bool is_part = end >= from + number(b, d + 32) && end - other > 8;
            if (other < from && from < end && !is_part) {
                return true;
            }
        }
    }
    return false;
}

/* Only what is beyond doubt: names in UTF-16 with their terminator at the end that NameLength tells. */
static bool instance(const bytes *b, uint64_t *at)
{
    uint64_t size = size_at(b, *at, 24);

    if (size == 0 || size % 8 != 0) {
        return false;
    }
    uint64_t name = number(b, *at + 16), length = number(b, *at + 20);
    if (length == 0 && size > 24) {
        return false;
    }
    if (length > 0) {
        if (name < 24 || name + length > size || length % 2 != 0 || length < 2 ||
            b->data[*at + name + length - 2] != 0 || b->data[*at + name + length - 1] != 0) {
            return false;
        }
    }
    *at += size;
    return true;
}

static bool object(const bytes *all, uint64_t *from, sums *sum)
{
    uint64_t size = size_at(all, *from, 64);
    bytes b = {all->data, *from + size};

    if (size == 0) {
        return false;
    }
    uint64_t bodies = *from + number(&b, *from + 4), at = *from + number(&b, *from + 8);
    uint64_t definitions = at, n = number(&b, *from + 32), instances = number(&b, *from + 40);
    if (at < *from + 64 || bodies < at || bodies > b.end || number(&b, *from + 44) != 0) {
        return false;
    }
    bytes head = {b.data, bodies};
    for (uint64_t i = 0; i < n; i++, sum->definitions++) {
        uint64_t length = size_at(&head, at, 40);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    if (at != bodies || instances > INT32_MAX || values_cross(&b, definitions, n)) {
        return false;
    }
    for (; instances > 0; instances--, sum->instances++) {
        if (!instance(&b, &at) || !row(&b, &at, definitions, n, sum) || sum->values > MOST_VALUES) {
            return false;
        }
    }
    sum->objects++;
    *from = b.end;
    return at == b.end;
}

static bool read_plainly(const uint8_t *data, uint32_t size, sums *sum)
{
    bytes b = {data, size};

    memset(sum, 0, sizeof *sum);
    if (size < 88 || memcmp(data, "P\0E\0R\0F", 8) != 0 || number(&b, 8) != 1 || number(&b, 12) != 1 ||
        number(&b, 20) != size || number(&b, 80) != 0) {
        return false;
    }
    uint64_t at = number(&b, 24);
    if (at < 88 || at > size) {
        return false;
    }
    for (uint64_t n = number(&b, 28); n > 0; n--) {
        if (!object(&b, &at, sum)) {
            return false;
        }
    }
    return at == size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perf_block_summary checked;
    sums walked, plain;

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
    if (read_plainly(data, (uint32_t)size, &plain)) {
        assert(sound);
        assert(plain.objects == checked.objects && plain.definitions == checked.definitions);
        assert(plain.instances == checked.instances && plain.values == checked.values);
    }
    return 0;
}
