/* document.h
 * The answers of one query (or handle of HKEY_PERFORMANCE_DATA) as PDH-CSV 4.0.
 *
 * The header names every column before the first row, and a column may turn up in the last answer. So rows wait as
 * numbers, 16 bytes for each value, until they are written. They live as long as the export, and have the names that were known as
 * they came. Where handles are counted anew in its middle (tshark -M), their rows follow those of the same number.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "taps/omissions.h"
#include "taps/output.h"

/* Of each file: format, name of the time zone, minutes west of UTC. */
#define PDH_CSV_HEADER "(PDH-CSV 4.0) (UTC)(0)"

/* A query has no more columns than these; what goes beyond is left out and counted. */
#define MAX_COLUMNS 1000000

/* All paths of an export take no more than these bytes. */
#define MAX_PATH_BYTES (32 << 20)

/* All of one export. */
typedef struct {
    GHashTable *texts;     /* paths, each once */
    size_t texts_bytes;    /* theirs */
    GPtrArray *all;        /* document, of those with answers, in the order of the first */
    GHashTable *by_number; /* number and kind of a handle -> document; also of those that had no answer yet */
    uint64_t unlike;       /* results that have no cell: their path has another in the answer */
    uint64_t left_out;     /* values of what was written: their columns found no room */
    uint64_t nameless;     /* values of counters that are not known */
} documents;

/* One of them. */
typedef struct {
    uint32_t number; /* of its handle */
    bool is_hkpd;
    uint32_t first_frame;
    char *machine;
    GArray *paths;       /* document_column, by its number, which it keeps */
    GPtrArray *refused;  /* other paths, which have blank columns as long as they have none of their own */
    GHashTable *columns; /* path -> number + 1; 0: it was only refused */
    GArray *rows;        /* document_row */
    GArray *cells;       /* document_cell, of all rows */
} document;

documents *documents_new(void);
void documents_free(documents *d);

/* Adds an answer to the document of its handle, and returns that; NULL if it has none. Of a response to ValidateCounters notes what
 * it refused: typeperf has a blank column for it. */
document *documents_add(documents *d, packet_info *pinfo, const tapped_call *tapped);

/* Writes a document to the file; without one `text` has all of it. */
void document_write(documents *d, document *doc, output_file *file, GString *text);

/* Counts columns that are assumed or of a type that is not known, and values without a cell. Needs: all documents are written. */
void documents_count_omissions(const documents *d, omissions *o);

/* "query-2", "hkpd-1": what distinguishes its file from that of others. */
char *document_suffix(const document *doc);
