/* value-stream.c
 * The values of one response, one after the other.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "values/value-stream.h"

#include "perf/parse.h"
#include "values/value-ops.h"

#define ASSUMED_TEXT(name, sentence) [ASSUMED_##name] = sentence,
const char *const assumed_reason_texts[NUM_ASSUMED_REASONS] = {ASSUMED_REASONS(ASSUMED_TEXT)};

/* --- Samples ------------------------------------------------------------------------------------------------------ */

perf_table *value_response_get_table(wmem_allocator_t *pool, const value_ops *ops, state_sample *sample,
                                     bool is_current, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);
    perf_table *table = sample ? sample_get_table(sample, is_current, pool) : NULL;

    return table ? table
                 : sample_read_table(pool, ops->is_block, size > 0 ? tvb_get_ptr(tvb, 0, (int)size) : NULL, size,
                                     tvb_reported_length(tvb));
}

/* True if the response was sampled before the one in front of it in its series: calls at the same time are answered in any order. */
static bool is_overtaken(const counter_response *response, const perf_table *table, const state_sample *before,
                         const perf_table *table_before)
{
    bool overlaps = response->request_frame > 0 && response->request_frame < before->frame;

    return overlaps && perf_is_older(&table->clocks, &table_before->clocks);
}

/* Finds the sample to compare with. Changes: `before` with the interval and clocks, or else `why_no_before`. */
static void find_sample_before(value_stream *stream)
{
    const counter_response *response = &stream->response;
    state_sample *before = response->sample ? response->sample->previous : NULL;
    perf_table *table = before ? sample_get_table(before, /* is_current */ false, stream->pool) : NULL;

    if (table == NULL) {
        stream->why_no_before = before                  ? PERF_NO_RESULT_SAMPLE_DROPPED
                                : response->sample      ? PERF_NO_RESULT_FIRST_SAMPLE
                                : response->is_repeated ? PERF_NO_RESULT_REPEATED
                                                        : PERF_NO_RESULT_NOT_COMPARABLE;
    } else if (is_overtaken(response, stream->now.table, before, table)) {
        stream->why_no_before = PERF_NO_RESULT_OVERTAKEN;
    } else {
        stream->before = (parsed_sample){.table = table, .sample = before};
        stream->interval = perf_interval(&stream->now.table->clocks, &table->clocks);
        stream->do_clocks_differ = perf_clocks_differ(&stream->now.table->clocks, &table->clocks, stream->interval);
        stream->operands.previous = table->clocks;
    }
}

