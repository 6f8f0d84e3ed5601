/* association.h
 * Association groups ([MS-RPCE] 3.3.1.3): the connections of one client to one port of a server that share its context handles. A call
 * that was made on any of them and not seen may have changed each of its queries.
 *
 * Made for the first connection that is of it; its list of queries is kept by queries.c. Ends with the file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

#define ASSOCIATION_UNKNOWN 0 /* the server's answer to the bind was not seen: it may be any */

typedef struct state_association {
    address client;
    address server;
    uint32_t port;
    uint32_t group;
    struct state_association
        *unknown;                  /* of the same client and port: for connections of which the group is not known, */
    struct state_association *all; /* and for whatever is of any of their groups */
    wmem_list_t *handles;          /* state_handle: queries that one call more may bring into doubt */
    uint32_t unseen;               /* event of the latest call that was not seen, or not read, or of its answer */
    uint32_t missed;               /* event at which a call was last known to be missing */
    unsigned open;                 /* calls that were not read and have no answer yet */
    uint32_t list_size;            /* of its latest request for names or types, 0 before the first, */
    uint32_t sample_size;          /* and of that for a sample */
} state_association;

state_association *association_of(const address *client, const address *server, uint32_t port, uint32_t group);

void associations_register(void);
