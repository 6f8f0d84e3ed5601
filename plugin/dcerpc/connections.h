/* connections.h
 * Connections, and how a client comes to an interface: by the headers of PDUs, a bind, and the endpoint mapper.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/servers.h"
#include "tap/call-tap.h"

/* Stand for what was not captured. */
#define RPC_NO_OPNUM UINT16_MAX
#define RPC_NO_CONTEXT UINT16_MAX

/* The common header, and what a request, response or fault has behind it ([C706] 12.6.4). */
#define RPC_COMMON_HEADER_SIZE 16
#define RPC_HEADER_SIZE 24

/* [MS-RPCE] 2.2.2.11: auth_type, auth_level, auth_pad_length, reserved, auth_context_id; the token stands behind them. */
#define RPC_TRAILER_SIZE 8

/* [MS-RPCE] 2.2.1.1.8: levels of authentication. */
#define RPC_LEVEL_NONE 1
#define RPC_LEVEL_PRIVACY 6

/* The header of a PDU, and where it is. */
typedef struct {
    tvbuff_t *tvb;
    int at;             /* offset of the PDU in `tvb` */
    unsigned order;     /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    uint8_t type;       /* PDU_REQ and others */
    bool is_first;      /* the first fragment */
    bool is_last;       /* the last fragment */
    uint16_t size;      /* bytes of the PDU */
    uint16_t auth_size; /* bytes of the token at its end */
    uint8_t auth_level; /* 0: no token, or its begin was not captured */
    uint16_t stub_size; /* bytes of stub without padding; meaningless in binds, as the next two members */
    uint32_t hint;      /* alloc_hint: mostly the bytes of stub from here on */
    uint16_t context;   /* id of the presentation context; RPC_NO_CONTEXT: not captured */
    uint16_t opnum;     /* of a request; else RPC_NO_OPNUM */
    uint32_t call_id;
} rpc_header;

/* Interfaces whose calls are followed, of several in a bind the foremost: two that rpc_watch_interface() is given, the mapper. NUM_RPC_INTERFACES: none. */
typedef enum { RPC_PERFLIB, RPC_WINREG, RPC_MAPPER, NUM_RPC_INTERFACES } rpc_interface;

/* Flags of an operation. */
enum {
    RPC_CHANGES = 1,  /* changes the counters of a query */
    RPC_OPENS = 4,    /* opens a query, or a key of performance data */
    RPC_CLOSES = 8,   /* closes it, or any key */
    RPC_USES = 16,    /* uses it, or any key */
    RPC_RETURNS = 32, /* returns data, or the size that they need */
    RPC_SAMPLES = 64  /* returns a sample */
};

typedef struct {
    uint16_t opnum;
    const char *name; /* as Wireshark has it; NULL behind the last */
    unsigned flags;
} rpc_operation;

/* An interface and its operations on performance data. */
typedef struct {
    const e_guid_t *uuid;
    bool (*is_watched)(void); /* false: its calls are not followed */
    const rpc_operation *operations;
} rpc_watched_interface;

/* A presentation context. */
typedef struct {
    uint16_t number;
    rpc_interface iface; /* NUM_RPC_INTERFACES: another, or the server refused it */
    bool is_ndr64;
} rpc_context;

/* A connection, from one bind to the next: Wireshark's conversation; of named pipes, each pipe by itself. Created on the first pass; ends with the file. */
typedef struct rpc_connection {
    uint64_t pipe; /* Wireshark's number of the named pipe, 0: none */
    state_server *server;
    wmem_map_t *contexts;   /* id -> rpc_context */
    rpc_context *offered;   /* those of the latest bind, in its order */
    unsigned num_offered;   /* 0: it is answered */
    uint8_t auth_level;     /* of the client's latest PDU with a token, 0: none */
    uint32_t unread_change; /* frame of the latest ValidateCounters of any query that could not be read; 0: none */
    wmem_map_t *pending;    /* call id -> pending_call of transport.c */
    void *sealed_query;     /* sealed_query of transport.c; NULL: no sealed call yet */
} rpc_connection;

/* Returns the connection of the packet's conversation and named pipe. Needs: the first packet of one goes to the server. Changes: creates it. */
rpc_connection *rpc_connection_find_or_create(packet_info *pinfo);

/* Returns the packet's connection; NULL: no bind was captured, and no operation was handed one of its calls. */
rpc_connection *rpc_find_connection(packet_info *pinfo);

/* True if the client authenticates its calls, but does not seal them: a server that demands sealing denies them. */
static inline bool rpc_connection_is_unsealed(const rpc_connection *connection)
{
    return connection->auth_level > RPC_LEVEL_NONE && connection->auth_level < RPC_LEVEL_PRIVACY;
}

/* Reads the header of the PDU at offset `at`. Returns false if no PDU of DCE/RPC 5 is there, or less than the common header was captured. Numbers
 * that were not captured are 0, RPC_NO_CONTEXT or RPC_NO_OPNUM. */
bool rpc_header_read(rpc_header *header, tvbuff_t *tvb, int at);

/* Adds a bind, which begins a connection, or an alter_context, which goes on with one. Needs: the first pass, in the order of the capture. Returns
 * true if a context is PerflibV2's or winreg's: `call` is the call "Bind", else it means nothing. Changes: creates a connection if an interface is followed. */
bool rpc_add_bind(packet_info *pinfo, const rpc_header *header, call_tap_data *call);

/* Adds the answer to the latest bind, if it had none: forgets the interface of contexts that are refused (a bind_nak refuses all; not captured:
 * accepted). Returns as rpc_add_bind(); the call has failed if each context of a followed interface is refused. */
bool rpc_add_bind_answer(rpc_connection *connection, const rpc_header *header, call_tap_data *call);

/* True if the bytes of `tvb` from `at` to `end`, of a request to the endpoint mapper, ask for PerflibV2 or winreg. */
bool rpc_asks_mapper(tvbuff_t *tvb, int at, int end);

/* Returns the seconds from a request until this packet, negative: not known. */
double rpc_seconds_since(const nstime_t *request_time, const packet_info *pinfo);

/* Returns the row of an operation on performance data; NULL: it is none, or the interface is not registered. */
const rpc_operation *rpc_find_operation(rpc_interface iface, uint16_t opnum);

/* Registers an interface whose binds and calls are followed by their headers. */
void rpc_watch_interface(rpc_interface iface, const rpc_watched_interface *watched);

/* Has connections kept as this protocol's data of a conversation. Once, as the plugin begins. */
void rpc_connections_register(int proto);
