/* test_number_text.c
 * Numbers for people and for programs: expected texts are written out by hand.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/numbers.h"

static void number(double value, const char *expected)
{
    char text[TEXT_NUMBER_SIZE];
    unsigned length = text_number(text, value);

    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "%.17g: expected %s, got %s\n", value, expected, text);
    }
    assert(strcmp(text, expected) == 0);
    assert(length == strlen(text));
}

static void integer(uint64_t value, const char *plain, const char *grouped)
{
    char text[TEXT_NUMBER_SIZE];

    assert(text_decimal(text, value) == strlen(plain) && strcmp(text, plain) == 0);
    assert(text_integer(text, value) == strlen(grouped) && strcmp(text, grouped) == 0);
}

static void exact(double value, const char *expected)
{
    char text[TEXT_NUMBER_SIZE];

    assert(strcmp(text_exact_number(text, value), expected) == 0);
}

int main(void)
{
    integer(0, "0", "0");
    integer(999, "999", "999");
    integer(1000, "1000", "1,000");
    integer(1407264450854600263u, "1407264450854600263", "1,407,264,450,854,600,263");
    integer(UINT64_MAX, "18446744073709551615", "18,446,744,073,709,551,615");

    number(0, "0.0");
    number(-0.0, "0.0");
    number(12.4, "12.4");
    number(97.9157675705941, "97.9");
    number(100, "100.0");
    number(1024, "1,024.0");
    number(1234567.891, "1,234,567.9");
    number(-14.26, "-14.3");

    /* three significant digits below 10 */
    number(1.5, "1.50");
    number(9.994, "9.99");
    number(9.996, "10.0");
    number(9.995002498750624, "10.0"); /* where three digits begin to be four */
    number(99.96, "100.0");
    number(0.25, "0.250");
    number(0.0125, "0.0125");
    number(0.00031, "0.000310");
    number(0.0009996, "0.00100");
    number(0.0000012, "0.00000120");

    /* beyond what digits can tell */
    number(1e-9, "1e-09");
    number(999999999999999.0, "999,999,999,999,999.0");
    number(1e15, "1e+15");
    number(18446744073709551616.0, "1.84467440737096e+19");
    number(1e300, "1e+300");
    number(-1e300, "-1e+300");
    number(INFINITY, "inf");

    exact(0, "0");
    exact(-0.0, "0");
    exact(999999999999999, "999999999999999");
    exact(1e15, "1e+15");
    exact(0.1, "0.1");
    exact(-1.0 / 3, "-0.3333333333333333");
    exact(0.1 + 0.2, "0.30000000000000004");
    exact(-2.2250738585072014e-308, "-2.2250738585072014e-308");
    return 0;
}
