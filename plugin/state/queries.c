/* queries.c
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/queries.h"

#include "state/samples.h"

/* From one change of the query's counters to the next. The server may move all blocks with each change, so an
 * index holds for its epoch only. */
struct state_query_epoch {
    uint32_t event;
    struct state_query *query;
    bool complete;                   /* the entries are all that the query holds */
    bool unanswered;                 /* changes without an answer may have changed it */
    bool doubted;                    /* calls are missing that may have changed it, */
    const state_query_index *before; /* since this was told, NULL without */
    wmem_array_t *told;    /* state_query_index, ascending events, shared where nothing changed in between; or NULL */
    uint32_t assumed_from; /* what was learned later: behind this event the query may have changed unseen */
};

/* Entries in the order they were added. Those that ended stay until they are as many as the others, which go on in an
 * array of their own then: whoever has the old one finds there what held at his event. */
typedef struct {
    wmem_array_t *entries; /* state_query_entry * */
    uint32_t held;         /* of them, that have not ended */
} entry_list;

/* What held from an event on. */
typedef struct {
    uint32_t event;
    entry_list all;
    entry_list accepted; /* the same without those of refused identifiers */
} held_at;

/* A change of the counters that was asked for. */
typedef struct {
    uint32_t event;            /* of its request */
    uint32_t response_event;   /* 0 as long as there is none */
    const uint32_t *end_frame; /* *: of the response or fault, read or not; 0 as long as there is none */
} query_change;

/* The same, found by its response. */
typedef struct {
    uint32_t event; /* of the response */
    uint32_t request_event;
} answered_change;

struct state_query {
    held_at now;
    wmem_array_t *held;        /* held_at, ascending events */
    wmem_map_t *current;       /* state_identifier -> its current state_query_entry */
    wmem_array_t *epochs;      /* state_query_epoch, ascending events */
    wmem_array_t *changes;     /* query_change, ascending events */
    wmem_array_t *answered;    /* answered_change, ascending events */
    unsigned first_change;     /* of those that no later call has overtaken */
    uint32_t overtaken;        /* changes without an answer when a later call had one */
    uint32_t overtaken_before; /* event of the latest such call's request */
    uint32_t told_before;      /* the same of the calls that told what came of them */
    uint32_t missed_until;  /* calls that are missing behind earlier events count already, or have been made up for */
    uint32_t certain_until; /* event up to which nothing is missing */
    bool complete;          /* of the newest epoch, and what it was told, but for the changes that were overtaken */
    bool doubted;
    const state_query_index *before;
    wmem_array_t *told;
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
    return identifier->utf16_size == 0 ? 0
           : identifier->digest != 0   ? identifier->digest
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

/* --- Entries --------------------------------------------------------------------------------------------------- */

static wmem_array_t *new_entries(void)
{
    return wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_entry *), 4);
}

static state_query_entry *entry_at(const entry_list *list, unsigned i)
{
    return *(state_query_entry **)wmem_array_index(list->entries, i);
}

static void list_add(entry_list *list, state_query_entry *entry)
{
    wmem_array_append_one(list->entries, entry);
    list->held++;
}

static void list_ended_one(entry_list *list)
{
    unsigned count = wmem_array_get_count(list->entries);

    if (count <= 2 * --list->held) {
        return;
    }
    wmem_array_t *held = new_entries();
    for (unsigned i = 0; i < count; i++) {
        state_query_entry *entry = entry_at(list, i);
        if (entry->end == UINT32_MAX) {
            wmem_array_append_one(held, entry);
        }
    }
    list->entries = held;
}

/* The next that holds at an event. */
static const state_query_entry *list_next(const entry_list *list, uint32_t event, unsigned *next)
{
    while (*next < wmem_array_get_count(list->entries)) {
        const state_query_entry *entry = entry_at(list, (*next)++);
        if (entry->from <= event && entry->end > event) {
            return entry;
        }
    }
    return NULL;
}

/* --- What a query holds ---------------------------------------------------------------------------------------- */

