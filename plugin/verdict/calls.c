/* calls.c
 * What came of a monitor's calls: failures, answers that never came or brought nothing, connections that ended under it; and what the
 * capture itself lacks of them: packets that were lost or cut when they were captured. Those that did no harm are no finding.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include <math.h>

/* Seconds: who asks for something else by then does not wait for the answer. */
#define PROBE_SECONDS 0.5

/* Answers without data in a row, after the last sample, that are a loop. */
#define LOOP 3

/* Queries left open: what is more is said. */
#define MANY_OPEN 10

/* A session that expired, or was deleted, is made anew. */
#define IS_SESSION(status) ((status) == 0xc000035c || (status) == 0xc0000203)

/* The client gave up what the server did not answer. */
#define STATUS_CANCELLED 0xc0000120

enum { ACCESS_DENIED = 5, UNKNOWN_INTERFACE = 0x1c010003 };

static bool is_open(const verdict_talk *talk)
{
    return talk->is_sealed ? talk->num_open > 0 : talk->has_handle && talk->closed_frame == 0;
}

static double usual_of(const verdict_monitor *monitor)
{
    double interval = monitor->figures.numbers[FIGURE_INTERVAL];

    return interval > 0 ? interval : 0; /* NAN is not */
}

/* --- Calls that failed ----------------------------------------------------------------------------------------- */

/* A step on the way to data, which the pair took later; what opens a query is made good by one that is opened later, no other. */
static bool came_through(const verdict_monitor *monitor, const verdict_call *call)
{
    static const char *const steps[] = {"OpenQueryHandle", "EnumerateCounterSet", "OpenHKPD", "OpenHKLM", NULL};
    bool is_step = call->is_fault || call->status == ACCESS_DENIED || g_strv_contains(steps, call->operation);
    bool opens = strcmp(call->operation, steps[0]) == 0 || strcmp(call->operation, "ValidateCounters") == 0;
    const verdict_pair *pair = monitor->pair;

    return !call->asks && is_step && pair &&
           (opens ? pair->sampled_began : pair->sampled) > MAX(call->asked_frame, call->frame);
}

static void say_failed(verdict_monitor *monitor, verdict_evidence *shown, const verdict_call *first, bool is_mixed)
{
    const char *error = verdict_error(monitor->pool, first->is_fault, first->status, false);

    shown->more =
        wmem_strdup_printf(monitor->pool, "first %s: %s", first->operation,
                           verdict_error(monitor->pool, first->is_fault, first->status, !first->does_not_seal));
    if (first->does_not_seal) {
        verdict_find(monitor, VERDICT_NOT_SEALED, PARTY_CLIENT, shown,
                     "$C signs and does not seal, so $S denies its calls: $T");
    } else if (first->is_fault && first->status == UNKNOWN_INTERFACE) {
        verdict_find(monitor, VERDICT_BIND_REFUSED, PARTY_SERVER, shown,
                     "$S does not have the interface for %s of $C: %s $T", first->operation, error);
    } else if (first->status == ACCESS_DENIED) {
        verdict_find(monitor, VERDICT_CALL_FAILED, PARTY_SERVER, shown,
                     "$S denies calls of $C (access denied: no rights)$N: $T");
    } else if (is_mixed) {
        verdict_find(monitor, VERDICT_CALL_FAILED, PARTY_SERVER, shown,
                     "$S answers calls of $C with errors$N, first %s: $T", error);
    } else {
        verdict_find(monitor, VERDICT_CALL_FAILED, PARTY_SERVER, shown, "$S answers %s of $C with %s$N: $T",
                     first->operation, error);
    }
}

/* What else fails comes of what is denied. What succeeded later is forgotten, but where data was asked for. */
static void find_failed(verdict_monitor *monitor)
{
    wmem_map_t *succeeded = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);
    verdict_evidence shown = {.pool = monitor->pool};
    const verdict_call *first = NULL;
    bool is_mixed = false;

    for (const verdict_call *call = monitor->end; call-- > monitor->calls;) {
        void *key = GUINT_TO_POINTER(g_str_hash(call->operation) ^ call->subject);
        bool is_denied = call->status == ACCESS_DENIED, any_denied = first && first->status == ACCESS_DENIED;
        if (call->outcome == CALL_DONE && !call->asks) {
            wmem_map_insert(succeeded, key, key);
        } else if (call->outcome == CALL_FAILED && (is_denied || !any_denied) && !came_through(monitor, call) &&
                   (call->asks || !wmem_map_contains(succeeded, key))) {
            shown.frames = is_denied && !any_denied ? NULL : shown.frames;
            is_mixed |= first && (call->status != first->status || call->operation != first->operation);
            first = call;
            evidence_add(&shown, call->frame, call->answered);
        }
    }
    if (first) {
        say_failed(monitor, &shown, first, is_mixed);
    }
}

