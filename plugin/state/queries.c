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
    bool complete;      /* the entries are all that the query holds */
    bool unanswered;    /* changes without an answer may have changed it */
    bool calls_missing; /* calls that were not captured may have changed it: what is known is assumed, */
    const state_query_index *index_before_missing; /* and so is this QueryCounterInfo of before; NULL without one */
    wmem_array_t *counter_infos; /* state_query_index, ascending events, shared where nothing changed in between */
    uint32_t assumed_from; /* learned later: behind this event the query may have changed; UINT32_MAX: it did not */
};

/* Entries in the order they were added. Those that ended stay until they are as many as the others, which go on in an
 * array of their own then: whoever has the old one finds there what held at his event. */
typedef struct {
    wmem_array_t *entries; /* state_query_entry * */
    uint32_t count;        /* of them, that have not ended */
} entry_list;

/* What held from an event on. */
typedef struct {
    uint32_t event;
    entry_list all;
    entry_list accepted; /* the same without those of refused identifiers */
} held_counters;

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
    held_counters newest;
    wmem_array_t *history;     /* held_counters, ascending events */
    wmem_map_t *held_now;      /* state_identifier -> its newest state_query_entry */
    wmem_array_t *epochs;      /* state_query_epoch, ascending events */
    wmem_array_t *changes;     /* query_change, ascending events */
    wmem_array_t *answered;    /* answered_change, ascending events */
    uint32_t changed_until;    /* event of the latest of both */
    unsigned first_change;     /* of those behind which no later call was answered */
    uint32_t unanswered;       /* changes without an answer when a later call had one */
    uint32_t unanswered_as_of; /* event of the latest such call's request */
    uint32_t settled_as_of;    /* the same of the QueryCounterInfo that settled what came of them */
    uint32_t info_as_of;   /* gaps that ended before this request count already, or QueryCounterInfo made up for them */
    wmem_array_t *gaps;    /* uint32_t, ascending: events by which a call is missing */
    wmem_array_t *counted; /* the same of what told what came of it */
    uint32_t
        doubt_not_before; /* the newest epoch's begin, or its last QueryCounterInfo's request: what is doubted later was certain then */
    /* of the newest epoch, but for the changes without an answer */
    bool complete;
    bool calls_missing;
    const state_query_index *index_before_missing;
    wmem_array_t *counter_infos;
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
    uint64_t rest = digest_of(k) ^ ((uint64_t)k->counter_id << 32 | k->instance_id);

    return wmem_strong_hash(k->guid, sizeof k->guid) + wmem_int64_hash(&rest);
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
    list->count++;
}

static void list_ended_one(entry_list *list)
{
    unsigned count = wmem_array_get_count(list->entries);

    if (count <= 2 * --list->count) {
        return;
    }
    wmem_array_t *remaining = new_entries();
    for (unsigned i = 0; i < count; i++) {
        state_query_entry *entry = entry_at(list, i);
        if (entry->end == UINT32_MAX) {
            wmem_array_append_one(remaining, entry);
        }
    }
    list->entries = remaining;
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

/* From the query's fields; while a change has no answer the epoch knows neither entries nor an index. */
static void begin_epoch(struct state_query *query, uint32_t event)
{
    bool is_settled = query->unanswered == 0;
    state_query_epoch epoch = {
        event,
        query,
        is_settled && query->complete,
        !is_settled,
        query->calls_missing,
        query->index_before_missing,
        is_settled ? query->counter_infos : NULL,
        UINT32_MAX,
    };

    query->doubt_not_before = event;

    wmem_array_append_one(query->epochs, epoch);
}

/* The blocks moved. */
static void begin_changed_epoch(struct state_query *query, uint32_t event, bool complete)
{
    query->complete = complete;
    query->index_before_missing = NULL;
    query->counter_infos = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_index), 1);
    begin_epoch(query, event);
}

