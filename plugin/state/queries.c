/* queries.c
 * Counters of a query, and which of them each block of its answers belongs to.
 *
 * Each query has a log: what was asked of it, answered, told and missed, in the order of events, and after each step what is known of
 * it then. "As of an event" is the latest step that is not after it. What the server may move all blocks with is a change of the counters:
 * from one to the next is an epoch, and as long as that a QueryCounterInfo holds.
 *
 * What is learned later of what was before (that a call was made and not seen, that QueryCounterInfo tells something else than was
 * known) is entered in the epochs back to the last certain moment, so that whoever looks again sees it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/queries.h"

#include "perf/bytes.h"
#include "perf/data-walk.h"

/* So many calls may have changed the query and were not seen. One alone would show by another number of blocks; two may make up for each
 * other: what was known is assumed. */
enum { ONE_UNSEEN, TWO_UNSEEN, UNSEEN_LEVELS };

#define NEVER UINT32_MAX

/* Where a query stands as long as one call more may bring it into doubt: with those of its association group, and of all of the client. */
enum { OF_GROUP, OF_CLIENT, NUM_LISTS };

struct state_query_epoch {
    uint32_t event;                 /* with which it began */
    state_query_epoch *before;      /* NULL: the first */
    uint32_t complete_from;         /* all that the query holds is known from this event on, NEVER: it is not */
    const state_query_index *index; /* NULL where nobody told */
    uint32_t told_from; /* answers whose request is older are of nobody; NEVER: all are, until somebody tells */
    uint32_t unseen[UNSEEN_LEVELS]; /* calls: after this event, NEVER: none is */
};

/* Entries in the order they were added. Those that ended stay until they are as many as the others, which go on in an array of their own then:
 * whoever has the old one finds there what held at his event. */
typedef struct {
    wmem_array_t *entries; /* state_query_entry * */
    uint32_t held;         /* of them, that have not ended */
    uint32_t accepted;     /* of those, by the server */
} held_counters;

typedef enum {
    STEP_OPENED,
    STEP_ASKED,    /* for a change */
    STEP_ANSWERED, /* for a change, or it is known otherwise what came of it */
    STEP_CHANGED,  /* counters were added or removed */
    STEP_TOLD,     /* by QueryCounterInfo */
    STEP_MISSED,   /* a change: an answer's blocks show it, or calls of the client's connections */
} step_kind;

typedef struct {
    uint32_t event;
    step_kind kind;
    bool is_answered;          /* ASKED: an ANSWERED follows */
    const uint32_t *end_frame; /* ASKED: *: of the response or fault, read or not; 0 as long as there is none */
    uint32_t asked;            /* ANSWERED: event of its request */
    /* what is known after it */
    held_counters held;
    state_query_epoch *epoch;
    unsigned open;     /* changes that were asked for and have no answer: what came of them is not known */
    unsigned answered; /* changes */
    uint32_t changed;  /* event of the latest ASKED or ANSWERED, 0 without one */
    uint32_t told;     /* what a QueryCounterInfo tells that was asked for before this may be of before what is known */
    uint32_t certain;  /* event after which the query may have changed unseen */
} query_step;

struct state_query {
    wmem_array_t *log;                    /* query_step, ascending events */
    wmem_map_t *held_now;                 /* state_identifier -> its newest state_query_entry */
    uint32_t contradicted;                /* event of the latest sample that is not what was told, 0: none */
    const perf_form *compared;            /* the form of the latest that is, */
    const state_query_epoch *compared_in; /* and when */
    wmem_list_frame_t *listed[NUM_LISTS];
};

/* --- Association groups ---------------------------------------------------------------------------------------- */

#define ALL_GROUPS UINT32_MAX

static wmem_map_t *associations; /* state_association, as its own key; emptied with the file */

static unsigned association_hash(const void *key)
{
    const state_association *k = key;
    const uint64_t number = (uint64_t)k->port << 32 | k->group;

    return wmem_strong_hash(k->client.data, (size_t)k->client.len) * 31 +
           wmem_strong_hash(k->server.data, (size_t)k->server.len) + wmem_int64_hash(&number);
}

static gboolean association_equal(const void *a, const void *b)
{
    const state_association *x = a, *y = b;

    return x->port == y->port && x->group == y->group && addresses_equal(&x->client, &y->client) &&
           addresses_equal(&x->server, &y->server);
}

