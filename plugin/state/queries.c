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
    bool complete;               /* the entries are all that the query holds */
    bool calls_missing;          /* calls that were not captured may have changed it: what is known is assumed */
    wmem_array_t *counter_infos; /* state_query_index, ascending events */
    uint32_t assumed_from; /* learned later: behind this event the query may have changed; UINT32_MAX: it did not */
};

/* What held from an event on: entries in the order they were added. Those that ended stay until they are as many as the others,
 * which go on in an array of their own then: whoever has the old one finds there what held at his event. */
typedef struct {
    uint32_t event;
    wmem_array_t *entries; /* state_query_entry * */
    uint32_t held;         /* of them, that have not ended */
    uint32_t accepted;     /* of those, by the server */
} held_counters;

/* A change of the counters that was asked for. */
typedef struct {
    uint32_t event;            /* of its request */
    bool is_answered;          /* or QueryCounterInfo told what came of it */
    const uint32_t *end_frame; /* *: of the response or fault, read or not; 0 as long as there is none */
} query_change;

/* The same, found by its response. */
typedef struct {
    uint32_t event; /* of the response */
    uint32_t request_event;
} answered_change;

struct state_query {
    held_counters newest;
    wmem_array_t *history;  /* held_counters, ascending events */
    wmem_map_t *held_now;   /* state_identifier -> its newest state_query_entry */
    wmem_array_t *epochs;   /* state_query_epoch, ascending events */
    wmem_array_t *changes;  /* query_change, ascending events */
    wmem_array_t *answered; /* answered_change, ascending events */
    uint32_t changed_until; /* event of the latest of both */
    uint32_t
        info_as_of; /* a QueryCounterInfo that was asked for before this event may tell what held before a change: it settles nothing */
    uint32_t missed_from; /* event from which on a call may be missing; UINT32_MAX: none is */
    uint32_t
        doubt_not_before; /* the newest epoch's begin, or its last QueryCounterInfo's request: what is doubted later was certain then */
};

/* --- Names of instances ---------------------------------------------------------------------------------------- */

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

static state_asks asks_for(const char *instance)
{
    return instance == NULL || strpbrk(instance, "*?") == NULL ? PERF_ASKS_ONE
           : strcmp(instance, "*") == 0                        ? PERF_ASKS_ALL
                                                               : PERF_ASKS_PATTERN;
}

static void copy_identifier(state_identifier *kept, const state_identifier *identifier)
{
    *kept = *identifier;
    if (identifier->utf16_size > 0) {
        kept->instance = identifier->instance ? wmem_strdup(wmem_file_scope(), identifier->instance) : NULL;
        kept->utf16 = wmem_memdup(wmem_file_scope(), identifier->utf16, identifier->utf16_size);
        kept->asks = asks_for(kept->instance);
        kept->digest = query_name_digest(kept->utf16, kept->utf16_size);
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
    uint64_t rest = digest_of(k) ^ ((uint64_t)k->counter_id << 32 | k->instance_id);

    return wmem_strong_hash(k->guid, sizeof k->guid) + wmem_int64_hash(&rest);
}

gboolean query_identifier_equal(const void *a, const void *b)
{
    const state_identifier *x = a, *y = b;

    return x->counter_id == y->counter_id && x->instance_id == y->instance_id && memcmp(x->guid, y->guid, 16) == 0 &&
           x->utf16_size == y->utf16_size && digest_of(x) == digest_of(y);
}

/* --- Entries --------------------------------------------------------------------------------------------------- */

static wmem_array_t *new_entries(void)
{
    return wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_entry *), 4);
}

static state_query_entry *entry_at(const held_counters *held, unsigned i)
{
    return *(state_query_entry **)wmem_array_index(held->entries, i);
}

/* The next that holds at an event. */
static const state_query_entry *next_entry(const held_counters *held, uint32_t event, unsigned *next)
{
    while (*next < wmem_array_get_count(held->entries)) {
        const state_query_entry *entry = entry_at(held, (*next)++);
        if (entry->from <= event && entry->end > event) {
            return entry;
        }
    }
    return NULL;
}

