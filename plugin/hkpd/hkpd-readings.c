/* hkpd-readings.c
 * PERF_DATA_BLOCK as a stream of readings, and its objects as tables of a sample.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd.h"

#include "readings/layout.h"

/* A counter as its definition says it. */
typedef struct hkpd_column {
    uint32_t title_index; /* CounterNameTitleIndex */
    bool has_other_help;  /* than the one behind its title */
    uint32_t type;
    uint32_t size;
    uint32_t offset;
    uint64_t name; /* index, and whether it is a base, which mostly has its counter's */
    const perf_counter_type *known_type;
    /* of an answer that is shown */
    const struct hkpd_column *before; /* in its place beside; NULL if that has another index, or others came or went */
    bool has_moved;                   /* since then, or until the next sample, or became another */
    bool has_twin, is_second;         /* another has the same index, but for a base, and stands before it */
} hkpd_column;

/* A row's counter block. */
typedef struct {
    uint32_t offset;
    uint32_t size; /* as the walk reads it; 0: there is none */
    bool is_doubtful;
} hkpd_cells;

typedef struct {
    reading_table base;
    uint32_t title_index;
    uint32_t code_page;
    bool has_values;
    perf_point clocks;               /* its own, too */
    wmem_array_t *columns;           /* hkpd_column */
    perf_block_walk walk;            /* behind the last row that was read */
    uint32_t own_id;                 /* column of the process' or thread's own id, UINT32_MAX without one */
    uint32_t process_id;             /* that of the process', also of threads; the same */
    uint32_t parent_object;          /* of the first row that has one, as all have that have one */
    bool parents_differ;             /* they have not */
    bool has_other_help;             /* as of a column */
    uint32_t own_helps, other_helps; /* columns that have the one behind it, and another */
    bool is_twice;                   /* another object of the sample has its index: one of both is another's */
    wmem_array_t *cells;             /* hkpd_cells of each row */
    perf_block_walk ahead;           /* the same for names, */
    bool names_read;
    bool names_lack;         /* one of them is not known */
    reading_instances names; /* by which children know their parents: they are told by no parent of their own */
} hkpd_table;

/* One of the samples. */
typedef struct {
    sample_view base;
    const readings *readings;
    perf_block_walk scout; /* behind the last object that was found */
    wmem_map_t *by_index;  /* title index -> the first such hkpd_table */
    bool has_other_help;   /* as of a column: one of its objects */
} hkpd_view;

/* --- Tables: objects --------------------------------------------------------------------------------------------- */

/* Title indexes, the same on every Windows; a thread has its process' id, too. */
enum { ID_PROCESS = 784, ID_THREAD = 804 };

static bool is_own_id(const hkpd_view *view, uint32_t title_index, uint32_t id, const char *title)
{
    const readings_answer *answer = &view->readings->answer;

    return title_index == id && facts_title_is(answer->server, id, title, answer->event);
}

/* Windows numbers titles in pairs, a name and its help. Of its own counters (up to 1847) some share a help. */
static bool has_other_help(uint32_t title_index, uint32_t help_index, uint32_t shared)
{
    return help_index != title_index + 1 && help_index != 0 &&
           (title_index == 0 || MAX(title_index, help_index) > shared);
}

static void add_column(hkpd_table *table, const perf_block_walk *walk)
{
    const hkpd_view *view = (const hkpd_view *)table->base.view;
    uint32_t at = walk->definition.offset, type = perf_block_u32(walk, at + 28);
    hkpd_column column = {
        .title_index = perf_block_u32(walk, at + 4),
        .has_other_help = has_other_help(perf_block_u32(walk, at + 4), perf_block_u32(walk, at + 12), 1847),
        .type = type,
        .size = perf_block_u32(walk, at + 32),
        .offset = perf_block_u32(walk, at + 36),
        .known_type = perf_counter_type_find(type),
    };

    column.name = (uint64_t)column.title_index << 1 | (column.known_type && column.known_type->kind == PERF_KIND_BASE);
    uint32_t number = wmem_array_get_count(table->columns);
    bool is_process_id = is_own_id(view, column.title_index, ID_PROCESS, "ID Process");
    bool is_thread_id = is_own_id(view, column.title_index, ID_THREAD, "ID Thread");
    table->own_id = is_thread_id || (table->own_id == UINT32_MAX && is_process_id) ? number : table->own_id;
    table->process_id = is_process_id ? number : table->process_id;
    table->other_helps += column.has_other_help;
    table->own_helps += perf_block_u32(walk, at + 12) == column.title_index + 1;
    wmem_array_append_one(table->columns, column);
}

/* PerfTime or PerfFreq of the object. */
static perf_raw clock_at(const perf_block_walk *walk, uint32_t offset)
{
    uint64_t number = perf_block_u64(walk, walk->object.offset + offset);

    return (perf_raw){number, number != 0 ? 8 : 0};
}

