/* figures.c
 * The figures of a monitor, worked out of its calls.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "perf/summary.h"

#include <math.h>

/* Of PerfTime100NSec, and seconds by which its time may differ from PerfTime's: who sets a clock moves it by less. */
#define UNITS_A_SECOND 1e7
#define MOST_DRIFT 3600.0

/* By the server's clock it was taken before the other one, though it was answered after it. */
static bool is_overtaken(const verdict_call *call, const verdict_call *other)
{
    bool is_older =
        call->perf_time != other->perf_time ? call->perf_time < other->perf_time : call->time_100ns < other->time_100ns;
    return is_older && verdict_overlaps(call, other);
}

double verdict_interval(const verdict_call *before, const verdict_call *call)
{
    const perf_point old = {
        .perf_time = before->perf_time, .perf_freq = before->perf_freq, .time_100ns = before->time_100ns};
    const perf_point new = {.perf_time = call->perf_time, .perf_freq = call->perf_freq, .time_100ns = call->time_100ns};
    double interval = perf_is_older(&new, &old) ? 0 : perf_interval(&new, &old);
    double other = (double)(int64_t)(new.time_100ns - old.time_100ns) / UNITS_A_SECOND;
    bool has_other = new.time_100ns > 0 && old.time_100ns > 0;

    return has_other && fabs(interval - other) > MOST_DRIFT ? 0 : interval;
}

static void take_intervals(const verdict_monitor *monitor, GArray *intervals, double *longest)
{
    bool by_question = verdict_first_talk(monitor)->is_hkpd;
    const verdict_call *before = NULL;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->outcome != CALL_SAMPLE || (before && is_overtaken(call, before))) {
            continue;
        }
        double interval =
            before && (!by_question || before->subject == call->subject) ? verdict_interval(before, call) : 0;
        if (interval > 0) {
            g_array_append_val(intervals, interval);
            *longest = MAX(*longest, interval);
        }
        before = call;
    }
}

static double median(const GArray *numbers)
{
    return perf_median(&g_array_index(numbers, const double, 0), numbers->len);
}

/* Three of four are like their median: none are of pairs, or of two plans. */
static bool is_even(const GArray *intervals, double middle)
{
    unsigned alike = 0;

    for (unsigned i = 0; i < intervals->len; i++) {
        double interval = g_array_index(intervals, double, i);
        alike += interval <= middle * VERDICT_ALIKE && middle <= interval * VERDICT_ALIKE;
    }
    return 4 * alike >= 3 * intervals->len;
}

/* The median of their distances from `middle`, which they become. */
static double deviation(GArray *numbers, double middle)
{
    for (unsigned i = 0; i < numbers->len; i++) {
        double *number = &g_array_index(numbers, double, i);
        *number = fabs(*number - middle);
    }
    return median(numbers);
}

/* Who is answered without data and wanted its size asks again within so much of the usual time between samples; or, as long as
 * that is not known, within so many seconds. */
#define PROBE_SHARE 0.25
#define PROBE_SECONDS 0.5

/* What waits for data at the capture's end, and is no loop yet. */
#define MOST_WAITING 2

static void settle(GArray *waiting, call_outcome outcome)
{
    for (unsigned i = 0; i < waiting->len; i++) {
        g_array_index(waiting, verdict_call *, i)->outcome = (uint8_t)outcome;
    }
    g_array_set_size(waiting, 0);
}

/* Sealed answers without data: what data follows soon was a probe, and what is closed or goes on later was in vain. */
static void settle_sealed(const verdict_monitor *monitor, GArray *intervals)
{
    double allowed = intervals->len < 3 ? PROBE_SECONDS : PROBE_SHARE * median(intervals), newest = 0;
    GArray *waiting = g_array_new(FALSE, FALSE, sizeof(verdict_call *));

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        verdict_call *call = verdict_call_at(monitor, i);
        if (!call->asks || (call->outcome != CALL_NO_DATA && call->outcome != CALL_SAMPLE)) {
            continue;
        }
        if (waiting->len > 0 && call->asked - newest > allowed) {
            settle(waiting, CALL_NO_DATA);
        }
        if (call->outcome == CALL_NO_DATA) {
            newest = call->answered;
            g_array_append_val(waiting, call);
        } else if (waiting->len > 0) {
            g_array_index(waiting, verdict_call *, waiting->len - 1)->outcome = CALL_PROBE;
            g_array_set_size(waiting, waiting->len - 1);
        }
    }
    settle(waiting, waiting->len <= MOST_WAITING && !verdict_last_talk(monitor)->is_closed ? CALL_DONE : CALL_NO_DATA);
    g_array_unref(waiting);
}

/* What a sealed key was asked once or twice, and something else more often: lists of names. */
static void settle_names(verdict_monitor *monitor)
{
    enum { FEWEST = 3 };
    GHashTable *asked = g_hash_table_new(g_direct_hash, g_direct_equal);
    double *numbers = monitor->figures.numbers, samples = 0, bytes = 0;
    unsigned most = 0;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        void *question = GUINT_TO_POINTER(call->subject);
        unsigned times = GPOINTER_TO_UINT(g_hash_table_lookup(asked, question)) + (call->outcome == CALL_SAMPLE);
        g_hash_table_insert(asked, question, GUINT_TO_POINTER(times));
        most = MAX(most, times);
    }
    for (unsigned i = 0; i < monitor->calls->len; i++) {
        verdict_call *call = verdict_call_at(monitor, i);
        bool is_rare = GPOINTER_TO_UINT(g_hash_table_lookup(asked, GUINT_TO_POINTER(call->subject))) < FEWEST;
        if (call->outcome == CALL_SAMPLE && is_rare && most >= FEWEST) {
            call->outcome = CALL_DONE;
        }
        samples += call->outcome == CALL_SAMPLE;
        bytes += call->outcome == CALL_SAMPLE ? call->size : 0;
    }
    numbers[FIGURE_SAMPLES] = samples;
    numbers[FIGURE_SIZE] = samples > 0 ? round(bytes / samples) : NAN;
    g_hash_table_destroy(asked);
}

