/* test_data_walk.c
 * The walk through counter data: what it finds in sound buffers, and that damaged ones neither lead it astray nor keep
 * it from coming to an end.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "data_buffer.h"
#include "perf/data-walk.h"
#include "walk_text.h"

#include "perf/bytes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* test/fuzz/fuzz_data_walk.c: what holds of any bytes */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes in memory of exactly their size, so that a checker sees every read beyond them. */
static bool check(const buffer *b, perf_data_summary *summary)
{
    uint8_t *exact = memcpy(malloc(b->size ? b->size : 1), b->bytes, b->size);

    LLVMFuzzerTestOneInput(exact, b->size);
    bool sound = perf_data_check(exact, b->size, summary);
    free(exact);
    return sound;
}

static const char *const fault_names[] = {
#define NAME(name, class, harm, text) #name,
    PERF_WALK_FAULTS(NAME)
#undef NAME
};

static int print_event(char *to, const perf_walk *walk, perf_walk_event event)
{
    switch (event) {
    case PERF_WALK_BLOCK:
        return sprintf(to, "B%u+%u%s ", walk->block.offset, walk->block.end - walk->block.offset,
                       perf_walk_block_sound(walk) ? "" : "~");
    case PERF_WALK_COUNTERS:
        return sprintf(to, "C%u+%u*%u ", walk->counters.offset, walk->counters.size, walk->counters.count);
    case PERF_WALK_INSTANCES:
        return sprintf(to, "L%u*%u ", walk->instances.offset, walk->instances.count);
    case PERF_WALK_INSTANCE:
        return sprintf(to, "I%u+%u:%u%s ", walk->instance.offset, walk->instance.size, walk->instance.name_size,
                       walk->instance.terminated ? "" : "!");
    case PERF_WALK_VALUE:
        return sprintf(to, "V%u+%u:%u ", walk->value.offset, walk->value.size, walk->value.data_size);
    case PERF_WALK_NO_VALUE:
        return sprintf(to, "N%u+%u ", walk->value.offset, walk->value.size);
    case PERF_WALK_FAULT:
        return sprintf(to, "%s@%u:%u,%u ", fault_names[walk->fault.what], walk->fault.offset, walk->fault.stated,
                       walk->fault.found);
    default:
        return sprintf(to, event == PERF_WALK_END ? "E " : event == PERF_WALK_HEADER ? "H " : "NI ");
    }
}

/* All that a walk announces, and behind it what the summary counts and where the next block is found each time. */
static void print_walk(char *to, const uint8_t *data, uint32_t size)
{
    perf_walk walk;
    perf_data_summary summary;
    perf_walk_event event;

    perf_walk_init(&walk, data, size);
    do {
        event = perf_walk_next(&walk);
        to += print_event(to, &walk, event);
    } while (event != PERF_WALK_END);
    perf_data_check(data, size, &summary);
    to += sprintf(to, "%u/%u/%u/%u ", summary.blocks, summary.sound_blocks, summary.values, summary.faults);
    perf_walk_init(&walk, data, size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_BLOCK) {
            to += sprintf(to, "b%u ", walk.block.offset);
            if (summary.sound_blocks == summary.blocks) {
                perf_walk_skip_block(&walk);
            }
        }
    }
}

/* A walk that has just announced this. */
static perf_walk walk_to(const buffer *b, perf_walk_event wanted)
{
    perf_walk walk;
    perf_walk_event event;

    perf_walk_init(&walk, b->bytes, b->size);
    while ((event = perf_walk_next(&walk)) != wanted) {
        assert(event != PERF_WALK_END);
    }
    return walk;
}

/* Seven rows of six columns, with this number at that place. */
static void put_rows(buffer *b, uint32_t at, uint32_t number)
{
    put_header(b, 1);
    put_counterset(b, 7, 6);
    finish(b);
    set32(b, at, number);
}

