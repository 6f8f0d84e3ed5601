/* keyed-list.h
 * Entries that are found by a text, and stay in the order in which they came: counters by their paths, queries, refusals.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Bytes of a list of paths: a path may have 200 times the bytes that bring it. Values of paths beyond are omitted. */
#define PATHS_ROOM (256 << 20)

/* The first member of each entry is a `const char *`, its key. */
typedef struct {
    wmem_allocator_t *pool; /* of all entries and their keys, and of what belongs to an entry */
    wmem_map_t *by_key;
    wmem_list_t *entries; /* in their order */
    size_t room;          /* bytes that entries and keys may still take */
} keyed_list;

/* Begins an empty list, which ends with its pool. Needs: zeros, or a list to forget. `pool`: NULL: a new one, the list's own; frees the one it had.
 * `room`: bytes; SIZE_MAX: any. */
void keyed_list_begin(keyed_list *list, wmem_allocator_t *pool, size_t room);

/* Begins an empty list of paths with a pool of its own, as a statistic begins. Needs: as keyed_list_begin(). `list`: keyed_list. */
void keyed_list_begin_paths(void *list);

/* Returns an entry; NULL if `key` is NULL, or new and without room. Changes: adds it, `size` bytes, zeros but for a copy of its key. */
void *keyed_list_find_or_add(keyed_list *list, const char *key, size_t size);
