/* fault.c
 * Whose fault it is that a sample came late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/fault.h"

#include <math.h>

/* Events that are looked at for one question. */
#define MOST_EVENTS_LOOKED_AT 1000

/* Calls to each side of a late one, of which some may go by another connection in turn. */
#define CALLS_BESIDE 8

/* The first event that is not before a moment, or a frame: they are in the order of both. */
static unsigned first_at(const verdict_connection *connection, double begin, uint32_t frame)
{
    unsigned first = 0, count = connection ? wmem_array_get_count(connection->events) : 0;

    for (unsigned step = 1U << 30; step > 0; step /= 2) {
        const wire_event *event = first + step <= count ? verdict_wire_event(connection, first + step - 1) : NULL;
        first += event && (event->time < begin || event->frame < frame) ? step : 0;
    }
    return first;
}

/* The next of those that are looked at, NULL after the last. */
static const wire_event *next_event(const verdict_connection *connection, unsigned first, unsigned number, double end)
{
    bool is_there =
        connection && number < MOST_EVENTS_LOOKED_AT && first + number < wmem_array_get_count(connection->events);
    const wire_event *event = is_there ? verdict_wire_event(connection, first + number) : NULL;

    return event && event->time <= end ? event : NULL;
}

/* The first of a kind; `about`: and about this frame, 0: any. */
static const wire_event *find_event(const verdict_connection *connection, wire_kind kind, unsigned first,
                                    uint32_t about, double end)
{
    unsigned i = 0;
    const wire_event *event;

    while ((event = next_event(connection, first, i++, end)) != NULL &&
           (event->kind != kind || (about > 0 && event->about != about))) {
    }
    return event;
}

const wire_event *verdict_fault_event(const verdict_connection *connection, wire_kind kind, double begin, double end)
{
    return find_event(connection, kind, first_at(connection, begin, 0), 0, end);
}

const wire_event *verdict_fault_about(const verdict_connection *connection, wire_kind kind, uint32_t about)
{
    return find_event(connection, kind, first_at(connection, -INFINITY, about), about, INFINITY);
}

bool verdict_fault_left(const verdict_connection *connection, double begin, double end)
{
    const wire_event *event = verdict_fault_event(connection, WIRE_PIPE_CLOSED, begin, end);

    event = event ? event : verdict_fault_event(connection, WIRE_ENDED, begin, end);
    return event && event->by_client;
}

#define HAS(outcome) (1u << (outcome))

/* The first call for data between the two that ended in one of these; NULL without one. */
static const verdict_call *call_between(const verdict_monitor *monitor, unsigned before, unsigned late,
                                        unsigned outcomes)
{
    for (unsigned i = before + 1; i < late && i - before < MOST_EVENTS_LOOKED_AT; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->asks && (outcomes & HAS(call->outcome))) {
            return call;
        }
    }
    return NULL;
}

/* How long a connection took, whose first packet had to be sent again. */
static double connect_seconds(const verdict_connection *connection)
{
    return wmem_array_get_count(connection->syns) > 1 ? connection->connected - connection->since : 0;
}

static verdict_blame blame_answer(const verdict_call *call, const wire_event *late_ack)
{
    bool is_pending = verdict_fault_about(call->connection, WIRE_PENDING, call->asked_frame) != NULL;
    bool acks_alone = call->connection && call->connection->acks_alone;

    if (late_ack && acks_alone && !is_pending) {
        return (verdict_blame){VERDICT_RESENT, PARTY_NETWORK, late_ack->frame, late_ack->time};
    }
    return (verdict_blame){VERDICT_ANSWERED_LATE, acks_alone || is_pending ? PARTY_SERVER : PARTY_UNKNOWN, call->frame,
                           call->answered};
}

/* Failed, brought no data, or was never answered: that is a finding of its own. */
static bool is_said_already(const verdict_monitor *monitor, unsigned before, unsigned late, double begin, double end)
{
    const verdict_call *first = verdict_call_at(monitor, before), *call = verdict_call_at(monitor, late);
    const wire_event *ended = verdict_fault_event(first->connection, WIRE_ENDED, begin, end);
    unsigned failed = HAS(CALL_FAILED) | HAS(CALL_DAMAGED) | HAS(CALL_EMPTY) | HAS(CALL_NO_DATA);
    bool is_unanswered = call_between(monitor, before, late, HAS(CALL_WAITS)) != NULL;

    return call_between(monitor, before, late, failed) ||
           (is_unanswered && verdict_fault_event(call->connection, WIRE_CUT, begin, end)) ||
           (ended && !ended->by_client && verdict_has(monitor, VERDICT_BROKEN));
}

