/* test_table.c
 * Counter data of both protocols as tables: what is where, what is sound, and which row is the same in two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/cells.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Bytes ---------------------------------------------------------------------------------------------------------- */

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

/* Numbers of 4 bytes, one behind the other. */
#define put_numbers(b, ...) \
    put_array(b, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void put_array(buffer *b, const uint32_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put32(b, values[i]);
    }
}

static void put64(buffer *b, uint64_t value)
{
    put_numbers(b, (uint32_t)value, (uint32_t)(value >> 32));
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
    put_numbers(b, 0, blocks);
    put64(b, 1259983709807);
    put64(b, 134351767437550592);
    put64(b, 10000000);
    put_numbers(b, 0, 0, 0, 0);
}

static uint32_t begin_block(buffer *b, uint32_t type)
{
    uint32_t at = b->size;

    put_numbers(b, 0, type, 0, 0);
    return at;
}

static void end_block(buffer *b, uint32_t at)
{
    set32(b, at + 8, b->size - at);
}

static void put_value(buffer *b, uint32_t data_size, uint64_t value)
{
    put_numbers(b, data_size, 16);
    put64(b, value);
}

static void put_instance(buffer *b, const char *name, uint32_t id)
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

static void finish(buffer *b)
{
    set32(b, 0, b->size);
}

typedef void table_reader(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);

/* Bytes of exactly their size, so that a sanitizer sees what is read beyond it, and the table of them. */
typedef struct {
    uint8_t *bytes;
    perf_table table;
} sample;

static sample read_cut(table_reader *read, const buffer *b, uint32_t size, uint32_t reported)
{
    sample s = {.bytes = malloc(size > 0 ? size : 1)};

    memcpy(s.bytes, b->bytes, size);
    read(&s.table, s.bytes, size, reported);
    return s;
}

static sample read_buffer(table_reader *read, const buffer *b)
{
    return read_cut(read, b, b->size, b->size);
}

static void free_sample(sample *s)
{
    perf_table_free(&s->table);
    free(s->bytes);
}

/* Groups that are sound, as bits. */
static unsigned sound_groups(perf_table *t)
{
    unsigned bits = 0;

    for (uint32_t i = 0; i < t->num_groups; i++) {
        bits |= (unsigned)perf_table_group(t, i)->is_sound << i;
    }
    return bits;
}

/* --- What is where ------------------------------------------------------------------------------------------------ */

/* A counterset of two counters and instances called a, b; a counter of one instance; a value. */
enum { SET = 48, COLUMNS = SET + 16, LIST = COLUMNS + 16, ROW = LIST + 8, CELLS = ROW + 16, ROW_2 = CELLS + 32 };
enum { INSTANCES = ROW_2 + 16 + 32, SINGLE = INSTANCES + 16 + 8 + 16 + 16, DATA_SIZE = SINGLE + 16 + 16 };

static void build_data(buffer *b)
{
    put_header(b, 3);
    uint32_t block = begin_block(b, PERF_COUNTERSET);
    put_numbers(b, 16, 2, 100, 101, ROW_2 + 48 - LIST, 2);
    for (uint32_t i = 0; i < 2; i++) {
        put_instance(b, i ? "b" : "a", 7 + i);
        put_value(b, 8, 1000 * i);
        put_value(b, 4, 1000 * i + 1);
    }
    end_block(b, block);
    block = begin_block(b, PERF_MULTIPLE_INSTANCES);
    put_numbers(b, 8 + 16 + 16, 1);
    put_instance(b, "a", 7);
    put_value(b, 8, 5);
    end_block(b, block);
    block = begin_block(b, PERF_SINGLE_COUNTER);
    put_value(b, 8, 6);
    end_block(b, block);
    finish(b);
    assert(b->size == DATA_SIZE);
}

static void test_counter_data(void)
{
    buffer b;

    build_data(&b);
    sample s = read_buffer(perf_table_read_data, &b);
    perf_table *t = &s.table;
    assert(t->is_sound && t->num_faults == 0 && t->num_groups == 3 && t->values == 6 &&
           perf_table_first_group(t) == t->groups);
    assert(t->clocks.perf_time == 1259983709807 && t->clocks.perf_freq == 10000000);
    perf_group *g = &t->groups[0];
    assert(t->num_cells == 0 && g->has_instances && g->type == PERF_COUNTERSET && g->columns == 2 && g->rows == 2);
    for (uint32_t row = 0; row < 2; row++) {
        uint32_t size, name = perf_table_name(t, g, row, &size);
        assert(size == 2 && t->data[name] == 'a' + row && perf_table_row(t, g, row)->id == 7 + row);
        assert(perf_table_number(t, g, row, 0).value == 1000 * row && perf_table_number(t, g, row, 0).size == 8);
        assert(perf_table_number(t, g, row, 1).value == 1000 * row + 1 && perf_table_number(t, g, row, 1).size == 4);
    }
    assert(perf_table_find_column(t, g, 101, false) == 1 && perf_table_find_column(t, g, 99, false) == PERF_NO_ID);
    assert(perf_table_find_row(t, g, 0, (const uint8_t *)"a", 2) == 0);
    assert(perf_table_find_row(t, g, 0, (const uint8_t *)"b", 2) == 1);
    assert(perf_table_find_row(t, g, 0, (const uint8_t *)"c", 2) == PERF_NO_ID);
    g = &t->groups[1];
    assert(g->columns == 1 && perf_table_column(t, g, 0)->id == PERF_NO_ID && perf_table_number(t, g, 0, 0).value == 5);
    g = perf_table_group(t, 2);
    assert(!g->has_instances && g->rows == 1 && perf_table_column(t, g, 0)->id == PERF_NO_ID);
    assert(perf_table_number(t, g, 0, 0).value == 6);
    free_sample(&s);
}

