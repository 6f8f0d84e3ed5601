/* instances.c
 * The instances of one table of a sample, and how to find one of another sample among them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/instances.h"

#include "perf/hash.h"

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

bool perf_instance_like(perf_instance_key *a, perf_instance_key *b)
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

perf_instance *perf_instances_row(const perf_instances *instances, uint32_t row)
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

uint32_t perf_instances_find(perf_instances *instances, const perf_instance *wanted)
{
    uint32_t count = perf_instances_count(instances);

    if (count == 0) {
        return UINT32_MAX;
    }
    perf_instances_indexed(instances, count - 1);
    return row_of(wmem_map_lookup(wanted->ordinal == 0 ? instances->likes : instances->by_key, wanted));
}

uint32_t perf_instances_find_name(perf_instances *instances, const perf_instance_key *key)
{
    uint32_t count = perf_instances_count(instances);
    perf_instance wanted = {*key, 0, 0, 0, 0, 0};

    if (count == 0) {
        return UINT32_MAX;
    }
    perf_instances_counted(instances, count - 1);
    return row_of(wmem_map_lookup(instances->by_name, &wanted));
}
