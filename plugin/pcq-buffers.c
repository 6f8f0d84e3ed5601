/* pcq-buffers.c
 * What lpData holds: what its parts share, and the two plain lists, of countersets (opnum 0) and of instances (opnum 2).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-parts.h"

#include "pcq-fields.h"
#include "readings/text.h"
#include "tree/strings.h"

#define INSTANCE_HEADER_SIZE 8 /* 2.2.4.5 */

/* Items of the tree that one structure can take, with what is known of it and a finding or two. */
#define ITEMS_OF_INSTANCE 12
#define ITEMS_OF_GUID 4

static int hf_undecoded = -1;

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

pcq_lesson *pcq_new_lesson(pcq_context *context, const uint8_t *guid, uint32_t id, perf_fact_kind kind)
{
    pcq_lesson lesson;

    memset(&lesson, 0, sizeof lesson);
    memcpy(lesson.subject.guid, guid, 16);
    lesson.subject.id = id;
    lesson.kind = kind;
    wmem_array_append_one(context->lessons, lesson);
    return wmem_array_index(context->lessons, wmem_array_get_count(context->lessons) - 1);
}

/* English is what the English request codes return, and what any English locale returns. */
void pcq_teach_name(pcq_context *context, uint32_t id, const char *name)
{
    bool local = context->request_code == PERF_REG_COUNTERSET_NAME_STRING ||
                 context->request_code == PERF_REG_COUNTER_NAME_STRINGS;
    bool english = !local || (context->lcid & 0x3FF) == 0x09;

    if (name && *name) {
        pcq_lesson *lesson = pcq_new_lesson(context, context->guid, id, english ? PERF_FACT_ENGLISH : PERF_FACT_LOCAL);
        lesson->fact.name = name;
        lesson->fact.lcid = local ? context->lcid : 0;
    }
}

/* The tree, or NULL if it has no room for `items` more; then `hidden` counts what is not shown. */
proto_tree *pcq_afford(proto_tree *tree, uint32_t items, uint32_t *hidden)
{
    if (tree && (*hidden > 0 || tree_room(tree) < items)) {
        (*hidden)++;
        return NULL;
    }
    return tree;
}

void pcq_report_hidden(pcq_context *context, proto_tree *tree, uint32_t hidden, const char *what)
{
    if (hidden > 0) {
        perf_found(context->report, proto_tree_get_parent(tree), FINDING_NOT_SHOWN,
                   "%u %s are not shown, a packet's tree is limited", hidden, what);
    }
}

void pcq_dissect_unknown(tvbuff_t *tvb, proto_tree *tree)
{
    if (tvb_captured_length(tvb) > 0) {
        proto_tree_add_item(tree, hf_undecoded, tvb, 0, -1, ENC_NA);
    }
}

void pcq_report_rest(perf_reader *reader, const char *behind)
{
    uint32_t left = reader_left(reader);

    if (left > 0) {
        proto_item *item = proto_tree_add_item(reader->tree, hf_undecoded, reader->tvb, reader->pos, left, ENC_NA);
        perf_found(reader->report, item, FINDING_TRAILING_BYTES, "%u bytes are left behind %s", left, behind);
    }
}

/* True if `size` is that of a structure with a header of `header` bytes that fits; what else is odd is reported. */
bool pcq_check_size(perf_reader *reader, pcq_context *context, uint32_t size, uint32_t header, const char *what)
{
    if (size < header || size > reader_left(reader)) {
        perf_found(context->report, reader->node, FINDING_SIZE,
                   "Size of %s at offset %u is %u, it can be %u to %u; what follows cannot be found", what, reader->pos,
                   size, header, reader_left(reader));
        return false;
    }
    if (size % 8 != 0) {
        perf_found(context->report, reader->node, FINDING_SIZE, "Size of %s at offset %u is %u, not a multiple of 8",
                   what, reader->pos, size);
    }
    return true;
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
    instance.size = tvb_get_letohl(reader->tvb, reader->pos);
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
    static hf_register_info hf[] = {
        {&hf_undecoded,
         {"Undecoded data", "pcq.undecoded", FT_BYTES, BASE_NONE, NULL, 0, "Bytes whose meaning is not known", HFILL}},
    };

    proto_register_field_array(proto, hf, array_length(hf));
    pcq_registration_register(proto);
    pcq_strings_register(proto);
    pcq_identifiers_register(proto);
}
