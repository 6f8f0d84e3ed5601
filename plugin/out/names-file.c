/* names-file.c
 * The names file: what one capture taught, for reading others.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "out/names-file.h"

#include "state/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib/gstdio.h>

#include <epan/stat_tap_ui.h>
#include <epan/tap.h>
#include <wsutil/filesystem.h>
#include <wsutil/report_message.h>

#include "tree/strings.h"

#define FIRST_LINE "# pcq names 1"
#define DEFAULT_NAME "pcq_names"

/* Of one report; a file that is no names file at all has a fault in each line. */
#define MAX_REPORTED_LINES 10

/* --- Writing --------------------------------------------------------------------------------------------------- */

typedef struct {
    FILE *file;
    const char *server; /* of the lines written last */
} writer;

/* Text without the characters that end a field or line. */
static void write_text(FILE *file, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '\\':
            fputs("\\\\", file);
            break;
        case '\t':
            fputs("\\t", file);
            break;
        case '\n':
            fputs("\\n", file);
            break;
        case '\r':
            fputs("\\r", file);
            break;
        default:
            fputc(*text, file);
        }
    }
}

static void write_id(FILE *file, uint32_t id)
{
    if (id == PERF_NO_ID) {
        fputs("\t-", file);
    } else {
        fprintf(file, "\t%u", id);
    }
}

static void write_counter(FILE *file, const perf_counter_info *counter)
{
    fprintf(file, "\t0x%08x", counter->type);
    write_id(file, counter->base_id);
    write_id(file, counter->time_id);
    write_id(file, counter->freq_id);
    write_id(file, counter->multi_id);
    fprintf(file, "\t%d", counter->scale);
}

static void write_fact(const char *server, const perf_subject *subject, perf_fact_kind kind, const perf_fact *fact,
                       void *user)
{
    static const char *const words[] = {"name", "name", "counter", "set"};
    writer *out = user;

    if (out->server == NULL || strcmp(out->server, server) != 0) {
        fprintf(out->file, "server\t%s\n", server);
        out->server = server;
    }
    if (perf_subject_is_title(subject)) {
        fputs("title", out->file);
    } else {
        char *guid = perf_guid_text(NULL, subject->guid);
        fprintf(out->file, "%s\t%s", words[kind], guid);
        wmem_free(NULL, guid);
    }
    if (kind != PERF_FACT_SET) {
        write_id(out->file, subject->id);
    }
    if (kind == PERF_FACT_COUNTER) {
        write_counter(out->file, &fact->counter);
    } else if (kind == PERF_FACT_SET) {
        fprintf(out->file, "\t0x%02x", fact->instance_type);
    } else {
        fprintf(out->file, kind == PERF_FACT_ENGLISH ? "\ten\t" : "\t0x%04x\t", fact->lcid);
        write_text(out->file, fact->name);
    }
    fputc('\n', out->file);
}

static void write_names(void *path)
{
    /* The same bytes on every system: Windows would end lines otherwise. */
    writer out = {g_fopen(path, "wb"), NULL};

    if (out.file == NULL) {
        report_failure("pcq: cannot write %s: %s", (const char *)path, g_strerror(errno));
        return;
    }
    fputs(FIRST_LINE "\n", out.file);
    perf_facts_visit(write_fact, &out);
    bool failed = ferror(out.file) != 0;
    if (fclose(out.file) != 0 || failed) {
        report_failure("pcq: %s was not written completely", (const char *)path);
    }
}

static ws_stat_started start_writing(const char *argument, void *user _U_)
{
    static const char prefix[] = "pcq,names,";
    GString *error;

    if (strncmp(argument, prefix, strlen(prefix)) != 0 || argument[strlen(prefix)] == '\0') {
        report_failure("pcq: say where to write the names: -z pcq,names,FILE");
        WS_STAT_FAILED;
    }
    error = register_tap_listener("frame", g_strdup(argument + strlen(prefix)), NULL, TL_REQUIRES_NOTHING, NULL, NULL,
                                  write_names, NULL);
    if (error) {
        report_failure("pcq: %s", error->str);
        WS_STAT_FAILED;
    }
    WS_STAT_STARTED;
}

