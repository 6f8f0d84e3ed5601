/* sealed.h
 * Calls that Wireshark could not decrypt: the packet says which key opens them, and whether one was given.
 *
 * Wireshark hands a sealed stub to no operation of an interface. It hands it to the interface's handle in the table
 * "dcerpc.uuid", though, which shows the operation's name; so that handle is wrapped. Captures without the interface
 * never come here.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Told of each sealed call: why it is, and what opens it. */
typedef void (*sealed_listener)(packet_info *pinfo, const char *why);

/* Registers pcq.expert.sealed and pcq.expert.key_does_not_fit under PerflibV2's protocol. */
void sealed_register(int proto, sealed_listener listener);

/* Explains the sealed calls of PerflibV2, or those of winreg that open HKEY_PERFORMANCE_DATA as long as `is_watched` says
 * so. Called once for each, when the interface is registered with DCE/RPC. */
void sealed_watch_perflib(e_guid_t *uuid, uint16_t version);
void sealed_watch_winreg(e_guid_t *uuid, uint16_t version, bool (*is_watched)(void));
