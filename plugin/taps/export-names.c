/* export-names.c
 * `-z pcq,names,FILE`: the names file. A window has no other dialog to choose a file with that a plugin may use than that of
 * export objects.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/output.h"

/* One -z. */
typedef struct {
    output_task task;
    bool has_said;
} names_export;

static void write_names(void *data)
{
    names_export *export = data;
    char *names = tapped_names();
    GString *text = g_string_new(names);

    if (names) {
        output_text(export->task.file.path, text);
    } else if (!export->has_said) {
        export->has_said = true;
        output_failed("pcq: %s was not written: this capture taught no names (does it hold the client's browsing?)",
                      export->task.file.path);
        output_say_left_out(&export->task.left, "names");
    }
    g_string_free(text, TRUE);
    g_free(names);
}

void export_names_register(void)
{
    static output_statistic statistic = {.name = "pcq,names", .task_size = sizeof(names_export), .draw = write_names};

    output_register(&statistic);
}
