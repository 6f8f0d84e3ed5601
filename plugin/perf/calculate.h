/* calculate.h
 * The calculated value of a counter, from one or two samples.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include "perf/counter-types.h"

typedef struct perf_raw {
    uint64_t value;
    uint8_t size; /* bytes on the wire, 4 or 8; 0: there is none */
} perf_raw;

/* The numbers of one sample that one value is calculated from.
 *
 * PerflibV2: BaseCounterId, PerfTimeId, PerfFreqId and MultiId ([MS-PCQ] 2.2.4.2) name the counters of base, time, freq and multi, of the same
 * instance. The clocks are in PERF_DATA_HEADER (2.2.4.8). PERF_DATA_BLOCK: the base is the next definition; time and freq (8 bytes) are PerfTime
 * and PerfFreq of PERF_OBJECT_TYPE; multi is the 32-bit number behind the timer; the clocks are in the block's header. */
typedef struct perf_point {
    perf_raw value;      /* N: the counter itself */
    perf_raw base;       /* B: its base counter */
    perf_raw time;       /* O: time of the object, in units of 1 / freq */
    perf_raw freq;       /* OF: units of `time` a second */
    perf_raw multi;      /* M: divides the result of a multi timer */
    uint64_t perf_time;  /* PerfTimeStamp, in units of 1 / perf_freq */
    uint64_t perf_freq;  /* PerfFreq, a second; 0 if not known */
    uint64_t time_100ns; /* PerfTime100NSec, since 1601 */
    bool is_clock_wrong; /* of a previous sample: perf_clocks_differ(), no time between both is known */
} perf_point;

/* Reasons for no calculated value. X(reason, number, text): the number is the value of the field pcq.cooked.none. */
#define PERF_NO_RESULT_REASONS(X) \
    X(PERF_NO_RESULT_OK, 0, "calculated") \
    X(PERF_NO_RESULT_FIRST_SAMPLE, 1, "first sample") \
    X(PERF_NO_RESULT_NEW_INSTANCE, 2, "instance is new") \
    X(PERF_NO_RESULT_NEW_COUNTER, 3, "counter is new") \
    X(PERF_NO_RESULT_NO_BASE, 4, "base counter is not there") \
    X(PERF_NO_RESULT_NO_TIME, 5, "time counter is not there") \
    X(PERF_NO_RESULT_NO_FREQ, 6, "frequency counter is not there") \
    X(PERF_NO_RESULT_NO_MULTI, 7, "multi counter is not there") \
    X(PERF_NO_RESULT_VALUE_BACKWARDS, 8, "value went backwards") \
    X(PERF_NO_RESULT_BASE_BACKWARDS, 9, "base went backwards") \
    X(PERF_NO_RESULT_SAME_TIME, 10, "time did not advance") \
    X(PERF_NO_RESULT_ZERO_DENOMINATOR, 11, "denominator is zero") \
    X(PERF_NO_RESULT_BASE_TYPE, 12, "base type, only a divisor for other counters") \
    X(PERF_NO_RESULT_NO_FORMULA, 13, "type without a calculated value") \
    X(PERF_NO_RESULT_UNKNOWN_TYPE, 14, "type unknown") \
    X(PERF_NO_RESULT_TYPE_NOT_LEARNED, 15, "type not known, it was not captured") \
    X(PERF_NO_RESULT_COUNTER_NOT_KNOWN, 16, "counter not known") \
    X(PERF_NO_RESULT_SAMPLE_DROPPED, 17, "previous sample dropped (memory limit)") \
    X(PERF_NO_RESULT_SIZE, 18, "value is neither 4 nor 8 bytes long") \
    X(PERF_NO_RESULT_NOT_STARTED, 20, "start time is later than the sample") \
    X(PERF_NO_RESULT_REPEATED, 23, "repeated answer, it is not compared with others") \
    X(PERF_NO_RESULT_MOVED, 24, "instances of this name came or went") \
    X(PERF_NO_RESULT_TOO_SHORT, 25, "value has 4 bytes, its type 8") \
    X(PERF_NO_RESULT_OVERTAKEN, 26, "a later sample was answered before this one") \
    X(PERF_NO_RESULT_BEFORE_FAILED, 27, "it had an error in the sample before") \
    X(PERF_NO_RESULT_OTHER_FREQ, 28, "the clock's frequency changed") \
    X(PERF_NO_RESULT_CLOCK_BACK, 30, "the clock was set back") \
    X(PERF_NO_RESULT_SUM_BACKWARDS, 31, "the sum went backwards, what it sums may have ended") \
    X(PERF_NO_RESULT_NO_START, 32, "not started") \
    X(PERF_NO_RESULT_NO_CLOCK, 33, "its object has no clock") \
    X(PERF_NO_RESULT_OTHER_ORIGIN, 34, "start time and clock have different zero points") \
    X(PERF_NO_RESULT_OTHER_SIZE, 36, "value or base had another size in the sample before") \
    X(PERF_NO_RESULT_CLOCKS_DIFFER, 38, "the clocks of both samples contradict each other") \
    X(PERF_NO_RESULT_NOT_COMPARABLE, 40, "cannot be compared with the sample before")

