/* counter-problems.h
 * Problems of counters and their values: refused, not delivered, failed, malformed, assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Counts what a call of a query says of counters and values. */
void problems_count(verdict *v, verdict_query *query, packet_info *pinfo, const tapped_call *tapped);

/* Adds a finding for each problem that does harm. */
void problems_find(const verdict *v, verdict_monitor *monitor);
