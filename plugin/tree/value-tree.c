/* value-tree.c
 * Counter data in the tree and in the Info column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/value-tree.h"

#include "state/samples.h"
#include "tap/watched-counters.h"
#include "tree/fields.h"
#include "text/value-strings.h"

static int hf_learned_in, hf_value, hf_text, hf_raw, hf_path, hf_cooked, hf_cooked_none, hf_previous, hf_interval,
    hf_type_size, hf_type_kind, hf_type_subtype, hf_type_timer, hf_type_delta, hf_type_delta_base, hf_type_inverse,
    hf_type_multi, hf_type_display;

/* --- Where a fact came from ------------------------------------------------------------------------------------ */

#define ASSUMED_TEXT(name, sentence) sentence,
static const char *const assumed_texts[] = {ASSUMED_REASONS(ASSUMED_TEXT)};

void value_tree_report_assumed(expert_report *report, proto_item *item, assumed_reason reason, uint32_t disputed_in)
{
    char dispute[64];

    if (reason == ASSUMED_NONE || report->told_assumed & 1U << reason) {
        return;
    }
    report->told_assumed |= 1U << reason;
    snprintf(dispute, sizeof dispute, "frame %u has another name or type of what is here", disputed_in);
    expert_report_add(report, item, EI_ORDER_ASSUMED, "Assumed: %s",
                      disputed_in != 0 ? dispute : assumed_texts[reason]);
}

void value_tree_add_source(buffer_cursor *cursor, proto_item *item, const metadata_result *known)
{
    const metadata_entry *entry = known->entry;
    const char *from = entry->frame > cursor->report->pinfo->num ? " (learned after this frame)"
                       : entry->source == METADATA_FILE          ? " (names file)"
                       : entry->source == METADATA_BUILTIN       ? " (built-in list)"
                                                                 : "";

    proto_item_set_generated(item);
    if (entry->lcid != 0) {
        proto_item_append_text(item, " (%s)", val_to_str_const(entry->lcid, text_lcid_vals, "other locale"));
    }
    proto_item_append_text(item, "%s%s", from, known->is_assumed ? " (assumed)" : "");
    if (known->is_assumed) {
        value_tree_report_assumed(cursor->report, item, ASSUMED_NAME, entry->disputed_in);
    }
    if (entry->frame != 0) {
        item = proto_tree_add_uint(cursor->tree, hf_learned_in, cursor->tvb, 0, 0, entry->frame);
        proto_item_set_generated(item);
        proto_item_append_text(item, "%s", from);
    }
}

const char *value_tree_add_name(buffer_cursor *cursor, int hf, state_server *server, metadata_key key)
{
    const metadata_result none = {0}, known = cursor->tree ? metadata_lookup(server, key).name : none;

    if (!known.entry) {
        return NULL;
    }
    proto_item *item = proto_tree_add_string(cursor->tree, hf, cursor->tvb, 0, 0, known.entry->name);
    value_tree_add_source(cursor, item, &known);
    return text_marked(cursor->report->pinfo->pool, known.entry->name, known.is_assumed);
}

/* --- Counter types --------------------------------------------------------------------------------------------- */

static int ett_counter_type = -1;

#define BIT_ROW(value, name, meaning) {value, name ": " meaning},
static const value_string type_size_vals[] = {PERF_SIZES(BIT_ROW){0, NULL}};
static const value_string type_kind_vals[] = {PERF_KINDS(BIT_ROW){0, NULL}};
static const value_string type_timer_vals[] = {PERF_TIMERS(BIT_ROW){0, NULL}};
static const value_string type_display_vals[] = {PERF_DISPLAYS(BIT_ROW){0, NULL}};

