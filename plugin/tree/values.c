/* values.c
 * What both protocols show alike in the tree: where a name or type is from, a counter's type, values; and in the Info column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/values.h"

#include "state/pace.h"
#include "tree/fields.h"
#include "perf/bytes.h"
#include "text/value-strings.h"

static int hf_learned_in, hf_value, hf_text, hf_raw, hf_path, hf_cooked, hf_cooked_none, hf_previous, hf_interval;

/* --- Where a fact came from ------------------------------------------------------------------------------------ */

void values_note_assumed(findings_report *report, proto_item *item)
{
    if (!report->tells_assumed) {
        findings_add(report, item, FINDING_ORDER_ASSUMED,
                     "Another packet has another name or type of what is here: which it has is assumed");
    }
    report->tells_assumed = true;
}

void values_add_source(buffer_cursor *cursor, proto_item *item, const state_known *known, bool assumed)
{
    const char *from = known->frame > cursor_pinfo(cursor)->num ? " (learned after this frame)"
                       : known->source == PERF_SOURCE_FILE      ? " (names file)"
                       : known->source == PERF_SOURCE_BUILTIN   ? " (built-in list)"
                                                                : "";

    proto_item_set_generated(item);
    if (known->fact->lcid != 0) {
        proto_item_append_text(item, " (%s)", val_to_str_const(known->fact->lcid, text_lcid_vals, "other locale"));
    }
    proto_item_append_text(item, "%s%s", from, assumed ? " (assumed)" : "");
    if (assumed) {
        values_note_assumed(cursor->report, item);
    }
    if (known->frame != 0) {
        proto_item_append_text(tree_add_generated_uint(cursor->tree, hf_learned_in, cursor->tvb, known->frame), "%s",
                               from);
    }
}

const char *values_add_name(buffer_cursor *cursor, int hf, state_host *server, state_subject subject, uint32_t event)
{
    state_known known = {0};

    if (cursor->tree) {
        known = facts_lookup(server, subject, PERF_FACT_ENGLISH, event);
    }
    if (!known.fact) {
        return NULL;
    }
    proto_item *item = proto_tree_add_string(cursor->tree, hf, cursor->tvb, 0, 0, known.fact->name);
    bool assumed = facts_doubted(server, subject, PERF_FACT_ENGLISH, 0, event);
    values_add_source(cursor, item, &known, assumed);
    return text_marked(cursor_pinfo(cursor)->pool, known.fact->name, assumed);
}

/* --- Counter types --------------------------------------------------------------------------------------------- */

static int ett_counter_type = -1;

#define BIT_ROW(value, name, meaning) {value, name ": " meaning},
static const value_string type_size_vals[] = {PERF_SIZES(BIT_ROW){0, NULL}};
static const value_string type_kind_vals[] = {PERF_KINDS(BIT_ROW){0, NULL}};
static const value_string type_timer_vals[] = {PERF_TIMERS(BIT_ROW){0, NULL}};
static const value_string type_display_vals[] = {PERF_DISPLAYS(BIT_ROW){0, NULL}};

/* Number of the field whose meaning depends on others. */
#define SUBTYPE 2

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

uint32_t values_read_counter_type(buffer_cursor *cursor, const value_type_fields *fields)
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
        findings_add(cursor->report, own, FINDING_COUNTER_TYPE,
                     "Counter type 0x%08x is unknown, only its bits tell what it is", type);
    }
    return type;
}

int32_t values_read_scale(buffer_cursor *cursor, int hf)
{
    int32_t scale = (int32_t)cursor_read_u32(cursor, hf);

    if (scale < -10 || scale > 10) {
        findings_add(cursor->report, cursor->item, FINDING_SCALE, "DefaultScale is %d, a power of ten beyond use",
                     scale);
    }
    return scale;
}

/* --- What a packet's tree can hold ------------------------------------------------------------------------------- */

/* How often the bytes of a buffer may be shown. */
#define TIMES_OF_BYTES 4

void tree_budget_init(tree_budget *budget, const proto_tree *tree, uint64_t values, uint32_t size)
{
    *budget = (tree_budget){.items_left = tree_items_left(tree),
                            .values = values,
                            .values_left = values,
                            .bytes = (uint64_t)size * TIMES_OF_BYTES};
}

/* Takes the bytes of one value, at least one. All values together can show some times what the buffer has: definitions times
 * instances are more. */
