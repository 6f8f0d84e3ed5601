/* pcq-buffers.c
 * What lpData holds: names and descriptions, registration information, counter identifiers, and the two plain lists, of
 * countersets and of instances. Counter data is read in pcq/pcq-data.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-buffers.h"

#include "tree/fields.h"
#include "pcq/pcq-data.h"
#include "text/value-strings.h"

static const value_string none_vals[] = {{PERF_NO_ID, "none"}, {0, NULL}};

/* InstanceType (2.2.4.1) is a set of flags; these combinations have names. */
static const value_string instance_type_vals[] = {
    {0x00, "PERF_COUNTERSET_SINGLE_INSTANCE"},
    {0x02, "PERF_COUNTERSET_MULTI_INSTANCES"},
    {0x04, "PERF_COUNTERSET_SINGLE_AGGREGATE"},
    {0x06, "PERF_COUNTERSET_MULTI_AGGREGATE"},
    {0x0C, "PERF_COUNTERSET_SINGLE_AGGREGATE_HISTORY"},
    {0x16, "PERF_COUNTERSET_INSTANCE_AGGREGATE"},
    {0, NULL},
};

static const value_string aggregate_vals[] = {
    {0, "PERF_AGGREGATE_UNDEFINED"}, {1, "PERF_AGGREGATE_TOTAL"}, {2, "PERF_AGGREGATE_AVG"},
    {3, "PERF_AGGREGATE_MIN"},       {4, "PERF_AGGREGATE_MAX"},   {0, NULL},
};

#define FIELD_ATTRIB(id, label, name, blurb) FIELD(id, label, name, FT_UINT64, BASE_HEX, NULL, blurb)
#define READ_ATTRIB(cursor, hf) (read_attrib(cursor, hf), 0)

/* 2.2.4.1, behind the GUID */
#define COUNTERSET_REG_INFO(X, S) \
    X(HEX_OF, counterset_type, "Counterset type", "pcq.counterset.type", NULL, "Not used") \
    X(ONE_OF, detail_level, "Detail level", "pcq.detail_level", text_detail_level_vals, "Whom it is meant for") \
    X(U32, num_counters, "Number of counters", "pcq.counterset.num_counters", "NumCounters") \
    X(HEX_OF, instance_type, "Instance type", "pcq.counterset.instance_type", instance_type_vals, \
      "Flags: 0x02 multiple, 0x04 aggregate, 0x08 history, 0x10 instance")

/* 2.2.4.2 */
#define COUNTER_REG_INFO(X, S) \
    S(NAMED, pcq_counter_id) \
    S(TYPE, pcq_counter_type) \
    X(ATTRIB, attrib, "Attributes", "pcq.counter.attrib", "Attrib") \
    S(ONE_OF, detail_level) \
    X(SCALE, default_scale, "Default scale", "pcq.counter.default_scale", \
      "Power of ten for graphs; calculated values are not scaled") \
    X(NAMED, base_id, "Base counter id", "pcq.counter.base_id", none_vals, "BaseCounterId") \
    X(NAMED, perf_time_id, "Time counter id", "pcq.counter.perf_time_id", none_vals, "PerfTimeId") \
    X(NAMED, perf_freq_id, "Frequency counter id", "pcq.counter.perf_freq_id", none_vals, "PerfFreqId") \
    X(NAMED, multi_id, "Multi counter id", "pcq.counter.multi_id", none_vals, "MultiId") \
    X(ONE_OF, aggregate_func, "Aggregate function", "pcq.counter.aggregate_func", aggregate_vals, "AggregateFunc") \
    S(U32, pcq_reserved)

/* 2.2.4.6, behind GUID and status */
#define COUNTER_IDENTIFIER(X, S) \
    X(U32, identifier_size, "Size", "pcq.identifier.size", "Bytes of header, name and padding") \
    S(NAMED, pcq_counter_id) \
    S(NAMED, pcq_instance_id) \
    X(NAMED, identifier_index, "Index", "pcq.identifier.index", none_vals, "Number of its block in counter data") \
    S(U32, pcq_reserved)

