/* reader.c
 * The bounded reader.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/reader.h"

#include <epan/prefs.h>

/* Kept free of a buffer's details: what follows the buffer and the layers after it must still fit. */
#define TREE_RESERVE 10000

/* Bytes; a smaller buffer cannot hold the number of structures that Wireshark 4.6 takes for a loop. */
#define OWN_DATA_SOURCE 65536

void reader_init(bounded_reader *reader, tvbuff_t *tvb, proto_tree *tree, findings_report *report, unsigned encoding)
{
    memset(reader, 0, sizeof *reader);
    reader->tvb = tvb;
    reader->tree = tree;
    reader->report = report;
    reader->encoding = encoding;
    reader->end = tvb_captured_length(tvb);
    reader->node = proto_tree_get_parent(tree);
}

bool reader_need(bounded_reader *reader, uint64_t size, const char *what)
{
    if (reader_has(reader, size)) {
        return true;
    }
    if (reader->failed) {
        return false;
    }
    reader->failed = true;
    findings_add(reader->report, reader->node, FINDING_STUB_SHORT,
                 "%s needs %" PRIu64 " bytes at offset %u, %u are left", what, size, reader->pos,
                 reader->end - reader->pos);
    return false;
}

const char *reader_field_name(int hf)
{
    return hf > 0 ? proto_registrar_get_name(hf) : "A field";
}

/* The next field, which is there: added as `hf`, and passed over. */
static void pass_field(bounded_reader *reader, int hf, uint32_t size)
{
    reader->item = NULL;
    if (hf > 0 && reader->tree) {
        reader->item = proto_tree_add_item(reader->tree, hf, reader->tvb, reader->pos, size, reader->encoding);
    }
    reader->pos += size;
}

uint32_t reader_u32(bounded_reader *reader, int hf)
{
    if (!reader_need_field(reader, 4, hf)) {
        return 0;
    }
    uint32_t value = tvb_get_uint32(reader->tvb, reader->pos, reader->encoding);
    pass_field(reader, hf, 4);
    return value;
}

uint64_t reader_u64(bounded_reader *reader, int hf)
{
    if (!reader_need_field(reader, 8, hf)) {
        return 0;
    }
    uint64_t value = tvb_get_uint64(reader->tvb, reader->pos, reader->encoding);
    pass_field(reader, hf, 8);
    return value;
}

void reader_guid_bytes(tvbuff_t *tvb, uint32_t offset, unsigned encoding, uint8_t guid[16])
{
    tvb_memcpy(tvb, guid, offset, 16);
    if (encoding == ENC_BIG_ENDIAN) { /* which turns the first three parts around */
        const uint8_t swapped[8] = {guid[3], guid[2], guid[1], guid[0], guid[5], guid[4], guid[7], guid[6]};
        memcpy(guid, swapped, sizeof swapped);
    }
}

void reader_guid(bounded_reader *reader, int hf, uint8_t guid[16])
{
    memset(guid, 0, 16);
    if (!reader_need_field(reader, 16, hf)) {
        return;
    }
    reader_guid_bytes(reader->tvb, reader->pos, reader->encoding, guid);
    pass_field(reader, hf, 16);
}

void reader_filetime(bounded_reader *reader, int hf)
{
    nstime_t when;

    if (!reader_need_field(reader, 8, hf)) {
        return;
    }
    uint64_t value = tvb_get_uint64(reader->tvb, reader->pos, reader->encoding);
    bool valid = filetime_to_nstime(&when, value);
    if (!valid) {
        nstime_set_zero(&when);
    }
    reader->item = proto_tree_add_time(reader->tree, hf, reader->tvb, reader->pos, 8, &when);
    if (!valid || value > INT64_MAX) {
        findings_add(reader->report, reader->item, FINDING_TIME, "%s: %" PRIu64 " is not a FILETIME",
                     reader_field_name(hf), value);
    }
    reader->pos += 8;
}

static bool systemtime_at(tvbuff_t *tvb, uint32_t offset, unsigned encoding, nstime_t *when)
{
    enum { YEAR, MONTH, WEEKDAY, DAY, HOUR, MINUTE, SECOND, MILLISECONDS, WORDS };
    int word[WORDS];

    for (unsigned i = 0; i < WORDS; i++) {
        word[i] = tvb_get_uint16(tvb, offset + 2 * i, encoding);
    }
    nstime_set_zero(when);
    if (word[YEAR] < 1601 || word[WEEKDAY] > 6 || word[MILLISECONDS] > 999) {
        return false;
    }
    GDateTime *date = g_date_time_new_utc(word[YEAR], word[MONTH], word[DAY], word[HOUR], word[MINUTE], word[SECOND]);
    if (date == NULL) {
        return false;
    }
    when->secs = (time_t)g_date_time_to_unix(date);
    when->nsecs = word[MILLISECONDS] * 1000000;
    g_date_time_unref(date);
    return true;
}

