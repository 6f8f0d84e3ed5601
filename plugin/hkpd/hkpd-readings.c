/* hkpd-readings.c
 * PERF_DATA_BLOCK as a stream of readings.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-readings.h"

#include "hkpd/hkpd-tables.h"

/* The layout's part of a stream. */
typedef struct {
    perf_block_walk walk;
    hkpd_side *now;
    wmem_map_t *sides; /* state_sample -> hkpd_side: the samples before */
    /* of the object that the walk is in */
    hkpd_table *table;
    hkpd_table *table_before; /* NULL without one */
    uint64_t parents_size;    /* bytes of the parents' names that were put before their children's */
} hkpd_stream;

/* What they may take, beside twice the answer's bytes. */
#define PARENTS_AT_LEAST 65536

static hkpd_stream *stream_of(const readings *r)
{
    return r->own;
}

const perf_block_walk *hkpd_readings_walk(const readings *r)
{
    return &stream_of(r)->walk;
}

void hkpd_readings_skip_values(readings *r)
{
    perf_block_skip_values(&stream_of(r)->walk);
}

/* --- Names ------------------------------------------------------------------------------------------------------- */

static unsigned byte_order(const perf_block_walk *walk)
{
    return walk->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;
}

/* A name that lies in the answer. */
static const char *name_text(readings *r, const perf_block_walk *object, const reading_name *name, unsigned most)
{
    return text_get(r->pool, r->answer.tvb, (uint32_t)(name->bytes - r->bytes), name->size, object->object.code_page,
                    byte_order(object), most);
}

/* A parent's name stands in an answer once, however many children it has: once their names have taken twice the answer's
 * bytes they show its beginning. */
static const char *parent_text(readings *r, const perf_block_walk *object, const reading_name *name)
{
    hkpd_stream *stream = stream_of(r);
    bool is_left = stream->parents_size < 2 * (uint64_t)r->size + PARENTS_AT_LEAST;
    const char *text = name_text(r, object, name, is_left ? PERF_NAME_MAX : READINGS_SHORT_NAME);

    stream->parents_size += strlen(text);
    return text;
}

/* --- Objects ----------------------------------------------------------------------------------------------------- */

static const char *machine_of(readings *r)
{
    perf_block_walk walk;

    perf_block_init(&walk, r->bytes, r->size);
    if (perf_block_next(&walk) != PERF_BLOCK_HEADER || walk.header.name_size == 0) {
        return NULL;
    }
    const char *name = text_get(r->pool, r->answer.tvb, walk.header.name, walk.header.name_size, PERF_CODE_PAGE_UTF16,
                                byte_order(&walk), PERF_NAME_MAX);
    return name + strspn(name, "\\");
}

static void begin(readings *r)
{
    hkpd_stream *stream = r->own = wmem_new0(r->pool, hkpd_stream);

    r->machine = machine_of(r);
    stream->now = hkpd_side_new(r->pool, r->bytes, r->size);
    stream->sides = wmem_map_new(r->pool, g_direct_hash, g_direct_equal);
    r->now = &stream->now->base;
    perf_block_init(&stream->walk, r->bytes, r->size);
}

static hkpd_side *side_of(readings *r, const state_sample *sample)
{
    hkpd_stream *stream = stream_of(r);
    hkpd_side *side = wmem_map_lookup(stream->sides, sample);

    if (side == NULL) {
        side = hkpd_side_of_sample(stream->now, sample);
        wmem_map_insert(stream->sides, sample, side);
    }
    return side;
}

/* The answers to one handle hold now these objects, now those: each has a sample before of its own. */
static void enter_object(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    uint32_t number = stream->walk.object.number;
    const state_sample *sample = r->answer.sample;
    const state_sample *previous = sample_before(sample, number);
    bool follows = sample_object_marks(sample, number) & PERF_OBJECT_FOLLOWS;

    readings_enter(r, number);
    readings_pair(r, NULL, 0);
    stream->table = NULL;
    stream->table_before = NULL;
    r->why_no_before = !sample ? readings_no_sample(r) : follows ? PERF_NONE_SAMPLE_DROPPED : PERF_NONE_FIRST_SAMPLE;
    if (previous) {
        hkpd_side *before = side_of(r, previous);
        readings_pair(r, &before->base, previous->frame);
        stream->table_before = hkpd_side_table_of(before, stream->walk.object.index);
    }
}

