/* numbers.h
 * Numbers as decimal text with a point, whatever the locale is.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest text, with its terminator. */
#define TEXT_NUMBER_SIZE 40

/* Writes a number without commas: "1407264450854600263". Needs: TEXT_NUMBER_SIZE bytes at `out`. Returns the length. */
size_t text_decimal(char *out, uint64_t value);

/* Writes a number for people: "1,407,264,450,854,600,263". Needs: TEXT_NUMBER_SIZE bytes at `out`. Returns the length. */
size_t text_integer(char *out, uint64_t value);

/* Writes a number for people: one decimal from 10 on ("1,024.0", "97.9"), below that three significant digits ("1.50", "0.00125"); an exponent
 * from 1e15 on ("1e+20") and below 1e-7 ("1.2e-08"). Needs: TEXT_NUMBER_SIZE bytes at `out`; a finite number. Returns the length. */
size_t text_number(char *out, double value);

/* Writes a number for programs: in 15 significant digits, or 16 or 17 if fewer do not read back as the same number; "nan", "inf". Needs: TEXT_NUMBER_SIZE bytes at `out`. Returns `out`. */
const char *text_exact_number(char *out, double value);
