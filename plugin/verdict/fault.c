/* fault.c
 * Whose fault it is that a sample came late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/fault.h"

/* Events that are looked at for one question. */
#define MOST_EVENTS_LOOKED_AT 1000

/* The first event that is not before a moment. */
static unsigned first_at(const GArray *events, double begin)
{
    unsigned low = 0, high = events->len;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (g_array_index(events, wire_event, middle).time < begin) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static const wire_event *find_event(const verdict_connection *connection, wire_kind kind, double begin, double end)
{
    const GArray *events = connection ? connection->events : NULL;
    unsigned first = events ? first_at(events, begin) : 0;

    for (unsigned i = first; events && i < events->len && i - first < MOST_EVENTS_LOOKED_AT; i++) {
        const wire_event *event = &g_array_index(events, wire_event, i);
        if (event->time > end) {
            return NULL;
        }
        if (event->kind == kind) {
            return event;
        }
    }
    return NULL;
}

const wire_event *verdict_fault_event(const verdict_connection *connection, wire_kind kind, uint32_t about)
{
    const GArray *events = connection ? connection->events : NULL;
    unsigned low = 0, high = events ? events->len : 0;

    while (low < high) { /* in the order of their frames, too */
        unsigned middle = (low + high) / 2;
        if (g_array_index(events, wire_event, middle).frame < about) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (unsigned i = low; events && i < events->len && i - low < MOST_EVENTS_LOOKED_AT; i++) {
        const wire_event *event = &g_array_index(events, wire_event, i);
        if (event->kind == kind && event->about == about) {
            return event;
        }
    }
    return NULL;
}

const wire_event *verdict_fault_lost(const verdict_connection *connection, double begin, double end)
{
    return find_event(connection, WIRE_LOST, begin, end);
}

const wire_event *verdict_fault_resent(const verdict_connection *connection, double begin, double end)
{
    return find_event(connection, WIRE_RESENT, begin, end);
}

bool verdict_fault_left(const verdict_connection *connection, double begin, double end)
{
    const wire_event *event = find_event(connection, WIRE_PIPE_CLOSED, begin, end);

    event = event ? event : find_event(connection, WIRE_ENDED, begin, end);
    return event && event->by_client;
}

/* Calls between the two that failed, brought no data or were never answered are findings of their own. */
static bool is_said_already(const verdict_monitor *monitor, unsigned before, unsigned late)
{
    for (unsigned i = before + 1; i < late && i - before < MOST_EVENTS_LOOKED_AT; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->asks && (call->outcome == CALL_FAILED || call->outcome == CALL_DAMAGED ||
                           call->outcome == CALL_EMPTY || call->outcome == CALL_NO_DATA)) {
            return true;
        }
    }
    return false;
}

static const verdict_call *unanswered(const verdict_monitor *monitor, unsigned before, unsigned late)
{
    for (unsigned i = before + 1; i < late && i - before < MOST_EVENTS_LOOKED_AT; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->asks && call->outcome == CALL_WAITS) {
            return call;
        }
    }
    return NULL;
}

/* How long a connection took, whose first packet had to be sent again. */
static double connect_seconds(const verdict_connection *connection)
{
    return connection->syns && connection->syns->len > 1 ? connection->connected - connection->since : 0;
}

static verdict_blame blame_answer(const verdict_call *call, const wire_event *late_ack)
{
    bool is_pending = verdict_fault_event(call->connection, WIRE_PENDING, call->asked_frame) != NULL;
    bool acks_alone = call->connection && call->connection->acks_alone;

    if (late_ack && acks_alone && !is_pending) {
        return (verdict_blame){VERDICT_RESENT, PARTY_NETWORK, late_ack->frame, late_ack->time};
    }
    return (verdict_blame){VERDICT_ANSWERED_LATE, acks_alone || is_pending ? PARTY_SERVER : PARTY_UNKNOWN, call->frame,
                           call->answered};
}

