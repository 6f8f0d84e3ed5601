/* table.c
 * A table of Wireshark's simple statistics (stat_tap).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/table.h"

#include "taps/output.h"

#include <epan/tap.h>

#include <math.h>

/* Rows of a table, and bytes of their first texts; what goes beyond shares one more. */
#define MAX_ROWS 100000
#define MAX_ROW_BYTES (32 << 20)

#define TEXT_CHUNK 16384

static GSList *tables; /* taps_table */
static bool is_first;  /* ours is the first listener that is drawn, */
static bool draws;     /* or one of them */

static const stat_tap_table_item_type blank[TABLE_MAX_COLUMNS];

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static stat_tap_table_item_type *table_cell(taps_table *t, unsigned row, unsigned column)
{
    return stat_tap_get_field_data(t->shown, row, column);
}

void table_clear(taps_table *t)
{
    g_hash_table_remove_all(t->known);
    g_ptr_array_set_size(t->rows, 0);
    t->others = NULL;
    t->row_bytes = 0;
}

/* The table ends after so many rows. A window points to those that it has drawn: they stay, without a text. */
static void end_after(taps_table *t, unsigned count)
{
    for (unsigned i = count; i < t->shown->num_elements; i++) {
        stat_tap_init_table_row(t->shown, i, (unsigned)t->ui.nfields, blank);
        if (!t->is_drawn) {
            g_free(t->shown->elements[i]);
        }
    }
    if (!t->is_drawn) {
        t->shown->num_elements = MIN(t->shown->num_elements, count);
    }
}

static void *add_row(taps_table *t, const char *text)
{
    unsigned row = t->rows->len;
    unsigned *data = g_malloc0(MAX(t->row_size, sizeof *data));

    *data = row;
    g_ptr_array_add(t->rows, data);
    stat_tap_init_table_row(t->shown, row, (unsigned)t->ui.nfields, blank); /* a note stood there */
    for (unsigned i = 0; i < t->ui.nfields; i++) {
        if (t->columns[i].type == TABLE_ITEM_UINT) {
            table_set_count(t, row, i, 0);
        } else if (t->columns[i].type == TABLE_ITEM_STRING || !t->in_window) {
            table_set_text(t, row, i, i == 0 ? text : "");
        } else {
            *table_cell(t, row, i) = WS_TABLE_NO_NUMBER;
        }
    }
    return data;
}

void *table_row(taps_table *t, const char *key, const char *text)
{
    void *data = key ? g_hash_table_lookup(t->known, key) : NULL;
    size_t size = strlen(text) + 1;

    if (data) {
        return data;
    }
    if (t->rows->len >= MAX_ROWS || size > MAX_ROW_BYTES - t->row_bytes) {
        t->others = t->others ? t->others : add_row(t, TABLE_OTHERS);
        return t->others;
    }
    t->row_bytes += (uint32_t)size;
    data = add_row(t, text);
    if (key) {
        g_hash_table_insert(t->known, g_strdup(key), data);
    }
    return data;
}

static void show_row(taps_table *t, unsigned row)
{
    const char *data = table_data(t, row);
    uint64_t count;

    for (unsigned i = 0; i < t->ui.nfields; i++) {
        if (t->columns[i].count > 0) {
            memcpy(&count, data + t->columns[i].count, sizeof count);
            table_set_count(t, row, i, count);
        }
    }
    if (t->show) {
        t->show(t, row);
    }
}

void table_changed(taps_table *t, unsigned row)
{
    if (t->in_window) {
        show_row(t, row);
    }
}

/* What could not be taken, after the rows that there are now. */
static void show_notes(taps_table *t)
{
    stat_tap_table_item_type note[TABLE_MAX_COLUMNS] = {{.type = TABLE_ITEM_STRING}};

    g_clear_pointer(&t->notes, g_ptr_array_unref);
    t->notes = left_out_notes(&t->left, "samples", LEFT_OUT_BRIEF);
    for (unsigned i = 0; i < t->notes->len; i++) {
        note[0].value.string_value = g_ptr_array_index(t->notes, i);
        stat_tap_init_table_row(t->shown, t->rows->len + i, (unsigned)t->ui.nfields, note);
    }
    end_after(t, t->rows->len + t->notes->len);
}

