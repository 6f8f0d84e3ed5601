/* table.c
 * A table of Wireshark's simple statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/table.h"

#include "taps/output.h"
#include "text/text.h"

#include <epan/tap.h>

/* Rows of a table, and bytes of their first texts; what goes beyond shares one more. */
#define MAX_ROWS 100000
#define MAX_ROW_BYTES (32 << 20)

#define TEXT_CHUNK 16384

static GSList *tables; /* taps_table */

/* Wireshark's window shows cells as the rows change, sorts them as numbers, and leaves out those that have no value.
 * tshark and sharkd print them once, numbers by the locale, and a row ends with its first cell without a value: they get
 * texts. Only a window counts itself. */
static bool in_window = true;

/* Where a column stands. */
static unsigned place_of(const taps_table *t, unsigned column)
{
    if (!in_window || column > t->behind) {
        return column;
    }
    return column == 0 ? t->behind : column - 1;
}

/* --- Views ----------------------------------------------------------------------------------------------------- */

static void begin_rows(table_view *view)
{
    taps_table *t = view->of;

    view->own = g_malloc0(t->own_size);
    view->known = t->has_text_keys ? g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL)
                                   : g_hash_table_new(NULL, NULL);
    view->rows = g_ptr_array_new_with_free_func(t->free_row ? t->free_row : g_free);
    view->row_bytes = 0;
    view->texts = g_string_chunk_new(TEXT_CHUNK);
    view->notes = g_ptr_array_new_with_free_func(g_free);
    view->others = 0;
    if (t->begin) {
        t->begin(view);
    }
}

static void end_rows(table_view *view)
{
    if (view->of->end) {
        view->of->end(view);
    }
    g_free(view->own);
    g_hash_table_destroy(view->known);
    g_ptr_array_free(view->rows, TRUE);
    g_string_chunk_free(view->texts);
    g_ptr_array_free(view->notes, TRUE);
    view->left = (tapped_left_out){.any_read = false};
}

/* sharkd frees tables when it has shown them. */
static bool is_freed(const table_view *view)
{
    return view->ui.tables->len == 0;
}

static table_view *view_new(taps_table *t)
{
    table_view *view = g_new0(table_view, 1);

    view->ui = t->ui;
    view->ui.tables = NULL;
    view->of = t;
    view->blank = g_new0(stat_tap_table_item_type, t->ui.nfields);
    view->table = stat_tap_init_table(t->ui.title, (int)t->ui.nfields, 0, NULL);
    stat_tap_add_table(&view->ui, view->table);
    begin_rows(view);
    t->views = g_slist_prepend(t->views, view);
    return view;
}

static void view_free(void *data)
{
    table_view *view = data;

    end_rows(view);
    g_free(view->blank);
    free_stat_tables(&view->ui);
    g_array_free(view->ui.tables, TRUE);
    g_free(view);
}

static stat_tap_table_item *fields_of(const taps_table *t)
{
    stat_tap_table_item *fields = g_new(stat_tap_table_item, t->ui.nfields);

    for (unsigned i = 0; i < t->ui.nfields; i++) {
        const table_column *c = &t->columns[i];
        bool is_text = c->type == TABLE_ITEM_STRING;
        bool is_printed = is_text || (c->type == TABLE_ITEM_FLOAT && !in_window);
        fields[place_of(t, i)] = (stat_tap_table_item){
            is_printed ? TABLE_ITEM_STRING : c->type,
            is_text ? TAP_ALIGN_LEFT : TAP_ALIGN_RIGHT,
            c->name,
            is_printed ? "%s" : c->format,
        };
    }
    return fields;
}

/* What those see that are handed nothing. A window might look here before its first packet comes. */
static void add_empty_table(stat_tap_table_ui *ui)
{
    static const tapped_left_out nothing;
    static char *none;
    stat_tap_table *table = stat_tap_init_table(ui->title, (int)ui->nfields, 0, NULL);

    stat_tap_add_table(ui, table);
    if (!in_window) {
        none = none ? none : tapped_note(&nothing, "", 0, TAPPED_BRIEF);
        stat_tap_init_table_row(table, 0, 0, NULL);
        *stat_tap_get_field_data(table, 0, 0) =
            (stat_tap_table_item_type){.type = TABLE_ITEM_STRING, .value.string_value = none};
    }
}

static void forget_views(taps_table *t)
{
    g_slist_free_full(t->views, view_free);
    t->views = NULL;
}

static void begin(stat_tap_table_ui *ui)
{
    taps_table *t = (taps_table *)ui;

    in_window = ui->refcount > 0;
    if (t->watch) {
        t->watch();
    }
    if (!in_window) {
        forget_views(t);
        g_free(ui->fields);
        ui->fields = fields_of(t);
    }
    if (stat_tap_find_table(ui, ui->title) == NULL) {
        add_empty_table(ui);
    }
    table_say_left_out();
}

