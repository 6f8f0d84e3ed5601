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

static bool is_registered;

/* Registers both protocols, unless Wireshark brings the dissector itself: then that one stays. Names and types of both protocols are one thing, so
 * the second relies on what the first registers. */
static void register_protocols(void)
{
    is_registered = proto_get_id_by_filter_name("pcq") == -1;
    if (is_registered) {
        proto_register_pcq();
        proto_register_hkpd();
    }
}

/* Registers all that listens to the calls, once all dissectors are there. */
void proto_reg_handoff_pcq_taps(void)
{
    output_statistic *const statistics[] = {&csv_statistic, &long_statistic, &report_statistic, &names_statistic,
                                            &summary_statistic};
    stat_table *const tables[] = {&counters_table, &queries_table, &monitors_table, &refusals_table, &report_table};

    for (unsigned i = 0; i < array_length(statistics); i++) {
        output_register(statistics[i]);
    }
    for (unsigned i = 0; i < array_length(tables); i++) {
        stat_table_register(tables[i]);
    }
    calls_tree_register();
    export_objects_register();
}

static void hand_off(void)
{
    if (is_registered) {
        proto_reg_handoff_pcq();
        proto_reg_handoff_hkpd();
        proto_reg_handoff_pcq_taps();
    }
}

WS_DLL_PUBLIC_DEF void plugin_register(void)
{
    static proto_plugin pcq = {register_protocols, hand_off};

    proto_register_plugin(&pcq);
}

/* Tells Wireshark what the plugin brings: flags of WS_PLUGIN_DESC_. Wireshark calls it when it loads the library; 4.0 does not. */
WS_DLL_PUBLIC_DEF uint32_t plugin_describe(void)
{
    return WS_PLUGIN_DESC_DISSECTOR;
}