static void take_calls(verdict_monitor *monitor, GArray *responses)
{
    double *numbers = monitor->figures.numbers;
    double probes = 0, no_data = 0, slowest = -1;

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        probes += call->outcome == CALL_PROBE;
        no_data += call->asks &&
                   (call->outcome == CALL_FAILED || call->outcome == CALL_EMPTY || call->outcome == CALL_NO_DATA);
        if (call->outcome == CALL_SAMPLE && call->seconds >= 0) {
            g_array_append_val(responses, call->seconds);
            numbers[FIGURE_SLOWEST_FRAME] = call->seconds > slowest ? call->frame : numbers[FIGURE_SLOWEST_FRAME];
            slowest = MAX(slowest, call->seconds);
        }
    }
    numbers[FIGURE_SLOWEST] = slowest >= 0 ? slowest : NAN;
    numbers[FIGURE_PROBES] = probes;
    numbers[FIGURE_NO_DATA] = no_data;
}

static void name_handles(verdict_monitor *monitor, const verdict_talk *first)
{
    const char *kind = first->is_sealed ? "sealed" : first->is_hkpd ? "handle" : "query";
    const verdict_talk *last = verdict_last_talk(monitor);
    const char **texts = monitor->figures.texts;
    unsigned more = monitor->talks->len - 1;
    /* a filter may have left out the call that closed it */
    uint32_t closed = last->handle ? tapped_handle_of(last->handle).closed_frame : last->closed_frame;

    texts[FIGURE_HANDLE] =
        wmem_strdup_printf(monitor->pool, more > 0 ? "%s %u and %u more" : "%s %u", kind, monitor->number, more);
    if (first->is_sealed) {
        texts[FIGURE_OPENED] = more > 0 ? "sealed (intervals by the capture's clock; one by the sizes of its requests)"
                                        : "sealed (intervals by the capture's clock)";
        return;
    }
    texts[FIGURE_OPENED] = first->opened_frame > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", first->opened_frame)
                                                   : "before the capture";
    texts[FIGURE_CLOSED] = closed > 0 ? wmem_strdup_printf(monitor->pool, "frame %u", closed) : "left open";
}

/* What the talks counted, added up. */
static void take_talks(verdict_monitor *monitor, const verdict_talk *first)
{
    double *numbers = monitor->figures.numbers;
    double bytes = 0, failed = 0, refusals = 0, offsets = 0, num_offsets = 0;

    numbers[FIGURE_SAMPLES] = 0;
    for (unsigned i = 0; i < monitor->talks->len; i++) {
        const verdict_talk *talk = g_ptr_array_index(monitor->talks, i);
        numbers[FIGURE_SAMPLES] += (double)talk->samples;
        bytes += (double)talk->bytes;
        failed += (double)talk->failed;
        refusals += (double)talk->books[BOOK_REFUSED].things;
        offsets += talk->offsets;
        num_offsets += (double)talk->num_offsets;
    }
    if (numbers[FIGURE_SAMPLES] > 0) {
        numbers[FIGURE_SIZE] = round(bytes / numbers[FIGURE_SAMPLES]);
    }
    if (num_offsets > 0) {
        numbers[FIGURE_CLOCK] = offsets / num_offsets;
    }
    if (!first->is_sealed) {
        numbers[FIGURE_COUNTERS] = (double)verdict_last_talk(monitor)->counters;
        numbers[FIGURE_REFUSED] = refusals;
        numbers[FIGURE_FAILED] = failed;
    }
}

void verdict_figures(verdict_monitor *monitor)
{
    const verdict_talk *first = verdict_first_talk(monitor);
    double *numbers = monitor->figures.numbers, longest = 0;
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
    texts[FIGURE_SERVER] = first->server;
    take_talks(monitor, first);
    name_handles(monitor, first);
    if (first->is_sealed && first->is_hkpd) {
        settle_names(monitor);
    }
    GArray *intervals = g_array_new(FALSE, FALSE, sizeof(double)),
           *responses = g_array_new(FALSE, FALSE, sizeof(double));
    take_intervals(monitor, intervals, &longest);
    if (first->is_sealed) {
        settle_sealed(monitor, intervals);
    }
    take_calls(monitor, responses);
    if (intervals->len > 0) {
        numbers[FIGURE_INTERVAL] = median(intervals);
        monitor->is_even = is_even(intervals, numbers[FIGURE_INTERVAL]);
        numbers[FIGURE_JITTER] = deviation(intervals, numbers[FIGURE_INTERVAL]);
        numbers[FIGURE_LONGEST] = longest;
    }
    if (responses->len > 0) {
        numbers[FIGURE_RESPONSE] = median(responses);
    }
    g_array_unref(intervals);
    g_array_unref(responses);
}
