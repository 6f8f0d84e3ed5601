/* hosts.c
 * Whose state it is, and when: servers and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/hosts.h"

#include <epan/to_str.h>

static wmem_map_t *servers;      /* address -> state_host, emptied with the file */
static state_host *newest_asked; /* request and response ask for the same */
static uint32_t last_event;

static unsigned address_hash(const void *key)
{
    const address *k = key;

    return wmem_strong_hash(k->data, (size_t)k->len) + (unsigned)k->type;
}

static gboolean address_equal(const void *a, const void *b)
{
    return addresses_equal((const address *)a, (const address *)b);
}

state_host *host_get(const address *addr)
{
    if (newest_asked && addresses_equal(&newest_asked->addr, addr)) {
        return newest_asked;
    }
    state_host *server = wmem_map_lookup(servers, addr);
    if (server == NULL) {
        server = wmem_new0(wmem_file_scope(), state_host);
        copy_address_wmem(wmem_file_scope(), &server->addr, addr);
        server->text = address_to_str(wmem_file_scope(), addr);
        wmem_map_insert(servers, &server->addr, server);
    }
    newest_asked = server;
    return server;
}

const char *host_address(const state_host *server)
{
    return server->text;
}

uint32_t event_next(void)
{
    return ++last_event;
}

static uint32_t event_at(wmem_array_t *array, unsigned i)
{
    return *(const uint32_t *)wmem_array_index(array, i);
}

unsigned event_count_until(wmem_array_t *array, uint32_t event)
{
    unsigned low = 0, high = wmem_array_get_count(array);

    if (high > 0 && event_at(array, high - 1) <= event) {
        return high;
    }
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

void *event_latest(wmem_array_t *array, uint32_t event)
{
    unsigned count = event_count_until(array, event);

    return count > 0 ? wmem_array_index(array, count - 1) : NULL;
}

static void reset(void)
{
    newest_asked = NULL;
    last_event = 0;
}

void hosts_register(void)
{
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), address_hash, address_equal);
    register_cleanup_routine(reset);
}
