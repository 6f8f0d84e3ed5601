/* fields.h
 * Tables of fields: those that both protocols have, each with its own prefix, registered from one; and whether somebody looks.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Rows of a table as Wireshark registers it: any field, one bit of 64, and what most are: a structure's node, a text, a number
 * of four or eight bytes, one of which some values have names, a Win32 error, bytes, a frame, a time. */
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
    FIELD(id, label, name, FT_UINT32, BASE_DEC | BASE_EXT_STRING, &win32_error_ext, blurb)
#define FIELD_BYTES(id, label, name, blurb) FIELD(id, label, name, FT_BYTES, BASE_NONE, NULL, blurb)
#define FIELD_FRAME(id, label, name, blurb) FIELD(id, label, name, FT_FRAMENUM, BASE_NONE, NULL, blurb)
#define FIELD_TIME(id, label, name, blurb) FIELD(id, label, name, FT_ABSOLUTE_TIME, ABSOLUTE_TIME_UTC, NULL, blurb)

/* Registers rows of which the names lack the protocol's prefix; their ids and strings live as long as the program. */
void fields_register_prefixed(int proto, const char *prefix, const hf_register_info *rows, unsigned count);

/* True if somebody looks at one of these fields in the tree. */
bool fields_any_referenced(proto_tree *tree, const int *fields, unsigned count);
