/* hosts.c
 * Whose state it is, and when: machines, the connections to them, and events.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/facts.h"
#include "state/handles.h"

#include <epan/to_str.h>

/* Machines that one place ever had. Which machine a connection beyond these is to stays unknown: it has a host of its own. */
#define MOST_MACHINES 64

#define NETBIOS_NAME 15 /* characters */

typedef struct {
    address addr;
    uint32_t port;
    host_place *place;
} host_port;

/* host_port, as its own key: address and port, and with port UINT32_MAX the first that the address has; emptied with the file */
static wmem_map_t *ports;
static uint32_t last_event;

/* --- Names ----------------------------------------------------------------------------------------------------- */

char *host_plain_name(wmem_allocator_t *pool, const char *name)
{
    GString *plain = g_string_new(NULL);

    for (name += strspn(name, "\\"); *name != '\0' && *name != '\\'; name = g_utf8_next_char(name)) {
        g_string_append_unichar(plain, g_unichar_tolower(g_utf8_get_char(name)));
    }
    if (plain->len > 0 && plain->str[plain->len - 1] == '.') {
        g_string_truncate(plain, plain->len - 1);
    }
    char *kept = wmem_strdup(pool, plain->str);
    g_string_free(plain, TRUE);
    return kept;
}

static bool is_address(const char *name)
{
    return strchr(name, ':') || name[strspn(name, "0123456789.")] == '\0';
}

/* "srv01" and "srv01.example.com" are one name: one of them has a first label alone. What a server calls itself (`is_own`) may be the first 15
 * characters of one. */
static bool is_same_name(const char *a, const char *b, bool is_own)
{
    size_t label = strcspn(a, "."), other = strcspn(b, "."), length = MIN(label, other);
    bool is_label = label == other || (is_own && g_utf8_strlen(a, (gssize)length) == NETBIOS_NAME);
    bool is_alone = (label < other ? a : b)[length] == '\0' || (label == other && a[length] == '\0');

    return strcmp(a, b) == 0 ||
           (is_label && is_alone && !is_address(a) && !is_address(b) && strncmp(a, b, length) == 0);
}

/* How well two of one place fit: -1 if they are called differently, 0 if nothing tells, else how sure it is that they are one. What clients call
 * one may be no name of another kind, but if it is the same, that tells something, too; whom they log on to and what the server says itself
 * are one's names alike. That two are called by the address of their place tells nothing; that one is, and the other by a name, tells them
 * apart only where asked (`by_address`). Neither does where something else tells that they are one. */
static int likeness(const host_place *place, const char *const a[], const char *const b[], bool by_address)
{
    int found = 0;
    bool differs = false;

    for (int i = 0; i < NUM_HOST_NAMES; i++) {
        for (int j = 0; j < NUM_HOST_NAMES; j++) {
            if (a[i] == NULL || b[j] == NULL) {
                continue;
            }
            bool same = is_same_name(a[i], b[j], MAX(i, j) >= HOST_LOGON);
            bool has_no_name = strcmp(a[i], place->address_text) == 0 || strcmp(b[j], place->address_text) == 0;
            if (i == j && !same && !has_no_name) {
                return -1;
            }
            differs |= !same && (has_no_name ? i == j && by_address : i > HOST_CALLED && j > HOST_CALLED);
            if (same && !has_no_name) {
                bool are_own = i >= HOST_LOGON && j >= HOST_LOGON;
                found = MAX(found, are_own ? 3 : i == j && i == HOST_CALLED ? 2 : 1);
            }
        }
    }
    return differs && found == 0 ? -1 : found;
}

static bool is_called_by_address(const state_connection *connection)
{
    const char *called = connection->names[HOST_CALLED], *target = connection->names[HOST_TARGET];
    const char *by = connection->place->address_text;

    return (called && strcmp(called, by) == 0) || (target && strcmp(target, by) == 0);
}

