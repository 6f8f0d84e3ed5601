/* export-long.c
 * `-z pcq,long,FILE[,FILTER or PATHS]`: a row for each value, RFC 4180, for databases.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/csv.h"
#include "taps/output.h"
#include "text/text.h"
#include "text/value-strings.h"

#include <epan/to_str.h>

/* The task of one -z. */
typedef struct {
    output_task task;
    output_stream stream;
    GString *text; /* rows that are not written yet */
    GString *head; /* cells that all rows of a response begin with, made once */
} long_export;

static void long_reset(void *data)
{
    long_export *export = data;

    if (export->stream.stream && export->stream.stream != stdout) {
        fclose(export->stream.stream);
    }
    export->stream = (output_stream){.path = export->task.path};
    export->head = export->head ? export->head : g_string_new(NULL);
    export->text = export->text ? export->text : g_string_new(NULL);
    g_string_assign(export->text, "time,frame,protocol,query,server,counterset,instance,counter,path,raw,"
                                  "result,unit,reason,status,assumed\r\n");
}

/* Makes `head`: time, frame, protocol, query, server. */
static void begin_answer(long_export *export, const packet_info *pinfo, const value_stream *stream, bool is_hkpd)
{
    const state_handle *handle = stream->response.handle;
    GString *head = export->head;

    g_string_truncate(head, 0);
    csv_time(head, &pinfo->abs_ts, false /* is_pdh */);
    csv_integer(head, pinfo->num);
    csv_text(head, is_hkpd ? "hkpd" : "pcq");
    if (handle) {
        csv_integer(head, handle->number);
    } else {
        csv_text(head, NULL);
    }
    csv_text(head, stream->computer);
}

/* Writes the cell "raw" of the value that was read last: its number, its text, or the bytes of any other in hex. */
static void write_raw(GString *text, value_stream *stream)
{
    const perf_cell *at = &stream->now.at;

    if (at->raw.size > 0) {
        csv_integer(text, at->raw.value);
    } else if (stream->counter->is_text) {
        csv_text(text, value_stream_text(stream, TEXT_WHOLE));
    } else {
        csv_text(text, at->size > 0
                           ? bytes_to_str_maxlen(stream->pool, stream->now.table->data + at->offset, at->size, 0)
                           : NULL);
    }
}

/* Writes the last cells of the value that was read last: result, unit, reason, status, assumed. `result`: of a text or failed group one with a reason. */
static void write_outcome(GString *text, value_stream *stream, const perf_result *result)
{
    const perf_counter_type *type = stream->counter->type;
    bool is_calculated = result->none == PERF_NO_RESULT_OK;
    char number[TEXT_NUMBER_SIZE] = "";

    if (!is_calculated) {
        csv_text(text, NULL);
    } else if (type->formula == PERF_FORMULA_RAW) { /* a raw count is itself, with all its bits */
        csv_integer(text, stream->now.at.raw.value);
    } else {
        csv_plain(text, number, strlen(text_exact_number(number, result->value)));
    }
    csv_text(text, type ? type->unit : NULL);
    if (stream->now.at.group->type == PERF_ERROR_RETURN) {
        csv_text(text, text_win32_error(stream->pool, stream->now.at.group->status));
    } else {
        csv_text(text, is_calculated || stream->counter->is_text ? NULL
                                                                 : try_val_to_str(result->none, text_none_reason_vals));
    }
    csv_integer(text, stream->now.at.group->status);
    csv_integer(text, value_stream_assumed(stream) != ASSUMED_NONE);
}

/* Writes the row of the value that was read last, if the user asked for its path. Changes: counts omissions of a sample. */
static void write_long_row(long_export *export, value_stream *stream)
{
    const char *path = value_stream_path(stream);

    if (!omissions_ask(&export->task.omitted, path)) {
        return;
    }
    perf_result result = stream->now.at.group->type == PERF_ERROR_RETURN ? (perf_result){0, PERF_NO_RESULT_NO_FORMULA}
                                                                         : value_stream_result(stream);

    csv_plain(export->text, export->head->str, export->head->len - 1);
    csv_text(export->text, value_stream_set(stream));
    csv_text(export->text, value_stream_instance(stream));
    csv_text(export->text, stream->counter->label);
    csv_text(export->text, path);
    write_raw(export->text, stream);
    write_outcome(export->text, stream, &result);
    csv_end_row(export->text);
    if (stream->response.sample) {
        omissions_count_value(&export->task.omitted, stream, &result);
    }
}

/* Adds a response to the file: a row for each value, and for each block that failed, whose path the user asked for; also if it is no sample. Calls
 * without values and second responses add none. `data`: long_export. Changes: counts omissions. */
static void long_count(void *data, packet_info *pinfo, const call_tap_data *tapped)
{
    long_export *export = data;

    if (tapped->answer == NULL || tapped->is_repeated) {
        return;
    }
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    begin_answer(export, pinfo, stream, tapped->is_hkpd);
    while (value_stream_next_group(stream)) {
        if (stream->now.at.group->type == PERF_ERROR_RETURN) {
            write_long_row(export, stream);
        }
        while (value_stream_next_in_group(stream)) {
            write_long_row(export, stream);
        }
    }
    output_write(&export->stream, export->text);
}

static void long_draw(void *data)
{
    long_export *export = data;

    output_write(&export->stream, export->text);
    output_print_omissions(&export->task.omitted);
}

output_statistic long_statistic = {.name = "pcq,long",
                                   .task_size = sizeof(long_export),
                                   .takes_paths = true,
                                   .reset = long_reset,
                                   .count = long_count,
                                   .draw = long_draw};
