/* monitors.c
 * What is right and what is wrong with each monitor of a capture.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/monitors.h"

#include "state/queries.h"
#include "taps/accounts.h"
#include "text/value-strings.h"

#include <epan/to_str.h>

/* More have the last one for all. */
#define MAX_MONITORS 10000

static void monitor_free(void *data)
{
    monitor *of = data;

    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        g_free(of->findings[i].what);
    }
    pace_free(&of->pace);
    g_free(of->account);
    g_free(of->client);
    g_free(of->server);
    g_free(of);
}

monitors *monitors_new(void)
{
    monitors *m = g_new0(monitors, 1);

    m->all = g_ptr_array_new_with_free_func(monitor_free);
    m->whose = g_hash_table_new(NULL, NULL);
    m->latest = g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL);
    return m;
}

void monitors_free(monitors *m)
{
    g_ptr_array_free(m->all, TRUE);
    g_hash_table_destroy(m->whose);
    g_hash_table_destroy(m->latest);
    g_free(m);
}

/* --- Which of them --------------------------------------------------------------------------------------------- */

static monitor *monitor_of(monitors *m, packet_info *pinfo, const tapped_call *tapped)
{
    const void *key = tapped->handle              ? (const void *)tapped->handle
                      : tapped->sealed.connection ? tapped->sealed.connection
                                                  : (const void *)tapped->server;
    monitor *of = g_hash_table_lookup(m->whose, key);

    if (of == NULL && m->all->len >= MAX_MONITORS) {
        return g_ptr_array_index(m->all, m->all->len - 1);
    }
    if (of == NULL) {
        const char *address = host_address(tapped->server), *machine = handle_machine(tapped->handle, tapped->server);
        bool has_name = tapped->handle && machine && *machine && strcmp(machine, address) != 0;
        of = g_new0(monitor, 1);
        of->client = g_strdup(address_to_str(pinfo->pool, tapped->is_response ? &pinfo->dst : &pinfo->src));
        of->server = has_name ? g_strdup_printf("%s (%s)", machine, address) : g_strdup(address);
        of->account = g_strdup(account_of(pinfo));
        of->handle = tapped->handle;
        of->handles = 1;
        g_ptr_array_add(m->all, of);
        g_hash_table_insert(m->whose, (void *)(uintptr_t)key, of);
    }
    return of;
}

/* Stands for the counters of a query, in whatever order, or for what the client asks HKEY_PERFORMANCE_DATA for: never 0. */
static unsigned counters_of(const tapped_call *tapped)
{
    const state_query_entry *entry;
    unsigned next = 0, sum = 1;

    while (!tapped->is_hkpd && (entry = query_entries(tapped->handle, tapped->event, &next)) != NULL) {
        sum += query_identifier_hash(&entry->identifier);
    }
    return MAX(sum, 1);
}

static void take_over(monitor *of, monitor *other)
{
    for (unsigned i = 0; i < MONITOR_NUM_FINDINGS; i++) {
        monitor_finding *to = &of->findings[i], *from = &other->findings[i];
        if (to->count == 0) {
            *to = *from;
            from->what = NULL;
        } else {
            to->count += from->count;
        }
    }
    of->pace.judged.waited += other->pace.judged.waited;
    of->handle = other->handle;
    of->handles++;
}

/* Who closes a query and opens another one for the same counters goes on with the same monitor. */
static monitor *continued(monitors *m, monitor *of, const tapped_call *tapped)
{
    of->asked_for = counters_of(tapped);
    char *key = g_strdup_printf("%u %d %s %s", of->asked_for, (int)tapped->handle->kind, of->client, of->server);
    monitor *other = g_hash_table_lookup(m->latest, key);

    if (other == NULL || other == of || other->handle->end >= tapped->event) {
        g_hash_table_insert(m->latest, key, of);
        return of;
    }
    g_free(key);
    take_over(other, of);
    g_hash_table_insert(m->whose, (void *)(uintptr_t)tapped->handle, other);
    g_ptr_array_remove(m->all, of);
    return other;
}

/* --- What is found --------------------------------------------------------------------------------------------- */

/* `what` is put into words for the first alone. */
static void G_GNUC_PRINTF(4, 5) find(monitor *of, unsigned finding, uint32_t frame, const char *what, ...)
{
    monitor_finding *found = &of->findings[finding];

    if (found->count++ == 0) {
        va_list arguments;
        va_start(arguments, what);
        found->what = g_strdup_vprintf(what, arguments);
        va_end(arguments);
        found->frame = frame;
    }
}

static void count_refused(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    uint64_t left = tapped_paths_size(tapped);

    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        uint32_t status = tapped->identifiers[i].status;
        if (tapped_is_refused(tapped, i)) {
            find(of, MONITOR_REFUSED, pinfo->num, "%s: %s (%s)", tapped_identifier_path(pinfo->pool, tapped, i, &left),
                 text_win32_error(pinfo->pool, status), text_error_meaning(status));
        }
    }
}

