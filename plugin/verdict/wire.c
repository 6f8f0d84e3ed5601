/* wire.c
 * What the packets around the calls tell: TCP, SMB, and how DCE/RPC binds.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "verdict/wire.h"

#include "taps/output.h"

#include <epan/conversation.h>
#include <epan/epan_dissect.h>
#include <epan/to_str.h>

/* Fields that the listener's filter names, so that they are there: X(number, name) */
#define SEEN_FIELDS(X) \
    X(FLAGS, "tcp.flags") \
    X(LENGTH, "tcp.len") \
    X(LOST, "tcp.analysis.lost_segment") \
    X(ACK_LOST, "tcp.analysis.ack_lost_segment") \
    X(RESENT, "tcp.analysis.retransmission") \
    X(RTO, "tcp.analysis.rto") \
    X(ZERO_WINDOW, "tcp.analysis.zero_window") \
    X(SMB2, "smb2.cmd") \
    X(SMB, "smb.cmd") \
    X(FILE, "smb.file") \
    X(PATH, "smb.path") \
    X(PDU, "dcerpc.pkt_type") \
    X(ACK_RESULT, "dcerpc.cn_ack_result") \
    X(ACK_REASON, "dcerpc.cn_ack_reason") \
    X(KERBEROS, "kerberos.error_code") \
    X(ICMP, "icmp.type") \
    X(ICMP_CODE, "icmp.code") \
    X(ICMP_TO, "ip.dst") \
    X(ICMP_PORT, "tcp.dstport")

#define SEEN_NUMBER(number, name) SEEN_##number,
#define SEEN_NAME(number, name) name,
#define SEEN_FILTER(number, name) " || " name
enum { SEEN_FIELDS(SEEN_NUMBER) NUM_SEEN_FIELDS };
#define SAME_NAME 4
static const char *const field_names[] = {SEEN_FIELDS(SEEN_NAME)};
static int field_ids[NUM_SEEN_FIELDS][SAME_NAME]; /* a name may have several */

enum { TCP_FIN = 1, TCP_SYN = 2, TCP_RST = 4, TCP_ACK = 16 };
enum { ICMP_UNREACHABLE = 3, ICMP_PORT = 3 };
enum { PORT_MAPPER = 135, PORT_NETBIOS = 139, PORT_SMB = 445 };

/* A packet that is captured twice looks resent at once; and an acknowledgement that comes with the answer is mostly not late. */
#define SAME_PACKET 0.0001
#define LATE_ACK 0.5

/* Seconds that a single SYN waits before nobody answers it. */
#define LONG_SILENCE 3.0

/* Seconds: an answer that did not come by then. */
#define LONG_WAIT 5.0

/* Messages of one connection that wait for their answers; events of one connection. */
#define MOST_WAITING 4096
#define MOST_EVENTS 100000

static GPtrArray *connections; /* verdict_connection */
static GHashTable *by_number;  /* Wireshark's number of a conversation -> the same; forgotten with the capture */
static double last_time;
static void (*forget_all)(void);

/* One packet while it is looked at. */
typedef struct {
    packet_info *pinfo;
    const proto_tree *tree;
    verdict_connection *connection;
    double when;
    bool by_client;
} packet;

/* --- Connections ----------------------------------------------------------------------------------------------- */

static void connection_free(void *data)
{
    verdict_connection *connection = data;

    for (GArray **array = &connection->syns; array; array = array == &connection->syns ? &connection->events : NULL) {
        if (*array) {
            g_array_unref(*array);
        }
    }
    if (connection->asked) {
        g_hash_table_destroy(connection->asked);
        g_hash_table_destroy(connection->pipes);
        g_hash_table_destroy(connection->other_trees);
    }
    g_free(connection);
}

static bool is_known_port(uint32_t port)
{
    return port == PORT_SMB || port == PORT_NETBIOS || port == PORT_MAPPER;
}

/* Who began it is not known yet: who asks a port that is known, or a lower one than its own, is taken for the client. */
static bool is_from_client(const packet_info *pinfo)
{
    return is_known_port(pinfo->destport) || (!is_known_port(pinfo->srcport) && pinfo->destport <= pinfo->srcport);
}

static void set_ends(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    char *source = address_to_str(pinfo->pool, &pinfo->src), *to = address_to_str(pinfo->pool, &pinfo->dst);

    connection->pair = from_client ? verdict_ladder_pair(source, to) : verdict_ladder_pair(to, source);
    connection->client_port = from_client ? pinfo->srcport : pinfo->destport;
    connection->port = from_client ? pinfo->destport : pinfo->srcport;
}

