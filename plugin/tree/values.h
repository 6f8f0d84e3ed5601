/* values.h
 * What both protocols show alike in the tree: names and types that are known, and values: value, path, result and formula.
 *
 * Texts are made for those who look: every field is asked for before it is worked out.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tap/watch.h"
#include "perf/faults.h"
#include "tree/cursor.h"
#include "state/facts.h"

/* --- What a packet's tree can hold ------------------------------------------------------------------------------- */

/* Wireshark stops a tree at a million items, shown or not: so values are shown in full while all of them fit, then each in a
 * short form, then no more. */

/* Items of a value's short form: value, path and result, side by side. */
#define ITEMS_OF_SHORT_VALUE 3

typedef struct {
    uint32_t items_left;  /* items that the tree can still take */
    uint64_t values;      /* all of them */
    uint64_t values_left; /* not yet met */
    uint64_t values_hidden;
    uint64_t bytes;         /* of values that may still be shown: values can lie over each other */
    uint32_t others_hidden; /* structures around them that are not shown */
    bool short_form;
} tree_budget;

/* `size` is the buffer's, in bytes. */
void tree_budget_init(tree_budget *budget, const proto_tree *tree, uint64_t values, uint32_t size);

/* Takes `items` as long as each value to come can still have its short form. */
bool tree_budget_take(tree_budget *budget, uint32_t items);

/* Takes `items` as long as anything can be shown: for what is cheap beside its values. */
bool tree_budget_take_any(tree_budget *budget, uint32_t items);

/* Says what is not shown. `others` names the structures. */
void tree_budget_report(const tree_budget *budget, findings_report *report, proto_item *item, const char *others);

/* --- Fields ------------------------------------------------------------------------------------------------------ */

/* Fields of a counter type, PREFIX.counter.type, and of its bits. */
#define NUM_TYPE_BITS 9
typedef struct {
    int type;
    int bits[NUM_TYPE_BITS];
} value_type_fields;

/* A counter type on the wire with its bits; an unknown one is reported. */
uint32_t values_read_counter_type(buffer_cursor *cursor, const value_type_fields *fields);

/* DefaultScale; one beyond use is reported. */
int32_t values_read_scale(buffer_cursor *cursor, int hf);

/* The name of a subject that is known from elsewhere, as a generated field with the frame that taught it. Returns it for labels,
 * with its mark; NULL, and nothing is added, where it is not known. */
const char *values_add_name(buffer_cursor *cursor, int hf, state_host *server, state_subject subject, uint32_t event);

/* Finds, once for a packet, that a name or type is a guess. */
void values_note_assumed(findings_report *report, proto_item *item);

/* Says where a fact came from, a name's language, and that it is a guess, beside the item that shows it. */
void values_add_source(buffer_cursor *cursor, proto_item *item, const state_known *known, bool assumed);

/* What a value is has one name in both protocols (pcq.path, pcq.cooked …). These are each protocol's own. */
typedef struct {
    value_type_fields types;      /* of counters */
    hf_register_info *structures; /* around the values; `num_structures` of them */
    unsigned num_structures;
} value_fields;

/* Registers them, `structures` as they are given, and with who comes first what both have. */
void values_register(int proto, const char *prefix, value_fields *fields);

/* Who looks at which part of the values, asked once for a buffer. */
typedef struct {
    bool visible;    /* a person, or something that prints all */
    bool structures; /* what stands around them, too, or there is something wrong with that */
    bool value;
    bool path;
    bool result;
    bool watch;   /* somebody looks at a watched counter */
    bool watched; /* or at all that they have here */
    bool clicks;  /* in a window */
} value_wishes;

/* --- An answer --------------------------------------------------------------------------------------------------- */

/* The state of showing one; whoever begins fills the first five, the encoding before it opens a structure. */
typedef struct {
    tvbuff_t *tvb;
    proto_tree *tree; /* its own */
    findings_report *report;
    const value_fields *fields;
    unsigned encoding; /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    value_wishes wishes;
    value_stream *stream;
    tree_budget budget;
    watch_survey watched; /* without rows if nobody looks */
    unsigned reported;    /* a bit for each assumed_reason that was reported */
    proto_item *header;
    proto_item *structure; /* that the walk announced last, NULL if it is not shown */
    uint32_t start;        /* its offset */
} answer_view;

/* Begins to read the `count` values; false if nobody looks at anything, and there are no `faults` to be shown. */
bool values_begin(answer_view *view, const counter_response *answer, uint64_t count, uint32_t faults);

/* The rest of it, if nobody sees the tree or asked for more than values: they need no structures around them. */
void values_alone(answer_view *view);

/* Calls `show`, which reads structures, with `view`: a header that is cut ends it. */
void values_show_structures(answer_view *view, void (*show)(void *view));

/* Announces a structure with a node of its own in `tree`, and a cursor on it. */
void values_open_structure(answer_view *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                           buffer_cursor *cursor);

/* A fault that a walk found, at the item of the field that is wrong or of what is nearest to it: the structure that was announced last,
 * the block or object around it (may be NULL), the header or the whole. */
void values_fault(const answer_view *view, proto_tree *outer, uint32_t outer_start, const perf_fault_info *infos,
                  const perf_fault *fault);

/* --- Its values -------------------------------------------------------------------------------------------------- */

/* Where a value stands, the field and subtree of its structure, and how many items that takes. */
typedef struct {
    int hf;
    int ett;
    uint32_t offset;
    uint32_t size;
    uint32_t items;
} value_structure;

/* The value that was pulled last. In full, in `tree`: a structure labelled with path and words, and in it what the value means:
 * path and result with its formula. Returns its subtree: what was sent stands behind that. In short, in `brief`: value, path
 * and result side by side. Either tree may be NULL. Nothing where there is no room any more: that is counted. */
proto_tree *values_show(answer_view *view, proto_tree *tree, proto_tree *brief, const value_structure *structure);

/* The value as it was sent, if anybody looks. */
void values_sent(const answer_view *view, proto_tree *tree);

/* The sample before and the time between, once for a buffer or object. */
void values_samples(const answer_view *view, proto_tree *tree);

/* "Frequency: 10000000 (10,000,000 Hz)"; reports 0. */
void values_read_frequency(buffer_cursor *cursor, int hf);

/* For the Info column: ": cpu 12.4 %, memory 61 %, 238 more values; 1 failed: … (7 blocks, 7,168 bytes)". First stands what the user
 * watches, else what is called _Total, else the first value; what failed (may be NULL) is a text, `size` bytes. */
const char *values_headline(wmem_allocator_t *pool, const counter_response *answer, uint64_t count, const char *failed,
                            uint32_t parts, const char *part, uint32_t size);
