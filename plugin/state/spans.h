/* spans.h
 * Spans of events: which of many things that ended now and then hold at an event, without looking at those that ended.
 *
 * A binary tree of maxima above the ends: each find and each change takes time in proportion to the logarithm of the
 * number of spans.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_SPANS_H
#define PCQ_STATE_SPANS_H

#include "ws_compat.h"

#define PERF_SPAN_LEVELS 32

typedef struct {
    wmem_array_t *levels[PERF_SPAN_LEVELS]; /* uint32_t: the ends, then the maximum of each two of the level below */
} state_spans;

unsigned spans_count(const state_spans *spans);

/* The next span ends with event `end`, UINT32_MAX if it has not ended. */
void spans_append(state_spans *spans, uint32_t end);
void spans_set_end(state_spans *spans, unsigned span, uint32_t end);

/* The first span from `from` on that ends after `event`; spans_count() if there is none. */
unsigned spans_next(const state_spans *spans, unsigned from, uint32_t event);

#endif
