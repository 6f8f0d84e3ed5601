/* hosts.h
 * Whose state it is, and when: machines, the connections to them, and events.
 *
 * An address and port are one machine's as long as nothing says otherwise. What says otherwise are names: a machine is called
 * something by its clients (szMachine), by whom they log on to (the tree of a named pipe, the target of NTLM or Kerberos), and
 * by itself (SystemName of a PERF_DATA_BLOCK). A connection has one name of each kind, and is to the machine that alone fits
 * them. Where several fit, or a connection has no name and its address several machines, it is to a machine of its own, of
 * which nothing is known but what that connection tells.
 *
 * All that was learned hangs on the machine: facts by subject, handles by their bytes. Where a connection proves to be to
 * another machine than was thought, what it told and opened goes there with it.
 *
 * Like all that state/ has it is filled on the first pass by whoever reads a call, in the order of events, is read at any time "as of an event",
 * so that a packet looks the same whenever it is looked at, and ends with the file. Events count the PDUs as they were first seen: one frame can
 * hold several. Event 0 is "before everything": it finds nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#define PERF_HANDLE_SIZE 20 /* of a context handle */

typedef enum {
    HOST_CALLED, /* szMachine */
    HOST_TARGET, /* whom the client logged on to */
    HOST_LOGON,  /* what the server called itself then */
    HOST_SYSTEM, /* SystemName */
    NUM_HOST_NAMES
} host_name_kind;

/* An address with one port for TCP and one for named pipes: one machine has both as long as nothing says otherwise. Whatever else an
 * address has is another place. */
typedef struct host_place {
    bool serves[2];   /* TCP, named pipes */
    bool shares;      /* its address has another */
    bool lacks_calls; /* some of its connections' were not read, or not captured */
    const char *address_text;
    struct state_host *machines; /* the first of a list */
    struct state_host *commons;  /* keeps what was told where it is not certain to which machine */
    unsigned num_machines;
    unsigned num_added;                   /* so far */
    unsigned num_hosts;                   /* those of connections that could be to several, too */
    struct state_connection *connections; /* the first of a list */
} host_place;

/* A machine. */
typedef struct state_host {
    host_place *place;
    struct state_host *next;           /* machine of the same place */
    const char *names[NUM_HOST_NAMES]; /* NULL as long as it has none of that kind */
    unsigned connections;              /* that are to it */
    bool is_known;                     /* false: which of the place's machines it is, is unknown */
    bool is_called_by_address;         /* on a connection that another name tells to be to it */
    const char *port_text;             /* address and port, */
    const char *place_text;            /* and which of its machines */
    const char *address;               /* without a port, of the first machine of an address; else place_text */
    unsigned no_windows;               /* connections on which something came that no Windows sends */
    bool has_unread_lists;             /* lists of names could not be read whole */
    uint32_t told;                     /* facts */
    wmem_array_t
        *titles; /* indexes (uint32_t) of its newest list that was whole, in English if one was; NULL without one */
    uint32_t titles_language; /* 0: English, UINT32_MAX: not known */
    /* with which its newest list was asked, if in a language that is not known; else zeros */
    uint8_t titles_handle[PERF_HANDLE_SIZE];
    uint32_t facts_changed; /* latest event at which one of them may have changed, 0: none */
    uint32_t facts_version; /* counts what was learned of it and may change what earlier packets mean */
} state_host;

/* A connection, as far as it says which machine it is to. */
typedef struct state_connection {
    host_place *place;
    uint32_t port;
    struct state_connection *next; /* of the place */
    state_host *host;              /* to which it is, as far as is known by now */
    const char *names[NUM_HOST_NAMES];
    bool is_no_windows;
    bool is_unnamed;    /* a call was not read that would have named its machine, and no other did */
    bool is_in_doubt;   /* its machine called itself by two names, of which one is wrong; or a handle alone tells it */
    wmem_array_t *told; /* of facts.c */
    uint32_t settled;   /* not 0: to which machine it is is known, and what it told doubts no other's names */
    wmem_array_t *handles; /* of handles.c */
} state_connection;

/* Begins one, to the server that a PDU is to or from. `is_pipe`: by SMB. */
state_connection *host_connect(const packet_info *pinfo, bool is_request, bool is_pipe);

/* The server calls itself so, or is called so, on a connection: backslashes around it don't count. Returns the connection as which it goes
 * on: one that has another name of the kind is another machine's from here on; but whom it is to can have one SystemName. */
state_connection *host_name(state_connection *connection, host_name_kind kind, const char *name);

/* A name as names are compared: in small letters, without backslashes and a dot at its end. */
char *host_plain_name(wmem_allocator_t *pool, const char *name);

/* The connection uses a handle of that machine of its place alone: it is to it, unless a name says otherwise (false). */
bool host_join(state_connection *connection, state_host *host);

/* True if a connection is to its machine for sure, whoever else there may be. */
bool host_is_settled(const state_connection *connection);

/* Where all is kept that was said on other connections of its place, as long as it has one machine; NULL where it has several. */
state_host *host_commons(const state_host *host);

/* Its place has machines, and it is not known whether it is one of them. */
bool host_may_be_others(const state_host *host);

/* The only machine of its place, where the call was not read that tells whether it is that; else NULL. */
state_host *host_likely(const state_host *host);

/* A call of the connection was not read, or not captured, that may name its machine; where another did that before, that holds. */
void host_note_unnamed(state_connection *connection);

/* Something came on the connection that no Windows sends. */
void host_note_no_windows(state_connection *connection);

/* The next event: of each request, response or fault that is seen for the first time, but for sealed ones and repeated answers. */
uint32_t state_event_next(void);

/* What changes with events stands in arrays in their order, of structures that begin with the event (uint32_t). Returns how
 * many elements are not after `event`: mostly all, for what is looked up as of an event is looked up on the first pass, when
 * there is nothing newer. */
unsigned state_event_count_until(wmem_array_t *array, uint32_t event);

/* Of the same arrays: the last element that is not after `event`, NULL if there is none. */
void *state_event_latest(wmem_array_t *array, uint32_t event);

void hosts_register(void);
