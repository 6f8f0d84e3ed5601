/* watch.c
 * Watched counters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tap/watch.h"

#include <epan/uat.h>
#include <wsutil/report_message.h>

#define FIELD_PREFIX "pcq.watch."

/* --- The table --------------------------------------------------------------------------------------------------- */

/* As the user wrote it. */
typedef struct {
    char *name;
    char *paths;
} table_row;

static table_row *table;
static unsigned table_size;

static int proto_watch;
static watch_row *rows; /* that became fields */
static unsigned num_rows;
static hf_register_info *fields; /* theirs */

/* Path -> the rows that fit it, with a NULL behind them: found once, as long as there are few paths. */
static GHashTable *found;
static size_t found_bytes; /* of the paths */
#define MAX_FOUND_BYTES (16 << 20)

/* The same for nearly all paths. */
static watch_row *none[] = {NULL};

static void free_fitting(void *fitting)
{
    if (fitting != none) {
        g_free(fitting);
    }
}

UAT_CSTRING_CB_DEF(table, name, table_row)
UAT_CSTRING_CB_DEF(table, paths, table_row)

/* What Wireshark makes of "\\" is one character longer than it says. */
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

/* As Windows compares names: letter by letter in capitals, and never one for two. These two letters have none there. */
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

/* The patterns between semicolons, which may be empty. */
static char **split(const char *paths)
{
    char *capitals = in_capitals(paths), **patterns = g_strsplit(capitals, ";", -1);

    for (unsigned i = 0; patterns[i]; i++) {
        g_strstrip(patterns[i]);
    }
    g_free(capitals);
    return patterns;
}

/* "\Set\Counter" or "\\SRV\Set\Counter", no part of it empty. */
static bool is_path(const char *pattern)
{
    const char *set = g_str_has_prefix(pattern, "\\\\") ? strchr(pattern + 2, '\\') : pattern;
    const char *counter = strrchr(pattern, '\\');

    return set && *set == '\\' && set != pattern + 2 && counter > set + 1 && counter[1] != '\0';
}

static bool are_paths(const char *paths)
{
    char **patterns = split(paths);
    bool any = false, all = true;

    for (unsigned i = 0; patterns[i]; i++) {
        any |= *patterns[i] != '\0';
        all &= *patterns[i] == '\0' || is_path(patterns[i]);
    }
    g_strfreev(patterns);
    return any && all;
}

/* A row of the preference's table is good if its name can be a filter field's and its paths can be read; else *error says why. */
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
        *error = g_strdup_printf("\"%s\" is no path like \\Set(Instance)\\Counter or \\\\SERVER\\Set\\Counter, with ; "
                                 "between several (behind -o, each \\ is typed twice)",
                                 row->paths ? row->paths : "");
    }
    return *error == NULL;
}

/* --- Its fields -------------------------------------------------------------------------------------------------- */

static void forget_found(void)
{
    g_hash_table_remove_all(found);
    found_bytes = 0;
}

static void forget_rows(void)
{
    forget_found();
    for (unsigned i = 0; i < num_rows; i++) {
        proto_deregister_field(proto_watch, rows[i].hf);
        g_strfreev(rows[i].patterns);
    }
    if (fields) {
        proto_add_deregistered_data(fields); /* with names and paths; what is open may still show them */
    }
    g_free(rows);
    rows = NULL;
    fields = NULL;
    num_rows = 0;
}

static void add_row(const table_row *from)
{
    unsigned before = 0;

    while (before < num_rows && strcmp(rows[before].name, from->name) != 0) {
        before++;
    }
    if (before < num_rows) {
        report_failure("pcq: two watched counters have the name \"%s\": the one for %s is left out", from->name,
                       from->paths);
        return;
    }
    watch_row *row = &rows[num_rows];
    hf_register_info field = {
        &row->hf,
        {g_strdup(from->name), g_strconcat(FIELD_PREFIX, from->name, NULL), FT_DOUBLE, BASE_NONE, NULL, 0,
         g_strdup(from->paths), HFILL},
    };

    *row = (watch_row){field.hfinfo.name, split(from->paths), -1};
    fields[num_rows++] = field;
}

static void take_table(void)
{
    forget_rows();
    if (table_size == 0) {
        return;
    }
    rows = g_new0(watch_row, table_size);
    fields = g_new0(hf_register_info, table_size);
    for (unsigned i = 0; i < table_size; i++) {
        add_row(&table[i]);
    }
    proto_register_field_array(proto_watch, fields, (int)num_rows);
}

/* --- Which values they are --------------------------------------------------------------------------------------- */

/* A pattern that begins with one backslash is of every machine. */
static bool fits(const watch_row *row, const char *path)
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

/* Of nothing, or as GLib's memory. */
static watch_row **find_fitting(const char *shown_path)
{
    watch_row **fitting = none;
    unsigned count = 0;
    char *path = in_capitals(shown_path);

    for (unsigned i = 0; i < num_rows; i++) {
        if (fits(&rows[i], path)) {
            fitting = fitting == none ? g_new0(watch_row *, num_rows + 1) : fitting;
            fitting[count++] = &rows[i];
        }
    }
    g_free(path);
    return fitting;
}

watch_row *const *watch_fitting(readings *r)
{
    const char *path = readings_path(r);
    watch_row **fitting = path ? g_hash_table_lookup(found, path) : none;

    if (fitting == NULL) {
        if (found_bytes > MAX_FOUND_BYTES) {
            forget_found();
        }
        fitting = find_fitting(path);
        found_bytes += strlen(path);
        g_hash_table_insert(found, g_strdup(path), fitting);
    }
    return fitting;
}

bool watch_is_wanted(proto_tree *tree)
{
    for (unsigned i = 0; tree && i < num_rows; i++) {
        if (proto_field_is_referenced(tree, rows[i].hf)) {
            return true;
        }
    }
    return false;
}

bool watch_has_rows(void)
{
    return num_rows > 0;
}

void watch_register(int proto, module_t *module)
{
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
    found = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, free_fitting);
    uat_t *uat = uat_new("Watched counters", sizeof(table_row), "pcq_watch", TRUE, (void **)&table, &table_size,
                         UAT_AFFECTS_DISSECTION | UAT_AFFECTS_FIELDS, NULL, copy_row, check_row, free_row, take_table,
                         forget_rows, columns_shown);
    prefs_register_uat_preference(module, "watch", "Watched counters",
                                  "Counters of PerflibV2 and HKEY_PERFORMANCE_DATA that have a field of their own: "
                                  "pcq.watch.NAME holds the results of the values whose paths fit.",
                                  uat);
    register_cleanup_routine(forget_found);
}
