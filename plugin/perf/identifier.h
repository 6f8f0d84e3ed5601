/* identifier.h
 * Identifiers and types of counters, as they are sent.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdint.h>

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
