/* hkpd-buffers.c
 * Responses of HKEY_PERFORMANCE_DATA in the tree: lists of titles ("Counter 009", "Help 009"), and PERF_DATA_BLOCK (winperf.h) with the
 * structures around its values.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd.h"

#include "tree/fields.h"
#include "text/value-strings.h"

#include <wsutil/strtoi.h>

static int proto_hkpd = -1;
static const value_string num_instances_vals[] = {
    {(uint32_t)PERF_INSTANCES_NONE, "PERF_NO_INSTANCES"},
    {(uint32_t)PERF_INSTANCES_METADATA_MULTIPLE, "PERF_METADATA_MULTIPLE_INSTANCES"},
    {(uint32_t)PERF_INSTANCES_METADATA_NONE, "PERF_METADATA_NO_INSTANCES"},
    {0, NULL},
};
static const value_string none_vals[] = {{0xFFFFFFFFU, "none"}, {0, NULL}};
static const value_string unique_id_vals[] = {{PERF_NO_ID, "PERF_NO_UNIQUE_ID"}, {0, NULL}};
static const value_string code_page_vals[] = {{0, "UTF-16"}, {1200, "UTF-16"}, {0, NULL}};

/* Kinds of fields that tree/fields.h does not have. An index of a title has a pointer of 4 bytes behind it. A title is generated: READ_TITLE looks up
 * the function's `title_index` and sets its `name`. */
#define FIELD_BOOL(id, label, name, blurb) FIELD(id, label, name, FT_BOOLEAN, BASE_NONE, NULL, blurb)
#define FIELD_SIGNED(id, label, name, names, blurb) \
    FIELD(id, label, name, FT_INT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(names), blurb)
#define FIELD_INDEX FIELD_U32
#define FIELD_TITLE FIELD_TEXT
#define FIELD_PADDED_SYSTEMTIME FIELD_TIME
#define READ_BOOL cursor_read_u32
#define READ_SIGNED cursor_read_u32
#define READ_INDEX read_index
#define READ_TITLE(cursor, hf) \
    (name = value_tree_add_name(cursor, hf, view->stream->response.server, metadata_title_key(title_index)), 0)
#define READ_PADDED_SYSTEMTIME(cursor, hf) (cursor_read_systemtime(cursor, hf), cursor_skip(cursor, 4), 0)

/* PERF_DATA_BLOCK, behind its signature */
#define DATA_BLOCK(X, S) \
    X(BOOL, little_endian, "Little-endian", "hkpd.little_endian", "LittleEndian: byte order of numbers") \
    X(U32, version, "Version", "hkpd.version", "Of the structure, 1 so far") \
    X(U32, revision, "Revision", "hkpd.revision", "Of the structure, 1 so far") \
    X(U32, total_size, "Total size", "hkpd.total_size", "TotalByteLength; Samba leaves the header out") \
    X(U32, header_size, "Header size", "hkpd.header_size", "HeaderLength: offset of the first object") \
    X(U32, num_objects, "Number of objects", "hkpd.num_objects", "NumObjectTypes") \
    X(SIGNED, default_object, "Default object", "hkpd.default_object", none_vals, "DefaultObject") \
    X(PADDED_SYSTEMTIME, system_time, "System time", "hkpd.system_time", "SystemTime") \
    X(U64, perf_time, "Performance time", "hkpd.perf_time", "PerfTime, in units of 1 / PerfFreq seconds") \
    X(FREQUENCY, perf_freq, "Frequency", "hkpd.perf_freq", "PerfFreq, per second") \
    X(FILETIME, perf_time_100ns, "Time", "hkpd.perf_time_100ns", "PerfTime100nSec") \
    X(U32, system_name_size, "System name size", "hkpd.system_name_size", "SystemNameLength, in bytes") \
    X(U32, system_name_offset, "System name offset", "hkpd.system_name_offset", "SystemNameOffset")

