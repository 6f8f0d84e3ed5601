/* figures.c
 * The figures of a monitor, worked out of its calls.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/talks.h"

#include "perf/summary.h"

#include <math.h>

/* Seconds in which data follows a sealed size probe as long as no interval is known, and after which a response without data has failed. */
#define PROBE_SECONDS 0.5
#define FAILED_SECONDS 5.0

/* Intervals without data after a sealed response without data that has failed. */
#define FAILED_INTERVALS 3

/* The median of the times between samples of a sealed monitor, from each to the one as many before as queries are open; 0: it has too few. */
static double usual_of_sealed(const verdict_monitor *monitor)
{
    enum { FEWEST = 3 };
    double *times = wmem_alloc_array(monitor->pool, double, monitor->end - monitor->calls + 1);
    unsigned count = 0, stride = 1;

    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        times[count] = call->asked;
        count += call->outcome == CALL_SAMPLE && call->asked > 0;
        stride = MAX(stride, call->num_open);
    }
    count = count > stride ? count - stride : 0;
    for (unsigned i = 0; i < count; i++) {
        times[i] = times[i + stride] - times[i];
    }
    return count >= FEWEST ? perf_median(times, count) : 0;
}

/* Settles calls without data in a row, until `next` (seconds), when data comes or the capture ends. */
static void settle_run(verdict_call *const *run, unsigned count, double next, bool has_data, double soon,
                       double patience)
{
    for (unsigned i = 0; i < count; i++) {
        bool is_probe = has_data && next - run[i]->answered <= soon;
        bool has_failed = next - run[0]->answered >= patience;
        run[i]->outcome = is_probe ? CALL_PROBE : has_failed ? CALL_NO_DATA : CALL_DONE;
    }
}

/* Sealed answers without data: one that data follows soon was a size probe; those of which no data came for three intervals have failed; of
 * others nothing is known. */
static void settle_sealed(const verdict_monitor *monitor)
{
    double usual = usual_of_sealed(monitor), soon = usual > 0 ? usual / TIMING_PROBE_SHARE : PROBE_SECONDS;
    double patience = MAX(FAILED_INTERVALS * usual, FAILED_SECONDS);
    verdict_call **run = wmem_alloc_array(monitor->pool, verdict_call *, monitor->end - monitor->calls + 1);
    unsigned count = 0;

    for (verdict_call *call = monitor->calls; call < monitor->end; call++) {
        if (call->asks && call->outcome == CALL_SAMPLE) {
            settle_run(run, count, call->asked, true, soon, patience);
            count = 0;
        } else if (call->asks && call->outcome == CALL_NO_DATA) {
            run[count++] = call;
        }
    }
    settle_run(run, count, verdict_wire_last(), false, soon, patience);
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

/* The question that is asked most often: of HKEY_PERFORMANCE_DATA each has a timing of its own. */
static unsigned main_question(const verdict_monitor *monitor)
{
    wmem_map_t *asked = wmem_map_new(monitor->pool, g_direct_hash, g_direct_equal);
    unsigned most = 0, found = 0;

    for (const verdict_call *call = monitor->calls; monitor->talks->is_hkpd && call < monitor->end; call++) {
        unsigned times = GPOINTER_TO_UINT(wmem_map_lookup(asked, GUINT_TO_POINTER(call->subject))) + 1;
        if (call->asks) {
            wmem_map_insert(asked, GUINT_TO_POINTER(call->subject), GUINT_TO_POINTER(times));
            found = times > most ? call->subject : found;
            most = MAX(most, times);
        }
    }
    return found;
}

/* Frame in which the client closed its query, or the connection around it; 0: it did not. */
static uint32_t closed_in(const verdict_call *call)
{
    const verdict_talk *talk = call->talk;
    const wire_event *end = call->connection && call->connection->end.frame > 0 ? &call->connection->end : NULL;
    uint32_t by_call = !talk->is_sealed                  ? talk->closed_frame
                       : talk->is_closed && talk->newest ? talk->newest->asked_frame
                                                         : 0;

    return by_call > 0 ? by_call : end && verdict_wire_by_client(call->connection, end) ? end->frame : 0;
}

static int compare_samples(const void *a, const void *b)
{
    const monitor_sample *x = a, *y = b;

    return x->asked != y->asked ? (x->asked > y->asked) - (x->asked < y->asked)
                                : (x->asked_frame > y->asked_frame) - (x->asked_frame < y->asked_frame);
}

static void take_samples(verdict_monitor *monitor)
{
    unsigned question = main_question(monitor);

    monitor->samples = wmem_alloc_array(monitor->pool, monitor_sample, monitor->end - monitor->calls + 1);
    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        bool is_sample = call->outcome == CALL_SAMPLE;
        bool has_clock = is_sample && !call->talk->is_sealed && call->clocks.perf_freq > 0;
        if (!call->asks || (monitor->talks->is_hkpd && call->subject != question) ||
            (call->outcome == CALL_DONE && !call->talk->is_sealed)) {
            continue;
        }
        double asked = call->asked > 0 ? call->asked : call->answered;
        monitor->samples[monitor->num_samples++] =
            (monitor_sample){.asked = asked,
                             .sent = asked,
                             .answered = call->answered,
                             .acked = call->acked,
                             .clock = has_clock ? (double)call->clocks.perf_time / (double)call->clocks.perf_freq : 0,
                             .date = has_clock ? (double)call->clocks.time_100ns / 1e7 : 0,
                             .asked_frame = call->asked_frame,
                             .frame = call->frame,
                             .query = call->talk->place,
                             .num_open = call->num_open,
                             .closed = closed_in(call),
                             .sent_known = call->seconds >= 0,
                             .outcome = call->outcome,
                             .connection = call->connection};
    }
    qsort(monitor->samples, monitor->num_samples, sizeof *monitor->samples, compare_samples);
}

static void take_timing(verdict_monitor *monitor, double *gaps)
{
    double *numbers = monitor->figures.numbers;

    take_samples(monitor);
    verdict_timing_learn(monitor);
    if (monitor->timing.num_gaps > 0) {
        for (uint32_t i = 0; i < monitor->timing.num_gaps; i++) {
            gaps[i] = fabs(monitor->gaps[i].seconds - monitor->timing.usual);
        }
        numbers[FIGURE_INTERVAL] = monitor->timing.usual;
        numbers[FIGURE_JITTER] = perf_median(gaps, monitor->timing.num_gaps);
        numbers[FIGURE_LONGEST] = monitor->gaps[monitor->timing.longest].seconds;
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
    if (first->is_sealed) {
        settle_sealed(monitor);
    }
    take_timing(monitor, each);
    take_calls(monitor, each);
    take_clock(monitor, each);
}
