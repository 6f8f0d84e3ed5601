/* servers.h
 * Servers: a server is an address, with all its ports, names and clients.
 *
 * Filled on the first pass, ends with the file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

typedef struct state_server {
    const char *text;          /* its address: "192.0.2.20" */
    const char *called;        /* szMachine of the first client that had a name for it; NULL: none had */
    const char *computer_name; /* SystemName of its first response; NULL: none seen */
    bool is_shared;            /* another response has another name: several computers are behind the address */
    bool is_no_windows;        /* sent what no Windows sends: another title, or a total without the header */
} state_server;

/* Returns the server with that address, as Wireshark writes it, or as a names file does. It lives as long as the file. Changes: creates it. */
state_server *server_find_or_create(const char *text);

/* True if `name` is the server's computer name, letters in either case. Needs: it has one. */
bool server_is_named(const state_server *server, const char *name);

/* Stores what the server calls itself. Changes: the first name stays, another one makes the server shared. */
void server_learn_name(state_server *server, const char *name);

/* Has servers end with each file. Once, as the plugin begins. */
void servers_register(void);
