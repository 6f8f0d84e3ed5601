/* monitors.c
 * What is right and what is wrong with each monitor of a capture.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/monitors.h"

#include "state/queries.h"
#include "taps/accounts.h"
#include "taps/output.h"
#include "text/value-strings.h"

#include <epan/to_str.h>

#include <math.h>

/* More share one. */
#define MAX_MONITORS 100000

/* From so many on a window is not right with each call. */
#define MANY_MONITORS 50

/* 1 January 1970 as FILETIME, and its units. */
#define EPOCH_1970 116444736000000000
#define UNITS_A_SECOND 1e7

/* A server's clock is not that far off: then it is none (some count from the start of the machine). */
#define MAX_CLOCK_OFFSET 1e9

/* Seconds: an answer that did not come by then. */
#define LONG_WAIT 5.0

/* Seconds: what times as doubles are exact to. */
#define SAME_TIME 1e-5

static void monitor_free(void *data)
{
    monitor *of = data;

    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        g_free(of->findings[i].what);
    }
    state_pace_free(&of->pace);
    perf_spread_free(&of->responses);
    g_free(of->account);
    g_hash_table_destroy(of->refused);
    g_free(of->client);
    g_free(of->server);
    g_free(of);
}

void monitors_reset(monitors *m)
{
    g_ptr_array_set_size(m->all, 0);
    g_ptr_array_set_size(m->copies, 0);
    g_ptr_array_set_size(m->parts, 0);
    g_hash_table_remove_all(m->whose);
    g_hash_table_remove_all(m->connections);
    nstime_set_zero(&m->end);
}

#define FINDING_KIND(number, ...) {__VA_ARGS__},
const monitor_finding_kind monitor_finding_kinds[] = {MONITOR_FINDINGS(FINDING_KIND)};

/* --- Which of them --------------------------------------------------------------------------------------------- */

/* As the client called it, and by its address. To be freed. */
static char *server_name(const tapped_call *tapped)
{
    const state_handle *handle = tapped->handle;
    const char *place = handle && handle->place ? handle->place : host_address(tapped->server);
    const char *machine = handle ? handle->machine : NULL;

    return machine && *machine && strcmp(machine, place) != 0 ? g_strdup_printf("%s (%s)", machine, place)
                                                              : g_strdup(place);
}

/* The first call of a handle, or of what has none. */
static void begin_talk(monitors *m, monitor *of, const packet_info *pinfo, const tapped_call *tapped)
{
    of->first_call = m->calls;
    of->port = tapped->is_response ? pinfo->destport : pinfo->srcport;
    of->kind = tapped->handle ? tapped->handle->kind : NUM_HANDLE_KINDS;
    of->opened_frame = tapped->handle ? tapped->handle->opened_frame : 0;
}

static monitor *monitor_new(packet_info *pinfo, const tapped_call *tapped, bool is_other)
{
    monitor *of = g_new0(monitor, 1);

    of->client = g_strdup(is_other ? "all others"
                                   : address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src));
    of->server = is_other ? g_strdup("their servers") : server_name(tapped);
    of->account = g_strdup(is_other ? "" : account_of(pinfo));
    of->is_other = is_other;
    of->is_sealed = tapped->sealed.connection != NULL;
    of->handles = 1;
    of->refused = g_hash_table_new(NULL, NULL);
    return of;
}

/* Client and server, whatever the client's port. */
static void *pair_of(const packet_info *pinfo, const tapped_call *tapped)
{
    return GUINT_TO_POINTER(add_address_to_hash(g_direct_hash(tapped->server), &pinfo->src) +
                            add_address_to_hash(g_direct_hash(tapped->server), &pinfo->dst));
}

