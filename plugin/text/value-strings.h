/* value-strings.h
 * Value names that both protocols show: Win32 errors, counter types, detail levels, reasons. One table each.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#include "perf/calculate.h"

/* Win32 error codes ([MS-ERREF] 2.2) by their Windows names. */
extern value_string_ext text_win32_error_ext;

extern const value_string text_counter_type_vals[];
extern const value_string text_detail_level_vals[];
extern const value_string text_none_reason_vals[];
extern const value_string text_block_type_vals[];

/* Locale identifiers ([MS-LCID]): language tag and language. */
extern const value_string text_lcid_vals[];

/* Gives Win32 errors their Windows names (ERROR_X), which Wireshark calls WERR_X. Needs: no field is registered yet. */
void text_value_strings_init(void);

/* Returns "ERROR_NO_DATA"; "error 12345" in `pool` for an error without a name. */
const char *text_win32_error(wmem_allocator_t *pool, uint32_t status);

/* Returns the status of a DCE/RPC fault in Wireshark's words, or as a Win32 error, which Windows sends there, too. */
const char *text_fault(wmem_allocator_t *pool, uint32_t status);

/* Returns the meaning of a Win32 error, or of a fault's status, for a client: "no data now: the instance is not there; it may come later"; "" if
 * it is not known. */
const char *text_error_meaning(uint32_t status);
