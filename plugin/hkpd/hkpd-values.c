/* hkpd-values.c
 * The stream of values of a PERF_DATA_BLOCK: what each value means.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-values.h"

#include "readings/instances.h"

/* A row of an object: an instance, or the one counter block of an object without instances. */
typedef struct {
    uint32_t counters; /* offset of the counter block, 0: there is none */
    uint32_t counters_size;
    uint32_t name;
    uint32_t name_size;
    uint32_t name_ordinal; /* among the same names of its object, whatever the parents */
    uint32_t unique_id;
    uint32_t parent_object;
    uint32_t parent_instance;
} object_row;

typedef struct {
    uint32_t title_index; /* CounterNameTitleIndex */
    uint32_t type;
    uint32_t size;
    uint32_t offset;
    uint64_t key; /* index, and the ordinal among those with the same index */
    const perf_counter_type *known_type;
    /* made when needed */
    const char *label;
    bool before_looked_up;
    uint32_t before; /* column in the sample before, UINT32_MAX if it is not there */
} object_column;

/* An object of a sample as a table: a row for each instance, a column for each counter. */
typedef struct hkpd_table {
    perf_block_walk at; /* just behind the object's event */
    uint32_t title_index;
    uint64_t perf_time;
    uint64_t perf_freq;
    const char *label;
    wmem_array_t *columns;     /* object_column; made when needed, as what follows */
    wmem_map_t *by_counter;    /* object_column's key -> column + 1 */
    wmem_array_t *rows;        /* object_row */
    perf_instances *instances; /* the same rows, as the other sample finds them */
} hkpd_table;

/* One of the samples. */
typedef struct hkpd_side {
    const uint8_t *bytes;
    uint64_t perf_time;
    uint64_t perf_freq;
    uint64_t time_100ns;
    wmem_array_t *tables; /* hkpd_table *, in the order of the block */
    wmem_map_t *by_index; /* title index -> hkpd_table *, the first of them */
} hkpd_side;

/* Which instance a parent is, for all samples the same; or only what its name is. */
typedef struct {
    uint32_t object;
    const uint8_t *name; /* NULL: it could not be found, its number in its object must do */
    uint32_t name_size;
    uint32_t ordinal;
} parent_key;

#define ANY_ORDINAL UINT32_MAX

/* --- Text ------------------------------------------------------------------------------------------------------ */

unsigned hkpd_code_page_encoding(uint32_t code_page)
{
    static const struct {
        uint32_t code_page;
        unsigned encoding;
    } code_pages[] = {
        {437, ENC_CP437},         {855, ENC_CP855},        {866, ENC_CP866},         {874, ENC_ISO_8859_11},
        {936, ENC_GB18030},       {949, ENC_EUC_KR},       {1250, ENC_WINDOWS_1250}, {1251, ENC_WINDOWS_1251},
        {1252, ENC_WINDOWS_1252}, {28591, ENC_ISO_8859_1}, {28592, ENC_ISO_8859_2},  {28595, ENC_ISO_8859_5},
        {28597, ENC_ISO_8859_7},  {28599, ENC_ISO_8859_9}, {28605, ENC_ISO_8859_15}, {65001, ENC_UTF_8},
    };

    for (unsigned i = 0; i < array_length(code_pages); i++) {
        if (code_pages[i].code_page == code_page) {
            return code_pages[i].encoding;
        }
    }
    return ENC_ASCII;
}

static unsigned wide_encoding(const perf_block_walk *walk)
{
    return ENC_UTF_16 | (walk->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN);
}

static unsigned name_encoding(const perf_block_walk *walk)
{
    return perf_block_wide_names(walk) ? wide_encoding(walk) : hkpd_code_page_encoding(walk->object.code_page);
}

const char *hkpd_title_label(wmem_allocator_t *pool, perf_server *server, uint32_t title_index, uint32_t event)
{
    perf_subject subject = {{0}, title_index};
    perf_known known = perf_lookup_name(server, &subject, event);

    return known.fact ? known.fact->name : wmem_strdup_printf(pool, "#%u", title_index);
}

