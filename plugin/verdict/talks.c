/* talks.c
 * Calls as they were made, kept by whose they are.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "taps/refusals.h"

#include <epan/to_str.h>

#include <math.h>

enum { ACCESS_DENIED = 5 };

/* Requests among which that of an answer is looked for, newest first. */
#define MOST_UNDER_WAY 64

static GSList *all; /* verdict */

static uint32_t request_frame(const tapped_call *tapped)
{
    return tapped->sealed.request_frame ? tapped->sealed.request_frame : tapped->request_frame;
}

/* --- Whose a call is ------------------------------------------------------------------------------------------- */

/* As the client called it, and by its address. */
static const char *server_name(wmem_allocator_t *memory, const tapped_call *tapped)
{
    const tapped_handle handle = tapped_handle_of(tapped->handle);
    const char *place = handle.place ? handle.place : tapped_server(tapped);
    const char *machine = handle.machine;

    return machine && *machine && strcmp(machine, place) != 0 ? wmem_strdup_printf(memory, "%s (%s)", machine, place)
                                                              : wmem_strdup(memory, place);
}

/* What is kept of a machine before it has a handle is in small letters. A pair is called by its newest name, each talk by its own. */
static void call_server(verdict_talk *talk, const tapped_call *tapped)
{
    enum { MOST = 40 };
    const char *machine = tapped->handle    ? tapped_handle_of(tapped->handle).machine
                          : tapped->is_hkpd ? NULL
                                            : tapped_called(tapped);

    if (machine && *machine && (talk->called == NULL || g_ascii_strcasecmp(talk->called, machine) != 0)) {
        char *name = tapped->handle || strpbrk(machine, ".:") ? g_strdup(machine) : g_ascii_strup(machine, -1);
        *g_utf8_offset_to_pointer(name, MIN(g_utf8_strlen(name, -1), MOST)) = '\0';
        talk->called = wmem_strdup(talk->memory, name);
        talk->pair->called = wmem_strdup(verdict_ladder_memory, name);
        g_free(name);
    }
}

static verdict_talk *talk_new(verdict *v, packet_info *pinfo, const tapped_call *tapped)
{
    verdict_talk *talk = wmem_new0(v->memory, verdict_talk);

    talk->memory = v->memory;
    talk->counters = NAN;
    talk->refused = wmem_map_new(v->memory, wmem_int64_hash, g_int64_equal);
    talk->without_instances = wmem_map_new(v->memory, wmem_str_hash, g_str_equal);
    talk->client = address_to_str(v->memory, tapped->is_response ? &pinfo->dst : &pinfo->src);
    talk->server = server_name(v->memory, tapped);
    talk->account = wmem_strdup(v->memory, verdict_wire_account(pinfo));
    talk->is_sealed = tapped->sealed.connection != NULL;
    g_ptr_array_add(v->talks, talk);
    talk->place = v->talks->len;
    return talk;
}

/* The first call of a handle, or of what has none. */
static void begin_talk(const verdict *v, verdict_talk *talk, const packet_info *pinfo, const tapped_call *tapped)
{
    talk->first_call = v->calls;
    talk->began = pinfo->num;
    talk->port = tapped->is_response ? pinfo->destport : pinfo->srcport;
    talk->has_handle = tapped->handle != NULL;
    talk->is_hkpd = tapped->is_hkpd;
    talk->opened_frame = tapped_handle_of(tapped->handle).opened_frame;
}

/* Where the request that this answers stands among the calls of a talk; where none does if it is not there. */
static verdict_call **find_request(verdict_talk *talk, const tapped_call *tapped)
{
    static verdict_call *none;
    uint32_t frame = tapped->is_response ? request_frame(tapped) : 0;
    verdict_call **place = &talk->newest;

    for (unsigned i = 0; frame > 0 && *place && i < MOST_UNDER_WAY; i++, place = &(*place)->before) {
        if ((*place)->asked_frame == frame && (*place)->outcome == CALL_WAITS &&
            strcmp((*place)->operation, tapped->operation) == 0) {
            return place;
        }
    }
    return &none;
}

