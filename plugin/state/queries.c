/* queries.c
 * Counters of a query, and whose each block of its data is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/queries.h"

/* Blocks of a change that could not be read. A sum of half of it or more has such a change: others are far less, and removals make it smaller. */
#define BLOCKS_NOT_READ (INT64_C(1) << 40)

struct query_change {
    struct state_query *query; /* NULL: it has ended */
    bool add;
    perf_identifier *identifiers; /* of the request, each with status 0 */
    uint32_t count;
    int64_t blocks;       /* added if all is done, below 0: removed; BLOCKS_NOT_READ: the request could not be read */
    wmem_list_t *pending; /* list of the query that it was added to; another one now: it was settled */
    wmem_list_frame_t *place; /* its place there */
};

struct state_query {
    query_epoch *epoch;     /* the newest */
    wmem_list_t *counters;  /* perf_identifier: the newest epoch's, in the order in which they were added */
    wmem_map_t *places;     /* perf_identifier -> its place in `counters` */
    wmem_list_t *pending;   /* query_change: without an outcome, in the order of their requests */
    int64_t pending_blocks; /* sum of theirs */
    uint32_t change_frame;  /* of the newest request to change it, or of its opening; 0: none */
};

/* --- Identifiers ------------------------------------------------------------------------------------------------- */

/* Copies an identifier and its texts into memory of the file, and finds what it asks for. Changes: all of `kept`. */
static void copy_identifier(perf_identifier *kept, const perf_identifier *identifier)
{
    const char *instance = identifier->utf16_size > 0 ? identifier->instance : NULL;

    *kept = *identifier;
    if (identifier->utf16_size > 0) {
        kept->instance = wmem_strdup(wmem_file_scope(), instance);
        kept->utf16 = wmem_memdup(wmem_file_scope(), identifier->utf16, identifier->utf16_size);
    }
    kept->asks = instance == NULL || strpbrk(instance, "*?") == NULL ? PERF_ASKS_ONE
                 : strcmp(instance, "*") == 0                        ? PERF_ASKS_ALL
                                                                     : PERF_ASKS_PATTERN;
}

unsigned query_identifier_hash(const void *key)
{
    const perf_identifier *k = key;
    const unsigned name = k->utf16_size > 0 ? wmem_strong_hash(k->utf16, k->utf16_size) : 0;
    uint32_t parts[7] = {name, k->counter_id, k->instance_id};

    memcpy(&parts[3], k->guid, sizeof k->guid);
    return wmem_strong_hash((const uint8_t *)parts, sizeof parts);
}

gboolean query_identifier_equal(const void *a, const void *b)
{
    const perf_identifier *x = a, *y = b;

    return x->counter_id == y->counter_id && x->instance_id == y->instance_id && x->utf16_size == y->utf16_size &&
           memcmp(x->guid, y->guid, sizeof x->guid) == 0 &&
           (x->utf16_size == 0 || memcmp(x->utf16, y->utf16, x->utf16_size) == 0);
}

uint32_t query_first_odd_index(const perf_identifier *identifiers, uint32_t count)
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

/* Begins the next epoch, with the counters of the newest. `is_complete`: all its counters are known. Returns it. */
static query_epoch *begin_epoch(struct state_query *query, bool is_complete)
{
    query_epoch *epoch = wmem_memdup(wmem_file_scope(), query->epoch, sizeof *epoch);

    epoch->is_complete = is_complete;
    epoch->index = epoch->order = NULL;
    query->epoch = epoch;
    return epoch;
}

/* Adds a counter to the newest epoch, unless that has it. */
static void add_counter(struct state_query *query, const perf_identifier *identifier)
{
    if (!wmem_map_contains(query->places, identifier)) {
        perf_identifier *counter = wmem_new(wmem_file_scope(), perf_identifier);
        copy_identifier(counter, identifier);
        wmem_list_append(query->counters, counter);
        wmem_map_insert(query->places, counter, wmem_list_tail(query->counters));
        query->epoch->accepted++;
        query->epoch->hash += query_identifier_hash(counter);
    }
}

