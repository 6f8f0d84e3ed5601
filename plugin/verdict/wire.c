/* wire.c
 * What the packets around the calls tell: TCP, SMB, and how DCE/RPC binds.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/monitors.h"

#include "taps/output.h"
#include "text/text.h"

#include <epan/conversation.h>
#include <epan/epan_dissect.h>
#include <epan/to_str.h>

#include <math.h>

/* Fields that the listener's filter names, so that they are there: X(number, name) */
#define SEEN_FIELDS(X) \
    X(FLAGS, "tcp.flags") \
    X(LENGTH, "tcp.len") \
    X(LOST, "tcp.analysis.lost_segment") \
    X(RESENT, "tcp.analysis.retransmission") \
    X(RTO, "tcp.analysis.rto") \
    X(ZERO_WINDOW, "tcp.analysis.zero_window") \
    X(SMB2, "smb2.cmd") \
    X(SMB, "smb.cmd") \
    X(FILE, "smb.file") \
    X(PATH, "smb.path") \
    X(PDU, "dcerpc.pkt_type") \
    X(REQUEST_IN, "dcerpc.request_in") \
    X(INTERFACE, "dcerpc.cn_bind_to_uuid") \
    X(ACK_RESULT, "dcerpc.cn_ack_result") \
    X(ACK_REASON, "dcerpc.cn_ack_reason") \
    X(EPM_UUID, "epm.uuid") \
    X(EPM_STATUS, "epm.rc") \
    X(EPM_PORT, "epm.proto.tcp_port") \
    X(KERBEROS, "kerberos.error_code") \
    X(USER, "ntlmssp.auth.username") \
    X(DOMAIN, "ntlmssp.auth.domain") \
    X(WORKSTATION, "ntlmssp.auth.hostname") \
    X(SERVICE, "kerberos.SNameString") \
    X(TICKET_OF, "kerberos.CNameString") /* a key opened the ticket */ \
    X(ICMP, "icmp.type") \
    X(ICMP_CODE, "icmp.code") \
    X(ICMP_TO, "ip.dst") \
    X(ICMP6, "icmpv6.type") \
    X(ICMP6_CODE, "icmpv6.code") \
    X(ICMP6_TO, "ipv6.dst") \
    X(ICMP_PORT, "tcp.dstport")

#define SEEN_NUMBER(number, name) SEEN_##number,
#define SEEN_NAME(number, name) name,
#define SEEN_FILTER(number, name) " || " name
enum { SEEN_FIELDS(SEEN_NUMBER) NUM_SEEN_FIELDS };
#define SAME_NAME 4
static const char *const field_names[] = {SEEN_FIELDS(SEEN_NAME)};
static int field_ids[NUM_SEEN_FIELDS][SAME_NAME]; /* a name may have several */

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };
enum { ICMP_UNREACHABLE = 3, ICMP_PORT = 3, ICMP6_UNREACHABLE = 1, ICMP6_PORT = 4 };

/* Who sends again waits longer: a packet that is captured in two places looks resent by then, and one whose place in the capture is wrong
 * lacking. And an acknowledgement that comes with the answer is mostly not late. */
#define SAME_PACKET 0.1
#define LATE_ACK 0.5

/* Seconds that a single SYN waits before nobody answers it. */
#define LONG_SILENCE 3.0

/* Messages of one connection that wait for their answers; events of one connection. */
#define MOST_WAITING 4096
#define MOST_EVENTS 100000

/* Spans of a pair in which the capture lacks something; the rest is one from the first of them to the last. */
#define MOST_LOSSES 1000

/* Newest events of a connection among which that is looked for which a packet makes good. */
#define MOST_HOLES 64

static verdict_connection *connections, **end_of_connections = &connections;
static GHashTable *by_number; /* Wireshark's number of a conversation -> the same; forgotten with the capture */
static double first_time, last_time;
static uint32_t last_frame, num_tcp;
static bool was_set; /* times of the capture go back */

/* One packet while it is looked at. */
typedef struct {
    packet_info *pinfo;
    const proto_tree *tree;
    verdict_connection *connection;
    double when;
    bool from; /* which end sent it */
} packet;

/* --- Connections ----------------------------------------------------------------------------------------------- */

static bool is_known_port(uint32_t port)
{
    return port == PORT_SMB || port == PORT_NETBIOS || port == PORT_MAPPER;
}

static void set_ends(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    char *source = address_to_str(pinfo->pool, &pinfo->src), *to = address_to_str(pinfo->pool, &pinfo->dst);

    connection->pair = from_client ? verdict_ladder_pair(source, to) : verdict_ladder_pair(to, source);
    connection->client_port = from_client ? pinfo->srcport : pinfo->destport;
    connection->port = from_client ? pinfo->destport : pinfo->srcport;
}

static bool is_from_client(const verdict_connection *connection, const packet_info *pinfo)
{
    return pinfo->srcport == connection->client_port &&
           (pinfo->destport != connection->client_port ||
            strcmp(address_to_str(pinfo->pool, &pinfo->src), connection->pair->client) == 0);
}

/* Needs the first packet of a conversation. Since 4.4 Wireshark begins one where a SYN/ACK comes behind a FIN, as where both directions stand one
 * behind the other. Returns the connection of the same ends of which only the other end was heard, NULL: there is none. */
static verdict_connection *find_other_half(const packet_info *pinfo)
{
    const conversation_t *before = find_conversation(pinfo->num - 1, &pinfo->src, &pinfo->dst, CONVERSATION_TCP,
                                                     pinfo->srcport, pinfo->destport, 0);
    verdict_connection *half = before ? g_hash_table_lookup(by_number, GUINT_TO_POINTER(before->conv_index)) : NULL;
    bool from = half && is_from_client(half, pinfo) == half->client;

    return half && half->packets[from] == 0 && half->packets[!from] > 0 ? half : NULL;
}

static verdict_connection *find_connection(packet_info *pinfo)
{
    const conversation_t *conversation = by_number && pinfo->ptype == PT_TCP ? find_conversation_pinfo(pinfo, 0) : NULL;
    verdict_connection *connection =
        conversation ? g_hash_table_lookup(by_number, GUINT_TO_POINTER(conversation->conv_index)) : NULL;

    if (conversation && connection == NULL && (connection = find_other_half(pinfo)) != NULL) {
        g_hash_table_insert(by_number, GUINT_TO_POINTER(conversation->conv_index), connection);
    } else if (conversation && connection == NULL) {
        connection = wmem_new0(verdict_ladder_memory, verdict_connection);
        connection->syns = wmem_array_new(verdict_ladder_memory, sizeof(uint32_t));
        connection->events = wmem_array_new(verdict_ladder_memory, sizeof(wire_event));
        /* who began it is not known yet: who asks a port that is known, or a lower one than its own, is taken for the client */
        bool is_lower = !is_known_port(pinfo->srcport) && pinfo->destport <= pinfo->srcport;
        set_ends(connection, pinfo, is_known_port(pinfo->destport) || is_lower);
        *end_of_connections = connection;
        end_of_connections = &connection->later;
        g_hash_table_insert(by_number, GUINT_TO_POINTER(conversation->conv_index), connection);
    }
    return connection;
}

