/* block-walk.c
 * One bounded walk through the PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/block-walk.h"

#include <string.h>
#include "perf/bytes.h"
#include "perf/counter-types.h"

/* --- The places of structures ------------------------------------------------------------------------------------- */

bool perf_block_is(const uint8_t *data, uint32_t size)
{
    return size >= PERF_SIGNATURE_SIZE && (memcmp(data, "P\0E\0R\0F", PERF_SIGNATURE_SIZE) == 0 ||
                                           memcmp(data, "\0P\0E\0R\0F", PERF_SIGNATURE_SIZE) == 0);
}

uint32_t perf_block_text_size(const uint8_t *text, uint32_t room, bool wide)
{
    const uint8_t *end = wide ? NULL : memchr(text, 0, room);

    return wide ? perf_utf16_size(text, room) : end ? (uint32_t)(end - text) : room;
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

/* --- Lengths that contradict each other -------------------------------------------------------------------------- */

/* By which rule the lengths of an object are read. Where they do not lead from one structure to the next it is the one that makes the object fit
 * exactly: as it says; else the only other one that does, and none where several do. All its counter blocks have one size, and all its
 * instances end alike. Windows XP writes the counter block of Processor(_Total) short. */
enum {
    AS_SAID,
    HEADER_64,        /* definitions begin behind the fixed fields, */
    BODIES_FOLLOW,    /* or the first instance or counter block behind the definitions, */
    DEFINITION_40,    /* all definitions have 40 bytes, where there is room for no more */
    NAME,             /* an instance ends behind its name's padding */
    REACH,            /* counter blocks end behind the last of their values, */
    ALIKE,            /* or are as long as the first; both with padding */
    WITHOUT_FARTHEST, /* as said, but a definition is wrong: its values have no room in any counter block */
    NUM_RULES
};

typedef enum { AN_INSTANCE, COUNTERS } structure;

/* The first length that a rule reads as another. */
typedef struct {
    uint32_t at; /* 0: a rule of another kind, `size` */
    uint32_t said;
    uint32_t size;
} reading;

/* Bytes that it has at least. */
static inline uint32_t least_size(const perf_block_walk *walk, structure what)
{
    return what == AN_INSTANCE ? PERF_INSTANCE_DEFINITION_SIZE : walk->object.reach;
}

static inline bool has_room(const perf_block_walk *walk, uint32_t at, uint32_t size, structure what)
{
    return size >= least_size(walk, what) && size <= walk->object.end - at;
}

/* Bytes of an instance's definition and name, 0 if that is nowhere. */
static inline uint32_t named_size(const perf_block_walk *walk, uint32_t at)
{
    uint32_t offset = perf_block_u32(walk, at + 16), room = perf_block_u32(walk, at + 20);

    return offset >= PERF_INSTANCE_DEFINITION_SIZE && room <= UINT32_MAX - offset ? offset + room : 0;
}

static inline bool ends_with_name(const perf_block_walk *walk, uint32_t at, uint32_t size)
{
    uint32_t named = named_size(walk, at);

    return named > 0 && (size == named || size == perf_align8(named));
}

/* The length of what stands here by the object's rule, 0 if it has none by that. */
static inline uint32_t size_read(const perf_block_walk *walk, uint32_t said, structure what)
{
    uint8_t rule = walk->object.rule;
    uint32_t alike = walk->object.counters_size > 0 ? walk->object.counters_size : said;

    if (rule < NAME || rule == WITHOUT_FARTHEST || (rule == NAME && what == COUNTERS)) {
        return said;
    }
    if (what == COUNTERS) {
        return perf_align8(rule == REACH ? least_size(walk, COUNTERS) : alike);
    }
    return rule == NAME ? perf_align8(named_size(walk, walk->pos)) : ends_with_name(walk, walk->pos, said) ? said : 0;
}

/* Goes on behind what stands here. False if it has no length by the object's rule, or if others say another thing than the first that is
 * read so, and leave no padding out either. */
static bool pass(perf_block_walk *walk, structure what, reading *first)
{
    uint32_t at = walk->pos;

    if (walk->object.end - at < least_size(walk, what)) {
        return false;
    }
    uint32_t said = perf_block_u32(walk, at), size = size_read(walk, said, what);
    bool is_alike = what == AN_INSTANCE || walk->object.counters_size == 0 || walk->object.counters_size == size;
    if (!is_alike || !has_room(walk, at, size, what)) {
        return false;
    }
    walk->object.counters_size = what == COUNTERS ? size : walk->object.counters_size;
    walk->pos = at + size;
    if (size != said && first->at == 0) {
        *first = (reading){at, said, size};
    }
    return size == said || first->at == at || said == (what == COUNTERS ? first->said : named_size(walk, at));
}

/* All instances and counter blocks. False if something is wrong. */
static bool pass_rows(perf_block_walk *walk, reading *first)
{
    bool is_named = walk->object.num_instances >= 0;
    uint32_t rows = is_named ? (uint32_t)walk->object.num_instances : perf_block_holds_values(walk);

    walk->pos = walk->object.bodies;
    while (rows > 0 && (!is_named || pass(walk, AN_INSTANCE, first)) && pass(walk, COUNTERS, first)) {
        rows--;
    }
    return rows == 0;
}

/* An instance, which ends with its name, and its counter block are what they say without a doubt; goes on behind them. */
static inline bool pass_certain(const perf_block_walk *walk, uint32_t *at)
{
    uint32_t left = walk->object.end - *at,
             size = left >= PERF_INSTANCE_DEFINITION_SIZE ? perf_block_u32(walk, *at) : 0;

    if (!has_room(walk, *at, size, AN_INSTANCE) || left - size < PERF_COUNTER_BLOCK_SIZE ||
        !ends_with_name(walk, *at, size)) {
        return false;
    }
    uint32_t counters = perf_block_u32(walk, *at + size);
    bool fits = has_room(walk, *at + size, counters, COUNTERS);
    *at += size + (fits ? counters : 0);
    return fits;
}

/* So are all of the object. */
static bool is_certain(const perf_block_walk *walk)
{
    uint32_t at = walk->object.bodies, rows = 0;

    if (walk->object.num_instances == PERF_INSTANCES_NONE) {
        return walk->object.end - at >= PERF_COUNTER_BLOCK_SIZE &&
               has_room(walk, at, perf_block_u32(walk, at), COUNTERS);
    }
    while ((int64_t)rows < walk->object.num_instances && pass_certain(walk, &at)) {
        rows++;
    }
    return (int64_t)rows >= walk->object.num_instances;
}

static inline uint32_t definition_size(const perf_block_walk *walk, uint32_t at)
{
    return walk->object.definition_size > 0 ? walk->object.definition_size : perf_block_u32(walk, at);
}

/* Notes what counter blocks need for the values of the definitions, all or all but those of the one that ends last; a value that lies in
 * ByteLength finds no room in any. */
static void find_reach(perf_block_walk *walk, bool without_farthest)
{
    uint32_t at = walk->object.definitions, reach = PERF_COUNTER_BLOCK_SIZE, others = reach, farthest = 0;

    walk->object.overlaps = false;
    for (uint32_t i = 0; i < walk->object.num_definitions; i++, at += definition_size(walk, at)) {
        uint32_t size = perf_block_u32(walk, at + 32), offset = perf_block_u32(walk, at + 36);
        bool fits = offset >= PERF_COUNTER_BLOCK_SIZE && size <= UINT32_MAX - offset &&
                    (offset % 4 == 0 || (size != 4 && size != 8)); /* numbers are aligned */
        uint32_t end = size == 0 ? 0 : fits ? offset + size : UINT32_MAX;
        walk->object.overlaps |= size > 0 && offset < reach;
        others = end > reach ? reach : end > others ? end : others;
        farthest = end > reach ? at : farthest;
        reach = end > reach ? end : reach;
    }
    walk->object.reach = without_farthest ? others : reach;
    walk->object.misplaced = without_farthest ? farthest : 0;
}

/* Takes those that there are, up to NumCounters; false if they do not end where instances or counter blocks begin. */
static bool take_definitions(perf_block_walk *walk)
{
    uint32_t at = walk->object.definitions, end = walk->object.bodies, size = PERF_COUNTER_DEFINITION_SIZE;

    for (; walk->object.num_definitions < walk->left && end - at >= PERF_COUNTER_DEFINITION_SIZE; at += size) {
        size = definition_size(walk, at);
        if (size < PERF_COUNTER_DEFINITION_SIZE || size > end - at) {
            return false;
        }
        walk->object.num_definitions++;
    }
    return walk->object.num_definitions == walk->left && at == end;
}

/* Finds where definitions and bodies are by a rule. True if all definitions that there should be lie between. */
static bool place_parts(perf_block_walk *walk, uint8_t rule)
{
    uint32_t at = walk->object.offset, room = walk->object.end - at, count = perf_block_u32(walk, at + 32);
    uint32_t header = perf_block_u32(walk, at + 8), definitions = perf_block_u32(walk, at + 4);
    uint64_t takes = (uint64_t)count * PERF_COUNTER_DEFINITION_SIZE;
    bool is_regular = header + takes == definitions; /* there is room for definitions of 40 bytes, and no more */

    header = rule == HEADER_64 ? PERF_OBJECT_TYPE_SIZE : header;
    definitions = rule == BODIES_FOLLOW && takes <= room ? header + (uint32_t)takes : definitions;
    walk->object.rule = rule;
    walk->object.definitions = walk->pos = at + header;
    walk->object.bodies = at + definitions;
    walk->object.definition_size = rule == DEFINITION_40 ? PERF_COUNTER_DEFINITION_SIZE : 0;
    walk->object.num_definitions = walk->object.counters_size = 0;
    walk->left = count;
    bool fits =
        header >= PERF_OBJECT_TYPE_SIZE && definitions >= header && definitions <= room && take_definitions(walk);
    find_reach(walk, rule == WITHOUT_FARTHEST);
    walk->object.definition_size = fits && is_regular ? PERF_COUNTER_DEFINITION_SIZE : walk->object.definition_size;
    return fits;
}

/* Zeros alone stand from there on: what had no room has no length either. */
static bool is_blank(const perf_block_walk *walk, uint32_t at)
{
    while (at < walk->object.end && walk->data[at] == 0) {
        at++;
    }
    return at == walk->object.end;
}

/* All rules are tried once for an object that is not certain, so that they cost in proportion to its bytes. */
static void find_rule(perf_block_walk *walk)
{
    reading found = {0, 0, 0};
    uint8_t rule = AS_SAID;
    uint32_t count = 0;

    if (place_parts(walk, AS_SAID) && (walk->is_sound || is_certain(walk))) {
        return;
    }
    for (uint8_t tried = AS_SAID; tried < NUM_RULES && (count == 0 || rule != AS_SAID); tried++) {
        perf_block_walk trial = *walk;
        reading first = {0, 0, tried};
        bool fits = place_parts(&trial, tried) && pass_rows(&trial, &first) && trial.pos == trial.object.end;
        if (fits && !(first.at > 0 && is_blank(walk, first.at))) {
            bool is_same = count > 0 && first.at == found.at && first.size == found.size;
            rule = count == 0 ? tried : rule;
            found = count == 0 ? first : found;
            count += !is_same;
        }
    }
    walk->object.is_damaged = count != 1;
    place_parts(walk, count == 1 ? rule : AS_SAID);
}

/* --- PERF_DATA_BLOCK ------------------------------------------------------------------------------------------- */

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

/* All objects stand there one after the other, up to the end. */
static bool objects_fit(const perf_block_walk *walk, uint32_t at)
{
    uint32_t left = walk->objects_left;

    while (left > 0 && at <= walk->size && object_begins(walk, at)) {
        at += perf_block_u32(walk, at);
        left--;
    }
    return left == 0 && walk->size - at < 8;
}

/* HeaderLength, or what it is read as: the first object begins behind the name, or behind the fixed fields if there is none. */
static uint32_t header_size(const perf_block_walk *walk)
{
    uint32_t said = perf_block_u32(walk, 24), room = perf_block_u32(walk, 80), name = perf_block_u32(walk, 84);
    bool is_sound = said >= PERF_DATA_BLOCK_SIZE && said <= walk->size;
    bool is_named = name >= PERF_DATA_BLOCK_SIZE && room <= UINT32_MAX - name;
    uint32_t named = is_named ? perf_align8(name + room) : PERF_DATA_BLOCK_SIZE;

    if (walk->objects_left == 0 || (is_sound && object_begins(walk, said))) {
        return said;
    }
    return objects_fit(walk, named) ? named : objects_fit(walk, PERF_DATA_BLOCK_SIZE) ? PERF_DATA_BLOCK_SIZE : said;
}

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

bool perf_block_names_system(const perf_block_walk *walk)
{
    uint32_t size = walk->header.name_size, end = walk->header.name + size;

    for (uint32_t i = size; i < walk->header.name_room; i++) {
        if (walk->data[walk->header.name + i] != 0) {
            return false; /* another name goes on there */
        }
    }
    return size > 0 && walk->header.name == PERF_DATA_BLOCK_SIZE &&
           (end == walk->header.size ||
            (end + 2 <= walk->header.size && walk->data[end] == 0 && walk->data[end + 1] == 0));
}

static perf_block_event read_header(perf_block_walk *walk)
{
    if (walk->size < PERF_DATA_BLOCK_SIZE || !perf_block_is(walk->data, walk->size)) {
        return fault(walk, PERF_BLOCK_FAULT_HEADER_SHORT, 0, walk->size, PERF_DATA_BLOCK_SIZE, NEXT_NOTHING);
    }
    uint32_t little_endian = perf_le32(walk->data + 8);
    walk->big_endian_text = walk->data[0] == 0;
    walk->big_endian = little_endian == 0 || (little_endian != 1 && walk->big_endian_text);
    uint32_t said = perf_block_u32(walk, 24), version = perf_block_u32(walk, 12), room = perf_block_u32(walk, 80);
    walk->header.size = PERF_DATA_BLOCK_SIZE;
    walk->objects_left = perf_block_u32(walk, 28);
    uint32_t size = header_size(walk);
    walk->object.number = UINT32_MAX;
    if (size < PERF_DATA_BLOCK_SIZE || size > walk->size) {
        return faulty(walk, PERF_BLOCK_HEADER, PERF_BLOCK_FAULT_HEADER_SIZE, 24, size, walk->size, NEXT_NOTHING);
    }
    walk->pos = walk->header.size = size;
    find_system_name(walk);
    const struct {
        bool is_wrong;
        perf_block_fault what;
        uint32_t offset, stated, found;
    } fields[] = {
        {size != said, PERF_BLOCK_FAULT_READ_HEADER, 24, said, size},
        {little_endian > 1, PERF_BLOCK_FAULT_LITTLE_ENDIAN, 8, little_endian, 1},
        {version != 1, PERF_BLOCK_FAULT_VERSION, 12, version, 1},
        {room > walk->header.name_room, PERF_BLOCK_FAULT_SYSTEM_NAME, 84, perf_block_u32(walk, 84), size},
        {room % 2 != 0, PERF_BLOCK_FAULT_SYSTEM_NAME_ODD, 80, room, 2},
    };
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].is_wrong) {
            return faulty(walk, PERF_BLOCK_HEADER, fields[i].what, fields[i].offset, fields[i].stated, fields[i].found,
                          NEXT_OBJECT);
        }
    }
    walk->state = NEXT_OBJECT;
    return PERF_BLOCK_HEADER;
}

