/* block-walk.c
 * One bounded walk through the PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/block-walk.h"

#include <string.h>
#include "perf/bytes.h"

/* --- The places of structures ------------------------------------------------------------------------------------- */

static bool has_signature(const uint8_t *data, const char *signature)
{
    return memcmp(data, signature, PERF_SIGNATURE_SIZE) == 0;
}

bool perf_block_is(const uint8_t *data, uint32_t size)
{
    return size >= PERF_SIGNATURE_SIZE && (has_signature(data, "P\0E\0R\0F") || has_signature(data, "\0P\0E\0R\0F"));
}

uint32_t perf_block_text_size(const uint8_t *text, uint32_t room, bool wide)
{
    const uint8_t *end = wide ? NULL : memchr(text, 0, room);

    return wide ? perf_utf16_size(text, room) : end ? (uint32_t)(end - text) : room;
}

/* Whether the header's own fields place its name inside it. */
static bool system_name_fits(const perf_block_walk *walk)
{
    uint32_t at = walk->header.name;

    return at >= PERF_DATA_BLOCK_SIZE && at <= walk->header.size && walk->header.name_room <= walk->header.size - at;
}

/* Whether a counter block of this object can be `step` bytes behind `at`. */
static bool counters_follow(const perf_block_walk *walk, uint32_t at, uint32_t step)
{
    uint32_t left = walk->object.end - at;

    if (step > left || left - step < PERF_COUNTER_BLOCK_SIZE) {
        return false;
    }
    uint32_t size = perf_block_u32(walk, at + step);
    return size >= PERF_COUNTER_BLOCK_SIZE && size >= walk->object.reach && size <= left - step;
}

/* Whether the next instance, or the object's end, can be `step` bytes behind `at`. */
static bool instance_follows(const perf_block_walk *walk, uint32_t at, uint32_t step)
{
    uint32_t left = walk->object.end - at;

    if (step > left) {
        return false;
    }
    left -= step;
    if (walk->left == 0 || walk->instance.number == PERF_NO_INSTANCE_NUMBER) {
        return left < 8 || walk->object.open_end;
    }
    if (left <= PERF_INSTANCE_DEFINITION_SIZE) {
        return false;
    }
    uint32_t size = perf_block_u32(walk, at + step);
    return size >= PERF_INSTANCE_DEFINITION_SIZE && size <= left && counters_follow(walk, at + step, size);
}

/* Bytes from a structure at `at` to what follows it, 0 if ByteLength is wrong. One that is no multiple of 8 leaves padding out, if
 * that follows there and not where it leads. */
static uint32_t step_from(const perf_block_walk *walk, uint32_t at, uint32_t least,
                          bool (*follows)(const perf_block_walk *walk, uint32_t at, uint32_t step))
{
    uint32_t size = perf_block_u32(walk, at);

    if (size < least || size > walk->object.end - at) {
        return 0;
    }
    bool is_padded = !follows(walk, at, size) && follows(walk, at, perf_align8(size));
    return is_padded ? perf_align8(size) : size;
}

static uint32_t instance_step(const perf_block_walk *walk, uint32_t at)
{
    return step_from(walk, at, PERF_INSTANCE_DEFINITION_SIZE, counters_follow);
}

/* Two of three sizes must make sense, since one of them may be wrong. */
static bool object_begins(const perf_block_walk *walk, uint32_t at)
{
    if (at > walk->size || walk->size - at < PERF_OBJECT_TYPE_SIZE) {
        return false;
    }
    uint32_t left = walk->size - at;
    uint32_t total = perf_block_u32(walk, at);
    uint32_t definitions = perf_block_u32(walk, at + 4);
    uint32_t header = perf_block_u32(walk, at + 8);
    uint64_t counters = perf_block_u32(walk, at + 32);
    bool total_fits = total >= PERF_OBJECT_TYPE_SIZE && total <= left;
    bool header_fits = header >= PERF_OBJECT_TYPE_SIZE && header <= left;
    bool definitions_fit = counters > 0 && definitions >= PERF_OBJECT_TYPE_SIZE && definitions <= left &&
                           counters * PERF_COUNTER_DEFINITION_SIZE <= definitions - PERF_OBJECT_TYPE_SIZE;
    return total_fits + header_fits + definitions_fit >= 2;
}

