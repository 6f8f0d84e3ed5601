/* monitors.c
 * Calls by query, and queries by monitor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "text/text.h"

#include <epan/to_str.h>

#include <math.h>

enum { ACCESS_DENIED = 5 };

/* Calls behind the beginning of a request among which it is looked for, and the newest ones that a success makes good. */
#define MOST_LOOKED_AT 1000

#define SLOW_CALL_S 0.5 /* seconds: a call for no data that takes less makes no sample late */

/* --- Whose a call is ---------------------------------------------------------------------------------------------- */

/* Returns true if the call belongs to one query or question. Openings and lists of titles belong to the peers instead. */
static bool is_of_query(const call_tap_data *tapped)
{
    bool is_question = !tapped->is_hkpd || ((tapped->subject || tapped->brings_data) && !tapped->asks_titles);

    return tapped->handle && is_question && !g_str_has_prefix(tapped->operation, "Open");
}

/* Returns the name of the registry value that is asked for; "": PerflibV2, or not known. */
static const char *format_value_name(const call_tap_data *tapped)
{
    return tapped->is_hkpd && tapped->subject ? tapped->subject : "";
}

/* Returns a hash of the registry value that is asked for, never 0. */
static unsigned hash_value_name(const call_tap_data *tapped)
{
    const char *name = format_value_name(tapped);

    return MAX(wmem_strong_hash((const uint8_t *)name, strlen(name)), 1);
}

/* Returns the key of a call's query: if sealed its connection, else handle and question; without a query server and account; and always the client. */
static const char *format_query_key(packet_info *pinfo, const call_tap_data *tapped)
{
    bool is_sealed = tapped->sealed.connection, has_query = is_of_query(tapped);
    const void *owner = is_sealed   ? tapped->sealed.connection
                        : has_query ? (const void *)tapped->handle
                                    : (const void *)tapped->server;
    const char *client = address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src);

    return wmem_strdup_printf(pinfo->pool, "%p %d %s %s", owner, tapped->is_hkpd, client,
                              is_sealed   ? ""
                              : has_query ? format_value_name(tapped)
                                          : steps_find_account(pinfo));
}

/* Stores the name that the client gives the server, with query and peers. */
static void learn_server_name(const verdict *v, verdict_query *query, const call_tap_data *tapped)
{
    enum { MOST = 40 };
    const char *machine = tapped->handle ? tapped->handle->machine : tapped->is_hkpd ? NULL : tapped->server->called;

    if (machine && *machine && (query->called == NULL || g_ascii_strcasecmp(query->called, machine) != 0)) {
        query->called = wmem_strdup(v->memory, text_cut(v->memory, machine, MOST));
        if (query->pair) {
            steps_name_server(query->pair, query->called);
        }
    }
}

