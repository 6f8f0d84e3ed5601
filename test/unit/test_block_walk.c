/* test_block_walk.c
 * The walk through PERF_DATA_BLOCK never leaves its bytes, always ends, and announces only what is inside.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object_sound.h"
#include "perf/block-walk.h"
#include "walk_text.h"

/* test/fuzz/fuzz_block_walk.c: what holds of any bytes */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    put(data + 12, 1);
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

/* In memory of exactly their size, so that a sanitizer sees what is read beyond it. */
static void check_invariants(const uint8_t *bytes, uint32_t size)
{
    uint8_t *data = memcpy(malloc(size > 0 ? size : 1), bytes, size);

    LLVMFuzzerTestOneInput(data, size);
    free(data);
}

static void test_signature(void)
{
    static const char *const others[] = {"P\0E\0R\0X", "p\0E\0R\0F", "PERFPERF", "\0P\0E\0R\0X", "P\0E\0R\0F\1"};

    assert(perf_block_is((const uint8_t *)"P\0E\0R\0F", 8));
    assert(perf_block_is((const uint8_t *)"\0P\0E\0R\0F", 8));
    assert(!perf_block_is((const uint8_t *)"P\0E\0R\0F", 7));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert(!perf_block_is((const uint8_t *)others[i] + (i == 4), 8));
    }
}

static void test_every_cut(void)
{
    uint8_t data[SIZE];
    perf_block_summary summary;

    build(data);
    for (uint32_t size = 0; size <= SIZE; size++) {
        check_invariants(data, size);
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
            check_invariants(data, SIZE);
        }
    }
}

/* --- What is where --------------------------------------------------------------------------------------------- */

static const char *const fault_names[] = {
#define NAME(name, class, harm, text) #name,
    PERF_BLOCK_FAULTS(NAME)
#undef NAME
};

static int print_event(char *to, const perf_block_walk *walk, perf_block_event event)
{
    switch (event) {
    case PERF_BLOCK_HEADER:
        return walk->header.name_room == 0
                   ? sprintf(to, "H%u ", walk->header.size)
                   : sprintf(to, "H%u:%u,%u ", walk->header.size, walk->header.name_size, walk->header.name_room);
    case PERF_BLOCK_OBJECT:
        return sprintf(to, "O%u+%u%s ", walk->object.offset, walk->object.end - walk->object.offset,
                       object_sound(walk) ? "" : "~");
    case PERF_BLOCK_DEFINITION:
        return sprintf(to, "D%u+%u ", walk->definition.offset, walk->definition.size);
    case PERF_BLOCK_INSTANCE:
        return sprintf(to, "I%u+%u:%u,%u ", walk->instance.offset, walk->instance.size, walk->instance.name_size,
                       walk->instance.name_room);
    case PERF_BLOCK_COUNTERS:
        return sprintf(to, "C%u+%u ", walk->counters.offset, walk->counters.size);
    case PERF_BLOCK_VALUE:
        return sprintf(to, "V%u+%u ", walk->value.offset, walk->value.size);
    case PERF_BLOCK_FAULT:
        return sprintf(to, "%s@%u:%u,%u ", fault_names[walk->fault.what], walk->fault.offset, walk->fault.stated,
                       walk->fault.found);
    default:
        return sprintf(to, "E ");
    }
}

/* All that a walk announces, and behind it what the summary counts, where the next object is found each time, and what is left out. */
static void print_walk(char *to, const uint8_t *data, uint32_t size)
{
    perf_block_walk walk;
    perf_block_summary summary;
    perf_block_event event;

    perf_block_init(&walk, data, size);
    do {
        event = perf_block_next(&walk);
        to += print_event(to, &walk, event);
    } while (event != PERF_BLOCK_END);
    perf_block_check(data, size, &summary);
    to +=
        sprintf(to, "%u/%u/%u/%u ", summary.objects, summary.definitions, summary.instances, (unsigned)summary.values);
    perf_block_init(&walk, data, size);
    while (perf_block_next_object(&walk)) {
        to += sprintf(to, "o%u ", walk.object.offset);
    }
    sprintf(to, "left out %u/%u, %u faults, %u sound", (unsigned)summary.values_left_out, summary.objects_left_out,
            summary.faults, summary.sound_objects);
}

/* A walk that has announced that for the nth time. */
static perf_block_walk walk_to(const uint8_t *data, uint32_t size, perf_block_event wanted, unsigned nth)
{
    perf_block_walk walk;
    perf_block_event event;

    perf_block_init(&walk, data, size);
    do {
        event = perf_block_next(&walk);
        assert(event != PERF_BLOCK_END);
        nth -= event == wanted;
    } while (nth > 0);
    return walk;
}

