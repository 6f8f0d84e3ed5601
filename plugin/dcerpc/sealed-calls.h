/* sealed-calls.h
 * What sizes and times of sealed calls tell: which query they are of, whether a sample came and came late. Listeners are told.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"
#include "dcerpc/sealed-pdus.h"

/* What an operation of PerflibV2 does. */
enum {
    SEALED_OPENS = 1,   /* a query handle */
    SEALED_CLOSES = 2,  /* it */
    SEALED_USES = 4,    /* it */
    SEALED_RETURNS = 8, /* data, or the size that they need */
    SEALED_SAMPLES = 16 /* and they are a sample */
};

/* A request, response or fault that no key opened; or a response that was not read, or a fault, of a call that was. */
typedef struct {
    const char *why;          /* it is not read, and what opens it */
    const char *operation;    /* "QueryCounterData" */
    proto_item *item;         /* what is shown of it, may be NULL */
    sealed_pdu *pdu;          /* NULL of a call that was read, */
    const rpc_record *record; /* whose answer this is */
    bool is_fault;
    uint32_t status;
} sealed_call;

void sealed_call_tell(packet_info *pinfo, const sealed_call *call);

/* What decryption made noise of is followed by its sizes and times, as what no key opens. */
void sealed_call_follow_noise(const rpc_call *call);

/* `does`: what each of `count` operations does, by its number. */
void sealed_calls_register(const rpc_fields *perflib, const uint8_t *does, unsigned count);
