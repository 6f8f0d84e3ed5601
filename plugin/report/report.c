/* report.c
 * One page for people without Wireshark, in a browser: the verdict, samples in time, refusals, each counter as a picture.
 * `-z pcq,report,FILE` writes it; so does Statistics, Performance Counter Report.
 *
 * The data are collected here and written as JSON (page.js and its neighbors draw them). Texts of packets are strings of the JSON, in which
 * no "<" is left, so that none can be markup.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "perf/bytes.h"
#include "report/chart-lines.h"
#include "taps/output.h"
#include "taps/refusals.h"
#include "taps/stat-table.h"
#include "verdict/monitors.h"
#include "verdict/summary.h"

#include <epan/epan.h>
#include <epan/plugin_if.h>

#include <math.h>

/* The build embeds it (embed.cmake): HTML with @NONCE@ and @DATA@ in the places of what is written into it; "" without the chart library. */
extern const unsigned char report_page_bytes[];
#define PAGE ((const char *)report_page_bytes)

#define NO_LIBRARY "this build has no report: it was made without the package libjs-dygraphs"

#define MOST_TIMELINES 50 /* monitors with a timeline: the first */
#define MOST_MARKS 1000   /* parts of a timeline, each with a mark at most */

typedef struct {
    output_task task;
    verdict *verdict;    /* kept for the next capture; NULL before the first */
    keyed_list refusals; /* refusal_row */
    chart_lines lines;
    uint32_t first_frame; /* of the first call; 0: none came */
    uint32_t last_frame;  /* of the newest call */
    double begin, end;    /* seconds since 1970: earliest and latest time of a call */
} report;

/* Forgets all that was counted, and begins a page. `data`: report, whose task stays. */
static void report_restart(void *data)
{
    report *r = data;

    verdict_restart(&r->verdict);
    keyed_list_begin_paths(&r->refusals);
    chart_lines_begin(&r->lines);
    r->first_frame = r->last_frame = 0;
    r->begin = r->end = 0;
}

/* --- Calls ------------------------------------------------------------------------------------------------------- */

/* Adds all results of a sample to the lines of their paths. */
static void add_results(report *r, const chart_sample *sample, value_stream *values)
{
    while (value_stream_next(values)) {
        if (values->counter->is_text) {
            continue;
        }
        perf_result result = value_stream_result(values);
        chart_line *line = keyed_list_find_or_add(&r->lines.all, value_stream_path(values), sizeof *line);
        /* another counter of that path, with a result or without, has no line */
        line = line && value_stream_is_same_counter(values, &line->whose) ? line : NULL;
        if (result.none == PERF_NO_RESULT_OK) {
            chart_line_add(&r->lines, line, sample, result.value, value_stream_assumed(values) != ASSUMED_NONE);
        }
    }
}

/* Counts a call for all parts of the page. `data`: report. */
static void report_count(void *data, packet_info *pinfo, const call_tap_data *tapped)
{
    report *r = data;
    double at = nstime_to_sec(&pinfo->abs_ts); /* frames need not be in the order of their times */
    const monitor_call *call = verdict_count(r->verdict, pinfo, tapped);

    refusals_count(&r->refusals, pinfo, tapped);
    r->end = r->first_frame == 0 ? at : MAX(r->end, at);
    r->begin = r->first_frame == 0 ? at : MIN(r->begin, at);
    r->first_frame = r->first_frame == 0 ? pinfo->num : r->first_frame;
    r->last_frame = pinfo->num;
    if (call && call_tap_has_sample(tapped)) {
        const chart_sample sample = {call->query, call->number, at};
        add_results(r, &sample, value_stream_begin(pinfo->pool, tapped->answer));
    }
}

/* --- The data ---------------------------------------------------------------------------------------------------- */

static int64_t get_milliseconds(const report *r, double at)
{
    return (int64_t)round((at - r->begin) * 1000);
}

