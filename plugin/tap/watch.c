/* watch.c
 * Watched counters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tap/watch.h"

#include "tap/tapped.h"

#include <epan/uat.h>
#include <wsutil/report_message.h>

#define FIELD_PREFIX "pcq.watch."

/* --- The table --------------------------------------------------------------------------------------------------- */

/* As the user wrote it. */
typedef struct {
    char *name;
    char *paths;
} table_row;

static table_row *table; /* as the preference has it now; Wireshark fills it */
static unsigned table_size;

/* Rows, and which of them a path matches. */
struct watch_rows {
    watch_row *rows;
    unsigned count;
    GHashTable *found; /* path -> array of the rows that it matches, with a NULL behind them; owns both */
    bool is_any_met;   /* a path matched a row */
};
#define MAX_FOUND 50000 /* paths in `found`; with one more all are forgotten */

int watch_hf_sum = -1, watch_hf_hint = -1;
static int proto_watch;
static struct watch_rows watched; /* rows of the table, each of which has a field */
static hf_register_info *fields;  /* fields of these rows, in their order; NULL: no rows */

UAT_CSTRING_CB_DEF(table, name, table_row)
UAT_CSTRING_CB_DEF(table, paths, table_row)

/* Sets the paths of a table row. Wireshark's `size` of a text with "\\" is one too small, so the text is measured. */
static void set_paths(void *row, const char *text, unsigned size _U_, const void *data, const void *more)
{
    table_paths_set_cb(row, text, text ? (unsigned)strlen(text) : 0, data, more);
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

/* Returns a text in capitals, to be freed, so that names compare as Windows compares them: each letter becomes one letter, and two letters
 * that have no capital there stay. Invalid UTF-8 is replaced. */
static char *in_capitals(const char *text)
{
    GString *capitals = g_string_new(NULL);
    char *valid = g_utf8_make_valid(text, -1);

    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar letter = g_utf8_get_char(at);
        bool has_none = letter == 0x131 || letter == 0x17F; /* dotless i, long s */
        g_string_append_unichar(capitals, has_none ? letter : g_unichar_toupper(letter));
    }
    g_free(valid);
    return g_string_free(capitals, FALSE);
}

/* Returns the patterns between semicolons in capitals, without blanks around them, to be freed. Some may be empty. */
static char **split_patterns(const char *paths)
{
    char *capitals = in_capitals(paths), **patterns = g_strsplit(capitals, ";", -1);

    for (unsigned i = 0; patterns[i]; i++) {
        g_strstrip(patterns[i]);
    }
    g_free(capitals);
    return patterns;
}

/* Returns true for "\Set\Counter" and "\\SRV\Set\Counter" without an empty part. */
static bool is_path(const char *pattern)
{
    const char *set = g_str_has_prefix(pattern, "\\\\") ? strchr(pattern + 2, '\\') : pattern;
    const char *counter = strrchr(pattern, '\\');

    return set && *set == '\\' && set != pattern + 2 && counter > set + 1 && counter[1] != '\0';
}

/* Returns true if a text has a path, and nothing but paths between its semicolons. */
static bool are_paths(const char *paths)
{
    char **patterns = split_patterns(paths);
    bool any = false, all = true;

    for (unsigned i = 0; patterns[i]; i++) {
        any |= *patterns[i] != '\0';
        all &= *patterns[i] == '\0' || is_path(patterns[i]);
    }
    g_strfreev(patterns);
    return any && all;
}

#define NO_PATHS "\"%s\" is no path like \\Set(Instance)\\Counter or \\\\SERVER\\Set\\Counter, with ; between several"

/* Returns true for a row of the preference's table whose name can be a filter field's and whose paths can be read. Wireshark asks before it
 * takes a row. Changes: `*error` is the reason, which Wireshark frees, or NULL. */
