/* document.c
 * The answers of one query as PDH-CSV 4.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/document.h"

#include "taps/csv.h"

#include <math.h>

/* Where each answer has instances of its own, rows times columns are many more cells than values. A document has so many
 * for each of its values, beside its share of these. */
#define CELLS_PER_VALUE 256
#define CELLS_OF_ALL (8 << 20)

/* Of values that have no column: there was no room for it, or it is not known which counter they are of. */
#define NO_COLUMN UINT32_MAX
#define NAMELESS (UINT32_MAX - 1)

/* A counter with values. */
typedef struct {
    char *path; /* of documents.texts */
    counter_identity whose;
    unsigned end;   /* of the cells, behind its newest */
    unsigned marks; /* left_out_mark, of all of them */
} document_column;

/* A value. */
typedef struct {
    double value; /* NAN for none */
    uint32_t column;
} document_cell;

/* An answer. */
typedef struct {
    nstime_t when;
    bool has_time;
    unsigned first_cell, end; /* its cells */
} document_row;

/* --- Columns --------------------------------------------------------------------------------------------------- */

static document_column *column_at(const document *doc, uint32_t number)
{
    return &g_array_index(doc->paths, document_column, number);
}

/* `is_failed`: perhaps at times only; its column is blank as long as no value comes. */
static uint32_t column_of_path(documents *d, document *doc, const char *path, bool is_failed)
{
    document_column column = {.path = g_hash_table_lookup(d->texts, path)};
    uint32_t number = column.path ? GPOINTER_TO_UINT(g_hash_table_lookup(doc->columns, column.path)) : 0;

    if (number > 0) {
        return number - 1;
    }
    size_t size = column.path ? 0 : strlen(path) + 1;
    if (size > MAX_PATH_BYTES - d->texts_bytes || g_hash_table_size(doc->columns) >= MAX_COLUMNS) {
        return NO_COLUMN;
    }
    if (size > 0) {
        d->texts_bytes += size;
        column.path = g_strdup(path);
        g_hash_table_add(d->texts, column.path);
    }
    if (!is_failed) {
        g_array_append_val(doc->paths, column);
        number = doc->paths->len;
    }
    if (g_hash_table_insert(doc->columns, column.path, GUINT_TO_POINTER(number)) && is_failed) {
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

documents *documents_new(void)
{
    documents *d = g_new0(documents, 1);

    d->texts = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    d->all = g_ptr_array_new();
    d->by_number = g_hash_table_new_full(NULL, NULL, NULL, free_document);
    return d;
}

void documents_free(documents *d)
{
    g_ptr_array_free(d->all, TRUE);
    g_hash_table_destroy(d->by_number);
    g_hash_table_destroy(d->texts);
    g_free(d);
}

char *document_suffix(const document *doc)
{
    return g_strdup_printf("%s-%u", doc->is_hkpd ? "hkpd" : "query", doc->number);
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

/* Where a path stands twice in an answer, its first value counts, and counts too if it has no result; of two counters the first does. */
static void add_cell(documents *d, document *doc, value_stream *stream, const document_cell *cell, unsigned marks,
                     unsigned first_of_row)
{
    document_column *column = cell->column < doc->paths->len ? column_at(doc, cell->column) : NULL;
    bool is_twice = column && column->end > first_of_row;

    if (is_twice || (column && !value_stream_is_same_counter(stream, &column->whose))) {
        bool is_alike = is_twice && cell->value == g_array_index(doc->cells, document_cell, column->end - 1).value;
        d->unlike += !isnan(cell->value) && !is_alike;
        return;
    }
    g_array_append_vals(doc->cells, cell, 1);
    if (column) {
        column->end = doc->cells->len;
        column->marks |= marks;
    } else {
        d->nameless += cell->column == NAMELESS && (marks & 1U << OMITTED_UNTYPED);
    }
}

/* To the newest row. */
static void add_values(documents *d, document *doc, value_stream *stream)
{
    const counter_value *at;
    unsigned first = doc->cells->len;

    while ((at = value_stream_next(stream)) != NULL) {
        if (at->is_text) {
            continue;
        }
        perf_result result = value_stream_result(stream);
        if (result.none == PERF_NO_RESULT_BASE_TYPE || result.none == PERF_NO_RESULT_NO_FORMULA) {
            continue; /* typeperf shows counters; bases, which only divide others, and texts are none */
        }
        const char *path = value_stream_path(stream);
        document_cell cell = {result.none == PERF_NO_RESULT_OK ? result.value : NAN,
                              path ? column_of_path(d, doc, path, false) : NAMELESS};
        add_cell(d, doc, stream, &cell, value_omissions(stream, &result), first);
    }
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

static document *document_of(documents *d, uint32_t number, bool is_hkpd)
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

static void refuse(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    uint32_t number = tapped_handle_of(tapped->handle).number;
    tapped_refusals at = {0};
    const char *path;

    while (number > 0 && (path = tapped_next_refused(pinfo->pool, tapped, &at)) != NULL) {
        column_of_path(d, document_of(d, number, false), path, true);
    }
}

document *documents_add(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    if (tapped->answer == NULL) {
        refuse(d, pinfo, tapped);
        return NULL;
    }
    /* one that came twice has no sample */
    if (tapped->answer->handle == NULL || tapped->answer->sample == NULL) {
        return NULL;
    }
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    document *doc = document_of(d, tapped_handle_of(tapped->answer->handle).number, tapped->is_hkpd);
    document_row row = {pinfo->abs_ts, (pinfo->presence_flags & PINFO_HAS_TS) != 0, doc->cells->len, 0};

    if (doc->rows->len == 0) {
        doc->first_frame = pinfo->num;
        doc->machine = g_strdup(stream->computer);
        g_ptr_array_add(d->all, doc);
    }
    add_values(d, doc, stream);
    row.end = doc->cells->len;
    g_array_append_val(doc->rows, row);
    return doc;
}

void documents_count_omissions(const documents *d, omissions *o)
{
    o->counts[OMITTED_UNTYPED] = o->counts[OMITTED_ASSUMED] = 0;
    o->counts[OMITTED_WITHOUT_CELL] = d->unlike + d->left_out + d->nameless;
    for (unsigned i = 0; i < d->all->len; i++) {
        const document *doc = g_ptr_array_index(d->all, i);
        for (unsigned j = 0; j < doc->paths->len; j++) {
            omissions_count_bits(o, column_at(doc, j)->marks);
        }
    }
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Columns stand in the order in which their values first came; after them those that were refused whenever they were asked for. -> how
 * many */
static unsigned write_header(const documents *d, const document *doc, GString *text)
{
    uint64_t cells = CELLS_OF_ALL / d->all->len + (uint64_t)doc->cells->len * CELLS_PER_VALUE;
    uint64_t most = cells / MAX(doc->rows->len, 1); /* there is room for so many columns, the first */
    unsigned count = (unsigned)MIN(most, doc->paths->len);

    csv_pdh_text(text, PDH_CSV_HEADER);
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_text(text, column_at(doc, i)->path);
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

static void write_row(documents *d, const document *doc, const document_row *row, GString *text, double *values,
                      unsigned count)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with six decimals, as typeperf has them */

    for (unsigned i = 0; i < count; i++) {
        values[i] = NAN;
    }
    for (unsigned i = row->first_cell; i < row->end; i++) {
        const document_cell *cell = &g_array_index(doc->cells, document_cell, i);
        if (cell->column < count) {
            values[cell->column] = cell->value;
        } else {
            d->left_out += cell->column != NAMELESS;
        }
    }
    if (row->has_time) {
        csv_time(text, &row->when, true);
    } else {
        csv_pdh_text(text, " ");
    }
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_text(text, isnan(values[i]) ? " " : g_ascii_formatd(number, sizeof number, "%.6f", values[i]));
    }
    csv_end_row(text);
}

void document_write(documents *d, document *doc, output_file *file, GString *text)
{
    unsigned count = write_header(d, doc, text);
    double *values = g_new(double, count + 1);

    for (unsigned i = 0; i < doc->rows->len; i++) {
        write_row(d, doc, &g_array_index(doc->rows, document_row, i), text, values, count);
        if (file) {
            output_write(file, text);
        }
    }
    g_free(values);
}
