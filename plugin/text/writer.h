/* writer.h
 * Texts one behind the other in a buffer of fixed size, as printf() puts them together in several times as long.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/bytes.h"

#include <assert.h>

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