static verdict_blame blame(verdict_kind kind, verdict_party party, const wire_event *event)
{
    return (verdict_blame){kind, party, event->frame, event->time};
}

const wire_event *verdict_fault_lost(const verdict_monitor *monitor, unsigned before, unsigned late)
{
    const verdict_call *first = verdict_call_at(monitor, before), *call = verdict_call_at(monitor, late);
    unsigned begin = before > CALLS_BESIDE ? before - CALLS_BESIDE : 0;
    const verdict_connection *looked_at = NULL;

    for (unsigned i = begin; i < monitor->calls->len && i <= late + CALLS_BESIDE; i++) {
        const verdict_connection *connection = verdict_call_at(monitor, i)->connection;
        const wire_event *event =
            connection == looked_at
                ? NULL
                : verdict_fault_event(connection, WIRE_LOST, MAX(first->answered, first->asked), INFINITY);
        if (event && event->since < call->answered) {
            return event;
        }
        looked_at = connection;
    }
    return NULL;
}

verdict_blame verdict_fault(const verdict_monitor *monitor, unsigned before, unsigned late, bool is_answer)
{
    const verdict_call *first = verdict_call_at(monitor, before), *call = verdict_call_at(monitor, late);
    const verdict_call *waits = call_between(monitor, before, late, HAS(CALL_WAITS));
    const verdict_connection *connection = call->connection;
    double begin = MAX(first->answered, first->asked), end = call->answered;
    const wire_event *lost = verdict_fault_lost(monitor, before, late);
    const wire_event *zero = verdict_fault_event(connection, WIRE_ZERO_WINDOW, begin, end);
    const wire_event *resent = verdict_fault_event(connection, WIRE_RESENT, begin, end);

    if (is_said_already(monitor, before, late, begin, end)) {
        return (verdict_blame){VERDICT_NUM_KINDS, PARTY_UNKNOWN, 0, 0};
    }
    if (first->connection != connection && connection && connect_seconds(connection) > (end - begin) / 2) {
        return (verdict_blame){VERDICT_RESENT, PARTY_NETWORK, verdict_wire_syn(connection, 1), connection->resent};
    }
    if (lost) {
        return blame(VERDICT_LOST, PARTY_CAPTURE, lost);
    }
    if (zero) {
        return blame(VERDICT_ZERO_WINDOW, zero->by_client ? PARTY_CLIENT : PARTY_SERVER, zero);
    }
    if (waits && (verdict_has(monitor, VERDICT_UNANSWERED) || verdict_has(monitor, VERDICT_BROKEN))) {
        return (verdict_blame){VERDICT_NUM_KINDS, PARTY_UNKNOWN, 0, 0};
    }
    if (resent && (is_answer || waits || resent->time < call->asked)) {
        return blame(VERDICT_RESENT, PARTY_NETWORK, resent);
    }
    if (waits) {
        return (verdict_blame){VERDICT_ANSWERED_LATE, PARTY_UNKNOWN, waits->asked_frame, waits->asked};
    }
    if (is_answer) {
        return blame_answer(call, verdict_fault_about(connection, WIRE_ACKED_LATE, call->asked_frame));
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
    unsigned begin = first_at(call->connection, MAX(first->answered, first->asked), 0);
    unsigned n = 0;
    const wire_event *event;

    while ((event = next_event(call->connection, begin, n++, call->answered)) != NULL) {
        if (event->kind == WIRE_RESENT || event->kind == WIRE_ACKED_LATE) {
            verdict_show(shown, event->frame, event->time);
        }
    }
    bool is_new = verdict_fault_connecting(first, call) > 0;
    for (unsigned i = 1; is_new && i < wmem_array_get_count(call->connection->syns); i++) {
        verdict_show(shown, verdict_wire_syn(call->connection, i), call->connection->resent);
    }
}
