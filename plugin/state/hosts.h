/* hosts.h
 * Whose state it is, and when: servers and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_HOSTS_H
#define PCQ_STATE_HOSTS_H

#include "ws_compat.h"

typedef struct perf_server perf_server;

/* The server of an address; the same pointer for the same address. */
perf_server *perf_server_get(const address *addr);
const char *perf_server_address(const perf_server *server);

/* Something was learned that may change what packets mean that are behind us, and how often that was so. */
void perf_server_taught(perf_server *server);
uint32_t perf_server_lessons(const perf_server *server);

/* The number of a PDU that is seen for the first time. */
uint32_t perf_next_event(void);

/* How many elements of an array in the order of events are not after `event`. Mostly all: what is looked up as of an event
 * is looked up on the first pass, when there is nothing newer. */
unsigned perf_count_earlier(wmem_array_t *array, uint32_t event, uint32_t (*event_of)(const void *element));

static inline unsigned perf_count_until(wmem_array_t *array, uint32_t event, uint32_t (*event_of)(const void *element))
{
    unsigned count = wmem_array_get_count(array);

    return count > 0 && event_of(wmem_array_index(array, count - 1)) <= event
               ? count
               : perf_count_earlier(array, event, event_of);
}

void perf_servers_register(void);

#endif
