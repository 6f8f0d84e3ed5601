/* csv.h
 * Cells of CSV after each other in a text: each ends with a comma, that of a row's last becomes CR LF.
 *
 * PDH-CSV 4.0 is what typeperf, relog and perfmon write and read: every cell in double quotes. The other is RFC 4180:
 * quotes where a cell needs them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Replaces the comma behind the row's last cell by CR LF. Needs: a cell. */
void csv_end_row(GString *csv);

/* Appends a cell of PDH-CSV: a text, always in quotes. */
void csv_pdh_text(GString *csv, const char *text);

/* Appends a text as it is, and a comma: one cell, or several that have commas between them. Needs: csv_end_row(), which terminates `csv`. */
static inline void csv_plain(GString *csv, const char *text, size_t size)
{
    size_t begin = csv->len, end = begin + size;

    if (end + 1 >= csv->allocated_len) { /* GLib's own appending would take a fifth of an export's time */
        g_string_set_size(csv, end + 1);
    }
    memcpy(csv->str + begin, text, size);
    csv->str[end] = ',';
    csv->len = end + 1;
}

/* Appends a cell of RFC 4180: a text, in quotes if it needs them. NULL is an empty cell. */
void csv_text(GString *csv, const char *text);
void csv_integer(GString *csv, uint64_t value);

/* Appends a time in UTC: 2026-11-21T21:43:44.123456789Z, or if `is_pdh` a cell of PDH-CSV, "11/21/2026 21:43:44.123", rounded down. Blank for
 * zeros, which a frame without a time has, and for a time that no calendar has. */
void csv_time(GString *csv, const nstime_t *when, bool is_pdh);