/* --- Reading --------------------------------------------------------------------------------------------------- */

typedef struct {
    char **fields;
    unsigned count;
    const char *server; /* NULL: any */
} line_fields;

static bool parse_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = g_ascii_strtoull(text, &end, g_str_has_prefix(text, "0x") ? 16 : 10);
    *number = (uint32_t)value;
    return errno == 0 && end != text && *end == '\0' && value <= UINT32_MAX && g_ascii_isdigit(*text);
}

static bool parse_id(const char *text, uint32_t *id)
{
    *id = PERF_NO_ID;
    return strcmp(text, "-") == 0 || parse_number(text, id);
}

static bool parse_scale(const char *text, int32_t *scale)
{
    uint32_t number;
    bool negative = *text == '-';

    if (!parse_number(text + negative, &number) || number > INT32_MAX) {
        return false;
    }
    *scale = negative ? -(int32_t)number : (int32_t)number;
    return true;
}

static int hex_digits(const char *text, unsigned count, uint8_t *bytes)
{
    for (unsigned i = 0; i < count; i++) {
        int high = g_ascii_xdigit_value(text[2 * i]);
        int low = high < 0 ? -1 : g_ascii_xdigit_value(text[2 * i + 1]);
        if (low < 0) {
            return -1;
        }
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return 0;
}

/* {b4fc721a-0378-476f-89ba-a5a79f810b36} as little-endian bytes */
static bool parse_guid(const char *text, uint8_t guid[16])
{
    uint8_t b[16];

    if (strlen(text) != 38 || text[0] != '{' || text[9] != '-' || text[14] != '-' || text[19] != '-' ||
        text[24] != '-' || text[37] != '}' || hex_digits(text + 1, 4, b) < 0 || hex_digits(text + 10, 2, b + 4) < 0 ||
        hex_digits(text + 15, 2, b + 6) < 0 || hex_digits(text + 20, 2, b + 8) < 0 ||
        hex_digits(text + 25, 6, b + 10) < 0) {
        return false;
    }
    uint8_t little_endian[16] = {b[3], b[2], b[1],  b[0],  b[5],  b[4],  b[7],  b[6],
                                 b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]};
    memcpy(guid, little_endian, sizeof little_endian);
    return true;
}

/* Takes the escapes out, in place. */
static bool parse_text(char *text)
{
    char *to = text;

    if (!g_utf8_validate(text, -1, NULL) || *text == '\0') {
        return false;
    }
    for (; *text; text++) {
        if (*text == '\\') {
            static const char escaped[] = "\\tnr", meant[] = "\\\t\n\r";
            const char *which = text[1] ? strchr(escaped, *++text) : NULL;
            if (which == NULL) {
                return false;
            }
            *to++ = meant[which - escaped];
        } else {
            *to++ = *text;
        }
    }
    *to = '\0';
    return true;
}

/* Language and name, the last two fields of a line. */
static bool parse_name(char **fields, perf_fact_kind *kind, perf_fact *fact)
{
    *kind = strcmp(fields[0], "en") == 0 ? PERF_FACT_ENGLISH : PERF_FACT_LOCAL;
    fact->name = fields[1];
    return (*kind == PERF_FACT_ENGLISH || parse_number(fields[0], &fact->lcid)) && parse_text(fields[1]);
}

static bool parse_counter(char **fields, perf_counter_info *counter)
{
    return parse_number(fields[0], &counter->type) && parse_id(fields[1], &counter->base_id) &&
           parse_id(fields[2], &counter->time_id) && parse_id(fields[3], &counter->freq_id) &&
           parse_id(fields[4], &counter->multi_id) && parse_scale(fields[5], &counter->scale);
}

