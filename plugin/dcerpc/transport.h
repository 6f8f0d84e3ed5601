/* transport.h
 * PDUs behind Wireshark's dissector of DCE/RPC.
 *
 * Its heuristics for TCP and SMB are wrapped. While the stock one runs, operations note which PDUs they are handed; then headers are read
 * once. On the first pass they tell binds, requests without a response, sealed calls and faults; on later passes what was kept of the frame is
 * shown: Wireshark hands a fault and a sealed stub to no operation of an interface, and one in several fragments to nobody. A sealed packet
 * says which key opens it, and whether one was given; its header, size and time tell which query it is of, and whether a sample came, and late.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/call.h"

/* Registers the fields of sealed calls under PerflibV2's protocol. Needs: a registered protocol, which lives as long as the program. Changes: keeps
 * it, to show sealed calls and faults of both protocols; from the first capture on, Wireshark's heuristics are wrapped. */
void rpc_transport_register(const rpc_protocol *protocol);

/* Reason of a call that is unread because its decryption gave noise: no key would open it. */
#define UNREAD_GARBLED \
    "Its decryption failed: packets before it were not captured, or NTLM goes through SPNEGO " \
    "(dcerpc.auth_type == 9), of which Wireshark opens the first call alone"
