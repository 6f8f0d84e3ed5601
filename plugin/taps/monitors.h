/* monitors.h
 * What is right and what is wrong with each monitor of a capture: one client that asks one server for one set of counters, by one query
 * after the other if it opens a new one for each sample.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "readings/tapped.h"
#include "taps/pace.h"
#include "taps/sealed-talk.h"

/* Worst first: X(NUMBER, name in JSON, what is counted: one, several, filter that shows it; NULL: its first frame) */
#define MONITOR_FINDINGS(X) \
    X(CALL_FAILED, "call_failed", "call failed", "calls failed", "pcq.expert.call_failed || hkpd.expert.call_failed") \
    X(NO_DATA, "no_data", \
      "answer without data, and none with data followed (by sizes: a failure, or a size probe in vain)", \
      "answers without data, and none with data followed (by sizes: failures, or size probes in vain)", NULL) \
    X(RESTARTED, "restarted", "restart of the server, or another one answers: its clock began again", \
      "restarts of the server, or others answer: its clock began again", NULL) \
    X(BROKEN, "broken", "connection ended by the server, or on the way, while a query was open", \
      "connections ended by the server, or on the way, while a query was open", NULL) \
    X(UNANSWERED, "unanswered", "call never answered", "calls never answered", NULL) \
    X(LOST, "lost", "frame tells of packets that were not captured", "frames tell of packets that were not captured", \
      "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment") \
    X(DAMAGED, "damaged", "sample cut short or damaged", "samples cut short or damaged", \
      "_ws.malformed || frame.cap_len < frame.len") \
    X(RESENT, "resent", "packet resent: the network lost or delayed it", \
      "packets resent: the network lost or delayed them", "tcp.analysis.retransmission") \
    X(ANSWERED_LATE, "answered_late", \
      "sample late because the server, or the network behind the capture, answered late", \
      "samples late because the server, or the network behind the capture, answered late", NULL) \
    X(ASKED_LATE, "asked_late", "sample late because the client, or the network before the capture, asked late", \
      "samples late because the client, or the network before the capture, asked late", NULL) \
    X(STOPPED, "stopped", "query left open that the client does not ask any more", \
      "queries left open that the client does not ask any more", NULL) \
    X(BLOCK_FAILED, "block_failed", "value not given", "values not given", "pcq.expert.block_failed") \
    X(REFUSED, "counter_refused", "counter refused", "counters refused", "pcq.expert.counter_refused") \
    X(EMPTY, "empty", "sample without a value: no counter was accepted, or what had values is gone", \
      "samples without a value: no counter was accepted, or what had values is gone", NULL) \
    X(RESET, "reset", "value began again (value went backwards)", "values began again (value went backwards)", NULL) \
    X(ASSUMED, "assumed", "value of an assumed counter or instance", "values of an assumed counter or instance", \
      "pcq.expert.order_assumed") \
    X(UNTYPED, "untyped", "value without a result: its type was asked for before the capture began", \
      "values without a result: their types were asked for before the capture began", NULL)

#define MONITOR_NUMBER(number, ...) MONITOR_##number,
enum { MONITOR_FINDINGS(MONITOR_NUMBER) MONITOR_NUM_FINDINGS };

typedef struct {
    uint64_t count;
    uint32_t frame; /* the first */
    char *what;     /* of which, or which error: of the first; NULL if there is nothing to say */
} monitor_finding;

/* Packets of its connections that tell something; the end of one before its next call. */
enum { MONITOR_PACKET, MONITOR_PACKET_LOST, MONITOR_PACKET_RESENT, MONITOR_PACKET_END, MONITOR_PACKETS };

typedef struct {
    uint64_t count;
    uint32_t frame; /* the first */
} monitor_packets;

typedef struct monitor {
    struct monitor *into; /* goes on as that one; else NULL */
    char *client, *server;
    char *account;              /* "" if no logon was seen */
    const char *sealed;         /* why it cannot be read, NULL if it can */
    const state_handle *handle; /* the last one; NULL once its capture is closed */
    state_handle_kind kind;     /* NUM_HANDLE_KINDS without one */
    bool was_opened;
    bool is_answered;   /* any of its calls */
    bool ends_in_noise; /* decryption makes noise of what its connection says further on */
    uint64_t handles;
    unsigned asked_for;  /* stands for its counters; 0 before the first sample */
    GHashTable *refused; /* hashes of the identifiers */
    uint64_t probes;     /* answers that said how much room is needed */
    uint64_t samples;
    perf_point first_clocks, clocks;           /* of the first sample and the last one, */
    nstime_t first_request_time, request_time; /* or when they were asked for: of sealed ones */
    uint32_t first_call_frame;                 /* sealed */
    sealed_talk talk;
    uint32_t first_event, last_event, first_frame, last_frame;
    double first_wait;       /* for the first sample, probes and all */
    uint32_t waiting_frame;  /* request that is not answered yet, 0: none, */
    nstime_t waiting_since;  /* and when the last packet of a call came */
    const char *waiting_for; /* operation */
    monitor_packets packets[MONITOR_PACKETS];
    uint64_t unanswered; /* requests that another one followed at once */
    pace pace;
    monitor_finding findings[MONITOR_NUM_FINDINGS];
} monitor;

/* All of a capture. */
typedef struct {
    GPtrArray *all;          /* monitor */
    GPtrArray *judged;       /* those that are shown, worst first */
    GHashTable *whose;       /* state_handle, sealed connection, or state_host for what has neither -> monitor */
    GHashTable *connections; /* hash of addresses and ports -> the monitor that used it last */
    nstime_t end;            /* of the capture */
} monitors;

/* Before the first packet: what other packets tell, for all that there are then. */
void monitors_watch(void);

monitors *monitors_new(void);
void monitors_reset(monitors *m);
void monitors_free(monitors *m);

/* Each call that was captured once. */
void monitors_count(monitors *m, packet_info *pinfo, const tapped_call *tapped);

/* When all have gone by: fills in who was late, joins those that follow each other, and puts those with the worst findings first. */
void monitors_judge(monitors *m);

/* The worst finding, MONITOR_NUM_FINDINGS if there is none. What is assumed, or has no type, is not wrong. */
unsigned monitor_worst(const monitor *of);
static inline bool monitor_is_healthy(const monitor *of)
{
    return of->samples > 0 && monitor_worst(of) >= MONITOR_ASSUMED;
}
