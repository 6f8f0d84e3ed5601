/* data-walk.c
 * One bounded walk through the counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-walk.h"

#include "perf/bytes.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* What perf_walk_next() reads next. */
enum {
    NEXT_HEADER,
    NEXT_BLOCK,
    NEXT_COUNTERS,
    NEXT_INSTANCES,
    NEXT_INSTANCE,
    NEXT_VALUE,
    NEXT_FAULT,
    NEXT_SKIP,
    NEXT_BLOCK_END,
    NEXT_TRAILER,
    NEXT_NOTHING
};

/* --- The places of structures ------------------------------------------------------------------------------------- */

static bool perf_walk_block_type_known(uint32_t type)
{
    return type == PERF_ERROR_RETURN || type == PERF_SINGLE_COUNTER || type == PERF_MULTIPLE_COUNTERS ||
           type == PERF_MULTIPLE_INSTANCES || type == PERF_COUNTERSET;
}

/* Bytes to what follows a structure: on the next step of 8, whether its size counts the padding in or not ([MS-PCQ] 2.2). The end
 * may lack it. */
static uint32_t step_over(uint32_t size, uint32_t left)
{
    return perf_align8(size) <= left ? perf_align8(size) : size;
}

/* From `at` on each block leads to the next one, and the last of those that are left to the end. */
static bool leads_to_end(const perf_walk *walk, uint32_t at)
{
    uint32_t left = walk->blocks_left;

    while (left > 0 && at <= walk->size && walk->size - at >= PERF_COUNTER_HEADER_SIZE) {
        uint32_t size = perf_le32(walk->data + at + 8);
        if (!perf_walk_block_type_known(perf_le32(walk->data + at + 4)) || size < PERF_COUNTER_HEADER_SIZE ||
            size > walk->size - at) {
            return false;
        }
        at += step_over(size, walk->size - at);
        left--;
    }
    return left == 0 && at <= walk->size && walk->size - at < 8;
}

/* --- The walk ----------------------------------------------------------------------------------------------------- */

const perf_fault_info perf_walk_fault_infos[PERF_NUM_FAULTS] = {PERF_WALK_FAULTS(PERF_FAULT_INFO)};

void perf_walk_init(perf_walk *walk, const uint8_t *data, uint32_t size)
{
    memset(walk, 0, sizeof *walk);
    walk->data = data;
    walk->size = size;
    walk->state = NEXT_HEADER;
}

void perf_walk_block(perf_walk *walk, const uint8_t *data, uint32_t size, uint32_t offset)
{
    assert(offset <= size && size - offset >= PERF_COUNTER_HEADER_SIZE);
    perf_walk_init(walk, data, size);
    walk->pos = offset;
    walk->one_block = true;
    walk->blocks_left = 1;
    walk->block.index = UINT32_MAX;
    walk->state = NEXT_BLOCK;
}

uint32_t perf_walk_counter_id(const perf_walk *walk, uint32_t column)
{
    assert(walk->counters.ids != 0 && column < walk->counters.count);
    return perf_le32(walk->data + walk->counters.ids + 4 * column);
}

void perf_walk_skip_block(perf_walk *walk)
{
    walk->state = NEXT_BLOCK;
    walk->pos = walk->block.end;
}

/* Where what stands in a block contradicts its size, the next one begins where that leads, or behind the last structure, whichever leads on to
 * the end; else it cannot be found. */
static void leave_broken_block(perf_walk *walk)
{
    uint32_t end = walk->block.end, body = perf_align8(walk->block.body);

    walk->is_followed = walk->is_followed || (!walk->block.open_end && leads_to_end(walk, end));
    perf_walk_skip_block(walk);
    if (walk->is_followed || (walk->blocks_left == 0 && !walk->block.open_end)) {
        return;
    }
    walk->is_followed = walk->blocks_left > 0 && body > 0 && leads_to_end(walk, body);
    walk->pos = body;
    walk->state = walk->is_followed ? NEXT_BLOCK : NEXT_NOTHING;
}

/* A walk of its own through the rest of the block. */
static perf_walk rest_of_block(const perf_walk *walk)
{
    perf_walk trial = *walk;

    trial.one_block = true;
    trial.blocks_left = 0;
    return trial;
}

/* The fault is the event, and `next` comes after it. */
static perf_walk_event fault(perf_walk *walk, perf_walk_fault what, uint32_t offset, uint32_t stated, uint32_t found,
                             uint8_t next)
{
    walk->fault = (perf_fault){what, offset, stated, found};
    walk->state = next;
    return PERF_WALK_FAULT;
}

