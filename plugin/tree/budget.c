/* budget.c
 * What a packet's tree can hold.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/budget.h"

#include "readings/graph.h"

void perf_budget_init(perf_budget *budget, const proto_tree *tree, uint32_t values)
{
    memset(budget, 0, sizeof *budget);
    budget->is_shown = tree != NULL;
    budget->room = tree_room(tree);
    budget->of_graph = graph_is_on();
    budget->values = budget->values_left = values;
}

bool perf_budget_take(perf_budget *budget, uint32_t items)
{
    uint64_t rest = (uint64_t)budget->values_left * (ITEMS_OF_SHORT_VALUE + budget->of_graph);

    if (budget->short_form || budget->room < items + rest) {
        budget->short_form = true;
        return false;
    }
    budget->room -= items;
    return true;
}

bool perf_budget_take_any(perf_budget *budget, uint32_t items)
{
    if (budget->room < items) {
        return false;
    }
    budget->room -= items;
    return true;
}

bool perf_budget_take_value(perf_budget *budget, uint32_t items)
{
    return perf_budget_take(budget, items + budget->of_graph);
}

bool perf_budget_take_short_value(perf_budget *budget)
{
    return perf_budget_take_any(budget, ITEMS_OF_SHORT_VALUE + budget->of_graph);
}

void perf_budget_report(const perf_budget *budget, perf_report *report, proto_item *item, const char *others)
{
    if (!budget->is_shown) {
        return;
    }
    if (budget->values_hidden > 0) {
        perf_found(report, item, FINDING_NOT_SHOWN,
                   "%u of %u values are not shown, a packet's tree is limited; they are kept and calculated with",
                   budget->values_hidden, budget->values);
    } else if (budget->others_hidden > 0) {
        perf_found(report, item, FINDING_NOT_SHOWN, "%u %s are not shown, a packet's tree is limited",
                   budget->others_hidden, others);
    }
}
