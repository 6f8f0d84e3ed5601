/* export-names.c
 * `-z pcq,names,FILE`: the names file. A window has no other dialog to choose a file with that a plugin may use than that of
 * export objects.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "names/names.h"
#include "taps/output.h"

/* Writes the names file once the capture is read. A file stays as it was, and that is a failure, if there are no names. */
static void write_names(void *data)
{
    output_task *task = data;
    GString *text = names_file_text();

    if (text) {
        output_whole(task->path, text);
    } else {
        output_failed(g_strdup_printf(
            "%s was not written: this capture taught no names (does it hold the client's browsing?)", task->path));
        output_print_omissions(&task->omitted);
    }
}

output_statistic names_statistic = {.name = "pcq,names", .task_size = sizeof(output_task), .draw = write_names};
