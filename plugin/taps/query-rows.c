/* query-rows.c
 * What each query, or handle of HKEY_PERFORMANCE_DATA, was used for; one that a client opens again and again is one.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/query-rows.h"

#include "state/queries.h"
#include "taps/accounts.h"

#include <epan/to_str.h>

#include <math.h>

/* More share one. */
#define MAX_ROWS 100000

/* 1 January 1970 as FILETIME, and its units. */
#define EPOCH_1970 116444736000000000
#define UNITS_A_SECOND 1e7

/* A server's clock is not that far off: then it is none (some count from the start of the machine). */
#define MAX_CLOCK_OFFSET 1e9

static void row_free(void *data)
{
    query_row *of = data;

    pace_free(&of->pace);
    g_free(of->account);
    g_free(of->client);
    g_free(of->server);
    g_free(of);
}

query_rows *query_rows_new(void)
{
    query_rows *rows = g_new0(query_rows, 1);

    rows->all = g_ptr_array_new_with_free_func(row_free);
    rows->whose = g_hash_table_new(NULL, NULL);
    rows->latest = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    return rows;
}

void query_rows_free(query_rows *rows)
{
    g_ptr_array_free(rows->all, TRUE);
    g_hash_table_destroy(rows->whose);
    g_hash_table_destroy(rows->latest);
    g_free(rows);
}

void query_rows_forget(query_rows *rows)
{
    g_hash_table_remove_all(rows->whose);
    g_hash_table_remove_all(rows->latest);
}

/* --- Which of them --------------------------------------------------------------------------------------------- */

/* What tells who goes on with whom: the same client, account and server, and what it asks for; 0 is whatever it is. */
static char *going_on_key(const query_row *of, unsigned asked_for)
{
    return g_strdup_printf("%u %d %d %s %s %s", asked_for, of->is_hkpd, of->is_sealed, of->client, of->server,
                           of->account);
}

char *query_server_name(const tapped_call *tapped)
{
    const state_handle *handle = tapped->handle;
    const char *place = handle && handle->place ? handle->place : host_address(tapped->server);
    const char *machine = handle ? handle->machine : NULL;

    return machine && *machine && strcmp(machine, place) != 0 ? g_strdup_printf("%s (%s)", machine, place)
                                                              : g_strdup(place);
}

static query_row *row_new(query_rows *rows, packet_info *pinfo, const tapped_call *tapped)
{
    bool is_other = rows->all->len >= MAX_ROWS;
    query_row *of = g_new0(query_row, 1);

    of->client = g_strdup(is_other ? "all others"
                                   : address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src));
    of->server = is_other ? g_strdup("their servers") : query_server_name(tapped);
    of->account = g_strdup(is_other ? "" : account_of(pinfo));
    of->is_sealed = tapped->sealed.connection != NULL;
    of->is_hkpd = tapped->is_hkpd;
    of->handles = 1;
    if (tapped->handle) {
        of->opened_frame = tapped->handle->opened_frame;
    }
    char *any = going_on_key(of, 0);
    of->may_go_on = g_hash_table_contains(rows->latest, any);
    g_free(any);
    of->is_other = is_other;
    of->place = rows->all->len;
    g_ptr_array_add(rows->all, of);
    rows->others = is_other ? of : NULL;
    return of;
}

static query_row *row_of(query_rows *rows, packet_info *pinfo, const tapped_call *tapped)
{
    const void *key = tapped->handle ? (const void *)tapped->handle : tapped->sealed.connection;
    query_row *of = g_hash_table_lookup(rows->whose, key);

    of = of ? of : rows->others;
    if (of == NULL) {
        of = row_new(rows, pinfo, tapped);
        of->key = key;
        if (of != rows->others) {
            g_hash_table_insert(rows->whose, (void *)(uintptr_t)key, of);
        }
    }
    return of;
}

unsigned query_counters(const tapped_call *tapped)
{
    const state_query_entry *entry;
    unsigned next = 0, sum = 0;

    while (!tapped->is_hkpd && (entry = query_entries(tapped->handle, tapped->event, &next)) != NULL) {
        sum += query_identifier_hash(&entry->identifier);
    }
    return MAX(sum, 1);
}

/* Goes on as `later`, which has no samples yet. */
static void take_over(query_row *of, const query_row *later)
{
    of->pace.judged.waited += later->pace.judged.waited;
    of->refused += later->refused;
    of->no_data += later->no_data;
    of->probes += later->probes;
    of->newest = later->newest;
    of->unknown = later->unknown;
    of->is_closed = later->is_closed;
    of->closed_frame = later->closed_frame;
    of->handles++;
    sealed_talk_join(&of->talk, &later->talk);
}

static uint32_t sample_size(const tapped_call *tapped)
{
    return tapped->answer && tapped->answer->sample && tapped->handle ? tvb_reported_length(tapped->answer->tvb)
                                                                      : tapped->sealed.sample_size;
}

/* A request that ends it. */
static bool is_end(const query_row *of, const tapped_call *tapped)
{
    return !tapped->is_response && (of->is_sealed ? of->talk.is_closed : tapped->handle->end == tapped->event);
}

static bool has_ended(const query_row *of, const tapped_call *tapped)
{
    return of->is_sealed ? of->talk.is_closed : of->newest && of->newest->end < tapped->event;
}

