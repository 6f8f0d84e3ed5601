/* decimal.h
 * Numbers as decimal text, with a point whatever the locale is
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PCQ_PERF_DECIMAL_H
#define PCQ_PERF_DECIMAL_H

#include "perf/bytes.h"

#include <stddef.h>
#include <stdint.h>

/* The longest text of each of these, with its terminator. */
#define PERF_DECIMAL_SIZE 330

/* "00" to "99". */
extern const char perf_digit_pairs[];

/* The two digits of a number below 100; returns where the next go. */
static inline char *perf_put_pair(char *to, unsigned pair)
{
    return perf_put(to, perf_digit_pairs + 2 * pair, 2);
}

/* All return the length of the text. They take finite numbers. */
size_t perf_decimal_u64(char *out, uint64_t value);

/* With six decimals, rounded as printf("%.6f") does: what typeperf writes. */
size_t perf_decimal_fixed(char *out, double value);

/* So that reading it gives the same double: 12.4, 0.30000000000000004, 77, 1e-12. In at most 17 digits, and in 15 if they
 * are enough; whole numbers below 2^63 in all their digits. */
size_t perf_decimal_exact(char *out, double value);

/* What printf() wrote, with a point for whatever the locale has between the digits. */
size_t perf_plain_point(char *text);

#endif /* PCQ_PERF_DECIMAL_H */
