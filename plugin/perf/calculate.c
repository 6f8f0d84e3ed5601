/* calculate.c
 * The calculated value of a counter, from one or two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/calculate.h"

#include <math.h>
#include <string.h>

#define UNITS_OF_100NS 10000000 /* a second */

/* Reasons why a number cannot be used; PERF_NO_RESULT_OK where that does not happen, or is none. */
typedef struct operand_reasons {
    perf_no_result missing;   /* a sample does not have it */
    perf_no_result backwards; /* it decreased between two samples */
    perf_no_result zero;      /* it, or its difference, is 0 and divides */
} operand_reasons;

static const operand_reasons reasons[] = {
    [PERF_OPERAND_VALUE] = {PERF_NO_RESULT_OTHER_SIZE, PERF_NO_RESULT_VALUE_BACKWARDS, PERF_NO_RESULT_OK},
    [PERF_OPERAND_TICKS] = {PERF_NO_RESULT_OK, PERF_NO_RESULT_CLOCK_BACK, PERF_NO_RESULT_SAME_TIME},
    [PERF_OPERAND_100NS] = {PERF_NO_RESULT_OK, PERF_NO_RESULT_CLOCK_BACK, PERF_NO_RESULT_SAME_TIME},
    [PERF_OPERAND_TIME] = {PERF_NO_RESULT_NO_TIME, PERF_NO_RESULT_CLOCK_BACK, PERF_NO_RESULT_SAME_TIME},
    [PERF_OPERAND_FREQ] = {PERF_NO_RESULT_NO_FREQ, PERF_NO_RESULT_OK, PERF_NO_RESULT_ZERO_DENOMINATOR},
    [PERF_OPERAND_BASE] = {PERF_NO_RESULT_NO_BASE, PERF_NO_RESULT_BASE_BACKWARDS, PERF_NO_RESULT_ZERO_DENOMINATOR},
};

/* Returns a number of one sample; size 0: it is missing. */
static inline perf_raw get_operand(perf_operand which, const perf_point *point)
{
    return which == PERF_OPERAND_TICKS   ? (perf_raw){point->perf_time, 8}
           : which == PERF_OPERAND_100NS ? (perf_raw){point->time_100ns, 8}
           : which == PERF_OPERAND_TIME  ? point->time
           : which == PERF_OPERAND_FREQ  ? point->freq
           : which == PERF_OPERAND_BASE  ? point->base
                                         : point->value;
}

/* Finds the difference of two samples, as an integer: a double does not hold 64 bits. Needs: both have one size. Returns false if the value has
 * decreased. Values of 4 bytes may wrap, so an increase by half their range or more counts as a decrease. */
static bool find_difference(perf_raw current, perf_raw previous, uint64_t *result)
{
    bool wraps = current.size == 4;
    uint64_t difference = current.value - previous.value;

    *result = wraps ? (uint32_t)difference : difference;
    return wraps ? *result < UINT64_C(1) << 31 : current.value >= previous.value;
}

/* Finds the object's time minus the value, a start time, in units of the object's clock. Returns the reason if that is no time: it is not
 * started (0: the Idle process), or start time and clock count from different years, since only one of them is a FILETIME. */
static perf_no_result find_elapsed_time(const perf_point *current, uint64_t *result)
{
    uint64_t start = current->value.value;

    *result = current->time.value - start;
    if (start == 0) {
        return PERF_NO_RESULT_NO_START;
    }
    if (current->time.size == 0) {
        return PERF_NO_RESULT_NO_TIME;
    }
    uint64_t long_ago = current->time_100ns / 2; /* the year 1813 as a FILETIME: less is time since a start */
    bool is_since_1601 = current->time.value > long_ago && current->time.value / 2 <= current->time_100ns;
    bool is_filetime = start > long_ago && start <= current->time_100ns;
    if (is_filetime ? current->time.value < long_ago : is_since_1601 && start < long_ago) {
        return PERF_NO_RESULT_OTHER_ORIGIN;
    }
    return current->time.value >= start ? PERF_NO_RESULT_OK : PERF_NO_RESULT_NOT_STARTED;
}

/* Finds numerator or denominator: a number of a single sample (`previous` is NULL), or the difference of two. Returns PERF_NO_RESULT_OK, or the reason
 * if there is none, or a denominator of 0. */
