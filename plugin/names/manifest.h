/* manifest.h
 * A provider's manifest: the XML from which a counterset is installed on Windows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* It holds the counterset's GUID, the counters' ids, types, base ids and names, so it does for a names file. The schema is at
 * learn.microsoft.com, "Performance Counters Schema". Does a file that begins so hold XML, in UTF-8 or UTF-16? */
bool manifest_is_one(const char *text, size_t size);

/* Adds the countersets of `size` bytes, for any server. What cannot be read is reported under the name `path` and left
 * out. Time and memory are proportional to the size. */
void manifest_read(const char *path, const char *text, size_t size);
