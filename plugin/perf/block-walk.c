/* block-walk.c
 * One bounded walk through the PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/block-walk.h"

#include <string.h>

#include "perf/bytes.h"

/* Code pages that mean UTF-16. */
#define CODE_PAGE_NONE 0
#define CODE_PAGE_UTF16 1200

/* What perf_block_next() reads next. */
enum {
    NEXT_HEADER,
    NEXT_OBJECT,
    NEXT_OBJECT_PARTS,
    NEXT_DEFINITION,
    NEXT_BODIES,
    NEXT_INSTANCE,
    NEXT_INSTANCE_NAME,
    NEXT_COUNTERS,
    NEXT_VALUE,
    NEXT_FAULT,
    NEXT_OBJECT_END,
    NEXT_TRAILER,
    NEXT_NOTHING
};

#define PERF_BLOCK_FAULT_TEXT(name, text) text,
const char *const perf_block_fault_text[PERF_NUM_BLOCK_FAULTS] = {PERF_BLOCK_FAULTS(PERF_BLOCK_FAULT_TEXT)};

uint32_t perf_block_u32(const perf_block_walk *walk, uint32_t offset)
{
    return walk->big_endian ? perf_be32(walk->data + offset) : perf_le32(walk->data + offset);
}

uint64_t perf_block_u64(const perf_block_walk *walk, uint32_t offset)
{
    return walk->big_endian ? perf_be64(walk->data + offset) : perf_le64(walk->data + offset);
}

bool perf_block_wide_names(const perf_block_walk *walk)
{
    return walk->object.code_page == CODE_PAGE_NONE || walk->object.code_page == CODE_PAGE_UTF16;
}

static bool has_signature(const uint8_t *data, const char *signature)
{
    return memcmp(data, signature, PERF_SIGNATURE_SIZE) == 0;
}

bool perf_block_is(const uint8_t *data, uint32_t size)
{
    return size >= PERF_SIGNATURE_SIZE && (has_signature(data, "P\0E\0R\0F") || has_signature(data, "\0P\0E\0R\0F"));
}

void perf_block_init(perf_block_walk *walk, const uint8_t *data, uint32_t size)
{
    memset(walk, 0, sizeof *walk);
    walk->data = data;
    walk->size = size;
    walk->state = NEXT_HEADER;
}

void perf_block_skip_object(perf_block_walk *walk)
{
    if (walk->state == NEXT_FAULT && walk->then == NEXT_NOTHING) {
        return; /* where the next object is is not known */
    }
    walk->pos = walk->object.end;
    walk->state = NEXT_OBJECT;
}

void perf_block_skip_values(perf_block_walk *walk)
{
    walk->state = walk->instance.number == PERF_NO_INSTANCE_NUMBER ? NEXT_OBJECT_END : NEXT_INSTANCE;
}

static perf_block_event fault(perf_block_walk *walk, perf_block_fault what, uint32_t offset, uint8_t next)
{
    walk->fault = what;
    walk->fault_offset = offset;
    walk->state = next;
    return PERF_BLOCK_FAULT;
}

/* Announces a structure; the fault is the next event. */
static perf_block_event announce_faulty(perf_block_walk *walk, perf_block_event event, perf_block_fault what,
                                        uint32_t offset, uint8_t then)
{
    fault(walk, what, offset, NEXT_FAULT);
    walk->then = then;
    return event;
}

static perf_block_event report_fault(perf_block_walk *walk)
{
    walk->state = walk->then;
    return PERF_BLOCK_FAULT;
}

/* Bytes of text before its terminator, at most `room` of them. */
static uint32_t text_size(const uint8_t *text, uint32_t room, bool wide)
{
    uint32_t unit = wide ? 2 : 1;
    uint32_t n = 0;

    while (n + unit <= room && (text[n] != 0 || (wide && text[n + 1] != 0))) {
        n += unit;
    }
    return n;
}

/* --- PERF_DATA_BLOCK ------------------------------------------------------------------------------------------- */

