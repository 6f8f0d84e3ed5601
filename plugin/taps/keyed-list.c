/* keyed-list.c
 * Entries that are found by a text, and stay in the order in which they came.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/keyed-list.h"

void keyed_list_begin(keyed_list *list, wmem_allocator_t *pool)
{
    if (pool == NULL && list->pool) {
        wmem_destroy_allocator(list->pool);
    }
    list->pool = pool ? pool : wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    list->by_key = wmem_map_new(list->pool, wmem_str_hash, g_str_equal);
    list->all = wmem_array_new(list->pool, sizeof(void *));
}

void *keyed_list_find(const keyed_list *list, const char *key)
{
    return key ? wmem_map_lookup(list->by_key, key) : NULL;
}

void *keyed_list_add(keyed_list *list, const char *key, size_t size)
{
    const char **entry = wmem_alloc0(list->pool, size);

    *entry = wmem_strdup(list->pool, key);
    wmem_map_insert(list->by_key, *entry, entry);
    wmem_array_append_one(list->all, entry);
    return entry;
}

unsigned keyed_list_count(const keyed_list *list)
{
    return wmem_array_get_count(list->all);
}

void *keyed_list_get(const keyed_list *list, unsigned number)
{
    return *(void **)wmem_array_index(list->all, number);
}