static hkpd_table *new_table(hkpd_view *view, const perf_block_walk *walk)
{
    hkpd_table *table = wmem_new0(view->base.pool, hkpd_table);

    readings_table_init(&table->base, &view->base, walk->object.number);
    table->base.has_instances = walk->object.num_instances >= 0;
    table->title_index = walk->object.index;
    table->has_other_help = has_other_help(walk->object.index, perf_block_u32(walk, walk->object.offset + 20), 0);
    view->has_other_help |= table->has_other_help;
    table->code_page = walk->object.code_page;
    table->has_values = perf_block_holds_values(walk);
    table->clocks = view->base.clocks;
    table->clocks.time = clock_at(walk, 48);
    table->clocks.freq = clock_at(walk, 56);
    table->walk = table->ahead = *walk;
    table->cells = wmem_array_new(view->base.pool, sizeof(hkpd_cells));
    table->names.pool = view->base.pool;
    table->own_id = table->process_id = UINT32_MAX;
    return table;
}

/* That of the object which the walk has just announced. */
static hkpd_table *table_at(hkpd_view *view, const perf_block_walk *walk)
{
    void *title_index = GUINT_TO_POINTER(walk->object.index);
    hkpd_table *first = wmem_map_lookup(view->by_index, title_index);

    if (first && first->base.number == walk->object.number) {
        return first;
    }
    hkpd_table *table = new_table(view, walk);
    if (first) {
        first->is_twice = true;
    } else {
        wmem_map_insert(view->by_index, title_index, table);
    }
    return table;
}

/* Reads the definitions and stops where the first row begins. */
static hkpd_table *read_definitions(hkpd_table *table)
{
    perf_block_event event;

    if (table == NULL || table->columns) {
        return table;
    }
    perf_block_walk ahead = table->walk;
    table->columns = wmem_array_new(table->base.view->pool, sizeof(hkpd_column));
    while ((event = perf_block_next(&ahead)) == PERF_BLOCK_DEFINITION || event == PERF_BLOCK_FAULT) {
        if (event == PERF_BLOCK_DEFINITION && ahead.definition.number < ahead.object.num_definitions) {
            add_column(table, &ahead);
        }
        table->walk = ahead;
    }
    table->base.columns = wmem_array_get_count(table->columns);
    return table;
}

/* Objects are found one after the other. */
static hkpd_table *find_table(hkpd_view *view, uint32_t title_index)
{
    hkpd_table *table = wmem_map_lookup(view->by_index, GUINT_TO_POINTER(title_index));

    while (table == NULL && perf_block_next_object(&view->scout)) {
        hkpd_table *next = table_at(view, &view->scout);
        table = next->title_index == title_index ? next : NULL;
    }
    return table;
}

/* --- Counters ---------------------------------------------------------------------------------------------------- */

static const hkpd_column *column_at(const hkpd_table *table, uint32_t column)
{
    return column < table->base.columns ? wmem_array_index(table->columns, column) : NULL;
}

/* The definition behind a counter's, if it is a base: then it is the counter's. */
static const hkpd_column *base_of(const hkpd_table *table, uint32_t column)
{
    const hkpd_column *next = column_at(table, column + 1);

    return next && next->known_type && next->known_type->kind == PERF_KIND_BASE ? next : NULL;
}

/* A counter does not move about in its block, nor become another: where it does, or its base, one of both samples says something wrong. Of two
 * with one index nothing tells which was which. Returns false if counters came and others went: then both are not the same object. */
static bool find_moved(const hkpd_table *table, const hkpd_table *beside)
{
    bool has_both = beside && beside->base.columns == table->base.columns, may_have_twins = false;
    for (uint32_t column = table->base.columns; column-- > 0;) {
        hkpd_column *now = wmem_array_index(table->columns, column);
        const hkpd_column *before = has_both ? column_at(beside, column) : NULL, *next = column_at(table, column + 1);
        bool has_base = base_of(table, column) || (before && base_of(beside, column));
        bool is_same = before == NULL || (before->title_index == now->title_index && before->type == now->type &&
                                          before->offset == now->offset && before->size == now->size);
        now->before = before && before->title_index == now->title_index ? before : NULL;
        now->has_moved = !is_same || (has_base && next->has_moved);
        may_have_twins |= next && next->name <= now->name; /* mostly they ascend */
    }
    if (!may_have_twins && (has_both || beside == NULL)) {
        return true;
    }
    wmem_map_t *names = wmem_map_new(table->base.view->pool, wmem_int64_hash, g_int64_equal);
    for (uint32_t column = 0; column < table->base.columns; column++) {
        hkpd_column *now = wmem_array_index(table->columns, column), *twin = wmem_map_insert(names, &now->name, now);
        if (twin && now->name % 2 == 0) { /* bases have no results: which is which is all the same */
            twin->has_twin = now->has_twin = now->is_second = true;
        }
    }
    uint32_t common = 0, fewest = has_both || beside == NULL ? 0 : MIN(table->base.columns, beside->base.columns);
    for (uint32_t column = 0; common < fewest && column < beside->base.columns; column++) {
        common += wmem_map_contains(names, &column_at(beside, column)->name);
    }
    return common >= fewest;
}

