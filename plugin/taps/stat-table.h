/* stat-table.h
 * A table of Wireshark's simple statistics (stat_tap): a listener counts calls, and the rows are made when the table is drawn.
 *
 * Each statistic has one table, as Wireshark has it, which the newest listener fills.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <epan/stat_tap_ui.h>

#include "taps/omissions.h"

typedef struct stat_table stat_table;

typedef struct {
    stat_tap_table_item_enum type; /* TABLE_ITEM_STRING or TABLE_ITEM_FLOAT: a cell may have no number */
    const char *name;
    const char *format; /* of numbers; "%.0f" is an integer in a window */
} table_column;

/* A table's columns are one list of X(NUMBER, type, name, format). */
#define TABLE_NUMBER(number, ...) number,
#define TABLE_COLUMN(number, ...) {__VA_ARGS__},
#define TABLE_MAX_COLUMNS 24

/* A statistic. It lasts as long as the program. */
struct stat_table {
    stat_tap_table_ui ui; /* title, `-z`, number of columns */
    const table_column *columns;
    bool takes_paths;             /* paths may stand in the place of a filter: then `omitted.paths` is not NULL */
    void (*begin)(stat_table *t); /* forgets all that was counted */
    void (*count)(stat_table *t, packet_info *pinfo, const call_tap_data *tapped); /* not for repeated responses */
    void (*fill)(stat_table *t); /* adds all rows behind the last packet */

    /* stat-table.c's own, but `omitted` */
    bool in_window;        /* false: the table is printed */
    bool is_filled;        /* the rows are there; a window may point to them */
    const void *listener;  /* Wireshark's listener that got a call first since the table was begun; NULL: none */
    stat_tap_table *shown; /* Wireshark's table; NULL before the first */
    GStringChunk *texts;   /* of the cells */
    omissions omitted;     /* shown in the last rows; `fill` and `count` may add those of values */
};

/* Registers `-z CLI_STRING[,FILTER]`, or `[,FILTER or PATHS]`, and, in a window, Statistics, TITLE. */
void stat_table_register(stat_table *t);

/* Adds a row with a text in its first cell; the others are blank. Returns its number. Needs: while the table is filled. */
unsigned stat_table_add_row(stat_table *t, const char *text);

/* Sets a cell to a copy of a text, with control characters escaped: it may come from a packet. Needs: a row that was added. */
void stat_table_set_text(stat_table *t, unsigned row, unsigned column, const char *text);

/* Sets a cell to a number: in a window to sort by, else printed by the column's format with a point. Needs: a column of numbers. */
void stat_table_set_number(stat_table *t, unsigned row, unsigned column, double number);
