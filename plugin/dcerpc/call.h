/* call.h
 * The life of a call, for both protocols: which PDU it is seen in and when, whether what it says may be learned, whether
 * it is noise, whose handle it carries, what the Info column says, and the findings at its end.
 *
 *   perf_call_begin     takes the PDU's event and its call's record
 *   perf_call_aloud     …or perf_call_silently: reads the stub from its start
 *   perf_call_is_noise  before anything is shown
 *   perf_call_about     what the call is about, perf_call_info what it says
 *   perf_call_end_stub  nothing may be left over
 *   perf_call_end       writes the Info column
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_DCERPC_CALL_H
#define PCQ_DCERPC_CALL_H

#include "dcerpc/ndr.h"
#include "state/state.h"

/* Which call a PDU belongs to. Wireshark's own record of it will not do as a key: for connectionless calls it lives with
 * the packet, and winreg's functions use its place for other data. */
typedef struct {
    const struct perf_call_fields *protocol;
    uint32_t frame; /* of the request; without one the response's */
    bool has_request;
    uint32_t call_id;
    uint64_t transport_salt;
} perf_call_key;

/* What is kept of a call, from its request to its response and for every later look at either. Lives with the file. A
 * protocol puts it at the beginning of a record of its own. */
typedef struct {
    perf_call_key key;
    uint32_t request_event;
    uint32_t request_frame;
    uint32_t response_event;
    uint32_t response_frame;
    bool request_read;      /* all parameters */
    bool request_damaged;   /* what it says of itself does not add up */
    perf_handle *handle;    /* that the request speaks of, or that the response opened */
    perf_handle *answering; /* that the response speaks of */
} perf_call_record;

/* Fields and findings of one protocol. */
typedef struct perf_call_fields {
    const char *handle_label; /* "Query handle" */
    const char *handle_word;  /* "query", as the Info column says it */
    perf_expert expert;
    ndr_fields ndr;
    int handle;
    int handle_number;
    int handle_opened_in;
    int handle_closed_in;
    int status;
    int rest;
    int noise;
} perf_call_fields;

/* `number_field` is the name of the handle's number behind the prefix. */
void perf_call_fields_register(int proto, const char *prefix, const char *number_field, perf_call_fields *fields);

/* A text for the Info column. What finds no room here the column would cut off, too. */
typedef struct {
    size_t size;
    char text[COL_MAX_INFO_LEN];
} perf_info_text;

/* One PDU while it is dissected. */
typedef struct {
    const perf_call_fields *fields;
    tvbuff_t *tvb;
    int offset;
    packet_info *pinfo;
    proto_tree *tree;
    dcerpc_info *di;
    uint8_t *drep;
    perf_call_record *record;
    perf_server *server;
    uint32_t event;
    bool first_time; /* what it teaches may be learned */
    bool is_noise;
    ndr_reader ndr;
    perf_report report;
    bool has_column; /* somebody reads the Info column */
    perf_info_text about;
    perf_info_text info;
} perf_call;

void perf_call_init(perf_call *call, const perf_call_fields *fields, tvbuff_t *tvb, int offset, packet_info *pinfo,
                    proto_tree *tree, dcerpc_info *di, uint8_t *drep);

/* `record_size` is that of the protocol's own record. */
void perf_call_begin(perf_call *call, size_t record_size);

/* Reads from the start into the tree, or so that nothing is shown and findings only count. */
void perf_call_aloud(perf_call *call);
void perf_call_silently(perf_call *call);

static inline bool perf_call_is_request(const perf_call *call)
{
    return call->di->ptype == PDU_REQ;
}

/* True, and said so, if the stub was sealed and is not what its decryption should have given. `shape` and `largest` are
 * those of dcerpc/noise.h. */
bool perf_call_is_noise(perf_call *call, const char *shape, uint64_t largest);

/* True if the stub was read to its end, adds up and may be learned from. */
bool perf_call_may_learn(const perf_call *call);

/* What stands in the Info column, in this order: damage, what the call is about, and, if the stub could be read, what it
 * says. */
void perf_call_about(perf_call *call, const char *format, ...) G_GNUC_PRINTF(2, 3);
void perf_call_info(perf_call *call, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* The same of texts that are put together, up to NULL. */
void perf_call_about_texts(perf_call *call, const char *first, ...) G_GNUC_NULL_TERMINATED;
void perf_call_info_texts(perf_call *call, const char *first, ...) G_GNUC_NULL_TERMINATED;

/* The status of the response: reported and in the Info column if the call failed. */
void perf_call_report_status(perf_call *call, uint32_t status);

/* A life of a handle in this call; `frame` is 0 where the opening was not captured. */
perf_handle *perf_call_open_handle(perf_call *call, perf_handle_kind kind, const uint8_t *bytes, uint32_t begin,
                                   uint32_t frame, const char *machine);

/* Where a handle was opened and closed, below its item. Returns that tree. */
proto_tree *perf_call_show_life(perf_call *call, proto_item *item, const perf_handle *handle);

/* Which of the capture's handles it is, in `tree` and in the Info column. */
void perf_call_show_number(perf_call *call, proto_tree *tree, const perf_handle *handle);

/* Reports what is left behind the last parameter. */
void perf_call_end_stub(perf_call *call);

/* Returns the stub's length. */
int perf_call_end(perf_call *call, proto_item *item);

bool perf_handle_is_null(const uint8_t *bytes);

const char *perf_number(wmem_allocator_t *pool, uint64_t number);

/* "1 block", "7 blocks". */
const char *perf_counted(wmem_allocator_t *pool, uint64_t count, const char *word);

/* At most so many characters of a text, with an ellipsis where it was cut; what a text of the Info column gets. */
const char *perf_cut_text(wmem_allocator_t *pool, const char *text, unsigned characters);
const char *perf_short_text(wmem_allocator_t *pool, const char *text);

#endif
