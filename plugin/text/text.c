/* text.c
 * Text of a packet as UTF-8.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "text/text.h"

#include "perf/bytes.h"
#include "text/numbers.h"

/* Converts bytes of a code page to UTF-8. If the page is unknown, or a byte is no character of it, all bytes that are ASCII stay, and the others
 * become "\x8f"; so does an incomplete character at the end. `bytes`: NULL if `size` is 0. */
static const char *format_bytes(wmem_allocator_t *pool, const uint8_t *bytes, uint32_t size, uint32_t code_page)
{
    char name[16], *begin = NULL;
    size_t taken = 0;

    snprintf(name, sizeof name, "CP%u", code_page);
    if (size > 0) {
        begin = g_convert((const char *)bytes, (gssize)size, "UTF-8",
                          code_page == TEXT_CODE_PAGE_ASCII  ? "ASCII"
                          : code_page == TEXT_CODE_PAGE_UTF8 ? "UTF-8"
                                                             : name,
                          &taken, NULL, NULL);
    }
    wmem_strbuf_t *text = wmem_strbuf_new(pool, begin);
    for (size_t i = begin ? taken : 0; i < size; i++) {
        wmem_strbuf_append_printf(text, bytes[i] < 0x80 ? "%c" : "\\x%02x", bytes[i]);
    }
    g_free(begin);
    return wmem_strbuf_finalize(text);
}

/* Bytes, in UTF-16, UTF-8 and GB18030 */
#define LONGEST_CHARACTER 4

const char *text_get(wmem_allocator_t *pool, tvbuff_t *tvb, uint32_t offset, uint32_t size, uint32_t code_page,
                     unsigned byte_order, uint32_t most)
{
    size = (uint32_t)MIN(size, LONGEST_CHARACTER * ((uint64_t)most + 1)); /* one more, to see whether it is cut */
    const char *text =
        perf_is_utf16(code_page)
            ? (const char *)tvb_get_string_enc(pool, tvb, (int)offset, (int)size, ENC_UTF_16 | byte_order)
            : format_bytes(pool, tvb_get_ptr(tvb, (int)offset, (int)size), size, code_page);
    return text_cut(pool, text, most);
}

uint32_t text_utf16_size(tvbuff_t *tvb, uint32_t offset, uint32_t room)
{
    return room > 0 ? perf_utf16_size(tvb_get_ptr(tvb, (int)offset, (int)room), room) : 0;
}

const char *text_counted(wmem_allocator_t *pool, uint64_t count, const char *word)
{
    char number[TEXT_NUMBER_SIZE];

    text_decimal(number, count);
    return wmem_strconcat(pool, number, " ", word, count == 1 ? "" : "s", NULL);
}

const char *text_cut(wmem_allocator_t *pool, const char *text, unsigned characters)
{
    const char *end = text;

    if (memchr(text, '\0', characters + 1)) {
        return text; /* a character has a byte at least */
    }
    for (unsigned i = 0; i < characters && *end; i++) {
        do {
            end++;
        } while ((*end & 0xC0) == 0x80);
    }
    return *end ? wmem_strdup_printf(pool, "%.*s\xe2\x80\xa6", (int)(end - text), text) : text;
}

const char *text_escaped(wmem_allocator_t *pool, const char *text)
{
    /* bytes that such characters are, or begin with in UTF-8 */
    static const char odd[] =
        "\1\2\3\4\5\6\a\b\t\n\v\f\r\16\17\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37\177\302\342";

    return text[strcspn(text, odd)] == '\0' ? text : ws_format_text(pool, text, strlen(text));
}

const char *text_marked(wmem_allocator_t *pool, const char *text, bool assumed)
{
    return assumed ? wmem_strconcat(pool, text, " (assumed)", NULL) : text;
}

void text_blank_controls(char *text)
{
    for (char *next; *text; text = next) {
        next = g_utf8_next_char(text);
        if (*text != '\n' && !g_unichar_isprint(g_utf8_get_char(text))) {
            memset(text, ' ', (size_t)(next - text));
        }
    }
}
