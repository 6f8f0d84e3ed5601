/* document.c
 * The answers of one query as PDH-CSV 4.0.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _POSIX_C_SOURCE 200809L /* fseeko */
#define _FILE_OFFSET_BITS 64

#include "taps/document.h"

#include <errno.h>
#include <math.h>

#if defined(_WIN32) && !defined(fseeko) /* MSVC; MinGW has it */
#define fseeko _fseeki64
#endif

#define HEADER "(PDH-CSV 4.0)"

/* Where each answer has instances of its own, rows times columns are many more cells than values. A document has so many
 * for each of its values, beside its share of these. */
#define CELLS_PER_VALUE 256
#define CELLS_OF_ALL (8 << 20)

#define NO_TIME INT64_MIN
#define NO_COLUMN UINT32_MAX

/* A row as it waits in the scratch file. Its cells follow. */
typedef struct {
    int64_t seconds; /* NO_TIME: its frame has none */
    uint32_t nanoseconds;
    uint32_t count;
    const state_sample *sample; /* of the document's handle, as long as that is known */
} row_header;

typedef struct {
    double value; /* NAN for none */
    uint32_t column;
} document_cell;

/* A counter that the query was refused. */
typedef struct {
    state_identifier identifier; /* its instance as text alone */
    uint32_t event;
    const char *path; /* as it was called then */
} refused_counter;

/* --- Columns --------------------------------------------------------------------------------------------------- */

/* The same text for equal ones; NULL if there is no room for it. */
static const char *keep_text(documents *d, const char *text)
{
    char *kept = g_hash_table_lookup(d->texts, text);
    size_t size = strlen(text) + 1;

    if (kept == NULL && size <= MAX_PATH_BYTES - d->texts_bytes) {
        d->texts_bytes += size;
        kept = g_strdup(text);
        g_hash_table_add(d->texts, kept);
    }
    return kept;
}

static void columns_init(document_columns *c)
{
    memset(c, 0, sizeof *c);
    c->paths = g_ptr_array_new();
    c->marks = g_array_new(FALSE, TRUE, sizeof(uint8_t));
    c->numbers = g_hash_table_new(NULL, NULL);
}

static void columns_clear(document_columns *c)
{
    g_ptr_array_free(c->paths, TRUE);
    g_array_free(c->marks, TRUE);
    g_hash_table_destroy(c->numbers);
}

static uint32_t column_of(documents *d, document_columns *c, const char *path)
{
    const char *text = keep_text(d, path);
    uint32_t number = text ? GPOINTER_TO_UINT(g_hash_table_lookup(c->numbers, text)) : 0;

    if (number > 0) {
        return number - 1;
    }
    if (text == NULL || c->paths->len >= MAX_COLUMNS) {
        c->left_out++;
        return NO_COLUMN;
    }
    g_ptr_array_add(c->paths, (void *)(uintptr_t)text);
    g_array_set_size(c->marks, c->paths->len);
    g_hash_table_insert(c->numbers, (void *)(uintptr_t)text, GUINT_TO_POINTER(c->paths->len));
    return c->paths->len - 1;
}

/* --- All documents --------------------------------------------------------------------------------------------- */

static void free_document(void *data)
{
    document *doc = data;

    columns_clear(&doc->columns);
    g_array_free(doc->rows, TRUE);
    g_array_free(doc->refused, TRUE);
    g_free(doc->machine);
    g_free(doc);
}

static GSList *all_documents; /* documents that were made */

/* What the capture taught goes, perhaps in its middle (tshark -M): rows stay as they are, and later ones are of others. */
static void forget_capture(void)
{
    for (GSList *at = all_documents; at; at = at->next) {
        documents *d = at->data;
        document *last = d->all->len > 0 ? g_ptr_array_index(d->all, d->all->len - 1) : NULL;
        d->session += last && last->session == d->session;
        g_hash_table_remove_all(d->owners);
        for (unsigned i = 0; i < d->every->len; i++) {
            ((document *)g_ptr_array_index(d->every, i))->handle = NULL;
        }
    }
}

/* Room for a row, also for one without a value: nobody writes from or reads into NULL. */
static GArray *new_cells(void)
{
    return g_array_sized_new(FALSE, FALSE, sizeof(document_cell), 1);
}

