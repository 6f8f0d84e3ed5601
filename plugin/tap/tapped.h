/* tapped.h
 * What statistics and exports are handed of each call, of either protocol.
 *
 * The packet code fills a tapped_call on the stack and hands it over; without a listener nothing is kept, and nothing is
 * formatted before a listener asks for it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "values/value-stream.h"

/* The name of the tap. */
#define TAPPED_NAME "pcq"

/* The name of the tap of calls "Bind" and "Map": how clients come to an interface. They have `operation`, `is_hkpd`, `is_response`,
 * `request_frame`, `seconds`, `server`; of responses `has_failed`, `is_fault`, `status` (Bind: provider_reject_reason_t, Map: of the call),
 * and Map `port` (TCP; 0: none). Nothing else counts them. */
#define TAPPED_SETUP_NAME "pcq_setup"

/* A sealed call, beside its operation, direction, server and time. */
typedef struct {
    const void *connection; /* tells it, or a query of it, from others of the capture; NULL if the call is not sealed */
    uint32_t size;          /* bytes of the stub */
    uint32_t sample_size;   /* of them counter data, 0 without any */
    nstime_t request_time;  /* when the request began, */
    uint32_t request_frame; /* and where */
    bool is_empty;          /* a response without the data that the operation returns: a size probe, or a failure */
    bool uses_query;        /* an operation on a query handle, */
    bool takes_sample;      /* and this one asks for counter data */
    bool answers_read;      /* decryption made noise of the response alone, not of its request */
} tapped_sealed;

/* HKEY_PERFORMANCE_DATA: an object that was asked for by its title index, and that a sample does not have; or has again. */
typedef struct {
    uint32_t title;
    bool is_there;
    bool is_news; /* the answer before had it, or, if it is there, had not */
} tapped_object;

/* A PDU. Members that were not read are zeros. */
typedef struct {
    bool is_hkpd;
    bool is_response;
    bool is_repeated;      /* the call was answered before */
    bool has_status;       /* a response's status was read */
    bool has_failed;       /* it is that of a failed call, and no size probe's or the end of a list */
    bool is_fault;         /* DCE/RPC's own answer: `status` is not the operation's */
    bool brings_data;      /* if it succeeds, the call is answered with performance data */
    bool is_late;          /* its packet states that it is late, or slow */
    bool is_probe;         /* a response says how much room is needed, and nothing else */
    bool lacks_titles;     /* a list of titles that could not be read whole */
    bool is_damaged;       /* something in it contradicts itself, or does not fit */
    bool does_not_seal;    /* the client signs its calls, or less */
    bool adds;             /* ValidateCounters: adds counters, does not remove them */
    const char *operation; /* "QueryCounterData" */
    const char *kind; /* what it asks for, where operations ask for several: "PERF_REG_COUNTERSET_STRUCT", "Global" */
    uint32_t status;
    uint32_t out_size;      /* returned */
    uint32_t rtn_size;      /* needed */
    double seconds;         /* from the request to this response; negative where that is not known */
    uint32_t request_frame; /* of a response: 0 where that is not known */
    uint16_t port;          /* of a call "Map" */
    bool has_counters; /* a response says how many counters the query has, or the objects of HKEY_PERFORMANCE_DATA */
    uint32_t counters;
    uint32_t failed;         /* blocks of the answer with an error instead of values */
    bool has_contradictions; /* HKEY_PERFORMANCE_DATA: lengths contradict each other, and one reading fits */
    const tapped_object *objects;
    uint32_t num_objects;
    state_server *server;
    const state_handle *handle;         /* NULL without one */
    const struct query_epoch *epoch;    /* PerflibV2: what its query holds; NULL without one */
    const perf_identifier *identifiers; /* response of ValidateCounters or QueryCounterInfo */
    uint32_t num_identifiers;
    const void *subject; /* what the call is about, to know the same call again: `subject_size` bytes */
    uint32_t subject_size;
    uint32_t request_code; /* of QueryCounterSetRegistrationInfo; of a sealed key what stands for the question */
    tvbuff_t *buffer;      /* lpData that PerflibV2 returned, NULL if it is empty */
    const counter_response *answer; /* NULL without performance data */
    const char *unread; /* a call that nobody could read: why, and what opens it; all else is zeros then, but */
    tapped_sealed sealed;
} tapped_call;