/* Others than its address, or that, too. */
static bool has_names(const state_connection *connection, bool or_address)
{
    bool has = false;

    for (int i = 0; i < NUM_HOST_NAMES; i++) {
        const char *name = connection->names[i];
        has |= name && (or_address || strcmp(name, connection->place->address_text) != 0);
    }
    return has;
}

/* Of two that are one machine's a name says more than an address, and the longer one more. */
static const char *better_name(const char *a, const char *b)
{
    bool says_more = a && b && (is_address(a) != is_address(b) ? is_address(a) : strlen(b) > strlen(a));

    return a == NULL || says_more ? b : a;
}

/* --- Places ---------------------------------------------------------------------------------------------------- */

static unsigned port_hash(const void *key)
{
    const host_port *k = key;

    return wmem_strong_hash(k->addr.data, (size_t)k->addr.len) + (unsigned)k->addr.type + k->port;
}

static gboolean port_equal(const void *a, const void *b)
{
    const host_port *x = a, *y = b;

    return x->port == y->port && addresses_equal(&x->addr, &y->addr);
}

static host_place *create_place(const host_port *port, const host_port *first)
{
    host_place *place = wmem_new0(wmem_file_scope(), host_place);

    place->address_text = address_to_str(wmem_file_scope(), &port->addr);
    place->shares = first != NULL;
    if (first) {
        first->place->shares = true;
    }
    return place;
}

static host_place *place_of(const host_port *wanted, bool is_pipe)
{
    host_port any = {.addr = wanted->addr, .port = UINT32_MAX}, *port = wmem_map_lookup(ports, wanted),
              *first = wmem_map_lookup(ports, &any);

    if (port == NULL) {
        port = wmem_memdup(wmem_file_scope(), wanted, sizeof *port);
        copy_address_wmem(wmem_file_scope(), &port->addr, &wanted->addr);
        port->place = first && !first->place->serves[is_pipe] ? first->place : create_place(port, first);
        port->place->serves[is_pipe] = true;
        wmem_map_insert(ports, port, port);
        if (first == NULL) {
            first = wmem_memdup(wmem_file_scope(), port, sizeof *port);
            first->port = UINT32_MAX;
            wmem_map_insert(ports, first, first);
        }
    }
    return port->place;
}

/* --- Machines -------------------------------------------------------------------------------------------------- */

static state_host *create_host(const state_connection *connection)
{
    host_place *place = connection->place;
    state_host *host = wmem_new0(wmem_file_scope(), state_host);

    host->place = place;
    host->port_text = wmem_strdup_printf(wmem_file_scope(), strchr(place->address_text, ':') ? "[%s]:%u" : "%s:%u",
                                         place->address_text, connection->port);
    bool is_first = ++place->num_hosts == 1;
    host->place_text = is_first ? host->port_text
                                : wmem_strdup_printf(wmem_file_scope(), "%s (%u)", host->port_text, place->num_hosts);
    host->address = is_first && !place->shares ? place->address_text : host->place_text;
    return host;
}

/* One that no name tells apart becomes a machine of its place. */
static void add_machine(state_host *host)
{
    host->is_known = true;
    host->next = host->place->machines;
    host->place->machines = host;
    host->place->num_machines++;
    host->place->num_added++;
}

static void remove_machine(state_host *host)
{
    state_host **at = &host->place->machines;

    while (*at && *at != host) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = host->next;
        host->place->num_machines--;
    }
    host->is_known = false;
}

/* What a connection told and opened goes to its machine, which may be another than it was. */
static void move_told(state_connection *connection)
{
    facts_move(connection);
    handles_move(connection);
}

static void join(state_connection *connection, state_host *host)
{
    state_host *from = connection->host;

    if (from == host) {
        return;
    }
    host->facts_version = MAX(host->facts_version, from->facts_version) + 1;
    host->facts_changed = MAX(host->facts_changed, from->is_known ? from->facts_changed : 0);
    from->facts_version++;
    from->no_windows -= connection->is_no_windows;
    host->no_windows += connection->is_no_windows;
    connection->host = host;
    host->connections++;
    if (--from->connections == 0) {
        remove_machine(from);
    }
}

