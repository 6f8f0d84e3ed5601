/* fuzz_table.c
 * Tables of both protocols: they lie in their bytes, fill them where they are sound, and each row of a sound group is found in it again.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Rows of many columns are cells, not bytes: more are not looked at. */
#define MOST_CELLS 100000

static void check_inside(const perf_table *t, uint32_t offset, uint32_t size)
{
    assert(offset <= t->size && size <= t->size - offset);
}

static uint32_t check_cells(perf_table *t, perf_group *g, uint32_t row, uint32_t most)
{
    for (uint32_t column = 0; column < g->columns && column < most; column++) {
        uint32_t size, cell = perf_table_cell(t, g, row, column, &size);
        if (cell > 0) {
            check_inside(t, cell, size);
            assert(cell >= g->offset && cell + size <= g->end);
        }
        perf_raw number = perf_table_number(t, g, row, column);
        assert(number.size == (cell > 0 && (size == 4 || size == 8) ? size : 0));
        if (g->is_sound && !t->is_block) {
            assert(cell > 0);
        }
    }
    return g->columns < most ? g->columns : most;
}

/* A row of a sound group is the same in the group itself, unless several may be. */
static void check_row(perf_table *t, perf_group *g, uint32_t row)
{
    uint32_t size, name = perf_table_name(t, g, row, &size), match;

    check_inside(t, name, size);
    if (g->has_instances) {
        uint32_t first = perf_table_find_row(t, g, 0, t->data + name, size);
        assert(first <= row);
        assert(perf_table_row_name(t, g, row).ordinal <= row);
    }
    perf_match found = perf_table_match_row(t, g, row, t, g, PERF_PROVES_PROCESS | PERF_PROVES_THREAD, &match);
    assert(found != PERF_MATCH_NONE && (found == PERF_MATCH_AMBIGUOUS || match == row));
}

static void check_group(perf_table *t, perf_group *g, uint32_t *cells)
{
    check_inside(t, g->offset, g->end - g->offset);
    assert(g->offset < g->end);
    for (uint32_t column = 0; column < g->columns; column++) {
        const perf_column *c = perf_table_column(t, g, column);
        uint32_t found = perf_table_find_column(t, g, c->id, t->is_block && perf_column_is_base(c));
        uint32_t first, count = perf_table_count_columns(t, g, c->id, perf_column_is_base(c), &first);
        assert(found == (count > 1 ? PERF_NO_ID : column));
    }
    for (uint32_t row = 0; row < g->rows; row++) {
        const perf_row *r = perf_table_row(t, g, row);
        check_inside(t, r->cells, t->is_block ? r->block_size : 0);
        assert(t->is_block || r->cell_list + g->columns <= t->num_cells + 1 || r->cell_list == 0);
        *cells -= check_cells(t, g, row, *cells);
        if (g->is_sound && row < 1000) {
            check_row(t, g, row);
        }
    }
}

static void check_table(perf_table *t)
{
    uint32_t cells = MOST_CELLS, at = 0;

    for (uint32_t i = 0; i < t->num_groups; i++) {
        perf_group *g = perf_table_group(t, i);
        assert(g->offset >= at);
        at = g->end;
        check_group(t, g, &cells);
    }
    assert(!t->is_sound || t->num_groups == 0 || t->size - at < 16); /* with the last one's padding */
    for (uint32_t i = 0; i < t->num_faults; i++) {
        check_inside(t, t->faults[i].offset, 0);
        assert(t->faults[i].kind < PERF_NUM_TABLE_FAULTS);
        assert(t->faults[i].group < t->num_groups || t->faults[i].group == PERF_NO_GROUP);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perf_table table = {.data = NULL};

    if (size > UINT32_MAX) {
        return 0;
    }
    perf_table_read_data(&table, data, (uint32_t)size, (uint32_t)size);
    check_table(&table);
    perf_table_read_block(&table, data, (uint32_t)size, (uint32_t)size);
    check_table(&table);
    if (size < UINT32_MAX / 2) { /* what is missing is no fault of the last group that is there */
        perf_table_read_block(&table, data, (uint32_t)size, 2 * (uint32_t)size);
        check_table(&table);
        assert(!table.is_sound);
    }
    perf_table_free(&table);
    return 0;
}
