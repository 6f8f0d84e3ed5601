/* monitors.h
 * Monitors: a client that polls one server for one set of counters, through one query or several in succession.
 *
 * Calls are counted by query: a handle of PerflibV2, one question of a key of HKEY_PERFORMANCE_DATA, or a sealed query; others by their peers.
 * A judgement joins queries to monitors and changes nothing that was counted, so a listener can judge at any time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/steps.h"

#include "perf/timing.h"
#include "taps/omissions.h"

enum { ACCESS_DENIED = 5 };

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
    verdict_moment asked;                 /* the request, or its size probe; frame 0: not captured, time 0: not known */
    verdict_moment answered;              /* the response; zeros: not captured */
    double sent;                          /* time of the request that was answered; of samples alone */
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
    uint32_t subject;             /* hash of operation and key, name or question that it is about, to know it again */
    uint32_t status;              /* of the response: Win32 error, or, if `is_fault`, a fault's */
    uint32_t size;                /* bytes of counter data */
    uint32_t num_open;            /* sealed: queries that were open then */
    uint32_t number;              /* among its query's calls for data, see `asked`; 0: none */
    bool is_fault, does_not_seal; /* does_not_seal: it was denied, and its client signs its calls, or less */
    bool asks;                    /* for counter data */
    uint8_t outcome;              /* call_outcome */
    uint16_t facts;               /* bits, 1 << number: of NUM_COUNTER_PROBLEMS, and call_fact */
} monitor_call;

/* Returns the packet that shows what is wrong with a call: the response, else the request. */
static inline verdict_moment monitor_call_shown_at(const monitor_call *call)
{
    return call->answered.frame > 0 ? call->answered : call->asked;
}

#define MANY_EMPTY 3 /* responses without data in a row, after the last sample */
#define MANY_OPEN 10 /* queries left open: fewer are no finding */

/* Problems of a monitor: X(PROBLEM, kind and party of the finding, fewest, sentence). `fewest`: so
 * many frames make a finding; if more than one, of calls behind the last sample. $F: path of the
 * first counter, or operation; %s: error. NULL: steps_add_failure() has the
 * sentence. Up to NAMES a response states them of its counters and values.
 * From PROTECTION on a monitor has the first alone: the others are consequences. */
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
    X(LARGE, UNANSWERED, NETWORK, 1, "The network drops large responses of $S to $C (MTU?)$N: $T") \
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
typedef enum {
    PROBLEMS(PROBLEM_NUMBER) NUM_PROBLEMS,
    PROBLEM_NONE,
    NUM_COUNTER_PROBLEMS = PROBLEM_NAMES + 1
} monitor_problem;

/* Facts of a response, beside problems of counters. */
typedef enum {
    FACT_ANSWERED = NUM_COUNTER_PROBLEMS,
    FACT_MARKED, /* its packet states that it is late or slow */
    FACT_TITLES, /* it brings a list of names */
    FACT_UNTYPED /* the type of a value is not known */
} call_fact;

typedef struct {
    uint64_t count;   /* number of counters, values, or responses */
    const char *path; /* of the first; NULL: it has none */
    uint32_t status;  /* Win32 error of the first; 0: none */
} problem_things;

/* A counter that ValidateCounters refused. */
typedef struct {
    uint64_t key;   /* call_tap_identifier_key() */
    uint32_t frame; /* of the response */
} refused_identifier;

typedef struct verdict_query {
    struct verdict_monitor *monitor;       /* as of the last judgement */
    struct verdict_query *next;            /* of the same monitor */
    const char *client, *server, *account; /* addresses; "": not known */
    const char *called;                    /* name that its client gives the server, NULL: none */
    bool is_hkpd, is_sealed;
    bool is_of_peers;                     /* calls that have no query */
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
    wmem_map_t *succeeded;  /* subject of a call for no data -> frame of its latest success */
    wmem_map_t *questions;  /* sealed key: subject -> number of its responses with data; negative: of those without */
    int most_asked;         /* sealed key: the highest number in `questions`, of IN_VAIN without data one */
    wmem_array_t *refused;  /* refused_identifier */
    wmem_map_t *empty_sets; /* paths of sets that had no instances in the first sample */
    unsigned absences;      /* times that instances, or an object, went away */
    bool is_absent;         /* some are away in the newest sample */
    problem_things problems[NUM_COUNTER_PROBLEMS];
} verdict_query;