/* The place of a definition's value, by a counter block's room. */
static bool value_fits(const perf_block_walk *walk, uint32_t definition, uint32_t room)
{
    uint32_t size = perf_block_u32(walk, definition + 32);
    uint32_t offset = perf_block_u32(walk, definition + 36);

    return size == 0 || (offset >= PERF_COUNTER_BLOCK_SIZE && offset <= room && size <= room - offset);
}

/* What a counter block of the object has room for: all have the same size, and the first one tells it. */
static uint32_t counters_room(const perf_block_walk *walk)
{
    uint32_t at = walk->object.bodies;

    if (walk->object.num_instances > 0) {
        uint32_t step = walk->object.end - at >= PERF_INSTANCE_DEFINITION_SIZE ? instance_step(walk, at) : 0;
        at = step > 0 ? at + step : walk->object.end;
    }
    uint32_t left = walk->object.end - at, size = left >= PERF_COUNTER_BLOCK_SIZE ? perf_block_u32(walk, at) : 0;
    return size >= PERF_COUNTER_BLOCK_SIZE && size <= left ? size : UINT32_MAX;
}

/* --- The walk ----------------------------------------------------------------------------------------------------- */

/* What perf_block_next() reads next. */
enum {
    NEXT_HEADER,
    NEXT_HEADER_CHECK,
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

const perf_fault_info perf_block_fault_infos[PERF_NUM_BLOCK_FAULTS] = {PERF_BLOCK_FAULTS(PERF_FAULT_INFO)};

void perf_block_init(perf_block_walk *walk, const uint8_t *data, uint32_t size)
{
    memset(walk, 0, sizeof *walk);
    walk->data = data;
    walk->size = size;
    walk->state = NEXT_HEADER;
}

/* Where an object's own size is wrong only its structures lead to the next one. */
static void pass_structures(perf_block_walk *walk)
{
    bool one_object = walk->one_object;

    walk->one_object = true;
    while (perf_block_next(walk) != PERF_BLOCK_END) {
        if (walk->state == NEXT_VALUE) {
            perf_block_skip_values(walk);
        }
    }
    walk->one_object = one_object;
}

void perf_block_skip_object(perf_block_walk *walk)
{
    if (walk->object.number == UINT32_MAX || walk->state < NEXT_OBJECT_PARTS || walk->state > NEXT_FAULT) {
        return; /* it is in no object */
    }
    if (walk->object.open_end) {
        pass_structures(walk);
    }
    walk->state = NEXT_OBJECT_END;
}

bool perf_block_next_object(perf_block_walk *walk)
{
    perf_block_event event;

    perf_block_skip_object(walk);
    do {
        event = perf_block_next(walk);
    } while (event != PERF_BLOCK_OBJECT && event != PERF_BLOCK_END);
    return event == PERF_BLOCK_OBJECT;
}

void perf_block_skip_values(perf_block_walk *walk)
{
    walk->state = walk->instance.number == PERF_NO_INSTANCE_NUMBER ? NEXT_OBJECT_END : NEXT_INSTANCE;
}

uint32_t perf_block_values_left(const perf_block_walk *walk)
{
    return walk->state == NEXT_VALUE ? walk->object.num_values - walk->value.announced : 0;
}

static perf_block_event fault(perf_block_walk *walk, perf_block_fault what, uint32_t offset, uint32_t stated,
                              uint32_t found, uint8_t next)
{
    walk->fault = (perf_fault){what, offset, stated, found};
    walk->state = next;
    return PERF_BLOCK_FAULT;
}

/* Announces a structure; the fault is the next event. */
static perf_block_event faulty(perf_block_walk *walk, perf_block_event event, perf_block_fault what, uint32_t offset,
                               uint32_t stated, uint32_t found, uint8_t then)
{
    fault(walk, what, offset, stated, found, NEXT_FAULT);
    walk->then = then;
    return event;
}

/* --- PERF_DATA_BLOCK ------------------------------------------------------------------------------------------- */

static perf_block_event read_header(perf_block_walk *walk)
{
    if (walk->size < PERF_DATA_BLOCK_SIZE || !perf_block_is(walk->data, walk->size)) {
        return fault(walk, PERF_BLOCK_FAULT_HEADER_SHORT, 0, walk->size, PERF_DATA_BLOCK_SIZE, NEXT_NOTHING);
    }
    uint32_t little_endian = perf_le32(walk->data + 8);
    walk->big_endian_text = walk->data[0] == 0;
    walk->big_endian = little_endian == 0 || (little_endian != 1 && walk->big_endian_text);
    walk->header.size = perf_block_u32(walk, 24);
    walk->objects_left = perf_block_u32(walk, 28);
    walk->header.name_room = perf_block_u32(walk, 80);
    walk->header.name = perf_block_u32(walk, 84);
    walk->object.number = UINT32_MAX;
    if (walk->header.size < PERF_DATA_BLOCK_SIZE || walk->header.size > walk->size) {
        uint32_t stated = walk->header.size;
        walk->header.size = PERF_DATA_BLOCK_SIZE;
        walk->header.name_room = 0;
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_HEADER_SIZE, 24, stated, walk->size, NEXT_NOTHING);
    }
    walk->pos = walk->header.size;
    if (!system_name_fits(walk)) {
        walk->header.name_room = 0;
    }
    walk->header.name_size = perf_block_text_size(walk->data + (walk->header.name_room > 0 ? walk->header.name : 0),
                                                  walk->header.name_room, true);
    walk->state = NEXT_HEADER_CHECK;
    return PERF_BLOCK_HEADER;
}

