/* report.c
 * `-z pcq,report,FILE`: one page for people without Wireshark, in a browser: the verdict, monitors, refusals, each counter as a picture.
 *
 * Here the data are collected and written as JSON; what the page does with them is page.js's. What the packets say goes in as
 * strings of JSON, in which no "<" is left, so that none can be markup.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "report/report-page.h"
#include "report/series.h"
#include "tap/tapped.h"
#include "taps/output.h"
#include "text/value-strings.h"
#include "verdict/summary.h"

#include <epan/epan.h>
#include <epan/stat_tap_ui.h>
#include <wsutil/json_dumper.h>

#include <math.h>

#define STATISTIC "pcq,report"

/* More kinds of refusals are counted as one. */
#define MOST_REFUSALS 2000

/* What was not given: a path and its error. */
typedef struct {
    char *path;
    const char *error;
    const char *meaning;
    uint64_t times;
    uint32_t frame; /* the first */
} refusal;

/* One -z. */
typedef struct {
    output_task task; /* first: output_start() has it */
    verdict *verdict;
    series_set series;
    GHashTable *refused; /* "error path" -> refusal */
    GPtrArray *refusals; /* the same, in the order in which they turned up; owns them */
    uint64_t more_refusals;
    uint64_t answers;
    uint32_t frames;   /* number of the last that was seen */
    double begin, end; /* seconds since 1970 */
} report;

static void refusal_free(void *data)
{
    refusal *of = data;

    g_free(of->path);
    g_free(of);
}

static void begin_anew(report *r)
{
    series_begin(&r->series);
    r->refused = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    r->refusals = g_ptr_array_new_with_free_func(refusal_free);
    r->more_refusals = 0;
    r->answers = 0;
    r->frames = 0;
    r->begin = r->end = 0;
}

static void restart(void *data)
{
    report *r = data;

    output_restart(&r->task);
    verdict_reset(r->verdict);
    if (r->refused) {
        series_end(&r->series);
        g_hash_table_destroy(r->refused);
        g_ptr_array_free(r->refusals, TRUE);
    }
    begin_anew(r);
}

/* --- What calls say ---------------------------------------------------------------------------------------------- */

static void count_refusal(report *r, uint32_t frame, const char *path, uint32_t status, const char *error)
{
    char *key = g_strdup_printf("%s %s", error, path);
    refusal *refused = g_hash_table_lookup(r->refused, key);

    if (refused == NULL && r->refusals->len == MOST_REFUSALS) {
        r->more_refusals++;
        g_free(key);
        return;
    }
    if (refused == NULL) {
        refused = g_new0(refusal, 1);
        refused->path = g_strdup(path);
        refused->error = g_intern_string(error);
        refused->meaning = text_error_meaning(status);
        refused->frame = frame;
        g_hash_table_insert(r->refused, g_steal_pointer(&key), refused);
        g_ptr_array_add(r->refusals, refused);
    }
    refused->times++;
    g_free(key);
}

static void add_refused(report *r, packet_info *pinfo, const tapped_call *tapped)
{
    uint64_t left = tapped_paths_size(tapped);

    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        if (tapped_is_refused(tapped, i)) {
            uint32_t status = tapped->identifiers[i].status;
            count_refusal(r, pinfo->num, tapped_identifier_path(pinfo->pool, tapped, i, &left), status,
                          text_win32_error(pinfo->pool, status));
        }
    }
    if (tapped->has_failed) {
        count_refusal(r, pinfo->num, tapped->operation, tapped->status, tapped_error(pinfo->pool, tapped));
    }
}

