/* names.h
 * What is known before a capture: the names file (docs/names-file.md describes it), and the manifests of providers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* The file is read before each capture. */
void names_file_register(void);

/* What the capture taught, as such a file; NULL if that is nothing. To be freed. */
char *names_file_text(void);

/* Name of the file that the preference gives, "" for the default in the profile's or the personal folder. The file is
 * read before the next capture. */
void names_file_choose(const char *path);

/* A manifest is the XML from which a counterset is installed on Windows, with its GUID, its counters' ids, types, base ids and
 * names: it does for a names file. The schema is at learn.microsoft.com, "Performance Counters Schema". Adds its countersets, for
 * any server. What cannot be read is reported under the name `path` and left out. Time and memory are proportional to the size. */
void manifest_read(const char *path, const char *text, size_t size);

/* --- What both write alike --------------------------------------------------------------------------------------- */

/* Of one report; a file that is something else has a fault in each line. */
#define MAX_REPORTED_LINES 10

/* A whole word, decimal or hexadecimal with 0x, up to 32 bits. */
bool names_parse_number(const char *text, uint32_t *number);

/* {b4fc721a-0378-476f-89ba-a5a79f810b36} as little-endian bytes. */
bool names_parse_guid(const char *text, uint8_t guid[16]);