/* An error has no values; the first group that the Info column can show is the one behind it. */
static void test_error(void)
{
    buffer b;

    put_header(&b, 2);
    uint32_t block = begin_block(&b, PERF_ERROR_RETURN);
    set32(&b, block, 1168);
    end_block(&b, block);
    block = begin_block(&b, PERF_SINGLE_COUNTER);
    put_value(&b, 8, 1);
    end_block(&b, block);
    finish(&b);
    sample s = read_buffer(perf_table_read_data, &b);
    assert(s.table.is_sound && sound_groups(&s.table) == 3 && perf_table_first_group(&s.table) == &s.table.groups[1]);
    assert(s.table.groups[0].status == 1168 && s.table.groups[0].rows == 0);
    free_sample(&s);
}

/* Blocks of one plain value behind the first are counted, until somebody asks for one, and none moves; an error between them is there. */
static void test_plain_blocks(void)
{
    enum { BLOCKS = 5, ERROR = 3 };
    buffer b;

    put_header(&b, BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint32_t block = begin_block(&b, i == ERROR ? PERF_ERROR_RETURN : PERF_SINGLE_COUNTER);
        if (i != ERROR) {
            put_value(&b, 8, 100 + i);
        }
        end_block(&b, block);
    }
    finish(&b);
    sample s = read_buffer(perf_table_read_data, &b);
    perf_table *t = &s.table;
    assert(t->is_sound && !t->is_whole && t->num_groups == BLOCKS && t->values == BLOCKS - 1 && t->failed == 1);
    perf_group *first = perf_table_first_group(t);
    assert(first == t->groups && t->num_rows == 1 && perf_table_group(t, 0) == first && !t->is_whole);
    for (uint32_t i = BLOCKS; i-- > 0;) {
        perf_group *g = perf_table_group(t, i);
        assert(g == first + i && g->is_sound && g->key == i && g->rows == (i != ERROR) && g->type == (i != ERROR));
        assert(i == ERROR || (perf_table_number(t, g, 0, 0).value == 100 + i && g->end - g->offset == 32));
    }
    assert(t->is_whole && t->is_sound && t->num_groups == BLOCKS && t->values == BLOCKS - 1 && t->failed == 1);
    free_sample(&s);
}

/* Values of other sizes, one after the other, as far as there are bytes for them; a number has 4 or 8 bytes. */
static void test_uneven_cells(void)
{
    static const uint32_t sizes[] = {8, 0, 4, 21, 8};
    uint32_t at[5];
    buffer b;

    put_header(&b, 1);
    uint32_t block = begin_block(&b, PERF_MULTIPLE_COUNTERS);
    put_numbers(&b, 8 + 4 * 6, 5, 0, 1, 2, 3, 4, 5);
    for (uint32_t i = 0; i < 5; i++) {
        put_numbers(&b, sizes[i], 8 + sizes[i]);
        at[i] = b.size;
        put64(&b, 10 + i);
        b.size = at[i] + ((sizes[i] + 7) & ~7U);
    }
    end_block(&b, block);
    finish(&b);
    sample s = read_buffer(perf_table_read_data, &b);
    perf_group *g = perf_table_next_group(&s.table, NULL);
    perf_cell cell = {.bytes_left = 50};
    perf_cell_enter(&cell, g);
    assert(s.table.is_sound && s.table.num_cells == 5 && s.table.values == 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert(perf_cell_next(&cell, &s.table) && cell.column == i && cell.offset == at[i] && cell.size == sizes[i]);
        assert(cell.raw.size == (cell.size % 4 == 0 ? cell.size : 0) && (i > 0 || cell.raw.value == 10));
    }
    assert(!perf_cell_next(&cell, &s.table) && cell.bytes_left == 8 && !perf_table_next_group(&s.table, g));
    assert(!perf_cell_read(&cell, &s.table, 0, 4) && cell.bytes_left == 0);
    free_sample(&s);
}

/* A block begins on 8 bytes, whatever the size of the one in front; of a row that ends early the values behind have no place. */
static void test_sizes_that_are_odd(void)
{
    buffer b;
    uint32_t size;

    put_header(&b, 2);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t block = begin_block(&b, PERF_MULTIPLE_COUNTERS);
        put_numbers(&b, 16, 2, 0, 0);
        put_value(&b, 8, 1);
        put_numbers(&b, i ? 2 : 1, 9);
        b.size += 1;
        end_block(&b, block);
        b.size = (b.size + 7) & ~7U;
    }
    finish(&b);
    sample s = read_buffer(perf_table_read_data, &b);
    perf_group *g = s.table.groups;
    assert(s.table.num_groups == 2 && sound_groups(&s.table) == 1 && s.table.num_faults == 1);
    assert(s.table.faults[0].group == 1 && s.table.faults[0].kind == PERF_FAULT_DATA_SIZE);
    assert(perf_table_cell(&s.table, &g[0], 0, 1, &size) > 0 && size == 1);
    assert(perf_table_cell(&s.table, &g[1], 0, 0, &size) > 0 && perf_table_cell(&s.table, &g[1], 0, 1, &size) == 0);
    free_sample(&s);
}

