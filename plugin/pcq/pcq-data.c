/* pcq-data.c
 * Counter data of PerflibV2QueryCounterData ([MS-PCQ] 3.1.4.1.6) in the tree, and what it shares with other buffers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq/pcq-data.h"

#include "tree/fields.h"
#include "text/value-strings.h"
#include "perf/bytes.h"

int hf_pcq_counterset_guid, hf_pcq_counterset_name, hf_pcq_counter_id, hf_pcq_counter_name, hf_pcq_counter_type,
    hf_pcq_reserved, hf_pcq_instance, hf_pcq_instance_size, hf_pcq_instance_id, hf_pcq_instance_name,
    hf_pcq_identifier_path;

/* PERF_DATA_HEADER, 2.2.4.7 */
#define DATA_HEADER(X, S) \
    X(U32, total_size, "Total size", "pcq.data.total_size", "dwTotalSize: bytes of header and blocks") \
    X(U32, num_counters, "Number of blocks", "pcq.data.num_counters", "dwNumCounters") \
    X(U64, perf_time_stamp, "Performance time", "pcq.data.perf_time_stamp", "In units of 1 / PerfFreq seconds") \
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

const char *pcq_add_known_counterset(buffer_cursor *cursor, state_server *server, const uint8_t *guid)
{
    return value_tree_add_name(cursor, hf_pcq_counterset_name, server, metadata_counter_key(guid, PERF_NO_ID));
}

const char *pcq_add_known_counter(buffer_cursor *cursor, state_server *server, const uint8_t *guid, uint32_t id,
                                  bool with_type)
{
    const metadata_key key = metadata_counter_key(guid, id);

    if (cursor->tree == NULL || id == PERF_NO_ID) {
        return NULL;
    }
    const char *name = value_tree_add_name(cursor, hf_pcq_counter_name, server, key);
    metadata_result type = metadata_lookup(server, key).type;
    if (with_type && type.entry) {
        proto_item *item =
            proto_tree_add_uint(cursor->tree, hf_pcq_counter_type, cursor->tvb, 0, 0, type.entry->counter.type);
        value_tree_add_source(cursor, item, &type);
    }
    return name;
}

const char *pcq_format_path(wmem_allocator_t *pool, const state_server *server, const char *computer,
                            const perf_identifier *identifier, bool *is_assumed)
{
    metadata_key key = metadata_counter_key(identifier->guid, PERF_NO_ID);
    const metadata_known set = metadata_lookup(server, key);
    const char *set_label = metadata_format_name(pool, &key, set.name.entry), *label = "*";
    bool is_single = set.type.entry && set.type.entry->instance_type == 0;
    const char *instance = is_single ? NULL : identifier->instance;

    *is_assumed = set.name.is_assumed;
    if (identifier->counter_id != PERF_NO_ID) {
        key.id = identifier->counter_id;
        const metadata_result counter = metadata_lookup(server, key).name;
        label = metadata_format_name(pool, &key, counter.entry);
        *is_assumed |= counter.is_assumed;
    }
    return wmem_strconcat(pool, computer ? "\\\\" : "", computer ? computer : "", "\\", set_label, instance ? "(" : "",
                          instance ? instance : "", instance ? ")" : "", "\\", label, NULL);
}

const char *pcq_add_identifier_path(buffer_cursor *cursor, state_server *server, const char *computer,
                                    const perf_identifier *identifier, bool is_assumed)
{
    wmem_allocator_t *pool = cursor->report->pinfo->pool;
    bool is_name_assumed;

    if (!proto_field_is_referenced(cursor->tree, hf_pcq_identifier_path)) {
        return NULL;
    }
    const char *path = pcq_format_path(pool, server, computer, identifier, &is_name_assumed);
    const char *marked = text_marked(pool, path, is_assumed || is_name_assumed);
    proto_item *item = proto_tree_add_string(cursor->tree, hf_pcq_identifier_path, cursor->tvb, 0, 0, path);
    proto_item_set_generated(item);
    proto_item_append_text(item, "%s", marked + strlen(path));
    if (is_name_assumed) {
        value_tree_report_assumed(cursor->report, item, ASSUMED_NAME, 0);
    }
    return strchr(marked + strlen("\\\\"), '\\');
}

