/* connections.h
 * Connections and their calls, by the headers of PDUs: also calls that no operation is handed, since they are sealed, truncated, or not
 * reassembled. Operation, call id and direction stand there in clear.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/servers.h"
#include "tap/call-tap.h"

/* Stand for what was not captured. */
#define RPC_NO_OPNUM UINT16_MAX
#define RPC_NO_CONTEXT UINT16_MAX
#define RPC_NO_HINT UINT32_MAX

/* The common header, and what a request, response or fault has behind it ([C706] 12.6.4). */
#define RPC_COMMON_HEADER_SIZE 16
#define RPC_HEADER_SIZE 24

/* [MS-RPCE] 2.2.2.11: auth_type, auth_level, auth_pad_length, reserved, auth_context_id; the token stands behind them. */
#define RPC_TRAILER_SIZE 8

/* [MS-RPCE] 2.2.1.1.8: levels of authentication. */
#define RPC_LEVEL_NONE 1
#define RPC_LEVEL_PRIVACY 6

typedef struct {
    unsigned order;     /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    uint8_t type;       /* PDU_REQ and others */
    bool is_first;      /* the first fragment */
    bool is_last;       /* the last fragment */
    uint16_t size;      /* bytes of the PDU */
    uint16_t auth_size; /* bytes of the token at its end */
    uint8_t auth_level; /* 0: no token */
    uint16_t stub_size; /* bytes of stub without padding; meaningless in binds, as the next two members */
    uint32_t hint;      /* alloc_hint: mostly the bytes of stub from here on */
    uint16_t context;   /* id of the presentation context; RPC_NO_CONTEXT: not captured */
    uint16_t opnum;     /* of a request; else RPC_NO_OPNUM */
    uint32_t call_id;
} rpc_header;

/* Interfaces whose calls are followed. */
typedef enum { RPC_PERFLIB, RPC_WINREG, RPC_MAPPER, NUM_RPC_INTERFACES } rpc_interface; /* the mapper, always */

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

/* A call by its headers, from its request until its response. First pass only. */
typedef struct {
    rpc_interface interface; /* NUM_RPC_INTERFACES: another */
    uint16_t opnum;          /* RPC_NO_OPNUM: not captured */
    bool is_ndr64;
    bool is_mapping;  /* asks the endpoint mapper for PerflibV2 or winreg */
    nstime_t time;    /* of the request's first fragment */
    uint32_t frame;   /* of the request's first fragment */
    uint32_t size[2]; /* bytes of stub in all fragments: request, response */
    uint32_t hint[2]; /* alloc_hint of the first fragment, 0: not larger than that; RPC_NO_HINT: not captured */
    struct rpc_call *handed[2]; /* of an operation that was handed the request, the response; NULL: none was */
} rpc_pending_call;

/* A connection, from one bind to the next: Wireshark's conversation; of named pipes, each pipe by itself. Created on the first pass; ends
 * with the file. */
typedef struct rpc_connection {
    uint64_t pipe; /* Wireshark's number of the named pipe, 0: none */
    state_server *server;
    wmem_map_t *contexts;   /* context id -> interface and transfer syntax */
    wmem_array_t *offered;  /* uint16_t: contexts of the latest bind, in its order */
    bool is_binding;        /* the latest bind is not answered yet */
    uint8_t auth_level;     /* of the client's latest PDU with a token, 0: none */
    uint32_t unread_change; /* frame of the latest ValidateCounters of any query that could not be read; 0: none */
    wmem_map_t *pending;    /* call id -> rpc_pending_call */
    wmem_map_t *handed; /* call id and direction -> rpc_call that an operation was handed; until its header is read */
    void *sealed_query; /* sealed_query of transport.c; NULL: no sealed call yet */
} rpc_connection;

/* Returns the connection of the packet's conversation and named pipe. `is_request`: the packet goes to the server. Changes: creates it. */
rpc_connection *rpc_connection_find_or_create(packet_info *pinfo, bool is_request);

/* Returns the packet's connection; NULL: no bind was captured, and no operation handed one of its calls. */
rpc_connection *rpc_find_connection(packet_info *pinfo);

/* True if the client authenticates its calls, but does not seal them: a server that demands sealing denies them. */
static inline bool rpc_connection_is_unsealed(const rpc_connection *connection)
{
    return connection->auth_level > RPC_LEVEL_NONE && connection->auth_level < RPC_LEVEL_PRIVACY;
}

/* Reads the header of the PDU at offset `at`. Returns false if no PDU of DCE/RPC 5 is there, or less than the common header was captured. Numbers
 * that were not captured are 0, RPC_NO_CONTEXT or RPC_NO_OPNUM. */
bool rpc_header_read(rpc_header *header, tvbuff_t *tvb, int at);

/* Notes that an operation is handed a PDU of `call`, on the first pass. */
void rpc_note_handed(rpc_connection *connection, const dcerpc_info *di, struct rpc_call *call);

typedef struct {
    uint64_t pipe;
    uint64_t type;
    uint32_t call_id;
    uint32_t frame;
} rpc_pdu_key;

/* A PDU that listeners get by its headers, on every pass. Created on the first pass with its last fragment; ends with the file. */
typedef struct {
    rpc_pdu_key key;
    bool is_setup; /* "Bind" or "Map"; else an unread_pdu of transport.c begins with it */
    call_tap_data tapped;
} rpc_kept_pdu;

/* Keeps `kept`, which lives as long as the file, as that of the packet's PDU. Changes: its key. */
void rpc_keep_pdu(packet_info *pinfo, const rpc_header *header, rpc_kept_pdu *kept);

/* Returns what was kept of the packet's PDU, if this is its last fragment; NULL: nothing. */
rpc_kept_pdu *rpc_find_kept_pdu(packet_info *pinfo, const rpc_header *header);

/* Called for the last fragment of a request, response or fault, whether an operation read it or not. */
typedef void (*rpc_unread_function)(packet_info *pinfo, rpc_connection *connection, const rpc_pending_call *pending,
                                    const rpc_header *header, tvbuff_t *tvb, int at);

/* Adds a PDU to its connection: a bind begins one, a request begins a call, the last fragment of an answer ends it. Needs: the first pass, in the
 * order of the capture. Changes: keeps calls "Bind" and "Map"; calls `unread` for other interfaces than the endpoint mapper. Without a connection
 * only a bind counts.
 * Returns whether there is a connection. */
bool rpc_connection_add_pdu(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header,
                            rpc_unread_function unread);

/* Returns the seconds from a request until this packet, negative: not known. */
double rpc_seconds_since(const nstime_t *request_time, const packet_info *pinfo);

/* Returns the row of an operation on performance data; NULL: it is none, or the interface is not registered. */
const rpc_operation *rpc_find_operation(rpc_interface interface, uint16_t opnum);

/* Registers an interface whose binds and calls are followed by their headers. */
void rpc_watch_interface(rpc_interface interface, const rpc_watched_interface *watched);

/* `proto`: whose data connections are among a conversation's. */
void rpc_connections_register(int proto);
