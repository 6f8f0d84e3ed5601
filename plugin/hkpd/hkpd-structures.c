/* hkpd-structures.c
 * The structures of PERF_DATA_BLOCK around its values, in the tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-structures.h"

#include "hkpd/hkpd-readings.h"
#include "text/text.h"
#include "tree/labels.h"
#include "dcerpc/prefixed.h"
#include "text/value-strings.h"

/* Items of the tree that a structure takes, with what is known of it. */
#define ITEMS_OF_OBJECT 24
#define ITEMS_OF_DEFINITION 24
#define ITEMS_OF_INSTANCE 9

static int hf_data_block = -1;
static int hf_little_endian = -1;
static int hf_version = -1;
static int hf_revision = -1;
static int hf_total_size = -1;
static int hf_header_size = -1;
static int hf_num_objects = -1;
static int hf_default_object = -1;
static int hf_system_time = -1;
static int hf_perf_time = -1;
static int hf_perf_freq = -1;
static int hf_perf_time_100ns = -1;
static int hf_system_name_size = -1;
static int hf_system_name_offset = -1;
static int hf_system_name = -1;
static int hf_object = -1;
static int hf_object_total_size = -1;
static int hf_object_definition_size = -1;
static int hf_object_header_size = -1;
static int hf_object_index = -1;
static int hf_object_help_index = -1;
static int hf_object_detail_level = -1;
static int hf_object_num_counters = -1;
static int hf_object_default_counter = -1;
static int hf_object_num_instances = -1;
static int hf_object_code_page = -1;
static int hf_object_perf_time = -1;
static int hf_object_perf_freq = -1;
static int hf_object_name = -1;
static int hf_definition = -1;
static int hf_definition_size = -1;
static int hf_counter_index = -1;
static int hf_counter_help_index = -1;
static int hf_counter_default_scale = -1;
static int hf_detail_level = -1;
static int hf_counter_size = -1;
static int hf_counter_offset = -1;
static int hf_counter_name = -1;
static int hf_instance = -1;
static int hf_instance_size = -1;
static int hf_instance_parent_object = -1;
static int hf_instance_parent_instance = -1;
static int hf_instance_unique_id = -1;
static int hf_instance_name_offset = -1;
static int hf_instance_name_size = -1;
static int hf_instance_name = -1;
static int hf_learned_in = -1;

static int ett_data_block = -1;
static int ett_object = -1;
static int ett_definition = -1;
static int ett_instance = -1;

static perf_type_fields type_fields;

static const value_string num_instances_vals[] = {
    {(uint32_t)PERF_INSTANCES_NONE, "PERF_NO_INSTANCES"},
    {(uint32_t)PERF_INSTANCES_METADATA_MULTIPLE, "PERF_METADATA_MULTIPLE_INSTANCES"},
    {(uint32_t)PERF_INSTANCES_METADATA_NONE, "PERF_METADATA_NO_INSTANCES"},
    {0, NULL},
};
static const value_string none_vals[] = {{0xFFFFFFFFU, "none"}, {0, NULL}};
static const value_string unique_id_vals[] = {{PERF_NO_UNIQUE_ID, "PERF_NO_UNIQUE_ID"}, {0, NULL}};
static const value_string code_page_vals[] = {{0, "UTF-16"}, {1200, "UTF-16"}, {0, NULL}};

static perf_subject title_subject(uint32_t title_index)
{
    return (perf_subject){{0}, title_index};
}

static const char *add_known_title(hkpd_view *view, proto_tree *tree, int hf, uint32_t title_index)
{
    perf_subject subject = title_subject(title_index);
    perf_known known = perf_lookup_name(view->context->server, &subject, view->context->event);

    if (tree == NULL || !known.fact) {
        return NULL;
    }
    perf_add_source(tree, view->tvb, hf_learned_in, proto_tree_add_string(tree, hf, view->tvb, 0, 0, known.fact->name),
                    &known, true);
    return known.fact->name;
}