COUNTERSET_REG_INFO(FIELD_ID, FIELD_SHARED)
COUNTER_REG_INFO(FIELD_ID, FIELD_SHARED)
COUNTER_IDENTIFIER(FIELD_ID, FIELD_SHARED)
static int hf_undecoded, hf_string_buffer, hf_string_buffer_size, hf_string_buffer_num_counters, hf_string_counter,
    hf_string_offset, hf_counter_description, hf_counterset_description, hf_provider_name, hf_provider_guid,
    hf_set_reg_info, hf_counter_reg_info, hf_attrib_reference, hf_attrib_no_display, hf_attrib_no_groups,
    hf_attrib_real, hf_attrib_hex, hf_identifier, hf_identifier_status;

static int ett_strings = -1, ett_reg_info = -1, ett_attrib = -1, ett_identifier = -1, ett_instance = -1;

/* --- Common to all buffers ------------------------------------------------------------------------------ */

/* Returns a new entry of what the response teaches, about `id` of the request's counterset. Needs: to be filled before the next is collected. */
static pcq_collected_entry *collect_entry(pcq_context *context, uint32_t id, metadata_kind kind)
{
    const pcq_collected_entry collected = {.key = metadata_counter_key(context->request.guid, id), .kind = kind};

    wmem_array_append_one(context->collected, collected);
    return wmem_array_index(context->collected, wmem_array_get_count(context->collected) - 1);
}

/* Collects the name of a counter, or of the counterset (PERF_NO_ID), in the language that was asked for. */
static void collect_name(pcq_context *context, uint32_t id, const char *name)
{
    uint32_t lcid = pcq_has_locale(context->request.code) ? context->request.lcid : METADATA_LCID_ENGLISH;

    if (name && *name) {
        pcq_collected_entry *collected = collect_entry(context, id, metadata_name_kind(lcid));
        collected->entry.name = name;
        collected->entry.lcid = lcid;
    }
}

/* Wireshark 4.6 takes 50,000 items in front of the farthest string for an endless loop, and a string has up to 8. */
#define MOST_SHOWN_STRINGS 5000

/* Reads up to `most` structures of at least `least` bytes by `read_one`, which returns false if a structure does not lead to the next. Reports how
 * many (`what`: their plural) the tree has no room for. */
static void read_list(buffer_cursor *cursor, pcq_context *context, uint32_t most, uint32_t least, const char *what,
                      bool (*read_one)(buffer_cursor *cursor, pcq_context *context))
{
    proto_tree *tree = cursor->tree;
    uint32_t hidden = 0;
    bool is_sound = true;

    for (; is_sound && most > 0 && cursor_left(cursor) >= least; most--) {
        bool is_string = context->strings.headers_end > 0;
        if (!tree_has_room(tree) || (is_string && context->count >= MOST_SHOWN_STRINGS)) {
            cursor->tree = NULL;
            hidden++;
        }
        is_sound = read_one(cursor, context);
    }
    cursor->tree = tree;
    if (hidden > 0) {
        expert_report_add(cursor->report, cursor->node, EI_NOT_SHOWN, "%u %s are not shown, a packet's tree is limited",
                          hidden, what);
    }
}

/* Shows and reports bytes that are left, `behind` the last structure, as the report calls it. */
static void report_bytes_left(buffer_cursor *cursor, const char *behind)
{
    uint32_t left = cursor_left(cursor);

    if (left > 0) {
        proto_item *item = proto_tree_add_item(cursor->tree, hf_undecoded, cursor->tvb, cursor->pos, left, ENC_NA);
        expert_report_add(cursor->report, item, EI_TRAILING_BYTES, "%u bytes are left behind %s", left, behind);
    }
}

/* Enters a structure of `size` bytes, as it says itself. Returns true. Reports a size that is no
 * multiple of 8, or does not fit: then it enters `least` bytes, and returns false. */
static bool enter_sized(buffer_cursor *outer, int hf, int ett, uint32_t size, uint32_t least, buffer_cursor *inner)
{
    bool fits = size >= least && size <= cursor_left(outer);

    if (!fits || size % 8 != 0) {
        expert_report_add(outer->report, outer->node, EI_SIZE,
                          "Size of %s at offset %u is %u, it can be a multiple of 8 from %u to %u",
                          proto_registrar_get_name(hf), outer->pos, size, least, cursor_left(outer));
    }
    cursor_enter(outer, hf, ett, fits ? size : least, inner);
    return fits;
}

