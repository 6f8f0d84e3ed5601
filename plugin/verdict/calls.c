/* calls.c
 * What came of a monitor's calls: failures, answers that never came or brought nothing, connections that ended under it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/fault.h"
#include "verdict/talks.h"

#include "text/value-strings.h"

/* Seconds: an answer that did not come by then. */
#define LONG_WAIT 5.0
#define PROBE_SECONDS 0.5

/* Answers without data in a row, behind the last sample, that are a loop. */
#define LOOP 3

/* Calls for each sample, queries left open, and seconds between samples: what is more, or less, is said. */
#define MANY_CALLS 10
#define MANY_OPEN 10
#define FAST 0.1
#define FEWEST_FAST 10

/* A session that expired, or was deleted, is made anew. */
#define IS_SESSION(status) ((status) == 0xc000035c || (status) == 0xc0000203)

enum { ACCESS_DENIED = 5, UNKNOWN_INTERFACE = 0x1c010003 };

static double usual_of(const verdict_monitor *monitor)
{
    double interval = monitor->figures.numbers[FIGURE_INTERVAL];

    return interval > 0 ? interval : 0; /* NAN is not */
}

static const char *client_of(const verdict_monitor *monitor)
{
    return verdict_first_talk(monitor)->client;
}

/* --- Calls that failed ----------------------------------------------------------------------------------------- */

static void *key_of(const verdict_call *call)
{
    return GUINT_TO_POINTER(g_str_hash(call->operation) ^ call->subject);
}

/* The call with which each operation succeeded last: what failed before is forgotten, but where data was asked for. */
static GHashTable *successes(const verdict_monitor *monitor)
{
    GHashTable *last = g_hash_table_new(g_direct_hash, g_direct_equal);

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_DONE && !call->asks) {
            g_hash_table_insert(last, key_of(call), GUINT_TO_POINTER(i));
        }
    }
    return last;
}

/* A step on the way to data, which the pair took later. */
static bool came_through(const verdict_monitor *monitor, const verdict_call *call)
{
    static const char *const steps[] = {"OpenQueryHandle", "EnumerateCounterSet", "OpenHKPD", "OpenHKLM"};
    bool is_step = call->is_fault || call->status == ACCESS_DENIED;

    for (unsigned i = 0; i < array_length(steps); i++) {
        is_step |= strcmp(call->operation, steps[i]) == 0;
    }
    return !call->asks && is_step && monitor->pair && monitor->pair->sampled > MAX(call->asked, call->answered);
}

static char *first_error(const verdict_call *call)
{
    char *error = g_strdup((call->is_fault ? text_fault : text_win32_error)(NULL, call->status));
    const char *meaning = text_error_meaning(call->status);
    char *text = g_strdup_printf(*meaning ? "first %s: %s (%s)" : "first %s: %s%s", call->operation, error, meaning);

    g_free(error);
    return text;
}

static void say_denied(const verdict_monitor *monitor, verdict_shown *shown, const verdict_call *first)
{
    const char *server = verdict_server(monitor), *client = client_of(monitor);
    GPtrArray *to = monitor->findings;

    shown->more = first_error(first);
    if (verdict_ladder_does_not_seal(monitor->pair)) {
        verdict_say(to, VERDICT_NOT_SEALED, PARTY_CLIENT, shown,
                    "%s signs and does not seal, so %s denies its calls: since $T", client, server);
    } else {
        verdict_say(to, VERDICT_CALL_FAILED, PARTY_SERVER, shown,
                    "%s denies calls of %s (access denied: no rights): since $T", server, client);
    }
}

static void say_failed(const verdict_monitor *monitor, verdict_shown *shown, const verdict_call *first)
{
    bool is_unknown = first->is_fault && first->status == UNKNOWN_INTERFACE;
    char *error = g_strdup((first->is_fault ? text_fault : text_win32_error)(NULL, first->status));

    shown->more = first_error(first);
    verdict_say(monitor->findings, is_unknown ? VERDICT_INTERFACE_MISSING : VERDICT_CALL_FAILED, PARTY_SERVER, shown,
                is_unknown ? "%s does not have the interface for %s of %s: %s since $T"
                           : "%s answers %s of %s with %s: since $T",
                verdict_server(monitor), first->operation, client_of(monitor), error);
    g_free(error);
}

static void find_failed(const verdict_monitor *monitor)
{
    GHashTable *last = successes(monitor);
    verdict_shown shown[2] = {{.frames = NULL}}; /* denied, or failed otherwise */
    const verdict_call *first[2] = {NULL};

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_FAILED && !came_through(monitor, call) &&
            (call->asks || GPOINTER_TO_UINT(g_hash_table_lookup(last, key_of(call))) <= i)) {
            unsigned which = call->status != ACCESS_DENIED;
            first[which] = first[which] ? first[which] : call;
            verdict_show(&shown[which], call->frame, call->answered);
        }
    }
    g_hash_table_destroy(last);
    if (first[0]) {
        say_denied(monitor, &shown[0], first[0]);
    }
    if (first[1] && !first[0]) { /* else it comes of what is denied */
        say_failed(monitor, &shown[1], first[1]);
    }
    verdict_forget(&shown[1]);
}

