/* output.c
 * A file that is written whole or not at all.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#define _XOPEN_SOURCE 700 /* fdopen, realpath */
#define _FILE_OFFSET_BITS 64

#include "taps/output.h"
#include "taps/taps.h"
#include "text/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include <fcntl.h>

#include <glib/gstdio.h>

#include <wsutil/report_message.h>

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#define O_BINARY 0
#define O_TEMPORARY 0
#endif

#define ALL_MAY_WRITE 0666 /* as the umask allows */
#define ALL_RIGHTS 0777

struct output_file {
    FILE *stream;     /* NULL: closed, in its place */
    char *path;       /* as it was asked for */
    char *target;     /* behind links; NULL for what is written to at once */
    char *temporary;  /* NULL once it is in its place */
    bool is_terminal; /* which must not be steered; a file holds what was sent */
    bool failed;
};

/* --- The program's end ----------------------------------------------------------------------------------------- */

static bool has_failed;
static GHashTable *said;   /* lines */
static GHashTable *owners; /* file -> owner */

void output_failed(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *sentence = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    report_failure("%s", sentence);
    g_free(sentence);
    has_failed = true;
}

/* Several listeners may leave out the same. */
void output_say_left_out(const tapped_left_out *left, const char *what)
{
    char *line;

    for (unsigned i = 0; (line = tapped_note(left, what, i, TAPPED_LONG)) != NULL; i++) {
        if (g_hash_table_add(said, g_strdup(line))) {
            report_warning("pcq: %s", line);
        }
        g_free(line);
    }
}

bool output_of_tshark(void)
{
    const char *program = g_get_prgname();

    return program && strstr(program, "tshark");
}

static void leave(void)
{
    if (has_failed) {
        exit(EXIT_FAILURE);
    }
}

static GSList *unfinished; /* output_file with a temporary file */

/* However it ends: also when another statistic could not start. Windows removes no file that is open. */
static void remove_temporaries(void)
{
    for (GSList *at = unfinished; at; at = at->next) {
        output_file *file = at->data;
        if (file->stream) {
            fclose(file->stream);
            file->stream = NULL;
        }
        g_unlink(file->temporary);
    }
}

