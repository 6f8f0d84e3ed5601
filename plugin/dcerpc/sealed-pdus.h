/* sealed-pdus.h
 * What a sealed PDU says in clear: its header and security trailer, and of calls in several fragments what they add up to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/pdus.h"

/* sec_trailer ([MS-RPCE] 2.2.2.11): auth_type, auth_level, auth_pad_length, reserved, auth_context_id. */
#define SEALED_TRAILER_SIZE 8

/* One fragment of a request or response whose stub is sealed. */
typedef struct {
    int stub; /* where it begins in the PDU's tvb */
    int end;  /* of its padding: there the security trailer begins */
    int next; /* PDU */
    bool is_response;
    bool is_first;
    bool is_last;
    uint8_t auth_type;
    uint16_t context;
    uint16_t opnum; /* of a request */
    uint32_t call_id;
    uint32_t size;     /* of the stub, without padding */
    uint32_t sequence; /* counts what is sealed in a direction; 0 where that is not known */
} sealed_fragment;

/* What a request and a response begin with ([C706] 12.6.4); the type is its third byte. */
#define SEALED_HEADER_SIZE 24

/* Bytes of the PDU with this header, 0 if it is none. */
int sealed_pdu_size(const uint8_t *header);

/* False if the PDU at `offset` is no whole request or response with a sealed stub. */
bool sealed_fragment_read(sealed_fragment *fragment, tvbuff_t *tvb, int offset);

/* One request or response, known when its last fragment has been seen. Lives with the file. */
typedef struct {
    struct {
        uint64_t pipe;
        uint32_t call_id;
        uint32_t frame; /* of the last fragment */
        bool is_response;
    } key;
    rpc_connection *connection;
    rpc_interface interface;
    bool is_copy; /* its connection was captured twice */
    bool is_ndr64;
    bool answers_read; /* noise that answers a request which was none */
    uint16_t opnum;
    uint32_t size;          /* of the stub, over all fragments */
    nstime_t request_time;  /* when the first fragment of its request came, */
    uint32_t request_frame; /* and where */
    double seconds;         /* from the request to this response; negative of a request and where it is not known */
    const void *query;      /* and the one that it is of; its connection as long as that is not known, */
    const struct state_late *late; /* and whether the sample that it brought is late */
} sealed_pdu;

/* The fault at `offset` as the only fragment of a response, and its status. False if it was cut. */
bool sealed_fault_read(sealed_fragment *fragment, uint32_t *status, tvbuff_t *tvb, int offset);

/* Takes a fragment of a call that is one of the operations of its context's interface, and returns the PDU that it ends; NULL if it ends
 * none, or one whose beginning was not seen. */
sealed_pdu *sealed_pdu_take(packet_info *pinfo, const sealed_fragment *fragment,
                            const value_string *const operations[NUM_RPC_INTERFACES]);

/* A PDU of which decryption made noise, as its dissector knows it. Returns what is kept of it. */
sealed_pdu *sealed_pdu_add(packet_info *pinfo, const sealed_pdu *pdu);

void sealed_pdus_register(void);
