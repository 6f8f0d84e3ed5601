/* decimal.c
 * Numbers as decimal text, for people.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "text/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define GROUP 3

/* From here on a double's decimals are noise, and its tenths do not fit 64 bits. */
#define TOO_LARGE 1e15

/* Below this the zeros behind the point are more than anybody counts. */
#define TOO_SMALL 1e-7

static char *put_digits(char *end, unsigned value, unsigned count)
{
    for (; count > 0; count--, value /= 10) {
        *--end = (char)('0' + value % 10);
    }
    return end;
}

static size_t put_integer(char *out, uint64_t value, bool in_groups)
{
    char digits[TEXT_NUMBER_SIZE], *end = digits + sizeof digits, *first = end;

    for (; value >= 1000; value /= 1000) {
        first = put_digits(first, (unsigned)(value % 1000), GROUP);
        if (in_groups) {
            *--first = ',';
        }
    }
    first = put_digits(first, (unsigned)value, value < 10 ? 1 : value < 100 ? 2 : GROUP);
    memcpy(out, first, (size_t)(end - first));
    out[end - first] = '\0';
    return (size_t)(end - first);
}

size_t text_decimal(char *out, uint64_t value)
{
    return put_integer(out, value, false);
}

size_t text_integer(char *out, uint64_t value)
{
    return put_integer(out, value, true);
}

size_t text_plain_point(char *text)
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

static size_t put_fixed(char *out, double size, unsigned decimals)
{
    uint64_t scale = 1;

    for (unsigned i = 0; i < decimals; i++) {
        scale *= 10;
    }
    uint64_t scaled = (uint64_t)(size * (double)scale + 0.5);
    size_t end = put_integer(out, scaled / scale, true);

    out[end++] = '.';
    for (scaled %= scale; decimals > 0; decimals--, end++) {
        scale /= 10;
        out[end] = (char)('0' + scaled / scale % 10);
    }
    out[end] = '\0';
    return end;
}

size_t text_number(char *out, double value)
{
    double size = fabs(value);
    size_t sign = value < 0;
    unsigned decimals = 1;

    if (size > 0 && (!(size < TOO_LARGE) || size < TOO_SMALL)) {
        snprintf(out, TEXT_NUMBER_SIZE, size < 1 ? "%.2g" : "%.15g", value);
        return text_plain_point(out);
    }
    out[0] = '-';
    /* three significant digits; 9.996 is 10.0, not 10.00 */
    for (double limit = 10; size > 0 && decimals < 9 && size + size * 0.0005 < limit; limit /= 10) {
        decimals++;
    }
    return sign + put_fixed(out + sign, size, decimals);
}