static void know_client(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    const verdict_pair *before = connection->pair;

    if (connection->is_client_known) {
        return;
    }
    connection->is_client_known = true;
    set_ends(connection, pinfo, from_client);
    if (connection->pair != before) { /* it was taken for the server */
        connection->client = !connection->client;
        connection->unacked.frame = 0;
    }
}

static bool is_by_client(const packet *p)
{
    return p->from == p->connection->client;
}

verdict_connection *verdict_wire_connection(packet_info *pinfo, bool from_client)
{
    verdict_connection *connection = find_connection(pinfo);

    if (connection) {
        know_client(connection, pinfo, from_client);
        connection->call_frame = pinfo->num;
        if (connection->binds.frame > 0) { /* it was answered, though that was not captured */
            verdict_ladder_step(connection->pair, RUNG_BIND, OUTCOME_PASSED, connection->port, NULL, pinfo->num,
                                nstime_to_sec(&pinfo->abs_ts));
            connection->binds.frame = 0;
        }
    }
    return connection;
}

static void add_loss(verdict_pair *pair, double since, double until, uint32_t frame)
{
    const verdict_span loss = {since, until, frame};
    unsigned count = wmem_array_get_count(pair->losses);

    if (count < MOST_LOSSES) {
        wmem_array_append_one(pair->losses, loss);
    } else {
        verdict_span *last = wmem_array_index(pair->losses, count - 1);
        last->until = MAX(last->until, until);
    }
}

static void add(verdict_connection *connection, wire_event event)
{
    if (event.kind == WIRE_LOST) {
        add_loss(connection->pair, event.since, event.time, event.frame);
    }
    if (event.kind == WIRE_ENDED || event.kind == WIRE_PIPE_CLOSED) {
        connection->end = connection->end.frame > 0 ? connection->end : event;
    }
    if (wmem_array_get_count(connection->events) < MOST_EVENTS) {
        wmem_array_append_one(connection->events, event);
    }
}

unsigned verdict_wire_from(const verdict_connection *connection, double begin, uint32_t frame)
{
    unsigned first = 0, count = wmem_array_get_count(connection->events);

    for (unsigned step = 1U << 30; step > 0; step /= 2) {
        const wire_event *event = first + step <= count ? verdict_wire_event(connection, first + step - 1) : NULL;
        first += event && (event->time < begin || event->frame < frame) ? step : 0;
    }
    return first;
}

const wire_event *verdict_wire_find(const verdict_connection *connection, wire_kind kind, uint32_t about, double begin,
                                    double end)
{
    unsigned first = connection ? verdict_wire_from(connection, begin, about) : 0;
    unsigned count = connection ? MIN(wmem_array_get_count(connection->events), first + WIRE_MOST_LOOKED_AT) : 0;

    for (unsigned i = first; i < count && verdict_wire_event(connection, i)->time <= end; i++) {
        const wire_event *event = verdict_wire_event(connection, i);
        if (event->kind == kind && (about == 0 || event->about == about)) {
            return event;
        }
    }
    return NULL;
}

bool verdict_wire_lacks(const verdict_connection *connection, double begin, double end)
{
    const verdict_connection *other = connection;
    bool lacks = false;

    for (unsigned n = 0; other && !lacks && n < WIRE_MOST_LOOKED_AT; other = n++ == 0 ? connections : other->later) {
        const wire_event *lost = verdict_wire_find(other, WIRE_LOST, 0, begin, INFINITY);
        lacks = lost && lost->since <= end && (other == connection || connection->newest < lost->time);
    }
    return lacks;
}

static wire_event event_of(const packet *p, wire_kind kind)
{
    return (wire_event){
        .kind = kind, .from = p->from, .frame = p->pinfo->num, .time = p->when, .since = p->connection->newest};
}

static void add_event(const packet *p, wire_kind kind, uint32_t about, uint32_t status)
{
    wire_event event = event_of(p, kind);

    event.about = about;
    event.status = status;
    add(p->connection, event);
}

static void step(const packet *p, ladder_rung rung, uint32_t outcome)
{
    const char *account = rung == RUNG_LOGON ? p->connection->logon : NULL;

    verdict_ladder_step(p->connection->pair, rung, outcome, p->connection->port, account, p->pinfo->num, p->when);
}

/* --- Fields ---------------------------------------------------------------------------------------------------- */

/* The one of this number in the packet, NULL after the last. */
static field_info *field(const packet *p, unsigned which, unsigned number)
{
    for (unsigned i = 0; i < SAME_NAME && field_ids[which][i] > 0; i++) {
        const GPtrArray *fields = proto_get_finfo_ptr_array(p->tree, field_ids[which][i]);
        if (fields && fields->len > 0) {
            return number < fields->len ? g_ptr_array_index(fields, number) : NULL;
        }
    }
    return NULL;
}

static uint32_t number_in(const packet *p, unsigned which, unsigned number)
{
    field_info *info = field(p, which, number);

    return info ? fvalue_get_uinteger(WS_FIELD_VALUE(info)) : 0;
}

static const char *field_text(const packet *p, field_info *info)
{
    return info ? fvalue_to_string_repr(p->pinfo->pool, WS_FIELD_VALUE(info), FTREPR_DISPLAY, BASE_NONE) : "";
}

/* --- TCP ------------------------------------------------------------------------------------------------------- */

static void see_begin(packet *p, unsigned flags)
{
    verdict_connection *connection = p->connection;

    if ((flags & TCP_ACK) == 0) {
        know_client(connection, p->pinfo, true);
        if (connection->is_open && connection->since <= 0 && connection->pair->disordered.frame == 0) {
            connection->pair->disordered = (verdict_moment){p->pinfo->num, p->when};
        }
        connection->since = connection->since > 0 ? connection->since : p->when;
        if (wmem_array_get_count(connection->syns) > 0 && p->when - connection->newest >= SAME_PACKET) {
            add_event(p, WIRE_RESENT, 0, 0);
        }
        wmem_array_append_one(connection->syns, p->pinfo->num);
    } else {
        know_client(connection, p->pinfo, false);
        connection->connected = connection->is_open ? connection->connected : p->when;
        connection->is_open = true;
        step(p, RUNG_REACH, OUTCOME_PASSED);
    }
}

