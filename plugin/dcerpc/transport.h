/* transport.h
 * PDUs behind Wireshark's dissector of DCE/RPC.
 *
 * Its heuristics for TCP and SMB are wrapped. While the stock one runs, operations say which PDUs they are handed; then the headers are read
 * once. On the first pass they tell binds, requests without a response, sealed calls and faults; on later passes what was kept of the frame is
 * shown.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/connections.h"

/* Registers an interface whose calls are followed, sealed ones too. Changes: wraps Wireshark's heuristics, the first time. */
void rpc_watch(rpc_interface interface, const rpc_watched_interface *watched);
