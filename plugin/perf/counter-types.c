/* counter-types.c
 * Counter types: names, bit fields, formulas and units.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/counter-types.h"

#include "perf/bytes.h"

#include <stdlib.h>

#define FORMULA_ROW(formula, factor, denominator, flags, text) {text, factor, denominator, flags},

const perf_formula_info perf_formulas[PERF_NUM_FORMULAS] = {PERF_FORMULAS(FORMULA_ROW)};

/* PERF_NUMBER_HEX is 0, so types that are no number at all have it too. */
#define IS_HEX(value, formula) ((formula) == PERF_FORMULA_RAW && ((value)&PERF_SUBTYPE_MASK) == 0)

#define TYPE_ROW(value, name, kind, formula, unit, note, constant) \
    {value, name, PERF_KIND_##kind, PERF_FORMULA_##formula, unit, IS_HEX(value, PERF_FORMULA_##formula), note},

const perf_counter_type perf_counter_types[PERF_NUM_COUNTER_TYPES] = {PERF_COUNTER_TYPES(TYPE_ROW)};

const perf_counter_type *perf_counter_type_find(uint32_t value)
{
    return bsearch(&value, perf_counter_types, PERF_NUM_COUNTER_TYPES, sizeof *perf_counter_types, perf_compare_u32);
}