/* --- A sample and its objects ---------------------------------------------------------------------------------- */

static hkpd_table *new_table(wmem_allocator_t *pool, const perf_block_walk *walk)
{
    hkpd_table *table = wmem_new0(pool, hkpd_table);

    table->at = *walk;
    table->title_index = walk->object.index;
    table->perf_time = perf_block_u64(walk, walk->object.offset + 48);
    table->perf_freq = perf_block_u64(walk, walk->object.offset + 56);
    return table;
}

static hkpd_side *new_side(wmem_allocator_t *pool, const uint8_t *bytes, uint32_t size)
{
    hkpd_side *side = wmem_new0(pool, hkpd_side);
    perf_block_walk walk;
    perf_block_event event;

    side->bytes = bytes;
    side->tables = wmem_array_new(pool, sizeof(hkpd_table *));
    side->by_index = wmem_map_new(pool, g_direct_hash, g_direct_equal);
    perf_block_init(&walk, bytes, size);
    while ((event = perf_block_next(&walk)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_HEADER) {
            side->perf_time = perf_block_u64(&walk, 56);
            side->perf_freq = perf_block_u64(&walk, 64);
            side->time_100ns = perf_block_u64(&walk, 72);
        } else if (event == PERF_BLOCK_OBJECT) {
            hkpd_table *table = new_table(pool, &walk);
            wmem_array_append_one(side->tables, table);
            if (!wmem_map_contains(side->by_index, GUINT_TO_POINTER(table->title_index))) {
                wmem_map_insert(side->by_index, GUINT_TO_POINTER(table->title_index), table);
            }
            perf_block_skip_object(&walk);
        }
    }
    return side;
}

static hkpd_table *table_at(const hkpd_side *side, uint32_t number)
{
    return number < wmem_array_get_count(side->tables) ? *(hkpd_table **)wmem_array_index(side->tables, number) : NULL;
}

static hkpd_table *table_of(const hkpd_side *side, uint32_t title_index)
{
    return wmem_map_lookup(side->by_index, GUINT_TO_POINTER(title_index));
}

/* --- Columns --------------------------------------------------------------------------------------------------- */

static uint64_t counter_key(wmem_map_t *ordinals, uint32_t title_index)
{
    uint32_t ordinal = GPOINTER_TO_UINT(wmem_map_lookup(ordinals, GUINT_TO_POINTER(title_index)));

    wmem_map_insert(ordinals, GUINT_TO_POINTER(title_index), GUINT_TO_POINTER(ordinal + 1));
    return (uint64_t)title_index << 32 | ordinal;
}

static void fill_columns(wmem_allocator_t *pool, hkpd_table *table)
{
    perf_block_walk walk = table->at;
    wmem_map_t *ordinals = wmem_map_new(pool, g_direct_hash, g_direct_equal);
    perf_block_event event;

    if (table->columns) {
        return;
    }
    table->columns = wmem_array_new(pool, sizeof(object_column));
    while ((event = perf_block_next(&walk)) == PERF_BLOCK_DEFINITION || event == PERF_BLOCK_FAULT) {
        uint32_t at = walk.definition.offset;
        if (event == PERF_BLOCK_DEFINITION && walk.definition.number < walk.object.num_definitions) {
            object_column column = {perf_block_u32(&walk, at + 4),
                                    perf_block_u32(&walk, at + 28),
                                    perf_block_u32(&walk, at + 32),
                                    perf_block_u32(&walk, at + 36),
                                    counter_key(ordinals, perf_block_u32(&walk, at + 4)),
                                    perf_counter_type_find(perf_block_u32(&walk, at + 28)),
                                    NULL,
                                    false,
                                    UINT32_MAX};
            wmem_array_append_one(table->columns, column);
        }
    }
}

