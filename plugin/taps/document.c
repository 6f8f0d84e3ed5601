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

#include "taps/output.h"

#if defined(_WIN32) && !defined(fseeko) /* MSVC; MinGW has it */
#define fseeko _fseeki64
#endif

#define HEADER "(PDH-CSV 4.0)"

/* Where each answer has instances of its own, rows times columns are many more cells than values. A document has so many
 * for each of its values, beside its share of these. */
#define CELLS_PER_VALUE 256
#define CELLS_OF_ALL (8 << 20)

#define NO_TIME INT64_MIN

/* A row as it waits in the scratch file. Its columns follow, then its values. */
typedef struct {
    int64_t seconds; /* NO_TIME: its frame has none */
    uint32_t nanoseconds;
    uint32_t count;
} row_header;

/* --- All documents --------------------------------------------------------------------------------------------- */

static void free_document(void *data)
{
    document *doc = data;

    columns_clear(&doc->columns);
    g_array_free(doc->rows, TRUE);
    g_free(doc->machine);
    g_free(doc);
}

static void free_columns(void *data)
{
    columns_clear(data);
    g_free(data);
}

static GSList *all_documents; /* documents that were made */

/* What the capture taught goes, perhaps in its middle (tshark -M): rows stay as they are, and later ones are of others. */
static void forget_capture(void)
{
    for (GSList *at = all_documents; at; at = at->next) {
        documents *d = at->data;
        d->session += g_hash_table_size(d->owners) > 0;
        g_hash_table_remove_all(d->owners);
        g_hash_table_remove_all(d->refused);
        for (unsigned i = 0; i < d->all->len; i++) {
            GArray *rows = ((document *)g_ptr_array_index(d->all, i))->rows;
            for (unsigned j = 0; j < rows->len; j++) {
                g_array_index(rows, document_row, j).sample = NULL;
            }
        }
    }
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
    d->all = g_ptr_array_new_with_free_func(free_document);
    d->owners = g_hash_table_new(NULL, NULL);
    d->refused = g_hash_table_new(NULL, NULL);
    d->all_refused = g_ptr_array_new_with_free_func(free_columns);
    d->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    d->values = g_array_new(FALSE, FALSE, sizeof(double));
    return d;
}

void documents_free(documents *d)
{
    all_documents = g_slist_remove(all_documents, d);
    if (d->scratch) {
        fclose(d->scratch);
    }
    g_ptr_array_free(d->all, TRUE);
    g_hash_table_destroy(d->owners);
    g_hash_table_destroy(d->refused);
    g_ptr_array_free(d->all_refused, TRUE);
    g_array_free(d->numbers, TRUE);
    g_array_free(d->values, TRUE);
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
    left->assumed = left->untyped = left->from_file = left->nameless = left->num_queries = 0;
    for (unsigned i = 0; i < d->all->len; i++) {
        const document *doc = g_ptr_array_index(d->all, i);
        left->nameless += doc->nameless;
        for (unsigned j = 0; j < doc->columns.marks->len; j++) {
            tapped_count_marks(left, doc->number, doc->is_hkpd, g_array_index(doc->columns.marks, uint8_t, j));
        }
    }
}

/* --- Adding ---------------------------------------------------------------------------------------------------- */

static document *document_of(documents *d, packet_info *pinfo, const tapped_call *tapped, const readings *r)
{
    const state_handle *handle = tapped->answer->handle;
    document *doc = g_hash_table_lookup(d->owners, handle);

    if (doc == NULL) {
        doc = g_new0(document, 1);
        doc->layout = tapped->answer->layout;
        doc->number = handle->number;
        doc->session = d->session;
        doc->is_hkpd = tapped->is_hkpd;
        doc->first_frame = pinfo->num;
        doc->machine = g_strdup(r->machine);
        columns_init(&doc->columns, &d->kept);
        doc->rows = g_array_new(FALSE, FALSE, sizeof(document_row));
        g_ptr_array_add(d->all, doc);
        g_hash_table_insert(d->owners, (void *)handle, doc);
    }
    return doc;
}

