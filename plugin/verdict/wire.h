/* wire.h
 * What the packets around the calls tell: TCP, SMB, and how DCE/RPC binds.
 *
 * One listener looks at every packet of TCP. Of each connection it keeps whose it is, as whom its client logged on, how it began and ended,
 * and what is out of the ordinary, each with its time and frame; steps of a client on its way to a call go to the ladder. SMB is read from the
 * headers' own bytes, where Wireshark's fields say that one begins; so it is the same in every version. All of it ends with the
 * listener's reset.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/ladder.h"

/* Seconds: an answer that did not come by then. */
#define VERDICT_LONG_WAIT 5.0

/* Events that are looked at for one question. */
#define WIRE_MOST_LOOKED_AT 1000

typedef enum {
    WIRE_LOST,        /* packets before this one were not captured, or come later in the capture */
    WIRE_FOUND,       /* what seemed to be was sent again, since it was lost on its way */
    WIRE_RESENT,      /* this one was sent before */
    WIRE_ZERO_WINDOW, /* its sender has no room */
    WIRE_ACKED_LATE,  /* acknowledges `about` half a second late, or later */
    WIRE_UNASKED,     /* answers a call of which no request was captured */
    WIRE_CUT,         /* this one was cut when it was captured */
    WIRE_PENDING,     /* the server says that it works on `about` */
    WIRE_PIPE_FAILED, /* the answer to `about` is an error of SMB: `status` */
    WIRE_PIPE_CLOSED, /* the client closes the pipe */
    WIRE_ENDED,       /* FIN or RST */
} wire_kind;

typedef struct {
    wire_kind kind;
    bool from; /* which end of the connection sent it */
    uint32_t frame;
    uint32_t about; /* frame of a request */
    uint32_t status;
    uint32_t hole, hole_end; /* sequence numbers of what was lost, the same: not known */
    bool hole_from;          /* which end sent it */
    bool came_later;
    double time;
    double since; /* of what was lost: when the packet before it came; of what was resent: when it was sent first */
} wire_event;

typedef struct verdict_connection {
    struct verdict_connection *later; /* in the order of the capture */
    verdict_pair *pair;
    bool client;                /* which end it is */
    uint32_t client_port, port; /* of the server */
    bool is_client_known;       /* who began it was captured, or a call tells */
    bool is_open;               /* SYN was accepted, or it was there before the capture */
    verdict_moment acked;       /* the newest request that its server acknowledged before it answered, and when */
    bool has_ended;
    bool is_told;       /* that its server did not say anything */
    bool is_copy;       /* what was captured before, on the other side of a translation of addresses */
    bool has_bind;      /* any interface's */
    uint32_t goes_back; /* the latest packet that does, in time: it stands in the wrong place, or the clock was set */
    bool is_mapped;     /* the endpoint mapper told where our interface is */
    uint32_t bind_context; /* place of ours in the list of a bind */
    uint32_t call_frame;   /* with the newest call of performance counters */
    uint32_t next[2];      /* sequence number after each end's newest data, 0: not seen */
    double sent[2];        /* when that came */
    double seen[2];        /* when each end's newest packet came */
    uint32_t heard[2];     /* what each end acknowledged last; */
    bool hears[2];         /* it was something else before: the other one speaks */
    struct {
        uint32_t frame, end; /* sequence number after it */
        double time;
    } unacked;                    /* the client's newest segment with data, frame 0: it is acknowledged */
    verdict_moment binds;         /* a bind of ours, or a question to the endpoint mapper for it; frame 0: none waits */
    verdict_moment unbound;       /* the first of DCE/RPC, as long as no bind came; frame 0: none */
    verdict_moment begins;        /* the first packet with data */
    wmem_array_t *syns;           /* uint32_t: frames, until the server answers with RST */
    unsigned silent_syns;         /* the first of them, of which it is said that nobody answered */
    double since;                 /* of the first, 0: none was captured, */
    double connected;             /* and when it was accepted, 0: not captured */
    double newest;                /* when the packet before this one came */
    unsigned packets[2], data[2]; /* of each end; and of them those with data */
    wmem_array_t *events;         /* wire_event */
    wire_event end;               /* the first that ended it, or closed the last pipe; frame 0: none */
    wmem_map_t *asked;            /* id of a message of SMB -> what it asks for; NULL: there was none */
    wmem_map_t *pipes;            /* ids of open pipes called winreg, */
    wmem_map_t *other_trees;      /* and of shares that are not IPC$ */
    bool wants_signing;           /* the client requires it */
    verdict_moment signing;       /* one of both requires signing of the other; frame 0: none does */
    bool logs_on;                 /* the client began to log on */
    const char *logon;            /* as whom its client logged on last, NULL: not known */
    wmem_map_t *accounts; /* Wireshark's number of a pipe, 0: none -> as whom its client logged on; NULL: none did */
} verdict_connection;

static inline wire_event *verdict_wire_event(const verdict_connection *connection, unsigned number)
{
    return wmem_array_index(connection->events, number);
}

static inline bool verdict_wire_by_client(const verdict_connection *connection, const wire_event *event)
{
    return event->from == connection->client;
}

/* Whose a call's packet is; `from_client`: it is a request. NULL: it does not go through TCP. */
verdict_connection *verdict_wire_connection(packet_info *pinfo, bool from_client);

/* As whom its client logged on, where that is in clear: to its pipe or port, else in the session around it; "" if it was not seen. */
const char *verdict_wire_account(packet_info *pinfo);

/* The first event that is not before a moment (seconds of the capture), or a frame: they are in the order of both. */
unsigned verdict_wire_from(const verdict_connection *connection, double begin, uint32_t frame);

/* The first of a kind between two moments; `about`: and about this frame, 0: any. NULL: there is none. */
const wire_event *verdict_wire_find(const verdict_connection *connection, wire_kind kind, uint32_t about, double begin,
                                    double end);

/* Was anything lost between two moments? Of another connection it counts where this one was not heard of after that. */
bool verdict_wire_lacks(const verdict_connection *connection, double begin, double end);

/* Watches connections from now on, for a statistic that begins before the first packet. Before they are freed all verdicts are reset. */
void verdict_wire_watch(void);

/* What only the capture's end tells: SYNs and steps that nobody answered, directions that are not there. */
void verdict_wire_end(void);

/* The capture's clock went back by a second or more: nothing that goes by it is judged. */
bool verdict_wire_was_set(void);

/* When the first and the last packet came. */
double verdict_wire_first(void);
double verdict_wire_last(void);