/* PERF_OBJECT_TYPE */
#define OBJECT_TYPE(X, S) \
    X(U32, object_total_size, "Total size", "hkpd.object.total_size", "TotalByteLength: to the next object") \
    X(U32, definitions_size, "Definition size", "hkpd.object.definition_size", "DefinitionLength: to the data") \
    X(U32, object_header, "Header size", "hkpd.object.header_size", "HeaderLength: to the definitions") \
    X(INDEX, object_index, "Name index", "hkpd.object.index", "ObjectNameTitleIndex") \
    X(TITLE, object_name, "Name", "hkpd.object.name", "By the title list of the server, from ObjectNameTitleIndex") \
    X(INDEX, object_help_index, "Help index", "hkpd.object.help_index", "ObjectHelpTitleIndex") \
    X(ONE_OF, object_detail_level, "Detail level", "hkpd.object.detail_level", text_detail_level_vals, "DetailLevel") \
    X(U32, num_counters, "Number of counters", "hkpd.object.num_counters", "NumCounters") \
    X(SIGNED, object_default_counter, "Default counter", "hkpd.object.default_counter", none_vals, "DefaultCounter") \
    X(SIGNED, num_instances, "Number of instances", "hkpd.object.num_instances", num_instances_vals, "NumInstances") \
    X(NAMED, code_page, "Code page", "hkpd.object.code_page", code_page_vals, "CodePage of names") \
    X(U64, object_perf_time, "Object time", "hkpd.object.perf_time", "PerfTime, of the object's own clock") \
    X(U64, object_perf_freq, "Object frequency", "hkpd.object.perf_freq", "PerfFreq, of the object's clock")

/* PERF_COUNTER_DEFINITION */
#define COUNTER_DEFINITION(X, S) \
    X(U32, definition_size, "Size", "hkpd.definition.size", "ByteLength of the definition") \
    X(INDEX, counter_index, "Name index", "hkpd.counter.index", "CounterNameTitleIndex") \
    X(TITLE, counter_name, "Name", "hkpd.counter.name", "By the title list of the server, from CounterNameTitleIndex") \
    X(INDEX, counter_help_index, "Help index", "hkpd.counter.help_index", "CounterHelpTitleIndex") \
    X(SCALE, counter_default_scale, "Default scale", "hkpd.counter.default_scale", "Power of ten, for graphs alone") \
    X(ONE_OF, detail_level, "Detail level", "hkpd.detail_level", text_detail_level_vals, "DetailLevel") \
    X(TYPE, type, "Counter type", "hkpd.counter.type") \
    X(U32, counter_size, "Counter size", "hkpd.counter.size", "CounterSize: bytes of a value") \
    X(U32, counter_offset, "Counter offset", "hkpd.counter.offset", "CounterOffset, from the counter block's start")

/* PERF_INSTANCE_DEFINITION */
#define INSTANCE_DEFINITION(X, S) \
    X(U32, instance_size, "Size", "hkpd.instance.size", "ByteLength of definition, name and padding") \
    X(U32, parent_object, "Parent object", "hkpd.instance.parent_object_index", "Its title index, 0: none") \
    X(U32, parent_instance, "Parent instance", "hkpd.instance.parent_instance", "Its number in the parent object") \
    X(SIGNED, instance_unique_id, "Unique id", "hkpd.instance.unique_id", unique_id_vals, "UniqueID") \
    X(U32, instance_name_offset, "Name offset", "hkpd.instance.name_offset", "NameOffset") \
    X(U32, instance_name_size, "Name size", "hkpd.instance.name_size", "NameLength, in bytes")

#define STRUCTURES(X, S) DATA_BLOCK(X, S) OBJECT_TYPE(X, S) COUNTER_DEFINITION(X, S) INSTANCE_DEFINITION(X, S)

STRUCTURES(FIELD_ID, FIELD_SHARED)
static int hf_data_block, hf_system_name, hf_object, hf_definition, hf_instance, hf_instance_name, hf_title,
    hf_title_index, hf_title_text, hf_title_bytes, hf_counter_block, hf_counter_block_size, hf_counter_data;

static int ett_data_block = -1, ett_object = -1, ett_definition = -1, ett_instance = -1, ett_title = -1,
           ett_counter_block = -1, ett_counter_data = -1;

/* Reads a title index, and passes over the pointer of 4 bytes behind it, which means nothing on the wire. */
static uint32_t read_index(buffer_cursor *cursor, int hf)
{
    uint32_t title_index = cursor_read_u32(cursor, hf);

    cursor_skip(cursor, 4);
    return title_index;
}

