/* pcq-data.c
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) in the tree and the Info column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-data.h"

#include "pcq-fields.h"
#include "pcq-values.h"
#include "tree/budget.h"
#include "tree/labels.h"
#include "tree/strings.h"
#include "perf/bytes.h"

/* Items of the tree that a structure takes. For a value: in full, and with nothing but value, path and result. */
#define ITEMS_OF_VALUE 8
#define ITEMS_OF_INSTANCE 4
#define ITEMS_OF_ID 5
#define ITEMS_OF_BLOCK 14

static int proto_pcq_data = -1;

static int hf_data_header = -1;
static int hf_total_size = -1;
static int hf_num_counters = -1;
static int hf_perf_time_stamp = -1;
static int hf_perf_time_100ns = -1;
static int hf_perf_freq = -1;
static int hf_system_time = -1;
static int hf_sample_previous = -1;
static int hf_sample_interval = -1;
static int hf_block = -1;
static int hf_block_status = -1;
static int hf_block_type = -1;
static int hf_block_size = -1;
static int hf_multi_counters = -1;
static int hf_multi_counters_size = -1;
static int hf_multi_counters_count = -1;
static int hf_multi_instances = -1;
static int hf_multi_instances_size = -1;
static int hf_multi_instances_count = -1;
static int hf_counter_data = -1;
static int hf_value_data_size = -1;
static int hf_value_size = -1;
static int hf_value = -1;
static int hf_value_text = -1;
static int hf_value_raw = -1;

static perf_value_fields value_fields;

static int ett_data_header = -1;
static int ett_block = -1;
static int ett_multi = -1;
static int ett_id = -1;
static int ett_counter_data = -1;

/* Which finding each fault of the walk is. */
static perf_finding fault_finding(perf_walk_fault fault)
{
    switch (fault) {
    case PERF_FAULT_BLOCK_COUNT:
    case PERF_FAULT_COUNTERS_COUNT:
    case PERF_FAULT_INSTANCES_COUNT:
    case PERF_FAULT_VALUE_COUNT:
        return FINDING_COUNT;
    case PERF_FAULT_BLOCK_REST:
    case PERF_FAULT_INSTANCES_REST:
    case PERF_FAULT_TRAILING:
        return FINDING_TRAILING_BYTES;
    case PERF_FAULT_BLOCK_TYPE:
        return FINDING_BLOCK_TYPE;
    case PERF_FAULT_HEADER_SHORT:
        return FINDING_STUB_SHORT;
    default:
        return FINDING_SIZE;
    }
}

/* The state of showing one buffer. */
typedef struct {
    tvbuff_t *tvb;
    pcq_data_context *context;
    pcq_values values;
    perf_walk walk;
    proto_tree *tree;  /* of the buffer */
    proto_tree *block; /* of the current block, NULL if it is not shown */
    proto_item *block_item;
    proto_tree *instance; /* of the current instance, else the block */
    perf_budget budget;
    bool order_reported;
} data_view;

static wmem_allocator_t *pool_of(const data_view *view)
{
    return view->context->report->pinfo->pool;
}

/* --- PERF_DATA_HEADER, 2.2.4.7 --------------------------------------------------------------------------------- */

static void show_sample(data_view *view, proto_tree *tree)
{
    if (view->values.previous_frame == 0) {
        return;
    }
    add_generated_uint(tree, hf_sample_previous, view->tvb, view->values.previous_frame);
    if (view->values.interval > 0) {
        proto_item_set_generated(
            proto_tree_add_double(tree, hf_sample_interval, view->tvb, 0, 0, view->values.interval));
    }
}

