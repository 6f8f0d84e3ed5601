/* data-walk.c
 * One bounded walk through the counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-walk.h"

#include <stddef.h>
#include <string.h>

#include "perf/bytes.h"

/* What perf_walk_next() reads next. */
enum {
    NEXT_HEADER,
    NEXT_BLOCK,
    NEXT_COUNTERS,
    NEXT_COUNTERS_FAULT,
    NEXT_INSTANCES,
    NEXT_INSTANCE,
    NEXT_INSTANCE_FAULT,
    NEXT_VALUE,
    NEXT_VALUE_FAULT,
    NEXT_BLOCK_END,
    NEXT_TRAILER,
    NEXT_NOTHING
};

/* How values whose dwSize is no multiple of 8 are stepped over. */
enum {
    PADDING_UNKNOWN,
    PADDING_NOT_COUNTED, /* there is padding, dwSize leaves it out */
    PADDING_NONE
};

#define PERF_WALK_FAULT_TEXT(name, text) text,
const char *const perf_walk_fault_text[PERF_NUM_FAULTS] = {PERF_WALK_FAULTS(PERF_WALK_FAULT_TEXT)};

void perf_walk_init(perf_walk *walk, const uint8_t *data, uint32_t size)
{
    memset(walk, 0, sizeof *walk);
    walk->data = data;
    walk->size = size;
    walk->state = NEXT_HEADER;
}

void perf_walk_block(perf_walk *walk, const uint8_t *data, uint32_t size, uint32_t offset)
{
    perf_walk_init(walk, data, size);
    walk->pos = offset;
    walk->one_block = true;
    walk->blocks_left = 1;
    walk->block.index = UINT32_MAX;
    walk->state = NEXT_BLOCK;
}

uint32_t perf_walk_counter_id(const perf_walk *walk, uint32_t column)
{
    return perf_le32(walk->data + walk->counters.ids + 4 * column);
}

bool perf_walk_instance_sound(const perf_walk *walk)
{
    return walk->instance.terminated && walk->instance.size % 8 == 0;
}

void perf_walk_skip_block(perf_walk *walk)
{
    walk->pos = walk->block.end;
    walk->state = NEXT_BLOCK;
}

static perf_walk_event fault(perf_walk *walk, perf_walk_fault what, uint32_t offset, uint8_t next)
{
    walk->fault = what;
    walk->fault_offset = offset;
    walk->state = next;
    return PERF_WALK_FAULT;
}

static perf_walk_event skip_after(perf_walk *walk, perf_walk_fault what, uint32_t offset)
{
    perf_walk_skip_block(walk);
    return fault(walk, what, offset, NEXT_BLOCK);
}

static inline uint32_t align8(uint32_t size)
{
    return (size + 7) & ~7U;
}

/* Less than 8 bytes in front of an end are padding ([MS-PCQ] 2.2.4). */
static inline bool is_rest(const perf_walk *walk, uint32_t end)
{
    return walk->pos < end && end - walk->pos >= 8;
}

static perf_walk_event read_header(perf_walk *walk)
{
    if (walk->size < PERF_DATA_HEADER_SIZE) {
        return fault(walk, PERF_FAULT_HEADER_SHORT, 0, NEXT_NOTHING);
    }
    walk->num_blocks = walk->blocks_left = perf_le32(walk->data + 4);
    walk->pos = PERF_DATA_HEADER_SIZE;
    walk->block.index = UINT32_MAX;
    walk->state = NEXT_BLOCK;
    return PERF_WALK_HEADER;
}

/* The header's own total is checked at the end, where it can no longer hide what was readable. */
static perf_walk_event read_trailer(perf_walk *walk)
{
    if (is_rest(walk, walk->size)) {
        uint32_t at = walk->pos;
        walk->pos = walk->size;
        return fault(walk, PERF_FAULT_TRAILING, at, NEXT_TRAILER);
    }
    if (perf_le32(walk->data) != walk->size) {
        return fault(walk, PERF_FAULT_TOTAL_SIZE, 0, NEXT_NOTHING);
    }
    walk->state = NEXT_NOTHING;
    return PERF_WALK_END;
}

static uint8_t block_body(uint32_t type)
{
    switch (type) {
    case PERF_SINGLE_COUNTER:
        return NEXT_VALUE;
    case PERF_MULTIPLE_COUNTERS:
    case PERF_COUNTERSET:
        return NEXT_COUNTERS;
    case PERF_MULTIPLE_INSTANCES:
        return NEXT_INSTANCES;
    default:
        return NEXT_BLOCK_END;
    }
}

