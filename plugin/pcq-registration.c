/* pcq-registration.c
 * Registration information: what RequestCode 1 and 2 of opnum 1 return, and which codes return something else ([MS-PCQ]
 * 2.2.4.1, 2.2.4.2).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-parts.h"

#include "pcq/pcq-fields.h"
#include "text/value-strings.h"

#define COUNTERSET_REG_INFO_SIZE 32 /* 2.2.4.1 */
#define COUNTER_REG_INFO_SIZE 48    /* 2.2.4.2 */

/* Items of the tree that one structure can take, with what is known of it and a finding or two. */
#define ITEMS_OF_COUNTER 50

static int hf_counterset_reg_info = -1;
static int hf_counterset_type = -1;
static int hf_detail_level = -1;
static int hf_num_counters = -1;
static int hf_instance_type = -1;
static int hf_counter_reg_info = -1;
static int hf_attrib = -1;
static int hf_attrib_reference = -1;
static int hf_attrib_no_display = -1;
static int hf_attrib_no_group_separator = -1;
static int hf_attrib_display_as_real = -1;
static int hf_attrib_display_as_hex = -1;
static int hf_default_scale = -1;
static int hf_base_id = -1;
static int hf_perf_time_id = -1;
static int hf_perf_freq_id = -1;
static int hf_multi_id = -1;
static int hf_aggregate_func = -1;

static int ett_reg_info = -1;
static int ett_attrib = -1;

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

static const value_string no_counter_vals[] = {{PERF_NO_ID, "none"}, {0, NULL}};

/* --- RequestCode 1 and 2 ------------------------------------------------------------------------------------------ */

/* What one record says about its relations, for the check of the whole set. */
typedef struct {
    uint32_t id;
    uint32_t references[4];
    proto_item *item;
} counter_relations;

static void read_attrib(perf_reader *reader)
{
    static int *const bits[] = {&hf_attrib_reference,       &hf_attrib_no_display,     &hf_attrib_no_group_separator,
                                &hf_attrib_display_as_real, &hf_attrib_display_as_hex, NULL};
    uint32_t offset = reader->pos;

    if (!reader_need(reader, 8, "Attrib")) {
        return;
    }
    if (reader->tree) {
        proto_tree_add_bitmask(reader->tree, reader->tvb, offset, hf_attrib, ett_attrib, bits, ENC_LITTLE_ENDIAN);
    }
    reader->pos += 8;
}

static int32_t read_default_scale(perf_reader *reader)
{
    int32_t scale = (int32_t)reader_u32(reader, hf_default_scale);

    if (scale < -10 || scale > 10) {
        perf_found(reader->report, reader->item, FINDING_SCALE, "DefaultScale %d is outside -10 to 10", scale);
    }
    return scale;
}

/* PERF_COUNTER_REG_INFO, 2.2.4.2 */
static bool read_counter_reg_info(perf_reader *outer, pcq_context *context, counter_relations *relations)
{
    perf_reader reader;
    perf_counter_info info;

    if (!reader_need(outer, COUNTER_REG_INFO_SIZE, "PERF_COUNTER_REG_INFO")) {
        return false;
    }
    reader_structure(outer, hf_counter_reg_info, ett_reg_info, COUNTER_REG_INFO_SIZE, &reader);
    relations->id = pcq_read_counter_id(&reader);
    info.type = pcq_read_counter_type(&reader);
    read_attrib(&reader);
    reader_u32(&reader, hf_detail_level);
    info.scale = read_default_scale(&reader);
    relations->references[0] = info.base_id = reader_u32(&reader, hf_base_id);
    relations->references[1] = info.time_id = reader_u32(&reader, hf_perf_time_id);
    relations->references[2] = info.freq_id = reader_u32(&reader, hf_perf_freq_id);
    relations->references[3] = info.multi_id = reader_u32(&reader, hf_multi_id);
    reader_u32(&reader, hf_aggregate_func);
    pcq_read_reserved(&reader);
    relations->item = reader.node;

    const char *name =
        pcq_add_known_counter(reader.tree, reader.tvb, context->server, context->guid, relations->id, context->event);
    if (reader.node) {
        proto_item_append_text(reader.node, ": %u%s%s, %s", relations->id, name ? " " : "", name ? name : "",
                               val_to_str_const(info.type, counter_type_vals, "unknown type"));
    }
    pcq_lesson *lesson = pcq_new_lesson(context, context->guid, relations->id, PERF_FACT_COUNTER);
    lesson->fact.counter = info;
    context->count++;
    return true;
}

/* Counters that a base, time, frequency or multi id names. A chain that leads back to where it began would have a
 * counter calculated from itself; real ones have one step. */
