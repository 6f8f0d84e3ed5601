/* plan.c
 * When a client asks, what came later than that, and whose fault it was; and what changed for good.
 *
 * A client keeps a plan: one interval, two samples in each, another interval since some moment, or none. It is learned from the times
 * between samples that recur. What an answer took too long is taken off first: that is not the client's plan. A time is late if it is
 * half as long again as what is usual around it, recurs nowhere, and the client had not closed its query or connection in it. What lies
 * within a late time decides whose fault it is, and nothing else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "perf/summary.h"

#include <math.h>

/* A time is late from so many times the usual one on; there have to be so many that recur, and so many to each side are looked at. */
#define LATE 1.5
#define FEWEST 3
#define BESIDE 3
#define MOST_BESIDE 100

/* Samples come in pairs if there are so many, and not more than one of so many is broken. */
#define FEWEST_PAIRS 4
#define PAIRS_KEPT 5

/* Groups of samples are at least so many times as far from each other as those in one; three have at most so many each. */
#define LEAST_APART 10
#define MOST_GROUPED 10

/* Times within VERDICT_ALIKE are one; a list of them ends at twice its first. */
#define ALIKE_SECONDS 0.05

/* Answers are slow for good if nine of ten from one on take so many times as long as the first ones, and this many seconds longer, or
 * always if they take so long. One alone is late if it takes so much longer, whenever its sample was due. */
#define SLOW 4
#define SLOW_SECONDS 0.1
#define SLOW_ALWAYS 1.0
#define LONG_ANSWER 5.0
#define FIRST_ONES 5
#define MANY_SLOW 5

/* Seconds by which a machine's clock differs from the capture's before it is another machine's; seconds in which each clock ticks; samples
 * of which one stands still. */
#define OTHER_CLOCK 60.0
#define LONG_TICK 0.5
#define CLOCK_SAMPLES 3

/* Calls within a late time that are looked at; and calls to each side of it, of which some may go by another connection in turn. */
#define MOST_WITHIN 1000
#define CALLS_BESIDE 8

/* From one sample to the next. */
typedef struct {
    const verdict_call *before, *call;
    double gap, wait;  /* seconds, and how much of them the client waited for answers */
    double usual_wait; /* there */
    double own;        /* without what that was too long */
    bool is_excused;
    bool recurs;
    bool is_slow;
} plan_gap;

typedef struct {
    verdict_monitor *monitor;
    const GPtrArray *all; /* of the capture */
    size_t num_calls;
    plan_gap *gaps;
    unsigned count;
    double *asked; /* when data was asked for, ascending */
    size_t num_asked;
    double usual, middle;          /* the longest that recurs, and the median of all gaps */
    unsigned recurring;            /* gaps that do */
    double pair;                   /* how soon after a long one a second sample comes, 0: in no such plan; */
    unsigned last_pair;            /* and its last */
    double *responses;             /* of samples: how long each took to be answered, */
    const verdict_call **answered; /* and which calls they are */
    unsigned num_answered;
    double slow; /* how long answers take that are slow for good */
} plan;

/* --- Gaps ------------------------------------------------------------------------------------------------------ */

/* When its newest packet came. */
static double end_of(const verdict_call *call)
{
    return MAX(call->answered, call->asked);
}

/* The client had closed its query or its pipe, or goes on by another connection: how the old one ended is another matter. */
static bool is_excused(const verdict_call *before, const verdict_call *call)
{
    const verdict_talk *talk = before->talk;
    bool is_closed = talk->is_sealed ? talk->is_closed : talk->closed_frame > 0;

    return talk != call->talk &&
           (is_closed || before->connection != call->connection ||
            verdict_wire_find(before->connection, WIRE_PIPE_CLOSED, 0, before->answered, call->answered));
}

/* How long the later call's connection took, of which a SYN was sent again; 0 if it was not made between the two. */
static double connecting(const verdict_call *before, const verdict_call *call)
{
    const verdict_connection *connection = call->connection;
    bool is_new = connection && connection != before->connection && connection->since >= before->answered;

    return is_new && wmem_array_get_count(connection->syns) > 1 ? MAX(connection->connected - connection->since, 0) : 0;
}

