/* table.h
 * The counter data of a response as tables, for both protocols: groups (a block of counter data, an object of PERF_DATA_BLOCK), in each
 * group a row for each instance and a column for each counter, in each cell a value.
 *
 * A whole is sound if its parts, each as long as it says, fill it: groups fill the response; definitions, rows and cells fill their
 * group. A group that is not sound is read as far as its parts fit. Its values bear a mark, and nothing is compared with them.
 *
 * Offsets count from the first byte of the data, which has to live as long as the table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/bytes.h"
#include "perf/calculate.h"
#include "perf/structures.h"

/* Faults. X(name, class, text): the text takes two numbers, what is stated and what was found; the class is the expert info's. */
#define PERF_TABLE_FAULTS(X) \
    X(SHORT, SIZE, "the data has %u bytes, its header takes %u") \
    X(GROUPS, COUNT, "the number of blocks or objects is %u, %u are there") \
    X(GROUP_SIZE, SIZE, "the size is %u, it can be up to %u") \
    X(GROUP_TYPE, BLOCK_TYPE, "dwType is %u, which is unknown: %u bytes are skipped") \
    X(PARTS, SIZE, "the sizes of its parts are %u and more, %u bytes are there") \
    X(COLUMNS, COUNT, "the number of counters is %u, there is room for %u") \
    X(ROWS, COUNT, "the number of instances is %u, %u are there") \
    X(ROW_SIZE, SIZE, "the size of the instance is %u, it can be up to %u") \
    X(CELLS, COUNT, "%u values should be here, there are %u") \
    X(CELL_SIZE, SIZE, "the size of the value or counter block is %u, it can be up to %u") \
    X(DATA_SIZE, SIZE, "the value has %u bytes, its structure has room for %u") \
    X(REST, SIZE, "the size is %u, its parts end after %u") \
    X(NAME, TEXT, "the name is said to end at byte %u, its instance or header has %u") \
    X(NAME_SIZE, TEXT, "the name has %u bytes, a character of UTF-16 has %u") \
    X(TWICE, COUNT, "the object with title index %u is there %u times") \
    X(TOTAL, LENGTH, "the total size is %u, the data has %u bytes") \
    X(VERSION, NUMBER, "Version is %u, %u is known") \
    X(NUMBER, NUMBER, "LittleEndian is %u, it can be 0 or %u") \
    X(OFFSET, NUMBER, "CounterOffset and CounterSize say bytes %u to %u, the counter block has no value there") \
    X(READ_AS, READ_AS, "ByteLength says %u, the counters take %u: read as that, which fits the object")

#define PERF_TABLE_FAULT_ENUM(name, ...) PERF_FAULT_##name,
typedef enum { PERF_TABLE_FAULTS(PERF_TABLE_FAULT_ENUM) PERF_NUM_TABLE_FAULTS } perf_table_fault_kind;

#define PERF_NO_GROUP UINT32_MAX /* the whole response */

typedef struct {
    perf_table_fault_kind kind;
    uint32_t group;  /* number of the group that has it, PERF_NO_GROUP: the response */
    uint32_t offset; /* of the field that is wrong, or where what is missing should begin */
    uint32_t stated;
    uint32_t found;
} perf_table_fault;

typedef struct {
    uint32_t offset;       /* of its definition, or of its id */
    uint32_t id;           /* CounterNameTitleIndex, or CounterId; PERF_NO_ID: the block carries none */
    uint32_t type;         /* CounterType; PERF_DATA_BLOCK alone, as the next two */
    uint32_t value_offset; /* CounterOffset: bytes from the counter block's start */
    uint32_t value_size;   /* CounterSize, bytes */
} perf_column;

typedef struct {
    uint32_t offset; /* of its instance; 0: the group has no instances */
    uint32_t id;     /* InstanceId or UniqueID, PERF_NO_ID: none was sent */
    uint32_t cells;  /* offset of the first PERF_COUNTER_DATA, or of the PERF_COUNTER_BLOCK; 0: no value can be read */
    union {
        uint32_t block_size; /* PERF_DATA_BLOCK: bytes of the counter block */
        uint32_t cell_list;  /* PerflibV2: number of its first cell, plus 1; 0: each value takes 16 bytes */
    };
} perf_row;

