/* connections.h
 * Connections by their ends, and which of them were captured twice: on both sides of a translation of addresses each packet is there
 * once for each side. The one that is seen second is a copy: it teaches and counts nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/handles.h"

/* Both ends and, of a named pipe, which of their pipes: to find Wireshark's conversation costs more. */
uint64_t connection_ends(packet_info *pinfo);

/* A bind begins another connection between these ends. All that follows is for what is seen for the first time. */
void connection_begins(packet_info *pinfo);

/* The server's answer to a bind, at `offset`: what a logon brings there no server says twice. */
void connection_note_logon(packet_info *pinfo, tvbuff_t *tvb, int offset);

/* The answer to call `call_id` gave out an open handle. False if another connection's gave it out in the same call at the same time. */
bool connection_note_handle(packet_info *pinfo, uint32_t call_id, const state_handle *handle);

/* An answer to call `call_id` was a sample, with the clocks of the handle's newest or not. False if that is the same answer. */
bool connection_note_sample(packet_info *pinfo, uint32_t call_id, const state_handle *handle, bool same_clocks);

/* Of a copy the server that the other connection is to; of any other NULL. */
state_host *connection_copied(packet_info *pinfo);

void connections_register(void);
