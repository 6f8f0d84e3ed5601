/* tables.c
 * A sample as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/tables.h"

#include "state/queries.h"

/* --- Instances ---------------------------------------------------------------------------------------------------- */

uint64_t reading_name_digest(reading_name *name)
{
    if (name->digest == 0) {
        name->digest = query_name_digest(name->bytes, name->size);
    }
    return name->digest;
}

static bool same_name(reading_instance_key *x, reading_instance_key *y)
{
    reading_name *a = &x->name, *b = &y->name;

    if (x->parent_name != y->parent_name || a->size != b->size || a->size == 0) {
        return x->parent_name == y->parent_name && a->size == b->size;
    }
    if (a->size > PERF_NAME_COMPARED) {
        return reading_name_digest(a) == reading_name_digest(b);
    }
    return memcmp(a->bytes, b->bytes, a->size) == 0;
}

/* The same but for ordinals. */
static bool is_like(reading_instance_key *a, reading_instance_key *b)
{
    return a->id == b->id && (a->by_id || (a->parent == b->parent && same_name(a, b)));
}

/* --- As keys of maps --------------------------------------------------------------------------------------------- */

/* A name's digest is worked out when it is first needed, also of a key. */
static reading_instance_key *key_in(const void *instance)
{
    return &((reading_instance *)(uintptr_t)instance)->key;
}

static unsigned name_hash(const void *instance)
{
    reading_instance_key *key = key_in(instance);
    uint64_t digest = reading_name_digest(&key->name) + key->parent_name; /* keyed already */

    return (unsigned)(digest ^ digest >> 32);
}

static gboolean name_equal(const void *a, const void *b)
{
    return same_name(key_in(a), key_in(b));
}

static unsigned like_hash(const void *instance)
{
    reading_instance_key *key = key_in(instance);
    uint64_t relations = (uint64_t)key->parent << 32 | key->id;
    uint64_t told_by = key->by_id ? key->id : reading_name_digest(&key->name) ^ relations;

    return wmem_int64_hash(&told_by);
}

static gboolean like_equal(const void *a, const void *b)
{
    return is_like(key_in(a), key_in(b));
}

unsigned reading_instance_hash(const void *instance)
{
    return like_hash(instance) + ((const reading_instance *)instance)->ordinal * 0x9E3779B1U;
}

