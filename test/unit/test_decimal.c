/* test_decimal.c
 * Numbers as text: against the C library, and against numbers that are known to be hard
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "text/decimal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

static void expect(const char *what, double value, const char *got, size_t length, const char *expected)
{
    if (strcmp(got, expected) == 0 && length == strlen(expected)) {
        return;
    }
    if (failures++ < 20) {
        fprintf(stderr, "%s of %.17g: %s (%zu), expected %s\n", what, value, got, length, expected);
    }
}

static void expect_fixed(double value, const char *expected)
{
    char got[PERF_DECIMAL_SIZE];
    size_t length = perf_decimal_fixed(got, value);

    expect("fixed", value, got, length, expected);
}

static void expect_exact(double value, const char *expected)
{
    char got[PERF_DECIMAL_SIZE];
    size_t length = perf_decimal_exact(got, value);

    expect("exact", value, got, length, expected);
}

/* The digits of a text without sign, point and exponent, and without zeros around them. */
static unsigned digits(const char *text)
{
    unsigned count = 0, zeros = 0;

    for (; *text && *text != 'e'; text++) {
        if (*text >= '0' && *text <= '9') {
            zeros = *text == '0' ? zeros + 1 : 0;
            count += count > 0 || *text != '0';
        }
    }
    return count > zeros ? count - zeros : 0;
}

/* Reads back as the same number, and is not longer than the shortest of 15, 16 and 17 digits. */
static void expect_round_trip(double value)
{
    char got[PERF_DECIMAL_SIZE], text[64];
    size_t length = perf_decimal_exact(got, value);

    if (strtod(got, NULL) != value || length != strlen(got)) {
        expect("round trip", value, got, length, "itself");
    }
    for (int precision = 15; precision <= 17 && value != floor(value); precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value) {
            if (digits(got) > (unsigned)precision) {
                expect("length", value, got, length, text);
            }
            break;
        }
    }
}

static uint64_t state = 88172645463325252U;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double random_double(void)
{
    double value;
    uint64_t bits = next_random();

    memcpy(&value, &bits, sizeof value);
    return isfinite(value) ? value : 1;
}

static void test_known(void)
{
    expect_exact(0, "0");
    expect_exact(-0.0, "0");
    expect_exact(77, "77");
    expect_exact(-77, "-77");
    expect_exact(12.4, "12.4");
    expect_exact(0.1 + 0.2, "0.30000000000000004");
    expect_exact(1.0 / 3, "0.3333333333333333");
    expect_exact(100.0 / 3, "33.333333333333336");
    expect_exact(0.000012345, "0.000012345");
    expect_exact(1e-10, "1e-10");
    expect_exact(5e-324, "4.94065645841247e-324");
    expect_exact(4503599627370495.5, "4503599627370495.5");
    expect_exact(9007199254740993.0, "9007199254740992");
    expect_exact(9223372036854774784.0, "9223372036854774784");
    expect_exact(18446744073709551616.0, "1.8446744073709552e+19");
    expect_exact(99999.99999999999, "99999.99999999999");
    expect_exact(0.99999999999999989, "0.9999999999999999");
}

static void test_whole_numbers(void)
{
    char got[PERF_DECIMAL_SIZE], expected[32];

    for (unsigned i = 0; i < 64; i++) {
        for (int off = -2; off <= 2; off++) {
            uint64_t value = (UINT64_C(1) << i) + (uint64_t)off;
            size_t length = perf_decimal_u64(got, value);
            snprintf(expected, sizeof expected, "%" PRIu64, value);
            expect("whole", (double)value, got, length, expected);
        }
    }
    for (uint64_t power = 1; power < UINT64_MAX / 10; power *= 10) {
        size_t length = perf_decimal_u64(got, power - 1);
        snprintf(expected, sizeof expected, "%" PRIu64, power - 1);
        expect("whole", (double)power, got, length, expected);
    }
}

static void test_many(void)
{
    static const double edges[] = {0,          -0.0,      0.5e-6,    1.5e-6,  2.5e-6,  0.0000005, 0.9999995,
                                   0.99999949, 1e15,      1e22,      DBL_MAX, DBL_MIN, -DBL_MAX,  5e-324,
                                   1e-11,      0.0000025, 0.1234565, 8191.5,  1e16,    123456.5,  999999.9999995};

    for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++) {
        expect_round_trip(edges[i]);
    }
    for (unsigned i = 0; i < 200000; i++) {
        double ratio = (double)(int64_t)next_random() / (double)(next_random() >> (i % 64));
        double value = i % 3 == 0 ? random_double() : i % 3 == 1 ? ratio : (double)(next_random() % 100000000) / 1000;
        if (isfinite(value)) {
            expect_round_trip(value);
        }
    }
    /* beside powers of ten, whose logarithms are rounded */
    for (double power = 1e-12; power < 1e18; power *= 10) {
        expect_round_trip(nextafter(power, 0));
        expect_round_trip(nextafter(power, 1e18));
    }
}

static void test_six_decimals(void)
{
    expect_fixed(0, "0.000000");
    expect_fixed(-0.0, "-0.000000");
    expect_fixed(-12.4, "-12.400000");
    expect_fixed(12.3456789, "12.345679");
    expect_fixed(1e-11, "0.000000");
    expect_fixed(1e15, "1000000000000000.000000");
    expect_fixed(1e22, "10000000000000000000000.000000");
    expect_fixed(0.0234375, "0.023438");
#ifndef _WIN32 /* whose C library rounds half up */
    expect_fixed(0.0078125, "0.007812");
#endif
}

int main(void)
{
    test_known();
    test_whole_numbers();
    test_many();
    test_six_decimals();
    return failures > 0;
}
