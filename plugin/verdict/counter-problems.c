/* counter-problems.c
 * Problems of counters and their values: refused, not delivered, failed, malformed, assumed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/counter-problems.h"

#include "taps/refusals.h"
#include "text/text.h"

/* Absences of a counterset's instances: more are usual for it, and no finding. */
#define MOST_ABSENCES 2

typedef struct {
    verdict *v;
    verdict_query *query;
} problem_counter;

/* Counts one more thing with a problem. `path`: its name, NULL: none. Returns the query's counts. Changes: the first path is kept. */
static counter_problem *add_problem(const problem_counter *to, problem_kind kind, packet_info *pinfo, const char *path)
{
    counter_problem *problem = &to->query->problems[kind];

    problem->shown.pool = to->v->memory;
    if (problem->shown.last != pinfo->num) {
        evidence_add(&problem->shown, pinfo->num, nstime_to_sec(&pinfo->abs_ts));
    }
    if (problem->things++ == 0) {
        problem->first = path ? wmem_strdup(to->v->memory, path) : NULL;
    }
    problem->kinds += pinfo->num == problem->shown.first;
    return problem;
}

/* Returns true if a counterset had no instances in its query's first sample: then their lack is no problem. Changes: up to that sample stores it. */
static bool check_empty_set(const problem_counter *to, const char *path)
{
    if (to->query->samples <= 1) {
        wmem_map_insert(to->query->empty_sets, wmem_strdup(to->v->memory, path), to->query);
    }
    return wmem_map_contains(to->query->empty_sets, path);
}

/* Counts a refusal by its kind, for refusals_visit(). Failed calls are judge.c's, and an empty counterset is no problem: neither counts. */
static void count_refusal(void *data, packet_info *pinfo, const tapped_call *tapped _U_, const refusal *found)
{
    static const problem_kind kinds[] = {[REFUSED_COUNTER] = PROBLEM_REFUSED,
                                         [REFUSED_BLOCK] = PROBLEM_BLOCK_FAILED,
                                         [REFUSED_INSTANCES] = PROBLEM_NOT_DELIVERED,
                                         [REFUSED_OBJECT] = PROBLEM_NOT_DELIVERED};
    const problem_counter *to = data;
    bool is_ignored =
        found->kind == REFUSED_CALL || (found->kind == REFUSED_INSTANCES && check_empty_set(to, found->path));

    if (!is_ignored) {
        const char *path = text_marked(pinfo->pool, found->path, found->is_assumed);
        counter_problem *problem = add_problem(to, kinds[found->kind], pinfo, path);
        problem->status = problem->things == 1 ? found->status : problem->status;
    }
}

/* Stores the identifiers that a ValidateCounters response accepts or refuses, with its frame, for has_accepted_all(). */
static void count_identifiers(const problem_counter *to, const packet_info *pinfo, const tapped_call *tapped)
{
    for (uint32_t i = 0; tapped->adds && tapped->is_response && i < tapped->num_identifiers; i++) {
        const refused_identifier refused = {tapped_identifier_key(tapped, i), pinfo->num};
        if (tapped->identifiers[i].status == 0) {
            wmem_map_insert(to->v->accepted, wmem_memdup(to->v->memory, &refused.key, sizeof refused.key),
                            GUINT_TO_POINTER(pinfo->num));
        } else {
            wmem_array_append_one(to->query->refused, refused);
        }
    }
}

/* Counts values of a sample whose counter, instance, name or type is assumed, or whose type is not known. */
static void count_values(const problem_counter *to, packet_info *pinfo, const tapped_call *tapped)
{
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);

    while (value_stream_next(stream)) {
        const perf_result result =
            stream->at.is_number ? value_stream_result(stream) : (perf_result){.none = PERF_NO_RESULT_OK};
        assumed_reason reason = value_stream_assumed_reason(stream);
        if (reason != ASSUMED_NONE && reason != ASSUMED_RESPONSE) { /* malformed data is said of the response */
            add_problem(to, reason == ASSUMED_NAME ? PROBLEM_NAME_ASSUMED : PROBLEM_ASSUMED, pinfo,
                        value_stream_path(stream));
        }
        if (is_untyped_result(&result)) {
            add_problem(to, PROBLEM_UNTYPED, pinfo, NULL);
        }
    }
}

static char *format_object_key(wmem_allocator_t *pool, const verdict_query *query, const char *name)
{
    return wmem_strdup_printf(pool, "%s %s", query->pair->server, name);
}

