/* pattern.c
 * Patterns of counter paths
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "text/pattern.h"

#include <stddef.h>
#include <string.h>

#define BETWEEN ';'
#define BLANKS " \t"

/* "[*]", "[;]", "[[]" and "[ ]" stand for what is in the brackets; all other brackets for themselves. */
static bool is_literal(const char *pattern)
{
    return pattern[0] == '[' && pattern[1] != '\0' && strchr("*;[ ", pattern[1]) && pattern[2] == ']';
}

/* The first of the patterns without the blanks around it, which may be empty. Returns those behind it, NULL if there are none. */
static const char *take_first(const char *patterns, const char **begin, const char **end)
{
    const char *behind = patterns;

    while (*behind && *behind != BETWEEN) {
        behind += is_literal(behind) ? 3 : 1;
    }
    *begin = patterns + strspn(patterns, BLANKS);
    *end = behind;
    while (*end > *begin && strchr(BLANKS, (*end)[-1])) {
        --*end;
    }
    return *behind ? behind + 1 : NULL;
}

/* "\Set\Counter" or "\\SRV\Set\Counter", no part of it empty. */
static bool is_path(const char *begin, const char *end)
{
    const char *set = strncmp(begin, "\\\\", 2) == 0 ? memchr(begin + 2, '\\', (size_t)(end - begin - 2)) : begin;
    const char *counter = end;

    while (counter > begin && counter[-1] != '\\') {
        counter--;
    }
    return set && *set == '\\' && set != begin + 2 && counter > set + 2 && counter < end;
}

bool perf_patterns_are_paths(const char *patterns)
{
    const char *begin, *end;
    bool any = false;

    while (patterns) {
        patterns = take_first(patterns, &begin, &end);
        if (begin < end && !is_path(begin, end)) {
            return false;
        }
        any = any || begin < end;
    }
    return any;
}

/* What stands before a `*` is settled where it fits first: what follows has the most text left then. */
static bool matches(const char *pattern, const char *end, const char *path)
{
    const char *star = NULL, *from = NULL;

    while (*path) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            from = path;
        } else if (pattern < end && pattern[is_literal(pattern)] == *path) {
            pattern += is_literal(pattern) ? 3 : 1;
            path++;
        } else if (star) {
            pattern = star;
            path = ++from;
        } else {
            return false;
        }
    }
    return pattern + strspn(pattern, "*") >= end;
}

bool perf_patterns_match(const char *patterns, const char *path)
{
    const char *begin, *end, *set = strncmp(path, "\\\\", 2) == 0 ? strchr(path + 2, '\\') : NULL;

    while (patterns) {
        patterns = take_first(patterns, &begin, &end);
        bool any_machine = begin[0] == '\\' && begin[1] != '\\';
        if (matches(begin, end, any_machine && set ? set : path)) {
            return true;
        }
    }
    return false;
}
