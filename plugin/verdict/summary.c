/* summary.c
 * `-z pcq,summary[,json|FILE[,FILTER]]`: findings, the worst first, and a line for each monitor; as JSON for scripts. The tables of the same:
 * `-z pcq,monitors[,FILTER]`, `-z pcq,queries[,FILTER]`.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/output.h"
#include "taps/stat-table.h"
#include "text/text.h"
#include "verdict/monitors.h"
#include "verdict/summary.h"

#include <math.h>

#define ENCRYPTED "SMB3 encrypts packets, and no key opens them: frame %u, docs/decryption.md"
#define GOES_BACK \
    "Times of the capture go back: no lateness, no missing response is judged (mergecap brings files into order)"
#define NOTHING \
    "No call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: docs/symptoms.md, \"Wireshark shows none of it\""

typedef enum { HEALTHY, NOT_KNOWN, NOT_HEALTHY } health; /* the worst last */
static const char *const health_words[] = {"true", "null", "false"};
static const char *const parties[] = {"client", "server", "network", "capture", "unknown"};

/* The listener of a -z. */
typedef struct {
    output_task task;
    verdict *verdict;
} summary;

/* Returns NOT_HEALTHY for a finding that is neither a note nor is_unread. NOT_KNOWN: is_unread, sealed calls, no samples, or a call without a response
 * where times go back. */
static health find_health(const verdict_monitor *monitor)
{
    bool is_known = !monitor->first->is_sealed && monitor->num_samples > 0;

    for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
        if (finding->kind < VERDICT_FIRST_NOTE && !finding->is_unread) {
            return NOT_HEALTHY;
        }
        is_known &= !finding->is_unread;
    }
    for (const monitor_call *call = monitor->calls; steps.was_set && call < monitor->end; call++) {
        is_known &= call->outcome != CALL_WAITS || call->failure;
    }
    return is_known ? HEALTHY : NOT_KNOWN;
}

/* Returns true if more than half of all values have no result because their counter or its type is not known. */
static bool lacks_names(const verdict *v)
{
    return 2 * v->omitted.counts[OMITTED_UNTYPED] > v->values;
}

/* Returns the worst health of all monitors; at best NOT_KNOWN without one, if calls were not decoded, or most values have no result. */
static health find_health_of_all(const verdict *v)
{
    bool is_known = v->monitors->len > 0 && v->omitted.counts[OMITTED_UNDECODED] == 0 && !lacks_names(v);
    health all = is_known ? HEALTHY : NOT_KNOWN;

    for (unsigned i = 0; i < v->monitors->len; i++) {
        health one = find_health(g_ptr_array_index(v->monitors, i));
        all = MAX(all, one);
    }
    return all;
}

/* --- Statistics --------------------------------------------------------------------------------------------------- */

/* Returns "query 1", "handle 1 and 2 more" or "sealed 1"; NULL: no handle that the server knows. */
static const char *format_handles(const verdict_monitor *monitor)
{
    unsigned more = MAX(monitor->num_queries, 1) - 1;
    const char *kind = monitor->first->is_sealed ? "sealed" : monitor->first->is_hkpd ? "handle" : "query";

    return monitor->number == 0 ? NULL
           : more > 0           ? wmem_strdup_printf(monitor->pool, "%s %u and %u more", kind, monitor->number, more)
                                : wmem_strdup_printf(monitor->pool, "%s %u", kind, monitor->number);
}

/* Returns "frame 12", in which a handle was opened or closed; 0: `otherwise`, of a sealed one "not known"; NULL: no handle. */
static const char *format_frame(const verdict_monitor *monitor, uint32_t frame, const char *otherwise)
{
    return monitor->number == 0        ? NULL
           : frame > 0                 ? wmem_strdup_printf(monitor->pool, "frame %u", frame)
           : monitor->first->is_sealed ? "not known"
                                       : otherwise;
}

