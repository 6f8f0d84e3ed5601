/* steps.h
 * Steps of a client on its way to data: connect, negotiate, logon, share, pipe, bind, call; and what TCP shows of its connections.
 *
 * Taps of TCP, SMB2, NTLM and binds fill the peers and connections, on each pass, until the listeners' reset. One rule judges all steps: a step
 * failed, was not answered, or the server ended the connection instead; a later success of the same step or a later one makes it forgotten, unless
 * samples are missing meanwhile.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#pragma once

#include "verdict/evidence.h"

typedef enum {
    STEP_CONNECT,         /* to SMB, or the endpoint mapper */
    STEP_MAP,             /* the endpoint mapper tells a port */
    STEP_CONNECT_SERVICE, /* to such a port */
    STEP_NEGOTIATE,
    STEP_LOGON,
    STEP_SHARE,
    STEP_PIPE,
    STEP_BIND,
    STEP_CALL,
    NUM_STEPS
} setup_step;

/* Seconds after which a request is unanswered, or a response to a call for no data slow. */
#define STEPS_LONG_WAIT 5.0

/* [MS-ERREF] 2.3.1 */
#define STATUS_ACCESS_DENIED 0xc0000022
#define STATUS_NETWORK_SESSION_EXPIRED 0xc000035c
#define STATUS_USER_SESSION_DELETED 0xc0000203

/* A step that failed, or waits for its answer; without frames it never did, or a later try succeeded. */
typedef struct {
    setup_step step;
    uint32_t outcome;                            /* latest outcome: NTSTATUS, or another number of steps.c */
    const struct verdict_connection *connection; /* of the latest try */
    verdict_evidence shown;                      /* `which`: account, if that is why */
    verdict_moment before;                       /* of the frame before the newest one */
} setup_failure;

enum { BY_SERVER, BY_CLIENT };

/* Troubles of a connection until some moment: no number ever falls. */
typedef struct {
    double resent; /* seconds of all retransmissions, each since its segment was sent first: the network lost packets */
    double silent[2]; /* the same by BY_SERVER, by BY_CLIENT, whom no copy made acknowledge: it, or the network */
    double slow;      /* seconds of all slow calls that asked for no data */
    uint32_t full[2]; /* number of zero windows, by BY_SERVER, by BY_CLIENT */
} connection_troubles;

/* Time in which the capture lacks packets of a connection, seconds since 1970. */
typedef struct {
    double since, until;
} capture_gap;

/* Parts of the peers' packets that the capture lacks. */
typedef enum {
    LACKS_WAY,     /* all of one direction; has no frames, ask steps_is_one_way() */
    LACKS_PACKETS, /* some, or their order; shown by those behind them */
    LACKS_BYTES,   /* ends of packets, which the snapshot length truncated */
    LACKS_ORDER,   /* a connection's SYN stands behind other packets of it; shown by the SYN */
    LACKS_BEGIN,   /* the begin of a connection with calls that cannot be read without it */
    NUM_LACKS
} capture_lack;

/* Refusals of a key distribution center: none; of a ticket, for whatever it was; for a logon: then a connection of SMB ended without one. */
enum { REFUSED_NOTHING, REFUSED_TICKET, REFUSED_LOGON };

/* A client and a server, by their addresses. Connections fill it; monitors.c fills what is sampled. */
typedef struct verdict_peers {
    struct verdict_peers *next;  /* those before in the capture */
    struct verdict_peers *asker; /* first peers with this client, which have what is of all its servers (asker's) */
    const char *client, *server;
    const char *called;     /* name that the client gives the server, else its address */
    setup_failure failure;  /* the furthest step that failed */
    setup_failure waits;    /* furthest step not done: requests, SYNs, or responses that the client may leave for */
    wmem_array_t *overcome; /* setup_failure that a success made forgotten, bounded */
    uint32_t service_port;  /* dynamic port of the latest calls; 0: the endpoint mapper told another one since */
    bool was_mapped;        /* the endpoint mapper told a port */
    uint32_t logged_on;     /* frame of the latest logon; 0: none */
    bool has_messages;      /* of SMB2 or DCE/RPC, any */
    bool is_ours;           /* performance-related: a bind, the pipe winreg, or a call */
    bool has_other_uses;    /* files, other shares and pipes */
    bool asks;              /* asker's: the client asks any server for performance data */
    uint8_t refused;        /* asker's: REFUSED_NOTHING, or what was since the client's latest logon */
    const struct verdict_connection *one_way; /* asker's: latest that was one-way; ask steps_is_one_way() */
    uint32_t sampled;                         /* frame of the latest sample */
    uint32_t sampled_began;                   /* frame in which the latest query, or key, with a sample began */
    verdict_evidence lacks[NUM_LACKS]; /* packets that show what the capture lacks; LACKS_PACKETS bounded as `losses` */
    wmem_array_t *losses;              /* capture_gap of LACKS_PACKETS, bounded: the last one has all behind it */
    uint32_t unread;       /* newest request behind a response that Wireshark did not put together; 0: none */
    uint32_t not_captured; /* losses that the network did not make: nobody sent again what is lacking */
} verdict_peers;