/* `lacks_some`: it acknowledges what was not captured before, the other side's end perhaps. */
static void see_end(packet *p, unsigned flags, bool lacks_some)
{
    verdict_connection *connection = p->connection;

    if ((flags & TCP_RST) && !connection->is_open && connection->since > 0 && !is_by_client(p)) {
        step(p, RUNG_REACH, OUTCOME_RESET);
        connection->syns = wmem_array_new(verdict_ladder_memory, sizeof(uint32_t));
    } else if (!connection->has_ended) {
        connection->has_ended = true;
        if (is_by_client(p) && connection->signing.frame > 0 && !connection->logs_on) {
            verdict_ladder_step(connection->pair, RUNG_LOGON, OUTCOME_SIGNING, connection->port, NULL,
                                connection->signing.frame, connection->signing.time);
        }
        p->from = lacks_some ? connection->client : p->from; /* nobody can tell that it is the server who ended it */
        add_event(p, WIRE_ENDED, 0, 0);
    }
}

/* How long the client's newest data took to be acknowledged. */
static void see_acknowledgement(packet *p, uint32_t sequence, uint32_t acknowledged, uint32_t length)
{
    verdict_connection *connection = p->connection;

    if (is_by_client(p) && length > 0) {
        connection->unacked.frame = p->pinfo->num;
        connection->unacked.end = sequence + length;
        connection->unacked.time = p->when;
    } else if (!is_by_client(p) && connection->unacked.frame > 0 &&
               (int32_t)(acknowledged - connection->unacked.end) >= 0) {
        if (p->when - connection->unacked.time >= LATE_ACK) {
            add_event(p, WIRE_ACKED_LATE, connection->unacked.frame, 0);
        }
        if (length == 0) {
            connection->acked = (verdict_moment){connection->unacked.frame, p->when};
        }
        connection->unacked.frame = 0;
    }
}

/* Signed, as sequence numbers begin again after the largest. */
#define IS_BEHIND(a, b) ((int32_t)((a) - (b)) > 0)

static void add_hole(const packet *p, bool from, uint32_t end)
{
    wire_event event = event_of(p, WIRE_LOST);

    event.hole_from = from;
    event.hole = p->connection->next[from];
    event.hole_end = event.hole > 0 && IS_BEHIND(end, event.hole) ? end : event.hole;
    add(p->connection, event);
}

/* Is it what seemed to be lost? Either it stands in the wrong place, or it was sent again. */
static void see_found(const packet *p, uint32_t sequence, uint32_t end)
{
    for (unsigned i = wmem_array_get_count(p->connection->events), n = 0; i > 0 && n < MOST_HOLES; i--, n++) {
        wire_event *event = verdict_wire_event(p->connection, i - 1);
        if (event->kind != WIRE_LOST || event->hole_from != p->from || event->hole == event->hole_end) {
            continue;
        }
        if (!IS_BEHIND(sequence, event->hole) && IS_BEHIND(end, event->hole)) {
            event->hole = IS_BEHIND(end, event->hole_end) ? event->hole_end : end;
        } else if (!IS_BEHIND(event->hole_end, end) && IS_BEHIND(event->hole_end, sequence)) {
            event->hole_end = sequence;
        }
        if (event->hole == event->hole_end) {
            event->came_later = p->when - event->time < SAME_PACKET;
            event->kind = event->came_later ? WIRE_LOST : WIRE_FOUND;
        }
    }
}

/* `acknowledged`: the other side's number if that is not known from packets, else 0. */
static void see_analysis(packet *p, uint32_t sequence, uint32_t acknowledged, uint32_t length)
{
    uint32_t *next = &p->connection->next[p->from];

    if (field(p, SEEN_LOST, 0)) {
        add_hole(p, p->from, sequence);
    }
    if (acknowledged > 0) {
        add_hole(p, !p->from, acknowledged);
        p->connection->next[!p->from] = acknowledged;
    }
    if (length > 0) {
        see_found(p, sequence, sequence + length);
        *next = *next == 0 || IS_BEHIND(sequence + length, *next) ? sequence + length : *next;
    }
    if (field(p, SEEN_RESENT, 0) && p->when - p->connection->sent[p->from] >= SAME_PACKET) {
        field_info *rto = field(p, SEEN_RTO, 0);
        wire_event event = event_of(p, WIRE_RESENT);
        event.since = p->when - (rto ? nstime_to_sec(fvalue_get_time(WS_FIELD_VALUE(rto))) : 0);
        add(p->connection, event);
    }
    p->connection->sent[p->from] = length > 0 ? p->when : p->connection->sent[p->from];
    if (field(p, SEEN_ZERO_WINDOW, 0)) {
        add_event(p, WIRE_ZERO_WINDOW, 0, 0);
    }
}

/* SMB that Wireshark does not read as such, since it does not know the port; or that is encrypted. */
static void see_data(packet *p, const field_info *header)
{
    enum { SMB = 0x534d42, SMB1 = 0xff, SMB2 = 0xfe, ENCRYPTED = 0xfd };
    int start = header->start - 12, at = start + (tvb_get_uint8(header->ds_tvb, start + 12) >> 4) * 4 + 4;
    verdict_pair *pair = p->connection->pair;

    if (!tvb_bytes_exist(header->ds_tvb, at - 4, 8) || field(p, SEEN_SMB2, 0) || field(p, SEEN_SMB, 0) ||
        (tvb_get_ntohl(header->ds_tvb, at) & 0xffffff) != SMB) {
        return;
    }
    unsigned kind = tvb_get_uint8(header->ds_tvb, at);
    if (kind == ENCRYPTED) {
        pair->encrypted = pair->encrypted.frame > 0 ? pair->encrypted : (verdict_moment){p->pinfo->num, p->when};
    } else if (pair->strange.frame == 0 && p->connection->port != PORT_SMB && p->connection->port != PORT_NETBIOS &&
               tvb_get_uint8(header->ds_tvb, at - 4) == 0 && (kind == SMB2 || kind == SMB1)) {
        pair->strange = (verdict_moment){p->pinfo->num, p->when};
        pair->strange_port = p->connection->port;
    }
}

