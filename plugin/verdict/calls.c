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

static GArray *new_frames(void)
{
    return g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static double usual_of(const verdict_monitor *monitor)
{
    double interval = monitor->figures.numbers[FIGURE_INTERVAL];

    return interval > 0 ? interval : 0; /* NAN is not */
}

static const char *client_of(const verdict_monitor *monitor)
{
    return verdict_first_talk(monitor)->client;
}

/* Adds what these frames show, and forgets them. NULL: there are none. */
static verdict_finding *G_GNUC_PRINTF(6, 7) say(const verdict_monitor *monitor, verdict_kind kind, verdict_party party,
                                                GArray *frames, double since, const char *format, ...)
{
    verdict_finding *found = NULL;

    if (frames->len > 0) {
        va_list arguments;
        va_start(arguments, format);
        char *text = g_strdup_vprintf(format, arguments);
        char *when = verdict_since(since, g_array_index(frames, uint32_t, 0), "");
        found = verdict_add(monitor->findings, kind, party, frames, since, "%s%s", text, when);
        va_end(arguments);
        g_free(text);
        g_free(when);
    }
    g_array_unref(frames);
    return found;
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

static void say_error(verdict_finding *found, const verdict_call *call)
{
    char *error = call ? g_strdup((call->is_fault ? text_fault : text_win32_error)(NULL, call->status)) : NULL;
    const char *meaning = call ? text_error_meaning(call->status) : "";

    if (found) {
        found->more =
            g_strdup_printf(*meaning ? "first %s: %s (%s)" : "first %s: %s%s", call->operation, error, meaning);
    }
    g_free(error);
}

static void say_denied(const verdict_monitor *monitor, GArray *frames, double since, const verdict_call *first)
{
    const char *server = verdict_server(monitor), *client = client_of(monitor);
    verdict_finding *found;

    if (verdict_ladder_does_not_seal(monitor->pair)) {
        found = say(monitor, VERDICT_NOT_SEALED, PARTY_CLIENT, frames, since,
                    "%s signs and does not seal, so %s denies its calls: since ", client, server);
    } else {
        found = say(monitor, VERDICT_CALL_FAILED, PARTY_SERVER, frames, since,
                    "%s denies calls of %s (access denied: no rights): since ", server, client);
    }
    say_error(found, first);
}

typedef struct {
    GArray *frames;
    const verdict_call *first;
} failed_calls;

static void find_failed(const verdict_monitor *monitor)
{
    GHashTable *last = successes(monitor);
    failed_calls denied = {new_frames(), NULL}, failed = {new_frames(), NULL};

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_FAILED && !came_through(monitor, call) &&
            (call->asks || GPOINTER_TO_UINT(g_hash_table_lookup(last, key_of(call))) <= i)) {
            failed_calls *calls = call->status == ACCESS_DENIED ? &denied : &failed;
            calls->first = calls->first ? calls->first : call;
            g_array_append_val(calls->frames, call->frame);
        }
    }
    g_hash_table_destroy(last);
    if (denied.first) { /* what fails beside is what comes of it */
        g_array_set_size(failed.frames, 0);
    }
    say_denied(monitor, denied.frames, denied.first ? denied.first->answered : 0, denied.first);
    char *error = failed.first
                      ? g_strdup((failed.first->is_fault ? text_fault : text_win32_error)(NULL, failed.first->status))
                      : NULL;
    bool is_unknown = failed.first && failed.first->is_fault && failed.first->status == UNKNOWN_INTERFACE;
    verdict_finding *found = say(
        monitor, is_unknown ? VERDICT_INTERFACE_MISSING : VERDICT_CALL_FAILED, PARTY_SERVER, failed.frames,
        failed.first ? failed.first->answered : 0,
        is_unknown ? "%s does not have the interface for %s of %s: %s since " : "%s answers %s of %s with %s: since ",
        verdict_server(monitor), failed.first ? failed.first->operation : "", client_of(monitor), error ? error : "");
    say_error(found, failed.first);
    g_free(error);
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
    GArray *broken = new_frames(), *frames = new_frames();
    double since_broken = 0, since = 0, long_wait = MAX(LONG_WAIT, 3 * usual_of(monitor));
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
            since_broken = broken->len == 0 ? failure->time : since_broken;
            status = failure->status;
            g_array_append_val(broken, failure->frame);
        } else if (call->outcome == CALL_WAITS && !failure && !came_through(monitor, call) &&
                   !(call->connection && call->connection->is_copy) &&
                   until - call->asked >= (until < verdict_wire_last() ? long_wait : LONG_WAIT) &&
                   !talk->ends_in_noise && !is_one_way && !verdict_fault_lost(call->connection, call->asked, until)) {
            first = first ? first : call;
            since = frames->len == 0 ? call->asked : since;
            g_array_append_val(frames, call->asked_frame);
        }
    }
    if (broken->len > 0 && monitor->pair) {
        verdict_ladder_say(monitor->pair, status, broken, since_broken, monitor->findings);
    }
    g_array_unref(broken);
    bool is_resent = first && verdict_fault_resent(first->connection, first->asked, first->asked + LONG_WAIT);
    say(monitor, VERDICT_UNANSWERED, is_resent ? PARTY_NETWORK : PARTY_SERVER, frames, since,
        "%s does not answer %s of %s%s: since ", verdict_server(monitor), first ? first->operation : "",
        client_of(monitor), is_resent ? ", sent again and again" : "");
}

