/* pcq-readings.c
 * The counter data of PerflibV2QueryCounterData ([MS-PCQ] 2.2.4.8 to 2.2.4.11) as a stream of readings, its blocks as tables of a
 * sample, and where the query's identifiers say that a counter of an instance stands.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq/pcq-data.h"

#include "perf/bytes.h"
#include "readings/layout.h"

/* Patterns of one query that are looked through for an instance that no likelier block has. */
#define MAX_PATTERN_BLOCKS 64

/* A value of the usual 4 or 8 bytes takes as much, with its header and padding. */
#define USUAL_VALUE 16

typedef struct {
    reading_table base;
    perf_walk walk;         /* behind the last row that was read */
    wmem_array_t *cells;    /* uint32_t *: the offsets of a row's values, 0 where there is none */
    wmem_map_t *by_id;      /* counter id -> column + 1 */
    reading_table *own_ids; /* what holds the rows' own ids, NULL if nothing does or nobody asked */
    uint32_t own_id;        /* its column */
    bool own_ids_sought;
} pcq_table;

typedef struct {
    uint32_t offset;
    uint32_t type;
    bool is_doubtful;
    pcq_table *table; /* NULL as long as nobody asked */
} block_entry;

/* One of the samples. */
typedef struct {
    sample_view base;
    perf_filled_form data;
    state_host *server;
    query_snapshot query;       /* as this sample shows it */
    uint32_t event;             /* of the response */
    const state_sample *sample; /* NULL if the answer is no sample */
    bool has_doubts;            /* it is none, or some of its blocks are not sound */
    wmem_array_t *blocks;       /* block_entry, as far as one was asked for; NULL before */
    perf_walk scout;            /* behind the last of them */
    bool has_all_blocks;
    wmem_map_t *by_identifier;
    bool lacks_identifiers; /* whose some of the blocks are is not known, once by_identifier is filled */
    wmem_array_t *pattern_blocks;
    wmem_map_t *own_ids; /* own_ids_place, as its own key; NULL as long as nobody asked */
} pcq_view;

/* --- Blocks ------------------------------------------------------------------------------------------------------ */

/* As far as that block; how many were read. */
static uint32_t read_blocks(pcq_view *view, uint32_t block)
{
    perf_walk *scout = &view->scout;

    if (view->blocks == NULL) {
        view->blocks = wmem_array_sized_new(view->base.pool, sizeof(block_entry), 1); /* many answers have no other */
        perf_walk_init(scout, view->data.bytes, view->data.size);
    }
    while (wmem_array_get_count(view->blocks) <= block && !view->has_all_blocks) {
        perf_walk_event event = perf_walk_next(scout);
        if (event == PERF_WALK_BLOCK) {
            bool is_doubtful = view->has_doubts && !perf_walk_block_sound(scout);
            block_entry entry = {scout->block.offset, scout->block.type, is_doubtful, NULL};
            wmem_array_append_one(view->blocks, entry);
            if (!view->has_doubts) {
                perf_walk_skip_block(scout);
            }
        }
        view->has_all_blocks = event == PERF_WALK_END;
    }
    return wmem_array_get_count(view->blocks);
}

/* It holds until another is asked for. */
static block_entry *block_at(pcq_view *view, uint32_t block)
{
    return block < read_blocks(view, block) ? wmem_array_index(view->blocks, block) : NULL;
}

/* True if it is not certain which of the block's values stands where: it is compared with nothing. */
static bool pcq_view_doubtful(pcq_view *view, uint32_t block)
{
    const block_entry *entry = view->has_doubts ? block_at(view, block) : NULL;

    return entry && entry->is_doubtful;
}

/* Whose a block is, NULL if that is not known. */
static const state_identifier *pcq_view_identifier(pcq_view *view, uint32_t block)
{
    const block_entry *entry = block_at(view, block);

    return entry ? query_snapshot_identifier(&view->query, block, entry->type) : NULL;
}

