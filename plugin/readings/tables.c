/* tables.c
 * A sample as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/tables.h"

#include "perf/hash.h"

/* --- Instances ---------------------------------------------------------------------------------------------------- */

uint64_t perf_name_digest(perf_name *name)
{
    if (name->digest == 0) {
        name->digest = perf_digest(name->bytes, name->size);
    }
    return name->digest;
}

bool perf_name_equal(perf_name *a, perf_name *b)
{
    if (a->size != b->size || a->size == 0) {
        return a->size == b->size;
    }
    if (a->size > PERF_NAME_COMPARED) {
        return perf_name_digest(a) == perf_name_digest(b);
    }
    return memcmp(a->bytes, b->bytes, a->size) == 0;
}

static bool same_name(perf_instance_key *a, perf_instance_key *b)
{
    return a->parent_name == b->parent_name && perf_name_equal(&a->name, &b->name);
}

/* The same but for ordinals. */
static bool perf_instance_like(perf_instance_key *a, perf_instance_key *b)
{
    if (a->by_id || b->by_id) {
        return a->by_id && b->by_id && a->id == b->id;
    }
    return a->id == b->id && a->parent == b->parent && same_name(a, b);
}

/* A name's digest is keyed already. */
static unsigned fold(uint64_t digest)
{
    return (unsigned)(digest ^ digest >> 32);
}

/* --- As keys of maps --------------------------------------------------------------------------------------------- */

/* A name's digest is worked out when it is first needed, also of a key. */
static perf_instance_key *key_in(const void *instance)
{
    return &((perf_instance *)(uintptr_t)instance)->key;
}

static unsigned name_hash(const void *instance)
{
    perf_instance_key *key = key_in(instance);

    return fold(perf_name_digest(&key->name) + key->parent_name);
}

static gboolean name_equal(const void *a, const void *b)
{
    return same_name(key_in(a), key_in(b));
}

static unsigned like_hash(const void *instance)
{
    perf_instance_key *key = key_in(instance);
    uint64_t relations = (uint64_t)key->parent << 32 | key->id;

    return perf_hash(NULL, 0, key->by_id ? key->id : perf_name_digest(&key->name) ^ relations);
}

static gboolean like_equal(const void *a, const void *b)
{
    return perf_instance_like(key_in(a), key_in(b));
}

static unsigned key_hash(const void *instance)
{
    return like_hash(instance) + ((const perf_instance *)instance)->ordinal * 0x9E3779B1U;
}

