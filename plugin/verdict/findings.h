/* findings.h
 * What is found, and how it is put into words: who, what, since when; which frames; what to do.
 *
 * A finding is made by who knows the cause (ladder, plan, books, talks), and holds all frames that show it; its filter finds these. Of
 * one kind a monitor has one. Worst kinds stand first: the order of VERDICT_KINDS is the order of what is said.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "ws_compat.h"

typedef enum { PARTY_CLIENT, PARTY_SERVER, PARTY_NETWORK, PARTY_CAPTURE, PARTY_UNKNOWN } verdict_party;

/* X(KIND, name in JSON, what finds it where its frames are too many to be listed (NULL: the frames do), what to do) */
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
    X(INTERFACE_MISSING, "interface_missing", NULL, \
      "PerflibV2 is there since Windows Vista, where Remote Registry runs") \
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
    X(DAMAGED, "damaged", \
      "(pcq || hkpd) && (_ws.malformed || pcq.expert.array_counts || pcq.expert.trailing_bytes || " \
      "pcq.expert.index || pcq.expert.block_type || pcq.expert.read_as || pcq.expert.not_performance_data)", \
      "Analyze, Expert Information (-z expert) says where") \
    X(ASKED_LATE, "asked_late", NULL, "what kept the client busy then?") \
    X(ONE_WAY, "one_way", NULL, "capture where packets of both directions come by") \
    X(LOST, "lost", "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment", \
      "capture with a larger buffer (docs/decryption.md)") \
    X(OUT_OF_ORDER, "out_of_order", NULL, \
      "reordercap may put them in order, or -o tcp.reassemble_out_of_order:TRUE reads them") \
    X(CUT, "cut", "frame.cap_len < frame.len", "capture without a snapshot length") \
    X(FROM_MIDDLE, "from_middle", NULL, "capture from before the client connects") \
    X(OTHER_PORT, "other_port", NULL, "give tshark the option; in Wireshark: Decode As") \
    X(NOT_DELIVERED, "not_delivered", NULL, "its provider is disabled or gone, or nothing has instances now") \
    X(BLOCK_FAILED, "block_failed", "any pcq.block.status > 0", "-z pcq,refusals lists all") \
    X(REFUSED, "counter_refused", "pcq.expert.counter_refused", "-z pcq,refusals lists all") \
    X(EMPTY, "empty", NULL, "no counter was accepted, or what had values is gone") \
    X(RESET, "reset", NULL, "-z pcq,counters counts them: did the provider start again?") \
    X(NAMES, "names", NULL, "names stay numbers; a names file has them (docs/names-file.md)") \
    X(HANDLES_OPEN, "handles_open", NULL, "the client has to close what it opens") \
    X(MANY_CALLS, "many_calls", NULL, "the client has to offer more room at once") \
    X(ASSUMED, "assumed", "pcq.expert.order_assumed", \
      "capture from the first call of the client on; if instances have one name, ask for ID Process, too " \
      "(docs/limits.md)") \
    X(PAUSE, "pause", NULL, "the client had closed it: nothing was to come") \
    X(UNTYPED, "untyped", NULL, "capture from before the client reads types, or name a names file")

#define VERDICT_NUMBER(kind, ...) VERDICT_##kind,
typedef enum { VERDICT_KINDS(VERDICT_NUMBER) VERDICT_NUM_KINDS } verdict_kind;

/* What is only assumed, or has no type, is not wrong. */
#define VERDICT_FIRST_NOTE VERDICT_ASSUMED

/* Up to this one a kind says why there are no samples, or no more. */
#define VERDICT_LAST_STOP VERDICT_PIPE_BROKEN

typedef struct verdict_finding {
    struct verdict_finding *next; /* less bad, or later */
    verdict_kind kind;
    verdict_party party;
    const uint32_t *frames; /* ascending, each once */
    unsigned count;         /* of them, at least 1 */
    double since;           /* seconds since 1970, 0: not known */
    const char *text;       /* who, what, since when: one line of at most VERDICT_LINE characters */
    const char *more;       /* what is affected; NULL: nothing to add */
    const char *which;      /* the first of what is affected: a path, for instance; NULL: nothing to name */
} verdict_finding;

#define VERDICT_LINE 120

typedef struct {
    const char *name, *filter, *advice;
} verdict_row;

extern const verdict_row verdict_rows[VERDICT_NUM_KINDS];
extern const char *const verdict_parties[];

/* Frames that show something, and when the first came. Begins with its pool. */
typedef struct {
    wmem_allocator_t *pool;
    wmem_array_t *frames; /* uint32_t, NULL: none */
    uint32_t first;
    double since;
    const char *which; /* $F: a path, for instance */
    const char *more;  /* a finding's, NULL: nothing to add */
} verdict_shown;

void verdict_show(verdict_shown *shown, uint32_t frame, double when);

static inline unsigned verdict_count_shown(const verdict_shown *shown)
{
    return shown->frames ? wmem_array_get_count(shown->frames) : 0;
}

/* Adds what they show, if they show anything, with a copy in their pool, in its place. In the sentence $S and $C are server and client, $F which of them, $T the
 * time of day and frame of the first, $N " (3 times)" where there are more. Of what is too long that goes first, then what stands in brackets or behind
 * '|', then ends of names and paths. */
void verdict_say(verdict_finding **findings, verdict_kind kind, verdict_party party, const verdict_shown *shown,
                 const char *server, const char *client, const char *text);

/* "ERROR_NO_DATA"; "ERROR_NO_DATA (no data now)". */
const char *verdict_error(wmem_allocator_t *pool, bool is_fault, uint32_t status, bool with_meaning);

/* "0.8 s", "3 ms", "2 min". */
const char *verdict_seconds(wmem_allocator_t *pool, double seconds);

/* What shows all of it, and finds as many frames as there are. */
const char *verdict_filter(wmem_allocator_t *pool, const verdict_finding *finding);

/* "2026-11-25T09:46:50.003Z". */
const char *verdict_time(wmem_allocator_t *pool, double when);

/* Does the frame show it? */
bool verdict_finding_has(const verdict_finding *finding, uint32_t frame);

int verdict_finding_compare(const verdict_finding *x, const verdict_finding *y);