/* Announces a structure; the fault is the next event. */
static perf_walk_event announce_faulty(perf_walk *walk, perf_walk_event event, perf_walk_fault what, uint32_t offset,
                                       uint32_t stated, uint32_t found, uint8_t then)
{
    fault(walk, what, offset, stated, found, NEXT_FAULT);
    walk->then = then;
    return event;
}

/* NEXT_SKIP is a place that only the fault's end leads to. */
static perf_walk_event report_fault(perf_walk *walk)
{
    walk->state = walk->then;
    if (walk->then == NEXT_SKIP) {
        leave_broken_block(walk);
    }
    return PERF_WALK_FAULT;
}

static perf_walk_event fail_block_size(perf_walk *walk)
{
    uint32_t at = walk->block.offset;

    leave_broken_block(walk);
    return fault(walk, PERF_FAULT_BLOCK_SIZE, at + 8, perf_le32(walk->data + at + 8), walk->size - at, walk->state);
}

/* The rest of the block is lost. If its size is wrong, that is the reason. */
static perf_walk_event skip_after(perf_walk *walk, perf_walk_fault what, uint32_t offset, uint32_t stated,
                                  uint32_t found)
{
    walk->block.body = what == PERF_FAULT_BLOCK_REST ? walk->block.body : 0;
    if (walk->block.open_end) {
        return fail_block_size(walk);
    }
    leave_broken_block(walk);
    return fault(walk, what, offset, stated, found, walk->state);
}

/* Less than 8 bytes in front of an end are padding ([MS-PCQ] 2.2.4). */
static inline bool is_rest(const perf_walk *walk, uint32_t end)
{
    return walk->pos < end && end - walk->pos >= 8;
}

static perf_walk_event read_header(perf_walk *walk)
{
    if (walk->size < PERF_DATA_HEADER_SIZE) {
        return fault(walk, PERF_FAULT_HEADER_SHORT, 0, walk->size, PERF_DATA_HEADER_SIZE, NEXT_NOTHING);
    }
    walk->blocks_left = perf_le32(walk->data + 4);
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
        return fault(walk, PERF_FAULT_TRAILING, at, walk->size - at, walk->block.index + 1, NEXT_NOTHING);
    }
    if (perf_le32(walk->data) != walk->size) {
        return fault(walk, PERF_FAULT_TOTAL_SIZE, 0, perf_le32(walk->data), walk->size, NEXT_NOTHING);
    }
    walk->state = NEXT_NOTHING;
    return PERF_WALK_END;
}

static uint8_t block_body(uint32_t type)
{
    return type == PERF_SINGLE_COUNTER                                 ? NEXT_VALUE
           : type == PERF_MULTIPLE_COUNTERS || type == PERF_COUNTERSET ? NEXT_COUNTERS
           : type == PERF_MULTIPLE_INSTANCES                           ? NEXT_INSTANCES
                                                                       : NEXT_BLOCK_END;
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
    walk->block.body = 0;
}

/* dwSize leads to the next block. One that leads nowhere still leaves this block readable. */
static perf_walk_event read_block(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->size - at;

    if (walk->blocks_left == 0) {
        walk->state = walk->one_block ? NEXT_NOTHING : NEXT_TRAILER;
        return perf_walk_next(walk);
    }
    if (left < PERF_COUNTER_HEADER_SIZE) {
        return fault(walk, PERF_FAULT_BLOCK_COUNT, 4, perf_le32(walk->data + 4), walk->block.index + 1, NEXT_NOTHING);
    }
    enter_block(walk, walk->data + at);

    uint32_t size = perf_le32(walk->data + at + 8);
    walk->blocks_left--;
    walk->block.open_end = size < PERF_COUNTER_HEADER_SIZE || size > left;
    size = walk->block.open_end ? left : size;
    walk->block.end = at + step_over(size, left);
    walk->limit = walk->block.limit = at + size;
    walk->pos += PERF_COUNTER_HEADER_SIZE;
    walk->state = block_body(walk->block.type);
    return PERF_WALK_BLOCK;
}

