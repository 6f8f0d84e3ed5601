/* pdh-csv.c
 * PDH-CSV 4.0, a file for each query (or key of HKEY_PERFORMANCE_DATA): `-z pcq,csv,FILE[,FILTER]`, and File, Export Objects, PCQ, which has the
 * names file, too.
 *
 * The header names every column before the first row, and a column may turn up in the last response. So rows wait as numbers, 16 bytes for
 * each value, until they are written. They have the names that were known as they came. Where handles are counted anew in the middle (tshark -M),
 * rows follow those of the same number.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/csv.h"
#include "taps/output.h"

#include <epan/export_object.h>
#include <epan/tap.h>

#include <math.h>

#define HEADER "(PDH-CSV 4.0) (UTC)(0)"

/* Bytes of all paths of an export. */
#define MAX_PATH_BYTES (32 << 20)

/* If each response has instances of its own, rows times columns are many more cells than values. Columns that would go beyond these limits
 * are left out of a document. */
#define CELLS_PER_VALUE 256    /* cells of a document for each of its values */
#define CELLS_OF_ALL (8 << 20) /* cells beside these, shared evenly by all documents */

/* Stands for no column: no room was left, or it is not known which counter a value is of. */
#define NO_COLUMN UINT32_MAX

/* Bytes of the host in an object's name: Wireshark cuts a long name at its end, where the handle stands, and writes some characters as three. */
#define MAX_HOST_BYTES 64

/* A counter with values. */
typedef struct {
    char *path;             /* owned by documents.texts */
    counter_identity whose; /* the first counter of that path; others are not exported */
    unsigned end;           /* number of the cell behind its newest; 0: it has none */
} document_column;

typedef struct {
    double value;    /* NAN: the value has no result */
    uint32_t column; /* number, or NO_COLUMN */
} document_cell;

/* A sample. */
typedef struct {
    nstime_t when; /* of the response */
    bool has_time; /* the capture has times */
    unsigned end;  /* number of the cell behind its last; its first is the `end` of the row before */
} document_row;

/* A query's file. */
typedef struct {
    uint32_t number; /* of its handle */
    bool is_hkpd;
    uint32_t first_frame; /* of its first sample; 0: none yet */
    char *machine;        /* computer name of that sample */
    GArray *paths;        /* document_column, by their numbers */
    GPtrArray *refused;   /* paths that the server refused; one has a blank column, unless it has a value later */
    GHashTable *columns;  /* path -> number + 1; 0: it was only refused */
    GArray *rows;         /* document_row */
    GArray *cells;        /* document_cell, of all rows */
} document;

/* All files of one export. */
typedef struct {
    GHashTable *texts;     /* paths, each once; owns them */
    size_t text_bytes;     /* of all paths */
    GPtrArray *all;        /* document, of those with samples, in the order of the first; by_number owns them */
    GHashTable *by_number; /* number and kind of a handle -> document; also of those without a sample yet */
    omissions *omitted;    /* of the export, which owns them */
} documents;

/* --- Columns --------------------------------------------------------------------------------------------------- */

static document_column *get_document_column(const document *doc, uint32_t number)
{
    return &g_array_index(doc->paths, document_column, number);
}

/* Returns the number of a path's column; NO_COLUMN: without room for the path, or if it was only refused. Changes: creates the column; if
 * `is_refused`, the path is only noted, for a blank column unless a value comes later. */
static uint32_t find_or_create_column(documents *d, document *doc, const char *path, bool is_refused)
{
    document_column column = {.path = g_hash_table_lookup(d->texts, path)};
    uint32_t number = column.path ? GPOINTER_TO_UINT(g_hash_table_lookup(doc->columns, column.path)) : 0;

    if (number > 0) {
        return number - 1;
    }
    size_t size = column.path ? 0 : strlen(path) + 1;
    if (size > MAX_PATH_BYTES - d->text_bytes) {
        return NO_COLUMN;
    }
    if (size > 0) {
        d->text_bytes += size;
        column.path = g_strdup(path);
        g_hash_table_add(d->texts, column.path);
    }
    if (!is_refused) {
        g_array_append_val(doc->paths, column);
        number = doc->paths->len;
    }
    if (g_hash_table_insert(doc->columns, column.path, GUINT_TO_POINTER(number)) && is_refused) {
        g_ptr_array_add(doc->refused, column.path);
    }
    return number - 1;
}

/* --- All documents --------------------------------------------------------------------------------------------- */

