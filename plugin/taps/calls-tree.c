/* calls-tree.c
 * `-z pcq,tree[,FILTER]`: requests by operation and responses by status, of both protocols, in a statistics tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "tap/call-tap.h"
#include "text/value-strings.h"

#include <epan/stats_tree.h>

#define NODE_REQUESTS "Requests by operation"
#define NODE_STATUSES "Responses by status"
#define NODE_SEALED "Sealed responses by operation"

static void tree_begin(stats_tree *tree)
{
    stats_tree_create_node(tree, NODE_REQUESTS, 0, STAT_DT_INT, TRUE);
    stats_tree_create_node(tree, NODE_STATUSES, 0, STAT_DT_INT, TRUE);
}

/* Returns the status of a response that was read. Each new node costs Wireshark a step for every other: statuses without a name, which a packet
 * chooses freely, share one. */
static const char *get_status_name(const call_tap_data *tapped)
{
    const char *name = try_val_to_str_ext(tapped->status, &text_win32_error_ext);

    return tapped->is_fault ? "faults" : !tapped->has_status ? "no status" : name ? name : "other statuses";
}

/* Counts a call (`data`: call_tap_data) once. An unread one that is not sealed is left out: its operation may not be known. */
static tap_packet_status tree_count(stats_tree *tree, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                    tap_flags_t flags _U_)
{
    const call_tap_data *tapped = data;
    bool has_status = tapped->is_response && !tapped->unread;
    const char *group = has_status ? NODE_STATUSES : tapped->is_response ? NODE_SEALED : NODE_REQUESTS;

    if (tapped->is_repeated || (tapped->unread && !tapped->sealed.connection)) {
        return TAP_PACKET_DONT_REDRAW;
    }
    const char *name = has_status ? get_status_name(tapped) : tapped->operation;
    tick_stat_node(tree, name, tick_stat_node(tree, group, 0, TRUE), FALSE);
    return TAP_PACKET_REDRAW;
}

void calls_tree_register(void)
{
    stats_tree_register_plugin(CALL_TAP_NAME, CALL_TAP_NAME, "Performance Counter Calls", 0, tree_count, tree_begin,
                               NULL);
}
