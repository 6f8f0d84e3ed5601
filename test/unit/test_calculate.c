/* test_calculate.c
 * Calculated values: expected numbers are worked out by hand from [MS-PCQ] 2.2.4.2 and the counter type pages
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "perf/calculate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned failures;

/* In two seconds of every clock: dN 3000, dB 150, dT 5 000 000, dH 20 000 000, dO 8000. */
static const perf_point before = {
    .value = {1000, 8},
    .base = {100, 4},
    .time = {5000, 8},
    .freq = {4000, 8},
    .multi = {3, 4},
    .perf_time = 1000000,
    .perf_freq = 2500000,
    .time_100ns = 133716612800215149,
};

static const perf_point now = {
    .value = {4000, 8},
    .base = {250, 4},
    .time = {13000, 8},
    .freq = {4000, 8},
    .multi = {4, 4},
    .perf_time = 6000000,
    .perf_freq = 2500000,
    .time_100ns = 133716612820215149,
};

static perf_result calculate(uint32_t type, const perf_point *second, const perf_point *first)
{
    return perf_calculate(perf_counter_type_find(type), second, first, PERF_NO_RESULT_FIRST_SAMPLE);
}

static void expect(const char *what, perf_result result, double value, perf_no_result none)
{
    if (result.none == none && isfinite(result.value) && fabs(result.value - value) <= 1e-12 * fabs(value)) {
        return;
    }
    fprintf(stderr, "%s: %.17g (reason %d), expected %.17g (%d)\n", what, result.value, result.none, value, none);
    failures++;
}

/* Every type once. */

