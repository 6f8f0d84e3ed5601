/* hkpd-buffers.c
 * What HKEY_PERFORMANCE_DATA answers, in the tree and the Info column: lists of titles ("Counter 009", "Help 009"), and
 * PERF_DATA_BLOCK (winperf.h) with the structures around its values.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd.h"

#include "tree/fields.h"
#include "text/value-strings.h"

static int proto_hkpd = -1;
static const value_string num_instances_vals[] = {
    {(uint32_t)PERF_INSTANCES_NONE, "PERF_NO_INSTANCES"},
    {(uint32_t)PERF_INSTANCES_METADATA_MULTIPLE, "PERF_METADATA_MULTIPLE_INSTANCES"},
    {(uint32_t)PERF_INSTANCES_METADATA_NONE, "PERF_METADATA_NO_INSTANCES"},
    {0, NULL},
};
static const value_string none_vals[] = {{0xFFFFFFFFU, "none"}, {0, NULL}};
static const value_string unique_id_vals[] = {{PERF_NO_UNIQUE_ID, "PERF_NO_UNIQUE_ID"}, {0, NULL}};
static const value_string code_page_vals[] = {{0, "UTF-16"}, {1200, "UTF-16"}, {0, NULL}};

/* What some fields are read as, beside those of tree/fields.h: an index of a title has a pointer of 4 bytes behind it, and the title
 * itself is learned. */
#define FIELD_BOOL(id, label, name, blurb) FIELD(id, label, name, FT_BOOLEAN, BASE_NONE, NULL, blurb)
#define FIELD_SIGNED(id, label, name, names, blurb) \
    FIELD(id, label, name, FT_INT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(names), blurb)
#define FIELD_INDEX FIELD_U32
#define FIELD_TITLE FIELD_TEXT
#define FIELD_PADDED_SYSTEMTIME FIELD_TIME
#define FIELD_CODE_PAGE FIELD_NAMED
#define READ_BOOL cursor_read_u32
#define READ_SIGNED cursor_read_u32
#define READ_INDEX read_index
#define READ_TITLE(cursor, hf) (name = add_known_title(view, cursor, hf, title_index), 0)
#define READ_PADDED_SYSTEMTIME(cursor, hf) (cursor_read_systemtime(cursor, hf), cursor_skip(cursor, 4), 0)
#define READ_CODE_PAGE read_code_page
#define READ_TYPE(cursor, hf) values_read_counter_type(cursor, &fields.types)

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
    X(U32, object_definition_size, "Definition size", "hkpd.object.definition_size", \
      "DefinitionLength: to the first instance or counter block") \
    X(U32, object_header_size, "Header size", "hkpd.object.header_size", \
      "HeaderLength: to the first counter definition") \
    X(INDEX, object_index, "Name index", "hkpd.object.index", "ObjectNameTitleIndex") \
    X(TITLE, object_name, "Name", "hkpd.object.name", "By the title list of the server, from ObjectNameTitleIndex") \
    X(INDEX, object_help_index, "Help index", "hkpd.object.help_index", "ObjectHelpTitleIndex") \
    X(ONE_OF, object_detail_level, "Detail level", "hkpd.object.detail_level", text_detail_level_vals, "DetailLevel") \
    X(U32, object_num_counters, "Number of counters", "hkpd.object.num_counters", "NumCounters") \
    X(SIGNED, object_default_counter, "Default counter", "hkpd.object.default_counter", none_vals, "DefaultCounter") \
    X(SIGNED, object_num_instances, "Number of instances", "hkpd.object.num_instances", num_instances_vals, \
      "NumInstances") \
    X(CODE_PAGE, object_code_page, "Code page", "hkpd.object.code_page", code_page_vals, \
      "CodePage of the instance names") \
    X(U64, object_perf_time, "Object time", "hkpd.object.perf_time", "PerfTime, of the object's own clock") \
    X(U64, object_perf_freq, "Object frequency", "hkpd.object.perf_freq", "PerfFreq, of the object's clock")

