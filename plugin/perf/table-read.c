/* table-read.c
 * Readers of both layouts: counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6), PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table.h"

/* --- Arrays, faults ---------------------------------------------------------------------------------------------- */

/* Adds a column to the table, and to the number of `g`, the last group. */
static void add_column(perf_table *t, perf_group *g, perf_column column)
{
    if (t->num_columns == t->room[PERF_COLUMNS]) {
        t->columns = perf_table_enlarge(t, t->columns, PERF_COLUMNS, 1);
    }
    t->columns[t->num_columns++] = column;
    g->columns++;
}

/* Adds a row to the last group. Returns it, until the next one is added. */
static inline perf_row *append_row(perf_table *t, perf_group *g, perf_row row)
{
    if (t->num_rows == t->room[PERF_ROWS]) {
        t->rows = perf_table_enlarge(t, t->rows, PERF_ROWS, 1);
    }
    t->rows[t->num_rows] = row;
    g->rows++;
    return &t->rows[t->num_rows++];
}

#define PERF_MOST_FAULTS 100 /* faults that are kept of a response: nobody reads more */

/* Adds a fault, unless PERF_MOST_FAULTS are there. `group`: as there. */
static void add_fault(perf_table *t, perf_table_fault_kind kind, uint32_t group, uint32_t offset, uint32_t stated,
                      uint32_t found)
{
    if (t->num_faults == t->room[PERF_FAULTS]) {
        t->faults = perf_table_enlarge(t, t->faults, PERF_FAULTS, 1);
    }
    if (t->num_faults < PERF_MOST_FAULTS) {
        t->faults[t->num_faults++] = (perf_table_fault){kind, group, offset, stated, found};
    }
}

/* Adds a fault of the last group. Returns 0, for readers to return if they read nothing behind it. */
static uint32_t group_fault(perf_table *t, perf_table_fault_kind kind, uint32_t offset, uint32_t stated, uint32_t found)
{
    add_fault(t, kind, t->num_groups - 1, offset, stated, found);
    return 0;
}

/* --- A block of counter data ------------------------------------------------------------------------------------- */

#define PLAIN_BLOCK_SIZE 32 /* bytes of a block with one plain value */

/* Returns less than 8 for a plain value, whose dwSize is 16 and dwDataSize is 1 to 8. */
static uint64_t get_plain_code(const uint8_t *value)
{
    return perf_le64(value) - (((uint64_t)PERF_PLAIN_SIZE << 32) + 1);
}

/* Returns true if all of `count` values are plain. Looks at two at once, since each value of each response is looked at. */
static bool are_plain(const uint8_t *values, uint32_t count)
{
    const uint8_t *end = values + (size_t)PERF_PLAIN_SIZE * (count & ~1U);
    uint64_t codes = count % 2 > 0 ? get_plain_code(end) : 0;

    for (; values < end; values += (size_t)2 * PERF_PLAIN_SIZE) {
        codes |= get_plain_code(values) | get_plain_code(values + PERF_PLAIN_SIZE);
    }
    return codes < 8;
}

/* Returns the size of a structure with its padding to 8 bytes; without it if that exceeds the `left` bytes. */
static uint32_t pad_structure(uint32_t size, uint32_t left)
{
    return perf_align8(size) <= left ? perf_align8(size) : size;
}

/* Lists the values of a row that are not all plain, or lack room: each leads to the next by its dwSize. Needs: `row->cells` is not behind `end`. Returns
 * where they end; 0: one does not fit, and it and those behind it have no cell. Changes: `cell_list`; the cells may move. */
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
            return group_fault(t, PERF_FAULT_CELLS, at, count, i);
        }
        uint32_t data_size = perf_le32(t->data + at), size = perf_le32(t->data + at + 4);
        if (size < PERF_COUNTER_DATA_SIZE || size > left) {
            return group_fault(t, PERF_FAULT_CELL_SIZE, at + 4, size, left);
        }
        if (data_size > size - PERF_COUNTER_DATA_SIZE) {
            return group_fault(t, PERF_FAULT_DATA_SIZE, at, data_size, size - PERF_COUNTER_DATA_SIZE);
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
        return group_fault(t, PERF_FAULT_PARTS, at, size, left);
    }
    uint32_t count = perf_le32(t->data + at + 4), room = (size - PERF_MULTI_COUNTERS_SIZE) / 4;
    if (count > room) {
        return group_fault(t, PERF_FAULT_COLUMNS, at + 4, count, room);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = at + PERF_MULTI_COUNTERS_SIZE + 4 * i;
        add_column(t, g, (perf_column){.offset = id, .id = perf_le32(t->data + id)});
    }
    return at + (rounds ? pad_structure(size, left) : size);
}

