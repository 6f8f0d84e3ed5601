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

/* Responses to one question of one handle. Created on the first pass; ends with the file. */
struct sample_series {
    state_handle *handle;
    const char *question;     /* "" in PerflibV2; else the value's name, in small letters, without spaces at its ends */
    state_sample *newest;     /* NULL before the first; first pass only */
    timing_series timing;     /* first pass only */
    const uint8_t *first_row; /* name of the first instance in its first sample, for the Info column; NULL: none */
    uint32_t first_row_size;  /* bytes */
};

/* One object of a sample of HKEY_PERFORMANCE_DATA, of the walks alone. */
typedef struct {
    state_sample *sample;   /* whose it is; */
    state_sample *previous; /* the latest sample before that holds it too, NULL for the first, */
    state_sample *next;     /* and the first after it, NULL as long as there is none */
    bool is_doubtful;       /* nothing is compared with it, nor it with anything */
} state_object;

/* A response with status 0 that has a sound group. Created on the first pass; ends with the file. */
struct state_sample {
    state_handle *handle;
    sample_series *series;
    state_sample *previous; /* the sample before in the series, NULL: the first */
    uint32_t frame;
    const query_snapshot *query; /* PerflibV2: whose its blocks are; of the call */
    uint8_t *bytes;              /* counter data or PERF_DATA_BLOCK; NULL: discarded (memory limit) */
    struct sample_arena *arena;
    uint32_t size;                 /* bytes that were captured */
    uint32_t reported;             /* bytes that were sent */
    perf_table *table;             /* of `bytes`; NULL: not kept, see sample_get_table() */
    const struct state_late *late; /* NULL: in time */
    state_sample *newer;           /* of all samples, for discarding the oldest */
    /* of the walks, as long as these are there */
    uint8_t headline;      /* 1 + place of the value that the Info column shows; 0 as long as nobody looked */
    uint32_t num_objects;  /* HKPD, 0 elsewhere */
    state_object *objects; /* in the order of the block */
};

/* Returns the series of a question. For the first pass. Changes: creates it. */
sample_series *sample_series_find_or_create(state_handle *handle, const char *question);

/* Keeps a copy of the response's bytes as the newest sample of the series, and its table. For the first pass. Needs: `table` is
 * sample_read_table()'s. Changes: the table is emptied, that of the sample takes its place; an older one of the series ends with `pool`. */
state_sample *sample_keep(sample_series *series, perf_table *table, uint32_t reported, wmem_allocator_t *pool,
                          uint32_t frame);

/* Returns the sample's table; NULL: its bytes were discarded. It lives as long as `pool` at least. `is_current`: of the packet that is
 * dissected, rather than of a sample before it. Changes: the table of a current sample is kept in place of the series' older one. */
perf_table *sample_get_table(state_sample *sample, bool is_current, wmem_allocator_t *pool);

/* Reads a table that ends with `pool`. */
perf_table *sample_read_table(wmem_allocator_t *pool, bool is_block, const uint8_t *bytes, uint32_t size,
                              uint32_t reported);

/* Discards the tables of a handle that is closed. They live as long as `pool`. */
void samples_close(const state_handle *handle, wmem_allocator_t *pool);

/* Preference: the most that all samples and tables may take, in bytes. */
void sample_limit(uint64_t bytes);

void samples_register(void);

/* --- Of the walks, as long as these are there --------------------------------------------------------------------- */

/* HKPD: the objects that the sample holds, as it has just been kept, in the order of the block, by their title indexes; PERF_NO_OBJECT for
 * one that is no sample, since it is damaged or has no values. True if none is. */
#define PERF_NO_OBJECT UINT32_MAX
bool sample_holds(state_sample *sample, const uint32_t *objects, uint32_t count);

/* HKPD: what an object, by its number, is compared with; NULL without a sample. */
const state_object *sample_object(const state_sample *sample, uint32_t number);
