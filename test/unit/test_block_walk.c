/* test_block_walk.c
 * The walk through PERF_DATA_BLOCK never leaves its bytes, always ends, and announces only what is inside.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "perf/block-walk.h"

#define SIZE (88 + 64 + 2 * 40 + 2 * (32 + 24))

static void put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

/* One object of two counters and two instances. */
static void build(uint8_t *data)
{
    uint8_t *object = data + 88, *at = object + 64;

    memset(data, 0, SIZE);
    memcpy(data, "P\0E\0R\0F", 8);
    put(data + 8, 1);
    put(data + 20, SIZE);
    put(data + 24, 88);
    put(data + 28, 1);
    put(object, SIZE - 88);
    put(object + 4, 64 + 2 * 40);
    put(object + 8, 64);
    put(object + 12, 230);
    put(object + 32, 2);
    put(object + 40, 2);
    for (uint32_t i = 0; i < 2; i++, at += 40) {
        put(at, 40);
        put(at + 32, 8);
        put(at + 36, 8 + 8 * i);
    }
    for (int i = 0; i < 2; i++, at += 32 + 24) {
        put(at, 32);
        put(at + 16, 24);
        put(at + 20, 4);
        at[24] = 'a';
        put(at + 32, 24);
    }
}

static void check_place(const perf_block_walk *walk, uint32_t offset, uint32_t size)
{
    assert(offset <= walk->size && size <= walk->size - offset);
}

/* `size` bytes in memory of their own, so that a sanitizer sees what is read beyond them. */
static void walk_through(const uint8_t *bytes, uint32_t size)
{
    uint8_t *data = malloc(size > 0 ? size : 1);
    perf_block_summary summary;
    perf_block_walk walk;
    perf_block_event event;
    uint32_t steps = 0, values = 0, faults = 0;

    memcpy(data, bytes, size);
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        assert(++steps < 4 * SIZE);
        faults += event == PERF_BLOCK_FAULT;
        if (event == PERF_BLOCK_OBJECT) {
            check_place(&walk, walk.object.offset, PERF_OBJECT_TYPE_SIZE);
            check_place(&walk, walk.object.offset, walk.object.end - walk.object.offset);
        } else if (event == PERF_BLOCK_DEFINITION) {
            check_place(&walk, walk.definition.offset, walk.definition.size);
        } else if (event == PERF_BLOCK_INSTANCE) {
            check_place(&walk, walk.instance.offset, walk.instance.size);
            check_place(&walk, walk.instance.name, walk.instance.name_size);
            check_place(&walk, walk.instance.name, walk.instance.name_room);
        } else if (event == PERF_BLOCK_COUNTERS) {
            check_place(&walk, walk.counters.offset, walk.counters.size);
        } else if (event == PERF_BLOCK_VALUE) {
            check_place(&walk, walk.value.offset, walk.value.size);
            values++;
        }
    }
    bool sound = perf_block_check(data, size, &summary);
    assert(sound == (faults == 0));
    assert(summary.values == values);
    free(data);
}

static void test_whole(void)
{
    uint8_t data[SIZE];
    perf_block_summary summary;

    build(data);
    assert(perf_block_is(data, SIZE));
    assert(perf_block_check(data, SIZE, &summary));
    assert(summary.objects == 1 && summary.definitions == 2 && summary.instances == 2 && summary.values == 4);
}

static void test_total_without_header(void)
{
    uint8_t data[SIZE];
    perf_block_summary summary;

    build(data);
    put(data + 20, SIZE - 88);
    assert(perf_block_check(data, SIZE, &summary));
}

static void test_every_cut(void)
{
    uint8_t data[SIZE];
    perf_block_summary summary;

    build(data);
    for (uint32_t size = 0; size <= SIZE; size++) {
        walk_through(data, size);
        assert(perf_block_check(data, size, &summary) == (size == SIZE));
    }
}

static void test_every_number(void)
{
    static const uint32_t numbers[] = {0,  1,  3,  4,  7,          8,          23,         24,        39,
                                       40, 63, 64, 88, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF};
    uint8_t data[SIZE];

    for (uint32_t at = 8; at < SIZE; at += 4) {
        for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            build(data);
            put(data + at, numbers[i]);
            walk_through(data, SIZE);
        }
    }
}

static void test_noise(void)
{
    uint8_t data[SIZE];
    uint32_t random = 1;

    for (int round = 0; round < 20000; round++) {
        build(data);
        for (int i = 0; i < 6; i++) {
            random = random * 1664525 + 1013904223;
            data[8 + (random >> 8) % (SIZE - 8)] = (uint8_t)(random >> 24);
        }
        walk_through(data, SIZE - (random >> 5) % 3);
    }
}

int main(void)
{
    test_whole();
    test_total_without_header();
    test_every_cut();
    test_every_number();
    test_noise();
    return 0;
}