static verdict_talk *talk_of(verdict *v, packet_info *pinfo, const tapped_call *tapped)
{
    const void *subject = tapped->handle ? (const void *)tapped->handle : tapped->sealed.connection;
    verdict_talk *talk = subject ? wmem_map_lookup(v->by_subject, subject) : NULL;

    if (talk) {
        return talk;
    }
    const address *client = tapped->is_response ? &pinfo->dst : &pinfo->src;
    const char *pair =
        wmem_strdup_printf(pinfo->pool, "%p %s", (const void *)tapped->server, address_to_str(pinfo->pool, client));
    /* what a client asked before it had a handle is its first handle's, and what it asks without one after that its newest's */
    talk = tapped->sealed.connection ? NULL : wmem_map_lookup(v->by_pair, pair);
    bool is_new = talk == NULL || (tapped->handle && talk->has_handle);
    verdict_call **opens = is_new && talk ? find_request(talk, tapped) : NULL;
    if (opens && *opens) { /* the request that opened a handle goes to it */
        *opens = (*opens)->before;
        talk->num_calls--;
    }
    talk = is_new ? talk_new(v, pinfo, tapped) : talk;
    if (is_new || tapped->handle) {
        begin_talk(v, talk, pinfo, tapped);
    }
    if (subject) {
        wmem_map_insert(v->by_subject, subject, talk);
    }
    if (is_new && !tapped->sealed.connection) {
        wmem_map_insert(v->by_pair, wmem_strdup(v->memory, pair), talk);
    }
    return talk;
}

/* --- Calls ----------------------------------------------------------------------------------------------------- */

static uint32_t data_size(const tapped_call *tapped)
{
    return tapped->answer && tapped->answer->sample && tapped->handle ? tvb_reported_length(tapped->answer->tvb)
                                                                      : tapped->sealed.sample_size;
}

static bool asks_for_data(const tapped_call *tapped)
{
    return tapped->brings_data || tapped->sealed.takes_sample || strcmp(tapped->operation, "QueryCounterData") == 0;
}

static call_outcome outcome_of(const tapped_call *tapped)
{
    if (tapped->has_failed && !refusal_is_usual(tapped)) {
        return CALL_FAILED;
    }
    if (!asks_for_data(tapped)) {
        return CALL_DONE;
    }
    if (data_size(tapped) > 0) {
        return CALL_SAMPLE;
    }
    return tapped->is_probe                       ? CALL_PROBE
           : tapped->answer || tapped->is_damaged ? CALL_DAMAGED
           : tapped->unread && tapped->handle     ? CALL_DAMAGED /* cut short when it was captured */
           : tapped->sealed.connection            ? CALL_NO_DATA
                                                  : CALL_EMPTY;
}

/* The request that this answers; a new one if that was not captured. */
static verdict_call *call_of(const verdict *v, verdict_talk *talk, const packet_info *pinfo, const tapped_call *tapped)
{
    verdict_call *call = *find_request(talk, tapped);

    if (call == NULL) {
        call = wmem_new(v->memory, verdict_call);
        *call = (verdict_call){.before = talk->newest,
                               .number = v->calls,
                               .talk = talk,
                               .operation = g_intern_string(tapped->operation),
                               .seconds = -1,
                               .asks = asks_for_data(tapped)};
        if (tapped->is_response && tapped->seconds >= 0) {
            call->asked = nstime_to_sec(&pinfo->abs_ts) - tapped->seconds;
            call->asked_frame = request_frame(tapped);
        }
        talk->newest = call;
        talk->num_calls++;
    }
    return call;
}

/* Of a sealed sample, whose clocks nobody reads, its request's time stands for them. */
static void keep_clocks(verdict_call *call, packet_info *pinfo, const tapped_call *tapped)
{
    enum { NANOSECONDS = 1000000000 };
    const nstime_t *asked = &tapped->sealed.request_time;

    if (!tapped->handle || !tapped->answer || !tapped->answer->sample) {
        call->clocks.perf_time = (uint64_t)asked->secs * NANOSECONDS + (uint64_t)asked->nsecs;
        call->clocks.perf_freq = NANOSECONDS;
    } else {
        call->clocks = tapped->answer->table->clocks;
    }
    call->request_event = tapped->request_frame;
    call->event = pinfo->num;
}