/* PERF_COUNTER_DEFINITION */
#define COUNTER_DEFINITION(X, S) \
    X(U32, definition_size, "Size", "hkpd.definition.size", "ByteLength of the definition") \
    X(INDEX, counter_index, "Name index", "hkpd.counter.index", "CounterNameTitleIndex") \
    X(TITLE, counter_name, "Name", "hkpd.counter.name", "By the title list of the server, from CounterNameTitleIndex") \
    X(INDEX, counter_help_index, "Help index", "hkpd.counter.help_index", "CounterHelpTitleIndex") \
    X(SCALE, counter_default_scale, "Default scale", "hkpd.counter.default_scale", \
      "DefaultScale: a power of ten, for graphs") \
    X(ONE_OF, detail_level, "Detail level", "hkpd.detail_level", text_detail_level_vals, "DetailLevel") \
    S(TYPE, type) \
    X(U32, counter_size, "Counter size", "hkpd.counter.size", "CounterSize: bytes of a value") \
    X(U32, counter_offset, "Counter offset", "hkpd.counter.offset", "CounterOffset, from the counter block's start")

/* PERF_INSTANCE_DEFINITION */
#define INSTANCE_DEFINITION(X, S) \
    X(U32, instance_size, "Size", "hkpd.instance.size", "ByteLength of definition, name and padding") \
    X(U32, instance_parent_object, "Parent object", "hkpd.instance.parent_object_index", \
      "ParentObjectTitleIndex, 0 without a parent") \
    X(U32, instance_parent_instance, "Parent instance", "hkpd.instance.parent_instance", \
      "ParentObjectInstance: its number in the parent object") \
    X(SIGNED, instance_unique_id, "Unique id", "hkpd.instance.unique_id", unique_id_vals, "UniqueID") \
    X(U32, instance_name_offset, "Name offset", "hkpd.instance.name_offset", "NameOffset") \
    X(U32, instance_name_size, "Name size", "hkpd.instance.name_size", "NameLength, in bytes")

#define STRUCTURES(X, S) DATA_BLOCK(X, S) OBJECT_TYPE(X, S) COUNTER_DEFINITION(X, S) INSTANCE_DEFINITION(X, S)

STRUCTURES(FIELD_ID, FIELD_SHARED)
static int hf_data_block, hf_system_name, hf_object, hf_definition, hf_instance, hf_instance_name, hf_title,
    hf_title_index, hf_title_text, hf_title_bytes, hf_counter_block, hf_counter_block_size, hf_counter_data;

static int ett_data_block = -1, ett_object = -1, ett_definition = -1, ett_instance = -1, ett_title = -1,
           ett_counter_block = -1, ett_counter_data = -1;

/* The state of showing one block. */
typedef struct {
    answer_view base;
    const perf_block_summary *summary;
    perf_block_walk *walk;
    proto_tree *object;   /* of the current object, NULL if it is not shown */
    bool has_group;       /* the object is in the table */
    proto_tree *body;     /* of the current instance, else the object */
    proto_tree *counters; /* of the current counter block, NULL if only short forms are shown */
} hkpd_view;

/* --- The structures around values --------------------------------------------------------------------------------- */

/* Items of the tree that a structure takes, with what is known of it. */
#define ITEMS_OF_OBJECT 24
#define ITEMS_OF_DEFINITION 24
#define ITEMS_OF_INSTANCE 9
#define ITEMS_OF_COUNTER_BLOCK 2
#define ITEMS_OF_VALUE 4

static value_fields fields;

static const char *add_known_title(hkpd_view *view, buffer_cursor *cursor, int hf, uint32_t title_index)
{
    const counter_response *answer = &view->base.stream->response;

    return values_add_name(cursor, hf, answer->server, facts_title_subject(title_index), answer->event);
}

static uint32_t read_index(buffer_cursor *cursor, int hf)
{
    uint32_t title_index = cursor_read_u32(cursor, hf);

    cursor_skip(cursor, 4);
    return title_index;
}