static void see_tcp(packet *p)
{
    verdict_connection *connection = p->connection;
    const field_info *header = field(p, SEEN_FLAGS, 0);
    unsigned flags = number_in(p, SEEN_FLAGS, 0);
    uint32_t length = number_in(p, SEEN_LENGTH, 0);
    uint32_t sequence = tvb_get_ntohl(header->ds_tvb, header->start - 8);
    uint32_t acknowledged = tvb_get_ntohl(header->ds_tvb, header->start - 4);

    if (flags & TCP_SYN) {
        see_begin(p, flags);
        connection->next[p->from] = MAX(connection->next[p->from], sequence + 1);
        return;
    }
    connection->data[p->from] += length > 0;
    if (connection->begins.frame == 0 && length > 0) {
        connection->begins = (verdict_moment){p->pinfo->num, p->when};
    }
    connection->packets[p->from]++;
    connection->seen[p->from] = p->when;
    if (!connection->is_open && (length > 0 || (flags & (TCP_ACK | TCP_RST)) == TCP_ACK)) {
        connection->is_open = true; /* as it was before the capture, or its acceptance was lost */
        step(p, RUNG_REACH, OUTCOME_PASSED);
    }
    uint32_t known = connection->next[!p->from];
    bool lacks_some = (flags & TCP_ACK) && known > 0 && IS_BEHIND(acknowledged, known);
    if (flags & TCP_ACK) {
        connection->hears[p->from] |= connection->heard[p->from] > 0 && acknowledged != connection->heard[p->from];
        connection->heard[p->from] = acknowledged;
    }
    see_analysis(p, sequence, lacks_some ? acknowledged : 0, length + (flags & TCP_FIN)); /* FIN has a number, too */
    see_acknowledgement(p, sequence, acknowledged, length);
    if (length > 0) {
        see_data(p, header);
    }
    if (flags & (TCP_FIN | TCP_RST)) {
        see_end(p, flags, lacks_some && (!(flags & TCP_RST) || acknowledged == known + 1));
    }
}

/* --- SMB ------------------------------------------------------------------------------------------------------- */

/* What a message asks for. */
typedef enum { ASKS_OTHER, ASKS_LOGON, ASKS_SHARE, ASKS_PIPE, ASKS_CALL, ASKS_CLOSE } question;

static const ladder_rung rungs[] = {[ASKS_LOGON] = RUNG_LOGON, [ASKS_SHARE] = RUNG_SHARE, [ASKS_PIPE] = RUNG_PIPE};

/* Requests that are looked at ([MS-SMB2] 2.2, [MS-CIFS] 2.2.4): how the name that they ask for ends, and where the id of a pipe stands (of
 * TransactNmPipe it is the second of its setup words, the last of all). The name is in a field; of SMB2, whose requests have no such field
 * from Wireshark 4.6 on, it is where its offset and length stand. */
static const struct {
    bool is_smb1;
    uint8_t command;
    question what;
    int id_at;
    unsigned name;
    const char *ending;
} requests[] = {
    {false, 1, ASKS_LOGON, 0, 0, NULL},
    {false, 3, ASKS_SHARE, 0, 68, "ipc$"},
    {false, 5, ASKS_PIPE, 0, 108, "winreg"},
    {false, 6, ASKS_CLOSE, 72, 0, NULL}, /* close, */
    {false, 8, ASKS_CALL, 80, 0, NULL},  /* read, */
    {false, 9, ASKS_CALL, 80, 0, NULL},  /* write, */
    {false, 11, ASKS_CALL, 72, 0, NULL}, /* ioctl */
    {true, 0x73, ASKS_LOGON, 0, 0, NULL},
    {true, 0x75, ASKS_SHARE, 0, SEEN_PATH, "ipc$"},
    {true, 0xa2, ASKS_PIPE, 0, SEEN_FILE, "winreg"},
    {true, 0x04, ASKS_CLOSE, 33, 0, NULL}, /* close, */
    {true, 0x2e, ASKS_CALL, 37, 0, NULL},  /* read, */
    {true, 0x2f, ASKS_CALL, 37, 0, NULL},  /* write, */
    {true, 0x25, ASKS_CALL, 63, 0, NULL},  /* transaction */
};

typedef struct {
    tvbuff_t *tvb;
    int at, header;
    bool is_smb1, is_answer;
    unsigned command;
    uint32_t status, tree;
    uint64_t id;
} smb_message;

typedef struct {
    uint64_t id; /* first: the key */
    question what;
    bool is_tree; /* of another share */
    verdict_moment asked;
    bool is_told; /* that it was not answered */
} asked_message;

enum { NEGOTIATE = 0 }; /* of SMB2 */

#define STATUS_PENDING 0x103
#define STATUS_MORE_PROCESSING 0xc0000016
#define STATUS_NOT_SUPPORTED 0xc00000bb
#define IS_ERROR(status) ((status) >> 30 == 3)

static bool read_message(smb_message *m, const field_info *command, bool is_smb1)
{
    tvbuff_t *tvb = command->ds_tvb;
    int at = command->start - (is_smb1 ? 4 : 12);

    *m = (smb_message){.tvb = tvb, .at = at, .header = is_smb1 ? 32 : 64, .is_smb1 = is_smb1};
    if (at < 0 || !tvb_bytes_exist(tvb, at, m->header)) {
        return false;
    }
    m->command = is_smb1 ? tvb_get_uint8(tvb, at + 4) : tvb_get_letohs(tvb, at + 12);
    m->status = tvb_get_letohl(tvb, at + (is_smb1 ? 5 : 8));
    m->is_answer = tvb_get_uint8(tvb, at + (is_smb1 ? 9 : 16)) & (is_smb1 ? 0x80 : 1);
    m->tree = is_smb1 ? tvb_get_letohs(tvb, at + 24) : tvb_get_letohl(tvb, at + 36);
    m->id = is_smb1 ? (uint64_t)tvb_get_letohs(tvb, at + 26) << 32 | tvb_get_letohs(tvb, at + 30)
                    : tvb_get_letoh64(tvb, at + 24);
    return true;
}

/* The name in a message of SMB2. */
static const char *smb2_name(const packet *p, const smb_message *m, int at)
{
    bool is_there = tvb_bytes_exist(m->tvb, m->at + at, 4);
    int offset = is_there ? m->at + tvb_get_letohs(m->tvb, m->at + at) : 0;
    int size = is_there ? tvb_get_letohs(m->tvb, m->at + at + 2) : 0;

    return size > 0 && tvb_bytes_exist(m->tvb, offset, size)
               ? (const char *)tvb_get_string_enc(p->pinfo->pool, m->tvb, offset, size, ENC_UTF_16 | ENC_LITTLE_ENDIAN)
               : "";
}

