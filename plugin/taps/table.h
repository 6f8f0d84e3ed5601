/* table.h
 * A table of Wireshark's simple statistics, whose rows turn up as the capture is read.
 *
 * Windows that show it keep pointers to its rows: a row that was made stays, and is used again after a reset.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_TABLE_H
#define PCQ_TAPS_TABLE_H

#include "ws_compat.h"

#include <epan/stat_tap_ui.h>

/* One table, as long as the program. */
typedef struct {
    stat_tap_table_ui ui;
    void (*empty)(void);   /* forgets what the rows show */
    stat_tap_table *table; /* NULL as long as nobody asked for it */
    unsigned made;         /* rows, shown or not */
} taps_table;

/* Said in the last row of a table that has no room for more. */
#define TABLE_OTHERS "(all others: there are too many)"

/* Registers `-z CLI_STRING[,FILTER]` and, in a window, Statistics, TITLE: `ui` has what is not common to our tables. */
void table_register(taps_table *t, const stat_tap_table_ui *ui, void (*empty)(void));

/* The items of a new row, all without a value; its number is that of the rows before. */
stat_tap_table_item_type *table_add(taps_table *t);

/* A text of the packet's for people: without control characters. To be freed. */
char *table_text(const char *text);

static inline unsigned table_rows(const taps_table *t)
{
    return t->table->num_elements;
}

static inline stat_tap_table_item_type *table_row(const taps_table *t, unsigned row)
{
    return t->table->elements[row];
}

static inline void table_set_text(stat_tap_table_item_type *item, const char *text)
{
    item->type = TABLE_ITEM_STRING;
    item->value.string_value = text;
}

static inline void table_set_count(stat_tap_table_item_type *item, uint64_t count)
{
    item->type = TABLE_ITEM_UINT;
    item->value.uint_value = (unsigned)MIN(count, UINT32_MAX);
}

static inline void table_set_number(stat_tap_table_item_type *item, double number)
{
    item->type = TABLE_ITEM_FLOAT;
    item->value.float_value = number;
}

#endif