/* build() behind a header with a name. Where numbers are turned around, texts are too. */
static void build_named(uint8_t *data, bool big_endian)
{
    build(data);
    memmove(data + 96, data + 88, SIZE - 88);
    put(data + 8, !big_endian);
    put(data + 20, SIZE + 8);
    put(data + 24, 96);
    put(data + 80, 8);
    put(data + 84, 88);
    put(data + 240 + 4, 238);
    put(data + 240 + 8, 3);
    put(data + 240 + 12, 42);
    for (uint8_t *at = data + 8; big_endian && at < data + SIZE + 8; at += 4) {
        const uint8_t turned[] = {at[3], at[2], at[1], at[0]};
        memcpy(at, turned, 4);
    }
    memcpy(data, big_endian ? "\0P\0E\0R\0F" : "P\0E\0R\0F", 8);
    memcpy(data + 88, big_endian ? "\0S\0R\0V\0" : "S\0R\0V\0\0", 8);
    memcpy(data + 264, big_endian ? "\0a\0" : "a\0\0", 4);
    memcpy(data + 320, data + 264, 4);
}

static void test_fields(void)
{
    uint8_t data[SIZE + 8];

    for (int big_endian = 0; big_endian < 2; big_endian++) {
        build_named(data, big_endian);
        expect_walk(print_walk, data, sizeof data,
                    "H96:6,8 O96+256 D160+40 D200+40 I240+32:2,4 C272+24 V280+8 V288+8 I296+32:2,4 C328+24 V336+8 "
                    "V344+8 E 1/2/2/4 ");
        perf_block_walk walk = walk_to(data, sizeof data, PERF_BLOCK_VALUE, 1);
        assert(walk.big_endian == big_endian && walk.big_endian_text == big_endian && walk.header.name == 88);
        assert(walk.object.number == 0 && walk.object.index == 230 && walk.object.num_instances == 2);
        assert(walk.object.num_definitions == 2 && walk.definition.number == 1);
        assert(walk.instance.number == 0 && walk.instance.parent_object == 238 && walk.instance.parent_instance == 3);
        assert(walk.instance.unique_id == 42 && walk.instance.name == 264);
        assert(walk.value.column == 0 && walk.value.definition == 160 && perf_block_values_left(&walk) == 1);
        walk = walk_to(data, sizeof data, PERF_BLOCK_VALUE, 4);
        assert(walk.value.column == 1 && walk.value.definition == 200 && walk.instance.number == 1);
    }
}

static void test_text_size(void)
{
    assert(perf_block_text_size((const uint8_t *)"abc", 3, false) == 3);
    assert(perf_block_text_size((const uint8_t *)"ab\0c", 4, false) == 2);
    assert(perf_block_text_size((const uint8_t *)"a\0b\0\0\0c", 8, true) == 4);
    assert(perf_block_text_size((const uint8_t *)"a\0b\0c", 5, true) == 4);
    assert(perf_block_text_size((const uint8_t *)"\0a\0\0", 4, true) == 2);
    assert(perf_block_text_size((const uint8_t *)"a", 0, false) == 0);
}

/* --- Which object is sound ------------------------------------------------------------------------------------- */

#define OBJECTS 3
#define OBJECT_SIZE (SIZE - 88)
#define WHOLE (88 + OBJECTS * OBJECT_SIZE)

/* Places in an object of build(). */
enum { DEFINITIONS = 64, INSTANCE = 64 + 80, COUNTERS = INSTANCE + 32, SECOND = COUNTERS + 24 };

static void build_objects(uint8_t *data)
{
    build(data);
    put(data + 20, WHOLE);
    put(data + 28, OBJECTS);
    for (unsigned i = 1; i < OBJECTS; i++) {
        memcpy(data + 88 + i * OBJECT_SIZE, data + 88, OBJECT_SIZE);
    }
}

/* One object of `counters` counters that all share 4 bytes, and as many instances. */
static uint8_t *build_many(uint32_t counters, uint32_t instances, uint32_t *size)
{
    *size = 88 + 64 + counters * 40 + instances * (24 + 8);
    uint8_t *data = calloc(*size, 1), *object = data + 88, *at = object + 64;

    build(data);
    memset(data + 88 + 64, 0, SIZE - 88 - 64);
    put(data + 20, *size);
    put(object, *size - 88);
    put(object + 4, 64 + counters * 40);
    put(object + 32, counters);
    put(object + 40, instances);
    for (uint32_t i = 0; i < counters; i++, at += 40) {
        put(at, 40);
        put(at + 32, 4);
        put(at + 36, 4);
    }
    for (uint32_t i = 0; i < instances; i++, at += 32) {
        put(at, 24);
        put(at + 24, 8);
    }
    return data;
}