/* Behind an odd number of ids values begin at dwSize (Microsoft's readers) or at the next 8 bytes ([MS-PCQ]). */
static void test_odd_ids(void)
{
    for (uint32_t padding = 0; padding < 12; padding += 4) {
        buffer b;
        put_header(&b, 1);
        uint32_t block = begin_block(&b, PERF_MULTIPLE_COUNTERS);
        put_numbers(&b, 12, 1, 100);
        b.size += padding;
        put_value(&b, 8, 5);
        end_block(&b, block);
        finish(&b);
        sample s = read_buffer(perf_table_read_data, &b);
        assert(s.table.groups[0].is_sound == (padding < 8) && (s.table.num_faults == 0) == (padding < 8));
        assert(s.table.groups[0].columns == 1 && s.table.groups[0].rows == 1 && s.table.num_rows == 1);
        assert(s.table.num_columns == 2 && s.table.num_faults == (padding == 8));
        assert(padding == 8 || perf_table_number(&s.table, &s.table.groups[0], 0, 0).value == 5);
        free_sample(&s);
    }
}

/* Two objects of two counters of 8 bytes, and instances called a, b with UniqueID 1, 2. */
enum { OBJECT = 88, DEFINITION = OBJECT + 64, INSTANCE = DEFINITION + 80, COUNTERS = INSTANCE + 32 };
enum { INSTANCE_2 = COUNTERS + 24, OBJECT_2 = INSTANCE_2 + 56, BLOCK_SIZE = OBJECT_2 + 256 };

static void put_definition(buffer *b, uint32_t title, uint32_t type, uint32_t size, uint32_t offset)
{
    put_numbers(b, 40, title, 0, 0, 0, 0, 0, type, size, offset);
}

static void put_block_instance(buffer *b, uint32_t parent_title, uint32_t parent, uint32_t id, char name)
{
    put_numbers(b, 32, parent_title, parent, id, 24, 4, (uint8_t)name, 0);
}

static uint32_t begin_object(buffer *b, uint32_t title, uint32_t counters, uint32_t instances)
{
    uint32_t object = b->size;

    put_numbers(b, 0, 64 + 40 * counters, 64, title, 0, 0, 0, 0, counters, 0, instances, 0, 0, 0, 0, 0);
    return object;
}

static void begin_data_block(buffer *b, uint32_t objects)
{
    memset(b, 0, sizeof *b);
    put_numbers(b, 'P' | 'E' << 16, 'R' | 'F' << 16, 1, 1, 0, 0, PERF_DATA_BLOCK_SIZE, objects);
    b->size = PERF_DATA_BLOCK_SIZE;
}

static void build_block(buffer *b)
{
    begin_data_block(b, 2);
    for (uint32_t title = 230; title < 232; title++) {
        uint32_t object = begin_object(b, title, 2, 2);
        put_definition(b, 6, 0x10410500, 8, 8);
        put_definition(b, 8, 0x10410500, 8, 16);
        for (uint32_t i = 0; i < 2; i++) {
            put_block_instance(b, 0, 0, i + 1, (char)('a' + i));
            put_numbers(b, 24, 0, 10 * i, 0, 10 * i + 1, 0);
        }
        set32(b, object, b->size - object);
    }
    set32(b, 20, b->size);
    assert(b->size == BLOCK_SIZE);
}

/* Numbers and names the other way round, as LittleEndian and the signature say. */
static void turn_around(buffer *b)
{
    for (uint8_t *at = b->bytes; at < b->bytes + b->size; at += 4) {
        const uint8_t turned[] = {at[3], at[2], at[1], at[0]};
        memcpy(at, turned, 4);
    }
    memcpy(b->bytes, "\0P\0E\0R\0F", 8);
    set32(b, 8, 0);
}

static void test_data_block(void)
{
    for (unsigned big_endian = 0; big_endian < 2; big_endian++) {
        buffer b;
        build_block(&b);
        set32(&b, 56, 2); /* PerfTime, PerfFreq, 100 ns: their low halves */
        set32(&b, 64, 3);
        set32(&b, 72, 4);
        if (big_endian) {
            turn_around(&b);
        }
        sample s = read_buffer(perf_table_read_block, &b);
        perf_table *t = &s.table;
        assert(t->is_sound && t->num_faults == 0 && t->num_groups == 2 && t->values == 8);
        assert(t->big_endian == big_endian && t->big_endian_text == big_endian);
        const unsigned half = big_endian ? 32 : 0;
        assert(t->clocks.perf_time == UINT64_C(2) << half && t->clocks.perf_freq == UINT64_C(3) << half);
        assert(t->clocks.time_100ns == UINT64_C(4) << half);
        perf_group *g = perf_table_find_object(t, 231);
        assert(g == &t->groups[1] && g->has_instances && g->columns == 2 && g->rows == 2);
        for (uint32_t row = 0; row < 2; row++) {
            uint32_t size, name = perf_table_name(t, g, row, &size), cell = perf_table_cell(t, g, row, 1, &size);
            assert(t->data[name + 3 * big_endian] == 'a' + row && perf_table_row(t, g, row)->id == row + 1);
            assert(size == 8 && perf_table_u32(t, cell) == 10 * row + 1);
        }
        assert(perf_table_find_object(t, 232) == NULL);
        free_sample(&s);
    }
}