/* Where the answer to a change is missing nothing is known. */
static void begin_epoch(struct state_query *query, uint32_t event)
{
    bool known = query->overtaken == 0;
    state_query_epoch epoch = {
        event,          query,         known && query->complete,   !known,
        query->doubted, query->before, known ? query->told : NULL, UINT32_MAX,
    };

    query->certain_until = event;

    wmem_array_append_one(query->epochs, epoch);
}

/* The blocks moved. */
static void begin_changed_epoch(struct state_query *query, uint32_t event, bool complete)
{
    query->complete = complete;
    query->before = NULL;
    query->told = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_index), 1);
    begin_epoch(query, event);
}

static struct state_query *query_of(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        query->now.all.entries = new_entries();
        query->now.accepted.entries = new_entries();
        query->changes = wmem_array_sized_new(wmem_file_scope(), sizeof(query_change), 1);
        query->answered = wmem_array_sized_new(wmem_file_scope(), sizeof(answered_change), 1);
        query->current = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
        query->held = wmem_array_new(wmem_file_scope(), sizeof(held_at));
        query->epochs = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_epoch), 2);
        begin_changed_epoch(query, handle->begin, handle->opened_frame != 0);
    }
    return handle->query;
}

static void end_entry(struct state_query *query, const state_identifier *identifier, uint32_t event)
{
    state_query_entry *entry = wmem_map_remove(query->current, identifier);

    if (entry) {
        entry->end = event;
        list_ended_one(&query->now.all);
        if (entry->identifier.status == 0) {
            list_ended_one(&query->now.accepted);
        }
    }
}

static void add_entry(struct state_query *query, const state_identifier *identifier, uint32_t event)
{
    state_query_entry *entry = wmem_new0(wmem_file_scope(), state_query_entry);

    end_entry(query, identifier, event);
    copy_identifier(&entry->identifier, identifier);
    entry->from = event;
    entry->end = UINT32_MAX;
    list_add(&query->now.all, entry);
    if (identifier->status == 0) {
        list_add(&query->now.accepted, entry);
    }
    wmem_map_insert(query->current, &entry->identifier, entry);
}

/* Behind the last change of an event. */
static void note_held(struct state_query *query, uint32_t event)
{
    query->now.event = event;
    wmem_array_append_one(query->held, query->now);
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
    note_held(query, event);
    if (changed) {
        begin_changed_epoch(query, event, query->complete);
    }
}

void query_unknown_change(state_handle *handle, uint32_t event)
{
    begin_changed_epoch(query_of(handle), event, false);
}

void query_change_asked(state_handle *handle, uint32_t event, const uint32_t *end_frame)
{
    query_change change = {event, 0, end_frame};

    wmem_array_append_one(query_of(handle)->changes, change);
}

void query_answered(state_handle *handle, uint32_t asked, uint32_t event)
{
    struct state_query *query = query_of(handle);
    unsigned end = asked > 0 ? event_count_until(query->changes, asked - 1) : 0;
    uint32_t before = query->overtaken;

    for (; query->first_change < end; query->first_change++) {
        const query_change *change = wmem_array_index(query->changes, query->first_change);
        query->overtaken += change->response_event == 0;
    }
    if (query->overtaken > before) {
        query->overtaken_before = asked;
        begin_epoch(query, event);
    }
}

void query_change_answered(state_handle *handle, uint32_t asked, uint32_t event)
{
    struct state_query *query = query_of(handle);
    query_change *change = event_latest(query->changes, asked);
    answered_change answered = {event, asked};

    change->response_event = event;
    wmem_array_append_one(query->answered, answered);
    if (asked < query->overtaken_before && asked >= query->told_before && --query->overtaken == 0) {
        begin_epoch(query, event);
    }
}

/* How many changes were asked or answered between two events. */
static unsigned changes_between(const struct state_query *query, uint32_t begin, uint32_t end)
{
    return event_count_until(query->changes, end) - event_count_until(query->changes, begin) +
           event_count_until(query->answered, end) - event_count_until(query->answered, begin);
}

