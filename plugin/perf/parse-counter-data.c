/* parse-counter-data.c
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table-read.h"

#define PLAIN_SIZE 16       /* bytes of a PERF_COUNTER_DATA with a number */
#define PLAIN_BLOCK_SIZE 32 /* bytes of a block with one */

/* Returns less than 8 for a plain value, whose dwSize is 16 and dwDataSize is 1 to 8. */
static inline uint64_t get_plain_code(const uint8_t *value)
{
    return perf_le64(value) - (((uint64_t)PLAIN_SIZE << 32) + 1);
}

/* Returns how many of `count` values are plain, up to the first that is not. */
static inline uint32_t count_plain(const uint8_t *values, uint32_t count)
{
    uint32_t i = 0;

    while (count - i >= 2 &&
           (get_plain_code(values + PLAIN_SIZE * i) | get_plain_code(values + PLAIN_SIZE * (i + 1))) < 8) {
        i += 2;
    }
    while (i < count && get_plain_code(values + PLAIN_SIZE * i) < 8) {
        i++;
    }
    return i;
}

/* Returns what a structure of this size and its padding take, if they fit. */
static inline uint32_t pad(uint32_t size, uint32_t left)
{
    return perf_align8(size) <= left ? perf_align8(size) : size;
}

/* Reads the values of a row that are not all plain, each of which leads to the next. Returns where they end, 0 if one does not fit. */
static uint32_t read_uneven_cells(perf_table *t, perf_group *g, perf_row *row, uint32_t end)
{
    uint32_t at = row->cells;

    g->is_plain = false;
    row->cells_size = 0;
    for (uint32_t i = 0; i < g->columns; i++) {
        uint32_t left = end - at;
        if (left < PERF_COUNTER_DATA_SIZE) {
            return perf_group_fault(t, PERF_FAULT_CELLS, at, g->columns, i);
        }
        uint32_t size = perf_le32(t->data + at + 4);
        if (size < PERF_COUNTER_DATA_SIZE || size > left || perf_le32(t->data + at) > size - PERF_COUNTER_DATA_SIZE) {
            return perf_group_fault(t, PERF_FAULT_CELL_SIZE, at + 4, size, left);
        }
        at += pad(size, left);
        row->cells_size = at - row->cells;
    }
    return at;
}

/* Reads PERF_MULTI_COUNTERS, the ids of the columns. */
static uint32_t read_columns(perf_table *t, perf_group *g, uint32_t at, bool rounds)
{
    uint32_t left = g->end - at, size = left >= PERF_MULTI_COUNTERS_SIZE ? perf_le32(t->data + at) : 0;

    if (size < PERF_MULTI_COUNTERS_SIZE || size > left) {
        return perf_group_fault(t, PERF_FAULT_PARTS, at, size, left);
    }
    uint32_t count = perf_le32(t->data + at + 4), room = (size - PERF_MULTI_COUNTERS_SIZE) / 4;
    if (count > room) {
        return perf_group_fault(t, PERF_FAULT_COLUMNS, at + 4, count, room);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = at + PERF_MULTI_COUNTERS_SIZE + 4 * i;
        perf_add_column(t, g, (perf_column){.offset = id, .id = perf_le32(t->data + id)});
    }
    return at + (rounds ? pad(size, left) : size);
}

/* Reads `count` rows, each with its values, up to `end` at most. Returns where they end, 0 if one does not fit. */
static uint32_t read_rows(perf_table *t, perf_group *g, uint32_t at, uint32_t end, uint32_t count)
{
    const uint64_t plain_size = (uint64_t)PLAIN_SIZE * g->columns;
    const uint32_t count_field = at - 4; /* of instances */

    for (uint32_t i = 0; i < count && at > 0; i++) {
        uint32_t left = end - at, size = left >= PERF_INSTANCE_HEADER_SIZE ? perf_le32(t->data + at) : 0;
        perf_row row = {.id = PERF_NO_ID, .cells = at};
        if (g->has_instances) {
            if (left < PERF_INSTANCE_HEADER_SIZE) {
                return perf_group_fault(t, PERF_FAULT_ROWS, count_field, count, i);
            }
            if (size < PERF_INSTANCE_HEADER_SIZE || size > left) {
                return perf_group_fault(t, PERF_FAULT_ROW_SIZE, at, size, left);
            }
            row = (perf_row){.offset = at, .id = perf_le32(t->data + at + 4), .cells = at + pad(size, left)};
        }
        row.cells_size = (uint32_t)plain_size;
        perf_row *added = perf_add_row(t, g, row);
        if (end - row.cells >= plain_size && count_plain(t->data + row.cells, g->columns) == g->columns) {
            at = row.cells + (uint32_t)plain_size;
        } else {
            at = read_uneven_cells(t, g, added, end);
        }
    }
    return at;
}

