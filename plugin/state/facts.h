/* facts.h
 * Old names of state/metadata.h, until nobody uses them. Events are ignored.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/hosts.h"
#include "state/metadata.h"

typedef metadata_key state_subject;
typedef metadata_kind state_fact_kind;
typedef metadata_entry state_fact;

#define PERF_FACT_ENGLISH METADATA_ENGLISH
#define PERF_FACT_LOCAL METADATA_LOCAL
#define PERF_FACT_COUNTER METADATA_COUNTER
#define PERF_FACT_SET METADATA_COUNTERSET
#define PERF_SOURCE_NONE METADATA_UNKNOWN
#define PERF_SOURCE_EARLIER METADATA_SENT
#define PERF_SOURCE_FILE METADATA_FILE
#define PERF_SOURCE_BUILTIN METADATA_BUILTIN

typedef struct {
    const state_fact *fact;
    metadata_source source;
    uint32_t frame;
} state_known;

#define facts_subject metadata_counter_key
#define facts_title_subject metadata_title_key
#define facts_subject_is_title metadata_key_is_title
#define facts_guid_text metadata_format_guid
#define facts_title_is(server, title, english, event) ((void)(event), metadata_title_is(server, title, english))
#define facts_label(pool, server, key, event) ((void)(event), metadata_label(pool, server, key))
#define facts_counterset_label(pool, server, guid, event) ((void)(event), metadata_counterset_label(pool, server, guid))
#define facts_counter_label(pool, server, guid, id, event) \
    ((void)(event), metadata_counter_label(pool, server, guid, id))
#define facts_title_label(pool, server, title, event) ((void)(event), metadata_title_label(pool, server, title))

static inline state_known facts_lookup(const state_host *server, state_subject key, state_fact_kind kind,
                                       uint32_t event)
{
    metadata_result found = metadata_lookup(server, key, kind);

    (void)event;
    return (state_known){found.entry, found.source, found.frame};
}

static inline bool facts_may_have_changed(const state_host *server, state_subject key, state_fact_kind kind,
                                          uint32_t since, uint32_t event)
{
    (void)server;
    (void)key;
    (void)kind;
    (void)since;
    (void)event;
    return false;
}

static inline bool facts_doubted(const state_host *server, state_subject key, state_fact_kind kind, uint32_t asked,
                                 uint32_t event)
{
    (void)asked;
    (void)event;
    return metadata_lookup(server, key, kind).is_assumed;
}
