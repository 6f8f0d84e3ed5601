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

#define TYPE_ROW(value, name, formula, unit, note, constant) {value, name, PERF_FORMULA_##formula, unit, note},

const perf_counter_type perf_counter_types[PERF_NUM_COUNTER_TYPES] = {PERF_COUNTER_TYPES(TYPE_ROW)};

const perf_counter_type *perf_counter_type_find(uint32_t value)
{
    return bsearch(&value, perf_counter_types, PERF_NUM_COUNTER_TYPES, sizeof *perf_counter_types, perf_compare_u32);
}
