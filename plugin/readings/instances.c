/* instances.c
 * The instances of one sample, and how to find one of another sample among them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/instances.h"

/* Rows that have something in common. */
typedef struct {
    uint32_t first_row;
    uint32_t count;
} tally;

static unsigned name_hash(const void *key)
{
    const perf_instance_key *k = key;

    return (k->name_size > 0 ? wmem_strong_hash(k->name, k->name_size) : 0) + k->parent_name * 37;
}

bool perf_instance_same_name(const perf_instance_key *a, const perf_instance_key *b)
{
    return a->parent_name == b->parent_name && a->name_size == b->name_size &&
           (a->name_size == 0 || memcmp(a->name, b->name, a->name_size) == 0);
}

static gboolean name_equal(const void *a, const void *b)
{
    return perf_instance_same_name(a, b);
}

static unsigned like_hash(const void *key)
{
    const perf_instance_key *k = key;

    return k->by_id ? k->id * 31 : name_hash(k) ^ (k->id * 31 + k->parent * 41);
}

static gboolean like_equal(const void *a, const void *b)
{
    const perf_instance_key *x = a, *y = b;

    if (x->by_id || y->by_id) {
        return x->by_id && y->by_id && x->id == y->id;
    }
    return x->id == y->id && x->parent == y->parent && perf_instance_same_name(x, y);
}

static unsigned key_hash(const void *key)
{
    return like_hash(key) + ((const perf_instance_key *)key)->ordinal * 17;
}

static gboolean key_equal(const void *a, const void *b)
{
    return ((const perf_instance_key *)a)->ordinal == ((const perf_instance_key *)b)->ordinal && like_equal(a, b);
}

void perf_instances_init(perf_instances *instances, wmem_allocator_t *pool)
{
    memset(instances, 0, sizeof *instances);
    instances->pool = pool;
    instances->rows = wmem_array_new(pool, sizeof(perf_instance));
}

void perf_instances_add(perf_instances *instances, const perf_instance_key *key)
{
    perf_instance row = {*key, 0};

    wmem_array_append_one(instances->rows, row);
}

/* How many rows like this one came before. */
static uint32_t count_like(wmem_allocator_t *pool, wmem_map_t *tallies, const perf_instance_key *key, uint32_t row)
{
    tally *found = wmem_map_lookup(tallies, key);

    if (found == NULL) {
        found = wmem_new(pool, tally);
        *found = (tally){row, 0};
        wmem_map_insert(tallies, key, found);
    }
    return found->count++;
}

/* The keys lie in the array of rows, which is complete by now and so moves no more. */
void perf_instances_index(perf_instances *instances)
{
    wmem_allocator_t *pool = instances->pool;
    uint32_t count = perf_instances_count(instances);
    perf_instance *rows = wmem_array_get_raw(instances->rows);
    wmem_map_t *likes = wmem_map_new(pool, like_hash, like_equal);

    instances->by_name = wmem_map_new(pool, name_hash, name_equal);
    instances->by_key = wmem_map_new(pool, key_hash, key_equal);
    for (uint32_t row = 0; row < count; row++) {
        perf_instance_key *key = &rows[row].key;
        rows[row].name_ordinal = count_like(pool, instances->by_name, key, row);
        key->ordinal = count_like(pool, likes, key, row);
        wmem_map_insert(instances->by_key, key, GUINT_TO_POINTER(row + 1));
    }
}

uint32_t perf_instances_count(const perf_instances *instances)
{
    return wmem_array_get_count(instances->rows);
}

const perf_instance *perf_instances_row(const perf_instances *instances, uint32_t row)
{
    return wmem_array_index(instances->rows, row);
}

uint32_t perf_instances_find(const perf_instances *instances, const perf_instance_key *key)
{
    return GPOINTER_TO_UINT(wmem_map_lookup(instances->by_key, key)) - 1;
}

uint32_t perf_instances_find_name(const perf_instances *instances, const perf_instance_key *key)
{
    const tally *named = wmem_map_lookup(instances->by_name, key);

    return named ? named->first_row : UINT32_MAX;
}