verdict_blame verdict_fault(const verdict_monitor *monitor, unsigned before, unsigned late, bool is_answer)
{
    const verdict_call *first = verdict_call_at(monitor, before), *call = verdict_call_at(monitor, late);
    double begin = MAX(first->answered, first->asked), end = call->answered;
    const wire_event *lost = verdict_fault_lost(call->connection, begin, end);
    const wire_event *zero = find_event(call->connection, WIRE_ZERO_WINDOW, begin, end);
    const wire_event *resent = verdict_fault_resent(call->connection, begin, end);

    const wire_event *ended = find_event(first->connection, WIRE_ENDED, begin, end);
    bool is_cut = find_event(call->connection, WIRE_CUT, begin, end) && unanswered(monitor, before, late);

    if (is_said_already(monitor, before, late) || is_cut ||
        (ended && !ended->by_client && verdict_has(monitor, VERDICT_BROKEN))) {
        return (verdict_blame){VERDICT_NUM_KINDS, PARTY_UNKNOWN, 0, 0};
    }
    if (first->connection != call->connection && call->connection &&
        connect_seconds(call->connection) > (end - begin) / 2) {
        return (verdict_blame){VERDICT_RESENT, PARTY_NETWORK, g_array_index(call->connection->syns, uint32_t, 1),
                               call->connection->resent};
    }
    if (lost) {
        return (verdict_blame){VERDICT_LOST, PARTY_CAPTURE, lost->frame, lost->time};
    }
    if (zero) {
        return (verdict_blame){VERDICT_ZERO_WINDOW, zero->by_client ? PARTY_CLIENT : PARTY_SERVER, zero->frame,
                               zero->time};
    }
    const verdict_call *waits = unanswered(monitor, before, late);
    if (waits) {
        bool is_said = verdict_has(monitor, VERDICT_UNANSWERED) || verdict_has(monitor, VERDICT_BROKEN);
        return (verdict_blame){is_said ? VERDICT_NUM_KINDS : VERDICT_ANSWERED_LATE, PARTY_UNKNOWN, waits->asked_frame,
                               waits->asked};
    }
    if (resent && (is_answer || resent->time < call->asked)) {
        return (verdict_blame){VERDICT_RESENT, PARTY_NETWORK, resent->frame, resent->time};
    }
    if (is_answer) {
        return blame_answer(call, verdict_fault_event(call->connection, WIRE_ACKED_LATE, call->asked_frame));
    }
    return (verdict_blame){VERDICT_ASKED_LATE, PARTY_CLIENT, call->asked_frame ? call->asked_frame : call->frame,
                           call->asked > 0 ? call->asked : call->answered};
}

double verdict_fault_connecting(const verdict_call *before, const verdict_call *call)
{
    bool is_new =
        call->connection && call->connection != before->connection && call->connection->since >= before->answered;

    return is_new ? MAX(connect_seconds(call->connection), 0) : 0;
}

void verdict_fault_all_resent(const verdict_monitor *monitor, unsigned before, unsigned late, verdict_shown *shown)
{
    const verdict_call *first = verdict_call_at(monitor, before), *call = verdict_call_at(monitor, late);
    const GArray *events = call->connection ? call->connection->events : NULL;
    unsigned begin = events ? first_at(events, first->answered) : 0;

    for (unsigned i = begin; events && i < events->len && i - begin < MOST_EVENTS_LOOKED_AT; i++) {
        const wire_event *event = &g_array_index(events, wire_event, i);
        if (event->time <= call->answered && (event->kind == WIRE_RESENT || event->kind == WIRE_ACKED_LATE)) {
            verdict_show(shown, event->frame, event->time);
        }
    }
    for (unsigned i = 1; verdict_fault_connecting(first, call) > 0 && i < call->connection->syns->len; i++) {
        verdict_show(shown, g_array_index(call->connection->syns, uint32_t, i), call->connection->resent);
    }
}
