/* test_known_titles.c
 * The built-in titles, as a machine of Windows 2000 printed them, which is no source of the table.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "perf/known-titles.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int main(void)
{
    static const struct {
        uint32_t index;
        const char *name;
    } titles[] = {{2, "System"},       {6, "% Processor Time"},       {186, "Private Bytes"},
                  {230, "Process"},    {388, "Bytes Total/sec"},      {674, "System Up Time"},
                  {784, "ID Process"}, {1410, "Creating Process ID"}, {1484, "Split IO/Sec"}};
    static const uint32_t unknown[] = {0, 3, 239, 1848, UINT32_MAX};

    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        assert(strcmp(perf_known_title(titles[i].index), titles[i].name) == 0);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert(perf_known_title(unknown[i]) == NULL);
    }
    return 0;
}