static bool parse_fact(const line_fields *line, perf_subject *subject, perf_fact_kind *kind, perf_fact *fact)
{
    char **f = line->fields;

    memset(subject, 0, sizeof *subject);
    memset(fact, 0, sizeof *fact);
    if (strcmp(f[0], "title") == 0) {
        return line->count == 4 && parse_number(f[1], &subject->id) && parse_name(f + 2, kind, fact);
    }
    if (line->count < 3 || !parse_guid(f[1], subject->guid)) {
        return false;
    }
    if (strcmp(f[0], "name") == 0) {
        return line->count == 5 && parse_id(f[2], &subject->id) && parse_name(f + 3, kind, fact);
    }
    if (strcmp(f[0], "counter") == 0) {
        *kind = PERF_FACT_COUNTER;
        return line->count == 9 && parse_number(f[2], &subject->id) && parse_counter(f + 3, &fact->counter);
    }
    *kind = PERF_FACT_SET;
    subject->id = PERF_NO_ID;
    return strcmp(f[0], "set") == 0 && line->count == 3 && parse_number(f[2], &fact->instance_type);
}

/* Countersets are the same everywhere, so what one server said of them is a good guess for others; title indexes
 * differ from machine to machine. */
static bool read_line(line_fields *line)
{
    perf_subject subject;
    perf_fact_kind kind;
    perf_fact fact;

    if (strcmp(line->fields[0], "server") == 0 && line->count == 2) {
        line->server = strcmp(line->fields[1], "*") == 0 ? NULL : g_intern_string(line->fields[1]);
        return true;
    }
    if (!parse_fact(line, &subject, &kind, &fact)) {
        return false;
    }
    perf_names_file_add(line->server, &subject, kind, &fact);
    if (line->server && !perf_subject_is_title(&subject)) {
        perf_names_file_add(NULL, &subject, kind, &fact);
    }
    return true;
}

/* One line of `size` bytes; comments and empty lines are fine. */
static bool read_raw_line(const char *start, size_t size, line_fields *line)
{
    if (size > 0 && start[size - 1] == '\r') {
        size--;
    }
    if (size == 0 || *start == '#') {
        return true;
    }
    if (memchr(start, '\0', size) != NULL) {
        return false;
    }
    char *text = g_strndup(start, size);
    line->fields = g_strsplit(text, "\t", -1);
    line->count = g_strv_length(line->fields);
    bool done = read_line(line);
    g_strfreev(line->fields);
    g_free(text);
    return done;
}

static void read_names(const char *path, const char *text, size_t size)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    const char *end = text + size;
    GString *broken = g_string_new(NULL);
    line_fields line = {NULL, 0, NULL};
    unsigned number = 0, count = 0;

    if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
    }
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        line_end = line_end ? line_end : end;
        number++;
        if (!read_raw_line(text, (size_t)(line_end - text), &line) && count++ < MAX_REPORTED_LINES) {
            g_string_append_printf(broken, "%s%u", count > 1 ? ", " : "", number);
        }
        text = line_end + 1;
    }
    if (count > 0) {
        report_warning("pcq: names file %s: line %s%s cannot be read and %s skipped", path, broken->str,
                       count > MAX_REPORTED_LINES ? " and others" : "", count > 1 ? "are" : "is");
    }
    g_string_free(broken, TRUE);
}

static char *chosen;

void names_file_choose(const char *path)
{
    g_free(chosen);
    chosen = g_strdup(path);
}

/* The file of the preference, or the default one of the profile or the personal folder; NULL if there is none. */
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

static void load(void)
{
    char *path, *text = NULL;
    GError *error = NULL;
    size_t size;

    perf_names_file_clear();
    path = find_file();
    if (path && g_file_get_contents(path, &text, &size, &error)) {
        read_names(path, text, size);
    } else if (error) {
        report_failure("pcq: names file: %s", error->message);
        g_error_free(error);
    }
    g_free(text);
    g_free(path);
}

void names_file_register(void)
{
    static stat_tap_ui writing = {REGISTER_STAT_GROUP_GENERIC, NULL, "pcq,names", start_writing, 0, NULL};

    register_stat_tap_ui(&writing, NULL);
    register_init_routine(load);
}
