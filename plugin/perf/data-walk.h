/* data-walk.h
 * One bounded walk through the counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6).
 *
 * Whoever reads counter data (display, calculation, export, fuzzing) pulls the same events from here, so they
 * cannot disagree about what is in a buffer. The walk never reads outside [data, data + size), every event moves
 * it forward, and it needs no memory of its own.
 *
 * Where a size or count does not add up, a PERF_WALK_FAULT event says what and where; the walk then goes on at the
 * next place that is certain: the next value if its size is sound, else the next block, else nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_DATA_WALK_H
#define PCQ_PERF_DATA_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes in bytes. PERF_DATA_HEADER is 48 bytes: the 64 of the specification's figure 5 draws SYSTEMTIME twice as
 * large as it is. */
#define PERF_DATA_HEADER_SIZE 48
#define PERF_COUNTER_HEADER_SIZE 16
#define PERF_MULTI_COUNTERS_SIZE 8
#define PERF_MULTI_INSTANCES_SIZE 8
#define PERF_INSTANCE_HEADER_SIZE 8
#define PERF_COUNTER_DATA_SIZE 8

/* PERF_COUNTER_HEADER.dwType ([MS-PCQ] 2.2.4.8): value, name in the Windows SDK's header. */
#define PERF_BLOCK_TYPES(X) \
    X(0, PERF_ERROR_RETURN) \
    X(1, PERF_SINGLE_COUNTER) \
    X(2, PERF_MULTIPLE_COUNTERS) \
    X(4, PERF_MULTIPLE_INSTANCES) \
    X(6, PERF_COUNTERSET)

#define PERF_BLOCK_TYPE_ENUM(value, name) name = value,
typedef enum { PERF_BLOCK_TYPES(PERF_BLOCK_TYPE_ENUM) } perf_block_type;

typedef enum {
    PERF_WALK_HEADER,      /* PERF_DATA_HEADER at 0 */
    PERF_WALK_BLOCK,       /* PERF_COUNTER_HEADER at block.offset */
    PERF_WALK_COUNTERS,    /* PERF_MULTI_COUNTERS at counters.offset */
    PERF_WALK_INSTANCES,   /* PERF_MULTI_INSTANCES at instances.offset */
    PERF_WALK_INSTANCE,    /* PERF_INSTANCE_HEADER at instance.offset */
    PERF_WALK_NO_INSTANCE, /* the same, but its Size doesn't fit: a fault follows */
    PERF_WALK_VALUE,       /* PERF_COUNTER_DATA at value.offset */
    PERF_WALK_NO_VALUE,    /* the same, but its sizes don't fit: a fault follows, the value cannot be read */
    PERF_WALK_FAULT,       /* fault, fault_offset; the walk goes on */
    PERF_WALK_END
} perf_walk_event;

/* What can be wrong. The text continues "<structure> at <offset>: ". */
#define PERF_WALK_FAULTS(X) \
    X(HEADER_SHORT, "the buffer is too short for a PERF_DATA_HEADER") \
    X(TOTAL_SIZE, "dwTotalSize is not the size of the buffer") \
    X(BLOCK_COUNT, "fewer blocks than dwNumCounters announces") \
    X(BLOCK_SIZE_SMALL, "dwSize is smaller than the block's header, the next block cannot be found") \
    X(BLOCK_SIZE_LARGE, "dwSize reaches beyond the buffer") \
    X(BLOCK_SIZE_ODD, "dwSize is not a multiple of 8") \
    X(BLOCK_TYPE, "dwType is unknown, the block is skipped") \
    X(BLOCK_BODY, "the block is too small for what its dwType promises") \
    X(BLOCK_REST, "bytes are left after the block's last structure") \
    X(COUNTERS_SIZE, "dwSize of PERF_MULTI_COUNTERS does not fit its block, the block's values cannot be found") \
    X(COUNTERS_COUNT, "dwCounters is more than dwSize has room for, the block's values cannot be told apart") \
    X(INSTANCES_SIZE, "dwTotalSize of PERF_MULTI_INSTANCES does not fit its block") \
    X(INSTANCES_COUNT, "fewer instances than dwInstances announces") \
    X(INSTANCES_REST, "bytes are left after the last instance that dwInstances announces") \
    X(INSTANCE_SIZE, "Size of the instance does not fit, the rest of the block is skipped") \
    X(VALUE_SIZE, "dwSize of PERF_COUNTER_DATA does not fit, the rest of the block is skipped") \
    X(VALUE_DATA_SIZE, "dwDataSize is more than dwSize has room for, the value is skipped") \
    X(VALUE_COUNT, "fewer values than counters") \
    X(TRAILING, "bytes are left after the last block")

#define PERF_WALK_FAULT_ENUM(name, text) PERF_FAULT_##name,
typedef enum { PERF_WALK_FAULTS(PERF_WALK_FAULT_ENUM) PERF_NUM_FAULTS } perf_walk_fault;

/* A plain value that a caller may copy to come back to this place. Offsets and sizes are bytes from the buffer's
 * start; all of them were checked before the event that announces them. */
typedef struct {
    const uint8_t *data;
    uint32_t size;

    uint32_t pos;
    uint8_t state;   /* what comes next, see data-walk.c */
    bool one_block;  /* ends behind the block */
    uint8_t padding; /* of this block's values, see data-walk.c */
    uint32_t blocks_left;
    uint32_t instances_left;
    uint32_t values_left; /* of this block or instance */
    uint32_t limit;       /* end of the structures being read: block or instance list */

    uint32_t num_blocks; /* dwNumCounters */
    struct {
        uint32_t index; /* 0 for the first */
        uint32_t offset;
        uint32_t limit;  /* first byte after the block by its dwSize, never beyond the buffer */
        uint32_t end;    /* where the next block starts: limit and padding that dwSize left out */
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
    perf_walk_fault fault;
    uint32_t fault_offset;
} perf_walk;

#define PERF_NO_INSTANCE 0xFFFFFFFFU

/* What a whole buffer holds. */
typedef struct {
    uint32_t blocks;
    uint32_t failed; /* blocks with an error instead of values */
    uint32_t instances;
    uint32_t values;
    uint32_t ids; /* counter ids in all PERF_MULTI_COUNTERS */
    uint32_t faults;
} perf_data_summary;

extern const char *const perf_walk_fault_text[PERF_NUM_FAULTS];

void perf_walk_init(perf_walk *walk, const uint8_t *data, uint32_t size);
perf_walk_event perf_walk_next(perf_walk *walk);

/* Starts at the block at `offset`, which an earlier walk of the same bytes has met, and ends behind it. */
void perf_walk_block(perf_walk *walk, const uint8_t *data, uint32_t size, uint32_t offset);

/* False for an instance whose name has no terminator or whose Size is not a multiple of 8: both are read, but
 * neither is what a server sends. */
bool perf_walk_instance_sound(const perf_walk *walk);

/* Passes over values that follow in this block or instance, as far as they are numbers of the usual size, without an
 * event for each. Returns how many. */
uint32_t perf_walk_pass_values(perf_walk *walk);

/* The same for whole instances with all their values. */
uint32_t perf_walk_pass_rows(perf_walk *walk);

/* Leaves the current block: the next event is the next block's, or what follows the last. */
void perf_walk_skip_block(perf_walk *walk);

/* Counter id of a column, from the block's array of ids; only where counters.ids is not 0. */
uint32_t perf_walk_counter_id(const perf_walk *walk, uint32_t column);

/* Walks the whole buffer. Returns true if nothing is wrong with it. */
bool perf_data_check(const uint8_t *data, uint32_t size, perf_data_summary *summary);

#endif