static verdict_connection *find_connection(packet_info *pinfo)
{
    const conversation_t *conversation = by_number && pinfo->ptype == PT_TCP ? find_conversation_pinfo(pinfo, 0) : NULL;
    verdict_connection *connection =
        conversation ? g_hash_table_lookup(by_number, GUINT_TO_POINTER(conversation->conv_index)) : NULL;

    if (conversation && connection == NULL) {
        connection = g_new0(verdict_connection, 1);
        set_ends(connection, pinfo, is_from_client(pinfo));
        g_ptr_array_add(connections, connection);
        g_hash_table_insert(by_number, GUINT_TO_POINTER(conversation->conv_index), connection);
    }
    return connection;
}

static void know_client(verdict_connection *connection, packet_info *pinfo, bool from_client)
{
    if (!connection->is_client_known) {
        connection->is_client_known = true;
        set_ends(connection, pinfo, from_client);
    }
}

verdict_connection *verdict_wire_connection(packet_info *pinfo, bool from_client)
{
    verdict_connection *connection = find_connection(pinfo);

    if (connection) {
        know_client(connection, pinfo, from_client);
        connection->call_frame = pinfo->num;
    }
    return connection;
}

static void add_event(const packet *p, wire_kind kind, uint32_t about, uint32_t status)
{
    verdict_connection *connection = p->connection;
    const wire_event event = {kind, p->by_client, p->pinfo->num, about, status, p->when};

    if (kind == WIRE_ENDED || kind == WIRE_PIPE_CLOSED) {
        connection->end = connection->end.frame > 0 ? connection->end : event;
    }
    if (connection->events == NULL) {
        connection->events = g_array_new(FALSE, FALSE, sizeof event);
    }
    if (connection->events->len < MOST_EVENTS) {
        g_array_append_val(connection->events, event);
    }
}

static void step(const packet *p, ladder_rung rung, uint32_t outcome)
{
    verdict_ladder_step(p->connection->pair, rung, outcome, p->connection->port, p->pinfo->num, p->when);
}

/* --- Fields ---------------------------------------------------------------------------------------------------- */

/* The one of this number in the packet, NULL behind the last. */
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

static bool text_ends_with(const packet *p, unsigned which, const char *end)
{
    field_info *info = field(p, which, 0);
    char *text = info ? fvalue_to_string_repr(p->pinfo->pool, WS_FIELD_VALUE(info), FTREPR_DISPLAY, BASE_NONE) : NULL;
    size_t size = text ? strlen(text) : 0, wanted = strlen(end);

    return size >= wanted && g_ascii_strcasecmp(text + size - wanted, end) == 0;
}

/* --- TCP ------------------------------------------------------------------------------------------------------- */

static void see_begin(packet *p, unsigned flags)
{
    verdict_connection *connection = p->connection;

    if ((flags & TCP_ACK) == 0) {
        know_client(connection, p->pinfo, true);
        p->by_client = true;
        if (connection->syns == NULL) {
            connection->syns = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            connection->since = p->when;
        }
        connection->resent = connection->syns->len == 1 ? p->when : connection->resent;
        g_array_append_val(connection->syns, p->pinfo->num);
    } else {
        know_client(connection, p->pinfo, false);
        connection->connected = connection->is_open ? connection->connected : p->when;
        connection->is_open = true;
        step(p, RUNG_REACH, OUTCOME_PASSED);
    }
}

static void see_end(packet *p, unsigned flags)
{
    verdict_connection *connection = p->connection;

    if ((flags & TCP_RST) && !connection->is_open && connection->syns && !p->by_client) {
        step(p, RUNG_REACH, OUTCOME_RESET);
        g_array_set_size(connection->syns, 0);
    } else if (!connection->has_ended) {
        connection->has_ended = true;
        add_event(p, WIRE_ENDED, 0, 0);
    }
}

/* How long the client's newest data took to be acknowledged. */
static void see_acknowledgement(packet *p, const field_info *header, uint32_t length)
{
    verdict_connection *connection = p->connection;
    uint32_t sequence = tvb_get_ntohl(header->ds_tvb, header->start - 8);
    uint32_t acknowledged = tvb_get_ntohl(header->ds_tvb, header->start - 4);

    if (p->by_client && length > 0) {
        connection->unacked.frame = p->pinfo->num;
        connection->unacked.end = sequence + length;
        connection->unacked.time = p->when;
    } else if (!p->by_client && connection->unacked.frame > 0 &&
               (int32_t)(acknowledged - connection->unacked.end) >= 0) {
        if (p->when - connection->unacked.time >= LATE_ACK) {
            add_event(p, WIRE_ACKED_LATE, connection->unacked.frame, 0);
        }
        connection->acks_alone |= length == 0;
        connection->unacked.frame = 0;
    }
}

