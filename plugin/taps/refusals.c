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

/* --- One response ------------------------------------------------------------------------------------------------ */

/* Adds a refusal, unless it has no path. Changes: the path is copied, and marked if it is assumed. */
static void add_refusal(wmem_array_t *to, wmem_allocator_t *pool, refusal_kind kind, const char *path, bool is_assumed,
                        uint32_t status, uint64_t key)
{
    if (path) {
        const refusal found = {kind, wmem_strconcat(pool, path, is_assumed ? " (assumed)" : NULL, NULL), status, key};
        wmem_array_append_one(to, found);
    }
}

/* Adds blocks with an error in place of values, and countersets without an instance if it is known which. Needs: a sample. */
static void add_blocks(wmem_array_t *to, wmem_allocator_t *pool, const call_tap_data *tapped)
{
    value_stream *stream = value_stream_begin(pool, tapped->answer);

    for (perf_group *group = NULL; (group = perf_table_next_group(tapped->answer->table, group));) {
        bool has_failed = group->type == PERF_ERROR_RETURN;
        if (has_failed || (perf_group_is_empty(group) && !tapped->is_hkpd)) {
            value_stream_enter(stream, group);
            const char *path = value_stream_path(stream);
            bool is_assumed = value_stream_assumed(stream);
            path = has_failed && path == NULL ? "(not known whose block it is)" : path;
            add_refusal(to, pool, has_failed ? REFUSED_BLOCK : REFUSED_INSTANCES, path, is_assumed,
                        has_failed ? group->status : 0, 0);
        }
    }
}

wmem_array_t *refusals_find(wmem_allocator_t *pool, const call_tap_data *tapped)
{
    wmem_array_t *found = wmem_array_new(pool, sizeof(refusal));

    for (uint32_t i = 0; tapped->adds && i < tapped->num_identifiers; i++) {
        enum { ALREADY_EXISTS = 183 }; /* the query has it already: that is no refusal */
        const perf_identifier *identifier = &tapped->identifiers[i];
        const char *machine = handle_machine(tapped->handle, tapped->server);
        bool is_assumed = false;
        if (identifier->status != 0 && identifier->status != ALREADY_EXISTS) {
            const char *path = tapped->format_path(pool, tapped->server, machine, identifier, &is_assumed);
            add_refusal(found, pool, REFUSED_COUNTER, path, is_assumed, identifier->status,
                        call_tap_identifier_key(tapped, i));
        }
    }
    if (tapped->has_failed) {
        add_refusal(found, pool, REFUSED_CALL, tapped->operation, false /* is_assumed */, tapped->status, 0);
    }
    if (call_tap_has_sample(tapped)) {
        add_blocks(found, pool, tapped);
    }
    for (uint32_t i = 0; call_tap_has_sample(tapped) && i < tapped->num_missing_objects; i++) {
        add_refusal(found, pool, REFUSED_OBJECT, tapped->missing_objects[i], false /* is_assumed */, 0, 0);
    }
    return found;
}

/* --- The list ---------------------------------------------------------------------------------------------------- */

/* Sets the error of a row and its description. */
static void describe_error(refusal_row *row, wmem_allocator_t *pool, const call_tap_data *tapped, const refusal *found)
{
    enum { ACCESS_DENIED = 5 };

    if (found->kind == REFUSED_INSTANCES) {
        row->error = "no instances";
        row->description = "its set has no instance now";
    } else if (found->kind == REFUSED_OBJECT) {
        row->error = "not delivered";
        row->description = "its provider is disabled or gone, or the account may not read it";
    } else {
        row->error = (tapped->is_fault ? text_fault : text_win32_error)(pool, found->status);
        row->description = found->kind == REFUSED_CALL && found->status == ACCESS_DENIED && tapped->does_not_seal
                               ? "the calls are signed and not sealed: the client has to seal them "
                                 "(RPC_C_AUTHN_LEVEL_PKT_PRIVACY)"
                               : text_error_meaning(found->status);
    }
}

/* Counts a refusal in the row of its path, error, server and client. Changes: creates the row, as of this packet. */
static void add_to_list(keyed_list *list, packet_info *pinfo, const call_tap_data *tapped, const refusal *found)
{
    const state_handle *handle = tapped->handle;
    const char *client = address_to_str(pinfo->pool, &pinfo->dst);
    const char *key = wmem_strdup_printf(pinfo->pool, "%s %s %d %u %s", tapped->server->text, client, tapped->is_fault,
                                         found->status, found->path);
    refusal_row *row = keyed_list_find_or_add(list, key, sizeof *row);

    if (row && row->count++ == 0) {
        row->path = wmem_strdup(list->pool, found->path);
        describe_error(row, list->pool, tapped, found);
        row->client = wmem_strdup(list->pool, client);
        row->first_frame = pinfo->num;
        row->query = handle && handle->number > 0
                         ? wmem_strdup_printf(list->pool, "%s %u", tapped->is_hkpd ? "handle" : "query", handle->number)
                         : NULL;
    }
}

void refusals_count(void *list, packet_info *pinfo, const call_tap_data *tapped)
{
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
    const keyed_list *list = t->data;

    for (wmem_list_frame_t *at = wmem_list_head(list->entries); at; at = wmem_list_frame_next(at)) {
        const refusal_row *from = wmem_list_frame_data(at);
        const table_cell cells[] = {
            {.text = from->path},          {.text = from->error}, {.number = (double)from->count},
            {.number = from->first_frame}, {.text = from->query}, {.text = from->client},
            {.text = from->description},
        };
        stat_table_add_row(t, cells, G_N_ELEMENTS(cells));
    }
}

stat_table refusals_table = {
    .ui = {.title = "Performance Counter Refusals",
           .cli_string = "pcq,refusals",
           .nfields = G_N_ELEMENTS(refusal_columns)},
    .columns = refusal_columns,
    .data = &(keyed_list){.pool = NULL},
    .begin = keyed_list_begin_paths,
    .count = refusals_count,
    .fill = refusals_table_fill,
};
