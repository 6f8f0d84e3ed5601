/* words.c
 * A reading in words: its value, its unit, and the formula with its numbers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/layout.h"

#include "perf/number-text.h"

const char *readings_text(readings *r)
{
    return perf_text_get(r->pool, r->answer.tvb, r->at.offset, r->at.text_size, r->at.code_page, r->at.byte_order,
                         PERF_NAME_MAX);
}

/* Raw types show the integer itself: a double does not hold 64 bits. */
static void put_result(const readings *r, const perf_result *result, char *text)
{
    const perf_counter_type *type = r->at.counter->type;

    if (type->hex) {
        snprintf(text, PERF_NUMBER_TEXT_SIZE, "0x%" PRIx64, r->at.raw.value);
    } else if (type->kind == PERF_KIND_NUMBER) {
        perf_integer_text(r->at.raw.value, text);
    } else {
        perf_number_text(result->value, text);
    }
}

const char *readings_words(readings *r, const perf_result *result)
{
    char text[PERF_NUMBER_TEXT_SIZE];

    if (r->at.is_text) {
        return wmem_strconcat(r->pool, "\"", readings_text(r), "\"", NULL);
    }
    if (result->none == PERF_NONE_OK) {
        const char *unit = r->at.counter->type->unit;
        put_result(r, result, text);
        return wmem_strconcat(r->pool, text, *unit ? " " : NULL, unit, NULL);
    }
    if (r->at.is_number) {
        perf_integer_text(r->at.raw.value, text);
        return wmem_strconcat(r->pool, text, " (raw; ", perf_none_text[result->none], ")", NULL);
    }
    return wmem_strdup_printf(r->pool, "%u %s", r->at.size, r->at.size == 1 ? "byte" : "bytes");
}

/* --- The formula ------------------------------------------------------------------------------------------------- */

static void put_number(wmem_strbuf_t *words, const char *name, uint64_t value)
{
    char text[PERF_NUMBER_TEXT_SIZE];

    perf_integer_text(value, text);
    wmem_strbuf_append(words, ", ");
    wmem_strbuf_append(words, name);
    wmem_strbuf_append(words, " = ");
    wmem_strbuf_append(words, text);
}

static void put_operand(wmem_strbuf_t *words, const char *names[2], perf_raw now, const perf_raw *before)
{
    if (now.size > 0) {
        put_number(words, names[0], now.value);
    }
    if (before && before->size > 0) {
        put_number(words, names[1], before->value);
    }
}

/* Clocks are told by what passed between the samples. */
static void put_clock(wmem_strbuf_t *words, const char *name, uint64_t now, uint64_t before)
{
    if (now >= before) {
        put_number(words, name, now - before);
    }
}

static void put_operands(wmem_strbuf_t *words, const perf_formula_info *formula, const perf_point *now,
                         const perf_point *before)
{
    static const char *n[] = {"N1", "N0"}, *b[] = {"B1", "B0"}, *o[] = {"O1", "O0"};

    put_operand(words, n, now->value, before ? &before->value : NULL);
    if (formula->flags & PERF_NEEDS_BASE) {
        put_operand(words, b, now->base, before ? &before->base : NULL);
    }
    if ((formula->flags & PERF_NEEDS_TIME) && !((formula->flags & PERF_NEEDS_BASE) && now->base.size > 0)) {
        put_operand(words, o, now->time, before ? &before->time : NULL);
    }
    if (formula->denominator == PERF_OPERAND_TICKS && before) {
        put_clock(words, "T1 - T0", now->perf_time, before->perf_time);
    }
    if (formula->denominator == PERF_OPERAND_100NS && before) {
        put_clock(words, "H1 - H0", now->time_100ns, before->time_100ns);
    }
    if (formula->flags & (PERF_RATE | PERF_TICKS)) {
        put_number(words, "F", now->perf_freq);
    }
    if ((formula->flags & PERF_NEEDS_FREQ) && now->freq.size > 0) {
        put_number(words, "OF", now->freq.value);
    }
    if ((formula->flags & PERF_NEEDS_MULTI) && now->multi.size > 0) {
        put_number(words, "M1", now->multi.value);
    }
}

const char *readings_formula(readings *r)
{
    const perf_counter_type *type = r->at.counter->type;

    if (type == NULL || type->kind != PERF_KIND_COUNTER || r->at.raw.size == 0 || r->at.counter->none != PERF_NONE_OK) {
        return NULL;
    }
    const perf_formula_info *formula = &perf_formulas[type->formula];
    wmem_strbuf_t *words = wmem_strbuf_new(r->pool, formula->text);
    readings_find_operands(r);
    put_operands(words, formula, &r->operands.now, r->operands.has_before ? &r->operands.before : NULL);
    return wmem_strbuf_get_str(words);
}
