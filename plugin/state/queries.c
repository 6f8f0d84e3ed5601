/* queries.c
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/queries.h"

#include "state/spans.h"

/* From one change of the query's counters to the next. The server may move all blocks with each change, so an
 * index holds for its epoch only. */
struct state_query_epoch {
    struct state_query *query;
    uint32_t event;
    bool complete;      /* the entries are all that the query holds */
    wmem_array_t *told; /* state_query_index, ascending events, shared where nothing changed in between; or NULL */
};

/* How many entries held from an event on. */
typedef struct {
    uint32_t event;
    uint32_t held;
    uint32_t refused;
} counts_at;

/* A change of the counters that was asked for. */
typedef struct {
    uint32_t event;
    bool answered;
} asked_change;

struct state_query {
    wmem_array_t *entries;  /* state_query_entry *, in the order they were added */
    state_spans spans;      /* of the entries */
    state_spans held_spans; /* the same, with 0 for those of refused identifiers */
    wmem_map_t *current;    /* state_identifier -> its current state_query_entry */
    wmem_array_t *epochs;   /* state_query_epoch, ascending events */
    wmem_array_t *counts;   /* counts_at, ascending events */
    counts_at now;
    wmem_array_t *changes;     /* asked_change, ascending events */
    unsigned first_change;     /* of those that no later call has overtaken */
    uint32_t overtaken;        /* changes without an answer when a later call had one */
    uint32_t overtaken_before; /* event of the latest such call's request */
    uint32_t told_before;      /* the same of the calls that told what came of them */
    bool complete;             /* of the newest epoch, and what it was told, but for the changes that were overtaken */
    wmem_array_t *told;
    /* what assign_anew() found last: the answers of a query mostly have the same blocks */
    struct {
        uint32_t epoch; /* its event */
        uint32_t count;
        uint32_t room;
        uint32_t *types;
        const state_identifier **blocks;
        bool *assumed;
    } last;
};

/* --- Names of instances ---------------------------------------------------------------------------------------- */

/* A name is kept once, whatever number of identifiers has it, and looked over once. */
typedef struct {
    const uint8_t *utf16;
    uint32_t size;
    uint64_t digest;
    const char *instance;
    state_asks asks;
} kept_name;

static wmem_map_t *names; /* kept_name -> itself, emptied with the file */

/* One hash of 32 bits would be the same for two of so many names. */
uint64_t query_name_digest(const uint8_t *utf16, uint32_t size)
{
    if (size == 0) {
        return 1; /* there may be no bytes to point at */
    }
    uint32_t half = size / 2;
    uint64_t whole = wmem_strong_hash(utf16, size);
    uint32_t halves = wmem_strong_hash(utf16, half) * 31 + wmem_strong_hash(utf16 + half, size - half);

    return MAX(1, whole << 32 | halves);
}

static unsigned name_hash(const void *key)
{
    return (unsigned)((const kept_name *)key)->digest;
}

/* Digests are keyed and of 64 bits; names that were compared byte by byte for each identifier could be megabytes long. */
static gboolean name_equal(const void *a, const void *b)
{
    const kept_name *x = a, *y = b;

    return x->digest == y->digest && x->size == y->size;
}

static state_asks asks_for(const char *instance)
{
    return instance == NULL || strpbrk(instance, "*?") == NULL ? PERF_ASKS_ONE
           : strcmp(instance, "*") == 0                        ? PERF_ASKS_ALL
                                                               : PERF_ASKS_PATTERN;
}

static const kept_name *keep_name(const state_identifier *identifier)
{
    uint64_t digest = query_name_digest(identifier->utf16, identifier->utf16_size);
    kept_name key = {identifier->utf16, identifier->utf16_size, digest, NULL, PERF_ASKS_ONE};
    kept_name *name = wmem_map_lookup(names, &key);

    if (name == NULL) {
        name = wmem_memdup(wmem_file_scope(), &key, sizeof key);
        name->utf16 = wmem_memdup(wmem_file_scope(), key.utf16, key.size);
        name->instance = identifier->instance ? wmem_strdup(wmem_file_scope(), identifier->instance) : NULL;
        name->asks = asks_for(name->instance);
        wmem_map_insert(names, name, name);
    }
    return name;
}

static void copy_identifier(state_identifier *kept, const state_identifier *identifier)
{
    *kept = *identifier;
    if (identifier->utf16_size > 0) {
        const kept_name *name = keep_name(identifier);
        kept->instance = name->instance;
        kept->utf16 = name->utf16;
        kept->asks = name->asks;
        kept->digest = name->digest;
    }
}