void documents_refuse(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    uint64_t left = tapped_paths_size(tapped);
    columns *refused = tapped->num_identifiers > 0 ? g_hash_table_lookup(d->refused, tapped->handle) : NULL;

    for (uint32_t i = 0; tapped->handle && i < tapped->num_identifiers; i++) {
        if (!tapped_is_refused(tapped, i)) {
            continue;
        }
        if (refused == NULL) {
            refused = g_new(columns, 1);
            columns_init(refused, &d->kept);
            g_ptr_array_add(d->all_refused, refused);
            g_hash_table_insert(d->refused, (void *)tapped->handle, refused);
        }
        columns_of_path(refused, tapped_identifier_path(pinfo->pool, tapped, i, &left));
    }
}

/* A value of the row at hand, if it has a column. */
static void add_value(documents *d, document *doc, uint32_t number, double value, unsigned marks)
{
    doc->nameless += number == NO_COLUMN && (marks & TAPPED_UNTYPED);
    if (number != NO_COLUMN) {
        g_array_index(doc->columns.marks, uint8_t, number) |= (uint8_t)marks;
        g_array_append_val(d->numbers, number);
        g_array_append_val(d->values, value);
    }
}

/* False if a value's previous sample was dropped. */
static bool collect_row(documents *d, document *doc, readings *r)
{
    const reading *at;
    bool whole = true;

    g_array_set_size(d->numbers, 0);
    g_array_set_size(d->values, 0);
    columns_next_answer(&doc->columns);
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
        add_value(d, doc, columns_number(&doc->columns, r), value, tapped_marks(r, &result));
    }
    return whole;
}

static void put(documents *d, const void *data, size_t size)
{
    if (!d->failed && size > 0 && fwrite(data, 1, size, d->scratch) != size) {
        fail(d);
    }
    d->size += (int64_t)size;
}

/* At the end of the scratch file. */
static void put_row(documents *d, int64_t seconds, uint32_t nanoseconds)
{
    row_header row = {seconds, nanoseconds, d->numbers->len};

    put(d, &row, sizeof row);
    put(d, d->numbers->data, row.count * sizeof(uint32_t));
    put(d, d->values->data, row.count * sizeof(double));
}

static unsigned certainty_of(const state_sample *sample)
{
    return query_certainty(query_epoch_at(sample->handle, sample->event), sample->event);
}

/* What was known when the row's answer was read. */
static void note_known(document_row *row)
{
    if (row->sample) {
        row->facts_version = row->sample->handle->server->facts_version;
        row->certainty = certainty_of(row->sample);
    }
}

document *documents_add(documents *d, packet_info *pinfo, const tapped_call *tapped)
{
    /* one that came twice has no sample */
    if (d->failed || tapped->answer->handle == NULL || tapped->answer->sample == NULL) {
        return NULL;
    }
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    document *doc = document_of(d, pinfo, tapped, r);
    collect_row(d, doc, r);
    doc->refused = g_hash_table_lookup(d->refused, tapped->handle);
    doc->values += d->numbers->len;
    if (d->scratch == NULL && (d->scratch = output_scratch(d->beside)) == NULL) {
        d->failed = true;
        return doc;
    }
    document_row row = {.at = d->size, .sample = tapped->answer->sample};
    note_known(&row);
    g_array_append_val(doc->rows, row);
    put_row(d, pinfo->presence_flags & PINFO_HAS_TS ? (int64_t)pinfo->abs_ts.secs : NO_TIME,
            (uint32_t)pinfo->abs_ts.nsecs);
    return doc;
}

/* --- Reading back ---------------------------------------------------------------------------------------------- */

