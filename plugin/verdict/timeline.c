/* timeline.c
 * The verdict for readers without Wireshark.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/timeline.h"

#define STATE_NAME(state, name) name,
const char *const timeline_state_names[NUM_TIMELINE_STATES] = {TIMELINE_STATES(STATE_NAME)};

static const struct {
    verdict_kind kind;
    timeline_state state;
} states_of_findings[] = {
    {VERDICT_SLOW, TIMELINE_SLOW},         {VERDICT_ASKED_LATE, TIMELINE_LATE},       {VERDICT_NO_DATA, TIMELINE_EMPTY},
    {VERDICT_DAMAGED, TIMELINE_MALFORMED}, {VERDICT_OTHER_CLOCK, TIMELINE_RESTARTED},
};

/* Returns the worst state that findings give a call by its frames; TIMELINE_ANSWERED: none does. */
static timeline_state find_state_of_findings(const verdict_monitor *monitor, const monitor_call *call)
{
    timeline_state state = TIMELINE_ANSWERED;

    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        for (unsigned i = 0; i < G_N_ELEMENTS(states_of_findings); i++) {
            if (states_of_findings[i].kind == f->kind &&
                (verdict_finding_has(f, call->frame) || verdict_finding_has(f, call->asked_frame))) {
                state = MAX(state, states_of_findings[i].state);
            }
        }
    }
    return state;
}

/* Returns a call's state; NUM_TIMELINE_STATES: not shown, as calls for no data, most size probes, and a last request, answered perhaps later. */
static timeline_state find_state(const verdict_monitor *monitor, const monitor_call *call)
{
    static const timeline_state states[] = {[CALL_SAMPLE] = TIMELINE_ANSWERED,
                                            [CALL_PROBE] = TIMELINE_ANSWERED,
                                            [CALL_EMPTY] = TIMELINE_EMPTY,
                                            [CALL_DAMAGED] = TIMELINE_MALFORMED,
                                            [CALL_FAILED] = TIMELINE_FAILED};
    bool is_told = monitor_has(monitor, VERDICT_UNANSWERED);
    bool is_last = call + 1 == monitor->end && !is_told;

    if (call->outcome == CALL_DONE || !(call->asks || call->outcome == CALL_FAILED)) {
        return NUM_TIMELINE_STATES;
    }
    if (call->outcome == CALL_WAITS) {
        return is_last                                          ? NUM_TIMELINE_STATES
               : monitor_has(monitor, VERDICT_LOST) && !is_told ? TIMELINE_NOT_CAPTURED
                                                                : TIMELINE_UNANSWERED;
    }
    timeline_state state = MAX(states[call->outcome], find_state_of_findings(monitor, call));
    return call->outcome == CALL_PROBE && state != TIMELINE_EMPTY ? NUM_TIMELINE_STATES : state;
}

static int compare_timeline_calls(const void *a, const void *b)
{
    const timeline_call *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

GArray *timeline_find_calls(const verdict_monitor *monitor)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(timeline_call));
    bool any_lost = false;

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_answered = call->answered > 0;
        timeline_call one = {is_answered ? call->answered : call->asked, is_answered ? call->seconds : -1,
                             is_answered ? call->frame : call->asked_frame, find_state(monitor, call)};
        if (one.state < NUM_TIMELINE_STATES) {
            any_lost |= one.state == TIMELINE_NOT_CAPTURED;
            g_array_append_val(found, one);
        }
    }
    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        if (f->kind == VERDICT_LOST && !any_lost && f->since > 0) {
            const timeline_call one = {f->since, -1, f->frames[0], TIMELINE_NOT_CAPTURED};
            g_array_append_val(found, one);
        }
    }
    g_array_sort(found, compare_timeline_calls);
    return found;
}

const char *format_finding_what(const verdict_monitor *monitor, const verdict_finding *finding)
{
    const char *lead = finding->kind <= VERDICT_REFUSED_CONNECTION ? ", port "
                       : finding->kind >= VERDICT_NOT_DELIVERED    ? ", first "
                                                                   : NULL;
    const char *what = verdict_rows[finding->kind].what;

    return lead && finding->which ? wmem_strconcat(monitor->pool, what, lead, finding->which, NULL) : what;
}

const char *format_finding_who(const verdict_monitor *monitor, const verdict_finding *finding)
{
    static const char *const parties[] = {[PARTY_CLIENT] = "Client ",
                                          [PARTY_SERVER] = "Server ",
                                          [PARTY_NETWORK] = "Network to ",
                                          [PARTY_CAPTURE] = "Capture"};
    const char *name = finding->party == PARTY_CAPTURE  ? ""
                       : finding->party == PARTY_CLIENT ? monitor_client(monitor)
                                                        : monitor_server(monitor);

    return finding->party == PARTY_UNKNOWN ? wmem_strconcat(monitor->pool, monitor_client(monitor), " to ", name, NULL)
                                           : wmem_strconcat(monitor->pool, parties[finding->party], name, NULL);
}