static inline perf_no_result find_term(perf_operand which, const perf_point *current, const perf_point *previous,
                                       uint64_t *result)
{
    const operand_reasons *why = &reasons[which];
    const perf_raw now = get_operand(which, current), before = previous ? get_operand(which, previous) : now;

    *result = now.value;
    if (now.size == 0 || before.size == 0) {
        return why->missing;
    }
    if (now.size != before.size) {
        return PERF_NO_RESULT_OTHER_SIZE;
    }
    if (previous && !find_difference(now, before, result)) {
        return why->backwards;
    }
    return *result == 0 ? why->zero : PERF_NO_RESULT_OK;
}

/* Divides numerator by denominator, if the formula has one. PERF_RATE makes the denominator seconds, PERF_TICKS the numerator. Returns
 * PERF_NO_RESULT_OK, or the reason: `result` means nothing then. */
static perf_no_result find_quotient(const perf_formula_info *formula, const perf_point *current,
                                    const perf_point *previous, double *result)
{
    perf_operand which = formula->denominator;
    double freq = (double)current->perf_freq;
    uint64_t above = 0, below;
    perf_no_result none = formula->flags & PERF_SINCE ? find_elapsed_time(current, &above)
                                                      : find_term(PERF_OPERAND_VALUE, current, previous, &above);

    *result = (double)above;
    if (none != PERF_NO_RESULT_OK || which == PERF_OPERAND_VALUE) {
        return none;
    }
    if (which == PERF_OPERAND_BASE_OR_TIME) {
        which = current->base.size == 0 && current->time.size != 0 ? PERF_OPERAND_TIME : PERF_OPERAND_BASE;
    }
    if (previous && current->perf_freq != previous->perf_freq &&
        (which == PERF_OPERAND_TICKS || which == PERF_OPERAND_100NS || formula->flags & PERF_TICKS)) {
        return PERF_NO_RESULT_OTHER_FREQ;
    }
    none = find_term(which, current, previous, &below);
    if (none == PERF_NO_RESULT_OK && formula->flags & (PERF_RATE | PERF_TICKS) && current->perf_freq == 0) {
        none = PERF_NO_RESULT_ZERO_DENOMINATOR;
    }
    if (none == PERF_NO_RESULT_OK) {
        *result = (formula->flags & PERF_TICKS ? (double)above / freq : (double)above) /
                  (formula->flags & PERF_RATE ? (double)below / freq : (double)below);
    }
    return none;
}

/* Applies the whole formula. Needs: `previous`, if it takes two samples. Returns PERF_NO_RESULT_OK, or the reason: `result` means nothing then. */
static perf_no_result apply_formula(const perf_formula_info *formula, const perf_point *current,
                                    const perf_point *previous, double *result)
{
    double value;

    if (previous && current->perf_time == previous->perf_time && current->time_100ns == previous->time_100ns) {
        return PERF_NO_RESULT_SAME_TIME; /* two samples of one moment are one sample, whatever they hold */
    }
    perf_no_result none = find_quotient(formula, current, previous, &value);
    if (none != PERF_NO_RESULT_OK) {
        return none;
    }
    if (formula->flags & PERF_NEEDS_MULTI) {
        if (current->multi.size == 0) {
            return PERF_NO_RESULT_NO_MULTI;
        }
        if (current->multi.value == 0) {
            return PERF_NO_RESULT_ZERO_DENOMINATOR;
        }
        value /= (double)current->multi.value;
    }
    bool is_per_time = formula->denominator == PERF_OPERAND_TICKS || formula->denominator == PERF_OPERAND_100NS;
    if (previous && previous->is_clock_wrong && is_per_time) {
        return PERF_NO_RESULT_CLOCKS_DIFFER;
    }
    if (formula->flags & PERF_COMPLEMENT) {
        value = 1 - value;
    }
    *result = formula->factor * value;
    return PERF_NO_RESULT_OK;
}

/* Returns the reason why no formula applies, by the type (NULL: unknown) and the value's size alone; PERF_NO_RESULT_OK: there is none. */
static perf_no_result check_value(const perf_counter_type *type, const perf_point *current)
{
    if (!type) {
        return PERF_NO_RESULT_UNKNOWN_TYPE;
    }
    if (type->formula == PERF_FORMULA_NONE) {
        return perf_counter_type_is_base(type->value) ? PERF_NO_RESULT_BASE_TYPE : PERF_NO_RESULT_NO_FORMULA;
    }
    if (current->value.size == 4 && (type->value & PERF_SIZE_MASK) == PERF_SIZE_LARGE) {
        return PERF_NO_RESULT_TOO_SHORT; /* 8 bytes for a type of 4 are what providers send */
    }
    return current->value.size == 0 ? PERF_NO_RESULT_SIZE : PERF_NO_RESULT_OK;
}