/* --- Calls that nobody answered -------------------------------------------------------------------------------- */

/* Calls behind one that are looked at for whether the client goes on. */
#define MOST_BEHIND 64

/* When the client would have had the answer: it asks anew, though not for something else at once, or the capture ends. */
static double waited_until(const verdict_monitor *monitor, unsigned number)
{
    const verdict_call *call = verdict_call_at(monitor, number);
    double usual = usual_of(monitor), soon = call->asked + (usual > 0 ? usual / 2 : PROBE_SECONDS);

    for (unsigned i = number + 1; i < monitor->calls->len && i - number < MOST_BEHIND; i++) {
        if (verdict_call_at(monitor, i)->asked > soon) {
            return verdict_call_at(monitor, i)->asked;
        }
    }
    return verdict_wire_last();
}

static void find_unanswered(const verdict_monitor *monitor)
{
    verdict_shown broken = {.frames = NULL}, shown = {.frames = NULL};
    double long_wait = MAX(LONG_WAIT, 3 * usual_of(monitor));
    const verdict_call *first = NULL;
    uint32_t status = 0;
    bool is_one_way = monitor->pair && monitor->pair->one_way_frame > 0;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        const verdict_talk *talk = g_ptr_array_index(monitor->talks, call->talk);
        const wire_event *failure = call->outcome == CALL_WAITS
                                        ? verdict_fault_event(call->connection, WIRE_PIPE_FAILED, call->asked_frame)
                                        : NULL;
        double until = call->outcome == CALL_WAITS ? waited_until(monitor, i) : 0;
        bool is_over = failure && IS_SESSION(failure->status) && monitor->pair->sampled > failure->time;
        if (failure && !is_over) {
            status = failure->status;
            verdict_show(&broken, failure->frame, failure->time);
        } else if (call->outcome == CALL_WAITS && !failure && !came_through(monitor, call) &&
                   !(call->connection && call->connection->is_copy) &&
                   until - call->asked >= (until < verdict_wire_last() ? long_wait : LONG_WAIT) &&
                   !talk->ends_in_noise && !is_one_way && !verdict_fault_lost(call->connection, call->asked, until)) {
            first = first ? first : call;
            verdict_show(&shown, call->asked_frame, call->asked);
        }
    }
    if (broken.frames && monitor->pair) {
        verdict_ladder_say(monitor->pair, status, &broken, monitor->findings);
    }
    verdict_forget(&broken);
    bool is_resent = first && verdict_fault_resent(first->connection, first->asked, first->asked + LONG_WAIT);
    verdict_say(monitor->findings, VERDICT_UNANSWERED, is_resent ? PARTY_NETWORK : PARTY_SERVER, &shown,
                "%s does not answer %s of %s%s: since $T", verdict_server(monitor), first ? first->operation : "",
                client_of(monitor), is_resent ? ", sent again and again" : "");
}

/* --- Answers that bring nothing -------------------------------------------------------------------------------- */

/* Of a sealed talk, as figures.c settled it. */
static void find_sealed_in_vain(const verdict_monitor *monitor)
{
    verdict_shown shown = {.frames = NULL};

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_NO_DATA) {
            verdict_show(&shown, call->frame, call->answered);
        }
    }
    verdict_say(monitor->findings, VERDICT_NO_DATA, PARTY_SERVER, &shown,
                "%s answers without data (it fails, or %s offers too little room): since $T", verdict_server(monitor),
                client_of(monitor));
}

/* Behind the last sample each answer says how much room it needs, and the client never has it. */
static void find_probe_loop(const verdict_monitor *monitor)
{
    verdict_shown shown = {.frames = NULL};
    bool any_sample = false;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_SAMPLE) {
            any_sample = true;
            verdict_forget(&shown);
        } else if (call->outcome == CALL_PROBE) {
            verdict_show(&shown, call->frame, call->answered);
        }
    }
    if (verdict_count_shown(&shown) < (any_sample ? LOOP : LOOP - 1)) {
        verdict_forget(&shown);
    }
    verdict_say(monitor->findings, VERDICT_NO_DATA, PARTY_CLIENT, &shown,
                "%s offers %s too little room each time, and gets no sample: since $T", client_of(monitor),
                verdict_server(monitor));
}

static void find_in_vain(const verdict_monitor *monitor)
{
    verdict_shown shown = {.frames = NULL};
    double samples = monitor->figures.numbers[FIGURE_SAMPLES];

    for (unsigned i = 0; samples > 1 && i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_PROBE || (call->asks && call->outcome == CALL_NO_DATA)) {
            verdict_show(&shown, call->frame, call->answered);
        }
    }
    double calls = 1 + verdict_count_shown(&shown) / MAX(samples, 1);
    if (calls < MANY_CALLS) {
        verdict_forget(&shown);
    }
    verdict_say(monitor->findings, VERDICT_MANY_CALLS, PARTY_CLIENT, &shown,
                "%s needs %.0f calls to %s for each sample, %.0f in vain: since $T", client_of(monitor), calls,
                verdict_server(monitor), calls - 1);
}