/* --- Names and descriptions (opnum 1), 2.2.4.3 and 2.2.4.4 -------------------------------------------------------- */

#define STRING_BUFFER_HEADER_SIZE 8  /* 2.2.4.3 */
#define STRING_COUNTER_HEADER_SIZE 8 /* 2.2.4.4 */

/* "No string": perflib.h, not in the specification. */
#define NO_STRING 0xFFFFFFFFU

/* Many offsets can lead to one string: of a table as many bytes are read as it has, times TIMES_READ, and READ_AT_LEAST more. */
#define TIMES_READ 8
#define READ_AT_LEAST 2048

/* Returns where offsets of strings count from: 0, the block's start, as on Windows; or the end of the headers, as 2.2.4.4 says, if the
 * first offset would lie within the headers otherwise. */
static uint32_t find_offset_base(tvbuff_t *tvb, uint32_t headers_end)
{
    uint32_t at = STRING_BUFFER_HEADER_SIZE, offset = NO_STRING;

    for (; at < headers_end && offset == NO_STRING; at += STRING_COUNTER_HEADER_SIZE) {
        offset = tvb_get_letohl(tvb, (int)at + 4);
    }
    return offset < headers_end ? headers_end : 0;
}

/* Shows the string at `offset`. Returns it, NULL if `offset` leads to none, or too much was read of the table already. */
static const char *read_table_string(const buffer_cursor *cursor, pcq_context *context, uint32_t offset)
{
    pcq_string_table *table = &context->strings;
    uint64_t start = (uint64_t)table->base + offset;
    uint32_t end = tvb_reported_length(cursor->tvb);
    buffer_cursor at = *cursor;

    if (start < table->headers_end || start + 2 > end || start % 2 != 0 ||
        (start > table->headers_end && tvb_get_letohs(at.tvb, (int)start - 2) != 0)) {
        expert_report_add(cursor->report, cursor->item, EI_STRING_OFFSET,
                          "Offset %u does not lead to where a string begins: strings are at %u to %u", offset,
                          table->headers_end - table->base, end - table->base);
        return NULL;
    }
    at.pos = (uint32_t)start;
    at.end = end;
    uint32_t size = text_utf16_size(at.tvb, at.pos, (uint32_t)MIN(cursor_left(&at), table->readable)) + 2;
    if (size > table->readable) {
        if (table->readable > 0) {
            expert_report_add(cursor->report, cursor->item, EI_STRING_OFFSET,
                              "Too many offsets lead to the same strings: this one and what follows are not read");
        }
        table->readable = 0;
        return NULL;
    }
    table->readable -= size;
    return context->request.code == PERF_REG_COUNTER_HELP_STRINGS
               ? cursor_read_text(&at, hf_counter_description, cursor_left(&at), TEXT_WHOLE)
               : cursor_read_text(&at, hf_pcq_counter_name, cursor_left(&at), TEXT_NAME_MAX);
}

/* Shows a PERF_STRING_COUNTER_HEADER with the string that its offset leads to, and collects it if it is a name. Returns true, for read_list(). */
static bool read_string_counter(buffer_cursor *outer, pcq_context *context)
{
    buffer_cursor cursor;
    const char *name = NULL;

    cursor_enter(outer, hf_string_counter, ett_strings, STRING_COUNTER_HEADER_SIZE, &cursor);
    uint32_t id = cursor_read_u32(&cursor, hf_pcq_counter_id);
    uint32_t offset = cursor_read_u32(&cursor, hf_string_offset);
    const char *text = offset != NO_STRING ? read_table_string(&cursor, context, offset) : NULL;
    if (context->request.code == PERF_REG_COUNTER_HELP_STRINGS) {
        name = pcq_add_known_counter(&cursor, context->server, context->request.guid, id, /* with_type */ false);
    } else {
        collect_name(context, id, text);
    }
    proto_item_append_text(cursor.node, ": %u%s%s: %s", id, name ? " " : "", name ? name : "",
                           text                  ? text
                           : offset == NO_STRING ? "(none)"
                                                 : "(unreadable)");
    context->count++;
    return true;
}