static uint32_t read_code_page(buffer_cursor *cursor, int hf)
{
    uint32_t code_page = cursor_read_u32(cursor, hf);

    if (!text_code_page_known(code_page)) {
        findings_add(cursor->report, cursor->item, FINDING_CODE_PAGE,
                     "CodePage %u cannot be converted: bytes of names beyond ASCII are shown as \\x..", code_page);
    }
    return code_page;
}

/* --- PERF_DATA_BLOCK ------------------------------------------------------------------------------------------- */

/* Shows a name of `size` bytes, of which `highlight_size` are highlighted: its terminator is too, if it has one. Returns the name in the
 * packet's pool. */
static const char *show_name(hkpd_view *view, buffer_cursor *cursor, int hf, uint32_t at, uint32_t size,
                             uint32_t highlight_size, uint32_t code_page, const char *what)
{
    unsigned order = view->walk->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;
    tvbuff_t *tvb = view->base.tvb;
    const char *name = text_get(cursor_pinfo(cursor)->pool, tvb, at, size, code_page, order, TEXT_NAME_MAX);
    proto_item *item = proto_tree_add_string(cursor->tree, hf, tvb, at, highlight_size, name);

    if (text_is_wide(code_page)) {
        text_check_utf16(cursor->report, item, tvb, at, size, order, what);
    }
    return name;
}

static void show_system_name(hkpd_view *view, buffer_cursor *cursor)
{
    uint32_t at = view->walk->header.name, size = view->walk->header.name_size, room = view->walk->header.name_room;

    if (room > 0 && cursor->tree) {
        const char *name = show_name(view, cursor, hf_system_name, at, size, size + 2 <= room ? size + 2 : size,
                                     TEXT_CODE_PAGE_UNICODE, "The system name");
        proto_item_append_text(cursor->node, " of %s", name);
    }
}

/* What the walk has just announced. */
static void show_header(hkpd_view *view)
{
    buffer_cursor cursor;

    view->base.encoding = view->walk->big_endian ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;
    values_open_structure(&view->base, view->base.tree, hf_data_block, ett_data_block, 0,
                          view->walk->header.size > 0 ? view->walk->header.size : view->walk->size, &cursor);
    cursor_skip(&cursor, PERF_SIGNATURE_SIZE);
    FIELDS_READ(DATA_BLOCK)
    show_system_name(view, &cursor);
    proto_item_append_text(cursor.node, ": %u objects, %" PRIu64 " values", view->summary->objects,
                           view->summary->values);
    view->base.header = cursor.node;
}

static void label_object(hkpd_view *view, const buffer_cursor *cursor, const char *name)
{
    proto_item *item = cursor->node;
    const perf_block_walk *walk = view->walk;
    uint32_t counters = perf_block_u32(walk, walk->object.offset + 32);

    proto_item_append_text(item, ": %s (%u), %u counters", name ? name : "name not known", walk->object.index,
                           counters);
    if (walk->object.num_instances >= 0) {
        proto_item_append_text(item, ", %d instances", walk->object.num_instances);
    } else if (walk->object.num_instances != PERF_INSTANCES_NONE) {
        proto_item_append_text(item, ", without values");
    }
}

/* PERF_OBJECT_TYPE */
static void show_object(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    buffer_cursor cursor;
    bool shown = tree_budget_take_any(&view->base.budget, ITEMS_OF_OBJECT);
    uint32_t title_index = walk->object.index;
    const char *name;

    view->base.budget.others_hidden += !shown;
    view->base.structure = NULL;
    view->object = view->body = view->counters = NULL;
    if (!shown) {
        return;
    }
    values_open_structure(&view->base, view->base.tree, hf_object, ett_object, walk->object.offset,
                          walk->object.end - walk->object.offset, &cursor);
    FIELDS_READ(OBJECT_TYPE)
    values_samples(&view->base, cursor.tree);
    label_object(view, &cursor, name);
    view->object = view->body = cursor.tree;
}

