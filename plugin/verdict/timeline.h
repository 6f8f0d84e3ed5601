/* timeline.h
 * The verdict for readers without Wireshark: findings in plain words, calls of a monitor as states on a line of time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/monitors.h"

/* The worst last. X(STATE, name) */
#define TIMELINE_STATES(X) \
    X(ANSWERED, "answered") \
    X(LATE, "late") \
    X(SLOW, "slow") \
    X(EMPTY, "without data") \
    X(MALFORMED, "malformed") \
    X(UNANSWERED, "no answer") \
    X(NOT_CAPTURED, "not captured") \
    X(RESTARTED, "restarted") \
    X(FAILED, "failed")

#define TIMELINE_NUMBER(state, ...) TIMELINE_##state,
typedef enum { TIMELINE_STATES(TIMELINE_NUMBER) NUM_TIMELINE_STATES } timeline_state;

extern const char *const timeline_state_names[NUM_TIMELINE_STATES];

typedef struct {
    double at;      /* seconds since 1970: of the response, without one of the request */
    double seconds; /* from the request to the response, negative: not known */
    uint32_t frame;
    timeline_state state;
} timeline_call;

/* Returns calls of a judged monitor (timeline_call, ascending by time), to be freed. Without a call that is not captured, VERDICT_LOST is one. */
GArray *timeline_find_calls(const verdict_monitor *monitor);

/* Returns the kind in plain words, and its port or first path: "Counters refused, first \Set(*)\Counter", in the monitor's pool. */
const char *format_finding_what(const verdict_monitor *monitor, const verdict_finding *finding);

/* Returns the party: "Server SRV01", "Client 192.0.2.10", "Network to SRV01", "Capture"; not known: "192.0.2.10 to SRV01". In the monitor's pool. */
const char *format_finding_who(const verdict_monitor *monitor, const verdict_finding *finding);
