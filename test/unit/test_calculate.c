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

static bool near(double value, double expected)
{
    return isfinite(value) && fabs(value - expected) <= 1e-12 * fabs(expected);
}

static void expect_value(const char *what, perf_result result, double expected)
{
    if (result.none == PERF_NO_RESULT_OK && near(result.value, expected)) {
        return;
    }
    fprintf(stderr, "%s: %.17g (reason %d), expected %.17g\n", what, result.value, result.none, expected);
    failures++;
}

static void expect_none(const char *what, perf_result result, perf_no_result expected)
{
    if (result.none == expected && result.value == 0) {
        return;
    }
    fprintf(stderr, "%s: reason %d (%.17g), expected %d\n", what, result.none, result.value, expected);
    failures++;
}

static void expect_seconds(const char *what, double value, double expected)
{
    if (near(value, expected)) {
        return;
    }
    fprintf(stderr, "%s: %.17g s, expected %.17g s\n", what, value, expected);
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
        expect_value(perf_counter_type_find(expected_values[i].type)->name,
                     calculate(expected_values[i].type, &now, &before), expected_values[i].value);
    }
    for (size_t i = 0; i < PERF_NUM_COUNTER_TYPES; i++) {
        const perf_counter_type *type = &perf_counter_types[i];
        if (type->formula == PERF_FORMULA_NONE) {
            expect_none(type->name, calculate(type->value, &now, &before),
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

    expect_value("Process, Elapsed Time", calculate(PERF_ELAPSED_TIME, &process, NULL), 924313.3728294);
    if (fabs(utility.value - 77.4196) > 0.00005) {
        expect_value("% Processor Utility", utility, 77.4196);
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
    uint32_t type;
    uint8_t size, base_size;
    uint64_t values[NUM_SAMPLES], bases[NUM_SAMPLES];
    double results[NUM_SAMPLES];
} pdh_series[] = {
    {PERF_COUNTER_BULK_COUNT,
     8,
     0,
     {3983296633, 3983303676, 3983314201, 3983322974, 3983371936, 3983377916},
     {0},
     {0, 2345.3290343446924, 3505.2011748142254, 2918.2438433876423, 0, 1989.6882141800579}},
    {PERF_100NSEC_TIMER_INV,
     8,
     0,
     {4903144765625, 4903168515625, 4903194531250, 4903220039062, 4903348789062, 4903374179687},
     {0},
     {0, 20.913042441624498, 13.35574384330166, 15.154158426528463, 0, 15.520197944712578}},
    {PERF_RAW_FRACTION,
     4,
     4,
     {3733930794, 3733121724, 3734059805, 3733428750, 3733218732, 3732330655},
     {4294967295, 4294967295, 4294967295, 4294967295, 4294967295, 4294967295},
     {0, 86.918513403953639, 86.940354804261659, 86.925661910075149, 0, 86.900094893504885}},
    {PERF_COUNTER_COUNTER,
     4,
     0,
     {574088259, 574088260, 574088283, 574088288, 574088350, 574088354},
     {0},
     {0, 0.33300142472592542, 7.659822044724673, 1.6631960808090975, 0, 1.3308951265418449}},
    {PERF_PRECISION_100NS_TIMER,
     8,
     8,
     {554043229430, 554043324478, 554045094451, 554046825944, 554055367295, 554055428184},
     {131246703908743382, 131246703938773618, 131246703968799411, 131246703998863126, 131246704149124770,
      131246704179180031},
     {0, 0.31650766913719891, 5.894841811505195, 5.7594113036263144, 0, 0.20259015551387158}},
};

static perf_point pdh_point(size_t counter, size_t sample)
{
    return (perf_point){.value = {pdh_series[counter].values[sample], pdh_series[counter].size},
                        .base = {pdh_series[counter].bases[sample], pdh_series[counter].base_size},
                        .perf_time = pdh_samples[sample].perf_time,
                        .perf_freq = 2630633,
                        .time_100ns = pdh_samples[sample].time_100ns};
}

static void test_results_of_pdh(void)
{
    for (size_t i = 0; i < COUNT(pdh_series); i++) {
        for (size_t n = 1; n < NUM_SAMPLES; n++) {
            const perf_point second = pdh_point(i, n), first = pdh_point(i, n - 1);
            const perf_result result = calculate(pdh_series[i].type, &second, &first);
            const double expected = pdh_series[i].results[n];
            if (expected > 0 && (result.none != PERF_NO_RESULT_OK || result.value != expected)) {
                expect_value(perf_counter_type_find(pdh_series[i].type)->name, result, expected);
                failures++;
            }
        }
    }
}

static void test_previous_sample_is_missing(void)
{
    const perf_counter_type *rate = perf_counter_type_find(PERF_COUNTER_COUNTER);
    perf_point empty = before;

    expect_none("rate", perf_calculate(rate, &now, NULL, PERF_NO_RESULT_NEW_COUNTER), PERF_NO_RESULT_NEW_COUNTER);
    expect_none("no reason given", perf_calculate(rate, &now, NULL, PERF_NO_RESULT_OK), PERF_NO_RESULT_FIRST_SAMPLE);
    empty.value.size = 0;
    expect_none("value was not there", calculate(PERF_COUNTER_COUNTER, &now, &empty), PERF_NO_RESULT_OTHER_SIZE);
}

static void test_operands_are_missing(void)
{
    perf_point bare = now;
    perf_point bare_before = before;

    bare.base.size = bare.time.size = bare.freq.size = bare.multi.size = 0;
    expect_none("average", calculate(PERF_AVERAGE_BULK, &bare, &before), PERF_NO_RESULT_NO_BASE);
    expect_none("fraction", calculate(PERF_RAW_FRACTION, &bare, NULL), PERF_NO_RESULT_NO_BASE);
    expect_none("precision object", calculate(PERF_PRECISION_OBJECT_TIMER, &bare, &before), PERF_NO_RESULT_NO_BASE);
    expect_none("object timer", calculate(PERF_OBJ_TIME_TIMER, &bare, &before), PERF_NO_RESULT_NO_TIME);
    expect_none("elapsed", calculate(PERF_ELAPSED_TIME, &bare, NULL), PERF_NO_RESULT_NO_TIME);
    expect_none("multi", calculate(PERF_COUNTER_MULTI_TIMER, &bare, &before), PERF_NO_RESULT_NO_MULTI);
    expect_value("others don't care", calculate(PERF_COUNTER_COUNTER, &bare, &before), 1500);

    bare.time.size = 8;
    expect_none("elapsed without frequency", calculate(PERF_ELAPSED_TIME, &bare, NULL), PERF_NO_RESULT_NO_FREQ);
    expect_value("precision by time", calculate(PERF_PRECISION_OBJECT_TIMER, &bare, &before), 37.5);

    bare_before.base.size = bare_before.time.size = 0;
    expect_none("base before", calculate(PERF_AVERAGE_BULK, &now, &bare_before), PERF_NO_RESULT_NO_BASE);
    expect_none("time before", calculate(PERF_OBJ_TIME_TIMER, &now, &bare_before), PERF_NO_RESULT_NO_TIME);
}

static perf_result delta(uint64_t second, uint8_t size, uint64_t first, uint8_t first_size)
{
    perf_point a = before;
    perf_point b = now;

    a.value = (perf_raw){first, first_size};
    b.value = (perf_raw){second, size};
    return calculate(PERF_COUNTER_DELTA, &b, &a);
}

static void test_four_bytes_wrap(void)
{
    perf_point a = before;
    perf_point b = now;

    expect_value("value", delta(10, 4, 0xFFFFFFF6, 4), 20);
    expect_value("by less than half", delta(0x7FFFFFFE, 4, 0xFFFFFFFF, 4), 2147483647.0);
    expect_none("by half", delta(0x7FFFFFFF, 4, 0xFFFFFFFF, 4), PERF_NO_RESULT_VALUE_BACKWARDS);
    expect_none("by half without a wrap", delta(0x80000000, 4, 0, 4), PERF_NO_RESULT_VALUE_BACKWARDS);
    expect_none("began again", delta(10, 4, 5000100, 4), PERF_NO_RESULT_VALUE_BACKWARDS);
    expect_value("nothing", delta(7, 4, 7, 4), 0);
    expect_none("8 bytes don't", delta(4, 8, 5, 8), PERF_NO_RESULT_VALUE_BACKWARDS);
    expect_none("4 after 8 are another number", delta(6, 4, 5, 8), PERF_NO_RESULT_OTHER_SIZE);
    expect_none("8 after 4", delta(UINT64_C(0x100000000), 8, 0xFFFFFFFF, 4), PERF_NO_RESULT_OTHER_SIZE);

    a.base.value = 0xFFFFFFF0;
    b.base.value = 0x10;
    expect_value("base", calculate(PERF_AVERAGE_BULK, &b, &a), 3000.0 / 32);
    b.base.value = 0xFFFFFFE0;
    expect_none("base began again", calculate(PERF_AVERAGE_BULK, &b, &a), PERF_NO_RESULT_BASE_BACKWARDS);
    b.base.value = 0x10;
    a.base.size = b.base.size = 8;
    expect_none("base of 8 bytes", calculate(PERF_AVERAGE_BULK, &b, &a), PERF_NO_RESULT_BASE_BACKWARDS);

    a.time = (perf_raw){0xFFFFFF00, 4};
    b.time = (perf_raw){0x100, 4};
    expect_value("time counter", calculate(PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, &b, &a), 3000.0 / 512);
    a.time.size = b.time.size = 8;
    expect_none("time counter of 8 bytes", calculate(PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, &b, &a),
                PERF_NO_RESULT_CLOCK_BACK);
}

/* A double holds 53 bits: differences have to be taken before. */
static void test_large_values(void)
{
    perf_point a = before;
    perf_point b = now;

    expect_value("all of 64 bits", delta(UINT64_MAX, 8, 0, 8), 18446744073709551615.0);
    expect_value("the last of 64 bits", delta(UINT64_MAX, 8, UINT64_MAX - 1, 8), 1);
    a.value.value = UINT64_MAX - 30;
    b.value.value = UINT64_MAX;
    a.base = (perf_raw){UINT64_MAX - 4, 8};
    b.base = (perf_raw){UINT64_MAX - 1, 8};
    expect_value("small quotient of large values", calculate(PERF_AVERAGE_BULK, &b, &a), 10);
    a.perf_time = UINT64_MAX - 2500000;
    b.perf_time = UINT64_MAX;
    expect_value("late time", calculate(PERF_COUNTER_BULK_COUNT, &b, &a), 30);
    expect_value("raw", calculate(PERF_COUNTER_LARGE_RAWCOUNT, &b, NULL), 18446744073709551615.0);
}

static void test_backwards(void)
{
    perf_point b = now;

    b.value.value = 999;
    expect_none("rate", calculate(PERF_COUNTER_BULK_COUNT, &b, &before), PERF_NO_RESULT_VALUE_BACKWARDS);
    b.value.value = 13000;
    expect_value("started with the sample", calculate(PERF_ELAPSED_TIME, &b, NULL), 0);
    b.value.value = 13001;
    expect_none("started after the sample", calculate(PERF_ELAPSED_TIME, &b, NULL), PERF_NO_RESULT_NOT_STARTED);
    b.value.value = 0;
    expect_none("not started", calculate(PERF_ELAPSED_TIME, &b, NULL), PERF_NO_RESULT_NO_START);
    b.value.value = b.time_100ns;
    expect_none("by a clock of another origin", calculate(PERF_ELAPSED_TIME, &b, NULL), PERF_NO_RESULT_OTHER_ORIGIN);
    b.value.value = b.time_100ns + 1;
    expect_none("started after the sample", calculate(PERF_ELAPSED_TIME, &b, NULL), PERF_NO_RESULT_NOT_STARTED);
    b.time = b.value;
    b.value.value = 13001;
    expect_none("a start of another origin", calculate(PERF_ELAPSED_TIME, &b, NULL), PERF_NO_RESULT_OTHER_ORIGIN);
}

static void test_time_stands_still(void)
{
    perf_point b = now;

    b.perf_time = before.perf_time;
    expect_none("ticks", calculate(PERF_COUNTER_TIMER, &b, &before), PERF_NO_RESULT_SAME_TIME);
    b.perf_time--;
    expect_none("ticks backwards", calculate(PERF_COUNTER_TIMER, &b, &before), PERF_NO_RESULT_CLOCK_BACK);

    b.perf_time = before.perf_time;
    expect_value("no time in the formula, one clock goes on", calculate(PERF_AVERAGE_BULK, &b, &before), 20);

    b = now;
    b.time_100ns = before.time_100ns;
    expect_none("100 ns", calculate(PERF_100NSEC_TIMER, &b, &before), PERF_NO_RESULT_SAME_TIME);
    expect_value("another clock", calculate(PERF_COUNTER_TIMER, &b, &before), 0.06);
    expect_value("no difference", calculate(PERF_RAW_FRACTION, &now, &now), 1600);

    b.time.value = before.time.value;
    expect_none("object", calculate(PERF_OBJ_TIME_TIMER, &b, &before), PERF_NO_RESULT_SAME_TIME);

    b.perf_time = before.perf_time;
    expect_none("one moment, no time in the formula", calculate(PERF_AVERAGE_BULK, &b, &before),
                PERF_NO_RESULT_SAME_TIME);
}

static void test_denominator_is_zero(void)
{
    perf_point b = now, a = before;

    b.base.value = before.base.value;
    b.multi.value = 0;
    b.freq.value = 0;
    b.perf_freq = a.perf_freq = 0;
    expect_none("average", calculate(PERF_AVERAGE_BULK, &b, &before), PERF_NO_RESULT_ZERO_DENOMINATOR);
    expect_none("multi", calculate(PERF_100NSEC_MULTI_TIMER_INV, &b, &a), PERF_NO_RESULT_ZERO_DENOMINATOR);
    expect_none("elapsed", calculate(PERF_ELAPSED_TIME, &b, NULL), PERF_NO_RESULT_ZERO_DENOMINATOR);
    expect_none("rate without frequency", calculate(PERF_COUNTER_COUNTER, &b, &a), PERF_NO_RESULT_ZERO_DENOMINATOR);
    expect_value("timer needs none", calculate(PERF_COUNTER_TIMER, &b, &a), 0.06);
    b.base.value = 101;
    expect_none("average timer", calculate(PERF_AVERAGE_TIMER, &b, &a), PERF_NO_RESULT_ZERO_DENOMINATOR);
    b.base.value = 0;
    expect_none("fraction", calculate(PERF_RAW_FRACTION, &b, NULL), PERF_NO_RESULT_ZERO_DENOMINATOR);
}

static void test_frequency_changes(void)
{
    perf_point b = now;

    b.perf_freq = 10000000;
    expect_none("rate", calculate(PERF_COUNTER_COUNTER, &b, &before), PERF_NO_RESULT_OTHER_FREQ);
    expect_none("timer", calculate(PERF_COUNTER_TIMER, &b, &before), PERF_NO_RESULT_OTHER_FREQ);
    expect_none("average timer", calculate(PERF_AVERAGE_TIMER, &b, &before), PERF_NO_RESULT_OTHER_FREQ);
    expect_value("a difference needs none", calculate(PERF_COUNTER_DELTA, &b, &before), 3000);
    b.perf_freq = 0;
    expect_none("timer without one", calculate(PERF_COUNTER_TIMER, &b, &before), PERF_NO_RESULT_OTHER_FREQ);
}

static void test_percentages_are_not_capped(void)
{
    perf_point b = now;

    b.value.value = before.value.value + 50000000;
    expect_value("ten processors", calculate(PERF_COUNTER_TIMER, &b, &before), 1000);
    expect_value("inverse", calculate(PERF_COUNTER_TIMER_INV, &b, &before), -900);
    expect_value("by instances", calculate(PERF_COUNTER_MULTI_TIMER_INV, &b, &before), -150);
}

static void test_sizes(void)
{
    perf_point b = now;

    expect_none("type unknown", calculate(0x12345678, &b, &before), PERF_NO_RESULT_UNKNOWN_TYPE);
    b.value.size = 0;
    expect_none("no value", calculate(PERF_COUNTER_RAWCOUNT, &b, NULL), PERF_NO_RESULT_SIZE);
    expect_value("type says 4, wire says 8", delta(UINT64_C(0x200000000), 8, 1, 8), 8589934591.0);
}

static void test_interval(void)
{
    perf_point b = now;

    expect_seconds("by frequency", perf_interval(&now, &before), 2);
    b.time_100ns += 5000000;
    expect_seconds("by frequency, whatever the other clock says", perf_interval(&b, &before), 2);
    b.perf_freq = 0;
    expect_seconds("by 100 ns", perf_interval(&b, &before), 2.5);
    b.time_100ns = before.time_100ns;
    expect_seconds("no clock", perf_interval(&b, &before), 0);
    b = now;
    b.perf_freq = before.perf_freq + 1;
    expect_seconds("by 100 ns where the frequency changed", perf_interval(&b, &before), 2);
    expect_seconds("backwards", perf_interval(&before, &now), 0);
    expect_seconds("no sample", perf_interval(&now, NULL), 0);
}

int main(void)
{
    test_every_type();
    test_worked_numbers();
    test_results_of_pdh();
    test_previous_sample_is_missing();
    test_operands_are_missing();
    test_four_bytes_wrap();
    test_large_values();
    test_backwards();
    test_time_stands_still();
    test_denominator_is_zero();
    test_frequency_changes();
    test_percentages_are_not_capped();
    test_sizes();
    test_interval();
    return failures != 0;
}