static void free_document(void *data)
{
    document *doc = data;

    g_array_free(doc->paths, TRUE);
    g_ptr_array_free(doc->refused, TRUE);
    g_hash_table_destroy(doc->columns);
    g_array_free(doc->rows, TRUE);
    g_array_free(doc->cells, TRUE);
    g_free(doc->machine);
    g_free(doc);
}

static documents *documents_new(omissions *omitted)
{
    documents *d = g_new0(documents, 1);

    d->texts = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    d->omitted = omitted;
    d->all = g_ptr_array_new();
    d->by_number = g_hash_table_new_full(NULL, NULL, NULL, free_document);
    return d;
}

static void documents_free(documents *d)
{
    g_ptr_array_free(d->all, TRUE);
    g_hash_table_destroy(d->by_number);
    g_hash_table_destroy(d->texts);
    g_free(d);
}

/* Returns the end of a document's file name, "query-2", "hkpd-1", to be freed. */
static char *format_suffix(const document *doc)
{
    return g_strdup_printf("%s-%u", doc->is_hkpd ? "hkpd" : "query", doc->number);
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

/* Adds a cell of the value that was read last. The first value of a path in a response counts, with a result or without; of two counters the
 * first. `first_of_row`: number of the row's first cell. Changes: counts another value or counter of the path as omitted. */
static void add_cell(documents *d, document *doc, value_stream *stream, const document_cell *cell,
                     unsigned first_of_row)
{
    document_column *column = cell->column < doc->paths->len ? get_document_column(doc, cell->column) : NULL;
    bool is_twice = column && column->end > first_of_row;

    if (is_twice || (column && !value_stream_is_same_counter(stream, &column->whose))) {
        bool is_alike = is_twice && cell->value == g_array_index(doc->cells, document_cell, column->end - 1).value;
        d->omitted->counts[OMITTED_WITHOUT_CELL] += !isnan(cell->value) && !is_alike;
        return;
    }
    g_array_append_vals(doc->cells, cell, 1);
    if (column) {
        column->end = doc->cells->len;
    }
}

/* Adds all values of a response as cells of the row that is begun. Not texts, and not bases, which only divide others. */
static void add_values(documents *d, document *doc, value_stream *stream)
{
    unsigned first = doc->cells->len;

    while (value_stream_next(stream)) {
        if (stream->at.is_text) {
            continue; /* typeperf shows counters: texts and bases are none */
        }
        const perf_result result = value_stream_result(stream);
        if (result.none == PERF_NO_RESULT_BASE_TYPE || result.none == PERF_NO_RESULT_NO_FORMULA) {
            continue;
        }
        const char *path = value_stream_path(stream);
        document_cell cell = {result.none == PERF_NO_RESULT_OK ? result.value : NAN,
                              path ? find_or_create_column(d, doc, path, false /* is_refused */) : NO_COLUMN};
        if (path) {
            omissions_count_value(d->omitted, stream, &result);
        }
        add_cell(d, doc, stream, &cell, first);
    }
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

/* Returns the document of a query or key. `number`: of its handle. Changes: creates it. */
static document *find_or_create_document(documents *d, uint32_t number, bool is_hkpd)
{
    void *key = GUINT_TO_POINTER(2 * number + is_hkpd);
    document *doc = g_hash_table_lookup(d->by_number, key);

    if (doc == NULL) {
        doc = g_new0(document, 1);
        doc->number = number;
        doc->is_hkpd = is_hkpd;
        doc->paths = g_array_new(FALSE, FALSE, sizeof(document_column));
        doc->refused = g_ptr_array_new();
        doc->columns = g_hash_table_new(NULL, NULL);
        doc->rows = g_array_new(FALSE, FALSE, sizeof(document_row));
        doc->cells = g_array_new(FALSE, FALSE, sizeof(document_cell));
        g_hash_table_insert(d->by_number, key, doc);
    }
    return doc;
}

/* Adds what the server refused as columns that stay blank, as typeperf has them. Changes: creates the query's document. */
static void add_refused(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    uint32_t number = tapped_handle_of(tapped->handle).number;
    bool is_assumed;

    for (uint32_t i = 0; number > 0 && i < tapped->num_identifiers; i++) {
        const char *path = tapped_refused_path(pinfo->pool, tapped, i, &is_assumed);
        if (path) {
            find_or_create_column(d, find_or_create_document(d, number, false /* is_hkpd */), path,
                                  true /* is_refused */);
        }
    }
}

/* Adds a call to its query's document: a sample as a row, refused counters as blank columns. Other calls add nothing. */
static void documents_add(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    if (tapped->answer == NULL) {
        add_refused(d, pinfo, tapped);
        return;
    }
    if (!tapped_has_sample(tapped)) {
        return;
    }
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    document *doc = find_or_create_document(d, tapped_handle_of(tapped->answer->handle).number, tapped->is_hkpd);
    document_row row = {pinfo->abs_ts, (pinfo->presence_flags & PINFO_HAS_TS) != 0, 0};

    if (doc->rows->len == 0) {
        doc->first_frame = pinfo->num;
        doc->machine = g_strdup(stream->computer);
        g_ptr_array_add(d->all, doc);
    }
    add_values(d, doc, stream);
    row.end = doc->cells->len;
    g_array_append_val(doc->rows, row);
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Writes the header: columns in the order in which their values first came, then those that were always refused, as far as there is room for them.
 * Returns how many columns these are, without that of the time. */
static unsigned write_header(const documents *d, const document *doc, GString *text)
{
    uint64_t cells = CELLS_OF_ALL / d->all->len + (uint64_t)doc->cells->len * CELLS_PER_VALUE;
    uint64_t most = cells / MAX(doc->rows->len, 1); /* columns, of which the first are taken */
    unsigned count = (unsigned)MIN(most, doc->paths->len);

    csv_pdh_text(text, HEADER);
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_text(text, get_document_column(doc, i)->path);
    }
    for (unsigned i = 0; i < doc->refused->len && count < most; i++) {
        const char *path = g_ptr_array_index(doc->refused, i);
        if (g_hash_table_lookup(doc->columns, path) == NULL) {
            csv_pdh_text(text, path);
            count++;
        }
    }
    csv_end_row(text);
    return count;
}

/* Writes a row: its time, then `count` columns; other cells count as omitted. Returns the next row's first cell. `values`: room for `count` cells. */
static unsigned write_pdh_row(documents *d, const document *doc, const document_row *row, unsigned first_cell,
                              GString *text, double *values, unsigned count)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with six decimals, as typeperf has them */

    for (unsigned i = 0; i < count; i++) {
        values[i] = NAN;
    }
    for (unsigned i = first_cell; i < row->end; i++) {
        const document_cell *cell = &g_array_index(doc->cells, document_cell, i);
        if (cell->column < count) {
            values[cell->column] = cell->value;
        } else {
            d->omitted->counts[OMITTED_WITHOUT_CELL]++;
        }
    }
    if (row->has_time) {
        csv_time(text, &row->when, true /* is_pdh */);
    } else {
        csv_pdh_text(text, " ");
    }
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_text(text, isnan(values[i]) ? " " : g_ascii_formatd(number, sizeof number, "%.6f", values[i]));
    }
    csv_end_row(text);
    return row->end;
}

