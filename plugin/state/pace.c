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
