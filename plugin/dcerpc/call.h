/* call.h
 * Calls of both protocols: a rpc_pdu is one PDU while it is dissected, a rpc_call what is kept of a request and its response.
 *
 * In this order: rpc_pdu_begin(); rpc_pdu_read_stub(); rpc_pdu_report_garbled(), before anything is shown; rpc_pdu_read(); what the operation
 * shows; rpc_pdu_tap(); rpc_pdu_end().
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/connections.h"
#include "dcerpc/ndr.h"
#include "state/queries.h"
#include "state/samples.h"

/* A request and its response. A protocol's own call begins with it. Created with the first PDU; ends with the file. Later looks change nothing. */
typedef struct rpc_call {
    const struct rpc_protocol *protocol;
    uint32_t call_id; /* of its headers */
    rpc_connection *connection;
    const char *operation;   /* "QueryCounterData"; NULL: not about performance data */
    uint32_t request_frame;  /* 0: none seen */
    uint32_t response_frame; /* of the first response, 0: none seen */
    bool is_garbled[2];      /* decryption of the request, the response failed; only of PerflibV2 */
    bool request_read;       /* all parameters of the request were read */
    state_handle *handle;    /* the request's, or the one that the response opened; NULL: not known */
    state_handle *answering; /* the response's, NULL: the same */
    query_change *change;    /* of ValidateCounters; NULL: none */
    bool was_closed;         /* the request's handle was closed before it */
    state_sample *sample;    /* the response was kept as it, or has its bytes; NULL: none */
} rpc_call;

/* Fields of one protocol. Filled when it is registered. */
typedef struct rpc_protocol {
    int proto;
    const char *handle_label; /* "Query handle" */
    const char *handle_number_label;
    const char *handle_word; /* "query", for the Info column */
    size_t call_size;        /* bytes of the protocol's own call */
    int handle;
    int handle_number;
    int handle_opened_in;
    int handle_closed_in;
    int rest;  /* bytes behind the last parameter */
    int noise; /* a garbled stub */
} rpc_protocol;

/* Calls (rpc_call) whose PDUs operations were handed in this packet, in the order of the PDUs; transport.c empties it before each packet. */
extern GPtrArray *rpc_handed;

/* Registers fields of a protocol; the first time also what both share. `number_field`: the handle's number, behind `prefix`. */
void rpc_protocol_register(int proto, const char *prefix, const char *number_field, rpc_protocol *protocol);

/* Filled by rpc_pdu_begin() and what the operation reads, on every pass; ends with the packet. */
typedef struct {
    const rpc_protocol *protocol;
    tvbuff_t *tvb; /* the stub, as Wireshark hands it over */
    int offset;    /* of the first parameter in `tvb` */
    packet_info *pinfo;
    wmem_allocator_t *pool; /* the packet's */
    proto_tree *tree;
    dcerpc_info *di;
    uint16_t opnum;
    bool is_request;
    uint8_t *drep; /* data representation of the PDU */
    rpc_call *call;
    state_server *server; /* the connection's */
    bool first_time;      /* the call's first request or response, on the first pass */
    bool is_garbled;      /* decryption failed */
    bool is_short;        /* a parameter lies beyond the stub's end, or was not captured */
    buffer_cursor cursor; /* behind the parameter that was read last */
    expert_report report;
    bool has_column;         /* somebody reads the Info column */
    wmem_strbuf_t *about;    /* its first part */
    wmem_strbuf_t *info;     /* its second part, dropped if the stub is short */
    const char *before_info; /* between both */
    call_tap_data tapped;    /* for listeners, as far as it was read */
    counter_response answer; /* a response's values; for listeners, too */
} rpc_pdu;

/* True of a call in datagrams, which no client of these interfaces makes: Wireshark's record of it ends with the packet. */
static inline bool rpc_is_connectionless(const dcerpc_info *di)
{
    return di->transport_salt == UINT64_MAX;
}

/* Begins a PDU that an operation is handed. `operation`: its name. Needs: `pdu` is zeros. Changes: fills it; the first PDU creates its call, and
 * request and response leave their frames in it. */
void rpc_pdu_begin(rpc_pdu *pdu, const rpc_protocol *protocol, const char *operation, tvbuff_t *tvb, int offset,
                   packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep);

/* Sets `pdu->cursor` to the begin of the stub, to read it first or again. `is_aloud`: false: nothing is shown or reported. Changes: empties the report,
 * which learns of damage all the same. */
void rpc_pdu_read_stub(rpc_pdu *pdu, bool is_aloud);

/* Calls `read(data)`, which reads parameters from `pdu->cursor`. Returns false if one of them is not there. Changes: `is_short`. */
bool rpc_pdu_read(rpc_pdu *pdu, void (*read)(void *data), void *data);

