/* tables.c
 * A sample as tables.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/tables.h"

void reading_table_init(reading_table *table, reading_side *side, uint32_t number)
{
    memset(table, 0, sizeof *table);
    table->side = side;
    table->number = number;
    perf_instances_init(&table->instances, side->pool);
}

bool reading_table_has_row(reading_table *table, uint32_t row)
{
    while (table->rows <= row && !table->complete) {
        if (table->side->layout->next_row(table)) {
            table->rows++;
        } else {
            table->complete = true;
        }
    }
    return row < table->rows;
}

perf_raw reading_table_cell(reading_table *table, uint32_t row, uint32_t column)
{
    const perf_raw none = {0, 0};

    return reading_table_has_row(table, row) ? table->side->layout->cell(table, row, column) : none;
}

perf_instance *reading_table_instance(reading_table *table, uint32_t row)
{
    return reading_table_has_row(table, row) ? perf_instances_row(&table->instances, row) : NULL;
}

perf_instance *reading_table_named(reading_table *table, uint32_t row)
{
    return reading_table_has_row(table, row) ? perf_instances_counted(&table->instances, row) : NULL;
}

/* --- The same instance in another sample ------------------------------------------------------------------------- */

static table_likeness *likeness_to(reading_table *here, reading_table *there)
{
    for (unsigned i = 0; i < TABLE_LIKENESSES; i++) {
        table_likeness *like = &here->like[i];
        if (like->there == NULL) {
            like->there = there;
        }
        if (like->there == there) {
            return like;
        }
    }
    return NULL;
}

/* Rows that are like each other one by one, from the first on, also have the same ordinals. */
static bool same_place(reading_table *here, uint32_t row, reading_table *there)
{
    table_likeness *like = likeness_to(here, there);

    while (like && !like->parted && like->rows <= row) {
        perf_instance *a = reading_table_instance(here, like->rows);
        perf_instance *b = reading_table_instance(there, like->rows);
        like->parted = !a || !b || !perf_instance_like(&a->key, &b->key);
        like->rows += !like->parted;
    }
    return like && row < like->rows;
}

uint32_t reading_table_pair(reading_table *here, uint32_t row, reading_table *there)
{
    if (!here->has_instances || !there->has_instances) {
        return !here->has_instances && !there->has_instances && reading_table_has_row(there, 0) ? 0 : UINT32_MAX;
    }
    if (same_place(here, row, there)) {
        return row;
    }
    if (!reading_table_has_row(here, row)) {
        return UINT32_MAX;
    }
    reading_table_has_row(there, UINT32_MAX);
    return perf_instances_find(&there->instances, perf_instances_indexed(&here->instances, row));
}

uint32_t reading_table_find(reading_table *table, perf_instance_key *key, bool any_id)
{
    perf_name_digest(&key->name);
    perf_instance wanted = {*key, 0, 0, 0, 0, 0};

    reading_table_has_row(table, UINT32_MAX);
    return any_id ? perf_instances_find_name(&table->instances, key) : perf_instances_find(&table->instances, &wanted);
}
