/* document.c
 * The answers of one query as PDH-CSV 4.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/document.h"

#include "taps/csv.h"

#include <math.h>

#define HEADER "(PDH-CSV 4.0)"

/* Where each answer has instances of its own, rows times columns are many more cells than values. A document has so many
 * for each of its values, beside its share of these. */
#define CELLS_PER_VALUE 256
#define CELLS_OF_ALL (8 << 20)

/* Of values that have no column: there was no room for it, or it is not known which counter they are of. */
#define NO_COLUMN UINT32_MAX
#define NAMELESS (UINT32_MAX - 1)

/* A counter. */
typedef struct {
    char *path; /* of documents.texts */
    readings_whose whose;
    bool is_refused; /* perhaps at times only: without values it is blank */
    unsigned end;    /* of the cells, behind its newest; 0 without one */
} document_column;

/* A value. */
typedef struct {
    double value; /* NAN for none */
    uint32_t column;
    unsigned marks; /* left_out_mark */
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

static uint32_t column_of_path(documents *d, document *doc, const char *path)
{
    document_column column = {.path = g_hash_table_lookup(d->texts, path)};
    uint32_t number = column.path ? GPOINTER_TO_UINT(g_hash_table_lookup(doc->columns, column.path)) : 0;

    if (number > 0) {
        return number - 1;
    }
    size_t size = column.path ? 0 : strlen(path) + 1;
    if (size > MAX_PATH_BYTES - d->texts_bytes || doc->paths->len >= MAX_COLUMNS) {
        return NO_COLUMN;
    }
    if (size > 0) {
        d->texts_bytes += size;
        column.path = g_strdup(path);
        g_hash_table_add(d->texts, column.path);
    }
    g_array_append_val(doc->paths, column);
    g_hash_table_insert(doc->columns, column.path, GUINT_TO_POINTER(doc->paths->len));
    return doc->paths->len - 1;
}

/* --- All documents --------------------------------------------------------------------------------------------- */

static void free_document(void *data)
{
    document *doc = data;

    g_array_free(doc->paths, TRUE);
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

static const document_cell *cell_at(const document *doc, unsigned number)
{
    return &g_array_index(doc->cells, document_cell, number);
}

/* Where a path stands twice in an answer, its first value counts, and counts too if it has no result; of two counters the first does. */
static void add_cell(documents *d, document *doc, readings *r, const document_cell *cell, unsigned first_of_row)
{
    document_column *column = cell->column < doc->paths->len ? column_at(doc, cell->column) : NULL;
    bool is_twice = column && column->end > first_of_row;

    if (is_twice || (column && !readings_is_of(r, &column->whose))) {
        bool is_alike = is_twice && cell->value == cell_at(doc, column->end - 1)->value;
        d->unlike += !isnan(cell->value) && !is_alike;
        return;
    }
    g_array_append_vals(doc->cells, cell, 1);
    if (column) {
        column->end = doc->cells->len;
    }
}

/* To the newest row. */
static void add_values(documents *d, document *doc, readings *r)
{
    const reading *at;
    unsigned first = doc->cells->len;

    while ((at = readings_next(r)) != NULL) {
        if (at->is_text) {
            continue;
        }
        perf_result result = readings_result(r);
        if (result.none == PERF_NONE_BASE_TYPE || result.none == PERF_NONE_NO_FORMULA) {
            continue; /* typeperf shows counters; bases, which only divide others, and texts are none */
        }
        const char *path = readings_path(r);
        document_cell cell = {result.none == PERF_NONE_OK ? result.value : NAN,
                              path ? column_of_path(d, doc, path) : NAMELESS, left_out_marks(r, &result)};
        add_cell(d, doc, r, &cell, first);
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
        document *doc = document_of(d, number, false);
        uint32_t column = column_of_path(d, doc, path);
        if (column != NO_COLUMN) {
            column_at(doc, column)->is_refused = true;
        }
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
    readings *r = readings_begin(pinfo->pool, tapped->answer);
    document *doc = document_of(d, tapped_handle_of(tapped->answer->handle).number, tapped->is_hkpd);
    document_row row = {pinfo->abs_ts, (pinfo->presence_flags & PINFO_HAS_TS) != 0, doc->cells->len, 0};

    if (doc->rows->len == 0) {
        doc->first_frame = pinfo->num;
        doc->machine = g_strdup(r->machine);
        g_ptr_array_add(d->all, doc);
    }
    add_values(d, doc, r);
    row.end = doc->cells->len;
    g_array_append_val(doc->rows, row);
    return doc;
}

void documents_count_marks(const documents *d, left_out *left)
{
    left->of_instances = left->of_names = left->assumed = left->untyped = left->from_file = left->nameless = 0;
    left->without_cell = d->unlike + d->left_out;
    for (unsigned i = 0; i < d->all->len; i++) {
        const document *doc = g_ptr_array_index(d->all, i);
        unsigned *marks = g_new0(unsigned, doc->paths->len + 1);
        for (unsigned j = 0; j < doc->cells->len; j++) {
            const document_cell *cell = cell_at(doc, j);
            if (cell->column < doc->paths->len) {
                marks[cell->column] |= cell->marks;
            } else if (cell->column == NAMELESS) {
                left->nameless += (cell->marks & LEFT_OUT_UNTYPED) != 0;
            }
        }
        for (unsigned j = 0; j < doc->paths->len; j++) {
            left_out_count_marks(left, marks[j]);
        }
        g_free(marks);
    }
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Columns stand in the order in which their values first came; after them those that were refused whenever they were asked for. -> how
 * many, and their places by their numbers */
static unsigned write_header(const documents *d, const document *doc, GString *text, uint32_t *places)
{
    uint64_t cells = CELLS_OF_ALL / d->all->len + (uint64_t)doc->cells->len * CELLS_PER_VALUE;
    uint64_t most = cells / MAX(doc->rows->len, 1); /* there is room for so many columns, the first */
    unsigned count = 0;

    memset(places, 0xFF, sizeof *places * doc->paths->len);
    csv_pdh_text(text, HEADER);
    for (unsigned i = 0; i < doc->cells->len + doc->paths->len && count < most; i++) {
        unsigned column = i < doc->cells->len ? cell_at(doc, i)->column : i - doc->cells->len;
        bool has_place = column >= doc->paths->len || places[column] != NO_COLUMN;
        if (!has_place && (i < doc->cells->len || column_at(doc, column)->is_refused)) {
            places[column] = count++;
            csv_pdh_text(text, column_at(doc, column)->path);
        }
    }
    csv_end_row(text);
    return count;
}

static void write_row(documents *d, const document *doc, const document_row *row, GString *text, const uint32_t *places,
                      double *values, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        values[i] = NAN;
    }
    for (unsigned i = row->first_cell; i < row->end; i++) {
        const document_cell *cell = cell_at(doc, i);
        uint32_t place = cell->column < doc->paths->len ? places[cell->column] : cell->column;
        if (place < count) {
            values[place] = cell->value;
        } else {
            d->left_out += place == NO_COLUMN;
        }
    }
    if (row->has_time) {
        csv_pdh_time(text, &row->when);
    } else {
        csv_pdh_text(text, " ");
    }
    for (unsigned i = 0; i < count; i++) {
        csv_pdh_number(text, values[i]);
    }
    csv_end_row(text);
}

void document_write(documents *d, document *doc, output_file *file, GString *text)
{
    uint32_t *places = g_new(uint32_t, doc->paths->len + 1);
    unsigned count = write_header(d, doc, text, places);
    double *values = g_new(double, count + 1);

    for (unsigned i = 0; i < doc->rows->len; i++) {
        write_row(d, doc, &g_array_index(doc->rows, document_row, i), text, places, values, count);
        if (file) {
            output_write(file, text);
        }
    }
    g_free(places);
    g_free(values);
}
