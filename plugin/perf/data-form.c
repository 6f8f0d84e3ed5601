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

/* Of PERF_DATA_HEADER: its three clocks and SYSTEMTIME. */
#define FIRST_CLOCK 8

/* --- Making one -------------------------------------------------------------------------------------------------- */

/* So many numbers, a word or two from one to the next. */
static void add_numbers(perf_form *form, uint32_t offset, uint32_t count, uint32_t step)
{
    for (; count > 0; count--, offset += step * WORD) {
        form->offsets[form->num_numbers++] = offset;
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
    return true;
}

perf_form *perf_form_new(uint8_t *data, uint32_t size)
{
    perf_form *form = malloc(sizeof *form + (size + PERF_DATA_HEADER_SIZE) / WORD * sizeof form->offsets[0]);

    if (form) {
        *form = (perf_form){.bytes = data, .size = size};
    }
    if (form == NULL || !find_numbers(form)) {
        free(form);
        return NULL;
    }
    perf_form *fitting = realloc(form, sizeof *form + form->num_numbers * sizeof form->offsets[0]);
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

bool perf_form_read(perf_form *form, const uint8_t *data, uint32_t size, uint64_t *numbers)
{
    uint8_t *bytes = form->bytes;
    size_t count = size == form->size ? form->num_numbers : 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t offset = form->offsets[i];
        uint64_t number;
        memcpy(&number, data + offset, WORD);
        memcpy(bytes + offset, &number, WORD);
        numbers[i] = number;
    }
    return size == form->size && memcmp(bytes, data, size) == 0;
}

void perf_form_fill(const perf_form *form, const uint64_t *numbers, uint8_t *data)
{
    for (uint32_t i = 0; i < form->num_numbers; i++) {
        memcpy(data + form->offsets[i], &numbers[i], WORD);
    }
}

/* The first number at an offset or behind it. */
static uint32_t number_at(const perf_form *form, uint32_t offset)
{
    uint32_t low = 0, high = form->num_numbers;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (form->offsets[middle] < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const uint8_t *perf_form_at(perf_filled_form *data, uint32_t offset)
{
    const perf_form *form = data->form;

    if (form == NULL) {
        return data->bytes + offset;
    }
    uint32_t number = data->next;
    if (number >= form->num_numbers || form->offsets[number] != offset) {
        number = number_at(form, offset);
    }
    if (number >= form->num_numbers || form->offsets[number] != offset) {
        return data->bytes + offset;
    }
    data->next = number + 1;
    return (const uint8_t *)&data->numbers[number];
}
