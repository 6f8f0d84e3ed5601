/* cursor.c
 * The cursor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/cursor.h"

#include <epan/exceptions.h>
#include <epan/prefs.h>
#include <epan/show_exception.h>

/* Bytes: a smaller buffer has less than 50,000 items, since at most five stand for four bytes: an id of PERF_MULTI_COUNTERS, name and type. */
#define OWN_DATA_SOURCE 32768

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
        if (report->pinfo && !report->shows_end) {
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

void cursor_read_guid(buffer_cursor *cursor, int hf, uint8_t guid[16])
{
    require_bytes(cursor, 16);
    tvb_memcpy(cursor->tvb, guid, cursor->pos, 16);
    if (cursor->encoding == ENC_BIG_ENDIAN) { /* the first three parts are turned around */
        const uint8_t swapped[8] = {guid[3], guid[2], guid[1], guid[0], guid[5], guid[4], guid[7], guid[6]};
        memcpy(guid, swapped, sizeof swapped);
    }
    pass_field(cursor, hf, 16);
}

/* Adds the next field as a time and moves behind it. Reports one that is not `valid`: no `text`. */
static void pass_time(buffer_cursor *cursor, int hf, uint32_t size, const nstime_t *when, bool valid, const char *text)
{
    cursor->item = proto_tree_add_time(cursor->tree, hf, cursor->tvb, cursor->pos, size, when);
    if (!valid) {
        expert_report_add(cursor->report, cursor->item, EI_TIME, "%s is no %s", proto_registrar_get_name(hf), text);
    }
    cursor->pos += size;
}

void cursor_read_filetime(buffer_cursor *cursor, int hf)
{
    nstime_t when = NSTIME_INIT_ZERO;

    require_bytes(cursor, 8);
    uint64_t value = tvb_get_uint64(cursor->tvb, cursor->pos, cursor->encoding);
    bool valid = value <= INT64_MAX && filetime_to_nstime(&when, value);
    pass_time(cursor, hf, 8, &when, valid, "FILETIME");
}

/* Converts the words of a SYSTEMTIME. Returns false if it is no date. Changes: else `when`, in UTC. */
static bool convert_systemtime(const int word[8], nstime_t *when)
{
    enum { YEAR, MONTH, WEEKDAY, DAY, HOUR, MINUTE, SECOND, MILLISECONDS };
    bool may_be_date = word[YEAR] >= 1601 && word[WEEKDAY] <= 6 && word[MILLISECONDS] <= 999;
    GDateTime *date =
        may_be_date ? g_date_time_new_utc(word[YEAR], word[MONTH], word[DAY], word[HOUR], word[MINUTE], word[SECOND])
                    : NULL;

    if (date == NULL) {
        return false;
    }
    *when = (nstime_t){(time_t)g_date_time_to_unix(date), word[MILLISECONDS] * 1000000};
    g_date_time_unref(date);
    return true;
}

void cursor_read_systemtime(buffer_cursor *cursor, int hf)
{
    nstime_t when = NSTIME_INIT_ZERO;
    int word[8];

    require_bytes(cursor, 16);
    for (unsigned i = 0; i < array_length(word); i++) {
        word[i] = tvb_get_uint16(cursor->tvb, cursor->pos + 2 * i, cursor->encoding);
    }
    bool valid = convert_systemtime(word, &when);
    pass_time(cursor, hf, 16, &when, valid, "date");
}

void cursor_report_halves(expert_report *report, proto_item *item, const char *text)
{
    bool damaged = report->damaged;

    if (strstr(text, "\xef\xbf\xbd")) {
        expert_report_add(report, item, EI_TEXT, "U+FFFD is in the text, or stands for half of a surrogate pair");
    }
    report->damaged = damaged; /* a text need not be shown */
}

const char *cursor_read_text(buffer_cursor *cursor, int hf, uint32_t room, uint32_t most)
{
    require_bytes(cursor, room);
    uint32_t size = text_utf16_size(cursor->tvb, cursor->pos, room);
    bool terminated = size + 1 < room;
    const char *text = text_get(cursor->report->pinfo->pool, cursor->tvb, cursor->pos, size, TEXT_CODE_PAGE_UTF16,
                                cursor->encoding, most);

    cursor->item =
        proto_tree_add_string(cursor->tree, hf, cursor->tvb, cursor->pos, terminated ? size + 2 : size, text);
    if (!terminated) {
        expert_report_add(cursor->report, cursor->item, EI_TEXT, "%s has no terminator in its %u bytes",
                          proto_registrar_get_name(hf), room);
    }
    cursor_report_halves(cursor->report, cursor->item, text);
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

/* Items that are left for a structure and for PDUs behind this one: some, and some for each byte of the frame. */
#define TREE_RESERVE 10000
#define ITEMS_OF_BYTE 2

bool tree_has_room(const proto_tree *tree)
{
    uint32_t limit = prefs.gui_max_tree_items;

    if (tree == NULL) {
        return true;
    }
    uint64_t behind = TREE_RESERVE + (uint64_t)PTREE_DATA(tree)->pinfo->fd->cap_len * ITEMS_OF_BYTE;
    return PTREE_DATA(tree)->count + MIN(behind, limit / 8) <= limit;
}