/* --- Header and blocks --------------------------------------------------------------------------------------------- */

/* Shows PERF_DATA_HEADER (2.2.4.7) and the sample before. Returns the header's item. */
static proto_item *pcq_show_header(value_tree *view)
{
    buffer_cursor cursor;

    value_tree_enter(view, view->tree, hf_data_header, ett_data_header, 0, PERF_DATA_HEADER_SIZE, &cursor);
    FIELDS_READ(DATA_HEADER)
    value_tree_add_previous(view, cursor.tree);
    proto_item_append_text(cursor.node, ": %u blocks, %" PRIu64 " values", read.num_counters, view->table->values);
    return cursor.node;
}

/* Returns what the identifier of the stream's block asks for, as a path with its mark: "\Set(instance)\Counter", "*" for all counters; NULL: it is
 * not known. Needs: no value of the block was read yet. Changes: names that its values need, too, are looked up. */
static const char *format_block_path(value_stream *stream)
{
    const perf_identifier *identifier = stream->identifier;

    if (identifier == NULL) {
        return NULL;
    }
    const char *set = value_stream_set(stream), *instance = stream->is_single ? NULL : identifier->instance;
    bool is_for_all = identifier->counter_id == PERF_NO_ID, is_assumed = stream->assumed == ASSUMED_COUNTER;
    is_assumed |= stream->is_set_assumed || (!is_for_all && stream->counter->assumed != ASSUMED_NONE);
    const char *path = wmem_strconcat(stream->pool, "\\", set, instance ? "(" : "", instance ? instance : "",
                                      instance ? ")" : "", "\\", is_for_all ? "*" : stream->counter->label, NULL);
    return text_marked(stream->pool, path, is_assumed);
}

/* Returns "no data now (ERROR_NO_DATA)" for a Win32 error, its name alone if no meaning of it is known. */
static const char *format_block_error(const value_stream *stream, uint32_t status)
{
    const char *meaning = text_error_meaning(status), *name = text_win32_error(stream->pool, status);

    return *meaning ? wmem_strdup_printf(stream->pool, "%.*s (%s)", (int)strcspn(meaning, ":;"), meaning, name) : name;
}

/* Shows a structure of `size` bytes at offset `at` that begins with two 32-bit numbers. Returns its item. */
static proto_item *show_pair(value_tree *view, proto_tree *tree, int hf, int ett, int hf_first, int hf_second,
                             uint32_t at, uint32_t size)
{
    buffer_cursor cursor;

    value_tree_enter(view, tree, hf, ett, at, size, &cursor);
    cursor_read_u32(&cursor, hf_first);
    cursor_read_u32(&cursor, hf_second);
    return cursor.node;
}

/* Shows PERF_MULTI_COUNTERS (2.2.4.11) at `at`, with names and types. Returns its end; the block's, if it does not fit. */
static uint32_t show_counters(value_tree *view, const perf_group *group, proto_tree *tree, uint32_t at)
{
    const value_stream *stream = view->stream;

    if (group->end - at < PERF_MULTI_COUNTERS_SIZE) {
        return group->end;
    }
    uint32_t size = MIN(perf_table_u32(view->table, at), group->end - at);
    proto_item *item = show_pair(view, tree, hf_multi_counters, ett_multi, hf_multi_counters_size,
                                 hf_multi_counters_count, at, MAX(size, PERF_MULTI_COUNTERS_SIZE));
    proto_item_append_text(item, ": %u counters", perf_table_u32(view->table, at + 4));
    tree = proto_item_get_subtree(item);
    for (uint32_t i = 0; i < group->columns && tree_has_room(view->tree); i++) {
        const perf_column *column = perf_table_column(view->table, group, i);
        item = proto_tree_add_item(tree, hf_pcq_counter_id, view->tvb, (int)column->offset, 4, ENC_LITTLE_ENDIAN);
        if (stream->identifier) {
            buffer_cursor inner = {
                .tvb = view->tvb, .tree = proto_item_add_subtree(item, ett_id), .report = view->report};
            const char *name = pcq_add_known_counter(&inner, stream->response.server, stream->identifier->guid,
                                                     column->id, /* with_type */ true);
            if (name) {
                proto_item_append_text(item, " (%s)", name);
            }
        }
    }
    return at + size;
}

