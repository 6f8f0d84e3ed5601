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

#define NO_COLUMN UINT32_MAX

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
    const state_sample *sample; /* of the document's handle, as long as that is known */
    GArray *cells;              /* document_cell */
    uint32_t nameless;          /* values whose counter is not known */
    uint32_t left_out;          /* and those for whose path there was no room */
} document_row;

/* A counter that the query was refused. */
typedef struct {
    perf_identifier identifier; /* its instance as text alone */
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

static uint32_t column_of_path(documents *d, document *doc, const char *path)
{
    const char *text = keep_text(d, path);
    uint32_t number = text ? GPOINTER_TO_UINT(g_hash_table_lookup(doc->columns, text)) : 0;

    if (number > 0) {
        return number - 1;
    }
    if (text == NULL || doc->paths->len >= MAX_COLUMNS) {
        return NO_COLUMN;
    }
    g_ptr_array_add(doc->paths, (void *)(uintptr_t)text);
    g_hash_table_insert(doc->columns, (void *)(uintptr_t)text, GUINT_TO_POINTER(doc->paths->len));
    return doc->paths->len - 1;
}

/* --- All documents --------------------------------------------------------------------------------------------- */

static void clear_row(void *data)
{
    g_array_free(((document_row *)data)->cells, TRUE);
}

static void free_document(void *data)
{
    document *doc = data;

    g_ptr_array_free(doc->paths, TRUE);
    g_hash_table_destroy(doc->columns);
    g_array_free(doc->rows, TRUE);
    g_array_free(doc->refused, TRUE);
    g_free(doc->machine);
    g_free(doc);
}

static GSList *all_documents; /* documents that were made */

/* What the capture taught goes, perhaps in its middle (tshark -M): rows stay as they are, and later ones are of others. */
static void documents_forget_capture(void)
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

documents *documents_new(void)
{
    static bool watched;
    documents *d = g_new0(documents, 1);

    if (!watched) {
        watched = true;
        register_cleanup_routine(documents_forget_capture);
    }
    all_documents = g_slist_prepend(all_documents, d);
    d->texts = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    d->every = g_ptr_array_new_with_free_func(free_document);
    d->all = g_ptr_array_new();
    d->owners = g_hash_table_new(NULL, NULL);
    return d;
}

void documents_free(documents *d)
{
    all_documents = g_slist_remove(all_documents, d);
    g_ptr_array_free(d->all, TRUE);
    g_ptr_array_free(d->every, TRUE);
    g_hash_table_destroy(d->owners);
    g_hash_table_destroy(d->texts);
    g_free(d);
}

char *document_suffix(const document *doc)
{
    const char *kind = doc->is_hkpd ? "hkpd" : "query";

    return doc->session > 0 ? g_strdup_printf("%s-%u-session-%u", kind, doc->number, doc->session + 1)
                            : g_strdup_printf("%s-%u", kind, doc->number);
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static document_row *row_at(const document *doc, unsigned number)
{
    return &g_array_index(doc->rows, document_row, number);
}

/* A value of the row, if it has a column. */
static void add_value(documents *d, document *doc, document_row *row, const char *path, double value, unsigned marks)
{
    document_cell cell = {value, path ? column_of_path(d, doc, path) : NO_COLUMN, marks};

    if (cell.column != NO_COLUMN) {
        g_array_append_val(row->cells, cell);
    } else {
        row->left_out += path != NULL;
        row->nameless += (marks & LEFT_OUT_UNTYPED) != 0;
    }
}

/* False if a value's previous sample was dropped. */
static bool collect_row(documents *d, document *doc, document_row *row, readings *r)
{
    const reading *at;
    bool whole = true;

    row->cells = g_array_new(FALSE, FALSE, sizeof(document_cell));
    row->nameless = row->left_out = 0;
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
        add_value(d, doc, row, readings_path(r), value, left_out_marks(r, &result));
    }
    return whole;
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

static document *document_of(documents *d, const state_handle *handle)
{
    document *doc = g_hash_table_lookup(d->owners, handle);

    if (doc == NULL) {
        doc = g_new0(document, 1);
        doc->handle = handle;
        doc->session = d->session;
        doc->paths = g_ptr_array_new();
        doc->columns = g_hash_table_new(NULL, NULL);
        doc->rows = g_array_new(FALSE, FALSE, sizeof(document_row));
        g_array_set_clear_func(doc->rows, clear_row);
        doc->refused = g_array_new(FALSE, FALSE, sizeof(refused_counter));
        g_ptr_array_add(d->every, doc);
        g_hash_table_insert(d->owners, (void *)(uintptr_t)handle, doc);
    }
    return doc;
}

static void begin_document(documents *d, document *doc, packet_info *pinfo, const tapped_call *tapped,
                           const readings *r)
{
    doc->facts_version = tapped_handle_of(doc->handle).facts_version;
    doc->layout = tapped->answer->layout;
    doc->number = tapped_handle_of(doc->handle).number;
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
    if (tapped->answer->handle == NULL || tapped->answer->sample == NULL) {
        return NULL;
    }
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    document *doc = document_of(d, tapped->answer->handle);
    document_row row = {.when = pinfo->abs_ts,
                        .has_time = (pinfo->presence_flags & PINFO_HAS_TS) != 0,
                        .sample = tapped->answer->sample};

    if (doc->rows->len == 0) {
        begin_document(d, doc, pinfo, tapped, r);
    }
    collect_row(d, doc, &row, r);
    doc->values += row.cells->len;
    g_array_append_val(doc->rows, row);
    return doc;
}

/* --- What was learned later ------------------------------------------------------------------------------------ */

/* Reads the answer once more. Where it, or one that it is compared with, was dropped, the row stays as it was. */
static void collect_again(documents *d, document *doc, document_row *row, wmem_allocator_t *pool)
{
    document_row again = *row;
    readings_answer answer;

    if (!readings_answer_again(doc->layout, row->sample, pool, &answer)) {
        return;
    }
    if (collect_row(d, doc, &again, readings_begin_for_all(pool, &answer))) {
        clear_row(row);
        *row = again;
    } else {
        clear_row(&again);
    }
    tvb_free(answer.tvb);
    wmem_free_all(pool);
}

static void settle_document(documents *d, document *doc)
{
    uint32_t version = tapped_handle_of(doc->handle).facts_version;

    if (doc->handle == NULL || doc->facts_version == version) {
        return;
    }
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    for (unsigned i = 0; i < doc->rows->len; i++) {
        collect_again(d, doc, row_at(doc, i), pool);
    }
    doc->facts_version = version;
    wmem_destroy_allocator(pool);
}

/* Of each column, by its number. */
static uint8_t *marks_of(const document *doc)
{
    uint8_t *marks = g_new0(uint8_t, doc->paths->len + 1);

    for (unsigned i = 0; i < doc->rows->len; i++) {
        const GArray *cells = row_at(doc, i)->cells;
        for (unsigned j = 0; j < cells->len; j++) {
            const document_cell *cell = &g_array_index(cells, document_cell, j);
            marks[cell->column] |= (uint8_t)cell->marks;
        }
    }
    return marks;
}

void documents_count_marks(const documents *d, left_out *left)
{
    left->of_instances = left->assumed = left->untyped = left->from_file = left->nameless = left->num_queries = 0;
    for (unsigned i = 0; i < d->all->len; i++) {
        const document *doc = g_ptr_array_index(d->all, i);
        uint8_t *marks = marks_of(doc);
        for (unsigned j = 0; j < doc->rows->len; j++) {
            left->nameless += row_at(doc, j)->nameless;
        }
        for (unsigned j = 0; j < doc->paths->len; j++) {
            left_out_count_marks(left, (tapped_handle){.number = doc->number, .is_hkpd = doc->is_hkpd}, marks[j]);
        }
        g_free(marks);
    }
}

uint64_t documents_left_out(const documents *d)
{
    uint64_t values = 0;

    for (unsigned i = 0; i < d->all->len; i++) {
        const document *doc = g_ptr_array_index(d->all, i);
        values += doc->left_out;
        for (unsigned j = 0; j < doc->rows->len; j++) {
            values += row_at(doc, j)->left_out;
        }
    }
    return values;
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* A document as it is written. */
typedef struct {
    output_file *file; /* NULL: the text has all */
    GString *text;
    uint32_t *places; /* of columns, by their numbers; NO_COLUMN for those that have none */
    unsigned count;   /* columns that have values, */
    unsigned blank;   /* and those that stay blank */
    double *cells;    /* of each column, NAN for none */
} writing;

/* There is room for so many columns, the first. */
static uint64_t most_columns(const documents *d, const document *doc)
{
    uint64_t cells = CELLS_OF_ALL / d->all->len + doc->values * CELLS_PER_VALUE;

    return cells / MAX(doc->rows->len, 1);
}

/* They stand in the order in which they first came. */
static void place_columns(const document *doc, uint64_t most, writing *w)
{
    w->places = g_new(uint32_t, doc->paths->len + 1);
    memset(w->places, 0xFF, sizeof *w->places * doc->paths->len);
    for (unsigned i = 0; i < doc->rows->len; i++) {
        const GArray *cells = row_at(doc, i)->cells;
        for (unsigned j = 0; j < cells->len && w->count < most; j++) {
            uint32_t *place = &w->places[g_array_index(cells, document_cell, j).column];
            *place = *place == NO_COLUMN ? w->count++ : *place;
        }
    }
}

/* By a name that may have been learned since. */
static const char *refused_path(documents *d, const document *doc, const refused_counter *refused, uint64_t *left)
{
    if (doc->handle == NULL) {
        return refused->path;
    }
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    const char *path = keep_text(d, tapped_path_by_now(pool, doc->handle, &refused->identifier, refused->event, left));
    wmem_destroy_allocator(pool);
    return path;
}

/* Counters that were refused whenever they were asked for have columns behind all others. */
static void write_refused(documents *d, const document *doc, uint64_t most, writing *w)
{
    GHashTable *blank = g_hash_table_new(NULL, NULL);
    uint64_t left = READINGS_PATHS_SIZE(PERF_IDENTIFIER_SIZE * (uint64_t)doc->refused->len);

    for (uint32_t i = 0; i < doc->refused->len && w->count + w->blank < most; i++) {
        const char *path = refused_path(d, doc, &g_array_index(doc->refused, refused_counter, i), &left);
        uint32_t number = path ? GPOINTER_TO_UINT(g_hash_table_lookup(doc->columns, path)) : 0;
        bool has_values = number > 0 && w->places[number - 1] != NO_COLUMN;
        if (path && !has_values && g_hash_table_add(blank, (void *)(uintptr_t)path)) {
            w->blank++;
            csv_pdh_text(w->text, path);
        }
    }
    g_hash_table_destroy(blank);
}

static void write_header(documents *d, const document *doc, uint64_t most, writing *w)
{
    const char **paths = g_new(const char *, w->count + 1);

    for (uint32_t i = 0; i < doc->paths->len; i++) {
        if (w->places[i] != NO_COLUMN) {
            paths[w->places[i]] = g_ptr_array_index(doc->paths, i);
        }
    }
    csv_pdh_text(w->text, HEADER);
    for (uint32_t i = 0; i < w->count; i++) {
        csv_pdh_text(w->text, paths[i]);
    }
    write_refused(d, doc, most, w);
    csv_end_row(w->text);
    g_free(paths);
}

static void write_cells(writing *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        csv_pdh_number(w->text, w->cells[i]);
        w->cells[i] = NAN;
    }
    for (unsigned i = 0; i < w->blank; i++) {
        csv_pdh_number(w->text, NAN);
    }
    csv_end_row(w->text);
    if (w->file) {
        output_take_long(w->file, w->text);
    }
}

static void write_row(document *doc, const document_row *row, writing *w)
{
    /* where a path stands twice in an answer, its first value counts, and counts too if it has no result */
    for (unsigned i = row->cells->len; i-- > 0;) {
        const document_cell *cell = &g_array_index(row->cells, document_cell, i);
        if (w->places[cell->column] != NO_COLUMN) {
            w->cells[w->places[cell->column]] = cell->value;
        } else {
            doc->left_out++;
        }
    }
    if (row->has_time) {
        csv_pdh_time(w->text, &row->when);
    } else {
        csv_pdh_text(w->text, " ");
    }
    write_cells(w);
}

void document_write(documents *d, document *doc, output_file *file, GString *text)
{
    writing w = {.file = file, .text = text};
    uint64_t most = most_columns(d, doc);

    settle_document(d, doc);
    place_columns(doc, most, &w);
    w.cells = g_new(double, w.count + 1);
    for (unsigned i = 0; i < w.count; i++) {
        w.cells[i] = NAN;
    }
    doc->left_out = 0;
    write_header(d, doc, most, &w);
    for (unsigned i = 0; i < doc->rows->len; i++) {
        write_row(doc, row_at(doc, i), &w);
    }
    if (file) {
        output_take(file, text);
    }
    g_free(w.places);
    g_free(w.cells);
}
