/* statistics.h
 * `-z pcq,counters[,FILTER]`: a row for each path. `-z pcq,queries[,FILTER]`: a row for each handle. docs/statistics.md
 * describes both.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_STATISTICS_H
#define PCQ_TAPS_STATISTICS_H

void counters_table_register(void);
void queries_table_register(void);

#endif