/* --- Cells ----------------------------------------------------------------------------------------------------- */

void table_set_text(taps_table *t, unsigned row, unsigned column, const char *text)
{
    char *plain = ws_format_text(NULL, text, strlen(text)), *kept = g_string_chunk_insert_const(t->texts, plain);

    *table_cell(t, row, column) = (stat_tap_table_item_type){.type = TABLE_ITEM_STRING, .value.string_value = kept};
    wmem_free(NULL, plain);
}

void table_set_count(taps_table *t, unsigned row, unsigned column, uint64_t count)
{
    unsigned shown = (unsigned)MIN(count, UINT32_MAX);

    *table_cell(t, row, column) = (stat_tap_table_item_type){.type = TABLE_ITEM_UINT, .value.uint_value = shown};
}

/* A window of an older Wireshark shows every number that is no integer with six decimals. */
void table_set_number(taps_table *t, unsigned row, unsigned column, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with a few decimals */
    const char *format = t->columns[column].format;

    if (!t->in_window) {
        table_set_text(t, row, column, g_ascii_formatd(text, sizeof text, format, number));
    } else if (WS_TABLE_IGNORES_FORMATS && strcmp(format, "%.0f") == 0) {
        table_set_count(t, row, column, (uint64_t)number);
    } else {
        *table_cell(t, row, column) = (stat_tap_table_item_type){.type = TABLE_ITEM_FLOAT, .value.float_value = number};
    }
}

/* --- Life ------------------------------------------------------------------------------------------------------ */

/* sharkd frees a table that it has shown. */
static bool is_there(const taps_table *t)
{
    return t->ui.tables && t->ui.tables->len > 0;
}

/* An empty table. What another window of it has drawn stays for good: that points to it. */
static void renew(taps_table *t)
{
    if (t->ui.refcount > 1 && is_there(t)) {
        g_array_set_size(t->ui.tables, 0);
        t->notes = NULL;
    } else if (t->shown) {
        free_stat_tables(&t->ui);
        g_string_chunk_free(t->texts);
    }
    t->texts = g_string_chunk_new(TEXT_CHUNK);
    t->shown = stat_tap_init_table(t->ui.title, (int)t->ui.nfields, 0, NULL);
    stat_tap_add_table(&t->ui, t->shown);
    t->left = (left_out){.any_read = false};
    t->is_drawn = is_first = false;
    table_clear(t);
    if (t->begin) {
        t->begin(t);
    }
}

static void table_draw(void *data _U_)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        t->is_drawn = t->in_window;
        if (!is_there(t) || (t->in_window && t->listener)) {
            continue; /* a window's rows are as of its last call */
        }
        if (t->fill) {
            t->fill(t);
        }
        for (unsigned i = 0; i < t->rows->len; i++) {
            show_row(t, i);
        }
        show_notes(t);
        if (!t->in_window) {
            output_say_left_out(&t->left, "samples");
        }
    }
}

/* What is registered last is drawn first: whoever asks for a table is, behind table_begin(), and before the first packet. */
static tap_packet_status listen_to_drawing(void *data _U_, packet_info *pinfo _U_, epan_dissect_t *edt _U_,
                                           const void *call _U_, tap_flags_t flags _U_)
{
    if (!is_first) {
        is_first = true;
        output_listen_first(&draws, "frame", &is_first, NULL, table_draw);
    }
    return TAP_PACKET_DONT_REDRAW;
}

/* Wireshark's window shows numbers and sorts by them. tshark prints numbers by the locale and ends
 * a row where a cell has no value: it gets texts. */
