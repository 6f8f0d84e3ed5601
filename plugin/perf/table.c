/* table.c
 * The counter data of a response as tables: groups, cells, and which row and column are the same in two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/table.h"

#include <stdlib.h>

/* A row's name in the index. */
typedef struct {
    uint64_t digest;  /* of its name behind its parent's */
    uint32_t ordinal; /* rows of this name in front of it */
} row_name;

/* Rows of one name. */
typedef struct {
    uint32_t first; /* meaningless without any */
    uint32_t count;
    uint32_t before; /* those in front of the row that was asked for, in its own group */
} named_rows;

/* Scans of a group's names before they are indexed. The packet list takes two: for the row that it shows of this sample, and of the next one. */
#define MOST_SCANS 2

/* Each part is NULL until somebody asks for it. */
struct perf_group_index {
    perf_group_index *next; /* of the table */
    unsigned scans;         /* of the names, before `names` was made */
    uint32_t scanned_row;   /* `scanned` are the rows of its name; PERF_NO_ID: none */
    named_rows scanned;
    perf_index columns; /* by id, and whether it is a base */
    perf_index rows;    /* by the digest of the name; from the second of a name on, by digest and ordinal */
    bool has_ambiguous; /* a name has a second row, and one looks numbered: "x#1" */
    row_name *names;    /* of each row */
    perf_index row_ids; /* by the digest of the name and the value of `id_column` */
    uint32_t id_column; /* column of an id that proves the instance */
};

/* Returns the memory. A lack of it ends the program. */
static void *check_memory(void *memory)
{
    if (memory == NULL) {
        abort();
    }
    return memory;
}

void *perf_table_enlarge(perf_table *t, void *array, unsigned which, uint32_t more)
{
    static const size_t sizes[PERF_NUM_ARRAYS] = {sizeof *t->groups, sizeof *t->columns, sizeof *t->rows,
                                                  sizeof *t->cells, sizeof *t->faults};
    uint32_t added = t->room[which] / 2 + more;

    t->room[which] += added;
    t->array_bytes += added * sizes[which];
    return check_memory(realloc(array, t->room[which] * sizes[which]));
}

/* Returns zeroed memory for `count` elements of an index. Changes: counts its bytes. */
static void *allocate_index(perf_table *t, size_t count, size_t size)
{
    t->index_bytes += count * size;
    return check_memory(calloc(count, size));
}

void perf_table_free(perf_table *t)
{
    for (perf_group_index *lookup = t->indexes, *next; lookup; lookup = next) {
        next = lookup->next;
        free(lookup->columns.slots);
        free(lookup->rows.slots);
        free(lookup->names);
        free(lookup->row_ids.slots);
        free(lookup);
    }
    free(t->by_key.slots);
    free(t->groups);
    free(t->columns);
    free(t->rows);
    free(t->cells);
    free(t->faults);
}

void perf_table_begin(perf_table *t, const uint8_t *data, uint32_t size, uint32_t reported, bool is_block)
{
    perf_table_free(t);
    *t = (perf_table){.data = data, .size = size, .reported = reported, .is_block = is_block, .is_whole = true};
}

/* Returns the group's index. Changes: makes it, with all parts NULL. */
static perf_group_index *get_index(perf_table *t, perf_group *g)
{
    if (g->index == NULL) {
        g->index = allocate_index(t, 1, sizeof *g->index);
        g->index->scanned_row = PERF_NO_ID;
        g->index->next = t->indexes;
        t->indexes = g->index;
    }
    return g->index;
}

static uint64_t key_secret[2] = {UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xC2B2AE3D27D4EB4F)};

void perf_table_set_secret(const uint64_t secret[2])
{
    memcpy(key_secret, secret, sizeof key_secret);
}

/* Returns a keyed hash of two numbers: the two halves of their 128-bit product, combined by xor. */
static uint64_t mix_keys(uint64_t a, uint64_t b)
{
    a ^= key_secret[0];
    b ^= key_secret[1];
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32), other = (a & UINT32_MAX) * (b >> 32);

    other += middle & UINT32_MAX;
    return (other << 32 | (low & UINT32_MAX)) ^ (high + (middle >> 32) + (other >> 32));
}

/* Makes an empty hash table with at least two slots for each of `keys` keys. */
static void make_index(perf_table *t, perf_index *lookup, uint32_t keys)
{
    for (lookup->mask = 7; lookup->mask / 2 < keys; lookup->mask = 2 * lookup->mask + 1) {
    }
    lookup->slots = allocate_index(t, (size_t)lookup->mask + 1, sizeof *lookup->slots);
}

