/* value-stream.h
 * The values of one response, of either protocol, one after the other: the number that was sent, its counter, instance and path, and
 * the value calculated from it and the sample before.
 *
 * Trees, statistics and exports read values here and cannot tell the protocols apart. A value has its number and its place; result,
 * path and text are made when they are asked for. Functions that differ between the protocols: value-ops.h.
 *
 * A stream lives in the pool that it is begun with.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include "perf/identifier.h"
#include "perf/table.h"
#include "text/numbers.h"

/* Listeners only compare pointers to these (tap/). */
typedef struct value_ops value_ops;
typedef struct state_server state_server;
typedef struct state_handle state_handle;
typedef struct state_sample state_sample;

/* --- A response --------------------------------------------------------------------------------------------------- */

/* Filled by rpc_pdu_set_response() on every pass; ends with the packet. A plain value. */
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

/* Returns the table of a response: its sample's, else read from `tvb` (`sample` is NULL, or its bytes were discarded). It lives as long as `pool`
 * at least. `is_current`: the packet being dissected is the sample's, rather than a later one. */
perf_table *value_response_get_table(wmem_allocator_t *pool, const value_ops *ops, state_sample *sample,
                                     bool is_current, tvbuff_t *tvb);

/* --- Doubt -------------------------------------------------------------------------------------------------------- */

/* Reasons why a value is assumed. X(name, sentence): of ASSUMED_..., of several the first that applies */
#define ASSUMED_REASONS(X) \
    X(NONE, "") \
    X(RESPONSE, "the response, or this part of it, is malformed: its values may stand elsewhere") \
    X(COUNTER, "the query was changed at the same time, QueryCounterInfo contradicts what was known of it or was not " \
               "captured, " \
               "or the response has the counter twice") \
    X(NAME, "another packet has another name or type for it, its list of names is malformed, or several computers " \
            "answer at " \
            "this address") \
    X(INSTANCE, "instances have one name, or one has another id than before, and nothing else tells them apart")

#define ASSUMED_ENUM(name, sentence) ASSUMED_##name,
typedef enum { ASSUMED_REASONS(ASSUMED_ENUM) NUM_ASSUMED_REASONS } assumed_reason;

/* The sentences, by reason. */
extern const char *const assumed_reason_texts[NUM_ASSUMED_REASONS];

/* --- A value ------------------------------------------------------------------------------------------------------ */

/* A response or the sample before, parsed. */
typedef struct {
    perf_table *table; /* NULL: there is none */
    const state_sample *sample;
    void *own; /* for the functions of value_ops alone, which fill it; NULL: nothing */
} parsed_sample;

/* A cell of one of them. */
typedef struct {
    parsed_sample *in;
    perf_group *group;
    uint32_t row;
    uint32_t column;
} value_location;

/* A counter of the group that the stream is in. Kept until the next group. */
typedef struct {
    bool is_known;                 /* the members below are filled */
    uint32_t id;                   /* counter id or title index, PERF_NO_ID: not known */
    const perf_counter_type *type; /* NULL: not known */
    perf_no_result none;           /* PERF_NO_RESULT_OK, or why no value of it ever has a result */
    perf_counter_info info;        /* PerflibV2: ids of its base, time, frequency and multi counters */
    bool is_text;                  /* its values are texts */
    bool is_repeated;              /* the group has another column of the same counter */
    assumed_reason assumed;        /* ASSUMED_COUNTER, ASSUMED_NAME */
    const char *name;              /* as it was sent; NULL: not known */
    const char *label;             /* name in paths, "#id" or "*"; NULL: not asked for */
    bool is_before_known;          /* the members below are filled */
    uint32_t column_before;        /* in the same group of the sample before */
    perf_no_result why_no_before;  /* it is not there, or has another type */
} value_column;