static ws_pref_bool check_row(void *record, char **error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const table_row *row = record;
    const char *name = row->name ? row->name : "";

    *error = NULL;
    if (!g_ascii_islower(name[0]) || name[strspn(name, allowed)] != '\0') {
        *error =
            g_strdup_printf("\"%s\" is no name of a watched counter: it begins with a small letter (a to z), and has "
                            "small letters, digits and _ only",
                            name);
    } else if (!are_paths(row->paths ? row->paths : "")) {
        *error = g_strdup_printf(NO_PATHS " (behind -o, each \\ is typed twice)", row->paths ? row->paths : "");
    }
    return *error == NULL;
}

/* --- Its fields -------------------------------------------------------------------------------------------------- */

/* Forgets the paths of a capture when it is closed. */
static void watch_forget_capture(void)
{
    g_hash_table_remove_all(watched.found);
}

/* Frees the rows. Changes: their fields are deregistered, for Wireshark to free once nothing shows them. */
static void forget_rows(void)
{
    g_hash_table_remove_all(watched.found);
    for (unsigned i = 0; i < watched.count; i++) {
        proto_deregister_field(proto_watch, watched.rows[i].hf);
        g_strfreev(watched.rows[i].patterns);
    }
    if (fields) {
        proto_add_deregistered_data(fields); /* with names and paths; an open packet may still show them */
    }
    g_free(watched.rows);
    watched.rows = NULL;
    fields = NULL;
    watched.count = 0;
}

/* Adds a row of the table with its field, not registered yet. A second row of a name is reported and left out. Needs: room in both arrays. */
static void add_row(const table_row *from)
{
    for (unsigned i = 0; i < watched.count; i++) {
        if (strcmp(watched.rows[i].name, from->name) == 0) {
            report_failure("pcq: two watched counters have the name \"%s\": the one for %s is left out", from->name,
                           from->paths);
            return;
        }
    }
    watch_row *row = &watched.rows[watched.count];
    hf_register_info field = {
        &row->hf,
        {g_strdup(from->name), g_strconcat(FIELD_PREFIX, from->name, NULL), FT_DOUBLE, BASE_NONE, NULL, 0,
         g_strdup(from->paths), HFILL},
    };

    *row = (watch_row){field.hfinfo.name, split_patterns(from->paths), -1};
    fields[watched.count++] = field;
}

/* Makes rows and fields of the user's table; Wireshark calls it after each change. Changes: those of the table before are forgotten. */
static void take_table(void)
{
    forget_rows();
    if (table_size == 0) {
        return;
    }
    watched.rows = g_new0(watch_row, table_size);
    fields = g_new0(hf_register_info, table_size);
    for (unsigned i = 0; i < table_size; i++) {
        add_row(&table[i]);
    }
    proto_register_field_array(proto_watch, fields, (int)watched.count);
}

/* --- Which values they are --------------------------------------------------------------------------------------- */

/* Returns true if a path matches one of a row's patterns. A pattern with one backslash in front is of every computer. Needs: a path in capitals. */
static bool row_fits(const watch_row *row, const char *path)
{
    const char *set = g_str_has_prefix(path, "\\\\") ? strchr(path + 2, '\\') : NULL;

    for (unsigned i = 0; row->patterns[i]; i++) {
        const char *pattern = row->patterns[i];
        bool any_machine = pattern[0] == '\\' && pattern[1] != '\\';
        if (g_pattern_match_simple(pattern, any_machine && set ? set : path)) {
            return true;
        }
    }
    return false;
}

/* Returns the rows that a path (NULL: none) matches, with a NULL behind them, until another path is asked for. Changes: keeps them for the path,
 * since each response has the same paths again. */
static watch_row *const *matching_rows(struct watch_rows *among, const char *path)
{
    static watch_row *none[] = {NULL};
    watch_row **fits = path && among->count > 0 ? g_hash_table_lookup(among->found, path) : none;

    if (fits) {
        return fits;
    }
    char *capitals = in_capitals(path);
    unsigned count = 0;
    fits = g_new0(watch_row *, among->count + 1);
    for (unsigned i = 0; i < among->count; i++) {
        if (row_fits(&among->rows[i], capitals)) {
            fits[count++] = &among->rows[i];
        }
    }
    g_free(capitals);
    among->is_any_met |= count > 0;
    if (g_hash_table_size(among->found) >= MAX_FOUND) {
        g_hash_table_remove_all(among->found);
    }
    g_hash_table_insert(among->found, g_strdup(path), fits);
    return fits;
}

