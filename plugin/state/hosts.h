/* hosts.h
 * Whose state it is, and when: servers and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_HOSTS_H
#define PCQ_STATE_HOSTS_H

#include "ws_compat.h"

typedef struct state_host state_host;

/* The server of an address; the same pointer for the same address. */
state_host *host_get(const address *addr);
const char *host_address(const state_host *server);

/* Something was learned that may change what packets mean that are behind us, and how often that was so. */
void host_taught(state_host *server);
uint32_t host_lessons(const state_host *server);

/* The number of a PDU that is seen for the first time. */
uint32_t event_next(void);

/* How many elements of an array in the order of events are not after `event`. Mostly all: what is looked up as of an event
 * is looked up on the first pass, when there is nothing newer. */
unsigned event_count_until(wmem_array_t *array, uint32_t event, uint32_t (*event_of)(const void *element));

void hosts_register(void);

#endif
