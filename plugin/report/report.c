/* report.c
 * One page for people without Wireshark, in a browser: the verdict, monitors, refusals, each counter as a picture. `-z pcq,report,FILE`
 * writes it; so does Statistics, Performance Counter Report; and it is one of the objects to export.
 *
 * Here the data are collected and written as JSON; what the page does with them is page.js's. What the packets say goes in as
 * strings of JSON, in which no "<" is left, so that none can be markup.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "report/series.h"
#include "taps/output.h"
#include "taps/table.h"
#include "verdict/talks.h"

#include <epan/epan.h>
#include <epan/plugin_if.h>

#include <math.h>

/* As the build embeds it (embed.cmake): HTML with @NONCE@ and @DATA@ for what is written into it; "" if it was built without the chart
 * library. */
extern const unsigned char report_page_bytes[];
#define PAGE ((const char *)report_page_bytes)

#define NO_LIBRARY "this build has no report: it was made without the npm package uplot"

/* More monitors have no line of time, which has so many places. */
#define MOST_TIMELINES 50
#define PLACES 1000

struct report {
    output_task task;
    verdict *verdict;
    series_set series;
    uint64_t answers;
    uint32_t first_frame, last_frame;
    double begin, end;   /* seconds since 1970 */
    bool of_calls_alone; /* what else packets say was not looked at */
};

static void restart(void *data)
{
    report *r = data;

    if (r->verdict) {
        verdict_reset(r->verdict);
        series_end(&r->series);
    } else {
        r->verdict = verdict_new(true);
        r->of_calls_alone = verdict_ladder_memory == NULL;
    }
    *r = (report){.task = r->task, .verdict = r->verdict, .of_calls_alone = r->of_calls_alone};
    series_begin(&r->series);
}

report *report_new(void)
{
    report *r = g_new0(report, 1);

    restart(r);
    return r;
}

void report_free(report *r)
{
    series_end(&r->series);
    verdict_free(r->verdict);
    g_free(r);
}

/* --- What calls say ---------------------------------------------------------------------------------------------- */

static void add_points(report *r, const packet_info *pinfo, readings *values)
{
    const reading *at;

    r->answers++;
    while ((at = readings_next(values)) != NULL) {
        if (at->is_text) {
            continue;
        }
        const char *path = tapped_placed(values->pool, values->answer.handle, readings_path(values));
        perf_result result = readings_result(values);
        left_out_count_marks(&r->verdict->left, left_out_marks(values, &result));
        if (path) {
            series *line = series_of(&r->series, path);
            line = line && readings_is_of(values, &line->whose) ? line : NULL; /* else another counter of that name */
            series_add(&r->series, r->answers, line, nstime_to_sec(&pinfo->abs_ts),
                       result.none == PERF_NO_RESULT_OK ? result.value : NAN, readings_assumed(values));
        }
    }
}

void report_count(void *data, packet_info *pinfo, const tapped_call *tapped)
{
    report *r = data;
    double at = nstime_to_sec(&pinfo->abs_ts); /* frames need not be in the order of their times */

    verdict_count(r->verdict, pinfo, tapped);
    r->end = MAX(r->end, at);
    r->begin = r->first_frame == 0 ? at : MIN(r->begin, at);
    r->first_frame = r->first_frame == 0 ? pinfo->num : r->first_frame;
    r->last_frame = pinfo->num;
    if (!tapped->is_repeated && tapped->answer && tapped->answer->sample && tapped->answer->handle) {
        add_points(r, pinfo, readings_begin(pinfo->pool, tapped->answer));
    }
}

/* --- The data ---------------------------------------------------------------------------------------------------- */

static void put_decimal(json_dumper *json, const char *format, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    json_dumper_value_anyf(json, "%s", g_ascii_formatd(text, sizeof text, format, number));
}

