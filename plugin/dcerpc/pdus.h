/* pdus.h
 * Which calls a connection makes, by the headers of its PDUs: also those that nobody reads, since they are sealed, cut short when captured,
 * not put together, or damaged. Operation, call id and direction stand there in clear.
 *
 * Wireshark's heuristics for DCE/RPC over TCP and SMB are wrapped, and see each PDU; an operation that is handed its stub says that it is
 * (pdus_reach_call()). What is passed in between was read by nobody: its connection counts what may have changed a query. On the first
 * pass only.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/connection.h"

/* How fragments fit together, by their sizes and what each says is still to come (alloc_hint): some senders say nothing that would show it. */
typedef enum { RPC_FITS, RPC_MAY_FIT, RPC_TORN } rpc_fit;

/* The fragments of a request or response, as they go by. */
typedef struct {
    bool is_open;  /* the first was seen, and not the last */
    bool is_again; /* the first came when it was */
    rpc_fit fit;
    uint32_t size;     /* bytes of stub, */
    uint32_t whole;    /* and of all of them as the first says, 0: it does not */
    uint32_t next;     /* what the next one says is still to come, */
    uint32_t around;   /* or less, by what the one before has around its stub */
    uint32_t sequence; /* of the one before, if it is sealed */
} rpc_fragments;

/* A request on a connection, until its answer has been seen and another one's after it. */
typedef struct rpc_asked {
    rpc_connection *connection;
    uint32_t call_id;
    rpc_interface interface; /* NUM_RPC_INTERFACES: another */
    uint16_t opnum;          /* RPC_NO_OPNUM: it was not captured */
    unsigned does;           /* RPC_CHANGES and so on */
    bool is_ndr64;
    bool is_signed;    /* with a token, and perhaps sealed */
    uint16_t size;     /* of its request, 0: it has several fragments */
    bool is_read[2];   /* request, response: an operation was handed it */
    uint32_t begun;    /* frame in which its answer did before the next request, 0: it did not */
    unsigned waiting;  /* requests of its call id that have no response or fault, read or not, this one among them */
    bool is_ambiguous; /* they were several: whose an answer is, is unknown */
    uint32_t event;    /* of its request, 0 where it was not followed */
    nstime_t time;     /* when its first fragment came, */
    uint32_t frame;    /* and where */
    struct rpc_record *record;  /* NULL as long as it was not read */
    rpc_fragments fragments[2]; /* of request and response */
} rpc_asked;

/* An operation is handed a request or response: what stands before it was read by nobody. Returns the call, NULL if its request was not
 * seen. */
rpc_asked *pdus_reach_call(packet_info *pinfo, const dcerpc_info *di);

/* The operation that was handed a request could not read what it says. */
void pdus_note_unread(packet_info *pinfo, rpc_connection *connection, rpc_asked *call);

/* The call of a connection with that id that is under way, or was answered last; NULL if there is none. */
rpc_asked *pdus_find_call(const rpc_connection *connection, uint32_t call_id);

/* From its request to a response or fault, negative where that is not known. */
double pdus_seconds(const rpc_asked *call, const packet_info *pinfo);

/* What an operation does. */
enum {
    RPC_CHANGES = 1,  /* what a query holds */
    RPC_LISTS = 2,    /* tells names or types */
    RPC_OPENS = 4,    /* a query handle, or a key of performance data */
    RPC_CLOSES = 8,   /* it, or any key */
    RPC_USES = 16,    /* it, or any key */
    RPC_RETURNS = 32, /* data, or the size that they need */
    RPC_SAMPLES = 64  /* and they are a sample */
};

typedef struct {
    uint16_t opnum;
    const char *name; /* as Wireshark has it; NULL behind the last */
    unsigned does;
} rpc_operation;

/* An interface whose calls are followed as long as `is_watched` says so, and its operations on performance data. */
typedef struct {
    const e_guid_t *uuid;
    bool (*is_watched)(void);
    const rpc_operation *operations;
} pdus_interface;

/* A preference of Wireshark's; NULL where it has none. */
pref_t *pdus_preference(const char *module_name, const char *name);

/* NULL if it is no operation on performance data. */
const rpc_operation *pdus_operation(rpc_interface interface, uint16_t opnum);

/* Follows its calls, and explains those that are sealed. */
void pdus_watch(rpc_interface interface, const pdus_interface *what);
