/* known-titles.h
 * Titles of HKEY_PERFORMANCE_DATA's base objects and counters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdint.h>

/* Returns the English title that a title index has on every Windows; NULL: not in the list. */
const char *perf_known_title(uint32_t title_index);
