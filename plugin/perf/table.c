/* table.c
 * The counter data of a response as tables: groups, cells, and which row and column are the same in two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table.h"
#include "perf/table-read.h"

typedef struct {
    uint64_t digest;
    uint32_t ordinal;
    bool lacks_parent;
} row_name;

/* Each part is NULL until somebody asks for it. */
struct perf_group_index {
    bool was_asked; /* which row of another group one of its rows is */
    perf_row_name scanned;
    uint32_t scanned_row; /* of `scanned`, PERF_NO_ID: none */
    perf_index columns;   /* by id, and whether it is a base */
    perf_index rows;      /* by the digest of the name; where a name repeats, also by digest and ordinal */
    row_name *names;
    bool has_repeated_names;
    perf_index row_ids; /* by the digest of the name and the value of `id_column` */
    uint32_t id_column;
    uint32_t *cells; /* offsets of the cells of the row `cells_row`, 0: there is none; PerflibV2 alone */
    uint32_t cells_row;
};

void *perf_enlarge(void *array, uint32_t *room, uint32_t more, size_t size)
{
    *room += *room / 2 + more;
    array = realloc(array, *room * size);
    if (array == NULL) {
        __builtin_trap();
    }
    return array;
}

/* Returns zeroed memory for an index. */
static void *allocate(perf_table *t, size_t count, size_t size)
{
    void *memory = calloc(count, size);

    t->index_bytes += count * size;
    if (memory == NULL) {
        __builtin_trap();
    }
    return memory;
}

static void free_indexes(perf_table *t)
{
    for (uint32_t i = 0; t->index_bytes > 0 && i < t->num_groups; i++) {
        perf_group_index *lookup = t->groups[i].index;
        if (lookup) {
            free(lookup->columns.slots);
            free(lookup->rows.slots);
            free(lookup->names);
            free(lookup->row_ids.slots);
            free(lookup->cells);
            free(lookup);
        }
    }
    free(t->by_key.slots);
}

void perf_table_init(perf_table *t, const uint8_t *data, uint32_t size, bool is_block)
{
    const perf_table before = *t;

    free_indexes(t);
    *t = (perf_table){.data = data,
                      .size = size,
                      .is_block = is_block,
                      .groups = before.groups,
                      .columns = before.columns,
                      .rows = before.rows,
                      .faults = before.faults,
                      .first_group = PERF_NO_GROUP};
    memcpy(t->room, before.room, sizeof t->room);
}

void perf_table_free(perf_table *t)
{
    free_indexes(t);
    free(t->groups);
    free(t->columns);
    free(t->rows);
    free(t->faults);
}

size_t perf_table_memory(const perf_table *t)
{
    return t->room[0] * sizeof *t->groups + t->room[1] * sizeof *t->columns + t->room[2] * sizeof *t->rows +
           t->room[3] * sizeof *t->faults + t->index_bytes;
}

/* --- Groups ------------------------------------------------------------------------------------------------------ */

void perf_end_groups(perf_table *t, uint32_t count_field, uint32_t at, bool fits, bool is_cut)
{
    uint32_t count = perf_table_u32(t, count_field);

    t->is_sound = t->num_groups == count && fits && !is_cut && t->size - at < 8;
    if (t->num_groups < count && !is_cut) {
        perf_response_fault(t, PERF_FAULT_GROUPS, count_field, count, t->num_groups);
    } else if (t->num_groups == count && t->size - at >= 8) {
        perf_response_fault(t, PERF_FAULT_REST, at, t->size, at);
    }
}

/* --- Cells ------------------------------------------------------------------------------------------------------- */

static perf_group_index *get_index(perf_table *t, perf_group *g)
{
    if (g->index == NULL) {
        g->index = allocate(t, 1, sizeof *g->index);
        g->index->cells_row = g->index->scanned_row = PERF_NO_ID;
    }
    return g->index;
}

/* Returns the offset of a PERF_COUNTER_DATA of a row whose values are not all plain; 0: none. All of the row are found at once, so that
 * looking at one after the other takes no longer than there are values. */
