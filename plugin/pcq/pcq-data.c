/* pcq-data.c
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) in the tree, and what it shares with other buffers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq/pcq-data.h"

#include "tree/fields.h"
#include "text/value-strings.h"
#include "perf/bytes.h"

/* Items of the tree that a structure takes. */
#define ITEMS_OF_VALUE 7
#define ITEMS_OF_INSTANCE 4
#define ITEMS_OF_ID 5
#define ITEMS_OF_BLOCK 14

int hf_pcq_counterset_guid, hf_pcq_counterset_name, hf_pcq_counter_id, hf_pcq_counter_name, hf_pcq_reserved,
    hf_pcq_instance, hf_pcq_instance_size, hf_pcq_instance_id, hf_pcq_instance_name, hf_pcq_identifier_path;

/* PERF_DATA_HEADER, 2.2.4.7 */
#define DATA_HEADER(X, S) \
    X(U32, total_size, "Total size", "pcq.data.total_size", "dwTotalSize: bytes of header and blocks") \
    X(U32, num_counters, "Number of blocks", "pcq.data.num_counters", "dwNumCounters") \
    X(U64, perf_time_stamp, "Performance time", "pcq.data.perf_time_stamp", \
      "PerfTimeStamp, in units of 1 / PerfFreq seconds") \
    X(FILETIME, perf_time_100ns, "Time", "pcq.data.perf_time_100ns", "PerfTime100NSec") \
    X(FREQUENCY, perf_freq, "Frequency", "pcq.data.perf_freq", "PerfFreq, per second") \
    X(SYSTEMTIME, system_time, "System time", "pcq.data.system_time", "SystemTime")

/* PERF_COUNTER_HEADER, 2.2.4.8 */
#define COUNTER_HEADER(X, S) \
    X(ERROR, block_status, "Status", "pcq.block.status", "dwStatus") \
    X(HEX_OF, block_type, "Type", "pcq.block.type", text_block_type_vals, "dwType") \
    X(U32, block_size, "Size", "pcq.block.size", "dwSize: bytes of the whole block") \
    S(U32, pcq_reserved)

DATA_HEADER(FIELD_ID, FIELD_SHARED)
COUNTER_HEADER(FIELD_ID, FIELD_SHARED)
static int hf_data_header, hf_block, hf_multi_counters, hf_multi_counters_size, hf_multi_counters_count,
    hf_multi_instances, hf_multi_instances_size, hf_multi_instances_count, hf_counter_data, hf_value_data_size,
    hf_value_size;

static int ett_instance = -1, ett_data_header = -1, ett_block = -1, ett_multi = -1, ett_id = -1, ett_counter_data = -1;

/* --- Known from elsewhere -------------------------------------------------------------------------------------- */

const char *pcq_add_known_counterset(buffer_cursor *cursor, state_host *server, const uint8_t *guid, uint32_t event)
{
    return values_add_name(cursor, hf_pcq_counterset_name, server, facts_subject(guid, PERF_NO_ID), event);
}

const char *pcq_add_known_counter(buffer_cursor *cursor, state_host *server, const uint8_t *guid, uint32_t id,
                                  uint32_t event, bool with_type)
{
    const state_subject subject = facts_subject(guid, id);
    state_known type = {0};

    if (cursor->tree == NULL || id == PERF_NO_ID) {
        return NULL;
    }
    const char *name = values_add_name(cursor, hf_pcq_counter_name, server, subject, event);
    if (with_type) {
        type = facts_lookup(server, subject, PERF_FACT_COUNTER, event);
    }
    if (type.fact) {
        proto_item *item =
            proto_tree_add_uint(cursor->tree, pcq_fields.types.type, cursor->tvb, 0, 0, type.fact->counter.type);
        values_add_source(cursor, item, &type, facts_doubted(server, subject, PERF_FACT_COUNTER, 0, event));
    }
    return name;
}

/* --- Counter data ------------------------------------------------------------------------------------------------ */

/* The state of showing one buffer. */
typedef struct {
    answer_view base;
    const perf_data_summary *summary;
    perf_walk *walk;
    proto_tree *block;    /* of the current block, NULL if it is not shown */
    proto_tree *instance; /* of the current instance, else the block */
} data_view;