/* Samples of HKEY_PERFORMANCE_DATA that answer other questions have a plan of their own. */
static void take_gaps(plan *p)
{
    const verdict_monitor *monitor = p->monitor;
    wmem_map_t *newest = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);
    double *waits = wmem_alloc0_array(monitor->pool, double, p->num_calls + 1); /* for all answers until each call */

    /* the connection of the next sample: what is asked by others keeps it waiting for nothing */
    const verdict_connection *line = NULL;
    for (const verdict_call *call = monitor->end; call-- > monitor->calls;) {
        line = call->outcome == CALL_SAMPLE ? call->connection : line;
        waits[call - monitor->calls + 1] = call->connection == line ? MAX(call->seconds, 0) : 0;
    }
    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        double *waited = &waits[call - monitor->calls + 1];
        waited[0] += waited[-1];
        if (call->outcome != CALL_SAMPLE || call->answered <= 0) {
            continue;
        }
        void *question = GUINT_TO_POINTER(monitor->talks->is_hkpd ? call->subject : 0);
        const verdict_call *before = wmem_map_lookup(newest, question);
        if (before && call->answered > before->answered) {
            double gap = call->answered - before->answered;
            double wait = *waited - waits[before - monitor->calls + 1] + connecting(before, call);
            p->gaps[p->count++] =
                (plan_gap){before, call, gap, .wait = MIN(wait, gap), .is_excused = is_excused(before, call)};
        }
        wmem_map_insert(newest, question, (void *)(uintptr_t)call);
    }
}

static void take_wait_off(plan_gap *gap, double usual)
{
    gap->usual_wait = usual;
    gap->own = MAX(gap->gap - MAX(gap->wait - usual, 0), 1e-6);
}

/* How long the client waits at each gap is usual by the five before it, or by the first ones at the beginning. */
static void take_waits_off(plan *p)
{
    double waits[FIRST_ONES];

    for (unsigned i = 0; i < p->count; i++) {
        unsigned begin = i > BESIDE ? MAX(i, FIRST_ONES) - FIRST_ONES : 0;
        unsigned end = i > BESIDE ? i : MIN(p->count, FIRST_ONES);
        for (unsigned n = begin; n < end; n++) {
            waits[n - begin] = p->gaps[n].wait;
        }
        take_wait_off(&p->gaps[i], perf_median(waits, end - begin));
    }
}

/* --- What recurs ----------------------------------------------------------------------------------------------- */

static int compare_gaps(const void *a, const void *b)
{
    return perf_compare_numbers(&(*(plan_gap *const *)a)->own, &(*(plan_gap *const *)b)->own);
}

static int compare_places(const void *a, const void *b)
{
    const plan_gap *x = *(plan_gap *const *)a, *y = *(plan_gap *const *)b;

    return (x > y) - (x < y);
}

/* Gaps that are alike recur if they are a quarter of all, three of them stand side by side, or they stand at even distances; and those that
 * are far longer than others, as between groups: three, or two of a few samples. */
static bool is_recurring(plan_gap **alike, unsigned count, unsigned of_all, bool is_far)
{
    unsigned run = 1, longest = 1, nearest = UINT_MAX, farthest = 0;

    qsort(alike, count, sizeof *alike, compare_places);
    for (unsigned i = 1; i < count; i++) {
        unsigned distance = (unsigned)(alike[i] - alike[i - 1]);
        run = distance == 1 ? run + 1 : 1;
        longest = MAX(longest, run);
        nearest = MIN(nearest, distance);
        farthest = MAX(farthest, distance);
    }
    return (count > 1 && (4 * count >= of_all || (is_far && of_all < FEWEST * MOST_GROUPED))) || longest >= FEWEST ||
           (count >= FEWEST && (is_far || farthest - nearest <= 1));
}

static void find_recurring(plan *p)
{
    plan_gap **sorted = wmem_alloc_array(p->monitor->pool, plan_gap *, p->count + 1);
    unsigned begin = 0, count = 0;

    for (unsigned i = 0; i < p->count; i++) {
        if (!p->gaps[i].is_excused) {
            sorted[count++] = &p->gaps[i];
        }
    }
    qsort(sorted, count, sizeof *sorted, compare_gaps);
    for (unsigned i = 1; i <= count; i++) {
        double own = i < count ? sorted[i]->own : INFINITY;
        if (own <= sorted[i - 1]->own * VERDICT_ALIKE + ALIKE_SECONDS && own <= 2 * sorted[begin]->own) {
            continue;
        }
        bool is_far = sorted[begin]->own >= LEAST_APART * sorted[count / 2]->own;
        bool recurs = is_recurring(&sorted[begin], i - begin, count, is_far);
        for (; begin < i; begin++) {
            sorted[begin]->recurs = recurs;
        }
    }
}

