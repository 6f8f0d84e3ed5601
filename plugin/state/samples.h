/* samples.h
 * Samples: what a value is calculated from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/handles.h"

#include "perf/data-form.h"

typedef struct state_sample state_sample;

/* One object of a sample of HKEY_PERFORMANCE_DATA, whose answers hold now these, now those. */
typedef struct {
    state_sample *sample;   /* whose it is; */
    state_sample *previous; /* the latest sample before that holds it too, NULL for the first, */
    state_sample *next;     /* and the first after it, NULL as long as there is none */
    bool is_doubtful;       /* nothing is compared with it, nor it with anything */
} state_object;

/* One intact answer with counter data. */
struct state_sample {
    state_handle *handle;
    uint32_t request_event; /* 0: the request was not captured */
    uint32_t event;         /* of the response */
    uint32_t frame;
    uint8_t *bytes; /* its own, or its form's; NULL once the limit made it go */
    uint32_t size;
    perf_form *form;           /* NULL if it has none in common with others */
    uint64_t *numbers;         /* that take the place of those in its form's bytes; NULL without one */
    perf_data_summary summary; /* PerflibV2: what it holds; HKPD: whether it has faults, and some end values (failed) */
    uint32_t alone;   /* PerflibV2: offset of an instance whose name no other in its block has, 0 before one is known */
    uint8_t headline; /* 1 + place of the value that the Info column shows; 0 as long as nobody looked */
    uint8_t pause;    /* PerflibV2: samples to come of which no form is tried, */
    uint8_t next_pause;            /* and after how long a pause the last try was in vain */
    const struct state_late *late; /* NULL: in time */
    state_sample *previous;        /* the sample before it of the same handle, NULL for the first, */
    state_sample *next;            /* and after it, NULL as long as there is none */
    uint32_t num_objects;          /* HKPD, 0 elsewhere */
    state_object *objects;         /* in the order of the block */
    state_sample *newer;           /* of all samples, for dropping the oldest */
};

/* Keeps a copy of `size` bytes as the handle's newest sample. */
state_sample *sample_keep(state_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event, uint32_t frame);

/* PerflibV2: the same for bytes that have a form in common with the handle's newest sample: only their numbers are kept,
 * and all that is said of the form is true of them. NULL if they haven't. */
state_sample *sample_keep_alike(state_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event,
                                uint32_t frame);

/* True if these bytes have the form of a sample that is still kept. */
bool sample_has_form(const state_sample *sample, const uint8_t *bytes, uint32_t size);

/* Of a sample that is still kept: what to read it from, or all its bytes as they were received. */
static inline perf_filled_form sample_data(const state_sample *sample)
{
    return (perf_filled_form){sample->bytes, sample->size, sample->form, sample->numbers, 0};
}

const uint8_t *sample_bytes(const state_sample *sample, wmem_allocator_t *pool);

/* HKPD: the objects that the sample holds, as it has just been kept, in the order of the block, by their title indexes; PERF_NO_OBJECT for
 * one that is no sample, since it is damaged or has no values. True if none is. */
#define PERF_NO_OBJECT UINT32_MAX
bool sample_holds(state_sample *sample, const uint32_t *objects, uint32_t count);

/* HKPD: what an object, by its number, is compared with; NULL without a sample. */
const state_object *sample_object(const state_sample *sample, uint32_t number);

/* Preference: the most that all samples may take, in bytes. */
void sample_limit(uint64_t bytes);

void samples_register(void);
