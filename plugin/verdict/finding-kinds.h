/* finding-kinds.h
 * Kinds of findings: the name of each in JSON, the field that finds exactly its frames, what to do. Worst kinds first: the order of the table is the
 * order in which findings are said.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

typedef enum { PARTY_CLIENT, PARTY_SERVER, PARTY_NETWORK, PARTY_CAPTURE, PARTY_UNKNOWN } verdict_party;

/* X(KIND, name in JSON, field that the same predicate sets (NULL: none does), for frames that are too many to be listed, what to do) */
#define VERDICT_KINDS(X) \
    X(UNREACHABLE, "unreachable", NULL, \
      "let the port through the firewalls (445: file and printer sharing; docs/symptoms.md)") \
    X(REFUSED_CONNECTION, "refused_connection", NULL, \
      "does the server run, and its firewall let the port through? (docs/symptoms.md)") \
    X(LOGON_FAILED, "logon_failed", NULL, "account, password and time of day of who logs on (docs/symptoms.md)") \
    X(SHARE_DENIED, "share_denied", NULL, \
      "the account needs the right to log on from the network, and IPC$ has to be there") \
    X(PIPE_MISSING, "pipe_missing", NULL, "start the service Remote Registry on the server (docs/symptoms.md)") \
    X(PIPE_STARTING, "pipe_starting", NULL, \
      "the client has to try again after a second: a first try may start the service") \
    X(PIPE_DENIED, "pipe_denied", NULL, "rights on the key winreg of the server (docs/symptoms.md)") \
    X(BIND_REFUSED, "bind_refused", NULL, "the interface or the level of protection is refused (docs/symptoms.md)") \
    X(NOT_SEALED, "not_sealed", NULL, "the client has to seal its calls (RPC_C_AUTHN_LEVEL_PKT_PRIVACY)") \
    X(SESSION_EXPIRED, "session_expired", NULL, "the client has to log on again: a ticket or a session ended") \
    X(PIPE_BROKEN, "pipe_broken", NULL, "why did the service end? The client has to open the pipe again") \
    X(CALL_FAILED, "call_failed", "pcq.expert.call_failed", \
      "docs/symptoms.md says what errors mean, and which rights it takes") \
    X(NO_DATA, "no_data", NULL, "does the client offer as much room as the answer says, and a little more?") \
    X(OTHER_CLOCK, "other_clock", NULL, \
      "ask one machine by its own name; rates go on with the second sample after a restart") \
    X(BROKEN, "broken", NULL, "what ended it stands in the frame; the client has to connect again") \
    X(UNANSWERED, "unanswered", NULL, "the server's service hangs, or what lies between loses packets") \
    X(SLOW, "slow", NULL, "what keeps it busy since then? -z dcerpc,srt shows operations") \
    X(DAMAGED, "damaged", NULL, "Analyze, Expert Information (-z expert) says where") \
    X(ASKED_LATE, "asked_late", NULL, "what kept the client busy then?") \
    X(LOST, "lost", NULL, \
      "capture from before the client connects, both directions, whole packets, with a large buffer " \
      "(docs/decryption.md)") \
    X(NOT_DELIVERED, "not_delivered", NULL, \
      "its provider is disabled or gone, it is not for this account, or nothing has instances now") \
    X(BLOCK_FAILED, "block_failed", "any pcq.block.status > 0", "-z pcq,refusals lists all") \
    X(REFUSED, "counter_refused", "pcq.expert.counter_refused", "-z pcq,refusals lists all") \
    X(NAMES_FAILED, "names_failed", NULL, \
      "rebuild the server's names: lodctr /R; a names file has them meanwhile (docs/names-file.md)") \
    X(HANDLES_OPEN, "handles_open", NULL, "the client has to close what it opens") \
    X(RESET, "reset", NULL, "-z pcq,counters counts them: did the provider start again?") \
    X(ASSUMED, "assumed", NULL, \
      "capture from the first call of the client on; if instances have one name, ask for ID Process, too " \
      "(docs/limits.md)") \
    X(PAUSE, "pause", NULL, \
      "nothing is missing: the client had closed what it had open, or the service stops when idle (DisableIdleStop)")

#define VERDICT_NUMBER(kind, ...) VERDICT_##kind,
typedef enum { VERDICT_KINDS(VERDICT_NUMBER) VERDICT_NUM_KINDS } verdict_kind;

/* From here on kinds are notes, which make nobody unhealthy. */
#define VERDICT_FIRST_NOTE VERDICT_HANDLES_OPEN

/* Up to this one a kind says why there are no samples, or no more. */
#define VERDICT_LAST_STOP VERDICT_PIPE_BROKEN
