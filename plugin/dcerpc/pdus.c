/* pdus.c
 * Which calls a connection makes, by the headers of its PDUs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/call.h"

#include <epan/dissectors/packet-smb2.h>
#include <epan/dissectors/packet-tcp.h>
#include <epan/exceptions.h>
#include <epan/prefs-int.h>

#include "perf/bytes.h"
#include "text/text.h"

#define FLAG_FIRST 0x01
#define FLAG_LAST 0x02
#define FLAG_OBJECT 0x80
#define OBJECT_SIZE 16

/* [MS-SMB2] 2.2.1 */
#define SMB2_COMMAND_AT 12
#define SMB2_FLAGS_AT 16
/* and 2.2.21, 2.2.31, 2.2.32: of which file it is, and where the message says at which of its bytes its input or output is */
#define SMB2_WRITE_FILE_AT 88
#define SMB2_IOCTL_FILE_AT 80
#define SMB2_INPUT_AT 88
#define SMB2_OUTPUT_AT 96

static pdus_interface interfaces[NUM_RPC_INTERFACES + 1]; /* the last of them is any other */
/* Where it is in what was handed over. */
typedef struct pdus_cursor {
    tvbuff_t *tvb; /* NULL: it was seen before */
    packet_info *pinfo;
    int at;
    int handed;                 /* up to here operations were handed all, and know whose each is */
    rpc_connection *connection; /* whose pipe Wireshark was not asked for, NULL: as it says */
    struct pdus_cursor *outer;
} pdus_cursor;

static pdus_cursor *innermost; /* NULL where nothing is handed over, or by who does not say so (Decode As) */