static void add_point(report *r, const packet_info *pinfo, readings *values)
{
    const reading *at = &values->at;
    const char *path = readings_path(values);

    if (at->is_refused) {
        count_refusal(r, pinfo->num, path ? path : "(not known whose block it is)", values->status,
                      text_win32_error(values->pool, values->status));
    } else if (path && !at->is_text) {
        perf_result result = readings_result(values);
        left_out_count_marks(&r->task.left, tapped_handle_of(values->answer.handle), left_out_marks(values, &result));
        if (result.none == PERF_NONE_OK && isfinite(result.value)) {
            series_add(&r->series, r->answers, path, at->counter->type ? at->counter->type->unit : NULL,
                       nstime_to_sec(&pinfo->abs_ts), result.value);
        }
    }
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                             tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;
    report *r = data;

    left_out_count(&r->task.left, tapped);
    verdict_count(r->verdict, pinfo, tapped);
    r->end = nstime_to_sec(&pinfo->abs_ts);
    r->begin = r->frames == 0 ? r->end : r->begin;
    r->frames = pinfo->num;
    if (!tapped->is_repeated) {
        add_refused(r, pinfo, tapped);
    }
    if (tapped->answer && tapped->answer->sample && tapped->answer->handle && !tapped->is_repeated) {
        readings *values = readings_begin_for_all(pinfo->pool, tapped->answer);
        values->with_refusals = true;
        r->answers++;
        while (readings_next(values)) {
            add_point(r, pinfo, values);
        }
    }
    return TAP_PACKET_REDRAW;
}

/* --- The data ---------------------------------------------------------------------------------------------------- */

static void put_text(json_dumper *json, const char *name, const char *text)
{
    json_dumper_set_member_name(json, name);
    json_dumper_value_string(json, text);
}

static void put_decimal(json_dumper *json, const char *format, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    json_dumper_value_anyf(json, "%s", g_ascii_formatd(text, sizeof text, format, number));
}

static void put_series(json_dumper *json, const series *s)
{
    const series_point *points = (const series_point *)(const void *)s->points->data;

    json_dumper_begin_array(json);
    json_dumper_value_string(json, s->path);
    json_dumper_value_string(json, s->unit ? s->unit : "");
    json_dumper_value_anyf(json, "%" PRIu64, s->results.count);
    put_decimal(json, "%.6g", s->results.min);
    put_decimal(json, "%.6g", perf_summary_mean(&s->results));
    put_decimal(json, "%.6g", s->results.max);
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < s->points->len; i++) {
        put_decimal(json, "%.3f", points[i].at);
    }
    json_dumper_end_array(json);
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < s->points->len; i++) {
        put_decimal(json, "%.6g", points[i].value);
    }
    json_dumper_end_array(json);
    json_dumper_end_array(json);
}

static void put_all_series(json_dumper *json, report *r)
{
    series_finish(&r->series);
    json_dumper_set_member_name(json, "series");
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < r->series.all->len; i++) {
        put_series(json, g_ptr_array_index(r->series.all, i));
    }
    json_dumper_end_array(json);
}

static void put_refusals(json_dumper *json, const report *r)
{
    json_dumper_set_member_name(json, "refused");
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < r->refusals->len; i++) {
        const refusal *refused = g_ptr_array_index(r->refusals, i);
        json_dumper_begin_array(json);
        json_dumper_value_string(json, refused->path);
        json_dumper_value_string(json, refused->error);
        json_dumper_value_anyf(json, "%" PRIu64, refused->times);
        json_dumper_value_anyf(json, "%u", refused->frame);
        json_dumper_value_string(json, refused->meaning);
        json_dumper_end_array(json);
    }
    json_dumper_end_array(json);
}

static void G_GNUC_PRINTF(2, 3) put_note(json_dumper *json, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *note = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    json_dumper_value_string(json, note);
    g_free(note);
}

static void put_notes(json_dumper *json, const report *r)
{
    char *note;

    json_dumper_set_member_name(json, "notes");
    json_dumper_begin_array(json);
    put_note(json, "%" PRIu64 " values of %u counters; numbers have six digits here.", r->series.values,
             r->series.all->len);
    if (r->series.is_thinned) {
        put_note(json, "Lines are thinned so that the page stays small: of neighbours the smallest and the largest are "
                       "drawn. Smallest, "
                       "largest and mean are of all values.");
    }
    if (r->series.left_out > 0) {
        put_note(json, "%" PRIu64 " values are of counters for which there was no room.", r->series.left_out);
    }
    if (r->more_refusals > 0) {
        put_note(json, "%" PRIu64 " refusals more are not listed.", r->more_refusals);
    }
    for (unsigned i = 0; (note = left_out_note(&r->task.left, "values", i, LEFT_OUT_LONG)) != NULL; i++) {
        json_dumper_value_string(json, note);
        g_free(note);
    }
    json_dumper_end_array(json);
}