static monitor *monitor_of(monitors *m, packet_info *pinfo, const tapped_call *tapped)
{
    void *pair = pair_of(pinfo, tapped);
    const void *key = tapped->handle              ? (const void *)tapped->handle
                      : tapped->sealed.connection ? tapped->sealed.connection
                                                  : pair;
    monitor *of = g_hash_table_lookup(m->whose, key);

    if (of) {
        return of;
    }
    /* what a client asked before it had a handle is its first handle's, and what it asks without one behind that its newest's */
    of = tapped->handle ? g_hash_table_lookup(m->whose, pair) : NULL;
    if (of == NULL || of->kind != NUM_HANDLE_KINDS) {
        if (m->parts->len > MAX_MONITORS) {
            return g_ptr_array_index(m->parts, MAX_MONITORS);
        }
        of = monitor_new(pinfo, tapped, m->parts->len == MAX_MONITORS);
        g_ptr_array_add(m->parts, of);
    }
    begin_talk(m, of, pinfo, tapped);
    g_hash_table_insert(m->whose, (void *)(uintptr_t)key, of);
    if (tapped->handle) {
        g_hash_table_insert(m->whose, pair, of);
    }
    return of;
}

/* Stands for the counters of a query, in whatever order, or for what the client asks HKEY_PERFORMANCE_DATA for: never 0. */
static unsigned counters_of(const tapped_call *tapped)
{
    const state_query_entry *entry;
    unsigned next = 0, sum = 0;

    while (!tapped->is_hkpd && (entry = query_entries(tapped->handle, tapped->event, &next)) != NULL) {
        sum += query_identifier_hash(&entry->identifier);
    }
    return MAX(sum, 1);
}

static void *connection_of(const packet_info *pinfo)
{
    return GUINT_TO_POINTER(add_address_to_hash(pinfo->srcport, &pinfo->src) +
                            add_address_to_hash(pinfo->destport, &pinfo->dst));
}

/* The same key: the same client, account, server and counters (sealed: requests of the same sizes), and the same port of the client if that
 * counts. NULL: it goes on as nobody. To be freed. */
static char *key_of(const monitor *of, bool port_counts)
{
    unsigned asked_for = of->is_sealed ? of->talk.asked_for : of->asked_for;

    if (of->is_other || (!of->is_sealed && asked_for == 0)) {
        return NULL;
    }
    return g_strdup_printf("%d %u %u %d %s %s %s", of->is_sealed, asked_for, port_counts ? of->port : 0, (int)of->kind,
                           of->client, of->server, of->account);
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
            bool is_first = of->findings[MONITOR_REFUSED].count == 0;
            find_error(of, MONITOR_REFUSED, pinfo->num,
                       is_first ? tapped_identifier_path(pinfo->pool, tapped, i, &left) : "",
                       text_win32_error(pinfo->pool, refused->status), refused->status);
            g_hash_table_add(of->refused, GUINT_TO_POINTER(query_identifier_hash(refused)));
            of->refusals++;
        }
    }
}

static const char *path_of(readings *r)
{
    const char *path = readings_path(r);

    return path == NULL          ? "not known which"
           : readings_assumed(r) ? wmem_strconcat(r->pool, path, " (assumed)", NULL)
                                 : path;
}

static void find_value(monitor *of, unsigned finding, uint32_t frame, readings *r)
{
    if (mark(of, finding, frame)) {
        of->findings[finding].what = g_strdup(finding == MONITOR_ASSUMED ? readings_path(r) : path_of(r));
    }
}

/* True if it went backwards. */
static bool count_value(monitor *of, uint32_t frame, readings *r)
{
    const perf_result result = r->at.is_number ? readings_result(r) : (perf_result){.none = PERF_NONE_OK};
    unsigned marks = tapped_marks(r, &result);

    if (marks & TAPPED_ASSUMED) {
        find_value(of, MONITOR_ASSUMED, frame, r);
    }
    if (marks & TAPPED_UNTYPED) {
        find_value(of, MONITOR_UNTYPED, frame, r);
    }
    return !(marks & TAPPED_ASSUMED) && perf_is_reset(result.none);
}

static void find_reset(monitor *of, packet_info *pinfo, const readings_answer *answer)
{
    const readings_reset reset = readings_find_reset(pinfo->pool, answer);

    if (reset.values > 0) {
        find(of, MONITOR_RESET, pinfo->num, "%s (%s)", reset.path, reset.what);
        of->findings[MONITOR_RESET].count += reset.values - 1;
    }
}

