/* budget.c
 * What a packet's tree can hold.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/budget.h"

/* How often the bytes of a buffer may be shown. */
#define TIMES_OF_BYTES 4

void budget_init(tree_budget *budget, const proto_tree *tree, uint64_t values, uint32_t size)
{
    memset(budget, 0, sizeof *budget);
    budget->is_shown = tree != NULL;
    budget->room = reader_tree_room(tree);
    budget->values = budget->values_left = values;
    budget->bytes = (uint64_t)size * TIMES_OF_BYTES;
}

bool budget_take_bytes(tree_budget *budget, uint32_t size)
{
    uint32_t taken = size > 0 ? size : 1;

    if (taken > budget->bytes) {
        return false;
    }
    budget->bytes -= taken;
    return true;
}

bool budget_take(tree_budget *budget, uint32_t items)
{
    uint64_t rest = budget->values_left * ITEMS_OF_SHORT_VALUE;

    if (budget->short_form || budget->room < items + rest) {
        budget->short_form = true;
        return false;
    }
    budget->room -= items;
    return true;
}

bool budget_take_any(tree_budget *budget, uint32_t items)
{
    if (budget->room < items) {
        return false;
    }
    budget->room -= items;
    return true;
}

void budget_report(const tree_budget *budget, findings_report *report, proto_item *item, const char *others)
{
    if (!budget->is_shown) {
        return;
    }
    if (budget->values_hidden > 0) {
        findings_add(report, item, FINDING_NOT_SHOWN,
                     "%" PRIu64 " of %" PRIu64
                     " values are not shown, a packet's tree is limited; they are kept and calculated "
                     "with",
                     budget->values_hidden, budget->values);
    } else if (budget->others_hidden > 0) {
        findings_add(report, item, FINDING_NOT_SHOWN, "%u %s are not shown, a packet's tree is limited",
                     budget->others_hidden, others);
    }
}
