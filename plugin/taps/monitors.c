/* monitors.c
 * What is right and what is wrong with each monitor of a capture.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/monitors.h"

#include "state/queries.h"
#include "taps/accounts.h"
#include "taps/output.h"
#include "taps/query-rows.h"
#include "text/value-strings.h"

#include <epan/to_str.h>

/* More have the last one for all. */
#define MAX_MONITORS 50000

/* Seconds: an answer that did not come by then. */
#define LONG_WAIT 5.0

static void monitor_free(void *data)
{
    monitor *of = data;

    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        g_free(of->findings[i].what);
    }
    pace_free(&of->pace);
    g_free(of->account);
    g_hash_table_destroy(of->refused);
    g_free(of->client);
    g_free(of->server);
    g_free(of);
}

void monitors_reset(monitors *m)
{
    g_ptr_array_set_size(m->all, 0);
    g_ptr_array_set_size(m->judged, 0);
    g_hash_table_remove_all(m->whose);
    g_hash_table_remove_all(m->connections);
    nstime_set_zero(&m->end);
}

/* --- Which of them --------------------------------------------------------------------------------------------- */

static monitor *monitor_of(monitors *m, packet_info *pinfo, const tapped_call *tapped)
{
    const void *key = tapped->handle              ? (const void *)tapped->handle
                      : tapped->sealed.connection ? tapped->sealed.connection
                                                  : (const void *)tapped->server;
    monitor *of = g_hash_table_lookup(m->whose, key);

    if (of == NULL && m->all->len >= MAX_MONITORS) {
        of = g_ptr_array_index(m->all, m->all->len - 1);
    }
    if (of == NULL) {
        of = g_new0(monitor, 1);
        of->client = g_strdup(address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src));
        of->server = query_server_name(tapped);
        of->account = g_strdup(account_of(pinfo));
        of->handle = tapped->handle;
        of->kind = tapped->handle ? tapped->handle->kind : NUM_HANDLE_KINDS;
        of->handles = 1;
        of->refused = g_hash_table_new(NULL, NULL);
        g_ptr_array_add(m->all, of);
        g_hash_table_insert(m->whose, (void *)(uintptr_t)key, of);
    }
    return of->into ? of->into : of;
}

static void *connection_of(const packet_info *pinfo)
{
    return GUINT_TO_POINTER(add_address_to_hash(pinfo->srcport, &pinfo->src) +
                            add_address_to_hash(pinfo->destport, &pinfo->dst));
}

/* The same key: the same client, account, server and counters; sealed, requests of the same sizes. NULL: it goes on as nobody. To be freed. */
static char *key_of(const monitor *of)
{
    if (of->sealed) {
        return g_strdup_printf("sealed %u %s %s %s", of->talk.asked_for, of->client, of->server, of->account);
    }
    if (of->asked_for == 0) {
        return NULL;
    }
    return g_strdup_printf("%u %d %s %s %s", of->asked_for, (int)of->kind, of->client, of->server, of->account);
}

static void take_over(monitor *of, monitor *other)
{
    GHashTableIter at;
    void *refused;

    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        monitor_finding *to = &of->findings[i], *from = &other->findings[i];
        if (to->count == 0) {
            *to = *from;
            from->what = NULL;
        } else {
            to->count += from->count;
        }
    }
    g_hash_table_iter_init(&at, other->refused);
    while (g_hash_table_iter_next(&at, &refused, NULL)) {
        g_hash_table_add(of->refused, refused);
    }
    of->was_opened |= other->was_opened;
    of->is_answered |= other->is_answered;
    of->handle = other->handle;
    of->handles += other->handles;
    of->probes += other->probes;
    sealed_talk_join(&of->talk, &other->talk);
    other->into = of;
}

/* --- What is found --------------------------------------------------------------------------------------------- */

static bool mark(monitor *of, unsigned finding, uint32_t frame)
{
    monitor_finding *found = &of->findings[finding];

    if (found->count++ == 0) {
        found->frame = frame;
    }
    return found->count == 1;
}

/* `what` is put into words for the first alone. */
static void G_GNUC_PRINTF(4, 5) find(monitor *of, unsigned finding, uint32_t frame, const char *what, ...)
{
    if (mark(of, finding, frame)) {
        va_list arguments;
        va_start(arguments, what);
        of->findings[finding].what = g_strdup_vprintf(what, arguments);
        va_end(arguments);
    }
}

