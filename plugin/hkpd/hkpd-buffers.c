/* hkpd-buffers.c
 * What HKEY_PERFORMANCE_DATA answers: PERF_DATA_BLOCK, in the tree and the Info column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-buffers.h"

#include "hkpd/hkpd-readings.h"
#include "hkpd/hkpd-structures.h"
#include "dcerpc/prefixed.h"
#include "tree/values.h"

/* Items of the tree that a structure takes, with what is known of it. */
#define ITEMS_OF_COUNTER_BLOCK 2
#define ITEMS_OF_VALUE 4

static int hf_counter_block = -1;
static int hf_counter_block_size = -1;
static int hf_counter_data = -1;

static int ett_counter_block = -1;
static int ett_counter_data = -1;

static value_fields fields;

/* Which finding each kind of fault is. */
static const perf_finding fault_findings[PERF_NUM_FAULT_CLASSES] = {
    [PERF_FAULT_IS_SHORT] = FINDING_STUB_SHORT, [PERF_FAULT_IS_NUMBER] = FINDING_NUMBER,
    [PERF_FAULT_IS_TYPE] = FINDING_NUMBER,      [PERF_FAULT_IS_SIZE] = FINDING_SIZE,
    [PERF_FAULT_IS_COUNT] = FINDING_COUNT,      [PERF_FAULT_IS_PLACE] = FINDING_STRING_OFFSET,
    [PERF_FAULT_IS_TEXT] = FINDING_TEXT,        [PERF_FAULT_IS_REST] = FINDING_TRAILING_BYTES,
};

/* --- PERF_COUNTER_BLOCK and its values ------------------------------------------------------------------------- */

static void show_counters(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    perf_reader reader;

    view->structure = NULL;
    view->counters = NULL;
    if (view->body == NULL || !perf_budget_take(&view->budget, ITEMS_OF_COUNTER_BLOCK)) {
        return;
    }
    hkpd_open_structure(view, view->body, hf_counter_block, ett_counter_block, walk->counters.offset,
                        walk->counters.size, PERF_COUNTER_BLOCK_SIZE, &reader);
    reader_u32(&reader, hf_counter_block_size);
    proto_item_append_text(reader.node, ": %u values", walk->object.num_definitions);
    view->counters = reader.tree;
}

static void show_value_in_full(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    const value_structure structure = {hf_counter_data, ett_counter_data, walk->value.offset, walk->value.size};
    proto_tree *tree = value_show_structure(view->counters, &structure, &fields, &view->wishes, view->readings);

    value_show_sent(tree, &fields, &view->wishes, view->readings);
}

/* What has no room any more is not walked either: many definitions can share the same bytes in many instances. */
static void hide_values(hkpd_view *view)
{
    uint64_t left = perf_block_values_left(view->walk);

    view->budget.values_hidden += left;
    view->budget.values_left -= left;
    hkpd_readings_skip_values(view->readings);
}

static void show_value(hkpd_view *view)
{
    bool affordable = perf_budget_take_bytes(&view->budget, view->walk->value.size);

    view->budget.values_left--;
    if (affordable && view->counters && perf_budget_take_value(&view->budget, ITEMS_OF_VALUE)) {
        show_value_in_full(view);
    } else if (affordable && view->object && perf_budget_take_short_value(&view->budget)) {
        value_show_short(view->object, &fields, &view->wishes, view->readings);
    } else {
        view->budget.values_hidden++;
        hide_values(view);
    }
}

/* --- The block ------------------------------------------------------------------------------------------------- */

/* The item of the field that is wrong, or of what is nearest to it: the structure that was announced last, its object or
 * the whole block. */
static proto_item *faulty_item(const hkpd_view *view)
{
    uint32_t at = view->walk->fault_offset;
    proto_item *object = proto_tree_get_parent(view->object);

    if (view->structure && at >= view->start && view->walk->object.number != UINT32_MAX) {
        return perf_field_at(view->structure, at - view->start);
    }
    if (object && at >= view->walk->object.offset) {
        return perf_field_at(object, at - view->walk->object.offset);
    }
    return view->header ? perf_field_at(view->header, at) : proto_tree_get_parent(view->tree);
}