/* One number is changed: what is said of it, and which of the objects stay sound, as bits. */
typedef struct {
    uint32_t at;
    uint32_t value;
    perf_block_fault fault;
    uint32_t stated;
    uint32_t found;
    unsigned sound;
} change;

static void test_one_finding_for_one_cause(void)
{
    enum { OBJECT = 88 + OBJECT_SIZE };
    static const change changes[] = {
        {8, 2, PERF_BLOCK_FAULT_LITTLE_ENDIAN, 2, 1, 7},
        {12, 2, PERF_BLOCK_FAULT_VERSION, 2, 1, 7},
        {20, 7, PERF_BLOCK_FAULT_READ_TOTAL, 7, WHOLE, 7},
        {24, 7, PERF_BLOCK_FAULT_READ_HEADER, 7, 88, 7},
        {OBJECT, 0, PERF_BLOCK_FAULT_READ_OBJECT, 0, OBJECT_SIZE, 7},
        {OBJECT + 4, 0xFFFFFFFF, PERF_BLOCK_FAULT_READ_DEFINITIONS, 0xFFFFFFFF, INSTANCE, 7},
        {OBJECT + 4, 7, PERF_BLOCK_FAULT_READ_DEFINITIONS, 7, INSTANCE, 7},
        {OBJECT + 8, 0xFFFFFFFF, PERF_BLOCK_FAULT_READ_OBJECT_HEADER, 0xFFFFFFFF, DEFINITIONS, 7},
        {OBJECT + 8, 72, PERF_BLOCK_FAULT_READ_OBJECT_HEADER, 72, DEFINITIONS, 7},
        {OBJECT + 32, 3, PERF_BLOCK_FAULT_DEFINITION_COUNT, 3, 2, 5},
        {OBJECT + 32, 1, PERF_BLOCK_FAULT_DEFINITION_COUNT, 1, 2, 5},
        {OBJECT + 40, 0xFFFFFFFC, PERF_BLOCK_FAULT_INSTANCES_NUMBER, 4, 3, 5},
        {OBJECT + 40, 1, PERF_BLOCK_FAULT_INSTANCE_REST, 1, 2, 5},
        {OBJECT + 40, 0xFFFFFFFF, PERF_BLOCK_FAULT_INSTANCES_THERE, 1, 1, 5},
        {OBJECT + 40, 0x7FFFFFFF, PERF_BLOCK_FAULT_INSTANCE_COUNT, 0x7FFFFFFF, 2, 5},
        {OBJECT + DEFINITIONS, 0, PERF_BLOCK_FAULT_READ_DEFINITION, 0, 40, 7},
        {OBJECT + DEFINITIONS + 36, 0xFFFFFFFF, PERF_BLOCK_FAULT_VALUE_PLACE, 0xFFFFFFFF, 24, 5},
        {OBJECT + DEFINITIONS + 36, 20, PERF_BLOCK_FAULT_VALUE_PLACE, 28, 24, 5},
        {OBJECT + DEFINITIONS + 36, 6, PERF_BLOCK_FAULT_VALUE_PLACE, 14, 24, 5},
        {OBJECT + DEFINITIONS + 32, 0xFFFFFFFF, PERF_BLOCK_FAULT_VALUE_PLACE, 0xFFFFFFFF, 24, 5},
        {OBJECT + DEFINITIONS + 76, 12, PERF_BLOCK_FAULT_VALUES_CROSS, 12, 16, 5},
        {OBJECT + INSTANCE, 0, PERF_BLOCK_FAULT_READ_INSTANCE, 0, 32, 7},
        {OBJECT + INSTANCE + 16, 100, PERF_BLOCK_FAULT_INSTANCE_NAME, 104, 32, 7},
        {OBJECT + INSTANCE + 20, 0xFFFFFFFF, PERF_BLOCK_FAULT_INSTANCE_NAME, 0xFFFFFFFF, 32, 7},
        {OBJECT + INSTANCE + 16, 28, PERF_BLOCK_FAULT_INSTANCE_NAME, 32, 32, 7},
        {OBJECT + INSTANCE + 20, 3, PERF_BLOCK_FAULT_INSTANCE_TEXT, 3, 2, 7},
        {OBJECT + COUNTERS, 0, PERF_BLOCK_FAULT_READ_COUNTERS, 0, 24, 7},
    };
    uint8_t data[WHOLE];
    perf_block_summary summary;

    for (unsigned i = 0; i < sizeof changes / sizeof *changes; i++) {
        const change *c = &changes[i];
        build_objects(data);
        put(data + c->at, c->value);
        perf_block_walk walk = walk_to(data, WHOLE, PERF_BLOCK_FAULT, 1);
        assert(walk.fault.what == c->fault && walk.fault.offset == c->at);
        assert(walk.fault.stated == c->stated && walk.fault.found == c->found);
        for (unsigned n = 0; n < OBJECTS; n++) {
            walk = walk_to(data, WHOLE, PERF_BLOCK_OBJECT, n + 1);
            assert(object_sound(&walk) == (c->sound >> n & 1));
        }
        perf_block_check(data, WHOLE, &summary);
        assert(summary.faults == 1 && summary.objects_left_out == 0);
        assert(summary.read_as == (perf_block_fault_infos[c->fault].kind == PERF_FAULT_IS_READ_AS));
        assert(c->sound == 5 || (summary.values == 12 && summary.values_left_out == 0));
    }
}

