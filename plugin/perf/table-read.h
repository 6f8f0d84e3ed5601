/* table-read.h
 * Arrays of a table that grow while it is read, and its faults: shared by the two readers alone.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/table.h"

#include <stdlib.h>

/* Like realloc(). Memory that is not there ends the program, as everywhere in Wireshark. */
static inline void *perf_realloc(void *memory, size_t size)
{
    memory = realloc(memory, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* Returns the array with room for one element more. */
static inline void *perf_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    *room = 2 * *room + 8;
    return perf_realloc(array, *room * size);
}

static inline void perf_table_init(perf_table *t, const uint8_t *data, uint32_t size, bool is_block,
                                   perf_read_mode mode)
{
    *t = (perf_table){.data = data,
                      .size = size,
                      .is_block = is_block,
                      .is_partial = mode == PERF_READ_FIRST,
                      .first_group = PERF_NO_GROUP};
}

static inline perf_group *perf_add_group(perf_table *t, uint32_t offset, uint32_t end)
{
    t->groups = perf_grow(t->groups, t->num_groups, &t->room[0], sizeof *t->groups);
    t->groups[t->num_groups] = (perf_group){.offset = offset,
                                            .end = end,
                                            .key = t->num_groups,
                                            .first_column = t->num_columns,
                                            .first_row = t->num_rows,
                                            .has_values = true,
                                            .is_read = true,
                                            .is_plain = true};
    return &t->groups[t->num_groups++];
}

static inline void perf_add_column(perf_table *t, perf_group *g, perf_column column)
{
    t->columns = perf_grow(t->columns, t->num_columns, &t->room[1], sizeof *t->columns);
    t->columns[t->num_columns++] = column;
    g->columns++;
}

static inline perf_row *perf_add_row(perf_table *t, perf_group *g, perf_row row)
{
    t->rows = perf_grow(t->rows, t->num_rows, &t->room[2], sizeof *t->rows);
    t->rows[t->num_rows] = row;
    g->rows++;
    return &t->rows[t->num_rows++];
}

/* The numbers of a table that reading a group once more begins at, or that bytes that were not captured go back to. */
typedef struct {
    uint32_t columns, rows, faults, all_faults;
    uint64_t values;
} perf_table_mark;

static inline perf_table_mark perf_table_get_mark(const perf_table *t)
{
    return (perf_table_mark){t->num_columns, t->num_rows, t->num_faults, t->all_faults, t->values};
}

static inline void perf_table_go_back(perf_table *t, const perf_table_mark *mark)
{
    t->num_columns = mark->columns;
    t->num_rows = mark->rows;
    t->num_faults = mark->faults;
    t->all_faults = mark->all_faults;
    t->values = mark->values;
}

/* More faults than a reader looks at. */
#define PERF_MOST_FAULTS 100

static inline void perf_add_fault(perf_table *t, perf_table_fault fault)
{
    t->all_faults++;
    if (t->num_faults < PERF_MOST_FAULTS) {
        t->faults = perf_grow(t->faults, t->num_faults, &t->room[3], sizeof *t->faults);
        t->faults[t->num_faults++] = fault;
    }
}

/* Adds a fault of the last group. Returns 0: nothing behind it is read. */
static inline uint32_t perf_group_fault(perf_table *t, perf_table_fault_kind kind, uint32_t offset, uint32_t stated,
                                        uint32_t found)
{
    perf_add_fault(t, (perf_table_fault){kind, t->num_groups - 1, offset, stated, found});
    return 0;
}

static inline void perf_response_fault(perf_table *t, perf_table_fault_kind kind, uint32_t offset, uint32_t stated,
                                       uint32_t found)
{
    perf_add_fault(t, (perf_table_fault){kind, PERF_NO_GROUP, offset, stated, found});
}

/* Where a protocol has what reading all groups needs: sizes in bytes, fields as offsets. */
typedef struct {
    uint32_t count_field; /* of the number of groups, in the response */
    uint32_t size_field;  /* of a group's size, in the group */
    uint32_t header_size; /* of a group */
    bool is_padded;       /* each group begins on 8 bytes */
    void (*read)(perf_table *table, perf_group *group);
} perf_group_layout;

/* Reads all groups from `offset` on. Needs: `offset` lies in the data. Changes: sets is_sound of the table. */
void perf_read_groups(perf_table *table, const perf_group_layout *layout, uint32_t offset, uint32_t reported);