/* The name in the message is this word, or ends with it. */
static bool is_named(const packet *p, const smb_message *m, unsigned which, const char *word)
{
    field_info *info = NULL;
    unsigned i = 0;

    while (m->is_smb1 && (info = field(p, which, i++)) != NULL &&
           (info->ds_tvb != m->tvb || info->start < m->at + m->header)) {
    }
    const char *name = m->is_smb1 ? field_text(p, info) : smb2_name(p, m, (int)which);
    size_t size = strlen(name), wanted = strlen(word);
    return size >= wanted && g_ascii_strcasecmp(name + size - wanted, word) == 0 &&
           (size == wanted || name[size - wanted - 1] == '\\');
}

/* The half of a FileId that is no other's in its session; of SMB1 all there is. False if it is not there. */
static bool read_pipe(const smb_message *m, int offset, uint64_t *pipe)
{
    int at = m->at + offset + (m->is_smb1 ? 0 : 8);
    bool is_there = tvb_bytes_exist(m->tvb, at, m->is_smb1 ? 2 : 8);

    *pipe = !is_there ? 0 : m->is_smb1 ? tvb_get_letohs(m->tvb, at) : tvb_get_letoh64(m->tvb, at);
    return is_there;
}

static void add_pipe(verdict_connection *connection, uint64_t pipe)
{
    if (wmem_map_size(connection->pipes) < MOST_WAITING && !wmem_map_contains(connection->pipes, &pipe)) {
        wmem_map_insert(connection->pipes, wmem_memdup(verdict_ladder_memory, &pipe, sizeof pipe), connection);
    }
}

/* Of a pipe called winreg, or that has a call of ours. */
static bool is_of_pipe(const packet *p, const smb_message *m, int offset, uint64_t *pipe)
{
    if (!read_pipe(m, offset, pipe)) {
        return false;
    }
    if (p->connection->call_frame == p->pinfo->num) {
        add_pipe(p->connection, *pipe);
    }
    return wmem_map_contains(p->connection->pipes, pipe);
}

/* Session Setup that makes the connection another channel of a session that there is: no logon. */
static bool is_binding(const smb_message *m)
{
    enum { SETUP = 1, BINDING = 1 };
    int flags = m->at + m->header + 2;

    return !m->is_smb1 && m->command == SETUP && tvb_bytes_exist(m->tvb, flags, 1) &&
           (tvb_get_uint8(m->tvb, flags) & BINDING);
}

/* SecurityMode of Negotiate ([MS-SMB2] 2.2.3, 2.2.4). */
enum { SIGNING_REQUIRED = 2 };

static unsigned security_mode(const smb_message *m)
{
    int mode = m->at + m->header + (m->is_answer ? 2 : 4);

    return tvb_bytes_exist(m->tvb, mode, 2) ? tvb_get_letohs(m->tvb, mode) : 0;
}

static void see_request(packet *p, const smb_message *m)
{
    verdict_connection *connection = p->connection;
    unsigned row = 0;
    uint64_t pipe;

    if (!m->is_smb1 && m->command == NEGOTIATE) {
        connection->wants_signing = security_mode(m) & SIGNING_REQUIRED;
    }
    while (row < array_length(requests) &&
           (requests[row].is_smb1 != m->is_smb1 || requests[row].command != m->command)) {
        row++;
    }
    if (row == array_length(requests) || is_binding(m) ||
        (requests[row].id_at > 0 && !is_of_pipe(p, m, requests[row].id_at, &pipe))) {
        return;
    }
    if (requests[row].what == ASKS_CLOSE) {
        wmem_map_remove(connection->pipes, &pipe);
        if (wmem_map_size(connection->pipes) == 0) {
            add_event(p, WIRE_PIPE_CLOSED, 0, 0);
        }
        return;
    }
    /* a file of another share may be called so, too */
    bool is_meant =
        requests[row].ending == NULL || (is_named(p, m, requests[row].name, requests[row].ending) &&
                                         !wmem_map_contains(connection->other_trees, GUINT_TO_POINTER(m->tree)));
    connection->logs_on |= requests[row].what == ASKS_LOGON;
    asked_message *message = wmem_new(verdict_ladder_memory, asked_message);
    *message = (asked_message){m->id,
                               is_meant ? requests[row].what : ASKS_OTHER,
                               requests[row].what == ASKS_SHARE && !is_meant,
                               {p->pinfo->num, p->when},
                               false};
    if (wmem_map_size(connection->asked) >= MOST_WAITING) {
        connection->asked = wmem_map_new(verdict_ladder_memory, wmem_int64_hash, g_int64_equal);
    }
    wmem_free(verdict_ladder_memory, wmem_map_remove(connection->asked, message));
    wmem_map_insert(connection->asked, message, message);
}

/* The Kerberos error in a logon's answer, as an outcome; 0: there is none. */
static uint32_t kerberos_outcome(const packet *p)
{
    const char *text = field_text(p, field(p, SEEN_KERBEROS, 0));
    unsigned long number = strtoul(text, NULL, 10);

    return number > 0 && number < 1000 ? OUTCOME_KERBEROS + (uint32_t)number : 0;
}

static void see_answer(packet *p, const smb_message *m)
{
    verdict_connection *connection = p->connection;
    const asked_message *message = wmem_map_lookup(connection->asked, &m->id);
    bool is_error = IS_ERROR(m->status);

    if (message == NULL) {
        if (is_error && !m->is_smb1 && m->command == NEGOTIATE) {
            step(p, RUNG_LOGON, m->status == STATUS_NOT_SUPPORTED ? OUTCOME_NO_VERSION : m->status);
        } else if (!m->is_smb1 && m->command == NEGOTIATE &&
                   ((security_mode(m) & SIGNING_REQUIRED) || (connection->wants_signing && security_mode(m) == 0))) {
            connection->signing = (verdict_moment){p->pinfo->num, p->when};
        }
        return;
    }
    const asked_message asked = *message;
    if (asked.is_tree && m->status == 0) {
        wmem_map_insert(connection->other_trees, GUINT_TO_POINTER(m->tree), connection);
    }
    if (m->status != STATUS_PENDING) {
        wmem_free(verdict_ladder_memory, wmem_map_remove(connection->asked, &m->id));
    }
    uint32_t kerberos = asked.what == ASKS_LOGON ? kerberos_outcome(p) : 0;
    if (kerberos > 0 && m->status != 0) {
        step(p, RUNG_LOGON, kerberos);
    } else if (m->status == STATUS_PENDING || m->status == STATUS_MORE_PROCESSING) {
        if (m->status == STATUS_PENDING && asked.what == ASKS_CALL) {
            add_event(p, WIRE_PENDING, asked.asked.frame, 0);
        }
    } else if (asked.what == ASKS_CALL && is_error) {
        add_event(p, WIRE_PIPE_FAILED, asked.asked.frame, m->status);
    } else if (asked.what == ASKS_OTHER && !is_error) {
        verdict_ladder_note_other_use(connection->pair);
    } else if (asked.what != ASKS_CALL && asked.what != ASKS_OTHER) {
        step(p, rungs[asked.what], is_error ? m->status : OUTCOME_PASSED);
        if (asked.what == ASKS_PIPE && !is_error) {
            uint64_t pipe;
            read_pipe(m, m->header + (m->is_smb1 ? 6 : 64), &pipe);
            add_pipe(connection, pipe);
            connection->end.frame = connection->end.kind == WIRE_PIPE_CLOSED ? 0 : connection->end.frame;
        }
    }
}