/* Names and ids of a group's rows and columns, made when somebody asks for them first (table.c). */
typedef struct perf_group_index perf_group_index;

typedef struct {
    uint32_t offset;
    uint32_t end;            /* offset behind it, by its own size, never behind the data's end */
    uint32_t key;            /* ObjectNameTitleIndex; PerflibV2: number of the block */
    uint32_t type;           /* dwType; PERF_COUNTERSET of an object */
    uint32_t status;         /* dwStatus, a Win32 error; PerflibV2 alone */
    uint32_t code_page;      /* CodePage of its names; PERF_DATA_BLOCK alone */
    uint32_t first_column;   /* number of its first column in the table's */
    uint32_t columns;        /* their number */
    uint32_t first_row;      /* number of its first row in the table's */
    uint32_t rows;           /* their number */
    perf_group_index *index; /* NULL until somebody asks */
    bool has_instances;      /* else it has one row without a name, or none */
    bool has_values;         /* false: it only describes its counters (MetadataGlobal) */
    bool is_sound;           /* its parts fill it, and no other object has its title index */
    bool is_run;             /* stands for all blocks of one plain value up to `end`, which were counted and not read */
} perf_group;

typedef struct {
    uint64_t key;
    uint32_t first, count; /* the first number that was added with this key, and how many were; 0: the slot is empty */
} perf_slot;

/* Hash table from keys to numbers of groups, columns or rows, by open addressing. `slots`: NULL before it is made; `mask`: slots minus 1. */
typedef struct {
    perf_slot *slots;
    uint32_t mask;
} perf_index;

enum { PERF_GROUPS, PERF_COLUMNS, PERF_ROWS, PERF_CELLS, PERF_FAULTS, PERF_NUM_ARRAYS }; /* arrays of a table */

typedef struct {
    const uint8_t *data;
    uint32_t size;                    /* bytes that were captured */
    uint32_t reported;                /* bytes that were sent */
    bool is_block;                    /* PERF_DATA_BLOCK */
    bool is_samba;                    /* its total leaves the header out, as Samba's alone */
    bool is_sound;                    /* its groups fill it */
    bool is_whole;                    /* all groups were read: none is a run */
    bool big_endian, big_endian_text; /* byte order of numbers, and of UTF-16 */
    perf_point clocks;                /* PerfTime, PerfFreq, 100 ns */
    perf_group *groups;               /* in one place from the start to the end */
    perf_column *columns;
    perf_row *rows;
    uint32_t *cells;          /* offsets of the PERF_COUNTER_DATA of rows that have a list of them, 0: there is none */
    perf_table_fault *faults; /* the first 100 */
    uint32_t num_groups, num_columns, num_rows, num_cells, num_faults;
    uint32_t failed;                /* blocks with an error in place of values */
    uint32_t system_name;           /* offset of SystemName, 0: there is none; PERF_DATA_BLOCK alone */
    uint32_t system_name_size;      /* bytes without terminator */
    size_t array_bytes;             /* memory of the arrays */
    perf_group_index *indexes;      /* of all groups, NULL: nobody asked */
    size_t index_bytes;             /* memory of all indexes */
    uint32_t room[PERF_NUM_ARRAYS]; /* elements that the arrays have room for */
    uint64_t values;                /* cells of all rows */
    perf_index by_key;              /* objects by title index */
} perf_table;

/* Read counter data of PerflibV2, or a PERF_DATA_BLOCK. `size`: bytes that were captured, `reported`: bytes that were sent. Bytes that the
 * capture lacks are no fault, but their group and the response are not sound. Needs: `table` is zeros, or was read before; `data` lives
 * as long as the table. Changes: `table`, which perf_table_free() frees. */
void perf_table_read_data(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);
void perf_table_read_block(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);

/* Reads the blocks of one plain value that were only counted. Changes: rows may move; groups, columns and indexes stay. */
void perf_table_read_whole(perf_table *table);

/* Returns a group by its number, below num_groups. It stays in its place as long as the table. Changes: but for 0, as perf_table_read_whole(). */
static inline perf_group *perf_table_group(perf_table *t, uint32_t number)
{
    if (!t->is_whole && number > 0) {
        perf_table_read_whole(t);
    }
    return &t->groups[number];
}

/* Frees arrays and indexes of the table, but not its data. */
void perf_table_free(perf_table *table);