/* Dissects RequestCode 5, 6 and 10. Strings are read even if dwSize is wrong, since offsets lead to them. */
static void dissect_counter_strings(buffer_cursor *cursor, pcq_context *context)
{
    buffer_cursor header;

    cursor_enter(cursor, hf_string_buffer, ett_strings, STRING_BUFFER_HEADER_SIZE, &header);
    uint32_t size = cursor_read_u32(&header, hf_string_buffer_size);
    uint32_t count = cursor_read_u32(&header, hf_string_buffer_num_counters);
    uint32_t room = cursor_left(cursor) / STRING_COUNTER_HEADER_SIZE;
    if (size > cursor->end || cursor->end - size >= 8) { /* less is padding */
        expert_report_add(cursor->report, header.node, EI_SIZE, "dwSize is %u, but the buffer has %u bytes", size,
                          cursor->end);
    }
    if (count > room) {
        expert_report_add(cursor->report, header.node, EI_COUNT, "dwCounters is %u, it can be up to %u", count, room);
        return;
    }
    proto_item_append_text(header.node, ": %u strings", count);
    uint32_t headers_end = STRING_BUFFER_HEADER_SIZE + count * STRING_COUNTER_HEADER_SIZE;
    context->strings = (pcq_string_table){.headers_end = headers_end,
                                          .base = find_offset_base(cursor->tvb, headers_end),
                                          .readable = (uint64_t)cursor->end * TIMES_READ + READ_AT_LEAST};
    if (context->strings.base != 0) {
        expert_report_add(cursor->report, header.node, EI_STRING_OFFSET_BASE,
                          "String offsets count from the end of the headers, as [MS-PCQ] 2.2.4.4 says; Windows counts "
                          "them from the block's start");
    }
    read_list(cursor, context, count, STRING_COUNTER_HEADER_SIZE, "strings", read_string_counter);
}

/* --- One string or GUID ------------------------------------------------------------------------------------------- */

/* Dissects RequestCode 3, 4, 7 and 9. */
static void dissect_single_string(buffer_cursor *cursor, pcq_context *context)
{
    uint32_t room = cursor_left(cursor);
    uint32_t size = text_utf16_size(cursor->tvb, cursor->pos, room);

    bool is_help = context->request.code == PERF_REG_COUNTERSET_HELP_STRING;
    bool is_provider = context->request.code == PERF_REG_PROVIDER_NAME;
    int hf = is_help ? hf_counterset_description : is_provider ? hf_provider_name : hf_pcq_counterset_name;

    context->text = cursor_read_text(cursor, hf, MIN(room, size + 2), is_help ? TEXT_WHOLE : TEXT_NAME_MAX);
    if (!is_help && !is_provider) {
        collect_name(context, PERF_NO_ID, context->text);
    }
    if (cursor_left(cursor) >= 8) { /* less is padding */
        report_bytes_left(cursor, "the string");
    }
}

/* Dissects RequestCode 8: the GUID is the text of the call. */
static void dissect_provider_guid(buffer_cursor *cursor, pcq_context *context)
{
    uint8_t guid[16];

    cursor_read_guid(cursor, hf_provider_guid, guid);
    context->text = metadata_format_guid(cursor->report->pinfo->pool, guid);
    report_bytes_left(cursor, "the GUID");
}

/* --- Registration information (opnum 1), 2.2.4.1 and 2.2.4.2 ------------------------------------------------------ */

#define COUNTERSET_REG_INFO_SIZE 32 /* 2.2.4.1 */
#define COUNTER_REG_INFO_SIZE 48    /* 2.2.4.2 */

/* Reads Attrib, and shows its flags. */
static void read_attrib(buffer_cursor *cursor, int hf)
{
    static int *const bits[] = {&hf_attrib_reference, &hf_attrib_no_display, &hf_attrib_no_groups,
                                &hf_attrib_real,      &hf_attrib_hex,        NULL};
    uint32_t at = cursor->pos;

    cursor_skip(cursor, 8);
    proto_tree_add_bitmask(cursor->tree, cursor->tvb, at, hf, ett_attrib, bits, ENC_LITTLE_ENDIAN);
}

