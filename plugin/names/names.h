/* names.h
 * The names file (docs/names-file.md): names and types that are known before a capture, kept in state/metadata until it ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Lines of known-names.txt, without comments; NULL behind the last. */
extern const char *const names_builtin[];

/* Has the built-in names and the names file read before each capture. `path`: the preference, which is looked at each time; "": the
 * file "pcq_names" of the profile's or else the personal folder, if there is one. */
void names_file_register(const char *const *path);

/* Returns the names and types that the capture's servers sent as such a file, to be freed; NULL: they sent none, or assumed ones alone. */
GString *names_file_text(void);