/* Returns the slot of a key, or the empty one where it goes. Needs: more slots than keys, as make_index() has them. */
static perf_slot *find_slot(const perf_index *lookup, uint64_t key)
{
    uint32_t i = (uint32_t)key & lookup->mask;

    while (lookup->slots[i].count > 0 && lookup->slots[i].key != key) {
        i = (i + 1) & lookup->mask;
    }
    return &lookup->slots[i];
}

/* Adds a number under a key, which keeps the first and counts the others. Returns how many had the key before. Needs: make_index(). */
static uint32_t add_key(perf_index *lookup, uint64_t key, uint32_t number)
{
    perf_slot *slot = find_slot(lookup, key);

    *slot = (perf_slot){key, slot->count > 0 ? slot->first : number, slot->count + 1};
    return slot->count - 1;
}

/* --- Columns and objects ----------------------------------------------------------------------------------------- */

/* Returns the slot of a counter in the index of the group's columns; count 0: it has none. Changes: makes the index. */
static const perf_slot *find_column_slot(perf_table *t, perf_group *g, uint32_t id, bool is_base)
{
    perf_index *by_id = &get_index(t, g)->columns;

    if (by_id->slots == NULL) {
        make_index(t, by_id, g->columns);
        for (uint32_t i = 0; i < g->columns; i++) {
            const perf_column *c = perf_table_column(t, g, i);
            add_key(by_id, mix_keys(c->id, perf_column_is_base(c)), i);
        }
    }
    return find_slot(by_id, mix_keys(id, is_base));
}

#define MOST_SCANNED_COLUMNS 16 /* columns of a group that are compared one by one, without an index */

uint32_t perf_table_count_columns(perf_table *t, perf_group *g, uint32_t id, bool is_base, uint32_t *first)
{
    uint32_t count = 0;

    if (g->columns > MOST_SCANNED_COLUMNS) {
        const perf_slot *slot = find_column_slot(t, g, id, is_base);
        *first = slot->first;
        return slot->count;
    }
    *first = 0;
    for (uint32_t i = g->columns; i-- > 0;) {
        const perf_column *c = perf_table_column(t, g, i);
        if (c->id == id && perf_column_is_base(c) == is_base) {
            *first = i;
            count++;
        }
    }
    return count;
}

uint32_t perf_table_find_column(perf_table *t, perf_group *g, uint32_t id, bool is_base)
{
    uint32_t first;

    return perf_table_count_columns(t, g, id, is_base, &first) == 1 ? first : PERF_NO_ID;
}

perf_match perf_table_match_column(perf_table *here, perf_group *g, uint32_t column, perf_table *there,
                                   perf_group *other, uint32_t *match)
{
    const perf_column *own = perf_table_column(here, g, column);
    uint32_t first, count = perf_table_count_columns(there, other, own->id, /* is_base */ false, match);
    bool is_known = count == 1 && perf_table_column(there, other, *match)->type == own->type &&
                    (g->columns == 1 || perf_table_count_columns(here, g, own->id, /* is_base */ false, &first) == 1);

    return is_known ? PERF_MATCH_KNOWN : count == 0 ? PERF_MATCH_NONE : PERF_MATCH_AMBIGUOUS;
}

const perf_slot *perf_table_find_objects(perf_table *t, uint32_t title_index)
{
    if (t->by_key.slots == NULL) {
        make_index(t, &t->by_key, t->num_groups);
        for (uint32_t i = 0; i < t->num_groups; i++) {
            add_key(&t->by_key, mix_keys(t->groups[i].key, 0), i);
        }
    }
    return find_slot(&t->by_key, mix_keys(title_index, 0));
}

perf_group *perf_table_find_object(perf_table *t, uint32_t title_index)
{
    const perf_slot *slot = perf_table_find_objects(t, title_index);

    return slot->count == 1 ? &t->groups[slot->first] : NULL;
}

/* --- Names of rows ----------------------------------------------------------------------------------------------- */

/* Returns the offset of an instance's name. `instance`: the instance's offset. `room`: bytes for it with terminator and padding, 0: none. */
static uint32_t find_name(const perf_table *t, uint32_t instance, uint32_t *room)
{
    if (!t->is_block) {
        *room = perf_le32(t->data + instance) - PERF_INSTANCE_HEADER_SIZE;
        return instance + PERF_INSTANCE_HEADER_SIZE;
    }
    *room = perf_table_u32(t, instance + 20);
    return instance + (*room > 0 ? perf_table_u32(t, instance + 16) : 0);
}

