/* block-walk.h
 * One bounded walk through the PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h).
 *
 * Whoever reads a block (display, calculation, fuzzing) pulls the same events from here, so they cannot disagree about
 * what is in it. The walk never reads outside [data, data + size), every event moves it forward, and it needs no
 * memory of its own: a counter's place is read from its definition whenever a value of it is announced.
 *
 * Where a size, offset or count does not add up, the structure's event is followed by a PERF_BLOCK_FAULT that says what
 * and where; the walk then goes on at the next place that is certain: the next structure if its place is sound, else
 * the next object, else nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_BLOCK_WALK_H
#define PCQ_PERF_BLOCK_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* Sizes in bytes; one layout for 32- and 64-bit servers. A structure may be longer, its own size says so. */
#define PERF_DATA_BLOCK_SIZE 88
#define PERF_OBJECT_TYPE_SIZE 64
#define PERF_COUNTER_DEFINITION_SIZE 40
#define PERF_INSTANCE_DEFINITION_SIZE 24
#define PERF_COUNTER_BLOCK_SIZE 4
#define PERF_SIGNATURE_SIZE 8

/* NumInstances of PERF_OBJECT_TYPE below 0. */
#define PERF_INSTANCES_NONE (-1)              /* PERF_NO_INSTANCES: one counter block */
#define PERF_INSTANCES_METADATA_MULTIPLE (-2) /* PERF_METADATA_MULTIPLE_INSTANCES: definitions alone */
#define PERF_INSTANCES_METADATA_NONE (-3)     /* PERF_METADATA_NO_INSTANCES: definitions alone */

#define PERF_NO_UNIQUE_ID 0xFFFFFFFFU

typedef enum {
    PERF_BLOCK_HEADER,     /* PERF_DATA_BLOCK at 0 */
    PERF_BLOCK_OBJECT,     /* PERF_OBJECT_TYPE at object.offset */
    PERF_BLOCK_DEFINITION, /* PERF_COUNTER_DEFINITION at definition.offset */
    PERF_BLOCK_INSTANCE,   /* PERF_INSTANCE_DEFINITION at instance.offset */
    PERF_BLOCK_COUNTERS,   /* PERF_COUNTER_BLOCK at counters.offset */
    PERF_BLOCK_VALUE,      /* what value.definition defines, at value.offset */
    PERF_BLOCK_FAULT,      /* fault, fault_offset; the walk goes on */
    PERF_BLOCK_END
} perf_block_event;

/* What can be wrong. The text continues "At offset ...: ". */
#define PERF_BLOCK_FAULTS(X) \
    X(HEADER_SHORT, "the data is too short for a PERF_DATA_BLOCK") \
    X(TOTAL_SIZE, "TotalByteLength is not the size of the data, neither with nor without the header") \
    X(HEADER_SIZE, "HeaderLength is smaller than the header or beyond the data, the objects cannot be found") \
    X(SYSTEM_NAME, "the system name lies outside the header") \
    X(OBJECT_COUNT, "fewer objects than NumObjectTypes announces") \
    X(OBJECT_BLANK, "nothing but zeros where an object should be: the buffer was too small for it") \
    X(OBJECT_SIZE_SMALL, "TotalByteLength is smaller than PERF_OBJECT_TYPE, the next object cannot be found") \
    X(OBJECT_SIZE_LARGE, "TotalByteLength of the object reaches beyond the data") \
    X(OBJECT_HEADER, "HeaderLength of the object does not fit, its counters cannot be found") \
    X(OBJECT_DEFINITIONS, "DefinitionLength of the object does not fit, its values cannot be found") \
    X(DEFINITION_SIZE, "ByteLength of the counter definition does not fit, those behind it cannot be found") \
    X(DEFINITION_COUNT, "fewer counter definitions than NumCounters announces") \
    X(DEFINITION_REST, "more counter definitions than NumCounters announces") \
    X(INSTANCES_NUMBER, "NumInstances is negative and none of the known values") \
    X(INSTANCE_COUNT, "fewer instances than NumInstances announces") \
    X(INSTANCE_REST, "more instances than NumInstances announces") \
    X(INSTANCE_SIZE, "ByteLength of the instance does not fit, the rest of the object is skipped") \
    X(INSTANCE_ODD, "ByteLength of the instance is not a multiple of 8") \
    X(INSTANCE_NAME, "the instance's name lies outside its definition") \
    X(INSTANCE_TEXT, "the instance's name has no terminator or half a character") \
    X(COUNTERS_MISSING, "the counter block is missing") \
    X(COUNTERS_SIZE, "ByteLength of the counter block does not fit, the rest of the object is skipped") \
    X(COUNTERS_ODD, "ByteLength of the counter block is not a multiple of 8") \
    X(VALUE_PLACE, "CounterOffset and CounterSize lie outside the counter block, the value is skipped") \
    X(TRAILING, "bytes are left after the last object")