/* PERF_COUNTER_DEFINITION */
static void show_definition(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    bool is_hidden = view->object == NULL && view->base.tree;
    uint32_t title_index = perf_block_u32(walk, walk->definition.offset + 4);
    const char *name;
    buffer_cursor cursor;

    view->base.structure = NULL;
    if (is_hidden || !tree_budget_take(&view->base.budget, ITEMS_OF_DEFINITION)) {
        view->base.budget.others_hidden++;
        return;
    }
    values_open_structure(&view->base, view->object, hf_definition, ett_definition, walk->definition.offset,
                          walk->definition.size, &cursor);
    FIELDS_READ(COUNTER_DEFINITION)
    proto_item_append_text(cursor.node, ": %s (%u), %s", name ? name : "name not known", title_index,
                           val_to_str_const(read.type, text_counter_type_vals, "unknown type"));
}

static const char *hkpd_instance_label(hkpd_view *view)
{
    value_stream *stream = view->base.stream;

    if (view->has_group && view->walk->instance.number < stream->group->rows) {
        stream->at.row = view->walk->instance.number;
        return value_stream_instance(stream);
    }
    return "";
}

/* PERF_INSTANCE_DEFINITION */
static void show_instance(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    buffer_cursor cursor;

    view->base.structure = NULL;
    view->body = view->object;
    if (view->object == NULL || !tree_budget_take(&view->base.budget, ITEMS_OF_INSTANCE)) {
        view->base.budget.others_hidden += walk->object.num_definitions == 0;
        return;
    }
    values_open_structure(&view->base, view->object, hf_instance, ett_instance, walk->instance.offset,
                          walk->instance.size, &cursor);
    FIELDS_READ(INSTANCE_DEFINITION)
    if (walk->instance.name_room > 0 && cursor.tree) {
        show_name(view, &cursor, hf_instance_name, walk->instance.name, walk->instance.name_size,
                  walk->instance.name_room, walk->object.code_page, "The instance's name");
    }
    proto_item_append_text(cursor.node, " %u: %s", walk->instance.number, hkpd_instance_label(view));
    view->body = cursor.tree;
}

/* Everything but values, which are asked for by themselves. */
static hf_register_info structure_fields[] = {
    FIELD_NODE(hf_data_block, "Performance data", "hkpd.data_block", "PERF_DATA_BLOCK"),
    FIELD_TEXT(hf_system_name, "System name", "hkpd.system_name", "The monitored computer"),
    FIELD_NODE(hf_object, "Object", "hkpd.object", "PERF_OBJECT_TYPE and its data"),
    FIELD_NODE(hf_definition, "Counter definition", "hkpd.counter_definition", "PERF_COUNTER_DEFINITION"),
    FIELD_NODE(hf_instance, "Instance", "hkpd.instance", "PERF_INSTANCE_DEFINITION"),
    FIELD_TEXT(hf_instance_name, "Instance name", "hkpd.instance.name", "In UTF-16, or in the code page of the object"),
    FIELD_NODE(hf_counter_block, "Counter block", "hkpd.counter_block", "PERF_COUNTER_BLOCK"),
    FIELD_U32(hf_counter_block_size, "Size", "hkpd.counter_block.size", "ByteLength"),
    FIELD_NODE(hf_counter_data, "Counter data", "pcq.counter_data",
               "PERF_COUNTER_DATA, or what one definition defines"),
    STRUCTURES(FIELD_ROW, FIELD_SHARED)};

/* --- Lists of titles ---------------------------------------------------------------------------------------------- */

/* Items of the tree that a title takes. */
#define ITEMS_OF_TITLE 4

/* Returns the size of the string at `offset` without its terminator. `*behind`: where the next one begins; the end of the list if it has no
 * terminator. */