/* An SMB2 error in the place of a call's response. */
typedef struct {
    verdict_moment at;
    uint32_t status; /* NTSTATUS */
} pipe_failure;

/* Packets of one peer. */
typedef struct {
    uint32_t packets; /* number */
    uint32_t heard;   /* sequence number that it acknowledged last */
    double heard_at;  /* time when `heard` changed last; 0: never */
    uint32_t resent;  /* times that it resent since the other one's `heard` changed */
    uint32_t holes;   /* segments that follow a hole in the capture, and the other one did not acknowledge yet */
    uint32_t behind;  /* sequence number of the newest of these */
    double waited;    /* seconds of these retransmissions, each since its segment was sent first */
    double resent_at; /* time of the newest one */
} connection_way;

/* A TCP connection. */
typedef struct verdict_connection {
    verdict_peers *peers;
    uint32_t client_port;
    uint32_t port;           /* of the server */
    bool is_ended_by_client; /* the client sent `end` */
    verdict_moment syn;      /* first SYN, frame 0: not captured */
    verdict_moment begin;    /* first packet */
    verdict_moment end;      /* first FIN or RST, or the last pipe was closed */
    verdict_moment acked;    /* client's newest frame that a packet without data acknowledged; time of the latter */
    double newest;           /* time of the newest packet */
    double response_began;   /* time of the first segment of what the server sends now, or sent last; 0: none yet */
    bool has_whole_message;  /* the newest data ends a message of SMB2 */
    int num_pipes;           /* pipes winreg whose opening was captured, less those that were closed */
    double first_call;       /* time of the first call on performance counters; 0: none yet */
    verdict_moment asked; /* newest request on performance counters; time 0: it has its response, frame 0: none yet */
    const char *logon;    /* account of the latest logon, NULL: not known */
    const char *account;  /* of its calls, with the client's name: of the latest pipe, else all of its sessions */
    connection_way by[2]; /* by BY_SERVER, by BY_CLIENT */
    connection_troubles troubles; /* until now */
} verdict_connection;

/* Peers, connections and times of the capture until now; zeros before steps_watch(). */
typedef struct {
    verdict_peers *newest_peers;
    wmem_map_t *by_addresses; /* "client server" -> verdict_peers; "client" -> its first ones */
    wmem_map_t *by_number;    /* Wireshark's number of a conversation -> verdict_connection; each capture counts anew */
    wmem_map_t *accounts;     /* accounts whose calls on performance counters were answered -> a connection */
    wmem_map_t *pipe_failures; /* frame of a request -> pipe_failure */
    double first, last;        /* times of packets, seconds since 1970; 0: none yet */
    bool was_set;              /* they go back by a second or more: nothing that depends on times is judged */
    bool has_asker;            /* any client asks for performance data */
    uint32_t encrypted;        /* first frame of SMB3 that no key opens; 0: there is none */
} steps_seen;

extern steps_seen steps;

/* Notes a call on performance counters: a request passes STEP_BIND, a response STEP_CALL. Returns its connection; NULL: it
 * does not go by TCP. Changes: failures up to there are forgotten; the client, where it was not known. */
verdict_connection *steps_note_call(packet_info *pinfo, bool is_response);

/* Stores the name that the client gives the server, as a copy that lives as long as the peers. */
void steps_name_server(verdict_peers *peers, const char *name);

/* Returns the account that logged on to the packet's pipe or port, else to the session around it; "" if no logon was captured. Needs: a call of a connection. */
const char *steps_find_account(packet_info *pinfo);

/* Returns true if the capture lacks packets of the peers between two times (seconds since 1970). */
bool steps_has_loss(const verdict_peers *peers, double begin, double end);

/* Returns the first failure, made good later, for which the client had no sample between two times of requests (seconds since 1970): it tried for a
 * third of them or more. NULL: there is none. */
const setup_failure *steps_find_overcome(const verdict_peers *peers, double begin, double end);

/* Returns true if packets of one peer alone were captured, and acknowledge more and more of the other. NULL: false. */
static inline bool steps_is_one_way(const verdict_connection *connection)
{
    const connection_way *by = connection ? connection->by : NULL;

    return by && ((by[BY_CLIENT].packets == 0 && by[BY_SERVER].heard_at > 0) ||
                  (by[BY_SERVER].packets == 0 && by[BY_CLIENT].heard_at > 0));
}

/* Listens, from before the first packet; later calls listen to what could not be listened to while a window was reading. Wireshark resets all
 * listeners together, so nothing points to old peers. Needs: a statistic begins; no reset, behind which Wireshark takes no new filter. */
void steps_watch(void);