static void find_error(monitor *of, unsigned finding, uint32_t frame, const char *what, const char *error,
                       uint32_t status)
{
    const char *meaning = text_error_meaning(status);

    find(of, finding, frame, *meaning ? "%s: %s (%s)" : "%s: %s%s", what, error, meaning);
}

static void count_refused(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    uint64_t left = tapped_paths_size(tapped);

    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        const state_identifier *refused = &tapped->identifiers[i];
        if (tapped_is_refused(tapped, i)) {
            find_error(of, MONITOR_REFUSED, pinfo->num, tapped_identifier_path(pinfo->pool, tapped, i, &left),
                       text_win32_error(pinfo->pool, refused->status), refused->status);
            g_hash_table_add(of->refused, GUINT_TO_POINTER(query_identifier_hash(refused)));
        }
    }
}

static void count_value(monitor *of, uint32_t frame, readings *r)
{
    static const struct {
        unsigned mark, finding;
    } marks[] = {{TAPPED_ASSUMED, MONITOR_ASSUMED}, {TAPPED_UNTYPED, MONITOR_UNTYPED}};
    const perf_result result = r->at.is_number ? readings_result(r) : (perf_result){.none = PERF_NONE_OK};
    unsigned marked = tapped_marks(r, &result);
    const char *path = NULL;

    if (result.none == PERF_NONE_VALUE_BACKWARDS && mark(of, MONITOR_RESET, frame)) {
        path = readings_path(r);
        of->findings[MONITOR_RESET].what = g_strdup(path ? path : "not known which");
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(marks); i++) {
        if ((marked & marks[i].mark) && mark(of, marks[i].finding, frame)) {
            path = readings_path(r);
            of->findings[marks[i].finding].what = g_strdup(path);
        }
    }
}

static void count_values(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    const reading *at;
    bool is_empty = true;

    r->with_refusals = true;
    while ((at = readings_next(r)) != NULL) {
        is_empty = false;
        if (at->is_refused) {
            const char *path = readings_path(r);
            find_error(of, MONITOR_BLOCK_FAILED, pinfo->num, path ? path : "not known which",
                       text_win32_error(pinfo->pool, r->status), r->status);
        }
        count_value(of, pinfo->num, r);
    }
    if (is_empty) {
        mark(of, MONITOR_EMPTY, pinfo->num);
    }
}

/* The next sample's clocks say how long after the one before it was taken, or that the server began again. */
static double pass_time(monitor *of, const perf_point *clocks, uint32_t frame)
{
    double interval = of->samples > 0 ? perf_interval(clocks, &of->clocks) : 0;

    if (interval <= 0 && of->samples > 0 && clocks->perf_time < of->clocks.perf_time) {
        mark(of, MONITOR_RESTARTED, frame);
    }
    return interval;
}

static void count_sample(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    const perf_point *clocks = &readings_begin_for_all(pinfo->pool, tapped->answer)->current->clocks;
    double interval = pass_time(of, clocks, pinfo->num);

    if (interval > 0) {
        pace_add_interval(&of->pace, interval, pinfo->num, tapped->answer->sample);
    }
    if (of->samples++ == 0) {
        of->asked_for = query_counters(tapped);
        of->first_clocks = *clocks;
        of->first_event = tapped->event;
        of->first_frame = pinfo->num;
        of->first_wait = of->pace.judged.waited;
    }
    of->clocks = *clocks;
    of->last_event = tapped->event;
    of->last_frame = pinfo->num;
    pace_add_response(&of->pace, tapped->seconds, pinfo->num);
    count_values(of, pinfo, tapped);
}

static void count_sealed(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    nstime_t interval;

    of->sealed = tapped->unread ? g_intern_string(tapped->unread) : of->sealed;
    sealed_talk_count(&of->talk, pinfo, tapped, &of->pace.judged.intervals);
    of->first_call_frame = of->first_call_frame == 0 ? pinfo->num : of->first_call_frame;
    of->last_frame = pinfo->num;
    if (tapped->sealed.sample_size == 0) {
        return;
    }
    nstime_delta(&interval, &tapped->sealed.request_time, &of->request_time);
    if (of->samples++ == 0) {
        of->first_frame = pinfo->num;
        of->first_request_time = tapped->sealed.request_time;
        of->first_wait = of->pace.judged.waited;
    } else if (nstime_to_sec(&interval) > 0) {
        pace_add_interval(&of->pace, nstime_to_sec(&interval), pinfo->num, NULL);
    }
    of->request_time = tapped->sealed.request_time;
    pace_add_response(&of->pace, tapped->seconds, pinfo->num);
}

