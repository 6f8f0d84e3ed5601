/* pcq-strings.c
 * Names and descriptions: the string tables and single strings of opnum 1 ([MS-PCQ] 2.2.4.3, 2.2.4.4).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-parts.h"

#include "pcq/pcq-fields.h"
#include "text/value-strings.h"

#define STRING_BUFFER_HEADER_SIZE 8  /* 2.2.4.3 */
#define STRING_COUNTER_HEADER_SIZE 8 /* 2.2.4.4 */

/* "No string": perflib.h, not in the specification. */
#define NO_STRING 0xFFFFFFFFU

/* Items of the tree that one structure can take, with what is known of it and a finding or two. */
#define ITEMS_OF_STRING 20

/* Strings that do not get ahead, item after item, are taken for a loop by Wireshark 4.6. */
#define MAX_IDLE_ITEMS 40000

static int hf_string_buffer = -1;
static int hf_string_buffer_size = -1;
static int hf_string_buffer_num_counters = -1;
static int hf_string_counter = -1;
static int hf_string_offset = -1;
static int hf_counter_description = -1;
static int hf_counterset_description = -1;
static int hf_provider_name = -1;
static int hf_provider_guid = -1;

static int ett_strings = -1;

static const value_string no_string_vals[] = {{NO_STRING, "none"}, {0, NULL}};

/* --- RequestCode 5, 6 and 10 -------------------------------------------------------------------------------------- */

/* The string table of 2.2.4.3 and 2.2.4.4 while it is read. */
typedef struct {
    uint32_t count;     /* headers that are there */
    uint32_t table_end; /* end of the header array */
    uint32_t end;       /* end of the block */
    uint32_t base;      /* what offsets count from: 0 or table_end */
    uint64_t readable;  /* bytes of strings that may still be read: strings can overlap */
    uint64_t keepable;  /* bytes of names that may still be kept */
    bool overlaps;      /* one of the two is used up */
    uint32_t farthest;  /* start of the farthest string shown */
    uint32_t idle;      /* items shown since, see own_data_source() */
} string_table;

static bool string_starts_at(tvbuff_t *tvb, const string_table *table, uint64_t offset)
{
    return offset >= table->table_end && offset + 2 <= table->end && offset % 2 == 0 &&
           (offset == table->table_end || tvb_get_uint16(tvb, (uint32_t)offset - 2, ENC_LITTLE_ENDIAN) == 0);
}

static uint32_t header_offset(tvbuff_t *tvb, uint32_t i)
{
    return tvb_get_letohl(tvb, (int)(STRING_BUFFER_HEADER_SIZE + i * STRING_COUNTER_HEADER_SIZE + 4));
}

/* Windows counts offsets from the block's start, the specification (2.2.4.4) from the end of the headers. The base
 * under which more offsets find the beginning of a string is the right one; if neither is better, an offset that
 * would lie inside the headers proves the specification's. */
static uint32_t find_offset_base(tvbuff_t *tvb, const string_table *table)
{
    uint32_t from_start = 0, from_table = 0, smallest = NO_STRING;

    for (uint32_t i = 0; i < table->count; i++) {
        uint32_t offset = header_offset(tvb, i);
        if (offset != NO_STRING) {
            from_start += string_starts_at(tvb, table, offset);
            from_table += string_starts_at(tvb, table, (uint64_t)offset + table->table_end);
            smallest = MIN(smallest, offset);
        }
    }
    if (from_start != from_table) {
        return from_start > from_table ? 0 : table->table_end;
    }
    return smallest < table->table_end ? table->table_end : 0;
}

/* Strings that servers share take some times their own bytes. Whoever lets every entry point into one long string does
 * not get the time to read it again and again, nor the memory to keep it. */
#define TIMES_READ 16
#define TIMES_KEPT 4
#define KEPT_AT_LEAST 2048

static void report_overlap(perf_reader *reader, string_table *table)
{
    if (!table->overlaps) {
        perf_found(reader->report, reader->item, FINDING_STRING_OFFSET,
                   "The strings overlap too much to read them, here and in what follows");
    }
    table->overlaps = true;
    table->readable = table->keepable = 0;
}