/* A response that brought what was asked for. */
static inline bool tapped_succeeded(const tapped_call *tapped)
{
    return tapped->has_status && tapped->status == 0 && !tapped->is_probe;
}

/* A handle as it is known by now: a query's, or that of a key with performance data. */
typedef struct {
    uint32_t number;       /* among those of its kind; 0: nothing showed that the server knows it */
    uint32_t opened_frame; /* 0: not captured */
    uint32_t closed_frame; /* 0: not closed in this capture */
    const char *machine;   /* szMachine without backslashes, or SystemName; NULL if not known */
    const char *place;     /* its server's address and port, where another server was called so before; else NULL */
} tapped_handle;

/* Zeros for NULL. */
tapped_handle tapped_handle_of(const state_handle *handle);

/* A path of that handle among those of all servers: behind it stands its server's address and port, where another was called so before.
 * NULL for NULL. */
const char *tapped_placed(wmem_allocator_t *pool, const state_handle *handle, const char *path);

/* Returns the address and port of the call's server. */
const char *tapped_server(const tapped_call *tapped);

/* Returns the name that the first client used for the server; NULL if none did. */
const char *tapped_called(const tapped_call *tapped);

/* The names file of what the capture taught; NULL if that is nothing. To be freed. */
GString *tapped_names(void);

/* Why a call failed, by name: "ERROR_ACCESS_DENIED", "nca_s_fault_access_denied". */
const char *tapped_error(wmem_allocator_t *pool, const tapped_call *tapped);

/* Returns the meaning of an error for its client. A server may demand that calls are sealed, and denies those that are not whatever the account's
 * rights. */
const char *tapped_meaning(uint32_t status, bool does_not_seal);

/* Stands for an identifier of a request to add counters, and its server. */
uint64_t tapped_identifier_key(const tapped_call *tapped, uint32_t number);

/* Returns the path of an identifier that ValidateCounters was to add and the server refused, by the names of the call, else by later ones; NULL for
 * any other. (A block with an error is no refusal: its counter was accepted.) */
const char *tapped_refused_path(wmem_allocator_t *pool, const tapped_call *tapped, uint32_t number, bool *is_assumed);

/* Returns a number for the set of counters that a query has at the call: equal for equal sets, never 0. Needs: `epoch`. */
unsigned tapped_asked_for(const tapped_call *tapped);

/* HKEY_PERFORMANCE_DATA: "Processor (238)", or "#238" where no title says so. */
const char *tapped_object_name(wmem_allocator_t *pool, state_server *server, uint32_t title);

/* Adds a tap that is handed each call: ours, and that of export objects. */
void tapped_add(int tap_id);

/* True if somebody listens. */
bool tapped_wanted(void);

/* True if somebody listens to calls "Bind" and "Map". */
bool tapped_wants_setup(void);

/* Hands a call "Bind" or "Map" over. */
void tapped_hand_over_setup(packet_info *pinfo, const tapped_call *tapped);

/* Copies `tapped` and its answer for the listeners; what it points to has to hold as long as the packet. */
void tapped_hand_over(packet_info *pinfo, const tapped_call *tapped);

/* A call that could not be opened. `why` has to hold as long as the packet. */
#define TAPPED_NOISE \
    "What its decryption gave is noise: packets before it were not captured, or NTLM goes through SPNEGO " \
    "(dcerpc.auth_type == 9), of which Wireshark opens the first call alone"

#define TAPPED_CUT \
    "The answer was cut short when it was captured (frame.cap_len < frame.len), or its parts were not put together " \
    "(-o tcp.desegment_tcp_streams:TRUE -o dcerpc.desegment_dcerpc:TRUE -o dcerpc.reassemble_dcerpc:TRUE)"

/* --- Paths that a statistic is asked for --------------------------------------------------------------------------- */

typedef struct watch_rows watch_paths;

/* As a watched counter has them, where they stand in the place of a filter, which is none then; else NULL. *error says why, if they are no
 * paths. Kept as long as the program. */
watch_paths *watch_paths_take(const char **filter, char **error);

/* No path fits some, and any fits all. */
bool watch_paths_fit(watch_paths *paths, const char *path);

/* Returns true if some path was fit until now. */
bool watch_paths_are_met(const watch_paths *paths);
