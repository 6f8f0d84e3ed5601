/* conversation-filters.h
 * Analyze, Conversation Filter, and the right button on a packet: this query, this monitor.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

/* Notes what a packet's filters are made of, as long as it is shown. A call of ours, of whatever handle; and one whose handle has a number,
 * shown as the field `number_field`, which lives as long as the program. */
void conversation_filters_note_call(packet_info *pinfo);
void conversation_filters_note_handle(packet_info *pinfo, const char *number_field, uint32_t number);

void conversation_filters_register(int proto);
