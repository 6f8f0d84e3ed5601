/* pcq-parts.h
 * What the files share that read lpData's parts; pcq-buffers.h is what they offer to others.
 *
 *     pcq-buffers.c        lists of countersets and of instances
 *     pcq-registration.c   registration information
 *     pcq-strings.c        names and descriptions
 *     pcq-identifiers.c    counter identifiers
 *     pcq-parts.c          what they share
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PCQ_PARTS_H
#define PCQ_PCQ_PARTS_H

#include "pcq-buffers.h"

void pcq_parts_register(int proto);
void pcq_registration_register(int proto);
void pcq_strings_register(int proto);
void pcq_identifiers_register(int proto);

/* RequestCode 5, 6 and 10; 3, 4, 7 and 9; 8. */
void pcq_dissect_counter_strings(perf_reader *reader, proto_tree *tree, pcq_context *context);
void pcq_dissect_single_string(perf_reader *reader, pcq_context *context);
void pcq_dissect_provider_guid(perf_reader *reader, pcq_context *context);

/* A fact that the buffer teaches, to be filled: no later than the next one is asked for. */
pcq_lesson *pcq_new_lesson(pcq_context *context, const uint8_t *guid, uint32_t id, perf_fact_kind kind);
void pcq_teach_name(pcq_context *context, uint32_t id, const char *name);

/* The tree, or NULL if it has no room for `items` more; then `hidden` counts what is not shown. */
proto_tree *pcq_afford(proto_tree *tree, uint32_t items, uint32_t *hidden);
void pcq_report_hidden(pcq_context *context, proto_tree *tree, uint32_t hidden, const char *what);

/* Bytes that are left behind the last structure. */
void pcq_report_rest(perf_reader *reader, const char *behind);

/* True if `size` is that of a structure with a header of `header` bytes that fits; what else is odd is reported. */
bool pcq_check_size(perf_reader *reader, pcq_context *context, uint32_t size, uint32_t header, const char *what);

#endif
