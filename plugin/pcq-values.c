/* pcq-values.c
 * The stream of values: what each PERF_COUNTER_DATA of a QueryCounterData answer means.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-values.h"

#include <epan/charsets.h>

#include "pcq-fields.h"
#include "readings/instances.h"
#include "perf/bytes.h"

/* The values of a block as a table: a row for each instance, a column for each counter. */
typedef struct pcq_rows {
    uint32_t type;
    uint32_t columns;
    uint32_t ids;             /* offset of the array of ids, 0 if there is none */
    wmem_array_t *values;     /* uint32_t offsets of PERF_COUNTER_DATA, row by row; 0: missing */
    perf_instances instances; /* empty where the block has no instance headers */
    wmem_map_t *by_id;        /* counter id -> column + 1 */
} pcq_rows;

/* Patterns of one query that are looked through for an instance that no likelier block has. */
#define MAX_PATTERN_BLOCKS 64

/* What is known of one counter of the block being looked at. */
typedef struct {
    bool looked_up;
    uint32_t id;
    perf_counter_info info;
    const perf_counter_type *type;
    perf_none none; /* PERF_NONE_OK if the type is known */
    const char *label;
} counter_column;

struct pcq_columns {
    uint32_t count;
    counter_column *column;
    const char *set_label;
    bool no_parentheses;
    uint32_t instance_offset; /* of the instance whose name is at hand */
    const char *instance_name;
};

/* --- The two samples ------------------------------------------------------------------------------------------- */