/* Reached after the last structure of a block and after a block without a body. */
static perf_walk_event end_block(perf_walk *walk)
{
    uint32_t at = walk->block.offset;
    uint32_t size = perf_le32(walk->data + at + 8);
    bool rest = is_rest(walk, walk->limit);

    walk->block.body = walk->pos;
    if (!perf_walk_block_type_known(walk->block.type)) {
        return skip_after(walk, PERF_FAULT_BLOCK_TYPE, at + 4, walk->block.type, size);
    }
    if (walk->block.open_end) {
        return fail_block_size(walk);
    }
    if (rest) {
        return skip_after(walk, PERF_FAULT_BLOCK_REST, at + 8, size, walk->pos - at);
    }
    perf_walk_skip_block(walk);
    return perf_walk_next(walk);
}

/* What stands behind PERF_MULTI_COUNTERS can begin here: a PERF_MULTI_INSTANCES that reaches to the block's end, or a PERF_COUNTER_DATA as servers
 * send it: dwDataSize is above 0, and dwSize is 8 more, or that rounded up to a multiple of 8. */
static bool counters_followed(const perf_walk *walk, uint32_t at)
{
    if (at > walk->limit || walk->limit - at < PERF_COUNTER_DATA_SIZE) { /* as many bytes as PERF_MULTI_INSTANCES has */
        return false;
    }
    uint32_t first = perf_le32(walk->data + at), size = perf_le32(walk->data + at + 4), left = walk->limit - at;
    if (walk->block.type == PERF_COUNTERSET) {
        return first == left;
    }
    return first > 0 && first <= size && size <= left &&
           (size == PERF_COUNTER_DATA_SIZE + first || size == perf_align8(PERF_COUNTER_DATA_SIZE + first));
}

/* An odd number of ids ends on half of an 8-byte step. Windows' own readers go on at dwSize; the specification's 8-byte rule
 * would put 4 bytes between: those are passed over if what follows stands behind them and not there. */
static uint32_t counters_step(const perf_walk *walk, uint32_t at, uint32_t size)
{
    bool is_padded = size % 8 == 4 && !counters_followed(walk, at + size) && counters_followed(walk, at + size + 4);

    return is_padded ? size + 4 : size;
}

static perf_walk_event read_counters(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (left < PERF_MULTI_COUNTERS_SIZE) {
        return skip_after(walk, PERF_FAULT_BLOCK_BODY, at, left, PERF_MULTI_COUNTERS_SIZE);
    }
    uint32_t size = perf_le32(walk->data + at);
    uint32_t count = perf_le32(walk->data + at + 4);
    bool fits = size >= PERF_MULTI_COUNTERS_SIZE && size <= left;
    uint32_t room = (fits ? size : left) - PERF_MULTI_COUNTERS_SIZE;

    walk->counters.offset = at;
    walk->counters.ids = at + PERF_MULTI_COUNTERS_SIZE;
    walk->counters.count = walk->values_left = count < room / 4 ? count : room / 4;
    walk->counters.size = PERF_MULTI_COUNTERS_SIZE + room;
    walk->state = walk->block.type == PERF_COUNTERSET ? NEXT_INSTANCES : NEXT_VALUE;
    if (!fits) {
        return announce_faulty(walk, PERF_WALK_COUNTERS, PERF_FAULT_COUNTERS_SIZE, at, size, left, NEXT_SKIP);
    }
    if (count > room / 4) {
        return announce_faulty(walk, PERF_WALK_COUNTERS, PERF_FAULT_COUNTERS_COUNT, at + 4, count, room / 4, NEXT_SKIP);
    }
    walk->counters.size = counters_step(walk, at, size);
    walk->pos = at + walk->counters.size;
    return PERF_WALK_COUNTERS;
}

/* Instances tell their own sizes: a wrong total does not keep them from being read. */
static perf_walk_event read_instances(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (left < PERF_MULTI_INSTANCES_SIZE) {
        return skip_after(walk, PERF_FAULT_BLOCK_BODY, at, left, PERF_MULTI_INSTANCES_SIZE);
    }
    uint32_t size = perf_le32(walk->data + at);
    walk->instances.offset = at;
    walk->instances.count = walk->instances_left = perf_le32(walk->data + at + 4);
    walk->pos = at + PERF_MULTI_INSTANCES_SIZE;
    if (size >= PERF_MULTI_INSTANCES_SIZE && size <= left && !walk->block.open_end) {
        walk->limit = at + size;
    }
    walk->state = NEXT_INSTANCE;
    return PERF_WALK_INSTANCES;
}