#define PERF_BLOCK_FAULT_ENUM(name, text) PERF_BLOCK_FAULT_##name,
typedef enum { PERF_BLOCK_FAULTS(PERF_BLOCK_FAULT_ENUM) PERF_NUM_BLOCK_FAULTS } perf_block_fault;

extern const char *const perf_block_fault_text[PERF_NUM_BLOCK_FAULTS];

/* A plain value that a caller may copy to come back to this place. Offsets count from the block's start. Offsets and
 * sizes of what an event announces were checked; a structure that is followed by a fault has at least its fixed
 * fields. */
typedef struct {
    const uint8_t *data;
    uint32_t size;
    bool big_endian;      /* integers, by LittleEndian */
    bool big_endian_text; /* UTF-16, by the signature */

    uint32_t pos;
    uint8_t state; /* what comes next, see block-walk.c */
    uint8_t then;  /* what comes behind a fault */
    uint32_t objects_left;
    uint32_t left; /* definitions or instances still to come */

    struct {
        uint32_t size;      /* HeaderLength */
        uint32_t name;      /* offset of the system name, in UTF-16 */
        uint32_t name_size; /* bytes without terminator */
        uint32_t name_room; /* bytes with it, 0 if there is none or it does not fit */
    } header;
    struct {
        uint32_t number; /* in the block, 0 for the first */
        uint32_t offset;
        uint32_t end;             /* first byte behind it, never beyond the data */
        uint32_t index;           /* ObjectNameTitleIndex */
        uint32_t definitions;     /* offset of the first */
        uint32_t bodies;          /* offset of the first instance or counter block, 0 if it is not known */
        uint32_t num_definitions; /* those that are really there */
        int32_t num_instances;
        uint32_t code_page;
        uint32_t reach; /* the bytes that a counter block needs for all its values, UINT32_MAX if none will do */
    } object;
    struct {
        uint32_t number; /* in its object, 0 for the first */
        uint32_t offset;
        uint32_t size;
    } definition;
    struct {
        uint32_t number; /* in its object, 0 for the first; UINT32_MAX: the counter block has no instance */
        uint32_t offset;
        uint32_t size;
        uint32_t parent_object; /* title index, 0: no parent */
        uint32_t parent_instance;
        uint32_t unique_id; /* or PERF_NO_UNIQUE_ID */
        uint32_t name;      /* offset */
        uint32_t name_size; /* bytes without terminator */
        uint32_t name_room; /* bytes with it */
    } instance;
    struct {
        uint32_t offset;
        uint32_t size;
    } counters;
    struct {
        uint32_t column;     /* number of its definition */
        uint32_t definition; /* offset of its definition */
        uint32_t offset;
        uint32_t size; /* CounterSize */
    } value;
    perf_block_fault fault;
    uint32_t fault_offset;
} perf_block_walk;

#define PERF_NO_INSTANCE_NUMBER UINT32_MAX

/* What a whole block holds. */
typedef struct {
    uint32_t objects;
    uint32_t definitions;
    uint32_t instances;
    uint32_t values;
    uint32_t faults;
} perf_block_summary;

/* True if the data begins like a PERF_DATA_BLOCK, in either byte order. */
bool perf_block_is(const uint8_t *data, uint32_t size);

void perf_block_init(perf_block_walk *walk, const uint8_t *data, uint32_t size);
perf_block_event perf_block_next(perf_block_walk *walk);

/* Leaves the current object, or the current counter block. */
void perf_block_skip_object(perf_block_walk *walk);
void perf_block_skip_values(perf_block_walk *walk);

/* Integers of the block's byte order. */
uint32_t perf_block_u32(const perf_block_walk *walk, uint32_t offset);
uint64_t perf_block_u64(const perf_block_walk *walk, uint32_t offset);

/* Names and texts in UTF-16 rather than in a code page. */
bool perf_block_wide_names(const perf_block_walk *walk);

/* Walks the whole block without looking at values. Returns true if nothing is wrong with it. */
bool perf_block_check(const uint8_t *data, uint32_t size, perf_block_summary *summary);

#endif
