/* parse.h
 * The two readers of tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/table.h"

/* Reads counter data of PerflibV2, or a PERF_DATA_BLOCK. `size`: bytes that were captured, `reported`: bytes that were sent. What the
 * capture lacks is no fault, but its group and the response are not sound. Needs: `table` is
 * zeros, or was read before: then its memory is used again. Changes: `table`, which perf_table_free() frees. */
void perf_table_read_data(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);
void perf_table_read_block(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);

/* Reads the counter data once more, with all groups. */
void perf_table_read_whole(perf_table *table);

/* Returns a group by its number. Changes: reads all groups, if that one is not there yet. */
static inline perf_group *perf_table_group(perf_table *t, uint32_t number)
{
    if (!t->is_whole && number > t->first_group) {
        perf_table_read_whole(t);
    }
    return &t->groups[number];
}
