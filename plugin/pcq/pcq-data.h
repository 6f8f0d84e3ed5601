/* pcq-data.h
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) in the tree, and what it shares with other buffers: fields,
 * and what is known from elsewhere. One name for the same meaning everywhere.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/data-tree.h"
#include "state/samples.h"

void pcq_data_register(int proto);

/* Fields of what several structures hold on the wire. */
extern int hf_pcq_counterset_guid, hf_pcq_counterset_name, hf_pcq_counter_id, hf_pcq_counter_name, hf_pcq_reserved,
    hf_pcq_instance, hf_pcq_instance_size, hf_pcq_instance_id, hf_pcq_instance_name, hf_pcq_identifier_path;
extern value_fields pcq_fields; /* of its values, and of counter types everywhere */

/* Known from elsewhere, as generated fields with the frame that taught them. They add nothing where nothing is
 * known, and return what they added for labels, NULL if nothing. */
const char *pcq_add_known_counterset(buffer_cursor *cursor, state_server *server, const uint8_t *guid);
const char *pcq_add_known_counter(buffer_cursor *cursor, state_server *server, const uint8_t *guid, uint32_t id,
                                  bool with_type);

/* --- Counter data --- */

extern const value_ops pcq_value_ops;

/* Returns the name of a row of the group that a stream is in: at most so many characters. */
const char *pcq_instance_name(const value_stream *stream, uint32_t row, unsigned most);

/* Shows it in the tree, if somebody looks or something is wrong. */
void pcq_show_data(proto_tree *tree, expert_report *report, const counter_response *response);
