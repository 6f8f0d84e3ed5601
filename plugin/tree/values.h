/* values.h
 * A reading in the tree: value, path, result and formula. Each protocol brings fields of its own prefix.
 *
 * Texts are made for those who look: every field is asked for before it is worked out.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TREE_VALUES_H
#define PCQ_TREE_VALUES_H

#include "readings/readings.h"
#include "dcerpc/call.h"

/* PREFIX.first, .first.path, .first.result, .value, .value.text, .value.raw, .path, .cooked, .cooked.none,
 * .graph, .sample.previous and .sample.interval. */
typedef struct {
    int first;
    int first_path;
    int first_result;
    int value;
    int text;
    int raw;
    int path;
    int cooked;
    int cooked_none;
    int graph;
    int previous;
    int interval;
    int ett_first;
} value_fields;

void value_fields_register(int proto, const char *prefix, value_fields *fields);

/* Who looks at which part of the values, asked once for a buffer. */
typedef struct {
    bool visible; /* a person, or something that prints all */
    bool value;
    bool path;
    bool result;
    bool graph; /* and counters are chosen for it */
    bool any;
} value_wishes;

value_wishes value_wishes_of(proto_tree *tree, const value_fields *fields);

/* The value as it was sent; and value, path and result side by side. They add nothing that nobody looks at. */
void value_show_sent(proto_tree *tree, const value_fields *fields, const value_wishes *wishes, readings *r);
void value_show_short(proto_tree *tree, const value_fields *fields, const value_wishes *wishes, readings *r);

/* Where a value stands, and the field and subtree of its structure. */
typedef struct {
    int hf;
    int ett;
    uint32_t offset;
    uint32_t size;
} value_structure;

/* The structure, labelled with path and words, and in it what the value means: path and result with its formula. Returns its
 * subtree: what was sent stands behind that. */
proto_tree *value_show_structure(proto_tree *tree, const value_structure *structure, const value_fields *fields,
                                 const value_wishes *wishes, readings *r);

/* The sample before and the time between, once for a buffer or object. */
void value_show_samples(proto_tree *tree, const value_fields *fields, tvbuff_t *tvb, const readings *r);

/* " (10,000,000 Hz)" */
void value_label_frequency(proto_item *item, uint64_t frequency);

/* The first of an answer's values (`count`): what the Info column and columns of a reader's own show of each packet. Its
 * stream is begun once for both. */
typedef struct {
    bool begun;
    readings *stream; /* at the value; NULL if there is none, or it has no path */
    const char *path;
} value_first;

/* Its path and its result side by side, for columns, if anybody wants them. */
void value_show_first(proto_tree *tree, const value_fields *fields, value_first *first, wmem_allocator_t *pool,
                      const readings_answer *answer, uint64_t count);

/* For the Info column: "\Processor Information(0,0)\% Processor Time = 12.4 %, 239 more (7 blocks, 7,168 bytes)", or the
 * number of values. `parts` and `size` are texts. */
void value_describe(rpc_call *call, value_first *first, const readings_answer *answer, uint64_t count,
                    const char *parts, const char *size);

#endif