/* --- How it ends ----------------------------------------------------------------------------------------------- */

static const wire_event *end_of(const verdict_connection *connection)
{
    return connection && connection->end.frame > 0 ? &connection->end : NULL;
}

static bool is_open(const verdict_talk *talk)
{
    return talk->is_sealed ? talk->num_open > 0 : talk->has_handle && talk->closed_frame == 0;
}

/* The last call of a connection, as long as its talk is open: who ended it, and when. */
static void find_ends(const verdict_monitor *monitor)
{
    verdict_shown broken = {.frames = NULL}, stopped = {.frames = NULL};
    double patience = MAX(LONG_WAIT, 3 * verdict_plan_usual(monitor));
    bool is_said = verdict_has(monitor, VERDICT_BROKEN);

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        bool is_last = i + 1 == monitor->calls->len;
        const verdict_talk *talk = g_ptr_array_index(monitor->talks, call->talk);
        if ((!is_last && verdict_call_at(monitor, i + 1)->connection == call->connection) || !is_open(talk)) {
            continue;
        }
        const wire_event *end = end_of(call->connection);
        double newest = MAX(call->answered, call->asked), until = end ? end->time : verdict_wire_last();
        bool has_stopped = is_last && until - newest >= patience && call->outcome != CALL_WAITS && !talk->ends_in_noise;
        if (has_stopped && !verdict_has(monitor, VERDICT_UNANSWERED) && monitor->figures.numbers[FIGURE_SAMPLES] > 3 &&
            !(end && end->by_client)) {
            verdict_show(&stopped, call->frame, newest);
        } else if (end && !end->by_client && end->kind == WIRE_ENDED && !has_stopped && !is_said) {
            verdict_show(&broken, end->frame, end->time);
        }
    }
    unsigned count = verdict_count_shown(&broken);
    verdict_say(monitor->findings, VERDICT_BROKEN, PARTY_SERVER, &broken,
                count > 1 ? "%s ends connections of %s while a query is open (%u times): since $T"
                          : "%s ends the connection of %s while a query is open: $T",
                verdict_server(monitor), client_of(monitor), count);
    verdict_say(monitor->findings, VERDICT_STOPPED, PARTY_CLIENT, &stopped,
                "%s stopped asking %s, and left its query open: last $T", client_of(monitor), verdict_server(monitor));
}

static void find_open(const verdict_monitor *monitor)
{
    const verdict_call *first = verdict_call_at(monitor, 0);
    const verdict_connection *connection = verdict_call_at(monitor, monitor->calls->len - 1)->connection;
    verdict_shown shown = {.frames = NULL};

    for (unsigned i = 0; i < monitor->talks->len; i++) {
        const verdict_talk *talk = g_ptr_array_index(monitor->talks, i);
        unsigned count = talk->calls->len;
        if (!talk->is_sealed && is_open(talk) && talk->opened_frame > 0 && count > 0 &&
            g_array_index(talk->calls, verdict_call, count - 1).connection == connection) {
            verdict_show(&shown, talk->opened_frame, MAX(first->asked, first->answered));
        }
    }
    unsigned count = verdict_count_shown(&shown);
    if (count < MANY_OPEN) {
        verdict_forget(&shown);
    }
    verdict_say(monitor->findings, VERDICT_HANDLES_OPEN, PARTY_CLIENT, &shown,
                "%s left %u handles open on %s: since $T", client_of(monitor), count, verdict_server(monitor));
}

static void find_fast(const verdict_monitor *monitor)
{
    verdict_shown shown = {.frames = NULL};
    double interval = usual_of(monitor);
    unsigned same = 0;

    for (unsigned i = 0; interval > 0 && interval < FAST && i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_SAMPLE) {
            same += call->is_same;
            verdict_show(&shown, call->frame, call->answered);
        }
    }
    if (verdict_count_shown(&shown) < FEWEST_FAST || 2 * same < verdict_count_shown(&shown)) {
        verdict_forget(&shown);
    }
    verdict_say(monitor->findings, VERDICT_FAST_POLL, PARTY_CLIENT, &shown,
                "%s asks %s each %.0f ms, faster than counters change: since $T", client_of(monitor),
                verdict_server(monitor), interval * 1000);
}

void verdict_calls_find(const verdict_monitor *monitor)
{
    const verdict_talk *talk = verdict_first_talk(monitor);

    if (talk->is_other || monitor->calls->len == 0) {
        return;
    }
    find_failed(monitor);
    find_unanswered(monitor);
    if (talk->is_sealed) {
        find_sealed_in_vain(monitor);
    } else {
        find_probe_loop(monitor);
    }
    find_ends(monitor);
    find_in_vain(monitor);
    find_open(monitor);
    find_fast(monitor);
}
