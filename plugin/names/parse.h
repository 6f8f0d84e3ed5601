/* parse.h
 * What a names file and a manifest write alike.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Of one report; a file that is something else has a fault in each line. */
#define MAX_REPORTED_LINES 10

/* A whole word, decimal or hexadecimal with 0x, up to 32 bits. */
bool names_parse_number(const char *text, uint32_t *number);

/* The same with a sign, up to 31 bits. */
bool names_parse_scale(const char *text, int32_t *scale);

/* {b4fc721a-0378-476f-89ba-a5a79f810b36} as little-endian bytes. */
bool names_parse_guid(const char *text, uint8_t guid[16]);
