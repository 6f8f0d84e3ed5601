/* monitors.h
 * What is right and what is wrong with each monitor of a capture: one client that asks one server for one set of counters, by one query
 * after the other if it opens a new one for each sample.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/tapped.h"
#include "taps/pace.h"

/* Worst first: X(NUMBER, name in JSON, what it is called, filter that shows it; NULL: its first frame) */
#define MONITOR_FINDINGS(X) \
    X(CALL_FAILED, "call_failed", "failed", "pcq.expert.call_failed || hkpd.expert.call_failed") \
    X(RESTARTED, "restarted", "the server's clock began again", NULL) \
    X(ANSWERED_LATE, "answered_late", "late because the server, or the network behind the capture, answered late", \
      NULL) \
    X(ASKED_LATE, "asked_late", "late because the client asked late", NULL) \
    X(BLOCK_FAILED, "block_failed", "not given", "pcq.expert.block_failed") \
    X(REFUSED, "counter_refused", "refused", "pcq.expert.counter_refused") \
    X(DAMAGED, "damaged", "cut short or damaged", "_ws.malformed || frame.cap_len < frame.len") \
    X(RESET, "reset", "began again (value went backwards)", NULL) \
    X(ASSUMED, "assumed", "of an assumed counter or instance", "pcq.expert.order_assumed")

#define MONITOR_NUMBER(number, ...) MONITOR_##number,
enum { MONITOR_FINDINGS(MONITOR_NUMBER) MONITOR_NUM_FINDINGS };

typedef struct {
    uint64_t count;
    uint32_t frame; /* the first */
    char *what;     /* of which, or which error: of the first; NULL if there is nothing to say */
} monitor_finding;

typedef struct {
    char *client, *server;
    char *account;              /* "" if no logon was seen */
    const char *sealed;         /* why it cannot be read, NULL if it can */
    const state_handle *handle; /* the last one */
    uint64_t handles;
    unsigned asked_for; /* stands for its counters; 0 before the first sample */
    uint64_t counters;
    uint64_t samples;
    perf_point clocks;     /* of the last sample, */
    nstime_t request_time; /* or when it was asked for: of a sealed one */
    pace pace;
    monitor_finding findings[MONITOR_NUM_FINDINGS];
} monitor;

/* All of a capture. */
typedef struct {
    GPtrArray *all;     /* monitor */
    GHashTable *whose;  /* state_handle, sealed connection, or state_host for what has neither -> monitor */
    GHashTable *latest; /* client, server and counters -> the monitor of them that began last */
} monitors;

monitors *monitors_new(void);
void monitors_free(monitors *m);

/* Each call that was captured once. */
void monitors_count(monitors *m, packet_info *pinfo, const tapped_call *tapped);

/* When all have gone by: fills in who was late, and puts those with the worst findings first. */
void monitors_judge(monitors *m);

/* The worst finding, MONITOR_NUM_FINDINGS if there is none. What is assumed is not wrong. */
unsigned monitor_worst(const monitor *of);
static inline bool monitor_is_healthy(const monitor *of)
{
    return of->samples > 0 && monitor_worst(of) >= MONITOR_ASSUMED;
}
