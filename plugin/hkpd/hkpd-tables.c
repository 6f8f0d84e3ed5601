/* hkpd-tables.c
 * The objects of PERF_DATA_BLOCK as tables of a sample.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-tables.h"

/* Where a row's counter block is; offset 0: there is none. */
typedef struct {
    uint32_t offset;
    uint32_t size;
} row_counters;

/* --- Objects ----------------------------------------------------------------------------------------------------- */

static uint64_t counter_key(wmem_map_t *ordinals, uint32_t title_index)
{
    uint32_t ordinal = GPOINTER_TO_UINT(wmem_map_lookup(ordinals, GUINT_TO_POINTER(title_index)));

    wmem_map_insert(ordinals, GUINT_TO_POINTER(title_index), GUINT_TO_POINTER(ordinal + 1));
    return (uint64_t)title_index << 32 | ordinal;
}

static void add_column(hkpd_table *table, const perf_block_walk *walk, wmem_map_t *ordinals)
{
    uint32_t at = walk->definition.offset;
    hkpd_column column = {
        .title_index = perf_block_u32(walk, at + 4),
        .type = perf_block_u32(walk, at + 28),
        .size = perf_block_u32(walk, at + 32),
        .offset = perf_block_u32(walk, at + 36),
        .key = counter_key(ordinals, perf_block_u32(walk, at + 4)),
        .known_type = perf_counter_type_find(perf_block_u32(walk, at + 28)),
    };

    wmem_array_append_one(table->columns, column);
}

/* Reads the definitions and stops where the first row begins. */
static void read_columns(hkpd_table *table)
{
    wmem_map_t *ordinals = wmem_map_new(table->base.side->pool, g_direct_hash, g_direct_equal);
    perf_block_walk ahead = table->walk;
    perf_block_event event;

    table->columns = wmem_array_new(table->base.side->pool, sizeof(hkpd_column));
    while ((event = perf_block_next(&ahead)) == PERF_BLOCK_DEFINITION || event == PERF_BLOCK_FAULT) {
        if (event == PERF_BLOCK_DEFINITION && ahead.definition.number < ahead.object.num_definitions) {
            add_column(table, &ahead, ordinals);
        }
        table->walk = ahead;
    }
    table->base.columns = wmem_array_get_count(table->columns);
}

static hkpd_table *new_table(hkpd_side *side, const perf_block_walk *walk)
{
    hkpd_table *table = wmem_new0(side->base.pool, hkpd_table);

    reading_table_init(&table->base, &side->base, walk->object.number);
    table->base.has_instances = walk->object.num_instances >= 0;
    table->title_index = walk->object.index;
    table->perf_time = perf_block_u64(walk, walk->object.offset + 48);
    table->perf_freq = perf_block_u64(walk, walk->object.offset + 56);
    table->walk = table->ahead = *walk;
    table->cells = wmem_array_new(side->base.pool, sizeof(row_counters));
    reading_instances_init(&table->names, side->base.pool);
    return table;
}

static bool find_next_object(hkpd_side *side)
{
    perf_block_event event;

    while (!side->at_end && (event = perf_block_next(&side->scout)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            hkpd_table *table = new_table(side, &side->scout);
            wmem_array_append_one(side->tables, table);
            if (!wmem_map_contains(side->by_index, GUINT_TO_POINTER(table->title_index))) {
                wmem_map_insert(side->by_index, GUINT_TO_POINTER(table->title_index), table);
            }
            perf_block_skip_object(&side->scout);
            return true;
        }
    }
    side->at_end = true;
    return false;
}

static hkpd_table *opened(hkpd_table *table)
{
    if (table && table->columns == NULL) {
        read_columns(table);
    }
    return table;
}

hkpd_table *hkpd_side_table(hkpd_side *side, uint32_t number)
{
    while (wmem_array_get_count(side->tables) <= number) {
        if (!find_next_object(side)) {
            return NULL;
        }
    }
    return opened(*(hkpd_table **)wmem_array_index(side->tables, number));
}

/* Where a kept sample's object stands is known, however many others lie before it. */
static hkpd_table *table_in_sample(hkpd_side *side, uint32_t title_index)
{
    const state_object *object = sample_object(side->sample, title_index);
    perf_block_walk walk = side->scout;

    if (object == NULL) {
        return NULL;
    }
    perf_block_go_to_object(&walk, object->number, object->offset);
    if (perf_block_next(&walk) != PERF_BLOCK_OBJECT) {
        return NULL;
    }
    hkpd_table *table = new_table(side, &walk);
    wmem_map_insert(side->by_index, GUINT_TO_POINTER(title_index), table);
    return table;
}

