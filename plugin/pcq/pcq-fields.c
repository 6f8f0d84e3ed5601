/* pcq-fields.c
 * Fields that several layouts carry, and what is known about them from elsewhere.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq/pcq-fields.h"

#include "dcerpc/fields.h"
#include "text/value-strings.h"

int hf_counterset_guid, hf_counterset_name, hf_counter_id, hf_counter_name, hf_reserved, hf_instance_id,
    hf_instance_name, hf_identifier_path;
labels_type_fields pcq_type_fields;
static int hf_instance, hf_instance_size, hf_learned_in;

static int ett_instance = -1;

static const value_string counter_id_vals[] = {{PERF_NO_ID, "PERF_WILDCARD_COUNTER"}, {0, NULL}};
static const value_string instance_id_vals[] = {{PERF_NO_ID, "any"}, {0, NULL}};

/* --- On the wire ----------------------------------------------------------------------------------------------- */

/* "Instance: NAME, id 0" */
static proto_item *add_instance_item(proto_tree *tree, tvbuff_t *tvb, const pcq_instance *instance, const char *name)
{
    char label[LABEL_SIZE];
    perf_writer w = perf_writer_of(label, sizeof label);

    perf_write(&w, proto_registrar_get_name(hf_instance));
    perf_write(&w, ": ");
    perf_write(&w, name);
    perf_write(&w, ", id ");
    perf_write_plain(&w, instance->id);
    return proto_tree_add_none_format(tree, hf_instance, tvb, instance->offset, instance->size, "%s", label);
}

proto_tree *pcq_add_instance(proto_tree *tree, tvbuff_t *tvb, const pcq_instance *instance, const char **name)
{
    uint32_t at = instance->offset;
    proto_item *node = add_instance_item(tree, tvb, instance, *name);
    proto_tree *inner = proto_item_add_subtree(node, ett_instance);
    uint32_t terminator = instance->terminated && instance->size >= 10 ? 2 : 0;

    proto_tree_add_uint(inner, hf_instance_size, tvb, at, 4, instance->stated);
    proto_tree_add_uint(inner, hf_instance_id, tvb, at + 4, 4, instance->id);
    if (instance->name_size + terminator > 0) {
        proto_tree_add_string(inner, hf_instance_name, tvb, at + 8, instance->name_size + terminator, *name);
    }
    return inner;
}

proto_item *pcq_add_bad_instance(proto_tree *tree, tvbuff_t *tvb, uint32_t offset)
{
    proto_item *node = proto_tree_add_item(tree, hf_instance, tvb, offset, 8, ENC_NA);
    proto_tree *inner = proto_item_add_subtree(node, ett_instance);

    proto_tree_add_item(inner, hf_instance_size, tvb, offset, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(inner, hf_instance_id, tvb, offset + 4, 4, ENC_LITTLE_ENDIAN);
    proto_item_append_text(node, ": unreadable");
    return node;
}

/* --- Known from elsewhere -------------------------------------------------------------------------------------- */

static const char *add_known_name(proto_tree *tree, int hf, tvbuff_t *tvb, state_host *server, state_subject subject,
                                  uint32_t event)
{
    state_known known = {0};

    if (tree) {
        known = facts_lookup_name(server, &subject, event);
    }
    if (!known.fact) {
        return NULL;
    }
    labels_add_source(tree, tvb, hf_learned_in, proto_tree_add_string(tree, hf, tvb, 0, 0, known.fact->name), &known,
                      true);
    return known.fact->name;
}

const char *pcq_add_known_counterset(proto_tree *tree, tvbuff_t *tvb, state_host *server, const uint8_t *guid,
                                     uint32_t event)
{
    return add_known_name(tree, hf_counterset_name, tvb, server, facts_subject(guid, PERF_NO_ID), event);
}

const char *pcq_add_known_counter(proto_tree *tree, tvbuff_t *tvb, state_host *server, const uint8_t *guid, uint32_t id,
                                  uint32_t event)
{
    return id == PERF_NO_ID ? NULL : add_known_name(tree, hf_counter_name, tvb, server, facts_subject(guid, id), event);
}

void pcq_add_known_type(proto_tree *tree, tvbuff_t *tvb, state_host *server, const uint8_t *guid, uint32_t id,
                        uint32_t event)
{
    state_subject subject = facts_subject(guid, id);

    if (tree == NULL || id == PERF_NO_ID) {
        return;
    }
    state_known known = facts_lookup_counter(server, &subject, event);
    if (known.fact) {
        labels_add_source(tree, tvb, hf_learned_in,
                          proto_tree_add_uint(tree, pcq_type_fields.type, tvb, 0, 0, known.fact->counter.type), &known,
                          false);
    }
}

static hf_register_info all_fields[] = {
    FIELD(hf_learned_in, "Learned in", "pcq.learned_in", FT_FRAMENUM, BASE_NONE, NULL,
          "The frame that taught what is above"),
    FIELD(hf_counterset_guid, "Counterset GUID", "pcq.counterset.guid", FT_GUID, BASE_NONE, NULL, "CounterSetGuid"),
    FIELD_TEXT(hf_counterset_name, "Counterset name", "pcq.counterset.name",
               "On the wire, or learned from where pcq.learned_in says"),
    FIELD(hf_counter_id, "Counter id", "pcq.counter.id", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(counter_id_vals),
          "CounterId"),
    FIELD_TEXT(hf_counter_name, "Counter name", "pcq.counter.name",
               "On the wire, or learned from where pcq.learned_in says"),
    FIELD_U32(hf_reserved, "Reserved", "pcq.reserved", "0; its bytes mean nothing"),
    FIELD_NODE(hf_instance, "Instance", "pcq.instance", "PERF_INSTANCE_HEADER"),
    FIELD_U32(hf_instance_size, "Size", "pcq.instance.size", "Bytes of header, name and padding"),
    FIELD(hf_instance_id, "Instance id", "pcq.instance.id", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS,
          VALS(instance_id_vals), "InstanceId"),
    FIELD_TEXT(hf_instance_name, "Instance name", "pcq.instance.name",
               "Name, or pattern with * and ? where instances are asked for"),
    FIELD_TEXT(hf_identifier_path, "Path", "pcq.identifier.path",
               "What an identifier asks for, refused or not, in PDH notation; beside the error of a block too"),
};

bool pcq_fields_wanted(proto_tree *tree)
{
    return fields_wanted(tree, all_fields, array_length(all_fields)) ||
           labels_type_fields_wanted(tree, &pcq_type_fields);
}

void pcq_fields_register(int proto)
{
    static int *ett[] = {&ett_instance};

    proto_register_field_array(proto, all_fields, array_length(all_fields));
    proto_register_subtree_array(ett, array_length(ett));
    labels_register_type_fields(proto, "pcq", &pcq_type_fields);
}
