/* state.c
 * What the packets of a capture taught: names and types, handles, samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/state.h"

#include <epan/to_str.h>

#include "perf/known-countersets.h"

struct perf_server {
    address addr;
    const char *text;
    const char *interned; /* the same, as the names file's facts are keyed */
};

/* --- The maps, all emptied with the file ----------------------------------------------------------------------- */

static wmem_map_t *servers;    /* address -> perf_server */
static wmem_map_t *facts;      /* fact_key -> array of fact_version, ascending events */
static wmem_map_t *handles;    /* handle_key -> array of perf_handle *, ascending begins */
static GHashTable *file_facts; /* fact_key -> perf_fact; the names file, which outlives captures */

static uint32_t last_event;

static struct {
    perf_sample *oldest;
    perf_sample *newest;
    uint64_t bytes;
    uint64_t limit;
} samples;

typedef struct {
    const void *owner; /* perf_server, or the names file's interned address; NULL there means any */
    perf_subject subject;
    perf_fact_kind kind;
} fact_key;

typedef struct {
    uint32_t event;
    uint32_t frame;
    perf_fact fact;
} fact_version;

typedef struct {
    perf_server *server;
    perf_handle_kind kind;
    uint8_t bytes[PERF_HANDLE_SIZE];
} handle_key;

static unsigned hash_bytes(const void *bytes, size_t size, unsigned hash)
{
    return wmem_strong_hash((const uint8_t *)bytes, size) ^ hash;
}

static unsigned address_hash(const void *key)
{
    return add_address_to_hash(0, (const address *)key);
}

static gboolean address_equal(const void *a, const void *b)
{
    return addresses_equal((const address *)a, (const address *)b);
}

static unsigned fact_key_hash(const void *key)
{
    const fact_key *k = key;

    return hash_bytes(k->subject.guid, 16, g_direct_hash(k->owner) + k->subject.id * 31 + k->kind);
}

static gboolean fact_key_equal(const void *a, const void *b)
{
    const fact_key *x = a, *y = b;

    return x->owner == y->owner && x->kind == y->kind && x->subject.id == y->subject.id &&
           memcmp(x->subject.guid, y->subject.guid, 16) == 0;
}

static unsigned handle_key_hash(const void *key)
{
    const handle_key *k = key;

    return hash_bytes(k->bytes, sizeof k->bytes, g_direct_hash(k->server) + k->kind);
}

static gboolean handle_key_equal(const void *a, const void *b)
{
    const handle_key *x = a, *y = b;

    return x->server == y->server && x->kind == y->kind && memcmp(x->bytes, y->bytes, sizeof x->bytes) == 0;
}

static void reset(void)
{
    last_event = 0;
    samples.oldest = samples.newest = NULL;
    samples.bytes = 0;
}

void perf_state_register(void)
{
    if (servers) {
        return; /* by the other protocol */
    }
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), address_hash, address_equal);
    facts = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), fact_key_hash, fact_key_equal);
    handles = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), handle_key_hash, handle_key_equal);
    register_init_routine(reset);
}

uint32_t perf_next_event(void)
{
    return ++last_event;
}

perf_server *perf_server_get(const address *addr)
{
    perf_server *server = wmem_map_lookup(servers, addr);

    if (server == NULL) {
        server = wmem_new0(wmem_file_scope(), perf_server);
        copy_address_wmem(wmem_file_scope(), &server->addr, addr);
        server->text = address_to_str(wmem_file_scope(), addr);
        server->interned = g_intern_string(server->text);
        wmem_map_insert(servers, &server->addr, server);
    }
    return server;
}

const char *perf_server_address(const perf_server *server)
{
    return server->text;
}

/* Position behind the last of `count` elements whose event is not after `event`. */
static unsigned count_until(wmem_array_t *array, uint32_t event, uint32_t (*event_of)(const void *element))
{
    unsigned low = 0, high = wmem_array_get_count(array);

    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (event_of(wmem_array_index(array, middle)) <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* --- Names and types ------------------------------------------------------------------------------------------- */

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
        file_facts = NULL;
    }
}