watch_row *const *watch_rows_of(const char *path)
{
    return matching_rows(&watched, path);
}

bool watch_is_wanted(proto_tree *tree)
{
    for (unsigned i = 0; tree && i < watched.count; i++) {
        if (proto_field_is_referenced(tree, watched.rows[i].hf)) {
            return true;
        }
    }
    return false;
}

bool watch_has_rows(void)
{
    return watched.count > 0;
}

watch_paths *watch_paths_take(const char **filter, char **error)
{
    const char *text = *filter;

    if (text == NULL || *text != '\\') {
        return NULL;
    }
    *filter = NULL;
    if (!are_paths(text)) {
        *error = g_strdup_printf("pcq: " NO_PATHS, text);
        return NULL;
    }
    watch_paths *paths = g_new0(watch_paths, 1);
    paths->rows = g_new0(watch_row, 1);
    paths->rows->patterns = split_patterns(text);
    paths->count = 1;
    paths->found = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, g_free);
    return paths;
}

bool watch_paths_fit(watch_paths *paths, const char *path)
{
    return paths == NULL || *matching_rows(paths, path) != NULL;
}

bool watch_paths_are_met(const watch_paths *paths)
{
    return paths == NULL || paths->is_any_met;
}

/* --- What they have in an answer --------------------------------------------------------------------------------- */

/* Returns the text that all values had until now, if this one has it, too; else NULL: they differ. */
static const char *keep_if_same(const char *before, const char *text)
{
    return before && text && strcmp(before, text) == 0 ? before : NULL;
}

/* Adds the result of the value that was read last to number, extremes and unit. Needs: a result. */
static void add_result(watch_values *to, value_stream *stream, const perf_result *result)
{
    const char *unit = stream->at.counter->type->unit;
    bool is_first = to->results++ == 0;

    to->unit = is_first ? unit : keep_if_same(to->unit, unit);
    if (is_first || result->value < to->lowest) {
        to->lowest = result->value;
        to->least = wmem_strdup(stream->pool, value_stream_format(stream, result));
    }
    if (is_first || result->value > to->highest) {
        to->highest = result->value;
        to->most = wmem_strdup(stream->pool, value_stream_format(stream, result));
    }
}

/* Adds the value that was read last, with a result or without. */
static void add_value(watch_values *to, value_stream *stream)
{
    perf_result result = stream->at.is_text ? (perf_result){0, PERF_NO_RESULT_NO_FORMULA} : value_stream_result(stream);
    bool is_first = to->values++ == 0;

    to->set = is_first ? value_stream_set(stream) : keep_if_same(to->set, value_stream_set(stream));
    to->counter = is_first ? value_stream_counter(stream) : keep_if_same(to->counter, value_stream_counter(stream));
    to->first = is_first ? wmem_strdup(stream->pool, value_stream_format(stream, &result)) : to->first;
    if (result.none == PERF_NO_RESULT_OK) {
        add_result(to, stream, &result);
    }
    to->note = is_first || *to->note == '\0' ? format_assumed_mark(stream) : to->note;
}

const watch_values *watch_values_of(const watch_survey *survey, const watch_row *row)
{
    for (unsigned i = 0; survey->rows && i < wmem_array_get_count(survey->rows); i++) {
        const watch_values *values = wmem_array_index(survey->rows, i);
        if (values->row == row) {
            return values;
        }
    }
    return NULL;
}

/* Returns the values of a row. Changes: creates them. Returns NULL for a new row if `most_rows` are there. */
static watch_values *find_or_create_values(watch_survey *survey, const watch_row *row, unsigned most_rows)
{
    const watch_values first = {.row = row};

    if (watch_values_of(survey, row) == NULL && wmem_array_get_count(survey->rows) < most_rows) {
        wmem_array_append_one(survey->rows, first);
    }
    return (watch_values *)watch_values_of(survey, row);
}

