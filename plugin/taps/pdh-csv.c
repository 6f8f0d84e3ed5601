/* pdh-csv.c
 * PDH-CSV 4.0, a file for each query (or key of HKEY_PERFORMANCE_DATA): `-z pcq,csv,FILE[,FILTER]`, and File, Export Objects, PCQ, which has the
 * names file, too.
 *
 * The header names every column before the first row, and a column may turn up in the last response. So cells wait as numbers, 16 bytes for
 * each value, until they are written. They have the names that were known as they came.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "names/names.h"
#include "taps/csv.h"
#include "taps/keyed-list.h"
#include "taps/output.h"
#include "taps/refusals.h"

#include <epan/export_object.h>
#include <epan/tap.h>

#include <math.h>

#define HEADER "(PDH-CSV 4.0) (UTC)(0)"

/* Bytes of all columns and paths of an export, without cells: values beyond have no column. */
#define MAX_COLUMN_BYTES (256 << 20)

/* If each response has instances of its own, rows times columns are many more cells than values. So a document has at most this many columns,
 * and as many more for each value that its rows have on average: the first. */
#define MAX_COLUMNS_PER_VALUE 1000

/* Bytes of the host in an object's name: Wireshark cuts a long name at its end, where the handle stands, and writes some characters as three. */
#define MAX_HOST_BYTES 64

typedef struct {
    unsigned row; /* from 0 */
    double value; /* NAN: the value has no result */
} column_cell;

/* A counter, by its path. */
typedef struct {
    const char *path;
    counter_identity whose; /* the first counter of that path; others are not exported */
    wmem_array_t *cells;    /* column_cell, ascending by row */
    unsigned written;       /* number of cells that are written */
} document_column;

/* A query's file, by the end of its name: "query-2", "hkpd-1". */
typedef struct {
    const char *suffix;
    uint32_t first_frame; /* of its first sample; 0: none came yet */
    const char *machine;  /* computer name of that sample */
    wmem_array_t *times;  /* nstime_t of each row: of the response; zeros: it has no time */
    uint64_t num_cells;   /* of all columns */
    keyed_list columns;   /* document_column, in the order of their first values */
    keyed_list refused;   /* paths that the server refused to add, columns among them */
} document;

/* The task of one -z, and of export objects, which uses of `task` the omissions alone. */
typedef struct {
    output_task task;      /* its file: the first document's */
    keyed_list documents;  /* document, whose pool has all */
    wmem_array_t *sampled; /* the same pointers, of those with samples, in the order of the first */
    size_t room;           /* bytes that columns may still take */
} csv_export;

static document *get_document(const csv_export *export, unsigned number)
{
    return *(document **)wmem_array_index(export->sampled, number);
}