/* Queries without a sample go on as others do, too. */
static void count_question(monitor *of, const tapped_call *tapped)
{
    if (of->asked_for == 0) {
        of->asked_for = query_counters(tapped);
        of->first_event = tapped->event;
    }
    of->last_event = tapped->event;
}

/* Who browses finds no text in this language, or no instance now: that is an answer. */
static bool is_usual(const tapped_call *tapped)
{
    enum { NOT_FOUND = 1168, WMI_INSTANCE_NOT_FOUND = 4201 };

    return tapped->handle == NULL && (tapped->status == NOT_FOUND || tapped->status == WMI_INSTANCE_NOT_FOUND);
}

/* Who was read on this connection until now has neither stopped nor waits for an answer. */
static void note_noise(monitors *m, const packet_info *pinfo)
{
    monitor *before = g_hash_table_lookup(m->connections, connection_of(pinfo));

    if (before && before->handle) {
        before->ends_in_noise = true;
        before->waiting_frame = 0;
    }
}

void monitors_count(monitors *m, packet_info *pinfo, const tapped_call *tapped)
{
    bool is_sample = tapped->answer && tapped->answer->sample && tapped->handle;
    bool has_failed = tapped->has_failed && !is_usual(tapped);

    if (tapped->is_repeated || (tapped->unread && !tapped->sealed.uses_query) ||
        (!tapped->handle && !tapped->sealed.uses_query && !has_failed)) {
        return;
    }
    if (tapped->unread) {
        note_noise(m, pinfo);
    }
    monitor *of = monitor_of(m, pinfo, tapped);
    of->pace.judged.waited += MAX(tapped->seconds, 0);
    of->was_opened |= tapped->handle && tapped->handle->number > 0;
    of->is_answered |= tapped->is_response;
    of->probes += tapped->is_probe;
    of->packets[MONITOR_PACKET_END].count = 0;
    of->unanswered += !tapped->is_response && of->waiting_frame > 0;
    of->waiting_frame = tapped->is_response ? 0 : pinfo->num;
    of->waiting_since = pinfo->abs_ts;
    of->waiting_for = tapped->operation ? tapped->operation : "a sealed one";
    g_hash_table_insert(m->connections, connection_of(pinfo), of);
    if (tapped->sealed.uses_query) {
        count_sealed(of, pinfo, tapped);
    }
    if (has_failed) {
        find_error(of, MONITOR_CALL_FAILED, pinfo->num, tapped->operation, tapped_error(pinfo->pool, tapped),
                   tapped->status);
    }
    if (tapped->brings_data && tapped->handle) {
        count_question(of, tapped);
    }
    count_refused(of, pinfo, tapped);
    if (is_sample) {
        count_sample(of, pinfo, tapped);
    } else if (tapped->answer && tapped->handle) {
        mark(of, MONITOR_DAMAGED, pinfo->num);
    }
}

/* --- What other packets tell ------------------------------------------------------------------------------------- */

static GSList *all_monitors; /* monitors */

static monitor *monitor_at(const GSList *at, const packet_info *pinfo)
{
    monitor *of = g_hash_table_lookup(((const monitors *)at->data)->connections, connection_of(pinfo));

    return of && of->into ? of->into : of;
}

static const char *const packet_filters[MONITOR_PACKETS] = {
    [MONITOR_PACKET_LOST] = "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment",
    [MONITOR_PACKET_RESENT] = "tcp.analysis.retransmission",
    [MONITOR_PACKET_END] = "tcp.flags.fin == 1 || tcp.flags.reset == 1",
};

/* A client ends its connection itself when it is done, or is ended. */
static bool is_cut_off(const monitor *of, packet_info *pinfo)
{
    bool is_open = of->sealed ? of->talk.num_open > 0 : of->handle && of->handle->end == UINT32_MAX;

    return is_open && strcmp(address_to_str(pinfo->pool, &pinfo->src), of->client) != 0;
}

static tap_packet_status see(void *filter, packet_info *pinfo, epan_dissect_t *edt _U_, const void *frame _U_,
                             tap_flags_t flags _U_)
{
    size_t which = (size_t)((const char **)filter - packet_filters);

    for (GSList *at = all_monitors; at; at = at->next) {
        monitor *of = monitor_at(at, pinfo);
        ((monitors *)at->data)->end = pinfo->abs_ts;
        if (of && which == MONITOR_PACKET_END && of->packets[which].count == 0 && is_cut_off(of, pinfo)) {
            mark(of, MONITOR_BROKEN, pinfo->num);
        }
        if (of && of->packets[which].count++ == 0) {
            of->packets[which].frame = pinfo->num;
        }
    }
    return TAP_PACKET_DONT_REDRAW;
}