static const char *read_table_string(perf_reader *reader, pcq_context *context, string_table *table, uint32_t offset)
{
    uint64_t start = (uint64_t)table->base + offset;
    perf_reader at = *reader;

    if (start < table->table_end || start + 2 > table->end || start % 2 != 0) {
        perf_found(context->report, reader->item, FINDING_STRING_OFFSET,
                   "Offset %u does not lead to a string: strings are at %u to %u", offset,
                   table->table_end - table->base, table->end - table->base);
        return NULL;
    }
    uint32_t left = table->end - (uint32_t)start;
    uint32_t size = utf16_size(reader->tvb, (uint32_t)start, (uint32_t)MIN(left, table->readable));
    if (size + 2 > table->readable) {
        report_overlap(reader, table);
        return NULL;
    }
    table->readable -= size + 2;
    if (start > table->farthest) {
        table->farthest = (uint32_t)start;
        table->idle = 0;
    }
    at.pos = (uint32_t)start;
    at.end = table->end;
    uint32_t room = MIN(size + 2, table->end - (uint32_t)start);
    return context->request_code == PERF_REG_COUNTER_HELP_STRINGS
               ? reader_string(&at, hf_counter_description, room, "The counter's description")
               : pcq_read_counter_name(&at, room);
}

static void teach_table_name(perf_reader *reader, pcq_context *context, string_table *table, uint32_t id,
                             const char *name)
{
    size_t size = strlen(name) + 1;

    if (size > table->keepable) {
        report_overlap(reader, table);
        return;
    }
    table->keepable -= size;
    pcq_teach_name(context, id, name);
}

/* STRING_COUNTER_HEADER and the string it leads to */
static void read_string_counter(perf_reader *outer, pcq_context *context, string_table *table)
{
    perf_reader reader;
    const char *text = "(none)";
    bool help = context->request_code == PERF_REG_COUNTER_HELP_STRINGS;

    reader_structure(outer, hf_string_counter, ett_strings, STRING_COUNTER_HEADER_SIZE, &reader);
    uint32_t id = pcq_read_counter_id(&reader);
    uint32_t offset = reader_u32(&reader, hf_string_offset);
    if (offset != NO_STRING) {
        text = read_table_string(&reader, context, table, offset);
        if (!help && text) {
            teach_table_name(&reader, context, table, id, text);
        }
    }
    const char *name =
        help ? pcq_add_known_counter(reader.tree, reader.tvb, context->server, context->guid, id, context->event)
             : NULL;
    if (reader.node) {
        proto_item_append_text(reader.node, ": %u%s%s: %s", id, name ? " " : "", name ? name : "",
                               text ? text : "(unreadable)");
    }
    context->count++;
}

/* A wrong dwCounters must not take text for headers: they end where the first string begins, if what stands there is no
 * header. Where offsets count from the headers' end they tell nothing. */
static uint32_t headers_before_strings(tvbuff_t *tvb, const string_table *table, uint32_t count)
{
    string_table found = *table;
    uint32_t first = NO_STRING;

    found.table_end = STRING_BUFFER_HEADER_SIZE;
    for (uint32_t i = 0; i < count && found.table_end + STRING_COUNTER_HEADER_SIZE <= first; i++) {
        uint32_t offset = header_offset(tvb, i);
        if (offset < STRING_BUFFER_HEADER_SIZE + STRING_COUNTER_HEADER_SIZE) {
            return count;
        }
        first = MIN(first, offset);
        found.table_end += STRING_COUNTER_HEADER_SIZE;
    }
    found.count = (found.table_end - STRING_BUFFER_HEADER_SIZE) / STRING_COUNTER_HEADER_SIZE;
    uint32_t next = found.count < count ? header_offset(tvb, found.count) : NO_STRING;
    return next == NO_STRING || string_starts_at(tvb, &found, next) ? count : found.count;
}

/* A wrong dwSize keeps no string from being read: the offsets lead to them. Less than 8 bytes are padding. */
static void check_table(perf_reader *reader, pcq_context *context, string_table *table, uint32_t size,
                        proto_item *size_item, uint32_t count, proto_item *count_item)
{
    uint32_t room = (reader->end - STRING_BUFFER_HEADER_SIZE) / STRING_COUNTER_HEADER_SIZE;

    if (size > reader->end || reader->end - size >= 8) {
        perf_found(context->report, size_item, FINDING_SIZE, "dwSize is %u, but the buffer has %u bytes", size,
                   reader->end);
    }
    table->end = reader->end;
    table->count = headers_before_strings(reader->tvb, table, MIN(count, room));
    if (count != table->count) {
        perf_found(context->report, count_item, FINDING_COUNT, "dwCounters is %u, but there is room for %u", count,
                   table->count);
    }
    table->table_end = STRING_BUFFER_HEADER_SIZE + table->count * STRING_COUNTER_HEADER_SIZE;
    table->readable = (uint64_t)reader->end * TIMES_READ;
    table->keepable = MIN(table->readable, (uint64_t)reader->end * TIMES_KEPT + KEPT_AT_LEAST);
    table->overlaps = false;
    table->farthest = table->idle = 0;
}