/* Whose its blocks are is assumed, as far as anything is known. */
static bool pcq_view_assumed(pcq_view *view)
{
    return query_snapshot_is_assumed(&view->query);
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* Where the values of the next row stand; 0 where one cannot be read. */
static void find_values(pcq_table *table)
{
    uint32_t *offsets = wmem_alloc0_array(table->base.view->pool, uint32_t, table->base.columns);
    uint32_t first = table->walk.pos;
    uint32_t passed = perf_walk_pass_values(&table->walk);
    perf_walk_event event;

    for (uint32_t i = 0; i < passed; i++) {
        offsets[i] = first + USUAL_VALUE * i;
    }
    while (table->walk.values_left > 0 && (event = perf_walk_next(&table->walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_VALUE) {
            offsets[table->walk.value.column] = table->walk.value.offset;
        }
    }
    wmem_array_append_one(table->cells, offsets);
}

static bool next_instance(pcq_table *table)
{
    perf_walk_event event;

    while ((event = perf_walk_next(&table->walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_INSTANCE) {
            reading_instance_key key = {
                .name = {table->walk.data + table->walk.instance.name, table->walk.instance.name_size, 0},
                .id = table->walk.instance.id,
            };
            readings_instances_add(&table->base.instances, &key);
            return true;
        }
    }
    return false;
}

static bool read_next_row(reading_table *base)
{
    pcq_table *table = (pcq_table *)base;

    if (base->has_instances ? !next_instance(table) : base->rows > 0 || table->walk.values_left == 0) {
        return false;
    }
    find_values(table);
    return true;
}

/* The number of the PERF_COUNTER_DATA at an offset that a walk announced; size 0 if it is none, or the offset 0. */
static perf_raw pcq_raw_at(perf_filled_form *data, uint32_t offset)
{
    perf_raw raw = {0, 0};
    uint32_t size = offset > 0 ? perf_le32(data->bytes + offset) : 0;

    if (size == 4) {
        raw = (perf_raw){perf_le32(perf_form_at(data, offset + PERF_COUNTER_DATA_SIZE)), 4};
    } else if (size == 8) {
        raw = (perf_raw){perf_le64(perf_form_at(data, offset + PERF_COUNTER_DATA_SIZE)), 8};
    }
    return raw;
}

static perf_raw cell(const reading_table *base, uint32_t row, uint32_t column)
{
    const uint32_t *offsets = *(uint32_t **)wmem_array_index(((const pcq_table *)base)->cells, row);

    return pcq_raw_at(&((pcq_view *)base->view)->data, offsets[column]);
}

/* Goes to where the first row begins. */
static void go_to_rows(pcq_table *table)
{
    perf_walk *walk = &table->walk;
    perf_walk ahead = *walk;
    perf_walk_event event;

    while ((event = perf_walk_next(&ahead)) == PERF_WALK_BLOCK || event == PERF_WALK_COUNTERS) {
        *walk = ahead;
    }
    table->base.columns = walk->counters.count;
    table->base.has_instances = perf_walk_has_instances(walk);
    if (event != PERF_WALK_VALUE && event != PERF_WALK_INSTANCES) {
        table->base.complete = true;
    }
}

/* The block as a table; NULL if there is none. */
static reading_table *pcq_view_table(pcq_view *view, uint32_t block)
{
    block_entry *entry = block_at(view, block);

    if (entry == NULL) {
        return NULL;
    }
    if (entry->table == NULL) {
        pcq_table *table = wmem_new0(view->base.pool, pcq_table);
        readings_table_init(&table->base, &view->base, block);
        table->cells = wmem_array_sized_new(view->base.pool, sizeof(uint32_t *), 1); /* many tables have no other row */
        perf_walk_block(&table->walk, view->data.bytes, view->data.size, entry->offset);
        go_to_rows(table);
        entry->table = table;
    }
    return &entry->table->base;
}

static perf_raw own_id(reading_table *base, uint32_t row);

static void pcq_view_init(pcq_view *view, const readings *r, const state_sample *sample, const query_snapshot *query,
                          uint32_t event, const perf_filled_form *data)
{
    static const table_layout layout = {read_next_row, cell, own_id, NULL};
    const state_handle *handle = r->answer.handle;

    view->base.layout = &layout;
    view->base.pool = r->pool;
    view->data = *data;
    view->event = event;
    view->server = handle ? handle->server : NULL;
    view->sample = sample;
    view->has_doubts = sample == NULL || sample->summary.sound_blocks < sample->summary.blocks;
    if (data->size >= PERF_DATA_HEADER_SIZE) {
        view->query = query ? *query : view->query;
        const uint8_t *clocks = perf_form_at(&view->data, 8); /* each form has all of them, one behind the other */
        view->base.clocks.perf_time = perf_le64(clocks);
        view->base.clocks.time_100ns = perf_le64(clocks + 8);
        view->base.clocks.perf_freq = perf_le64(clocks + 16);
    }
}

/* --- Finding a counter of an instance ---------------------------------------------------------------------------- */

/* A counter of the instance that a row of a block of `here` has, as the block's identifier asked for it. */
typedef struct {
    pcq_view *here;
    uint32_t block;
    uint32_t row;
    uint32_t column;  /* the reading's in `here`: in the other sample the counter mostly has the same */
    uint32_t columns; /* of the reading's block */
    uint32_t counter_id;
} pcq_wanted;

/* Columns of one id: which of them is which in another sample, or is meant as a base, is unknown. */
#define SEVERAL 0x80000000U

/* Of an id: its first column + 1, 0 without one; with a bit if it has several. */
static uint32_t find_column(pcq_table *table, uint32_t id)
{
    if (table->by_id == NULL) {
        table->by_id = wmem_map_new(table->base.view->pool, g_direct_hash, g_direct_equal);
        for (uint32_t column = 0; table->walk.counters.ids != 0 && column < table->base.columns; column++) {
            void *key = GUINT_TO_POINTER(perf_walk_counter_id(&table->walk, column));
            uint32_t first = GPOINTER_TO_UINT(wmem_map_lookup(table->by_id, key));
            wmem_map_insert(table->by_id, key, GUINT_TO_POINTER(first > 0 ? first | SEVERAL : column + 1));
        }
    }
    return GPOINTER_TO_UINT(wmem_map_lookup(table->by_id, GUINT_TO_POINTER(id)));
}

/* Column of the wanted counter in `table`, a block of either sample; UINT32_MAX if it is not there, or if its id stands several times in
 * one of the two blocks: of equally many columns the one at the same place is the same. */
static uint32_t column_of(pcq_view *view, pcq_table *table, const pcq_wanted *want)
{
    if (table->walk.counters.ids == 0) {
        const state_identifier *identifier = pcq_view_identifier(view, table->base.number);
        return identifier->counter_id == want->counter_id ? 0 : UINT32_MAX;
    }
    if (table->base.columns == want->columns && perf_walk_counter_id(&table->walk, want->column) == want->counter_id) {
        return want->column;
    }
    pcq_table *here = (pcq_table *)pcq_view_table(want->here, want->block);
    uint32_t entry = find_column(table, want->counter_id);
    return (entry | find_column(here, want->counter_id)) & SEVERAL ? UINT32_MAX : entry - 1;
}

/* The instance or pattern that an identifier names. */
static reading_instance_key requested_by(const state_identifier *identifier)
{
    return (reading_instance_key){.name = {identifier->utf16, identifier->utf16_size, identifier->digest},
                                  .id = identifier->instance_id};
}

/* The instance that is looked for: as the row has it, or as the identifier names it. */
static reading_instance_key instance_of(const pcq_wanted *want, const state_identifier *identifier)
{
    reading_table *here = pcq_view_table(want->here, want->block);
    reading_instance_key *key = here->has_instances ? &readings_table_instance(here, want->row)->key : NULL;

    if (key) {
        readings_name_digest(&key->name); /* worked out once for a row */
    }
    return key ? *key : requested_by(identifier);
}

/* Blocks that patterns asked for: the first MAX_PATTERN_BLOCKS. */
static wmem_array_t *pattern_blocks(pcq_view *view)
{
    if (view->pattern_blocks == NULL) {
        uint32_t count = read_blocks(view, UINT32_MAX);
        view->pattern_blocks = wmem_array_new(view->base.pool, sizeof(uint32_t));
        for (uint32_t block = 0; block < count; block++) {
            const state_identifier *identifier = pcq_view_identifier(view, block);
            if (identifier && identifier->asks != PERF_ASKS_ONE &&
                wmem_array_get_count(view->pattern_blocks) < MAX_PATTERN_BLOCKS) {
                wmem_array_append_one(view->pattern_blocks, block);
            }
        }
    }
    return view->pattern_blocks;
}

/* The most instances of that name in one block that a pattern of the counterset brought; 0: none has it. */
static uint32_t namesakes_shown(pcq_view *view, const state_identifier *identifier, const reading_instance_key *named)
{
    wmem_array_t *blocks = pattern_blocks(view);
    uint32_t most = 0;

    for (unsigned i = 0; i < wmem_array_get_count(blocks); i++) {
        uint32_t block = *(uint32_t *)wmem_array_index(blocks, i);
        reading_table *table = pcq_view_table(view, block);
        bool is_same_set =
            memcmp(pcq_view_identifier(view, block)->guid, identifier->guid, sizeof identifier->guid) == 0;
        uint32_t row = is_same_set && table->has_instances ? readings_table_find(table, named, true) : UINT32_MAX;
        if (row != UINT32_MAX) {
            most = MAX(most, readings_instances_namesakes(&table->instances, row));
        }
    }
    return most;
}

/* What is left of a pair if one of its blocks holds one instance only, and so cannot say how many have that name: blocks of patterns
 * on the same counterset can. No pair if they show another number in each sample, or if the process' or thread's own ids
 * differ; assumed if several have the name. */
static table_pair pair_checked_by_patterns(const pcq_wanted *want, const state_identifier *identifier,
                                           reading_table *there, table_pair pair)
{
    const reading_instance_key named = instance_of(want, identifier);
    uint32_t shown_here = namesakes_shown(want->here, identifier, &named),
             shown_there = namesakes_shown((pcq_view *)there->view, identifier, &named);
    perf_raw own = own_id(pcq_view_table(want->here, want->block), want->row), own_there = own_id(there, pair.row);
    bool is_another = own.size > 0 && own_there.size > 0 && own.value != own_there.value;

    if (is_another || (shown_here > 0 && shown_there > 0 && shown_here != shown_there)) {
        return (table_pair){UINT32_MAX, false, true};
    }
    pair.assumed |= pair.row != UINT32_MAX && (shown_here > 1 || shown_there > 1);
    return pair;
}

/* A block of one instance holds the first that its identifier names: a row of `here` that is another of that name has no pair in it. */
static table_pair only_row(const pcq_wanted *want, reading_table *there)
{
    reading_table *here = pcq_view_table(want->here, want->block);
    table_pair pair = {UINT32_MAX, false, false};

    if (here->has_instances) {
        const state_identifier *named = pcq_view_identifier((pcq_view *)there->view, there->number);
        const reading_instance_key *key = &readings_table_instance(here, want->row)->key;
        if (readings_table_find(here, key, named->instance_id == PERF_NO_ID) != want->row) {
            return pair;
        }
        pair.assumed = readings_instances_namesakes(&here->instances, want->row) > 1;
    }
    pair.row = readings_table_has_row(there, 0) ? 0 : UINT32_MAX;
    return pair;
}

static table_pair row_of(const pcq_wanted *want, const state_identifier *identifier, reading_table *there)
{
    if (there->view == &want->here->base && there->number == want->block) {
        return (table_pair){want->row, false, false};
    }
    reading_table *here = pcq_view_table(want->here, want->block);
    if (!there->has_instances) {
        return pair_checked_by_patterns(want, identifier, there, only_row(want, there));
    }
    if (here->has_instances) {
        return readings_table_pair(here, want->row, there);
    }
    const reading_instance_key key = instance_of(want, identifier);
    table_pair pair = {readings_table_find(there, &key, key.id == PERF_NO_ID), false, false};
    return pair_checked_by_patterns(want, identifier, there, pair);
}

#define STATUS_NO_DATA 232

/* A block of an error shows no counter. ERROR_NO_DATA for an instance that was asked for by name only says that the instance is gone: the
 * counter is there. */
static void note_failed(pcq_view *view, uint32_t block, const state_identifier *identifier, reading_place *place)
{
    const state_identifier *asked = pcq_view_identifier(view, block);
    uint32_t status = perf_le32(view->data.bytes + block_at(view, block)->offset);
    bool is_absent = status == STATUS_NO_DATA && asked->instance && *asked->instance;

    place->failed |= !is_absent && query_identifier_equal(asked, identifier);
    place->has_counter |= is_absent;
}

/* Takes the place in a block if it has the counter and the instance; the first that has either says why there is none. */
static bool take_from(pcq_view *view, uint32_t block, const pcq_wanted *want, const state_identifier *identifier,
                      reading_place *place)
{
    /* a value whose identifier is certain is not calculated with one whose identifier is assumed */
    bool is_less_certain = pcq_view_assumed(view) && !pcq_view_assumed(want->here);

    if (pcq_view_doubtful(view, block) || is_less_certain) {
        return false;
    }
    if (block_at(view, block)->type == PERF_ERROR_RETURN) {
        note_failed(view, block, identifier, place);
        return false;
    }
    reading_place at = {.table = pcq_view_table(view, block), .has_counter = true, .failed = place->failed};
    at.column = column_of(view, (pcq_table *)at.table, want);
    if (at.column == UINT32_MAX) {
        return false;
    }
    place->has_counter = true;
    bool is_there = readings_take_pair(&at, row_of(want, identifier, at.table)) && at.raw.size > 0;
    if (is_there || (place->row == UINT32_MAX && !place->is_ambiguous)) {
        *place = at;
    }
    return is_there;
}

/* The first block whose identifier equals `sought`, UINT32_MAX if there is none. */
static uint32_t block_for(pcq_view *view, const state_identifier *sought)
{
    if (view->by_identifier == NULL) {
        view->by_identifier = wmem_map_new(view->base.pool, query_identifier_hash, query_identifier_equal);
        for (uint32_t block = read_blocks(view, UINT32_MAX); block-- > 0;) {
            const state_identifier *identifier = pcq_view_identifier(view, block);
            if (identifier) {
                wmem_map_insert(view->by_identifier, identifier, GUINT_TO_POINTER(block + 1));
            }
            view->lacks_identifiers |= identifier == NULL;
        }
    }
    return GPOINTER_TO_UINT(wmem_map_lookup(view->by_identifier, sought)) - 1;
}

/* --- A process' or thread's own id ------------------------------------------------------------------------------- */

/* Where the own ids of the rows stand of all blocks whose identifiers differ from `asked` in the counter alone: in a block of "ID Process"
 * or "ID Thread", as PDH asks for them, or in a column among all counters. */
typedef struct {
    state_identifier asked;
    reading_table *table;
    uint32_t column;
} own_ids_place;

/* What a counter's values are, by its English name. */
typedef enum { NO_OWN_ID, OF_PROCESS, OF_THREAD } own_id_kind;

static own_id_kind kind_of_own_id(pcq_view *view, const state_identifier *identifier, uint32_t id)
{
    const state_subject subject = facts_subject(identifier->guid, id);
    const state_fact *name = facts_lookup(view->server, subject, PERF_FACT_ENGLISH, view->event).fact;

    return name == NULL                            ? NO_OWN_ID
           : strcmp(name->name, "ID Thread") == 0  ? OF_THREAD
           : strcmp(name->name, "ID Process") == 0 ? OF_PROCESS
                                                   : NO_OWN_ID;
}

/* A thread has its process' id, too. */
static void note_own_ids(pcq_view *view, uint32_t block, const state_identifier *identifier, uint32_t column,
                         uint32_t id)
{
    own_id_kind kind = kind_of_own_id(view, identifier, id);
    own_ids_place place = {*identifier, NULL, column};

    place.asked.counter_id = PERF_NO_ID;
    if (kind == OF_THREAD || (kind == OF_PROCESS && !wmem_map_contains(view->own_ids, &place.asked))) {
        place.table = pcq_view_table(view, block);
        own_ids_place *kept = wmem_memdup(view->base.pool, &place, sizeof place);
        wmem_map_insert(view->own_ids, kept, kept);
    }
}

/* Identifier, of whatever counter -> where the block has the ids of its processes or threads. */
static wmem_map_t *collect_own_ids(pcq_view *view)
{
    uint32_t count = view->own_ids ? 0 : read_blocks(view, UINT32_MAX);

    if (view->own_ids == NULL) {
        view->own_ids = wmem_map_new(view->base.pool, query_identifier_hash, query_identifier_equal);
    }
    for (uint32_t block = 0; block < count; block++) {
        const state_identifier *identifier = pcq_view_identifier(view, block);
        bool has_all = identifier && identifier->counter_id == PERF_NO_ID;
        pcq_table *table = has_all ? (pcq_table *)pcq_view_table(view, block) : NULL;
        if (identifier == NULL || pcq_view_doubtful(view, block) || pcq_view_assumed(view)) {
            continue;
        }
        bool has_ids = table && table->walk.counters.ids != 0;
        for (uint32_t column = 0; column < (has_ids ? table->base.columns : !has_all); column++) {
            note_own_ids(view, block, identifier, column,
                         has_ids ? perf_walk_counter_id(&table->walk, column) : identifier->counter_id);
        }
    }
    return view->own_ids;
}

/* They stand in the table itself, or in one of the same sample, identifier and rows. */
static void find_own_ids(pcq_table *table, pcq_view *view, const state_identifier *identifier)
{
    state_identifier asked = *identifier;

    asked.counter_id = PERF_NO_ID;
    const own_ids_place *place = wmem_map_lookup(collect_own_ids(view), &asked);
    if (place == NULL || place->table->has_instances != table->base.has_instances) {
        return;
    }
    if (place->table != &table->base && table->base.has_instances) {
        readings_table_has_row(place->table, UINT32_MAX);
        if (!readings_table_same_rows(&table->base, place->table, false)) {
            return;
        }
    }
    table->own_ids = place->table;
    table->own_id = place->column;
}

static perf_raw own_id(reading_table *base, uint32_t row)
{
    pcq_table *table = (pcq_table *)base;
    pcq_view *view = (pcq_view *)base->view;
    const state_identifier *identifier = pcq_view_identifier(view, base->number);

    if (!table->own_ids_sought && identifier) {
        find_own_ids(table, view, identifier);
    }
    table->own_ids_sought = true;
    return table->own_ids ? readings_table_cell(table->own_ids, row, table->own_id) : (perf_raw){0, 0};
}

/* Any other pattern may have brought the instance, too; where it did not, that it has the counter says nothing. */
static bool find_by_other_patterns(pcq_view *view, const pcq_wanted *want, const state_identifier *identifier,
                                   reading_place *place)
{
    wmem_array_t *blocks = pattern_blocks(view);

    for (unsigned i = 0; i < wmem_array_get_count(blocks); i++) {
        uint32_t block = *(uint32_t *)wmem_array_index(blocks, i);
        const state_identifier *other = pcq_view_identifier(view, block);
        bool had_counter = place->has_counter;
        if (memcmp(other->guid, identifier->guid, sizeof identifier->guid) == 0 &&
            take_from(view, block, want, identifier, place)) {
            return true;
        }
        place->has_counter = had_counter || (place->has_counter && (place->row != UINT32_MAX || place->is_ambiguous));
    }
    return false;
}

/* The counter may stand in the block of the same identifier, of one for all counters, for all instances, or for this
 * very instance. */
static bool find_by_identifier(pcq_view *view, const pcq_wanted *want, const state_identifier *identifier,
                               reading_place *place)
{
    static const uint8_t star[2] = {'*', 0};
    const uint32_t counters[] = {want->counter_id, PERF_NO_ID};
    const reading_instance_key requested = requested_by(identifier), instance = instance_of(want, identifier);
    reading_instance_key patterns[] = {
        requested, instance, instance, {.name = {star, sizeof star, 0}, .id = PERF_NO_ID}};

    patterns[1].id = PERF_NO_ID;
    for (unsigned p = 0; p < array_length(patterns); p++) {
        reading_name *name = &patterns[p].name;
        state_identifier sought = {.instance_id = patterns[p].id,
                                   .utf16 = name->bytes,
                                   .utf16_size = name->size,
                                   .digest = readings_name_digest(name)};
        memcpy(sought.guid, identifier->guid, sizeof sought.guid);
        for (unsigned c = 0; c < array_length(counters); c++) {
            sought.counter_id = counters[c];
            uint32_t block = block_for(view, &sought);
            if (block != UINT32_MAX && take_from(view, block, want, identifier, place)) {
                return true;
            }
        }
    }
    return find_by_other_patterns(view, want, identifier, place);
}

/* True if the block was asked for as the identifier asks. */
static bool same_identifier_at(pcq_view *view, uint32_t block, const state_identifier *identifier)
{
    const state_identifier *there = pcq_view_identifier(view, block);

    return there && identifier && (there == identifier || query_identifier_equal(there, identifier));
}

/* True if the block of both samples was asked for alike: for samples of one form, whose blocks are of the same types. */
static bool pcq_view_same_block(pcq_view *here, pcq_view *there, uint32_t block)
{
    if (here->query.epoch == there->query.epoch && here->query.epoch) {
        return pcq_view_identifier(here, block) != NULL;
    }
    return !(pcq_view_assumed(there) && !pcq_view_assumed(here)) &&
           same_identifier_at(there, block, pcq_view_identifier(here, block));
}

/* --- One value alone ---------------------------------------------------------------------------------------------- */

/* What the identifiers of the sample's index ask for; without one it may be anything. */
static const query_index *asked_by(pcq_view *view)
{
    static const query_index any = {.asks_patterns = true, .asks_own_ids = true};
    query_index *asked = view->query.epoch ? view->query.epoch->index : NULL; /* which keeps it */

    if (asked == NULL) {
        return &any;
    }
    if (asked->asked_as_of != view->server->facts_version + 1 || view->server->facts_changed > 0) {
        asked->asked_as_of = view->server->facts_version + 1;
        asked->asks_patterns = asked->asks_own_ids = false;
        for (uint32_t i = 0; i < asked->count; i++) {
            const state_identifier *identifier = asked->by_index[i];
            asked->asks_patterns |= identifier->asks != PERF_ASKS_ONE;
            asked->asks_own_ids |= identifier->counter_id == PERF_NO_ID ||
                                   kind_of_own_id(view, identifier, identifier->counter_id) != NO_OWN_ID;
        }
    }
    return asked;
}

/* The first instance of a name in a block, where it stands; false if there is none. */
static bool find_named(pcq_view *view, uint32_t block, const reading_name *name, perf_walk *found)
{
    perf_walk_block(found, view->data.bytes, view->data.size, block_at(view, block)->offset);
    return perf_walk_find_named(found, name->bytes, name->size);
}

/* No other after the first has the name. */
static bool is_alone(const pcq_view *view, const reading_name *name, const perf_walk *first)
{
    state_sample *sample = (state_sample *)view->sample; /* which keeps it for the next look */
    perf_walk rest = *first;

    if (sample->alone != first->instance.offset) {
        if (perf_walk_find_named(&rest, name->bytes, name->size)) {
            return false;
        }
        sample->alone = first->instance.offset;
    }
    return true;
}

static perf_raw number_alone(pcq_view *view, perf_walk instance, uint32_t column)
{
    perf_walk_event event;

    while ((event = perf_walk_next(&instance)) == PERF_WALK_VALUE || event == PERF_WALK_FAULT) {
        if (event == PERF_WALK_VALUE && instance.value.column == column) {
            return pcq_raw_at(&view->data, instance.value.offset);
        }
    }
    return (perf_raw){0, 0};
}

/* `name`: NULL in a block without instances. */
static perf_raw own_id_alone(pcq_view *view, const state_identifier *identifier, const reading_name *name)
{
    state_identifier all = *identifier;
    perf_walk found;

    all.counter_id = PERF_NO_ID;
    const own_ids_place *place = wmem_map_lookup(collect_own_ids(view), &all);
    if (place == NULL) {
        return (perf_raw){0, 0};
    }
    if (name == NULL || !place->table->has_instances) {
        return readings_table_cell(place->table, 0, place->column);
    }
    return find_named(view, place->table->number, name, &found) ? number_alone(view, found, place->column)
                                                                : (perf_raw){0, 0};
}

/* The row's instance and that of its name in the other sample, of which neither has another of its name, and which have the same id. */
static bool is_same_alone(const pcq_wanted *want, pcq_view *view, const reading_name *name, perf_walk *found)
{
    perf_walk here;

    return find_named(want->here, want->block, name, &here) && find_named(view, want->block, name, found) &&
           found->instance.id == here.instance.id && is_alone(want->here, name, &here) && is_alone(view, name, found);
}

/* The block has the same identifier in both samples, for sure. */
static bool is_same_for_sure(pcq_view *view, pcq_view *here, uint32_t block)
{
    bool has_doubts = view->has_doubts || here->has_doubts;
    const state_identifier *identifier = has_doubts ? NULL : pcq_view_identifier(here, block);

    return identifier && same_identifier_at(view, block, identifier) && !pcq_view_assumed(here) &&
           !pcq_view_assumed(view) && block_at(view, block)->type == block_at(here, block)->type;
}

/* True if the process' or thread's own ids say the same in both, or neither has one. */
static bool is_same_process(pcq_view *view, pcq_view *here, uint32_t block, const reading_name *name)
{
    const state_identifier *identifier = pcq_view_identifier(here, block);

    if (!asked_by(here)->asks_own_ids && !asked_by(view)->asks_own_ids) {
        return true;
    }
    perf_raw own = own_id_alone(here, identifier, name), there = own_id_alone(view, identifier, name);
    return own.size == there.size && own.value == there.value;
}

/* Without tables, which cost more than all else of an answer of which one value is asked for: what stands in the block of the same
 * identifier in both samples, of the only instance of its name. False where this does not prove it. */
static bool pcq_view_find_alone(pcq_view *view, const pcq_wanted *want, reading_place *place)
{
    pcq_view *here = want->here;
    uint32_t block = want->block;
    perf_walk found;

    if (!is_same_for_sure(view, here, block)) {
        return false;
    }
    pcq_table *table = (pcq_table *)pcq_view_table(view, block);
    uint32_t column = column_of(view, table, want);
    reading_table *row = table->base.has_instances ? pcq_view_table(here, block) : NULL;
    const reading_name *name = row ? &readings_table_instance(row, want->row)->key.name : NULL;
    bool may_have_namesakes =
        pcq_view_identifier(here, block)->instance && (asked_by(here)->asks_patterns || asked_by(view)->asks_patterns);
    if (column == UINT32_MAX || (name ? !is_same_alone(want, view, name, &found) : may_have_namesakes) ||
        !is_same_process(view, here, block, name)) {
        return false;
    }
    *place =
        (reading_place){.has_counter = true,
                        .raw = name ? number_alone(view, found, column) : readings_table_cell(&table->base, 0, column)};
    return place->raw.size > 0;
}

/* Where it stands in a sample. */
static bool pcq_view_find(pcq_view *view, const pcq_wanted *want, reading_place *place)
{
    const state_identifier *identifier = pcq_view_identifier(want->here, want->block);

    if (identifier == NULL) {
        return false;
    }
    return (same_identifier_at(view, want->block, identifier) && /* mostly it is the same block of both samples */
            take_from(view, want->block, want, identifier, place)) ||
           find_by_identifier(view, want, identifier, place);
}

/* --- The stream -------------------------------------------------------------------------------------------------- */

/* The layout's part of a stream. */
typedef struct {
    perf_walk walk;
    pcq_view current;
    pcq_view previous;       /* set where the sample before is kept */
    bool one_form;           /* this sample and the one before have the same, and are compared place by place */
    uint32_t compared_block; /* the one whose identifiers were compared last, UINT32_MAX before the first: */
    bool same_block;         /* it was asked for alike */
    const state_identifier *identifier; /* whose the block is */
    bool text_decided;                  /* it is decided which of the block's columns of unknown type are text */
    /* the counterset that was looked up last */
    const state_identifier *set_identifier;
    const char *set_label;
    const state_identifier *set_asked; /* the same, if it was asked whether it has instances */
    bool set_is_single;
} pcq_stream;

static pcq_stream *stream_of(const readings *r)
{
    return r->own;
}

const perf_walk *pcq_readings_walk(const readings *r)
{
    return &stream_of(r)->walk;
}

const state_identifier *pcq_readings_identifier(const readings *r)
{
    return stream_of(r)->identifier;
}

bool pcq_readings_assumed(readings *r)
{
    return pcq_view_assumed(&stream_of(r)->current);
}

static void begin_stream(readings *r)
{
    const state_sample *sample = r->answer.sample;
    const state_sample *previous = sample ? sample->previous : NULL;
    const state_handle *handle = r->answer.handle;
    pcq_stream *stream = r->own = wmem_new0(r->pool, pcq_stream);

    r->machine = handle ? handle->machine : NULL;
    perf_filled_form data = {r->bytes, r->size, NULL, NULL, 0};
    pcq_view_init(&stream->current, r, sample, r->answer.query, r->answer.event, &data);
    r->current = &stream->current.base;
    perf_walk_init(&stream->walk, r->bytes, r->size);
    bool is_behind_damage = handle && handle->unsound - 1 < r->answer.event; /* 0: there was none */
    r->why_no_previous = !sample            ? readings_no_sample(r)
                         : previous         ? PERF_NO_RESULT_SAMPLE_DROPPED
                         : is_behind_damage ? PERF_NO_RESULT_BEFORE_DAMAGED
                                            : PERF_NO_RESULT_FIRST_SAMPLE;
    if (previous && previous->bytes) {
        data = sample_data(previous);
        pcq_view_init(&stream->previous, r, previous, previous->query, previous->event, &data);
        stream->one_form = r->answer.has_form && sample->form == previous->form;
        stream->compared_block = UINT32_MAX;
        readings_compare_in_order(r, &stream->previous.base, previous);
    }
}

/* --- Blocks ------------------------------------------------------------------------------------------------------ */

static void enter_block(readings *r)
{
    pcq_stream *stream = stream_of(r);
    const perf_walk *walk = &stream->walk;

    readings_enter(r, walk->block.index);
    stream->identifier = query_snapshot_identifier(&stream->current.query, walk->block.index, walk->block.type);
    r->status = walk->block.status;
    r->assumed = stream->identifier && pcq_view_assumed(&stream->current);
    r->is_doubtful = stream->current.has_doubts && !perf_walk_block_sound(walk);
    if (r->previous_frame > 0 && stream->previous.has_doubts) {
        bool is_lost = pcq_view_doubtful(&stream->previous, r->number);
        readings_compare_with(r, is_lost ? NULL : &stream->previous.base, r->previous_frame);
        r->why_no_previous = PERF_NO_RESULT_BEFORE_DAMAGED;
    }
}

static void open_table(readings *r)
{
    r->table = pcq_view_table(&stream_of(r)->current, r->number);
}

/* --- Names and types --------------------------------------------------------------------------------------------- */

/* Its counterset's or counter's name or type was told anew later. */
static bool changes_later(const readings *r, const state_identifier *identifier)
{
    const readings_answer *a = &r->answer;
    uint32_t id = r->at.counter->id;

    return a->server->facts_changed > a->request_event && /* mostly it is not */
           (readings_identifier_doubted(a->server, identifier->guid, id, a->request_event, a->event) ||
            facts_doubted(a->server, facts_subject(identifier->guid, id), PERF_FACT_COUNTER, a->request_event,
                          a->event));
}

static void look_up_counter(readings *r)
{
    const state_identifier *identifier = stream_of(r)->identifier;
    reading_counter *counter = r->at.counter;

    const state_sample *sample = r->answer.sample;
    bool has_twins = stream_of(r)->walk.counters.ids != 0 && (sample == NULL || sample->summary.has_twins);
    uint32_t first = has_twins ? find_column((pcq_table *)readings_table(r), counter->id) : 0;

    counter->changes_later = identifier && first > SEVERAL; /* what is not known is not assumed */
    if (identifier == NULL || (first > SEVERAL && first != SEVERAL + r->at.column + 1)) {
        counter->none = PERF_NO_RESULT_COUNTER_NOT_KNOWN;
        return;
    }
    state_known known = facts_lookup(r->answer.server, facts_subject(identifier->guid, counter->id), PERF_FACT_COUNTER,
                                     r->answer.event);
    counter->none = PERF_NO_RESULT_TYPE_NOT_LEARNED;
    if (known.fact) {
        counter->info = known.fact->counter;
        counter->type = known.fact->type;
        counter->type_from_file = known.source == PERF_SOURCE_FILE;
        counter->none = counter->type ? PERF_NO_RESULT_OK : PERF_NO_RESULT_UNKNOWN_TYPE;
    }
    counter->changes_later |= changes_later(r, identifier);
}

static const char *label(readings *r)
{
    const uint8_t *guid = stream_of(r)->identifier->guid;

    return facts_counter_label(r->pool, r->answer.server, guid, r->at.counter->id, r->answer.event);
}

static void look_up_set(readings *r)
{
    pcq_stream *stream = stream_of(r);
    const state_identifier *identifier = stream->identifier;

    if (identifier == NULL) {
        return;
    }
    if (!stream->set_identifier ||
        memcmp(stream->set_identifier->guid, identifier->guid, sizeof identifier->guid) != 0) {
        stream->set_identifier = identifier;
        stream->set_label = readings_bounded(
            r->pool, facts_counterset_label(r->pool, r->answer.server, identifier->guid, r->answer.event));
    }
    r->set_label = stream->set_label;
    r->guid = identifier->guid;
    bool may_have_instances = perf_walk_has_instances(&stream->walk) || identifier->instance;
    if (may_have_instances && stream->set_asked != stream->set_identifier) {
        stream->set_asked = stream->set_identifier;
        stream->set_is_single = readings_set_is_single(r->answer.server, identifier->guid, r->answer.event);
    }
    r->has_instances = may_have_instances && !stream->set_is_single;
}

const char *pcq_readings_instance_name(readings *r)
{
    const perf_walk *walk = &stream_of(r)->walk;

    return text_get(r->pool, r->answer.tvb, walk->instance.name, walk->instance.name_size, TEXT_CODE_PAGE_UTF16,
                    ENC_LITTLE_ENDIAN, TEXT_NAME_MAX);
}

/* In which block, and row, of a pattern on the same counterset the one stands that was asked for alone; NULL without one. */
static reading_table *shown_by_pattern(pcq_view *view, const state_identifier *identifier, uint32_t *row)
{
    wmem_array_t *blocks = pattern_blocks(view);
    const reading_instance_key named = requested_by(identifier);

    for (unsigned i = 0; i < wmem_array_get_count(blocks); i++) {
        uint32_t block = *(uint32_t *)wmem_array_index(blocks, i);
        reading_table *table = pcq_view_table(view, block);
        if (table->has_instances && memcmp(pcq_view_identifier(view, block)->guid, identifier->guid, 16) == 0) {
            *row = readings_table_find(table, &named, named.id == PERF_NO_ID);
            if (*row != UINT32_MAX) {
                return table;
            }
        }
    }
    return NULL;
}

/* What else has the name of one that was asked for alone is looked for where it may read as another: "x#1", or x with an id. */
static const char *instance(readings *r)
{
    const state_identifier *identifier = stream_of(r)->identifier;

    if (stream_of(r)->walk.instance.index == PERF_NO_INSTANCE) {
        const char *name = readings_bounded(r->pool, identifier->instance);
        bool may_read_twice = name && (identifier->instance_id != PERF_NO_ID || strchr(name, '#'));
        uint32_t row;
        reading_table *shown = may_read_twice ? shown_by_pattern(&stream_of(r)->current, identifier, &row) : NULL;
        return shown ? readings_with_ordinal(r, shown, row, name, 2) : name;
    }
    return readings_with_ordinal(r, readings_table(r), r->at.row, pcq_readings_instance_name(r), 2);
}

/* --- Values ------------------------------------------------------------------------------------------------------ */

/* An even number of bytes: characters (white space too) up to a terminator at their end. */
static bool can_be_text(const uint8_t *bytes, uint32_t size)
{
    if (size < 2 || size % 2 != 0 || perf_le16(bytes + size - 2) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < size - 2; i += 2) {
        uint16_t unit = perf_le16(bytes + i);
        if (unit < '\t' || (unit > '\r' && unit < ' ')) {
            return false;
        }
    }
    return true;
}

/* Whose type nobody told: text if all of the block's values can be, and one of them has neither of a number's lengths. All
 * columns are looked at together, at the first value of which it is asked. */
static bool looks_like_text(readings *r)
{
    const reading_counter *counter = r->at.counter;
    pcq_stream *stream = stream_of(r);
    perf_walk ahead = stream->walk;
    perf_walk_event event = PERF_WALK_VALUE;

    while (!stream->text_decided && event != PERF_WALK_BLOCK && event != PERF_WALK_END) {
        if (event == PERF_WALK_VALUE) {
            reading_counter *seen = &r->counters[ahead.value.column];
            uint32_t size = ahead.value.data_size;
            seen->has_other_sizes |= size != 4 && size != 8;
            seen->has_no_text |= !can_be_text(r->bytes + ahead.value.data, size);
        }
        event = perf_walk_next(&ahead);
    }
    stream->text_decided = true;
    return counter->has_other_sizes && !counter->has_no_text;
}

static uint32_t counter_id(const readings *r)
{
    const pcq_stream *stream = stream_of(r);

    if (stream->walk.counters.ids != 0) {
        return perf_walk_counter_id(&stream->walk, stream->walk.value.column);
    }
    return stream->identifier ? stream->identifier->counter_id : PERF_NO_ID;
}

static void take_value(readings *r)
{
    const perf_walk *walk = &stream_of(r)->walk;
    reading *at = &r->at;

    stream_of(r)->text_decided &= r->counters != NULL;
    readings_place(r, walk->instance.index == PERF_NO_INSTANCE ? 0 : walk->instance.index, walk->value.column,
                   walk->counters.count, walk->value.data, walk->value.data_size);
    at->is_refused = at->is_empty = false;
    at->is_doubtful = r->is_doubtful || r->answer.is_torn;
    at->counter->id = counter_id(r);
    const perf_counter_type *type = readings_known_counter(r)->type;
    bool is_large = type && !at->counter->type_from_file && (type->value & PERF_SIZE_MASK) == PERF_SIZE_LARGE;
    /* with fewer bytes than its type it may be another counter's than was told */
    at->is_nameless = r->answer.is_in_doubt || (is_large && at->size == 4);
    at->is_text = type ? type->kind == PERF_KIND_TEXT : looks_like_text(r);
    if (at->is_text) {
        at->code_page = TEXT_CODE_PAGE_UTF16;
        at->byte_order = ENC_LITTLE_ENDIAN;
        at->text_size = perf_utf16_size(r->bytes + at->offset, at->size);
    }
    readings_take(r, pcq_raw_at(&stream_of(r)->current.data, walk->value.offset));
}

perf_walk_event pcq_readings_event(readings *r)
{
    perf_walk_event event = perf_walk_next(&stream_of(r)->walk);

    if (event == PERF_WALK_BLOCK) {
        enter_block(r);
    } else if (event == PERF_WALK_VALUE) {
        take_value(r);
    }
    return event;
}

/* Of a block that has no value. */
static void take_block(readings *r, bool is_refused)
{
    const state_identifier *identifier = stream_of(r)->identifier;

    r->at = (reading){.is_refused = is_refused,
                      .is_empty = !is_refused,
                      .is_doubtful = r->is_doubtful || r->answer.is_torn,
                      .is_nameless = r->answer.is_in_doubt,
                      .offset = stream_of(r)->walk.block.offset};
    r->at.counter = wmem_new0(r->pool, reading_counter);
    r->at.counter->id = identifier ? identifier->counter_id : PERF_NO_ID;
    readings_known_counter(r); /* and whether its name is in doubt */
    readings_take(r, (perf_raw){0, 0});
}

static bool next(readings *r)
{
    perf_walk *walk = &stream_of(r)->walk;
    perf_walk_event event;

    while ((event = pcq_readings_event(r)) != PERF_WALK_END) {
        bool is_block = event == PERF_WALK_BLOCK, is_refused = is_block && walk->block.type == PERF_ERROR_RETURN;
        if (event == PERF_WALK_VALUE && !r->without_values) {
            return true;
        }
        if ((is_refused && r->with_refusals) || (is_block && r->with_empty && perf_walk_block_empty(walk))) {
            take_block(r, is_refused);
            return true;
        }
        if (is_block && r->without_values && !stream_of(r)->current.has_doubts) {
            perf_walk_skip_block(walk);
            perf_walk_pass_blocks(walk);
        }
    }
    return false;
}

/* --- Operands ---------------------------------------------------------------------------------------------------- */

static pcq_wanted wanted(readings *r, uint32_t id)
{
    pcq_stream *stream = stream_of(r);

    return (pcq_wanted){&stream->current, r->number, r->at.row, r->at.column, stream->walk.counters.count, id};
}

/* Whether a block has two instances of one name, or own ids, which are numbers: then who stands at the same place need not be the
 * same. Found out for all answers of a form, anew where more was learned: own ids are known by a name. */
static bool form_needs_pairing(pcq_view *view)
{
    perf_form *form = view->sample->form;

    bool is_known = form->paired != PERF_FORM_NOT_KNOWN && form->paired_as_of == view->server->facts_version;

    if (!is_known || view->server->facts_changed > 0) { /* a name that was told anew holds for some answers */
        bool is_needed = wmem_map_size(collect_own_ids(view)) > 0;
        for (uint32_t block = read_blocks(view, UINT32_MAX); block-- > 0 && !is_needed;) {
            is_needed = readings_table_has_namesakes(pcq_view_table(view, block));
        }
        form->paired = is_needed ? PERF_FORM_BY_INSTANCE : PERF_FORM_BY_PLACE;
        form->paired_as_of = view->server->facts_version;
    }
    return form->paired == PERF_FORM_BY_INSTANCE;
}

/* The value is compared by its place in all answers of the form: that it may be was found out for one of them. */
static bool is_by_place(const readings *r)
{
    const pcq_stream *stream = stream_of(r);
    const pcq_view *view = &stream->current;
    const perf_form *form = stream->one_form ? view->sample->form : NULL;

    return form && form->alone == stream->walk.value.offset && form->alone_as_of == view->server->facts_version &&
           view->server->facts_changed == 0;
}

static bool find_alone(readings *r, reading_place *place)
{
    pcq_stream *stream = stream_of(r);
    pcq_view *view = &stream->current;
    const pcq_wanted want = wanted(r, r->at.counter->id);
    bool is_found = pcq_view_find_alone(&stream->previous, &want, place);

    if (is_found && stream->one_form && (!asked_by(view)->asks_own_ids || wmem_map_size(collect_own_ids(view)) == 0)) {
        view->sample->form->alone = stream->walk.value.offset;
        view->sample->form->alone_as_of = view->server->facts_version;
    }
    return is_found;
}

static bool find_place(readings *r, reading_place *place)
{
    pcq_stream *stream = stream_of(r);
    bool by_place = r->for_one && is_by_place(r);

    if (r->for_one && !by_place && find_alone(r, place)) {
        return true;
    }
    if (stream->one_form && stream->compared_block == UINT32_MAX && !by_place) {
        stream->one_form = !form_needs_pairing(&stream->current);
    }
    if (stream->one_form && stream->compared_block != r->number) {
        stream->compared_block = r->number;
        stream->same_block = pcq_view_same_block(&stream->current, &stream->previous, r->number);
    }
    if (stream->one_form && stream->same_block) { /* the same counter of the same instance stands at the same place */
        *place =
            (reading_place){.has_counter = true, .raw = pcq_raw_at(&stream->previous.data, stream->walk.value.offset)};
        return place->raw.size > 0;
    }
    const pcq_wanted want = wanted(r, r->at.counter->id);
    if (pcq_view_find(&stream->previous, &want, place)) {
        return true;
    }
    r->may_be_there = place->has_counter || r->assumed              ? PERF_NO_RESULT_OK
                      : pcq_view_assumed(&stream->previous)         ? PERF_NO_RESULT_BEFORE_ASSUMED
                      : stream->previous.sample->summary.faults > 0 ? PERF_NO_RESULT_BEFORE_DAMAGED
                      : stream->previous.lacks_identifiers          ? PERF_NO_RESULT_BEFORE_ASSUMED
                                                                    : PERF_NO_RESULT_OK;
    return false;
}

/* True if the counter, or its counterset (PERF_NO_ID), got another name or type (`kind`) since the sample before. */
static bool may_have_changed(readings *r, uint32_t id, state_fact_kind kind)
{
    const pcq_stream *stream = stream_of(r);
    uint32_t since = stream->previous.sample->request_event;

    return stream->identifier && facts_may_have_changed(r->answer.server, facts_subject(stream->identifier->guid, id),
                                                        kind, since, r->answer.event);
}

/* Another name or type makes it another counter. */
static bool find_previous(readings *r, reading_place *place)
{
    uint32_t id = r->at.counter->id;
    bool is_possible =
        r->answer.server->facts_changed > stream_of(r)->previous.sample->request_event; /* mostly it is not */

    place->may_have_changed =
        is_possible && (may_have_changed(r, PERF_NO_ID, PERF_FACT_ENGLISH) ||
                        may_have_changed(r, id, PERF_FACT_ENGLISH) || may_have_changed(r, id, PERF_FACT_COUNTER));
    return !place->may_have_changed && find_place(r, place);
}

static perf_raw operand(readings *r, sample_view *view, const reading_place *place _U_, unsigned need)
{
    const perf_counter_info *info = &r->at.counter->info;
    uint32_t id = need == PERF_NEEDS_BASE   ? info->base_id
                  : need == PERF_NEEDS_TIME ? info->time_id
                  : need == PERF_NEEDS_FREQ ? info->freq_id
                                            : info->multi_id;
    pcq_stream *stream = stream_of(r);
    pcq_wanted want = wanted(r, id);
    reading_place found = {.table = NULL};

    if (id == PERF_NO_ID || (view != r->current && may_have_changed(r, id, PERF_FACT_ENGLISH)) ||
        !pcq_view_find(view == r->current ? &stream->current : &stream->previous, &want, &found)) {
        return (perf_raw){0, 0};
    }
    return found.raw;
}

const readings_layout pcq_readings_layout = {
    begin_stream, next,          look_up_counter, label,    look_up_set,
    open_table,   find_previous, operand,         instance, PERF_NO_RESULT_OK,
};
