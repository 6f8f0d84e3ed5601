/* counters-table.c
 * `-z pcq,counters[,FILTER]`: what each counter did.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "readings/columns.h"
#include "taps/table.h"
#include "readings/tapped.h"
#include "perf/summary.h"

#include <epan/tap.h>

/* Paths with a row of their own, and the bytes of these; the others share one. */
#define MAX_ROWS 100000
#define MAX_ROW_BYTES (32 << 20)

/* Columns. Those from the unit on stay empty as long as there is no result. */
enum { PATH, SAMPLES, RESULTS, RESETS, GAPS, REFUSALS, UNIT, FIRST, LAST, MINIMUM, MEAN, MAXIMUM, NUM_COLUMNS };

static stat_tap_table_item columns_shown[NUM_COLUMNS] = {
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Counter", "%s"}, {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Samples", "%u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Results", "%u"},  {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Resets", "%u"},
    {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Gaps", "%u"},     {TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Refusals", "%u"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Unit", "%s"},    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "First", "%.15g"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Last", "%.15g"}, {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Minimum", "%.15g"},
    {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Mean", "%.15g"}, {TABLE_ITEM_FLOAT, TAP_ALIGN_RIGHT, "Maximum", "%.15g"},
};

/* Beyond what the table shows of a path. */
typedef struct {
    uint32_t row;
    char *text; /* that the row shows */
    uint64_t samples, resets, gaps, refusals;
    perf_summary results;
} counter;

/* How often a handle was answered; of HKEY_PERFORMANCE_DATA, whose answers hold now these objects and now those, how often
 * with one object. */
typedef struct {
    uint64_t answers;
    uint64_t last; /* number of the handle's answer that was counted last */
} answer_count;

/* One path of one handle. */
typedef struct {
    counter *counter;
    answer_count *answered;
    uint64_t seen; /* which of those answers held it last */
} series;

/* One handle. */
typedef struct {
    columns columns;
    GArray *series; /* of each column */
    uint64_t answers;
    answer_count all;
    GHashTable *objects; /* title of an object -> answer_count */
} follower;

/* Of the one table that there is; emptied with it. */
static struct {
    taps_table table;
    GHashTable *counters;  /* path -> counter */
    GHashTable *followers; /* state_handle -> follower */
    counter *others;
    uint32_t row_bytes; /* of the paths that have rows */
    uint32_t kept;      /* of those that columns keep */
} state;

/* --- Life ------------------------------------------------------------------------------------------------------ */

static void free_follower(void *data)
{
    follower *f = data;

    columns_clear(&f->columns);
    g_array_free(f->series, TRUE);
    g_hash_table_destroy(f->objects);
    g_free(f);
}

static void free_counter(void *data)
{
    counter *c = data;

    g_free(c->text);
    g_free(c);
}

static void empty(void)
{
    if (state.counters) {
        g_hash_table_destroy(state.followers);
        g_hash_table_destroy(state.counters);
    }
    state.counters = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, free_counter);
    state.followers = g_hash_table_new_full(NULL, NULL, NULL, free_follower);
    state.others = NULL;
    state.row_bytes = state.kept = 0;
}

static follower *follower_of(const state_handle *handle)
{
    follower *f = g_hash_table_lookup(state.followers, handle);

    if (f == NULL) {
        f = g_new0(follower, 1);
        columns_init(&f->columns, &state.kept);
        f->series = g_array_new(FALSE, TRUE, sizeof(series));
        f->objects = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(state.followers, (void *)handle, f);
    }
    return f;
}

/* Handles go with the capture, perhaps in its middle (tshark -M): what was counted stays. */
static void forget_capture(void)
{
    if (state.followers) {
        g_hash_table_remove_all(state.followers);
        state.kept = 0;
    }
}

/* --- Rows ------------------------------------------------------------------------------------------------------ */

static counter *add_counter(const char *path)
{
    counter *c = g_new0(counter, 1);
    char *key = g_strdup(path);

    g_hash_table_insert(state.counters, key, c);
    c->row = table_rows(&state.table);
    stat_tap_table_item_type *row = table_add(&state.table);
    c->text = table_text(path);
    table_set_text(&row[PATH], c->text);
    return c;
}

static counter *others(void)
{
    if (state.others == NULL) {
        state.others = add_counter(TABLE_OTHERS);
    }
    return state.others;
}

static counter *counter_of(const char *path)
{
    counter *c = g_hash_table_lookup(state.counters, path);

    if (c) {
        return c;
    }
    size_t size = strlen(path) + 1;
    if (g_hash_table_size(state.counters) < MAX_ROWS && size <= MAX_ROW_BYTES - state.row_bytes) {
        state.row_bytes += (uint32_t)size;
        return add_counter(path);
    }
    return others();
}

static void show(const counter *c, const char *unit)
{
    stat_tap_table_item_type *row = table_row(&state.table, c->row);

    table_set_count(&row[SAMPLES], c->samples);
    table_set_count(&row[RESULTS], c->results.count);
    table_set_count(&row[RESETS], c->resets);
    table_set_count(&row[GAPS], c->gaps);
    table_set_count(&row[REFUSALS], c->refusals);
    if (c->results.count == 0 || c == state.others) {
        return;
    }
    if (unit) {
        table_set_text(&row[UNIT], unit);
    }
    table_set_number(&row[FIRST], c->results.first);
    table_set_number(&row[LAST], c->results.last);
    table_set_number(&row[MINIMUM], c->results.min);
    table_set_number(&row[MEAN], perf_summary_mean(&c->results));
    table_set_number(&row[MAXIMUM], c->results.max);
}

/* --- Values ---------------------------------------------------------------------------------------------------- */

static answer_count *count_of(follower *f, readings *r, bool is_hkpd)
{
    const char *set = is_hkpd ? readings_set(r) : NULL;
    answer_count *count = &f->all;

    if (set) {
        count = g_hash_table_lookup(f->objects, set);
        if (count == NULL) {
            count = g_new0(answer_count, 1);
            g_hash_table_insert(f->objects, g_strdup(set), count);
        }
    }
    if (count->last != f->answers) {
        count->last = f->answers;
        count->answers++;
    }
    return count;
}

static series *series_of(follower *f, readings *r)
{
    uint32_t number = columns_number(&f->columns, r);

    if (number == NO_COLUMN) {
        return NULL;
    }
    if (number >= f->series->len) {
        g_array_set_size(f->series, number + 1);
    }
    series *s = &g_array_index(f->series, series, number);
    if (s->counter == NULL) {
        s->counter = counter_of(columns_path(&f->columns, number));
    }
    return s;
}

static void count_result(counter *c, const perf_result *result)
{
    c->samples++;
    if (result->none == PERF_NONE_OK) {
        perf_summary_add(&c->results, result->value);
    } else if (result->none == PERF_NONE_VALUE_BACKWARDS || result->none == PERF_NONE_BASE_BACKWARDS) {
        c->resets++;
    }
}

/* Of a path that found no room. */
static void count_other(readings *r)
{
    perf_result result = readings_result(r);

    count_result(others(), &result);
    show(others(), NULL);
}

static void count_value(follower *f, readings *r, const reading *at, answer_count *answered)
{
    uint64_t left_out = f->columns.left_out;
    series *s = series_of(f, r);

    if (s == NULL && f->columns.left_out > left_out) {
        count_other(r);
    }
    if (s == NULL || s->seen == answered->answers) {
        return; /* no path, or the same path once more */
    }
    if (s->seen > 0 && answered == s->answered) {
        s->counter->gaps += answered->answers - s->seen - 1;
    }
    s->answered = answered;
    s->seen = answered->answers;
    perf_result result = readings_result(r);
    count_result(s->counter, &result);
    show(s->counter, at->counter->type ? at->counter->type->unit : NULL);
}

static void count_block(readings *r)
{
    const char *path = readings_path(r);

    if (path) {
        counter *c = counter_of(path);
        c->refusals++;
        show(c, NULL);
    }
}

static void count_answer(packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    follower *f = follower_of(tapped->answer->handle);
    uint32_t number = UINT32_MAX;
    answer_count *answered = NULL;
    const reading *at;

    r->with_refusals = true;
    r->names_event = UINT32_MAX; /* a counter that changes its name keeps its row, in two passes */
    f->answers++;
    columns_next_answer(&f->columns);
    count_of(f, r, false);
    while ((at = readings_next(r)) != NULL) {
        if (r->number != number) {
            number = r->number;
            answered = count_of(f, r, tapped->is_hkpd);
        }
        if (at->is_refused) {
            count_block(r);
        } else if (!at->is_text) {
            count_value(f, r, at, answered);
        }
    }
}

/* --- Refusals -------------------------------------------------------------------------------------------------- */

static void count_refusal(packet_info *pinfo, const tapped_call *tapped, const state_identifier *identifier)
{
    const char *machine = tapped->handle && tapped->handle->machine && *tapped->handle->machine
                              ? tapped->handle->machine
                              : host_address(tapped->server);
    counter *c = counter_of(query_identifier_path(pinfo->pool, tapped->server, machine, identifier, UINT32_MAX, NULL));

    c->refusals++;
    show(c, NULL);
}

static void count_refusals(packet_info *pinfo, const tapped_call *tapped)
{
    for (uint32_t i = 0; tapped->adds && i < tapped->num_identifiers; i++) {
        if (tapped->identifiers[i].status != 0) {
            count_refusal(pinfo, tapped, &tapped->identifiers[i]);
        }
    }
}

static tap_packet_status count(void *data _U_, packet_info *pinfo, epan_dissect_t *edt _U_, const void *call,
                               tap_flags_t flags _U_)
{
    const tapped_call *tapped = call;

    if (tapped->unread || tapped->is_repeated) {
        return TAP_PACKET_DONT_REDRAW;
    }
    count_refusals(pinfo, tapped);
    if (tapped->answer && tapped->answer->sample && tapped->answer->handle) {
        count_answer(pinfo, tapped);
    }
    return TAP_PACKET_REDRAW;
}

void counters_table_register(void)
{
    static const stat_tap_table_ui ui = {
        .title = "Performance Counter Values",
        .cli_string = "pcq,counters",
        .packet_func = count,
        .nfields = NUM_COLUMNS,
        .fields = columns_shown,
    };

    table_register(&state.table, &ui, empty);
    register_cleanup_routine(forget_capture);
}
