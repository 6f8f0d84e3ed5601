/* tables.h
 * A sample as tables: one for each block of counter data or object of PERF_DATA_BLOCK, a row for each instance, a column
 * for each counter. Rows are read as far as somebody asks, and the same instance of two samples is found here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include "perf/calculate.h"

/* A name as it was sent. */
typedef struct {
    const uint8_t *bytes; /* without terminator */
    uint32_t size;        /* bytes */
    uint64_t digest;      /* 0 as long as it was not needed; see readings_name_digest() */
} reading_name;

/* Names are told by their keyed digests of 64 bits: a packet could have a name of megabytes compared for each of its values.
 * Worked out once for a name. */
uint64_t readings_name_digest(reading_name *name);

/* An instance as the other sample may have it too. */
typedef struct {
    reading_name name;
    uint32_t id;
    uint64_t parent;       /* digest of its parent's name; 0 without one */
    uint32_t parent_count; /* parents of that name: of one alone it is known which it is; 0 without one */
    uint32_t parent_table; /* for the layout: whose row the parent is, */
    uint32_t parent_row;   /* and which */
    bool id_is_unique;     /* HKPD: UniqueID identifies it without its name; PerflibV2: never */
    bool has_no_id;
} reading_instance_key;

typedef struct {
    reading_instance_key key;
    uint32_t row;
    uint32_t name_ordinal;  /* among those with its name and parent's name, as paths count them; known when counted */
    uint32_t named_like_it; /* rows with both so far, if it is the first of them */
    uint32_t with_its_id;   /* the same of its id and parent's name, and its name unless the id is unique */
    uint64_t place;         /* digest of name, parent's name and name_ordinal */
    uint64_t identity;      /* digest of id, parent's name and, unless the id is unique, name */
} reading_instance;

/* Begins as zeros but for the pool. */
typedef struct {
    wmem_allocator_t *pool;
    wmem_array_t *rows;   /* reading_instance *, in the order of the sample; NULL before the first */
    uint32_t counted;     /* rows whose name_ordinal is known */
    wmem_map_t *by_place; /* `place` -> reading_instance */
    uint32_t with_id;     /* rows that by_id holds */
    wmem_map_t *by_id;    /* `identity` -> the first reading_instance that has it */
    bool ids_tell;        /* they do more than number the rows, in steps: */
    uint32_t ids;         /* how many there are, */
    uint32_t sums;        /* other rows, which count for none, */
    uint32_t id_sum;      /* what one behind the first has more, */
    uint32_t id_row;      /* where the first stands, */
    uint32_t id_first;    /* that, */
    uint32_t id_step;     /* and by how much the next row's is more */
} reading_instances;

uint32_t readings_instances_count(const reading_instances *instances);

/* Its bytes are not copied. Also for lists that are no table's rows (names of parents). */
void readings_instances_add(reading_instances *instances, const reading_instance_key *key);

/* A row with its name_ordinal. */
reading_instance *readings_instances_counted(reading_instances *instances, uint32_t row);

/* How many of the rows that were read have this row's name and parent's name. */
uint32_t readings_instances_namesakes(reading_instances *instances, uint32_t row);

/* --- Tables ------------------------------------------------------------------------------------------------------ */

typedef struct reading_table reading_table;
typedef struct sample_view sample_view;

/* How a layout reads its tables. */
typedef struct {
    /* Reads the next row: adds its instance, if the table has instances, and what cell() needs. False at the end. */
    bool (*next_row)(reading_table *table);
    /* The number in a cell of a row that was read; size 0 if there is none. */
    perf_raw (*cell)(const reading_table *table, uint32_t row, uint32_t column);
    /* The own id of the process or thread that a row is, of a table that was read whole; size 0 if nothing tells it. */
    perf_raw (*own_id)(reading_table *table, uint32_t row);
    /* Another table of the same sample, in which parents stand, by key.parent_table; NULL if there is none. NULL for a layout without
     * parents. */
    reading_table *(*parents)(reading_table *table, uint32_t number);
} table_layout;

/* The row of the same instance in the other sample. */
typedef struct {
    uint32_t row;      /* UINT32_MAX: none */
    bool assumed;      /* nothing tells it from others of its name, of which there are as many as before */
    bool is_ambiguous; /* none, since instances of its name came or went: which of them it was is unknown */
} table_pair;