static state_association *find_or_add(const state_association *key)
{
    state_association *found = wmem_map_lookup(associations, key);

    if (found == NULL) {
        found = wmem_memdup(wmem_file_scope(), key, sizeof *key);
        copy_address_wmem(wmem_file_scope(), &found->client, &key->client);
        copy_address_wmem(wmem_file_scope(), &found->server, &key->server);
        found->handles = wmem_list_new(wmem_file_scope());
        wmem_map_insert(associations, found, found);
    }
    return found;
}

state_association *query_association(const address *client, const address *server, uint32_t port, uint32_t group)
{
    state_association key = {.client = *client, .server = *server, .port = port, .group = group};
    state_association *association = find_or_add(&key);

    if (association->all == NULL) {
        key.group = ALL_GROUPS;
        association->all = find_or_add(&key);
        association->unknown =
            group == ASSOCIATION_UNKNOWN ? association : query_association(client, server, port, ASSOCIATION_UNKNOWN);
    }
    return association;
}

/* So many of the newest are looked at, those that were closed among them. */
#define MOST_HANDLES 256

bool query_is_handle(const address *client, const address *server, uint32_t port, const uint8_t *bytes)
{
    const state_association key = {.client = *client, .server = *server, .port = port, .group = ALL_GROUPS};
    const state_association *all = wmem_map_lookup(associations, &key);
    wmem_list_frame_t *at = all ? wmem_list_head(all->handles) : NULL;
    bool found = false;

    for (unsigned i = 0; at && i < MOST_HANDLES && !found; i++, at = wmem_list_frame_next(at)) {
        const state_handle *handle = wmem_list_frame_data(at);
        found = memcmp(handle->bytes, bytes, sizeof handle->bytes) == 0;
    }
    return found;
}

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

/* --- The log ----------------------------------------------------------------------------------------------------- */

static query_step *step_at(const struct state_query *query, unsigned i)
{
    return wmem_array_index(query->log, i);
}

static query_step *newest_step(const struct state_query *query)
{
    return step_at(query, wmem_array_get_count(query->log) - 1);
}

/* As of an event; NULL if nothing is known then. */
static const query_step *step_as_of(const struct state_query *query, uint32_t event)
{
    return query ? state_event_latest(query->log, event) : NULL;
}

/* What is known goes on with it. */
static query_step *add_step(struct state_query *query, step_kind kind, uint32_t event)
{
    query_step step = *newest_step(query);

    ws_assert(event >= step.event);
    step.event = event;
    step.kind = kind;
    step.is_answered = false;
    step.end_frame = NULL;
    wmem_array_append_one(query->log, step);
    return newest_step(query);
}

static bool is_complete(const state_query_epoch *epoch, uint32_t event)
{
    return event >= epoch->complete_from;
}

/* Calls that were not seen may have changed what is known as of an event. */
static bool is_doubted(const state_query_epoch *epoch, unsigned unseen, uint32_t event)
{
    return event > epoch->unseen[unseen];
}

/* As the one before, but for its index: `complete` says whether all that the query holds from here on is known. */
static state_query_epoch *begin_epoch(query_step *step, bool complete)
{
    state_query_epoch *epoch = wmem_memdup(wmem_file_scope(), step->epoch, sizeof *epoch);

    epoch->event = step->event;
    epoch->before = step->epoch;
    epoch->complete_from = complete ? 0 : NEVER;
    epoch->index = NULL;
    step->epoch = epoch;
    return epoch;
}

static wmem_array_t *new_entries(void)
{
    return wmem_array_sized_new(wmem_file_scope(), sizeof(state_query_entry *), 4);
}

static struct state_query *query_of(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        query_step opened = {.event = handle->begin, .kind = STEP_OPENED, .certain = handle->begin};
        opened.held.entries = new_entries();
        opened.epoch = wmem_new0(wmem_file_scope(), state_query_epoch);
        *opened.epoch =
            (state_query_epoch){handle->begin, NULL, handle->opened_frame != 0 ? 0 : NEVER, NULL, 0, {NEVER, NEVER}};
        query->log = wmem_array_sized_new(wmem_file_scope(), sizeof opened, 1);
        query->held_now = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
        wmem_array_append_one(query->log, opened);
    }
    return handle->query;
}

/* --- Entries --------------------------------------------------------------------------------------------------- */

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

