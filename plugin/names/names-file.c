/* names-file.c
 * The names file: written of what one capture taught, read for others.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "names/names.h"

#include "state/metadata.h"

#include <wsutil/filesystem.h>
#include <wsutil/report_message.h>
#include <wsutil/strtoi.h>

/* --- Writing --------------------------------------------------------------------------------------------------- */

/* Letters behind a backslash, and the characters that they stand for, which would end a field, a line or an escape. */
static const char escaped[] = "\\tnr", meant[] = "\\\t\n\r";

/* Appends a text with its backslashes, tabs and ends of lines as escapes. */
static void write_escaped_text(GString *out, const char *text)
{
    for (; *text; text++) {
        const char *which = strchr(meant, *text);
        if (which) {
            g_string_append_c(out, '\\');
        }
        g_string_append_c(out, which ? escaped[which - meant] : *text);
    }
}

typedef struct {
    GString *text;
    const char *server; /* of the lines written last; NULL: no line yet */
} writer;

/* Writes a tab and an id; "-" for PERF_NO_ID. */
static void write_id(GString *out, uint32_t id)
{
    if (id == PERF_NO_ID) {
        g_string_append(out, "\t-");
    } else {
        g_string_append_printf(out, "\t%u", id);
    }
}

/* Writes an entry's line. A line with its server comes first, if the line before is of another. `user`: writer. */
static void write_entry(const char *server, const metadata_key *key, metadata_kind kind, const metadata_entry *entry,
                        void *user)
{
    static const char *const words[] = {"name", "name", "counter", "set"};
    writer *out = user;

    if (out->server == NULL || strcmp(out->server, server) != 0) {
        g_string_append_printf(out->text, "server\t%s\n", server);
        out->server = server;
    }
    if (key->is_title) {
        g_string_append(out->text, "title");
    } else {
        char *guid = metadata_format_guid(NULL, key->guid);
        g_string_append_printf(out->text, "%s\t%s", words[kind], guid);
        wmem_free(NULL, guid);
    }
    if (kind != METADATA_COUNTERSET) {
        write_id(out->text, key->id);
    }
    if (kind == METADATA_COUNTER) {
        const perf_counter_info *counter = &entry->counter;
        g_string_append_printf(out->text, "\t0x%08x", counter->type);
        write_id(out->text, counter->base_id);
        write_id(out->text, counter->time_id);
        write_id(out->text, counter->freq_id);
        write_id(out->text, counter->multi_id);
        g_string_append_printf(out->text, "\t%d", counter->scale);
    } else if (kind == METADATA_COUNTERSET) {
        g_string_append_printf(out->text, "\t0x%02x", entry->instance_type);
    } else {
        g_string_append_printf(out->text, kind == METADATA_ENGLISH ? "\ten\t" : "\t0x%04x\t", entry->lcid);
        write_escaped_text(out->text, entry->name);
    }
    g_string_append_c(out->text, '\n');
}

GString *names_file_text(void)
{
    writer out = {g_string_new("# pcq names 1\n"), NULL};

    unsigned assumed = metadata_foreach(write_entry, &out);
    if (assumed > 0) {
        g_string_append_printf(out.text, "# omitted: %u names and types that are assumed\n", assumed);
    }
    if (out.server == NULL) {
        g_string_free(g_steal_pointer(&out.text), TRUE);
    }
    return out.text;
}

/* --- Reading its lines --------------------------------------------------------------------------------------------------- */

/* Reads a number of 32 bits, decimal or hexadecimal with 0x. Returns false for any other text. */
static bool parse_number(const char *text, uint32_t *number)
{
    bool is_hex = g_str_has_prefix(text, "0x");

    return g_ascii_isdigit(*text) && (is_hex ? ws_hexstrtou32 : ws_strtou32)(text, NULL, number);
}

/* Reads "{b4fc721a-0378-476f-89ba-a5a79f810b36}" as little-endian bytes. Returns false for any other text. */
static bool parse_guid(const char *text, uint8_t guid[16])
{
    static const char form[] = "{........-....-....-....-............}";
    static const uint8_t places[16] = {7, 5, 3, 1, 12, 10, 17, 15, 20, 22, 25, 27, 29, 31, 33, 35};

    for (unsigned i = 0; i < sizeof form; i++) {
        if (form[i] == '.' ? !g_ascii_isxdigit(text[i]) : text[i] != form[i]) {
            return false;
        }
    }
    for (unsigned i = 0; i < sizeof places; i++) {
        const char *digits = text + places[i];
        guid[i] = (uint8_t)(g_ascii_xdigit_value(digits[0]) << 4 | g_ascii_xdigit_value(digits[1]));
    }
    return true;
}

/* Reads an id, or "-" as PERF_NO_ID. Returns false for any other text. */
static bool parse_id(const char *text, uint32_t *id)
{
    *id = PERF_NO_ID;
    return strcmp(text, "-") == 0 || parse_number(text, id);
}

/* Replaces C escapes by their characters, in place, even if it fails. Returns false for a text that is then empty or not UTF-8. */
static bool parse_text(char *text)
{
    char *plain = g_strcompress(text);
    bool is_text = *plain && g_utf8_validate(plain, -1, NULL);

    g_strlcpy(text, plain, strlen(text) + 1); /* not longer: an escape is a character */
    g_free(plain);
    return is_text;
}

/* Reads language ("en" or a locale identifier) and name. `fields`: the last two of a line. Returns false if they cannot be read. Changes: `entry`
 * points to the name in `fields`. */