documents *documents_new(const char *beside)
{
    static bool watched;
    documents *d = g_new0(documents, 1);

    if (!watched) {
        watched = true;
        register_cleanup_routine(forget_capture);
    }
    all_documents = g_slist_prepend(all_documents, d);
    d->beside = g_strdup(beside);
    d->texts = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    d->every = g_ptr_array_new_with_free_func(free_document);
    d->all = g_ptr_array_new();
    d->owners = g_hash_table_new(NULL, NULL);
    d->cells = new_cells();
    return d;
}

void documents_free(documents *d)
{
    all_documents = g_slist_remove(all_documents, d);
    if (d->scratch) {
        fclose(d->scratch);
    }
    g_ptr_array_free(d->all, TRUE);
    g_ptr_array_free(d->every, TRUE);
    g_hash_table_destroy(d->owners);
    g_hash_table_destroy(d->texts);
    g_array_free(d->cells, TRUE);
    g_free(d->beside);
    g_free(d);
}

static void fail(documents *d)
{
    d->failed = true;
    output_report(d->beside ? d->beside : "a temporary file", errno);
}

char *document_suffix(const document *doc)
{
    const char *kind = doc->is_hkpd ? "hkpd" : "query";

    return doc->session > 0 ? g_strdup_printf("%s-%u-session-%u", kind, doc->number, doc->session + 1)
                            : g_strdup_printf("%s-%u", kind, doc->number);
}

