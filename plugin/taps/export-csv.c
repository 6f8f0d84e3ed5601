/* export-csv.c
 * `-z pcq,csv,FILE[,FILTER]`: a PDH-CSV file for each query.
 *
 * The first query's is FILE, those of the others have the kind and number of their handle in the name: run.csv,
 * run-query-2.csv, run-hkpd-1.csv.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/document.h"
#include "taps/output.h"

/* One -z. */
typedef struct {
    output_task task; /* its file: the first document's */
    documents *documents;
} csv_export;

static void reset(void *data)
{
    csv_export *export = data;

    g_clear_pointer(&export->documents, documents_free);
    export->documents = documents_new();
}

static void count(void *data, packet_info *pinfo, const tapped_call *tapped)
{
    documents_add(((csv_export *)data)->documents, pinfo, tapped);
}

/* "run.csv" of the first document, "run-query-2.csv" of others; standard output takes all. */
static char *path_of(const csv_export *export, unsigned number)
{
    const char *path = export->task.file.path, *dot = strrchr(path, '.');

    if (number == 0 || strcmp(path, "-") == 0) {
        return g_strdup(path);
    }
    if (dot == NULL || strpbrk(dot, G_DIR_SEPARATOR_S "/")) { /* a folder's */
        dot = path + strlen(path);
    }
    char *suffix = document_suffix(g_ptr_array_index(export->documents->all, number));
    char *other = g_strdup_printf("%.*s-%s%s", (int)(dot - path), path, suffix, dot);
    g_free(suffix);
    return other;
}

static void draw(void *data)
{
    csv_export *export = data;
    documents *d = export->documents;
    GString *text = g_string_new(NULL);

    if (d->all->len == 0) {
        output_whole(&export->task.file, g_string_new("\"" PDH_CSV_HEADER "\"\r\n"));
    }
    d->left_out = 0;
    for (unsigned i = 0; i < d->all->len; i++) {
        char *path = path_of(export, i);
        output_file file = {.path = path};
        document_write(d, g_ptr_array_index(d->all, i), &file, text);
        output_commit(&file);
        g_free(path);
    }
    g_string_free(text, TRUE);
    documents_count_omissions(d, &export->task.omitted);
    output_print_omissions(&export->task.omitted, "columns");
}

void export_csv_register(void)
{
    static output_statistic statistic = {
        .name = "pcq,csv", .task_size = sizeof(csv_export), .reset = reset, .count = count, .draw = draw};

    output_register(&statistic);
}