/* Removes a counter of the newest epoch. Needs: that has it. */
static void remove_counter(struct state_query *query, const perf_identifier *identifier)
{
    wmem_list_remove_frame(query->counters, wmem_map_remove(query->places, identifier));
    query->epoch->accepted--;
    query->epoch->hash -= query_identifier_hash(identifier);
}

/* Replaces the counters of the newest epoch by these. */
static void set_counters(struct state_query *query, const perf_identifier *identifiers, uint32_t count)
{
    query->epoch->accepted = query->epoch->hash = 0;
    query->counters = wmem_list_new(wmem_file_scope());
    query->places = wmem_map_new(wmem_file_scope(), query_identifier_hash, query_identifier_equal);
    for (uint32_t i = 0; i < count; i++) {
        add_counter(query, &identifiers[i]);
    }
}

/* --- Changes ----------------------------------------------------------------------------------------------------- */

/* Returns the query of a handle. Changes: creates it without counters: all that it has, if its opening was captured, else they are not known. */
static struct state_query *find_or_create_query(state_handle *handle)
{
    if (handle->query == NULL) {
        struct state_query *query = handle->query = wmem_new0(wmem_file_scope(), struct state_query);
        query->epoch = wmem_new0(wmem_file_scope(), query_epoch);
        query->epoch->is_complete = handle->opened_frame != 0;
        set_counters(query, NULL, 0);
        query->pending = wmem_list_new(wmem_file_scope());
        query->change_frame = handle->opened_frame;
    }
    return handle->query;
}

/* True if a change has no outcome yet. */
static bool is_changing(const struct state_query *query)
{
    return wmem_list_count(query->pending) > 0;
}

const query_epoch *query_see_request(state_handle *handle, uint32_t unread)
{
    struct state_query *query = find_or_create_query(handle);

    if (unread > query->change_frame && query->pending_blocks < BLOCKS_NOT_READ / 2) { /* one stands for all */
        query_begin_change(handle, /* add */ false, NULL, 0, unread);
    }
    query->change_frame = MAX(query->change_frame, unread);
    return query->epoch;
}

/* True if an accepted identifier changes the query: one that it does not hold is added, or one that it holds is removed. */
static bool is_change(const struct state_query *query, bool add, const perf_identifier *identifier)
{
    return add != wmem_map_contains(query->places, identifier);
}

query_change *query_begin_change(state_handle *handle, bool add, const perf_identifier *identifiers, uint32_t count,
                                 uint32_t frame)
{
    query_change *change = wmem_new(wmem_file_scope(), query_change);
    struct state_query *query = find_or_create_query(handle);

    *change = (query_change){.query = query,
                             .add = add,
                             .count = count,
                             .blocks = identifiers ? 0 : BLOCKS_NOT_READ,
                             .pending = query->pending};
    change->identifiers = wmem_alloc_array(wmem_file_scope(), perf_identifier, count);
    for (uint32_t i = 0; i < count; i++) {
        copy_identifier(&change->identifiers[i], &identifiers[i]);
        change->identifiers[i].status = 0; /* a request's means nothing */
        change->blocks += is_change(query, add, &identifiers[i]) ? (add ? 1 : -1) : 0;
    }
    query->pending_blocks += change->blocks;
    query->change_frame = frame;
    wmem_list_append(query->pending, change);
    change->place = wmem_list_tail(query->pending);
    return change;
}

/* Adds or removes the accepted ones of identifiers, in the next epoch if there is something to change. */
static void apply_identifiers(struct state_query *query, bool add, const perf_identifier *identifiers, uint32_t count)
{
    const query_epoch *before = query->epoch;

    for (uint32_t i = 0; i < count; i++) {
        if (identifiers[i].status != 0 || !is_change(query, add, &identifiers[i])) {
            continue;
        }
        if (query->epoch == before) {
            begin_epoch(query, before->is_complete);
        }
        if (add) {
            add_counter(query, &identifiers[i]);
        } else {
            remove_counter(query, &identifiers[i]);
        }
    }
}

