/* value-stream.c
 * The values of one response, one after the other.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "values/value-stream.h"

#include "state/metadata.h"
#include "state/samples.h"
#include "text/text.h"
#include "text/value-strings.h"

/* --- Samples ------------------------------------------------------------------------------------------------------ */

/* Finds the sample to compare with. Changes: `before` with its clocks, or else `why_no_before`. */
static void find_sample_before(value_stream *stream)
{
    const counter_response *response = &stream->response;
    const perf_point *clocks = &stream->now.table->clocks;
    state_sample *before = response->sample ? response->sample->previous : NULL;
    perf_table *table = before ? sample_get_table(before, stream->pool) : NULL;

    if (table == NULL) {
        stream->why_no_before = before                  ? PERF_NO_RESULT_SAMPLE_DROPPED
                                : response->sample      ? PERF_NO_RESULT_FIRST_SAMPLE
                                : response->is_repeated ? PERF_NO_RESULT_REPEATED
                                                        : PERF_NO_RESULT_NOT_COMPARABLE;
    } else if (response->request_frame > 0 && response->request_frame < before->frame &&
               clocks->perf_time < table->clocks.perf_time) { /* calls at the same time are answered in any order */
        stream->why_no_before = PERF_NO_RESULT_OVERTAKEN;
    } else {
        stream->before.table = table;
        stream->before.index = query_snapshot_index(before->query, &stream->before.is_index_assumed);
        stream->previous = table->clocks;
        stream->previous.is_clock_wrong = perf_clocks_differ(clocks, &table->clocks);
    }
}

