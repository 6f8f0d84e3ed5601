/* table-read.h
 * Arrays of a table that grow while it is read, and its faults: shared by the two readers alone.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/table.h"

#include <stdlib.h>

/* Returns the array, moved, with room for `more` elements behind `*room` of them. Memory that is not there ends the program, as everywhere in
 * Wireshark. */
void *perf_enlarge(void *array, uint32_t *room, uint32_t more, size_t size);

/* Returns the array with room for one element more. */
static inline void *perf_grow(void *array, uint32_t count, uint32_t *room, size_t size)
{
    return count < *room ? array : perf_enlarge(array, room, 1, size);
}

/* Begins a table. Changes: what it was read from before is forgotten, and its arrays are used again. */
void perf_table_init(perf_table *table, const uint8_t *data, uint32_t size, bool is_block);

static inline perf_group *perf_add_group(perf_table *t, uint32_t offset, uint32_t end)
{
    t->groups = perf_grow(t->groups, t->num_groups, &t->room[0], sizeof *t->groups);
    t->groups[t->num_groups] = (perf_group){.offset = offset,
                                            .end = end,
                                            .key = t->num_groups,
                                            .first_column = t->num_columns,
                                            .first_row = t->num_rows,
                                            .has_values = true,
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

/* More faults than a reader looks at. */
#define PERF_MOST_FAULTS 100

static inline void perf_add_fault(perf_table *t, perf_table_fault fault)
{
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

/* Groups of one protocol: offsets of fields, sizes in bytes. */
typedef struct {
    uint32_t count_field; /* of the number of groups, in the response */
    uint32_t size_field;  /* of a group's size, in the group */
    uint32_t header_size; /* of a group */
    bool is_padded;       /* each group begins on 8 bytes */
    void (*read)(perf_table *table, perf_group *group);
} perf_group_layout;

/* Ends the response behind its last group. `is_cut`: what follows was not captured. */
void perf_end_groups(perf_table *table, uint32_t count_field, uint32_t at, bool fits, bool is_cut);

/* Reads all groups from `offset` on. Needs: `offset` lies in the data. Inline, since a response can have a group for each 32 bytes. */
static inline void perf_read_groups(perf_table *t, const perf_group_layout *layout, uint32_t at, uint32_t reported)
{
    uint32_t count = perf_table_u32(t, layout->count_field);
    uint32_t most = (t->size - at) / layout->header_size;
    bool fits = true, is_cut = t->size < reported;

    most = count < most ? count : most;
    if (t->room[0] < most) {
        t->groups = perf_enlarge(t->groups, &t->room[0], most - t->room[0], sizeof *t->groups);
    }
    while (t->num_groups < count && fits && t->size - at >= layout->header_size) {
        uint32_t left = t->size - at, size = perf_table_u32(t, at + layout->size_field);
        if (size < layout->header_size && t->is_block) {
            is_cut = false; /* Samba fills a buffer that is too small with zeros, which are no object */
            break;
        }
        uint32_t faults_before = t->num_faults;
        fits = size >= layout->header_size && size <= left;
        perf_group *g = perf_add_group(t, at, fits ? at + size : t->size);
        layout->read(t, g);
        if (!fits) { /* the size is wrong, or the capture lacks the rest, which is no fault */
            g->is_sound = false;
            is_cut = is_cut && size >= layout->header_size && size <= reported - at;
            t->num_faults = is_cut ? faults_before : t->num_faults;
        }
        if (!fits && !is_cut) {
            perf_group_fault(t, PERF_FAULT_GROUP_SIZE, at + layout->size_field, size, reported - at);
        }
        uint64_t values = (uint64_t)g->rows * g->columns;
        t->values += values;
        if (t->first_group == PERF_NO_GROUP && g->is_sound && values > 0) {
            t->first_group = t->num_groups - 1;
        }
        uint32_t padded = layout->is_padded ? perf_align8(size) : size;
        at = !fits ? t->size : at + (padded <= left ? padded : size);
    }
    perf_end_groups(t, layout->count_field, at, fits, is_cut);
}