bool host_join(state_connection *connection, state_host *host)
{
    bool fits = likeness(host->place, connection->names, host->names, false) >= 0;

    if (fits) {
        /* another may have given out the same handle */
        connection->is_in_doubt |= host->place->lacks_calls && host->place->num_machines > 1;
        join(connection, host);
        move_told(connection);
    }
    return fits;
}

/* The only machine that fits best, NULL if there is none or several do. `best`: how well; -1 if all are called differently. Where nothing
 * tells, a connection is to the only one there is, unless what would tell was not read. */
static state_host *best_machine(const state_connection *connection, int *best)
{
    const host_place *place = connection->place;
    state_host *found = NULL;

    *best = -1;
    for (state_host *host = place->machines; host; host = host->next) {
        bool by_address = !host->is_called_by_address || !is_called_by_address(connection);
        int like = likeness(place, connection->names, host->names, by_address);
        if (like >= *best && like >= 0) {
            found = like > *best ? host : NULL;
            *best = like;
        }
    }
    return *best > 0 || (place->num_machines == 1 && !connection->is_unnamed) ? found : NULL;
}

static void take_names(state_host *machine, const state_connection *connection)
{
    for (int i = 0; i < NUM_HOST_NAMES; i++) {
        machine->names[i] = better_name(machine->names[i], connection->names[i]);
    }
    machine->is_called_by_address |= is_called_by_address(connection) && has_names(connection, false);
}

static void settle_host(state_connection *connection);

/* A place that had one machine has another: who was thought to be to the first since there was no other needs a name of its own for
 * that. It keeps those that have its SystemName, or else the first that has a name, and not the other's. */
static void part(state_host *only)
{
    const host_place *place = only->place;
    state_connection *keeps = NULL;
    bool has_system = only->names[HOST_SYSTEM] != NULL;

    memset(only->names, 0, sizeof only->names);
    only->is_called_by_address = false;
    for (state_connection *other = place->connections; other; other = other->next) {
        if (other->host == only &&
            (has_system ? other->names[HOST_SYSTEM] != NULL
                        : has_names(other, true) && likeness(place, other->names, place->machines->names, true) <= 0)) {
            keeps = other;
            if (has_system) {
                take_names(only, other);
            }
        }
    }
    if (keeps) {
        take_names(only, keeps);
    }
    for (state_connection *other = place->connections; other; other = other->next) {
        if (other->host == only && other != keeps) {
            settle_host(other);
        }
        move_told(other);
    }
}

/* Those that could as well be to this machine as to the one that they were thought to be. */
static void settle_others(const state_host *added)
{
    for (state_connection *other = added->place->connections; other; other = other->next) {
        if (other->host != added && other->host->is_known &&
            likeness(added->place, other->names, added->names, false) >=
                likeness(added->place, other->names, other->host->names, false)) {
            settle_host(other);
        }
        move_told(other);
    }
}

static state_host *own_host(state_connection *connection)
{
    state_host *host = connection->host;

    if (host->connections > 1) {
        return create_host(connection);
    }
    remove_machine(host);
    memset(host->names, 0, sizeof host->names);
    host->is_called_by_address = false;
    host->facts_version++;
    return host;
}

/* By its names, to its machine. */
static void settle_host(state_connection *connection)
{
    int best;
    state_host *machine = best_machine(connection, &best);
    bool is_another =
        machine == NULL && (best < 0 || (best == 0 && has_names(connection, false) && !connection->is_unnamed));
    bool is_new = is_another && connection->place->num_added < MOST_MACHINES;

    machine = machine ? machine : own_host(connection);
    join(connection, machine);
    if (is_new) {
        add_machine(machine);
    }
    if (machine->is_known) {
        take_names(machine, connection);
    }
    move_told(connection);
    if (is_new) {
        facts_doubt(machine);
    }
    if (is_new && connection->place->num_machines == 2) {
        part(machine->next);
    } else if (is_new) {
        settle_others(machine);
    }
}