/* The capture goes, perhaps in its middle (tshark -M): what was counted stays. */
static void forget_capture(void)
{
    for (GSList *at = all_monitors; at; at = at->next) {
        monitors *m = at->data;
        g_hash_table_remove_all(m->whose);
        g_hash_table_remove_all(m->connections);
        for (unsigned i = 0; i < m->all->len; i++) {
            ((monitor *)g_ptr_array_index(m->all, i))->handle = NULL;
        }
    }
}

void monitors_watch(void)
{
    static bool listening;

    if (!listening) {
        listening = true;
        for (unsigned i = 0; i < MONITOR_PACKETS; i++) {
            output_listen("frame", (void *)(uintptr_t)&packet_filters[i], packet_filters[i], NULL, see, NULL);
        }
        accounts_watch();
        register_cleanup_routine(forget_capture);
    }
}

monitors *monitors_new(void)
{
    monitors *m = g_new0(monitors, 1);

    m->all = g_ptr_array_new_with_free_func(monitor_free);
    m->judged = g_ptr_array_new();
    m->whose = g_hash_table_new(NULL, NULL);
    m->connections = g_hash_table_new(NULL, NULL);
    all_monitors = g_slist_prepend(all_monitors, m);
    return m;
}

void monitors_free(monitors *m)
{
    all_monitors = g_slist_remove(all_monitors, m);
    monitors_reset(m);
    g_ptr_array_free(m->all, TRUE);
    g_ptr_array_free(m->judged, TRUE);
    g_hash_table_destroy(m->whose);
    g_hash_table_destroy(m->connections);
    g_free(m);
}

/* --- The verdict ----------------------------------------------------------------------------------------------- */

unsigned monitor_worst(const monitor *of)
{
    unsigned worst = 0;

    while (worst < MONITOR_NUM_FINDINGS && of->findings[worst].count == 0) {
        worst++;
    }
    return worst;
}

static int compare_monitors(const void *a, const void *b)
{
    const monitor *x = *(monitor *const *)a, *y = *(monitor *const *)b;
    unsigned worst_of_x = monitor_worst(x), worst_of_y = monitor_worst(y);

    return worst_of_x < worst_of_y ? -1 : worst_of_x > worst_of_y;
}

/* What lost packets do to a monitor, beside late samples. */
static bool misses_something(const monitor *of)
{
    double usual = perf_spread_median(&of->pace.judged.intervals);

    return of->unanswered > 0 || of->samples == 0 || of->findings[MONITOR_ASSUMED].count > 0 ||
           of->findings[MONITOR_UNTYPED].count > 0 || of->findings[MONITOR_DAMAGED].count > 0 ||
           of->pace.lengths.max > PACE_LATE * usual;
}

/* What did no harm is no finding. */
static void show_packets(monitor *of, unsigned finding, unsigned which, bool harms)
{
    of->findings[finding].count = harms ? of->packets[which].count : 0;
    of->findings[finding].frame = of->packets[which].frame;
}

static void judge_lateness(monitor *of)
{
    static const unsigned findings[PACE_VERDICTS] = {
        [PACE_ASKED_LATE] = MONITOR_ASKED_LATE, [PACE_ANSWERED_LATE] = MONITOR_ANSWERED_LATE};
    uint64_t late = 0;

    for (unsigned i = PACE_IN_TIME + 1; i < PACE_VERDICTS; i++) {
        monitor_finding *found = &of->findings[findings[i]];
        late += of->pace.late[i];
        found->count = of->pace.late[i];
        found->frame = of->pace.frames[i];
        g_free(found->what);
        found->what = g_strdup_printf("%.3f s after the one before%s", of->pace.firsts[i],
                                      of->packets[MONITOR_PACKET_LOST].count > 0 ? ", if none was lost between" : "");
    }
    show_packets(of, MONITOR_RESENT, MONITOR_PACKET_RESENT, late > 0);
    show_packets(of, MONITOR_LOST, MONITOR_PACKET_LOST, late > 0 || misses_something(of));
}

static bool follows(const monitor *of, const monitor *other)
{
    return of->sealed ? other->talk.is_closed && other->last_frame < of->first_call_frame
                      : other->last_event < of->first_event;
}

