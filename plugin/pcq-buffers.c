/* pcq-buffers.c
 * What lpData holds: the two plain lists, of countersets (opnum 0) and of instances (opnum 2); the rest has files of its own.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-parts.h"

#include "pcq/pcq-fields.h"
#include "text/text.h"
#include "text/value-strings.h"

#define INSTANCE_HEADER_SIZE 8 /* 2.2.4.5 */

/* Items of the tree that one structure can take, with what is known of it and a finding or two. */
#define ITEMS_OF_INSTANCE 12
#define ITEMS_OF_GUID 4

void pcq_context_init(pcq_context *context, perf_report *report, perf_server *server, uint32_t event, uint32_t frame)
{
    memset(context, 0, sizeof *context);
    context->report = report;
    context->server = server;
    context->event = event;
    context->frame = frame;
    context->lessons = wmem_array_new(report->pinfo->pool, sizeof(pcq_lesson));
    context->identifiers = wmem_array_new(report->pinfo->pool, sizeof(perf_identifier));
}

/* --- Opnum 0 --------------------------------------------------------------------------------------------------- */

void pcq_dissect_counterset_list(tvbuff_t *tvb, proto_tree *tree, pcq_context *context, unsigned encoding)
{
    perf_reader reader;
    uint32_t hidden = 0;

    reader_init(&reader, tvb, tree, context->report, encoding);
    while (reader_left(&reader) >= 16) {
        uint8_t guid[16];
        reader.tree = pcq_afford(tree, ITEMS_OF_GUID, &hidden);
        pcq_read_counterset_guid(&reader, guid);
        context->count++;
        if (reader.tree && reader.item) {
            const char *label =
                pcq_counterset_label(reader_pinfo(&reader)->pool, context->server, guid, context->event);
            if (label[0] != '{') {
                proto_item_append_text(reader.item, " (%s)", label);
            }
            pcq_add_known_counterset(reader.tree, tvb, context->server, guid, context->event);
        }
    }
    pcq_report_hidden(context, tree, hidden, "GUIDs");
    reader.tree = tree;
    if (reader_left(&reader) > 0) {
        reader_need(&reader, 16, "A counterset's GUID");
    }
}

/* --- Opnum 2 --------------------------------------------------------------------------------------------------- */

static bool read_instance(perf_reader *reader, pcq_context *context)
{
    pcq_instance instance;
    packet_info *pinfo = reader_pinfo(reader);

    instance.offset = reader->pos;
    instance.size = instance.stated = tvb_get_letohl(reader->tvb, reader->pos);
    instance.id = tvb_get_letohl(reader->tvb, reader->pos + 4);
    if (!pcq_check_size(reader, context, instance.size, INSTANCE_HEADER_SIZE, "the instance")) {
        pcq_add_bad_instance(reader->tree, reader->tvb, reader->pos);
        return false;
    }
    uint32_t room = instance.size - INSTANCE_HEADER_SIZE;
    instance.name_size = utf16_size(reader->tvb, reader->pos + INSTANCE_HEADER_SIZE, room);
    instance.terminated = room == 0 || instance.name_size + 2 <= room;
    if (reader->tree) {
        const char *name = perf_text_get(pinfo->pool, reader->tvb, reader->pos + INSTANCE_HEADER_SIZE,
                                         instance.name_size, PERF_CODE_PAGE_UTF16, ENC_LITTLE_ENDIAN, PERF_NAME_MAX);
        pcq_add_instance(reader->tree, reader->tvb, &instance, &name);
    }
    if (!instance.terminated) {
        perf_found(context->report, reader->node, FINDING_TEXT,
                   "The name of the instance at offset %u has no terminator", reader->pos);
    }
    check_utf16(context->report, reader->node, reader->tvb, reader->pos + INSTANCE_HEADER_SIZE, instance.name_size,
                ENC_LITTLE_ENDIAN, "The instance's name");
    reader->pos += instance.size;
    context->count++;
    return true;
}

void pcq_dissect_instances(tvbuff_t *tvb, proto_tree *tree, pcq_context *context)
{
    perf_reader reader;
    uint32_t hidden = 0;

    reader_init(&reader, tvb, tree, context->report, ENC_LITTLE_ENDIAN);
    while (reader_left(&reader) >= INSTANCE_HEADER_SIZE) {
        reader.tree = pcq_afford(tree, ITEMS_OF_INSTANCE, &hidden);
        if (!read_instance(&reader, context)) {
            break;
        }
    }
    reader.tree = tree;
    pcq_report_hidden(context, tree, hidden, "instances");
    pcq_report_rest(&reader, "the last instance");
}

void pcq_buffers_register(int proto)
{
    pcq_parts_register(proto);
    pcq_registration_register(proto);
    pcq_strings_register(proto);
    pcq_identifiers_register(proto);
}