watch_survey watch_look_through(value_stream *stream, unsigned most_values, unsigned most_rows)
{
    watch_survey survey = {.rows = wmem_array_new(stream->pool, sizeof(watch_values)), .whole = true};
    wmem_map_t *seen = wmem_map_new(stream->pool, wmem_str_hash, g_str_equal); /* paths */

    for (unsigned i = 0; value_stream_next(stream); i++) {
        if (i >= most_values) {
            survey.whole = false;
            break;
        }
        const char *path = value_stream_path(stream);
        watch_row *const *rows = watch_rows_of(path);
        bool is_new = *rows && !wmem_map_contains(seen, path), is_covered = false;
        if (is_new) {
            wmem_map_insert(seen, wmem_strdup(stream->pool, path), seen);
        }
        for (; *rows; rows++) {
            watch_values *values = find_or_create_values(&survey, *rows, most_rows);
            if (values && is_new) {
                add_value(values, stream);
            }
            is_covered |= values != NULL;
        }
        survey.covered += is_covered;
    }
    return survey;
}

const char *watch_words(wmem_allocator_t *pool, const watch_values *values)
{
    const char *what = values->set && values->counter ? "instances" : "values";

    if (values->values == 1) {
        return wmem_strconcat(pool, values->first, values->note, NULL);
    }
    if (values->unit == NULL) {
        return wmem_strdup_printf(pool, "%s%s, first of %u %s", values->first, values->note, values->values, what);
    }
    size_t unit = *values->unit ? strlen(values->unit) + 1 : 0; /* " %" */
    bool differ = strcmp(values->least, values->most) != 0;
    unsigned others = values->values - values->results;
    return wmem_strdup_printf(pool, "%.*s%s%s%s%s, %u %s%s", differ ? (int)(strlen(values->least) - unit) : 0,
                              values->least, differ ? " to " : "", values->most,
                              !differ && values->results > 1 ? " each" : "", values->note, values->values, what,
                              others > 0 ? wmem_strdup_printf(pool, ", %u without a result", others) : "");
}

void watch_register(int proto, module_t *module)
{
    static hf_register_info hf[] = {
        {&watch_hf_sum,
         {"Watched", "pcq.watched", FT_STRING, BASE_NONE, NULL, 0, "All that a watched counter has in the answer",
          HFILL}},
        {&watch_hf_hint,
         {"Own field", "pcq.watched.hint", FT_STRING, BASE_NONE, NULL, 0,
          "pcq.cooked is every value of a packet; a watched counter alone is pcq.watch.NAME", HFILL}},
    };
    static uat_field_t columns_shown[] = {
        UAT_FLD_CSTRING(table, name, "Name", "The field is pcq.watch.NAME"),
        {"paths",
         "Paths",
         PT_TXTMOD_STRING,
         {uat_fld_chk_str, set_paths, table_paths_tostr_cb},
         {0, 0, 0},
         0,
         "\\Set(Instance)\\Counter, with * for any text, ? for a character and ; between several",
         FLDFILL},
        UAT_END_FIELDS,
    };

    proto_watch = proto;
    proto_register_field_array(proto, hf, array_length(hf));
    watched.found = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, g_free);
    uat_t *uat = uat_new("Watched counters", sizeof(table_row), "pcq_watch", TRUE, (void **)&table, &table_size,
                         UAT_AFFECTS_DISSECTION | UAT_AFFECTS_FIELDS, NULL, copy_row, check_row, free_row, take_table,
                         forget_rows, columns_shown);
    prefs_register_uat_preference(module, "watch", "Watched counters",
                                  "Counters of PerflibV2 and HKEY_PERFORMANCE_DATA that have a field of their own: "
                                  "pcq.watch.NAME holds the results of the values whose paths fit.",
                                  uat);
    register_cleanup_routine(watch_forget_capture);
}
