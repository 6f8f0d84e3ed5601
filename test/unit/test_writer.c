/* test_writer.c
 * Texts one behind the other: what does not fit is cut between characters, and nothing is written behind the buffer.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include <assert.h>
#include <string.h>

#include "text/writer.h"

#define GUARD 0x55

/* What a buffer of so many bytes holds of "12,345", the text and "7". */
static void wrote(size_t size, const char *text, const char *expected)
{
    char buffer[64];

    memset(buffer, GUARD, sizeof buffer);
    text_writer w = text_writer_of(buffer, size);
    assert(*buffer == '\0');
    text_write_integer(&w, 12345);
    text_write(&w, text);
    text_write_plain(&w, 7);
    assert(strcmp(buffer, expected) == 0);
    assert(w.to == buffer + strlen(expected));
    assert(buffer[size] == GUARD);
}

int main(void)
{
    wrote(60, "", "12,3457");
    wrote(60, "ab", "12,345ab7");
    wrote(10, "ab", "12,345ab7");
    wrote(9, "ab", "12,345ab");
    wrote(8, "ab", "12,345a");
    wrote(7, "ab", "12,345");
    wrote(4, "ab", "12,");
    wrote(1, "ab", "");

    /* a character of three bytes; a shorter text still finds room behind it */
    wrote(11, "\u20ac", "12,345\u20ac7");
    wrote(10, "\u20ac", "12,345\u20ac");
    wrote(9, "\u20ac", "12,3457");
    wrote(8, "\u20ac", "12,3457");
    wrote(7, "\u20ac", "12,345");
    wrote(10, "\u20ac\u20ac", "12,345\u20ac");

    /* a byte that begins no character is none */
    wrote(8, "\x80\x80", "12,3457");

    char buffer[8];
    text_writer w = text_writer_of(buffer, sizeof buffer);
    const text_piece piece = {"abc", 2};
    text_write_piece(&w, &piece);
    assert(strcmp(buffer, "ab") == 0);
    return 0;
}