static bool is_long(const plan *p, unsigned number)
{
    return p->gaps[number].recurs && p->gaps[number].own * VERDICT_ALIKE >= p->usual;
}

/* After each long time comes a short one: the samples come in pairs. */
static void find_pairs(plan *p)
{
    unsigned kept = 0, broken = 0;
    double pair = 0;

    for (unsigned i = 1; i < p->count; i++) {
        bool is_second = is_long(p, i - 1) && p->gaps[i].recurs && LATE * p->gaps[i].own < p->usual;
        broken += is_long(p, i - 1) && !is_second;
        kept += is_second;
        pair = is_second ? MAX(pair, p->gaps[i].own) : pair;
        p->last_pair = is_second ? i : p->last_pair;
    }
    p->pair = kept >= FEWEST_PAIRS && PAIRS_KEPT * broken <= kept ? pair : 0;
}

/* The longest that recurs among the next ones to a side; 0: none. */
static double longest_beside(const plan *p, unsigned number, int side)
{
    double longest = 0;
    unsigned seen = 0, looked_at = 0;

    for (unsigned i = number + (unsigned)side; i < p->count && seen < BESIDE && looked_at < MOST_BESIDE;
         i += (unsigned)side, looked_at++) {
        seen += !p->gaps[i].is_excused;
        longest = p->gaps[i].recurs ? MAX(longest, p->gaps[i].own) : longest;
    }
    return longest;
}

/* The median of gaps from one call to before another. */
static double usual_gap(const plan *p, bool with_excused, const verdict_call *begin, const verdict_call *end)
{
    double *gaps = wmem_alloc_array(p->monitor->pool, double, p->count + 1);
    unsigned count = 0;

    for (unsigned i = 0; i < p->count; i++) {
        const plan_gap *gap = &p->gaps[i];
        if (gap->before >= begin && gap->call < end && (with_excused || !gap->is_excused)) {
            gaps[count++] = gap->gap;
        }
    }
    return perf_median(gaps, count);
}

static void learn(plan *p)
{
    for (const verdict_call *call = p->monitor->calls; call < p->monitor->end; call++) {
        p->asked[p->num_asked] = call->asked;
        p->num_asked += call->asks && call->asked > 0;
        p->responses[p->num_answered] = call->seconds;
        p->answered[p->num_answered] = call;
        p->num_answered += call->outcome == CALL_SAMPLE && call->seconds >= 0 && !call->goes_back;
    }
    qsort(p->asked, p->num_asked, sizeof *p->asked, perf_compare_numbers);
    take_gaps(p);
    take_waits_off(p);
    find_recurring(p);
    for (unsigned i = 0; i < p->count; i++) {
        p->usual = p->gaps[i].recurs ? MAX(p->usual, p->gaps[i].own) : p->usual;
        p->recurring += p->gaps[i].recurs;
    }
    p->middle = usual_gap(p, true, p->monitor->calls, p->monitor->end);
    find_pairs(p);
}

/* --- Slow for good --------------------------------------------------------------------------------------------- */

/* The first run of which nine of ten are slow: five, or three up to the last one. `end` is the first after it. */
static unsigned slow_from(const plan *p, double slow, unsigned *end)
{
    unsigned begin = p->num_answered, number = 0;

    for (unsigned i = FEWEST; i < p->num_answered; i++) {
        if (p->responses[i] >= slow) {
            begin = number == 0 ? i : begin;
            number++;
            *end = i + 1;
        } else if (number > 0 && 10 * number < 9 * (i + 1 - begin)) {
            if (number >= MANY_SLOW) {
                break;
            }
            number = 0;
        }
    }
    bool lasts = number >= FEWEST && *end >= p->num_answered;
    return number >= MANY_SLOW || lasts ? begin : p->num_answered;
}

