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

/* Whether a structure of at least so many bytes begins there, or nothing does: then what is left is padding. */
static bool structure_fits(const perf_block_walk *walk, uint32_t at, uint32_t end, uint32_t least)
{
    uint32_t left = end - at, size = left >= 8 ? perf_block_u32(walk, at) : 0;

    return left < 8 || (size >= least && size <= left);
}

/* Bytes from a structure at `at` to what follows it, 0 if its size is wrong. One that is no multiple of 8 leaves padding out, if
 * what follows fits there and not where it leads. */
static uint32_t step_from(const perf_block_walk *walk, uint32_t at, uint32_t end, uint32_t least,
                          uint32_t least_of_next)
{
    uint32_t size = perf_block_u32(walk, at), padded = perf_align8(size);

    if (size < least || size > end - at) {
        return 0;
    }
    bool leaves_out = !structure_fits(walk, at + size, end, least_of_next) && padded <= end - at &&
                      structure_fits(walk, at + padded, end, least_of_next);
    return leaves_out ? padded : size;
}

/* --- The walk ----------------------------------------------------------------------------------------------------- */

/* What perf_block_next() reads next. */
enum {
    NEXT_HEADER,
    NEXT_OBJECT,
    NEXT_OBJECT_PARTS,
    NEXT_DEFINITION,
    NEXT_BODIES,
    NEXT_INSTANCE,
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

bool perf_block_next_object(perf_block_walk *walk)
{
    perf_block_event event;

    if (walk->object.number != UINT32_MAX && walk->state >= NEXT_OBJECT_PARTS && walk->state <= NEXT_FAULT) {
        walk->state = NEXT_OBJECT_END;
    }
    do {
        event = perf_block_next(walk);
    } while (event != PERF_BLOCK_OBJECT && event != PERF_BLOCK_END);
    return event == PERF_BLOCK_OBJECT;
}

void perf_block_skip_values(perf_block_walk *walk)
{
    if (walk->state == NEXT_VALUE) {
        walk->state = walk->instance.number == PERF_NO_INSTANCE_NUMBER ? NEXT_OBJECT_END : NEXT_INSTANCE;
    }
}

uint32_t perf_block_values_left(const perf_block_walk *walk)
{
    uint32_t left = walk->object.num_definitions - (walk->value.column + 1);

    return walk->state == NEXT_VALUE ? left - (walk->object.misplaced > walk->value.definition) : 0;
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

/* The header's own fields place its name inside it, or it has none. */
static void find_system_name(perf_block_walk *walk)
{
    uint32_t at = perf_block_u32(walk, 84), room = perf_block_u32(walk, 80);

    if (at >= PERF_DATA_BLOCK_SIZE && at <= walk->header.size && room <= walk->header.size - at) {
        walk->header.name = at;
        walk->header.name_room = room;
        walk->header.name_size = perf_block_text_size(walk->data + at, room, true);
    }
}

static perf_block_event read_header(perf_block_walk *walk)
{
    if (walk->size < PERF_DATA_BLOCK_SIZE || !perf_block_is(walk->data, walk->size)) {
        return fault(walk, PERF_BLOCK_FAULT_HEADER_SHORT, 0, walk->size, PERF_DATA_BLOCK_SIZE, NEXT_NOTHING);
    }
    uint32_t little_endian = perf_le32(walk->data + 8);
    walk->big_endian_text = walk->data[0] == 0;
    walk->big_endian = little_endian == 0 || (little_endian != 1 && walk->big_endian_text);
    uint32_t size = perf_block_u32(walk, 24), version = perf_block_u32(walk, 12), room = perf_block_u32(walk, 80);
    walk->header.size = PERF_DATA_BLOCK_SIZE;
    walk->objects_left = perf_block_u32(walk, 28);
    walk->object.number = UINT32_MAX;
    if (size < PERF_DATA_BLOCK_SIZE || size > walk->size) {
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_HEADER_SIZE, 24, size, walk->size, NEXT_NOTHING);
    }
    walk->pos = walk->header.size = size;
    find_system_name(walk);
    if (little_endian > 1) {
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_LITTLE_ENDIAN, 8, little_endian, 1, NEXT_OBJECT);
    }
    if (version != 1) {
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_VERSION, 12, version, 1, NEXT_OBJECT);
    }
    if (room > walk->header.name_room) {
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_SYSTEM_NAME, 84, perf_block_u32(walk, 84), size,
                      NEXT_OBJECT);
    }
    if (room % 2 != 0) {
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_SYSTEM_NAME_ODD, 80, room, 2, NEXT_OBJECT);
    }
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

