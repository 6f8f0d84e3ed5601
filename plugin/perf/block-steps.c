/* block-steps.c
 * Whether a PERF_DATA_BLOCK begins, where its next structure is, and whether it can be there.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/block-steps.h"

#include <string.h>

#include "perf/bytes.h"

static bool has_signature(const uint8_t *data, const char *signature)
{
    return memcmp(data, signature, PERF_SIGNATURE_SIZE) == 0;
}

bool perf_block_is(const uint8_t *data, uint32_t size)
{
    return size >= PERF_SIGNATURE_SIZE && (has_signature(data, "P\0E\0R\0F") || has_signature(data, "\0P\0E\0R\0F"));
}

/* Bytes of text before its terminator, at most `room` of them. */
uint32_t perf_block_text_size(const uint8_t *text, uint32_t room, bool wide)
{
    uint32_t unit = wide ? 2 : 1;
    uint32_t n = 0;

    while (n + unit <= room && (text[n] != 0 || (wide && text[n + 1] != 0))) {
        n += unit;
    }
    return n;
}

bool perf_block_system_name_fits(const perf_block_walk *walk)
{
    uint32_t at = walk->header.name;

    return at >= PERF_DATA_BLOCK_SIZE && at <= walk->header.size && walk->header.name_room <= walk->header.size - at;
}

/* Samba fills a buffer that is too small with zeros behind the header, and calls that a success. */
bool perf_block_is_blank(const uint8_t *object)
{
    static const uint8_t zeros[PERF_OBJECT_TYPE_SIZE];

    return memcmp(object, zeros, sizeof zeros) == 0;
}

/* Whether a counter block of this object can be `step` bytes behind `at`. */
bool perf_block_counters_follow(const perf_block_walk *walk, uint32_t at, uint32_t step)
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
    if (left < PERF_INSTANCE_DEFINITION_SIZE) {
        return false;
    }
    uint32_t size = perf_block_u32(walk, at + step);
    return size >= PERF_INSTANCE_DEFINITION_SIZE && size <= left && perf_block_counters_follow(walk, at + step, size);
}

/* What the name's place says about the size of an instance, 0 if nothing. */
static uint32_t size_by_name(const perf_block_walk *walk, uint32_t at)
{
    uint64_t offset = perf_block_u32(walk, at + 16);
    uint64_t end = offset + perf_block_u32(walk, at + 20);

    return offset < PERF_INSTANCE_DEFINITION_SIZE || end > walk->object.end - at ? 0 : perf_align8((uint32_t)end);
}

/* Bytes from an instance at `at` to its counter block, 0 if that cannot be found. ByteLength is right if a counter block
 * follows there; else the next multiple of 8 is, or what the name needs. */
uint32_t perf_block_instance_step(const perf_block_walk *walk, uint32_t at)
{
    uint32_t size = perf_block_u32(walk, at);
    bool fits = size >= PERF_INSTANCE_DEFINITION_SIZE && size <= walk->object.end - at;

    if (fits && perf_block_counters_follow(walk, at, size)) {
        return size;
    }
    if (fits && size % 8 != 0 && perf_block_counters_follow(walk, at, perf_align8(size))) {
        return perf_align8(size);
    }
    uint32_t by_name = size_by_name(walk, at);
    if (by_name != 0 && perf_block_counters_follow(walk, at, by_name)) {
        return by_name;
    }
    return fits ? size : 0;
}

/* Bytes from a definition to the next. Where all have the usual size, a wrong ByteLength misleads nobody. */
uint32_t perf_block_definition_step(const perf_block_walk *walk, uint32_t definition)
{
    return walk->object.usual_definitions ? PERF_COUNTER_DEFINITION_SIZE : perf_block_u32(walk, definition);
}

/* Two of three sizes must make sense, since one of them may be wrong. */
bool perf_block_object_begins(const perf_block_walk *walk, uint32_t at)
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

/* Bytes from a counter block at `at` to what follows, 0 if that cannot be found. Like an instance's: its own size, the
 * next multiple of 8, or what its values need. */
uint32_t perf_block_counters_step(const perf_block_walk *walk, uint32_t at)
{
    uint32_t size = perf_block_u32(walk, at);
    uint32_t left = walk->object.end - at;
    uint32_t reach = walk->object.reach > PERF_COUNTER_BLOCK_SIZE ? walk->object.reach : PERF_COUNTER_BLOCK_SIZE;
    bool fits = size >= PERF_COUNTER_BLOCK_SIZE && size <= left;

    if (fits && size >= reach && instance_follows(walk, at, size)) {
        return size;
    }
    if (fits && size >= reach && size % 8 != 0 && instance_follows(walk, at, perf_align8(size))) {
        return perf_align8(size);
    }
    if (perf_align8(reach) != size && instance_follows(walk, at, perf_align8(reach))) {
        return perf_align8(reach);
    }
    return fits ? size : 0;
}

/* The place of a definition's value, by a counter block's room. */
bool perf_block_value_fits(const perf_block_walk *walk, uint32_t definition, uint32_t room)
{
    uint32_t size = perf_block_u32(walk, definition + 32);
    uint32_t offset = perf_block_u32(walk, definition + 36);

    return size == 0 || (offset >= PERF_COUNTER_BLOCK_SIZE && offset <= room && size <= room - offset);
}

/* The bytes that all values need, by the definitions alone. */
static uint32_t values_reach(const perf_block_walk *walk)
{
    uint64_t reach = 0;
    uint32_t at = walk->pos;
    uint32_t count = walk->left;

    while (count-- > 0 && walk->object.bodies - at >= PERF_COUNTER_DEFINITION_SIZE) {
        uint32_t step = perf_block_definition_step(walk, at);
        uint64_t width = perf_block_u32(walk, at + 32);
        uint64_t end = perf_block_u32(walk, at + 36) + width;
        reach = width > 0 && end > reach ? end : reach;
        if (step < PERF_COUNTER_DEFINITION_SIZE || step > walk->object.bodies - at) {
            break;
        }
        at += step;
    }
    return reach < UINT32_MAX ? (uint32_t)reach : UINT32_MAX;
}

/* What a counter block of the object has room for. All have the same size: the first one tells it, unless nothing follows
 * where it ends. Then the definitions are right and it is wrong. */
uint32_t perf_block_counters_room(const perf_block_walk *walk)
{
    perf_block_walk first = *walk;
    uint32_t reach = values_reach(walk);
    bool has_instances = walk->object.num_instances > 0;

    first.left = has_instances ? (uint32_t)walk->object.num_instances - 1 : 0;
    first.pos = walk->object.bodies;
    if (has_instances) {
        uint32_t step = walk->object.end - first.pos >= PERF_INSTANCE_DEFINITION_SIZE
                            ? perf_block_instance_step(&first, first.pos)
                            : 0;
        if (step == 0) {
            return reach;
        }
        first.pos += step;
        first.instance.number = 0;
    }
    if (walk->object.end - first.pos < PERF_COUNTER_BLOCK_SIZE) {
        return reach;
    }
    uint32_t size = perf_block_u32(walk, first.pos);
    bool leads_on = size >= PERF_COUNTER_BLOCK_SIZE && instance_follows(&first, first.pos, size);
    return size >= reach || leads_on ? size : reach;
}