static perf_walk_event end_instances(perf_walk *walk)
{
    uint32_t at = walk->instances.offset;
    uint32_t size = perf_le32(walk->data + at);

    if (walk->block.open_end) {
        return end_block(walk);
    }
    if (is_rest(walk, walk->limit)) { /* the list's end, or where its size cannot be right the block's */
        return skip_after(walk, PERF_FAULT_INSTANCES_REST, at + 4, walk->instances.count, walk->limit - walk->pos);
    }
    if (size != walk->limit - at) {
        return fault(walk, PERF_FAULT_INSTANCES_SIZE, at, size, walk->limit - at, NEXT_BLOCK_END);
    }
    walk->limit = walk->block.limit;
    return end_block(walk);
}

static void find_name(perf_walk *walk)
{
    uint32_t room = (walk->instance.size - PERF_INSTANCE_HEADER_SIZE) & ~1U;
    uint32_t size = perf_utf16_size(walk->data + walk->instance.name, room);

    walk->instance.name_size = size;
    walk->instance.terminated = size < room || room == 0;
}

static perf_walk_event read_instance(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (walk->instances_left == 0) {
        return end_instances(walk);
    }
    if (left < PERF_INSTANCE_HEADER_SIZE) {
        return skip_after(walk, PERF_FAULT_INSTANCES_COUNT, walk->instances.offset + 4, walk->instances.count,
                          walk->instance.index + 1);
    }
    uint32_t size = perf_le32(walk->data + at);
    walk->instance.offset = at;
    if (size < PERF_INSTANCE_HEADER_SIZE || size > left) {
        return announce_faulty(walk, PERF_WALK_NO_INSTANCE, PERF_FAULT_INSTANCE_SIZE, at, size, left, NEXT_SKIP);
    }
    walk->instances_left--;
    walk->instance.index++;
    walk->instance.size = step_over(size, left);
    walk->instance.id = perf_le32(walk->data + at + 4);
    walk->instance.name = at + PERF_INSTANCE_HEADER_SIZE;
    find_name(walk);
    walk->pos = at + walk->instance.size;
    walk->values_left = walk->counters.count;
    walk->state = NEXT_VALUE;
    if (size % 8 != 0) {
        return announce_faulty(walk, PERF_WALK_INSTANCE, PERF_FAULT_INSTANCE_ODD, at, size, 8, NEXT_VALUE);
    }
    if (!walk->instance.terminated) {
        return announce_faulty(walk, PERF_WALK_INSTANCE, PERF_FAULT_INSTANCE_TEXT, at, size, walk->instance.name_size,
                               NEXT_VALUE);
    }
    return PERF_WALK_INSTANCE;
}

/* A sound dwSize still leads to the next value. */
static perf_walk_event fail_value(perf_walk *walk, uint32_t at, uint32_t size, uint32_t data_size)
{
    uint32_t left = walk->limit - at;

    if (size < PERF_COUNTER_DATA_SIZE || size > left) {
        walk->value.size = PERF_COUNTER_DATA_SIZE;
        return announce_faulty(walk, PERF_WALK_NO_VALUE, PERF_FAULT_VALUE_SIZE, at + 4, size, left, NEXT_SKIP);
    }
    walk->value.size = size;
    walk->pos = at + step_over(size, left);
    return announce_faulty(walk, PERF_WALK_NO_VALUE, PERF_FAULT_VALUE_DATA_SIZE, at, data_size,
                           size - PERF_COUNTER_DATA_SIZE, NEXT_VALUE);
}

static perf_walk_event read_value(perf_walk *walk)
{
    uint32_t at = walk->pos;
    uint32_t left = walk->limit - at;

    if (left < PERF_COUNTER_DATA_SIZE) {
        return walk->block.type == PERF_SINGLE_COUNTER
                   ? skip_after(walk, PERF_FAULT_BLOCK_BODY, at, left, PERF_COUNTER_DATA_SIZE)
                   : skip_after(walk, PERF_FAULT_VALUE_COUNT, at, walk->counters.count,
                                walk->counters.count - walk->values_left);
    }
    uint32_t data_size = perf_le32(walk->data + at);
    uint32_t size = perf_le32(walk->data + at + 4);
    walk->value.column = walk->counters.count - walk->values_left;
    walk->value.offset = at;
    walk->value.data = at + PERF_COUNTER_DATA_SIZE;
    walk->value.data_size = data_size;
    walk->values_left--;
    if (size < PERF_COUNTER_DATA_SIZE || size > left || data_size > size - PERF_COUNTER_DATA_SIZE) {
        return fail_value(walk, at, size, data_size);
    }
    walk->value.size = step_over(size, left);
    walk->pos = at + walk->value.size;
    return PERF_WALK_VALUE;
}