/* A reader of a structure's own fields at `offset`, with a node of its own in `tree`. */
void hkpd_open_structure(hkpd_view *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                         uint32_t fields_size, perf_reader *reader)
{
    perf_reader outer;

    reader_init(&outer, view->tvb, tree, view->context->report, view->encoding);
    outer.pos = offset;
    reader_structure(&outer, hf, ett, size, reader);
    if (reader->end - reader->pos > fields_size) {
        reader->end = reader->pos + fields_size;
    }
    view->structure = reader->node;
    view->start = offset;
}

/* --- PERF_DATA_BLOCK ------------------------------------------------------------------------------------------- */

static void show_system_name(hkpd_view *view, perf_reader *reader)
{
    const perf_block_walk *walk = view->walk;
    unsigned order = walk->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;

    if (walk->header.name_room == 0 || reader->tree == NULL) {
        return;
    }
    uint32_t size =
        walk->header.name_size + 2 <= walk->header.name_room ? walk->header.name_size + 2 : walk->header.name_size;
    const char *name = perf_text_get(hkpd_view_pool(view), view->tvb, walk->header.name, walk->header.name_size,
                                     PERF_CODE_PAGE_UNICODE, order, PERF_NAME_MAX);
    proto_item *item = proto_tree_add_string(reader->tree, hf_system_name, view->tvb, walk->header.name, size, name);
    check_utf16(reader->report, item, view->tvb, walk->header.name, walk->header.name_size, order, "The system name");
    proto_item_append_text(reader->node, " of %s", name);
}

static void show_byte_order(perf_reader *reader)
{
    uint32_t little_endian = reader_u32(reader, 0);

    if (reader->tree && !reader->failed) {
        proto_tree_add_boolean(reader->tree, hf_little_endian, reader->tvb, reader->pos - 4, 4, little_endian);
    }
}

void hkpd_show_header(hkpd_view *view)
{
    perf_reader reader;

    view->encoding = view->walk->big_endian ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;
    hkpd_open_structure(view, view->tree, hf_data_block, ett_data_block, 0,
                        view->walk->header.size > 0 ? view->walk->header.size : view->walk->size, PERF_DATA_BLOCK_SIZE,
                        &reader);
    reader_skip(&reader, PERF_SIGNATURE_SIZE);
    show_byte_order(&reader);
    reader_u32(&reader, hf_version);
    reader_u32(&reader, hf_revision);
    reader_u32(&reader, hf_total_size);
    reader_u32(&reader, hf_header_size);
    reader_u32(&reader, hf_num_objects);
    reader_u32(&reader, hf_default_object);
    reader_systemtime(&reader, hf_system_time);
    reader_skip(&reader, 4);
    reader_u64(&reader, hf_perf_time);
    uint64_t freq = reader_u64(&reader, hf_perf_freq);
    value_label_frequency(reader.item, freq);
    if (freq == 0 && !reader.failed) {
        perf_found(reader.report, reader.item, FINDING_TIME, "PerfFreq is 0: rates cannot be calculated");
    }
    reader_filetime(&reader, hf_perf_time_100ns);
    reader_u32(&reader, hf_system_name_size);
    reader_u32(&reader, hf_system_name_offset);
    show_system_name(view, &reader);
    proto_item_append_text(reader.node, ": %u objects, %" PRIu64 " values", view->context->summary.objects,
                           view->context->summary.values);
    view->header = reader.node;
}

/* --- PERF_OBJECT_TYPE ------------------------------------------------------------------------------------------ */