static bool leads_back(wmem_map_t *by_id, const counter_relations *start, unsigned which)
{
    const counter_relations *at = start;

    for (int steps = 0; steps < 8 && at && at->references[which] != PERF_NO_ID; steps++) {
        at = wmem_map_lookup(by_id, GUINT_TO_POINTER(at->references[which]));
        if (at == start) {
            return true;
        }
    }
    return false;
}

static void check_relations(perf_reader *reader, wmem_array_t *counters)
{
    static const char *const names[] = {"BaseCounterId", "PerfTimeId", "PerfFreqId", "MultiId"};
    wmem_map_t *by_id = wmem_map_new(reader_pinfo(reader)->pool, g_direct_hash, g_direct_equal);

    for (unsigned i = 0; i < wmem_array_get_count(counters); i++) {
        counter_relations *counter = wmem_array_index(counters, i);
        wmem_map_insert(by_id, GUINT_TO_POINTER(counter->id), counter);
    }
    for (unsigned i = 0; i < wmem_array_get_count(counters); i++) {
        counter_relations *counter = wmem_array_index(counters, i);
        for (unsigned which = 0; which < array_length(names); which++) {
            uint32_t id = counter->references[which];
            if (id != PERF_NO_ID && !wmem_map_contains(by_id, GUINT_TO_POINTER(id))) {
                perf_found(reader->report, counter->item, FINDING_COUNTER_REFERENCE,
                           "%s %u of counter %u is not in the set", names[which], id, counter->id);
            } else if (leads_back(by_id, counter, which)) {
                perf_found(reader->report, counter->item, FINDING_COUNTER_REFERENCE,
                           "%s of counter %u leads back to the counter itself", names[which], counter->id);
            }
        }
    }
}

/* PERF_COUNTERSET_REG_INFO, 2.2.4.1. Returns NumCounters. */
static uint32_t read_counterset_reg_info(perf_reader *outer, pcq_context *context)
{
    perf_reader reader;

    reader_structure(outer, hf_counterset_reg_info, ett_reg_info, COUNTERSET_REG_INFO_SIZE, &reader);
    pcq_read_counterset_guid(&reader, context->guid);
    reader_u32(&reader, hf_counterset_type);
    reader_u32(&reader, hf_detail_level);
    uint32_t num_counters = reader_u32(&reader, hf_num_counters);
    proto_item *item = reader.item;
    uint32_t instance_type = reader_u32(&reader, hf_instance_type);
    if (reader.failed) {
        outer->failed = true;
        return 0;
    }
    const char *name =
        pcq_add_known_counterset(reader.tree, reader.tvb, context->server, context->guid, context->event);
    if (reader.node) {
        proto_item_append_text(reader.node, ": %s, %u counters",
                               name ? name : perf_guid_text(reader_pinfo(outer)->pool, context->guid), num_counters);
    }
    pcq_new_lesson(context, context->guid, PERF_NO_ID, PERF_FACT_SET)->fact.instance_type = instance_type;
    if (num_counters > reader_left(outer) / COUNTER_REG_INFO_SIZE) {
        perf_found(context->report, item, FINDING_COUNT, "NumCounters %u, but there is room for %u", num_counters,
                   reader_left(outer) / COUNTER_REG_INFO_SIZE);
    }
    return num_counters;
}

static void dissect_counterset_struct(perf_reader *reader, proto_tree *tree, pcq_context *context)
{
    wmem_array_t *counters = wmem_array_new(reader_pinfo(reader)->pool, sizeof(counter_relations));
    uint32_t left = read_counterset_reg_info(reader, context);
    uint32_t hidden = 0;

    while (left-- > 0 && reader_left(reader) >= COUNTER_REG_INFO_SIZE) {
        counter_relations relations;
        reader->tree = pcq_afford(tree, ITEMS_OF_COUNTER, &hidden);
        read_counter_reg_info(reader, context, &relations);
        wmem_array_append_one(counters, relations);
    }
    reader->tree = tree;
    pcq_report_hidden(context, tree, hidden, "counters");
    if (!context->report->damaged) {
        check_relations(reader, counters);
    }
    pcq_report_rest(reader, "the last counter");
}

static void dissect_counter_struct(perf_reader *reader, pcq_context *context)
{
    counter_relations relations;

    if (!read_counter_reg_info(reader, context, &relations)) {
        return;
    }
    for (unsigned which = 0; which < array_length(relations.references); which++) {
        if (relations.references[which] == relations.id) {
            perf_found(context->report, relations.item, FINDING_COUNTER_REFERENCE, "Counter %u refers to itself",
                       relations.id);
            break;
        }
    }
    pcq_report_rest(reader, "the counter");
}

/* --- Any RequestCode ------------------------------------------------------------------------------------------- */

