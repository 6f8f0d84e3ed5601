/* monitors.h
 * What is right and what is wrong with each monitor of a capture: one client that asks one server for one set of counters, by one query
 * after the other if it opens a new one for each sample.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/queries.h"
#include "state/state.h"
#include "tap/tapped.h"
#include "state/pace.h"
#include "taps/sealed-talk.h"

/* Worst first: X(NUMBER, name in JSON, what is counted: one, several, and the rest; filter that shows it; NULL: its first frame) */
#define MONITOR_FINDINGS(X) \
    X(CALL_FAILED, "call_failed", "call", "calls", " failed", "pcq.expert.call_failed || hkpd.expert.call_failed") \
    X(NO_DATA, "no_data", "answer without data, and none with data followed (by sizes: a failure, or a size probe", \
      "answers without data, and none with data followed (by sizes: failures, or size probes", " in vain)", NULL) \
    X(RESTARTED, "restarted", "restart of the server, or another one answers", \
      "restarts of the server, or others answer", ": its clock began again", NULL) \
    X(BROKEN, "broken", "connection", "connections", " ended by the server, or on the way, while a query was open", \
      NULL) \
    X(UNANSWERED, "unanswered", "call", "calls", " never answered", NULL) \
    X(LOST, "lost", "frame tells", "frames tell", " of packets that were not captured", \
      "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment") \
    X(DAMAGED, "damaged", "sample", "samples", " cut short or damaged", "_ws.malformed || frame.cap_len < frame.len") \
    X(RESENT, "resent", "packet resent: the network lost or delayed it", \
      "packets resent: the network lost or delayed them", "", "tcp.analysis.retransmission") \
    X(ANSWERED_LATE, "answered_late", "sample", "samples", \
      " late because the server, or the network behind the capture, answered late", NULL) \
    X(ASKED_LATE, "asked_late", "sample", "samples", \
      " late because the client, or the network before the capture, asked late", NULL) \
    X(STOPPED, "stopped", "query", "queries", " left open that the client does not ask any more", NULL) \
    X(BLOCK_FAILED, "block_failed", "value", "values", " not given", "pcq.expert.block_failed") \
    X(REFUSED, "counter_refused", "counter", "counters", " refused", "pcq.expert.counter_refused") \
    X(EMPTY, "empty", "sample", "samples", " without a value: no counter was accepted, or what had values is gone", \
      NULL) \
    X(RESET, "reset", "value", "values", " began again (value went backwards)", NULL) \
    X(ASSUMED, "assumed", "value", "values", " of an assumed counter or instance", "pcq.expert.order_assumed") \
    X(UNTYPED, "untyped", "value without a result: its type was", "values without a result: their types were", \
      " asked for before the capture began", NULL)

#define MONITOR_NUMBER(number, ...) MONITOR_##number,
enum { MONITOR_FINDINGS(MONITOR_NUMBER) MONITOR_NUM_FINDINGS };

typedef struct {
    const char *name, *one, *several, *rest, *filter;
} monitor_finding_kind;

extern const monitor_finding_kind monitor_finding_kinds[MONITOR_NUM_FINDINGS];

typedef struct {
    uint64_t count;
    uint32_t frame; /* the first */
    char *what;     /* of which, or which error: of the first; NULL if there is nothing to say */
} monitor_finding;

/* As of its newest call, or sample. */
typedef struct {
    uint64_t call;              /* as `calls` counts them */
    const state_handle *handle; /* NULL once its capture is closed */
    uint32_t closed_frame;      /* of that: 0: left open */
    bool has_ended;             /* its connection */
    uint32_t waiting_frame;     /* request that is not answered yet, 0: none, */
    uint32_t waiting_beside;    /* another one, 0: none, */
    nstime_t waiting_since;     /* and when the last packet of a call came */
    const char *waiting_for;    /* operation */
    uint32_t sample_frame;
    unsigned question; /* stands for what HKEY_PERFORMANCE_DATA was asked for */
    uint64_t counters;
    int64_t unknown; /* of them, that no ValidateCounters in the capture added */
} monitor_newest;