static bool take_bytes(tree_budget *budget, uint32_t size)
{
    uint32_t taken = MAX(size, 1);
    bool is_room = taken <= budget->bytes;

    budget->bytes -= is_room ? taken : 0;
    return is_room;
}

bool tree_budget_take(tree_budget *budget, uint32_t items)
{
    budget->short_form |= budget->items_left < items + budget->values_left * ITEMS_OF_SHORT_VALUE;
    return !budget->short_form && tree_budget_take_any(budget, items);
}

bool tree_budget_take_any(tree_budget *budget, uint32_t items)
{
    bool is_room = items <= budget->items_left;

    budget->items_left -= is_room ? items : 0;
    return is_room;
}

void tree_budget_report(const tree_budget *budget, findings_report *report, proto_item *item, const char *others)
{
    if (item == NULL) {
        return; /* without a tree nothing is shown */
    }
    if (budget->values_hidden > 0) {
        findings_add(report, item, FINDING_NOT_SHOWN,
                     "%" PRIu64 " of %" PRIu64
                     " values are not shown, a packet's tree is limited; they are kept and calculated "
                     "with",
                     budget->values_hidden, budget->values);
    } else if (budget->others_hidden > 0) {
        findings_add(report, item, FINDING_NOT_SHOWN, "%u %s are not shown, a packet's tree is limited",
                     budget->others_hidden, others);
    }
}

/* --- Fields ------------------------------------------------------------------------------------------------------ */

void values_register(int proto, const char *prefix, value_fields *fields)
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

static bool structures_are_wanted(const answer_view *view)
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
           findings_wanted(view->report, view->tree);
}

static value_wishes wishes_of(const answer_view *view, uint32_t faults)
{
    proto_tree *tree = view->tree;
    const char *program = g_get_prgname();
    bool prints = program && strstr(program, "tshark"); /* nobody clicks at that */

    if (tree == NULL) {
        return (value_wishes){.structures = faults > 0 || findings_wanted(view->report, tree)};
    }
    return (value_wishes){
        .structures = faults > 0 || structures_are_wanted(view),
        .visible = PTREE_DATA(tree)->visible,
        .value = proto_field_is_referenced(tree, hf_value) || proto_field_is_referenced(tree, hf_text) ||
                 proto_field_is_referenced(tree, hf_raw),
        .path = proto_field_is_referenced(tree, hf_path),
        .result = proto_field_is_referenced(tree, hf_cooked) || proto_field_is_referenced(tree, hf_cooked_none) ||
                  proto_field_is_referenced(tree, view->report->expert->fields[FINDING_ORDER_ASSUMED].hf),
        .watch = watch_is_wanted(tree),
        .watched = watch_has_rows() && proto_field_is_referenced(tree, watch_hf_sum),
        .clicks = PTREE_DATA(tree)->visible && !prints,
    };
}

void values_sent(const answer_view *view, proto_tree *tree)
{
    value_stream *stream = view->stream;
    const counter_value *at = &stream->at;

    if (!view->wishes.value) {
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

/* What a value means, as far as somebody looks. */
typedef struct {
    const char *words; /* for a person; NULL where nobody reads them */
    perf_result result;
    bool is_short; /* no structure around it has path and words in its label */
    bool has_formula;
} meaning;

/* From here on a double is shown with an exponent, and soon does not hold all digits. */
#define LARGE_NUMBER 1000000000000000

/* "Calculated value: 12.4 % = FORMULA (note)". Without a formula the number that Wireshark makes of it mostly will do: the structure's
 * label has it with its unit, and a label of its own costs as much as all others of the value. Labels are put together before they are
 * given: printf is slow with short parts. */
static proto_item *add_labelled_result(proto_tree *tree, value_stream *stream, const meaning *what)
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

static void show_result(proto_tree *tree, value_stream *stream, const meaning *what)
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
               (what->words && (what->is_short || type->hex || *type->note ||
                                (type->kind == PERF_KIND_NUMBER && stream->at.raw.value >= LARGE_NUMBER)))) {
        item = add_labelled_result(tree, stream, what);
    } else {
        item = proto_tree_add_double(tree, hf_cooked, stream->response.tvb, 0, 0, what->result.value);
    }
    proto_item_set_generated(item);
}

/* Who has a column of pcq.cooked, or draws it, has all values of the packet in it; a watched counter has a field of its own. "cpu: 12.4 % =
 * \\SRV\Processor(_Total)\% Processor Time": its value is the same, but a label of its own tells whose. */