/* Reads rows in the order in which they were added. */
typedef struct {
    documents *d;
    int64_t at; /* in the scratch file */
    GArray *numbers;
    GArray *values;
    double *cells;   /* of each column, NAN for none */
    unsigned *taken; /* by which row, counted from 1, the column's cell was taken last */
} row_reader;

static bool get(row_reader *reader, void *data, size_t size)
{
    reader->at += (int64_t)size;
    return size == 0 || fread(data, 1, size, reader->d->scratch) == size;
}

static bool read_row(row_reader *reader, int64_t from, row_header *row)
{
    if (reader->at != from && fseeko(reader->d->scratch, from, SEEK_SET) != 0) {
        return false;
    }
    reader->at = from;
    if (!get(reader, row, sizeof *row)) {
        return false;
    }
    g_array_set_size(reader->numbers, row->count);
    g_array_set_size(reader->values, row->count);
    return get(reader, reader->numbers->data, row->count * sizeof(uint32_t)) &&
           get(reader, reader->values->data, row->count * sizeof(double));
}

static void reader_begin(row_reader *reader, documents *d)
{
    *reader = (row_reader){.d = d, .at = -1};
    reader->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    reader->values = g_array_new(FALSE, FALSE, sizeof(double));
}

static void reader_end(row_reader *reader)
{
    g_array_free(reader->numbers, TRUE);
    g_array_free(reader->values, TRUE);
    g_free(reader->cells);
    g_free(reader->taken);
}

/* --- What was learned later ------------------------------------------------------------------------------------ */

static bool is_outdated(const document_row *row)
{
    const state_sample *sample = row->sample;

    return sample &&
           (row->facts_version != sample->handle->server->facts_version || row->certainty != certainty_of(sample));
}

static bool any_is_outdated(const document *doc)
{
    for (unsigned i = 0; i < doc->rows->len; i++) {
        if (is_outdated(&g_array_index(doc->rows, document_row, i))) {
            return true;
        }
    }
    return false;
}

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
static void collect_old(documents *d, document *doc, const columns *old, const row_reader *reader)
{
    g_array_set_size(d->numbers, 0);
    g_array_set_size(d->values, 0);
    for (unsigned i = 0; i < reader->numbers->len; i++) {
        uint32_t number = g_array_index(reader->numbers, uint32_t, i);
        add_value(d, doc, columns_of_path(&doc->columns, columns_path(old, number)),
                  g_array_index(reader->values, double, i), g_array_index(old->marks, uint8_t, number));
    }
}

static bool settle_row(row_reader *reader, document *doc, const columns *old, document_row *row, wmem_allocator_t *pool)
{
    documents *d = reader->d;
    row_header header;

    if (!read_row(reader, row->at, &header)) {
        return false;
    }
    if (!is_outdated(row) || !collect_again(d, doc, row->sample, pool)) {
        collect_old(d, doc, old, reader);
    }
    row->at = d->size;
    note_known(row);
    reader->at = -1;
    if (fseeko(d->scratch, d->size, SEEK_SET) != 0) {
        return false;
    }
    put_row(d, header.seconds, header.nanoseconds);
    return !d->failed;
}

/* Rows that were read before something was learned are read once more, and all are put behind the others with a new list
 * of columns. */
