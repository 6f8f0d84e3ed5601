/* samples.h
 * Samples: what a value is calculated from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_SAMPLES_H
#define PCQ_STATE_SAMPLES_H

#include "state/handles.h"

typedef struct perf_sample perf_sample;

/* One object of a sample of HKEY_PERFORMANCE_DATA, whose answers hold now these, now those. */
typedef struct perf_object {
    perf_sample *sample;
    uint32_t title_index;
    uint32_t number;              /* in the answer, 0 for the first */
    uint32_t offset;              /* in the answer, in bytes */
    struct perf_object *previous; /* in the latest sample before that holds it too, NULL for the first */
    bool is_doubtful;             /* nothing is compared with it, nor it with anything */
} perf_object;

/* One intact answer with counter data, as it was received. */
struct perf_sample {
    perf_handle *handle;
    uint32_t event;
    uint32_t frame;
    uint8_t *bytes; /* NULL once the limit made it go */
    uint32_t size;
    bool has_doubts;        /* PerflibV2: some of its blocks are compared with nothing */
    perf_sample *previous;  /* the sample before it of the same handle, NULL for the first */
    perf_object *objects;   /* HKPD: in the order of the block, NULL elsewhere */
    perf_object **by_title; /* the same in the order of their title indexes */
    uint32_t num_objects;
    perf_sample *newer; /* of all samples, for dropping the oldest */
};

/* Keeps a copy of `size` bytes as the handle's newest sample. */
perf_sample *perf_sample_keep(perf_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event, uint32_t frame);

/* An object of an answer; title_index is PERF_NO_OBJECT for one that is no sample, since it is damaged or has no values. */
#define PERF_NO_OBJECT UINT32_MAX
typedef struct {
    uint32_t title_index;
    uint32_t offset; /* bytes */
} perf_object_place;

/* HKPD: the objects that the sample holds, as it has just been kept, in the order of the block. */
void perf_sample_holds(perf_sample *sample, const perf_object_place *places, uint32_t count);

/* HKPD: the first object with a title index, NULL if the sample does not hold it. */
const perf_object *perf_sample_object(const perf_sample *sample, uint32_t title_index);

/* Preference: the most that all samples may take, in bytes. */
void perf_sample_limit(uint64_t bytes);

void perf_samples_register(void);

#endif
