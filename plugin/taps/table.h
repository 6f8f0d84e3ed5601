/* table.h
 * A table of Wireshark's simple statistics, whose rows turn up as the capture is read.
 *
 * Wireshark has one table for a statistic, whoever asks for it and however often. Ours stays empty: each listener gets a
 * view with a table of its own, with its first packet. So two of them in one run do not count into each other, and a
 * window that is still open keeps its rows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include <epan/stat_tap_ui.h>

#include "tap/tapped.h"

typedef struct table_view table_view;

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

/* One statistic, as long as the program: what is not common to our tables. */
typedef struct {
    stat_tap_table_ui ui; /* title, `-z`, number of columns */
    const table_column *columns;
    unsigned behind;    /* a window shows the first column, which may be wide, behind so many others */
    size_t row_size;    /* of a row's data */
    bool has_text_keys; /* rows are identified by a text; else by an address */
    size_t own_size;    /* of what a view keeps beside its rows, zeros at first; the functions that have to do with that
                           may be NULL */
    void (*watch)(void); /* before the first packet, once or several times */
    void (*begin)(table_view *view);
    void (*count)(table_view *view, packet_info *pinfo, const tapped_call *tapped);
    void (*judge)(table_view *view);              /* all has been counted: rows that only then are known */
    void (*show)(table_view *view, unsigned row); /* what is no count; NULL: nothing */
    void (*forget)(table_view *view); /* the capture goes, perhaps in its middle (tshark -M): what was counted stays */
    void (*end)(table_view *view);    /* frees what `own` points to */
    void (*free_row)(void *data);     /* what the row's data point to */
    GSList *views;                    /* the rest is table.c's */
} taps_table;

/* What one listener was handed, counted. */
struct table_view {
    stat_tap_table_ui ui; /* first: Wireshark's listener points to it */
    taps_table *of;
    stat_tap_table *table;
    stat_tap_table_item_type *blank; /* a row of it without values */
    void *own;
    GHashTable
        *known; /* what rows are identified by -> their data; emptied with the capture, unless forget() does more */
    GPtrArray *rows;     /* the data of each, which begin with its number */
    uint32_t row_bytes;  /* of their first texts */
    GStringChunk *texts; /* of the cells */
    GPtrArray *notes;    /* texts of the last rows */
    tapped_left_out left;
    bool is_drawn;   /* by a window, which points to its rows */
    unsigned others; /* number of the shared row + 1, 0 as long as there is room */
};

/* Registers `-z CLI_STRING[,FILTER]` and, in a window, Statistics, TITLE. */
void table_register(taps_table *t);

/* The data of the row that `key` identifies; a new one (zeros, and `is_new` is set, if it is given) gets its first text. All share one for which there
 * is no room. */
void *table_row(table_view *view, const void *key, const char *text, bool *is_new);
void *table_others(table_view *view);

/* All rows that there are go. */
void table_start_over(table_view *view);

/* Says at tshark's end what no statistic could take. */
void table_say_left_out(void);

/* Nobody says there when all has been counted. */
bool table_in_window(void);

/* What a row shows has changed. */
void table_changed(table_view *view, unsigned row);

static inline void *table_data(const table_view *view, unsigned row)
{
    return g_ptr_array_index(view->rows, row);
}

/* Cells. A text may come from the packet: control characters are escaped. */
void table_set_text(table_view *view, unsigned row, unsigned column, const char *text);
void table_set_count(table_view *view, unsigned row, unsigned column, uint64_t count);
void table_set_number(table_view *view, unsigned row, unsigned column, double number);