/* --- Answers that bring nothing -------------------------------------------------------------------------------- */

/* Of a sealed talk, as figures.c settled it. */
static void find_sealed_in_vain(const verdict_monitor *monitor)
{
    GArray *frames = new_frames();
    double since = 0;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_NO_DATA) {
            since = frames->len == 0 ? call->answered : since;
            g_array_append_val(frames, call->frame);
        }
    }
    say(monitor, VERDICT_NO_DATA, PARTY_SERVER, frames, since,
        "%s answers without data (it fails, or %s offers too little room): since ", verdict_server(monitor),
        client_of(monitor));
}

/* Behind the last sample each answer says how much room it needs, and the client never has it. */
static void find_probe_loop(const verdict_monitor *monitor)
{
    GArray *frames = new_frames();
    double since = 0;
    bool any_sample = false;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_SAMPLE) {
            any_sample = true;
            g_array_set_size(frames, 0);
        } else if (call->outcome == CALL_PROBE) {
            since = frames->len == 0 ? call->answered : since;
            g_array_append_val(frames, call->frame);
        }
    }
    if (frames->len < (any_sample ? LOOP : LOOP - 1)) {
        g_array_set_size(frames, 0);
    }
    say(monitor, VERDICT_NO_DATA, PARTY_CLIENT, frames, since,
        "%s offers %s too little room each time, and gets no sample: since ", client_of(monitor),
        verdict_server(monitor));
}

static void find_in_vain(const verdict_monitor *monitor)
{
    GArray *frames = new_frames();
    double since = 0, samples = monitor->figures.numbers[FIGURE_SAMPLES];

    for (unsigned i = 0; samples > 1 && i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_PROBE || (call->asks && call->outcome == CALL_NO_DATA)) {
            since = frames->len == 0 ? call->answered : since;
            g_array_append_val(frames, call->frame);
        }
    }
    double calls = 1 + frames->len / MAX(samples, 1);
    if (calls < MANY_CALLS) {
        g_array_set_size(frames, 0);
    }
    say(monitor, VERDICT_MANY_CALLS, PARTY_CLIENT, frames, since,
        "%s needs %.0f calls to %s for each sample, %.0f in vain: since ", client_of(monitor), calls,
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
    GArray *broken = new_frames(), *stopped = new_frames();
    double since_broken = 0, since_stopped = 0, patience = MAX(LONG_WAIT, 3 * verdict_plan_usual(monitor));
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
            since_stopped = newest;
            g_array_append_val(stopped, call->frame);
        } else if (end && !end->by_client && end->kind == WIRE_ENDED && !has_stopped && !is_said) {
            since_broken = broken->len == 0 ? end->time : since_broken;
            g_array_append_val(broken, end->frame);
        }
    }
    unsigned count = broken->len;
    say(monitor, VERDICT_BROKEN, PARTY_SERVER, broken, since_broken,
        count > 1 ? "%s ends connections of %s while a query is open (%u times): since "
                  : "%s ends the connection of %s while a query is open: ",
        verdict_server(monitor), client_of(monitor), count);
    say(monitor, VERDICT_STOPPED, PARTY_CLIENT, stopped, since_stopped,
        "%s stopped asking %s, and left its query open: last ", client_of(monitor), verdict_server(monitor));
}

static void find_open(const verdict_monitor *monitor)
{
    GArray *frames = new_frames();

    const verdict_connection *connection = verdict_call_at(monitor, monitor->calls->len - 1)->connection;
    for (unsigned i = 0; i < monitor->talks->len; i++) {
        const verdict_talk *talk = g_ptr_array_index(monitor->talks, i);
        const verdict_call *last =
            talk->calls->len > 0 ? &g_array_index(talk->calls, verdict_call, talk->calls->len - 1) : NULL;
        if (!talk->is_sealed && is_open(talk) && talk->opened_frame > 0 && last && last->connection == connection) {
            g_array_append_val(frames, talk->opened_frame);
        }
    }
    unsigned count = frames->len;
    if (count < MANY_OPEN) {
        g_array_set_size(frames, 0);
    }
    const verdict_call *first = verdict_call_at(monitor, 0);
    say(monitor, VERDICT_HANDLES_OPEN, PARTY_CLIENT, frames, MAX(first->asked, first->answered),
        "%s left %u handles open on %s: since ", client_of(monitor), count, verdict_server(monitor));
}

static void find_fast(const verdict_monitor *monitor)
{
    GArray *frames = new_frames();
    double interval = usual_of(monitor), since = 0;
    unsigned same = 0;

    for (unsigned i = 0; interval > 0 && interval < FAST && i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_SAMPLE) {
            since = frames->len == 0 ? call->answered : since;
            same += call->is_same;
            g_array_append_val(frames, call->frame);
        }
    }
    if (frames->len < FEWEST_FAST || 2 * same < frames->len) {
        g_array_set_size(frames, 0);
    }
    say(monitor, VERDICT_FAST_POLL, PARTY_CLIENT, frames, since,
        "%s asks %s each %.0f ms, faster than counters change: since ", client_of(monitor), verdict_server(monitor),
        interval * 1000);
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