static hkpd_table *table_of(hkpd_side *side, uint32_t title_index)
{
    hkpd_table *table;

    while ((table = wmem_map_lookup(side->by_index, GUINT_TO_POINTER(title_index))) == NULL) {
        if (side->sample) {
            return table_in_sample(side, title_index);
        }
        if (!find_next_object(side)) {
            return NULL;
        }
    }
    return table;
}

hkpd_table *hkpd_side_table_of(hkpd_side *side, uint32_t title_index)
{
    return opened(table_of(side, title_index));
}

/* --- Counters ---------------------------------------------------------------------------------------------------- */

const hkpd_column *hkpd_table_column(const hkpd_table *table, uint32_t column)
{
    return column < table->base.columns ? wmem_array_index(table->columns, column) : NULL;
}

static bool same_counter(const hkpd_column *a, const hkpd_column *b)
{
    return a && b && a->key == b->key && a->type == b->type;
}

uint32_t hkpd_table_find(hkpd_table *table, const hkpd_column *counter, uint32_t hint)
{
    if (same_counter(counter, hkpd_table_column(table, hint))) {
        return hint;
    }
    if (table->by_counter == NULL) {
        table->by_counter = wmem_map_new(table->base.side->pool, wmem_int64_hash, g_int64_equal);
        for (uint32_t i = table->base.columns; i-- > 0;) {
            wmem_map_insert(table->by_counter, &hkpd_table_column(table, i)->key, GUINT_TO_POINTER(i + 1));
        }
    }
    uint32_t found = GPOINTER_TO_UINT(wmem_map_lookup(table->by_counter, &counter->key)) - 1;
    return same_counter(counter, hkpd_table_column(table, found)) ? found : UINT32_MAX;
}

uint32_t hkpd_number_size(const hkpd_column *column)
{
    return (column->type & PERF_MULTI) && column->size == 12 ? 8 : column->size;
}

perf_raw hkpd_table_number(hkpd_table *table, uint32_t row, uint64_t offset, uint32_t size)
{
    perf_raw raw = {0, 0};
    const row_counters *counters =
        reading_table_has_row(&table->base, row) ? wmem_array_index(table->cells, row) : NULL;

    if (counters == NULL || counters->offset == 0 || offset < PERF_COUNTER_BLOCK_SIZE ||
        offset + size > counters->size) {
        return raw;
    }
    uint32_t at = counters->offset + (uint32_t)offset;
    if (size == 4) {
        raw = (perf_raw){perf_block_u32(&table->walk, at), 4};
    } else if (size == 8) {
        raw = (perf_raw){perf_block_u64(&table->walk, at), 8};
    }
    return raw;
}

static perf_raw cell(const reading_table *base, uint32_t row, uint32_t column)
{
    hkpd_table *table = (hkpd_table *)base;
    const hkpd_column *definition = hkpd_table_column(table, column);

    return definition ? hkpd_table_number(table, row, definition->offset, hkpd_number_size(definition))
                      : (perf_raw){0, 0};
}

/* --- Parents ----------------------------------------------------------------------------------------------------- */

/* Which instance a parent is, for all samples the same; or only what its name is. */
typedef struct {
    uint32_t object;
    uint32_t ordinal;
    bool is_named; /* else it could not be found, its number in its object (ordinal) must do */
    reading_name name;
} parent_identity;

#define ANY_ORDINAL UINT32_MAX

static reading_name *name_in(const void *identity)
{
    return &((parent_identity *)(uintptr_t)identity)->name;
}

static unsigned parent_hash(const void *key)
{
    const parent_identity *k = key;
    uint64_t told_by = reading_name_digest(name_in(k)) ^ ((uint64_t)k->object << 32 | k->ordinal);

    return wmem_int64_hash(&told_by);
}

static gboolean parent_equal(const void *a, const void *b)
{
    const parent_identity *x = a, *y = b;

    return x->object == y->object && x->ordinal == y->ordinal && x->is_named == y->is_named &&
           reading_name_equal(name_in(x), name_in(y));
}

/* A number above 0 for a parent, the same one for the same parent. */
static uint32_t parent_number(const hkpd_side *side, const parent_identity *identity)
{
    uint32_t number = GPOINTER_TO_UINT(wmem_map_lookup(side->parents, identity));

    if (number == 0) {
        number = wmem_map_size(side->parents) + 1;
        wmem_map_insert(side->parents, wmem_memdup(side->base.pool, identity, sizeof *identity),
                        GUINT_TO_POINTER(number));
    }
    return number;
}

static reading_instance_key name_of(const perf_block_walk *walk)
{
    return (reading_instance_key){.name = {walk->data + walk->instance.name, walk->instance.name_size, 0}};
}

static bool is_in_object(perf_block_event event)
{
    return event != PERF_BLOCK_END && event != PERF_BLOCK_OBJECT;
}