static uint32_t find_uneven_cell(perf_table *t, perf_group *g, uint32_t row, uint32_t column)
{
    perf_group_index *lookup = get_index(t, g);
    const perf_row *r = perf_table_row(t, g, row);
    uint32_t at = r->cells, end = r->cells + r->cells_size;

    if (lookup->cells_row != row) {
        if (lookup->cells == NULL) {
            lookup->cells = allocate(t, g->columns, sizeof *lookup->cells);
        }
        for (uint32_t i = 0; i < g->columns; i++) {
            lookup->cells[i] = at < end ? at : 0; /* those that are there were read whole */
            at += at < end ? perf_align8(perf_le32(t->data + at + 4)) : 0;
        }
        lookup->cells_row = row;
    }
    return lookup->cells[column];
}

static uint32_t find_uneven_value(perf_table *t, perf_group *g, uint32_t row, uint32_t column, uint32_t *size)
{
    uint32_t at = find_uneven_cell(t, g, row, column);

    *size = at > 0 ? perf_le32(t->data + at) : 0;
    return at > 0 ? at + PERF_COUNTER_DATA_SIZE : 0;
}

uint32_t perf_table_find_cell(perf_table *t, perf_group *g, uint32_t row, uint32_t column, uint32_t *size)
{
    const perf_row *r = perf_table_row(t, g, row);
    const perf_column *c = perf_table_column(t, g, column);

    *size = 0;
    if (r->cells == 0) {
        return 0;
    }
    if (!t->is_block) {
        return find_uneven_value(t, g, row, column, size);
    }
    *size = c->value_size;
    bool fits = c->value_offset >= PERF_COUNTER_BLOCK_SIZE && c->value_offset <= r->cells_size &&
                c->value_size <= r->cells_size - c->value_offset;
    return fits ? r->cells + c->value_offset : 0;
}

perf_raw perf_table_number(perf_table *t, perf_group *g, uint32_t row, uint32_t column)
{
    uint32_t size, at = perf_table_cell(t, g, row, column, &size);

    if (at == 0 || (size != 4 && size != 8)) {
        return (perf_raw){0, 0};
    }
    return size == 4 ? (perf_raw){perf_table_u32(t, at), 4} : (perf_raw){perf_table_u64(t, at), 8};
}

/* --- Indexes ----------------------------------------------------------------------------------------------------- */

static uint64_t key_secret[2] = {0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F};

void perf_table_set_secret(const uint64_t secret[2])
{
    memcpy(key_secret, secret, sizeof key_secret);
}

/* Folds the product of two numbers of 64 bits. */
static uint64_t fold_product(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32), other = (a & UINT32_MAX) * (b >> 32);

    other += middle & UINT32_MAX;
    return (other << 32 | (low & UINT32_MAX)) ^ (high + (middle >> 32) + (other >> 32));
#endif
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return fold_product(a ^ key_secret[0], b ^ key_secret[1]);
}

static void make_index(perf_table *t, perf_index *lookup, uint32_t keys)
{
    for (lookup->mask = 7; lookup->mask / 2 < keys; lookup->mask = 2 * lookup->mask + 1) {
    }
    lookup->slots = allocate(t, (size_t)lookup->mask + 1, sizeof *lookup->slots);
}

/* Returns the slot of a key, or the empty one where it goes. */
static perf_slot *find_slot(const perf_index *lookup, uint64_t key)
{
    uint32_t i = (uint32_t)key & lookup->mask;

    while (lookup->slots[i].count > 0 && lookup->slots[i].key != key) {
        i = (i + 1) & lookup->mask;
    }
    return &lookup->slots[i];
}

/* Returns how many numbers had the key before. */
static uint32_t add_key(perf_index *lookup, uint64_t key, uint32_t number)
{
    perf_slot *slot = find_slot(lookup, key);

    *slot = (perf_slot){key, slot->count > 0 ? slot->first : number, slot->count + 1};
    return slot->count - 1;
}