/* Everything that is as usual is passed over, and nothing else: it would only cost more, or be read wrongly. */
static void test_what_is_passed(void)
{
    enum { ROWS = 48 + 16 + 8 + 6 * 4 + 8, ROW = 16 + 6 * 16, NAMED_ROW = 32 + 6 * 16 };
    perf_walk walk;
    buffer b;

    put_rows(&b, ROWS + 16, 1);
    walk = walk_to(&b, PERF_WALK_INSTANCES);
    assert(perf_walk_pass_values(&walk) == 0 && perf_walk_pass_rows(&walk) == 7);
    assert(walk.instance.index == 6 && perf_walk_next(&walk) == PERF_WALK_END);
    walk = walk_to(&b, PERF_WALK_INSTANCE);
    assert(perf_walk_pass_rows(&walk) == 0 && perf_walk_pass_values(&walk) == 6 && perf_walk_pass_rows(&walk) == 6);
    assert(walk.instance.index == 6 && perf_walk_next(&walk) == PERF_WALK_END);
    walk = walk_to(&b, PERF_WALK_VALUE);
    assert(perf_walk_pass_rows(&walk) == 0 && perf_walk_pass_values(&walk) == 5);

    put_rows(&b, ROWS + ROW + NAMED_ROW + 16 + 2 * 16, 9); /* third row, third value */
    walk = walk_to(&b, PERF_WALK_INSTANCES);
    assert(perf_walk_pass_rows(&walk) == 2);
    assert(perf_walk_next(&walk) == PERF_WALK_INSTANCE && walk.instance.id == 2);
    assert(perf_walk_pass_values(&walk) == 2);
    put_rows(&b, ROWS - 4, 6); /* dwInstances */
    walk = walk_to(&b, PERF_WALK_INSTANCES);
    assert(perf_walk_pass_rows(&walk) == 6);

    put_header(&b, 1);
    put_counterset(&b, 3, 0);
    finish(&b);
    walk = walk_to(&b, PERF_WALK_INSTANCES);
    assert(perf_walk_pass_rows(&walk) == 3);
}

static void put_single(buffer *b, uint32_t size, uint64_t value)
{
    uint32_t block = begin_block(b, PERF_SINGLE_COUNTER);

    put_value(b, size, value);
    end_block(b, block);
}

static void put_blocks(buffer *b, uint32_t count)
{
    put_header(b, count);
    for (uint32_t i = 0; i < count; i++) {
        put_single(b, 8, i);
    }
    finish(b);
}

/* Blocks of one number, as long as each is usual in type, size, error and value. */
static void test_blocks_that_are_passed(void)
{
    enum { FIRST = 48, BLOCK = 32 };
    static const uint32_t odd[][2] = {{0, 5}, {4, 2}, {8, 40}, {16, 9}, {20, 24}};
    perf_data_summary summary;
    perf_walk walk;
    buffer b;

    put_blocks(&b, 9);
    walk = walk_to(&b, PERF_WALK_HEADER);
    assert(perf_walk_pass_blocks(&walk) == 9 && perf_walk_next(&walk) == PERF_WALK_END);
    assert(check(&b, &summary) && summary.blocks == 9 && summary.sound_blocks == 9 && summary.values == 9);
    walk = walk_to(&b, PERF_WALK_VALUE);
    assert(perf_walk_pass_blocks(&walk) == 8 && walk.block.index == 8 && perf_walk_next(&walk) == PERF_WALK_END);
    walk = walk_to(&b, PERF_WALK_BLOCK);
    assert(perf_walk_pass_blocks(&walk) == 0 && perf_walk_next(&walk) == PERF_WALK_VALUE);
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        put_blocks(&b, 9);
        set32(&b, FIRST + 4 * BLOCK + odd[i][0], odd[i][1]);
        walk = walk_to(&b, PERF_WALK_HEADER);
        assert(perf_walk_pass_blocks(&walk) == 4);
        assert(perf_walk_next(&walk) == PERF_WALK_BLOCK && walk.block.index == 4);
    }
    put_blocks(&b, 9);
    set32(&b, 4, 7);
    walk = walk_to(&b, PERF_WALK_HEADER);
    assert(perf_walk_pass_blocks(&walk) == 7);
}