void pcq_dissect_registration(tvbuff_t *tvb, proto_tree *tree, pcq_context *context)
{
    perf_reader reader;

    reader_init(&reader, tvb, tree, context->report, ENC_LITTLE_ENDIAN);
    switch (context->request_known ? context->request_code : PERF_REG_UNKNOWN) {
    case PERF_REG_COUNTERSET_STRUCT:
        dissect_counterset_struct(&reader, tree, context);
        break;
    case PERF_REG_COUNTER_STRUCT:
        dissect_counter_struct(&reader, context);
        break;
    case PERF_REG_COUNTER_NAME_STRINGS:
    case PERF_REG_COUNTER_HELP_STRINGS:
    case PERF_REG_COUNTER_ENGLISH_NAMES:
        pcq_dissect_counter_strings(&reader, tree, context);
        break;
    case PERF_REG_COUNTERSET_NAME_STRING:
    case PERF_REG_COUNTERSET_HELP_STRING:
    case PERF_REG_PROVIDER_NAME:
    case PERF_REG_COUNTERSET_ENGLISH_NAME:
        pcq_dissect_single_string(&reader, context);
        break;
    case PERF_REG_PROVIDER_GUID:
        pcq_dissect_provider_guid(&reader, context);
        break;
    default:
        pcq_dissect_unknown(tvb, tree);
        break;
    }
}

void pcq_registration_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_counterset_reg_info,
         {"Counterset registration", "pcq.counterset_reg_info", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTERSET_REG_INFO",
          HFILL}},
        {&hf_counterset_type,
         {"Counterset type", "pcq.counterset.type", FT_UINT32, BASE_HEX, NULL, 0, "Not used", HFILL}},
        {&hf_detail_level,
         {"Detail level", "pcq.detail_level", FT_UINT32, BASE_DEC, VALS(detail_level_vals), 0,
          "Whom the provider means the counter for", HFILL}},
        {&hf_num_counters,
         {"Number of counters", "pcq.counterset.num_counters", FT_UINT32, BASE_DEC, NULL, 0, "NumCounters", HFILL}},
        {&hf_instance_type,
         {"Instance type", "pcq.counterset.instance_type", FT_UINT32, BASE_HEX, VALS(instance_type_vals), 0,
          "Flags: 0x02 multiple, 0x04 aggregate, 0x08 history, 0x10 instance", HFILL}},
        {&hf_counter_reg_info,
         {"Counter registration", "pcq.counter_reg_info", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTER_REG_INFO", HFILL}},
        {&hf_attrib, {"Attributes", "pcq.counter.attrib", FT_UINT64, BASE_HEX, NULL, 0, "Attrib", HFILL}},
        {&hf_attrib_reference,
         {"By reference", "pcq.counter.attrib.reference", FT_BOOLEAN, 64, NULL, 0x01,
          "The provider gave an address instead of the value", HFILL}},
        {&hf_attrib_no_display,
         {"Not displayable", "pcq.counter.attrib.no_display", FT_BOOLEAN, 64, NULL, 0x02,
          "Only other counters are calculated with it", HFILL}},
        {&hf_attrib_no_group_separator,
         {"No group separator", "pcq.counter.attrib.no_group_separator", FT_BOOLEAN, 64, NULL, 0x04,
          "Digits are not grouped by thousands", HFILL}},
        {&hf_attrib_display_as_real,
         {"Display as real", "pcq.counter.attrib.display_as_real", FT_BOOLEAN, 64, NULL, 0x08, "With decimals", HFILL}},
        {&hf_attrib_display_as_hex,
         {"Display as hexadecimal", "pcq.counter.attrib.display_as_hex", FT_BOOLEAN, 64, NULL, 0x10, "Not in decimal",
          HFILL}},
        {&hf_default_scale,
         {"Default scale", "pcq.counter.default_scale", FT_INT32, BASE_DEC, NULL, 0,
          "Power of ten for graphs; calculated values are not scaled", HFILL}},
        {&hf_base_id,
         {"Base counter id", "pcq.counter.base_id", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(no_counter_vals), 0,
          "BaseCounterId", HFILL}},
        {&hf_perf_time_id,
         {"Time counter id", "pcq.counter.perf_time_id", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(no_counter_vals),
          0, "PerfTimeId", HFILL}},
        {&hf_perf_freq_id,
         {"Frequency counter id", "pcq.counter.perf_freq_id", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS,
          VALS(no_counter_vals), 0, "PerfFreqId", HFILL}},
        {&hf_multi_id,
         {"Multi counter id", "pcq.counter.multi_id", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(no_counter_vals), 0,
          "MultiId", HFILL}},
        {&hf_aggregate_func,
         {"Aggregate function", "pcq.counter.aggregate_func", FT_UINT32, BASE_DEC, VALS(aggregate_vals), 0,
          "AggregateFunc", HFILL}},
    };
    static int *ett[] = {&ett_reg_info, &ett_attrib};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
