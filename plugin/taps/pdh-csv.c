/* pdh-csv.c
 * PDH-CSV 4.0, a file for each query (or key of HKEY_PERFORMANCE_DATA): `-z pcq,csv,FILE[,FILTER]`; and the names file: `-z pcq,names,FILE`. File,
 * Export Objects, PCQ has both: a plugin has no other dialog of a window to choose files with.
 *
 * The header names every column before the first row, and a column may turn up in the last response. So values wait as numbers, 16 bytes for
 * each (document_cell), until they are written. They have the names that were known as they came.
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

/* If each response has instances of its own, rows times columns are many more than the values. So a file has at most this many columns, and as many
 * more for each value that its rows have on average; columns beyond that, which came last, are left out. */
#define MAX_COLUMNS_PER_VALUE 1000

/* A counter, by its path. */
typedef struct {
    const char *path;
    counter_identity whose; /* the first counter of that path; others are not exported */
    unsigned row;           /* number of the row with its newest value, from 1; 0: none, the server refused to add it */
    unsigned place;         /* of its text in a written row, from 0; the number of written columns or more: left out */
} document_column;

typedef struct {
    document_column *column;
    double value; /* NAN: the value has no result */
} document_cell;

typedef struct {
    nstime_t at;  /* of the response; zeros: it has no time */
    unsigned end; /* number of all cells up to its last */
} document_row;

/* A query's file, by the end of its name: "query-2", "hkpd-1". */
typedef struct {
    const char *suffix;
    uint32_t first_frame; /* of its first sample; 0: none came yet */
    const char *machine;  /* computer name of that sample */
    wmem_array_t *rows;   /* document_row */
    wmem_array_t *cells;  /* document_cell, row by row; a row has some of the columns */
    keyed_list columns;   /* document_column */
} document;

/* The task of one -z, and of export objects, which uses of `task` the omissions alone. */
typedef struct {
    output_task task;     /* its file: the first document's */
    keyed_list documents; /* document, whose pool has all; those without a row are not written */
} csv_export;