static void count_values(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    const reading *at;
    bool is_empty = true, has_reset = false;

    r->with_refusals = true;
    while ((at = readings_next(r)) != NULL) {
        is_empty = false;
        if (at->is_refused) {
            find_error(of, MONITOR_BLOCK_FAILED, pinfo->num, path_of(r), text_win32_error(pinfo->pool, r->status),
                       r->status);
        }
        has_reset |= count_value(of, pinfo->num, r);
    }
    if (has_reset) {
        find_reset(of, pinfo, tapped->answer);
    }
    if (is_empty) {
        mark(of, MONITOR_EMPTY, pinfo->num);
    }
}

static void find_late(monitor *of, unsigned verdict, double interval, uint32_t frame)
{
    if (verdict != PACE_IN_TIME) {
        find(of, verdict == PACE_ASKED_LATE ? MONITOR_ASKED_LATE : MONITOR_ANSWERED_LATE, frame,
             "%.3f s after the one before", interval);
    }
}

/* Who is late is what state/pace says of the sample (NULL: sealed); behind another handle it is judged here by the same rule. */
static void add_interval(monitor *of, double interval, uint32_t frame, const state_sample *sample)
{
    unsigned verdict = state_pace_judge(&of->pace, interval);

    if (sample && sample->previous) {
        verdict = sample->late ? sample->late->verdict : PACE_IN_TIME;
    }
    of->longest = MAX(of->longest, interval);
    find_late(of, verdict, interval, frame);
}

static void add_response(monitor *of, double seconds, uint32_t frame)
{
    state_pace_go_on(&of->pace, seconds);
    if (seconds >= 0) {
        perf_spread_add(&of->responses, seconds);
    }
    if (seconds >= 0 && (of->slowest_frame == 0 || seconds > of->slowest)) {
        of->slowest = seconds;
        of->slowest_frame = frame;
    }
}

static void count_offset(monitor *of, const packet_info *pinfo, const perf_point *clocks)
{
    double seconds = ((double)(int64_t)(clocks->time_100ns - EPOCH_1970)) / UNITS_A_SECOND;
    double offset = seconds - (double)pinfo->abs_ts.secs - pinfo->abs_ts.nsecs / 1e9;

    if ((pinfo->presence_flags & PINFO_HAS_TS) && fabs(offset) < MAX_CLOCK_OFFSET) {
        of->offsets += offset;
        of->num_offsets++;
    }
}

static void count_sample(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    const state_sample *sample = tapped->handle ? tapped->answer->sample : NULL;
    perf_point asked = pace_request_point(&tapped->sealed.request_time);
    const perf_point *clocks = sample ? readings_clocks(readings_begin_for_all(pinfo->pool, tapped->answer)) : &asked;
    unsigned question = tapped->is_hkpd && tapped->subject ? g_str_hash(tapped->subject) : 0;
    double interval;
    unsigned passed = pace_clock_pass(&of->pace.clock, sample ? sample->request_event : tapped->sealed.request_frame,
                                      sample ? sample->event : pinfo->num, clocks, &interval);

    if (sample && passed == PACE_RESTARTED) {
        mark(of, MONITOR_RESTARTED, pinfo->num);
    }
    if (sample) {
        count_offset(of, pinfo, clocks);
    }
    if (interval > 0 && question == of->newest.question) {
        add_interval(of, interval, pinfo->num, sample);
    } else if (sample && sample->late) { /* behind the one before that answered the same question */
        find_late(of, sample->late->verdict, sample->late->interval, pinfo->num);
    }
    of->newest.question = question;
    if (of->samples++ == 0) {
        of->first_clocks = *clocks;
        of->first_frame = pinfo->num;
        of->first_wait = of->pace.waited;
        of->first_requests = of->pace.requests;
    }
    of->newest.sample_frame = pinfo->num;
    add_response(of, tapped->seconds, pinfo->num);
}

