/* export.h
 * What the exports to a file have in common: their arguments and their listeners.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_TAPS_EXPORT_H
#define PCQ_TAPS_EXPORT_H

#include "ws_compat.h"

#include <epan/tap.h>

/* What stands behind "pcq,csv,": a file and perhaps a filter. False, and reported, if there is no file. To be freed. */
typedef struct {
    char *path;
    char *filter; /* NULL without one */
} export_argument;

bool export_argument_parse(const char *argument, const char *statistic, export_argument *parsed);

/* Registers a listener of ours; false, and reported, if the filter is wrong. */
bool export_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
                   tap_draw_cb draw);

#endif
