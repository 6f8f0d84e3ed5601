/* pdus.h
 * Connections and their calls, by the headers of PDUs: also calls that nobody reads, since they are sealed, cut short when captured, or not
 * put together. Operation, call id and direction stand there in clear.
 *
 * Wireshark's heuristics for DCE/RPC over TCP and SMB are wrapped. While the stock one runs, operations say which PDUs they are handed; then
 * the headers are read once. On the first pass they tell binds, requests without a response, sealed calls and faults; on later passes what
 * was kept of the frame is shown.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/queries.h"

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

typedef struct {
    unsigned order; /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    uint8_t type;
    bool is_first;
    bool is_last;
    uint16_t size;      /* of the PDU */
    uint16_t auth_size; /* of the token at its end */
    uint8_t auth_level; /* 0 without a token */
    uint16_t stub_size; /* of a request or response, without padding */
    uint32_t hint;      /* alloc_hint: mostly the bytes of stub from here on */
    uint16_t context;
    uint16_t opnum; /* of a request */
    uint32_t call_id;
} rpc_header;

/* Interfaces whose calls are followed. */
typedef enum { RPC_PERFLIB, RPC_WINREG, RPC_MAPPER, NUM_RPC_INTERFACES } rpc_interface;

/* What an operation does. */
enum {
    RPC_CHANGES = 1,  /* what a query holds */
    RPC_OPENS = 4,    /* a query handle, or a key of performance data */
    RPC_CLOSES = 8,   /* it, or any key */
    RPC_USES = 16,    /* it, or any key */
    RPC_RETURNS = 32, /* data, or the size that they need */
    RPC_SAMPLES = 64  /* and they are a sample */
};

typedef struct {
    uint16_t opnum;
    const char *name; /* as Wireshark has it; NULL behind the last */
    unsigned flags;
} rpc_operation;

/* A call by its headers, from its request until its response. First pass only. */
typedef struct {
    uint32_t call_id;
    rpc_interface interface; /* NUM_RPC_INTERFACES: another */
    uint16_t opnum;          /* RPC_NO_OPNUM: not captured */
    bool is_ndr64;
    bool is_mapping;       /* asks the endpoint mapper for one of our interfaces */
    nstime_t time;         /* of the request's first fragment */
    uint32_t frame;        /* of that */
    uint32_t size[2];      /* bytes of stub in all fragments of request and response */
    uint32_t hint[2];      /* how many the first fragment says, 0: it does not, or its own */
    bool has_answer_begun; /* the first fragment of the response was seen */
    bool was_handed[2];    /* to an operation: request, response */
    struct rpc_call *call; /* NULL: no operation was handed the request */
} rpc_pending_call;

/* A connection, from one bind to the next: Wireshark's conversation; of named pipes, each pipe by itself. Created on the first pass; ends
 * with the file. */
typedef struct rpc_connection {
    const conversation_t *conversation;
    uint64_t pipe; /* Wireshark's number of the named pipe, 0: none */
    address ends[2];
    uint32_t ports[2];
    state_server *server;
    wmem_map_t *contexts;  /* number -> bits of the interface that it was accepted for */
    wmem_array_t *offered; /* uint16_t: contexts of the latest bind, in its order */
    uint32_t bind_frame;   /* of that */
    nstime_t bind_time;    /* of that */
    uint8_t auth_level;    /* of the client's latest PDU with a token, 0: none */
    uint32_t
        unread_change;   /* frame of the latest ValidateCounters that could not be read, of whichever query; 0: none */
    wmem_map_t *pending; /* call id -> rpc_pending_call */
    void *sealed_query;  /* of sealed.c */
} rpc_connection;

/* Returns the connection of a PDU. Changes: creates it on the first pass. */
rpc_connection *rpc_connection_find_or_create(packet_info *pinfo, bool is_request);

/* True if its calls can be denied since they are not sealed. */
static inline bool rpc_connection_is_unsealed(const rpc_connection *connection)
{
    return connection->auth_level > RPC_LEVEL_NONE && connection->auth_level < RPC_LEVEL_PRIVACY;
}

/* An operation was handed the stub of a request or response; a request's call. */
void pdus_note_handed(const dcerpc_info *di, struct rpc_call *call);

/* Returns the seconds from a request until this packet, negative: not known. */
double pdus_get_seconds(const nstime_t *request_time, const packet_info *pinfo);

/* An interface whose calls are followed as long as `is_watched` says so, and its operations on performance data. */
typedef struct {
    const e_guid_t *uuid;
    bool (*is_watched)(void);
    const rpc_operation *operations;
} pdus_interface;

/* Returns a preference of Wireshark's; NULL: it has none. */
pref_t *pdus_find_preference(const char *module_name, const char *name);

/* Returns NULL if it is no operation on performance data. */
const rpc_operation *pdus_find_operation(rpc_interface interface, uint16_t opnum);

/* Follows its calls, and explains those that are sealed. */
void pdus_watch(rpc_interface interface, const pdus_interface *what);

void pdus_register(void);
