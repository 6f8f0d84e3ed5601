/* data-tree.c
 * The counter data of a response in the tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/data-tree.h"

#include "perf/parse.h"

/* Items that a group and a row take at most in the tree, with names that are known from elsewhere. */
#define ITEMS_OF_GROUP 24
#define ITEMS_OF_ROW 12

typedef struct {
    expert_id id;
    const char *text; /* with two numbers: what is stated, and what was found */
} fault_info;

#define FAULT_ROW(name, class, text) {EI_##class, text},
static const fault_info fault_infos[PERF_NUM_TABLE_FAULTS] = {PERF_TABLE_FAULTS(FAULT_ROW)};

/* Reports a fault of the table at `item`, NULL: the packet. */
static void report_fault(const data_tree *view, proto_item *item, const perf_table_fault *fault)
{
    expert_report *report = view->values.report;
    const fault_info *info = &fault_infos[fault->kind];

    expert_report_add(report, item, info->id, "At offset %u: %s", fault->offset,
                      wmem_strdup_printf(report->pinfo->pool, info->text, fault->stated, fault->found));
}

/* Reports the faults of a group, or of the response, at `item`. */
static void report_table_faults(const data_tree *view, uint32_t group, proto_item *item)
{
    for (uint32_t i = 0; i < view->table->num_faults; i++) {
        if (view->table->faults[i].group == group) {
            report_fault(view, item, &view->table->faults[i]);
        }
    }
}

void data_tree_report_field(const data_tree *view, proto_item *item, expert_id finding, const char *format, ...)
{
    expert_report *report = view->values.report;
    bool damaged = report->damaged;
    va_list args;

    va_start(args, format);
    expert_report_add(report, item, finding, "%s", wmem_strdup_vprintf(report->pinfo->pool, format, args));
    va_end(args);
    report->damaged = damaged;
}

void data_tree_enter(const data_tree *view, proto_tree *tree, int hf, int ett, uint32_t offset, uint32_t size,
                     buffer_cursor *cursor)
{
    buffer_cursor outer;

    cursor_init(&outer, view->values.tvb, tree, view->values.report, view->encoding);
    outer.pos = offset;
    cursor_enter(&outer, hf, ett, size, cursor);
}

/* Shows a row with its values, as far as the packet's tree has room. */
static void show_table_row(data_tree *view, const perf_group *group, uint32_t row, proto_tree *group_tree)
{
    value_stream *stream = view->values.stream;

    stream->at.row = row;
    proto_tree *tree = view->ops->show_row(view, group, row, group_tree);
    for (uint32_t column = 0; column < group->columns; column++, view->values_seen++) {
        const counter_value *at = value_stream_go_to(stream, row, column);
        uint32_t size = at ? MAX(at->size, 1) : 1;
        view->values.is_full |= size > view->bytes_left;
        if (!value_tree_has_room(&view->values, ITEMS_OF_VALUE)) {
            break;
        }
        view->bytes_left -= size;
        if (at) {
            view->ops->show_value(view, tree);
        }
    }
}

/* Shows a group with its rows and reports its faults. A group that the packet's tree has no room for is counted. */
static void show_table_group(data_tree *view, uint32_t number, bool is_news_wanted)
{
    perf_group *group = perf_table_group(view->table, number);
    proto_tree *tree = NULL;

    value_stream_enter(view->values.stream, group);
    if (value_tree_has_room(&view->values, ITEMS_OF_GROUP)) {
        tree = view->ops->show_group(view, group);
    } else {
        view->others_hidden++;
    }
    proto_item *item = proto_tree_get_parent(tree ? tree : view->values.tree);
    if (is_news_wanted && view->ops->report_news) {
        view->ops->report_news(view, item);
    }
    for (uint32_t row = 0; row < group->rows; row++) {
        if (value_tree_has_room(&view->values, ITEMS_OF_ROW)) {
            show_table_row(view, group, row, tree);
        } else {
            view->others_hidden += group->columns == 0;
        }
    }
    report_table_faults(view, number, item);
}

/* Reports how many values, or else other structures, the packet's tree had no room for. */
static void report_hidden_values(const data_tree *view)
{
    proto_item *item = proto_tree_get_parent(view->values.tree);
    uint64_t hidden = view->values.is_full ? view->table->values - view->values_seen : 0;

    if (hidden > 0) {
        expert_report_add(view->values.report, item, EI_NOT_SHOWN,
                          "%" PRIu64 " of %" PRIu64
                          " values are not shown, a packet's tree is limited; they are kept and "
                          "calculated with",
                          hidden, view->table->values);
    } else if (view->others_hidden > 0) {
        expert_report_add(view->values.report, item, EI_NOT_SHOWN, "%u %s are not shown, a packet's tree is limited",
                          view->others_hidden, view->ops->others);
    }
}

/* Shows all of a data_tree, for cursor_try(). */
static void show_table(void *data)
{
    data_tree *view = data;
    bool is_news_wanted = expert_report_is_wanted(view->values.report, view->values.tree);

    proto_item *header = view->ops->show_header(view);
    report_table_faults(view, PERF_NO_GROUP, header ? header : proto_tree_get_parent(view->values.tree));
    for (uint32_t i = 0; i < view->table->num_groups; i++) {
        show_table_group(view, i, is_news_wanted);
    }
    report_hidden_values(view);
}

void data_tree_show(proto_tree *tree, expert_report *report, const counter_response *response,
                    const value_fields *fields, const data_tree_ops *ops)
{
    data_tree view = {
        .values = {.tvb = response->tvb, .tree = tree, .report = report, .fields = fields},
        .ops = ops,
        .table = response->table,
        .encoding = response->table->big_endian ? ENC_BIG_ENDIAN : ENC_LITTLE_ENDIAN,
        .bytes_left = response->table->size,
    };
    buffer_cursor cursor;

    if (!value_tree_begin(&view.values, response) || !view.values.referenced.structures) {
        for (uint32_t i = 0; i < view.table->num_faults; i++) {
            report_fault(&view, proto_tree_get_parent(tree), &view.table->faults[i]);
        }
        value_tree_show_flat(&view.values);
    } else {
        cursor_init(&cursor, response->tvb, tree, report, view.encoding);
        cursor_try(&cursor, show_table, &view);
    }
}