/* The values of this block or instance, and what follows the last. */
static perf_walk_event read_values(perf_walk *walk)
{
    if (walk->values_left > 0) {
        return read_value(walk);
    }
    return walk->instance.index == PERF_NO_INSTANCE ? end_block(walk) : read_instance(walk);
}

perf_walk_event perf_walk_next(perf_walk *walk)
{
    static perf_walk_event (*const steps[NEXT_NOTHING])(perf_walk *walk) = {
        [NEXT_HEADER] = read_header,       [NEXT_BLOCK] = read_block,       [NEXT_COUNTERS] = read_counters,
        [NEXT_INSTANCES] = read_instances, [NEXT_INSTANCE] = read_instance, [NEXT_VALUE] = read_values,
        [NEXT_FAULT] = report_fault,       [NEXT_BLOCK_END] = end_block,    [NEXT_TRAILER] = read_trailer,
    };

    return walk->state == NEXT_NOTHING ? PERF_WALK_END : steps[walk->state](walk);
}

/* --- The buffer as a whole ---------------------------------------------------------------------------------------- */

/* A plain value is a PERF_COUNTER_DATA whose dwSize is 16 and whose dwDataSize is 1 to 8. Plain rows and blocks have no others. This is less
 * than 8 for one: both sizes are read as one number. */
static inline uint64_t plain_code(const uint8_t *at)
{
    return perf_le64(at) - ((UINT64_C(16) << 32) + 1);
}

/* How many of `count` values from `at` on are plain, up to the first that is not. Nearly all are, so this loop is what a first look
 * at counter data costs: two at a time. */
