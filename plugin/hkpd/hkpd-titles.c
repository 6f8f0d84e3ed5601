/* hkpd-titles.c
 * Lists of titles: what HKEY_PERFORMANCE_DATA and its texts answer to "Counter 009" and "Help 009".
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/hkpd-titles.h"

#include "text/text.h"
#include "tree/budget.h"

/* Items of the tree that a title takes. */
#define ITEMS_OF_TITLE 3

static int proto_titles = -1;

static int hf_title = -1;
static int hf_title_index = -1;
static int hf_title_text = -1;

static int ett_title = -1;

/* One pair: the number in digits and the text, each UTF-16 with terminator (REG_MULTI_SZ). */
typedef struct {
    uint32_t offset;
    uint32_t title_index;
    uint32_t text;      /* offset */
    uint32_t text_size; /* bytes without terminator */
    uint32_t end;       /* behind the text's terminator */
    bool is_number;
    bool whole;    /* both have a terminator */
    bool has_text; /* the list does not end behind the number */
} title_pair;

static bool read_digits(tvbuff_t *tvb, uint32_t offset, uint32_t size, uint32_t *number)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < size; i += 2) {
        unsigned digit = tvb_get_uint16(tvb, offset + i, ENC_LITTLE_ENDIAN);
        if (digit < '0' || digit > '9' || value > UINT32_MAX) {
            return false;
        }
        value = 10 * value + (digit - '0');
    }
    *number = (uint32_t)value;
    return size > 0 && value <= UINT32_MAX;
}

/* False at the end of the list. */
static bool read_title(tvbuff_t *tvb, uint32_t offset, title_pair *pair)
{
    uint32_t left = tvb_captured_length(tvb) - offset;

    memset(pair, 0, sizeof *pair);
    pair->offset = offset;
    uint32_t digits = left >= 2 ? utf16_size(tvb, offset, left) : 0;
    if (digits == 0) {
        return false;
    }
    pair->is_number = read_digits(tvb, offset, digits, &pair->title_index);
    bool number_whole = digits + 2 <= left;
    pair->text = number_whole ? offset + digits + 2 : offset + digits;
    left -= pair->text - offset;
    pair->text_size = number_whole ? utf16_size(tvb, pair->text, left) : 0;
    pair->whole = number_whole && pair->text_size + 2 <= left;
    pair->end = pair->text + pair->text_size + (pair->whole ? 2 : 0);
    pair->has_text = !pair->whole || pair->text_size > 0 || left > 2;
    if (!pair->has_text) { /* what stands there is the list's own terminator */
        pair->end = pair->text;
    }
    return true;
}

bool hkpd_check_titles(tvbuff_t *tvb, wmem_allocator_t *pool, hkpd_title_visitor visit, void *user)
{
    title_pair pair;
    uint32_t offset = 0;
    bool sound = tvb_captured_length(tvb) > 2 && tvb_captured_length(tvb) % 2 == 0;

    while (sound && read_title(tvb, offset, &pair)) {
        sound = pair.is_number && pair.whole && pair.has_text;
        if (sound && visit) {
            visit(pair.title_index,
                  perf_text_get(pool, tvb, pair.text, pair.text_size, PERF_CODE_PAGE_UTF16, ENC_LITTLE_ENDIAN,
                                PERF_NAME_MAX),
                  user);
        }
        offset = pair.end;
    }
    return sound;
}

static void show_title(tvbuff_t *tvb, proto_tree *tree, const title_pair *pair, perf_report *report)
{
    proto_item *item = proto_tree_add_item(tree, hf_title, tvb, pair->offset, pair->end - pair->offset, ENC_NA);
    proto_tree *inner = proto_item_add_subtree(item, ett_title);
    const char *text = utf16_string(report->pinfo->pool, tvb, pair->text, pair->text_size);

    if (pair->is_number) {
        proto_tree_add_uint(inner, hf_title_index, tvb, pair->offset, pair->text - pair->offset, pair->title_index);
    }
    if (!pair->has_text) {
        perf_found(report, item, FINDING_TEXT,
                   "The list ends behind the number at offset %u: it has an odd number of strings", pair->offset);
        proto_item_append_text(item, ": %u", pair->title_index);
        return;
    }
    proto_item *text_item = proto_tree_add_string(inner, hf_title_text, tvb, pair->text, pair->end - pair->text, text);
    if (!pair->is_number) {
        perf_found(report, item, FINDING_TEXT, "The title at offset %u has no number", pair->offset);
    }
    if (!pair->whole) {
        perf_found(report, text_item, FINDING_TEXT, "The title at offset %u has no terminator", pair->offset);
    }
    if (!check_utf16(report, text_item, tvb, pair->text, pair->text_size, ENC_LITTLE_ENDIAN, "The title")) {
        report->damaged = true;
    }
    proto_item_append_text(item, ": %u %s", pair->title_index, text);
}

void hkpd_dissect_titles(tvbuff_t *tvb, proto_tree *tree, hkpd_context *context)
{
    perf_budget budget;
    title_pair pair;
    bool looked_at = proto_field_is_referenced(tree, proto_titles);

    perf_budget_init(&budget, tree, 0, tvb_captured_length(tvb));
    for (uint32_t offset = 0; read_title(tvb, offset, &pair); offset = pair.end) {
        context->titles++;
        if (!pair.whole || !pair.has_text || !pair.is_number || looked_at) {
            if (perf_budget_take_any(&budget, ITEMS_OF_TITLE)) {
                show_title(tvb, tree, &pair, context->report);
            } else {
                budget.others_hidden++;
            }
        }
    }
    perf_budget_report(&budget, context->report, proto_tree_get_parent(tree), "titles");
}

void hkpd_titles_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_title, {"Title", "hkpd.title", FT_NONE, BASE_NONE, NULL, 0, "A number and its text", HFILL}},
        {&hf_title_index,
         {"Index", "hkpd.title.index", FT_UINT32, BASE_DEC, NULL, 0, "Even ones are names, odd ones help texts",
          HFILL}},
        {&hf_title_text,
         {"Text", "hkpd.title.text", FT_STRING, BASE_NONE, NULL, 0, "Name or explanation that the index stands for",
          HFILL}},
    };
    static int *ett[] = {&ett_title};

    proto_titles = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
}
