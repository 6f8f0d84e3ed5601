/* counter-types.h
 * Counter types: names, bit fields, formulas and units; codes by which types and names are asked for.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RequestCode ([MS-PCQ] 3.1.4.1.2): number, SDK name without PERF_REG_, which says what the buffer holds. */
#define PCQ_REQUEST_CODES(X) \
    X(1, COUNTERSET_STRUCT) \
    X(2, COUNTER_STRUCT) \
    X(3, COUNTERSET_NAME_STRING) \
    X(4, COUNTERSET_HELP_STRING) \
    X(5, COUNTER_NAME_STRINGS) \
    X(6, COUNTER_HELP_STRINGS) \
    X(7, PROVIDER_NAME) \
    X(8, PROVIDER_GUID) \
    X(9, COUNTERSET_ENGLISH_NAME) \
    X(10, COUNTER_ENGLISH_NAMES)

#define PCQ_REQUEST_CODE_ENUM(value, name) PERF_REG_##name = value,

typedef enum { PCQ_REQUEST_CODES(PCQ_REQUEST_CODE_ENUM) PERF_REG_UNKNOWN = 0 } pcq_request_code;

/* Bits of a type. X(value, name, meaning): the value is shifted down, as a bit mask field of a tree shows it. */
#define PERF_SIZE_MASK 0x00000300u
#define PERF_SIZE_LARGE 0x00000100u
#define PERF_KIND_MASK 0x00000C00u
#define PERF_SUBTYPE_MASK 0x000F0000u
#define PERF_TIMER_MASK 0x00300000u
#define PERF_OBJECT_TIMER 0x00200000u
#define PERF_DELTA_COUNTER 0x00400000u
#define PERF_DELTA_BASE 0x00800000u
#define PERF_INVERSE 0x01000000u
#define PERF_MULTI 0x02000000u
#define PERF_DISPLAY_MASK 0xF0000000u

#define PERF_SIZES(X) \
    X(0, "PERF_SIZE_DWORD", "4 bytes") \
    X(1, "PERF_SIZE_LARGE", "8 bytes") \
    X(2, "PERF_SIZE_ZERO", "no data") \
    X(3, "PERF_SIZE_VARIABLE_LEN", "variable length")

#define PERF_KINDS(X) \
    X(0, "PERF_TYPE_NUMBER", "a number that is no counter") \
    X(1, "PERF_TYPE_COUNTER", "an increasing value") \
    X(2, "PERF_TYPE_TEXT", "text") \
    X(3, "PERF_TYPE_ZERO", "always zero")

#define PERF_TIMERS(X) \
    X(0, "PERF_TIMER_TICK", "system performance time") \
    X(1, "PERF_TIMER_100NS", "100 ns") \
    X(2, "PERF_OBJECT_TIMER", "time of the object")

#define PERF_DISPLAYS(X) \
    X(0, "PERF_DISPLAY_NO_SUFFIX", "no unit") \
    X(1, "PERF_DISPLAY_PER_SEC", "/sec") \
    X(2, "PERF_DISPLAY_PERCENT", "%") \
    X(3, "PERF_DISPLAY_SECONDS", "sec") \
    X(4, "PERF_DISPLAY_NOSHOW", "not shown")

/* Bits of PERF_TYPE_TEXT and PERF_TEXT_ASCII, not shifted down. */
#define PERF_TEXT_KIND 0x00000800u
#define PERF_TEXT_IN_CODE_PAGE 0x00010000u

/* True if the type is text: of any size, in Unicode or a code page, with no bit that only numbers have. */
static inline bool perf_counter_type_is_text(uint32_t type)
{
    return (type & ~(PERF_SIZE_MASK | PERF_TEXT_IN_CODE_PAGE)) == PERF_TEXT_KIND;
}

/* True if the type is only an operand of other counters: PERF_TYPE_COUNTER, PERF_COUNTER_BASE. */
static inline bool perf_counter_type_is_base(uint32_t type)
{
    return (type & (PERF_KIND_MASK | PERF_SUBTYPE_MASK)) == 0x00030400;
}

/* Formulas.
 *
 * Sample 1 is the one being shown, sample 0 the one before it:
 *   N value   B base counter   M multi counter   T performance time, F its frequency   H time in 100 ns
 *   O time of the object, OF its frequency: counters in PerflibV2, PerfTime and PerfFreq of the object in PERF_DATA_BLOCK
 *
 * All are factor * numerator / denominator. The numerator is N1 - N0, or N1 where one sample is enough; the denominator is one operand, treated
 * alike. The flags tell what is needed beyond N and where that pattern is left. */
