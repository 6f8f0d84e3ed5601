/* names.h
 * The names file (docs/names-file.md): names and types that are known before a capture, kept in state/metadata until it ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Lines of known-names.txt, without comments; NULL behind the last. */
extern const char *const names_builtin[];

/* Has the file read before each capture: that of the preference; "": the one in the profile's, or the personal folder. */
void names_file_register(const char *const *preference);

/* Returns the names and types that the capture taught as such a file, to be freed; NULL: there are none. */
GString *names_file_text(void);
