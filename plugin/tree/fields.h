/* fields.h
 * Tables of fields: those that both protocols have, each with its own prefix, registered from one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Rows of a table as Wireshark registers it: any field, one bit of 64, and what most are: a structure's node, a text, a number of four or eight
 * bytes, a number of which some values have names, a Win32 error, bytes, a frame, a time. */
#define FIELD_MASKED(id, label, name, type, display, strings, mask, blurb) \
    { \
        &id, \
        { \
            label, name, type, display, strings, mask, blurb, HFILL \
        } \
    }
#define FIELD(id, label, name, type, display, strings, blurb) \
    FIELD_MASKED(id, label, name, type, display, strings, 0, blurb)
#define FIELD_BIT(id, label, name, bit, blurb) FIELD_MASKED(id, label, name, FT_BOOLEAN, 64, NULL, bit, blurb)
#define FIELD_NODE(id, label, name, blurb) FIELD(id, label, name, FT_NONE, BASE_NONE, NULL, blurb)
#define FIELD_TEXT(id, label, name, blurb) FIELD(id, label, name, FT_STRING, BASE_NONE, NULL, blurb)
#define FIELD_U32(id, label, name, blurb) FIELD(id, label, name, FT_UINT32, BASE_DEC, NULL, blurb)
#define FIELD_U64(id, label, name, blurb) FIELD(id, label, name, FT_UINT64, BASE_DEC, NULL, blurb)
#define FIELD_NAMED(id, label, name, names, blurb) \
    FIELD(id, label, name, FT_UINT32, BASE_DEC | BASE_SPECIAL_VALS, VALS(names), blurb)
#define FIELD_ERROR(id, label, name, blurb) \
    FIELD(id, label, name, FT_UINT32, BASE_DEC | BASE_EXT_STRING, &text_win32_error_ext, blurb)
#define FIELD_BYTES(id, label, name, blurb) FIELD(id, label, name, FT_BYTES, BASE_NONE, NULL, blurb)
#define FIELD_FRAME(id, label, name, blurb) FIELD(id, label, name, FT_FRAMENUM, BASE_NONE, NULL, blurb)
#define FIELD_TIME(id, label, name, blurb) FIELD(id, label, name, FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, blurb)

#define FIELD_ONE_OF(id, label, name, names, blurb) FIELD(id, label, name, FT_UINT32, BASE_DEC, VALS(names), blurb)
#define FIELD_HEX_OF(id, label, name, names, blurb) FIELD(id, label, name, FT_UINT32, BASE_HEX, VALS(names), blurb)
#define FIELD_TYPE(id, label, name) \
    FIELD(id, label, name, FT_UINT32, BASE_HEX, VALS(text_counter_type_vals), \
          "PERF_* type: size, kind and how the value is calculated")
#define FIELD_SCALE(id, label, name, blurb) FIELD(id, label, name, FT_INT32, BASE_DEC, NULL, blurb)
#define FIELD_SYSTEMTIME FIELD_TIME
#define FIELD_FILETIME FIELD_TIME
#define FIELD_FREQUENCY FIELD_U64

/* A structure as one list of its fields, in the order in which they are sent: X(KIND, name, what FIELD_KIND takes behind the id), and
 * S(KIND, name) for one that others have, too. Of it are made ids, rows to register, and what reads all from `cursor` into `read`. */
#define FIELD_ID(kind, name, ...) static int hf_##name;
#define FIELD_ROW(kind, name, ...) FIELD_##kind(hf_##name, __VA_ARGS__),
#define FIELD_MEMBER(kind, name, ...) uint32_t name;
#define FIELD_READ(kind, name, ...) read.name = (uint32_t)READ_##kind(&cursor, hf_##name);
#define FIELD_SHARED(kind, name)
#define FIELD_SHARED_MEMBER(kind, name) uint32_t name;
#define FIELD_SHARED_READ(kind, name) read.name = (uint32_t)READ_##kind(&cursor, hf_##name);
#define FIELDS_READ(LIST) \
    struct { \
        LIST(FIELD_MEMBER, FIELD_SHARED_MEMBER) \
    } read; \
    LIST(FIELD_READ, FIELD_SHARED_READ) \
    (void)read;

#define READ_U32 cursor_read_u32
#define READ_NAMED cursor_read_u32
#define READ_ONE_OF cursor_read_u32
#define READ_HEX_OF cursor_read_u32
#define READ_ERROR cursor_read_u32
#define READ_U64 cursor_read_u64
#define READ_SCALE value_tree_read_scale
#define READ_TYPE value_tree_read_type
#define READ_SYSTEMTIME(cursor, hf) (cursor_read_systemtime(cursor, hf), 0)
#define READ_FILETIME(cursor, hf) (cursor_read_filetime(cursor, hf), 0)
#define READ_FREQUENCY(cursor, hf) (value_tree_read_frequency(cursor, hf), 0)

/* Registers rows of which the names lack the protocol's prefix; their ids and strings live as long as the program. */
static inline void fields_register_prefixed(int proto, const char *prefix, const hf_register_info *rows, unsigned count)
{
    hf_register_info *fields = wmem_memdup(wmem_epan_scope(), rows, count * sizeof *rows);

    for (unsigned i = 0; i < count; i++) {
        *fields[i].p_id = -1;
        fields[i].hfinfo.abbrev = wmem_strconcat(wmem_epan_scope(), prefix, ".", rows[i].hfinfo.abbrev, NULL);
    }
    proto_register_field_array(proto, fields, (int)count);
}