typedef enum perf_operand {
    PERF_OPERAND_VALUE,       /* N; no formula divides by it: there is no denominator */
    PERF_OPERAND_TICKS,       /* T */
    PERF_OPERAND_100NS,       /* H */
    PERF_OPERAND_TIME,        /* O */
    PERF_OPERAND_FREQ,        /* OF */
    PERF_OPERAND_BASE,        /* B */
    PERF_OPERAND_BASE_OR_TIME /* B, or O where there is no base counter */
} perf_operand;

enum {
    PERF_NEEDS_PREVIOUS = 0x01, /* two samples */
    PERF_NEEDS_BASE = 0x02,     /* base counter */
    PERF_NEEDS_TIME = 0x04,     /* time counter */
    PERF_NEEDS_FREQ = 0x08,     /* frequency counter */
    PERF_NEEDS_MULTI = 0x10,    /* multi counter, divides the result */
    PERF_RATE = 0x20,           /* denominator is divided by F */
    PERF_TICKS = 0x40,          /* numerator is divided by F */
    PERF_SINCE = 0x80,          /* numerator is O1 - N1 */
    PERF_COMPLEMENT = 0x100     /* 1 - quotient */
};

#define PERF_NEEDS_BASE_OR_TIME (PERF_NEEDS_BASE | PERF_NEEDS_TIME) /* base counter, or time counter without it */

/* X(formula, factor, denominator, flags, text) */
#define PERF_FORMULAS(X) \
    X(PERF_FORMULA_NONE, 0, PERF_OPERAND_VALUE, 0, "") \
    X(PERF_FORMULA_RAW, 1, PERF_OPERAND_VALUE, 0, "N1") \
    X(PERF_FORMULA_DELTA, 1, PERF_OPERAND_VALUE, PERF_NEEDS_PREVIOUS, "N1 - N0") \
    X(PERF_FORMULA_RATE, 1, PERF_OPERAND_TICKS, PERF_NEEDS_PREVIOUS | PERF_RATE, "(N1 - N0) / ((T1 - T0) / F)") \
    X(PERF_FORMULA_QUEUE, 1, PERF_OPERAND_TICKS, PERF_NEEDS_PREVIOUS, "(N1 - N0) / (T1 - T0)") \
    X(PERF_FORMULA_QUEUE_100NS, 1, PERF_OPERAND_100NS, PERF_NEEDS_PREVIOUS, "(N1 - N0) / (H1 - H0)") \
    X(PERF_FORMULA_QUEUE_OBJECT, 1, PERF_OPERAND_TIME, PERF_NEEDS_PREVIOUS | PERF_NEEDS_TIME, "(N1 - N0) / (O1 - O0)") \
    X(PERF_FORMULA_TIMER, 100, PERF_OPERAND_TICKS, PERF_NEEDS_PREVIOUS, "100 * (N1 - N0) / (T1 - T0)") \
    X(PERF_FORMULA_TIMER_100NS, 100, PERF_OPERAND_100NS, PERF_NEEDS_PREVIOUS, "100 * (N1 - N0) / (H1 - H0)") \
    X(PERF_FORMULA_TIMER_OBJECT, 100, PERF_OPERAND_TIME, PERF_NEEDS_PREVIOUS | PERF_NEEDS_TIME, \
      "100 * (N1 - N0) / (O1 - O0)") \
    X(PERF_FORMULA_TIMER_INV, 100, PERF_OPERAND_TICKS, PERF_NEEDS_PREVIOUS | PERF_COMPLEMENT, \
      "100 * (1 - (N1 - N0) / (T1 - T0))") \
    X(PERF_FORMULA_TIMER_100NS_INV, 100, PERF_OPERAND_100NS, PERF_NEEDS_PREVIOUS | PERF_COMPLEMENT, \
      "100 * (1 - (N1 - N0) / (H1 - H0))") \
    X(PERF_FORMULA_PERCENT, 100, PERF_OPERAND_BASE, PERF_NEEDS_PREVIOUS | PERF_NEEDS_BASE, \
      "100 * (N1 - N0) / (B1 - B0)") \
    X(PERF_FORMULA_PERCENT_OBJECT, 100, PERF_OPERAND_BASE_OR_TIME, PERF_NEEDS_PREVIOUS | PERF_NEEDS_BASE_OR_TIME, \
      "100 * (N1 - N0) / (B1 - B0), or / (O1 - O0) without a base counter") \
    X(PERF_FORMULA_FRACTION, 100, PERF_OPERAND_BASE, PERF_NEEDS_BASE, "100 * N1 / B1") \
    X(PERF_FORMULA_AVERAGE, 1, PERF_OPERAND_BASE, PERF_NEEDS_PREVIOUS | PERF_NEEDS_BASE, "(N1 - N0) / (B1 - B0)") \
    X(PERF_FORMULA_AVERAGE_TIME, 1, PERF_OPERAND_BASE, PERF_NEEDS_PREVIOUS | PERF_NEEDS_BASE | PERF_TICKS, \
      "((N1 - N0) / F) / (B1 - B0)") \
    X(PERF_FORMULA_ELAPSED, 1, PERF_OPERAND_FREQ, PERF_NEEDS_TIME | PERF_NEEDS_FREQ | PERF_SINCE, "(O1 - N1) / OF") \
    X(PERF_FORMULA_MULTI, 100, PERF_OPERAND_TICKS, PERF_NEEDS_PREVIOUS | PERF_NEEDS_MULTI, \
      "100 * ((N1 - N0) / (T1 - T0)) / M1") \
    X(PERF_FORMULA_MULTI_100NS, 100, PERF_OPERAND_100NS, PERF_NEEDS_PREVIOUS | PERF_NEEDS_MULTI, \
      "100 * ((N1 - N0) / (H1 - H0)) / M1") \
    X(PERF_FORMULA_MULTI_INV, 100, PERF_OPERAND_TICKS, PERF_NEEDS_PREVIOUS | PERF_NEEDS_MULTI | PERF_COMPLEMENT, \
      "100 * (1 - ((N1 - N0) / (T1 - T0)) / M1)") \
    X(PERF_FORMULA_MULTI_100NS_INV, 100, PERF_OPERAND_100NS, PERF_NEEDS_PREVIOUS | PERF_NEEDS_MULTI | PERF_COMPLEMENT, \
      "100 * (1 - ((N1 - N0) / (H1 - H0)) / M1)")