static void open_table(readings *r)
{
    stream_of(r)->table = hkpd_side_table(stream_of(r)->now, r->number);
    r->table = &stream_of(r)->table->base;
}

static const hkpd_column *column_of(readings *r)
{
    readings_table(r);
    return hkpd_table_column(stream_of(r)->table, r->at.column);
}

/* --- Names and types --------------------------------------------------------------------------------------------- */

static void know(readings *r)
{
    const hkpd_column *column = column_of(r);
    reading_counter *counter = r->at.counter;

    counter->id = column->title_index;
    counter->type = column->known_type;
    counter->none = column->known_type ? PERF_NONE_OK : PERF_NONE_UNKNOWN_TYPE;
}

static const char *label(readings *r)
{
    return facts_title_label(r->pool, r->answer.server, readings_known_counter(r)->id, r->names_event);
}

static void name_set(readings *r)
{
    const char *name = facts_title_label(r->pool, r->answer.server, stream_of(r)->walk.object.index, r->names_event);

    r->set_label = readings_bounded(r->pool, name);
    r->has_instances = stream_of(r)->walk.object.num_instances >= 0;
}

const char *hkpd_readings_instance(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    const perf_block_walk *walk = &stream->walk;
    const reading_name name = {walk->data + walk->instance.name, walk->instance.name_size, 0};
    reading_name parent;
    const reading_instance *row = reading_table_named(readings_table(r), walk->instance.number);
    const char *text = name_text(r, walk, &name, PERF_NAME_MAX);
    const hkpd_table *object;

    if (hkpd_parent_name(stream->now, walk, &object, &parent)) {
        text = wmem_strconcat(r->pool, parent_text(r, &object->walk, &parent), "/", text, NULL);
    }
    return readings_with_ordinal(r->pool, text, row ? row->name_ordinal : 0);
}

/* --- Values ------------------------------------------------------------------------------------------------------ */

static bool is_plain(const uint8_t *bytes, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        if (bytes[i] < 0x20 || bytes[i] > 0x7E) {
            return false;
        }
    }
    return true;
}

#define MOST_OF_TEXT (2 * PERF_NAME_MAX + 4)

/* Samba sends ASCII where the type says UTF-16: no UTF-16 but a character or two has two printable bytes in every
 * unit. */
static void take_text(readings *r, const perf_block_walk *walk, uint32_t type)
{
    const uint8_t *text = walk->data + walk->value.offset;
    uint32_t size = walk->value.size;
    uint32_t narrow = 0, wide = 0;

    /* values may overlap: once that has cost as much as the answer is long, no more is read of each than a name has */
    if (readings_raw_size(r) < size) {
        size = size < MOST_OF_TEXT ? size : MOST_OF_TEXT;
    }
    while (narrow < size && text[narrow] != 0) {
        narrow++;
    }
    while (wide + 1 < size && (text[wide] != 0 || text[wide + 1] != 0)) {
        wide += 2;
    }
    bool terminated = wide + 1 < size;
    uint32_t too_short = terminated ? 4 : size % 2 == 0 ? 1 : 0;
    bool is_narrow = (type & PERF_TEXT_IN_CODE_PAGE) || (is_plain(text, narrow) && narrow > too_short);
    r->at.text_size = is_narrow ? narrow : wide;
    r->at.code_page = is_narrow && !text_is_wide(walk->object.code_page) ? walk->object.code_page
                      : is_narrow                                        ? PERF_CODE_PAGE_ASCII
                                                                         : PERF_CODE_PAGE_UTF16;
    r->at.byte_order = byte_order(walk);
}

