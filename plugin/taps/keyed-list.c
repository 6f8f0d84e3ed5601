/* keyed-list.c
 * Entries that are found by a text, and stay in the order in which they came.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/keyed-list.h"

/* Frees a list's hash table with the pool that it belongs to. It finds one of many keys with fewer looks at memory than wmem's. */
static ws_wmem_result end_table(wmem_allocator_t *pool _U_, wmem_cb_event_t event _U_, void *table)
{
    g_hash_table_destroy(table);
    return FALSE;
}

void keyed_list_begin(keyed_list *list, wmem_allocator_t *pool, size_t *room)
{
    if (pool == NULL && list->pool) {
        wmem_destroy_allocator(list->pool);
    }
    list->room = room;
    list->pool = pool ? pool : wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    list->by_key = g_hash_table_new(wmem_str_hash, g_str_equal);
    wmem_register_callback(list->pool, end_table, list->by_key);
    list->all = wmem_array_new(list->pool, sizeof(void *));
}

void *keyed_list_find(const keyed_list *list, const char *key)
{
    return key ? g_hash_table_lookup(list->by_key, key) : NULL;
}

void *keyed_list_find_or_add(keyed_list *list, const char *key, size_t size)
{
    const char **entry = keyed_list_find(list, key);
    size_t bytes = key ? size + strlen(key) + 1 : 0;

    if (entry == NULL && key && (list->room == NULL || *list->room >= bytes)) {
        if (list->room) {
            *list->room -= bytes;
        }
        entry = wmem_alloc0(list->pool, size);
        *entry = wmem_strdup(list->pool, key);
        g_hash_table_insert(list->by_key, (void *)*entry, entry);
        wmem_array_append_one(list->all, entry);
    }
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
