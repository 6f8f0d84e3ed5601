/* findings.c
 * What can be wrong with a packet, and how it is reported.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/findings.h"

#include <epan/tap.h>

/* A damaged packet can have a fault in each of a million structures. Nobody reads more than these, and each costs
 * several items of the packet's tree. */
#define MAX_FINDINGS 100

typedef struct {
    const char *name;
    int group;
    int severity;
    bool damage;
    const char *summary;
    const char *remedy;
} finding_info;

#define FINDING_ROW(id, ...) {__VA_ARGS__},
static const finding_info finding_table[NUM_FINDINGS] = {FINDINGS(FINDING_ROW)};

/* Damage of structures that only PERF_DATA_BLOCK has bears its name; everything else is called alike in both protocols. */
static bool is_own(int finding)
{
    return finding == FINDING_SIZE || finding == FINDING_COUNT;
}

void findings_register(int proto, const char *prefix, findings_expert *expert)
{
    static const findings_expert *first;
    ei_register_info *info = wmem_alloc0_array(wmem_epan_scope(), ei_register_info, NUM_FINDINGS);
    int count = 0;

    for (int i = 0; i < NUM_FINDINGS; i++) {
        const finding_info *row = &finding_table[i];
        if (first && !is_own(i)) {
            expert->fields[i] = first->fields[i];
            continue;
        }
        expert->fields[i] = (expert_field)EI_INIT;
        info[count].ids = &expert->fields[i];
        info[count].eiinfo.name =
            wmem_strconcat(wmem_epan_scope(), is_own(i) ? prefix : "pcq", ".expert.", row->name, NULL);
        info[count].eiinfo.group = row->group;
        info[count].eiinfo.severity = row->severity;
        info[count].eiinfo.summary = row->summary;
        info[count++].eiinfo.hf_info.hfinfo.blurb = row->remedy;
    }
    expert_register_field_array(expert_register_protocol(proto), info, count);
    if (first == NULL) {
        first = expert;
    }
}

void findings_add(findings_report *report, proto_item *item, finding_id finding, const char *format, ...)
{
    va_list args;

    ws_assert(finding < NUM_FINDINGS && (report->pinfo == NULL || report->expert));
    report->damaged |= finding_table[finding].damage;
    if (report->pinfo == NULL || report->muted || report->findings++ >= MAX_FINDINGS) {
        return;
    }
    va_start(args, format);
    expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[finding], "%s",
                           wmem_strdup_vprintf(report->pinfo->pool, format, args));
    va_end(args);
}

bool findings_wanted(const findings_report *report, proto_tree *tree)
{
    /* Wireshark's own; looked up with the first packet, since then it is registered, and once, since the lists are long */
    static int stock_tap, stock_protocol;

    if (stock_tap == 0) {
        stock_tap = find_tap_id("expert");
        stock_protocol = proto_registrar_get_id_byname("_ws.expert");
    }
    if (have_tap_listener(stock_tap)) {
        return true;
    }
    for (unsigned i = 0; tree && i < NUM_FINDINGS; i++) {
        if (proto_field_is_referenced(tree, report->expert->fields[i].hf)) {
            return true;
        }
    }
    return tree && stock_protocol != -1 && proto_field_is_referenced(tree, stock_protocol);
}

void findings_end(findings_report *report, proto_item *item)
{
    if (report->findings > MAX_FINDINGS) {
        expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[FINDING_NOT_SHOWN],
                               "%u more findings are not shown", report->findings - MAX_FINDINGS);
        report->findings = MAX_FINDINGS;
    }
}
