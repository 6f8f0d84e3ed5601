/* sealed.h
 * Calls that Wireshark could not decrypt: the packet says which key opens them, and whether one was given. What their headers, sizes and times
 * tell is learned, and listeners are told: which query they are of, whether a sample came and came late.
 *
 * Wireshark hands a fault and a sealed stub to no operation of an interface, and one in several fragments to nobody at all. So its
 * heuristics for DCE/RPC over TCP and SMB are wrapped, which see each PDU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"

/* What an operation of PerflibV2 does. */
enum {
    SEALED_OPENS = 1,   /* a query handle */
    SEALED_CLOSES = 2,  /* it */
    SEALED_USES = 4,    /* it */
    SEALED_RETURNS = 8, /* data, or the size that they need */
    SEALED_SAMPLES = 16 /* and they are a sample */
};

/* Registers what is shown of sealed calls and faults under PerflibV2's protocol. `does`: what each of `count` operations does, by its
 * number. */
void sealed_register(const rpc_fields *fields, const value_string *operations, const uint8_t *does, unsigned count);

/* Follows the calls of an interface as long as `is_watched` says so, and explains those that are sealed. `may`: what its
 * operations do. */
void sealed_watch(rpc_interface interface, const e_guid_t *uuid, bool (*is_watched)(void),
                  unsigned (*may)(uint16_t opnum));

/* What decryption made noise of is followed by its sizes and times, as what no key opens. */
void sealed_follow_noise(const rpc_call *call);
