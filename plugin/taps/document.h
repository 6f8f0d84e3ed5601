/* document.h
 * The answers of one query (or handle of HKEY_PERFORMANCE_DATA) as PDH-CSV 4.0.
 *
 * The header names every column before the first row, and a column may turn up in the last answer. So rows wait as
 * numbers in a scratch file, which all documents of an export share, and are written when all columns are known. In
 * memory are the paths and a few bytes for each answer.
 *
 * Names, types and whose a block is may be learned behind the first answers. Those are read once more then, from the
 * samples that are kept, before anything is written: so one pass writes what two would, and a counter has one column.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/columns.h"
#include "readings/tapped.h"

#include <stdio.h>

#include "perf/csv.h"

/* All of one export. */
typedef struct {
    char *beside;           /* the file that they are for, NULL if there is none */
    FILE *scratch;          /* rows; NULL before the first */
    int64_t size;           /* bytes in it */
    bool failed;            /* to write it; reported */
    GPtrArray *all;         /* document, in the order of their first answer */
    GHashTable *owners;     /* state_handle -> document */
    GHashTable *refused;    /* state_handle -> columns, of counters that were refused, also before the first answer */
    unsigned session;       /* which of the capture is read, where its handles are forgotten in between */
    GPtrArray *all_refused; /* columns, which documents of handles that are forgotten have still */
    uint32_t kept;          /* bytes of the paths of all documents */
    GArray *numbers;        /* uint32_t: columns of the row at hand */
    GArray *values;         /* double: its values, NAN for none */
} documents;

/* An answer. */
typedef struct {
    int64_t at;                 /* where it stands in the scratch file */
    const state_sample *sample; /* NULL once the capture is forgotten */
    uint32_t facts_version;     /* of its server, when it was read */
    unsigned certainty;         /* QUERY_IS_… of whose its blocks are, then */
} document_row;

/* One of them. */
typedef struct {
    const readings_layout *layout;
    uint32_t number; /* of its handle */
    bool is_hkpd;
    unsigned session; /* of tshark -M, whose handles are counted anew in each; 0 in the first */
    bool is_listed;   /* among export objects */
    uint32_t first_frame;
    uint64_t values;   /* of all rows */
    uint64_t nameless; /* that have no path */
    uint64_t left_out; /* of those, when it was written last: their columns found no room */
    char *machine;
    columns columns;
    const columns *refused; /* blank unless they came later; NULL: none */
    GArray *rows;           /* document_row */
} document;

documents *documents_new(const char *beside);
void documents_free(documents *d);

/* Adds an answer to the document of its handle, and returns that; NULL if it has none. */
document *documents_add(documents *d, packet_info *pinfo, const tapped_call *tapped);

/* Notes what a response to ValidateCounters refused: typeperf has a blank column for it. */
void documents_refuse(documents *d, packet_info *pinfo, const tapped_call *tapped);

/* Writes a document in parts: `take` empties the text whenever it likes, and at the end with `all`. False, and
 * reported, if the scratch file could not be read. */
typedef void (*document_take)(void *user, perf_csv *text, bool all);
bool document_write(documents *d, document *doc, document_take take, void *user);

/* Counts the columns with marks, of all documents. */
void documents_count_marks(const documents *d, tapped_left_out *left);

/* "query-2", "hkpd-1", "query-1-session-2": what distinguishes its file from that of others. */
char *document_suffix(const document *doc);
