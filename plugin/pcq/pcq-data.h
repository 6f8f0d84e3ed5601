/* pcq-data.h
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) in the tree, and what it shares with other buffers: fields,
 * and what is known from elsewhere. One name for the same meaning everywhere.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/values.h"
#include "state/samples.h"

#include "perf/data-walk.h"

void pcq_data_register(int proto);

/* Fields of what several structures hold on the wire. */
extern int hf_pcq_counterset_guid, hf_pcq_counterset_name, hf_pcq_counter_id, hf_pcq_counter_name, hf_pcq_reserved,
    hf_pcq_instance, hf_pcq_instance_size, hf_pcq_instance_id, hf_pcq_instance_name, hf_pcq_identifier_path;
extern value_fields pcq_fields; /* of its values, and of counter types everywhere */

/* Known from elsewhere, as generated fields with the frame that taught them. They add nothing where nothing is
 * known, and return what they added for labels, NULL if nothing. */
const char *pcq_add_known_counterset(buffer_cursor *cursor, state_host *server, const uint8_t *guid, uint32_t event);
const char *pcq_add_known_counter(buffer_cursor *cursor, state_host *server, const uint8_t *guid, uint32_t id,
                                  uint32_t event, bool with_type);

/* --- Counter data --- */

extern const readings_layout pcq_readings_layout;

/* For whoever shows the structures between the values too: the next event of the walk that the stream makes. At a
 * PERF_WALK_VALUE the reading is as if it had been pulled. */
perf_walk_event pcq_readings_event(readings *r);
const perf_walk *pcq_readings_walk(const readings *r);

/* True if which counters the blocks hold is assumed from the order of the identifiers. */
bool pcq_readings_assumed(readings *r);

/* Whose the current block is, NULL if that is not known. */
const state_identifier *pcq_readings_identifier(const readings *r);

/* The name of the current instance. */
const char *pcq_readings_instance_name(readings *r);

/* Walks the buffer without looking at values. Returns true if something in it can be compared with other
 * samples; each block answers for itself (perf_walk_block_sound()). */
bool pcq_check_data(tvbuff_t *tvb, perf_data_summary *summary);

/* Shows it. Does nothing if nobody looks and nothing is wrong. */
void pcq_dissect_data(proto_tree *tree, findings_report *report, const readings_answer *answer,
                      const perf_data_summary *summary);
