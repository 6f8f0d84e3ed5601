/* metadata.c
 * Metadata: names and types of countersets, counters and titles, and who sent them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/metadata.h"

#include <epan/guid-utils.h>
#include <epan/to_str.h>

#include "perf/bytes.h"

#define ANY_SERVER "*" /* in a names file */

/* A kind that nobody looks up, of a key that metadata_learn_definition() makes. */
enum { DEFINITION = NUM_METADATA_KINDS, NUM_SLOTS };

typedef struct {
    metadata_entry entry;
    uint32_t frame;       /* response that sent it first; 0: it comes from the names file or the built-in list */
    uint32_t disputed_in; /* first response that sent otherwise; 0: none */
} metadata_slot;

typedef struct {
    const void *owner; /* state_server; of the names file the quark of an address; NULL: the built-in list */
    metadata_key key;
} subject_key;

/* All that an owner has of one key. */
typedef struct {
    subject_key key;
    const state_server *server; /* NULL: the owner is none */
    uint32_t renumbered_in;     /* of a title: frame in which its counter has another type than before; 0: none */
    metadata_slot *slots[NUM_SLOTS];
} metadata_subject;

static wmem_map_t *subjects; /* metadata_subject, as its own key; emptied with the file */
static wmem_map_t *builtin;  /* the same of the built-in list, which stays */

/* Found last: name and type of a counter are looked up one after the other. NULL: none, or its file was closed. */
static metadata_subject *newest_subject;

/* A packet chooses the key alone, so that alone needs a keyed hash. */
static unsigned subject_hash(const void *key)
{
    const subject_key *k = key;

    return wmem_strong_hash((const uint8_t *)&k->key, sizeof k->key) + (unsigned)(uintptr_t)k->owner;
}

static gboolean subject_equal(const void *a, const void *b)
{
    const subject_key *x = a, *y = b;

    return x->owner == y->owner && memcmp(&x->key, &y->key, sizeof x->key) == 0;
}

/* Returns all that an owner has of a key, NULL: nothing. `owner`: as in subject_key. */
static metadata_subject *find_subject(const void *owner, const metadata_key *key)
{
    const subject_key *newest = newest_subject ? &newest_subject->key : NULL;

    if (newest == NULL || newest->owner != owner || newest->key.id != key->id ||
        memcmp(newest->key.guid, key->guid, sizeof key->guid) != 0) {
        newest_subject = wmem_map_lookup(owner ? subjects : builtin, &(subject_key){owner, *key});
    }
    return newest_subject;
}

/* Returns the memory for what an owner has: the file's, but the program's for the built-in list. */
static wmem_allocator_t *find_owner_scope(const void *owner)
{
    return owner ? wmem_file_scope() : wmem_epan_scope();
}

static metadata_subject *find_or_create_subject(const void *owner, const metadata_key *key)
{
    metadata_subject *subject = find_subject(owner, key);

    if (subject == NULL) {
        subject = wmem_new0(find_owner_scope(owner), metadata_subject);
        subject->key = (subject_key){owner, *key};
        wmem_map_insert(owner ? subjects : builtin, &subject->key, subject);
    }
    return subject;
}

/* Fills the slot of a kind with a copy of an entry, undisputed. `frame`: the response's, 0: no server sent it. */
static void set_slot(metadata_subject *subject, unsigned kind, const metadata_entry *entry, uint32_t frame)
{
    metadata_slot **slot = &subject->slots[kind];
    wmem_allocator_t *scope = find_owner_scope(subject->key.owner);

    *slot = *slot ? *slot : wmem_new(scope, metadata_slot);
    **slot = (metadata_slot){*entry, frame, 0};
    (*slot)->entry.name = entry->name ? wmem_strdup(scope, entry->name) : NULL;
    (*slot)->entry.type = kind == METADATA_COUNTER ? perf_counter_type_find(entry->counter.type) : NULL;
}

/* Returns what the subject has of a kind, NULL: nothing. */
static const metadata_entry *get_entry(const metadata_subject *subject, metadata_kind kind)
{
    return subject && subject->slots[kind] ? &subject->slots[kind]->entry : NULL;
}

metadata_key metadata_counter_key(const uint8_t *guid, uint32_t id)
{
    metadata_key key;

    memcpy(key.guid, guid, sizeof key.guid);
    key.id = id;
    return key;
}

metadata_key metadata_title_key(uint32_t title_index)
{
    return (metadata_key){{0}, title_index};
}

bool metadata_key_is_title(const metadata_key *key)
{
    static const uint8_t no_guid[16];

    return memcmp(key->guid, no_guid, sizeof no_guid) == 0;
}

static bool is_name(unsigned kind)
{
    return kind == METADATA_ENGLISH || kind == METADATA_LOCAL;
}

/* --- Learning --------------------------------------------------------------------------------------------------- */

/* True if two entries of one kind say the same, whatever their language. Members that a kind does not have are zeros. */
static bool is_same_entry(const metadata_entry *a, const metadata_entry *b)
{
    return a->name ? strcmp(a->name, b->name) == 0
                   : memcmp(&a->counter, &b->counter, sizeof a->counter) == 0 && a->instance_type == b->instance_type;
}

