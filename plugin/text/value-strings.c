/* value-strings.c
 * Value names that both protocols show.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "text/value-strings.h"

#include <epan/dissectors/packet-windows-common.h>
#include <epan/to_str.h>

#include "perf/bytes.h"
#include "perf/structures.h"

/* Wireshark's own list of Win32 errors is not exported, but its header carries the rows. They are named WERR_X there and ERROR_X in Windows. */
#define WERR_PREFIX "WERR_"
#define ERROR_ROW(name, value) {value, #name},

static const value_string win32_errors[] = {WERR_errors_VALUE_STRING_LIST(ERROR_ROW){0, NULL}};
value_string_ext text_win32_error_ext = VALUE_STRING_EXT_INIT(win32_errors);

#define TYPE_STRING(value, name, ...) {value, name},
#define VALUE_STRING_ROW(value, name) {value, #name},
#define REASON_STRING(reason, number, text) {number, text},

const value_string text_counter_type_vals[] = {PERF_COUNTER_TYPES(TYPE_STRING){0, NULL}};
const value_string text_none_reason_vals[] = {PERF_NO_RESULT_REASONS(REASON_STRING){0, NULL}};
const value_string text_block_type_vals[] = {PERF_BLOCK_TYPES(VALUE_STRING_ROW){0, NULL}};

/* Meanings of Win32 errors and faults (from 0x1c000000 on) for a client; the words up to a colon or semicolon are its short form. */
static const value_string error_meanings[] = {
    {2, "not there"},
    {3, "instance not there now; it may come later"},
    {5, "no rights: on the server the account has to be in Performance Monitor Users, Performance Log Users or "
        "Administrators (a domain's account, if the last); docs/symptoms.md has all causes"},
    {6, "the server does not know this handle"},
    {8, "the server is short of memory"},
    {14, "the server is short of memory"},
    {21, "the provider is not ready; it may come later"},
    {50, "the provider does not support it"},
    {87, "asked in a wrong way"},
    {170, "the provider is busy; it may come later"},
    {183, "asked for twice: the query has it already"},
    {232, "no data now: the instance is not there; it may come later"},
    {258, "the provider did not answer in time"},
    {1115, "the server is shutting down"},
    {1168, "not there"},
    {1450, "the server is short of memory"},
    {1460, "the provider did not answer in time"},
    {1717, "interface not there: the service Remote Registry does not run, or Windows is too old"},
    {1722, "provider gone: it does not run"},
    {1723, "the server has too much to do; it may come later"},
    {1726, "provider gone: it ended while it was asked"},
    {1727, "provider gone: it ended before it was asked"},
    {1783, "the server could not read the request"},
    {1815, "no text in this language"},
    {1825, "the server did not accept how the call is sealed or signed"},
    {4200, "provider gone: it is not installed, or does not run"},
    {4201, "instance not there now; it may come later"},
    {4202, "counter not there: the server has another version of the provider"},
    {4211, "the provider's registration is damaged"},
    {0x1c00001a, "the server does not know this handle: it was restarted, or has closed it"},
    {0x1c010002, "the server does not have this operation"},
    {0x1c010003, "interface not there: the service Remote Registry does not run, or Windows is too old"},
    {0x1c010014, "the server has too much to do; it may come later"},
    {0, NULL},
};

/* winperf.h; [MS-PCQ] 2.2.4.1 has the first two. */
const value_string text_detail_level_vals[] = {
    {100, "PERF_DETAIL_NOVICE"},
    {200, "PERF_DETAIL_ADVANCED"},
    {300, "PERF_DETAIL_EXPERT"},
    {400, "PERF_DETAIL_WIZARD"},
    {0, NULL},
};

/* The locales that Windows Server comes in, and the neutral and default ones. */
const value_string text_lcid_vals[] = {
    {0x0000, "server's default"},
    {0x0007, "de, German"},
    {0x0009, "en, English"},
    {0x000a, "es, Spanish"},
    {0x000c, "fr, French"},
    {0x0010, "it, Italian"},
    {0x0011, "ja, Japanese"},
    {0x0400, "user default"},
    {0x0404, "zh-TW, Chinese (Taiwan)"},
    {0x0405, "cs-CZ, Czech (Czech Republic)"},
    {0x0407, "de-DE, German (Germany)"},
    {0x0409, "en-US, English (United States)"},
    {0x040a, "es-ES_tradnl, Spanish (Spain, traditional sort)"},
    {0x040c, "fr-FR, French (France)"},
    {0x040e, "hu-HU, Hungarian (Hungary)"},
    {0x0410, "it-IT, Italian (Italy)"},
    {0x0411, "ja-JP, Japanese (Japan)"},
    {0x0412, "ko-KR, Korean (Korea)"},
    {0x0413, "nl-NL, Dutch (Netherlands)"},
    {0x0415, "pl-PL, Polish (Poland)"},
    {0x0416, "pt-BR, Portuguese (Brazil)"},
    {0x0419, "ru-RU, Russian (Russia)"},
    {0x041d, "sv-SE, Swedish (Sweden)"},
    {0x041f, "tr-TR, Turkish (Turkey)"},
    {0x0800, "system default"},
    {0x0804, "zh-CN, Chinese (China)"},
    {0x0809, "en-GB, English (United Kingdom)"},
    {0x0816, "pt-PT, Portuguese (Portugal)"},
    {0x0c0a, "es-ES, Spanish (Spain)"},
    {0, NULL},
};

void text_value_strings_init(void)
{
    value_string *named = wmem_memdup(wmem_epan_scope(), win32_errors, sizeof win32_errors);
    for (value_string *error = named; error->strptr; error++) {
        error->strptr = wmem_strconcat(wmem_epan_scope(), "ERROR_",
                                       error->value ? error->strptr + strlen(WERR_PREFIX) : "SUCCESS", NULL);
    }
    text_win32_error_ext._vs_p = named;
}

const char *text_win32_error(wmem_allocator_t *pool, uint32_t status)
{
    return ws_val_to_str_ext(pool, status, &text_win32_error_ext, "error %u");
}

const char *text_fault(wmem_allocator_t *pool, uint32_t status)
{
    const char *name = try_val_to_str(status, proto_registrar_get_byname("dcerpc.cn_status")->strings);

    return name ? name : text_win32_error(pool, status);
}

const char *text_error_meaning(uint32_t status)
{
    return val_to_str_const(status, error_meanings, "");
}