static void leave_ended_behind(held_counters *newest)
{
    wmem_array_t *remaining = new_entries();

    for (unsigned i = 0; i < wmem_array_get_count(newest->entries); i++) {
        state_query_entry *entry = entry_at(newest, i);
        if (entry->end == UINT32_MAX) {
            wmem_array_append_one(remaining, entry);
        }
    }
    newest->entries = remaining;
}

/* --- What a query holds ---------------------------------------------------------------------------------------- */

static state_query_epoch *newest_epoch(const struct state_query *query)
{
    return wmem_array_index(query->epochs, wmem_array_get_count(query->epochs) - 1);
}

/* Of the newest one but for its QueryCounterInfos. */
static state_query_epoch *begin_epoch(struct state_query *query, const state_query_epoch *like, uint32_t event)
{
    state_query_epoch epoch = *like;

    epoch.event = query->doubt_not_before = event;
    epoch.counter_infos = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_index), 1);
    epoch.assumed_from = UINT32_MAX;
    wmem_array_append_one(query->epochs, epoch);
    return newest_epoch(query);
}

/* The query changed, or may have: what QueryCounterInfo said before no longer tells whose a block is. `complete`: all that the query holds
 * from here on is known. */
static void begin_changed_epoch(struct state_query *query, uint32_t event, bool complete)
{
    begin_epoch(query, newest_epoch(query), event)->complete = complete;
}

static struct state_query *query_of(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        const state_query_epoch first = {.query = query, .complete = handle->opened_frame != 0};
        query->newest.entries = new_entries();
        query->changes = wmem_array_sized_new(wmem_file_scope(), sizeof(query_change), 1);
        query->answered = wmem_array_sized_new(wmem_file_scope(), sizeof(answered_change), 1);
        query->missed_from = UINT32_MAX;
        query->held_now = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
        query->history = wmem_array_new(wmem_file_scope(), sizeof(held_counters));
        query->epochs = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_epoch), 2);
        begin_epoch(query, &first, handle->begin);
    }
    return handle->query;
}

