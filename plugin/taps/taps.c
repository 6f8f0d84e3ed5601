/* taps.c
 * Registers what listens to the calls.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "tap/tapped.h"

void proto_reg_handoff_pcq_taps(void)
{
    if (!tapped_is_registered()) {
        return; /* a Wireshark that brings the dissector itself has its own */
    }
    accounts_register();
    calls_tree_register();
    counters_table_register();
    export_csv_register();
    export_long_register();
    report_register();
    export_names_register();
    export_objects_register();
    summary_tables_register();
    refusals_table_register();
    summary_register();
}
