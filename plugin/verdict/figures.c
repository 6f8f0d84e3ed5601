/* figures.c
 * The figures of a monitor, worked out of its calls.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "perf/summary.h"

#include <math.h>

double verdict_interval(const verdict_call *before, const verdict_call *call)
{
    return perf_is_older(&call->clocks, &before->clocks) ? 0 : perf_agreed_interval(&call->clocks, &before->clocks);
}

/* Returns how many there are. */
static unsigned take_intervals(const verdict_monitor *monitor, double *intervals)
{
    const verdict_call *before = NULL;
    unsigned count = 0;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_overtaken = before && verdict_overlaps(call, before) && perf_is_older(&call->clocks, &before->clocks);
        if (call->outcome != CALL_SAMPLE || is_overtaken) {
            continue;
        }
        bool is_next = before && (!monitor->talks->is_hkpd || before->subject == call->subject);
        intervals[count] = is_next ? verdict_interval(before, call) : 0;
        count += intervals[count] > 0;
        before = call;
    }
    return count;
}

/* What is usual, and how far they are from it. Three of four are like their median: none are of pairs, or of two plans. */
static void spread(verdict_monitor *monitor, double *intervals, unsigned count)
{
    double *numbers = monitor->figures.numbers, middle = perf_median(intervals, count), longest = 0;
    unsigned alike = 0;

    for (unsigned i = 0; i < count; i++) {
        alike += intervals[i] <= middle * VERDICT_ALIKE && middle <= intervals[i] * VERDICT_ALIKE;
        longest = MAX(longest, intervals[i]);
        intervals[i] = fabs(intervals[i] - middle);
    }
    monitor->is_even = 4 * alike >= 3 * count;
    numbers[FIGURE_INTERVAL] = middle;
    numbers[FIGURE_JITTER] = perf_median(intervals, count);
    numbers[FIGURE_LONGEST] = longest;
}

/* Who is answered without data and wanted its size asks again within so much of the usual time between samples; or, as long as
 * that is not known, within so many seconds. */
#define PROBE_SHARE 0.25
#define PROBE_SECONDS 0.5

/* What waits for data at the capture's end, and is no loop yet. */
#define MOST_WAITING 2

/* Sealed answers without data: what data follows soon was a probe, and what is closed or goes on later was in vain. */
static void settle_sealed(const verdict_monitor *monitor, const double *intervals, unsigned count)
{
    double allowed = count < 3 ? PROBE_SECONDS : PROBE_SHARE * perf_median(intervals, count), newest = 0;
    verdict_call **waiting = wmem_alloc_array(monitor->pool, verdict_call *, monitor->end - monitor->calls + 1);
    unsigned waits = 0;

    for (verdict_call *call = monitor->calls; call < monitor->end; call++) {
        if (!call->asks || (call->outcome != CALL_NO_DATA && call->outcome != CALL_SAMPLE)) {
            continue;
        }
        waits = call->asked - newest > allowed ? 0 : waits;
        if (call->outcome == CALL_NO_DATA) {
            newest = call->answered;
            waiting[waits++] = call;
        } else if (waits > 0) {
            waiting[--waits]->outcome = CALL_PROBE;
        }
    }
    for (unsigned i = 0; i < waits && waits <= MOST_WAITING && !monitor->last_talk->is_closed; i++) {
        waiting[i]->outcome = CALL_DONE;
    }
}

/* What a sealed key was asked once or twice, and something else more often: lists of names. */
static void settle_names(const verdict_monitor *monitor)
{
    enum { FEWEST = 3 };
    wmem_map_t *asked = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);
    unsigned most = 0;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        void *question = GUINT_TO_POINTER(call->subject);
        unsigned times = GPOINTER_TO_UINT(wmem_map_lookup(asked, question)) + (call->outcome == CALL_SAMPLE);
        wmem_map_insert(asked, question, GUINT_TO_POINTER(times));
        most = MAX(most, times);
    }
    for (verdict_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_rare = GPOINTER_TO_UINT(wmem_map_lookup(asked, GUINT_TO_POINTER(call->subject))) < FEWEST;
        if (call->outcome == CALL_SAMPLE && is_rare && most >= FEWEST) {
            call->outcome = CALL_DONE;
        }
    }
}

