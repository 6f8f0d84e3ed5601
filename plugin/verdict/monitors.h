/* monitors.h
 * Monitors: a client that polls one server for one set of counters, through one query or several in succession.
 *
 * Calls are counted by query: a handle of PerflibV2, one question of a key of HKEY_PERFORMANCE_DATA, or a sealed query; others by their peers' first.
 * A judgement joins queries to monitors and changes nothing that was counted, so a listener can judge at any time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/steps.h"

#include "perf/timing.h"
#include "taps/omissions.h"

enum { ACCESS_DENIED = 5 }; /* Win32 error, also a fault's status */

typedef enum {
    CALL_WAITS,   /* for its response */
    CALL_DONE,    /* answered; nothing is known of data, or none was asked for */
    CALL_SAMPLE,  /* brought data */
    CALL_PROBE,   /* was told how large a buffer it needs */
    CALL_EMPTY,   /* succeeded without the data that it asked for; sealed: or failed */
    CALL_DAMAGED, /* brought what cannot be read */
    CALL_FAILED,
} call_outcome;

/* A call. Times are those of the capture, in seconds since 1970. */
typedef struct {
    verdict_moment asked;                 /* the request, or its size probe; frame 0: not captured */
    verdict_moment answered;              /* the response; zeros: not captured */
    double acked;                         /* time of a packet without data that acknowledged the request; 0: none did */
    double began;                         /* time of the response's first segment; 0: not known */
    double seconds;                       /* from the request to the response; negative: not known */
    connection_troubles at_request;       /* of its connection, until the request; not captured: until the response */
    connection_troubles at_response;      /* until the response; zeros: not captured */
    double clock;                         /* the server's performance time in the sample; 0: not known */
    double date;                          /* the server's time of day in the sample, since 1970; 0: not known */
    const verdict_connection *connection; /* never NULL */
    const pipe_failure *failure;          /* in the place of the response; NULL: none, or not judged yet */
    struct verdict_query *query;
    const char *operation;        /* interned */
    uint64_t key;                 /* of its query, operation, and the key, name or question that it is about */
    uint32_t status;              /* of the response: Win32 error, or, if `is_fault`, a fault's */
    uint32_t size;                /* bytes of counter data */
    uint32_t num_open;            /* sealed: queries that were open then */
    uint32_t number;              /* among its query's calls for data, see `asked`; 0: none */
    bool is_fault, does_not_seal; /* does_not_seal: it was denied, and its client signs its calls, or less */
    bool asks;                    /* for counter data */
    uint8_t outcome;              /* call_outcome */
} monitor_call;

/* Returns the packet that shows what is wrong with a call: the response, else the request. */
static inline verdict_moment monitor_call_shown_at(const monitor_call *call)
{
    return call->answered.frame > 0 ? call->answered : call->asked;
}

#define QUIET_S 5.0   /* seconds without data from which on a monitor has none: sealed responses failed, and */
#define QUIET_TIMES 3 /* times its usual interval */

#define MANY_EMPTY 3 /* responses without data in a row, after the last sample */
#define MANY_OPEN 10 /* queries left open: fewer are no finding */

/* Problems of a monitor: X(PROBLEM, kind and party of the finding, fewest, sentence). `fewest`: so many frames make a finding; EMPTY and ROOM count behind the
 * last sample, LEFT_OPEN queries. $F: path of the first counter, or operation; %s: error. NULL: steps_add_failure() has the sentence. Up to NAMES a response
 * states them of its counters and values. From PROTECTION on a monitor has the first alone: the others are consequences. */
#define PROBLEMS(X) \
    X(NOT_DELIVERED, NOT_DELIVERED, SERVER, 1, "$S does not deliver $F to $C: $T") \
    X(BLOCK_FAILED, BLOCK_FAILED, SERVER, 1, "$S returns %s for $F to $C$N: $T") \
    X(REFUSED, REFUSED, SERVER, 1, "$S refused $F for $C (%s): $T") \
    X(ASSUMED, ASSUMED, CAPTURE, 1, "Counter, instance, name or type of values from $S to $C is assumed: $T") \
    X(DAMAGED, DAMAGED, SERVER, 1, "$S sent malformed counter data to $C$N: $T") \
    X(NAMES, NAMES_FAILED, SERVER, 1, "$S has no good list of names for $C$N: $T") \
    X(SILENT, UNANSWERED, SERVER, 1, "$S does not answer $F of $C$N: $T") \
    X(RESENT, UNANSWERED, NETWORK, 1, "$S does not answer $F of $C, sent again and again$N: $T") \
    X(IDLE, BROKEN, NETWORK, 1, "The network (an idle firewall?) dropped the connection of $C to $S$N: $T") \
    X(LARGE, UNANSWERED, NETWORK, 1, "The network drops responses of $S to $C (MTU?)$N: $T") \
    X(IDLE_STOP, PAUSE, SERVER, 1, "$S stopped Remote Registry while $C was idle, and started it again$N: $T") \
    X(PIPE, PIPE_BROKEN, SERVER, 1, NULL) \
    X(EMPTY, NO_DATA, SERVER, MANY_EMPTY, "$S answers $C without data$N: $T") \
    X(SEALED, NO_DATA, SERVER, 1, "$S answers $C without data[ (it fails, or has too little room)]$N: $T") \
    X(ROOM, NO_DATA, CLIENT, MANY_EMPTY, "$C offers $S too little room each time, and gets no sample: $T") \
    X(SLOW, SLOW, SERVER, 1, "$S (or the network) responds slowly to $F of $C$N: $T") \
    X(CLOSED, BROKEN, SERVER, 1, "$S (or a firewall) closed the connection from $C while in use$N: $T") \
    X(LEFT_OPEN, HANDLES_OPEN, CLIENT, MANY_OPEN, "$C left handles open on $S$N: $T") \
    X(PROTECTION, NOT_SEALED, CLIENT, 1, "$S denies calls that $C signed but did not seal: $T") \
    X(INTERFACE, BIND_REFUSED, SERVER, 1, "$S does not offer the interface for $F of $C (%s)$N: $T") \
    X(RIGHTS, CALL_FAILED, SERVER, 1, "$S answers $F of $C with %s$N: $T") \
    X(FAILED, CALL_FAILED, SERVER, 1, "$S answers $F of $C with %s$N: $T")