/* Reads a PERF_COUNTER_REG_INFO (2.2.4.2), and collects the counter's type. Returns true, for read_list(). */
static bool read_counter_reg_info(buffer_cursor *outer, pcq_context *context)
{
    buffer_cursor cursor;

    cursor_enter(outer, hf_counter_reg_info, ett_reg_info, COUNTER_REG_INFO_SIZE, &cursor);
    FIELDS_READ(COUNTER_REG_INFO)
    uint32_t id = read.pcq_counter_id;
    const char *name =
        pcq_add_known_counter(&cursor, context->server, context->request.guid, id, /* with_type */ false);
    if (cursor.node) {
        proto_item_append_text(cursor.node, ": %u%s%s, %s", id, name ? " " : "", name ? name : "",
                               val_to_str_const(read.pcq_counter_type, text_counter_type_vals, "unknown type"));
    }
    pcq_collected_entry *collected = collect_entry(context, id, METADATA_COUNTER);
    collected->entry.counter = (perf_counter_info){read.pcq_counter_type, read.base_id,  read.perf_time_id,
                                                   read.perf_freq_id,     read.multi_id, (int32_t)read.default_scale};
    context->count++;
    return true;
}

/* Reads a PERF_COUNTERSET_REG_INFO (2.2.4.1), and collects its kind of instances. Returns NumCounters. Changes: the request's GUID is its own. */
static uint32_t read_counterset_reg_info(buffer_cursor *outer, pcq_context *context)
{
    buffer_cursor cursor;

    cursor_enter(outer, hf_set_reg_info, ett_reg_info, COUNTERSET_REG_INFO_SIZE, &cursor);
    cursor_read_guid(&cursor, hf_pcq_counterset_guid, context->request.guid);
    FIELDS_READ(COUNTERSET_REG_INFO)
    const char *name = pcq_add_known_counterset(&cursor, context->server, context->request.guid);
    if (cursor.node) {
        proto_item_append_text(cursor.node, ": %s, %u counters",
                               name ? name : metadata_format_guid(outer->report->pinfo->pool, context->request.guid),
                               read.num_counters);
    }
    collect_entry(context, PERF_NO_ID, METADATA_COUNTERSET)->entry.instance_type = read.instance_type;
    if (read.num_counters > cursor_left(outer) / COUNTER_REG_INFO_SIZE) {
        expert_report_add(cursor.report, cursor.node, EI_COUNT, "NumCounters %u, but there is room for %u",
                          read.num_counters, cursor_left(outer) / COUNTER_REG_INFO_SIZE);
    }
    return read.num_counters;
}

/* Dissects RequestCode 1, a counterset with its counters, and 2, one counter. */
static void dissect_reg_info(buffer_cursor *cursor, pcq_context *context)
{
    bool is_set = context->request.code == PERF_REG_COUNTERSET_STRUCT;
    uint32_t counters = is_set ? read_counterset_reg_info(cursor, context) : 1;

    read_list(cursor, context, counters, is_set ? COUNTER_REG_INFO_SIZE : 1, "counters", read_counter_reg_info);
    report_bytes_left(cursor, "the last counter");
}

void pcq_dissect_registration(buffer_cursor *cursor, pcq_context *context)
{
    static void (*const dissect[])(buffer_cursor *cursor, pcq_context *context) = {
        [PERF_REG_COUNTERSET_STRUCT] = dissect_reg_info,
        [PERF_REG_COUNTER_STRUCT] = dissect_reg_info,
        [PERF_REG_COUNTERSET_NAME_STRING] = dissect_single_string,
        [PERF_REG_COUNTERSET_HELP_STRING] = dissect_single_string,
        [PERF_REG_COUNTER_NAME_STRINGS] = dissect_counter_strings,
        [PERF_REG_COUNTER_HELP_STRINGS] = dissect_counter_strings,
        [PERF_REG_PROVIDER_NAME] = dissect_single_string,
        [PERF_REG_PROVIDER_GUID] = dissect_provider_guid,
        [PERF_REG_COUNTERSET_ENGLISH_NAME] = dissect_single_string,
        [PERF_REG_COUNTER_ENGLISH_NAMES] = dissect_counter_strings,
    };
    uint32_t code = context->request.code;

    if (code < array_length(dissect) && dissect[code]) {
        dissect[code](cursor, context);
    } else {
        proto_tree_add_item(cursor->tree, hf_undecoded, cursor->tvb, 0, -1, ENC_NA);
    }
}

/* --- Counter identifiers (opnums 5 and 7), 2.2.4.6 ---------------------------------------------------------------- */

