/* walk_text.h
 * What a walk announces, as text
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text is found in what is printed of the bytes, which lie in memory of exactly their size, so that a checker sees every
 * read beyond them. */
static inline void expect_walk(void (*print)(char *to, const uint8_t *data, uint32_t size), const uint8_t *data,
                               uint32_t size, const char *found)
{
    static char text[8192];
    uint8_t *exact = malloc(size);

    memcpy(exact, data, size);
    print(text, exact, size);
    free(exact);
    if (!strstr(text, found)) {
        fprintf(stderr, "%s\nis not in\n%s\n", found, text);
        abort();
    }
}
