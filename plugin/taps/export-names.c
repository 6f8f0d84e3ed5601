/* export-names.c
 * The names file among Wireshark's export objects: File, Export Objects, PCQ-NAMES.
 *
 * `-z pcq,names,FILE` is for the command line; a window has no other dialog to choose a file with that a plugin may use.
 * Export objects belong to protocols, and each has one kind: so there is one that has nothing else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/export-objects.h"

#include "names/names-file.h"
#include "readings/tapped.h"

#include <epan/export_object.h>
#include <epan/tap.h>

#define FILTER_NAME "pcq-names"

/* Of the one list of objects that there is. */
static struct {
    export_object_entry_t *entry; /* belongs to Wireshark; NULL before the first call */
    uint64_t calls;
    bool drawn_by_us;
} state;

static void reset(void)
{
    state.entry = NULL;
    state.calls = 0;
}

static void write_entry(void)
{
    char *text = names_file_text();

    g_free(state.entry->payload_data);
    state.entry->payload_len = text ? strlen(text) : 0;
    state.entry->payload_data = (uint8_t *)text;
}

static void write_at_the_end(void *user _U_)
{
    if (state.entry) {
        write_entry();
    }
}

static void add_entry(export_object_list_t *list, const packet_info *pinfo, const perf_tapped *tapped)
{
    state.entry = g_new0(export_object_entry_t, 1);
    state.entry->pkt_num = pinfo->num;
    state.entry->hostname = g_strdup(perf_server_address(tapped->server));
    state.entry->content_type = g_strdup("text/plain");
    state.entry->filename = g_strdup("pcq_names");
    list->add_entry(list->gui_data, state.entry);
}

/* Seen again, a capture has taught all that it will with its first call. While it is running, the text is made anew with
 * the 1st, 2nd, 4th, 8th… call. */
static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                             tap_flags_t flags _U_)
{
    bool is_new = state.entry == NULL;

    state.calls++;
    if (is_new) {
        add_entry(data, pinfo, tapped);
    }
    if (export_objects_stay()) {
        if (!state.drawn_by_us) {
            GString *error =
                register_tap_listener("frame", &state, NULL, TL_REQUIRES_NOTHING, NULL, NULL, write_at_the_end, NULL);
            state.drawn_by_us = error == NULL;
        }
    } else if (PINFO_FD_VISITED(pinfo) ? is_new : (state.calls & (state.calls - 1)) == 0) {
        write_entry();
    }
    return TAP_PACKET_REDRAW;
}

void export_names_register(void)
{
    if (proto_get_id_by_filter_name(FILTER_NAME) == -1) {
        int proto = proto_register_protocol("Names of performance counters, to be exported", "PCQ-NAMES", FILTER_NAME);
        perf_tap_add(register_export_object(proto, add, reset));
    }
}
