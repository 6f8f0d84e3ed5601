/* table-read.h
 * Arrays of a table that grow while it is read, its faults, and the loop over its groups: shared by the two readers alone.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/table.h"

/* Adds a column to the last group. */
static inline void perf_add_column(perf_table *t, perf_group *g, perf_column column)
{
    if (t->num_columns == t->room[PERF_COLUMNS]) {
        t->columns = perf_table_enlarge(t, t->columns, PERF_COLUMNS, 1);
    }
    t->columns[t->num_columns++] = column;
    g->columns++;
}

/* Adds a row to the last group. Returns it, until the next one is added. */
static inline perf_row *perf_add_row(perf_table *t, perf_group *g, perf_row row)
{
    if (t->num_rows == t->room[PERF_ROWS]) {
        t->rows = perf_table_enlarge(t, t->rows, PERF_ROWS, 1);
    }
    t->rows[t->num_rows] = row;
    g->rows++;
    return &t->rows[t->num_rows++];
}

/* Faults that are kept of a response: nobody reads more. */
#define PERF_MOST_FAULTS 100

/* Adds a fault, unless PERF_MOST_FAULTS are there. `group`: as there. */
static inline void perf_add_fault(perf_table *t, perf_table_fault_kind kind, uint32_t group, uint32_t offset,
                                  uint32_t stated, uint32_t found)
{
    if (t->num_faults == t->room[PERF_FAULTS]) {
        t->faults = perf_table_enlarge(t, t->faults, PERF_FAULTS, 1);
    }
    if (t->num_faults < PERF_MOST_FAULTS) {
        t->faults[t->num_faults++] = (perf_table_fault){kind, group, offset, stated, found};
    }
}

/* Adds a fault of the last group. Returns 0, for readers to return if they read nothing behind it. */
static inline uint32_t perf_group_fault(perf_table *t, perf_table_fault_kind kind, uint32_t offset, uint32_t stated,
                                        uint32_t found)
{
    perf_add_fault(t, kind, t->num_groups - 1, offset, stated, found);
    return 0;
}

/* Groups of one protocol: offsets of fields, sizes in bytes. */
typedef struct {
    uint32_t count_field; /* of the number of groups, in the response */
    uint32_t size_field;  /* of a group's size, in the group */
    uint32_t header_size; /* of a group */
    /* Reads a group in one of two ways. Returns where its parts end, 0 if something does not fit. */
    uint32_t (*read)(perf_table *table, perf_group *group, bool is_other_way);
    /* Reads the blocks of one plain value from `at` on, at most so many, behind a group with values. Returns where they end. NULL: there are none. */
    uint32_t (*read_plain)(perf_table *table, uint32_t at, uint32_t most);
} perf_group_layout;

/* Reads the last group in the way whose parts fill it (but for less than 8 bytes): it is sound then. If neither does, reads it in the first. */
static inline void perf_read_group(perf_table *t, const perf_group_layout *layout, perf_group *g)
{
    const perf_group begun = *g;
    const uint32_t cells = t->num_cells, faults = t->num_faults;

    for (int tries = 0; tries < 3 && !g->is_sound; tries++) {
        t->num_columns = begun.first_column;
        t->num_rows = begun.first_row;
        t->num_cells = cells;
        t->num_faults = faults;
        *g = begun;
        uint32_t end = layout->read(t, g, tries == 1);
        g->is_sound = end > 0 && g->end - end < 8;
        if (end > 0 && !g->is_sound) {
            perf_group_fault(t, PERF_FAULT_REST, g->offset + layout->size_field, g->end - g->offset, end - g->offset);
        }
    }
}

/* Reads all groups from `at` on, and judges them and the response. Needs: `at` lies in the data. Changes: a group that the capture
 * truncates is not sound, nor is the response, but has no fault. Inline, since a response can have a group for each 32 bytes. */
static inline void perf_read_groups(perf_table *t, const perf_group_layout *layout, uint32_t at)
{
    uint32_t count = perf_table_u32(t, layout->count_field), most = (t->size - at) / layout->header_size;
    bool fits = true, is_cut = t->size < t->reported, has_values = false;

    most = count < most ? count : most;
    if (t->room[PERF_GROUPS] < most) { /* they stay where they are when all are read */
        t->groups = perf_table_enlarge(t, t->groups, PERF_GROUPS, most - t->room[PERF_GROUPS]);
    }
    while (t->num_groups < count && fits && t->size - at >= layout->header_size) {
        uint32_t plain_end = layout->read_plain && has_values ? layout->read_plain(t, at, count - t->num_groups) : at;
        if (plain_end > at) {
            at = plain_end;
            continue;
        }
        uint32_t left = t->size - at, size = perf_table_u32(t, at + layout->size_field);
        if (size < layout->header_size && t->is_block) {
            is_cut = false; /* Samba fills a buffer that is too small with zeros, which are no object */
            break;
        }
        uint32_t faults_before = t->num_faults;
        fits = size >= layout->header_size && size <= left;
        perf_group *g = &t->groups[t->num_groups]; /* for which there is room */
        *g = (perf_group){.offset = at,
                          .end = fits ? at + size : t->size,
                          .key = t->num_groups++,
                          .first_column = t->num_columns,
                          .first_row = t->num_rows,
                          .has_values = true};
        perf_read_group(t, layout, g);
        if (!fits) { /* the size is wrong, or the capture lacks the rest, which is no fault */
            g->is_sound = false;
            is_cut = is_cut && size >= layout->header_size && size <= t->reported - at;
            t->num_faults = is_cut ? faults_before : t->num_faults;
        }
        if (!fits && !is_cut) {
            perf_group_fault(t, PERF_FAULT_GROUP_SIZE, at + layout->size_field, size, t->reported - at);
        }
        t->failed += !t->is_block && g->type == PERF_ERROR_RETURN;
        t->values += (uint64_t)g->rows * g->columns;
        has_values |= g->is_sound && g->rows > 0 && g->columns > 0;
        uint32_t padded = t->is_block ? size : perf_align8(size); /* each block begins on 8 bytes */
        at = !fits ? t->size : at + (padded <= left ? padded : size);
    }
    t->is_sound = t->num_groups == count && fits && !is_cut && t->size - at < 8;
    if (t->num_groups < count && !is_cut) {
        perf_add_fault(t, PERF_FAULT_GROUPS, PERF_NO_GROUP, layout->count_field, count, t->num_groups);
    } else if (t->num_groups == count && t->size - at >= 8) {
        perf_add_fault(t, PERF_FAULT_REST, PERF_NO_GROUP, at, t->size, at);
    }
}
