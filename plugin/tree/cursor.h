/* cursor.h
 * The cursor: reads a layout field by field and adds each field to the tree.
 *
 * A read beyond the structure throws ReportedBoundsError, one of bytes that were not captured BoundsError, as Wireshark's own
 * functions do. cursor_try() alone catches them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/expert-info.h"
#include "text/text.h"

typedef struct {
    tvbuff_t *tvb;
    proto_tree *tree; /* NULL: nothing is shown, everything is still read and checked */
    expert_report *report;
    unsigned encoding; /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    bool is_ndr64;     /* counts and pointers of NDR have 8 bytes, not 4 */
    uint32_t pos;      /* offset of the next byte in the tvb */
    uint32_t end;      /* offset of the first byte beyond the structure */
    proto_item *node;  /* item of the structure being read */
    proto_item *item;  /* item of the field read last */
} buffer_cursor;

/* Begins a cursor at the tvb's first byte. `tree`: NULL: nothing is shown. `encoding`: byte order of numbers. */
void cursor_init(buffer_cursor *cursor, tvbuff_t *tvb, proto_tree *tree, expert_report *report, unsigned encoding);

/* Calls `read`. Returns false if a read in it went beyond its structure: Wireshark's "Malformed Packet", or "Packet size limited", is in the
 * tree and the Info column then, if the report shows anything and none is there yet. Changes: the report is damaged by the first of them. */
bool cursor_try(buffer_cursor *cursor, void (*read)(void *data), void *data);

static inline uint32_t cursor_left(const buffer_cursor *cursor)
{
    ws_assert(cursor->pos <= cursor->end);
    return cursor->end - cursor->pos;
}

/* Read a number and add it as `hf`, 0: it is not shown. Throw if the structure ends before. */
uint32_t cursor_read_u32(buffer_cursor *cursor, int hf);
uint64_t cursor_read_u64(buffer_cursor *cursor, int hf);

/* Reads 16 bytes and adds them as `hf`, an FT_GUID, 0: they are not shown. `guid`: its bytes in little-endian order, whatever the cursor's. Throws as the two above. */
void cursor_read_guid(buffer_cursor *cursor, int hf, uint8_t guid[16]);

/* Reads a FILETIME, 100 ns since 1601-01-01 UTC, and adds it as FT_ABSOLUTE_TIME. Reports one that is no date, shown as 1970. */
void cursor_read_filetime(buffer_cursor *cursor, int hf);

/* Reads a SYSTEMTIME ([MS-DTYP] 2.3.13), eight 16-bit words, and adds it as FT_ABSOLUTE_TIME. */
void cursor_read_systemtime(buffer_cursor *cursor, int hf);

/* Reads UTF-16 up to its terminator, at most `room` bytes, which are passed over whole. Returns at most `most` characters of it as UTF-8, in the
 * packet's pool. Reports a missing terminator, and halves of surrogate pairs. */
const char *cursor_read_text(buffer_cursor *cursor, int hf, uint32_t room, uint32_t most);

/* Reports a text of UTF-16 in which U+FFFD stands for half of a surrogate pair. */
void cursor_report_halves(expert_report *report, proto_item *item, const char *text);

/* Passes over `size` bytes, without an item. */
void cursor_skip(buffer_cursor *cursor, uint32_t size);

/* Enters a structure of `size` bytes, with a node of its own in the tree. `inner`: reads its fields. Changes: `cursor` is behind it. A size that
 * does not fit is cut to what is there. */
void cursor_enter(buffer_cursor *cursor, int hf, int ett, uint32_t size, buffer_cursor *inner);

/* Returns a large buffer as a data source of its own, a small one as it is. Wireshark 4.6 takes 50,000 items for a loop if none gets beyond the farthest
 * item of its data source, and DCE/RPC's list of fragments reaches nearly to its end. `name`: as the byte view has it. Changes: the packet's data sources. */
tvbuff_t *tree_own_source(packet_info *pinfo, tvbuff_t *tvb, const char *name);

/* Returns false if the packet's tree may lack room for one more structure: Wireshark stops a tree at a million items, visible or not. Some are
 * left for PDUs behind this one. */
bool tree_has_room(const proto_tree *tree);