/* Writes a member [milliseconds since the page's begin, frame]. */
static void put_moment(json_dumper *json, const report *r, const char *name, verdict_moment at)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_anyf(json, "[%" PRId64 ",%u]", get_milliseconds(r, at.time), at.frame);
}

/* Returns the kind in plain words, and its port or first path: "Counters refused, first \Set(*)\Counter". */
static const char *format_what(const verdict_monitor *monitor, const verdict_finding *finding)
{
    const char *lead = finding->kind <= VERDICT_REFUSED_CONNECTION ? ", port "
                       : finding->kind >= VERDICT_NOT_DELIVERED    ? ", first "
                                                                   : NULL;

    return wmem_strconcat(monitor->pool, verdict_rows[finding->kind].what, finding->which ? lead : NULL, finding->which,
                          NULL);
}

/* Returns the party: "Server SRV01", "Client 192.0.2.10", "Network to SRV01", "Capture"; not known: "Client or server SRV01". */
static const char *format_who(const verdict_monitor *monitor, const verdict_finding *finding)
{
    static const char *const parties[] = {[PARTY_CLIENT] = "Client ",
                                          [PARTY_SERVER] = "Server ",
                                          [PARTY_NETWORK] = "Network to ",
                                          [PARTY_CAPTURE] = "Capture",
                                          [PARTY_UNKNOWN] = "Client or server "};
    const char *name = finding->party == PARTY_CAPTURE  ? ""
                       : finding->party == PARTY_CLIENT ? monitor->first->client
                                                        : monitor->called;

    return wmem_strconcat(monitor->pool, parties[finding->party], name, NULL);
}

/* Writes a finding in words for people without Wireshark, with advice, filter, and its first and last frame. */
static void put_plain_finding(json_dumper *json, const report *r, const verdict_monitor *monitor,
                              const verdict_finding *finding)
{
    json_dumper_begin_object(json);
    verdict_put_text(json, "kind", verdict_rows[finding->kind].name);
    verdict_put_text(json, "who", format_who(monitor, finding));
    verdict_put_text(json, "what", format_what(monitor, finding));
    verdict_put_text(json, "advice", finding->advice);
    verdict_put_text(json, "filter", verdict_filter(monitor->pool, finding));
    put_moment(json, r, "since", finding->since);
    put_moment(json, r, "until", finding->until);
    verdict_put_number(json, "count", finding->count);
    json_dumper_end_object(json);
}

/* --- Timelines --------------------------------------------------------------------------------------------------- */

/* The worst last. X(STATE, name) */
#define STATES(X) \
    X(ANSWERED, "answered") \
    X(LATE, "late") \
    X(SLOW, "slow") \
    X(EMPTY, "without data") \
    X(MALFORMED, "malformed") \
    X(UNANSWERED, "no answer") \
    X(NOT_CAPTURED, "not captured") \
    X(RESTARTED, "restarted") \
    X(FAILED, "failed")

#define STATE_NUMBER(state, ...) STATE_##state,
#define STATE_NAME(state, name) name,
typedef enum { STATE_HIDDEN = -1, STATES(STATE_NUMBER) NUM_STATES } timeline_state;

static const char *const state_names[] = {STATES(STATE_NAME)};

/* A part of a timeline. */
typedef struct {
    const monitor_call *call; /* the worst */
    timeline_state state;
    unsigned calls;
} timeline_mark;

/* Returns true if the frame is one that shows the finding. */
static bool is_shown_by(const verdict_finding *finding, uint32_t frame)
{
    return bsearch(&frame, finding->frames, finding->count, sizeof frame, perf_compare_u32);
}

/* Returns the worst state of a call, by its outcome and by findings that its frames show. Size probes and calls for no data have none, nor has a
 * last request that no finding shows: it may be answered later. */
