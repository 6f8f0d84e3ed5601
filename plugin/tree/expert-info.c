/* expert-info.c
 * Expert infos.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/expert-info.h"

#include <epan/tap.h>

/* A damaged packet can have a fault in each of a million structures. Nobody reads more than these, and each costs
 * several items of the packet's tree. */
#define MAX_EXPERT_INFOS 100

typedef struct {
    const char *name;
    int group;
    int severity;
    bool damage;
    const char *summary;
    const char *remedy;
} expert_row;

#define EXPERT_ROW(id, ...) {__VA_ARGS__},
static const expert_row expert_rows[NUM_EXPERT_INFOS] = {EXPERT_INFOS(EXPERT_ROW)};

/* True for expert infos that both protocols register, under their own prefix: damage of their structures. All others have the prefix "pcq". */
static bool is_own_expert_info(int id)
{
    return id == EI_SIZE || id == EI_COUNT;
}

void expert_info_register(int proto, const char *prefix, expert_fields *expert)
{
    static const expert_fields *first;
    ei_register_info *info = wmem_alloc0_array(wmem_epan_scope(), ei_register_info, NUM_EXPERT_INFOS);
    int count = 0;

    for (int i = 0; i < NUM_EXPERT_INFOS; i++) {
        const expert_row *row = &expert_rows[i];
        if (first && !is_own_expert_info(i)) {
            expert->fields[i] = first->fields[i];
            continue;
        }
        expert->fields[i] = (expert_field)EI_INIT;
        info[count].ids = &expert->fields[i];
        info[count].eiinfo.name =
            wmem_strconcat(wmem_epan_scope(), is_own_expert_info(i) ? prefix : "pcq", ".expert.", row->name, NULL);
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

void expert_report_add(expert_report *report, proto_item *item, expert_id id, const char *format, ...)
{
    va_list args;

    ws_assert(id < NUM_EXPERT_INFOS && (report->pinfo == NULL || report->expert));
    report->damaged |= expert_rows[id].damage;
    if (report->pinfo == NULL || report->count++ >= MAX_EXPERT_INFOS) {
        return;
    }
    va_start(args, format);
    expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[id], "%s",
                           wmem_strdup_vprintf(report->pinfo->pool, format, args));
    va_end(args);
}

bool expert_report_is_wanted(const expert_report *report, proto_tree *tree)
{
    static int tap, stock_protocol; /* looked up once, since the lists are long */

    tap = tap ? tap : find_tap_id("expert");
    stock_protocol = stock_protocol ? stock_protocol : proto_registrar_get_id_byname("_ws.expert");
    bool is_wanted = have_tap_listener(tap) || (tree && proto_field_is_referenced(tree, stock_protocol));
    for (unsigned i = 0; tree && !is_wanted && i < NUM_EXPERT_INFOS; i++) {
        is_wanted = proto_field_is_referenced(tree, report->expert->fields[i].hf);
    }
    return is_wanted;
}

void expert_report_end(expert_report *report, proto_item *item)
{
    if (report->count > MAX_EXPERT_INFOS) {
        expert_add_info_format(report->pinfo, item, (expert_field *)&report->expert->fields[EI_NOT_SHOWN],
                               "%u more findings are not shown", report->count - MAX_EXPERT_INFOS);
        report->count = MAX_EXPERT_INFOS;
    }
}
