/* connection.h
 * A connection: what goes between two ends from one bind to the next; of named pipes, each pipe by itself. Calls and sealed PDUs
 * are of it, and whoever listens is handed it. It is made for the first PDU that somebody asks of, found for each on the first pass
 * (later looks keep what they found then), and ends with the file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/queries.h"
#include "state/handles.h"

/* That were not captured. */
#define RPC_NO_OPNUM UINT16_MAX
#define RPC_NO_CONTEXT UINT16_MAX

/* The common header, and what a request, response or fault has behind it ([C706] 12.6.4). */
#define RPC_COMMON_HEADER_SIZE 16
#define RPC_HEADER_SIZE 24

/* [MS-RPCE] 2.2.2.11: auth_type, auth_level, auth_pad_length, reserved, auth_context_id; the token stands behind them. */
#define RPC_TRAILER_SIZE 8

typedef struct {
    unsigned order; /* ENC_LITTLE_ENDIAN or ENC_BIG_ENDIAN */
    uint8_t type;
    bool is_first;
    bool is_last;
    uint16_t size;      /* of the PDU, */
    uint16_t auth_size; /* and of the token at its end */
    uint8_t auth_level; /* 0 without a token */
    uint16_t stub_size; /* of a request or response, without padding */
    uint32_t hint;      /* and its alloc_hint: mostly what of the whole stub is still to come, from here on */
    uint16_t context;
    uint16_t opnum; /* of a request */
    uint32_t call_id;
} rpc_header;

/* Whose calls are followed. */
typedef enum { RPC_PERFLIB, RPC_WINREG, NUM_RPC_INTERFACES } rpc_interface;

/* Both ends between which packets go, whichever of them is the client: a TCP connection, and whatever follows it on the same ports. One is
 * made with the first connection between them. */
typedef struct {
    address ends[2];
    uint32_t ports[2];
    /* of the capture's frames, as dcerpc/pdus.c looks through them */
    uint32_t looked_until;
    uint32_t lost;                  /* the latest of those that tells of lost segments, 0: none does */
    uint32_t cut;                   /* and that has a message which was cut short when it was captured */
    conversation_t *conversation;   /* of the latest packet that was asked about, */
    const struct tcp_analysis *tcp; /* and what TCP knows of it */
    /* what SMB2 calls a pipe by -> its connection, NULL if it is followed no more; there is no map before the first */
    wmem_map_t *files;
} rpc_transport;

typedef struct rpc_connection {
    rpc_transport *transport;
    uint64_t pipe;           /* of SMB: which one; 0 elsewhere, and where its opening was not read */
    wmem_map_t *contexts;    /* number -> the bit of the interface that was given it last, and of NDR64 */
    unsigned bound;          /* the bits of all; 0: there is no map */
    state_server *server;    /* NULL before the first call */
    void *sealed_query;      /* the newest, as its interface tells queries apart */
    unsigned client;         /* which of both ends it is */
    uint8_t auth_level;      /* of its latest request with a token, 0 before the first */
    uint32_t unread_changes; /* ValidateCounters that nobody could read, of whichever query */
    /* of dcerpc/pdus.c */
    struct rpc_asked *latest; /* request */
    wmem_map_t *overtaken;    /* call id -> rpc_asked, after which another one was sent before it was over */
    bool was_read;            /* some of its calls: what else is sealed on it could have been, too */
    bool overlaps;            /* the client does not wait for an answer before it sends the next request */
    uint32_t event;           /* and of that */
    uint32_t answer_event;    /* of the latest answer */
} rpc_connection;

/* The connection of a PDU, begun if there is none yet. On the first pass. */
rpc_connection *connection_of(packet_info *pinfo, bool is_request);

/* The same, NULL where connection_of() was never called for it. */
rpc_connection *connection_find(packet_info *pinfo);

/* True over SMB, also where the opening of its pipe was not read. */
static inline bool connection_is_pipe(const rpc_connection *connection)
{
    uint32_t port = connection->transport->ports[1 - connection->client];

    return connection->pipe != 0 || port == 445 || port == 139;
}

/* That of a packet, NULL where no connection goes between its ends. */
rpc_transport *connection_transport(const packet_info *pinfo);

/* To whom it is, by a PDU of it. */
state_server *connection_server(rpc_connection *connection, const packet_info *pinfo, bool is_request);

/* A bind or alter_context at `offset`: which contexts are the interface's. A connection of which nobody asked begins with it. */
void connection_bind(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header, rpc_interface interface,
                     const e_guid_t *uuid);

/* Learns what the server calls itself in NTLM's challenge, which the answer to a bind at `offset` may have. */
void connection_read_challenge(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header);

/* A bind of any interface ends what was between these ends. */
void connection_end(packet_info *pinfo);

/* True as soon as there is one. */
bool connections_exist(void);

/* [MS-RPCE] 2.2.1.1.8: a level of authentication. */
#define RPC_LEVEL_NONE 1
#define RPC_LEVEL_PRIVACY 6

/* Its calls can be denied for that alone. */
static inline bool connection_does_not_seal(const rpc_connection *connection)
{
    return connection->auth_level > RPC_LEVEL_NONE && connection->auth_level < RPC_LEVEL_PRIVACY;
}

/* The bits of a context. */
#define RPC_CONTEXT_OF(interface) (1U << (interface))
#define RPC_CONTEXT_NDR64 (1U << NUM_RPC_INTERFACES)

static inline unsigned connection_context(const rpc_connection *connection, uint16_t context)
{
    return connection->bound ? GPOINTER_TO_UINT(wmem_map_lookup(connection->contexts, GUINT_TO_POINTER(context))) : 0;
}

void connection_add_context(rpc_connection *connection, uint16_t context, unsigned bits);

void connections_register(void);