/* Shows names, type and path of an identifier below its fields, and in its item; in a response to ValidateCounters the error, too. */
static void label_identifier(buffer_cursor *cursor, pcq_context *context, const perf_identifier *identifier)
{
    pcq_add_known_counterset(cursor, context->server, identifier->guid);
    pcq_add_known_counter(cursor, context->server, identifier->guid, identifier->counter_id, /* with_type */ true);
    const char *path =
        pcq_add_identifier_path(cursor, context->server, context->machine, identifier, /* is_assumed */ false);
    if (path) {
        bool has_error = context->is_response && identifier->status != 0;
        proto_item_append_text(cursor->node, ": %s%s%s", path, has_error ? ", " : "",
                               has_error ? text_win32_error(cursor->report->pinfo->pool, identifier->status) : "");
    }
}

/* Reads a PERF_COUNTER_IDENTIFIER (2.2.4.6), and collects it, in the packet's pool. Returns false if its size does not lead to the next. */
static bool read_identifier(buffer_cursor *outer, pcq_context *context)
{
    buffer_cursor cursor;
    perf_identifier identifier = {.status = 0};
    uint32_t size = tvb_get_letohl(outer->tvb, (int)outer->pos + 20);
    bool sound = enter_sized(outer, hf_identifier, ett_identifier, size, PERF_IDENTIFIER_SIZE, &cursor);

    cursor_read_guid(&cursor, hf_pcq_counterset_guid, identifier.guid);
    identifier.status = cursor_read_u32(&cursor, hf_identifier_status);
    if (!context->is_response) {
        proto_item_set_text(cursor.item, "Status: %u (without meaning here)", identifier.status);
    }
    FIELDS_READ(COUNTER_IDENTIFIER)
    identifier.counter_id = read.pcq_counter_id;
    identifier.instance_id = read.pcq_instance_id;
    identifier.index = read.identifier_index;
    uint32_t room = cursor_left(&cursor), start = cursor.pos;
    if (room > 0) {
        const char *name = cursor_read_text(&cursor, hf_pcq_instance_name, room, TEXT_NAME_MAX);
        identifier.instance = *name ? name : NULL;
        identifier.utf16_size = text_utf16_size(cursor.tvb, start, room);
        identifier.utf16 = tvb_memdup(cursor.report->pinfo->pool, cursor.tvb, start, identifier.utf16_size);
    }
    label_identifier(&cursor, context, &identifier);
    wmem_array_append_one(context->identifiers, identifier);
    context->count++;
    context->refused += identifier.status != 0;
    return sound;
}

void pcq_dissect_identifiers(buffer_cursor *cursor, pcq_context *context)
{
    read_list(cursor, context, UINT32_MAX, PERF_IDENTIFIER_SIZE, "identifiers", read_identifier);
    uint32_t left = cursor_left(cursor);
    if (left > 0 && left < PERF_IDENTIFIER_SIZE) {
        expert_report_add(cursor->report, cursor->node, EI_SIZE, "%u bytes are too few for a PERF_COUNTER_IDENTIFIER",
                          left);
    }
    report_bytes_left(cursor, "the last identifier");
}

void pcq_dissect_query(buffer_cursor *cursor, pcq_context *context)
{
    pcq_dissect_identifiers(cursor, context);
    const perf_identifier *identifiers = wmem_array_get_raw(context->identifiers);
    uint32_t odd = query_first_odd_index(identifiers, context->count);

    if (odd < context->count) {
        expert_report_add(cursor->report, cursor->node, EI_INDEX,
                          "Index %u of identifier %u is beyond the %u blocks, or given before", identifiers[odd].index,
                          odd, context->count);
    }
}

/* --- Plain lists: of countersets (opnum 0), of instances (opnum 2) ------------------------------------------------ */

/* Reads a GUID of the list of countersets. Returns true, for read_list(). */
static bool read_listed_counterset(buffer_cursor *cursor, pcq_context *context)
{
    uint8_t guid[16];

    cursor_read_guid(cursor, hf_pcq_counterset_guid, guid);
    context->count++;
    const char *name = pcq_add_known_counterset(cursor, context->server, guid);
    if (name) {
        proto_item_append_text(cursor->item, " (%s)", name);
    }
    return true;
}