static double resent_after(const packet *p)
{
    field_info *info = field(p, SEEN_RTO, 0);
    char *text = info ? fvalue_to_string_repr(p->pinfo->pool, WS_FIELD_VALUE(info), FTREPR_DISPLAY, BASE_NONE) : NULL;

    return text ? g_ascii_strtod(text, NULL) : SAME_PACKET;
}

static void see_analysis(packet *p)
{
    if (field(p, SEEN_LOST, 0) || field(p, SEEN_ACK_LOST, 0)) {
        add_event(p, WIRE_LOST, 0, 0);
    }
    if (field(p, SEEN_RESENT, 0) && p->connection->is_open && resent_after(p) >= SAME_PACKET) {
        p->connection->has_resent = true;
        add_event(p, WIRE_RESENT, 0, 0);
    }
    if (field(p, SEEN_ZERO_WINDOW, 0)) {
        add_event(p, WIRE_ZERO_WINDOW, 0, 0);
    }
}

/* SMB that Wireshark does not read as such, since it does not know the port; or that is encrypted. */
static void see_data(packet *p, const field_info *header)
{
    static const uint8_t smb2[] = {0xFE, 'S', 'M', 'B'}, smb[] = {0xFF, 'S', 'M', 'B'},
                         sealed[] = {0xFD, 'S', 'M', 'B'};
    int start = header->start - 12, at = start + (tvb_get_uint8(header->ds_tvb, start + 12) >> 4) * 4 + 4;

    if (!tvb_bytes_exist(header->ds_tvb, at - 4, 8) || field(p, SEEN_SMB2, 0) || field(p, SEEN_SMB, 0)) {
        return;
    }
    if (tvb_memeql(header->ds_tvb, at, sealed, sizeof sealed) == 0) {
        verdict_pair *pair = p->connection->pair;
        pair->encrypted_frame = pair->encrypted_frame ? pair->encrypted_frame : p->pinfo->num;
    } else if (p->connection->pair->strange_frame == 0 && p->connection->port != PORT_SMB &&
               p->connection->port != PORT_NETBIOS && tvb_get_uint8(header->ds_tvb, at - 4) == 0 &&
               (tvb_memeql(header->ds_tvb, at, smb2, sizeof smb2) == 0 ||
                tvb_memeql(header->ds_tvb, at, smb, sizeof smb) == 0)) {
        p->connection->pair->strange_frame = p->pinfo->num;
        p->connection->pair->strange_port = p->connection->port;
    }
}

static void see_tcp(packet *p)
{
    verdict_connection *connection = p->connection;
    const field_info *header = field(p, SEEN_FLAGS, 0);
    unsigned flags = number_in(p, SEEN_FLAGS, 0);
    uint32_t length = number_in(p, SEEN_LENGTH, 0);

    if (flags & TCP_SYN) {
        see_begin(p, flags);
        return;
    }
    connection->data[p->by_client] += length > 0;
    if (connection->begins.frame == 0 && length > 0) {
        connection->begins = (wire_asked){p->pinfo->num, p->when};
    }
    connection->packets[p->by_client]++;
    if (length > 0 && !connection->is_open) {
        connection->is_open = true; /* as it was before the capture, or its acceptance was lost */
    }
    see_analysis(p);
    see_acknowledgement(p, header, length);
    if (length > 0) {
        see_data(p, header);
    }
    if (flags & (TCP_FIN | TCP_RST)) {
        see_end(p, flags);
    }
}

/* --- SMB ------------------------------------------------------------------------------------------------------- */

/* What a message asks for. */
typedef enum { ASKS_LOGON, ASKS_SHARE, ASKS_OTHER, ASKS_PIPE, ASKS_CALL } question;

typedef struct {
    uint64_t id; /* first: the key */
    question what;
    bool is_tree; /* of another share */
    wire_asked asked;
} asked_message;

/* FileId of SMB2; of SMB1 its two bytes. */
typedef struct {
    uint8_t bytes[16];
} pipe_id;

#define STATUS_PENDING 0x103
#define STATUS_MORE_PROCESSING 0xc0000016
#define IS_ERROR(status) ((status) >> 30 == 3)

static unsigned pipe_hash(const void *id)
{
    return wmem_strong_hash(id, sizeof(pipe_id));
}

static gboolean pipe_equal(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(pipe_id)) == 0;
}

static void ask(packet *p, uint64_t id, question what, bool is_tree)
{
    verdict_connection *connection = p->connection;
    asked_message *message = g_new(asked_message, 1);

    if (g_hash_table_size(connection->asked) >= MOST_WAITING) {
        g_hash_table_remove_all(connection->asked);
    }
    *message = (asked_message){id, what, is_tree, {p->pinfo->num, p->when}};
    g_hash_table_replace(connection->asked, message, message);
}