static void record_call(verdict *v, verdict_talk *talk, packet_info *pinfo, const tapped_call *tapped,
                        const verdict_connection *connection)
{
    verdict_call *call = call_of(v, talk, pinfo, tapped);
    double now = nstime_to_sec(&pinfo->abs_ts);

    call->connection = connection;
    call->num_open = tapped->is_response ? call->num_open : talk->num_open;
    talk->is_marked |= tapped->is_late;
    if (!tapped->is_fault) { /* which does not say what it is about */
        call->subject = wmem_strong_hash((const uint8_t *)&tapped->request_code, sizeof tapped->request_code);
        call->subject += tapped->subject ? 31 * wmem_strong_hash(tapped->subject, tapped->subject_size) : 0;
    }
    if (!tapped->is_response) {
        call->asked = now;
        call->asked_frame = pinfo->num;
        return;
    }
    call->answered = now;
    call->seconds = tapped->seconds;
    call->acked = connection && connection->acked.frame >= call->asked_frame ? connection->acked.time : 0;
    call->goes_back = connection && call->before && connection->goes_back > call->before->frame;
    call->frame = pinfo->num;
    call->outcome = (uint8_t)outcome_of(tapped);
    call->status = tapped->status;
    call->is_fault = tapped->is_fault;
    call->does_not_seal = tapped->status == ACCESS_DENIED && tapped->does_not_seal;
    call->size = data_size(tapped);
    if (call->outcome == CALL_SAMPLE) {
        if (talk->samples++ == 0 && talk->is_hkpd) {
            talk->began = pinfo->num; /* its key may have been opened for titles alone */
        }
        if (talk->pair) {
            talk->pair->sampled = pinfo->num;
            talk->pair->sampled_began = MAX(talk->pair->sampled_began, talk->began);
        }
        keep_clocks(call, pinfo, tapped);
    }
}

/* --- Queries --------------------------------------------------------------------------------------------------- */

/* As it is now: calls of other connections, and those that a filter left out, change it as well. */
static void look_at_handle(verdict_talk *talk)
{
    if (talk->handle) {
        talk->closed_frame = tapped_handle_of(talk->handle).closed_frame;
    }
}

static void count_handle(const verdict *v, verdict_talk *talk, const packet_info *pinfo, const tapped_call *tapped)
{
    talk->handle = tapped->handle;
    talk->number = talk->number > 0 ? talk->number : tapped_handle_of(tapped->handle).number;
    talk->failed += tapped->failed;
    if (tapped->brings_data) {
        if (talk->samples <= 1) {
            /* what the machine is called is known by then, if ever */
            const char *server = server_name(pinfo->pool, tapped);
            talk->server = strcmp(server, talk->server) == 0 ? talk->server : wmem_strdup(v->memory, server);
            talk->asked_for = tapped_asked_for(tapped);
        }
        talk->newest_call = v->calls;
    }
    talk->counters = tapped->has_counters ? tapped->counters : talk->counters;
}

/* A connection's first request has a verification trailer, which makes it longer. */
static void count_sealed(const verdict *v, verdict_talk *talk, const tapped_call *tapped)
{
    bool opens = g_str_has_prefix(tapped->operation, "Open"), closes = g_str_has_prefix(tapped->operation, "Close");

    talk->newest_call = v->calls;
    talk->num_open += opens && !tapped->is_response;
    talk->num_open -= talk->num_open > 0 && (tapped->is_response ? opens && tapped->is_fault : closes);
    if (tapped->is_response) {
        return;
    }
    talk->is_closed = closes && talk->num_open == 0;
    if (talk->samples == 0 && !tapped->sealed.takes_sample && !closes) {
        talk->asked_for = (talk->asked_for * 31 + g_str_hash(tapped->operation)) * 31;
        talk->asked_for += opens ? 0 : tapped->sealed.size;
    }
}

/* Ordinary calls of the registry are somebody else's, whether they fail or not. */
static bool is_about_counters(const tapped_call *tapped)
{
    const char *name = tapped->subject ? tapped->subject : "";
    bool is_perflib =
        strcmp(tapped->operation, "OpenKey") == 0 && g_strstr_len(name, (gssize)tapped->subject_size, "erflib");
    bool is_denied = tapped->has_failed &&
                     (is_perflib || (tapped->status == ACCESS_DENIED && g_str_has_prefix(tapped->operation, "OpenHK")));

    return !tapped->is_hkpd || tapped->handle || tapped->sealed.uses_query || is_denied ||
           g_str_has_prefix(tapped->operation, "OpenHKP");
}