static const struct {
    uint32_t type;
    double value;
} expected_values[] = {
    {PERF_COUNTER_RAWCOUNT_HEX, 4000},
    {PERF_COUNTER_LARGE_RAWCOUNT_HEX, 4000},
    {PERF_COUNTER_RAWCOUNT, 4000},
    {PERF_COUNTER_LARGE_RAWCOUNT, 4000},
    {PERF_COUNTER_DELTA, 3000},
    {PERF_COUNTER_LARGE_DELTA, 3000},
    {PERF_SAMPLE_COUNTER, 1500},
    {PERF_COUNTER_QUEUELEN_TYPE, 0.0006},
    {PERF_COUNTER_LARGE_QUEUELEN_TYPE, 0.0006},
    {PERF_COUNTER_100NS_QUEUELEN_TYPE, 0.00015},
    {PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, 0.375},
    {PERF_COUNTER_COUNTER, 1500},
    {PERF_COUNTER_BULK_COUNT, 1500},
    {PERF_RAW_FRACTION, 1600},
    {PERF_LARGE_RAW_FRACTION, 1600},
    {PERF_COUNTER_TIMER, 0.06},
    {PERF_PRECISION_SYSTEM_TIMER, 2000},
    {PERF_100NSEC_TIMER, 0.015},
    {PERF_PRECISION_100NS_TIMER, 2000},
    {PERF_OBJ_TIME_TIMER, 37.5},
    {PERF_PRECISION_OBJECT_TIMER, 2000},
    {PERF_SAMPLE_FRACTION, 2000},
    {PERF_COUNTER_TIMER_INV, 99.94},
    {PERF_100NSEC_TIMER_INV, 99.985},
    {PERF_COUNTER_MULTI_TIMER, 0.015},
    {PERF_100NSEC_MULTI_TIMER, 0.00375},
    {PERF_COUNTER_MULTI_TIMER_INV, 99.985},
    {PERF_100NSEC_MULTI_TIMER_INV, 99.99625},
    {PERF_AVERAGE_TIMER, 0.000008},
    {PERF_ELAPSED_TIME, 2.25},
    {PERF_AVERAGE_BULK, 20},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* All others have no value: bases, and what is no number. */
static void test_every_type(void)
{
    size_t others = 0;

    for (size_t i = 0; i < COUNT(expected_values); i++) {
        expect(perf_counter_type_find(expected_values[i].type)->name, calculate(expected_values[i].type, &now, &before),
               expected_values[i].value, PERF_NO_RESULT_OK);
    }
    for (size_t i = 0; i < PERF_NUM_COUNTER_TYPES; i++) {
        const perf_counter_type *type = &perf_counter_types[i];
        if (type->formula == PERF_FORMULA_NONE) {
            expect(type->name, calculate(type->value, &now, &before), 0,
                   strstr(type->name, "_BASE") ? PERF_NO_RESULT_BASE_TYPE : PERF_NO_RESULT_NO_FORMULA);
            others++;
        }
    }
    if (others != 10 || COUNT(expected_values) + others != PERF_NUM_COUNTER_TYPES) {
        fprintf(stderr, "a type is not tested\n");
        failures++;
    }
}

/* Values that real Windows machines gave. */
static void test_worked_numbers(void)
{
    const perf_point process = {
        .value = {133707369666486855, 8}, .time = {133716612800215149, 8}, .freq = {10000000, 8}};
    perf_point utility_0 = {.value = {UINT64_C(3256992943318), 8}, .base = {4294000000, 4}};
    perf_point utility_1 = {.value = {UINT64_C(3256992943318) + 48462010, 8},
                            .base = {(uint32_t)(4294000000 + 625966), 4},
                            .perf_time = 10000000,
                            .perf_freq = 10000000};
    const perf_result utility = calculate(PERF_AVERAGE_BULK, &utility_1, &utility_0);

    expect("Process, Elapsed Time", calculate(PERF_ELAPSED_TIME, &process, NULL), 924313.3728294, PERF_NO_RESULT_OK);
    if (fabs(utility.value - 77.4196) > 0.00005) {
        expect("% Processor Utility", utility, 77.4196, PERF_NO_RESULT_OK);
    }
}

/* What PDH of a Windows machine made of raw values (PowerShell's Diagnostics tests, CounterSamples.blg and .csv, MIT licence): seconds
 * are counted by a clock of 2,630,633 Hz. To the last bit. */

static const struct {
    uint64_t perf_time, time_100ns;
} pdh_samples[] = {
    {2006530743703, 131246703908743382}, {2006538643468, 131246703938773618}, {2006546542419, 131246703968799411},
    {2006554450786, 131246703998863126}, {2006593978591, 131246704149124770}, {2006601884948, 131246704179180031},
};

#define NUM_SAMPLES 6

/* A counter's value and base in each of these samples, and what was made of it and the sample before it; 0 of a sample that nobody gave. */
static const struct {
    struct {
        uint32_t type, size, base_size; /* sizes in bytes; 0: there is no base */
    } of;
    uint64_t values[NUM_SAMPLES], bases[NUM_SAMPLES];
    double results[NUM_SAMPLES];
} pdh_series[] = {
    {{PERF_COUNTER_BULK_COUNT, 8, 0},
     {3983296633, 3983303676, 3983314201, 3983322974, 3983371936, 3983377916},
     {0},
     {0, 2345.3290343446924, 3505.2011748142254, 2918.2438433876423, 0, 1989.6882141800579}},
    {{PERF_100NSEC_TIMER_INV, 8, 0},
     {4903144765625, 4903168515625, 4903194531250, 4903220039062, 4903348789062, 4903374179687},
     {0},
     {0, 20.913042441624498, 13.35574384330166, 15.154158426528463, 0, 15.520197944712578}},
    {{PERF_RAW_FRACTION, 4, 4},
     {3733930794, 3733121724, 3734059805, 3733428750, 3733218732, 3732330655},
     {4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295},
     {0, 86.918513403953639, 86.940354804261659, 86.925661910075149, 0, 86.900094893504885}},
    {{PERF_COUNTER_COUNTER, 4, 0},
     {574088259, 574088260, 574088283, 574088288, 574088350, 574088354},
     {0},
     {0, 0.33300142472592542, 7.659822044724673, 1.6631960808090975, 0, 1.3308951265418449}},
    {{PERF_PRECISION_100NS_TIMER, 8, 8},
     {554043229430, 554043324478, 554045094451, 554046825944, 554055367295, 554055428184},
     {131246703908743382, 131246703938773618, 131246703968799411, 131246703998863126, 131246704149124770,
      131246704179180031},
     {0, 0.31650766913719891, 5.894841811505195, 5.7594113036263144, 0, 0.20259015551387158}},
};

static perf_point pdh_point(size_t counter, size_t sample)
{
    return (perf_point){.value = {pdh_series[counter].values[sample], pdh_series[counter].of.size},
                        .base = {pdh_series[counter].bases[sample], pdh_series[counter].of.base_size},
                        .perf_time = pdh_samples[sample].perf_time,
                        .perf_freq = 2630633,
                        .time_100ns = pdh_samples[sample].time_100ns};
}

static void test_results_of_pdh(void)
{
    for (size_t i = 0; i < COUNT(pdh_series); i++) {
        for (size_t n = 1; n < NUM_SAMPLES; n++) {
            const perf_point second = pdh_point(i, n), first = pdh_point(i, n - 1);
            const perf_result result = calculate(pdh_series[i].of.type, &second, &first);
            const double expected = pdh_series[i].results[n];
            if (expected > 0 && (result.none != PERF_NO_RESULT_OK || result.value != expected)) {
                fprintf(stderr, "%s: %.17g, not %.17g\n", perf_counter_type_find(pdh_series[i].of.type)->name,
                        result.value, expected);
                failures++;
            }
        }
    }
}

/* --- What has no value, and what wraps ----------------------------------------------------------------------------- */

/* A number of one of the samples that is another one than above; a `size` of 0: it is not there, of a clock nothing. */
typedef struct {
    enum { UNCHANGED, NOW, BEFORE } sample;
    enum { VALUE, BASE, TIME, FREQ, MULTI, PERF_TIME, PERF_FREQ, TIME_100NS } what;
    uint8_t size;
    uint64_t value;
} change;

static void apply_change(perf_point *point, const change *c)
{
    perf_raw *const raws[] = {&point->value, &point->base, &point->time, &point->freq, &point->multi};
    uint64_t *const clocks[] = {&point->perf_time, &point->perf_freq, &point->time_100ns};

    if (c->what >= PERF_TIME) {
        *clocks[c->what - PERF_TIME] = c->value;
    } else {
        *raws[c->what] = (perf_raw){c->value, c->size};
    }
}

#define ANY_TIME UINT64_C(133716612800215149)

/* `none`: PERF_NO_RESULT_OK where there is a value. */
static const struct {
    uint32_t type;
    change changes[4];
    double value;
    perf_no_result none;
} cases[] = {
    /* Operands that are missing */
    {PERF_AVERAGE_BULK, {{NOW, BASE, 0, 0}}, 0, PERF_NO_RESULT_NO_BASE},
    {PERF_RAW_FRACTION, {{NOW, BASE, 0, 0}}, 0, PERF_NO_RESULT_NO_BASE},
    {PERF_PRECISION_OBJECT_TIMER, {{NOW, BASE, 0, 0}, {NOW, TIME, 0, 0}}, 0, PERF_NO_RESULT_NO_BASE},
    {PERF_PRECISION_OBJECT_TIMER, {{NOW, BASE, 0, 0}}, 37.5, PERF_NO_RESULT_OK},
    {PERF_OBJ_TIME_TIMER, {{NOW, TIME, 0, 0}}, 0, PERF_NO_RESULT_NO_TIME},
    {PERF_ELAPSED_TIME, {{NOW, TIME, 0, 0}}, 0, PERF_NO_RESULT_NO_TIME},
    {PERF_ELAPSED_TIME, {{NOW, FREQ, 0, 0}}, 0, PERF_NO_RESULT_NO_FREQ},
    {PERF_COUNTER_MULTI_TIMER, {{NOW, MULTI, 0, 0}}, 0, PERF_NO_RESULT_NO_MULTI},
    {PERF_COUNTER_COUNTER, {{NOW, BASE, 0, 0}, {NOW, TIME, 0, 0}}, 1500, PERF_NO_RESULT_OK},
    {PERF_AVERAGE_BULK, {{BEFORE, BASE, 0, 0}}, 0, PERF_NO_RESULT_NO_BASE},
    {PERF_OBJ_TIME_TIMER, {{BEFORE, TIME, 0, 0}}, 0, PERF_NO_RESULT_NO_TIME},
    {PERF_COUNTER_COUNTER, {{BEFORE, VALUE, 0, 0}}, 0, PERF_NO_RESULT_OTHER_SIZE},
    {PERF_COUNTER_RAWCOUNT, {{NOW, VALUE, 0, 0}}, 0, PERF_NO_RESULT_SIZE},
    {0x12345678, {{0}}, 0, PERF_NO_RESULT_UNKNOWN_TYPE},
    /* 4 bytes wrap */
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 4, 10}, {BEFORE, VALUE, 4, 0xFFFFFFF6}}, 20, PERF_NO_RESULT_OK},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 4, 0x7FFFFFFE}, {BEFORE, VALUE, 4, 0xFFFFFFFF}}, 2147483647, PERF_NO_RESULT_OK},
    {PERF_COUNTER_DELTA,
     {{NOW, VALUE, 4, 0x7FFFFFFF}, {BEFORE, VALUE, 4, 0xFFFFFFFF}},
     0,
     PERF_NO_RESULT_VALUE_BACKWARDS},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 4, 0x80000000}, {BEFORE, VALUE, 4, 0}}, 0, PERF_NO_RESULT_VALUE_BACKWARDS},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 4, 10}, {BEFORE, VALUE, 4, 5000100}}, 0, PERF_NO_RESULT_VALUE_BACKWARDS},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 4, 7}, {BEFORE, VALUE, 4, 7}}, 0, PERF_NO_RESULT_OK},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 8, 4}, {BEFORE, VALUE, 8, 5}}, 0, PERF_NO_RESULT_VALUE_BACKWARDS},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 4, 6}, {BEFORE, VALUE, 8, 5}}, 0, PERF_NO_RESULT_OTHER_SIZE},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 8, UINT64_C(1) << 32}, {BEFORE, VALUE, 4, 5}}, 0, PERF_NO_RESULT_OTHER_SIZE},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 8, UINT64_C(1) << 33}, {BEFORE, VALUE, 8, 1}}, 8589934591, PERF_NO_RESULT_OK},
    {PERF_AVERAGE_BULK, {{NOW, BASE, 4, 0x10}, {BEFORE, BASE, 4, 0xFFFFFFF0}}, 3000.0 / 32, PERF_NO_RESULT_OK},
    {PERF_AVERAGE_BULK, {{NOW, BASE, 4, 3}, {BEFORE, BASE, 4, 9}}, 0, PERF_NO_RESULT_BASE_BACKWARDS},
    {PERF_AVERAGE_BULK, {{NOW, BASE, 8, 3}, {BEFORE, BASE, 8, ~3U}}, 0, PERF_NO_RESULT_BASE_BACKWARDS},
    {PERF_OBJ_TIME_TIMER, {{NOW, TIME, 4, 0x100}, {BEFORE, TIME, 4, 0xFFFFFF00}}, 585.9375, PERF_NO_RESULT_OK},
    {PERF_OBJ_TIME_TIMER, {{NOW, TIME, 8, 3}, {BEFORE, TIME, 8, ~3U}}, 0, PERF_NO_RESULT_CLOCK_BACK},
    /* A double holds 53 bits: differences have to be taken before */
    {PERF_COUNTER_DELTA,
     {{NOW, VALUE, 8, UINT64_MAX}, {BEFORE, VALUE, 8, 0}},
     18446744073709551615.0,
     PERF_NO_RESULT_OK},
    {PERF_COUNTER_DELTA, {{NOW, VALUE, 8, UINT64_MAX}, {BEFORE, VALUE, 8, UINT64_MAX - 1}}, 1, PERF_NO_RESULT_OK},
    {PERF_AVERAGE_BULK,
     {{NOW, VALUE, 8, UINT64_MAX},
      {BEFORE, VALUE, 8, UINT64_MAX - 30},
      {NOW, BASE, 8, ~UINT64_C(1)},
      {BEFORE, BASE, 8, ~UINT64_C(4)}},
     10,
     PERF_NO_RESULT_OK},
    {PERF_COUNTER_BULK_COUNT,
     {{NOW, PERF_TIME, 0, ~UINT64_C(0)}, {BEFORE, PERF_TIME, 0, ~UINT64_C(2500000)}},
     3000,
     PERF_NO_RESULT_OK},
    {PERF_COUNTER_LARGE_RAWCOUNT, {{NOW, VALUE, 8, UINT64_MAX}}, 18446744073709551615.0, PERF_NO_RESULT_OK},
    /* Start times */
    {PERF_ELAPSED_TIME, {{NOW, VALUE, 8, 13000}}, 0, PERF_NO_RESULT_OK},
    {PERF_ELAPSED_TIME, {{NOW, VALUE, 8, 13001}}, 0, PERF_NO_RESULT_NOT_STARTED},
    {PERF_ELAPSED_TIME, {{NOW, VALUE, 8, 0}}, 0, PERF_NO_RESULT_NO_START},
    {PERF_ELAPSED_TIME, {{NOW, VALUE, 8, ANY_TIME}}, 0, PERF_NO_RESULT_OTHER_ORIGIN},
    {PERF_ELAPSED_TIME, {{NOW, VALUE, 8, ANY_TIME + 20000001}}, 0, PERF_NO_RESULT_NOT_STARTED},
    {PERF_ELAPSED_TIME, {{NOW, VALUE, 8, 13001}, {NOW, TIME, 8, ANY_TIME}}, 0, PERF_NO_RESULT_OTHER_ORIGIN},
    /* Clocks that stand still, or go back */
    {PERF_COUNTER_TIMER, {{NOW, PERF_TIME, 0, 1000000}}, 0, PERF_NO_RESULT_SAME_TIME},
    {PERF_COUNTER_TIMER, {{NOW, PERF_TIME, 0, 999999}}, 0, PERF_NO_RESULT_CLOCK_BACK},
    {PERF_AVERAGE_BULK, {{NOW, PERF_TIME, 0, 1000000}}, 20, PERF_NO_RESULT_OK},
    {PERF_100NSEC_TIMER, {{NOW, TIME_100NS, 0, ANY_TIME}}, 0, PERF_NO_RESULT_SAME_TIME},
    {PERF_COUNTER_TIMER, {{NOW, TIME_100NS, 0, ANY_TIME}}, 0.06, PERF_NO_RESULT_OK},
    {PERF_AVERAGE_BULK, {{NOW, TIME_100NS, 0, ANY_TIME}, {NOW, PERF_TIME, 0, 1000000}}, 0, PERF_NO_RESULT_SAME_TIME},
    {PERF_OBJ_TIME_TIMER, {{NOW, TIME, 8, 5000}}, 0, PERF_NO_RESULT_SAME_TIME},
    /* Denominators of 0 */
    {PERF_AVERAGE_BULK, {{NOW, BASE, 4, 100}}, 0, PERF_NO_RESULT_ZERO_DENOMINATOR},
    {PERF_100NSEC_MULTI_TIMER_INV, {{NOW, MULTI, 4, 0}}, 0, PERF_NO_RESULT_ZERO_DENOMINATOR},
    {PERF_ELAPSED_TIME, {{NOW, FREQ, 8, 0}}, 0, PERF_NO_RESULT_ZERO_DENOMINATOR},
    {PERF_RAW_FRACTION, {{NOW, BASE, 4, 0}}, 0, PERF_NO_RESULT_ZERO_DENOMINATOR},
    {PERF_COUNTER_COUNTER, {{NOW, PERF_FREQ, 0, 0}, {BEFORE, PERF_FREQ, 0, 0}}, 0, PERF_NO_RESULT_ZERO_DENOMINATOR},
    {PERF_AVERAGE_TIMER, {{NOW, PERF_FREQ, 0, 0}, {BEFORE, PERF_FREQ, 0, 0}}, 0, PERF_NO_RESULT_ZERO_DENOMINATOR},
    {PERF_COUNTER_TIMER, {{NOW, PERF_FREQ, 0, 0}, {BEFORE, PERF_FREQ, 0, 0}}, 0.06, PERF_NO_RESULT_OK},
    /* Another frequency */
    {PERF_COUNTER_COUNTER, {{NOW, PERF_FREQ, 0, 9}}, 0, PERF_NO_RESULT_OTHER_FREQ},
    {PERF_COUNTER_TIMER, {{NOW, PERF_FREQ, 0, 9}}, 0, PERF_NO_RESULT_OTHER_FREQ},
    {PERF_COUNTER_TIMER, {{NOW, PERF_FREQ, 0, 0}}, 0, PERF_NO_RESULT_OTHER_FREQ},
    {PERF_AVERAGE_TIMER, {{NOW, PERF_FREQ, 0, 9}}, 0, PERF_NO_RESULT_OTHER_FREQ},
    {PERF_COUNTER_DELTA, {{NOW, PERF_FREQ, 0, 9}}, 3000, PERF_NO_RESULT_OK},
    /* Percentages are not capped */
    {PERF_COUNTER_TIMER, {{NOW, VALUE, 8, 50001000}}, 1000, PERF_NO_RESULT_OK},
    {PERF_COUNTER_TIMER_INV, {{NOW, VALUE, 8, 50001000}}, -900, PERF_NO_RESULT_OK},
    {PERF_COUNTER_MULTI_TIMER_INV, {{NOW, VALUE, 8, 50001000}}, -150, PERF_NO_RESULT_OK},
};