/* Whether an object begins there whose sizes make sense. */
static bool object_begins(const perf_block_walk *walk, uint32_t at)
{
    if (walk->size - at < PERF_OBJECT_TYPE_SIZE) {
        return false;
    }
    uint32_t size = perf_block_u32(walk, at), definitions = perf_block_u32(walk, at + 4);
    uint32_t header = perf_block_u32(walk, at + 8);
    return header >= PERF_OBJECT_TYPE_SIZE && header <= definitions && definitions <= size && size <= walk->size - at;
}

/* Where the structures of an object end that reaches to the data's end. The next one begins there or none does, so nothing is
 * walked through a third time. */
static uint32_t structures_end(const perf_block_walk *walk)
{
    perf_block_walk ahead = *walk;
    uint32_t end;

    ahead.objects_left = 0;
    ahead.state = NEXT_OBJECT_PARTS;
    do {
        end = ahead.pos;
        perf_block_next(&ahead);
        perf_block_skip_values(&ahead);
    } while (ahead.state != NEXT_NOTHING);
    return end;
}

/* An object whose size is wrong ends where its structures do, if another begins there. Else no other can be found, and what is
 * there of it is read. */
static perf_block_event read_object_size(perf_block_walk *walk)
{
    uint32_t at = walk->object.offset, size = perf_block_u32(walk, at);
    uint32_t step = step_from(walk, at, walk->size, PERF_OBJECT_TYPE_SIZE, PERF_OBJECT_TYPE_SIZE);

    walk->object.end = step > 0 ? at + step : walk->size;
    if (step == 0) {
        uint32_t end = structures_end(walk);
        if (object_begins(walk, end)) {
            walk->object.end = end;
            return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_END, at, size, end - at, NEXT_OBJECT_PARTS);
        }
        walk->objects_left = 0;
        return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_SIZE, at, size, walk->size - at,
                      NEXT_OBJECT_PARTS);
    }
    if (step != size) {
        return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_PADDING, at, size, step, NEXT_OBJECT_PARTS);
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

static perf_block_event end_object(perf_block_walk *walk)
{
    walk->pos = walk->object.end;
    walk->state = NEXT_OBJECT;
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
    if (header < PERF_OBJECT_TYPE_SIZE || header > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_HEADER, at + 8, header, room, NEXT_OBJECT_END);
    }
    if (definitions_end < header || definitions_end > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_DEFINITIONS, at + 4, definitions_end, room, NEXT_OBJECT_END);
    }
    walk->pos = walk->object.definitions = at + header;
    walk->object.bodies = at + definitions_end;
    walk->state = NEXT_DEFINITION;
    return perf_block_next(walk);
}

/* --- PERF_COUNTER_DEFINITION ----------------------------------------------------------------------------------- */

/* Notes what a counter block needs for the values so far, all and all but one; a value that lies in its ByteLength finds no room in
 * any. */