/* Returns "SRV01 (192.0.2.20)"; without a name, or sealed, the address alone. */
static const char *format_server(const verdict_monitor *monitor)
{
    const char *address = monitor->first->server;

    return monitor->first->is_sealed || strcmp(monitor->called, address) == 0
               ? address
               : wmem_strdup_printf(monitor->pool, "%s (%s)", monitor->called, address);
}

/* Statistics of a monitor `m`: members of the JSON, and down to Account columns of `-z pcq,queries`. `longest`: its longest gap, NULL: none;
 * `problems`: its own, NULL: sealed. X(name in JSON, title, format, as of a table_column; cell) */
#define STATISTICS(X) \
    X("handle", "Query", NULL, .text = format_handles(m)) \
    X("client", "Client", NULL, .text = m->first->client) \
    X("server", "Server", NULL, .text = format_server(m)) \
    X("samples", "Samples", "%.0f", .number = m->num_samples) \
    X("interval", "Interval (s)", "%.6g", .number = longest ? m->timing.usual : NAN) \
    X("late_asked", "Late", "%.0f", .number = m->num_late) \
    X("longest", "Longest gap (s)", "%.6g", .number = longest ? longest->seconds : NAN) \
    X("response", "Median SRT (s)", "%.6g", .number = m->response) \
    X("slowest", "Max SRT (s)", "%.6g", .number = m->slowest ? m->slowest->seconds : NAN) \
    X("slowest_frame", "Max SRT frame", "%.0f", .number = m->slowest ? m->slowest->answered.frame : NAN) \
    X("counters", "Counters", "%.0f", .number = m->counters) \
    X("refused", "Refused", "%.0f", .number = problems ? (double)problems[PROBLEM_REFUSED].all : NAN) \
    X("failed_blocks", "Failed", "%.0f", .number = problems ? (double)problems[PROBLEM_BLOCK_FAILED].all : NAN) \
    X("bytes_per_sample", "Bytes/sample", "%.0f", .number = m->bytes) \
    X("account", "Account", NULL, .text = m->first->account) \
    X("jitter", "Jitter (s)", "%.6g", .number = longest ? m->timing.jitter : NAN) \
    X("late_answered", "Slow responses", "%.0f", .number = m->num_slow) \
    X("server_clock", "Server clock (s)", "%+.3f", .number = m->ahead) \
    X("opened", "Opened", NULL, .text = format_frame(m, m->first->opened_frame, "before the capture")) \
    X("closed", "Closed", NULL, .text = format_frame(m, m->closed_frame, "left open")) \
    X("size_probes", "Size probes", "%.0f", .number = m->num_probes) \
    X("no_data", "No data", "%.0f", .number = m->num_empty)

#define NUM_QUERY_COLUMNS 15

#define STAT_NAME(name, ...) name,
#define STAT_COLUMN(name, title, format, ...) {title, format},
#define STAT_CELL(name, title, format, ...) {__VA_ARGS__},
static const char *const stat_names[] = {STATISTICS(STAT_NAME)};
static const table_column stat_columns[] = {STATISTICS(STAT_COLUMN)};
#define NUM_STATS G_N_ELEMENTS(stat_names)

/* Returns NUM_STATS cells, in the monitor's pool. */
static table_cell *fill_cells(const verdict_monitor *m)
{
    const timing_gap *longest = m->timing.num_gaps > 0 ? &m->gaps[m->timing.longest] : NULL;
    const problem_sum *problems = m->first->is_sealed ? NULL : m->problems;
    const table_cell cells[] = {STATISTICS(STAT_CELL)};

    return wmem_memdup(m->pool, cells, sizeof cells);
}

/* --- A monitor's line --------------------------------------------------------------------------------------------- */

const char *format_seconds(const verdict_monitor *monitor, const char *before, double seconds)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE * 10]; /* 1e308 with a few decimals */
    bool is_short = seconds < 0.9995;

    g_ascii_formatd(number, sizeof number, is_short ? "%.1f" : "%.3f", is_short ? 1000 * seconds : seconds);
    return wmem_strdup_printf(monitor->pool, "%s%s %s", before, number, is_short ? "ms" : "s");
}