void perf_names_file_add(const char *server, const perf_subject *subject, perf_fact_kind kind, const perf_fact *fact)
{
    fact_key key = {g_intern_string(server), *subject, kind};
    perf_fact *kept = g_memdup2(fact, sizeof *fact);

    if (file_facts == NULL) {
        file_facts = g_hash_table_new_full(fact_key_hash, fact_key_equal, g_free, free_fact);
    }
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
    unsigned earlier = count_until(versions, event, fact_version_event);
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
    fact_key key = {server->interned, *subject, kind};
    const perf_fact *fact = file_facts ? g_hash_table_lookup(file_facts, &key) : NULL;

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
    int order = strcmp(((const perf_server *)x->owner)->text, ((const perf_server *)y->owner)->text);

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
    const char *server = ((const perf_server *)key->owner)->text;
    unsigned count = wmem_array_get_count(versions);
    GHashTable *newest = g_hash_table_new(g_direct_hash, g_direct_equal);

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

/* --- Handles --------------------------------------------------------------------------------------------------- */

static uint32_t handle_begin(const void *element)
{
    return (*(perf_handle *const *)element)->begin;
}

perf_handle *perf_handle_open(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event,
                              uint32_t frame, const char *machine)
{
    handle_key key = {server, kind, {0}};
    perf_handle *handle = wmem_new0(wmem_file_scope(), perf_handle);

    memcpy(key.bytes, bytes, sizeof key.bytes);
    wmem_array_t *lives = wmem_map_lookup(handles, &key);
    if (lives == NULL) {
        lives = wmem_array_sized_new(wmem_file_scope(), sizeof(perf_handle *), 1);
        wmem_map_insert(handles, wmem_memdup(wmem_file_scope(), &key, sizeof key), lives);
    }
    handle->server = server;
    memcpy(handle->bytes, bytes, sizeof handle->bytes);
    handle->begin = event;
    handle->end = UINT32_MAX;
    handle->opened_frame = frame;
    handle->machine = machine;
    wmem_array_append_one(lives, handle);
    return handle;
}

perf_handle *perf_handle_find(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event)
{
    handle_key key = {server, kind, {0}};

    memcpy(key.bytes, bytes, sizeof key.bytes);
    wmem_array_t *lives = wmem_map_lookup(handles, &key);
    unsigned begun = lives ? count_until(lives, event, handle_begin) : 0;
    return begun > 0 ? *(perf_handle **)wmem_array_index(lives, begun - 1) : NULL;
}

perf_handle *perf_handle_use(perf_handle_kind kind, perf_server *server, const uint8_t *bytes, uint32_t event)
{
    perf_handle *handle = perf_handle_find(kind, server, bytes, event);

    return handle ? handle : perf_handle_open(kind, server, bytes, event, 0, NULL);
}

void perf_handle_close(perf_handle *handle, uint32_t event, uint32_t frame)
{
    handle->end = event;
    handle->closed_frame = frame;
}

void perf_handle_not_closed(perf_handle *handle)
{
    handle->end = UINT32_MAX;
    handle->closed_frame = 0;
}

/* --- Counters of a query --------------------------------------------------------------------------------------- */

/* Which identifier belongs to which block, from one QueryCounterInfo response. */
typedef struct {
    uint32_t event;
    uint32_t frame;
    uint32_t count;
    perf_identifier *by_index;
} index_version;

/* From one change of the query's counters to the next. The server may move all blocks with each change, so an
 * index holds for its epoch only. */
typedef struct {
    uint32_t event;
    bool complete;       /* the entries are all that the query holds */
    wmem_array_t *index; /* index_version, ascending events */
} query_epoch;

struct perf_query {
    wmem_array_t *entries; /* perf_query_entry *, in the order they were added */
    wmem_map_t *held;      /* perf_identifier -> its current perf_query_entry */
    wmem_array_t *epochs;  /* query_epoch, ascending events */
};

unsigned perf_identifier_hash(const void *key)
{
    const perf_identifier *k = key;
    unsigned hash = hash_bytes(k->guid, 16, k->counter_id * 31 + k->instance_id);

    return k->utf16_size > 0 ? hash_bytes(k->utf16, k->utf16_size, hash) : hash;
}

gboolean perf_identifier_equal(const void *a, const void *b)
{
    const perf_identifier *x = a, *y = b;

    return x->counter_id == y->counter_id && x->instance_id == y->instance_id && memcmp(x->guid, y->guid, 16) == 0 &&
           x->utf16_size == y->utf16_size && (x->utf16_size == 0 || memcmp(x->utf16, y->utf16, x->utf16_size) == 0);
}

static query_epoch *begin_epoch(struct perf_query *query, uint32_t event, bool complete)
{
    query_epoch epoch = {event, complete, wmem_array_sized_new(wmem_file_scope(), sizeof(index_version), 1)};

    wmem_array_append_one(query->epochs, epoch);
    return wmem_array_index(query->epochs, wmem_array_get_count(query->epochs) - 1);
}

static query_epoch *newest_epoch(const struct perf_query *query)
{
    return wmem_array_index(query->epochs, wmem_array_get_count(query->epochs) - 1);
}

static struct perf_query *query_of(perf_handle *handle)
{
    if (handle->query == NULL) {
        struct perf_query *query = handle->query = wmem_new0(wmem_file_scope(), struct perf_query);
        query->entries = wmem_array_sized_new(wmem_file_scope(), sizeof(perf_query_entry *), 4);
        query->held = wmem_map_new(wmem_file_scope(), perf_identifier_hash, perf_identifier_equal);
        query->epochs = wmem_array_sized_new(wmem_file_scope(), sizeof(query_epoch), 2);
        begin_epoch(query, handle->begin, handle->opened_frame != 0);
    }
    return handle->query;
}

static void copy_identifier(perf_identifier *kept, const perf_identifier *identifier)
{
    *kept = *identifier;
    if (identifier->instance) {
        kept->instance = wmem_strdup(wmem_file_scope(), identifier->instance);
    }
    if (identifier->utf16_size > 0) {
        kept->utf16 = wmem_memdup(wmem_file_scope(), identifier->utf16, identifier->utf16_size);
    }
}

static void end_entry(struct perf_query *query, const perf_identifier *identifier, uint32_t event)
{
    perf_query_entry *entry = wmem_map_remove(query->held, identifier);

    if (entry) {
        entry->until = event;
    }
}

static void add_entry(struct perf_query *query, const perf_identifier *identifier, uint32_t event)
{
    perf_query_entry *entry = wmem_new0(wmem_file_scope(), perf_query_entry);

    end_entry(query, identifier, event);
    copy_identifier(&entry->identifier, identifier);
    entry->from = event;
    entry->until = UINT32_MAX;
    wmem_array_append_one(query->entries, entry);
    wmem_map_insert(query->held, &entry->identifier, entry);
}

static bool is_held(const struct perf_query *query, const perf_identifier *identifier)
{
    const perf_query_entry *entry = wmem_map_lookup(query->held, identifier);

    return entry && entry->identifier.status == 0;
}

/* A refused identifier is kept for its verdict; one that the query holds already stays as it is. */
void perf_query_changed(perf_handle *handle, bool add, const perf_identifier *identifiers, uint32_t count,
                        uint32_t event)
{
    struct perf_query *query = query_of(handle);
    bool changed = false;

    for (uint32_t i = 0; i < count; i++) {
        bool done = identifiers[i].status == 0;
        changed |= done;
        if (!add && done) {
            end_entry(query, &identifiers[i], event);
        } else if (add && !(is_held(query, &identifiers[i]))) {
            add_entry(query, &identifiers[i], event);
        }
    }
    if (changed) {
        begin_epoch(query, event, newest_epoch(query)->complete);
    }
}

void perf_query_unknown_change(perf_handle *handle, uint32_t event)
{
    begin_epoch(query_of(handle), event, false);
}

static void end_all_entries(struct perf_query *query, uint32_t event)
{
    for (unsigned i = 0; i < wmem_array_get_count(query->entries); i++) {
        perf_query_entry *entry = *(perf_query_entry **)wmem_array_index(query->entries, i);
        if (entry->until > event) {
            end_entry(query, &entry->identifier, event);
        }
    }
}

void perf_query_info(perf_handle *handle, const perf_identifier *identifiers, uint32_t count, uint32_t event,
                     uint32_t frame)
{
    struct perf_query *query = query_of(handle);
    query_epoch *epoch = newest_epoch(query);
    index_version version = {event, frame, count, wmem_alloc0_array(wmem_file_scope(), perf_identifier, count)};

    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&version.by_index[identifiers[i].index], &identifiers[i]);
    }
    wmem_array_append_one(epoch->index, version);
    if (!epoch->complete) {
        /* the additions were not captured, but this is the whole list */
        end_all_entries(query, event);
        for (uint32_t i = 0; i < count; i++) {
            perf_identifier identifier = identifiers[i];
            identifier.status = 0;
            add_entry(query, &identifier, event);
        }
        epoch->complete = true;
    }
}

