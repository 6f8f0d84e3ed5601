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
        stream->do_clocks_differ = perf_clocks_differ(clocks, &table->clocks);
        stream->operands.previous = table->clocks;
    }
}

value_stream *value_stream_begin(wmem_allocator_t *pool, const counter_response *response)
{
    value_stream *stream = wmem_new0(pool, value_stream);

    ws_assert(response->ops && response->server && response->tvb && response->table);
    stream->pool = pool;
    stream->response = *response;
    stream->now.table = response->table;
    stream->bytes_left = response->table->size;
    stream->path = wmem_strbuf_new(pool, NULL);
    stream->operands.current = response->table->clocks;
    find_sample_before(stream);
    response->ops->begin(stream);
    return stream;
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* Marks a column whose counter has several: all are assumed, and only the first has a path. Bases, without results, may be alike. */
static void mark_repeated_column(value_stream *stream, value_column *column)
{
    perf_table *table = stream->now.table;
    const perf_column *own = perf_table_column(table, stream->group, stream->at.column);
    uint32_t first;

    if (!perf_column_is_base(own) &&
        perf_table_count_columns(table, stream->group, own->id, /* is_base */ false, &first) > 1) {
        bool is_first = first == stream->at.column;
        column->none = is_first ? column->none : PERF_NO_RESULT_COUNTER_NOT_KNOWN;
        column->label = is_first ? column->label : NULL;
        column->assumed = ASSUMED_COUNTER;
        column->is_before_known = true;
        column->why_no_before = PERF_NO_RESULT_NOT_COMPARABLE;
    }
}

/* Returns what a name is stored under: of a counter of the group, or of its counterset (PERF_NO_ID). Needs: it is known whose the group is. */
static metadata_key get_name_key(const value_stream *stream, uint32_t id)
{
    const perf_identifier *identifier = stream->identifier;

    return identifier ? metadata_counter_key(identifier->guid, id)
                      : metadata_title_key(id == PERF_NO_ID ? stream->group->key : id);
}

/* Fills a column of the group, but for its column in the sample before. The type is that of the object's definition, or was learned. */
static void look_up_column(value_stream *stream, value_column *column)
{
    const perf_group *group = stream->group;
    const perf_column *own = group->columns > 0 ? perf_table_column(stream->now.table, group, stream->at.column) : NULL;
    uint32_t id = own ? own->id : PERF_NO_ID;
    bool is_block = stream->response.ops->is_block;

    id = id == PERF_NO_ID && stream->identifier ? stream->identifier->counter_id : id;
    *column = (value_column){.is_known = true, .id = id, .none = PERF_NO_RESULT_COUNTER_NOT_KNOWN};
    if (!is_block && stream->identifier == NULL) {
        return;
    }
    const metadata_key key = get_name_key(stream, id);
    const metadata_result name = metadata_lookup(stream->response.server, key, METADATA_ENGLISH);
    bool is_assumed = name.is_assumed;
    column->label = id == PERF_NO_ID ? "*" : metadata_format_name(stream->pool, &key, name.entry);
    if (is_block) {
        column->type = perf_counter_type_find(own->type);
        column->is_text = perf_counter_type_is_text(own->type);
    } else if (id != PERF_NO_ID) {
        const metadata_result known = metadata_lookup(stream->response.server, key, METADATA_COUNTER);
        column->info = known.entry ? &known.entry->counter : NULL;
        column->type = known.entry ? known.entry->type : NULL;
        column->is_text = column->type && perf_counter_type_is_text(column->type->value);
        is_assumed |= known.is_assumed;
    }
    column->none = column->type               ? PERF_NO_RESULT_OK
                   : is_block || column->info ? PERF_NO_RESULT_UNKNOWN_TYPE
                                              : PERF_NO_RESULT_TYPE_NOT_LEARNED;
    column->assumed = is_assumed ? ASSUMED_NAME : ASSUMED_NONE;
}

/* Goes to a counter of the group, without its values. Needs: a number of a column; 0 of a group without columns. */
static void enter_column(value_stream *stream, uint32_t number)
{
    uint32_t count = MAX(stream->group->columns, 1); /* a group without values stands for a counter, too */

    if (stream->columns == NULL) {
        stream->columns = wmem_alloc0_array(stream->pool, value_column, count);
    }
    ws_assert(number < count);
    value_column *column = &stream->columns[number];
    stream->at.column = number;
    stream->at.counter = column;
    if (!column->is_known) {
        look_up_column(stream, column);
        if (count > 1) {
            mark_repeated_column(stream, column);
        }
    }
}

void value_stream_enter(value_stream *stream, perf_group *group)
{
    const perf_identifier *last = stream->identifier;
    bool lacks_values = !stream->response.ops->is_block && (group->rows == 0 || group->columns == 0);
    bool is_failed = lacks_values && group->type == PERF_ERROR_RETURN;
    bool is_empty = lacks_values && !is_failed && group->is_sound;

    stream->operands.is_assumed = false;
    stream->group = group;
    stream->group_before = NULL;
    stream->is_group_before_known = false;
    stream->assumed = stream->response.is_malformed || !group->is_sound ? ASSUMED_RESPONSE : ASSUMED_NONE;
    stream->identifier = NULL;
    stream->columns = NULL;
    stream->row = (value_row){.label = NULL};
    stream->at = (counter_value){.column = UINT32_MAX, .is_failed = is_failed, .is_empty = is_empty};
    if (stream->response.ops->enter) {
        stream->response.ops->enter(stream);
    }
    if (stream->set_label && !(last && stream->identifier && memcmp(last->guid, stream->identifier->guid, 16) == 0)) {
        stream->set_label = NULL; /* blocks of one counterset mostly stand together */
    }
    if (is_failed || is_empty) {
        enter_column(stream, 0);
    }
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
    if (at->offset == 0 || stream->bytes_left == 0) {
        at->column = column;
        return NULL;
    }
    enter_column(stream, column);
    at->raw = at->counter->is_text ? (perf_raw){0, 0} : perf_table_number_at(table, at->offset, at->size);
    stream->operands.is_assumed = false;
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

/* --- The sample before -------------------------------------------------------------------------------------------- */

perf_group *value_stream_group_before(value_stream *stream)
{
    if (!stream->is_group_before_known) {
        stream->is_group_before_known = true;
        stream->why_no_pair = stream->why_no_before;
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
        bool is_same = count == 1 && perf_table_column(before, group, counter->column_before)->type == own->type;
        counter->is_before_known = true;
        counter->why_no_before = is_same      ? PERF_NO_RESULT_OK
                                 : count == 0 ? PERF_NO_RESULT_NEW_COUNTER
                                              : PERF_NO_RESULT_NOT_COMPARABLE;
    }
    return counter->why_no_before;
}

/* Finds the same counter of the same instance in the sample before: row.before and the counter's column_before. Returns the reason if it is
 * not there. Changes: `is_assumed` of operands. */
static perf_no_result find_previous_value(value_stream *stream)
{
    perf_group *group = value_stream_group_before(stream);
    value_row *row = &stream->row;

    if (stream->why_no_pair != PERF_NO_RESULT_OK) {
        return stream->why_no_pair;
    }
    if (!row->is_matched) {
        row->is_matched = true;
        row->match = perf_table_match_row(stream->now.table, stream->group, stream->at.row, stream->before.table, group,
                                          stream->proofs, &row->before);
    }
    stream->operands.is_assumed |= row->match == PERF_MATCH_ASSUMED;
    return row->match == PERF_MATCH_AMBIGUOUS ? PERF_NO_RESULT_MOVED
           : row->match == PERF_MATCH_NONE    ? PERF_NO_RESULT_NEW_INSTANCE
                                              : find_column_before(stream);
}

/* --- Results ------------------------------------------------------------------------------------------------------ */

/* Finds the operands besides the value that a formula needs, in as many samples as have the value. Needs: `why_not` is set. */
static void find_other_operands(value_stream *stream, unsigned needs)
{
    static const unsigned each[] = {PERF_NEEDS_BASE, PERF_NEEDS_TIME, PERF_NEEDS_FREQ, PERF_NEEDS_MULTI};
    value_operands *found = &stream->operands;
    const value_location places[] = {
        {&stream->now, stream->group, stream->at.row, stream->at.column},
        {&stream->before, stream->group_before, stream->row.before, stream->at.counter->column_before}};

    for (unsigned i = 0; i < (found->why_not == PERF_NO_RESULT_OK ? 2U : 1U); i++) {
        perf_point *point = i == 0 ? &found->current : &found->previous;
        perf_raw *const operands[] = {&point->base, &point->time, &point->freq, &point->multi};
        for (unsigned k = 0; k < array_length(each); k++) {
            if (needs & each[k]) {
                *operands[k] = stream->response.ops->operand(stream, &places[i], each[k]);
            }
        }
    }
}

/* Finds the operands of the current value's formula in both samples. Needs: its type is known. Changes: `operands`; members that the formula does
 * not read keep older numbers. */
static void find_operands(value_stream *stream)
{
    value_operands *found = &stream->operands;
    unsigned needs = perf_formulas[stream->at.counter->type->formula].flags;

    found->current.value = stream->at.raw;
    found->why_not = needs & PERF_NEEDS_PREVIOUS ? find_previous_value(stream) : PERF_NO_RESULT_NO_FORMULA;
    if (found->why_not == PERF_NO_RESULT_OK) {
        found->previous.value = perf_table_number(stream->before.table, stream->group_before, stream->row.before,
                                                  stream->at.counter->column_before);
    }
    if (needs & (PERF_NEEDS_BASE_OR_TIME | PERF_NEEDS_FREQ | PERF_NEEDS_MULTI)) {
        find_other_operands(stream, needs);
    }
}

/* True if the last part of a name is "_Total" or "_Global_", as in "0,_Total" and "WMI/_Total". `instance`: NULL: there is none. */
static bool is_sum(const char *instance)
{
    const char *name = instance ? instance : "", *part = name + strlen(name);

    while (part > name && strchr(",/ ", part[-1]) == NULL) {
        part--;
    }
    return strcmp(part, "_Total") == 0 || strcmp(part, "_Global_") == 0;
}

perf_result value_stream_result(value_stream *stream)
{
    const value_column *counter = stream->at.counter;
    const value_operands *found = &stream->operands;

    if (counter->none != PERF_NO_RESULT_OK) {
        return (perf_result){0, counter->none};
    }
    find_operands(stream);
    bool has_previous = found->why_not == PERF_NO_RESULT_OK;
    perf_operand per = perf_formulas[counter->type->formula].denominator;
    bool is_per_time = per == PERF_OPERAND_TICKS || per == PERF_OPERAND_100NS;
    perf_result result =
        perf_calculate(counter->type, &found->current, has_previous ? &found->previous : NULL, found->why_not);
    if (result.none == PERF_NO_RESULT_OK) {
        result.none = !stream->group->is_sound                  ? PERF_NO_RESULT_NOT_COMPARABLE
                      : stream->do_clocks_differ && is_per_time ? PERF_NO_RESULT_CLOCKS_DIFFER
                                                                : PERF_NO_RESULT_OK;
    } else if (perf_is_reset(result.none)) { /* a sum goes backwards when an instance of it ends */
        result.none = is_sum(value_stream_instance(stream)) ? PERF_NO_RESULT_SUM_BACKWARDS : result.none;
    } else if (stream->response.ops->is_block &&
               (result.none == PERF_NO_RESULT_NO_TIME || result.none == PERF_NO_RESULT_NO_FREQ)) {
        result.none = PERF_NO_RESULT_NO_CLOCK; /* both are the object's */
    }
    return result.none == PERF_NO_RESULT_OK ? result : (perf_result){0, result.none};
}

/* --- Doubt -------------------------------------------------------------------------------------------------------- */

/* True if a counterset is known to have one instance, which paths leave out. */
static bool is_single_instance(const state_server *server, metadata_key key)
{
    const metadata_result type = metadata_lookup(server, key, METADATA_COUNTERSET);

    return type.entry && type.entry->instance_type == 0;
}

const char *value_stream_set(value_stream *stream)
{
    const perf_identifier *identifier = stream->identifier;

    if (stream->set_label == NULL && (identifier || stream->response.ops->is_block)) {
        const metadata_key key = get_name_key(stream, PERF_NO_ID);
        metadata_result set = metadata_lookup(stream->response.server, key, METADATA_ENGLISH);
        stream->set_label = metadata_format_name(stream->pool, &key, set.entry);
        stream->is_set_assumed = set.is_assumed;
        stream->is_single =
            identifier ? is_single_instance(stream->response.server, key) : !stream->group->has_instances;
    }
    return stream->set_label;
}

/* Returns how the current row is named; NULL: it has no instance. */
static const perf_row_name *find_row_name(value_stream *stream)
{
    value_row *row = &stream->row;

    if (!stream->group->has_instances || stream->at.row >= stream->group->rows) {
        return NULL;
    }
    if (!row->is_named) {
        row->is_named = true;
        row->name = perf_table_row_name(stream->now.table, stream->group, stream->at.row);
    }
    return &row->name;
}

/* True if the current row's name does not prove which instance it is. */
static bool is_row_assumed(value_stream *stream)
{
    const perf_row_name *name = find_row_name(stream);

    return name && name->is_assumed;
}

assumed_reason value_stream_assumed_reason(value_stream *stream)
{
    const value_column *counter = stream->at.counter;

    return stream->assumed != ASSUMED_NONE                                             ? stream->assumed
           : counter->assumed != ASSUMED_NONE                                          ? counter->assumed
           : (stream->set_label || value_stream_set(stream)) && stream->is_set_assumed ? ASSUMED_NAME
           : stream->operands.is_assumed || is_row_assumed(stream)                     ? ASSUMED_INSTANCE
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
        const perf_row_name *name = find_row_name(stream);
        row->label = name                 ? format_instance(stream, name->ordinal)
                     : stream->identifier ? stream->identifier->instance
                                          : NULL;
    }
    return row->label;
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

/* Returns "\\SRV\Set(instance)\Counter" of its parts. `computer`, `instance`: NULL: none. */
static char *join_path(wmem_allocator_t *pool, const char *computer, const char *set, const char *instance,
                       const char *counter)
{
    return wmem_strconcat(pool, computer ? "\\\\" : "", computer ? computer : "", "\\", set, instance ? "(" : "",
                          instance ? instance : "", instance ? ")" : "", "\\", counter, NULL);
}

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
        wmem_strbuf_append(stream->path, join_path(stream->pool, stream->computer, set, instance, ""));
        row->prefix_size = wmem_strbuf_get_len(stream->path);
    }
    wmem_strbuf_truncate(stream->path, row->prefix_size);
    wmem_strbuf_append(stream->path, counter->label);
    return wmem_strbuf_get_str(stream->path);
}