static perf_raw number_of(const perf_block_walk *walk, const hkpd_column *column)
{
    uint32_t size = walk->value.size > 0 ? hkpd_number_size(column) : 0;

    if (size == 4) {
        return (perf_raw){perf_block_u32(walk, walk->value.offset), 4};
    }
    return size == 8 ? (perf_raw){perf_block_u64(walk, walk->value.offset), 8} : (perf_raw){0, 0};
}

static void take_value(readings *r)
{
    const perf_block_walk *walk = &stream_of(r)->walk;
    reading *at = &r->at;

    if (r->counters == NULL) {
        r->counters = wmem_alloc0_array(r->pool, reading_counter, walk->object.num_definitions);
    }
    at->row = walk->instance.number == PERF_NO_INSTANCE_NUMBER ? 0 : walk->instance.number;
    at->column = walk->value.column;
    at->offset = walk->value.offset;
    at->size = walk->value.size;
    at->counter = &r->counters[at->column];
    const hkpd_column *column = column_of(r);
    at->is_text = perf_counter_type_is_text(column->type);
    if (at->is_text) {
        take_text(r, walk, column->type);
    }
    readings_take(r, number_of(walk, column));
}

perf_block_event hkpd_readings_event(readings *r)
{
    perf_block_event event = perf_block_next(&stream_of(r)->walk);

    if (event == PERF_BLOCK_OBJECT) {
        enter_object(r);
    } else if (event == PERF_BLOCK_VALUE) {
        take_value(r);
    }
    return event;
}

static bool next(readings *r)
{
    perf_block_event event;

    while ((event = hkpd_readings_event(r)) != PERF_BLOCK_END) {
        if (event == PERF_BLOCK_VALUE) {
            return true;
        }
    }
    return false;
}

/* --- Operands ---------------------------------------------------------------------------------------------------- */

static bool find_before(readings *r, reading_place *place, bool *has_counter)
{
    hkpd_table *before = stream_of(r)->table_before;

    if (before == NULL) {
        return false;
    }
    place->table = &before->base;
    place->column = hkpd_table_find(before, column_of(r), r->at.column);
    *has_counter = place->column != UINT32_MAX;
    place->row = *has_counter ? reading_table_pair(readings_table(r), r->at.row, place->table) : UINT32_MAX;
    if (place->row == UINT32_MAX) {
        return false;
    }
    place->raw = reading_table_cell(place->table, place->row, place->column);
    return true;
}

static perf_raw number_from(uint64_t value)
{
    return (perf_raw){value, value != 0 ? 8 : 0};
}

/* The base is the next definition's value; the multi counter is that too if it says so, else the 32-bit number behind the
 * timer. */
static perf_raw operand(readings *r _U_, reading_side *side _U_, const reading_place *place, unsigned need)
{
    hkpd_table *table = (hkpd_table *)place->table;
    const hkpd_column *column = hkpd_table_column(table, place->column);
    const hkpd_column *next_column = hkpd_table_column(table, place->column + 1);
    bool is_base = next_column && next_column->known_type && next_column->known_type->kind == PERF_KIND_BASE;
    bool is_multi = next_column && next_column->type == PERF_COUNTER_MULTI_BASE;

    switch (need) {
    case PERF_NEEDS_TIME:
        return number_from(table->perf_time);
    case PERF_NEEDS_FREQ:
        return number_from(table->perf_freq);
    case PERF_NEEDS_MULTI:
        if (!is_multi) {
            return hkpd_table_number(table, place->row, (uint64_t)column->offset + hkpd_number_size(column), 4);
        }
        break;
    default:
        break;
    }
    return is_base ? reading_table_cell(place->table, place->row, place->column + 1) : (perf_raw){0, 0};
}

static bool is_doubtful(readings *r)
{
    const state_sample *sample = r->answer.sample;

    return sample_object_marks(sample, r->number) & PERF_OBJECT_DOUBTFUL;
}

const readings_layout hkpd_readings_layout = {
    begin, next, know, label, name_set, open_table, find_before, operand, hkpd_readings_instance, is_doubtful,
};
