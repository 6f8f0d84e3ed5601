/* table.c
 * A table of Wireshark's simple statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/table.h"

#include "readings/tapped.h"

static GSList *tables; /* taps_table */

/* Wireshark's callbacks bring its own table and nothing of ours. */
static taps_table *table_named(const char *title)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        if (strcmp(t->ui.title, title) == 0) {
            return t;
        }
    }
    return NULL;
}

/* The rows' texts go with what they show. */
static void reset(stat_tap_table *table)
{
    for (unsigned i = 0; i < table->num_elements; i++) {
        memset(table->elements[i], 0, table->num_fields * sizeof **table->elements);
    }
    table->num_elements = 0;
    table_named(table->title)->empty();
}

static void begin(stat_tap_table_ui *ui)
{
    taps_table *t = table_named(ui->title);
    stat_tap_table *table = stat_tap_find_table(ui, ui->title);

    if (table == NULL) {
        table = stat_tap_init_table(ui->title, (int)ui->nfields, 0, NULL);
        t->made = 0;
        stat_tap_add_table(ui, table);
    }
    t->table = table;
    reset(table);
}

/* An item of the table goes, and so do all. */
static void gone(stat_tap_table *table, unsigned row _U_, unsigned column _U_, stat_tap_table_item_type *item _U_)
{
    table_named(table->title)->made = 0;
}

/* Wireshark 4.0 has no menu for REGISTER_STAT_GROUP_GENERIC. */
void table_register(taps_table *t, const stat_tap_table_ui *ui, void (*empty)(void))
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};

    t->ui = *ui;
    t->ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    t->ui.tap_name = TAPPED_NAME;
    t->ui.nparams = 1;
    t->ui.params = &filter;
    t->ui.stat_tap_init_cb = begin;
    t->ui.stat_tap_reset_table_cb = reset;
    t->ui.stat_tap_free_table_item_cb = gone;
    t->empty = empty;
    tables = g_slist_prepend(tables, t);
    register_stat_tap_table_ui(&t->ui);
}

stat_tap_table_item_type *table_add(taps_table *t)
{
    unsigned row = t->table->num_elements;

    if (row < t->made) {
        t->table->num_elements++;
    } else {
        stat_tap_init_table_row(t->table, row, 0, NULL);
        t->made = row + 1;
    }
    return t->table->elements[row];
}

char *table_text(const char *text)
{
    GString *plain = g_string_new(NULL);

    for (; *text; text++) {
        if (g_ascii_iscntrl(*text)) {
            g_string_append_printf(plain, "\\x%02x", (unsigned char)*text);
        } else {
            g_string_append_c(plain, *text);
        }
    }
    return g_string_free(plain, FALSE);
}
