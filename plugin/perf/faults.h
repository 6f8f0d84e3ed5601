/* faults.h
 * What a fault that a walk has found is: shared by the two walks and by whoever shows their faults.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    PERF_FAULT_IS_SHORT,
    PERF_FAULT_IS_NUMBER, /* a field holds what it cannot */
    PERF_FAULT_IS_TYPE,
    PERF_FAULT_IS_SIZE,
    PERF_FAULT_IS_COUNT,
    PERF_FAULT_IS_PLACE,
    PERF_FAULT_IS_TEXT,
    PERF_FAULT_IS_REST,
    PERF_FAULT_IS_READ_AS, /* a length is read as another, which fits */
    PERF_NUM_FAULT_CLASSES
} perf_fault_class;

typedef struct {
    perf_fault_class kind;
    bool harm;        /* it is no longer certain which value stands where */
    const char *text; /* takes unsigned numbers: what is stated and, once or twice, what was found */
} perf_fault_info;

/* A fault as a walk found it. */
typedef struct {
    unsigned what;   /* perf_walk_fault or perf_block_fault */
    uint32_t offset; /* of the field that is wrong, or where what is missing should begin */
    uint32_t stated;
    uint32_t found;
} perf_fault;

#define PERF_FAULT_INFO(name, class, harm, text) {PERF_FAULT_IS_##class, harm, text},
