/* names.c
 * What the names of keys and values say.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "hkpd/names.h"

/* "009": hexadecimal; one of more than 32 bits is none, on every system. */
static bool is_language(const char *text, uint32_t *language)
{
    char *behind;
    uint64_t number = g_ascii_strtoull(text, &behind, 16);
    bool is = behind > text && *behind == '\0' && number <= UINT32_MAX;

    *language = is ? (uint32_t)number : 0;
    return is;
}

hkpd_titles_kind hkpd_titles_of(const char *name, uint32_t *language)
{
    static const struct {
        const char *word;
        hkpd_titles_kind kind;
    } words[] = {{"Counters", HKPD_TITLES_NAMES},
                 {"Counter", HKPD_TITLES_NAMES},
                 {"Help", HKPD_TITLES_HELP},
                 {"Explain", HKPD_TITLES_HELP}};

    *language = 0;
    for (unsigned i = 0; name && i < array_length(words); i++) {
        size_t length = strlen(words[i].word);
        if (g_ascii_strncasecmp(name, words[i].word, length) == 0) {
            const char *rest = name + length;
            if (*rest == '\0' || (*rest == ' ' && is_language(rest, language))) {
                return words[i].kind;
            }
        }
    }
    return HKPD_TITLES_NONE;
}

/* A list of title indexes: "2 4 238". */
static bool is_index_list(const char *name)
{
    return g_ascii_isdigit(*name) && name[strspn(name, "0123456789 ")] == '\0';
}

bool hkpd_is_performance_name(const char *name)
{
    static const char *const names[] = {"Global",         "OLD_Global",         "Costly",
                                        "MetadataGlobal", "OLD_MetadataGlobal", "MetadataCostly"};
    uint32_t language;

    for (unsigned i = 0; name && i < array_length(names); i++) {
        if (g_ascii_strcasecmp(name, names[i]) == 0) {
            return true;
        }
    }
    return name && (is_index_list(name) || hkpd_titles_of(name, &language) != HKPD_TITLES_NONE);
}

bool hkpd_is_perflib_key(const char *name, bool below_perflib, hkpd_key_kind *kind, uint32_t *language)
{
    const char *last = strrchr(name, '\\');
    const char *word = last ? last + 1 : name;

    *language = 0;
    *kind = HKPD_KEY_PERFLIB;
    if (g_ascii_strcasecmp(word, "Perflib") == 0) {
        return true;
    }
    *kind = HKPD_KEY_LANGUAGE;
    size_t length = strlen("\\Perflib");
    bool below = last ? (size_t)(last - name) >= length && g_ascii_strncasecmp(last - length, "\\Perflib", length) == 0
                      : below_perflib;
    if (!below) {
        return false;
    }
    return g_ascii_strcasecmp(word, "CurrentLanguage") == 0 || is_language(word, language);
}

const char *hkpd_value_text(wmem_allocator_t *pool, const char *name)
{
    if (*name == '\0') {
        return "default value";
    }
    return is_index_list(name) ? wmem_strdup_printf(pool, "value name %s", name) : name;
}