static void csv_reset(void *data)
{
    keyed_list_begin(&((csv_export *)data)->documents, NULL, SIZE_MAX);
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

/* Returns the document of a query or key. Changes: creates it. */
static document *find_or_create_document(csv_export *export, const state_handle *handle, bool is_hkpd)
{
    wmem_allocator_t *pool = export->documents.pool;
    char suffix[32];

    snprintf(suffix, sizeof suffix, "%s-%u", is_hkpd ? "hkpd" : "query", handle->number);
    document *doc = keyed_list_find_or_add(&export->documents, suffix, sizeof *doc);
    if (doc->rows == NULL) {
        doc->rows = wmem_array_new(pool, sizeof(document_row));
        doc->cells = wmem_array_new(pool, sizeof(document_cell));
        keyed_list_begin(&doc->columns, pool, PATHS_ROOM);
    }
    return doc;
}

/* Adds a cell for the stream's value, if it is the first of its path in the row: a client may ask for a counter twice. Of two counters with one path
 * the first has the column. Changes: counts values without a column as omitted. */
static void add_cell(csv_export *export, document *doc, value_stream *stream, const perf_result *result)
{
    document_column *column = keyed_list_find_or_add(&doc->columns, value_stream_path(stream), sizeof *column);
    unsigned row = wmem_array_get_count(doc->rows) + 1;

    if (column == NULL || !value_stream_is_same_counter(stream, &column->whose)) {
        export->task.omitted.counts[OMITTED_WITHOUT_CELL]++;
    } else if (column->row != row) {
        const document_cell cell = {column, result->none == PERF_NO_RESULT_OK ? result->value : NAN};
        wmem_array_append_one(doc->cells, cell);
        column->row = row;
        omissions_count_value(&export->task.omitted, stream, result);
    }
}

/* Adds what ValidateCounters refused, as typeperf has it: columns without a cell. Changes: creates the query's document. */
static void add_refused(csv_export *export, packet_info *pinfo, const call_tap_data *tapped)
{
    wmem_array_t *found = refusals_find(pinfo->pool, tapped);

    for (unsigned i = 0; tapped->handle && i < wmem_array_get_count(found); i++) {
        const refusal *refused = wmem_array_index(found, i);
        if (refused->kind == REFUSED_COUNTER) {
            document *doc = find_or_create_document(export, tapped->handle, false /* is_hkpd */);
            keyed_list_find_or_add(&doc->columns, refused->path, sizeof(document_column));
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
    }
    while (value_stream_next(stream)) {
        const perf_result result =
            stream->counter->is_text ? (perf_result){0, PERF_NO_RESULT_NO_FORMULA} : value_stream_result(stream);
        if (result.none != PERF_NO_RESULT_BASE_TYPE && result.none != PERF_NO_RESULT_NO_FORMULA) {
            add_cell(export, doc, stream, &result);
        }
    }
    const document_row row = {pinfo->abs_ts, wmem_array_get_count(doc->cells)};
    wmem_array_append_one(doc->rows, row);
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Writes the header: columns with values, then those that were always refused, as far as there is room for them. Needs: a row. Returns how many
 * columns these are, without that of the time. Changes: places of columns. */
static unsigned write_header(const document *doc, GString *text)
{
    uint64_t most =
        MAX_COLUMNS_PER_VALUE * ((uint64_t)wmem_array_get_count(doc->cells) / wmem_array_get_count(doc->rows) + 1);
    unsigned count = 0;

    csv_pdh_text(text, HEADER);
    for (unsigned is_refused = 0; is_refused < 2; is_refused++) {
        for (wmem_list_frame_t *at = wmem_list_head(doc->columns.entries); at; at = wmem_list_frame_next(at)) {
            document_column *column = wmem_list_frame_data(at);
            if ((column->row == 0) == is_refused) {
                column->place = count++;
                if (column->place < most) {
                    csv_pdh_text(text, column->path);
                }
            }
        }
    }
    csv_end_row(text);
    return (unsigned)MIN(count, most);
}

/* Returns a document's text, to be freed; a blank stands for no value, or one without a result. Needs: a row. Changes: places of columns; counts
 * values whose column has no room as omitted. */
static GString *format_document(csv_export *export, const document *doc)
{
    GString *text = g_string_new(NULL);
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with six decimals, as typeperf has them */
    unsigned count = write_header(doc, text), next = 0;
    double *values = g_new(double, count); /* of a row */

    for (unsigned i = 0; i < wmem_array_get_count(doc->rows); i++) {
        const document_row *row = wmem_array_index(doc->rows, i);
        for (unsigned c = 0; c < count; c++) {
            values[c] = NAN;
        }
        for (; next < row->end; next++) {
            const document_cell *cell = wmem_array_index(doc->cells, next);
            if (cell->column->place < count) {
                values[cell->column->place] = cell->value;
            } else {
                export->task.omitted.counts[OMITTED_WITHOUT_CELL]++;
            }
        }
        csv_time(text, &row->at, true /* is_pdh */);
        for (unsigned c = 0; c < count; c++) {
            csv_pdh_text(text, isnan(values[c]) ? " " : g_ascii_formatd(number, sizeof number, "%.6f", values[c]));
        }
        csv_end_row(text);
    }
    g_free(values);
    return text;
}

/* --- -z pcq,csv -------------------------------------------------------------------------------------------------- */

/* Returns a document's path, to be freed: "run.csv" of the first, "run-query-2.csv" of others; "-" (standard output) of all. */
static char *make_path(const char *path, const document *doc, bool is_first)
{
    const char *dot = strrchr(path, '.');

    if (is_first || strcmp(path, "-") == 0) {
        return g_strdup(path);
    }
    if (dot == NULL || strpbrk(dot, G_DIR_SEPARATOR_S "/")) { /* a folder's */
        dot = path + strlen(path);
    }
    return g_strdup_printf("%.*s-%s%s", (int)(dot - path), path, doc->suffix, dot);
}

/* Writes a file for each document that has a sample; if none has, one file with the header alone. */
static void csv_draw(void *data)
{
    csv_export *export = data;
    unsigned written = 0;

    for (wmem_list_frame_t *at = wmem_list_head(export->documents.entries); at; at = wmem_list_frame_next(at)) {
        const document *doc = wmem_list_frame_data(at);
        if (doc->first_frame > 0) {
            char *path = make_path(export->task.path, doc, written++ == 0);
            output_whole(path, format_document(export, doc));
            g_free(path);
        }
    }
    if (written == 0) {
        output_whole(export->task.path, g_string_new("\"" HEADER "\"\r\n"));
    }
    output_print_omissions(&export->task.omitted);
}

output_statistic csv_statistic = {
    .name = "pcq,csv", .task_size = sizeof(csv_export), .reset = csv_reset, .count = csv_count, .draw = csv_draw};

/* --- -z pcq,names ------------------------------------------------------------------------------------------------ */

/* Writes the names file once the capture is read. A file stays as it was, and that is a failure, if there are no names. */
static void write_names(void *data)
{
    output_task *task = data;
    GString *text = names_file_text();

    if (text) {
        output_whole(task->path, text);
    } else {
        output_failed(g_strdup_printf(
            "%s was not written: this capture taught no names (does it hold the client's browsing?)", task->path));
        output_print_omissions(&task->omitted);
    }
}

output_statistic names_statistic = {.name = "pcq,names", .task_size = sizeof(output_task), .draw = write_names};

/* --- Export objects ------------------------------------------------------------------------------------------------ */

/* The one list of Wireshark that is filled. */
static struct {
    int tap;
    export_object_list_t *list; /* NULL: no call came for a list, or it is filled */
    csv_export export;          /* of the list */
} objects;

/* Adds an object to Wireshark's list. `doc`: NULL: the names file, which is of no packet. Changes: Wireshark owns the name and the text. */
static void list_object(const document *doc, char *name, GString *text)
{
    export_object_entry_t *entry = g_new0(export_object_entry_t, 1);

    entry->pkt_num = doc ? doc->first_frame : 0;
    entry->hostname = doc ? g_strdup(doc->machine) : NULL;
    entry->content_type = g_strdup(doc ? "text/csv" : "text/plain");
    entry->filename = name;
    entry->payload_len = text->len;
    entry->payload_data = (void *)g_string_free(text, FALSE);
    objects.list->add_entry(objects.list->gui_data, entry);
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
    for (wmem_list_frame_t *at = wmem_list_head(objects.export.documents.entries); at; at = wmem_list_frame_next(at)) {
        const document *doc = wmem_list_frame_data(at);
        if (doc->first_frame > 0) {
            list_object(doc, g_strdup_printf("%s-%s.csv", doc->machine, doc->suffix),
                        format_document(&objects.export, doc));
        }
    }
    GString *names = names_file_text();
    if (names) {
        list_object(NULL, g_strdup("pcq_names"), names);
    }
    output_print_omissions(&objects.export.task.omitted);
    objects_reset();
}

/* Adds a call to the documents. The first list of which a call comes is filled, others are not. `list`: Wireshark's; `call`: call_tap_data. */
static tap_packet_status objects_add(void *list, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                                     tap_flags_t flags _U_)
{
    if (objects.list == NULL) {
        objects_reset();
        objects.list = list;
        output_call_at_end(list_all);
    }
    if (objects.list != list) {
        return TAP_PACKET_DONT_REDRAW;
    }
    omissions_count_call(&objects.export.task.omitted, call);
    csv_count(&objects.export, pinfo, call);
    return TAP_PACKET_REDRAW;
}

void export_objects_register(void)
{
    objects.tap = register_export_object(proto_get_id_by_filter_name("pcq"), objects_add, objects_reset);
    call_tap_add(objects.tap);
}