/* --- Calls that nobody answered -------------------------------------------------------------------------------- */

/* Calls after one that are looked at for whether the client goes on. */
#define MOST_BEHIND 64

/* When the client would have had the answer: it asks anew, though not for something else at once, or the capture ends. */
static double waited_until(const verdict_monitor *monitor, const verdict_call *call)
{
    double usual = usual_of(monitor), soon = call->asked + (usual > 0 ? usual / 2 : PROBE_SECONDS);

    for (const verdict_call *next = call + 1; next < monitor->end && next - call < MOST_BEHIND; next++) {
        if (next->asked > soon) {
            return next->asked;
        }
    }
    return verdict_wire_last();
}

/* Nobody answered, though the capture has what would have come. */
static bool is_unanswered(const verdict_monitor *monitor, const verdict_call *call)
{
    double until = waited_until(monitor, call);
    double patience = until < verdict_wire_last() ? MAX(VERDICT_LONG_WAIT, 3 * usual_of(monitor)) : VERDICT_LONG_WAIT;
    bool is_captured =
        !(call->connection && (call->connection->is_copy || call->connection->goes_back > call->asked_frame)) &&
        !call->talk->ends_in_noise && !(monitor->pair && monitor->pair->one_way.frame > 0);

    /* who gets no answer sends again, or ends the connection */
    bool is_cut_off = call->connection && call->connection->newest <= call->asked && monitor->pair &&
                      monitor->pair->sampled > call->asked_frame;
    const wire_event *end = call->connection ? &call->connection->end : NULL; /* which find_ends() tells */
    bool is_broken = end && end->frame > call->asked_frame && !verdict_wire_by_client(call->connection, end) &&
                     end->time - call->asked < VERDICT_LONG_WAIT && is_open(call->talk);

    return is_captured && !is_cut_off && !is_broken && !came_through(monitor, call) &&
           until - call->asked >= patience && !verdict_wire_find(call->connection, WIRE_LOST, 0, call->asked, until) &&
           !verdict_wire_find(call->connection, WIRE_CUT, 0, call->asked, until);
}

/* Seconds: Remote Registry stops when nobody asked for ten minutes. */
#define IDLE_STOP 590.0

/* Nothing was asked for so long before the call that the service had stopped by itself. */
static bool is_after_idling(const verdict_monitor *monitor, const verdict_call *call)
{
    return call > monitor->calls && call->asked - MAX(call[-1].asked, call[-1].answered) >= IDLE_STOP;
}

/* Times that a request is sent again without any packet of the server before the way is broken. */
#define FEWEST_RESENT 3

/* The client sent it again and again, and the server, which was heard before, says nothing more: what lies between forgot the connection. */
static bool is_cut_between(const verdict_call *call)
{
    const verdict_connection *connection = call->connection;
    unsigned resent = 0;

    if (connection == NULL || connection->seen[!connection->client] <= 0 ||
        connection->seen[!connection->client] >= call->asked) {
        return false;
    }
    unsigned count = wmem_array_get_count(connection->events);
    for (unsigned i = verdict_wire_from(connection, call->asked, 0); i < count; i++) {
        const wire_event *event = verdict_wire_event(connection, i);
        resent += event->kind == WIRE_RESENT && verdict_wire_by_client(connection, event);
    }
    return resent >= FEWEST_RESENT;
}

