/* cells.h
 * The cells of a table, one after the other: row by row in each group. Inline, since each value is read by them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/table.h"

/* A place in a table, and the value that was read there. Begins as zeros, `bytes_left` as the table's size. */
typedef struct {
    perf_group *group;   /* NULL: in front of the first */
    uint32_t row;        /* of the group, 0 without instances */
    uint32_t column;     /* of the group; PERF_NO_ID: in front of its first value */
    uint32_t offset;     /* of the value, from the data's first byte; 0: it has none */
    uint32_t size;       /* of the value, bytes */
    perf_raw raw;        /* the value; size 0: a text, or neither 4 nor 8 bytes */
    uint32_t bytes_left; /* of values still to come: definitions times instances can be more than the table has */
} perf_cell;

/* Returns the group behind another, NULL: there is none. `group`: NULL: returns the first. Changes: as perf_table_group(). */
static inline perf_group *perf_table_next_group(perf_table *t, const perf_group *group)
{
    uint32_t next = group ? (uint32_t)(group - t->groups) + 1 : 0;

    return next < t->num_groups ? perf_table_group(t, next) : NULL;
}

/* Goes in front of a group's first value. `group`: NULL: of no value. */
static inline void perf_cell_enter(perf_cell *cell, perf_group *group)
{
    *cell = (perf_cell){.group = group, .column = PERF_NO_ID, .bytes_left = cell->bytes_left};
}

/* Reads the value of a cell of the group. Returns false if it has none, or the table no bytes for it. */
static inline bool perf_cell_read(perf_cell *cell, const perf_table *t, uint32_t row, uint32_t column)
{
    cell->row = row;
    cell->column = column;
    cell->offset = perf_table_cell(t, cell->group, row, column, &cell->size);
    uint32_t taken = cell->size > 0 ? cell->size : 1;
    cell->bytes_left -= taken < cell->bytes_left ? taken : cell->bytes_left;
    if (cell->offset == 0 || cell->bytes_left == 0) {
        return false;
    }
    cell->raw = perf_table_number_at(t, cell->offset, cell->size);
    return true;
}

/* Reads the next value of the group. Returns false at its end. */
static inline bool perf_cell_next(perf_cell *cell, const perf_table *t)
{
    const perf_group *group = cell->group;
    uint32_t column = cell->column + 1;

    for (uint32_t row = cell->row; row < group->rows; row++, column = 0) {
        for (; column < group->columns && cell->bytes_left > 0; column++) {
            if (perf_cell_read(cell, t, row, column)) {
                return true;
            }
        }
    }
    return false;
}

/* Returns the bytes of the cell's text without its terminator, `most` at most. `code_page`: by its type, its group or, as Samba sends it, its characters;
 * 1200: UTF-16, 20127: ASCII. */
static inline uint32_t perf_cell_text_size(const perf_cell *cell, const perf_table *t, uint32_t most,
                                           uint32_t *code_page)
{
    const uint8_t *text = t->data + cell->offset;
    uint32_t room = cell->size < most ? cell->size : most, type = perf_table_column(t, cell->group, cell->column)->type;
    bool is_narrow = type & PERF_TEXT_IN_CODE_PAGE || (t->is_block && perf_is_ascii_text(text, room));

    *code_page = !is_narrow ? 1200 : perf_is_utf16(cell->group->code_page) ? 20127 : cell->group->code_page;
    return perf_text_size(text, room, !is_narrow);
}

/* Returns the reason why no value of the sample before is the same counter's of the same instance, by what was found of row and column. */
static inline perf_no_result perf_match_reason(perf_match row, perf_match column)
{
    return row == PERF_MATCH_AMBIGUOUS      ? PERF_NO_RESULT_MOVED
           : row == PERF_MATCH_NONE         ? PERF_NO_RESULT_NEW_INSTANCE
           : column == PERF_MATCH_NONE      ? PERF_NO_RESULT_NEW_COUNTER
           : column == PERF_MATCH_AMBIGUOUS ? PERF_NO_RESULT_NOT_COMPARABLE
                                            : PERF_NO_RESULT_OK;
}
