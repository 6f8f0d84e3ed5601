/* names.h
 * What the names of keys and values say: where performance data are, and titles in which language.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_HKPD_NAMES_H
#define PCQ_HKPD_NAMES_H

#include "ws_compat.h"

/* Keys whose values are performance data or titles. */
#define HKPD_KEYS(X) \
    X(DATA, "HKEY_PERFORMANCE_DATA") \
    X(TEXT, "HKEY_PERFORMANCE_TEXT") \
    X(NLS_TEXT, "HKEY_PERFORMANCE_NLSTEXT") \
    X(PERFLIB, "Perflib") \
    X(LANGUAGE, "Perflib\\")

#define HKPD_KEY_ENUM(key, text) HKPD_KEY_##key,
typedef enum { HKPD_KEYS(HKPD_KEY_ENUM) HKPD_NUM_KEYS } hkpd_key_kind;

/* A key's last parts: "...\Perflib", or "...\Perflib\009", where also its parent can be the Perflib key. */
bool hkpd_is_perflib_key(const char *name, bool below_perflib, hkpd_key_kind *kind, uint32_t *language);

typedef enum { HKPD_TITLES_NONE, HKPD_TITLES_NAMES, HKPD_TITLES_HELP } hkpd_titles_kind;

/* "Counter", "Counters", "Help" or "Explain", then nothing or a language: "Counter 009". */
hkpd_titles_kind hkpd_titles_of(const char *name, uint32_t *language);

/* Names that hardly any other value has. */
bool hkpd_is_performance_name(const char *name);

/* "Counter 009", "value name 2", "default value". */
const char *hkpd_value_text(wmem_allocator_t *pool, const char *name);

#endif