/* What is wrong with the header's fields, one by one. */
static perf_block_event check_header(perf_block_walk *walk)
{
    uint32_t little_endian = perf_le32(walk->data + 8);
    uint32_t version = perf_block_u32(walk, 12);
    uint32_t name_size = perf_block_u32(walk, 80);
    uint32_t name = perf_block_u32(walk, 84);
    uint32_t name_end = name <= UINT32_MAX - name_size ? name + name_size : UINT32_MAX;
    bool outside = name_size > 0 && walk->header.name_room == 0;
    const struct {
        bool wrong;
        perf_block_fault fault;
        uint32_t offset, stated, found;
    } checks[] = {
        {little_endian > 1, PERF_BLOCK_FAULT_LITTLE_ENDIAN, 8, little_endian, 1},
        {version != 1, PERF_BLOCK_FAULT_VERSION, 12, version, 1},
        {outside, PERF_BLOCK_FAULT_SYSTEM_NAME, 84, name_end, walk->header.size},
        {!outside && name_size % 2 != 0, PERF_BLOCK_FAULT_SYSTEM_NAME_ODD, 80, name_size, 2},
    };

    while (walk->check < sizeof checks / sizeof *checks) {
        unsigned i = walk->check++;
        if (checks[i].wrong) {
            return fault(walk, checks[i].fault, checks[i].offset, checks[i].stated, checks[i].found, NEXT_HEADER_CHECK);
        }
    }
    walk->state = NEXT_OBJECT;
    return perf_block_next(walk);
}

/* The block's own total is checked at the end, where it can no longer hide what was readable. Samba leaves the header
 * out of it. */
static perf_block_event read_trailer(perf_block_walk *walk)
{
    uint32_t total = perf_block_u32(walk, 20);

    if (walk->pos < walk->size && walk->size - walk->pos >= 8) {
        uint32_t at = walk->pos;
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_TRAILING, at, walk->size - at, walk->object.number + 1, NEXT_NOTHING);
    }
    if (total != walk->size && total != walk->size - walk->header.size) {
        return fault(walk, PERF_BLOCK_FAULT_TOTAL_SIZE, 20, total, walk->size, NEXT_NOTHING);
    }
    walk->state = NEXT_NOTHING;
    return PERF_BLOCK_END;
}

/* --- PERF_OBJECT_TYPE ------------------------------------------------------------------------------------------ */

static void enter_object(perf_block_walk *walk)
{
    uint32_t at = walk->pos;

    walk->objects_left--;
    uint32_t number = walk->object.number + 1;
    memset(&walk->object, 0, sizeof walk->object);
    walk->object.number = number;
    walk->object.offset = at;
    walk->object.index = perf_block_u32(walk, at + 12);
    walk->object.num_instances = (int32_t)perf_block_u32(walk, at + 40);
    walk->object.code_page = perf_block_u32(walk, at + 44);
    walk->instance.number = PERF_NO_INSTANCE_NUMBER;
}

