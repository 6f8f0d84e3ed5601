/* columns.c
 * The paths that the answers of one handle held.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/columns.h"

#define TEXT_CHUNK 16384

void columns_init(columns *c, uint32_t *kept)
{
    memset(c, 0, sizeof *c);
    c->kept = kept;
    c->paths = g_ptr_array_new();
    c->marks = g_array_new(FALSE, TRUE, sizeof(uint8_t));
    c->numbers = g_hash_table_new(wmem_str_hash, g_str_equal);
    c->texts = g_string_chunk_new(TEXT_CHUNK);
    c->places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void columns_clear(columns *c)
{
    g_ptr_array_free(c->paths, TRUE);
    g_array_free(c->marks, TRUE);
    g_hash_table_destroy(c->numbers);
    g_string_chunk_free(c->texts);
    g_array_free(c->places, TRUE);
}

void columns_next_answer(columns *c)
{
    c->place = 0;
}

uint32_t columns_of_path(columns *c, const char *path)
{
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(c->numbers, path));

    if (number > 0) {
        return number - 1;
    }
    size_t size = strlen(path) + 1;
    if (c->paths->len >= MAX_COLUMNS || size > MAX_PATH_BYTES - *c->kept) {
        c->left_out++;
        return NO_COLUMN;
    }
    c->bytes += (uint32_t)size;
    *c->kept += (uint32_t)size;
    char *text = g_string_chunk_insert(c->texts, path);
    g_ptr_array_add(c->paths, text);
    g_array_set_size(c->marks, c->paths->len);
    g_hash_table_insert(c->numbers, text, GUINT_TO_POINTER(c->paths->len));
    return c->paths->len - 1;
}

uint32_t columns_number(columns *c, readings *r)
{
    static const uint32_t none = NO_COLUMN;
    const char *path = readings_path(r);
    unsigned at = c->place++;

    if (at >= c->places->len) {
        g_array_append_val(c->places, none);
    }
    uint32_t *number = &g_array_index(c->places, uint32_t, at);
    if (path == NULL) {
        *number = NO_COLUMN;
    } else if (*number == NO_COLUMN || strcmp(columns_path(c, *number), path) != 0) {
        *number = columns_of_path(c, path);
    }
    return *number;
}
