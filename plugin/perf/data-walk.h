/* data-walk.h
 * One bounded walk through the counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6).
 *
 * Whoever reads counter data (display, calculation, export, fuzzing) pulls the same events from here, so they
 * cannot disagree about what is in a buffer. The walk never reads outside [data, data + size), every event moves
 * it forward, and it needs no memory of its own.
 *
 * Where a size or count does not add up, a PERF_WALK_FAULT event says what, where and with which two numbers; the walk
 * then goes on at the next place that is certain: the next value if its place is sound, else the next block, else
 * nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "perf/faults.h"
#include "perf/structures.h"

typedef enum {
    PERF_WALK_HEADER,      /* PERF_DATA_HEADER at 0 */
    PERF_WALK_BLOCK,       /* PERF_COUNTER_HEADER at block.offset */
    PERF_WALK_COUNTERS,    /* PERF_MULTI_COUNTERS at counters.offset */
    PERF_WALK_INSTANCES,   /* PERF_MULTI_INSTANCES at instances.offset */
    PERF_WALK_INSTANCE,    /* PERF_INSTANCE_HEADER at instance.offset */
    PERF_WALK_NO_INSTANCE, /* the same, but its Size doesn't fit: a fault follows */
    PERF_WALK_VALUE,       /* PERF_COUNTER_DATA at value.offset */
    PERF_WALK_NO_VALUE,    /* the same, but its sizes don't fit: a fault follows, the value cannot be read */
    PERF_WALK_FAULT,       /* fault; the walk goes on */
    PERF_WALK_END
} perf_walk_event;

/* What can be wrong: X(NAME, class, harm, text). The text takes two numbers: what is stated and what was found. "harm"
 * is 1 where it is no longer certain which value of the block stands where. */
#define PERF_WALK_FAULTS(X) \
    X(HEADER_SHORT, SHORT, 1, "the buffer has %u bytes, a PERF_DATA_HEADER has %u") \
    X(TOTAL_SIZE, SIZE, 0, "dwTotalSize is %u, the buffer has %u bytes") \
    X(BLOCK_COUNT, COUNT, 0, "dwNumCounters is %u, there are %u blocks") \
    X(BLOCK_SIZE, SIZE, 1, "dwSize of the block is %u, it can be 16 to %u") \
    X(BLOCK_TYPE, TYPE, 1, "dwType is %u, which is unknown: the block's %u bytes are skipped") \
    X(BLOCK_BODY, SIZE, 1, "the block has %u bytes left, its dwType promises at least %u") \
    X(BLOCK_REST, REST, 1, "dwSize of the block is %u, its last structure ends after %u") \
    X(COUNTERS_SIZE, SIZE, 1, "dwSize of PERF_MULTI_COUNTERS is %u, it can be 8 to %u: no values") \
    X(COUNTERS_COUNT, COUNT, 1, "dwCounters is %u, dwSize has room for %u: the values cannot be told apart") \
    X(INSTANCES_SIZE, SIZE, 0, "dwTotalSize of PERF_MULTI_INSTANCES is %u, the instances end after %u") \
    X(INSTANCES_COUNT, COUNT, 1, "dwInstances is %u, there are %u instances") \
    X(INSTANCES_REST, REST, 1, "dwInstances is %u, behind them are %u bytes more") \
    X(INSTANCE_SIZE, SIZE, 1, "Size of the instance is %u, it can be 8 to %u: the rest of the block is skipped") \
    X(INSTANCE_ODD, SIZE, 0, "Size of the instance is %u, not a multiple of %u") \
    X(INSTANCE_TEXT, TEXT, 0, "Size of the instance is %u, its name fills all of it, %u bytes, without a terminator") \
    X(VALUE_SIZE, SIZE, 1, "dwSize of PERF_COUNTER_DATA is %u, it can be 8 to %u: the rest of the block is skipped") \
    X(VALUE_DATA_SIZE, SIZE, 1, "dwDataSize is %u, dwSize has room for %u: the value is skipped") \
    X(VALUE_COUNT, COUNT, 1, "%u values should be here, there are %u") \
    X(TRAILING, REST, 0, "%u bytes are left behind the last of %u blocks")

#define PERF_WALK_FAULT_ENUM(name, class, harm, text) PERF_FAULT_##name,
typedef enum { PERF_WALK_FAULTS(PERF_WALK_FAULT_ENUM) PERF_NUM_FAULTS } perf_walk_fault;

extern const perf_fault_info perf_walk_fault_infos[PERF_NUM_FAULTS];

/* A plain value that a caller may copy to come back to this place. Offsets and sizes are bytes from the buffer's
 * start; all of them were checked before the event that announces them. */
