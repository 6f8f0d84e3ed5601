/* watched-counters.c
 * Watched counters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tap/watched-counters.h"

#include "tap/call-tap.h"

#include <epan/uat.h>

#include <math.h>

#define FIELD_PREFIX "pcq.watch."

/* --- The table --------------------------------------------------------------------------------------------------- */

/* As the user wrote it. */
typedef struct {
    char *name;
    char *paths;
} table_row;

static table_row *table; /* as the preference has it now; Wireshark fills it */
static unsigned table_size;

static int proto_watch;
static watched_counter *rows; /* of the table, the first; NULL: none */

UAT_CSTRING_CB_DEF(table, name, table_row)
UAT_CSTRING_CB_DEF(table, paths, table_row)

/* Sets the paths of a table row. Wireshark's `size` of a text with "\\" is one too small, so the text is measured. */
static void set_paths(void *row, const char *text, unsigned size _U_, const void *data, const void *more)
{
    table_paths_set_cb(row, text, (unsigned)strlen(text), data, more);
}

static void *copy_row(void *to, const void *from, size_t size _U_)
{
    const table_row *row = from;

    *(table_row *)to = (table_row){g_strdup(row->name), g_strdup(row->paths)};
    return to;
}

static void free_row(void *row)
{
    g_free(((table_row *)row)->name);
    g_free(((table_row *)row)->paths);
}

/* Returns a text without case, to be freed. Invalid UTF-8 is replaced. */
static char *fold_case(const char *text)
{
    char *valid = g_utf8_make_valid(text, -1), *folded = g_utf8_casefold(valid, -1);

    g_free(valid);
    return folded;
}

/* Returns the patterns between semicolons without case, without blanks around them, to be freed; NULL: there is none, or one does not
 * begin with a backslash. */
static char **split_patterns(const char *paths)
{
    char *folded = fold_case(paths), **patterns = g_strsplit(folded, ";", -1);
    bool are_paths = patterns[0] != NULL;

    for (unsigned i = 0; patterns[i]; i++) {
        are_paths &= *g_strstrip(patterns[i]) == '\\';
    }
    if (!are_paths) {
        g_clear_pointer(&patterns, g_strfreev);
    }
    g_free(folded);
    return patterns;
}

/* Returns true for a row of the preference's table whose name can be a filter field's and whose paths can be read. Wireshark asks before it
 * takes a row. Changes: `*error` is the reason, which Wireshark frees, or NULL. */
static ws_pref_bool check_row(void *record, char **error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const table_row *row = record;
    bool is_name = g_ascii_islower(row->name[0]) && row->name[strspn(row->name, allowed)] == '\0';
    char **patterns = split_patterns(row->paths);
    const char *wrong =
        !is_name   ? "is no name of a watched counter: it begins with a small letter (a to z), and has small letters, "
                     "digits and _ only"
        : patterns ? NULL
                   : "is no path like \\Set(Instance)\\Counter or \\\\SERVER\\Set\\Counter, with ; between several "
                     "(behind -o, each \\ is typed twice)";

    *error = wrong ? g_strdup_printf("\"%s\" %s", is_name ? row->paths : row->name, wrong) : NULL;
    g_strfreev(patterns);
    return *error == NULL;
}

/* --- Its fields -------------------------------------------------------------------------------------------------- */

/* Forgets the rows. Changes: their fields are deregistered, for Wireshark to free with them once nothing shows them. */
static void forget_rows(void)
{
    while (rows) {
        watched_counter *row = rows;
        rows = row->next;
        proto_deregister_field(proto_watch, row->hf);
        g_strfreev(row->patterns);
        proto_add_deregistered_data(row); /* with its name and paths; an open packet may still show them */
    }
}

/* Adds a watched counter with its field for a row of the user's table, in front of the others. Needs: check_row() took the row. */
static void add_row(const table_row *from)
{
    watched_counter *row = g_new0(watched_counter, 1);

    row->next = rows;
    rows = row;
    row->field = (hf_register_info){
        &row->hf,
        {g_strdup(from->name), g_strconcat(FIELD_PREFIX, from->name, NULL), FT_DOUBLE, BASE_NONE, NULL, 0,
         g_strdup(from->paths), HFILL},
    };
    row->patterns = split_patterns(from->paths);
    row->hf = -1;
    proto_register_field_array(proto_watch, &row->field, 1);
}

/* Makes rows and fields of the user's table; Wireshark calls it after each change. Changes: those of the table before are forgotten. */
static void take_table(void)
{
    forget_rows();
    for (unsigned i = table_size; i > 0; i--) {
        add_row(&table[i - 1]);
    }
}

/* --- Which values they are --------------------------------------------------------------------------------------- */

