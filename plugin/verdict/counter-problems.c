/* counter-problems.c
 * Problems of counters and their values: refused, not delivered, failed, malformed, assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "taps/refusals.h"
#include "text/value-strings.h"

/* Absences of a counterset's instances: more are usual for it, and no finding. */
#define MOST_ABSENCES 2

typedef struct {
    verdict *v;
    verdict_query *query;
} problem_counter;

/* Counts one more thing with a problem. Changes: keeps path (NULL: none) and error (0: none) of the first. */
static void add_problem(const problem_counter *to, problem_kind kind, const packet_info *pinfo, const char *path,
                        uint32_t status)
{
    counter_problem *problem = &to->query->problems[kind];

    if (problem->things++ == 0) {
        problem->first = path ? wmem_strdup(to->v->memory, path) : NULL;
        problem->status = status;
    }
    if (problem->shown.until.frame != pinfo->num) {
        evidence_add(to->v->memory, &problem->shown, verdict_now(pinfo));
    }
}

/* Returns true if a counterset had no instances in its query's first sample: then their lack is no problem. Changes: up to that sample stores it. */
static bool check_empty_set(const problem_counter *to, const char *path)
{
    if (to->query->samples <= 1) {
        wmem_map_insert(to->query->empty_sets, wmem_strdup(to->v->memory, path), to->query);
    }
    return wmem_map_contains(to->query->empty_sets, path);
}

/* Counts refusals by their kind. Failed calls are judge.c's, and an empty counterset is no problem: neither counts. */
static void count_refusals(const problem_counter *to, packet_info *pinfo, const call_tap_data *tapped)
{
    static const problem_kind kinds[] = {[REFUSED_COUNTER] = PROBLEM_REFUSED,
                                         [REFUSED_BLOCK] = PROBLEM_BLOCK_FAILED,
                                         [REFUSED_INSTANCES] = PROBLEM_NOT_DELIVERED,
                                         [REFUSED_OBJECT] = PROBLEM_NOT_DELIVERED};
    wmem_array_t *all = refusals_find(pinfo->pool, tapped);

    for (unsigned i = 0; i < wmem_array_get_count(all); i++) {
        const refusal *found = wmem_array_index(all, i);
        bool is_empty_set = found->kind == REFUSED_INSTANCES && check_empty_set(to, found->path);
        if (found->kind != REFUSED_CALL && !is_empty_set) {
            add_problem(to, kinds[found->kind], pinfo, found->path, found->status);
        }
    }
}

/* Stores the identifiers that a ValidateCounters response accepts or refuses, with its frame, for is_harmless(). */
static void count_identifiers(const problem_counter *to, const packet_info *pinfo, const call_tap_data *tapped)
{
    for (uint32_t i = 0; tapped->adds && tapped->is_response && i < tapped->num_identifiers; i++) {
        const refused_identifier refused = {call_tap_identifier_key(tapped, i), pinfo->num};
        if (tapped->identifiers[i].status == 0) {
            wmem_map_insert(to->v->accepted, wmem_memdup(to->v->memory, &refused.key, sizeof refused.key),
                            GUINT_TO_POINTER(pinfo->num));
        } else {
            wmem_array_append_one(to->query->refused, refused);
        }
    }
}

/* Counts values of a sample of which something is assumed, or whose type is not known. */
static void count_values(const problem_counter *to, packet_info *pinfo, const call_tap_data *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);

    while (value_stream_next(stream)) {
        to->v->values++;
        const perf_result result =
            stream->at.raw.size > 0 ? value_stream_result(stream) : (perf_result){.none = PERF_NO_RESULT_OK};
        assumed_reason reason = value_stream_assumed_reason(stream);
        if (reason != ASSUMED_NONE && reason != ASSUMED_RESPONSE) { /* malformed data is said of the response */
            add_problem(to, PROBLEM_ASSUMED, pinfo, value_stream_path(stream), 0);
        }
        if (is_untyped_result(&result)) {
            add_problem(to, PROBLEM_UNTYPED, pinfo, NULL, 0);
            to->v->untyped++;
        }
    }
}

static char *format_object_key(wmem_allocator_t *pool, const verdict_query *query, const char *name)
{
    return wmem_strdup_printf(pool, "%s %s", query->server, name);
}

/* Stores the query that got each object of HKEY_PERFORMANCE_DATA first, for format_rights_question(). */
static void count_objects(const problem_counter *to, packet_info *pinfo, const call_tap_data *tapped)
{
    const perf_table *table = tapped->answer->table;

    for (uint32_t i = 0; to->query->is_hkpd && i < table->num_groups; i++) {
        const char *name = call_tap_object_name(pinfo->pool, tapped->server, table->groups[i].key);
        if (!wmem_map_contains(to->v->delivered, format_object_key(pinfo->pool, to->query, name))) {
            wmem_map_insert(to->v->delivered, format_object_key(to->v->memory, to->query, name), to->query);
        }
    }
}

void problems_count(verdict *v, verdict_query *query, packet_info *pinfo, const call_tap_data *tapped)
{
    enum { FILE_NOT_FOUND = 2 };
    problem_counter to = {v, query};
    const counter_response *answer = tapped->answer;
    bool is_titles = tapped->is_response && tapped->asks_titles;
    bool is_malformed = answer ? answer->sample == NULL || tapped->is_damaged
                               : tapped->is_damaged && tapped->is_response && tapped->brings_data;

    count_identifiers(&to, pinfo, tapped);
    count_refusals(&to, pinfo, tapped);
    if (is_malformed && tapped->handle && pinfo->fd->cap_len >= pinfo->fd->pkt_len) {
        add_problem(&to, PROBLEM_DAMAGED, pinfo, NULL, 0);
    } else if (is_titles && (tapped->is_damaged || tapped->status == FILE_NOT_FOUND)) {
        add_problem(&to, PROBLEM_NAMES, pinfo, NULL, 0);
    }
    query->has_titles |= is_titles && tapped->status == 0 && !tapped->is_damaged;
    if (call_tap_has_sample(tapped)) {
        bool is_absent = query->problems[PROBLEM_NOT_DELIVERED].shown.until.frame == pinfo->num;
        query->absences += is_absent && !query->is_absent;
        query->is_absent = is_absent;
        count_values(&to, pinfo, tapped);
        count_objects(&to, pinfo, tapped);
    }
}