static bool known_block_type(uint32_t type)
{
    return type == PERF_ERROR_RETURN || block_body(type) != NEXT_BLOCK_END;
}

static void enter_block(perf_walk *walk, const uint8_t *header)
{
    walk->block.index++;
    walk->block.offset = walk->pos;
    walk->block.status = perf_le32(header);
    walk->block.type = perf_le32(header + 4);
    walk->counters.count = walk->values_left = 1;
    walk->counters.ids = 0;
    walk->instance.index = PERF_NO_INSTANCE;
    walk->instances_left = 0;
    walk->padding = PADDING_UNKNOWN;
}

static bool block_fits(const perf_walk *walk, uint32_t at)
{
    if (at == walk->size) {
        return true;
    }
    if (at > walk->size || walk->size - at < PERF_COUNTER_HEADER_SIZE) {
        return false;
    }
    uint32_t type = perf_le32(walk->data + at + 4);
    uint32_t size = perf_le32(walk->data + at + 8);
    return known_block_type(type) && size >= PERF_COUNTER_HEADER_SIZE && size <= walk->size - at;
}

/* Windows counts the padding in; a dwSize without it ([MS-PCQ] 2.2.4.8 taken by its word) is known by what
 * follows. */
static uint32_t block_step(const perf_walk *walk, uint32_t at, uint32_t size)
{
    uint32_t left = walk->size - at;

    if (size >= left) {
        return left;
    }
    return size % 8 != 0 && block_fits(walk, at + align8(size)) ? align8(size) : size;
}

/* dwSize leads to the next block. One that reaches beyond the buffer still leaves this block readable. */
static perf_walk_event read_block(perf_walk *walk)
{
    uint32_t left = walk->size - walk->pos;

    if (walk->blocks_left == 0) {
        walk->state = walk->one_block ? NEXT_NOTHING : NEXT_TRAILER;
        return perf_walk_next(walk);
    }
    if (left < PERF_COUNTER_HEADER_SIZE) {
        walk->blocks_left = 0;
        return fault(walk, PERF_FAULT_BLOCK_COUNT, walk->pos, NEXT_TRAILER);
    }
    enter_block(walk, walk->data + walk->pos);

    uint32_t size = perf_le32(walk->data + walk->pos + 8);
    walk->blocks_left--;
    if (size < PERF_COUNTER_HEADER_SIZE) {
        walk->limit = walk->block.limit = walk->block.end = walk->pos += PERF_COUNTER_HEADER_SIZE;
        walk->blocks_left = 0;
        walk->state = NEXT_BLOCK_END;
        return PERF_WALK_BLOCK;
    }
    walk->block.end = walk->pos + block_step(walk, walk->pos, size);
    walk->limit = walk->block.limit = walk->pos + (size < left ? size : left);
    walk->pos += PERF_COUNTER_HEADER_SIZE;
    walk->state = block_body(walk->block.type);
    return PERF_WALK_BLOCK;
}

/* Reached after the last structure of a block and after a block without a body. */
static perf_walk_event end_block(perf_walk *walk)
{
    uint32_t size = perf_le32(walk->data + walk->block.offset + 8);
    uint32_t at = walk->block.offset;
    bool rest = is_rest(walk, walk->limit);

    walk->pos = walk->block.end;
    walk->state = NEXT_BLOCK;
    if (size < PERF_COUNTER_HEADER_SIZE) {
        return fault(walk, PERF_FAULT_BLOCK_SIZE_SMALL, at, NEXT_BLOCK);
    }
    if (!known_block_type(walk->block.type)) {
        return fault(walk, PERF_FAULT_BLOCK_TYPE, at, NEXT_BLOCK);
    }
    if (size > walk->size - at) {
        return fault(walk, PERF_FAULT_BLOCK_SIZE_LARGE, at, NEXT_BLOCK);
    }
    if ((walk->block.end - at) % 8 != 0) {
        return fault(walk, PERF_FAULT_BLOCK_SIZE_ODD, at, NEXT_BLOCK);
    }
    if (rest) {
        return fault(walk, PERF_FAULT_BLOCK_REST, at, NEXT_BLOCK);
    }
    return perf_walk_next(walk);
}