/* Stores an entry that a server sent, by the rules of metadata_learn(). Returns true if it makes its slot disputed. */
static bool store_entry(state_server *server, const metadata_key *key, unsigned kind, const metadata_entry *entry,
                        uint32_t frame)
{
    metadata_subject *subject = find_or_create_subject(server, key);
    metadata_slot *slot = subject->slots[kind];
    bool gives_way = slot && ((kind == METADATA_LOCAL && slot->entry.lcid == 0 && entry->lcid != 0) ||
                              (slot->entry.is_assumed && !entry->is_assumed));

    subject->server = server;
    if (slot == NULL || gives_way) {
        set_slot(subject, kind, entry, frame);
        return false;
    }
    bool is_comparable = kind != METADATA_LOCAL || (entry->lcid != 0 && entry->lcid == slot->entry.lcid);
    if (!is_comparable || entry->is_assumed || slot->disputed_in != 0 || is_same_entry(&slot->entry, entry)) {
        return false;
    }
    slot->disputed_in = frame;
    return true;
}

void metadata_learn(state_server *server, metadata_key key, metadata_kind kind, const metadata_entry *entry,
                    uint32_t frame)
{
    bool is_title = kind == METADATA_ENGLISH && metadata_key_is_title(&key) && !entry->is_assumed;
    const metadata_entry *known = is_title ? get_entry(find_subject(NULL, &key), kind) : NULL;

    ws_assert(kind < NUM_METADATA_KINDS && (entry->name != NULL) == is_name(kind) && frame != 0);
    server->is_no_windows |= known && strcmp(known->name, entry->name) != 0;
    store_entry(server, &key, kind, entry, frame);
}

void metadata_learn_definition(state_server *server, uint32_t object, uint32_t counter, bool is_base, uint32_t type,
                               uint32_t frame)
{
    metadata_key key = {.id = counter}, titles[] = {metadata_title_key(object), metadata_title_key(counter)};
    const metadata_entry entry = {.counter = {.type = type}};

    memcpy(key.guid, &object, sizeof object);
    key.guid[sizeof object] = is_base;
    if (store_entry(server, &key, DEFINITION, &entry, frame)) {
        for (unsigned i = 0; i < array_length(titles); i++) {
            find_or_create_subject(server, &titles[i])->renumbered_in = frame;
        }
    }
}

void metadata_add_from_file(metadata_source source, const char *server, metadata_key key, metadata_kind kind,
                            const metadata_entry *entry)
{
    GQuark owner = source == METADATA_FILE ? g_quark_from_string(server ? server : ANY_SERVER) : 0;

    set_slot(find_or_create_subject(GUINT_TO_POINTER(owner), &key), kind, entry, 0);
}

/* --- Looking up -------------------------------------------------------------------------------------------------- */

/* Returns what the server itself sent, `entry` NULL: nothing of this kind. `subject`: NULL: nothing of the key. Leaves out `is_assumed`. */
static metadata_result find_sent(const metadata_subject *subject, metadata_kind kind)
{
    const metadata_slot *slot = subject ? subject->slots[kind] : NULL;
    uint32_t renumbered_in = subject && is_name(kind) ? subject->renumbered_in : 0;

    if (slot == NULL) {
        return (metadata_result){.disputed_in = renumbered_in};
    }
    return (metadata_result){.entry = &slot->entry,
                             .source = METADATA_SENT,
                             .frame = slot->frame,
                             .disputed_in = slot->disputed_in != 0 ? slot->disputed_in : renumbered_in};
}

/* Returns the names file's entry, NULL: it has none. The line of the address comes before one of any. */
static const metadata_entry *find_in_file(const state_server *server, const metadata_key *key, metadata_kind kind)
{
    const char *const owners[] = {server->text, ANY_SERVER};
    const metadata_entry *entry = NULL;

    for (unsigned i = 0; entry == NULL && i < array_length(owners); i++) {
        GQuark owner = g_quark_try_string(owners[i]); /* 0: no names file has it */
        entry = owner ? get_entry(find_subject(GUINT_TO_POINTER(owner), key), kind) : NULL;
    }
    return entry;
}

/* Returns the built-in list's entry, NULL: it has none. Its titles are for Windows alone. */
static const metadata_entry *find_builtin(const state_server *server, const metadata_key *key, metadata_kind kind)
{
    bool is_for_others = server->is_no_windows && metadata_key_is_title(key);

    return is_for_others ? NULL : get_entry(find_subject(NULL, key), kind);
}

/* True for a title of an address that several computers share, unless all Windows have it. Needs: an entry. */
static bool is_shared_title(const state_server *server, const metadata_key *key, const metadata_result *found)
{
    if (!server->is_shared || !metadata_key_is_title(key)) {
        return false;
    }
    const metadata_entry *known = get_entry(find_subject(NULL, key), METADATA_ENGLISH);
    return known == NULL || strcmp(known->name, found->entry->name) != 0;
}

