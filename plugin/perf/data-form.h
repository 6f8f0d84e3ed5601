/* data-form.h
 * What is left of forms of answers, which none has, as long as readings/ is there.
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

static inline const uint8_t *perf_form_at(perf_filled_form *data, uint32_t offset)
{
    return data->bytes + offset;
}