static uint32_t count_plain(const uint8_t *at, uint32_t count)
{
    const uint8_t *start = at;
    const uint8_t *end = at + (size_t)count * 16;

    while (end - at >= 32 && (plain_code(at) | plain_code(at + 16)) < 8) {
        at += 32;
    }
    while (at != end && plain_code(at) < 8) {
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
    uint32_t passed = count_plain(walk->data + walk->pos, walk->values_left < room ? walk->values_left : room);

    walk->pos += passed * 16;
    walk->values_left -= passed;
    return passed;
}

/* A plain row: a terminator in the last 8 bytes of the instance, and plain values alone. `*row_size` is set if it is one. */
static bool is_plain_row(const uint8_t *at, uint32_t left, uint32_t columns, uint32_t *row_size)
{
    uint32_t size = left < 16 ? 0 : perf_le32(at);

    if (size < 16 || size % 8 != 0 || size > left || columns > (left - size) / 16) {
        return false;
    }
    *row_size = size + columns * 16;
    return perf_has_zero_unit(perf_le64(at + size - 8)) && count_plain(at + size, columns) == columns;
}

/* A plain block: dwErrorCode 0, dwType PERF_SINGLE_COUNTER, and one plain value alone. */
static bool is_plain_block(const uint8_t *at)
{
    return perf_le64(at) == (uint64_t)PERF_SINGLE_COUNTER << 32 && perf_le32(at + 8) == PERF_COUNTER_HEADER_SIZE + 16 &&
           plain_code(at + PERF_COUNTER_HEADER_SIZE) < 8;
}

uint32_t perf_walk_pass_blocks(perf_walk *walk)
{
    uint32_t passed = 0, size = PERF_COUNTER_HEADER_SIZE + 16;
    bool is_read = walk->state == NEXT_VALUE && walk->values_left == 0 && walk->block.type == PERF_SINGLE_COUNTER &&
                   walk->pos == walk->block.limit && !walk->block.open_end;

    if (is_read) {
        perf_walk_skip_block(walk);
    }
    while (walk->state == NEXT_BLOCK && passed < walk->blocks_left && walk->size - walk->pos >= size &&
           is_plain_block(walk->data + walk->pos)) {
        walk->pos += size;
        passed++;
    }
    walk->blocks_left -= passed;
    walk->block.index += passed;
    return passed;
}

/* A plain row has the name. Mostly its end tells that it has not. */
static inline bool is_named(const uint8_t *at, const uint8_t *name, uint32_t size)
{
    const uint8_t *there = at + PERF_INSTANCE_HEADER_SIZE;
    uint32_t end = size < 8 ? 0 : size - 8;

    return size + 2 <= perf_le32(at) - PERF_INSTANCE_HEADER_SIZE && perf_le16(there + size) == 0 &&
           (size < 8 || perf_le64(there + end) == perf_le64(name + end)) && memcmp(there, name, size) == 0;
}

/* With a `name` no further than to the first that has it. */
static uint32_t pass_rows(perf_walk *walk, const uint8_t *name, uint32_t name_size)
{
    bool is_between_rows = walk->state == NEXT_INSTANCE || (walk->state == NEXT_VALUE && walk->values_left == 0);
    uint32_t passed = 0, size;

    while (is_between_rows && passed < walk->instances_left &&
           is_plain_row(walk->data + walk->pos, walk->limit - walk->pos, walk->counters.count, &size) &&
           !(name && is_named(walk->data + walk->pos, name, name_size))) {
        walk->pos += size;
        passed++;
    }
    walk->instances_left -= passed;
    walk->instance.index += passed;
    return passed;
}

uint32_t perf_walk_pass_rows(perf_walk *walk)
{
    return pass_rows(walk, NULL, 0);
}

bool perf_walk_find_named(perf_walk *walk, const uint8_t *name, uint32_t size)
{
    perf_walk_event event;

    do {
        perf_walk_pass_values(walk);
        pass_rows(walk, name, size);
        event = perf_walk_next(walk);
    } while (event != PERF_WALK_END && !(event == PERF_WALK_INSTANCE && walk->instance.name_size == size &&
                                         memcmp(walk->data + walk->instance.name, name, size) == 0));
    return event != PERF_WALK_END;
}

static bool does_harm(const perf_walk *walk)
{
    return perf_walk_fault_infos[walk->fault.what].harm;
}

bool perf_walk_block_sound(const perf_walk *walk)
{
    perf_walk trial = rest_of_block(walk);
    perf_walk_event event;

    while ((event = perf_walk_next(&trial)) != PERF_WALK_END) {
        if (event == PERF_WALK_FAULT && does_harm(&trial)) {
            return false;
        }
        perf_walk_pass_values(&trial);
        perf_walk_pass_rows(&trial);
    }
    return true;
}

bool perf_walk_block_empty(const perf_walk *walk)
{
    perf_walk trial = rest_of_block(walk);
    perf_walk_event event;

    do {
        event = perf_walk_next(&trial);
    } while (event != PERF_WALK_VALUE && event != PERF_WALK_FAULT && event != PERF_WALK_END);
    return event == PERF_WALK_END && walk->block.type != PERF_ERROR_RETURN;
}

/* Of so many ids that do not ascend it is not looked for. */
#define MOST_COMPARED_IDS 256

/* An id of the block that the walk is in stands there twice, or may. */
static bool has_twins(const perf_walk *walk)
{
    bool ascend = true, found = false;

    for (uint32_t i = 1; i < walk->counters.count && !found; i++) {
        uint32_t id = perf_walk_counter_id(walk, i);
        ascend = ascend && perf_walk_counter_id(walk, i - 1) < id;
        for (uint32_t j = 0; j < i && !ascend && !found; j++) {
            found = perf_walk_counter_id(walk, j) == id || i > MOST_COMPARED_IDS;
        }
    }
    return found;
}

bool perf_data_check(const uint8_t *data, uint32_t size, perf_data_summary *summary)
{
    perf_walk walk;
    perf_walk_event event;
    bool sound = false;

    *summary = (perf_data_summary){.is_counted = true};
    perf_walk_init(&walk, data, size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_BLOCK) {
            summary->blocks++;
            summary->failed += walk.block.status != 0;
            summary->empty += perf_walk_block_empty(&walk);
            summary->sound_blocks += sound;
            sound = true;
        } else if (event == PERF_WALK_FAULT) {
            summary->faults++;
            summary->is_counted &= walk.fault.what != PERF_FAULT_TRAILING;
            sound = sound && !does_harm(&walk);
        }
        summary->has_twins |= event == PERF_WALK_COUNTERS && has_twins(&walk);
        summary->values += event == PERF_WALK_VALUE;
        summary->values += perf_walk_pass_values(&walk);
        uint32_t passed = perf_walk_pass_blocks(&walk);
        summary->blocks += passed;
        summary->sound_blocks += passed;
        summary->values += passed;
        summary->values += perf_walk_pass_rows(&walk) * walk.counters.count;
    }
    summary->sound_blocks += sound;
    summary->is_counted &= size >= PERF_DATA_HEADER_SIZE && perf_le32(data + 4) == summary->blocks;
    return summary->faults == 0;
}