const perf_query_entry *perf_query_entries(const perf_handle *handle, uint32_t event, unsigned *next)
{
    const struct perf_query *query = handle->query;

    while (query && *next < wmem_array_get_count(query->entries)) {
        const perf_query_entry *entry = *(perf_query_entry **)wmem_array_index(query->entries, (*next)++);
        if (entry->from <= event && event < entry->until) {
            return entry;
        }
    }
    return NULL;
}

static uint32_t epoch_event(const void *element)
{
    return ((const query_epoch *)element)->event;
}

static uint32_t index_event(const void *element)
{
    return ((const index_version *)element)->event;
}

/* dwType follows from the wildcards of the query: 2 for all counters, 4 for all instances. Any block can be an error
 * instead, and what a pattern other than "*" gives is not known. */
static bool type_fits(const perf_identifier *identifier, uint32_t type)
{
    bool all_counters = identifier->counter_id == PERF_NO_ID;
    bool pattern = identifier->instance && strpbrk(identifier->instance, "*?");
    bool all_instances = pattern && strcmp(identifier->instance, "*") == 0;

    if (type == 0) {
        return true;
    }
    return all_counters == ((type & 2) != 0) && ((pattern && !all_instances) || all_instances == ((type & 4) != 0));
}

static bool assign_by_index(wmem_array_t *index, uint32_t event, const uint32_t *types, perf_assignment *assignment)
{
    unsigned count = wmem_array_get_count(index);
    unsigned earlier = count_until(index, event, index_event);

    if (count == 0) {
        return false;
    }
    const index_version *version = wmem_array_index(index, earlier > 0 ? earlier - 1 : 0);
    assignment->frame = version->frame;
    for (uint32_t i = 0; i < version->count && i < assignment->count; i++) {
        if (type_fits(&version->by_index[i], types[i])) {
            assignment->blocks[i] = &version->by_index[i];
        }
    }
    return true;
}