/* The block's own total is checked at the end, where it can no longer hide what was readable. Samba leaves the header
 * out of it, and Windows' bare header has none. */
static perf_block_event read_trailer(perf_block_walk *walk)
{
    uint32_t total = perf_block_u32(walk, 20);

    if (walk->pos < walk->size && walk->size - walk->pos >= 8) {
        uint32_t at = walk->pos;
        walk->pos = walk->size;
        return fault(walk, PERF_BLOCK_FAULT_TRAILING, at, walk->size - at, walk->object.number + 1, NEXT_NOTHING);
    }
    bool is_bare = total == 0 && perf_block_u32(walk, 28) == 0;
    if (!walk->is_lost && !is_bare && total != walk->size && total != walk->size - walk->header.size) {
        return fault(walk, PERF_BLOCK_FAULT_READ_TOTAL, 20, total, walk->size, NEXT_NOTHING);
    }
    walk->state = NEXT_NOTHING;
    return PERF_BLOCK_END;
}

/* --- PERF_OBJECT_TYPE ------------------------------------------------------------------------------------------ */

static void enter_object(perf_block_walk *walk)
{
    uint32_t at = walk->pos, number = walk->object.number + 1;

    walk->objects_left--;
    memset(&walk->object, 0, sizeof walk->object);
    walk->object.number = number;
    walk->object.offset = at;
    walk->object.index = perf_block_u32(walk, at + 12);
    walk->object.num_instances = (int32_t)perf_block_u32(walk, at + 40);
    walk->object.reach = PERF_COUNTER_BLOCK_SIZE;
    walk->object.code_page = perf_block_u32(walk, at + 44);
    walk->instance.number = PERF_NO_INSTANCE_NUMBER;
}

