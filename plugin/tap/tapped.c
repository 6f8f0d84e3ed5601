/* tapped.c
 * What statistics and exports are handed of each call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tap/tapped.h"

#include "names/names.h"
#include "state/metadata.h"
#include "state/queries.h"

#include <epan/tap.h>

static int taps[2]; /* that get each call */
static unsigned num_taps;

void tapped_add(int tap_id)
{
    ws_assert(num_taps < G_N_ELEMENTS(taps));
    taps[num_taps++] = tap_id;
}

bool tapped_wanted(void)
{
    return have_tap_listener(taps[0]) || have_tap_listener(taps[1]);
}

void tapped_hand_over(packet_info *pinfo, const tapped_call *tapped)
{
    ws_assert(tapped->unread || (tapped->operation && tapped->server));
    if (!tapped_wanted()) {
        return;
    }
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

void tapped_hand_over_setup(packet_info *pinfo, const tapped_call *tapped)
{
    static int setup_tap; /* 0: not looked up, or not registered */

    setup_tap = setup_tap ? setup_tap : find_tap_id(TAPPED_SETUP_NAME);
    if (have_tap_listener(setup_tap)) {
        tap_queue_packet(setup_tap, pinfo, wmem_memdup(pinfo->pool, tapped, sizeof *tapped));
    }
}

const char *tapped_placed(wmem_allocator_t *pool, const state_handle *handle, const char *path)
{
    return path && handle && handle->place ? wmem_strdup_printf(pool, "%s (%s)", path, handle->place) : path;
}

GString *tapped_names(void)
{
    return names_file_text();
}

bool tapped_is_usual_failure(const tapped_call *tapped)
{
    enum { NOT_FOUND = 1168, RESOURCE_LANG_NOT_FOUND = 1815, WMI_INSTANCE_NOT_FOUND = 4201 };
    bool is_nothing = tapped->status == NOT_FOUND || tapped->status == RESOURCE_LANG_NOT_FOUND ||
                      tapped->status == WMI_INSTANCE_NOT_FOUND;

    return (tapped->handle == NULL && is_nothing) || g_str_has_prefix(tapped->operation, "Close");
}

unsigned tapped_asked_for(const tapped_call *tapped)
{
    return MAX(tapped->epoch->hash, 1);
}

uint64_t tapped_identifier_key(const tapped_call *tapped, uint32_t number)
{
    const perf_identifier *identifier = &tapped->identifiers[number];
    unsigned hash = query_identifier_hash(identifier) ^ g_direct_hash(tapped->server);

    return (uint64_t)hash << 32 | identifier->counter_id;
}

const char *tapped_object_name(wmem_allocator_t *pool, state_server *server, uint32_t title)
{
    const char *label = metadata_label(pool, server, metadata_title_key(title));

    return *label == '#' ? label : wmem_strdup_printf(pool, "%s (%u)", label, title);
}
