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

/* Keeps the call of a fragment that no operation could read, if it ends it and its size is known. */
void sealed_keep(packet_info *pinfo, rpc_connection *connection, const rpc_pending_call *pending,
                 const rpc_header *header, tvbuff_t *tvb, int at, bool is_garbled);

/* Shows and taps what was kept of the PDU at `at`. `any`: others that are shown stand before it in the frame. */
void sealed_show_unread(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any);
