/* data-form.c
 * What the answers of a query have in common.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/data-form.h"

#include <stdlib.h>
#include <string.h>

#include "perf/bytes.h"

#define WORD 8
#define SPAN_WORDS 64
#define SPAN_BYTES (SPAN_WORDS * WORD)

/* Of PERF_DATA_HEADER: its three clocks and SYSTEMTIME. */
#define FIRST_CLOCK 8

/* --- Making one -------------------------------------------------------------------------------------------------- */

static void add_span(perf_form *form, uint32_t offset)
{
    form->spans[form->num_spans++] = (perf_form_span){0, offset, form->num_numbers};
}

/* The last span gets as far as this word, or another begins: values can stand on halves of words. */
static void reach(perf_form *form, uint32_t offset)
{
    uint32_t from = form->spans[form->num_spans - 1].offset;

    while (offset - from >= SPAN_BYTES) {
        from += SPAN_BYTES;
        add_span(form, from);
    }
    if ((offset - from) % WORD != 0) {
        add_span(form, offset);
    }
}

/* So many numbers, a word or two from one to the next. */
static void add_numbers(perf_form *form, uint32_t offset, uint32_t count, uint32_t step)
{
    const uint64_t every = step == 1 ? UINT64_MAX : UINT64_MAX / 3 * 2; /* the last bit, and so on down */

    while (count > 0) {
        reach(form, offset);
        perf_form_span *span = &form->spans[form->num_spans - 1];
        uint32_t first = (offset - span->offset) / WORD;
        uint32_t room = (SPAN_WORDS - first + step - 1) / step;
        uint32_t n = count < room ? count : room;
        span->numbers |= every >> (SPAN_WORDS - 1 - (n - 1) * step) << first;
        form->num_numbers += n;
        offset += n * step * WORD;
        count -= n;
    }
}

/* Where sizes leave room for doubt the walk looks ahead, into values. It does not where a size is a multiple of 8, nor for
 * the ids of counters if dwSize is right as it is, or what follows it cannot be the beginning of anything. */
static bool asks_no_value(const perf_walk *walk, perf_walk_event event)
{
    uint32_t at = walk->counters.offset;

    switch (event) {
    case PERF_WALK_FAULT:
        return false;
    case PERF_WALK_COUNTERS: {
        uint32_t stated = perf_le32(walk->data + at);
        return stated == walk->counters.size ||
               (stated <= walk->size - at - 4 && perf_le32(walk->data + at + stated) == 0);
    }
    case PERF_WALK_VALUE:
        return perf_le32(walk->data + walk->value.offset + 4) % 8 == 0;
    default:
        return true;
    }
}

/* What the walk passes over without an event for each value: plain ones, of 16 bytes each. */
static void pass_plain(perf_form *form, perf_walk *walk)
{
    uint32_t at = walk->pos;

    add_numbers(form, at + PERF_COUNTER_DATA_SIZE, perf_walk_pass_values(walk), 2);
    at = walk->pos;
    for (uint32_t rows = perf_walk_pass_rows(walk); rows > 0; rows--) {
        at += perf_le32(walk->data + at);
        add_numbers(form, at + PERF_COUNTER_DATA_SIZE, walk->counters.count, 2);
        at += 16 * walk->counters.count;
    }
}

static bool find_numbers(perf_form *form)
{
    perf_walk walk;
    perf_walk_event event;

    add_span(form, 0);
    add_numbers(form, FIRST_CLOCK, (PERF_DATA_HEADER_SIZE - FIRST_CLOCK) / WORD, 1);
    perf_walk_init(&walk, form->bytes, form->size);
    while ((event = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (!asks_no_value(&walk, event)) {
            return false;
        }
        if (event == PERF_WALK_VALUE) {
            add_numbers(form, walk.value.data, (walk.value.size - PERF_COUNTER_DATA_SIZE) / WORD, 1);
        }
        pass_plain(form, &walk);
    }
    reach(form, form->size);
    add_span(form, form->size);
    form->num_spans--;
    return true;
}

perf_form *perf_form_new(uint8_t *data, uint32_t size)
{
    /* a span begins every SPAN_BYTES at least, and may at a value, which takes 16 bytes */
    perf_form *form = malloc(sizeof *form + (size / SPAN_BYTES + size / 16 + 4) * sizeof form->spans[0]);

    if (form) {
        *form = (perf_form){.bytes = data, .size = size};
    }
    if (form == NULL || !find_numbers(form)) {
        free(form);
        return NULL;
    }
    void *fitting = realloc(form, sizeof *form + (form->num_spans + 1) * sizeof form->spans[0]);
    if (fitting) {
        form = fitting;
    }
    return form;
}

void perf_form_free(perf_form *form)
{
    free(form);
}

/* --- Answers of it ----------------------------------------------------------------------------------------------- */

bool perf_form_read(const perf_form *form, const uint8_t *data, uint32_t size, uint64_t *numbers)
{
    uint64_t words[SPAN_WORDS];

    if (size != form->size) {
        return false;
    }
    for (uint32_t i = form->num_spans; i-- > 0;) { /* what is new mostly stands at the end */
        const perf_form_span *span = &form->spans[i];
        const uint8_t *at = data + span->offset;
        uint32_t length = span[1].offset - span->offset;
        uint64_t *taken = numbers + span->before;
        memcpy(words, form->bytes + span->offset, length);
        for (uint64_t left = span->numbers; left != 0; left &= left - 1) {
            size_t word = (size_t)__builtin_ctzll(left);
            uint64_t number;
            memcpy(&number, at + WORD * word, WORD);
            words[word] = *taken++ = number;
        }
        if (memcmp(words, at, length) != 0) {
            return false;
        }
    }
    return true;
}

void perf_form_fill(const perf_form *form, const uint64_t *numbers, uint8_t *data)
{
    for (uint32_t i = 0; i < form->num_spans; i++) {
        for (uint64_t left = form->spans[i].numbers; left != 0; left &= left - 1) {
            memcpy(data + form->spans[i].offset + WORD * (size_t)__builtin_ctzll(left), numbers++, WORD);
        }
    }
}

/* None holds more than SPAN_BYTES, so it is this one if all do, or one after it. */
static const perf_form_span *span_at(const perf_form *form, uint32_t offset)
{
    uint32_t low = offset / SPAN_BYTES, high = form->num_spans;

    while (low + 1 < high && form->spans[low + 1].offset <= offset) {
        uint32_t middle = low + 1 + (high - low - 1) / 2;
        if (form->spans[middle].offset <= offset) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &form->spans[low];
}

const uint8_t *perf_form_at(const perf_filled_form *data, uint32_t offset)
{
    if (data->numbers == NULL) {
        return data->bytes + offset;
    }
    const perf_form_span *span = span_at(data->form, offset);
    uint64_t word = (uint64_t)1 << (offset - span->offset) / WORD;
    uint32_t number = span->before + (uint32_t)__builtin_popcountll(span->numbers & (word - 1));

    return span->numbers & word ? (const uint8_t *)&data->numbers[number] : data->bytes + offset;
}