/* Counts the ways to give identifiers to the blocks from `block` on; remembers the first. Five identifiers or more
 * always have two of a kind, so this is never asked for more than four. */
static unsigned count_ways(const perf_identifier **identifiers, const uint32_t *types, unsigned count, unsigned block,
                           unsigned used, const perf_identifier **way)
{
    unsigned ways = 0;

    if (block == count) {
        return 1;
    }
    for (unsigned i = 0; i < count; i++) {
        if (!(used & 1U << i) && type_fits(identifiers[i], types[block])) {
            const perf_identifier *rest[4];
            unsigned found = count_ways(identifiers, types, count, block + 1, used | 1U << i, rest);
            if (found > 0 && ways == 0) {
                way[block] = identifiers[i];
                for (unsigned b = block + 1; b < count; b++) {
                    way[b] = rest[b];
                }
            }
            ways += found;
        }
    }
    return ways;
}

static bool assign_by_order(const perf_identifier **identifiers, const uint32_t *types, perf_assignment *assignment)
{
    for (uint32_t i = 0; i < assignment->count; i++) {
        if (!type_fits(identifiers[i], types[i])) {
            return false;
        }
    }
    memcpy(assignment->blocks, identifiers, assignment->count * sizeof identifiers[0]);
    assignment->assumed = true;
    return true;
}