/* --- The line of time -------------------------------------------------------------------------------------------- */

/* What the page marks, the worst last: page.js has the same list. */
typedef enum { MARK_SAMPLE, MARK_LATE, MARK_NO_DATA, MARK_LOST, MARK_RESTARTED, MARK_FAILED } mark_kind;

typedef struct {
    double at; /* seconds since 1970 */
    mark_kind kind;
} mark;

/* No screen has more places: of two neighbours the worse one stays then. */
#define MOST_MARKS 4096

static void add_mark(GArray *marks, double at, mark_kind kind)
{
    const mark one = {at, kind};

    if (marks->len == MOST_MARKS) {
        mark *all = (mark *)(void *)marks->data;
        for (unsigned i = 0; i < MOST_MARKS / 2; i++) {
            all[i] = all[2 * i].kind > all[2 * i + 1].kind ? all[2 * i] : all[2 * i + 1];
        }
        g_array_set_size(marks, MOST_MARKS / 2);
    }
    g_array_append_val(marks, one);
}

static int compare_frames(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static bool has_frame(const verdict_monitor *monitor, verdict_kind kind, uint32_t frame)
{
    for (unsigned i = 0; i < monitor->findings->len; i++) {
        const verdict_finding *finding = g_ptr_array_index(monitor->findings, i);
        if (finding->kind == kind && g_array_binary_search(finding->frames, &frame, compare_frames, NULL)) {
            return true;
        }
    }
    return false;
}

static mark_kind kind_of_call(const verdict_monitor *monitor, const verdict_call *call)
{
    if (call->outcome == CALL_FAILED) {
        return MARK_FAILED;
    }
    if (call->outcome != CALL_SAMPLE) {
        return MARK_NO_DATA;
    }
    bool is_late = has_frame(monitor, VERDICT_ANSWERED_LATE, call->frame) ||
                   has_frame(monitor, VERDICT_SLOW, call->frame) ||
                   has_frame(monitor, VERDICT_ASKED_LATE, call->frame) ||
                   has_frame(monitor, VERDICT_ASKED_LATE, call->asked_frame);
    return is_late ? MARK_LATE : MARK_SAMPLE;
}

static void put_marks(json_dumper *json, const verdict_monitor *monitor)
{
    GArray *marks = g_array_new(FALSE, FALSE, sizeof(mark));

    for (unsigned i = 0; i < monitor->calls->len; i++) {
        const verdict_call *call = verdict_call_at(monitor, i);
        if (call->answered > 0 && (call->asks || call->outcome == CALL_FAILED) && call->outcome != CALL_PROBE) {
            add_mark(marks, call->answered, kind_of_call(monitor, call));
        }
    }
    for (unsigned i = 0; i < monitor->findings->len; i++) {
        const verdict_finding *finding = g_ptr_array_index(monitor->findings, i);
        bool is_lost = finding->kind == VERDICT_LOST || finding->kind == VERDICT_RESENT;
        if (finding->since > 0 && (is_lost || finding->kind == VERDICT_RESTARTED)) {
            add_mark(marks, finding->since, is_lost ? MARK_LOST : MARK_RESTARTED);
        }
    }
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < marks->len; i++) {
        json_dumper_begin_array(json);
        put_decimal(json, "%.3f", g_array_index(marks, mark, i).at);
        json_dumper_value_anyf(json, "%d", g_array_index(marks, mark, i).kind);
        json_dumper_end_array(json);
    }
    json_dumper_end_array(json);
    g_array_free(marks, TRUE);
}