/* A TotalByteLength that leads nowhere still leaves the object readable: its structures lead to its end. */
static perf_block_event read_object_size(perf_block_walk *walk)
{
    uint32_t at = walk->object.offset;
    uint32_t left = walk->size - at;
    uint32_t size = perf_block_u32(walk, at);

    walk->object.end = at + (size < left ? size : left);
    if (size < PERF_OBJECT_TYPE_SIZE || size > left) {
        walk->object.end = walk->size;
        walk->object.open_end = true;
        return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_SIZE, at, size, left, NEXT_OBJECT_PARTS);
    }
    if (size % 8 != 0 && walk->objects_left > 0 && !object_begins(walk, at + size) &&
        object_begins(walk, at + perf_align8(size))) {
        walk->object.end = at + perf_align8(size);
        return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_ODD, at, size, perf_align8(size),
                      NEXT_OBJECT_PARTS);
    }
    walk->state = NEXT_OBJECT_PARTS;
    return PERF_BLOCK_OBJECT;
}

static perf_block_event read_object(perf_block_walk *walk)
{
    static const uint8_t zeros[PERF_OBJECT_TYPE_SIZE];
    uint32_t at = walk->pos;
    uint32_t announced = perf_block_u32(walk, 28);

    if (walk->objects_left == 0) {
        walk->state = NEXT_TRAILER;
        return perf_block_next(walk);
    }
    if (walk->size - at < PERF_OBJECT_TYPE_SIZE) {
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_COUNT, 28, announced, walk->object.number + 1, NEXT_NOTHING);
    }
    /* Samba fills a buffer that is too small with zeros behind the header, and calls that a success */
    if (memcmp(walk->data + at, zeros, sizeof zeros) == 0) {
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_BLANK, 28, announced, walk->object.number + 1, NEXT_NOTHING);
    }
    enter_object(walk);
    return read_object_size(walk);
}

/* Behind an object whose size is wrong the next one begins where it ends, or it cannot be found. */
static perf_block_event end_object(perf_block_walk *walk)
{
    walk->state = NEXT_OBJECT;
    if (walk->one_object) {
        walk->state = NEXT_NOTHING;
    } else if (!walk->object.open_end) {
        walk->pos = walk->object.end;
    } else if (walk->objects_left == 0) {
        walk->pos = walk->size;
    } else if (!object_begins(walk, walk->pos)) {
        walk->pos = perf_align8(walk->pos);
        walk->state = object_begins(walk, walk->pos) ? NEXT_OBJECT : NEXT_NOTHING;
    }
    return perf_block_next(walk);
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
    walk->object.room = UINT32_MAX;
    if (header < PERF_OBJECT_TYPE_SIZE || header > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_HEADER, at + 8, header, room, NEXT_OBJECT_END);
    }
    walk->pos = walk->object.definitions = at + header;
    if (definitions_end < header) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_OVERLAP, at + 4, definitions_end, header, NEXT_DEFINITION);
    }
    if (definitions_end > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_DEFINITIONS, at + 4, definitions_end, room, NEXT_DEFINITION);
    }
    walk->object.bodies = at + definitions_end;
    walk->object.room = counters_room(walk);
    walk->state = NEXT_DEFINITION;
    return perf_block_next(walk);
}

/* --- PERF_COUNTER_DEFINITION ----------------------------------------------------------------------------------- */

static perf_block_event end_definitions(perf_block_walk *walk, uint32_t limit)
{
    uint32_t left = limit - walk->pos;
    uint32_t size = left >= PERF_COUNTER_DEFINITION_SIZE ? perf_block_u32(walk, walk->pos) : 0;
    uint32_t count = walk->definition.number + 1;

    walk->state = NEXT_BODIES;
    if (walk->object.bodies != 0 && size >= PERF_COUNTER_DEFINITION_SIZE && size <= left) {
        return fault(walk, PERF_BLOCK_FAULT_DEFINITION_REST, walk->object.offset + 32, count, count + 1, NEXT_BODIES);
    }
    return perf_block_next(walk);
}

