/* table.c
 * A table of Wireshark's simple statistics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/table.h"

#include "taps/output.h"

#include <epan/tap.h>

#define OTHERS "(all others: there are too many)"
#define TEXT_CHUNK 16384
#define NOTE_WIDTH 40 /* characters */

static GSList *tables; /* taps_table */

/* Wireshark's window shows cells as the rows change, sorts them as numbers, and leaves out those that have no value.
 * tshark and sharkd print them once, numbers by the locale, and a row ends with its first cell without a value: they get
 * texts. */
static bool in_window;

static bool runs_in(const char *program)
{
    const char *name = g_get_prgname();

    return name && strstr(name, program) != NULL;
}

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
    tapped_left_out_clear(&view->left);
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
    free_stat_tables(&view->ui);
    g_array_free(view->ui.tables, TRUE);
    g_free(view);
}

/* What those see that are told nothing. A window might look here before its first packet comes. */
static void add_empty_table(stat_tap_table_ui *ui)
{
    static const tapped_left_out nothing;
    static char *none;
    stat_tap_table *table = stat_tap_init_table(ui->title, (int)ui->nfields, 0, NULL);

    stat_tap_add_table(ui, table);
    if (!in_window) {
        none = none ? none : tapped_left_out_line(&nothing, "", 0);
        stat_tap_init_table_row(table, 0, 0, NULL);
        table->elements[0]->type = TABLE_ITEM_STRING;
        table->elements[0]->value.string_value = none;
    }
}

static void forget_views(taps_table *t)
{
    g_slist_free_full(t->views, view_free);
    t->views = NULL;
}

static void begin(stat_tap_table_ui *ui)
{
    if (ui->refcount == 0) {
        forget_views((taps_table *)ui); /* no window shows one */
    }
    if (stat_tap_find_table(ui, ui->title) == NULL) {
        add_empty_table(ui);
    }
    table_say_left_out();
}

static void reset_view(table_view *view)
{
    end_rows(view);
    for (unsigned i = 0; i < view->table->num_elements; i++) {
        g_free(view->table->elements[i]);
    }
    view->table->num_elements = 0;
    begin_rows(view);
}

/* A listener without a view is about to be told: if its window is the only one, what that showed goes at once, and
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
            g_hash_table_remove_all(((table_view *)v->data)->known);
            if (t->forget) {
                t->forget(v->data);
            }
        }
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static stat_tap_table_item_type *cell(table_view *view, unsigned row, unsigned column)
{
    return &view->table->elements[row][place_of(view->of, column)];
}

void table_add(table_view *view, const char *text, void *data)
{
    unsigned row = view->rows->len;

    *(unsigned *)data = row;
    stat_tap_init_table_row(view->table, row, 0, NULL);
    memset(view->table->elements[row], 0, view->ui.nfields * sizeof(stat_tap_table_item_type)); /* a note stood there */
    g_ptr_array_add(view->rows, data);
    for (unsigned i = 0; i < view->ui.nfields; i++) {
        stat_tap_table_item_enum type = view->of->columns[i].type;
        if (type == TABLE_ITEM_UINT) {
            table_set_count(view, row, i, 0);
        } else if (type == TABLE_ITEM_STRING || !in_window) {
            table_set_text(view, row, i, i == 0 ? text : "");
        }
    }
}

bool table_is_full(const table_view *view)
{
    return view->rows->len >= TABLE_ROWS;
}

void *table_others(table_view *view, size_t size)
{
    if (view->others == 0) {
        table_add(view, OTHERS, g_malloc0(size));
        view->others = view->rows->len;
    }
    return table_data(view, view->others - 1);
}

void table_changed(table_view *view, unsigned row)
{
    if (in_window) {
        view->of->show(view, row);
    }
}

/* --- Notes ----------------------------------------------------------------------------------------------------- */

static char *note_of(const table_view *view, unsigned number)
{
    unsigned general = 0;
    char *line;

    while ((line = tapped_left_out_line(&view->left, "samples", general)) != NULL) {
        if (general++ == number) {
            return line;
        }
        g_free(line);
    }
    return view->of->note ? view->of->note(view, number - general) : NULL;
}

/* A sentence must not make its column wider than the window. */
static void wrap(char *line)
{
    char *begin = line;

    for (char *at = strchr(line, ' '); at; at = strchr(at + 1, ' ')) {
        size_t word = strcspn(at + 1, " ");
        if ((size_t)(at - begin) + word >= NOTE_WIDTH) {
            *at = '\n';
            begin = at + 1;
        }
    }
}

