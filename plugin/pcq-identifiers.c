/* pcq-identifiers.c
 * The counter identifiers of opnums 5 and 7 ([MS-PCQ] 2.2.4.6).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-parts.h"

#include "pcq/pcq-fields.h"
#include "text/value-strings.h"

#define COUNTER_IDENTIFIER_SIZE 40 /* 2.2.4.6 */

/* Items of the tree that one structure can take, with what is known of it and a finding or two. */
#define ITEMS_OF_IDENTIFIER 30

static int hf_identifier = -1;
static int hf_identifier_status = -1;
static int hf_identifier_size = -1;
static int hf_identifier_index = -1;

static int ett_identifier = -1;

static const value_string wildcard_index_vals[] = {{PERF_NO_ID, "none"}, {0, NULL}};

static void read_identifier_name(perf_reader *reader, perf_identifier *identifier)
{
    packet_info *pinfo = reader_pinfo(reader);
    uint32_t room = reader_left(reader);
    uint32_t start = reader->pos;

    if (room == 0) {
        return;
    }
    identifier->instance = pcq_read_instance_name(reader, room);
    identifier->utf16_size = utf16_size(reader->tvb, start, room);
    identifier->utf16 = tvb_memdup(pinfo->pool, reader->tvb, start, identifier->utf16_size);
    if (identifier->instance && *identifier->instance == '\0') {
        identifier->instance = NULL;
    }
}

static void label_identifier(perf_reader *reader, pcq_context *context, const perf_identifier *identifier)
{
    wmem_allocator_t *pool = reader_pinfo(reader)->pool;

    pcq_add_known_counterset(reader->tree, reader->tvb, context->server, identifier->guid, context->event);
    pcq_add_known_counter(reader->tree, reader->tvb, context->server, identifier->guid, identifier->counter_id,
                          context->event);
    pcq_add_known_type(reader->tree, reader->tvb, context->server, identifier->guid, identifier->counter_id,
                       context->event);
    if (reader->node) {
        const char *set = pcq_counterset_label(pool, context->server, identifier->guid, context->event);
        const char *counter =
            pcq_counter_label(pool, context->server, identifier->guid, identifier->counter_id, context->event);
        if (identifier->instance) {
            proto_item_append_text(reader->node, ": \\%s(%s)\\%s", set, identifier->instance, counter);
        } else {
            proto_item_append_text(reader->node, ": \\%s\\%s", set, counter);
        }
        if (context->is_response && identifier->status != 0) {
            proto_item_append_text(reader->node, ", %s", win32_error_name(pool, identifier->status));
        }
    }
}

/* PERF_COUNTER_IDENTIFIER, 2.2.4.6 */
static bool read_identifier(perf_reader *outer, pcq_context *context)
{
    perf_reader reader;
    perf_identifier identifier;
    uint32_t size = tvb_get_letohl(outer->tvb, outer->pos + 20);
    bool sound = pcq_check_size(outer, context, size, COUNTER_IDENTIFIER_SIZE, "the identifier");

    memset(&identifier, 0, sizeof identifier);
    reader_structure(outer, hf_identifier, ett_identifier, sound ? size : COUNTER_IDENTIFIER_SIZE, &reader);
    pcq_read_counterset_guid(&reader, identifier.guid);
    identifier.status = reader_u32(&reader, hf_identifier_status);
    if (!context->is_response && !reader.failed) {
        proto_item_set_text(reader.item, "Status: %u (without meaning here)", identifier.status);
    }
    reader_u32(&reader, hf_identifier_size);
    identifier.counter_id = pcq_read_counter_id(&reader);
    identifier.instance_id = pcq_read_instance_id(&reader);
    identifier.index = reader_u32(&reader, hf_identifier_index);
    pcq_read_reserved(&reader);
    read_identifier_name(&reader, &identifier);
    label_identifier(&reader, context, &identifier);
    wmem_array_append_one(context->identifiers, identifier);
    context->count++;
    if (identifier.status != 0 && context->refused++ == 0) {
        context->first_refusal = identifier.status;
    }
    return sound;
}

void pcq_dissect_identifiers(tvbuff_t *tvb, proto_tree *tree, pcq_context *context)
{
    perf_reader reader;
    uint32_t hidden = 0;
    bool sound = true;

    reader_init(&reader, tvb, tree, context->report, ENC_LITTLE_ENDIAN);
    while (sound && reader_left(&reader) >= COUNTER_IDENTIFIER_SIZE) {
        reader.tree = pcq_afford(tree, ITEMS_OF_IDENTIFIER, &hidden);
        sound = read_identifier(&reader, context);
    }
    reader.tree = tree;
    pcq_report_hidden(context, tree, hidden, "identifiers");
    if (sound && reader_left(&reader) > 0) {
        perf_found(context->report, reader.node, FINDING_SIZE, "%u bytes are too few for a PERF_COUNTER_IDENTIFIER",
                   reader_left(&reader));
    }
    pcq_report_rest(&reader, "the last identifier");
}

void pcq_identifiers_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_identifier,
         {"Counter identifier", "pcq.identifier", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTER_IDENTIFIER", HFILL}},
        {&hf_identifier_status,
         {"Status", "pcq.identifier.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &win32_error_ext, 0,
          "The server's verdict; without meaning in a request", HFILL}},
        {&hf_identifier_size,
         {"Size", "pcq.identifier.size", FT_UINT32, BASE_DEC, NULL, 0, "Bytes of header, name and padding", HFILL}},
        {&hf_identifier_index,
         {"Index", "pcq.identifier.index", FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(wildcard_index_vals), 0,
          "Which block of the counter data is this identifier's", HFILL}},
    };
    static int *ett[] = {&ett_identifier};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