static void test_cases(void)
{
    for (size_t i = 0; i < COUNT(cases); i++) {
        perf_point second = now, first = before;
        for (size_t k = 0; k < COUNT(cases[i].changes); k++) {
            if (cases[i].changes[k].sample != UNCHANGED) {
                apply_change(cases[i].changes[k].sample == NOW ? &second : &first, &cases[i].changes[k]);
            }
        }
        char what[16];
        snprintf(what, sizeof what, "case %u", (unsigned)i);
        expect(what, calculate(cases[i].type, &second, &first), cases[i].value, cases[i].none);
    }
}

/* Whatever the numbers are: a value is finite, and there is none with a reason. */
static void test_any_numbers(void)
{
    uint64_t state = 88172645463325252U;
    perf_point points[2];

    for (unsigned n = 0; n < 100000; n++) {
        for (uint8_t *at = (uint8_t *)points; at < (uint8_t *)(points + 2); at++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *at = (uint8_t)(state % 5 == 0 ? 0 : state >> 9);
        }
        perf_raw *raws[] = {&points[0].value, &points[0].base, &points[0].time, &points[0].freq, &points[0].multi,
                            &points[1].value, &points[1].base, &points[1].time, &points[1].freq, &points[1].multi};
        for (size_t i = 0; i < COUNT(raws); i++) {
            raws[i]->size = raws[i]->size % 8 == 0 ? 0 : raws[i]->size % 2 ? 8 : 4;
        }
        points[0].is_clock_wrong = false;
        points[1].is_clock_wrong = n % 7 == 0;
        const perf_result result =
            calculate(perf_counter_types[n % PERF_NUM_COUNTER_TYPES].value, &points[0], &points[1]);
        const double interval = perf_interval(&points[0], &points[1]);
        if (!isfinite(result.value) || (result.none != PERF_NO_RESULT_OK && result.value != 0) || !(interval >= 0) ||
            !isfinite(interval)) {
            expect(perf_counter_types[n % PERF_NUM_COUNTER_TYPES].name, result, 0, PERF_NO_RESULT_OK);
        }
    }
}

