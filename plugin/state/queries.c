/* queries.c
 * Counters of a query, and whose each block of its data is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/queries.h"

#include "perf/bytes.h"

#define BLOCKS_UNKNOWN UINT32_MAX

/* Win32's ERROR_ALREADY_EXISTS: the query holds the counter already. */
#define STATUS_ALREADY_EXISTS 183

struct query_change {
    struct state_query *query;
    bool add;
    bool is_pending; /* is among its query's */
    bool is_read;    /* the next two are known */
    state_identifier *identifiers;
    uint32_t count;
};

struct state_query {
    query_epoch *epoch;                 /* the newest */
    wmem_map_t *counters_by_identifier; /* state_identifier -> query_counter of the newest epoch */
    wmem_list_t *pending;               /* query_change: without a response, in the order of their requests */
    uint32_t num_told;                  /* by QueryCounterInfo, so far */
    uint32_t num_changes;               /* that were asked for, those that nobody could read too */
    const void *connection;             /* on which it was used last */
    uint32_t unread;                    /* changes of that connection that nobody could read, */
    uint32_t settled;                   /* and how many of them do not matter any more */
};

/* --- Identifiers ------------------------------------------------------------------------------------------------- */

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

/* --- Counters ---------------------------------------------------------------------------------------------------- */

static query_counter *counter_at(const query_epoch *epoch, unsigned i)
{
    return *(query_counter **)wmem_array_index(epoch->counters, i);
}

/* Later epochs' stand behind. */
const query_counter *query_next_counter(const query_epoch *epoch, unsigned *next)
{
    while (epoch && *next < wmem_array_get_count(epoch->counters)) {
        const query_counter *counter = counter_at(epoch, (*next)++);
        if (counter->from > epoch->number) {
            return NULL;
        }
        if (counter->end > epoch->number) {
            return counter;
        }
    }
    return NULL;
}

static wmem_array_t *new_counters(void)
{
    return wmem_array_sized_new(wmem_file_scope(), sizeof(query_counter *), 4);
}

/* Begins the next epoch, with the counters of the newest. */
static query_epoch *begin_epoch(struct state_query *query, bool is_complete)
{
    query_epoch *epoch = wmem_memdup(wmem_file_scope(), query->epoch, sizeof *epoch);

    epoch->number++;
    epoch->is_complete = is_complete;
    epoch->blocks = BLOCKS_UNKNOWN;
    epoch->index = epoch->order = NULL;
    query->epoch = epoch;
    return epoch;
}

/* Of the newest epoch. Those that ended are left behind as soon as they are more than the others: earlier epochs have them in their array. */
static void end_counter(struct state_query *query, const state_identifier *identifier)
{
    query_counter *counter = wmem_map_remove(query->counters_by_identifier, identifier);
    query_epoch *epoch = query->epoch;

    if (counter == NULL) {
        return;
    }
    bool is_accepted = counter->identifier.status == 0;
    counter->end = epoch->number;
    epoch->hash -= query_identifier_hash(&counter->identifier);
    epoch->accepted -= is_accepted;
    epoch->refused -= !is_accepted;
    if (wmem_array_get_count(epoch->counters) > 2 * (epoch->accepted + epoch->refused)) {
        wmem_array_t *all = epoch->counters;
        epoch->counters = new_counters();
        for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
            query_counter *one = *(query_counter **)wmem_array_index(all, i);
            if (one->end == UINT32_MAX) {
                wmem_array_append_one(epoch->counters, one);
            }
        }
    }
}

static void add_counter(struct state_query *query, const state_identifier *identifier, uint32_t status)
{
    query_counter *counter = wmem_new0(wmem_file_scope(), query_counter);
    query_epoch *epoch = query->epoch;

    end_counter(query, identifier);
    copy_identifier(&counter->identifier, identifier);
    counter->identifier.status = status;
    counter->from = epoch->number;
    counter->end = UINT32_MAX;
    wmem_array_append_one(epoch->counters, counter);
    epoch->hash += query_identifier_hash(&counter->identifier);
    epoch->accepted += status == 0;
    epoch->refused += status != 0;
    wmem_map_insert(query->counters_by_identifier, &counter->identifier, counter);
}

