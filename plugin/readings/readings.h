/* readings.h
 * One answer with performance data, as a stream of readings: what each value means.
 *
 * Whoever shows, counts, exports or graphs values pulls them here, one by one, and cannot tell which of the two protocols
 * they came from. Nothing is collected, and nothing is worked out or put into words before it is asked for: a reading has
 * its raw value and its place; result, path and texts are functions.
 *
 * The layouts (pcq/pcq-readings.c, hkpd/hkpd-readings.c) feed it: they walk the bytes, and know which counter a value is, where
 * its operands are and what its instance is called (layout.h). How two samples are paired, what is calculated and how a
 * path is written stands here once.
 *
 * Everything lives in the pool that the stream was begun with; its time is proportional to what was asked for and its
 * memory to the two samples, whatever the bytes say.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include "perf/calculate.h"
#include "perf/identifier.h"
#include "text/numbers.h"

/* To listeners these tell one from another, and no more (tap/tapped.h says what else is known of them). */
typedef struct readings_layout readings_layout;
typedef struct state_server state_host;
typedef struct state_handle state_handle;
typedef struct state_sample state_sample;
typedef struct sample_view sample_view;
typedef struct reading_table reading_table;

/* One answer, as of the moment it was captured. A plain value. */
typedef struct {
    const readings_layout *layout;
    state_host *server;
    const state_handle *handle;         /* NULL if the request was not read */
    const state_sample *sample;         /* what was kept of it; NULL if it did not become a sample */
    const struct query_snapshot *query; /* PerflibV2: whose its blocks are; NULL: nobody's */
    bool has_form;                      /* PerflibV2: its bytes have the sample's form */
    uint32_t request_event;             /* it shows the query as of a moment between this */
    uint32_t event;                     /* and the response, as of which names and types are looked up */
    tvbuff_t *tvb;                      /* the counter data or PERF_DATA_BLOCK */
    bool is_repeated;                   /* the call was answered before: it is no sample */
    bool is_in_doubt;                   /* which machine it is of */
    bool is_torn; /* it was put together of fragments, and does not add up: any of them may be missing, or another's; or
                   * it may be another call's */
} readings_answer;

/* What is known of a counter of the block or object that the stream is in; until it is in the next. */
typedef struct {
    bool known;                    /* the rest was looked up */
    uint32_t id;                   /* counter id or title index, PERF_NO_ID if not known */
    const perf_counter_type *type; /* NULL if not known */
    bool type_from_file;           /* PerflibV2: the names file has it, not the capture */
    perf_no_result none;           /* PERF_NO_RESULT_OK if a value can be calculated, else why none ever can */
    perf_counter_info info;        /* PerflibV2: its relations to other counters */
    bool has_other_sizes;          /* PerflibV2, of an unknown type: some value has neither 4 nor 8 bytes, */
    bool has_no_text;              /* or cannot be text */
    /* which it is, of several of its id here, or by name and type that a later packet tells otherwise, is not known */
    bool changes_later;
    const char *label; /* name or "#id", of several of an id the first's; NULL as long as nobody asked */
} reading_counter;

/* One value. Offsets count from the answer's first byte. */
typedef struct {
    uint32_t row;    /* of its instance in the block or object, 0 without instances */
    uint32_t column; /* of its counter */
    uint32_t offset;
    uint32_t size; /* bytes */
    reading_counter *counter;
    bool is_nameless; /* what its machine, its instance, or that one's parent, is called is not known */
    bool is_doubtful; /* its block does not add up: whose value it is is not certain */
    bool is_refused;  /* no value: what was asked for had an error, r->status */
    bool is_empty;    /* nor has it one, and no error */
    bool is_text;
    bool is_number; /* 4 or 8 bytes */
    perf_raw raw;   /* of a number */
    /* of a text */
    uint32_t code_page;
    unsigned byte_order;
    uint32_t text_size; /* bytes without terminator */
} reading;

