/* capture.c
 * What the capture itself lacks of a monitor: packets that were lost or cut when they were captured. Those that did no harm are no finding.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

typedef struct {
    GArray *frames;
    double since;
} shown_by;

/* Events of a kind on all of the monitor's connections, between two frames. */
static shown_by events_of(const verdict_monitor *monitor, wire_kind kind, uint32_t first, uint32_t last)
{
    GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    shown_by shown = {g_array_new(FALSE, FALSE, sizeof(uint32_t)), 0};

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_connection *connection = verdict_call_at(monitor, i)->connection;
        bool is_new = connection && connection->events && g_hash_table_add(seen, (void *)(uintptr_t)connection);
        for (unsigned n = 0; is_new && n < connection->events->len; n++) {
            const wire_event *event = &g_array_index(connection->events, wire_event, n);
            if (event->kind == kind && event->frame >= first && event->frame <= last) {
                shown.since = shown.frames->len == 0 ? event->time : shown.since;
                g_array_append_val(shown.frames, event->frame);
            }
        }
    }
    g_hash_table_destroy(seen);
    return shown;
}

static bool has_book(const verdict_monitor *monitor, book_kind kind)
{
    for (unsigned i = 0; i < monitor->talks->len; i++) {
        if (((const verdict_talk *)g_ptr_array_index(monitor->talks, i))->books[kind].frames) {
            return true;
        }
    }
    return false;
}

static void say(const verdict_monitor *monitor, verdict_kind kind, const char *what, const shown_by *shown,
                const char *more)
{
    char *when = verdict_since(shown->since, g_array_index(shown->frames, uint32_t, 0), "since ");
    verdict_finding *found = verdict_add(monitor->findings, kind, PARTY_CAPTURE, shown->frames, shown->since,
                                         "The capture %s of %s and %s: %s", what, verdict_first_talk(monitor)->client,
                                         monitor->pair->called, when);

    found->more = g_strdup(more);
    g_free(when);
}

void verdict_capture_find(const verdict_monitor *monitor, bool lacks_some)
{
    unsigned answers = 0, requests = 0, unreadable = 0, count = monitor->calls->len;
    bool is_doubtful = has_book(monitor, BOOK_ASSUMED) || has_book(monitor, BOOK_UNTYPED);
    bool has_samples = monitor->figures.numbers[FIGURE_SAMPLES] > 0;

    if (count == 0 || monitor->pair == NULL) {
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        answers += call->outcome == CALL_WAITS && i + 1 < count;
        requests += call->asked_frame == 0;
        unreadable +=
            call->outcome == CALL_EMPTY || call->outcome == CALL_DAMAGED || (call->outcome == CALL_WAITS && call->asks);
    }
    const verdict_call *first = verdict_call_at(monitor, 0), *last = verdict_call_at(monitor, count - 1);
    uint32_t begin = is_doubtful ? 0 : first->asked_frame > 0 ? first->asked_frame : first->frame;
    shown_by lost = events_of(monitor, WIRE_LOST, begin, MAX(last->asked_frame, last->frame));
    shown_by cut = events_of(monitor, WIRE_CUT, 0, UINT32_MAX);
    if (lost.frames->len > 0 && (lacks_some || is_doubtful || answers + requests > 0 || !has_samples)) {
        char *more = g_strdup_printf("answers missing: %u; requests missing: %u", answers, requests);
        say(monitor, VERDICT_LOST, "lacks packets", &lost, more);
        g_free(more);
    }
    if (cut.frames->len > 0 && (unreadable > 0 || !has_samples || has_book(monitor, BOOK_CUT))) {
        say(monitor, VERDICT_CUT, "cuts frames short", &cut, NULL);
    }
    g_array_unref(lost.frames);
    g_array_unref(cut.frames);
}