static uint32_t read_string(tvbuff_t *tvb, uint32_t offset, uint32_t *behind)
{
    uint32_t end = tvb_captured_length(tvb), size = text_utf16_size(tvb, offset, end - offset);

    *behind = MIN(offset + size + 2, end);
    return size;
}

/* True if the string at `offset` is a number of 32 bits in digits, and has a terminator. */
static bool is_index_at(tvbuff_t *tvb, uint32_t offset, uint32_t *index, uint32_t *behind)
{
    uint32_t size = read_string(tvb, offset, behind);
    uint64_t value = 0;

    for (uint32_t i = 0; i < size; i += 2) {
        unsigned digit = tvb_get_uint16(tvb, offset + i, ENC_LITTLE_ENDIAN);
        if (digit < '0' || digit > '9' || value > UINT32_MAX) {
            return false;
        }
        value = 10 * value + (digit - '0');
    }
    *index = (uint32_t)value;
    return size > 0 && value <= UINT32_MAX && *behind - offset == size + 2;
}

/* True if nothing but zeros follows, and perhaps a byte that is half a character. */
static bool is_list_end(tvbuff_t *tvb, uint32_t offset)
{
    uint32_t end = tvb_captured_length(tvb);

    while (end - offset >= 2 && tvb_get_uint16(tvb, offset, ENC_LITTLE_ENDIAN) == 0) {
        offset += 2;
    }
    return end - offset < 2;
}

/* The bytes from `offset` to the next string that is an index. */
static void skip_to_index(hkpd_title_list *list, uint32_t offset)
{
    uint32_t end = tvb_captured_length(list->tvb), index, behind;

    list->offset = offset;
    list->is_title = false;
    list->is_damaged = true;
    do {
        read_string(list->tvb, offset, &offset);
    } while (offset < end && !is_index_at(list->tvb, offset, &index, &behind));
    list->end = offset;
}

bool hkpd_next_title(hkpd_title_list *list)
{
    uint32_t at = list->end, end = tvb_captured_length(list->tvb), index, behind;

    if (is_list_end(list->tvb, at)) {
        list->lacks_end = end - at < 2;
        return false;
    }
    if (is_index_at(list->tvb, at, &list->index, &list->text) && list->text < end) {
        list->text_size = read_string(list->tvb, list->text, &list->end);
        list->offset = at;
        list->is_title = list->end - list->text == list->text_size + 2;
    } else {
        list->is_title = false;
    }
    if (!list->is_title) {
        skip_to_index(list, at);
        return true;
    }
    list->titles++;
    /* the text in front of bytes that are no title may have taken what is missing there */
    list->is_assumed =
        list->is_damaged || (!is_index_at(list->tvb, list->end, &index, &behind) && !is_list_end(list->tvb, list->end));
    return true;
}

const char *hkpd_title_text(const hkpd_title_list *list, wmem_allocator_t *pool)
{
    return text_get(pool, list->tvb, list->text, list->text_size, TEXT_CODE_PAGE_UTF16, ENC_LITTLE_ENDIAN,
                    TEXT_NAME_MAX);
}

/* Shows a title, or the bytes that are none. */
static void show_title(const hkpd_title_list *list, proto_tree *tree, findings_report *report)
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
    const char *text = cursor_read_text(&cursor, hf_title_text, list->end - list->text, TEXT_WHOLE, "The title");
    proto_item_append_text(item, *text ? ": %u %s" : ": %u", list->index, text);
}

/* Reports the first bytes of a list that are no title, or that the list has no end. */
static void report_damaged_titles(const hkpd_title_list *list, uint32_t first_damage, findings_report *report,
                                  proto_item *item)
{
    if (list->is_damaged) {
        findings_add(report, item, FINDING_TEXT,
                     "Byte %u of the list begins no index with its text: titles from there on are assumed",
                     first_damage);
    } else if (list->lacks_end) {
        findings_add(report, item, FINDING_TEXT, "The list of titles ends without its terminator");
    }
}

