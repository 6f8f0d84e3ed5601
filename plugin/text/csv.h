/* csv.h
 * Rows of two kinds of CSV, written into memory that whoever has them empties into a file
 *
 * PDH-CSV 4.0 is what typeperf, relog and perfmon write and read: every cell in double quotes. The other is RFC 4180:
 * quotes where a cell needs them. Both end their lines with CR LF.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include "perf/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as zeros. */
typedef struct perf_csv {
    char *data;
    size_t size;
    size_t room;
    bool in_row; /* the next cell is not the first */
    bool failed; /* there was no memory for all of it */
} perf_csv;

/* Forgets the text and keeps the memory. */
void perf_csv_clear(perf_csv *csv);
void perf_csv_free(perf_csv *csv);

void perf_csv_end_row(perf_csv *csv);

/* The cells of another text, which has no end of a row. */
void perf_csv_cells(perf_csv *csv, const perf_csv *cells);

/* --- PDH-CSV ------------------------------------------------------------ */

/* A blank where there is no value. */
void perf_csv_pdh_text(perf_csv *csv, const char *text);

/* Six decimals, as typeperf has them. */
void perf_csv_pdh_number(perf_csv *csv, double value);

/* "11/21/2026 21:43:44.123", UTC, from seconds since 1970 and nanoseconds; rounded down. */
void perf_csv_pdh_time(perf_csv *csv, int64_t seconds, uint32_t nanoseconds);

/* --- RFC 4180 ----------------------------------------------------------- */

/* NULL is an empty cell. */
void perf_csv_text(perf_csv *csv, const char *text);
void perf_csv_whole(perf_csv *csv, uint64_t value);

/* So that reading it gives the same double. */
void perf_csv_number(perf_csv *csv, double value);

/* 2026-11-21T21:43:44.123456789Z */
void perf_csv_time(perf_csv *csv, int64_t seconds, uint32_t nanoseconds);