static bool is_ours(packet *p, tvbuff_t *tvb, int at, unsigned size)
{
    pipe_id id = {{0}};

    if (!tvb_bytes_exist(tvb, at, (int)size)) {
        return false;
    }
    tvb_memcpy(tvb, id.bytes, at, size);
    if (p->connection->call_frame == p->pinfo->num && g_hash_table_size(p->connection->pipes) < MOST_WAITING) {
        g_hash_table_add(p->connection->pipes, g_memdup2(&id, sizeof id));
    }
    return g_hash_table_contains(p->connection->pipes, &id);
}

static void open_pipe(packet *p, tvbuff_t *tvb, int at, unsigned size)
{
    pipe_id *id = g_new0(pipe_id, 1);

    if (tvb_bytes_exist(tvb, at, (int)size)) {
        tvb_memcpy(tvb, id->bytes, at, size);
    }
    g_hash_table_replace(p->connection->pipes, id, id);
    if (p->connection->end.kind == WIRE_PIPE_CLOSED) {
        p->connection->end.frame = 0;
    }
}

static void close_pipe(packet *p, tvbuff_t *tvb, int at, unsigned size)
{
    pipe_id id = {{0}};

    if (is_ours(p, tvb, at, size)) {
        tvb_memcpy(tvb, id.bytes, at, size);
        g_hash_table_remove(p->connection->pipes, &id);
        if (g_hash_table_size(p->connection->pipes) == 0) {
            add_event(p, WIRE_PIPE_CLOSED, 0, 0);
        }
    }
}

/* What came of it. True: it opened the pipe. */
static bool see_answer(packet *p, uint64_t id, uint32_t status, uint32_t tree)
{
    const asked_message *message = g_hash_table_lookup(p->connection->asked, &id);
    bool opens = false;

    if (message == NULL) {
        return false;
    }
    question what = message->what;
    if (message->is_tree && status == 0) {
        g_hash_table_add(p->connection->other_trees, GUINT_TO_POINTER(tree));
    }
    uint32_t frame = message->asked.frame;
    if (status == STATUS_PENDING) {
        if (what == ASKS_CALL) {
            add_event(p, WIRE_PENDING, frame, 0);
        }
        return false;
    }
    g_hash_table_remove(p->connection->asked, &id);
    if (status == STATUS_MORE_PROCESSING) {
        return false;
    }
    uint32_t outcome = IS_ERROR(status) ? status : OUTCOME_PASSED;
    switch (what) {
    case ASKS_LOGON:
        step(p, RUNG_LOGON,
             outcome != OUTCOME_PASSED && text_ends_with(p, SEEN_KERBEROS, "37") ? OUTCOME_SKEW : outcome);
        break;
    case ASKS_SHARE:
        step(p, RUNG_SHARE, outcome);
        break;
    case ASKS_PIPE:
        step(p, RUNG_PIPE, outcome);
        opens = outcome == OUTCOME_PASSED;
        break;
    case ASKS_OTHER:
        if (outcome == OUTCOME_PASSED) {
            verdict_ladder_note_other_use(p->connection->pair);
        }
        break;
    case ASKS_CALL:
        if (IS_ERROR(status)) {
            add_event(p, WIRE_PIPE_FAILED, frame, status);
        }
        break;
    }
    return opens;
}

/* A name at these offsets of the PDU, in UTF-16, is or ends with a word, whatever its letters' case. */
static bool name_ends_with(tvbuff_t *tvb, int at, int offset_at, const char *word)
{
    unsigned offset = tvb_get_letohs(tvb, at + offset_at), size = tvb_get_letohs(tvb, at + offset_at + 2);
    unsigned length = (unsigned)strlen(word);
    int end = at + (int)(offset + size);

    if (size < 2 * length || !tvb_bytes_exist(tvb, at + (int)offset, (int)size)) {
        return false;
    }
    for (unsigned i = 0; i < length; i++) {
        uint16_t unit = tvb_get_letohs(tvb, end - 2 * (int)(length - i));
        if (unit > 127 || g_ascii_tolower((char)unit) != word[i]) {
            return false;
        }
    }
    return size == 2 * length || tvb_get_letohs(tvb, end - 2 * (int)length - 2) == '\\';
}

enum { SMB2_LOGON = 1, SMB2_TREE = 3, SMB2_CREATE = 5, SMB2_CLOSE = 6, SMB2_READ = 8, SMB2_WRITE = 9, SMB2_IOCTL = 11 };
#define SMB2_HEADER 64

/* A file of another share may be called so, too. */
static bool is_other_tree(const packet *p, uint32_t tree)
{
    return g_hash_table_contains(p->connection->other_trees, GUINT_TO_POINTER(tree));
}

