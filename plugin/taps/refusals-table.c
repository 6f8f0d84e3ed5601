/* refusals-table.c
 * `-z pcq,refusals[,FILTER]`: what was asked for and not given, and why.
 *
 * Refused counters and failed blocks, each time that one comes, and calls that failed, which have their operation for a path.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/table.h"
#include "text/text.h"
#include "text/value-strings.h"

#include <epan/to_str.h>

/* One path, error, query and client. */
typedef struct {
    unsigned row;
    uint64_t times;
    uint64_t first_frame;
} refusal;

#define COLUMNS(X) \
    X(PATH, TABLE_ITEM_STRING, "Path", NULL, 0) \
    X(ERROR_NAME, TABLE_ITEM_STRING, "Error", NULL, 0) \
    X(COUNT, TABLE_ITEM_UINT, "Count", "%u", offsetof(refusal, times)) \
    X(FIRST_FRAME, TABLE_ITEM_UINT, "First frame", "%u", offsetof(refusal, first_frame)) \
    X(QUERY, TABLE_ITEM_STRING, "Query", NULL, 0) \
    X(CLIENT, TABLE_ITEM_STRING, "Client", NULL, 0) \
    X(DESCRIPTION, TABLE_ITEM_STRING, "Description", NULL, 0)

enum { COLUMNS(TABLE_NUMBER) NUM_COLUMNS };

static const table_column columns_shown[] = {COLUMNS(TABLE_COLUMN)};

/* Stands for the status of a set that has no instances now. */
#define NO_INSTANCES UINT32_MAX

static void refuse(taps_table *t, packet_info *pinfo, const tapped_call *tapped, const char *path, uint32_t status,
                   const char *error, bool assumed)
{
    const char *client = address_to_str(pinfo->pool, &pinfo->dst);
    path = text_marked(pinfo->pool, path, assumed);
    char *key = g_strdup_printf("%p %p %s %u %s", (const void *)tapped->server, (const void *)tapped->handle, client,
                                status, path);
    refusal *refused = table_row(t, key, tapped_placed(pinfo->pool, tapped->handle, path));

    refused->first_frame = refused->times == 0 ? pinfo->num : refused->first_frame;
    if (refused->times == 0 && refused != t->others) {
        uint32_t number = tapped_handle_of(tapped->handle).number;
        table_set_text(t, refused->row, ERROR_NAME, error);
        table_set_text(
            t, refused->row, QUERY,
            number > 0 ? wmem_strdup_printf(pinfo->pool, "%s %u", tapped->is_hkpd ? "handle" : "query", number) : "");
        table_set_text(t, refused->row, CLIENT, client);
        table_set_text(t, refused->row, DESCRIPTION,
                       status == NO_INSTANCES ? "its set has no instance now"
                                              : tapped_meaning(status, tapped->has_failed && tapped->does_not_seal));
    }
    g_free(key);
    refused->times++;
    table_changed(t, refused->row);
}

static void refusals_count(taps_table *t, packet_info *pinfo, const tapped_call *tapped)
{
    tapped_refusals refused = {0};
    const char *path;

    while ((path = tapped_next_refused(pinfo->pool, tapped, &refused)) != NULL) {
        refuse(t, pinfo, tapped, path, refused.status, text_win32_error(pinfo->pool, refused.status), refused.assumed);
    }
    if (tapped->has_failed) {
        refuse(t, pinfo, tapped, tapped->operation, tapped->status, tapped_error(pinfo->pool, tapped), false);
    }
    if (tapped->answer == NULL || !tapped->answer->sample || !tapped->answer->handle) {
        return;
    }
    value_stream *stream = value_stream_begin(pinfo->pool, tapped->answer);
    stream->with_failed = stream->with_empty = stream->without_values = true;
    while (value_stream_next(stream)) {
        path = value_stream_path(stream);
        if (stream->at.is_empty && path) {
            refuse(t, pinfo, tapped, path, NO_INSTANCES, "no instances", value_stream_is_assumed(stream));
        } else if (stream->at.is_failed) {
            refuse(t, pinfo, tapped, path ? path : "(not known whose block it is)", stream->group->status,
                   text_win32_error(stream->pool, stream->group->status), path && value_stream_is_assumed(stream));
        }
    }
}

void refusals_table_register(void)
{
    static taps_table table = {
        .ui = {.title = "Performance Counter Refusals", .cli_string = "pcq,refusals", .nfields = NUM_COLUMNS},
        .columns = columns_shown,
        .row_size = sizeof(refusal),
        .count = refusals_count,
    };

    table_register(&table);
}
