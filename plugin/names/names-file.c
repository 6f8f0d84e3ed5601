/* names-file.c
 * The names file: what one capture taught, for reading others.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "names/names-file.h"

#include "state/state.h"

#include <stdio.h>

#include <glib/gstdio.h>

#include <wsutil/filesystem.h>
#include <wsutil/report_message.h>

#include "names/names-reader.h"
#include "text/value-strings.h"

#define FIRST_LINE "# pcq names 1"
#define DEFAULT_NAME "pcq_names"

/* Of what is read. */
#define MAX_FILE_SIZE (64U << 20)
#define MAX_FILES 1000

/* --- Writing --------------------------------------------------------------------------------------------------- */

typedef struct {
    GString *text;
    const char *server; /* of the lines written last */
} writer;

static void write_id(GString *out, uint32_t id)
{
    if (id == PERF_NO_ID) {
        g_string_append(out, "\t-");
    } else {
        g_string_append_printf(out, "\t%u", id);
    }
}

static void write_counter(GString *out, const state_counter_info *counter)
{
    g_string_append_printf(out, "\t0x%08x", counter->type);
    write_id(out, counter->base_id);
    write_id(out, counter->time_id);
    write_id(out, counter->freq_id);
    write_id(out, counter->multi_id);
    g_string_append_printf(out, "\t%d", counter->scale);
}

static void write_fact(const char *server, const state_subject *subject, state_fact_kind kind, const state_fact *fact,
                       void *user)
{
    static const char *const words[] = {"name", "name", "counter", "set"};
    writer *out = user;

    if (out->server == NULL || strcmp(out->server, server) != 0) {
        g_string_append_printf(out->text, "server\t%s\n", server);
        out->server = server;
    }
    if (facts_subject_is_title(subject)) {
        g_string_append(out->text, "title");
    } else {
        char *guid = facts_guid_text(NULL, subject->guid);
        g_string_append_printf(out->text, "%s\t%s", words[kind], guid);
        wmem_free(NULL, guid);
    }
    if (kind != PERF_FACT_SET) {
        write_id(out->text, subject->id);
    }
    if (kind == PERF_FACT_COUNTER) {
        write_counter(out->text, &fact->counter);
    } else if (kind == PERF_FACT_SET) {
        g_string_append_printf(out->text, "\t0x%02x", fact->instance_type);
    } else {
        g_string_append_printf(out->text, kind == PERF_FACT_ENGLISH ? "\ten\t" : "\t0x%04x\t", fact->lcid);
        names_write_text(out->text, fact->name);
    }
    g_string_append_c(out->text, '\n');
}

char *names_file_text(void)
{
    writer out = {g_string_new(FIRST_LINE "\n"), NULL};

    facts_visit(write_fact, &out);
    return g_string_free(out.text, out.server == NULL);
}

/* --- Reading --------------------------------------------------------------------------------------------------- */

static char *chosen;

void names_file_choose(const char *path)
{
    g_free(chosen);
    chosen = g_strdup(path);
}

/* The file or folder of the preference, or the default one of the profile or the personal folder; NULL if there is
 * none. */
static char *find_file(void)
{
    if (chosen && *chosen) {
        return g_strdup(chosen);
    }
    for (int from_profile = 1; from_profile >= 0; from_profile--) {
        char *path = get_persconffile_path(DEFAULT_NAME, from_profile);
        if (file_exists(path)) {
            return path;
        }
        g_free(path);
    }
    return NULL;
}

/* g_stat() would say it in a structure that MSVC's GLib and MinGW's lay out in two ways. */
static bool is_too_big(const char *path)
{
    FILE *file = g_fopen(path, "rb");
    bool too_big = false;

    if (file) {
        long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
        too_big = size < 0 || size > (long)MAX_FILE_SIZE;
        fclose(file);
    }
    return too_big;
}

/* One file, whichever of the two forms it has. */
static void read_file(const char *path)
{
    char *text = NULL;
    GError *error = NULL;
    size_t size;

    if (g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        report_failure("pcq: names file %s is neither a file nor a folder", path);
    } else if (is_too_big(path)) {
        report_failure("pcq: names file %s has more than %u MiB and is not read", path, MAX_FILE_SIZE >> 20);
    } else if (!g_file_get_contents(path, &text, &size, &error)) {
        report_failure("pcq: names file: %s", error->message);
        g_error_free(error);
    } else if (manifest_is_one(text, size)) {
        manifest_read(path, text, size);
    } else {
        names_reader_read(path, text, size);
    }
    g_free(text);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every file of a folder, in the order of their names; hidden ones are somebody else's. */
static void read_folder(const char *path)
{
    GError *error = NULL;
    GDir *folder = g_dir_open(path, 0, &error);
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    const char *name;

    if (folder == NULL) {
        report_failure("pcq: names file: %s", error->message);
        g_error_free(error);
    }
    while (folder && names->len < MAX_FILES && (name = g_dir_read_name(folder)) != NULL) {
        if (*name != '.') {
            g_ptr_array_add(names, g_build_filename(path, name, NULL));
        }
    }
    g_ptr_array_sort(names, by_name);
    for (unsigned i = 0; i < names->len; i++) {
        if (!g_file_test(g_ptr_array_index(names, i), G_FILE_TEST_IS_DIR)) {
            read_file(g_ptr_array_index(names, i));
        }
    }
    g_ptr_array_free(names, TRUE);
    if (folder) {
        g_dir_close(folder);
    }
}

static void load(void)
{
    char *path = find_file();

    facts_file_clear();
    if (path && g_file_test(path, G_FILE_TEST_IS_DIR)) {
        read_folder(path);
    } else if (path) {
        read_file(path);
    }
    g_free(path);
}

void names_file_register(void)
{
    register_init_routine(load);
}