/* [MS-SMB2] 2.2: where the names and ids stand in each request. */
static void see_smb2_request(packet *p, tvbuff_t *tvb, int at, unsigned command, uint64_t id)
{
    int body = at + SMB2_HEADER;
    bool is_ipc;

    switch (command) {
    case SMB2_LOGON:
        ask(p, id, ASKS_LOGON, false);
        break;
    case SMB2_TREE:
        is_ipc = tvb_bytes_exist(tvb, body, 8) && name_ends_with(tvb, at, SMB2_HEADER + 4, "ipc$");
        ask(p, id, is_ipc ? ASKS_SHARE : ASKS_OTHER, !is_ipc);
        break;
    case SMB2_CREATE:
        ask(p, id,
            tvb_bytes_exist(tvb, body, 56) && !is_other_tree(p, tvb_get_letohl(tvb, at + 36)) &&
                    name_ends_with(tvb, at, SMB2_HEADER + 44, "winreg")
                ? ASKS_PIPE
                : ASKS_OTHER,
            false);
        break;
    case SMB2_CLOSE:
        close_pipe(p, tvb, body + 8, sizeof(pipe_id));
        break;
    case SMB2_READ:
    case SMB2_WRITE:
    case SMB2_IOCTL:
        if (is_ours(p, tvb, body + (command == SMB2_IOCTL ? 8 : 16), sizeof(pipe_id))) {
            ask(p, id, ASKS_CALL, false);
        }
        break;
    }
}

static void see_smb2(packet *p, tvbuff_t *tvb, int at)
{
    if (at < 0 || !tvb_bytes_exist(tvb, at, SMB2_HEADER)) {
        return;
    }
    unsigned command = tvb_get_letohs(tvb, at + 12);
    uint64_t id = tvb_get_letoh64(tvb, at + 24);
    if ((tvb_get_uint8(tvb, at + 16) & 1) == 0) {
        see_smb2_request(p, tvb, at, command, id);
    } else if (see_answer(p, id, tvb_get_letohl(tvb, at + 8), tvb_get_letohl(tvb, at + 36))) {
        open_pipe(p, tvb, at + SMB2_HEADER + 64, sizeof(pipe_id));
    }
}

enum {
    SMB_CLOSE = 0x04,
    SMB_TRANS = 0x25,
    SMB_READ = 0x2e,
    SMB_WRITE = 0x2f,
    SMB_LOGON = 0x73,
    SMB_TREE = 0x75,
    SMB_CREATE = 0xa2
};
#define SMB_HEADER 32

/* [MS-CIFS] 2.2.4. */
static void see_smb_request(packet *p, tvbuff_t *tvb, int at, unsigned command, uint64_t id)
{
    switch (command) {
    case SMB_LOGON:
        ask(p, id, ASKS_LOGON, false);
        break;
    case SMB_TREE:
        ask(p, id, text_ends_with(p, SEEN_PATH, "ipc$") ? ASKS_SHARE : ASKS_OTHER,
            !text_ends_with(p, SEEN_PATH, "ipc$"));
        break;
    case SMB_CREATE:
        ask(p, id,
            text_ends_with(p, SEEN_FILE, "winreg") && !is_other_tree(p, tvb_get_letohs(tvb, at + 24)) ? ASKS_PIPE
                                                                                                      : ASKS_OTHER,
            false);
        break;
    case SMB_CLOSE:
        close_pipe(p, tvb, at + SMB_HEADER + 1, 2);
        break;
    case SMB_READ:
    case SMB_WRITE:
        if (is_ours(p, tvb, at + SMB_HEADER + 5, 2)) {
            ask(p, id, ASKS_CALL, false);
        }
        break;
    case SMB_TRANS: /* TransactNmPipe: the pipe's id is the second of its setup words, the last of all */
        if (is_ours(p, tvb, at + SMB_HEADER + 1 + 2 * 15, 2)) {
            ask(p, id, ASKS_CALL, false);
        }
        break;
    }
}

static void see_smb(packet *p, tvbuff_t *tvb, int at)
{
    if (at < 0 || !tvb_bytes_exist(tvb, at, SMB_HEADER)) {
        return;
    }
    uint64_t id = (uint64_t)tvb_get_letohl(tvb, at + 26) << 32 | tvb_get_letohs(tvb, at + 30);
    if ((tvb_get_uint8(tvb, at + 9) & 0x80) == 0) {
        see_smb_request(p, tvb, at, tvb_get_uint8(tvb, at + 4), id & 0xFFFF0000FFFF);
    } else if (see_answer(p, id & 0xFFFF0000FFFF, tvb_get_letohl(tvb, at + 5), tvb_get_letohs(tvb, at + 24))) {
        open_pipe(p, tvb, at + SMB_HEADER + 6, 2);
    }
}

