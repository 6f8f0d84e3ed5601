/* refusals.c
 * What a client asked for and did not get, and `-z pcq,refusals[,FILTER]`, which shows it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/refusals.h"

#include "taps/stat-table.h"
#include "taps/taps.h"
#include "text/text.h"
#include "text/value-strings.h"

#include <epan/to_str.h>

#include <math.h>

/* Rows of the list. More would fit into no head, nor into the report. */
#define MAX_REFUSALS 2000

/* --- One response ------------------------------------------------------------------------------------------------ */

/* Adds a refusal of which kind, path, and error or status are known; without a path nothing. */
static void add_refusal(wmem_array_t *to, wmem_allocator_t *pool, const call_tap_data *tapped, refusal found)
{
    enum { ACCESS_DENIED = 5 };
    bool is_call = found.kind == REFUSED_CALL;

    if (found.error == NULL) {
        found.error = (is_call && tapped->is_fault ? text_fault : text_win32_error)(pool, found.status);
        found.description = is_call && found.status == ACCESS_DENIED && tapped->does_not_seal
                                ? "the calls are signed and not sealed: the client has to seal them "
                                  "(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)"
                                : text_error_meaning(found.status);
    }
    if (found.path) {
        wmem_array_append_one(to, found);
    }
}

/* Adds blocks with an error in place of values, and countersets without an instance if it is known which. Needs: a sample. */
static void add_blocks(wmem_array_t *to, wmem_allocator_t *pool, const call_tap_data *tapped)
{
    value_stream *stream = value_stream_begin(pool, tapped->answer);

    while (value_stream_next_group(stream)) {
        bool lacks_values = stream->at.is_failed || stream->at.is_empty;
        const char *path = lacks_values ? value_stream_path(stream) : NULL;
        path = path ? text_marked(pool, wmem_strdup(pool, path), value_stream_is_assumed(stream)) : NULL;
        if (stream->at.is_failed) {
            path = path ? path : "(not known whose block it is)";
            add_refusal(to, pool, tapped,
                        (refusal){.kind = REFUSED_BLOCK, .path = path, .status = stream->group->status});
        } else if (stream->at.is_empty) {
            add_refusal(to, pool, tapped,
                        (refusal){.kind = REFUSED_INSTANCES,
                                  .path = path,
                                  .error = "no instances",
                                  .description = "its set has no instance now"});
        }
    }
}

const char *refusals_find_path(wmem_allocator_t *pool, const call_tap_data *tapped, uint32_t number, bool *is_assumed)
{
    enum { ALREADY_EXISTS = 183 }; /* the query has it already: that is no refusal */
    const perf_identifier *identifier = &tapped->identifiers[number];
    const char *machine = handle_machine(tapped->handle, tapped->server);

    if (!tapped->adds || identifier->status == 0 || identifier->status == ALREADY_EXISTS) {
        return NULL;
    }
    return value_format_identifier_path(pool, tapped->server, machine, identifier, is_assumed);
}

wmem_array_t *refusals_find(wmem_allocator_t *pool, const call_tap_data *tapped)
{
    wmem_array_t *found = wmem_array_new(pool, sizeof(refusal));

    for (uint32_t i = 0; i < tapped->num_identifiers; i++) {
        bool is_assumed = false;
        const char *path = refusals_find_path(pool, tapped, i, &is_assumed);
        path = path ? text_marked(pool, path, is_assumed) : NULL;
        add_refusal(found, pool, tapped,
                    (refusal){.kind = REFUSED_COUNTER, .path = path, .status = tapped->identifiers[i].status});
    }
    if (tapped->has_failed) {
        add_refusal(found, pool, tapped,
                    (refusal){.kind = REFUSED_CALL,
                              .path = tapped->operation,
                              .status = tapped->status,
                              .is_usual = call_tap_is_usual_failure(tapped)});
    }
    if (call_tap_has_sample(tapped)) {
        add_blocks(found, pool, tapped);
    }
    for (uint32_t i = 0; call_tap_has_sample(tapped) && i < tapped->num_objects; i++) {
        if (!tapped->objects[i].is_there) {
            const char *name = call_tap_object_name(pool, tapped->server, tapped->objects[i].title);
            add_refusal(found, pool, tapped,
                        (refusal){.kind = REFUSED_OBJECT,
                                  .path = name,
                                  .error = "not delivered",
                                  .description = "its provider is disabled or gone, or the account may not read it"});
        }
    }
    return found;
}

