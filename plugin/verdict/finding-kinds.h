/* finding-kinds.h
 * Kinds of findings, the worst first: findings are said in this order, but those up to VERDICT_LAST_STOP by time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

typedef enum { PARTY_CLIENT, PARTY_SERVER, PARTY_NETWORK, PARTY_CAPTURE, PARTY_UNKNOWN } verdict_party;

#define SEE_SYMPTOMS "docs/symptoms.md"
#define SEE_REFUSALS "-z pcq,refusals lists all"

/* X(KIND, name in JSON, title for readers without Wireshark, advice, reference) */
#define VERDICT_KINDS(X) \
    X(UNREACHABLE, "unreachable", "Server not reachable", \
      "let the port through the firewalls between client and server (445: file and printer sharing)", SEE_SYMPTOMS) \
    X(REFUSED_CONNECTION, "refused_connection", "Connection refused", \
      "start the service, or open the port: nothing listens there, or a firewall rejects it", SEE_SYMPTOMS) \
    X(LOGON_FAILED, "logon_failed", "Logon refused", \
      "check account, password, clocks, the name of the server, and what both require of SMB (version, signing)", \
      SEE_SYMPTOMS) \
    X(SHARE_DENIED, "share_denied", "Share IPC$ denied", "give the account the right to log on from the network", \
      SEE_SYMPTOMS) \
    X(PIPE_MISSING, "pipe_missing", "Service for counters not running", \
      "start the service Remote Registry on the server", SEE_SYMPTOMS) \
    X(PIPE_STARTING, "pipe_starting", "Service for counters still starting", \
      "let the client try again after a second: a first try may start the service", SEE_SYMPTOMS) \
    X(PIPE_DENIED, "pipe_denied", "Access to the counters denied", \
      "put the account into the server's group Performance Monitor Users", SEE_SYMPTOMS) \
    X(BIND_REFUSED, "bind_refused", "Kind of call refused", \
      "compare how client and server protect calls, and whether the server has the interface", SEE_SYMPTOMS) \
    X(NOT_SEALED, "not_sealed", "Calls not encrypted", \
      "set the client to packet privacy (RPC_C_AUTHN_LEVEL_PKT_PRIVACY)", SEE_SYMPTOMS) \
    X(SESSION_EXPIRED, "session_expired", "Session expired", "let the client log on again: restart its collector", \
      SEE_SYMPTOMS) \
    X(PIPE_BROKEN, "pipe_broken", "Service for counters ended while in use", \
      "find out why Remote Registry ended; the client has to open the pipe again", SEE_SYMPTOMS) \
    X(CALL_FAILED, "call_failed", "Calls failed", "the account may lack rights, or what it asks for is not there", \
      SEE_SYMPTOMS) \
    X(NO_DATA, "no_data", "Responses without data", \
      "the call fails, or the client has to offer as large a buffer as the response says, and a little more", \
      SEE_SYMPTOMS) \
    X(OTHER_CLOCK, "other_clock", "Restarted, or another machine", \
      "ask one machine by its own name; rates continue with the second sample after a restart", "docs/statistics.md") \
    X(BROKEN, "broken", "Connection closed while in use", \
      "the server, or a firewall in between, closed it; the client has to connect again", SEE_SYMPTOMS) \
    X(UNANSWERED, "unanswered", "No response", "the service hangs, or the network loses packets", SEE_SYMPTOMS) \
    X(SLOW, "slow", "Slow responses", \
      "look at processor, disks and network at these times; captures at both ends tell the machine from the network", \
      "-z dcerpc,srt shows operations") \
    X(DAMAGED, "damaged", "Malformed data", "values of these samples are missing or may be wrong", \
      "-z expert says where") \
    X(ASKED_LATE, "asked_late", "Late polls", "find out what happened there at these times", "docs/statistics.md") \
    X(LOST, "lost", "Packets not captured", \
      "capture from before the client connects, both directions, whole packets, with a large buffer", \
      "docs/decryption.md") \
    X(NOT_DELIVERED, "not_delivered", "Counters not delivered", \
      "their provider is disabled or gone, is not for this account, or has no instances now", SEE_REFUSALS) \
    X(BLOCK_FAILED, "block_failed", "Errors instead of values", "the instance, or its provider, may be gone for now", \
      SEE_REFUSALS) \
    X(REFUSED, "counter_refused", "Counters refused", "the server has another version of their provider, or lacks it", \
      SEE_REFUSALS) \
    X(NAMES_FAILED, "names_failed", "No good list of names", "rebuild it on the server: lodctr /R", \
      "docs/names-file.md") \
    X(HANDLES_OPEN, "handles_open", "Queries left open", "the client has to close what it opens", "-z pcq,queries") \
    X(ASSUMED, "assumed", "Values assumed", "capture from the client's first call on", "docs/limits.md") \
    X(PAUSE, "pause", "Pause", \
      "nothing is missing: the client had closed what it had open, or the service stops when idle (DisableIdleStop)", \
      "docs/statistics.md")

#define VERDICT_NUMBER(kind, ...) VERDICT_##kind,
typedef enum { VERDICT_KINDS(VERDICT_NUMBER) VERDICT_NUM_KINDS } verdict_kind;

/* From here on kinds are notes, which make nobody unhealthy. */
#define VERDICT_FIRST_NOTE VERDICT_HANDLES_OPEN

/* Up to this one a kind says why there are no samples, or no more. */
#define VERDICT_LAST_STOP VERDICT_PIPE_BROKEN