/* A row's name and which of those alike it is, NULL if there is no such row. */
static reading_instance *named_row(hkpd_table *table, uint32_t row)
{
    perf_block_event event = PERF_BLOCK_HEADER;

    while (reading_instances_count(&table->names) <= row && is_in_object(event = perf_block_next(&table->ahead))) {
        if (event == PERF_BLOCK_INSTANCE) {
            reading_instance_key key = name_of(&table->ahead);
            reading_instances_add(&table->names, &key);
        } else if (event == PERF_BLOCK_VALUE) {
            perf_block_skip_values(&table->ahead);
        }
    }
    return row < reading_instances_count(&table->names) ? reading_instances_counted(&table->names, row) : NULL;
}

static reading_instance *parent_of(hkpd_side *side, const perf_block_walk *walk, const hkpd_table **object)
{
    hkpd_table *table = walk->instance.parent_object != 0 ? table_of(side, walk->instance.parent_object) : NULL;

    *object = table;
    return table && table->base.has_instances ? named_row(table, walk->instance.parent_instance) : NULL;
}

bool hkpd_parent_name(hkpd_side *side, const perf_block_walk *walk, const hkpd_table **object, reading_name *parent)
{
    reading_instance *row = parent_of(side, walk, object);

    if (row) {
        *parent = row->key.name;
    }
    return row != NULL;
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* An instance is told by its UniqueID, else by its name, its parent and which of those alike it is. The parent's
 * number in its object changes as others come and go: it is told by its own name. */
static reading_instance_key key_of(hkpd_side *side, const perf_block_walk *walk)
{
    reading_instance_key key = name_of(walk);
    const hkpd_table *object;
    reading_instance *parent = parent_of(side, walk, &object);
    parent_identity identity = {walk->instance.parent_object, walk->instance.parent_instance, false, {NULL, 0, 0}};

    key.id = walk->instance.unique_id;
    key.by_id = key.id != PERF_NO_UNIQUE_ID;
    if (parent) {
        reading_name_digest(&parent->key.name);
        identity = (parent_identity){walk->instance.parent_object, ANY_ORDINAL, true, parent->key.name};
        key.parent_name = parent_number(side, &identity);
        identity.ordinal = parent->name_ordinal;
    }
    if (walk->instance.parent_object != 0) {
        key.parent = parent_number(side, &identity);
    }
    return key;
}

/* An instance is followed by its counters, or by nothing more. */
static bool next_row(reading_table *base)
{
    hkpd_table *table = (hkpd_table *)base;
    row_counters counters = {0, 0};
    bool found = false;
    perf_block_event event;

    while (counters.offset == 0 && is_in_object(event = perf_block_next(&table->walk))) {
        if (event == PERF_BLOCK_INSTANCE) {
            reading_instance_key key = key_of((hkpd_side *)base->side, &table->walk);
            reading_instances_add(&base->instances, &key);
            found = true;
        } else if (event == PERF_BLOCK_COUNTERS) {
            counters = (row_counters){table->walk.counters.offset, table->walk.counters.size};
            found = true;
        } else if (event == PERF_BLOCK_VALUE) {
            perf_block_skip_values(&table->walk);
        }
    }
    if (found) {
        wmem_array_append_one(table->cells, counters);
    }
    return found;
}

static hkpd_side *new_side(wmem_allocator_t *pool, const uint8_t *bytes, uint32_t size)
{
    static const table_layout layout = {next_row, cell};
    hkpd_side *side = wmem_new0(pool, hkpd_side);

    side->base.layout = &layout;
    side->base.pool = pool;
    side->base.bytes = bytes;
    side->base.size = size;
    side->tables = wmem_array_new(pool, sizeof(hkpd_table *));
    side->by_index = wmem_map_new(pool, g_direct_hash, g_direct_equal);
    perf_block_init(&side->scout, bytes, size);
    if (perf_block_next(&side->scout) == PERF_BLOCK_HEADER) {
        side->base.clocks.perf_time = perf_block_u64(&side->scout, 56);
        side->base.clocks.perf_freq = perf_block_u64(&side->scout, 64);
        side->base.clocks.time_100ns = perf_block_u64(&side->scout, 72);
    }
    return side;
}

hkpd_side *hkpd_side_new(wmem_allocator_t *pool, const uint8_t *bytes, uint32_t size)
{
    hkpd_side *side = new_side(pool, bytes, size);

    side->parents = wmem_map_new(pool, parent_hash, parent_equal);
    return side;
}

hkpd_side *hkpd_side_of_sample(const hkpd_side *now, const state_sample *sample)
{
    hkpd_side *side = new_side(now->base.pool, sample->bytes, sample->size);

    side->parents = now->parents;
    side->sample = sample;
    return side;
}
