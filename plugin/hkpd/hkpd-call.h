/* hkpd-call.h
 * What the calls of the registry have in common where performance data may be behind them: the record of a call, its
 * handle and which key that is, and the parameters that several operations send.
 *
 * A PDU is read twice: silently, to see what it is, and again if it is shown here instead of by the stock function.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_HKPD_CALL_H
#define PCQ_HKPD_HKPD_CALL_H

#include "hkpd/names.h"
#include "readings/tapped.h"
#include "dcerpc/call.h"

#define STATUS_SUCCESS 0
#define STATUS_MORE_DATA 234

/* Which key with performance data a handle stands for. Belongs to the handle. */
typedef struct hkpd_key {
    hkpd_key_kind kind;
    uint32_t language; /* of HKPD_KEY_LANGUAGE */
    /* the last answer, as long as it was ERROR_MORE_DATA; only for the first pass */
    const char *too_small_name;
    uint32_t too_small_frame; /* of its request */
} hkpd_key;

/* What is kept of a call beside perf_call_record, whose `handle` is the one asked, if it is a key with performance data,
 * and whose `answering` is the one that was opened. */
typedef struct {
    perf_call_record call;
    bool handle_read; /* the next one holds it */
    uint8_t handle_bytes[PERF_HANDLE_SIZE];
    const char *name; /* value name, or name of the key to be opened; NULL if it was not read */
    uint32_t room;    /* lpcbData where there is a buffer for it, else 0 */
    /* set on the first pass */
    perf_handle *closed; /* instead of call.handle: one that was closed before */
    uint32_t retry_of;   /* request of the same that was answered with ERROR_MORE_DATA, 0 if there is none */
    perf_sample *sample;
} hkpd_record;

/* One PDU while it is dissected. */
typedef struct {
    perf_call call;
    hkpd_record *record; /* the same as call.record */
    proto_tree *hkpd;    /* ours, NULL as long as there is nothing to show */
    proto_item *item;
    perf_tapped tapped;     /* what statistics are told, as far as it was read */
    readings_answer answer; /* of it */
} hkpd_pdu;

/* Fields of the stock dissector, found when all dissectors are there. False if it is not as expected. */
bool hkpd_call_find_stock_fields(void);
void hkpd_call_register(int proto);

/* Takes the PDU's event and begins to read it, silently. */
void hkpd_begin(hkpd_pdu *p, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                uint8_t *drep);

wmem_allocator_t *hkpd_pool(const hkpd_pdu *p);
uint16_t hkpd_opnum(const hkpd_pdu *p);

/* Lets the stock function show the stub, whole or up to `end`. */
int hkpd_call_stock(hkpd_pdu *p);
void hkpd_call_stock_until(hkpd_pdu *p, uint32_t end);

/* The end of a PDU that the stock function shows, and of one that was read aloud here. */
int hkpd_end_with_stock(hkpd_pdu *p);
int hkpd_end(hkpd_pdu *p);

/* --- Handles --------------------------------------------------------------------------------------------------- */

/* NULL for another key's handle. */
hkpd_key *hkpd_key_of(const perf_handle *handle);

/* True for the predefined keys. Those below HKEY_LOCAL_MACHINE are ordinary ones: their calls stay as they are. */
bool hkpd_is_shown(const perf_handle *handle);

/* The life of a handle that is known, as of this PDU, to be one with performance data. */
perf_handle *hkpd_known_handle(const hkpd_pdu *p);

/* The life that is open at this moment, of a key with performance data or another. */
perf_handle *hkpd_find_open(hkpd_pdu *p, const uint8_t *bytes);

/* A life that begins with event `begin`; frame 0 if the opening was not captured. */
perf_handle *hkpd_open_handle(hkpd_pdu *p, const uint8_t *bytes, uint32_t begin, uint32_t frame, hkpd_key_kind kind,
                              uint32_t language);
void hkpd_open_other(hkpd_pdu *p, const uint8_t *bytes);

/* The handle of a request, or of a response to an opening, and where it stands in the stub. */
void hkpd_read_handle(hkpd_pdu *p, uint8_t bytes[PERF_HANDLE_SIZE]);
void hkpd_read_asked_handle(hkpd_pdu *p);
int hkpd_handle_offset(const hkpd_pdu *p);

/* Our part of the tree, begun when there is something to show. */
void hkpd_show_node(hkpd_pdu *p);

/* The handle of this call, with where it was opened and closed. `offset` is where it stands in the stub, -1 if it does
 * not. */
void hkpd_show_handle(hkpd_pdu *p, const perf_handle *handle, int offset);

/* --- Parameters ------------------------------------------------------------------------------------------------ */

uint32_t hkpd_read_status(hkpd_pdu *p);

/* RRP_UNICODE_STRING ([MS-RRP] 2.2.4): sizes in bytes, then a pointer to a conformant varying array. NULL if it could
 * not be read, "" if it is empty. */
const char *hkpd_read_name(hkpd_pdu *p, int hf);

/* Type, data, its sizes: what QueryValue and EnumValue send in both directions. */
typedef struct {
    uint32_t type;
    bool has_buffer; /* the pointer to the data is not null */
    tvbuff_t *tvb;   /* the data, NULL if there is none */
    uint32_t data;   /* offset of the data in the stub */
    uint32_t data_size;
    uint32_t size; /* lpcbData */
    bool has_length;
    uint32_t length; /* lpcbLen */
    proto_item *length_item;
} hkpd_value_parameters;

void hkpd_read_value(hkpd_pdu *p, hkpd_value_parameters *value);

/* The last two of them, behind the data. */
void hkpd_read_sizes(hkpd_pdu *p, hkpd_value_parameters *value);

/* An optional number that nobody asks for. */
void hkpd_skip_pointed_u32(hkpd_pdu *p);

/* Data that the client sends along: no performance data. */
void hkpd_show_sent_data(hkpd_pdu *p, const hkpd_value_parameters *value);

/* The stock dissector's field of a value's name. */
int hkpd_value_name_field(void);

#endif