/* --- DCE/RPC --------------------------------------------------------------------------------------------------- */

enum { RPC_HEADER = 24, ABSTRACT_SYNTAX = 1 /* is not supported */ };

/* PerflibV2 and winreg, as little-endian sends them; version, and the endpoint mapper's towers are always so. */
static const uint8_t perflib[] = {0xc5, 0x86, 0x5a, 0xda, 0xc2, 0x12, 0x43, 0x49,
                                  0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53};
static const uint8_t winreg[] = {0x01, 0xd0, 0x8c, 0x33, 0x44, 0x22, 0xf1, 0x31,
                                 0xaa, 0xaa, 0x90, 0x00, 0x38, 0x00, 0x10, 0x03};
static const uint8_t perflib_big[] = {0xda, 0x5a, 0x86, 0xc5, 0x12, 0xc2, 0x49, 0x43};

/* One PDU: where it begins, and the first byte behind it that was captured. */
typedef struct {
    tvbuff_t *tvb;
    int at, end;
    unsigned type;
    bool is_little;
    unsigned auth_size;
} rpc_pdu;

static bool read_pdu(rpc_pdu *pdu, const field_info *type)
{
    pdu->tvb = type->ds_tvb;
    pdu->at = type->start - 2;
    if (pdu->at < 0 || !tvb_bytes_exist(pdu->tvb, pdu->at, RPC_HEADER)) {
        return false;
    }
    unsigned order = tvb_get_uint8(pdu->tvb, pdu->at + 4) & 0x10 ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN;
    int size = tvb_get_uint16(pdu->tvb, pdu->at + 8, order);
    pdu->is_little = order == ENC_LITTLE_ENDIAN;
    pdu->auth_size = tvb_get_uint16(pdu->tvb, pdu->at + 10, order);
    pdu->end = pdu->at + MIN(size, (int)tvb_captured_length_remaining(pdu->tvb, pdu->at));
    pdu->type = tvb_get_uint8(pdu->tvb, pdu->at + 2);
    return true;
}

static bool holds(const rpc_pdu *pdu, const uint8_t *bytes, int size)
{
    for (int at = pdu->at + RPC_HEADER; at + size <= pdu->end; at++) {
        if (tvb_memeql(pdu->tvb, at, bytes, (size_t)size) == 0) {
            return true;
        }
    }
    return false;
}

/* Contexts stand one behind the other: id, number of transfer syntaxes, interface, these. */
static void see_bind(packet *p, const rpc_pdu *pdu)
{
    verdict_connection *connection = p->connection;
    int at = pdu->at + RPC_HEADER + 4;
    bool is_ours_too = holds(pdu, perflib, sizeof perflib) || holds(pdu, perflib_big, sizeof perflib_big);
    bool is_registry = !is_ours_too && holds(pdu, winreg, sizeof winreg);

    if (!is_ours_too && !is_registry) {
        if (connection->port != PORT_MAPPER) {
            verdict_ladder_note_other_use(connection->pair);
        }
        return;
    }
    connection->binds = (wire_asked){p->pinfo->num, p->when};
    connection->call_frame = p->pinfo->num;
    connection->pair->is_ours |= is_ours_too;
    connection->bind_context = 0;
    while (at + 24 <= pdu->end && tvb_memeql(pdu->tvb, at + 4, is_ours_too ? perflib : winreg, sizeof perflib) != 0 &&
           tvb_memeql(pdu->tvb, at + 4, perflib_big, sizeof perflib_big) != 0) {
        at += 24 + tvb_get_uint8(pdu->tvb, at + 2) * 20;
        connection->bind_context++;
    }
    int trailer = pdu->end - (int)pdu->auth_size - 8;
    connection->pair->is_bound = true;
    connection->pair->level = pdu->auth_size > 0 && trailer > pdu->at ? tvb_get_uint8(pdu->tvb, trailer + 1) : 0;
}

static void see_bind_answer(packet *p, const rpc_pdu *pdu)
{
    verdict_connection *connection = p->connection;
    uint32_t result = number_in(p, SEEN_ACK_RESULT, connection->bind_context);

    if (connection->binds.frame > 0) {
        connection->binds.frame = 0;
        connection->pair->is_ours |= pdu->type == PDU_BIND_NAK || result != 0;
        bool is_unknown = result != 0 && number_in(p, SEEN_ACK_REASON, connection->bind_context) == ABSTRACT_SYNTAX;
        step(p, RUNG_BIND,
             pdu->type == PDU_BIND_NAK ? OUTCOME_NAK
             : is_unknown              ? OUTCOME_UNKNOWN
             : result != 0             ? OUTCOME_REFUSED
                                       : OUTCOME_PASSED);
    }
}