/* The table ends behind `count` rows. A window points to those that it has drawn: they stay, without a text. */
static void end_table_behind(table_view *view, unsigned count)
{
    stat_tap_table *table = view->table;

    for (unsigned i = count; i < table->num_elements; i++) {
        for (unsigned column = 0; view->is_drawn && column < view->ui.nfields; column++) {
            *stat_tap_get_field_data(table, i, column) =
                (stat_tap_table_item_type){.type = TABLE_ITEM_STRING, .value.string_value = ""};
        }
        if (!view->is_drawn) {
            g_free(table->elements[i]);
        }
    }
    if (!view->is_drawn) {
        table->num_elements = MIN(table->num_elements, count);
    }
}

static void reset_view(table_view *view)
{
    end_rows(view);
    view->is_drawn = false;
    end_table_behind(view, 0);
    begin_rows(view);
}

/* A listener without a view is about to be handed calls: if its window is the only one, what that showed goes at once, and
 * nobody else looks at views. */
static void reset(stat_tap_table *table)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        if (stat_tap_find_table(&t->ui, t->ui.title) == table && t->ui.refcount <= 1) {
            forget_views(t);
        }
        for (GSList *v = t->views; v; v = v->next) {
            table_view *view = v->data;
            if (!is_freed(view) && view->table == table) {
                reset_view(view);
            }
        }
    }
}

