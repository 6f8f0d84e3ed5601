/* ndr.h
 * NDR and NDR64 parameters ([C706] 14, [MS-RPCE] 2.2.5) on the bounded reader.
 *
 * Wireshark keeps its own NDR engine to itself (what it exports reads numbers), and little of it is needed: PerflibV2 has
 * ref pointers only, and what winreg points to follows at once.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/reader.h"

#define NDR_CONTEXT_HANDLE_SIZE 20 /* attributes and UUID */

typedef struct {
    bounded_reader reader; /* its encoding is the data representation's */
    bool ndr64;
} ndr_reader;

/* pcq.array, a node with what is in it, as in Wireshark's NDR dissectors, and pcq.referent_id: of whichever protocol comes first. */
void ndr_fields_register(int proto);

/* A conformant (and varying) array, in elements. */
typedef struct {
    uint64_t max_count;
    uint64_t offset;
    uint64_t actual_count;
    const char *what;
    proto_item *item; /* of the last count */
    proto_item *node; /* of the array; its elements belong into `tree` */
    proto_tree *tree;
    uint32_t start;
} ndr_array;

/* From the tvb's start, as Wireshark does. */
void ndr_align(ndr_reader *ndr, uint32_t to);

uint32_t ndr_u32(ndr_reader *ndr, int hf);

/* A context handle; `handle` gets its bytes as little-endian sends them, so that one handle always looks the same. Returns its
 * item, which is completed when the stub has proved sound. */
proto_item *ndr_context_handle(ndr_reader *ndr, int hf, uint8_t handle[NDR_CONTEXT_HANDLE_SIZE]);

/* [string] wchar_t *: UTF-8 in the packet's pool, or NULL. */
const char *ndr_wide_string(ndr_reader *ndr, int hf, const char *what);

/* The counts of a [size_is, length_is] (conformant varying) or [size_is] (conformant) array. A conformant array's actual
 * count is its max count. */
void ndr_array_begin(ndr_reader *ndr, bool varying, const char *what, ndr_array *array);

/* The elements of such an array as a tvbuff of their own. Where the array is longer than the stub it holds what is
 * there; NULL if the counts themselves could not be read. */
tvbuff_t *ndr_elements(ndr_reader *ndr, ndr_array *array, uint32_t element_size);

/* A unique pointer: true if `what` is there, and follows. */
bool ndr_pointer(ndr_reader *ndr, const char *what);

/* --- Noise: after a lost packet, and in other known cases, Wireshark hands over noise as plain text ---------------- */

/* True if the stub, which begins where `ndr` is, is noise: two things in it are strange. `ndr` has to be a silent one. The
 * parameters of the stub, one letter each:
 *   H context handle    S size, at most `largest`    C small code (RequestCode, dwAdd, type of a value)
 *   G GUID              L any four bytes             R error_status_t
 *   W wide string       V varying array of bytes     g varying array of GUIDs    A conformant array of bytes
 *   p unique pointer to what follows, up to the next p or R */
bool ndr_is_noise(ndr_reader *ndr, const char *shape, uint64_t largest);