/* --- Damage, and what is found all the same ----------------------------------------------------------------------- */

/* What an object is made of. */
typedef struct {
    uint32_t definitions, instances, width, name, block;
    uint32_t padding; /* behind its TotalByteLength */
} plan;

/* The values stand behind each other, those of 8 bytes aligned. Returns what is behind the object. */
static uint8_t *put_object(uint8_t *object, const plan *p)
{
    bool alone = p->instances == (uint32_t)PERF_INSTANCES_NONE;
    uint32_t instance = alone ? 0 : 24 + (p->name > 0 ? 8 : 0);
    uint8_t *at = object + 64;

    put(object + 4, 64 + 40 * p->definitions);
    put(object + 8, 64);
    put(object + 32, p->definitions);
    put(object + 40, p->instances);
    for (uint32_t i = 0; i < p->definitions; i++, at += 40) {
        put(at, 40);
        put(at + 32, p->width);
        put(at + 36, p->width * (i + 1));
    }
    for (uint32_t i = 0; i < (alone ? 1 : p->instances); i++, at += instance + p->block) {
        put(at, instance);
        put(at + 16, p->name > 0 ? 24 : 0);
        put(at + 20, p->name);
        put(at + instance, p->block);
    }
    put(object, (uint32_t)(at - object));
    return at + p->padding;
}

static uint32_t build_planned(uint8_t *data, const plan *plans)
{
    uint8_t *end = put_object(data + 88, &plans[0]);

    end = put_object(end, &plans[1]);
    memcpy(data, "P\0E\0R\0F", 8);
    put(data + 8, 1);
    put(data + 12, 1);
    put(data + 20, (uint32_t)(end - data));
    put(data + 24, 88);
    put(data + 28, 2);
    return (uint32_t)(end - data);
}

typedef struct {
    const plan *plans; /* of two objects; NULL: three objects of build() */
    uint32_t changes[20];
    uint32_t cut; /* to so many bytes */
    const char *found;
} damage;

static void check_damage(const damage *row)
{
    static uint8_t data[2048];
    uint32_t size = WHOLE;

    memset(data, 0, sizeof data);
    if (row->plans) {
        size = build_planned(data, row->plans);
    } else {
        build_objects(data);
    }
    for (unsigned i = 0; i < 20 && row->changes[i] != 0; i += 2) {
        put(data + row->changes[i], row->changes[i + 1]);
    }
    expect_walk(print_walk, data, row->cut > 0 ? row->cut : size, row->found);
}