/* --- PERF_DATA_BLOCK ------------------------------------------------------------------------------------------- */

/* Shows a name of `size` bytes without its terminator, in `room` bytes, and reports its half characters. Returns it in the packet's pool. */
static const char *hkpd_show_name(const value_tree *view, const buffer_cursor *cursor, int hf, uint32_t offset,
                                  uint32_t size, uint32_t room, uint32_t code_page)
{
    const char *name = text_get(cursor->report->pinfo->pool, view->tvb, offset, size, code_page,
                                hkpd_text_order(view->table), TEXT_NAME_MAX);

    proto_item *item = proto_tree_add_string(cursor->tree, hf, view->tvb, (int)offset, (int)room, name);

    cursor_report_halves(cursor->report, item, name);
    return name;
}

/* value_tree_ops.show_header: adds PERF_DATA_BLOCK. Its node is HeaderLength long, or all the data if that cannot be. */
static proto_item *hkpd_show_header(value_tree *view)
{
    uint32_t size = view->table->size, header = size >= PERF_DATA_BLOCK_SIZE ? perf_table_u32(view->table, 24) : 0;
    buffer_cursor cursor;

    value_tree_enter(view, view->tree, hf_data_block, ett_data_block, 0,
                     header >= PERF_DATA_BLOCK_SIZE && header <= size ? header : size, &cursor);
    cursor_skip(&cursor, PERF_SIGNATURE_SIZE);
    FIELDS_READ(DATA_BLOCK)
    if (view->table->system_name > 0) {
        proto_item_append_text(cursor.node, " of %s",
                               hkpd_show_name(view, &cursor, hf_system_name, view->table->system_name,
                                              view->table->system_name_size, read.system_name_size,
                                              TEXT_CODE_PAGE_UTF16));
    }
    proto_item_append_text(cursor.node, ": %u objects, %" PRIu64 " values", view->table->num_groups,
                           view->table->values);
    return cursor.node;
}

/* Shows a column's PERF_COUNTER_DEFINITION in `tree`. */
static void show_definition(value_tree *view, proto_tree *tree, const perf_column *column)
{
    const char *name;
    uint32_t title_index = column->id;
    buffer_cursor cursor;

    value_tree_enter(view, tree, hf_definition, ett_definition, column->offset,
                     perf_table_u32(view->table, column->offset), &cursor);
    FIELDS_READ(COUNTER_DEFINITION)
    proto_item_append_text(cursor.node, ": %s (%u), %s", name ? name : "name not known", title_index,
                           val_to_str_const(read.type, text_counter_type_vals, "unknown type"));
}

/* value_tree_ops.show_group: PERF_OBJECT_TYPE and its definitions, of which those without room in the tree are counted. */
static proto_tree *hkpd_show_object(value_tree *view, const perf_group *group)
{
    uint32_t title_index = group->key;
    const char *name;
    buffer_cursor cursor;

    value_tree_enter(view, view->tree, hf_object, ett_object, group->offset, group->end - group->offset, &cursor);
    FIELDS_READ(OBJECT_TYPE)
    value_tree_add_previous(view, cursor.tree);
    proto_item_append_text(cursor.node, ": %s (%u), %u counters", name ? name : "name not known", title_index,
                           read.num_counters);
    if (group->has_instances) {
        proto_item_append_text(cursor.node, ", %u instances", read.num_instances);
    } else if (!group->has_values) {
        proto_item_append_text(cursor.node, ", without values");
    }
    for (uint32_t i = 0; i < group->columns && tree_has_room(view->tree); i++) {
        show_definition(view, cursor.tree, perf_table_column(view->table, group, i));
    }
    return cursor.tree;
}

/* Shows a row's PERF_INSTANCE_DEFINITION in `tree`. Returns its tree. */
static proto_tree *hkpd_show_instance(value_tree *view, const perf_group *group, uint32_t row, proto_tree *tree)
{
    uint32_t at = perf_table_row(view->table, group, row)->offset;
    buffer_cursor cursor;

    value_tree_enter(view, tree, hf_instance, ett_instance, at, perf_table_u32(view->table, at), &cursor);
    FIELDS_READ(INSTANCE_DEFINITION)
    uint32_t size, name = perf_table_name(view->table, group, row, &size);
    if (read.instance_name_size > 0) {
        hkpd_show_name(view, &cursor, hf_instance_name, name, size, read.instance_name_size, group->code_page);
    }
    proto_item_append_text(cursor.node, " %u: %s", row, value_stream_instance(view->stream));
    return cursor.tree;
}

