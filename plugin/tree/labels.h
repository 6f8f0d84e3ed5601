/* labels.h
 * What both protocols show alike: where a name was learned, and the bits of a counter type. Each brings fields of its own
 * prefix.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/reader.h"
#include "state/state.h"

/* The name of a subject that is known from elsewhere, as a generated field with the frame that taught it. Returns it for labels;
 * NULL, and nothing is added, where it is not known. */
const char *labels_add_name(proto_tree *tree, tvbuff_t *tvb, int hf, int hf_learned_in, state_host *server,
                            state_subject subject, uint32_t event);

/* Says where a fact came from, and a name's language, beside the item that shows it. */
void labels_add_source(proto_tree *tree, tvbuff_t *tvb, int hf_learned_in, proto_item *item, const state_known *known);

/* Fields of a counter type, and of its bits. */
#define LABELS_TYPE_BITS 9
typedef struct {
    int type;
    int bits[LABELS_TYPE_BITS];
} labels_type_fields;

/* PREFIX.counter.type and its bits. */
void labels_register_type_fields(int proto, const char *prefix, labels_type_fields *fields);

/* A counter type on the wire with its bits; an unknown one is reported. */
uint32_t labels_read_counter_type(bounded_reader *reader, const labels_type_fields *fields);

/* DefaultScale; one beyond use is reported. */
int32_t labels_read_scale(bounded_reader *reader, int hf);
