/* known-countersets.h
 * Countersets that public sources describe, for captures that don't teach them
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_NO_COUNTER 0xFFFFFFFFu

typedef struct perf_known_counter {
    uint32_t id;
    const char *name; /* UTF-8; NULL: it has none, or it is not known */
    uint32_t type;    /* 0 unless type_known */
    bool type_known;
    uint32_t base_id; /* PERF_NO_COUNTER: none, or it is not known */
} perf_known_counter;

typedef struct perf_known_counterset {
    uint8_t guid[16]; /* as little-endian data has it */
    const char *name;
    const perf_known_counter *counters; /* ascending by id; not always all of the set */
    size_t num_counters;
} perf_known_counterset;

extern const perf_known_counterset perf_known_countersets[];
extern const size_t perf_num_known_countersets;

/* A counterset (id PERF_NO_COUNTER: its name) or one of its counters. False if it is not in the list. */
bool perf_known_find(const uint8_t guid[16], uint32_t id, perf_known_counter *found);

/* What the title index of HKEY_PERFORMANCE_DATA stands for on every Windows, in English; NULL if it is not in the list. */
const char *perf_known_title(uint32_t title_index);
