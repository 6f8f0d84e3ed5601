/* state.h
 * What the packets of a capture taught: names and types, handles, samples. Knows no tree and no layout.
 *
 * Everything here belongs to one capture file. It is written on the first pass only, in the order of events, and is
 * read at any time "as of an event", so that the same packet looks the same whenever it is looked at.
 *
 *   what                     key                                   owner, filled by            ends
 *   -----------------------  ------------------------------------  --------------------------  ------------------------
 *   perf_server              address                               this file, any call         with the file
 *   facts: names, types      server, counterset GUID, counter id   this file, perf_learn_*     with the file; a newer
 *                            (or title index), kind                                            version does not replace
 *                                                                                              an older one
 *   perf_handle: one life    server, kind, 20 bytes                this file, perf_handle_*    with the file; its life
 *   of a handle                                                                                at the close request
 *   identifiers of a query   perf_handle                           perf_query_changed/_info    each version with the next
 *   perf_sample              perf_handle (newest), call record     perf_sample_keep            its bytes when the limit
 *                                                                                              is passed, oldest first;
 *                                                                                              the rest with the file
 *
 * Events count the PDUs as they were first seen; a frame number would not do, since one frame can hold several PDUs.
 * Event 0 is "before everything": it finds nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_STATE_H
#define PCQ_STATE_STATE_H

#include "ws_compat.h"

#include "perf/counter-types.h"

#define PERF_HANDLE_SIZE 20
#define PERF_NO_ID 0xFFFFFFFFU /* wildcard counter, "none" of base, time, frequency and multi ids, no instance filter */

typedef struct perf_server perf_server;
typedef struct perf_handle perf_handle;
typedef struct perf_sample perf_sample;

/* Registers the routines that empty the state with each file. */
void perf_state_register(void);

uint32_t perf_next_event(void);

/* The server of an address; the same pointer for the same address. */
perf_server *perf_server_get(const address *addr);
const char *perf_server_address(const perf_server *server);

/* --- Names and types ------------------------------------------------------------------------------------------- */

/* A fact is about a counterset (id PERF_NO_ID) or one of its counters, or about a title index of HKEY_PERFORMANCE_DATA
 * (guid of zeros). */
typedef struct {
    uint8_t guid[16];
    uint32_t id;
} perf_subject;

/* True for a title index. */
bool perf_subject_is_title(const perf_subject *subject);

typedef enum {
    PERF_FACT_ENGLISH, /* name in English */
    PERF_FACT_LOCAL,   /* name in another language, or in one that was not said */
    PERF_FACT_COUNTER, /* type and relations of a counter */
    PERF_FACT_SET      /* kind of instances of a counterset */
} perf_fact_kind;

/* Type and relations of a counter ([MS-PCQ] 2.2.4.2). */
typedef struct {
    uint32_t type;
    uint32_t base_id;
    uint32_t time_id;
    uint32_t freq_id;
    uint32_t multi_id;
    int32_t scale;
} perf_counter_info;

typedef struct {
    const char *name;          /* of the two name kinds */
    uint32_t lcid;             /* of a local name; 0 if it was not said */
    perf_counter_info counter; /* of PERF_FACT_COUNTER */
    uint32_t instance_type;    /* of PERF_FACT_SET */
} perf_fact;

/* Where a fact comes from, best first. */
typedef enum {
    PERF_SOURCE_NONE,
    PERF_SOURCE_EARLIER, /* a frame before this one */
    PERF_SOURCE_LATER,   /* a frame after this one */
    PERF_SOURCE_FILE,    /* the user's names file */
    PERF_SOURCE_BUILTIN  /* the built-in list */
} perf_source;

typedef struct {
    const perf_fact *fact; /* NULL if nothing is known */
    perf_source source;
    uint32_t frame; /* of the two frame sources */
} perf_known;

void perf_learn(perf_server *server, const perf_subject *subject, perf_fact_kind kind, const perf_fact *fact,
                uint32_t event, uint32_t frame);

/* Adds to what the names file tells, which holds for every capture until it is cleared. `server` is an address as
 * text, or NULL for any. */
void perf_names_file_clear(void);
void perf_names_file_add(const char *server, const perf_subject *subject, perf_fact_kind kind, const perf_fact *fact);

/* The name of a subject, English before others of the same source. */
perf_known perf_lookup_name(perf_server *server, const perf_subject *subject, uint32_t event);
perf_known perf_lookup_counter(perf_server *server, const perf_subject *subject, uint32_t event);
perf_known perf_lookup_set(perf_server *server, const perf_subject *subject, uint32_t event);

/* Every fact that this capture taught, its newest version, by server, subject and kind; of local names the newest of
 * each language. */
typedef void (*perf_fact_visitor)(const char *server, const perf_subject *subject, perf_fact_kind kind,
                                  const perf_fact *fact, void *user);
void perf_facts_visit(perf_fact_visitor visit, void *user);

/* --- Handles --------------------------------------------------------------------------------------------------- */