static void show_fault(hkpd_view *view)
{
    const perf_block_walk *walk = view->walk;
    const perf_fault_info *info = &perf_block_fault_infos[walk->fault];

    if (walk->fault == PERF_BLOCK_FAULT_HEADER_SHORT) {
        hkpd_show_header(view); /* as much of it as is there; the reader reports it */
        return;
    }
    char *text = wmem_strdup_printf(hkpd_view_pool(view), info->text, walk->fault_stated, walk->fault_found);
    (info->harm ? perf_found : perf_noted)(view->context->report, faulty_item(view), fault_findings[info->kind],
                                           "At offset %u: %s", walk->fault_offset, text);
}

static void show_event(hkpd_view *view, perf_block_event event)
{
    switch (event) {
    case PERF_BLOCK_HEADER:
        hkpd_show_header(view);
        break;
    case PERF_BLOCK_OBJECT:
        hkpd_show_object(view);
        break;
    case PERF_BLOCK_DEFINITION:
        hkpd_show_definition(view);
        break;
    case PERF_BLOCK_INSTANCE:
        hkpd_show_instance(view);
        break;
    case PERF_BLOCK_COUNTERS:
        show_counters(view);
        break;
    case PERF_BLOCK_VALUE:
        show_value(view);
        break;
    case PERF_BLOCK_NO_VALUE:
        break;
    default:
        show_fault(view);
        break;
    }
}

bool hkpd_check_block(tvbuff_t *tvb, hkpd_context *context)
{
    uint32_t size = tvb_captured_length(tvb);

    perf_block_check(tvb_get_ptr(tvb, 0, (int)size), size, &context->summary);
    return context->summary.sound_objects > 0;
}

readings_answer hkpd_block_answer(tvbuff_t *tvb, const hkpd_context *context)
{
    return (readings_answer){&hkpd_readings_layout, context->server, NULL, context->sample, false, context->event, tvb};
}

static void show_structures(hkpd_view *view)
{
    perf_block_event event;

    while ((event = hkpd_readings_event(view->readings)) != PERF_BLOCK_END) {
        show_event(view, event);
    }
    perf_budget_report(&view->budget, view->context->report, proto_tree_get_parent(view->tree),
                       "objects, counter definitions or instances");
}

/* Nobody sees a tree, and nobody asked for more than values: they need no structures around them. */
static void show_values_alone(hkpd_view *view)
{
    const reading *at;

    while ((at = readings_next(view->readings)) != NULL && perf_budget_take_bytes(&view->budget, at->size) &&
           perf_budget_take_short_value(&view->budget)) {
        value_show_short(view->tree, &fields, &view->wishes, view->readings);
    }
}

static bool structures_are_wanted(proto_tree *tree)
{
    const int structures[] = {hf_counter_block, hf_counter_block_size, hf_counter_data, fields.previous,
                              fields.interval};

    return any_referenced(tree, structures, array_length(structures)) || hkpd_structures_wanted(tree);
}

void hkpd_dissect_block(tvbuff_t *tvb, proto_tree *tree, hkpd_context *context)
{
    readings_answer answer = hkpd_block_answer(tvb, context);
    value_wishes wishes = value_wishes_of(tree, &fields);
    bool structures =
        context->summary.faults > 0 || structures_are_wanted(tree) || perf_findings_wanted(context->report, tree);

    value_show_first(tree, &fields, &context->first, context->report->pinfo->pool, &answer, context->summary.values);
    if (!structures && !wishes.any) {
        return;
    }
    hkpd_view *view = wmem_new0(context->report->pinfo->pool, hkpd_view);
    view->tvb = tvb;
    view->tree = tree;
    view->context = context;
    view->fields = &fields;
    view->wishes = wishes;
    view->readings = readings_begin(context->report->pinfo->pool, &answer);
    view->walk = hkpd_readings_walk(view->readings);
    perf_budget_init(&view->budget, tree, context->summary.values, tvb_captured_length(tvb));
    if (structures) {
        show_structures(view);
    } else {
        show_values_alone(view);
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

void hkpd_buffers_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_counter_block,
         {"Counter block", "hkpd.counter_block", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTER_BLOCK", HFILL}},
        {&hf_counter_block_size,
         {"Size", "hkpd.counter_block.size", FT_UINT32, BASE_DEC, NULL, 0, "ByteLength", HFILL}},
        {&hf_counter_data,
         {"Counter data", "hkpd.counter_data", FT_NONE, BASE_NONE, NULL, 0, "What one definition defines", HFILL}},
    };
    static int *ett[] = {&ett_counter_block, &ett_counter_data};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    hkpd_structures_register(proto);
    value_fields_register(proto, "hkpd", &fields);
}