/* --- Columns and objects ----------------------------------------------------------------------------------------- */

/* Returns the slot of a counter. */
static perf_slot find_columns(perf_table *t, perf_group *g, uint32_t id, bool is_base)
{
    perf_slot found = {.count = 0};

    if (g->columns == 1) { /* a response can have 10,000 such groups */
        const perf_column *c = perf_table_column(t, g, 0);
        found.count = c->id == id && perf_column_is_base(c) == is_base;
        return found;
    }
    perf_index *columns = &get_index(t, g)->columns;
    if (columns->slots == NULL) {
        make_index(t, columns, g->columns);
        for (uint32_t i = 0; i < g->columns; i++) {
            const perf_column *c = perf_table_column(t, g, i);
            add_key(columns, mix(c->id, perf_column_is_base(c)), i);
        }
    }
    return *find_slot(columns, mix(id, is_base));
}

uint32_t perf_table_count_columns(perf_table *t, perf_group *g, uint32_t id, bool is_base, uint32_t *first)
{
    const perf_slot slot = find_columns(t, g, id, is_base);

    *first = slot.first;
    return slot.count;
}

uint32_t perf_table_find_column(perf_table *t, perf_group *g, uint32_t id, bool is_base)
{
    uint32_t first;

    return perf_table_count_columns(t, g, id, is_base, &first) == 1 ? first : PERF_NO_ID;
}

static const perf_slot *find_objects(perf_table *t, uint32_t title_index)
{
    if (t->by_key.slots == NULL) {
        make_index(t, &t->by_key, t->num_groups);
        for (uint32_t i = 0; i < t->num_groups; i++) {
            add_key(&t->by_key, mix(t->groups[i].key, 0), i);
        }
    }
    return find_slot(&t->by_key, mix(title_index, 0));
}

perf_group *perf_table_find_object(perf_table *t, uint32_t title_index)
{
    const perf_slot *slot = find_objects(t, title_index);

    return slot->count == 1 ? &t->groups[slot->first] : NULL;
}