typedef struct readings {
    wmem_allocator_t *pool;
    readings_answer answer;
    const uint8_t *bytes;
    uint32_t size;
    const char *machine; /* without backslashes */
    sample_view *current;
    reading at;          /* the reading that was pulled last */
    bool with_refusals;  /* for whoever sets it, blocks of an error are readings too, */
    bool with_empty;     /* and those without a value, */
    bool without_values; /* and only these are */
    struct {
        bool known;
        perf_point current;
        perf_point previous;
        bool has_previous;
        perf_no_result why;   /* there is none */
        bool assumed;         /* `previous` may be of another instance of its name */
        reading_table *table; /* where `previous` stands; NULL: where the value itself does */
        uint32_t column;
    } operands; /* of its formula, as they were found when they were asked for */

    /* of the block or object that the stream is in */
    uint32_t number; /* in the answer; UINT32_MAX before the first */
    reading_table *table;
    const char *set_label; /* of its counterset or object; NULL: not known whose it is, then there is no path */
    const uint8_t *guid;   /* PerflibV2: whose that label is */
    bool has_instances;    /* paths have an instance, which may be nameless */
    const char *instance;  /* of the row, once somebody asked */
    uint32_t instance_row;
    uint32_t status;  /* Win32 error of the block, 0 elsewhere */
    bool is_doubtful; /* which of its values stands where is not certain: it is compared with no other sample */
    bool assumed;     /* which counters they are is assumed from the order of the identifiers */
    perf_no_result
        may_be_there; /* the sample before may have the counter that was looked for last, for this reason; PERF_NO_RESULT_OK: it has not */
    sample_view *previous;          /* NULL: there is no sample before */
    perf_no_result why_no_previous; /* then */
    uint32_t previous_frame;        /* 0 without a sample before */
    double interval;                /* seconds between the two by the server's clock, 0 if it stood still */
    bool do_clocks_differ;          /* see perf_clocks_differ() */
    reading_counter *counters;      /* one for each column */

    /* the path as it was last written, and how much of it stands before its counter */
    wmem_strbuf_t *path;
    size_t prefix_size;
    uint32_t prefix_number;
    uint32_t prefix_row;
    uint64_t text_left; /* bytes that paths may still take before their names are shortened */
    uint64_t raw_left;  /* bytes that may still be shown of values that are no numbers: values can overlap */

    bool for_one;        /* for whoever sets it: of one value or two is more asked than their path */
    uint64_t bytes_left; /* that values may still take, those that overlap each for itself */

    char words[120]; /* room for a number, its unit and a reason */

    void *own; /* the layout's */
} readings;

/* Begins the stream of an answer. Two streams of one answer give the same. It lives in `pool`. Where values overlap it ends once they have
 * taken as many bytes as the answer has. */
readings *readings_begin(wmem_allocator_t *pool, const readings_answer *answer);

/* Those of the answer. */
const perf_point *readings_clocks(const readings *r);

/* The next value, NULL at the end. It holds until the next is pulled. */
const reading *readings_next(readings *r);

/* --- What the reading that was pulled last means ----------------------------------------------------------------- */

/* The calculated value, or why there is none. Not for text. */
perf_result readings_result(readings *r);

/* True if whose value it is was assumed or is not known, or what that is, from which instance of its name the result that was asked for is. */
static inline bool readings_assumed(const readings *r)
{
    return r->assumed || r->at.is_nameless || r->at.is_doubtful || (r->at.counter && r->at.counter->changes_later) ||
           (r->operands.known && r->operands.has_previous && r->operands.assumed);
}

/* What is said after the value then. */
static inline const char *readings_note(const readings *r)
{
    return r->assumed ? " (order assumed)" : readings_assumed(r) ? " (assumed)" : "";
}

/* "\\SRV\Processor Information(0,0)\% Processor Time", until the next is asked for; NULL where the counterset is not
 * known. */
const char *readings_path(readings *r);

/* What a path stands for. Begins as zeros. */
typedef struct {
    uint64_t counter; /* of PerflibV2 */
    const perf_counter_type *type;
} readings_whose;

/* False if it is another counter, or one of another type, than `whose`, which takes what it does not know yet: paths can be alike. */
bool readings_is_of(readings *r, readings_whose *whose);

/* What identifiers ask for, as paths: "\\SRV\Set(instance)\Counter", without the machine if that is NULL; "*" for all
 * counters. `left` (may be NULL) is what they may take together: from then on names are shortened. */
#define READINGS_PATHS_SIZE(bytes) ((1 << 20) + 32 * (uint64_t)(bytes))
char *readings_identifier_path(wmem_allocator_t *pool, state_host *server, const char *machine,
                               const perf_identifier *identifier, uint32_t event, uint64_t *left);

/* True if another name of what it asks for was or may have been told, so that which held at the event, or since `asked` (0: at the event
 * alone), is not known. */
bool readings_identifier_doubted(state_host *server, const uint8_t *guid, uint32_t counter_id, uint32_t asked,
                                 uint32_t event);

/* Its names: "Processor Information"; "explorer/3#1", NULL without an instance; "% Processor Time" or "#6". */
const char *readings_set(readings *r);
const char *readings_instance(readings *r);
const char *readings_counter(readings *r);

/* The text that the reading is, as UTF-8, without quotes: at most so many characters. */
const char *readings_text(readings *r, uint32_t most);

/* How many bytes of a value that is no number are read and shown: all, until values that overlap have taken too many. */
uint32_t readings_raw_size(readings *r);

/* The value as text for people, until the next is asked for; of a result that readings_result() gave: "12.4 %", "1,024.0 /sec", "77", "0x1f",
 * "\"text\"", "81 (raw; first sample of the handle)". */
const char *readings_display(readings *r, const perf_result *result);

/* True if something can be calculated from the value. */
bool readings_has_formula(const readings *r);

/* "100 * (1 - (N1 - N0) / (H1 - H0)), N1 = 81, N0 = 80, H1 - H0 = 10,000,000", of a value that has one: 512 bytes at most. Returns its end. */
char *readings_put_formula(readings *r, char *to);