/* Bytes to where the structures of an object end, if it reaches so far; 0 if something is wrong with them. */
static uint32_t structures_size(const perf_block_walk *walk, uint32_t size)
{
    perf_block_walk ahead = *walk;
    reading none = {0, 0, 0};

    ahead.object.end = walk->object.offset + size;
    return place_parts(&ahead, AS_SAID) && pass_rows(&ahead, &none) ? ahead.pos - walk->object.offset : 0;
}

/* TotalByteLength, if the next object begins behind it or all ends. Else the object ends where its structures do, with their padding, if what
 * follows it is found there, or all ends as TotalByteLength of the block says too. Where it is found no structure is looked at a third time,
 * and where it is not nothing more is read: 0 if it has no size that can be. */
static uint32_t find_object_size(perf_block_walk *walk)
{
    uint32_t at = walk->object.offset, said = perf_block_u32(walk, at), left = walk->size - at;
    uint32_t total = perf_block_u32(walk, 20);
    bool is_sane = said >= PERF_OBJECT_TYPE_SIZE && said <= left, is_last = walk->objects_left == 0;

    if (is_sane && (is_last ? left == said : object_begins(walk, at + said))) {
        return said;
    }
    uint32_t within = is_sane ? structures_size(walk, said) : 0;
    uint32_t structures = within > 0 ? within : structures_size(walk, left);
    uint32_t ends = perf_align8(structures) <= left ? perf_align8(structures) : structures;
    bool is_end = left - ends < 8 && (total == walk->size || total == walk->size - walk->header.size);
    bool is_right = is_last && within > 0 && left - said < 8;
    if (structures > 0 && !is_right && (is_last ? is_end : object_begins(walk, at + ends))) {
        /* if the answer lacks as many bytes they are missing here */
        walk->object.is_open = said - ends == total - walk->size;
        return ends;
    }
    walk->object.is_open = true;
    walk->is_lost = within == 0;
    walk->objects_left = walk->is_lost ? 0 : walk->objects_left;
    return is_sane ? said : 0;
}

