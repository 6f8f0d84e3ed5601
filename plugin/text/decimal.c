/* decimal.c
 * Numbers as decimal text, for programs and for people
 *
 * printf() writes the locale's decimal point, and takes 950 ns to find the shortest text of a result that this finds in 64: that
 * is the difference between a million rows of the long form in a second and two. A double times a power
 * of ten that is a double too, and what fma() says that the product was rounded by, are exact together.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "text/decimal.h"

#include "perf/bytes.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRACTION_BITS 53
#define MAX_DIGITS 17
#define WHOLE_LIMIT 9223372036854775808.0 /* 2^63 */
#define FRACTION_LIMIT 9007199254740992.0 /* 2^53: no fraction from here on */
#define SMALLEST_EXACT 1e-5               /* below it the power of ten for 17 digits is no double */
#define TEN_TO_17 1e17

static const double powers_of_10[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
    "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
    "92939495969798990";

static unsigned count_digits(uint64_t value)
{
    unsigned count = 1;

    for (; value >= 10000; value /= 10000) {
        count += 4;
    }
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Exactly `count` digits, with zeros in front. */
static inline void put_digits(char *out, uint64_t value, unsigned count)
{
    for (; count >= 2; count -= 2, value /= 100) {
        memcpy(out + count - 2, digit_pairs + 2 * (value % 100), 2);
    }
    if (count == 1) {
        *out = (char)('0' + value);
    }
}

/* As many digits as it has; not terminated. */
static char *put_whole(char *out, uint64_t value)
{
    char digits[20], *end = digits + sizeof digits, *first = end;

    for (; value >= 10; value /= 100) {
        first -= 2;
        memcpy(first, digit_pairs + 2 * (value % 100), 2);
    }
    if (value > 0 || first == end) {
        *--first = (char)('0' + value);
    }
    return perf_put(out, first, (size_t)(end - first));
}

size_t perf_decimal_u64(char *out, uint64_t value)
{
    char *end = put_whole(out, value);

    *end = '\0';
    return (size_t)(end - out);
}

size_t perf_plain_point(char *text)
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

/* What is too small or too large for put_fraction(). */
static size_t put_printed(char *out, double value)
{
    int digits = MAX_DIGITS - 2;

    do {
        snprintf(out, PERF_DECIMAL_SIZE, "%.*g", digits, value);
    } while (digits++ < MAX_DIGITS && strtod(out, NULL) != value);
    return perf_plain_point(out);
}

/* Writes digits / 10^scale, without zeros at the end. */
static size_t put_scaled(char *out, uint64_t digits, unsigned scale)
{
    for (; digits % 10 == 0 && scale > 0; digits /= 10) {
        scale--;
    }
    unsigned count = count_digits(digits);
    count = count > scale ? count : scale + 1; /* a zero before the point */
    put_digits(out, digits, count);
    if (scale > 0) {
        char *point = out + count++ - scale;
        memmove(point + 1, point, scale);
        *point = '.';
    }
    out[count] = '\0';
    return count;
}

/* What is no whole number and has at least 17 digits in 22 decimals: the first of 15, 16 and 17 digits that is nearer than
 * half of the way to the next double. */
static size_t put_fraction(char *out, double value)
{
    static const unsigned drops[] = {100, 10, 1};
    int exponent, scale = MAX_DIGITS - 1 - (int)floor(log10(value));

    if (value * powers_of_10[scale] >= TEN_TO_17) {
        scale--;
    }
    frexp(value, &exponent);
    double power = powers_of_10[scale], product = value * power, rest = fma(value, power, -product);
    double half_way = ldexp(power, exponent - FRACTION_BITS - 1);
    uint64_t digits = (uint64_t)product;
    uint64_t all = digits + (uint64_t)(int64_t)floor(rest), nearest = digits + (uint64_t)(int64_t)nearbyint(rest);

    for (unsigned i = 0; i + 1 < sizeof drops / sizeof *drops; i++) {
        uint64_t fewer = (all + drops[i] / 2) / drops[i];
        if (fabs((double)(int64_t)(fewer * drops[i] - digits) - rest) < half_way) {
            return put_scaled(out, fewer, (unsigned)scale - 2 + i);
        }
    }
    return put_scaled(out, nearest, (unsigned)scale);
}

size_t perf_decimal_fixed(char *out, double value)
{
    snprintf(out, PERF_DECIMAL_SIZE, "%.6f", value);
    return perf_plain_point(out);
}

size_t perf_decimal_exact(char *out, double value)
{
    size_t sign = value < 0;

    if (sign) {
        *out++ = '-';
        value = -value;
    }
    if (value < WHOLE_LIMIT && value == (double)(uint64_t)value) {
        return sign + perf_decimal_u64(out, (uint64_t)value);
    }
    if (value < SMALLEST_EXACT || value >= FRACTION_LIMIT) {
        return sign + put_printed(out, value);
    }
    return sign + put_fraction(out, value);
}

/* --- For people -------------------------------------------------------------------------------------------------- */

/* From here on a double's decimals are noise, and its tenths do not fit 64 bits. */
#define TOO_LARGE 1e15

/* Below this the zeros behind the point are more than anybody counts. */
#define TOO_SMALL 1e-7

/* In groups of three; not terminated. */
static char *put_groups(char *to, uint64_t value)
{
    if (value < 1000) {
        return put_whole(to, value);
    }
    unsigned last = (unsigned)(value % 1000);
    to = put_groups(to, value / 1000);
    *to++ = ',';
    *to++ = (char)('0' + last / 100);
    put_digits(to, last % 100, 2);
    return to + 2;
}

size_t perf_integer_text(char *out, uint64_t value)
{
    char *end = put_groups(out, value);

    *end = '\0';
    return (size_t)(end - out);
}

static size_t fixed_text(char *out, double size, unsigned decimals)
{
    uint64_t scale = (uint64_t)powers_of_10[decimals];
    uint64_t scaled = (uint64_t)(size * powers_of_10[decimals] + 0.5);
    char *point = put_groups(out, scaled / scale);

    *point = '.';
    put_digits(point + 1, scaled % scale, decimals);
    point[decimals + 1] = '\0';
    return (size_t)(point + decimals + 1 - out);
}

size_t perf_number_text(char *out, double value)
{
    double size = fabs(value);
    size_t sign = value < 0;
    unsigned decimals = 1;

    if (size == 0) {
        memcpy(out, "0.0", 4);
        return 3;
    }
    if (!(size < TOO_LARGE) || size < TOO_SMALL) {
        snprintf(out, PERF_NUMBER_TEXT_SIZE, size < 1 ? "%.2g" : "%.15g", value);
        return perf_plain_point(out);
    }
    out[0] = '-';
    /* three significant digits; 9.996 is 10.0, not 10.00 */
    for (double limit = 10; decimals < 9 && size + size * 0.0005 < limit; limit /= 10) {
        decimals++;
    }
    return sign + fixed_text(out + sign, size, decimals);
}