uint32_t value_tree_read_type(buffer_cursor *cursor, int hf)
{
    static int *const bits[] = {
        &hf_type_size,       &hf_type_kind,    &hf_type_subtype, &hf_type_timer,   &hf_type_delta,
        &hf_type_delta_base, &hf_type_inverse, &hf_type_multi,   &hf_type_display, NULL};
    uint32_t offset = cursor->pos, type = cursor_read_u32(cursor, hf);
    proto_tree *tree = proto_item_add_subtree(cursor->item, ett_counter_type);

    proto_tree_add_bitmask_list(tree, cursor->tvb, offset, 4, bits, cursor->encoding);
    if (perf_counter_type_find(type) == NULL && !perf_counter_type_is_text(type)) {
        expert_report_add(cursor->report, cursor->item, EI_COUNTER_TYPE,
                          "Counter type 0x%08x is unknown, only its bits tell what it is", type);
    }
    return type;
}

int32_t value_tree_read_scale(buffer_cursor *cursor, int hf)
{
    int32_t scale = (int32_t)cursor_read_u32(cursor, hf);

    if (scale < -10 || scale > 10) {
        expert_report_add(cursor->report, cursor->item, EI_SCALE, "DefaultScale is %d, a power of ten beyond use",
                          scale);
    }
    return scale;
}

void value_tree_read_frequency(buffer_cursor *cursor, int hf)
{
    char text[TEXT_NUMBER_SIZE];
    uint64_t frequency = cursor_read_u64(cursor, hf);

    text_integer(text, frequency);
    proto_item_append_text(cursor->item, " (%s Hz)", text);
    if (frequency == 0) {
        expert_report_add(cursor->report, cursor->item, EI_TIME, "PerfFreq is 0: rates cannot be calculated");
    }
}

/* --- Fields ------------------------------------------------------------------------------------------------------ */

/* First of the fields of each kind: a value as it was sent, its path, its result; and what stands around values. */
enum { SENT = 0, PATH = 3, RESULT = 4, AROUND = 6 };

/* Fields that have one name in both protocols. */
static hf_register_info fields[] = {
    FIELD_U64(hf_value, "Value", "pcq.value", "As sent, not calculated"),
    FIELD_TEXT(hf_text, "Text", "pcq.value.text", "A value that is text"),
    FIELD_BYTES(hf_raw, "Value", "pcq.value.raw", "A value of neither 4 nor 8 bytes"),
    FIELD_TEXT(hf_path, "Path", "pcq.path", "Counter path in PDH notation"),
    FIELD(hf_cooked, "Calculated value", "pcq.cooked", FT_DOUBLE, BASE_NONE, NULL,
          "As perfmon would show it, not scaled; shown with its formula and the formula's numbers: N value, B "
          "base, M multi counter, T performance time, F its frequency, H time in 100 ns, O time of the object; 0 "
          "is the previous sample"),
    FIELD(hf_cooked_none, "No calculated value", "pcq.cooked.none", FT_UINT8, BASE_DEC, VALS(text_none_reason_vals),
          "Why there is none"),
    FIELD_FRAME(hf_learned_in, "Learned in", "pcq.learned_in", "The response that sent the name or type above"),
    FIELD_FRAME(hf_previous, "Previous sample", "pcq.sample.previous",
                "The sample that values are calculated from together with this one"),
    FIELD(hf_interval, "Interval", "pcq.sample.interval", FT_DOUBLE, BASE_NONE, NULL,
          "Seconds since the previous sample, by the server's clock"),
    FIELD_MASKED(hf_type_size, "Size", "pcq.counter.type.size", FT_UINT32, BASE_DEC, VALS(type_size_vals),
                 PERF_SIZE_MASK, "Bytes of a value"),
    FIELD_MASKED(hf_type_kind, "Kind", "pcq.counter.type.kind", FT_UINT32, BASE_DEC, VALS(type_kind_vals),
                 PERF_KIND_MASK, "Number, counter, text or nothing"),
    FIELD_MASKED(hf_type_subtype, "Subtype", "pcq.counter.type.subtype", FT_UINT32, BASE_DEC, NULL, PERF_SUBTYPE_MASK,
                 "Of a counter 0: value, 1: rate, 2: fraction, 3: base, 4: start time, 5: queue length, 7: precision"),
    FIELD_MASKED(hf_type_timer, "Timer", "pcq.counter.type.timer", FT_UINT32, BASE_DEC, VALS(type_timer_vals),
                 PERF_TIMER_MASK, "Time base"),
    FIELD_MASKED(hf_type_delta, "Delta", "pcq.counter.type.delta", FT_BOOLEAN, 32, NULL, PERF_DELTA_COUNTER,
                 "PERF_DELTA_COUNTER: the difference of two samples"),
    FIELD_MASKED(hf_type_delta_base, "Delta base", "pcq.counter.type.delta_base", FT_BOOLEAN, 32, NULL, PERF_DELTA_BASE,
                 "PERF_DELTA_BASE: the base is a difference too"),
    FIELD_MASKED(hf_type_inverse, "Inverse", "pcq.counter.type.inverse", FT_BOOLEAN, 32, NULL, PERF_INVERSE,
                 "PERF_INVERSE_COUNTER: 1 minus the result"),
    FIELD_MASKED(hf_type_multi, "Multi", "pcq.counter.type.multi", FT_BOOLEAN, 32, NULL, PERF_MULTI,
                 "PERF_MULTI_COUNTER: divided by a second value"),
    FIELD_MASKED(hf_type_display, "Display", "pcq.counter.type.display", FT_UINT32, BASE_DEC, VALS(type_display_vals),
                 PERF_DISPLAY_MASK, "Suffix"),
};