/* Takes all changes as ended: an outcome that comes later tells nothing new. */
static void settle_changes(struct state_query *query)
{
    query->pending = wmem_list_new(wmem_file_scope());
    query->pending_blocks = 0;
}

void query_end_change(query_change *change, bool is_known, const perf_identifier *identifiers, uint32_t count)
{
    struct state_query *query = change ? change->query : NULL;
    bool was_pending = query && query->pending == change->pending;

    if (query == NULL) {
        return;
    }
    change->query = NULL;
    wmem_list_remove_frame(change->pending, change->place);
    query->pending_blocks -= was_pending ? change->blocks : 0;
    if (!is_known) {
        begin_epoch(query, /* is_complete */ false);
    } else if (count > 0) {
        query->epoch->is_assumed &= was_pending; /* else it was done before anybody said so */
        apply_identifiers(query, change->add, identifiers, count);
    }
}

/* --- QueryCounterInfo -------------------------------------------------------------------------------------------- */

/* Returns an index of `count` blocks without identifiers, as long as the file. */
static query_index *new_index(uint32_t count)
{
    query_index *blocks = wmem_alloc0(wmem_file_scope(), sizeof *blocks + count * sizeof blocks->by_index[0]);

    blocks->count = count;
    return blocks;
}

/* Returns the newest epoch's counters by the index of these identifiers. Needs: each index is below `count`, and none is there twice. */
static query_index *index_counters(const struct state_query *query, const perf_identifier *identifiers, uint32_t count)
{
    query_index *blocks = new_index(count);

    for (uint32_t i = 0; i < count; i++) {
        wmem_list_frame_t *place = wmem_map_lookup(query->places, &identifiers[i]);
        blocks->by_index[identifiers[i].index] = place ? wmem_list_frame_data(place) : NULL;
    }
    return blocks;
}

/* A request from before a change settles nothing: its response may show the counters from before or from behind it. */
void query_apply_info(state_handle *handle, const perf_identifier *identifiers, uint32_t count, uint32_t asked_in)
{
    struct state_query *query = find_or_create_query(handle);
    query_epoch *epoch = query->epoch;
    bool settles = is_changing(query);
    unsigned hash = 0;

    ws_assert(query_first_odd_index(identifiers, count) == count);
    if (asked_in <= query->change_frame) {
        return;
    }
    settle_changes(query);
    for (uint32_t i = 0; i < count; i++) {
        hash += query_identifier_hash(&identifiers[i]);
    }
    query_index *blocks = index_counters(query, identifiers, count);
    bool are_known = epoch->is_complete && count == epoch->accepted && hash == epoch->hash;
    if (!are_known || (epoch->index && memcmp(blocks->by_index, epoch->index->by_index, count * sizeof(void *)) != 0)) {
        epoch->is_assumed |= epoch->is_complete && !settles;
        epoch = epoch->is_complete || settles ? begin_epoch(query, /* is_complete */ true) : epoch;
        epoch->is_complete = true;
        set_counters(query, identifiers, count);
        blocks = index_counters(query, identifiers, count);
    }
    epoch->is_assumed = epoch->accepted != count; /* an identifier is there twice: one of its blocks is another's */
    epoch->index = blocks;
}

/* --- Data -------------------------------------------------------------------------------------------------------- */

/* Counters whose order malformed data keep: a few bytes may say any number of blocks, and each change begins another epoch, so all take n^2. */
#define MOST_UNPROVEN 100

/* Keeps the order of the newest epoch's counters if its data have as many blocks, and no index was sent. Counters of several sets have none, since
 * servers put sets in an order of their own. */