/* Shows PERF_MULTI_INSTANCES (2.2.4.10): in front of the first row; without rows at `at`, behind
 * the ids of counters, or behind their padding. Shows nothing if the block ends before. */
static void show_instance_count(value_tree *view, const perf_group *group, proto_tree *tree, uint32_t at)
{
    if (group->rows > 0) {
        at = perf_table_row(view->table, group, 0)->offset - PERF_MULTI_INSTANCES_SIZE;
    } else if (group->is_sound && perf_table_u32(view->table, at) == 0) {
        at += 4;
    }
    if (group->end - at >= PERF_MULTI_INSTANCES_SIZE) {
        proto_item_append_text(show_pair(view, tree, hf_multi_instances, ett_multi, hf_multi_instances_size,
                                         hf_multi_instances_count, at, PERF_MULTI_INSTANCES_SIZE),
                               ": %u instances", perf_table_u32(view->table, at + 4));
    }
}

/* Sets the text of a block's item, as in show_block(): its number, path, and type or error. */
static void label_block(const value_tree *view, const perf_group *group, proto_item *item)
{
    value_stream *stream = view->stream;
    bool is_error = group->status != 0;
    const char *whose = format_block_path(stream);
    const char *what = is_error ? format_block_error(stream, group->status)
                                : val_to_str_const(group->type, text_block_type_vals, "unknown dwType");
    const char *between = !whose ? "" : is_error ? ": " : ", ";

    proto_item_set_text(item, "Block %u: %s%s%s", group->key, whose ? whose : "", between, what);
}

#define NOT_DELIVERED UINT32_MAX /* no Win32 error */

/* Returns the block's error, NOT_DELIVERED if it is well-formed and has no values, else 0. */
static uint32_t find_lack(const perf_group *group)
{
    return group->type == PERF_ERROR_RETURN ? group->status : perf_group_is_empty(group) ? NOT_DELIVERED : 0;
}

/* Returns the block of the sample before that answers the same identifier, or where none is known stands in the same place of as many; else NULL. */
static const perf_group *find_block_before(value_stream *stream)
{
    perf_table *before = stream->before.table;
    bool is_same_place = stream->identifier == NULL && before && before->num_groups == stream->now.table->num_groups;

    return is_same_place ? perf_table_group(before, stream->now.at.group->key) : stream->before.at.group;
}

/* Reports a block that has an error, another error or no values, unlike in the sample before, and one that has values again. An error is reported
 * without a block before, too; that there are no values only if find_block_before() finds a block. Without a table of the sample before
 * (discarded, overtaken) it reports nothing. Needs: no value of the block was read yet. */
static void report_news(value_tree *view, proto_item *item)
{
    value_stream *stream = view->stream;
    const state_sample *sample = stream->response.sample;

    if (sample == NULL || (sample->previous && stream->before.table == NULL)) {
        return;
    }
    const perf_group *group = stream->now.at.group, *before = find_block_before(stream);
    uint32_t now = find_lack(group), was = before ? find_lack(before) : 0;
    if (now == was || (now == NOT_DELIVERED && before == NULL) || (now == 0 && !group->is_sound)) {
        return;
    }
    bool is_failure = (now > 0 ? now : was) != NOT_DELIVERED;
    const char *what = is_failure ? now > 0 ? "Fails" : "Has values again"
                       : now > 0  ? "Not delivered"
                                  : "Delivered again";
    const char *error = is_failure && now > 0 ? format_block_error(stream, now) : "";
    const char *whose = format_block_path(stream);
    expert_report_add(view->report, item, is_failure ? EI_BLOCK_FAILED : EI_NOT_DELIVERED, "%s: %s%s%s", what,
                      whose ? whose : wmem_strdup_printf(stream->pool, "block %u", group->key), *error ? ": " : "",
                      error);
}

/* Shows PERF_COUNTER_HEADER (2.2.4.8) with counters and number of instances: "Block 0: \Set(instance)\Counter, PERF_SINGLE_COUNTER"; "Block 3:
 * \Set\Counter: no data now (ERROR_NO_DATA)". Returns its tree. */