void value_fields_register(int proto, const value_tree_ops *ops)
{
    static int *ett[] = {&ett_counter_type};

    if (hf_value == 0) {
        proto_register_field_array(proto, fields, array_length(fields));
        proto_register_subtree_array(ett, array_length(ett));
    }
    proto_register_field_array(proto, ops->structures, (int)ops->num_structures);
}

/* True if a filter, a column or the visible tree references one of these fields; false without a tree. */
static bool is_any_referenced(proto_tree *tree, const hf_register_info *rows, unsigned count)
{
    for (unsigned i = 0; tree && i < count; i++) {
        if (proto_field_is_referenced(tree, *rows[i].p_id)) {
            return true;
        }
    }
    return false;
}

/* Determines which fields a filter, a column or the visible tree references; without a tree expert infos alone can be. For a field around the values,
 * or an expert info, all structures are read. */
static void find_referenced_fields(value_tree *view)
{
    proto_tree *tree = view->tree;

    view->visible = tree && PTREE_DATA(tree)->visible;
    view->experts = expert_info_is_wanted(tree);
    view->structures = is_any_referenced(tree, view->ops->structures, view->ops->num_structures) ||
                       is_any_referenced(tree, &fields[AROUND], array_length(fields) - AROUND) || view->experts;
    view->value = is_any_referenced(tree, &fields[SENT], PATH - SENT);
    view->path = proto_field_is_referenced(tree, hf_path);
    view->result = is_any_referenced(tree, &fields[RESULT], AROUND - RESULT) || view->experts;
    view->watch = watch_is_wanted(tree);
}

/* --- Values ------------------------------------------------------------------------------------------------------ */

void value_tree_add_sent(const value_tree *view, proto_tree *tree)
{
    value_stream *stream = view->stream;
    const perf_cell *at = &stream->now.at;

    if (!view->value) {
        return;
    }
    if (stream->counter->is_text) {
        proto_tree_add_string(tree, hf_text, view->tvb, at->offset, at->size, value_stream_text(stream, TEXT_WHOLE));
    } else if (at->raw.size > 0) {
        proto_tree_add_uint64(tree, hf_value, view->tvb, at->offset, at->raw.size, at->raw.value);
    } else if (at->size > 0) {
        proto_tree_add_item(tree, hf_raw, view->tvb, at->offset, (int)MIN(at->size, MOST_VALUE_BYTES), ENC_NA);
    }
}

/* Shows the result, or the reason for none. `words`: the value for people, NULL if the tree is not visible; `formula`: "": none. Without words the
 * number that Wireshark makes of it does. */
