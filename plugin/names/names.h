/* names.h
 * What is known before a capture: the names file (docs/names-file.md describes it).
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* The file is read before each capture. */
void names_file_register(void);

/* What the capture taught, as such a file; NULL if that is nothing. To be freed. */
GString *names_file_text(void);

/* Name of the file that the preference gives, "" for the default in the profile's or the personal folder. The file is
 * read before the next capture. */
void names_file_choose(const char *path);
