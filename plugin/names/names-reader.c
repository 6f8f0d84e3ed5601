/* names-reader.c
 * Reads what a names file says, line by line.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "names/names-reader.h"

#include <errno.h>

#include <wsutil/report_message.h>

#include "state/state.h"

/* Room for a name of 16-bit length. */
#define MAX_LINE_SIZE (256 * 1024)

/* Of the longest kind of line, and one more to notice what is too much. */
#define MAX_FIELDS 10

typedef struct {
    char **fields;
    unsigned count;
    char *server; /* owned; NULL: any */
} line_fields;

bool names_parse_number(const char *text, uint32_t *number)
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
    return strcmp(text, "-") == 0 || names_parse_number(text, id);
}

bool names_parse_scale(const char *text, int32_t *scale)
{
    uint32_t number;
    bool negative = *text == '-';

    if (!names_parse_number(text + negative, &number) || number > INT32_MAX) {
        return false;
    }
    *scale = negative ? -(int32_t)number : (int32_t)number;
    return true;
}

/* {b4fc721a-0378-476f-89ba-a5a79f810b36} as little-endian bytes */
bool names_parse_guid(const char *text, uint8_t guid[16])
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

/* A field's text cannot have what ends one: \\, \t, \n and \r. */
static const char escaped[] = "\\tnr", meant[] = "\\\t\n\r";

void names_write_text(GString *out, const char *text)
{
    for (; *text; text++) {
        const char *which = strchr(meant, *text);
        if (which) {
            g_string_append_c(out, '\\');
        }
        g_string_append_c(out, which ? escaped[which - meant] : *text);
    }
}

/* Takes the escapes out, in place. */
static bool parse_text(char *const start)
{
    char *to = start;

    if (!g_utf8_validate(start, -1, NULL) || *start == '\0') {
        return false;
    }
    for (const char *text = start; *text; text++) {
        if (*text == '\\') {
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
static bool parse_name(char **fields, state_fact_kind *kind, state_fact *fact)
{
    *kind = strcmp(fields[0], "en") == 0 ? PERF_FACT_ENGLISH : PERF_FACT_LOCAL;
    fact->name = fields[1];
    return (*kind == PERF_FACT_ENGLISH || names_parse_number(fields[0], &fact->lcid)) && parse_text(fields[1]);
}

static bool parse_counter(char **fields, state_counter_info *counter)
{
    return names_parse_number(fields[0], &counter->type) && parse_id(fields[1], &counter->base_id) &&
           parse_id(fields[2], &counter->time_id) && parse_id(fields[3], &counter->freq_id) &&
           parse_id(fields[4], &counter->multi_id) && names_parse_scale(fields[5], &counter->scale);
}

static bool parse_fact(const line_fields *line, state_subject *subject, state_fact_kind *kind, state_fact *fact)
{
    char **f = line->fields;

    memset(subject, 0, sizeof *subject);
    memset(fact, 0, sizeof *fact);
    if (strcmp(f[0], "title") == 0) {
        return line->count == 4 && names_parse_number(f[1], &subject->id) && parse_name(f + 2, kind, fact);
    }
    if (line->count < 3 || !names_parse_guid(f[1], subject->guid)) {
        return false;
    }
    if (strcmp(f[0], "name") == 0) {
        return line->count == 5 && parse_id(f[2], &subject->id) && parse_name(f + 3, kind, fact);
    }
    if (strcmp(f[0], "counter") == 0) {
        *kind = PERF_FACT_COUNTER;
        return line->count == 9 && names_parse_number(f[2], &subject->id) && parse_counter(f + 3, &fact->counter);
    }
    *kind = PERF_FACT_SET;
    subject->id = PERF_NO_ID;
    return strcmp(f[0], "set") == 0 && line->count == 3 && names_parse_number(f[2], &fact->instance_type);
}

/* Countersets are the same everywhere, so what one server said of them is a good guess for others; title indexes
 * differ from machine to machine. */
static bool read_line(line_fields *line)
{
    state_subject subject;
    state_fact_kind kind;
    state_fact fact;

    if (strcmp(line->fields[0], "server") == 0 && line->count == 2) {
        g_free(line->server);
        line->server = strcmp(line->fields[1], "*") == 0 ? NULL : g_strdup(line->fields[1]);
        return true;
    }
    if (!parse_fact(line, &subject, &kind, &fact)) {
        return false;
    }
    facts_file_add(line->server, subject, kind, &fact);
    if (line->server && !facts_subject_is_title(&subject)) {
        facts_file_add(NULL, subject, kind, &fact);
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
    if (size > MAX_LINE_SIZE || memchr(start, '\0', size) != NULL) {
        return false;
    }
    char *text = g_strndup(start, size);
    line->fields = g_strsplit(text, "\t", MAX_FIELDS);
    line->count = g_strv_length(line->fields);
    bool done = read_line(line);
    g_strfreev(line->fields);
    g_free(text);
    return done;
}

void names_reader_read(const char *path, const char *text, size_t size)
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
    g_free(line.server);
    g_string_free(broken, TRUE);
}