/* Stores the query that got each object of HKEY_PERFORMANCE_DATA first, for format_rights_question(). */
static void count_objects(const problem_counter *to, packet_info *pinfo, const tapped_call *tapped)
{
    const perf_table *table = tapped->answer->table;

    for (uint32_t i = 0; to->query->is_hkpd && to->query->pair && i < table->num_groups; i++) {
        const char *name = tapped_object_name(pinfo->pool, tapped->server, table->groups[i].key);
        if (!wmem_map_contains(to->v->delivered, format_object_key(pinfo->pool, to->query, name))) {
            wmem_map_insert(to->v->delivered, format_object_key(to->v->memory, to->query, name), to->query);
        }
    }
}

void problems_count(verdict *v, verdict_query *query, packet_info *pinfo, const tapped_call *tapped)
{
    enum { FILE_NOT_FOUND = 2 };
    problem_counter to = {v, query};
    const counter_response *answer = tapped->answer;
    bool is_titles = tapped->is_response && tapped->kind && strcmp(tapped->kind, "titles") == 0;
    bool is_malformed = answer ? answer->sample == NULL || tapped->is_damaged || tapped->has_contradictions
                               : tapped->is_damaged && tapped->is_response && tapped->brings_data;

    count_identifiers(&to, pinfo, tapped);
    refusals_visit(pinfo, tapped, count_refusal, &to);
    if (is_malformed && tapped->handle && pinfo->fd->cap_len >= pinfo->fd->pkt_len) {
        add_problem(&to, PROBLEM_DAMAGED, pinfo, NULL);
    } else if (is_titles && (tapped->is_damaged || tapped->status == FILE_NOT_FOUND)) {
        add_problem(&to, PROBLEM_NAMES, pinfo, NULL);
    }
    query->has_titles |= is_titles && tapped->status == 0 && !tapped->is_damaged;
    if (answer && answer->sample && tapped->handle && v->counts_values) {
        count_values(&to, pinfo, tapped);
        count_objects(&to, pinfo, tapped);
    }
}

/* Finding of each kind. $F: the first path without its computer. %s: its error, " (and 2 more)" or "". Without a text: no finding. */
static const struct {
    verdict_kind kind;
    verdict_party party;
    const char *text;
} problem_rows[NUM_PROBLEMS] = {
    [PROBLEM_NOT_DELIVERED] = {VERDICT_NOT_DELIVERED, PARTY_SERVER, "$S does not deliver $F to $C%s: $T"},
    [PROBLEM_BLOCK_FAILED] = {VERDICT_BLOCK_FAILED, PARTY_SERVER, "$S returns %s for $F to $C$N: $T"},
    [PROBLEM_REFUSED] = {VERDICT_REFUSED, PARTY_SERVER, "$S refused $F for $C (%s): $T"},
    [PROBLEM_ASSUMED] = {VERDICT_ASSUMED, PARTY_CAPTURE,
                         "Values from $S to $C may belong to another counter or instance (assumed)%s: $T"},
    [PROBLEM_NAME_ASSUMED] = {VERDICT_ASSUMED, PARTY_CAPTURE,
                              "Values from $S to $C may have other names or types (assumed)%s: $T"},
    [PROBLEM_DAMAGED] = {VERDICT_DAMAGED, PARTY_SERVER, "$S sent malformed counter data to $C%s$N: $T"},
    [PROBLEM_NAMES] = {VERDICT_NAMES_FAILED, PARTY_SERVER, "$S has no good list of names for $C%s$N: $T"},
};

/* Returns a problem's counts and frames of all queries of the monitor; path and error are those of the first query that has it. */
static counter_problem sum_problems(const verdict_monitor *monitor, problem_kind kind)
{
    counter_problem sum = {.shown = {.pool = monitor->pool}};

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        const counter_problem *one = &monitor_query(monitor, i)->problems[kind];
        if (sum.things == 0) {
            sum.first = one->first;
            sum.status = one->status;
        }
        sum.kinds = MAX(sum.kinds, one->kinds);
        sum.things += one->things;
        for (unsigned n = 0; n < evidence_count(&one->shown); n++) {
            uint32_t frame = evidence_frame(&one->shown, n);
            evidence_add(&sum.shown, frame, frame == one->shown.last ? one->shown.until : one->shown.since);
        }
    }
    return sum;
}

/* Returns "CLIENT gets it: may this account read it?" for an object of HKEY_PERFORMANCE_DATA that another client, or account, got first, of a
 * query that lacked nothing; else NULL. `name`: the object, as tapped_object_name() has it. */
