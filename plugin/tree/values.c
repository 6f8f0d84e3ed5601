/* values.c
 * A reading in the tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tree/values.h"

#include "readings/graph.h"
#include "tree/prefixed.h"
#include "tree/reader.h"
#include "tree/strings.h"

void value_fields_register(int proto, const char *prefix, value_fields *fields)
{
    const prefixed_field list[] = {
        {&fields->value, "Value", "value", FT_UINT64, BASE_DEC, NULL, 0, "As sent, not calculated"},
        {&fields->text, "Text", "value.text", FT_STRING, BASE_NONE, NULL, 0, "A value that is text"},
        {&fields->raw, "Value", "value.raw", FT_BYTES, BASE_NONE, NULL, 0, "A value of neither 4 nor 8 bytes"},
        {&fields->path, "Path", "path", FT_STRING, BASE_NONE, NULL, 0, "Counter path in PDH notation"},
        {&fields->cooked, "Calculated value", "cooked", FT_DOUBLE, BASE_NONE, NULL, 0,
         "As perfmon would show it, not scaled"},
        {&fields->cooked_none, "No calculated value", "cooked.none", FT_UINT8, BASE_DEC, VALS(none_reason_vals), 0,
         "Why there is none"},
        {&fields->formula, "Formula", "cooked.formula", FT_STRING, BASE_NONE, NULL, 0,
         "With its numbers: N value, B base, M multi counter, T performance time, F its frequency, H time in 100 ns, O "
         "time "
         "of the object; 0 is the previous sample"},
        {&fields->graph, "For the graph", "graph", FT_DOUBLE, BASE_NONE, NULL, 0,
         "The calculated value again, where the preference pcq.graph names its path"},
        {&fields->previous, "Previous sample", "sample.previous", FT_FRAMENUM, BASE_NONE, NULL, 0,
         "The sample that values are calculated from together with this one"},
        {&fields->interval, "Interval", "sample.interval", FT_DOUBLE, BASE_NONE, NULL, 0,
         "Seconds since the previous sample, by the server's clock"},
    };

    register_prefixed(proto, prefix, list, array_length(list));
}

value_wishes value_wishes_of(proto_tree *tree, const value_fields *fields)
{
    value_wishes wishes = {
        .visible = tree && PTREE_DATA(tree)->visible,
        .value = proto_field_is_referenced(tree, fields->value) || proto_field_is_referenced(tree, fields->text) ||
                 proto_field_is_referenced(tree, fields->raw),
        .path = proto_field_is_referenced(tree, fields->path),
        .result =
            proto_field_is_referenced(tree, fields->cooked) || proto_field_is_referenced(tree, fields->cooked_none),
        .formula = proto_field_is_referenced(tree, fields->formula),
        .graph = graph_is_on() && proto_field_is_referenced(tree, fields->graph),
    };

    wishes.any = wishes.value || wishes.path || wishes.result || wishes.formula || wishes.graph;
    return wishes;
}

void value_show_sent(proto_tree *tree, const value_fields *fields, const value_wishes *wishes, readings *r)
{
    const reading *at = &r->at;
    tvbuff_t *tvb = r->answer.tvb;

    if (!wishes->value) {
        return;
    }
    if (at->is_text) {
        proto_tree_add_string(tree, fields->text, tvb, at->offset, at->size, readings_text(r));
    } else if (at->is_number) {
        proto_tree_add_uint64(tree, fields->value, tvb, at->offset, at->size, at->raw.value);
    } else if (at->size > 0) {
        proto_tree_add_item(tree, fields->raw, tvb, at->offset, readings_raw_size(r), ENC_NA);
    }
}

static const char *show_path(proto_tree *tree, const value_fields *fields, readings *r)
{
    const char *path = readings_path(r);

    if (path) {
        add_generated_string(tree, fields->path, r->answer.tvb, path);
    }
    return path;
}

static void show_result(proto_tree *tree, const value_fields *fields, const value_wishes *wishes, readings *r,
                        const perf_result *result)
{
    const perf_counter_type *type = r->at.counter->type;

    if (result->none != PERF_NONE_OK) {
        add_generated_uint(tree, fields->cooked_none, r->answer.tvb, result->none);
        return;
    }
    proto_item *item = proto_tree_add_double(tree, fields->cooked, r->answer.tvb, 0, 0, result->value);
    proto_item_set_generated(item);
    if (wishes->visible && *type->note) {
        proto_item_append_text(item, " (%s)", type->note);
    }
}

static void show_for_graph(proto_tree *tree, const value_fields *fields, readings *r, const char *path)
{
    path = path ? path : readings_path(r);
    if (path && graph_wants(path)) {
        perf_result result = readings_result(r);
        if (result.none == PERF_NONE_OK) {
            proto_item_set_generated(proto_tree_add_double(tree, fields->graph, r->answer.tvb, 0, 0, result.value));
        }
    }
}

void value_show_short(proto_tree *tree, const value_fields *fields, const value_wishes *wishes, readings *r)
{
    value_show_sent(tree, fields, wishes, r);
    const char *path = wishes->path ? show_path(tree, fields, r) : NULL;
    if (wishes->result && !r->at.is_text) {
        perf_result result = readings_result(r);
        show_result(tree, fields, wishes, r, &result);
    }
    if (wishes->graph && !r->at.is_text) {
        show_for_graph(tree, fields, r, path);
    }
}

static void label_structure(proto_item *structure, readings *r, const char *path, const perf_result *result)
{
    const char *words = readings_words(r, result);

    if (path) {
        proto_item_append_text(structure, ": %s = %s", path, words);
    } else if (r->at.counter->id != PERF_NO_ID) {
        proto_item_append_text(structure, ": #%u = %s", r->at.counter->id, words);
    } else {
        proto_item_append_text(structure, ": %s", words);
    }
}

void value_show_meaning(proto_tree *tree, const value_fields *fields, const value_wishes *wishes, readings *r,
                        proto_item *structure)
{
    perf_result result = {0, PERF_NONE_OK};
    const char *path = wishes->path ? show_path(tree, fields, r) : NULL;

    if (wishes->result && !r->at.is_text) {
        result = readings_result(r);
        show_result(tree, fields, wishes, r, &result);
    }
    if (wishes->formula && !r->at.is_text) {
        const char *formula = readings_formula(r);
        if (formula) {
            add_generated_string(tree, fields->formula, r->answer.tvb, formula);
        }
    }
    if (wishes->graph && !r->at.is_text) {
        show_for_graph(tree, fields, r, path);
    }
    if (wishes->visible) {
        label_structure(structure, r, path, &result);
    }
}

void value_show_samples(proto_tree *tree, const value_fields *fields, tvbuff_t *tvb, const readings *r)
{
    if (r->previous_frame != 0) {
        add_generated_uint(tree, fields->previous, tvb, r->previous_frame);
        proto_item *item = proto_tree_add_double(tree, fields->interval, tvb, 0, 0, r->interval);
        proto_item_set_generated(item);
        proto_item_append_text(item, " s");
    }
}

const char *value_headline(wmem_allocator_t *pool, const readings_answer *answer)
{
    readings *r = readings_begin(pool, answer);
    perf_result result = {0, PERF_NONE_OK};

    if (readings_next(r) == NULL) {
        return NULL;
    }
    const char *path = readings_path(r);
    if (path == NULL) {
        return NULL;
    }
    if (!r->at.is_text) {
        result = readings_result(r);
    }
    return wmem_strconcat(pool, path + strlen("\\\\") + strlen(r->machine), " = ", readings_words(r, &result),
                          r->assumed ? " (order assumed)" : "", NULL);
}
