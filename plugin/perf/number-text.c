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

/* Of 64 bits: 18,446,744,073,709,551,615. */
#define MAX_GROUPS 6

/* A number below 1,000. */
static char *put_group(char *to, unsigned group)
{
    if (group >= 100) {
        *to++ = (char)('0' + group / 100);
    }
    if (group >= 10) {
        *to++ = (char)('0' + group / 10 % 10);
    }
    *to++ = (char)('0' + group % 10);
    return to;
}

unsigned perf_integer_text(uint64_t value, char *text)
{
    unsigned groups[MAX_GROUPS], left = 0;
    char *to = text;

    for (; value >= 1000; value /= 1000) {
        groups[left++] = (unsigned)(value % 1000);
    }
    to = put_group(to, (unsigned)value);
    while (left > 0) {
        unsigned group = groups[--left];
        to[0] = ',';
        to[1] = (char)('0' + group / 100);
        to[2] = (char)('0' + group / 10 % 10);
        to[3] = (char)('0' + group % 10);
        to += 4;
    }
    *to = '\0';
    return (unsigned)(to - text);
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
    uint64_t scale = 1;

    for (unsigned i = 0; i < decimals; i++) {
        scale *= 10;
    }
    uint64_t scaled = (uint64_t)(size * (double)scale + 0.5);
    unsigned length = perf_integer_text(scaled / scale, text);
    uint64_t rest = scaled % scale;

    text[length] = '.';
    for (unsigned i = decimals; i > 0; i--) {
        text[length + i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    text[length + decimals + 1] = '\0';
    return length + decimals + 1;
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
        return (unsigned)snprintf(text, PERF_NUMBER_TEXT_SIZE, size < 1 ? "%.2g" : "%.15g", value);
    }
    text[0] = '-';
    /* 9.996 is 10.0, not 10.00 */
    unsigned decimals = decimals_of(size + size * 0.0005);
    return sign + fixed_text(size, decimals, text + sign);
}
