/* parse-counter-data.c
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table-read.h"

#define PLAIN_BLOCK_SIZE 32 /* bytes of a block with one plain value */

/* Returns less than 8 for a plain value, whose dwSize is 16 and dwDataSize is 1 to 8. */
static inline uint64_t get_plain_code(const uint8_t *value)
{
    return perf_le64(value) - (((uint64_t)PERF_PLAIN_SIZE << 32) + 1);
}

/* Returns true if all of `count` values are plain. */
static inline bool are_plain(const uint8_t *values, uint32_t count)
{
    uint64_t codes = 0;

    for (; count > 0; count--, values += PERF_PLAIN_SIZE) {
        codes |= get_plain_code(values);
    }
    return codes < 8;
}

/* Returns the size of a structure with its padding to 8 bytes; without it if that exceeds the `left` bytes. */
static inline uint32_t pad_structure(uint32_t size, uint32_t left)
{
    return perf_align8(size) <= left ? perf_align8(size) : size;
}

/* Lists values of a row that are not all plain, each of which leads to the next. Returns where they end, 0 if one does not fit. */
static uint32_t read_uneven_cells(perf_table *t, const perf_group *g, perf_row *row, uint32_t end)
{
    uint32_t at = row->cells, count = g->columns, first = t->num_cells;

    if (t->room[PERF_CELLS] - first < count) {
        t->cells = perf_table_enlarge(t, t->cells, PERF_CELLS, count);
    }
    row->cell_list = first + 1;
    t->num_cells += count;
    memset(t->cells + first, 0, count * sizeof *t->cells);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t left = end - at;
        if (left < PERF_COUNTER_DATA_SIZE) {
            return perf_group_fault(t, PERF_FAULT_CELLS, at, count, i);
        }
        uint32_t size = perf_le32(t->data + at + 4);
        if (size < PERF_COUNTER_DATA_SIZE || size > left || perf_le32(t->data + at) > size - PERF_COUNTER_DATA_SIZE) {
            return perf_group_fault(t, PERF_FAULT_CELL_SIZE, at + 4, size, left);
        }
        t->cells[first + i] = at;
        at += pad_structure(size, left);
    }
    return at;
}

/* Reads PERF_MULTI_COUNTERS, the ids of the columns. `rounds`: padded to 8 bytes. Returns where it ends, 0 if it does not fit. */
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
    return at + (rounds ? pad_structure(size, left) : size);
}

/* Reads `count` rows with their values, up to `end`. Needs: `at` is behind the number of instances. Returns where they end, 0: one does not fit. */
static uint32_t read_rows(perf_table *t, perf_group *g, uint32_t at, uint32_t end, uint32_t count)
{
    const uint64_t plain_size = (uint64_t)PERF_PLAIN_SIZE * g->columns;
    const uint32_t count_field = at - 4, columns = g->columns; /* the field: of instances */

    for (uint32_t i = 0; i < count && at > 0; i++) {
        perf_row row = {.id = PERF_NO_ID, .cells = at};
        if (g->has_instances) {
            uint32_t left = end - at;
            if (left < PERF_INSTANCE_HEADER_SIZE) {
                return perf_group_fault(t, PERF_FAULT_ROWS, count_field, count, i);
            }
            uint32_t size = perf_le32(t->data + at);
            if (size < PERF_INSTANCE_HEADER_SIZE || size > left) {
                return perf_group_fault(t, PERF_FAULT_ROW_SIZE, at, size, left);
            }
            row = (perf_row){.offset = at, .id = perf_le32(t->data + at + 4), .cells = at + pad_structure(size, left)};
        }
        perf_row *added = perf_add_row(t, g, row);
        bool is_plain = end - row.cells >= plain_size && are_plain(t->data + row.cells, columns);
        at = is_plain ? row.cells + (uint32_t)plain_size : read_uneven_cells(t, g, added, end);
    }
    return at;
}

/* Reads PERF_MULTI_INSTANCES and its instances. Returns where they end, 0 if one does not fit. */
static uint32_t read_instances(perf_table *t, perf_group *g, uint32_t at)
{
    uint32_t left = g->end - at, size = left >= PERF_MULTI_INSTANCES_SIZE ? perf_le32(t->data + at) : 0;

    if (size < PERF_MULTI_INSTANCES_SIZE || size > left) {
        return perf_group_fault(t, PERF_FAULT_PARTS, at, size, left);
    }
    g->has_instances = true;
    return read_rows(t, g, at + PERF_MULTI_INSTANCES_SIZE, at + size, perf_le32(t->data + at + 4));
}

/* Reads a block by its dwType. `rounds`: the ids of counters are padded to 8 bytes, as [MS-PCQ] says; Microsoft's readers go on at their
 * dwSize. Returns where its parts end, 0 if one does not fit. */
