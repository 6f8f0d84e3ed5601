/* stat-table.h
 * A table of Wireshark's simple statistics (stat_tap): a listener counts calls; behind the last packet, before it is drawn, the table gets its rows.
 *
 * Each statistic has one table, as Wireshark has it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <epan/stat_tap_ui.h>

#include "taps/omissions.h"

typedef struct stat_table stat_table;

typedef struct {
    const char *name;
    const char *format; /* of numbers, which may lack; "%.0f" is an integer in a window. NULL: the column has texts */
} table_column;

/* A cell: of a column of texts its text (NULL: blank), of one of numbers its number (NAN: blank). */
typedef struct {
    const char *text;
    double number;
} table_cell;

/* A statistic. It lasts as long as the program. */
struct stat_table {
    stat_tap_table_ui
        ui; /* title, `-z`, number of columns; refcount is the number of windows that show it, 0: it is printed */
    const table_column *columns;
    bool takes_paths;          /* paths may stand in the place of a filter: `omitted.paths` has them */
    void *data;                /* of begin() and count() */
    void (*begin)(void *data); /* forgets all that was counted; also called as the table opens, calls or not */
    void (*count)(void *data, packet_info *pinfo, const call_tap_data *tapped);
    void (*fill)(stat_table *t); /* called behind the last packet: adds all rows, but those of `omitted` */

    /* stat-table.c's own, but `omitted` */
    stat_table *next;        /* registered before */
    stat_tap_table *shown;   /* Wireshark's table; NULL before the first */
    wmem_allocator_t *texts; /* of the cells */
    omissions omitted;       /* shown in the last rows; `fill` and `count` may add those of values */
};

/* Registers `-z CLI_STRING[,FILTER]`, or `[,FILTER or PATHS]`, and, in a window, Statistics, TITLE. */
void stat_table_register(stat_table *t);

/* Adds a row: cells for the first `count` columns; the others have nothing, not even what is saved or printed of a blank one. Texts are copied with
 * control characters escaped: they may come from a packet. A number is one to sort by in a window, else printed by the column's format with a
 * point. Needs: while the table is begun or filled. */
void stat_table_add_row(stat_table *t, const table_cell *cells, unsigned count);