/* Where a ValidateCounters was not captured, the blocks of an answer and QueryCounterInfo say how many it added. */
static void count_counters(monitor *of, const tapped_call *tapped)
{
    unsigned held = 0, refused;

    if (!tapped->is_hkpd) {
        query_counts(tapped->handle, tapped->event, &held, &refused);
    }
    if (tapped->has_counters) {
        of->newest.unknown = (int64_t)tapped->counters - held;
    }
    of->newest.counters = (uint64_t)MAX(of->newest.unknown + held, 0);
}

/* Queries without a sample go on as others do, too. What the machine is called is known by then. */
static void count_question(monitors *m, monitor *of, const tapped_call *tapped)
{
    if (of->samples == 0) {
        g_free(of->server);
        of->server = server_name(tapped);
        of->asked_for = counters_of(tapped);
    }
    of->newest.call = m->calls;
    of->no_data += tapped->is_response && !tapped->answer && !tapped->is_probe;
}

static void count_read(monitors *m, monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    of->newest.handle = tapped->handle;
    of->number = of->number > 0 ? of->number : tapped->handle->number;
    of->newest.closed_frame = tapped->handle->closed_frame;
    of->failed += tapped->failed;
    if (tapped->brings_data) {
        count_question(m, of, tapped);
    }
    if (tapped->is_response) {
        count_counters(of, tapped);
    }
    if (tapped->answer && !tapped->answer->sample) {
        mark(of, MONITOR_DAMAGED, pinfo->num);
    }
}

/* Which handle a call is about is sealed, too. */
static void count_sealed(monitors *m, monitor *of, const packet_info *pinfo, const tapped_call *tapped)
{
    sealed_talk_count(&of->talk, pinfo, tapped, &of->pace.intervals);
    of->newest.call = m->calls;
}

static uint32_t sample_size(const tapped_call *tapped)
{
    return tapped->answer && tapped->answer->sample && tapped->handle ? tvb_reported_length(tapped->answer->tvb)
                                                                      : tapped->sealed.sample_size;
}

/* Who browses finds no text in this language, or no instance now: that is an answer. */
static bool is_usual(const tapped_call *tapped)
{
    enum { NOT_FOUND = 1168, WMI_INSTANCE_NOT_FOUND = 4201 };

    return tapped->handle == NULL && (tapped->status == NOT_FOUND || tapped->status == WMI_INSTANCE_NOT_FOUND);
}

static void use_connection(monitors *m, monitor *of, void *connection)
{
    GPtrArray *parts = g_hash_table_lookup(m->connections, connection);

    if (parts == NULL) {
        parts = g_ptr_array_new();
        g_ptr_array_add(parts, of);
        g_hash_table_insert(m->connections, connection, parts);
    }
    if (of->connection != connection) {
        of->connection = connection;
        g_ptr_array_add(parts, of);
    }
    g_ptr_array_index(parts, 0) = of;
}

static monitor *newest_of(const monitors *m, const packet_info *pinfo)
{
    GPtrArray *parts = g_hash_table_lookup(m->connections, connection_of(pinfo));

    return parts ? g_ptr_array_index(parts, 0) : NULL;
}

/* Who was read on this connection until now has neither stopped nor waits for an answer. */
static void note_noise(monitors *m, const packet_info *pinfo)
{
    monitor *before = newest_of(m, pinfo);

    if (before && before->newest.handle) {
        before->ends_in_noise = true;
        before->newest.waiting_frame = 0;
    }
}

/* The client goes on, at `now`, by which an answer would have come. */
static void count_unanswered(monitor *of, double now)
{
    double waited = now - nstime_to_sec(&of->newest.waiting_since);
    bool is_long = waited >= MAX(LONG_WAIT, 3 * perf_spread_median(&of->pace.intervals));

    if (of->newest.waiting_frame > 0 && of->pace.intervals.count >= PACE_FEWEST && is_long) {
        find(of, MONITOR_UNANSWERED, of->newest.waiting_frame, "%s, asked %.1f s before the next call",
             of->newest.waiting_for, waited);
    }
    of->unanswered += of->newest.waiting_frame > 0;
}