static void find_unanswered(verdict_monitor *monitor)
{
    verdict_evidence broken = {.pool = monitor->pool}, shown = {.pool = monitor->pool}, idle = {.pool = monitor->pool},
                     silent = {.pool = monitor->pool};
    const verdict_call *first = NULL;
    uint32_t status = 0;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->outcome != CALL_WAITS) {
            continue;
        }
        const wire_event *failure =
            verdict_wire_find(call->connection, WIRE_PIPE_FAILED, call->asked_frame, 0, INFINITY);
        bool is_cancelled = failure && failure->status == STATUS_CANCELLED;
        bool is_anew =
            failure && (monitor->pair->sampled > failure->frame || monitor->pair->passed[RUNG_LOGON] > failure->time);
        if (is_cancelled && failure->time - call->asked >= VERDICT_LONG_WAIT) {
            first = first ? first : call;
            evidence_add(&shown, call->asked_frame, call->asked);
        } else if (failure && !is_cancelled && !(IS_SESSION(failure->status) && is_anew)) {
            bool is_idle_stop = is_anew && is_after_idling(monitor, call);
            status = is_idle_stop ? status : failure->status;
            evidence_add(is_idle_stop ? &idle : &broken, failure->frame, failure->time);
        } else if (!failure && call->asks && is_cut_between(call)) {
            evidence_add(&silent, call->asked_frame, call->asked);
        } else if (!failure && is_unanswered(monitor, call)) {
            first = first ? first : call;
            evidence_add(&shown, call->asked_frame, call->asked);
        }
    }
    verdict_find(monitor, VERDICT_PAUSE, PARTY_SERVER, &idle,
                 "$S stopped Remote Registry while $C was idle, and started it again$N: $T");
    verdict_find(monitor, VERDICT_BROKEN, PARTY_NETWORK, &silent,
                 "The network (an idle firewall?) dropped the connection of $C to $S$N: $T");
    if (broken.frames && monitor->pair) {
        verdict_ladder_say(monitor->pair, status, &broken, &monitor->findings);
    }
    if (first) {
        bool is_resent =
            verdict_wire_find(first->connection, WIRE_RESENT, 0, first->asked, first->asked + VERDICT_LONG_WAIT);
        verdict_find(monitor, VERDICT_UNANSWERED, is_resent ? PARTY_NETWORK : PARTY_SERVER, &shown,
                     "$S does not answer %s of $C%s$N: $T", first->operation,
                     is_resent ? ", sent again and again" : "");
    }
}

/* --- Answers that bring nothing -------------------------------------------------------------------------------- */

/* Those with one of these outcomes; if `from_sample`, after the last sample alone. */
static verdict_evidence calls_with(const verdict_monitor *monitor, unsigned outcomes, bool from_sample)
{
    verdict_evidence shown = {.pool = monitor->pool};

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        if (from_sample && call->outcome == CALL_SAMPLE) {
            shown.frames = NULL;
        } else if (outcomes & CALL_BIT(call->outcome)) {
            evidence_add(&shown, call->frame, call->answered);
        }
    }
    return shown;
}

/* After the last sample each answer says how much room it needs, and the client never has it; of a sealed talk, as figures.c settled it. */
static void find_no_data(verdict_monitor *monitor)
{
    bool is_sealed = monitor->talks->is_sealed;
    verdict_evidence shown = calls_with(monitor, CALL_BIT(is_sealed ? CALL_NO_DATA : CALL_PROBE), !is_sealed);
    verdict_evidence empty = calls_with(monitor, CALL_BIT(CALL_EMPTY), true);

    if (is_sealed) {
        verdict_find(monitor, VERDICT_NO_DATA, PARTY_SERVER, &shown,
                     "$S answers without data (it fails, or $C offers too little room): $T");
    } else if (evidence_count(&empty) >= LOOP) {
        verdict_find(monitor, VERDICT_NO_DATA, PARTY_SERVER, &empty, "$S answers $C without data$N: $T");
    } else if (evidence_count(&shown) >= LOOP) {
        verdict_find(monitor, VERDICT_NO_DATA, PARTY_CLIENT, &shown,
                     "$C offers $S too little room each time, and gets no sample: $T");
    }
}

/* --- How it ends ----------------------------------------------------------------------------------------------- */

/* The last call of a connection, as long as its talk is open: who ended it, and when. */
static void find_ends(verdict_monitor *monitor)
{
    verdict_evidence broken = {.pool = monitor->pool};

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_last = call + 1 == monitor->end || call[1].connection != call->connection;
        const wire_event *end = call->connection && call->connection->end.frame > 0 ? &call->connection->end : NULL;
        if (is_last && is_open(call->talk) && end && !verdict_wire_by_client(call->connection, end)) {
            evidence_add(&broken, end->frame, end->time);
        }
    }
    verdict_find(monitor, VERDICT_BROKEN, PARTY_SERVER, &broken,
                 "$S (or a firewall) closed the connection from $C with a %s open$N: $T",
                 verdict_handle_word(monitor->talks));
}

static void find_open(verdict_monitor *monitor)
{
    const verdict_connection *connection = monitor->end[-1].connection;
    verdict_evidence shown = {.pool = monitor->pool};

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        const verdict_talk *talk = call->talk;
        bool opens = call->frame > 0 && call->frame == talk->opened_frame && g_str_has_prefix(call->operation, "Open");
        if (opens && !talk->is_sealed && is_open(talk) && talk->newest->connection == connection) {
            evidence_add(&shown, call->frame, call->answered);
        }
    }
    if (evidence_count(&shown) >= MANY_OPEN) {
        verdict_find(monitor, VERDICT_HANDLES_OPEN, PARTY_CLIENT, &shown, "$C left %u handles open on $S: $T",
                     evidence_count(&shown));
    }
}

