/* fuzz_calculate.c
 * The arithmetic, with any type and any two samples: a result is finite, or there is a reason why there is none; and
 * where a formula is simple enough to be written down again, it is that formula's.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/calculate.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static perf_raw raw_of(const uint8_t *at, uint8_t sizes)
{
    static const uint8_t widths[] = {8, 4, 8, 4, 0, 8, 8, 3};
    perf_raw raw = {0, widths[sizes & 7]};

    memcpy(&raw.value, at, raw.size == 4 ? 4 : 8);
    return raw;
}

/* 9 bytes for each of five operands, 8 for each clock. */
#define POINT_SIZE (5 * 9 + 3 * 8)

static perf_point point_of(const uint8_t *at)
{
    perf_point point;

    point.value = raw_of(at + 1, at[0]);
    point.base = raw_of(at + 10, at[9]);
    point.time = raw_of(at + 19, at[18]);
    point.freq = raw_of(at + 28, at[27]);
    point.multi = raw_of(at + 37, at[36]);
    memcpy(&point.perf_time, at + 45, 8);
    memcpy(&point.perf_freq, at + 53, 8);
    memcpy(&point.time_100ns, at + 61, 8);
    return point;
}

static bool close_to(double a, long double b)
{
    return fabsl((long double)a - b) <= 1e-9L * (fabsl(b) + 1);
}

/* (N1 - N0) / ((D1 - D0) / F), a rate in clock ticks, which is the commonest formula. */
static void check_rate(const perf_result *result, const perf_point *now, const perf_point *before)
{
    bool narrow = now->value.size == 4 && before->value.size == 4;
    uint64_t counted =
        narrow ? (uint32_t)(now->value.value - before->value.value) : now->value.value - before->value.value;

    assert(narrow || now->value.value >= before->value.value);
    assert(now->perf_time > before->perf_time && now->perf_freq != 0);
    assert(close_to(result->value, (long double)counted * (long double)now->perf_freq /
                                       (long double)(now->perf_time - before->perf_time)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 + 2 * POINT_SIZE) {
        return 0;
    }
    const perf_counter_type *type =
        data[0] < PERF_NUM_COUNTER_TYPES ? &perf_counter_types[data[0]] : perf_counter_type_find(data[0]);
    perf_point now = point_of(data + 2), before = point_of(data + 2 + POINT_SIZE);
    bool first = data[1] & 1;
    perf_result result = perf_calculate(type, &now, first ? NULL : &before, PERF_NO_RESULT_NEW_INSTANCE);
    double interval = perf_interval(&now, first ? NULL : &before);

    assert(isfinite(result.value) && isfinite(interval) && interval >= 0);
    assert(result.none == PERF_NO_RESULT_OK || result.value == 0);
    if (result.none == PERF_NO_RESULT_OK && type->formula == PERF_FORMULA_RATE) {
        check_rate(&result, &now, &before);
    }
    return 0;
}