gboolean reading_instance_equal(const void *a, const void *b)
{
    return ((const reading_instance *)a)->ordinal == ((const reading_instance *)b)->ordinal && like_equal(a, b);
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

uint32_t reading_instances_count(const reading_instances *instances)
{
    return instances->rows ? wmem_array_get_count(instances->rows) : 0;
}

static reading_instance *row_at(const reading_instances *instances, uint32_t row)
{
    return *(reading_instance **)wmem_array_index(instances->rows, row);
}

void reading_instances_add(reading_instances *instances, const reading_instance_key *key)
{
    reading_instance *instance = wmem_new(instances->pool, reading_instance);

    *instance = (reading_instance){*key, reading_instances_count(instances), 0, 0, 0, 0};
    if (instances->rows == NULL) {
        instances->rows = wmem_array_new(instances->pool, sizeof(reading_instance *));
    }
    wmem_array_append_one(instances->rows, instance);
}

/* The first of those that are equal to `instance` by the map's measure; itself if there was none. */
static reading_instance *first_of(wmem_map_t *map, reading_instance *instance)
{
    reading_instance *first = wmem_map_insert(map, instance, instance);

    if (first == NULL) {
        return instance; /* as nearly all are */
    }
    wmem_map_insert(map, first, first);
    return first;
}

reading_instance *reading_instances_counted(reading_instances *instances, uint32_t row)
{
    if (instances->by_name == NULL) {
        instances->by_name = wmem_map_new(instances->pool, name_hash, name_equal);
    }
    for (; instances->counted <= row; instances->counted++) {
        reading_instance *instance = row_at(instances, instances->counted);
        instance->name_ordinal = first_of(instances->by_name, instance)->named_like_it++;
    }
    return row_at(instances, row);
}

reading_instance *reading_instances_indexed(reading_instances *instances, uint32_t row)
{
    if (instances->likes == NULL) {
        instances->likes = wmem_map_new(instances->pool, like_hash, like_equal);
        instances->by_key = wmem_map_new(instances->pool, reading_instance_hash, reading_instance_equal);
    }
    for (; instances->indexed <= row; instances->indexed++) {
        reading_instance *instance = row_at(instances, instances->indexed);
        instance->ordinal = first_of(instances->likes, instance)->like_it++;
        if (instance->ordinal > 0) {
            wmem_map_insert(instances->by_key, instance, instance);
        }
    }
    return row_at(instances, row);
}

/* The row that is like this one of another table, or the first one with this name; UINT32_MAX if there is none. All rows
 * have to be there. */
static uint32_t find_row(reading_instances *instances, const reading_instance *wanted, bool by_name)
{
    uint32_t count = reading_instances_count(instances);
    wmem_map_t *map;

    if (count == 0) {
        return UINT32_MAX;
    }
    if (by_name) {
        reading_instances_counted(instances, count - 1);
        map = instances->by_name;
    } else {
        reading_instances_indexed(instances, count - 1);
        map = wanted->ordinal == 0 ? instances->likes : instances->by_key;
    }
    const reading_instance *found = wmem_map_lookup(map, wanted);
    return found ? found->row : UINT32_MAX;
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

void reading_table_init(reading_table *table, reading_side *side, uint32_t number)
{
    memset(table, 0, sizeof *table);
    table->side = side;
    table->number = number;
    table->instances.pool = side->pool;
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

reading_instance *reading_table_instance(reading_table *table, uint32_t row)
{
    return reading_table_has_row(table, row) ? row_at(&table->instances, row) : NULL;
}

reading_instance *reading_table_named(reading_table *table, uint32_t row)
{
    return reading_table_has_row(table, row) ? reading_instances_counted(&table->instances, row) : NULL;
}

/* --- The same instance in another sample ------------------------------------------------------------------------- */

/* Rows that are like each other one by one, from the first on, also have the same ordinals. */
static bool same_place(reading_table *here, uint32_t row, reading_table *there)
{
    table_likeness *like = here->like, *end = here->like + TABLE_LIKENESSES;

    while (like < end && like->there && like->there != there) {
        like++;
    }
    if (like == end) {
        return false;
    }
    like->there = there;
    while (!like->parted && like->rows <= row) {
        reading_instance *a = reading_table_instance(here, like->rows);
        reading_instance *b = reading_table_instance(there, like->rows);
        like->parted = !a || !b || !is_like(&a->key, &b->key);
        like->rows += !like->parted;
    }
    return row < like->rows;
}

/* Whoever asks for one row alone, as the Info column does, needs no index of all. */
static uint32_t first_like(reading_table *table, const reading_instance *wanted)
{
    reading_instance_key key = wanted->key;

    for (uint32_t row = 0; reading_table_has_row(table, row); row++) {
        if (is_like(&row_at(&table->instances, row)->key, &key)) {
            return row;
        }
    }
    return UINT32_MAX;
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
    const reading_instance *wanted = reading_instances_indexed(&here->instances, row);
    if (!there->was_searched && wanted->ordinal == 0) {
        there->was_searched = true;
        return first_like(there, wanted);
    }
    reading_table_has_row(there, UINT32_MAX);
    return find_row(&there->instances, wanted, false);
}

uint32_t reading_table_find(reading_table *table, reading_instance_key *key, bool any_id)
{
    reading_name_digest(&key->name);
    reading_instance wanted = {*key, 0, 0, 0, 0, 0};

    reading_table_has_row(table, UINT32_MAX);
    return find_row(&table->instances, &wanted, any_id);
}
