/* pace.c
 * Which samples of a handle are late, and whether the client or the server made them so.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/pace.h"

static state_pace *paces; /* all of the capture */

void state_pace_free(state_pace *pace)
{
    perf_spread_free(&pace->intervals);
    perf_spread_free(&pace->waits);
}

static unsigned verdict_of(const state_pace *pace, double interval)
{
    double usual = perf_spread_median(&pace->intervals), waits = perf_spread_median(&pace->waits);

    if (pace->intervals.count < PACE_FEWEST || interval <= PACE_LATE * usual) {
        return PACE_IN_TIME;
    }
    return pace->waited - waits >= (interval - usual) / 2 ? PACE_ANSWERED_LATE : PACE_ASKED_LATE;
}

unsigned state_pace_judge(state_pace *pace, double interval)
{
    unsigned verdict = verdict_of(pace, interval);

    perf_spread_add(&pace->intervals, interval);
    perf_spread_add(&pace->waits, pace->waited);
    return verdict;
}

state_pace *pace_new(void)
{
    state_pace *pace = wmem_new0(wmem_file_scope(), state_pace);

    pace->next = paces;
    paces = pace;
    return pace;
}

const struct state_late *pace_judge(state_pace *pace, double interval, double seconds)
{
    struct state_late *late = NULL;
    double usual = perf_spread_median(&pace->intervals);

    pace->waited += MAX(seconds, 0);
    unsigned verdict = interval > 0 ? state_pace_judge(pace, interval) : PACE_IN_TIME;
    if (verdict != PACE_IN_TIME) {
        late = wmem_new(wmem_file_scope(), struct state_late);
        *late = (struct state_late){verdict, interval, usual};
    }
    pace->waited = MAX(seconds, 0);
    return late;
}

/* --- Handles ----------------------------------------------------------------------------------------------------- */

static state_pace *pace_of(state_handle *handle, const char *question)
{
    if (handle->paces == NULL) {
        handle->paces = wmem_map_new(wmem_file_scope(), wmem_str_hash, g_str_equal);
    }
    state_pace *pace = wmem_map_lookup(handle->paces, question);
    if (pace == NULL) {
        pace = pace_new();
        wmem_map_insert(handle->paces, question, pace);
    }
    return pace;
}

void pace_wait(state_handle *handle, const char *question, double seconds)
{
    pace_of(handle, question)->waited += MAX(seconds, 0);
}

void pace_sample(state_sample *sample, const char *question, const perf_point *clocks, double seconds)
{
    state_pace *pace = pace_of(sample->handle, question);
    bool is_first = pace->clocks.perf_time == 0 && pace->clocks.time_100ns == 0;

    sample->late = pace_judge(pace, is_first ? 0 : perf_interval(clocks, &pace->clocks), seconds);
    pace->clocks = *clocks;
}

/* Before the file's memory goes, which holds the paces themselves. */
static void reset(void)
{
    for (; paces; paces = paces->next) {
        state_pace_free(paces);
    }
}

void paces_register(void)
{
    register_cleanup_routine(reset);
}
