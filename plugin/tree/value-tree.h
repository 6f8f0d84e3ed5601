/* value-tree.h
 * Values in the tree and in the Info column, for both protocols: names and types that are known from elsewhere, values with path, result and
 * formula.
 *
 * Texts are made only if a field that has them is referenced.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"
#include "tree/cursor.h"
#include "state/metadata.h"

/* --- Fields ------------------------------------------------------------------------------------------------------ */

/* Fields of a counter type, PREFIX.counter.type, and of its bits. */
#define NUM_TYPE_BITS 9
typedef struct {
    int type;
    int bits[NUM_TYPE_BITS];
} value_type_fields;

/* Reads a counter type, with its bits in a subtree, and returns it. Reports an unknown one. */
uint32_t value_tree_read_type(buffer_cursor *cursor, const value_type_fields *fields);

/* Reads DefaultScale. Reports one outside its range. */
int32_t value_tree_read_scale(buffer_cursor *cursor, int hf);

/* Reads "Frequency: 10000000 (10,000,000 Hz)". Reports 0. */
void value_tree_read_frequency(buffer_cursor *cursor, int hf);

/* Adds a name that is known from elsewhere, as a generated field with the frame that it was learned in. Returns it for labels, with its
 * mark; NULL: it is not known, or there is no tree. */
const char *value_tree_add_name(buffer_cursor *cursor, int hf, state_server *server, metadata_key key);

/* Appends language, source and mark of a name or type to the item that shows it, and adds the frame that it was learned in. Reports an assumed
 * one. Needs: known->entry. Changes: the item is generated. */
void value_tree_add_source(buffer_cursor *cursor, proto_item *item, const metadata_result *known);

/* Reports, once for a packet, that a name or type is assumed. `disputed_in`: frame that has another one, 0: none is known. */
void value_tree_report_assumed(expert_report *report, proto_item *item, uint32_t disputed_in);

/* Each protocol's own fields; those of values have one name in both (pcq.path, pcq.cooked ...). */
typedef struct {
    value_type_fields types;      /* of counters */
    hf_register_info *structures; /* around the values */
    unsigned num_structures;
} value_fields;

/* Registers a protocol's fields: `structures` with their full names, `types` with the prefix; the first time also those that both have. */
void value_fields_register(int proto, const char *prefix, value_fields *fields);

/* Fields that a filter, a column or the visible tree references. Determined once for each response. */
typedef struct {
    bool visible;    /* the tree is shown or printed */
    bool structures; /* around values */
    bool value;      /* as it was sent: number, text or bytes */
    bool path;
    bool result;  /* or its reason for none, or that it is assumed */
    bool watch;   /* a field of a watched counter */
    bool watched; /* the sum of each watched counter */
} referenced_fields;

/* --- A response -------------------------------------------------------------------------------------------------- */

/* Values of one response in the tree. The first four members are set by the caller. */
typedef struct {
    tvbuff_t *tvb;
    proto_tree *tree; /* of the response's data */
    expert_report *report;
    const value_fields *fields;
    referenced_fields referenced;
    value_stream *stream; /* NULL: no field is referenced */
    unsigned reported;    /* a bit for each assumed_reason that was reported */
    bool is_full;         /* the packet's tree has no room for more */
} value_tree;

/* Begins the stream of a response, and shows the sums of watched counters. Returns false, without a stream, if no field is referenced. */
bool value_tree_begin(value_tree *view, const counter_response *response);

/* Returns false if the packet's tree has no room for `items` more: Wireshark stops a tree at a million, visible or not. Changes: once it is
 * full it stays so. */
bool value_tree_has_room(value_tree *view, uint32_t items);

/* Shows the values alone, side by side, for filters and columns; nothing without a stream. */
#define ITEMS_OF_FLAT_VALUE 3
void value_tree_show_flat(value_tree *view);

/* Items that a value takes at most, without watched counters. */
#define ITEMS_OF_VALUE 8

/* Place of a value, and the field and subtree of its structure. */
typedef struct {
    int hf;
    int ett;
    uint32_t offset;
    uint32_t size;
} value_structure;

/* Shows the stream's current value in `tree`: a structure labelled with path and words, and in it path and result with its formula.
 * `structure`: NULL for the fields alone. Returns the structure's tree, else `tree`. Reports why the value is assumed. */
proto_tree *value_tree_show(value_tree *view, proto_tree *tree, const value_structure *structure);

/* Shows the current value as it was sent: number, text, or at most 1024 bytes; nothing if no such field is referenced. */
void value_tree_show_sent(const value_tree *view, proto_tree *tree);

/* Shows the frame of the sample before, if there is one, and the time between by the server's clock; once for a response or object. */
void value_tree_show_previous(const value_tree *view, proto_tree *tree);

/* Returns a text for the Info column: "cpu 12.4 %, memory 61 %, 238 more values; 1 failed: ... (7 blocks, 7,168 bytes)". Watched counters are
 * first, else one value that stays the same from packet to packet. `failed`: a text, may be NULL; `part`: "block" or "object". */
const char *value_tree_format_info(wmem_allocator_t *pool, const counter_response *response, const char *failed,
                                   const char *part);