/* --- Findings ------------------------------------------------------------------------------------------------------ */

/* Finding of each kind. $F: the first path without its computer; %s: its error. Without a text: no finding. */
static const struct {
    verdict_kind kind;
    verdict_party party;
    const char *text;
} problem_rows[NUM_PROBLEMS] = {
    [PROBLEM_NOT_DELIVERED] = {VERDICT_NOT_DELIVERED, PARTY_SERVER, "$S does not deliver $F to $C: $T"},
    [PROBLEM_BLOCK_FAILED] = {VERDICT_BLOCK_FAILED, PARTY_SERVER, "$S returns %s for $F to $C$N: $T"},
    [PROBLEM_REFUSED] = {VERDICT_REFUSED, PARTY_SERVER, "$S refused $F for $C (%s): $T"},
    [PROBLEM_ASSUMED] = {VERDICT_ASSUMED, PARTY_CAPTURE,
                         "Counter, instance, name or type of values from $S to $C is assumed: $T"},
    [PROBLEM_DAMAGED] = {VERDICT_DAMAGED, PARTY_SERVER, "$S sent malformed counter data to $C$N: $T"},
    [PROBLEM_NAMES] = {VERDICT_NAMES_FAILED, PARTY_SERVER, "$S has no good list of names for $C$N: $T"},
};

/* Returns a problem's counts and frames of all queries of the monitor; path and error are those of the first query that has it. */
static counter_problem sum_problems(const verdict_monitor *monitor, problem_kind kind)
{
    counter_problem sum = {.things = 0};

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const counter_problem *one = &monitor_query(monitor, i)->problems[kind];
        sum.first = sum.things > 0 ? sum.first : one->first;
        sum.status = sum.things > 0 ? sum.status : one->status;
        sum.things += one->things;
        for (unsigned n = 0; n < evidence_count(&one->shown); n++) {
            verdict_moment end = one->shown.frames[n] == one->shown.until.frame ? one->shown.until : one->shown.since;
            evidence_add(monitor->pool, &sum.shown, (verdict_moment){one->shown.frames[n], end.time});
        }
    }
    return sum;
}

/* Returns "CLIENT gets it: may this account read it?" if the first query of all that got the object from this server
 * is another client's or account's, and never lacked an object; else NULL. Accounts count only if both are known.
 * `name`: an object of HKEY_PERFORMANCE_DATA, as call_tap_object_name() has it. */
static const char *format_rights_question(const verdict *v, const verdict_monitor *monitor, const char *name)
{
    const verdict_query *own = monitor->first,
                        *other = wmem_map_lookup(v->delivered, format_object_key(monitor->pool, own, name));
    bool is_other = other && (strcmp(other->client, own->client) != 0 ||
                              (*other->account && *own->account && strcmp(other->account, own->account) != 0));

    return is_other && other->problems[PROBLEM_NOT_DELIVERED].things == 0
               ? wmem_strdup_printf(monitor->pool, "%s gets it: may this account read it?", other->client)
               : NULL;
}

/* Returns true if a problem is no finding: instances come and go; the server later accepted, from any client, each identifier that it had refused;
 * some list of names is whole. */
static bool is_harmless(const verdict *v, const verdict_monitor *monitor, problem_kind kind)
{
    bool has_all = true, has_titles = false;
    unsigned absences = 0;

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const verdict_query *query = monitor_query(monitor, i);
        for (unsigned n = 0; n < wmem_array_get_count(query->refused); n++) {
            const refused_identifier *refused = wmem_array_index(query->refused, n);
            has_all &= GPOINTER_TO_UINT(wmem_map_lookup(v->accepted, &refused->key)) > refused->frame;
        }
        has_titles |= query->has_titles;
        absences += query->absences;
    }
    return (kind == PROBLEM_NOT_DELIVERED && absences > MOST_ABSENCES) || (kind == PROBLEM_REFUSED && has_all) ||
           (kind == PROBLEM_NAMES && has_titles);
}

void problems_find(const verdict *v, verdict_monitor *monitor)
{
    for (problem_kind kind = 0; kind < NUM_PROBLEMS; kind++) {
        counter_problem sum = sum_problems(monitor, kind);
        if (sum.things == 0 || problem_rows[kind].text == NULL || is_harmless(v, monitor, kind)) {
            continue;
        }
        if (sum.things > (sum.first ? 1 : evidence_count(&sum.shown))) {
            sum.shown.more = wmem_strdup_printf(monitor->pool, "%" PRIu64 " in all", sum.things);
        }
        if (sum.first) {
            const char *path = g_str_has_prefix(sum.first, "\\\\") ? strchr(sum.first + 2, '\\') : NULL;
            sum.shown.which = path ? path : sum.first;
            sum.shown.meaning = kind == PROBLEM_NOT_DELIVERED ? format_rights_question(v, monitor, sum.first)
                                                              : text_error_meaning(sum.status);
        }
        monitor_add_finding(monitor, problem_rows[kind].kind, problem_rows[kind].party, &sum.shown,
                            problem_rows[kind].text, text_win32_error(monitor->pool, sum.status));
    }
}
