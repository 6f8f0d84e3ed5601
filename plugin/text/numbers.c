/* numbers.c
 * Numbers as decimal text.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "text/numbers.h"

#include <glib.h>

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define TOO_LARGE 1e15 /* from here on a double has no decimals that mean anything, and its tenths do not fit 64 bits */
#define TOO_SMALL 1e-7 /* below this there are more zeros behind the point than anybody counts */

/* Writes digits, with a comma between groups of three if `in_groups`. Returns the length. */
static size_t put_integer(char *out, uint64_t value, bool in_groups)
{
    char text[TEXT_NUMBER_SIZE], *begin = text + sizeof text; /* filled from its end */
    unsigned before_comma = in_groups ? 3 : TEXT_NUMBER_SIZE; /* digits */

    do {
        if (before_comma-- == 0) {
            *--begin = ',';
            before_comma = 2;
        }
        *--begin = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    size_t size = (size_t)(text + sizeof text - begin);
    memcpy(out, begin, size);
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

size_t text_number(char *out, double value)
{
    double size = fabs(value);
    size_t point = value < 0;
    uint64_t scale = 10; /* of the decimals */

    if (size > 0 && (!(size < TOO_LARGE) || size < TOO_SMALL)) {
        g_ascii_formatd(out, TEXT_NUMBER_SIZE, size < 1 ? "%.2g" : "%.15g", value);
        return strlen(out);
    }
    /* three significant digits, nine decimals at most; 9.996 is 10.0, not 10.00 */
    for (double limit = 10; size > 0 && scale < 1000000000 && size + size * 0.0005 < limit; limit /= 10) {
        scale *= 10;
    }
    uint64_t scaled = (uint64_t)(size * (double)scale + 0.5);
    out[0] = '-';
    point += text_integer(out + point, scaled / scale);
    out[point++] = '.';
    for (uint64_t unit = scale / 10; unit > 0; unit /= 10) {
        out[point++] = (char)('0' + scaled / unit % 10);
    }
    out[point] = '\0';
    return point;
}

const char *text_exact_number(char *out, double value)
{
    static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};

    if (value >= 0 && value < TOO_LARGE && value == floor(value)) { /* as many are; printf() takes ten times as long */
        text_decimal(out, (uint64_t)value);
        return out;
    }
    for (unsigned i = 0; i == 0 || (i < G_N_ELEMENTS(formats) && g_ascii_strtod(out, NULL) != value); i++) {
        g_ascii_formatd(out, TEXT_NUMBER_SIZE, formats[i], value);
    }
    return out;
}
