/* text.h
 * Text of a packet as UTF-8: UTF-16 in either byte order, or one of Windows' code pages; and words for the Info column. This folder keeps
 * nothing: every text lives in the pool that it is made in.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Longest name that is kept and shown, in characters: PERF_MAX_INSTANCE_NAME of perflib.h. A packet can make names megabytes long, and each
 * is shown with each of its values. */
#define TEXT_NAME_MAX 1024

/* Characters of a text in the Info column, which has room for several. */
#define TEXT_SHORT 80

/* Any length, for texts that are shown once. */
#define TEXT_WHOLE UINT32_MAX

/* Code pages: UTF-16 (as perf_is_utf16() has it), and two that iconv knows by other names. */
#define TEXT_CODE_PAGE_UTF16 1200
#define TEXT_CODE_PAGE_ASCII 20127
#define TEXT_CODE_PAGE_UTF8 65001

/* Returns `size` bytes at `offset` as UTF-8 in `pool`. Needs: bytes without the terminator. `byte_order`: of UTF-16, ENC_LITTLE_ENDIAN or
 * ENC_BIG_ENDIAN. `most`: characters, behind which an ellipsis stands for the others. Bytes that iconv cannot convert are "\x8f". */
const char *text_get(wmem_allocator_t *pool, tvbuff_t *tvb, uint32_t offset, uint32_t size, uint32_t code_page,
                     unsigned byte_order, uint32_t most);

/* Returns how many bytes of UTF-16 stand before its terminator. `room`: bytes that are looked through. */
uint32_t text_utf16_size(tvbuff_t *tvb, uint32_t offset, uint32_t room);

/* Returns a count with its word, "1 block", "7 blocks". `word`: the singular. */
const char *text_counted(wmem_allocator_t *pool, uint64_t count, const char *word);

/* Returns the first `characters` of a text and an ellipsis, in `pool`; `text` itself if it has no more. Needs: UTF-8. */
const char *text_cut(wmem_allocator_t *pool, const char *text, unsigned characters);

/* Returns the text with control characters and marks of direction as escapes, in `pool`; `text` itself if it has none. */
const char *text_escaped(wmem_allocator_t *pool, const char *text);

/* Makes blanks of control characters but line feeds, for a terminal, which a name must not steer. */
void text_blank_controls(char *text);

/* Returns the text with " (assumed)" behind it in `pool`, if it is assumed; else `text` itself. */
const char *text_marked(wmem_allocator_t *pool, const char *text, bool assumed);
