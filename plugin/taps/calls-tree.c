/* calls-tree.c
 * `-z pcq,tree[,FILTER]`: the calls of both protocols in a statistics tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "tap/tapped.h"
#include "text/value-strings.h"

#include <epan/stats_tree.h>

#define NODE_REQUESTS "Requests"
#define NODE_STATUSES "Responses by status"
#define NODE_PROBES "Size probes"
#define NODE_REPEATED "Repeated responses"
#define NODE_UNDECODED "Requests and responses not decoded"
#define NODE_SEALED "Sealed responses (bytes of the stub)"
#define NODE_EMPTY "Sealed responses without data (probes or failures)"

/* Each new node costs Wireshark a step for every other: statuses without a name, which a packet chooses freely, share one. */
#define OTHER_STATUSES "other statuses"

static void tree_begin(stats_tree *tree)
{
    stats_tree_create_node(tree, NODE_REQUESTS, 0, STAT_DT_INT, TRUE);
    stats_tree_create_node(tree, NODE_STATUSES, 0, STAT_DT_INT, TRUE);
    stats_tree_create_node(tree, NODE_PROBES, 0, STAT_DT_INT, TRUE);
}

static void count_request(stats_tree *tree, const tapped_call *tapped)
{
    int requests = tick_stat_node(tree, NODE_REQUESTS, 0, TRUE);
    int protocol = tick_stat_node(tree, tapped->is_hkpd ? "HKEY_PERFORMANCE_DATA" : "PerflibV2", requests, TRUE);
    int operation = tick_stat_node(tree, tapped->operation, protocol, TRUE);

    if (tapped->kind) {
        tick_stat_node(tree, tapped->kind, operation, FALSE);
    }
}

/* Counts a response that was read below its status and operation. A fault, and a response that ends before its status, have no node. */
static void count_response(stats_tree *tree, const tapped_call *tapped)
{
    if (tapped->is_repeated) {
        tick_stat_node(tree, NODE_REPEATED, 0, TRUE);
    } else if (tapped->has_status) {
        const char *name = try_val_to_str_ext(tapped->status, &text_win32_error_ext);
        int statuses = tick_stat_node(tree, NODE_STATUSES, 0, TRUE);
        int status = tick_stat_node(tree, name ? name : OTHER_STATUSES, statuses, TRUE);
        tick_stat_node(tree, tapped->operation, status, FALSE);
        if (tapped->is_probe) {
            tick_stat_node(tree, NODE_PROBES, 0, TRUE);
        }
    }
}

/* Adds the bytes of a sealed response to the averages of all and of its operation. */
static void count_sealed_response(stats_tree *tree, const tapped_call *tapped)
{
    int size = (int)MIN(tapped->sealed.size, (uint32_t)INT_MAX);
    int sizes = avg_stat_node_add_value_int(tree, NODE_SEALED, 0, TRUE, size);

    avg_stat_node_add_value_int(tree, tapped->operation, sizes, FALSE, size);
    if (tapped->sealed.is_empty) {
        tick_stat_node(tree, NODE_EMPTY, 0, TRUE);
    }
}

/* Counts a call (`data`: tapped_call). An unread one that is not sealed is counted as such alone: its operation may not be known. */
static tap_packet_status tree_count(stats_tree *tree, packet_info *pinfo _U_, epan_dissect_t *edt _U_, const void *data,
                                    tap_flags_t flags _U_)
{
    const tapped_call *tapped = data;

    if (tapped->is_repeated && (tapped->unread || !tapped->is_response)) {
        return TAP_PACKET_DONT_REDRAW; /* a second copy of the PDU */
    }
    if (tapped->unread) {
        tick_stat_node(tree, NODE_UNDECODED, 0, TRUE);
    }
    if (tapped->unread && !tapped->sealed.connection) {
        return TAP_PACKET_REDRAW;
    }
    if (!tapped->is_response) {
        count_request(tree, tapped);
    } else {
        (tapped->unread ? count_sealed_response : count_response)(tree, tapped);
    }
    return TAP_PACKET_REDRAW;
}

void calls_tree_register(void)
{
    stats_tree_register_plugin(TAPPED_NAME, TAPPED_NAME, "Performance Counter Calls", 0, tree_count, tree_begin, NULL);
}