/* Writes a document, row by row. `file`: NULL: all of it is appended to `text`. Needs: `text` is empty. */
static void document_write(documents *d, document *doc, output_file *file, GString *text)
{
    unsigned count = write_header(d, doc, text), first_cell = 0;
    double *values = g_new(double, count + 1);

    for (unsigned i = 0; i < doc->rows->len; i++) {
        const document_row *row = &g_array_index(doc->rows, document_row, i);
        first_cell = write_pdh_row(d, doc, row, first_cell, text, values, count);
        if (file) {
            output_write(file, text);
        }
    }
    g_free(values);
}

/* --- -z pcq,csv -------------------------------------------------------------------------------------------------- */

/* The task of one -z. */
typedef struct {
    output_task task; /* its file: the first document's */
    documents *documents;
} csv_export;

static void csv_reset(void *data)
{
    csv_export *export = data;

    g_clear_pointer(&export->documents, documents_free);
    export->documents = documents_new(&export->task.omitted);
}

static void csv_count(void *data, packet_info *pinfo, const tapped_call *tapped)
{
    documents_add(((csv_export *)data)->documents, pinfo, tapped);
}

/* Returns a document's path, to be freed: "run.csv" of the first, "run-query-2.csv" of others; "-" (standard output) of all. `number`: from 0. */
static char *make_path(const csv_export *export, unsigned number)
{
    const char *path = export->task.file.path, *dot = strrchr(path, '.');

    if (number == 0 || strcmp(path, "-") == 0) {
        return g_strdup(path);
    }
    if (dot == NULL || strpbrk(dot, G_DIR_SEPARATOR_S "/")) { /* a folder's */
        dot = path + strlen(path);
    }
    char *suffix = format_suffix(g_ptr_array_index(export->documents->all, number));
    char *other = g_strdup_printf("%.*s-%s%s", (int)(dot - path), path, suffix, dot);
    g_free(suffix);
    return other;
}

