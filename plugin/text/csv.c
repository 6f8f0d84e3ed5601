/* csv.c
 * Rows of CSV
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "text/csv.h"

#include "text/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_ROOM 65536
#define TIME_SIZE 100 /* also of a year that is none */

/* --- Room ---------------------------------------------------------------- */

static bool grow(perf_csv *csv, size_t size)
{
    size_t room = csv->room + csv->room / 2 + size + FIRST_ROOM;
    char *data = csv->failed ? NULL : realloc(csv->data, room);

    if (data == NULL) {
        csv->failed = true;
        return false;
    }
    csv->data = data;
    csv->room = room;
    return true;
}

/* True if so many bytes more have room. */
static inline bool has_room(perf_csv *csv, size_t size)
{
    return csv->room - csv->size >= size || grow(csv, size);
}

void perf_csv_clear(perf_csv *csv)
{
    csv->size = 0;
    csv->in_row = false;
}

void perf_csv_free(perf_csv *csv)
{
    free(csv->data);
    memset(csv, 0, sizeof *csv);
}

static inline void put_cell(perf_csv *csv, const char *text, size_t size)
{
    if (has_room(csv, size + 1)) {
        if (csv->in_row) {
            csv->data[csv->size++] = ',';
        }
        perf_put(csv->data + csv->size, text, size);
        csv->size += size;
        csv->in_row = true;
    }
}

void perf_csv_cells(perf_csv *csv, const perf_csv *cells)
{
    if (cells->in_row) {
        put_cell(csv, cells->data, cells->size);
    }
    csv->failed = csv->failed || cells->failed;
}

void perf_csv_end_row(perf_csv *csv)
{
    if (has_room(csv, 2)) {
        perf_put(csv->data + csv->size, "\r\n", 2);
        csv->size += 2;
    }
    csv->in_row = false;
}

/* --- Cells ---------------------------------------------------------------- */

void perf_csv_pdh_text(perf_csv *csv, const char *text)
{
    put_cell(csv, "\"", 1);
    if (has_room(csv, 2 * strlen(text) + 1)) {
        for (; *text; text++) {
            csv->data[csv->size++] = *text;
            if (*text == '"') {
                csv->data[csv->size++] = '"';
            }
        }
        csv->data[csv->size++] = '"';
    }
}

void perf_csv_pdh_number(perf_csv *csv, double value)
{
    char text[PERF_DECIMAL_SIZE];

    perf_decimal_fixed(text, value);
    perf_csv_pdh_text(csv, text);
}

/* What makes a cell of RFC 4180 need quotes. */
static const char special[] = ",\"\r\n";

void perf_csv_text(perf_csv *csv, const char *text)
{
    text = text ? text : "";
    size_t length = strlen(text);

    if (strcspn(text, special) < length) {
        perf_csv_pdh_text(csv, text);
    } else {
        put_cell(csv, text, length);
    }
}

void perf_csv_whole(perf_csv *csv, uint64_t value)
{
    char text[PERF_DECIMAL_SIZE];

    put_cell(csv, text, perf_decimal_u64(text, value));
}

void perf_csv_number(perf_csv *csv, double value)
{
    char text[PERF_DECIMAL_SIZE];

    put_cell(csv, text, perf_decimal_exact(text, value));
}

/* --- Times ---------------------------------------------------------------- */

/* Of a time that the C library does not know, its first. */
static struct tm civil(int64_t seconds)
{
    static const struct tm first = {.tm_mday = 1, .tm_year = 70};
    time_t when = (time_t)seconds;
    const struct tm *t = gmtime(&when);

    return t ? *t : first;
}

void perf_csv_pdh_time(perf_csv *csv, int64_t seconds, uint32_t nanoseconds)
{
    char text[TIME_SIZE];
    struct tm t = civil(seconds);

    snprintf(text, TIME_SIZE, "%02d/%02d/%04d %02d:%02d:%02d.%03u", t.tm_mon + 1, t.tm_mday, t.tm_year + 1900,
             t.tm_hour, t.tm_min, t.tm_sec, nanoseconds / 1000000);
    perf_csv_pdh_text(csv, text);
}

void perf_csv_time(perf_csv *csv, int64_t seconds, uint32_t nanoseconds)
{
    char text[TIME_SIZE];
    struct tm t = civil(seconds);

    snprintf(text, TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", t.tm_year + 1900, t.tm_mon + 1, t.tm_mday,
             t.tm_hour, t.tm_min, t.tm_sec, nanoseconds);
    perf_csv_text(csv, text);
}
