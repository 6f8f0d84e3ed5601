/* floor.c
 * The floor under the plugin's cost: a dissector that adds the same items for counter data with constant texts
 * (test/scripts/test_floor.py compares them with the plugin's). It knows no names, keeps nothing, calculates
 * nothing, and believes every size: for script/dev/bench's own captures only.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ws_compat.h"
#include "perf/structures.h"

static e_guid_t uuid_perflibv2 = {0xda5a86c5, 0x12c2, 0x4943, {0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53}};

static int proto_floor = -1, ett_floor = -1;
static int hf_opnum, hf_block, hf_block_status, hf_block_type, hf_block_size, hf_reserved, hf_instance,
    hf_instance_size;
static int hf_instance_id, hf_instance_name, hf_counter_data, hf_data_size, hf_size, hf_value, hf_path, hf_cooked;

/* What is said of the middle value of a thousand, of each type of block, in the third answer: that one is measured. */
typedef struct {
    uint32_t type;
    const char *block;
    const char *instance;
    const char *value;
    const char *path;
    const char *cooked;
} floor_texts;

#define TEXTS(type, block, instance, path, now, before) \
    { \
        type, "Block " block, "Instance: " instance, "Counter data: " path " = 1,000.0 /sec", path, \
            "Calculated value: 1,000.0 /sec = (N1 - N0) / ((T1 - T0) / F), N1 = " now ", N0 = " before \
            ", T1 - T0 = 10,000,000, F = 10,000,000" \
    }

static const floor_texts texts[] = {
    TEXTS(1, "500: \\Set\\counter 500, PERF_SINGLE_COUNTER", "", "\\\\SRV\\Set\\counter 500", "2,500", "1,500"),
    TEXTS(4, "0: \\Set(*)\\counter 0, PERF_MULTIPLE_INSTANCES", "instance 500, id 500",
          "\\\\SRV\\Set(instance 500)\\counter 0", "2,500", "1,500"),
    TEXTS(6, "0: \\Set(*)\\*, PERF_COUNTERSET", "instance 50, id 50", "\\\\SRV\\Set(instance 50)\\counter 0", "2,000",
          "1,000"),
};

/* Of the plugin's, the one that occurs. */
static const value_string statuses[] = {{0, "ERROR_SUCCESS"}, {0, NULL}};
#define TYPE_NAME(value, name) {value, #name},
static const value_string block_types[] = {PERF_BLOCK_TYPES(TYPE_NAME){0, NULL}};

/* Labels are given at once: that is the cheapest. */
static proto_tree *add_structure(proto_tree *tree, int hf, tvbuff_t *tvb, int at, int size, const char *label)
{
    return proto_item_add_subtree(proto_tree_add_none_format(tree, hf, tvb, at, size, "%s", label), ett_floor);
}

static int add_value(tvbuff_t *tvb, proto_tree *tree, int at, const floor_texts *text)
{
    int size = (int)tvb_get_letohl(tvb, at + 4);
    proto_tree *inner = add_structure(tree, hf_counter_data, tvb, at, size, text->value);

    proto_item_set_generated(proto_tree_add_double_format(inner, hf_cooked, tvb, 0, 0, 1000.0, "%s", text->cooked));
    proto_item_set_generated(proto_tree_add_string(inner, hf_path, tvb, 0, 0, text->path));
    proto_tree_add_item(inner, hf_data_size, tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_size, tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_value, tvb, at + 8, 8, ENC_LITTLE_ENDIAN);
    return at + size;
}

static int add_instance(tvbuff_t *tvb, proto_tree *tree, int at, uint32_t columns, const floor_texts *text)
{
    int size = (int)tvb_get_letohl(tvb, at);
    proto_tree *inner = add_structure(tree, hf_instance, tvb, at, size, text->instance);

    proto_tree_add_item(inner, hf_instance_size, tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_instance_id, tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_instance_name, tvb, at + 8, size - 8, ENC_UTF_16 | ENC_LITTLE_ENDIAN);
    for (at += size; columns > 0; columns--) {
        at = add_value(tvb, inner, at, text);
    }
    return at;
}

static int add_block(tvbuff_t *tvb, proto_tree *tree, int at)
{
    uint32_t type = tvb_get_letohl(tvb, at + 4), columns = 1;
    int size = (int)tvb_get_letohl(tvb, at + 8), end = at + size;
    const floor_texts *text = type == 1 ? &texts[0] : type == 4 ? &texts[1] : &texts[2];
    proto_tree *inner = add_structure(tree, hf_block, tvb, at, size, text->block);

    proto_tree_add_item(inner, hf_block_status, tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_block_type, tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_block_size, tvb, at + 8, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_reserved, tvb, at + 12, 4, ENC_LITTLE_ENDIAN);
    at += 16;
    if (type == 2 || type == 6) {
        columns = tvb_get_letohl(tvb, at + 4);
        at += (int)tvb_get_letohl(tvb, at);
    }
    if (type == 4 || type == 6) {
        at += 8;
    }
    while (at < end) {
        at = type == 4 || type == 6 ? add_instance(tvb, inner, at, columns, text) : add_value(tvb, inner, at, text);
    }
    return end;
}

/* Without a tree there is nothing to do, and a filter on other fields than these asks for none of them. */
static int data_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    int at = offset + 20 + 48, end = offset + 20 + (int)tvb_get_letohl(tvb, offset);

    (void)pinfo;
    (void)di;
    (void)drep;
    while (tree && proto_field_is_referenced(tree, proto_floor) && at < end) {
        at = add_block(tvb, tree, at);
    }
    return (int)tvb_reported_length(tvb);
}

static ws_dcerpc_table operations[] = {{6, "QueryCounterData", NULL, data_response}, {0, NULL, NULL, NULL}};

static void proto_register_floor(void)
{
    static hf_register_info hf[] = {
        {&hf_opnum, {"Operation", "pcq.opnum", FT_UINT16, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_block, {"Block", "pcq.block", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_block_status, {"Status", "pcq.block.status", FT_UINT32, BASE_DEC, VALS(statuses), 0, NULL, HFILL}},
        {&hf_block_type, {"Type", "pcq.block.type", FT_UINT32, BASE_HEX, VALS(block_types), 0, NULL, HFILL}},
        {&hf_block_size, {"Size", "pcq.block.size", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_reserved, {"Reserved", "pcq.reserved", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_instance, {"Instance", "pcq.instance", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_instance_size, {"Size", "pcq.instance.size", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_instance_id, {"Instance id", "pcq.instance.id", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_instance_name, {"Instance name", "pcq.instance.name", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_counter_data, {"Counter data", "pcq.counter_data", FT_NONE, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_data_size, {"Data size", "pcq.value.data_size", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_size, {"Size", "pcq.value.size", FT_UINT32, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_value, {"Value", "pcq.value", FT_UINT64, BASE_DEC, NULL, 0, NULL, HFILL}},
        {&hf_path, {"Path", "pcq.path", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_cooked, {"Calculated value", "pcq.cooked", FT_DOUBLE, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_floor};

    proto_floor = proto_register_protocol("The floor under PCQ", "PCQ", "pcq");
    proto_register_field_array(proto_floor, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}

static void proto_reg_handoff_floor(void)
{
    dcerpc_init_uuid(proto_floor, ett_floor, &uuid_perflibv2, 1, operations, hf_opnum);
}

void plugin_register(void);

WS_DLL_PUBLIC_DEF const char plugin_version[] = "0";
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC_DEF void plugin_register(void)
{
    static proto_plugin plugin = {proto_register_floor, proto_reg_handoff_floor};

    proto_register_plugin(&plugin);
}
