/* monitors.h
 * Monitors: a client that polls one server for one set of counters, through one query or several in succession.
 *
 * Calls are counted by query: a handle of PerflibV2, one question of a key of HKEY_PERFORMANCE_DATA, or a sealed query; calls without one are
 * both peers'. A query is filled as calls go by, and only there. A judgement joins queries to monitors and changes nothing that was counted, so
 * somebody can look at any time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/steps.h"

#include "perf/timing.h"
#include "taps/omissions.h"

typedef enum {
    CALL_WAITS,   /* for its response */
    CALL_DONE,    /* answered, and nothing is known of its data */
    CALL_SAMPLE,  /* brought data */
    CALL_PROBE,   /* was told how large a buffer it needs */
    CALL_EMPTY,   /* succeeded without the data that it asked for; sealed: or failed */
    CALL_DAMAGED, /* brought what cannot be read */
    CALL_FAILED,
} call_outcome;

/* A call that asks for counter data, has failed, or has no response. Times are those of the capture, in seconds. */
typedef struct {
    double asked;                         /* the request, or its size probe; 0: not captured */
    double sent;                          /* the request that was answered; 0: not captured */
    double answered;                      /* the response; 0: not captured */
    double acked;                         /* another packet than the response acknowledged the request; 0: none did */
    double began;                         /* the first segment of the response; 0: not known */
    double seconds;                       /* from the request to the response; negative: not known */
    double clock;                         /* the server's performance time in seconds, and */
    double date;                          /* its time of day, seconds since 1970; 0: not known */
    const verdict_connection *connection; /* NULL: not by TCP */
    const struct verdict_query *query;
    const char *operation;        /* interned */
    uint32_t asked_frame, frame;  /* of the request and the response; 0: not captured */
    uint32_t subject;             /* hash of what it is about */
    uint32_t status;              /* of the response, or its fault */
    uint32_t size;                /* bytes of counter data */
    uint32_t num_open;            /* sealed: queries that were open then */
    bool is_fault, does_not_seal; /* does_not_seal: it was denied, and its client signs its calls, or less */
    bool asks;                    /* for counter data */
    uint8_t outcome;              /* call_outcome */
} monitor_call;

/* Problems of counters and their values: counter-problems.c. */
typedef enum {
    PROBLEM_NOT_DELIVERED,
    PROBLEM_BLOCK_FAILED,
    PROBLEM_REFUSED,
    PROBLEM_ASSUMED,
    PROBLEM_NAME_ASSUMED,
    PROBLEM_UNTYPED,
    PROBLEM_DAMAGED,
    PROBLEM_NAMES,
    NUM_PROBLEMS
} problem_kind;

typedef struct {
    uint64_t things;        /* values, identifiers, or responses */
    unsigned kinds;         /* different ones in the first frame */
    verdict_evidence shown; /* frames */
    const char *first;      /* which; NULL: not named */
    uint32_t status;        /* of the first */
} counter_problem;

/* A counter that was refused: tapped_identifier_key(), and where. */
typedef struct {
    uint64_t key;
    uint32_t frame;
} refused_identifier;

typedef struct verdict_query {
    verdict_peers *pair;                   /* NULL: not by TCP */
    const char *client, *server, *account; /* addresses; "": not known */
    const char *called;                    /* name that its client gives the server, NULL: none */
    bool is_hkpd, is_sealed;
    bool is_of_peers;                     /* calls that have no query */
    bool is_answered;                     /* any call is */
    bool is_marked;                       /* a packet of it states that it is late or slow */
    bool has_titles;                      /* a list of names was read */
    bool ends_garbled;                    /* decryption makes noise of later calls */
    const state_handle *handle;           /* NULL without one, and once its capture is closed */
    uint32_t place;                       /* among all queries, from 1 */
    uint32_t number;                      /* of its handle; 0: not known to the server */
    uint32_t opened_frame, closed_frame;  /* 0: not captured; not closed, or see find_closed_frame() */
    uint32_t first_frame;                 /* of its calls */
    double first_time;                    /* of that frame */
    const verdict_connection *connection; /* of its newest call */
    unsigned num_open;                    /* sealed queries */
    unsigned asked_for;                   /* hash of its counters; 0: not known */
    uint64_t samples, failed_blocks;
    double counters;        /* in its newest response, or as QueryCounterInfo says; NAN: not known */
    GArray *calls;          /* monitor_call, by their last packet */
    wmem_map_t *succeeded;  /* operation and subject -> frame of the newest call without data that succeeded */
    wmem_array_t *refused;  /* refused_identifier */
    wmem_map_t *empty_sets; /* paths of sets that had no instances in the first sample */
    counter_problem problems[NUM_PROBLEMS];
} verdict_query;

/* Statistics of a monitor: columns of `-z pcq,queries` down to ACCOUNT, and members of the JSON.
 * X(STAT, name in JSON, title, type as taps/table.h has it, format). A text is NULL, and a number NAN, where there is none. */