static perf_block_event read_object_size(perf_block_walk *walk)
{
    uint32_t at = walk->object.offset, said = perf_block_u32(walk, at), left = walk->size - at;
    uint32_t size = find_object_size(walk);

    walk->object.end = at + (size > 0 ? size : left);
    walk->state = NEXT_OBJECT_PARTS;
    if (size == 0) {
        return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_OBJECT_SIZE, at, said, left, NEXT_OBJECT_PARTS);
    }
    if (size != said) {
        return faulty(walk, PERF_BLOCK_OBJECT, PERF_BLOCK_FAULT_READ_OBJECT, at, said, size, NEXT_OBJECT_PARTS);
    }
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
    uint32_t at = walk->object.offset, room = walk->object.end - at;
    uint32_t said_header = perf_block_u32(walk, at + 8), said_definitions = perf_block_u32(walk, at + 4);

    find_rule(walk);
    walk->definition.number = UINT32_MAX;
    uint32_t header = walk->object.definitions - at, definitions = walk->object.bodies - at;
    walk->state = NEXT_DEFINITION;
    if (header < PERF_OBJECT_TYPE_SIZE || header > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_HEADER, at + 8, header, room, NEXT_OBJECT_END);
    }
    if (definitions < header || definitions > room) {
        return fault(walk, PERF_BLOCK_FAULT_OBJECT_DEFINITIONS, at + 4, definitions, room, NEXT_OBJECT_END);
    }
    if (header != said_header) {
        return fault(walk, PERF_BLOCK_FAULT_READ_OBJECT_HEADER, at + 8, said_header, header, NEXT_DEFINITION);
    }
    if (definitions != said_definitions) {
        return fault(walk, PERF_BLOCK_FAULT_READ_DEFINITIONS, at + 4, said_definitions, definitions, NEXT_DEFINITION);
    }
    return perf_block_next(walk);
}