static uint64_t digest_of(const state_identifier *identifier)
{
    return identifier->digest != 0 || identifier->utf16_size == 0
               ? identifier->digest
               : query_name_digest(identifier->utf16, identifier->utf16_size);
}

unsigned query_identifier_hash(const void *key)
{
    const state_identifier *k = key;
    uint64_t asked = digest_of(k) ^ ((uint64_t)k->counter_id << 32 | k->instance_id);

    return wmem_strong_hash(k->guid, sizeof k->guid) + wmem_int64_hash(&asked);
}

gboolean query_identifier_equal(const void *a, const void *b)
{
    const state_identifier *x = a, *y = b;

    return x->counter_id == y->counter_id && x->instance_id == y->instance_id && memcmp(x->guid, y->guid, 16) == 0 &&
           x->utf16_size == y->utf16_size && digest_of(x) == digest_of(y);
}

void queries_register(void)
{
    names = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), name_hash, name_equal);
}

/* --- What a query holds ---------------------------------------------------------------------------------------- */

/* Where the answer to a change is missing nothing is known. */
static void begin_epoch(struct state_query *query, uint32_t event)
{
    bool known = query->overtaken == 0;
    state_query_epoch epoch = {query, event, known && query->complete, known ? query->told : NULL};

    wmem_array_append_one(query->epochs, epoch);
}

static state_query_epoch *newest_epoch(const struct state_query *query)
{
    return wmem_array_index(query->epochs, wmem_array_get_count(query->epochs) - 1);
}

/* The blocks moved. */
static void begin_changed_epoch(struct state_query *query, uint32_t event, bool complete)
{
    query->complete = complete;
    query->told = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_index), 1);
    begin_epoch(query, event);
}

static struct state_query *query_of(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        query->entries = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_entry *), 4);
        query->changes = wmem_array_sized_new(wmem_file_scope(), sizeof(asked_change), 1);
        query->current = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
        query->counts = wmem_array_new(wmem_file_scope(), sizeof(counts_at));
        query->epochs = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_epoch), 2);
        begin_changed_epoch(query, handle->begin, handle->opened_frame != 0);
    }
    return handle->query;
}

static uint32_t *count_of(struct state_query *query, const state_query_entry *entry)
{
    return entry->identifier.status == 0 ? &query->now.held : &query->now.refused;
}

static void end_entry(struct state_query *query, const state_identifier *identifier, uint32_t event)
{
    state_query_entry *entry = wmem_map_remove(query->current, identifier);

    if (entry) {
        spans_set_end(&query->spans, entry->number, event);
        if (entry->identifier.status == 0) {
            spans_set_end(&query->held_spans, entry->number, event);
        }
        --*count_of(query, entry);
    }
}

static void add_entry(struct state_query *query, const state_identifier *identifier, uint32_t event)
{
    state_query_entry *entry = wmem_new0(wmem_file_scope(), state_query_entry);

    end_entry(query, identifier, event);
    copy_identifier(&entry->identifier, identifier);
    entry->from = event;
    entry->number = wmem_array_get_count(query->entries);
    wmem_array_append_one(query->entries, entry);
    spans_append(&query->spans, UINT32_MAX);
    spans_append(&query->held_spans, identifier->status == 0 ? UINT32_MAX : 0);
    wmem_map_insert(query->current, &entry->identifier, entry);
    ++*count_of(query, entry);
}

/* Behind the last change of an event. */
static void note_counts(struct state_query *query, uint32_t event)
{
    query->now.event = event;
    wmem_array_append_one(query->counts, query->now);
}

static bool is_held(const struct state_query *query, const state_identifier *identifier)
{
    const state_query_entry *entry = wmem_map_lookup(query->current, identifier);

    return entry && entry->identifier.status == 0;
}

/* A refused identifier is kept for its verdict; one that the query holds already stays as it is. */
void query_changed(state_handle *handle, bool add, const state_identifier *identifiers, uint32_t count, uint32_t event)
{
    struct state_query *query = query_of(handle);
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
    note_counts(query, event);
    if (changed) {
        begin_changed_epoch(query, event, query->complete);
    }
}

void query_unknown_change(state_handle *handle, uint32_t event)
{
    begin_changed_epoch(query_of(handle), event, false);
}

void query_change_asked(state_handle *handle, uint32_t event)
{
    asked_change change = {event, false};

    wmem_array_append_one(query_of(handle)->changes, change);
}