static void keep_order(const struct state_query *query, uint32_t blocks)
{
    query_epoch *epoch = query->epoch;
    uint32_t i = 0;

    if (epoch->index || epoch->order || blocks != epoch->accepted) {
        return;
    }
    query_index *order = epoch->order = new_index(blocks);
    for (wmem_list_frame_t *at = wmem_list_head(query->counters); at; at = wmem_list_frame_next(at)) {
        order->by_index[i] = wmem_list_frame_data(at);
        bool is_same_set = memcmp(order->by_index[0]->guid, order->by_index[i++]->guid, sizeof(e_guid_t)) == 0;
        order->count = is_same_set ? order->count : 0;
    }
}

query_snapshot query_check_block_count(state_handle *handle, const query_epoch *asked, uint32_t blocks, bool is_sound)
{
    struct state_query *query = find_or_create_query(handle);
    query_epoch *epoch = query->epoch;
    bool overlaps = asked != epoch;
    query_snapshot snapshot = {epoch, blocks, overlaps || is_changing(query)};

    if (!epoch->is_complete || blocks == (epoch->index ? epoch->index->count : epoch->accepted)) {
        /* as many as it has, as far as is known */
    } else if (overlaps) { /* it may show what was before the change */
        snapshot.epoch = asked;
    } else if (!is_sound) {
        snapshot.epoch = NULL;
    } else if (is_changing(query) && epoch->accepted + query->pending_blocks == blocks) {
        for (wmem_list_frame_t *at = wmem_list_head(query->pending); at; at = wmem_list_frame_next(at)) {
            const query_change *change = wmem_list_frame_data(at);
            apply_identifiers(query, change->add, change->identifiers, change->count);
        }
        settle_changes(query);
        snapshot.epoch = query->epoch;
        query->epoch->is_assumed = true;
    } else if (is_changing(query) && query->pending_blocks < BLOCKS_NOT_READ / 2) { /* its outcome will tell */
        snapshot.epoch = NULL;
    } else { /* a change was not captured, or not read */
        settle_changes(query);
        snapshot.epoch = begin_epoch(query, /* is_complete */ false);
        snapshot.is_assumed = false;
    }
    if (is_sound || blocks <= MOST_UNPROVEN) {
        keep_order(query, blocks);
    }
    return snapshot;
}

/* --- Whose a block is -------------------------------------------------------------------------------------------- */

/* dwType follows from the wildcards of the identifier: 2 for all counters, 4 for all instances. Any block can be an error instead (0), and
 * what a pattern other than "*" gives is not known. */
const perf_identifier *query_index_identifier(const query_index *blocks, uint32_t block, uint32_t type)
{
    const perf_identifier *identifier = blocks && block < blocks->count ? blocks->by_index[block] : NULL;

    if (identifier == NULL || type == 0) {
        return identifier;
    }
    const unsigned known_types = 1U << 1 | 1U << 2 | 1U << 4 | 1U << 6;
    unsigned wanted = (identifier->counter_id == PERF_NO_ID ? 2 : 0) | (identifier->asks == PERF_ASKS_ALL ? 4 : 0);
    unsigned compared = identifier->asks == PERF_ASKS_PATTERN ? 2 : 6;
    return type <= 6 && (known_types >> type & 1) && ((type ^ wanted) & compared) == 0 ? identifier : NULL;
}

const query_index *query_snapshot_index(const query_snapshot *snapshot, bool *is_assumed)
{
    const query_epoch *epoch = snapshot ? snapshot->epoch : NULL;
    bool is_known = epoch && epoch->is_complete;
    const query_index *blocks = !is_known ? NULL : epoch->index ? epoch->index : epoch->order;

    if (blocks == NULL || snapshot->blocks != blocks->count) {
        return NULL;
    }
    *is_assumed = snapshot->is_assumed || epoch->is_assumed || (epoch->index == NULL && blocks->count > 1);
    return blocks;
}