/* --- DCE/RPC --------------------------------------------------------------------------------------------------- */

enum { ABSTRACT_SYNTAX = 1 /* is not supported */ };

static bool is_uuid(const packet *p, field_info *info, const char *uuid)
{
    return g_ascii_strcasecmp(field_text(p, info), uuid) == 0;
}

#define PERFLIB "da5a86c5-12c2-4943-ab30-7f74a813d853"
#define WINREG "338cd001-2244-31f1-aaaa-900038001003"

static void see_bind(packet *p)
{
    verdict_connection *connection = p->connection;
    unsigned contexts = 0, ours = UINT_MAX, registry = UINT_MAX;
    field_info *interface;

    for (; (interface = field(p, SEEN_INTERFACE, contexts)) != NULL; contexts++) {
        ours = is_uuid(p, interface, PERFLIB) ? MIN(ours, contexts) : ours;
        registry = is_uuid(p, interface, WINREG) ? MIN(registry, contexts) : registry;
    }
    if (MIN(ours, registry) < contexts) {
        connection->binds = (verdict_moment){p->pinfo->num, p->when};
        connection->call_frame = p->pinfo->num;
        connection->bind_context = ours < contexts ? ours : registry;
        connection->pair->is_ours |= ours < contexts;
        connection->pair->is_bound = true;
    } else if (connection->port != PORT_MAPPER) {
        verdict_ladder_note_other_use(connection->pair);
    }
}

static void see_bind_answer(packet *p, unsigned type)
{
    verdict_connection *connection = p->connection;
    uint32_t result = number_in(p, SEEN_ACK_RESULT, connection->bind_context);
    bool is_unknown = number_in(p, SEEN_ACK_REASON, connection->bind_context) == ABSTRACT_SYNTAX;

    if (connection->binds.frame > 0) {
        connection->binds.frame = 0;
        connection->pair->is_ours |= type == PDU_BIND_NAK || result != 0;
        step(p, RUNG_BIND,
             type == PDU_BIND_NAK ? OUTCOME_NAK
             : result == 0        ? OUTCOME_PASSED
             : is_unknown         ? OUTCOME_UNKNOWN
                                  : OUTCOME_REFUSED);
    }
}

/* What the endpoint mapper is asked, and answers. */
static void see_mapper(packet *p, unsigned type)
{
    verdict_connection *connection = p->connection;
    field_info *uuid;

    for (unsigned i = 0; type == PDU_REQ && (uuid = field(p, SEEN_EPM_UUID, i)) != NULL; i++) {
        if (is_uuid(p, uuid, PERFLIB)) {
            connection->pair->is_ours = true;
            connection->binds = (verdict_moment){p->pinfo->num, p->when};
        }
    }
    connection->is_mapped &= type != PDU_REQ || p->when - connection->newest < VERDICT_LONG_WAIT;
    if (type != PDU_REQ && connection->binds.frame > 0) {
        bool is_there = field(p, SEEN_EPM_STATUS, 0) && number_in(p, SEEN_EPM_STATUS, 0) == 0;
        connection->binds.frame = 0;
        connection->pair->tcp_port = is_there ? number_in(p, SEEN_EPM_PORT, 0) : connection->pair->tcp_port;
        connection->is_mapped |= is_there;
        if (!connection->is_mapped) { /* else it is the end of its list */
            step(p, RUNG_BIND, type == PDU_FAULT ? OUTCOME_MAPPER : OUTCOME_UNMAPPED);
        }
    }
}

/* Who calls is the client. What either may send, and a server's shutdown, does not tell. */
static void see_caller(packet *p)
{
    const unsigned by_client = 1U << PDU_REQ | 1U << PDU_BIND | 1U << PDU_ALTER | 1U << PDU_AUTH3;
    const unsigned by_server =
        1U << PDU_RESP | 1U << PDU_FAULT | 1U << PDU_BIND_ACK | 1U << PDU_BIND_NAK | 1U << PDU_ALTER_ACK;
    unsigned type = 1U << (number_in(p, SEEN_PDU, 0) & 31);

    if (type & (by_client | by_server)) {
        know_client(p->connection, p->pinfo, type & by_client);
    }
}

static void see_rpc(packet *p)
{
    verdict_connection *connection = p->connection;
    unsigned answers = 0;

    for (unsigned i = 0; field(p, SEEN_PDU, i) != NULL; i++) {
        unsigned type = number_in(p, SEEN_PDU, i);
        bool is_asked = (type != PDU_RESP && type != PDU_FAULT) || field(p, SEEN_REQUEST_IN, answers++);
        if (connection->has_bind && !is_asked) {
            add_event(p, WIRE_UNASKED, 0, 0);
        }
        if (type == PDU_BIND || type == PDU_ALTER) {
            connection->has_bind = true;
            see_bind(p);
        } else if (type == PDU_BIND_ACK || type == PDU_ALTER_ACK || type == PDU_BIND_NAK) {
            see_bind_answer(p, type);
        } else if (connection->port == PORT_MAPPER) {
            see_mapper(p, type);
        } else if (!connection->has_bind && connection->unbound.frame == 0) {
            connection->unbound = (verdict_moment){p->pinfo->num, p->when};
            connection->pair->unbound =
                connection->pair->unbound.frame > 0 ? connection->pair->unbound : connection->unbound;
        }
    }
}