static asked_change *change_at(const struct state_query *query, unsigned i)
{
    return wmem_array_index(query->changes, i);
}

void query_answered(state_handle *handle, uint32_t asked, uint32_t event)
{
    struct state_query *query = query_of(handle);
    uint32_t before = query->overtaken;

    while (query->first_change < wmem_array_get_count(query->changes) &&
           change_at(query, query->first_change)->event < asked) {
        query->overtaken += !change_at(query, query->first_change++)->answered;
    }
    if (query->overtaken > before) {
        query->overtaken_before = asked;
        begin_epoch(query, event);
    }
}

static uint32_t change_event(const void *element)
{
    return ((const asked_change *)element)->event;
}

void query_change_answered(state_handle *handle, uint32_t asked, uint32_t event)
{
    struct state_query *query = query_of(handle);
    unsigned number = event_count_until(query->changes, asked, change_event);

    if (asked >= query->overtaken_before) {
        change_at(query, number - 1)->answered = true;
    } else if (asked >= query->told_before && --query->overtaken == 0) {
        begin_epoch(query, event);
    }
}

static void end_all_entries(struct state_query *query, uint32_t event)
{
    unsigned i = 0;

    while ((i = spans_next(&query->spans, i, event)) < spans_count(&query->spans)) {
        const state_query_entry *entry = *(state_query_entry **)wmem_array_index(query->entries, i);
        end_entry(query, &entry->identifier, event);
    }
}

/* The whole list where it was not known. */
static void hold_these(struct state_query *query, const state_identifier *identifiers, uint32_t count, uint32_t event)
{
    end_all_entries(query, event);
    for (uint32_t i = 0; i < count; i++) {
        state_identifier identifier = identifiers[i];
        identifier.status = 0;
        add_entry(query, &identifier, event);
    }
    note_counts(query, event);
}

static bool holds_these(const struct state_query *query, const state_identifier *identifiers, uint32_t count)
{
    uint32_t held = 0;

    for (uint32_t i = 0; i < count; i++) {
        held += is_held(query, &identifiers[i]);
    }
    return held == count && count == query->now.held;
}

/* Who asked behind a change whose answer is missing is told what came of it. Who is told of other counters than those that
 * are known missed a change. */
static void begin_told_epoch(struct state_query *query, const state_identifier *identifiers, uint32_t count,
                             uint32_t asked, uint32_t event)
{
    if (query->overtaken > 0 || (query->complete && !holds_these(query, identifiers, count))) {
        query->overtaken = 0;
        query->told_before = asked;
        begin_changed_epoch(query, event, false);
    }
    if (!query->complete) {
        hold_these(query, identifiers, count, event);
        query->complete = newest_epoch(query)->complete = true;
    }
}

void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t asked,
                uint32_t event, uint32_t frame)
{
    struct state_query *query = query_of(handle);
    state_query_index version = {event, frame, count, wmem_alloc0_array(wmem_file_scope(), state_identifier, count)};

    begin_told_epoch(query, identifiers, count, asked, event);
    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&version.by_index[identifiers[i].index], &identifiers[i]);
    }
    wmem_array_append_one(query->told, version);
}

static uint32_t counts_event(const void *element)
{
    return ((const counts_at *)element)->event;
}

void query_counts(const state_handle *handle, uint32_t event, unsigned *held, unsigned *refused)
{
    const struct state_query *query = handle->query;
    unsigned changes = query ? event_count_until(query->counts, event, counts_event) : 0;
    const counts_at *counts = changes > 0 ? wmem_array_index(query->counts, changes - 1) : NULL;

    *held = counts ? counts->held : 0;
    *refused = counts ? counts->refused : 0;
}

static const state_query_entry *next_entry(const struct state_query *query, const state_spans *spans, uint32_t event,
                                           unsigned *next)
{
    *next = spans_next(spans, *next, event);
    if (*next == spans_count(spans)) {
        return NULL;
    }
    const state_query_entry *entry = *(state_query_entry **)wmem_array_index(query->entries, (*next)++);
    return entry->from <= event ? entry : NULL;
}

const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next)
{
    return handle->query ? next_entry(handle->query, &handle->query->spans, event, next) : NULL;
}

static uint32_t epoch_event(const void *element)
{
    return ((const state_query_epoch *)element)->event;
}

static uint32_t index_event(const void *element)
{
    return ((const state_query_index *)element)->event;
}

/* dwType follows from the wildcards of the query: 2 for all counters, 4 for all instances. Any block can be an error
 * instead, and what a pattern other than "*" gives is not known. */
