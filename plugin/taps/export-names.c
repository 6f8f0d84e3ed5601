/* export-names.c
 * The names file: `-z pcq,names,FILE`, and among Wireshark's export objects: File, Export Objects, PCQ-NAMES.
 *
 * The first is for the command line; a window has no other dialog to choose a file with that a plugin may use.
 * Export objects belong to protocols, and each has one kind: so there is one that has nothing else.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/export-objects.h"

#include "taps/taps.h"

#include "names/names-file.h"
#include "readings/tapped.h"
#include "taps/output.h"

#include <epan/export_object.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <wsutil/report_message.h>

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

static void add_entry(export_object_list_t *list, const packet_info *pinfo, const tapped_call *tapped)
{
    state.entry = g_new0(export_object_entry_t, 1);
    state.entry->pkt_num = pinfo->num;
    state.entry->hostname = g_strdup(host_address(tapped->server));
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

/* --- -z pcq,names,FILE -----------------------------------------------------------------------------------------------*/

static void write_names(void *path)
{
    char *text = names_file_text();
    output_file *file = text ? output_open(path, path) : NULL;

    if (text == NULL) {
        output_failed("pcq: %s was not written: this capture taught no names (is it decrypted? does it hold the "
                      "client's browsing?)",
                      (const char *)path);
    }
    if (file) {
        output_write(file, text, strlen(text));
        output_place(file);
        output_close(file);
    }
    g_free(text);
}

static ws_stat_started start_writing(const char *argument, void *user _U_)
{
    static const char prefix[] = "pcq,names,";
    GString *error;

    if (strncmp(argument, prefix, strlen(prefix)) != 0 || argument[strlen(prefix)] == '\0') {
        report_failure("pcq: say where to write the names: -z pcq,names,FILE");
        WS_STAT_FAILED;
    }
    char *path = g_strdup(argument + strlen(prefix));
    if (!output_claim(path, path)) {
        WS_STAT_FAILED;
    }
    error = register_tap_listener("frame", path, NULL, TL_REQUIRES_NOTHING, NULL, NULL, write_names, NULL);
    if (error) {
        report_failure("pcq: %s", error->str);
        WS_STAT_FAILED;
    }
    WS_STAT_STARTED;
}

void export_names_register(void)
{
    static stat_tap_ui writing = {REGISTER_STAT_GROUP_GENERIC, NULL, "pcq,names", start_writing, 0, NULL};

    register_stat_tap_ui(&writing, NULL);
    if (proto_get_id_by_filter_name(FILTER_NAME) == -1) {
        int proto = proto_register_protocol("Names of performance counters, to be exported", "PCQ-NAMES", FILTER_NAME);
        tapped_add(register_export_object(proto, add, reset));
    }
}
