/* export-names.c
 * `-z pcq,names,FILE`: the names file. A window has no other dialog to choose a file with that a plugin may use than that of
 * export objects.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "tap/tapped.h"
#include "taps/output.h"

#include <epan/stat_tap_ui.h>
#include <wsutil/report_message.h>

/* One -z. */
typedef struct {
    char *path;
    bool has_said;
    left_out left;
} names_export;

static tap_packet_status names_count(void *data, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *tapped,
                                     tap_flags_t flags _U_)
{
    names_export *export = data;

    left_out_count(&export->left, tapped);
    return TAP_PACKET_REDRAW;
}

static void write_names(void *data)
{
    names_export *export = data;
    char *text = tapped_names();

    if (text) {
        output_text(export->path, text, strlen(text));
    } else if (!export->has_said) {
        export->has_said = true;
        output_failed("pcq: %s was not written: this capture taught no names (does it hold the client's browsing?)",
                      export->path);
        output_say_left_out(&export->left, "names");
    }
    g_free(text);
}

static ws_stat_started start_writing(const char *argument, void *user _U_)
{
    static const char prefix[] = "pcq,names,";

    if (strncmp(argument, prefix, strlen(prefix)) != 0 || argument[strlen(prefix)] == '\0') {
        report_failure("pcq: say where to write the names: -z pcq,names,FILE");
        WS_STAT_STARTED(false);
    }
    names_export *export = g_new0(names_export, 1);
    export->path = g_strdup(argument + strlen(prefix));
    WS_STAT_STARTED(output_listen(TAPPED_NAME, export, NULL, NULL, names_count, write_names));
}

void export_names_register(void)
{
    static stat_tap_ui writing = {REGISTER_STAT_GROUP_GENERIC, NULL, "pcq,names", start_writing, 0, NULL};

    register_stat_tap_ui(&writing, NULL);
}
