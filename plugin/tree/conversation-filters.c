/* conversation-filters.c
 * Analyze, Conversation Filter: this query, this monitor.
 *
 * Wireshark asks of the selected packet alone, and hands over its packet_info: what a filter needs is noted there while the
 * packet is dissected, and goes with it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/conversation-filters.h"

#include <epan/proto_data.h>
#include <epan/to_str.h>

enum { CALL = 1, NUMBER_FIELD, NUMBER };

static int proto_noted;

void conversation_filters_note_call(packet_info *pinfo)
{
    p_add_proto_data(pinfo->pool, pinfo, proto_noted, CALL, pinfo);
}

void conversation_filters_note_handle(packet_info *pinfo, const char *number_field, uint32_t number)
{
    p_add_proto_data(pinfo->pool, pinfo, proto_noted, NUMBER_FIELD, (void *)(uintptr_t)number_field);
    p_add_proto_data(pinfo->pool, pinfo, proto_noted, NUMBER, GUINT_TO_POINTER(number));
}

static ws_filter_valid has_handle(WS_FILTER_ARGUMENTS)
{
    return p_get_proto_data(pinfo->pool, pinfo, proto_noted, NUMBER) != NULL;
}

static char *filter_of_handle(WS_FILTER_ARGUMENTS)
{
    const char *field = p_get_proto_data(pinfo->pool, pinfo, proto_noted, NUMBER_FIELD);
    unsigned number = GPOINTER_TO_UINT(p_get_proto_data(pinfo->pool, pinfo, proto_noted, NUMBER));

    return g_strdup_printf("%s == %u", field, number);
}

static bool has_addresses(const packet_info *pinfo)
{
    return pinfo->net_src.type == pinfo->net_dst.type &&
           (pinfo->net_src.type == AT_IPv4 || pinfo->net_src.type == AT_IPv6);
}

static ws_filter_valid is_call(WS_FILTER_ARGUMENTS)
{
    return has_addresses(pinfo) && p_get_proto_data(pinfo->pool, pinfo, proto_noted, CALL) != NULL;
}

/* All that one client asks one server, whatever the connection. */
static char *filter_of_monitor(WS_FILTER_ARGUMENTS)
{
    const char *field = pinfo->net_src.type == AT_IPv4 ? "ip.addr" : "ipv6.addr";

    return g_strdup_printf("(pcq || hkpd) && %s == %s && %s == %s", field, address_to_str(pinfo->pool, &pinfo->net_src),
                           field, address_to_str(pinfo->pool, &pinfo->net_dst));
}

void conversation_filters_register(int proto)
{
    proto_noted = proto;
    ws_register_conversation_filter("pcq", "Performance Counter Query", has_handle, filter_of_handle);
    ws_register_conversation_filter("pcq", "Performance Counter Monitor", is_call, filter_of_monitor);
}
