/* export-watch.c
 * `-z pcq,watch,FILE[,PATTERN]`: the counters of a capture as files of a profile: watched counters, and their lines in I/O Graphs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "text/pattern.h"
#include "tap/watch.h"
#include "taps/output.h"

#include <epan/stat_tap_ui.h>
#include <wsutil/report_message.h>

#define STATISTIC "pcq,watch"
#define MAX_WATCHED 500
#define MAX_NAME 60
#define GRAPHS_SHOWN 5

/* One -z. */
typedef struct {
    char *watched, *graphs; /* both files */
    char *pattern;          /* in capitals; NULL: all */
    GHashTable *paths;      /* looked at -> the unit, or NULL if it is not watched */
    GPtrArray *order;       /* those that are watched */
    unsigned left_out;
    tapped_left_out left;
} watch_export;

static void reset(void *data)
{
    watch_export *export = data;

    g_ptr_array_set_size(export->order, 0);
    g_hash_table_remove_all(export->paths);
    export->left_out = 0;
    export->left = (tapped_left_out){.any_read = false};
}

/* The path as a pattern of any machine. */
static char *pattern_of(const char *path)
{
    const char *rest = g_str_has_prefix(path, "\\\\") ? strchr(path + 2, '\\') : path;
    GString *pattern = g_string_new(NULL);

    for (const char *at = rest ? rest : path; *at; at++) {
        bool is_plain = !strchr("*;[", *at) && (*at != ' ' || at[1] != '\0');
        g_string_append_printf(pattern, is_plain ? "%c" : "[%c]", *at);
    }
    return g_string_free(pattern, FALSE);
}

static bool is_wanted(const watch_export *export, const char *path)
{
    char *capitals = watch_in_capitals(path);
    bool fits = export->pattern == NULL || perf_patterns_match(export->pattern, capitals);

    g_free(capitals);
    return fits;
}

static void take(watch_export *export, readings *r)
{
    const perf_none none = r->at.is_number ? readings_result(r).none : PERF_NONE_NO_FORMULA;
    const char *path = readings_path(r), *unit = NULL;

    if (path == NULL || r->at.counter->type == NULL || none == PERF_NONE_BASE_TYPE || none == PERF_NONE_NO_FORMULA) {
        return;
    }
    char *pattern = pattern_of(path);
    if (!g_hash_table_contains(export->paths, pattern)) {
        bool fits = is_wanted(export, path), has_room = export->order->len < MAX_WATCHED;
        export->left_out += fits && !has_room;
        unit = r->at.counter->type->unit;
        g_hash_table_insert(export->paths, pattern, (void *)(uintptr_t)unit);
        if (fits && has_room) {
            g_ptr_array_add(export->order, pattern);
        }
    } else {
        g_free(pattern);
    }
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                             tap_flags_t flags _U_)
{
    watch_export *export = data;
    const tapped_call *tapped = call;

    tapped_count(&export->left, tapped);
    if (tapped->answer && tapped->answer->sample && !tapped->is_repeated) {
        readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
        while (export->left_out == 0 && readings_next(r)) {
            take(export, r);
        }
    }
    return TAP_PACKET_REDRAW;
}

/* --- Files ----------------------------------------------------------------------------------------------------- */

/* "\Processor(_Total)\% User Time" is processor_total_user_time. */
static char *name_of(const char *pattern, GHashTable *names)
{
    const char *first = pattern + strspn(pattern, "\\[");
    GString *name = g_string_new(g_ascii_isalpha(*first) ? NULL : "counter_");

    for (const char *at = pattern; *at && name->len < MAX_NAME; at++) {
        if (g_ascii_isalnum(*at)) {
            g_string_append_c(name, g_ascii_tolower(*at));
        } else if (name->len > 0 && name->str[name->len - 1] != '_') {
            g_string_append_c(name, '_');
        }
    }
    if (name->str[name->len - 1] == '_') {
        g_string_set_size(name, name->len - 1);
    }
    size_t size = name->len;
    for (unsigned i = 2; g_hash_table_contains(names, name->str); i++) {
        g_string_set_size(name, size);
        g_string_append_printf(name, "_%u", i);
    }
    g_hash_table_add(names, g_strdup(name->str));
    return g_string_free(name, FALSE);
}

/* "(_Total) % User Time, Processor", with the unit if the counter's name has none: what tells it from others comes first, for lists
 * of graphs show little of a name. */
