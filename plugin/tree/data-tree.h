/* data-tree.h
 * The counter data of a response in the tree, for both protocols: header, groups, rows and values of its table, in one loop. A protocol
 * has a function for each of its structures.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tree/value-tree.h"

typedef struct data_tree data_tree;

/* Each function adds one structure to the tree. Rows and values are those of the stream: view->values.stream. */
typedef struct {
    const char *others; /* names of structures that the tree may have no room for */
    /* Shows the header. Returns its item, NULL without a tree. */
    proto_item *(*show_header)(data_tree *view);
    /* Shows a group with its columns. Returns its tree. */
    proto_tree *(*show_group)(data_tree *view, const perf_group *group);
    /* Reports what is new in a group since the sample before. NULL: nothing. */
    void (*report_news)(data_tree *view, proto_item *item);
    /* Shows a row in the group's tree. Returns the tree that its values are in. */
    proto_tree *(*show_row)(data_tree *view, const perf_group *group, uint32_t row, proto_tree *tree);
    /* Shows the stream's value in the row's tree. */
    void (*show_value)(data_tree *view, proto_tree *tree);
} data_tree_ops;

struct data_tree {
    value_tree values;
    const data_tree_ops *ops;
    perf_table *table;
    unsigned encoding;      /* of numbers */
    uint32_t bytes_left;    /* of values still to come: definitions times instances can be more than the response has */
    uint64_t values_seen;   /* cells that were shown, or have no value */
    uint32_t others_hidden; /* structures besides values that the tree had no room for */
};

/* Shows a response in `tree`, as far as fields of it are referenced (values alone, if no structure is), and reports its faults. */
void data_tree_show(proto_tree *tree, expert_report *report, const counter_response *response,
                    const value_fields *fields, const data_tree_ops *ops);

/* Adds the node of a structure at `offset` to `tree`. `cursor`: at its first byte, for reading its fields. */
void data_tree_enter(const data_tree *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                     buffer_cursor *cursor);

/* Reports a field with a number that it cannot have. The report is not damaged by it: the table decides whether a response is well-formed. */
void data_tree_report_field(const data_tree *view, proto_item *item, expert_id finding, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