/* Returns "10 samples every 1.004 s, none late", or "10 samples every 1.004 s, 2 late, 1 slow, longest gap 2.000 s, frame 30"; without samples the reason.
 * "every" stands for an even interval, the longest gap unless none is late. Its frame is of the response behind it, else of the request. Behind it ", none in
 * the last 60.000 s" of the capture, if that is long. Needs: a judged monitor with a query. */
static const char *format_sampling(const verdict_monitor *monitor)
{
    const timing_verdict *timing = &monitor->timing;
    const timing_gap *longest = timing->num_gaps > 0 ? &monitor->gaps[timing->longest] : NULL;
    bool reads_names = monitor->has_names && monitor->num_requests == 0;
    /* the interval is known, no gap is long, no response slow, no packet marked */
    bool is_even = timing->is_even && !timing->takes_turns;
    bool none_late = is_even && !timing_is_long(longest->seconds, timing->usual, TIMING_LATE) && !steps.was_set &&
                     !monitor->is_marked && monitor->num_slow == 0;
    wmem_allocator_t *pool = monitor->pool;

    if (monitor->num_samples == 0) {
        return reads_names && !monitor->findings ? "no samples: it reads lists of names, and asks for no value"
               : !monitor->first->is_sealed && monitor->pair->sampled > 0
                   ? "other queries get the samples" /* perhaps its own, not decoded */
                   : "no samples: no answer with data was captured";
    }
    const char *every = is_even ? format_seconds(monitor, " every ", timing->usual) : "";
    const char *late = monitor->num_late > 0 ? wmem_strdup_printf(pool, ", %u late", monitor->num_late) : "";
    const char *slow = monitor->num_slow > 0 ? wmem_strdup_printf(pool, ", %u slow", monitor->num_slow) : "";
    const char *gap = "";
    if (longest && !none_late) {
        gap = wmem_strdup_printf(pool, "%s, frame %u", format_seconds(monitor, ", longest gap ", longest->seconds),
                                 monitor_call_shown_at(monitor->requests[longest->request].call).frame);
    }
    double quiet = longest ? steps.last - monitor->requests[monitor->num_requests - 1].when : 0;
    bool has_stopped = quiet >= MAX(QUIET_TIMES * timing->usual, QUIET_S);
    return wmem_strconcat(pool, text_counted(pool, monitor->num_samples, "sample"), every,
                          none_late ? ", none late" : "", late, slow, gap,
                          has_stopped ? format_seconds(monitor, ", none in the last ", quiet) : "", NULL);
}