static void csv_reset(void *data)
{
    csv_export *export = data;

    export->room = MAX_COLUMN_BYTES;
    keyed_list_begin(&export->documents, NULL, NULL);
    export->sampled = wmem_array_new(export->documents.pool, sizeof(document *));
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

/* Returns the document of a query or key. Changes: creates it. */
static document *find_or_create_document(csv_export *export, const state_handle *handle, bool is_hkpd)
{
    wmem_allocator_t *pool = export->documents.pool;
    char suffix[32];

    snprintf(suffix, sizeof suffix, "%s-%u", is_hkpd ? "hkpd" : "query", handle->number);
    document *doc = keyed_list_find_or_add(&export->documents, suffix, sizeof *doc);
    if (doc->times == NULL) {
        doc->times = wmem_array_new(pool, sizeof(nstime_t));
        keyed_list_begin(&doc->columns, pool, &export->room);
        keyed_list_begin(&doc->refused, pool, &export->room);
    }
    return doc;
}

static const column_cell *get_cell(const document_column *column, unsigned number)
{
    return wmem_array_index(column->cells, number);
}

/* Adds a cell of the value that was read last, if it is the first of its path in the row: a client may ask for a counter twice. Of two counters with
 * one path the first has the column. Changes: counts values without a column. */
static void add_cell(csv_export *export, document *doc, value_stream *stream, const perf_result *result)
{
    document_column *column = keyed_list_find_or_add(&doc->columns, value_stream_path(stream), sizeof *column);
    const column_cell cell = {wmem_array_get_count(doc->times),
                              result->none == PERF_NO_RESULT_OK ? result->value : NAN};

    if (column == NULL || !value_stream_is_same_counter(stream, &column->whose)) {
        export->task.omitted.counts[OMITTED_WITHOUT_CELL]++;
        return;
    }
    column->cells = column->cells ? column->cells : wmem_array_new(export->documents.pool, sizeof cell);
    unsigned count = wmem_array_get_count(column->cells);
    if (count == 0 || get_cell(column, count - 1)->row != cell.row) {
        wmem_array_append_one(column->cells, cell);
        doc->num_cells++;
        omissions_count_value(&export->task.omitted, stream, result);
    }
}

/* Adds what ValidateCounters refused, as typeperf has it. Changes: creates the query's document. */
static void add_refused(csv_export *export, packet_info *pinfo, const call_tap_data *tapped)
{
    for (uint32_t i = 0; tapped->handle && i < tapped->num_identifiers; i++) {
        const char *path = refusals_find_path(pinfo->pool, tapped, i, &(bool){false});
        if (path) {
            document *doc = find_or_create_document(export, tapped->handle, false /* is_hkpd */);
            keyed_list_find_or_add(&doc->refused, path, sizeof path);
        }
    }
}

/* Adds a call to its query's document: a sample as a row of all values but texts, and bases, which only divide others; a counter that was refused
 * as a blank column. `data`: csv_export. */
static void csv_count(void *data, packet_info *pinfo, const call_tap_data *tapped)
{
    csv_export *export = data;

    if (!call_tap_has_sample(tapped)) {
        add_refused(export, pinfo, tapped);
        return;
    }
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    document *doc = find_or_create_document(export, stream->response.handle, tapped->is_hkpd);

    if (doc->first_frame == 0) {
        doc->first_frame = pinfo->num;
        doc->machine = wmem_strdup(export->documents.pool, stream->computer);
        wmem_array_append_one(export->sampled, doc);
    }
    while (value_stream_next(stream)) {
        const perf_result result =
            stream->at.counter->is_text ? (perf_result){0, PERF_NO_RESULT_NO_FORMULA} : value_stream_result(stream);
        if (result.none != PERF_NO_RESULT_BASE_TYPE && result.none != PERF_NO_RESULT_NO_FORMULA) {
            add_cell(export, doc, stream, &result);
        }
    }
    wmem_array_append_one(doc->times, pinfo->abs_ts);
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Writes the header: columns in the order in which their values first came, then those that were always refused, as far as there is room for them.
 * Returns how many columns these are, without that of the time. Changes: no cell is written; values of other columns count as omitted. */
static unsigned write_header(csv_export *export, const document *doc, GString *text)
{
    uint64_t most = MAX_COLUMNS_PER_VALUE * (doc->num_cells / wmem_array_get_count(doc->times) + 1);
    unsigned count = 0;

    csv_pdh_text(text, HEADER);
    for (unsigned i = 0; i < doc->columns.entries->len; i++) {
        document_column *column = g_ptr_array_index(doc->columns.entries, i);
        column->written = 0;
        if (count < most) {
            csv_pdh_text(text, column->path);
            count++;
        } else {
            export->task.omitted.counts[OMITTED_WITHOUT_CELL] += wmem_array_get_count(column->cells);
        }
    }
    for (unsigned i = 0; i < doc->refused.entries->len && count < most; i++) {
        const char *path = *(const char **)g_ptr_array_index(doc->refused.entries, i);
        if (keyed_list_find(&doc->columns, path) == NULL) {
            csv_pdh_text(text, path);
            count++;
        }
    }
    csv_end_row(text);
    return count;
}

/* Writes a row: its time, then `count` columns. Needs: rows are written in their order. */
static void write_pdh_row(const document *doc, unsigned row, GString *text, unsigned count)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with six decimals, as typeperf has them */

    csv_time(text, wmem_array_index(doc->times, row), true /* is_pdh */);
    for (unsigned i = 0; i < count; i++) {
        document_column *column = i < doc->columns.entries->len ? g_ptr_array_index(doc->columns.entries, i) : NULL;
        double value = NAN;
        if (column && column->written < wmem_array_get_count(column->cells) &&
            get_cell(column, column->written)->row == row) {
            value = get_cell(column, column->written++)->value;
        }
        csv_pdh_text(text, isnan(value) ? " " : g_ascii_formatd(number, sizeof number, "%.6f", value));
    }
    csv_end_row(text);
}

/* Writes a document, row by row. `file`: NULL: all of it is appended to `text`. Needs: `text` is empty. */
static void document_write(csv_export *export, const document *doc, output_file *file, GString *text)
{
    unsigned count = write_header(export, doc, text);

    for (unsigned i = 0; i < wmem_array_get_count(doc->times); i++) {
        write_pdh_row(doc, i, text, count);
        if (file) {
            output_write(file, text);
        }
    }
}

/* --- -z pcq,csv -------------------------------------------------------------------------------------------------- */

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
    return g_strdup_printf("%.*s-%s%s", (int)(dot - path), path, get_document(export, number)->suffix, dot);
}

