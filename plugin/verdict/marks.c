/* marks.c
 * Calls of a monitor as marks on a line of time: what the sentences say of a call is its mark.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/marks.h"

#define MARK_NAME(mark, name) name,
const char *const verdict_mark_names[VERDICT_NUM_MARKS] = {VERDICT_MARKS(MARK_NAME)};

static const struct {
    verdict_kind kind;
    verdict_mark_kind mark;
} marks_of_findings[] = {
    {VERDICT_SLOW, VERDICT_MARK_SLOW},
    {VERDICT_ASKED_LATE, VERDICT_MARK_LATE},
    {VERDICT_NO_DATA, VERDICT_MARK_EMPTY},
    {VERDICT_DAMAGED, VERDICT_MARK_MALFORMED},
    {VERDICT_OTHER_CLOCK, VERDICT_MARK_RESTARTED},
};

/* Returns the mark that a finding gives the call, or `otherwise`. */
static verdict_mark_kind mark_of_findings(const verdict_monitor *monitor, const verdict_call *call,
                                          verdict_mark_kind otherwise)
{
    verdict_mark_kind mark = otherwise;

    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        for (unsigned i = 0; i < G_N_ELEMENTS(marks_of_findings); i++) {
            if (marks_of_findings[i].kind == f->kind &&
                (verdict_finding_has(f, call->frame) || verdict_finding_has(f, call->asked_frame))) {
                mark = MAX(mark, marks_of_findings[i].mark);
            }
        }
    }
    return mark;
}

/* A request in fragments is two calls: the one of its last fragment waits while the other one is answered. */
static bool is_answered_beside(const verdict_monitor *monitor, const verdict_call *call)
{
    for (const verdict_call *other = call > monitor->calls ? call - 1 : call; other < monitor->end && other <= call + 1;
         other++) {
        if (other != call && other->talk == call->talk && other->operation == call->operation &&
            other->answered > call->asked && other->asked <= call->asked) {
            return true;
        }
    }
    return false;
}

/* Returns false for a call that has no mark. A request at the end of the capture may have been answered later. */
static bool find_mark(const verdict_monitor *monitor, const verdict_call *call, verdict_mark_kind *mark)
{
    bool is_lost = verdict_has(monitor, VERDICT_LOST) && !verdict_has(monitor, VERDICT_UNANSWERED);

    switch ((call_outcome)call->outcome) {
    case CALL_FAILED:
        *mark = VERDICT_MARK_FAILED;
        return true;
    case CALL_SAMPLE:
        *mark = mark_of_findings(monitor, call, VERDICT_MARK_ANSWERED);
        return true;
    case CALL_DAMAGED:
        *mark = VERDICT_MARK_MALFORMED;
        return call->asks;
    case CALL_EMPTY:
    case CALL_NO_DATA:
        *mark = VERDICT_MARK_EMPTY;
        return call->asks;
    case CALL_PROBE:
        *mark = mark_of_findings(monitor, call, VERDICT_MARK_ANSWERED);
        return *mark == VERDICT_MARK_EMPTY;
    case CALL_WAITS:
        *mark = is_lost ? VERDICT_MARK_NOT_CAPTURED : VERDICT_MARK_UNANSWERED;
        return call->asks && !is_answered_beside(monitor, call) &&
               (call + 1 < monitor->end || verdict_has(monitor, VERDICT_UNANSWERED));
    case CALL_DONE:
        break;
    }
    return false;
}

static int compare_marks(const void *a, const void *b)
{
    const verdict_mark *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

GArray *verdict_find_marks(const verdict_monitor *monitor)
{
    GArray *marks = g_array_new(FALSE, FALSE, sizeof(verdict_mark));
    bool any_lost = false;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_answered = call->answered > 0;
        verdict_mark mark = {is_answered ? call->answered : call->asked, call->seconds,
                             is_answered ? call->frame : call->asked_frame, VERDICT_MARK_ANSWERED};
        if (find_mark(monitor, call, &mark.kind)) {
            any_lost |= mark.kind == VERDICT_MARK_NOT_CAPTURED;
            g_array_append_val(marks, mark);
        }
    }
    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        if (f->kind == VERDICT_LOST && !any_lost && f->since > 0) {
            const verdict_mark mark = {f->since, -1, f->frames[0], VERDICT_MARK_NOT_CAPTURED};
            g_array_append_val(marks, mark);
        }
    }
    g_array_sort(marks, compare_marks);
    return marks;
}