static void show_watched(answer_view *view, proto_tree *tree)
{
    value_stream *stream = view->stream;
    const char *path = value_stream_path(stream);
    watch_row *const *row = watch_rows_of(path);
    perf_result result = *row ? value_stream_result(stream) : (perf_result){0, PERF_NO_RESULT_OK};

    if (*row == NULL && path && view->wishes.clicks && view->budget.values > 1 &&
        tree_budget_take_any(&view->budget, 1)) {
        tree_add_generated_string(tree, watch_hf_hint, view->tvb, "pcq.watch.NAME, if watched (Protocol Preferences)");
    }
    for (; *row && result.none == PERF_NO_RESULT_OK && tree_budget_take_any(&view->budget, 1); row++) {
        proto_item *item = proto_tree_add_double(tree, (*row)->hf, view->tvb, 0, 0, result.value);
        proto_item_set_generated(item);
        if (view->wishes.visible) {
            const watch_values *all = watch_values_of(&view->watched, *row);
            const char *among = all && all->values > 1
                                    ? wmem_strdup_printf(stream->pool, ", 1 of %" PRIu64, (uint64_t)all->values)
                                    : "";
            proto_item_set_text(item, "%s: %s%s%s = %s", (*row)->name, value_stream_format(stream, &result), among,
                                format_assumed_mark(stream), path);
        }
    }
}

/* Reports why values are assumed, each reason once for a packet. */
static void report_assumed(answer_view *view)
{
    assumed_reason reason = value_stream_assumed_reason(view->stream);

    if (reason != ASSUMED_NONE && !(view->reported & 1U << reason)) {
        view->reported |= 1U << reason;
        findings_add(view->report, proto_tree_get_parent(view->tree), FINDING_ORDER_ASSUMED, "Assumed: %s",
                     assumed_reason_texts[reason]);
    }
}

/* In a structure of its own, "Counter data: PATH = WORDS", without a path "Counter data: #6 = WORDS": the label is given at once, to append
 * to one costs as much again. Or, without one, value, path and result side by side. */
static proto_tree *show_reading(answer_view *view, proto_tree *tree, const value_structure *structure)
{
    value_stream *stream = view->stream;
    bool has_result = view->wishes.result && !stream->at.is_text;
    const char *path = view->wishes.path ? value_stream_path(stream) : NULL;
    meaning what = {.is_short = structure == NULL};

    if (has_result) {
        what.result = value_stream_result(stream);
    }
    if (has_result || view->wishes.visible) {
        report_assumed(view);
    }
    if (view->wishes.visible) {
        what.words = value_stream_format(stream, &what.result);
        what.has_formula = structure && has_result && value_stream_has_formula(stream);
    }
    if (structure == NULL) {
        values_sent(view, tree);
    } else {
        uint32_t id = stream->at.counter->id;
        const char *whose = path                             ? path
                            : id != PERF_NO_ID && what.words ? wmem_strdup_printf(stream->pool, "#%u", id)
                                                             : "";
        proto_item *item =
            proto_tree_add_item(tree, structure->hf, view->tvb, structure->offset, structure->size, ENC_NA);
        if (what.words) {
            proto_item_set_text(item, "%s",
                                wmem_strconcat(stream->pool, proto_registrar_get_name(structure->hf), ": ", whose,
                                               *whose ? " = " : "", what.words, format_assumed_mark(stream), NULL));
        }
        tree = proto_item_add_subtree(item, structure->ett);
    }
    if (has_result) {
        show_result(tree, stream, &what);
    }
    if ((view->wishes.watch || (view->wishes.clicks && structure)) && !stream->at.is_text) {
        show_watched(view, tree);
    }
    if (path) {
        tree_add_generated_string(tree, hf_path, view->tvb, path);
    }
    return tree;
}

proto_tree *values_show(answer_view *view, proto_tree *tree, proto_tree *brief, const value_structure *structure)
{
    tree_budget *budget = &view->budget;
    bool affordable = take_bytes(budget, view->stream->at.size);

    ws_assert(budget->values_left > 0);
    budget->values_left--;
    if (affordable && tree && tree_budget_take(budget, structure->items)) {
        return show_reading(view, tree, structure);
    }
    if (affordable && brief && tree_budget_take_any(budget, ITEMS_OF_SHORT_VALUE)) {
        show_reading(view, brief, NULL);
    } else {
        budget->values_hidden++;
    }
    return NULL;
}

