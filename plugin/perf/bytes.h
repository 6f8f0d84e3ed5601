/* bytes.h
 * Unaligned little- and big-endian reads, sizes and sums, for the parts that know no Wireshark.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t perf_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t perf_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Written out byte by byte: compilers make one load of it, but not of two halves. */
static inline uint64_t perf_le64(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static inline uint32_t perf_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t perf_be64(const uint8_t *p)
{
    return (uint64_t)perf_be32(p) << 32 | (uint64_t)perf_be32(p + 4);
}

/* True for a code page that says UTF-16 (CodePage of PERF_OBJECT_TYPE, winperf.h). */
static inline bool perf_is_utf16(uint32_t code_page)
{
    return code_page == 0 || code_page == 1200;
}

/* Returns the bytes of a UTF-16 text before its terminator; without one, of all whole units in `room` bytes. */
static inline uint32_t perf_utf16_size(const uint8_t *text, uint32_t room)
{
    uint32_t n = 0;

    while (room - n >= 2 && (text[n] != 0 || text[n + 1] != 0)) {
        n += 2;
    }
    return n;
}

/* Returns the bytes of a text before its terminator; without one, of all whole characters in `room` bytes. */
static inline uint32_t perf_text_size(const uint8_t *text, uint32_t room, bool is_utf16)
{
    const uint8_t *end = is_utf16 || room == 0 ? NULL : memchr(text, 0, room);

    return is_utf16 ? perf_utf16_size(text, room) : end ? (uint32_t)(end - text) : room;
}

/* True if a text that should be UTF-16 has printable ASCII before its terminator, as Samba sends it, mostly. Up to 4 such bytes are taken for UTF-16
 * if a terminator of that follows them; without one, a single byte is if `room` is even. */
static inline bool perf_is_ascii_text(const uint8_t *text, uint32_t room)
{
    uint32_t size = perf_text_size(text, room, /* is_utf16 */ false), printable = 0;
    uint32_t ambiguous = perf_utf16_size(text, room) + 1 < room ? 4 : room % 2 == 0 ? 1 : 0;

    while (printable < size && text[printable] >= ' ' && text[printable] <= '~') {
        printable++;
    }
    return size > ambiguous && printable == size;
}

/* Compares two uint32_t, or structures that begin with one, for qsort() and bsearch(), ascending. */
static inline int perf_compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Rounds a size up to a multiple of 8. Returns it as it is if that takes more than 32 bits. */
static inline uint32_t perf_align8(uint32_t size)
{
    return size <= UINT32_MAX - 7 ? (size + 7) & ~7U : size;
}

/* Returns the sum; UINT32_MAX if it takes more than 32 bits. */
static inline uint32_t perf_add_u32(uint32_t a, uint32_t b)
{
    return a <= UINT32_MAX - b ? a + b : UINT32_MAX;
}