/* --- Logons ---------------------------------------------------------------------------------------------------- */

/* Characters of one name, and bytes of what all logons of a connection are called; parts of a service's name, and bytes between two. */
enum { MAX_NAME = 64, MAX_ACCOUNTS = 512, MAX_PARTS = 8, MAX_TAG = 4 };

/* What Wireshark shows for a text of no length. */
#define EMPTY "NULL"

/* "" without one. */
static const char *logon_name(const packet *p, field_info *info)
{
    const char *text = text_cut(p->pinfo->pool, field_text(p, info), MAX_NAME);

    return strcmp(text, EMPTY) == 0 ? "" : ws_format_text(p->pinfo->pool, text, strlen(text));
}

/* Of the first ticket's; what a key opened after it has names of others. The parts of a name stand together but for a tag. */
static const char *service_name(const packet *p)
{
    field_info *before = field(p, SEEN_SERVICE, 0), *part;
    wmem_strbuf_t *name = wmem_strbuf_new(p->pinfo->pool, logon_name(p, before));

    for (unsigned i = 1; i < MAX_PARTS && (part = field(p, SEEN_SERVICE, i)) != NULL; i++) {
        int gap = part->start - (before->start + before->length);
        if (part->ds_tvb != before->ds_tvb || gap < 0 || gap > MAX_TAG) {
            break;
        }
        wmem_strbuf_append_printf(name, "/%s", logon_name(p, part));
        before = part;
    }
    return wmem_strbuf_get_str(name);
}

/* Of several logons nobody can tell which one a call is of. */
static void learn_account(packet *p, const char *account)
{
    verdict_connection *connection = p->connection;
    uint64_t pipe = dcerpc_get_transport_salt(p->pinfo);

    if (connection->accounts == NULL) {
        connection->accounts = wmem_map_new(verdict_ladder_memory, wmem_int64_hash, g_int64_equal);
    }
    const char *known = wmem_map_lookup(connection->accounts, &pipe);
    if (known == NULL || (strstr(known, account) == NULL && strlen(known) < MAX_ACCOUNTS)) {
        wmem_map_insert(connection->accounts, wmem_memdup(verdict_ladder_memory, &pipe, sizeof pipe),
                        wmem_strconcat(verdict_ladder_memory, known ? known : "", known ? " or " : "", account, NULL));
    }
}

static void see_logon(packet *p)
{
    wmem_allocator_t *pool = p->pinfo->pool;

    if (field(p, SEEN_USER, 0)) { /* "LAB\\Administrator (WORKSTATION)" */
        const char *user = logon_name(p, field(p, SEEN_USER, 0)), *domain = logon_name(p, field(p, SEEN_DOMAIN, 0));
        const char *from = logon_name(p, field(p, SEEN_WORKSTATION, 0));
        p->connection->logon =
            wmem_strdup_printf(verdict_ladder_memory, "%s%s%s", domain, *domain ? "\\" : "", *user ? user : EMPTY);
        learn_account(p, wmem_strdup_printf(pool, "%s%s%s%s%s%s", domain, *domain ? "\\" : "", *user ? user : EMPTY,
                                            *from ? " (" : "", from, *from ? ")" : ""));
    } else if (field(p, SEEN_SERVICE, 0)) { /* "Kerberos to host/srv01"; whose ticket it is is sealed in it */
        const char *client = logon_name(p, field(p, SEEN_TICKET_OF, 0));
        learn_account(p, wmem_strdup_printf(pool, "%s%sKerberos to %s", client, *client ? ", " : "", service_name(p)));
    }
}

const char *verdict_wire_account(packet_info *pinfo)
{
    const verdict_connection *connection = find_connection(pinfo);
    uint64_t pipe = dcerpc_get_transport_salt(pinfo), session = 0;

    if (connection == NULL || connection->accounts == NULL) {
        return "";
    }
    const char *account = wmem_map_lookup(connection->accounts, &pipe);
    const char *around = wmem_map_lookup(connection->accounts, &session);
    return account ? account : around ? around : "";
}

/* --- The listener ---------------------------------------------------------------------------------------------- */

static void see_message(packet *p, const field_info *command, bool is_smb1)
{
    smb_message m;

    if (read_message(&m, command, is_smb1)) {
        (m.is_answer ? see_answer : see_request)(p, &m);
    }
}

static void see_messages(packet *p)
{
    const field_info *command;

    if (p->connection->asked == NULL && (field(p, SEEN_SMB2, 0) || field(p, SEEN_SMB, 0))) {
        p->connection->asked = wmem_map_new(verdict_ladder_memory, wmem_int64_hash, g_int64_equal);
        p->connection->other_trees = wmem_map_new(verdict_ladder_memory, g_direct_hash, g_direct_equal);
        p->connection->pipes = wmem_map_new(verdict_ladder_memory, wmem_int64_hash, g_int64_equal);
    }
    p->connection->pair->has_messages |= p->connection->asked != NULL || field(p, SEEN_PDU, 0) != NULL;
    see_rpc(p); /* first: the frame of a bind tells which pipe is ours */
    for (unsigned i = 0; (command = field(p, SEEN_SMB2, i)) != NULL; i++) {
        see_message(p, command, false);
    }
    if ((command = field(p, SEEN_SMB, 0)) != NULL) {
        see_message(p, command, true);
    }
}

/* Whoever stands before the server says that it cannot be reached; the packet that it could not pass on is quoted. */
static void see_icmp(packet *p, bool is_v6)
{
    field_info *to = field(p, is_v6 ? SEEN_ICMP6_TO : SEEN_ICMP_TO, 1);
    bool is_port =
        is_v6 ? number_in(p, SEEN_ICMP6_CODE, 0) == ICMP6_PORT : number_in(p, SEEN_ICMP_CODE, 0) == ICMP_PORT;

    if (to && field(p, SEEN_ICMP_PORT, 0)) {
        verdict_ladder_step(verdict_ladder_pair(address_to_str(p->pinfo->pool, &p->pinfo->dst), field_text(p, to)),
                            RUNG_REACH, is_port ? OUTCOME_ICMP_PORT : OUTCOME_ICMP, number_in(p, SEEN_ICMP_PORT, 0),
                            NULL, p->pinfo->num, p->when);
    }
}