/* Who was read on this connection until now has neither stopped nor waits for an answer. */
static void note_noise(verdict *v, const verdict_connection *connection)
{
    for (unsigned i = v->talks->len, n = 0; connection && i > 0 && n < MOST_UNDER_WAY; i--, n++) {
        verdict_talk *talk = g_ptr_array_index(v->talks, i - 1);
        if (!talk->is_sealed && talk->newest && talk->newest->connection == connection) {
            talk->ends_in_noise = true;
            return;
        }
    }
}

void verdict_count(verdict *v, packet_info *pinfo, const tapped_call *tapped)
{
    omissions_count_call(&v->omitted, tapped);
    verdict_connection *copy =
        tapped->is_repeated && tapped->is_response ? verdict_wire_connection(pinfo, false) : NULL;
    if (copy) {
        copy->is_copy = true; /* a request of it was counted before that was known */
    }
    if (tapped->is_repeated || (tapped->unread && !tapped->sealed.uses_query && !tapped->is_fault && !tapped->handle) ||
        !is_about_counters(tapped)) {
        return;
    }
    verdict_connection *connection = verdict_wire_connection(pinfo, !tapped->is_response);
    v->calls++;
    verdict_talk *talk = talk_of(v, pinfo, tapped);
    if (connection) {
        talk->pair = connection->pair;
        verdict_ladder_note_calls(talk->pair, connection->port);
        call_server(talk, tapped);
    }
    if (tapped->unread && tapped->sealed.connection && strcmp(tapped->unread, TAPPED_NOISE) == 0) {
        note_noise(v, connection);
    }
    record_call(v, talk, pinfo, tapped, connection);
    if (tapped->sealed.uses_query) {
        count_sealed(v, talk, tapped);
    } else if (tapped->handle) {
        count_handle(v, talk, pinfo, tapped);
    }
    verdict_books_count(v, talk, pinfo, tapped);
}

/* --- The capture's monitors ------------------------------------------------------------------------------------ */

/* The same key: the same client, account, server and counters (sealed: requests of the same sizes), and the same port of the client if that
 * counts. NULL: it goes on as nobody. */
static const char *key_of(wmem_allocator_t *pool, const verdict_talk *talk, bool port_counts)
{
    unsigned asked_for = talk->asked_to_add > 0 ? talk->asked_to_add : talk->asked_for;
    if (!talk->is_sealed && asked_for == 0) {
        return NULL;
    }
    return wmem_strdup_printf(pool, "%d %u %u %d %s %s %s", talk->is_sealed, asked_for, port_counts ? talk->port : 0,
                              talk->is_hkpd, talk->client, talk->server, talk->account);
}

static bool follows(const verdict_talk *talk, const verdict_talk *before)
{
    return before->newest_call < talk->first_call && (before->is_closed || !talk->is_sealed);
}

/* The talks of each monitor that follows another one become that one's. */
static void join(verdict *v, bool port_counts)
{
    wmem_map_t *latest = wmem_map_new(v->pool, wmem_str_hash, g_str_equal);
    unsigned left = 0;

    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        const char *key = key_of(v->pool, monitor->talks, port_counts);
        verdict_monitor *before = key ? wmem_map_lookup(latest, key) : NULL;
        if (before && follows(monitor->talks, before->last_talk)) {
            before->last_talk->next = monitor->talks;
            before->last_talk = monitor->last_talk;
            before->num_talks += monitor->num_talks;
            continue;
        }
        g_ptr_array_index(v->monitors, left++) = monitor;
        if (key) {
            wmem_map_insert(latest, key, monitor);
        }
    }
    g_ptr_array_set_size(v->monitors, (int)left);
}

/* By the packet with which each is known: its answer's, else its own. */
static int compare_calls(const void *a, const void *b)
{
    const verdict_call *x = a, *y = b;
    uint32_t frame_x = x->frame ? x->frame : x->asked_frame, frame_y = y->frame ? y->frame : y->asked_frame;

    return frame_x != frame_y ? (frame_x > frame_y) - (frame_x < frame_y)
                              : (x->number > y->number) - (x->number < y->number);
}

static verdict_monitor *monitor_new(wmem_allocator_t *pool, verdict_pair *pair, verdict_talk *talk)
{
    verdict_monitor *monitor = wmem_new0(pool, verdict_monitor);

    monitor->pool = pool;
    monitor->pair = pair;
    monitor->talks = monitor->last_talk = talk;
    monitor->num_talks = talk != NULL;
    return monitor;
}

