/* keyed-list.c
 * Entries that are found by a text, and stay in the order in which they came.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/keyed-list.h"

/* Frees a list's table and array with the pool of its entries. The table finds one of many keys with fewer looks at memory than wmem's. */
static ws_wmem_result end_list(wmem_allocator_t *pool _U_, wmem_cb_event_t event _U_, void *data)
{
    keyed_list *list = data;

    g_hash_table_destroy(list->by_key);
    g_ptr_array_free(list->entries, TRUE);
    return FALSE;
}

void keyed_list_begin(keyed_list *list, wmem_allocator_t *pool, size_t room)
{
    if (pool == NULL && list->pool) {
        wmem_destroy_allocator(list->pool);
    }
    *list = (keyed_list){.pool = pool ? pool : wmem_allocator_new(WMEM_ALLOCATOR_BLOCK),
                         .by_key = g_hash_table_new(wmem_str_hash, g_str_equal),
                         .entries = g_ptr_array_new(),
                         .room = room};
    wmem_register_callback(list->pool, end_list, list);
}

void keyed_list_begin_paths(void *list)
{
    keyed_list_begin(list, NULL, PATHS_ROOM);
}

void *keyed_list_find_or_add(keyed_list *list, const char *key, size_t size)
{
    const char **entry = key ? g_hash_table_lookup(list->by_key, key) : NULL;
    size_t bytes = key ? size + strlen(key) : 0;

    if (entry == NULL && key && list->room >= bytes) {
        list->room -= bytes;
        entry = wmem_alloc0(list->pool, size);
        *entry = wmem_strdup(list->pool, key);
        g_hash_table_insert(list->by_key, (void *)*entry, entry);
        g_ptr_array_add(list->entries, entry);
    }
    return entry;
}
