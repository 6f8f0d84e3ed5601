/* instances.h
 * The instances of one sample, and how to find one of another sample among them. Both protocols pair their samples
 * with this.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_READINGS_INSTANCES_H
#define PCQ_READINGS_INSTANCES_H

#include "ws_compat.h"

/* An instance as the other sample may have it too. */
typedef struct {
    const uint8_t *name; /* as sent, without terminator */
    uint32_t name_size;  /* bytes */
    uint32_t id;
    uint32_t parent;      /* which instance is its parent; 0 without one */
    uint32_t parent_name; /* the name of that; 0 without one */
    uint32_t ordinal;     /* among those that are equal but for this */
    bool by_id;           /* the id alone tells it */
} perf_instance_key;

typedef struct {
    perf_instance_key key;
    uint32_t name_ordinal; /* among those with the same name and parent's name, as paths count them */
} perf_instance;

typedef struct {
    wmem_allocator_t *pool;
    wmem_array_t *rows;  /* perf_instance, in the order of the sample */
    wmem_map_t *by_name; /* name and parent's name -> the first of them and how many there are */
    wmem_map_t *by_key;  /* whole key -> row + 1 */
} perf_instances;

void perf_instances_init(perf_instances *instances, wmem_allocator_t *pool);

/* Adds the next row. Its ordinals are counted when all are there, by perf_instances_index(). */
void perf_instances_add(perf_instances *instances, const perf_instance_key *key);
void perf_instances_index(perf_instances *instances);

uint32_t perf_instances_count(const perf_instances *instances);
const perf_instance *perf_instances_row(const perf_instances *instances, uint32_t row);

/* The row with this key, and the first one with its name; UINT32_MAX if there is none. */
uint32_t perf_instances_find(const perf_instances *instances, const perf_instance_key *key);
uint32_t perf_instances_find_name(const perf_instances *instances, const perf_instance_key *key);

bool perf_instance_same_name(const perf_instance_key *a, const perf_instance_key *b);

#endif
