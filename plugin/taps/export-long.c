/* export-long.c
 * `-z pcq,long,FILE[,FILTER]`: a row for each value, RFC 4180, for databases.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/output.h"
#include "readings/tapped.h"
#include "perf/bytes.h"
#include "perf/csv.h"
#include "perf/decimal.h"
#include "text/value-strings.h"

#include <epan/stat_tap_ui.h>
#include <epan/to_str.h>

#define STATISTIC "pcq,long"

static const char *const column_names[] = {"time",       "frame",    "protocol", "query",  "server",
                                           "counterset", "instance", "counter",  "path",   "raw",
                                           "result",     "unit",     "reason",   "status", "assumed"};

/* Most names are shorter, and most blocks have fewer counters: theirs are quoted for each value. */
#define SHORT_NAME 96
#define KEPT_COUNTERS 256

#define ROOM_FOR_NUMBERS (2 * PERF_DECIMAL_SIZE + 8)

/* What the rows of a counter have in common. */
typedef struct {
    uint64_t answer; /* in which that was worked out, from these two */
    const char *label;
    const perf_counter_type *type;
    size_t name_size;
    perf_csv_part name; /* in the cell */
    bool is_whole;      /* the result is the value itself */
    size_t cell_size;
    size_t behind_size;
    char cell[2 * SHORT_NAME + 3]; /* the name's, with its comma */
    char behind[24]; /* unit ("/sec" is the longest), reason, status and assumed behind a result, and the row's end */
} counter_cells;

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
    /* the part of the instance's paths before the counter, once there was one */
    bool has_prefix;
    perf_csv_part prefix;
    GByteArray *prefix_text;
    uint64_t answers;
    counter_cells counters[KEPT_COUNTERS];
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

    output_restart(&export->task);
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
}

/* unit, reason, status, assumed */
static void write_outcome(perf_csv *text, readings *r, const perf_result *result)
{
    const reading *at = &r->at;
    const perf_counter_type *type = at->counter->type;
    bool is_calculated = result->none == PERF_NONE_OK;

    if (at->is_refused) {
        perf_csv_text(text, NULL);
        perf_csv_text(text, text_win32_error(r->pool, r->status));
    } else {
        perf_csv_text(text, is_calculated && type ? type->unit : NULL);
        perf_csv_text(text, is_calculated || at->is_text ? NULL : try_val_to_str(result->none, none_reason_vals));
    }
    perf_csv_whole(text, r->status);
    perf_csv_whole(text, r->assumed);
}

/* time, frame, protocol, query, server */
static void begin_answer(long_export *export, const packet_info *pinfo, const readings *r, bool is_hkpd)
{
    const state_handle *handle = r->answer.handle;
    perf_csv *head = &export->of_answer;

    export->answers++;
    perf_csv_clear(head);
    perf_csv_time(head, (int64_t)pinfo->abs_ts.secs, (uint32_t)pinfo->abs_ts.nsecs);
    perf_csv_whole(head, pinfo->num);
    perf_csv_text(head, is_hkpd ? "hkpd" : "pcq");
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
    export->has_prefix = false;
    perf_csv_clear(head);
    perf_csv_cells(head, &export->of_answer);
    perf_csv_text(head, readings_set(r));
    perf_csv_text(head, readings_instance(r));
}

static void write_row(long_export *export, readings *r, const perf_result *result)
{
    perf_csv *text = &export->text;

    perf_csv_cells(text, &export->of_instance);
    perf_csv_text(text, readings_counter(r));
    perf_csv_text(text, readings_path(r));
    write_raw(text, r, &r->at);
    write_result(text, &r->at, result);
    write_outcome(text, r, result);
    perf_csv_end_row(text);
}

/* --- A row as nearly all are: a number, from which a result was calculated ---------------------------------------- */

static void keep_counter(counter_cells *cells, const char *name, const perf_counter_type *type)
{
    static const perf_csv_part nothing = {"", 0, false};
    static const char usual_end[] = ",,0,0\r\n";
    char doubled[2 * SHORT_NAME];
    perf_csv_part part = perf_csv_part_of(doubled, name, cells->name_size);
    char *end = perf_csv_put_parts(cells->cell, &part, &nothing);

    *end = ',';
    cells->cell_size = (size_t)(end + 1 - cells->cell);
    cells->name = (perf_csv_part){cells->cell + part.needs_quotes, part.size, part.needs_quotes};
    cells->is_whole = type->kind == PERF_KIND_NUMBER;
    end = perf_put(cells->behind, ",", 1);
    end = perf_put(end, type->unit, strlen(type->unit));
    end = perf_put(end, usual_end, sizeof usual_end - 1);
    cells->behind_size = (size_t)(end - cells->behind);
}

