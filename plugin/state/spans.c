/* spans.c
 * Spans of events: which of many things that ended now and then hold at an event.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/spans.h"

static unsigned length_of(const state_spans *spans, unsigned level)
{
    return spans->levels[level] ? wmem_array_get_count(spans->levels[level]) : 0;
}

static uint32_t *element(const state_spans *spans, unsigned level, unsigned i)
{
    return wmem_array_index(spans->levels[level], i);
}

unsigned spans_count(const state_spans *spans)
{
    return length_of(spans, 0);
}

static void put(state_spans *spans, unsigned level, unsigned i, uint32_t end)
{
    if (spans->levels[level] == NULL) {
        spans->levels[level] = wmem_array_sized_new(wmem_file_scope(), sizeof(uint32_t), 1);
    }
    if (i == length_of(spans, level)) {
        wmem_array_append_one(spans->levels[level], end);
    } else {
        *element(spans, level, i) = end;
    }
}

/* Writes an end and the maxima above it. */
static void update(state_spans *spans, unsigned i, uint32_t end)
{
    put(spans, 0, i, end);
    for (unsigned level = 1; level < PERF_SPAN_LEVELS && length_of(spans, level - 1) > 1; level++) {
        uint32_t left = *element(spans, level - 1, i & ~1U);
        uint32_t right = (i | 1U) < length_of(spans, level - 1) ? *element(spans, level - 1, i | 1U) : 0;
        i /= 2;
        put(spans, level, i, left > right ? left : right);
    }
}

void spans_append(state_spans *spans, uint32_t end)
{
    update(spans, length_of(spans, 0), end);
}

void spans_set_end(state_spans *spans, unsigned span, uint32_t end)
{
    update(spans, span, end);
}

unsigned spans_next(const state_spans *spans, unsigned from, uint32_t event)
{
    unsigned level = 0;

    while (from < length_of(spans, level)) {
        if (*element(spans, level, from) <= event) {
            /* nothing below: to the next one, as high as it begins */
            from++;
            while (level + 1 < PERF_SPAN_LEVELS && from % 2 == 0 && from / 2 < length_of(spans, level + 1)) {
                from /= 2;
                level++;
            }
        } else if (level == 0) {
            return from;
        } else {
            from *= 2;
            level--;
        }
    }
    return spans_count(spans);
}