uint32_t perf_table_count_objects(perf_table *t, uint32_t title_index)
{
    return find_objects(t, title_index)->count;
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* Returns where the name stands. `room`: bytes that it may have, 0: there is none. */
static inline uint32_t find_name(const perf_table *t, uint32_t instance, uint32_t *room)
{
    *room = t->is_block ? perf_table_u32(t, instance + 20) : perf_le32(t->data + instance) - PERF_INSTANCE_HEADER_SIZE;
    return instance + (!t->is_block ? PERF_INSTANCE_HEADER_SIZE : *room > 0 ? perf_table_u32(t, instance + 16) : 0);
}

uint32_t perf_table_name(const perf_table *t, const perf_group *g, uint32_t row, uint32_t *size)
{
    uint32_t room = 0, at = perf_table_row(t, g, row)->offset, name = g->has_instances ? find_name(t, at, &room) : at;

    if (perf_group_has_wide_names(g)) {
        *size = perf_utf16_size(t->data + name, room);
    } else {
        const uint8_t *end = room > 0 ? memchr(t->data + name, 0, room) : NULL;
        *size = end ? (uint32_t)(end - t->data - name) : room;
    }
    return name;
}

/* Returns the first row from `row` on that has the name, PERF_NO_ID: none. Names mostly differ in their ends. */
static uint32_t find_named_row(const perf_table *t, const perf_group *g, uint32_t row, const uint8_t *name,
                               uint32_t size)
{
    for (; row < g->rows; row++) {
        uint32_t room, its_size, at = find_name(t, perf_table_row(t, g, row)->offset, &room);
        if (room >= size && (size == 0 || t->data[at + size - 1] == name[size - 1]) &&
            (size < 2 || t->data[at + size - 2] == name[size - 2]) && memcmp(t->data + at, name, size) == 0 &&
            perf_table_name(t, g, row, &its_size) == at && its_size == size) {
            return row;
        }
    }
    return PERF_NO_ID;
}

uint32_t perf_table_find_row(const perf_table *t, const perf_group *g, const uint8_t *name, uint32_t size)
{
    return g->has_instances ? find_named_row(t, g, 0, name, size) : PERF_NO_ID;
}

static uint64_t digest_bytes(const uint8_t *bytes, uint32_t size, uint64_t seed)
{
    uint64_t hash = mix(seed, size), tail = 0;

    for (; size >= 8; bytes += 8, size -= 8) {
        hash = mix(hash, perf_le64(bytes));
    }
    memcpy(&tail, bytes, size);
    return mix(hash, tail);
}

static uint64_t digest_name(const perf_table *t, const perf_group *g, uint32_t row, uint64_t seed)
{
    uint32_t size, name = perf_table_name(t, g, row, &size);

    return digest_bytes(t->data + name, size, seed);
}

static bool has_parent(const perf_table *t, const perf_group *g, uint32_t row)
{
    return t->is_block && perf_table_u32(t, perf_table_row(t, g, row)->offset + 4) != 0;
}

/* Returns the object of the row's parent and `parent`, its row there; NULL: it has no parent, or that is not in the response. */
static perf_group *find_parent(perf_table *t, const perf_group *g, uint32_t row, uint32_t *parent)
{
    uint32_t offset = perf_table_row(t, g, row)->offset;
    perf_group *parents = has_parent(t, g, row) ? perf_table_find_object(t, perf_table_u32(t, offset + 4)) : NULL;

    *parent = perf_table_u32(t, offset + 8);
    return parents && parents->has_instances && *parent < parents->rows ? parents : NULL;
}

/* The parent's name is part of what a row is called. */
static row_name make_name(perf_table *t, const perf_group *g, uint32_t row)
{
    uint32_t parent;
    const perf_group *parents = find_parent(t, g, row, &parent);
    uint64_t seed = parents ? digest_name(t, parents, parent, 1) : 0;

    return (row_name){.digest = digest_name(t, g, row, seed), .lacks_parent = !parents && has_parent(t, g, row)};
}

enum { WITH_ORDINAL = 2, WITH_ID = 3 };

static uint64_t key_with(uint64_t digest, uint32_t what, uint32_t number)
{
    return mix(digest + what, number);
}

/* Makes the index of a group whose names repeat once more, with room for ordinals. */
static void add_ordinals(perf_table *t, perf_group_index *lookup, uint32_t rows)
{
    const perf_index names = lookup->rows;

    make_index(t, &lookup->rows, 2 * rows);
    for (uint32_t i = 0; i < rows; i++) {
        const row_name *name = &lookup->names[i];
        const perf_slot *slot = find_slot(&names, name->digest);
        *find_slot(&lookup->rows, name->digest) = *slot;
        if (slot->count > 1) {
            add_key(&lookup->rows, key_with(name->digest, WITH_ORDINAL, name->ordinal), i);
        }
    }
    free(names.slots);
}

static perf_group_index *get_row_index(perf_table *t, perf_group *g)
{
    perf_group_index *lookup = get_index(t, g);

    if (lookup->names) {
        return lookup;
    }
    lookup->names = allocate(t, g->rows + 1, sizeof *lookup->names);
    make_index(t, &lookup->rows, g->rows);
    for (uint32_t i = 0; i < g->rows; i++) {
        lookup->names[i] = make_name(t, g, i);
        lookup->names[i].ordinal = add_key(&lookup->rows, lookup->names[i].digest, i);
        lookup->has_repeated_names |= lookup->names[i].ordinal > 0;
    }
    if (lookup->has_repeated_names) {
        add_ordinals(t, lookup, g->rows);
    }
    return lookup;
}

/* Keeps what is known of the first row that somebody asks for, which is mostly the only one: without an index, unless there are parents. */
static void scan_names(perf_table *t, perf_group *g, uint32_t row)
{
    uint32_t size, name = perf_table_name(t, g, row, &size);
    perf_row_name found = {.ordinal = 0};
    bool has_parents = has_parent(t, g, row);

    for (uint32_t i = 0; !has_parents && (i = find_named_row(t, g, i, t->data + name, size)) != PERF_NO_ID; i++) {
        has_parents = has_parent(t, g, i);
        found.ordinal += i < row;
        found.is_repeated |= i != row;
    }
    if (!has_parents) {
        g->index->scanned = found;
        g->index->scanned_row = row;
    }
}

perf_row_name perf_table_row_name(perf_table *t, perf_group *g, uint32_t row)
{
    perf_group_index *lookup = get_index(t, g);

    if (lookup->names == NULL && lookup->scanned_row == PERF_NO_ID) {
        scan_names(t, g, row);
    }
    if (lookup->scanned_row == row) {
        return lookup->scanned;
    }
    const row_name *name = &get_row_index(t, g)->names[row];
    return (perf_row_name){.ordinal = name->ordinal,
                           .lacks_parent = name->lacks_parent,
                           .is_repeated = find_slot(&lookup->rows, name->digest)->count > 1};
}

bool perf_table_repeats_names(perf_table *t, perf_group *g)
{
    return get_row_index(t, g)->has_repeated_names;
}

uint32_t perf_table_count_rows(perf_table *t, perf_group *g, const uint8_t *name, uint32_t size, uint32_t *first)
{
    const perf_slot *slot = find_slot(&get_row_index(t, g)->rows, digest_bytes(name, size, 0));

    *first = slot->first;
    return slot->count;
}

/* --- The same instance in two samples ---------------------------------------------------------------------------- */

/* Title indexes, the same on every Windows. A thread has its process' id, too. */
enum { TITLE_ID_PROCESS = 784, TITLE_ID_THREAD = 804 };

/* Column of the id that proves in both groups which instance a row is. */
typedef struct {
    uint32_t here, there; /* PERF_NO_ID: there is none */
} proving_columns;

/* Returns false, and no columns, if one of the groups has none, or several. */
static bool find_proving_columns(perf_table *here, perf_group *g, perf_table *there, perf_group *other, uint32_t title,
                                 proving_columns *found)
{
    uint32_t own = perf_table_find_column(here, g, title, false),
             others = perf_table_find_column(there, other, title, false);
    uint32_t size = own != PERF_NO_ID ? perf_table_column(here, g, own)->value_size : 0; /* Samba has 8 bytes */
    bool are_ids =
        others != PERF_NO_ID && (size == 4 || size == 8) && perf_table_column(there, other, others)->value_size == size;

    *found = are_ids ? (proving_columns){own, others} : (proving_columns){PERF_NO_ID, PERF_NO_ID};
    return are_ids;
}

/* Index of the rows by name and by the value that proves. */
static const perf_index *get_id_index(perf_table *t, perf_group *g, uint32_t column)
{
    perf_group_index *lookup = get_row_index(t, g);

    if (lookup->id_column != column || lookup->row_ids.slots == NULL) {
        free(lookup->row_ids.slots);
        make_index(t, &lookup->row_ids, g->rows);
        lookup->id_column = column;
        for (uint32_t i = 0; i < g->rows; i++) {
            uint32_t id = (uint32_t)perf_table_number(t, g, i, column).value;
            add_key(&lookup->row_ids, key_with(lookup->names[i].digest, WITH_ID, id), i);
        }
    }
    return &lookup->row_ids;
}

/* Finds the one row that has the name and the id that proves, of a name that several rows have in one of the groups. */
static perf_match match_proven(perf_table *there, perf_group *other, uint32_t column, uint64_t digest, uint32_t id,
                               uint32_t *match)
{
    const perf_slot *same = find_slot(get_id_index(there, other, column), key_with(digest, WITH_ID, id));

    *match = same->first;
    return same->count == 1 ? PERF_MATCH_KNOWN : PERF_MATCH_AMBIGUOUS;
}

/* True if several rows have the name of the row's parent: two processes' threads are called "svc/1". */
static bool has_repeated_parent(perf_table *t, const perf_group *g, uint32_t row)
{
    uint32_t parent;
    perf_group *parents = find_parent(t, g, row, &parent);

    return parents && perf_table_row_name(t, parents, parent).is_repeated;
}

/* A name that is once in both groups is the same instance, unless its id differs, or it may be the child of another parent. */
static perf_match match_single(perf_table *here, perf_group *g, uint32_t row, perf_table *there, perf_group *other,
                               uint32_t match, const proving_columns *proving)
{
    if (proving->here == PERF_NO_ID) {
        bool is_same = perf_table_row(here, g, row)->id == perf_table_row(there, other, match)->id &&
                       !has_repeated_parent(here, g, row) && !has_repeated_parent(there, other, match);
        return is_same ? PERF_MATCH_KNOWN : PERF_MATCH_ASSUMED;
    }
    uint64_t id = perf_table_number(here, g, row, proving->here).value;
    return id == perf_table_number(there, other, match, proving->there).value ? PERF_MATCH_KNOWN : PERF_MATCH_AMBIGUOUS;
}

/* Answers the first question about a group, which is mostly the only one, without an index. Returns false if an index is needed.
 * `match`: PERF_NO_ID: the name is not there. */
static bool match_by_scan(perf_table *here, perf_group *g, uint32_t row, perf_table *there, perf_group *other,
                          uint32_t *match)
{
    perf_group_index *lookup = get_index(here, g);

    if (lookup->was_asked || lookup->names || perf_table_row_name(here, g, row).is_repeated || lookup->names) {
        return false;
    }
    uint32_t size, name = perf_table_name(here, g, row, &size);
    const uint8_t *bytes = here->data + name;
    lookup->was_asked = true;
    *match = find_named_row(there, other, 0, bytes, size);
    return *match == PERF_NO_ID ||
           (!has_parent(there, other, *match) && find_named_row(there, other, *match + 1, bytes, size) == PERF_NO_ID);
}

perf_match perf_table_match_row(perf_table *here, perf_group *g, uint32_t row, perf_table *there, perf_group *other,
                                perf_id_proofs proofs, uint32_t *match)
{
    proving_columns proving = {PERF_NO_ID, PERF_NO_ID};

    *match = 0;
    if (!g->has_instances || !other->has_instances) {
        return !g->has_instances && !other->has_instances && other->rows > 0 ? PERF_MATCH_KNOWN : PERF_MATCH_NONE;
    }
    bool is_proven =
        (proofs & PERF_PROVES_THREAD) && find_proving_columns(here, g, there, other, TITLE_ID_THREAD, &proving);
    if (!is_proven && (proofs & PERF_PROVES_PROCESS)) {
        find_proving_columns(here, g, there, other, TITLE_ID_PROCESS, &proving);
    }
    if (match_by_scan(here, g, row, there, other, match)) {
        return *match == PERF_NO_ID ? PERF_MATCH_NONE : match_single(here, g, row, there, other, *match, &proving);
    }
    const perf_group_index *rows = get_row_index(here, g), *rows_there = get_row_index(there, other);
    const row_name *name = &rows->names[row];
    uint32_t count = find_slot(&rows->rows, name->digest)->count;
    const perf_slot *named = find_slot(&rows_there->rows, name->digest);
    *match = named->first;
    if (named->count == 0) {
        return PERF_MATCH_NONE;
    }
    if (count == 1 && named->count == 1) {
        return match_single(here, g, row, there, other, *match, &proving);
    }
    if (proving.here != PERF_NO_ID) {
        uint32_t id = (uint32_t)perf_table_number(here, g, row, proving.here).value;
        if (find_slot(get_id_index(here, g, proving.here), key_with(name->digest, WITH_ID, id))->count == 1) {
            return match_proven(there, other, proving.there, name->digest, id, match);
        }
    }
    if (count != named->count) {
        return PERF_MATCH_AMBIGUOUS;
    }
    *match = find_slot(&rows_there->rows, key_with(name->digest, WITH_ORDINAL, name->ordinal))->first;
    return PERF_MATCH_ASSUMED;
}