/* The server had what it was asked for most of the time that its answer took: it acknowledged that, or said that it works on it. */
static bool works_on(const verdict_call *call)
{
    const wire_event *pending = verdict_wire_find(call->connection, WIRE_PENDING, call->asked_frame, 0, INFINITY);
    double had = pending && call->acked <= 0 ? pending->time : call->acked;

    return had > 0 && call->answered - had >= call->seconds / 2;
}

static void say_slow(const plan *p, unsigned from, unsigned end)
{
    wmem_allocator_t *pool = p->monitor->pool;
    verdict_shown shown = {.pool = pool};
    unsigned late_acks = 0, worked_on = 0;
    const verdict_call *first = p->answered[from], *last = p->answered[end - 1];
    double gap_before = usual_gap(p, false, p->monitor->calls, first), gap_after = usual_gap(p, false, first, last + 1);
    const char *after = verdict_seconds(pool, perf_median(&p->responses[from], end - from)), *before = "", *rate = "";

    for (unsigned i = from; i < end; i++) {
        const verdict_call *slow = p->answered[i];
        verdict_show(&shown, slow->frame, slow->answered);
        late_acks += verdict_wire_find(slow->connection, WIRE_ACKED_LATE, slow->asked_frame, 0, INFINITY) != NULL;
        worked_on += works_on(slow);
    }
    bool is_server = 2 * worked_on > end - from, acks_alone = first->connection && first->connection->acked.frame > 0;
    bool is_network = 2 * late_acks > end - from && acks_alone && !is_server;
    if (from > 0) {
        before = wmem_strconcat(pool, ", not ", verdict_seconds(pool, perf_median(p->responses, from)), NULL);
    }
    if (gap_after > VERDICT_ALIKE * gap_before && gap_before > 0) {
        rate = wmem_strdup_printf(pool, "; $C gets 1 sample each %s, not each %s", verdict_seconds(pool, gap_after),
                                  verdict_seconds(pool, gap_before));
    }
    verdict_find(p->monitor, VERDICT_SLOW, is_network ? PARTY_NETWORK : PARTY_SERVER, &shown, "%s: since $T, %s%s|%s",
                 is_network  ? "The network to $S is slow"
                 : is_server ? "$S answers slowly"
                             : "$S (or the network to it) answers slowly",
                 after, before, rate);
}

/* A change that lasts, or was there before the capture, is one finding. */
static void find_slow(plan *p)
{
    double before = perf_median(p->responses, MIN(p->num_answered, FIRST_ONES)),
           usual = usual_gap(p, false, p->monitor->calls, p->monitor->end);
    unsigned end = p->num_answered, from = slow_from(p, MAX(SLOW * before, before + SLOW_SECONDS), &end);

    if (from == p->num_answered && p->num_answered > FEWEST && before >= SLOW_ALWAYS && before >= usual / 2) {
        from = 0;
        end = p->num_answered;
    }
    if (from < p->num_answered) {
        p->slow = perf_median(&p->responses[from], end - from);
        say_slow(p, from, end);
        for (unsigned i = 0; i < p->count; i++) {
            plan_gap *gap = &p->gaps[i];
            gap->is_slow = gap->call >= p->answered[from] && gap->before <= p->answered[end - 1];
            if (gap->is_slow && from > 0) {
                take_wait_off(gap, before);
            }
        }
    }
}

/* --- The server's clock ---------------------------------------------------------------------------------------- */

typedef enum { CLOCK_GOES_ON, CLOCK_STANDS, CLOCK_RESTARTED, CLOCK_OF_ANOTHER } clock_step;

static clock_step step_of(const verdict_call *old, const verdict_call *new)
{
    const perf_point *then = &old->clocks, *now = &new->clocks;
    double elapsed = new->answered - old->answered, most = OTHER_CLOCK + elapsed / 2;
    double frequency = now->perf_freq > 0 ? (double)now->perf_freq : INFINITY;
    double ticked = ((double)now->perf_time - (double)then->perf_time) / frequency;
    double passed = (double)(int64_t)(now->time_100ns - then->time_100ns) / 1e7;
    bool stands = now->perf_time == then->perf_time && then->perf_time > 0;
    bool date_stands = now->time_100ns == then->time_100ns && then->time_100ns > 0;

    if ((stands && date_stands) || ((stands || date_stands) && elapsed >= LONG_TICK)) {
        return CLOCK_STANDS;
    }
    bool is_of_one_handle = old->talk == new->talk && old->talk->has_handle;
    if (is_of_one_handle || (old->connection && old->connection == new->connection)) {
        return CLOCK_GOES_ON; /* the same machine: its clock was set */
    }
    if (now->perf_time < then->perf_time) {
        return (double)now->perf_time / frequency <= elapsed + OTHER_CLOCK ? CLOCK_RESTARTED : CLOCK_OF_ANOTHER;
    }
    bool is_other = fabs(ticked - elapsed) > most && fabs(passed - elapsed) <= most;
    return is_other && now->perf_freq == then->perf_freq ? CLOCK_OF_ANOTHER : CLOCK_GOES_ON;
}

