/* parse-data-block.c
 * PERF_DATA_BLOCK of HKEY_PERFORMANCE_DATA (winperf.h) as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table-read.h"

/* Reads the definitions from `at` to `end`. `reach`: bytes that a counter block needs for all of them. Returns false if one does not fit. */
static bool read_definitions(perf_table *t, perf_group *g, uint32_t at, uint32_t end, uint32_t *reach)
{
    uint32_t count = perf_table_u32(t, g->offset + 32);

    for (*reach = PERF_COUNTER_BLOCK_SIZE; count > 0; count--) {
        uint32_t left = end - at, size = left >= PERF_COUNTER_DEFINITION_SIZE ? perf_table_u32(t, at) : 0;
        if (size < PERF_COUNTER_DEFINITION_SIZE || size > left) {
            return perf_group_fault(t, PERF_FAULT_COLUMNS, g->offset + 32, g->columns + count, g->columns);
        }
        perf_column column = {.offset = at,
                              .id = perf_table_u32(t, at + 4),
                              .type = perf_table_u32(t, at + 28),
                              .value_size = perf_table_u32(t, at + 32),
                              .value_offset = perf_table_u32(t, at + 36)};
        perf_add_column(t, g, column);
        uint32_t reaches = perf_add_u32(column.value_offset, column.value_size);
        *reach = reaches > *reach ? reaches : *reach;
        at += size;
    }
    if (end - at >= PERF_COUNTER_DEFINITION_SIZE) { /* what is there is read all the same */
        perf_group_fault(t, PERF_FAULT_COLUMNS, g->offset + 32, g->columns,
                         g->columns + (end - at) / PERF_COUNTER_DEFINITION_SIZE);
    }
    return true;
}

/* Reads an instance as a row, whose values come next. Returns where it ends, 0 if it does not fit, or its name does not lie in it. */
static uint32_t read_instance(perf_table *t, perf_group *g, uint32_t at)
{
    uint32_t left = g->end - at, size = left >= PERF_INSTANCE_DEFINITION_SIZE ? perf_table_u32(t, at) : 0;

    if (size < PERF_INSTANCE_DEFINITION_SIZE || size > left) {
        return perf_group_fault(t, PERF_FAULT_ROW_SIZE, at, size, left);
    }
    uint32_t name = perf_table_u32(t, at + 16), length = perf_table_u32(t, at + 20);
    if (length > 0 && (name < PERF_INSTANCE_DEFINITION_SIZE || name > size || length > size - name)) {
        return perf_group_fault(t, PERF_FAULT_NAME, at + 20, perf_add_u32(name, length), size);
    }
    if (length % 2 != 0 && perf_is_utf16(g->code_page)) {
        perf_group_fault(t, PERF_FAULT_NAME_SIZE, at + 20, length, 2);
    }
    perf_add_row(t, g, (perf_row){.offset = at, .id = perf_table_u32(t, at + 12)});
    return at + size;
}

/* Reads the last row's counter block; one that states less than `least` bytes has as many. Returns where it ends, 0 if it does not fit. */
static uint32_t read_counter_block(perf_table *t, perf_group *g, uint32_t at, uint32_t least)
{
    uint32_t left = g->end - at, said = left >= PERF_COUNTER_BLOCK_SIZE ? perf_table_u32(t, at) : 0;
    uint32_t size = said < least ? least : said;

    if (size < PERF_COUNTER_BLOCK_SIZE || size > left) {
        return perf_group_fault(t, PERF_FAULT_CELL_SIZE, at, said, left);
    }
    if (size != said) {
        perf_group_fault(t, PERF_FAULT_READ_AS, at, said, size);
    }
    perf_row *row = &t->rows[t->num_rows - 1];
    row->cells = at;
    row->block_size = size;
    return at + size;
}

