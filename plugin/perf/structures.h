/* structures.h
 * Structures of counter data ([MS-PCQ] 2.2.4.8) and of PERF_DATA_BLOCK (winperf.h): sizes and numbers. Identifiers and types of counters, as they
 * are sent.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdint.h>

/* Sizes in bytes. PERF_DATA_HEADER is 48 bytes: the 64 of the specification's figure 5 draws SYSTEMTIME twice as large as it is. */
#define PERF_DATA_HEADER_SIZE 48
#define PERF_COUNTER_HEADER_SIZE 16
#define PERF_MULTI_COUNTERS_SIZE 8
#define PERF_MULTI_INSTANCES_SIZE 8
#define PERF_INSTANCE_HEADER_SIZE 8
#define PERF_COUNTER_DATA_SIZE 8
#define PERF_PLAIN_SIZE 16 /* PERF_COUNTER_DATA with a number */

/* PERF_COUNTER_HEADER.dwType ([MS-PCQ] 2.2.4.8): value, name in the Windows SDK's header. */
#define PERF_BLOCK_TYPES(X) \
    X(0, PERF_ERROR_RETURN) \
    X(1, PERF_SINGLE_COUNTER) \
    X(2, PERF_MULTIPLE_COUNTERS) \
    X(4, PERF_MULTIPLE_INSTANCES) \
    X(6, PERF_COUNTERSET)

#define PERF_BLOCK_TYPE_ENUM(value, name) name = value,
typedef enum { PERF_BLOCK_TYPES(PERF_BLOCK_TYPE_ENUM) } perf_block_type;

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

/* An id that is none: all counters, any instance; no base, time, frequency or multi counter. */
#define PERF_NO_ID 0xFFFFFFFFU

/* Type and relations of a counter ([MS-PCQ] 2.2.4.2). */
typedef struct {
    uint32_t type;
    uint32_t base_id;
    uint32_t time_id;
    uint32_t freq_id;
    uint32_t multi_id;
    int32_t scale; /* DefaultScale, a power of ten for graphs */
} perf_counter_info;

/* Instances that an identifier asks for by its name. */
typedef enum {
    PERF_ASKS_ONE,    /* the instance of that name; or there is no name */
    PERF_ASKS_ALL,    /* "*" */
    PERF_ASKS_PATTERN /* another pattern with * or ? */
} perf_asks;

#define PERF_IDENTIFIER_SIZE 40 /* without a name */

/* PERF_COUNTER_IDENTIFIER ([MS-PCQ] 2.2.4.6). */
typedef struct {
    uint8_t guid[16];
    uint32_t counter_id;  /* PERF_NO_ID: all counters */
    uint32_t instance_id; /* PERF_NO_ID: any */
    uint32_t index;
    uint32_t status;
    const char *instance; /* name or pattern, NULL if there is none */
    const uint8_t *utf16; /* the same as it was sent, without terminator */
    uint32_t utf16_size;  /* bytes */
    perf_asks asks;       /* of an identifier that a query keeps; 0 before */
} perf_identifier;