static timeline_state find_state(const verdict_monitor *monitor, const monitor_call *call)
{
    static const timeline_state by_outcome[] = {
        [CALL_WAITS] = STATE_HIDDEN, [CALL_DONE] = STATE_HIDDEN, [CALL_SAMPLE] = STATE_ANSWERED,
        [CALL_PROBE] = STATE_HIDDEN, [CALL_EMPTY] = STATE_EMPTY, [CALL_DAMAGED] = STATE_MALFORMED,
        [CALL_FAILED] = STATE_FAILED};
    static const timeline_state by_finding[VERDICT_NUM_KINDS] = {[VERDICT_SLOW] = STATE_SLOW,
                                                                 [VERDICT_ASKED_LATE] = STATE_LATE,
                                                                 [VERDICT_NO_DATA] = STATE_EMPTY,
                                                                 [VERDICT_DAMAGED] = STATE_MALFORMED,
                                                                 [VERDICT_UNANSWERED] = STATE_UNANSWERED,
                                                                 [VERDICT_OTHER_CLOCK] = STATE_RESTARTED};
    timeline_state state = by_outcome[call->outcome], of_waiting = STATE_UNANSWERED;

    if (!call->asks && call->outcome != CALL_FAILED) {
        return STATE_HIDDEN;
    }
    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        bool is_of_call = (f->kind == VERDICT_UNANSWERED) == (call->outcome == CALL_WAITS) &&
                          (is_shown_by(f, call->answered.frame) || is_shown_by(f, call->asked.frame));
        state = is_of_call && by_finding[f->kind] > STATE_ANSWERED ? MAX(state, by_finding[f->kind]) : state;
        of_waiting = f->kind == VERDICT_LOST ? STATE_NOT_CAPTURED : of_waiting;
    }
    return state == STATE_HIDDEN && call->outcome == CALL_WAITS && call + 1 < monitor->end ? of_waiting : state;
}

/* Writes the timeline of a monitor: its text, and for each mark [milliseconds, state, frame, microseconds from request to response or -1, calls]. A
 * mark is the worst call of a part of the time. */
static void put_timeline(json_dumper *json, const report *r, const verdict_monitor *monitor)
{
    timeline_mark marks[MOST_MARKS] = {0};

    for (const monitor_call *call = monitor->calls; call < monitor->end; call++) {
        timeline_state state = find_state(monitor, call);
        double part = (monitor_call_shown_at(call).time - r->begin) / (r->end - r->begin) * MOST_MARKS;
        timeline_mark *mark = &marks[part > 0 ? MIN((unsigned)part, MOST_MARKS - 1) : 0];
        if (state != STATE_HIDDEN && (mark->calls++ == 0 || state > mark->state)) {
            mark->call = call;
            mark->state = state;
        }
    }
    json_dumper_begin_array(json);
    json_dumper_value_string(json, format_monitor_line(monitor));
    json_dumper_begin_array(json);
    for (const timeline_mark *mark = marks; mark < marks + MOST_MARKS; mark++) {
        if (mark->calls > 0) {
            const verdict_moment at = monitor_call_shown_at(mark->call);
            bool has_time = mark->call->answered.time > 0 && mark->call->seconds >= 0;
            json_dumper_value_anyf(json, "[%" PRId64 ",%d,%u,%" PRId64 ",%u]", get_milliseconds(r, at.time),
                                   mark->state, at.frame, has_time ? (int64_t)(mark->call->seconds * 1e6 + 0.5) : -1,
                                   mark->calls);
        }
    }
    json_dumper_end_array(json);
    json_dumper_end_array(json);
}

/* --- All data ---------------------------------------------------------------------------------------------------- */

/* Writes the summary as members: "verdict", all "findings", "timelines", and names of states ("kinds") and statistics ("figures"). Needs: the
 * verdict is judged. */
