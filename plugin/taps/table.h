/* table.h
 * A table of Wireshark's simple statistics (stat_tap) whose rows turn up as the capture is read.
 *
 * Each statistic has one table, as Wireshark has it, which the listener that was registered last fills. tshark and sharkd print it
 * once, when all has been read: its cells are made then. A window shows it at any time: there they are as of the last call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <epan/stat_tap_ui.h>

#include "taps/left-out.h"

typedef struct taps_table taps_table;

#define TABLE_OTHERS "(all others: there are too many)"

/* A column. */
typedef struct {
    stat_tap_table_item_enum type; /* TABLE_ITEM_FLOAT may lack a number */
    const char *name;
    const char *format; /* of numbers that are printed; "%.0f": an integer in a window */
    size_t count;       /* TABLE_ITEM_UINT: where a row's data have it, a uint64_t; 0: show() sets it */
} table_column;

/* A table's columns are one list of X(NUMBER, type, name, format, count). */
#define TABLE_NUMBER(number, ...) number,
#define TABLE_COLUMN(number, ...) {__VA_ARGS__},
#define TABLE_MAX_COLUMNS 24

/* One statistic, as long as the program. The functions may be NULL, but for count(). */
struct taps_table {
    stat_tap_table_ui ui; /* title, `-z`, number of columns */
    const table_column *columns;
    size_t row_size;              /* of a row's data, which begin with its number; 0: that alone */
    bool takes_paths;             /* in the place of a filter: then `paths` is not NULL */
    bool keeps_rows;              /* of a capture that goes, perhaps in its middle (tshark -M), for what comes later */
    void (*begin)(taps_table *t); /* nothing is counted yet, or any more */
    void (*count)(taps_table *t, packet_info *pinfo, const tapped_call *tapped);
    void (*fill)(taps_table *t); /* before it is printed: rows that are known only when all has been counted */
    void (*show)(taps_table *t, unsigned row); /* cells that are no count */

    /* the rest is table.c's */
    bool in_window; /* else it is printed */
    bool is_drawn;
    watch_paths *paths;
    const void *listener; /* who fills it, once it was handed a call */
    GHashTable *known;    /* what rows are identified by -> their data */
    GPtrArray *rows;      /* the data of each */
    uint32_t row_bytes;   /* of their first texts */
    void *others;         /* data of the row that all share for which there is no room; NULL as long as there is */
    stat_tap_table *shown;
    GStringChunk *texts; /* of the cells */
    GPtrArray *notes;    /* texts of the last rows */
    left_out left;
};

/* Registers `-z CLI_STRING[,FILTER]`, or `[,FILTER or PATHS]`, and, in a window, Statistics, TITLE. */
void table_register(taps_table *t);

/* The data of the row that `key` identifies; a new one (zeros; without a key each is) gets its first text. All share one for which there is
 * no room. */
void *table_row(taps_table *t, const char *key, const char *text);

/* All rows go; those that are shown when the next ones and the notes are. */
void table_clear(taps_table *t);

/* What a row shows has changed. */
void table_changed(taps_table *t, unsigned row);

static inline void *table_data(const taps_table *t, unsigned row)
{
    return g_ptr_array_index(t->rows, row);
}

/* Cells. A text may come from the packet: control characters are escaped. */
void table_set_text(taps_table *t, unsigned row, unsigned column, const char *text);
void table_set_count(taps_table *t, unsigned row, unsigned column, uint64_t count);
void table_set_number(taps_table *t, unsigned row, unsigned column, double number);
