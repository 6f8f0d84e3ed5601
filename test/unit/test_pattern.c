/* test_pattern.c
 * Patterns of counter paths
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "text/pattern.h"

#include <stdio.h>
#include <string.h>

#define PATH "\\\\SRV\\Processor Information(0,0)\\% Processor Time"

static unsigned failures;

static void expect(const char *patterns, const char *path, bool expected)
{
    if (perf_patterns_match(patterns, path) != expected) {
        fprintf(stderr, "%s on %s: expected %d\n", patterns, path, expected);
        failures++;
    }
}

static void expect_paths(const char *patterns, bool expected)
{
    if (perf_patterns_are_paths(patterns) != expected) {
        fprintf(stderr, "%s are paths: expected %d\n", patterns, expected);
        failures++;
    }
}

static void test_paths(void)
{
    expect_paths(PATH, true);
    expect_paths("\\*\\*", true);
    expect_paths("\\Set\\Counter; \\\\SRV\\Set(*)\\Counter", true);
    expect_paths("\\Set(C:\\a.sys)\\Counter\\of it", true);
    expect_paths("\\Set\\Counter;\\Set\\Counter", true);
    expect_paths("", false);
    expect_paths(" ; ", false);
    expect_paths("*", false);
    expect_paths("Set\\Counter", false);
    expect_paths("\\Set", false);
    expect_paths("\\Set\\", false);
    expect_paths("\\\\Counter", false);
    expect_paths("\\\\SRV\\Set", false);
    expect_paths("\\\\\\Set\\Counter", false);
    expect_paths("\\\\SRV\\\\Counter", false);
    expect_paths("\\Set\\Counter;Counter", false);
}

/* Many stars and a path that nearly fits: has to end soon. */
static void test_cost(void)
{
    static char pattern[2001], path[100001];

    for (unsigned i = 0; i < 1000; i++) {
        memcpy(pattern + 2 * i, "*a", 2);
    }
    pattern[1999] = 'b';
    memset(path, 'a', sizeof path - 1);
    expect(pattern, path, false);
    path[sizeof path - 2] = 'b';
    expect(pattern, path, true);
}

int main(void)
{
    expect(PATH, PATH, true);
    expect("\\\\srv\\processor information(0,0)\\% processor time", PATH, false); /* who asks has both in capitals */
    expect("\\Jobs([*])\\a[;]b", "\\\\SRV\\Jobs(*)\\a;b", true);
    expect("\\Jobs([*])\\a[;]b", "\\\\SRV\\Jobs(x)\\a;b", false);
    expect("\\Jobs\\end[ ] ;\\Other\\x", "\\\\SRV\\Jobs\\end ", true);
    expect("\\Jobs\\end[ ] ;\\Other\\x", "\\\\SRV\\Jobs\\end", false);
    expect("\\Card(Intel[R] [[]*])\\*", "\\\\SRV\\Card(Intel[R] [2])\\x", true);
    expect("\\Card([", "\\\\SRV\\Card([", true);
    expect("\\Processor Information(0,0)\\% Processor Time", PATH, true);
    expect("\\Processor Information(*)\\% Processor Time", PATH, true);
    expect("\\Processor Information(*)\\*", PATH, true);
    expect("\\*\\% Processor Time", PATH, true);
    expect("*% Processor Time", PATH, true);
    expect("\\\\OTHER\\*;\\Processor Information(0,0)\\% Processor Time", PATH, true);
    expect("", PATH, false);
    expect(" ; ", PATH, false);
    expect("*", PATH, true);
    expect("***", PATH, true);
    expect("*Processor*Processor*Processor*", PATH, false);
    expect("*Processor*Processor*", PATH, true);
    expect("\\\\OTHER\\*", PATH, false);
    expect("\\\\SRV\\*", PATH, true);
    expect("\\SRV\\*", PATH, false);
    expect("Processor Information(0,0)\\% Processor Time", PATH, false);
    expect("\\Processor Information(0,0)\\% Processor Tim", PATH, false);
    expect("\\Processor Information(0,0)\\% Processor Time ", PATH, true); /* blanks around a pattern are none of it */
    expect("", PATH, false);
    expect(" ; ;", PATH, false);
    expect("\\Memory\\*; \\Processor Information(*)\\*", PATH, true);
    expect("\\Memory\\*;\\System\\*", PATH, false);
    expect("*", "", true);
    expect("\\Memory\\*", "\\\\SRV", false);
    expect("?Processor*", PATH, false);
    expect("\\A\\B;C", "\\A\\B;C", false); /* a pattern ends where the next begins */
    test_paths();
    test_cost();
    return failures > 0;
}