#define PROBLEM_NUMBER(problem, ...) PROBLEM_##problem,
typedef enum { PROBLEMS(PROBLEM_NUMBER) NUM_PROBLEMS, PROBLEM_NONE } monitor_problem;

/* A problem that a packet shows. */
typedef struct {
    struct verdict_query *query;
    monitor_problem number;
    verdict_moment at;
    const char *what; /* path of the first counter or value; of a whole call its operation; NULL: none */
    uint32_t status;  /* Win32 error of `what`, or, if `is_fault`, a fault's; 0: none */
    bool is_fault;
    uint64_t things; /* number of counters or values; of a whole call 0 */
    uint64_t key;    /* the problem is none if this succeeds later; 0: it stays one */
} shown_problem;

/* All that shows a problem of a monitor. */
typedef struct {
    verdict_evidence shown;
    shown_problem first;
    uint64_t things; /* of these */
    uint64_t all;    /* with those that succeeded later */
    bool is_mixed;   /* some have another operation or error than the first */
} problem_sum;

typedef struct verdict_query {
    struct verdict_monitor *monitor;       /* as of the last judgement */
    struct verdict_query *next;            /* of the same monitor */
    const char *client, *server, *account; /* addresses; "": not known */
    bool is_hkpd, is_sealed;
    uint32_t place;                       /* number among all queries of the verdict, from 0 */
    uint32_t number;                      /* number of its handle; 0: nothing shows that the server knows it */
    uint32_t opened_frame;                /* 0: not captured */
    uint32_t closed_frame;                /* 0: not closed; of a handle as of the last judgement */
    verdict_moment first;                 /* of its calls */
    const verdict_connection *connection; /* of its newest call; never NULL */
    unsigned num_open;                    /* sealed: queries that are open now on its connection */
    unsigned asked_for;                   /* hash of what its samples ask for, equal for one monitor; 0: not known */
    uint64_t samples;
    uint32_t asked;         /* number of calls for data, size probes left out */
    double counters;        /* number in its newest response, or as QueryCounterInfo says; NAN: not known */
    unsigned most_asked;    /* the highest number of samples of one question */
    wmem_map_t *empty_sets; /* paths of sets that had no instances in the first sample */
    uint64_t sets;          /* key: succeeds with each sample in which no set lacks instances, but for `empty_sets` */
    uint32_t newest;        /* place of its newest request among its monitor's, as of the last judgement */
    bool has_names;         /* a response brought a whole list of names */
    bool is_marked;         /* a response is late or slow by what its packet states */
} verdict_query;

/* A monitor as of one judgement: monitors_join() makes it, judge.c adds findings, and the next judgement frees it. */
typedef struct verdict_monitor {
    wmem_allocator_t *pool;
    verdict_peers *pair;
    const char *called;          /* name that the client gives the server, else its address */
    verdict_query *first, *last; /* one without calls: the peers made none */
    unsigned num_queries;        /* without a key's questions that got no sample */
    uint32_t number;             /* of its first handle, sealed ones from 1; 0: the server knows none */
    wmem_array_t *list;          /* monitor_call, of all queries, in the order of their requests */
    monitor_call *calls, *end;   /* the same */
    timing_request *requests; /* for counter data: `call` is a monitor_call, of a probe and its repetition the latter */
    uint32_t num_requests;
    uint32_t closed_frame;                       /* of the newest of these queries; 0: none */
    uint32_t last_sampled;                       /* frame of the newest sample; 0: none */
    timing_gap *gaps;                            /* between samples, timing.num_gaps */
    timing_verdict timing;                       /* of these requests */
    unsigned num_samples, num_probes, num_empty; /* responses with data, size probes, calls for data without any */
    unsigned num_late, num_slow;                 /* late requests and slow responses */
    const monitor_call *slowest;                 /* sample; NULL: no response time is known */
    double counters;                             /* number in the newest response; this and the others NAN: not known */
    double bytes;                                /* of counter data, mean of the samples */
    double response;                             /* median seconds of the samples */
    double ahead;                                /* median seconds by which the server's time of day is ahead */
    bool has_names, is_marked;                   /* some of its queries */
    problem_sum problems[NUM_PROBLEMS];
    verdict_finding *findings; /* the worst first */
} verdict_monitor;