/* A base has the title index of its counter; two counters of one index are no key. */
static void test_columns_of_one_index(void)
{
    buffer b;
    uint32_t match;

    build_block(&b);
    sample s = read_buffer(perf_table_read_block, &b), other;
    set32(&b, DEFINITION + 40 + 4, 6);
    set32(&b, DEFINITION + 40 + 28, 0x40030500);
    other = read_buffer(perf_table_read_block, &b);
    assert(perf_table_match_column(&s.table, s.table.groups, 0, &other.table, other.table.groups, &match) ==
           PERF_MATCH_KNOWN);
    assert(match == 0);
    assert(perf_table_match_column(&s.table, s.table.groups, 1, &other.table, other.table.groups, &match) ==
           PERF_MATCH_NONE);
    set32(&b, DEFINITION + 28, PERF_COUNTER_RAWCOUNT); /* of another type now */
    free_sample(&other);
    other = read_buffer(perf_table_read_block, &b);
    assert(perf_table_match_column(&s.table, s.table.groups, 0, &other.table, other.table.groups, &match) ==
           PERF_MATCH_AMBIGUOUS);
    free_sample(&s);
    s = other;
    assert(perf_table_find_column(&s.table, &s.table.groups[0], 6, false) == 0);
    assert(perf_table_find_column(&s.table, &s.table.groups[0], 6, true) == 1);
    uint32_t first;
    assert(perf_table_count_columns(&s.table, &s.table.groups[0], 6, false, &first) == 1 && first == 0);
    assert(perf_table_count_columns(&s.table, &s.table.groups[0], 7, false, &first) == 0);
    free_sample(&s);
    set32(&b, DEFINITION + 40 + 28, 0x10410500);
    s = read_buffer(perf_table_read_block, &b);
    assert(perf_table_find_column(&s.table, &s.table.groups[0], 6, false) == PERF_NO_ID);
    assert(perf_table_count_columns(&s.table, &s.table.groups[0], 6, false, &first) == 2 && first == 0);
    assert(perf_table_match_column(&s.table, s.table.groups, 0, &s.table, s.table.groups, &match) ==
           PERF_MATCH_AMBIGUOUS);
    free_sample(&s);
}

/* Names lie anywhere in their instance; those of a code page end at NUL. */
static void test_names(void)
{
    buffer b;
    uint32_t size;

    build_block(&b);
    set32(&b, INSTANCE + 16, 28);
    set32(&b, INSTANCE + 28, 'x');
    set32(&b, OBJECT_2 + 44, 1252);
    memcpy(b.bytes + OBJECT_2 + (INSTANCE - OBJECT) + 24, "ab\0c", 4);
    sample s = read_buffer(perf_table_read_block, &b);
    assert(s.table.is_sound && s.table.num_faults == 0);
    assert(perf_table_name(&s.table, &s.table.groups[0], 0, &size) == INSTANCE + 28 && size == 2);
    assert(perf_table_name(&s.table, &s.table.groups[1], 0, &size) > 0 && size == 2);
    set32(&b, INSTANCE + 20, 0);
    free_sample(&s);
    s = read_buffer(perf_table_read_block, &b);
    assert(perf_table_name(&s.table, &s.table.groups[0], 0, &size) > 0 && size == 0);
    free_sample(&s);
}

/* Definitions alone have no rows, and no counter block; an object without instances has one row. */
static void test_objects_without_instances(void)
{
    buffer b;

    begin_data_block(&b, 2);
    uint32_t object = begin_object(&b, 230, 1, (uint32_t)PERF_INSTANCES_METADATA_NONE);
    put_definition(&b, 6, 0, 4, 4);
    set32(&b, object, b.size - object);
    object = begin_object(&b, 232, 1, (uint32_t)PERF_INSTANCES_NONE);
    put_definition(&b, 6, 0, 4, 4);
    put_numbers(&b, 8, 77);
    set32(&b, object, b.size - object);
    set32(&b, 20, b.size);
    sample s = read_buffer(perf_table_read_block, &b);
    perf_group *g = s.table.groups;
    assert(s.table.is_sound && !g[0].has_values && g[0].rows == 0 && g[1].has_values && g[1].rows == 1);
    assert(perf_table_first_group(&s.table) == &s.table.groups[1] &&
           perf_table_number(&s.table, &g[1], 0, 0).value == 77);
    free_sample(&s);
}

/* --- What is sound ------------------------------------------------------------------------------------------------ */

/* A number that is changed, the first fault that it makes, and the groups that stay sound, as bits. */
typedef struct {
    uint32_t at, value;
    perf_table_fault_kind kind; /* PERF_NUM_TABLE_FAULTS: none */
    uint32_t offset, stated, found;
    unsigned sound;
} change;

static void check_changes(table_reader *read, const buffer *original, const change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const change *c = &changes[i];
        buffer b = *original;
        set32(&b, c->at, c->value);
        sample s = read_buffer(read, &b);
        const perf_table_fault none = {.kind = PERF_NUM_TABLE_FAULTS},
                               *fault = s.table.num_faults ? s.table.faults : &none;
        if (fault->kind != c->kind || fault->offset != c->offset || fault->stated != c->stated ||
            fault->found != c->found || sound_groups(&s.table) != c->sound) {
            fprintf(stderr, "%u at %u: fault %u at %u: %u, %u; sound %u\n", c->value, c->at, fault->kind, fault->offset,
                    fault->stated, fault->found, sound_groups(&s.table));
            abort();
        }
        for (int again = 0; again < 40; again++) { /* memory holds what fits, not what is said */
            read(&s.table, b.bytes, b.size, b.size);
        }
        assert(s.table.array_bytes + s.table.index_bytes < 1 << 16);
        free_sample(&s);
    }
}

