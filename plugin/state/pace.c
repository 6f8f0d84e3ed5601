/* pace.c
 * Which samples of a handle are late or came in a slow response, as their packets state it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/pace.h"

const state_late *pace_respond(timing_series *series, double seconds, bool has_data)
{
    timing_fact slow = timing_add_response(series, seconds, has_data), late = series->late;
    state_late *kept = NULL;

    if (has_data && (slow.seconds > 0 || late.seconds > 0)) {
        kept = wmem_new(wmem_file_scope(), state_late);
        *kept = (state_late){late, slow};
    }
    return kept;
}

timing_series *pace_find_or_create(state_handle *handle, const char *question)
{
    if (handle->paces == NULL) {
        handle->paces = wmem_map_new(wmem_file_scope(), wmem_str_hash, g_str_equal);
    }
    timing_series *series = wmem_map_lookup(handle->paces, question);
    if (series == NULL) {
        series = wmem_new0(wmem_file_scope(), timing_series);
        wmem_map_insert(handle->paces, question, series);
    }
    return series;
}
