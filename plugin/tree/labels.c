/* labels.c
 * What both protocols show alike.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/labels.h"

#include "tree/fields.h"
#include "text/value-strings.h"

static int ett_counter_type = -1;

#define BIT_ROW(value, name, meaning) {value, name ": " meaning},
static const value_string type_size_vals[] = {PERF_SIZES(BIT_ROW){0, NULL}};
static const value_string type_kind_vals[] = {PERF_KINDS(BIT_ROW){0, NULL}};
static const value_string type_timer_vals[] = {PERF_TIMERS(BIT_ROW){0, NULL}};
static const value_string type_display_vals[] = {PERF_DISPLAYS(BIT_ROW){0, NULL}};

/* --- Where a fact came from ------------------------------------------------------------------------------------ */

void labels_add_source(proto_tree *tree, tvbuff_t *tvb, int hf_learned_in, proto_item *item, const state_known *known)
{
    const char *from = known->frame > PTREE_DATA(tree)->pinfo->num ? " (learned after this frame)"
                       : known->source == PERF_SOURCE_FILE         ? " (names file)"
                       : known->source == PERF_SOURCE_BUILTIN      ? " (built-in list)"
                                                                   : "";

    proto_item_set_generated(item);
    if (known->fact->lcid != 0) {
        proto_item_append_text(item, " (%s)", val_to_str_const(known->fact->lcid, text_lcid_vals, "other locale"));
    }
    proto_item_append_text(item, "%s", from);
    if (known->frame != 0) {
        proto_item_append_text(reader_add_generated_uint(tree, hf_learned_in, tvb, known->frame), "%s", from);
    }
}

const char *labels_add_name(proto_tree *tree, tvbuff_t *tvb, int hf, int hf_learned_in, state_host *server,
                            state_subject subject, uint32_t event)
{
    state_known known = {0};

    if (tree) {
        known = facts_lookup(server, subject, PERF_FACT_ENGLISH, event);
    }
    if (!known.fact) {
        return NULL;
    }
    proto_item *item = proto_tree_add_string(tree, hf, tvb, 0, 0, known.fact->name);
    labels_add_source(tree, tvb, hf_learned_in, item, &known);
    return known.fact->name;
}

/* --- Counter types --------------------------------------------------------------------------------------------- */

/* Number of the field whose meaning depends on others. */
#define SUBTYPE 2

void labels_register_type_fields(int proto, const char *prefix, labels_type_fields *fields)
{
    static int *ett[] = {&ett_counter_type};
    const hf_register_info list[] = {
        FIELD(fields->type, "Counter type", "counter.type", FT_UINT32, BASE_HEX, VALS(text_counter_type_vals),
              "PERF_* type: size, kind and how the value is calculated"),
        FIELD_MASKED(fields->bits[0], "Size", "counter.type.size", FT_UINT32, BASE_DEC, VALS(type_size_vals),
                     PERF_SIZE_MASK, "Bytes of a value"),
        FIELD_MASKED(fields->bits[1], "Kind", "counter.type.kind", FT_UINT32, BASE_DEC, VALS(type_kind_vals),
                     PERF_KIND_MASK, "Number, counter, text or nothing"),
        FIELD_MASKED(fields->bits[SUBTYPE], "Subtype", "counter.type.subtype", FT_UINT32, BASE_DEC, NULL,
                     PERF_SUBTYPE_MASK, "Its meaning depends on the kind"),
        FIELD_MASKED(fields->bits[3], "Timer", "counter.type.timer", FT_UINT32, BASE_DEC, VALS(type_timer_vals),
                     PERF_TIMER_MASK, "Time base"),
        FIELD_MASKED(fields->bits[4], "Delta", "counter.type.delta", FT_BOOLEAN, 32, NULL, PERF_DELTA_COUNTER,
                     "PERF_DELTA_COUNTER: the difference of two samples"),
        FIELD_MASKED(fields->bits[5], "Delta base", "counter.type.delta_base", FT_BOOLEAN, 32, NULL, PERF_DELTA_BASE,
                     "PERF_DELTA_BASE: the base is a difference too"),
        FIELD_MASKED(fields->bits[6], "Inverse", "counter.type.inverse", FT_BOOLEAN, 32, NULL, PERF_INVERSE,
                     "PERF_INVERSE_COUNTER: 1 minus the result"),
        FIELD_MASKED(fields->bits[7], "Multi", "counter.type.multi", FT_BOOLEAN, 32, NULL, PERF_MULTI,
                     "PERF_MULTI_COUNTER: divided by a second value"),
        FIELD_MASKED(fields->bits[8], "Display", "counter.type.display", FT_UINT32, BASE_DEC, VALS(type_display_vals),
                     PERF_DISPLAY_MASK, "Suffix"),
    };

    fields_register_prefixed(proto, prefix, list, array_length(list));
    if (ett_counter_type == -1) {
        proto_register_subtree_array(ett, array_length(ett));
    }
}

uint32_t labels_read_counter_type(bounded_reader *reader, const labels_type_fields *fields)
{
    uint32_t offset = reader->pos;
    uint32_t type = reader_u32(reader, fields->type);

    if (reader->failed) {
        return 0;
    }
    const char *subtype = perf_counter_subtype_name(type);
    proto_item *own = reader->item;
    proto_tree *tree = own ? proto_item_add_subtree(own, ett_counter_type) : NULL;
    for (unsigned i = 0; tree && i < LABELS_TYPE_BITS; i++) {
        proto_item *item = proto_tree_add_item(tree, fields->bits[i], reader->tvb, offset, 4, reader->encoding);
        if (i == SUBTYPE) {
            proto_item_append_text(item, " (%s)", subtype ? subtype : "unknown");
        }
    }
    if (perf_counter_type_find(type) == NULL && !perf_counter_type_is_text(type)) {
        findings_add(reader->report, own, FINDING_COUNTER_TYPE,
                     "Counter type 0x%08x is unknown, only its bits tell what it is", type);
    }
    return type;
}

int32_t labels_read_scale(bounded_reader *reader, int hf)
{
    int32_t scale = (int32_t)reader_u32(reader, hf);

    if (scale < -10 || scale > 10) {
        findings_add(reader->report, reader->item, FINDING_SCALE, "DefaultScale is %d, a power of ten beyond use",
                     scale);
    }
    return scale;
}
