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

/* The same page, for a program that lists it among others. As long as no other listener watches what is no call, the page says that it is of
 * calls alone: Wireshark makes no tree for a listener that is registered while packets go by. To be freed with report_free(). */
typedef struct report report;
report *report_new(void);
void report_free(report *r);
void report_count(void *r, packet_info *pinfo, const tapped_call *tapped);

/* False where the plugin was built without the page. */
bool report_is_built(void);

/* The page of what was counted until now. To be freed. */
GString *report_text(report *r);

/* `-z pcq,names,FILE`: the names file. */
void export_names_register(void);

/* File, Export Objects, PCQ, and `--export-objects pcq,DIR`: a PDH-CSV file for each query, and the names file. */
void export_objects_register(void);
