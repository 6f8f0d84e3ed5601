/* tables.c
 * A sample as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/tables.h"

#include "state/samples.h"

/* --- Instances ---------------------------------------------------------------------------------------------------- */

uint64_t readings_name_digest(reading_name *name)
{
    if (name->digest == 0) {
        name->digest = query_name_digest(name->bytes, name->size);
    }
    return name->digest;
}

/* Of what has a digest and is further told by a number. */
static uint64_t digest_with(uint64_t digest, uint64_t number)
{
    return (digest ^ digest >> 32) * UINT64_C(0x9E3779B97F4A7C15) +
           (number ^ number >> 32) * UINT64_C(0xC2B2AE3D27D4EB4F);
}

/* Of the name and the parent's name. */
static uint64_t name_key(reading_instance_key *key)
{
    return digest_with(readings_name_digest(&key->name), key->parent);
}

/* An id that does not identify alone does so within its name. */
static uint64_t id_key(reading_instance_key *key)
{
    return digest_with(key->id_is_unique ? key->parent : name_key(key), key->id);
}

uint32_t readings_instances_count(const reading_instances *instances)
{
    return instances->rows ? wmem_array_get_count(instances->rows) : 0;
}

static inline reading_instance *row_at(const reading_instances *instances, uint32_t row)
{
    ws_assert(row < readings_instances_count(instances));
    return *(reading_instance **)wmem_array_index(instances->rows, row);
}

/* A sum's may be any where the others number the other rows. */
static void note_id(reading_instances *instances, const reading_name *name, uint32_t id, uint32_t row)
{
    row -= instances->sums;
    uint32_t more = id - instances->id_first, rows = row - instances->id_row;
    bool is_next = instances->ids > 0 && more == rows * instances->id_step;

    if (!is_next && !instances->ids_tell && readings_name_is_sum(name->bytes, name->size)) {
        instances->sums++;
        instances->id_sum = instances->ids == 1 ? more : 0;
        return;
    }
    if (instances->ids == 1 && rows == 1 && instances->id_sum > 0 && more == 2 * instances->id_sum) {
        instances->sums--; /* that between both was in line */
        instances->ids++;
        instances->id_step = instances->id_sum;
        rows++;
    }
    if (instances->ids++ == 0) {
        instances->id_first = id;
        instances->id_row = row;
        instances->id_step = 1;
    } else if (instances->ids == 2) {
        instances->id_step = more / rows;
    }
    instances->ids_tell |= instances->ids > 1 && more != rows * instances->id_step;
}

/* What would be the first row's. */
static uint32_t id_origin(const reading_instances *instances)
{
    return instances->id_first - instances->id_row * instances->id_step;
}

/* They begin with that id, or a sum in front of them has it. */
static bool begin_at(const reading_instances *instances, uint32_t id)
{
    uint32_t origin = id_origin(instances);

    return origin == id || (instances->sums > 0 && origin == id + instances->id_step);
}

/* What is the last row's where each has one. */
static uint32_t id_end(const reading_instances *instances)
{
    return instances->id_first + (instances->ids - 1) * instances->id_step;
}

/* In both samples all ids do is number the rows, from the same one on or up to the same one in the same steps: that with more of them, else
 * NULL. Of one id or two that is so if they begin at 0, or with a step, or end at 0. */
static const reading_instances *numbering(const reading_instances *here, const reading_instances *there)
{
    const reading_instances *more = here->ids >= there->ids ? here : there, *fewer = more == here ? there : here;
    uint32_t origin = id_origin(more);
    bool is_series = more->ids > 2 || begin_at(more, 0) || begin_at(more, more->id_step) || id_end(more) == 0;
    uint32_t from = fewer->id_first - fewer->id_row * more->id_step;
    bool is_from = begin_at(more, from) || (fewer->sums > 0 && from == origin + more->id_step);
    bool fits = fewer->ids == 0 ||
                ((is_from || id_end(fewer) == id_end(more)) && (fewer->ids == 1 || fewer->id_step == more->id_step));

    return !more->ids_tell && !fewer->ids_tell && fits && is_series ? more : NULL;
}

void readings_instances_add(reading_instances *instances, const reading_instance_key *key)
{
    reading_instance *instance = wmem_new(instances->pool, reading_instance);

    *instance = (reading_instance){.key = *key, .row = readings_instances_count(instances)};
    if (instances->rows == NULL) {
        instances->rows = wmem_array_new(instances->pool, sizeof(reading_instance *));
    }
    wmem_array_append_one(instances->rows, instance);
    if (!key->has_no_id) {
        note_id(instances, &key->name, key->id, instance->row);
    }
}

