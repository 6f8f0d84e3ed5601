/* samples.h
 * Samples: responses with counter data that values are calculated from, and the series that they are in.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/queries.h"

#include "perf/table.h"
#include "perf/timing.h"

typedef struct state_sample state_sample;
typedef struct sample_series sample_series;

/* Departures of a sample from those before it. Created with the sample; ends with the file. */
typedef struct {
    timing_fact late; /* gap between its request and the one before */
    timing_fact slow; /* response time */
} late_sample;

/* Responses to one question of one handle. Created on the first pass; ends with the file. */
struct sample_series {
    state_handle *handle;
    state_sample *newest;     /* NULL before the first; first pass only */
    timing_series timing;     /* first pass only */
    const uint8_t *first_row; /* name of the first instance in its first sample, for the Info column; NULL: none */
    uint32_t first_row_size;  /* bytes */
};

/* A response with status 0 that has a well-formed group, or no groups at all. Created on the first pass; ends with the file. */
struct state_sample {
    sample_series *series;
    state_sample *previous; /* the sample before in the series, NULL: the first */
    uint32_t frame;
    const query_snapshot *query; /* PerflibV2: whose its blocks are; of the call */
    uint8_t *bytes;              /* counter data or PERF_DATA_BLOCK; NULL: discarded (memory limit) */
    uint32_t size;               /* bytes that were captured */
    uint32_t reported;           /* bytes that were sent */
    perf_table *table;           /* of `bytes`; NULL: not kept, see sample_get_table() */
    const late_sample *late;     /* NULL: in time */
};

/* Returns the series of a question: "" in PerflibV2; else the value's name, in small letters. For the first pass. Changes: creates it. */
sample_series *sample_series_find_or_create(state_handle *handle, const char *question);

/* Keeps a copy of the response's bytes as the newest sample of the series, and its table. For the first pass. Needs: `table` is sample_read_table()'s.
 * Returns the sample. Changes: `table` is emptied; older tables end with `pool`; the oldest samples beyond the limit lose their bytes. */
state_sample *sample_keep(sample_series *series, perf_table *table, wmem_allocator_t *pool, uint32_t frame);

/* Adds the response to the newest request, on the first pass. `seconds`: response time, negative: not known. Returns how late that request or slow
 * this response is; NULL: neither, or it has no data. */
const late_sample *sample_add_response(timing_series *series, double seconds, bool has_data);

/* Returns the sample's table; NULL: its bytes were discarded. It lives as long as `pool` at least. Changes: a table that is read again is kept in
 * place of older ones. */
perf_table *sample_get_table(state_sample *sample, wmem_allocator_t *pool);

/* Reads bytes as a table of counter data, or of a PERF_DATA_BLOCK (`is_block`). Returns it; it ends with `pool`. Needs: the bytes live as long. */
perf_table *sample_read_table(wmem_allocator_t *pool, bool is_block, tvbuff_t *tvb);

/* Sets the preference: the most bytes that all samples and tables may take, beyond which sample_keep() discards the oldest. */
void sample_limit(uint64_t bytes);

/* Has bytes and tables of samples end with each file, and draws the secret of perf_table_set_secret(). Once, as the plugin begins. */
void samples_register(void);