/* One whose value lies outside the counter blocks is said once, here, and not at each instance. */
static perf_block_event take_definition(perf_block_walk *walk)
{
    uint32_t at = walk->definition.offset;
    uint64_t size = perf_block_u32(walk, at + 32);
    uint64_t end = perf_block_u32(walk, at + 36) + size;

    walk->object.num_definitions++;
    walk->pos = at + walk->definition.size;
    if (!value_fits(walk, at, walk->object.room)) {
        return faulty(walk, PERF_BLOCK_DEFINITION, PERF_BLOCK_FAULT_VALUE_PLACE,
                      size > walk->object.room ? at + 32 : at + 36, end < UINT32_MAX ? (uint32_t)end : UINT32_MAX,
                      walk->object.room, NEXT_DEFINITION);
    }
    walk->object.num_values++;
    walk->object.reach = size > 0 && end > walk->object.reach ? (uint32_t)end : walk->object.reach;
    return PERF_BLOCK_DEFINITION;
}

static perf_block_event read_definition(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t limit = walk->object.bodies != 0 ? walk->object.bodies : walk->object.end;

    if (walk->left == 0) {
        return end_definitions(walk, limit);
    }
    uint32_t left = limit - at;
    if (left < PERF_COUNTER_DEFINITION_SIZE) {
        return fault(walk, PERF_BLOCK_FAULT_DEFINITION_COUNT, walk->object.offset + 32,
                     perf_block_u32(walk, walk->object.offset + 32), walk->definition.number + 1, NEXT_BODIES);
    }
    uint32_t size = perf_block_u32(walk, at);
    walk->left--;
    walk->definition.number++;
    walk->definition.offset = at;
    walk->definition.size = PERF_COUNTER_DEFINITION_SIZE;
    if (size < PERF_COUNTER_DEFINITION_SIZE || size > left) {
        return faulty(walk, PERF_BLOCK_DEFINITION, PERF_BLOCK_FAULT_DEFINITION_SIZE, at, size, left, NEXT_BODIES);
    }
    walk->definition.size = size;
    walk->state = NEXT_DEFINITION;
    return take_definition(walk);
}

/* --- PERF_INSTANCE_DEFINITION ---------------------------------------------------------------------------------- */

/* An object with more definitions than these that lead nowhere has no values: each value would have to be searched among
 * them, in each instance. */
#define MOST_MISPLACED 64

static perf_block_event read_bodies(perf_block_walk *walk)
{
    int32_t count = walk->object.num_instances;

    if (walk->definition.number + 1 - walk->object.num_values > MOST_MISPLACED) {
        walk->object.num_values = 0;
    }
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
        return fault(walk, PERF_BLOCK_FAULT_INSTANCES_NUMBER, walk->object.offset + 40, 0U - (uint32_t)count,
                     (uint32_t)-PERF_INSTANCES_METADATA_NONE, NEXT_OBJECT_END);
    }
    return perf_block_next(walk);
}

/* Where the data ends before its object does, that was said already. */
static perf_block_event run_out(perf_block_walk *walk, perf_block_fault what, uint32_t offset, uint32_t stated,
                                uint32_t found)
{
    if (walk->object.open_end) {
        walk->state = NEXT_OBJECT_END;
        return perf_block_next(walk);
    }
    return fault(walk, what, offset, stated, found, NEXT_OBJECT_END);
}

/* What is left of an object is padding, unless it is clearly another instance with its counters. */
static perf_block_event end_instances(perf_block_walk *walk)
{
    uint32_t left = walk->object.end - walk->pos;
    uint32_t size = left >= PERF_INSTANCE_DEFINITION_SIZE ? perf_block_u32(walk, walk->pos) : 0;
    uint32_t count = walk->instance.number + 1;

    walk->state = NEXT_OBJECT_END;
    if (!walk->object.open_end && size >= PERF_INSTANCE_DEFINITION_SIZE && size % 8 == 0 &&
        counters_follow(walk, walk->pos, size)) {
        return fault(walk, PERF_BLOCK_FAULT_INSTANCE_REST, walk->object.offset + 40, count, count + 1, NEXT_OBJECT_END);
    }
    return perf_block_next(walk);
}