/* Returns true if a path matches a pattern. One with a single backslash in front is of every computer. Needs: a value stream's path, without case. */
static bool has_match(char *const *patterns, const char *path)
{
    const char *set = strchr(path + 2, '\\');

    for (unsigned i = 0; patterns[i]; i++) {
        if (g_pattern_match_simple(patterns[i], patterns[i][1] == '\\' ? path : set)) {
            return true;
        }
    }
    return false;
}

watched_counter *watch_rows_of(const char *path)
{
    char *folded = path ? fold_case(path) : NULL;
    watched_counter *first = NULL, **end = &first;

    for (watched_counter *row = rows; folded && row; row = row->next) {
        if (has_match(row->patterns, folded)) {
            *end = row;
            end = &row->next_match;
        }
    }
    *end = NULL;
    g_free(folded);
    return first;
}

bool watch_is_wanted(proto_tree *tree)
{
    for (const watched_counter *row = rows; tree && row; row = row->next) {
        if (proto_field_is_referenced(tree, row->hf)) {
            return true;
        }
    }
    return false;
}

/* --- Paths that a statistic is asked for --------------------------------------------------------------------------- */

char **watch_take_paths(const char **filter)
{
    char **patterns = *filter ? split_patterns(*filter) : NULL;

    *filter = patterns ? NULL : *filter;
    return patterns;
}

bool watch_has_path(char *const *patterns, const char *path)
{
    char *folded = path ? fold_case(path) : NULL;
    bool fits = folded && has_match(patterns, folded);

    g_free(folded);
    return fits;
}

/* --- What they have in an answer --------------------------------------------------------------------------------- */

/* Adds the value that was read last, with a result or without. */
static void add_value(watched_values *to, value_stream *stream)
{
    perf_result result = value_stream_result(stream);
    double number = result.none == PERF_NO_RESULT_OK ? result.value : NAN;
    const char *text = value_stream_format(stream, &result);

    if (to->count == 0 || number < to->lowest || (isnan(to->lowest) && !isnan(number))) {
        to->lowest = number;
        to->least = text;
    }
    if (to->count == 0 || number > to->highest || (isnan(to->highest) && !isnan(number))) {
        to->highest = number;
        to->most = text;
    }
    to->note = to->count++ > 0 && *to->note ? to->note : format_assumed_mark(stream);
}

const char *watch_format(wmem_allocator_t *pool, const counter_response *response, unsigned *covered)
{
    wmem_strbuf_t *text = wmem_strbuf_new(pool, "");
    value_stream *stream = rows ? value_stream_begin(pool, response) : NULL;

    for (watched_counter *row = rows; row; row = row->next) {
        row->values = (watched_values){0};
    }
    *covered = 0;
    while (stream && value_stream_next(stream)) {
        watched_counter *row = watch_rows_of(value_stream_path(stream));
        *covered += row != NULL;
        for (; row; row = row->next_match) {
            add_value(&row->values, stream);
        }
    }
    for (const watched_counter *row = rows; row; row = row->next) {
        const watched_values *found = &row->values;
        if (found->count > 0) { /* "cpu 0.4 % to 10.9 %, 7 values" */
            bool is_range = found->least != found->most;
            wmem_strbuf_append_printf(text, "%s%s %s%s%s%s", wmem_strbuf_get_len(text) > 0 ? ", " : "",
                                      row->field.hfinfo.name, found->least, is_range ? " to " : "",
                                      is_range ? found->most : "", found->note);
        }
        if (found->count > 1) {
            wmem_strbuf_append_printf(text, isnan(found->lowest) ? ", first of %u values" : ", %u values",
                                      found->count);
        }
    }
    return *covered > 0 ? wmem_strbuf_get_str(text) : NULL;
}

void watch_register(int proto, module_t *module)
{
    static uat_field_t columns_shown[] = {
        UAT_FLD_CSTRING(table, name, "Name", "The field is pcq.watch.NAME"),
        UAT_FLD_CSTRING(table, paths, "Paths",
                        "\\Set(Instance)\\Counter, with * for any text, ? for a character and ; between several"),
        UAT_END_FIELDS,
    };

    proto_watch = proto;
    columns_shown[1].cb.set = set_paths;
    uat_t *uat = uat_new("Watched counters", sizeof(table_row), "pcq_watch", TRUE, (void **)&table, &table_size,
                         UAT_AFFECTS_DISSECTION | UAT_AFFECTS_FIELDS, NULL, copy_row, check_row, free_row, take_table,
                         forget_rows, columns_shown);
    prefs_register_uat_preference(module, "watch", "Watched counters",
                                  "Counters of PerflibV2 and HKEY_PERFORMANCE_DATA that have a field of their own: "
                                  "pcq.watch.NAME holds the results of the values whose paths fit.",
                                  uat);
}