/* --- Queries ----------------------------------------------------------------------------------------------------- */

static struct state_query *query_of(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        query->epoch = wmem_new0(wmem_file_scope(), query_epoch);
        query->epoch->counters = new_counters();
        query->epoch->blocks = BLOCKS_UNKNOWN;
        query->epoch->is_complete = handle->opened_frame != 0;
        query->counters_by_identifier = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
        query->pending = wmem_list_new(wmem_file_scope());
    }
    return handle->query;
}

const query_epoch *query_get_epoch(const state_handle *handle)
{
    return handle->query ? handle->query->epoch : NULL;
}

static bool is_changing(const struct state_query *query)
{
    return wmem_list_count(query->pending) > 0 || query->unread != query->settled;
}

/* Whatever was asked for is over. */
static void settle_changes(struct state_query *query)
{
    wmem_list_frame_t *first;

    while ((first = wmem_list_head(query->pending)) != NULL) {
        query_change *change = wmem_list_frame_data(first);
        change->is_pending = false;
        wmem_list_remove_frame(query->pending, first);
    }
    query->settled = query->unread;
}

query_moment query_see_request(state_handle *handle, const void *connection, uint32_t unread_changes)
{
    struct state_query *query = query_of(handle);

    if (query->connection != connection) { /* those before its first call on the connection are of others */
        query->connection = connection;
        query->settled = query->unread = unread_changes;
    }
    query->num_changes += unread_changes - query->unread;
    query->unread = unread_changes;
    return (query_moment){query->epoch, query->num_changes, is_changing(query)};
}

/* --- Changes ----------------------------------------------------------------------------------------------------- */

query_change *query_begin_change(state_handle *handle, bool add, const state_identifier *identifiers, uint32_t count)
{
    query_change *change = wmem_new0(wmem_file_scope(), query_change);
    struct state_query *query = change->query = query_of(handle);

    change->add = add;
    change->is_pending = true;
    change->is_read = identifiers != NULL;
    change->count = count;
    change->identifiers = wmem_alloc0_array(wmem_file_scope(), state_identifier, count);
    for (uint32_t i = 0; i < count && identifiers; i++) {
        copy_identifier(&change->identifiers[i], &identifiers[i]);
    }
    wmem_list_append(query->pending, change);
    query->num_changes++;
    return change;
}

/* Its identifiers are needed no more. Returns false if something else told its outcome before. */
static bool take_change(query_change *change)
{
    bool was_pending = change->is_pending;

    for (uint32_t i = 0; i < change->count; i++) {
        wmem_free(wmem_file_scope(), (char *)change->identifiers[i].instance);
        wmem_free(wmem_file_scope(), (uint8_t *)change->identifiers[i].utf16);
    }
    wmem_free(wmem_file_scope(), change->identifiers);
    change->identifiers = NULL;
    change->count = 0;
    if (was_pending) {
        wmem_list_remove(change->query->pending, change);
        change->is_pending = false;
    }
    return was_pending;
}

/* True if the outcome changes what the query holds: what is held stays, what is not held cannot be removed. A refusal that is known changes
 * nothing either. */
static bool is_change(const struct state_query *query, bool add, const state_identifier *identifier, uint32_t status)
{
    const query_counter *counter = wmem_map_lookup(query->counters_by_identifier, identifier);
    bool is_held = counter && counter->identifier.status == 0;

    if (!add) {
        return status == 0 && counter;
    }
    return !is_held && status != STATUS_ALREADY_EXISTS && (counter == NULL || counter->identifier.status != status);
}