static bool value_fits(const perf_walk *walk, uint32_t at)
{
    if (at > walk->limit || walk->limit - at < PERF_COUNTER_DATA_SIZE) {
        return false;
    }
    uint32_t data_size = perf_le32(walk->data + at);
    uint32_t size = perf_le32(walk->data + at + 4);
    return size >= PERF_COUNTER_DATA_SIZE && size <= walk->limit - at && data_size <= size - PERF_COUNTER_DATA_SIZE;
}

static bool instances_fit(const perf_walk *walk, uint32_t at)
{
    return at <= walk->limit && walk->limit - at >= PERF_MULTI_INSTANCES_SIZE &&
           perf_le32(walk->data + at) == walk->limit - at;
}

/* An odd number of ids ends on half of an 8-byte step. Windows' own readers go on at dwSize; the specification's
 * 8-byte rule would put 4 bytes between. What follows tells which it is. */
static uint32_t counters_step(const perf_walk *walk, uint32_t at, uint32_t size)
{
    bool (*fits)(const perf_walk *, uint32_t) = walk->block.type == PERF_COUNTERSET ? instances_fit : value_fits;

    if (size % 8 == 4 && !fits(walk, at + size) && fits(walk, at + size + 4)) {
        return size + 4;
    }
    return size;
}

static perf_walk_event read_counters(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (left < PERF_MULTI_COUNTERS_SIZE) {
        return skip_after(walk, PERF_FAULT_BLOCK_BODY, at);
    }
    uint32_t size = perf_le32(walk->data + at);
    uint32_t count = perf_le32(walk->data + at + 4);
    uint32_t room = (size >= PERF_MULTI_COUNTERS_SIZE && size <= left ? size : left) - PERF_MULTI_COUNTERS_SIZE;

    walk->counters.offset = at;
    walk->counters.ids = at + PERF_MULTI_COUNTERS_SIZE;
    walk->counters.count = count < room / 4 ? count : room / 4;
    walk->counters.size = PERF_MULTI_COUNTERS_SIZE + room;
    if (size < PERF_MULTI_COUNTERS_SIZE || size > left || count > room / 4) {
        walk->state = NEXT_COUNTERS_FAULT;
        return PERF_WALK_COUNTERS;
    }
    walk->counters.size = counters_step(walk, at, size);
    walk->pos = at + walk->counters.size;
    walk->values_left = count;
    walk->state = walk->block.type == PERF_COUNTERSET ? NEXT_INSTANCES : NEXT_VALUE;
    return PERF_WALK_COUNTERS;
}

static perf_walk_event fail_counters(perf_walk *walk)
{
    uint32_t at = walk->counters.offset;
    uint32_t size = perf_le32(walk->data + at);
    bool sound = size >= PERF_MULTI_COUNTERS_SIZE && size <= walk->block.end - at;

    return skip_after(walk, sound ? PERF_FAULT_COUNTERS_COUNT : PERF_FAULT_COUNTERS_SIZE, at);
}

/* Instances tell their own sizes: a wrong total does not keep them from being read. */
static perf_walk_event read_instances(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (left < PERF_MULTI_INSTANCES_SIZE) {
        return skip_after(walk, PERF_FAULT_BLOCK_BODY, at);
    }
    uint32_t size = perf_le32(walk->data + at);
    walk->instances.offset = at;
    walk->instances.count = walk->instances_left = perf_le32(walk->data + at + 4);
    walk->values_left = 0;
    walk->pos = at + PERF_MULTI_INSTANCES_SIZE;
    if (size >= PERF_MULTI_INSTANCES_SIZE && size <= left) {
        walk->limit = at + size;
    }
    walk->state = NEXT_INSTANCE;
    return PERF_WALK_INSTANCES;
}

static perf_walk_event end_instances(perf_walk *walk)
{
    uint32_t at = walk->instances.offset;
    uint32_t size = perf_le32(walk->data + at);

    if (is_rest(walk, walk->limit)) {
        return skip_after(walk, PERF_FAULT_INSTANCES_REST, walk->pos);
    }
    if (size != walk->limit - at) {
        return fault(walk, PERF_FAULT_INSTANCES_SIZE, at, NEXT_BLOCK_END);
    }
    walk->limit = walk->block.limit;
    return end_block(walk);
}

/* True if one of four 16-bit units is 0. */
static inline bool has_zero_unit(uint64_t units)
{
    return ((units - 0x0001000100010001U) & ~units & 0x8000800080008000U) != 0;
}

