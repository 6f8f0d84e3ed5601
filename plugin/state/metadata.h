/* metadata.h
 * Metadata: names and types of countersets, counters and titles, and who sent them.
 *
 * What a server sent first stays, in one slot for each key and kind. If it sends otherwise later, the slot is disputed, and whatever is
 * shown of it is assumed, in each frame. Filled on the first pass, ends with the file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/servers.h"

#include "perf/counter-types.h"
#include "perf/structures.h"

/* A counterset (id PERF_NO_ID) or one of its counters, or a title index of HKEY_PERFORMANCE_DATA. */
typedef struct {
    uint8_t guid[16];
    uint32_t id;
    uint32_t is_title; /* 1, else 0; no padding: keys are compared by their bytes */
} metadata_key;

/* Return the key of a counterset or counter (`id`, PERF_NO_ID: the counterset), and of a title. */
metadata_key metadata_counter_key(const uint8_t *guid, uint32_t id);
metadata_key metadata_title_key(uint32_t title_index);

typedef enum {
    METADATA_ENGLISH,    /* name in English */
    METADATA_LOCAL,      /* name in another language, or in one that is not known */
    METADATA_COUNTER,    /* type and relations of a counter */
    METADATA_COUNTERSET, /* kind of instances of a counterset */
    NUM_METADATA_KINDS
} metadata_kind;

#define METADATA_LCID_ENGLISH 0x009 /* English without a country ([MS-LCID] 2.1) */

/* Returns the kind of a name in a language; the low 10 bits of an LCID are the language, whatever the country. */
static inline metadata_kind metadata_name_kind(uint32_t lcid)
{
    return (lcid & 0x3FF) == METADATA_LCID_ENGLISH ? METADATA_ENGLISH : METADATA_LOCAL;
}

typedef enum {
    METADATA_SENT,   /* by the server */
    METADATA_FILE,   /* the user's names file */
    METADATA_BUILTIN /* the built-in list; its titles are true of Windows alone */
} metadata_source;

typedef struct {
    const char *name;          /* of the two kinds of names, else NULL */
    uint32_t lcid;             /* of a name; 0: not known, or, once it is stored, English */
    perf_counter_info counter; /* of METADATA_COUNTER */
    uint32_t instance_type;    /* of METADATA_COUNTERSET */
    bool is_assumed;           /* it stood behind a fault of its list */
    /* set when it is stored: */
    const perf_counter_type *type; /* of METADATA_COUNTER; NULL: no such type */
    metadata_source source;
    uint32_t frame;       /* response that sent it first; 0 if no server did */
    uint32_t disputed_in; /* first response that contradicts it, or shows its title as something else; 0: none */
} metadata_entry;

typedef struct {
    const metadata_entry *entry; /* NULL: nothing is known */
    bool is_assumed; /* the entry is, or it is disputed, or a title of an address that several computers share */
} metadata_result;

/* Name and type of one key, as they are known. */
typedef struct {
    metadata_result name; /* in English, or else in another language */
    metadata_result type; /* of a counter, or kind of instances of a counterset; not of titles */
} metadata_known;

/* Stores what the server sent. Needs: a response that may be learned from. `frame`: the response's. Changes: an entry that was sent first stays, and
 * is disputed if this one differs. Other languages than the first are ignored; a name in an unknown one disputes nothing and gives way to a known
 * one, and so does an assumed entry. */
void metadata_learn(state_server *server, metadata_key key, metadata_kind kind, const metadata_entry *entry,
                    uint32_t frame);

/* Notes the type that a PERF_DATA_BLOCK sends for a counter of an object, both title indexes. Changes: if it was another before, the titles of both
 * that the server sent are disputed, since both may be others by now. `is_base`: one title may be a counter's and its base's. */
void metadata_learn_definition(state_server *server, uint32_t object, uint32_t counter, bool is_base, uint32_t type,
                               uint32_t frame);

/* Adds a copy of an entry of the names file or of the built-in list (`source`). `server`: an address as text, "*" or NULL: any; the built-in list
 * has none. Changes: an earlier entry for the same is replaced. */
void metadata_add_from_file(metadata_source source, const char *server, metadata_key key, metadata_kind kind,
                            const metadata_entry *entry);

/* Returns the best name and type that are known, each from these sources in turn: server, names file for its address, names file for any, built-in
 * list. */
metadata_known metadata_lookup(const state_server *server, metadata_key key);

/* Returns true unless the server shows that a title index stands for something else: it (or a names file for it) has another English title, a
 * disputed or assumed one, or, if none for this index, is no Windows. Needs: `english` is what Windows calls that index. */
bool metadata_title_is(const state_server *server, uint32_t title_index, const char *english);

/* Returns a name, or what stands for one that is not known: "{guid}" for a counterset, else "#6". `name`: NULL: not known. Text that is made lives in
 * `pool`, a name with its entry. */
const char *metadata_format_name(wmem_allocator_t *pool, const metadata_key *key, const metadata_entry *name);

/* Returns "{b4fc721a-0378-476f-89ba-a5a79f810b36}" of 16 little-endian bytes, in `pool`. */
char *metadata_format_guid(wmem_allocator_t *pool, const uint8_t *guid);

/* Visits all that servers sent, by address, key and kind, but for what is assumed. Returns how many entries are assumed. */
typedef void (*metadata_visitor)(const char *server, const metadata_key *key, metadata_kind kind,
                                 const metadata_entry *entry, void *user);
unsigned metadata_foreach(metadata_visitor visit, void *user);

/* Has metadata end with each file. Once, as the plugin begins. */
void metadata_register(void);
