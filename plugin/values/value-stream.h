/* value-stream.h
 * The values of one response, of either protocol, one after the other: the number that was sent, its counter, instance and path, and
 * the value calculated from it and the sample before.
 *
 * Trees, statistics and exports read values here and cannot tell the protocols apart. A value has its number and its place; result,
 * path and text are made when they are asked for. Functions that differ between the protocols: value_ops.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include "perf/cells.h"
#include "text/numbers.h"

typedef struct value_stream value_stream;
typedef struct value_ops value_ops;
typedef struct state_server state_server;
typedef struct state_handle state_handle;
typedef struct state_sample state_sample;

/* --- A response --------------------------------------------------------------------------------------------------- */

/* Filled by rpc_pdu_read_response() on every pass; ends with the packet. A plain value. */
typedef struct {
    const value_ops *ops; /* of its protocol */
    state_server *server;
    const state_handle *handle;         /* NULL: the request's handle is not known */
    const state_sample *sample;         /* kept of it; NULL: the response is no sample */
    const struct query_snapshot *query; /* PerflibV2: whose its blocks are */
    perf_table *table;                  /* of `tvb` */
    uint32_t request_frame;             /* 0: the request was not captured */
    tvbuff_t *tvb;                      /* the counter data or PERF_DATA_BLOCK */
    bool is_repeated;                   /* the call has another response already */
    bool is_malformed;                  /* its parameters contradict the stub, or its fragments each other */
} counter_response;

/* --- Doubt -------------------------------------------------------------------------------------------------------- */

/* Reasons why a value is assumed. X(name, sentence): of ASSUMED_..., of several the first that applies */
#define ASSUMED_REASONS(X) \
    X(NONE, "") \
    X(RESPONSE, "the response, or this part of it, is malformed: its values may stand elsewhere") \
    X(COUNTER, "the query was changed at the same time, QueryCounterInfo contradicts what was known of it or was not " \
               "captured, or the response has the counter twice") \
    X(NAME, "another packet has another name or type for it, its list of names is malformed, or several computers " \
            "answer at this address") \
    X(INSTANCE, "instances have one name, or one has another id than before, and nothing else tells them apart")

#define ASSUMED_ENUM(name, sentence) ASSUMED_##name,
typedef enum { ASSUMED_REASONS(ASSUMED_ENUM) } assumed_reason;

/* --- A value ------------------------------------------------------------------------------------------------------ */

/* A response or the sample before, parsed. */
typedef struct {
    perf_table *table; /* NULL: there is none */
    perf_cell at;      /* the value that was read last; before: its group, and behind value_stream_result() its place */
    perf_point point;  /* clocks, and operands of that value; what its formula does not need means nothing */

    /* of PerflibV2 alone */
    const struct query_index *index; /* identifiers of its blocks; NULL: it is not known whose any block is */
    bool is_index_assumed;           /* it may be another epoch's */
    wmem_map_t *by_identifier;       /* perf_identifier -> perf_group; NULL until a block is not where it mostly is */
    bool lacks_identifiers;          /* some blocks are nobody's: a missing counter is not new; known with the map */
} parsed_sample;

/* A counter of the group that the stream is in. Zeros until somebody asks: then it has a type, or `none` says why not. */
typedef struct {
    uint32_t id;                   /* counter id or title index, PERF_NO_ID: not known */
    const perf_counter_type *type; /* NULL: not known */
    perf_no_result none;           /* PERF_NO_RESULT_OK, or why no value of it ever has a result */
    const perf_counter_info *info; /* PerflibV2: ids of its base, time, frequency and multi counters; NULL: not known */
    bool is_text;                  /* its values are texts */
    assumed_reason assumed;        /* ASSUMED_COUNTER, or ASSUMED_NAME: of its name or type */
    const char *label;             /* name in paths, "#id" or "*"; NULL: the counter is not known */
    perf_match match;              /* how well `before` is known */
    uint32_t before;               /* the same counter in the sample before */
} value_column;

/* A row of the group that the stream is in. Begins as zeros with each row. */
typedef struct {
    uint32_t number;    /* in the group */
    const char *label;  /* its instance in paths; NULL: none, or not asked */
    bool is_named;      /* the next member is filled */
    perf_row_name name; /* among those of its name */
    perf_match match;   /* how well its row in the sample before is known */
    size_t prefix_size; /* of the stream's `path` before the counter; 0: that is of another row */
} value_row;

struct value_stream {
    wmem_allocator_t *pool;
    counter_response response;
    const char *computer;  /* name in paths, without backslashes */
    parsed_sample now;     /* `at` is in no group before the first */
    parsed_sample before;  /* it has no table if there is none to compare with */
    perf_id_proofs proofs; /* counters that prove which instance a row is */

    /* of the value that was read last */
    value_column *counter;      /* the first of the group in front of its first value */
    const perf_point *previous; /* operands in the sample before; NULL: the value has none there */
    bool is_match_assumed;      /* the row of the sample before, or of an operand in another block, is assumed */

