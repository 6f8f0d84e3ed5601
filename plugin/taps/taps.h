/* taps.h
 * Statistics and exports, which listen to the calls. docs/statistics.md describes them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "taps/output.h"
#include "taps/stat-table.h"

extern output_statistic csv_statistic, long_statistic, names_statistic, report_statistic, summary_statistic;
extern stat_table counters_table, monitors_table, queries_table, refusals_table, report_table;

void calls_tree_register(void);     /* -z pcq,tree */
void export_objects_register(void); /* File, Export Objects, PCQ, and --export-objects pcq,FOLDER */
