/* facts.h
 * Names and types: what is known of countersets, counters and title indexes, and where from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/hosts.h"

#include "perf/counter-types.h"
#include "perf/identifier.h"

/* A fact is about a counterset (id PERF_NO_ID) or one of its counters, or about a title index of HKEY_PERFORMANCE_DATA
 * (guid of zeros). */
typedef struct {
    uint8_t guid[16];
    uint32_t id;
} state_subject;

/* A counterset (id PERF_NO_ID) or counter; a title index. */
state_subject facts_subject(const uint8_t *guid, uint32_t id);
state_subject facts_title_subject(uint32_t title_index);

/* True for a title index. */
bool facts_subject_is_title(const state_subject *subject);

typedef enum {
    PERF_FACT_ENGLISH, /* name in English */
    PERF_FACT_LOCAL,   /* name in another language, or in one that was not said */
    PERF_FACT_COUNTER, /* type and relations of a counter */
    PERF_FACT_SET,     /* kind of instances of a counterset */
    PERF_NUM_FACT_KINDS
} state_fact_kind;

typedef struct {
    const char *name;              /* of the two name kinds */
    uint32_t lcid;                 /* of a local name; 0 if it was not said */
    perf_counter_info counter;     /* of PERF_FACT_COUNTER */
    uint32_t instance_type;        /* of PERF_FACT_SET */
    const perf_counter_type *type; /* the counter's, found when that was learned; NULL if there is none of its number */
    bool is_assumed;               /* a title that stands beside damage in its list */
} state_fact;

/* Where a fact comes from, best first. */
typedef enum {
    PERF_SOURCE_NONE,
    PERF_SOURCE_EARLIER, /* a frame before this one */
    PERF_SOURCE_LATER,   /* a frame after this one */
    PERF_SOURCE_FILE,    /* the user's names file */
    PERF_SOURCE_BUILTIN  /* the built-in list; of titles for Windows alone */
} state_source;

typedef struct {
    const state_fact *fact; /* NULL if nothing is known */
    state_source source;
    uint32_t frame; /* of the two frame sources */
} state_known;

/* Of the machine that the connection is to. `asked`: event of the request. */
void facts_learn(state_connection *connection, state_subject subject, state_fact_kind kind, const state_fact *fact,
                 uint32_t asked, uint32_t event, uint32_t frame);

/* A list of names or types was not read whole: whether those told before still hold is unknown. What can be read of it is learned after.
 * `subject`: a counterset, or any of its counters for all of them; any title for all; NULL: of any counterset. PERF_NUM_FACT_KINDS: of what
 * kind is not known. It was told at any time from event `since` on until `event`; 0: at that. `frame`: 0 if calls are missing that may have
 * been such a list: those told before go on, doubted. `*answer_frame`, as long as the file, becomes that of its answer, if that comes after
 * all; NULL: it does not. */
void facts_note_unread(state_connection *connection, const state_subject *subject, state_fact_kind kind, uint32_t since,
                       uint32_t event, uint32_t frame, const uint32_t *answer_frame);

/* The frame of such a list of titles, the latest until the event or else the first; 0 without one. */
uint32_t facts_titles_unread_in(state_host *server, uint32_t event);

/* What the connection told goes to the machine that it is known to be to by now, or to what its address has in common. */
void facts_move(state_connection *connection);

/* A machine that is new: what others told of which it is not known which they are to may be of it. */
void facts_doubt(state_host *machine);

/* Adds to what the names file tells for this capture. `server` is an address as text, with its port or for each of its ports, or
 * NULL for any. */
void facts_file_add(const char *server, state_subject subject, state_fact_kind kind, const state_fact *fact);

/* The best that is known of a subject, of PERF_FACT_ENGLISH its name: in English before other languages of the same source. */
state_known facts_lookup(state_host *server, state_subject subject, state_fact_kind kind, uint32_t event);

/* True if a title index stands for an English title: by the capture's titles, or, where it has none, of what may be a Windows. */
bool facts_title_is(state_host *server, uint32_t title_index, const char *english, uint32_t event);

/* True if it may have become another between two events; what one answer tells twice stayed what it is. */
bool facts_may_have_changed(state_host *server, state_subject subject, state_fact_kind kind, uint32_t since,
                            uint32_t event);

/* True if a later packet tells it anew: somewhere between that and the last that told what is known here it became another, perhaps before the
 * event. Of a name another in the same language makes it another thing. Or one answer tells it twice and differently, or it became another while
 * what shows it was asked for. */
static inline bool facts_doubted(state_host *server, state_subject subject, state_fact_kind kind, uint32_t asked,
                                 uint32_t event)
{
    uint32_t since = asked != 0 && asked < event ? asked : event;

    return server->facts_changed > since && /* mostly it is not */
           (facts_may_have_changed(server, subject, kind, event, event) ||
            (since < event && facts_may_have_changed(server, subject, kind, since, event)));
}

/* How things are called: a name, or what stands for one that is not known. Texts that are made live in `pool`. */
const char *facts_label(wmem_allocator_t *pool, state_host *server, state_subject subject, uint32_t event);
const char *facts_counterset_label(wmem_allocator_t *pool, state_host *server, const uint8_t *guid, uint32_t event);
const char *facts_counter_label(wmem_allocator_t *pool, state_host *server, const uint8_t *guid, uint32_t id,
                                uint32_t event); /* "#6"; "*" for PERF_NO_ID */
const char *facts_title_label(wmem_allocator_t *pool, state_host *server, uint32_t title_index, uint32_t event);

/* {b4fc721a-0378-476f-89ba-a5a79f810b36}, of little-endian bytes. */
char *facts_guid_text(wmem_allocator_t *pool, const uint8_t *guid);

/* Every fact that this capture taught, its newest version, by server, subject and kind; of local names the newest of
 * each language. Those of machines that share an address and port are left out: returns of how many machines. */
typedef void (*state_fact_visitor)(const char *server, const state_subject *subject, state_fact_kind kind,
                                   const state_fact *fact, void *user);
unsigned facts_visit(state_fact_visitor visit, void *user);

void facts_register(void);
