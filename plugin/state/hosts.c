/* hosts.c
 * Whose state it is, and when: servers and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/hosts.h"

#include <epan/to_str.h>

static wmem_map_t *servers; /* state_host, as its own key: address and port; emptied with the file */
static wmem_map_t *firsts;  /* state_host, as its own key: address -> the first with it */
static uint32_t last_event;

static unsigned address_hash(const void *key)
{
    const address *k = &((const state_host *)key)->addr;

    return wmem_strong_hash(k->data, (size_t)k->len) + (unsigned)k->type;
}

static gboolean address_equal(const void *a, const void *b)
{
    return addresses_equal(&((const state_host *)a)->addr, &((const state_host *)b)->addr);
}

static unsigned server_hash(const void *key)
{
    return address_hash(key) + ((const state_host *)key)->port;
}

static gboolean server_equal(const void *a, const void *b)
{
    return ((const state_host *)a)->port == ((const state_host *)b)->port && address_equal(a, b);
}

static state_host *create_server(const state_host *key, bool is_pipe)
{
    state_host *server = wmem_new0(wmem_file_scope(), state_host), *first = wmem_map_lookup(firsts, key);

    copy_address_wmem(wmem_file_scope(), &server->addr, &key->addr);
    server->port = key->port;
    server->address_text = address_to_str(wmem_file_scope(), &key->addr);
    server->port_text = wmem_strdup_printf(wmem_file_scope(), strchr(server->address_text, ':') ? "[%s]:%u" : "%s:%u",
                                           server->address_text, key->port);
    server->whole = server;
    server->serves[is_pipe] = true;
    wmem_map_insert(servers, server, server);
    if (first && !first->serves[is_pipe]) {
        first->serves[is_pipe] = true;
        server->whole = first;
    } else if (first) {
        server->shares = first->shares = true;
    } else {
        server->is_first = true;
        wmem_map_insert(firsts, server, server);
    }
    return server;
}

state_host *host_of(const packet_info *pinfo, bool is_request, bool is_pipe)
{
    const state_host key = {.addr = is_request ? pinfo->dst : pinfo->src,
                            .port = is_request ? pinfo->destport : pinfo->srcport};
    state_host *server = wmem_map_lookup(servers, &key);

    return (server ? server : create_server(&key, is_pipe))->whole;
}

/* "SRV01" and "srv01.example.com" are one name. */
static bool is_same_name(const char *a, const char *b)
{
    return g_ascii_strncasecmp(a, b, MAX(strcspn(a, "."), strcspn(b, "."))) == 0;
}

state_host *host_called(const packet_info *pinfo, const char *machine)
{
    const state_host key = {.addr = pinfo->dst, .port = pinfo->destport};
    state_host *port = wmem_map_lookup(servers, &key), *whole = port->whole;

    if (*machine == '\0' || port->is_called) {
        return whole;
    }
    port->is_called = true;
    if (whole->called == NULL) {
        whole->called = machine;
    } else if (!is_same_name(whole->called, machine)) {
        port->whole = wmem_memdup(wmem_file_scope(), port, sizeof *port);
        port->whole->whole = port->whole;
        port->whole->is_first = false;
        port->whole->shares = whole->shares = true;
    }
    return port->whole;
}

const char *host_address(const state_host *server)
{
    return server->is_first ? server->address_text : server->port_text;
}

void host_note_system(state_host *server, const char *system_name)
{
    if (server->system_name == NULL) {
        server->system_name = wmem_strdup(wmem_file_scope(), system_name);
    } else if (!server->has_systems && strcmp(server->system_name, system_name) != 0) {
        server->has_systems = true;
        server->facts_version++;
    }
}

void host_note_no_windows(state_host *server)
{
    server->facts_version += !server->is_no_windows;
    server->is_no_windows = true;
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

    ws_assert(high < 2 || event_at(array, high - 2) <= event_at(array, high - 1));
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
    last_event = 0;
}

void hosts_register(void)
{
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), server_hash, server_equal);
    firsts = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), address_hash, address_equal);
    register_cleanup_routine(reset);
}
