/* cursor.c
 * The cursor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/cursor.h"

#include <epan/exceptions.h>
#include <epan/prefs.h>
#include <epan/show_exception.h>

/* Items that a buffer's details leave free, for what follows the buffer. */
#define TREE_RESERVE 10000

/* Bytes: a smaller buffer cannot hold as many structures as Wireshark 4.6 takes for a loop. */
#define OWN_DATA_SOURCE 65536

void cursor_init(buffer_cursor *cursor, tvbuff_t *tvb, proto_tree *tree, expert_report *report, unsigned encoding)
{
    *cursor = (buffer_cursor){.tvb = tvb,
                              .tree = tree,
                              .report = report,
                              .encoding = encoding,
                              .end = tvb_reported_length(tvb),
                              .node = proto_tree_get_parent(tree)};
}

bool cursor_try(buffer_cursor *cursor, void (*read)(void *data), void *data)
{
    expert_report *report = cursor->report;
    volatile bool is_whole = true;

    TRY
    {
        read(data);
    }
    CATCH_BOUNDS_ERRORS
    {
        is_whole = false;
        if (report->pinfo && !report->muted && !report->shows_end) {
            report->shows_end = true;
            show_exception(cursor->tvb, report->pinfo, cursor->tree, EXCEPT_CODE, GET_MESSAGE);
        }
        report->damaged |= EXCEPT_CODE != BoundsError; /* BoundsError: bytes were not captured */
    }
    ENDTRY;
    return is_whole;
}

/* Throws if the structure has fewer than `size` bytes left. */
static void require_bytes(const buffer_cursor *cursor, uint32_t size)
{
    if (size > cursor_left(cursor)) {
        THROW(ReportedBoundsError);
    }
}

/* Adds the next field as `hf` (0: not shown) and moves behind it. Needs: require_bytes(). Changes: `item`, NULL if nothing is shown. */
static void pass_field(buffer_cursor *cursor, int hf, uint32_t size)
{
    cursor->item = NULL;
    if (hf > 0 && cursor->tree) {
        cursor->item = proto_tree_add_item(cursor->tree, hf, cursor->tvb, cursor->pos, size, cursor->encoding);
    }
    cursor->pos += size;
}

uint32_t cursor_read_u32(buffer_cursor *cursor, int hf)
{
    require_bytes(cursor, 4);
    uint32_t value = tvb_get_uint32(cursor->tvb, cursor->pos, cursor->encoding);
    pass_field(cursor, hf, 4);
    return value;
}

uint64_t cursor_read_u64(buffer_cursor *cursor, int hf)
{
    require_bytes(cursor, 8);
    uint64_t value = tvb_get_uint64(cursor->tvb, cursor->pos, cursor->encoding);
    pass_field(cursor, hf, 8);
    return value;
}

void cursor_get_guid_bytes(tvbuff_t *tvb, uint32_t offset, unsigned encoding, uint8_t guid[16])
{
    tvb_memcpy(tvb, guid, offset, 16);
    if (encoding == ENC_BIG_ENDIAN) { /* the first three parts are turned around */
        const uint8_t swapped[8] = {guid[3], guid[2], guid[1], guid[0], guid[5], guid[4], guid[7], guid[6]};
        memcpy(guid, swapped, sizeof swapped);
    }
}

void cursor_read_guid(buffer_cursor *cursor, int hf, uint8_t guid[16])
{
    memset(guid, 0, 16);
    require_bytes(cursor, 16);
    cursor_get_guid_bytes(cursor->tvb, cursor->pos, cursor->encoding, guid);
    pass_field(cursor, hf, 16);
}

void cursor_read_filetime(buffer_cursor *cursor, int hf)
{
    nstime_t when;

    require_bytes(cursor, 8);
    uint64_t value = tvb_get_uint64(cursor->tvb, cursor->pos, cursor->encoding);
    bool valid = filetime_to_nstime(&when, value);
    if (!valid) {
        nstime_set_zero(&when);
    }
    cursor->item = proto_tree_add_time(cursor->tree, hf, cursor->tvb, cursor->pos, 8, &when);
    if (!valid || value > INT64_MAX) {
        expert_report_add(cursor->report, cursor->item, EI_TIME, "%s: %" PRIu64 " is not a FILETIME",
                          proto_registrar_get_name(hf), value);
    }
    cursor->pos += 8;
}