typedef struct {
    const uint8_t *data;
    uint32_t size;

    uint32_t pos;
    uint8_t state;    /* what comes next */
    uint8_t then;     /* what comes after a fault */
    bool one_block;   /* ends behind the block */
    bool is_followed; /* each block leads to the next one up to the end */
    uint32_t blocks_left;
    uint32_t instances_left;
    uint32_t values_left; /* of this block or instance */
    uint32_t limit;       /* end of the structures being read: block or instance list */

    struct {
        uint32_t index; /* 0 for the first */
        uint32_t offset;
        uint32_t limit;  /* first byte after the block by its dwSize, never beyond the buffer */
        uint32_t end;    /* where the next block starts: limit and padding that dwSize left out */
        bool open_end;   /* dwSize is wrong: `limit` is the buffer's, the next block must be found */
        uint32_t body;   /* behind the last structure that was read, 0 if they do not add up */
        uint32_t status; /* Win32 error */
        uint32_t type;   /* perf_block_type or an unknown number */
    } block;
    struct {
        uint32_t offset;
        uint32_t size;  /* up to the next structure, padding included */
        uint32_t count; /* ids that are really there; 1 for a block that carries no ids */
        uint32_t ids;   /* offset of the first id, 0 if the block carries none */
    } counters;
    struct {
        uint32_t offset;
        uint32_t count; /* as announced */
    } instances;
    struct {
        uint32_t index; /* in its block, 0 for the first; PERF_NO_INSTANCE without an instance header */
        uint32_t offset;
        uint32_t size; /* Size */
        uint32_t id;
        uint32_t name;      /* offset of the UTF-16LE name */
        uint32_t name_size; /* bytes without terminator */
        bool terminated;
    } instance;
    struct {
        uint32_t column; /* position in the array of ids, 0 for the first */
        uint32_t offset;
        uint32_t data;      /* offset of the value */
        uint32_t data_size; /* dwDataSize */
        uint32_t size;      /* up to the next structure, padding included */
    } value;
    perf_fault fault;
} perf_walk;

#define PERF_NO_INSTANCE 0xFFFFFFFFU

/* What a whole buffer holds. */
typedef struct {
    uint32_t blocks;
    uint32_t failed;       /* blocks with an error instead of values */
    uint32_t empty;        /* sound ones with neither */
    uint32_t sound_blocks; /* those of which it is certain which value stands where */
    uint32_t values;
    uint32_t faults;
    bool is_counted; /* dwNumCounters is how many there are */
    bool has_twins;  /* a block has a counter id twice, or, of many that do not ascend, may have */
} perf_data_summary;

void perf_walk_init(perf_walk *walk, const uint8_t *data, uint32_t size);
perf_walk_event perf_walk_next(perf_walk *walk);

/* Starts at the block at `offset`, which an earlier walk of the same bytes has met, and ends behind it. */
void perf_walk_block(perf_walk *walk, const uint8_t *data, uint32_t size, uint32_t offset);

/* Asked of a walk that has just announced a block, which stays where it is: false where it is not certain which of the block's values stands
 * where. Costs a walk through the block. */
bool perf_walk_block_sound(const perf_walk *walk);

/* Asked then too, of a sound block: true if it has no value, and no error instead. */
bool perf_walk_block_empty(const perf_walk *walk);

/* Passes over values that follow in this block or instance, as far as they are plain (a number of 1 to 8 bytes in 16),
 * without an event for each. Returns how many. */
uint32_t perf_walk_pass_values(perf_walk *walk);

/* The same over whole instances with all their values, and over blocks that hold one plain value each. Returns how many of these. */
uint32_t perf_walk_pass_rows(perf_walk *walk);
uint32_t perf_walk_pass_blocks(perf_walk *walk);

/* Of a walk of one block: goes on to its next instance with that name (`size` bytes without a terminator), as if it had just
 * announced it; false if there is none. */
bool perf_walk_find_named(perf_walk *walk, const uint8_t *name, uint32_t size);

/* True if the current block is one of instances with headers. */
static inline bool perf_walk_has_instances(const perf_walk *walk)
{
    return walk->block.type == PERF_MULTIPLE_INSTANCES || walk->block.type == PERF_COUNTERSET;
}

/* Leaves the current block, of a buffer whose blocks are sound: the next event is the next block's, or what follows the last. */
void perf_walk_skip_block(perf_walk *walk);

/* Counter id of a column, from the block's array of ids; only where counters.ids is not 0. */
uint32_t perf_walk_counter_id(const perf_walk *walk, uint32_t column);

/* Walks the whole buffer. True if nothing at all is wrong with it. */
bool perf_data_check(const uint8_t *data, uint32_t size, perf_data_summary *summary);
