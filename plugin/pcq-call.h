/* pcq-call.h
 * What the calls of PerflibV2 have in common: the record of a call, and the parameters that several operations send.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_PCQ_CALL_H
#define PCQ_PCQ_CALL_H

#include "readings/tapped.h"
#include "pcq-buffers.h"
#include "dcerpc/call.h"

#define STATUS_SUCCESS 0
#define STATUS_NOT_ENOUGH_MEMORY 8

/* What is kept of a call beside perf_call_record: the request as it was read. */
typedef struct {
    perf_call_record call;
    uint8_t guid[16];
    uint32_t request_code;
    uint32_t lcid;
    uint32_t in_size;
    uint64_t array_count; /* of ValidateCounters, which gets the same array back */
    bool add;
    const char *machine;
    perf_sample *sample; /* of the response */
} pcq_record;

/* One PDU while it is dissected. */
typedef struct {
    perf_call call;
    pcq_record *record;     /* the same as call.record */
    bool identifiers_sound; /* of ValidateCounters: nothing contradicts itself in them */
    perf_tapped tapped;     /* what statistics are told, as far as it was read */
    readings_answer answer; /* of it */
} pcq_pdu;

/* Registers the fields; `proto` is the protocol's. */
void pcq_call_register(int proto);

/* Begins a PDU of the operation, and reports what is strange about it before it is read. */
void pcq_begin(pcq_pdu *p, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
               uint8_t *drep);

wmem_allocator_t *pcq_pool(const pcq_pdu *p);

/* True if the request was read, so that what it says can be said. */
bool pcq_request_read(const pcq_pdu *p);

void pcq_read_machine(pcq_pdu *p);

/* dwInSize, of which the interface admits up to `largest` ([MS-PCQ] 3.1.4.1). */
void pcq_read_in_size(pcq_pdu *p, uint32_t largest);

uint32_t pcq_read_status(pcq_pdu *p);

/* A parameter of four bytes. */
uint32_t pcq_read_u32(pcq_pdu *p, int hf);

/* The context handle; the item is completed when the stub has proved sound. */
proto_item *pcq_read_handle(pcq_pdu *p, uint8_t handle[PERF_HANDLE_SIZE]);

/* The request is read: all that was there. */
void pcq_request_end(pcq_pdu *p);

/* pdwOutSize, pdwRtnSize and the counts of lpData, which operations 0, 1, 2, 5 and 6 return alike. */
typedef struct {
    uint32_t out_size;
    uint32_t rtn_size;
    uint32_t status;
    const char *unit; /* of the sizes, "byte" or "GUID" */
    tvbuff_t *tvb;    /* lpData, NULL if it could not be found or is empty */
    proto_tree *tree;
    proto_item *item;
} pcq_returned;

/* The two sizes and lpData up to where its contents begin. */
void pcq_read_returned(pcq_pdu *p, uint32_t element_size, pcq_returned *back);

/* The status behind lpData. Reports it, and says in the Info column what a failed call or a size probe says. Returns
 * true if the call succeeded. */
bool pcq_read_returned_status(pcq_pdu *p, pcq_returned *back);

/* True for the size probe, half of a normal call: too small a buffer, and the size that would do. */
bool pcq_is_size_probe(const pcq_returned *back);

/* lpData of ValidateCounters, in both directions: conformant, not varying. */
void pcq_read_sent(pcq_pdu *p, pcq_returned *back);

/* For the buffer dissectors, and what they taught. */
void pcq_init_context(pcq_pdu *p, pcq_context *context);
void pcq_learn(pcq_pdu *p, const pcq_context *context);

#endif
