/* keyed-list.c
 * Entries that are found by a text, and stay in the order in which they came.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/keyed-list.h"

void keyed_list_begin(keyed_list *list, wmem_allocator_t *pool, size_t room)
{
    if (pool == NULL && list->pool) {
        wmem_destroy_allocator(list->pool);
    }
    pool = pool ? pool : wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    *list = (keyed_list){pool, wmem_map_new(pool, wmem_str_hash, g_str_equal), wmem_list_new(pool), room};
}

void keyed_list_begin_paths(void *list)
{
    keyed_list_begin(list, NULL, PATHS_ROOM);
}

void *keyed_list_find_or_add(keyed_list *list, const char *key, size_t size)
{
    const char **entry = key ? wmem_map_lookup(list->by_key, key) : NULL;
    size_t bytes = key ? size + strlen(key) : 0;

    if (entry == NULL && key && list->room >= bytes) {
        list->room -= bytes;
        entry = wmem_alloc0(list->pool, size);
        *entry = wmem_strdup(list->pool, key);
        wmem_map_insert(list->by_key, *entry, entry);
        wmem_list_append(list->entries, entry);
    }
    return entry;
}