static void forget_capture(void)
{
    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        for (GSList *v = t->views; v; v = v->next) {
            if (t->forget) {
                t->forget(v->data);
            } else {
                g_hash_table_remove_all(((table_view *)v->data)->known);
            }
        }
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static stat_tap_table_item_type *cell(table_view *view, unsigned row, unsigned column)
{
    return stat_tap_get_field_data(view->table, row, place_of(view->of, column));
}

static void *add_row(table_view *view, const char *text)
{
    unsigned row = view->rows->len;
    unsigned *data = g_malloc0(view->of->row_size);

    *data = row;
    stat_tap_init_table_row(view->table, row, (unsigned)view->ui.nfields, view->blank); /* a note stood there */
    g_ptr_array_add(view->rows, data);
    for (unsigned i = 0; i < view->ui.nfields; i++) {
        stat_tap_table_item_enum type = view->of->columns[i].type;
        if (type == TABLE_ITEM_UINT) {
            table_set_count(view, row, i, 0);
        } else if (type == TABLE_ITEM_STRING || !in_window) {
            table_set_text(view, row, i, i == 0 ? text : "");
        }
    }
    return data;
}

void *table_others(table_view *view)
{
    if (view->others == 0) {
        add_row(view, TABLE_OTHERS);
        view->others = view->rows->len;
    }
    return table_data(view, view->others - 1);
}

void *table_row(table_view *view, const void *key, const char *text, bool *is_new)
{
    void *data = g_hash_table_lookup(view->known, key);
    size_t size = strlen(text) + 1;

    if (data) {
        return data;
    }
    if (view->rows->len >= MAX_ROWS || size > MAX_ROW_BYTES - view->row_bytes) {
        return table_others(view);
    }
    view->row_bytes += (uint32_t)size;
    data = add_row(view, text);
    g_hash_table_insert(view->known, view->of->has_text_keys ? g_strdup(key) : (void *)(uintptr_t)key, data);
    if (is_new) {
        *is_new = true;
    }
    return data;
}

void table_start_over(table_view *view)
{
    g_hash_table_remove_all(view->known);
    g_ptr_array_set_size(view->rows, 0);
    view->row_bytes = view->others = 0;
    end_table_behind(view, 0);
}

static void show_row(table_view *view, unsigned row)
{
    const char *data = table_data(view, row);
    uint64_t count;

    for (unsigned i = 0; i < view->ui.nfields; i++) {
        size_t at = view->of->columns[i].count;
        if (at > 0) {
            memcpy(&count, data + at, sizeof count);
            table_set_count(view, row, i, count);
        }
    }
    if (view->of->show) {
        view->of->show(view, row);
    }
}

bool table_in_window(void)
{
    return in_window;
}

void table_changed(table_view *view, unsigned row)
{
    if (in_window) {
        show_row(view, row);
    }
}

/* --- Notes ----------------------------------------------------------------------------------------------------- */

/* Behind the rows that there are now. */
static void show_notes(table_view *view)
{
    char *line;

    g_ptr_array_set_size(view->notes, 0);
    for (unsigned i = 0; (line = tapped_note(&view->left, "samples", i, TAPPED_BRIEF)) != NULL; i++) {
        g_ptr_array_add(view->notes, line);
        stat_tap_init_table_row(view->table, view->rows->len + i, 0, view->blank);
        stat_tap_table_item_type *item = cell(view, view->rows->len + i, 0);
        item->type = TABLE_ITEM_STRING;
        item->value.string_value = line;
    }
    end_table_behind(view, view->rows->len + view->notes->len);
}

static void say_left_out(void *data)
{
    output_say_left_out(data, "");
}

void table_say_left_out(void)
{
    static tapped_left_out left = {.needs_no_samples = true};
    static bool listening;

    if (!listening && output_of_tshark()) { /* a tree does not know who shows it */
        listening = true;
        output_listen(TAPPED_NAME, &left, NULL, NULL, output_count, say_left_out);
    }
}

/* --- Drawing --------------------------------------------------------------------------------------------------- */

static void show_view(table_view *view)
{
    view->is_drawn = in_window;
    if (in_window) {
        return; /* its rows are as of its last call; what draws them here is a clock */
    }
    if (view->of->judge) {
        view->of->judge(view);
    }
    for (unsigned i = 0; i < view->rows->len; i++) {
        show_row(view, i);
    }
    show_notes(view);
    output_say_left_out(&view->left, "samples");
}

static void show_all(void *data _U_)
{
    for (GSList *at = tables; at; at = at->next) {
        for (GSList *v = ((taps_table *)at->data)->views; v; v = v->next) {
            if (!is_freed(v->data)) {
                show_view(v->data);
            }
        }
    }
}

/* Wireshark draws those first that came last. */
static void show_before_drawn(void)
{
    static bool listening;

    if (listening) {
        remove_tap_listener(&tables);
    }
    listening = output_listen("frame", &tables, NULL, NULL, NULL, show_all);
}

/* --- Cells ----------------------------------------------------------------------------------------------------- */

void table_set_text(table_view *view, unsigned row, unsigned column, const char *text)
{
    stat_tap_table_item_type *item = cell(view, row, column);
    GString *plain = g_string_new(NULL);

    text_escape(plain, text, strlen(text), false);
    if (item->type != TABLE_ITEM_STRING || strcmp(item->value.string_value, plain->str) != 0) {
        item->type = TABLE_ITEM_STRING;
        item->value.string_value = g_string_chunk_insert_const(view->texts, plain->str);
    }
    g_string_free(plain, TRUE);
}

void table_set_count(table_view *view, unsigned row, unsigned column, uint64_t count)
{
    stat_tap_table_item_type *item = cell(view, row, column);

    item->type = TABLE_ITEM_UINT;
    item->value.uint_value = (unsigned)MIN(count, UINT32_MAX);
}

/* A window shows every number that is no integer with six decimals. */
static bool is_whole(const table_column *column)
{
    return strcmp(column->format, "%.0f") == 0;
}

void table_set_number(table_view *view, unsigned row, unsigned column, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with a few decimals */

    if (in_window && is_whole(&view->of->columns[column])) {
        table_set_count(view, row, column, (uint64_t)number);
    } else if (in_window) {
        stat_tap_table_item_type *item = cell(view, row, column);
        item->type = TABLE_ITEM_FLOAT;
        item->value.float_value = number;
    } else {
        g_ascii_formatd(text, sizeof text, view->of->columns[column].format, number);
        table_set_text(view, row, column, text);
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

static tap_packet_status count(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                               tap_flags_t flags _U_)
{
    stat_data_t *listener = data;
    const tapped_call *tapped = call;

    for (GSList *at = tables; at; at = at->next) {
        taps_table *t = at->data;
        if (listener->stat_tap_data == &t->ui) {
            listener->stat_tap_data = &view_new(t)->ui;
            show_before_drawn();
        }
    }
    table_view *view = (table_view *)listener->stat_tap_data;
    tapped_count(&view->left, tapped);
    if (!tapped->is_repeated) {
        view->of->count(view, pinfo, tapped);
    }
    if (in_window) {
        show_notes(view);
    }
    return TAP_PACKET_REDRAW;
}

/* Wireshark 4.0 has no menu for REGISTER_STAT_GROUP_GENERIC. */
void table_register(taps_table *t)
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};

    t->ui.fields = fields_of(t);
    t->ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
    t->ui.tap_name = TAPPED_NAME;
    t->ui.packet_func = count;
    t->ui.nparams = 1;
    t->ui.params = &filter;
    t->ui.stat_tap_init_cb = begin;
    t->ui.stat_tap_reset_table_cb = reset;
    if (tables == NULL) {
        register_cleanup_routine(forget_capture);
    }
    tables = g_slist_prepend(tables, t);
    register_stat_tap_table_ui(&t->ui);
}
