/* hosts.h
 * Whose state it is, and when: servers and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* A server: one machine has one port for named pipes and one for TCP; whatever else an address has is another machine behind it. */
typedef struct state_host {
    address addr;
    uint32_t port;
    const char *address_text;
    const char *port_text;    /* address and port */
    struct state_host *whole; /* the server whose port it is: itself, or the first of its address */
    bool serves[2];           /* TCP, named pipes */
    bool is_first;            /* of its address */
    bool shares;              /* its address has another server, too */
    const char *called;       /* szMachine of its first call that has one, NULL before */
    bool is_called;           /* this port had one, too */
    const char *system_name;  /* SystemName of its first PERF_DATA_BLOCK, NULL before */
    bool has_systems;         /* others had another: machines that share a port; whose its titles are nobody knows */
    bool is_no_windows; /* its titles are others than every Windows has, or it counts a block's bytes as Samba does */
    bool lost_names;    /* lists of names could not be read whole */
    uint32_t sampled;   /* event of its newest sample, 0 before */
    uint32_t renewed;   /* event at which one of its subjects was last told anew, 0 if none was */
    uint32_t facts_version; /* counts what was learned of it and may change what packets mean that are behind us */
} state_host;

/* The server that a PDU is to or from; the same pointer for the same address and port. `is_pipe`: by SMB. */
state_host *host_of(const packet_info *pinfo, bool is_request, bool is_pipe);

/* The server of a request, which host_of() knows, with that szMachine, which has to hold as long as the file: where clients call what
 * one port leads to other than the other port, they are two. */
state_host *host_called(const packet_info *pinfo, const char *machine);

/* What it is called where nobody named it, no two servers alike: by its address, all but the first of it by their port, too. */
const char *host_address(const state_host *server);

/* What a PERF_DATA_BLOCK of the server says that its machine is called. */
void host_note_system(state_host *server, const char *system_name);

/* Some of what it sent no Windows sends. */
void host_note_no_windows(state_host *server);

/* The next event: of each request, response or fault that is seen for the first time, but for sealed ones and repeated answers. */
uint32_t event_next(void);

/* What changes with events stands in arrays in their order, of structures that begin with the event (uint32_t). How many
 * elements are not after `event`: mostly all, for what is looked up as of an event is looked up on the first pass, when
 * there is nothing newer. And the last of those, NULL if there is none. */
unsigned event_count_until(wmem_array_t *array, uint32_t event);
void *event_latest(wmem_array_t *array, uint32_t event);

void hosts_register(void);