static void put_line(json_dumper *json, const series *s)
{
    json_dumper_begin_array(json);
    json_dumper_value_string(json, s->path);
    json_dumper_value_string(json, s->whose.type->unit);
    json_dumper_value_anyf(json, "%" PRIu64, s->results.count);
    put_decimal(json, "%.6g", s->results.min);
    put_decimal(json, "%.6g", perf_summary_mean(&s->results));
    put_decimal(json, "%.6g", s->results.max);
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < s->points->len; i++) {
        put_decimal(json, "%.3f", g_array_index(s->points, series_point, i).at);
    }
    json_dumper_end_array(json);
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < s->points->len; i++) {
        put_decimal(json, "%.6g", g_array_index(s->points, series_point, i).value);
    }
    json_dumper_end_array(json);
    json_dumper_value_anyf(json, "%" PRIu64, s->assumed);
    json_dumper_end_array(json);
}

/* What comes and goes is no finding, and lacks nothing. */
static void put_missing(json_dumper *json, const report *r)
{
    bool any_lacking = false;

    for (unsigned i = 0; i < r->verdict->monitors->len; i++) {
        any_lacking |= verdict_has(g_ptr_array_index(r->verdict->monitors, i), VERDICT_NOT_DELIVERED);
    }
    verdict_begin_list(json, "missing");
    for (unsigned i = 0; i < r->verdict->missing->len; i++) {
        const verdict_missing *row = g_ptr_array_index(r->verdict->missing, i);
        bool is_lacking = row->kind == BOOK_LACKING;
        if (is_lacking && !any_lacking) {
            continue;
        }
        json_dumper_begin_array(json);
        json_dumper_value_string(json, row->path);
        json_dumper_value_string(json, is_lacking ? "not delivered"
                                                  : verdict_error(r->verdict->pool, row->is_fault, row->status, false));
        json_dumper_value_anyf(json, "%" PRIu64, row->times);
        json_dumper_value_anyf(json, "%u", row->frame);
        json_dumper_value_string(json, is_lacking ? verdict_rows[VERDICT_NOT_DELIVERED].advice
                                                  : tapped_meaning(row->status, row->does_not_seal));
        json_dumper_end_array(json);
    }
    json_dumper_end_array(json);
}

/* What of all this is not in the page, or is assumed. */
static void put_left_out(json_dumper *json, const report *r)
{
    left_out left = r->verdict->left;
    uint64_t unread = 0;

    for (unsigned i = 0; i < LEFT_OUT_REASONS; i++) {
        unread += r->verdict->left.unread[i].calls;
    }
    verdict_put_number(json, "unread", (double)unread);
    verdict_put_number(json, "values", (double)r->series.values);
    verdict_put_number(json, "roomless", (double)r->series.left_out);
    verdict_put_number(json, "unlisted", (double)r->verdict->more_missing);
    verdict_put_number(json, "thinned", r->series.is_thinned);
    verdict_put_number(json, "of_calls_alone", r->of_calls_alone);
    if (!left.any_read && r->verdict->monitors->len > 0) { /* why nothing was read is the verdict's to say */
        left.any_read = left.needs_no_samples = true;
    }
    verdict_put_texts(json, "notes", left_out_notes(&left, "values", LEFT_OUT_LONG));
}

/* --- The line of time -------------------------------------------------------------------------------------------- */

/* What the page marks, the worst last: page.js has the same list. */
typedef enum { MARK_NONE, MARK_SAMPLE, MARK_LATE, MARK_NO_DATA, MARK_LOST, MARK_RESTARTED, MARK_FAILED } mark;

/* Each place of a line is the worst mark in its part of the time, as a digit. */
static void set_mark(const report *r, char *places, double at, mark kind)
{
    double part = r->end > r->begin ? (at - r->begin) / (r->end - r->begin) : 0;
    char *place = &places[(unsigned)(CLAMP(part, 0, 1) * (PLACES - 1))];

    *place = MAX(*place, (char)('0' + kind));
}

static bool is_late(const verdict_monitor *monitor, const verdict_call *call)
{
    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        bool is_of_time = f->kind == VERDICT_ANSWERED_LATE || f->kind == VERDICT_ASKED_LATE || f->kind == VERDICT_SLOW;
        if (is_of_time && (verdict_finding_has(f, call->frame) || verdict_finding_has(f, call->asked_frame))) {
            return true;
        }
    }
    return false;
}