/* What the endpoint mapper is asked, and answers: its status is the last number, ports stand in towers, in the network's order. */
static void see_mapper(packet *p, const rpc_pdu *pdu)
{
    static const uint8_t port_of_tcp[] = {1, 0, 7, 2, 0};
    verdict_connection *connection = p->connection;

    if (pdu->type == PDU_REQ && holds(pdu, perflib, sizeof perflib)) {
        connection->pair->is_ours = true;
        connection->binds = (wire_asked){p->pinfo->num, p->when};
    } else if (pdu->type == PDU_FAULT && connection->binds.frame > 0) {
        connection->binds.frame = 0;
        step(p, RUNG_BIND, OUTCOME_MAPPER);
    } else if (pdu->type == PDU_RESP && connection->binds.frame > 0) {
        connection->binds.frame = 0;
        bool is_there = pdu->end - pdu->at >= RPC_HEADER + 4 && tvb_get_ntohl(pdu->tvb, pdu->end - 4) == 0;
        if (!is_there) {
            step(p, RUNG_BIND, OUTCOME_UNMAPPED);
        }
        for (int at = pdu->at + RPC_HEADER; is_there && at + 7 <= pdu->end; at++) {
            if (tvb_memeql(pdu->tvb, at, port_of_tcp, sizeof port_of_tcp) == 0) {
                connection->pair->tcp_port = tvb_get_ntohs(pdu->tvb, at + 5);
            }
        }
    }
}

static void see_rpc(packet *p)
{
    const field_info *type;
    rpc_pdu pdu;

    for (unsigned i = 0; (type = field(p, SEEN_PDU, i)) != NULL; i++) {
        if (!read_pdu(&pdu, type)) {
            continue;
        }
        if (pdu.type == PDU_BIND || pdu.type == PDU_ALTER) {
            p->connection->has_bind = true;
            see_bind(p, &pdu);
        } else if (pdu.type == PDU_BIND_ACK || pdu.type == PDU_ALTER_ACK || pdu.type == PDU_BIND_NAK) {
            see_bind_answer(p, &pdu);
        } else if (p->connection->port == PORT_MAPPER) {
            see_mapper(p, &pdu);
        } else if (!p->connection->has_bind && p->connection->pair->unbound_frame == 0) {
            p->connection->pair->unbound_frame = p->pinfo->num;
        }
    }
}

/* --- The listener ---------------------------------------------------------------------------------------------- */

static void see_messages(packet *p)
{
    const field_info *command;

    if (p->connection->asked == NULL && (field(p, SEEN_SMB2, 0) || field(p, SEEN_SMB, 0))) {
        p->connection->asked = g_hash_table_new_full(wmem_int64_hash, g_int64_equal, NULL, g_free);
        p->connection->other_trees = g_hash_table_new(g_direct_hash, g_direct_equal);
        p->connection->pipes = g_hash_table_new_full(pipe_hash, pipe_equal, g_free, NULL);
    }
    see_rpc(p); /* first: the frame of a bind tells which pipe is ours */
    for (unsigned i = 0; (command = field(p, SEEN_SMB2, i)) != NULL; i++) {
        see_smb2(p, command->ds_tvb, command->start - 12);
    }
    if ((command = field(p, SEEN_SMB, 0)) != NULL) {
        see_smb(p, command->ds_tvb, command->start - 4);
    }
}

/* Whoever stands before the server says that it cannot be reached; the packet that it could not pass on is quoted. */
static void see_icmp(packet *p)
{
    field_info *to = field(p, SEEN_ICMP_TO, 1);

    if (to && field(p, SEEN_ICMP_PORT, 0)) {
        char *server = fvalue_to_string_repr(p->pinfo->pool, WS_FIELD_VALUE(to), FTREPR_DISPLAY, BASE_NONE);
        verdict_ladder_step(verdict_ladder_pair(address_to_str(p->pinfo->pool, &p->pinfo->dst), server), RUNG_REACH,
                            number_in(p, SEEN_ICMP_CODE, 0) == ICMP_PORT ? OUTCOME_ICMP_PORT : OUTCOME_ICMP,
                            number_in(p, SEEN_ICMP_PORT, 0), p->pinfo->num, p->when);
    }
}