/* Statistics of a monitor: columns of `-z pcq,queries` down to ACCOUNT, and members of the JSON.
 * X(STAT, name in JSON, title, format, as of a table_column). A text is NULL, and a number NAN, where there is none. */
#define MONITOR_STATS(X) \
    X(HANDLE, "handle", "Query", NULL) \
    X(CLIENT, "client", "Client", NULL) \
    X(SERVER, "server", "Server", NULL) \
    X(SAMPLES, "samples", "Samples", "%.0f") \
    X(INTERVAL, "interval", "Interval (s)", "%.6g") \
    X(LATE_ASKED, "late_asked", "Late", "%.0f") \
    X(LONGEST, "longest", "Longest gap (s)", "%.6g") \
    X(RESPONSE, "response", "Median SRT (s)", "%.6g") \
    X(SLOWEST, "slowest", "Max SRT (s)", "%.6g") \
    X(SLOWEST_FRAME, "slowest_frame", "Max SRT frame", "%.0f") \
    X(COUNTERS, "counters", "Counters", "%.0f") \
    X(REFUSED, "refused", "Refused", "%.0f") \
    X(FAILED, "failed_blocks", "Failed", "%.0f") \
    X(SIZE, "bytes_per_sample", "Bytes/sample", "%.0f") \
    X(ACCOUNT, "account", "Account", NULL) \
    X(JITTER, "jitter", "Jitter (s)", "%.6g") \
    X(LATE_ANSWERED, "late_answered", "Slow responses", "%.0f") \
    X(CLOCK, "server_clock", "Server clock (s)", "%+.3f") \
    X(OPENED, "opened", "Opened", NULL) \
    X(CLOSED, "closed", "Closed", NULL) \
    X(PROBES, "size_probes", "Size probes", "%.0f") \
    X(NO_DATA, "no_data", "No data", "%.0f")

#define STAT_NUMBER(stat, ...) STAT_##stat,
enum { MONITOR_STATS(STAT_NUMBER) NUM_STATS };
#define NUM_QUERY_COLUMNS (STAT_ACCOUNT + 1)

/* A monitor as of one judgement: monitors_join() makes it, judge.c adds findings, and the next judgement frees it. */
typedef struct verdict_monitor {
    wmem_allocator_t *pool;
    verdict_peers *pair;         /* NULL: not by TCP */
    const char *called;          /* name that the client gives the server, else its address */
    verdict_query *first, *last; /* its queries; those without calls for samples last. NULL: the peers made no call */
    unsigned num_queries;        /* without the calls that have no query */
    uint32_t number;             /* of its first handle, sealed ones from 1; 0: the server knows none */
    wmem_array_t *list;          /* monitor_call, of all queries, in the order of their requests */
    monitor_call *calls, *end;   /* the same */
    monitor_call *samples;       /* requests for counter data; a size probe and its repetition are one */
    uint32_t num_samples;
    uint32_t closed_frame;                         /* of the newest of these queries; 0: none */
    uint32_t last_sampled;                         /* frame of the newest response with data; 0: none */
    timing_gap *gaps;                              /* between samples, timing.num_gaps */
    timing_verdict timing;                         /* of these samples */
    problem_things problems[NUM_COUNTER_PROBLEMS]; /* of all queries */
    unsigned facts;                                /* of all calls */
    verdict_finding *findings;                     /* the worst first */
    double numbers[NUM_STATS];                     /* statistics; NAN: there is none, or it is a text */
    const char *texts[NUM_STATS];                  /* statistics; NULL: there is none, or it is a number */
} verdict_monitor;