static void end_entry(struct state_query *query, const state_identifier *identifier, uint32_t event)
{
    state_query_entry *entry = wmem_map_remove(query->held_now, identifier);

    if (entry) {
        entry->end = event;
        query->newest.held--;
        query->newest.accepted -= entry->identifier.status == 0;
        if (wmem_array_get_count(query->newest.entries) > 2 * query->newest.held) {
            leave_ended_behind(&query->newest);
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
    wmem_array_append_one(query->newest.entries, entry);
    query->newest.held++;
    query->newest.accepted += identifier->status == 0;
    wmem_map_insert(query->held_now, &entry->identifier, entry);
}

/* Behind the last change of an event. */
static void note_held(struct state_query *query, uint32_t event)
{
    query->newest.event = event;
    wmem_array_append_one(query->history, query->newest);
}

static bool is_held(const struct state_query *query, const state_identifier *identifier)
{
    const state_query_entry *entry = wmem_map_lookup(query->held_now, identifier);

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
        begin_changed_epoch(query, event, newest_epoch(query)->complete);
    }
}

void query_unknown_change(state_handle *handle, uint32_t event)
{
    begin_changed_epoch(query_of(handle), event, false);
}

void query_change_requested(state_handle *handle, uint32_t event, const uint32_t *end_frame)
{
    struct state_query *query = query_of(handle);
    query_change change = {event, false, end_frame};

    query->changed_until = event;
    wmem_array_append_one(query->changes, change);
}

static void note_answered(struct state_query *query, query_change *change, uint32_t event)
{
    answered_change answered = {event, change->event};

    change->is_answered = true;
    wmem_array_append_one(query->answered, answered);
}

void query_change_answered(state_handle *handle, uint32_t request_event, uint32_t event)
{
    struct state_query *query = query_of(handle);
    query_change *change = state_event_latest(query->changes, request_event);

    query->changed_until = event;
    if (!change->is_answered) { /* else by QueryCounterInfo: what that said is assumed, for this was still to come */
        note_answered(query, change, event);
    }
}

/* How many changes that were asked for until an event have no answer at another: what came of them is not known until then. */
static unsigned changes_open(const struct state_query *query, uint32_t asked, uint32_t event)
{
    return state_event_count_until(query->changes, asked) - state_event_count_until(query->answered, event);
}

/* How many changes were asked or answered between two events. */
static unsigned changes_between(const struct state_query *query, uint32_t begin, uint32_t end)
{
    if (query->changed_until <= begin) {
        return 0; /* as mostly */
    }
    return state_event_count_until(query->changes, end) - state_event_count_until(query->changes, begin) +
           state_event_count_until(query->answered, end) - state_event_count_until(query->answered, begin);
}

static const state_query_index *latest_info(const struct state_query *query)
{
    return state_event_latest(newest_epoch(query)->counter_infos, UINT32_MAX);
}

void query_call_missed(state_handle *handle, uint32_t end, uint32_t event)
{
    if (end > handle->begin) {
        struct state_query *query = query_of(handle);
        query->missed_from = MIN(query->missed_from, event);
    }
}

void query_blocks_counted(state_handle *handle, uint32_t blocks, uint32_t request_event, uint32_t event)
{
    struct state_query *query = handle->query;
    const state_query_epoch *newest = query_epoch_at(handle, event);

    if (newest == NULL || !newest->complete || request_event < query->changed_until ||
        changes_open(query, event, event) > 0) {
        return;
    }
    const state_query_index *info = latest_info(query);
    if (blocks != (info ? info->count : query->newest.accepted)) {
        begin_changed_epoch(query, event, false);
    }
}

/* What the newest epoch was known to hold is assumed behind an event. */
static void assume_from(struct state_query *query, uint32_t event)
{
    state_query_epoch *newest = newest_epoch(query);

    newest->assumed_from = MIN(newest->assumed_from, MAX(event, query->doubt_not_before));
}

static void end_accepted_entries(struct state_query *query, uint32_t event)
{
    const held_counters before = query->newest;
    const state_query_entry *entry;
    unsigned next = 0;

    while ((entry = next_entry(&before, event, &next)) != NULL) {
        if (entry->identifier.status == 0) {
            end_entry(query, &entry->identifier, event);
        }
    }
}

/* The whole list as QueryCounterInfo told it, where another one was known, or in another order. */
static void hold_these(struct state_query *query, const state_identifier *identifiers, uint32_t count, uint32_t event)
{
    end_accepted_entries(query, event);
    for (uint32_t i = 0; i < count; i++) {
        state_identifier identifier = identifiers[i];
        identifier.status = 0;
        add_entry(query, &identifier, event);
    }
    note_held(query, event);
}

/* Samples that other connections took since then: not more are looked through for the last certain one. */
#define MOST_SAMPLES_MEANWHILE 16

void query_calls_missed(state_handle *handle, uint32_t begin, uint32_t end, uint32_t event)
{
    if (end <= handle->begin || (handle->query && end <= handle->query->info_as_of)) {
        return;
    }
    struct state_query *query = query_of(handle);
    const state_query_index *info = latest_info(query);
    const state_sample *certain = handle->newest;

    for (int i = 0; i < MOST_SAMPLES_MEANWHILE && certain && certain->request_event > begin; i++) {
        certain = certain->previous;
    }
    assume_from(query, certain && certain->request_event <= begin ? MAX(begin, certain->event) : begin);
    query->info_as_of = event;
    if (info) {
        hold_these(query, info->by_index, info->count, event); /* its blocks are assumed in this order from here on */
    }
    begin_epoch(query, newest_epoch(query), event)->calls_missing = true;
    handle->server->facts_version += handle->newest != NULL;
}

static bool holds_these(const struct state_query *query, const state_identifier *identifiers, uint32_t count)
{
    uint32_t held = 0;

    for (uint32_t i = 0; i < count; i++) {
        held += is_held(query, &identifiers[i]);
    }
    return held == count && count == query->newest.accepted;
}

/* QueryCounterInfo, asked for behind changes that have no answer, tells what came of them. True if one of them has neither response nor
 * fault: the server may still carry it out, so what was told is only assumed. */
static bool settle_changes(struct state_query *query, uint32_t event)
{
    unsigned open = changes_open(query, event, event);
    bool may_still_happen = false;

    query->changed_until = event;
    for (unsigned i = wmem_array_get_count(query->changes); i > 0 && open > 0; i--) {
        query_change *change = wmem_array_index(query->changes, i - 1);
        if (!change->is_answered) {
            may_still_happen |= *change->end_frame == 0;
            note_answered(query, change, event);
            open--;
        }
    }
    return may_still_happen;
}

/* A QueryCounterInfo that was asked for behind changes without an answer settles what came of them; one that names other counters than
 * those that are known shows that a change was missed. */
static void take_info(struct state_query *query, const state_identifier *identifiers, uint32_t request_event,
                      const state_query_index *info)
{
    const state_query_epoch *before = newest_epoch(query);
    bool is_assumed = false;

    if (changes_open(query, info->event, info->event) > 0) {
        is_assumed = settle_changes(query, info->event);
        begin_changed_epoch(query, info->event, false);
    } else if (before->complete && !before->calls_missing && !holds_these(query, identifiers, info->count)) {
        assume_from(query, query->doubt_not_before);
        begin_changed_epoch(query, info->event, false);
    }
    state_query_epoch *newest = newest_epoch(query);
    if (!newest->complete || newest->calls_missing) {
        /* in the order of their blocks where these are assumed by it */
        hold_these(query, is_assumed ? info->by_index : identifiers, info->count, info->event);
        newest->complete = true;
        newest->calls_missing = is_assumed;
    }
    if (!is_assumed) {
        wmem_array_append_one(newest->counter_infos, *info);
        query->doubt_not_before = request_event;
    }
}

void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t request_event,
                uint32_t event, uint32_t frame)
{
    struct state_query *query = query_of(handle);

    if (request_event < query->info_as_of || request_event < query->changed_until) {
        return; /* of before or after what is missing or changes: nobody knows */
    }
    state_query_index *info = wmem_new(wmem_file_scope(), state_query_index);
    *info = (state_query_index){event, frame, count, wmem_alloc0_array(wmem_file_scope(), state_identifier, count)};
    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&info->by_index[identifiers[i].index], &identifiers[i]);
    }
    query->info_as_of = request_event;
    take_info(query, identifiers, request_event, info);
    handle->server->facts_version += handle->newest != NULL;
}

