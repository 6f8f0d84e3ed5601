/* test_data_walk.c
 * The walk through counter data: what it finds in sound buffers, and that damaged ones neither lead it astray nor keep
 * it from coming to an end.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t bytes[4096];
    uint32_t size;
} buffer;

static void put32(buffer *b, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        b->bytes[b->size++] = (uint8_t)(value >> 8 * i);
    }
}

static void put64(buffer *b, uint64_t value)
{
    put32(b, (uint32_t)value);
    put32(b, (uint32_t)(value >> 32));
}

static void set32(buffer *b, uint32_t at, uint32_t value)
{
    uint32_t end = b->size;

    b->size = at;
    put32(b, value);
    b->size = end;
}

static void put_header(buffer *b, uint32_t blocks)
{
    memset(b, 0, sizeof *b);
    put32(b, 0);
    put32(b, blocks);
    put64(b, 1259983709807);
    put64(b, 134351767437550592);
    put64(b, 10000000);
    put64(b, 0);
    put64(b, 0);
}

static uint32_t begin_block(buffer *b, uint32_t type)
{
    uint32_t at = b->size;

    put32(b, 0);
    put32(b, type);
    put32(b, 0);
    put32(b, 0);
    return at;
}

static void end_block(buffer *b, uint32_t at)
{
    set32(b, at + 8, b->size - at);
}

static void put_value(buffer *b, uint32_t data_size, uint64_t value)
{
    put32(b, data_size);
    put32(b, 16);
    put64(b, value);
}

static void put_instance(buffer *b, const char *name, uint32_t id)
{
    uint32_t size = (uint32_t)(8 + 2 * strlen(name) + 2 + 7) & ~7U;
    uint32_t end = b->size + size;

    put32(b, size);
    put32(b, id);
    for (; *name; name++) {
        b->bytes[b->size] = (uint8_t)*name;
        b->size += 2;
    }
    b->size = end;
}

/* A block of all instances and counters: `instances` rows of `counters` columns. */
static void put_counterset(buffer *b, uint32_t instances, uint32_t counters)
{
    uint32_t block = begin_block(b, PERF_COUNTERSET);

    put32(b, 8 + 4 * counters);
    put32(b, counters);
    for (uint32_t i = 0; i < counters; i++) {
        put32(b, 100 + i);
    }
    uint32_t list = b->size;
    put32(b, 0);
    put32(b, instances);
    for (uint32_t i = 0; i < instances; i++) {
        put_instance(b, i % 2 ? "0,_Total" : "", i);
        for (uint32_t c = 0; c < counters; c++) {
            put_value(b, c % 2 ? 4 : 8, 1000 * i + c);
        }
    }
    set32(b, list, b->size - list);
    end_block(b, block);
}

static void finish(buffer *b)
{
    set32(b, 0, b->size);
}

/* The bytes in memory of exactly their size, so that a checker sees every read beyond them. */
static bool check(const buffer *b, perf_data_summary *summary)
{
    uint8_t *exact = malloc(b->size ? b->size : 1);

    memcpy(exact, b->bytes, b->size);
    bool sound = perf_data_check(exact, b->size, summary);
    free(exact);
    return sound;
}

/* The published answer of a Windows 11: two single counters, one of 8 and one of 4 bytes, 112 bytes in all. */
static void test_real_answer(void)
{
    buffer b;
    perf_walk walk;
    uint64_t found[2] = {0, 0};

    put_header(&b, 2);
    for (int i = 0; i < 2; i++) {
        uint32_t block = begin_block(&b, PERF_SINGLE_COUNTER);
        put_value(&b, i == 0 ? 8 : 4, i == 0 ? 3256992943318 : 1444507332);
        end_block(&b, block);
    }
    finish(&b);
    assert(b.size == 112);
    perf_walk_init(&walk, b.bytes, b.size);
    for (perf_walk_event event; (event = perf_walk_next(&walk)) != PERF_WALK_END;) {
        assert(event == PERF_WALK_HEADER || event == PERF_WALK_BLOCK || event == PERF_WALK_VALUE);
        if (event == PERF_WALK_VALUE) {
            assert(walk.value.data == 72 + 32 * walk.block.index);
            found[walk.block.index] = walk.value.data_size;
        }
    }
    assert(found[0] == 8 && found[1] == 4);
}

static void test_counterset(void)
{
    perf_data_summary summary;
    buffer b;

    for (uint32_t counters = 0; counters < 6; counters++) {
        put_header(&b, 1);
        put_counterset(&b, 5, counters);
        while (b.size % 8 != 0) {
            put32(&b, 0xDEADBEEF); /* padding of an odd number of ids */
        }
        finish(&b);
        assert(check(&b, &summary));
        assert(summary.blocks == 1 && summary.instances == 5 && summary.values == 5 * counters);
        assert(summary.ids == counters);
    }
}

/* Passing over values in one go counts the same as taking them one by one. */
static void test_passing_values(void)
{
    perf_data_summary summary;
    perf_walk walk;
    uint32_t values = 0;
    buffer b;

    put_header(&b, 1);
    put_counterset(&b, 7, 5);
    finish(&b);
    check(&b, &summary);
    perf_walk_init(&walk, b.bytes, b.size);
    for (perf_walk_event event; (event = perf_walk_next(&walk)) != PERF_WALK_END;) {
        values += event == PERF_WALK_VALUE;
    }
    assert(values == 35 && summary.values == 35);
}

static void test_sizes_without_padding(void)
{
    static const uint32_t paddings[] = {0, 4}; /* right behind, or on the next 8-byte step */
    perf_data_summary summary;
    buffer b;

    for (unsigned p = 0; p < 2; p++) {
        put_header(&b, 1);
        uint32_t block = begin_block(&b, PERF_MULTIPLE_COUNTERS);
        put32(&b, 24);
        put32(&b, 4);
        put64(&b, 0x0000000200000001);
        put64(&b, 0x0000000400000003);
        for (int i = 0; i < 4; i++) {
            put32(&b, 4);
            put32(&b, 12);
            put32(&b, 0xFFFFFFFF);
            b.size += paddings[p];
        }
        end_block(&b, block);
        finish(&b);
        assert(check(&b, &summary) && summary.values == 4);
    }
}

/* Any 32-bit word of a sound buffer replaced by what damage looks like: the walk ends, and says that something is wrong
 * unless the word is one that it does not depend on. */
static void test_damage(void)
{
    static const uint32_t words[] = {0, 1, 7, 8, 15, 16, 40, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF};
    perf_data_summary summary, sound;
    buffer b;

    put_header(&b, 2);
    put_counterset(&b, 3, 3);
    put_counterset(&b, 2, 2);
    finish(&b);
    check(&b, &sound);
    for (uint32_t at = 0; at + 4 <= b.size; at += 4) {
        for (unsigned w = 0; w < sizeof words / sizeof words[0]; w++) {
            buffer damaged = b;
            set32(&damaged, at, words[w]);
            bool ok = check(&damaged, &summary);
            assert(summary.values <= damaged.size / 8 && summary.blocks <= damaged.size / 16);
            assert(!ok || summary.blocks == 2);
        }
    }
}

static void test_every_length(void)
{
    perf_data_summary summary;
    buffer b;

    put_header(&b, 1);
    put_counterset(&b, 4, 3);
    finish(&b);
    for (uint32_t size = 0; size + 8 <= b.size; size++) {
        buffer cut = b;
        cut.size = size;
        assert(!check(&cut, &summary));
    }
}

int main(void)
{
    test_real_answer();
    test_counterset();
    test_passing_values();
    test_sizes_without_padding();
    test_damage();
    test_every_length();
    return 0;
}