static uint32_t read_block(perf_table *t, perf_group *g, bool rounds)
{
    uint32_t at = g->offset + PERF_COUNTER_HEADER_SIZE;

    g->status = perf_le32(t->data + g->offset);
    g->type = perf_le32(t->data + g->offset + 4);
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
    bool has_instances = g->type == PERF_MULTIPLE_INSTANCES || g->type == PERF_COUNTERSET;
    return at == 0 ? 0 : has_instances ? read_instances(t, g, at) : read_rows(t, g, at, g->end, 1);
}

/* Returns where the blocks from `block` on end that have one plain value. Needs: whole blocks fit in front of `end`. */
static inline const uint8_t *skip_plain_blocks(const uint8_t *block, const uint8_t *end)
{
    const uint64_t type_and_size = (uint64_t)PLAIN_BLOCK_SIZE << 32 | PERF_SINGLE_COUNTER;

    while (block < end && perf_le64(block + 4) == type_and_size &&
           get_plain_code(block + PERF_COUNTER_HEADER_SIZE) < 8) {
        block += PLAIN_BLOCK_SIZE;
    }
    return block;
}

/* Counts the blocks of one plain value from `at` on, `most` at most; with `keeps_all` adds them as groups. Returns where they end. A response
 * can have one for each 32 bytes, and mostly nobody reads them. */
static inline uint32_t read_plain_blocks(perf_table *t, uint32_t at, uint32_t most)
{
    uint32_t room = (t->size - at) / PLAIN_BLOCK_SIZE;
    const uint8_t *blocks = t->data + at, *end = blocks + (size_t)PLAIN_BLOCK_SIZE * (room < most ? room : most);
    uint32_t count = (uint32_t)((skip_plain_blocks(blocks, end) - blocks) / PLAIN_BLOCK_SIZE);

    t->values += count;
    if (!t->keeps_all) {
        t->num_groups += count;
        t->is_whole &= count == 0;
        return at + count * PLAIN_BLOCK_SIZE;
    }
    perf_group group = {.type = PERF_SINGLE_COUNTER, .columns = 1, .has_values = true, .is_sound = true};
    for (; count > 0; count--, at += PLAIN_BLOCK_SIZE) {
        group.offset = at;
        group.end = at + PLAIN_BLOCK_SIZE;
        group.key = t->num_groups;
        group.status = perf_le32(t->data + at);
        group.first_row = t->num_rows;
        t->groups[t->num_groups] = group; /* for which there is room */
        perf_add_row(t, &t->groups[t->num_groups++],
                     (perf_row){.id = PERF_NO_ID, .cells = at + PERF_COUNTER_HEADER_SIZE});
    }
    return at;
}

/* Reads PERF_DATA_HEADER and the blocks behind it. Needs: perf_table_begin(). Changes: the table,
 * of which column 0 is shared by all blocks whose counter the query alone tells. A header that
 * the capture cuts leaves the table empty, without a fault. */
static void read_counter_data(perf_table *t)
{
    static const perf_group_layout blocks = {.count_field = 4,
                                             .size_field = 8,
                                             .header_size = PERF_COUNTER_HEADER_SIZE,
                                             .read = read_block,
                                             .read_plain = read_plain_blocks};
    const uint8_t *data = t->data;

    if (t->size < PERF_DATA_HEADER_SIZE) {
        if (t->reported < PERF_DATA_HEADER_SIZE) {
            perf_add_fault(t, PERF_FAULT_SHORT, PERF_NO_GROUP, 0, t->reported, PERF_DATA_HEADER_SIZE);
        }
        return;
    }
    t->clocks = (perf_point){
        .perf_time = perf_le64(data + 8), .time_100ns = perf_le64(data + 16), .perf_freq = perf_le64(data + 24)};
    perf_add_column(t, &(perf_group){.columns = 0}, (perf_column){.id = PERF_NO_ID});
    perf_read_groups(t, &blocks, PERF_DATA_HEADER_SIZE);
    if (perf_le32(data) != t->reported) {
        perf_add_fault(t, PERF_FAULT_TOTAL, PERF_NO_GROUP, 0, perf_le32(data), t->reported);
    }
}

void perf_table_read_data(perf_table *t, const uint8_t *data, uint32_t size, uint32_t reported)
{
    perf_table_begin(t, data, size, reported, /* is_block */ false);
    read_counter_data(t);
}

void perf_table_read_whole(perf_table *t)
{
    perf_table_begin(t, t->data, t->size, t->reported, /* is_block */ false);
    t->keeps_all = true;
    read_counter_data(t);
}