/* By the server's clock the sample was in time: it is the capture's clock that was set. */
static bool is_in_time_there(const plan_gap *gap, double most)
{
    double there = verdict_interval(gap->before, gap->call);

    return gap->before->clocks.time_100ns > 0 && step_of(gap->before, gap->call) == CLOCK_GOES_ON && there > 0 &&
           there <= most;
}

/* What the server's clocks say from sample to sample; sealed ones show none. */
static void find_server_clocks(verdict_monitor *monitor)
{
    static const struct {
        verdict_kind kind;
        const char *text;
        unsigned fewest;
    } words[] = {
        [CLOCK_STANDS] = {VERDICT_FROZEN_CLOCK, "$S has a clock that stands still, as $C sees it: since $T",
                          CLOCK_SAMPLES},
        [CLOCK_RESTARTED] = {VERDICT_RESTARTED, "$S started again (its clock began anew) under $C$N: $T", 1},
        [CLOCK_OF_ANOTHER] = {VERDICT_OTHER_MACHINE, "$S is another machine (other clock) for $C: since $T", 1}};
    verdict_shown shown[array_length(words)] = {
        {.pool = monitor->pool}, {.pool = monitor->pool}, {.pool = monitor->pool}, {.pool = monitor->pool}};
    const verdict_call *before = NULL;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->outcome != CALL_SAMPLE || (before && verdict_overlaps(call, before))) {
            continue;
        }
        clock_step step = before ? step_of(before, call) : CLOCK_GOES_ON;
        if (step != CLOCK_GOES_ON) {
            verdict_show(&shown[step], call->frame, call->answered);
        }
        before = call;
    }
    for (unsigned i = CLOCK_STANDS; i < array_length(words); i++) {
        if (verdict_count_shown(&shown[i]) >= words[i].fewest) {
            verdict_find(monitor, words[i].kind, PARTY_SERVER, &shown[i], "%s", words[i].text);
        }
    }
}

/* --- Whose fault ----------------------------------------------------------------------------------------------- */

/* Of what came late: what shows it, and when. */
typedef struct {
    verdict_kind kind; /* VERDICT_LOST: it may have been there in time; VERDICT_NUM_KINDS: another finding says it */
    verdict_party party;
    uint32_t frame;
    double when;
} blame;

/* The first call for data between the two that ended in one of these; NULL without one. */
static const verdict_call *call_within(const plan_gap *gap, unsigned outcomes)
{
    for (const verdict_call *call = gap->before + 1; call < gap->call && call - gap->before < MOST_WITHIN; call++) {
        if (call->asks && (outcomes & CALL_BIT(call->outcome))) {
            return call;
        }
    }
    return NULL;
}

/* What the capture lacks in it, which only a later packet may tell, and on another connection that the monitor uses in turn. */
static const wire_event *lost_within(const plan *p, const plan_gap *gap)
{
    const verdict_monitor *monitor = p->monitor;
    const verdict_call *call =
        gap->before - monitor->calls > CALLS_BESIDE ? gap->before - CALLS_BESIDE : monitor->calls;
    const verdict_connection *looked_at = NULL;

    for (; call < monitor->end && call - gap->call <= CALLS_BESIDE; looked_at = call++->connection) {
        const wire_event *event = call->connection == looked_at ? NULL
                                                                : verdict_wire_find(call->connection, WIRE_LOST, 0,
                                                                                    end_of(gap->before), INFINITY);
        if (event && event->since < gap->call->answered) {
            return event;
        }
    }
    return NULL;
}

