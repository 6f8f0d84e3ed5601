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

static expert_field fields[NUM_EXPERT_INFOS];

#define EXPERT_ROW(prefix, id, label, of_group, level, damage, title, remedy) \
    {.ids = &fields[EI_##id], \
     .eiinfo = {.name = prefix ".expert." label, \
                .group = of_group, \
                .severity = level, \
                .summary = title, \
                .hf_info.hfinfo.blurb = remedy}},
#define EXPERT_PCQ_ROW(...) EXPERT_ROW("pcq", __VA_ARGS__)
#define EXPERT_HKPD_ROW(...) EXPERT_ROW("hkpd", __VA_ARGS__)
#define EXPERT_DAMAGE(id, label, of_group, level, damage, ...) damage,

static const bool is_damage[] = {EXPERT_INFOS(EXPERT_DAMAGE) EXPERT_BLOCK_INFOS(EXPERT_DAMAGE)};

void expert_info_register(int proto, bool is_block)
{
    static ei_register_info info[] = {EXPERT_INFOS(EXPERT_PCQ_ROW)},
                            block_info[] = {EXPERT_BLOCK_INFOS(EXPERT_HKPD_ROW)};

    expert_register_field_array(expert_register_protocol(proto), is_block ? block_info : info,
                                is_block ? array_length(block_info) : array_length(info));
}

void expert_report_add(expert_report *report, proto_item *item, expert_id id, const char *format, ...)
{
    va_list args;

    ws_assert(id < NUM_EXPERT_INFOS);
    report->damaged |= is_damage[id];
    if (report->pinfo == NULL || report->count++ >= MAX_EXPERT_INFOS) {
        return;
    }
    va_start(args, format);
    expert_add_info_format(report->pinfo, item, &fields[id], "%s",
                           wmem_strdup_vprintf(report->pinfo->pool, format, args));
    va_end(args);
}

bool expert_info_is_wanted(proto_tree *tree)
{
    static int tap, stock_protocol; /* looked up once, since the lists are long */

    tap = tap ? tap : find_tap_id("expert");
    stock_protocol = stock_protocol ? stock_protocol : proto_registrar_get_id_byname("_ws.expert");
    bool is_wanted = have_tap_listener(tap) || (tree && proto_field_is_referenced(tree, stock_protocol));
    for (unsigned i = 0; tree && !is_wanted && i < NUM_EXPERT_INFOS; i++) {
        is_wanted = proto_field_is_referenced(tree, fields[i].hf);
    }
    return is_wanted;
}

void expert_report_end(expert_report *report, proto_item *item)
{
    if (report->count > MAX_EXPERT_INFOS) {
        expert_add_info_format(report->pinfo, item, &fields[EI_NOT_SHOWN], "%u more findings are not shown",
                               report->count - MAX_EXPERT_INFOS);
        report->count = MAX_EXPERT_INFOS;
    }
}