static void show_result(const value_tree *view, proto_tree *tree, const perf_result *result, const char *words,
                        const char *formula)
{
    bool has_result = result->none == PERF_NO_RESULT_OK;
    proto_item *item = has_result ? proto_tree_add_double(tree, hf_cooked, view->tvb, 0, 0, result->value)
                                  : proto_tree_add_uint(tree, hf_cooked_none, view->tvb, 0, 0, result->none);

    if (!has_result && *formula) {
        proto_item_append_text(item, ", %s", formula);
    } else if (has_result && words) {
        const char *note = view->stream->counter->type->note;
        proto_item_set_text(item, "%s",
                            wmem_strconcat(view->stream->pool, "Calculated value: ", words,
                                           format_assumed_mark(view->stream), *formula ? " = " : "", formula,
                                           *note ? " (" : NULL, note, ")", NULL));
    }
    proto_item_set_generated(item);
}

/* Shows the result of the stream's current value, if there is one, in the field of each watched counter that its path matches, for a column or graph
 * of it alone (pcq.cooked has all values of the packet): "cpu: 12.4 % = \\SRV\Processor(_Total)\% Processor Time". */
static void show_watched(const value_tree *view, proto_tree *tree)
{
    value_stream *stream = view->stream;
    const char *path = value_stream_path(stream);
    const perf_result result = value_stream_result(stream);
    const watched_counter *row = result.none == PERF_NO_RESULT_OK ? watch_rows_of(path) : NULL;

    for (; row; row = row->next_match) {
        proto_item *item = proto_tree_add_double(tree, row->hf, view->tvb, 0, 0, result.value);
        proto_item_set_generated(item);
        if (view->visible) {
            proto_item_set_text(item, "%s: %s%s = %s", row->field.hfinfo.name, value_stream_format(stream, &result),
                                format_assumed_mark(stream), path);
        }
    }
}

/* Labels the structure of the current value "Counter data: PATH = WORDS". `path`: NULL: not known. */
static void label_value(const value_tree *view, proto_item *item, int hf, const char *path, const char *words)
{
    value_stream *stream = view->stream;
    uint32_t id = stream->counter->id;
    const char *whose = path || id == PERF_NO_ID ? path : wmem_strdup_printf(stream->pool, "#%u", id);

    proto_item_set_text(item, "%s",
                        wmem_strconcat(stream->pool, proto_registrar_get_name(hf), ": ", whose ? whose : "",
                                       whose ? " = " : "", words, format_assumed_mark(stream), NULL));
}

proto_tree *value_tree_add_value(value_tree *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size)
{
    value_stream *stream = view->stream;
    const char *path = view->path ? value_stream_path(stream) : NULL;
    const perf_result none = {0, PERF_NO_RESULT_NO_FORMULA}, result = view->result ? value_stream_result(stream) : none;
    const char *words = view->visible ? value_stream_format(stream, &result) : NULL;
    const char *formula = view->visible ? value_stream_format_formula(stream) : "";

    if (view->experts) {
        value_tree_report_assumed(view->report, proto_tree_get_parent(view->tree), value_stream_assumed(stream), 0);
    }
    if (hf > 0) {
        proto_item *item = proto_tree_add_item(tree, hf, view->tvb, (int)offset, (int)size, ENC_NA);
        if (words) {
            label_value(view, item, hf, path, words);
        }
        tree = proto_item_add_subtree(item, ett);
    }
    if (view->result && !stream->counter->is_text) {
        show_result(view, tree, &result, words, formula);
    }
    if (view->watch) {
        show_watched(view, tree);
    }
    if (path) {
        proto_item_set_generated(proto_tree_add_string(tree, hf_path, view->tvb, 0, 0, path));
    }
    return tree;
}

void value_tree_add_previous(const value_tree *view, proto_tree *tree)
{
    const value_stream *stream = view->stream;

    if (stream->before.table) {
        char text[TEXT_NUMBER_SIZE];
        uint32_t frame = stream->response.sample->previous->frame;
        double interval = perf_interval(&stream->now.table->clocks, &stream->before.table->clocks);
        proto_item_set_generated(proto_tree_add_uint(tree, hf_previous, view->tvb, 0, 0, frame));
        g_ascii_formatd(text, sizeof text, "%.3f", interval);
        proto_item_set_generated(
            proto_tree_add_double_format_value(tree, hf_interval, view->tvb, 0, 0, interval, "%s s", text));
    }
}

