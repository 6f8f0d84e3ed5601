/* events.h
 * Events: numbers of the PDUs as they were first seen, since one frame can hold several. Event 0 is "before everything".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* The next event: of each request, response or fault that is seen for the first time, but for sealed ones and repeated answers. */
uint32_t state_event_next(void);

/* For arrays in the order of events, of structures that begin with the event (uint32_t). Returns how many elements are not after `event`. */
unsigned state_event_count_until(wmem_array_t *array, uint32_t event);

/* Of the same arrays: the last element that is not after `event`, NULL if there is none. */
void *state_event_latest(wmem_array_t *array, uint32_t event);

void events_register(void);
