/* talks.h
 * Calls as they were made, kept by whose they are: talks of one handle, and monitors, which are talks that follow each other.
 *
 * A talk is all that was said about one query, one handle of HKEY_PERFORMANCE_DATA, one sealed query, or, before there is any, by one
 * client to one server. It is filled as calls go by, and only there. A monitor is a client that asks a server for one set of counters, by
 * one talk after the other if it opens a query for each sample; monitors are made anew from the talks each time that somebody wants to
 * know, so nothing is ever taken back. The verdict is made of their calls: timing.c, books.c, calls.c, ladder.c.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/wire.h"

#include "perf/timing.h"
#include "taps/omissions.h"

#include <wsutil/json_dumper.h>

typedef enum {
    CALL_WAITS,   /* for its answer */
    CALL_DONE,    /* answered, and it asked for no data */
    CALL_SAMPLE,  /* brought data */
    CALL_PROBE,   /* was told how much room it needs */
    CALL_EMPTY,   /* succeeded without the data that it asked for */
    CALL_DAMAGED, /* brought what cannot be read */
    CALL_NO_DATA, /* sealed, without data: a probe or a failure */
    CALL_FAILED,
} call_outcome;

/* Of a set of them. */
#define CALL_BIT(outcome) (1U << (outcome))

/* One call. Times are those of the capture, in seconds. */
typedef struct verdict_call {
    struct verdict_call *before;
    double asked, answered; /* 0: not captured */
    double seconds;         /* from one to the other, negative: not known */
    double acked;           /* when its server acknowledged it before it answered, 0: it did not */
    uint32_t asked_frame, frame;
    uint32_t request_event, event; /* of a sample */
    const char *operation;         /* interned */
    const verdict_connection *connection;
    perf_point clocks; /* of a sample; of a sealed one when it was asked for */
    unsigned subject;  /* stands for what it is about */
    uint32_t status;
    uint32_t size;   /* of its data */
    uint64_t number; /* in the order in which they began */
    const struct verdict_talk *talk;
    uint8_t outcome;     /* call_outcome */
    bool is_fault, asks; /* for data */
    bool does_not_seal;  /* it was denied, and its client signs its calls, or less */
    bool goes_back;      /* since the call before packets of its connection went back in time */
    uint32_t num_open;   /* sealed: queries that were open then */
} verdict_call;

/* A request for counter data; a size probe and its repetition are one. Times are those of the capture, in seconds; 0: not captured. */
typedef struct {
    double asked;    /* the request, or its size probe */
    double sent;     /* the request that was answered */
    double answered; /* the whole response */
    double acked;    /* another packet than the response acknowledged the request */
    double clock;    /* the server's performance time in seconds, and */
    double date;     /* its time of day; 0: not known */
    uint32_t asked_frame, frame;
    uint32_t query;      /* number of its query among all */
    uint32_t num_open;   /* sealed: queries that were open then */
    uint32_t closed;     /* frame in which the client closed its query; 0: it did not */
    uint32_t repetition; /* while probes are joined: place of the request that repeats it; 0: none */
    bool sent_known;     /* the request was captured */
    uint8_t outcome;     /* call_outcome */
    const verdict_connection *connection;
} monitor_sample;

/* Of values, or what was asked for, as they are counted: books.c. */
typedef enum {
    BOOK_LACKING,
    BOOK_BLOCK_FAILED,
    BOOK_REFUSED,
    BOOK_RESET,
    BOOK_ASSUMED,
    BOOK_UNTYPED,
    BOOK_DAMAGED,
    BOOK_NAMES,
    NUM_BOOKS
} book_kind;

typedef struct {
    uint64_t things;
    unsigned kinds; /* of them, in the first frame */
    verdict_evidence shown;
    const char *first; /* which, */
    uint32_t status;   /* and why */
} book;

