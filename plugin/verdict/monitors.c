/* monitors.c
 * Calls by query: whose each is, its outcome, and problems of counters and their values: refused, not delivered, failed, malformed, assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "taps/refusals.h"
#include "text/text.h"

#include <epan/to_str.h>

#include <math.h>

#define MOST_OF_NAME 40 /* characters of a server's name */
#define SLOW_CALL_S 0.5 /* seconds: a call for no data that takes less makes no sample late */

/* --- Whose a call is ---------------------------------------------------------------------------------------------- */

/* Returns true if the call belongs to one query or question. Openings and lists of titles belong to the peers instead. */
static bool is_of_query(const call_tap_data *tapped)
{
    bool is_question = !tapped->is_hkpd || (tapped->subject && !tapped->asks_titles);

    return tapped->handle && is_question && !g_str_has_prefix(tapped->operation, "Open");
}

/* Returns the name of the registry value that is asked for; "": PerflibV2. Needs: a call of one query or question. */
static const char *format_value_name(const call_tap_data *tapped)
{
    return tapped->is_hkpd ? tapped->subject : "";
}

/* Returns the key of a call's query: if sealed its connection, else handle and question; without `has_query` server and account; and always protocol and client. */
static const char *format_query_key(packet_info *pinfo, const call_tap_data *tapped, bool has_query)
{
    bool is_sealed = tapped->sealed.connection;
    const void *owner = is_sealed   ? tapped->sealed.connection
                        : has_query ? (const void *)tapped->handle
                                    : (const void *)tapped->server;
    const char *client = address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src);

    return wmem_strdup_printf(pinfo->pool, "%p %d %s %s", owner, tapped->is_hkpd, client,
                              is_sealed   ? ""
                              : has_query ? format_value_name(tapped)
                                          : steps_find_account(pinfo));
}

/* Notes the name that the client gives the server. */
static void learn_server_name(verdict_peers *peers, const packet_info *pinfo, const call_tap_data *tapped)
{
    const char *machine = tapped->handle ? tapped->handle->machine : tapped->server->called;

    if (machine && *machine) {
        steps_name_server(peers, text_cut(pinfo->pool, machine, MOST_OF_NAME));
    }
}

/* Returns a call's query; of calls that have none the first one of the same protocol, client, server and account. Changes: the first call creates
 * it; those before a query's first call become its own. Needs: the caller sets `connection`. */
static verdict_query *find_or_add_query(verdict *v, packet_info *pinfo, const call_tap_data *tapped)
{
    const char *key = format_query_key(pinfo, tapped, is_of_query(tapped));
    verdict_query *query = wmem_map_lookup(v->by_key, key);

    if (query) {
        return query;
    }
    const char *first_key = format_query_key(pinfo, tapped, false);
    verdict_query *first = wmem_map_lookup(v->by_key, first_key);
    query = first && first->number == 0 ? first : wmem_new(v->memory, verdict_query);
    if (query != first) {
        *query = (verdict_query){
            .client = address_to_str(v->memory, tapped->is_response ? &pinfo->dst : &pinfo->src),
            .server = wmem_strdup(v->memory, tapped->server->text),
            .account = wmem_strdup(v->memory, steps_find_account(pinfo)),
            .is_hkpd = tapped->is_hkpd,
            .is_sealed = tapped->sealed.connection != NULL,
            .place = v->queries->len,
            .counters = NAN,
            .sets = (uint64_t)v->queries->len << 32 | 1,
            .empty_sets = wmem_map_new(v->memory, wmem_str_hash, g_str_equal),
        };
        g_ptr_array_add(v->queries, query);
    }
    query->first = verdict_now(pinfo);
    wmem_map_insert(v->by_key, wmem_strdup(v->memory, key), query);
    wmem_map_insert(v->by_key, wmem_strdup(v->memory, first_key), first ? first : query);
    return query;
}

/* --- Calls -------------------------------------------------------------------------------------------------------- */