/* Reads PERF_MULTI_INSTANCES and its instances. */
static uint32_t read_instances(perf_table *t, perf_group *g, uint32_t at)
{
    uint32_t left = g->end - at, size = left >= PERF_MULTI_INSTANCES_SIZE ? perf_le32(t->data + at) : 0;

    if (size < PERF_MULTI_INSTANCES_SIZE || size > left) {
        return perf_group_fault(t, PERF_FAULT_PARTS, at, size, left);
    }
    g->has_instances = true;
    return read_rows(t, g, at + PERF_MULTI_INSTANCES_SIZE, at + size, perf_le32(t->data + at + 4));
}

/* Reads what the block has by its dwType. Returns where that ends, 0 if something does not fit. */
static inline uint32_t read_body(perf_table *t, perf_group *g, bool rounds)
{
    uint32_t at = g->offset + PERF_COUNTER_HEADER_SIZE;

    switch (g->type) {
    case PERF_ERROR_RETURN:
        return at;
    case PERF_SINGLE_COUNTER:
    case PERF_MULTIPLE_INSTANCES:
        g->first_column = 0; /* shared by all blocks whose counter the query alone tells */
        g->columns = 1;
        break;
    case PERF_MULTIPLE_COUNTERS:
    case PERF_COUNTERSET:
        at = read_columns(t, g, at, rounds);
        break;
    default:
        return perf_group_fault(t, PERF_FAULT_GROUP_TYPE, g->offset + 4, g->type, g->end - at);
    }
    if (at == 0) {
        return 0;
    }
    if (g->type == PERF_MULTIPLE_INSTANCES || g->type == PERF_COUNTERSET) {
        return read_instances(t, g, at);
    }
    return read_rows(t, g, at, g->end, 1);
}

/* Microsoft's readers go on at the dwSize of PERF_MULTI_COUNTERS, [MS-PCQ] begins each structure on 8 bytes: the way that fills the block
 * is taken, and the first where none does. */
static void read_any_block(perf_table *t, perf_group *g)
{
    const perf_group empty = *g;
    uint32_t faults_before = t->num_faults;
    bool is_odd = true;

    for (int tries = 0; tries < 3 && !g->is_sound && is_odd; tries++) {
        t->num_columns = empty.first_column;
        t->num_rows = empty.first_row;
        t->num_faults = faults_before;
        *g = empty;
        uint32_t end = read_body(t, g, tries == 1);
        g->is_sound = end > 0 && g->end - end < 8;
        is_odd = g->first_column > 0 && g->columns % 2 == 1;
        if (end > 0 && !g->is_sound) {
            perf_group_fault(t, PERF_FAULT_REST, g->offset + 8, g->end - g->offset, end - g->offset);
        }
    }
}

/* Reads a block of one plain value, of which a response can have one for each 32 bytes. Returns false if it is another. */
static inline bool read_plain_block(perf_table *t, perf_group *g)
{
    const uint8_t *block = t->data + g->offset;

    if (g->type != PERF_SINGLE_COUNTER || g->end - g->offset != PLAIN_BLOCK_SIZE ||
        get_plain_code(block + PERF_COUNTER_HEADER_SIZE) >= 8) {
        return false;
    }
    g->first_column = 0;
    g->columns = 1;
    g->is_sound = true;
    perf_add_row(t, g,
                 (perf_row){.id = PERF_NO_ID, .cells = g->offset + PERF_COUNTER_HEADER_SIZE, .cells_size = PLAIN_SIZE});
    return true;
}

static inline void read_block(perf_table *t, perf_group *g)
{
    g->status = perf_le32(t->data + g->offset);
    g->type = perf_le32(t->data + g->offset + 4);
    if (!read_plain_block(t, g)) {
        read_any_block(t, g);
    }
}

void perf_table_read_data(perf_table *t, const uint8_t *data, uint32_t size, uint32_t reported)
{
    static const perf_group_layout blocks = {.count_field = 4,
                                             .size_field = 8,
                                             .header_size = PERF_COUNTER_HEADER_SIZE,
                                             .is_padded = true,
                                             .read = read_block};

    perf_table_init(t, data, size, false);
    if (size < PERF_DATA_HEADER_SIZE) {
        if (reported < PERF_DATA_HEADER_SIZE) {
            perf_response_fault(t, PERF_FAULT_SHORT, 0, reported, PERF_DATA_HEADER_SIZE);
        }
        return;
    }
    t->clocks = (perf_point){
        .perf_time = perf_le64(data + 8), .time_100ns = perf_le64(data + 16), .perf_freq = perf_le64(data + 24)};
    t->columns = perf_grow(t->columns, 0, &t->room[1], sizeof *t->columns);
    t->columns[t->num_columns++] = (perf_column){.id = PERF_NO_ID};
    perf_read_groups(t, &blocks, PERF_DATA_HEADER_SIZE, reported);
    if (perf_le32(data) != reported) {
        perf_response_fault(t, PERF_FAULT_TOTAL, 0, perf_le32(data), reported);
    }
}
