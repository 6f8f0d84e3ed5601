/* parse.h
 * The two readers of tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "perf/table.h"

/* Read counter data of PerflibV2, or a PERF_DATA_BLOCK. `size`: bytes that were captured, `reported`: bytes that were sent. Bytes that the
 * capture lacks are no fault, but their group and the response are not sound. Needs: `table` is zeros, or was read before: then its memory
 * is used again; `data` lives as long as the table. Changes: `table`, which perf_table_free() frees. */
void perf_table_read_data(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);
void perf_table_read_block(perf_table *table, const uint8_t *data, uint32_t size, uint32_t reported);

/* Reads counter data of PerflibV2 once more, with all groups in the arrays. Changes: indexes are freed, addresses of rows may end. */
void perf_table_read_whole(perf_table *table);

/* Returns a group by its number, below num_groups. Changes: perf_table_read_whole(), if it was counted and not read. */
static inline perf_group *perf_table_group(perf_table *t, uint32_t number)
{
    if (!t->is_whole && number > t->first_group) {
        perf_table_read_whole(t);
    }
    return &t->groups[number];
}