typedef struct verdict_talk {
    struct verdict_talk *next; /* as of the last judgement, that follows it */
    wmem_allocator_t *memory;  /* where all of it is kept */
    verdict_pair *pair;        /* NULL: not by TCP */
    const char *client, *server, *account;
    const char *called; /* what its client calls its server, NULL: nothing else than its pair's */
    uint32_t port;      /* of the client, when its first handle was opened */
    bool is_sealed, is_closed;
    bool has_handle, is_hkpd;
    bool has_titles;               /* a list of names was read */
    wmem_map_t *refused;           /* identifier -> frame in which the server refused it last */
    wmem_map_t *without_instances; /* paths of sets that have no instances now */
    bool is_marked;                /* a packet of it states that it is late or slow */
    uint32_t place;                /* among all talks, from 1 */
    const state_handle *handle;    /* NULL without one, and once its capture is closed */
    uint32_t number, opened_frame, closed_frame;
    bool ends_in_noise;    /* decryption makes noise of what its connection says further on */
    unsigned asked_to_add; /* stands for what it asked to add before its first sample; 0: that was not captured */
    unsigned asked_for;    /* stands for its counters; 0 before it asks for a sample */
    unsigned num_open;     /* sealed queries */
    uint32_t began;        /* frame in which the talk's query was opened, or its key had its first */
    uint64_t first_call, newest_call; /* that tells whom it goes on as */
    uint64_t samples, failed;
    double counters; /* that its newest answer holds, or QueryCounterInfo says; NAN: there was none */
    verdict_call *newest;
    unsigned num_calls;
    book books[NUM_BOOKS];
} verdict_talk;

/* The figures of a monitor: one list, of which `-z pcq,queries` has those down to ACCOUNT as columns, and the sentences and JSON all.
 * X(FIGURE, name in JSON, title, type as taps/stat-table.h has it, format). A text is NULL, and a number NAN, where there is none. */
#define FIGURES(X) \
    X(HANDLE, "handle", "Query", TABLE_ITEM_STRING, NULL) \
    X(CLIENT, "client", "Client", TABLE_ITEM_STRING, NULL) \
    X(SERVER, "server", "Server", TABLE_ITEM_STRING, NULL) \
    X(SAMPLES, "samples", "Samples", TABLE_ITEM_UINT, "%u") \
    X(INTERVAL, "interval", "Interval (s)", TABLE_ITEM_FLOAT, "%.6g") \
    X(LATE_ASKED, "late_asked", "Late", TABLE_ITEM_UINT, "%u") \
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
    X(LATE_ANSWERED, "late_answered", "Slow responses", TABLE_ITEM_UINT, "%u") \
    X(CLOCK, "server_clock", "Server clock (s)", TABLE_ITEM_FLOAT, "%+.3f") \
    X(OPENED, "opened", "Opened", TABLE_ITEM_STRING, NULL) \
    X(CLOSED, "closed", "Closed", TABLE_ITEM_STRING, NULL) \
    X(PROBES, "size_probes", "Size probes", TABLE_ITEM_FLOAT, "%.0f") \
    X(NO_DATA, "no_data", "No data", TABLE_ITEM_FLOAT, "%.0f")

#define FIGURE_NUMBER(figure, ...) FIGURE_##figure,
enum { FIGURES(FIGURE_NUMBER) NUM_FIGURES };
#define NUM_QUERY_COLUMNS (FIGURE_ACCOUNT + 1)

typedef struct {
    double numbers[NUM_FIGURES];
    const char *texts[NUM_FIGURES];
} figure_values;

typedef struct {
    wmem_allocator_t *pool;          /* what is said of it, until the next judgement */
    verdict_talk *talks, *last_talk; /* NULL for a pair that made no call */
    unsigned num_talks;
    verdict_call *calls, *end; /* all of them, by time */
    verdict_pair *pair;
    uint32_t
        number; /* of its first handle, 0 as long as the server is not known to know it; sealed ones are counted from 1 */
    monitor_sample *samples; /* requests for counter data, by time */
    uint32_t num_samples;
    timing_gap *gaps;      /* between them, */
    timing_verdict timing; /* and what they say */
    uint32_t *slow;        /* places of slow responses */
    uint32_t num_slow, num_late;
    verdict_finding *findings; /* the worst first */
    figure_values figures;
} verdict_monitor;