static void init_side(pcq_side *side, wmem_allocator_t *pool, const perf_handle *handle, uint32_t event,
                      const uint8_t *bytes, uint32_t size)
{
    perf_walk walk;
    wmem_array_t *offsets = wmem_array_new(pool, sizeof(uint32_t));
    wmem_array_t *types = wmem_array_new(pool, sizeof(uint32_t));
    perf_walk_event step;

    side->bytes = bytes;
    side->size = size;
    perf_walk_init(&walk, bytes, size);
    while ((step = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (step == PERF_WALK_BLOCK) {
            wmem_array_append_one(offsets, walk.block.offset);
            wmem_array_append_one(types, walk.block.type);
            perf_walk_skip_block(&walk);
        }
    }
    uint32_t count = wmem_array_get_count(offsets);
    side->offsets = wmem_array_get_raw(offsets);
    perf_query_assign(pool, handle, event, wmem_array_get_raw(types), count, &side->assigned);
    side->rows = wmem_alloc0_array(pool, pcq_rows *, count);
    if (size >= PERF_DATA_HEADER_SIZE) {
        side->perf_time = perf_le64(bytes + 8);
        side->time_100ns = perf_le64(bytes + 16);
        side->perf_freq = perf_le64(bytes + 24);
    }
}

static void set_clocks(perf_point *point, const pcq_side *side)
{
    memset(point, 0, sizeof *point);
    point->perf_time = side->perf_time;
    point->perf_freq = side->perf_freq;
    point->time_100ns = side->time_100ns;
}

void pcq_values_init(pcq_values *values, wmem_allocator_t *pool, perf_server *server, const perf_handle *handle,
                     const perf_sample *sample, uint32_t event, const uint8_t *bytes, uint32_t size, bool single)
{
    const perf_sample *previous = sample ? sample->previous : NULL;

    memset(values, 0, sizeof *values);
    values->pool = pool;
    values->server = server;
    values->handle = handle;
    values->event = event;
    values->single = single;
    values->machine = handle && handle->machine && *handle->machine ? handle->machine : perf_server_address(server);
    values->columns_block = UINT32_MAX;
    init_side(&values->now, pool, handle, event, bytes, size);
    if (previous && previous->bytes) {
        perf_point now, before;
        init_side(&values->before, pool, handle, previous->event, previous->bytes, previous->size);
        values->previous_frame = previous->frame;
        set_clocks(&now, &values->now);
        set_clocks(&before, &values->before);
        values->interval = perf_interval(&now, &before);
    }
    values->why_no_before = !sample ? PERF_NONE_DAMAGED : previous ? PERF_NONE_SAMPLE_DROPPED : PERF_NONE_FIRST_SAMPLE;
}

/* --- Tables of a block ----------------------------------------------------------------------------------------- */

static perf_instance_key key_of_walk(const perf_walk *walk)
{
    return (perf_instance_key){
        .name = walk->data + walk->instance.name, .name_size = walk->instance.name_size, .id = walk->instance.id};
}

static void fill_rows(pcq_rows *rows, perf_walk *walk)
{
    perf_walk_event step;
    uint32_t missing = 0, first = 0;

    while ((step = perf_walk_next(walk)) != PERF_WALK_END) {
        if (step == PERF_WALK_COUNTERS) {
            rows->columns = walk->counters.count;
            rows->ids = walk->counters.ids;
        } else if (step == PERF_WALK_INSTANCE) {
            perf_instance_key key = key_of_walk(walk);
            perf_instances_add(&rows->instances, &key);
            first = (perf_instances_count(&rows->instances) - 1) * rows->columns;
        } else if (step == PERF_WALK_VALUE) {
            while (wmem_array_get_count(rows->values) < first + walk->value.column) {
                wmem_array_append_one(rows->values, missing);
            }
            wmem_array_append_one(rows->values, walk->value.offset);
        }
    }
}

static pcq_rows *rows_of(pcq_values *values, pcq_side *side, uint32_t block)
{
    perf_walk walk;

    if (side->rows[block] == NULL) {
        pcq_rows *rows = side->rows[block] = wmem_new0(values->pool, pcq_rows);
        rows->columns = 1;
        rows->values = wmem_array_new(values->pool, sizeof(uint32_t));
        perf_instances_init(&rows->instances, values->pool);
        perf_walk_block(&walk, side->bytes, side->size, side->offsets[block]);
        perf_walk_next(&walk);
        rows->type = walk.block.type;
        fill_rows(rows, &walk);
        perf_instances_index(&rows->instances);
    }
    return side->rows[block];
}

/* Column of a counter in a block, UINT32_MAX if the block does not have it. */
static uint32_t column_of(pcq_values *values, pcq_side *side, uint32_t block, uint32_t counter_id)
{
    pcq_rows *rows = rows_of(values, side, block);

    if (rows->ids == 0) {
        return side->assigned.blocks[block]->counter_id == counter_id ? 0 : UINT32_MAX;
    }
    if (rows->by_id == NULL) {
        rows->by_id = wmem_map_new(values->pool, g_direct_hash, g_direct_equal);
        for (uint32_t column = rows->columns; column-- > 0;) {
            uint32_t id = perf_le32(side->bytes + rows->ids + 4 * column);
            wmem_map_insert(rows->by_id, GUINT_TO_POINTER(id), GUINT_TO_POINTER(column + 1));
        }
    }
    return GPOINTER_TO_UINT(wmem_map_lookup(rows->by_id, GUINT_TO_POINTER(counter_id))) - 1;
}

static bool same_instance(const perf_instance_key *a, const perf_instance_key *b)
{
    return perf_instance_same_name(a, b) && (a->id == b->id || a->id == PERF_NO_ID || b->id == PERF_NO_ID) &&
           a->ordinal == b->ordinal;
}

/* Row of an instance, UINT32_MAX if the block does not have it. `hint` is where it may well be. */
static uint32_t row_of(const pcq_rows *rows, const perf_instance_key *key, uint32_t hint)
{
    uint32_t count = perf_instances_count(&rows->instances);

    if (count == 0) {
        return rows->type == PERF_SINGLE_COUNTER || rows->type == PERF_MULTIPLE_COUNTERS ? 0 : UINT32_MAX;
    }
    if (hint < count && same_instance(&perf_instances_row(&rows->instances, hint)->key, key)) {
        return hint;
    }
    return key->id == PERF_NO_ID ? perf_instances_find_name(&rows->instances, key)
                                 : perf_instances_find(&rows->instances, key);
}

static perf_raw raw_at(const pcq_side *side, uint32_t offset)
{
    perf_raw raw = {0, 0};
    uint32_t size = offset > 0 ? perf_le32(side->bytes + offset) : 0;

    if (size == 4) {
        raw = (perf_raw){perf_le32(side->bytes + offset + PERF_COUNTER_DATA_SIZE), 4};
    } else if (size == 8) {
        raw = (perf_raw){perf_le64(side->bytes + offset + PERF_COUNTER_DATA_SIZE), 8};
    }
    return raw;
}

/* --- Finding a counter of an instance in a sample -------------------------------------------------------------- */

/* What is looked for: a counter of an instance, as the identifier of the value being calculated asked for it. */
typedef struct {
    const perf_identifier *identifier;
    uint32_t counter_id;
    perf_instance_key instance;
    uint32_t block; /* where it may well be */
    uint32_t row;
} wanted;

/* Number of the block that an identifier like `sought` asked for, UINT32_MAX if there is none. */
static uint32_t block_for(pcq_values *values, pcq_side *side, const perf_identifier *sought, uint32_t hint)
{
    if (hint < side->assigned.count && side->assigned.blocks[hint] &&
        perf_identifier_equal(side->assigned.blocks[hint], sought)) {
        return hint;
    }
    if (side->by_identifier == NULL) {
        side->by_identifier = wmem_map_new(values->pool, perf_identifier_hash, perf_identifier_equal);
        for (uint32_t block = side->assigned.count; block-- > 0;) {
            if (side->assigned.blocks[block]) {
                wmem_map_insert(side->by_identifier, side->assigned.blocks[block], GUINT_TO_POINTER(block + 1));
            }
        }
    }
    return GPOINTER_TO_UINT(wmem_map_lookup(side->by_identifier, sought)) - 1;
}

/* Takes the value from a block if it has the counter and the instance. `has_counter` is set if the counter is there,
 * whether the instance is or not. */
static bool take_from(pcq_values *values, pcq_side *side, uint32_t block, const wanted *want, perf_raw *raw,
                      bool *has_counter)
{
    uint32_t column = column_of(values, side, block, want->counter_id);

    if (column == UINT32_MAX) {
        return false;
    }
    *has_counter = true;
    const pcq_rows *rows = rows_of(values, side, block);
    uint32_t row = row_of(rows, &want->instance, want->row);
    uint64_t cell = (uint64_t)row * rows->columns + column;
    if (row == UINT32_MAX || cell >= wmem_array_get_count(rows->values)) {
        return false;
    }
    *raw = raw_at(side, *(uint32_t *)wmem_array_index(rows->values, (unsigned)cell));
    return raw->size > 0;
}

/* Blocks with instance headers that patterns asked for. */
static wmem_array_t *pattern_blocks(pcq_values *values, pcq_side *side)
{
    if (side->pattern_blocks == NULL) {
        side->pattern_blocks = wmem_array_new(values->pool, sizeof(uint32_t));
        for (uint32_t block = 0; block < side->assigned.count; block++) {
            const perf_identifier *identifier = side->assigned.blocks[block];
            if (identifier && identifier->instance && strpbrk(identifier->instance, "*?") &&
                wmem_array_get_count(side->pattern_blocks) < MAX_PATTERN_BLOCKS) {
                wmem_array_append_one(side->pattern_blocks, block);
            }
        }
    }
    return side->pattern_blocks;
}

/* Any other pattern may have brought the instance, too. */
static bool find_by_other_patterns(pcq_values *values, pcq_side *side, const wanted *want, perf_raw *raw,
                                   bool *has_counter)
{
    wmem_array_t *blocks = pattern_blocks(values, side);

    for (unsigned i = 0; i < wmem_array_get_count(blocks); i++) {
        uint32_t block = *(uint32_t *)wmem_array_index(blocks, i);
        const perf_identifier *identifier = side->assigned.blocks[block];
        if (memcmp(identifier->guid, want->identifier->guid, sizeof identifier->guid) == 0 &&
            take_from(values, side, block, want, raw, has_counter)) {
            return true;
        }
    }
    return false;
}

/* The counter may stand in the block of the same identifier, of one for all counters, for all instances, or for this
 * very instance. */
static bool find_raw(pcq_values *values, pcq_side *side, const wanted *want, perf_raw *raw, bool *has_counter)
{
    static const uint8_t star[2] = {'*', 0};
    const uint32_t counters[] = {want->counter_id, PERF_NO_ID};
    struct {
        const uint8_t *name;
        uint32_t size;
        uint32_t id;
    } const patterns[] = {
        {want->identifier->utf16, want->identifier->utf16_size, want->identifier->instance_id},
        {want->instance.name, want->instance.name_size, PERF_NO_ID},
        {want->instance.name, want->instance.name_size, want->instance.id},
        {star, sizeof star, PERF_NO_ID},
    };

    for (unsigned p = 0; p < array_length(patterns); p++) {
        for (unsigned c = 0; c < array_length(counters); c++) {
            perf_identifier sought = *want->identifier;
            sought.counter_id = counters[c];
            sought.utf16 = patterns[p].name;
            sought.utf16_size = patterns[p].size;
            sought.instance_id = patterns[p].id;
            uint32_t block = block_for(values, side, &sought, want->block);
            if (block != UINT32_MAX && take_from(values, side, block, want, raw, has_counter)) {
                return true;
            }
        }
    }
    return find_by_other_patterns(values, side, want, raw, has_counter);
}

/* The same without indexes, for one value: the block of the same identifier is searched from its beginning. */
static bool find_raw_by_search(pcq_values *values, pcq_side *side, const wanted *want, uint32_t column, perf_raw *raw)
{
    uint32_t block = block_for(values, side, want->identifier, want->block);
    perf_walk walk;
    perf_walk_event step;
    bool here = true;

    if (block == UINT32_MAX) {
        return false;
    }
    perf_walk_block(&walk, side->bytes, side->size, side->offsets[block]);
    perf_walk_next(&walk);
    while ((step = perf_walk_next(&walk)) != PERF_WALK_END) {
        if (step == PERF_WALK_INSTANCE) {
            perf_instance_key key = key_of_walk(&walk);
            here = same_instance(&key, &want->instance);
        } else if (step == PERF_WALK_VALUE && here && walk.value.column == column &&
                   (walk.counters.ids == 0 || perf_walk_counter_id(&walk, column) == want->counter_id)) {
            *raw = raw_at(side, walk.value.offset);
            return raw->size > 0;
        }
    }
    return false;
}

/* --- One value ------------------------------------------------------------------------------------------------- */

static void look_up_column(pcq_values *values, const perf_identifier *identifier, uint32_t id, counter_column *column)
{
    perf_subject subject;

    column->looked_up = true;
    column->id = id;
    column->none = PERF_NONE_COUNTER_NOT_KNOWN;
    if (identifier == NULL) {
        return;
    }
    memcpy(subject.guid, identifier->guid, 16);
    subject.id = id;
    perf_known known = perf_lookup_counter(values->server, &subject, values->event);
    if (!known.fact) {
        column->none = PERF_NONE_TYPE_NOT_LEARNED;
        return;
    }
    column->info = known.fact->counter;
    column->type = perf_counter_type_find(column->info.type);
    column->none = column->type ? PERF_NONE_OK : PERF_NONE_UNKNOWN_TYPE;
}

static counter_column *column_of_value(pcq_values *values, const perf_walk *walk)
{
    const perf_identifier *identifier = values->now.assigned.blocks[walk->block.index];
    uint32_t at = walk->value.column;

    if (values->columns_block != walk->block.index) {
        values->columns_block = walk->block.index;
        values->columns = wmem_new0(values->pool, struct pcq_columns);
        values->columns->count = walk->counters.count;
        values->columns->column = wmem_alloc0_array(values->pool, counter_column, walk->counters.count);
    }
    counter_column *column = &values->columns->column[at];
    if (!column->looked_up) {
        uint32_t id = walk->counters.ids != 0 ? perf_walk_counter_id(walk, at)
                      : identifier            ? identifier->counter_id
                                              : PERF_NO_ID;
        look_up_column(values, identifier, id, column);
    }
    return column;
}

static uint32_t row_in_block(const perf_walk *walk)
{
    return walk->instance.index == PERF_NO_INSTANCE ? 0 : walk->instance.index;
}

static perf_instance_key instance_of(pcq_values *values, const perf_walk *walk, const perf_identifier *identifier)
{
    perf_instance_key key = {
        .name = identifier->utf16, .name_size = identifier->utf16_size, .id = identifier->instance_id};

    if (walk->instance.index != PERF_NO_INSTANCE) {
        key = key_of_walk(walk);
        if (!values->single) {
            const pcq_rows *rows = rows_of(values, &values->now, walk->block.index);
            key.ordinal = perf_instances_row(&rows->instances, walk->instance.index)->key.ordinal;
        }
    }
    return key;
}

static void find_operands(pcq_values *values, pcq_side *side, const wanted *value, const counter_column *column,
                          perf_point *point)
{
    unsigned flags = perf_formulas[column->type->formula].flags;
    const struct {
        unsigned flag;
        uint32_t id;
        perf_raw *raw;
    } operands[] = {
        {PERF_NEEDS_BASE, column->info.base_id, &point->base},
        {PERF_NEEDS_TIME, column->info.time_id, &point->time},
        {PERF_NEEDS_FREQ, column->info.freq_id, &point->freq},
        {PERF_NEEDS_MULTI, column->info.multi_id, &point->multi},
    };

    for (unsigned i = 0; i < array_length(operands); i++) {
        if ((flags & operands[i].flag) && operands[i].id != PERF_NO_ID) {
            wanted operand = *value;
            bool has_counter = false;
            operand.counter_id = operands[i].id;
            find_raw(values, side, &operand, operands[i].raw, &has_counter);
        }
    }
}

static bool find_previous(pcq_values *values, const perf_walk *walk, const wanted *want, perf_raw *raw,
                          bool *has_counter)
{
    *has_counter = true;
    if (values->single && find_raw_by_search(values, &values->before, want, walk->value.column, raw)) {
        return true;
    }
    *has_counter = false;
    return find_raw(values, &values->before, want, raw, has_counter);
}

static perf_result calculate(pcq_values *values, const perf_walk *walk, const perf_identifier *identifier,
                             const counter_column *column, perf_raw raw)
{
    perf_point now, before;
    perf_none why = values->why_no_before;
    bool has_before = false;
    wanted want = {identifier, column->id, instance_of(values, walk, identifier), walk->block.index,
                   row_in_block(walk)};

    set_clocks(&now, &values->now);
    now.value = raw;
    find_operands(values, &values->now, &want, column, &now);
    if (values->before.bytes && (perf_formulas[column->type->formula].flags & PERF_NEEDS_PREVIOUS)) {
        bool has_counter;
        set_clocks(&before, &values->before);
        has_before = find_previous(values, walk, &want, &before.value, &has_counter);
        why = has_counter ? PERF_NONE_NEW_INSTANCE : PERF_NONE_NEW_COUNTER;
        find_operands(values, &values->before, &want, column, &before);
    }
    return perf_calculate(column->type, &now, has_before ? &before : NULL, why);
}

/* Text whose type nobody told: an even number of bytes that are neither of a number's lengths, characters up to a
 * terminator at their end. */
static bool looks_like_text(const uint8_t *bytes, uint32_t size)
{
    if (size < 4 || size == 4 || size == 8 || size % 2 != 0 || perf_le16(bytes + size - 2) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < size - 2; i += 2) {
        if (perf_le16(bytes + i) < 0x20) {
            return false;
        }
    }
    return true;
}

void pcq_values_get(pcq_values *values, const perf_walk *walk, pcq_value *value)
{
    const counter_column *column = column_of_value(values, walk);
    perf_raw raw = raw_at(&values->now, walk->value.offset);

    memset(value, 0, sizeof *value);
    value->identifier = values->now.assigned.blocks[walk->block.index];
    value->counter_id = column->id;
    value->type = column->type;
    value->is_number = raw.size > 0;
    value->raw = raw.value;
    value->is_text = column->type ? column->type->kind == PERF_KIND_TEXT
                                  : looks_like_text(walk->data + walk->value.data, walk->value.data_size);
    if (value->is_text) {
        value->is_number = false;
    } else if (column->none != PERF_NONE_OK) {
        value->result.none = column->none;
    } else if (raw.size == 0) {
        value->result.none = PERF_NONE_SIZE;
    } else {
        value->result = calculate(values, walk, value->identifier, column, raw);
    }
}

/* --- Paths ----------------------------------------------------------------------------------------------------- */

static void prepare_labels(pcq_values *values, const perf_identifier *identifier)
{
    struct pcq_columns *columns = values->columns;
    perf_subject subject;

    if (columns->set_label) {
        return;
    }
    memcpy(subject.guid, identifier->guid, 16);
    subject.id = PERF_NO_ID;
    perf_known set = perf_lookup_set(values->server, &subject, values->event);
    columns->set_label = pcq_counterset_label(values->pool, values->server, identifier->guid, values->event);
    columns->no_parentheses = set.fact && set.fact->instance_type == 0;
}

/* Name of the instance for the path, NULL if it has none. */
static const char *path_instance(pcq_values *values, const perf_walk *walk, const perf_identifier *identifier)
{
    struct pcq_columns *columns = values->columns;

    if (columns->no_parentheses) {
        return NULL;
    }
    if (walk->instance.index == PERF_NO_INSTANCE) {
        return identifier->instance;
    }
    if (columns->instance_name == NULL || columns->instance_offset != walk->instance.offset) {
        uint32_t ordinal = 0;
        const char *name = (const char *)get_utf_16_string(values->pool, walk->data + walk->instance.name,
                                                           (int)walk->instance.name_size, ENC_LITTLE_ENDIAN);
        if (!values->single) {
            const pcq_rows *rows = rows_of(values, &values->now, walk->block.index);
            ordinal = perf_instances_row(&rows->instances, walk->instance.index)->name_ordinal;
        }
        columns->instance_offset = walk->instance.offset;
        columns->instance_name = ordinal > 0 ? wmem_strdup_printf(values->pool, "%s#%u", name, ordinal) : name;
    }
    return columns->instance_name;
}

const char *pcq_values_path(pcq_values *values, const perf_walk *walk, const pcq_value *value)
{
    counter_column *column = column_of_value(values, walk);

    if (value->identifier == NULL) {
        return NULL;
    }
    prepare_labels(values, value->identifier);
    if (column->label == NULL) {
        column->label =
            pcq_counter_label(values->pool, values->server, value->identifier->guid, column->id, values->event);
    }
    const char *instance = path_instance(values, walk, value->identifier);
    return wmem_strconcat(values->pool, "\\\\", values->machine, "\\", values->columns->set_label,
                          instance ? "(" : "\\", instance ? instance : column->label, instance ? ")\\" : NULL,
                          column->label, NULL);
}

/* Digits in groups of three, as perfmon shows them. */
static const char *grouped(wmem_allocator_t *pool, const char *digits)
{
    wmem_strbuf_t *text = wmem_strbuf_new(pool, NULL);
    size_t whole = strcspn(digits, ".");
    size_t sign = *digits == '-' ? 1 : 0;

    for (size_t i = 0; digits[i]; i++) {
        if (i > sign && i < whole && (whole - i) % 3 == 0) {
            wmem_strbuf_append_c(text, ',');
        }
        wmem_strbuf_append_c(text, digits[i]);
    }
    return wmem_strbuf_get_str(text);
}

const char *pcq_result_text(wmem_allocator_t *pool, const perf_counter_type *type, double value)
{
    if (type->hex) {
        return wmem_strdup_printf(pool, "0x%" PRIx64, (uint64_t)value);
    }
    const char *digits =
        grouped(pool, wmem_strdup_printf(pool, type->kind == PERF_KIND_NUMBER ? "%.0f" : "%.1f", value));
    return *type->unit ? wmem_strdup_printf(pool, "%s %s", digits, type->unit) : digits;
}
