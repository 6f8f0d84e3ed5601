/* call.h
 * The life of a call, for both protocols: which PDU it is seen in and when, whether what it says may be learned, whether
 * it is noise, whose handle it carries, what the Info column says, and the findings at its end.
 * In this order: rpc_pdu_begin(); rpc_pdu_read_stub(); rpc_pdu_report_garbled(), before anything is shown; what the operation reads;
 * rpc_pdu_report_trailing_bytes(); rpc_pdu_end().
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/connections.h"
#include "dcerpc/ndr.h"
#include "state/samples.h"

/* What is kept of a call, from its request to its response and for every later look at either. Lives with the file. A
 * protocol puts it at the beginning of a call of its own. */
typedef struct rpc_call {
    const struct rpc_protocol *protocol;
    rpc_connection *connection;
    const char *operation; /* "QueryCounterData"; NULL: none on performance counters */
    uint32_t request_frame;
    uint32_t response_frame;
    bool request_read;       /* all parameters */
    state_handle *handle;    /* that the request speaks of, or that the response opened */
    state_handle *answering; /* that the response speaks of, NULL: the same */
    bool was_closed;         /* the request's handle was */
    state_server *server;    /* whom its connection is to */
    state_sample *sample;    /* that the response was kept as, or whose bytes it has */
    uint32_t same_frame;     /* of the latest second response with the bytes of that sample, 0: none */
} rpc_call;

/* Fields and findings of one protocol. */
typedef struct rpc_protocol {
    int proto;
    const char *handle_label; /* "Query handle" */
    const char *handle_number_label;
    const char *handle_word;              /* "query", as the Info column says it */
    size_t call_size;                     /* of what it keeps of a call, which begins with an rpc_call */
    void (*end_by_fault)(rpc_call *call); /* a fault answers the call; may be NULL */
    expert_fields expert;
    int handle;
    int handle_number;
    int handle_opened_in;
    int handle_closed_in;
    int inside;
    int rest;
    int noise;
} rpc_protocol;

/* `number_field` is the name of the handle's number behind the prefix. */
void rpc_protocol_register(int proto, const char *prefix, const char *number_field, rpc_protocol *protocol);

/* One PDU while it is dissected. */
typedef struct {
    const rpc_protocol *protocol;
    tvbuff_t *tvb;
    int offset;
    packet_info *pinfo;
    wmem_allocator_t *pool; /* the packet's */
    proto_tree *tree;
    dcerpc_info *di;
    uint16_t opnum;
    bool is_request;
    uint8_t *drep;
    rpc_call *call;
    state_server *server; /* whom its connection is to */
    bool first_time;      /* what it teaches may be learned */
    bool is_garbled;
    bool is_short; /* a parameter lies beyond the stub's end, or was not captured */
    ndr_reader ndr;
    expert_report report;
    bool has_column;      /* somebody reads the Info column */
    wmem_strbuf_t *about; /* for the Info column */
    wmem_strbuf_t *info;
    const char *before_info; /* between both: ", ", or ": " where the first is what the call is about */
    tapped_call tapped;      /* what statistics are told, as far as it was read, */
    counter_response answer; /* and of it what it answers with values */
} rpc_pdu;

/* True of a call in datagrams, which no client of these interfaces makes: Wireshark's record of it lives with the packet. */
static inline bool rpc_is_connectionless(const dcerpc_info *di)
{
    return di->transport_salt == UINT64_MAX;
}

/* `pdu` is zeros. */
void rpc_pdu_begin(rpc_pdu *pdu, const rpc_protocol *protocol, const char *operation, tvbuff_t *tvb, int offset,
                   packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep);

/* True if the answer is a sample of its own. Else it has the bytes of the series' newest, and the call points to that. */
bool rpc_pdu_is_new_sample(rpc_pdu *pdu, const sample_series *series, tvbuff_t *tvb);

/* Reads the stub from its start into the tree; if not aloud, nothing is shown, and findings only count. */
void rpc_pdu_read_stub(rpc_pdu *pdu, bool is_aloud);

