/* transports.h
 * Both ends between which packets go, whichever of them is the client: a TCP connection, and whatever follows it on the same ports.
 * One is made for the first packet that somebody asks of and that it is; all of them end with the file.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

typedef struct state_transport {
    address ends[2];
    uint32_t ports[2];
    /* of the capture's frames, as dcerpc/pdus.c looks through them */
    uint32_t looked_until;
    uint32_t lost; /* the latest of those that tells of lost segments, 0: none does */
    uint32_t cut;  /* and that has a message which was cut short when it was captured */
} state_transport;

/* The transport of a packet: one for both directions, however often its ports are used again. */
state_transport *transport_find_or_create(const packet_info *pinfo);

/* The same, NULL where transport_find_or_create() was never called for it. */
state_transport *transport_find(const packet_info *pinfo);

void transports_register(void);
