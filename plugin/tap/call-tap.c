/* call-tap.c
 * What statistics and exports are handed of each call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tap/call-tap.h"

#include "state/queries.h"

#include <epan/tap.h>

static int taps[2]; /* that get each call */
static unsigned num_taps;

void call_tap_add(int tap_id)
{
    ws_assert(num_taps < G_N_ELEMENTS(taps));
    taps[num_taps++] = tap_id;
}

bool call_tap_is_wanted(void)
{
    return have_tap_listener(taps[0]) || have_tap_listener(taps[1]);
}

void call_tap_queue(packet_info *pinfo, const call_tap_data *tapped)
{
    ws_assert(tapped->unread || (tapped->operation && tapped->server));
    if (!call_tap_is_wanted()) {
        return;
    }
    call_tap_data *copy = wmem_memdup(pinfo->pool, tapped, sizeof *tapped);
    if (tapped->answer) {
        copy->answer = wmem_memdup(pinfo->pool, tapped->answer, sizeof *tapped->answer);
    }
    for (unsigned i = 0; i < num_taps; i++) {
        tap_queue_packet(taps[i], pinfo, copy);
    }
}

void call_tap_queue_setup(packet_info *pinfo, const call_tap_data *tapped)
{
    static int setup_tap; /* 0: not looked up, or not registered */

    setup_tap = setup_tap ? setup_tap : find_tap_id(SETUP_TAP_NAME);
    if (have_tap_listener(setup_tap)) {
        tap_queue_packet(setup_tap, pinfo, wmem_memdup(pinfo->pool, tapped, sizeof *tapped));
    }
}

uint64_t call_tap_identifier_key(const call_tap_data *tapped, uint32_t number)
{
    const perf_identifier *identifier = &tapped->identifiers[number];
    unsigned hash = query_identifier_hash(identifier) ^ g_direct_hash(tapped->server);

    return (uint64_t)hash << 32 | identifier->counter_id;
}
