/* servers.c
 * Servers: a server is an address, with all its ports, names and clients.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/servers.h"

static wmem_map_t *servers; /* text of an address -> state_server; emptied with the file */

state_server *server_find_or_create(const char *text)
{
    state_server *server = wmem_map_lookup(servers, text);

    if (server == NULL) {
        server = wmem_new0(wmem_file_scope(), state_server);
        server->text = wmem_strdup(wmem_file_scope(), text);
        wmem_map_insert(servers, server->text, server);
    }
    return server;
}

bool server_is_named(const state_server *server, const char *name)
{
    return g_ascii_strcasecmp(server->computer_name, name) == 0;
}

void server_learn_name(state_server *server, const char *name)
{
    if (server->computer_name == NULL) {
        server->computer_name = wmem_strdup(wmem_file_scope(), name);
    }
    server->is_shared |= !server_is_named(server, name);
}

void servers_register(void)
{
    servers = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_str_hash, g_str_equal);
}
