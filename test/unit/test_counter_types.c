/* test_counter_types.c
 * The table of counter types: expected names, bits and units are those of winperf.h and [MS-PCQ] 2.2.4.2
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "counter_types_doc.h"

#include <string.h>

static unsigned failures;

static void expect(bool ok, const char *what, uint32_t type)
{
    if (ok) {
        return;
    }
    fprintf(stderr, "0x%08" PRIX32 ": %s\n", type, what);
    failures++;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Sizes, timers and displays as their fields number them. */
enum { DWORD, LARGE, ZERO, VARIABLE };
enum { TICK, NS100, OBJECT };
enum { PLAIN, PER_SEC, PERCENT, SECONDS, NOSHOW };
enum { D = 1, DB = 2, I = 4, M = 8 };

static const struct {
    uint32_t type;
    const char *name;
    unsigned size;
    const char *subtype;
    unsigned timer;
    unsigned modifiers;
    unsigned display;
} expected[] = {
    {0x00000000, "PERF_COUNTER_RAWCOUNT_HEX", DWORD, "PERF_NUMBER_HEX", TICK, 0, PLAIN},
    {0x00000100, "PERF_COUNTER_LARGE_RAWCOUNT_HEX", LARGE, "PERF_NUMBER_HEX", TICK, 0, PLAIN},
    {0x00000B00, "PERF_COUNTER_TEXT", VARIABLE, "PERF_TEXT_UNICODE", TICK, 0, PLAIN},
    {0x00010000, "PERF_COUNTER_RAWCOUNT", DWORD, "PERF_NUMBER_DECIMAL", TICK, 0, PLAIN},
    {0x00010100, "PERF_COUNTER_LARGE_RAWCOUNT", LARGE, "PERF_NUMBER_DECIMAL", TICK, 0, PLAIN},
    {0x00012000, "PERF_DOUBLE_RAW", DWORD, "PERF_NUMBER_DECIMAL", TICK, 0, PLAIN},
    {0x00400400, "PERF_COUNTER_DELTA", DWORD, "PERF_COUNTER_VALUE", TICK, D, PLAIN},
    {0x00400500, "PERF_COUNTER_LARGE_DELTA", LARGE, "PERF_COUNTER_VALUE", TICK, D, PLAIN},
    {0x00410400, "PERF_SAMPLE_COUNTER", DWORD, "PERF_COUNTER_RATE", TICK, D, PLAIN},
    {0x00450400, "PERF_COUNTER_QUEUELEN_TYPE", DWORD, "PERF_COUNTER_QUEUELEN", TICK, D, PLAIN},
    {0x00450500, "PERF_COUNTER_LARGE_QUEUELEN_TYPE", LARGE, "PERF_COUNTER_QUEUELEN", TICK, D, PLAIN},
    {0x00550500, "PERF_COUNTER_100NS_QUEUELEN_TYPE", LARGE, "PERF_COUNTER_QUEUELEN", NS100, D, PLAIN},
    {0x00650500, "PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE", LARGE, "PERF_COUNTER_QUEUELEN", OBJECT, D, PLAIN},
    {0x10410400, "PERF_COUNTER_COUNTER", DWORD, "PERF_COUNTER_RATE", TICK, D, PER_SEC},
    {0x10410500, "PERF_COUNTER_BULK_COUNT", LARGE, "PERF_COUNTER_RATE", TICK, D, PER_SEC},
    {0x20020400, "PERF_RAW_FRACTION", DWORD, "PERF_COUNTER_FRACTION", TICK, 0, PERCENT},
    {0x20020500, "PERF_LARGE_RAW_FRACTION", LARGE, "PERF_COUNTER_FRACTION", TICK, 0, PERCENT},
    {0x20410500, "PERF_COUNTER_TIMER", LARGE, "PERF_COUNTER_RATE", TICK, D, PERCENT},
    {0x20470500, "PERF_PRECISION_SYSTEM_TIMER", LARGE, "PERF_COUNTER_PRECISION", TICK, D, PERCENT},
    {0x20510500, "PERF_100NSEC_TIMER", LARGE, "PERF_COUNTER_RATE", NS100, D, PERCENT},
    {0x20570500, "PERF_PRECISION_100NS_TIMER", LARGE, "PERF_COUNTER_PRECISION", NS100, D, PERCENT},
    {0x20610500, "PERF_OBJ_TIME_TIMER", LARGE, "PERF_COUNTER_RATE", OBJECT, D, PERCENT},
    {0x20670500, "PERF_PRECISION_OBJECT_TIMER", LARGE, "PERF_COUNTER_PRECISION", OBJECT, D, PERCENT},
    {0x20C20400, "PERF_SAMPLE_FRACTION", DWORD, "PERF_COUNTER_FRACTION", TICK, D + DB, PERCENT},
    {0x21410500, "PERF_COUNTER_TIMER_INV", LARGE, "PERF_COUNTER_RATE", TICK, D + I, PERCENT},
    {0x21510500, "PERF_100NSEC_TIMER_INV", LARGE, "PERF_COUNTER_RATE", NS100, D + I, PERCENT},
    {0x22410500, "PERF_COUNTER_MULTI_TIMER", LARGE, "PERF_COUNTER_RATE", TICK, D + M, PERCENT},
    {0x22510500, "PERF_100NSEC_MULTI_TIMER", LARGE, "PERF_COUNTER_RATE", NS100, D + M, PERCENT},
    {0x23410500, "PERF_COUNTER_MULTI_TIMER_INV", LARGE, "PERF_COUNTER_RATE", TICK, D + I + M, PERCENT},
    {0x23510500, "PERF_100NSEC_MULTI_TIMER_INV", LARGE, "PERF_COUNTER_RATE", NS100, D + I + M, PERCENT},
    {0x30020400, "PERF_AVERAGE_TIMER", DWORD, "PERF_COUNTER_FRACTION", TICK, 0, SECONDS},
    {0x30240500, "PERF_ELAPSED_TIME", LARGE, "PERF_COUNTER_ELAPSED", OBJECT, 0, SECONDS},
    {0x40000200, "PERF_COUNTER_NODATA", ZERO, "PERF_NUMBER_HEX", TICK, 0, NOSHOW},
    {0x40020500, "PERF_AVERAGE_BULK", LARGE, "PERF_COUNTER_FRACTION", TICK, 0, NOSHOW},
    {0x40030401, "PERF_SAMPLE_BASE", DWORD, "PERF_COUNTER_BASE", TICK, 0, NOSHOW},
    {0x40030402, "PERF_AVERAGE_BASE", DWORD, "PERF_COUNTER_BASE", TICK, 0, NOSHOW},
    {0x40030403, "PERF_RAW_BASE", DWORD, "PERF_COUNTER_BASE", TICK, 0, NOSHOW},
    {0x40030500, "PERF_LARGE_RAW_BASE", LARGE, "PERF_COUNTER_BASE", TICK, 0, NOSHOW},
    {0x40030503, "PERF_LARGE_RAW_BASE", LARGE, "PERF_COUNTER_BASE", TICK, 0, NOSHOW},
    {0x42030500, "PERF_COUNTER_MULTI_BASE", LARGE, "PERF_COUNTER_BASE", TICK, M, NOSHOW},
    {0x80000000, "PERF_COUNTER_HISTOGRAM_TYPE", DWORD, "PERF_NUMBER_HEX", TICK, 0, 8},
};

