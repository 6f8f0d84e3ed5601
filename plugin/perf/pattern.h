/* pattern.h
 * Patterns of counter paths: "\Processor(*)\% Processor Time", several of them with ";" between.
 *
 * `*` stands for any text, everything else for itself, ASCII letters in either case (as PDH compares them). A pattern that
 * begins with one backslash fits the paths of every machine.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stdbool.h>

/* Begins as zeros. */
typedef struct perf_patterns {
    char *text;  /* small letters, each pattern with a terminator of its own */
    char **list; /* `count` of them */
    unsigned count;
} perf_patterns;

/* Replaces the patterns. Without memory there are none. */
void perf_patterns_set(perf_patterns *patterns, const char *text);

void perf_patterns_clear(perf_patterns *patterns);

/* True if each of them, and there is one, has what a path has: "\Set\Counter", a machine before that or none. */
bool perf_patterns_are_paths(const perf_patterns *patterns);

/* True if one of them fits the whole path. Takes at most (length of the path) * (length of the patterns) steps. */
bool perf_patterns_match(const perf_patterns *patterns, const char *path);
