/* call-tap.h
 * What statistics and exports are handed of each call, of either protocol.
 *
 * The packet code fills a call_tap_data on the stack and hands it over; without a listener nothing is kept, and no path is
 * formatted before a listener asks for it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/handles.h"
#include "values/value-stream.h"

/* Name of the tap for calls. */
#define CALL_TAP_NAME "pcq"

/* Name of the tap for "Bind" and "Map", which bring a client to an interface; only verdict/ counts them. Set are
 * `operation`, `is_hkpd`, `is_response`; of responses `has_failed`, `is_fault`, `status` (Bind: provider_reject_reason_t). */
#define SETUP_TAP_NAME "pcq_setup"

/* A sealed call, beside its operation, direction, server and time. */
typedef struct {
    const void *connection; /* compared only: the query's, or else the connection's; NULL: the call is not sealed */
    uint32_t size;          /* bytes of the stub */
    uint32_t sample_size;   /* bytes of counter data in the stub, 0 without any */
    nstime_t request_time;  /* when the request began */
    unsigned num_open;      /* queries that are then open on the connection */
    bool uses_query;        /* the operation opens, uses or closes a handle */
} call_tap_sealed;

/* A PDU. Members that were not read are zeros. */
typedef struct {
    bool is_hkpd;
    bool is_response;
    bool is_repeated;      /* a response that was read, to a call that another answered before */
    bool has_status;       /* a response's status was read */
    bool has_failed;       /* the status, or a fault, is a failure: no size probe, not the end of a list */
    bool is_fault;         /* DCE/RPC's own answer: `status` is the fault's, not the operation's */
    bool brings_data;      /* if it succeeds, the call is answered with performance data */
    bool is_late;          /* a response whose packet reports it as late or slow */
    bool is_probe;         /* a response says how much room is needed, and nothing else */
    bool asks_titles;      /* HKEY_PERFORMANCE_DATA: the call asks for a list of titles */
    bool is_damaged;       /* something in it contradicts itself, or does not fit */
    bool does_not_seal;    /* the client signs its calls, or less */
    bool adds;             /* ValidateCounters: adds counters, does not remove them */
    const char *operation; /* "QueryCounterData" */
    uint32_t status;       /* Win32 error, or status of a fault; 0: success, or none was read */
    uint32_t out_size;     /* returned: GUIDs of EnumerateCounterSet, else bytes */
    uint32_t rtn_size;     /* needed, in the same unit */
    double seconds;        /* from the request to this response; negative: not known */
    const void *call;      /* compared only: one for request and response; NULL: not known */
    bool has_counters; /* a response says how many counters the query has, or the objects of HKEY_PERFORMANCE_DATA */
    uint32_t counters;
    const char *const *missing_objects; /* HKEY_PERFORMANCE_DATA: asked for by index and not sent: "Processor (238)" */
    uint32_t num_missing_objects;
    state_server *server;
    const state_handle *handle;         /* NULL: none, or not known, as of a response without its request */
    unsigned counters_hash;             /* PerflibV2: of its query's counters, equal for equal sets; 0: not known */
    const perf_identifier *identifiers; /* response of ValidateCounters or QueryCounterInfo */
    uint32_t num_identifiers;
    /* Formats a path of these: pcq_format_path(). NULL: HKEY_PERFORMANCE_DATA. */
    const char *(*format_path)(wmem_allocator_t *pool, const state_server *server, const char *computer,
                               const perf_identifier *identifier, bool *is_assumed);
    const void *subject; /* what the call is about, to know the same call again: `subject_size` bytes */
    uint32_t subject_size;
    uint32_t request_code; /* of QueryCounterSetRegistrationInfo; of a sealed key what stands for the question */
    const counter_response *answer; /* NULL without performance data */
    const char *unread;             /* why the call could not be read, and what would help; NULL: it was read */
    call_tap_sealed sealed;         /* zeros of a call that is not sealed */
} call_tap_data;

/* Returns true for a response with counter data of a known query or handle. One that came twice has no sample. */
static inline bool call_tap_has_sample(const call_tap_data *tapped)
{
    return tapped->answer && !tapped->is_repeated && tapped->answer->sample;
}

/* Returns a key for an identifier and the call's server, to find it again in another call that adds it. `number`: from 0, in `identifiers`. */
uint64_t call_tap_identifier_key(const call_tap_data *tapped, uint32_t number);

/* Adds a tap that gets each call. Called twice: for CALL_TAP_NAME and for export objects. */
void call_tap_add(int tap_id);

/* Returns true if a listener is on any tap that was added. Without one, nothing need be formatted. */
bool call_tap_is_wanted(void);

/* Gives a call "Bind" or "Map" to its listeners. Needs: what `tapped` points to holds as long as the packet. */
void call_tap_queue_setup(packet_info *pinfo, const call_tap_data *tapped);

/* Gives a call to the listeners, as copies of `tapped` and of its answer. Needs: `unread`, or `operation` and `server`; all else that `tapped`
 * points to holds as long as the packet. */
void call_tap_queue(packet_info *pinfo, const call_tap_data *tapped);

/* --- Paths that a statistic is asked for --------------------------------------------------------------------------- */

/* Takes paths, written as a watched counter's, that stand in place of a filter: each begins with a backslash. Returns their patterns; NULL for
 * anything else, which Wireshark takes for a filter. Changes: `*filter` is NULL behind paths. */
char **watch_take_paths(const char **filter);

/* Returns true if a path matches one of `patterns`. `path`: NULL, not known, matches none. */
bool watch_has_path(char *const *patterns, const char *path);
