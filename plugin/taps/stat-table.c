/* stat-table.c
 * A table of Wireshark's simple statistics (stat_tap).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/stat-table.h"

#include "taps/output.h"

#include <math.h>

static stat_table *tables; /* all that are registered; NULL behind the last */

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* Makes a cell of `from`: a number for a window, else a text. Windows before 4.6 show all but integers with six decimals. */
static stat_tap_table_item_type make_cell(stat_table *t, const char *format, const table_cell *from)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10] = ""; /* 1e308 with a few decimals */
    bool is_number = format && t->ui.refcount > 0, is_known = !isnan(from->number);

    if (is_number && WS_TABLE_IGNORES_FORMATS && is_known && strcmp(format, "%.0f") == 0) {
        return (stat_tap_table_item_type){.type = TABLE_ITEM_UINT,
                                          .value.uint_value = (unsigned)MIN(from->number, UINT_MAX)};
    }
    if (is_number) {
        return is_known ? (stat_tap_table_item_type){.type = TABLE_ITEM_FLOAT, .value.float_value = from->number}
                        : WS_TABLE_NO_NUMBER;
    }
    if (format && is_known) {
        g_ascii_formatd(number, sizeof number, format, from->number);
    }
    const char *text = !format && from->text ? from->text : number;
    return (stat_tap_table_item_type){.type = TABLE_ITEM_STRING,
                                      .value.string_value = ws_format_text(t->texts, text, strlen(text))};
}

void stat_table_add_row(stat_table *t, const table_cell *cells, unsigned count)
{
    stat_tap_table_item_type *made = g_new0(stat_tap_table_item_type, t->ui.nfields);

    for (unsigned i = 0; i < count; i++) {
        made[i] = make_cell(t, t->columns[i].format, &cells[i]);
    }
    stat_tap_init_table_row(t->shown, t->shown->num_elements, (unsigned)t->ui.nfields, made);
    g_free(made);
}

/* Returns true while Wireshark has the table: sharkd frees one that it has shown. */
static bool is_table_there(const stat_table *t)
{
    return t->ui.tables && t->ui.tables->len > 0;
}

/* Fills all empty tables behind the last packet, with rows and notes; omissions of a printed one are warnings, too. */
static void fill_tables(void)
{
    for (stat_table *t = tables; t; t = t->next) {
        if (!is_table_there(t) || t->shown->num_elements > 0) {
            continue;
        }
        t->fill(t);
        GPtrArray *notes = omissions_format(&t->omitted, true /* is_brief */);
        for (unsigned i = 0; i < notes->len; i++) {
            stat_table_add_row(t, &(table_cell){.text = g_ptr_array_index(notes, i)}, 1);
        }
        g_ptr_array_free(notes, TRUE);
        if (t->ui.refcount == 0) {
            output_print_omissions(&t->omitted);
        }
    }
}

/* --- Life -------------------------------------------------------------------------------------------------------- */

/* Begins an empty table, and forgets all that was counted; in the middle of a reading it has one row, which says so, and is not filled. The old rows
 * are freed, unless another window points to them: then they stay for good. */
static void renew_table(stat_table *t)
{
    if (t->ui.refcount > 1 && is_table_there(t)) {
        g_array_set_size(t->ui.tables, 0);
    } else if (t->shown) {
        free_stat_tables(&t->ui);
        wmem_destroy_allocator(t->texts);
    }
    t->texts = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK_FAST);
    t->shown = stat_tap_init_table(t->ui.title, (int)t->ui.nfields, 0, NULL);
    stat_tap_add_table(&t->ui, t->shown);
    t->omitted = (omissions){.paths = t->omitted.paths};
    t->begin(t->data);
    if (output_is_reading()) { /* this table's reading is refused, and that one has its first packets behind it */
        stat_table_add_row(t, &(table_cell){.text = "not counted, another window was being filled: press Apply"}, 1);
    }
    output_call_at_end(fill_tables);
}

/* Returns the columns as Wireshark wants them, to be freed. A window shows numbers and sorts by them. tshark prints numbers by the locale, and ends a
 * row at a cell without a value: it gets texts. */
static stat_tap_table_item *make_fields(const stat_table *t)
{
    stat_tap_table_item *fields = g_new(stat_tap_table_item, t->ui.nfields);

    for (unsigned i = 0; i < t->ui.nfields; i++) {
        const table_column *c = &t->columns[i];
        bool is_number = c->format && t->ui.refcount > 0;
        fields[i] =
            (stat_tap_table_item){is_number ? TABLE_ITEM_FLOAT : TABLE_ITEM_STRING,
                                  c->format ? TAP_ALIGN_RIGHT : TAP_ALIGN_LEFT, c->name, is_number ? c->format : "%s"};
    }
    return fields;
}

/* Begins a table for a window, which has it reset next, or for a program that prints it. `ui`: of a stat_table, its first member. */
static void table_begin(stat_tap_table_ui *ui)
{
    stat_table *t = (stat_table *)ui;

    if (ui->refcount > 0 && is_table_there(t)) {
        return; /* the rows are shown until then */
    }
    g_free(ui->fields);
    ui->fields = make_fields(t);
    renew_table(t);
}

static void table_reset(stat_tap_table *shown)
{
    for (stat_table *t = tables; t; t = t->next) {
        if (t->shown == shown) {
            renew_table(t);
        }
    }
}

/* Counts a call (`call`: call_tap_data). `listener`: Wireshark's of a stat_table. */
static tap_packet_status table_count(void *listener, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    stat_table *t = (stat_table *)((const stat_data_t *)listener)->stat_tap_data;

    omissions_count_call(&t->omitted, call);
    t->count(t->data, pinfo, call);
    return TAP_PACKET_REDRAW;
}

/* Takes paths from the place of the filter of a -z of ours. Changes: `*error` is the reason, to be freed, why a table that is there is refused: it
 * cannot hold what passed two filters. */
static void check_argument(const char *argument, const char **filter, char **error)
{
    for (stat_table *t = tables; t; t = t->next) {
        if (!g_str_has_prefix(argument, t->ui.cli_string)) {
            continue;
        }
        if (is_table_there(t)) {
            *error = g_strdup_printf("pcq: -z %s can be given once", t->ui.cli_string);
        } else if (t->takes_paths) {
            t->omitted.paths = watch_take_paths(filter);
        }
    }
}

void stat_table_register(stat_table *t)
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};

    t->ui.fields = make_fields(t);
    t->ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED; /* Wireshark 4.0 has no menu for REGISTER_STAT_GROUP_GENERIC */
    t->ui.tap_name = CALL_TAP_NAME;
    t->ui.packet_func = table_count;
    t->ui.nparams = 1;
    t->ui.params = &filter;
    t->ui.stat_tap_init_cb = table_begin;
    t->ui.stat_tap_reset_table_cb = table_reset;
    t->ui.stat_filter_check_cb = check_argument;
    t->next = tables;
    tables = t;
    register_stat_tap_table_ui(&t->ui);
}
