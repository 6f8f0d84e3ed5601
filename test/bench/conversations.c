/* conversations.c
 * For the tests: what Analyze, Conversation Filter offers for each packet, as a field `conversations.filter` ("title: filter").
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ws_compat.h"

static int proto_conversations = -1, hf_filter = -1;

static int offer(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
    for (GList *at = packet_conv_filter_list; at; at = at->next) {
        const conversation_filter_t *filter = at->data;
#if WS_AT_LEAST(4, 4)
        char *text = filter->is_filter_valid(pinfo, filter->user_data)
                         ? filter->build_filter_string(pinfo, filter->user_data)
                         : NULL;
#else
        char *text = filter->is_filter_valid(pinfo) ? filter->build_filter_string(pinfo) : NULL;
#endif
        if (text && strcmp(filter->proto_name, "pcq") == 0) {
            proto_tree_add_string(tree, hf_filter, tvb, 0, 0,
                                  wmem_strdup_printf(pinfo->pool, "%s: %s", filter->display_name, text));
        }
        g_free(text);
    }
    return (int)tvb_captured_length(tvb);
}

static void register_fields(void)
{
    static hf_register_info fields[] = {
        {&hf_filter, {"Filter", "conversations.filter", FT_STRING, BASE_NONE, NULL, 0, NULL, HFILL}}};

    proto_conversations = proto_register_protocol("Conversations", "Conversations", "conversations");
    proto_register_field_array(proto_conversations, fields, array_length(fields));
    register_postdissector(create_dissector_handle(offer, proto_conversations));
}

void plugin_register(void);
uint32_t plugin_describe(void);
WS_DLL_PUBLIC_DEF const char plugin_version[] = "0.0.0";
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC_DEF void plugin_register(void)
{
    static proto_plugin plugin = {register_fields, NULL};

    proto_register_plugin(&plugin);
}

WS_DLL_PUBLIC_DEF uint32_t plugin_describe(void)
{
    return WS_PLUGIN_DESC_DISSECTOR;
}