/* Instances by their names: the first, the next, and none. */
static void test_names_that_are_found(void)
{
    static const uint8_t total[] = "0\0,\0_\0T\0o\0t\0a\0l";
    perf_walk walk;
    buffer b;

    for (uint32_t columns = 0; columns < 3; columns++) {
        put_header(&b, 1);
        put_counterset(&b, 5, columns);
        finish(&b);
        for (unsigned usual = 0; usual < 2; usual++) {
            if (!usual && columns > 0) { /* a value of another size: the row is read step by step */
                set32(&b, 48 + 16 + 8 + 4 * columns + columns % 2 * 4 + 8 + 16, 9);
            }
            walk = walk_to(&b, PERF_WALK_BLOCK);
            assert(perf_walk_find_named(&walk, total, sizeof total) && walk.instance.id == 1);
            assert(perf_walk_find_named(&walk, total, sizeof total) && walk.instance.id == 3);
            assert(!perf_walk_find_named(&walk, total, sizeof total));
            walk = walk_to(&b, PERF_WALK_BLOCK);
            assert(!perf_walk_find_named(&walk, total, sizeof total - 3));
            walk = walk_to(&b, PERF_WALK_BLOCK);
            assert(perf_walk_find_named(&walk, total, 0) && walk.instance.id == 0);
        }
    }
}

