/* state.h
 * What the packets of a capture taught: names and types, handles, samples. Knows no tree and no layout. Each has a room
 * of its own; this is the table of who owns what.
 *
 * Everything here belongs to one capture file. It is written on the first pass only, in the order of events, and is
 * read at any time "as of an event", so that the same packet looks the same whenever it is looked at.
 *
 *   what                     key                                 room, filled by                ends
 *   -----------------------  ----------------------------------  -----------------------------  ---------------------------
 *   state_host               address and port                    hosts, any call                with the file
 *   facts: names, types      host, counterset GUID, counter id   facts, facts_learn             with the file; a name until
 *                            (or title index), kind                                             its language gets another
 *   the names file's facts   address or any, subject, kind       facts, facts_file_add          facts_file_clear
 *   state_handle: one life   host, kind, 20 bytes; its number    handles, handle_open           with the file; its life at
 *   of a handle                                                                                 the close request
 *   hkpd_key: which key it   state_handle                        hkpd/packet-hkpd.c             with the file
 *   is
 *   identifiers of a query   state_handle                        queries, query_changed and     each version with the next
 *                                                                query_info
 *   names of identifiers     what they say                       queries                        with the file
 *   state_sample             state_handle (newest), call record  samples, sample_keep           with the file; its bytes
 *                                                                                               when the limit is passed,
 *                                                                                               oldest first
 *   perf_form                state_sample, those that share it   samples, sample_keep_alike     with the last of them
 *   state_pace               state_handle, question              pace, pace_sample              with the file
 *   rpc_record               protocol, request's frame, call id  dcerpc/call.c, a call's first  with the file
 *                                                                PDU
 *
 * Events count the PDUs as they were first seen; a frame number would not do, since one frame can hold several PDUs.
 * Event 0 is "before everything": it finds nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "state/facts.h"
#include "state/handles.h"
#include "state/queries.h"
#include "state/samples.h"
#include "state/pace.h"
#include "state/hosts.h"

/* Registers the routines that empty the state with each file. */
void state_register(void);
