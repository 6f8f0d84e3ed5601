/* instances.h
 * The instances of one table of a sample, how often a name came before, and how to find one of another sample among them.
 * Both protocols pair their samples with this.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_READINGS_INSTANCES_H
#define PCQ_READINGS_INSTANCES_H

#include "ws_compat.h"

/* A name as it was sent. */
typedef struct {
    const uint8_t *bytes; /* without terminator */
    uint32_t size;        /* bytes */
    uint64_t digest;      /* 0 as long as it was not needed; see perf_name_digest() */
} perf_name;

/* Longer names are told by their digests: a packet could have a name of megabytes compared for each of its values. */
#define PERF_NAME_COMPARED 2048

/* Worked out once for a name. */
uint64_t perf_name_digest(perf_name *name);
bool perf_name_equal(perf_name *a, perf_name *b);

/* An instance as the other sample may have it too. */
typedef struct {
    perf_name name;
    uint32_t id;
    uint32_t parent;      /* which instance is its parent; 0 without one */
    uint32_t parent_name; /* the name of that; 0 without one */
    bool by_id;           /* the id alone tells it */
} perf_instance_key;

typedef struct {
    perf_instance_key key;
    uint32_t row;
    uint32_t ordinal; /* among those that are equal but for this; known when indexed */
    uint32_t
        name_ordinal; /* among those with the same name and parent's name, as paths count them; known when counted */
    uint32_t like_it; /* rows like this one so far, if it is the first of them */
    uint32_t named_like_it; /* the same of its name */
} perf_instance;

typedef struct {
    wmem_allocator_t *pool;
    wmem_array_t *rows;  /* perf_instance *, in the order of the sample; NULL before the first */
    uint32_t counted;    /* rows whose name_ordinal is known */
    uint32_t indexed;    /* rows whose ordinal is known */
    wmem_map_t *by_name; /* perf_instance, by name and parent's name -> the first of them */
    wmem_map_t *likes;   /* perf_instance, by key -> the first of them */
    wmem_map_t *by_key;  /* perf_instance, by key and ordinal: those that are not the first */
} perf_instances;

void perf_instances_init(perf_instances *instances, wmem_allocator_t *pool);
uint32_t perf_instances_count(const perf_instances *instances);

void perf_instances_add(perf_instances *instances, const perf_instance_key *key);

/* A row as it was added; with its name_ordinal; with its ordinal. */
perf_instance *perf_instances_row(const perf_instances *instances, uint32_t row);
perf_instance *perf_instances_counted(perf_instances *instances, uint32_t row);
perf_instance *perf_instances_indexed(perf_instances *instances, uint32_t row);

/* The row that is like this one of another table, and the first one with this name; UINT32_MAX if there is none. All rows
 * have to be there. */
uint32_t perf_instances_find(perf_instances *instances, const perf_instance *wanted);
uint32_t perf_instances_find_name(perf_instances *instances, const perf_instance_key *key);

/* The same but for ordinals. */
bool perf_instance_like(perf_instance_key *a, perf_instance_key *b);

#endif