static struct state_query *query_of(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        query->newest.all.entries = new_entries();
        query->newest.accepted.entries = new_entries();
        query->changes = wmem_array_sized_new(wmem_file_scope(), sizeof(query_change), 1);
        query->answered = wmem_array_sized_new(wmem_file_scope(), sizeof(answered_change), 1);
        query->gaps = wmem_array_sized_new(wmem_file_scope(), sizeof(uint32_t), 1);
        query->counted = wmem_array_sized_new(wmem_file_scope(), sizeof(uint32_t), 1);
        query->held_now = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
        query->history = wmem_array_new(wmem_file_scope(), sizeof(held_counters));
        query->epochs = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_epoch), 2);
        begin_changed_epoch(query, handle->begin, handle->opened_frame != 0);
    }
    return handle->query;
}

static void end_entry(struct state_query *query, const state_identifier *identifier, uint32_t event)
{
    state_query_entry *entry = wmem_map_remove(query->held_now, identifier);

    if (entry) {
        entry->end = event;
        list_ended_one(&query->newest.all);
        if (entry->identifier.status == 0) {
            list_ended_one(&query->newest.accepted);
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
    list_add(&query->newest.all, entry);
    if (identifier->status == 0) {
        list_add(&query->newest.accepted, entry);
    }
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
        begin_changed_epoch(query, event, query->complete);
    }
}

void query_unknown_change(state_handle *handle, uint32_t event)
{
    begin_changed_epoch(query_of(handle), event, false);
}

void query_change_requested(state_handle *handle, uint32_t event, const uint32_t *end_frame)
{
    struct state_query *query = query_of(handle);
    query_change change = {event, 0, end_frame};

    query->changed_until = event;
    wmem_array_append_one(query->changes, change);
}

void query_answered(state_handle *handle, uint32_t request_event, uint32_t event)
{
    struct state_query *query = query_of(handle);
    unsigned end = request_event > 0 ? event_count_until(query->changes, request_event - 1) : 0;
    uint32_t before = query->unanswered;

    for (; query->first_change < end; query->first_change++) {
        const query_change *change = wmem_array_index(query->changes, query->first_change);
        query->unanswered += change->response_event == 0;
    }
    if (query->unanswered > before) {
        query->unanswered_as_of = request_event;
        begin_epoch(query, event);
    }
}

void query_change_answered(state_handle *handle, uint32_t request_event, uint32_t event)
{
    struct state_query *query = query_of(handle);
    query_change *change = event_latest(query->changes, request_event);
    answered_change answered = {event, request_event};

    change->response_event = query->changed_until = event;
    wmem_array_append_one(query->answered, answered);
    /* only what query_answered() counted, and no QueryCounterInfo settled */
    if (request_event < query->unanswered_as_of && request_event >= query->settled_as_of) {
        query->unanswered--;
        if (query->unanswered == 0) {
            begin_epoch(query, event);
        }
    }
}

/* How many changes were asked or answered between two events. */
static unsigned changes_between(const struct state_query *query, uint32_t begin, uint32_t end)
{
    if (query->changed_until <= begin) {
        return 0; /* as mostly */
    }
    return event_count_until(query->changes, end) - event_count_until(query->changes, begin) +
           event_count_until(query->answered, end) - event_count_until(query->answered, begin);
}

static const state_query_index *latest_info(const struct state_query *query)
{
    unsigned count = wmem_array_get_count(query->counter_infos);

    return count > 0 ? wmem_array_index(query->counter_infos, count - 1) : query->index_before_missing;
}

static uint32_t latest_of(wmem_array_t *events, uint32_t event)
{
    const uint32_t *latest = event_latest(events, event);

    return latest ? *latest : 0;
}

/* True if a call may be missing of which nothing told until an event whether it was a change. */
static bool misses_one(const struct state_query *query, uint32_t until, uint32_t event)
{
    return latest_of(query->gaps, event) > latest_of(query->counted, until);
}

/* What no change overlaps. */
static void note_counted(struct state_query *query, uint32_t event)
{
    if (misses_one(query, event, event)) {
        wmem_array_append_one(query->counted, event);
    }
}

void query_call_missed(state_handle *handle, uint32_t end, uint32_t event)
{
    if (end > handle->begin && (handle->query == NULL || end > latest_of(handle->query->gaps, event))) {
        wmem_array_append_one(query_of(handle)->gaps, event);
    }
}

void query_blocks_counted(state_handle *handle, uint32_t blocks, uint32_t request_event, uint32_t event)
{
    struct state_query *query = handle->query;
    const state_query_epoch *newest = query_epoch_at(handle, event);

    if (newest == NULL || !newest->complete || changes_between(query, request_event, event) > 0) {
        return;
    }
    note_counted(query, event);
    const state_query_index *info = latest_info(query);
    if (blocks != (info ? info->count : query->newest.accepted.count)) {
        begin_changed_epoch(query, event, false);
    }
}

/* What the newest epoch was known to hold is assumed behind an event. */
static void assume_from(struct state_query *query, uint32_t event)
{
    state_query_epoch *newest = wmem_array_index(query->epochs, wmem_array_get_count(query->epochs) - 1);

    newest->assumed_from = MIN(newest->assumed_from, MAX(event, query->doubt_not_before));
}

/* Samples that other connections took since then: not more are looked through for the last certain one. */
#define MOST_SAMPLES_MEANWHILE 16

void query_calls_missed(state_handle *handle, uint32_t begin, uint32_t end, uint32_t event)
{
    if (end <= handle->begin || (handle->query && end <= handle->query->info_as_of)) {
        return;
    }
    struct state_query *query = query_of(handle);
    const state_sample *certain = handle->newest;

    for (int i = 0; i < MOST_SAMPLES_MEANWHILE && certain && certain->request_event > begin; i++) {
        certain = certain->previous;
    }
    assume_from(query, certain && certain->request_event <= begin ? MAX(begin, certain->event) : begin);
    query->info_as_of = event;
    query->calls_missing = true;
    query->index_before_missing = latest_info(query);
    query->counter_infos = wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_index), 1);
    begin_epoch(query, event);
}