/* Behind the rows that there are now. */
static void show_notes(table_view *view)
{
    char *line;

    g_ptr_array_set_size(view->notes, 0);
    for (unsigned i = 0; (line = note_of(view, i)) != NULL; i++) {
        if (in_window) {
            wrap(line);
        }
        g_ptr_array_add(view->notes, line);
        stat_tap_init_table_row(view->table, view->rows->len + i, 0, NULL);
        stat_tap_table_item_type *item = cell(view, view->rows->len + i, 0);
        item->type = TABLE_ITEM_STRING;
        item->value.string_value = line;
    }
}

static tap_packet_status count_left_out(void *data, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *call,
                                        tap_flags_t flags _U_)
{
    tapped_count(data, call);
    return TAP_PACKET_DONT_REDRAW;
}

static void say_left_out(void *data)
{
    output_say_left_out(data, "");
}

void table_say_left_out(void)
{
    static tapped_left_out left;
    static bool listening;

    if (!listening && runs_in("tshark")) {
        listening = true;
        output_listen(TAPPED_NAME, &left, NULL, NULL, count_left_out, say_left_out);
    }
}

/* --- Drawing --------------------------------------------------------------------------------------------------- */

static void show_view(table_view *view)
{
    for (unsigned i = 0; i < view->rows->len; i++) {
        view->of->show(view, i);
    }
    show_notes(view);
    for (unsigned i = 0; i < view->notes->len; i++) {
        output_say(g_ptr_array_index(view->notes, i));
    }
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
    GString *error = register_tap_listener("frame", &tables, NULL, TL_REQUIRES_NOTHING, NULL, NULL, show_all, NULL);
    listening = error == NULL;
}

/* --- Cells ----------------------------------------------------------------------------------------------------- */

static void escape(GString *plain, const char *text)
{
    for (; *text; text++) {
        if (g_ascii_iscntrl(*text)) {
            g_string_append_printf(plain, "\\x%02x", (unsigned char)*text);
        } else {
            g_string_append_c(plain, *text);
        }
    }
}

void table_set_text(table_view *view, unsigned row, unsigned column, const char *text)
{
    stat_tap_table_item_type *item = cell(view, row, column);
    GString *plain = g_string_new(NULL);

    escape(plain, text);
    if (item->type != TABLE_ITEM_STRING || strcmp(item->value.string_value, plain->str) != 0) {
        item->type = TABLE_ITEM_STRING;
        item->value.string_value = g_string_chunk_insert(view->texts, plain->str);
    }
    g_string_free(plain, TRUE);
}

void table_set_count(table_view *view, unsigned row, unsigned column, uint64_t count)
{
    stat_tap_table_item_type *item = cell(view, row, column);

    item->type = TABLE_ITEM_UINT;
    item->value.uint_value = (unsigned)MIN(count, UINT32_MAX);
}

void table_set_number(table_view *view, unsigned row, unsigned column, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with a few decimals */

    if (in_window) {
        stat_tap_table_item_type *item = cell(view, row, column);
        item->type = TABLE_ITEM_FLOAT;
        item->value.float_value = number;
    } else {
        g_ascii_formatd(text, sizeof text, view->of->columns[column].field_format, number);
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
            if (!in_window) {
                show_before_drawn();
            }
        }
    }
    table_view *view = (table_view *)listener->stat_tap_data;
    if (tapped_count(&view->left, tapped) && !tapped->is_repeated) {
        view->of->count(view, pinfo, tapped);
    }
    if (in_window) {
        show_notes(view);
    }
    return TAP_PACKET_REDRAW;
}

static stat_tap_table_item *fields_of(const taps_table *t)
{
    stat_tap_table_item *fields = g_new(stat_tap_table_item, t->ui.nfields);

    for (unsigned i = 0; i < t->ui.nfields; i++) {
        stat_tap_table_item *field = &fields[place_of(t, i)];
        *field = t->columns[i];
        if (!in_window && field->type == TABLE_ITEM_FLOAT) {
            field->type = TABLE_ITEM_STRING;
            field->field_format = "%s";
        }
    }
    return fields;
}

/* Wireshark 4.0 has no menu for REGISTER_STAT_GROUP_GENERIC. */
void table_register(taps_table *t)
{
    static tap_param filter = {PARAM_FILTER, "filter", "Filter", NULL, TRUE};

    in_window = !runs_in("tshark") && !runs_in("sharkd");
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