void values_samples(const answer_view *view, proto_tree *tree)
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
#define MAX_HEADLINE_PATH 160

/* Values that are looked through for a better one than the first, and for those that the user watches: each packet of the list costs
 * as much. */
#define MAX_LOOKED_THROUGH 32
#define MAX_WATCHED_THROUGH 1000

/* Watched values that the Info column shows. */
#define MAX_HEADLINES 4

/* "cpu 12.4 %, gpu 0.4 to 10.9 %, 7 instances"; how many values that is. */
static unsigned watched_headline(wmem_strbuf_t *text, wmem_allocator_t *pool, const counter_response *answer)
{
    watch_survey survey = watch_look_through(value_stream_begin(pool, answer), MAX_WATCHED_THROUGH, MAX_HEADLINES);

    for (unsigned i = 0; i < wmem_array_get_count(survey.rows); i++) {
        const watch_values *values = wmem_array_index(survey.rows, i);
        wmem_strbuf_append_printf(text, "%s%s %s", i > 0 ? ", " : "", values->row->name, watch_words(pool, values));
    }
    if (survey.covered > 0 && !survey.whole) {
        wmem_strbuf_append_printf(text, " (of the first %u values)", MAX_WATCHED_THROUGH);
    }
    return survey.covered;
}

/* The place among the first of a value of _Total, which stands for an answer; else that of the first. */
static unsigned find_total(value_stream *stream)
{
    for (unsigned place = 0; place < MAX_LOOKED_THROUGH && value_stream_next(stream); place++) {
        const char *instance = value_stream_instance(stream);
        if (instance && strcmp(instance, "_Total") == 0 && value_stream_counter(stream)) {
            return place;
        }
    }
    return 0;
}

/* "\Processor(_Total)\% Processor Time = 12.4 %" and a note, of the value that stands for an answer; NULL if it has no path. */
static const char *headline(wmem_allocator_t *pool, const counter_response *answer, uint64_t count)
{
    state_sample *sample = (state_sample *)answer->sample; /* which keeps the place for what has its form */
    bool is_known = sample && sample->headline > 0, is_there = true;
    unsigned place = is_known ? sample->headline - 1U : count > 1 ? find_total(value_stream_begin(pool, answer)) : 0;
    value_stream *stream = value_stream_begin(pool, answer);

    for (unsigned i = 0; i <= place && is_there; i++) {
        is_there = value_stream_next(stream) != NULL;
    }
    const char *path = is_there ? value_stream_path(stream) : NULL;
    if (path == NULL) {
        return NULL;
    }
    if (sample) {
        sample->headline = (uint8_t)(1 + place);
    }
    path = text_cut(pool, path + strlen("\\\\") + strlen(stream->computer), MAX_HEADLINE_PATH);
    perf_result result = stream->at.is_text ? (perf_result){0, PERF_NO_RESULT_OK} : value_stream_result(stream);
    const char *words = value_stream_format(stream, &result);
    return wmem_strconcat(pool, path, " = ", words, format_assumed_mark(stream), NULL);
}

const char *values_headline(wmem_allocator_t *pool, const counter_response *answer, uint64_t count, const char *failed,
                            uint32_t parts, const char *part, uint32_t size)
{
    wmem_strbuf_t *watched = wmem_strbuf_new(pool, "");
    unsigned shown = count > 0 && watch_has_rows() ? watched_headline(watched, pool, answer) : 0;
    const char *head = shown > 0 || count == 0 ? wmem_strbuf_get_str(watched) : headline(pool, answer, count);
    shown += shown == 0 && count > 0 && head;
    const char *more = count == 0 && !failed ? "no value"
                       : count == shown      ? ""
                                             : text_counted(pool, count - shown, shown > 0 ? "more value" : "value");
    /* most packets have such a text: to print its parts would cost more than all the rest of the call */
    return wmem_strconcat(pool, head ? head : "", shown > 0 && *more ? ", " : "", more, failed && count > 0 ? "; " : "",
                          failed ? failed : "", " (", text_counted(pool, parts, part), ", ",
                          text_counted(pool, size, "byte"), ")", NULL);
}

