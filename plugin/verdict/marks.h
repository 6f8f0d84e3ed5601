/* marks.h
 * Calls of a monitor as marks on a line of time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/talks.h"

/* The worst last. X(MARK, name) */
#define VERDICT_MARKS(X) \
    X(ANSWERED, "answered") \
    X(LATE, "late") \
    X(SLOW, "slow") \
    X(EMPTY, "without data") \
    X(MALFORMED, "malformed") \
    X(UNANSWERED, "no answer") \
    X(NOT_CAPTURED, "not captured") \
    X(RESTARTED, "restarted") \
    X(FAILED, "failed")

#define VERDICT_MARK_NUMBER(mark, ...) VERDICT_MARK_##mark,
typedef enum { VERDICT_MARKS(VERDICT_MARK_NUMBER) VERDICT_NUM_MARKS } verdict_mark_kind;

extern const char *const verdict_mark_names[VERDICT_NUM_MARKS];

typedef struct {
    double at;    /* seconds since 1970: of the response, without one of the request */
    double delay; /* seconds from the request to the response, negative: not known */
    uint32_t frame;
    verdict_mark_kind kind;
} verdict_mark;

/* Returns the marks of a monitor that was judged (verdict_mark, ascending by time), to be freed. */
GArray *verdict_find_marks(const verdict_monitor *monitor);
