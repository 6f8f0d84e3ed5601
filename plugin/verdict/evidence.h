/* evidence.h
 * Kinds of findings; frames that show one, and its words: who, what, when; a filter; what to do.
 *
 * A finding's filter finds exactly its frames. This is the only place that counts frames.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

typedef enum { PARTY_CLIENT, PARTY_SERVER, PARTY_NETWORK, PARTY_CAPTURE, PARTY_UNKNOWN } verdict_party;

/* X(KIND, name in JSON, title for readers without Wireshark, advice) */
#define VERDICT_KINDS(X) \
    X(UNREACHABLE, "unreachable", "Server not reachable", \
      "let the port through the firewalls in between (445: SMB; 135, 49152 and up: RPC, dynamic ports)") \
    X(REFUSED_CONNECTION, "refused_connection", "Connection refused", "start the service, or open the port") \
    X(LOGON_FAILED, "logon_failed", "Logon refused", \
      "check account, password, clocks, the name of the server, and what both require of SMB (version, signing)") \
    X(SHARE_DENIED, "share_denied", "Share IPC$ denied", "let the account log on from the network; or encrypt SMB") \
    X(PIPE_MISSING, "pipe_missing", "Service for counters not available", "start Remote Registry on the server") \
    X(PIPE_STARTING, "pipe_starting", "Service for counters still starting", "let the client try again in a second") \
    X(PIPE_DENIED, "pipe_denied", "Access to the counters denied", "add the account to Performance Monitor Users") \
    X(BIND_REFUSED, "bind_refused", "Kind of call refused", "check the interface, and how both protect calls") \
    X(NOT_SEALED, "not_sealed", "Calls not encrypted", "set the client to RPC_C_AUTHN_LEVEL_PKT_PRIVACY") \
    X(SESSION_EXPIRED, "session_expired", "Session expired", "let the client log on again: restart its collector") \
    X(PIPE_BROKEN, "pipe_broken", "Service for counters ended while in use", "look at Remote Registry at these times") \
    X(CALL_FAILED, "call_failed", "Calls failed", "the account may lack rights, or what it asks for is not there") \
    X(NO_DATA, "no_data", "Responses without data", "the call fails, or needs a larger buffer than it was offered") \
    X(OTHER_CLOCK, "other_clock", "Restarted, or another machine", "ask one machine by its own name") \
    X(BROKEN, "broken", "Connection closed while in use", "the client has to connect again") \
    X(UNANSWERED, "unanswered", "No response", "the service hangs, or the network loses packets") \
    X(SLOW, "slow", "Slow responses", \
      "look at processor, disks and network at these times; captures at both ends tell the machine from the network") \
    X(DAMAGED, "damaged", "Malformed data", "values of these samples are missing or may be wrong") \
    X(ASKED_LATE, "asked_late", "Late polls", "find out what happened there at these times") \
    X(LOST, "lost", "Packets missing", \
      "capture before the client connects, both directions, whole packets; try tcp.reassemble_out_of_order") \
    X(NOT_DELIVERED, "not_delivered", "Counters not delivered", \
      "their provider is disabled or gone, is not for this account, or has no instances now") \
    X(BLOCK_FAILED, "block_failed", "Errors instead of values", "the instance, or its provider, may be gone for now") \
    X(REFUSED, "counter_refused", "Counters refused", "the server has another version of their provider, or lacks it") \
    X(NAMES_FAILED, "names_failed", "No good list of names", "rebuild it on the server: lodctr /R") \
    X(HANDLES_OPEN, "handles_open", "Queries left open", "the client has to close what it opens") \
    X(ASSUMED, "assumed", "Values assumed", "capture from the client's first call on") \
    X(PAUSE, "pause", "Pause", \
      "perhaps on purpose: the client had closed what it had open, or the service stops when idle (DisableIdleStop)")

#define VERDICT_NUMBER(kind, ...) VERDICT_##kind,
typedef enum { VERDICT_KINDS(VERDICT_NUMBER) VERDICT_NUM_KINDS } verdict_kind;

/* From here on kinds are notes, which make nobody unhealthy. */
#define VERDICT_FIRST_NOTE VERDICT_HANDLES_OPEN

/* Up to this one a kind says why there are no samples, or no more. */
#define VERDICT_LAST_STOP VERDICT_PIPE_BROKEN

typedef struct {
    uint32_t frame; /* 0: none */
    double time;    /* seconds since 1970 */
} verdict_moment;

static inline verdict_moment verdict_now(const packet_info *pinfo)
{
    return (verdict_moment){pinfo->num, nstime_to_sec(&pinfo->abs_ts)};
}

/* A finding; without kind, party and text the evidence of one: frames that show something. Begins as zeros. A count of 0 empties it. */
typedef struct verdict_finding {
    struct verdict_finding *next; /* less bad, or later */
    verdict_kind kind;
    verdict_party party;
    uint32_t *frames;            /* numbers; of a finding ascending, each once */
    unsigned count;              /* number of `frames` */
    verdict_moment since, until; /* of the lowest and the highest frame; meaningless without frames */
    bool is_unread;              /* the capture lacks what would tell: health is not known, instead of bad */
    bool lasts;                  /* nothing shows that it ended before the capture did; evidence may know it */
    const char *said;            /* sentence without its names and times: equal for what is the same again */
    const char *text;            /* who, what, to whom, when: one line of at most VERDICT_LINE characters */
    const char *more;            /* number of what is affected, or name of the error; NULL: none */
    const char *advice; /* what to do, or what the first status means; of evidence NULL or "": the kind's row has it */
    const char *which;  /* first path, port or account, as $F has it; NULL: none */
} verdict_finding;

typedef verdict_finding verdict_evidence;

#define VERDICT_LINE 120 /* characters of a sentence, or of a monitor's line */

typedef struct {
    const char *name, *what, *advice; /* as VERDICT_KINDS has them */
} verdict_row;

extern const verdict_row verdict_rows[VERDICT_NUM_KINDS];

/* Adds a frame. One that is added twice counts once in a finding. Needs: the same pool each time. */
void evidence_add(wmem_allocator_t *pool, verdict_evidence *evidence, verdict_moment at);

/* Returns the display filter that finds exactly the finding's frames; "" if it would list more than 200 ranges (a single frame is one). Needs: a
 * finding of a monitor, whose frames ascend. */
const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding);

/* Returns {"time": "2026-11-25T09:46:50.003Z", "frame": 88}, UTC. */
const char *verdict_moment_json(wmem_allocator_t *pool, verdict_moment at);

/* Compares for sorting: the worse kind first, then the earlier one. Kinds up to VERDICT_LAST_STOP count as equally bad. */
int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y);