static void end_all_entries(struct state_query *query, uint32_t event)
{
    const entry_list before = query->newest.all;
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
    return held == count && count == query->newest.accepted.count;
}

/* QueryCounterInfo, asked for behind changes that have no answer, tells what came of them. True if one of them may still be carried
 * out: neither its response nor its fault was seen. */
static bool settle_changes(struct state_query *query, uint32_t request_event, uint32_t event)
{
    bool may_still_happen = false;

    for (unsigned i = event_count_until(query->changes, request_event); i-- > 0;) {
        const query_change *change = wmem_array_index(query->changes, i);
        answered_change answered = {event, change->event};
        if (change->event <= query->settled_as_of) {
            break;
        }
        if (change->response_event == 0) {
            query->changed_until = event;
            wmem_array_append_one(query->answered, answered);
            may_still_happen |= *change->end_frame == 0;
        }
    }
    query->unanswered = 0;
    query->settled_as_of = request_event;
    return may_still_happen;
}

/* A QueryCounterInfo that was asked for behind changes without an answer settles what came of them; one that names other counters than
 * those that are known shows that a change was missed. */
static void take_info(struct state_query *query, const state_identifier *identifiers, uint32_t request_event,
                      const state_query_index *info)
{
    bool is_assumed = false;

    if (query->unanswered > 0) {
        is_assumed = settle_changes(query, request_event, info->event);
        begin_changed_epoch(query, info->event, false);
    } else if (query->complete && !query->calls_missing && !holds_these(query, identifiers, info->count)) {
        assume_from(query, query->doubt_not_before);
        begin_changed_epoch(query, info->event, false);
    }
    if (!query->complete || query->calls_missing) {
        hold_these(query, identifiers, info->count, info->event);
        state_query_epoch *newest = event_latest(query->epochs, info->event);
        query->complete = newest->complete = true;
        query->calls_missing = newest->calls_missing = is_assumed;
        query->index_before_missing = newest->index_before_missing = is_assumed ? info : NULL;
    }
    if (!is_assumed) {
        wmem_array_append_one(query->counter_infos, *info);
        query->doubt_not_before = request_event;
    }
}

void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t request_event,
                uint32_t event, uint32_t frame)
{
    struct state_query *query = query_of(handle);

    if (request_event < query->info_as_of || changes_between(query, request_event, event) > 0) {
        return; /* of before or after what is missing or changes: nobody knows */
    }
    state_query_index *info = wmem_new(wmem_file_scope(), state_query_index);
    *info = (state_query_index){event, frame, count, wmem_alloc0_array(wmem_file_scope(), state_identifier, count)};
    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&info->by_index[identifiers[i].index], &identifiers[i]);
    }
    query->info_as_of = request_event;
    note_counted(query, event);
    take_info(query, identifiers, request_event, info);
}

