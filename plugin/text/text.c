/* text.c
 * Text of a packet as UTF-8.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "text/text.h"

#include <errno.h>

#include "perf/decimal.h"

#define ELLIPSIS "\xe2\x80\xa6"

/* Code pages of Windows. Only these are asked for: looking for a converter that does not exist costs a search of the
 * disk. */
typedef struct {
    uint32_t number;
    unsigned encoding; /* of Wireshark, 0: iconv's */
    const char *name;  /* for iconv */
} code_page;

static const code_page code_pages[] = {
    {437, ENC_CP437, NULL},
    {737, 0, "CP737"},
    {775, 0, "CP775"},
    {850, 0, "CP850"},
    {852, 0, "CP852"},
    {855, ENC_CP855, NULL},
    {857, 0, "CP857"},
    {858, 0, "CP858"},
    {860, 0, "CP860"},
    {861, 0, "CP861"},
    {862, 0, "CP862"},
    {863, 0, "CP863"},
    {864, 0, "CP864"},
    {865, 0, "CP865"},
    {866, ENC_CP866, NULL},
    {869, 0, "CP869"},
    {874, ENC_ISO_8859_11, NULL},
    {932, 0, "CP932"},
    {936, ENC_GB18030, NULL},
    {949, 0, "CP949"},
    {950, 0, "CP950"},
    {1250, ENC_WINDOWS_1250, NULL},
    {1251, ENC_WINDOWS_1251, NULL},
    {1252, ENC_WINDOWS_1252, NULL},
    {1253, 0, "CP1253"},
    {1254, 0, "CP1254"},
    {1255, 0, "CP1255"},
    {1256, 0, "CP1256"},
    {1257, 0, "CP1257"},
    {1258, 0, "CP1258"},
    {1361, 0, "CP1361"},
    {20127, 0, "US-ASCII"},
    {20866, 0, "KOI8-R"},
    {20932, 0, "EUC-JP"},
    {21866, 0, "KOI8-U"},
    {28591, ENC_ISO_8859_1, NULL},
    {28592, ENC_ISO_8859_2, NULL},
    {28593, ENC_ISO_8859_3, NULL},
    {28594, ENC_ISO_8859_4, NULL},
    {28595, ENC_ISO_8859_5, NULL},
    {28596, ENC_ISO_8859_6, NULL},
    {28597, ENC_ISO_8859_7, NULL},
    {28598, ENC_ISO_8859_8, NULL},
    {28599, ENC_ISO_8859_9, NULL},
    {28603, ENC_ISO_8859_13, NULL},
    {28605, ENC_ISO_8859_15, NULL},
    {51932, 0, "EUC-JP"},
    {51949, ENC_EUC_KR, NULL},
    {54936, ENC_GB18030, NULL},
    {65001, ENC_UTF_8, NULL},
};

/* Of each row, NULL as long as it was not needed, (GIConv)-1 if there is none. Lives as long as the program. */
static GIConv converters[array_length(code_pages)];

static const code_page *find_code_page(uint32_t number)
{
    for (unsigned i = 0; i < array_length(code_pages); i++) {
        if (code_pages[i].number == number) {
            return &code_pages[i];
        }
    }
    return NULL;
}

static GIConv converter_of(const code_page *page)
{
    GIConv *converter = &converters[page - code_pages];

    if (*converter == NULL) {
        *converter = g_iconv_open("UTF-8", page->name);
    }
    return *converter;
}

bool text_code_page_known(uint32_t code_page_number)
{
    const code_page *page = find_code_page(code_page_number);

    return text_is_wide(code_page_number) || (page && (page->name == NULL || converter_of(page) != (GIConv)-1));
}

static void append_byte(wmem_strbuf_t *text, uint8_t byte)
{
    if (byte >= 0x80) {
        wmem_strbuf_append_printf(text, "\\x%02x", byte);
    } else {
        wmem_strbuf_append_c(text, (char)byte);
    }
}

/* One step of iconv; without `from` what it still holds back (a letter that waits for its marks). True if it stopped at
 * a byte that it cannot convert. */
static bool append_step(wmem_strbuf_t *text, GIConv convert, char **from, size_t *left)
{
    char piece[256];
    char *to = piece;
    size_t room = sizeof piece - 1;
    bool stopped = g_iconv(convert, from, left, &to, &room) == (size_t)-1 && errno != E2BIG;

    *to = '\0';
    wmem_strbuf_append(text, piece);
    return stopped;
}

/* What iconv cannot convert is shown byte by byte; a character that was cut off at the end as well. */
static void append_converted(wmem_strbuf_t *text, GIConv convert, const uint8_t *bytes, size_t left)
{
    char *from = (char *)bytes;

    while (left > 0) {
        if (append_step(text, convert, &from, &left) && left > 0) {
            append_step(text, convert, NULL, NULL);
            append_byte(text, (uint8_t)*from++);
            left--;
        }
    }
    append_step(text, convert, NULL, NULL);
}

static const char *convert_bytes(wmem_allocator_t *pool, tvbuff_t *tvb, uint32_t offset, uint32_t size,
                                 const code_page *page)
{
    const uint8_t *bytes = tvb_get_ptr(tvb, (int)offset, (int)size);
    wmem_strbuf_t *text = wmem_strbuf_new(pool, "");
    GIConv by = page ? converter_of(page) : (GIConv)-1;

    if (by != (GIConv)-1) {
        append_converted(text, by, bytes, size);
    } else {
        for (uint32_t i = 0; i < size; i++) {
            append_byte(text, bytes[i]);
        }
    }
    return wmem_strbuf_finalize(text);
}

