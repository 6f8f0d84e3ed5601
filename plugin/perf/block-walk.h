/* block-walk.h
 * One bounded walk through the PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h), as data-walk.h is through counter data.
 *
 * Where one length is wrong, and exactly one other makes all the rest fit, it is read as that: the structure's event is followed by a
 * PERF_BLOCK_FAULT that says what was read as what (PERF_FAULT_IS_READ_AS), and nothing is damaged. Behind another fault the walk goes on at
 * the next place that is certain: the next object, else nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "perf/bytes.h"
#include "perf/faults.h"
#include "perf/structures.h"

typedef enum {
    PERF_BLOCK_HEADER,     /* PERF_DATA_BLOCK at 0 */
    PERF_BLOCK_OBJECT,     /* PERF_OBJECT_TYPE at object.offset */
    PERF_BLOCK_DEFINITION, /* PERF_COUNTER_DEFINITION at definition.offset */
    PERF_BLOCK_INSTANCE,   /* PERF_INSTANCE_DEFINITION at instance.offset */
    PERF_BLOCK_COUNTERS,   /* PERF_COUNTER_BLOCK at counters.offset */
    PERF_BLOCK_VALUE,      /* what value.definition defines, at value.offset */
    PERF_BLOCK_FAULT,      /* fault; the walk goes on */
    PERF_BLOCK_END
} perf_block_event;

/* What can be wrong: X(NAME, class, harm, text). The text takes what is stated and, once or twice, what was found. "harm"
 * is 1 where it is no longer certain which value of the object stands where. */