static void test_previous_sample_is_missing(void)
{
    const perf_counter_type *rate = perf_counter_type_find(PERF_COUNTER_COUNTER);

    expect("rate", perf_calculate(rate, &now, NULL, PERF_NO_RESULT_NEW_COUNTER), 0, PERF_NO_RESULT_NEW_COUNTER);
    expect("no reason given", perf_calculate(rate, &now, NULL, PERF_NO_RESULT_OK), 0, PERF_NO_RESULT_FIRST_SAMPLE);
    expect("one sample is enough", calculate(PERF_RAW_FRACTION, &now, NULL), 1600, PERF_NO_RESULT_OK);
}

static void expect_interval(const char *what, const perf_point *second, const perf_point *first, double seconds)
{
    expect(what, (perf_result){perf_interval(second, first), PERF_NO_RESULT_OK}, seconds, PERF_NO_RESULT_OK);
}

static void test_interval(void)
{
    perf_point b = now;

    expect_interval("by frequency", &now, &before, 2);
    b.time_100ns += 5000000;
    expect_interval("by frequency, whatever the other clock says", &b, &before, 2);
    b.perf_freq = 0;
    expect_interval("by 100 ns", &b, &before, 2.5);
    b.time_100ns = before.time_100ns;
    expect_interval("no clock", &b, &before, 0);
    b = now;
    b.perf_freq = before.perf_freq + 1;
    expect_interval("by 100 ns where the frequency changed", &b, &before, 2);
    expect_interval("backwards", &before, &now, 0);
}