void documents_count_marks(const documents *d, tapped_left_out *left)
{
    left->of_instances = left->assumed = left->untyped = left->from_file = left->nameless = left->num_queries = 0;
    for (unsigned i = 0; i < d->all->len; i++) {
        const document *doc = g_ptr_array_index(d->all, i);
        left->nameless += doc->columns.nameless;
        for (unsigned j = 0; j < doc->columns.marks->len; j++) {
            tapped_count_marks(left, doc->number, doc->is_hkpd, g_array_index(doc->columns.marks, uint8_t, j));
        }
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

/* A value of the row at hand, if it has a column. */
static void add_value(documents *d, document *doc, const char *path, double value, unsigned marks)
{
    document_cell cell = {value, path ? column_of(d, &doc->columns, path) : NO_COLUMN};

    doc->columns.nameless += cell.column == NO_COLUMN && (marks & TAPPED_UNTYPED);
    if (cell.column != NO_COLUMN) {
        g_array_index(doc->columns.marks, uint8_t, cell.column) |= (uint8_t)marks;
        g_array_append_val(d->cells, cell);
    }
}

/* False if a value's previous sample was dropped. */
static bool collect_row(documents *d, document *doc, readings *r)
{
    const reading *at;
    bool whole = true;

    g_array_set_size(d->cells, 0);
    while ((at = readings_next(r)) != NULL) {
        if (at->is_text) {
            continue;
        }
        perf_result result = readings_result(r);
        if (result.none == PERF_NONE_BASE_TYPE || result.none == PERF_NONE_NO_FORMULA) {
            continue; /* typeperf shows counters; bases, which only divide others, and texts are none */
        }
        whole = whole && result.none != PERF_NONE_SAMPLE_DROPPED;
        double value = result.none == PERF_NONE_OK ? result.value : NAN;
        add_value(d, doc, readings_path(r), value, tapped_marks(r, &result));
    }
    return whole;
}

/* The row at hand, at the end of the scratch file. */
static bool put_row(documents *d, row_header *row)
{
    row->count = d->cells->len;
    if (fseeko(d->scratch, d->size, SEEK_SET) != 0 || fwrite(row, sizeof *row, 1, d->scratch) != 1 ||
        fwrite(d->cells->data, sizeof(document_cell), row->count, d->scratch) != row->count) {
        return false;
    }
    d->size += (int64_t)(sizeof *row + row->count * sizeof(document_cell));
    return true;
}

static bool get_row(documents *d, int64_t at, row_header *row)
{
    if (fseeko(d->scratch, at, SEEK_SET) != 0 || fread(row, sizeof *row, 1, d->scratch) != 1) {
        return false;
    }
    g_array_set_size(d->cells, row->count);
    return fread(d->cells->data, sizeof(document_cell), row->count, d->scratch) == row->count;
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

static document *document_of(documents *d, const state_handle *handle)
{
    document *doc = g_hash_table_lookup(d->owners, handle);

    if (doc == NULL) {
        doc = g_new0(document, 1);
        doc->handle = handle;
        doc->session = d->session;
        columns_init(&doc->columns);
        doc->rows = g_array_new(FALSE, FALSE, sizeof(int64_t));
        doc->refused = g_array_new(FALSE, FALSE, sizeof(refused_counter));
        g_ptr_array_add(d->every, doc);
        g_hash_table_insert(d->owners, (void *)(uintptr_t)handle, doc);
    }
    return doc;
}

static void begin_document(documents *d, document *doc, packet_info *pinfo, const tapped_call *tapped,
                           const readings *r)
{
    doc->facts_version = doc->handle->server->facts_version;
    doc->layout = tapped->answer->layout;
    doc->number = doc->handle->number;
    doc->is_hkpd = tapped->is_hkpd;
    doc->first_frame = pinfo->num;
    doc->machine = g_strdup(r->machine);
    g_ptr_array_add(d->all, doc);
}

static void refuse(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    uint64_t left = tapped_paths_size(tapped);

    for (uint32_t i = 0; tapped->handle && i < tapped->num_identifiers; i++) {
        if (tapped_is_refused(tapped, i)) {
            document *doc = document_of(d, tapped->handle);
            const char *instance = tapped->identifiers[i].instance;
            refused_counter asked = {
                tapped->identifiers[i],
                tapped->event,
                keep_text(d, tapped_identifier_path(pinfo->pool, tapped, i, &left)),
            };
            asked.identifier.instance = instance ? keep_text(d, instance) : NULL;
            if (asked.path && (instance == NULL || asked.identifier.instance)) {
                g_array_append_val(doc->refused, asked);
            }
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
    if (d->failed || tapped->answer->handle == NULL || tapped->answer->sample == NULL) {
        return NULL;
    }
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    document *doc = document_of(d, tapped->answer->handle);
    if (doc->rows->len == 0) {
        begin_document(d, doc, pinfo, tapped, r);
    }
    collect_row(d, doc, r);
    doc->values += d->cells->len;
    g_array_append_val(doc->rows, d->size);
    if (d->scratch == NULL && (d->scratch = output_scratch(d->beside)) == NULL) {
        d->failed = true;
        return doc;
    }
    row_header row = {pinfo->presence_flags & PINFO_HAS_TS ? (int64_t)pinfo->abs_ts.secs : NO_TIME,
                      (uint32_t)pinfo->abs_ts.nsecs, 0, tapped->answer->sample};
    if (!put_row(d, &row)) {
        fail(d);
    }
    return doc;
}

/* --- What was learned later ------------------------------------------------------------------------------------ */

/* Reads the answer once more. False if it, or one that it is compared with, was dropped. */
static bool collect_again(documents *d, document *doc, const state_sample *sample, wmem_allocator_t *pool)
{
    if (sample->bytes == NULL) {
        return false;
    }
    readings_answer answer = readings_answer_again(doc->layout, sample, pool);
    bool whole = collect_row(d, doc, readings_begin_for_all(pool, &answer));
    tvb_free(answer.tvb);
    wmem_free_all(pool);
    return whole;
}

/* The row as it was, its columns found in the new list. */
static void renumber(documents *d, document *doc, const document_columns *old)
{
    GArray *cells = d->cells;

    d->cells = new_cells();
    for (unsigned i = 0; i < cells->len; i++) {
        const document_cell *cell = &g_array_index(cells, document_cell, i);
        add_value(d, doc, g_ptr_array_index(old->paths, cell->column), cell->value,
                  g_array_index(old->marks, uint8_t, cell->column));
    }
    g_array_free(cells, TRUE);
}

static bool settle_row(documents *d, document *doc, const document_columns *old, int64_t *at, wmem_allocator_t *pool)
{
    row_header row;

    if (!get_row(d, *at, &row)) {
        return false;
    }
    if (!collect_again(d, doc, row.sample, pool)) {
        if (!get_row(d, *at, &row)) {
            return false;
        }
        renumber(d, doc, old);
    }
    *at = d->size;
    return put_row(d, &row);
}

/* Rows that were read before something was learned are read once more, and all are put behind the others with a new list
 * of columns. */
static bool settle(documents *d, document *doc)
{
    document_columns old = doc->columns;
    bool done = true;

    if (doc->handle == NULL || doc->facts_version == doc->handle->server->facts_version) {
        return true;
    }
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    columns_init(&doc->columns);
    for (unsigned i = 0; done && i < doc->rows->len; i++) {
        done = settle_row(d, doc, &old, &g_array_index(doc->rows, int64_t, i), pool);
    }
    doc->columns.left_out = MAX(doc->columns.left_out, old.left_out);
    doc->facts_version = doc->handle->server->facts_version;
    columns_clear(&old);
    wmem_destroy_allocator(pool);
    return done;
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* A document as it is written. */
typedef struct {
    output_file *file; /* NULL: the text has all */
    perf_csv *text;
    unsigned count; /* columns, */
    unsigned blank; /* and those that stay blank */
    double *cells;  /* of each column, NAN for none */
} writing;

static void take_long(writing *w)
{
    if (w->file) {
        output_take_long(w->file, w->text);
    }
}

static void write_cells(writing *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        if (isnan(w->cells[i])) {
            perf_csv_pdh_text(w->text, " ");
        } else {
            perf_csv_pdh_number(w->text, w->cells[i]);
            w->cells[i] = NAN;
        }
        take_long(w);
    }
    for (unsigned i = 0; i < w->blank; i++) {
        perf_csv_pdh_text(w->text, " ");
    }
    perf_csv_end_row(w->text);
    take_long(w);
}

/* By a name that may have been learned since. */
static const char *refused_path(documents *d, const document *doc, const refused_counter *refused, uint64_t *left)
{
    if (doc->handle == NULL) {
        return refused->path;
    }
    state_host *server = doc->handle->server;
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    const char *path = keep_text(d, readings_identifier_path(pool, server, handle_machine(doc->handle, server),
                                                             &refused->identifier, refused->event, left));
    wmem_destroy_allocator(pool);
    return path;
}

/* Columns of counters that were refused whenever they were asked for stand behind all others, `most` of them. */
static void write_header(documents *d, const document *doc, uint64_t most, writing *w)
{
    GHashTable *blank = g_hash_table_new(NULL, NULL);
    uint64_t left = READINGS_PATHS_SIZE(PERF_IDENTIFIER_SIZE * (uint64_t)doc->refused->len);

    perf_csv_pdh_text(w->text, HEADER);
    for (uint32_t i = 0; i < w->count; i++) {
        perf_csv_pdh_text(w->text, g_ptr_array_index(doc->columns.paths, i));
        take_long(w);
    }
    for (uint32_t i = 0; i < doc->refused->len && w->blank < most; i++) {
        const char *path = refused_path(d, doc, &g_array_index(doc->refused, refused_counter, i), &left);
        if (path && !g_hash_table_contains(doc->columns.numbers, path) &&
            g_hash_table_add(blank, (void *)(uintptr_t)path)) {
            w->blank++;
            perf_csv_pdh_text(w->text, path);
            take_long(w);
        }
    }
    perf_csv_end_row(w->text);
    g_hash_table_destroy(blank);
}

static bool write_rows(documents *d, document *doc, writing *w)
{
    row_header row;

    for (unsigned i = 0; i < doc->rows->len; i++) {
        if (!get_row(d, g_array_index(doc->rows, int64_t, i), &row)) {
            return false;
        }
        /* where a path stands twice in an answer, its first value counts, and counts too if it has no result */
        for (unsigned j = d->cells->len; j-- > 0;) {
            const document_cell *cell = &g_array_index(d->cells, document_cell, j);
            if (cell->column < w->count) {
                w->cells[cell->column] = cell->value;
            } else {
                doc->left_out++;
            }
        }
        if (row.seconds == NO_TIME) {
            perf_csv_pdh_text(w->text, " ");
        } else {
            perf_csv_pdh_time(w->text, row.seconds, row.nanoseconds);
        }
        write_cells(w);
    }
    return true;
}

/* There is room for so many columns, the first. */
static uint64_t most_columns(const documents *d, const document *doc)
{
    uint64_t cells = CELLS_OF_ALL / d->all->len + doc->values * CELLS_PER_VALUE;

    return cells / MAX(doc->rows->len, 1);
}

bool document_write(documents *d, document *doc, output_file *file, perf_csv *text)
{
    if (!d->failed && !settle(d, doc)) {
        fail(d);
    }
    if (d->failed) {
        return false;
    }
    uint64_t most = most_columns(d, doc);
    unsigned count = (unsigned)MIN(doc->columns.paths->len, most);
    writing w = {file, text, count, 0, g_new(double, count)};
    for (unsigned i = 0; i < count; i++) {
        w.cells[i] = NAN;
    }
    doc->left_out = 0;
    write_header(d, doc, most - count, &w);
    if (!write_rows(d, doc, &w)) {
        fail(d);
    }
    if (file) {
        output_take_all(file, text);
    }
    g_free(w.cells);
    return !d->failed;
}
