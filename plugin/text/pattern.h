/* pattern.h
 * Patterns of counter paths: "\Processor(*)\% Processor Time", several of them with ";" between.
 *
 * `*` stands for any text, everything else for itself; `[*]`, `[;]`, `[[]` and `[ ]` for what is in the brackets, where it would
 * mean something else. A pattern that begins with one backslash fits the paths of every machine.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stdbool.h>

/* True if each of them, and there is one, has what a path has: "\Set\Counter", a machine before that or none. */
bool perf_patterns_are_paths(const char *patterns);

/* True if one of them fits the whole path. Takes at most (length of the path) * (length of the patterns) steps. */
bool perf_patterns_match(const char *patterns, const char *path);