/* True if the entry stood behind a fault of its list, is disputed, or is a title of a shared address. Needs: an entry. */
static bool is_assumed(const state_server *server, const metadata_key *key, const metadata_result *found)
{
    return found->entry->is_assumed || found->disputed_in != 0 || is_shared_title(server, key, found);
}

/* Finds an entry that the server did not send, or a name that it sent in another language. Changes: `found`. */
static void find_elsewhere(const state_server *server, const metadata_key *key, metadata_kind kind,
                           metadata_result *found)
{
    bool may_be_local = kind == METADATA_ENGLISH;

    if (may_be_local) {
        *found = find_sent(find_subject(server, key), METADATA_LOCAL);
    }
    if (found->entry == NULL) {
        found->source = METADATA_FILE;
        found->entry = find_in_file(server, key, kind);
    }
    if (found->entry == NULL && may_be_local) {
        found->entry = find_in_file(server, key, METADATA_LOCAL);
    }
    if (found->entry == NULL) {
        found->entry = find_builtin(server, key, kind);
        found->source = found->entry ? METADATA_BUILTIN : METADATA_UNKNOWN;
    }
}

metadata_result metadata_lookup(const state_server *server, metadata_key key, metadata_kind kind)
{
    metadata_result found = find_sent(find_subject(server, &key), kind);

    if (found.entry == NULL) {
        find_elsewhere(server, &key, kind, &found);
    }
    found.is_assumed = found.entry && is_assumed(server, &key, &found);
    return found;
}

bool metadata_title_is(const state_server *server, uint32_t title_index, const char *english)
{
    const metadata_key key = metadata_title_key(title_index);
    metadata_result sent = find_sent(find_subject(server, &key), METADATA_ENGLISH);

    return sent.disputed_in == 0 &&
           (sent.entry ? !sent.entry->is_assumed && strcmp(sent.entry->name, english) == 0 : !server->is_no_windows);
}

/* --- Names ------------------------------------------------------------------------------------------------------- */

char *metadata_format_guid(wmem_allocator_t *pool, const uint8_t *guid)
{
    e_guid_t parts = {perf_le32(guid), perf_le16(guid + 4), perf_le16(guid + 6), {0}};
    char text[GUID_STR_LEN];

    memcpy(parts.data4, guid + 8, sizeof parts.data4);
    return wmem_strdup_printf(pool, "{%s}", guid_to_str_buf(&parts, text, sizeof text));
}

const char *metadata_format_name(wmem_allocator_t *pool, const metadata_key *key, const metadata_entry *name)
{
    if (name == NULL && key->id == PERF_NO_ID && !metadata_key_is_title(key)) {
        return metadata_format_guid(pool, key->guid);
    }
    return name ? name->name : wmem_strdup_printf(pool, "#%u", key->id);
}

const char *metadata_label(wmem_allocator_t *pool, const state_server *server, metadata_key key)
{
    return metadata_format_name(pool, &key, metadata_lookup(server, key, METADATA_ENGLISH).entry);
}

/* --- Everything that was sent ------------------------------------------------------------------------------------- */

static int compare_subjects(const void *a, const void *b)
{
    const metadata_subject *x = *(const metadata_subject *const *)a, *y = *(const metadata_subject *const *)b;
    int by_server = strcmp(x->server->text, y->server->text);
    int by_guid = memcmp(x->key.key.guid, y->key.key.guid, sizeof x->key.key.guid);
    uint32_t i = x->key.key.id + 1, j = y->key.key.id + 1; /* the counterset, PERF_NO_ID, comes before its counters */

    return by_server != 0 ? by_server : by_guid != 0 ? by_guid : i < j ? -1 : i > j;
}

/* Appends a subject to the array `user`, if a server sent it; the map has lines of the names file, too. */
static void append_subject(void *key _U_, void *value, void *user)
{
    if (((const metadata_subject *)value)->server) {
        wmem_array_append(user, &value, 1);
    }
}

unsigned metadata_foreach(metadata_visitor visit, void *user)
{
    wmem_array_t *all = wmem_array_new(NULL, sizeof(metadata_subject *));
    unsigned assumed = 0;

    wmem_map_foreach(subjects, append_subject, all);
    wmem_array_sort(all, compare_subjects);
    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const metadata_subject *subject = *(metadata_subject **)wmem_array_index(all, i);
        const metadata_key *key = &subject->key.key;
        for (metadata_kind kind = 0; kind < NUM_METADATA_KINDS; kind++) {
            metadata_result sent = find_sent(subject, kind);
            if (sent.entry && is_assumed(subject->server, key, &sent)) {
                assumed++;
            } else if (sent.entry) {
                visit(subject->server->text, key, kind, sent.entry, user);
            }
        }
    }
    wmem_destroy_array(all);
    return assumed;
}

/* Forgets what ends with the file. */
static void forget_newest_subject(void)
{
    newest_subject = NULL;
}

void metadata_register(void)
{
    register_cleanup_routine(forget_newest_subject);
    builtin = wmem_map_new(wmem_epan_scope(), subject_hash, subject_equal);
    subjects = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), subject_hash, subject_equal);
}
