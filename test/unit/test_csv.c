/* test_csv.c
 * Cells, rows and times, against texts written by hand and against the C library's calendar
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#define _DEFAULT_SOURCE /* gmtime_r */

#include "text/csv.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static unsigned failures;

static void expect(perf_csv *csv, const char *expected)
{
    if (csv->failed || csv->size != strlen(expected) || memcmp(csv->data, expected, csv->size) != 0) {
        fprintf(stderr, "got %.*s\nexpected %s\n", (int)csv->size, csv->data, expected);
        failures++;
    }
    perf_csv_clear(csv);
}

static void test_pdh(perf_csv *csv)
{
    perf_csv_pdh_text(csv, "(PDH-CSV 4.0)");
    perf_csv_pdh_text(csv, "\\\\SRV\\Processor(_Total)\\% Processor Time");
    perf_csv_pdh_text(csv, "a \"quoted\", name\"");
    perf_csv_pdh_text(csv, "");
    perf_csv_end_row(csv);
    expect(csv, "\"(PDH-CSV 4.0)\",\"\\\\SRV\\Processor(_Total)\\% Processor Time\","
                "\"a \"\"quoted\"\", name\"\"\",\"\"\r\n");
    perf_csv_pdh_time(csv, 1108554723, 222999999);
    perf_csv_pdh_number(csv, 12.4);
    perf_csv_pdh_text(csv, " ");
    perf_csv_pdh_number(csv, -0.0000004);
    perf_csv_pdh_number(csv, 18446744073709551615.0);
    perf_csv_end_row(csv);
    expect(csv, "\"02/16/2005 11:52:03.222\",\"12.400000\",\" \",\"-0.000000\",\"18446744073709551616.000000\"\r\n");
}

static void test_rfc(perf_csv *csv)
{
    perf_csv_time(csv, 1108554723, 222999999);
    perf_csv_text(csv, "plain text");
    perf_csv_text(csv, NULL);
    perf_csv_text(csv, "");
    perf_csv_text(csv, "with \"quotes\"");
    perf_csv_text(csv, "with, comma");
    perf_csv_text(csv, "two\nlines");
    perf_csv_text(csv, "two\rlines");
    perf_csv_whole(csv, UINT64_MAX);
    perf_csv_number(csv, 0.1);
    perf_csv_end_row(csv);
    perf_csv_text(csv, "next");
    perf_csv_end_row(csv);
    expect(csv, "2005-02-16T11:52:03.222999999Z,plain text,,,\"with \"\"quotes\"\"\",\"with, comma\",\"two\nlines\","
                "\"two\rlines\",18446744073709551615,0.1\r\nnext\r\n");
}

/* Windows' C library knows the years from 1970 to 3000 alone. */
static bool of_the_c_library(time_t seconds, struct tm *tm)
{
#ifdef _WIN32
    return gmtime_s(tm, &seconds) == 0;
#else
    return gmtime_r(&seconds, tm) != NULL;
#endif
}

static void test_calendar(perf_csv *csv)
{
    char expected[80], text[64];
    struct tm tm;

    for (int64_t at = -62135596800; at < 253402300800; at += 86400 * 13 + 12345) {
        if (!of_the_c_library((time_t)at, &tm)) {
            continue;
        }
        strftime(text, sizeof text, "%m/%d/%%04d %H:%M:%S", &tm);
        snprintf(expected, sizeof expected, text, tm.tm_year + 1900);
        perf_csv_pdh_time(csv, at, 7000000);
        if (memcmp(csv->data + 1, expected, strlen(expected)) != 0) {
            fprintf(stderr, "%lld: %.*s, expected %s\n", (long long)at, (int)csv->size, csv->data, expected);
            failures++;
        }
        perf_csv_clear(csv);
    }
}

static void test_cells(perf_csv *csv)
{
    perf_csv cells = {0};

    perf_csv_cells(csv, &cells);
    perf_csv_text(&cells, "a,b");
    perf_csv_whole(&cells, 7);
    perf_csv_cells(csv, &cells);
    perf_csv_cells(csv, &cells);
    perf_csv_text(csv, "end");
    perf_csv_end_row(csv);
    perf_csv_cells(csv, &cells);
    perf_csv_end_row(csv);
    expect(csv, "\"a,b\",7,\"a,b\",7,end\r\n\"a,b\",7\r\n");
    perf_csv_free(&cells);
}

/* More than the first room, cell by cell and in one. */
static void test_growth(perf_csv *csv)
{
    static char text[300001];

    memset(text, '"', sizeof text - 1);
    perf_csv_pdh_text(csv, text);
    if (csv->failed || csv->size != 2 * sizeof text) {
        fprintf(stderr, "long cell: %zu bytes\n", csv->size);
        failures++;
    }
    for (unsigned i = 0; i < 100000; i++) {
        perf_csv_pdh_text(csv, " ");
    }
    if (csv->failed || csv->size != 2 * sizeof text + 400000) {
        fprintf(stderr, "many cells: %zu bytes\n", csv->size);
        failures++;
    }
    perf_csv_clear(csv);
}

/* Whatever stands in a row already, nothing is written behind its room. */
static void test_room(perf_csv *csv)
{
    char data[64];

    for (size_t filled = 0; filled < 4; filled++) {
        memset(data, '#', sizeof data);
        perf_csv full = {data, filled, filled + 2, true, false};
        perf_csv_end_row(&full);
        if (data[filled + 2] != '#' || full.size != filled + 2) {
            fprintf(stderr, "an end of %zu bytes and two more\n", filled);
            failures++;
        }
    }
    for (unsigned i = 0; i < 300000; i++) {
        perf_csv_text(csv, "1");
        perf_csv_text(csv, i % 2 ? "22" : "333");
        perf_csv_end_row(csv);
        failures += csv->size > csv->room;
    }
    perf_csv_clear(csv);
}

/* What failed stays so until it is freed. */
static void test_failure(void)
{
    perf_csv csv = {0}, cells = {.failed = true};

    perf_csv_cells(&csv, &cells);
    perf_csv_text(&csv, "a");
    failures += !csv.failed || csv.size != 0;
    perf_csv_free(&csv);
    perf_csv_text(&csv, "a");
    expect(&csv, "a");
    perf_csv_free(&csv);
}

int main(void)
{
    perf_csv csv = {0};

    test_pdh(&csv);
    test_rfc(&csv);
    test_calendar(&csv);
    test_cells(&csv);
    test_growth(&csv);
    test_room(&csv);
    test_failure();
    perf_csv_free(&csv);
    return failures > 0;
}