value_stream *value_stream_begin(wmem_allocator_t *pool, const counter_response *response)
{
    value_stream *stream = wmem_new0(pool, value_stream);

    ws_assert(response->ops && response->server && response->tvb && response->table);
    stream->pool = pool;
    stream->response = *response;
    stream->now = (parsed_sample){.table = response->table, .sample = response->sample};
    stream->bytes_left = response->table->size;
    stream->path = wmem_strbuf_new(pool, NULL);
    stream->operands.current = response->table->clocks;
    find_sample_before(stream);
    response->ops->begin(stream);
    if (stream->computer == NULL || *stream->computer == '\0') {
        stream->computer = response->server->text;
    }
    stream->computer = text_cut(pool, stream->computer, TEXT_NAME_MAX);
    return stream;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

void value_stream_enter(value_stream *stream, perf_group *group)
{
    stream->group = group;
    stream->group_before = NULL;
    stream->is_group_before_known = stream->are_numbers_known = stream->has_numbered_names = false;
    stream->assumed = stream->response.is_malformed || !group->is_sound ? ASSUMED_RESPONSE : ASSUMED_NONE;
    stream->identifier = NULL;
    stream->set_label = stream->instance_label = NULL;
    stream->columns = NULL;
    stream->instance_row = stream->prefix_row = stream->judged_row = stream->matched_row = UINT32_MAX;
    stream->at.row = 0;
    stream->at.column = UINT32_MAX; /* go_to_next_cell() begins at 0 */
    if (stream->response.ops->enter) {
        stream->response.ops->enter(stream);
    }
}

/* Marks a column whose counter has several: all are assumed, and only the first has path and result. Bases, without results, may be alike. */
static void mark_repeated_column(value_stream *stream, value_column *column)
{
    perf_table *table = stream->now.table;
    perf_group *group = stream->group;
    uint32_t first;

    if (group->columns < 2) {
        return;
    }
    const perf_column *own = perf_table_column(table, group, stream->at.column);
    if (!perf_column_is_base(own) && perf_table_count_columns(table, group, own->id, /* is_base */ false, &first) > 1) {
        column->is_repeated = true;
        column->none = first == stream->at.column ? column->none : PERF_NO_RESULT_COUNTER_NOT_KNOWN;
        column->assumed = ASSUMED_COUNTER;
    }
}

value_column *value_stream_enter_column(value_stream *stream, uint32_t number)
{
    perf_group *group = stream->group;
    uint32_t count = MAX(group->columns, 1); /* a group without values stands for a counter, too */

    if (stream->columns == NULL) {
        stream->columns = wmem_alloc0_array(stream->pool, value_column, count);
    }
    ws_assert(number < count);
    value_column *column = &stream->columns[number];
    stream->at.column = number;
    stream->at.counter = column;
    if (!column->is_known) {
        column->is_known = true;
        stream->response.ops->look_up_column(stream, column);
        mark_repeated_column(stream, column);
    }
    return column;
}

/* Reads the cell at at.row and at.column into `at`. Returns false if it has no value. Changes: the operands are to be found. */
static bool read_cell_value(value_stream *stream)
{
    perf_table *table = stream->now.table;
    counter_value *at = &stream->at;

    at->offset = perf_table_cell(table, stream->group, at->row, at->column, &at->size);
    if (at->offset == 0) {
        return false;
    }
    stream->operands.is_known = false;
    value_stream_enter_column(stream, at->column);
    at->is_failed = at->is_empty = false;
    at->is_text = at->counter->is_text;
    at->raw = perf_table_number_at(table, at->offset, at->size);
    at->is_number = at->raw.size > 0 && !at->is_text;
    if (at->is_text) {
        stream->response.ops->read_text(stream, MIN(at->size, MOST_VALUE_BYTES));
    }
    return true;
}

const counter_value *value_stream_go_to(value_stream *stream, uint32_t row, uint32_t column)
{
    ws_assert(stream->group && row < stream->group->rows && column < stream->group->columns);
    stream->at.row = row;
    stream->at.column = column;
    return read_cell_value(stream) ? &stream->at : NULL;
}

/* Moves to the next cell of the group, row by row. Returns false behind the last one, or if values are not wanted. */
static bool go_to_next_cell(value_stream *stream)
{
    const perf_group *group = stream->group;

    if (group == NULL || stream->without_values || group->columns == 0) {
        return false;
    }
    if (++stream->at.column >= group->columns) {
        stream->at.column = 0;
        stream->at.row++;
    }
    return stream->at.row < group->rows;
}

/* Makes `at` stand for a block of PerflibV2 that has an error, or no value, if the reader wants these (with_failed, with_empty). Returns false
 * for other groups. */
static bool read_group_value(value_stream *stream)
{
    const perf_group *group = stream->group;
    bool is_failed = group->type == PERF_ERROR_RETURN, is_empty = group->rows == 0 || group->columns == 0;

    if (stream->response.ops->is_block ||
        !((stream->with_failed && is_failed) || (stream->with_empty && group->is_sound && is_empty))) {
        return false;
    }
    stream->operands.is_known = false;
    stream->at = (counter_value){.offset = group->offset, .is_failed = is_failed, .is_empty = !is_failed};
    value_stream_enter_column(stream, 0);
    return true;
}

const counter_value *value_stream_next(value_stream *stream)
{
    perf_table *table = stream->now.table;

    for (;;) {
        while (go_to_next_cell(stream)) {
            bool has_value = read_cell_value(stream);
            uint32_t size = has_value ? MAX(stream->at.size, 1) : 1;
            if (size > stream->bytes_left) {
                stream->bytes_left = 0;
                return NULL;
            }
            stream->bytes_left -= size;
            if (has_value) {
                return &stream->at;
            }
        }
        uint32_t next = stream->group ? value_stream_group_number(stream) + 1 : 0;
        if (next == table->num_groups) {
            return NULL;
        }
        value_stream_enter(stream, perf_table_group(table, next));
        if (read_group_value(stream)) {
            return &stream->at;
        }
    }
}

/* --- The sample before -------------------------------------------------------------------------------------------- */

perf_group *value_stream_group_before(value_stream *stream)
{
    if (!stream->is_group_before_known) {
        stream->is_group_before_known = true;
        stream->why_no_pair = stream->before.table ? PERF_NO_RESULT_OK : stream->why_no_before;
        if (stream->before.table) {
            stream->group_before = stream->response.ops->group_before(stream, &stream->why_no_pair);
        }
        bool is_compared = stream->group_before && stream->group->is_sound && stream->group_before->is_sound;
        if (!is_compared && stream->why_no_pair == PERF_NO_RESULT_OK) {
            stream->why_no_pair = PERF_NO_RESULT_NOT_COMPARABLE;
        }
    }
    return stream->group_before;
}

perf_match value_stream_match_row(value_stream *stream, const value_location *at, parsed_sample *in, perf_group *group,
                                  uint32_t *row)
{
    if (at->group == group) {
        *row = at->row;
        return PERF_MATCH_KNOWN;
    }
    perf_match match = perf_table_match_row(at->in->table, at->group, at->row, in->table, group, stream->proofs, row);
    if (match == PERF_MATCH_ASSUMED) {
        stream->operands.match = match;
    }
    return match;
}

/* Finds the row's instance in the sample before, once for all its values. Needs: `group_before`. */
static perf_match match_row_before(value_stream *stream)
{
    if (stream->matched_row != stream->at.row) {
        stream->matched_row = stream->at.row;
        stream->match_before =
            perf_table_match_row(stream->now.table, stream->group, stream->at.row, stream->before.table,
                                 stream->group_before, stream->proofs, &stream->row_before);
    }
    return stream->match_before;
}

/* Finds the current value's counter in the sample before, once for all rows. Returns the reason if it is not there, or of another type. */
static perf_no_result find_column_before(value_stream *stream)
{
    value_column *counter = stream->at.counter;
    perf_table *before = stream->before.table;
    perf_group *group = stream->group_before;

    if (!counter->is_before_known) {
        const perf_column *own = perf_table_column(stream->now.table, stream->group, stream->at.column);
        uint32_t count =
            perf_table_count_columns(before, group, own->id, perf_column_is_base(own), &counter->column_before);
        bool is_same = count == 1 && !counter->is_repeated &&
                       perf_table_column(before, group, counter->column_before)->type == own->type;
        counter->is_before_known = true;
        counter->why_no_before = is_same      ? PERF_NO_RESULT_OK
                                 : count == 0 ? PERF_NO_RESULT_NEW_COUNTER
                                              : PERF_NO_RESULT_NOT_COMPARABLE;
    }
    return counter->why_no_before;
}

/* Finds the same counter of the same instance in the sample before. Returns false and `why` if there is none. Changes: the operands' match. */
static bool find_previous_value(value_stream *stream, value_location *there, perf_no_result *why)
{
    perf_group *group = value_stream_group_before(stream);

    *why = stream->why_no_pair;
    if (*why != PERF_NO_RESULT_OK) {
        return false;
    }
    perf_match match = match_row_before(stream);
    stream->operands.match = match == PERF_MATCH_ASSUMED ? match : stream->operands.match;
    *why = match == PERF_MATCH_AMBIGUOUS ? PERF_NO_RESULT_MOVED
           : match == PERF_MATCH_NONE    ? PERF_NO_RESULT_NEW_INSTANCE
                                         : find_column_before(stream);
    *there = (value_location){&stream->before, group, stream->row_before, stream->at.counter->column_before};
    return *why == PERF_NO_RESULT_OK;
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

/* Finds the operands that `needs` names, at a value of one sample. Other members of `point` keep older numbers, which the formula does not read. */
static void find_operands_at(value_stream *stream, const value_location *at, unsigned needs, perf_point *point)
{
    const value_ops *ops = stream->response.ops;

    if (needs & PERF_NEEDS_BASE) {
        point->base = ops->operand(stream, at, PERF_NEEDS_BASE);
    }
    if (needs & PERF_NEEDS_TIME) {
        point->time = ops->operand(stream, at, PERF_NEEDS_TIME);
    }
    if (needs & PERF_NEEDS_FREQ) {
        point->freq = ops->operand(stream, at, PERF_NEEDS_FREQ);
    }
    if (needs & PERF_NEEDS_MULTI) {
        point->multi = ops->operand(stream, at, PERF_NEEDS_MULTI);
    }
}

/* Finds the operands of the current value's formula in both samples, once. Needs: its type is known. Changes: `operands`. */
static void find_operands(value_stream *stream)
{
    value_operands *operands = &stream->operands;
    const value_location here = value_stream_location(stream);
    value_location there;

    if (operands->is_known) {
        return;
    }
    unsigned needs = perf_formulas[stream->at.counter->type->formula].flags;
    operands->is_known = true;
    operands->match = PERF_MATCH_KNOWN;
    operands->why_not = PERF_NO_RESULT_OK;
    operands->current.value = stream->at.raw;
    unsigned others = needs & (PERF_NEEDS_BASE_OR_TIME | PERF_NEEDS_FREQ | PERF_NEEDS_MULTI);
    if (others) {
        find_operands_at(stream, &here, others, &operands->current);
    }
    operands->has_previous = (needs & PERF_NEEDS_PREVIOUS) && find_previous_value(stream, &there, &operands->why_not);
    if (operands->has_previous) {
        operands->previous.value = perf_table_number(there.in->table, there.group, there.row, there.column);
        if (others) {
            find_operands_at(stream, &there, others, &operands->previous);
        }
    }
}

/* True for "_Total", "_Global_", "0,_Total", "WMI/_Total": such a sum goes backwards when an instance of it ends. */
static bool is_sum(const char *instance)
{
    static const char *const names[] = {"_Total", "_Global_"};

    for (unsigned i = 0; instance && i < array_length(names); i++) {
        size_t size = strlen(instance), name = strlen(names[i]);
        if (g_str_has_suffix(instance, names[i]) && (size == name || strchr(",/ ", instance[size - name - 1]))) {
            return true;
        }
    }
    return false;
}

/* Returns a closer reason than `none`: the counter is a sum, or its object has no clock; else `none`. */
static perf_no_result refine_reason(value_stream *stream, perf_no_result none)
{
    const perf_no_result no_clock = stream->response.ops->no_clock;
    bool lacks_clock = none == PERF_NO_RESULT_NO_TIME || none == PERF_NO_RESULT_NO_FREQ;

    return perf_is_reset(none) && is_sum(value_stream_instance(stream)) ? PERF_NO_RESULT_SUM_BACKWARDS
           : lacks_clock && no_clock != PERF_NO_RESULT_OK               ? no_clock
                                                                        : none;
}

perf_result value_stream_result(value_stream *stream)
{
    ws_assert(stream->at.counter && !stream->at.is_text);
    const value_column *counter = stream->at.counter;

    if (counter->none != PERF_NO_RESULT_OK) {
        return (perf_result){0, counter->none};
    }
    find_operands(stream);
    const value_operands *operands = &stream->operands;
    perf_result result = perf_calculate(counter->type, &operands->current,
                                        operands->has_previous ? &operands->previous : NULL, operands->why_not);
    if (result.none != PERF_NO_RESULT_OK) {
        return (perf_result){0, refine_reason(stream, result.none)};
    }
    perf_operand per = perf_formulas[counter->type->formula].denominator;
    bool is_per_time = per == PERF_OPERAND_TICKS || per == PERF_OPERAND_100NS;
    result.none = !stream->group->is_sound                  ? PERF_NO_RESULT_NOT_COMPARABLE
                  : stream->do_clocks_differ && is_per_time ? PERF_NO_RESULT_CLOCKS_DIFFER
                                                            : PERF_NO_RESULT_OK;
    return result.none == PERF_NO_RESULT_OK ? result : (perf_result){0, result.none};
}

/* --- Doubt -------------------------------------------------------------------------------------------------------- */

/* True if the row's own name, as it was sent, ends in "#" and digits. Bytes of 0 are halves of UTF-16. */
static bool is_numbered_name(const perf_table *table, const perf_group *group, uint32_t row)
{
    uint32_t size, digits = 0, at = perf_table_name(table, group, row, &size);

    for (; size > 0; size--) {
        uint8_t byte = table->data[at + size - 1];
        if (byte != 0 && !g_ascii_isdigit(byte)) {
            return digits > 0 && byte == '#';
        }
        digits += byte != 0;
    }
    return false;
}

/* True if a name in the group ends in "#" and digits. Changes: keeps the result for the group. */
static bool has_numbered_names(value_stream *stream)
{
    const perf_group *group = stream->group;

    for (uint32_t row = 0; !stream->are_numbers_known && row < group->rows && !stream->has_numbered_names; row++) {
        stream->has_numbered_names = is_numbered_name(stream->now.table, group, row);
    }
    stream->are_numbers_known = true;
    return stream->has_numbered_names;
}

/* Determines is_row_assumed: the row's parent is not there, or its path may be another row's: "x#1" is so named, or is the second x. */
static G_GNUC_NO_INLINE void judge_row(value_stream *stream)
{
    perf_table *table = stream->now.table;
    uint32_t row = stream->at.row;

    stream->judged_row = row;
    stream->is_row_assumed = false;
    if (stream->group->has_instances && row < stream->group->rows) {
        const perf_row_name name = perf_table_row_name(table, stream->group, row);
        stream->is_row_assumed =
            name.lacks_parent || ((name.ordinal > 0 || is_numbered_name(table, stream->group, row)) &&
                                  perf_table_repeats_names(table, stream->group) && has_numbered_names(stream));
    }
}

assumed_reason value_stream_assumed_reason(value_stream *stream)
{
    const value_column *counter = stream->at.counter;
    const value_operands *operands = &stream->operands;

    if (stream->assumed != ASSUMED_NONE) {
        return stream->assumed;
    }
    if (counter && counter->assumed != ASSUMED_NONE) {
        return counter->assumed;
    }
    if (stream->judged_row != stream->at.row) {
        judge_row(stream);
    }
    bool is_match_assumed = operands->is_known && operands->match == PERF_MATCH_ASSUMED;
    return is_match_assumed || stream->is_row_assumed ? ASSUMED_INSTANCE : ASSUMED_NONE;
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

const char *value_stream_set(value_stream *stream)
{
    if (stream->set_label == NULL) {
        stream->response.ops->look_up_set(stream);
    }
    return stream->set_label;
}

const char *value_stream_instance(value_stream *stream)
{
    uint32_t row = stream->at.row;

    if (value_stream_set(stream) == NULL || !stream->has_instances) {
        return NULL;
    }
    if (stream->instance_row != row) {
        const char *name = stream->response.ops->instance(stream);
        bool has_row = stream->group->has_instances && row < stream->group->rows;
        uint32_t ordinal = has_row ? perf_table_row_name(stream->now.table, stream->group, row).ordinal : 0;
        stream->instance_label = ordinal > 0 ? wmem_strdup_printf(stream->pool, "%s#%u", name, ordinal) : name;
        stream->instance_row = row;
    }
    return stream->instance_label;
}

const char *value_stream_counter(value_stream *stream)
{
    value_column *counter = stream->at.counter;

    if (counter->label == NULL && counter->none != PERF_NO_RESULT_COUNTER_NOT_KNOWN) {
        counter->label = counter->name               ? text_cut(stream->pool, counter->name, TEXT_NAME_MAX)
                         : counter->id == PERF_NO_ID ? "*"
                                                     : wmem_strdup_printf(stream->pool, "#%u", counter->id);
    }
    return counter->label;
}

/* Begins the stream's path with "\\SRV\Set(instance)\". Changes: path, prefix_size, prefix_row. */
static void write_prefix(value_stream *stream)
{
    const char *instance = value_stream_instance(stream);
    const char *const parts[] = {"\\\\",
                                 stream->computer,
                                 "\\",
                                 stream->set_label,
                                 instance ? "(" : "",
                                 instance ? instance : "",
                                 instance ? ")\\" : "\\"};

    wmem_strbuf_truncate(stream->path, 0);
    for (unsigned i = 0; i < array_length(parts); i++) {
        wmem_strbuf_append(stream->path, parts[i]);
    }
    stream->prefix_size = wmem_strbuf_get_len(stream->path);
    stream->prefix_row = stream->at.row;
}

const char *value_stream_path(value_stream *stream)
{
    const char *label = value_stream_counter(stream);

    if (label == NULL) {
        return NULL;
    }
    if (stream->prefix_row != stream->at.row) {
        write_prefix(stream);
    }
    wmem_strbuf_truncate(stream->path, stream->prefix_size);
    wmem_strbuf_append(stream->path, label);
    return wmem_strbuf_get_str(stream->path);
}

bool value_stream_is_same_counter(value_stream *stream, counter_identity *identity)
{
    const value_column *counter = stream->at.counter;
    const uint8_t *guid = stream->identifier ? stream->identifier->guid : NULL;
    uint64_t own = guid ? perf_le64(guid) ^ 31 * perf_le64(guid + 8) ^ (uint64_t)counter->id << 32 : identity->counter;

    identity->counter = identity->counter == 0 ? own : identity->counter;
    if (identity->counter != own) {
        return false;
    }
    identity->type = identity->type ? identity->type : counter->type;
    return counter->type == NULL || identity->type == counter->type;
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

const char *value_stream_text(const value_stream *stream, uint32_t most)
{
    const counter_value *at = &stream->at;

    return text_get(stream->pool, stream->response.tvb, at->offset, at->text_size, at->code_page, at->byte_order, most);
}

/* Writes a result's number, TEXT_NUMBER_SIZE bytes at most. Returns its length. Raw types have the integer that was sent, since a double does
 * not hold 64 bits. */
static unsigned write_number(const value_stream *stream, const perf_result *result, char *text)
{
    const perf_counter_type *type = stream->at.counter->type;

    if (type->hex) {
        return (unsigned)snprintf(text, TEXT_NUMBER_SIZE, "0x%" PRIx64, stream->at.raw.value);
    }
    return type->kind == PERF_KIND_NUMBER ? text_integer(text, stream->at.raw.value) : text_number(text, result->value);
}

const char *value_stream_format(value_stream *stream, const perf_result *result)
{
    char number[TEXT_NUMBER_SIZE];

    if (stream->at.is_text) {
        return wmem_strconcat(stream->pool, "\"", value_stream_text(stream, TEXT_NAME_MAX), "\"", NULL);
    }
    if (result->none == PERF_NO_RESULT_OK) {
        const char *unit = stream->at.counter->type->unit;
        char *end = stream->words + write_number(stream, result, stream->words);
        *end = ' ';
        memcpy(end + (*unit != '\0'), unit, strlen(unit) + 1);
    } else if (stream->at.is_number) {
        text_integer(number, stream->at.raw.value);
        snprintf(stream->words, sizeof stream->words, "%s (raw; %s)", number, perf_no_result_text[result->none]);
    } else {
        text_integer(number, stream->at.size);
        snprintf(stream->words, sizeof stream->words, "%s byte%s", number, stream->at.size == 1 ? "" : "s");
    }
    return stream->words;
}

/* --- The formula -------------------------------------------------------------------------------------------------- */

/* The functions put_...() write at `to`, without a terminator, and return where the next text goes. */
static char *put_number(char *to, const char *name, uint64_t value)
{
    to = perf_put_text(to, name);
    return to + text_integer(to, value);
}

/* Writes the units of a clock between the samples; nothing if it went back. */
static char *put_clock(char *to, const char *name, uint64_t current, uint64_t previous)
{
    return current >= previous ? put_number(to, name, current - previous) : to;
}

/* Writes the clock that the formula divides by, and its frequency F. */
static char *put_clocks(char *to, const value_operands *operands, const perf_formula_info *formula)
{
    const perf_point *current = &operands->current, *previous = &operands->previous;

    if (operands->has_previous && formula->denominator == PERF_OPERAND_TICKS) {
        to = put_clock(to, ", T1 - T0 = ", current->perf_time, previous->perf_time);
    } else if (operands->has_previous && formula->denominator == PERF_OPERAND_100NS) {
        to = put_clock(to, ", H1 - H0 = ", current->time_100ns, previous->time_100ns);
    }
    return formula->flags & (PERF_RATE | PERF_TICKS) ? put_number(to, ", F = ", current->perf_freq) : to;
}

/* Writes an operand of this sample, and of the one before if there is one, as far as they were sent. */
static char *put_operand(char *to, const char *name, perf_raw now, const char *name_before, const perf_raw *before)
{
    to = now.size > 0 ? put_number(to, name, now.value) : to;
    return before && before->size > 0 ? put_number(to, name_before, before->value) : to;
}

bool value_stream_has_formula(const value_stream *stream)
{
    const value_column *counter = stream->at.counter;

    return counter->type && counter->type->kind == PERF_KIND_COUNTER && stream->at.raw.size > 0 &&
           counter->none == PERF_NO_RESULT_OK;
}

char *value_stream_format_formula(value_stream *stream, char *to)
{
    const perf_formula_info *formula = &perf_formulas[stream->at.counter->type->formula];
    const value_operands *operands = &stream->operands;
    const perf_point *current = &operands->current, *previous = operands->has_previous ? &operands->previous : NULL;

    find_operands(stream);
    to = perf_put_text(to, formula->text);
    to = put_operand(to, ", N1 = ", current->value, ", N0 = ", previous ? &previous->value : NULL);
    if (formula->flags & PERF_NEEDS_BASE && current->base.size > 0) {
        to = put_operand(to, ", B1 = ", current->base, ", B0 = ", previous ? &previous->base : NULL);
    } else if (formula->flags & PERF_NEEDS_TIME) {
        to = put_operand(to, ", O1 = ", current->time, ", O0 = ", previous ? &previous->time : NULL);
    }
    to = put_clocks(to, operands, formula);
    to = formula->flags & PERF_NEEDS_FREQ ? put_operand(to, ", OF = ", current->freq, NULL, NULL) : to;
    to = formula->flags & PERF_NEEDS_MULTI ? put_operand(to, ", M1 = ", current->multi, NULL, NULL) : to;
    *to = '\0';
    return to;
}

/* --- Identifiers of PerflibV2 ------------------------------------------------------------------------------------- */

char *value_join_path(wmem_allocator_t *pool, const char *computer, const char *set, const char *instance,
                      const char *counter)
{
    bool has_instance = instance && *instance;

    return wmem_strconcat(pool, computer ? "\\\\" : "", computer ? text_cut(pool, computer, TEXT_NAME_MAX) : "", "\\",
                          text_cut(pool, set, TEXT_NAME_MAX), has_instance ? "(" : "",
                          has_instance ? text_cut(pool, instance, TEXT_NAME_MAX) : "", has_instance ? ")" : "", "\\",
                          text_cut(pool, counter, TEXT_NAME_MAX), NULL);
}

char *value_format_identifier_path(wmem_allocator_t *pool, const state_server *server, const char *computer,
                                   const perf_identifier *identifier, bool *is_assumed)
{
    metadata_key key = metadata_counter_key(identifier->guid, PERF_NO_ID);
    metadata_result set = metadata_lookup(server, key, METADATA_ENGLISH), counter = {0};
    metadata_result kind = metadata_lookup(server, key, METADATA_COUNTERSET);
    bool is_single = kind.entry && kind.entry->instance_type == 0, is_wildcard = identifier->counter_id == PERF_NO_ID;
    const char *set_label = metadata_format_name(pool, &key, set.entry);

    key.id = identifier->counter_id;
    if (!is_wildcard) {
        counter = metadata_lookup(server, key, METADATA_ENGLISH);
    }
    *is_assumed = set.is_assumed || counter.is_assumed;
    return value_join_path(pool, computer, set_label, is_single ? NULL : identifier->instance,
                           is_wildcard ? "*" : metadata_format_name(pool, &key, counter.entry));
}
