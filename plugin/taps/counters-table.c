/* counters-table.c
 * `-z pcq,counters[,FILTER or PATHS]`: what each counter did.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/table.h"
#include "perf/summary.h"

/* One path. */
typedef struct {
    unsigned row;
    const char *unit; /* of its results */
    uint64_t samples, resets, gaps, refusals;
    uint64_t assumed; /* samples and failed blocks of which it is assumed that they are its own */
    perf_summary results;
} counter;

#define COLUMNS(X) \
    X(PATH, TABLE_ITEM_STRING, "Counter", NULL, 0) \
    X(SAMPLES, TABLE_ITEM_UINT, "Samples", "%u", offsetof(counter, samples)) \
    X(MEAN, TABLE_ITEM_FLOAT, "Mean", "%.15g", 0) \
    X(MAXIMUM, TABLE_ITEM_FLOAT, "Maximum", "%.15g", 0) \
    X(UNIT, TABLE_ITEM_STRING, "Unit", NULL, 0) \
    X(MINIMUM, TABLE_ITEM_FLOAT, "Minimum", "%.15g", 0) \
    X(FIRST, TABLE_ITEM_FLOAT, "First", "%.15g", 0) \
    X(LAST, TABLE_ITEM_FLOAT, "Last", "%.15g", 0) \
    X(RESULTS, TABLE_ITEM_UINT, "Results", "%u", offsetof(counter, results.count)) \
    X(RESETS, TABLE_ITEM_UINT, "Resets", "%u", offsetof(counter, resets)) \
    X(GAPS, TABLE_ITEM_UINT, "Gaps", "%u", offsetof(counter, gaps)) \
    X(REFUSALS, TABLE_ITEM_UINT, "Refusals", "%u", offsetof(counter, refusals)) \
    X(ASSUMED, TABLE_ITEM_UINT, "Assumed", "%u", offsetof(counter, assumed))

enum { COLUMNS(TABLE_NUMBER) NUM_COLUMNS };

static const table_column columns_shown[] = {COLUMNS(TABLE_COLUMN)};

/* How often a handle was answered; of HKEY_PERFORMANCE_DATA, whose answers hold now these objects and now those, how often
 * with one object. */
typedef struct {
    uint64_t answers;
    uint64_t last; /* number of the handle's answer that was counted last */
} answer_count;

/* One path of one handle. */
typedef struct {
    counter *counter;
    uint64_t seen; /* which of the answers that could hold it held it last */
} series;

/* One handle. */
typedef struct {
    GHashTable *series; /* path -> series */
    uint64_t answers;
    GHashTable *objects; /* title of an object, "" of all -> answer_count */
} follower;

static GHashTable *followers; /* state_handle -> follower */

/* Bytes of their paths. Who opens ever new handles has the gaps of the others forgotten. */
static size_t kept;
#define MAX_PATH_BYTES (32 << 20)

static void free_follower(void *data)
{
    follower *f = data;

    g_hash_table_destroy(f->series);
    g_hash_table_destroy(f->objects);
    g_free(f);
}

static void forget_handles(taps_table *t _U_)
{
    g_hash_table_remove_all(followers);
    kept = 0;
}

static follower *follower_of(taps_table *t, const state_handle *handle)
{
    if (kept > MAX_PATH_BYTES) {
        forget_handles(t);
    }
    follower *f = g_hash_table_lookup(followers, handle);

    if (f == NULL) {
        f = g_new0(follower, 1);
        f->series = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, g_free);
        f->objects = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, g_free);
        g_hash_table_insert(followers, (void *)handle, f);
    }
    return f;
}

static void show(taps_table *t, unsigned row)
{
    const counter *c = table_data(t, row);
    const perf_summary *results = &c->results;

    if (results->count == 0 || c == t->others) {
        return;
    }
    table_set_text(t, row, UNIT, c->unit ? c->unit : "");
    table_set_number(t, row, FIRST, results->first);
    table_set_number(t, row, LAST, results->last);
    table_set_number(t, row, MINIMUM, results->min);
    table_set_number(t, row, MEAN, perf_summary_mean(results));
    table_set_number(t, row, MAXIMUM, results->max);
}

