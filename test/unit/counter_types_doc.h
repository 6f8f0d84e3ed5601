/* counter_types_doc.h
 * The counter types of docs/reference.md, written from the tables of plugin/perf.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef COUNTER_TYPES_DOC_H
#define COUNTER_TYPES_DOC_H

#include "perf/calculate.h"

#include <inttypes.h>
#include <stdio.h>

#define DOC_BITS(value, name, meaning) {value, name, meaning},
#define DOC_END \
    { \
        0, NULL, NULL \
    }

typedef struct doc_bits {
    unsigned value;
    const char *name;
    const char *meaning;
} doc_bits;

static void doc_field(FILE *out, const char *bits, const char *title, const doc_bits *rows)
{
    fprintf(out, "| %s | %s | ", bits, title);
    for (; rows->name; rows++) {
        fprintf(out, "%u `%s` (%s)%s", rows->value, rows->name, rows->meaning, rows[1].name ? "<br>" : "");
    }
    fprintf(out, " |\n");
}

static void doc_fields(FILE *out)
{
    static const doc_bits sizes[] = {PERF_SIZES(DOC_BITS) DOC_END};
    static const doc_bits kinds[] = {PERF_KINDS(DOC_BITS) DOC_END};
    static const doc_bits timers[] = {PERF_TIMERS(DOC_BITS) DOC_END};
    static const doc_bits displays[] = {PERF_DISPLAYS(DOC_BITS) DOC_END};

    fprintf(out, "| Bits | Field | Values |\n| --- | --- | --- |\n");
    fprintf(out, "| 0-7 | | 0; 1, 2 and 3 distinguish old base types |\n");
    doc_field(out, "8-9", "size", sizes);
    doc_field(out, "10-11", "kind", kinds);
    fprintf(out, "| 16-19 | subtype | by the kind, as winperf.h lists them |\n");
    doc_field(out, "20-21", "timer", timers);
    fprintf(out, "| 22 | delta | the difference of two samples is taken |\n");
    fprintf(out, "| 23 | delta base | that of the base too |\n");
    fprintf(out, "| 24 | inverse | what is left of 1 |\n");
    fprintf(out, "| 25 | multi | divided by a second value |\n");
    doc_field(out, "28-31", "display", displays);
    fprintf(out, "\nThe size bits are a hint: what is on the wire may be longer or shorter, and counts.\n");
}

static void doc_types(FILE *out)
{
    fprintf(out, "| Value | Decimal | Name | Shown as | Unit | Note |\n| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < PERF_NUM_COUNTER_TYPES; i++) {
        const perf_counter_type *type = &perf_counter_types[i];
        const char *text = perf_formulas[type->formula].text;

        fprintf(out, "| 0x%08" PRIX32 " | %" PRIu32 " | `%s` | ", type->value, type->value, type->name);
        if (text[0]) {
            fprintf(out, "`%s`%s", text, type->value <= PERF_SIZE_LARGE ? " in hexadecimal" : "");
        } else if (perf_counter_type_is_base(type->value)) {
            fprintf(out, "only an operand of other counters");
        } else {
            fprintf(out, perf_counter_type_is_text(type->value) ? "text" : "no calculated value");
        }
        fprintf(out, " | %s | %s |\n", type->unit, type->note);
    }
}

#define DOC_REASON(reason, number, text) fprintf(out, "| %d | %s |\n", number, text);

static void doc_counter_types(FILE *out)
{
    fprintf(out,
            "## Counter types\n\n"
            "Sources: [MS-PCQ] 2.2.4.2, winperf.h, the counter type pages of Windows and of its resource kits.\n\n");
    doc_types(out);
    fprintf(out, "\nA type that is not in the list is shown by its bits.\n\n");

    fprintf(
        out,
        "### Formulas\n\n"
        "Operands end in 1 for the sample that is shown and in 0 for the one before it.\n\n"
        "| Operand | PerflibV2 | HKEY_PERFORMANCE_DATA |\n| --- | --- | --- |\n"
        "| N | the value | the value |\n"
        "| B | value of the counter BaseCounterId | value of the next definition |\n"
        "| M | value of the counter MultiId | 32-bit number behind the value |\n"
        "| O, OF | values of the counters PerfTimeId and PerfFreqId | PerfTime and PerfFreq of the object |\n"
        "| T, F | PerfTimeStamp and PerfFreq of the data header | PerfTime and PerfFreq of the data block |\n"
        "| H | PerfTime100NSec of the data header | PerfTime100nSec of the data block |\n\n"
        "* The difference of two 4-byte values is taken modulo 2^32. One of 2^31 or more gives no result: the counter "
        "began again.\n"
        "* An 8-byte value that went backwards, a denominator of 0, two samples of the same time and F of another "
        "value than before give no "
        "result.\n"
        "* Percentages are not capped: several processors give more than 100 %%, and what is left of 1 may be "
        "negative.\n"
        "* The default scale is for graphs and is not applied.\n\n");

    fprintf(out, "### Bits\n\n");
    doc_fields(out);

    fprintf(out, "\n### Why there is no calculated value\n\n| Value | Text |\n| --- | --- |\n");
    PERF_NO_RESULT_REASONS(DOC_REASON)
}

#endif /* COUNTER_TYPES_DOC_H */