#define NO_FAULT PERF_NUM_TABLE_FAULTS, 0, 0, 0
static void test_sizes_of_counter_data(void)
{
    enum { SET_SIZE = INSTANCES - SET, ROWS_SIZE = INSTANCES - ROW, LIST_SIZE = INSTANCES - LIST };
    enum { LAST = INSTANCES - 16 };
    static const change changes[] = {
        {0, DATA_SIZE - 1, PERF_FAULT_TOTAL, 0, DATA_SIZE - 1, DATA_SIZE, 7},
        {0, DATA_SIZE + 1, PERF_FAULT_TOTAL, 0, DATA_SIZE + 1, DATA_SIZE, 7},
        {4, 2, PERF_FAULT_REST, SINGLE, DATA_SIZE, SINGLE, 3},
        {4, 4, PERF_FAULT_GROUPS, 4, 4, 3, 7},
        {SET + 4, 3, PERF_FAULT_GROUP_TYPE, SET + 4, 3, SET_SIZE - 16, 6},
        {SET + 8, 15, PERF_FAULT_REST, SET + 8, DATA_SIZE - SET, SET_SIZE, 0},
        {SET + 8, SET_SIZE - 8, PERF_FAULT_PARTS, LIST, LIST_SIZE, LIST_SIZE - 8, 0},
        {SET + 8, SET_SIZE + 8, PERF_FAULT_REST, SET + 8, SET_SIZE + 8, SET_SIZE, 0},
        {SINGLE + 8, 33, PERF_FAULT_GROUP_SIZE, SINGLE + 8, 33, 32, 3},
        {SINGLE + 8, 31, PERF_FAULT_CELL_SIZE, SINGLE + 20, 16, 15, 3},
        {COLUMNS, 7, PERF_FAULT_PARTS, COLUMNS, 7, SET_SIZE - 16, 6},
        {COLUMNS, 15, PERF_FAULT_COLUMNS, COLUMNS + 4, 2, 1, 6},
        {COLUMNS, SET_SIZE - 15, PERF_FAULT_PARTS, COLUMNS, SET_SIZE - 15, SET_SIZE - 16, 6},
        {COLUMNS + 4, 1, PERF_FAULT_ROW_SIZE, CELLS + 16, 4, ROWS_SIZE - 32, 6},
        {COLUMNS + 4, 3, PERF_FAULT_COLUMNS, COLUMNS + 4, 3, 2, 6},
        {LIST, 7, PERF_FAULT_PARTS, LIST, 7, LIST_SIZE, 6},
        {LIST, LIST_SIZE - 1, PERF_FAULT_CELL_SIZE, LAST + 4, 16, 15, 6},
        {LIST, LIST_SIZE + 1, PERF_FAULT_PARTS, LIST, LIST_SIZE + 1, LIST_SIZE, 6},
        {LIST + 4, 1, PERF_FAULT_REST, SET + 8, SET_SIZE, ROW_2 - SET, 6},
        {LIST + 4, 3, PERF_FAULT_ROWS, LIST + 4, 3, 2, 6},
        {LIST + 4, 1 << 20, PERF_FAULT_ROWS, LIST + 4, 1 << 20, 2, 6},
        {ROW, 7, PERF_FAULT_ROW_SIZE, ROW, 7, ROWS_SIZE, 6},
        {ROW, 24, PERF_FAULT_CELL_SIZE, CELLS + 12, 0, ROWS_SIZE - 24, 6},
        {ROW, ROWS_SIZE + 1, PERF_FAULT_ROW_SIZE, ROW, ROWS_SIZE + 1, ROWS_SIZE, 6},
        {CELLS, 9, PERF_FAULT_DATA_SIZE, CELLS, 9, 8, 6},
        {CELLS + 4, 7, PERF_FAULT_CELL_SIZE, CELLS + 4, 7, ROWS_SIZE - 16, 6},
        {CELLS + 4, 24, PERF_FAULT_CELL_SIZE, CELLS + 28, 0, ROWS_SIZE - 40, 6},
        {CELLS + 4, ROWS_SIZE, PERF_FAULT_CELL_SIZE, CELLS + 4, ROWS_SIZE, ROWS_SIZE - 16, 6},
        {CELLS + 16, 9, PERF_FAULT_DATA_SIZE, CELLS + 16, 9, 8, 6},
        {CELLS, 7, NO_FAULT, 7},
        {ROW, 15, NO_FAULT, 7},
    };
    buffer b;

    build_data(&b);
    check_changes(perf_table_read_data, &b, changes, sizeof changes / sizeof *changes);
}

