/* export-objects.h
 * What the two kinds of export objects have in common.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_EXPORT_OBJECTS_H
#define PCQ_TAPS_EXPORT_OBJECTS_H

#include <stdbool.h>

/* True in tshark, whose objects stay, and are written when statistics are drawn. Those of a window go with it, and nobody
 * says when. */
bool export_objects_stay(void);

#endif
