/* numbers.c
 * Numbers as decimal text, for people.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "text/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A double from here on has no decimals that mean anything, and its tenths do not fit 64 bits. */
#define TOO_LARGE 1e15

/* Below this there are more zeros behind the point than anybody counts. */
#define TOO_SMALL 1e-7

/* Writes digits, with a comma between groups of three if `in_groups`. Returns the length. Recursive: 7 levels at most. */
static size_t put_integer(char *out, uint64_t value, bool in_groups)
{
    size_t size = 0;

    if (value >= 1000) {
        size = put_integer(out, value / 1000, in_groups);
        out[size] = ',';
        size += in_groups;
    }
    unsigned group = (unsigned)(value % 1000);
    if (value >= 100) {
        out[size++] = (char)('0' + group / 100);
    }
    if (value >= 10) {
        out[size++] = (char)('0' + group / 10 % 10);
    }
    out[size++] = (char)('0' + group % 10);
    out[size] = '\0';
    return size;
}

size_t text_decimal(char *out, uint64_t value)
{
    return put_integer(out, value, false /* in_groups */);
}

size_t text_integer(char *out, uint64_t value)
{
    return put_integer(out, value, true /* in_groups */);
}

/* Replaces the locale's decimal separator in a text of printf() by a point. Returns the new length. */
static size_t put_plain_point(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if ((*from >= '0' && *from <= '9') || (*from >= 'a' && *from <= 'z') || *from == '-' || *from == '+') {
            *to++ = *from;
        } else if (to > text && to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* Writes "1,234.50". Needs: `size` is not negative; `scale` is 10 to the power of `decimals`. Returns the length. */
static size_t put_fixed(char *out, double size, unsigned decimals, unsigned scale)
{
    uint64_t scaled = (uint64_t)(size * scale + 0.5);
    unsigned fraction = (unsigned)(scaled % scale);
    size_t point = put_integer(out, scaled / scale, true /* in_groups */), end = point + decimals + 1;

    out[point] = '.';
    out[end] = '\0';
    for (size_t at = end - 1; at > point; at--, fraction /= 10) {
        out[at] = (char)('0' + fraction % 10);
    }
    return end;
}

size_t text_number(char *out, double value)
{
    double size = fabs(value);
    size_t sign = value < 0;
    unsigned decimals = 1, scale = 10;

    if (size > 0 && (!(size < TOO_LARGE) || size < TOO_SMALL)) {
        snprintf(out, TEXT_NUMBER_SIZE, size < 1 ? "%.2g" : "%.15g", value);
        return put_plain_point(out);
    }
    out[0] = '-';
    /* three significant digits; 9.996 is 10.0, not 10.00 */
    for (double limit = 10; size > 0 && decimals < 9 && size + size * 0.0005 < limit; limit /= 10) {
        decimals++;
        scale *= 10;
    }
    return sign + put_fixed(out + sign, size, decimals, scale);
}