static gboolean key_equal(const void *a, const void *b)
{
    return ((const perf_instance *)a)->ordinal == ((const perf_instance *)b)->ordinal && like_equal(a, b);
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

void perf_instances_init(perf_instances *instances, wmem_allocator_t *pool)
{
    memset(instances, 0, sizeof *instances);
    instances->pool = pool;
}

uint32_t perf_instances_count(const perf_instances *instances)
{
    return instances->rows ? wmem_array_get_count(instances->rows) : 0;
}

static perf_instance *row_at(const perf_instances *instances, uint32_t row)
{
    return *(perf_instance **)wmem_array_index(instances->rows, row);
}

void perf_instances_add(perf_instances *instances, const perf_instance_key *key)
{
    perf_instance *instance = wmem_new(instances->pool, perf_instance);

    *instance = (perf_instance){*key, perf_instances_count(instances), 0, 0, 0, 0};
    if (instances->rows == NULL) {
        instances->rows = wmem_array_new(instances->pool, sizeof(perf_instance *));
    }
    wmem_array_append_one(instances->rows, instance);
}

/* A row as it was added; with its name_ordinal; with its ordinal. */
static perf_instance *perf_instances_row(const perf_instances *instances, uint32_t row)
{
    return row_at(instances, row);
}

/* The first of those that are equal to `instance` by the map's measure; itself if there was none. */
static perf_instance *first_of(wmem_map_t *map, perf_instance *instance)
{
    perf_instance *first = wmem_map_insert(map, instance, instance);

    if (first == NULL) {
        return instance; /* as nearly all are */
    }
    wmem_map_insert(map, first, first);
    return first;
}

perf_instance *perf_instances_counted(perf_instances *instances, uint32_t row)
{
    if (instances->by_name == NULL) {
        instances->by_name = wmem_map_new(instances->pool, name_hash, name_equal);
    }
    for (; instances->counted <= row; instances->counted++) {
        perf_instance *instance = row_at(instances, instances->counted);
        instance->name_ordinal = first_of(instances->by_name, instance)->named_like_it++;
    }
    return row_at(instances, row);
}

perf_instance *perf_instances_indexed(perf_instances *instances, uint32_t row)
{
    if (instances->likes == NULL) {
        instances->likes = wmem_map_new(instances->pool, like_hash, like_equal);
        instances->by_key = wmem_map_new(instances->pool, key_hash, key_equal);
    }
    for (; instances->indexed <= row; instances->indexed++) {
        perf_instance *instance = row_at(instances, instances->indexed);
        instance->ordinal = first_of(instances->likes, instance)->like_it++;
        if (instance->ordinal > 0) {
            wmem_map_insert(instances->by_key, instance, instance);
        }
    }
    return row_at(instances, row);
}

static uint32_t row_of(const perf_instance *found)
{
    return found ? found->row : UINT32_MAX;
}

/* The row that is like this one of another table, and the first one with this name; UINT32_MAX if there is none. All rows
 * have to be there. */
static uint32_t perf_instances_find(perf_instances *instances, const perf_instance *wanted)
{
    uint32_t count = perf_instances_count(instances);

    if (count == 0) {
        return UINT32_MAX;
    }
    perf_instances_indexed(instances, count - 1);
    return row_of(wmem_map_lookup(wanted->ordinal == 0 ? instances->likes : instances->by_key, wanted));
}

static uint32_t perf_instances_find_name(perf_instances *instances, const perf_instance_key *key)
{
    uint32_t count = perf_instances_count(instances);
    perf_instance wanted = {*key, 0, 0, 0, 0, 0};

    if (count == 0) {
        return UINT32_MAX;
    }
    perf_instances_counted(instances, count - 1);
    return row_of(wmem_map_lookup(instances->by_name, &wanted));
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

void reading_table_init(reading_table *table, reading_side *side, uint32_t number)
{
    memset(table, 0, sizeof *table);
    table->side = side;
    table->number = number;
    perf_instances_init(&table->instances, side->pool);
}

bool reading_table_has_row(reading_table *table, uint32_t row)
{
    while (table->rows <= row && !table->complete) {
        if (table->side->layout->next_row(table)) {
            table->rows++;
        } else {
            table->complete = true;
        }
    }
    return row < table->rows;
}

perf_raw reading_table_cell(reading_table *table, uint32_t row, uint32_t column)
{
    const perf_raw none = {0, 0};

    return reading_table_has_row(table, row) ? table->side->layout->cell(table, row, column) : none;
}

perf_instance *reading_table_instance(reading_table *table, uint32_t row)
{
    return reading_table_has_row(table, row) ? perf_instances_row(&table->instances, row) : NULL;
}

perf_instance *reading_table_named(reading_table *table, uint32_t row)
{
    return reading_table_has_row(table, row) ? perf_instances_counted(&table->instances, row) : NULL;
}

/* --- The same instance in another sample ------------------------------------------------------------------------- */

static table_likeness *likeness_to(reading_table *here, reading_table *there)
{
    for (unsigned i = 0; i < TABLE_LIKENESSES; i++) {
        table_likeness *like = &here->like[i];
        if (like->there == NULL) {
            like->there = there;
        }
        if (like->there == there) {
            return like;
        }
    }
    return NULL;
}

/* Rows that are like each other one by one, from the first on, also have the same ordinals. */
static bool same_place(reading_table *here, uint32_t row, reading_table *there)
{
    table_likeness *like = likeness_to(here, there);

    while (like && !like->parted && like->rows <= row) {
        perf_instance *a = reading_table_instance(here, like->rows);
        perf_instance *b = reading_table_instance(there, like->rows);
        like->parted = !a || !b || !perf_instance_like(&a->key, &b->key);
        like->rows += !like->parted;
    }
    return like && row < like->rows;
}

uint32_t reading_table_pair(reading_table *here, uint32_t row, reading_table *there)
{
    if (!here->has_instances || !there->has_instances) {
        return !here->has_instances && !there->has_instances && reading_table_has_row(there, 0) ? 0 : UINT32_MAX;
    }
    if (same_place(here, row, there)) {
        return row;
    }
    if (!reading_table_has_row(here, row)) {
        return UINT32_MAX;
    }
    reading_table_has_row(there, UINT32_MAX);
    return perf_instances_find(&there->instances, perf_instances_indexed(&here->instances, row));
}

uint32_t reading_table_find(reading_table *table, perf_instance_key *key, bool any_id)
{
    perf_name_digest(&key->name);
    perf_instance wanted = {*key, 0, 0, 0, 0, 0};

    reading_table_has_row(table, UINT32_MAX);
    return any_id ? perf_instances_find_name(&table->instances, key) : perf_instances_find(&table->instances, &wanted);
}