/* NULL if nothing is known. */
static const held_counters *held_as_of(const struct state_query *query, uint32_t event)
{
    return query ? event_latest(query->history, event) : NULL;
}

void query_counts(const state_handle *handle, uint32_t event, unsigned *accepted, unsigned *refused)
{
    const held_counters *held = held_as_of(handle->query, event);

    *accepted = held ? held->accepted.count : 0;
    *refused = held ? held->all.count - held->accepted.count : 0;
}

const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next)
{
    const held_counters *held = held_as_of(handle->query, event);

    return held ? list_next(&held->all, event, next) : NULL;
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

    return epoch && epoch->complete && (!epoch->calls_missing || query_has_info(epoch));
}

unsigned query_certainty(const state_query_epoch *epoch, uint32_t event)
{
    return (query_has_info(epoch) ? QUERY_HAS_INFO : 0) | (epoch && event > epoch->assumed_from ? QUERY_IS_ASSUMED : 0);
}

bool query_has_info(const state_query_epoch *epoch)
{
    return epoch && epoch->counter_infos && wmem_array_get_count(epoch->counter_infos) > 0;
}

/* How many blocks an answer has that shows the query as of an event; UINT32_MAX if that is not known. */
static uint32_t blocks_as_of(const struct state_query *query, uint32_t event, const state_query_epoch **epoch)
{
    const held_counters *held = held_as_of(query, event);

    *epoch = event_latest(query->epochs, event);
    if (query_has_info(*epoch)) {
        const state_query_index *info = event_latest((*epoch)->counter_infos, event);
        return (info ? info : (const state_query_index *)wmem_array_index((*epoch)->counter_infos, 0))->count;
    }
    return *epoch && (*epoch)->complete && !(*epoch)->calls_missing ? (held ? held->accepted.count : 0) : UINT32_MAX;
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

    if (changes > MOST_CHANGES_IN_A_CALL || misses_one(query, request_event, response_event) ||
        (epoch && epoch->unanswered)) {
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
        open -= change->request_event > request_event;
        found = found == 0 && count == blocks ? change->event : found;
        last = epoch;
        asked_before = change->event;
    }
    return open == 0 || (open == 1 && changes == 0) ? found : 0;
}

const state_query_index *query_index_at(const state_query_epoch *epoch, uint32_t event, uint32_t blocks)
{
    if (!query_has_info(epoch)) {
        return NULL;
    }
    const state_query_index *info = event_latest(epoch->counter_infos, event);
    info = info ? info : wmem_array_index(epoch->counter_infos, 0);
    return info->count == blocks ? info : NULL;
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
    const held_counters *held = held_as_of(query, event);
    const state_query_entry *entry;
    unsigned next = 0;

    if (held == NULL || held->accepted.count != count) {
        return NULL;
    }
    const state_identifier **identifiers = wmem_alloc_array(pool, const state_identifier *, count);
    for (uint32_t i = 0; i < count && (entry = list_next(&held->accepted, event, &next)) != NULL; i++) {
        identifiers[i] = &entry->identifier;
    }
    return identifiers;
}

/* As QueryCounterInfo said it before calls were missing, if there are as many blocks; one whose type does not fit is nobody's. */
static bool assign_as_before_missing(const state_query_index *info, const uint32_t *types, state_assignment *assignment)
{
    if (info == NULL || info->count != assignment->count) {
        return false;
    }
    for (uint32_t i = 0; i < info->count; i++) {
        const state_identifier *identifier = &info->by_index[i];
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
    if (!assign_as_before_missing(epoch->index_before_missing, types, assignment) &&
        (identifiers = identifiers_of(pool, epoch->query, event, count)) != NULL) {
        assign_by_order(identifiers, types, assignment);
    }
    for (uint32_t i = 0; i < count && epoch->calls_missing; i++) {
        assignment->assumed[i] = assignment->blocks[i] != NULL;
    }
}
