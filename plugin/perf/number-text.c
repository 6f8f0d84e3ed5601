/* number-text.c
 * Numbers for people.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/number-text.h"

#include "perf/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* From here on a double's decimals are noise, and its tenths do not fit 64 bits. */
#define TOO_LARGE 1e15

/* Below this the zeros behind the point are more than anybody counts. */
#define TOO_SMALL 1e-7

/* A number below 1,000. */
static char *put_group(char *to, unsigned group)
{
    if (group < 10) {
        *to = (char)('0' + group);
        return to + 1;
    }
    if (group >= 100) {
        *to++ = (char)('0' + group / 100);
    }
    return perf_put_pair(to, group % 100);
}

/* In groups of three; not terminated. */
static char *put_groups(char *to, uint64_t value)
{
    if (value < 1000) {
        return put_group(to, (unsigned)value);
    }
    unsigned last = (unsigned)(value % 1000);
    to = put_groups(to, value / 1000);
    *to++ = ',';
    *to++ = (char)('0' + last / 100);
    return perf_put_pair(to, last % 100);
}

unsigned perf_integer_text(uint64_t value, char *text)
{
    char *end = put_groups(text, value);

    *end = '\0';
    return (unsigned)(end - text);
}

unsigned perf_plain_text(uint64_t value, char *text)
{
    return (unsigned)perf_decimal_u64(text, value);
}

/* Decimals that leave three significant digits. */
static unsigned decimals_of(double size)
{
    unsigned decimals = 1;

    for (double limit = 10; decimals < 9 && size < limit; limit /= 10) {
        decimals++;
    }
    return decimals;
}

static unsigned fixed_text(double size, unsigned decimals, char *text)
{
    static const unsigned powers_of_10[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    unsigned scale = powers_of_10[decimals];
    uint64_t scaled = (uint64_t)(size * scale + 0.5);
    unsigned rest = (unsigned)(scaled % scale);
    char *point = put_groups(text, scaled / scale);

    *point = '.';
    for (unsigned i = decimals; i > 0; i--) {
        point[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    point[decimals + 1] = '\0';
    return (unsigned)(point + decimals + 1 - text);
}

unsigned perf_number_text(double value, char *text)
{
    double size = fabs(value);
    unsigned sign = value < 0;

    if (size == 0) {
        memcpy(text, "0.0", 4);
        return 3;
    }
    if (!(size < TOO_LARGE) || size < TOO_SMALL) {
        snprintf(text, PERF_NUMBER_TEXT_SIZE, size < 1 ? "%.2g" : "%.15g", value);
        return (unsigned)perf_plain_point(text);
    }
    text[0] = '-';
    /* 9.996 is 10.0, not 10.00 */
    unsigned decimals = decimals_of(size + size * 0.0005);
    return sign + fixed_text(size, decimals, text + sign);
}
