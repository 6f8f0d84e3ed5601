/* value-tree.c
 * Parts of the tree that both protocols show alike: source of a name or type, a counter's type, values; and the text of the Info column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/value-tree.h"

#include "state/samples.h"
#include "tap/watched-counters.h"
#include "tree/fields.h"
#include "perf/bytes.h"
#include "text/value-strings.h"

static int hf_learned_in, hf_value, hf_text, hf_raw, hf_path, hf_cooked, hf_cooked_none, hf_previous, hf_interval;

/* --- Where a fact came from ------------------------------------------------------------------------------------ */

void value_tree_report_assumed(expert_report *report, proto_item *item, uint32_t disputed_in)
{
    if (!report->tells_assumed && disputed_in != 0) {
        expert_report_add(report, item, EI_ORDER_ASSUMED,
                          "Frame %u has another name or type of what is here: which it has is assumed", disputed_in);
    } else if (!report->tells_assumed) {
        expert_report_add(report, item, EI_ORDER_ASSUMED,
                          "The name or type of what is here may be another one's (assumed)");
    }
    report->tells_assumed = true;
}

void value_tree_add_source(buffer_cursor *cursor, proto_item *item, const metadata_result *known)
{
    const char *from = known->frame > cursor_pinfo(cursor)->num ? " (learned after this frame)"
                       : known->source == METADATA_FILE         ? " (names file)"
                       : known->source == METADATA_BUILTIN      ? " (built-in list)"
                                                                : "";

    proto_item_set_generated(item);
    if (known->entry->lcid != 0) {
        proto_item_append_text(item, " (%s)", val_to_str_const(known->entry->lcid, text_lcid_vals, "other locale"));
    }
    proto_item_append_text(item, "%s%s", from, known->is_assumed ? " (assumed)" : "");
    if (known->is_assumed) {
        value_tree_report_assumed(cursor->report, item, known->disputed_in);
    }
    if (known->frame != 0) {
        proto_item_append_text(tree_add_generated_uint(cursor->tree, hf_learned_in, cursor->tvb, known->frame), "%s",
                               from);
    }
}

const char *value_tree_add_name(buffer_cursor *cursor, int hf, state_server *server, metadata_key key)
{
    metadata_result known = {0};

    if (cursor->tree) {
        known = metadata_lookup(server, key, METADATA_ENGLISH);
    }
    if (!known.entry) {
        return NULL;
    }
    proto_item *item = proto_tree_add_string(cursor->tree, hf, cursor->tvb, 0, 0, known.entry->name);
    value_tree_add_source(cursor, item, &known);
    return text_marked(cursor_pinfo(cursor)->pool, known.entry->name, known.is_assumed);
}

/* --- Counter types --------------------------------------------------------------------------------------------- */

static int ett_counter_type = -1;

#define BIT_ROW(value, name, meaning) {value, name ": " meaning},
static const value_string type_size_vals[] = {PERF_SIZES(BIT_ROW){0, NULL}};
static const value_string type_kind_vals[] = {PERF_KINDS(BIT_ROW){0, NULL}};
static const value_string type_timer_vals[] = {PERF_TIMERS(BIT_ROW){0, NULL}};
static const value_string type_display_vals[] = {PERF_DISPLAYS(BIT_ROW){0, NULL}};

/* Number among the bits' fields of the one whose meaning depends on the kind. */
#define SUBTYPE 2

/* Registers the fields of a counter type and its bits, PREFIX.counter.type. */
static void register_type_fields(int proto, const char *prefix, value_type_fields *fields)
{
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
}

