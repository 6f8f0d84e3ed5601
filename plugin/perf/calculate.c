/* calculate.c
 * The calculated value of a counter, from one or two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/calculate.h"

#define NONE_TEXT(reason, number, text) [number] = text,
const char *const perf_no_result_text[] = {PERF_NO_RESULT_REASONS(NONE_TEXT)};

/* Reasons why a denominator cannot be used. */
typedef struct operand_reasons {
    perf_no_result missing;
    perf_no_result backwards;
    perf_no_result zero;
} operand_reasons;

static const operand_reasons reasons[] = {
    [PERF_OPERAND_TICKS] = {PERF_NO_RESULT_OK, PERF_NO_RESULT_CLOCK_BACK, PERF_NO_RESULT_SAME_TIME},
    [PERF_OPERAND_100NS] = {PERF_NO_RESULT_OK, PERF_NO_RESULT_CLOCK_BACK, PERF_NO_RESULT_SAME_TIME},
    [PERF_OPERAND_TIME] = {PERF_NO_RESULT_NO_TIME, PERF_NO_RESULT_CLOCK_BACK, PERF_NO_RESULT_SAME_TIME},
    [PERF_OPERAND_FREQ] = {PERF_NO_RESULT_NO_FREQ, PERF_NO_RESULT_OK, PERF_NO_RESULT_ZERO_DENOMINATOR},
    [PERF_OPERAND_BASE] = {PERF_NO_RESULT_NO_BASE, PERF_NO_RESULT_BASE_BACKWARDS, PERF_NO_RESULT_ZERO_DENOMINATOR},
};

/* Returns the number of one sample that a formula divides by; size 0: it is missing, or there is no such number. */
static perf_raw get_operand(perf_operand which, const perf_point *point)
{
    switch (which) {
    case PERF_OPERAND_TICKS:
        return (perf_raw){point->perf_time, 8};
    case PERF_OPERAND_100NS:
        return (perf_raw){point->time_100ns, 8};
    case PERF_OPERAND_TIME:
        return point->time;
    case PERF_OPERAND_FREQ:
        return point->freq;
    case PERF_OPERAND_BASE:
        return point->base;
    default:
        return (perf_raw){0, 0};
    }
}

/* Finds the difference of two samples, as an integer: a double does not hold 64 bits. Returns false if the value has decreased: no result. */
static bool find_difference(perf_raw current, perf_raw previous, uint64_t *result)
{
    *result = current.value - previous.value;
    if (current.size == 4) {
        *result = (uint32_t)*result;
    }
    return !perf_is_backwards(current, previous);
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
    uint64_t long_ago =
        current->time_100ns / 2; /* centuries: no process started before, and no FILETIME of today is that */
    bool is_since_1601 = current->time.value > long_ago && current->time.value / 2 <= current->time_100ns;
    bool is_filetime = start > long_ago && start <= current->time_100ns;
    if (is_filetime ? current->time.value < long_ago : is_since_1601 && start < long_ago) {
        return PERF_NO_RESULT_OTHER_ORIGIN;
    }
    return current->time.value >= start ? PERF_NO_RESULT_OK : PERF_NO_RESULT_NOT_STARTED;
}

/* Finds the numerator: elapsed time, the value of a single sample (`previous` is NULL), or the difference of two. Returns a reason without. */
static perf_no_result find_numerator(const perf_formula_info *formula, const perf_point *current,
                                     const perf_point *previous, uint64_t *result)
{
    if (formula->flags & PERF_SINCE) {
        return find_elapsed_time(current, result);
    }
    if (!previous) {
        *result = current->value.value;
        return PERF_NO_RESULT_OK;
    }
    if (current->value.size != previous->value.size) {
        return PERF_NO_RESULT_OTHER_SIZE;
    }
    return find_difference(current->value, previous->value, result) ? PERF_NO_RESULT_OK
                                                                    : PERF_NO_RESULT_VALUE_BACKWARDS;
}

/* Finds the denominator: an operand of a single sample (`previous` is NULL), or its difference. Returns a reason without, or if it is 0. */
static perf_no_result find_denominator(perf_operand which, const perf_point *current, const perf_point *previous,
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
    uint64_t above = 0;
    uint64_t below;
    perf_no_result none = find_numerator(formula, current, previous, &above);

    *result = (double)above;
    if (none != PERF_NO_RESULT_OK || which == PERF_OPERAND_NOTHING) {
        return none;
    }
    if (which == PERF_OPERAND_BASE_OR_TIME) {
        which = current->base.size == 0 && current->time.size != 0 ? PERF_OPERAND_TIME : PERF_OPERAND_BASE;
    }
    if (previous && current->perf_freq != previous->perf_freq &&
        (which == PERF_OPERAND_TICKS || which == PERF_OPERAND_100NS || formula->flags & PERF_TICKS)) {
        return PERF_NO_RESULT_OTHER_FREQ;
    }
    none = find_denominator(which, current, previous, &below);
    if (none != PERF_NO_RESULT_OK) {
        return none;
    }
    if (!(formula->flags & (PERF_RATE | PERF_TICKS))) {
        *result = (double)above / (double)below;
        return PERF_NO_RESULT_OK;
    }
    if (current->perf_freq == 0) {
        return PERF_NO_RESULT_ZERO_DENOMINATOR;
    }
    if (formula->flags & PERF_RATE) {
        *result = (double)above / ((double)below / (double)current->perf_freq);
    } else {
        *result = (double)above / (double)current->perf_freq / (double)below;
    }
    return PERF_NO_RESULT_OK;
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
    if (type->kind == PERF_KIND_BASE) {
        return PERF_NO_RESULT_BASE_TYPE;
    }
    if (type->formula == PERF_FORMULA_NONE) {
        return PERF_NO_RESULT_NO_FORMULA;
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

/* Returns the seconds from `before` to `now`, negative if the clock went back. `freq`: units a second, 0: not known, as are the seconds (0). */
static double find_seconds(uint64_t now, uint64_t before, uint64_t freq)
{
    double units = now >= before ? (double)(now - before) : -(double)(before - now);

    return freq > 0 ? units / (double)freq : 0;
}

static double passed_100ns(const perf_point *now, const perf_point *before)
{
    return find_seconds(now->time_100ns, before->time_100ns, 10000000);
}

double perf_interval(const perf_point *current, const perf_point *previous)
{
    bool has_ticks = previous && current->perf_freq != 0 && current->perf_freq == previous->perf_freq;
    double seconds = has_ticks  ? find_seconds(current->perf_time, previous->perf_time, current->perf_freq)
                     : previous ? passed_100ns(current, previous)
                                : 0;

    return seconds > 0 ? seconds : 0;
}

/* True if two times, in seconds, differ by more than 0.1 s and 1 % of the second. */
static bool differ_clearly(double seconds, double others)
{
    double most = 0.1 + (others > 0 ? others : -others) / 100;

    return seconds - others > most || others - seconds > most;
}

bool perf_clocks_differ(const perf_point *current, const perf_point *previous, double interval)
{
    return current->time_100ns > previous->time_100ns && interval > 0 &&
           differ_clearly(passed_100ns(current, previous), interval);
}