#define MONITOR_STATS(X) \
    X(HANDLE, "handle", "Query", TABLE_ITEM_STRING, NULL) \
    X(CLIENT, "client", "Client", TABLE_ITEM_STRING, NULL) \
    X(SERVER, "server", "Server", TABLE_ITEM_STRING, NULL) \
    X(SAMPLES, "samples", "Samples", TABLE_ITEM_FLOAT, "%.0f") \
    X(INTERVAL, "interval", "Interval (s)", TABLE_ITEM_FLOAT, "%.6g") \
    X(LATE_ASKED, "late_asked", "Late", TABLE_ITEM_FLOAT, "%.0f") \
    X(LONGEST, "longest", "Longest gap (s)", TABLE_ITEM_FLOAT, "%.6g") \
    X(RESPONSE, "response", "Median SRT (s)", TABLE_ITEM_FLOAT, "%.6g") \
    X(SLOWEST, "slowest", "Max SRT (s)", TABLE_ITEM_FLOAT, "%.6g") \
    X(SLOWEST_FRAME, "slowest_frame", "Max SRT frame", TABLE_ITEM_FLOAT, "%.0f") \
    X(COUNTERS, "counters", "Counters", TABLE_ITEM_FLOAT, "%.0f") \
    X(REFUSED, "refused", "Refused", TABLE_ITEM_FLOAT, "%.0f") \
    X(FAILED, "failed_blocks", "Failed", TABLE_ITEM_FLOAT, "%.0f") \
    X(SIZE, "bytes_per_sample", "Bytes/sample", TABLE_ITEM_FLOAT, "%.0f") \
    X(ACCOUNT, "account", "Account", TABLE_ITEM_STRING, NULL) \
    X(JITTER, "jitter", "Jitter (s)", TABLE_ITEM_FLOAT, "%.6g") \
    X(LATE_ANSWERED, "late_answered", "Slow responses", TABLE_ITEM_FLOAT, "%.0f") \
    X(CLOCK, "server_clock", "Server clock (s)", TABLE_ITEM_FLOAT, "%+.3f") \
    X(OPENED, "opened", "Opened", TABLE_ITEM_STRING, NULL) \
    X(CLOSED, "closed", "Closed", TABLE_ITEM_STRING, NULL) \
    X(PROBES, "size_probes", "Size probes", TABLE_ITEM_FLOAT, "%.0f") \
    X(NO_DATA, "no_data", "No data", TABLE_ITEM_FLOAT, "%.0f")

#define STAT_NUMBER(stat, ...) STAT_##stat,
enum { MONITOR_STATS(STAT_NUMBER) NUM_STATS };
#define NUM_QUERY_COLUMNS (STAT_ACCOUNT + 1)

typedef struct {
    double numbers[NUM_STATS];
    const char *texts[NUM_STATS];
} monitor_stats;

/* As of one judgement. */
typedef struct {
    wmem_allocator_t *pool;
    verdict_peers *pair;   /* NULL: not by TCP */
    wmem_array_t *queries; /* const verdict_query *; the first is never NULL. Empty: the peers made no call */
    const verdict_query *first;
    unsigned num_queries;      /* without the calls that have no query */
    uint32_t number;           /* of its first handle, sealed ones from 1; 0: the server knows none */
    monitor_call *calls, *end; /* of all queries, by their last packet */
    monitor_call *samples;     /* requests for counter data by time; a size probe and its repetition are one */
    uint32_t num_samples;
    timing_gap *gaps;      /* between samples, */
    timing_verdict timing; /* and what they say */
    uint32_t *slow;        /* places of samples with slow responses */
    uint32_t num_slow, num_late;
    verdict_finding *findings; /* the worst first */
    monitor_stats stats;
} verdict_monitor;

/* All of a capture. */
typedef struct {
    wmem_allocator_t *memory, *pool; /* of what is counted, and of the last judgement */
    bool counts_values;
    GPtrArray *queries;           /* verdict_query */
    wmem_map_t *by_key;           /* whose a call is -> its query */
    wmem_map_t *accepted;         /* identifier of a server -> frame in which it accepted it last */
    wmem_map_t *delivered;        /* address of a server and name of an object -> the first query that got it */
    GPtrArray *monitors;          /* verdict_monitor, as of the last judgement */
    const steps_judgement *steps; /* as of the last judgement */
    omissions omitted;
} verdict;

/* Creates a verdict. `counts_values`: findings of values are wanted, too. Returns what verdict_free() frees. */
verdict *verdict_new(bool counts_values);
void verdict_free(verdict *v);

/* Discards all calls and monitors. Wireshark resets all listeners together, those of connections too. */
void verdict_reset(verdict *v);

/* Counts a request or response. Returns the query whose call it is; NULL: it is not counted. */
verdict_query *monitors_count(verdict *v, packet_info *pinfo, const tapped_call *tapped);

/* Returns the frame of the request that closed the query; 0: none did. */
uint32_t query_closed_frame(const verdict_query *query);

/* True if the same call succeeded behind the frame. */
bool query_succeeded_after(const monitor_call *call, uint32_t frame);

/* --- monitor-samples.c -------------------------------------------------------------------------------------------- */

/* Joins queries to monitors, with their samples and statistics. Changes: the verdict's monitors, nothing that was counted. */
void monitors_join(verdict *v);

/* Returns a monitor of peers that made no call. */
verdict_monitor *monitor_new_of_peers(wmem_allocator_t *pool, verdict_peers *pair);

/* Returns what its client calls the server. */
const char *monitor_server(const verdict_monitor *monitor);

const char *monitor_client(const verdict_monitor *monitor);

/* Returns "query", or "handle". */
static inline const char *monitor_handle_word(const verdict_monitor *monitor)
{
    return monitor->first->is_hkpd ? "handle" : "query";
}

static inline const verdict_query *monitor_query(const verdict_monitor *monitor, unsigned number)
{
    return *(const verdict_query **)wmem_array_index(monitor->queries, number);
}

bool monitor_has(const verdict_monitor *monitor, verdict_kind kind);

/* True if no request is late, no gap is long, and no packet states otherwise. */
bool monitor_is_none_late(const verdict_monitor *monitor);

/* True if the capture lacks packets of the peers (may be NULL) between two times. */
bool peers_have_loss(const verdict_peers *pair, double begin, double end);

/* Adds a finding of a monitor's server and client, with a sentence as of printf(). Needs: no argument is a text of a packet. */
void monitor_add_finding(verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                         const verdict_evidence *shown, const char *format, ...) G_GNUC_PRINTF(5, 6);