static mark mark_of(const verdict_monitor *monitor, const verdict_call *call)
{
    bool is_last = call + 1 == monitor->end;

    if (call->outcome == CALL_FAILED) {
        return MARK_FAILED;
    }
    if (!call->asks || call->outcome == CALL_PROBE) {
        return MARK_NONE;
    }
    if (call->answered <= 0 && !is_last && verdict_has(monitor, VERDICT_LOST) &&
        !verdict_has(monitor, VERDICT_UNANSWERED)) {
        return MARK_LOST; /* the capture lacks the answer; to a request at its end it may have come later */
    }
    return call->outcome != CALL_SAMPLE ? MARK_NO_DATA : is_late(monitor, call) ? MARK_LATE : MARK_SAMPLE;
}

static void put_timeline(json_dumper *json, const report *r, const verdict_monitor *monitor)
{
    char places[PLACES + 1];

    memset(places, '0', PLACES);
    places[PLACES] = '\0';
    for (const verdict_call *call = monitor->calls; call < monitor->end; call++) {
        set_mark(r, places, call->answered > 0 ? call->answered : call->asked, mark_of(monitor, call));
    }
    for (const verdict_finding *f = monitor->findings; f; f = f->next) {
        bool is_lost = f->kind == VERDICT_LOST || f->kind == VERDICT_RESENT;
        if (f->since > 0 && (is_lost || f->kind == VERDICT_RESTARTED)) {
            set_mark(r, places, f->since, is_lost ? MARK_LOST : MARK_RESTARTED);
        }
    }
    json_dumper_begin_array(json);
    json_dumper_value_string(json, verdict_account(monitor));
    json_dumper_value_string(json, places);
    json_dumper_end_array(json);
}

/* What the page is of. The capture's name is without its folder: a window tells it, and tshark does not. */
static void put_capture(json_dumper *json, const report *r)
{
    GDateTime *local = g_date_time_new_from_unix_local((int64_t)r->begin); /* as sentences have the time of day */
    ws_info_t *info = NULL;

    plugin_if_get_ws_info(&info);
    char *file = info && info->cf_filename ? g_path_get_basename(info->cf_filename) : g_strdup("");
    verdict_put_number(json, "first_frame", r->first_frame);
    verdict_put_number(json, "last_frame", r->last_frame);
    json_dumper_set_member_name(json, "file");
    json_dumper_value_string(json, file);
    g_free(file);
    verdict_begin_list(json, "times");
    put_decimal(json, "%.6f", r->begin);
    put_decimal(json, "%.6f", r->end);
    put_decimal(json, "%.0f", local ? (double)(g_date_time_get_utc_offset(local) / G_TIME_SPAN_MINUTE) : 0);
    g_clear_pointer(&local, g_date_time_unref);
    json_dumper_end_array(json);
    verdict_begin_list(json, "versions");
    json_dumper_value_string(json, PCQ_VERSION);
    json_dumper_value_string(json, epan_get_version());
    json_dumper_end_array(json);
}

static char *replaced(const char *text, const char *what, const char *with)
{
    char **pieces = g_strsplit(text, what, -1), *all = g_strjoinv(with, pieces);

    g_strfreev(pieces);
    return all;
}

static char *data_of(report *r)
{
    json_dumper json = {.output_string = g_string_new(NULL)};

    json_dumper_begin_object(&json);
    put_capture(&json, r);
    verdict_put_titles(&json);
    json_dumper_set_member_name(&json, "verdict");
    verdict_put_json(&json, r->verdict);
    verdict_begin_list(&json, "timelines");
    for (unsigned i = 0; r->first_frame > 0 && i < MIN(r->verdict->monitors->len, MOST_TIMELINES); i++) {
        put_timeline(&json, r, g_ptr_array_index(r->verdict->monitors, i));
    }
    json_dumper_end_array(&json);
    put_missing(&json, r);
    series_finish(&r->series);
    verdict_begin_list(&json, "series");
    for (unsigned i = 0; i < r->series.all->len; i++) {
        const series *line = g_ptr_array_index(r->series.all, i);
        if (line->results.count > 0) {
            put_line(&json, line);
        }
    }
    json_dumper_end_array(&json);
    put_left_out(&json, r);
    json_dumper_end_object(&json);
    json_dumper_finish(&json);
    /* no name can end the element that the data stand in */
    char *data = replaced(json.output_string->str, "<", "\\u003c");
    g_string_free(json.output_string, TRUE);
    return data;
}