/* All of a capture. */
typedef struct {
    wmem_allocator_t *memory, *pool; /* of what is counted, and of the last judgement */
    GPtrArray *queries;              /* verdict_query, in the order of their first calls */
    GPtrArray *calls;                /* monitor_call, in the order of their requests */
    wmem_map_t *waiting;             /* call_tap_data.call -> its monitor_call that has no response yet */
    wmem_map_t *by_key;              /* key of a call, see format_query_key() -> verdict_query */
    wmem_map_t *handles;             /* verdict_query -> its state_handle */
    GPtrArray *problems;             /* shown_problem: what responses state of counters, in their order */
    wmem_map_t *succeeded; /* key of a call for no data, or a counter that was added -> frame of its latest success */
    wmem_map_t *samples;   /* key of a call -> number of its responses with data */
    GPtrArray *monitors;   /* verdict_monitor, as of the last judgement */
    omissions omitted;     /* of values, too */
    uint64_t values;       /* number in all samples */
} verdict;

/* Begins a verdict, before the first packet: without calls. Changes: creates it if it is NULL; listens to how clients connect.
 * Wireshark resets all listeners together, those of connections too. */
void verdict_restart(verdict **place);

/* Counts a request or response. Returns its call; NULL: not about performance counters, not read, or repeated. Needs: the order of the capture. */
const monitor_call *verdict_count(verdict *v, packet_info *pinfo, const call_tap_data *tapped);

/* --- monitor-samples.c -------------------------------------------------------------------------------------------- */

/* Joins queries to monitors, with their samples and statistics. Changes: frees the monitors before and all of `v->pool`; what was counted stays. */
void monitors_join(verdict *v);

/* Returns a monitor of one query, without calls. It is not yet in the verdict's list. */
verdict_monitor *monitor_new(wmem_allocator_t *pool, verdict_peers *pair, verdict_query *first);

/* --- evidence.c --------------------------------------------------------------------------------------------------- */

/* Adds a finding, a copy of `shown`, if that has frames; one of the same sentence and `which`, that ended or lasts as it does, becomes a part of it. It lasts
 * if no sample came behind them, or `shown` lasts or is_unread. `format`: of printf(), for the sentence. $S, $C: server, client. $F: `which`. $N: " (3
 * times)" for several frames. $T: "since T, frame N" if it lasts, else "T to U, frames N to M"; one frame: "T, frame N". A sentence that is too long
 * loses $N and [brackets], then the end of $F, dates, M, and ends of all names. Needs: no argument is a text of a packet, which may have '$' or '['.
 * Changes: the monitor's findings, kept sorted. */
void monitor_add_finding(verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                         const verdict_evidence *shown, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* --- steps.c ------------------------------------------------------------------------------------------------------ */

/* Add findings to a monitor of the peers: of a failure, "SRV01 refuses the logon of 192.0.2.10 as LAB\svc (no rights): 10:02:29, frame 101"; of the
 * furthest step that failed, if it is about performance counters and no finding is its cause; of what the capture lacks: a direction, and, if that
 * `is_harmful`, packets, perhaps lost by the network, or their ends. To a monitor without calls and findings: why there are none. */
void steps_add_failure(verdict_monitor *monitor, const setup_failure *failure);
void steps_find(verdict_monitor *monitor);
void steps_find_lacking(verdict_monitor *monitor, bool is_harmful);

/* --- timing.c ----------------------------------------------------------------------------------------------------- */

/* Adds findings of late, slow and of another clock. Needs: the capture's clock was not set. Returns whether a long gap lacks packets. Changes: statistics. */
bool timing_find(verdict_monitor *monitor);

/* --- summary.c ---------------------------------------------------------------------------------------------------- */

/* Returns "1.004 s" or "3.4 ms" behind `before`. */
const char *format_seconds(const verdict_monitor *monitor, const char *before, double seconds);

/* --- judge.c ------------------------------------------------------------------------------------------------------ */

/* Makes the monitors of what was counted, and their findings. Changes: frees the monitors and findings of the judgement before. */
void verdict_judge(verdict *v);

/* Judges as verdict_judge() does, the worst monitor first. Changes: removes monitors with nothing to say, but keeps the last if all have none. */
void verdict_judge_for_display(verdict *v);
