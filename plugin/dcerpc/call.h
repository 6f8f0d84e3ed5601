/* call.h
 * The life of a call, for both protocols: which PDU it is seen in and when, whether what it says may be learned, whether
 * it is noise, whose handle it carries, what the Info column says, and the findings at its end.
 * In this order: call_begin(); call_read_stub(); call_report_noise(), before anything is shown; what the operation reads;
 * call_report_rest(); call_end().
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/pdus.h"
#include "dcerpc/ndr.h"
#include "state/pace.h"
#include "tap/tapped.h"

/* What is kept of a call, from its request to its response and for every later look at either. Lives with the file. A
 * protocol puts it at the beginning of a record of its own. */
typedef struct rpc_call {
    const struct rpc_protocol *protocol;
    rpc_connection *connection;
    const char *operation; /* "QueryCounterData"; NULL: none on performance counters */
    uint32_t request_frame;
    uint32_t response_frame;
    bool request_read;       /* all parameters */
    bool request_damaged;    /* what it says of itself does not add up */
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
    const char *handle_word;                /* "query", as the Info column says it */
    size_t record_size;                     /* of what it keeps of a call, which begins with an rpc_call */
    void (*end_by_fault)(rpc_call *record); /* a fault answers the call; may be NULL */
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
void call_fields_register(int proto, const char *prefix, const char *number_field, rpc_protocol *fields);

/* One PDU while it is dissected. */
typedef struct {
    const rpc_protocol *fields;
    tvbuff_t *tvb;
    int offset;
    packet_info *pinfo;
    wmem_allocator_t *pool; /* the packet's */
    proto_tree *tree;
    dcerpc_info *di;
    uint16_t opnum;
    bool is_request;
    uint8_t *drep;
    rpc_call *record;
    state_server *server; /* whom its connection is to */
    bool first_time;      /* what it teaches may be learned */
    bool is_noise;
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
static inline bool call_is_connectionless(const dcerpc_info *di)
{
    return di->transport_salt == UINT64_MAX;
}

/* `call` is zeros. */
void call_begin(rpc_pdu *call, const rpc_protocol *fields, const char *operation, tvbuff_t *tvb, int offset,
                packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep);

/* True if the answer is a sample of its own. Else it has the bytes of the series' newest, and the record points to that. */
bool call_note_sample(rpc_pdu *call, const sample_series *series, tvbuff_t *tvb);

/* Reads the stub from its start into the tree; if not aloud, nothing is shown, and findings only count. */
void call_read_stub(rpc_pdu *call, bool is_aloud);

/* Calls `read`, which reads parameters from `call->ndr`. Returns false if one of them is not there. */
bool call_read(rpc_pdu *call, void (*read)(void *pdu), void *pdu);

/* From the request to this response, negative where that is not known. */
double call_seconds(const rpc_pdu *call);

/* Reports a sealed stub that is garbled. `first` is that of ndr_is_garbled(). Returns true if it is. */
bool call_report_noise(rpc_pdu *call, ndr_first first);

/* The stub was read to its end, adds up and is seen for the first time. */
bool call_may_learn(const rpc_pdu *call);

/* What stands in the Info column, in this order: damage, what the call is about, and, if the stub could be read, what it
 * says. */
#define info_add_subject(call, ...) call_append(call, (call)->about, __VA_ARGS__)
#define info_add_detail(call, ...) call_append(call, (call)->info, __VA_ARGS__)
void call_append(const rpc_pdu *call, wmem_strbuf_t *to, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Reads the status of the response into `call->tapped`, and returns it. */
uint32_t call_read_status(rpc_pdu *call, int hf);

/* Reports a status that is not 0, and adds it to the Info column. */
void call_report_status(rpc_pdu *call, uint32_t status);

/* What `tvb` answers with values: a sample in the frame that it was kept of alone. `handle` may be NULL. */
void call_answer(rpc_pdu *call, const value_ops *ops, const state_handle *handle, tvbuff_t *tvb);

/* Listeners are told of that answer, and of so many counters. */
void call_tell_answer(rpc_pdu *call, uint32_t counters);

/* Its answer: for the Info column as value_tree_format_info() has it, and whether it came late. */
void call_report_answer(rpc_pdu *call, const char *failed, const char *part);

/* A sample that came late; NULL: it did not. */
void call_show_late(expert_report *report, proto_item *item, const struct state_late *late);

/* A handle that the call opens, or whose opening was not captured (`frame` 0). It takes the place of an earlier one with the same bytes. */
state_handle *call_open_handle(rpc_pdu *call, state_handle_kind kind, const uint8_t *bytes, uint32_t frame,
                               const char *machine);

/* The response says whether the server closed the handle. */
void call_close_handle(const rpc_pdu *call);

/* Where a handle was opened and closed, below its item. Returns that tree. */
proto_tree *call_show_life(rpc_pdu *call, proto_item *item, const state_handle *handle);

/* Which of the capture's handles it is, in `tree` and in the Info column. */
void call_show_number(rpc_pdu *call, proto_tree *tree, const state_handle *handle);

/* Reports at `item` that the call was answered in another frame before. */
void call_report_second(const rpc_pdu *call, expert_report *report, proto_item *item);

/* Shows and reports bytes that are left behind the last parameter, beyond its padding. */
void call_report_rest(rpc_pdu *call);

/* On the first pass: when the handle's question was asked, or how long its answer took that is no sample. */
void call_pace(const rpc_pdu *call, state_handle *handle, const char *question);

/* Hands it to the listeners: fills what all calls have. `handle`: what it is about, may be NULL. */
void call_hand_over(rpc_pdu *call, const state_handle *handle);

/* As long as the packet is shown, its conversation filter is the monitor's: client and server. */
void call_note_monitor(packet_info *pinfo);

/* Returns the stub's length. */
int call_end(rpc_pdu *call, proto_item *item);

bool call_handle_is_null(const uint8_t *bytes);

/* --- sealed.c: calls that Wireshark could not decrypt. The packet says which key opens them, and whether one was given. What their headers,
 * sizes and times tell is learned, and listeners are told: which query they are of, whether a sample came and came late. Wireshark
 * hands a fault and a sealed stub to no operation of an interface, and one in several fragments to nobody at all. --- */

/* Registers what is shown of sealed calls and faults under PerflibV2's protocol. */
void sealed_register(const rpc_protocol *fields);

/* A fragment at `at` of a request, response or fault that no operation was handed. First pass only. Changes: keeps its call, if it ends it and
 * its size is known, for sealed_show_unread(). */
void sealed_keep(packet_info *pinfo, rpc_connection *connection, const rpc_pending_call *call, const rpc_header *header,
                 tvbuff_t *tvb, int at);

/* A PDU at `at` that was seen; `any`: others that are shown stand before it in the frame. */
void sealed_show_unread(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any);

/* What decryption made noise of is followed by its sizes and times, as what no key opens. */
void sealed_follow_noise(const rpc_pdu *call);