/* What is kept of the counter; NULL where its name is too long for that. */
static const counter_cells *cells_of(long_export *export, const reading_counter *counter, uint32_t column)
{
    counter_cells *cells = &export->counters[column % KEPT_COUNTERS];

    if (cells->answer == export->answers && cells->label == counter->label && cells->type == counter->type) {
        return cells;
    }
    if (counter->label_size > SHORT_NAME) {
        return NULL;
    }
    cells->answer = export->answers;
    cells->label = counter->label;
    cells->type = counter->type;
    cells->name_size = counter->label_size;
    keep_counter(cells, counter->label, counter->type);
    return cells;
}

static void keep_prefix(long_export *export, const readings_path_parts *path)
{
    export->has_prefix = true;
    g_byte_array_set_size(export->prefix_text, 2 * (unsigned)path->prefix_size);
    export->prefix = perf_csv_part_of((char *)export->prefix_text->data, path->prefix, path->prefix_size);
}

/* False, and nothing was written, if the row is not like that. */
static bool write_usual_row(long_export *export, readings *r, const perf_result *result)
{
    const reading *at = &r->at;
    const perf_csv *head = &export->of_instance;
    readings_path_parts path;

    if (result->none != PERF_NONE_OK || !at->is_number || r->status != 0 || r->assumed ||
        !readings_path_in_parts(r, &path)) {
        return false;
    }
    const counter_cells *cells = cells_of(export, at->counter, at->column);
    if (cells == NULL || cells->name_size != path.counter_size) {
        return false; /* too long, or cut */
    }
    if (!export->has_prefix) {
        keep_prefix(export, &path);
    }
    char *to = perf_csv_room(&export->text, head->size + export->prefix.size + sizeof *cells + ROOM_FOR_NUMBERS);
    if (to) {
        to = perf_put(to, head->data, head->size);
        *to++ = ',';
        to = perf_put(to, cells->cell, cells->cell_size);
        to = perf_csv_put_parts(to, &export->prefix, &cells->name);
        *to++ = ',';
        to += perf_decimal_u64(to, at->raw.value);
        *to++ = ',';
        to += cells->is_whole ? perf_decimal_u64(to, at->raw.value) : perf_decimal_exact(to, result->value);
        perf_csv_took_row(&export->text, perf_put(to, cells->behind, cells->behind_size));
    }
    return true;
}

static void write_reading(long_export *export, readings *r)
{
    perf_result result = {0, PERF_NONE_NO_FORMULA};

    if (!r->at.is_text && !r->at.is_refused) {
        result = readings_result(r);
    }
    if (export->table != r->number || export->row != r->at.row) {
        begin_instance(export, r);
    }
    if (!write_usual_row(export, r, &result)) {
        write_row(export, r, &result);
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
    if (!tapped_count(&export->task.left, call) || call->answer == NULL || call->is_repeated) {
        return TAP_PACKET_DONT_REDRAW;
    }
    readings *r = readings_begin_for_all(pinfo->pool, call->answer);
    uint64_t assumed = 0;
    r->with_refusals = true;
    begin_answer(export, pinfo, r, call->is_hkpd);
    while (readings_next(r)) {
        write_reading(export, r);
        assumed += r->assumed;
        output_take_long(export->task.file, &export->text);
    }
    output_take_at_once(export->task.file, &export->text);
    if (assumed > 0) {
        tapped_count_assumed(&export->task.left, call->answer->handle->number, assumed);
    }
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

    export->prefix_text = g_byte_array_new();
    WS_STAT_STARTED(output_start(argument, STATISTIC, &export->task, reset, add, draw));
}

void export_long_register(void)
{
    static stat_tap_ui ui = {REGISTER_STAT_GROUP_GENERIC, NULL, STATISTIC, start, 0, NULL};

    register_stat_tap_ui(&ui, NULL);
}