static uint16_t number_16(const uint8_t *bytes, bool is_little)
{
    return is_little ? perf_le16(bytes) : (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t number_32(const uint8_t *bytes, bool is_little)
{
    return is_little ? perf_le32(bytes) : perf_be32(bytes);
}

/* False if no PDU begins at `at`, or less than the common header was captured. */
static bool read_pdu_header(rpc_header *header, tvbuff_t *tvb, int at)
{
    int left = (int)tvb_captured_length(tvb) - at;
    const uint8_t *bytes = left >= RPC_COMMON_HEADER_SIZE ? tvb_get_ptr(tvb, at, MIN(left, RPC_HEADER_SIZE)) : NULL;

    if (bytes == NULL || bytes[0] != 5) {
        return false;
    }
    bool is_little = bytes[4] >> 4 == 1, is_whole = left >= RPC_HEADER_SIZE;
    *header = (rpc_header){
        .order = is_little ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN,
        .type = bytes[2],
        .is_first = bytes[3] & FLAG_FIRST,
        .is_last = bytes[3] & FLAG_LAST,
        .size = number_16(bytes + 8, is_little),
        .auth_size = number_16(bytes + 10, is_little),
        .context = is_whole ? number_16(bytes + 20, is_little) : RPC_NO_CONTEXT,
        .opnum = is_whole && bytes[2] == PDU_REQ ? number_16(bytes + 22, is_little) : RPC_NO_OPNUM,
        .hint = is_whole ? number_32(bytes + 16, is_little) : 0,
        .call_id = number_32(bytes + 12, is_little),
    };
    int trailer = header->size - header->auth_size - RPC_TRAILER_SIZE, end = header->size;
    if (header->auth_size > 0 && trailer >= RPC_COMMON_HEADER_SIZE && tvb_bytes_exist(tvb, at + trailer, 3)) {
        header->auth_level = tvb_get_uint8(tvb, at + trailer + 1);
        end = trailer - tvb_get_uint8(tvb, at + trailer + 2);
    }
    end -= RPC_HEADER_SIZE + (bytes[2] == PDU_REQ && bytes[3] & FLAG_OBJECT ? OBJECT_SIZE : 0);
    header->stub_size = (uint16_t)MAX(end, 0);
    return header->size >= RPC_COMMON_HEADER_SIZE;
}

/* --- Calls that are missing ------------------------------------------------------------------------------------ */

/* What Wireshark's analysis noted last of a connection up to a frame, NULL if nothing. Its tree has frame, sequence number and
 * acknowledgement as keys. */
static const struct tcp_acked *noted_until(const struct tcp_analysis *tcp, uint32_t frame)
{
    uint32_t any = UINT32_MAX;
    wmem_tree_key_t key[] = {{1, &frame}, {1, &any}, {1, &any}, {0, NULL}};

    return wmem_tree_lookup32_array_le(tcp->acked_table, key);
}

/* The frame of what was noted last up to `frame`; it is after `low`. Mostly it is near. */
static uint32_t frame_of_note(const struct tcp_analysis *tcp, uint32_t low, uint32_t frame)
{
    const struct tcp_acked *note = noted_until(tcp, frame);
    uint32_t high = frame;

    for (uint32_t step = 1; high - low > step && noted_until(tcp, high - step) == note; step *= 2) {
        high -= step;
    }
    while (high - low > 1) { /* noted at low: not; at high: yes */
        uint32_t middle = low + (high - low) / 2;
        bool is_there = noted_until(tcp, middle) == note;
        high = is_there ? middle : high;
        low = is_there ? low : middle;
    }
    return high;
}

/* The latest frame up to this one that tells of lost segments; what was looked through once is not again. Any segment after them shows
 * it, an acknowledgement too. */
static uint32_t latest_loss(rpc_transport *transport, const struct tcp_analysis *tcp, uint32_t frame)
{
    const struct tcp_acked *before = noted_until(tcp, transport->looked_until), *note;
    uint32_t at = frame;

    while (at > transport->looked_until && (note = noted_until(tcp, at)) != before) {
        at = frame_of_note(tcp, transport->looked_until, at);
        if (note->flags & WS_TCP_LOST_PACKET) {
            transport->lost = at;
            break;
        }
        at--;
    }
    transport->looked_until = frame;
    return transport->lost;
}

pref_t *pdus_preference(const char *module_name, const char *name)
{
    module_t *module = prefs_find_module(module_name);

    return module ? prefs_find_preference(module, name) : NULL;
}

static bool is_switched_off(const char *module, const char *name)
{
    pref_t *preference = pdus_preference(module, name);

    return preference && !prefs_get_bool_value(preference, pref_current);
}

/* TCP has looked the conversation up for this packet, and noted that; to do so again would take longer than all else that a sealed request does. */
static const struct tcp_analysis *analysis_of(rpc_transport *transport, packet_info *pinfo)
{
    if (transport->conversation == NULL || transport->conversation->last_frame != pinfo->num) {
        conversation_t *found = transport->conversation = find_conversation_pinfo(pinfo, 0);
        transport->tcp = found ? conversation_get_proto_data(found, proto_get_id_by_filter_name("tcp")) : NULL;
    }
    return transport->tcp;
}

/* After a frame, or some were cut short. */
static bool segments_are_missing(packet_info *pinfo, const rpc_connection *connection, uint32_t frame)
{
    const struct tcp_analysis *tcp = analysis_of(connection->transport, pinfo);

    return connection->transport->cut > frame || (tcp && latest_loss(connection->transport, tcp, pinfo->num) > frame);
}

/* A client may share its numbers among connections: a call was lost only where segments are missing after a frame, too, or what was captured
 * is not put together. Where the analysis is switched off it is unknown, and it may be (`unless_analysed`). */
static bool may_be_missing(packet_info *pinfo, const rpc_connection *connection, uint32_t frame, bool unless_analysed)
{
    const struct tcp_analysis *tcp = unless_analysed ? analysis_of(connection->transport, pinfo) : NULL;

    return is_switched_off("tcp", "desegment_tcp_streams") || is_switched_off("dcerpc", "desegment_dcerpc") ||
           (tcp && tcp->flow1.tcp_analyze_seq_info == NULL) || segments_are_missing(pinfo, connection, frame);
}

/* --- Calls ------------------------------------------------------------------------------------------------------- */

rpc_asked *pdus_find_call(const rpc_connection *connection, uint32_t call_id)
{
    if (connection->latest && connection->latest->call_id == call_id) {
        return connection->latest;
    }
    return connection->overtaken ? wmem_map_lookup(connection->overtaken, GUINT_TO_POINTER(call_id)) : NULL;
}

double pdus_seconds(const rpc_asked *call, const packet_info *pinfo)
{
    nstime_t elapsed;

    nstime_delta(&elapsed, &pinfo->abs_ts, &call->time);
    return pinfo->presence_flags & PINFO_HAS_TS ? nstime_to_sec(&elapsed) : -1;
}

/* Where it is not known which context it is, the first that was bound. */
static rpc_interface interface_of(const rpc_connection *connection, uint16_t context)
{
    unsigned bits = context == RPC_NO_CONTEXT ? connection->bound : connection_context(connection, context);
    rpc_interface interface = 0;

    while (interface < NUM_RPC_INTERFACES && !(bits & RPC_CONTEXT_OF(interface))) {
        interface++;
    }
    return interface;
}

const rpc_operation *pdus_operation(rpc_interface interface, uint16_t opnum)
{
    const rpc_operation *operation = interfaces[interface].operations;

    while (operation && operation->name && operation->opnum != opnum) {
        operation++;
    }
    return operation && operation->name ? operation : NULL;
}

/* Of one whose operation was not captured, or is none of PerflibV2's, what any does: none of winreg changes a query. */
static unsigned does(rpc_interface interface, uint16_t opnum)
{
    const rpc_operation *operation = pdus_operation(interface, opnum);
    unsigned any = interface == RPC_PERFLIB                           ? ~0U
                   : interface == RPC_WINREG && opnum == RPC_NO_OPNUM ? ~0U - RPC_CHANGES
                                                                      : 0;

    return operation ? operation->does : any;
}

static rpc_asked *begin_call(packet_info *pinfo, rpc_connection *connection, const rpc_header *header)
{
    rpc_asked *before = pdus_find_call(connection, header->call_id);
    bool is_second = before && before->waiting > 0 && !may_be_missing(pinfo, connection, before->frame, false);
    unsigned waiting = is_second ? before->waiting : 0;

    if (before == connection->latest && before) {
        before->waiting = 0;
    } else if (before) {
        wmem_map_remove(connection->overtaken, GUINT_TO_POINTER(header->call_id));
    }
    if (header->auth_level > 0) {
        connection->auth_level = header->auth_level;
    }
    rpc_asked *latest = connection->latest; /* mostly it is over, and this one takes its place */
    if (latest && latest->waiting > 0) {
        if (connection->overtaken == NULL) {
            connection->overtaken = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        }
        wmem_map_insert(connection->overtaken, GUINT_TO_POINTER(latest->call_id), latest);
    }
    if (latest == NULL || latest->waiting > 0) {
        latest = connection->latest = wmem_new(wmem_file_scope(), rpc_asked);
    }
    *latest = (rpc_asked){
        .connection = connection,
        .call_id = header->call_id,
        .interface = interface_of(connection, header->context),
        .opnum = header->opnum,
        .is_ndr64 = connection_context(connection, header->context) & RPC_CONTEXT_NDR64,
        .is_signed = header->auth_size > 0,
        .size = header->is_first && header->is_last ? header->size : 0,
        .waiting = waiting + 1,
        .is_ambiguous = is_second,
        .time = pinfo->abs_ts,
        .frame = pinfo->num,
    };
    latest->does = does(latest->interface, latest->opnum);
    return latest;
}

void pdus_note_unread(packet_info *pinfo, rpc_connection *connection, rpc_asked *call)
{
    connection_server(connection, pinfo, true);
    connection->unread_changes += (call->does & RPC_CHANGES) != 0;
}

/* All of a request went by that was captured. What ended unread may be read after all, out of order: it has a second event then, and the doubt
 * of the first stays. */
static void end_request(packet_info *pinfo, rpc_asked *call, bool is_read)
{
    call->is_read[0] = is_read;
    call->event = call->connection->event = state_event_next();
    if (!is_read) {
        pdus_note_unread(pinfo, call->connection, call);
    }
}

/* Who waits for answers goes on: what was under way is over. */
static void go_on(packet_info *pinfo, rpc_connection *connection)
{
    rpc_asked *latest = connection->latest;

    if (latest && latest->event == 0 && latest->waiting > 0) { /* its last fragment was not captured */
        end_request(pinfo, latest, false);
    }
}

/* Of a request that was read its operation is told. */
static void note_unread_answer(packet_info *pinfo, rpc_connection *connection, rpc_asked *call, rpc_answer answer)
{
    uint32_t event = state_event_next();

    connection->answer_event = event;
    if (call->record) {
        call_take_answer(call, pinfo, event, answer);
    }
}

/* --- PDUs -------------------------------------------------------------------------------------------------------- */

/* Some of a call's answer comes. */
static void note_begun(rpc_asked *call, const packet_info *pinfo)
{
    if (call->begun == 0 && call == call->connection->latest) {
        call->begun = pinfo->num;
    }
}

/* Up to which multiple some senders round what they say is still to come. */
#define LARGEST_PADDING 16

/* The next of a call's fragments. Each may say how much of the stub is still to come, what stands around it counted or not: where that changes by
 * another size, those between are not those that were sent. Where all say the same, their own size, or nothing, it tells nothing. One that is
 * not there whole is put together with no others. What a pipe's client has begun to read it reads to the end before its next request: else
 * the rest is another answer's, as it may be where segments are missing within it. */
static void take_fragment(const pdus_cursor *cursor, rpc_asked *call, const rpc_header *header)
{
    bool is_request = header->type == PDU_REQ;
    rpc_fragments *of = &call->fragments[!is_request];
    uint32_t hint = header->hint, stub = header->stub_size;
    bool is_late =
        header->type == PDU_RESP && call->begun > 0 && connection_is_pipe(call->connection) &&
        (call != call->connection->latest ||
         (call->begun < cursor->pinfo->num && segments_are_missing(cursor->pinfo, call->connection, call->begun)));
    rpc_fit fit = is_late ? RPC_TORN : RPC_FITS;

    if (header->type == PDU_FAULT || (header->is_first && header->is_last)) {
        *of = (rpc_fragments){.size = stub, .fit = fit};
        return;
    }
    if (header->is_first) {
        *of = (rpc_fragments){.is_again = of->is_open, .whole = hint > header->size ? hint : 0};
    } else if (!of->is_open) {
        fit = RPC_TORN;
    } else if (of->whole == 0 || hint == of->whole || hint == 0 ||
               (hint == stub && (!header->is_last || of->fit == RPC_MAY_FIT))) {
        fit = MAX(fit, RPC_MAY_FIT);
    } else if (hint >= of->next + LARGEST_PADDING || hint + of->around < of->next) {
        fit = RPC_TORN;
    }
    if (!is_request) {
        note_begun(call, cursor->pinfo);
    }
    of->is_open = !header->is_last;
    of->size += stub;
    of->next = hint > stub ? hint - stub : 0;
    of->around = header->size - stub;
    if (cursor->tvb && !tvb_bytes_exist(cursor->tvb, cursor->at - header->size, header->size)) {
        fit = RPC_TORN;
    }
    of->fit = MAX(of->fit, fit);
}

static rpc_asked *pass_request(const pdus_cursor *cursor, rpc_connection *connection, const rpc_header *header,
                               bool is_read)
{
    packet_info *pinfo = cursor->pinfo;
    rpc_asked *call = pdus_find_call(connection, header->call_id);
    rpc_header known = *header;

    known.is_first |= call == NULL && header->is_last; /* the first fragment was not captured */
    if (known.is_first) {
        go_on(pinfo, connection);
    }
    if (known.is_first) {
        call = begin_call(pinfo, connection, header);
    }
    if (call) {
        take_fragment(cursor, call, header);
    }
    if (call && (is_read ? !call->is_read[0] : header->is_last && call->event == 0)) {
        end_request(pinfo, call, is_read);
    }
    return call;
}

static rpc_asked *pass_answer(const pdus_cursor *cursor, rpc_connection *connection, const rpc_header *header,
                              bool is_read)
{
    packet_info *pinfo = cursor->pinfo;
    rpc_asked *call = pdus_find_call(connection, header->call_id);

    if (call) {
        take_fragment(cursor, call, header);
    }
    if (call == NULL || call->waiting == 0) {
        return NULL;
    }
    if (call->event == 0) {
        connection_server(connection, pinfo, false); /* before anybody takes this packet for a request */
        end_request(pinfo, call, false);
    }
    call->is_read[1] |= is_read;
    if (header->is_last) {
        call->waiting--;
        connection->overlaps |= call != connection->latest;
        if (!call->is_read[0] || !call->is_read[1] || call->is_ambiguous) {
            note_unread_answer(pinfo, connection, call,
                               header->type == PDU_FAULT ? RPC_FAULT
                               : call->is_read[1]        ? RPC_AMBIGUOUS
                                                         : RPC_UNREAD);
        }
    }
    return call;
}

static void pass_bind(const pdus_cursor *cursor, int at, const rpc_header *header)
{
    if (header->type == PDU_BIND) {
        connection_end(cursor->pinfo);
    }
    for (unsigned i = 0; i < NUM_RPC_INTERFACES; i++) {
        if (interfaces[i].uuid && interfaces[i].is_watched()) {
            connection_bind(cursor->pinfo, cursor->tvb, at, header, i, interfaces[i].uuid);
        }
    }
    rpc_connection *connection = connection_find(cursor->pinfo);
    if (connection) {
        connection->event = state_event_next();
    }
}

/* What stands at the cursor, and goes on behind it. NULL if it is of no call that is followed. */
static rpc_asked *pass(pdus_cursor *cursor, const rpc_header *header, bool is_read)
{
    packet_info *pinfo = cursor->pinfo;
    int at = cursor->at;
    rpc_connection *connection = cursor->connection ? cursor->connection : connection_find(pinfo);

    cursor->at += header->size;
    switch (header->type) {
    case PDU_REQ:
        return connection ? pass_request(cursor, connection, header, is_read) : NULL;
    case PDU_RESP:
    case PDU_FAULT:
        return connection ? pass_answer(cursor, connection, header, is_read) : NULL;
    case PDU_BIND:
    case PDU_ALTER:
        pass_bind(cursor, at, header);
        return NULL;
    case PDU_BIND_ACK:
    case PDU_ALTER_ACK:
        if (connection) {
            connection_read_challenge(pinfo, cursor->tvb, at, header);
        }
        return NULL;
    default:
        return NULL;
    }
}

/* --- Where they are handed over ----------------------------------------------------------------------------------- */

/* The first bytes of a message of SMB2 with that command; NULL if it is none, or fewer of it were captured. */
static const uint8_t *begins_message(tvbuff_t *tvb, uint8_t command, int size)
{
    const uint8_t *bytes = (int)tvb_captured_length(tvb) >= size ? tvb_get_ptr(tvb, 0, size) : NULL;

    return bytes && memcmp(bytes, "\xFESMB", 4) == 0 && bytes[SMB2_COMMAND_AT] == command ? bytes : NULL;
}

/* What fragments were put together to is handed over with the last; one that is put together with no others, alone. */
static bool is_handed_with(const rpc_header *header)
{
    return header->is_last || (header->is_first && is_switched_off("dcerpc", "reassemble_dcerpc"));
}

rpc_asked *pdus_reach_call(packet_info *pinfo, const dcerpc_info *di)
{
    rpc_header header;

    while (innermost && innermost->tvb && read_pdu_header(&header, innermost->tvb, innermost->at)) {
        bool is_it = header.type == di->ptype && header.call_id == di->call_id && is_handed_with(&header);
        bool is_next = innermost->handed == innermost->at;
        rpc_asked *call = pass(innermost, &header, is_it);
        if (is_it) {
            innermost->handed = is_next && call && !call->is_ambiguous ? innermost->at : innermost->handed;
            return call;
        }
    }
    connection_of(pinfo, di->ptype == PDU_REQ);
    pdus_cursor alone = {.pinfo = pinfo};
    header = (rpc_header){.type = di->ptype,
                          .is_first = true,
                          .is_last = true,
                          .call_id = di->call_id,
                          .context = RPC_NO_CONTEXT,
                          .opnum = di->call_data->opnum};
    return pass(&alone, &header, true);
}

/* What no operation was handed. One that is not all there may come again, put together. */
static void pass_pdus(pdus_cursor *cursor, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    int end = pinfo->desegment_len != 0 ? pinfo->desegment_offset : (int)tvb_captured_length(tvb);
    rpc_header header;
    bool any = false;

    for (int at = cursor->handed; at < end && read_pdu_header(&header, tvb, at); at += header.size) {
        if (cursor->tvb && at >= cursor->at) {
            pass(cursor, &header, false);
        }
        if ((header.is_last || header.auth_size > 0) && connections_exist()) {
            sealed_show_unread(tvb, pinfo, tree, at, &header, &any);
        }
    }
    bool is_within = cursor->outer != NULL; /* a message of SMB: only a pipe's client reads an answer bit by bit */
    if (cursor->tvb && pinfo->desegment_len != 0 && is_within && read_pdu_header(&header, tvb, end)) {
        rpc_connection *connection = connection_find(pinfo);
        rpc_asked *call = connection ? pdus_find_call(connection, header.call_id) : NULL;
        if (call && header.type == PDU_RESP) {
            note_begun(call, pinfo);
        }
    }
}

/* Which file a message of SMB2 says that it is of, of those that bring PDUs; else 0. */
static uint64_t file_of(tvbuff_t *tvb)
{
    const uint8_t *written = begins_message(tvb, SMB2_COM_WRITE, SMB2_WRITE_FILE_AT + 8);
    const uint8_t *controlled = begins_message(tvb, SMB2_COM_IOCTL, SMB2_IOCTL_FILE_AT + 8);

    return written      ? perf_le64(written + SMB2_WRITE_FILE_AT)
           : controlled ? perf_le64(controlled + SMB2_IOCTL_FILE_AT)
                        : 0;
}

/* What was handed over from a message of SMB2 is of its file. */
static void note_file(packet_info *pinfo, tvbuff_t *message)
{
    rpc_transport *transport = connections_exist() ? connection_transport(pinfo) : NULL;
    uint64_t file = transport ? file_of(message) : 0;
    rpc_connection *connection = file != 0 ? connection_find(pinfo) : NULL;

    if (connection && transport->files == NULL) {
        transport->files = wmem_map_new(wmem_file_scope(), wmem_int64_hash, g_int64_equal);
    }
    if (file != 0 && transport->files && wmem_map_lookup(transport->files, &file) != connection) {
        wmem_map_insert(transport->files, wmem_memdup(wmem_file_scope(), &file, sizeof file), connection);
    }
}

/* The connection whose pipe such a message is of; NULL if that is not known. */
static rpc_connection *connection_by_file(const rpc_transport *transport, tvbuff_t *message)
{
    uint64_t file = transport && transport->files ? file_of(message) : 0;

    return file != 0 ? wmem_map_lookup(transport->files, &file) : NULL;
}

/* Of FSCTL_PIPE_TRANSCEIVE that was cut short when it was captured Wireshark hands nothing over: where in the message it stands, 0 if it is
 * none. */
static int find_cut_input(tvbuff_t *tvb)
{
    const uint8_t *bytes = begins_message(tvb, SMB2_COM_IOCTL, SMB2_OUTPUT_AT + 4);
    bool is_answer = bytes && bytes[SMB2_FLAGS_AT] & SMB2_FLAGS_RESPONSE;

    return bytes ? (int)MIN(perf_le32(bytes + (is_answer ? SMB2_OUTPUT_AT : SMB2_INPUT_AT)), tvb_captured_length(tvb))
                 : 0;
}

/* Wireshark's heuristics: those for DCE/RPC over something see each PDU; and what is around them, for a message that was cut short when it
 * was captured Wireshark takes no PDU out of. */
#define WATCHED(X) \
    X(dcerpc_tcp, NULL) \
    X(dcerpc_smb2, data) \
    X(dcerpc_smb_transact, NULL) X(smb2_netbios, NULL) X(smb_netbios, NULL)

#define STOCK(name, smb) static heur_dissector_t stock_##name;
WATCHED(STOCK)

static ws_heuristic dissect_transport(heur_dissector_t stock, const smb2_info_t *smb, tvbuff_t *tvb, packet_info *pinfo,
                                      proto_tree *tree, void *data)
{
    bool is_seen = PINFO_FD_VISITED(pinfo), is_cut = tvb_captured_length(tvb) < tvb_reported_length(tvb);
    rpc_transport *transport = is_cut && !is_seen ? connection_transport(pinfo) : NULL;
    pdus_cursor cursor = {is_seen ? NULL : tvb, pinfo, 0, 0, NULL, innermost};
    volatile ws_heuristic result = true;

    if (transport) {
        transport->cut = pinfo->num;
    }
    if (innermost) {
        innermost->at = 1; /* its message was handed over */
    }
    innermost = &cursor;
    TRY
    {
        result = stock(tvb, pinfo, tree, data);
    }
    FINALLY /* what was cut short when it was captured says in its header what it was */
    {
        innermost = cursor.outer;
        if (is_cut && cursor.at == 0) {
            cursor.connection = connection_by_file(transport, tvb);
            cursor.at = cursor.handed = PINFO_FD_VISITED(pinfo) || cursor.connection ? find_cut_input(tvb) : 0;
        }
        if (smb && innermost && innermost->tvb) {
            note_file(pinfo, innermost->tvb);
        }
        if (result) {
            pass_pdus(&cursor, tvb, pinfo, tree);
        }
    }
    ENDTRY;
    return result;
}

#define WATCH(name, smb) \
    static ws_heuristic watch_##name(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data) \
    { \
        return dissect_transport(stock_##name, smb, tvb, pinfo, tree, data); \
    }

WATCHED(WATCH)

#define INSTALL(name, smb) install(#name, &stock_##name, watch_##name);

static void install(const char *name, heur_dissector_t *stock, heur_dissector_t watched)
{
    heur_dtbl_entry_t *entry = find_heur_dissector_by_unique_short_name(name);

    if (entry && entry->dissector != watched) {
        *stock = entry->dissector;
        entry->dissector = watched;
    }
}

void pdus_watch(rpc_interface interface, const pdus_interface *what)
{
    interfaces[interface] = *what;
    WATCHED(INSTALL)
}
