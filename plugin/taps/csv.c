/* csv.c
 * Cells of CSV.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/csv.h"

#include "text/numbers.h"

void csv_end_row(GString *csv)
{
    csv->str[csv->len - 1] = '\r';
    g_string_append_c(csv, '\n');
}

void csv_pdh_text(GString *csv, const char *text)
{
    g_string_append_c(csv, '"');
    for (; *text; text++) {
        if (*text == '"') {
            g_string_append_c(csv, '"');
        }
        g_string_append_c(csv, *text);
    }
    g_string_append(csv, "\",");
}

void csv_text(GString *csv, const char *text)
{
    size_t size = text ? strcspn(text, ",\"\r\n") : 0;

    if (text && text[size] != '\0') {
        csv_pdh_text(csv, text);
    } else {
        csv_plain(csv, text ? text : "", size);
    }
}

void csv_integer(GString *csv, uint64_t value)
{
    char text[TEXT_NUMBER_SIZE] = "";

    csv_plain(csv, text, text_decimal(text, value));
}

void csv_time(GString *csv, const nstime_t *when, bool is_pdh)
{
    GDateTime *date = nstime_is_zero(when) ? NULL : g_date_time_new_from_unix_utc((int64_t)when->secs);

    if (date == NULL) {
        g_string_append(csv, is_pdh ? "\" \"," : ",");
        return;
    }
    char *text = g_date_time_format(date, is_pdh ? "%m/%d/%Y %H:%M:%S" : "%Y-%m-%dT%H:%M:%S");
    g_string_append_printf(csv, is_pdh ? "\"%s.%03d\"," : "%s.%09dZ,", text,
                           is_pdh ? when->nsecs / 1000000 : when->nsecs);
    g_free(text);
    g_date_time_unref(date);
}
