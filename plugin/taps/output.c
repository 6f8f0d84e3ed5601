/* output.c
 * A file that is written whole or not at all.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _POSIX_C_SOURCE 200809L /* fileno */

#include "taps/output.h"

#include <errno.h>
#include <stdlib.h>

#include <epan/tap.h>
#include <glib/gstdio.h>
#include <wsutil/report_message.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <unistd.h>
#endif

/* --- Failures -------------------------------------------------------------------------------------------------- */

static void leave(void)
{
    exit(EXIT_FAILURE);
}

void output_failed(const char *format, ...)
{
    static bool has_failed;
    va_list arguments;

    va_start(arguments, format);
    char *sentence = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    report_failure("%s", sentence);
    g_free(sentence);
    if (!has_failed) {
        has_failed = true;
        register_shutdown_routine(leave);
    }
}

/* Several listeners may leave out the same. */
void output_say_left_out(const left_out *left, const char *what)
{
    static GHashTable *said;
    char *line;

    said = said ? said : g_hash_table_new(g_str_hash, g_str_equal);
    for (unsigned i = 0; (line = left_out_note(left, what, i, LEFT_OUT_LONG)) != NULL; i++) {
        if (g_hash_table_add(said, line)) {
            report_warning("pcq: %s", line);
        }
    }
}

/* Who stops reading a pipe (`| head`) has what he wanted: nothing more is written, and that is no error. */
static void fail(output_file *file)
{
    if (!file->failed && errno != EPIPE) {
        bool is_stdout = strcmp(file->path, "-") == 0;
        output_failed("pcq: cannot write %s: %s", is_stdout ? "standard output" : file->path, g_strerror(errno));
    }
    file->failed = true;
}

/* --- Files ------------------------------------------------------------------------------------------------------- */

/* A mistyped name must not cost a capture, perhaps the one that is being read. */
static bool is_text(const char *path)
{
    char head[512];
    const char *end = head;
    FILE *stream = g_fopen(path, "rb");
    size_t size = stream ? fread(head, 1, sizeof head, stream) : 0;

    if (stream) {
        fclose(stream);
    }
    return g_utf8_validate(head, (gssize)size, &end) || (size == sizeof head && head + size - end < 4);
}

/* What its user may not write stays, too, though the folder would let him replace it. */
static FILE *open_beside(output_file *file, bool is_there)
{
    if (is_there && g_access(file->path, W_OK) != 0) {
        return NULL;
    }
    if (is_there && !is_text(file->path)) {
        output_failed("pcq: cannot write %s: what is there is no text; is it a capture?", file->path);
        file->failed = true;
        return NULL;
    }
    file->temporary = g_strdup_printf("%s.%08x", file->path, g_random_int());
    return g_fopen(file->temporary, "wbx");
}

static FILE *standard_output(void)
{
#ifdef _WIN32
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    return stdout;
}

static void open_stream(output_file *file)
{
    bool is_stdout = strcmp(file->path, "-") == 0, is_there = g_file_test(file->path, G_FILE_TEST_EXISTS);

    file->is_at_once = is_stdout || (is_there && !g_file_test(file->path, G_FILE_TEST_IS_REGULAR));
    if (is_stdout) {
        file->stream = standard_output();
    } else if (file->is_at_once || file->is_in_place) {
        file->stream = g_fopen(file->path, file->is_in_place ? "ab" : "wb");
    } else {
        file->stream = open_beside(file, is_there);
    }
    if (file->stream == NULL) {
        fail(file);
    }
    file->is_terminal = file->stream && isatty(fileno(file->stream));
}

static bool close_stream(output_file *file)
{
    FILE *stream = g_steal_pointer(&file->stream);

    return stream == NULL || (stream == stdout ? fflush(stream) : fclose(stream)) == 0;
}

/* For a terminal: without what steers it or turns the direction of what stands behind it. */
static void escape_lines(GString *to, const char *text, size_t size)
{
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        size_t line = end ? (size_t)(end - text) : size;
        char *plain = ws_format_text(NULL, text, line - (line > 0 && text[line - 1] == '\r'));

        g_string_append_printf(to, "%s%s", plain, end ? "\n" : "");
        wmem_free(NULL, plain);
        text += line + (end != NULL);
        size -= line + (end != NULL);
    }
}

void output_write(output_file *file, const char *text, size_t size)
{
    GString *plain = NULL;

    if (file->stream == NULL && !file->failed) {
        open_stream(file);
    }
    if (file->failed) {
        return;
    }
    if (file->is_terminal) {
        plain = g_string_new(NULL);
        escape_lines(plain, text, size);
        text = plain->str;
        size = plain->len;
    }
    if (fwrite(text, 1, size, file->stream) != size || (file->is_at_once && fflush(file->stream) != 0)) {
        fail(file);
    }
    if (plain) {
        g_string_free(plain, TRUE);
    }
}

void output_take(output_file *file, GString *text)
{
    output_write(file, text->str, text->len);
    g_string_truncate(text, 0);
}

/* Ends it; what is not in its place goes. */
static void drop(output_file *file)
{
    close_stream(file);
    if (file->temporary) {
        g_unlink(file->temporary);
    }
    g_free(g_steal_pointer(&file->temporary));
}

/* Not every system renames a file that is open. */
void output_place(output_file *file)
{
    output_write(file, "", 0);
    if (!close_stream(file) || (file->temporary && !file->failed && g_rename(file->temporary, file->path) != 0)) {
        fail(file);
    }
    if (!file->failed) {
        file->is_in_place = !file->is_at_once;
        g_free(g_steal_pointer(&file->temporary));
    }
    drop(file);
}

void output_text(const char *path, const char *text, size_t size)
{
    output_file file = {.path = path};

    output_write(&file, text, size);
    output_place(&file);
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

void output_listen_first(bool *listens, const char *tap, void *data, tap_packet_cb packet, tap_draw_cb draw)
{
    if (*listens) {
        remove_tap_listener(data);
    }
    *listens = output_listen(tap, data, NULL, NULL, packet, draw);
}

void output_restart(output_task *task)
{
    drop(&task->file);
    task->file = (output_file){.path = task->file.path};
    task->left = (left_out){.any_read = false};
}

/* A pipe stays open: who reads it would take it for ended. */
static bool can_be_written(output_file *file)
{
    open_stream(file);
    if (!file->is_at_once) {
        drop(file);
    }
    return !file->failed;
}

bool output_start(const char *argument, const char *statistic, output_task *task, tap_reset_cb reset,
                  tap_packet_cb packet, tap_draw_cb draw)
{
    char **parts = g_strsplit(argument + strlen(statistic), ",", 3);
    bool started = false;

    if (g_strv_length(parts) > 1 && *parts[1]) {
        const char *filter = parts[2] && *parts[2] ? parts[2] : NULL;
        task->file.path = g_strdup(parts[1]);
        reset(task);
        started = can_be_written(&task->file) && output_listen(TAPPED_NAME, task, filter, reset, packet, draw);
    } else {
        report_failure("pcq: say where to write: -z %s,FILE[,FILTER]", statistic);
    }
    g_strfreev(parts);
    return started;
}
