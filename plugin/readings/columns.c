/* columns.c
 * The paths that the answers of one handle held.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/columns.h"

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
    c->assumed = g_byte_array_new();
    c->numbers = g_hash_table_new(wmem_str_hash, g_str_equal);
    c->texts = g_string_chunk_new(TEXT_CHUNK);
    c->places = g_array_new(FALSE, TRUE, sizeof(column_place));
}

void columns_clear(columns *c)
{
    g_ptr_array_free(c->paths, TRUE);
    g_byte_array_free(c->assumed, TRUE);
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
    static const uint8_t not_assumed = 0;
    char *text = g_string_chunk_insert(c->texts, path);
    g_ptr_array_add(c->paths, text);
    g_byte_array_append(c->assumed, &not_assumed, 1);
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
    return reading_name_digest(&name);
}

static void go_to(columns *c, readings *r, unsigned at)
{
    if (c->table != r->number) {
        c->table = r->number;
        c->first = at;
        c->row = UINT32_MAX;
        c->following = true;
    }
    if (c->row != r->at.row) {
        c->row = r->at.row;
        c->row_begin = at;
        c->instance = at > c->first ? instance_of(r) : 0;
    }
}

static column_place *place_at(columns *c, unsigned at)
{
    if (at >= c->places->len) {
        g_array_set_size(c->places, at + 1);
        g_array_index(c->places, column_place, at).number = NO_COLUMN;
    }
    return &g_array_index(c->places, column_place, at);
}

/* True if the same counter of the same instance stood here in the answer before, as far as numbers tell. */
static bool is_as_before(const columns *c, const column_place *place, const readings *r, uint32_t counter_id)
{
    return place->answer + 1 == c->answers && place->table == r->number && place->row == r->at.row &&
           place->counter_id == counter_id && place->instance == c->instance;
}

/* True if all that stood here so far is as before, and among it a value of the counter: in the first row that has values
 * paths are compared. */
static bool is_told(const columns *c, unsigned at, uint32_t counter_id)
{
    const column_place *like = &g_array_index(c->places, column_place, c->first + at - c->row_begin);

    return c->following && c->instance != 0 && like->answer == c->answers && like->counter_id == counter_id;
}

static uint32_t number_of_path(columns *c, readings *r, uint32_t before)
{
    const char *path = readings_path(r);

    if (path == NULL) {
        return NO_COLUMN;
    }
    return before != NO_COLUMN && strcmp(columns_path(c, before), path) == 0 ? before : columns_of_path(c, path);
}

uint32_t columns_number(columns *c, readings *r)
{
    unsigned at = c->place++;
    uint32_t counter_id = readings_known_counter(r)->id;

    go_to(c, r, at);
    column_place *place = place_at(c, at);
    uint32_t number = place->number;
    bool same = number != NO_COLUMN && is_as_before(c, place, r, counter_id);
    if (!same || !is_told(c, at, counter_id)) {
        number = number_of_path(c, r, number);
        same = same && number == place->number;
    }
    c->following = c->following && same;
    *place = (column_place){number, r->number, c->row, counter_id, c->instance, c->answers};
    return number;
}