/* Returns the size of the counter data that a response brings, sealed or not; 0: it is no sample. */
static uint32_t count_data_bytes(const call_tap_data *tapped)
{
    return call_tap_has_sample(tapped) ? tvb_reported_length(tapped->answer->tvb) : tapped->sealed.sample_size;
}

/* Returns true for a failed call that is nobody's problem: one of no known query, for a text, language or instance that is not there; or any close. */
static bool is_usual_failure(const call_tap_data *tapped)
{
    enum { NOT_FOUND = 1168, RESOURCE_LANG_NOT_FOUND = 1815, WMI_INSTANCE_NOT_FOUND = 4201 };
    bool is_nothing = tapped->status == NOT_FOUND || tapped->status == RESOURCE_LANG_NOT_FOUND ||
                      tapped->status == WMI_INSTANCE_NOT_FOUND;

    return (tapped->handle == NULL && is_nothing) || g_str_has_prefix(tapped->operation, "Close");
}

/* Returns the outcome of a response. Usual failures are not CALL_FAILED. */
static call_outcome find_outcome(const call_tap_data *tapped)
{
    if (tapped->has_failed && !is_usual_failure(tapped)) {
        return CALL_FAILED;
    }
    if (!tapped->brings_data) {
        return CALL_DONE;
    }
    if (count_data_bytes(tapped) > 0) {
        return CALL_SAMPLE;
    }
    bool is_cut = tapped->unread && tapped->handle; /* by the snapshot length */
    return tapped->is_probe ? CALL_PROBE : tapped->answer || tapped->is_damaged || is_cut ? CALL_DAMAGED : CALL_EMPTY;
}

/* Adds a call to the verdict's, with what its request says, or, if that was not captured, its response. */
static monitor_call *add_call(verdict *v, verdict_query *query, const verdict_connection *connection,
                              const packet_info *pinfo, const call_tap_data *tapped)
{
    const verdict_moment now = verdict_now(pinfo), asked = {0, now.time - tapped->seconds};
    uint32_t subject = wmem_strong_hash((const uint8_t *)&tapped->request_code, sizeof tapped->request_code) +
                       37 * g_str_hash(tapped->operation);
    subject += tapped->subject ? 31 * wmem_strong_hash(tapped->subject, tapped->subject_size) : 0;
    monitor_call *call = wmem_new(v->memory, monitor_call);

    *call = (monitor_call){
        .asked = tapped->is_response ? asked : now,
        .query = query,
        .operation = g_intern_string(tapped->operation),
        .key = (uint64_t)query->place << 32 | subject,
        .connection = connection,
        .at_request = connection->troubles,
        .num_open = query->num_open,
        .asks = tapped->brings_data,
    };
    g_ptr_array_add(v->calls, call);
    if (!tapped->is_response) {
        wmem_map_insert(v->waiting, tapped->call, call);
    }
    return call;
}

/* Fills outcome, times, size and clocks of a call by its response. Needs: the call's request, as far as captured, and its connection. */
static void take_response(monitor_call *call, const packet_info *pinfo, const call_tap_data *tapped)
{
    const uint64_t epoch_1970 = 116444736000000000;
    const verdict_connection *connection = call->connection;
    bool is_acked = call->asked.frame > 0 && connection->acked.frame >= call->asked.frame;

    call->answered = verdict_now(pinfo);
    call->seconds = tapped->seconds;
    call->acked = is_acked ? connection->acked.time : 0;
    call->began = connection->response_began;
    call->at_response = connection->troubles;
    call->at_response.resent += connection->by[BY_SERVER].waited; /* by its parts */
    call->outcome = (uint8_t)find_outcome(tapped);
    call->status = tapped->status;
    call->is_fault = tapped->is_fault;
    call->query->is_marked |= tapped->is_late;
    call->does_not_seal = tapped->status == ACCESS_DENIED && tapped->does_not_seal;
    call->size = count_data_bytes(tapped);
    if (call->outcome == CALL_SAMPLE && tapped->handle && tapped->answer->table->clocks.perf_freq > 0) {
        const perf_point *clocks = &tapped->answer->table->clocks;
        call->clock = (double)clocks->perf_time / (double)clocks->perf_freq;
        call->date = (double)(int64_t)(clocks->time_100ns - epoch_1970) / 1e7;
    }
}

