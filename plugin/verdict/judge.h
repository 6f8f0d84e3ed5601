/* judge.h
 * The verdict on all monitors of a capture.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Counts a request or response. Returns its query, created with its first call; NULL: not about performance counters, not read, or repeated. Needs:
 * the order of the capture. */
const verdict_query *verdict_count(verdict *v, packet_info *pinfo, const tapped_call *tapped);

/* Makes the monitors of what was counted, and their findings. Changes: frees the monitors and findings of the judgement before. */
void verdict_judge(verdict *v);

/* Judges as verdict_judge() does, the worst monitor first. Changes: removes monitors with nothing to say, but keeps the last if all have none. */
void verdict_judge_for_display(verdict *v);
