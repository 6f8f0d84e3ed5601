/* left-out.h
 * What a listener could not take, or took with a doubt: counted while calls come, and said at its end or below a table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tap/tapped.h"

#define LEFT_OUT_REASONS 6

typedef struct {
    bool any_read;         /* some call could be read */
    bool any_pcq;          /* ... of PerflibV2: there may be a query */
    bool opened;           /* ... and was about a handle: a query's or a key's */
    bool opened_query;     /* of them a query's */
    bool needs_no_samples; /* names are wanted, or each monitor says why it has none */
    uint64_t samples;      /* answers with values */
    uint64_t probes;       /* of samples */
    uint64_t requests;
    uint64_t responses;       /* captured whole */
    uint64_t strange;         /* answers of no known query */
    uint64_t empty;           /* successful responses without the data that was asked for */
    uint64_t damaged;         /* answers that do not add up, */
    uint64_t values, objects; /* and what is left out of them and of others */
    uint64_t titles;          /* lists of them that could not be read whole */
    uint64_t failed;          /* calls, and how the first did */
    const char *failed_operation;
    const char *failed_error;
    struct {
        const char *why; /* interned */
        uint64_t calls;
    } unread[LEFT_OUT_REASONS]; /* up to the first without a reason */
    uint64_t untyped;           /* values (or columns) without a result, since no type of their counter was captured */
    uint64_t from_file;         /* values (or columns) by a type that the names file has, not the capture */
    uint64_t nameless;          /* values (that have no column), since their counter is not known */
    uint64_t texts, repeated;   /* pcq,counters: that are no numbers; and values whose path the answer had already */
    uint64_t of_others;         /* and values of another counter than their path's row */
    uint64_t without_cell;      /* PDH-CSV: values that are not in it */
    const watch_paths *paths;   /* that are asked for: some fit nothing, perhaps; NULL: all */
    uint64_t assumed
        [NUM_ASSUMED_REASONS]; /* values (or columns) that are assumed, for each reason; they were not left out */
} left_out;

/* Each call that a listener is handed. `left` begins as zeros. */
void left_out_count(left_out *left, const tapped_call *tapped);

/* What is said of a value, or of all of a column. */
typedef enum {
    LEFT_OUT_UNTYPED = 1,
    LEFT_OUT_FROM_FILE = 2,
    LEFT_OUT_UNKNOWN = 4, /* with UNTYPED: since it is not known which counter it is */
    LEFT_OUT_ASSUMED = 8  /* times 2 to the power of its assumed_reason */
} left_out_mark;

/* Marks of the value that was read last, and of its result. */
static inline unsigned left_out_marks(value_stream *stream, const perf_result *result)
{
    bool is_unknown = result->none == PERF_NO_RESULT_COUNTER_NOT_KNOWN;
    bool is_untyped = is_unknown || result->none == PERF_NO_RESULT_TYPE_NOT_LEARNED;
    assumed_reason assumed = value_stream_assumed_reason(stream);

    return (assumed != ASSUMED_NONE ? (unsigned)LEFT_OUT_ASSUMED << assumed : 0U) |
           (is_untyped ? LEFT_OUT_UNTYPED : 0U) | (is_unknown ? LEFT_OUT_UNKNOWN : 0U) |
           (stream->at.counter->type_from_file ? LEFT_OUT_FROM_FILE : 0U);
}

/* Counts a value or column with its marks. */
void left_out_count_marks(left_out *left, unsigned marks);

/* How a note is worded: for a row of a window, in at most 60 characters, or for standard error, with what to do. */
typedef enum { LEFT_OUT_BRIEF, LEFT_OUT_LONG } left_out_form;

/* A note for each kind of what was left out, or is assumed: how many (`what` says of assumed ones: "values"). Texts, to be freed with the
 * array. */
GPtrArray *left_out_notes(const left_out *left, const char *what, left_out_form form);
