/* facts.c
 * Names and types: what is known of countersets, counters and title indexes, and where from.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/facts.h"

#include "perf/hash.h"
#include "perf/known-countersets.h"

static wmem_map_t *facts;        /* fact_key -> array of fact_version, ascending events; emptied with the file */
static GHashTable *file_facts;   /* fact_key -> perf_fact; the names file, which outlives captures */
static GHashTable *file_servers; /* addresses that it names; emptied with it */

typedef struct {
    const void *owner; /* perf_server, or an address of file_servers; NULL there means any */
    perf_subject subject;
    perf_fact_kind kind;
} fact_key;

typedef struct {
    uint32_t event;
    uint32_t frame;
    perf_fact fact;
} fact_version;

static unsigned fact_key_hash(const void *key)
{
    const fact_key *k = key;

    /* the lower half of an address and the id beside each other: no id makes up for another server */
    return perf_hash(k->subject.guid, 16, (uintptr_t)k->owner + ((uint64_t)k->subject.id << 32) + k->kind);
}

static gboolean fact_key_equal(const void *a, const void *b)
{
    const fact_key *x = a, *y = b;

    return x->owner == y->owner && x->kind == y->kind && x->subject.id == y->subject.id &&
           memcmp(x->subject.guid, y->subject.guid, 16) == 0;
}

static uint32_t fact_version_event(const void *element)
{
    return ((const fact_version *)element)->event;
}

static bool same_fact(perf_fact_kind kind, const perf_fact *a, const perf_fact *b)
{
    switch (kind) {
    case PERF_FACT_COUNTER:
        return memcmp(&a->counter, &b->counter, sizeof a->counter) == 0;
    case PERF_FACT_SET:
        return a->instance_type == b->instance_type;
    default:
        return a->lcid == b->lcid && strcmp(a->name, b->name) == 0;
    }
}

void perf_learn(perf_server *server, const perf_subject *subject, perf_fact_kind kind, const perf_fact *fact,
                uint32_t event, uint32_t frame)
{
    fact_key key = {server, *subject, kind};
    wmem_array_t *versions = wmem_map_lookup(facts, &key);
    fact_version version = {event, frame, *fact};

    if (versions == NULL) {
        fact_key *kept = wmem_memdup(wmem_file_scope(), &key, sizeof key);
        versions = wmem_array_sized_new(wmem_file_scope(), sizeof(fact_version), 1);
        wmem_map_insert(facts, kept, versions);
    } else {
        const fact_version *newest = wmem_array_index(versions, wmem_array_get_count(versions) - 1);
        if (same_fact(kind, &newest->fact, fact)) {
            return; /* browsing again teaches nothing new */
        }
    }
    version.fact.name = fact->name ? wmem_strdup(wmem_file_scope(), fact->name) : NULL;
    wmem_array_append_one(versions, version);
    perf_server_taught(server);
}

static void free_fact(void *data)
{
    perf_fact *fact = data;

    g_free((char *)fact->name);
    g_free(fact);
}

void perf_names_file_clear(void)
{
    if (file_facts) {
        g_hash_table_destroy(file_facts);
        g_hash_table_destroy(file_servers);
        file_facts = file_servers = NULL;
    }
}

/* One copy of each address that the names file names. */
static const char *file_server(const char *server)
{
    char *kept = g_hash_table_lookup(file_servers, server);

    if (kept == NULL) {
        kept = g_strdup(server);
        g_hash_table_add(file_servers, kept);
    }
    return kept;
}

void perf_names_file_add(const char *server, const perf_subject *subject, perf_fact_kind kind, const perf_fact *fact)
{
    fact_key key = {NULL, *subject, kind};
    perf_fact *kept = g_memdup2(fact, sizeof *fact);

    if (file_facts == NULL) {
        file_facts = g_hash_table_new_full(fact_key_hash, fact_key_equal, g_free, free_fact);
        file_servers = g_hash_table_new_full(perf_hash_text, g_str_equal, g_free, NULL);
    }
    key.owner = server ? file_server(server) : NULL;
    kept->name = g_strdup(fact->name);
    g_hash_table_replace(file_facts, g_memdup2(&key, sizeof key), kept);
}