static const state_query_index *latest_told(const struct state_query *query)
{
    unsigned told = wmem_array_get_count(query->told);

    return told > 0 ? wmem_array_index(query->told, told - 1) : query->before;
}

void query_blocks_counted(state_handle *handle, uint32_t blocks, uint32_t asked, uint32_t event)
{
    struct state_query *query = handle->query;
    const state_query_epoch *newest = query_epoch_at(handle, event);

    if (newest == NULL || !newest->complete || changes_between(query, asked, event) > 0) {
        return;
    }
    const state_query_index *told = latest_told(query);
    if (blocks != (told ? told->count : query->now.accepted.held)) {
        begin_changed_epoch(query, event, false);
    }
}

/* What the newest epoch was known to hold is assumed behind an event. */
static void assume_from(struct state_query *query, uint32_t event)
{
    state_query_epoch *newest = wmem_array_index(query->epochs, wmem_array_get_count(query->epochs) - 1);

    newest->assumed_from = MIN(newest->assumed_from, MAX(event, query->certain_until));
}

/* Samples that other connections took since then: not more are looked through for the last certain one. */
#define MOST_SAMPLES_MEANWHILE 16

void query_calls_missed(state_handle *handle, uint32_t begin, uint32_t end, uint32_t event)
{
    if (end <= handle->begin || (handle->query && end <= handle->query->missed_until)) {
        return;
    }
    struct state_query *query = query_of(handle);
    const state_sample *certain = handle->newest;

    for (int i = 0; i < MOST_SAMPLES_MEANWHILE && certain && certain->request_event > begin; i++) {
        certain = certain->previous;
    }
    assume_from(query, certain && certain->request_event <= begin ? MAX(begin, certain->event) : begin);
    query->missed_until = event;
    query->doubted = true;
    query->before = latest_told(query);
    query->told = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_index), 1);
    begin_epoch(query, event);
}

static void end_all_entries(struct state_query *query, uint32_t event)
{
    const entry_list before = query->now.all;
    const state_query_entry *entry;
    unsigned next = 0;

    while ((entry = list_next(&before, event, &next)) != NULL) {
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
    note_held(query, event);
}

static bool holds_these(const struct state_query *query, const state_identifier *identifiers, uint32_t count)
{
    uint32_t held = 0;

    for (uint32_t i = 0; i < count; i++) {
        held += is_held(query, &identifiers[i]);
    }
    return held == count && count == query->now.accepted.held;
}

/* QueryCounterInfo, asked for behind changes that have no answer, tells what came of them. True if one of them may be done yet:
 * nothing ended it. */
static bool settle_changes(struct state_query *query, uint32_t request_event, uint32_t event)
{
    bool any_goes_on = false;

    for (unsigned i = event_count_until(query->changes, request_event); i-- > 0;) {
        const query_change *change = wmem_array_index(query->changes, i);
        answered_change answered = {event, change->event};
        if (change->event <= query->told_before) {
            break;
        }
        if (change->response_event == 0) {
            wmem_array_append_one(query->answered, answered);
            any_goes_on |= *change->end_frame == 0;
        }
    }
    query->overtaken = 0;
    query->told_before = request_event;
    return any_goes_on;
}

/* Who asked behind a change whose answer is missing is told what came of it, as far as that was done by then. Who is told of
 * other counters than those that are known missed a change. */
static void begin_told_epoch(struct state_query *query, const state_identifier *identifiers, uint32_t asked,
                             const state_query_index *told)
{
    bool is_assumed = false;

    if (query->overtaken > 0) {
        is_assumed = settle_changes(query, asked, told->event);
        begin_changed_epoch(query, told->event, false);
    } else if (query->complete && !query->doubted && !holds_these(query, identifiers, told->count)) {
        assume_from(query, query->certain_until);
        begin_changed_epoch(query, told->event, false);
    }
    if (!query->complete || query->doubted) {
        hold_these(query, identifiers, told->count, told->event);
        state_query_epoch *newest = event_latest(query->epochs, told->event);
        query->complete = newest->complete = true;
        query->doubted = newest->doubted = is_assumed;
        query->before = newest->before = is_assumed ? told : NULL;
    }
    if (!is_assumed) {
        wmem_array_append_one(query->told, *told);
        query->certain_until = asked;
    }
}

void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t asked,
                uint32_t event, uint32_t frame)
{
    struct state_query *query = query_of(handle);

    if (asked < query->missed_until || changes_between(query, asked, event) > 0) {
        return; /* of before or after what is missing or changes: nobody knows */
    }
    state_query_index *told = wmem_new(wmem_file_scope(), state_query_index);
    *told = (state_query_index){event, frame, count, wmem_alloc0_array(wmem_file_scope(), state_identifier, count)};
    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&told->by_index[identifiers[i].index], &identifiers[i]);
    }
    query->missed_until = asked;
    begin_told_epoch(query, identifiers, asked, told);
}

