/* export-long.c
 * `-z pcq,long,FILE[,FILTER]`: a row for each value, RFC 4180, for databases.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/output.h"
#include "tap/tapped.h"
#include "perf/bytes.h"
#include "text/csv.h"
#include "text/decimal.h"
#include "text/value-strings.h"

#include <epan/stat_tap_ui.h>
#include <epan/to_str.h>

#define STATISTIC "pcq,long"

static const char *const column_names[] = {"time",       "frame",    "protocol", "query",  "server",
                                           "counterset", "instance", "counter",  "path",   "raw",
                                           "result",     "unit",     "reason",   "status", "assumed"};

/* One -z. */
typedef struct {
    output_task task;
    perf_csv text;
    /* the cells that all rows of the answer begin with, and all of the instance */
    perf_csv of_answer;
    perf_csv of_instance;
    /* whose they are */
    uint32_t table;
    uint32_t row;
} long_export;

static void reset(void *data)
{
    long_export *export = data;

    output_restart(&export->task);
    perf_csv_clear(&export->text);
    for (unsigned i = 0; i < array_length(column_names); i++) {
        perf_csv_text(&export->text, column_names[i]);
    }
    perf_csv_end_row(&export->text);
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
static bool is_whole(const reading *at)
{
    const perf_counter_type *type = at->counter->type;

    return type && type->kind == PERF_KIND_NUMBER;
}

/* unit, reason, status, assumed */
static void write_outcome(perf_csv *text, readings *r, const perf_result *result)
{
    const reading *at = &r->at;
    const perf_counter_type *type = at->counter->type;
    bool is_calculated = result->none == PERF_NONE_OK;

    perf_csv_text(text, type ? type->unit : NULL);
    if (at->is_refused) {
        perf_csv_text(text, text_win32_error(r->pool, r->status));
    } else {
        perf_csv_text(text, is_calculated || at->is_text ? NULL : try_val_to_str(result->none, none_reason_vals));
    }
    perf_csv_whole(text, r->status);
    perf_csv_whole(text, readings_assumed(r));
}

/* time, frame, protocol, query, server */
static void begin_answer(long_export *export, const packet_info *pinfo, const readings *r, bool is_hkpd)
{
    const state_handle *handle = r->answer.handle;
    perf_csv *head = &export->of_answer;

    perf_csv_clear(head);
    if ((pinfo->presence_flags & PINFO_HAS_TS) == 0) {
        perf_csv_text(head, "");
    } else {
        perf_csv_time(head, (int64_t)pinfo->abs_ts.secs, (uint32_t)pinfo->abs_ts.nsecs);
    }
    perf_csv_whole(head, pinfo->num);
    perf_csv_text(head, is_hkpd ? "hkpd" : "pcq");
    if (handle) {
        perf_csv_whole(head, handle->number);
    } else {
        perf_csv_text(head, NULL);
    }
    bool is_named_twice = handle && handle->place; /* another server was called so before */
    perf_csv_text(head,
                  is_named_twice ? wmem_strdup_printf(r->pool, "%s (%s)", r->machine, handle->place) : r->machine);
    export->table = UINT32_MAX;
}

static void write_row(long_export *export, readings *r, const perf_result *result)
{
    perf_csv *text = &export->text;

    perf_csv_cells(text, &export->of_instance);
    perf_csv_text(text, readings_counter(r));
    perf_csv_text(text, readings_path(r));
    write_raw(text, r, &r->at);
    if (result->none != PERF_NONE_OK) {
        perf_csv_text(text, NULL);
    } else if (is_whole(&r->at)) {
        perf_csv_whole(text, r->at.raw.value);
    } else {
        perf_csv_number(text, result->value);
    }
    write_outcome(text, r, result);
    perf_csv_end_row(text);
}

static void write_reading(long_export *export, readings *r)
{
    perf_result result = {0, PERF_NONE_NO_FORMULA};

    if (!r->at.is_text && !r->at.is_refused) {
        result = readings_result(r);
    }
    if (export->table != r->number || export->row != r->at.row) {
        perf_csv *head = &export->of_instance;
        export->table = r->number;
        export->row = r->at.row;
        perf_csv_clear(head);
        perf_csv_cells(head, &export->of_answer);
        perf_csv_text(head, readings_set(r));
        perf_csv_text(head, readings_instance(r));
    }
    write_row(export, r, &result);
    unsigned marks = tapped_marks(r, &result);
    if (marks != 0 && r->answer.sample && r->answer.handle) {
        tapped_count_marks(&export->task.left, r->answer.handle->number, r->answer.handle->kind != PERF_HANDLE_QUERY,
                           marks);
    }
}

static tap_packet_status add(void *data, packet_info *pinfo, epan_dissect_t *edt _U_, const void *tapped,
                             tap_flags_t flags _U_)
{
    long_export *export = data;
    const tapped_call *call = tapped;

    if (export->task.file == NULL) {
        return TAP_PACKET_FAILED;
    }
    tapped_count(&export->task.left, call);
    if (call->answer == NULL || call->is_repeated) {
        return TAP_PACKET_DONT_REDRAW;
    }
    readings *r = readings_begin_for_all(pinfo->pool, call->answer);
    r->with_refusals = true;
    begin_answer(export, pinfo, r, call->is_hkpd);
    while (readings_next(r)) {
        write_reading(export, r);
        output_take_long(export->task.file, &export->text);
    }
    output_take_at_once(export->task.file, &export->text);
    return TAP_PACKET_REDRAW;
}

static void draw(void *data)
{
    long_export *export = data;

    if (export->task.file) {
        output_take_all(export->task.file, &export->text);
        output_place(export->task.file);
    }
    output_say_left_out(&export->task.left, "rows");
}

static ws_stat_started start(const char *argument, void *user _U_)
{
    long_export *export = g_new0(long_export, 1);

    WS_STAT_STARTED(output_start(argument, STATISTIC, &export->task, reset, add, draw));
}

void export_long_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
