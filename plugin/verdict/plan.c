/* plan.c
 * When a client asks, what came later than that, and what changed for good.
 *
 * A client keeps a plan: one interval, two samples in each, another interval since some moment, or none. It is learned from the times
 * between samples that recur. What an answer took too long is taken off first: that is not the client's plan. A time is late if it is
 * half as long again as what is usual around it, recurs nowhere, and the client had not closed its query or connection in it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/fault.h"

#include <math.h>

/* A time is late from so many times the usual one on; there have to be so many that recur, and so many to each side are looked at. */
#define LATE 1.5
#define FEWEST 3
#define BESIDE 3
#define MOST_BESIDE 100

/* Times within this factor are one; a list of them ends at twice its first. */
#define ALIKE 1.3
#define ALIKE_SECONDS 0.05

/* Answers are slow for good if nine of ten from one on take so many times as long as the first ones, and this many seconds longer. */
#define SLOW 4
#define SLOW_SECONDS 0.1
#define SLOW_ALWAYS 1.0
#define FIRST_ONES 5
#define MANY_SLOW 5

/* Seconds by which a machine's clock differs from the capture's before it is another machine's; samples of which a clock stands still. */
#define OTHER_CLOCK 60.0
#define CLOCK_SAMPLES 3

typedef struct {
    unsigned before, at; /* calls of the two samples */
    double gap, wait;    /* and how much of it the client waited for answers */
    double usual_wait;   /* there */
    double own;          /* without what that was too long */
    bool is_excused;
    bool recurs;
    bool is_slow;
} plan_gap;

typedef struct {
    const verdict_monitor *monitor;
    GArray *gaps;
    GArray *asked;                      /* double: when data was asked for, ascending */
    double usual, middle;               /* the longest that recurs, and the median of all gaps */
    unsigned asked_late, answered_late; /* how many */
} plan;

/* --- Gaps ------------------------------------------------------------------------------------------------------ */

/* The client had closed its query, or ended its connection. */
static bool is_excused(const verdict_monitor *monitor, const verdict_call *before, const verdict_call *at)
{
    const verdict_talk *talk = g_ptr_array_index(monitor->talks, before->talk);
    bool is_closed = talk->is_sealed ? talk->is_closed : talk->closed_frame > 0;

    return before->talk != at->talk &&
           (is_closed || verdict_fault_left(before->connection, before->answered, at->answered));
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(GArray *numbers, unsigned count)
{
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(double), count);

    g_array_append_vals(sorted, numbers->data, count);
    g_array_sort(sorted, compare_numbers);
    double middle =
        count > 0 ? (g_array_index(sorted, double, (count - 1) / 2) + g_array_index(sorted, double, count / 2)) / 2 : 0;
    g_array_unref(sorted);
    return middle;
}

/* How long the client waited for all answers until each call. */
static GArray *waits_until(const verdict_monitor *monitor)
{
    GArray *waits = g_array_sized_new(FALSE, FALSE, sizeof(double), monitor->calls->len);
    double sum = 0;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        sum += MAX(call->seconds, 0);
        g_array_append_val(waits, sum);
    }
    return waits;
}

/* Samples of HKEY_PERFORMANCE_DATA that answer other questions have a plan of their own. */
static void take_gaps(plan *p)
{
    const verdict_monitor *monitor = p->monitor;
    bool by_question = verdict_first_talk(monitor)->is_hkpd;
    GHashTable *newest = g_hash_table_new(g_direct_hash, g_direct_equal);
    GArray *waits = waits_until(monitor);

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome != CALL_SAMPLE || call->answered <= 0) {
            continue;
        }
        void *question = GUINT_TO_POINTER(by_question ? call->subject : 0);
        unsigned before = GPOINTER_TO_UINT(g_hash_table_lookup(newest, question));
        if (before > 0) {
            const verdict_call *first = verdict_call_at(monitor, before - 1);
            plan_gap gap = {.before = before - 1, .at = i, .gap = call->answered - first->answered};
            gap.wait = g_array_index(waits, double, i) - g_array_index(waits, double, before - 1);
            gap.wait = MIN(gap.wait + verdict_fault_connecting(first, call), gap.gap);
            gap.is_excused = is_excused(monitor, first, call);
            if (gap.gap > 0) {
                g_array_append_val(p->gaps, gap);
            }
        }
        g_hash_table_insert(newest, question, GUINT_TO_POINTER(i + 1));
    }
    g_hash_table_destroy(newest);
    g_array_unref(waits);
}