static void leave_ended_behind(held_counters *held)
{
    wmem_array_t *remaining = new_entries();

    for (unsigned i = 0; i < wmem_array_get_count(held->entries); i++) {
        state_query_entry *entry = entry_at(held, i);
        if (entry->end == UINT32_MAX) {
            wmem_array_append_one(remaining, entry);
        }
    }
    held->entries = remaining;
}

/* With the newest step, which these three take for it. */
static void end_entry(struct state_query *query, const state_identifier *identifier)
{
    state_query_entry *entry = wmem_map_remove(query->held_now, identifier);
    query_step *step = newest_step(query);

    if (entry) {
        entry->end = step->event;
        step->held.held--;
        step->held.accepted -= entry->identifier.status == 0;
        if (wmem_array_get_count(step->held.entries) > 2 * step->held.held) {
            leave_ended_behind(&step->held);
        }
    }
}

static void add_entry(struct state_query *query, const state_identifier *identifier)
{
    state_query_entry *entry = wmem_new0(wmem_file_scope(), state_query_entry);
    query_step *step = newest_step(query);

    end_entry(query, identifier);
    copy_identifier(&entry->identifier, identifier);
    entry->from = step->event;
    entry->end = UINT32_MAX;
    wmem_array_append_one(step->held.entries, entry);
    step->held.held++;
    step->held.accepted += identifier->status == 0;
    wmem_map_insert(query->held_now, &entry->identifier, entry);
}