void pcq_dissect_counter_strings(perf_reader *reader, proto_tree *tree, pcq_context *context)
{
    perf_reader header;
    string_table table;
    uint32_t hidden = 0;

    reader_structure(reader, hf_string_buffer, ett_strings, STRING_BUFFER_HEADER_SIZE, &header);
    uint32_t size = reader_u32(&header, hf_string_buffer_size);
    proto_item *size_item = header.item;
    uint32_t count = reader_u32(&header, hf_string_buffer_num_counters);
    if (header.failed) {
        return;
    }
    check_table(reader, context, &table, size, size_item, count, header.item);
    table.base = find_offset_base(reader->tvb, &table);
    if (header.node) {
        proto_item_append_text(header.node, ": %u strings, offsets count from the %s", count,
                               table.base == 0 ? "block's start" : "end of the headers");
    }
    if (table.base != 0) {
        perf_found(context->report, header.node, FINDING_STRING_OFFSET_BASE,
                   "String offsets count from the end of the headers, as [MS-PCQ] 2.2.4.4 says; Windows counts them "
                   "from the block's start");
    }
    for (uint32_t i = 0; i < table.count; i++) {
        reader->tree = table.idle < MAX_IDLE_ITEMS ? pcq_afford(tree, ITEMS_OF_STRING, &hidden) : NULL;
        hidden += table.idle >= MAX_IDLE_ITEMS;
        table.idle += ITEMS_OF_STRING;
        read_string_counter(reader, context, &table);
    }
    reader->tree = tree;
    pcq_report_hidden(context, tree, hidden, "strings");
}

/* --- One string or GUID ------------------------------------------------------------------------------------------- */

void pcq_dissect_single_string(perf_reader *reader, pcq_context *context)
{
    uint32_t room = reader_left(reader);
    uint32_t size = utf16_size(reader->tvb, reader->pos, room);

    room = MIN(room, size + 2);
    switch (context->request_code) {
    case PERF_REG_COUNTERSET_HELP_STRING:
        context->text = reader_string(reader, hf_counterset_description, room, "The description");
        break;
    case PERF_REG_PROVIDER_NAME:
        context->text = reader_name(reader, hf_provider_name, room, "The provider's name");
        break;
    default:
        context->text = pcq_read_counterset_name(reader, room);
        pcq_teach_name(context, PERF_NO_ID, context->text);
        break;
    }
    if (reader_left(reader) >= 8) { /* less is padding */
        pcq_report_rest(reader, "the string");
    }
}

void pcq_dissect_provider_guid(perf_reader *reader, pcq_context *context)
{
    uint8_t guid[16];

    reader_guid(reader, hf_provider_guid, guid);
    if (!reader->failed) {
        context->text = perf_guid_text(reader_pinfo(reader)->pool, guid);
    }
    pcq_report_rest(reader, "the GUID");
}

void pcq_strings_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_string_buffer,
         {"String table", "pcq.string_buffer", FT_NONE, BASE_NONE, NULL, 0, "PERF_STRING_BUFFER_HEADER", HFILL}},
        {&hf_string_buffer_size,
         {"Size", "pcq.string_buffer.size", FT_UINT32, BASE_DEC, NULL, 0, "dwSize: bytes of the whole block", HFILL}},
        {&hf_string_buffer_num_counters,
         {"Number of counters", "pcq.string_buffer.num_counters", FT_UINT32, BASE_DEC, NULL, 0, "dwCounters", HFILL}},
        {&hf_string_counter,
         {"String", "pcq.string_counter", FT_NONE, BASE_NONE, NULL, 0, "PERF_STRING_COUNTER_HEADER", HFILL}},
        {&hf_string_offset,
         {"Offset", "pcq.string.offset", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(no_string_vals), 0,
          "dwOffset, in bytes", HFILL}},
        {&hf_counter_description,
         {"Counter description", "pcq.counter.description", FT_STRING, BASE_NONE, NULL, 0,
          "Perfmon's explanation of the counter", HFILL}},
        {&hf_counterset_description,
         {"Counterset description", "pcq.counterset.description", FT_STRING, BASE_NONE, NULL, 0,
          "Perfmon's explanation of the counterset", HFILL}},
        {&hf_provider_name,
         {"Provider name", "pcq.provider.name", FT_STRING, BASE_NONE, NULL, 0, "Who provides the counterset", HFILL}},
        {&hf_provider_guid,
         {"Provider GUID", "pcq.provider.guid", FT_GUID, BASE_NONE, NULL, 0, "Who provides the counterset", HFILL}},
    };
    static int *ett[] = {&ett_strings};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
