/* export-objects.h
 * File, Export Objects, PCQ, and `--export-objects pcq,DIR`: a PDH-CSV file for each query.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_OUT_EXPORT_OBJECTS_H
#define PCQ_OUT_EXPORT_OBJECTS_H

void export_objects_register(int proto);

/* The tap that they listen to, 0 before they are registered. */
int export_objects_tap(void);

#endif