static void drop(query_rows *rows, query_row *of)
{
    unsigned place = of->place;

    g_ptr_array_remove_index_fast(rows->all, place);
    if (place < rows->all->len) {
        ((query_row *)g_ptr_array_index(rows->all, place))->place = place;
    }
}

/* At its first sample, or its end without any: who closes a query and opens another one for the same counters goes on with the
 * same monitor. */
static query_row *continued(query_rows *rows, query_row *of, const tapped_call *tapped)
{
    if (of->samples > 0 || !(sample_size(tapped) > 0 || is_end(of, tapped))) {
        return of;
    }
    char *key = going_on_key(of, of->is_sealed ? MAX(of->talk.asked_for, 1) : query_counters(tapped));
    query_row *other = g_hash_table_lookup(rows->latest, key);

    if (other == NULL || !of->may_go_on || !has_ended(other, tapped)) {
        of->may_go_on = false;
        g_hash_table_replace(rows->latest, going_on_key(of, 0), of);
        g_hash_table_replace(rows->latest, key, of);
        return of;
    }
    g_free(key);
    take_over(other, of);
    g_hash_table_insert(rows->whose, (void *)(uintptr_t)of->key, other);
    drop(rows, of);
    return other;
}

/* --- Figures --------------------------------------------------------------------------------------------------- */

static void count_sample(query_row *of, packet_info *pinfo, const tapped_call *tapped)
{
    const perf_point *clocks = &readings_begin_for_all(pinfo->pool, tapped->answer)->current->clocks;
    double interval = of->samples > 0 ? perf_interval(clocks, &of->clocks) : 0;
    double seconds = ((double)(int64_t)(clocks->time_100ns - EPOCH_1970)) / UNITS_A_SECOND;
    double offset = seconds - (double)pinfo->abs_ts.secs - pinfo->abs_ts.nsecs / 1e9;

    if ((pinfo->presence_flags & PINFO_HAS_TS) && fabs(offset) < MAX_CLOCK_OFFSET) {
        perf_summary_add(&of->offsets, offset);
    }
    if (interval > 0) {
        pace_add_interval(&of->pace, interval, pinfo->num, tapped->answer->sample);
    }
    of->clocks = *clocks;
    pace_add_response(&of->pace, tapped->seconds, pinfo->num);
    of->failed += tapped->failed;
}

/* Where a ValidateCounters was not captured, the blocks of an answer and QueryCounterInfo say how many it added. */
static void count_counters(query_row *of, const tapped_call *tapped)
{
    unsigned held = 0, refused;

    if (!of->is_hkpd) {
        query_counts(tapped->handle, tapped->event, &held, &refused);
    }
    if (tapped->has_counters) {
        of->unknown = (int64_t)tapped->counters - held;
    }
    of->counters = (uint64_t)MAX(of->unknown + held, 0);
}

/* The server takes its time when it begins an answer, which may take long and many fragments: the request is next to that. */
static void count_sealed_sample(query_row *of, packet_info *pinfo, const tapped_call *tapped)
{
    nstime_t interval;

    nstime_delta(&interval, &tapped->sealed.request_time, &of->request_time);
    if (of->samples > 0 && nstime_to_sec(&interval) > 0) {
        pace_add_interval(&of->pace, nstime_to_sec(&interval), pinfo->num, NULL);
    }
    of->request_time = tapped->sealed.request_time;
    pace_add_response(&of->pace, tapped->seconds, pinfo->num);
}

static query_row *count_read(query_rows *rows, query_row *of, packet_info *pinfo, const tapped_call *tapped)
{
    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        of->refused += tapped_is_refused(tapped, i);
    }
    of = continued(rows, of, tapped);
    of->newest = tapped->handle;
    of->closed_frame = tapped->handle->closed_frame;
    of->is_closed = tapped->handle->end <= tapped->event;
    if (of->number == 0) {
        of->number = tapped->handle->number;
    }
    if (tapped->answer && tapped->answer->sample) {
        count_sample(of, pinfo, tapped);
    } else if (!tapped->answer && tapped->brings_data && tapped->is_response) {
        of->probes += tapped->is_probe;
        of->no_data += !tapped->is_probe;
    }
    if (tapped->is_response) {
        count_counters(of, tapped);
    }
    return of;
}

/* Which handle a call is about is sealed, too: a connection's are one. */
static query_row *count_sealed(query_rows *rows, query_row *of, packet_info *pinfo, const tapped_call *tapped)
{
    sealed_talk_count(&of->talk, pinfo, tapped, &of->pace.judged.intervals);
    of = continued(rows, of, tapped);
    if (tapped->sealed.sample_size > 0) {
        count_sealed_sample(of, pinfo, tapped);
    }
    return of;
}

query_row *query_rows_count(query_rows *rows, packet_info *pinfo, const tapped_call *tapped)
{
    if (tapped->is_repeated || !(tapped->handle || tapped->sealed.uses_query)) {
        return NULL;
    }
    query_row *of = row_of(rows, pinfo, tapped);
    of->pace.judged.waited += MAX(tapped->seconds, 0);
    of->no_data += tapped->is_fault && strcmp(tapped->operation, "QueryCounterData") == 0;
    if (!of->is_other) {
        of = (tapped->handle ? count_read : count_sealed)(rows, of, pinfo, tapped);
    }
    of->samples += sample_size(tapped) > 0;
    of->bytes += sample_size(tapped);
    return of;
}
