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

/* Returns a copy of the stock table, which is constant, with our function for these operations; NULL: there is no such table. Changes: `stock`. */
static dcerpc_sub_dissector *copy_hooked_table(const rpc_operation *operations, dcerpc_dissect_fnct_t *dissect)
{
    ws_dcerpc_table *table = dcerpc_get_proto_sub_dissector(&uuid_winreg, WINREG_VERSION);
    unsigned count = 0;

    if (table == NULL) {
        return NULL;
    }
    while (table[count].name) {
        count++;
    }
    dcerpc_sub_dissector *copy = wmem_memdup(wmem_epan_scope(), table, (count + 1) * sizeof *copy);
    for (dcerpc_sub_dissector *entry = copy; entry->name; entry++) {
        const rpc_operation *ours = operations;
        while (ours->name && ours->opnum != entry->num) {
            ours++;
        }
        if (ours->name && strcmp(entry->name, ours->name) == 0) {
            stock[entry->num] = *entry;
            entry->dissect_rqst = entry->dissect_resp = dissect;
        }
    }
    return copy;
}

static bool (*is_hooked)(void);

static bool is_winreg_watched(void)
{
    return is_hooked() && proto_is_protocol_enabled(find_protocol_by_id(proto_get_id_by_filter_name("winreg")));
}

/* With dcerpc_uuids the copy takes the table's place; without it the interface is registered again, which draws
 * a warning that two dissectors have one name. */
void winreg_hook_install(const rpc_operation *operations, dcerpc_dissect_fnct_t *dissect, bool (*is_active)(void))
{
    dcerpc_sub_dissector *table = copy_hooked_table(operations, dissect);

    if (table == NULL || stock[WINREG_QUERY_VALUE].name == NULL) {
        return;
    }
#ifdef HAVE_DCERPC_UUIDS
    guid_key key = {uuid_winreg, WINREG_VERSION};
    dcerpc_uuid_value *value = g_hash_table_lookup(dcerpc_uuids, &key);
    if (value) {
        value->procs = table;
    }
#else
    static int ett_winreg = -1;
    static int *ett[] = {&ett_winreg};
    proto_register_subtree_array(ett, array_length(ett));
    dcerpc_init_uuid(proto_get_id_by_filter_name("winreg"), ett_winreg, &uuid_winreg, WINREG_VERSION, table,
                     dcerpc_get_proto_hf_opnum(&uuid_winreg, WINREG_VERSION));
#endif
    is_hooked = is_active;
    rpc_watch(RPC_WINREG, &(rpc_watched_interface){&uuid_winreg, is_winreg_watched, operations});
}
