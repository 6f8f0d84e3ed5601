/* export.c
 * What the exports of the command line share.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/export.h"

#include <wsutil/report_message.h>

#include "readings/tapped.h"

bool export_argument_parse(const char *argument, const char *statistic, export_argument *parsed)
{
    const char *rest = argument + strlen(statistic);
    const char *comma = *rest == ',' ? strchr(rest + 1, ',') : NULL;
    size_t length = comma ? (size_t)(comma - rest - 1) : *rest == ',' ? strlen(rest + 1) : 0;

    if (length == 0) {
        report_failure("pcq: say where to write: -z %s,FILE[,FILTER]", statistic);
        return false;
    }
    parsed->path = g_strndup(rest + 1, length);
    parsed->filter = comma && comma[1] ? g_strdup(comma + 1) : NULL;
    return true;
}

bool export_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
                   tap_draw_cb draw)
{
    GString *error = register_tap_listener(tap, data, filter, TL_REQUIRES_NOTHING, reset, packet, draw, NULL);

    if (error) {
        report_failure("pcq: %s", error->str);
        g_string_free(error, TRUE);
        return false;
    }
    return true;
}