/* --- Connections ----------------------------------------------------------------------------------------------- */

static state_connection *add_connection(host_place *place, uint32_t port)
{
    state_connection *connection = wmem_new0(wmem_file_scope(), state_connection);

    connection->port = port;
    connection->place = place;
    connection->next = place->connections;
    place->connections = connection;
    connection->host = place->num_machines == 1 ? place->machines : create_host(connection);
    connection->host->connections++;
    if (place->num_machines == 0) {
        add_machine(connection->host);
        place->commons =
            place->commons ? place->commons : wmem_memdup(wmem_file_scope(), connection->host, sizeof *place->commons);
    }
    return connection;
}

state_connection *host_connect(const packet_info *pinfo, bool is_request, bool is_pipe)
{
    const host_port port = {.addr = is_request ? pinfo->dst : pinfo->src,
                            .port = is_request ? pinfo->destport : pinfo->srcport};

    return add_connection(place_of(&port, is_pipe), port.port);
}

state_connection *host_name(state_connection *connection, host_name_kind kind, const char *name)
{
    char *plain = host_plain_name(NULL, name);
    const char *known = connection->names[kind];
    bool is_another = *plain != '\0' && known && !is_same_name(known, plain, false);

    if (is_another && kind == HOST_SYSTEM) {
        connection->is_in_doubt = true;
    } else if (*plain != '\0' && (is_another || better_name(known, plain) == plain)) {
        connection = is_another ? add_connection(connection->place, connection->port) : connection;
        connection->names[kind] = wmem_strdup(wmem_file_scope(), plain);
        connection->is_unnamed &= !host_is_settled(connection);
        settle_host(connection);
    }
    wmem_free(NULL, plain);
    return connection;
}

void host_note_no_windows(state_connection *connection)
{
    if (!connection->is_no_windows) {
        connection->is_no_windows = true;
        connection->host->no_windows++;
        connection->host->facts_version++;
    }
}

void host_note_unnamed(state_connection *connection)
{
    connection->place->lacks_calls = true;
    if (!connection->is_unnamed && !host_is_settled(connection)) {
        connection->is_unnamed = true;
        settle_host(connection);
        connection->host->facts_changed = connection->host->is_known ? connection->host->facts_changed : UINT32_MAX;
    }
}

state_host *host_commons(const state_host *host)
{
    return host->is_known && host->place->num_machines == 1 ? host->place->commons : NULL;
}

bool host_may_be_others(const state_host *host)
{
    return !host->is_known && host->place->num_machines > 0;
}

state_host *host_likely(const state_host *host)
{
    return host_may_be_others(host) && host->place->num_machines == 1 ? host->place->machines : NULL;
}

bool host_is_settled(const state_connection *connection)
{
    return connection->names[HOST_CALLED] || connection->names[HOST_SYSTEM];
}

/* --- Events ---------------------------------------------------------------------------------------------------- */

uint32_t state_event_next(void)
{
    return ++last_event;
}

static uint32_t event_at(wmem_array_t *array, unsigned i)
{
    return *(const uint32_t *)wmem_array_index(array, i);
}

unsigned state_event_count_until(wmem_array_t *array, uint32_t event)
{
    unsigned low = 0, high = wmem_array_get_count(array);

    if (high > 0 && event_at(array, high - 1) <= event) {
        return high;
    }
    ws_assert(high < 2 || event_at(array, high - 2) <= event_at(array, high - 1));
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (event_at(array, middle) <= event) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void *state_event_latest(wmem_array_t *array, uint32_t event)
{
    unsigned count = state_event_count_until(array, event);

    return count > 0 ? wmem_array_index(array, count - 1) : NULL;
}

static void reset_events(void)
{
    last_event = 0;
}

void hosts_register(void)
{
    ports = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), port_hash, port_equal);
    register_cleanup_routine(reset_events);
}