/* --- PERF_COUNTER_DEFINITION ----------------------------------------------------------------------------------- */

static perf_block_event read_definition(perf_block_walk *walk)
{
    uint32_t at = walk->pos, left = walk->object.bodies - at, number = walk->definition.number + 1;
    uint32_t said = left >= PERF_COUNTER_DEFINITION_SIZE ? perf_block_u32(walk, at) : 0;
    bool fits_one_more = said >= PERF_COUNTER_DEFINITION_SIZE && said <= left;

    if (walk->left > 0 ? left < PERF_COUNTER_DEFINITION_SIZE : fits_one_more) {
        return fault(walk, PERF_BLOCK_FAULT_DEFINITION_COUNT, walk->object.offset + 32,
                     perf_block_u32(walk, walk->object.offset + 32), number + left / PERF_COUNTER_DEFINITION_SIZE,
                     NEXT_BODIES);
    }
    if (walk->left == 0) {
        walk->state = NEXT_BODIES;
        return perf_block_next(walk);
    }
    walk->left--;
    walk->definition.number = number;
    walk->definition.offset = at;
    walk->definition.size = PERF_COUNTER_DEFINITION_SIZE;
    if (number >= walk->object.num_definitions) {
        return faulty(walk, PERF_BLOCK_DEFINITION, PERF_BLOCK_FAULT_DEFINITION_SIZE, at, said, left, NEXT_BODIES);
    }
    walk->definition.size = definition_size(walk, at);
    walk->pos = at + walk->definition.size;
    if (walk->definition.size != said) {
        return faulty(walk, PERF_BLOCK_DEFINITION, PERF_BLOCK_FAULT_READ_DEFINITION, at, said, walk->definition.size,
                      NEXT_DEFINITION);
    }
    return PERF_BLOCK_DEFINITION;
}

/* The length of what stands here, as it is said or read; 0 if it is wrong. In an object that is damaged an instance is certain that ends with
 * its name, and so is where its counter block begins. */
static inline uint32_t find_size(const perf_block_walk *walk, structure what)
{
    uint32_t said = perf_block_u32(walk, walk->pos), size = size_read(walk, said, what);
    bool may_be = !walk->object.is_damaged || what == COUNTERS || ends_with_name(walk, walk->pos, said);

    return may_be && has_room(walk, walk->pos, size, what) ? size : 0;
}

/* --- PERF_INSTANCE_DEFINITION ---------------------------------------------------------------------------------- */

/* All that is left of the object is one counter block. */
static bool is_counter_block(const perf_block_walk *walk)
{
    uint32_t left = walk->object.end - walk->pos;

    return left >= least_size(walk, COUNTERS) && perf_align8(perf_block_u32(walk, walk->pos)) == perf_align8(left);
}