uint32_t value_tree_read_type(buffer_cursor *cursor, const value_type_fields *fields)
{
    uint32_t offset = cursor->pos;
    uint32_t type = cursor_read_u32(cursor, fields->type);

    const char *subtype = perf_counter_subtype_name(type);
    proto_item *own = cursor->item;
    proto_tree *tree = own ? proto_item_add_subtree(own, ett_counter_type) : NULL;
    for (unsigned i = 0; tree && i < NUM_TYPE_BITS; i++) {
        proto_item *item = proto_tree_add_item(tree, fields->bits[i], cursor->tvb, offset, 4, cursor->encoding);
        if (i == SUBTYPE) {
            proto_item_append_text(item, " (%s)", subtype ? subtype : "unknown");
        }
    }
    if (perf_counter_type_find(type) == NULL && !perf_counter_type_is_text(type)) {
        expert_report_add(cursor->report, own, EI_COUNTER_TYPE,
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

/* --- Fields ------------------------------------------------------------------------------------------------------ */

void value_fields_register(int proto, const char *prefix, value_fields *fields)
{
    static int *ett[] = {&ett_counter_type};
    static hf_register_info hf[] = {
        FIELD_FRAME(hf_learned_in, "Learned in", "pcq.learned_in", "The frame that taught what is above"),
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
        FIELD_FRAME(hf_previous, "Previous sample", "pcq.sample.previous",
                    "The sample that values are calculated from together with this one"),
        FIELD(hf_interval, "Interval", "pcq.sample.interval", FT_DOUBLE, BASE_NONE, NULL,
              "Seconds since the previous sample, by the server's clock"),
    };

    if (hf_value == 0) {
        proto_register_field_array(proto, hf, array_length(hf));
        proto_register_subtree_array(ett, array_length(ett));
    }
    proto_register_field_array(proto, fields->structures, (int)fields->num_structures);
    register_type_fields(proto, prefix, &fields->types);
}

/* True if a field around the values, or an expert info, is referenced: then all structures are read. */
static bool are_structures_referenced(const value_tree *view)
{
    const value_fields *fields = view->fields;
    const int shared[] = {hf_learned_in, hf_previous, hf_interval};

    for (unsigned i = 0; i < fields->num_structures; i++) {
        if (proto_field_is_referenced(view->tree, *fields->structures[i].p_id)) {
            return true;
        }
    }
    return fields_any_referenced(view->tree, shared, array_length(shared)) ||
           fields_any_referenced(view->tree, &fields->types.type, 1) ||
           fields_any_referenced(view->tree, fields->types.bits, NUM_TYPE_BITS) ||
           expert_report_is_wanted(view->report, view->tree);
}

/* Returns the fields that a filter, a column or the visible tree references; without a tree expert infos alone can be. */
static referenced_fields find_referenced_fields(const value_tree *view)
{
    proto_tree *tree = view->tree;
    const int sent[] = {hf_value, hf_text, hf_raw};
    const int results[] = {hf_cooked, hf_cooked_none, view->report->expert->fields[EI_ORDER_ASSUMED].hf};

    if (tree == NULL) {
        return (referenced_fields){.structures = expert_report_is_wanted(view->report, tree)};
    }
    return (referenced_fields){
        .structures = are_structures_referenced(view),
        .visible = PTREE_DATA(tree)->visible,
        .value = fields_any_referenced(tree, sent, array_length(sent)),
        .path = proto_field_is_referenced(tree, hf_path),
        .result = fields_any_referenced(tree, results, array_length(results)),
        .watch = watch_is_wanted(tree),
        .watched = watch_has_rows() && proto_field_is_referenced(tree, watch_hf_sum),
    };
}

/* --- Values ------------------------------------------------------------------------------------------------------ */

bool value_tree_has_room(value_tree *view, uint32_t items)
{
    view->is_full |= tree_items_left(view->tree) < items;
    return !view->is_full;
}

void value_tree_show_sent(const value_tree *view, proto_tree *tree)
{
    value_stream *stream = view->stream;
    const counter_value *at = &stream->at;

    if (!view->referenced.value) {
        return;
    }
    if (at->is_text) {
        proto_tree_add_string(tree, hf_text, view->tvb, at->offset, at->size, value_stream_text(stream, TEXT_WHOLE));
    } else if (at->is_number) {
        proto_tree_add_uint64(tree, hf_value, view->tvb, at->offset, at->raw.size, at->raw.value);
    } else if (at->size > 0) {
        proto_tree_add_item(tree, hf_raw, view->tvb, at->offset, (int)MIN(at->size, MOST_VALUE_BYTES), ENC_NA);
    }
}

/* A value, as far as fields of it are referenced. */
typedef struct {
    const char *words; /* for people; NULL if the tree is not visible */
    perf_result result;
    bool has_formula;
} value_meaning;

/* Smallest integer that Wireshark shows with an exponent as a double, which soon does not hold all digits. */
#define LARGE_NUMBER 1000000000000000

/* Adds "Calculated value: 12.4 % = FORMULA (note)". Without a formula the number that Wireshark makes of it mostly will do: the structure's
 * label has it with its unit, and a label of its own costs as much as all others of the value. Labels are put together before they are
 * given: printf is slow with short parts. */
static proto_item *add_labelled_result(proto_tree *tree, value_stream *stream, const value_meaning *what)
{
    char label[1024]; /* room for formula, words and notes */
    const char *note = stream->at.counter->type->note;
    char *end = perf_put_text(perf_put_text(label, "Calculated value: "), what->words);
    end = perf_put_text(end, format_assumed_mark(stream));
    end = what->has_formula ? value_stream_format_formula(stream, perf_put_text(end, " = ")) : end;
    end = *note ? perf_put_text(perf_put_text(perf_put_text(end, " ("), note), ")") : end;
    *end = '\0';
    return proto_tree_add_double_format(tree, hf_cooked, stream->response.tvb, 0, 0, what->result.value, "%s", label);
}

/* Shows the result, or the reason for none, with formula and note as far as there are any. */
static void show_result(proto_tree *tree, value_stream *stream, const value_meaning *what)
{
    const perf_counter_type *type = stream->at.counter->type;
    char formula[512];
    proto_item *item;

    if (what->result.none != PERF_NO_RESULT_OK) {
        item = proto_tree_add_uint(tree, hf_cooked_none, stream->response.tvb, 0, 0, what->result.none);
        if (what->has_formula) {
            value_stream_format_formula(stream, formula);
            proto_item_append_text(item, ", %s", formula);
        }
    } else if (what->has_formula ||
               (what->words && (type->hex || *type->note ||
                                (type->kind == PERF_KIND_NUMBER && stream->at.raw.value >= LARGE_NUMBER)))) {
        item = add_labelled_result(tree, stream, what);
    } else {
        item = proto_tree_add_double(tree, hf_cooked, stream->response.tvb, 0, 0, what->result.value);
    }
    proto_item_set_generated(item);
}

/* Shows the field of a watched counter, for a column or graph of it alone, since pcq.cooked has all values of the packet: "cpu: 12.4 % =
 * \\SRV\Processor(_Total)\% Processor Time". */
static void show_watched(value_tree *view, proto_tree *tree)
{
    value_stream *stream = view->stream;
    const char *path = value_stream_path(stream);
    watched_counter *const *row = watch_rows_of(path);
    perf_result result = *row ? value_stream_result(stream) : (perf_result){0, PERF_NO_RESULT_OK};

    for (; *row && result.none == PERF_NO_RESULT_OK && tree_items_left(tree) > 0; row++) {
        proto_item *item = proto_tree_add_double(tree, (*row)->hf, view->tvb, 0, 0, result.value);
        proto_item_set_generated(item);
        if (view->referenced.visible) {
            proto_item_set_text(item, "%s: %s%s = %s", (*row)->name, value_stream_format(stream, &result),
                                format_assumed_mark(stream), path);
        }
    }
}

/* Reports why the current value is assumed, each reason once for a response. */
static void report_assumed(value_tree *view)
{
    assumed_reason reason = value_stream_assumed_reason(view->stream);

    if (reason != ASSUMED_NONE && !(view->reported & 1U << reason)) {
        view->reported |= 1U << reason;
        expert_report_add(view->report, proto_tree_get_parent(view->tree), EI_ORDER_ASSUMED, "Assumed: %s",
                          assumed_reason_texts[reason]);
    }
}

proto_tree *value_tree_show(value_tree *view, proto_tree *tree, const value_structure *structure)
{
    value_stream *stream = view->stream;
    bool has_result = view->referenced.result && !stream->at.is_text;
    const char *path = view->referenced.path ? value_stream_path(stream) : NULL;
    value_meaning what = {0};

    if (has_result) {
        what.result = value_stream_result(stream);
    }
    if (has_result || view->referenced.visible) {
        report_assumed(view);
    }
    if (view->referenced.visible) {
        what.words = value_stream_format(stream, &what.result);
        what.has_formula = structure && has_result && value_stream_has_formula(stream);
    }
    if (structure) {
        uint32_t id = stream->at.counter->id;
        const char *whose = path                             ? path
                            : id != PERF_NO_ID && what.words ? wmem_strdup_printf(stream->pool, "#%u", id)
                                                             : "";
        proto_item *item =
            proto_tree_add_item(tree, structure->hf, view->tvb, (int)structure->offset, (int)structure->size, ENC_NA);
        if (what.words) { /* given at once: to append to a label costs as much again */
            proto_item_set_text(item, "%s",
                                wmem_strconcat(stream->pool, proto_registrar_get_name(structure->hf), ": ", whose,
                                               *whose ? " = " : "", what.words, format_assumed_mark(stream), NULL));
        }
        tree = proto_item_add_subtree(item, structure->ett);
    }
    if (has_result) {
        show_result(tree, stream, &what);
    }
    if (view->referenced.watch && !stream->at.is_text) {
        show_watched(view, tree);
    }
    if (path) {
        tree_add_generated_string(tree, hf_path, view->tvb, path);
    }
    return tree;
}

void value_tree_show_flat(value_tree *view)
{
    while (view->stream && value_tree_has_room(view, ITEMS_OF_FLAT_VALUE) && value_stream_next(view->stream)) {
        value_tree_show_sent(view, view->tree);
        value_tree_show(view, view->tree, NULL);
    }
}

void value_tree_show_previous(const value_tree *view, proto_tree *tree)
{
    const value_stream *stream = view->stream;

    if (stream->before.table) {
        char text[TEXT_NUMBER_SIZE];
        tree_add_generated_uint(tree, hf_previous, view->tvb, stream->before.sample->frame);
        g_ascii_formatd(text, sizeof text, "%.3f", stream->interval);
        proto_item_set_generated(
            proto_tree_add_double_format_value(tree, hf_interval, view->tvb, 0, 0, stream->interval, "%s s", text));
    }
}

/* --- The Info column --------------------------------------------------------------------------------------------- */

/* Characters of a path in the Info column: the value has to be seen. */
#define MAX_INFO_PATH 160

/* Values of a response that are compared with the watched counters: each packet of the list costs as much. */
#define MAX_WATCHED_THROUGH 1000

/* Writes "cpu 12.4 %, gpu 0.4 % to 10.9 %, 7 values" for watched counters. Returns how many values that covers; 0: no text. */
static unsigned format_watched(wmem_strbuf_t *text, wmem_allocator_t *pool, const counter_response *response)
{
    unsigned covered;
    const char **words = watch_sum_up(value_stream_begin(pool, response), MAX_WATCHED_THROUGH, " ", &covered);

    for (unsigned i = 0; words[i]; i++) {
        wmem_strbuf_append_printf(text, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    if (covered > 0 && response->table->values > MAX_WATCHED_THROUGH) {
        wmem_strbuf_append_printf(text, " (of the first %u values)", MAX_WATCHED_THROUGH);
    }
    return covered;
}

/* Returns the row that stands for the group in the Info column: _Total, else the first of the series' first sample, else the group's first. */
static uint32_t find_info_row(const value_stream *stream)
{
    static const uint8_t little_endian[] = {'_', 0, 'T', 0, 'o', 0, 't', 0, 'a', 0, 'l', 0};
    static const uint8_t big_endian[] = {0, '_', 0, 'T', 0, 'o', 0, 't', 0, 'a', 0, 'l'};
    static const uint8_t bytes[] = {'_', 'T', 'o', 't', 'a', 'l'};
    const perf_table *table = stream->now.table;
    const sample_series *series = stream->response.sample ? stream->response.sample->series : NULL;
    bool is_wide = perf_group_has_wide_names(stream->group);
    uint32_t row = perf_table_find_row(table, stream->group,
                                       !is_wide                 ? bytes
                                       : table->big_endian_text ? big_endian
                                                                : little_endian,
                                       is_wide ? sizeof big_endian : sizeof bytes);

    if (row == PERF_NO_ID && series && series->first_row) {
        row = perf_table_find_row(table, stream->group, series->first_row, series->first_row_size);
    }
    return row == PERF_NO_ID ? 0 : row;
}

/* Goes to the value that stands for a response: in the first sound group, of the first counter that is no base. Returns false if there is
 * none. */
static bool go_to_info_value(value_stream *stream)
{
    perf_table *table = stream->now.table;

    if (table->first_group == PERF_NO_GROUP) {
        return false;
    }
    value_stream_enter(stream, &table->groups[table->first_group]);
    uint32_t row = find_info_row(stream);
    for (uint32_t column = 0; column < stream->group->columns; column++) {
        const counter_value *at = value_stream_go_to(stream, row, column);
        const perf_counter_type *type = at ? at->counter->type : NULL;
        if (at && !(type && type->kind == PERF_KIND_BASE)) {
            return true;
        }
    }
    return value_stream_go_to(stream, row, 0) != NULL;
}

/* Returns "\Processor(_Total)\% Processor Time = 12.4 %" with its mark, of the value of go_to_info_value(); NULL: none, or without a path. */
static const char *format_info_value(wmem_allocator_t *pool, const counter_response *response)
{
    value_stream *stream = value_stream_begin(pool, response);
    const char *path = go_to_info_value(stream) ? value_stream_path(stream) : NULL;

    if (path == NULL) {
        return NULL;
    }
    path = text_cut(pool, path + strlen("\\\\") + strlen(stream->computer), MAX_INFO_PATH);
    perf_result result = stream->at.is_text ? (perf_result){0, PERF_NO_RESULT_OK} : value_stream_result(stream);
    const char *words = value_stream_format(stream, &result);
    return wmem_strconcat(pool, path, " = ", words, format_assumed_mark(stream), NULL);
}

const char *value_tree_format_info(wmem_allocator_t *pool, const counter_response *response, const char *failed,
                                   const char *part)
{
    wmem_strbuf_t *watched = wmem_strbuf_new(pool, "");
    const perf_table *table = response->table;
    uint64_t count = table->values;
    unsigned shown = count > 0 && watch_has_rows() ? format_watched(watched, pool, response) : 0;
    const char *head = shown > 0 || count == 0 ? wmem_strbuf_get_str(watched) : format_info_value(pool, response);
    shown += shown == 0 && count > 0 && head;
    const char *more = count == 0 && !failed ? "no value"
                       : count == shown      ? ""
                                             : text_counted(pool, count - shown, shown > 0 ? "more value" : "value");
    /* put together without printf: most packets have such a text */
    return wmem_strconcat(pool, head ? head : "", shown > 0 && *more ? ", " : "", more, failed && count > 0 ? "; " : "",
                          failed ? failed : "", " (", text_counted(pool, table->num_groups, part), ", ",
                          text_counted(pool, table->size, "byte"), ")", NULL);
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

/* --- A response -------------------------------------------------------------------------------------------------- */

/* Shows "Watched: gpu = 0.4 % to 10.9 %, 7 values" for each watched counter. */
static void show_watched_sums(value_tree *view, const counter_response *response)
{
    unsigned covered;
    const char **words =
        watch_sum_up(value_stream_begin(view->report->pinfo->pool, response), UINT_MAX, " = ", &covered);

    for (; *words && tree_items_left(view->tree) > 0; words++) {
        tree_add_generated_string(view->tree, watch_hf_sum, view->tvb, *words);
    }
}

bool value_tree_begin(value_tree *view, const counter_response *response)
{
    const referenced_fields none = {0};

    ws_assert(view->tvb && view->fields && view->report);
    view->referenced = find_referenced_fields(view);
    if (memcmp(&view->referenced, &none, sizeof none) == 0) {
        return false;
    }
    view->stream = value_stream_begin(view->report->pinfo->pool, response);
    if (view->referenced.watched) {
        show_watched_sums(view, response);
    }
    return true;
}