/* The whole list as QueryCounterInfo told it. */
static void hold_these(struct state_query *query, const state_identifier *identifiers, uint32_t count)
{
    const held_counters before = newest_step(query)->held;
    const state_query_entry *entry;
    unsigned next = 0;

    while ((entry = next_entry(&before, newest_step(query)->event, &next)) != NULL) {
        if (entry->identifier.status == 0) {
            end_entry(query, &entry->identifier);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        state_identifier identifier = identifiers[i];
        identifier.status = 0;
        add_entry(query, &identifier);
    }
}

/* NULL if it is not held, or was refused. */
static state_query_entry *held_entry(const struct state_query *query, const state_identifier *identifier)
{
    state_query_entry *entry = wmem_map_lookup(query->held_now, identifier);

    return entry && entry->identifier.status == 0 ? entry : NULL;
}

/* After an event, but not before the last certain moment. */
static void doubt(const query_step *newest, unsigned unseen, uint32_t from)
{
    from = MAX(from, newest->certain);
    for (state_query_epoch *epoch = newest->epoch; epoch && epoch->unseen[unseen] > from; epoch = epoch->before) {
        epoch->unseen[unseen] = from;
        if (epoch->event <= from) {
            break;
        }
    }
}

/* A change was missed, with the newest step. Where no call is known to be missing, others may have been since the last certain moment, and until
 * QueryCounterInfo. */
static void begin_unknown(state_handle *handle, query_step *newest)
{
    state_query_epoch *epoch = begin_epoch(newest, false);

    if (epoch->unseen[ONE_UNSEEN] == NEVER) {
        doubt(newest, TWO_UNSEEN, newest->certain);
        epoch->told_from = NEVER;
        handle->server->facts_version += handle->newest != NULL;
    }
}

/* --- Changes ----------------------------------------------------------------------------------------------------- */

void query_change_requested(state_handle *handle, uint32_t event, const uint32_t *end_frame)
{
    query_step *step = add_step(query_of(handle), STEP_ASKED, event);

    step->end_frame = end_frame;
    step->open++;
    step->changed = event;
}

static void note_answered(struct state_query *query, query_step *asked, uint32_t event)
{
    uint32_t asked_at = asked->event;

    asked->is_answered = true;
    query_step *step = add_step(query, STEP_ANSWERED, event);
    step->asked = asked_at;
    step->answered++;
    step->open--;
    step->changed = event;
}

/* The step of a request. */
static query_step *asked_at(const struct state_query *query, uint32_t event)
{
    query_step *step = state_event_latest(query->log, event);

    return step && step->kind == STEP_ASKED && step->event == event ? step : NULL;
}

void query_change_answered(state_handle *handle, uint32_t request_event, uint32_t event)
{
    struct state_query *query = query_of(handle);
    query_step *asked = asked_at(query, request_event);

    if (asked && asked->is_answered) { /* by QueryCounterInfo: what that said is assumed, for this was still to come */
        add_step(query, STEP_CHANGED, event)->changed = event;
    } else if (asked) {
        note_answered(query, asked, event);
    }
}

#define STATUS_ALREADY_EXISTS 183

/* A refused identifier is kept for its verdict; one that the query holds already stays as it is. What is added though it was held before, or is
 * not though it was not, or is removed though it was not, tells of a change that was not seen. */
void query_changed(state_handle *handle, bool add, const state_identifier *identifiers, uint32_t count, uint32_t event)
{
    struct state_query *query = query_of(handle);
    bool changed = false, contradicts = false;

    add_step(query, STEP_CHANGED, event);
    for (uint32_t i = 0; i < count; i++) {
        const state_query_entry *held = held_entry(query, &identifiers[i]);
        bool done = identifiers[i].status == 0, is_there = identifiers[i].status == STATUS_ALREADY_EXISTS;
        changed |= done;
        contradicts |= held ? add && done && held->from < event : add ? is_there : done;
        if (!add && done) {
            end_entry(query, &identifiers[i]);
        } else if (add && held == NULL) {
            add_entry(query, &identifiers[i]);
        }
    }
    query_step *step = newest_step(query);
    if (contradicts && step->open == 0 && is_complete(step->epoch, event)) {
        begin_unknown(handle, step);
    } else if (changed) {
        begin_epoch(step, is_complete(step->epoch, event));
    }
}

void query_unknown_change(state_handle *handle, uint32_t event)
{
    begin_epoch(add_step(query_of(handle), STEP_CHANGED, event), false);
}

/* --- What was not seen --------------------------------------------------------------------------------------------- */

static void list_query(state_handle *handle)
{
    struct state_query *query = query_of(handle);

    for (unsigned i = 0; handle->association && i < NUM_LISTS; i++) {
        if (query->listed[i] == NULL) {
            wmem_list_t *list = (i == OF_GROUP ? handle->association : handle->association->all)->handles;
            wmem_list_prepend(list, handle);
            query->listed[i] = wmem_list_head(list);
        }
    }
}

void query_used(state_handle *handle, state_association *association)
{
    state_association *before = handle->association;

    if (before && before->all != association->all) {
        association->all->shares = before->unknown;
    }
    if (before == association || (before && (before->all != association->all || before == before->unknown))) {
        return;
    }
    if (before && handle->query->listed[OF_GROUP]) { /* two groups: their numbers tell nothing */
        wmem_list_remove_frame(before->handles, handle->query->listed[OF_GROUP]);
        handle->query->listed[OF_GROUP] = NULL;
    }
    handle->association = before ? association->unknown : association;
    list_query(handle);
}

/* What was known goes on, in doubt. */
void query_change_unseen(state_handle *handle, uint32_t begin, uint32_t event, unsigned number)
{
    struct state_query *query = query_of(handle);
    query_step *step = newest_step(query);
    uint32_t first = step->epoch->unseen[ONE_UNSEEN];

    doubt(step, ONE_UNSEEN, begin);
    doubt(step, TWO_UNSEEN, number > 1 ? begin : MAX(begin, first)); /* none where this is the first: NEVER */
    const state_query_index *told = step->epoch->index;
    step = add_step(query, STEP_MISSED, event);
    begin_epoch(step, is_complete(step->epoch, event))->index = told;
    handle->server->facts_version += handle->newest != NULL;
}

/* Those that are in doubt, or were closed before, leave the list. */
static void miss_calls_of(state_association *association, unsigned which, uint32_t begin, uint32_t event,
                          unsigned number)
{
    wmem_list_frame_t *next, *at = wmem_list_head(association->handles);

    for (; at; at = next) {
        state_handle *handle = wmem_list_frame_data(at);
        next = wmem_list_frame_next(at);
        if (handle->end > begin && newest_step(handle->query)->epoch->unseen[TWO_UNSEEN] == NEVER) {
            query_change_unseen(handle, begin, event, number);
        }
        if (handle->end <= begin || newest_step(handle->query)->epoch->unseen[TWO_UNSEEN] != NEVER) {
            wmem_list_remove_frame(association->handles, at);
            handle->query->listed[which] = NULL;
        }
    }
}

void query_calls_unseen(state_association *association, uint32_t begin, uint32_t event, unsigned number)
{
    if (association == association->unknown) {
        miss_calls_of(association->all, OF_CLIENT, begin, event, number);
    } else {
        miss_calls_of(association, OF_GROUP, begin, event, number);
        miss_calls_of(association->unknown, OF_GROUP, begin, event, number);
    }
    association->unseen = association->all->unseen = event;
    state_association *shares = association->all->shares;
    if (shares) {
        miss_calls_of(shares->all, OF_CLIENT, begin, event, number);
        shares->unseen = shares->all->unseen = event;
    }
}

/* Those whose calls may change it beside its own group's. */
static const state_association *others_of(const state_association *own)
{
    return own == own->unknown ? own->all : own->unknown;
}

/* Event of the latest call, or answer, of its client that was not seen and may have changed it; 0: there is none. */
static uint32_t unseen_until(const state_handle *handle)
{
    const state_association *own = handle->association;

    return own ? MAX(own->unseen, others_of(own)->unseen) : 0;
}

/* Calls that were not read are under way, and may change it yet. */
static bool calls_are_open(const state_handle *handle)
{
    const state_association *own = handle->association;

    return own && own->open + others_of(own)->open > 0;
}

/* --- Blocks and QueryCounterInfo ----------------------------------------------------------------------------------- */

/* The instance that a walk has just announced does not begin as the pattern does, or has not the id that was asked for. */
static bool is_not_asked_for(const state_identifier *identifier, const perf_walk *walk)
{
    const uint8_t *name = walk->data + walk->instance.name, *asked = identifier->utf16;
    uint32_t i = 0;

    for (; i < identifier->utf16_size && !strchr("*?", perf_le16(asked + i) & 0x7F); i += 2) {
        uint16_t a = perf_le16(asked + i), b = i < walk->instance.name_size ? perf_le16(name + i) : 0;
        if (a < 0x80 && b < 0x80 && g_ascii_tolower((char)a) != g_ascii_tolower((char)b)) {
            return true;
        }
    }
    return identifier->instance_id != PERF_NO_ID && identifier->instance_id != walk->instance.id;
}

/* The first value of a block is shorter than its counter's type, or the block has a counter that its set, as it was told, has not. */
static bool is_no_value_of(state_handle *handle, const state_identifier *identifier, const perf_walk *walk,
                           uint32_t event)
{
    uint32_t columns = walk->counters.ids != 0 ? walk->counters.count : 0;
    state_subject counter = facts_subject(identifier->guid, PERF_NO_ID);
    bool is_told =
        columns > 0 && facts_lookup(handle->server, counter, PERF_FACT_SET, event).source == PERF_SOURCE_EARLIER;
    state_known known = {NULL, PERF_SOURCE_NONE, 0};

    counter.id = columns > 0 ? perf_walk_counter_id(walk, 0) : identifier->counter_id;
    if (walk->value.data_size == 4) { /* of most blocks nothing has to be looked up */
        known = facts_lookup(handle->server, counter, PERF_FACT_COUNTER, event);
    }
    bool is_wrong =
        known.source == PERF_SOURCE_EARLIER && (known.fact->counter.type & PERF_SIZE_MASK) == PERF_SIZE_LARGE;
    for (uint32_t i = 0; i < columns && is_told && !is_wrong; i++) {
        counter.id = perf_walk_counter_id(walk, i);
        is_wrong = facts_lookup(handle->server, counter, PERF_FACT_COUNTER, event).fact == NULL;
    }
    return is_wrong;
}

/* What begins a block of a sample shows that it is not the identifier's whose it should be. Where there are more of them it is looked for
 * once for samples of one form: each other one would cost as much again in a list. */
#define MOST_COMPARED 256
static bool is_other_than_told(state_handle *handle, const state_query_index *told, const state_sample *sample)
{
    perf_walk_event event = PERF_WALK_HEADER;
    bool is_wrong = false;
    perf_walk walk;

    if (sample->bytes == NULL || sample->summary.sound_blocks < sample->summary.blocks ||
        sample->summary.blocks != told->count || (told->count > MOST_COMPARED && sample->form == NULL)) {
        return false;
    }
    perf_walk_init(&walk, sample->bytes, sample->size);
    while (!is_wrong && (event = perf_walk_next(&walk)) != PERF_WALK_END) {
        const state_identifier *identifier = event > PERF_WALK_HEADER ? &told->by_index[walk.block.index] : NULL;
        if (event == PERF_WALK_BLOCK) {
            is_wrong = !query_identifier_fits(identifier, walk.block.type);
        } else if (event == PERF_WALK_INSTANCE) {
            is_wrong = is_not_asked_for(identifier, &walk);
        } else if (event == PERF_WALK_VALUE) {
            is_wrong = is_no_value_of(handle, identifier, &walk, sample->event);
            perf_walk_skip_block(&walk);
        }
    }
    return is_wrong;
}

/* Samples of before QueryCounterInfo that nothing was told of until then. After more of them it is not looked for. */
static bool was_other_than_told(state_handle *handle, const state_query_index *told, const query_step *newest)
{
    enum { MOST = 64 };
    const state_sample *sample = newest->epoch->index == NULL ? handle->newest : NULL, *last = NULL;

    for (unsigned i = 0; i < MOST && sample && sample->request_event >= MAX(newest->changed, newest->epoch->event);
         i++) {
        bool is_alike = last && sample->form && sample->form == last->form;
        if (!is_alike && is_other_than_told(handle, told, sample)) {
            return true;
        }
        last = sample;
        sample = sample->previous;
    }
    return false;
}

/* Since the last certain moment it was assumed what was told, and until QueryCounterInfo it goes on so. */
static void compare_with_told(state_handle *handle, query_step *step, const state_sample *sample)
{
    struct state_query *query = handle->query;
    unsigned next = 0;
    const state_query_entry *only = step->held.held == 1 ? next_entry(&step->held, sample->event, &next) : NULL;
    const state_query_index alone = {.count = 1, .by_index = only ? (state_identifier *)&only->identifier : NULL};
    const state_query_index *told = step->epoch->index ? step->epoch->index : only ? &alone : NULL;

    if (told == NULL || is_doubted(step->epoch, TWO_UNSEEN, sample->event) ||
        (sample->form && sample->form == query->compared && step->epoch == query->compared_in)) {
        return;
    }
    query->compared = sample->form;
    query->compared_in = step->epoch;
    if (is_other_than_told(handle, told, sample)) {
        query->contradicted = sample->event;
        query_change_unseen(handle, step->certain, sample->event, 2);
    }
}

void query_blocks_counted(state_handle *handle, const state_sample *sample)
{
    struct state_query *query = handle->query;
    query_step *step = query ? newest_step(query) : NULL;

    if (step == NULL || !is_complete(step->epoch, sample->event) || sample->request_event < step->changed ||
        step->open > 0) {
        return;
    }
    if (sample->summary.blocks != (step->epoch->index ? step->epoch->index->count : step->held.accepted)) {
        begin_unknown(handle, add_step(query, STEP_MISSED, sample->event));
    } else {
        compare_with_told(handle, step, sample);
    }
}

/* As was known, or with what the one call that was not seen may have done. */
static bool agrees(const struct state_query *query, const state_identifier *identifiers, const state_query_index *info)
{
    const query_step *newest = newest_step(query);
    const state_query_epoch *epoch = newest->epoch;
    const state_query_index *told = epoch->index;
    bool same_order = told && told->count == info->count;
    uint32_t held = 0;

    for (uint32_t i = 0; i < info->count; i++) {
        state_query_entry *entry = held_entry(query, &identifiers[i]);
        held += entry && entry->told != info; /* what is told twice counts once */
        if (entry) {
            entry->told = info;
        }
        same_order = same_order && query_identifier_equal(&told->by_index[i], &info->by_index[i]);
    }
    bool all_held = held == info->count, is_same = all_held && held == newest->held.accepted;
    bool may_be = all_held || held == newest->held.accepted;

    if (is_same && told) {
        return same_order;
    }
    return is_same || (may_be && (epoch->unseen[ONE_UNSEEN] != NEVER || !is_complete(epoch, newest->event)));
}

/* QueryCounterInfo, asked for after changes that have no answer, tells what came of them. True if one of them has neither response nor
 * fault: the server may still carry it out, so what was told is only assumed. */
static bool settle_changes(struct state_query *query, uint32_t event)
{
    bool may_still_happen = false;

    for (unsigned i = wmem_array_get_count(query->log); i > 0 && newest_step(query)->open > 0; i--) {
        query_step *step = step_at(query, i - 1);
        if (step->kind == STEP_ASKED && !step->is_answered) {
            may_still_happen |= *step->end_frame == 0;
            note_answered(query, step, event);
        }
    }
    return may_still_happen;
}

/* What was told, with the newest step. It holds from the last call on that was not seen, or since the counters changed; what contradicts it
 * was assumed since the last certain moment. */
static void take_info(state_handle *handle, const state_identifier *identifiers, uint32_t request_event,
                      const state_query_index *info, uint32_t event)
{
    struct state_query *query = handle->query;
    const query_step before = *newest_step(query);
    bool is_doubted_now = before.epoch->unseen[TWO_UNSEEN] != NEVER, settles = before.open > 0;
    bool contradicts = !settles && !is_doubted_now &&
                       (!agrees(query, identifiers, info) || was_other_than_told(handle, info, &before));
    bool is_known = is_complete(before.epoch, event) && !is_doubted_now && !contradicts && !settles;
    bool is_assumed = (settles && settle_changes(query, event)) || calls_are_open(handle);

    if (contradicts) {
        doubt(&before, TWO_UNSEEN, before.certain);
    }
    query_step *step = add_step(query, STEP_TOLD, event);
    state_query_epoch *epoch = step->epoch;
    step->told = request_event;
    if (is_known && !is_assumed) {
        epoch->index = epoch->index ? epoch->index : info;
    }
    bool goes_on = !is_assumed && !settles && !contradicts && epoch->told_from != NEVER &&
                   query->contradicted <= before.certain &&
                   (is_known ? epoch->unseen[ONE_UNSEEN] == NEVER : is_doubted_now || !is_complete(epoch, event));
    if (!goes_on) {
        epoch = begin_epoch(step, true);
        epoch->told_from = settles ? 0 : request_event;
        epoch->unseen[ONE_UNSEEN] = epoch->unseen[TWO_UNSEEN] = is_assumed ? step->event : NEVER;
        epoch->index = info;
    } else if (!is_known) {
        epoch->index = info;
        epoch->told_from = unseen_until(handle);
        epoch->complete_from = event;
        epoch->unseen[ONE_UNSEEN] = epoch->unseen[TWO_UNSEEN] = NEVER;
    }
    if (!is_known) {
        hold_these(query, identifiers, info->count);
        /* an identifier is told twice: of which block is wrong */
        if (newest_step(query)->held.accepted != info->count) {
            epoch->unseen[ONE_UNSEEN] = epoch->unseen[TWO_UNSEEN] = epoch->event;
        }
    }
    if (!is_assumed) {
        newest_step(query)->certain = request_event;
        list_query(handle);
    }
}

uint32_t query_first_odd_index(const state_identifier *identifiers, uint32_t count)
{
    bool *taken = wmem_alloc0_array(NULL, bool, count);
    uint32_t i = 0;

    while (i < count && identifiers[i].index < count && !taken[identifiers[i].index]) {
        taken[identifiers[i++].index] = true;
    }
    wmem_free(NULL, taken);
    return i;
}

static state_query_index *new_index(const state_identifier *identifiers, uint32_t count)
{
    state_query_index *info = wmem_new(wmem_file_scope(), state_query_index);

    *info =
        (state_query_index){.count = count, .by_index = wmem_alloc0_array(wmem_file_scope(), state_identifier, count)};
    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&info->by_index[identifiers[i].index], &identifiers[i]);
    }
    return info;
}

