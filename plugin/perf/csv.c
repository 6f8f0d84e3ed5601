/* csv.c
 * Rows of CSV
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/csv.h"

#include "perf/decimal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIRST_ROOM 65536
#define TIME_SIZE 100 /* also of a year that is none */

/* --- Room ---------------------------------------------------------------- */

/* Where up to `size` bytes go, NULL if there is no memory for them. */
static char *make_room(perf_csv *csv, size_t size)
{
    if (csv->room - csv->size >= size) {
        return csv->data + csv->size;
    }
    size_t room = csv->room + csv->room / 2 + size + FIRST_ROOM;
    char *data = csv->failed ? NULL : realloc(csv->data, room);
    if (data == NULL) {
        csv->failed = true;
        return NULL;
    }
    csv->data = data;
    csv->room = room;
    return data + csv->size;
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

/* The end of a cell that was written up to `end`. */
static void close_cell(perf_csv *csv, const char *end)
{
    csv->size = (size_t)(end - csv->data);
    csv->in_row = true;
}

/* Where a cell of up to `size` bytes begins, behind its comma. */
static char *open_cell(perf_csv *csv, size_t size)
{
    char *at = make_room(csv, size + 1);

    if (at && csv->in_row) {
        *at++ = ',';
    }
    return at;
}

void perf_csv_cells(perf_csv *csv, const perf_csv *cells)
{
    char *at = cells->in_row ? open_cell(csv, cells->size) : NULL;

    if (at) {
        memcpy(at, cells->data, cells->size);
        close_cell(csv, at + cells->size);
    }
    csv->failed = csv->failed || cells->failed;
}

void perf_csv_end_row(perf_csv *csv)
{
    char *at = make_room(csv, 2);

    if (at) {
        memcpy(at, "\r\n", 2);
        csv->size += 2;
    }
    csv->in_row = false;
}

/* --- Cells ---------------------------------------------------------------- */

static char *put_doubled(char *at, const char *text, size_t length)
{
    for (const char *quote; (quote = memchr(text, '"', length)) != NULL;) {
        size_t part = (size_t)(quote - text) + 1;
        memcpy(at, text, part);
        at += part;
        *at++ = '"';
        text += part;
        length -= part;
    }
    memcpy(at, text, length);
    return at + length;
}

void perf_csv_pdh_text(perf_csv *csv, const char *text)
{
    size_t length = strlen(text);
    char *at = open_cell(csv, 2 * length + 2);

    if (at) {
        *at++ = '"';
        at = put_doubled(at, text, length);
        *at++ = '"';
        close_cell(csv, at);
    }
}

void perf_csv_pdh_number(perf_csv *csv, double value)
{
    char *at = open_cell(csv, PERF_DECIMAL_SIZE + 2);

    if (at) {
        *at++ = '"';
        at += perf_decimal_fixed(at, value);
        *at++ = '"';
        close_cell(csv, at);
    }
}

/* What makes a cell of RFC 4180 need quotes. */
static const char special[] = ",\"\r\n";

void perf_csv_text(perf_csv *csv, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    char *at;

    if (length > 0 && strcspn(text, special) < length) {
        perf_csv_pdh_text(csv, text);
    } else if ((at = open_cell(csv, length)) != NULL) {
        if (length > 0) {
            memcpy(at, text, length);
        }
        close_cell(csv, at + length);
    }
}

void perf_csv_whole(perf_csv *csv, uint64_t value)
{
    char *at = open_cell(csv, PERF_DECIMAL_SIZE);

    if (at) {
        close_cell(csv, at + perf_decimal_u64(at, value));
    }
}

void perf_csv_number(perf_csv *csv, double value)
{
    char *at = open_cell(csv, PERF_DECIMAL_SIZE);

    if (at) {
        close_cell(csv, at + perf_decimal_exact(at, value));
    }
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
    char *at = open_cell(csv, TIME_SIZE);
    struct tm t = civil(seconds);

    if (at) {
        int size = snprintf(at, TIME_SIZE, "\"%02d/%02d/%04d %02d:%02d:%02d.%03u\"", t.tm_mon + 1, t.tm_mday,
                            t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec, nanoseconds / 1000000);
        close_cell(csv, at + size);
    }
}

void perf_csv_time(perf_csv *csv, int64_t seconds, uint32_t nanoseconds)
{
    char *at = open_cell(csv, TIME_SIZE);
    struct tm t = civil(seconds);

    if (at) {
        int size = snprintf(at, TIME_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%09uZ", t.tm_year + 1900, t.tm_mon + 1,
                            t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, nanoseconds);
        close_cell(csv, at + size);
    }
}