/* Empties a table for a reader. Needs: zeros, or a table that was read. Changes: what it has is freed; `data` is not copied. */
void perf_table_begin(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported, bool is_block);

/* Grows an array of a table (`which`: PERF_GROUPS ...) by room for `more` elements and half as many as it had. Returns it, which may have moved.
 * A lack of memory ends the program, as everywhere in Wireshark. */
void *perf_table_enlarge(perf_table *table, void *array, unsigned which, uint32_t more);

/* True if a group is sound and has no values: its counterset or object has no instances. Needs: no error in their place. */
static inline bool perf_group_is_empty(const perf_group *g)
{
    return g->is_sound && (g->rows == 0 || g->columns == 0);
}

/* Returns the first sound group with values, NULL: there is none. */
static inline perf_group *perf_table_first_group(const perf_table *t)
{
    for (uint32_t i = 0; i < t->num_groups; i++) {
        if (t->groups[i].is_sound && t->groups[i].rows > 0 && t->groups[i].columns > 0) {
            return &t->groups[i];
        }
    }
    return NULL;
}

/* Return a number in the data's byte order. Needs: all of it was captured. */
static inline uint32_t perf_table_u32(const perf_table *t, uint32_t offset)
{
    return t->big_endian ? perf_be32(t->data + offset) : perf_le32(t->data + offset);
}
static inline uint64_t perf_table_u64(const perf_table *t, uint32_t offset)
{
    return t->big_endian ? perf_be64(t->data + offset) : perf_le64(t->data + offset);
}

/* Row and column of a group, by their numbers in it. */
static inline const perf_row *perf_table_row(const perf_table *t, const perf_group *g, uint32_t row)
{
    return &t->rows[g->first_row + row];
}
static inline const perf_column *perf_table_column(const perf_table *t, const perf_group *g, uint32_t column)
{
    return &t->columns[g->first_column + column];
}

/* True for a base counter of PERF_DATA_BLOCK, which has the title index of its counter: only with this an id is unique. PerflibV2: false. */
static inline bool perf_column_is_base(const perf_column *column)
{
    return perf_counter_type_is_base(column->type);
}

/* Bytes of a name that are read: its other ones would be read for each child of a parent (pdh.h: PDH_MAX_INSTANCE_NAME is 1,024 characters). */
#define PERF_MOST_NAME_BYTES 4104

/* Returns the offset of the row's name. `size`: bytes without a terminator, PERF_MOST_NAME_BYTES at most, 0: it has no name. */
uint32_t perf_table_name(const perf_table *table, const perf_group *group, uint32_t row, uint32_t *size);

/* Returns the offset of a cell's value, 0: the cell has none. `size`: its bytes. Inline, since each value of two samples asks for it. */
static inline uint32_t perf_table_cell(const perf_table *t, const perf_group *g, uint32_t row, uint32_t column,
                                       uint32_t *size)
{
    const perf_row *r = perf_table_row(t, g, row);

    if (!t->is_block) {
        uint32_t at = r->cell_list == 0 ? r->cells + PERF_PLAIN_SIZE * column : t->cells[r->cell_list - 1 + column];
        *size = at > 0 ? perf_le32(t->data + at) : 0;
        return at > 0 ? at + PERF_COUNTER_DATA_SIZE : 0;
    }
    const perf_column *c = perf_table_column(t, g, column);
    bool fits = r->cells > 0 && c->value_offset >= PERF_COUNTER_BLOCK_SIZE && c->value_offset <= r->block_size &&
                c->value_size <= r->block_size - c->value_offset;
    *size = fits ? c->value_size : 0;
    return fits ? r->cells + c->value_offset : 0;
}

/* Returns the number of `size` bytes at an offset; one of other than 4 or 8 bytes has size 0. */
static inline perf_raw perf_table_number_at(const perf_table *t, uint32_t offset, uint32_t size)
{
    return size == 4   ? (perf_raw){perf_table_u32(t, offset), 4}
           : size == 8 ? (perf_raw){perf_table_u64(t, offset), 8}
                       : (perf_raw){0, 0};
}

/* Returns the number in the cell, of size 0 if it has none. */
static inline perf_raw perf_table_number(const perf_table *t, const perf_group *g, uint32_t row, uint32_t column)
{
    uint32_t size, at = perf_table_cell(t, g, row, column, &size);

    return perf_table_number_at(t, at, size);
}

