/* writer.h
 * Texts one behind the other in a buffer of fixed size, as printf() puts them together in several times as long.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/bytes.h"

#include <assert.h>

/* A text and its bytes without the terminator. */
typedef struct perf_piece {
    const char *text;
    size_t size;
} perf_piece;

/* The text is terminated at all times. What does not fit any more is cut, between two characters. */
typedef struct perf_writer {
    char *to;
    char *end; /* the buffer's last byte, for the terminator */
} perf_writer;

static inline perf_writer perf_writer_of(char *buffer, size_t size)
{
    assert(size > 0);
    *buffer = '\0';
    return (perf_writer){buffer, buffer + size - 1};
}

/* As much of a text as fits that is longer than that. */
void perf_write_beginning(perf_writer *w, const char *text);

static inline void perf_write_bytes(perf_writer *w, const char *text, size_t size)
{
    if (size > (size_t)(w->end - w->to)) {
        perf_write_beginning(w, text);
        return;
    }
    w->to = perf_put(w->to, text, size);
    *w->to = '\0';
}

static inline void perf_write_piece(perf_writer *w, const perf_piece *piece)
{
    perf_write_bytes(w, piece->text, piece->size);
}

/* Of a literal the compiler knows the size. */
static inline void perf_write(perf_writer *w, const char *text)
{
    perf_write_bytes(w, text, strlen(text));
}

/* "1,024" and "1024" */
void perf_write_integer(perf_writer *w, uint64_t value);
void perf_write_plain(perf_writer *w, uint64_t value);