const char *value_stream_format_identifier(value_stream *stream)
{
    const perf_identifier *identifier = stream->identifier;
    const char *label = "*", *set = value_stream_set(stream);
    bool is_assumed = stream->assumed == ASSUMED_COUNTER || stream->is_set_assumed;

    if (identifier->counter_id != PERF_NO_ID) {
        enter_column(stream, 0);
        label = stream->at.counter->label;
        is_assumed |= stream->at.counter->assumed != ASSUMED_NONE;
    }
    const char *instance = stream->is_single ? NULL : identifier->instance;
    return text_marked(stream->pool, join_path(stream->pool, NULL, set, instance, label), is_assumed);
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

/* True if all bytes are printable ASCII, and more than `most`. */
static bool is_ascii_text(const uint8_t *bytes, uint32_t size, uint32_t most)
{
    uint32_t printable = 0;

    while (printable < size && g_ascii_isprint(bytes[printable])) {
        printable++;
    }
    return size > most && printable == size;
}

/* Samba's PERF_DATA_BLOCK has ASCII where the type says UTF-16, mostly. Few printable bytes may be a word or two of UTF-16 if a terminator follows,
 * or a character of it if their number is even. */
const char *value_stream_text(value_stream *stream, uint32_t most)
{
    const counter_value *at = &stream->at;
    const uint8_t *text = stream->now.table->data + at->offset;
    uint32_t size = MIN(at->size, MOST_VALUE_BYTES), text_size = perf_utf16_size(text, size);
    const uint8_t *end = memchr(text, 0, size);
    uint32_t narrow_size = end ? (uint32_t)(end - text) : size, code_page = stream->group->code_page;
    uint32_t ambiguous = text_size + 1 < size ? 4 : size % 2 == 0 ? 1 : 0;
    uint32_t type = perf_table_column(stream->now.table, stream->group, at->column)->type; /* 0 in PerflibV2 */
    bool is_samba = stream->response.ops->is_block && is_ascii_text(text, narrow_size, ambiguous);

    if ((type & PERF_TEXT_IN_CODE_PAGE) || is_samba) {
        return get_text(stream, at->offset, narrow_size, perf_is_utf16(code_page) ? TEXT_CODE_PAGE_ASCII : code_page,
                        most);
    }
    return get_text(stream, at->offset, text_size, TEXT_CODE_PAGE_UTF16, most);
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

/* A number that the text of a formula names. Size 0: it is not there. */
typedef struct {
    const char *name;
    perf_raw number;
} formula_number;

const char *value_stream_format_formula(const value_stream *stream)
{
    const value_column *counter = stream->at.counter;
    const perf_point none = {.value = {0, 0}}, *now = &stream->operands.current, *before = &none;
    char number[TEXT_NUMBER_SIZE];

    if (counter->none != PERF_NO_RESULT_OK || counter->type->formula <= PERF_FORMULA_RAW || stream->at.raw.size == 0) {
        return "";
    }
    const perf_formula_info *formula = &perf_formulas[counter->type->formula];
    bool has_previous = stream->operands.why_not == PERF_NO_RESULT_OK;
    before = has_previous ? &stream->operands.previous : before;
    bool has_ticks = has_previous && now->perf_time >= before->perf_time; /* else the clock went back */
    bool has_100ns = has_previous && now->time_100ns >= before->time_100ns;
    const formula_number numbers[] = {
        {"N1", now->value},
        {"N0", before->value},
        {"B1", now->base},
        {"B0", before->base},
        {"O1", now->time},
        {"O0", before->time},
        {"T1 - T0", {now->perf_time - before->perf_time, has_ticks ? 8 : 0}},
        {"H1 - H0", {now->time_100ns - before->time_100ns, has_100ns ? 8 : 0}},
        {"F", {now->perf_freq, formula->flags & (PERF_RATE | PERF_TICKS) ? 8 : 0}},
        {"OF", now->freq},
        {"M1", now->multi},
    };
    wmem_strbuf_t *text = wmem_strbuf_new(stream->pool, formula->text);
    for (unsigned i = 0; i < array_length(numbers); i++) {
        if (numbers[i].number.size > 0 && strstr(formula->text, numbers[i].name)) {
            text_integer(number, numbers[i].number.value);
            wmem_strbuf_append_printf(text, ", %s = %s", numbers[i].name, number);
        }
    }
    return wmem_strbuf_get_str(text);
}

/* --- Identifiers of PerflibV2 ------------------------------------------------------------------------------------- */

char *value_format_identifier_path(wmem_allocator_t *pool, const state_server *server, const char *computer,
                                   const perf_identifier *identifier, bool *is_assumed)
{
    metadata_key key = metadata_counter_key(identifier->guid, PERF_NO_ID);
    metadata_result set = metadata_lookup(server, key, METADATA_ENGLISH);
    bool is_single = is_single_instance(server, key);
    const char *set_label = metadata_format_name(pool, &key, set.entry), *label = "*";

    *is_assumed = set.is_assumed;
    if (identifier->counter_id != PERF_NO_ID) {
        key.id = identifier->counter_id;
        metadata_result counter = metadata_lookup(server, key, METADATA_ENGLISH);
        label = metadata_format_name(pool, &key, counter.entry);
        *is_assumed |= counter.is_assumed;
    }
    return join_path(pool, computer, set_label, is_single ? NULL : identifier->instance, label);
}
