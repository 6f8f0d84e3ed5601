/* graph.h
 * Which values the preference `pcq.graph` picks for the I/O graph: pcq.graph and hkpd.graph hold their results again, and
 * nothing else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_READINGS_GRAPH_H
#define PCQ_READINGS_GRAPH_H

#include <stdbool.h>

/* Takes the preference: patterns of paths (perf/pattern.h). */
void graph_choose(const char *patterns);

/* True if any are chosen: asked before a path is made. */
bool graph_is_on(void);

/* True if the value with this path is one of them. */
bool graph_wants(const char *path);

#endif
