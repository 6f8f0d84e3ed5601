/* budget.h
 * What a packet's tree can hold. Wireshark stops a tree at a million items, shown or not: so values are shown in full
 * while all of them fit, then each in a short form, then no more.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "dcerpc/reader.h"

/* Items of a value's short form: value, path and result, side by side. */
#define ITEMS_OF_SHORT_VALUE 3

typedef struct {
    bool is_shown;        /* there is a tree */
    uint32_t room;        /* items that the tree can still take */
    uint64_t values;      /* all of them */
    uint64_t values_left; /* not yet met */
    uint64_t values_hidden;
    uint64_t bytes;         /* of values that may still be shown: values can lie over each other */
    uint32_t others_hidden; /* structures around them that are not shown */
    bool short_form;
} tree_budget;

/* `size` is the buffer's, in bytes. */
void budget_init(tree_budget *budget, const proto_tree *tree, uint64_t values, uint32_t size);

/* Takes `items` as long as each value to come can still have its short form. */
bool budget_take(tree_budget *budget, uint32_t items);

/* Takes `items` as long as anything can be shown: for what is cheap beside its values. */
bool budget_take_any(tree_budget *budget, uint32_t items);

/* Takes the bytes of one value, at least one. All values together can show some times what the buffer has: definitions
 * times instances are more. */
bool budget_take_bytes(tree_budget *budget, uint32_t size);

/* Says what is not shown. `others` names the structures. */
void budget_report(const tree_budget *budget, findings_report *report, proto_item *item, const char *others);