bool query_identifier_fits(const state_identifier *identifier, uint32_t type)
{
    bool all_counters = identifier->counter_id == PERF_NO_ID;
    bool all_instances = identifier->asks == PERF_ASKS_ALL;

    if (type == 0) {
        return true;
    }
    return all_counters == ((type & 2) != 0) &&
           (identifier->asks == PERF_ASKS_PATTERN || all_instances == ((type & 4) != 0));
}

const state_query_epoch *query_epoch_at(const state_handle *handle, uint32_t event)
{
    wmem_array_t *epochs = handle && handle->query && event != 0 ? handle->query->epochs : NULL;
    unsigned earlier = epochs ? event_count_until(epochs, event, epoch_event) : 0;

    return earlier > 0 ? wmem_array_index(epochs, earlier - 1) : NULL;
}

bool query_is_complete(const state_handle *handle, uint32_t event)
{
    const state_query_epoch *epoch = query_epoch_at(handle, event);

    return epoch && epoch->complete;
}

bool query_is_told(const state_query_epoch *epoch)
{
    return epoch && epoch->told && wmem_array_get_count(epoch->told) > 0;
}

const state_query_index *query_index_at(const state_query_epoch *epoch, uint32_t event, uint32_t blocks)
{
    if (!query_is_told(epoch)) {
        return NULL;
    }
    unsigned earlier = event_count_until(epoch->told, event, index_event);
    const state_query_index *told = wmem_array_index(epoch->told, earlier > 0 ? earlier - 1 : 0);
    return told->count == blocks ? told : NULL;
}

/* --- Without an index ------------------------------------------------------------------------------------------ */

/* Identifiers of one class fit the same types, so do blocks of one type: no two of a kind can be told apart. */
#define NUM_CLASSES 6
#define NUM_TYPES 5

static const uint32_t class_types[NUM_TYPES] = {0, 1, 2, 4, 6};

typedef struct {
    unsigned members[NUM_CLASSES];
    unsigned blocks[NUM_TYPES];
    unsigned fits[NUM_TYPES]; /* classes, as bits */
} class_match;

static unsigned class_of(const state_identifier *identifier)
{
    return (unsigned)identifier->asks * 2 + (identifier->counter_id == PERF_NO_ID);
}

static unsigned type_number(uint32_t type)
{
    unsigned i = 0;

    while (i < NUM_TYPES && class_types[i] != type) {
        i++;
    }
    return i;
}

/* Hall's condition: whatever types are chosen, there are enough identifiers for their blocks. */
static bool can_match(const class_match *match)
{
    for (unsigned chosen = 1; chosen < 1U << NUM_TYPES; chosen++) {
        unsigned blocks = 0, members = 0, classes = 0;
        for (unsigned t = 0; t < NUM_TYPES; t++) {
            if (chosen & 1U << t) {
                blocks += match->blocks[t];
                classes |= match->blocks[t] > 0 ? match->fits[t] : 0;
            }
        }
        for (unsigned c = 0; c < NUM_CLASSES; c++) {
            members += classes & 1U << c ? match->members[c] : 0;
        }
        if (blocks > members) {
            return false;
        }
    }
    return true;
}

static bool count_classes(const state_identifier **identifiers, const uint32_t *types, uint32_t count,
                          class_match *match)
{
    memset(match, 0, sizeof *match);
    for (uint32_t i = 0; i < count; i++) {
        unsigned type = type_number(types[i]);
        if (type == NUM_TYPES) {
            return false;
        }
        match->blocks[type]++;
        match->members[class_of(identifiers[i])]++;
        for (unsigned t = 0; t < NUM_TYPES; t++) {
            match->fits[t] |=
                query_identifier_fits(identifiers[i], class_types[t]) ? 1U << class_of(identifiers[i]) : 0;
        }
    }
    return can_match(match);
}

/* The class whose only member the only block of a type belongs to, in every way to match them; NUM_CLASSES if there is
 * none. */
static unsigned only_class(class_match match, unsigned type)
{
    for (unsigned c = 0; c < NUM_CLASSES && match.blocks[type] == 1; c++) {
        if (match.members[c] == 1 && match.fits[type] & 1U << c) {
            class_match without = match;
            without.fits[type] &= ~(1U << c);
            if (!can_match(&without)) {
                return c;
            }
        }
    }
    return NUM_CLASSES;
}

