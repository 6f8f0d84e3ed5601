/* data-check.c
 * What a whole buffer of counter data holds, which of its blocks are sound, and the fast way through what is usual.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <stddef.h>
#include <string.h>

#include "perf/data-steps.h"

/* How many of `count` values from `at` on are numbers of the usual 16 bytes. Nearly all are, so this loop is what a
 * first look at counter data costs. */
static uint32_t count_usual(const uint8_t *at, uint32_t count)
{
    const uint8_t *start = at;
    const uint8_t *end = at + (size_t)count * 16;

    while (at != end) {
        uint64_t sizes = perf_le64(at); /* dwDataSize, dwSize */
        if (sizes >> 32 != 16 || (uint32_t)sizes - 1 > 7) {
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
    return perf_has_zero_unit(perf_le64(at + size - 8)) && count_usual(at + size, columns) == columns;
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

/* A block of one usual value: 16 bytes of header, 16 of value; or one that failed, without. A buffer can have as many of
 * them as values, so they are told by three loads. Returns the size of one that is, else 0. */
static inline uint32_t usual_block(const uint8_t *at, size_t left, uint32_t *status)
{
    uint64_t status_and_type = perf_le64(at);
    uint32_t size = perf_le32(at + 8);
    uint32_t type = (uint32_t)(status_and_type >> 32);

    *status = (uint32_t)status_and_type;
    if (type == PERF_SINGLE_COUNTER && size == PERF_COUNTER_HEADER_SIZE + 16 && size <= left) {
        uint64_t sizes = perf_le64(at + PERF_COUNTER_HEADER_SIZE); /* dwDataSize, dwSize */
        return sizes >> 32 == 16 && (uint32_t)sizes - 1 < 8 ? size : 0;
    }
    return type == PERF_ERROR_RETURN && size == PERF_COUNTER_HEADER_SIZE ? size : 0;
}

void perf_walk_pass_blocks(perf_walk *walk, perf_data_summary *summary)
{
    if (walk->state != NEXT_BLOCK || walk->one_block) {
        return;
    }
    const uint8_t *at = walk->data + walk->pos;
    const uint8_t *end = walk->data + walk->size;
    uint32_t failed = 0, values = 0, passed = 0, status;

    for (; passed < walk->blocks_left && end - at >= PERF_COUNTER_HEADER_SIZE; passed++) {
        uint32_t size = usual_block(at, (size_t)(end - at), &status);
        if (size == 0) {
            break;
        }
        failed += status != 0;
        values += size > PERF_COUNTER_HEADER_SIZE;
        at += size;
    }
    walk->pos += (uint32_t)(at - (walk->data + walk->pos));
    walk->blocks_left -= passed;
    walk->block.index += passed;
    summary->failed += failed;
    summary->values += values;
    summary->blocks += passed;
    summary->sound_blocks += passed;
}

static bool does_harm(const perf_walk *walk)
{
    return perf_walk_fault_infos[walk->fault].harm;
}

bool perf_walk_block_sound(const perf_walk *walk)
{
    perf_walk trial = *walk;
    perf_walk_event event;

    trial.one_block = true;
    trial.blocks_left = 0;
    while ((event = perf_walk_next(&trial)) != PERF_WALK_END) {
        if (event == PERF_WALK_FAULT && does_harm(&trial)) {
            return false;
        }
        perf_walk_pass_values(&trial);
        perf_walk_pass_rows(&trial);
    }
    return true;
}

/* What stands between two events and is as usual. */
static void pass_usual(perf_walk *walk, perf_data_summary *summary)
{
    summary->values += perf_walk_pass_values(walk);
    uint32_t rows = perf_walk_pass_rows(walk);
    summary->instances += rows;
    summary->values += rows * walk->counters.count;
}

bool perf_data_check(const uint8_t *data, uint32_t size, perf_data_summary *summary)
{
    perf_walk walk;
    perf_walk_event event;
    bool sound = false;

    memset(summary, 0, sizeof *summary);
    perf_walk_init(&walk, data, size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_BLOCK) {
            summary->blocks++;
            summary->failed += walk.block.status != 0;
            summary->sound_blocks += sound;
            sound = true;
        } else if (event == PERF_WALK_FAULT) {
            summary->faults++;
            sound = sound && !does_harm(&walk);
        } else if (event == PERF_WALK_COUNTERS) {
            summary->ids += walk.counters.count;
        }
        summary->values += event == PERF_WALK_VALUE;
        summary->instances += event == PERF_WALK_INSTANCE;
        pass_usual(&walk, summary);
        perf_walk_pass_blocks(&walk, summary);
    }
    summary->sound_blocks += sound;
    return summary->faults == 0;
}
