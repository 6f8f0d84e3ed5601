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

/* One -z. */
typedef struct {
    output_task task;
    GString *text;
    GString *head;      /* the cells that all rows of the answer begin with, and all of the instance */
    size_t answer_size; /* of the answer's */
    /* whose they are */
    uint32_t table;
    uint32_t row;
} long_export;

static void reset(void *data)
{
    long_export *export = data;

    export->head = export->head ? export->head : g_string_new(NULL);
    export->text = export->text ? export->text : g_string_new(NULL);
    g_string_assign(export->text, "time,frame,protocol,query,server,counterset,instance,counter,path,raw,"
                                  "result,unit,reason,status,assumed\r\n");
}

/* time, frame, protocol, query, server */
static void begin_answer(long_export *export, const packet_info *pinfo, const readings *r, bool is_hkpd)
{
    const tapped_handle handle = tapped_handle_of(r->answer.handle);
    GString *head = export->head;

    g_string_truncate(head, 0);
    if ((pinfo->presence_flags & PINFO_HAS_TS) == 0) {
        csv_text(head, NULL);
    } else {
        csv_time(head, &pinfo->abs_ts, false);
    }
    csv_integer(head, pinfo->num);
    csv_text(head, is_hkpd ? "hkpd" : "pcq");
    if (r->answer.handle) {
        csv_integer(head, handle.number);
    } else {
        csv_text(head, NULL);
    }
    csv_text(head, handle.place ? wmem_strdup_printf(r->pool, "%s (%s)", r->machine, handle.place) : r->machine);
    export->answer_size = head->len;
    export->table = UINT32_MAX;
}

/* raw */
static void write_raw(GString *text, readings *r)
{
    const reading *at = &r->at;

    if (at->is_number) {
        csv_integer(text, at->raw.value);
    } else if (at->is_text) {
        csv_text(text, readings_text(r, TEXT_WHOLE));
    } else {
        csv_text(text, at->size > 0 ? bytes_to_str_maxlen(r->pool, r->bytes + at->offset, at->size, 0) : NULL);
    }
}

/* result, unit, reason, status, assumed */
static void write_outcome(GString *text, readings *r, const perf_result *result, unsigned marks)
{
    const perf_counter_type *type = r->at.counter->type;
    bool is_calculated = result->none == PERF_NO_RESULT_OK;

    if (!is_calculated) {
        csv_text(text, NULL);
    } else if (type && type->kind == PERF_KIND_NUMBER) { /* a raw count is itself, with all its bits */
        csv_integer(text, r->at.raw.value);
    } else {
        csv_number(text, result->value);
    }
    csv_text(text, type ? type->unit : NULL);
    if (r->at.is_refused) {
        csv_text(text, text_win32_error(r->pool, r->status));
    } else {
        csv_text(text, is_calculated || r->at.is_text ? NULL : try_val_to_str(result->none, text_none_reason_vals));
    }
    csv_integer(text, r->status);
    csv_cells(text, marks & LEFT_OUT_ASSUMED ? "1" : "0", 1);
}

static void write_row(long_export *export, readings *r, const char *path)
{
    bool has_none = r->at.is_text || r->at.is_refused;
    perf_result result = has_none ? (perf_result){0, PERF_NO_RESULT_NO_FORMULA} : readings_result(r);

    if (export->table != r->number || export->row != r->at.row) {
        export->table = r->number;
        export->row = r->at.row;
        g_string_truncate(export->head, export->answer_size);
        csv_text(export->head, readings_set(r));
        csv_text(export->head, readings_instance(r));
    }
    csv_cells(export->text, export->head->str, export->head->len - 1);
    csv_text(export->text, readings_counter(r));
    csv_text(export->text, path);
    write_raw(export->text, r);
    unsigned marks = left_out_marks(r, &result);
    write_outcome(export->text, r, &result, marks);
    csv_end_row(export->text);
    if (r->answer.sample && r->answer.handle) {
        left_out_count_marks(&export->task.left, marks);
    }
}

static void count(void *data, packet_info *pinfo, const tapped_call *tapped)
{
    long_export *export = data;

    if (tapped->answer == NULL || tapped->is_repeated) {
        return;
    }
    readings *r = readings_begin(pinfo->pool, tapped->answer);
    r->with_refusals = true;
    begin_answer(export, pinfo, r, tapped->is_hkpd);
    while (readings_next(r)) {
        const char *path = readings_path(r);
        if (watch_paths_fit(export->task.paths, path)) {
            write_row(export, r, path);
        }
    }
    output_write(&export->task.file, export->text);
}

static void draw(void *data)
{
    long_export *export = data;

    output_write(&export->task.file, export->text);
    output_commit(&export->task.file);
    output_say_left_out(&export->task.left, "rows");
}

void export_long_register(void)
{
    static output_statistic statistic = {.name = "pcq,long",
                                         .task_size = sizeof(long_export),
                                         .takes_paths = true,
                                         .reset = reset,
                                         .count = count,
                                         .draw = draw};

    output_register(&statistic);
}