static stat_tap_table_item *fields_of(const taps_table *t)
{
    stat_tap_table_item *fields = g_new(stat_tap_table_item, t->ui.nfields);

    for (unsigned i = 0; i < t->ui.nfields; i++) {
        const table_column *c = &t->columns[i];
        bool is_text = c->type == TABLE_ITEM_STRING;
        bool is_printed = is_text || (c->type == TABLE_ITEM_FLOAT && !t->in_window);
        fields[i] = (stat_tap_table_item){
            is_printed ? TABLE_ITEM_STRING : c->type,
            is_text ? TAP_ALIGN_LEFT : TAP_ALIGN_RIGHT,
            c->name,
            is_printed ? "%s" : c->format,
        };
    }
    return fields;
}

/* Somebody asks for the table: a window, which has it reset next, or a program that prints it. */
static void table_begin(stat_tap_table_ui *ui)
{
    static bool listens;
    taps_table *t = (taps_table *)ui;

    t->in_window = ui->refcount > 0;
    t->listener = NULL;
    if (t->in_window && is_there(t)) {
        return; /* what stands there is shown until then */
    }
    g_free(ui->fields);
    ui->fields = fields_of(t);
    renew(t);
    if (!t->in_window) {
        show_notes(t); /* as long as nothing comes */
    }
    output_listen_first(&draws, "frame", &is_first, NULL, table_draw); /* where no packet comes */
    output_listen_first(&listens, "frame", &tables, listen_to_drawing, NULL);
}

static void table_reset(stat_tap_table *shown)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        if (t->shown == shown) {
            renew(t);
        }
    }
}

static void table_forget_capture(void)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        if (!t->keeps_rows) {
            g_hash_table_remove_all(t->known);
        }
    }
}

/* sharkd leaves listeners behind where it could not do all that it was asked for: a table is the newest's. */
static tap_packet_status table_count(void *listener, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    taps_table *t = (taps_table *)((const stat_data_t *)listener)->stat_tap_data;
    const tapped_call *tapped = call;

    if (!is_there(t) || (t->listener && t->listener != listener)) {
        return TAP_PACKET_DONT_REDRAW;
    }
    t->listener = listener;
    left_out_count(&t->left, tapped);
    t->left.paths = t->paths;
    if (!tapped->is_repeated) {
        t->count(t, pinfo, tapped);
    }
    if (t->in_window) {
        show_notes(t);
    }
    return TAP_PACKET_REDRAW;
}

/* One table cannot hold what passed two filters. */
static void check_argument(const char *argument, const char **filter, char **error)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        if (!g_str_has_prefix(argument, t->ui.cli_string)) {
            continue;
        }
        if (!strchr(",", argument[strlen(t->ui.cli_string)])) {
            *error = g_strdup_printf("pcq: there is no -z %s", argument);
        } else if (is_there(t)) {
            *error = g_strdup_printf("pcq: -z %s can be given once", t->ui.cli_string);
        } else if (t->takes_paths) {
            t->paths = watch_paths_take(filter, error);
        }
    }
}

/* Wireshark 4.0 has no menu for REGISTER_STAT_GROUP_GENERIC. */
void table_register(taps_table *t)
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};

    t->known = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    t->rows = g_ptr_array_new_with_free_func(g_free);
    t->in_window = true; /* a window looks at its columns before it asks for the table */
    t->ui.fields = fields_of(t);
    t->ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    t->ui.tap_name = TAPPED_NAME;
    t->ui.packet_func = table_count;
    t->ui.nparams = 1;
    t->ui.params = &filter;
    t->ui.stat_tap_init_cb = table_begin;
    t->ui.stat_tap_reset_table_cb = table_reset;
    t->ui.stat_filter_check_cb = check_argument;
    if (tables == NULL) {
        register_cleanup_routine(table_forget_capture);
    }
    tables = g_slist_prepend(tables, t);
    register_stat_tap_table_ui(&t->ui);
}