/* value_tree_ops.show_row: its instance, if the object has any, and in that its PERF_COUNTER_BLOCK, if one was read, for the values. */
static proto_tree *hkpd_show_row(value_tree *view, const perf_group *group, uint32_t number, proto_tree *tree)
{
    const perf_row *row = perf_table_row(view->table, group, number);
    buffer_cursor cursor;

    tree = group->has_instances ? hkpd_show_instance(view, group, number, tree) : tree;
    if (row->cells == 0) {
        return tree;
    }
    value_tree_enter(view, tree, hf_counter_block, ett_counter_block, row->cells, row->block_size, &cursor);
    cursor_read_u32(&cursor, hf_counter_block_size);
    proto_item_append_text(cursor.node, ": %u values", group->columns);
    return cursor.tree;
}

/* value_tree_ops.show_value. */
static void hkpd_show_value(value_tree *view, proto_tree *tree)
{
    const perf_cell *at = &view->stream->now.at;

    tree = value_tree_add_value(view, tree, hf_counter_data, ett_counter_data, at->offset, at->size);
    value_tree_add_sent(view, tree);
}

/* Fields of structures. Those of values are registered with value_fields_register(). */
static hf_register_info structure_fields[] = {
    FIELD_NODE(hf_data_block, "Performance data", "hkpd.data_block", "PERF_DATA_BLOCK"),
    FIELD_TEXT(hf_system_name, "System name", "hkpd.system_name", "The monitored computer"),
    FIELD_NODE(hf_object, "Object", "hkpd.object", "PERF_OBJECT_TYPE and its data"),
    FIELD_NODE(hf_definition, "Counter definition", "hkpd.counter_definition", "PERF_COUNTER_DEFINITION"),
    FIELD_NODE(hf_instance, "Instance", "hkpd.instance", "PERF_INSTANCE_DEFINITION"),
    FIELD_TEXT(hf_instance_name, "Instance name", "hkpd.instance.name", "In UTF-16, or in the code page of the object"),
    FIELD_NODE(hf_counter_block, "Counter block", "hkpd.counter_block", "PERF_COUNTER_BLOCK"),
    FIELD_U32(hf_counter_block_size, "Size", "hkpd.counter_block.size", "ByteLength"),
    FIELD_NODE(hf_counter_data, "Counter data", "pcq.counter_data", "Value of one definition"),
    STRUCTURES(FIELD_ROW, FIELD_SHARED)};

/* --- Lists of titles ---------------------------------------------------------------------------------------------- */

/* Returns where the string at `offset` ends, behind its terminator; 0: it has none. */
static uint32_t find_string_end(tvbuff_t *tvb, uint32_t offset)
{
    uint32_t left = tvb_captured_length(tvb) - offset, size = text_utf16_size(tvb, offset, left);

    return size + 2 <= left ? offset + size + 2 : 0;
}

/* Returns where the string behind an index ends, a `number` of 32 bits in digits at `offset`; 0: there is no index. */
static uint32_t find_index_end(tvbuff_t *tvb, uint32_t offset, uint32_t *number)
{
    uint32_t end = find_string_end(tvb, offset);
    char *digits =
        (char *)tvb_get_string_enc(NULL, tvb, offset, end > 0 ? end - offset : 0, ENC_UTF_16 | ENC_LITTLE_ENDIAN);
    bool is_number = g_ascii_isdigit(*digits) && ws_strtou32(digits, NULL, number);

    wmem_free(NULL, digits);
    return is_number ? end : 0;
}

/* True if nothing but zeros follows `offset`, and perhaps a byte that is half a character. */
static bool is_list_end(tvbuff_t *tvb, uint32_t offset)
{
    uint32_t end = tvb_captured_length(tvb);

    while (end - offset >= 2 && tvb_get_letohs(tvb, offset) == 0) {
        offset += 2;
    }
    return end - offset < 2;
}

/* Marks the list as damaged at an offset. Changes: `is_damaged`; `damage`, if it is the first. */
static void note_list_damage(hkpd_title_list *list, uint32_t at)
{
    list->damage = list->is_damaged ? list->damage : at;
    list->is_damaged = true;
}