void values_read_frequency(buffer_cursor *cursor, int hf)
{
    char text[TEXT_NUMBER_SIZE];
    uint64_t frequency = cursor_read_u64(cursor, hf);

    text_integer(text, frequency);
    proto_item_append_text(cursor->item, " (%s Hz)", text);
    if (frequency == 0) {
        findings_add(cursor->report, cursor->item, FINDING_TIME, "PerfFreq is 0: rates cannot be calculated");
    }
}

/* --- An answer --------------------------------------------------------------------------------------------------- */

/* Which finding each kind of fault is. */
static const finding_id fault_findings[PERF_NUM_FAULT_CLASSES] = {
    [PERF_FAULT_IS_SHORT] = FINDING_SIZE,      [PERF_FAULT_IS_NUMBER] = FINDING_NUMBER,
    [PERF_FAULT_IS_TYPE] = FINDING_BLOCK_TYPE, [PERF_FAULT_IS_SIZE] = FINDING_SIZE,
    [PERF_FAULT_IS_COUNT] = FINDING_COUNT,     [PERF_FAULT_IS_PLACE] = FINDING_STRING_OFFSET,
    [PERF_FAULT_IS_TEXT] = FINDING_TEXT,       [PERF_FAULT_IS_REST] = FINDING_TRAILING_BYTES,
    [PERF_FAULT_IS_READ_AS] = FINDING_READ_AS,
};

void values_open_structure(answer_view *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                           buffer_cursor *cursor)
{
    buffer_cursor outer;

    cursor_init(&outer, view->tvb, tree, view->report, view->encoding);
    outer.pos = offset;
    cursor_enter(&outer, hf, ett, size, cursor);
    view->structure = cursor->node;
    view->start = offset;
}

void values_fault(const answer_view *view, proto_tree *outer, uint32_t outer_start, const perf_fault_info *infos,
                  const perf_fault *fault)
{
    const perf_fault_info *info = &infos[fault->what];
    uint32_t at = fault->offset;
    bool damaged = view->report->damaged;
    proto_item *item = view->structure && at >= view->start ? view->structure
                       : outer && at >= outer_start         ? proto_tree_get_parent(outer)
                       : view->header                       ? view->header
                                                            : proto_tree_get_parent(view->tree);

    findings_add(view->report, item, fault_findings[info->kind], "At offset %u: %s", at,
                 wmem_strdup_printf(view->report->pinfo->pool, info->text, fault->stated, fault->found, fault->found));
    view->report->damaged = damaged || (info->harm && view->report->damaged);
}

/* "Watched: gpu = 0.4 to 10.9 %, 7 instances", and how all of them become one number. */
static void sum_up_watched(answer_view *view, const counter_response *answer)
{
    wmem_allocator_t *pool = view->report->pinfo->pool;

    view->watched = watch_look_through(value_stream_begin(pool, answer), UINT_MAX, UINT_MAX);
    for (unsigned i = 0; i < wmem_array_get_count(view->watched.rows) && tree_budget_take_any(&view->budget, 1); i++) {
        const watch_values *values = wmem_array_index(view->watched.rows, i);
        const char *text = wmem_strconcat(pool, values->row->name, " = ", watch_words(pool, values), NULL);
        proto_item *item = tree_add_generated_string(view->tree, watch_hf_sum, view->tvb, text);
        if (values->values > 1) {
            proto_item_append_text(item, " (I/O Graphs: MAX, or SUM with one sample an interval)");
        }
    }
}

void values_show_structures(answer_view *view, void (*show)(void *view))
{
    buffer_cursor cursor;

    cursor_init(&cursor, view->tvb, view->tree, view->report, ENC_NA);
    cursor_try(&cursor, show, view);
}

bool values_begin(answer_view *view, const counter_response *answer, uint64_t count, uint32_t faults)
{
    ws_assert(view->tvb && view->fields && view->report);
    view->wishes = wishes_of(view, faults);
    if (!view->wishes.structures && !view->wishes.value && !view->wishes.path && !view->wishes.result &&
        !view->wishes.watch && !view->wishes.watched) {
        return false;
    }
    view->stream = value_stream_begin(view->report->pinfo->pool, answer);
    tree_budget_init(&view->budget, view->tree, count, tvb_captured_length(view->tvb));
    if (view->wishes.watched) {
        sum_up_watched(view, answer);
    }
    return true;
}

void values_alone(answer_view *view)
{
    while (value_stream_next(view->stream) && tree_budget_take_any(&view->budget, ITEMS_OF_SHORT_VALUE)) {
        show_reading(view, view->tree, NULL);
    }
}
