/* transports.c
 * Both ends between which packets go.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/transports.h"

static wmem_map_t *transports; /* state_transport, as its own key; emptied with the file */
static state_transport *last;  /* that was found: mostly the next packet's, too */

static unsigned hash_end(const state_transport *transport, int end)
{
    const address *addr = &transport->ends[end];

    return wmem_strong_hash(addr->data, (size_t)addr->len) ^ transport->ports[end] * 0x9E3779B1U;
}

/* The same from either end. */
static unsigned transport_hash(const void *transport)
{
    return hash_end(transport, 0) + hash_end(transport, 1);
}

static bool is_end(const state_transport *a, int i, const state_transport *b, int j)
{
    return a->ports[i] == b->ports[j] && addresses_equal(&a->ends[i], &b->ends[j]);
}

static gboolean transport_equal(const void *a, const void *b)
{
    return (is_end(a, 0, b, 0) && is_end(a, 1, b, 1)) || (is_end(a, 0, b, 1) && is_end(a, 1, b, 0));
}

state_transport *transport_find(const packet_info *pinfo)
{
    const state_transport key = {.ends = {pinfo->src, pinfo->dst}, .ports = {pinfo->srcport, pinfo->destport}};

    if (last == NULL || !transport_equal(last, &key)) {
        state_transport *found = wmem_map_lookup(transports, &key);
        last = found ? found : last;
        return found;
    }
    return last;
}

state_transport *transport_find_or_create(const packet_info *pinfo)
{
    state_transport *transport = transport_find(pinfo);

    if (transport == NULL) {
        transport = wmem_new0(wmem_file_scope(), state_transport);
        transport->ports[0] = pinfo->srcport;
        transport->ports[1] = pinfo->destport;
        copy_address_wmem(wmem_file_scope(), &transport->ends[0], &pinfo->src);
        copy_address_wmem(wmem_file_scope(), &transport->ends[1], &pinfo->dst);
        wmem_map_insert(transports, transport, transport);
        last = transport;
    }
    return transport;
}

static void forget_last(void)
{
    last = NULL;
}

void transports_register(void)
{
    register_cleanup_routine(forget_last);
    transports = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), transport_hash, transport_equal);
}