/* Of two calls at once the second may be answered alone. Who asks again much later has given the first one up. */
static void wait_for(monitor_newest *newest, uint32_t frame, const tapped_call *tapped, double now, double usual)
{
    double since = nstime_to_sec(&newest->waiting_since);
    bool answers_newest = fabs(now - tapped->seconds - since) < SAME_TIME;

    if (tapped->is_response) {
        newest->waiting_frame =
            answers_newest || newest->waiting_beside == 0 ? newest->waiting_beside : newest->waiting_frame;
        newest->waiting_beside = 0;
    } else {
        newest->waiting_beside = now - since < usual / 2 ? newest->waiting_frame : 0;
        newest->waiting_frame = frame;
    }
}

static void count_waiting(monitor *of, const packet_info *pinfo, const tapped_call *tapped)
{
    double now = nstime_to_sec(&pinfo->abs_ts);

    if (tapped->is_response) {
        state_pace_wait(&of->pace, tapped->seconds);
    } else {
        count_unanswered(of, now);
    }
    if (!tapped->is_response && (tapped->brings_data || tapped->sealed.takes_sample)) {
        pace_ask(&of->pace.requests, now);
    }
    of->is_answered |= tapped->is_response;
    wait_for(&of->newest, pinfo->num, tapped, now, perf_spread_median(&of->pace.intervals));
    of->newest.waiting_since = pinfo->abs_ts;
    of->newest.waiting_for = tapped->operation;
    of->newest.has_ended = false;
}

static void count_call(monitors *m, monitor *of, packet_info *pinfo, const tapped_call *tapped, bool has_failed)
{
    count_waiting(of, pinfo, tapped);
    of->probes += tapped->is_probe && tapped->brings_data;
    of->no_data += tapped->is_fault && strcmp(tapped->operation, "QueryCounterData") == 0;
    if (has_failed) {
        find_error(of, MONITOR_CALL_FAILED, pinfo->num, tapped->operation, tapped_error(pinfo->pool, tapped),
                   tapped->status);
    }
    count_refused(of, pinfo, tapped);
    if (tapped->sealed.uses_query) {
        count_sealed(m, of, pinfo, tapped);
    } else if (tapped->handle) {
        count_read(m, of, pinfo, tapped);
    }
    if (sample_size(tapped) > 0) {
        count_sample(of, pinfo, tapped);
    }
    if (tapped->handle && sample_size(tapped) > 0 && m->counts_values) {
        count_values(of, pinfo, tapped);
    }
}

void monitors_count(monitors *m, packet_info *pinfo, const tapped_call *tapped)
{
    bool has_failed = tapped->has_failed && !is_usual(tapped);

    if (tapped->is_repeated || (tapped->unread && !tapped->sealed.uses_query) ||
        (!tapped->handle && !tapped->sealed.uses_query && !has_failed)) {
        return;
    }
    if (tapped->unread) {
        note_noise(m, pinfo);
    }
    m->calls++;
    monitor *of = monitor_of(m, pinfo, tapped);
    of->bytes += sample_size(tapped);
    if (of->is_other) {
        of->samples += sample_size(tapped) > 0;
        return;
    }
    use_connection(m, of, connection_of(pinfo));
    count_call(m, of, pinfo, tapped, has_failed);
}

bool monitors_are_due(const monitors *m)
{
    return m->calls % (1 + m->parts->len / MANY_MONITORS) == 0;
}

/* --- What other packets tell ------------------------------------------------------------------------------------- */

static GSList *all_monitors; /* monitors */

/* Packets of its connections that tell something. */
enum { EVERY_PACKET, PACKET_LOST, PACKET_RESENT, PACKET_END, PACKET_KINDS };

static const char *const packet_filters[PACKET_KINDS] = {
    [PACKET_LOST] = "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment",
    [PACKET_RESENT] = "tcp.analysis.retransmission && !(tcp.analysis.rto < 0.0001)", /* that is captured twice */
    /* a pipe's, too */
    [PACKET_END] = "tcp.flags.fin == 1 || tcp.flags.reset == 1 || "
                   "(smb2.cmd == 6 && smb2.flags.response == 0 && !(smb2.share_type == 1))",
};

