/* reader.h
 * The bounded reader: walks a layout field by field, adds each field to the tree, and cannot leave its structure.
 *
 * A dissector function says what comes next; the reader knows where it is. What does not fit is reported once, and
 * everything read after that is 0 and adds nothing, so callers check reader->failed where it matters to them and not
 * after each field.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/findings.h"
#include "text/text.h"

typedef struct {
    tvbuff_t *tvb;
    proto_tree *tree; /* NULL: nothing is shown, everything is still read and checked */
    findings_report *report;
    unsigned encoding; /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    uint32_t pos;      /* next byte, from the tvb's start */
    uint32_t end;      /* first byte beyond the structure */
    bool failed;       /* something did not fit; pos no longer moves */
    proto_item *node;  /* item of the structure being read */
    proto_item *item;  /* item of the field read last */
} bounded_reader;

void reader_init(bounded_reader *reader, tvbuff_t *tvb, proto_tree *tree, findings_report *report, unsigned encoding);

static inline packet_info *reader_pinfo(const bounded_reader *reader)
{
    return reader->report->pinfo;
}

static inline uint32_t reader_left(const bounded_reader *reader)
{
    ws_assert(reader->pos <= reader->end);
    return reader->failed ? 0 : reader->end - reader->pos;
}

static inline bool reader_has(const bounded_reader *reader, uint64_t size)
{
    return !reader->failed && size <= reader->end - reader->pos;
}

/* True if `size` more bytes are there; else reports that `what` or the field is missing and fails. */
bool reader_need(bounded_reader *reader, uint64_t size, const char *what);

/* What a missing field is called in reports; `hf` may be none. Looked up only where one is missing. */
const char *reader_field_name(int hf);

static inline bool reader_need_field(bounded_reader *reader, uint64_t size, int hf)
{
    return reader_has(reader, size) || reader_need(reader, size, reader_field_name(hf));
}

/* Scalars: read, added as `hf`; 0 if they are not there. */
uint32_t reader_u32(bounded_reader *reader, int hf);
uint64_t reader_u64(bounded_reader *reader, int hf);

/* 16 bytes as FT_GUID; `guid` gets them as the little-endian bytes that buffers carry. */
void reader_guid(bounded_reader *reader, int hf, uint8_t guid[16]);

/* FILETIME: 100 ns since 1601-01-01 UTC, as FT_ABSOLUTE_TIME. */
void reader_filetime(bounded_reader *reader, int hf);

/* SYSTEMTIME ([MS-DTYP] 2.3.13): eight 16-bit words, UTC, as FT_ABSOLUTE_TIME over all 16 bytes. */
void reader_systemtime(bounded_reader *reader, int hf);

/* UTF-16LE up to its terminator, at most `room` bytes, which are passed over whole. Returns UTF-8 in the packet's pool, of a
 * name TEXT_NAME_MAX characters, else TEXT_WHOLE; NULL if `room` is not there. A missing terminator and lone surrogates
 * are reported as `what`. */
const char *reader_text(bounded_reader *reader, int hf, uint32_t room, uint32_t most, const char *what);

void reader_skip(bounded_reader *reader, uint32_t size);

/* A structure of `size` bytes from here on, bounded and with a node of its own in the tree. `reader` is moved behind
 * it: its own fields are read from `inner`. A size that does not fit is cut to what is there without a word: the
 * caller has checked it, or reading on will tell. */
void reader_structure(bounded_reader *reader, int hf, int ett, uint32_t size, bounded_reader *inner);

/* A large buffer as a data source of its own, a small one as it is. Wireshark 4.6 takes 50,000 items that do not get
 * beyond the last item of their data source for a loop, and DCE/RPC's list of fragments ends far behind a buffer's
 * beginning. In a source of its own a buffer starts anew, and has a tab of its own in the bytes pane. */
tvbuff_t *reader_own_source(packet_info *pinfo, tvbuff_t *tvb, const char *name);

/* How many more items the packet's tree can take, with a reserve left for what comes after. UINT32_MAX without a tree. */
uint32_t reader_tree_items_left(const proto_tree *tree);

/* 16 bytes of a GUID in either byte order, as the little-endian bytes that buffers carry. */
void reader_guid_bytes(tvbuff_t *tvb, uint32_t offset, unsigned encoding, uint8_t guid[16]);

/* Notes half surrogate pairs in `size` bytes. False if there are any: such a name is nothing to learn, but a value beside
 * it is certain. */
bool reader_check_utf16(findings_report *report, proto_item *item, tvbuff_t *tvb, uint32_t offset, uint32_t size,
                        unsigned encoding, const char *what);

/* What is known and not read: an item of no bytes, in brackets. */
proto_item *reader_add_generated_string(proto_tree *tree, int hf, tvbuff_t *tvb, const char *text);
proto_item *reader_add_generated_uint(proto_tree *tree, int hf, tvbuff_t *tvb, uint32_t value);