/* Reads instances with their counter blocks (`least` bytes or more); without instances one block, if any. Returns their end, 0: misfit. */
static uint32_t read_object_rows(perf_table *t, perf_group *g, uint32_t at, uint32_t least)
{
    uint32_t count_field = g->offset + 40, count = g->has_instances ? perf_table_u32(t, count_field) : g->has_values;

    for (uint32_t left = count; left > 0 && at > 0; left--) {
        if (at == g->end) {
            return perf_group_fault(t, PERF_FAULT_ROWS, count_field, count, g->rows);
        }
        if (g->has_instances) {
            at = read_instance(t, g, at);
        } else {
            perf_add_row(t, g, (perf_row){.id = PERF_NO_ID});
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
            perf_group_fault(t, PERF_FAULT_OFFSET, c->offset + 36, c->value_offset, reaches);
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
        return perf_group_fault(t, PERF_FAULT_PARTS, g->offset + 4, definitions, size);
    }
    if (!read_definitions(t, g, g->offset + header, g->offset + definitions, &reach)) {
        return 0;
    }
    uint32_t rows = g->offset + definitions; /* behind whatever lies between (winperf.h: DefinitionLength) */
    uint32_t end = read_object_rows(t, g, rows, is_other_way ? perf_align8(reach) : 0);
    add_offset_faults(t, g, reach);
    return end;
}

/* Makes objects with one title index not sound, each with a fault: nothing tells which of them is the sample before's. */
static void mark_repeated_objects(perf_table *t)
{
    for (uint32_t i = 0; t->num_groups > 1 && i < t->num_groups; i++) {
        perf_group *g = &t->groups[i];
        uint32_t count = perf_table_count_objects(t, g->key);
        if (count > 1) {
            g->is_sound = false;
            perf_add_fault(t, PERF_FAULT_TWICE, i, g->offset + 12, g->key, count);
        }
    }
}

/* Finds the system name, which lies in the header. A header that the capture truncates has none. */
static void find_system_name(perf_table *t)
{
    uint32_t header = perf_table_u32(t, 24), room = perf_table_u32(t, 80), offset = perf_table_u32(t, 84);

    if (room > 0 && (offset < PERF_DATA_BLOCK_SIZE || offset > header || room > header - offset)) {
        perf_add_fault(t, PERF_FAULT_NAME, PERF_NO_GROUP, 84, perf_add_u32(offset, room), header);
        return;
    }
    if (room % 2 != 0) {
        perf_add_fault(t, PERF_FAULT_NAME_SIZE, PERF_NO_GROUP, 80, room, 2);
    }
    if (room > 0 && header <= t->size) {
        t->system_name = offset;
        t->system_name_size = perf_utf16_size(t->data + offset, room);
    }
}

/* Reads byte orders and clocks of the header. LittleEndian other than 0 or 1 is a fault, and read as 1. Needs: the header was captured. */
static void read_header(perf_table *t)
{
    uint32_t little_endian = perf_le32(t->data + 8);

    t->big_endian_text = t->data[0] == 0;
    t->big_endian = little_endian == 0;
    t->clocks = (perf_point){
        .perf_time = perf_table_u64(t, 56), .perf_freq = perf_table_u64(t, 64), .time_100ns = perf_table_u64(t, 72)};
    if (little_endian > 1) {
        perf_add_fault(t, PERF_FAULT_NUMBER, PERF_NO_GROUP, 8, little_endian, 1);
    }
    if (perf_table_u32(t, 12) != 1) {
        perf_add_fault(t, PERF_FAULT_VERSION, PERF_NO_GROUP, 12, perf_table_u32(t, 12), 1);
    }
}

void perf_table_read_block(perf_table *t, const uint8_t *data, uint32_t size, uint32_t reported)
{
    static const perf_group_layout objects = {
        .count_field = 28, .size_field = 0, .header_size = PERF_OBJECT_TYPE_SIZE, .read = read_object};

    perf_table_begin(t, data, size, reported, /* is_block */ true);
    if (size < PERF_DATA_BLOCK_SIZE) {
        if (reported < PERF_DATA_BLOCK_SIZE) {
            perf_add_fault(t, PERF_FAULT_SHORT, PERF_NO_GROUP, 0, reported, PERF_DATA_BLOCK_SIZE);
        }
        return;
    }
    read_header(t);
    uint32_t total = perf_table_u32(t, 20), header = perf_table_u32(t, 24), count = perf_table_u32(t, 28);
    if (header < PERF_DATA_BLOCK_SIZE || header > reported) {
        perf_add_fault(t, PERF_FAULT_PARTS, PERF_NO_GROUP, 24, header, reported);
        return;
    }
    find_system_name(t);
    perf_read_groups(t, &objects, header < size ? header : size);
    mark_repeated_objects(t);
    t->is_samba = total == reported - header;
    /* a bare header, which is sent for an object that is not there, has no total */
    if (total != reported && !t->is_samba && !(total == 0 && count == 0)) {
        perf_add_fault(t, PERF_FAULT_TOTAL, PERF_NO_GROUP, 20, total, reported);
    }
}
