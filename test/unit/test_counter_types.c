/* test_counter_types.c
 * The table of counter types: units and formulas are what the bits of winperf.h and [MS-PCQ] 2.2.4.2 say
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

/* Names and bits are compared with the model's by test_buffers.py. */
static void test_units(void)
{
    static const char *const units[16] = {[1] = "/sec", [2] = "%", [3] = "sec"};

    for (size_t i = 0; i < PERF_NUM_COUNTER_TYPES; i++) {
        const perf_counter_type *type = &perf_counter_types[i];
        const char *unit = units[(type->value & PERF_DISPLAY_MASK) >> 28];

        expect(perf_counter_type_find(type->value) == type, "not found", type->value);
        expect(same(type->unit, unit ? unit : ""), "unit", type->value);
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
        if (type->formula == PERF_FORMULA_NONE) {
            continue;
        }
        expect(((formula->flags & PERF_NEEDS_PREVIOUS) != 0) == ((bits & PERF_DELTA_COUNTER) != 0 || average),
               "two samples", bits);
        expect(((formula->flags & PERF_NEEDS_MULTI) != 0) == ((bits & PERF_MULTI) != 0), "multi", bits);
        expect(((formula->flags & PERF_COMPLEMENT) != 0) == ((bits & PERF_INVERSE) != 0), "inverse", bits);
        expect((formula->factor > 1) == same(type->unit, "%"), "factor", bits);
        expect(((formula->flags & PERF_NEEDS_TIME) != 0) == ((bits & PERF_TIMER_MASK) >> 20 == 2), "object time", bits);
    }
}

static void test_lookup_of_others(void)
{
    static const uint32_t others[] = {1, 0xFF, 0x00000101, 0x10410401, 0x40030404, 0x7FFFFFFF, 0xFFFFFFFF};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect(perf_counter_type_find(others[i]) == NULL, "found", others[i]);
    }
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

/* The end of docs/reference.md */
static void test_document(void)
{
    char path[4096];
    FILE *written = tmpfile();
    FILE *document;
    long size;
    int a, b;

    snprintf(path, sizeof path, "%.*sdocs/reference.md", (int)(strstr(__FILE__, "test/unit/") - __FILE__), __FILE__);
    document = fopen(path, "r");
    doc_counter_types(written);
    size = ftell(written);
    rewind(written);
    expect(document != NULL && fseek(document, -size, SEEK_END) == 0, "docs/reference.md can't be read", 0);
    do {
        a = getc(document);
        b = getc(written);
    } while (a == b && a != EOF);
    expect(a == b, "docs/reference.md does not end with what print_counter_types writes", 0);
    fclose(document);
    fclose(written);
}

int main(void)
{
    test_units();
    test_formulas();
    test_lookup_of_others();
    test_texts();
    test_document();
    return failures != 0;
}
