/* data-form.h
 * What the answers of a query have in common: mostly they differ in their numbers alone.
 *
 * A form says where the numbers of one answer stand. What has the same form has the same other bytes at the same places: it
 * is walked in the same way and is as sound, so only its numbers need to be kept, and the value that stands at an offset is
 * the same counter of the same instance in all of them.
 *
 * Only an answer without any fault has a form, and only if no size in it has to be guessed: then the walk (data-walk.h)
 * asks nothing of a number.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/data-walk.h"

typedef enum { PERF_FORM_NOT_KNOWN, PERF_FORM_BY_PLACE, PERF_FORM_BY_INSTANCE } perf_form_pairing;

typedef struct {
    uint8_t *bytes; /* of an answer that has it, which whoever has it owns; its numbers are those that were read last */
    uint32_t size;
    uint32_t num_numbers;     /* of 8 bytes each */
    unsigned users;           /* for whoever shares it */
    perf_form_pairing paired; /* how two answers are, for whoever compares them, */
    uint32_t paired_as_of;    /* with what was known then; */
    uint32_t alone; /* a value that is compared by its place, whatever is true of others, 0 before one is known, */
    uint32_t alone_as_of; /* with what was known then */
    uint32_t offsets[];   /* of the numbers, ascending */
} perf_form;

/* One answer: its bytes, or those of its form and its numbers. */
typedef struct {
    const uint8_t *bytes;
    uint32_t size;
    const perf_form *form; /* NULL: its bytes are its own */
    const uint64_t *numbers;
    uint32_t next; /* of them, behind the one that was read last: who reads one mostly reads the next */
} perf_filled_form;

/* The form of an answer, for perf_form_free(); NULL if it has none, or there is no memory. */
perf_form *perf_form_new(uint8_t *data, uint32_t size);
void perf_form_free(perf_form *form);

/* True if the answer has this form: then `numbers` is its numbers, num_numbers of them. */
bool perf_form_read(perf_form *form, const uint8_t *data, uint32_t size, uint64_t *numbers);

/* Where the number at an offset that a walk told (perf_walk.value.data, or one of the header's) is to be read from. */
const uint8_t *perf_form_at(perf_filled_form *data, uint32_t offset);

/* Puts such numbers into a copy of the form's bytes: the answer as it was. */
void perf_form_fill(const perf_form *form, const uint64_t *numbers, uint8_t *data);
