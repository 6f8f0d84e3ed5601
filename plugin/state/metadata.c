/* metadata.c
 * Metadata: names and types of countersets, counters and titles, and who sent them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/metadata.h"

#include <epan/guid-utils.h>
#include <epan/to_str.h>

#include "perf/bytes.h"

/* A kind for metadata_learn_definition() alone: what types it was sent, by a key of its own. */
enum { DEFINITION = NUM_METADATA_KINDS, NUM_ENTRIES };

typedef struct {
    const state_server *server; /* whose it is, &any_server and &builtin_list too */
    metadata_key key;
} subject_key;

/* All that is known of one key of one server. */
typedef struct {
    subject_key key;
    metadata_entry *entries[NUM_ENTRIES];
} metadata_subject;

/* Stand for a server: lines of a names file that are about any, and the built-in list. */
static const state_server any_server = {.text = "*"}, builtin_list = {.text = ""};

static wmem_map_t *subjects; /* metadata_subject, as its own key; emptied with the file */

/* A packet chooses the key alone, so that alone needs a keyed hash. */
static unsigned subject_hash(const void *key)
{
    const subject_key *k = key;

    return wmem_strong_hash((const uint8_t *)&k->key, sizeof k->key) + (unsigned)(uintptr_t)k->server;
}

static gboolean subject_equal(const void *a, const void *b)
{
    const subject_key *x = a, *y = b;

    return x->server == y->server && memcmp(&x->key, &y->key, sizeof x->key) == 0;
}

/* Returns all that is known of a server's key, NULL: nothing. */
static metadata_subject *find_subject(const state_server *server, const metadata_key *key)
{
    return wmem_map_lookup(subjects, &(subject_key){server, *key});
}

static metadata_subject *find_or_create_subject(const state_server *server, const metadata_key *key)
{
    metadata_subject *subject = find_subject(server, key);

    if (subject == NULL) {
        subject = wmem_new0(wmem_file_scope(), metadata_subject);
        subject->key = (subject_key){server, *key};
        wmem_map_insert(subjects, &subject->key, subject);
    }
    return subject;
}

/* Stores a copy of an entry, undisputed, in place of an older one. `frame`: the response's, 0: no server sent it. */
static void set_entry(metadata_subject *subject, unsigned kind, const metadata_entry *entry, metadata_source source,
                      uint32_t frame)
{
    metadata_entry *stored =
        subject->entries[kind] ? subject->entries[kind] : wmem_new(wmem_file_scope(), metadata_entry);

    *stored = *entry;
    stored->name = entry->name ? wmem_strdup(wmem_file_scope(), entry->name) : NULL;
    stored->lcid = kind == METADATA_LOCAL ? entry->lcid : 0;
    stored->type = kind == METADATA_COUNTER ? perf_counter_type_find(entry->counter.type) : NULL;
    stored->source = source;
    stored->frame = frame;
    subject->entries[kind] = stored;
}

/* Returns the entry of a subject, NULL: none. What a server sent comes before a names file's; of
 * METADATA_ENGLISH a name in English before one in another language. */
static const metadata_entry *get_entry(const metadata_subject *subject, metadata_kind kind)
{
    const metadata_entry *entry = subject ? subject->entries[kind] : NULL;
    const metadata_entry *local = subject && kind == METADATA_ENGLISH ? subject->entries[METADATA_LOCAL] : NULL;

    return local && (entry == NULL || local->source < entry->source) ? local : entry;
}

/* Returns what all Windows call a title index; NULL: it is not in the built-in list, or no title. */
static const char *find_windows_title(const metadata_key *key)
{
    const metadata_entry *entry = key->is_title ? get_entry(find_subject(&builtin_list, key), METADATA_ENGLISH) : NULL;

    return entry ? entry->name : NULL;
}

metadata_key metadata_counter_key(const uint8_t *guid, uint32_t id)
{
    metadata_key key = {.id = id};

    memcpy(key.guid, guid, sizeof key.guid);
    return key;
}

metadata_key metadata_title_key(uint32_t title_index)
{
    return (metadata_key){.id = title_index, .is_title = 1};
}

/* --- Learning --------------------------------------------------------------------------------------------------- */

/* True if two entries of one kind say the same, whatever their language. Members that a kind does not have are zeros. */
static bool is_same_entry(const metadata_entry *a, const metadata_entry *b)
{
    return a->name ? strcmp(a->name, b->name) == 0
                   : memcmp(&a->counter, &b->counter, sizeof a->counter) == 0 && a->instance_type == b->instance_type;
}

/* Stores an entry that a server sent, by the rules of metadata_learn(). Returns true if it makes the stored one disputed. */
static bool store_entry(state_server *server, const metadata_key *key, unsigned kind, const metadata_entry *entry,
                        uint32_t frame)
{
    metadata_subject *subject = find_or_create_subject(server, key);
    metadata_entry *stored = subject->entries[kind];
    bool gives_way =
        stored && (stored->source != METADATA_SENT ||
                   (kind == METADATA_LOCAL && stored->lcid == 0 && entry->lcid != 0) || stored->is_assumed);

    if (stored == NULL || gives_way) {
        set_entry(subject, kind, entry, METADATA_SENT, frame);
        return false;
    }
    bool is_comparable = kind != METADATA_LOCAL || (entry->lcid != 0 && entry->lcid == stored->lcid);
    if (!is_comparable || entry->is_assumed || stored->disputed_in != 0 || is_same_entry(stored, entry)) {
        return false;
    }
    stored->disputed_in = frame;
    return true;
}