static bool settle(documents *d, document *doc)
{
    columns old = doc->columns;
    row_reader reader;
    bool done = true;

    if (!any_is_outdated(doc)) {
        return true;
    }
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    reader_begin(&reader, d);
    d->kept -= old.bytes;
    doc->nameless = 0;
    columns_init(&doc->columns, &d->kept);
    for (unsigned i = 0; done && i < doc->rows->len; i++) {
        done = settle_row(&reader, doc, &old, &g_array_index(doc->rows, document_row, i), pool);
    }
    doc->columns.left_out = MAX(doc->columns.left_out, old.left_out);
    columns_clear(&old);
    reader_end(&reader);
    wmem_destroy_allocator(pool);
    return done;
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* The counter was refused whenever it was asked for. */
static bool is_blank(const document *doc, uint32_t refused)
{
    return !g_hash_table_contains(doc->columns.numbers, columns_path(doc->refused, refused));
}

static void write_cells(row_reader *reader, unsigned count, unsigned blank, perf_csv *text, document_take take,
                        void *user)
{
    for (unsigned i = 0; i < count; i++) {
        if (isnan(reader->cells[i])) {
            perf_csv_pdh_text(text, " ");
        } else {
            perf_csv_pdh_number(text, reader->cells[i]);
            reader->cells[i] = NAN;
        }
        if (i % 1024 == 1023) {
            take(user, text, false);
        }
    }
    for (unsigned i = 0; i < blank; i++) {
        perf_csv_pdh_text(text, " ");
    }
    perf_csv_end_row(text);
    take(user, text, false);
}

/* Returns how many columns stay blank: those of refused counters, `most` of them, behind all others. */
static unsigned write_header(const document *doc, unsigned count, uint64_t most, perf_csv *text, document_take take,
                             void *user)
{
    unsigned blank = 0;

    perf_csv_pdh_text(text, HEADER);
    for (uint32_t i = 0; i < count; i++) {
        perf_csv_pdh_text(text, columns_path(&doc->columns, i));
        take(user, text, false);
    }
    for (uint32_t i = 0; doc->refused && i < doc->refused->paths->len && blank < most; i++) {
        if (is_blank(doc, i)) {
            blank++;
            perf_csv_pdh_text(text, columns_path(doc->refused, i));
            take(user, text, false);
        }
    }
    perf_csv_end_row(text);
    take(user, text, false);
    return blank;
}

static bool write_rows(row_reader *reader, document *doc, unsigned count, unsigned blank, perf_csv *text,
                       document_take take, void *user)
{
    row_header row;

    for (unsigned i = 0; i < doc->rows->len; i++) {
        if (!read_row(reader, g_array_index(doc->rows, document_row, i).at, &row)) {
            return false;
        }
        for (unsigned j = 0; j < reader->values->len; j++) {
            uint32_t number = g_array_index(reader->numbers, uint32_t, j);
            if (number >= count) {
                doc->left_out++;
            } else if (reader->taken[number] != i + 1) {
                /* where a path stands twice in an answer, its first value counts, and counts too if it has no result */
                reader->taken[number] = i + 1;
                reader->cells[number] = g_array_index(reader->values, double, j);
            }
        }
        if (row.seconds == NO_TIME) {
            perf_csv_pdh_text(text, " ");
        } else {
            perf_csv_pdh_time(text, row.seconds, row.nanoseconds);
        }
        write_cells(reader, count, blank, text, take, user);
    }
    return true;
}

/* There is room for so many columns, the first. */
static uint64_t most_columns(const documents *d, const document *doc)
{
    uint64_t cells = CELLS_OF_ALL / d->all->len + doc->values * CELLS_PER_VALUE;

    return cells / MAX(doc->rows->len, 1);
}

bool document_write(documents *d, document *doc, document_take take, void *user)
{
    row_reader reader;
    perf_csv text = {0};

    if (!d->failed && !settle(d, doc)) {
        fail(d);
    }
    if (d->failed) {
        return false;
    }
    uint64_t most = most_columns(d, doc);
    unsigned count = (unsigned)MIN(doc->columns.paths->len, most);
    doc->left_out = 0;
    reader_begin(&reader, d);
    reader.cells = g_new(double, count);
    reader.taken = g_new0(unsigned, count);
    for (unsigned i = 0; i < count; i++) {
        reader.cells[i] = NAN;
    }
    unsigned blank = write_header(doc, count, most - count, &text, take, user);
    if (!write_rows(&reader, doc, count, blank, &text, take, user) || fseeko(d->scratch, d->size, SEEK_SET) != 0) {
        fail(d);
    }
    take(user, &text, true);
    perf_csv_free(&text);
    reader_end(&reader);
    return !d->failed;
}