uint32_t perf_table_name(const perf_table *t, const perf_group *g, uint32_t row, uint32_t *size)
{
    uint32_t room = 0, at = perf_table_row(t, g, row)->offset;
    uint32_t name = g->has_instances ? find_name(t, at, &room) : at;

    room = room < PERF_MOST_NAME_BYTES ? room : PERF_MOST_NAME_BYTES;
    *size = perf_text_size(t->data + name, room, perf_is_utf16(g->code_page));
    return name;
}

/* Returns the first row from `row` on whose name may end in the last 4 bytes of `name`; g->rows: none. Needs: PerflibV2, whose names stand
 * right behind their header, and mostly differ in their ends. */
static uint32_t skip_other_names(const perf_table *t, const perf_group *g, uint32_t row, const uint8_t *name,
                                 uint32_t size)
{
    const perf_row *rows = t->rows + g->first_row;
    const uint32_t most = t->size - size - PERF_INSTANCE_HEADER_SIZE, last = perf_le32(name + size - 4);
    const uint8_t *ends = t->data + PERF_INSTANCE_HEADER_SIZE + size - 4;

    while (row < g->rows && rows[row].offset <= most && perf_le32(ends + rows[row].offset) != last) {
        row++;
    }
    return row < g->rows && rows[row].offset <= most ? row : g->rows;
}

uint32_t perf_table_find_row(const perf_table *t, const perf_group *g, uint32_t row, const uint8_t *name, uint32_t size)
{
    const bool may_skip = !t->is_block && size >= 4 && size <= t->size - PERF_INSTANCE_HEADER_SIZE;

    for (; row < g->rows; row++) {
        row = may_skip ? skip_other_names(t, g, row, name, size) : row;
        uint32_t its_size = 0, at = row < g->rows ? perf_table_name(t, g, row, &its_size) : 0;
        if (at > 0 && its_size == size && memcmp(t->data + at, name, size) == 0) {
            return row;
        }
    }
    return PERF_NO_ID;
}

/* True if the row names a parent, be it in the response or not. Needs: the group has instances. */
static bool has_parent(const perf_table *t, const perf_group *g, uint32_t row)
{
    return t->is_block && perf_table_u32(t, perf_table_row(t, g, row)->offset + 4) != 0;
}

perf_group *perf_table_find_parent(perf_table *t, const perf_group *g, uint32_t row, uint32_t *parent)
{
    uint32_t offset = perf_table_row(t, g, row)->offset;
    perf_group *parents = has_parent(t, g, row) ? perf_table_find_object(t, perf_table_u32(t, offset + 4)) : NULL;

    *parent = parents ? perf_table_u32(t, offset + 8) : 0;
    return parents && parents->has_instances && *parent < parents->rows ? parents : NULL;
}

/* Returns a keyed hash of bytes. `seed`: the digest of the parent's name, 0: none. */
static uint64_t digest_bytes(const uint8_t *bytes, uint32_t size, uint64_t seed)
{
    uint64_t hash = mix_keys(seed, size), tail = 0;

    for (; size >= 8; bytes += 8, size -= 8) {
        hash = mix_keys(hash, perf_le64(bytes));
    }
    memcpy(&tail, bytes, size);
    return mix_keys(hash, tail);
}

/* Returns the digest of a row's name behind its parent's. `parent`: digest of that name; 0: it has none; 1: the row is itself taken as a parent. */
static uint64_t digest_name(const perf_table *t, const perf_group *g, uint32_t row, uint64_t parent)
{
    uint32_t size, name = perf_table_name(t, g, row, &size);

    return digest_bytes(t->data + name, size, parent);
}

/* Returns the digest of a row's name and its parent's, equal for equal names. A parent that is not in the response counts as none. Needs: the group has
 * instances. Changes: may make the index of objects. */
static uint64_t get_digest(perf_table *t, const perf_group *g, uint32_t row)
{
    uint32_t parent;

    if (g->index && g->index->names) {
        return g->index->names[row].digest;
    }
    const perf_group *parents = perf_table_find_parent(t, g, row, &parent);
    return digest_name(t, g, row, parents ? digest_name(t, parents, parent, 1) : 0);
}

/* Returns the digest of a name together with a number: its ordinal, or a proving id. */
static uint64_t add_to_digest(uint64_t digest, uint64_t number)
{
    return mix_keys(digest + 1, number);
}