void query_info(state_handle *handle, const state_identifier *identifiers, uint32_t count, uint32_t request_event,
                uint32_t event)
{
    const query_step *step = newest_step(query_of(handle));
    bool is_of_before =
        request_event < step->told || request_event < step->changed || unseen_until(handle) > request_event;

    /* of before or after what is missing or changes is unknown */
    if (!is_of_before && query_first_odd_index(identifiers, count) == count) {
        take_info(handle, identifiers, request_event, new_index(identifiers, count), event);
        handle->server->facts_version += handle->newest != NULL;
    }
}

/* --- As of an event ---------------------------------------------------------------------------------------------- */

void query_counts(const state_handle *handle, uint32_t event, unsigned *accepted, unsigned *refused)
{
    const query_step *step = step_as_of(handle->query, event);

    *accepted = step ? step->held.accepted : 0;
    *refused = step ? step->held.held - step->held.accepted : 0;
}

const state_query_entry *query_entries(const state_handle *handle, uint32_t event, unsigned *next)
{
    const query_step *step = step_as_of(handle->query, event);

    return step ? next_entry(&step->held, event, next) : NULL;
}

bool query_is_complete(const state_handle *handle, uint32_t event)
{
    const query_step *step = step_as_of(handle->query, event);
    bool asks_itself = step && step->kind == STEP_ASKED && step->event == event;

    return step && is_complete(step->epoch, event) && step->open == asks_itself &&
           !is_doubted(step->epoch, TWO_UNSEEN, event);
}

