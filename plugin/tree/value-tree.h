/* value-tree.h
 * Counter data in the tree and in the Info column, for both protocols: header, groups, rows and values of a response's table, in one loop;
 * names and types that are known from elsewhere. A protocol has a function for each of its structures.
 *
 * Texts are made only if a field that has them is referenced.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"
#include "tree/cursor.h"
#include "state/metadata.h"

/* --- A response -------------------------------------------------------------------------------------------------- */

typedef struct value_tree_ops value_tree_ops;

/* A response in the tree. */
typedef struct {
    const value_tree_ops *ops;
    tvbuff_t *tvb;
    proto_tree *tree; /* of the response's data */
    expert_report *report;
    perf_table *table;
    value_stream *stream; /* NULL: no field is referenced */
    uint64_t values_seen; /* cells that were shown, or have no value */

    /* a filter, a column or the visible tree references: */
    bool visible;    /* all: the tree is shown or printed */
    bool experts;    /* expert infos */
    bool structures; /* fields around values */
    bool value;      /* a value as it was sent: number, text or bytes */
    bool path;
    bool result; /* or its reason for none, or that it is assumed */
    bool watch;  /* a field of a watched counter */
} value_tree;

/* A protocol's fields and functions. Each function adds one structure to the tree. Rows and values are those of the stream. */
struct value_tree_ops {
    hf_register_info *structures; /* fields around the values */
    unsigned num_structures;
    /* Shows the header. Returns its item, NULL without a tree. */
    proto_item *(*show_header)(value_tree *view);
    /* Shows a group with its columns, and reports what is new in it since the sample before. Returns its tree. */
    proto_tree *(*show_group)(value_tree *view, const perf_group *group);
    /* Shows a row in the group's tree. Returns the tree that its values are in. */
    proto_tree *(*show_row)(value_tree *view, const perf_group *group, uint32_t row, proto_tree *tree);
    /* Shows the stream's value in the row's tree. */
    void (*show_value)(value_tree *view, proto_tree *tree);
    /* Shows the structure that a fault is about in the group's tree. Returns its item, NULL: it has none. The pointer is NULL if no fault has one. */
    proto_item *(*show_broken)(value_tree *view, const perf_table_fault *fault, proto_tree *tree);
};

/* Shows a response in `tree`, as far as fields of it are referenced (values alone, if no structure is), and reports its faults. */
void value_tree_show(proto_tree *tree, expert_report *report, const counter_response *response,
                     const value_tree_ops *ops);

/* Adds the node of a structure at `offset` to `tree`. `cursor`: at its first byte, for reading its fields. */
void value_tree_enter(const value_tree *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                      buffer_cursor *cursor);

/* Adds the structure of the stream's current value to `tree`, labelled "Counter data: PATH = WORDS", and in it path, result with its formula, and watched
 * counters, as far as they are referenced. `hf`: 0: these alone. Returns the structure's tree, else `tree`. Reports why the value is assumed. */
proto_tree *value_tree_add_value(value_tree *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size);

/* Adds the stream's value to `tree` as it was sent: a number, a whole text, or the first MOST_VALUE_BYTES of any other. Adds nothing if none of these
 * fields is referenced. Needs: a value of the stream. `tree`: the value's structure, or the response's tree without it. */
void value_tree_add_sent(const value_tree *view, proto_tree *tree);

/* Adds the frame of the sample before, if there is one, and the time between by the server's clock; once for a response or object. */
void value_tree_add_previous(const value_tree *view, proto_tree *tree);

/* --- Fields ------------------------------------------------------------------------------------------------------ */

/* Registers the fields of values, which have one name in both protocols (pcq.path, pcq.cooked ...), once, and a protocol's own around them. */
void value_fields_register(int proto, const value_tree_ops *ops);

/* Reads a counter type, with its bits in a subtree, and returns it. Reports an unknown one. */
uint32_t value_tree_read_type(buffer_cursor *cursor, int hf);

/* Reads DefaultScale, a power of ten for graphs, and returns it. Reports one outside -10 to 10, which is no damage. */
int32_t value_tree_read_scale(buffer_cursor *cursor, int hf);

/* Reads PerfFreq. Reports 0. */
void value_tree_read_frequency(buffer_cursor *cursor, int hf);

/* Adds a name that is known from elsewhere, as a generated field with the frame that it was learned in. Returns it for labels, with its
 * mark; NULL: it is not known, or there is no tree. */
const char *value_tree_add_name(buffer_cursor *cursor, int hf, state_server *server, metadata_key key);

/* Appends language, source and mark of a name or type to the item that shows it, and adds the frame that it was learned in. Reports an assumed
 * one. Needs: known->entry. Changes: the item is generated. */
void value_tree_add_source(buffer_cursor *cursor, proto_item *item, const metadata_result *known);

/* Reports why something is assumed, each reason once for a report; nothing for ASSUMED_NONE. `disputed_in`: frame that has another name or type, which is
 * said in place of the reason's sentence, of several the first; 0: none is known. */
void value_tree_report_assumed(expert_report *report, proto_item *item, assumed_reason reason, uint32_t disputed_in);

/* Returns a text for the Info column: "cpu 12.4 %, memory 61 %, 238 more values; 1 failed: ... (7 blocks, 7,168 bytes)". Watched counters are
 * first, else one value that stays the same from packet to packet. `failed`: a text, may be NULL. */
const char *value_tree_format_info(wmem_allocator_t *pool, const counter_response *response, const char *failed);