/* A client ends its connection itself when it is done, or is ended. */
static bool is_cut_off(const monitor *of, packet_info *pinfo)
{
    bool is_open = of->is_sealed ? of->talk.num_open > 0 : of->newest.handle && of->newest.handle->end == UINT32_MAX;
    bool is_client = addresses_equal(&pinfo->src, &pinfo->dst)
                         ? pinfo->srcport == of->port
                         : strcmp(address_to_str(pinfo->pool, &pinfo->src), of->client) == 0;

    return is_open && !is_client;
}

/* With it all that was asked on it. */
static void see_end(monitors *m, packet_info *pinfo)
{
    void *connection = connection_of(pinfo);
    GPtrArray *parts = g_hash_table_lookup(m->connections, connection);

    for (unsigned i = 1; parts && i < parts->len; i++) {
        monitor *of = g_ptr_array_index(parts, i);
        if (of->connection == connection) {
            if (!of->newest.has_ended && is_cut_off(of, pinfo)) {
                mark(of, MONITOR_BROKEN, pinfo->num);
            }
            of->newest.has_ended = true;
            of->connection = NULL;
        }
    }
    if (parts) {
        g_ptr_array_set_size(parts, 1);
    }
}

static void see_packet(const monitors *m, unsigned finding, const packet_info *pinfo)
{
    monitor *of = newest_of(m, pinfo);

    if (of) {
        mark(of, finding, pinfo->num);
    }
}

static tap_packet_status see(void *filter, packet_info *pinfo, epan_dissect_t *edt _U_, const void *frame _U_,
                             tap_flags_t flags _U_)
{
    for (GSList *at = all_monitors; at; at = at->next) {
        monitors *m = at->data;
        size_t which = (size_t)((const char **)filter - packet_filters);
        m->end = pinfo->abs_ts;
        if (which == PACKET_END) {
            see_end(m, pinfo);
        } else if (which != EVERY_PACKET) {
            see_packet(m, which == PACKET_LOST ? MONITOR_LOST : MONITOR_RESENT, pinfo);
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
        for (unsigned i = 0; i < m->parts->len; i++) {
            ((monitor *)g_ptr_array_index(m->parts, i))->newest.handle = NULL;
        }
    }
}

void monitors_watch(void)
{
    static bool listening;

    if (!listening) {
        listening = true;
        for (unsigned i = 0; i < PACKET_KINDS; i++) {
            output_listen("frame", (void *)(uintptr_t)&packet_filters[i], packet_filters[i], NULL, see, NULL);
        }
        accounts_watch();
    }
}

monitors *monitors_new(bool counts_values)
{
    static bool forgets;
    monitors *m = g_new0(monitors, 1);

    if (!forgets) {
        forgets = true;
        register_cleanup_routine(forget_capture);
    }
    m->counts_values = counts_values;
    m->parts = g_ptr_array_new_with_free_func(monitor_free);
    m->copies = g_ptr_array_new_with_free_func(monitor_free);
    m->all = g_ptr_array_new();
    m->whose = g_hash_table_new(NULL, NULL);
    m->connections = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    all_monitors = g_slist_prepend(all_monitors, m);
    return m;
}

void monitors_free(monitors *m)
{
    all_monitors = g_slist_remove(all_monitors, m);
    monitors_reset(m);
    g_ptr_array_free(m->all, TRUE);
    g_ptr_array_free(m->copies, TRUE);
    g_ptr_array_free(m->parts, TRUE);
    g_hash_table_destroy(m->whose);
    g_hash_table_destroy(m->connections);
    g_free(m);
}

/* --- Who goes on as whom --------------------------------------------------------------------------------------- */

static bool follows(const monitor *of, const monitor *other)
{
    return other->newest.call < of->first_call && (other->talk.is_closed || !of->is_sealed);
}

static void take_over(monitor *of, const monitor *other)
{
    GHashTableIter at;
    void *refused;

    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        monitor_finding *to = &of->findings[i];
        const monitor_finding *from = &other->findings[i];
        if (to->count == 0) {
            *to = (monitor_finding){0, from->frame, g_strdup(from->what)};
        }
        to->count += from->count;
    }
    g_hash_table_iter_init(&at, other->refused);
    while (g_hash_table_iter_next(&at, &refused, NULL)) {
        g_hash_table_add(of->refused, refused);
    }
}