static perf_block_event read_header(perf_block_walk *walk)
{
    if (walk->size < PERF_DATA_BLOCK_SIZE || !perf_block_is(walk->data, walk->size)) {
        return fault(walk, PERF_BLOCK_FAULT_HEADER_SHORT, 0, NEXT_NOTHING);
    }
    walk->big_endian = perf_le32(walk->data + 8) == 0;
    walk->big_endian_text = walk->data[0] == 0;
    walk->header.size = perf_block_u32(walk, 24);
    walk->objects_left = perf_block_u32(walk, 28);
    walk->header.name_room = perf_block_u32(walk, 80);
    walk->header.name = perf_block_u32(walk, 84);
    walk->object.number = UINT32_MAX;
    if (walk->header.size < PERF_DATA_BLOCK_SIZE || walk->header.size > walk->size) {
        walk->header.size = PERF_DATA_BLOCK_SIZE;
        walk->header.name_room = 0;
        return announce_faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_HEADER_SIZE, 24, NEXT_NOTHING);
    }
    walk->pos = walk->header.size;
    uint32_t at = walk->header.name;
    if (walk->header.name_room > 0 &&
        (at < PERF_DATA_BLOCK_SIZE || at > walk->header.size || walk->header.name_room > walk->header.size - at)) {
        walk->header.name_room = 0;
        return announce_faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_SYSTEM_NAME, 84, NEXT_OBJECT);
    }
    walk->header.name_size = text_size(walk->data + at * (walk->header.name_room > 0), walk->header.name_room, true);
    walk->state = NEXT_OBJECT;
    return PERF_BLOCK_HEADER;
}

/* The block's own total is checked at the end, where it can no longer hide what was readable. Samba leaves the header
 * out of it. */
static perf_block_event read_trailer(perf_block_walk *walk)
{
    uint32_t total = perf_block_u32(walk, 20);

    if (walk->pos < walk->size && walk->size - walk->pos >= 8) {
        uint32_t at = walk->pos;
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_TRAILING, at, NEXT_TRAILER);
    }
    if (total != walk->size && total != walk->size - walk->header.size) {
        return fault(walk, PERF_BLOCK_FAULT_TOTAL_SIZE, 20, NEXT_NOTHING);
    }
    walk->state = NEXT_NOTHING;
    return PERF_BLOCK_END;
}

/* --- PERF_OBJECT_TYPE ------------------------------------------------------------------------------------------ */

/* Samba fills a buffer that is too small with zeros behind the header, and calls that a success. */
static bool is_blank(const uint8_t *object)
{
    static const uint8_t zeros[PERF_OBJECT_TYPE_SIZE];

    return memcmp(object, zeros, sizeof zeros) == 0;
}

static perf_block_event read_object(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->size - at;

    if (walk->objects_left == 0) {
        walk->state = NEXT_TRAILER;
        return perf_block_next(walk);
    }
    if (left < PERF_OBJECT_TYPE_SIZE) {
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_COUNT, at, NEXT_TRAILER);
    }
    if (is_blank(walk->data + at)) {
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_BLANK, at, NEXT_NOTHING);
    }
    walk->objects_left--;
    walk->object.number++;
    walk->object.offset = at;
    walk->object.index = perf_block_u32(walk, at + 12);
    walk->object.num_instances = (int32_t)perf_block_u32(walk, at + 40);
    walk->object.code_page = perf_block_u32(walk, at + 44);
    walk->object.bodies = walk->object.num_definitions = walk->object.reach = 0;
    walk->instance.number = PERF_NO_INSTANCE_NUMBER;
    uint32_t size = perf_block_u32(walk, at);
    walk->object.end = at + (size < left ? size : left);
    if (size < PERF_OBJECT_TYPE_SIZE) {
        walk->object.end = at + PERF_OBJECT_TYPE_SIZE;
        return announce_faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_SIZE_SMALL, at, NEXT_NOTHING);
    }
    if (size > left) {
        return announce_faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_SIZE_LARGE, at, NEXT_OBJECT_PARTS);
    }
    walk->state = NEXT_OBJECT_PARTS;
    return PERF_BLOCK_OBJECT;
}

