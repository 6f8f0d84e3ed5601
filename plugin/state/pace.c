/* pace.c
 * Which samples of a handle are late, and whether the client or the server made them so.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/pace.h"

#include "state/queries.h"

void pace_ask(pace_requests *requests, double when)
{
    if (requests->newest > 0 && !requests->is_waiting) {
        requests->longest = MAX(requests->longest, when - requests->newest);
    }
    requests->count++;
    requests->newest = when;
    requests->is_waiting = true;
}

/* An answer is to blame if the client waited longer than its median, by at least half of what the time is too long. */
static unsigned verdict_of(const state_pace *pace, double interval)
{
    if (pace->intervals.count < PACE_FEWEST || interval <= PACE_LATE * pace->longest) {
        return PACE_IN_TIME;
    }
    double median_interval = perf_spread_median(&pace->intervals), waits = perf_spread_median(&pace->waits);
    if (pace->waited - waits >= (interval - median_interval) / 2) {
        return PACE_ANSWERED_LATE;
    }
    bool asked_in_time = pace->requests.count > 1 && pace->requests.longest <= PACE_LATE * median_interval;
    return asked_in_time || pace->requests.misses_some ? PACE_IN_TIME : PACE_ASKED_LATE;
}

/* Counts the newest time between samples among those before. */
static void take_newest(state_pace *pace, double interval)
{
    double too_long = pace->waits.count > 0 ? pace->waited - perf_spread_median(&pace->waits) : 0;

    pace->longest = MAX(pace->longest, interval - MAX(too_long, 0));
    perf_spread_add(&pace->intervals, interval);
    perf_spread_add(&pace->waits, pace->waited);
}

void pace_wait_for(state_pace *pace, double seconds)
{
    pace->waited += MAX(seconds, 0);
    pace->requests.is_waiting = false;
}

const struct state_late *pace_pass(state_pace *pace, uint32_t event, const perf_point *clocks, double seconds)
{
    struct state_late *late = NULL;
    double interval = pace->event > 0 ? perf_agreed_interval(clocks, &pace->clocks) : 0;

    pace->waited += MAX(seconds, 0);
    unsigned verdict = interval > 0 ? verdict_of(pace, interval) : PACE_IN_TIME;
    if (verdict != PACE_IN_TIME) {
        late = wmem_new(wmem_file_scope(), struct state_late);
        *late = (struct state_late){verdict, interval, perf_spread_median(&pace->intervals)};
    }
    if (interval > 0) {
        take_newest(pace, interval);
    }
    pace->event = event;
    pace->clocks = *clocks;
    pace->waited = MAX(seconds, 0);
    pace->requests = (pace_requests){.newest = pace->requests.newest};
    return late;
}

/* --- Handles ----------------------------------------------------------------------------------------------------- */

state_pace *pace_of(state_handle *handle, const char *question)
{
    if (handle->paces == NULL) {
        handle->paces = wmem_map_new(wmem_file_scope(), wmem_str_hash, g_str_equal);
    }
    state_pace *pace = wmem_map_lookup(handle->paces, question);
    if (pace == NULL) {
        pace = wmem_new0(wmem_file_scope(), state_pace);
        wmem_map_insert(handle->paces, question, pace);
    }
    return pace;
}

/* Samples that the client may have taken in turn on several connections. */
#define IN_TURN 8

/* On another connection that it was used on lately the client was not heard since: the call that came late may have followed one that was
 * sent there and not captured. */
static bool is_unheard(const state_sample *sample, uint32_t since)
{
    const state_handle *handle = sample->handle;
    const state_sample *early = sample;
    bool unheard = false;

    for (int i = 0; i < IN_TURN && early->previous; i++) {
        early = early->previous;
    }
    for (unsigned i = 0; i < HANDLE_CONNECTIONS; i++) {
        unheard |= handle->connections[i].used > early->event && *handle->connections[i].heard <= since;
    }
    return unheard;
}

/* The client went on. */
static void settle_late(state_pace *pace)
{
    state_sample *sample = pace->perhaps_late;

    if (sample && !is_unheard(sample, sample->event)) {
        const state_association *association = sample->handle->association;
        bool misses_some = association && association->missed > sample->previous->event;
        sample->late = misses_some ? NULL : pace->how_late;
        pace->perhaps_late = NULL;
    }
}

void pace_request(state_handle *handle, const char *question, const nstime_t *when)
{
    state_pace *pace = pace_of(handle, question);

    settle_late(pace);

    pace_ask(&pace->requests, nstime_to_sec(when));
    pace->requests.misses_some |= handle->association && handle->association->missed > pace->event;
}

void pace_sample(state_sample *sample, const char *question, const perf_point *clocks, double seconds)
{
    state_pace *pace = pace_of(sample->handle, question);

    sample->late = pace_pass(pace, sample->event, clocks, seconds);
    if (sample->late && sample->late->verdict == PACE_ASKED_LATE && is_unheard(sample, sample->request_event - 1)) {
        pace->perhaps_late = sample;
        pace->how_late = sample->late;
        sample->late = NULL;
    }
}
