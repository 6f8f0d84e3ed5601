/* data-form.h
 * What the answers of a query have in common: mostly they differ in their numbers alone.
 *
 * A form is the bytes of one answer with its numbers left blank. What has the same form is walked in the same way and is
 * as sound, so only its numbers need to be kept, and the value that stands at an offset is the same counter of the same
 * instance in all of them.
 *
 * Only an answer without any fault has a form, and only if no size in it has to be guessed: then the walk (data-walk.h)
 * asks nothing of what a form leaves blank.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_DATA_FORM_H
#define PCQ_PERF_DATA_FORM_H

#include "perf/data-walk.h"

/* Up to 64 words of 8 bytes, to where the next one begins. */
typedef struct {
    uint64_t blanks; /* bit i: word i is left blank */
    uint32_t offset; /* in the answer, bytes */
    uint32_t before; /* blanks in front of it */
} perf_form_span;

typedef struct {
    uint8_t *bytes; /* whoever has the form owns them; blanks are 0 */
    uint32_t size;
    uint32_t num_blanks;
    perf_form_span *spans; /* and one that begins at `size` */
    uint32_t num_spans;
    perf_data_summary summary;
    unsigned users; /* for whoever shares it */
} perf_form;

/* One answer: all its bytes, or those of its form and what fills the blanks. */
typedef struct {
    const uint8_t *bytes;
    uint32_t size;
    const perf_form *form; /* NULL: all its bytes */
    const uint64_t *numbers;
} perf_filled_form;

/* Which words of an answer its form leaves blank; NULL if it has no form, or there is no memory. */
perf_form *perf_form_new(const uint8_t *data, uint32_t size);

/* Makes the answer's bytes those of the form: what fills it goes to `numbers`, which has room for num_blanks. */
void perf_form_take(perf_form *form, uint8_t *data, uint64_t *numbers);

/* Not its bytes. */
void perf_form_free(perf_form *form);

/* True if the answer has this form: then `numbers` is what fills it. */
bool perf_form_read(const perf_form *form, const uint8_t *data, uint32_t size, uint64_t *numbers);

/* Fills the form's bytes, or a copy of them: the answer as it was. */
void perf_form_fill(const perf_form *form, const uint64_t *numbers, uint8_t *data);

/* Where the number at an offset that a walk told (perf_walk.value.data, or one of the header's) is to be read from: if there
 * is a form, and of any answer. */
const uint8_t *perf_form_at(const perf_filled_form *data, uint32_t offset);

static inline const uint8_t *perf_filled_form_at(const perf_filled_form *data, uint32_t offset)
{
    return data->form ? perf_form_at(data, offset) : data->bytes + offset;
}

#endif
