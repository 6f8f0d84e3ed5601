/* plugin.c
 * What Wireshark's plugin loader looks for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ws_compat.h"

void proto_register_pcq(void);
void proto_reg_handoff_pcq(void);
void proto_register_hkpd(void);
void proto_reg_handoff_hkpd(void);
void proto_reg_handoff_pcq_taps(void);
void plugin_register(void);
uint32_t plugin_describe(void);

WS_DLL_PUBLIC_DEF const char plugin_version[] = PCQ_VERSION;
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

WS_DLL_PUBLIC_DEF void plugin_register(void)
{
    static proto_plugin pcq = {proto_register_pcq, proto_reg_handoff_pcq};
    static proto_plugin hkpd = {proto_register_hkpd, proto_reg_handoff_hkpd};
    static proto_plugin taps = {NULL, proto_reg_handoff_pcq_taps};

    proto_register_plugin(&pcq);
    proto_register_plugin(&hkpd);
    proto_register_plugin(&taps);
}

WS_DLL_PUBLIC_DEF uint32_t plugin_describe(void)
{
    return WS_PLUGIN_DESC_DISSECTOR;
}