static void test_damage(void)
{
#define NONE (uint32_t) PERF_INSTANCES_NONE
    static const plan alone[] = {{1, NONE, 4, 0, 12, 4}, {1, NONE, 4, 0, 12, 4}};
    static const plan blank_behind[] = {{1, NONE, 4, 0, 16, 0}, {1, NONE, 4, 0, 16, 64}};
    static const plan bytes_behind[] = {{1, NONE, 4, 0, 16, 0}, {1, NONE, 4, 0, 16, 8}};
    static const plan nameless[] = {{1, 2, 8, 0, 16, 0}, {0, 2, 0, 4, 8, 0}};
    static const plan roomy[] = {{1, 2, 8, 4, 24, 0}, {1, 3, 8, 4, 24, 0}};
    static const plan nothing[] = {{1, NONE, 4, 0, 4, 0}, {1, NONE, 4, 0, 8, 0}};
    static const plan two_alone[] = {{2, NONE, 8, 0, 24, 0}, {1, 6, 4, 0, 8, 0}};
#undef NONE
    static const damage rows[] = {
        /* nothing is wrong; TotalByteLength leaves the header out; padding is no instance, whatever stands in it */
        {NULL, {0}, 0, "E 3/6/6/12 o88 o344 o600 left out 0/0, 0 faults, 3 sound"},
        {NULL, {20, WHOLE - 88}, 0, " 0 faults, 3 sound"},
        {NULL, {384, 1, 544, 56}, 0, " 0 faults, 3 sound"},
        {two_alone, {0}, 0, "O88+168 D152+40 D192+40 C232+24 V240+8 V248+8 O256+296 D320+40 I360+24:0,0 C384+8 "},
        {two_alone, {0}, 0, " 0 faults, 2 sound"},
        /* instances without a name have nothing but their fixed fields: they prove nothing, unless the object ends with the last */
        {two_alone, {296, 5}, 0, "INSTANCE_SIZE@360:24,192 "},
        /* a name ends at NameLength; what stands behind it is padding */
        {NULL, {256, 0x78787878, 260, 0x78787878}, 0, " 0 faults, 3 sound"},
        /* definitions without values are no sample */
        {NULL, {128, 0xFFFFFFFE}, 0, " 0 faults, 2 sound"},
        /* counter blocks of a size that leads on are right, and definitions that need more are wrong */
        {nothing, {0}, 0, "C192+4 VALUE_PLACE@188:8,4 O196+"},
        {NULL, {28, 4}, 0, "OBJECT_COUNT@28:4,3 E 3/6/6/12 o88 o344 o600 left out 0/1, 1 faults, 3 sound"},
        /* an instance of a size that is none, whose name begins in its fixed fields, or ends beyond 32 bits */
        {NULL, {488, 0x2000, 504, 8, 508, 24}, 0, "INSTANCE_SIZE@488:8192,112 "},
        {NULL, {488, 0x2000, 504, 33, 508, 0xFFFFFFFF}, 0, "INSTANCE_SIZE@488:8192,112 "},
        /* a name that begins elsewhere than all do */
        {NULL, {504, 32}, 0, "INSTANCE_NAME@504:36,32 "},
        /* the size of the second object leads nowhere: its structures lead to the third */
        {NULL,
         {344, 0},
         0,
         "O344+256 READ_OBJECT@344:0,256 D408+40 D448+40 I488+32:2,4 C520+24 V528+8 V536+8 I544+32:2,4 C576+24 V584+8 "
         "V592+8 O600+256 "},
        /* or the third has no size either: its structures are not read a second time for it */
        {NULL, {344, 0, 600, 0}, 0, "O344+512~ OBJECT_SIZE@344:0,512 "},
        /* an object without a part that could be walked */
        {NULL, {344, 0, 352, 63}, 0, "O344+512~ OBJECT_SIZE@344:0,512 OBJECT_HEADER@352:63,512 E "},
        /* the data ends in the first object, behind what is still read of it: it has room for none of its values */
        {NULL,
         {0},
         256,
         "H88 O88+168~ OBJECT_SIZE@88:256,168 D152+40 D192+40 I232+24:0,0 INSTANCE_SIZE@232:32,24 "
         "E 1/2/1/0 o88 left out 0/3, "},
        /* no byte order but that of the signature */
        {NULL, {8, 0}, 0, "H88 HEADER_SIZE@24:1476395008,856 E "},
        {NULL, {8, 2}, 0, "LITTLE_ENDIAN@8:2,1 "},
        /* an instance that takes the next for its own, and a counter block that takes part of it */
        {NULL, {776, 63}, 0, "C776+24 READ_COUNTERS@776:63,24 V784+8 V792+8 I800+32:2,4 "},
        /* no instance, where there are two */
        {NULL, {128, 0}, 0, "O88+256~ D152+40 D192+40 INSTANCE_REST@128:0,1 "},
        /* names in a code page end at a byte */
        {NULL, {132, 1}, 0, "I232+32:1,2 "},
        {NULL, {132, 1252, 252, 1}, 0, "I232+32:1,1 "},
        {NULL, {132, 1200}, 0, "I232+32:2,4 "},
        {NULL, {184, 1}, 0, "V272+1 V280+8 "},
        /* a definition that leads beyond the data */
        {NULL, {664, 1400, 776, 0}, 0, "D664+40 DEFINITION_SIZE@664:1400,80 I744+32:2,4 C776+4 COUNTERS_SIZE@776:0,4 "},
        {blank_behind, {28, 3}, 0, "OBJECT_BLANK@28:3,2 "},
        {NULL, {0}, 7, "HEADER_SHORT@0:7,88 "},
        {NULL, {24, 96, 80, 1, 84, 88}, 0, "H88 READ_HEADER@24:96,88 O88+256 "},
        {bytes_behind, {0}, 0, "TRAILING@328:8,2 "},
        {NULL, {0}, 88, "H88 OBJECT_COUNT@28:3,0 "},
        {alone, {0}, 0, "O88+120 READ_OBJECT@88:116,120 D152+40 C192+12 V196+4 O208+116 D272+40 C312+12 V316+4 E "},
        {nameless,
         {80, 1},
         0,
         "SYSTEM_NAME@84:0,88 O88+184 D152+40 I192+24:0,0 C216+16 V224+8 I232+24:0,0 C256+16 V264+8 O272+144 "},
        {nameless, {312, 3}, 0, "INSTANCE_COUNT@312:3,2 "},
        /* the data ends behind an instance */
        {nameless, {0}, 408, "OBJECT_SIZE@272:144,136 I336+32:0,2 C368+8 I376+32:0,2 COUNTERS_MISSING@408:0,2 E "},
        {nameless, {408, 4}, 0, "C408+4 "},
        /* of two counters the values of one have no room in any counter block, the first or the second */
        {NULL, {228, 24}, 0, "C264+24 VALUE_PLACE@228:32,24 V272+8 I288+32:2,4 C320+24 V328+8 O344+256 "},
        /* or both: there is no telling what the block is */
        {NULL, {188, 24, 228, 24}, 0, "C264+4 COUNTERS_SIZE@264:24,32 O344+256 "},
        /* a value of no bytes is nowhere, and needs none */
        {nameless, {184, 0, 188, 4294967288}, 0, "O88+184 "},
        /* behind the last object another one, or another block */
        {NULL, {28, 2}, 0, "TRAILING@600:256,2 E 2/4/4/8 o88 o344 left out 0/1, 1 faults, 2 sound"},
        {NULL, {28, 2, 600, 0x450050, 604, 0x460052, 628, 5}, 0, "left out 0/5, 1 faults, 2 sound"},
        /* a counter block where none should be; one that ends before the object is none */
        {alone, {128, 0, 88, 120}, 0, "D152+40 COUNTERS_THERE@128:0,1 O208+"},
        {alone, {128, 0, 88, 120}, 0, "left out 1/0, 1 faults, 1 sound"},
        {alone, {128, 0xFFFFFFFE, 88, 120}, 0, "D152+40 COUNTERS_THERE@128:4294967294,1 O208+"},
        {alone, {128, 0, 192, 4, 88, 120}, 0, "0 faults, 2 sound"},
        /* room behind the values: the next multiple of 8 leads on */
        {roomy, {224, 17}, 0, "O88+216 D152+40 I192+32:0,2 C224+24 READ_COUNTERS@224:17,24 V232+8 I248+32:0,2 "},
    };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_damage(&rows[i]);
    }
}

