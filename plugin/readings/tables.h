/* tables.h
 * A sample as tables: one for each block of counter data or object of PERF_DATA_BLOCK, a row for each instance, a column
 * for each counter. Rows are read as far as somebody asks, and the same instance of two samples is found here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_READINGS_TABLES_H
#define PCQ_READINGS_TABLES_H

#include "readings/instances.h"

#include "perf/calculate.h"

typedef struct reading_table reading_table;
typedef struct reading_side reading_side;

/* How a layout reads its tables. */
typedef struct {
    /* Reads the next row: adds its instance, if the table has instances, and what cell() needs. False at the end. */
    bool (*next_row)(reading_table *table);
    /* The number in a cell of a row that was read; size 0 if there is none. */
    perf_raw (*cell)(const reading_table *table, uint32_t row, uint32_t column);
} table_layout;

/* The rows of two tables are mostly the same instances in the same order: how far that is so. */
typedef struct {
    reading_table *there;
    uint32_t rows;
    bool parted; /* the row behind them is not the same */
} table_likeness;

/* A value, its base and what else it needs mostly stand in few tables of the other sample. */
#define TABLE_LIKENESSES 4

struct reading_table {
    reading_side *side;
    uint32_t number;
    bool has_instances;
    uint32_t columns;
    uint32_t rows; /* read so far */
    bool complete; /* all are */
    perf_instances instances;
    table_likeness like[TABLE_LIKENESSES];
};

/* One of the samples. */
struct reading_side {
    const table_layout *layout;
    wmem_allocator_t *pool;
    const uint8_t *bytes;
    uint32_t size;
    perf_point clocks; /* the clocks alone */
};

/* `table` is the first member of a layout's own structure. */
void reading_table_init(reading_table *table, reading_side *side, uint32_t number);

/* True if there is such a row; reads as far as that. */
bool reading_table_has_row(reading_table *table, uint32_t row);

/* The number in a cell; size 0 if there is none. */
perf_raw reading_table_cell(reading_table *table, uint32_t row, uint32_t column);

/* The instance of a row that is there: as it was sent, and with its name_ordinal. */
perf_instance *reading_table_instance(reading_table *table, uint32_t row);
perf_instance *reading_table_named(reading_table *table, uint32_t row);

/* The row of `there` with the instance that `row` of `here` is; UINT32_MAX if there is none. Without instances that is
 * the one row that both have. */
uint32_t reading_table_pair(reading_table *here, uint32_t row, reading_table *there);

/* The first row with this name and, unless `any_id`, id. */
uint32_t reading_table_find(reading_table *table, perf_instance_key *key, bool any_id);

#endif