void metadata_learn(state_server *server, metadata_key key, metadata_kind kind, const metadata_entry *entry,
                    uint32_t frame)
{
    const char *known = kind == METADATA_ENGLISH && !entry->is_assumed ? find_windows_title(&key) : NULL;

    ws_assert(kind < NUM_METADATA_KINDS && (entry->name != NULL) == (kind <= METADATA_LOCAL) && frame != 0);
    server->is_no_windows |= known && strcmp(known, entry->name) != 0;
    store_entry(server, &key, kind, entry, frame);
}

void metadata_learn_definition(state_server *server, uint32_t object, uint32_t counter, bool is_base, uint32_t type,
                               uint32_t frame)
{
    metadata_key key = {.id = counter}, titles[] = {metadata_title_key(object), metadata_title_key(counter)};
    const metadata_entry entry = {.counter = {.type = type}};

    memcpy(key.guid, &object, sizeof object);
    key.guid[sizeof object] = is_base;
    unsigned count = store_entry(server, &key, DEFINITION, &entry, frame) ? array_length(titles) : 0;
    for (unsigned i = 0; i < count; i++) {
        metadata_entry *const *names = find_or_create_subject(server, &titles[i])->entries;
        for (metadata_kind kind = METADATA_ENGLISH; kind <= METADATA_LOCAL; kind++) {
            if (names[kind]) {
                names[kind]->disputed_in = frame;
            }
        }
    }
}

void metadata_add_from_file(metadata_source source, const char *server, metadata_key key, metadata_kind kind,
                            const metadata_entry *entry)
{
    const state_server *owner = source == METADATA_BUILTIN                       ? &builtin_list
                                : server && strcmp(server, any_server.text) != 0 ? server_find_or_create(server)
                                                                                 : &any_server;

    set_entry(find_or_create_subject(owner, &key), kind, entry, source, 0);
}

/* --- Looking up -------------------------------------------------------------------------------------------------- */

/* True for an entry that stands behind a fault, is disputed, or is a title of an address that several computers share, unless all Windows have it. */
static bool is_entry_assumed(const state_server *server, const metadata_key *key, const metadata_entry *entry)
{
    bool is_shared = server->is_shared && key->is_title;

    return entry->is_assumed || entry->disputed_in != 0 ||
           (is_shared && g_strcmp0(find_windows_title(key), entry->name) != 0);
}

metadata_known metadata_lookup(const state_server *server, metadata_key key)
{
    const state_server *const owners[] = {server, &any_server, &builtin_list};
    const unsigned num_owners = server->is_no_windows ? 2 : 3;
    const metadata_kind kind = key.id == PERF_NO_ID ? METADATA_COUNTERSET : METADATA_COUNTER;
    const metadata_entry *name = NULL, *type = NULL;

    for (unsigned i = 0; i < num_owners && (name == NULL || (type == NULL && !key.is_title)); i++) {
        const metadata_subject *subject = find_subject(owners[i], &key);
        name = name ? name : get_entry(subject, METADATA_ENGLISH);
        type = type ? type : get_entry(subject, kind);
    }
    return (metadata_known){{name, name && is_entry_assumed(server, &key, name)},
                            {type, type && is_entry_assumed(server, &key, type)}};
}

bool metadata_title_is(const state_server *server, uint32_t title_index, const char *english)
{
    const metadata_key key = metadata_title_key(title_index);
    const metadata_subject *subject = find_subject(server, &key);
    const metadata_entry *entry = subject ? subject->entries[METADATA_ENGLISH] : NULL;

    return entry == NULL ? !server->is_no_windows
                         : !entry->is_assumed && entry->disputed_in == 0 && strcmp(entry->name, english) == 0;
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
    if (name == NULL && key->id == PERF_NO_ID) {
        return metadata_format_guid(pool, key->guid);
    }
    return name ? name->name : wmem_strdup_printf(pool, "#%u", key->id);
}

/* --- Everything that was sent ------------------------------------------------------------------------------------- */

/* Compares two subjects for sorting: by server, GUID and id, a counterset before its counters. */
static int compare_subjects(const void *a, const void *b)
{
    const metadata_subject *x = *(const metadata_subject *const *)a, *y = *(const metadata_subject *const *)b;
    int by_server = strcmp(x->key.server->text, y->key.server->text);
    int by_guid = memcmp(x->key.key.guid, y->key.key.guid, sizeof x->key.key.guid);
    uint32_t i = x->key.key.id + 1, j = y->key.key.id + 1; /* the counterset, PERF_NO_ID, comes before its counters */

    return by_server != 0 ? by_server : by_guid != 0 ? by_guid : i < j ? -1 : i > j;
}

static void append_subject(void *key _U_, void *value, void *user)
{
    wmem_array_append(user, &value, 1);
}

unsigned metadata_foreach(metadata_visitor visit, void *user)
{
    wmem_array_t *all = wmem_array_new(NULL, sizeof(metadata_subject *));
    unsigned assumed = 0;

    wmem_map_foreach(subjects, append_subject, all);
    wmem_array_sort(all, compare_subjects);
    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const metadata_subject *subject = *(metadata_subject **)wmem_array_index(all, i);
        const state_server *server = subject->key.server;
        const metadata_key *key = &subject->key.key;
        for (metadata_kind kind = 0; kind < NUM_METADATA_KINDS; kind++) {
            const metadata_entry *entry = subject->entries[kind];
            bool is_sent = entry && entry->source == METADATA_SENT;
            if (is_sent && is_entry_assumed(server, key, entry)) {
                assumed++;
            } else if (is_sent) {
                visit(server->text, key, kind, entry, user);
            }
        }
    }
    wmem_destroy_array(all);
    return assumed;
}

void metadata_register(void)
{
    subjects = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), subject_hash, subject_equal);
}
