/* ladder.h
 * How far each client got with each server, and what stopped it.
 *
 * A pair of client and server climbs: reach the port, log on, get the share of pipes, open the pipe winreg, bind the interface; what
 * comes after that calls tell (monitors.h). Each step that the wire shows is noted here (wire.c), of the pair alone; a later try that came as
 * far makes a failure before it forgotten. A pair is ours as soon as something says that performance counters are meant: the pipe by
 * its name, the interface, a question to the endpoint mapper for it, a call. All of it ends with the listeners' reset.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/evidence.h"

enum { PORT_MAPPER = 135, PORT_NETBIOS = 139, PORT_SMB = 445 };

typedef enum { RUNG_REACH, RUNG_LOGON, RUNG_SHARE, RUNG_PIPE, RUNG_BIND, RUNG_CALL, NUM_RUNGS } ladder_rung;

/* Outcomes that are no NTSTATUS. */
enum {
    OUTCOME_PASSED = 0,
    OUTCOME_SILENT = 1,    /* nobody answers */
    OUTCOME_RESET = 2,     /* SYN is answered with RST */
    OUTCOME_UNMAPPED = 3,  /* the endpoint mapper does not know the interface */
    OUTCOME_REFUSED = 4,   /* bind_ack: the context is not accepted */
    OUTCOME_NAK = 5,       /* bind_nak */
    OUTCOME_UNKNOWN = 6,   /* bind_ack: the server does not have the interface */
    OUTCOME_ICMP = 7,      /* a router says that it cannot be reached, */
    OUTCOME_ICMP_PORT = 8, /* or the server that its port cannot */
    OUTCOME_MAPPER = 9,    /* the endpoint mapper answers with a fault */
    OUTCOME_UNANSWERED = 10,
    OUTCOME_ENDED = 11,      /* the server ends the connection instead of an answer */
    OUTCOME_NO_VERSION = 12, /* SMB2 Negotiate: STATUS_NOT_SUPPORTED */
    OUTCOME_SIGNING = 13,    /* SMB2: the server requires signing, and the client leaves */
    OUTCOME_KERBEROS = 1000, /* and more: the number of a Kerberos error */
};

/* A packet; frame 0: there is none. */
typedef struct {
    uint32_t frame;
    double time;
} verdict_moment;

/* In seconds of the capture. */
typedef struct {
    double since, until;
    uint32_t frame; /* the first that shows it */
} verdict_span;

typedef struct {
    uint32_t outcome;       /* of the last time, */
    uint32_t port;          /* and where it was tried */
    verdict_evidence shown; /* nothing: it never failed, or a later try came through */
    uint32_t newest;        /* frame of the last time */
    const char *account;    /* as whom the client logged on, NULL: not known */
} ladder_failure;

typedef struct verdict_pair {
    struct verdict_pair *next;   /* in the order of the capture */
    const char *client, *server; /* addresses */
    const char *called;          /* what the client calls the server, else its address */
    ladder_failure failures[NUM_RUNGS];
    double passed[NUM_RUNGS]; /* when it came that far the last time; 0: never */
    uint32_t reached_port;
    verdict_evidence cut;    /* packets that were cut when they were captured, */
    verdict_evidence missed; /* and the first of connections without a bind, to the port where calls were read: */
    uint32_t call_port;      /* of the newest, 0: no call of performance counters was */
    bool is_ours;
    bool has_messages;         /* of SMB or DCE/RPC, any */
    bool has_other_uses;       /* files, other pipes and interfaces */
    uint32_t tcp_port;         /* where the endpoint mapper, or a call, says that the interface is */
    bool is_bound;             /* a bind of ours was captured */
    uint32_t sampled;          /* frame of its newest sample */
    uint32_t sampled_began;    /* frame in which the newest query, or key, that has some began */
    wmem_array_t *losses;      /* verdict_span: in each of them the capture lacks packets of both */
    verdict_moment encrypted;  /* first packets that SMB3 encrypts and no key opens, */
    verdict_moment disordered; /* of a connection whose SYN stands behind its answer, */
    verdict_moment unbound;    /* of DCE/RPC without a bind, */
    verdict_moment one_way;    /* of a connection of which the capture has one direction alone, */
    verdict_moment strange;    /* and of SMB that is not read as such, on this port */
    uint32_t strange_port;
} verdict_pair;

/* What lasts as long as the pairs; NULL as long as nobody watches. */
extern wmem_allocator_t *verdict_ladder_memory;

/* The first of all pairs, NULL without one. */
extern verdict_pair *verdict_ladder_first;

/* Of these addresses; made if there is none. */
verdict_pair *verdict_ladder_pair(const char *client, const char *server);

/* What came of a try; `port` of the server is for RUNG_REACH, `account` (NULL: not known) for RUNG_LOGON. */
void verdict_ladder_step(verdict_pair *pair, ladder_rung rung, uint32_t outcome, uint32_t port, const char *account,
                         uint32_t frame, double when);

/* Calls of performance counters, on this port of the server. */
void verdict_ladder_note_calls(verdict_pair *pair, uint32_t port);

/* Something else than performance counters is what this capture is about; NULL: most of its packets are none of TCP. */
void verdict_ladder_note_other_use(verdict_pair *pair);

/* Adds the findings of a pair that is ours, or that nothing else explains. */
void verdict_ladder_find(wmem_allocator_t *pool, const verdict_pair *pair, verdict_finding **findings);

/* Adds that SMB answered calls with this status, in these frames. */
void verdict_ladder_say(const verdict_pair *pair, uint32_t status, const verdict_evidence *shown,
                        verdict_finding **findings);

/* Adds why nothing of the pair could be read, where the capture is why. */
void verdict_ladder_find_unread(wmem_allocator_t *pool, const verdict_pair *pair, verdict_finding **findings);

/* One line for a capture of which nothing was read. */
const char *verdict_ladder_why_nothing(wmem_allocator_t *pool);

/* Before the pairs are asked what stopped them, once: who asks for performance counters at all. */
void verdict_ladder_judge(wmem_allocator_t *pool);

void verdict_ladder_reset(void);
