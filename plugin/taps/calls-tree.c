/* calls-tree.c
 * `-z pcq,tree`: the calls of both protocols in a statistics tree.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "tap/tapped.h"
#include "text/value-strings.h"

#include <epan/stats_tree.h>
#include <epan/to_str.h>

#define NODE_REQUESTS "Requests"
#define NODE_STATUSES "Responses by status"
#define NODE_REPEATED "Repeated responses"
#define NODE_UNREAD "Requests and responses not read"
#define NODE_SEALED "Sealed responses (bytes of the stub)"
#define NODE_EMPTY "Sealed responses without data (probes or failures)"
#define NODE_SIZES "Bytes returned"
#define NODE_GUIDS "GUIDs returned"
#define NODE_PROBES "Size probes"
#define NODE_ANSWERED "followed by an answer"
#define NODE_ALONE "not followed by an answer"

/* Probes that wait for their answer; more of them at a time are not paired. */
#define MAX_WAITING 100000

/* Each new node costs Wireshark a step for every other: statuses without a name, which a packet chooses freely, share one. */
#define OTHER_STATUSES "other statuses"

/* stats_tree -> the calls that probes were for, as texts; Wireshark has no place for them in the tree. */
static GHashTable *trees;

static const char *protocol_name(const tapped_call *tapped)
{
    return tapped->is_hkpd ? "HKEY_PERFORMANCE_DATA" : "PerflibV2";
}

static void tree_end(stats_tree *tree)
{
    g_hash_table_remove(trees, tree);
}

static void tree_begin(stats_tree *tree)
{
    static const char *const shown_first[] = {NODE_REQUESTS, NODE_STATUSES, NODE_SIZES, NODE_GUIDS, NODE_PROBES};

    for (unsigned i = 0; i < array_length(shown_first); i++) {
        stats_tree_create_node(tree, shown_first[i], 0, STAT_DT_INT, TRUE);
    }
    g_hash_table_replace(trees, tree, g_hash_table_new_full(wmem_str_hash, g_str_equal, g_free, NULL));
}

/* A response without the data that it could have, or one with them. */
static void count_empty(stats_tree *tree, const packet_info *pinfo, const tapped_call *tapped, const char *node,
                        bool is_empty)
{
    GHashTable *waiting = g_hash_table_lookup(trees, tree);
    const void *bytes = tapped->subject;
    const char *subject = bytes ? bytes_to_str_maxlen(pinfo->pool, bytes, tapped->subject_size, 0) : "";
    /* what makes two calls the same: who asks whom for what */
    char *key = g_strjoin(" ", protocol_name(tapped), tapped->operation, tapped->kind ? tapped->kind : "",
                          address_to_str(pinfo->pool, &pinfo->dst), tapped_server(tapped), subject, NULL);

    if (is_empty) {
        int empty = tick_stat_node(tree, node, 0, TRUE);
        tick_stat_node(tree, NODE_ALONE, empty, FALSE);
        if (g_hash_table_size(waiting) < MAX_WAITING) {
            g_hash_table_add(waiting, g_steal_pointer(&key));
        }
    } else if (g_hash_table_remove(waiting, key)) {
        int empty = increase_stat_node(tree, node, 0, TRUE, 0);
        tick_stat_node(tree, NODE_ANSWERED, empty, FALSE);
        increase_stat_node(tree, NODE_ALONE, empty, FALSE, -1);
    }
    g_free(key);
}

static void count_response(stats_tree *tree, const packet_info *pinfo, const tapped_call *tapped)
{
    if (tapped->is_repeated) {
        tick_stat_node(tree, NODE_REPEATED, 0, TRUE);
        return;
    }
    if (tapped->has_status) {
        const char *name = try_val_to_str_ext(tapped->status, &text_win32_error_ext);
        int statuses = tick_stat_node(tree, NODE_STATUSES, 0, TRUE);
        int status = tick_stat_node(tree, name ? name : OTHER_STATUSES, statuses, TRUE);
        tick_stat_node(tree, tapped->operation, status, FALSE);
    }
    if (tapped->has_sizes && (tapped->is_probe || tapped_succeeded(tapped))) {
        count_empty(tree, pinfo, tapped, NODE_PROBES, tapped->is_probe);
    }
    if (tapped->has_sizes && tapped_succeeded(tapped)) {
        bool guids = !tapped->is_hkpd && strcmp(tapped->operation, "EnumerateCounterSet") == 0;
        int size = (int)MIN(tapped->out_size, (uint32_t)INT_MAX);
        int sizes = avg_stat_node_add_value_int(tree, guids ? NODE_GUIDS : NODE_SIZES, 0, TRUE, size);
        avg_stat_node_add_value_int(tree, tapped->operation, sizes, FALSE, size);
    }
}

static void count_sealed_response(stats_tree *tree, const packet_info *pinfo, const tapped_call *tapped)
{
    int size = (int)MIN(tapped->sealed.size, (uint32_t)INT_MAX);
    int sizes = avg_stat_node_add_value_int(tree, NODE_SEALED, 0, TRUE, size);

    avg_stat_node_add_value_int(tree, tapped->operation, sizes, FALSE, size);
    if (tapped->sealed.returns_data) {
        count_empty(tree, pinfo, tapped, NODE_EMPTY, !tapped->sealed.has_data);
    }
}

static tap_packet_status tree_count(stats_tree *tree, packet_info *pinfo, epan_dissect_t *edt _U_, const void *data,
                                    tap_flags_t flags _U_)
{
    const tapped_call *tapped = data;

    if (tapped->is_repeated && (tapped->unread || !tapped->is_response)) {
        return TAP_PACKET_DONT_REDRAW; /* a copy */
    }
    if (tapped->unread) {
        tick_stat_node(tree, NODE_UNREAD, 0, TRUE);
    }
    if (tapped->unread && !tapped->sealed.connection) {
        return TAP_PACKET_REDRAW;
    }
    if (tapped->is_response) {
        (tapped->unread ? count_sealed_response : count_response)(tree, pinfo, tapped);
        return TAP_PACKET_REDRAW;
    }
    int requests = tick_stat_node(tree, NODE_REQUESTS, 0, TRUE);
    int protocol = tick_stat_node(tree, protocol_name(tapped), requests, TRUE);
    int operation = tick_stat_node(tree, tapped->operation, protocol, TRUE);
    if (tapped->kind) {
        tick_stat_node(tree, tapped->kind, operation, FALSE);
    }
    return TAP_PACKET_REDRAW;
}

void calls_tree_register(void)
{
    trees = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_destroy);
    stats_tree_register_plugin(TAPPED_NAME, TAPPED_NAME, "Performance Counter Calls", 0, tree_count, tree_begin,
                               tree_end);
}
