/* export-objects.h
 * File, Export Objects, PCQ, and `--export-objects pcq,DIR`: a PDH-CSV file for each query.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_EXPORT_OBJECTS_H
#define PCQ_TAPS_EXPORT_OBJECTS_H

#include <stdbool.h>

void export_objects_register(int proto);

/* File, Export Objects, PCQ-NAMES, and `--export-objects pcq-names,DIR`: the names file. */
void export_names_register(void);

/* True in tshark, whose objects stay, and are written when statistics are drawn. Those of a window go with it, and nobody
 * says when. */
bool export_objects_stay(void);

#endif
