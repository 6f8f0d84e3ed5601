/* table.h
 * A table of Wireshark's simple statistics, whose rows turn up as the capture is read.
 *
 * Wireshark has one table for a statistic, whoever asks for it and however often. Ours stays empty: each listener gets a
 * view with a table of its own, with its first packet. So two of them in one run do not count into each other, and a
 * window that is still open keeps its rows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_TABLE_H
#define PCQ_TAPS_TABLE_H

#include "ws_compat.h"

#include <epan/stat_tap_ui.h>

#include "readings/tapped.h"

/* Rows of a table; what goes beyond shares one more. */
#define TABLE_ROWS 100000

typedef struct table_view table_view;

/* One statistic, as long as the program: what is not common to our tables. */
typedef struct {
    stat_tap_table_ui ui;               /* title, `-z`, number of columns */
    const stat_tap_table_item *columns; /* those that are TABLE_ITEM_FLOAT may lack a number */
    unsigned behind;                    /* a window shows the first column, which may be wide, behind so many others */
    bool has_text_keys;                 /* in `known`, whose they are; else addresses */
    size_t own_size;                    /* of what a view keeps beside its rows, zeros at first; the functions that have
                                           to do with that may be NULL */
    void (*begin)(table_view *view);
    void (*count)(table_view *view, packet_info *pinfo, const tapped_call *tapped);
    void (*show)(table_view *view, unsigned row);
    void (*forget)(table_view *view); /* the capture goes, perhaps in its middle (tshark -M): what was counted stays */
    void (*end)(table_view *view);    /* frees what `own` points to */
    void (*free_row)(void *data);     /* NULL: g_free */
    /* Sentences on what the rows do not say, counted from 0 up to NULL, to be freed: each is a last row, and a line on
     * standard error. NULL: what tapped.h says of every listener is all. */
    char *(*note)(const table_view *view, unsigned number);
    GSList *views; /* the rest is table.c's */
} taps_table;

/* What one listener was told. */
struct table_view {
    stat_tap_table_ui ui; /* first: Wireshark's listener points to it */
    taps_table *of;
    stat_tap_table *table;
    void *own;
    GHashTable *known;   /* what tells rows apart -> what they show; emptied with the capture */
    GPtrArray *rows;     /* what each shows */
    GStringChunk *texts; /* of the cells */
    GPtrArray *notes;    /* texts of the last rows */
    tapped_left_out left;
    unsigned others; /* number of the shared row + 1, 0 as long as there is room */
};

/* Registers `-z CLI_STRING[,FILTER]` and, in a window, Statistics, TITLE. */
void table_register(taps_table *t);

/* A row with its first text. It owns `data`, which begins with the number of its row. */
void table_add(table_view *view, const char *text, void *data);

/* The row that all share for which there is no room; its data is made of `size` bytes. */
bool table_is_full(const table_view *view);
void *table_others(table_view *view, size_t size);

/* Says at tshark's end what no statistic could take. */
void table_say_left_out(void);

/* What a row shows has changed. */
void table_changed(table_view *view, unsigned row);

static inline void *table_data(const table_view *view, unsigned row)
{
    return g_ptr_array_index(view->rows, row);
}

static inline bool table_is_others(const table_view *view, unsigned row)
{
    return row + 1 == view->others;
}

/* Cells. A text may come from the packet: control characters are escaped. */
void table_set_text(table_view *view, unsigned row, unsigned column, const char *text);
void table_set_count(table_view *view, unsigned row, unsigned column, uint64_t count);
void table_set_number(table_view *view, unsigned row, unsigned column, double number);

#endif
