/* fault.h
 * Whose fault it is that a sample came late: what lies between it and the one before decides, and nothing else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/talks.h"

/* What a connection's packets tell between two moments (seconds of the capture); NULL: nothing. */
const wire_event *verdict_fault_event(const verdict_connection *connection, wire_kind kind, double begin, double end);

/* What they tell about the request in frame `about`; NULL: nothing. */
const wire_event *verdict_fault_about(const verdict_connection *connection, wire_kind kind, uint32_t about);

/* The client closed its pipe, or ended the connection, between them. */
bool verdict_fault_left(const verdict_connection *connection, double begin, double end);

/* Of a sample that came late after `before` (both places among the monitor's calls); `is_answer`: it was asked for in time, and its
 * answer is what took so long. */
typedef struct {
    verdict_kind kind; /* VERDICT_LOST: it may have been there in time; VERDICT_NUM_KINDS: another finding says it */
    verdict_party party;
    uint32_t frame; /* that shows it, */
    double time;    /* and when it came */
} verdict_blame;

/* Adds the frames of all packets that were sent again, or acknowledged late, between two calls of the monitor. */
void verdict_fault_all_resent(const verdict_monitor *monitor, unsigned before, unsigned late, verdict_shown *shown);

/* Seconds that the later call's connection took to be made, 0 if that was not between the two. */
double verdict_fault_connecting(const verdict_call *before, const verdict_call *call);

/* What the capture lacks between the two, which only a later packet may tell, and on another connection that the monitor uses in turn. */
const wire_event *verdict_fault_lost(const verdict_monitor *monitor, unsigned before, unsigned late);

verdict_blame verdict_fault(const verdict_monitor *monitor, unsigned before, unsigned late, bool is_answer);