/* The rows of two tables are mostly the same instances in the same order: how far that is so. */
typedef struct {
    reading_table *there;
    bool of_any_parent; /* whatever their parents are */
    uint32_t rows;
    bool parted; /* the row after them is not the same */
} table_likeness;

/* A value, its base and what else it needs mostly stand in few tables of the other sample. */
#define TABLE_LIKENESSES 5

/* How the instances of a column went on since they were in another sample. */
typedef struct {
    reading_table *there; /* NULL as long as nobody asked */
    bool has_left;        /* instances are gone */
    uint64_t sum;         /* of all values, as far as 64 bits go */
    uint64_t sum_there;
} table_course;

struct reading_table {
    sample_view *view;
    uint32_t number;
    bool has_instances;
    bool lacks_names; /* what an instance that was read is called is not known */
    uint32_t columns;
    uint32_t rows; /* read so far */
    bool complete; /* all are */
    reading_instances instances;
    table_likeness like[TABLE_LIKENESSES];
    wmem_map_t *by_own_id;     /* own id -> row + 1, 0 where several have it; NULL as long as nobody asked */
    reading_instances own_ids; /* whether these number the rows; it has no rows of its own */
    table_course *courses;     /* of each column, once somebody asked */
    /* the pair that was found last */
    const reading_table *paired_with;
    uint32_t paired_row;
    table_pair pair;
};

/* One of the samples. */
struct sample_view {
    const table_layout *layout;
    wmem_allocator_t *pool;
    perf_point clocks; /* the clocks alone */
};

/* `table` is the first member of a layout's own structure, whose other members are zeros. `number`: of the block or object in the
 * answer, from 0. */
void readings_table_init(reading_table *table, sample_view *view, uint32_t number);

/* Reads as far as that row; false if there is none. */
bool readings_table_has_row(reading_table *table, uint32_t row);

/* The number in a cell; size 0 if there is none. */
perf_raw readings_table_cell(reading_table *table, uint32_t row, uint32_t column);

/* The instance of a row as it was sent; NULL if the table has no such row. */
reading_instance *readings_table_instance(reading_table *table, uint32_t row);

/* Both have the same rows in the same order, whichever parents these have or of the same ones, and all were read. */
bool readings_table_same_rows(reading_table *here, reading_table *there, bool of_any_parent);

/* The same rows are in both, and the same in the table `number` in which their parents stand, but some row's parent is another: one of both samples
 * is wrong. */
bool readings_table_other_parents(reading_table *here, reading_table *there, uint32_t number);

/* The row of `there` with the instance that `row` of `here` is. Without instances that is the one row that both have.
 * Proved by a name and parent's name that no other row has in either sample, if the id is the same, too; else by an id that no other
 * row has (PerflibV2: with its name; ids that only number the rows are none); without such ids by the process' or thread's own id; else
 * assumed by ordinal, as perfmon does, where as many have the name in both. */
table_pair readings_table_pair(reading_table *here, uint32_t row, reading_table *there);

/* "_Total", "_Global_", "0,_Total", "WMI/_Total", in whatever characters. */
bool readings_name_is_sum(const void *name, uint32_t size);

/* Of a value that went backwards, or whose base did: it is the sum of others, of which some are gone, and did not begin again. So is
 * `_Total`, and what is now the largest and lost no more than those had that are gone.
 * `there` is NULL where both samples have the same instances. */
bool readings_table_sum_ended(reading_table *here, uint32_t row, uint32_t column, perf_raw now, reading_table *there,
                              uint32_t column_there, perf_raw before);

/* Of a row whose name ends in "#1", in `text` and in units of so many bytes: the same stands for the second of another name. */
bool readings_table_reads_twice(reading_table *table, uint32_t row, const char *text, uint32_t unit);

/* True if two rows have one name: the place alone does not tell them apart. */
bool readings_table_has_namesakes(reading_table *table);

/* The first row with this name and, unless `any_id`, id; UINT32_MAX if there is none. */
uint32_t readings_table_find(reading_table *table, const reading_instance_key *key, bool any_id);