static void enter_instance(perf_block_walk *walk, uint32_t at)
{
    walk->left--;
    walk->instance.number++;
    walk->instance.offset = at;
    walk->instance.parent_object = perf_block_u32(walk, at + 4);
    walk->instance.parent_instance = perf_block_u32(walk, at + 8);
    walk->instance.unique_id = perf_block_u32(walk, at + 12);
    walk->instance.name = at;
    walk->instance.name_size = 0;
    walk->instance.name_room = 0;
}

static perf_block_event read_instance(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.end - at;

    if (walk->left == 0) {
        return end_instances(walk);
    }
    if (left < PERF_INSTANCE_DEFINITION_SIZE) {
        return run_out(walk, PERF_BLOCK_FAULT_INSTANCE_COUNT, walk->object.offset + 40,
                       (uint32_t)walk->object.num_instances, walk->instance.number + 1);
    }
    enter_instance(walk, at);
    uint32_t step = instance_step(walk, at);
    walk->instance.size = step > 0 ? step : PERF_INSTANCE_DEFINITION_SIZE;
    if (step == 0) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_SIZE, at, perf_block_u32(walk, at), left,
                      NEXT_OBJECT_END);
    }
    walk->pos = at + step;
    walk->state = NEXT_INSTANCE_NAME;
    return perf_block_next(walk);
}

/* NameLength counts the terminator, and in some servers the padding. A name may fill it: then it ends there, and what
 * stands behind it is padding. */
static void find_name(perf_block_walk *walk, uint32_t offset, uint32_t room)
{
    bool wide = perf_block_wide_names(walk);
    uint32_t unit = wide ? 2 : 1;

    walk->instance.name = walk->instance.offset + offset;
    uint32_t size = perf_block_text_size(walk->data + walk->instance.name, room, wide);
    walk->instance.name_size = size;
    walk->instance.name_room = size + unit <= room ? size + unit : size;
}

static perf_block_event read_instance_name(perf_block_walk *walk)
{
    uint32_t at = walk->instance.offset;
    uint32_t size = walk->instance.size;
    uint32_t stated = perf_block_u32(walk, at);
    uint32_t offset = perf_block_u32(walk, at + 16);
    uint32_t room = perf_block_u32(walk, at + 20);
    bool offset_fits = offset >= PERF_INSTANCE_DEFINITION_SIZE && offset <= size;
    bool name_fits = room == 0 || (offset_fits && room <= size - offset);

    walk->state = NEXT_COUNTERS;
    if (room > 0 && name_fits) {
        find_name(walk, offset, room);
    }
    if (!name_fits) {
        uint32_t end = offset <= UINT32_MAX - room ? offset + room : UINT32_MAX;
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_NAME, offset_fits ? at + 20 : at + 16, end,
                      size, NEXT_COUNTERS);
    }
    if (room % 2 != 0 && perf_block_wide_names(walk)) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_TEXT, at + 20, room, 2, NEXT_COUNTERS);
    }
    if (stated % 8 != 0) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_ODD, at, stated, 8, NEXT_COUNTERS);
    }
    return PERF_BLOCK_INSTANCE;
}

/* --- PERF_COUNTER_BLOCK ---------------------------------------------------------------------------------------- */

static perf_block_event read_counters(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.end - at;

    if (left < PERF_COUNTER_BLOCK_SIZE) {
        return run_out(walk, PERF_BLOCK_FAULT_COUNTERS_MISSING, at, left, walk->instance.number + 1);
    }
    uint32_t stated = perf_block_u32(walk, at);
    uint32_t step = step_from(walk, at, PERF_COUNTER_BLOCK_SIZE, instance_follows);
    walk->counters.offset = at;
    walk->counters.size = step > 0 ? step : PERF_COUNTER_BLOCK_SIZE;
    if (step == 0) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_SIZE, at, stated, left, NEXT_OBJECT_END);
    }
    walk->pos = at + step;
    walk->value.column = UINT32_MAX;
    walk->value.announced = 0;
    walk->state = NEXT_VALUE;
    if (walk->object.num_values == 0 || step < walk->object.reach) {
        perf_block_skip_values(walk);
    }
    if (step < walk->object.reach) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_SMALL, at, stated, walk->object.reach,
                      walk->state);
    }
    if (stated % 8 != 0) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_ODD, at, stated, 8, walk->state);
    }
    return PERF_BLOCK_COUNTERS;
}