    /* of the group */
    perf_no_result why_no_pair; /* values have no previous one: no group before is known, or it cannot be compared */
    assumed_reason assumed;     /* of all its values: ASSUMED_RESPONSE, ASSUMED_COUNTER */
    const perf_identifier *identifier; /* PerflibV2: whose the block is; NULL: not known */
    const char *set_label;             /* NULL: not known whose it is, or not asked */
    bool is_set_assumed;               /* its name is; filled with set_label, as the next member */
    bool is_single;                    /* paths have no instance */
    value_column *columns;             /* one at least; a group without columns stands for a counter, too */
    uint32_t columns_room;             /* elements of `columns` */
    value_row row;                     /* that `at` is in */

    wmem_strbuf_t *path;  /* as it was made last */
    size_t computer_size; /* of `path` before the counterset */
};

/* Begins to read the values of a response, in `pool`, and finds the sample before; nothing is calculated yet. Two streams of one response give the same. */
value_stream *value_stream_begin(wmem_allocator_t *pool, const counter_response *response);

/* Reads the next value, in this group or the next. Returns NULL at the end. The value holds until the next is read. */
const perf_cell *value_stream_next(value_stream *stream);

/* Goes in front of the next group, at first of the first. Returns false behind the last, where the stream stays. Changes: as
 * value_stream_enter(); a table that is not whole is read whole. */
bool value_stream_next_group(value_stream *stream);

/* Reads the next value of the group. Returns NULL at its end. */
const perf_cell *value_stream_next_in_group(value_stream *stream);

/* Goes in front of a group's first value. Changes: labels and columns are those of no group. */
void value_stream_enter(value_stream *stream, perf_group *group);

/* Goes to a row of the group, without its values: for its instance. */
void value_stream_enter_row(value_stream *stream, uint32_t row);

/* Reads the value of a cell of the group. Returns NULL for a cell without a value, and for those that the response has no bytes for. */
const perf_cell *value_stream_go_to(value_stream *stream, uint32_t row, uint32_t column);

/* --- The value that was read last --------------------------------------------------------------------------------- */

/* Returns the calculated value, or the reason why there is none. */
perf_result value_stream_result(value_stream *stream);

/* Returns the reason why the value is assumed, or, after value_stream_result(), the value or its result; ASSUMED_NONE, 0: neither is. */
assumed_reason value_stream_assumed(value_stream *stream);

/* Returns "\\SRV\Processor Information(0,0)\% Processor Time", until the next is asked for; NULL: the counter is not known. */
const char *value_stream_path(value_stream *stream);

/* Return parts of the path: "Processor Information", "explorer/3#1"; NULL: not known, or no instance. */
const char *value_stream_set(value_stream *stream);
const char *value_stream_instance(value_stream *stream);

/* A counter that a path stands for. Begins as zeros. */
typedef struct {
    const state_server *server; /* NULL: no counter was taken yet */
    uint8_t guid[16]; /* of the counterset; PerflibV2, as the next: titles of PERF_DATA_BLOCK may be renumbered */
    uint32_t id;
    const perf_counter_type *type; /* NULL: not known yet */
} counter_identity;

/* Returns false for another counter, server or type than `identity`: paths can be alike. Changes: `identity` takes what it lacks. */
bool value_stream_is_same_counter(value_stream *stream, counter_identity *identity);

/* The first bytes of a value that is no number: all that is shown of it. */
#define MOST_VALUE_BYTES 1024

/* Returns the value, a text, as UTF-8 in the stream's pool, without quotes: at most `most` characters. */
const char *value_stream_text(value_stream *stream, uint32_t most);

/* Returns the value for people, in the stream's pool: "12.4 %", "77", "0x1f", "\"text\"", "81 (raw; first sample)". `result`: value_stream_result()'s. */
const char *value_stream_format(value_stream *stream, const perf_result *result);

/* Returns "100 * (1 - (N1 - N0) / (H1 - H0)), N1 = 81, N0 = 80, H1 - H0 = 10,000,000", in the stream's pool; "" if no formula applies: the type is
 * not known, or of no counter, or the value has neither 4 nor 8 bytes. The result may still have a reason. Needs: value_stream_result() of it. */
const char *value_stream_format_formula(const value_stream *stream);

/* Returns " (assumed)" or "" for the value read last, to stand behind it. */
static inline const char *format_assumed_mark(value_stream *stream)
{
    return value_stream_assumed(stream) ? " (assumed)" : "";
}

/* --- The protocols ------------------------------------------------------------------------------------------------ */

/* Functions that differ between the values of PerflibV2 (pcq/pcq-values.c) and of HKEY_PERFORMANCE_DATA (hkpd/hkpd-values.c). */
struct value_ops {
    bool is_block; /* responses are a PERF_DATA_BLOCK */
    /* Fills the stream's `proofs`, and `computer` if the response has its name. NULL: nothing to fill. */
    void (*begin)(value_stream *stream);
    /* Finds the same group in the sample before. Returns the reason why it is not there or not compared. Needs: before.table. Changes: `before.at`. */
    perf_no_result (*find_group)(value_stream *stream);
    /* Finds what the formula of the current value needs (bits PERF_NEEDS_...) in one of the two samples, where `at` tells. Changes: its `point`;
     * size 0: it is not there. */
    void (*find_operands)(value_stream *stream, parsed_sample *in, unsigned needs);
};
