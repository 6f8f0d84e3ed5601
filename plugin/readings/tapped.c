/* tapped.c
 * What statistics and exports are told of each call.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "readings/tapped.h"

#include <epan/tap.h>

#define MAX_TAPS 4

static int taps[MAX_TAPS];
static unsigned num_taps;

void tapped_add(int tap_id)
{
    if (num_taps < MAX_TAPS) {
        taps[num_taps++] = tap_id;
    }
}

void tapped_register(void)
{
    tapped_add(register_tap(TAPPED_NAME));
}

bool tapped_wanted(void)
{
    for (unsigned i = 0; i < num_taps; i++) {
        if (have_tap_listener(taps[i])) {
            return true;
        }
    }
    return false;
}

void tapped_tell(packet_info *pinfo, const tapped_call *tapped)
{
    tapped_call *copy = wmem_memdup(pinfo->pool, tapped, sizeof *tapped);

    copy->is_first_look = !PINFO_FD_VISITED(pinfo);
    if (tapped->answer) {
        copy->answer = wmem_memdup(pinfo->pool, tapped->answer, sizeof *tapped->answer);
    }
    for (unsigned i = 0; i < num_taps; i++) {
        if (have_tap_listener(taps[i])) {
            tap_queue_packet(taps[i], pinfo, copy);
        }
    }
}

const char *tapped_identifier_path(wmem_allocator_t *pool, const tapped_call *tapped, uint32_t number, uint64_t *left)
{
    const char *machine = handle_machine(tapped->handle, tapped->server);

    return readings_identifier_path(pool, tapped->server, machine, &tapped->identifiers[number], UINT32_MAX, left);
}

void tapped_tell_unread(packet_info *pinfo, const char *why)
{
    tapped_call tapped = {.unread = why};

    if (tapped_wanted()) {
        tapped_tell(pinfo, &tapped);
    }
}

/* --- What a listener could not take ------------------------------------------------------------------------------- */

void tapped_count(tapped_left_out *left, const tapped_call *tapped)
{
    unsigned i = 0;

    if (tapped->unread) { /* there are few reasons; what finds no room is counted with the last */
        const char *why = g_intern_string(tapped->unread);
        while (i + 1 < TAPPED_REASONS && left->unread[i].why && left->unread[i].why != why) {
            i++;
        }
        if (left->unread[i].why == NULL) {
            left->unread[i].why = why;
        }
        left->unread[i].calls++;
        return;
    }
    left->any_read = true;
    if (tapped->answer && !tapped->is_repeated) {
        left->strange += tapped->answer->handle == NULL;
        left->damaged += tapped->answer->handle && tapped->answer->sample == NULL;
    }
}

void tapped_count_assumed(tapped_left_out *left, uint32_t query, uint64_t values)
{
    bool known = false;

    left->assumed += values;
    for (unsigned i = 0; i < left->num_queries; i++) {
        known = known || left->queries[i] == query;
    }
    if (values > 0 && !known && left->num_queries <= TAPPED_QUERIES) {
        left->queries[left->num_queries++] = query;
    }
}

static char *assumed_line(const tapped_left_out *left, const char *what)
{
    GString *queries = g_string_new(left->num_queries == 1 ? "query" : "queries");

    for (unsigned i = 0; i < MIN(left->num_queries, TAPPED_QUERIES); i++) {
        g_string_append_printf(queries, "%s %u", i > 0 ? "," : "", left->queries[i]);
    }
    g_string_append(queries, left->num_queries > TAPPED_QUERIES ? " and others" : "");
    char *line = g_strdup_printf("whose %" PRIu64 " of the %s are is assumed from the order of the counters (%s): "
                                 "QueryCounterInfo, which a client calls when it begins, or calls behind it are not in "
                                 "the capture",
                                 left->assumed, what, queries->str);
    g_string_free(queries, TRUE);
    return line;
}

static char *counted(uint64_t count, const char *one, const char *more, const char *what)
{
    return g_strdup_printf("%" PRIu64 " %s%s", count, count == 1 ? one : more, what);
}

char *tapped_left_out_line(const tapped_left_out *left, const char *what, unsigned number)
{
    for (unsigned i = 0; i < TAPPED_REASONS && left->unread[i].why; i++) {
        if (number-- == 0) {
            return counted(left->unread[i].calls, "request or response was not read: ",
                           "requests and responses were not read: ", left->unread[i].why);
        }
    }
    if (!left->any_read && left->unread[0].why == NULL && number-- == 0) {
        return g_strdup(
            "no call of PerflibV2 or HKEY_PERFORMANCE_DATA was read: none is in this capture or passes the filter; or "
            "SMB3 encrypts them: give the key of whoever logged on (-o ntlmssp.nt_password:PASSWORD, or "
            "-o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB); or the connection's bind is missing: capture "
            "from before the client connects");
    }
    if (left->strange > 0 && number-- == 0) {
        return counted(left->strange, "answer belongs", "answers belong",
                       " to no known query: the requests were not captured, or not opened");
    }
    if (left->damaged > 0 && number-- == 0) {
        return counted(left->damaged, "answer does", "answers do",
                       " not add up: Analyze, Expert Information (-z expert) says where");
    }
    if (left->assumed > 0 && number-- == 0) {
        return assumed_line(left, what);
    }
    return NULL;
}