/* How many blocks an answer has that shows the query as of an event; UINT32_MAX if that is not known. */
static uint32_t blocks_as_of(const query_step *step, uint32_t event)
{
    const state_query_epoch *epoch = step ? step->epoch : NULL;

    if (epoch && epoch->index && event >= epoch->told_from) {
        return epoch->index->count;
    }
    return epoch && is_complete(epoch, event) && !is_doubted(epoch, TWO_UNSEEN, event) ? step->held.accepted
                                                                                       : UINT32_MAX;
}

/* More steps than a client makes during one call are not looked through. */
#define MOST_STEPS_IN_A_CALL 64

/* An answer shows the query as of some moment between its request and its response. Where changes were asked or answered in between: the
 * event of the one state that has as many blocks and of which it is known; 0 if there are several, or none. One change alone either adds
 * or removes: without another number of blocks it did nothing. */
static uint32_t event_shown(const struct state_query *query, uint32_t request_event, const query_step *end,
                            uint32_t response_event, uint32_t blocks)
{
    const query_step *first = step_as_of(query, request_event), *begin = first ? first + 1 : step_at(query, 0);
    unsigned count = end->answered - (first ? first->answered : 0);
    const state_query_epoch *last = first ? first->epoch : NULL;
    uint32_t found = blocks_as_of(first, request_event) == blocks ? request_event : 0, asked_before = 0;

    if (end - begin >= MOST_STEPS_IN_A_CALL || is_doubted(end->epoch, ONE_UNSEEN, response_event)) {
        return 0;
    }
    /* how many blocks there are after each change; the order of changes that overlap each other is unknown */
    for (const query_step *change = begin; change <= end; change++) {
        if (change->kind != STEP_ANSWERED) {
            continue;
        }
        const query_step *after_change = step_as_of(query, change->event);
        uint32_t shows = blocks_as_of(after_change, after_change->event);
        /* one alone whose outcome is not known either changed the number of blocks or nothing */
        bool is_known = shows != UINT32_MAX || count == 1;
        if (!is_known || change->asked < asked_before ||
            (shows == blocks && found > 0 && after_change->epoch != last)) {
            return 0;
        }
        found = found == 0 && shows == blocks ? after_change->event : found;
        last = after_change->epoch;
        asked_before = change->asked;
    }
    return end->open == 0 || (end->open == 1 && count == 0) ? found : 0;
}