/* Returns the object with a title index; NULL: there is none, or several. Changes: makes the index of objects. */
perf_group *perf_table_find_object(perf_table *table, uint32_t title_index);

/* Returns the slot of the objects with a title index; count 0: there is none. Changes: makes the index of objects. */
const perf_slot *perf_table_find_objects(perf_table *table, uint32_t title_index);

/* Returns the column of a counter, PERF_NO_ID: there is none, or several. Changes: may make the group's index. */
uint32_t perf_table_find_column(perf_table *table, perf_group *group, uint32_t id, bool is_base);

/* Returns how many columns have this id and are a base counter, or none (`is_base`). `first`: the first of them, 0: none. Changes: may make the group's index. */
uint32_t perf_table_count_columns(perf_table *table, perf_group *group, uint32_t id, bool is_base, uint32_t *first);

/* How well it is known which row or column of another group is the same. */
typedef enum {
    PERF_MATCH_NOT_ASKED,
    PERF_MATCH_NONE,      /* the instance or counter is not in the other group */
    PERF_MATCH_AMBIGUOUS, /* instances of this name came or went; the counter is there twice, or of another type */
    PERF_MATCH_ASSUMED,   /* one row, and nothing proves that it is the instance */
    PERF_MATCH_KNOWN,     /* one row or column */
} perf_match;

/* Finds the column of the same counter in a group of another sample. Needs: no base, which has no result. `match`: the column,
 * if it is known. Changes: as perf_table_count_columns(), of both groups. */
perf_match perf_table_match_column(perf_table *table, perf_group *group, uint32_t column, perf_table *other_table,
                                   perf_group *other_group, uint32_t *match);

/* Returns the first row from `row` on whose name is these bytes, PERF_NO_ID: none. Compares row by row, without an index. */
uint32_t perf_table_find_row(const perf_table *table, const perf_group *group, uint32_t row, const uint8_t *name,
                             uint32_t size);

/* A row among those of its name and of its parent's. */
typedef struct {
    uint32_t ordinal; /* 0 for the first row of that name */
    bool is_assumed;  /* its parent is not in the response, or of several rows of a name one is itself called "x#1" */
} perf_row_name;

/* Returns the object of a row's parent. `parent`: its row there. NULL, and `parent` means nothing: the row has none (PerflibV2 never has), it is not
 * in the response, or several objects have its title index. Needs: the group has instances. Changes: makes the index of objects. */
perf_group *perf_table_find_parent(perf_table *table, const perf_group *group, uint32_t row, uint32_t *parent);

/* Returns the row's place among the rows of its name, for paths like "x#1". Needs: the group has instances. Changes: scans the names, which is
 * counted, or makes the group's index, from the third scan on. */
perf_row_name perf_table_row_name(perf_table *table, perf_group *group, uint32_t row);

/* Returns how many rows have a name of these bytes, and no parent. `first`: the first of them. Needs: the group has instances. Changes: as
 * perf_table_row_name(). */
uint32_t perf_table_count_rows(perf_table *table, perf_group *group, const uint8_t *name, uint32_t size,
                               uint32_t *first);

/* Title indexes of counters whose value proves which instance a row is, the same on every Windows; none in PerflibV2. */
enum { PERF_TITLE_ID_PROCESS = 784, PERF_TITLE_ID_THREAD = 804 };

/* Bits: on this server 784 is "ID Process", 804 is "ID Thread". */
typedef enum { PERF_PROVES_NOTHING = 0, PERF_PROVES_PROCESS = 1, PERF_PROVES_THREAD = 2 } perf_id_proofs;

/* Finds the row of the same instance in another group, of another sample or of the same. Needs: both groups are sound. `match`: the row,
 * if it is assumed or known. Changes: as perf_table_row_name(), of both groups. */
perf_match perf_table_match_row(perf_table *table, perf_group *group, uint32_t row, perf_table *other_table,
                                perf_group *other_group, perf_id_proofs proofs, uint32_t *match);

/* Sets the key of digests and hash tables, drawn by chance once: a packet cannot choose names or ids that collide. */
void perf_table_set_secret(const uint64_t secret[2]);