static object_column *column_at(const hkpd_table *table, uint32_t column)
{
    return table && column < wmem_array_get_count(table->columns) ? wmem_array_index(table->columns, column) : NULL;
}

static bool same_counter(const object_column *a, const object_column *b)
{
    return a && b && a->key == b->key && a->type == b->type;
}

/* Column of the same counter in the sample before. */
static uint32_t column_before(hkpd_values *values, uint32_t at)
{
    object_column *column = column_at(values->table, at);
    hkpd_table *before = values->table_before;

    if (column->before_looked_up) {
        return column->before;
    }
    column->before_looked_up = true;
    fill_columns(values->pool, before);
    if (same_counter(column, column_at(before, at))) {
        return column->before = at;
    }
    if (before->by_counter == NULL) {
        before->by_counter = wmem_map_new(values->pool, g_int64_hash, g_int64_equal);
        for (uint32_t i = wmem_array_get_count(before->columns); i-- > 0;) {
            wmem_map_insert(before->by_counter, &column_at(before, i)->key, GUINT_TO_POINTER(i + 1));
        }
    }
    uint32_t found = GPOINTER_TO_UINT(wmem_map_lookup(before->by_counter, &column->key)) - 1;
    return column->before = same_counter(column, column_at(before, found)) ? found : UINT32_MAX;
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static object_row row_of_walk(const perf_block_walk *walk)
{
    return (object_row){.name = walk->instance.name,
                        .name_size = walk->instance.name_size,
                        .unique_id = walk->instance.unique_id,
                        .parent_object = walk->instance.parent_object,
                        .parent_instance = walk->instance.parent_instance};
}

static void take_counters(wmem_array_t *rows, const perf_block_walk *walk)
{
    object_row without_instance = {0};

    if (walk->instance.number == PERF_NO_INSTANCE_NUMBER) {
        wmem_array_append_one(rows, without_instance);
    }
    object_row *row = wmem_array_index(rows, wmem_array_get_count(rows) - 1);
    row->counters = walk->counters.offset;
    row->counters_size = walk->counters.size;
}

static bool in_object(perf_block_event event)
{
    return event != PERF_BLOCK_END && event != PERF_BLOCK_OBJECT;
}

static unsigned parent_hash(const void *key)
{
    const parent_key *k = key;

    return (k->name && k->name_size > 0 ? wmem_strong_hash(k->name, k->name_size) : 0) + k->object * 31 +
           k->ordinal * 17;
}

static gboolean parent_equal(const void *a, const void *b)
{
    const parent_key *x = a, *y = b;

    return x->object == y->object && x->ordinal == y->ordinal && (x->name == NULL) == (y->name == NULL) &&
           x->name_size == y->name_size && (x->name_size == 0 || memcmp(x->name, y->name, x->name_size) == 0);
}

/* A number above 0 for a parent, the same one for the same parent. */
static uint32_t parent_number(hkpd_values *values, const parent_key *key)
{
    uint32_t number = GPOINTER_TO_UINT(wmem_map_lookup(values->parents, key));

    if (number == 0) {
        number = wmem_map_size(values->parents) + 1;
        wmem_map_insert(values->parents, wmem_memdup(values->pool, key, sizeof *key), GUINT_TO_POINTER(number));
    }
    return number;
}

/* How many rows of the same name came before, for each row. */
static void count_names(hkpd_values *values, const hkpd_side *side, hkpd_table *table)
{
    wmem_map_t *names = wmem_map_new(values->pool, parent_hash, parent_equal);

    for (unsigned i = 0; i < wmem_array_get_count(table->rows); i++) {
        object_row *row = wmem_array_index(table->rows, i);
        parent_key key = {0, side->bytes + row->name, row->name_size, 0};
        uint32_t count = GPOINTER_TO_UINT(wmem_map_lookup(names, &key));
        if (count == 0) {
            wmem_map_insert(names, wmem_memdup(values->pool, &key, sizeof key), GUINT_TO_POINTER(1));
        } else {
            wmem_map_insert(names, &key, GUINT_TO_POINTER(count + 1));
        }
        row->name_ordinal = count;
    }
}

/* The rows of an object with their names. */
static void fill_rows(hkpd_values *values, const hkpd_side *side, hkpd_table *table)
{
    perf_block_walk walk = table->at;
    perf_block_event event;

    if (table->rows) {
        return;
    }
    table->rows = wmem_array_new(values->pool, sizeof(object_row));
    while (in_object(event = perf_block_next(&walk))) {
        if (event == PERF_BLOCK_INSTANCE) {
            object_row row = row_of_walk(&walk);
            wmem_array_append_one(table->rows, row);
        } else if (event == PERF_BLOCK_COUNTERS) {
            take_counters(table->rows, &walk);
        } else if (event == PERF_BLOCK_VALUE) {
            perf_block_skip_values(&walk);
        }
    }
    count_names(values, side, table);
}

static object_row *row_at(const hkpd_table *table, uint32_t row)
{
    return row < wmem_array_get_count(table->rows) ? wmem_array_index(table->rows, row) : NULL;
}

/* The parent's row, NULL if the instance has no parent or the block does not hold it. */
static const object_row *parent_of(hkpd_values *values, const hkpd_side *side, const object_row *row)
{
    hkpd_table *table = row->parent_object != 0 ? table_of(side, row->parent_object) : NULL;

    if (table == NULL || table->at.object.num_instances < 0) {
        return NULL;
    }
    fill_rows(values, side, table);
    return row_at(table, row->parent_instance);
}

/* An instance is told by its UniqueID, else by its name, its parent and which of those alike it is. The parent's
 * number in its object changes as others come and go: it is told by its own name. */
static perf_instance_key key_of(hkpd_values *values, const hkpd_side *side, const object_row *row)
{
    perf_instance_key key = {
        side->bytes + row->name, row->name_size, row->unique_id, 0, 0, 0, row->unique_id != PERF_NO_UNIQUE_ID};
    const object_row *parent = parent_of(values, side, row);

    if (parent) {
        parent_key identity = {row->parent_object, side->bytes + parent->name, parent->name_size, parent->name_ordinal};
        key.parent = parent_number(values, &identity);
        identity.ordinal = ANY_ORDINAL;
        key.parent_name = parent_number(values, &identity);
    } else if (row->parent_object != 0) {
        parent_key identity = {row->parent_object, NULL, 0, row->parent_instance};
        key.parent = parent_number(values, &identity);
    }
    return key;
}

static perf_instances *instances_of(hkpd_values *values, const hkpd_side *side, hkpd_table *table)
{
    if (table->instances == NULL) {
        fill_rows(values, side, table);
        table->instances = wmem_new(values->pool, perf_instances);
        perf_instances_init(table->instances, values->pool);
        for (unsigned i = 0; i < wmem_array_get_count(table->rows); i++) {
            perf_instance_key key = key_of(values, side, row_at(table, i));
            perf_instances_add(table->instances, &key);
        }
        perf_instances_index(table->instances);
    }
    return table->instances;
}

/* The first row of an object, without looking at the others. */
static bool first_row(const hkpd_table *table, object_row *row)
{
    perf_block_walk walk = table->at;
    perf_block_event event;

    while (in_object(event = perf_block_next(&walk))) {
        if (event == PERF_BLOCK_COUNTERS) {
            *row = row_of_walk(&walk);
            row->counters = walk.counters.offset;
            row->counters_size = walk.counters.size;
            return walk.instance.number == PERF_NO_INSTANCE_NUMBER || walk.instance.number == 0;
        }
    }
    return false;
}

static bool looks_same(const hkpd_side *now, const object_row *a, const hkpd_side *before, const object_row *b)
{
    return a->unique_id == b->unique_id && a->parent_object == b->parent_object &&
           a->parent_instance == b->parent_instance && a->name_size == b->name_size &&
           memcmp(now->bytes + a->name, before->bytes + b->name, a->name_size) == 0;
}

/* The same instance in the sample before. */
static bool row_before(hkpd_values *values, const perf_block_walk *walk, object_row *row)
{
    hkpd_table *before = values->table_before;
    bool has_instances = walk->instance.number != PERF_NO_INSTANCE_NUMBER;
    uint32_t number = has_instances ? walk->instance.number : 0;

    if (has_instances != (before->at.object.num_instances >= 0)) {
        return false;
    }
    if (!has_instances || (values->single && number == 0)) {
        object_row now = row_of_walk(walk);
        if (first_row(before, row) && (!has_instances || looks_same(values->now, &now, values->before, row))) {
            return true;
        }
    }
    if (!has_instances) {
        return false;
    }
    const perf_instances *here = instances_of(values, values->now, values->table);
    const perf_instances *there = instances_of(values, values->before, before);
    uint32_t found = perf_instances_find(there, &perf_instances_row(here, number)->key);
    if (found != UINT32_MAX) {
        *row = *row_at(before, found);
    }
    return found != UINT32_MAX;
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

/* `size` bytes at an offset of a counter block as a number; size 0 if they are not a number or not there. */
static perf_raw number_at(const hkpd_table *table, const object_row *row, uint64_t offset, uint32_t size)
{
    perf_raw raw = {0, 0};
    uint32_t at = row->counters + (uint32_t)offset;

    if (row->counters == 0 || offset < PERF_COUNTER_BLOCK_SIZE || offset + size > row->counters_size) {
        return raw;
    }
    if (size == 4) {
        raw = (perf_raw){perf_block_u32(&table->at, at), 4};
    } else if (size == 8) {
        raw = (perf_raw){perf_block_u64(&table->at, at), 8};
    }
    return raw;
}

/* Some servers count the second value of a MULTI timer into its size. */
static uint32_t number_size(const object_column *column)
{
    return (column->type & PERF_MULTI) && column->size == 12 ? 8 : column->size;
}

static perf_raw raw_of(const hkpd_table *table, const object_row *row, const object_column *column)
{
    return number_at(table, row, column->offset, number_size(column));
}

/* What the formula needs beside the value: the base is the next definition's, the multi counter the 32-bit number
 * behind the timer. */
static void find_operands(const hkpd_side *side, const hkpd_table *table, const object_row *row, uint32_t at,
                          perf_point *point)
{
    const object_column *column = column_at(table, at), *next = column_at(table, at + 1);
    uint8_t time_size = table->perf_time != 0 ? 8 : 0;
    uint8_t freq_size = table->perf_freq != 0 ? 8 : 0;

    memset(point, 0, sizeof *point);
    point->perf_time = side->perf_time;
    point->perf_freq = side->perf_freq;
    point->time_100ns = side->time_100ns;
    point->time = (perf_raw){table->perf_time, time_size};
    point->freq = (perf_raw){table->perf_freq, freq_size};
    point->value = raw_of(table, row, column);
    point->multi = number_at(table, row, (uint64_t)column->offset + number_size(column), 4);
    if (next && next->known_type && next->known_type->kind == PERF_KIND_BASE) {
        point->base = raw_of(table, row, next);
    }
}

static perf_result calculate(hkpd_values *values, const perf_block_walk *walk, const object_column *column)
{
    perf_point now, before;
    object_row row = row_of_walk(walk), other;
    perf_none why = values->why_no_before;
    bool has_before = false;

    row.counters = walk->counters.offset;
    row.counters_size = walk->counters.size;
    find_operands(values->now, values->table, &row, walk->value.column, &now);
    if (values->table_before && (perf_formulas[column->known_type->formula].flags & PERF_NEEDS_PREVIOUS)) {
        uint32_t at = column_before(values, walk->value.column);
        why = at == UINT32_MAX ? PERF_NONE_NEW_COUNTER : PERF_NONE_NEW_INSTANCE;
        if (at != UINT32_MAX && row_before(values, walk, &other)) {
            find_operands(values->before, values->table_before, &other, at, &before);
            has_before = true;
        }
    }
    return perf_calculate(column->known_type, &now, has_before ? &before : NULL, why);
}

static bool is_plain(const uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        if (bytes[i] < 0x20 || bytes[i] > 0x7E) {
            return false;
        }
    }
    return true;
}

/* Samba sends ASCII where the type says UTF-16: no UTF-16 but a character or two has two printable bytes in every
 * unit. */
static void find_text(const perf_block_walk *walk, uint32_t type, hkpd_value *value)
{
    const uint8_t *text = walk->data + walk->value.offset;
    uint32_t size = walk->value.size;
    uint32_t narrow = 0, wide = 0;

    while (narrow < size && text[narrow] != 0) {
        narrow++;
    }
    while (wide + 1 < size && (text[wide] != 0 || text[wide + 1] != 0)) {
        wide += 2;
    }
    bool terminated = wide + 1 < size;
    bool is_narrow = (type & PERF_TEXT_IN_CODE_PAGE) || (is_plain(text, narrow) && narrow > (terminated      ? 4
                                                                                             : size % 2 == 0 ? 1
                                                                                                             : 0));
    value->text_size = is_narrow ? narrow : wide;
    value->encoding = is_narrow ? hkpd_code_page_encoding(walk->object.code_page) : wide_encoding(walk);
}

void hkpd_values_get(hkpd_values *values, const perf_block_walk *walk, hkpd_value *value)
{
    const object_column *column = column_at(values->table, walk->value.column);
    object_row row = {.counters = walk->counters.offset, .counters_size = walk->counters.size};

    memset(value, 0, sizeof *value);
    value->type = column->known_type;
    if (perf_counter_type_is_text(column->type)) {
        value->is_text = true;
        find_text(walk, column->type, value);
        return;
    }
    perf_raw raw = raw_of(values->table, &row, column);
    value->is_number = raw.size > 0;
    value->raw = raw.value;
    if (column->known_type == NULL) {
        value->result.none = PERF_NONE_UNKNOWN_TYPE;
    } else {
        value->result = calculate(values, walk, column);
    }
}

/* --- Paths ----------------------------------------------------------------------------------------------------- */

static const char *name_text(hkpd_values *values, const perf_block_walk *walk, uint32_t name, uint32_t size)
{
    return (const char *)tvb_get_string_enc(values->pool, values->tvb, name, size, name_encoding(walk));
}

static const char *instance_text(hkpd_values *values, const perf_block_walk *walk)
{
    object_row row = row_of_walk(walk);
    const object_row *parent = parent_of(values, values->now, &row);
    const char *name = name_text(values, walk, walk->instance.name, walk->instance.name_size);
    uint32_t ordinal = 0;

    if (parent) {
        const hkpd_table *object = table_of(values->now, row.parent_object);
        name = wmem_strdup_printf(values->pool, "%s/%s",
                                  name_text(values, &object->at, parent->name, parent->name_size), name);
    }
    if (!values->single || walk->instance.number > 0) {
        ordinal =
            perf_instances_row(instances_of(values, values->now, values->table), walk->instance.number)->name_ordinal;
    }
    return ordinal > 0 ? wmem_strdup_printf(values->pool, "%s#%u", name, ordinal) : name;
}

const char *hkpd_values_instance(hkpd_values *values, const perf_block_walk *walk)
{
    if (values->instance_text == NULL || values->instance_number != walk->instance.number) {
        values->instance_number = walk->instance.number;
        values->instance_text = instance_text(values, walk);
    }
    return values->instance_text;
}

const char *hkpd_values_path(hkpd_values *values, const perf_block_walk *walk)
{
    hkpd_table *table = values->table;
    object_column *column = column_at(table, walk->value.column);
    bool has_instances = walk->instance.number != PERF_NO_INSTANCE_NUMBER;

    if (table->label == NULL) {
        table->label = hkpd_title_label(values->pool, values->server, table->title_index, values->event);
    }
    if (column->label == NULL) {
        column->label = hkpd_title_label(values->pool, values->server, column->title_index, values->event);
    }
    if (!has_instances) {
        return wmem_strconcat(values->pool, "\\\\", values->machine, "\\", table->label, "\\", column->label, NULL);
    }
    return wmem_strconcat(values->pool, "\\\\", values->machine, "\\", table->label, "(",
                          hkpd_values_instance(values, walk), ")\\", column->label, NULL);
}

/* --- Beginning ------------------------------------------------------------------------------------------------- */

static double interval_between(const hkpd_side *now, const hkpd_side *before)
{
    perf_point a, b;

    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    a.perf_time = now->perf_time;
    a.perf_freq = now->perf_freq;
    a.time_100ns = now->time_100ns;
    b.perf_time = before->perf_time;
    b.perf_freq = before->perf_freq;
    b.time_100ns = before->time_100ns;
    return perf_interval(&a, &b);
}

static hkpd_side *side_of(hkpd_values *values, const perf_sample *sample)
{
    hkpd_side *side = wmem_map_lookup(values->sides, sample);

    if (side == NULL) {
        side = new_side(values->pool, sample->bytes, sample->size);
        wmem_map_insert(values->sides, sample, side);
    }
    return side;
}

void hkpd_values_object(hkpd_values *values, const perf_block_walk *walk)
{
    uint32_t number = walk->object.number;
    const perf_sample *sample = values->sample;
    const perf_object *previous = sample && number < sample->num_objects ? sample->objects[number].previous : NULL;

    values->table = table_at(values->now, number);
    fill_columns(values->pool, values->table);
    values->before = NULL;
    values->table_before = NULL;
    values->previous_frame = 0;
    values->interval = 0;
    values->instance_text = NULL;
    values->why_no_before = !sample ? PERF_NONE_DAMAGED : previous ? PERF_NONE_SAMPLE_DROPPED : PERF_NONE_FIRST_SAMPLE;
    if (previous && previous->sample->bytes) {
        values->before = side_of(values, previous->sample);
        values->table_before = table_of(values->before, values->table->title_index);
        values->previous_frame = previous->sample->frame;
        values->interval = interval_between(values->now, values->before);
    }
}

static const char *machine_of(const hkpd_values *values, const perf_block_walk *walk)
{
    const char *name = (const char *)tvb_get_string_enc(values->pool, values->tvb, walk->header.name,
                                                        walk->header.name_size, wide_encoding(walk));

    return name + strspn(name, "\\");
}

void hkpd_values_init(hkpd_values *values, wmem_allocator_t *pool, perf_server *server, const perf_sample *sample,
                      uint32_t event, tvbuff_t *tvb, bool single)
{
    uint32_t size = tvb_captured_length(tvb);
    const uint8_t *bytes = tvb_get_ptr(tvb, 0, (int)size);
    perf_block_walk walk;

    memset(values, 0, sizeof *values);
    values->pool = pool;
    values->server = server;
    values->sample = sample;
    values->event = event;
    values->tvb = tvb;
    values->single = single;
    values->now = new_side(pool, bytes, size);
    values->sides = wmem_map_new(pool, g_direct_hash, g_direct_equal);
    values->parents = wmem_map_new(pool, parent_hash, parent_equal);
    perf_block_init(&walk, bytes, size);
    if (perf_block_next(&walk) == PERF_BLOCK_HEADER && walk.header.name_size > 0) {
        values->machine = machine_of(values, &walk);
    }
    if (values->machine == NULL || *values->machine == '\0') {
        values->machine = perf_server_address(server);
    }
}
