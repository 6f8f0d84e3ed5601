/* writer.c
 * Texts one behind the other in a buffer of fixed size.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "text/writer.h"

#include "text/decimal.h"

void text_write_beginning(text_writer *w, const char *text)
{
    size_t size = (size_t)(w->end - w->to);

    while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) {
        size--;
    }
    w->to = perf_put(w->to, text, size);
    *w->to = '\0';
}

/* Where it surely fits it is written at once. */
static inline void write_number(text_writer *w, uint64_t value, size_t (*text_of)(char *out, uint64_t value))
{
    char text[TEXT_NUMBER_SIZE];

    if (w->end - w->to >= TEXT_NUMBER_SIZE) {
        w->to += text_of(w->to, value);
    } else {
        size_t size = text_of(text, value);
        text_write_bytes(w, text, size);
    }
}

void text_write_integer(text_writer *w, uint64_t value)
{
    write_number(w, value, text_integer);
}

void text_write_plain(text_writer *w, uint64_t value)
{
    write_number(w, value, text_decimal);
}