#define PERF_NO_RESULT_ENUM(reason, number, text) reason = number,
typedef enum perf_no_result { PERF_NO_RESULT_REASONS(PERF_NO_RESULT_ENUM) } perf_no_result;

typedef struct perf_result {
    double value; /* finite; 0 unless none is PERF_NO_RESULT_OK */
    perf_no_result none;
} perf_result;

/* Returns the value of `current` by the formula of `type` (NULL: PERF_NO_RESULT_UNKNOWN_TYPE). `why_no_previous`: the reason if the formula needs
 * two samples and `previous` is NULL. Percentages are not capped, and those of the inverse types may be negative. */
perf_result perf_calculate(const perf_counter_type *type, const perf_point *current, const perf_point *previous,
                           perf_no_result why_no_previous);

/* A number that the text of a formula names, like "H1 - H0". */
typedef struct {
    const char *name;
    perf_raw number;
} perf_formula_number;

#define PERF_MOST_FORMULA_NUMBERS 11
#define PERF_FORMULA_SIZE 600 /* bytes of a formula with all its numbers, as text */

/* Finds the numbers that the text of a formula names, as far as they are there. `previous`: NULL: there is none. Returns how many. */
unsigned perf_formula_numbers(const perf_formula_info *formula, const perf_point *now, const perf_point *previous,
                              perf_formula_number found[PERF_MOST_FORMULA_NUMBERS]);

/* True if a name's last part is "_Total" or "_Global_", as in "0,_Total" and "WMI/_Total": its value decreases when an instance of it ends. NULL: no name. */
bool perf_is_sum(const char *instance);

/* True if the counter, or its base, was reset. */
static inline bool perf_is_reset(perf_no_result none)
{
    return none == PERF_NO_RESULT_VALUE_BACKWARDS || none == PERF_NO_RESULT_BASE_BACKWARDS;
}

/* True if there is no result because the counter or its type is not known. */
static inline bool perf_is_untyped(perf_no_result none)
{
    return none == PERF_NO_RESULT_COUNTER_NOT_KNOWN || none == PERF_NO_RESULT_TYPE_NOT_LEARNED;
}

/* Returns seconds between two samples by the server's clock, by its 100 ns time if the frequency is 0 or changed; 0: not known, not advanced. */
double perf_interval(const perf_point *current, const perf_point *previous);

/* True if performance clock and 100 ns time advanced by different times between two samples: one of them is wrong, or was set. Up to 0.1 s
 * and 1 % is no difference: they are read one after the other, and one is slewed. */
bool perf_clocks_differ(const perf_point *current, const perf_point *previous);
