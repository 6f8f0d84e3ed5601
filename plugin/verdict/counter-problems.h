/* counter-problems.h
 * Problems of counters and their values: refused, not delivered, failed, malformed, assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Counts problems that a request or response states of counters and values. Needs: monitors_count() counted it. Changes: the query's problems. */
void problems_count(verdict *v, verdict_query *query, packet_info *pinfo, const tapped_call *tapped);

/* Adds a finding to the monitor for each problem that does harm. Needs: monitors_join() made it. */
void problems_find(const verdict *v, verdict_monitor *monitor);
