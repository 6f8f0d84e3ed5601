/* servers.c
 * Servers: a server is an address, with all its ports, names and clients.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/servers.h"

#include <epan/to_str.h>

static wmem_map_t *servers; /* address of a state_server -> it; emptied with the file */

static unsigned server_hash(const void *key)
{
    const address *addr = key;

    return wmem_strong_hash(addr->data, (size_t)addr->len) + (unsigned)addr->type;
}

static gboolean server_equal(const void *a, const void *b)
{
    return addresses_equal(a, b);
}

state_server *server_find_or_create(const address *addr)
{
    state_server *server = wmem_map_lookup(servers, addr);

    if (server == NULL) {
        server = wmem_new0(wmem_file_scope(), state_server);
        copy_address_wmem(wmem_file_scope(), &server->addr, addr);
        server->text = address_to_str(wmem_file_scope(), addr);
        wmem_map_insert(servers, &server->addr, server);
    }
    return server;
}

bool server_is_named(const state_server *server, const char *name)
{
    return g_ascii_strcasecmp(server->computer_name ? server->computer_name : "", name) == 0;
}

void server_learn_name(state_server *server, const char *name)
{
    if (server->computer_name == NULL && *name != '\0') {
        server->computer_name = wmem_strdup(wmem_file_scope(), name);
    } else if (*name != '\0' && !server->is_shared && !server_is_named(server, name)) {
        server->is_shared = true;
    }
}

void servers_register(void)
{
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), server_hash, server_equal);
}