/* Of samples: how many, how large, how long they took; `seconds` has room for each. */
static void take_calls(verdict_monitor *monitor, double *seconds)
{
    double *numbers = monitor->figures.numbers, bytes = 0, slowest = -1;
    unsigned count = 0;

    numbers[FIGURE_PROBES] = numbers[FIGURE_NO_DATA] = 0;
    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_sample = call->outcome == CALL_SAMPLE;
        numbers[FIGURE_SAMPLES] += is_sample;
        bytes += is_sample ? call->size : 0;
        numbers[FIGURE_PROBES] += call->outcome == CALL_PROBE;
        numbers[FIGURE_NO_DATA] += call->asks && (call->outcome == CALL_FAILED || call->outcome == CALL_EMPTY ||
                                                  call->outcome == CALL_NO_DATA);
        if (is_sample && call->seconds >= 0) {
            numbers[FIGURE_SLOWEST_FRAME] = call->seconds > slowest ? call->frame : numbers[FIGURE_SLOWEST_FRAME];
            numbers[FIGURE_SLOWEST] = slowest = MAX(slowest, call->seconds);
            seconds[count++] = call->seconds;
        }
    }
    if (numbers[FIGURE_SAMPLES] > 0) {
        numbers[FIGURE_SIZE] = round(bytes / numbers[FIGURE_SAMPLES]);
    }
    if (count > 0) {
        numbers[FIGURE_RESPONSE] = perf_median(seconds, count);
    }
}

/* How far the server's clock is ahead of the capture's. Some count from the start of the machine: that is none. One of a wrong time does not
 * count. */
static void take_clock(verdict_monitor *monitor, double *offsets)
{
    const uint64_t epoch_1970 = 116444736000000000;
    const double units = 1e7, most = 1e9;
    unsigned count = 0;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        offsets[count] = (double)(int64_t)(call->clocks.time_100ns - epoch_1970) / units - call->answered;
        count += call->outcome == CALL_SAMPLE && call->answered > 0 && fabs(offsets[count]) < most;
    }
    if (count > 0) {
        monitor->figures.numbers[FIGURE_CLOCK] = perf_median(offsets, count);
    }
}

static void name_handles(verdict_monitor *monitor, const verdict_talk *first)
{
    const char *kind = first->is_sealed ? "sealed" : verdict_handle_word(first);
    const verdict_talk *last = monitor->last_talk;
    const char **texts = monitor->figures.texts;
    unsigned more = monitor->num_talks - 1;

    texts[FIGURE_HANDLE] =
        wmem_strdup_printf(monitor->pool, more > 0 ? "%s %u and %u more" : "%s %u", kind, monitor->number, more);
    if (first->is_sealed) {
        texts[FIGURE_OPENED] = more > 0 ? "sealed (intervals by the capture's clock; one by the sizes of its requests)"
                                        : "sealed (intervals by the capture's clock)";
        return;
    }
    texts[FIGURE_OPENED] = first->opened_frame > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", first->opened_frame)
                                                   : "before the capture";
    texts[FIGURE_CLOSED] =
        last->closed_frame > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", last->closed_frame) : "left open";
}

/* What the talks counted, added up. */
static void take_talks(verdict_monitor *monitor)
{
    double *numbers = monitor->figures.numbers;

    numbers[FIGURE_COUNTERS] = monitor->last_talk->counters;
    numbers[FIGURE_REFUSED] = numbers[FIGURE_FAILED] = 0;
    for (const verdict_talk *talk = monitor->talks; talk; talk = talk->next) {
        numbers[FIGURE_FAILED] += (double)talk->failed;
        numbers[FIGURE_REFUSED] += (double)talk->books[BOOK_REFUSED].things;
    }
}

void verdict_figures(verdict_monitor *monitor)
{
    const verdict_talk *first = monitor->talks;
    double *numbers = monitor->figures.numbers;
    const char **texts = monitor->figures.texts;

    for (unsigned i = 0; i < NUM_FIGURES; i++) {
        numbers[i] = NAN;
    }
    numbers[FIGURE_SAMPLES] = numbers[FIGURE_LATE_ASKED] = numbers[FIGURE_LATE_ANSWERED] = 0;
    texts[FIGURE_CLIENT] = verdict_client(monitor);
    texts[FIGURE_ACCOUNT] = first ? first->account : "";
    if (first == NULL) {
        bool has_name = strcmp(monitor->pair->called, monitor->pair->server) != 0;
        texts[FIGURE_SERVER] =
            has_name ? wmem_strdup_printf(monitor->pool, "%s (%s)", monitor->pair->called, monitor->pair->server)
                     : monitor->pair->server;
        numbers[FIGURE_PROBES] = 0;
        return;
    }
    double *each = wmem_alloc_array(monitor->pool, double, monitor->end - monitor->calls + 1);
    texts[FIGURE_SERVER] = first->server;
    if (!first->is_sealed) {
        take_talks(monitor);
    } else if (first->is_hkpd) {
        settle_names(monitor);
    }
    if (monitor->number > 0) { /* else nothing is known to be open */
        name_handles(monitor, first);
    }
    unsigned intervals = take_intervals(monitor, each);
    if (first->is_sealed) {
        settle_sealed(monitor, each, intervals);
    }
    if (intervals > 0) {
        spread(monitor, each, intervals);
    }
    take_calls(monitor, each);
    take_clock(monitor, each);
}