static tap_packet_status see(void *data _U_, packet_info *pinfo, epan_dissect_t *edt, const void *frame _U_,
                             tap_flags_t flags _U_)
{
    packet p = {.pinfo = pinfo, .tree = edt->tree, .when = nstime_to_sec(&pinfo->abs_ts)};

    first_time = first_time > 0 ? first_time : p.when;
    was_set |= p.when <= last_time - 1;
    last_time = p.when;
    last_frame = pinfo->num;
    bool is_v6 = number_in(&p, SEEN_ICMP6, 0) == ICMP6_UNREACHABLE;
    if (is_v6 || number_in(&p, SEEN_ICMP, 0) == ICMP_UNREACHABLE) {
        see_icmp(&p, is_v6);
        num_tcp++;
        return TAP_PACKET_DONT_REDRAW;
    }
    if (field(&p, SEEN_FLAGS, 0) == NULL || (p.connection = find_connection(pinfo)) == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    num_tcp++;
    if (field(&p, SEEN_PDU, 0)) {
        see_caller(&p);
    }
    p.from = is_from_client(p.connection, pinfo) == p.connection->client;
    if (pinfo->fd->cap_len < pinfo->fd->pkt_len) {
        evidence_add(&p.connection->pair->cut, pinfo->num, p.when);
        add_event(&p, WIRE_CUT, 0, 0);
    }
    if (p.connection->newest - p.when >= VERDICT_LONG_WAIT) {
        wire_event event = {.kind = WIRE_LOST, .frame = pinfo->num, .came_later = true, .time = p.when};
        p.connection->goes_back = pinfo->num;
        add(p.connection, event);
    }
    see_tcp(&p);
    see_messages(&p);
    see_logon(&p);
    p.connection->newest = p.when;
    return TAP_PACKET_DONT_REDRAW;
}

/* Whoever points to what there is lets it go first. */
static void reset(void *data _U_)
{
    verdict_reset_all();
    g_hash_table_remove_all(by_number);
    connections = NULL;
    end_of_connections = &connections;
    verdict_ladder_reset();
    first_time = last_time = 0;
    last_frame = num_tcp = 0;
    was_set = false;
}

/* Its conversations' numbers begin anew with the next. */
static void forget_capture(void)
{
    g_hash_table_remove_all(by_number);
}

void verdict_wire_watch(void)
{
    if (verdict_ladder_memory) {
        return;
    }
    verdict_ladder_memory = wmem_allocator_new(WMEM_ALLOCATOR_BLOCK);
    by_number = g_hash_table_new(g_direct_hash, g_direct_equal);
    for (unsigned i = 0; i < NUM_SEEN_FIELDS; i++) {
        const header_field_info *info = proto_registrar_get_byname(field_names[i]);
        while (info && info->same_name_prev_id != -1) {
            info = proto_registrar_get_nth((unsigned)info->same_name_prev_id);
        }
        for (unsigned n = 0; n < SAME_NAME && info; n++, info = info->same_name_next) {
            field_ids[i][n] = info->id;
        }
    }
    register_cleanup_routine(forget_capture);
    output_listen("frame", &connections, "frame" SEEN_FIELDS(SEEN_FILTER), reset, see, NULL);
}

/* A step that its server did not answer, or ended the connection instead. */
static void end_step(const verdict_connection *connection, ladder_rung rung, const verdict_moment *asked)
{
    const wire_event *end = connection->end.frame > 0 ? &connection->end : NULL;

    if (connection->goes_back > asked->frame || verdict_wire_find(connection, WIRE_LOST, 0, asked->time, INFINITY)) {
        return;
    }
    if (end && !verdict_wire_by_client(connection, end)) {
        verdict_ladder_step(connection->pair, rung, OUTCOME_ENDED, connection->port, NULL, end->frame, end->time);
    } else if ((end ? end->time : last_time) - asked->time >= VERDICT_LONG_WAIT) {
        verdict_ladder_step(connection->pair, rung, OUTCOME_UNANSWERED, connection->port, NULL, asked->frame,
                            asked->time);
    }
}

static void end_message(void *id _U_, void *value, void *data)
{
    asked_message *message = value;

    if (message->what != ASKS_OTHER && message->what != ASKS_CALL && !message->is_told) {
        message->is_told = true;
        end_step(data, rungs[message->what], &message->asked);
    }
}

/* What waits on a connection of which both directions were captured, if anything: the newest step, or the first thing that was said. */
static void end_steps(verdict_connection *connection)
{
    bool server = !connection->client, is_mute = connection->data[!server] > 0 && connection->data[server] == 0;

    if (connection->packets[server] == 0) {
        return;
    }
    if (connection->binds.frame > 0) {
        end_step(connection, RUNG_BIND, &connection->binds);
        connection->binds.frame = 0;
    } else if (is_mute && is_known_port(connection->port) && !connection->is_told) {
        connection->is_told = true;
        end_step(connection, connection->port == PORT_MAPPER ? RUNG_BIND : RUNG_LOGON, &connection->begins);
    } else if (connection->asked) {
        wmem_map_foreach(connection->asked, end_message, connection);
    }
}

void verdict_wire_end(void)
{
    if (num_tcp < last_frame / 2) {
        verdict_ladder_note_other_use(NULL);
    }
    for (verdict_connection *connection = connections; connection; connection = connection->later) {
        for (unsigned by = 0; by < 2; by++) {
            bool is_alone = connection->hears[by] && connection->packets[!by] == 0;
            if (is_alone && connection->pair->one_way.frame == 0) {
                connection->pair->one_way = connection->begins;
            }
        }
        /* pipes of SMB may be any: their names were not captured */
        if (connection->unbound.frame > 0 && !connection->has_bind && connection->call_frame == 0 &&
            connection->port == connection->pair->call_port && connection->asked == NULL && !connection->is_copy) {
            evidence_add(&connection->pair->missed, connection->unbound.frame, connection->unbound.time);
            connection->unbound.frame = 0;
        }
        end_steps(connection);
        unsigned syns = connection->is_open ? 0 : wmem_array_get_count(connection->syns);
        /* who waits in vain sends another; one that a host that speaks does not answer may have been answered unseen */
        bool waits = syns > 1 || (!connection->pair->has_messages && last_time - connection->since >= LONG_SILENCE);
        for (unsigned n = connection->silent_syns; waits && n < syns; n++) {
            verdict_ladder_step(connection->pair, RUNG_REACH, OUTCOME_SILENT, connection->port, NULL,
                                *(const uint32_t *)wmem_array_index(connection->syns, n), connection->since);
        }
        connection->silent_syns = waits ? syns : connection->silent_syns;
    }
}

bool verdict_wire_was_set(void)
{
    return was_set;
}

double verdict_wire_first(void)
{
    return first_time;
}

double verdict_wire_last(void)
{
    return last_time;
}