/* True if the row's own name, as it was sent, ends in "#" and digits, like "x#1". Bytes of 0 are halves of UTF-16. */
static bool is_numbered_name(const perf_table *t, const perf_group *g, uint32_t row)
{
    uint32_t size, digits = 0, at = perf_table_name(t, g, row, &size);

    for (; size > 0; size--) {
        uint8_t byte = t->data[at + size - 1];
        if (byte != 0 && (byte < '0' || byte > '9')) {
            return digits > 0 && byte == '#';
        }
        digits += byte != 0;
    }
    return false;
}

/* Returns the group's index with names and rows. Changes: makes these. */
static perf_group_index *get_row_index(perf_table *t, perf_group *g)
{
    perf_group_index *lookup = get_index(t, g);

    if (lookup->names) {
        return lookup;
    }
    row_name *names = allocate_index(t, g->rows + 1, sizeof *names);
    bool repeats_names = false;
    make_index(t, &lookup->rows, g->rows);
    for (uint32_t i = 0; i < g->rows; i++) {
        names[i].digest = get_digest(t, g, i);
        names[i].ordinal = add_key(&lookup->rows, names[i].digest, i);
        if (names[i].ordinal > 0) {
            add_key(&lookup->rows, add_to_digest(names[i].digest, names[i].ordinal), i);
            repeats_names = true;
        }
    }
    for (uint32_t i = 0; repeats_names && i < g->rows && !lookup->has_ambiguous; i++) {
        lookup->has_ambiguous = is_numbered_name(t, g, i);
    }
    lookup->names = names;
    return lookup;
}

/* Returns the rows of a group that have these bytes as their name, and no parent in the response. `row`: `before` counts those in front of it. */
static named_rows scan_names(perf_table *t, const perf_group *g, const uint8_t *name, uint32_t size, uint32_t row)
{
    named_rows found = {.first = PERF_NO_ID};
    uint32_t parent;

    for (uint32_t i = 0; (i = perf_table_find_row(t, g, i, name, size)) != PERF_NO_ID; i++) {
        if (perf_table_find_parent(t, g, i, &parent) == NULL) {
            found.first = found.count++ == 0 ? i : found.first;
            found.before += i < row;
        }
    }
    return found;
}

/* Counts a scan of the group's names. Returns false if the index has to answer instead: it is there, or this is the third scan. */
static bool count_scan(perf_table *t, perf_group *g)
{
    perf_group_index *lookup = get_index(t, g);

    return lookup->names == NULL && lookup->scans++ < MOST_SCANS;
}

/* Returns the rows of group `g` with the name and the parent's name of a row of `other`, which is `g`, or a group of another table: then `before` means
 * nothing. Needs: both have instances. Changes: counts a scan, or makes the index. */
static named_rows find_named_rows(perf_table *t, perf_group *g, perf_table *there, perf_group *other, uint32_t row)
{
    if (!has_parent(there, other, row) && count_scan(t, g)) {
        uint32_t size, name = perf_table_name(there, other, row, &size);
        return scan_names(t, g, there->data + name, size, row);
    }
    const perf_group_index *lookup = get_row_index(t, g);
    const perf_slot *slot = find_slot(&lookup->rows, get_digest(there, other, row));
    return (named_rows){slot->first, slot->count, g == other ? lookup->names[row].ordinal : 0};
}

/* Returns the rows with the name of the group's `row`. Changes: keeps them until another row is asked for: label and match both need them. */
static named_rows find_own_named_rows(perf_table *t, perf_group *g, uint32_t row)
{
    perf_group_index *lookup = get_index(t, g);

    if (lookup->scanned_row != row) {
        lookup->scanned = find_named_rows(t, g, t, g, row);
        lookup->scanned_row = row;
    }
    return lookup->scanned;
}

perf_row_name perf_table_row_name(perf_table *t, perf_group *g, uint32_t row)
{
    const named_rows rows = find_own_named_rows(t, g, row);
    bool is_numbered = rows.before > 0 || is_numbered_name(t, g, row);
    uint32_t parent;
    bool lacks_parent = has_parent(t, g, row) && perf_table_find_parent(t, g, row, &parent) == NULL;

    return (perf_row_name){rows.before, lacks_parent || (is_numbered && get_row_index(t, g)->has_ambiguous)};
}

uint32_t perf_table_count_rows(perf_table *t, perf_group *g, const uint8_t *name, uint32_t size, uint32_t *first)
{
    if (count_scan(t, g)) {
        const named_rows rows = scan_names(t, g, name, size, PERF_NO_ID);
        *first = rows.first;
        return rows.count;
    }
    const perf_slot *slot = find_slot(&get_row_index(t, g)->rows, digest_bytes(name, size, 0));
    *first = slot->first;
    return slot->count;
}

/* --- The same instance in two samples ---------------------------------------------------------------------------- */