bool hkpd_next_title(hkpd_title_list *list)
{
    uint32_t size = tvb_captured_length(list->tvb), at = list->end, number;

    if (is_list_end(list->tvb, at)) {
        if (size - at < 2) { /* it has no terminator */
            note_list_damage(list, at);
        }
        return false;
    }
    list->offset = at;
    list->text = find_index_end(list->tvb, at, &list->index);
    list->end = list->text > 0 ? find_string_end(list->tvb, list->text) : 0;
    list->is_title = list->end > 0;
    if (list->is_title) {
        list->titles++;
        bool is_followed = is_list_end(list->tvb, list->end) || find_index_end(list->tvb, list->end, &number) > 0;
        list->is_assumed = list->is_damaged || !is_followed; /* its text may be the end of another one */
        return true;
    }
    note_list_damage(list, at);
    do {
        at = find_string_end(list->tvb, at);
    } while (at > 0 && find_index_end(list->tvb, at, &number) == 0);
    list->end = at > 0 ? at : size;
    return true;
}

/* Shows a title, or the bytes that are none. */
static void show_title(const hkpd_title_list *list, proto_tree *tree, expert_report *report)
{
    uint32_t size = list->end - list->offset;
    proto_item *item = proto_tree_add_item(tree, hf_title, list->tvb, list->offset, size, ENC_NA);
    buffer_cursor cursor;

    cursor_init(&cursor, list->tvb, proto_item_add_subtree(item, ett_title), report, ENC_LITTLE_ENDIAN);
    if (!list->is_title) {
        proto_tree_add_item(cursor.tree, hf_title_bytes, list->tvb, list->offset, size, ENC_NA);
        proto_item_append_text(item, ": %u bytes that are no index with its text", size);
        return;
    }
    cursor.pos = list->text;
    proto_tree_add_uint(cursor.tree, hf_title_index, list->tvb, list->offset, list->text - list->offset, list->index);
    const char *text = cursor_read_text(&cursor, hf_title_text, list->end - list->text, TEXT_WHOLE);
    proto_item_append_text(item, *text ? ": %u %s" : ": %u", list->index, text);
}

hkpd_title_list hkpd_show_titles(tvbuff_t *tvb, proto_tree *tree, expert_report *report)
{
    hkpd_title_list list = {.tvb = tvb};
    bool is_referenced = proto_field_is_referenced(tree, proto_hkpd);
    uint32_t hidden = 0;

    while (hkpd_next_title(&list)) {
        if (is_referenced && tree_has_room(tree)) {
            show_title(&list, tree, report);
        } else {
            hidden += is_referenced;
        }
    }
    if (list.is_damaged) {
        expert_report_add(report, tree, EI_TEXT, "Byte %u of the list begins neither a title nor the list's end",
                          list.damage);
    }
    if (hidden > 0) {
        expert_report_add(report, tree, EI_NOT_SHOWN, "%u titles are not shown, a packet's tree is limited", hidden);
    }
    return list;
}

const value_tree_ops hkpd_tree_ops = {.structures = structure_fields,
                                      .num_structures = array_length(structure_fields),
                                      .show_header = hkpd_show_header,
                                      .show_group = hkpd_show_object,
                                      .show_row = hkpd_show_row,
                                      .show_value = hkpd_show_value};

void hkpd_buffers_register(int proto)
{
    static hf_register_info hf[] = {
        FIELD_NODE(hf_title, "Title", "hkpd.title", "An index and its text"),
        FIELD_U32(hf_title_index, "Index", "hkpd.title.index", "Even ones are names, odd ones help texts"),
        FIELD_TEXT(hf_title_text, "Text", "hkpd.title.text", "Name or explanation that the index stands for"),
        FIELD_BYTES(hf_title_bytes, "Bytes", "hkpd.title.bytes", "Bytes of the list that are no index with its text"),
    };
    static int *ett[] = {&ett_data_block, &ett_object,        &ett_definition,  &ett_instance,
                         &ett_title,      &ett_counter_block, &ett_counter_data};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    proto_hkpd = proto;
    value_fields_register(proto, &hkpd_tree_ops);
}
