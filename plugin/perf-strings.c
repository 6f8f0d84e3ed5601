/* perf-strings.c
 * Value names that both protocols show.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf-strings.h"

#include <epan/dissectors/packet-windows-common.h>

#include "perf/data-walk.h"

/* Wireshark's own list of Win32 errors is not exported, but its header carries the rows. They are named WERR_X there
 * and ERROR_X in Windows. */
#define COUNT_ERROR(name, value) +1
enum { NUM_ERRORS = 0 WERR_errors_VALUE_STRING_LIST(COUNT_ERROR) };

static value_string win32_errors[NUM_ERRORS + 1];
value_string_ext win32_error_ext = VALUE_STRING_EXT_INIT(win32_errors);

typedef struct {
    uint32_t value;
    const char *name;
} named_value;

#define WERR_ROW(name, value) {value, #name},
static const named_value werr_rows[] = {WERR_errors_VALUE_STRING_LIST(WERR_ROW)};

#define TYPE_STRING(value, name, ...) {value, name},
#define VALUE_STRING_ROW(value, name) {value, #name},
#define REASON_STRING(reason, number, text) {number, text},

const value_string counter_type_vals[] = {PERF_COUNTER_TYPES(TYPE_STRING){0, NULL}};
const value_string none_reason_vals[] = {PERF_NONE_REASONS(REASON_STRING){0, NULL}};
const value_string block_type_vals[] = {PERF_BLOCK_TYPES(VALUE_STRING_ROW){0, NULL}};

/* winperf.h; [MS-PCQ] 2.2.4.1 has the first two. */
const value_string detail_level_vals[] = {
    {100, "PERF_DETAIL_NOVICE"}, {200, "PERF_DETAIL_ADVANCED"}, {300, "PERF_DETAIL_EXPERT"},
    {400, "PERF_DETAIL_WIZARD"}, {0, NULL},
};

/* The locales that Windows has had a user interface in, and the neutral and default ones. */
const value_string lcid_vals[] = {
    {0x0000, "server's default"}, {0x0007, "de"}, {0x0009, "en"}, {0x000a, "es"},
    {0x000c, "fr"}, {0x0010, "it"}, {0x0011, "ja"}, {0x0400, "user default"},
    {0x0401, "ar-SA"}, {0x0402, "bg-BG"}, {0x0403, "ca-ES"}, {0x0404, "zh-TW"},
    {0x0405, "cs-CZ"}, {0x0406, "da-DK"}, {0x0407, "de-DE"}, {0x0408, "el-GR"},
    {0x0409, "en-US"}, {0x040a, "es-ES_tradnl"}, {0x040b, "fi-FI"}, {0x040c, "fr-FR"},
    {0x040d, "he-IL"}, {0x040e, "hu-HU"}, {0x040f, "is-IS"}, {0x0410, "it-IT"},
    {0x0411, "ja-JP"}, {0x0412, "ko-KR"}, {0x0413, "nl-NL"}, {0x0414, "nb-NO"},
    {0x0415, "pl-PL"}, {0x0416, "pt-BR"}, {0x0418, "ro-RO"}, {0x0419, "ru-RU"},
    {0x041a, "hr-HR"}, {0x041b, "sk-SK"}, {0x041c, "sq-AL"}, {0x041d, "sv-SE"},
    {0x041e, "th-TH"}, {0x041f, "tr-TR"}, {0x0420, "ur-PK"}, {0x0421, "id-ID"},
    {0x0422, "uk-UA"}, {0x0423, "be-BY"}, {0x0424, "sl-SI"}, {0x0425, "et-EE"},
    {0x0426, "lv-LV"}, {0x0427, "lt-LT"}, {0x0429, "fa-IR"}, {0x042a, "vi-VN"},
    {0x042b, "hy-AM"}, {0x042d, "eu-ES"}, {0x042f, "mk-MK"}, {0x0436, "af-ZA"},
    {0x0437, "ka-GE"}, {0x0439, "hi-IN"}, {0x043e, "ms-MY"}, {0x043f, "kk-KZ"},
    {0x0456, "gl-ES"}, {0x0800, "system default"}, {0x0804, "zh-CN"}, {0x0807, "de-CH"},
    {0x0809, "en-GB"}, {0x080a, "es-MX"}, {0x080c, "fr-BE"}, {0x0810, "it-CH"},
    {0x0813, "nl-BE"}, {0x0814, "nn-NO"}, {0x0816, "pt-PT"}, {0x081a, "sr-Latn-CS"},
    {0x0c04, "zh-HK"}, {0x0c07, "de-AT"}, {0x0c09, "en-AU"}, {0x0c0a, "es-ES"},
    {0x0c0c, "fr-CA"}, {0x0c1a, "sr-Cyrl-CS"}, {0x1009, "en-CA"}, {0x100c, "fr-CH"},
    {0x1409, "en-NZ"}, {0x241a, "sr-Latn-RS"}, {0, NULL},
};

void perf_strings_init(void)
{
    for (int i = 0; i < NUM_ERRORS; i++) {
        const char *name = werr_rows[i].name;
        win32_errors[i].value = werr_rows[i].value;
        win32_errors[i].strptr = werr_rows[i].value == 0
                                     ? "ERROR_SUCCESS"
                                     : wmem_strconcat(wmem_epan_scope(), "ERROR_", name + strlen("WERR_"), NULL);
    }
}

const char *win32_error_name(wmem_allocator_t *pool, uint32_t status)
{
    return ws_val_to_str_ext(pool, status, &win32_error_ext, "error %u");
}
