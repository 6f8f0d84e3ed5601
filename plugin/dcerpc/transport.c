/* transport.c
 * PDUs behind Wireshark's dissector of DCE/RPC.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/transport.h"

#include <epan/exceptions.h>

#include "dcerpc/sealed.h"

/* Hands listeners a request or response without a connection (no bind to a watched interface was captured) as the call "Unbound". */
static void tap_unbound(packet_info *pinfo, const rpc_header *header)
{
    if (header->type == PDU_REQ || header->type == PDU_RESP) {
        tapped_hand_over_setup(pinfo, &(tapped_call){.operation = "Unbound", .is_response = header->type == PDU_RESP});
    }
}

/* Reads the headers of the PDUs in `tvb`: adds them to their connections on the first pass, and shows those that no operation read. `next`: the first
 * of `all_handed` in this tvb. A PDU at the end that is not all there may come again, reassembled. */
static void read_headers(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, GArray *all_handed, unsigned next)
{
    int end = pinfo->desegment_len != 0 ? pinfo->desegment_offset : (int)tvb_captured_length(tvb);
    rpc_header header;
    bool any = false;

    for (int at = 0; at < end && rpc_header_read(&header, tvb, at); at += header.size) {
        const rpc_handed_pdu *handed = next < all_handed->len ? &g_array_index(all_handed, rpc_handed_pdu, next) : NULL;
        if (handed && (handed->type != header.type || handed->call_id != header.call_id)) {
            handed = NULL;
        }
        next += handed != NULL;
        bool is_bound = PINFO_FD_VISITED(pinfo) ? rpc_connection_exists(pinfo)
                                                : rpc_connection_add_pdu(pinfo, tvb, at, &header, handed, sealed_keep);
        rpc_kept_pdu *kept = rpc_find_kept_pdu(pinfo, &header);
        if (!is_bound) {
            tap_unbound(pinfo, &header);
        } else if (kept && kept->is_setup) {
            tapped_hand_over_setup(pinfo, &kept->tapped);
        } else if (kept) {
            sealed_show(tvb, pinfo, tree, at, &header, kept, &any);
        }
    }
}

/* Wireshark's heuristics for DCE/RPC over something. */
#define WATCHED(X) X(dcerpc_tcp) X(dcerpc_smb2) X(dcerpc_smb_transact)

#define STOCK(name) static heur_dissector_t stock_##name;
WATCHED(STOCK)

/* Calls a stock heuristic, collects the PDUs that operations are handed, and reads headers if it took the packet or threw. Returns its result. */
static ws_heuristic dissect_transport(heur_dissector_t stock, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                                      void *data)
{
    static GArray *handed; /* of nested layers, too */
    GArray *outer = rpc_handed_pdus;
    volatile ws_heuristic result = true;

    handed = handed ? handed : g_array_new(FALSE, FALSE, sizeof(rpc_handed_pdu));
    g_array_set_size(handed, outer ? outer->len : 0);
    unsigned first = handed->len;
    rpc_handed_pdus = handed;
    TRY
    {
        result = stock(tvb, pinfo, tree, data);
    }
    FINALLY /* what was cut short when it was captured says in its header what it was */
    {
        rpc_handed_pdus = outer;
        if (result) {
            read_headers(tvb, pinfo, tree, handed, first);
            g_array_set_size(handed, first);
        }
    }
    ENDTRY;
    return result;
}

#define WATCH(name) \
    static ws_heuristic watch_##name(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data) \
    { \
        return dissect_transport(stock_##name, tvb, pinfo, tree, data); \
    }

WATCHED(WATCH)

#define INSTALL(name) install_watch(#name, &stock_##name, watch_##name);

/* Puts `watched` in the place of a heuristic of Wireshark's. Changes: `stock` becomes that one. Does nothing the second time. */
static void install_watch(const char *name, heur_dissector_t *stock, heur_dissector_t watched)
{
    heur_dtbl_entry_t *entry = find_heur_dissector_by_unique_short_name(name);

    if (entry && entry->dissector != watched) {
        *stock = entry->dissector;
        entry->dissector = watched;
    }
}

void rpc_watch(rpc_interface interface, const rpc_watched_interface *watched)
{
    rpc_watch_interface(interface, watched);
    WATCHED(INSTALL)
}