/* Columns, one in each of two groups, of the id that proves which instance a row is. */
typedef struct {
    uint32_t here, there; /* PERF_NO_ID: there is none */
} proving_columns;

/* Returns the columns of the first id of `proofs` that both groups have exactly once, in one size of 4 or 8 bytes; else PERF_NO_ID. */
static proving_columns find_proving_columns(perf_table *here, perf_group *g, perf_table *there, perf_group *other,
                                            perf_id_proofs proofs)
{
    static const uint32_t titles[][2] = {{PERF_PROVES_THREAD, PERF_TITLE_ID_THREAD}, /* threads have ID Process, too */
                                         {PERF_PROVES_PROCESS, PERF_TITLE_ID_PROCESS}};

    for (unsigned i = 0; i < 2; i++) {
        bool is_asked = (proofs & titles[i][0]) != 0;
        uint32_t own = is_asked ? perf_table_find_column(here, g, titles[i][1], /* is_base */ false) : PERF_NO_ID;
        uint32_t others =
            own != PERF_NO_ID ? perf_table_find_column(there, other, titles[i][1], /* is_base */ false) : PERF_NO_ID;
        uint32_t size = others != PERF_NO_ID ? perf_table_column(there, other, others)->value_size : 0;
        if ((size == 4 || size == 8) && perf_table_column(here, g, own)->value_size == size) { /* Samba has 8 bytes */
            return (proving_columns){own, others};
        }
    }
    return (proving_columns){PERF_NO_ID, PERF_NO_ID};
}

/* Returns the slot of the rows with a name (`digest`) and an id in `column`; count 0: none. Changes: makes the index. */
static perf_slot find_proven_rows(perf_table *t, perf_group *g, uint32_t column, uint64_t digest, uint64_t id)
{
    perf_group_index *lookup = get_row_index(t, g);

    if (lookup->id_column != column || lookup->row_ids.slots == NULL) {
        free(lookup->row_ids.slots);
        make_index(t, &lookup->row_ids, g->rows);
        lookup->id_column = column;
        for (uint32_t i = 0; i < g->rows; i++) {
            uint64_t its_id = perf_table_number(t, g, i, column).value;
            add_key(&lookup->row_ids, add_to_digest(lookup->names[i].digest, its_id), i);
        }
    }
    return *find_slot(&lookup->row_ids, add_to_digest(digest, id));
}

/* True if several rows have the name of the row's parent: threads of two processes "svc" are both called "svc/1". */
static bool has_repeated_parent(perf_table *t, const perf_group *g, uint32_t row)
{
    uint32_t parent;
    perf_group *parents = perf_table_find_parent(t, g, row, &parent);

    return parents && find_own_named_rows(t, parents, parent).count > 1;
}

/* Judges two rows whose name is once in each group. With a proving id: known if it is equal, ambiguous if not. Without: known if InstanceId or
 * UniqueID is equal and no parent has a repeated name, else assumed. */
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

perf_match perf_table_match_row(perf_table *here, perf_group *g, uint32_t row, perf_table *there, perf_group *other,
                                perf_id_proofs proofs, uint32_t *match)
{
    *match = 0;
    if (!g->has_instances || !other->has_instances) {
        return !g->has_instances && !other->has_instances && other->rows > 0 ? PERF_MATCH_KNOWN : PERF_MATCH_NONE;
    }
    const proving_columns proving = find_proving_columns(here, g, there, other, proofs);
    const named_rows own = find_own_named_rows(here, g, row), others = find_named_rows(there, other, here, g, row);
    *match = others.first;
    if (others.count == 0) {
        return PERF_MATCH_NONE;
    }
    if (own.count == 1 && others.count == 1) {
        return match_single(here, g, row, there, other, others.first, &proving);
    }
    uint64_t digest = get_digest(here, g, row);
    if (proving.here != PERF_NO_ID) {
        uint64_t id = perf_table_number(here, g, row, proving.here).value;
        const perf_slot same = find_proven_rows(there, other, proving.there, digest, id);
        if (find_proven_rows(here, g, proving.here, digest, id).count == 1) {
            *match = same.first;
            return same.count == 1 ? PERF_MATCH_KNOWN : PERF_MATCH_AMBIGUOUS;
        }
    }
    if (own.count != others.count) {
        return PERF_MATCH_AMBIGUOUS;
    }
    const perf_index *rows = &get_row_index(there, other)->rows;
    *match = own.before == 0 ? others.first : find_slot(rows, add_to_digest(digest, own.before))->first;
    return PERF_MATCH_ASSUMED;
}