static bool parse_name(char **fields, metadata_kind *kind, metadata_entry *entry)
{
    *kind = strcmp(fields[0], "en") == 0 ? METADATA_ENGLISH : METADATA_LOCAL;
    entry->name = fields[1];
    return (*kind == METADATA_ENGLISH || parse_number(fields[0], &entry->lcid)) && parse_text(fields[1]);
}

/* Reads the fields of a "title", "name", "counter" or "set" line. Returns false for any other line. Needs: a field at least, `key` and `entry` of
 * zeros. Changes: `entry` may point into the fields. */
static bool parse_entry(char **f, unsigned count, metadata_key *key, metadata_kind *kind, metadata_entry *entry)
{
    if (strcmp(f[0], "title") == 0) {
        key->is_title = 1;
        return count == 4 && parse_number(f[1], &key->id) && parse_name(f + 2, kind, entry);
    }
    if (count < 3 || !parse_guid(f[1], key->guid)) {
        return false;
    }
    if (strcmp(f[0], "name") == 0) {
        return count == 5 && parse_id(f[2], &key->id) && parse_name(f + 3, kind, entry);
    }
    if (strcmp(f[0], "counter") == 0) {
        perf_counter_info *counter = &entry->counter;
        *kind = METADATA_COUNTER;
        return count == 9 && parse_number(f[2], &key->id) && parse_number(f[3], &counter->type) &&
               parse_id(f[4], &counter->base_id) && parse_id(f[5], &counter->time_id) &&
               parse_id(f[6], &counter->freq_id) && parse_id(f[7], &counter->multi_id) &&
               ws_strtoi32(f[8], NULL, &counter->scale);
    }
    *kind = METADATA_COUNTERSET;
    key->id = PERF_NO_ID;
    return strcmp(f[0], "set") == 0 && count == 3 && parse_number(f[2], &entry->instance_type);
}

/* Fields of the longest kind of line, and one more, so that too many are noticed. */
#define MAX_FIELDS 10

/* Returns the address in "192.0.2.1:445" or "[2001:db8::1]:445", since older files have ports; "*" stays. Free it. */
static char *copy_server_address(const char *server)
{
    bool has_port = strchr(server, ':') == strrchr(server, ':');

    return *server == '[' ? g_strndup(server + 1, strcspn(server + 1, "]"))
                          : g_strndup(server, strcspn(server, has_port ? ":" : ""));
}

/* Reads a line: adds its name or type for `server` (an address, "*" or NULL: any), or takes its server. Returns false if it cannot be read.
 * Changes: the metadata; a "server" line frees and replaces `server`. */
static bool read_fields(const char *text, metadata_source source, char **server)
{
    char **fields = g_strsplit(text, "\t", MAX_FIELDS);
    unsigned count = g_strv_length(fields);
    bool is_server = count == 2 && strcmp(fields[0], "server") == 0;
    metadata_key key = {.id = 0};
    metadata_entry entry = {.name = NULL};
    metadata_kind kind;
    bool is_entry = parse_entry(fields, count, &key, &kind, &entry);

    if (is_server) {
        g_free(*server);
        *server = copy_server_address(fields[1]);
    } else if (is_entry) {
        metadata_add_from_file(source, *server, key, kind, &entry);
    }
    g_strfreev(fields);
    return is_server || is_entry;
}

/* Reads the lines of a file. Empty lines and comments are skipped; so are lines that cannot be read, which one warning counts. Needs: a byte behind
 * `size`. Changes: ends each line in `text` with a 0. */
static void read_lines(const char *path, char *text, size_t size)
{
    unsigned number = 0, first = 0, count = 0;
    char *server = NULL, *end;

    for (char *line = text, *next; line < text + size; line = next) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        end = end ? end : text + size;
        next = end + 1;
        end -= end > line && end[-1] == '\r';
        *end = '\0';
        number++;
        if (*line && *line != '#' && !read_fields(line, METADATA_FILE, &server)) {
            first = count++ > 0 ? first : number;
        }
    }
    if (count > 0) {
        report_warning("pcq: names file %s: %u of its lines cannot be read and are skipped, the first is line %u", path,
                       count, first);
    }
    g_free(server);
}

/* --- The file -------------------------------------------------------------------------------------------------- */

static const char *const *preference; /* path of the file; "": the default one */

/* Reads the built-in list, and the file of the preference, else the default one of the profile or of the personal folder, if there is one. Wireshark
 * calls it before each capture. */
static void names_file_load(void)
{
    char *path = **preference ? g_strdup(*preference) : NULL, *any = NULL;

    for (const char *const *line = names_builtin; *line; line++) {
        read_fields(*line, METADATA_BUILTIN, &any);
    }
    for (int from_profile = 1; path == NULL && from_profile >= 0; from_profile--) {
        path = get_persconffile_path("pcq_names", from_profile);
        if (!file_exists(path)) {
            g_clear_pointer(&path, g_free);
        }
    }
    GError *error = NULL;
    char *text;
    size_t size;
    if (path && g_file_get_contents(path, &text, &size, &error)) {
        size_t mark = g_str_has_prefix(text, "\xEF\xBB\xBF") ? 3 : 0; /* byte order, as editors of Windows write it */
        read_lines(path, text + mark, size - mark);
        g_free(text);
    } else if (path) {
        report_failure("pcq: names file %s: %s", path, error->message);
        g_error_free(error);
    }
    g_free(path);
}

void names_file_register(const char *const *path)
{
    preference = path;
    register_init_routine(names_file_load);
}