/* --- The page ---------------------------------------------------------------------------------------------------- */

GString *report_text(report *r)
{
    /* what a browser runs and obeys has this in its tag, and nothing else is run: another one for each page, which no packet can know */
    GRand *random = g_rand_new();
    char *nonce = g_strdup_printf("%08x%08x%08x%08x", g_rand_int(random), g_rand_int(random), g_rand_int(random),
                                  g_rand_int(random));

    verdict_judge_worst_first(r->verdict);
    char *data = data_of(r);
    char *empty = replaced(PAGE, "@NONCE@", nonce), *page = replaced(empty, "@DATA@", data);
    GString *text = g_string_new(page);

    g_free(page);
    g_free(empty);
    g_free(data);
    g_free(nonce);
    g_rand_free(random);
    return text;
}

bool report_is_built(void)
{
    return *PAGE != '\0';
}

/* --- The statistic ----------------------------------------------------------------------------------------------- */

static void draw(void *data)
{
    report *r = data;

    if (report_is_built()) {
        output_whole(&r->task.file, report_text(r));
    }
}

static bool begin(void *data _U_)
{
    if (!report_is_built()) {
        output_failed("pcq: " NO_LIBRARY);
        return false;
    }
    verdict_wire_watch();
    return true;
}

/* --- The window -------------------------------------------------------------------------------------------------- */

/* It has a line that says where the page is. What it was handed is written when statistics are drawn. */
static struct {
    report *report;
    char *path;
    bool is_changed;
} window;

static const table_column window_columns[] = {{TABLE_ITEM_STRING, "Open this file in a browser", NULL, 0}};

static char *path_of_page(const packet_info *pinfo)
{
    const char *folder = g_get_user_special_dir(G_USER_DIRECTORY_DOWNLOAD);
    GDateTime *first = g_date_time_new_from_unix_utc((int64_t)nstime_to_sec(&pinfo->abs_ts));
    char *name = first ? g_date_time_format(first, "counters-%Y-%m-%d-%H%M%S.html") : g_strdup("counters.html");
    char *unnamed = g_build_filename(g_get_home_dir(), "Downloads", NULL); /* where no user-dirs.dirs names it */

    folder = folder ? folder : g_file_test(unnamed, G_FILE_TEST_IS_DIR) ? unnamed : g_get_home_dir();
    char *path = g_build_filename(folder, name, NULL);

    g_clear_pointer(&first, g_date_time_unref);
    g_free(unnamed);
    g_free(name);
    return path;
}

static void count_for_window(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    if (window.path == NULL) {
        window.path = path_of_page(pinfo);
        window.report->task.file.path = window.path;
        table_row(t, "", report_is_built() ? window.path : NO_LIBRARY);
    }
    report_count(window.report, pinfo, tapped);
    window.is_changed = true;
}

static void draw_window(void *data _U_)
{
    if (window.is_changed) {
        window.is_changed = false;
        draw(window.report);
    }
}

static void begin_window(taps_table *t _U_)
{
    if (window.report == NULL) {
        verdict_wire_watch();
        window.report = report_new();
        output_listen(TAPPED_NAME, &window, NULL, NULL, NULL, draw_window);
    }
    g_free(g_steal_pointer(&window.path));
    restart(window.report);
    window.is_changed = false;
}

void report_register(void)
{
    static output_statistic statistic = {.name = "pcq,report",
                                         .task_size = sizeof(report),
                                         .begin = begin,
                                         .reset = restart,
                                         .count = report_count,
                                         .draw = draw};
    static taps_table table = {
        .ui = {.title = "Performance Counter Report", .cli_string = "pcq,page", .nfields = 1},
        .columns = window_columns,
        .begin = begin_window,
        .count = count_for_window,
    };

    output_register(&statistic);
    table_register(&table);
}