#define PERF_BLOCK_FAULTS(X) \
    X(HEADER_SHORT, SHORT, 1, "the data has %u bytes, a PERF_DATA_BLOCK has at least %u") \
    X(LITTLE_ENDIAN, NUMBER, 0, "LittleEndian is 0x%x, it can be 0 or %u") \
    X(VERSION, NUMBER, 0, "Version is %u, only %u is known") \
    X(HEADER_SIZE, SIZE, 1, "HeaderLength is %u, it can be 88 to %u: the objects cannot be found") \
    X(SYSTEM_NAME, PLACE, 0, "the system name begins at byte %u and does not fit the header of %u") \
    X(SYSTEM_NAME_ODD, TEXT, 0, "SystemNameLength is %u, a character of UTF-16 has %u bytes") \
    X(OBJECT_COUNT, COUNT, 0, "NumObjectTypes is %u, there are %u objects") \
    X(OBJECT_BLANK, COUNT, 1, "NumObjectTypes is %u, behind %u objects are zeros: the buffer was too small") \
    X(OBJECT_SIZE, SIZE, 1, \
      "TotalByteLength of the object is %u, it can be 64 to %u: those behind it cannot be found") \
    X(OBJECT_HEADER, SIZE, 1, "HeaderLength of the object is %u, it can be 64 to %u: its counters cannot be found") \
    X(OBJECT_DEFINITIONS, SIZE, 1, "DefinitionLength is %u in an object of %u: its counters cannot be found") \
    X(DEFINITION_SIZE, SIZE, 1, "ByteLength of the counter definition is %u, it can be 40 to %u") \
    X(DEFINITION_COUNT, COUNT, 1, "NumCounters is %u, there are %u counter definitions") \
    X(INSTANCES_NUMBER, COUNT, 1, "NumInstances is -%u, only -1 to -%u are known") \
    X(INSTANCES_THERE, COUNT, 1, "NumInstances is -%u, there is at least %u instance") \
    X(COUNTERS_THERE, COUNT, 1, "NumInstances is 0x%x, there is %u counter block") \
    X(INSTANCE_COUNT, COUNT, 1, "NumInstances is %u, there are %u instances") \
    X(INSTANCE_REST, COUNT, 1, "NumInstances is %u, there are at least %u instances") \
    X(INSTANCE_SIZE, SIZE, 1, \
      "ByteLength of the instance is %u, %u bytes are left, and what follows does not fit: the object's rest is " \
      "skipped") \
    X(INSTANCE_NAME, PLACE, 0, "the instance's name is said to end at byte %u and does not fit its definition of %u") \
    X(INSTANCE_TEXT, TEXT, 0, "NameLength is %u, a character of UTF-16 has %u bytes") \
    X(INSTANCE_GOES_ON, TEXT, 0, "NameLength is %u, the text there has %u bytes: it may be another name") \
    X(COUNTERS_MISSING, COUNT, 1, "%u bytes are left where counter block %u should begin") \
    X(COUNTERS_SIZE, SIZE, 1, \
      "ByteLength of the counter block is %u, its counters take %u, and what follows does not fit: the object's rest " \
      "is skipped") \
    X(VALUE_PLACE, SIZE, 1, \
      "CounterOffset and CounterSize lead up to byte %u, where no value of a counter block of %u bytes ends: this " \
      "counter's values are left out") \
    X(VALUES_CROSS, SIZE, 1, \
      "this counter's value begins at byte %u, within another that ends at byte %u: the object's values are left out") \
    X(TRAILING, REST, 0, "%u bytes are left behind the last of %u objects") \
    X(READ_HEADER, READ_AS, 0, \
      "HeaderLength says %u, the first object begins after %u: read as %u, which fits the data") \
    X(READ_TOTAL, READ_AS, 0, "TotalByteLength says %u, the data has %u bytes: read as %u, which fits its objects") \
    X(READ_OBJECT, READ_AS, 0, "TotalByteLength says %u, the object takes %u: read as %u, which fits what follows") \
    X(READ_OBJECT_HEADER, READ_AS, 0, \
      "HeaderLength says %u, PERF_OBJECT_TYPE takes %u: read as %u, which fits the object") \
    X(READ_DEFINITIONS, READ_AS, 0, \
      "DefinitionLength says %u, the definitions end after %u: read as %u, which fits the object") \
    X(READ_DEFINITION, READ_AS, 0, "ByteLength says %u, a definition takes %u: read as %u, which fits the object") \
    X(READ_INSTANCE, READ_AS, 0, \
      "ByteLength says %u, the instance and its name take %u: read as %u, which fits the object") \
    X(READ_COUNTERS, READ_AS, 0, "ByteLength says %u, its counters take %u: read as %u, which fits the object")

#define PERF_BLOCK_FAULT_ENUM(name, class, harm, text) PERF_BLOCK_FAULT_##name,
typedef enum { PERF_BLOCK_FAULTS(PERF_BLOCK_FAULT_ENUM) PERF_NUM_BLOCK_FAULTS } perf_block_fault;

extern const perf_fault_info perf_block_fault_infos[PERF_NUM_BLOCK_FAULTS];

/* A plain value that a caller may copy to come back to this place. Offsets count from the block's start. Those that an event announces were
 * checked; a structure that is followed by a fault has at least its fixed fields. */
typedef struct {
    const uint8_t *data;
    uint32_t size;
    bool big_endian;      /* integers, by LittleEndian */
    bool big_endian_text; /* UTF-16, by the signature */

    uint32_t pos;
    uint8_t state; /* what comes next, see block-walk.c */
    uint8_t then;  /* what comes after a fault */
    bool is_lost;  /* what stands behind the object cannot be found */
    bool is_sound; /* for whoever sets it: perf_block_check() found nothing wrong, so lengths are what they say */
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
        uint32_t bodies;          /* offset of the first instance or counter block */
        uint32_t num_definitions; /* those that are really there */
        int32_t num_instances;
        uint32_t code_page;
        uint32_t reach;           /* bytes that a counter block needs for its values */
        uint32_t misplaced;       /* offset of a definition for whose values no counter block has room; 0: none */
        bool overlaps;            /* values are not one after the other */
        uint32_t counters_size;   /* that its counter blocks usually have, 0 before the first */
        uint32_t definition_size; /* of each definition, as all say or are read; 0: as each says */
        uint8_t rule;    /* by which its lengths are read where they contradict each other, see block-walk.c; */
        bool is_damaged; /* none fits, or several do */
        bool is_open;    /* neither another object nor the end is behind it */
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
        bool is_nameless;   /* its name does not lie in it, or is longer than it says: what it is called is not known */
    } instance;
    struct {
        uint32_t offset;
        uint32_t size;
        bool
            is_doubtful; /* not of the usual size, or nothing that can be is behind it: bytes may be too many in it, or missing */
    } counters;
    struct {
        uint32_t column;     /* number of its definition */
        uint32_t definition; /* offset of its definition */
        uint32_t offset;
        uint32_t size; /* CounterSize */
    } value;
    perf_fault fault;
} perf_block_walk;