static void check_formula(uint32_t type, const perf_point *first, const char *expected)
{
    perf_formula_number numbers[PERF_MOST_FORMULA_NUMBERS];
    unsigned count = perf_formula_numbers(&perf_formulas[perf_counter_type_find(type)->formula], &now, first, numbers);
    char text[160] = "";

    for (unsigned i = 0; i < count; i++) {
        failures += strlen(numbers[i].name) > 7;
        sprintf(text + strlen(text), "%s=%u ", numbers[i].name, (unsigned)numbers[i].number.value);
    }
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "%s, not %s\n", text, expected);
        failures++;
    }
}

static void test_formula_numbers(void)
{
    perf_point first = before;

    for (unsigned i = 0; i < PERF_NUM_FORMULAS; i++) {
        failures += strlen(perf_formulas[i].text) +
                        PERF_MOST_FORMULA_NUMBERS * sizeof ", T1 - T0 = 18,446,744,073,709,551,615" >
                    PERF_FORMULA_SIZE;
    }
    check_formula(PERF_COUNTER_COUNTER, &first, "N1=4000 N0=1000 T1 - T0=5000000 F=2500000 ");
    check_formula(PERF_COUNTER_COUNTER, NULL, "N1=4000 F=2500000 ");
    check_formula(PERF_ELAPSED_TIME, NULL, "N1=4000 O1=13000 OF=4000 ");
    check_formula(PERF_100NSEC_MULTI_TIMER, &first, "N1=4000 N0=1000 H1 - H0=20000000 M1=4 ");
    first.perf_time = now.perf_time + 1;
    first.base.size = 0;
    check_formula(PERF_COUNTER_TIMER, &first, "N1=4000 N0=1000 ");
    check_formula(PERF_AVERAGE_BULK, &first, "N1=4000 N0=1000 B1=250 ");
}

