/* ndr.h
 * NDR and NDR64 parameters ([C706] 14, [MS-RPCE] 2.2.5) on the cursor.
 *
 * Wireshark keeps its own NDR engine to itself (what it exports reads numbers), and little of it is needed: PerflibV2 has
 * ref pointers only, and what winreg points to follows at once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/cursor.h"

#define NDR_CONTEXT_HANDLE_SIZE 20 /* attributes and UUID */

/* pcq.array, a node with what is in it, as in Wireshark's NDR dissectors, and pcq.referent_id: of whichever protocol comes first. */
void ndr_fields_register(int proto);

/* A conformant (and varying) array, in elements. */
typedef struct {
    uint64_t max_count;
    uint64_t actual_count;
    proto_item *item; /* of the last count; NULL without a tree */
    proto_item *node; /* of the array; its elements belong into `tree` */
    proto_tree *tree;
    uint32_t start; /* offset of its first count */
} ndr_array;

/* Returns the bytes of a count, size or pointer of NDR's own, which is their alignment, too. */
uint32_t ndr_count_size(const buffer_cursor *cursor);

/* Skips padding up to a multiple of `to` bytes from the start of the tvb, as Wireshark does, but not beyond the stub's end. */
void ndr_align(buffer_cursor *cursor, uint32_t to);

/* Reads a number, aligned to 4 bytes, and adds it as `hf`. */
uint32_t ndr_u32(buffer_cursor *cursor, int hf);

/* Reads a context handle. `handle` gets its bytes as little-endian sends them, so that one handle always looks the same. Returns its item, to which
 * its lifetime is added once the stub is read; NULL without a tree. */
proto_item *ndr_context_handle(buffer_cursor *cursor, int hf, uint8_t handle[NDR_CONTEXT_HANDLE_SIZE]);

/* Reads a [string] wchar_t *, with its three counts, as `hf`. `what`: its name in the tree. Returns it as UTF-8 in the packet's pool. Changes: the
 * report is damaged if it has no terminator. */
const char *ndr_wide_string(buffer_cursor *cursor, int hf, const char *what);

/* Reads the counts of a [size_is, length_is] (`varying`) or [size_is] (conformant) array, whose actual count is its max count. `what`: the array's
 * name in the tree. Reports counts that contradict each other. Counts that are cut throw. Changes: the cursor is behind the
 * counts; `array`, for its elements. */
void ndr_array_begin(buffer_cursor *cursor, bool varying, const char *what, ndr_array *array);

/* Passes over the elements of such an array, of `element_size` bytes. Returns them as a tvbuff of their own. Where the array is longer than the stub
 * it holds what is there, and the next parameter is missing. */
tvbuff_t *ndr_elements(buffer_cursor *cursor, ndr_array *array, uint32_t element_size);

/* Reads the referent id of a unique pointer. Returns true if it is not null: then `what` follows at once. */
bool ndr_pointer(buffer_cursor *cursor, const char *what);

/* --- Garbled stubs: behind a lost packet, and in other known cases, Wireshark hands over as decrypted what is not --- */

/* Returns true if the number that the stub begins with, at `cursor`, is such as no peer sends: a handle's attributes, the length of a string, or the
 * size of what is in the stub. `ends_with_length`: the size stands in front of the status instead, at the stub's end. */
bool ndr_is_garbled(const buffer_cursor *cursor, bool ends_with_length);
