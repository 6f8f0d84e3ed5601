/* test_table.c
 * Counter data of both protocols as tables: what is where, what is sound, and which row is the same in two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table.h"

#include "data_buffer.h"

#include <assert.h>
#include <stdlib.h>

/* Bytes of exactly their size, so that a sanitizer sees what is read beyond it, and the table of them. */
typedef struct {
    uint8_t *bytes;
    perf_table table;
} sample;

typedef void table_reader(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);

static sample read_bytes(table_reader *read, const uint8_t *bytes, uint32_t size)
{
    sample s = {.bytes = malloc(size > 0 ? size : 1)};

    memcpy(s.bytes, bytes, size);
    read(&s.table, s.bytes, size, size);
    return s;
}

static void free_sample(sample *s)
{
    perf_table_free(&s->table);
    free(s->bytes);
}

/* --- Counter data ------------------------------------------------------------------------------------------------ */

static void test_counterset(void)
{
    buffer b;

    put_header(&b, 1);
    put_counterset(&b, 3, 2);
    finish(&b);
    sample s = read_bytes(perf_table_read_data, b.bytes, b.size);
    perf_table *t = &s.table;
    assert(t->is_sound && t->num_faults == 0 && t->num_groups == 1 && t->values == 6 && t->first_group == 0);
    assert(t->clocks.perf_time == 1259983709807 && t->clocks.perf_freq == 10000000);
    perf_group *g = &t->groups[0];
    assert(g->is_sound && g->is_plain && g->has_instances && g->type == PERF_COUNTERSET);
    assert(g->columns == 2 && g->rows == 3 && perf_table_column(t, g, 1)->id == 101);
    for (uint32_t row = 0; row < 3; row++) {
        uint32_t size, name = perf_table_name(t, g, row, &size);
        assert(size == (row % 2 ? 16 : 0) && (size == 0 || memcmp(t->data + name, "0\0,\0_\0T\0", 8) == 0));
        assert(perf_table_row(t, g, row)->id == row);
        assert(perf_table_number(t, g, row, 0).value == 1000 * row && perf_table_number(t, g, row, 0).size == 8);
        assert(perf_table_number(t, g, row, 1).value == 1000 * row + 1 && perf_table_number(t, g, row, 1).size == 4);
    }
    assert(perf_table_find_column(t, g, 101, false) == 1 && perf_table_find_column(t, g, 99, false) == PERF_NO_ID);
    free_sample(&s);
}

/* --- PERF_DATA_BLOCK --------------------------------------------------------------------------------------------- */

/* An object of two counters of 8 bytes, and instances called a, b, … with UniqueID 1, 2, … */
static void put_object(buffer *b, uint32_t title, uint32_t instances)
{
    uint32_t object = b->size;
    static const uint8_t zeros[64] = {0};

    memcpy(b->bytes + b->size, zeros, 64);
    b->size += 64;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t definition = b->size;
        memset(b->bytes + definition, 0, 40);
        b->size += 40;
        set32(b, definition, 40);
        set32(b, definition + 4, title + 2 * i + 2);
        set32(b, definition + 28, 0x00010100);
        set32(b, definition + 32, 8);
        set32(b, definition + 36, 8 + 8 * i);
    }
    for (uint32_t i = 0; i < instances; i++) {
        put32(b, 32);
        put32(b, 0);
        put32(b, 0);
        put32(b, i + 1);
        put32(b, 24);
        put32(b, 4);
        put32(b, 'a' + i);
        put32(b, 0);
        put32(b, 24);
        put32(b, 0);
        put64(b, 10 * i);
        put64(b, 10 * i + 1);
    }
    set32(b, object, b->size - object);
    set32(b, object + 4, 64 + 2 * 40);
    set32(b, object + 8, 64);
    set32(b, object + 12, title);
    set32(b, object + 32, 2);
    set32(b, object + 40, instances);
}

static void begin_data_block(buffer *b, uint32_t objects)
{
    memset(b, 0, sizeof *b);
    memcpy(b->bytes, "P\0E\0R\0F", 8);
    b->size = PERF_DATA_BLOCK_SIZE;
    set32(b, 8, 1);
    set32(b, 24, PERF_DATA_BLOCK_SIZE);
    set32(b, 28, objects);
}

static void end_data_block(buffer *b)
{
    set32(b, 20, b->size);
}

static void test_object(void)
{
    buffer b;

    begin_data_block(&b, 1);
    put_object(&b, 230, 3);
    end_data_block(&b);
    sample s = read_bytes(perf_table_read_block, b.bytes, b.size);
    perf_table *t = &s.table;
    assert(t->is_sound && t->num_faults == 0 && t->num_groups == 1 && t->values == 6);
    perf_group *g = perf_table_find_object(t, 230);
    assert(g && g->is_sound && g->has_instances && g->columns == 2 && g->rows == 3);
    for (uint32_t row = 0; row < 3; row++) {
        uint32_t size, name = perf_table_name(t, g, row, &size);
        assert(size == 2 && t->data[name] == 'a' + row && perf_table_row(t, g, row)->id == row + 1);
        assert(perf_table_number(t, g, row, 1).value == 10 * row + 1);
    }
    assert(perf_table_find_column(t, g, 234, false) == 1 && perf_table_find_column(t, g, 234, true) == PERF_NO_ID);
    free_sample(&s);
}

int main(void)
{
    test_counterset();
    test_object();
    return 0;
}
