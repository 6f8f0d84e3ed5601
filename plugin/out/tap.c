/* tap.c
 * What statistics and exports are told of each call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "out/tap.h"

#include "out/export-objects.h"

#include <epan/tap.h>

static int tap_id;

void perf_tap_register(void)
{
    tap_id = register_tap(PERF_TAP);
}

static bool objects_wanted(void)
{
    return export_objects_tap() != 0 && have_tap_listener(export_objects_tap());
}

bool perf_tap_wanted(void)
{
    return have_tap_listener(tap_id) || objects_wanted();
}

void perf_tap(packet_info *pinfo, const perf_tapped *tapped)
{
    perf_tapped *copy = wmem_memdup(pinfo->pool, tapped, sizeof *tapped);

    if (tapped->answer) {
        copy->answer = wmem_memdup(pinfo->pool, tapped->answer, sizeof *tapped->answer);
    }
    if (have_tap_listener(tap_id)) {
        tap_queue_packet(tap_id, pinfo, copy);
    }
    if (objects_wanted()) {
        tap_queue_packet(export_objects_tap(), pinfo, copy);
    }
}
