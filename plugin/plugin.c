/* plugin.c
 * What Wireshark's plugin loader looks for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "ws_compat.h"

#include "taps/taps.h"

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

/* All that listens to the calls, once all dissectors are there. */
void proto_reg_handoff_pcq_taps(void)
{
    if (!tapped_is_registered()) {
        return; /* a Wireshark that brings the dissector itself has its own */
    }
    calls_tree_register();
    counters_table_register();
    export_csv_register();
    export_long_register();
    report_register();
    export_names_register();
    export_objects_register();
    summary_register();
    refusals_table_register();
}

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