/* Offsets count from the response's first byte. */
typedef struct {
    uint32_t row;    /* of the instance in the group, 0 without instances */
    uint32_t column; /* of the counter in the group */
    uint32_t offset;
    uint32_t size; /* bytes */
    value_column *counter;
    bool is_failed; /* a group with an error in place of values: stream->group->status */
    bool is_empty;  /* a group without values and error */
    bool is_text;
    bool is_number;      /* of 4 or 8 bytes */
    perf_raw raw;        /* the number */
    uint32_t text_size;  /* of a text, bytes without terminator */
    uint32_t code_page;  /* of a text */
    unsigned byte_order; /* of a text */
} counter_value;

/* Operands of a value's formula; others are what they were of a value before, the clocks those of the samples. */
typedef struct {
    bool is_known; /* the members below are filled */
    perf_point current;
    perf_point previous;
    bool has_previous;
    perf_no_result why_not; /* there is none */
    perf_match match;       /* of the rows of both, or of a row with its base's */
} value_operands;

typedef struct value_stream {
    wmem_allocator_t *pool;
    counter_response response;
    const char *computer; /* name in paths, without backslashes */
    parsed_sample now;
    parsed_sample before;         /* the sample before; it has no table if there is none to compare with */
    perf_no_result why_no_before; /* the reason then */
    perf_id_proofs proofs;        /* counters that prove which instance a row is */
    double interval;              /* seconds between both by the server's clock, 0: not known */
    bool do_clocks_differ;        /* perf_clocks_differ() */
    bool with_failed;             /* groups with an error are read, too; the reader sets this and the next two */
    bool with_empty;              /* groups without values and error are read, too */
    bool without_values;          /* values are not read */
    uint32_t bytes_left; /* of values still to come: definitions times instances can be more than the response has */

    counter_value at; /* the value that was read last */
    value_operands operands;

    /* of the group */
    perf_group *group; /* NULL: before the first */
    perf_group
        *group_before; /* the same in the sample before; NULL: none, or value_stream_group_before() was not asked */
    perf_no_result why_no_pair;        /* values have no previous one: group_before is NULL or cannot be compared */
    bool is_group_before_known;        /* both members above are filled */
    assumed_reason assumed;            /* of all its values: ASSUMED_RESPONSE, ASSUMED_COUNTER */
    const perf_identifier *identifier; /* PerflibV2: whose the block is; NULL: not known */
    const char *set_label;             /* NULL: not known whose it is, or not asked */
    bool is_set_assumed;               /* its name is; filled with set_label, as the next member */
    bool has_instances;                /* paths have an instance */
    bool are_numbers_known;            /* the next member is filled */
    bool has_numbered_names;           /* names repeat, and one is called "x#1" */
    value_column *columns;             /* NULL: none was read */

    /* of the row */
    const char *instance_label; /* NULL: none, or not asked */
    uint32_t instance_row;      /* row that the label is of, UINT32_MAX: none */
    uint32_t judged_row;        /* row that the next member is of, UINT32_MAX: none */
    bool is_row_assumed;        /* its path may be another row's, or its parent is not in the response */
    uint32_t matched_row;       /* row that the next members are of, UINT32_MAX: none */
    uint32_t row_before;        /* the same instance in the sample before */
    perf_match match_before;    /* how well that one is known */

    wmem_strbuf_t *path; /* as it was made last */
    size_t prefix_size;  /* of its part before the counter */
    uint32_t prefix_row; /* of the group; UINT32_MAX: of another group */
    char words[120];     /* a number, its unit and a reason */
} value_stream;

/* Begins to read the values of a response and finds the sample before; nothing is calculated yet. Two streams of one response give the same. */
value_stream *value_stream_begin(wmem_allocator_t *pool, const counter_response *response);

/* Reads the next value, in this group or the next. Returns NULL at the end. The value holds until the next is read. */
const counter_value *value_stream_next(value_stream *stream);

/* Goes in front of a group's first value. Changes: labels, columns and the group before are those of no group. */
void value_stream_enter(value_stream *stream, perf_group *group);

/* Goes to a counter of the group, without its values. Needs: a number of a column; 0 of a group without columns. Returns it, with all but
 * its label and its column in the sample before. */
value_column *value_stream_enter_column(value_stream *stream, uint32_t number);

