/* pdh-csv.c
 * PDH-CSV 4.0, a file for each query (or key of HKEY_PERFORMANCE_DATA): `-z pcq,csv,FILE[,FILTER]`, and File, Export Objects, PCQ, which has the
 * names file, too.
 *
 * The header names every column before the first row, and a column may turn up in the last response. So rows wait as numbers, 16 bytes for
 * each value, until they are written. They have the names that were known as they came.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/csv.h"
#include "taps/output.h"
#include "taps/refusals.h"

#include <epan/export_object.h>
#include <epan/tap.h>

#include <math.h>

#define HEADER "(PDH-CSV 4.0) (UTC)(0)"

/* Bytes of all paths of an export: values beyond have no column. */
#define MAX_PATH_BYTES (128 << 20)

/* If each response has instances of its own, rows times columns are many more cells than values. So a document has at most this many columns,
 * and as many more for each value that its rows have on average: the first. */
#define MAX_COLUMNS_PER_VALUE 1000

#define TEXT_CHUNK 4096 /* bytes */

/* Bytes of the host in an object's name: Wireshark cuts a long name at its end, where the handle stands, and writes some characters as three. */
#define MAX_HOST_BYTES 64

/* A counter with values. */
typedef struct {
    const char *path;       /* owned by documents.texts */
    counter_identity whose; /* the first counter of that path; others are not exported */
    unsigned end;           /* number of the cell behind its newest; 0: it has none */
} document_column;

typedef struct {
    double value;    /* NAN: the value has no result */
    uint32_t column; /* its number */
} document_cell;

/* A sample. */
typedef struct {
    nstime_t when;       /* of the response; zeros: it has no time */
    unsigned first, end; /* numbers of its first cell and of the cell behind its last */
} document_row;

/* A query's file. */
typedef struct {
    uint32_t number; /* of its handle */
    bool is_hkpd;
    uint32_t first_frame; /* of its first sample */
    char *machine;        /* computer name of that sample; NULL: none came yet */
    GArray *paths;        /* document_column, by their numbers */
    GPtrArray *all_paths; /* also of counters that were only refused: these have blank columns behind all others */
    GHashTable *columns;  /* path -> number + 1; 0: it was only refused */
    GArray *rows;         /* document_row */
    GArray *cells;        /* document_cell, of all rows */
} document;

/* All files of one export. */
typedef struct {
    GStringChunk *texts;   /* all paths */
    size_t path_bytes;     /* of all paths */
    GPtrArray *all;        /* document, of those with samples, in the order of the first */
    GHashTable *by_number; /* number and kind of a handle -> document; owns them */
    omissions *omitted;    /* of the export, which owns them */
} documents;

/* --- All documents --------------------------------------------------------------------------------------------- */

static void free_document(void *data)
{
    document *doc = data;

    g_array_free(doc->paths, TRUE);
    g_ptr_array_free(doc->all_paths, TRUE);
    g_hash_table_destroy(doc->columns);
    g_array_free(doc->rows, TRUE);
    g_array_free(doc->cells, TRUE);
    g_free(doc->machine);
    g_free(doc);
}

static documents *documents_new(omissions *omitted)
{
    documents *d = g_new0(documents, 1);

    d->omitted = omitted;
    d->texts = g_string_chunk_new(TEXT_CHUNK);
    d->all = g_ptr_array_new();
    d->by_number = g_hash_table_new_full(NULL, NULL, NULL, free_document);
    return d;
}

static void documents_free(documents *d)
{
    g_ptr_array_free(d->all, TRUE);
    g_hash_table_destroy(d->by_number);
    g_string_chunk_free(d->texts);
    g_free(d);
}

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
        doc->all_paths = g_ptr_array_new();
        doc->columns = g_hash_table_new(wmem_str_hash, g_str_equal);
        doc->rows = g_array_new(FALSE, FALSE, sizeof(document_row));
        doc->cells = g_array_new(FALSE, FALSE, sizeof(document_cell));
        g_hash_table_insert(d->by_number, key, doc);
    }
    return doc;
}

