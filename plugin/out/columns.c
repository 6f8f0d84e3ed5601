/* columns.c
 * The paths that the answers of one handle held.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "out/columns.h"

#define TEXT_CHUNK 16384

void columns_init(columns *c)
{
    c->paths = g_ptr_array_new();
    c->numbers = g_hash_table_new(g_str_hash, g_str_equal);
    c->texts = g_string_chunk_new(TEXT_CHUNK);
    c->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    c->left_out = 0;
}

void columns_clear(columns *c)
{
    g_ptr_array_free(c->paths, TRUE);
    g_hash_table_destroy(c->numbers);
    g_string_chunk_free(c->texts);
    g_array_free(c->order, TRUE);
}

static uint32_t look_up(columns *c, const char *path)
{
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(c->numbers, path));

    if (number > 0) {
        return number - 1;
    }
    if (c->paths->len >= MAX_COLUMNS) {
        c->left_out++;
        return NO_COLUMN;
    }
    char *text = g_string_chunk_insert(c->texts, path);
    g_ptr_array_add(c->paths, text);
    g_hash_table_insert(c->numbers, text, GUINT_TO_POINTER(c->paths->len));
    return c->paths->len - 1;
}

uint32_t columns_number(columns *c, unsigned place, const char *path)
{
    if (place < c->order->len) {
        uint32_t *expected = &g_array_index(c->order, uint32_t, place);
        if (*expected == NO_COLUMN || strcmp(columns_path(c, *expected), path) != 0) {
            *expected = look_up(c, path);
        }
        return *expected;
    }
    uint32_t number = look_up(c, path);
    g_array_append_val(c->order, number);
    return number;
}
