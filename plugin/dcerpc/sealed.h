/* sealed.h
 * Calls that Wireshark could not decrypt. The packet says which key opens them, and whether one was given. Their headers, sizes and times
 * tell which query they are of, and whether a sample came, and came late. Wireshark hands a fault and a sealed stub to no operation of an
 * interface, and one in several fragments to nobody.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"

/* Registers what is shown of sealed calls and faults under PerflibV2's protocol. */
void sealed_register(const rpc_protocol *protocol);

/* Keeps a PDU that no operation could read, with its last fragment: a fault, a sealed one of known size, or the answer to a call whose request an
 * operation was handed. Needs: the first pass. */
void sealed_keep(packet_info *pinfo, rpc_connection *connection, const rpc_pending_call *pending,
                 const rpc_header *header, tvbuff_t *tvb, int at);

/* Shows and taps on every pass what sealed_keep() kept of the PDU at offset `at`. `any`: others are shown before it in the frame. */
void sealed_show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                 const rpc_kept_pdu *kept, bool *any);