/* Returns the end of a document's file name, "query-2", "hkpd-1", to be freed. */
static char *format_suffix(const document *doc)
{
    return g_strdup_printf("%s-%u", doc->is_hkpd ? "hkpd" : "query", doc->number);
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

static document_column *get_document_column(const document *doc, uint32_t number)
{
    return &g_array_index(doc->paths, document_column, number);
}

/* Returns a path of a document as it is owned. Changes: adds it, as of no column. Returns NULL without room for it. */
static char *find_or_add_path(documents *d, document *doc, const char *path)
{
    void *owned = NULL;
    size_t size = strlen(path) + 1;

    if (!g_hash_table_lookup_extended(doc->columns, path, &owned, NULL) && size <= MAX_PATH_BYTES - d->path_bytes) {
        d->path_bytes += size;
        owned = g_string_chunk_insert(d->texts, path);
        g_ptr_array_add(doc->all_paths, owned);
        g_hash_table_insert(doc->columns, owned, NULL);
    }
    return owned;
}

/* Returns a path's column, until another is created. Changes: creates it. Returns NULL without a path or without room for it. */
static document_column *find_or_create_column(documents *d, document *doc, const char *path)
{
    uint32_t number = path ? GPOINTER_TO_UINT(g_hash_table_lookup(doc->columns, path)) : 0;
    char *owned = path && number == 0 ? find_or_add_path(d, doc, path) : NULL;

    if (owned) {
        g_array_append_vals(doc->paths, &(document_column){.path = owned}, 1);
        number = doc->paths->len;
        g_hash_table_insert(doc->columns, owned, GUINT_TO_POINTER(number));
    }
    return number > 0 ? get_document_column(doc, number - 1) : NULL;
}

/* Adds a cell of the value that was read last, if it is the first of its path in the response: a client may ask for a counter twice. Of two
 * counters with one path the first has the column. `first_of_row`: number of the row's first cell. Changes: counts values without a column. */
static void add_cell(documents *d, document *doc, value_stream *stream, const perf_result *result,
                     unsigned first_of_row)
{
    document_column *column = find_or_create_column(d, doc, value_stream_path(stream));
    document_cell cell = {.value = result->none == PERF_NO_RESULT_OK ? result->value : NAN};
    bool has_column = column && value_stream_is_same_counter(stream, &column->whose);

    if (!has_column || column->end > first_of_row) {
        d->omitted->counts[OMITTED_WITHOUT_CELL] += !has_column;
        return;
    }
    cell.column = (uint32_t)(column - get_document_column(doc, 0));
    g_array_append_val(doc->cells, cell);
    column->end = doc->cells->len;
    omissions_count_value(d->omitted, stream, result);
}

/* Adds what ValidateCounters refused as columns that stay blank, as typeperf has them. Changes: creates the query's document. */
static void add_refused(documents *d, packet_info *pinfo, const call_tap_data *tapped)
{
    for (uint32_t i = 0; tapped->handle && i < tapped->num_identifiers; i++) {
        const char *path = refusals_find_path(pinfo->pool, tapped, i, &(bool){false});
        if (path) {
            find_or_add_path(d, find_or_create_document(d, tapped->handle->number, false /* is_hkpd */), path);
        }
    }
}

/* Adds a call to its query's document: a sample as a row of all values but texts, and bases, which only divide others; a counter that was refused
 * as a blank column. */
static void documents_add(documents *d, packet_info *pinfo, const call_tap_data *tapped)
{
    if (!call_tap_has_sample(tapped)) {
        add_refused(d, pinfo, tapped);
        return;
    }
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    document *doc = find_or_create_document(d, stream->response.handle->number, tapped->is_hkpd);
    document_row row = {.when = pinfo->abs_ts, .first = doc->cells->len};

    if (doc->rows->len == 0) {
        doc->first_frame = pinfo->num;
        doc->machine = g_strdup(stream->computer);
        g_ptr_array_add(d->all, doc);
    }
    while (value_stream_next(stream)) {
        const perf_result result =
            stream->at.counter->is_text ? (perf_result){0, PERF_NO_RESULT_NO_FORMULA} : value_stream_result(stream);
        if (result.none != PERF_NO_RESULT_BASE_TYPE && result.none != PERF_NO_RESULT_NO_FORMULA) {
            add_cell(d, doc, stream, &result, row.first);
        }
    }
    row.end = doc->cells->len;
    g_array_append_val(doc->rows, row);
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Writes the header: columns in the order in which their values first came, then those that were always refused, as far as there is room for them.
 * Returns how many columns these are, without that of the time. */
static unsigned write_header(const document *doc, GString *text)
{
    unsigned most = MAX_COLUMNS_PER_VALUE * (doc->cells->len / doc->rows->len + 1);
    unsigned count = MIN(most, doc->paths->len);

    csv_pdh_text(text, HEADER);
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_text(text, get_document_column(doc, i)->path);
    }
    for (unsigned i = 0; i < doc->all_paths->len && count < most; i++) {
        const char *path = g_ptr_array_index(doc->all_paths, i);
        if (g_hash_table_lookup(doc->columns, path) == NULL) {
            csv_pdh_text(text, path);
            count++;
        }
    }
    csv_end_row(text);
    return count;
}

/* Writes a row: its time, then `count` columns; results beyond count as omitted. `values`: room for `count` cells. */
static void write_pdh_row(documents *d, const document *doc, const document_row *row, GString *text, double *values,
                          unsigned count)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with six decimals, as typeperf has them */

    for (unsigned i = 0; i < count; i++) {
        values[i] = NAN;
    }
    for (unsigned i = row->first; i < row->end; i++) {
        const document_cell *cell = &g_array_index(doc->cells, document_cell, i);
        if (cell->column < count) {
            values[cell->column] = cell->value;
        } else {
            d->omitted->counts[OMITTED_WITHOUT_CELL] += !isnan(cell->value);
        }
    }
    csv_time(text, &row->when, true /* is_pdh */);
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_text(text, isnan(values[i]) ? " " : g_ascii_formatd(number, sizeof number, "%.6f", values[i]));
    }
    csv_end_row(text);
}