static void test_sizes_of_data_block(void)
{
    enum { OBJECT_SIZE = OBJECT_2 - OBJECT, ROWS_SIZE = OBJECT_2 - INSTANCE };
    static const change changes[] = {
        {8, 2, PERF_FAULT_NUMBER, 8, 2, 1, 3},
        {12, 2, PERF_FAULT_VERSION, 12, 2, 1, 3},
        {80, 4, PERF_FAULT_NAME, 84, 4, 88, 3},
        {20, BLOCK_SIZE + 1, PERF_FAULT_TOTAL, 20, BLOCK_SIZE + 1, BLOCK_SIZE, 3},
        {20, BLOCK_SIZE - 88, NO_FAULT, 3}, /* Samba's */
        {24, 87, PERF_FAULT_PARTS, 24, 87, BLOCK_SIZE, 0},
        {24, BLOCK_SIZE + 1, PERF_FAULT_PARTS, 24, BLOCK_SIZE + 1, BLOCK_SIZE, 0},
        {28, 1, PERF_FAULT_REST, OBJECT_2, BLOCK_SIZE, OBJECT_2, 1},
        {28, 3, PERF_FAULT_GROUPS, 28, 3, 2, 3},
        {OBJECT, 63, PERF_FAULT_GROUPS, 28, 2, 0, 0},
        {OBJECT, OBJECT_SIZE - 1, PERF_FAULT_CELL_SIZE, OBJECT_2 - 24, 24, 23, 0},
        {OBJECT, OBJECT_SIZE + 8, PERF_FAULT_REST, OBJECT, OBJECT_SIZE + 8, OBJECT_SIZE, 0},
        {OBJECT_2, OBJECT_SIZE + 1, PERF_FAULT_GROUP_SIZE, OBJECT_2, OBJECT_SIZE + 1, OBJECT_SIZE, 1},
        {OBJECT + 4, 63, PERF_FAULT_PARTS, OBJECT + 4, 63, OBJECT_SIZE, 2},
        {OBJECT + 4, 143, PERF_FAULT_COLUMNS, OBJECT + 32, 2, 1, 2},
        {OBJECT + 4, OBJECT_SIZE + 1, PERF_FAULT_PARTS, OBJECT + 4, OBJECT_SIZE + 1, OBJECT_SIZE, 2},
        {OBJECT + 8, 63, PERF_FAULT_PARTS, OBJECT + 4, 144, OBJECT_SIZE, 2},
        {OBJECT + 8, 145, PERF_FAULT_PARTS, OBJECT + 4, 144, OBJECT_SIZE, 2},
        {OBJECT + 8, 105, PERF_FAULT_COLUMNS, OBJECT + 32, 2, 0, 2},
        {OBJECT + 32, 1, PERF_FAULT_COLUMNS, OBJECT + 32, 1, 2, 3},
        {OBJECT + 32, 3, PERF_FAULT_COLUMNS, OBJECT + 32, 3, 2, 2},
        {OBJECT + 40, 1, PERF_FAULT_REST, OBJECT, OBJECT_SIZE, INSTANCE_2 - OBJECT, 2},
        {OBJECT + 40, 3, PERF_FAULT_ROWS, OBJECT + 40, 3, 2, 2},
        {OBJECT + 40, (uint32_t)-1, PERF_FAULT_REST, OBJECT, OBJECT_SIZE, COUNTERS - OBJECT, 2},
        {OBJECT + 40, (uint32_t)-2, PERF_FAULT_REST, OBJECT, OBJECT_SIZE, INSTANCE - OBJECT, 2},
        {DEFINITION, 39, PERF_FAULT_COLUMNS, OBJECT + 32, 2, 0, 2},
        {DEFINITION, 41, PERF_FAULT_COLUMNS, OBJECT + 32, 2, 1, 2},
        {DEFINITION + 32, 17, PERF_FAULT_OFFSET, DEFINITION + 36, 8, 25, 3},
        {DEFINITION + 36, UINT32_MAX, PERF_FAULT_OFFSET, DEFINITION + 36, UINT32_MAX, UINT32_MAX, 3},
        {DEFINITION + 36, 3, PERF_FAULT_OFFSET, DEFINITION + 36, 3, 11, 3},
        {INSTANCE, 23, PERF_FAULT_ROW_SIZE, INSTANCE, 23, ROWS_SIZE, 2},
        {INSTANCE, 40, PERF_FAULT_CELL_SIZE, COUNTERS + 8, 0, ROWS_SIZE - 40, 2},
        {INSTANCE, ROWS_SIZE + 1, PERF_FAULT_ROW_SIZE, INSTANCE, ROWS_SIZE + 1, ROWS_SIZE, 2},
        {INSTANCE + 16, 23, PERF_FAULT_NAME, INSTANCE + 20, 27, 32, 2},
        {INSTANCE + 16, 29, PERF_FAULT_NAME, INSTANCE + 20, 33, 32, 2},
        {INSTANCE + 20, UINT32_MAX, PERF_FAULT_NAME, INSTANCE + 20, UINT32_MAX, 32, 2},
        {INSTANCE + 20, 3, PERF_FAULT_NAME_SIZE, INSTANCE + 20, 3, 2, 3},
        {COUNTERS, 32, PERF_FAULT_ROW_SIZE, INSTANCE_2 + 8, 0, ROWS_SIZE - 64, 2},
        {COUNTERS, ROWS_SIZE, PERF_FAULT_CELL_SIZE, COUNTERS, ROWS_SIZE, ROWS_SIZE - 32, 2},
        {COUNTERS, 3, PERF_FAULT_READ_AS, COUNTERS, 3, 24, 3}, /* as Windows XP's */
        {OBJECT_2 + 12, 230, PERF_FAULT_TWICE, OBJECT + 12, 230, 2, 0},
    };
    buffer b;

    build_block(&b);
    check_changes(perf_table_read_block, &b, changes, sizeof changes / sizeof *changes);
}

/* What was not captured is no fault, and takes nothing from the groups in front of it. */
static void check_cuts(table_reader *read, const buffer *b, const uint32_t *ends, uint32_t count)
{
    for (uint32_t size = 0; size < b->size; size++) {
        unsigned whole = 0;
        for (uint32_t i = 0; i < count; i++) {
            whole |= (unsigned)(ends[i] <= size) << i;
        }
        sample cut = read_cut(read, b, size, b->size), shorter = read_cut(read, b, size, size);
        assert(!cut.table.is_sound && cut.table.num_faults == 0 && sound_groups(&cut.table) == whole);
        assert(!shorter.table.is_sound && shorter.table.num_faults > 0 && sound_groups(&shorter.table) == whole);
        free_sample(&cut);
        free_sample(&shorter);
    }
}

static void test_cut(void)
{
    static const uint32_t blocks[] = {INSTANCES, SINGLE, DATA_SIZE}, objects[] = {OBJECT_2, BLOCK_SIZE};
    buffer b;

    build_data(&b);
    check_cuts(perf_table_read_data, &b, blocks, 3);
    build_block(&b);
    check_cuts(perf_table_read_block, &b, objects, 2);
}

static sample read_changed_block(uint32_t at, uint32_t value)
{
    buffer b;

    build_block(&b);
    set32(&b, at, value);
    return read_buffer(perf_table_read_block, &b);
}