#define PERF_FORMULA_ENUM(formula, factor, denominator, flags, text) formula,
typedef enum perf_formula { PERF_FORMULAS(PERF_FORMULA_ENUM) PERF_NUM_FORMULAS } perf_formula;

typedef struct perf_formula_info {
    const char *text; /* as shown to the reader; "": nothing is calculated */
    double factor;
    perf_operand denominator;
    unsigned flags; /* PERF_NEEDS_... and the ways of the numerator */
} perf_formula_info;

/* All formulas, by their number. */
extern const perf_formula_info perf_formulas[PERF_NUM_FORMULAS];

/* --- Types, in the order of their values. ------------------------------------------------------------------------- */

#define PERF_NOTE_MULTI "by the NT Resource Kit's form; later documents differ and no use of it is known"

#define PERF_COUNTER_TYPE(X, value, type, ...) X(value, #type, __VA_ARGS__, type)

/* The types of [MS-PCQ] 2.2.4.2 and those that only winperf.h has. X(value, name, formula, unit, note, constant) */
#define PERF_COUNTER_TYPES(X) \
    PERF_COUNTER_TYPE(X, 0x00000000, PERF_COUNTER_RAWCOUNT_HEX, RAW, "", "") \
    PERF_COUNTER_TYPE(X, 0x00000100, PERF_COUNTER_LARGE_RAWCOUNT_HEX, RAW, "", "") \
    PERF_COUNTER_TYPE(X, 0x00000B00, PERF_COUNTER_TEXT, NONE, "", "") \
    PERF_COUNTER_TYPE(X, 0x00010000, PERF_COUNTER_RAWCOUNT, RAW, "", "") \
    PERF_COUNTER_TYPE(X, 0x00010100, PERF_COUNTER_LARGE_RAWCOUNT, RAW, "", "") \
    PERF_COUNTER_TYPE(X, 0x00012000, PERF_DOUBLE_RAW, NONE, "", "only in PDH log files") \
    PERF_COUNTER_TYPE(X, 0x00400400, PERF_COUNTER_DELTA, DELTA, "", "") \
    PERF_COUNTER_TYPE(X, 0x00400500, PERF_COUNTER_LARGE_DELTA, DELTA, "", "") \
    PERF_COUNTER_TYPE(X, 0x00410400, PERF_SAMPLE_COUNTER, RATE, "", "") \
    PERF_COUNTER_TYPE(X, 0x00450400, PERF_COUNTER_QUEUELEN_TYPE, QUEUE, "", "") \
    PERF_COUNTER_TYPE(X, 0x00450500, PERF_COUNTER_LARGE_QUEUELEN_TYPE, QUEUE, "", "") \
    PERF_COUNTER_TYPE(X, 0x00550500, PERF_COUNTER_100NS_QUEUELEN_TYPE, QUEUE_100NS, "", "") \
    PERF_COUNTER_TYPE(X, 0x00650500, PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE, QUEUE_OBJECT, "", "") \
    PERF_COUNTER_TYPE(X, 0x10410400, PERF_COUNTER_COUNTER, RATE, "/sec", "") \
    PERF_COUNTER_TYPE(X, 0x10410500, PERF_COUNTER_BULK_COUNT, RATE, "/sec", "") \
    PERF_COUNTER_TYPE(X, 0x20020400, PERF_RAW_FRACTION, FRACTION, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20020500, PERF_LARGE_RAW_FRACTION, FRACTION, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20410500, PERF_COUNTER_TIMER, TIMER, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20470500, PERF_PRECISION_SYSTEM_TIMER, PERCENT, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20510500, PERF_100NSEC_TIMER, TIMER_100NS, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20570500, PERF_PRECISION_100NS_TIMER, PERCENT, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20610500, PERF_OBJ_TIME_TIMER, TIMER_OBJECT, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20670500, PERF_PRECISION_OBJECT_TIMER, PERCENT_OBJECT, "%", "") \
    PERF_COUNTER_TYPE(X, 0x20C20400, PERF_SAMPLE_FRACTION, PERCENT, "%", "") \
    PERF_COUNTER_TYPE(X, 0x21410500, PERF_COUNTER_TIMER_INV, TIMER_INV, "%", "") \
    PERF_COUNTER_TYPE(X, 0x21510500, PERF_100NSEC_TIMER_INV, TIMER_100NS_INV, "%", "") \
    PERF_COUNTER_TYPE(X, 0x22410500, PERF_COUNTER_MULTI_TIMER, MULTI, "%", PERF_NOTE_MULTI) \
    PERF_COUNTER_TYPE(X, 0x22510500, PERF_100NSEC_MULTI_TIMER, MULTI_100NS, "%", PERF_NOTE_MULTI) \
    PERF_COUNTER_TYPE(X, 0x23410500, PERF_COUNTER_MULTI_TIMER_INV, MULTI_INV, "%", PERF_NOTE_MULTI) \
    PERF_COUNTER_TYPE(X, 0x23510500, PERF_100NSEC_MULTI_TIMER_INV, MULTI_100NS_INV, "%", PERF_NOTE_MULTI) \
    PERF_COUNTER_TYPE(X, 0x30020400, PERF_AVERAGE_TIMER, AVERAGE_TIME, "sec", "") \
    PERF_COUNTER_TYPE(X, 0x30240500, PERF_ELAPSED_TIME, ELAPSED, "sec", "the value is the start time") \
    PERF_COUNTER_TYPE(X, 0x40000200, PERF_COUNTER_NODATA, NONE, "", "") \
    PERF_COUNTER_TYPE(X, 0x40020500, PERF_AVERAGE_BULK, AVERAGE, "", "") \
    PERF_COUNTER_TYPE(X, 0x40030401, PERF_SAMPLE_BASE, NONE, "", "") \
    PERF_COUNTER_TYPE(X, 0x40030402, PERF_AVERAGE_BASE, NONE, "", "") \
    PERF_COUNTER_TYPE(X, 0x40030403, PERF_RAW_BASE, NONE, "", "") \
    PERF_COUNTER_TYPE(X, 0x40030500, PERF_LARGE_RAW_BASE, NONE, "", "PERF_PRECISION_TIMESTAMP is the same number") \
    X(0x40030503, "PERF_LARGE_RAW_BASE", NONE, "", "as some lists of types give it; not in winperf.h", \
      PERF_LARGE_RAW_BASE_VARIANT) \
    PERF_COUNTER_TYPE(X, 0x42030500, PERF_COUNTER_MULTI_BASE, NONE, "", "") \
    PERF_COUNTER_TYPE(X, 0x80000000, PERF_COUNTER_HISTOGRAM_TYPE, NONE, "", "")

/* An enumerator is an int; as a type of 32 bits it is the same number again. */
#define PERF_COUNTER_TYPE_ENUM(value, name, formula, unit, note, constant) constant = (int)(value),
enum { PERF_COUNTER_TYPES(PERF_COUNTER_TYPE_ENUM) PERF_PRECISION_TIMESTAMP = PERF_LARGE_RAW_BASE };

#define PERF_COUNTER_TYPE_COUNT(...) +1
enum { PERF_NUM_COUNTER_TYPES = 0 PERF_COUNTER_TYPES(PERF_COUNTER_TYPE_COUNT) };

typedef struct perf_counter_type {
    uint32_t value;
    const char *name;
    perf_formula formula;
    const char *unit; /* "%", "/sec", "sec" or "" */
    const char *note; /* for the reader, or "" */
} perf_counter_type;

/* All types, ascending by value. */
extern const perf_counter_type perf_counter_types[PERF_NUM_COUNTER_TYPES];

/* Returns the type with exactly this number; NULL: unknown. */
const perf_counter_type *perf_counter_type_find(uint32_t value);
