/* judge.h
 * The verdict on all monitors of a capture.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* Counts a request or response. */
void verdict_count(verdict *v, packet_info *pinfo, const tapped_call *tapped);

/* Makes the monitors of what was counted, and judges them. */
void verdict_judge(verdict *v);

/* The same, the worst first. Changes: keeps only monitors of which there is something to say, but one in any case. */
void verdict_judge_for_display(verdict *v);
