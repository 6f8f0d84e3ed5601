/* watch.c
 * Watched counters.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "tap/watch.h"

#include "text/pattern.h"

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
    } else if (!perf_patterns_are_paths(row->paths ? row->paths : "")) {
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
        g_free(rows[i].patterns);
    }
    if (fields) {
        proto_add_deregistered_data(fields); /* with names and paths; what is open may still show them */
    }
    g_free(rows);
    rows = NULL;
    fields = NULL;
    num_rows = 0;
}

/* These two letters have none there. */
char *watch_in_capitals(const char *text)
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

    *row = (watch_row){field.hfinfo.name, watch_in_capitals(from->paths), -1};
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

/* Of nothing, or as GLib's memory. */
static watch_row **find_fitting(const char *shown_path)
{
    watch_row **fitting = none;
    unsigned count = 0;
    char *path = watch_in_capitals(shown_path);

    for (unsigned i = 0; i < num_rows; i++) {
        if (perf_patterns_match(rows[i].patterns, path)) {
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
         "\\Set(Instance)\\Counter, with * for any text and ; between several",
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
