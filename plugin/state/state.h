/* state.h
 * What the packets of a capture taught: names and types, handles, samples. Knows no tree and no layout. Each has a room
 * of its own; this is the table of who owns what.
 *
 * Everything here belongs to one capture file. It is written on the first pass only, in the order of events, and is
 * read at any time "as of an event", so that the same packet looks the same whenever it is looked at.
 *
 *   what                     key                                   room, filled by             ends
 *   -----------------------  ------------------------------------  --------------------------  ------------------------
 *   perf_server              address                               server, any call            with the file
 *   facts: names, types      server, counterset GUID, counter id   facts, perf_learn           with the file; a newer
 *                            (or title index), kind                                            version does not replace
 *                                                                                              an older one
 *   the names file's facts   address or any, subject, kind         facts, perf_names_file_add  perf_names_file_clear
 *   perf_handle: one life    server, kind, 20 bytes; its number    handles, perf_handle_open   with the file; its life
 *   of a handle                                                                                at the close request
 *   hkpd_key: which key it   perf_handle                           hkpd/packet-hkpd.c          with the file
 *   is
 *   identifiers of a query   perf_handle                           queries, perf_query_changed each version with the next
 *                                                                  and _info
 *   names of identifiers     what they say                         queries                     with the file
 *   perf_sample              perf_handle (newest), call record     samples, perf_sample_keep   with the file; its bytes,
 *                                                                                              of their own allocation,
 *                                                                                              when the limit is passed,
 *                                                                                              oldest first
 *   perf_form                perf_sample, those that share it      samples,                    with the last of them
 *                                                                  perf_sample_keep_alike
 *   perf_call_record         protocol, request's frame, call id    dcerpc/call.c, a call's first with the file
 *                                                                  PDU
 *
 * Events count the PDUs as they were first seen; a frame number would not do, since one frame can hold several PDUs.
 * Event 0 is "before everything": it finds nothing.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#ifndef PCQ_STATE_STATE_H
#define PCQ_STATE_STATE_H

#include "state/facts.h"
#include "state/handles.h"
#include "state/queries.h"
#include "state/samples.h"
#include "state/hosts.h"

/* Registers the routines that empty the state with each file. */
void perf_state_register(void);

#endif