/* Gets a SYSTEMTIME at `offset` as time in UTC. Returns false, and 1970, if it is no date. */
static bool get_systemtime(tvbuff_t *tvb, uint32_t offset, unsigned encoding, nstime_t *when)
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

void cursor_read_systemtime(buffer_cursor *cursor, int hf)
{
    nstime_t when;

    require_bytes(cursor, 16);
    bool valid = get_systemtime(cursor->tvb, cursor->pos, cursor->encoding, &when);
    cursor->item = proto_tree_add_time(cursor->tree, hf, cursor->tvb, cursor->pos, 16, &when);
    if (!valid) {
        expert_report_add(cursor->report, cursor->item, EI_TIME, "%s is not a date", proto_registrar_get_name(hf));
    }
    cursor->pos += 16;
}

bool cursor_check_utf16(expert_report *report, proto_item *item, tvbuff_t *tvb, uint32_t offset, uint32_t size,
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
        expert_report_add(report, item, EI_TEXT, "%s has half of a surrogate pair", what);
        report->damaged = damaged;
    }
    return !is_lone && !high;
}

const char *cursor_read_text(buffer_cursor *cursor, int hf, uint32_t room, uint32_t most, const char *what)
{
    require_bytes(cursor, room);
    uint32_t size = text_utf16_size(cursor->tvb, cursor->pos, room);
    bool terminated = size + 1 < room;
    const char *text = text_get(cursor_pinfo(cursor)->pool, cursor->tvb, cursor->pos, size, TEXT_CODE_PAGE_UTF16,
                                cursor->encoding, most);

    cursor->item =
        proto_tree_add_string(cursor->tree, hf, cursor->tvb, cursor->pos, terminated ? size + 2 : size, text);
    if (!terminated) {
        expert_report_add(cursor->report, cursor->item, EI_TEXT, "%s has no terminator in its %u bytes", what, room);
    }
    if (!cursor_check_utf16(cursor->report, cursor->item, cursor->tvb, cursor->pos, size, cursor->encoding, what)) {
        cursor->report->damaged = true; /* not what anybody should learn */
    }
    cursor->pos += room;
    return text;
}

void cursor_skip(buffer_cursor *cursor, uint32_t size)
{
    require_bytes(cursor, size);
    cursor->pos += size;
}

void cursor_enter(buffer_cursor *cursor, int hf, int ett, uint32_t size, buffer_cursor *inner)
{
    uint32_t there = MIN(size, cursor_left(cursor));

    *inner = *cursor;
    inner->end = cursor->pos + there;
    inner->node = NULL;
    inner->tree = NULL;
    if (cursor->tree) {
        uint32_t captured = (uint32_t)tvb_captured_length_remaining(cursor->tvb, cursor->pos);
        inner->node =
            proto_tree_add_item(cursor->tree, hf, cursor->tvb, cursor->pos, (int)MIN(there, captured), ENC_NA);
        inner->tree = proto_item_add_subtree(inner->node, ett);
    }
    cursor->pos += there;
}

tvbuff_t *tree_own_source(packet_info *pinfo, tvbuff_t *tvb, const char *name)
{
    uint32_t size = tvb_captured_length(tvb);

    if (size < OWN_DATA_SOURCE) {
        return tvb;
    }
    tvbuff_t *own = tvb_new_child_real_data(tvb, tvb_get_ptr(tvb, 0, (int)size), size, (int)tvb_reported_length(tvb));
    add_new_data_source(pinfo, own, name);
    return own;
}

/* Items that PDUs behind this one take for each byte of the frame: a frame that ends a large PDU can hold a thousand small ones, and stock
 * Wireshark has room for all. */
#define ITEMS_OF_BYTE 2

uint32_t tree_items_left(const proto_tree *tree)
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

proto_item *tree_add_generated_string(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text)
{
    proto_item *item = proto_tree_add_string(tree, hf, tvb, 0, 0, text);

    proto_item_set_generated(item);
    return item;
}

proto_item *tree_add_generated_uint(proto_tree *tree, int hf, tvbuff_t *tvb, uint32_t value)
{
    proto_item *item = proto_tree_add_uint(tree, hf, tvb, 0, 0, value);

    proto_item_set_generated(item);
    return item;
}