static perf_block_event read_bodies(perf_block_walk *walk)
{
    int32_t count = walk->object.num_instances;
    uint32_t at = walk->object.bodies;

    walk->pos = at;
    walk->state = NEXT_OBJECT_END;
    if (count != PERF_INSTANCES_NONE && count <= 0 && walk->object.num_definitions > 0 && is_counter_block(walk)) {
        return fault(walk, PERF_BLOCK_FAULT_COUNTERS_THERE, walk->object.offset + 40, (uint32_t)count, 1,
                     NEXT_OBJECT_END);
    }
    if (count >= 0) {
        walk->left = (uint32_t)count;
        walk->state = NEXT_INSTANCE;
    } else if (count == PERF_INSTANCES_NONE && !is_counter_block(walk) && pass_certain(walk, &at)) {
        return fault(walk, PERF_BLOCK_FAULT_INSTANCES_THERE, walk->object.offset + 40, 1, 1, NEXT_OBJECT_END);
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
    walk->instance.is_nameless = false;
}

/* NameLength counts the terminator, and in some servers zeros behind it. A name may fill it: then it ends there, and what stands behind it
 * is padding, or a text with a terminator in the instance. Returns the bytes of the text there if NameLength is another's, else 0. */
static uint32_t find_name(perf_block_walk *walk, uint32_t room)
{
    bool wide = perf_block_wide_names(walk);
    uint32_t unit = wide ? 2 : 1, at = walk->instance.offset + PERF_INSTANCE_DEFINITION_SIZE;
    uint32_t size = perf_block_text_size(walk->data + at, room, wide), left = walk->pos - at - size;
    bool is_ended = size + unit <= room;
    uint32_t more = is_ended ? 0 : perf_block_text_size(walk->data + at + size, left, wide);

    walk->instance.name = at;
    walk->instance.name_size = size;
    walk->instance.name_room = is_ended ? size + unit : size;
    for (uint32_t i = size; is_ended && i < room; i++) {
        if (walk->data[at + i] != 0) {
            return size + unit;
        }
    }
    return more > 0 && more + unit <= left ? size + more : 0;
}

static perf_block_event read_instance_name(perf_block_walk *walk)
{
    uint32_t at = walk->instance.offset, size = walk->instance.size, stated = perf_block_u32(walk, at);
    uint32_t offset = perf_block_u32(walk, at + 16), room = perf_block_u32(walk, at + 20);
    bool offset_fits = offset == PERF_INSTANCE_DEFINITION_SIZE; /* where all systems have it */
    bool name_fits = room == 0 || (offset_fits && room <= size - offset);
    bool has_room_alone = room == 0 && walk->instance.unique_id == UINT32_MAX &&
                          size >= PERF_INSTANCE_DEFINITION_SIZE + 16; /* its zeros are no padding */
    uint32_t there = name_fits ? find_name(walk, room) : 0;

    walk->state = NEXT_COUNTERS;
    walk->instance.is_nameless = !name_fits || there > 0 || has_room_alone;
    if (!name_fits) {
        uint32_t end = offset <= UINT32_MAX - room ? offset + room : UINT32_MAX;
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_NAME, offset_fits ? at + 20 : at + 16, end,
                      size, NEXT_COUNTERS);
    }
    if (stated != size) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_READ_INSTANCE, at, stated, size, NEXT_COUNTERS);
    }
    if (there > 0) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_GOES_ON, at + 20, room, there,
                      NEXT_COUNTERS);
    }
    if (room % 2 != 0 && perf_block_wide_names(walk)) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_TEXT, at + 20, room, 2, NEXT_COUNTERS);
    }
    return PERF_BLOCK_INSTANCE;
}