/* Counts a PDU: a new call, or the response of one. Changes: numbers of the query, newest sample of the peers. */
static void count_call(const verdict *v, monitor_call *call, const packet_info *pinfo, const call_tap_data *tapped)
{
    verdict_query *query = call->query;

    call->asks |= tapped->brings_data;
    call->number = call->asks && call->number == 0 ? ++query->asked : call->number;
    if (tapped->is_response) {
        take_response(call, pinfo, tapped);
    }
    query->asked -= call->outcome == CALL_PROBE;
    verdict_peers *pair = call->connection->peers;
    if (call->outcome == CALL_SAMPLE) {
        unsigned times = GPOINTER_TO_UINT(wmem_map_lookup(v->samples, &call->key)) + 1;
        wmem_map_insert(v->samples, &call->key, GUINT_TO_POINTER(times));
        query->most_asked = MAX(query->most_asked, times);
        query->samples++;
        pair->sampled = pinfo->num;
        pair->sampled_began = MAX(pair->sampled_began, query->first.frame);
    } else if (call->outcome == CALL_DONE && !call->asks) {
        wmem_map_insert(v->succeeded, &call->key, GUINT_TO_POINTER(pinfo->num));
    }
}

/* --- Counters and values ------------------------------------------------------------------------------------------ */

/* Stores a problem of a counter that a response states: path, error and key as shown_problem has them. One that follows another of the same response
 * and problem, and key, counts as one thing more of it. */
static void add_problem(const verdict *v, const monitor_call *call, monitor_problem number, const char *path,
                        uint32_t status, uint64_t key)
{
    shown_problem *last = v->problems->len > 0 ? g_ptr_array_index(v->problems, v->problems->len - 1) : NULL;
    const verdict_moment at = monitor_call_shown_at(call);
    bool is_next = last && last->query == call->query && last->at.frame == at.frame && last->number == number;
    const char *behind =
        path && g_str_has_prefix(path, "\\\\") ? strchr(path + 2, '\\') : NULL; /* the machine's name */

    if (is_next && last->key == key) {
        last->things++;
        return;
    }
    shown_problem *problem = wmem_new(v->memory, shown_problem);
    *problem = (shown_problem){.query = call->query,
                               .number = number,
                               .at = at,
                               .what = path ? wmem_strdup(v->memory, behind ? behind : path) : NULL,
                               .status = status,
                               .things = 1,
                               .key = key};
    g_ptr_array_add(v->problems, problem);
}

/* Stores refusals as problems of their kind. Failed calls are judge.c's, and instances are no problem that the query's first sample lacks, too, or
 * that come back. Changes: up to that sample stores which sets have no instances. */
static void count_refusals(const verdict *v, const monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    static const monitor_problem numbers[] = {[REFUSED_COUNTER] = PROBLEM_REFUSED,
                                              [REFUSED_BLOCK] = PROBLEM_BLOCK_FAILED,
                                              [REFUSED_INSTANCES] = PROBLEM_NOT_DELIVERED,
                                              [REFUSED_OBJECT] = PROBLEM_NOT_DELIVERED,
                                              [REFUSED_CALL] = PROBLEM_NONE};
    wmem_array_t *all = refusals_find(pinfo->pool, tapped);
    bool lacks_sets = false;

    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const refusal *found = wmem_array_index(all, i);
        monitor_problem number = numbers[found->kind];
        bool is_set = found->kind == REFUSED_INSTANCES;
        if (is_set && call->query->samples <= 1) {
            wmem_map_insert(call->query->empty_sets, wmem_strdup(v->memory, found->path), call->query);
        }
        if (number != PROBLEM_NONE && !(is_set && wmem_map_contains(call->query->empty_sets, found->path))) {
            add_problem(v, call, number, found->path, found->status, is_set ? call->query->sets : found->key);
            lacks_sets |= is_set;
        }
    }
    if (call_tap_has_sample(tapped) && !lacks_sets) {
        wmem_map_insert(v->succeeded, &call->query->sets, GUINT_TO_POINTER(pinfo->num));
    }
}

