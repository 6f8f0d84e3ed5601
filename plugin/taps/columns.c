/* columns.c
 * The paths that the answers of one handle held.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/columns.h"

#include "readings/layout.h"

#define TEXT_CHUNK 16384

/* What stood at one place of an answer. */
typedef struct {
    uint32_t number; /* of the path */
    uint32_t table;
    uint32_t row;
    uint32_t counter_id;
    uint64_t instance;
    uint64_t answer; /* the last that came so far */
} column_place;

void columns_init(columns *c, uint32_t *kept)
{
    memset(c, 0, sizeof *c);
    c->kept = kept;
    c->paths = g_ptr_array_new();
    c->numbers = g_hash_table_new(wmem_str_hash, g_str_equal);
    c->texts = g_string_chunk_new(TEXT_CHUNK);
    c->places = g_array_new(FALSE, TRUE, sizeof(column_place));
}

void columns_clear(columns *c)
{
    g_ptr_array_free(c->paths, TRUE);
    g_hash_table_destroy(c->numbers);
    g_string_chunk_free(c->texts);
    g_array_free(c->places, TRUE);
}

void columns_next_answer(columns *c)
{
    c->answers++;
    c->place = 0;
    c->table = UINT32_MAX;
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
    g_hash_table_insert(c->numbers, text, GUINT_TO_POINTER(c->paths->len));
    return c->paths->len - 1;
}

/* A child is told by its parent too, which stands elsewhere. */
static uint64_t instance_of(readings *r)
{
    const reading_instance *instance = reading_table_instance(readings_table(r), r->at.row);

    if (instance == NULL || instance->key.parent_name != 0) {
        return 0;
    }
    reading_name name = instance->key.name;
    return instance_name_digest(&name);
}

static void go_to(columns *c, readings *r)
{
    if (c->table != r->number) {
        c->table = r->number;
        c->row = UINT32_MAX;
        c->following = true;
    }
    if (c->row != r->at.row) {
        c->row = r->at.row;
        c->instance = c->row > 0 ? instance_of(r) : 0;
    }
}

/* True if the same counter of the same instance stood here in the answer before, as far as numbers tell. */
static bool is_as_before(const columns *c, const column_place *place, const readings *r)
{
    return place->answer + 1 == c->answers && place->table == r->number && place->row == r->at.row &&
           place->counter_id == r->at.counter->id && place->instance == c->instance;
}

uint32_t columns_number(columns *c, readings *r)
{
    unsigned at = c->place++;

    go_to(c, r);
    if (at >= c->places->len) {
        g_array_set_size(c->places, at + 1);
        g_array_index(c->places, column_place, at).number = NO_COLUMN;
    }
    column_place *place = &g_array_index(c->places, column_place, at);
    bool as_before = is_as_before(c, place, r);
    if (c->following && as_before && c->instance != 0 && place->number != NO_COLUMN) {
        place->answer = c->answers;
        return place->number;
    }
    const char *path = readings_path(r);
    uint32_t number = place->number;
    if (path == NULL) {
        number = NO_COLUMN;
    } else if (number == NO_COLUMN || strcmp(columns_path(c, number), path) != 0) {
        number = columns_of_path(c, path);
    }
    c->following = c->following && as_before && number == place->number;
    *place = (column_place){number, r->number, c->row, r->at.counter->id, c->instance, c->answers};
    return number;
}
