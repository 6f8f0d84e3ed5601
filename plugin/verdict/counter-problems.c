/* counter-problems.c
 * Problems of counters and their values: refused, not delivered, failed, malformed, assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "taps/refusals.h"

/* Counts one more thing with a problem. Changes: keeps path (NULL: none) and error (0: none) of the first. */
static void add_problem(const verdict *v, monitor_call *call, monitor_problem problem, const char *path,
                        uint32_t status)
{
    problem_things *things = &call->query->problems[problem];

    if (things->count++ == 0) {
        things->path = path ? wmem_strdup(v->memory, path) : NULL;
        things->status = status;
    }
    call->facts |= 1u << problem;
}

/* Returns true if a counterset had no instances in its query's first sample: then their lack is no problem. Changes: up to that sample stores it. */
static bool check_empty_set(const verdict *v, monitor_call *call, const char *path)
{
    if (call->query->samples <= 1) {
        wmem_map_insert(call->query->empty_sets, wmem_strdup(v->memory, path), call->query);
    }
    return wmem_map_contains(call->query->empty_sets, path);
}

/* Counts refusals by their kind. Failed calls are judge.c's, and an empty counterset is no problem: neither counts. */
static void count_refusals(const verdict *v, monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    static const monitor_problem kinds[] = {[REFUSED_COUNTER] = PROBLEM_REFUSED,
                                            [REFUSED_BLOCK] = PROBLEM_BLOCK_FAILED,
                                            [REFUSED_INSTANCES] = PROBLEM_NOT_DELIVERED,
                                            [REFUSED_OBJECT] = PROBLEM_NOT_DELIVERED};
    wmem_array_t *all = refusals_find(pinfo->pool, tapped);

    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const refusal *found = wmem_array_index(all, i);
        bool is_empty_set = found->kind == REFUSED_INSTANCES && check_empty_set(v, call, found->path);
        if (found->kind != REFUSED_CALL && !is_empty_set) {
            add_problem(v, call, kinds[found->kind], found->path, found->status);
        }
    }
}

/* Stores the identifiers that a ValidateCounters response accepts or refuses, with its frame, for is_harmless(). */
static void count_identifiers(const verdict *v, monitor_call *call, const packet_info *pinfo,
                              const call_tap_data *tapped)
{
    for (uint32_t i = 0; tapped->adds && tapped->is_response && i < tapped->num_identifiers; i++) {
        const refused_identifier refused = {call_tap_identifier_key(tapped, i), pinfo->num};
        if (tapped->identifiers[i].status == 0) {
            wmem_map_insert(v->accepted, wmem_memdup(v->memory, &refused.key, sizeof refused.key),
                            GUINT_TO_POINTER(pinfo->num));
        } else {
            wmem_array_append_one(call->query->refused, refused);
        }
    }
}

/* Counts values of a sample of which something is assumed, or whose type is not known. */
static void count_values(verdict *v, monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);

    while (value_stream_next(stream)) {
        v->values++;
        const perf_result result =
            stream->at.raw.size > 0 ? value_stream_result(stream) : (perf_result){.none = PERF_NO_RESULT_OK};
        assumed_reason reason = value_stream_assumed_reason(stream);
        if (reason != ASSUMED_NONE && reason != ASSUMED_RESPONSE) { /* malformed data is said of the response */
            add_problem(v, call, PROBLEM_ASSUMED, value_stream_path(stream), 0);
        }
        call->facts |= (uint16_t)(is_untyped_result(&result) << FACT_UNTYPED);
        v->untyped += is_untyped_result(&result);
    }
}

static char *format_object_key(wmem_allocator_t *pool, const verdict_query *query, const char *name)
{
    return wmem_strdup_printf(pool, "%s %s", query->server, name);
}

/* Stores the query that got each object of HKEY_PERFORMANCE_DATA first, for format_rights_question(). */
static void count_objects(const verdict *v, monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    const perf_table *table = tapped->answer->table;

    for (uint32_t i = 0; call->query->is_hkpd && i < table->num_groups; i++) {
        const char *name = call_tap_object_name(pinfo->pool, tapped->server, table->groups[i].key);
        if (!wmem_map_contains(v->delivered, format_object_key(pinfo->pool, call->query, name))) {
            wmem_map_insert(v->delivered, format_object_key(v->memory, call->query, name), call->query);
        }
    }
}

void problems_count(verdict *v, monitor_call *call, packet_info *pinfo, const call_tap_data *tapped)
{
    enum { FILE_NOT_FOUND = 2, SMALLEST_LIST = 8 }; /* bytes: one title of a digit, and the list's end */
    verdict_query *query = call->query;
    const counter_response *answer = tapped->answer;
    bool is_titles = tapped->is_response && tapped->asks_titles && tapped->has_status && !tapped->is_probe;
    bool is_whole = tapped->status == 0 && !tapped->is_damaged && tapped->out_size >= SMALLEST_LIST;
    bool is_malformed = answer ? answer->sample == NULL || tapped->is_damaged
                               : tapped->is_damaged && tapped->is_response && tapped->brings_data;

    count_identifiers(v, call, pinfo, tapped);
    count_refusals(v, call, pinfo, tapped);
    if (is_malformed && tapped->handle && pinfo->fd->cap_len >= pinfo->fd->pkt_len) {
        add_problem(v, call, PROBLEM_DAMAGED, NULL, 0);
    } else if (is_titles && !is_whole && (tapped->status == 0 || tapped->status == FILE_NOT_FOUND)) {
        add_problem(v, call, PROBLEM_NAMES, NULL, 0);
    }
    call->facts |= (is_titles && is_whole) << FACT_TITLES;
    if (call_tap_has_sample(tapped)) {
        bool is_absent = call->facts & 1u << PROBLEM_NOT_DELIVERED;
        query->absences += is_absent && !query->is_absent;
        query->is_absent = is_absent;
        count_values(v, call, pinfo, tapped);
        count_objects(v, call, pinfo, tapped);
    }
}