/* Reads `count` rows with their values, up to `end`; instances begin right behind their number. Returns where the rows end, 0: one does not fit. */
static uint32_t read_rows(perf_table *t, perf_group *g, uint32_t at, uint32_t end, uint32_t count)
{
    const uint64_t plain_size = (uint64_t)PERF_PLAIN_SIZE * g->columns;
    const uint32_t count_field = at - 4, columns = g->columns; /* the field: number of instances */

    for (uint32_t i = 0; i < count && at > 0; i++) {
        perf_row row = {.id = PERF_NO_ID, .cells = at};
        if (g->has_instances) {
            uint32_t left = end - at;
            if (left < PERF_INSTANCE_HEADER_SIZE) {
                return group_fault(t, PERF_FAULT_ROWS, count_field, count, i);
            }
            uint32_t size = perf_le32(t->data + at);
            if (size < PERF_INSTANCE_HEADER_SIZE || size > left) {
                return group_fault(t, PERF_FAULT_ROW_SIZE, at, size, left);
            }
            row = (perf_row){.offset = at, .id = perf_le32(t->data + at + 4), .cells = at + pad_structure(size, left)};
        }
        perf_row *added = append_row(t, g, row);
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
        return group_fault(t, PERF_FAULT_PARTS, at, size, left);
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
    bool has_instances = g->type == PERF_MULTIPLE_INSTANCES || g->type == PERF_COUNTERSET;
    if (g->type == PERF_ERROR_RETURN) {
        return at;
    }
    if (g->type == PERF_MULTIPLE_COUNTERS || g->type == PERF_COUNTERSET) {
        at = read_columns(t, g, at, rounds);
    } else if (g->type == PERF_SINGLE_COUNTER || has_instances) {
        g->first_column = 0; /* shared by all blocks whose counter the query alone tells */
        g->columns = 1;
    } else {
        return group_fault(t, PERF_FAULT_GROUP_TYPE, g->offset + 4, g->type, g->end - at);
    }
    return at == 0 ? 0 : has_instances ? read_instances(t, g, at) : read_rows(t, g, at, g->end, 1);
}

/* Returns where the blocks from `block` on end that have one plain value. Needs: whole blocks fit in front of `end`. */
static const uint8_t *skip_plain_blocks(const uint8_t *block, const uint8_t *end)
{
    const uint64_t type_and_size = (uint64_t)PLAIN_BLOCK_SIZE << 32 | PERF_SINGLE_COUNTER;

    while (block < end && perf_le64(block + 4) == type_and_size &&
           get_plain_code(block + PERF_COUNTER_HEADER_SIZE) < 8) {
        block += PLAIN_BLOCK_SIZE;
    }
    return block;
}

/* Counts the blocks of one plain value from `at` on, `most` at most, and adds their run in the first one's place. Returns where they end. A response
 * can have one for each 32 bytes, and mostly nobody reads them. */
static uint32_t count_plain_blocks(perf_table *t, uint32_t at, uint32_t most)
{
    uint32_t room = (t->size - at) / PLAIN_BLOCK_SIZE;
    const uint8_t *blocks = t->data + at, *end = blocks + (size_t)PLAIN_BLOCK_SIZE * (room < most ? room : most);
    uint32_t size = (uint32_t)(skip_plain_blocks(blocks, end) - blocks);

    if (size > 0) {
        t->groups[t->num_groups] = (perf_group){.offset = at, .end = at + size, .is_run = true};
        t->num_groups += size / PLAIN_BLOCK_SIZE;
        t->values += size / PLAIN_BLOCK_SIZE;
        t->is_whole = false;
    }
    return at + size;
}

void perf_table_read_whole(perf_table *t)
{
    for (perf_group *g = t->groups; g < t->groups + t->num_groups; g++) {
        const uint32_t at = g->offset, next = at + PLAIN_BLOCK_SIZE, end = g->end;
        if (!g->is_run) {
            continue;
        }
        *g = (perf_group){.offset = at,
                          .end = next,
                          .key = (uint32_t)(g - t->groups),
                          .type = PERF_SINGLE_COUNTER,
                          .status = perf_le32(t->data + at),
                          .first_row = t->num_rows,
                          .columns = 1,
                          .has_values = true,
                          .is_sound = true};
        append_row(t, g, (perf_row){.id = PERF_NO_ID, .cells = at + PERF_COUNTER_HEADER_SIZE});
        if (next < end) { /* the rest of the run */
            g[1] = (perf_group){.offset = next, .end = end, .is_run = true};
        }
    }
    t->is_whole = true;
}

/* --- An object of PERF_DATA_BLOCK -------------------------------------------------------------------------------- */

/* Reads the definitions from `at` to `end` as columns. `reach`: bytes that a counter block needs for all of them. Returns false, with a fault, if one does not fit. */
static bool read_definitions(perf_table *t, perf_group *g, uint32_t at, uint32_t end, uint32_t *reach)
{
    uint32_t count = perf_table_u32(t, g->offset + 32);

    for (*reach = PERF_COUNTER_BLOCK_SIZE; count > 0; count--) {
        uint32_t left = end - at, size = left >= PERF_COUNTER_DEFINITION_SIZE ? perf_table_u32(t, at) : 0;
        if (size < PERF_COUNTER_DEFINITION_SIZE || size > left) {
            return group_fault(t, PERF_FAULT_COLUMNS, g->offset + 32, g->columns + count, g->columns);
        }
        perf_column column = {.offset = at,
                              .id = perf_table_u32(t, at + 4),
                              .type = perf_table_u32(t, at + 28),
                              .value_size = perf_table_u32(t, at + 32),
                              .value_offset = perf_table_u32(t, at + 36)};
        add_column(t, g, column);
        uint32_t reaches = perf_add_u32(column.value_offset, column.value_size);
        *reach = reaches > *reach ? reaches : *reach;
        at += size;
    }
    if (end - at >= PERF_COUNTER_DEFINITION_SIZE) { /* more than are stated: the rows are read all the same */
        group_fault(t, PERF_FAULT_COLUMNS, g->offset + 32, g->columns,
                    g->columns + (end - at) / PERF_COUNTER_DEFINITION_SIZE);
    }
    return true;
}

/* Reads an instance as a row, whose values come next. Returns where it ends, 0 if it does not fit, or its name does not lie in it. */
static uint32_t read_instance(perf_table *t, perf_group *g, uint32_t at)
{
    uint32_t left = g->end - at, size = left >= PERF_INSTANCE_DEFINITION_SIZE ? perf_table_u32(t, at) : 0;

    if (size < PERF_INSTANCE_DEFINITION_SIZE || size > left) {
        return group_fault(t, PERF_FAULT_ROW_SIZE, at, size, left);
    }
    uint32_t name = perf_table_u32(t, at + 16), length = perf_table_u32(t, at + 20);
    if (length > 0 && (name < PERF_INSTANCE_DEFINITION_SIZE || name > size || length > size - name)) {
        return group_fault(t, PERF_FAULT_NAME, at + 20, perf_add_u32(name, length), size);
    }
    if (length % 2 != 0 && perf_is_utf16(g->code_page)) {
        group_fault(t, PERF_FAULT_NAME_SIZE, at + 20, length, 2);
    }
    append_row(t, g, (perf_row){.offset = at, .id = perf_table_u32(t, at + 12)});
    return at + size;
}

/* Reads the last row's counter block; one that states less than `least` bytes has as many. Returns where it ends, 0 if it does not fit. */
static uint32_t read_counter_block(perf_table *t, perf_group *g, uint32_t at, uint32_t least)
{
    uint32_t left = g->end - at, said = left >= PERF_COUNTER_BLOCK_SIZE ? perf_table_u32(t, at) : 0;
    uint32_t size = said < least ? least : said;

    if (size < PERF_COUNTER_BLOCK_SIZE || size > left) {
        return group_fault(t, PERF_FAULT_CELL_SIZE, at, said, left);
    }
    if (size != said) {
        group_fault(t, PERF_FAULT_READ_AS, at, said, size);
    }
    perf_row *row = &t->rows[t->num_rows - 1];
    row->cells = at;
    row->block_size = size;
    return at + size;
}

/* Reads instances, each with its counter block. An object without instances has one block, one of definitions alone none. `least`: as
 * read_counter_block() has it. Returns where they end, 0: one does not fit. */
static uint32_t read_object_rows(perf_table *t, perf_group *g, uint32_t at, uint32_t least)
{
    uint32_t count_field = g->offset + 40, count = g->has_instances ? perf_table_u32(t, count_field) : g->has_values;

    for (uint32_t left = count; left > 0 && at > 0; left--) {
        if (at == g->end) {
            return group_fault(t, PERF_FAULT_ROWS, count_field, count, g->rows);
        }
        if (g->has_instances) {
            at = read_instance(t, g, at);
        } else {
            append_row(t, g, (perf_row){.id = PERF_NO_ID});
        }
        at = at > 0 ? read_counter_block(t, g, at, least) : 0;
    }
    return at;
}

/* Adds a fault for each definition that leads out of the first too short counter block, or to its ByteLength. `reach`: bytes that all need. */
static void add_offset_faults(perf_table *t, perf_group *g, uint32_t reach)
{
    uint32_t room = UINT32_MAX;

    for (uint32_t i = 0; i < g->rows && room == UINT32_MAX; i++) {
        const perf_row *row = perf_table_row(t, g, i);
        room = row->cells > 0 && row->block_size < reach ? row->block_size : UINT32_MAX;
    }
    for (uint32_t i = 0; g->rows > 0 && i < g->columns; i++) {
        const perf_column *c = perf_table_column(t, g, i);
        uint32_t reaches = perf_add_u32(c->value_offset, c->value_size);
        if (reaches > room || (c->value_size > 0 && c->value_offset < PERF_COUNTER_BLOCK_SIZE)) {
            group_fault(t, PERF_FAULT_OFFSET, c->offset + 36, c->value_offset, reaches);
        }
    }
}

/* Reads an object. `is_other_way`: counter blocks that state fewer bytes than their counters take have that many, as Processor(_Total) of
 * Windows XP. Returns where its parts end, 0 if one does not fit. */
static uint32_t read_object(perf_table *t, perf_group *g, bool is_other_way)
{
    uint32_t size = g->end - g->offset, definitions = perf_table_u32(t, g->offset + 4);
    uint32_t header = perf_table_u32(t, g->offset + 8), reach;
    int32_t instances = (int32_t)perf_table_u32(t, g->offset + 40);

    g->key = perf_table_u32(t, g->offset + 12);
    g->code_page = perf_table_u32(t, g->offset + 44);
    g->has_instances = instances >= 0;
    g->has_values = instances >= PERF_INSTANCES_NONE;
    if (header < PERF_OBJECT_TYPE_SIZE || header > definitions || definitions > size) {
        return group_fault(t, PERF_FAULT_PARTS, g->offset + 4, definitions, size);
    }
    if (!read_definitions(t, g, g->offset + header, g->offset + definitions, &reach)) {
        return 0;
    }
    uint32_t rows = g->offset + definitions; /* behind whatever lies between (winperf.h: DefinitionLength) */
    uint32_t end = read_object_rows(t, g, rows, is_other_way ? perf_align8(reach) : 0);
    add_offset_faults(t, g, reach);
    return end;
}

/* --- Groups ------------------------------------------------------------------------------------------------------ */

/* Returns the offset of the size in a group. */
static uint32_t size_field(const perf_table *t)
{
    return t->is_block ? 0 : 8;
}

/* Reads the last group in the way whose parts fill it (but for less than 8 bytes): it is sound then. If neither does, reads it in the first. */
static void read_group(perf_table *t, perf_group *g)
{
    const perf_group begun = *g;
    const uint32_t cells = t->num_cells, faults = t->num_faults;

    for (int tries = 0; tries < 3 && !g->is_sound; tries++) {
        t->num_columns = begun.first_column;
        t->num_rows = begun.first_row;
        t->num_cells = cells;
        t->num_faults = faults;
        *g = begun;
        uint32_t end = (t->is_block ? read_object : read_block)(t, g, tries == 1);
        g->is_sound = end > 0 && g->end - end < 8;
        if (end > 0 && !g->is_sound) {
            group_fault(t, PERF_FAULT_REST, g->offset + size_field(t), g->end - g->offset, end - g->offset);
        }
    }
}

/* Reads all groups from `at` on, and judges them and the response. Needs: `at` lies in the data. Changes: a group that the capture
 * truncates is not sound, nor is the response, but has no fault. */
static void read_groups(perf_table *t, uint32_t at)
{
    const uint32_t header_size = t->is_block ? PERF_OBJECT_TYPE_SIZE : PERF_COUNTER_HEADER_SIZE;
    const uint32_t count_field = t->is_block ? 28 : 4;
    uint32_t count = perf_table_u32(t, count_field), most = (t->size - at) / header_size;
    bool fits = true, is_cut = t->size < t->reported, has_values = false;

    most = count < most ? count : most;
    if (most > 0) { /* for all of them: they do not move */
        t->groups = perf_table_enlarge(t, t->groups, PERF_GROUPS, most);
    }
    while (t->num_groups < count && fits && t->size - at >= header_size) {
        uint32_t plain_end = !t->is_block && has_values ? count_plain_blocks(t, at, count - t->num_groups) : at;
        if (plain_end > at) {
            at = plain_end;
            continue;
        }
        uint32_t left = t->size - at, size = perf_table_u32(t, at + size_field(t));
        if (size < header_size && t->is_block) {
            is_cut = false; /* Samba fills a buffer that is too small with zeros, which are no object */
            break;
        }
        uint32_t faults_before = t->num_faults;
        fits = size >= header_size && size <= left;
        perf_group *g = &t->groups[t->num_groups]; /* for which there is room */
        *g = (perf_group){.offset = at,
                          .end = fits ? at + size : t->size,
                          .key = t->num_groups++,
                          .type = PERF_COUNTERSET, /* which a block overrides */
                          .first_column = t->num_columns,
                          .first_row = t->num_rows,
                          .has_values = true};
        read_group(t, g);
        if (!fits) { /* the size is wrong, or the capture lacks the rest, which is no fault */
            g->is_sound = false;
            is_cut = is_cut && size >= header_size && size <= t->reported - at;
            t->num_faults = is_cut ? faults_before : t->num_faults;
        }
        if (!fits && !is_cut) {
            group_fault(t, PERF_FAULT_GROUP_SIZE, at + size_field(t), size, t->reported - at);
        }
        t->failed += g->type == PERF_ERROR_RETURN;
        t->values += (uint64_t)g->rows * g->columns;
        has_values |= g->is_sound && g->rows > 0 && g->columns > 0;
        uint32_t padded = t->is_block ? size : perf_align8(size); /* each block begins on 8 bytes */
        at = !fits ? t->size : at + (padded <= left ? padded : size);
    }
    t->is_sound = t->num_groups == count && fits && !is_cut && t->size - at < 8;
    if (t->num_groups < count && !is_cut) {
        add_fault(t, PERF_FAULT_GROUPS, PERF_NO_GROUP, count_field, count, t->num_groups);
    } else if (t->num_groups == count && t->size - at >= 8) {
        add_fault(t, PERF_FAULT_REST, PERF_NO_GROUP, at, t->size, at);
    }
}

/* --- Responses --------------------------------------------------------------------------------------------------- */

/* Column 0 is shared by all blocks whose counter the query alone tells. A header that the capture cuts leaves the table empty, without a fault. */
void perf_table_read_data(perf_table *t, const uint8_t *data, uint32_t size, uint32_t reported)
{
    perf_table_begin(t, data, size, reported, /* is_block */ false);
    if (size < PERF_DATA_HEADER_SIZE) {
        if (reported < PERF_DATA_HEADER_SIZE) {
            add_fault(t, PERF_FAULT_SHORT, PERF_NO_GROUP, 0, reported, PERF_DATA_HEADER_SIZE);
        }
        return;
    }
    t->clocks = (perf_point){
        .perf_time = perf_le64(data + 8), .time_100ns = perf_le64(data + 16), .perf_freq = perf_le64(data + 24)};
    add_column(t, &(perf_group){.columns = 0}, (perf_column){.id = PERF_NO_ID});
    read_groups(t, PERF_DATA_HEADER_SIZE);
    if (perf_le32(data) != reported) {
        add_fault(t, PERF_FAULT_TOTAL, PERF_NO_GROUP, 0, perf_le32(data), reported);
    }
}

/* Makes all objects that share a title index not sound, each with a fault: nothing tells which of them is the sample before's. */
static void mark_repeated_objects(perf_table *t)
{
    for (uint32_t i = 0; t->num_groups > 1 && i < t->num_groups; i++) {
        perf_group *g = &t->groups[i];
        uint32_t count = perf_table_find_objects(t, g->key)->count;
        if (count > 1) {
            g->is_sound = false;
            add_fault(t, PERF_FAULT_TWICE, i, g->offset + 12, g->key, count);
        }
    }
}

/* Finds the system name, which lies in the header. A header that the capture truncates has none. */
static void find_system_name(perf_table *t)
{
    uint32_t header = perf_table_u32(t, 24), room = perf_table_u32(t, 80), offset = perf_table_u32(t, 84);

    if (room > 0 && (offset < PERF_DATA_BLOCK_SIZE || offset > header || room > header - offset)) {
        add_fault(t, PERF_FAULT_NAME, PERF_NO_GROUP, 84, perf_add_u32(offset, room), header);
        return;
    }
    if (room % 2 != 0) {
        add_fault(t, PERF_FAULT_NAME_SIZE, PERF_NO_GROUP, 80, room, 2);
    }
    if (room > 0 && header <= t->size) {
        t->system_name = offset;
        t->system_name_size = perf_utf16_size(t->data + offset, room);
    }
}

/* LittleEndian other than 0 or 1 is a fault, and read as 1. */
void perf_table_read_block(perf_table *t, const uint8_t *data, uint32_t size, uint32_t reported)
{
    perf_table_begin(t, data, size, reported, /* is_block */ true);
    if (size < PERF_DATA_BLOCK_SIZE) {
        if (reported < PERF_DATA_BLOCK_SIZE) {
            add_fault(t, PERF_FAULT_SHORT, PERF_NO_GROUP, 0, reported, PERF_DATA_BLOCK_SIZE);
        }
        return;
    }
    uint32_t little_endian = perf_le32(data + 8);
    t->big_endian_text = data[0] == 0; /* it begins with "PERF" in UTF-16 */
    t->big_endian = little_endian == 0;
    t->clocks = (perf_point){
        .perf_time = perf_table_u64(t, 56), .perf_freq = perf_table_u64(t, 64), .time_100ns = perf_table_u64(t, 72)};
    if (little_endian > 1) {
        add_fault(t, PERF_FAULT_NUMBER, PERF_NO_GROUP, 8, little_endian, 1);
    }
    if (perf_table_u32(t, 12) != 1) {
        add_fault(t, PERF_FAULT_VERSION, PERF_NO_GROUP, 12, perf_table_u32(t, 12), 1);
    }
    uint32_t total = perf_table_u32(t, 20), header = perf_table_u32(t, 24), count = perf_table_u32(t, 28);
    if (header < PERF_DATA_BLOCK_SIZE || header > reported) {
        add_fault(t, PERF_FAULT_PARTS, PERF_NO_GROUP, 24, header, reported);
        return;
    }
    find_system_name(t);
    read_groups(t, header < size ? header : size);
    mark_repeated_objects(t);
    t->is_samba = total == reported - header;
    /* a bare header, which is sent for an object that is not there, has no total */
    if (total != reported && !t->is_samba && !(total == 0 && count == 0)) {
        add_fault(t, PERF_FAULT_TOTAL, PERF_NO_GROUP, 20, total, reported);
    }
}