/* Writes a document, row by row. `file`: NULL: all of it is appended to `text`. Needs: `text` is empty. */
static void document_write(documents *d, const document *doc, output_file *file, GString *text)
{
    unsigned count = write_header(doc, text);
    double *values = g_new(double, count + 1);

    for (unsigned i = 0; i < doc->rows->len; i++) {
        write_pdh_row(d, doc, &g_array_index(doc->rows, document_row, i), text, values, count);
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

static void csv_count(void *data, packet_info *pinfo, const call_tap_data *tapped)
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

static void list_document(const document *doc)
{
    GString *text = g_string_new(NULL);
    char *suffix = format_suffix(doc);
    char *host = g_strndup(doc->machine, MAX_HOST_BYTES);
    const char *end; /* of the last character that is whole */

    g_utf8_validate(host, -1, &end);
    document_write(objects.documents, doc, NULL, text);
    /* the host first; a name that begins with a dot would be hidden */
    char *name = g_strdup_printf("%s%.*s-%s.csv", *host == '.' ? "_" : "", (int)(end - host), host, suffix);
    list_object(doc->first_frame, doc->machine, "text/csv", name, text);
    g_free(host);
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
    GString *names = call_tap_names();
    if (names) {
        list_object(objects.frame, NULL, "text/plain", g_strdup("pcq_names"), names);
    }
    output_print_omissions(&objects.omitted);
    objects_reset();
}

/* Adds a call to the documents. The first list of which a call comes is filled, others are not. `list`: Wireshark's; `call`: call_tap_data. */
static tap_packet_status objects_add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    const call_tap_data *tapped = call;

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
    if (have_tap_listener(objects.tap) && objects.frame == 0) {
        output_print_omissions(&(omissions){0});
    }
}

void export_objects_register(void)
{
    register_shutdown_routine(report_no_calls);
    objects.tap = register_export_object(proto_get_id_by_filter_name("pcq"), objects_add, objects_reset);
    call_tap_add(objects.tap);
}
