/* export-long.c
 * `-z pcq,long,FILE[,FILTER]`: a row for each value, RFC 4180, for databases.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "out/export.h"

#include "out/file.h"
#include "out/tap.h"
#include "perf/csv.h"
#include "tree/strings.h"

#include <epan/stat_tap_ui.h>
#include <epan/to_str.h>

#define STATISTIC "pcq,long"

static const char *const column_names[] = {"time", "frame", "query",  "server", "counterset", "instance", "counter",
                                           "path", "raw",   "result", "unit",   "reason",     "status"};

/* One -z. */
typedef struct {
    char *path;
    out_file *file;
    perf_csv text;
    /* the cells that all rows of the answer begin with, and all of the instance */
    perf_csv of_answer;
    perf_csv of_instance;
    /* whose they are */
    uint32_t table;
    uint32_t row;
} long_export;

static void write_header(long_export *export)
{
    for (unsigned i = 0; i < array_length(column_names); i++) {
        perf_csv_text(&export->text, column_names[i]);
    }
    perf_csv_end_row(&export->text);
}

static void reset(void *data)
{
    long_export *export = data;

    if (export->file) {
        out_file_close(export->file);
    }
    export->file = out_file_open(export->path);
    perf_csv_clear(&export->text);
    write_header(export);
}

/* --- A row ----------------------------------------------------------------------------------------------------- */

static void write_raw(perf_csv *text, readings *r, const reading *at)
{
    if (at->is_number) {
        perf_csv_whole(text, at->raw.value);
    } else if (at->is_text) {
        perf_csv_text(text, readings_text(r));
    } else {
        perf_csv_text(text, at->size > 0 ? bytes_to_str_maxlen(r->pool, r->bytes + at->offset, at->size, 0) : NULL);
    }
}

/* The result of a raw count is the count itself, with all its bits. */
static void write_result(perf_csv *text, const reading *at, const perf_result *result)
{
    const perf_counter_type *type = at->counter->type;

    if (result->none != PERF_NONE_OK) {
        perf_csv_text(text, NULL);
    } else if (type && type->kind == PERF_KIND_NUMBER) {
        perf_csv_whole(text, at->raw.value);
    } else {
        perf_csv_number(text, result->value);
    }
    perf_csv_text(text, result->none == PERF_NONE_OK && type ? type->unit : NULL);
    perf_csv_text(text,
                  result->none == PERF_NONE_OK || at->is_text ? NULL : try_val_to_str(result->none, none_reason_vals));
}

static void write_refusal(perf_csv *text, readings *r)
{
    perf_csv_text(text, NULL);
    perf_csv_text(text, NULL);
    perf_csv_text(text, NULL);
    perf_csv_text(text, win32_error_name(r->pool, r->status));
}

/* time, frame, query, server */
static void begin_answer(long_export *export, const packet_info *pinfo, const readings *r)
{
    const perf_handle *handle = r->answer.handle;
    perf_csv *head = &export->of_answer;

    perf_csv_clear(head);
    perf_csv_time(head, (int64_t)pinfo->abs_ts.secs, (uint32_t)pinfo->abs_ts.nsecs);
    perf_csv_whole(head, pinfo->num);
    if (handle) {
        perf_csv_whole(head, handle->number);
    } else {
        perf_csv_text(head, NULL);
    }
    perf_csv_text(head, r->machine);
    export->table = UINT32_MAX;
}

/* counterset, instance */
static void begin_instance(long_export *export, readings *r)
{
    perf_csv *head = &export->of_instance;

    export->table = r->number;
    export->row = r->at.row;
    perf_csv_clear(head);
    perf_csv_cells(head, &export->of_answer);
    perf_csv_text(head, readings_set(r));
    perf_csv_text(head, readings_instance(r));
}

static void write_row(long_export *export, readings *r, const reading *at)
{
    perf_csv *text = &export->text;
    perf_result result = {0, PERF_NONE_NO_FORMULA};

    if (!at->is_text && !at->is_refused) {
        result = readings_result(r);
    }
    if (export->table != r->number || export->row != at->row) {
        begin_instance(export, r);
    }
    perf_csv_cells(text, &export->of_instance);
    perf_csv_text(text, readings_counter(r));
    perf_csv_text(text, readings_path(r));
    if (at->is_refused) {
        write_refusal(text, r);
    } else {
        write_raw(text, r, at);
        write_result(text, at, &result);
    }
    perf_csv_whole(text, r->status);
    perf_csv_end_row(text);
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                             tap_flags_t flags _U_)
{
    long_export *export = data;
    const perf_tapped *call = tapped;
    const reading *at;

    if (export->file == NULL) {
        return TAP_PACKET_FAILED;
    }
    if (call->answer == NULL || call->is_repeated) {
        return TAP_PACKET_DONT_REDRAW;
    }
    readings *r = readings_begin_for_all(pinfo->pool, call->answer);
    r->with_refusals = true;
    begin_answer(export, pinfo, r);
    while ((at = readings_next(r)) != NULL) {
        write_row(export, r, at);
        out_file_take(export->file, &export->text, false);
    }
    return TAP_PACKET_REDRAW;
}

static void draw(void *data)
{
    long_export *export = data;

    if (export->file) {
        out_file_take(export->file, &export->text, true);
        out_file_place(export->file);
    }
}

static ws_stat_started start(const char *argument, void *user _U_)
{
    export_argument parsed;

    if (!export_argument_parse(argument, STATISTIC, &parsed)) {
        WS_STAT_FAILED;
    }
    long_export *export = g_new0(long_export, 1);
    export->path = parsed.path;
    reset(export);
    bool listening = export->file && export_listen(export, parsed.filter, reset, add, draw);
    g_free(parsed.filter);
    if (!listening) {
        if (export->file) {
            out_file_close(export->file);
        }
        WS_STAT_FAILED;
    }
    WS_STAT_STARTED;
}

void long_export_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