/* What is read all the same. */
static void test_changed_blocks(void)
{
    uint32_t size;

    sample s =
        read_changed_block(DEFINITION + 36, 20); /* a counter that leads out of a counter block has no value there */
    assert(s.table.is_sound && perf_table_cell(&s.table, &s.table.groups[0], 0, 0, &size) == 0);
    assert(perf_table_cell(&s.table, &s.table.groups[0], 0, 1, &size) == COUNTERS + 16);
    free_sample(&s);
    s = read_changed_block(DEFINITION + 36, 3);
    assert(perf_table_cell(&s.table, &s.table.groups[0], 0, 0, &size) == 0);
    free_sample(&s);
    s = read_changed_block(COUNTERS, 16); /* Windows XP writes a counter block short: all is where its counters say */
    const perf_group *g = &s.table.groups[0];
    assert(s.table.is_sound && s.table.num_faults == 1 && g->rows == 2 && s.table.num_rows == 4);
    assert(s.table.faults[0].kind == PERF_FAULT_READ_AS && perf_table_row(&s.table, g, 0)->block_size == 24);
    assert(perf_table_row(&s.table, g, 1)->offset == INSTANCE_2);
    free_sample(&s);
    s = read_changed_block(OBJECT_2 + 12, 230); /* which of two objects of one title is meant nobody knows */
    assert(s.table.is_sound && s.table.num_faults == 2 && perf_table_first_group(&s.table) == NULL);
    assert(perf_table_find_object(&s.table, 230) == NULL);
    free_sample(&s);
}

/* Samba fills a buffer that is too small with zeros: none of them is an object. */
static void test_zeros(void)
{
    buffer b;

    build_block(&b);
    memset(b.bytes + OBJECT_2, 0, BLOCK_SIZE - OBJECT_2);
    sample s = read_buffer(perf_table_read_block, &b);
    assert(s.table.num_groups == 1 && s.table.groups[0].is_sound && !s.table.is_sound);
    assert(s.table.num_faults == 1 && s.table.faults[0].kind == PERF_FAULT_GROUPS && s.table.faults[0].found == 1);
    free_sample(&s);
}

/* --- Who is who --------------------------------------------------------------------------------------------------- */

/* A block of one counter: "a1b2" has the instances a and b with the ids 1 and 2. */
static void build_rows(buffer *b, const char *rows)
{
    put_header(b, 1);
    uint32_t block = begin_block(b, PERF_MULTIPLE_INSTANCES), list = b->size;
    put_numbers(b, 0, (uint32_t)strlen(rows) / 2);
    for (; *rows; rows += 2) {
        const char name[] = {rows[0], 0};
        put_instance(b, name, (uint32_t)(rows[1] - '0'));
        put_value(b, 8, 0);
    }
    set32(b, list, b->size - list);
    end_block(b, block);
    finish(b);
}

/* The same in an object of PERF_DATA_BLOCK whose counter 784 is the id. */
static void build_processes(buffer *b, const char *rows)
{
    begin_data_block(b, 1);
    uint32_t object = begin_object(b, 230, 1, (uint32_t)strlen(rows) / 2);
    put_definition(b, 784, 0x00010000, 4, 4);
    for (; *rows; rows += 2) {
        put_block_instance(b, 0, 0, PERF_NO_ID, rows[0]);
        put_numbers(b, 8, (uint32_t)(rows[1] - '0'));
    }
    set32(b, object, b->size - object);
    set32(b, 20, b->size);
}

/* For each row of `here` known, assumed, ambiguous (?) or none (-), with its row there. The first question about a group is answered without
 * an index, the second with one: both say the same. */
static void check_match(const char *here, const char *there, bool proves, const char *expected)
{
    static const char letters[] = {0, '-', '?', 'A', 'K'};
    void (*build)(buffer *b, const char *rows) = proves ? build_processes : build_rows;
    table_reader *read = proves ? perf_table_read_block : perf_table_read_data;
    perf_id_proofs proofs = proves ? PERF_PROVES_PROCESS : PERF_PROVES_NOTHING;
    char found[32] = "", *to = found;
    buffer b, other_b;

    build(&b, here);
    build(&other_b, there);
    for (uint32_t row = 0; row < strlen(here) / 2; row++) {
        sample s = read_buffer(read, &b), other = read_buffer(read, &other_b);
        perf_group *g = s.table.groups, *other_group = other.table.groups;
        uint32_t match, again;
        assert(s.table.is_sound && other.table.is_sound);
        perf_match is = perf_table_match_row(&s.table, g, row, &other.table, other_group, proofs, &match);
        assert(perf_table_match_row(&s.table, g, row, &other.table, other_group, proofs, &again) == is);
        assert(again == match || is < PERF_MATCH_ASSUMED);
        *to++ = letters[is];
        to += is >= PERF_MATCH_ASSUMED ? sprintf(to, "%u", match) : 0;
        free_sample(&s);
        free_sample(&other);
    }
    *to = 0;
    if (strcmp(found, expected) != 0) {
        fprintf(stderr, "%s in %s (%d): %s, not %s\n", here, there, proves, found, expected);
        abort();
    }
}

/* The first row that is asked for is counted without an index, each with one. */
static void test_ordinals(void)
{
    static const uint32_t ordinals[] = {0, 0, 1, 2};
    buffer b;

    build_rows(&b, "a1b2a3a4");
    for (uint32_t first = 0; first < 4; first++) {
        sample s = read_buffer(perf_table_read_data, &b);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t row = (first + i) % 4;
            perf_row_name name = perf_table_row_name(&s.table, s.table.groups, row);
            assert(name.ordinal == ordinals[row] && !name.is_assumed);
        }
        free_sample(&s);
    }
}