void verdict_calls_find(verdict_monitor *monitor)
{

    if (monitor->calls == monitor->end) {
        return;
    }
    find_failed(monitor);
    find_unanswered(monitor);
    find_no_data(monitor);
    find_ends(monitor);
    find_open(monitor);
}

/* --- What the capture lacks ------------------------------------------------------------------------------------ */

/* Events of a kind on all of the monitor's connections, between two frames. What came later in the capture is not lost. */
static verdict_evidence events_of(const verdict_monitor *monitor, wire_kind kind, bool came_later, uint32_t first,
                                  uint32_t last)
{
    wmem_map_t *seen = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);
    verdict_evidence shown = {.pool = monitor->pool};

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        const verdict_connection *connection = call->connection;
        bool is_new = connection && !wmem_map_insert(seen, connection, (void *)(uintptr_t)connection);
        for (unsigned n = 0; is_new && n < wmem_array_get_count(connection->events); n++) {
            const wire_event *event = verdict_wire_event(connection, n);
            if (event->kind == kind && event->came_later == came_later && event->frame >= first &&
                event->frame <= last) {
                evidence_add(&shown, event->frame, event->time);
            }
        }
    }
    return shown;
}

/* The first frame of a book; UINT32_MAX: it has none. */
static uint32_t first_in(const verdict_monitor *monitor, book_kind kind)
{
    uint32_t first = UINT32_MAX;

    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        const verdict_evidence *shown = &talk->books[kind].shown;
        first = shown->frames ? MIN(first, shown->first) : first;
    }
    return first;
}

void verdict_capture_find(verdict_monitor *monitor, bool lacks_some)
{
    unsigned answers = 0, unreadable = 0;
    uint32_t doubt = MIN(first_in(monitor, BOOK_ASSUMED), first_in(monitor, BOOK_UNTYPED));
    bool is_doubtful = doubt < UINT32_MAX;
    bool has_samples = monitor->figures.numbers[FIGURE_SAMPLES] > 0;

    if (monitor->calls == monitor->end || monitor->pair == NULL) {
        return;
    }
    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        answers += call->outcome == CALL_WAITS && call + 1 < monitor->end &&
                   !verdict_wire_find(call->connection, WIRE_PIPE_FAILED, call->asked_frame, 0, INFINITY);
        unreadable +=
            call->outcome == CALL_EMPTY || call->outcome == CALL_DAMAGED || (call->outcome == CALL_WAITS && call->asks);
    }
    const verdict_call *first = monitor->calls, *last = monitor->end - 1;
    uint32_t begin = is_doubtful ? 0 : first->asked_frame;
    uint32_t end = has_samples ? MAX(last->asked_frame, last->frame) : UINT32_MAX;
    verdict_evidence lost = events_of(monitor, WIRE_LOST, false, begin, end), late = {.pool = monitor->pool};
    verdict_evidence unasked = events_of(monitor, WIRE_UNASKED, false, begin, end);
    unsigned requests = evidence_count(&unasked);
    bool lacks_ends = unreadable > 0 || !has_samples;
    /* what was cut before they came may have said whose the doubtful values are, and of which type */
    verdict_evidence cut = events_of(monitor, WIRE_CUT, false, 0, lacks_ends ? UINT32_MAX : doubt);
    if (lacks_some || is_doubtful || answers + requests > 0 || !has_samples) {
        late = lost.frames ? late : events_of(monitor, WIRE_LOST, true, begin, end);
        late.is_unread = true;
        late.more = answers > 0 ? wmem_strdup_printf(monitor->pool, "answers that were not read: %u", answers) : NULL;
        lost.more =
            answers + requests > 0
                ? wmem_strdup_printf(monitor->pool, "answers missing: %u; requests missing: %u", answers, requests)
                : NULL; /* of a call of which both were lost there is no trace */
        verdict_find(monitor, VERDICT_LOST, PARTY_CAPTURE, &lost, "The capture lacks packets of $C and $S: $T");
        verdict_find(monitor, VERDICT_LOST, PARTY_CAPTURE, &late,
                     "The capture has packets of $C and $S in the wrong order$N: $T");
    }
    if (lacks_ends || is_doubtful) {
        verdict_find(monitor, VERDICT_LOST, PARTY_CAPTURE, &cut, "The capture cuts frames of $C and $S short: $T");
    }
}