void output_register(void)
{
    said = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    owners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    register_shutdown_routine(leave);
    atexit(remove_temporaries);
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

void output_report(const char *path, int error)
{
    output_failed("pcq: cannot write %s: %s", name_of(path), g_strerror(error));
}

/* Who stops reading a pipe (`| head`) has what he wanted: nothing more is written, and that is no error. */
static void fail(output_file *file)
{
    if (!file->failed && errno != EPIPE) {
        output_report(file->path, errno);
    }
    file->failed = true;
}

/* --- Opening --------------------------------------------------------------------------------------------------- */

/* Where it is, behind links, so that they stay. */
static char *real_path(const char *path)
{
#ifndef _WIN32
    char found[PATH_MAX];

    if (realpath(path, found)) {
        return g_strdup(found);
    }
#endif
    return g_canonicalize_filename(path, NULL);
}

static FILE *open_temporary(const char *beside, int flags, char **name)
{
    *name = g_strconcat(beside, ".XXXXXX", NULL);
    int descriptor = g_mkstemp_full(*name, O_RDWR | O_BINARY | flags, ALL_MAY_WRITE);
    FILE *stream = descriptor == -1 ? NULL : fdopen(descriptor, "w+b");

    if (stream == NULL) {
        g_free(*name);
        *name = NULL;
    }
    return stream;
}

/* What its user may not write stays, though the folder would let him replace it. What is replaced keeps its rights. */
static void open_beside(output_file *file)
{
    if (g_access(file->target, F_OK) == 0 && g_access(file->target, W_OK) != 0) {
        return;
    }
    file->stream = open_temporary(file->target, 0, &file->temporary);
#ifndef _WIN32
    GStatBuf old;
    if (file->stream && g_stat(file->target, &old) == 0) {
        g_chmod(file->temporary, old.st_mode & ALL_RIGHTS);
    }
#endif
}

static FILE *standard_output(void)
{
#ifdef _WIN32
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    return stdout;
}

/* A link to nothing, too: it becomes a file where it leads to. */
static bool is_special(const char *path)
{
    return !g_file_test(path, G_FILE_TEST_EXISTS) ? g_file_test(path, G_FILE_TEST_IS_SYMLINK)
                                                  : !g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

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

bool output_claim(const char *path, const void *owner)
{
    if (is_special(path)) {
        return true;
    }
    bool is_file = strcmp(path, "-") != 0;
    char *whole = is_file ? real_path(path) : g_strdup(path);
    const void *other = g_hash_table_lookup(owners, whole);
    const char *why = NULL;

    if (other == NULL && is_file && !is_text(whole)) {
        why = "what is there is no text; is it a capture?";
    } else if (other == NULL) {
        g_hash_table_insert(owners, g_strdup(whole), (void *)owner);
    } else if (other != owner) {
        why = "something else that was asked for goes there";
    }
    if (why) {
        output_failed("pcq: cannot write %s: %s", name_of(path), why);
    }
    g_free(whole);
    return why == NULL;
}

output_file *output_open(const char *path, const void *owner)
{
    if (!output_claim(path, owner)) {
        return NULL;
    }
    output_file *file = g_new0(output_file, 1);

    file->path = g_strdup(path);
    if (strcmp(path, "-") == 0) {
        file->stream = standard_output();
    } else if (is_special(path)) {
        file->stream = g_fopen(path, "wb");
    } else {
        file->target = real_path(path);
        open_beside(file);
    }
    if (file->stream == NULL) {
        output_report(path, errno);
        output_close(file);
        return NULL;
    }
    file->is_terminal = isatty(fileno(file->stream));
    if (file->temporary) {
        unfinished = g_slist_prepend(unfinished, file);
    }
    return file;
}

FILE *output_scratch(const char *path)
{
    FILE *stream;

    if (path && strcmp(path, "-") != 0 && !is_special(path)) {
        char *target = real_path(path), *name = NULL;
        stream = open_temporary(target, O_TEMPORARY, &name);
        if (stream) {
            g_unlink(name); /* on Windows, where an open file cannot go, it goes when it is closed */
        }
        g_free(name);
        g_free(target);
    } else {
        stream = tmpfile();
    }
    if (stream == NULL) {
        output_report(path ? path : "a temporary file", errno);
    }
    return stream;
}

/* --- Writing --------------------------------------------------------------------------------------------------- */

void output_write(output_file *file, const void *data, size_t size)
{
    if (file->failed || size == 0) {
        return;
    }
    if (file->stream == NULL) {
        file->stream = g_fopen(file->target, "ab"); /* it is in its place already */
    }
    GString *shown = file->stream && file->is_terminal ? g_string_new(NULL) : NULL;
    if (shown) {
        text_escape(shown, data, size, true);
        data = shown->str;
        size = shown->len;
    }
    if (file->stream == NULL || fwrite(data, 1, size, file->stream) != size) {
        fail(file);
    }
    if (shown) {
        g_string_free(shown, TRUE);
    }
}

void output_take_all(output_file *file, perf_csv *text)
{
    if (text->failed) {
        errno = ENOMEM;
        fail(file);
    }
    output_write(file, text->data, text->size);
    text->size = 0;
}

void output_take_at_once(output_file *file, perf_csv *text)
{
    if (file->target == NULL && !file->failed) {
        output_take_all(file, text);
        if (fflush(file->stream) != 0) {
            fail(file);
        }
    }
}

/* Not every system renames a file that is open. */
bool output_place(output_file *file)
{
    if (file->failed || file->stream == NULL) {
        return !file->failed;
    }
    if (file->target == NULL) {
        if (fflush(file->stream) != 0) {
            fail(file);
        }
        return !file->failed;
    }
    bool closed = fclose(file->stream) == 0;
    file->stream = NULL;
    if (!closed || (file->temporary && g_rename(file->temporary, file->target) != 0)) {
        fail(file);
        return false;
    }
    unfinished = g_slist_remove(unfinished, file);
    g_free(file->temporary);
    file->temporary = NULL;
    return true;
}

void output_close(output_file *file)
{
    if (file->stream && file->stream != stdout) {
        fclose(file->stream);
    }
    if (file->temporary) {
        g_unlink(file->temporary);
        unfinished = g_slist_remove(unfinished, file);
    }
    g_free(file->temporary);
    g_free(file->target);
    g_free(file->path);
    g_free(file);
}

void output_write_whole(const char *path, const void *owner, const char *text, size_t size)
{
    output_file *file = output_open(path, owner);

    if (file) {
        output_write(file, text, size);
        output_place(file);
        output_close(file);
    }
}

/* --- What is asked for on the command line -------------------------------------------------------------------------- */

tap_packet_status output_count(void *left, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *tapped,
                               tap_flags_t flags _U_)
{
    tapped_count(left, tapped);
    return TAP_PACKET_DONT_REDRAW;
}

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

void output_restart(output_task *task)
{
    if (task->file) {
        output_close(task->file);
    }
    task->file = output_open(task->path, task);
    task->left = (tapped_left_out){.any_read = false};
}

bool output_start(const char *argument, const char *statistic, output_task *task, tap_reset_cb reset,
                  tap_packet_cb packet, tap_draw_cb draw)
{
    char **parts = g_strsplit(argument + strlen(statistic), ",", 3);
    bool started = false;

    if (g_strv_length(parts) > 1 && *parts[1]) {
        const char *filter = parts[2] && *parts[2] ? parts[2] : NULL;
        task->path = g_strdup(parts[1]);
        reset(task);
        started = task->file && output_listen(TAPPED_NAME, task, filter, reset, packet, draw);
    } else {
        report_failure("pcq: say where to write: -z %s,FILE[,FILTER]", statistic);
    }
    g_strfreev(parts);
    return started;
}
