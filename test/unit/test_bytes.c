/* test_bytes.c
 * Numbers and texts in bytes, against numbers written out and texts looked through unit by unit
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/bytes.h"

#include <assert.h>
#include <stdlib.h>

static void test_numbers(void)
{
    static const uint8_t bytes[] = {0x81, 0x92, 0xA3, 0xB4, 0xC5, 0xD6, 0xE7, 0xF8};

    assert(perf_le16(bytes) == 0x9281);
    assert(perf_le32(bytes) == 0xB4A39281);
    assert(perf_le64(bytes) == 0xF8E7D6C5B4A39281);
    assert(perf_be32(bytes) == 0x8192A3B4);
    assert(perf_be64(bytes) == 0x8192A3B4C5D6E7F8);
}

/* Units of which one byte or both are 0, in each place; the text has no byte behind its room. */
static void test_utf16_size(void)
{
    static const uint8_t units[][2] = {{'a', 0}, {0, 1}, {1, 0}, {0, 0x80}, {0xFF, 0xFF}};

    for (uint32_t room = 0; room < 24; room++) {
        uint8_t *text = malloc(room + !room);
        for (uint32_t terminator = 0; terminator <= room; terminator += 2) {
            for (unsigned u = 0; u < sizeof units / sizeof *units; u++) {
                for (uint32_t i = 0; i < room; i++) {
                    text[i] = i / 2 == terminator / 2 ? 0 : units[u][i % 2];
                }
                uint32_t whole_units = room / 2 * 2;
                assert(perf_utf16_size(text, room) == (terminator < whole_units ? terminator : whole_units));
            }
        }
        free(text);
    }
}

/* A terminator of UTF-16 behind it, or an even number of bytes, make few printable bytes a text of UTF-16. */
static void test_ascii_text(void)
{
    static const struct {
        const char *bytes;
        uint32_t room;
        bool is_ascii;
    } cases[] = {
        {"Intel", 5, true},  {"Intel\0\xA5", 7, true}, {"i\0n\0", 4, false},   {"ab", 2, true},
        {"a", 1, true},      {"ab\0\0", 4, false},     {"abcd\0\0", 6, false}, {"abcde\0\0\0", 8, true},
        {"a\x7F", 2, false}, {"", 0, false},           {"caf\xE9", 4, false},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert(perf_is_ascii_text((const uint8_t *)cases[i].bytes, cases[i].room) == cases[i].is_ascii);
    }
    assert(perf_text_size((const uint8_t *)"ab\0\0", 4, false) == 2 &&
           perf_text_size((const uint8_t *)"ab", 2, false) == 2);
}

static void test_align8(void)
{
    assert(perf_align8(0) == 0 && perf_align8(1) == 8 && perf_align8(8) == 8 && perf_align8(9) == 16);
    assert(perf_align8(0xFFFFFFF1) == 0xFFFFFFF8 && perf_align8(0xFFFFFFF9) == 0xFFFFFFF9);
}

int main(void)
{
    test_numbers();
    test_utf16_size();
    test_ascii_text();
    test_align8();
    return 0;
}