/* Of each length that can be wrong: the one reading that fits, and none where there are several or two lengths are wrong. */
static void test_lengths_that_contradict(void)
{
    static const plan many[] = {{15, 2, 8, 4, 128, 0}, {1, 1, 8, 4, 16, 0}};
    static const plan roomy[] = {{1, 3, 8, 4, 48, 0}, {1, 1, 8, 4, 48, 0}};
    static const plan two[] = {{1, 2, 8, 4, 48, 0}, {1, 1, 8, 4, 48, 0}};
    static const plan one[] = {{1, 1, 8, 4, 48, 0}, {1, 1, 8, 4, 48, 0}};
    static const plan alone[] = {{1, (uint32_t)PERF_INSTANCES_NONE, 4, 0, 12, 4},
                                 {1, (uint32_t)PERF_INSTANCES_NONE, 4, 0, 12, 4}};
    static const damage rows[] = {
        /* the last counter block says less than its 15 counters take; so do both */
        {many, {784, 64, 944, 64}, 0, "C784+128 READ_COUNTERS@784:64,128 V792+8 "},
        {many, {784, 64, 944, 64}, 0, "C944+128 READ_COUNTERS@944:64,128 V952+8 "},
        /* one is as long as the one before, or leaves its padding out, if no instance begins where its values end */
        {roomy, {304, 0}, 0, "C304+48 READ_COUNTERS@304:0,48 V312+8 I352+32:0,2 "},
        {two, {224, 44, 240, 96, 256, 24, 260, 72, 336, 16}, 0, "left out 1/0"},
        /* an instance ends behind its name's padding */
        {roomy, {272, 0}, 0, "I272+32:0,2 READ_INSTANCE@272:0,32 C304+48 V312+8 I352+32:0,2 "},
        {two,
         {20, 376, 28, 1, 88, 288, 272, 56, 292, 32, 328, 48, 192, 0},
         376,
         "I192+32:0,2 READ_INSTANCE@192:0,32 C224+48 V232+8 I272+56:0,2 "},
        /* what stands 4 bytes behind would be a counter block that ends with the object, but the first has another size */
        {two, {272, 36, 308, 44}, 0, "I272+32:0,2 READ_INSTANCE@272:36,32 C304+48 V312+8 O352+"},
        /* where they leave their padding out, all do */
        {NULL, {232, 28, 288, 28}, 0, "I232+32:2,4 READ_INSTANCE@232:28,32 C264+24 "},
        /* an object ends with its structures, or behind their padding */
        {alone, {88, 0}, 0, "O88+120 READ_OBJECT@88:0,120 D152+40 C192+12 V196+4 O208+116 "},
        {alone, {88, 121}, 0, "O88+120 READ_OBJECT@88:121,120 D152+40 C192+12 V196+4 O208+116 "},
        /* definitions begin behind the fixed fields, or the first instance behind the definitions */
        {one, {96, 72}, 0, "O88+184 READ_OBJECT_HEADER@96:72,64 D152+40 I192+32:0,2 C224+48 V232+8 "},
        {one,
         {96, 72, 160, 40, 196, 8, 200, 32, 232, 40},
         0,
         "O88+184~ DEFINITION_COUNT@120:1,0 I192+32:0,2 C224+48 O272+184 "},
        /* all definitions have 40 bytes where there is room for no more, or they are not read so */
        {NULL,
         {408, 0, 488, 0},
         0,
         "O344+256~ D408+40 DEFINITION_SIZE@408:0,80 I488+24:0,0 INSTANCE_SIZE@488:0,112 O600+256 "},
        /* two lengths are wrong, and what is behind the object is found all the same */
        {NULL, {488, 0, 576, 0}, 0, "D448+40 I488+24:0,0 INSTANCE_SIZE@488:0,112 O600+256 "},
        {NULL, {488, 40, 576, 0}, 0, "E 3/6/5/8 o88 o344 o600 left out 4/0"},
        /* a counter block that is too small has no values, though all but one lie in it and what follows is found */
        {NULL, {488, 40, 528, 11}, 0, "I488+32:2,4 READ_INSTANCE@488:40,32 C520+24 V528+8 V536+8 I544+32:2,4 "},
    };
    uint8_t data[SIZE + 8];
    perf_block_walk walk;

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        check_damage(&rows[i]);
    }
    /* a header ends with its name */
    build_named(data, false);
    put(data + 24, 0);
    perf_block_init(&walk, data, sizeof data);
    assert(perf_block_next(&walk) == PERF_BLOCK_HEADER && perf_block_next(&walk) == PERF_BLOCK_FAULT);
    assert(walk.fault.what == PERF_BLOCK_FAULT_READ_HEADER && walk.header.size == 96);
}