/* What is left of an object is padding, unless one instance more with its counters can be read there. */
static perf_block_event end_instances(perf_block_walk *walk)
{
    uint32_t count = walk->instance.number + 1, at = walk->pos;

    walk->state = NEXT_OBJECT_END;
    if (pass_certain(walk, &at)) {
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
    uint32_t size = find_size(walk, AN_INSTANCE);
    enter_instance(walk, at);
    walk->instance.size = size > 0 ? size : PERF_INSTANCE_DEFINITION_SIZE;
    if (size == 0) {
        return faulty(walk, PERF_BLOCK_INSTANCE, PERF_BLOCK_FAULT_INSTANCE_SIZE, at, perf_block_u32(walk, at), left,
                      NEXT_OBJECT_END);
    }
    walk->pos = at + size;
    return read_instance_name(walk);
}

/* --- PERF_COUNTER_BLOCK ---------------------------------------------------------------------------------------- */

/* Definitions that each is compared with. */
#define MOST_COMPARED 64

/* A value begins within another. Counters may share a place, or be parts of one that is longer than a number, by its type too. */
static bool begins_within(const perf_block_walk *walk, uint32_t definition, uint32_t other)
{
    uint64_t from = perf_block_u32(walk, definition + 36), end = from + perf_block_u32(walk, definition + 32);
    uint64_t from_other = perf_block_u32(walk, other + 36), end_other = from_other + perf_block_u32(walk, other + 32);

    uint32_t type = perf_block_u32(walk, other + 28);
    bool is_number = end_other - from_other <= 8 || (type & PERF_SIZE_MASK) <= PERF_SIZE_LARGE;

    return from_other < from && from < end_other && (end_other < end || is_number);
}

/* The definition of a value that begins within another (begins_within() says what is none), and where that one ends: one of both is wrong.
 * False without one. */
static bool values_cross(const perf_block_walk *walk, uint32_t *definition, uint32_t *end)
{
    uint32_t at = walk->object.definitions;

    for (uint32_t i = 0; walk->object.overlaps && i < walk->object.num_definitions; i++) {
        uint32_t before = walk->object.definitions;
        for (uint32_t n = 0; n < i && n < MOST_COMPARED; n++) {
            bool is_first = begins_within(walk, at, before);
            bool is_there = at != walk->object.misplaced && before != walk->object.misplaced;
            uint32_t other = is_first ? before : at;
            *definition = is_first ? at : before;
            *end = perf_block_u32(walk, other + 36) + perf_block_u32(walk, other + 32);
            if (is_there && begins_within(walk, *definition, other)) {
                return true;
            }
            before += definition_size(walk, before);
        }
        at += definition_size(walk, at);
    }
    return false;
}

/* What must be is behind the counter block that ends here; one that could be an instance may be that. */
static bool is_followed(const perf_block_walk *walk)
{
    bool is_last = walk->instance.number == PERF_NO_INSTANCE_NUMBER || walk->left == 0;
    bool may_be_instance = walk->counters.size >= PERF_INSTANCE_DEFINITION_SIZE &&
                           ends_with_name(walk, walk->counters.offset, walk->counters.size);
    uint32_t at = walk->pos;

    if (is_last || walk->object.rule != AS_SAID) {
        return !(walk->object.is_open || (walk->object.is_damaged && walk->object.end - at >= 8));
    }
    return !(walk->object.is_open || walk->object.is_damaged || may_be_instance) || pass_certain(walk, &at);
}

/* The size that most of the first three counter blocks have, or that the definitions give: one that has another is doubtful. Where
 * TotalByteLength contradicts them only the definitions tell. */
static uint32_t usual_size(const perf_block_walk *walk, uint32_t size)
{
    uint32_t others[2] = {size, 0}, at = walk->pos, from = at;
    bool is_total = perf_block_u32(walk, walk->object.offset) == walk->object.end - walk->object.offset;

    for (uint32_t i = 0; i < 2 && i < walk->left && walk->object.rule == AS_SAID && pass_certain(walk, &at); i++) {
        others[i] = at - from - perf_block_u32(walk, from);
        from = at;
    }
    return is_total && (others[0] == size || others[1] == size) ? size
           : is_total && others[0] == others[1]                 ? others[0]
                                                                : perf_align8(walk->object.reach);
}

static perf_block_event read_counters(perf_block_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->object.end - at;

    if (left < PERF_COUNTER_BLOCK_SIZE) {
        return fault(walk, PERF_BLOCK_FAULT_COUNTERS_MISSING, at, left, walk->instance.number + 1, NEXT_OBJECT_END);
    }
    uint32_t said = perf_block_u32(walk, at), size = find_size(walk, COUNTERS);
    walk->counters.offset = at;
    walk->counters.size = size > 0 ? size : PERF_COUNTER_BLOCK_SIZE;
    if (size == 0) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_COUNTERS_SIZE, at, said, least_size(walk, COUNTERS),
                      NEXT_OBJECT_END);
    }
    walk->pos = at + size;
    if (walk->object.counters_size == 0) {
        walk->object.counters_size = usual_size(walk, size);
    }
    walk->counters.is_doubtful = !is_followed(walk) || walk->object.counters_size != size;
    walk->value.column = UINT32_MAX;
    walk->value.definition = 0;
    bool is_first = walk->instance.number == 0 || walk->instance.number == PERF_NO_INSTANCE_NUMBER;
    uint32_t definition, end;
    if (is_first && values_cross(walk, &definition, &end)) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_VALUES_CROSS, definition + 36,
                      perf_block_u32(walk, definition + 36), end, NEXT_OBJECT_END);
    }
    if (is_first && walk->object.misplaced > 0) {
        uint32_t width = perf_block_u32(walk, walk->object.misplaced + 32);
        uint32_t offset = perf_block_u32(walk, walk->object.misplaced + 36);
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_VALUE_PLACE,
                      walk->object.misplaced + (width > size ? 32 : 36),
                      width <= UINT32_MAX - offset ? offset + width : UINT32_MAX, size, NEXT_VALUE);
    }
    if (size != said) {
        return faulty(walk, PERF_BLOCK_COUNTERS, PERF_BLOCK_FAULT_READ_COUNTERS, at, said, size, NEXT_VALUE);
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
                                     : walk->value.definition + definition_size(walk, walk->value.definition);
    } while (walk->value.definition == walk->object.misplaced);
    walk->value.size = perf_block_u32(walk, walk->value.definition + 32);
    walk->value.offset = walk->counters.offset;
    walk->value.offset += walk->value.size > 0 ? perf_block_u32(walk, walk->value.definition + 36) : 0;
    return PERF_BLOCK_VALUE;
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