static void find_name(perf_walk *walk)
{
    const uint8_t *name = walk->data + walk->instance.name;
    uint32_t room = (walk->instance.size - PERF_INSTANCE_HEADER_SIZE) & ~1U;
    uint32_t n = 0;

    while (room - n >= 8 && !has_zero_unit(perf_le64(name + n))) {
        n += 8;
    }
    while (n < room && (name[n] != 0 || name[n + 1] != 0)) {
        n += 2;
    }
    walk->instance.name_size = n;
    walk->instance.terminated = n < room || room == 0;
}

static perf_walk_event read_instance(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (walk->instances_left == 0) {
        return end_instances(walk);
    }
    if (left < PERF_INSTANCE_HEADER_SIZE) {
        return skip_after(walk, PERF_FAULT_INSTANCES_COUNT, at);
    }
    uint32_t size = perf_le32(walk->data + at);
    if (size < PERF_INSTANCE_HEADER_SIZE || size > left) {
        walk->instance.offset = at;
        walk->state = NEXT_INSTANCE_FAULT;
        return PERF_WALK_NO_INSTANCE;
    }
    walk->instances_left--;
    walk->instance.index++;
    walk->instance.offset = at;
    walk->instance.size = size;
    walk->instance.id = perf_le32(walk->data + at + 4);
    walk->instance.name = at + PERF_INSTANCE_HEADER_SIZE;
    find_name(walk);
    walk->pos = at + size;
    walk->values_left = walk->counters.count;
    walk->state = NEXT_VALUE;
    return PERF_WALK_INSTANCE;
}

/* Whether the rest of the block adds up if values are stepped over in this way. */
static bool ends_well(const perf_walk *walk, uint8_t padding)
{
    perf_walk trial = *walk;
    perf_walk_event event;

    trial.padding = padding;
    trial.one_block = true;
    trial.blocks_left = 0;
    do {
        event = perf_walk_next(&trial);
    } while (event != PERF_WALK_END && event != PERF_WALK_FAULT);
    return event == PERF_WALK_END;
}

/* Windows counts the padding in. A dwSize without it ([MS-PCQ] 2.2.4.9 taken by its word) can have the next structure
 * on the next 8-byte step or right behind; the rest of the block tells, once for all its values. */
static uint32_t value_step(perf_walk *walk, uint32_t size, uint32_t left)
{
    if (walk->padding == PADDING_UNKNOWN) {
        bool bare = !ends_well(walk, PADDING_NOT_COUNTED) && ends_well(walk, PADDING_NONE);
        walk->padding = bare ? PADDING_NONE : PADDING_NOT_COUNTED;
    }
    return walk->padding == PADDING_NOT_COUNTED && align8(size) <= left ? align8(size) : size;
}

static perf_walk_event read_value(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (left < PERF_COUNTER_DATA_SIZE) {
        bool only_one = walk->block.type == PERF_SINGLE_COUNTER;
        return skip_after(walk, only_one ? PERF_FAULT_BLOCK_BODY : PERF_FAULT_VALUE_COUNT, at);
    }
    uint32_t data_size = perf_le32(walk->data + at);
    uint32_t size = perf_le32(walk->data + at + 4);
    bool size_fits = size >= PERF_COUNTER_DATA_SIZE && size <= left;
    walk->value.column = walk->counters.count - walk->values_left;
    walk->value.offset = at;
    walk->value.data = at + PERF_COUNTER_DATA_SIZE;
    walk->value.data_size = data_size;
    uint32_t step = size_fits && size % 8 != 0 ? value_step(walk, size, left) : size;
    walk->values_left--;
    if (!size_fits || data_size > size - PERF_COUNTER_DATA_SIZE) {
        walk->value.size = size_fits ? size : PERF_COUNTER_DATA_SIZE;
        walk->state = NEXT_VALUE_FAULT;
        return PERF_WALK_NO_VALUE;
    }
    walk->value.size = step;
    walk->pos = at + walk->value.size;
    return PERF_WALK_VALUE;
}

/* A sound dwSize still leads to the next value. */
static perf_walk_event fail_value(perf_walk *walk)
{
    uint32_t at = walk->value.offset;
    uint32_t size = perf_le32(walk->data + at + 4);

    if (size < PERF_COUNTER_DATA_SIZE || size > walk->limit - at) {
        return skip_after(walk, PERF_FAULT_VALUE_SIZE, at);
    }
    walk->pos = at + (align8(size) <= walk->limit - at ? align8(size) : size);
    return fault(walk, PERF_FAULT_VALUE_DATA_SIZE, at, NEXT_VALUE);
}