/* Writes a file for each document; without a sample a file that has only a header. */
static void csv_draw(void *data)
{
    csv_export *export = data;
    unsigned count = wmem_array_get_count(export->sampled);
    GString *text = g_string_new(NULL);

    if (count == 0) {
        output_whole(&export->task.file, g_string_new("\"" HEADER "\"\r\n"));
    }
    for (unsigned i = 0; i < count; i++) {
        char *path = make_path(export, i);
        output_file file = {.path = path};
        document_write(export, get_document(export, i), &file, text);
        output_commit(&file);
        g_free(path);
    }
    g_string_free(text, TRUE);
    output_print_omissions(&export->task.omitted);
}

output_statistic csv_statistic = {
    .name = "pcq,csv", .task_size = sizeof(csv_export), .reset = csv_reset, .count = csv_count, .draw = csv_draw};

/* --- Export objects ------------------------------------------------------------------------------------------------ */

/* The one list of Wireshark that is filled. */
static struct {
    int tap;
    export_object_list_t *list; /* NULL: no call came for a list, or it is filled */
    csv_export export;          /* of the list */
    uint32_t frame;             /* of the newest call; 0: none came since the program began */
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
    const char *host = doc->machine, *end; /* behind the last character that is whole */

    g_utf8_validate(host, (gssize)MIN(strlen(host), MAX_HOST_BYTES), &end);
    document_write(&objects.export, doc, NULL, text);
    /* the host first; a name that begins with a dot would be hidden */
    char *name = g_strdup_printf("%s%.*s-%s.csv", *host == '.' ? "_" : "", (int)(end - host), host, doc->suffix);
    list_object(doc->first_frame, host, "text/csv", name, text);
}

/* Forgets the list and its documents. Wireshark calls it, too, when it resets a list. */
static void objects_reset(void)
{
    objects.list = NULL;
    objects.export.task.omitted = (omissions){0};
    csv_reset(&objects.export);
}

/* Fills Wireshark's list behind the last packet with all documents and the names file. A window may be gone, and its list with it. */
static void list_all(void)
{
    if (objects.list == NULL || !have_tap_listener(objects.tap)) {
        return;
    }
    for (unsigned i = 0; i < wmem_array_get_count(objects.export.sampled); i++) {
        list_document(get_document(&objects.export, i));
    }
    GString *names = names_file_text();
    if (names) {
        list_object(objects.frame, NULL, "text/plain", g_strdup("pcq_names"), names);
    }
    output_print_omissions(&objects.export.task.omitted);
    objects_reset();
}

/* Adds a call to the documents. The first list of which a call comes is filled, others are not. `list`: Wireshark's; `call`: call_tap_data. */
static tap_packet_status objects_add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    const call_tap_data *tapped = call;

    if (objects.list == NULL) {
        objects_reset();
        objects.list = list;
        output_call_at_end(list_all);
    }
    if (objects.list != list) {
        return TAP_PACKET_DONT_REDRAW;
    }
    objects.frame = pinfo->num;
    omissions_count_call(&objects.export.task.omitted, tapped);
    csv_count(&objects.export, pinfo, tapped);
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