/* NULL if nothing is known. */
static const held_at *held_then(const struct state_query *query, uint32_t event)
{
    return query ? event_latest(query->held, event) : NULL;
}

void query_counts(const state_handle *handle, uint32_t event, unsigned *held, unsigned *refused)
{
    const held_at *then = held_then(handle->query, event);

    *held = then ? then->accepted.held : 0;
    *refused = then ? then->all.held - then->accepted.held : 0;
}

const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next)
{
    const held_at *then = held_then(handle->query, event);

    return then ? list_next(&then->all, event, next) : NULL;
}

/* dwType follows from the wildcards of the query: 2 for all counters, 4 for all instances. Any block can be an error
 * instead, and what a pattern other than "*" gives is not known. Of an unknown type nothing is. */
bool query_identifier_fits(const state_identifier *identifier, uint32_t type)
{
    bool is_known = type == 1 || type == 2 || type == 4 || type == 6;
    bool of_all_counters = (type & 2) != 0, of_all_instances = (type & 4) != 0;

    return type == 0 ||
           (is_known && of_all_counters == (identifier->counter_id == PERF_NO_ID) &&
            (identifier->asks == PERF_ASKS_PATTERN || of_all_instances == (identifier->asks == PERF_ASKS_ALL)));
}

const state_query_epoch *query_epoch_at(const state_handle *handle, uint32_t event)
{
    return handle && handle->query ? event_latest(handle->query->epochs, event) : NULL;
}

bool query_is_complete(const state_handle *handle, uint32_t event)
{
    const state_query_epoch *epoch = query_epoch_at(handle, event);

    return epoch && epoch->complete && (!epoch->doubted || query_is_told(epoch));
}

unsigned query_certainty(const state_query_epoch *epoch, uint32_t event)
{
    return (query_is_told(epoch) ? QUERY_IS_TOLD : 0) | (epoch && event > epoch->assumed_from ? QUERY_IS_ASSUMED : 0);
}

bool query_is_told(const state_query_epoch *epoch)
{
    return epoch && epoch->told && wmem_array_get_count(epoch->told) > 0;
}

/* How many blocks an answer has that shows the query as of an event; UINT32_MAX if that is not known. */
static uint32_t blocks_as_of(const struct state_query *query, uint32_t event, const state_query_epoch **epoch)
{
    const held_at *held = held_then(query, event);

    *epoch = event_latest(query->epochs, event);
    if (query_is_told(*epoch)) {
        const state_query_index *info = event_latest((*epoch)->told, event);
        return (info ? info : (const state_query_index *)wmem_array_index((*epoch)->told, 0))->count;
    }
    return *epoch && (*epoch)->complete && !(*epoch)->doubted ? (held ? held->accepted.held : 0) : UINT32_MAX;
}

/* More changes than a client makes during one call are not looked through. */
#define MOST_CHANGES_IN_A_CALL 16

