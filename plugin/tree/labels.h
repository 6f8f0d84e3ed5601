/* labels.h
 * What both protocols show alike: where a name was learned, and the bits of a counter type. Each brings fields of its own
 * prefix.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TREE_LABELS_H
#define PCQ_TREE_LABELS_H

#include "tree/reader.h"
#include "state/state.h"

/* Says where a fact came from, beside the item that shows it. `is_name`: its language belongs to it. */
void perf_add_source(proto_tree *tree, tvbuff_t *tvb, int hf_learned_in, proto_item *item, const perf_known *known,
                     bool is_name);

/* Texts one behind the other as an item's label, if they fit: false if not. printf takes much longer to put them together
 * than to copy one. */
bool label_join(char label[ITEM_LABEL_LENGTH], const char *const *parts, unsigned count);

/* Fields of a counter type. */
typedef struct {
    int type;
    int size;
    int kind;
    int subtype;
    int timer;
    int delta;
    int delta_base;
    int inverse;
    int multi;
    int display;
} perf_type_fields;

/* PREFIX.counter.type and its bits. */
void perf_type_fields_register(int proto, const char *prefix, perf_type_fields *fields);

/* True if somebody looks at one of them in the tree. */
bool type_fields_wanted(proto_tree *tree, const perf_type_fields *fields);

/* A counter type on the wire with its bits; an unknown one is reported. */
uint32_t perf_read_counter_type(perf_reader *reader, const perf_type_fields *fields);

#endif