value_stream *value_stream_begin(wmem_allocator_t *pool, const counter_response *response)
{
    value_stream *stream = wmem_new0(pool, value_stream);

    ws_assert(response->ops && response->server && response->tvb && response->table);
    stream->pool = pool;
    stream->response = *response;
    stream->now.table = response->table;
    stream->now.index = query_snapshot_index(response->query, &stream->now.is_index_assumed);
    stream->bytes_left = response->table->size;
    stream->path = wmem_strbuf_new(pool, NULL);
    stream->current = response->table->clocks;
    stream->computer = handle_machine(response->handle, response->server);
    find_sample_before(stream);
    if (response->ops->begin) {
        response->ops->begin(stream);
    }
    return stream;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* Returns what a name is stored under: of a counter of the group, or of its counterset (PERF_NO_ID). Needs: it is known whose the group is. */
static metadata_key get_name_key(const value_stream *stream, uint32_t id)
{
    const perf_identifier *identifier = stream->identifier;

    return identifier ? metadata_counter_key(identifier->guid, id)
                      : metadata_title_key(id == PERF_NO_ID ? stream->group->key : id);
}

/* Fills a column of the group, but for its match. Its type is that of the object's definition, or was learned. Of a counter that has several
 * columns all are assumed, and only the first has a path; bases, without results, may be alike. */
static void look_up_column(value_stream *stream, uint32_t number, value_column *column)
{
    perf_group *group = stream->group;
    const perf_column *own = group->columns > 0 ? perf_table_column(stream->now.table, group, number) : NULL;
    uint32_t id = own ? own->id : PERF_NO_ID, first = number;
    bool is_block = stream->now.table->is_block;
    bool is_repeated = group->columns > 1 && !perf_column_is_base(own) &&
                       perf_table_count_columns(stream->now.table, group, id, /* is_base */ false, &first) > 1;

    id = id == PERF_NO_ID && stream->identifier ? stream->identifier->counter_id : id;
    column->is_known = true;
    column->id = id;
    column->none = PERF_NO_RESULT_COUNTER_NOT_KNOWN;
    column->assumed = is_repeated ? ASSUMED_COUNTER : ASSUMED_NONE;
    if (is_block ? own == NULL : stream->identifier == NULL) {
        return;
    }
    const metadata_key key = get_name_key(stream, id);
    const metadata_known known = metadata_lookup(stream->response.server, key);
    bool is_assumed = known.name.is_assumed;
    if (is_block) {
        column->type = perf_counter_type_find(own->type);
        column->is_text = perf_counter_type_is_text(own->type);
    } else if (id != PERF_NO_ID && known.type.entry) {
        column->info = &known.type.entry->counter;
        column->type = known.type.entry->type;
        column->is_text = column->type && perf_counter_type_is_text(column->type->value);
        is_assumed |= known.type.is_assumed;
    }
    if (first == number) {
        column->label = id == PERF_NO_ID ? "*" : metadata_format_name(stream->pool, &key, known.name.entry);
        column->none = column->type               ? PERF_NO_RESULT_OK
                       : is_block || column->info ? PERF_NO_RESULT_UNKNOWN_TYPE
                                                  : PERF_NO_RESULT_TYPE_NOT_LEARNED;
    }
    column->assumed = is_repeated ? ASSUMED_COUNTER : is_assumed ? ASSUMED_NAME : ASSUMED_NONE;
}

/* Returns a column of the group. Needs: its number; 0 of a group without columns, which stands for a counter, too. */
static value_column *get_column(value_stream *stream, uint32_t number)
{
    value_column *column = &stream->columns[number];

    if (!column->is_known) {
        look_up_column(stream, number, column);
    }
    return column;
}

void value_stream_enter(value_stream *stream, perf_group *group)
{
    const perf_identifier *last = stream->identifier, *identifier;
    const uint32_t columns = MAX(group->columns, 1);
    perf_no_result why = stream->why_no_before;

    identifier = query_index_identifier(stream->now.index, group->key, group->type); /* NULL of an object */
    stream->group = group;
    stream->identifier = identifier;
    stream->assumed = stream->response.is_malformed || !group->is_sound ? ASSUMED_RESPONSE
                      : identifier && stream->now.is_index_assumed      ? ASSUMED_COUNTER
                                                                        : ASSUMED_NONE;
    if (!(last && identifier && memcmp(last->guid, identifier->guid, 16) == 0)) {
        stream->set_label = NULL; /* blocks of one counterset mostly stand together */
    }
    if (stream->columns_room < columns) {
        stream->columns_room = columns;
        stream->columns = wmem_alloc_array(stream->pool, value_column, columns);
    }
    memset(stream->columns, 0, columns * sizeof *stream->columns);
    stream->row = (value_row){.label = NULL};
    stream->at = (counter_value){.column = UINT32_MAX, .counter = get_column(stream, 0)};
    stream->is_match_assumed = false;
    stream->group_before = stream->before.table ? stream->response.ops->group_before(stream, &why) : NULL;
    bool is_compared = stream->group_before && group->is_sound && stream->group_before->is_sound;
    stream->why_no_pair = !is_compared && why == PERF_NO_RESULT_OK ? PERF_NO_RESULT_NOT_COMPARABLE : why;
}

bool value_stream_next_group(value_stream *stream)
{
    uint32_t next = stream->group ? (uint32_t)(stream->group - stream->now.table->groups) + 1 : 0;

    if (next == stream->now.table->num_groups) {
        return false;
    }
    value_stream_enter(stream, perf_table_group(stream->now.table, next));
    return true;
}

void value_stream_enter_row(value_stream *stream, uint32_t row)
{
    if (stream->at.row != row) {
        stream->at.row = row;
        stream->row = (value_row){.label = NULL};
    }
}

const counter_value *value_stream_go_to(value_stream *stream, uint32_t row, uint32_t column)
{
    const perf_table *table = stream->now.table;
    counter_value *at = &stream->at;

    ws_assert(stream->group && row < stream->group->rows && column < stream->group->columns);
    value_stream_enter_row(stream, row);
    at->offset = perf_table_cell(table, stream->group, row, column, &at->size);
    stream->bytes_left -= MIN(MAX(at->size, 1), stream->bytes_left);
    at->column = column;
    if (at->offset == 0 || stream->bytes_left == 0) {
        return NULL;
    }
    at->counter = get_column(stream, column);
    at->raw = at->counter->is_text ? (perf_raw){0, 0} : perf_table_number_at(table, at->offset, at->size);
    stream->is_match_assumed = false;
    return at;
}

const counter_value *value_stream_next_in_group(value_stream *stream)
{
    const perf_group *group = stream->group;
    uint32_t column = stream->at.column + 1;

    for (uint32_t row = stream->at.row; row < group->rows; row++, column = 0) {
        for (; column < group->columns && stream->bytes_left > 0; column++) {
            if (value_stream_go_to(stream, row, column)) {
                return &stream->at;
            }
        }
    }
    return NULL;
}

const counter_value *value_stream_next(value_stream *stream)
{
    do {
        if (stream->group && value_stream_next_in_group(stream)) {
            return &stream->at;
        }
    } while (value_stream_next_group(stream));
    return NULL;
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

/* Finds the same counter of the same instance in the sample before: `before` of row and counter. Returns the reason if it is not there. Changes:
 * is_match_assumed. */
static perf_no_result find_previous_value(value_stream *stream)
{
    perf_table *now = stream->now.table, *before = stream->before.table;
    value_column *column = stream->at.counter;
    value_row *row = &stream->row;

    if (stream->why_no_pair != PERF_NO_RESULT_OK) {
        return stream->why_no_pair;
    }
    if (row->match == PERF_MATCH_NOT_ASKED) {
        row->match = perf_table_match_row(now, stream->group, stream->at.row, before, stream->group_before,
                                          stream->proofs, &row->before);
    }
    if (column->match == PERF_MATCH_NOT_ASKED) {
        column->match = perf_table_match_column(now, stream->group, stream->at.column, before, stream->group_before,
                                                &column->before);
    }
    stream->is_match_assumed |= row->match == PERF_MATCH_ASSUMED;
    return row->match == PERF_MATCH_AMBIGUOUS      ? PERF_NO_RESULT_MOVED
           : row->match == PERF_MATCH_NONE         ? PERF_NO_RESULT_NEW_INSTANCE
           : column->match == PERF_MATCH_NONE      ? PERF_NO_RESULT_NEW_COUNTER
           : column->match == PERF_MATCH_AMBIGUOUS ? PERF_NO_RESULT_NOT_COMPARABLE
                                                   : PERF_NO_RESULT_OK;
}

/* Finds the operands besides the value that a formula needs, in as many samples as have the value. Needs: find_previous_value(). */
static void find_other_operands(value_stream *stream, unsigned needs)
{
    static const unsigned each[] = {PERF_NEEDS_BASE, PERF_NEEDS_TIME, PERF_NEEDS_FREQ, PERF_NEEDS_MULTI};
    const counter_value *at = &stream->at;
    const value_location places[] = {{&stream->now, stream->group, at->row, at->column},
                                     {&stream->before, stream->group_before, stream->row.before, at->counter->before}};

    for (unsigned i = 0; i < (stream->why_no_previous == PERF_NO_RESULT_OK ? 2U : 1U); i++) {
        perf_point *point = i == 0 ? &stream->current : &stream->previous;
        perf_raw *const operands[] = {&point->base, &point->time, &point->freq, &point->multi};
        for (unsigned k = 0; k < array_length(each); k++) {
            if (needs & each[k]) {
                *operands[k] = stream->response.ops->operand(stream, &places[i], each[k]);
            }
        }
    }
}

/* Returns the operands in the sample before; NULL: the value has none there. */
static const perf_point *get_previous(const value_stream *stream)
{
    return stream->why_no_previous == PERF_NO_RESULT_OK ? &stream->previous : NULL;
}

perf_result value_stream_result(value_stream *stream)
{
    const counter_value *at = &stream->at;
    const value_column *counter = at->counter;

    if (counter->none != PERF_NO_RESULT_OK) {
        return (perf_result){0, counter->none};
    }
    unsigned needs = perf_formulas[counter->type->formula].flags;
    stream->why_no_previous = needs & PERF_NEEDS_PREVIOUS ? find_previous_value(stream) : PERF_NO_RESULT_NO_FORMULA;
    stream->current.value = at->raw;
    if (stream->why_no_previous == PERF_NO_RESULT_OK) {
        stream->previous.value =
            perf_table_number(stream->before.table, stream->group_before, stream->row.before, counter->before);
    }
    if (needs & (PERF_NEEDS_BASE_OR_TIME | PERF_NEEDS_FREQ | PERF_NEEDS_MULTI)) {
        find_other_operands(stream, needs);
    }
    perf_result result = perf_calculate(counter->type, &stream->current, get_previous(stream), stream->why_no_previous);
    if (result.none == PERF_NO_RESULT_OK && !stream->group->is_sound) {
        return (perf_result){0, PERF_NO_RESULT_NOT_COMPARABLE};
    }
    if (perf_is_reset(result.none)) {
        const char *instance = value_stream_instance(stream);
        result.none = instance && perf_is_sum(instance) ? PERF_NO_RESULT_SUM_BACKWARDS : result.none;
    } else if (stream->now.table->is_block &&
               (result.none == PERF_NO_RESULT_NO_TIME || result.none == PERF_NO_RESULT_NO_FREQ)) {
        result.none = PERF_NO_RESULT_NO_CLOCK; /* both are the object's */
    }
    return result;
}

/* --- Doubt -------------------------------------------------------------------------------------------------------- */

const char *value_stream_set(value_stream *stream)
{
    const perf_identifier *identifier = stream->identifier;

    if (stream->set_label == NULL && (identifier || stream->now.table->is_block)) {
        const metadata_key key = get_name_key(stream, PERF_NO_ID);
        const metadata_known set = metadata_lookup(stream->response.server, key);
        stream->set_label = metadata_format_name(stream->pool, &key, set.name.entry);
        stream->is_set_assumed = set.name.is_assumed;
        stream->is_single =
            identifier ? set.type.entry && set.type.entry->instance_type == 0 : !stream->group->has_instances;
    }
    return stream->set_label;
}

/* Returns how the current row is named; zeros: it has no instance. */
static const perf_row_name *find_row_name(value_stream *stream)
{
    value_row *row = &stream->row;

    if (!row->is_named && stream->group->has_instances && stream->at.row < stream->group->rows) {
        row->is_named = true;
        row->name = perf_table_row_name(stream->now.table, stream->group, stream->at.row);
    }
    return &row->name;
}

assumed_reason value_stream_assumed_reason(value_stream *stream)
{
    const value_column *counter = stream->at.counter;

    return stream->assumed != ASSUMED_NONE                                             ? stream->assumed
           : counter->assumed != ASSUMED_NONE                                          ? counter->assumed
           : (stream->set_label || value_stream_set(stream)) && stream->is_set_assumed ? ASSUMED_NAME
           : stream->is_match_assumed || find_row_name(stream)->is_assumed             ? ASSUMED_INSTANCE
                                                                                       : ASSUMED_NONE;
}

/* --- Instances -------------------------------------------------------------------------------------------------------- */

/* Returns any text of the response, as text_get() does. */
static const char *get_text(const value_stream *stream, uint32_t offset, uint32_t size, uint32_t code_page,
                            uint32_t most)
{
    unsigned byte_order = stream->now.table->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;

    return text_get(stream->pool, stream->response.tvb, offset, size, code_page, byte_order, most);
}

/* Returns a row's own name, in the stream's pool. */
static const char *get_row_name(const value_stream *stream, const perf_group *group, uint32_t row)
{
    uint32_t size, at = perf_table_name(stream->now.table, group, row, &size);

    return get_text(stream, at, size, group->code_page, TEXT_NAME_MAX);
}

/* Returns "explorer/3#1" for the current row: the name of its parent, if that is in the response, its own, and which of this name it is. */
static const char *format_instance(value_stream *stream, uint32_t ordinal)
{
    uint32_t row = stream->at.row, parent;
    const perf_group *parents = perf_table_find_parent(stream->now.table, stream->group, row, &parent);
    const char *name = get_row_name(stream, stream->group, row);

    if (parents) {
        name = wmem_strconcat(stream->pool, get_row_name(stream, parents, parent), "/", name, NULL);
    }
    return ordinal > 0 ? wmem_strdup_printf(stream->pool, "%s#%u", name, ordinal) : name;
}

const char *value_stream_instance(value_stream *stream)
{
    value_row *row = &stream->row;

    if (value_stream_set(stream) == NULL || stream->is_single) {
        return NULL;
    }
    if (row->label == NULL) {
        uint32_t ordinal = find_row_name(stream)->ordinal;
        row->label = row->is_named        ? format_instance(stream, ordinal)
                     : stream->identifier ? stream->identifier->instance
                                          : NULL;
    }
    return row->label;
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

const char *value_stream_path(value_stream *stream)
{
    const value_column *counter = stream->at.counter;
    value_row *row = &stream->row;

    if (counter->label == NULL) {
        return NULL;
    }
    if (row->prefix_size == 0) {
        const char *set = value_stream_set(stream), *instance = value_stream_instance(stream);
        wmem_strbuf_truncate(stream->path, 0);
        wmem_strbuf_append(stream->path,
                           wmem_strconcat(stream->pool, "\\\\", stream->computer, "\\", set, instance ? "(" : "",
                                          instance ? instance : "", instance ? ")\\" : "\\", NULL));
        row->prefix_size = wmem_strbuf_get_len(stream->path);
    }
    wmem_strbuf_truncate(stream->path, row->prefix_size);
    wmem_strbuf_append(stream->path, counter->label);
    return wmem_strbuf_get_str(stream->path);
}

bool value_stream_is_same_counter(value_stream *stream, counter_identity *identity)
{
    const perf_counter_type *type = stream->at.counter->type;
    counter_identity own = {.server = stream->response.server, .type = type};

    if (stream->identifier) {
        memcpy(own.guid, stream->identifier->guid, sizeof own.guid);
        own.id = stream->at.counter->id;
    }
    if (identity->server == NULL) {
        *identity = own;
    }
    bool is_same = identity->server == own.server && identity->id == own.id &&
                   memcmp(identity->guid, own.guid, sizeof own.guid) == 0;
    identity->type = is_same && identity->type == NULL ? type : identity->type;
    return is_same && (type == NULL || identity->type == type);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

const char *value_stream_text(value_stream *stream, uint32_t most)
{
    const counter_value *at = &stream->at;
    const uint8_t *text = stream->now.table->data + at->offset;
    uint32_t size = MIN(at->size, MOST_VALUE_BYTES), code_page = stream->group->code_page;
    uint32_t type = perf_table_column(stream->now.table, stream->group, at->column)->type; /* 0 in PerflibV2 */
    bool is_narrow = (type & PERF_TEXT_IN_CODE_PAGE) || (stream->now.table->is_block && perf_is_ascii_text(text, size));

    code_page = !is_narrow ? TEXT_CODE_PAGE_UTF16 : perf_is_utf16(code_page) ? TEXT_CODE_PAGE_ASCII : code_page;
    return get_text(stream, at->offset, perf_text_size(text, size, !is_narrow), code_page, most);
}

const char *value_stream_format(value_stream *stream, const perf_result *result)
{
    const counter_value *at = &stream->at;
    const perf_counter_type *type = at->counter->type;
    char number[TEXT_NUMBER_SIZE];

    if (at->counter->is_text) {
        return wmem_strconcat(stream->pool, "\"", value_stream_text(stream, TEXT_NAME_MAX), "\"", NULL);
    }
    text_integer(number, at->raw.size > 0 ? at->raw.value : at->size);
    if (result->none == PERF_NO_RESULT_OK) {
        if ((type->value & ~PERF_SIZE_MASK) == 0) { /* a number, PERF_NUMBER_HEX */
            snprintf(number, sizeof number, "0x%" PRIx64, at->raw.value);
        } else if (type->formula != PERF_FORMULA_RAW) { /* of which a double does not hold 64 bits */
            text_number(number, result->value);
        }
        snprintf(stream->words, sizeof stream->words, "%s%s%s", number, *type->unit ? " " : "", type->unit);
    } else if (at->raw.size > 0) {
        snprintf(stream->words, sizeof stream->words, "%s (raw; %s)", number,
                 val_to_str_const(result->none, text_none_reason_vals, ""));
    } else {
        snprintf(stream->words, sizeof stream->words, "%s byte%s", number, at->size == 1 ? "" : "s");
    }
    return stream->words;
}

const char *value_stream_format_formula(const value_stream *stream)
{
    const value_column *counter = stream->at.counter;
    perf_formula_number numbers[PERF_MOST_FORMULA_NUMBERS];
    char number[TEXT_NUMBER_SIZE];

    if (counter->none != PERF_NO_RESULT_OK || counter->type->formula <= PERF_FORMULA_RAW || stream->at.raw.size == 0) {
        return "";
    }
    const perf_formula_info *formula = &perf_formulas[counter->type->formula];
    wmem_strbuf_t *text = wmem_strbuf_new(stream->pool, formula->text);
    unsigned count = perf_formula_numbers(formula, &stream->current, get_previous(stream), numbers);
    for (unsigned i = 0; i < count; i++) {
        text_integer(number, numbers[i].number.value);
        wmem_strbuf_append_printf(text, ", %s = %s", numbers[i].name, number);
    }
    return wmem_strbuf_get_str(text);
}
