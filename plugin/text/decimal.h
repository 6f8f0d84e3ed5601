/* decimal.h
 * Numbers as decimal text, with a point whatever the locale is; for people as many digits as somebody uses, in groups of three
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stddef.h>
#include <stdint.h>

/* The longest text of each of these, with its terminator. */
#define PERF_DECIMAL_SIZE 330

/* All return the length of the text. They take finite numbers. */
size_t perf_decimal_u64(char *out, uint64_t value);

/* With six decimals, rounded as printf("%.6f") does: what typeperf writes. */
size_t perf_decimal_fixed(char *out, double value);

/* So that reading it gives the same double: 12.4, 0.30000000000000004, 77, 1e-12. In at most 17 digits, and in 15 if they
 * are enough; whole numbers below 2^63 in all their digits. */
size_t perf_decimal_exact(char *out, double value);

/* What printf() wrote, with a point for whatever the locale has between the digits. */
size_t perf_plain_point(char *text);

/* --- For people --- */

/* Room for any of the texts, in bytes, with terminator. */
#define PERF_NUMBER_TEXT_SIZE 40

/* "1,407,264,450,854,600,263". */
size_t perf_integer_text(char *out, uint64_t value);

/* One decimal from 10 on ("1,024.0", "97.9"), below that three significant digits ("1.50", "0.00125"), without decimals
 * where a double has none left; "1.2e-08" and "1e+20" beyond. */
size_t perf_number_text(char *out, double value);
