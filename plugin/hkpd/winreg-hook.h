/* winreg-hook.h
 * The hook into Wireshark's winreg dissector, which offers none: a copy of its table of operations, with some entries
 * replaced, takes the table's place. Each replacement can call the stock function that it replaced.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Some of its operations ([MS-RRP] 3.1.4); packet-hkpd.c lists all that are looked at. */
#define WINREG_CREATE_KEY 6
#define WINREG_ENUM_VALUE 10
#define WINREG_QUERY_VALUE 17

/* Registers a subtree that one way of hooking needs. */
void winreg_hook_register(void);

/* Puts `count` entries, by number, in the place of the stock ones; where one's name or request is NULL the stock one stays. Nothing
 * is hooked where the stock dissector has no such table, and no entry whose name is not the stock one's. Sealed calls are
 * explained where `is_active` says that ours are looked at. */
void winreg_hook_install(const dcerpc_sub_dissector *entries, unsigned count, bool (*is_active)(void));

/* The stock function of a PDU whose entry was replaced. */
int winreg_stock(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep);

/* The same on the stub up to `end` alone: it stops where it misses something. */
void winreg_stock_until(uint32_t end, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                        uint8_t *drep);