const char *format_monitor_line(const verdict_monitor *monitor)
{
    static const uint8_t needed_most[] = {0, 2, 3, 1}; /* parts in the order in which they get room */
    const char *account = monitor->first->account, *handles = monitor->num_samples > 0 ? format_handles(monitor) : NULL;
    wmem_allocator_t *pool = monitor->pool;
    const char *client = monitor->first->client, *line = NULL;

    const char *sampling = format_sampling(monitor);
    const char *sealed = monitor->first->is_sealed ? "; sealed: refusals and errors are not visible" : "";
    const monitor_call *slowest = *sealed ? NULL : monitor->slowest;
    const char *parts[] = {slowest ? format_seconds(monitor, ", answered in ", monitor->response) : "",
                           slowest ? wmem_strdup_printf(pool, "%s, frame %u)",
                                                        format_seconds(monitor, " (slowest ", slowest->seconds),
                                                        slowest->answered.frame)
                                   : "",
                           handles ? wmem_strconcat(pool, ", ", handles, NULL) : "",
                           *account ? wmem_strconcat(pool, ", logon ", account, NULL) : ""};
    long room = -1; /* names are cut until there is some */
    for (unsigned cut = 0; room < 0 && cut < VERDICT_LINE; cut++) {
        sealed = *sealed && cut > 0 ? "; errors are sealed" : sealed;
        line = wmem_strdup_printf(pool, "%s to %s: %s", text_cut(pool, client, VERDICT_LINE - cut),
                                  text_cut(pool, monitor->called, VERDICT_LINE - cut), sampling);
        room = VERDICT_LINE - g_utf8_strlen(line, -1) - g_utf8_strlen(sealed, -1);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(parts); i++) {
        const char **part = &parts[needed_most[i]];
        *part = g_utf8_strlen(*part, -1) <= room ? *part : "";
        room -= g_utf8_strlen(*part, -1);
    }
    return wmem_strconcat(pool, line, parts[0], parts[1], parts[2], parts[3], sealed, NULL);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

/* Writes a line with control characters escaped: a name from a packet must not begin one of its own. */
static void write_line(GString *text, const verdict_monitor *monitor, const char *line)
{
    g_string_append_printf(text, "%s\n", text_escaped(monitor->pool, line));
}

/* Writes a finding: the sentence; below it the filter, if there is one, what is affected, and what to do. */
static void write_finding(GString *text, const verdict_monitor *monitor, const verdict_finding *finding)
{
    const char *filter = verdict_filter(monitor->pool, finding), *more = finding->more;

    write_line(text, monitor, finding->text);
    if (*filter) {
        g_string_append_printf(text, "    %s\n", filter);
    }
    write_line(text, monitor,
               wmem_strconcat(monitor->pool, "    ", more ? more : "", more ? "; " : "", finding->advice, NULL));
}

/* Formats the notes of a summary: types that the capture lacks, always first; calls that were not decoded; responses of no known query or handle; times
 * that go back; if no call was read, one line on why. Findings tell everything else. Returns texts that are freed with the array. */
static GPtrArray *format_notes(const verdict *v)
{
    omissions omitted = v->omitted;

    omitted.has_findings = true;
    GPtrArray *notes = omissions_format(&omitted, false /* is_brief */);
    if (lacks_names(v)) {
        g_ptr_array_insert(notes, 0,
                           g_strdup_printf("Most values have no result (%" PRIu64 " of %" PRIu64
                                           "): their counters, or the types of these, are not known",
                                           omitted.counts[OMITTED_UNTYPED], v->values));
    }
    if (steps.was_set) {
        g_ptr_array_add(notes, g_strdup(GOES_BACK));
    }
    if (v->monitors->len == 0 && !omitted.any_decoded && omitted.counts[OMITTED_UNDECODED] == 0) {
        g_ptr_array_add(notes, steps.encrypted ? g_strdup_printf(ENCRYPTED, steps.encrypted) : g_strdup(NOTHING));
    }
    return notes;
}

/* Writes a headline if all is well, or if types are missing and nothing is bad; of each monitor its findings and, if it has calls, its line; then findings
 * that are notes; then what was not read. Needs: verdict_judge_for_display(). */
static void write_summary_text(GString *text, const verdict *v)
{
    GPtrArray *notes = format_notes(v);
    GString *behind = g_string_new(NULL);
    health all = find_health_of_all(v);
    unsigned first = all == NOT_KNOWN && lacks_names(v); /* notes that stand above all: 1 or 0 */
    uint64_t samples = 0;

    for (unsigned i = 0; i < v->monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
            write_finding(finding->kind < VERDICT_FIRST_NOTE ? text : behind, monitor, finding);
        }
        if (monitor->calls < monitor->end) {
            write_line(text, monitor, format_monitor_line(monitor));
        }
        samples += monitor->num_samples;
    }
    g_string_append(text, behind->str);
    for (unsigned i = first; i < notes->len; i++) {
        g_string_append_printf(text, "%s\n", (const char *)g_ptr_array_index(notes, i));
    }
    const char *headline =
        wmem_strdup_printf(v->pool, "No problems found: %s, %s", text_counted(v->pool, v->monitors->len, "monitor"),
                           text_counted(v->pool, samples, "sample"));
    headline = first ? g_ptr_array_index(notes, 0) : headline;
    if (first || all == HEALTHY) {
        g_string_prepend(text, wmem_strconcat(v->pool, headline, "\n", NULL));
    }
    g_string_free(behind, TRUE);
    g_ptr_array_free(notes, TRUE);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

void verdict_put_text(json_dumper *json, const char *name, const char *text)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_string(json, text);
}

