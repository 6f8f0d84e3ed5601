/* winreg-hook.c
 * The hook into Wireshark's winreg dissector.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd.h"

#include "dcerpc/transport.h"

/* winreg, 338cd001-2244-31f1-aaaa-900038001003 version 1.0 ([MS-RRP] 1.9) */
static e_guid_t uuid_winreg = {0x338cd001, 0x2244, 0x31f1, {0xaa, 0xaa, 0x90, 0x00, 0x38, 0x00, 0x10, 0x03}};
#define WINREG_VERSION 1
#define NUM_OPNUMS 34

static dcerpc_sub_dissector stock[NUM_OPNUMS]; /* entries that were replaced, by opnum; no name: not replaced */

int winreg_stock(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    DISSECTOR_ASSERT(di->call_data->opnum < NUM_OPNUMS);
    const dcerpc_sub_dissector *entry = &stock[di->call_data->opnum];

    if (di->ptype == PDU_REQ) {
        return entry->dissect_rqst ? entry->dissect_rqst(tvb, offset, pinfo, tree, di, drep) : offset;
    }
    return entry->dissect_resp ? entry->dissect_resp(tvb, offset, pinfo, tree, di, drep) : offset;
}

/* The stock table is constant: a copy of it takes its place. */
void winreg_hook_install(const rpc_operation *operations, dcerpc_dissect_fnct_t *dissect, bool (*is_active)(void))
{
    guid_key key = {uuid_winreg, WINREG_VERSION};
    dcerpc_uuid_value *winreg = g_hash_table_lookup(dcerpc_uuids, &key);
    unsigned count = 0;

    if (winreg == NULL) {
        return;
    }
    rpc_watch_interface(RPC_WINREG, &(rpc_watched_interface){&uuid_winreg, is_active, operations});
    while (winreg->procs[count].name) {
        count++;
    }
    dcerpc_sub_dissector *table = wmem_memdup(wmem_epan_scope(), winreg->procs, (count + 1) * sizeof *table);
    for (dcerpc_sub_dissector *entry = table; entry->name; entry++) {
        const rpc_operation *ours = rpc_find_operation(RPC_WINREG, entry->num);
        if (ours && strcmp(entry->name, ours->name) == 0) {
            stock[entry->num] = *entry;
            entry->dissect_rqst = entry->dissect_resp = dissect;
        }
    }
    winreg->procs = table;
}
