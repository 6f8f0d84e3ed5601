/* ndr.h
 * NDR and NDR64 parameters of the PerflibV2 interface ([C706] 14, [MS-RPCE] 2.2.5) on the bounded reader.
 *
 * Wireshark keeps its own NDR engine to itself (its functions are not exported), and this interface needs little of
 * it: all top-level pointers are ref pointers, so nothing is deferred.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TREE_NDR_H
#define PCQ_TREE_NDR_H

#include "tree/reader.h"

#define NDR_CONTEXT_HANDLE_SIZE 20 /* attributes and UUID */

typedef struct {
    perf_reader reader; /* its encoding is the data representation's */
    bool ndr64;
} ndr_reader;

/* The three counts of a conformant (and varying) array, in elements. */
typedef struct {
    uint64_t max_count;
    uint64_t offset;
    uint64_t actual_count;
    proto_item *item; /* of the last count */
} ndr_counts;

/* The ids of the fields that show the counts. */
typedef struct {
    int max_count;
    int offset;
    int actual_count;
} ndr_count_fields;

/* `offset` is where the stub begins in `tvb`; parameters are aligned from the tvb's start, as Wireshark does. */
void ndr_init(ndr_reader *ndr, tvbuff_t *tvb, uint32_t offset, proto_tree *tree, perf_report *report,
              const dcerpc_info *di, const uint8_t *drep);

void ndr_align(ndr_reader *ndr, uint32_t to);

/* A count or size of NDR's own: 4 bytes, in NDR64 8. */
uint64_t ndr_count(ndr_reader *ndr, int hf);

uint32_t ndr_u32(ndr_reader *ndr, int hf);
void ndr_guid(ndr_reader *ndr, int hf, uint8_t guid[16]);

/* A context handle; `handle` gets its bytes as little-endian sends them, so that one handle always looks the same. */
void ndr_context_handle(ndr_reader *ndr, int hf, uint8_t handle[NDR_CONTEXT_HANDLE_SIZE]);

/* [string] wchar_t *: UTF-8 in the packet's pool, or NULL. */
const char *ndr_wide_string(ndr_reader *ndr, const ndr_count_fields *fields, int hf, const char *what);

/* Counts of [size_is, length_is] (conformant varying) and [size_is] (conformant) arrays. A conformant array's actual
 * count is its max count. */
void ndr_varying_counts(ndr_reader *ndr, const ndr_count_fields *fields, ndr_counts *counts);
void ndr_conformant_count(ndr_reader *ndr, const ndr_count_fields *fields, ndr_counts *counts);

/* The elements of such an array as a tvbuff of their own. Where the array is longer than the stub it holds what is
 * there; NULL if the counts themselves could not be read. */
tvbuff_t *ndr_elements(ndr_reader *ndr, const ndr_counts *counts, uint32_t element_size, const char *what);

#endif