void verdict_put_number(json_dumper *json, const char *name, double number)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_double(json, number);
}

void verdict_begin_list(json_dumper *json, const char *name)
{
    json_dumper_set_member_name(json, name);
    json_dumper_begin_array(json);
}

void verdict_put_texts(json_dumper *json, const char *name, GPtrArray *texts)
{
    verdict_begin_list(json, name);
    for (unsigned i = 0; i < texts->len; i++) {
        json_dumper_value_string(json, g_ptr_array_index(texts, i));
    }
    json_dumper_end_array(json);
    g_ptr_array_free(texts, TRUE);
}

/* `word`: JSON, as "true" or "null". */
static void put_word(json_dumper *json, const char *name, const char *word)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_anyf(json, "%s", word);
}

/* Writes a finding as an element of the array that was begun. `until` is null if it lasts. */
static void put_finding(json_dumper *json, const verdict_monitor *monitor, const verdict_finding *finding)
{
    json_dumper_begin_object(json);
    verdict_put_text(json, "party", parties[finding->party]);
    verdict_put_text(json, "kind", verdict_rows[finding->kind].name);
    put_word(json, "note", finding->kind >= VERDICT_FIRST_NOTE ? "true" : "false");
    put_word(json, "since", verdict_moment_json(monitor->pool, finding->since));
    put_word(json, "until", finding->lasts ? "null" : verdict_moment_json(monitor->pool, finding->until));
    verdict_put_number(json, "count", finding->count);
    verdict_put_text(json, "filter", verdict_filter(monitor->pool, finding));
    verdict_put_text(json, "text",
                     wmem_strconcat(monitor->pool, finding->text, finding->more ? "; " : NULL, finding->more, NULL));
    verdict_put_text(json, "advice", finding->advice);
    json_dumper_end_object(json);
}

static void put_monitor(json_dumper *json, const verdict_monitor *monitor)
{
    const table_cell *cells = fill_cells(monitor);

    json_dumper_begin_object(json);
    put_word(json, "healthy", health_words[find_health(monitor)]);
    put_word(json, "sealed", monitor->first->is_sealed ? "true" : "false");
    verdict_put_number(json, "queries", monitor->number > 0 ? MAX(monitor->num_queries, 1) : 0);
    for (unsigned i = 0; i < NUM_STATS; i++) {
        if (stat_columns[i].format) {
            verdict_put_number(json, stat_names[i], cells[i].number);
        } else if (cells[i].text) {
            verdict_put_text(json, stat_names[i], cells[i].text);
        }
    }
    verdict_begin_list(json, "findings");
    for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
        put_finding(json, monitor, finding);
    }
    json_dumper_end_array(json);
    json_dumper_end_object(json);
}

void verdict_put_json(json_dumper *json, const verdict *v)
{
    json_dumper_begin_object(json);
    put_word(json, "healthy", health_words[find_health_of_all(v)]);
    verdict_put_texts(json, "notes", format_notes(v));
    verdict_begin_list(json, "monitors");
    for (unsigned i = 0; i < v->monitors->len; i++) {
        put_monitor(json, g_ptr_array_index(v->monitors, i));
    }
    json_dumper_end_array(json);
    json_dumper_end_object(json);
}

void verdict_put_titles(json_dumper *json)
{
    json_dumper_set_member_name(json, "figures");
    json_dumper_begin_object(json);
    for (unsigned i = 0; i < NUM_STATS; i++) {
        verdict_put_text(json, stat_names[i], stat_columns[i].name);
    }
    json_dumper_end_object(json);
}

/* --- The listener ------------------------------------------------------------------------------------------------- */

static void summary_reset(void *data)
{
    verdict_restart(&((summary *)data)->verdict);
}

static void summary_count(void *data, packet_info *pinfo, const call_tap_data *tapped)
{
    verdict_count(((summary *)data)->verdict, pinfo, tapped);
}