/* All of a capture. */
typedef struct {
    wmem_allocator_t *memory, *pool; /* what is kept of calls, and of the last judgement */
    bool counts_values;
    GPtrArray *talks;
    wmem_map_t *by_subject; /* state_handle or sealed query -> its talk */
    wmem_map_t *by_pair;    /* client and server -> the talk of what has neither, or their newest */
    uint64_t calls;
    wmem_map_t *accepted;  /* identifier of a server -> frame in which it accepted it last */
    wmem_map_t *delivered; /* address of a server and name of an object -> the first talk that got it */
    GPtrArray *monitors;   /* verdict_monitor, as of the last judgement */
    omissions omitted;
} verdict;

/* What its client calls its server. */
static inline const char *verdict_server(const verdict_monitor *monitor)
{
    const verdict_talk *talk = monitor->talks;

    return talk && talk->called ? talk->called : monitor->pair ? monitor->pair->called : talk->server;
}

static inline const char *verdict_client(const verdict_monitor *monitor)
{
    return monitor->talks ? monitor->talks->client : monitor->pair->client;
}

static inline const char *verdict_handle_word(const verdict_talk *talk)
{
    return talk->is_hkpd ? "handle" : "query";
}

bool verdict_has(const verdict_monitor *monitor, verdict_kind kind);

/* verdict_add_finding() of its server and client, with a sentence as of printf(). No argument is a text that a packet has. */
void verdict_find(verdict_monitor *monitor, verdict_kind kind, verdict_party party, const verdict_evidence *shown,
                  const char *format, ...) G_GNUC_PRINTF(5, 6);

/* `counts_values`: findings of values are wanted, too. To be freed with verdict_free(). */
verdict *verdict_new(bool counts_values);
void verdict_free(verdict *v);

/* Forgets all calls and monitors: of one, and of all that there are. */
void verdict_reset(verdict *v);
void verdict_reset_all(void);

/* Counts a request or response. */
void verdict_count(verdict *v, packet_info *pinfo, const tapped_call *tapped);

/* Makes the monitors of what was counted until now, and judges them. */
void verdict_judge(verdict *v);

/* The same; keeps only monitors of which there is something to say, the worst first, but one in any case. */
void verdict_judge_worst_first(verdict *v);

/* books.c: counts in the talk's books what an answer holds, and what of that which was asked for it lacks. */
void verdict_books_count(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped);

/* Adds a finding for each book that has something, unless another finding says it. */
void verdict_books_find(const verdict *v, verdict_monitor *monitor);

/* timing.c: joins size probes to the requests that repeat them, and learns what is usual. */
void verdict_timing_learn(verdict_monitor *monitor);

/* Adds findings of what is late or slow, and of a server that is not as it was. Needs: all monitors have learned. Returns: the capture lacks
 * packets where something would be late. */
bool verdict_timing_find(verdict_monitor *monitor, const GPtrArray *all);

/* No request is late, no gap long, and no packet says otherwise. */
bool verdict_none_late(const verdict_monitor *monitor);

/* calls.c: what came of the calls, and how the talk ended. */
void verdict_calls_find(verdict_monitor *monitor);

/* What the capture lacks of them. `lacks_some`: a sample may have been there. */
void verdict_capture_find(verdict_monitor *monitor, bool lacks_some);

/* Fills the figures of a monitor, of all its talks. */
void verdict_figures(verdict_monitor *monitor);

/* summary.c: the verdict as JSON, for whoever writes more around it. A member of the object that is written: a number (NAN: null), an array
 * (to be ended), one of texts, which is freed. */
void verdict_put_number(json_dumper *json, const char *name, double number);
void verdict_begin_list(json_dumper *json, const char *name);
void verdict_put_texts(json_dumper *json, const char *name, GPtrArray *texts);

/* All of it as a JSON object, once it was judged. */
void verdict_put_json(json_dumper *json, const verdict *v);

/* What its figures are called: the member "figures", an array of {key, title}. */
void verdict_put_titles(json_dumper *json);

/* A monitor's line: who asks whom, how many samples, how often, how late. */
const char *verdict_account(const verdict_monitor *monitor);
