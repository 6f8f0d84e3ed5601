/* manifest.h
 * Reads a provider's instrumentation manifest: the XML from which a counterset is installed on Windows. It holds the
 * counterset's GUID, the counters' ids, types, base ids and names, so it does for a names file.
 * The schema is at learn.microsoft.com, "Performance Counters Schema".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_NAMES_MANIFEST_H
#define PCQ_NAMES_MANIFEST_H

#include "ws_compat.h"

/* Does a file that begins so hold XML, in UTF-8 or UTF-16? */
bool manifest_is_one(const char *text, size_t size);

/* Adds the countersets of `size` bytes to what the names file tells, for any server. What cannot be read is reported
 * under the name `path` and left out. Time and memory are proportional to the size. */
void manifest_read(const char *path, const char *text, size_t size);

#endif
