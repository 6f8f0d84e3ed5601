/* hkpd-titles.h
 * Lists of titles: what HKEY_PERFORMANCE_DATA and its texts answer to "Counter 009" and "Help 009".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_TITLES_H
#define PCQ_HKPD_HKPD_TITLES_H

#include "hkpd/hkpd-buffers.h"

void hkpd_titles_register(int proto);

/* One pair of a list of titles. */
typedef void (*hkpd_title_visitor)(uint32_t index, const char *text, void *user);

/* True if the data is a whole list: pairs of a number and a text, each with its terminator. Calls `visit` (may be
 * NULL) for each. */
bool hkpd_check_titles(tvbuff_t *tvb, wmem_allocator_t *pool, hkpd_title_visitor visit, void *user);
void hkpd_dissect_titles(tvbuff_t *tvb, proto_tree *tree, hkpd_context *context);

#endif
