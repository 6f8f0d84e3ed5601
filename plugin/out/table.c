/* table.c
 * A table of Wireshark's simple statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "out/table.h"

#include "out/tap.h"

/* Wireshark 4.0 has no menu for REGISTER_STAT_GROUP_GENERIC. */
void out_table_register(stat_tap_table_ui *ui)
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};

    ui->group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    ui->tap_name = PERF_TAP;
    ui->nparams = 1;
    ui->params = &filter;
    register_stat_tap_table_ui(ui);
}

void out_table_begin(out_table *t, stat_tap_table_ui *ui, const char *title)
{
    stat_tap_table *table = stat_tap_find_table(ui, title);

    if (table) {
        t->table = table;
        out_table_reset(t);
        return;
    }
    t->table = stat_tap_init_table(title, (int)ui->nfields, 0, NULL);
    t->made = 0;
    stat_tap_add_table(ui, t->table);
}

void out_table_reset(out_table *t)
{
    for (unsigned i = 0; i < t->table->num_elements; i++) {
        memset(t->table->elements[i], 0, t->table->num_fields * sizeof **t->table->elements);
    }
    t->table->num_elements = 0;
}

void out_table_gone(out_table *t)
{
    t->made = 0;
}

stat_tap_table_item_type *out_table_add(out_table *t)
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

char *out_table_text(const char *text)
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