static bool assign_without_index(wmem_allocator_t *pool, const perf_handle *handle, uint32_t event,
                                 const uint32_t *types, perf_assignment *assignment)
{
    const perf_identifier **identifiers = wmem_alloc_array(pool, const perf_identifier *, assignment->count);
    const perf_query_entry *entry;
    unsigned next = 0;
    uint32_t held = 0;

    while ((entry = perf_query_entries(handle, event, &next)) != NULL) {
        if (entry->identifier.status != 0) {
            continue;
        }
        if (held == assignment->count) {
            return false;
        }
        identifiers[held++] = &entry->identifier;
    }
    if (held != assignment->count) {
        return false;
    }
    if (held <= 4 && count_ways(identifiers, types, held, 0, 0, assignment->blocks) == 1) {
        return true;
    }
    return assign_by_order(identifiers, types, assignment);
}

bool perf_query_assign(wmem_allocator_t *pool, const perf_handle *handle, uint32_t event, const uint32_t *types,
                       uint32_t count, perf_assignment *assignment)
{
    memset(assignment, 0, sizeof *assignment);
    assignment->count = count;
    assignment->blocks = wmem_alloc0_array(pool, const perf_identifier *, count);
    if (handle == NULL || handle->query == NULL || event == 0 || count == 0) {
        return false;
    }
    unsigned epochs = count_until(handle->query->epochs, event, epoch_event);
    if (epochs == 0) {
        return false;
    }
    const query_epoch *epoch = wmem_array_index(handle->query->epochs, epochs - 1);
    if (assign_by_index(epoch->index, event, types, assignment)) {
        return true;
    }
    if (epoch->complete && assign_without_index(pool, handle, event, types, assignment)) {
        return true;
    }
    memset(assignment->blocks, 0, count * sizeof assignment->blocks[0]);
    return false;
}

/* --- Samples --------------------------------------------------------------------------------------------------- */

void perf_sample_limit(uint64_t bytes)
{
    samples.limit = bytes;
}

static void drop_oldest(void)
{
    perf_sample *oldest = samples.oldest;

    samples.oldest = oldest->newer;
    samples.bytes -= oldest->size;
    wmem_free(wmem_file_scope(), oldest->bytes);
    oldest->bytes = NULL;
}

perf_sample *perf_sample_keep(perf_handle *handle, const uint8_t *bytes, uint32_t size, uint32_t event, uint32_t frame)
{
    perf_sample *sample = wmem_new0(wmem_file_scope(), perf_sample);

    sample->handle = handle;
    sample->event = event;
    sample->frame = frame;
    sample->bytes = wmem_memdup(wmem_file_scope(), bytes, size);
    sample->size = size;
    sample->previous = handle->newest;
    handle->newest = sample;

    if (samples.oldest == NULL) {
        samples.oldest = sample;
    } else {
        samples.newest->newer = sample;
    }
    samples.newest = sample;
    samples.bytes += size;
    while (samples.bytes > samples.limit && samples.oldest != sample) {
        drop_oldest();
    }
    return sample;
}

void perf_sample_holds(perf_sample *sample, const uint32_t *indexes, uint32_t count)
{
    perf_handle *handle = sample->handle;

    if (handle->objects == NULL) {
        handle->objects = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    sample->objects = wmem_alloc0_array(wmem_file_scope(), perf_object, count);
    sample->num_objects = count;
    for (uint32_t i = 0; i < count; i++) {
        sample->objects[i].sample = sample;
        sample->objects[i].previous = wmem_map_lookup(handle->objects, GUINT_TO_POINTER(indexes[i]));
    }
    for (uint32_t i = count; i-- > 0;) {
        wmem_map_insert(handle->objects, GUINT_TO_POINTER(indexes[i]), &sample->objects[i]);
    }
}