/* No rate by a clock that is wrong; others are right. */
static void test_wrong_clock(void)
{
    perf_point first = before;

    first.is_clock_wrong = true;
    expect("rate", calculate(PERF_COUNTER_COUNTER, &now, &first), 0, PERF_NO_RESULT_CLOCKS_DIFFER);
    expect("timer", calculate(PERF_100NSEC_TIMER, &now, &first), 0, PERF_NO_RESULT_CLOCKS_DIFFER);
    expect("delta", calculate(PERF_COUNTER_DELTA, &now, &first), 3000, PERF_NO_RESULT_OK);
    expect("one sample", calculate(PERF_RAW_FRACTION, &now, &first), 1600, PERF_NO_RESULT_OK);
}

static void test_sums(void)
{
    static const char *const others[] = {"", "_Total ", "x_Total", "_Totals", "_Total/1"};
    static const char *const sums[] = {"_Total", "_Global_", "0,_Total", "WMI/_Total", "C: _Total"};

    for (size_t i = 0; i < COUNT(sums); i++) {
        if (!perf_is_sum(sums[i]) || perf_is_sum(others[i])) {
            fprintf(stderr, "%s or %s is no sum, or is one\n", sums[i], others[i]);
            failures++;
        }
    }
}

int main(void)
{
    test_every_type();
    test_worked_numbers();
    test_results_of_pdh();
    test_cases();
    test_any_numbers();
    test_previous_sample_is_missing();
    test_interval();
    test_formula_numbers();
    test_wrong_clock();
    test_sums();
    return failures != 0;
}
