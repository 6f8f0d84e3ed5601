/* pcq-data.h
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) as a stream of values and in the tree; fields and names that it shares
 * with the other buffers (pcq-buffers.h). This folder keeps nothing: samples, names and queries are kept in state/.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/value-tree.h"
#include "state/samples.h"

/* Registers the fields of counter data, and the shared ones. Needs: text_value_strings_init(). */
void pcq_data_register(int proto);

/* Fields that several structures of lpData share. */
extern int hf_pcq_counterset_guid, hf_pcq_counterset_name, hf_pcq_counter_id, hf_pcq_counter_name, hf_pcq_counter_type,
    hf_pcq_reserved, hf_pcq_instance, hf_pcq_instance_size, hf_pcq_instance_id, hf_pcq_instance_name,
    hf_pcq_identifier_path;

/* Show a name, and a counter's type, as generated fields, if another packet, the names file or the built-in list has them. Return the name for
 * labels, with its mark; NULL: not known, or no tree. */
const char *pcq_add_known_counterset(buffer_cursor *cursor, state_server *server, const uint8_t *guid);
const char *pcq_add_known_counter(buffer_cursor *cursor, state_server *server, const uint8_t *guid, uint32_t id,
                                  bool with_type);

/* Returns what an identifier asks for, as a path: "\\SRV\Set(instance)\Counter", without the computer if that is NULL; "*" for all counters.
 * `is_assumed`: the name of the counterset or of the counter is. */
const char *pcq_format_path(wmem_allocator_t *pool, const state_server *server, const char *computer,
                            const perf_identifier *identifier, bool *is_assumed);

/* Shows the path of an identifier if its field is referenced. `is_assumed`: which block it has is.
 * Returns it for labels, with its mark and without the computer; NULL: it is not referenced. */
const char *pcq_add_identifier_path(buffer_cursor *cursor, state_server *server, const char *computer,
                                    const perf_identifier *identifier, bool is_assumed);

/* Reads the PERF_INSTANCE_HEADER (2.2.4.5) that the cursor is in, with its name, to the end; labels its node. Reports a name that is no text. Throws
 * if it is cut. */
void pcq_read_instance(buffer_cursor *cursor);

/* --- Counter data --- */

extern const value_ops pcq_value_ops;
extern const value_tree_ops pcq_tree_ops;
