/* number-text.h
 * Numbers for people: as many digits as somebody uses, in groups of three.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PERF_NUMBER_TEXT_H
#define PCQ_PERF_NUMBER_TEXT_H

#include <stdint.h>

/* Room for any of the texts, in bytes, with terminator. */
#define PERF_NUMBER_TEXT_SIZE 40

/* "1,407,264,450,854,600,263". Returns the length in bytes. */
unsigned perf_integer_text(uint64_t value, char *text);

/* "1407264450854600263". The same. */
unsigned perf_plain_text(uint64_t value, char *text);

/* One decimal from 10 on ("1,024.0", "97.9"), below that three significant digits ("1.50", "0.00125"), without decimals
 * where a double has none left; "1.2e-08" and "1e+20" beyond. Returns the length in bytes. */
unsigned perf_number_text(double value, char *text);

#endif