static void put_monitors(json_dumper *json, const report *r)
{
    const GPtrArray *monitors = r->verdict->monitors;

    verdict_put_titles(json);
    json_dumper_set_member_name(json, "verdict");
    verdict_put_json(json, r->verdict);
    verdict_begin_list(json, "findings");
    for (unsigned i = 0; i < monitors->len; i++) {
        const verdict_monitor *monitor = g_ptr_array_index(monitors, i);
        for (const verdict_finding *finding = monitor->findings; finding; finding = finding->next) {
            put_plain_finding(json, r, monitor, finding);
        }
    }
    json_dumper_end_array(json);
    verdict_begin_list(json, "kinds");
    for (unsigned i = 0; i < NUM_STATES; i++) {
        json_dumper_value_string(json, state_names[i]);
    }
    json_dumper_end_array(json);
    verdict_begin_list(json, "timelines");
    for (unsigned i = 0; r->first_frame > 0 && i < MIN(monitors->len, MOST_TIMELINES); i++) {
        put_timeline(json, r, g_ptr_array_index(monitors, i));
    }
    json_dumper_end_array(json);
}

/* Writes the member "missing": for each refusal [path, error, count, first frame, description]. */
static void put_refusals(json_dumper *json, const keyed_list *list)
{
    verdict_begin_list(json, "missing");
    for (wmem_list_frame_t *at = wmem_list_head(list->entries); at; at = wmem_list_frame_next(at)) {
        const refusal_row *row = wmem_list_frame_data(at);
        json_dumper_begin_array(json);
        json_dumper_value_string(json, row->path);
        json_dumper_value_string(json, row->error);
        json_dumper_value_anyf(json, "%" PRIu64 ",%u", row->count, row->first_frame);
        json_dumper_value_string(json, row->description);
        json_dumper_end_array(json);
    }
    json_dumper_end_array(json);
}

/* Writes members for what the page leaves out: numbers of each kind, and notes in words. */
static void put_left_out(json_dumper *json, const report *r)
{
    omissions omitted = r->verdict->omitted;

    omitted.has_findings = r->verdict->monitors->len > 0;
    verdict_put_number(json, "untyped", (double)r->verdict->omitted.counts[OMITTED_UNTYPED]);
    verdict_put_number(json, "values", (double)r->lines.values);
    verdict_put_number(json, "roomless", (double)r->lines.omitted);
    verdict_put_number(json, "thinned", r->lines.is_thinned);
    verdict_put_texts(json, "notes", omissions_format(&omitted, true /* is_brief */));
}

/* Returns the file that tshark's option -r names, NULL without one; to be freed. tshark tells plugins nothing of its file; on Linux
 * /proc/self/cmdline has it. */
static char *find_read_option(void)
{
    char *line = NULL, *file = NULL;
    size_t size = 0;

    g_file_get_contents("/proc/self/cmdline", &line, &size, NULL);
    for (size_t i = 0; file == NULL && i < size; i += strlen(line + i) + 1) {
        const char *at = line + i,
                   *option = *at == '-' ? at + 1 + strspn(at + 1, "2lnqQVxP") : ""; /* "-qr": behind flags */
        if (*option == 'r') {
            file = g_strdup(option[1] == '\0' ? option + 2 : option + 1);
        }
    }
    g_free(line);
    return file;
}

/* Returns the name of the window's or tshark's capture without its folder, to be freed; "": not known, as of a pipe, a live capture, or of
 * tshark on another system than Linux. */
static char *get_capture_name(void)
{
    ws_info_t *info = NULL;

    plugin_if_get_ws_info(&info);
    char *file = info && info->cf_filename ? g_strdup(info->cf_filename) : find_read_option();
    char *name = file && strcmp(file, "-") != 0 ? g_filename_display_basename(file) : g_strdup("");
    g_free(file);
    return name;
}

/* Writes members about the capture: its name, frames, begin, length in seconds, minutes of local time east of UTC, and both programs' versions. */
static void put_capture(json_dumper *json, const report *r)
{
    GDateTime *local = g_date_time_new_from_unix_local((int64_t)r->begin); /* sentences have the time of day, too */
    char *name = get_capture_name();

    verdict_put_number(json, "first_frame", r->first_frame);
    verdict_put_number(json, "last_frame", r->last_frame);
    verdict_put_text(json, "file", name);
    g_free(name);
    verdict_put_number(json, "begin", r->begin);
    verdict_put_number(json, "seconds", r->end - r->begin);
    verdict_put_number(json, "east", local ? (double)(g_date_time_get_utc_offset(local) / G_TIME_SPAN_MINUTE) : 0);
    g_clear_pointer(&local, g_date_time_unref);
    verdict_put_text(json, "version", PCQ_VERSION);
    verdict_put_text(json, "wireshark", epan_get_version());
}

