/* queries.c
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/queries.h"

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
    unsigned hash = perf_hash_bytes(k->guid, 16, k->counter_id * 31 + k->instance_id);

    return k->utf16_size > 0 ? perf_hash_bytes(k->utf16, k->utf16_size, hash) : hash;
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
    unsigned earlier = perf_count_until(index, event, index_event);

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
    unsigned epochs = perf_count_until(handle->query->epochs, event, epoch_event);
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
