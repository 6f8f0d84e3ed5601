/* value-ops.h
 * Differences between the values of PerflibV2 (pcq/pcq-values.c) and of HKEY_PERFORMANCE_DATA (hkpd/hkpd-values.c), as functions.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"
#include "state/metadata.h"
#include "state/queries.h"
#include "state/samples.h"
#include "text/text.h"

struct value_ops {
    bool is_block; /* responses are a PERF_DATA_BLOCK */
    /* Fills the stream's `computer` (NULL: the server's address), `proofs`, and `own` of both samples. */
    void (*begin)(value_stream *stream);
    /* Fills the group's `identifier`, and `assumed` if that is ASSUMED_NONE. NULL: nothing to fill. */
    void (*enter)(value_stream *stream);
    /* Returns the same group of the sample before, or NULL. `why`: the reason why it is not there or not compared. Needs: before.table. */
    perf_group *(*group_before)(value_stream *stream, perf_no_result *why);
    /* Fills the group's `set_label` (NULL stays: its counterset is not known), `is_set_assumed` and `has_instances`. */
    void (*look_up_set)(value_stream *stream);
    /* Fills a column (at.column) but for its label and its column in the sample before. */
    void (*look_up_column)(value_stream *stream, value_column *column);
    /* Returns the name of the row's instance without its ordinal, NULL: it has none. */
    const char *(*instance)(value_stream *stream);
    /* Fills size, code page and byte order of the current value, a text of `size` bytes. */
    void (*read_text)(value_stream *stream, uint32_t size);
    /* Returns what the formula of the current value needs (one of PERF_NEEDS_...) for the value at `at`. Size 0: it is not there. */
    perf_raw (*operand)(value_stream *stream, const value_location *at, unsigned need);
    /* Reason for a time or frequency that is not there; PERF_NO_RESULT_OK: it is a counter, as other operands are. */
    perf_no_result no_clock;
};

/* Returns the cell of the stream's current value. */
static inline value_location value_stream_location(value_stream *stream)
{
    return (value_location){&stream->now, stream->group, stream->at.row, stream->at.column};
}

/* Finds the row of the instance at `at` in `group` of either sample, for an operand in another block. Returns PERF_MATCH_NONE without one.
 * Changes: a match that is assumed makes the result assumed. */
perf_match value_stream_match_row(value_stream *stream, const value_location *at, parsed_sample *in, perf_group *group,
                                  uint32_t *row);