static double sealed_interval(const monitor *of, const monitor *later)
{
    nstime_t interval;

    nstime_delta(&interval, &later->first_request_time, &of->request_time);
    return of->samples > 0 ? nstime_to_sec(&interval) : 0;
}

static void join_samples(monitor *of, const monitor *later)
{
    double interval = of->sealed ? sealed_interval(of, later) : pass_time(of, &later->first_clocks, later->first_frame);

    if (interval > 0) {
        of->pace.judged.waited += later->first_wait;
        pace_add_interval(&of->pace, interval, later->first_frame, NULL);
    }
    pace_add_all(&of->pace, &later->pace);
    of->samples += later->samples;
    of->clocks = later->clocks;
    of->request_time = later->request_time;
}

/* A client that went on with another query for the same counters, and perhaps got no sample of it. */
static void join(monitor *of, monitor *later)
{
    if (later->samples > 0) {
        join_samples(of, later);
    } else {
        of->pace.judged.waited += later->pace.judged.waited;
    }
    for (unsigned i = 0; i < MONITOR_PACKETS; i++) {
        monitor_packets *to = &of->packets[i], from = later->packets[i];
        *to = (monitor_packets){to->count + from.count, to->count > 0 ? to->frame : from.frame};
    }
    of->packets[MONITOR_PACKET_END] = later->packets[MONITOR_PACKET_END];
    of->unanswered += later->unanswered + (of->waiting_frame > 0);
    of->last_event = later->last_event;
    of->last_frame = later->last_frame;
    of->waiting_frame = later->waiting_frame;
    of->waiting_since = later->waiting_since;
    of->waiting_for = later->waiting_for;
    take_over(of, later);
}

static void forget(monitor_finding *found)
{
    g_free(found->what);
    *found = (monitor_finding){0, 0, NULL};
}

/* May be asked again when more has gone by. */
static void judge(monitors *m, monitor *of)
{
    bool is_open =
        of->handle && of->handle->end == UINT32_MAX && of->packets[MONITOR_PACKET_END].count == 0 && !of->ends_in_noise;
    nstime_t since;

    nstime_delta(&since, &m->end, &of->waiting_since);
    forget(&of->findings[MONITOR_UNANSWERED]);
    forget(&of->findings[MONITOR_STOPPED]);
    double waited = nstime_to_sec(&since), usual = perf_spread_median(&of->pace.judged.intervals);
    if (of->waiting_frame > 0 && waited >= LONG_WAIT) {
        find(of, MONITOR_UNANSWERED, of->waiting_frame, "%s, asked %.1f s before the capture ends", of->waiting_for,
             waited);
    } else if (is_open && of->pace.judged.intervals.count >= PACE_FEWEST && waited >= MAX(LONG_WAIT, 3 * usual)) {
        find(of, MONITOR_STOPPED, of->last_frame, "%.1f s before the capture ends", waited);
    }
    of->findings[MONITOR_REFUSED].count = g_hash_table_size(of->refused);
    of->findings[MONITOR_NO_DATA].count = sealed_talk_no_data(&of->talk, &of->findings[MONITOR_NO_DATA].frame);
    judge_lateness(of);
    if (of->ends_in_noise && of->samples == 0) {
        return; /* the noise has them, and is a monitor of its own */
    }
    if (of->samples > 0 || of->probes > 1 || monitor_worst(of) < MONITOR_NUM_FINDINGS) {
        g_ptr_array_add(m->judged, of);
    }
}

void monitors_judge(monitors *m)
{
    GHashTable *latest = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);

    g_ptr_array_set_size(m->judged, 0);
    for (unsigned i = 0; i < m->all->len; i++) {
        monitor *of = g_ptr_array_index(m->all, i);
        char *key = of->into ? NULL : key_of(of);
        monitor *other = key ? g_hash_table_lookup(latest, key) : NULL;
        if (other && follows(of, other)) {
            join(other, of);
        }
        if (key && of->into == NULL) {
            g_hash_table_insert(latest, key, of);
        } else {
            g_free(key);
        }
    }
    for (unsigned i = 0; i < m->all->len; i++) {
        monitor *of = g_ptr_array_index(m->all, i);
        if (of->into == NULL) {
            judge(m, of);
        }
    }
    if (m->judged->len == 0 && m->all->len > 0) { /* who asks for no sample has read texts, for instance */
        g_ptr_array_add(m->judged, g_ptr_array_index(m->all, 0));
    }
    g_hash_table_destroy(latest);
    g_ptr_array_sort(m->judged, compare_monitors);
}