/* Where the definitions and the instances are. */
static perf_block_event read_object_parts(perf_block_walk *walk)
{
    uint32_t at = walk->object.offset;
    uint32_t room = walk->object.end - at;
    uint32_t definitions_end = perf_block_u32(walk, at + 4);
    uint32_t header = perf_block_u32(walk, at + 8);

    walk->left = perf_block_u32(walk, at + 32);
    walk->definition.number = UINT32_MAX;
    if (header < PERF_OBJECT_TYPE_SIZE || header > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_HEADER, at + 8, NEXT_OBJECT_END);
    }
    walk->pos = walk->object.definitions = at + header;
    walk->state = NEXT_DEFINITION;
    if (definitions_end < header || definitions_end > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_DEFINITIONS, at + 4, NEXT_DEFINITION);
    }
    walk->object.bodies = at + definitions_end;
    return perf_block_next(walk);
}

/* --- PERF_COUNTER_DEFINITION ----------------------------------------------------------------------------------- */

static perf_block_event end_definitions(perf_block_walk *walk, uint32_t limit)
{
    uint32_t left = limit - walk->pos;
    uint32_t size = left >= PERF_COUNTER_DEFINITION_SIZE ? perf_block_u32(walk, walk->pos) : 0;

    walk->state = NEXT_BODIES;
    if (walk->object.bodies != 0 && size >= PERF_COUNTER_DEFINITION_SIZE && size <= left) {
        return fault(walk, PERF_BLOCK_FAULT_DEFINITION_REST, walk->pos, NEXT_BODIES);
    }
    return perf_block_next(walk);
}

static void note_reach(perf_block_walk *walk, uint32_t definition)
{
    uint64_t size = perf_block_u32(walk, definition + 32);
    uint64_t offset = perf_block_u32(walk, definition + 36);
    uint64_t reach = offset + size;

    if (size == 0) {
        return;
    }
    if (offset < PERF_COUNTER_BLOCK_SIZE || reach > UINT32_MAX) {
        walk->object.reach = UINT32_MAX;
    } else if (reach > walk->object.reach) {
        walk->object.reach = (uint32_t)reach;
    }
}

static perf_block_event read_definition(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t limit = walk->object.bodies != 0 ? walk->object.bodies : walk->object.end;

    if (walk->left == 0) {
        return end_definitions(walk, limit);
    }
    if (limit - at < PERF_COUNTER_DEFINITION_SIZE) {
        return fault(walk, PERF_BLOCK_FAULT_DEFINITION_COUNT, at, NEXT_BODIES);
    }
    uint32_t size = perf_block_u32(walk, at);
    walk->left--;
    walk->definition.number++;
    walk->definition.offset = at;
    walk->definition.size = size;
    if (size < PERF_COUNTER_DEFINITION_SIZE || size > limit - at) {
        walk->definition.size = PERF_COUNTER_DEFINITION_SIZE;
        return announce_faulty(walk, PERF_BLOCK_DEFINITION, PERF_BLOCK_FAULT_DEFINITION_SIZE, at, NEXT_BODIES);
    }
    walk->object.num_definitions++;
    note_reach(walk, at);
    walk->pos = at + size;
    return PERF_BLOCK_DEFINITION;
}

/* --- PERF_INSTANCE_DEFINITION ---------------------------------------------------------------------------------- */

static perf_block_event read_bodies(perf_block_walk *walk)
{
    int32_t count = walk->object.num_instances;

    walk->state = NEXT_OBJECT_END;
    if (walk->object.bodies == 0) {
        return perf_block_next(walk);
    }
    walk->pos = walk->object.bodies;
    if (count >= 0) {
        walk->left = (uint32_t)count;
        walk->state = NEXT_INSTANCE;
    } else if (count == PERF_INSTANCES_NONE) {
        walk->state = NEXT_COUNTERS;
    } else if (count < PERF_INSTANCES_METADATA_NONE) {
        return fault(walk, PERF_BLOCK_FAULT_INSTANCES_NUMBER, walk->object.offset + 40, NEXT_OBJECT_END);
    }
    return perf_block_next(walk);
}