perf_walk_event perf_walk_next(perf_walk *walk)
{
    switch (walk->state) {
    case NEXT_VALUE:
        if (walk->values_left > 0) {
            return read_value(walk);
        }
        if (walk->instance.index == PERF_NO_INSTANCE) {
            return end_block(walk);
        }
        return read_instance(walk);
    case NEXT_INSTANCE_FAULT:
        return skip_after(walk, PERF_FAULT_INSTANCE_SIZE, walk->instance.offset);
    case NEXT_VALUE_FAULT:
        return fail_value(walk);
    case NEXT_INSTANCE:
        return read_instance(walk);
    case NEXT_HEADER:
        return read_header(walk);
    case NEXT_BLOCK:
        return read_block(walk);
    case NEXT_COUNTERS:
        return read_counters(walk);
    case NEXT_COUNTERS_FAULT:
        return fail_counters(walk);
    case NEXT_INSTANCES:
        return read_instances(walk);
    case NEXT_BLOCK_END:
        return end_block(walk);
    case NEXT_TRAILER:
        return read_trailer(walk);
    default:
        return PERF_WALK_END;
    }
}

/* How many of `count` values from `at` on are numbers of the usual 16 bytes. Nearly all are, so this loop is what a
 * first look at counter data costs. */
static uint32_t count_usual(const uint8_t *at, uint32_t count)
{
    const uint8_t *start = at;
    const uint8_t *end = at + (size_t)count * 16;

    while (at != end) {
        uint64_t sizes = perf_le64(at); /* dwDataSize, dwSize */
        if (sizes >> 32 != 16 || (uint32_t)sizes > 8) {
            break;
        }
        at += 16;
    }
    return (uint32_t)((at - start) / 16);
}

uint32_t perf_walk_pass_values(perf_walk *walk)
{
    if (walk->state != NEXT_VALUE) {
        return 0;
    }
    uint32_t room = (walk->limit - walk->pos) / 16;
    uint32_t passed = count_usual(walk->data + walk->pos, walk->values_left < room ? walk->values_left : room);

    walk->pos += passed * 16;
    walk->values_left -= passed;
    return passed;
}

/* A usual row: a terminator in the last 8 bytes of the instance, and usual values. */
static bool usual_row(const uint8_t *at, uint32_t left, uint32_t columns, uint32_t *row_size)
{
    uint32_t size = left < 16 ? 0 : perf_le32(at);

    if (size < 16 || size % 8 != 0 || size > left || columns > (left - size) / 16) {
        return false;
    }
    *row_size = size + columns * 16;
    return has_zero_unit(perf_le64(at + size - 8)) && count_usual(at + size, columns) == columns;
}

uint32_t perf_walk_pass_rows(perf_walk *walk)
{
    uint32_t passed = 0;
    uint32_t size;
    bool between_rows = walk->state == NEXT_INSTANCE || (walk->state == NEXT_VALUE && walk->values_left == 0);

    while (between_rows && passed < walk->instances_left &&
           usual_row(walk->data + walk->pos, walk->limit - walk->pos, walk->counters.count, &size)) {
        walk->pos += size;
        passed++;
    }
    walk->instances_left -= passed;
    walk->instance.index += passed;
    return passed;
}

bool perf_data_check(const uint8_t *data, uint32_t size, perf_data_summary *summary)
{
    perf_walk walk;
    perf_walk_event event;

    memset(summary, 0, sizeof *summary);
    perf_walk_init(&walk, data, size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        summary->values += (event == PERF_WALK_VALUE) + perf_walk_pass_values(&walk);
        uint32_t rows = perf_walk_pass_rows(&walk);
        summary->instances += rows;
        summary->values += rows * walk.counters.count;
        summary->blocks += event == PERF_WALK_BLOCK;
        summary->failed += event == PERF_WALK_BLOCK && walk.block.status != 0;
        summary->ids += event == PERF_WALK_COUNTERS ? walk.counters.count : 0;
        summary->faults += event == PERF_WALK_FAULT;
        if (event == PERF_WALK_INSTANCE) {
            summary->instances++;
            summary->faults += !perf_walk_instance_sound(&walk);
        }
    }
    return summary->faults == 0;
}