perf_result perf_calculate(const perf_counter_type *type, const perf_point *current, const perf_point *previous,
                           perf_no_result why_no_previous)
{
    perf_result result = {0, check_value(type, current)};

    if (result.none != PERF_NO_RESULT_OK) {
        return result;
    }
    const perf_formula_info *formula = &perf_formulas[type->formula];
    if (!(formula->flags & PERF_NEEDS_PREVIOUS)) {
        previous = NULL;
    } else if (!previous) {
        result.none = why_no_previous != PERF_NO_RESULT_OK ? why_no_previous : PERF_NO_RESULT_FIRST_SAMPLE;
    }
    if (result.none == PERF_NO_RESULT_OK) {
        result.none = apply_formula(formula, current, previous, &result.value);
    }
    return result;
}

bool perf_is_sum(const char *instance)
{
    const char *part = instance ? instance + strlen(instance) : instance;

    while (part > instance && strchr(",/ ", part[-1]) == NULL) {
        part--;
    }
    return part && (strcmp(part, "_Total") == 0 || strcmp(part, "_Global_") == 0);
}

/* Adds a number that the formula's text names if `is_named`, unless it is not there. */
static inline void add_number(perf_formula_number **next, bool is_named, const char *name, perf_raw number)
{
    if (is_named && number.size > 0) {
        *(*next)++ = (perf_formula_number){name, number};
    }
}

unsigned perf_formula_numbers(const perf_formula_info *formula, const perf_point *now, const perf_point *previous,
                              perf_formula_number found[PERF_MOST_FORMULA_NUMBERS])
{
    static const perf_point none = {.perf_time = UINT64_MAX, .time_100ns = UINT64_MAX};
    const perf_point *before = previous && formula->flags & PERF_NEEDS_PREVIOUS ? previous : &none;
    const unsigned flags = formula->flags;
    const perf_raw ticks = {now->perf_time - before->perf_time, now->perf_time >= before->perf_time ? 8 : 0};
    const perf_raw passed = {now->time_100ns - before->time_100ns, now->time_100ns >= before->time_100ns ? 8 : 0};
    perf_formula_number *next = found;

    add_number(&next, true, "N1", now->value);
    add_number(&next, true, "N0", before->value);
    add_number(&next, flags & PERF_NEEDS_BASE, "B1", now->base);
    add_number(&next, flags & PERF_NEEDS_BASE, "B0", before->base);
    add_number(&next, flags & PERF_NEEDS_TIME, "O1", now->time);
    add_number(&next, flags & PERF_NEEDS_TIME, "O0", before->time);
    add_number(&next, formula->denominator == PERF_OPERAND_TICKS, "T1 - T0", ticks);
    add_number(&next, formula->denominator == PERF_OPERAND_100NS, "H1 - H0", passed);
    add_number(&next, flags & (PERF_RATE | PERF_TICKS), "F", (perf_raw){now->perf_freq, 8});
    add_number(&next, flags & PERF_NEEDS_FREQ, "OF", now->freq);
    add_number(&next, flags & PERF_NEEDS_MULTI, "M1", now->multi);
    return (unsigned)(next - found);
}

/* Returns the seconds between two times of a clock, 0: it did not advance. `freq`: units a second. */
static double find_seconds(uint64_t now, uint64_t before, uint64_t freq)
{
    return now > before ? (double)(now - before) / (double)freq : 0;
}

double perf_interval(const perf_point *current, const perf_point *previous)
{
    bool has_ticks = current->perf_freq != 0 && current->perf_freq == previous->perf_freq;

    return has_ticks ? find_seconds(current->perf_time, previous->perf_time, current->perf_freq)
                     : find_seconds(current->time_100ns, previous->time_100ns, UNITS_OF_100NS);
}

bool perf_clocks_differ(const perf_point *current, const perf_point *previous)
{
    double interval = perf_interval(current, previous);
    double passed = find_seconds(current->time_100ns, previous->time_100ns, UNITS_OF_100NS);

    return passed > 0 && interval > 0 && fabs(passed - interval) > 0.1 + interval / 100;
}