void reader_systemtime(bounded_reader *reader, int hf)
{
    nstime_t when;

    if (!reader_need_field(reader, 16, hf)) {
        return;
    }
    bool valid = systemtime_at(reader->tvb, reader->pos, reader->encoding, &when);
    reader->item = proto_tree_add_time(reader->tree, hf, reader->tvb, reader->pos, 16, &when);
    if (!valid) {
        findings_add(reader->report, reader->item, FINDING_TIME, "%s is not a date", reader_field_name(hf));
    }
    reader->pos += 16;
}

bool reader_check_utf16(findings_report *report, proto_item *item, tvbuff_t *tvb, uint32_t offset, uint32_t size,
                        unsigned encoding, const char *what)
{
    bool high = false, is_lone = false;

    for (uint32_t i = 0; i + 1 < size && !is_lone; i += 2) {
        unsigned unit = tvb_get_uint16(tvb, offset + i, encoding);
        is_lone = high != ((unit & 0xFC00) == 0xDC00);
        high = (unit & 0xFC00) == 0xD800;
    }
    if (is_lone || high) {
        bool damaged = report->damaged;
        findings_add(report, item, FINDING_TEXT, "%s has half of a surrogate pair", what);
        report->damaged = damaged;
    }
    return !is_lone && !high;
}

const char *reader_text(bounded_reader *reader, int hf, uint32_t room, uint32_t most, const char *what)
{
    if (!reader_need(reader, room, what)) {
        return NULL;
    }
    uint32_t size = text_utf16_size(reader->tvb, reader->pos, room);
    bool terminated = size + 1 < room;
    const char *text = text_get(reader_pinfo(reader)->pool, reader->tvb, reader->pos, size, TEXT_CODE_PAGE_UTF16,
                                reader->encoding, most);

    reader->item =
        proto_tree_add_string(reader->tree, hf, reader->tvb, reader->pos, terminated ? size + 2 : size, text);
    if (!terminated) {
        findings_add(reader->report, reader->item, FINDING_TEXT, "%s has no terminator in its %u bytes", what, room);
    }
    if (!reader_check_utf16(reader->report, reader->item, reader->tvb, reader->pos, size, reader->encoding, what)) {
        reader->report->damaged = true; /* not what anybody should learn */
    }
    reader->pos += room;
    return text;
}

void reader_skip(bounded_reader *reader, uint32_t size)
{
    if (reader_need(reader, size, "Padding")) {
        reader->pos += size;
    }
}

void reader_structure(bounded_reader *reader, int hf, int ett, uint32_t size, bounded_reader *inner)
{
    uint32_t there = size <= reader_left(reader) ? size : reader_left(reader);

    *inner = *reader;
    inner->end = reader->pos + there;
    inner->node = NULL;
    inner->tree = NULL;
    if (reader->failed) {
        return;
    }
    if (reader->tree) {
        inner->node = proto_tree_add_item(reader->tree, hf, reader->tvb, reader->pos, there, ENC_NA);
        inner->tree = proto_item_add_subtree(inner->node, ett);
    }
    reader->pos += there;
}

tvbuff_t *reader_own_source(packet_info *pinfo, tvbuff_t *tvb, const char *name)
{
    uint32_t size = tvb_captured_length(tvb);

    if (size < OWN_DATA_SOURCE) {
        return tvb;
    }
    tvbuff_t *own = tvb_new_child_real_data(tvb, tvb_get_ptr(tvb, 0, (int)size), size, (int)tvb_reported_length(tvb));
    add_new_data_source(pinfo, own, name);
    return own;
}

/* What can follow in the frame: PDUs so small that each of their bytes takes an item or two. A frame that ends a large
 * PDU can hold a thousand of them behind it, and stock Wireshark has room for all. */
#define ITEMS_OF_BYTE 2

uint32_t reader_tree_items_left(const proto_tree *tree)
{
    if (tree == NULL) {
        return UINT32_MAX;
    }
    const packet_info *pinfo = PTREE_DATA(tree)->pinfo;
    uint64_t later = pinfo && pinfo->fd ? (uint64_t)pinfo->fd->cap_len * ITEMS_OF_BYTE : 0;
    uint32_t limit = prefs.gui_max_tree_items;
    uint32_t reserve = (uint32_t)MIN(MAX(later, TREE_RESERVE), limit / 4);
    uint32_t used = PTREE_DATA(tree)->count;

    return used + reserve < limit ? limit - reserve - used : 0;
}

proto_item *reader_add_generated_string(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text)
{
    proto_item *item = proto_tree_add_string(tree, hf, tvb, 0, 0, text);

    proto_item_set_generated(item);
    return item;
}

proto_item *reader_add_generated_uint(proto_tree *tree, int hf, tvbuff_t *tvb, uint32_t value)
{
    proto_item *item = proto_tree_add_uint(tree, hf, tvb, 0, 0, value);

    proto_item_set_generated(item);
    return item;
}