/* Writes a file for each document; without a sample a file that has only a header. */
static void csv_draw(void *data)
{
    csv_export *export = data;
    documents *d = export->documents;
    GString *text = g_string_new(NULL);

    if (d->all->len == 0) {
        output_whole(&export->task.file, g_string_new("\"" HEADER "\"\r\n"));
    }
    for (unsigned i = 0; i < d->all->len; i++) {
        char *path = make_path(export, i);
        output_file file = {.path = path};
        document_write(d, g_ptr_array_index(d->all, i), &file, text);
        output_commit(&file);
        g_free(path);
    }
    g_string_free(text, TRUE);
    output_print_omissions(&export->task.omitted);
}

void export_csv_register(void)
{
    static output_statistic statistic = {
        .name = "pcq,csv", .task_size = sizeof(csv_export), .reset = csv_reset, .count = csv_count, .draw = csv_draw};

    output_register(&statistic);
}

/* --- Export objects ------------------------------------------------------------------------------------------------ */

/* The one list of Wireshark that is filled. */
static struct {
    int tap;
    export_object_list_t *list; /* NULL: no call came for a list, or it is filled */
    documents *documents;       /* NULL without a list */
    uint32_t frame;             /* of the newest call; 0: none came since the program began */
    omissions omitted;          /* zeros without a list */
} objects;

/* Adds an object to Wireshark's list. `frame`: of its packet. `host`: NULL: none. Changes: Wireshark owns the name and the text. */
static void list_object(uint32_t frame, const char *host, const char *type, char *name, GString *text)
{
    export_object_entry_t *entry = g_new0(export_object_entry_t, 1);

    entry->pkt_num = frame;
    entry->hostname = g_strdup(host);
    entry->content_type = g_strdup(type);
    entry->filename = name;
    entry->payload_len = text->len;
    entry->payload_data = (void *)g_string_free(text, FALSE);
    objects.list->add_entry(objects.list->gui_data, entry);
}

static void list_document(document *doc)
{
    GString *text = g_string_new(NULL);
    size_t host = strlen(doc->machine);

    if (host > MAX_HOST_BYTES) {
        host = (size_t)(g_utf8_find_prev_char(doc->machine, doc->machine + MAX_HOST_BYTES + 1) - doc->machine);
    }
    document_write(objects.documents, doc, NULL, text);
    /* the host first; a name that begins with a dot would be hidden */
    char *suffix = format_suffix(doc);
    char *name = g_strdup_printf("%s%.*s-%s.csv", *doc->machine == '.' ? "_" : "", (int)host, doc->machine, suffix);
    list_object(doc->first_frame, doc->machine, "text/csv", name, text);
    g_free(suffix);
}

/* Forgets the list and its documents. Wireshark calls it, too, when it resets a list. */
static void objects_reset(void)
{
    g_clear_pointer(&objects.documents, documents_free);
    objects.list = NULL;
    objects.omitted = (omissions){0};
}

/* Fills Wireshark's list behind the last packet with all documents and the names file. A window may be gone, and its list with it. */
static void list_all(void)
{
    if (objects.list == NULL || !have_tap_listener(objects.tap)) {
        return;
    }
    const GPtrArray *all = objects.documents->all;
    for (unsigned i = 0; i < all->len; i++) {
        list_document(g_ptr_array_index(all, i));
    }
    GString *names = tapped_names();
    if (names) {
        list_object(objects.frame, NULL, "text/plain", g_strdup("pcq_names"), names);
    }
    output_print_omissions(&objects.omitted);
    objects_reset();
}

/* Adds a call to the documents. The first list of which a call comes is filled, others are not. `list`: Wireshark's; `call`: tapped_call. */
static tap_packet_status objects_add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    if (objects.list == NULL) {
        objects.list = list;
        objects.documents = documents_new(&objects.omitted);
        output_call_at_end(list_all);
    }
    if (objects.list != list) {
        return TAP_PACKET_DONT_REDRAW;
    }
    objects.frame = pinfo->num;
    omissions_count_call(&objects.omitted, tapped);
    documents_add(objects.documents, pinfo, tapped);
    return TAP_PACKET_REDRAW;
}

/* Prints, as the program ends, that an export of objects got no call: objects_add() was not called then, nor list_all(). */
static void report_no_calls(void)
{
    static const omissions nothing;

    if (have_tap_listener(objects.tap) && objects.frame == 0) {
        output_print_omissions(&nothing);
    }
}

void export_objects_register(void)
{
    register_shutdown_routine(report_no_calls);
    objects.tap = register_export_object(proto_get_id_by_filter_name("pcq"), objects_add, objects_reset);
    tapped_add(objects.tap);
}