/* Checks a stub that Wireshark decrypted, since it hands over failed decryptions, too. `ends_with_length`: as ndr_is_garbled() has it. Returns
 * true if it failed, and reports it: nothing of the stub can be read. Changes: a decrypted stub is read from its begin again. */
bool rpc_pdu_report_garbled(rpc_pdu *pdu, bool ends_with_length);

/* True if what the PDU says may be kept: the call's first request or response, on the first pass, well-formed as far as it was read. Needs: it is not
 * garbled. */
bool rpc_pdu_may_learn(const rpc_pdu *pdu);

/* Add text to the Info column: first that the stub is malformed, then subjects, and, if the stub is not short, details. */
#define info_add_subject(pdu, ...) rpc_pdu_append(pdu, (pdu)->about, __VA_ARGS__)
#define info_add_detail(pdu, ...) rpc_pdu_append(pdu, (pdu)->info, __VA_ARGS__)
/* Appends a text to `pdu->about` or `pdu->info`; does nothing if nobody reads the Info column. */
void rpc_pdu_append(const rpc_pdu *pdu, wmem_strbuf_t *to, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Reads the status of the response into `pdu->tapped`, adds it as `hf`, and returns it. */
uint32_t rpc_pdu_read_status(rpc_pdu *pdu, int hf);

/* Reports a status that is not 0 at the item that was read last, and adds it to the Info column. Changes: the tapped call has failed. */
void rpc_pdu_report_status(rpc_pdu *pdu, uint32_t status);

/* Reads the data of a response in `tvb`, and fills `pdu->answer`, from which tree and listeners read the values. `handle`: NULL: not known. A second
 * response with other bytes than its call's sample is malformed. Returns the new sample, the newest of its series (`question`: as there), if it
 * succeeded and may be learned from; NULL: no group is well-formed, or it has the bytes of the newest. Changes: the call's `sample`; timing. */
state_sample *rpc_pdu_read_response(rpc_pdu *pdu, const value_ops *ops, state_handle *handle, const char *question,
                                    tvbuff_t *tvb);

/* Reports a late sample, and adds the values to the Info column. `failed`: as value_tree_format_info() has it. */
void rpc_pdu_report_response(rpc_pdu *pdu, const char *failed);

/* Reports a late sample or slow response at `item`. `late`: NULL: it is neither. */
void rpc_report_late(expert_report *report, proto_item *item, const late_sample *late);

/* Finds the handle whose 20 bytes a request carries. Changes: `handle` and `was_closed` of its call, with the first request on the first pass. */
void rpc_pdu_find_handle(rpc_pdu *pdu, state_handle_kind kind, const uint8_t *bytes);

/* Notes that the server answered for the handle whose bytes the request carried, on the first pass. Changes: confirms it. If
 * the request found none, or a closed one, `answering` is a new one; `handle` stays. */
void rpc_pdu_confirm_handle(const rpc_pdu *pdu, state_handle_kind kind, const uint8_t *bytes);

/* Returns the handle that the PDU is about, NULL: not known. A response has another than its request if that was closed before. */
state_handle *rpc_pdu_get_handle(const rpc_pdu *pdu);

/* Reports at `item` that the request uses a handle which was closed before, if it does. */
void rpc_pdu_report_closed_handle(rpc_pdu *pdu, proto_item *item);

/* Closes the handle of the request if the response has status 0 and may be learned from. Changes: its `closed_frame`, the request's, and number. */
void rpc_pdu_close_handle(const rpc_pdu *pdu);

/* Shows below the handle's item in which frames it was opened and closed, where that is known. */
void rpc_pdu_show_handle_lifetime(rpc_pdu *pdu, proto_item *item, const state_handle *handle);

/* Shows the number of a handle in `tree` and the Info column, if it has one. */
void rpc_pdu_show_handle_number(rpc_pdu *pdu, proto_tree *tree, const state_handle *handle);

/* Reports at `item` that the PDU is a second response to its call, if it is. */
void rpc_pdu_report_duplicate(rpc_pdu *pdu, proto_item *item);

/* Shows and reports 4 bytes (NDR64: 8) or more behind the last parameter; fewer are padding. Changes: the report is
 * damaged, so nothing is learned of the PDU. */
void rpc_pdu_report_trailing_bytes(rpc_pdu *pdu);

/* Adds a request, or a response that is no sample, to the timing of its series, on the first pass. rpc_pdu_read_response() adds samples. `handle`:
 * NULL: nothing is added. */
void rpc_pdu_add_timing(const rpc_pdu *pdu, state_handle *handle, const char *question);

/* Completes `pdu->tapped` and hands it to listeners. `handle`: NULL: not known. */
void rpc_pdu_tap(rpc_pdu *pdu, const state_handle *handle);

/* Writes the Info column, and ends the report at `item`. Returns the stub's length in bytes, for Wireshark. */
int rpc_pdu_end(rpc_pdu *pdu, proto_item *item);