/* --- The Info column --------------------------------------------------------------------------------------------- */

/* Characters of a path in the Info column: the value has to be seen. */
#define MAX_INFO_PATH 160

/* Returns the row that stands for the group in the Info column: _Total, else the first of the series' first sample, else the group's first. */
static uint32_t find_info_row(const value_stream *stream)
{
    static const uint8_t total[] = {'_', 0, 'T', 0, 'o', 0, 't', 0, 'a', 0, 'l', 0};
    const perf_table *table = stream->now.table;
    const state_sample *sample = stream->response.sample;
    uint32_t row = perf_table_find_row(table, stream->now.at.group, 0, total, sizeof total);

    if (row == PERF_NO_ID && sample && sample->series->first_row) {
        row = perf_table_find_row(table, stream->now.at.group, 0, sample->series->first_row,
                                  sample->series->first_row_size);
    }
    return row == PERF_NO_ID ? 0 : row;
}

/* Returns "\Processor(_Total)\% Processor Time = 12.4 %" with its mark, of the first sound group's first counter that is no base; NULL: there is
 * none, or it has no path. */
static const char *format_info_value(wmem_allocator_t *pool, const counter_response *response)
{
    value_stream *stream = value_stream_begin(pool, response);
    perf_group *group = perf_table_first_group(response->table);
    bool is_found = false;

    if (group == NULL) {
        return NULL;
    }
    value_stream_enter(stream, group);
    uint32_t row = find_info_row(stream);
    for (uint32_t column = 0; column < stream->now.at.group->columns && !is_found; column++) {
        const perf_cell *at = value_stream_go_to(stream, row, column);
        is_found = at && !(stream->counter->type && perf_counter_type_is_base(stream->counter->type->value));
    }
    const char *path = is_found ? value_stream_path(stream) : NULL;
    if (path == NULL) {
        return NULL;
    }
    path = text_cut(pool, path + strlen("\\\\") + strlen(stream->computer), MAX_INFO_PATH);
    const perf_result result = value_stream_result(stream);
    return wmem_strconcat(pool, path, " = ", value_stream_format(stream, &result), format_assumed_mark(stream), NULL);
}

const char *value_tree_format_info(wmem_allocator_t *pool, const counter_response *response, const char *failed)
{
    const perf_table *table = response->table;
    uint64_t count = table->values;
    unsigned shown;
    const char *head = watch_format(pool, response, &shown);

    if (head == NULL) {
        head = format_info_value(pool, response);
        shown = head != NULL;
    }
    const char *more = count == 0 && !failed ? "no value"
                       : count == shown      ? ""
                                             : text_counted(pool, count - shown, shown > 0 ? "more value" : "value");
    /* put together without printf: most packets have such a text */
    return wmem_strconcat(pool, head ? head : "", shown > 0 && *more ? ", " : "", more, failed && count > 0 ? "; " : "",
                          failed ? failed : "", " (",
                          text_counted(pool, table->num_groups, table->is_block ? "object" : "block"), ", ",
                          text_counted(pool, table->size, "byte"), ")", NULL);
}

/* --- A response -------------------------------------------------------------------------------------------------- */

#define FAULT_ID(name, class, text) EI_##class,
#define FAULT_TEXT(name, class, text) text,
static const expert_id fault_ids[] = {PERF_TABLE_FAULTS(FAULT_ID)};
static const char *const fault_texts[] = {PERF_TABLE_FAULTS(FAULT_TEXT)};

