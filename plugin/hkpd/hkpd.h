/* hkpd.h
 * HKEY_PERFORMANCE_DATA: PERF_DATA_BLOCK (winperf.h) as a stream of values, and in the tree; and lists of titles. packet-hkpd.c has the
 * calls, and keeps the question of each until the file is closed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"
#include "tree/value-tree.h"

/* --- hkpd-values.c --- */

extern const value_ops hkpd_value_ops;

/* Returns the byte order of names and texts. */
static inline unsigned hkpd_text_order(const perf_table *table)
{
    return table->big_endian_text ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN;
}

/* Returns SystemName without backslashes before it, in `pool`; NULL: there is none. */
const char *hkpd_computer_name(wmem_allocator_t *pool, const counter_response *response);

/* --- hkpd-buffers.c: what is shown --- */

/* A list of titles (REG_MULTI_SZ): pairs of an index in digits and a text, both in UTF-16LE whatever the order of the data. Begins with `tvb` alone. */
typedef struct {
    tvbuff_t *tvb;
    uint32_t offset; /* of the newest title, or of bytes that are none */
    uint32_t end;    /* offset behind them */
    uint32_t index;  /* of the title */
    uint32_t text;   /* offset of its text */
    unsigned titles; /* count until now */
    bool is_title;   /* false: bytes up to the next string that is an index */
    bool is_assumed; /* the title stands behind, or directly in front of, bytes that are none */
    bool is_damaged; /* bytes that are no title were read, or the end is known to be missing */
    uint32_t damage; /* offset of the first of them */
} hkpd_title_list;

/* Reads the next title, or the bytes up to the next one (is_title). Returns false at the list's end. */
bool hkpd_next_title(hkpd_title_list *list);

/* Shows a list, and reports its first damage. Returns the list at its end, with its number of titles. */
hkpd_title_list hkpd_show_titles(tvbuff_t *tvb, proto_tree *tree, expert_report *report);

/* Registers the fields of PERF_DATA_BLOCK and of lists of titles. Needs: text_value_strings_init(). */
void hkpd_buffers_register(int proto);

/* Fields and functions that show a PERF_DATA_BLOCK: for value_tree_show(). */
extern const value_tree_ops hkpd_tree_ops;