state_query_view query_view(const state_handle *handle, uint32_t request_event, uint32_t response_event,
                            uint32_t blocks)
{
    const struct state_query *query = handle ? handle->query : NULL;
    const query_step *end = step_as_of(query, response_event), *step = end;
    state_query_view view = {.query = query, .event = end && end->open == 0 ? response_event : 0};

    if (end && end->changed > request_event) { /* else the usual case */
        view.event = event_shown(query, request_event, end, response_event, blocks);
    }
    if (view.event != response_event) {
        step = step_as_of(query, view.event);
    }
    view.epoch = step && request_event >= step->epoch->told_from ? step->epoch : NULL;
    if (view.epoch) {
        const state_query_index *told = view.epoch->index;
        view.index = told && told->count == blocks ? told : NULL;
        view.is_assumed =
            is_doubted(view.epoch, TWO_UNSEEN, view.event) && (view.index || is_complete(view.epoch, view.event));
    }
    return view;
}

/* --- Without an index ------------------------------------------------------------------------------------------ */

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

/* The accepted identifiers in the order in which they were added, if there is one for each block and all fit so. */
static bool assign_by_order(const state_query_view *view, const uint32_t *types, state_assignment *assignment)
{
    const query_step *step = step_as_of(view->query, view->event);
    const state_query_entry *entry;
    unsigned next = 0;

    if (step == NULL || step->held.accepted != assignment->count) {
        return false;
    }
    for (uint32_t i = 0; i < assignment->count && (entry = next_entry(&step->held, view->event, &next)) != NULL;) {
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

void query_assign(wmem_allocator_t *pool, const state_query_view *view, const uint32_t *types, uint32_t count,
                  state_assignment *assignment)
{
    *assignment = (state_assignment){wmem_alloc0_array(pool, const state_identifier *, count), false, count};
    if (view->epoch && is_complete(view->epoch, view->event) && count > 0) {
        /* the only identifier for the only block is certain, as long as no calls are missing */
        assignment->assumed = assign_by_order(view, types, assignment) && (count > 1 || view->is_assumed);
    }
}

void queries_register(void)
{
    associations = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), association_hash, association_equal);
}