hkpd_title_list hkpd_show_titles(tvbuff_t *tvb, proto_tree *tree, findings_report *report)
{
    tree_budget budget;
    hkpd_title_list list = {.tvb = tvb};
    bool is_referenced = proto_field_is_referenced(tree, proto_hkpd), was_damaged = false;
    uint32_t first_damage = 0;

    tree_budget_init(&budget, tree, 0, tvb_captured_length(tvb));
    while (hkpd_next_title(&list)) {
        if (list.is_damaged && !was_damaged) {
            was_damaged = true;
            first_damage = list.offset;
        }
        if (list.is_title && !is_referenced) {
            continue;
        }
        if (tree_budget_take_any(&budget, ITEMS_OF_TITLE)) {
            show_title(&list, tree, report);
        } else {
            budget.others_hidden++;
        }
    }
    report_damaged_titles(&list, first_damage, report, proto_tree_get_parent(tree));
    tree_budget_report(&budget, report, proto_tree_get_parent(tree), "titles");
    return list;
}

/* --- Which objects make a sample ---------------------------------------------------------------------------------- */

/* Those of `unsound` title indexes are no sample, nor those whose instances' parents are in one: which instance is which is not
 * certain then. */
static void drop_unsound(perf_block_walk walk, wmem_map_t *unsound, wmem_array_t *objects)
{
    perf_block_event event;

    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        bool has_parent = event == PERF_BLOCK_INSTANCE && walk.instance.parent_object != 0;
        uint32_t told_by = has_parent ? walk.instance.parent_object : walk.object.index;
        if (walk.object.number != UINT32_MAX && wmem_map_contains(unsound, GUINT_TO_POINTER(told_by))) {
            *(uint32_t *)wmem_array_index(objects, walk.object.number) = PERF_NO_OBJECT;
        }
        perf_block_skip_values(&walk);
    }
}

/* Of a block without a fault nothing but its objects is looked at. */
static perf_block_event next_object(perf_block_walk *walk, bool has_faults)
{
    perf_block_skip_values(walk);
    return has_faults ? perf_block_next(walk) : perf_block_next_object(walk) ? PERF_BLOCK_OBJECT : PERF_BLOCK_END;
}

const uint32_t *hkpd_objects(tvbuff_t *tvb, wmem_allocator_t *pool, bool has_faults, uint32_t *count)
{
    wmem_array_t *objects = wmem_array_new(pool, sizeof(uint32_t));
    wmem_map_t *seen = wmem_map_new(pool, g_direct_hash, g_direct_equal);    /* title indexes, */
    wmem_map_t *unsound = wmem_map_new(pool, g_direct_hash, g_direct_equal); /* and those in the answer twice */
    perf_block_event event;
    perf_block_walk begin, walk;

    perf_block_init(&begin, tvb_get_ptr(tvb, 0, -1), tvb_captured_length(tvb));
    for (walk = begin; (event = next_object(&walk, has_faults)) != PERF_BLOCK_END;) {
        void *title_index = GUINT_TO_POINTER(walk.object.index);
        bool is_unsound = event == PERF_BLOCK_FAULT && perf_block_does_harm(&walk);
        if (event == PERF_BLOCK_OBJECT) {
            uint32_t holds = perf_block_holds_values(&walk) ? walk.object.index : PERF_NO_OBJECT;
            wmem_array_append_one(objects, holds);
            is_unsound = wmem_map_insert(seen, title_index, GUINT_TO_POINTER(1)) != NULL;
        }
        if (is_unsound) {
            wmem_map_insert(unsound, title_index, GUINT_TO_POINTER(1));
        }
    }
    if (wmem_map_size(unsound) > 0) {
        drop_unsound(begin, unsound, objects);
    }
    *count = wmem_array_get_count(objects);
    return wmem_array_get_raw(objects);
}

/* --- PERF_COUNTER_BLOCK and its values ------------------------------------------------------------------------- */