static char *label_of(const char *pattern, const char *unit)
{
    const char *counter = strrchr(pattern, '\\'), *instance = strchr(pattern, '(');
    bool has_instance = instance && instance < counter;
    const char *end = has_instance ? instance : counter;

    char *units = strstr(counter, unit) ? g_strdup("") : g_strdup_printf(" (%s)", unit);
    char *label = g_strdup_printf("%.*s%s%s%s, %.*s", (int)(counter - end), end, has_instance ? " " : "", counter + 1,
                                  units, (int)(end - pattern) - 1, pattern + 1);

    g_free(units);
    return label;
}

/* As Wireshark writes a cell of its tables. */
static void append_cell(GString *text, const char *cell)
{
    g_string_append_c(text, '"');
    for (const char *at = cell; *at; at++) {
        g_string_append_printf(text, g_ascii_isprint(*at) && *at != '"' && *at != '\\' ? "%c" : "\\x%02x",
                               (unsigned char)*at);
    }
    g_string_append_c(text, '"');
}

static void draw(void *data)
{
    static const char *const colours[] = {"1F77B4", "2CA02C", "FF7F0E", "8C564B", "E377C2", "D62728", "9467BD"};
    watch_export *export = data;
    GString *watched = g_string_new("# Watched counters: each a field pcq.watch.NAME.\n");
    GString *graphs = g_string_new("# Statistics, I/O Graphs.\n");
    GHashTable *names = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);

    for (unsigned i = 0; i < export->order->len; i++) {
        const char *pattern = g_ptr_array_index(export->order, i), *unit = g_hash_table_lookup(export->paths, pattern);
        char *name = name_of(pattern, names), *label = label_of(pattern, unit);
        g_string_append_printf(watched, "\"%s\",", name);
        append_cell(watched, pattern);
        g_string_append_printf(graphs, "\"%s\",", i < GRAPHS_SHOWN ? "Enabled" : "Disabled");
        append_cell(graphs, label);
        g_string_append_printf(graphs, ",\"\",\"#%s\",\"Line\",\"AVG(Y Field)\",\"pcq.watch.%s\",\"None\",\"1\"\n",
                               colours[i % G_N_ELEMENTS(colours)], name);
        g_string_append_c(watched, '\n');
        g_free(name);
        g_free(label);
    }
    if (export->order->len == 0) {
        output_failed("pcq: %s was not written: no counter of this capture fits", export->watched);
        output_say_left_out(&export->left, "values");
    } else {
        output_write_whole(export->watched, export, watched->str, watched->len);
        output_write_whole(export->graphs, export, graphs->str, graphs->len);
    }
    if (export->left_out > 0) {
        report_warning("pcq: only the first %d counters are watched: say which, -z pcq,watch,FILE,PATTERN",
                       MAX_WATCHED);
    }
    g_string_free(watched, TRUE);
    g_string_free(graphs, TRUE);
    g_hash_table_destroy(names);
}

static ws_stat_started start(const char *argument, void *user _U_)
{
    char **parts = g_strsplit(argument + strlen(STATISTIC), ",", 3);
    unsigned count = g_strv_length(parts);
    watch_export *export = g_new0(watch_export, 1);
    bool has_file = count > 1 && *parts[1], has_pattern = count > 2 && *parts[2];

    if (!has_file || (has_pattern && !perf_patterns_are_paths(parts[2]))) {
        report_failure("pcq: %s: -z pcq,watch,FILE[,PATTERN]",
                       has_file ? "no path like \\Set(Instance)\\Counter" : "say where to write");
        WS_STAT_STARTED(false);
    }
    bool is_folder = g_file_test(parts[1], G_FILE_TEST_IS_DIR);
    char *folder = is_folder ? g_strdup(parts[1]) : g_path_get_dirname(parts[1]);
    export->watched = is_folder ? g_build_filename(folder, "pcq_watch", NULL) : g_strdup(parts[1]);
    export->graphs = g_build_filename(folder, "io_graphs", NULL);
    export->pattern = has_pattern ? watch_in_capitals(parts[2]) : NULL;
    export->paths = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    export->order = g_ptr_array_new();
    g_free(folder);
    g_strfreev(parts);
    WS_STAT_STARTED(output_claim(export->watched, export) && output_claim(export->graphs, export) &&
                    output_listen(TAPPED_NAME, export, NULL, reset, add, draw));
}

void export_watch_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