/* Names the blocks that only one identifier fits. Returns how many. */
static uint32_t assign_certain(const state_identifier **identifiers, const uint32_t *types,
                               state_assignment *assignment)
{
    class_match match;
    unsigned owner[NUM_TYPES];
    const state_identifier *member[NUM_CLASSES + 1] = {NULL};
    uint32_t certain = 0;

    if (!count_classes(identifiers, types, assignment->count, &match)) {
        return 0;
    }
    for (unsigned t = 0; t < NUM_TYPES; t++) {
        owner[t] = only_class(match, t);
    }
    for (uint32_t i = 0; i < assignment->count; i++) {
        member[class_of(identifiers[i])] = identifiers[i];
    }
    for (uint32_t i = 0; i < assignment->count; i++) {
        unsigned c = owner[type_number(types[i])];
        assignment->blocks[i] = c < NUM_CLASSES ? member[c] : NULL;
        certain += c < NUM_CLASSES;
    }
    return certain;
}

static bool assign_by_order(const state_identifier **identifiers, const uint32_t *types, state_assignment *assignment)
{
    for (uint32_t i = 0; i < assignment->count; i++) {
        if (!query_identifier_fits(identifiers[i], types[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < assignment->count; i++) {
        assignment->assumed[i] = assignment->blocks[i] == NULL;
        assignment->blocks[i] = identifiers[i];
    }
    return true;
}

static bool assign_anew(wmem_allocator_t *pool, const struct state_query *query, uint32_t event, const uint32_t *types,
                        state_assignment *assignment)
{
    const state_identifier **identifiers = wmem_alloc_array(pool, const state_identifier *, assignment->count);
    const state_query_entry *entry;
    unsigned next = 0;
    uint32_t held = 0;

    while ((entry = next_entry(query, &query->held_spans, event, &next)) != NULL) {
        if (held == assignment->count) {
            return false;
        }
        identifiers[held++] = &entry->identifier;
    }
    if (held != assignment->count) {
        return false;
    }
    uint32_t certain = assign_certain(identifiers, types, assignment);
    return certain == held || assign_by_order(identifiers, types, assignment) || certain > 0;
}

/* Which entries hold changes with the epoch alone. */
static bool assign_as_last(const state_query_epoch *epoch, const uint32_t *types, state_assignment *assignment)
{
    const struct state_query *query = epoch->query;
    uint32_t count = assignment->count;

    if (query->last.epoch != epoch->event || query->last.count != count ||
        memcmp(query->last.types, types, count * sizeof types[0]) != 0) {
        return false;
    }
    memcpy(assignment->blocks, query->last.blocks, count * sizeof assignment->blocks[0]);
    memcpy(assignment->assumed, query->last.assumed, count * sizeof assignment->assumed[0]);
    return true;
}

static void keep_assignment(const state_query_epoch *epoch, const uint32_t *types, const state_assignment *assignment)
{
    struct state_query *query = epoch->query;
    uint32_t count = assignment->count;

    if (query->last.room < count) {
        query->last.types = wmem_realloc(wmem_file_scope(), query->last.types, count * sizeof types[0]);
        query->last.blocks = wmem_realloc(wmem_file_scope(), query->last.blocks, count * sizeof assignment->blocks[0]);
        query->last.assumed =
            wmem_realloc(wmem_file_scope(), query->last.assumed, count * sizeof assignment->assumed[0]);
        query->last.room = count;
    }
    query->last.epoch = epoch->event;
    query->last.count = count;
    memcpy(query->last.assumed, assignment->assumed, count * sizeof assignment->assumed[0]);
    memcpy(query->last.types, types, count * sizeof types[0]);
    memcpy(query->last.blocks, assignment->blocks, count * sizeof assignment->blocks[0]);
}

bool query_assign(wmem_allocator_t *pool, const state_query_epoch *epoch, uint32_t event, const uint32_t *types,
                  uint32_t count, state_assignment *assignment)
{
    memset(assignment, 0, sizeof *assignment);
    assignment->count = count;
    assignment->blocks = wmem_alloc0_array(pool, const state_identifier *, count);
    assignment->assumed = wmem_alloc0_array(pool, bool, count);
    if (epoch == NULL || !epoch->complete || count == 0) {
        return false;
    }
    if (assign_as_last(epoch, types, assignment)) {
        return true;
    }
    if (assign_anew(pool, epoch->query, event, types, assignment)) {
        keep_assignment(epoch, types, assignment);
        return true;
    }
    memset(assignment->blocks, 0, count * sizeof assignment->blocks[0]);
    return false;
}