static void count_values(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    readings *r = readings_begin_for_all(pinfo->pool, tapped->answer);
    const reading *at;

    r->with_refusals = true;
    while ((at = readings_next(r)) != NULL) {
        bool is_reset = at->is_number && readings_result(r).none == PERF_NONE_VALUE_BACKWARDS;
        if (at->is_refused) {
            const char *path = readings_path(r);
            find(of, MONITOR_BLOCK_FAILED, pinfo->num, "%s: %s (%s)", path ? path : "not known which",
                 text_win32_error(pinfo->pool, r->status), text_error_meaning(r->status));
        }
        if (is_reset) {
            const char *path = readings_path(r);
            find(of, MONITOR_RESET, pinfo->num, "%s", path ? path : "not known which");
        }
        if (readings_assumed(r)) {
            find(of, MONITOR_ASSUMED, pinfo->num, "the order tells whose they are");
        }
    }
    of->counters = MAX(of->counters, tapped->counters);
}

static void count_sample(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    const perf_point *clocks = &readings_begin_for_all(pinfo->pool, tapped->answer)->current->clocks;
    double interval = of->samples > 0 ? perf_interval(clocks, &of->clocks) : 0;

    if (interval > 0) {
        pace_add_interval(&of->pace, interval, pinfo->num, tapped->answer->sample);
    } else if (of->samples > 0 && clocks->perf_time < of->clocks.perf_time) {
        find(of, MONITOR_RESTARTED, pinfo->num, "the machine was restarted, or another one answers");
    }
    of->clocks = *clocks;
    pace_add_response(&of->pace, tapped->seconds, pinfo->num);
    count_values(of, pinfo, tapped);
    of->samples++;
}

static void count_sealed(monitor *of, packet_info *pinfo, const tapped_call *tapped)
{
    nstime_t interval;

    of->sealed = tapped->unread ? g_intern_string(tapped->unread) : of->sealed;
    if (tapped->sealed.sample_size == 0) {
        return;
    }
    nstime_delta(&interval, &tapped->sealed.request_time, &of->request_time);
    if (of->samples++ > 0 && nstime_to_sec(&interval) > 0) {
        pace_add_interval(&of->pace, nstime_to_sec(&interval), pinfo->num, NULL);
    }
    of->request_time = tapped->sealed.request_time;
    pace_add_response(&of->pace, tapped->seconds, pinfo->num);
}

/* Who browses finds no text in this language, or no instance now: that is an answer. */
static bool is_usual(const tapped_call *tapped)
{
    enum { NOT_FOUND = 1168, WMI_INSTANCE_NOT_FOUND = 4201 };

    return tapped->handle == NULL && (tapped->status == NOT_FOUND || tapped->status == WMI_INSTANCE_NOT_FOUND);
}

void monitors_count(monitors *m, packet_info *pinfo, const tapped_call *tapped)
{
    bool is_sample = tapped->answer && tapped->answer->sample && tapped->handle;
    bool has_failed = tapped->has_failed && !is_usual(tapped);

    if (tapped->is_repeated || (tapped->unread && !tapped->sealed.uses_query) ||
        (!tapped->handle && !tapped->sealed.uses_query && !has_failed)) {
        return;
    }
    monitor *of = monitor_of(m, pinfo, tapped);
    of->pace.judged.waited += MAX(tapped->seconds, 0);
    if (tapped->sealed.uses_query) {
        count_sealed(of, pinfo, tapped);
    }
    if (has_failed) {
        find(of, MONITOR_CALL_FAILED, pinfo->num, "%s: %s (%s)", tapped->operation, tapped_error(pinfo->pool, tapped),
             text_error_meaning(tapped->status));
    }
    count_refused(of, pinfo, tapped);
    if (is_sample) {
        bool is_own = m->all->len < MAX_MONITORS; /* else it may be others' as well */
        of = is_own && of->samples == 0 && of->asked_for == 0 ? continued(m, of, tapped) : of;
        count_sample(of, pinfo, tapped);
    } else if (tapped->answer && tapped->handle) {
        find(of, MONITOR_DAMAGED, pinfo->num, "the answer in frame %u", pinfo->num);
    }
}

/* --- The verdict ----------------------------------------------------------------------------------------------- */

unsigned monitor_worst(const monitor *of)
{
    unsigned worst = 0;

    while (worst < MONITOR_NUM_FINDINGS && of->findings[worst].count == 0) {
        worst++;
    }
    return worst;
}

static int compare_monitors(const void *a, const void *b)
{
    const monitor *x = *(monitor *const *)a, *y = *(monitor *const *)b;
    unsigned worst_of_x = monitor_worst(x), worst_of_y = monitor_worst(y);

    return worst_of_x < worst_of_y ? -1 : worst_of_x > worst_of_y;
}

void monitors_judge(monitors *m)
{
    for (unsigned i = 0; i < m->all->len; i++) {
        monitor *of = g_ptr_array_index(m->all, i);
        of->findings[MONITOR_ASKED_LATE].count = of->pace.late[PACE_ASKED_LATE];
        of->findings[MONITOR_ASKED_LATE].frame = of->pace.frames[PACE_ASKED_LATE];
        of->findings[MONITOR_ANSWERED_LATE].count = of->pace.late[PACE_ANSWERED_LATE];
        of->findings[MONITOR_ANSWERED_LATE].frame = of->pace.frames[PACE_ANSWERED_LATE];
    }
    g_ptr_array_sort(m->all, compare_monitors);
}