static void take_calls(verdict_monitor *monitor)
{
    unsigned size = 0;

    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        size += talk->num_calls;
    }
    monitor->calls = monitor->end = wmem_alloc_array(monitor->pool, verdict_call, size);
    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        for (const verdict_call *call = talk->newest; call; call = call->before) {
            *monitor->end++ = *call;
        }
    }
    qsort(monitor->calls, size, sizeof *monitor->calls, compare_calls);
}

static uint32_t number_of(const verdict_monitor *monitor, uint32_t *sealed)
{
    uint32_t number = monitor->talks->is_sealed ? ++*sealed : 0;

    for (const verdict_talk *talk = monitor->talks; talk && number == 0; talk = talk->next) {
        number = talk->number;
    }
    return number;
}

static void join_talks(verdict *v)
{
    uint32_t sealed = 0;

    g_ptr_array_set_size(v->monitors, 0);
    wmem_free_all(v->pool);
    for (unsigned i = 0; i < v->talks->len; i++) {
        verdict_talk *talk = g_ptr_array_index(v->talks, i);
        talk->next = NULL;
        look_at_handle(talk);
        g_ptr_array_add(v->monitors, monitor_new(v->pool, talk->pair, talk));
    }
    join(v, true); /* first what one connection says: of two pollers of one client each goes on with its own */
    join(v, false);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        take_calls(monitor);
        monitor->number = number_of(monitor, &sealed);
        verdict_figures(monitor);
    }
}

/* What each pair did not reach stands with its first monitor; or for itself. */
static void find_failures(verdict *v)
{
    wmem_map_t *firsts = wmem_map_new(v->pool, g_direct_hash, g_direct_equal);

    verdict_ladder_judge(v->pool);
    for (unsigned i = v->monitors->len; i > 0; i--) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i - 1);
        wmem_map_insert(firsts, monitor->pair, monitor);
    }
    for (verdict_pair *pair = verdict_ladder_first; pair; pair = pair->next) {
        verdict_monitor *first = wmem_map_lookup(firsts, pair);
        const char *account = pair->failures[RUNG_LOGON].shown.frames ? pair->failures[RUNG_LOGON].account : NULL;
        /* who has samples is another account's monitor */
        bool is_other = first && account && first->figures.numbers[FIGURE_SAMPLES] > 0;
        first = is_other ? NULL : first;
        verdict_monitor *monitor = first ? first : monitor_new(v->pool, pair, NULL);
        bool is_cut = pair->cut.frames && pair->passed[RUNG_PIPE] > 0 && !pair->is_bound;
        bool is_unread = is_cut || (v->talks->len == 0 && omissions_get_undecoded(&v->omitted) == 0);
        verdict_ladder_find(v->pool, pair, &monitor->findings);
        if (first ? pair->one_way.frame > 0 : !monitor->findings && is_unread) {
            verdict_ladder_find_unread(v->pool, pair, &monitor->findings);
        }
        if (first) { /* who may have spoken on connections of which nothing can be read, too */
            verdict_evidence missed = pair->missed;
            missed.pool = v->pool;
            missed.is_unread = true;
            verdict_find(first, VERDICT_LOST, PARTY_CAPTURE, &missed,
                         "The capture lacks the bind of a connection of $C to $S$N: $T");
        } else if (monitor->findings) {
            g_ptr_array_add(v->monitors, monitor);
            verdict_figures(monitor);
        }
    }
}

bool verdict_has(const verdict_monitor *monitor, verdict_kind kind)
{
    const verdict_finding *finding = monitor->findings;

    while (finding && finding->kind != kind) {
        finding = finding->next;
    }
    return finding != NULL;
}

/* The monitor has a sample that came after the frame. */
static bool has_sample_after(const verdict_monitor *monitor, uint32_t frame)
{
    const verdict_call *call = monitor->end;

    while (call > monitor->calls && (call[-1].outcome != CALL_SAMPLE || call[-1].frame < frame)) {
        call--;
    }
    return call > monitor->calls && call[-1].frame > frame;
}

