/* hosts.h
 * Whose state it is, and when: servers and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

typedef struct {
    address addr;
    const char *text;
    uint32_t lessons; /* how often it taught something that may change what packets mean that are behind us */
} state_host;

/* The server of an address; the same pointer for the same address. */
state_host *host_get(const address *addr);
const char *host_address(const state_host *server);

/* The number of a PDU that is seen for the first time. */
uint32_t event_next(void);

/* What changes with events stands in arrays in their order, of structures that begin with the event (uint32_t). How many
 * elements are not after `event`: mostly all, for what is looked up as of an event is looked up on the first pass, when
 * there is nothing newer. And the last of those, NULL if there is none. */
unsigned event_count_until(wmem_array_t *array, uint32_t event);
void *event_latest(wmem_array_t *array, uint32_t event);

void hosts_register(void);