static perf_known from_capture(perf_server *server, const perf_subject *subject, perf_fact_kind kind, uint32_t event,
                               perf_source source)
{
    fact_key key = {server, *subject, kind};
    wmem_array_t *versions = wmem_map_lookup(facts, &key);
    perf_known known = {NULL, PERF_SOURCE_NONE, 0};

    if (versions == NULL || event == 0) {
        return known;
    }
    unsigned earlier = perf_count_until(versions, event, fact_version_event);
    const fact_version *version = NULL;
    if (source == PERF_SOURCE_EARLIER && earlier > 0) {
        version = wmem_array_index(versions, earlier - 1);
    } else if (source == PERF_SOURCE_LATER && earlier < wmem_array_get_count(versions)) {
        version = wmem_array_index(versions, earlier);
    }
    if (version) {
        known = (perf_known){&version->fact, source, version->frame};
    }
    return known;
}

static perf_known from_file(const perf_server *server, const perf_subject *subject, perf_fact_kind kind)
{
    fact_key key = {NULL, *subject, kind};
    const perf_fact *fact = NULL;

    if (file_facts) {
        key.owner = g_hash_table_lookup(file_servers, perf_server_address(server));
        fact = key.owner ? g_hash_table_lookup(file_facts, &key) : NULL;
    }
    if (file_facts && fact == NULL) {
        key.owner = NULL;
        fact = g_hash_table_lookup(file_facts, &key);
    }
    return (perf_known){fact, fact ? PERF_SOURCE_FILE : PERF_SOURCE_NONE, 0};
}

bool perf_subject_is_title(const perf_subject *subject)
{
    static const uint8_t no_guid[16];

    return memcmp(subject->guid, no_guid, sizeof no_guid) == 0;
}

static bool fill_builtin(const perf_subject *subject, perf_fact_kind kind, perf_fact *fact)
{
    const perf_known_counterset *set = perf_known_counterset_find(subject->guid);
    const perf_known_counter *counter = set ? perf_known_counter_find(set, subject->id) : NULL;

    if (kind == PERF_FACT_ENGLISH) {
        fact->name = perf_subject_is_title(subject)     ? perf_known_title(subject->id)
                     : set && subject->id == PERF_NO_ID ? set->name
                     : counter                          ? counter->name
                                                        : NULL;
        return fact->name != NULL;
    }
    if (kind == PERF_FACT_COUNTER && counter && counter->type_known) {
        fact->counter.type = counter->type;
        fact->counter.base_id = counter->base_id;
        return true;
    }
    return false;
}

/* The built-in list's rows as facts; they are made once and live as long as the program. */
static const perf_fact *builtin_fact(const perf_subject *subject, perf_fact_kind kind)
{
    static wmem_map_t *made;
    fact_key key = {NULL, *subject, kind};
    perf_fact fact = {NULL, 0, {0, PERF_NO_ID, PERF_NO_ID, PERF_NO_ID, PERF_NO_ID, 0}, 0};

    if (made == NULL) {
        made = wmem_map_new(wmem_epan_scope(), fact_key_hash, fact_key_equal);
    }
    perf_fact *found = wmem_map_lookup(made, &key);
    if (found) {
        return found;
    }
    if (!fill_builtin(subject, kind, &fact)) {
        return NULL;
    }
    found = wmem_memdup(wmem_epan_scope(), &fact, sizeof fact);
    wmem_map_insert(made, wmem_memdup(wmem_epan_scope(), &key, sizeof key), found);
    return found;
}

static perf_known find_fact(perf_server *server, const perf_subject *subject, perf_fact_kind kind, uint32_t event,
                            perf_source source)
{
    if (source == PERF_SOURCE_FILE) {
        return from_file(server, subject, kind);
    }
    if (source == PERF_SOURCE_BUILTIN) {
        const perf_fact *fact = builtin_fact(subject, kind);
        return (perf_known){fact, fact ? source : PERF_SOURCE_NONE, 0};
    }
    return from_capture(server, subject, kind, event, source);
}