static const char *format_rights_question(const verdict *v, const verdict_monitor *monitor, const char *name)
{
    const verdict_query *own = monitor->first;
    const verdict_query *other =
        own->pair ? wmem_map_lookup(v->delivered, format_object_key(monitor->pool, own, name)) : NULL;
    bool is_other_account = other && *other->account && *own->account && strcmp(other->account, own->account) != 0;
    bool is_other =
        other && (other->pair != own->pair || is_other_account) && other->problems[PROBLEM_NOT_DELIVERED].things == 0;

    return is_other ? wmem_strdup_printf(monitor->pool, "%s gets it: may this account read it?", other->client) : NULL;
}

/* Adds the finding of a problem of all queries (`sum`), if any has it: first path and error; meaning, or the question about rights; number of things. */
static void find_problem(const verdict *v, verdict_monitor *monitor, problem_kind kind, counter_problem sum)
{
    wmem_allocator_t *pool = monitor->pool;
    bool is_not_delivered = kind == PROBLEM_NOT_DELIVERED;
    const char *error = sum.status > 0 ? verdict_error(pool, false, sum.status) : "";

    if (is_not_delivered && sum.kinds > 1) {
        error = wmem_strdup_printf(pool, " (and %u more)", sum.kinds - 1);
    }
    if (sum.things > (sum.first ? 1 : evidence_count(&sum.shown))) {
        sum.shown.more = wmem_strdup_printf(pool, "%" PRIu64 " in all", sum.things);
    }
    if (sum.first) {
        const char *path = g_str_has_prefix(sum.first, "\\\\") ? strchr(sum.first + 2, '\\') : NULL;
        sum.shown.which = path ? path : sum.first;
        sum.shown.meaning =
            is_not_delivered ? format_rights_question(v, monitor, sum.first) : verdict_meaning(sum.status);
    }
    monitor_add_finding(monitor, problem_rows[kind].kind, problem_rows[kind].party, &sum.shown, problem_rows[kind].text,
                        error);
}

/* Returns true if instances were absent (`absent`: their frames) in more than MOST_ABSENCES runs of samples, as those of a queue are. Objects do not come and go. */
static bool comes_and_goes(const verdict_monitor *monitor, const verdict_evidence *absent)
{
    unsigned absences = 0, at = 0, count = evidence_count(absent);
    bool is_absent = false;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        while (at < count && evidence_frame(absent, at) < call->frame) {
            at++;
        }
        if (call->outcome == CALL_SAMPLE) {
            bool lacks = at < count && evidence_frame(absent, at) == call->frame;
            absences += lacks && !is_absent;
            is_absent = lacks;
        }
    }
    return absences > MOST_ABSENCES && !monitor->first->is_hkpd;
}

/* Returns true if the server later accepted, from any client, each identifier that it had refused for the query. */
static bool has_accepted_all(const verdict *v, const verdict_query *query)
{
    bool has_all = true;

    for (unsigned i = 0; i < wmem_array_get_count(query->refused); i++) {
        const refused_identifier *refused = wmem_array_index(query->refused, i);
        has_all &= GPOINTER_TO_UINT(wmem_map_lookup(v->accepted, &refused->key)) > refused->frame;
    }
    return has_all;
}

/* Returns true if a problem (`shown`: its frames) is no finding: instances come and go; all that was refused was accepted later; some list of names is whole. */
static bool is_harmless(const verdict *v, const verdict_monitor *monitor, problem_kind kind,
                        const verdict_evidence *shown)
{
    bool has_all = true, has_titles = false;

    for (unsigned i = 0; i < wmem_array_get_count(monitor->queries); i++) {
        has_all &= has_accepted_all(v, monitor_query(monitor, i));
        has_titles |= monitor_query(monitor, i)->has_titles;
    }
    return kind == PROBLEM_NOT_DELIVERED
               ? comes_and_goes(monitor, shown)
               : (kind == PROBLEM_REFUSED && has_all) || (kind == PROBLEM_NAMES && has_titles);
}

void problems_find(const verdict *v, verdict_monitor *monitor)
{
    for (problem_kind kind = 0; kind < NUM_PROBLEMS; kind++) {
        const counter_problem sum = sum_problems(monitor, kind);
        if (sum.things > 0 && problem_rows[kind].text && !is_harmless(v, monitor, kind, &sum.shown)) {
            find_problem(v, monitor, kind, sum);
        }
    }
}