/* More monitors have no line. */
#define MOST_TIMELINES 200

static void put_timelines(json_dumper *json, const report *r)
{
    json_dumper_set_member_name(json, "timelines");
    json_dumper_begin_array(json);
    for (unsigned i = 0; i < MIN(r->verdict->monitors->len, MOST_TIMELINES); i++) {
        const verdict_monitor *monitor = g_ptr_array_index(r->verdict->monitors, i);
        char *name =
            g_strdup_printf("%s to %s", monitor->figures.texts[FIGURE_CLIENT], monitor->figures.texts[FIGURE_SERVER]);
        json_dumper_begin_object(json);
        put_text(json, "name", name);
        json_dumper_set_member_name(json, "samples");
        put_marks(json, monitor);
        json_dumper_end_object(json);
        g_free(name);
    }
    json_dumper_end_array(json);
}

static void put_verdict(json_dumper *json, const report *r)
{
    char *headline = verdict_headline(r->verdict);

    put_text(json, "headline", headline);
    json_dumper_set_member_name(json, "figures");
    verdict_put_titles(json);
    json_dumper_set_member_name(json, "verdict");
    verdict_put_json(json, r->verdict);
    put_timelines(json, r);
    g_free(headline);
}

static char *data_of(report *r)
{
    GString *text = g_string_new(NULL);
    json_dumper json = {.output_string = text};

    json_dumper_begin_object(&json);
    put_text(&json, "version", PCQ_VERSION);
    put_text(&json, "wireshark", epan_get_version());
    json_dumper_set_member_name(&json, "frames");
    json_dumper_value_anyf(&json, "%u", r->frames);
    json_dumper_set_member_name(&json, "begin");
    put_decimal(&json, "%.6f", r->begin);
    json_dumper_set_member_name(&json, "end");
    put_decimal(&json, "%.6f", r->end);
    put_verdict(&json, r);
    put_refusals(&json, r);
    put_all_series(&json, r);
    put_notes(&json, r);
    json_dumper_end_object(&json);
    json_dumper_finish(&json);
    /* no name can end the element that the data stand in */
    char **pieces = g_strsplit(text->str, "<", -1), *data = g_strjoinv("\\u003c", pieces);
    g_strfreev(pieces);
    g_string_free(text, TRUE);
    return data;
}

/* --- The page ---------------------------------------------------------------------------------------------------- */

/* What a browser runs and obeys has this in its tag, and nothing else is run: another one for each page, which no packet can know. */
static char *nonce_of_page(void)
{
    GRand *random = g_rand_new();
    char *nonce = g_strdup_printf("%08x%08x%08x%08x", g_rand_int(random), g_rand_int(random), g_rand_int(random),
                                  g_rand_int(random));

    g_rand_free(random);
    return nonce;
}

static void write_page(report *r)
{
    verdict_judge(r->verdict);
    verdict_sort(r->verdict);
    char *nonce = nonce_of_page(), *data = data_of(r);
    char **pieces = g_strsplit(report_page, "@NONCE@", -1), *page = g_strjoinv(nonce, pieces);
    char *place = strstr(page, "@DATA@");

    output_write(&r->task.file, page, (size_t)(place - page));
    output_write(&r->task.file, data, strlen(data));
    output_write(&r->task.file, place + strlen("@DATA@"), strlen(place) - strlen("@DATA@"));
    g_strfreev(pieces);
    g_free(page);
    g_free(data);
    g_free(nonce);
}

static void draw(void *data)
{
    report *r = data;

    if (*report_page) {
        write_page(r);
        output_place(&r->task.file);
    }
}

static ws_stat_started start(const char *argument, void *user _U_)
{
    report *r = g_new0(report, 1);

    if (*report_page == '\0') {
        output_failed("pcq: this build has no report: it was made without the npm package uplot");
        WS_STAT_STARTED(false);
    }
    r->verdict = verdict_new(true);
    verdict_watch();
    WS_STAT_STARTED(output_start(argument, STATISTIC, &r->task, restart, add, draw));
}

void report_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