static void take_place(perf_block_walk *walk, uint32_t definition)
{
    uint32_t size = perf_block_u32(walk, definition + 32), offset = perf_block_u32(walk, definition + 36);
    bool fits = offset >= PERF_COUNTER_BLOCK_SIZE && size <= UINT32_MAX - offset;
    uint32_t reach = size == 0 ? 0 : fits ? offset + size : UINT32_MAX;

    if (reach > walk->object.reach) {
        walk->object.reach_of_others = walk->object.reach;
        walk->object.reach = reach;
        walk->object.farthest = definition;
    } else if (reach > walk->object.reach_of_others) {
        walk->object.reach_of_others = reach;
    }
}

static perf_block_event read_definition(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.bodies - at;
    uint32_t count = walk->definition.number + 1;
    uint32_t size = left >= PERF_COUNTER_DEFINITION_SIZE ? perf_block_u32(walk, at) : 0;
    bool fits = size >= PERF_COUNTER_DEFINITION_SIZE && size <= left;

    if (walk->left > 0 ? left < PERF_COUNTER_DEFINITION_SIZE : fits) {
        return fault(walk, PERF_BLOCK_FAULT_DEFINITION_COUNT, walk->object.offset + 32,
                     perf_block_u32(walk, walk->object.offset + 32), count + left / PERF_COUNTER_DEFINITION_SIZE,
                     NEXT_BODIES);
    }
    if (walk->left == 0) {
        walk->state = NEXT_BODIES;
        return perf_block_next(walk);
    }
    walk->left--;
    walk->definition.number = count;
    walk->definition.offset = at;
    walk->definition.size = PERF_COUNTER_DEFINITION_SIZE;
    if (!fits) {
        return faulty(walk, PERF_BLOCK_DEFINITION, PERF_BLOCK_FAULT_DEFINITION_SIZE, at, size, left, NEXT_BODIES);
    }
    walk->definition.size = size;
    walk->object.num_definitions++;
    take_place(walk, at);
    walk->pos = at + size;
    return PERF_BLOCK_DEFINITION;
}

/* --- PERF_INSTANCE_DEFINITION ---------------------------------------------------------------------------------- */

static perf_block_event read_bodies(perf_block_walk *walk)
{
    int32_t count = walk->object.num_instances;

    walk->pos = walk->object.bodies;
    walk->state = NEXT_OBJECT_END;
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
    if (stated != size) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_PADDING, at, stated, size, NEXT_COUNTERS);
    }
    return PERF_BLOCK_INSTANCE;
}

/* What is left of an object is padding, unless one instance more with its counters can be read there. */
static perf_block_event end_instances(perf_block_walk *walk)
{
    uint32_t count = walk->instance.number + 1;
    perf_block_walk more = *walk;

    more.left = 1;
    walk->state = NEXT_OBJECT_END;
    if (perf_block_next(&more) == PERF_BLOCK_INSTANCE && perf_block_next(&more) == PERF_BLOCK_COUNTERS &&
        more.state == NEXT_VALUE) {
        return fault(walk, PERF_BLOCK_FAULT_INSTANCE_REST, walk->object.offset + 40, count, count + 1, NEXT_OBJECT_END);
    }
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
        return fault(walk, PERF_BLOCK_FAULT_INSTANCE_COUNT, walk->object.offset + 40,
                     (uint32_t)walk->object.num_instances, walk->instance.number + 1, NEXT_OBJECT_END);
    }
    enter_instance(walk, at);
    uint32_t step = step_from(walk, at, walk->object.end, PERF_INSTANCE_DEFINITION_SIZE, walk->object.reach);
    walk->instance.size = step > 0 ? step : PERF_INSTANCE_DEFINITION_SIZE;
    if (step == 0) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_SIZE, at, perf_block_u32(walk, at), left,
                      NEXT_OBJECT_END);
    }
    walk->pos = at + step;
    return read_instance_name(walk);
}

/* --- PERF_COUNTER_BLOCK ---------------------------------------------------------------------------------------- */

