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

/* Finds the sample to compare with. Changes: `before` with its clocks, or else `why_no_pair`. */
static void find_sample_before(value_stream *stream)
{
    const counter_response *response = &stream->response;
    const perf_point *clocks = &stream->now.table->clocks;
    state_sample *before = response->sample ? response->sample->previous : NULL;
    perf_table *table = before ? sample_get_table(before, stream->pool) : NULL;

    if (table == NULL) {
        stream->why_no_pair = before                  ? PERF_NO_RESULT_SAMPLE_DROPPED
                              : response->sample      ? PERF_NO_RESULT_FIRST_SAMPLE
                              : response->is_repeated ? PERF_NO_RESULT_REPEATED
                                                      : PERF_NO_RESULT_NOT_COMPARABLE;
    } else if (response->request_frame < before->frame &&
               clocks->perf_time < table->clocks.perf_time) { /* calls at the same time are answered in any order */
        stream->why_no_pair = PERF_NO_RESULT_OVERTAKEN;
    } else {
        stream->before.table = table;
        stream->before.index = query_snapshot_index(before->query, &stream->before.is_index_assumed);
        stream->before.point = table->clocks;
        stream->before.point.is_clock_wrong = perf_clocks_differ(clocks, &table->clocks);
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
    stream->now.at.bytes_left = response->table->size;
    stream->now.point = response->table->clocks;
    stream->computer = handle_machine(response->handle, response->server);
    find_sample_before(stream);
    if (response->ops->begin) {
        response->ops->begin(stream);
    }
    stream->path = wmem_strbuf_new(pool, wmem_strconcat(pool, "\\\\", stream->computer, "\\", NULL));
    stream->computer_size = wmem_strbuf_get_len(stream->path);
    return stream;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* Returns what a name is stored under: of a counter of the group, or of its counterset (PERF_NO_ID). Needs: it is known whose the group is. */
static metadata_key get_name_key(const value_stream *stream, uint32_t id)
{
    const perf_identifier *identifier = stream->identifier;

    return identifier ? metadata_counter_key(identifier->guid, id)
                      : metadata_title_key(id == PERF_NO_ID ? stream->now.at.group->key : id);
}

/* Fills a column of the group, but for its match. Its type is that of the object's definition, or was learned. Of a counter that has several
 * columns all are assumed, and only the first has a path; bases, without results, may be alike. */
static void look_up_column(value_stream *stream, uint32_t number, value_column *column)
{
    perf_group *group = stream->now.at.group;
    const perf_column *own = group->columns > 0 ? perf_table_column(stream->now.table, group, number) : NULL;
    uint32_t id = own ? own->id : PERF_NO_ID, first = number;
    bool is_block = stream->now.table->is_block;
    bool is_repeated = group->columns > 1 && !perf_column_is_base(own) &&
                       perf_table_count_columns(stream->now.table, group, id, /* is_base */ false, &first) > 1;

    id = id == PERF_NO_ID && stream->identifier ? stream->identifier->counter_id : id;
    *column = (value_column){.id = id, .none = PERF_NO_RESULT_COUNTER_NOT_KNOWN};
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

    if (column->none == PERF_NO_RESULT_OK && column->type == NULL) {
        look_up_column(stream, number, column);
    }
    return column;
}

void value_stream_enter(value_stream *stream, perf_group *group)
{
    const perf_identifier *last = stream->identifier, *identifier;
    const uint32_t columns = MAX(group->columns, 1);

    stream->identifier = identifier = query_index_identifier(stream->now.index, group->key, group->type);
    perf_cell_enter(&stream->now.at, group);
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
    stream->counter = get_column(stream, 0);
    perf_cell_enter(&stream->before.at, NULL);
    if (stream->before.table) {
        stream->why_no_pair = stream->response.ops->find_group(stream);
        if (stream->why_no_pair == PERF_NO_RESULT_OK && !(group->is_sound && stream->before.at.group->is_sound)) {
            stream->why_no_pair = PERF_NO_RESULT_NOT_COMPARABLE;
        }
    }
}

bool value_stream_next_group(value_stream *stream)
{
    perf_group *next = perf_table_next_group(stream->now.table, stream->now.at.group);

    if (next) {
        value_stream_enter(stream, next);
    }
    return next != NULL;
}

void value_stream_enter_row(value_stream *stream, uint32_t row)
{
    stream->now.at.row = row;
    if (stream->row.number != row) {
        stream->row = (value_row){.number = row};
    }
}

/* Returns the value that was just read. Changes: counter and row are its. */
static const perf_cell *take_value(value_stream *stream)
{
    perf_cell *at = &stream->now.at;

    value_stream_enter_row(stream, at->row);
    stream->counter = get_column(stream, at->column);
    if (stream->counter->is_text) {
        at->raw = (perf_raw){0, 0};
    }
    stream->is_match_assumed = false;
    return at;
}

const perf_cell *value_stream_go_to(value_stream *stream, uint32_t row, uint32_t column)
{
    return perf_cell_read(&stream->now.at, stream->now.table, row, column) ? take_value(stream) : NULL;
}

const perf_cell *value_stream_next_in_group(value_stream *stream)
{
    return perf_cell_next(&stream->now.at, stream->now.table) ? take_value(stream) : NULL;
}

const perf_cell *value_stream_next(value_stream *stream)
{
    while (stream->now.at.group == NULL || !perf_cell_next(&stream->now.at, stream->now.table)) {
        if (!value_stream_next_group(stream)) {
            return NULL;
        }
    }
    return take_value(stream);
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

/* Finds the same counter of the same instance in the sample before: `before.at`. Returns the reason if it is not there. Changes: is_match_assumed. */
static perf_no_result find_previous_value(value_stream *stream)
{
    const perf_cell *now = &stream->now.at;
    perf_cell *before = &stream->before.at;
    value_column *column = stream->counter;
    value_row *row = &stream->row;

    if (stream->why_no_pair != PERF_NO_RESULT_OK) {
        return stream->why_no_pair;
    }
    if (row->match == PERF_MATCH_NOT_ASKED) {
        row->match = perf_table_match_row(stream->now.table, now->group, now->row, stream->before.table, before->group,
                                          stream->proofs, &before->row);
    }
    if (column->match == PERF_MATCH_NOT_ASKED) {
        column->match = perf_table_match_column(stream->now.table, now->group, now->column, stream->before.table,
                                                before->group, &column->before);
    }
    before->column = column->before;
    stream->is_match_assumed |= row->match == PERF_MATCH_ASSUMED;
    return perf_match_reason(row->match, column->match);
}

/* Finds the operands that a formula needs, in as many samples as have the value. Returns the reason if the sample before has not. Changes: `point` of
 * both; `previous`. */
static perf_no_result find_operands(value_stream *stream, unsigned needs)
{
    const perf_cell *before = &stream->before.at;
    bool needs_others = needs & (PERF_NEEDS_BASE_OR_TIME | PERF_NEEDS_FREQ | PERF_NEEDS_MULTI);
    perf_no_result why = needs & PERF_NEEDS_PREVIOUS ? find_previous_value(stream) : PERF_NO_RESULT_NO_FORMULA;

    stream->previous = why == PERF_NO_RESULT_OK ? &stream->before.point : NULL;
    stream->now.point.value = stream->now.at.raw;
    if (needs_others) {
        stream->response.ops->find_operands(stream, &stream->now, needs);
    }
    if (stream->previous) {
        stream->before.point.value =
            perf_table_number(stream->before.table, before->group, before->row, before->column);
        if (needs_others) {
            stream->response.ops->find_operands(stream, &stream->before, needs);
        }
    }
    return why;
}

perf_result value_stream_result(value_stream *stream)
{
    const value_column *counter = stream->counter;

    if (counter->none != PERF_NO_RESULT_OK) {
        return (perf_result){0, counter->none};
    }
    perf_no_result why = find_operands(stream, perf_formulas[counter->type->formula].flags);
    perf_result result = perf_calculate(counter->type, &stream->now.point, stream->previous, why);
    if (result.none == PERF_NO_RESULT_OK && !stream->now.at.group->is_sound) {
        return (perf_result){0, PERF_NO_RESULT_NOT_COMPARABLE};
    }
    if (perf_is_reset(result.none) && perf_is_sum(value_stream_instance(stream))) {
        result.none = PERF_NO_RESULT_SUM_BACKWARDS;
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
            identifier ? set.type.entry && set.type.entry->instance_type == 0 : !stream->now.at.group->has_instances;
    }
    return stream->set_label;
}

/* Returns how the current row is named; zeros: it has no instance. */
static const perf_row_name *find_row_name(value_stream *stream)
{
    value_row *row = &stream->row;

    if (!row->is_named && stream->now.at.group->has_instances && stream->now.at.row < stream->now.at.group->rows) {
        row->is_named = true;
        row->name = perf_table_row_name(stream->now.table, stream->now.at.group, stream->now.at.row);
    }
    return &row->name;
}

assumed_reason value_stream_assumed(value_stream *stream)
{
    return stream->assumed != ASSUMED_NONE                                             ? stream->assumed
           : stream->counter->assumed != ASSUMED_NONE                                  ? stream->counter->assumed
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
    uint32_t row = stream->now.at.row, parent;
    const perf_group *parents = perf_table_find_parent(stream->now.table, stream->now.at.group, row, &parent);
    const char *name = get_row_name(stream, stream->now.at.group, row);

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
        row->label = row->is_named ? format_instance(stream, ordinal) : stream->identifier->instance;
    }
    return row->label;
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

const char *value_stream_path(value_stream *stream)
{
    value_row *row = &stream->row;

    if (stream->counter->label == NULL) {
        return NULL;
    }
    if (row->prefix_size == 0) {
        const char *set = value_stream_set(stream), *instance = value_stream_instance(stream);
        wmem_strbuf_truncate(stream->path, stream->computer_size);
        wmem_strbuf_append(stream->path, set);
        wmem_strbuf_append(stream->path, instance ? "(" : "\\");
        wmem_strbuf_append(stream->path, instance ? instance : "");
        wmem_strbuf_append(stream->path, instance ? ")\\" : "");
        row->prefix_size = wmem_strbuf_get_len(stream->path);
    }
    wmem_strbuf_truncate(stream->path, row->prefix_size);
    wmem_strbuf_append_len(stream->path, stream->counter->label, strlen(stream->counter->label));
    return wmem_strbuf_get_str(stream->path);
}

bool value_stream_is_same_counter(value_stream *stream, counter_identity *identity)
{
    counter_identity own = {.server = stream->response.server, .type = stream->counter->type};

    if (stream->identifier) {
        memcpy(own.guid, stream->identifier->guid, sizeof own.guid);
        own.id = stream->counter->id;
    }
    if (identity->server == NULL) {
        *identity = own;
    }
    bool is_same = identity->server == own.server && identity->id == own.id &&
                   memcmp(identity->guid, own.guid, sizeof own.guid) == 0;
    identity->type = is_same && identity->type == NULL ? own.type : identity->type;
    return is_same && (own.type == NULL || identity->type == own.type);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

const char *value_stream_text(value_stream *stream, uint32_t most)
{
    const perf_cell *at = &stream->now.at;
    uint32_t code_page, size = perf_cell_text_size(at, stream->now.table, MOST_VALUE_BYTES, &code_page);

    return get_text(stream, at->offset, size, code_page, most);
}

const char *value_stream_format(value_stream *stream, const perf_result *result)
{
    const perf_cell *at = &stream->now.at;
    const perf_counter_type *type = stream->counter->type;
    char number[TEXT_NUMBER_SIZE];

    if (stream->counter->is_text) {
        return wmem_strconcat(stream->pool, "\"", value_stream_text(stream, TEXT_NAME_MAX), "\"", NULL);
    }
    if (result->none != PERF_NO_RESULT_OK) {
        const char *reason = val_to_str_const(result->none, text_none_reason_vals, "");
        text_integer(number, at->raw.size > 0 ? at->raw.value : at->size);
        return at->raw.size > 0 ? wmem_strdup_printf(stream->pool, "%s (raw; %s)", number, reason)
                                : wmem_strdup_printf(stream->pool, "%s byte%s", number, at->size == 1 ? "" : "s");
    }
    if ((type->value & ~PERF_SIZE_MASK) == 0) { /* a number, PERF_NUMBER_HEX */
        snprintf(number, sizeof number, "0x%" PRIx64, at->raw.value);
    } else if (type->formula == PERF_FORMULA_RAW) { /* of which a double does not hold 64 bits */
        text_integer(number, at->raw.value);
    } else {
        text_number(number, result->value);
    }
    return wmem_strconcat(stream->pool, number, *type->unit ? " " : "", type->unit, NULL);
}

const char *value_stream_format_formula(const value_stream *stream)
{
    const value_column *counter = stream->counter;
    perf_formula_number numbers[PERF_MOST_FORMULA_NUMBERS];
    char text[PERF_FORMULA_SIZE];

    if (counter->none != PERF_NO_RESULT_OK || counter->type->formula <= PERF_FORMULA_RAW ||
        stream->now.at.raw.size == 0) {
        return "";
    }
    const perf_formula_info *formula = &perf_formulas[counter->type->formula];
    unsigned count = perf_formula_numbers(formula, &stream->now.point, stream->previous, numbers);
    char *end = g_stpcpy(text, formula->text);
    for (unsigned i = 0; i < count; i++) { /* by printf() these would be a quarter of a visible value's cost */
        memcpy(end, ", ", 2);
        end = g_stpcpy(end + 2, numbers[i].name);
        memcpy(end, " = ", 3);
        end += 3 + text_integer(end + 3, numbers[i].number.value);
    }
    return wmem_memdup(stream->pool, text, (size_t)(end - text) + 1);
}