/* Writes text, or JSON to a FILE.json; "json" in the place of FILE is JSON to standard output. */
static void summary_draw(void *data)
{
    summary *s = data;
    bool is_json = strcmp(s->task.path, "json") == 0;
    GString *text = g_string_new(NULL);
    json_dumper json = {.output_string = text, .flags = JSON_DUMPER_FLAGS_PRETTY_PRINT};

    verdict_judge_for_display(s->verdict);
    if (is_json || g_str_has_suffix(s->task.path, ".json")) {
        verdict_put_json(&json, s->verdict);
        json_dumper_finish(&json);
    } else {
        write_summary_text(text, s->verdict);
    }
    output_whole(is_json ? "-" : s->task.path, text);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static const table_column finding_columns[] = {
    {"Finding", NULL}, {"Count", "%.0f"}, {"First frame", "%.0f"}, {"Filter", NULL},
    {"Client", NULL},  {"Server", NULL},  {"Details", NULL},
};

/* Adds a row for a finding or (NULL) for the monitor's line, numbered: the worst is at the top, also if a window sorts. */
static void add_finding_row(stat_table *t, const verdict_monitor *monitor, const verdict_finding *finding)
{
    const char *text = finding ? finding->text : format_monitor_line(monitor);
    const table_cell cells[] = {
        {.text = wmem_strdup_printf(monitor->pool, "%3u. %s", t->shown->num_elements + 1, text)},
        {.number = finding ? finding->count : NAN},
        {.number = finding ? finding->frames[0] : NAN},
        {.text = finding ? verdict_filter(monitor->pool, finding) : NULL},
        {.text = monitor->first->client},
        {.text = format_server(monitor)},
        {.text = finding ? finding->more : NULL},
    };

    stat_table_add_row(t, cells, G_N_ELEMENTS(cells));
}

/* Fills `-z pcq,monitors`, of each monitor, the worst first: a row for each finding, and one for its line, if it made calls. Changes: judges
 * anew; the table's notes leave out what findings say. */
static void fill_findings(stat_table *t)
{
    verdict *v = ((summary *)t->data)->verdict;

    verdict_judge_for_display(v);
    t->omitted.has_findings = v->monitors->len > 0;
    for (unsigned i = 0; i < v->monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
            add_finding_row(t, monitor, finding);
        }
        if (monitor->calls < monitor->end) {
            add_finding_row(t, monitor, NULL);
        }
    }
}

/* Fills `-z pcq,queries`: a row for each monitor that has samples, and a handle that the server knows. Numbers are rounded to microseconds: times
 * are differences of seconds since 1970, and no more exact. */
static void fill_queries(stat_table *t)
{
    verdict *v = ((summary *)t->data)->verdict;

    verdict_judge(v);
    for (unsigned i = 0; i < v->monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(v->monitors, i);
        table_cell *cells = fill_cells(monitor);
        for (unsigned c = 0; c < NUM_QUERY_COLUMNS; c++) {
            cells[c].number = round(cells[c].number * 1e6) / 1e6;
        }
        if (monitor->number > 0 && monitor->num_samples > 0) {
            stat_table_add_row(t, cells, NUM_QUERY_COLUMNS);
        }
    }
}

output_statistic summary_statistic = {.name = "pcq,summary",
                                      .task_size = sizeof(summary),
                                      .reset = summary_reset,
                                      .count = summary_count,
                                      .draw = summary_draw};

static summary of_monitors, of_queries;

stat_table monitors_table = {
    .ui = {.title = "Performance Counter Monitors",
           .cli_string = "pcq,monitors",
           .nfields = G_N_ELEMENTS(finding_columns)},
    .columns = finding_columns,
    .data = &of_monitors,
    .begin = summary_reset,
    .count = summary_count,
    .fill = fill_findings,
};

stat_table queries_table = {
    .ui = {.title = "Performance Counter Queries", .cli_string = "pcq,queries", .nfields = NUM_QUERY_COLUMNS},
    .columns = stat_columns,
    .data = &of_queries,
    .begin = summary_reset,
    .count = summary_count,
    .fill = fill_queries,
};