/* --- Any length of any block ---------------------------------------------------------------------------------------- */

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

/* A block that somebody could send: where its lengths are, and of each byte the number of the value that begins there. */
typedef struct {
    uint8_t data[8192];
    uint8_t values[8192];
    uint32_t lengths[256];
    uint32_t num_lengths;
} some_block;

static void put_length(some_block *block, uint32_t at, uint32_t length)
{
    put(block->data + at, length);
    block->lengths[block->num_lengths++] = at;
}

static uint32_t put_counters(some_block *block, uint32_t at, uint32_t size, const uint32_t *offsets, uint32_t count)
{
    put_length(block, at, size);
    for (uint32_t i = 4; i < size; i += 4) {
        put(block->data + at + i, 0x80000000 | random_below(0x7FFFFFFF)); /* no length */
    }
    for (uint32_t i = 0; i < count; i++) {
        block->values[at + offsets[i]] = (uint8_t)(i + 1);
    }
    return at + size;
}

static uint32_t put_some_object(some_block *block, uint32_t at)
{
    uint32_t begin = at, count = 1 + random_below(4), instances = random_below(5), offsets[4], end = 8;
    bool is_alone = random_below(5) == 0;

    put_length(block, begin + 4, 64 + 40 * count);
    put_length(block, begin + 8, 64);
    put(block->data + begin + 32, count);
    put(block->data + begin + 40, is_alone ? (uint32_t)PERF_INSTANCES_NONE : instances);
    at += 64;
    for (uint32_t i = 0; i < count; i++, at += 40) {
        uint32_t width = random_below(2) ? 4 : 8;
        offsets[i] = (end + width - 1) / width * width;
        end = offsets[i] + width;
        put_length(block, at, 40);
        put(block->data + at + 32, width);
        put(block->data + at + 36, offsets[i]);
    }
    for (uint32_t i = 0; i < (is_alone ? 1 : instances); i++) {
        uint32_t name = 2 + 2 * random_below(9), size = (24 + name + 7) / 8 * 8;
        if (!is_alone) {
            put_length(block, at, size);
            put(block->data + at + 16, 24);
            put(block->data + at + 20, name);
            at += size;
        }
        at = put_counters(block, at, (end + 7) / 8 * 8, offsets, count);
    }
    put_length(block, begin, at - begin);
    return at;
}