static plan_gap *gap_at(const plan *p, unsigned number)
{
    return &g_array_index(p->gaps, plan_gap, number);
}

/* How long the client waits at a gap, by the five before it; by the first ones at the beginning. */
static double usual_wait(const GArray *waits, unsigned number)
{
    unsigned begin = number > BESIDE ? MAX(number, FIRST_ONES) - FIRST_ONES : 0;
    unsigned end = number > BESIDE ? number : MIN(waits->len, FIRST_ONES);
    GArray *some = g_array_new(FALSE, FALSE, sizeof(double));

    g_array_append_vals(some, &g_array_index(waits, double, begin), end - begin);
    double usual = median(some, some->len);
    g_array_unref(some);
    return usual;
}

static void take_waits_off(plan *p)
{
    GArray *waits = g_array_sized_new(FALSE, FALSE, sizeof(double), p->gaps->len);

    for (unsigned i = 0; i < p->gaps->len; i++) {
        g_array_append_val(waits, gap_at(p, i)->wait);
    }
    for (unsigned i = 0; i < p->gaps->len; i++) {
        plan_gap *gap = gap_at(p, i);
        gap->usual_wait = usual_wait(waits, i);
        gap->own = MAX(gap->gap - MAX(gap->wait - gap->usual_wait, 0), 1e-6);
    }
    g_array_unref(waits);
}

/* --- What recurs ----------------------------------------------------------------------------------------------- */

typedef struct {
    double own;
    unsigned number;
} sorted_gap;

static int compare_gaps(const void *a, const void *b)
{
    return compare_numbers(&((const sorted_gap *)a)->own, &((const sorted_gap *)b)->own);
}

static int compare_places(const void *a, const void *b)
{
    unsigned x = ((const sorted_gap *)a)->number, y = ((const sorted_gap *)b)->number;

    return (x > y) - (x < y);
}

/* Gaps that are alike recur if they are a quarter of all, three of them stand side by side, or they stand at even distances. */
static bool is_recurring(sorted_gap *alike, unsigned count, unsigned of_all)
{
    unsigned run = 1, longest = 1, nearest = UINT_MAX, farthest = 0;

    qsort(alike, count, sizeof *alike, compare_places);
    for (unsigned i = 1; i < count; i++) {
        unsigned distance = alike[i].number - alike[i - 1].number;
        run = distance == 1 ? run + 1 : 1;
        longest = MAX(longest, run);
        nearest = MIN(nearest, distance);
        farthest = MAX(farthest, distance);
    }
    return (count > 1 && 4 * count >= of_all) || longest >= FEWEST || (count >= FEWEST && farthest - nearest <= 1);
}

static void find_recurring(plan *p)
{
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(sorted_gap));
    unsigned begin = 0;

    for (unsigned i = 0; i < p->gaps->len; i++) {
        sorted_gap gap = {gap_at(p, i)->own, i};
        if (!gap_at(p, i)->is_excused) {
            g_array_append_val(sorted, gap);
        }
    }
    g_array_sort(sorted, compare_gaps);
    for (unsigned i = 1; i <= sorted->len; i++) {
        const sorted_gap *first = &g_array_index(sorted, sorted_gap, begin),
                         *before = &g_array_index(sorted, sorted_gap, i - 1);
        double own = i < sorted->len ? g_array_index(sorted, sorted_gap, i).own : INFINITY;
        if (own <= before->own * ALIKE + ALIKE_SECONDS && own <= 2 * first->own) {
            continue;
        }
        bool recurs = is_recurring(&g_array_index(sorted, sorted_gap, begin), i - begin, sorted->len);
        for (unsigned n = begin; n < i && recurs; n++) {
            gap_at(p, g_array_index(sorted, sorted_gap, n).number)->recurs = true;
        }
        begin = i;
    }
    g_array_unref(sorted);
}