/* All counter blocks of an object have one size: if all values but one find room in the first, that one is misplaced, and left out. */
static perf_block_event leave_farthest_out(perf_block_walk *walk, uint32_t room)
{
    uint32_t at = walk->object.farthest, size = perf_block_u32(walk, at + 32), offset = perf_block_u32(walk, at + 36);
    uint32_t end = size <= UINT32_MAX - offset ? offset + size : UINT32_MAX;

    walk->object.reach = walk->object.reach_of_others;
    walk->object.misplaced = at;
    return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_VALUE_PLACE, size > room ? at + 32 : at + 36, end, room,
                  NEXT_VALUE);
}

static perf_block_event read_counters(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.end - at;

    if (left < PERF_COUNTER_BLOCK_SIZE) {
        return fault(walk, PERF_BLOCK_FAULT_COUNTERS_MISSING, at, left, walk->instance.number + 1, NEXT_OBJECT_END);
    }
    uint32_t stated = perf_block_u32(walk, at);
    uint32_t step = step_from(walk, at, walk->object.end, PERF_COUNTER_BLOCK_SIZE, PERF_INSTANCE_DEFINITION_SIZE);
    walk->counters.offset = at;
    walk->counters.size = step > 0 ? step : PERF_COUNTER_BLOCK_SIZE;
    if (step == 0) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_SIZE, at, stated, left, NEXT_OBJECT_END);
    }
    bool is_first = walk->instance.number == 0 || walk->instance.number == PERF_NO_INSTANCE_NUMBER;
    if (step < (is_first ? walk->object.reach_of_others : walk->object.reach)) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_SMALL, at, stated, walk->object.reach,
                      NEXT_OBJECT_END);
    }
    walk->pos = at + step;
    walk->value.column = UINT32_MAX;
    walk->value.definition = 0;
    if (step < walk->object.reach) {
        return leave_farthest_out(walk, step);
    }
    if (step != stated) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_PADDING, at, stated, step, NEXT_VALUE);
    }
    walk->state = NEXT_VALUE;
    return PERF_BLOCK_COUNTERS;
}

/* The definitions were checked when they were announced, and what they need when the counter block was. */
static perf_block_event read_value(perf_block_walk *walk)
{
    if (perf_block_values_left(walk) == 0) {
        perf_block_skip_values(walk);
        return perf_block_next(walk);
    }
    do {
        walk->value.column++;
        walk->value.definition = walk->value.column == 0
                                     ? walk->object.definitions
                                     : walk->value.definition + perf_block_u32(walk, walk->value.definition);
    } while (walk->value.definition == walk->object.misplaced);
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
        [NEXT_HEADER] = read_header,         [NEXT_OBJECT] = read_object,   [NEXT_OBJECT_PARTS] = read_object_parts,
        [NEXT_DEFINITION] = read_definition, [NEXT_BODIES] = read_bodies,   [NEXT_INSTANCE] = read_instance,
        [NEXT_COUNTERS] = read_counters,     [NEXT_VALUE] = read_value,     [NEXT_FAULT] = tell_fault,
        [NEXT_OBJECT_END] = end_object,      [NEXT_TRAILER] = read_trailer,
    };

    return walk->state == NEXT_NOTHING ? PERF_BLOCK_END : steps[walk->state](walk);
}

/* --- The block as a whole ----------------------------------------------------------------------------------------- */

bool perf_block_holds_values(const perf_block_walk *walk)
{
    return walk->object.num_instances >= PERF_INSTANCES_NONE;
}

bool perf_block_does_harm(const perf_block_walk *walk)
{
    return perf_block_fault_infos[walk->fault.what].harm;
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
            sound = sound && !perf_block_does_harm(&walk);
        }
        summary->definitions += event == PERF_BLOCK_DEFINITION;
        summary->instances += event == PERF_BLOCK_INSTANCE;
        summary->values += perf_block_values_left(&walk);
        perf_block_skip_values(&walk);
    }
    summary->sound_objects += sound;
    return summary->faults == 0;
}