/* PERF_DATA_HEADER, 2.2.4.7 */
static void show_header(data_view *view)
{
    buffer_cursor cursor;

    values_open_structure(&view->base, view->base.tree, hf_data_header, ett_data_header, 0, PERF_DATA_HEADER_SIZE,
                          &cursor);
    FIELDS_READ(DATA_HEADER)
    view->base.header = cursor.node;
    if (cursor.tree) {
        values_samples(&view->base, cursor.tree);
        proto_item_append_text(cursor.node, ": %u blocks, %u values", read.num_counters, view->summary->values);
    }
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

static const char *identifier_note(const value_stream *stream)
{
    const counter_response *response = &stream->response;
    bool is_assumed =
        stream->assumed == ASSUMED_COUNTER || value_is_identifier_assumed(response->server, stream->identifier);

    return is_assumed ? " (assumed)" : "";
}

/* "\Set(instance)\Counter", which has to be that of the current block; NULL if that is not known. */
static const char *identifier_text(data_view *view)
{
    value_stream *stream = view->base.stream;
    const state_identifier *identifier = stream->identifier;

    if (identifier == NULL) {
        return NULL;
    }
    const char *instance = identifier->instance;
    const char *counter = facts_counter_label(stream->pool, stream->response.server, identifier->guid,
                                              identifier->counter_id, stream->response.event);
    return wmem_strconcat(stream->pool, "\\", value_stream_set(stream), instance ? "(" : "", instance ? instance : "",
                          instance ? ")" : "", "\\", counter, identifier_note(stream), NULL);
}

/* "no data now (ERROR_NO_DATA)" */
static const char *error_text(const data_view *view, uint32_t status)
{
    const char *meaning = text_error_meaning(status), *name = text_win32_error(view->base.stream->pool, status);

    return *meaning
               ? wmem_strdup_printf(view->base.stream->pool, "%.*s (%s)", (int)strcspn(meaning, ":;"), meaning, name)
               : name;
}

/* --- Blocks that begin to lack values, and those that have them again -------------------------------------------- */

/* Returns the error of a block; NOT_DELIVERED: it is empty; 0: it has values, or it is malformed. */
#define NOT_DELIVERED UINT32_MAX
static uint32_t find_lack(const perf_group *group)
{
    bool is_empty = group->is_sound && (group->rows == 0 || group->columns == 0);

    return group->type == PERF_ERROR_RETURN ? group->status : is_empty ? NOT_DELIVERED : 0;
}

/* "Fails: \Set(instance)\Counter: no data now (ERROR_NO_DATA)"; "Not delivered: \Set\Counter". Nothing, if it was so in the sample before. */
static void report_news(data_view *view)
{
    value_stream *stream = view->base.stream;
    const perf_group *group = value_stream_group_before(stream);
    bool is_known = group || stream->why_no_before == PERF_NO_RESULT_FIRST_SAMPLE ||
                    stream->why_no_pair == PERF_NO_RESULT_NEW_COUNTER;
    uint32_t before = group ? find_lack(group) : 0, now = find_lack(stream->group);

    if (!is_known || now == before || (now == 0 && !stream->group->is_sound)) {
        return;
    }
    const char *whose = stream->identifier
                            ? identifier_text(view)
                            : wmem_strdup_printf(stream->pool, "block %u", value_stream_group_number(stream));
    proto_item *item = proto_tree_get_parent(view->block);
    if (now == NOT_DELIVERED || (now == 0 && before == NOT_DELIVERED)) {
        findings_add(view->base.report, item, FINDING_NOT_DELIVERED, "%s: %s",
                     now == NOT_DELIVERED ? "Not delivered" : "Delivered again", whose);
    } else if (now > 0) {
        findings_add(view->base.report, item, FINDING_BLOCK_FAILED, "Fails: %s: %s", whose, error_text(view, now));
    } else {
        findings_add(view->base.report, item, FINDING_BLOCK_FAILED, "Has values again: %s", whose);
    }
}

/* PERF_COUNTER_HEADER, 2.2.4.8: "Block 0: \Set(instance)\Counter, PERF_SINGLE_COUNTER"; "Block 3: \Set\Counter: no data now
 * (ERROR_NO_DATA)", and whose the error is. */
static void show_block(data_view *view)
{
    const perf_walk *walk = view->walk;
    value_stream *stream = view->base.stream;
    bool is_error = walk->block.status != 0;
    buffer_cursor cursor;

    view->block = view->instance = NULL;
    view->base.structure = NULL;
    if (view->base.tree == NULL || !tree_budget_take_any(&view->base.budget, ITEMS_OF_BLOCK)) {
        view->base.budget.others_hidden++;
        return;
    }
    values_open_structure(&view->base, view->base.tree, hf_block, ett_block, walk->block.offset,
                          walk->block.end - walk->block.offset, &cursor);
    view->block = view->instance = cursor.tree;
    if (view->base.wishes.visible) {
        const char *whose = identifier_text(view);
        const char *what = is_error ? error_text(view, walk->block.status)
                                    : val_to_str_const(walk->block.type, text_block_type_vals, "unknown dwType");
        what = whose ? wmem_strconcat(stream->pool, whose, is_error ? ": " : ", ", what, NULL) : what;
        proto_item_set_text(cursor.node, "Block %u: %s", walk->block.index, what);
    }
    FIELDS_READ(COUNTER_HEADER)
    const state_identifier *identifier = walk->block.type == PERF_ERROR_RETURN ? stream->identifier : NULL;
    if (identifier && proto_field_is_referenced(view->block, hf_pcq_identifier_path)) {
        const char *path =
            value_format_identifier_path(stream->pool, stream->response.server, stream->computer, identifier);
        proto_item *item = tree_add_generated_string(view->block, hf_pcq_identifier_path, view->base.tvb, path);
        const char *note = identifier_note(stream);
        proto_item_append_text(item, "%s", note);
        if (*note) {
            values_note_assumed(view->base.report, item);
        }
    }
}

/* A structure that begins with two numbers: its node with these. */
static proto_item *show_pair(data_view *view, proto_tree *tree, int hf, int ett, int hf_first, int hf_second,
                             uint32_t at, uint32_t size)
{
    buffer_cursor cursor;

    values_open_structure(&view->base, tree, hf, ett, at, size, &cursor);
    cursor_read_u32(&cursor, hf_first);
    cursor_read_u32(&cursor, hf_second);
    return cursor.node;
}

/* PERF_MULTI_COUNTERS, 2.2.4.11 */
static void show_counters(data_view *view)
{
    const perf_walk *walk = view->walk;
    const counter_response *answer = &view->base.stream->response;
    const state_identifier *identifier = view->base.stream->identifier;
    tvbuff_t *tvb = view->base.tvb;

    if (view->block == NULL) {
        return;
    }
    proto_item *item = show_pair(view, view->block, hf_multi_counters, ett_multi, hf_multi_counters_size,
                                 hf_multi_counters_count, walk->counters.offset, walk->counters.size);
    proto_item_append_text(item, ": %u counters", walk->counters.count);
    proto_tree *tree = proto_item_get_subtree(item);
    for (uint32_t column = 0; column < walk->counters.count; column++) {
        if (!tree_budget_take(&view->base.budget, ITEMS_OF_ID)) {
            view->base.budget.others_hidden += walk->counters.count - column;
            break;
        }
        uint32_t id = perf_walk_counter_id(walk, column), at = walk->counters.ids + 4 * column;
        item = proto_tree_add_item(tree, hf_pcq_counter_id, tvb, at, 4, ENC_LITTLE_ENDIAN);
        if (identifier) {
            buffer_cursor inner = {
                .tvb = view->base.tvb, .tree = proto_item_add_subtree(item, ett_id), .report = view->base.report};
            const char *name = pcq_add_known_counter(&inner, answer->server, identifier->guid, id, answer->event, true);
            if (name) {
                proto_item_append_text(item, " (%s)", name);
            }
        }
    }
}

/* PERF_MULTI_INSTANCES, 2.2.4.10 */
static void show_instances(data_view *view)
{
    uint32_t at = view->walk->instances.offset;

    if (view->block) {
        proto_item_append_text(show_pair(view, view->block, hf_multi_instances, ett_multi, hf_multi_instances_size,
                                         hf_multi_instances_count, at, PERF_MULTI_INSTANCES_SIZE),
                               ": %u instances", view->walk->instances.count);
    }
}

static void show_instance(data_view *view)
{
    const perf_walk *walk = view->walk;

    view->instance = view->block;
    view->base.structure = NULL;
    if (view->block == NULL || !tree_budget_take(&view->base.budget, ITEMS_OF_INSTANCE)) {
        view->base.budget.others_hidden += walk->values_left == 0;
        return;
    }
    uint32_t at = walk->instance.offset, terminator = walk->instance.terminated && walk->instance.size >= 10 ? 2 : 0;
    const char *name = text_get(view->base.stream->pool, view->base.tvb, walk->instance.name, walk->instance.name_size,
                                TEXT_CODE_PAGE_UTF16, ENC_LITTLE_ENDIAN, TEXT_NAME_MAX);
    proto_item *item = show_pair(view, view->block, hf_pcq_instance, ett_instance, hf_pcq_instance_size,
                                 hf_pcq_instance_id, at, walk->instance.size);
    proto_item_set_text(item, "Instance: %s, id %u", name, walk->instance.id);
    view->instance = proto_item_get_subtree(item);
    if (walk->instance.name_size + terminator > 0) {
        proto_tree_add_string(view->instance, hf_pcq_instance_name, view->base.tvb, walk->instance.name,
                              walk->instance.name_size + terminator, name);
    }
}

static void show_bad_instance(data_view *view)
{
    if (view->block) {
        proto_item_append_text(show_pair(view, view->block, hf_pcq_instance, ett_instance, hf_pcq_instance_size,
                                         hf_pcq_instance_id, view->walk->instance.offset, PERF_INSTANCE_HEADER_SIZE),
                               ": unreadable");
    }
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

/* PERF_COUNTER_DATA, 2.2.4.9 */
static void show_value(data_view *view)
{
    const perf_walk *walk = view->walk;
    uint32_t at = walk->value.offset;
    const value_structure structure = {hf_counter_data, ett_counter_data, at, walk->value.size, ITEMS_OF_VALUE};
    uint32_t row = walk->instance.index == PERF_NO_INSTANCE ? 0 : walk->instance.index;
    const perf_group *group = view->base.stream->group;

    if (row >= group->rows || walk->value.column >= group->columns ||
        !value_stream_go_to(view->base.stream, row, walk->value.column)) {
        return;
    }
    proto_tree *tree = values_show(&view->base, view->instance, view->block, &structure);
    if (tree) {
        proto_tree_add_uint(tree, hf_value_data_size, view->base.tvb, at, 4, walk->value.data_size);
        proto_tree_add_uint(tree, hf_value_size, view->base.tvb, at + 4, 4, perf_le32(walk->data + at + 4));
        values_sent(&view->base, tree);
    }
}

/* One whose sizes don't fit: what is certain of it. */
static void show_bad_value(data_view *view)
{
    if (view->block && tree_budget_take(&view->base.budget, ITEMS_OF_VALUE)) {
        proto_item_append_text(show_pair(view, view->instance, hf_counter_data, ett_counter_data, hf_value_data_size,
                                         hf_value_size, view->walk->value.offset, view->walk->value.size),
                               ": unreadable");
    }
}

/* --- The buffer ------------------------------------------------------------------------------------------------ */

static void show_fault(data_view *view)
{
    const perf_walk *walk = view->walk;

    if (walk->fault.what == PERF_FAULT_HEADER_SHORT) {
        show_header(view); /* as much of it as is there, then it throws */
    } else {
        values_fault(&view->base, view->block, walk->block.offset, perf_walk_fault_infos, &walk->fault);
    }
}

bool pcq_check_data(tvbuff_t *tvb, perf_data_summary *summary)
{
    uint32_t size = tvb_captured_length(tvb);
    bool flawless = perf_data_check(size > 0 ? tvb_get_ptr(tvb, 0, (int)size) : NULL, size, summary);

    return flawless || summary->sound_blocks > 0;
}

static void show_structures(void *data)
{
    data_view *view = data;
    static void (*const show[])(data_view *view) = {
        [PERF_WALK_HEADER] = show_header,     [PERF_WALK_BLOCK] = show_block,
        [PERF_WALK_COUNTERS] = show_counters, [PERF_WALK_INSTANCES] = show_instances,
        [PERF_WALK_INSTANCE] = show_instance, [PERF_WALK_NO_INSTANCE] = show_bad_instance,
        [PERF_WALK_VALUE] = show_value,       [PERF_WALK_NO_VALUE] = show_bad_value,
        [PERF_WALK_FAULT] = show_fault,
    };
    perf_walk_event event;

    bool is_news_wanted = view->base.stream->now.sample && findings_wanted(view->base.report, view->base.tree);
    perf_table *table = view->base.stream->now.table;
    while ((event = perf_walk_next(view->walk)) != PERF_WALK_END) {
        if (event == PERF_WALK_BLOCK) {
            if (view->walk->block.index >= table->num_groups) {
                break;
            }
            value_stream_enter(view->base.stream, &table->groups[view->walk->block.index]);
        }
        show[event](view);
        if (event == PERF_WALK_BLOCK && is_news_wanted) {
            report_news(view);
        }
    }
    tree_budget_report(&view->base.budget, view->base.report, proto_tree_get_parent(view->base.tree),
                       "blocks, counter ids or instances");
}

static const value_string counter_id_vals[] = {{PERF_NO_ID, "PERF_WILDCARD_COUNTER"}, {0, NULL}};
static const value_string instance_id_vals[] = {{PERF_NO_ID, "any"}, {0, NULL}};

static hf_register_info structure_fields[] = {
    FIELD(hf_pcq_counterset_guid, "Counterset GUID", "pcq.counterset.guid", FT_GUID, BASE_NONE, NULL, "CounterSetGuid"),
    FIELD_TEXT(hf_pcq_counterset_name, "Counterset name", "pcq.counterset.name",
               "On the wire, or learned from where pcq.learned_in says"),
    FIELD_NAMED(hf_pcq_counter_id, "Counter id", "pcq.counter.id", counter_id_vals, "CounterId"),
    FIELD_TEXT(hf_pcq_counter_name, "Counter name", "pcq.counter.name",
               "On the wire, or learned from where pcq.learned_in says"),
    FIELD_U32(hf_pcq_reserved, "Reserved", "pcq.reserved", "0; its bytes mean nothing"),
    FIELD_NODE(hf_pcq_instance, "Instance", "pcq.instance", "PERF_INSTANCE_HEADER"),
    FIELD_U32(hf_pcq_instance_size, "Size", "pcq.instance.size", "Bytes of header, name and padding"),
    FIELD_NAMED(hf_pcq_instance_id, "Instance id", "pcq.instance.id", instance_id_vals, "InstanceId"),
    FIELD_TEXT(hf_pcq_instance_name, "Instance name", "pcq.instance.name",
               "Name, or pattern with * and ? where instances are asked for"),
    FIELD_TEXT(hf_pcq_identifier_path, "Path", "pcq.identifier.path",
               "What an identifier asks for, refused or not, in PDH notation; beside the error of a block too"),
    FIELD_NODE(hf_data_header, "Counter data header", "pcq.data_header", "PERF_DATA_HEADER"),
    FIELD_NODE(hf_block, "Block", "pcq.block", "PERF_COUNTER_HEADER and its data"),
    FIELD_NODE(hf_multi_counters, "Counters", "pcq.multi_counters", "PERF_MULTI_COUNTERS"),
    FIELD_U32(hf_multi_counters_size, "Size", "pcq.multi_counters.size", "dwSize"),
    FIELD_U32(hf_multi_counters_count, "Number of counters", "pcq.multi_counters.count", "dwCounters"),
    FIELD_NODE(hf_multi_instances, "Instances", "pcq.multi_instances", "PERF_MULTI_INSTANCES"),
    FIELD_U32(hf_multi_instances_size, "Size", "pcq.multi_instances.size", "dwTotalSize"),
    FIELD_U32(hf_multi_instances_count, "Number of instances", "pcq.multi_instances.count", "dwInstances"),
    FIELD_NODE(hf_counter_data, "Counter data", "pcq.counter_data",
               "PERF_COUNTER_DATA, or what one definition defines"),
    FIELD_U32(hf_value_data_size, "Data size", "pcq.value.data_size", "dwDataSize: bytes of the value"),
    FIELD_U32(hf_value_size, "Size", "pcq.value.size", "dwSize: bytes of header, value and padding"),
    DATA_HEADER(FIELD_ROW, FIELD_SHARED) COUNTER_HEADER(FIELD_ROW, FIELD_SHARED)};

value_fields pcq_fields = {.structures = structure_fields, .num_structures = array_length(structure_fields)};

void pcq_dissect_data(proto_tree *tree, findings_report *report, const counter_response *answer,
                      const perf_data_summary *summary)
{
    if (tree == NULL && summary->faults == 0 && !findings_wanted(report, tree)) {
        return;
    }
    data_view view = {.base = {.tvb = answer->tvb,
                               .tree = tree,
                               .report = report,
                               .fields = &pcq_fields,
                               .encoding = ENC_LITTLE_ENDIAN},
                      .summary = summary};

    if (!values_begin(&view.base, answer, summary->values, summary->faults) || tvb_captured_length(answer->tvb) == 0) {
        return;
    }
    perf_walk walk;
    perf_walk_init(&walk, answer->table->data, answer->table->size);
    view.walk = &walk;
    if (view.base.wishes.structures) {
        values_show_structures(&view.base, show_structures);
    } else {
        values_alone(&view.base);
    }
}

void pcq_data_register(int proto)
{
    static int *ett[] = {&ett_instance, &ett_data_header, &ett_block, &ett_multi, &ett_id, &ett_counter_data};

    proto_register_subtree_array(ett, array_length(ett));
    values_register(proto, "pcq", &pcq_fields);
}