/* The longest that recurs among the next ones to a side; 0: none. */
static double longest_beside(const plan *p, unsigned number, int side)
{
    double longest = 0;
    unsigned seen = 0, looked_at = 0;

    for (unsigned i = number + (unsigned)side; i < p->gaps->len && seen < BESIDE && looked_at < MOST_BESIDE;
         i += (unsigned)side) {
        const plan_gap *gap = gap_at(p, i);
        seen += !gap->is_excused;
        looked_at++;
        longest = gap->recurs ? MAX(longest, gap->own) : longest;
    }
    return longest;
}

static double longest_usual(const plan *p)
{
    double longest = 0;

    for (unsigned i = 0; i < p->gaps->len; i++) {
        longest = gap_at(p, i)->recurs ? MAX(longest, gap_at(p, i)->own) : longest;
    }
    return longest;
}

/* The median of gaps between two calls. */
static double usual_gap(const plan *p, bool with_excused, unsigned begin, unsigned end)
{
    GArray *gaps = g_array_new(FALSE, FALSE, sizeof(double));

    for (unsigned i = 0; i < p->gaps->len; i++) {
        if (gap_at(p, i)->before >= begin && gap_at(p, i)->at <= end && (with_excused || !gap_at(p, i)->is_excused)) {
            g_array_append_val(gaps, gap_at(p, i)->gap);
        }
    }
    double usual = median(gaps, gaps->len);
    g_array_unref(gaps);
    return usual;
}

static void learn(plan *p, const verdict_monitor *monitor)
{
    *p = (plan){.monitor = monitor,
                .gaps = g_array_new(FALSE, FALSE, sizeof(plan_gap)),
                .asked = g_array_new(FALSE, FALSE, sizeof(double))};
    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->asks && call->asked > 0) {
            g_array_append_val(p->asked, call->asked);
        }
    }
    g_array_sort(p->asked, compare_numbers);
    take_gaps(p);
    take_waits_off(p);
    find_recurring(p);
    p->usual = longest_usual(p);
    p->middle = usual_gap(p, true, 0, UINT_MAX);
}

double verdict_plan_usual(const verdict_monitor *monitor)
{
    plan p;

    learn(&p, monitor);
    g_array_unref(p.gaps);
    g_array_unref(p.asked);
    return p.usual;
}

/* --- Slow for good --------------------------------------------------------------------------------------------- */

/* How long each sample took to be answered, and which calls they are. */
static void take_responses(const verdict_monitor *monitor, GArray *seconds, GArray *calls)
{
    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome == CALL_SAMPLE && call->seconds >= 0) {
            g_array_append_val(seconds, call->seconds);
            g_array_append_val(calls, i);
        }
    }
}