uint32_t query_as_of(const state_handle *handle, uint32_t request_event, uint32_t response_event, uint32_t blocks)
{
    const struct state_query *query = handle ? handle->query : NULL;

    if (query == NULL || changes_between(query, request_event, response_event) == 0) {
        return response_event;
    }
    unsigned next = event_count_until(query->answered, request_event);
    unsigned end = event_count_until(query->answered, response_event), changes = end - next;
    unsigned open =
        event_count_until(query->changes, response_event) - event_count_until(query->changes, request_event);
    const state_query_epoch *last, *epoch = query_epoch_at(handle, response_event);
    uint32_t found = blocks_as_of(query, request_event, &last) == blocks ? request_event : 0;

    if (changes > MOST_CHANGES_IN_A_CALL || (epoch && epoch->unanswered)) {
        return 0;
    }
    for (uint32_t previous = 0; next < end; next++) {
        const answered_change *change = wmem_array_index(query->answered, next);
        uint32_t count = blocks_as_of(query, change->event, &epoch);
        bool is_known = count != UINT32_MAX || changes == 1;
        if (!is_known || change->request_event < previous || (count == blocks && found > 0 && epoch != last)) {
            return 0;
        }
        open -= change->request_event > request_event;
        found = found == 0 && count == blocks ? change->event : found;
        last = epoch;
        previous = change->event;
    }
    return open == 0 || (open == 1 && changes == 0) ? found : 0;
}

const state_query_index *query_index_at(const state_query_epoch *epoch, uint32_t event, uint32_t blocks)
{
    if (!query_is_told(epoch)) {
        return NULL;
    }
    const state_query_index *told = event_latest(epoch->told, event);
    told = told ? told : wmem_array_index(epoch->told, 0);
    return told->count == blocks ? told : NULL;
}

/* --- Without an index ------------------------------------------------------------------------------------------ */

/* The only identifier for the only block is certain; several are assumed to have their blocks in the order in which they were
 * added, if all fit so. */
static void assign_by_order(const state_identifier **identifiers, const uint32_t *types, state_assignment *assignment)
{
    for (uint32_t i = 0; i < assignment->count; i++) {
        if (!query_identifier_fits(identifiers[i], types[i])) {
            return;
        }
    }
    for (uint32_t i = 0; i < assignment->count; i++) {
        assignment->assumed[i] = assignment->count > 1;
        assignment->blocks[i] = identifiers[i];
    }
}

/* What held at an event, in order; NULL unless that is one for each of `count` blocks. */
static const state_identifier **identifiers_of(wmem_allocator_t *pool, const struct state_query *query, uint32_t event,
                                               uint32_t count)
{
    const held_at *then = held_then(query, event);
    const state_query_entry *entry;
    unsigned next = 0;

    if (then == NULL || then->accepted.held != count) {
        return NULL;
    }
    const state_identifier **identifiers = wmem_alloc_array(pool, const state_identifier *, count);
    for (uint32_t i = 0; i < count && (entry = list_next(&then->accepted, event, &next)) != NULL; i++) {
        identifiers[i] = &entry->identifier;
    }
    return identifiers;
}

/* As it was told before calls were missed. */
static bool assign_as_before(const state_query_index *before, const uint32_t *types, state_assignment *assignment)
{
    if (before == NULL || before->count != assignment->count) {
        return false;
    }
    for (uint32_t i = 0; i < before->count; i++) {
        const state_identifier *identifier = &before->by_index[i];
        assignment->blocks[i] = query_identifier_fits(identifier, types[i]) ? identifier : NULL;
    }
    return true;
}

void query_assign(wmem_allocator_t *pool, const state_query_epoch *epoch, uint32_t event, const uint32_t *types,
                  uint32_t count, state_assignment *assignment)
{
    const state_identifier **identifiers;

    assignment->count = count;
    assignment->blocks = wmem_alloc0_array(pool, const state_identifier *, count);
    assignment->assumed = wmem_alloc0_array(pool, bool, count);
    if (epoch == NULL || !epoch->complete || count == 0) {
        return;
    }
    if (!assign_as_before(epoch->before, types, assignment) &&
        (identifiers = identifiers_of(pool, epoch->query, event, count)) != NULL) {
        assign_by_order(identifiers, types, assignment);
    }
    for (uint32_t i = 0; i < count && epoch->doubted; i++) {
        assignment->assumed[i] = assignment->blocks[i] != NULL;
    }
}
