/* pcq-parts.c
 * What the files share that read lpData's parts: lessons, room in the tree, and what is left over.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-parts.h"

static int hf_undecoded = -1;

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

void pcq_parts_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_undecoded,
         {"Undecoded data", "pcq.undecoded", FT_BYTES, BASE_NONE, NULL, 0, "Bytes whose meaning is not known", HFILL}},
    };

    proto_register_field_array(proto, hf, array_length(hf));
}