/* Failed, brought no data, or was never answered: that is a finding of its own. */
static bool is_said_already(const plan *p, const plan_gap *gap)
{
    double begin = end_of(gap->before), end = gap->call->answered;
    const wire_event *ended = verdict_wire_find(gap->before->connection, WIRE_ENDED, 0, begin, end);

    return call_within(gap, CALL_BIT(CALL_FAILED) | CALL_BIT(CALL_DAMAGED) | CALL_BIT(CALL_EMPTY) |
                                CALL_BIT(CALL_NO_DATA)) ||
           (call_within(gap, CALL_BIT(CALL_WAITS)) &&
            verdict_wire_find(gap->call->connection, WIRE_CUT, 0, begin, end)) ||
           (ended && !verdict_wire_by_client(gap->before->connection, ended) &&
            verdict_has(p->monitor, VERDICT_BROKEN));
}

/* How much longer an answer is than its data, as far as its seal tells. */
#define MOST_AROUND 64

/* Nobody read a sample that its client took in it by another connection, as large as this one: it may be of the same query. */
static bool is_sampled_beside(const plan *p, const plan_gap *gap)
{
    for (unsigned i = 0; i < p->all->len && i < MOST_WITHIN; i++) {
        const verdict_monitor *other = g_ptr_array_index(p->all, i);
        const verdict_call *call = other->calls, *end = other->end;
        if (other->pair != p->monitor->pair || other == p->monitor || call == end || !call->talk->is_sealed) {
            continue;
        }
        while (call < end) { /* the first after the gap's begin */
            const verdict_call *middle = call + (end - call) / 2;
            call = middle->answered < gap->before->answered ? middle + 1 : call;
            end = middle->answered < gap->before->answered ? end : middle;
        }
        for (; call < other->end && call->asked < gap->call->asked; call++) {
            if (call->outcome == CALL_SAMPLE) {
                return call->size - gap->call->size < MOST_AROUND;
            }
        }
    }
    return false;
}

static blame blame_event(verdict_kind kind, verdict_party party, const wire_event *event)
{
    return (blame){kind, party, event->frame, event->time};
}

static blame blame_answer(const verdict_call *call)
{
    const wire_event *late = verdict_wire_find(call->connection, WIRE_ACKED_LATE, call->asked_frame, 0, INFINITY);
    bool is_server = works_on(call);

    return late && call->connection->acked.frame > 0 && !is_server
               ? blame_event(VERDICT_RESENT, PARTY_NETWORK, late)
               : (blame){VERDICT_ANSWERED_LATE, is_server ? PARTY_SERVER : PARTY_UNKNOWN, call->frame, call->answered};
}

/* `is_answer`: it was asked for in time, and its answer is what took so long. */
static blame whose_fault(const plan *p, const plan_gap *gap, bool is_answer)
{
    const verdict_call *call = gap->call, *waits = call_within(gap, CALL_BIT(CALL_WAITS));
    const verdict_connection *connection = call->connection;
    double begin = end_of(gap->before), end = call->answered;
    const wire_event *lost = lost_within(p, gap);
    const wire_event *zero = verdict_wire_find(connection, WIRE_ZERO_WINDOW, 0, begin, end);
    const wire_event *resent = verdict_wire_find(connection, WIRE_RESENT, 0, begin, end);

    if (is_said_already(p, gap)) {
        return (blame){VERDICT_NUM_KINDS, PARTY_UNKNOWN, 0, 0};
    }
    if (lost) {
        return blame_event(VERDICT_LOST, PARTY_CAPTURE, lost);
    }
    if (zero) {
        return blame_event(VERDICT_ZERO_WINDOW, verdict_wire_by_client(connection, zero) ? PARTY_CLIENT : PARTY_SERVER,
                           zero);
    }
    if (waits && (verdict_has(p->monitor, VERDICT_UNANSWERED) || verdict_has(p->monitor, VERDICT_BROKEN))) {
        return (blame){VERDICT_NUM_KINDS, PARTY_UNKNOWN, 0, 0};
    }
    if (resent && (is_answer || waits || resent->time < call->asked)) {
        return blame_event(VERDICT_RESENT, PARTY_NETWORK, resent);
    }
    if (waits) {
        return (blame){VERDICT_ANSWERED_LATE, PARTY_UNKNOWN, waits->asked_frame, waits->asked};
    }
    if (!is_answer && is_sampled_beside(p, gap)) {
        return (blame){VERDICT_LOST, PARTY_CAPTURE, call->frame, call->answered};
    }
    return is_answer ? blame_answer(call)
                     : (blame){VERDICT_ASKED_LATE, PARTY_CLIENT, call->asked_frame ? call->asked_frame : call->frame,
                               call->asked > 0 ? call->asked : call->answered};
}