/* NULL if nothing is known. */
static const held_counters *held_as_of(const struct state_query *query, uint32_t event)
{
    return query ? state_event_latest(query->history, event) : NULL;
}

void query_counts(const state_handle *handle, uint32_t event, unsigned *accepted, unsigned *refused)
{
    const held_counters *held = held_as_of(handle->query, event);

    *accepted = held ? held->accepted : 0;
    *refused = held ? held->held - held->accepted : 0;
}

const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next)
{
    const held_counters *held = held_as_of(handle->query, event);

    return held ? next_entry(held, event, next) : NULL;
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
    return handle && handle->query ? state_event_latest(handle->query->epochs, event) : NULL;
}

static bool has_info(const state_query_epoch *epoch)
{
    return epoch && wmem_array_get_count(epoch->counter_infos) > 0;
}

/* The latest of the epoch; before its first that: it held as long as the epoch. */
static const state_query_index *info_at(const state_query_epoch *epoch, uint32_t event)
{
    const state_query_index *info = state_event_latest(epoch->counter_infos, event);

    return info ? info : wmem_array_index(epoch->counter_infos, 0);
}

bool query_is_complete(const state_handle *handle, uint32_t event)
{
    const state_query_epoch *epoch = query_epoch_at(handle, event);

    return epoch && epoch->complete && changes_open(handle->query, event - 1, event) == 0 &&
           (!epoch->calls_missing || has_info(epoch)) && event <= epoch->assumed_from;
}

