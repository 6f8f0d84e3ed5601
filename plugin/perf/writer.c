/* writer.c
 * Texts one behind the other in a buffer of fixed size.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/writer.h"

#include "perf/number-text.h"

void perf_write_beginning(perf_writer *w, const char *text)
{
    size_t size = (size_t)(w->end - w->to);

    while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) {
        size--;
    }
    w->to = perf_put(w->to, text, size);
    *w->to = '\0';
}

void perf_write_integer(perf_writer *w, uint64_t value)
{
    char text[PERF_NUMBER_TEXT_SIZE];

    if (w->end - w->to >= PERF_NUMBER_TEXT_SIZE) {
        w->to += perf_integer_text(value, w->to);
    } else {
        size_t size = perf_integer_text(value, text);
        perf_write_bytes(w, text, size);
    }
}

void perf_write_plain(perf_writer *w, uint64_t value)
{
    char text[PERF_NUMBER_TEXT_SIZE];

    if (w->end - w->to >= PERF_NUMBER_TEXT_SIZE) {
        w->to += perf_plain_text(value, w->to);
    } else {
        size_t size = perf_plain_text(value, text);
        perf_write_bytes(w, text, size);
    }
}