/* Stores the frame in which ValidateCounters adds its counters, of those that it does not refuse. */
static void count_added(const verdict *v, const packet_info *pinfo, const call_tap_data *tapped)
{
    for (uint32_t i = 0; tapped->adds && tapped->is_response && i < tapped->num_identifiers; i++) {
        uint64_t key = call_tap_identifier_key(tapped, i);
        if (tapped->identifiers[i].status == 0) {
            wmem_map_insert(v->succeeded, wmem_memdup(v->memory, &key, sizeof key), GUINT_TO_POINTER(pinfo->num));
        }
    }
}

/* Counts values of a sample of which something is assumed, or whose type is not known. */
static void count_values(verdict *v, const monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);

    while (value_stream_next(stream)) {
        v->values++;
        const perf_result result =
            stream->now.at.raw.size > 0 ? value_stream_result(stream) : (perf_result){.none = PERF_NO_RESULT_OK};
        assumed_reason reason = value_stream_assumed(stream);
        if (reason != ASSUMED_NONE && reason != ASSUMED_RESPONSE) { /* malformed data is said of the response */
            add_problem(v, call, PROBLEM_ASSUMED, value_stream_path(stream), 0, 0);
        }
        v->omitted.counts[OMITTED_UNTYPED] += perf_is_untyped(result.none);
    }
}

/* Counts problems that a request or response states of counters and values. Changes: problems of the call and of its query. */
static void count_problems(verdict *v, const monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    enum { FILE_NOT_FOUND = 2, SMALLEST_LIST = 8 }; /* bytes: one title of a digit, and the list's end */
    verdict_query *query = call->query;
    const counter_response *answer = tapped->answer;
    bool is_titles = tapped->asks_titles && tapped->has_status && !tapped->is_probe;
    bool is_whole = tapped->status == 0 && !tapped->is_damaged && tapped->out_size >= SMALLEST_LIST;
    bool is_malformed = answer ? answer->sample == NULL || tapped->is_damaged
                               : tapped->is_damaged && tapped->is_response && tapped->brings_data;

    count_added(v, pinfo, tapped);
    count_refusals(v, call, pinfo, tapped);
    if (is_malformed && tapped->handle) {
        add_problem(v, call, PROBLEM_DAMAGED, NULL, 0, 0);
    } else if (is_titles && !is_whole && (tapped->status == 0 || tapped->status == FILE_NOT_FOUND)) {
        add_problem(v, call, PROBLEM_NAMES, NULL, 0, 0);
    }
    query->has_names |= is_titles && is_whole;
    if (call_tap_has_sample(tapped)) {
        count_values(v, call, pinfo, tapped);
    }
}

/* --- Queries ------------------------------------------------------------------------------------------------------ */

/* Takes number, frames and counters of a query from its call. Needs: a handle. `asked_for` changes with each call up to the first sample. */
static void count_handle(const verdict *v, verdict_query *query, const call_tap_data *tapped)
{
    wmem_map_insert(v->handles, query, (void *)tapped->handle);
    query->closed_frame = tapped->handle->closed_frame;
    if (query->number == 0) {
        query->number = tapped->handle->number;
        query->opened_frame = tapped->handle->opened_frame;
    }
    query->counters = tapped->has_counters ? tapped->counters : query->counters;
    if (query->samples <= tapped->is_response) {
        const char *name = format_value_name(tapped);
        query->asked_for = tapped->is_hkpd             ? wmem_strong_hash((const uint8_t *)name, strlen(name))
                           : tapped->counters_hash > 0 ? tapped->counters_hash
                                                       : query->asked_for;
    }
}