typedef enum { PERF_HANDLE_QUERY, PERF_HANDLE_HKPD } perf_handle_kind;

/* One life of a handle: from the response that opened it to the request that closed it. */
struct perf_handle {
    perf_server *server;
    uint8_t bytes[PERF_HANDLE_SIZE];
    uint32_t begin;        /* event of the opening, or of the first use if that was not captured */
    uint32_t end;          /* event of the closing, UINT32_MAX as long as none was seen */
    uint32_t opened_frame; /* 0: not captured */
    uint32_t closed_frame; /* 0: not closed in this capture */
    const char *machine;   /* szMachine without backslashes, NULL if not known */
    struct perf_query *query;
    perf_sample *newest; /* only for the first pass */
    wmem_map_t *objects; /* HKPD: title index -> newest perf_object; only for the first pass */
};

/* Begins a life. */
perf_handle *perf_handle_open(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event,
                              uint32_t frame, const char *machine);

/* The life that is current at an event; one that has ended is found until the next begins. NULL if there is none. */
perf_handle *perf_handle_find(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event);

/* As found, ended or not, or a new life of a handle that was opened before the capture began. */
perf_handle *perf_handle_use(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event);

void perf_handle_close(perf_handle *handle, uint32_t event, uint32_t frame);

/* The server refused to close it. */
void perf_handle_not_closed(perf_handle *handle);

/* --- Counters of a query --------------------------------------------------------------------------------------- */

/* PERF_COUNTER_IDENTIFIER ([MS-PCQ] 2.2.4.6). */
typedef struct {
    uint8_t guid[16];
    uint32_t counter_id;  /* PERF_NO_ID: all counters */
    uint32_t instance_id; /* PERF_NO_ID: any */
    uint32_t index;
    uint32_t status;
    const char *instance; /* name or pattern, NULL if there is none */
    const uint8_t *utf16; /* the same as it was sent, without terminator */
    uint32_t utf16_size;  /* bytes */
} perf_identifier;

/* What an identifier asks for (not its index and status), as keys of maps. */
unsigned perf_identifier_hash(const void *key);
gboolean perf_identifier_equal(const void *a, const void *b);

/* An identifier and the server's verdict on it, from one event to another. */
typedef struct {
    perf_identifier identifier;
    uint32_t from;
    uint32_t until; /* UINT32_MAX as long as it holds */
} perf_query_entry;

/* A ValidateCounters response: adds or removes the identifiers whose status is 0, and notes the others. */
void perf_query_changed(perf_handle *handle, bool add, const perf_identifier *identifiers, uint32_t count,
                        uint32_t event);

/* One whose meaning is not known: from here on the list of counters is not complete. */
void perf_query_unknown_change(perf_handle *handle, uint32_t event);

/* A QueryCounterInfo response: which block belongs to which identifier. */
void perf_query_info(perf_handle *handle, const perf_identifier *identifiers, uint32_t count, uint32_t event,
                     uint32_t frame);

/* Entries that hold at an event, in the order they were added; `next` is 0 at first. NULL at the end. */
const perf_query_entry *perf_query_entries(const perf_handle *handle, uint32_t event, unsigned *next);

/* Which identifier each block of a sample belongs to. */
typedef struct {
    const perf_identifier **blocks; /* `count` of them, NULL where it is not known */
    uint32_t count;
    bool assumed;   /* by the order of the identifiers */
    uint32_t frame; /* QueryCounterInfo that told, 0 if none did */
} perf_assignment;

/* `types` holds the dwType of each of `count` blocks. Returns false if nothing is known. */
bool perf_query_assign(wmem_allocator_t *pool, const perf_handle *handle, uint32_t event, const uint32_t *types,
                       uint32_t count, perf_assignment *assignment);

/* --- Samples --------------------------------------------------------------------------------------------------- */

/* One object of a sample of HKEY_PERFORMANCE_DATA, whose answers hold now these, now those. */
typedef struct perf_object {
    perf_sample *sample;
    struct perf_object *previous; /* in the latest sample before that holds it too, NULL for the first */
} perf_object;

/* One intact answer with counter data, as it was received. */
struct perf_sample {
    perf_handle *handle;
    uint32_t event;
    uint32_t frame;
    uint8_t *bytes; /* NULL once the limit made it go */
    uint32_t size;
    perf_sample *previous; /* the sample before it of the same handle, NULL for the first */
    perf_object *objects;  /* HKPD: in the order of the block, NULL elsewhere */
    uint32_t num_objects;
    perf_sample *newer; /* of all samples, for dropping the oldest */
};

/* Keeps a copy of `size` bytes as the handle's newest sample. */
perf_sample *perf_sample_keep(perf_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event, uint32_t frame);

/* HKPD: the title indexes of the objects that the sample holds, as it has just been kept. */
void perf_sample_holds(perf_sample *sample, const uint32_t *indexes, uint32_t count);

/* Preference: the most that all samples may take, in bytes. */
void perf_sample_limit(uint64_t bytes);

#endif