/* Adds the frames of all packets that were sent again, or acknowledged late. */
static void show_all_resent(const plan_gap *gap, verdict_shown *shown)
{
    const verdict_connection *connection = gap->call->connection;
    unsigned begin = connection ? verdict_wire_from(connection, end_of(gap->before), 0) : 0;
    unsigned count = connection ? MIN(wmem_array_get_count(connection->events), begin + MOST_WITHIN) : 0;

    for (unsigned i = begin; i < count && verdict_wire_event(connection, i)->time <= gap->call->answered; i++) {
        const wire_event *event = verdict_wire_event(connection, i);
        if (event->kind == WIRE_RESENT || event->kind == WIRE_ACKED_LATE) {
            verdict_show(shown, event->frame, event->time);
        }
    }
}

/* --- Late ------------------------------------------------------------------------------------------------------ */

/* Those of one kind and party. */
typedef struct {
    verdict_shown shown;
    const plan_gap *gap; /* the first, */
    double usual;        /* and what it is later than */
} late_ones;

/* Whatever came of it: nowhere in the gap did the client let so many seconds go by without asking. */
static bool asked_in_time(const plan *p, const plan_gap *gap, double most)
{
    double newest = gap->before->asked, last = gap->call->asked;
    size_t i = 0;

    for (size_t step = (size_t)1 << 31; step > 0; step /= 2) {
        i += i + step <= p->num_asked && p->asked[i + step - 1] < newest ? step : 0;
    }
    for (; i < p->num_asked && newest < last; newest = p->asked[i++]) {
        if (p->asked[i] - newest > most) {
            return false;
        }
    }
    return newest > 0;
}

/* What the gap is later than; 0: it is not late. `is_answer`: since an answer was. */
static double later_than(const plan *p, unsigned number, bool *is_answer)
{
    const plan_gap *gap = &p->gaps[number];
    bool is_second = p->pair > 0 && number > 0 && number < p->last_pair && !gap->is_excused && is_long(p, number - 1);
    double before = gap->is_excused ? 0 : longest_beside(p, number, -1),
           after = gap->is_excused ? 0 : longest_beside(p, number, 1);
    bool has_changed = before > 0 && after > 0 && (before > VERDICT_ALIKE * after || after > VERDICT_ALIKE * before);
    double usual = is_second ? p->pair : gap->is_excused ? p->middle : MAX(before, after);
    double most = LATE * usual + (is_second ? ALIKE_SECONDS : 0), excess = gap->wait - gap->usual_wait;
    double later = gap->own <= VERDICT_ALIKE * usual ? gap->gap - usual : 0; /* by calls in front of its own, too */

    *is_answer = excess >= (gap->gap - usual) / 2;
    if (MIN(excess, MAX(gap->call->seconds - gap->usual_wait, later)) >= LONG_ANSWER) {
        *is_answer = true;
        return MAX(usual, gap->own);
    }
    if (usual <= 0 || gap->gap <= most || (!is_second && gap->gap <= VERDICT_ALIKE * p->middle) ||
        (!*is_answer && is_in_time_there(gap, most))) {
        return 0;
    }
    /* else the capture has one group, or two, of a plan of groups, which stand much further apart */
    bool is_known = p->recurring > 2 * FEWEST_PAIRS || gap->own < LEAST_APART * usual;
    bool is_planned = gap->recurs || has_changed || before <= 0 || !is_known || asked_in_time(p, gap, most);
    return *is_answer || is_second || !is_planned ? usual : 0;
}