/* Of 4 or 8 bytes; size 0 for all else. */
static perf_raw number_in(const perf_block_walk *walk, uint32_t offset, uint32_t size)
{
    if (size == 4) {
        return (perf_raw){perf_block_u32(walk, offset), 4};
    }
    return size == 8 ? (perf_raw){perf_block_u64(walk, offset), 8} : (perf_raw){0, 0};
}

/* The number that stands `offset` behind the start of a row's counter block; the row was read. */
static perf_raw number_at(const hkpd_table *table, uint32_t row, uint64_t offset, uint32_t size)
{
    const hkpd_cells *cells = wmem_array_index(table->cells, row);

    if (offset < PERF_COUNTER_BLOCK_SIZE || offset + size > cells->size) {
        return (perf_raw){0, 0};
    }
    return number_in(&table->walk, cells->offset + (uint32_t)offset, size);
}

static perf_raw cell(const reading_table *base, uint32_t row, uint32_t column)
{
    hkpd_table *table = (hkpd_table *)base;
    const hkpd_column *definition = column_at(table, column);

    return definition ? number_at(table, row, definition->offset, definition->size) : (perf_raw){0, 0};
}

static perf_raw own_id(reading_table *base, uint32_t row)
{
    return cell(base, row, ((hkpd_table *)base)->own_id);
}

/* --- Parents ----------------------------------------------------------------------------------------------------- */

static reading_instance_key name_of(const perf_block_walk *walk)
{
    return (reading_instance_key){.name = {walk->data + walk->instance.name, walk->instance.name_size, 0}};
}

static bool is_in_object(perf_block_event event)
{
    return event != PERF_BLOCK_END && event != PERF_BLOCK_OBJECT;
}

/* The parent's name and which of those alike it is, NULL if there is none; its object. */
static reading_instance *find_parent(hkpd_view *view, const perf_block_walk *walk, hkpd_table **object)
{
    hkpd_table *table = walk->instance.parent_object != 0 ? find_table(view, walk->instance.parent_object) : NULL;
    uint32_t row = walk->instance.parent_instance;
    perf_block_event event = PERF_BLOCK_HEADER;

    *object = table;
    if (table == NULL || !table->base.has_instances) {
        return NULL;
    }
    while (!table->names_read && is_in_object(event = perf_block_next(&table->ahead))) {
        if (event == PERF_BLOCK_INSTANCE) {
            reading_instance_key key = name_of(&table->ahead);
            readings_instances_add(&table->names, &key);
            table->names_lack |= table->ahead.instance.is_nameless;
        } else if (event == PERF_BLOCK_FAULT) {
            table->names_lack |= perf_block_does_harm(&table->ahead);
        }
        perf_block_skip_values(&table->ahead);
    }
    table->names_read = true;
    return row < readings_instances_count(&table->names) ? readings_instances_counted(&table->names, row) : NULL;
}

static bool is_slash(const perf_block_walk *walk, const uint8_t *character, uint32_t unit)
{
    return unit == 1 ? *character == '/'
                     : character[walk->big_endian_text] == '/' && character[!walk->big_endian_text] == 0;
}

/* Paths call b/c of a parent a, c of a parent a/b and a/b/c alike: it is one name, whose last part stands behind the last slash, and its parent's
 * before it. */
