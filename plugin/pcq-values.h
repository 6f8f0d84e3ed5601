/* pcq-values.h
 * The stream of values: what each PERF_COUNTER_DATA of a QueryCounterData answer means. Whoever shows, filters, counts
 * or exports values asks here, value by value of a counter data walk (perf/data-walk.h).
 *
 * Nothing is worked out before somebody asks, and then in time proportional to the two samples: instances and counters
 * of the sample before are found through indexes that are made once for each block.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PCQ_VALUES_H
#define PCQ_PCQ_VALUES_H

#include "state/state.h"

#include "perf/calculate.h"
#include "perf/data-walk.h"

/* One of the two samples. */
typedef struct {
    const uint8_t *bytes; /* NULL: there is none */
    uint32_t size;
    uint32_t *offsets;            /* of each block */
    perf_assignment assigned;     /* whose each block is */
    wmem_array_t *pattern_blocks; /* uint32_t, made when needed */
    wmem_map_t *by_identifier;    /* perf_identifier -> block number + 1, made when needed */
    struct pcq_rows **rows;       /* of each block, made when needed */
    uint64_t perf_time;
    uint64_t perf_freq;
    uint64_t time_100ns;
} pcq_side;

typedef struct {
    wmem_allocator_t *pool;
    perf_server *server;
    const perf_handle *handle;
    uint32_t event;
    bool single; /* a few values are asked for: search, do not index */
    const char *machine;
    pcq_side now;
    pcq_side before;
    perf_none why_no_before;
    uint32_t previous_frame;     /* 0 without a sample before */
    double interval;             /* seconds, 0 if not known */
    struct pcq_columns *columns; /* what is known of the current block's counters */
    uint32_t columns_block;
} pcq_values;

typedef struct {
    const perf_identifier *identifier; /* NULL: whose it is is not known */
    uint32_t counter_id;               /* PERF_NO_ID if not known */
    const perf_counter_type *type;     /* NULL if not known */
    bool is_text;                      /* show it as UTF-16 */
    bool is_number;                    /* 4 or 8 bytes */
    uint64_t raw;                      /* of a number */
    perf_result result;                /* not for text */
} pcq_value;

/* `sample` is this answer's own sample, NULL if it did not become one; `bytes` are its bytes as they are now seen. */
void pcq_values_init(pcq_values *values, wmem_allocator_t *pool, perf_server *server, const perf_handle *handle,
                     const perf_sample *sample, uint32_t event, const uint8_t *bytes, uint32_t size, bool single);

/* The value that `walk` has just announced. */
void pcq_values_get(pcq_values *values, const perf_walk *walk, pcq_value *value);

/* Its path in PDH notation, NULL where the counterset is not known. */
const char *pcq_values_path(pcq_values *values, const perf_walk *walk, const pcq_value *value);

/* "12.4 %", "1,024.0 /sec", "77", "0x1f"; of a result that is there. */
const char *pcq_result_text(wmem_allocator_t *pool, const perf_counter_type *type, double value);

#endif
