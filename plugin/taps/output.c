/* output.c
 * Files that are written whole or not at all, and streams.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _POSIX_C_SOURCE 200809L /* fileno */

#include "taps/output.h"

#include "text/text.h"

#include <errno.h>
#include <stdlib.h>

#include <epan/plugin_if.h>
#include <glib/gstdio.h>
#include <wsutil/report_message.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <unistd.h>
#endif

/* --- Failures -------------------------------------------------------------------------------------------------- */

static void leave_with_failure(void)
{
    exit(EXIT_FAILURE);
}

void output_failed(char *sentence)
{
    report_failure("pcq: %s", sentence);
    g_free(sentence);
    register_shutdown_routine(leave_with_failure);
}

void output_print_omissions(const omissions *o)
{
    GPtrArray *notes = omissions_format(o, false /* is_brief */);

    for (unsigned i = 0; i < notes->len; i++) {
        report_warning("pcq: %s", (const char *)g_ptr_array_index(notes, i));
    }
    g_ptr_array_free(notes, TRUE);
}

/* Reports that a path cannot be written. */
static void report_unwritten(const char *path, const char *reason)
{
    output_failed(g_strdup_printf("cannot write %s: %s", strcmp(path, "-") == 0 ? "standard output" : path, reason));
}

/* --- Files ------------------------------------------------------------------------------------------------------- */

/* Returns true if a path may be written. Reports a file that has a zero byte near its begin, as all captures do: a mistyped name must not cost one,
 * perhaps that which is being read. */
static bool check_path(const char *path)
{
    char head[512];
    FILE *stream = g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_fopen(path, "rb") : NULL;
    size_t size = stream ? fread(head, 1, sizeof head, stream) : 0;
    bool is_text = memchr(head, '\0', size) == NULL;

    g_clear_pointer(&stream, fclose);
    if (!is_text) {
        report_unwritten(path, "what is there is no text; is it a capture?");
    }
    return is_text;
}

/* Reports errno, after which nothing is written. A program that stops reading a pipe (`| head`) has what it wanted: no error. */
static void fail_stream(output_stream *to)
{
    if (errno != EPIPE) {
        report_unwritten(to->path, g_strerror(errno));
    }
    to->failed = true;
}

/* Opens a stream, or reports why it cannot be. */
static void open_stream(output_stream *to)
{
#ifdef _WIN32
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    to->failed = !check_path(to->path);
    to->stream = to->failed ? NULL : strcmp(to->path, "-") == 0 ? stdout : g_fopen(to->path, "wb");
    if (to->stream == NULL && !to->failed) {
        fail_stream(to);
    }
}

void output_write(output_stream *to, GString *text)
{
    if (to->stream == NULL && !to->failed) {
        open_stream(to);
    }
    if (!to->failed && isatty(fileno(to->stream))) {
        text_blank_controls(text->str);
    }
    if (!to->failed && (fwrite(text->str, 1, text->len, to->stream) != text->len || fflush(to->stream) != 0)) {
        fail_stream(to);
    }
    g_string_truncate(text, 0);
}

void output_whole(const char *path, GString *text)
{
    output_stream stream = {.path = path};
    GError *error = NULL;

    if (strcmp(path, "-") == 0 ||
        (g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR))) {
        output_write(&stream, text);
    } else if (check_path(path) && !g_file_set_contents(path, text->str, (gssize)text->len, &error)) {
        report_unwritten(path, error->message);
        g_error_free(error);
    }
    g_string_free(text, TRUE);
}

/* --- What is asked for on the command line -------------------------------------------------------------------------- */