/* Reads the value of a cell of the group. Returns NULL for a cell without a value. */
const counter_value *value_stream_go_to(value_stream *stream, uint32_t row, uint32_t column);

/* Returns the group's number in the response, from 0. */
static inline uint32_t value_stream_group_number(const value_stream *stream)
{
    return (uint32_t)(stream->group - stream->now.table->groups);
}

/* Returns the same block or object of the sample before, comparable or not; NULL: it has none, or that is not known. */
perf_group *value_stream_group_before(value_stream *stream);

/* --- The value that was read last --------------------------------------------------------------------------------- */

/* Returns the calculated value, or the reason why there is none. Needs: a value that is no text. */
perf_result value_stream_result(value_stream *stream);

/* Returns the reason why the value is assumed, or, after value_stream_result(), the value or its result; ASSUMED_NONE: neither is. */
assumed_reason value_stream_assumed_reason(value_stream *stream);

/* Returns "\\SRV\Processor Information(0,0)\% Processor Time", until the next is asked for; NULL: the counter is not known. */
const char *value_stream_path(value_stream *stream);

/* Return the parts of the path: "Processor Information"; "explorer/3#1", NULL without an instance; "% Processor Time" or "#6".
 * NULL: not known. */
const char *value_stream_set(value_stream *stream);
const char *value_stream_instance(value_stream *stream);
const char *value_stream_counter(value_stream *stream);

/* A counter that a path stands for. Begins as zeros. */
typedef struct {
    uint64_t counter; /* PerflibV2: counterset and id */
    const perf_counter_type *type;
} counter_identity;

/* Returns false for another counter, or another type, than `identity`: paths can be alike. Changes: `identity` takes what it lacks. */
bool value_stream_is_same_counter(value_stream *stream, counter_identity *identity);

/* The first bytes of a value that is no number: all that is shown of it. */
#define MOST_VALUE_BYTES 1024

/* Returns the value, a text, as UTF-8 in the stream's pool, without quotes: at most `most` characters. */
const char *value_stream_text(const value_stream *stream, uint32_t most);

/* Returns the value for people, until the next is asked for: "12.4 %", "1,024.0 /sec", "77", "0x1f", "\"text\"",
 * "81 (raw; first sample)". Needs: of a value that is no text `result` is value_stream_result()'s. */
const char *value_stream_format(value_stream *stream, const perf_result *result);

/* True if a formula applies to the value, a number: its type is known, and of a counter. The result may still have a reason. */
bool value_stream_has_formula(const value_stream *stream);

/* Writes "100 * (1 - (N1 - N0) / (H1 - H0)), N1 = 81, N0 = 80, H1 - H0 = 10,000,000", 512 bytes at most. Needs:
 * value_stream_has_formula(). Returns its end. */
char *value_stream_format_formula(value_stream *stream, char *to);

/* True if value_stream_assumed_reason() gives a reason. */
static inline bool value_stream_is_assumed(value_stream *stream)
{
    return value_stream_assumed_reason(stream) != ASSUMED_NONE;
}

/* Returns " (assumed)" or "" for the value read last, to stand behind it. */
static inline const char *format_assumed_mark(value_stream *stream)
{
    return value_stream_is_assumed(stream) ? " (assumed)" : "";
}

/* --- Identifiers of PerflibV2 ------------------------------------------------------------------------------------- */

/* Returns what an identifier asks for, as a path: "\\SRV\Set(instance)\Counter", without the computer if that is NULL; "*" for all
 * counters. `is_assumed`: the name of the counterset or of the counter is. */
char *value_format_identifier_path(wmem_allocator_t *pool, const state_server *server, const char *computer,
                                   const perf_identifier *identifier, bool *is_assumed);

/* Returns "\\SRV\Set(instance)\Counter" of its parts, each cut to TEXT_NAME_MAX characters. `computer`, `instance`: NULL: none. */
char *value_join_path(wmem_allocator_t *pool, const char *computer, const char *set, const char *instance,
                      const char *counter);
