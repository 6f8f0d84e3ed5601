/* pattern.c
 * Patterns of counter paths
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/pattern.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN ';'

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static char *trim(char *pattern)
{
    size_t length;

    pattern += strspn(pattern, " \t");
    for (length = strlen(pattern); length > 0 && (pattern[length - 1] == ' ' || pattern[length - 1] == '\t');
         length--) {
        pattern[length - 1] = '\0';
    }
    return pattern;
}

static void list_patterns(perf_patterns *patterns, size_t size)
{
    char *end = patterns->text + size;

    for (char *at = patterns->text; at < end;) {
        char *next = at + strlen(at) + 1;
        char *pattern = trim(at);
        if (*pattern) {
            patterns->list[patterns->count++] = pattern;
        }
        at = next;
    }
}

void perf_patterns_clear(perf_patterns *patterns)
{
    free(patterns->text);
    free(patterns->list);
    *patterns = (perf_patterns){NULL, NULL, 0};
}

void perf_patterns_set(perf_patterns *patterns, const char *text)
{
    size_t size = strlen(text) + 1, count = 1;

    perf_patterns_clear(patterns);
    patterns->text = malloc(size);
    if (patterns->text == NULL) {
        return;
    }
    for (size_t i = 0; i < size; i++) {
        count += text[i] == BETWEEN;
        patterns->text[i] = text[i] == BETWEEN ? '\0' : small(text[i]);
    }
    patterns->list = malloc(count * sizeof *patterns->list);
    if (patterns->list) {
        list_patterns(patterns, size);
    }
}

/* "\Set\Counter" or "\\SRV\Set\Counter", no part of it empty. */
static bool is_path(const char *pattern)
{
    const char *set = strncmp(pattern, "\\\\", 2) == 0 ? strchr(pattern + 2, '\\') : pattern;
    const char *counter = set && *set == '\\' ? strrchr(set, '\\') : NULL;

    return counter && set != pattern + 2 && counter > set + 1 && counter[1] != '\0';
}

bool perf_patterns_are_paths(const perf_patterns *patterns)
{
    for (unsigned i = 0; i < patterns->count; i++) {
        if (!is_path(patterns->list[i])) {
            return false;
        }
    }
    return patterns->count > 0;
}

/* What stands before a `*` is settled where it fits first: what follows has the most text left then. */
static bool matches(const char *pattern, const char *path)
{
    const char *star = NULL, *from = NULL;

    while (*path) {
        if (*pattern == '*') {
            star = ++pattern;
            from = path;
        } else if (*pattern == small(*path)) {
            pattern++;
            path++;
        } else if (star) {
            pattern = star;
            path = ++from;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

/* "\\SRV\Set\Counter" without its machine. */
static const char *behind_machine(const char *path)
{
    const char *end = strncmp(path, "\\\\", 2) == 0 ? strchr(path + 2, '\\') : NULL;

    return end ? end : path;
}

bool perf_patterns_match(const perf_patterns *patterns, const char *path)
{
    for (unsigned i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->list[i];
        bool any_machine = pattern[0] == '\\' && pattern[1] != '\\';
        if (matches(pattern, any_machine ? behind_machine(path) : path)) {
            return true;
        }
    }
    return false;
}