static void add_spreads(monitor *of, const monitor *later)
{
    perf_spread_add_all(&of->pace.intervals, &later->pace.intervals);
    perf_spread_add_all(&of->pace.waits, &later->pace.waits);
    perf_spread_add_all(&of->responses, &later->responses);
}

/* What is added to is a copy: when more has gone by another one may turn out to follow. */
static monitor *own(monitors *m, monitor *part)
{
    if (part->is_copy) {
        return part;
    }
    monitor *of = g_new(monitor, 1);
    *of = *part;
    of->is_copy = true;
    of->client = g_strdup(part->client);
    of->server = g_strdup(part->server);
    of->account = g_strdup(part->account);
    of->pace.intervals = of->pace.waits = of->responses = (perf_spread){.count = 0};
    add_spreads(of, part);
    of->refused = g_hash_table_new(NULL, NULL);
    memset(of->findings, 0, sizeof of->findings);
    take_over(of, part);
    g_ptr_array_add(m->copies, of);
    return of;
}

static void join_samples(monitor *of, const monitor *later)
{
    double interval = of->samples > 0 ? pace_interval(&later->first_clocks, &of->pace.clock.clocks) : 0;

    if (of->samples > 0 && !of->is_sealed && perf_is_older(&later->first_clocks, &of->pace.clock.clocks)) {
        mark(of, MONITOR_RESTARTED, later->first_frame);
    }
    if (interval > 0) {
        of->pace.waited += later->first_wait;
        pace_requests_join(&of->pace.requests, &later->first_requests);
        add_interval(of, interval, later->first_frame, NULL);
    }
    add_spreads(of, later);
    of->longest = MAX(of->longest, later->longest);
    if (of->slowest_frame == 0 || later->slowest > of->slowest) {
        of->slowest = later->slowest;
        of->slowest_frame = later->slowest_frame;
    }
    of->pace.waited = later->pace.waited;
    of->pace.requests = later->pace.requests;
    of->pace.clock = later->pace.clock;
    of->samples += later->samples;
    of->bytes += later->bytes;
    of->failed += later->failed;
    of->offsets += later->offsets;
    of->num_offsets += later->num_offsets;
}

/* A client that went on with another query for the same counters, and perhaps got no sample of it. */
static void join(monitor *of, const monitor *later)
{
    count_unanswered(of, later->first_requests.count > 0 ? later->first_requests.first : later->pace.requests.first);
    if (later->samples > 0) {
        join_samples(of, later);
    } else {
        of->pace.waited += later->pace.waited;
        pace_requests_join(&of->pace.requests, &later->pace.requests);
    }
    of->unanswered += later->unanswered;
    of->newest = later->newest;
    of->is_answered |= later->is_answered;
    of->number = of->number > 0 ? of->number : later->number;
    of->handles += later->handles;
    of->probes += later->probes;
    of->no_data += later->no_data;
    of->refusals += later->refusals;
    sealed_talk_join(&of->talk, &later->talk);
    take_over(of, later);
}

static void join_all(monitors *m, bool port_counts)
{
    GHashTable *latest = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL); /* key -> place in `all` */
    monitor **all = (monitor **)m->all->pdata;
    unsigned left = 0;

    for (unsigned i = 0; i < m->all->len; i++) {
        monitor *of = all[i];
        char *key = key_of(of, port_counts);
        monitor **before = key ? g_hash_table_lookup(latest, key) : NULL;
        if (before && follows(of, *before)) {
            *before = own(m, *before);
            join(*before, of);
            g_free(key);
            continue;
        }
        all[left] = of;
        if (key) {
            g_hash_table_insert(latest, key, &all[left]);
        }
        left++;
    }
    g_hash_table_destroy(latest);
    g_ptr_array_set_size(m->all, (int)left);
}