/* What is left of an object is padding, unless it is clearly another instance with its counters. */
static perf_block_event end_instances(perf_block_walk *walk)
{
    uint32_t left = walk->object.end - walk->pos;
    uint32_t size = left >= PERF_INSTANCE_DEFINITION_SIZE ? perf_block_u32(walk, walk->pos) : 0;

    if (size >= PERF_INSTANCE_DEFINITION_SIZE && size % 8 == 0 && left >= PERF_COUNTER_BLOCK_SIZE &&
        size <= left - PERF_COUNTER_BLOCK_SIZE) {
        uint32_t counters = perf_block_u32(walk, walk->pos + size);
        if (counters >= PERF_COUNTER_BLOCK_SIZE && counters <= left - size) {
            return fault(walk, PERF_BLOCK_FAULT_INSTANCE_REST, walk->pos, NEXT_OBJECT_END);
        }
    }
    walk->state = NEXT_OBJECT_END;
    return perf_block_next(walk);
}

static perf_block_event read_instance(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.end - at;

    if (walk->left == 0) {
        return end_instances(walk);
    }
    if (left < PERF_INSTANCE_DEFINITION_SIZE) {
        return fault(walk, PERF_BLOCK_FAULT_INSTANCE_COUNT, at, NEXT_OBJECT_END);
    }
    walk->left--;
    walk->instance.number++;
    walk->instance.offset = at;
    walk->instance.size = perf_block_u32(walk, at);
    walk->instance.parent_object = perf_block_u32(walk, at + 4);
    walk->instance.parent_instance = perf_block_u32(walk, at + 8);
    walk->instance.unique_id = perf_block_u32(walk, at + 12);
    walk->instance.name = at;
    walk->instance.name_size = 0;
    walk->instance.name_room = 0;
    if (walk->instance.size < PERF_INSTANCE_DEFINITION_SIZE || walk->instance.size > left) {
        walk->instance.size = PERF_INSTANCE_DEFINITION_SIZE;
        return announce_faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_SIZE, at, NEXT_OBJECT_END);
    }
    walk->pos = at + walk->instance.size;
    walk->state = NEXT_INSTANCE_NAME;
    return perf_block_next(walk);
}

/* NameLength counts the terminator, and in some servers the padding. A terminator right behind it will do too. */
static bool find_name(perf_block_walk *walk, uint32_t room)
{
    bool wide = perf_block_wide_names(walk);
    uint32_t left = walk->instance.offset + walk->instance.size - walk->instance.name;
    uint32_t size = text_size(walk->data + walk->instance.name, room, wide);
    uint32_t with_terminator = text_size(walk->data + walk->instance.name, left, wide) + (wide ? 2 : 1);

    walk->instance.name_size = size;
    walk->instance.name_room = size + (wide ? 2 : 1) <= room ? size + (wide ? 2 : 1) : size;
    return (size < room || with_terminator == room + (wide ? 2 : 1)) && !(wide && room % 2 != 0);
}

static perf_block_event read_instance_name(perf_block_walk *walk)
{
    uint32_t at = walk->instance.offset;
    uint32_t offset = perf_block_u32(walk, at + 16);
    uint32_t room = perf_block_u32(walk, at + 20);

    walk->state = NEXT_COUNTERS;
    if (room > 0 && (offset < PERF_INSTANCE_DEFINITION_SIZE || offset > walk->instance.size ||
                     room > walk->instance.size - offset)) {
        return announce_faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_NAME, at, NEXT_COUNTERS);
    }
    walk->instance.name = room > 0 ? at + offset : at;
    if (room > 0 && !find_name(walk, room)) {
        return announce_faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_TEXT, at, NEXT_COUNTERS);
    }
    if (walk->instance.size % 8 != 0) {
        return announce_faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_ODD, at, NEXT_COUNTERS);
    }
    return PERF_BLOCK_INSTANCE;
}

/* --- PERF_COUNTER_BLOCK ---------------------------------------------------------------------------------------- */