static const size_t num_expected = sizeof expected / sizeof *expected;

static void test_names_and_bits(void)
{
    static const char *const units[16] = {[PER_SEC] = "/sec", [PERCENT] = "%", [SECONDS] = "sec"};

    expect(num_expected == PERF_NUM_COUNTER_TYPES, "a type is missing", 0);
    for (size_t i = 0; i < num_expected; i++) {
        const uint32_t bits = expected[i].type;
        const perf_counter_type *type = perf_counter_type_find(bits);
        const unsigned modifiers = ((bits & PERF_DELTA_COUNTER) ? D : 0) + ((bits & PERF_DELTA_BASE) ? DB : 0) +
                                   ((bits & PERF_INVERSE) ? I : 0) + ((bits & PERF_MULTI) ? M : 0);
        const char *unit = units[expected[i].display];

        expect(type != NULL, "not found", bits);
        if (!type) {
            continue;
        }
        expect(type == &perf_counter_types[i], "position", bits);
        expect(same(type->name, expected[i].name), "name", bits);
        expect(same(type->unit, unit ? unit : ""), "unit", bits);
        expect((bits & PERF_SIZE_MASK) >> 8 == expected[i].size, "size", bits);
        expect(same(perf_counter_subtype_name(bits), expected[i].subtype), "subtype", bits);
        expect((bits & PERF_TIMER_MASK) >> 20 == expected[i].timer, "timer", bits);
        expect(modifiers == expected[i].modifiers, "modifiers", bits);
        expect((bits & PERF_DISPLAY_MASK) >> 28 == expected[i].display, "display", bits);
        expect(type->hex == (bits == 0 || bits == 0x100), "hexadecimal", bits);
    }
}

