/* events.c
 * Events: numbers of the PDUs as they were first seen.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/events.h"

static uint32_t last_event;

uint32_t state_event_next(void)
{
    return ++last_event;
}

static uint32_t event_at(wmem_array_t *array, unsigned i)
{
    return *(const uint32_t *)wmem_array_index(array, i);
}

unsigned state_event_count_until(wmem_array_t *array, uint32_t event)
{
    unsigned low = 0, high = wmem_array_get_count(array);

    if (high > 0 && event_at(array, high - 1) <= event) {
        return high;
    }
    ws_assert(high < 2 || event_at(array, high - 2) <= event_at(array, high - 1));
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (event_at(array, middle) <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void *state_event_latest(wmem_array_t *array, uint32_t event)
{
    unsigned count = state_event_count_until(array, event);

    return count > 0 ? wmem_array_index(array, count - 1) : NULL;
}

static void reset_events(void)
{
    last_event = 0;
}

void events_register(void)
{
    register_cleanup_routine(reset_events);
}