/* --- The list ---------------------------------------------------------------------------------------------------- */

/* Counts a refusal in the row of its path, error, server and client. Changes: creates the row, as of this packet. */
static void add_to_list(refusals *list, packet_info *pinfo, const call_tap_data *tapped, const refusal *found)
{
    const state_handle *handle = tapped->handle;
    const char *client = address_to_str(pinfo->pool, &pinfo->dst);
    const char *path = call_tap_placed_path(pinfo->pool, handle, found->path);
    const char *key = wmem_strdup_printf(pinfo->pool, "%s %s %s %s", tapped->server->text, client, found->error, path);
    wmem_allocator_t *pool = list->rows.pool;
    bool has_room = list->rows.entries->len < MAX_REFUSALS;
    refusal *row = has_room ? keyed_list_find_or_add(&list->rows, key, sizeof *row) : keyed_list_find(&list->rows, key);

    if (row == NULL) {
        list->omitted++;
        return;
    }
    if (row->count == 0) {
        *row = (refusal){
            .key = row->key,
            .path = wmem_strdup(pool, path),
            .error = wmem_strdup(pool, found->error),
            .description = wmem_strdup(pool, found->description),
            .is_usual = found->is_usual,
            .client = wmem_strdup(pool, client),
            .first_frame = pinfo->num,
            .query = handle && handle->number > 0
                         ? wmem_strdup_printf(pool, "%s %u", tapped->is_hkpd ? "handle" : "query", handle->number)
                         : NULL};
    }
    row->count++;
}

void refusals_begin(void *list)
{
    keyed_list_begin(&((refusals *)list)->rows, NULL, NULL);
    ((refusals *)list)->omitted = 0;
}

void refusals_count(void *data, packet_info *pinfo, const call_tap_data *tapped)
{
    refusals *list = data;
    wmem_array_t *found = refusals_find(pinfo->pool, tapped);

    for (unsigned i = 0; !tapped->is_repeated && i < wmem_array_get_count(found); i++) {
        add_to_list(list, pinfo, tapped, wmem_array_index(found, i));
    }
}

/* --- The table --------------------------------------------------------------------------------------------------- */

static const table_column refusal_columns[] = {
    {"Path", NULL},  {"Error", NULL},  {"Count", "%.0f"},     {"First frame", "%.0f"},
    {"Query", NULL}, {"Client", NULL}, {"Description", NULL},
};

static void refusals_table_fill(stat_table *t)
{
    const refusals *list = t->data;

    for (unsigned i = 0; i < list->rows.entries->len; i++) {
        const refusal *from = g_ptr_array_index(list->rows.entries, i);
        const table_cell cells[] = {
            {.text = from->path},          {.text = from->error}, {.number = (double)from->count},
            {.number = from->first_frame}, {.text = from->query}, {.text = from->client},
            {.text = from->description},
        };
        stat_table_add_row(t, cells, G_N_ELEMENTS(cells));
    }
    if (list->omitted > 0) {
        const table_cell cells[G_N_ELEMENTS(refusal_columns)] = {{.text = "(all others: there are too many)"},
                                                                 {.text = NULL},
                                                                 {.number = (double)list->omitted},
                                                                 {.number = NAN}};
        stat_table_add_row(t, cells, G_N_ELEMENTS(cells));
    }
}

static refusals listed;

stat_table refusals_table = {
    .ui = {.title = "Performance Counter Refusals",
           .cli_string = "pcq,refusals",
           .nfields = G_N_ELEMENTS(refusal_columns)},
    .columns = refusal_columns,
    .data = &listed,
    .begin = refusals_begin,
    .count = refusals_count,
    .fill = refusals_table_fill,
};