void monitors_join(monitors *m)
{
    g_ptr_array_set_size(m->copies, 0);
    g_ptr_array_set_size(m->all, 0);
    for (unsigned i = 0; i < m->parts->len; i++) {
        g_ptr_array_add(m->all, g_ptr_array_index(m->parts, i));
    }
    join_all(m, true); /* first what one connection says: of two pollers of one client each goes on with its own */
    join_all(m, false);
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
    double usual = perf_spread_median(&of->pace.intervals);

    return of->unanswered > 0 || of->samples == 0 || of->findings[MONITOR_ASSUMED].count > 0 ||
           of->findings[MONITOR_UNTYPED].count > 0 || of->findings[MONITOR_DAMAGED].count > 0 ||
           of->longest > PACE_LATE * usual;
}

/* Packets that were lost or resent and did no harm are no finding. */
static void judge_packets(monitor *of)
{
    monitor_finding *findings = of->findings;
    bool lost_some = findings[MONITOR_LOST].count > 0, is_late = false;

    for (unsigned i = MONITOR_ANSWERED_LATE; i <= MONITOR_ASKED_LATE; i++) {
        char *what = findings[i].what;
        is_late |= findings[i].count > 0;
        if (what && lost_some) {
            findings[i].what = g_strdup_printf("%s, if none was lost between", what);
            g_free(what);
        }
    }
    findings[MONITOR_UNANSWERED].count *= !lost_some; /* answers may have been */
    findings[MONITOR_RESENT].count *= is_late;
    findings[MONITOR_LOST].count *= is_late || misses_something(of);
}

static void judge_end(monitor *of, const nstime_t *end)
{
    const monitor_newest *newest = &of->newest;
    bool is_open = newest->handle && newest->handle->end == UINT32_MAX && !newest->has_ended && !of->ends_in_noise;
    double usual = perf_spread_median(&of->pace.intervals);
    nstime_t since;

    nstime_delta(&since, end, &newest->waiting_since);
    double waited = nstime_to_sec(&since);
    if (newest->waiting_frame > 0 && waited >= LONG_WAIT) {
        find(of, MONITOR_UNANSWERED, newest->waiting_frame, "%s, asked %.1f s before the capture ends",
             newest->waiting_for, waited);
    } else if (is_open && of->pace.intervals.count >= PACE_FEWEST && waited >= MAX(LONG_WAIT, 3 * usual)) {
        find(of, MONITOR_STOPPED, newest->sample_frame, "%.1f s before the capture ends", waited);
    }
}

/* Returns if there is something to say of it. */
static bool judge(const monitors *m, monitor *of)
{
    judge_end(of, &m->end);
    judge_packets(of);
    of->findings[MONITOR_REFUSED].count = g_hash_table_size(of->refused);
    of->findings[MONITOR_NO_DATA] = (monitor_finding){of->talk.no_data, of->talk.no_data_frame, NULL};
    if (of->ends_in_noise && of->samples == 0) {
        return false; /* the noise has them, and is a monitor of its own */
    }
    return of->samples > 0 || of->probes > 1 || monitor_worst(of) < MONITOR_NUM_FINDINGS;
}

void monitors_judge(monitors *m)
{
    unsigned shown = 0;

    monitors_join(m);
    for (unsigned i = 0; i < m->all->len; i++) {
        monitor *of = g_ptr_array_index(m->all, i) = own(m, g_ptr_array_index(m->all, i));
        if (judge(m, of)) {
            g_ptr_array_index(m->all, shown++) = of;
        }
    }
    if (m->all->len > 0) { /* who asks for no sample has read texts, for instance */
        g_ptr_array_set_size(m->all, (int)MAX(shown, 1));
    }
    g_ptr_array_sort(m->all, compare_monitors);
}
