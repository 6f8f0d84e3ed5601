/* pace.c
 * How often a monitor takes a sample, how long it waits for the answer, and who is late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/pace.h"

/* Times between two samples. */
typedef struct {
    double interval;
    double waited; /* how long the client waited for answers in it */
    uint32_t frame;
} kept_interval;

#define MAX_INTERVALS PERF_SPREAD_EXACT

void pace_free(pace *p)
{
    perf_spread_free(&p->intervals);
    perf_spread_free(&p->waits);
    perf_spread_free(&p->responses);
    if (p->intervals_kept) {
        g_array_free(p->intervals_kept, TRUE);
    }
}

static unsigned judge(const kept_interval *kept, double interval, double waited)
{
    if (kept->interval <= PACE_LATE * interval) {
        return PACE_IN_TIME;
    }
    return kept->waited - waited >= (kept->interval - interval) / 2 ? PACE_ANSWERED_LATE : PACE_ASKED_LATE;
}

static void count(const kept_interval *kept, double interval, double waited, uint64_t *late, uint32_t *frames)
{
    unsigned verdict = judge(kept, interval, waited);

    frames[verdict] = late[verdict]++ == 0 ? kept->frame : frames[verdict];
}

void pace_add_interval(pace *p, double interval, uint32_t frame)
{
    kept_interval kept = {interval, p->waited, frame};

    perf_spread_add(&p->intervals, interval);
    perf_spread_add(&p->waits, p->waited);
    perf_summary_add(&p->lengths, interval);
    if (p->intervals_kept == NULL) {
        p->intervals_kept = g_array_new(FALSE, FALSE, sizeof kept);
    }
    if (p->intervals_kept->len < MAX_INTERVALS) {
        g_array_append_val(p->intervals_kept, kept);
    } else {
        count(&kept, perf_spread_median(&p->intervals), perf_spread_median(&p->waits), p->late, p->frames);
    }
}

void pace_add_response(pace *p, double seconds, uint32_t frame)
{
    p->waited = MAX(seconds, 0);
    if (seconds >= 0) {
        perf_spread_add(&p->responses, seconds);
    }
    if (seconds >= 0 && (p->slowest_frame == 0 || seconds > p->slowest)) {
        p->slowest = seconds;
        p->slowest_frame = frame;
    }
}

void pace_judge(const pace *p, uint64_t late[PACE_VERDICTS], uint32_t frames[PACE_VERDICTS])
{
    double interval = perf_spread_median(&p->intervals), waited = perf_spread_median(&p->waits);
    uint64_t first[PACE_VERDICTS] = {0};

    memset(frames, 0, sizeof p->frames);
    for (unsigned i = 0; p->intervals_kept && i < p->intervals_kept->len; i++) {
        count(&g_array_index(p->intervals_kept, kept_interval, i), interval, waited, first, frames);
    }
    for (unsigned i = 0; i < PACE_VERDICTS; i++) {
        late[i] = first[i] + p->late[i];
        frames[i] = frames[i] ? frames[i] : p->frames[i];
    }
}
