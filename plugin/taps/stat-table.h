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
    void (*begin)(stat_table *t); /* forgets all that was counted; NULL: nothing is */
    void (*count)(stat_table *t, packet_info *pinfo, const tapped_call *tapped);
    void (*fill)(stat_table *t); /* adds all rows, each time that the table is drawn */

    /* stat-table.c's own, but `omitted` */
    bool in_window;       /* else it is printed */
    bool is_filled;       /* the rows are there; a window may point to them */
    const void *listener; /* the newest, once it was handed a call */
    stat_tap_table *shown;
    GStringChunk *texts; /* of the cells */
    omissions omitted;   /* the last rows say what it has */
};

/* Registers `-z CLI_STRING[,FILTER]`, or `[,FILTER or PATHS]`, and, in a window, Statistics, TITLE. */
void stat_table_register(stat_table *t);

/* Adds a row with a text in its first cell. Returns its number. */
unsigned stat_table_add_row(stat_table *t, const char *text);

/* Set a cell. A text may come from a packet: control characters are escaped. */
void stat_table_set_text(stat_table *t, unsigned row, unsigned column, const char *text);
void stat_table_set_number(stat_table *t, unsigned row, unsigned column, double number);