perf_known perf_lookup_name(perf_server *server, const perf_subject *subject, uint32_t event)
{
    perf_known known = {NULL, PERF_SOURCE_NONE, 0};

    for (perf_source source = PERF_SOURCE_EARLIER; !known.fact && source <= PERF_SOURCE_BUILTIN; source++) {
        known = find_fact(server, subject, PERF_FACT_ENGLISH, event, source);
        if (!known.fact) {
            known = find_fact(server, subject, PERF_FACT_LOCAL, event, source);
        }
    }
    return known;
}

static perf_known best_source(perf_server *server, const perf_subject *subject, perf_fact_kind kind, uint32_t event)
{
    perf_known known = {NULL, PERF_SOURCE_NONE, 0};

    for (perf_source source = PERF_SOURCE_EARLIER; !known.fact && source <= PERF_SOURCE_BUILTIN; source++) {
        known = find_fact(server, subject, kind, event, source);
    }
    return known;
}

perf_known perf_lookup_counter(perf_server *server, const perf_subject *subject, uint32_t event)
{
    return best_source(server, subject, PERF_FACT_COUNTER, event);
}

perf_known perf_lookup_set(perf_server *server, const perf_subject *subject, uint32_t event)
{
    return best_source(server, subject, PERF_FACT_SET, event);
}

static int compare_keys(const void *a, const void *b)
{
    const fact_key *x = *(const fact_key *const *)a, *y = *(const fact_key *const *)b;
    int order = strcmp(perf_server_address(x->owner), perf_server_address(y->owner));

    if (order == 0) {
        order = memcmp(x->subject.guid, y->subject.guid, 16);
    }
    if (order == 0) {
        /* what is said of the counterset itself comes before its counters */
        uint32_t i = x->subject.id + 1, j = y->subject.id + 1;
        order = i < j ? -1 : i > j;
    }
    return order != 0 ? order : (int)x->kind - (int)y->kind;
}

static void append_key(void *key, void *value _U_, void *user)
{
    wmem_array_append(user, &key, 1);
}

/* The newest version; of names in other languages that of each language, the newest last. */
static void visit_versions(const fact_key *key, wmem_array_t *versions, perf_fact_visitor visit, void *user)
{
    const char *server = perf_server_address(key->owner);
    unsigned count = wmem_array_get_count(versions);
    GHashTable *newest = g_hash_table_new(perf_hash_direct, g_direct_equal);

    for (unsigned i = 0; i < count; i++) {
        const fact_version *version = wmem_array_index(versions, i);
        g_hash_table_replace(newest, GUINT_TO_POINTER(version->fact.lcid), GUINT_TO_POINTER(i));
    }
    for (unsigned i = 0; i < count; i++) {
        const fact_version *version = wmem_array_index(versions, i);
        void *last = g_hash_table_lookup(newest, GUINT_TO_POINTER(version->fact.lcid));
        if (key->kind == PERF_FACT_LOCAL ? GPOINTER_TO_UINT(last) == i : i == count - 1) {
            visit(server, &key->subject, key->kind, &version->fact, user);
        }
    }
    g_hash_table_destroy(newest);
}

void perf_facts_visit(perf_fact_visitor visit, void *user)
{
    wmem_array_t *keys = wmem_array_new(NULL, sizeof(fact_key *));

    wmem_map_foreach(facts, append_key, keys);
    wmem_array_sort(keys, compare_keys);
    for (unsigned i = 0; i < wmem_array_get_count(keys); i++) {
        const fact_key *key = *(fact_key **)wmem_array_index(keys, i);
        wmem_array_t *versions = wmem_map_lookup(facts, key);
        visit_versions(key, versions, visit, user);
    }
    wmem_destroy_array(keys);
}

void perf_facts_register(void)
{
    facts = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), fact_key_hash, fact_key_equal);
}