static uint32_t build_some(some_block *block)
{
    uint32_t objects = 1 + random_below(3), at = 88;

    memset(block, 0, sizeof *block);
    memcpy(block->data, "P\0E\0R\0F", 8);
    put(block->data + 8, 1);
    put(block->data + 12, 1);
    put_length(block, 24, 88);
    put(block->data + 28, objects);
    for (uint32_t i = 0; i < objects; i++) {
        at = put_some_object(block, at);
    }
    put_length(block, 20, at);
    return at;
}

/* Values that the walk announces; each of them is one. */
static uint32_t count_true_values(const some_block *block, uint32_t size)
{
    perf_block_walk walk;
    perf_block_event event;
    uint32_t count = 0;

    perf_block_init(&walk, block->data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_VALUE) {
            assert(block->values[walk.value.offset] == 1 + (walk.value.definition - walk.object.offset - 64) / 40);
            count++;
        }
    }
    return count;
}

/* One length is wrong, by a little or by anything: hardly ever more than one reading fits, and no value is taken from where none is. */
static void test_any_length(void)
{
    static some_block block;
    uint32_t whole = 0;

    for (int round = 0; round < 20000; round++) {
        uint32_t size = build_some(&block), values = count_true_values(&block, size);
        uint32_t at = block.lengths[random_below(block.num_lengths)], said = perf_le32(block.data + at);
        const uint32_t lies[] = {0,        random_below(200), said + 8,   said - 8,
                                 said + 4, said - 4,          0xFFFFFFFF, 8 * random_below(40)};
        put(block.data + at, lies[random_below(8)]);
        whole += count_true_values(&block, size) == values;
    }
    assert(whole > 19900);
}

/* --- What it costs --------------------------------------------------------------------------------------------- */

static void test_more_than_32_bits_of_values(void)
{
    uint32_t size;
    uint8_t *data = build_many(70000, 70000, &size);
    perf_block_summary summary;

    assert(perf_block_check(data, size, &summary));
    assert(summary.values == 4900000000U && summary.values > UINT32_MAX);
    free(data);
}

/* Events of a walk that looks at no values: in proportion to the bytes, also where definitions are wrong. */
static uint32_t steps_of(uint32_t n, bool bad)
{
    uint32_t size, steps = 0, faults = 0;
    uint8_t *data = build_many(n, n, &size);
    perf_block_walk walk;
    perf_block_event event;

    for (uint32_t i = 0; bad && i < n; i += 2) {
        put(data + 88 + 64 + i * 40 + 36, 0xFFFFFFF0);
    }
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        steps++;
        faults += event == PERF_BLOCK_FAULT;
        assert(perf_block_values_left(&walk) == 0 || (!bad && perf_block_values_left(&walk) == n));
        perf_block_skip_values(&walk);
    }
    assert(faults == bad);
    free(data);
    return steps;
}

static void test_growth(void)
{
    for (int bad = 0; bad < 2; bad++) {
        uint32_t once = steps_of(1000, bad), twice = steps_of(2000, bad), four = steps_of(4000, bad);
        assert(twice <= 2 * once + 2 && four <= 2 * twice + 2);
    }
}

int main(void)
{
    test_fields();
    test_text_size();
    test_signature();
    test_every_cut();
    test_every_number();
    test_one_finding_for_one_cause();
    test_damage();
    test_lengths_that_contradict();
    test_any_length();
    test_more_than_32_bits_of_values();
    test_growth();
    return 0;
}