/* Returns the call's query, created with its first call. */
static verdict_query *find_or_add_query(verdict *v, packet_info *pinfo, const call_tap_data *tapped)
{
    const char *key = format_query_key(pinfo, tapped), *place = tapped->handle ? tapped->handle->place : NULL;
    verdict_query *query = wmem_map_lookup(v->by_key, key);

    if (query == NULL) {
        query = wmem_new(v->memory, verdict_query);
        *query = (verdict_query){
            .client = address_to_str(v->memory, tapped->is_response ? &pinfo->dst : &pinfo->src),
            .server = wmem_strdup(v->memory, place ? place : tapped->server->text),
            .account = wmem_strdup(v->memory, steps_find_account(pinfo)),
            .is_hkpd = tapped->is_hkpd,
            .is_sealed = tapped->sealed.connection != NULL,
            .is_of_peers = !tapped->sealed.connection && !is_of_query(tapped),
            .place = v->queries->len,
            .first_frame = pinfo->num,
            .first_time = nstime_to_sec(&pinfo->abs_ts),
            .closed_frame = wmem_new0(v->memory, uint32_t),
            .counters = NAN,
            .questions = wmem_map_new(v->memory, g_direct_hash, g_direct_equal),
            .refused = wmem_array_new(v->memory, sizeof(refused_identifier)),
            .empty_sets = wmem_map_new(v->memory, wmem_str_hash, g_str_equal),
        };
        g_ptr_array_add(v->queries, query);
        wmem_map_insert(v->by_key, wmem_strdup(v->memory, key), query);
    }
    return query;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Returns the size of the counter data that a response brings, sealed or not; 0: it is no sample. */
static uint32_t count_data_bytes(const call_tap_data *tapped)
{
    return call_tap_has_sample(tapped) ? tvb_reported_length(tapped->answer->tvb) : tapped->sealed.sample_size;
}

static bool asks_for_data(const call_tap_data *tapped)
{
    return tapped->brings_data || tapped->sealed.takes_sample || strcmp(tapped->operation, "QueryCounterData") == 0;
}

/* Returns the outcome of a response. Usual failures (call_tap_is_usual_failure()) are not CALL_FAILED. */
static call_outcome find_outcome(const call_tap_data *tapped)
{
    if (tapped->has_failed && !call_tap_is_usual_failure(tapped)) {
        return CALL_FAILED;
    }
    if (!asks_for_data(tapped)) {
        return CALL_DONE;
    }
    if (count_data_bytes(tapped) > 0) {
        return CALL_SAMPLE;
    }
    bool is_cut = tapped->unread && tapped->handle; /* by the snapshot length */
    return tapped->is_probe ? CALL_PROBE : tapped->answer || tapped->is_damaged || is_cut ? CALL_DAMAGED : CALL_EMPTY;
}

static uint32_t get_request_frame(const call_tap_data *tapped)
{
    return tapped->sealed.request_frame ? tapped->sealed.request_frame : tapped->request_frame;
}

/* Returns the number of calls that were added before a frame. */
static unsigned count_calls_before(const verdict *v, uint32_t frame)
{
    unsigned count = 0;

    for (unsigned step = 1U << 31; step > 0; step /= 2) {
        count +=
            step <= v->calls->len - count && g_array_index(v->calls, monitor_call, count + step - 1).added_frame < frame
                ? step
                : 0;
    }
    return count;
}

/* Returns the waiting request that a response answers, of several in one packet the first; NULL: none. */
static monitor_call *find_request(const verdict *v, const call_tap_data *tapped)
{
    uint32_t frame = tapped->is_response ? get_request_frame(tapped) : 0;
    unsigned first = frame > 0 ? count_calls_before(v, frame) : v->calls->len;

    for (unsigned i = first; i < v->calls->len && i - first < MOST_LOOKED_AT; i++) {
        monitor_call *call = &g_array_index(v->calls, monitor_call, i);
        bool is_it = call->outcome == CALL_WAITS && call->begun_frame == frame;
        if (is_it && strcmp(call->operation, tapped->operation) == 0) {
            return call;
        }
    }
    return NULL;
}

/* Adds a call to the verdict's, with what its request says, or, if that was not captured, its response. Returns it, until the next one is added. */
static monitor_call *add_call(verdict *v, verdict_query *query, const packet_info *pinfo, const call_tap_data *tapped)
{
    double now = nstime_to_sec(&pinfo->abs_ts);
    uint32_t subject = wmem_strong_hash((const uint8_t *)&tapped->request_code, sizeof tapped->request_code);
    const monitor_call call = {
        .asked = !tapped->is_response   ? now
                 : tapped->seconds >= 0 ? now - tapped->seconds
                                        : 0,
        .query = query,
        .operation = g_intern_string(tapped->operation),
        .begun_frame = get_request_frame(tapped),
        .added_frame = pinfo->num,
        .asked_frame = tapped->is_response ? 0 : pinfo->num,
        .subject = subject + (tapped->subject ? 31 * wmem_strong_hash(tapped->subject, tapped->subject_size) : 0),
        .num_open = query->num_open,
        .asks = asks_for_data(tapped),
    };

    g_array_append_val(v->calls, call);
    return &g_array_index(v->calls, monitor_call, v->calls->len - 1);
}

/* Forgets failures that a retry made good. Needs: `success` is CALL_DONE and asks for no data.
 * Changes: failed ones of the last MOST_LOOKED_AT calls become CALL_DONE, if query, operation and
 * subject are those of `success`. */
static void forget_failures(const verdict *v, const monitor_call *success)
{
    for (unsigned i = v->calls->len, n = 0; i > 0 && n < MOST_LOOKED_AT; i--, n++) {
        monitor_call *call = &g_array_index(v->calls, monitor_call, i - 1);
        bool is_same = call->query == success->query && call->operation == success->operation;
        if (is_same && call->subject == success->subject && call->outcome == CALL_FAILED) {
            call->outcome = CALL_DONE;
        }
    }
}

/* Fills outcome, times, size and clocks of a call by its response. Needs: the call's request, as far as captured, and its connection. */
static void take_response(monitor_call *call, const packet_info *pinfo, const call_tap_data *tapped)
{
    const uint64_t epoch_1970 = 116444736000000000;
    const verdict_connection *connection = call->connection;
    bool is_acked = call->asked_frame > 0 && connection->acked.frame >= call->asked_frame;

    call->answered = nstime_to_sec(&pinfo->abs_ts);
    call->frame = pinfo->num;
    call->seconds = tapped->seconds;
    call->acked = is_acked ? connection->acked.time : 0;
    call->began = connection->response_began;
    call->outcome = (uint8_t)find_outcome(tapped);
    call->status = tapped->status;
    call->is_fault = tapped->is_fault;
    call->facts = (uint16_t)(1 << FACT_ANSWERED | tapped->is_late << FACT_MARKED);
    call->does_not_seal = tapped->status == ACCESS_DENIED && tapped->does_not_seal;
    call->size = count_data_bytes(tapped);
    if (call->outcome == CALL_SAMPLE && tapped->handle && tapped->answer->table->clocks.perf_freq > 0) {
        const perf_point *clocks = &tapped->answer->table->clocks;
        call->clock = (double)clocks->perf_time / (double)clocks->perf_freq;
        call->date = (double)(int64_t)(clocks->time_100ns - epoch_1970) / 1e7;
    }
}

/* Counts a sample. Changes: the query's numbers, the peers' newest sample. */
static void count_sample(verdict_query *query, const monitor_call *call)
{
    void *question = GUINT_TO_POINTER(call->subject);
    unsigned times = GPOINTER_TO_UINT(wmem_map_lookup(query->questions, question)) + 1;

    query->samples++;
    query->sampled = call->number;
    wmem_map_insert(query->questions, question, GUINT_TO_POINTER(times));
    query->most_asked = MAX(query->most_asked, times);
    if (query->pair) {
        query->pair->sampled = call->frame;
        query->pair->sampled_began = MAX(query->pair->sampled_began, query->first_frame);
    }
}

/* Counts a PDU: a new call, or the response of `call`, a request that waits. Returns it, until the next one is added. */
static monitor_call *count_call(verdict *v, verdict_query *query, monitor_call *call, const packet_info *pinfo,
                                const call_tap_data *tapped)
{
    call = call ? call : add_call(v, query, pinfo, tapped);
    call->query = query;
    call->connection = query->connection;
    call->asks |= asks_for_data(tapped);
    call->number = call->asks && call->number == 0 ? ++query->asked : call->number;
    if (tapped->is_response) {
        take_response(call, pinfo, tapped);
    }
    query->asked -= call->outcome == CALL_PROBE;
    if (call->outcome == CALL_SAMPLE) {
        count_sample(query, call);
    } else if (call->outcome == CALL_DONE && !call->asks) {
        forget_failures(v, call);
    }
    return call;
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

/* Returns where the number of the frame that closes a handle is kept for all of its queries. Changes: renews it. */
static uint32_t *find_closed_frame(const verdict *v, const state_handle *handle)
{
    uint32_t *frame = wmem_map_lookup(v->closed, handle);

    if (frame == NULL) {
        frame = wmem_new(v->memory, uint32_t);
        wmem_map_insert(v->closed, handle, frame);
    }
    *frame = handle->closed_frame;
    return frame;
}

/* Takes number, frames and counters of a query from its call. Needs: a handle. `asked_for` changes with each call up to the first sample. Calls
 * without a query have the first handle's number and opening, and the newest one's closing. */
static void count_handle(const verdict *v, verdict_query *query, const call_tap_data *tapped)
{
    query->closed_frame = find_closed_frame(v, tapped->handle);
    if (query->number == 0) {
        query->number = tapped->handle->number;
        query->opened_frame = tapped->handle->opened_frame;
    }
    if (query->is_of_peers) {
        return;
    }
    query->counters = tapped->has_counters ? tapped->counters : query->counters;
    if (query->samples <= tapped->is_response) {
        query->asked_for = tapped->is_hkpd ? hash_value_name(tapped)
                           : tapped->epoch ? call_tap_counters_hash(tapped)
                                           : query->asked_for;
    }
}

/* Counts sealed queries that are open, and hashes what they ask for: sizes of requests that change counters stand for the counters. A connection's
 * first request, the opening, has no size there: it is longer by its verification trailer. */
static void count_sealed(verdict_query *query, const packet_info *pinfo, const call_tap_data *tapped)
{
    bool opens = g_str_has_prefix(tapped->operation, "Open"), closes = g_str_has_prefix(tapped->operation, "Close");

    query->num_open += opens && !tapped->is_response;
    query->num_open -= query->num_open > 0 && (tapped->is_response ? opens && tapped->is_fault : closes);
    if (tapped->is_response) {
        return;
    }
    *query->closed_frame = closes && query->num_open == 0 ? pinfo->num : 0;
    if (query->samples == 0 && !tapped->sealed.takes_sample && !closes) {
        query->asked_for = (query->asked_for * 31 + g_str_hash(tapped->operation)) * 31;
        query->asked_for += opens ? 0 : tapped->sealed.size;
    }
}

/* Returns true for a call that was read, or says whose it is, and is about performance counters: PerflibV2, or a key of performance data. */
static bool is_about_counters(const call_tap_data *tapped)
{
    bool is_read = !tapped->unread || tapped->is_fault, is_used = tapped->handle || tapped->sealed.uses_query;

    return is_used || (is_read && (!tapped->is_hkpd || g_str_has_prefix(tapped->operation, "OpenHKP")));
}

const verdict_query *verdict_count(verdict *v, packet_info *pinfo, const call_tap_data *tapped)
{
    omissions_count_call(&v->omitted, tapped);
    if (!is_about_counters(tapped)) {
        return NULL;
    }
    monitor_call *request = find_request(v, tapped);
    if (tapped->is_repeated) { /* captured twice: its request is a copy, too */
        if (request) {
            request->outcome = CALL_DONE;
            request->query->asked -= request->asks;
            request->asks = false;
        }
        return NULL;
    }
    /* a fault, or what decryption garbled, does not say whose it is */
    bool is_unnamed = request && (tapped->subject == NULL || tapped->sealed.connection);
    verdict_query *query = is_unnamed ? request->query : find_or_add_query(v, pinfo, tapped);
    query->connection = steps_note_call(pinfo, tapped->is_response);
    query->pair = query->connection->peers;
    learn_server_name(v, query, tapped);
    request = count_call(v, query, request, pinfo, tapped);
    if (tapped->is_response && !request->asks && tapped->seconds >= SLOW_CALL_S) {
        steps_note_slow_call(query->connection, verdict_now(pinfo), tapped->seconds);
    }
    if (query->is_sealed && tapped->sealed.uses_query) {
        count_sealed(query, pinfo, tapped);
    } else if (tapped->handle) {
        count_handle(v, query, tapped);
    }
    problems_count(v, request, pinfo, tapped);
    return query;
}

void verdict_restart(verdict **place)
{
    verdict *v = *place;

    steps_watch();
    if (v == NULL) { /* nobody frees it, as a statistic stays registered */
        v = *place = g_new0(verdict, 1);
        v->memory = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
        v->pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
        v->queries = g_ptr_array_new();
        v->calls = g_array_new(FALSE, FALSE, sizeof(monitor_call));
        v->monitors = g_ptr_array_new();
    }
    g_ptr_array_set_size(v->monitors, 0);
    g_ptr_array_set_size(v->queries, 0);
    g_array_set_size(v->calls, 0);
    wmem_free_all(v->memory);
    wmem_free_all(v->pool);
    /* the next capture (tshark -M) has other handles and connections, perhaps at the same addresses */
    v->by_key = wmem_map_new_autoreset(v->memory, wmem_file_scope(), wmem_str_hash, g_str_equal);
    v->closed = wmem_map_new_autoreset(v->memory, wmem_file_scope(), g_direct_hash, g_direct_equal);
    v->accepted = wmem_map_new(v->memory, wmem_int64_hash, g_int64_equal);
    v->delivered = wmem_map_new(v->memory, wmem_str_hash, g_str_equal);
    v->omitted = (omissions){0};
}