static proto_tree *show_block(value_tree *view, const perf_group *group)
{
    const value_stream *stream = view->stream;
    uint32_t at = group->offset + PERF_COUNTER_HEADER_SIZE;
    buffer_cursor cursor;

    value_tree_enter(view, view->tree, hf_block, ett_block, group->offset, group->end - group->offset, &cursor);
    if (view->visible) {
        label_block(view, group, cursor.node);
    }
    FIELDS_READ(COUNTER_HEADER)
    if (group->type == PERF_ERROR_RETURN && stream->identifier) { /* it has no values with paths */
        pcq_add_identifier_path(&cursor, stream->response.server, stream->computer, stream->identifier,
                                stream->assumed == ASSUMED_COUNTER);
    }
    if (group->type == PERF_MULTIPLE_COUNTERS || group->type == PERF_COUNTERSET) {
        at = show_counters(view, group, cursor.tree, at);
    }
    if (group->type == PERF_MULTIPLE_INSTANCES || group->type == PERF_COUNTERSET) {
        show_instance_count(view, group, cursor.tree, at);
    }
    if (view->experts) {
        report_news(view, cursor.node);
    }
    return cursor.tree;
}

/* --- Instances and values ------------------------------------------------------------------------------------------ */

void pcq_read_instance(buffer_cursor *cursor)
{
    const char *name = "";

    cursor_read_u32(cursor, hf_pcq_instance_size);
    uint32_t id = cursor_read_u32(cursor, hf_pcq_instance_id), room = cursor_left(cursor);
    if (room > 0) {
        name = cursor_read_text(cursor, hf_pcq_instance_name, room, TEXT_NAME_MAX);
    }
    proto_item_set_text(cursor->node, "Instance: %s, id %u", name, id);
}

/* Shows PERF_INSTANCE_HEADER (2.2.4.5). Returns the tree for the instance's values: the block's, `tree`, if that has no instances but one row. */
static proto_tree *pcq_show_instance(value_tree *view, const perf_group *group, uint32_t number, proto_tree *tree)
{
    const perf_row *row = perf_table_row(view->table, group, number);

    if (!group->has_instances) {
        return tree;
    }
    bool was_damaged = view->report->damaged;
    uint32_t size = perf_table_u32(view->table, row->offset);
    buffer_cursor cursor;
    value_tree_enter(view, tree, hf_pcq_instance, ett_instance, row->offset, size, &cursor);
    pcq_read_instance(&cursor);
    if (size % 8 != 0) {
        expert_report_add(view->report, cursor.node, EI_SIZE, "Size of the instance is %u, not a multiple of 8", size);
    }
    view->report->damaged = was_damaged; /* what surrounds it is read, whether this is shown or not */
    return cursor.tree;
}

/* Shows PERF_COUNTER_DATA (2.2.4.9) of the value that the stream is at, with its result, path and watched counters where they are wanted:
 * value_tree_ops.show_value. Needs: the value's header stands right in front of it. Changes: as value_stream_result(); an assumed value is reported. */
static void pcq_show_value(value_tree *view, proto_tree *tree)
{
    uint32_t at = view->stream->now.at.offset - PERF_COUNTER_DATA_SIZE, size = perf_table_u32(view->table, at + 4);

    tree = value_tree_add_value(view, tree, hf_counter_data, ett_counter_data, at, perf_align8(size));
    proto_tree_add_uint(tree, hf_value_data_size, view->tvb, (int)at, 4, perf_table_u32(view->table, at));
    proto_tree_add_uint(tree, hf_value_size, view->tvb, (int)at + 4, 4, size);
    value_tree_add_sent(view, tree);
}

/* Shows the header of an instance or value that does not fit, as "Instance: unreadable": value_tree_ops.show_broken. Returns its item, NULL: the
 * fault is about neither. */
static proto_item *pcq_show_broken(value_tree *view, const perf_table_fault *fault, proto_tree *tree)
{
    bool is_size = fault->kind == PERF_FAULT_CELL_SIZE; /* dwSize, the second number */
    proto_item *item = NULL;

    if (fault->kind == PERF_FAULT_ROW_SIZE) {
        item = show_pair(view, tree, hf_pcq_instance, ett_instance, hf_pcq_instance_size, hf_pcq_instance_id,
                         fault->offset, PERF_INSTANCE_HEADER_SIZE);
    } else if (is_size || fault->kind == PERF_FAULT_DATA_SIZE) {
        item = show_pair(view, tree, hf_counter_data, ett_counter_data, hf_value_data_size, hf_value_size,
                         fault->offset - (is_size ? 4 : 0), PERF_COUNTER_DATA_SIZE);
    }
    proto_item_append_text(item, ": unreadable");
    return item;
}

