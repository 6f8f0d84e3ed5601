/* writer.h
 * Numbers as decimal text with a point, whatever the locale is; and texts one behind the other in a buffer of fixed size, as printf()
 * puts them together in several times as long.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/bytes.h"

#include <assert.h>

/* --- Numbers ---------------------------------------------------------------------------------------------------- */

/* Room for any of the texts, in bytes, with terminator. */
#define TEXT_NUMBER_SIZE 40

/* All return the length of the text. "1407264450854600263" */
size_t text_decimal(char *out, uint64_t value);

/* "1,407,264,450,854,600,263" */
size_t text_integer(char *out, uint64_t value);

/* Of a finite number: one decimal from 10 on ("1,024.0", "97.9"), below that three significant digits ("1.50", "0.00125"), without
 * decimals where a double has none left; "1.2e-08" and "1e+20" beyond. */
size_t text_number(char *out, double value);

/* What printf() wrote, with a point for whatever the locale has between the digits. */
size_t text_plain_point(char *text);

/* --- Texts ------------------------------------------------------------------------------------------------------ */

/* A text and its bytes without the terminator. */
typedef struct text_piece {
    const char *text;
    size_t size;
} text_piece;

/* The text is terminated at all times. What does not fit any more is cut, between two characters. */
typedef struct text_writer {
    char *to;
    char *end; /* the buffer's last byte, for the terminator */
} text_writer;

static inline text_writer text_writer_of(char *buffer, size_t size)
{
    assert(size > 0);
    *buffer = '\0';
    return (text_writer){buffer, buffer + size - 1};
}

/* As much of a text as fits that is longer than that. */
void text_write_beginning(text_writer *w, const char *text);

static inline void text_write_bytes(text_writer *w, const char *text, size_t size)
{
    if (size > (size_t)(w->end - w->to)) {
        text_write_beginning(w, text);
        return;
    }
    w->to = perf_put(w->to, text, size);
    *w->to = '\0';
}

static inline void text_write_piece(text_writer *w, const text_piece *piece)
{
    text_write_bytes(w, piece->text, piece->size);
}

/* Of a literal the compiler knows the size. */
static inline void text_write(text_writer *w, const char *text)
{
    text_write_bytes(w, text, strlen(text));
}

/* "1,024" and "1024" */
void text_write_integer(text_writer *w, uint64_t value);
void text_write_plain(text_writer *w, uint64_t value);