static perf_block_event read_counters(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.end - at;

    if (left < PERF_COUNTER_BLOCK_SIZE) {
        return fault(walk, PERF_BLOCK_FAULT_COUNTERS_MISSING, at, NEXT_OBJECT_END);
    }
    walk->counters.offset = at;
    walk->counters.size = perf_block_u32(walk, at);
    if (walk->counters.size < PERF_COUNTER_BLOCK_SIZE || walk->counters.size > left) {
        walk->counters.size = PERF_COUNTER_BLOCK_SIZE;
        return announce_faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_SIZE, at, NEXT_OBJECT_END);
    }
    walk->pos = at + walk->counters.size;
    walk->value.column = UINT32_MAX;
    walk->state = NEXT_VALUE;
    if (walk->counters.size % 8 != 0) {
        return announce_faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_ODD, at, NEXT_VALUE);
    }
    return PERF_BLOCK_COUNTERS;
}

/* The definitions were checked when they were announced. */
static perf_block_event read_value(perf_block_walk *walk)
{
    if (walk->value.column + 1 == walk->object.num_definitions) {
        perf_block_skip_values(walk);
        return perf_block_next(walk);
    }
    walk->value.column++;
    walk->value.definition = walk->value.column == 0
                                 ? walk->object.definitions
                                 : walk->value.definition + perf_block_u32(walk, walk->value.definition);
    uint32_t size = perf_block_u32(walk, walk->value.definition + 32);
    uint32_t offset = perf_block_u32(walk, walk->value.definition + 36);
    walk->value.size = size;
    walk->value.offset = walk->counters.offset + (size > 0 ? offset : 0);
    if (size > 0 &&
        (offset < PERF_COUNTER_BLOCK_SIZE || offset > walk->counters.size || size > walk->counters.size - offset)) {
        return fault(walk, PERF_BLOCK_FAULT_VALUE_PLACE, walk->value.definition, NEXT_VALUE);
    }
    return PERF_BLOCK_VALUE;
}

/* --- The block ------------------------------------------------------------------------------------------------- */

perf_block_event perf_block_next(perf_block_walk *walk)
{
    switch (walk->state) {
    case NEXT_VALUE:
        return read_value(walk);
    case NEXT_INSTANCE:
        return read_instance(walk);
    case NEXT_INSTANCE_NAME:
        return read_instance_name(walk);
    case NEXT_COUNTERS:
        return read_counters(walk);
    case NEXT_DEFINITION:
        return read_definition(walk);
    case NEXT_BODIES:
        return read_bodies(walk);
    case NEXT_OBJECT_PARTS:
        return read_object_parts(walk);
    case NEXT_OBJECT_END:
        perf_block_skip_object(walk);
        return read_object(walk);
    case NEXT_OBJECT:
        return read_object(walk);
    case NEXT_HEADER:
        return read_header(walk);
    case NEXT_FAULT:
        return report_fault(walk);
    case NEXT_TRAILER:
        return read_trailer(walk);
    default:
        return PERF_BLOCK_END;
    }
}

/* The definitions tell once for all instances how much a counter block has to hold. */
static bool all_values_fit(const perf_block_walk *walk)
{
    return walk->object.reach <= walk->counters.size;
}

bool perf_block_check(const uint8_t *data, uint32_t size, perf_block_summary *summary)
{
    perf_block_walk walk;
    perf_block_event event;

    memset(summary, 0, sizeof *summary);
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        summary->objects += event == PERF_BLOCK_OBJECT;
        summary->definitions += event == PERF_BLOCK_DEFINITION;
        summary->instances += event == PERF_BLOCK_INSTANCE;
        summary->values += event == PERF_BLOCK_VALUE;
        summary->faults += event == PERF_BLOCK_FAULT;
        if (event == PERF_BLOCK_COUNTERS && walk.state == NEXT_VALUE && all_values_fit(&walk)) {
            summary->values += walk.object.num_definitions;
            perf_block_skip_values(&walk);
        }
    }
    return summary->faults == 0;
}