/* One query, handle of HKEY_PERFORMANCE_DATA, sealed query, or server for what has neither; or several that follow each other. */
typedef struct {
    char *client, *server;
    uint32_t port;          /* of the client, when its first handle was opened */
    const void *connection; /* that it used last, until that ends */
    char *account;          /* "" if no logon was seen */
    bool is_copy;           /* made when it was joined with others */
    bool is_other;          /* those for which there is no room */
    bool is_sealed;
    state_handle_kind kind; /* NUM_HANDLE_KINDS without one */
    uint32_t number;        /* of the first handle, 0 as long as the server is not known to know it */
    uint32_t opened_frame;  /* of the first handle, 0 if that was before the capture */
    bool is_answered;       /* any of its calls */
    bool ends_in_noise;     /* decryption makes noise of what its connection says further on */
    uint64_t handles;       /* or sealed queries */
    unsigned asked_for;     /* stands for its counters; 0 before it asks for a sample */
    GHashTable *refused;    /* hashes of the identifiers */
    uint64_t refusals;      /* of them, each time */
    uint64_t failed;        /* blocks */
    uint64_t probes;        /* answers that said how much room is needed */
    uint64_t no_data;       /* answers to who wanted some */
    uint64_t samples;
    uint64_t bytes;          /* of them */
    double offsets;          /* of the server's clock from the capture's, added up, */
    uint64_t num_offsets;    /* and of how many samples */
    perf_point first_clocks; /* of the first sample */
    sealed_talk talk;
    uint64_t first_call;  /* that tells whom it goes on as */
    uint32_t first_frame; /* sample */
    double first_wait;    /* for it, probes and all */
    pace_requests first_requests;
    monitor_newest newest;
    uint64_t unanswered; /* requests that another one followed */
    state_pace pace;     /* times in seconds */
    double longest;      /* interval */
    perf_spread responses;
    double slowest; /* response, and its frame */
    uint32_t slowest_frame;
    monitor_finding findings[MONITOR_NUM_FINDINGS];
} monitor;

/* All of a capture. */
typedef struct {
    bool counts_values;
    GPtrArray *parts;  /* monitor: each query as it was counted */
    GPtrArray *copies; /* monitor: what was joined */
    GPtrArray *all;    /* of both, those that nobody goes on as */
    GHashTable *whose; /* state_handle, sealed connection, or client and server for what has neither -> its part */
    GHashTable
        *connections; /* hash of addresses and ports -> its parts: the one that used it last, and behind it each */
    uint64_t calls;
    nstime_t end; /* of the capture */
} monitors;

/* Before the first packet: what other packets tell, for all that there are then. */
void monitors_watch(void);

/* `counts_values`: findings of values are wanted, too. */
monitors *monitors_new(bool counts_values);
void monitors_reset(monitors *m);
void monitors_free(monitors *m);

/* Each call that was captured once. */
void monitors_count(monitors *m, packet_info *pinfo, const tapped_call *tapped);

/* In a window, which is not told the last call: it is time to join or judge anew. */
bool monitors_are_due(const monitors *m);

/* Joins those that follow each other, in `all`. Both may be asked again when more has gone by: who seemed to follow may turn out not to. */
void monitors_join(monitors *m);

/* The same; fills in who was late, and leaves in `all` what there is something to say of, the worst first. */
void monitors_judge(monitors *m);

/* The worst finding, MONITOR_NUM_FINDINGS if there is none. What is assumed, or has no type, is not wrong. */
unsigned monitor_worst(const monitor *of);
static inline bool monitor_is_healthy(const monitor *of)
{
    return of->samples > 0 && monitor_worst(of) >= MONITOR_ASSUMED;
}