/* The first run of which nine of ten are slow: five, or three up to the last one. `end` is the first behind it. */
static unsigned slow_from(const GArray *seconds, double slow, unsigned *end)
{
    unsigned begin = seconds->len, number = 0;

    for (unsigned i = FEWEST; i < seconds->len; i++) {
        if (g_array_index(seconds, double, i) >= slow) {
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
    bool lasts = number >= FEWEST && *end + 1 >= seconds->len;
    return number >= MANY_SLOW || lasts ? begin : seconds->len;
}

static void say_slow(const plan *p, const GArray *calls, unsigned from, unsigned end, double before, double after)
{
    const verdict_monitor *monitor = p->monitor;
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    verdict_shown shown = {.frames = NULL};
    unsigned first = g_array_index(calls, unsigned, from), late_acks = 0;
    const verdict_call *call = verdict_call_at(monitor, first);
    unsigned last = g_array_index(calls, unsigned, end - 1);
    double gap_before = usual_gap(p, false, 0, first > 0 ? first - 1 : 0), gap_after = usual_gap(p, false, first, last);
    const char *server = verdict_server(monitor);
    const char *client = verdict_first_talk(monitor)->client;

    for (unsigned i = from; i < end; i++) {
        const verdict_call *slow = verdict_call_at(monitor, g_array_index(calls, unsigned, i));
        verdict_show(&shown, slow->frame, slow->answered);
        late_acks += verdict_fault_event(slow->connection, WIRE_ACKED_LATE, slow->asked_frame) != NULL;
    }
    bool is_network = 2 * late_acks > end - from && call->connection && call->connection->acks_alone;
    const char *instead = before > 0 ? wmem_strdup_printf(pool, ", not %s", verdict_seconds(pool, before)) : "";
    const char *gets = gap_after > ALIKE * gap_before && gap_before > 0
                           ? wmem_strdup_printf(pool, "; %s gets 1 sample each %s, not each %s", client,
                                                verdict_seconds(pool, gap_after), verdict_seconds(pool, gap_before))
                           : "";
    verdict_say(monitor->findings, VERDICT_SLOW, is_network ? PARTY_NETWORK : PARTY_SERVER, &shown,
                is_network ? "The network to %s is slow: since $T, %s%s%s" : "%s answers slowly: since $T, %s%s%s",
                server, verdict_seconds(pool, after), instead, gets);
    wmem_destroy_allocator(pool);
}

/* A change that lasts, or was there before the capture, is one finding. */
static void find_slow(plan *p)
{
    GArray *seconds = g_array_new(FALSE, FALSE, sizeof(double)), *calls = g_array_new(FALSE, FALSE, sizeof(unsigned));

    take_responses(p->monitor, seconds, calls);
    double before = median(seconds, MIN(seconds->len, FIRST_ONES)),
           usual = usual_gap(p, false, 0, p->monitor->calls->len);
    unsigned end = seconds->len, from = slow_from(seconds, MAX(SLOW * before, before + SLOW_SECONDS), &end);
    if (from == seconds->len && seconds->len > FEWEST && before >= SLOW_ALWAYS && before >= usual / 2) {
        from = 0;
        end = seconds->len;
    }
    if (from < seconds->len) {
        unsigned first = g_array_index(calls, unsigned, from), last = g_array_index(calls, unsigned, end - 1);
        GArray *slow = g_array_new(FALSE, FALSE, sizeof(double));
        g_array_append_vals(slow, &g_array_index(seconds, double, from), end - from);
        say_slow(p, calls, from, end, from > 0 ? median(seconds, from) : 0, median(slow, slow->len));
        g_array_unref(slow);
        for (unsigned i = 0; i < p->gaps->len; i++) {
            gap_at(p, i)->is_slow = gap_at(p, i)->at >= first && gap_at(p, i)->before <= last;
        }
    }
    g_array_unref(seconds);
    g_array_unref(calls);
}

/* --- The server's clock ---------------------------------------------------------------------------------------- */

typedef enum { CLOCK_GOES_ON, CLOCK_STANDS, CLOCK_RESTARTED, CLOCK_OF_ANOTHER } clock_step;

static clock_step step_of(const verdict_call *before, const verdict_call *call)
{
    const perf_point *old = before->clocks, *new = call->clocks;
    double elapsed = call->answered - before->answered;
    double ticked = new->perf_freq > 0 ? ((double)new->perf_time - (double)old->perf_time) / (double)new->perf_freq : 0;
    double passed = (double)(int64_t)(new->time_100ns - old->time_100ns) / 1e7;

    if (new->perf_time == old->perf_time &&new->time_100ns == old->time_100ns) {
        return CLOCK_STANDS;
    }
    if (perf_is_older(new, old) && new->perf_time < old->perf_time) {
        double up = new->perf_freq > 0 ? (double)new->perf_time / (double)new->perf_freq : 0;
        return up <= elapsed + OTHER_CLOCK ? CLOCK_RESTARTED : CLOCK_OF_ANOTHER;
    }
    bool is_other =
        fabs(ticked - elapsed) > OTHER_CLOCK + elapsed / 2 && fabs(passed - elapsed) <= OTHER_CLOCK + elapsed / 2;
    return is_other && new->perf_freq == old->perf_freq ? CLOCK_OF_ANOTHER : CLOCK_GOES_ON;
}

static bool has_new_clock(const verdict_monitor *monitor, const plan_gap *gap)
{
    const verdict_call *before = verdict_call_at(monitor, gap->before), *call = verdict_call_at(monitor, gap->at);

    return before->clocks && call->clocks && step_of(before, call) >= CLOCK_RESTARTED;
}

/* --- Late ------------------------------------------------------------------------------------------------------ */

/* Those of one kind and party. */
typedef struct {
    verdict_shown shown;
    double gap, usual, wait, usual_wait; /* of the first */
} late_ones;

static unsigned first_asked(const GArray *asked, double when)
{
    unsigned low = 0, high = asked->len;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (g_array_index(asked, double, middle) < when) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whatever came of it: nowhere in the gap did the client let so many seconds go by without asking. */
static bool asked_in_time(const plan *p, const plan_gap *gap, double most)
{
    double newest = verdict_call_at(p->monitor, gap->before)->asked, last = verdict_call_at(p->monitor, gap->at)->asked;

    for (unsigned i = first_asked(p->asked, newest); i < p->asked->len && newest < last; i++) {
        double when = g_array_index(p->asked, double, i);
        if (when - newest > most) {
            return false;
        }
        newest = when;
    }
    return newest > 0;
}

/* What the gap is later than; 0: it is not late. `is_answer`: since an answer was. */
static double later_than(const plan *p, unsigned number, bool *is_answer)
{
    const plan_gap *gap = gap_at(p, number);
    double before = gap->is_excused ? 0 : longest_beside(p, number, -1),
           behind = gap->is_excused ? 0 : longest_beside(p, number, 1);
    double usual = gap->is_excused ? p->middle : MAX(before, behind), excess = gap->wait - gap->usual_wait;
    bool has_changed = before > 0 && behind > 0 && (before > ALIKE * behind || behind > ALIKE * before);

    *is_answer = excess >= (gap->gap - usual) / 2;
    if (usual <= 0 || gap->gap <= LATE * usual) {
        return 0;
    }
    return *is_answer || (!gap->recurs && !has_changed && before > 0 && !asked_in_time(p, gap, LATE * usual)) ? usual
                                                                                                              : 0;
}

static void say_late(const plan *p, verdict_kind kind, verdict_party party, late_ones *late)
{
    const verdict_monitor *monitor = p->monitor;
    wmem_allocator_t *pool = wmem_allocator_new(WMEM_ALLOCATOR_SIMPLE);
    const char *server = verdict_server(monitor);
    const char *client = verdict_first_talk(monitor)->client;
    unsigned count = verdict_count_shown(&late->shown);
    const char *times = count > 1 && kind != VERDICT_RESENT ? wmem_strdup_printf(pool, " %u times, first", count) : "";
    const char *gap = verdict_seconds(pool, late->gap), *usual = verdict_seconds(pool, late->usual);
    const char *wait = verdict_seconds(pool, late->wait), *waits = verdict_seconds(pool, late->usual_wait);
    GPtrArray *to = monitor->findings;

    if (kind == VERDICT_ASKED_LATE) {
        verdict_say(to, kind, party, &late->shown, "%s asks %s late:%s $T, a sample after %s instead of %s", client,
                    server, times, gap, usual);
    } else if (kind == VERDICT_ANSWERED_LATE) {
        verdict_say(to, kind, party == PARTY_UNKNOWN ? PARTY_SERVER : party, &late->shown,
                    "%s%s answers %s late:%s $T, %s instead of %s", server,
                    party == PARTY_UNKNOWN ? " (or the network to it)" : "", client, times, wait, waits);
    } else if (kind == VERDICT_ZERO_WINDOW) {
        verdict_say(to, kind, party, &late->shown, "%s does not read what %s sends (window 0):%s $T, a sample after %s",
                    party == PARTY_CLIENT ? client : server, party == PARTY_CLIENT ? server : client, times, gap);
    } else {
        verdict_say(to, kind, party, &late->shown,
                    "The network between %s and %s loses or delays packets:%s $T, a sample after %s", client, server,
                    times, gap);
    }
    wmem_destroy_allocator(pool);
}

static bool is_lossy(const plan *p, const plan_gap *gap)
{
    const verdict_call *before = verdict_call_at(p->monitor, gap->before), *call = verdict_call_at(p->monitor, gap->at);

    return verdict_fault_lost(call->connection, before->answered, call->answered) != NULL;
}

/* True: some of it is what the capture lacks. */
static bool find_late(plan *p)
{
    late_ones late[VERDICT_NUM_KINDS][PARTY_UNKNOWN + 1] = {{{.gap = 0}}};
    bool lacks_some = false, is_answer;

    for (unsigned i = 0; i < p->gaps->len; i++) {
        const plan_gap *gap = gap_at(p, i);
        double usual = later_than(p, i, &is_answer);
        lacks_some |= gap->gap > LATE * p->middle && is_lossy(p, gap);
        if (usual <= 0) {
            continue;
        }
        p->asked_late += !is_answer;
        p->answered_late += is_answer;
        if (gap->is_slow && (is_answer || gap->own <= LATE * usual)) {
            continue; /* that it is slow is said */
        }
        if (has_new_clock(p->monitor, gap)) {
            continue; /* it began again, or is another machine: that is said */
        }
        verdict_blame blame = verdict_fault(p->monitor, gap->before, gap->at, is_answer);
        lacks_some |= blame.kind == VERDICT_LOST;
        if (blame.kind == VERDICT_LOST || blame.kind == VERDICT_NUM_KINDS) {
            continue;
        }
        late_ones *group = &late[blame.kind][blame.party];
        if (group->shown.frames == NULL) {
            *group = (late_ones){.gap = gap->gap, .usual = usual, .wait = gap->wait, .usual_wait = gap->usual_wait};
        }
        verdict_show(&group->shown, blame.frame, blame.time);
        if (blame.kind == VERDICT_RESENT) {
            verdict_fault_all_resent(p->monitor, gap->before, gap->at, &group->shown);
        }
    }
    for (unsigned kind = 0; kind < VERDICT_NUM_KINDS; kind++) {
        for (unsigned party = 0; party <= PARTY_UNKNOWN; party++) {
            if (late[kind][party].shown.frames) {
                say_late(p, (verdict_kind)kind, (verdict_party)party, &late[kind][party]);
            }
        }
    }
    return lacks_some;
}

static void find_clocks(const verdict_monitor *monitor)
{
    static const struct {
        verdict_kind kind;
        const char *text;
        unsigned fewest;
    } words[] = {[CLOCK_STANDS] = {VERDICT_FROZEN_CLOCK, "%s has a clock that stands still, as %s sees it: since $T",
                                   CLOCK_SAMPLES},
                 [CLOCK_RESTARTED] = {VERDICT_RESTARTED, "%s started again (its clock began anew) under %s: $T", 1},
                 [CLOCK_OF_ANOTHER] = {VERDICT_OTHER_MACHINE,
                                       "%s is answered for by another machine (other clock) to %s: since $T", 1}};
    verdict_shown shown[array_length(words)] = {{.frames = NULL}};
    const verdict_call *before = NULL;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->clocks == NULL || (before && verdict_overlaps(call, before))) {
            continue;
        }
        clock_step step = before ? step_of(before, call) : CLOCK_GOES_ON;
        if (step != CLOCK_GOES_ON) {
            verdict_show(&shown[step], call->frame, call->answered);
        }
        before = call;
    }
    for (unsigned i = CLOCK_STANDS; i < array_length(words); i++) {
        if (verdict_count_shown(&shown[i]) < words[i].fewest) {
            verdict_forget(&shown[i]);
        }
        verdict_say(monitor->findings, words[i].kind, PARTY_SERVER, &shown[i], words[i].text, verdict_server(monitor),
                    verdict_first_talk(monitor)->client);
    }
}

void verdict_plan_find(verdict_monitor *monitor)
{
    plan p;

    if (verdict_first_talk(monitor)->is_other) {
        return;
    }
    learn(&p, monitor);
    find_slow(&p);
    verdict_capture_find(monitor, find_late(&p));
    if (!verdict_first_talk(monitor)->is_sealed) {
        find_clocks(monitor);
    }
    monitor->figures.numbers[FIGURE_LATE_ASKED] = p.asked_late;
    monitor->figures.numbers[FIGURE_LATE_ANSWERED] = p.answered_late;
    g_array_unref(p.gaps);
    g_array_unref(p.asked);
}
