/* sealed.h
 * Calls that Wireshark could not decrypt: the packet says which key opens them, and whether one was given. What their headers, sizes and times
 * tell is learned, and listeners are told: which query they are of, whether a sample came and came late.
 *
 * Wireshark hands a fault and a sealed stub to no operation of an interface, and one in several fragments to nobody at all.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"

/* Registers what is shown of sealed calls and faults under PerflibV2's protocol. */
void sealed_register(const rpc_fields *fields);

/* A PDU at `at` that was seen; `any`: others that are shown stand before it in the frame. */
void sealed_show_unread(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any);

/* What decryption made noise of is followed by its sizes and times, as what no key opens. */
void sealed_follow_noise(const rpc_call *call);