/* --- Fields -------------------------------------------------------------------------------------------------------- */

static const value_string counter_id_vals[] = {{PERF_NO_ID, "PERF_WILDCARD_COUNTER"}, {0, NULL}};
static const value_string instance_id_vals[] = {{PERF_NO_ID, "any"}, {0, NULL}};

static hf_register_info structure_fields[] = {
    FIELD(hf_pcq_counterset_guid, "Counterset GUID", "pcq.counterset.guid", FT_GUID, BASE_NONE, NULL, "CounterSetGuid"),
    FIELD_TEXT(hf_pcq_counterset_name, "Counterset name", "pcq.counterset.name", "Sent, or learned"),
    FIELD_NAMED(hf_pcq_counter_id, "Counter id", "pcq.counter.id", counter_id_vals, "CounterId"),
    FIELD_TEXT(hf_pcq_counter_name, "Counter name", "pcq.counter.name", "Sent, or learned"),
    FIELD_TYPE(hf_pcq_counter_type, "Counter type", "pcq.counter.type"),
    FIELD_U32(hf_pcq_reserved, "Reserved", "pcq.reserved", "0; its bytes mean nothing"),
    FIELD_NODE(hf_pcq_instance, "Instance", "pcq.instance", "PERF_INSTANCE_HEADER"),
    FIELD_U32(hf_pcq_instance_size, "Size", "pcq.instance.size", "Bytes of header, name and padding"),
    FIELD_NAMED(hf_pcq_instance_id, "Instance id", "pcq.instance.id", instance_id_vals, "InstanceId"),
    FIELD_TEXT(hf_pcq_instance_name, "Instance name", "pcq.instance.name", "Name, or pattern with * and ?"),
    FIELD_TEXT(hf_pcq_identifier_path, "Path", "pcq.identifier.path", "What an identifier asks for, in PDH notation"),
    FIELD_NODE(hf_data_header, "Counter data header", "pcq.data_header", "PERF_DATA_HEADER"),
    FIELD_NODE(hf_block, "Block", "pcq.block", "PERF_COUNTER_HEADER and its data"),
    FIELD_NODE(hf_multi_counters, "Counters", "pcq.multi_counters", "PERF_MULTI_COUNTERS"),
    FIELD_U32(hf_multi_counters_size, "Size", "pcq.multi_counters.size", "dwSize"),
    FIELD_U32(hf_multi_counters_count, "Number of counters", "pcq.multi_counters.count", "dwCounters"),
    FIELD_NODE(hf_multi_instances, "Instances", "pcq.multi_instances", "PERF_MULTI_INSTANCES"),
    FIELD_U32(hf_multi_instances_size, "Size", "pcq.multi_instances.size", "dwTotalSize"),
    FIELD_U32(hf_multi_instances_count, "Number of instances", "pcq.multi_instances.count", "dwInstances"),
    FIELD_NODE(hf_counter_data, "Counter data", "pcq.counter_data", "PERF_COUNTER_DATA"),
    FIELD_U32(hf_value_data_size, "Data size", "pcq.value.data_size", "dwDataSize: bytes of the value"),
    FIELD_U32(hf_value_size, "Size", "pcq.value.size", "dwSize: bytes of header, value and padding"),
    DATA_HEADER(FIELD_ROW, FIELD_SHARED) COUNTER_HEADER(FIELD_ROW, FIELD_SHARED)};

const value_tree_ops pcq_tree_ops = {.structures = structure_fields,
                                     .num_structures = array_length(structure_fields),
                                     .show_header = pcq_show_header,
                                     .show_group = show_block,
                                     .show_row = pcq_show_instance,
                                     .show_value = pcq_show_value,
                                     .show_broken = pcq_show_broken};

void pcq_data_register(int proto)
{
    static int *ett[] = {&ett_instance, &ett_data_header, &ett_block, &ett_multi, &ett_id, &ett_counter_data};

    proto_register_subtree_array(ett, array_length(ett));
    value_fields_register(proto, &pcq_tree_ops);
}