/* The definitions were checked when they were announced, and what they need when the counter block was. */
static perf_block_event read_value(perf_block_walk *walk)
{
    if (walk->value.announced == walk->object.num_values) {
        perf_block_skip_values(walk);
        return perf_block_next(walk);
    }
    walk->value.column++;
    walk->value.definition = walk->value.column == 0
                                 ? walk->object.definitions
                                 : walk->value.definition + perf_block_u32(walk, walk->value.definition);
    if (!value_fits(walk, walk->value.definition, walk->object.room)) {
        return PERF_BLOCK_NO_VALUE;
    }
    walk->value.announced++;
    walk->value.size = perf_block_u32(walk, walk->value.definition + 32);
    walk->value.offset = walk->counters.offset;
    walk->value.offset += walk->value.size > 0 ? perf_block_u32(walk, walk->value.definition + 36) : 0;
    return PERF_BLOCK_VALUE;
}

void perf_block_go_to_object(perf_block_walk *walk, uint32_t number, uint32_t offset)
{
    walk->pos = offset;
    walk->object.number = number - 1;
    walk->objects_left = perf_block_u32(walk, 28) - number;
    walk->state = NEXT_OBJECT;
}

/* --- The block ------------------------------------------------------------------------------------------------- */

static perf_block_event tell_fault(perf_block_walk *walk)
{
    walk->state = walk->then;
    return PERF_BLOCK_FAULT;
}

perf_block_event perf_block_next(perf_block_walk *walk)
{
    static perf_block_event (*const steps[NEXT_NOTHING])(perf_block_walk *walk) = {
        [NEXT_HEADER] = read_header,         [NEXT_HEADER_CHECK] = check_header,
        [NEXT_OBJECT] = read_object,         [NEXT_OBJECT_PARTS] = read_object_parts,
        [NEXT_DEFINITION] = read_definition, [NEXT_BODIES] = read_bodies,
        [NEXT_INSTANCE] = read_instance,     [NEXT_INSTANCE_NAME] = read_instance_name,
        [NEXT_COUNTERS] = read_counters,     [NEXT_VALUE] = read_value,
        [NEXT_FAULT] = tell_fault,           [NEXT_OBJECT_END] = end_object,
        [NEXT_TRAILER] = read_trailer,
    };

    return walk->state == NEXT_NOTHING ? PERF_BLOCK_END : steps[walk->state](walk);
}

/* --- The block as a whole ----------------------------------------------------------------------------------------- */

bool perf_block_holds_values(const perf_block_walk *walk)
{
    return walk->object.num_instances >= PERF_INSTANCES_NONE;
}

static bool does_harm(const perf_block_walk *walk)
{
    return perf_block_fault_infos[walk->fault.what].harm;
}

bool perf_block_object_sound(const perf_block_walk *walk)
{
    perf_block_walk trial = *walk;
    perf_block_event event;

    trial.one_object = true;
    while ((event = perf_block_next(&trial)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_FAULT && does_harm(&trial)) {
            return false;
        }
        if (perf_block_values_left(&trial) > 0) {
            perf_block_skip_values(&trial);
        }
    }
    return true;
}

/* The definitions tell once for all instances where values are: no value is looked at. */
bool perf_block_check(const uint8_t *data, uint32_t size, perf_block_summary *summary)
{
    perf_block_walk walk;
    perf_block_event event;
    bool sound = false;

    memset(summary, 0, sizeof *summary);
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            summary->objects++;
            summary->sound_objects += sound;
            sound = perf_block_holds_values(&walk);
        } else if (event == PERF_BLOCK_FAULT) {
            summary->faults++;
            sound = sound && !does_harm(&walk);
        }
        summary->definitions += event == PERF_BLOCK_DEFINITION;
        summary->instances += event == PERF_BLOCK_INSTANCE;
        if (perf_block_values_left(&walk) > 0) {
            summary->values += perf_block_values_left(&walk);
            perf_block_skip_values(&walk);
        }
    }
    summary->sound_objects += sound;
    return summary->faults == 0;
}