/* Begins the next epoch if there is something to change. */
static void apply_identifiers(struct state_query *query, bool add, const state_identifier *identifiers, uint32_t count,
                              bool is_done)
{
    const query_epoch *before = query->epoch;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t status = is_done ? 0 : identifiers[i].status;
        if (!is_change(query, add, &identifiers[i], status)) {
            continue;
        }
        if (query->epoch == before) {
            begin_epoch(query, before->is_complete);
        }
        if (add) {
            add_counter(query, &identifiers[i], status);
        } else {
            end_counter(query, &identifiers[i]);
        }
    }
}

void query_apply_change(query_change *change, bool add, const state_identifier *identifiers, uint32_t count)
{
    struct state_query *query = change->query;

    if (!take_change(change) && query->epoch->is_assumed) { /* it was done before anybody told, and now it is told */
        begin_epoch(query, query->epoch->is_complete)->is_assumed = false;
    }
    apply_identifiers(query, add, identifiers, count, false);
}

void query_end_change(query_change *change, bool has_failed)
{
    take_change(change);
    if (!has_failed) {
        begin_epoch(change->query, false);
    }
}

/* --- QueryCounterInfo -------------------------------------------------------------------------------------------- */

static query_index *new_index(uint32_t count)
{
    query_index *told = wmem_new0(wmem_file_scope(), query_index);

    told->count = count;
    told->by_index = wmem_alloc0_array(wmem_file_scope(), const state_identifier *, count);
    return told;
}

/* True if the query holds these, and, where that was told before, in these blocks. */
static bool is_as_told(const struct state_query *query, const state_identifier *identifiers, uint32_t count)
{
    const query_index *told = query->epoch->index;
    bool is_same = count == query->epoch->accepted;

    for (uint32_t i = 0; i < count && is_same; i++) {
        query_counter *counter = wmem_map_lookup(query->counters_by_identifier, &identifiers[i]);
        is_same = counter && counter->identifier.status == 0 && counter->told != query->num_told &&
                  (told == NULL || query_identifier_equal(told->by_index[identifiers[i].index], &identifiers[i]));
        if (counter) {
            counter->told = query->num_told;
        }
    }
    return is_same;
}