void verdict_find(verdict_monitor *monitor, verdict_kind kind, verdict_party party, const verdict_evidence *shown,
                  const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    verdict_add_finding(&monitor->findings, kind, party, shown, !has_sample_after(monitor, shown->last),
                        verdict_server(monitor), verdict_client(monitor),
                        wmem_strdup_vprintf(monitor->pool, format, arguments));
    for (verdict_finding *finding = monitor->findings; finding && monitor->pair; finding = finding->next) {
        finding->client = monitor->pair->client;
        finding->server = monitor->pair->server;
    }
    va_end(arguments);
}

static int compare_monitors(const void *a, const void *b)
{
    const verdict_finding *x = (*(verdict_monitor *const *)a)->findings, *y = (*(verdict_monitor *const *)b)->findings;

    return x && y ? verdict_finding_compare(x, y) : (x == NULL) - (y == NULL);
}

/* Who asks for no sample has read texts, for instance: there is nothing to say of it. */
static bool is_shown(const verdict_monitor *monitor)
{
    const verdict_talk *talk = monitor->talks;

    if (talk && talk->ends_in_noise && monitor->figures.numbers[FIGURE_SAMPLES] <= 0) {
        return false; /* the noise has them, and is a monitor of its own */
    }
    return talk == NULL || monitor->findings || monitor->figures.numbers[FIGURE_SAMPLES] > 0 ||
           monitor->figures.numbers[FIGURE_PROBES] > 1;
}

void verdict_judge(verdict *v)
{
    verdict_wire_end();
    verdict_set_span(verdict_wire_first(), verdict_wire_last());
    join_talks(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        verdict_calls_find(monitor);
        bool lacks_some = verdict_timing_find(monitor, v->monitors);
        verdict_capture_find(monitor, lacks_some);
        verdict_books_find(v, monitor);
    }
    find_failures(v);
}

void verdict_judge_worst_first(verdict *v)
{
    unsigned shown = 0;

    verdict_judge(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        if (is_shown(monitor) || (i + 1 == v->monitors->len && shown == 0)) {
            g_ptr_array_index(v->monitors, shown++) = monitor;
        }
    }
    g_ptr_array_set_size(v->monitors, (int)shown);
    g_ptr_array_sort(v->monitors, compare_monitors);
}

/* --- All of it ------------------------------------------------------------------------------------------------- */

static void forget_subjects(verdict *v)
{
    v->by_subject = wmem_map_new(v->memory, g_direct_hash, g_direct_equal);
    v->by_pair = wmem_map_new(v->memory, wmem_str_hash, g_str_equal);
}

void verdict_reset(verdict *v)
{
    g_ptr_array_set_size(v->monitors, 0);
    g_ptr_array_set_size(v->talks, 0);
    wmem_free_all(v->memory);
    wmem_free_all(v->pool);
    forget_subjects(v);
    v->accepted = wmem_map_new(v->memory, wmem_int64_hash, g_int64_equal);
    v->delivered = wmem_map_new(v->memory, wmem_str_hash, g_str_equal);
    v->omitted = (omissions){0};
    v->calls = 0;
}

void verdict_reset_all(void)
{
    for (GSList *at = all; at; at = at->next) {
        verdict_reset(at->data);
    }
}

/* The capture goes, perhaps in its middle (tshark -M): what was counted stays. */
static void forget_capture(void)
{
    for (GSList *at = all; at; at = at->next) {
        verdict *v = at->data;
        forget_subjects(v);
        for (unsigned i = 0; i < v->talks->len; i++) {
            verdict_talk *talk = g_ptr_array_index(v->talks, i);
            look_at_handle(talk);
            talk->handle = NULL;
        }
    }
}

verdict *verdict_new(bool counts_values)
{
    static bool forgets;
    verdict *v = g_new0(verdict, 1);

    if (!forgets) {
        forgets = true;
        register_cleanup_routine(forget_capture);
    }
    v->memory = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    v->pool = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    v->counts_values = counts_values;
    v->talks = g_ptr_array_new();
    v->monitors = g_ptr_array_new();
    verdict_reset(v);
    all = g_slist_prepend(all, v);
    return v;
}

void verdict_free(verdict *v)
{
    all = g_slist_remove(all, v);
    g_ptr_array_unref(v->talks);
    g_ptr_array_unref(v->monitors);
    wmem_destroy_allocator(v->memory);
    wmem_destroy_allocator(v->pool);
    g_free(v);
}
