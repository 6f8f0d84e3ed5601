/* taps.h
 * What listens to the calls: statistics and exports. docs/statistics.md describes them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "tap/tapped.h"

/* `-z pcq,tree[,FILTER]`: calls by operation, request code and status. */
void calls_tree_register(void);

/* `-z pcq,counters[,FILTER]`: a row for each path.
 * `-z pcq,refusals[,FILTER]`: a row for each counter that was refused. */
void counters_table_register(void);
void refusals_table_register(void);

/* `-z pcq,summary[,json|FILE[,FILTER]]`: what is wrong with each monitor, in sentences or JSON. `-z pcq,monitors[,FILTER]`: the same as a
 * table. `-z pcq,queries[,FILTER]`: what its queries were used for. */
void summary_register(void);

/* `-z pcq,csv,FILE[,FILTER]`: PDH-CSV, a file for each query. `-z pcq,long,FILE[,FILTER]`: a row for each value. */
void export_csv_register(void);
void export_long_register(void);

/* `-z pcq,report,FILE[,FILTER]`, and Statistics, Performance Counter Report (`-z pcq,page`): all of it as one page for a browser. */
void report_register(void);

/* `-z pcq,names,FILE`: the names file. */
void export_names_register(void);

/* File, Export Objects, PCQ, and `--export-objects pcq,DIR`: a PDH-CSV file for each query, and the names file. */
void export_objects_register(void);