static void say_late(const plan *p, verdict_kind kind, verdict_party party, late_ones *late)
{
    wmem_allocator_t *pool = p->monitor->pool;
    const plan_gap *gap = late->gap;
    bool is_known = party != PARTY_UNKNOWN, is_answer = gap->wait - gap->usual_wait >= (gap->gap - late->usual) / 2;
    bool by_wait = kind == VERDICT_ANSWERED_LATE && is_answer;
    const char *after = verdict_seconds(pool, by_wait ? gap->wait : gap->gap);
    const char *usual = verdict_seconds(pool, by_wait ? gap->usual_wait : late->usual);
    const char *behind = wmem_strconcat(pool, by_wait ? "" : "a sample after ", after,
                                        kind == VERDICT_RESENT ? NULL : " instead of ", usual, NULL);

    verdict_find(p->monitor, kind, is_known ? party : PARTY_SERVER, &late->shown, "%s: since $T|, %s",
                 kind == VERDICT_ASKED_LATE ? "$C asks $S late$N"
                 : kind == VERDICT_ANSWERED_LATE
                     ? is_known ? "$S answers $C late$N" : "$S (or the network to it) answers $C late$N"
                 : kind == VERDICT_RESENT ? "The network between $C and $S loses or delays packets"
                 : party == PARTY_CLIENT  ? "$C does not read what $S sends (window 0)$N"
                                          : "$S does not read what $C sends (window 0)$N",
                 behind);
}

/* That it is slow, began again, or is another machine, is said. */
static bool is_told(const plan *p, const plan_gap *gap, double usual, bool is_answer)
{
    bool is_as_slow = gap->is_slow && (is_answer ? gap->wait <= SLOW * p->slow : gap->own <= LATE * usual);

    return is_as_slow || step_of(gap->before, gap->call) >= CLOCK_RESTARTED;
}

static void add_late(const plan *p, const plan_gap *gap, double usual, const blame *b, late_ones *group)
{
    if (group->gap == NULL) {
        *group = (late_ones){{.pool = p->monitor->pool}, gap, usual};
    }
    verdict_show(&group->shown, b->frame, b->when);
    if (b->kind == VERDICT_RESENT) {
        show_all_resent(gap, &group->shown);
    }
}

/* True: some of it is what the capture lacks. */
static bool find_late(plan *p)
{
    late_ones late[VERDICT_NUM_KINDS][PARTY_UNKNOWN + 1] = {{{.gap = NULL}}};
    double *numbers = p->monitor->figures.numbers;
    bool lacks_some = false, is_answer;

    for (unsigned i = 0; i < p->count; i++) {
        const plan_gap *gap = &p->gaps[i];
        double usual = later_than(p, i, &is_answer);
        lacks_some |= gap->gap > LATE * p->middle && lost_within(p, gap);
        bool is_late = usual > 0;
        if (is_late && !is_told(p, gap, usual, is_answer)) {
            blame b = whose_fault(p, gap, is_answer);
            is_late = b.kind != VERDICT_LOST; /* else a sample may have been there */
            lacks_some |= !is_late;
            if (is_late && b.kind != VERDICT_NUM_KINDS) {
                add_late(p, gap, usual, &b, &late[b.kind][b.party]);
            }
        }
        bool waits = is_late && call_within(gap, CALL_BIT(CALL_WAITS)); /* for an answer that never came */
        numbers[is_answer || waits ? FIGURE_LATE_ANSWERED : FIGURE_LATE_ASKED] += is_late;
    }
    for (unsigned kind = 0; kind < VERDICT_NUM_KINDS; kind++) {
        for (unsigned party = 0; party <= PARTY_UNKNOWN; party++) {
            if (late[kind][party].gap) {
                say_late(p, (verdict_kind)kind, (verdict_party)party, &late[kind][party]);
            }
        }
    }
    return lacks_some;
}

void verdict_plan_find(verdict_monitor *monitor, const GPtrArray *all)
{
    plan p = {.monitor = monitor, .all = all, .num_calls = (size_t)(monitor->end - monitor->calls)};

    p.asked = wmem_alloc_array(monitor->pool, double, p.num_calls + 1);
    p.responses = wmem_alloc_array(monitor->pool, double, p.num_calls + 1);
    p.answered = wmem_alloc_array(monitor->pool, const verdict_call *, p.num_calls + 1);
    p.gaps = wmem_alloc_array(monitor->pool, plan_gap, p.num_calls + 1);
    learn(&p);
    verdict_calls_find(monitor, p.usual);
    find_slow(&p);
    verdict_capture_find(monitor, find_late(&p));
    if (!monitor->talks->is_sealed) {
        find_server_clocks(monitor);
    }
}
