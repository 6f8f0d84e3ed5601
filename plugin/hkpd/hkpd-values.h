/* hkpd-values.h
 * The stream of values of a PERF_DATA_BLOCK: what each value means. Whoever shows, filters, counts or exports values
 * asks here, value by value of a walk (perf/block-walk.h).
 *
 * Nothing is worked out before somebody asks, and then in time proportional to the objects that are asked for and
 * their samples before.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_VALUES_H
#define PCQ_HKPD_HKPD_VALUES_H

#include "state/state.h"

#include "perf/block-walk.h"
#include "perf/calculate.h"

/* Text of HKEY_PERFORMANCE_DATA: English where it is asked for, else in the server's code page. */
unsigned hkpd_code_page_encoding(uint32_t code_page);

/* The name of a title index, or "#238". */
const char *hkpd_title_label(wmem_allocator_t *pool, perf_server *server, uint32_t index, uint32_t event);

typedef struct {
    wmem_allocator_t *pool;
    perf_server *server;
    const perf_sample *sample;
    uint32_t event;
    tvbuff_t *tvb;
    bool single; /* a few values are asked for: search, do not index */
    const char *machine;
    struct hkpd_side *now;
    wmem_map_t *sides;   /* perf_sample -> hkpd_side: the samples before */
    wmem_map_t *parents; /* parent_key -> number */
    /* of the object that the walk is in */
    struct hkpd_table *table;
    struct hkpd_side *before; /* NULL: no sample before holds it */
    struct hkpd_table *table_before;
    perf_none why_no_before;
    uint32_t previous_frame; /* 0 without a sample before */
    double interval;         /* seconds, 0 if not known */
    /* of the instance that the walk is in */
    uint32_t instance_number;
    const char *instance_text;
} hkpd_values;

typedef struct {
    const perf_counter_type *type; /* NULL if not known */
    bool is_text;
    unsigned encoding;  /* of text */
    uint32_t text_size; /* bytes without terminator */
    bool is_number;     /* 4 or 8 bytes */
    uint64_t raw;       /* of a number */
    perf_result result; /* not for text */
} hkpd_value;

/* `sample` is this answer's own sample, NULL if it did not become one; `tvb` holds the block. */
void hkpd_values_init(hkpd_values *values, wmem_allocator_t *pool, perf_server *server, const perf_sample *sample,
                      uint32_t event, tvbuff_t *tvb, bool single);

/* The object that `walk` is in: fills previous_frame and interval. */
void hkpd_values_object(hkpd_values *values, const perf_block_walk *walk);

/* "explorer/3", "svchost#2", "" of the instance that `walk` is in. */
const char *hkpd_values_instance(hkpd_values *values, const perf_block_walk *walk);

/* The value that `walk` has just announced. */
void hkpd_values_get(hkpd_values *values, const perf_block_walk *walk, hkpd_value *value);

/* Its path in PDH notation. */
const char *hkpd_values_path(hkpd_values *values, const perf_block_walk *walk);

#endif
