/* data_buffer.h
 * Answers with counter data, put together for the unit tests.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TEST_DATA_BUFFER_H
#define PCQ_TEST_DATA_BUFFER_H

#include "perf/structures.h"

#include <stdint.h>
#include <string.h>

typedef struct {
    uint8_t bytes[4096];
    uint32_t size;
} buffer;

static inline void put32(buffer *b, uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        b->bytes[b->size++] = (uint8_t)(value >> 8 * i);
    }
}

/* Numbers of 4 bytes, one behind the other. */
#define put_numbers(b, ...) \
    put_array(b, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static inline void put_array(buffer *b, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put32(b, values[i]);
    }
}

static inline void put64(buffer *b, uint64_t value)
{
    put_numbers(b, (uint32_t)value, (uint32_t)(value >> 32));
}

static inline void set32(buffer *b, uint32_t at, uint32_t value)
{
    uint32_t end = b->size;

    b->size = at;
    put32(b, value);
    b->size = end;
}

static inline void put_header(buffer *b, uint32_t blocks)
{
    memset(b, 0, sizeof *b);
    put_numbers(b, 0, blocks);
    put64(b, 1259983709807);
    put64(b, 134351767437550592);
    put64(b, 10000000);
    put_numbers(b, 0, 0, 0, 0);
}

static inline uint32_t begin_block(buffer *b, uint32_t type)
{
    uint32_t at = b->size;

    put_numbers(b, 0, type, 0, 0);
    return at;
}

static inline void end_block(buffer *b, uint32_t at)
{
    set32(b, at + 8, b->size - at);
}

static inline void put_value(buffer *b, uint32_t data_size, uint64_t value)
{
    put_numbers(b, data_size, 16);
    put64(b, value);
}

static inline void put_instance(buffer *b, const char *name, uint32_t id)
{
    uint32_t size = (uint32_t)(8 + 2 * strlen(name) + 2 + 7) & ~7U;
    uint32_t end = b->size + size;

    put_numbers(b, size, id);
    for (; *name; name++) {
        b->bytes[b->size] = (uint8_t)*name;
        b->size += 2;
    }
    b->size = end;
}

/* A block of all instances and counters: `instances` rows of `counters` columns. */
static inline void put_counterset(buffer *b, uint32_t instances, uint32_t counters)
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

static inline void finish(buffer *b)
{
    set32(b, 0, b->size);
}

#endif
