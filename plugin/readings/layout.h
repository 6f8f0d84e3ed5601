/* layout.h
 * What the layouts of the two protocols tell the stream of readings.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/readings.h"
#include "readings/tables.h"
#include "state/samples.h"
#include "text/text.h"

/* Characters that are left of a name where names were repeated until they took more than their answer allows. */
#define READINGS_SHORT_NAME 32

/* Where a value stands in one of the samples, and the number there; size 0 if there is none. */
typedef struct {
    reading_table *table;
    uint32_t row;
    uint32_t column;
    perf_raw raw;
    bool assumed;          /* that it is the same instance: see table_pair */
    bool is_ambiguous;     /* which instance it is: see table_pair */
    bool has_counter;      /* the counter is there, whether the instance is or not */
    bool failed;           /* what was asked for alike had an error in that sample */
    bool others;           /* other counters are where it would be */
    bool may_have_changed; /* another name or type of it was told, and it may have become another since that sample */
} reading_place;

struct readings_layout {
    /* Sets up r->own, r->current and r->machine. */
    void (*begin)(readings *r);
    /* Goes on to the next value and fills r->at; false at the end. Where a block or object begins it calls
     * readings_enter() and fills what readings.h says of it; r->at ends with readings_take(). */
    bool (*next)(readings *r);
    /* Looks up type and relations of r->at.counter, or why there is no result. */
    void (*look_up_counter)(readings *r);
    /* The name of r->at.counter, of which it is known whose it is. */
    const char *(*label)(readings *r);
    /* Fills r->set_label and r->has_instances, before a path is written. */
    void (*look_up_set)(readings *r);
    /* Opens r->table. */
    void (*open_table)(readings *r);
    /* The same counter of the same instance in the sample before; false where it is not there. */
    bool (*find_previous)(readings *r, reading_place *place);
    /* What the formula needs beside the value that stands at `place` of `view` (one of PERF_NEEDS_...). */
    perf_raw (*operand)(readings *r, sample_view *view, const reading_place *place, unsigned need);
    /* The instance's part of the path, NULL without one. */
    const char *(*instance)(readings *r);
    /* Why there is no time or frequency, where no counter of the query is one; PERF_NO_RESULT_OK: a counter is. */
    perf_no_result no_clock;
};

/* A block or object begins: forgets what was known of the last. */
void readings_enter(readings *r, uint32_t number);

/* What is known of the counter of r->at. */
static inline const reading_counter *readings_known_counter(readings *r)
{
    if (!r->at.counter->known) {
        r->answer.layout->look_up_counter(r);
        r->at.counter->known = true;
    }
    return r->at.counter;
}

/* Begins the next reading, of a block or object with so many counters. */
static inline void readings_place(readings *r, uint32_t row, uint32_t column, uint32_t columns, uint32_t offset,
                                  uint32_t size)
{
    if (r->counters == NULL) {
        r->counters = wmem_alloc0_array(r->pool, reading_counter, columns);
    }
    r->at.row = row;
    r->at.column = column;
    r->at.offset = offset;
    r->at.size = size;
    r->at.counter = &r->counters[column];
}

/* Takes the number at `offset` as the raw value, after the layout has filled the other parts of r->at. */
static inline void readings_take(readings *r, perf_raw raw)
{
    r->operands.known = false;
    r->at.raw = raw;
    r->at.is_number = raw.size > 0 && !r->at.is_text;
}

/* r->table, opened if it was not. */
reading_table *readings_table(readings *r);

/* From here on values are compared with a sample of `frame`; NULL and 0: with none, and the caller sets r->why_no_previous. Takes its
 * clocks and fills r->interval. */
void readings_compare_with(readings *r, sample_view *previous, uint32_t frame);

/* The same for the sample that was answered before; with none if that was taken later, since both calls were under way at once. */
void readings_compare_in_order(readings *r, sample_view *previous, const state_sample *answered);

/* The name, or a copy that ends in an ellipsis after TEXT_NAME_MAX characters. */
static inline const char *readings_bounded(wmem_allocator_t *pool, const char *name)
{
    return name ? text_cut(pool, name, TEXT_NAME_MAX) : NULL;
}

/* A set for which only one instance exists has none in its paths. */
bool readings_set_is_single(state_host *server, const uint8_t *guid, uint32_t event);

/* "name", "name#1" of the second, or "name#1#0" of one that is called so beside it. `unit`: bytes of a digit. */
const char *readings_with_ordinal(const readings *r, reading_table *table, uint32_t row, const char *name,
                                  uint32_t unit);

/* The row of the pair and the number in the place's column; false without one. */
static inline bool readings_take_pair(reading_place *place, table_pair pair)
{
    place->row = pair.row;
    place->assumed = pair.assumed;
    place->is_ambiguous = pair.is_ambiguous;
    if (pair.row != UINT32_MAX) {
        place->raw = readings_table_cell(place->table, pair.row, place->column);
    }
    return pair.row != UINT32_MAX;
}

/* Why an answer that is no sample is compared with nothing. */
static inline perf_no_result readings_no_sample(const readings *r)
{
    return r->answer.is_repeated ? PERF_NO_RESULT_REPEATED : PERF_NO_RESULT_DAMAGED;
}