bool query_is_assumed(const state_query_epoch *epoch, uint32_t event)
{
    return epoch && event > epoch->assumed_from;
}

/* How many blocks an answer has that shows the query as of an event; UINT32_MAX if that is not known. */
static uint32_t blocks_as_of(const struct state_query *query, uint32_t event, const state_query_epoch **epoch)
{
    const held_counters *held = held_as_of(query, event);

    *epoch = state_event_latest(query->epochs, event);
    if (has_info(*epoch)) {
        return info_at(*epoch, event)->count;
    }
    return *epoch && (*epoch)->complete && !(*epoch)->calls_missing ? (held ? held->accepted : 0) : UINT32_MAX;
}

/* More changes than a client makes during one call are not looked through. */
#define MOST_CHANGES_IN_A_CALL 16

uint32_t query_as_of(const state_handle *handle, uint32_t request_event, uint32_t response_event, uint32_t blocks)
{
    const struct state_query *query = handle ? handle->query : NULL;

    if (query == NULL) {
        return response_event;
    }
    unsigned open = changes_open(query, response_event, response_event);
    if (changes_between(query, request_event, response_event) == 0) {
        return open == 0 ? response_event : 0;
    }
    unsigned next = state_event_count_until(query->answered, request_event);
    unsigned end = state_event_count_until(query->answered, response_event), changes = end - next;
    const state_query_epoch *last, *epoch;
    uint32_t found = blocks_as_of(query, request_event, &last) == blocks ? request_event : 0;

    if (changes > MOST_CHANGES_IN_A_CALL || query->missed_from <= response_event) {
        return 0;
    }
    /* how many blocks there are behind each change; of changes that overlap each other nobody knows the order */
    for (uint32_t asked_before = 0; next < end; next++) {
        const answered_change *change = wmem_array_index(query->answered, next);
        uint32_t count = blocks_as_of(query, change->event, &epoch);
        /* one alone whose outcome is not known either changed the number of blocks or nothing */
        bool is_known = count != UINT32_MAX || changes == 1;
        if (!is_known || change->request_event < asked_before || (count == blocks && found > 0 && epoch != last)) {
            return 0;
        }
        found = found == 0 && count == blocks ? change->event : found;
        last = epoch;
        asked_before = change->event;
    }
    return open == 0 || (open == 1 && changes == 0) ? found : 0;
}

const state_query_index *query_index_at(const state_query_epoch *epoch, uint32_t event, uint32_t blocks)
{
    const state_query_index *info = has_info(epoch) ? info_at(epoch, event) : NULL;

    return info && info->count == blocks ? info : NULL;
}

/* --- Without an index ------------------------------------------------------------------------------------------ */

/* The accepted identifiers in the order in which they were added, if there is one for each block and all fit so. */
static bool assign_by_order(const state_query_epoch *epoch, uint32_t event, const uint32_t *types,
                            state_assignment *assignment)
{
    const held_counters *held = held_as_of(epoch->query, event);
    const state_query_entry *entry;
    unsigned next = 0;

    if (held == NULL || held->accepted != assignment->count) {
        return false;
    }
    for (uint32_t i = 0; i < assignment->count && (entry = next_entry(held, event, &next)) != NULL;) {
        if (entry->identifier.status != 0) {
            continue;
        }
        if (!query_identifier_fits(&entry->identifier, types[i])) {
            memset(assignment->blocks, 0, assignment->count * sizeof assignment->blocks[0]);
            return false;
        }
        assignment->blocks[i++] = &entry->identifier;
    }
    return true;
}

void query_assign(wmem_allocator_t *pool, const state_query_epoch *epoch, uint32_t event, const uint32_t *types,
                  uint32_t count, state_assignment *assignment)
{
    *assignment = (state_assignment){wmem_alloc0_array(pool, const state_identifier *, count), false, count};
    if (epoch == NULL || !epoch->complete || count == 0) {
        return;
    }
    /* the only identifier for the only block is certain, as long as no calls are missing */
    assignment->assumed = assign_by_order(epoch, event, types, assignment) && (count > 1 || epoch->calls_missing);
}
