/* sealed.h
 * Calls that Wireshark could not decrypt: the packet says which key opens them, and whether one was given.
 *
 * Wireshark hands a fault and a sealed stub to no operation of an interface, and one in several fragments to nobody at all. So its
 * heuristics for DCE/RPC over TCP and SMB are wrapped, which see each PDU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/sealed-calls.h"

/* Registers what is shown of sealed calls and faults under PerflibV2's protocol. */
void sealed_register(const rpc_fields *fields, const value_string *operations, const uint8_t *does, unsigned count);

/* Explains the sealed calls of PerflibV2, or those of winreg that open HKEY_PERFORMANCE_DATA as long as `is_watched` says
 * so. Called once for each, when the interface is registered with DCE/RPC. */
void sealed_watch_perflib(const e_guid_t *uuid);
void sealed_watch_winreg(const e_guid_t *uuid, bool (*is_watched)(void));
