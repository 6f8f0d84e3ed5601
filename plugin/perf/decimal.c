/* decimal.c
 * Numbers as decimal text
 *
 * printf() is slow, writes the locale's decimal point, and does not find the short text of a number. A double is
 * m * 2^e; times 10^k that is (m * 5^k) * 2^(e + k), whose first factor fits in 128 bits for every number that a counter
 * has: exact integer arithmetic, no rounding but the last.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FRACTION_BITS 53
#define DECIMALS 6
#define MILLION 1000000U
#define MAX_DIGITS 17
#define MAX_SCALE 27 /* 5^27 has 63 bits */

#define WHOLE_LIMIT 9223372036854775808.0 /* 2^63 */
#define FRACTION_LIMIT 9007199254740992.0 /* 2^53: no fraction from here on */
#define SMALLEST_EXACT 1e-10              /* below it 10^k is too large */
#define TEN_TO_17 UINT64_C(100000000000000000)

const char perf_digit_pairs[] =
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
static void put_digits(char *out, uint64_t value, unsigned count)
{
    for (; count >= 2; count -= 2, value /= 100) {
        perf_put_pair(out + count - 2, (unsigned)(value % 100));
    }
    if (count == 1) {
        *out = (char)('0' + value % 10);
    }
}

/* As many digits as it has. */
static char *put_whole(char *out, uint64_t value)
{
    uint64_t front = value / 100;
    unsigned pair = (unsigned)(value - 100 * front);

    if (front > 0) {
        out = put_whole(out, front);
    } else if (pair < 10) {
        *out = (char)('0' + pair);
        return out + 1;
    }
    return perf_put_pair(out, pair);
}

size_t perf_decimal_u64(char *out, uint64_t value)
{
    char *end = put_whole(out, value);

    *end = '\0';
    return (size_t)(end - out);
}

/* The same text with a point for whatever the locale has between the digits. */
static size_t plain_point(char *out)
{
    char *to = out;

    for (const char *from = out; *from; from++) {
        if ((*from >= '0' && *from <= '9') || *from == '-' || *from == '+' || *from == 'e') {
            *to++ = *from;
        } else if (to > out && to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
    return (size_t)(to - out);
}

static size_t put_scientific(char *out, double value)
{
    for (int digits = MAX_DIGITS - 2; digits < MAX_DIGITS; digits++) {
        double back;
        snprintf(out, PERF_DECIMAL_SIZE, "%.*g", digits, value);
        if (sscanf(out, "%lf", &back) == 1 && back == value) {
            return plain_point(out);
        }
    }
    snprintf(out, PERF_DECIMAL_SIZE, "%.*g", MAX_DIGITS, value);
    return plain_point(out);
}

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

static const uint64_t powers_of_5[MAX_SCALE + 1] = {
    1U,
    5U,
    25U,
    125U,
    625U,
    3125U,
    15625U,
    78125U,
    390625U,
    1953125U,
    9765625U,
    48828125U,
    244140625U,
    1220703125U,
    6103515625U,
    30517578125U,
    152587890625U,
    762939453125U,
    3814697265625U,
    19073486328125U,
    95367431640625U,
    476837158203125U,
    2384185791015625U,
    11920928955078125U,
    59604644775390625U,
    298023223876953125U,
    1490116119384765625U,
    7450580596923828125U,
};

/* A positive number as m * 2^-shift, m of 53 bits. */
static uint64_t take_apart(double value, int *shift)
{
    int exponent;
    double fraction = frexp(value, &exponent);

    *shift = FRACTION_BITS - exponent;
    return (uint64_t)ldexp(fraction, FRACTION_BITS);
}

/* product / 2^shift to the nearest, half to even. */
static uint64_t round_off(wide product, int shift)
{
    if (shift <= 0) {
        return (uint64_t)(product << -shift);
    }
    if (shift > 120) {
        return 0;
    }
    wide rest = product & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
    uint64_t whole = (uint64_t)(product >> shift);
    return whole + (rest > half || (rest == half && (whole & 1) != 0));
}

static uint64_t millionths(double fraction)
{
    int shift;
    uint64_t m = take_apart(fraction, &shift);

    return round_off((wide)m * powers_of_5[DECIMALS], shift - DECIMALS);
}

/* Writes digits / 10^scale, without zeros at the end. */
static size_t put_scaled(char *out, uint64_t digits, unsigned scale)
{
    for (; digits % 10 == 0 && scale > 0; digits /= 10) {
        scale--;
    }
    unsigned count = count_digits(digits);
    if (scale == 0) {
        return perf_decimal_u64(out, digits);
    }
    if (count > scale) {
        put_digits(out, digits, count);
        memmove(out + count - scale + 1, out + count - scale, scale);
        out[count - scale] = '.';
        out[count + 1] = '\0';
        return count + 1;
    }
    out[0] = '0';
    out[1] = '.';
    put_digits(out + 2, digits, scale);
    out[scale + 2] = '\0';
    return scale + 2;
}

/* What is no whole number and not too small. */
static size_t put_fraction(char *out, double value)
{
    static const uint64_t drops[] = {100, 10, 1};
    int shift;
    uint64_t m = take_apart(value, &shift);
    int scale = MAX_DIGITS - (int)floor((FRACTION_BITS - shift) * 0.30103);

    if (scale > MAX_SCALE) {
        scale = MAX_SCALE;
    }
    if (round_off((wide)m * powers_of_5[scale], shift - scale) >= TEN_TO_17) {
        scale--;
    }
    wide product = (wide)m * powers_of_5[scale];
    uint64_t all = (uint64_t)(product >> (shift - scale)), nearest = round_off(product, shift - scale);
    for (unsigned i = 0; i < sizeof drops / sizeof *drops; i++) {
        uint64_t digits = drops[i] == 1 ? nearest : (all + drops[i] / 2) / drops[i];
        wide back = (wide)(digits * drops[i]) << (shift - scale);
        wide off = back > product ? back - product : product - back;
        /* nearer than half of the way to the next double */
        if (2 * off < powers_of_5[scale] || drops[i] == 1) {
            unsigned left = (unsigned)scale - (drops[i] == 100 ? 2 : drops[i] == 10 ? 1 : 0);
            return put_scaled(out, digits, left);
        }
    }
    return 0;
}

#else

static uint64_t millionths(double fraction)
{
    return (uint64_t)nearbyint(fraction * MILLION);
}

static size_t put_fraction(char *out, double value)
{
    return put_scientific(out, value);
}

#endif

size_t perf_decimal_fixed(char *out, double value)
{
    char *at = out;

    if (signbit(value)) {
        *at++ = '-';
        value = -value;
    }
    if (value >= FRACTION_LIMIT) {
        at += snprintf(at, PERF_DECIMAL_SIZE - 16, "%.0f", value);
        memcpy(at, ".000000", 8);
        return (size_t)(at - out) + 1 + DECIMALS;
    }
    uint64_t whole = (uint64_t)value;
    uint64_t rest = value == (double)whole ? 0 : millionths(value - (double)whole);
    at += perf_decimal_u64(at, whole + (rest == MILLION));
    *at++ = '.';
    put_digits(at, rest % MILLION, DECIMALS);
    at[DECIMALS] = '\0';
    return (size_t)(at - out) + DECIMALS;
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
        return sign + put_scientific(out, value);
    }
    return sign + put_fraction(out, value);
}
