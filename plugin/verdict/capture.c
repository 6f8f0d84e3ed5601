/* capture.c
 * What the capture itself lacks of a monitor: packets that were lost or cut when they were captured. Those that did no harm are no finding.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

/* Events of a kind on all of the monitor's connections, between two frames. What came later in the capture is not lost. */
static verdict_shown events_of(const verdict_monitor *monitor, wire_kind kind, bool came_later, uint32_t first,
                               uint32_t last)
{
    GHashTable *seen = g_hash_table_new(g_direct_hash, g_direct_equal);
    verdict_shown shown = {.pool = monitor->pool};

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_connection *connection = verdict_call_at(monitor, i)->connection;
        bool is_new = connection && g_hash_table_add(seen, (void *)(uintptr_t)connection);
        for (unsigned n = 0; is_new && n < wmem_array_get_count(connection->events); n++) {
            const wire_event *event = verdict_wire_event(connection, n);
            if (event->kind == kind && event->came_later == came_later && event->frame >= first &&
                event->frame <= last) {
                verdict_show(&shown, event->frame, event->time);
            }
        }
    }
    g_hash_table_destroy(seen);
    return shown;
}

/* The first frame of a book; UINT32_MAX: it has none. */
static uint32_t first_in(const verdict_monitor *monitor, book_kind kind)
{
    uint32_t first = UINT32_MAX;

    for (unsigned i = 0; i < monitor->talks->len; i++) {
        const verdict_shown *shown = &((const verdict_talk *)g_ptr_array_index(monitor->talks, i))->books[kind].shown;
        first = shown->frames ? MIN(first, shown->first) : first;
    }
    return first;
}

void verdict_capture_find(const verdict_monitor *monitor, bool lacks_some)
{
    unsigned answers = 0, requests = 0, unreadable = 0, count = monitor->calls->len;
    uint32_t doubt = MIN(first_in(monitor, BOOK_ASSUMED), first_in(monitor, BOOK_UNTYPED));
    bool is_doubtful = doubt < UINT32_MAX;
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
    uint32_t end = MAX(last->asked_frame, last->frame);
    verdict_shown lost = events_of(monitor, WIRE_LOST, false, begin, end), late = {.pool = monitor->pool};
    verdict_shown unasked = events_of(monitor, WIRE_UNASKED, false, begin, end);
    requests += verdict_count_shown(&unasked);
    bool lacks_ends = unreadable > 0 || !has_samples || first_in(monitor, BOOK_CUT) < UINT32_MAX;
    /* what was cut before they came may have said whose the doubtful values are, and of which type */
    verdict_shown cut = events_of(monitor, WIRE_CUT, false, 0, lacks_ends ? UINT32_MAX : doubt);
    if (lacks_some || is_doubtful || answers + requests > 0 || !has_samples) {
        late = lost.frames ? late : events_of(monitor, WIRE_LOST, true, begin, end);
        late.more = answers > 0 ? wmem_strdup_printf(monitor->pool, "answers that were not read: %u", answers) : NULL;
        lost.more =
            answers + requests > 0
                ? wmem_strdup_printf(monitor->pool, "answers missing: %u; requests missing: %u", answers, requests)
                : NULL; /* of a call of which both were lost there is no trace */
        verdict_find(monitor, VERDICT_LOST, PARTY_CAPTURE, &lost, "The capture lacks packets of $C and $S: since $T");
        verdict_find(monitor, VERDICT_OUT_OF_ORDER, PARTY_CAPTURE, &late,
                     "The capture has packets of $C and $S in the wrong order$N: since $T");
    }
    if (lacks_ends || is_doubtful) {
        verdict_find(monitor, VERDICT_CUT, PARTY_CAPTURE, &cut, "The capture cuts frames of $C and $S short: since $T");
    }
}