static tap_packet_status see(void *data _U_, packet_info *pinfo, epan_dissect_t *edt, const void *frame _U_,
                             tap_flags_t flags _U_)
{
    packet p = {.pinfo = pinfo, .tree = edt->tree, .when = nstime_to_sec(&pinfo->abs_ts)};

    last_time = p.when;
    if (number_in(&p, SEEN_ICMP, 0) == ICMP_UNREACHABLE) {
        see_icmp(&p);
        return TAP_PACKET_DONT_REDRAW;
    }
    if (field(&p, SEEN_FLAGS, 0) == NULL || (p.connection = find_connection(pinfo)) == NULL) {
        return TAP_PACKET_DONT_REDRAW;
    }
    p.by_client = pinfo->srcport == p.connection->client_port &&
                  (pinfo->destport != p.connection->client_port ||
                   strcmp(address_to_str(pinfo->pool, &pinfo->src), p.connection->pair->client) == 0);
    if (pinfo->fd->cap_len < pinfo->fd->pkt_len) {
        p.connection->pair->cut_frame = p.connection->pair->cut_frame ? p.connection->pair->cut_frame : pinfo->num;
        add_event(&p, WIRE_CUT, 0, 0);
    }
    p.connection->pair->first_time = p.connection->pair->first_time > 0 ? p.connection->pair->first_time : p.when;
    see_tcp(&p);
    see_messages(&p);
    return TAP_PACKET_DONT_REDRAW;
}

/* Whoever points to what there is lets it go first. */
static void reset(void *data _U_)
{
    forget_all();
    g_hash_table_remove_all(by_number);
    g_ptr_array_set_size(connections, 0);
    verdict_ladder_reset();
    last_time = 0;
}

/* Its conversations' numbers begin anew with the next. */
static void forget_capture(void)
{
    g_hash_table_remove_all(by_number);
}

void verdict_wire_watch(void (*forget)(void))
{
    forget_all = forget;
    if (connections) {
        return;
    }
    connections = g_ptr_array_new_with_free_func(connection_free);
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

bool verdict_wire_is_watching(void)
{
    return connections != NULL;
}

/* A step that its server did not answer, or ended the connection instead. */
static void end_step(const verdict_connection *connection, ladder_rung rung, const wire_asked *asked)
{
    const wire_event *end = connection->end.frame > 0 ? &connection->end : NULL;

    for (unsigned i = 0; connection->events && i < connection->events->len; i++) {
        const wire_event *event = &g_array_index(connection->events, wire_event, i);
        if (event->kind == WIRE_LOST && event->time >= asked->time) {
            return;
        }
    }
    if (end && !end->by_client) {
        verdict_ladder_step(connection->pair, rung, OUTCOME_ENDED, connection->port, end->frame, end->time);
    } else if ((end ? end->time : last_time) - asked->time >= LONG_WAIT) {
        verdict_ladder_step(connection->pair, rung, OUTCOME_UNANSWERED, connection->port, asked->frame, asked->time);
    }
}

/* What waits on a connection of which both directions were captured, if anything: the newest step, or the first thing that was said. */
static void end_steps(verdict_connection *connection)
{
    static const ladder_rung rungs[] = {[ASKS_LOGON] = RUNG_LOGON, [ASKS_SHARE] = RUNG_SHARE, [ASKS_PIPE] = RUNG_PIPE};
    bool is_mute = connection->data[1] > 0 && connection->data[0] == 0;
    const asked_message *message;
    GHashTableIter at;

    if (connection->packets[0] == 0) {
        return;
    }
    if (connection->binds.frame > 0) {
        end_step(connection, RUNG_BIND, &connection->binds);
        connection->binds.frame = 0;
    } else if (is_mute && is_known_port(connection->port) && !connection->is_told) {
        connection->is_told = true;
        end_step(connection, connection->port == PORT_MAPPER ? RUNG_BIND : RUNG_LOGON, &connection->begins);
    } else if (connection->asked) {
        g_hash_table_iter_init(&at, connection->asked);
        while (g_hash_table_iter_next(&at, NULL, (void **)&message)) {
            if (message->what != ASKS_OTHER && message->what != ASKS_CALL) {
                end_step(connection, rungs[message->what], &message->asked);
                g_hash_table_iter_remove(&at);
            }
        }
    }
}

void verdict_wire_end(void)
{
    for (unsigned i = 0; connections && i < connections->len; i++) {
        verdict_connection *connection = g_ptr_array_index(connections, i);
        for (unsigned by = 0; by < 2; by++) {
            bool is_alone = connection->data[by] > 1 && connection->packets[!by] == 0 && !connection->has_resent;
            connection->pair->one_way_frame = is_alone ? connection->begins.frame : connection->pair->one_way_frame;
        }
        end_steps(connection);
        GArray *syns = connection->is_open ? NULL : connection->syns;
        bool waits = syns && (syns->len > 1 || last_time - connection->since >= LONG_SILENCE);
        for (unsigned n = 0; waits && n < syns->len; n++) {
            verdict_ladder_step(connection->pair, RUNG_REACH, OUTCOME_SILENT, connection->port,
                                g_array_index(syns, uint32_t, n), connection->since);
        }
        if (waits) {
            g_array_set_size(syns, 0);
        }
    }
}

double verdict_wire_last(void)
{
    return last_time;
}
