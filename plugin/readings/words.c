/* words.c
 * A reading in words: its value, its unit, and the formula with its numbers.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/layout.h"

#include "perf/number-text.h"

static const char *text_of(readings *r, uint32_t most)
{
    return perf_text_get(r->pool, r->answer.tvb, r->at.offset, r->at.text_size, r->at.code_page, r->at.byte_order,
                         most);
}

const char *readings_text(readings *r)
{
    return text_of(r, PERF_TEXT_WHOLE);
}

/* Raw types show the integer itself: a double does not hold 64 bits. */
static unsigned put_result(const readings *r, const perf_result *result, char *text)
{
    const perf_counter_type *type = r->at.counter->type;

    if (type->hex) {
        return (unsigned)snprintf(text, PERF_NUMBER_TEXT_SIZE, "0x%" PRIx64, r->at.raw.value);
    }
    return type->kind == PERF_KIND_NUMBER ? perf_integer_text(r->at.raw.value, text)
                                          : perf_number_text(result->value, text);
}

static perf_piece text_in_quotes(readings *r)
{
    const char *text = wmem_strconcat(r->pool, "\"", text_of(r, PERF_NAME_MAX), "\"", NULL);

    return (perf_piece){text, strlen(text)};
}

perf_piece readings_words(readings *r, const perf_result *result)
{
    perf_writer w = perf_writer_of(r->words, sizeof r->words);

    if (r->at.is_text) {
        return text_in_quotes(r);
    }
    if (result->none == PERF_NONE_OK) {
        const char *unit = r->at.counter->type->unit;
        w.to += put_result(r, result, w.to);
        if (*unit) {
            perf_write(&w, " ");
            perf_write(&w, unit);
        }
    } else if (r->at.is_number) {
        perf_write_integer(&w, r->at.raw.value);
        perf_write(&w, " (raw; ");
        perf_write(&w, perf_none_text[result->none]);
        perf_write(&w, ")");
    } else {
        perf_write_integer(&w, r->at.size);
        perf_write(&w, r->at.size == 1 ? " byte" : " bytes");
    }
    return (perf_piece){r->words, (size_t)(w.to - r->words)};
}

/* --- The formula ------------------------------------------------------------------------------------------------- */

static inline void put_number(perf_writer *w, const char *name, uint64_t value)
{
    perf_write(w, name);
    perf_write_integer(w, value);
}

static inline void put_operand(perf_writer *w, const char *name, perf_raw now, const char *name_before,
                               const perf_raw *before)
{
    if (now.size > 0) {
        put_number(w, name, now.value);
    }
    if (before && before->size > 0) {
        put_number(w, name_before, before->value);
    }
}

/* Clocks are told by what passed between the samples. */
static void put_clock(perf_writer *w, const char *name, uint64_t now, uint64_t before)
{
    if (now >= before) {
        put_number(w, name, now - before);
    }
}

static void write_clocks(perf_writer *w, const perf_formula_info *formula, const perf_point *now,
                         const perf_point *before)
{
    if (formula->denominator == PERF_OPERAND_TICKS && before) {
        put_clock(w, ", T1 - T0 = ", now->perf_time, before->perf_time);
    }
    if (formula->denominator == PERF_OPERAND_100NS && before) {
        put_clock(w, ", H1 - H0 = ", now->time_100ns, before->time_100ns);
    }
    if (formula->flags & (PERF_RATE | PERF_TICKS)) {
        put_number(w, ", F = ", now->perf_freq);
    }
}

/* The same for all values of a formula that have the same sample before. */
static void put_clocks(readings *r, perf_writer *w, const perf_formula_info *formula, const perf_point *before)
{
    if (r->clocks.formula != formula || r->clocks.before != (before ? r->before : NULL)) {
        perf_writer own = perf_writer_of(r->clocks.text, sizeof r->clocks.text);
        write_clocks(&own, formula, &r->operands.now, before);
        r->clocks.formula = formula;
        r->clocks.before = before ? r->before : NULL;
        r->clocks.size = (unsigned)(own.to - r->clocks.text);
    }
    perf_write_bytes(w, r->clocks.text, r->clocks.size);
}

static void put_operands(readings *r, perf_writer *w, const perf_formula_info *formula, const perf_point *before)
{
    const perf_point *now = &r->operands.now;
    bool has_base = (formula->flags & PERF_NEEDS_BASE) && now->base.size > 0;

    put_operand(w, ", N1 = ", now->value, ", N0 = ", before ? &before->value : NULL);
    if (has_base) {
        put_operand(w, ", B1 = ", now->base, ", B0 = ", before ? &before->base : NULL);
    } else if (formula->flags & PERF_NEEDS_TIME) {
        put_operand(w, ", O1 = ", now->time, ", O0 = ", before ? &before->time : NULL);
    }
    put_clocks(r, w, formula, before);
    if (formula->flags & PERF_NEEDS_FREQ) {
        put_operand(w, ", OF = ", now->freq, NULL, NULL);
    }
    if (formula->flags & PERF_NEEDS_MULTI) {
        put_operand(w, ", M1 = ", now->multi, NULL, NULL);
    }
}

bool readings_has_formula(const readings *r)
{
    const perf_counter_type *type = r->at.counter->type;

    return type && type->kind == PERF_KIND_COUNTER && r->at.raw.size > 0 && r->at.counter->none == PERF_NONE_OK;
}

void readings_write_formula(readings *r, perf_writer *w)
{
    const perf_formula_info *formula = &perf_formulas[r->at.counter->type->formula];

    perf_write(w, formula->text);
    readings_find_operands(r);
    put_operands(r, w, formula, r->operands.has_before ? &r->operands.before : NULL);
}
