/* tapped.c
 * What statistics and exports are told of each call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/tapped.h"

#include <epan/tap.h>

#define MAX_TAPS 4

static int taps[MAX_TAPS];
static unsigned num_taps;

void tapped_add(int tap_id)
{
    if (num_taps < MAX_TAPS) {
        taps[num_taps++] = tap_id;
    }
}

void tapped_register(void)
{
    tapped_add(register_tap(TAPPED_NAME));
}

bool tapped_wanted(void)
{
    for (unsigned i = 0; i < num_taps; i++) {
        if (have_tap_listener(taps[i])) {
            return true;
        }
    }
    return false;
}

void tapped_tell(packet_info *pinfo, const tapped_call *tapped)
{
    tapped_call *copy = wmem_memdup(pinfo->pool, tapped, sizeof *tapped);

    if (tapped->answer) {
        copy->answer = wmem_memdup(pinfo->pool, tapped->answer, sizeof *tapped->answer);
    }
    for (unsigned i = 0; i < num_taps; i++) {
        if (have_tap_listener(taps[i])) {
            tap_queue_packet(taps[i], pinfo, copy);
        }
    }
}

const char *tapped_identifier_path(wmem_allocator_t *pool, const tapped_call *tapped, uint32_t number)
{
    const char *machine = tapped->handle && tapped->handle->machine && *tapped->handle->machine
                              ? tapped->handle->machine
                              : host_address(tapped->server);

    return query_identifier_path(pool, tapped->server, machine, &tapped->identifiers[number], UINT32_MAX);
}
