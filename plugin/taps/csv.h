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

/* One, or several that have commas between them already. */
void csv_cells(GString *csv, const char *cells, size_t size);

void csv_end_row(GString *csv);

/* PDH-CSV. */
void csv_pdh_text(GString *csv, const char *text);

/* RFC 4180. NULL is an empty cell. */
void csv_text(GString *csv, const char *text);
void csv_integer(GString *csv, uint64_t value);

/* In 15 digits, or as many more as it takes so that reading it gives the same double. */
void csv_number(GString *csv, double value);

/* 2026-11-21T21:43:44.123456789Z; as PDH-CSV has it, "11/21/2026 21:43:44.123", UTC, rounded down. */
void csv_time(GString *csv, const nstime_t *when, bool is_pdh);