/* The newest epoch holds what was told, and of what was refused it is known as before. */
static void hold_these(struct state_query *query, const state_identifier *identifiers, uint32_t count)
{
    query_epoch before = *query->epoch;
    const query_counter *counter;
    unsigned next = 0;

    while ((counter = query_next_counter(&before, &next)) != NULL) {
        if (counter->identifier.status == 0) {
            end_counter(query, &counter->identifier);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        add_counter(query, &identifiers[i], 0);
    }
}

/* One that was asked for before a change tells nothing: it may show what was before, or after. */
void query_apply_info(state_handle *handle, const state_identifier *identifiers, uint32_t count,
                      const query_moment *asked)
{
    struct state_query *query = query_of(handle);
    query_epoch *epoch = query->epoch;

    if (asked->changes != query->num_changes || query_first_odd_index(identifiers, count) < count) {
        return;
    }
    query->num_told++;
    bool settles = is_changing(query), is_same = epoch->is_complete && is_as_told(query, identifiers, count);
    settle_changes(query);
    if (!is_same) {
        epoch->is_assumed |= epoch->is_complete && !settles;
        epoch = epoch->is_complete || settles ? begin_epoch(query, true) : epoch;
        epoch->is_complete = true;
        hold_these(query, identifiers, count);
    }
    epoch->is_assumed = epoch->accepted != count; /* an identifier is told twice: of which block is wrong */
    epoch->index = new_index(count);
    for (uint32_t i = 0; i < count; i++) {
        const query_counter *counter = wmem_map_lookup(query->counters_by_identifier, &identifiers[i]);
        epoch->index->by_index[identifiers[i].index] = &counter->identifier;
    }
}

/* --- Data -------------------------------------------------------------------------------------------------------- */

/* How many blocks its data have. */
static uint32_t count_blocks(const query_epoch *epoch)
{
    return epoch->index ? epoch->index->count : epoch->accepted;
}

/* True if everything that was asked for and has no response explains so many blocks. Then it is done, as far as is assumed. */
static bool apply_pending(struct state_query *query, uint32_t blocks)
{
    int64_t expected = query->epoch->accepted;
    wmem_list_frame_t *at = wmem_list_head(query->pending);
    bool is_known = at && query->unread == query->settled;

    for (; at && is_known; at = wmem_list_frame_next(at)) {
        const query_change *change = wmem_list_frame_data(at);
        is_known = change->is_read;
        for (uint32_t i = 0; i < change->count && is_known; i++) {
            bool is_done = is_change(query, change->add, &change->identifiers[i], 0);
            expected += !is_done ? 0 : change->add ? 1 : -1;
        }
    }
    if (!is_known || expected != blocks) {
        return false;
    }
    for (at = wmem_list_head(query->pending); at; at = wmem_list_frame_next(at)) {
        const query_change *change = wmem_list_frame_data(at);
        apply_identifiers(query, change->add, change->identifiers, change->count, true);
    }
    query->epoch->is_assumed = true;
    settle_changes(query);
    return true;
}

query_snapshot query_check_block_count(state_handle *handle, const query_moment *asked, uint32_t blocks, bool is_sound)
{
    struct state_query *query = query_of(handle);
    query_epoch *epoch = query->epoch;
    bool overlaps = asked->epoch != epoch;
    query_snapshot snapshot = {epoch, blocks, overlaps || is_changing(query)};

    if (epoch->is_complete ? blocks == count_blocks(epoch)
                           : epoch->blocks == BLOCKS_UNKNOWN || blocks == epoch->blocks) {
        epoch->blocks = blocks;
    } else if (overlaps) { /* it may show what was before the change */
        snapshot.epoch = asked->epoch;
    } else if (!is_sound) {
        snapshot.epoch = NULL;
    } else if (apply_pending(query, blocks)) {
        snapshot.epoch = query->epoch;
    } else if (wmem_list_count(query->pending) > 0) { /* whose outcome will tell */
        snapshot.epoch = NULL;
    } else { /* a change was missed */
        query->settled = query->unread;
        snapshot.epoch = begin_epoch(query, false);
        query->epoch->blocks = blocks;
        snapshot.is_assumed = false;
    }
    return snapshot;
}

/* --- Whose a block is -------------------------------------------------------------------------------------------- */

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

/* Without an index: the only block is the only counter's; several are assumed to stand in the order in which counters of one set were added,
 * while servers put sets in an order of their own. */
static const query_index *order_of(query_epoch *epoch)
{
    const query_counter *counter;
    const uint8_t *guid = NULL;
    bool is_one_set = true;
    unsigned next = 0;
    uint32_t i = 0;

    if (epoch->order == NULL) {
        epoch->order = new_index(epoch->accepted);
        while ((counter = query_next_counter(epoch, &next)) != NULL) {
            if (counter->identifier.status == 0) {
                is_one_set = is_one_set && (guid == NULL || memcmp(guid, counter->identifier.guid, 16) == 0);
                guid = counter->identifier.guid;
                epoch->order->by_index[i++] = &counter->identifier;
            }
        }
        epoch->order->count = is_one_set ? i : 0;
    }
    return epoch->order;
}

const query_index *query_snapshot_index(const query_snapshot *snapshot)
{
    query_epoch *epoch = (query_epoch *)snapshot->epoch; /* which keeps the order for the next look */
    const query_index *told = epoch == NULL || !epoch->is_complete || count_blocks(epoch) != snapshot->blocks ? NULL
                              : epoch->index ? epoch->index
                                             : order_of(epoch);

    return told && told->count == snapshot->blocks ? told : NULL;
}

bool query_snapshot_is_assumed(const query_snapshot *snapshot)
{
    const query_index *told = query_snapshot_index(snapshot);

    return told && (snapshot->is_assumed || snapshot->epoch->is_assumed ||
                    (told != snapshot->epoch->index && snapshot->blocks > 1));
}