static void label_object(hkpd_view *view, proto_item *item, const char *name)
{
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

void hkpd_show_object(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    perf_reader reader;
    bool shown = perf_budget_take_any(&view->budget, ITEMS_OF_OBJECT);

    view->budget.others_hidden += !shown;
    view->structure = NULL;
    view->object = view->body = view->counters = NULL;
    if (!shown) {
        return;
    }
    hkpd_open_structure(view, view->tree, hf_object, ett_object, walk->object.offset,
                        walk->object.end - walk->object.offset, PERF_OBJECT_TYPE_SIZE, &reader);
    reader_u32(&reader, hf_object_total_size);
    reader_u32(&reader, hf_object_definition_size);
    reader_u32(&reader, hf_object_header_size);
    reader_u32(&reader, hf_object_index);
    const char *name = add_known_title(view, reader.tree, hf_object_name, walk->object.index);
    reader_skip(&reader, 4);
    reader_u32(&reader, hf_object_help_index);
    reader_skip(&reader, 4);
    reader_u32(&reader, hf_object_detail_level);
    reader_u32(&reader, hf_object_num_counters);
    reader_u32(&reader, hf_object_default_counter);
    reader_u32(&reader, hf_object_num_instances);
    if (!perf_code_page_known(reader_u32(&reader, hf_object_code_page))) {
        perf_found(reader.report, reader.item, FINDING_CODE_PAGE,
                   "CodePage %u cannot be converted: bytes of names beyond ASCII are shown as \\x..",
                   walk->object.code_page);
    }
    reader_u64(&reader, hf_object_perf_time);
    reader_u64(&reader, hf_object_perf_freq);
    value_show_samples(reader.tree, view->fields, view->tvb, view->readings);
    label_object(view, reader.node, name);
    view->object = view->body = reader.tree;
}

/* --- PERF_COUNTER_DEFINITION ----------------------------------------------------------------------------------- */

void hkpd_show_definition(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    perf_reader reader;

    view->structure = NULL;
    if (view->object == NULL || !perf_budget_take(&view->budget, ITEMS_OF_DEFINITION)) {
        view->budget.others_hidden++;
        return;
    }
    hkpd_open_structure(view, view->object, hf_definition, ett_definition, walk->definition.offset,
                        walk->definition.size, PERF_COUNTER_DEFINITION_SIZE, &reader);
    reader_u32(&reader, hf_definition_size);
    uint32_t title_index = reader_u32(&reader, hf_counter_index);
    const char *name = add_known_title(view, reader.tree, hf_counter_name, title_index);
    reader_skip(&reader, 4);
    reader_u32(&reader, hf_counter_help_index);
    reader_skip(&reader, 4);
    int32_t scale = (int32_t)reader_u32(&reader, hf_counter_default_scale);
    if (scale < -10 || scale > 10) {
        perf_found(reader.report, reader.item, FINDING_SCALE, "DefaultScale is %d, a power of ten beyond use", scale);
    }
    reader_u32(&reader, hf_detail_level);
    uint32_t type = perf_read_counter_type(&reader, &type_fields);
    reader_u32(&reader, hf_counter_size);
    reader_u32(&reader, hf_counter_offset);
    proto_item_append_text(reader.node, ": %s (%u), %s", name ? name : "name not known", title_index,
                           val_to_str_const(type, counter_type_vals, "unknown type"));
}

/* --- PERF_INSTANCE_DEFINITION ---------------------------------------------------------------------------------- */

static void show_instance_name(hkpd_view *view, perf_reader *reader)
{
    const perf_block_walk *walk = view->walk;
    unsigned order = walk->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;

    if (walk->instance.name_room == 0 || reader->tree == NULL) {
        return;
    }
    const char *name = perf_text_get(hkpd_view_pool(view), view->tvb, walk->instance.name, walk->instance.name_size,
                                     walk->object.code_page, order, PERF_NAME_MAX);
    proto_item *item = proto_tree_add_string(reader->tree, hf_instance_name, view->tvb, walk->instance.name,
                                             walk->instance.name_room, name);
    if (perf_text_is_wide(walk->object.code_page)) {
        check_utf16(reader->report, item, view->tvb, walk->instance.name, walk->instance.name_size, order,
                    "The instance's name");
    }
}

void hkpd_show_instance(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    perf_reader reader;

    view->structure = NULL;
    view->body = view->object;
    if (view->object == NULL || !perf_budget_take(&view->budget, ITEMS_OF_INSTANCE)) {
        view->budget.others_hidden += walk->object.num_definitions == 0;
        return;
    }
    hkpd_open_structure(view, view->object, hf_instance, ett_instance, walk->instance.offset, walk->instance.size,
                        PERF_INSTANCE_DEFINITION_SIZE, &reader);
    reader_u32(&reader, hf_instance_size);
    reader_u32(&reader, hf_instance_parent_object);
    reader_u32(&reader, hf_instance_parent_instance);
    reader_u32(&reader, hf_instance_unique_id);
    reader_u32(&reader, hf_instance_name_offset);
    reader_u32(&reader, hf_instance_name_size);
    show_instance_name(view, &reader);
    proto_item_append_text(reader.node, " %u: %s", walk->instance.number, hkpd_readings_instance(view->readings));
    view->body = reader.tree;
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

bool hkpd_structures_wanted(proto_tree *tree)
{
    const int structures[] = {hf_data_block,
                              hf_little_endian,
                              hf_version,
                              hf_revision,
                              hf_total_size,
                              hf_header_size,
                              hf_num_objects,
                              hf_default_object,
                              hf_system_time,
                              hf_perf_time,
                              hf_perf_freq,
                              hf_perf_time_100ns,
                              hf_system_name_size,
                              hf_system_name_offset,
                              hf_system_name,
                              hf_object,
                              hf_object_total_size,
                              hf_object_definition_size,
                              hf_object_header_size,
                              hf_object_index,
                              hf_object_help_index,
                              hf_object_detail_level,
                              hf_object_num_counters,
                              hf_object_default_counter,
                              hf_object_num_instances,
                              hf_object_code_page,
                              hf_object_perf_time,
                              hf_object_perf_freq,
                              hf_object_name,
                              hf_definition,
                              hf_definition_size,
                              hf_counter_index,
                              hf_counter_help_index,
                              hf_counter_default_scale,
                              hf_detail_level,
                              hf_counter_size,
                              hf_counter_offset,
                              hf_counter_name,
                              hf_instance,
                              hf_instance_size,
                              hf_instance_parent_object,
                              hf_instance_parent_instance,
                              hf_instance_unique_id,
                              hf_instance_name_offset,
                              hf_instance_name_size,
                              hf_instance_name,
                              hf_learned_in};

    return any_referenced(tree, structures, array_length(structures)) || type_fields_wanted(tree, &type_fields);
}

void hkpd_structures_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_data_block,
         {"Performance data", "hkpd.data_block", FT_NONE, BASE_NONE, NULL, 0, "PERF_DATA_BLOCK", HFILL}},
        {&hf_little_endian,
         {"Little-endian", "hkpd.little_endian", FT_BOOLEAN, BASE_NONE, NULL, 0, "LittleEndian: byte order of numbers",
          HFILL}},
        {&hf_version, {"Version", "hkpd.version", FT_UINT32, BASE_DEC, NULL, 0, "Of the structure, 1 so far", HFILL}},
        {&hf_revision,
         {"Revision", "hkpd.revision", FT_UINT32, BASE_DEC, NULL, 0, "Of the structure, 1 so far", HFILL}},
        {&hf_total_size,
         {"Total size", "hkpd.total_size", FT_UINT32, BASE_DEC, NULL, 0, "TotalByteLength; Samba leaves the header out",
          HFILL}},
        {&hf_header_size,
         {"Header size", "hkpd.header_size", FT_UINT32, BASE_DEC, NULL, 0, "HeaderLength: offset of the first object",
          HFILL}},
        {&hf_num_objects,
         {"Number of objects", "hkpd.num_objects", FT_UINT32, BASE_DEC, NULL, 0, "NumObjectTypes", HFILL}},
        {&hf_default_object,
         {"Default object", "hkpd.default_object", FT_INT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(none_vals), 0,
          "DefaultObject", HFILL}},
        {&hf_system_time,
         {"System time", "hkpd.system_time", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0, "SystemTime", HFILL}},
        {&hf_perf_time,
         {"Performance time", "hkpd.perf_time", FT_UINT64, BASE_DEC, NULL, 0,
          "PerfTime, in units of 1 / PerfFreq seconds", HFILL}},
        {&hf_perf_freq, {"Frequency", "hkpd.perf_freq", FT_UINT64, BASE_DEC, NULL, 0, "PerfFreq, per second", HFILL}},
        {&hf_perf_time_100ns,
         {"Time", "hkpd.perf_time_100ns", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0, "PerfTime100nSec", HFILL}},
        {&hf_system_name_size,
         {"System name size", "hkpd.system_name_size", FT_UINT32, BASE_DEC, NULL, 0, "SystemNameLength, in bytes",
          HFILL}},
        {&hf_system_name_offset,
         {"System name offset", "hkpd.system_name_offset", FT_UINT32, BASE_DEC, NULL, 0, "SystemNameOffset", HFILL}},
        {&hf_system_name,
         {"System name", "hkpd.system_name", FT_STRING, BASE_NONE, NULL, 0, "The monitored computer", HFILL}},
        {&hf_object, {"Object", "hkpd.object", FT_NONE, BASE_NONE, NULL, 0, "PERF_OBJECT_TYPE and its data", HFILL}},
        {&hf_object_total_size,
         {"Total size", "hkpd.object.total_size", FT_UINT32, BASE_DEC, NULL, 0, "TotalByteLength: to the next object",
          HFILL}},
        {&hf_object_definition_size,
         {"Definition size", "hkpd.object.definition_size", FT_UINT32, BASE_DEC, NULL, 0,
          "DefinitionLength: to the first instance or counter block", HFILL}},
        {&hf_object_header_size,
         {"Header size", "hkpd.object.header_size", FT_UINT32, BASE_DEC, NULL, 0,
          "HeaderLength: to the first counter definition", HFILL}},
        {&hf_object_index,
         {"Name index", "hkpd.object.index", FT_UINT32, BASE_DEC, NULL, 0, "ObjectNameTitleIndex", HFILL}},
        {&hf_object_help_index,
         {"Help index", "hkpd.object.help_index", FT_UINT32, BASE_DEC, NULL, 0, "ObjectHelpTitleIndex", HFILL}},
        {&hf_object_detail_level,
         {"Detail level", "hkpd.object.detail_level", FT_UINT32, BASE_DEC, VALS(detail_level_vals), 0, "DetailLevel",
          HFILL}},
        {&hf_object_num_counters,
         {"Number of counters", "hkpd.object.num_counters", FT_UINT32, BASE_DEC, NULL, 0, "NumCounters", HFILL}},
        {&hf_object_default_counter,
         {"Default counter", "hkpd.object.default_counter", FT_INT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(none_vals), 0,
          "DefaultCounter", HFILL}},
        {&hf_object_num_instances,
         {"Number of instances", "hkpd.object.num_instances", FT_INT32, BASE_DEC | BASE_SPECIAL_VALS,
          VALS(num_instances_vals), 0, "NumInstances", HFILL}},
        {&hf_object_code_page,
         {"Code page", "hkpd.object.code_page", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(code_page_vals), 0,
          "CodePage of the instance names", HFILL}},
        {&hf_object_perf_time,
         {"Object time", "hkpd.object.perf_time", FT_UINT64, BASE_DEC, NULL, 0, "PerfTime, of the object's own clock",
          HFILL}},
        {&hf_object_perf_freq,
         {"Object frequency", "hkpd.object.perf_freq", FT_UINT64, BASE_DEC, NULL, 0, "PerfFreq, of the object's clock",
          HFILL}},
        {&hf_object_name,
         {"Name", "hkpd.object.name", FT_STRING, BASE_NONE, NULL, 0,
          "By the title list of the server, from ObjectNameTitleIndex", HFILL}},
        {&hf_definition,
         {"Counter definition", "hkpd.counter_definition", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTER_DEFINITION",
          HFILL}},
        {&hf_definition_size,
         {"Size", "hkpd.definition.size", FT_UINT32, BASE_DEC, NULL, 0, "ByteLength of the definition", HFILL}},
        {&hf_counter_index,
         {"Name index", "hkpd.counter.index", FT_UINT32, BASE_DEC, NULL, 0, "CounterNameTitleIndex", HFILL}},
        {&hf_counter_help_index,
         {"Help index", "hkpd.counter.help_index", FT_UINT32, BASE_DEC, NULL, 0, "CounterHelpTitleIndex", HFILL}},
        {&hf_counter_default_scale,
         {"Default scale", "hkpd.counter.default_scale", FT_INT32, BASE_DEC, NULL, 0,
          "DefaultScale: a power of ten, for graphs", HFILL}},
        {&hf_detail_level,
         {"Detail level", "hkpd.detail_level", FT_UINT32, BASE_DEC, VALS(detail_level_vals), 0, "DetailLevel", HFILL}},
        {&hf_counter_size,
         {"Counter size", "hkpd.counter.size", FT_UINT32, BASE_DEC, NULL, 0, "CounterSize: bytes of a value", HFILL}},
        {&hf_counter_offset,
         {"Counter offset", "hkpd.counter.offset", FT_UINT32, BASE_DEC, NULL, 0,
          "CounterOffset, from the counter block's start", HFILL}},
        {&hf_counter_name,
         {"Name", "hkpd.counter.name", FT_STRING, BASE_NONE, NULL, 0,
          "By the title list of the server, from CounterNameTitleIndex", HFILL}},
        {&hf_instance, {"Instance", "hkpd.instance", FT_NONE, BASE_NONE, NULL, 0, "PERF_INSTANCE_DEFINITION", HFILL}},
        {&hf_instance_size,
         {"Size", "hkpd.instance.size", FT_UINT32, BASE_DEC, NULL, 0, "ByteLength of definition, name and padding",
          HFILL}},
        {&hf_instance_parent_object,
         {"Parent object", "hkpd.instance.parent_object_index", FT_UINT32, BASE_DEC, NULL, 0,
          "ParentObjectTitleIndex, 0 without a parent", HFILL}},
        {&hf_instance_parent_instance,
         {"Parent instance", "hkpd.instance.parent_instance", FT_UINT32, BASE_DEC, NULL, 0,
          "ParentObjectInstance: its number in the parent object", HFILL}},
        {&hf_instance_unique_id,
         {"Unique id", "hkpd.instance.unique_id", FT_INT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(unique_id_vals), 0,
          "UniqueID", HFILL}},
        {&hf_instance_name_offset,
         {"Name offset", "hkpd.instance.name_offset", FT_UINT32, BASE_DEC, NULL, 0, "NameOffset", HFILL}},
        {&hf_instance_name_size,
         {"Name size", "hkpd.instance.name_size", FT_UINT32, BASE_DEC, NULL, 0, "NameLength, in bytes", HFILL}},
        {&hf_instance_name,
         {"Instance name", "hkpd.instance.name", FT_STRING, BASE_NONE, NULL, 0,
          "In UTF-16, or in the code page of the object", HFILL}},
        {&hf_learned_in,
         {"Learned in", "hkpd.learned_in", FT_FRAMENUM, BASE_NONE, NULL, 0, "The frame that taught what is above",
          HFILL}},
    };
    static int *ett[] = {&ett_data_block, &ett_object, &ett_definition, &ett_instance};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    perf_type_fields_register(proto, "hkpd", &type_fields);
}