/* Bytes of the first `most` characters of UTF-16: a surrogate pair is one. */
static uint32_t wide_size(tvbuff_t *tvb, uint32_t offset, uint32_t size, uint32_t most, unsigned byte_order)
{
    bool high = false;
    uint32_t at = 0;

    for (uint32_t count = 0; at + 2 <= size; at += 2) {
        unsigned unit = tvb_get_uint16(tvb, (int)(offset + at), byte_order);
        bool second = high && (unit & 0xFC00) == 0xDC00;
        if (!second && count++ == most) {
            break;
        }
        high = !second && (unit & 0xFC00) == 0xD800;
    }
    return at;
}

/* Most names are ASCII, and Wireshark's converter takes a hundred instructions for a character. NULL where `units` are
 * more than that, or hold a zero. */
static const char *ascii_of_wide(wmem_allocator_t *pool, const uint8_t *bytes, uint32_t units, unsigned byte_order)
{
    const uint8_t *low = bytes + (byte_order == ENC_LITTLE_ENDIAN ? 0 : 1);
    const uint8_t *high = bytes + (byte_order == ENC_LITTLE_ENDIAN ? 1 : 0);
    char *text = wmem_alloc(pool, (size_t)units + 1);
    uint32_t i = 0;

    while (i < units && high[2 * i] == 0 && low[2 * i] > 0 && low[2 * i] < 0x80) {
        text[i] = (char)low[2 * i];
        i++;
    }
    if (i < units) {
        wmem_free(pool, text);
        return NULL;
    }
    text[i] = '\0';
    return text;
}

const char *text_get(wmem_allocator_t *pool, tvbuff_t *tvb, uint32_t offset, uint32_t size, uint32_t code_page_number,
                     unsigned byte_order, uint32_t most)
{
    bool wide = text_is_wide(code_page_number);
    const code_page *page = wide ? NULL : find_code_page(code_page_number);
    uint32_t whole = wide ? size & ~1U : size;
    const char *text = NULL;

    if (whole / (wide ? 2 : 1) > most) {
        size = wide ? wide_size(tvb, offset, size, most, byte_order) : most;
    }
    bool cut = size < whole;
    if (wide && size > 0 && size % 2 == 0) {
        text = ascii_of_wide(pool, tvb_get_ptr(tvb, (int)offset, (int)size), size / 2, byte_order);
    }
    if (wide && text == NULL) {
        text = (const char *)tvb_get_string_enc(pool, tvb, (int)offset, (int)size, ENC_UTF_16 | byte_order);
    } else if (page && page->encoding != 0) {
        text = (const char *)tvb_get_string_enc(pool, tvb, (int)offset, (int)size, page->encoding);
    } else if (!wide) {
        text = convert_bytes(pool, tvb, offset, size, page);
    }
    return cut ? wmem_strconcat(pool, text, ELLIPSIS, NULL) : text;
}

uint32_t text_utf16_size(tvbuff_t *tvb, uint32_t offset, uint32_t room)
{
    uint32_t size = 0;

    while (size + 1 < room && tvb_get_uint16(tvb, offset + size, ENC_LITTLE_ENDIAN) != 0) {
        size += 2;
    }
    return size;
}

/* --- Few words ----------------------------------------------------------------------------------------------------- */

/* Characters of a text in the Info column. */
#define MAX_SHORT 80

const char *text_counted(wmem_allocator_t *pool, uint64_t count, const char *word)
{
    size_t word_size = strlen(word);
    char *text = wmem_alloc(pool, PERF_NUMBER_TEXT_SIZE + word_size + 3);
    char *end = text + perf_decimal_u64(text, count);

    *end++ = ' ';
    memcpy(end, word, word_size);
    memcpy(end + word_size, count == 1 ? "" : "s", count == 1 ? 1 : 2);
    return text;
}

/* Looks at no more of the text than is shown. */
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

const char *text_short(wmem_allocator_t *pool, const char *text)
{
    return text_cut(pool, text, MAX_SHORT);
}

/* The control character (of ASCII or above it) or directional mark that a text begins with; 0 for none. */
static unsigned unsafe_character(const uint8_t *at, size_t left)
{
    if (at[0] < ' ' || at[0] == 0x7F) {
        return at[0];
    }
    if (at[0] == 0xC2 && left > 1 && at[1] < 0xA0) {
        return at[1];
    }
    if (at[0] == 0xE2 && left > 2 && (at[1] == 0x80 || at[1] == 0x81)) {
        unsigned mark = 0x2000 + ((at[1] & 0x3FU) << 6) + (at[2] & 0x3FU);
        bool is_direction = (mark >= 0x202A && mark <= 0x202E) || (mark >= 0x2066 && mark <= 0x2069);
        return is_direction ? mark : 0;
    }
    return 0;
}

void text_escape(GString *to, const char *text, size_t size, bool has_lines)
{
    const char *end = text + size;

    while (text < end) {
        unsigned found = unsafe_character((const uint8_t *)text, (size_t)(end - text));
        if (found == 0 || (has_lines && (found == '\n' || (found == '\r' && text + 1 < end && text[1] == '\n')))) {
            g_string_append_c(to, *text++);
        } else {
            g_string_append_printf(to, found < 0x80 ? "\\x%02x" : "\\u%04x", found);
            text += found < 0x80 ? 1 : found < 0x800 ? 2 : 3;
        }
    }
}
