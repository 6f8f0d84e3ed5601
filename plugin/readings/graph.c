/* graph.c
 * Which values the preference `pcq.graph` picks.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/graph.h"

#include "perf/pattern.h"

static perf_patterns chosen;

void graph_choose(const char *patterns)
{
    perf_patterns_set(&chosen, patterns);
}

bool graph_is_on(void)
{
    return chosen.count > 0;
}

bool graph_wants(const char *path)
{
    return perf_patterns_match(&chosen, path);
}