/* Values that NumCounters and NumInstances of the object announce, as far as it has room for them; the fault may be that there are more. */
static uint64_t announced_values(const perf_block_walk *walk)
{
    bool is_named = walk->object.num_instances >= 0 && walk->fault.what != PERF_BLOCK_FAULT_COUNTERS_THERE;
    uint64_t more = walk->fault.what == PERF_BLOCK_FAULT_INSTANCE_REST;
    uint32_t end = walk->is_lost ? walk->size : walk->object.end;
    uint64_t room = end - walk->object.offset - PERF_OBJECT_TYPE_SIZE;
    uint64_t counters = perf_block_u32(walk, walk->object.offset + 32), most = room / PERF_COUNTER_DEFINITION_SIZE;
    uint64_t rows = is_named ? (uint64_t)walk->object.num_instances + more : 1;
    uint64_t row = (walk->object.reach <= room ? least_size(walk, COUNTERS) : PERF_COUNTER_BLOCK_SIZE) +
                   (is_named ? PERF_INSTANCE_DEFINITION_SIZE : 0);

    counters = counters < most ? counters : most;
    most = (room - counters * PERF_COUNTER_DEFINITION_SIZE) / row;
    return counters * (rows < most ? rows : most);
}

/* What perf_block_check() knows of the object that its walk is in. */
typedef struct {
    bool is_sound;
    bool is_harmed;     /* it should hold values, and something is wrong */
    uint64_t before;    /* values of those before it */
    uint64_t announced; /* 0 as long as nothing is left out */
} checked_object;

static void end_checked(perf_block_summary *summary, const checked_object *object)
{
    uint64_t found = summary->values - object->before;

    summary->sound_objects += object->is_sound;
    summary->values_left_out += object->announced > found ? object->announced - found : 0;
    summary->objects_left_out += object->is_harmed && object->announced == 0 && found == 0; /* it has no room for any */
}

static void check_fault(perf_block_summary *summary, const perf_block_walk *walk, checked_object *object)
{
    bool is_read_as = perf_block_fault_infos[walk->fault.what].kind == PERF_FAULT_IS_READ_AS;

    summary->faults++;
    summary->read_as += is_read_as;
    summary->contradictions += is_read_as && walk->fault.what != PERF_BLOCK_FAULT_READ_COUNTERS;
    if (perf_block_does_harm(walk) && summary->objects > 0) {
        object->is_harmed = perf_block_holds_values(walk);
        object->is_sound = false;
        object->announced = announced_values(walk);
    }
}

/* That the block announces, or that stand behind it: another block, or an object at least. */
static uint32_t objects_missing(const perf_block_walk *walk, uint32_t found)
{
    uint32_t announced = walk->size >= PERF_DATA_BLOCK_SIZE ? perf_block_u32(walk, 28) : 0;
    uint32_t most = walk->size / PERF_OBJECT_TYPE_SIZE, missing = announced > found ? announced - found : 0;
    uint32_t behind = walk->fault.what == PERF_BLOCK_FAULT_TRAILING ? walk->fault.offset : walk->size;

    if (object_begins(walk, behind)) {
        missing = 1;
    } else if (walk->size - behind >= PERF_DATA_BLOCK_SIZE && perf_block_is(walk->data + behind, PERF_SIGNATURE_SIZE)) {
        missing = perf_block_u32(walk, behind + 28);
    }
    return missing < most ? missing : most;
}

/* The definitions tell once for all instances where values are: no value is looked at. */
bool perf_block_check(const uint8_t *data, uint32_t size, perf_block_summary *summary)
{
    perf_block_walk walk;
    perf_block_event event;
    checked_object object = {.is_sound = false};

    memset(summary, 0, sizeof *summary);
    perf_block_init(&walk, data, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            end_checked(summary, &object);
            summary->objects++;
            object = (checked_object){perf_block_holds_values(&walk), false, summary->values, 0};
        } else if (event == PERF_BLOCK_FAULT) {
            check_fault(summary, &walk, &object);
        }
        summary->definitions += event == PERF_BLOCK_DEFINITION;
        summary->instances += event == PERF_BLOCK_INSTANCE;
        summary->values += perf_block_values_left(&walk);
        perf_block_skip_values(&walk);
    }
    end_checked(summary, &object);
    summary->objects_left_out += objects_missing(&walk, summary->objects);
    return summary->faults == 0;
}
