/* parse.c
 * Words of a names file and of a manifest.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "names/names.h"

#include <wsutil/strtoi.h>

bool names_parse_number(const char *text, uint32_t *number)
{
    bool is_hex = g_str_has_prefix(text, "0x");

    return g_ascii_isdigit(*text) && (is_hex ? ws_hexstrtou32 : ws_strtou32)(text, NULL, number);
}

bool names_parse_scale(const char *text, int32_t *scale)
{
    uint32_t number;
    bool negative = *text == '-';

    if (!names_parse_number(text + negative, &number) || number > INT32_MAX) {
        return false;
    }
    *scale = negative ? -(int32_t)number : (int32_t)number;
    return true;
}

bool names_parse_guid(const char *text, uint8_t guid[16])
{
    static const char form[] = "{........-....-....-....-............}";
    static const uint8_t places[16] = {7, 5, 3, 1, 12, 10, 17, 15, 20, 22, 25, 27, 29, 31, 33, 35};

    for (unsigned i = 0; i < sizeof form; i++) {
        if (form[i] == '.' ? !g_ascii_isxdigit(text[i]) : text[i] != form[i]) {
            return false;
        }
    }
    for (unsigned i = 0; i < sizeof places; i++) {
        const char *digits = text + places[i];
        guid[i] = (uint8_t)(g_ascii_xdigit_value(digits[0]) << 4 | g_ascii_xdigit_value(digits[1]));
    }
    return true;
}