/* The formula of a type agrees with what its bits say. */
static void test_formulas(void)
{
    for (size_t i = 0; i < PERF_NUM_COUNTER_TYPES; i++) {
        const perf_counter_type *type = &perf_counter_types[i];
        const perf_formula_info *formula = &perf_formulas[type->formula];
        const uint32_t bits = type->value;
        const bool average = bits == PERF_AVERAGE_TIMER || bits == PERF_AVERAGE_BULK;

        expect((type->formula == PERF_FORMULA_NONE) == (formula->text[0] == '\0'), "text", bits);
        expect((type->formula == PERF_FORMULA_RAW) == (type->kind == PERF_KIND_NUMBER), "kind", bits);
        expect((type->kind == PERF_KIND_BASE) == same(perf_counter_subtype_name(bits), "PERF_COUNTER_BASE"), "base",
               bits);
        if (type->formula == PERF_FORMULA_NONE) {
            continue;
        }
        expect(((formula->flags & PERF_NEEDS_PREVIOUS) != 0) == ((bits & PERF_DELTA_COUNTER) != 0 || average),
               "two samples", bits);
        expect(((formula->flags & PERF_NEEDS_MULTI) != 0) == ((bits & PERF_MULTI) != 0), "multi", bits);
        expect(((formula->flags & PERF_COMPLEMENT) != 0) == ((bits & PERF_INVERSE) != 0), "inverse", bits);
        expect((formula->factor > 1) == same(type->unit, "%"), "factor", bits);
        expect(((formula->flags & PERF_NEEDS_TIME) != 0) == ((bits & PERF_TIMER_MASK) >> 20 == OBJECT), "object time",
               bits);
    }
}

static void test_lookup_of_others(void)
{
    static const uint32_t others[] = {1, 0xFF, 0x00000101, 0x10410401, 0x40030404, 0x7FFFFFFF, 0xFFFFFFFF};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect(perf_counter_type_find(others[i]) == NULL, "found", others[i]);
    }
    expect(perf_counter_subtype_name(0x000F0000) == NULL, "name of a number's subtype 15", 0x000F0000);
    expect(perf_counter_subtype_name(0x00000C00) == NULL, "name of a zero's subtype 0", 0x00000C00);
    expect(same(perf_counter_subtype_name(0x00060400), "PERF_COUNTER_HISTOGRAM"), "histogram", 0x00060400);
}

static void test_texts(void)
{
    static const uint32_t texts[] = {0x00000B00, 0x00010B00, 0x00000800, 0x00010900};
    static const uint32_t others[] = {0,          0x00010000, 0x00000300, 0x00020B00,
                                      0x00100B00, 0x00000C00, 0x00000400, 0xFFFFFFFF};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expect(perf_counter_type_is_text(texts[i]), "no text", texts[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect(!perf_counter_type_is_text(others[i]), "a text", others[i]);
    }
}

static FILE *open_document(void)
{
    static const char document[] = "/../../docs/counter-types.md";
    char path[4096];
    const char *end = strrchr(__FILE__, '/');
    const int length = end ? (int)(end - __FILE__) : 0;

    snprintf(path, sizeof path, "%.*s%s", length, __FILE__, document);
    return fopen(path, "r");
}

static void test_document(void)
{
    FILE *document = open_document();
    FILE *written = tmpfile();
    int a, b;

    expect(document != NULL && written != NULL, "docs/counter-types.md can't be read", 0);
    if (document && written) {
        doc_counter_types(written);
        rewind(written);
        do {
            a = getc(document);
            b = getc(written);
        } while (a == b && a != EOF);
        expect(a == b, "docs/counter-types.md is not what print_counter_types writes", 0);
    }
    if (document) {
        fclose(document);
    }
    if (written) {
        fclose(written);
    }
}

int main(void)
{
    test_names_and_bits();
    test_formulas();
    test_lookup_of_others();
    test_texts();
    test_document();
    return failures != 0;
}