static void test_matches(void)
{
    static const struct {
        const char *here, *there, *sent, *proven;
    } rows[] = {
        {"a1b2", "b2a1", "K1K0", "K1K0"},    /* once in both, the same id */
        {"a1", "a2", "A0", "?"},             /* another id */
        {"a1", "b1", "-", "-"},              /* not there */
        {"a1a2", "a2a1", "A0A1", "K1K0"},    /* several, as many */
        {"a1a2", "a1a3", "A0A1", "K0?"},     /* of which one is another */
        {"a1a2b3", "b3a2", "??K0", "?K1K0"}, /* one came */
        {"a2", "a1a2", "?", "K1"},           /* one went */
        {"a1a1", "a1a1", "A0A1", "A0A1"},    /* what proves is there twice */
        {"a1a2a3b4", "a9b4a8a7", "A0A2A3K1", "???K1"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_match(rows[i].here, rows[i].there, false, rows[i].sent);
        check_match(rows[i].here, rows[i].there, true, rows[i].proven);
    }
}

/* Counter 784 is asked only where it is "ID Process"; learned later, it proves from then on. */
static void test_proof_that_is_learned(void)
{
    buffer b;
    uint32_t match;

    build_processes(&b, "a1a2");
    sample s = read_buffer(perf_table_read_block, &b);
    build_processes(&b, "a2a1");
    sample other = read_buffer(perf_table_read_block, &b);
    perf_group *g = s.table.groups, *there = other.table.groups;
    assert(perf_table_match_row(&s.table, g, 0, &other.table, there, PERF_PROVES_THREAD, &match) == PERF_MATCH_ASSUMED);
    assert(perf_table_match_row(&s.table, g, 0, &other.table, there, PERF_PROVES_PROCESS, &match) == PERF_MATCH_KNOWN);
    assert(match == 1);
    free_sample(&s);
    free_sample(&other);
}

/* Adds an object, title 230, of two processes, with ids from `id` on. */
static void put_two_processes(buffer *b, const char *names, uint32_t id)
{
    uint32_t object = begin_object(b, 230, 0, 2);
    for (uint32_t row = 0; row < 2; row++) {
        put_block_instance(b, 0, 0, id == PERF_NO_ID ? id : id + row, names[row]);
        put64(b, 8);
    }
    set32(b, object, b->size - object);
}

/* An instance is known by its parent's name, too. Rows of one name are counted; a parent that is not there is said. */
static void test_parents(void)
{
    buffer b;

    begin_data_block(&b, 2);
    put_two_processes(&b, "pq", 0);
    uint32_t object = begin_object(&b, 232, 0, 4);
    for (uint32_t i = 0; i < 4; i++) {
        put_block_instance(&b, 230, i % 3, i, 't'); /* of p, q, of one that is not there, of p */
        put64(&b, 8);
    }
    set32(&b, object, b.size - object);
    set32(&b, 20, b.size);
    sample s = read_buffer(perf_table_read_block, &b);
    perf_group *g = &s.table.groups[1];
    assert(s.table.is_sound && g->rows == 4);
    perf_row_name names[4];
    for (uint32_t i = 0; i < 4; i++) {
        names[i] = perf_table_row_name(&s.table, g, i);
        assert(names[i].is_assumed == (i == 2) && names[i].ordinal == (i == 3));
    }
    free_sample(&s);
}

/* Two processes are called p, and each has a thread t, of which a sample has one: it may be the other's. */
static void test_children_of_parents_of_one_name(void)
{
    static const struct {
        const char *parents_here, *parents_there;
        perf_match match;
    } cases[] = {
        {"pq", "pq", PERF_MATCH_KNOWN},
        {"pp", "pq", PERF_MATCH_ASSUMED},
        {"pq", "pp", PERF_MATCH_ASSUMED},
        {"qq", "pq", PERF_MATCH_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s[2];
        for (unsigned of = 0; of < 2; of++) {
            buffer b;
            begin_data_block(&b, 2);
            put_two_processes(&b, of ? cases[i].parents_there : cases[i].parents_here, PERF_NO_ID);
            uint32_t object = begin_object(&b, 232, 0, 1);
            put_block_instance(&b, 230, 0, UINT32_MAX, 't');
            put64(&b, 8);
            set32(&b, object, b.size - object);
            set32(&b, 20, b.size);
            s[of] = read_buffer(perf_table_read_block, &b);
            assert(s[of].table.is_sound);
        }
        uint32_t match;
        perf_group *here = &s[0].table.groups[1], *there = &s[1].table.groups[1];
        assert(perf_table_match_row(&s[0].table, here, 0, &s[1].table, there, PERF_PROVES_THREAD, &match) ==
               cases[i].match);
        free_sample(&s[0]);
        free_sample(&s[1]);
    }
}

/* --- Its memory ---------------------------------------------------------------------------------------------------- */

/* A table that is read again forgets what it was. */
static void test_read_again(void)
{
    buffer b;
    sample s;

    build_data(&b);
    s = read_buffer(perf_table_read_data, &b);
    assert(perf_table_find_column(&s.table, &s.table.groups[0], 101, false) == 1);
    buffer other;
    build_block(&other);
    perf_table_read_block(&s.table, other.bytes, other.size, other.size);
    assert(s.table.is_sound && s.table.num_groups == 2 && s.table.values == 8 && s.table.groups[0].index == NULL);
    perf_table_read_data(&s.table, b.bytes, 40, 40);
    assert(s.table.num_groups == 0 && s.table.num_faults == 1 && perf_table_first_group(&s.table) == NULL);
    free_sample(&s);
}

int main(void)
{
    test_counter_data();
    test_error();
    test_plain_blocks();
    test_uneven_cells();
    test_sizes_that_are_odd();
    test_odd_ids();
    test_data_block();
    test_columns_of_one_index();
    test_names();
    test_objects_without_instances();
    test_sizes_of_counter_data();
    test_sizes_of_data_block();
    test_cut();
    test_changed_blocks();
    test_zeros();
    test_ordinals();
    test_matches();
    test_proof_that_is_learned();
    test_parents();
    test_children_of_parents_of_one_name();
    test_read_again();
    return 0;
}