/* Calls `read`, which reads parameters from `pdu->ndr`. Returns false if one of them is not there. */
bool rpc_pdu_read(rpc_pdu *pdu, void (*read)(void *data), void *data);

/* From the request to this response, negative where that is not known. */
double rpc_pdu_get_seconds(const rpc_pdu *pdu);

/* Reports a sealed stub that is garbled. `first` is that of ndr_is_garbled(). Returns true if it is. */
bool rpc_pdu_report_garbled(rpc_pdu *pdu, ndr_first first);

/* The stub was read to its end, adds up and is seen for the first time. */
bool rpc_pdu_may_learn(const rpc_pdu *pdu);

/* What stands in the Info column, in this order: damage, what the call is about, and, if the stub could be read, what it
 * says. */
#define info_add_subject(pdu, ...) rpc_pdu_append(pdu, (pdu)->about, __VA_ARGS__)
#define info_add_detail(pdu, ...) rpc_pdu_append(pdu, (pdu)->info, __VA_ARGS__)
void rpc_pdu_append(const rpc_pdu *pdu, wmem_strbuf_t *to, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Reads the status of the response into `call->tapped`, and returns it. */
uint32_t rpc_pdu_read_status(rpc_pdu *pdu, int hf);

/* Reports a status that is not 0, and adds it to the Info column. */
void rpc_pdu_report_status(rpc_pdu *pdu, uint32_t status);

/* What `tvb` answers with values: a sample in the frame that it was kept of alone. `handle` may be NULL. */
void rpc_pdu_set_response(rpc_pdu *pdu, const value_ops *ops, const state_handle *handle, tvbuff_t *tvb);

/* Listeners are told of that answer, and of so many counters. */
void rpc_pdu_set_tap_response(rpc_pdu *pdu, uint32_t counters);

/* Its answer: for the Info column as value_tree_format_info() has it, and whether it came late. */
void rpc_pdu_report_response(rpc_pdu *pdu, const char *failed, const char *part);

/* A sample that came late; NULL: it did not. */
void rpc_report_late(expert_report *report, proto_item *item, const late_sample *late);

/* Finds the handle that a request carries. Changes: on the first pass `handle` and `was_closed` of its call. */
void rpc_pdu_find_handle(rpc_pdu *pdu, state_handle_kind kind, const uint8_t *bytes);

/* Returns the handle that the PDU is about, NULL: not known. */
state_handle *rpc_pdu_get_handle(const rpc_pdu *pdu);

/* Reports at `item` that a request uses a handle which was closed before. */
void rpc_pdu_report_closed_handle(const rpc_pdu *pdu, expert_report *report, proto_item *item);

/* The response says whether the server closed the handle. */
void rpc_pdu_close_handle(const rpc_pdu *pdu);

/* Where a handle was opened and closed, below its item. Returns that tree. */
proto_tree *rpc_pdu_show_handle_lifetime(rpc_pdu *pdu, proto_item *item, const state_handle *handle);

/* Which of the capture's handles it is, in `tree` and in the Info column. */
void rpc_pdu_show_handle_number(rpc_pdu *pdu, proto_tree *tree, const state_handle *handle);

/* Reports at `item` that the call was answered in another frame before. */
void rpc_pdu_report_duplicate(const rpc_pdu *pdu, expert_report *report, proto_item *item);

/* Shows and reports bytes that are left behind the last parameter, beyond its padding. */
void rpc_pdu_report_trailing_bytes(rpc_pdu *pdu);

/* On the first pass: when the handle's question was asked, or how long its answer took that is no sample. */
void rpc_pdu_add_timing(const rpc_pdu *pdu, state_handle *handle, const char *question);

/* Hands it to the listeners: fills what all calls have. `handle`: what it is about, may be NULL. */
void rpc_pdu_tap(rpc_pdu *pdu, const state_handle *handle);

/* As long as the packet is shown, its conversation filter is the monitor's: client and server. */
void rpc_add_filter_data(packet_info *pinfo);

/* Returns the stub's length. */
int rpc_pdu_end(rpc_pdu *pdu, proto_item *item);