static void show_counters(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    buffer_cursor cursor;

    view->base.structure = NULL;
    view->counters = NULL;
    if (view->body == NULL || !tree_budget_take(&view->base.budget, ITEMS_OF_COUNTER_BLOCK)) {
        return;
    }
    values_open_structure(&view->base, view->body, hf_counter_block, ett_counter_block, walk->counters.offset,
                          walk->counters.size, &cursor);
    cursor_read_u32(&cursor, hf_counter_block_size);
    proto_item_append_text(cursor.node, ": %u values", walk->object.num_definitions - (walk->object.misplaced > 0));
    view->counters = cursor.tree;
}

static void show_value(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    const value_structure structure = {hf_counter_data, ett_counter_data, walk->value.offset, walk->value.size,
                                       ITEMS_OF_VALUE};
    value_stream *stream = view->base.stream;
    uint32_t row = walk->instance.number == PERF_NO_INSTANCE_NUMBER ? 0 : walk->instance.number;

    if (!view->has_group || row >= stream->group->rows || walk->value.column >= stream->group->columns ||
        !value_stream_go_to(stream, row, walk->value.column)) {
        return;
    }
    uint64_t hidden = view->base.budget.values_hidden;
    proto_tree *tree = values_show(&view->base, view->counters, view->object, &structure);

    if (tree) {
        values_sent(&view->base, tree);
    } else if (view->base.budget.values_hidden > hidden) {
        /* what has no room any more is not walked either: many definitions can share the same bytes in many instances */
        uint64_t left = perf_block_values_left(walk);
        view->base.budget.values_hidden += left;
        view->base.budget.values_left -= left;
        perf_block_skip_values(view->walk);
    }
}

/* --- The block ------------------------------------------------------------------------------------------------- */

static void show_fault(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;

    if (walk->fault.what == PERF_BLOCK_FAULT_HEADER_SHORT) {
        show_header(view); /* as much of it as is there, then it throws */
    } else {
        values_fault(&view->base, view->object, walk->object.offset, perf_block_fault_infos, &walk->fault);
    }
}

static void show_structures(void *data)
{
    hkpd_view *view = data;
    static void (*const show[])(hkpd_view *view) = {
        [PERF_BLOCK_HEADER] = show_header,         [PERF_BLOCK_OBJECT] = show_object,
        [PERF_BLOCK_DEFINITION] = show_definition, [PERF_BLOCK_INSTANCE] = show_instance,
        [PERF_BLOCK_COUNTERS] = show_counters,     [PERF_BLOCK_VALUE] = show_value,
        [PERF_BLOCK_FAULT] = show_fault,
    };
    perf_block_event event;

    perf_table *table = view->base.stream->now.table;
    while ((event = perf_block_next(view->walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_OBJECT) {
            uint32_t number = view->walk->object.number;
            view->has_group = number < table->num_groups && table->groups[number].offset == view->walk->object.offset;
            if (view->has_group) {
                value_stream_enter(view->base.stream, &table->groups[number]);
            }
        }
        show[event](view);
    }
    tree_budget_report(&view->base.budget, view->base.report, proto_tree_get_parent(view->base.tree),
                       "objects, counter definitions or instances");
}

void hkpd_dissect_block(proto_tree *tree, findings_report *report, const counter_response *answer,
                        const perf_block_summary *summary)
{
    hkpd_view view = {.base = {.tvb = answer->tvb, .tree = tree, .report = report, .fields = &fields},
                      .summary = summary};

    if (!values_begin(&view.base, answer, summary->values, summary->faults)) {
        return;
    }
    perf_block_walk walk;
    perf_block_init(&walk, answer->table->data, answer->table->size);
    view.walk = &walk;
    if (view.base.wishes.structures) {
        values_show_structures(&view.base, show_structures);
    } else {
        values_alone(&view.base);
    }
}

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

    fields.structures = structure_fields;
    fields.num_structures = array_length(structure_fields);
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    proto_hkpd = proto;
    values_register(proto, "hkpd", &fields);
}