static void show_header(data_view *view)
{
    perf_reader outer, reader;

    reader_init(&outer, view->tvb, view->tree, view->context->report, ENC_LITTLE_ENDIAN);
    reader_structure(&outer, hf_data_header, ett_data_header, PERF_DATA_HEADER_SIZE, &reader);
    reader_u32(&reader, hf_total_size);
    uint32_t blocks = reader_u32(&reader, hf_num_counters);
    reader_u64(&reader, hf_perf_time_stamp);
    reader_filetime(&reader, hf_perf_time_100ns);
    uint64_t freq = reader_u64(&reader, hf_perf_freq);
    if (freq == 0 && !reader.failed) {
        perf_found(reader.report, reader.item, FINDING_TIME, "PerfFreq is 0: rates cannot be calculated");
    }
    reader_systemtime(&reader, hf_system_time);
    if (reader.tree) {
        show_sample(view, reader.tree);
        proto_item_append_text(reader.node, ": %u blocks, %u values", blocks, view->context->summary.values);
    }
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

static const char *identifier_text(data_view *view, const perf_identifier *identifier)
{
    wmem_allocator_t *pool = pool_of(view);
    const char *set = pcq_counterset_label(pool, view->context->server, identifier->guid, view->context->event);
    const char *counter =
        pcq_counter_label(pool, view->context->server, identifier->guid, identifier->counter_id, view->context->event);

    return identifier->instance ? wmem_strdup_printf(pool, "\\%s(%s)\\%s", set, identifier->instance, counter)
                                : wmem_strdup_printf(pool, "\\%s\\%s", set, counter);
}

static void label_block(data_view *view, proto_item *item)
{
    const perf_walk *walk = &view->walk;
    const perf_assignment *assigned = &view->values.now.assigned;
    const perf_identifier *identifier =
        walk->block.index < assigned->count ? assigned->blocks[walk->block.index] : NULL;

    proto_item_append_text(item, " %u: %s", walk->block.index,
                           val_to_str_const(walk->block.type, block_type_vals, "unknown dwType"));
    if (identifier) {
        proto_item_append_text(item, ", %s%s", identifier_text(view, identifier),
                               assigned->assumed ? " (order assumed)" : "");
    }
    if (walk->block.status != 0) {
        proto_item_append_text(item, ", %s", win32_error_name(pool_of(view), walk->block.status));
    }
}

/* PERF_COUNTER_HEADER, 2.2.4.8 */
static void show_block(data_view *view)
{
    const perf_walk *walk = &view->walk;
    uint32_t at = walk->block.offset;

    view->block = view->instance = NULL;
    view->block_item = NULL;
    if (view->tree == NULL || !perf_budget_take_any(&view->budget, ITEMS_OF_BLOCK)) {
        view->budget.others_hidden++;
        return;
    }
    view->block_item = proto_tree_add_item(view->tree, hf_block, view->tvb, at, walk->block.end - at, ENC_NA);
    view->block = view->instance = proto_item_add_subtree(view->block_item, ett_block);
    proto_tree_add_item(view->block, hf_block_status, view->tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(view->block, hf_block_type, view->tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(view->block, hf_block_size, view->tvb, at + 8, 4, ENC_LITTLE_ENDIAN);
    pcq_add_reserved(view->block, view->tvb, at + 12);
    label_block(view, view->block_item);
}

static void show_id(data_view *view, proto_tree *tree, uint32_t column, const perf_identifier *identifier)
{
    proto_item *item;
    uint32_t id = perf_walk_counter_id(&view->walk, column);

    pcq_add_counter_id(tree, view->tvb, view->walk.counters.ids + 4 * column, &item);
    if (identifier) {
        proto_tree *inner = proto_item_add_subtree(item, ett_id);
        const char *name =
            pcq_add_known_counter(inner, view->tvb, view->context->server, identifier->guid, id, view->context->event);
        pcq_add_known_type(inner, view->tvb, view->context->server, identifier->guid, id, view->context->event);
        if (name) {
            proto_item_append_text(item, " (%s)", name);
        }
    }
}

/* PERF_MULTI_COUNTERS, 2.2.4.11 */
static void show_counters(data_view *view)
{
    const perf_walk *walk = &view->walk;
    const perf_identifier *identifier = view->values.now.assigned.blocks[walk->block.index];
    uint32_t at = walk->counters.offset;

    if (view->block == NULL) {
        return;
    }
    proto_item *item = proto_tree_add_item(view->block, hf_multi_counters, view->tvb, at, walk->counters.size, ENC_NA);
    proto_tree *tree = proto_item_add_subtree(item, ett_multi);
    proto_tree_add_item(tree, hf_multi_counters_size, view->tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(tree, hf_multi_counters_count, view->tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    proto_item_append_text(item, ": %u counters", walk->counters.count);
    for (uint32_t column = 0; column < walk->counters.count; column++) {
        if (!perf_budget_take(&view->budget, ITEMS_OF_ID)) {
            view->budget.others_hidden += walk->counters.count - column;
            break;
        }
        show_id(view, tree, column, identifier);
    }
}

/* PERF_MULTI_INSTANCES, 2.2.4.10 */
static void show_instances(data_view *view)
{
    const perf_walk *walk = &view->walk;
    uint32_t at = walk->instances.offset;

    if (view->block == NULL) {
        return;
    }
    proto_item *item =
        proto_tree_add_item(view->block, hf_multi_instances, view->tvb, at, PERF_MULTI_INSTANCES_SIZE, ENC_NA);
    proto_tree *tree = proto_item_add_subtree(item, ett_multi);
    proto_tree_add_item(tree, hf_multi_instances_size, view->tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(tree, hf_multi_instances_count, view->tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    proto_item_append_text(item, ": %u instances", walk->instances.count);
}

static void check_instance(data_view *view)
{
    const perf_walk *walk = &view->walk;

    if (walk->instance.size % 8 != 0) {
        perf_found(view->context->report, view->block_item, FINDING_SIZE,
                   "Size of the instance at offset %u is %u, not a multiple of 8", walk->instance.offset,
                   walk->instance.size);
    }
    if (!walk->instance.terminated) {
        perf_found(view->context->report, view->block_item, FINDING_TEXT,
                   "The name of the instance at offset %u has no terminator", walk->instance.offset);
    }
}

static void show_instance(data_view *view)
{
    const perf_walk *walk = &view->walk;

    view->instance = view->block;
    check_instance(view);
    if (view->block == NULL || !perf_budget_take(&view->budget, ITEMS_OF_INSTANCE)) {
        view->budget.others_hidden += walk->values_left == 0;
        return;
    }
    pcq_instance instance = {walk->instance.offset, walk->instance.size, walk->instance.id, walk->instance.name_size,
                             walk->instance.terminated};
    const char *name = utf16_string(pool_of(view), view->tvb, walk->instance.name, walk->instance.name_size);
    view->instance = pcq_add_instance(view->block, view->tvb, &instance, &name);
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

static void show_raw_value(data_view *view, proto_tree *tree, const pcq_value *value)
{
    const perf_walk *walk = &view->walk;
    uint32_t at = walk->value.data;
    uint32_t size = walk->value.data_size;

    if (value->is_text) {
        const char *text = utf16_string(pool_of(view), view->tvb, at, utf16_size(view->tvb, at, size));
        proto_tree_add_string(tree, hf_value_text, view->tvb, at, size, text);
    } else if (value->is_number) {
        proto_tree_add_uint64(tree, hf_value, view->tvb, at, size, value->raw);
    } else if (size > 0) {
        proto_tree_add_item(tree, hf_value_raw, view->tvb, at, size, ENC_NA);
    }
}

static const char *value_text(data_view *view, const pcq_value *value)
{
    const perf_walk *walk = &view->walk;
    wmem_allocator_t *pool = pool_of(view);

    if (value->is_text) {
        uint32_t size = utf16_size(view->tvb, walk->value.data, walk->value.data_size);
        return wmem_strdup_printf(pool, "\"%s\"", utf16_string(pool, view->tvb, walk->value.data, size));
    }
    if (value->result.none == PERF_NONE_OK) {
        return pcq_result_text(pool, value->type, value->result.value);
    }
    if (value->is_number) {
        return wmem_strdup_printf(pool, "%" PRIu64 " (raw; %s)", value->raw,
                                  val_to_str_const(value->result.none, none_reason_vals, "not calculated"));
    }
    return wmem_strdup_printf(pool, "%u bytes", walk->value.data_size);
}

static void show_meaning(data_view *view, proto_tree *tree, const pcq_value *value, const char *path)
{
    perf_show_path(tree, view->tvb, &value_fields, path);
    if (!value->is_text) {
        perf_show_result(tree, view->tvb, &value_fields, value->type, &value->result);
    }
}

/* PERF_COUNTER_DATA, 2.2.4.9 */
static void show_value_in_full(data_view *view, const pcq_value *value, const char *path)
{
    const perf_walk *walk = &view->walk;
    uint32_t at = walk->value.offset;
    proto_item *item = proto_tree_add_item(view->instance, hf_counter_data, view->tvb, at, walk->value.size, ENC_NA);
    proto_tree *tree = proto_item_add_subtree(item, ett_counter_data);

    proto_tree_add_item(tree, hf_value_data_size, view->tvb, at, 4, ENC_LITTLE_ENDIAN);
    proto_tree_add_item(tree, hf_value_size, view->tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
    show_raw_value(view, tree, value);
    show_meaning(view, tree, value, path);
    perf_show_formula(tree, view->tvb, &value_fields, value->type);
    if (path) {
        proto_item_append_text(item, ": %s = %s", path, value_text(view, value));
    } else if (value->counter_id != PERF_NO_ID) {
        proto_item_append_text(item, ": #%u = %s", value->counter_id, value_text(view, value));
    } else {
        proto_item_append_text(item, ": %s", value_text(view, value));
    }
}

/* One whose sizes don't fit: what is certain of it. */
static void show_bad_value(data_view *view)
{
    uint32_t at = view->walk.value.offset;

    if (view->block && perf_budget_take(&view->budget, ITEMS_OF_VALUE)) {
        proto_item *item =
            proto_tree_add_item(view->instance, hf_counter_data, view->tvb, at, view->walk.value.size, ENC_NA);
        proto_tree *tree = proto_item_add_subtree(item, ett_counter_data);
        proto_tree_add_item(tree, hf_value_data_size, view->tvb, at, 4, ENC_LITTLE_ENDIAN);
        proto_tree_add_item(tree, hf_value_size, view->tvb, at + 4, 4, ENC_LITTLE_ENDIAN);
        proto_item_append_text(item, ": unreadable");
    }
}

static void show_value(data_view *view)
{
    pcq_value value;

    view->budget.values_left--;
    bool in_full = view->block && perf_budget_take(&view->budget, ITEMS_OF_VALUE);
    if (view->block == NULL || (!in_full && !perf_budget_take_any(&view->budget, ITEMS_OF_SHORT_VALUE))) {
        view->budget.values_hidden++;
        return;
    }
    pcq_values_get(&view->values, &view->walk, &value);
    const char *path = pcq_values_path(&view->values, &view->walk, &value);
    if (in_full) {
        show_value_in_full(view, &value, path);
        return;
    }
    show_raw_value(view, view->block, &value);
    show_meaning(view, view->block, &value, path);
}

/* --- The buffer ------------------------------------------------------------------------------------------------ */

static void show_fault(data_view *view)
{
    const perf_walk *walk = &view->walk;
    bool in_block = walk->fault != PERF_FAULT_HEADER_SHORT && walk->fault != PERF_FAULT_TRAILING &&
                    walk->fault != PERF_FAULT_BLOCK_COUNT && walk->fault != PERF_FAULT_TOTAL_SIZE;

    if (walk->fault == PERF_FAULT_HEADER_SHORT) {
        show_header(view); /* as much of it as is there; the reader reports it */
        return;
    }
    perf_found(view->context->report, in_block ? view->block_item : proto_tree_get_parent(view->tree),
               fault_finding(walk->fault), "At offset %u: %s", walk->fault_offset, perf_walk_fault_text[walk->fault]);
}

static void show_event(data_view *view, perf_walk_event event)
{
    switch (event) {
    case PERF_WALK_HEADER:
        show_header(view);
        break;
    case PERF_WALK_BLOCK:
        show_block(view);
        break;
    case PERF_WALK_COUNTERS:
        show_counters(view);
        break;
    case PERF_WALK_INSTANCES:
        show_instances(view);
        break;
    case PERF_WALK_INSTANCE:
        show_instance(view);
        break;
    case PERF_WALK_NO_INSTANCE:
        if (view->block) {
            pcq_add_bad_instance(view->block, view->tvb, view->walk.instance.offset);
        }
        break;
    case PERF_WALK_VALUE:
        show_value(view);
        break;
    case PERF_WALK_NO_VALUE:
        show_bad_value(view);
        break;
    default:
        show_fault(view);
        break;
    }
}

bool pcq_check_data(tvbuff_t *tvb, pcq_data_context *context)
{
    uint32_t size = tvb_captured_length(tvb);

    return perf_data_check(size > 0 ? tvb_get_ptr(tvb, 0, (int)size) : NULL, size, &context->summary);
}

void pcq_dissect_data(tvbuff_t *tvb, proto_tree *tree, pcq_data_context *context)
{
    data_view *view;
    perf_walk_event event;
    uint32_t size = tvb_captured_length(tvb);

    if (size == 0 || (context->summary.faults == 0 && !proto_field_is_referenced(tree, proto_pcq_data))) {
        return;
    }
    view = wmem_new0(context->report->pinfo->pool, data_view);
    view->tvb = tvb;
    view->context = context;
    view->tree = tree;
    perf_budget_init(&view->budget, tree, context->summary.values);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    pcq_values_init(&view->values, context->report->pinfo->pool, context->server, context->handle, context->sample,
                    context->event, bytes, size, false);
    if (view->values.now.assigned.assumed) {
        perf_found(context->report, proto_tree_get_parent(tree), FINDING_ORDER_ASSUMED,
                   "QueryCounterInfo was not captured: which counter a value belongs to is assumed from the order in "
                   "which the counters were added");
    }
    perf_walk_init(&view->walk, bytes, size);
    while ((event = perf_walk_next(&view->walk)) != PERF_WALK_END) {
        show_event(view, event);
    }
    perf_budget_report(&view->budget, context->report, proto_tree_get_parent(tree), "blocks, counter ids or instances");
}

const char *pcq_first_value(tvbuff_t *tvb, pcq_data_context *context)
{
    data_view view;
    pcq_value value;
    uint32_t size = tvb_captured_length(tvb);

    if (context->summary.values == 0) {
        return NULL;
    }
    memset(&view, 0, sizeof view);
    view.tvb = tvb;
    view.context = context;
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    pcq_values_init(&view.values, pool_of(&view), context->server, context->handle, context->sample, context->event,
                    bytes, size, true);
    perf_walk_init(&view.walk, bytes, size);
    while (perf_walk_next(&view.walk) != PERF_WALK_VALUE) {
    }
    pcq_values_get(&view.values, &view.walk, &value);
    const char *path = pcq_values_path(&view.values, &view.walk, &value);
    return path ? wmem_strdup_printf(pool_of(&view), "%s = %s", path, value_text(&view, &value)) : NULL;
}

void pcq_data_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_data_header,
         {"Counter data header", "pcq.data_header", FT_NONE, BASE_NONE, NULL, 0, "PERF_DATA_HEADER", HFILL}},
        {&hf_total_size,
         {"Total size", "pcq.data.total_size", FT_UINT32, BASE_DEC, NULL, 0, "dwTotalSize: bytes of header and blocks",
          HFILL}},
        {&hf_num_counters,
         {"Number of blocks", "pcq.data.num_counters", FT_UINT32, BASE_DEC, NULL, 0, "dwNumCounters", HFILL}},
        {&hf_perf_time_stamp,
         {"Performance time", "pcq.data.perf_time_stamp", FT_UINT64, BASE_DEC, NULL, 0,
          "PerfTimeStamp, in units of 1 / PerfFreq seconds", HFILL}},
        {&hf_perf_time_100ns,
         {"Time", "pcq.data.perf_time_100ns", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0, "PerfTime100NSec", HFILL}},
        {&hf_perf_freq,
         {"Frequency", "pcq.data.perf_freq", FT_UINT64, BASE_DEC, NULL, 0, "PerfFreq, per second", HFILL}},
        {&hf_system_time,
         {"System time", "pcq.data.system_time", FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, 0, "SystemTime", HFILL}},
        {&hf_sample_previous,
         {"Previous sample", "pcq.sample.previous", FT_FRAMENUM, BASE_NONE, NULL, 0,
          "The sample that values are calculated from together with this one", HFILL}},
        {&hf_sample_interval,
         {"Interval", "pcq.sample.interval", FT_DOUBLE, BASE_NONE, NULL, 0,
          "Seconds since the previous sample, by the server's clock", HFILL}},
        {&hf_block, {"Block", "pcq.block", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTER_HEADER and its data", HFILL}},
        {&hf_block_status,
         {"Status", "pcq.block.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &win32_error_ext, 0, "dwStatus", HFILL}},
        {&hf_block_type, {"Type", "pcq.block.type", FT_UINT32, BASE_HEX, VALS(block_type_vals), 0, "dwType", HFILL}},
        {&hf_block_size,
         {"Size", "pcq.block.size", FT_UINT32, BASE_DEC, NULL, 0, "dwSize: bytes of the whole block", HFILL}},
        {&hf_multi_counters,
         {"Counters", "pcq.multi_counters", FT_NONE, BASE_NONE, NULL, 0, "PERF_MULTI_COUNTERS", HFILL}},
        {&hf_multi_counters_size, {"Size", "pcq.multi_counters.size", FT_UINT32, BASE_DEC, NULL, 0, "dwSize", HFILL}},
        {&hf_multi_counters_count,
         {"Number of counters", "pcq.multi_counters.count", FT_UINT32, BASE_DEC, NULL, 0, "dwCounters", HFILL}},
        {&hf_multi_instances,
         {"Instances", "pcq.multi_instances", FT_NONE, BASE_NONE, NULL, 0, "PERF_MULTI_INSTANCES", HFILL}},
        {&hf_multi_instances_size,
         {"Size", "pcq.multi_instances.size", FT_UINT32, BASE_DEC, NULL, 0, "dwTotalSize", HFILL}},
        {&hf_multi_instances_count,
         {"Number of instances", "pcq.multi_instances.count", FT_UINT32, BASE_DEC, NULL, 0, "dwInstances", HFILL}},
        {&hf_counter_data,
         {"Counter data", "pcq.counter_data", FT_NONE, BASE_NONE, NULL, 0, "PERF_COUNTER_DATA", HFILL}},
        {&hf_value_data_size,
         {"Data size", "pcq.value.data_size", FT_UINT32, BASE_DEC, NULL, 0, "dwDataSize: bytes of the value", HFILL}},
        {&hf_value_size,
         {"Size", "pcq.value.size", FT_UINT32, BASE_DEC, NULL, 0, "dwSize: bytes of header, value and padding", HFILL}},
        {&hf_value, {"Value", "pcq.value", FT_UINT64, BASE_DEC, NULL, 0, "As sent, not calculated", HFILL}},
        {&hf_value_text, {"Text", "pcq.value.text", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}},
        {&hf_value_raw, {"Value", "pcq.value.raw", FT_BYTES, BASE_NONE, NULL, 0, "Neither 4 nor 8 bytes long", HFILL}},
    };
    static int *ett[] = {&ett_data_header, &ett_block, &ett_multi, &ett_id, &ett_counter_data};

    proto_pcq_data = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    perf_value_fields_register(proto, "pcq", &value_fields);
}