static void split_name(hkpd_view *view, const perf_block_walk *walk, const reading_name *parent,
                       reading_instance_key *key)
{
    uint32_t unit = perf_block_wide_names(walk) ? 2 : 1, end = key->name.size - key->name.size % unit;

    while (end > 0 && !is_slash(walk, key->name.bytes + end - unit, unit)) {
        end -= unit;
    }
    if (end == 0) {
        return;
    }
    uint32_t slash = end - unit, size = parent ? parent->size + unit : 0;
    uint8_t *bytes = wmem_alloc(view->base.pool, size + end);
    reading_name before = {bytes, size + slash, 0};
    if (parent) {
        memcpy(bytes, parent->bytes, parent->size);
        memcpy(bytes + parent->size, key->name.bytes + slash, unit);
    }
    memcpy(bytes + size, key->name.bytes, slash);
    key->parent = readings_name_digest(&before);
    key->name = (reading_name){key->name.bytes + end, key->name.size - end, 0};
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* The parent's number in its object changes as others come and go: it is identified by its own name. How many have
 * the name of a parent that is not there is unknown. */
static reading_instance_key key_of_instance(hkpd_view *view, const perf_block_walk *walk)
{
    reading_instance_key key = name_of(walk);
    hkpd_table *object;
    reading_instance *parent = find_parent(view, walk, &object);

    key.id = walk->instance.unique_id;
    key.id_is_unique = key.id != PERF_NO_UNIQUE_ID;
    key.has_no_id = !key.id_is_unique;
    if (parent) {
        key.parent_table = walk->instance.parent_object;
        key.parent_row = parent->row;
        key.parent = readings_name_digest(&parent->key.name);
        key.parent_count = readings_instances_namesakes(&object->names, parent->row);
    } else if (walk->instance.parent_object != 0) {
        key.parent_count = 2;
    }
    if (memchr(key.name.bytes, '/', key.name.size)) {
        split_name(view, walk, parent ? &parent->key.name : NULL, &key);
    }
    return key;
}

static reading_table *parents(reading_table *table, uint32_t object)
{
    hkpd_table *found = object != 0 ? read_definitions(find_table((hkpd_view *)table->view, object)) : NULL;

    return found ? &found->base : NULL;
}

/* An instance is followed by its counters, or by nothing more. */
static bool read_next_row(reading_table *base)
{
    hkpd_table *table = (hkpd_table *)base;
    hkpd_cells counters = {0, 0, false};
    bool found = false;
    perf_block_event event = PERF_BLOCK_HEADER;

    while (counters.size == 0 && is_in_object(event = perf_block_next(&table->walk))) {
        if (event == PERF_BLOCK_INSTANCE) {
            reading_instance_key key = key_of_instance((hkpd_view *)base->view, &table->walk);
            readings_instances_add(&base->instances, &key);
            uint32_t parent = table->walk.instance.parent_object;
            table->parents_differ |= parent > 0 && table->parent_object > 0 && parent != table->parent_object;
            table->parent_object = parent > 0 ? parent : table->parent_object;
            base->lacks_names |= table->walk.instance.is_nameless;
            found = true;
        } else if (event == PERF_BLOCK_COUNTERS) {
            counters =
                (hkpd_cells){table->walk.counters.offset, table->walk.counters.size, table->walk.counters.is_doubtful};
            found = true;
        }
        perf_block_skip_values(&table->walk);
    }
    if (found) {
        wmem_array_append_one(table->cells, counters);
    }
    base->complete = !is_in_object(event); /* the walk is in the next object then */
    return found;
}

perf_point hkpd_clocks(const perf_block_walk *walk)
{
    return (perf_point){.perf_time = perf_block_u64(walk, 56),
                        .perf_freq = perf_block_u64(walk, 64),
                        .time_100ns = perf_block_u64(walk, 72)};
}

/* That of a sample is walked many times, and was checked before. */
static void begin_walk(perf_block_walk *walk, const state_sample *sample, const uint8_t *bytes, uint32_t size)
{
    perf_block_init(walk, bytes, size);
    walk->is_sound = sample && sample->summary.faults == 0;
}

static hkpd_view *new_view(const readings *r, const state_sample *sample, const uint8_t *bytes, uint32_t size)
{
    static const table_layout layout = {read_next_row, cell, own_id, parents};
    hkpd_view *view = wmem_new0(r->pool, hkpd_view);

    view->base = (sample_view){&layout, r->pool, {.perf_freq = 0}};
    view->readings = r;
    view->by_index = wmem_map_new(r->pool, g_direct_hash, g_direct_equal);
    begin_walk(&view->scout, sample, bytes, size);
    if (perf_block_next(&view->scout) == PERF_BLOCK_HEADER) {
        view->base.clocks = hkpd_clocks(&view->scout);
    }
    return view;
}

/* --- The stream -------------------------------------------------------------------------------------------------- */

/* The layout's part of it. */
typedef struct {
    perf_block_walk walk;
    hkpd_view *current;
    wmem_map_t *views; /* of the samples before or next: mostly all objects have the same. state_sample -> hkpd_view */
    /* of the object that the walk is in */
    perf_block_walk object;     /* where it begins */
    const state_sample *beside; /* sample_beside(), NULL without one */
    hkpd_table *beside_table;   /* in it; NULL without one */
    perf_block_walk in_place;   /* of that sample: at the object in the same place, if somebody asked */
    bool has_nameless; /* an instance's name was not known: which of their name those behind it are is neither */
    bool is_nameless;  /* of the instance that the walk is in, or of parents that it may have, the name is not known */
    bool are_parents_doubtful; /* of the object's instances */
    bool is_object_doubtful;   /* it may be another */
    bool is_clock_doubtful;    /* its own */
    uint32_t blank;            /* from here on the answer is zeros */
} hkpd_stream;

static hkpd_stream *stream_of(const readings *r)
{
    return r->own;
}

perf_block_walk *hkpd_readings_walk(const readings *r)
{
    return &stream_of(r)->walk;
}

/* --- Names ------------------------------------------------------------------------------------------------------- */

static unsigned byte_order(const perf_block_walk *walk)
{
    return walk->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;
}

/* A name that lies in the answer. */
static const char *name_text(readings *r, uint32_t code_page, const reading_name *name, unsigned most)
{
    return text_get(r->pool, r->answer.tvb, (uint32_t)(name->bytes - r->bytes), name->size, code_page,
                    byte_order(hkpd_readings_walk(r)), most);
}

const char *hkpd_system_name(wmem_allocator_t *pool, tvbuff_t *tvb, const perf_block_walk *walk)
{
    if (!perf_block_names_system(walk)) {
        return NULL;
    }
    const char *name = text_get(pool, tvb, walk->header.name, walk->header.name_size, TEXT_CODE_PAGE_UTF16,
                                byte_order(walk), TEXT_NAME_MAX);
    return name + strspn(name, "\\");
}

static void begin_stream(readings *r)
{
    hkpd_stream *stream = r->own = wmem_new0(r->pool, hkpd_stream);

    begin_walk(&stream->walk, r->answer.sample, r->bytes, r->size);
    for (stream->blank = r->size; stream->blank > 0 && r->bytes[stream->blank - 1] == 0; stream->blank--) {
    }
    stream->current = new_view(r, r->answer.sample, r->bytes, r->size);
    stream->views = wmem_map_new(r->pool, g_direct_hash, g_direct_equal);
    r->current = &stream->current->base;
    r->machine = hkpd_system_name(r->pool, r->answer.tvb, &stream->current->scout);
    if ((r->machine == NULL || r->answer.is_in_doubt) && r->answer.handle) {
        r->machine = r->answer.handle->machine;
    }
    const perf_block_walk *walk = &stream->current->scout;
    bool has_name = walk->header.size > 0 && (walk->header.size > PERF_DATA_BLOCK_SIZE ||
                                              perf_block_u32(walk, 24) > PERF_DATA_BLOCK_SIZE); /* HeaderLength */
    r->answer.is_in_doubt |= r->machine == NULL && has_name;
}

/* The view of a sample, which is opened once. */
static hkpd_view *open_view(readings *r, const state_sample *sample)
{
    wmem_map_t *views = stream_of(r)->views;
    hkpd_view *view = wmem_map_lookup(views, sample);

    if (view == NULL) {
        view = new_view(r, sample, sample->bytes, sample->size);
        wmem_map_insert(views, sample, view);
    }
    return view;
}

/* Of the sample beside; NULL if that has none with values. */
static hkpd_table *table_beside(readings *r, uint32_t title_index)
{
    const state_sample *beside = stream_of(r)->beside;
    hkpd_table *table = beside ? find_table(open_view(r, beside), title_index) : NULL;

    return table && table->has_values ? read_definitions(table) : NULL;
}

/* That tells most of an object: the one before that holds it too, else the first after it; where neither does, the handle's. */
static const state_sample *sample_beside(const state_sample *sample, const state_object *object)
{
    const state_sample *const sides[] = {object->previous, object->next, sample->older_of_all, sample->newer_of_all};
    unsigned side = 0;

    while (side + 1 < array_length(sides) && !(sides[side] && sides[side]->bytes)) {
        side++;
    }
    return sides[side] && sides[side]->bytes ? sides[side] : NULL;
}

/* The answers to one handle hold now these objects, now those: each has a sample before of its own. */
static void enter_object(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    uint32_t number = stream->walk.object.number;
    const state_sample *sample = r->answer.sample;
    const state_object *object = sample_object(sample, number);
    const state_sample *previous = object ? object->previous : NULL;
    const state_sample *beside = object ? sample_beside(sample, object) : NULL;

    readings_enter(r, number);
    r->is_doubtful = object && object->is_doubtful;
    readings_compare_with(r, NULL, 0);
    stream->object = stream->walk;
    stream->has_nameless = stream->is_nameless = stream->are_parents_doubtful = false;
    r->why_no_previous = !sample    ? readings_no_sample(r)
                         : previous ? PERF_NO_RESULT_SAMPLE_DROPPED
                         : sample->older_of_all && sample->older_of_all->summary.failed > 0
                             ? PERF_NO_RESULT_BEFORE_DAMAGED
                             : PERF_NO_RESULT_FIRST_SAMPLE;
    stream->beside = beside;
    stream->beside_table = table_beside(r, stream->walk.object.index);
    if (beside && beside == previous) {
        readings_compare_in_order(r, &open_view(r, previous)->base, previous);
    }
}

/* Another object of the answer has its index. Those of a sample that are not doubtful were asked before. */
static bool is_twice(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    const state_object *object = sample_object(r->answer.sample, stream->object.object.number);

    if (object && !object->is_doubtful) {
        return false;
    }
    while (perf_block_next_object(&stream->current->scout)) {
        table_at(stream->current, &stream->current->scout);
    }
    return find_table(stream->current, stream->object.object.index)->is_twice;
}

/* In its place the sample beside, which does not have it, has an object with the same definitions. */
static bool is_another_in_place(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    const perf_block_walk *own = &stream->object;
    perf_block_walk *walk = &stream->in_place;

    if (stream->beside == NULL) {
        return false;
    }
    if (walk->data != stream->beside->bytes) {
        perf_block_init(walk, stream->beside->bytes, stream->beside->size);
        perf_block_next(walk);
    }
    while (walk->object.number != own->object.number && perf_block_next_object(walk)) {
    }
    uint32_t here = own->object.offset + PERF_OBJECT_TYPE_SIZE, there = walk->object.offset + PERF_OBJECT_TYPE_SIZE;
    uint32_t size = perf_block_u32(own, own->object.offset + 4) - PERF_OBJECT_TYPE_SIZE; /* DefinitionLength */
    return walk->object.number == own->object.number && size > 0 && size <= own->object.end - here &&
           size <= walk->object.end - there && memcmp(own->data + here, walk->data + there, size) == 0;
}

static void open_table(readings *r)
{
    hkpd_stream *stream = stream_of(r);

    hkpd_table *table = read_definitions(table_at(stream->current, &stream->object));
    r->table = &table->base;
    const hkpd_table *beside = stream->beside_table;
    bool is_other = !find_moved(table, beside) || (beside && (beside->base.has_instances != table->base.has_instances ||
                                                              beside->clocks.freq.value != table->clocks.freq.value ||
                                                              beside->code_page != table->code_page));
    stream->is_clock_doubtful = beside && perf_object_clock_differs(&table->clocks, &beside->clocks);
    bool is_odd = beside == NULL && table->has_other_help && table->other_helps == 0 && table->own_helps > 0;
    stream->is_object_doubtful = is_other || is_odd || is_twice(r) || (beside == NULL && is_another_in_place(r));
}

static const hkpd_column *column_of(readings *r)
{
    return column_at((const hkpd_table *)readings_table(r), r->at.column);
}

/* --- Names and types --------------------------------------------------------------------------------------------- */

/* The title index stands for another name later. */
static bool changes_later(const readings *r, uint32_t title_index)
{
    return facts_doubted(r->answer.server, facts_title_subject(title_index), PERF_FACT_ENGLISH, r->answer.request_event,
                         r->answer.event);
}

static void look_up_counter(readings *r)
{
    const hkpd_column *column = column_of(r);
    reading_counter *counter = r->at.counter;

    counter->id = column->title_index;
    counter->type = column->known_type;
    counter->none = column->is_second    ? PERF_NO_RESULT_COUNTER_NOT_KNOWN
                    : column->known_type ? PERF_NO_RESULT_OK
                                         : PERF_NO_RESULT_UNKNOWN_TYPE;
    counter->changes_later = changes_later(r, column->title_index) || changes_later(r, stream_of(r)->walk.object.index);
}

static const char *label(readings *r)
{
    return facts_title_label(r->pool, r->answer.server, r->at.counter->id, r->answer.event);
}

static void look_up_set(readings *r)
{
    const char *name = facts_title_label(r->pool, r->answer.server, stream_of(r)->walk.object.index, r->answer.event);

    r->set_label = readings_bounded(r->pool, name);
    r->has_instances = stream_of(r)->walk.object.num_instances >= 0;
}

const char *hkpd_readings_instance(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    const perf_block_walk *walk = &stream->walk;
    const reading_name name = {walk->data + walk->instance.name, walk->instance.name_size, 0};
    const char *text = name_text(r, walk->object.code_page, &name, TEXT_NAME_MAX);
    hkpd_table *object;
    const reading_instance *parent = find_parent(stream->current, walk, &object);

    if (parent) {
        /* its name stands in an answer once, however many children it has: where paths have no more room it shows its beginning */
        unsigned most = r->text_left > 0 ? TEXT_NAME_MAX : READINGS_SHORT_NAME;
        const char *parent_text = name_text(r, object->code_page, &parent->key.name, most);
        r->text_left -= MIN(r->text_left, strlen(parent_text));
        text = wmem_strconcat(r->pool, parent_text, "/", text, NULL);
    }
    return readings_with_ordinal(r, readings_table(r), walk->instance.number, text,
                                 perf_block_wide_names(walk) ? 2 : 1);
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

#define MOST_OF_TEXT (2 * TEXT_NAME_MAX + 4)

/* Samba sends ASCII where the type says UTF-16: no UTF-16 but a character or two has two printable bytes in every unit. */
static void take_text(readings *r, const perf_block_walk *walk, uint32_t type)
{
    const uint8_t *text = walk->data + walk->value.offset;
    uint32_t size = walk->value.size;

    /* values may overlap: once that has cost as much as the answer is long, no more is read of each than a name has */
    if (readings_raw_size(r) < size) {
        size = size < MOST_OF_TEXT ? size : MOST_OF_TEXT;
    }
    uint32_t narrow = perf_block_text_size(text, size, false), wide = perf_block_text_size(text, size, true);
    bool terminated = wide + 1 < size;
    uint32_t too_short = terminated ? 4 : size % 2 == 0 ? 1 : 0;
    bool is_narrow = (type & PERF_TEXT_IN_CODE_PAGE) || (is_plain(text, narrow) && narrow > too_short);
    r->at.text_size = is_narrow ? narrow : wide;
    r->at.code_page = is_narrow && !text_is_wide(walk->object.code_page) ? walk->object.code_page
                      : is_narrow                                        ? TEXT_CODE_PAGE_ASCII
                                                                         : TEXT_CODE_PAGE_UTF16;
    r->at.byte_order = byte_order(walk);
}

/* A process' threads have its id. */
static bool has_other_id(const hkpd_table *table, uint32_t row, reading_table *parents)
{
    const reading_instance_key *key = &readings_table_instance((reading_table *)table, row)->key;
    perf_raw id = cell(&table->base, row, table->process_id);
    perf_raw own = readings_table_cell(parents, key->parent_row, ((hkpd_table *)parents)->process_id);

    return key->parent_table == table->parent_object && id.size > 0 && own.size > 0 && id.value != own.value;
}

/* Of one of both samples alone the parents' object is in the answer. */
static bool parents_appear(hkpd_table *own, hkpd_table *beside)
{
    return (parents(&own->base, own->parent_object) == NULL) != (parents(&beside->base, own->parent_object) == NULL);
}

/* Parents are instances of one object; and neither the sample beside says otherwise, nor an id that they share. */
static bool are_parents_doubtful(readings *r)
{
    reading_table *table = readings_table(r);
    hkpd_table *own = (hkpd_table *)table, *beside = stream_of(r)->beside_table;

    readings_table_has_row(table, 1); /* reads what parents its rows have */
    if (beside) {
        readings_table_has_row(&beside->base, 1);
    }
    if (own->parent_object == 0 && (beside == NULL || beside->parent_object == 0)) {
        return false;
    }
    readings_table_has_row(table, UINT32_MAX);
    reading_table *all = parents(table, own->parent_object);
    for (uint32_t row = 0; all && row < table->rows; row++) {
        if (has_other_id(own, row, all)) {
            return true;
        }
    }
    if (beside && parents_appear(own, beside)) {
        return perf_block_u32(&own->walk, 28) == perf_block_u32(&beside->walk, 28); /* NumObjectTypes */
    }
    if (beside && beside->parent_object != own->parent_object && !readings_table_has_row(&beside->base, UINT32_MAX) &&
        beside->parent_object != own->parent_object) {
        return readings_table_same_rows(table, &beside->base, true);
    }
    return own->parents_differ || (all && ((hkpd_table *)all)->is_twice) ||
           (beside && readings_table_other_parents(table, &beside->base, own->parent_object));
}

static void enter_instance(readings *r)
{
    hkpd_stream *stream = stream_of(r);
    hkpd_table *object;

    bool has_parent = find_parent(stream->current, &stream->walk, &object) != NULL;
    bool may_be_lost = r->answer.sample == NULL || r->answer.sample->summary.failed > 0;
    /* the parent's object may not be in the answer, but if it is the parent is */
    bool is_odd = stream->beside_table == NULL && stream->current->has_other_help;
    bool lacks_parent = object ? object->names_lack || !has_parent : may_be_lost || is_odd;
    stream->has_nameless |= stream->walk.instance.is_nameless;
    stream->is_nameless = stream->has_nameless || (stream->walk.instance.parent_object != 0 && lacks_parent);
    if (stream->walk.instance.number == 0) {
        stream->are_parents_doubtful = are_parents_doubtful(r);
    }
}

/* It alone has another help. */
static bool is_odd(const readings *r, const hkpd_column *column)
{
    const hkpd_table *table = (const hkpd_table *)r->table;

    return column->before == NULL && column->has_other_help && table->other_helps == 1 && table->own_helps > 0 &&
           !table->has_other_help;
}

static void take_value(readings *r)
{
    const perf_block_walk *walk = &stream_of(r)->walk;
    reading *at = &r->at;

    readings_place(r, walk->instance.number == PERF_NO_INSTANCE_NUMBER ? 0 : walk->instance.number, walk->value.column,
                   walk->object.num_definitions, walk->value.offset, walk->value.size);
    at->is_nameless = stream_of(r)->is_nameless || r->answer.is_in_doubt;
    const hkpd_column *column = column_of(r);
    bool is_unsound = r->is_doubtful || r->answer.sample == NULL; /* zeros behind may be what had no room */
    bool is_cut = is_unsound && at->offset + at->size > stream_of(r)->blank;
    at->is_doubtful = r->answer.is_torn || column->has_moved || column->has_twin || is_odd(r, column) ||
                      stream_of(r)->are_parents_doubtful || stream_of(r)->is_object_doubtful || is_cut ||
                      walk->counters.is_doubtful ||
                      (stream_of(r)->is_clock_doubtful && (column->type & PERF_TIMER_MASK) == PERF_OBJECT_TIMER);
    at->is_text = perf_counter_type_is_text(column->type);
    if (at->is_text) {
        take_text(r, walk, column->type);
    }
    readings_take(r, number_in(walk, at->offset, at->size));
    if (r->answer.server->facts_changed > r->answer.request_event) {
        readings_known_counter(r); /* whether its name is */
    }
}

perf_block_event hkpd_readings_event(readings *r)
{
    perf_block_event event = perf_block_next(&stream_of(r)->walk);

    if (event == PERF_BLOCK_OBJECT) {
        enter_object(r);
    } else if (event == PERF_BLOCK_INSTANCE) {
        enter_instance(r);
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

/* The sample before had another counter or object of this title index. */
static bool may_have_changed(readings *r, uint32_t title_index)
{
    uint32_t since = stream_of(r)->beside->request_event;

    return r->answer.server->facts_changed > since &&
           facts_may_have_changed(r->answer.server, facts_title_subject(title_index), PERF_FACT_ENGLISH, since,
                                  r->answer.event);
}

static bool find_previous(readings *r, reading_place *place)
{
    hkpd_table *previous = stream_of(r)->beside_table; /* only asked where there is a sample before */
    const hkpd_column *now = column_of(r);
    bool is_of_type = now->before == NULL || now->before->type == now->type;

    place->may_have_changed = previous && (may_have_changed(r, previous->title_index) ||
                                           may_have_changed(r, now->title_index) || !is_of_type);
    if (previous == NULL || place->may_have_changed) {
        return false;
    }
    place->table = &previous->base;
    place->column = r->at.column;
    place->others = now->before == NULL || now->has_moved;
    place->has_counter = !place->others;
    if (place->others) {
        return false;
    }
    bool is_there = readings_take_pair(place, readings_table_pair(readings_table(r), r->at.row, place->table));
    place->may_have_changed = !is_there && parents_appear((hkpd_table *)r->table, previous); /* it had another name */
    const hkpd_cells *before = is_there ? wmem_array_index(previous->cells, place->row) : NULL;
    place->assumed |= before && before->is_doubtful;
    return is_there;
}

/* The base is the next definition's value; the multi counter is that too if it says so, else the 32-bit number behind the
 * timer, where the next counter does not stand. */
static perf_raw operand(readings *r _U_, sample_view *view _U_, const reading_place *place, unsigned need)
{
    hkpd_table *table = (hkpd_table *)place->table;
    const hkpd_column *column = column_at(table, place->column), *next = column_at(table, place->column + 1);
    const hkpd_column *base = base_of(table, place->column);
    bool is_multi = base && base->type == PERF_COUNTER_MULTI_BASE;
    uint64_t behind = (uint64_t)column->offset + column->size;

    if (need == PERF_NEEDS_TIME || need == PERF_NEEDS_FREQ) {
        return need == PERF_NEEDS_TIME ? table->clocks.time : table->clocks.freq;
    }
    if (need == PERF_NEEDS_MULTI && !is_multi) {
        bool is_there = (!next || next->offset != behind) && readings_table_has_row(&table->base, place->row);
        return is_there ? number_at(table, place->row, behind, 4) : (perf_raw){0, 0};
    }
    return base ? readings_table_cell(place->table, place->row, place->column + 1) : (perf_raw){0, 0};
}

const readings_layout hkpd_readings_layout = {
    begin_stream,
    next,
    look_up_counter,
    label,
    look_up_set,
    open_table,
    find_previous,
    operand,
    hkpd_readings_instance,
    PERF_NO_RESULT_NO_CLOCK,
};