/* Returns all data of the page as JSON without "<", to be freed. Needs: the verdict is judged. Changes: sorts the lines. */
static char *build_json(report *r)
{
    json_dumper json = {.output_string = g_string_new(NULL)};

    json_dumper_begin_object(&json);
    put_capture(&json, r);
    put_monitors(&json, r);
    put_refusals(&json, &r->refusals);
    chart_lines_put(&json, &r->lines, r->begin);
    put_left_out(&json, r);
    json_dumper_end_object(&json);
    json_dumper_finish(&json);
    /* no name can end the element that the data stand in */
    char **pieces = g_strsplit(json.output_string->str, "<", -1), *data = g_strjoinv("\\u003c", pieces);
    g_strfreev(pieces);
    g_string_free(json.output_string, TRUE);
    return data;
}

/* --- The page ---------------------------------------------------------------------------------------------------- */

/* Judges what was counted, and writes the page to the task's file, for -z and for the window. Reports a build without the chart library. `data`: report.
 * Needs: report_restart() before, a path. Changes: the verdict, as verdict_judge_for_display() does; thins and sorts the lines. */
static void report_draw(void *data)
{
    report *r = data;

    if (*PAGE == '\0') {
        output_failed(g_strdup(NO_LIBRARY));
        return;
    }
    /* By page.html's Content-Security-Policy a browser runs and applies only elements with this word in their tag: no packet can know it. */
    GRand *random = g_rand_new();
    char *nonce = g_strdup_printf("%08x%08x%08x%08x", g_rand_int(random), g_rand_int(random), g_rand_int(random),
                                  g_rand_int(random));
    verdict_judge_for_display(r->verdict);
    char *json = build_json(r);
    GString *page = g_string_new(PAGE);
    g_string_replace(page, "@NONCE@", nonce, 0); /* 0: wherever it stands; before the data, which may have "@NONCE@" */
    g_string_replace(page, "@DATA@", json, 1);
    output_whole(r->task.path, page);
    g_free(json);
    g_free(nonce);
    g_rand_free(random);
}

/* --- The window -------------------------------------------------------------------------------------------------- */

static const table_column window_columns[] = {{"Open this file in a browser", NULL}};

/* stat_table.fill: writes the page, in place of an older one: the capture's name, or "counters", with ".html", in the folder of downloads, else in
 * the user's home. The table is one row: the path, even if the write failed, which is reported apart; or that the build has no page. */
static void window_fill(stat_table *t)
{
    report *window = t->data;
    const char *folder = g_get_user_special_dir(G_USER_DIRECTORY_DOWNLOAD);
    char *capture = get_capture_name();
    char *path = g_strdup_printf("%s" G_DIR_SEPARATOR_S "%s.html", folder ? folder : g_get_home_dir(),
                                 *capture ? capture : "counters");

    stat_table_add_row(t, &(table_cell){.text = *PAGE ? path : NO_LIBRARY}, 1);
    window->task.path = path;
    report_draw(window);
    g_free(capture);
    g_free(path);
}

output_statistic report_statistic = {.name = "pcq,report",
                                     .task_size = sizeof(report),
                                     .reset = report_restart,
                                     .count = report_count,
                                     .draw = report_draw};

static report window_report;

stat_table report_table = {
    .ui = {.title = "Performance Counter Report", .cli_string = "pcq,page", .nfields = 1},
    .columns = window_columns,
    .data = &window_report,
    .begin = report_restart,
    .count = report_count,
    .fill = window_fill,
};