/* Reports the faults of a group, PERF_NO_GROUP: of the response, at the broken structure in `tree`, else at `item`. Without structures reports all. */
static void report_table_faults(value_tree *view, uint32_t group, proto_item *item, proto_tree *tree)
{
    for (uint32_t i = 0; i < view->table->num_faults; i++) {
        const perf_table_fault *fault = &view->table->faults[i];
        if (fault->group != group && view->structures) {
            continue;
        }
        expert_id id = fault_ids[fault->kind];
        proto_item *broken = tree && view->ops->show_broken ? view->ops->show_broken(view, fault, tree) : NULL;
        const char *text =
            wmem_strdup_printf(view->report->pinfo->pool, fault_texts[fault->kind], fault->stated, fault->found);
        id = !view->table->is_block ? id : id == EI_SIZE ? EI_BLOCK_SIZE : id == EI_COUNT ? EI_BLOCK_COUNT : id;
        expert_report_add(view->report, broken ? broken : item, id, "At offset %u: %s", fault->offset, text);
    }
}

void value_tree_enter(const value_tree *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                      buffer_cursor *cursor)
{
    buffer_cursor outer;

    cursor_init(&outer, view->tvb, tree, view->report, view->table->big_endian ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN);
    outer.pos = offset;
    cursor_enter(&outer, hf, ett, size, cursor);
}

/* Shows a row with its values, as far as the packet's tree has room. */
static void show_table_row(value_tree *view, const perf_group *group, uint32_t row, proto_tree *group_tree)
{
    value_stream *stream = view->stream;

    value_stream_enter_row(stream, row);
    proto_tree *tree = view->ops->show_row(view, group, row, group_tree);
    for (uint32_t column = 0; column < group->columns; column++, view->values_seen++) {
        const perf_cell *at = value_stream_go_to(stream, row, column);
        if (stream->now.at.bytes_left == 0 || !tree_has_room(view->tree)) {
            break;
        }
        if (at) {
            view->ops->show_value(view, tree);
        }
    }
}

/* Shows the stream's group with its rows, as far as the packet's tree has room, and reports its faults. */
static void show_table_group(value_tree *view)
{
    const perf_group *group = view->stream->now.at.group;
    proto_tree *tree = tree_has_room(view->tree) ? view->ops->show_group(view, group) : NULL;

    for (uint32_t row = 0; row < group->rows && tree_has_room(view->tree); row++) {
        show_table_row(view, group, row, tree);
    }
    report_table_faults(view, (uint32_t)(group - view->table->groups), proto_tree_get_parent(tree ? tree : view->tree),
                        tree);
}

/* Shows header and groups, for cursor_try(), and reports how many values the packet's tree had no room for. */
static void show_table(void *data)
{
    value_tree *view = data;
    proto_item *header = view->ops->show_header(view), *parent = proto_tree_get_parent(view->tree);

    report_table_faults(view, PERF_NO_GROUP, header ? header : parent, NULL);
    while (value_stream_next_group(view->stream)) {
        show_table_group(view);
    }
    uint64_t hidden = view->table->values - view->values_seen;
    if (hidden > 0 || !tree_has_room(view->tree)) {
        expert_report_add(view->report, parent, EI_NOT_SHOWN,
                          "%" PRIu64 " of %" PRIu64 " values, and other structures, are not shown, a packet's tree is "
                          "limited; they are kept and calculated with",
                          hidden, view->table->values);
    }
}

void value_tree_show(proto_tree *tree, expert_report *report, const counter_response *response,
                     const value_tree_ops *ops)
{
    value_tree view = {.ops = ops, .tvb = response->tvb, .tree = tree, .report = report, .table = response->table};
    buffer_cursor cursor;

    find_referenced_fields(&view);
    if (view.structures || view.value || view.path || view.result || view.watch) {
        view.stream = value_stream_begin(report->pinfo->pool, response);
    }
    if (view.structures) {
        cursor_init(&cursor, response->tvb, tree, report, ENC_NA);
        cursor_try(&cursor, show_table, &view);
        return;
    }
    report_table_faults(&view, PERF_NO_GROUP, proto_tree_get_parent(tree), NULL);
    while (view.stream && tree_has_room(tree) && value_stream_next(view.stream)) {
        value_tree_add_sent(&view, tree);
        value_tree_add_value(&view, tree, 0, 0, 0, 0);
    }
}
