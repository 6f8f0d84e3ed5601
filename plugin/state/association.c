/* association.c
 * Association groups: the connections of one client to one port of a server that share its context handles.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "state/association.h"

#define ALL_GROUPS UINT32_MAX

static wmem_map_t *associations; /* state_association, as its own key; emptied with the file */

static unsigned association_hash(const void *key)
{
    const state_association *k = key;
    const uint64_t number = (uint64_t)k->port << 32 | k->group;

    return wmem_strong_hash(k->client.data, (size_t)k->client.len) * 31 +
           wmem_strong_hash(k->server.data, (size_t)k->server.len) + wmem_int64_hash(&number);
}

static gboolean association_equal(const void *a, const void *b)
{
    const state_association *x = a, *y = b;

    return x->port == y->port && x->group == y->group && addresses_equal(&x->client, &y->client) &&
           addresses_equal(&x->server, &y->server);
}

static state_association *find_or_add(const state_association *key)
{
    state_association *found = wmem_map_lookup(associations, key);

    if (found == NULL) {
        found = wmem_memdup(wmem_file_scope(), key, sizeof *key);
        copy_address_wmem(wmem_file_scope(), &found->client, &key->client);
        copy_address_wmem(wmem_file_scope(), &found->server, &key->server);
        found->handles = wmem_list_new(wmem_file_scope());
        wmem_map_insert(associations, found, found);
    }
    return found;
}

state_association *association_of(const address *client, const address *server, uint32_t port, uint32_t group)
{
    state_association key = {.client = *client, .server = *server, .port = port, .group = group};
    state_association *association = find_or_add(&key);

    if (association->all == NULL) {
        key.group = ASSOCIATION_UNKNOWN;
        association->unknown = find_or_add(&key);
        key.group = ALL_GROUPS;
        association->all = find_or_add(&key);
    }
    return association;
}

void associations_register(void)
{
    associations = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), association_hash, association_equal);
}