/* Takes how many sealed queries are open, and hashes what they ask for: sizes of requests that change counters stand for the counters. A connection's
 * first request, the opening, has no size there: it is longer by its verification trailer. */
static void count_sealed(verdict_query *query, const packet_info *pinfo, const call_tap_data *tapped)
{
    bool opens = g_str_has_prefix(tapped->operation, "Open"), closes = g_str_has_prefix(tapped->operation, "Close");

    query->num_open = tapped->sealed.num_open;
    if (tapped->is_response) {
        return;
    }
    query->closed_frame = closes && query->num_open == 0 ? pinfo->num : 0;
    if (query->samples == 0 && !tapped->brings_data && !closes) {
        query->asked_for = (query->asked_for * 31 + g_str_hash(tapped->operation)) * 31;
        query->asked_for += opens ? 0 : tapped->sealed.size;
    }
}

const monitor_call *verdict_count(verdict *v, packet_info *pinfo, const call_tap_data *tapped)
{
    /* about performance counters is what was read, or says whose it is, of PerflibV2, or a key of performance data */
    bool is_read = !tapped->unread, is_used = tapped->handle || tapped->sealed.uses_query;
    bool is_ours = is_used || (is_read && (!tapped->is_hkpd || g_str_has_prefix(tapped->operation, "OpenHKP")));

    omissions_count_call(&v->omitted, tapped);
    verdict_connection *connection =
        is_ours && !tapped->is_repeated ? steps_note_call(pinfo, tapped->is_response) : NULL;
    if (connection == NULL) {
        return NULL;
    }
    monitor_call *call = tapped->is_response ? wmem_map_remove(v->waiting, tapped->call) : NULL;
    /* a fault, or what decryption garbled, does not say whose it is */
    bool is_unnamed = call && (tapped->subject == NULL || tapped->sealed.connection);
    verdict_query *query = is_unnamed ? call->query : find_or_add_query(v, pinfo, tapped);
    query->connection = query->connection && !is_of_query(tapped) ? query->connection : connection;
    learn_server_name(connection->peers, pinfo, tapped);
    call = call ? call : add_call(v, query, connection, pinfo, tapped);
    call->query = query;
    count_call(v, call, pinfo, tapped);
    if (tapped->is_response && !call->asks && tapped->seconds >= SLOW_CALL_S) {
        connection->troubles.slow += tapped->seconds;
    }
    if (tapped->sealed.uses_query) {
        count_sealed(query, pinfo, tapped);
    } else if (is_of_query(tapped)) {
        count_handle(v, query, tapped);
    }
    count_problems(v, call, pinfo, tapped);
    return call;
}

void verdict_restart(verdict **place)
{
    verdict *v = *place;

    if (v == NULL) { /* nobody frees it, as a statistic stays registered */
        steps_watch();
        v = *place = g_new0(verdict, 1);
        v->memory = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
        v->pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
        v->queries = g_ptr_array_new();
        v->calls = g_ptr_array_new();
        v->problems = g_ptr_array_new();
        v->monitors = g_ptr_array_new();
    }
    g_ptr_array_set_size(v->queries, 0);
    g_ptr_array_set_size(v->calls, 0);
    g_ptr_array_set_size(v->problems, 0);
    wmem_free_all(v->memory);
    wmem_free_all(v->pool);
    /* the next capture (tshark -M) has other handles and connections, perhaps at the same addresses */
    v->by_key = wmem_map_new_autoreset(v->memory, wmem_file_scope(), wmem_str_hash, g_str_equal);
    v->waiting = wmem_map_new_autoreset(v->memory, wmem_file_scope(), g_direct_hash, g_direct_equal);
    v->handles = wmem_map_new_autoreset(v->memory, wmem_file_scope(), g_direct_hash, g_direct_equal);
    v->succeeded = wmem_map_new(v->memory, wmem_int64_hash, g_int64_equal);
    v->samples = wmem_map_new(v->memory, wmem_int64_hash, g_int64_equal);
    v->omitted = (omissions){0};
}
