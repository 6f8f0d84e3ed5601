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

/* Write a number and return the length of the text. "1407264450854600263" */
size_t text_decimal(char *out, uint64_t value);

/* "1,407,264,450,854,600,263" */
size_t text_integer(char *out, uint64_t value);

/* Writes a finite number: one decimal from 10 on ("1,024.0", "97.9"), below that three significant digits ("1.50", "0.00125"), without
 * decimals where a double has none left; "1.2e-08" and "1e+20" beyond. */
size_t text_number(char *out, double value);