#define PERF_NO_INSTANCE_NUMBER UINT32_MAX

/* What a whole block holds. */
typedef struct {
    uint32_t objects;
    uint32_t sound_objects; /* with values, and each of them certain */
    uint32_t definitions;
    uint32_t instances;
    uint64_t values; /* those of one byte that many definitions share count for each */
    uint32_t faults;
    uint32_t read_as;          /* of the faults: a length that is read as another, */
    uint32_t contradictions;   /* and not that of a counter block, which Windows XP writes short */
    uint64_t values_left_out;  /* that NumCounters and NumInstances of the objects announce, as far as there is room */
    uint32_t objects_left_out; /* that NumObjectTypes announces; or without room for a value of those that they do */
} perf_block_summary;

/* True if the data begins like a PERF_DATA_BLOCK, in either byte order. */
bool perf_block_is(const uint8_t *data, uint32_t size);

void perf_block_init(perf_block_walk *walk, const uint8_t *data, uint32_t size);
perf_block_event perf_block_next(perf_block_walk *walk);

/* Goes on to the next object, past all else; false at the end. */
bool perf_block_next_object(perf_block_walk *walk);

/* Leaves the current counter block, if the walk is in one. */
void perf_block_skip_values(perf_block_walk *walk);

/* The values of the current counter block that were not announced yet. */
uint32_t perf_block_values_left(const perf_block_walk *walk);

/* Asked of a walk that has just announced an object (PERF_BLOCK_OBJECT), which stays where it is.
 * False for objects that are only described (MetadataGlobal, MetadataCostly): they are no sample of it. */
bool perf_block_holds_values(const perf_block_walk *walk);

/* Of a walk that has just announced a fault: it is no longer certain which of the object's values stands where. */
bool perf_block_does_harm(const perf_block_walk *walk);

/* Of a walk that has just announced the header: its name is whole, with a terminator and nothing behind it, where all systems have it. */
bool perf_block_names_system(const perf_block_walk *walk);

/* Integers of the block's byte order. */
static inline uint32_t perf_block_u32(const perf_block_walk *walk, uint32_t offset)
{
    return walk->big_endian ? perf_be32(walk->data + offset) : perf_le32(walk->data + offset);
}

static inline uint64_t perf_block_u64(const perf_block_walk *walk, uint32_t offset)
{
    return walk->big_endian ? perf_be64(walk->data + offset) : perf_le64(walk->data + offset);
}

/* Names and texts in UTF-16 rather than in a code page: CodePage is 0 or UTF-16's own. */
static inline bool perf_block_wide_names(const perf_block_walk *walk)
{
    return walk->object.code_page == 0 || walk->object.code_page == 1200;
}

/* Walks the whole block without looking at values. True if nothing at all is wrong with it. */
bool perf_block_check(const uint8_t *data, uint32_t size, perf_block_summary *summary);

/* Bytes of text before its terminator, at most `room` of them. */
uint32_t perf_block_text_size(const uint8_t *text, uint32_t room, bool wide);