/* The one with this name and ordinal among the rows that were counted. */
static reading_instance *find_named(const reading_instances *instances, reading_instance_key *key, uint32_t ordinal)
{
    uint64_t place = digest_with(name_key(key), ordinal);

    return wmem_map_lookup(instances->by_place, &place);
}

reading_instance *readings_instances_counted(reading_instances *instances, uint32_t row)
{
    if (instances->by_place == NULL) {
        instances->by_place = wmem_map_new(instances->pool, wmem_int64_hash, g_int64_equal);
    }
    for (; instances->counted <= row; instances->counted++) {
        reading_instance *instance = row_at(instances, instances->counted);
        reading_instance *first = find_named(instances, &instance->key, 0);
        instance->name_ordinal = first ? first->named_like_it : 0;
        (first ? first : instance)->named_like_it++;
        instance->place = digest_with(name_key(&instance->key), instance->name_ordinal);
        wmem_map_insert(instances->by_place, &instance->place, instance);
    }
    return row_at(instances, row);
}

uint32_t readings_instances_namesakes(reading_instances *instances, uint32_t row)
{
    readings_instances_counted(instances, readings_instances_count(instances) - 1);
    return find_named(instances, &row_at(instances, row)->key, 0)->named_like_it;
}

/* The first row with the same id and parent's name and, unless the id is unique, name; NULL if there is none. All rows were read. */
static const reading_instance *find_id(reading_instances *instances, reading_instance_key *wanted)
{
    uint64_t sought = id_key(wanted);

    if (instances->by_id == NULL) {
        instances->by_id = wmem_map_new(instances->pool, wmem_int64_hash, g_int64_equal);
    }
    for (; instances->with_id < readings_instances_count(instances); instances->with_id++) {
        reading_instance *instance = row_at(instances, instances->with_id), *first;
        instance->identity = id_key(&instance->key);
        first = wmem_map_lookup(instances->by_id, &instance->identity);
        if (first == NULL) {
            first = instance;
            wmem_map_insert(instances->by_id, &first->identity, first);
        }
        first->with_its_id++;
    }
    return wmem_map_lookup(instances->by_id, &sought);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

void readings_table_init(reading_table *table, sample_view *view, uint32_t number)
{
    memset(table, 0, sizeof *table);
    table->view = view;
    table->number = number;
    table->instances.pool = view->pool;
}

bool readings_table_has_row(reading_table *table, uint32_t row)
{
    while (table->rows <= row && !table->complete) {
        if (table->view->layout->next_row(table)) {
            table->rows++;
        } else {
            table->complete = true;
        }
    }
    return row < table->rows;
}

perf_raw readings_table_cell(reading_table *table, uint32_t row, uint32_t column)
{
    const perf_raw none = {0, 0};

    return readings_table_has_row(table, row) ? table->view->layout->cell(table, row, column) : none;
}

reading_instance *readings_table_instance(reading_table *table, uint32_t row)
{
    return table->has_instances && readings_table_has_row(table, row) ? row_at(&table->instances, row) : NULL;
}

/* --- The same instance in another sample ------------------------------------------------------------------------- */

static bool same_name(reading_instance_key *a, reading_instance_key *b)
{
    return a->parent == b->parent && readings_name_digest(&a->name) == readings_name_digest(&b->name);
}

static bool is_aligned(reading_instance_key *a, reading_instance_key *b, bool of_any_parent)
{
    return a->id == b->id && (of_any_parent ? readings_name_digest(&a->name) == readings_name_digest(&b->name)
                                            : a->parent_count == b->parent_count && same_name(a, b));
}

/* Rows that are aligned one by one, from the first on, also have the same ordinals. */
static bool aligned_to(reading_table *here, uint32_t row, reading_table *there, bool of_any_parent)
{
    table_likeness *like = here->like, *end = here->like + TABLE_LIKENESSES;

    while (like < end && like->there && (like->there != there || like->of_any_parent != of_any_parent)) {
        like++;
    }
    if (like == end) {
        return false;
    }
    like->there = there;
    like->of_any_parent = of_any_parent;
    while (!like->parted && like->rows <= row) {
        reading_instance *a = readings_table_instance(here, like->rows);
        reading_instance *b = readings_table_instance(there, like->rows);
        like->parted = !a || !b || !is_aligned(&a->key, &b->key, of_any_parent);
        like->rows += !like->parted;
    }
    return row < like->rows;
}

bool readings_table_same_rows(reading_table *here, reading_table *there, bool of_any_parent)
{
    return here->rows > 0 && here->rows == there->rows && aligned_to(here, here->rows - 1, there, of_any_parent);
}

/* The same of two that may not be there, and were not read yet. */
static bool same_when_read(reading_table *here, reading_table *there)
{
    return here && there && !readings_table_has_row(here, UINT32_MAX) && !readings_table_has_row(there, UINT32_MAX) &&
           readings_table_same_rows(here, there, false);
}

bool readings_table_other_parents(reading_table *here, reading_table *there, uint32_t number)
{
    const table_layout *layout = here->view->layout;

    if (same_when_read(here, there) || !readings_table_same_rows(here, there, true)) {
        return false;
    }
    reading_table *all = layout->parents(here, number);
    return all == here || same_when_read(all, layout->parents(there, number));
}

static perf_raw own_id_of(reading_table *table, uint32_t row)
{
    return table->view->layout->own_id(table, row);
}

/* The row with an own id that no other has; UINT32_MAX if there is none or there are several. */
static uint32_t row_with_own_id(reading_table *table, uint64_t id)
{
    if (table->by_own_id == NULL) {
        table->by_own_id = wmem_map_new(table->view->pool, wmem_int64_hash, g_int64_equal);
        for (uint32_t row = 0; row < table->rows; row++) {
            uint64_t *key = wmem_new(table->view->pool, uint64_t);
            *key = own_id_of(table, row).value;
            bool is_new = !wmem_map_contains(table->by_own_id, key);
            wmem_map_insert(table->by_own_id, key, GUINT_TO_POINTER(is_new ? row + 1 : 0));
            note_id(&table->own_ids, &row_at(&table->instances, row)->key.name, (uint32_t)*key, row);
        }
    }
    return GPOINTER_TO_UINT(wmem_map_lookup(table->by_own_id, &id)) - 1;
}

static const table_pair no_pair = {UINT32_MAX, false, false}, ambiguous_pair = {UINT32_MAX, false, true};

/* An id that only numbers those of its name, from 0 or 1 on; or the process' or thread's own ids differ. */
static bool is_no_proof(reading_table *here, reading_instance *wanted, reading_table *there,
                        const reading_instance *found)
{
    uint32_t more = wanted->key.id - wanted->name_ordinal;
    bool has_namesakes = readings_instances_namesakes(&here->instances, wanted->row) > 1 ||
                         (found && readings_instances_namesakes(&there->instances, found->row) > 1);
    perf_raw own = own_id_of(here, wanted->row), own_there = found ? own_id_of(there, found->row) : own;

    bool is_number = more <= 1 && (!found || found->key.id - found->name_ordinal == more);

    return (is_number && has_namesakes) || (own.size > 0 && own_there.size > 0 && own.value != own_there.value);
}

/* By an id that no other row has in either sample. False if ids prove nothing. */
static bool pair_by_id(reading_table *here, reading_instance *wanted, reading_table *there,
                       const reading_instances *numbers, table_pair *pair)
{
    const reading_instance *first = wanted->key.has_no_id ? NULL : find_id(&here->instances, &wanted->key);
    const reading_instance *found = first && first->with_its_id == 1 ? find_id(&there->instances, &wanted->key) : NULL;
    bool has_its_name = found && same_name(&wanted->key, &row_at(&there->instances, found->row)->key);

    if (first == NULL || first->with_its_id > 1 || (found && found->with_its_id > 1) || (numbers && !has_its_name) ||
        is_no_proof(here, wanted, there, found)) {
        return false;
    }
    /* another name: it was renamed, or its id was given out anew */
    bool is_assumed = found && (numbers || !has_its_name);
    *pair = (table_pair){found ? found->row : UINT32_MAX, is_assumed, false};
    return true;
}

/* `first` is the first row of that name there. */
static table_pair pair_by_name(reading_table *here, reading_instance *wanted, reading_table *there,
                               const reading_instance *first)
{
    uint32_t count = readings_instances_namesakes(&here->instances, wanted->row);
    uint32_t count_there = readings_instances_namesakes(&there->instances, first->row);
    perf_raw own = own_id_of(here, wanted->row);
    uint32_t row = first->row;

    if (own.size > 0 && own_id_of(there, row).size > 0) {
        bool is_one = count == 1 && count_there == 1;
        uint32_t found = row_with_own_id(there, own.value);
        if (is_one && own_id_of(there, row).value == own.value) {
            return (table_pair){row, false, false};
        }
        if (is_one || row_with_own_id(here, own.value) != UINT32_MAX) {
            bool is_it = found != UINT32_MAX && same_name(&wanted->key, &row_at(&there->instances, found)->key);
            const reading_instances *numbers = numbering(&here->own_ids, &there->own_ids);
            bool is_assumed = numbers && numbers->id_step == 1; /* Windows' own are multiples of 4 */
            return is_it ? (table_pair){found, is_assumed, false} : ambiguous_pair;
        }
    }
    const reading_instance *same = find_named(&there->instances, &wanted->key, wanted->name_ordinal);
    if (count != count_there || wanted->key.parent_count != same->key.parent_count) {
        return ambiguous_pair;
    }
    return (table_pair){same->row, count > 1 || wanted->key.parent_count > 1, false};
}

static table_pair pair_instances(reading_table *here, uint32_t row, reading_table *there)
{
    table_pair pair;

    if (!readings_table_has_row(here, row)) {
        return no_pair;
    }
    readings_table_has_row(here, UINT32_MAX);
    readings_table_has_row(there, UINT32_MAX);
    reading_instance *wanted = readings_instances_counted(&here->instances, row);
    uint32_t namesakes = readings_instances_namesakes(&here->instances, row);
    bool is_alone = namesakes == 1 && wanted->key.parent_count <= 1;
    if (is_alone && readings_table_same_rows(here, there, false) &&
        own_id_of(here, row).value == own_id_of(there, row).value) {
        return (table_pair){row, false, false};
    }
    if (there->rows == 0) {
        return no_pair;
    }
    readings_instances_counted(&there->instances, there->rows - 1);
    const reading_instance *first = find_named(&there->instances, &wanted->key, 0);
    bool is_same = is_alone && first && first->named_like_it == 1 && first->key.parent_count <= 1 &&
                   wanted->key.id == first->key.id;
    const reading_instances *numbers = is_same ? NULL : numbering(&here->instances, &there->instances);
    bool is_from_0 = numbers && begin_at(numbers, 0);
    bool is_named = is_same || is_from_0 || (numbers && first && first->named_like_it == namesakes);
    if (!is_named && pair_by_id(here, wanted, there, numbers, &pair)) {
        return pair;
    }
    pair = first ? pair_by_name(here, wanted, there, first) : no_pair;
    pair.assumed |= pair.row != UINT32_MAX && numbers && !is_from_0; /* the ids may tell otherwise */
    return pair;
}

/* False if the parents of both rows are two instances: then the rows are two, whatever they are called. True where that cannot be
 * seen, or where the row has a process' or thread's own id, by which it is paired. */
static bool may_have_same_parent(reading_table *here, uint32_t row, reading_table *there, uint32_t row_there)
{
    const table_layout *layout = here->view->layout;
    const reading_instance_key *key = &row_at(&here->instances, row)->key;
    const reading_instance_key *key_there = &row_at(&there->instances, row_there)->key;
    reading_table *parents = layout->parents ? layout->parents(here, key->parent_table) : NULL;
    reading_table *parents_there = parents ? layout->parents(there, key_there->parent_table) : NULL;

    if (parents_there == NULL || own_id_of(here, row).size > 0) {
        return true;
    }
    return pair_instances(parents, key->parent_row, parents_there).row == key_there->parent_row;
}

table_pair readings_table_pair(reading_table *here, uint32_t row, reading_table *there)
{
    if (!here->has_instances || !there->has_instances) {
        bool is_there = !here->has_instances && !there->has_instances && readings_table_has_row(there, 0);
        return is_there ? (table_pair){0, false, false} : no_pair;
    }
    if (here->paired_with != there || here->paired_row != row) {
        here->pair = pair_instances(here, row, there);
        if (here->pair.row != UINT32_MAX && !may_have_same_parent(here, row, there, here->pair.row)) {
            here->pair = ambiguous_pair;
        }
        here->paired_with = there;
        here->paired_row = row;
    }
    return here->pair;
}

bool readings_table_reads_twice(reading_table *table, uint32_t row, const char *text, uint32_t unit)
{
    const char *mark = strrchr(text, '#');
    char *end = NULL;
    bool is_number = mark && g_ascii_isdigit(mark[1]) && (mark[1] != '0' || mark[2] == '\0');
    uint64_t ordinal = is_number ? g_ascii_strtoull(mark + 1, &end, 10) : 0;

    if (!is_number || ordinal > UINT32_MAX || *end != '\0' || !readings_table_has_row(table, row)) {
        return false;
    }
    reading_instance_key other = row_at(&table->instances, row)->key;
    uint32_t size = unit * (uint32_t)strlen(mark);
    readings_table_has_row(table, UINT32_MAX);
    readings_instances_counted(&table->instances, table->rows - 1);
    other.name = (reading_name){other.name.bytes, other.name.size - MIN(size, other.name.size), 0};
    const reading_instance *found = find_named(&table->instances, &other, (uint32_t)ordinal);
    if (found == NULL || ordinal > 0) {
        return found != NULL;
    }
    char *shorter = g_strndup(text, (size_t)(mark - text)); /* "#0" is written behind what reads twice itself */
    bool reads_twice = readings_table_reads_twice(table, found->row, shorter, unit);
    g_free(shorter);
    return reads_twice;
}

bool readings_name_is_sum(const void *name, uint32_t size)
{
    static const char *const words[] = {"latoT_", "_labolG_"};
    const char *bytes = name;
    char letters[10] = "";

    for (unsigned count = 0; size > 0 && count + 1 < sizeof letters; size--) {
        if (bytes[size - 1] != 0) {
            letters[count++] = bytes[size - 1];
        }
    }
    for (unsigned i = 0; i < array_length(words); i++) {
        size_t length = strlen(words[i]);
        if (strncmp(letters, words[i], length) == 0 && strchr(",/ ", letters[length])) {
            return true;
        }
    }
    return false;
}

static void find_course(reading_table *here, uint32_t column, reading_table *there, uint32_t column_there,
                        table_course *course)
{
    bool *stays = wmem_alloc0_array(here->view->pool, bool, there->rows + 1);

    *course = (table_course){.there = there};
    for (uint32_t row = 0; row < here->rows; row++) {
        table_pair pair = readings_table_pair(here, row, there);
        course->sum += readings_table_cell(here, row, column).value;
        if (pair.is_ambiguous && own_id_of(here, row).size == 0) { /* one of its name may have come */
            reading_instance *instance = readings_instances_counted(&here->instances, row);
            readings_instances_counted(&there->instances, there->rows - 1);
            const reading_instance *same = find_named(&there->instances, &instance->key, instance->name_ordinal);
            pair.row = same ? same->row : UINT32_MAX;
        }
        if (pair.row != UINT32_MAX) {
            stays[pair.row] = true;
        }
    }
    for (uint32_t row = 0; row < there->rows; row++) {
        course->has_left |= !stays[row];
        course->sum_there += readings_table_cell(there, row, column_there).value;
    }
}

/* Of each column it is worked out once. */
static const table_course *course_of(reading_table *here, uint32_t column, reading_table *there, uint32_t column_there)
{
    uint32_t columns = MAX(here->columns, 1); /* a block of one counter may name none */

    ws_assert(column < columns);
    if (here->courses == NULL) {
        here->courses = wmem_alloc0_array(here->view->pool, table_course, columns);
    }
    if (here->courses[column].there != there) {
        readings_table_has_row(there, UINT32_MAX);
        find_course(here, column, there, column_there, &here->courses[column]);
    }
    return &here->courses[column];
}

bool readings_table_sum_ended(reading_table *here, uint32_t row, uint32_t column, perf_raw now, reading_table *there,
                              uint32_t column_there, perf_raw before)
{
    if (there == NULL || !here->has_instances || !there->has_instances || here->lacks_names || there->lacks_names) {
        return false;
    }
    readings_table_has_row(here, UINT32_MAX);
    const table_course *course = course_of(here, column, there, column_there);
    const reading_name *name = &row_at(&here->instances, row)->key.name;
    if (!course->has_left || readings_name_is_sum(name->bytes, name->size)) {
        return course->has_left;
    }
    if (now.value == 0) { /* half of nothing */
        return false;
    }
    uint64_t beside = course->sum - 2 * now.value, beside_there = course->sum_there - 2 * before.value;
    return (now.size == 4 ? (uint32_t)beside | (uint32_t)beside_there : beside | beside_there) == 0;
}

bool readings_table_has_namesakes(reading_table *table)
{
    readings_table_has_row(table, UINT32_MAX);
    for (uint32_t row = 0; table->has_instances && row < table->rows; row++) {
        if (readings_instances_counted(&table->instances, row)->name_ordinal > 0) {
            return true;
        }
    }
    return false;
}

uint32_t readings_table_find(reading_table *table, const reading_instance_key *key, bool any_id)
{
    reading_instance_key wanted = *key;

    if (!readings_table_has_row(table, 0)) {
        return UINT32_MAX;
    }
    readings_table_has_row(table, UINT32_MAX);
    readings_instances_counted(&table->instances, table->rows - 1);
    const reading_instance *found =
        any_id ? find_named(&table->instances, &wanted, 0) : find_id(&table->instances, &wanted);
    return found ? found->row : UINT32_MAX;
}