void pcq_dissect_counterset_list(buffer_cursor *cursor, pcq_context *context)
{
    read_list(cursor, context, UINT32_MAX, 1, "GUIDs", read_listed_counterset);
}

/* Reads a PERF_INSTANCE_HEADER (2.2.4.5). Returns false if its size does not lead to the next. */
static bool read_listed_instance(buffer_cursor *outer, pcq_context *context)
{
    buffer_cursor cursor;
    uint32_t size = tvb_get_letohl(outer->tvb, (int)outer->pos);
    bool sound = enter_sized(outer, hf_pcq_instance, ett_instance, size, PERF_INSTANCE_HEADER_SIZE, &cursor);

    pcq_read_instance(&cursor);
    if (!sound) {
        proto_item_set_text(cursor.node, "Instance: unreadable");
    }
    context->count++;
    return sound;
}

void pcq_dissect_instances(buffer_cursor *cursor, pcq_context *context)
{
    read_list(cursor, context, UINT32_MAX, PERF_INSTANCE_HEADER_SIZE, "instances", read_listed_instance);
    report_bytes_left(cursor, "the last instance");
}

void pcq_buffers_register(int proto)
{
    static hf_register_info hf[] = {
        FIELD_BYTES(hf_undecoded, "Undecoded data", "pcq.undecoded", "Bytes whose meaning is not known"),
        FIELD_NODE(hf_string_buffer, "String table", "pcq.string_buffer", "PERF_STRING_BUFFER_HEADER"),
        FIELD_U32(hf_string_buffer_size, "Size", "pcq.string_buffer.size", "dwSize: bytes of the whole block"),
        FIELD_U32(hf_string_buffer_num_counters, "Number of counters", "pcq.string_buffer.num_counters", "dwCounters"),
        FIELD_NODE(hf_string_counter, "String", "pcq.string_counter", "PERF_STRING_COUNTER_HEADER"),
        FIELD_NAMED(hf_string_offset, "Offset", "pcq.string.offset", none_vals, "dwOffset, in bytes"),
        FIELD_TEXT(hf_counter_description, "Counter description", "pcq.counter.description", "Perfmon's explanation"),
        FIELD_TEXT(hf_counterset_description, "Counterset description", "pcq.counterset.description",
                   "Perfmon's explanation of the counterset"),
        FIELD_TEXT(hf_provider_name, "Provider name", "pcq.provider.name", "Who provides the counterset"),
        FIELD(hf_provider_guid, "Provider GUID", "pcq.provider.guid", FT_GUID, BASE_NONE, NULL, "Of the provider"),
        FIELD_NODE(hf_set_reg_info, "Counterset registration", "pcq.counterset_reg_info", "PERF_COUNTERSET_REG_INFO"),
        FIELD_NODE(hf_counter_reg_info, "Counter registration", "pcq.counter_reg_info", "PERF_COUNTER_REG_INFO"),
        FIELD_BIT(hf_attrib_reference, "By reference", "pcq.counter.attrib.reference", 0x01,
                  "The provider gave an address instead of the value"),
        FIELD_BIT(hf_attrib_no_display, "Not displayable", "pcq.counter.attrib.no_display", 0x02,
                  "Only other counters are calculated with it"),
        FIELD_BIT(hf_attrib_no_groups, "No group separator", "pcq.counter.attrib.no_group_separator", 0x04,
                  "Digits are not grouped by thousands"),
        FIELD_BIT(hf_attrib_real, "Display as real", "pcq.counter.attrib.display_as_real", 0x08, "With decimals"),
        FIELD_BIT(hf_attrib_hex, "Display as hexadecimal", "pcq.counter.attrib.display_as_hex", 0x10, "Not in decimal"),
        FIELD_NODE(hf_identifier, "Counter identifier", "pcq.identifier", "PERF_COUNTER_IDENTIFIER"),
        FIELD_ERROR(hf_identifier_status, "Status", "pcq.identifier.status",
                    "The server's verdict; without meaning in a request"),
        COUNTERSET_REG_INFO(FIELD_ROW, FIELD_SHARED) COUNTER_REG_INFO(FIELD_ROW, FIELD_SHARED)
            COUNTER_IDENTIFIER(FIELD_ROW, FIELD_SHARED)};
    static int *ett[] = {&ett_strings, &ett_reg_info, &ett_attrib, &ett_identifier, &ett_instance};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