/* All of a capture. */
typedef struct {
    wmem_allocator_t *memory, *pool; /* of what is counted, and of the last judgement */
    GPtrArray *queries;              /* verdict_query, in the order of their first calls */
    GPtrArray *calls;                /* monitor_call, in the order of their requests */
    wmem_map_t *waiting;             /* call_tap_data.call -> its monitor_call that has no response yet */
    wmem_map_t *by_key;              /* key of a call, see format_query_key() -> verdict_query */
    wmem_map_t *handles;             /* verdict_query -> its state_handle */
    wmem_map_t *accepted;            /* call_tap_identifier_key() -> frame in which the server accepted it last */
    GPtrArray *monitors;             /* verdict_monitor, as of the last judgement */
    omissions omitted;               /* of values, too */
    uint64_t values;                 /* number in all samples */
} verdict;

/* Begins a verdict, before the first packet: without calls and monitors. Changes: creates it if it is NULL; listens to how clients connect.
 * Wireshark resets all listeners together, those of connections too. */
void verdict_restart(verdict **place);

/* Counts a request or response. Returns its call; NULL: not about performance counters, not read, or repeated. Needs: the order of the capture. */
const monitor_call *verdict_count(verdict *v, packet_info *pinfo, const call_tap_data *tapped);

/* --- monitor-samples.c -------------------------------------------------------------------------------------------- */

/* Joins queries to monitors, with their samples and statistics. Changes: frees the monitors before and all of `v->pool`; what was counted stays. */
void monitors_join(verdict *v);

/* Returns a monitor without queries and calls, its counts 0, other numbers NAN. It is not yet in the verdict's list. `pair`: NULL: not by TCP;
 * `first`: its query, NULL: none, for findings of the peers' steps. */
verdict_monitor *monitor_new(wmem_allocator_t *pool, verdict_peers *pair, verdict_query *first);

/* --- evidence.c --------------------------------------------------------------------------------------------------- */

/* Adds a finding of what `shown` has frames of, as a copy. It lasts if no sample came behind them, or it is_unread. `format`: of printf(), for the
 * sentence. $S, $C: server, client. $F: `which`. $N: " (3 times)" for several frames. $T: "since T, frame N" if it lasts, else "T to U, frames N to
 * M"; one frame: "T, frame N". A sentence that is too long loses $N and [brackets], then ends of $S, $C, $F. Needs: no argument is a text of a
 * packet, which may have '$' or '['. Changes: the monitor's findings, kept sorted. */
void monitor_add_finding(verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                         const verdict_evidence *shown, const char *format, ...) G_GNUC_PRINTF(5, 6);

/* --- steps.c ------------------------------------------------------------------------------------------------------ */

/* Add findings to a monitor of the peers: of a failure, "SRV01 refuses the logon of 192.0.2.10 as LAB\svc (no rights): 10:02:29, frame 101"; of the
 * furthest step that failed, if it is about performance counters and no finding is its cause; of what the capture lacks: a direction, and, if that
 * `is_harmful`, packets or their ends. To a monitor without calls and findings: why there are none. */
void steps_add_failure(verdict_monitor *monitor, const setup_failure *failure);
void steps_find(verdict_monitor *monitor);
void steps_find_lacking(verdict_monitor *monitor, bool is_harmful);

/* --- timing.c ----------------------------------------------------------------------------------------------------- */

/* Adds findings of late, slow and of another clock, unless the capture's was set. Returns whether a long gap lacks packets. Changes: statistics. */
bool timing_find(verdict_monitor *monitor);

/* --- summary.c ---------------------------------------------------------------------------------------------------- */

/* Returns "1.004 s" or "3.4 ms" behind `before`; "" if it is not known. */
const char *format_seconds(const verdict_monitor *monitor, const char *before, double seconds);

/* --- judge.c ------------------------------------------------------------------------------------------------------ */

/* Makes the monitors of what was counted, and their findings. Changes: frees the monitors and findings of the judgement before. */
void verdict_judge(verdict *v);

/* Judges as verdict_judge() does, the worst monitor first. Changes: removes monitors with nothing to say, but keeps the last if all have none. */
void verdict_judge_for_display(verdict *v);