/* Any 32-bit word of a sound buffer replaced by what damage looks like. */
static void test_damage(void)
{
    static const uint32_t words[] = {0, 1, 7, 8, 15, 16, 40, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF};
    perf_data_summary summary;
    buffer b;

    put_header(&b, 2);
    put_counterset(&b, 3, 3);
    put_counterset(&b, 2, 2);
    finish(&b);
    for (uint32_t at = 0; at + 4 <= b.size; at += 4) {
        for (unsigned w = 0; w < sizeof words / sizeof words[0]; w++) {
            buffer damaged = b;
            set32(&damaged, at, words[w]);
            bool ok = check(&damaged, &summary);
            assert(summary.values <= damaged.size / 8 && (!ok || summary.blocks == 2));
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

/* --- Which block is sound -------------------------------------------------------------------------------------- */

/* Three blocks: a single counter, all counters of all instances, all counters of one instance. */
enum { SECOND = 80 };

static void put_multiple(buffer *b, uint32_t counters, uint32_t multi_size, uint32_t padding)
{
    uint32_t block = begin_block(b, PERF_MULTIPLE_COUNTERS);

    put32(b, multi_size);
    put32(b, counters);
    for (uint32_t i = 0; i < counters; i++) {
        put32(b, 200 + i);
    }
    b->size += padding;
    for (uint32_t i = 0; i < counters; i++) {
        put_value(b, 8, 7 + i);
    }
    b->size += (block - b->size) % 8;
    end_block(b, block);
}

static void build_three(buffer *b)
{
    put_header(b, 3);
    put_single(b, 8, 1);
    put_counterset(b, 2, 2);
    put_multiple(b, 2, 16, 0);
    finish(b);
}

/* --- What is where --------------------------------------------------------------------------------------------- */

static void test_fields(void)
{
    buffer b;

    build_three(&b);
    expect_walk(
        print_walk, b.bytes, b.size,
        "H B48+32 V64+16:8 B80+152 C96+16*2 L112*2 I120+16:0 V136+16:8 V152+16:4 I168+32:16 V200+16:8 V216+16:4 "
        "B232+64 C248+16*2 V264+16:8 V280+16:8 E 3/3/7/0 b48 b80 b232 ");
    perf_walk walk = walk_to(&b, PERF_WALK_VALUE);
    assert(walk.block.index == 0 && walk.block.type == PERF_SINGLE_COUNTER);
    assert(walk.counters.ids == 0 && walk.counters.count == 1 && walk.instance.index == PERF_NO_INSTANCE);
    assert(walk.value.column == 0 && walk.value.data == 72 && !perf_walk_has_instances(&walk));
    while (walk.value.offset != 216) {
        perf_walk_next(&walk);
    }
    assert(walk.block.index == 1 && walk.block.type == PERF_COUNTERSET && walk.instances.count == 2);
    assert(perf_walk_counter_id(&walk, 0) == 100 && perf_walk_counter_id(&walk, 1) == 101);
    assert(walk.instance.index == 1 && walk.instance.id == 1 && walk.instance.name == 176 && walk.instance.terminated);
    assert(walk.value.column == 1 && walk.value.data == 224 && perf_walk_has_instances(&walk));
    while (walk.value.offset != 280) {
        perf_walk_next(&walk);
    }
    assert(walk.block.index == 2 && walk.block.type == PERF_MULTIPLE_COUNTERS);
    assert(perf_walk_counter_id(&walk, 1) == 201 && walk.instance.index == PERF_NO_INSTANCE);
}

/* --- One finding for one cause --------------------------------------------------------------------------------- */

/* One number is changed: what is said of it, and which blocks stay sound, as bits. */
typedef struct {
    uint32_t at;
    uint32_t value;
    perf_walk_fault fault;
    uint32_t stated;
    uint32_t found;
    unsigned sound;
} change;

/* Places in the second block: PERF_MULTI_COUNTERS, PERF_MULTI_INSTANCES, first instance, its first value. */
enum {
    MULTI = 16,
    LIST = MULTI + 16,
    INSTANCE = LIST + 8,
    VALUE = INSTANCE + 16,
    BLOCK = VALUE + 2 * 16 + 32 + 2 * 16
};

static void test_one_finding_for_one_cause(void)
{
    static const change changes[] = {
        {0, 7, PERF_FAULT_TOTAL_SIZE, 7, 296, 7},
        {4, 4, PERF_FAULT_BLOCK_COUNT, 4, 3, 7},
        {SECOND + 4, 3, PERF_FAULT_BLOCK_TYPE, 3, BLOCK, 5},
        {SECOND + 8, 0, PERF_FAULT_BLOCK_SIZE, 0, BLOCK + 64, 5},
        {SECOND + 8, 0xFFFFFFFF, PERF_FAULT_BLOCK_SIZE, 0xFFFFFFFF, BLOCK + 64, 5},
        {SECOND + MULTI, 0, PERF_FAULT_COUNTERS_SIZE, 0, BLOCK - MULTI, 5},
        {SECOND + MULTI + 4, 0xFFFFFFFF, PERF_FAULT_COUNTERS_COUNT, 0xFFFFFFFF, 2, 5},
        {SECOND + LIST, 0, PERF_FAULT_INSTANCES_SIZE, 0, BLOCK - LIST, 7},
        {SECOND + LIST, 0xFFFFFFFF, PERF_FAULT_INSTANCES_SIZE, 0xFFFFFFFF, BLOCK - LIST, 7},
        {SECOND + LIST + 4, 0xFFFFFFFF, PERF_FAULT_INSTANCES_COUNT, 0xFFFFFFFF, 2, 5},
        {SECOND + LIST + 4, 1, PERF_FAULT_INSTANCES_REST, 1, 64, 5},
        {SECOND + INSTANCE, 0, PERF_FAULT_INSTANCE_SIZE, 0, BLOCK - INSTANCE, 5},
        {SECOND + INSTANCE, 12, PERF_FAULT_INSTANCE_ODD, 12, 8, 7},
        {SECOND + VALUE, 0xFFFFFFFF, PERF_FAULT_VALUE_DATA_SIZE, 0xFFFFFFFF, 8, 5},
        {SECOND + VALUE + 4, 0, PERF_FAULT_VALUE_SIZE, 0, BLOCK - VALUE, 5},
    };
    perf_data_summary summary;
    buffer b;

    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        const change *c = &changes[i];
        unsigned sound = 0;
        build_three(&b);
        set32(&b, c->at, c->value);
        perf_walk walk = walk_to(&b, PERF_WALK_FAULT);
        assert(walk.fault.what == c->fault && walk.fault.offset == c->at);
        assert(walk.fault.stated == c->stated && walk.fault.found == c->found);
        perf_walk_init(&walk, b.bytes, b.size);
        for (perf_walk_event event; (event = perf_walk_next(&walk)) != PERF_WALK_END;) {
            sound |= event == PERF_WALK_BLOCK && perf_walk_block_sound(&walk) ? 1U << walk.block.index : 0;
        }
        check(&b, &summary);
        assert(sound == c->sound && summary.faults == 1);
    }
}

/* Three ids end on half of an 8-byte step. dwSize counts 4 bytes of padding, or does not; the padding is there, or is
 * not, and holds anything. Of what can be read in two ways the reading is right whose block ends on its limit. */
static void test_odd_numbers_of_ids(void)
{
    static const struct {
        uint32_t size, padding, fill;
    } ways[] = {{20, 0, 0}, {20, 4, 0}, {20, 4, 8}, {20, 4, 0xFFFFFFFF}, {24, 4, 0}, {24, 4, 8}};
    perf_data_summary summary;
    perf_walk walk;
    buffer b;

    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        put_header(&b, 1);
        put_multiple(&b, 3, ways[i].size, ways[i].padding);
        if (ways[i].padding > 0) {
            set32(&b, 48 + 16 + 20, ways[i].fill); /* padding is not initialised */
        }
        finish(&b);
        assert(check(&b, &summary) && summary.values == 3);
        perf_walk_init(&walk, b.bytes, b.size);
        while (perf_walk_next(&walk) != PERF_WALK_VALUE) {
        }
        assert(walk.value.data_size == 8 && walk.value.offset == 48 + 16 + 20 + ways[i].padding);
    }
}

/* --- Damage, and what is found all the same ----------------------------------------------------------------------- */

static void build_real(buffer *b)
{
    put_header(b, 2);
    put_single(b, 8, 3256992943318);
    put_single(b, 4, 1444507332);
    finish(b);
}

/* Two countersets of two counters and two instances, and a single counter. */
static void build_usual(buffer *b)
{
    put_header(b, 3);
    for (int i = 0; i < 2; i++) {
        uint32_t block = begin_block(b, PERF_COUNTERSET);
        put32(b, 16);
        put32(b, 2);
        put64(b, 0x6500000064);
        uint32_t list = b->size;
        put64(b, (uint64_t)2 << 32);
        for (uint32_t row = 0; row < 2; row++) {
            put_instance(b, row == 0 ? "" : "ab", row);
            put_value(b, 8, 0x0807060504030201);
            put_value(b, 4, 0x04030201);
        }
        set32(b, list, b->size - list);
        end_block(b, block);
    }
    put_single(b, 8, 1);
    finish(b);
}

/* Three counters without instances, a value whose padding is not counted, and two instances of one value. */
static void build_plain(buffer *b)
{
    put_header(b, 3);
    uint32_t block = begin_block(b, PERF_MULTIPLE_COUNTERS);
    put64(b, (uint64_t)3 << 32 | 20);
    put64(b, 0x6500000064);
    put32(b, 102);
    for (uint32_t i = 0; i < 3; i++) {
        put_value(b, i == 1 ? 4 : 8, 0x0807060504030201);
    }
    put32(b, 0);
    end_block(b, block);
    block = begin_block(b, PERF_SINGLE_COUNTER);
    put64(b, (uint64_t)12 << 32 | 4);
    put64(b, 0x04030201);
    set32(b, block + 8, 28);
    block = begin_block(b, PERF_MULTIPLE_INSTANCES);
    put64(b, (uint64_t)2 << 32);
    put_instance(b, "a", 0);
    put_value(b, 8, 0x0807060504030201);
    put_instance(b, "bcd", 1);
    put_value(b, 4, 0x04030201);
    set32(b, block + 16, b->size - block - 16);
    end_block(b, block);
    finish(b);
}

/* Instances of one value, one with a Size that leaves its padding out, and instances without counters. */
static void build_instances(buffer *b)
{
    put_header(b, 2);
    uint32_t block = begin_block(b, PERF_MULTIPLE_INSTANCES), list = b->size;
    put64(b, (uint64_t)2 << 32);
    put_instance(b, "abcd", 1);
    set32(b, list + 8, 18);
    put_value(b, 8, 0x0807060504030201);
    put_instance(b, "e", 0);
    put64(b, (uint64_t)24 << 32 | 16);
    put64(b, 0x0807060504030201);
    put64(b, 0x100F0E0D0C0B0A09);
    set32(b, list, b->size - list);
    end_block(b, block);
    block = begin_block(b, PERF_COUNTERSET);
    put64(b, 8);
    list = b->size;
    put64(b, (uint64_t)2 << 32);
    put_instance(b, "x", 0);
    put_instance(b, "y", 0);
    set32(b, list, b->size - list);
    end_block(b, block);
    finish(b);
}

typedef struct {
    void (*build)(buffer *b);
    uint32_t changes[10]; /* place and number; place 0 of the header is 1 there */
    uint32_t cut;         /* to so many bytes */
    const char *found;
} damage;

static void check_damage(const damage *row)
{
    buffer b;

    row->build(&b);
    for (unsigned i = 0; i < 10 && row->changes[i] != 0; i += 2) {
        set32(&b, row->changes[i] & ~1U, row->changes[i + 1]);
    }
    expect_walk(print_walk, b.bytes, row->cut > 0 ? row->cut : b.size, row->found);
}

static void test_found_behind_damage(void)
{
    static const damage rows[] = {
        /* the published answer of a Windows 11: two single counters, one of 8 and one of 4 bytes */
        {build_real, {0}, 0, "H B48+32 V64+16:8 B80+32 V96+16:4 E 2/2/2/0 b48 b80 "},
        /* a name without a terminator is said, and costs nothing */
        {build_usual, {144, 0x78787878, 148, 0x78787878}, 0, "I136+16:8! INSTANCE_TEXT@"},
        {build_usual, {144, 0x78787878, 148, 0x78787878}, 0, "E 3/3/9/1 "},
        /* nothing is wrong */
        {build_usual,
         {0},
         0,
         "H B48+136 C64+16*2 L80*2 I88+16:0 V104+16:8 V120+16:4 I136+16:4 V152+16:8 V168+16:4 B184+136 C200+16*2 "
         "L216*2 I224+16:0 V240+16:8 V256+16:4 I272+16:4 V288+16:8 V304+16:4 B320+32 V336+16:8 E 3/3/9/0 b48 b184 "
         "b320 "},
        /* a value's dwSize */
        {build_usual, {124, 41}, 0, "V120+48:4 NI INSTANCE_SIZE@168:4,16 B184+136 "},
        {build_usual, {244, 25}, 0, "V240+32:8 N272+8 VALUE_SIZE@276:1,48 B320+32 "},
        {build_usual, {260, 25}, 0, "V256+32:4 I288+8:0 N296+8 "},
        {build_usual, {156, 8, 152, 17}, 0, "VALUE_DATA_SIZE@152:17,0 "},
        /* a block's dwSize */
        {build_usual, {56, 128}, 0, "VALUE_SIZE@172:16,8 E "},
        {build_usual, {56, 152}, 0, "BLOCK_REST@56:152,136 B184+136 "},
        {build_usual,
         {56, 144},
         0,
         "B48+144~ C64+16*2 L80*2 I88+16:0 V104+16:8 V120+16:4 I136+16:4 V152+16:8 V168+16:4 BLOCK_REST@56:144,136 "},
        {build_usual, {56, 40}, 0, "B48+40~ C64+16*2 L80*2 INSTANCES_COUNT@84:2,0 "},
        {build_usual, {192, 0}, 0, "b320 "},
        /* PERF_MULTI_COUNTERS and instances */
        {build_usual, {68, 3}, 0, "C64+16*2 COUNTERS_COUNT@68:3,2 B184+136 "},
        {build_usual, {56, 32}, 0, "B48+32~ C64+16*2 BLOCK_BODY@80:0,8 "},
        {build_usual, {64, 40}, 0, "C64+40*2 L104*16 INSTANCES_COUNT@108:16,0 B184+136 "},
        {build_usual, {136, 25}, 0, "I136+32:4 INSTANCE_ODD@136:25,8 V168+16:4 VALUE_COUNT@184:2,1 "},
        /* the header, and where the data ends */
        {build_usual, {1, 0}, 0, "TOTAL_SIZE@0:0,352 "},
        {build_usual, {4, 2}, 0, "TRAILING@320:32,2 "},
        {build_usual, {0}, 47, "HEADER_SHORT@0:47,48 "},
        {build_usual, {0}, 48, "H BLOCK_COUNT@4:3,0 E "},
        {build_plain, {212, 12}, 0, "N208+12 VALUE_DATA_SIZE@208:8,4 I224+16:6 "},
        {build_instances, {156, 2}, 0, "B152+64~ C168+8*0 "},
        /* the instance's size is right if what follows can be a value, be it none that servers send; else it is not */
        {build_usual, {88, 32, 120, 0}, 0, "I88+32:0 V120+16:0 "},
        {build_instances, {112, 32, 144, 0, 148, 8}, 0, "I112+32:2 V144+8:0 "},
        /* behind an odd size what follows is on the next step of 8 */
        {build_usual, {88, 12}, 0, "I88+16:0 INSTANCE_ODD@88:12,8 V104+16:8 "},
        /* behind a block that is lost none begins, though the header looks like one */
        {build_usual, {52, 3, 56, 0, 12, 0, 16, 16}, 0, "B48+304~ BLOCK_SIZE@56:0,304 E "},
        /* the next block is found if it is one and fits */
        {build_usual, {56, 0, 188, 3}, 0, "BLOCK_SIZE@56:0,304 E "},
        {build_usual, {192, 0, 328, 48}, 0, "BLOCK_SIZE@192:0,168 E "},
        {build_usual, {192, 0, 316, 119, 324, 0, 328, 16}, 336, "b48 b184 b320 "},
        /* instances without counters: the last one fills its list, and no name is searched for a value */
        {build_instances, {0}, 0, "B152+64 C168+8*0 L176*2 I184+16:2 I200+16:2 E "},
        /* no list where the block ends, whatever the next block begins with */
        {build_usual, {56, 40, 64, 20, 88, 0}, 0, "B48+40~ C64+20*2 BLOCK_BODY@84:4,8 "},
        /* padding behind one id, though nothing is right behind the first instance */
        {build_usual, {64, 12, 68, 1}, 0, "C64+16*1 L80*2 I88+16:0 V104+16:8 "},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_damage(&rows[i]);
    }
}

int main(void)
{
    test_fields();
    test_one_finding_for_one_cause();
    test_odd_numbers_of_ids();
    test_what_is_passed();
    test_blocks_that_are_passed();
    test_names_that_are_found();
    test_damage();
    test_every_length();
    test_found_behind_damage();
    return 0;
}
