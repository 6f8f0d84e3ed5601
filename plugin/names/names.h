/* names.h
 * What is known before a capture: the names file (docs/names-file.md describes it).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* The file is read before each capture: that of the preference, "" for the default in the profile's or the personal folder. */
void names_file_register(const char *const *preference);

/* What the capture taught, as such a file; NULL if that is nothing. To be freed. */
GString *names_file_text(void);