bool output_listen(const char *tap, void *data, const char *filter, tap_reset_cb reset, tap_packet_cb packet,
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

/* Returns `file` in the middle of its reading: with the first packet it is locked, and has packets. For plugin_if_get_capture_file(). */
static void *get_file_being_read(capture_file *file, void *data _U_)
{
    return file && file->read_lock && file->count > 0 ? file : NULL;
}

bool output_is_reading(void)
{
    return plugin_if_get_capture_file(get_file_being_read, NULL) != NULL;
}

/* --- The end of the packets ---------------------------------------------------------------------------------------- */

static void (*end_functions[2])(void); /* of tables and of export objects, the first asked for first; NULL: none */
static uint32_t last_frame;            /* of a window's capture; 0: no window */

/* Wireshark's tap_draw_cb. */
static void call_end_functions(void *data _U_)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(end_functions) && end_functions[i]; i++) {
        end_functions[i]();
    }
}

/* Makes call_end_functions() the newest listener, which tshark and sharkd draw first. A window draws nobody before it shows its rows. */
static void renew_drawing(void)
{
    ws_info_t *info = NULL;

    plugin_if_get_ws_info(&info);
    last_frame = info ? info->cf_count : 0;
    remove_tap_listener(&last_frame);
    output_listen("frame", &last_frame, NULL, NULL, NULL, last_frame == 0 ? call_end_functions : NULL);
}

/* Sees each packet. tshark and sharkd register a table's own listener after output_call_at_end(), so with the first packet of a reading the drawing is
 * renewed. In a window the end functions are called with the last packet. */
static tap_packet_status end_packet(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped _U_,
                                    tap_flags_t flags _U_)
{
    if (pinfo->num == 1) {
        renew_drawing();
    }
    if (pinfo->num == last_frame) {
        call_end_functions(NULL);
    }
    return TAP_PACKET_DONT_REDRAW;
}

void output_call_at_end(void (*end)(void))
{
    unsigned i = end_functions[0] != NULL && end_functions[0] != end;

    if (end_functions[0] == NULL) {
        output_listen("frame", end_functions, NULL, NULL, end_packet, NULL);
        output_listen("frame", &last_frame, NULL, NULL, NULL, NULL);
    }
    end_functions[i] = end;
    renew_drawing(); /* behind the first packet, of which the end may be the same */
}

/* --- One -z ---------------------------------------------------------------------------------------------------------- */

/* Forgets all that a -z counted; paths stay. `data`: output_task. */
static void reset_task(void *data)
{
    output_task *task = data;

    task->omitted = (omissions){.paths = task->omitted.paths};
    if (task->statistic->reset) {
        task->statistic->reset(task);
    }
}

/* Counts a call for a -z, for Wireshark's tap: what its output will lack, other than values, then what the statistic counts. `data`: output_task; `tapped`: call_tap_data. */
static tap_packet_status task_count_call(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                                         tap_flags_t flags _U_)
{
    output_task *task = data;

    omissions_count_call(&task->omitted, tapped);
    if (task->statistic->count) {
        task->statistic->count(task, pinfo, tapped);
    }
    return TAP_PACKET_REDRAW;
}

/* Begins a -z: reads its argument, and listens. `user`: output_statistic. */
static ws_stat_started start_task(const char *argument, void *user)
{
    const output_statistic *statistic = user;
    char **parts = g_strsplit(argument + strlen(statistic->name), ",", 3);
    unsigned count = g_strv_length(parts);
    const char *filter = count > 2 && *parts[2] ? parts[2] : NULL;
    output_task *task = g_malloc0(statistic->task_size);

    task->statistic = statistic;
    task->path = count > 1 && *parts[1] ? g_strdup(parts[1]) : "-";
    task->omitted.paths = statistic->takes_paths ? watch_take_paths(&filter) : NULL;
    reset_task(task);
    bool started = output_listen(CALL_TAP_NAME, task, filter, reset_task, task_count_call, statistic->draw);
    g_strfreev(parts);
    WS_STAT_STARTED(started);
}

void output_register(output_statistic *statistic)
{
    statistic->ui = (stat_tap_ui){REGISTER_STAT_GROUP_GENERIC, NULL, statistic->name, start_task, 0, NULL};
    register_stat_tap_ui(&statistic->ui, statistic);
}