static answer_count *count_of(follower *f, const char *object)
{
    answer_count *count = g_hash_table_lookup(f->objects, object);

    if (count == NULL) {
        count = g_new0(answer_count, 1);
        g_hash_table_insert(f->objects, g_strdup(object), count);
    }
    if (count->last != f->answers) {
        count->last = f->answers;
        count->answers++;
    }
    return count;
}

static series *series_of(taps_table *t, follower *f, readings *r)
{
    const char *path = readings_path(r), *place = tapped_handle_of(r->answer.handle).place;
    series *s = path ? g_hash_table_lookup(f->series, path) : NULL;

    if (path && s == NULL && watch_paths_fit(t->paths, path)) {
        const char *shown = place ? wmem_strdup_printf(r->pool, "%s (%s)", path, place) : path;
        s = g_new0(series, 1);
        s->counter = table_row(t, shown, shown);
        g_hash_table_insert(f->series, g_strdup(path), s);
        kept += strlen(path);
    }
    return s;
}

static void count_value(taps_table *t, follower *f, readings *r, const answer_count *answered)
{
    series *s = series_of(t, f, r);

    if (s && s->seen == answered->answers) {
        t->left.repeated++;
        return;
    }
    if (s == NULL && t->paths) {
        return;
    }
    perf_result result = readings_result(r);
    left_out_count_marks(&t->left, left_out_marks(r, &result));
    if (s) {
        counter *c = s->counter;
        c->gaps += s->seen > 0 && answered->answers > s->seen ? answered->answers - s->seen - 1 : 0;
        s->seen = answered->answers;
        c->samples++;
        c->assumed += readings_assumed(r);
        c->resets += perf_is_reset(result.none);
        if (result.none == PERF_NONE_OK) {
            perf_summary_add(&c->results, result.value);
        }
        c->unit = r->at.counter->type ? r->at.counter->type->unit : c->unit;
        table_changed(t, c->row);
    }
}

/* Of an identifier, or of the block that `r` is at. */
static void count_refusal(taps_table *t, const char *path, const readings *r)
{
    if (watch_paths_fit(t->paths, path)) {
        counter *c = table_row(t, path, path);
        c->refusals++;
        c->assumed += r && readings_assumed(r);
        left_out_count_marks(&t->left, r ? left_out_marks(r, &(perf_result){0, PERF_NONE_OK}) : 0);
        table_changed(t, c->row);
    }
}

static void count_answer(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    follower *f = follower_of(t, tapped->answer->handle);
    uint32_t number = UINT32_MAX;
    answer_count *answered = NULL;
    const reading *at;

    r->with_refusals = true;
    f->answers++;
    count_of(f, "");
    while ((at = readings_next(r)) != NULL) {
        if (r->number != number) {
            const char *object = tapped->is_hkpd ? readings_set(r) : NULL;
            number = r->number;
            answered = count_of(f, object ? object : "");
        }
        if (at->is_text) {
            t->left.texts += watch_paths_fit(t->paths, readings_path(r));
        } else if (!at->is_refused) {
            count_value(t, f, r, answered);
        } else if (readings_path(r)) {
            count_refusal(t, readings_path(r), r);
        }
    }
}

static void counters_count(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    tapped_refusals at = {0};
    const char *path;

    while ((path = tapped_next_refused(pinfo->pool, tapped, &at)) != NULL) {
        count_refusal(t, path, NULL);
    }
    if (tapped->answer && tapped->answer->sample && tapped->answer->handle) {
        count_answer(t, pinfo, tapped);
    }
}

void counters_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Values", .cli_string = "pcq,counters", .nfields = NUM_COLUMNS},
        .columns = columns_shown,
        .row_size = sizeof(counter),
        .takes_paths = true,
        .begin = forget_handles,
        .count = counters_count,
        .show = show,
        .forget = forget_handles,
    };

    followers = g_hash_table_new_full(NULL, NULL, NULL, free_follower);
    table_register(&table);
}
