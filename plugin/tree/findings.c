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
} finding_info;

#define FINDING_ROW(id, name, group, severity, damage, summary) {name, group, severity, damage, summary},
static const finding_info finding_table[NUM_FINDINGS] = {PERF_FINDINGS(FINDING_ROW)};

void perf_expert_register(int proto, const char *prefix, perf_expert *expert)
{
    ei_register_info *info = wmem_alloc0_array(wmem_epan_scope(), ei_register_info, NUM_FINDINGS);

    for (int i = 0; i < NUM_FINDINGS; i++) {
        expert_field unregistered = EI_INIT;
        expert->fields[i] = unregistered;
        info[i].ids = &expert->fields[i];
        info[i].eiinfo.name = wmem_strdup_printf(wmem_epan_scope(), "%s.expert.%s", prefix, finding_table[i].name);
        info[i].eiinfo.group = finding_table[i].group;
        info[i].eiinfo.severity = finding_table[i].severity;
        info[i].eiinfo.summary = finding_table[i].summary;
    }
    expert_register_field_array(expert_register_protocol(proto), info, NUM_FINDINGS);
}

void perf_report_init(perf_report *report, packet_info *pinfo, const perf_expert *expert)
{
    memset(report, 0, sizeof *report);
    report->pinfo = pinfo;
    report->expert = expert;
}

void perf_found(perf_report *report, proto_item *item, perf_finding finding, const char *format, ...)
{
    va_list args;

    report->damaged |= finding_table[finding].damage;
    if (report->pinfo == NULL || report->muted) {
        return;
    }
    if (report->findings == MAX_FINDINGS) {
        report->not_reported++;
        return;
    }
    report->findings++;
    va_start(args, format);
    expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[finding], "%s",
                           wmem_strdup_vprintf(report->pinfo->pool, format, args));
    va_end(args);
}

static bool is_referenced(proto_tree *tree, const char *name)
{
    int id = proto_registrar_get_id_byname(name);

    return id != -1 && proto_field_is_referenced(tree, id);
}

bool perf_findings_wanted(const perf_report *report, proto_tree *tree)
{
    static const char *const generic[] = {"_ws.expert", "_ws.expert.message", "_ws.expert.group",
                                          "_ws.expert.severity"};

    if (tree == NULL) {
        return false;
    }
    for (unsigned i = 0; i < NUM_FINDINGS; i++) {
        if (proto_field_is_referenced(tree, report->expert->fields[i].hf)) {
            return true;
        }
    }
    for (unsigned i = 0; i < array_length(generic); i++) {
        if (is_referenced(tree, generic[i])) {
            return true;
        }
    }
    return have_tap_listener(find_tap_id("expert"));
}

void perf_report_end(perf_report *report, proto_item *item)
{
    if (report->not_reported > 0) {
        expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[FINDING_NOT_SHOWN],
                               "%u more findings are not shown", report->not_reported);
        report->not_reported = 0;
    }
}
