/* taps.h
 * Statistics and exports, which listen to the calls. docs/statistics.md describes them.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

void calls_tree_register(void);     /* -z pcq,tree */
void counters_table_register(void); /* -z pcq,counters */
void refusals_table_register(void); /* -z pcq,refusals */
void summary_register(void);        /* -z pcq,summary, pcq,monitors, pcq,queries */
void export_csv_register(void);     /* -z pcq,csv */
void export_long_register(void);    /* -z pcq,long */
void export_names_register(void);   /* -z pcq,names */
void export_objects_register(void); /* File, Export Objects, PCQ, and --export-objects pcq,FOLDER */
void report_register(void);         /* -z pcq,report; Statistics, Performance Counter Report (-z pcq,page) */
