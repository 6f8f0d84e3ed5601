/* connections.c
 * Connections and their calls, by the headers of PDUs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/connections.h"

#include <epan/to_str.h>

static rpc_watched_interface interfaces[RPC_MAPPER];

static const e_guid_t uuid_mapper = {0xe1af8308, 0x5d1f, 0x11c9, {0x91, 0xa4, 0x08, 0x00, 0x2b, 0x14, 0xa0, 0xfa}};

double rpc_seconds_since(const nstime_t *request_time, const packet_info *pinfo)
{
    nstime_t elapsed;

    nstime_delta(&elapsed, &pinfo->abs_ts, request_time);
    return pinfo->presence_flags & PINFO_HAS_TS ? nstime_to_sec(&elapsed) : -1;
}

const rpc_operation *rpc_find_operation(rpc_interface interface, uint16_t opnum)
{
    const rpc_operation *operation = interface < RPC_MAPPER ? interfaces[interface].operations : NULL;

    while (operation && operation->name && operation->opnum != opnum) {
        operation++;
    }
    return operation && operation->name ? operation : NULL;
}

/* Returns the interface of a UUID; NUM_RPC_INTERFACES: it is another, or its protocol is disabled in Wireshark. */
static rpc_interface find_interface(const e_guid_t *uuid)
{
    rpc_interface i = 0;

    while (i < RPC_MAPPER &&
           !(interfaces[i].uuid && memcmp(uuid, interfaces[i].uuid, sizeof *uuid) == 0 && interfaces[i].is_watched())) {
        i++;
    }
    return i < RPC_MAPPER || memcmp(uuid, &uuid_mapper, sizeof *uuid) == 0 ? i : NUM_RPC_INTERFACES;
}

/* --- Headers ----------------------------------------------------------------------------------------------------- */

#define FLAG_FIRST 0x01
#define FLAG_LAST 0x02
#define FLAG_OBJECT 0x80
#define OBJECT_SIZE 16

bool rpc_header_read(rpc_header *header, tvbuff_t *tvb, int at)
{
    bool is_there = tvb_bytes_exist(tvb, at, RPC_COMMON_HEADER_SIZE) && tvb_get_uint8(tvb, at) == 5;

    if (!is_there) {
        return false;
    }
    unsigned order = tvb_get_uint8(tvb, at + 4) >> 4 == 1 ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN;
    uint8_t type = tvb_get_uint8(tvb, at + 2), flags = tvb_get_uint8(tvb, at + 3);
    bool is_whole = tvb_bytes_exist(tvb, at, RPC_HEADER_SIZE), is_request = type == PDU_REQ;
    *header = (rpc_header){
        .order = order,
        .type = type,
        .is_first = flags & FLAG_FIRST,
        .is_last = flags & FLAG_LAST,
        .size = tvb_get_uint16(tvb, at + 8, order),
        .auth_size = tvb_get_uint16(tvb, at + 10, order),
        .call_id = tvb_get_uint32(tvb, at + 12, order),
        .hint = is_whole ? tvb_get_uint32(tvb, at + 16, order) : 0,
        .context = is_whole ? tvb_get_uint16(tvb, at + 20, order) : RPC_NO_CONTEXT,
        .opnum = is_whole && is_request ? tvb_get_uint16(tvb, at + 22, order) : RPC_NO_OPNUM,
    };
    int trailer = header->size - header->auth_size - RPC_TRAILER_SIZE, end = header->size;
    if (header->auth_size > 0 && trailer >= RPC_COMMON_HEADER_SIZE && tvb_bytes_exist(tvb, at + trailer, 3)) {
        header->auth_level = tvb_get_uint8(tvb, at + trailer + 1);
        end = trailer - tvb_get_uint8(tvb, at + trailer + 2);
    }
    end -= RPC_HEADER_SIZE + (is_request && flags & FLAG_OBJECT ? OBJECT_SIZE : 0);
    header->stub_size = (uint16_t)MAX(end, 0);
    return header->size >= RPC_COMMON_HEADER_SIZE;
}

/* --- Connections ------------------------------------------------------------------------------------------------- */

static int proto_connections; /* whose data of a conversation is a map: number of a named pipe -> rpc_connection */

/* Returns the connections of the packet's conversation by their pipes; NULL: it has none. */
static wmem_map_t *find_pipes(packet_info *pinfo)
{
    const conversation_t *conversation = find_conversation_pinfo(pinfo, 0);

    return conversation ? conversation_get_proto_data(conversation, proto_connections) : NULL;
}

rpc_connection *rpc_find_connection(packet_info *pinfo)
{
    wmem_map_t *pipes = find_pipes(pinfo);
    uint64_t pipe = dcerpc_get_transport_salt(pinfo);

    return pipes ? wmem_map_lookup(pipes, &pipe) : NULL;
}

rpc_connection *rpc_connection_find_or_create(packet_info *pinfo, bool is_request)
{
    rpc_connection *connection = rpc_find_connection(pinfo);
    wmem_map_t *pipes = find_pipes(pinfo);

    if (connection == NULL) {
        connection = wmem_new0(wmem_file_scope(), rpc_connection);
        connection->pipe = dcerpc_get_transport_salt(pinfo);
        connection->server = server_find_or_create(address_to_str(pinfo->pool, is_request ? &pinfo->dst : &pinfo->src));
        connection->contexts = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        connection->offered = wmem_array_new(wmem_file_scope(), sizeof(uint16_t));
        connection->pending = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        connection->handed = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        if (pipes == NULL) {
            pipes = wmem_map_new(wmem_file_scope(), wmem_int64_hash, g_int64_equal);
            conversation_add_proto_data(find_or_create_conversation(pinfo), proto_connections, pipes);
        }
        wmem_map_insert(pipes, &connection->pipe, connection);
    }
    return connection;
}

/* --- PDUs that are kept ------------------------------------------------------------------------------------------- */

static wmem_map_t *kept_pdus; /* rpc_kept_pdu, by its key; emptied with the file */

static unsigned kept_hash(const void *key)
{
    return wmem_strong_hash(key, sizeof(rpc_pdu_key));
}

static gboolean kept_equal(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(rpc_pdu_key)) == 0;
}

void rpc_keep_pdu(packet_info *pinfo, const rpc_header *header, rpc_kept_pdu *kept)
{
    kept->key = (rpc_pdu_key){dcerpc_get_transport_salt(pinfo), header->type, header->call_id, pinfo->num};
    wmem_map_insert(kept_pdus, &kept->key, kept);
}

rpc_kept_pdu *rpc_find_kept_pdu(packet_info *pinfo, const rpc_header *header)
{
    const rpc_pdu_key key = {dcerpc_get_transport_salt(pinfo), header->type, header->call_id, pinfo->num};

    return header->is_last ? wmem_map_lookup(kept_pdus, &key) : NULL;
}

/* Keeps a copy of a call "Bind" or "Map". */
static void keep_setup_call(packet_info *pinfo, const rpc_header *header, const call_tap_data *tapped)
{
    rpc_kept_pdu *kept = wmem_new(wmem_file_scope(), rpc_kept_pdu);

    *kept = (rpc_kept_pdu){.is_setup = true, .tapped = *tapped};
    rpc_keep_pdu(pinfo, header, kept);
}

/* --- Binds ------------------------------------------------------------------------------------------------------- */

/* A bind's list of contexts: id, number of transfer syntaxes, interface, syntaxes; and its answer: the secondary address, then results with
 * their reasons, in the order of the contexts ([C706] 12.6.4.3 and 12.6.4.4). */
#define CONTEXTS_AT 28
#define CONTEXT_SIZE 24
#define SYNTAX_SIZE 20
#define ADDRESS_AT 24
#define RESULT_SIZE 24

static const e_guid_t ndr64 = {0x71710533, 0xbeba, 0x4937, {0x83, 0x19, 0xb5, 0xdb, 0xef, 0x9c, 0xcc, 0x36}};

/* A context as it is kept: 0 if it was refused or is of another interface; else its rpc_interface plus 1, and this bit for NDR64. */
#define CONTEXT_NDR64 0x100U

/* Returns what is kept of a context id; 0: it was refused, is of another interface, or was not captured. */
static unsigned find_context(const rpc_connection *connection, uint16_t number)
{
    return GPOINTER_TO_UINT(wmem_map_lookup(connection->contexts, GUINT_TO_POINTER(number)));
}

static rpc_interface context_interface(unsigned context)
{
    return context != 0 ? (rpc_interface)((context & ~CONTEXT_NDR64) - 1) : NUM_RPC_INTERFACES;
}

/* Adds a bind, which begins a connection, or an alter_context, which goes on with one. Keeps the interface of each context, by its first syntax, and
 * a call "Bind" if one is PerflibV2 or winreg. Changes: creates a connection for a watched interface alone. */
static void add_bind(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header)
{
    rpc_connection *connection = rpc_find_connection(pinfo);
    wmem_array_t *offered = wmem_array_sized_new(wmem_file_scope(), sizeof(uint16_t), 2);
    rpc_interface first = NUM_RPC_INTERFACES;
    int at = offset + CONTEXTS_AT, end = offset + header->size;
    unsigned count = tvb_bytes_exist(tvb, at - 4, 1) ? tvb_get_uint8(tvb, at - 4) : 0;

    if (connection && header->type == PDU_BIND) {
        wmem_map_remove(find_pipes(pinfo), &connection->pipe);
        connection = NULL;
    }
    for (; count > 0 && at + CONTEXT_SIZE + SYNTAX_SIZE <= end; count--) {
        if (!tvb_bytes_exist(tvb, at, CONTEXT_SIZE + SYNTAX_SIZE)) {
            break;
        }
        uint16_t number = tvb_get_uint16(tvb, at, header->order);
        e_guid_t bound, syntax;
        tvb_get_guid(tvb, at + 4, &bound, header->order);
        tvb_get_guid(tvb, at + CONTEXT_SIZE, &syntax, header->order);
        rpc_interface interface = find_interface(&bound);
        unsigned context = interface == NUM_RPC_INTERFACES ? 0 : interface + 1;
        if (context != 0) {
            context |= memcmp(&syntax, &ndr64, sizeof syntax) == 0 ? CONTEXT_NDR64 : 0;
            connection = rpc_connection_find_or_create(pinfo, /* is_request */ true);
        }
        if (connection) {
            wmem_map_insert(connection->contexts, GUINT_TO_POINTER(number), GUINT_TO_POINTER(context));
        }
        first = MIN(first, interface);
        wmem_array_append_one(offered, number);
        at += CONTEXT_SIZE + tvb_get_uint8(tvb, at + 2) * SYNTAX_SIZE;
    }
    if (connection == NULL) {
        wmem_destroy_array(offered);
        return;
    }
    wmem_destroy_array(connection->offered);
    connection->offered = offered;
    connection->is_binding = true;
    if (first < RPC_MAPPER) {
        keep_setup_call(pinfo, header, &(call_tap_data){.operation = "Bind", .is_hkpd = first == RPC_WINREG});
    }
}

/* Adds the answer to a bind or alter_context: forgets contexts that are refused, keeps the first answer to a call "Bind", failed if each context of
 * a followed interface is refused (a bind_nak refuses all; not captured: accepted). Changes: `is_binding`. */
static void add_bind_answer(rpc_connection *connection, packet_info *pinfo, tvbuff_t *tvb, int offset,
                            const rpc_header *header)
{
    bool is_nak = header->type == PDU_BIND_NAK, has_address = !is_nak && tvb_bytes_exist(tvb, offset + ADDRESS_AT, 2);
    int address = has_address ? tvb_get_uint16(tvb, offset + ADDRESS_AT, header->order) : 0;
    int at = offset + (ADDRESS_AT + 2 + address + 3) / 4 * 4 + 4;
    unsigned results = has_address && tvb_bytes_exist(tvb, at - 4, 1) ? tvb_get_uint8(tvb, at - 4) : 0;
    rpc_interface first = NUM_RPC_INTERFACES;
    uint32_t reason = 0;
    bool is_accepted = false;

    for (unsigned i = 0; i < wmem_array_get_count(connection->offered); i++, at += RESULT_SIZE) {
        uint16_t number = *(uint16_t *)wmem_array_index(connection->offered, i);
        unsigned context = find_context(connection, number);
        bool is_there = i < results && at + 4 <= offset + header->size && tvb_bytes_exist(tvb, at, 4);
        bool is_refused = is_nak || (is_there && tvb_get_uint16(tvb, at, header->order) != 0);
        if (context != 0 && is_refused) {
            reason = reason || is_nak ? reason : tvb_get_uint16(tvb, at + 2, header->order);
            wmem_map_insert(connection->contexts, GUINT_TO_POINTER(number), NULL);
        }
        is_accepted |= context != 0 && !is_refused;
        first = MIN(first, context_interface(context));
    }
    if (first < RPC_MAPPER && connection->is_binding) {
        keep_setup_call(pinfo, header,
                        &(call_tap_data){.operation = "Bind",
                                         .is_hkpd = first == RPC_WINREG,
                                         .is_response = true,
                                         .is_fault = is_nak,
                                         .has_failed = !is_accepted,
                                         .status = is_accepted ? 0 : reason});
        connection->is_binding = false;
    }
}

/* --- The endpoint mapper ------------------------------------------------------------------------------------------ */

/* [C706] appendix O: how a tower's floor of an interface begins. */
#define FLOOR_OF_INTERFACE "\x13\0\x0D"
#define EPT_MAP 3
#define HANDLE_IN_MAPPED 20

/* Searches the bytes from `at` to `end` for a floor. Returns the offset of its interface; -1: none is there. */
static int find_floor(tvbuff_t *tvb, int at, int end)
{
    const uint8_t *bytes = end > at ? tvb_get_ptr(tvb, at, end - at) : NULL;

    for (int i = 0; i + 3 <= end - at; i++) {
        if (memcmp(bytes + i, FLOOR_OF_INTERFACE, 3) == 0) {
            return at + i + 3;
        }
    }
    return -1;
}

/* Adds a fragment of a request to the endpoint mapper. Changes: if it asks for PerflibV2 or winreg, `is_mapping`, and a call "Map" is kept. */
static void add_map_request(packet_info *pinfo, tvbuff_t *tvb, int offset, int end, const rpc_header *header,
                            rpc_pending_call *pending)
{
    int at = pending->opnum == EPT_MAP ? offset + RPC_HEADER_SIZE : end;

    while (!pending->is_mapping && (at = find_floor(tvb, at, end)) >= 0 && at + 16 <= end) {
        e_guid_t uuid;
        tvb_get_letohguid(tvb, at, &uuid);
        rpc_interface interface = find_interface(&uuid);
        pending->is_mapping = interface < RPC_MAPPER;
        if (pending->is_mapping) {
            keep_setup_call(pinfo, header, &(call_tap_data){.operation = "Map", .is_hkpd = interface == RPC_WINREG});
        }
    }
}

/* Keeps a fragment of the endpoint mapper's answer, of a call "Map": failed by a fault, or if its status, the last 4 bytes, is not 0. Too short or
 * cut: not failed. Needs: `is_mapping`. */
static void add_mapper_answer(packet_info *pinfo, tvbuff_t *tvb, int offset, int end, const rpc_header *header)
{
    bool is_fault = header->type == PDU_FAULT, is_whole = end - offset == RPC_HEADER_SIZE + header->stub_size;
    bool is_read = is_whole && header->stub_size >= HANDLE_IN_MAPPED + 4;

    keep_setup_call(
        pinfo, header,
        &(call_tap_data){.operation = "Map",
                         .is_response = true,
                         .is_fault = is_fault,
                         .has_failed = is_fault || (is_read && tvb_get_uint32(tvb, end - 4, header->order) != 0)});
}

/* --- Requests and responses -------------------------------------------------------------------------------------- */

/* Returns what an operation was handed is found by, until the header is read. */
static void *handed_key(uint32_t call_id, bool is_response)
{
    return GSIZE_TO_POINTER((size_t)call_id << 1 | is_response);
}

void rpc_note_handed(rpc_connection *connection, const dcerpc_info *di, struct rpc_call *call)
{
    wmem_map_insert(connection->handed, handed_key(di->call_id, di->ptype != PDU_REQ), call);
}

/* Adds a fragment of a request; the first begins the call. Returns the call; NULL: its first fragment was not seen. */
static rpc_pending_call *add_request(packet_info *pinfo, rpc_connection *connection, const rpc_header *header)
{
    void *key = GUINT_TO_POINTER(header->call_id);
    rpc_pending_call *pending = wmem_map_lookup(connection->pending, key);

    if (header->is_first) {
        unsigned context = find_context(connection, header->context);
        bool is_new = pending == NULL;
        pending = is_new ? wmem_new(wmem_file_scope(), rpc_pending_call) : pending;
        *pending = (rpc_pending_call){.interface = context_interface(context),
                                      .opnum = header->opnum,
                                      .is_ndr64 = context & CONTEXT_NDR64,
                                      .time = pinfo->abs_ts,
                                      .frame = pinfo->num,
                                      .hint = {header->hint > header->size ? header->hint : 0, RPC_NO_HINT}};
        if (is_new) {
            wmem_map_insert(connection->pending, key, pending);
        }
    }
    return pending;
}

/* Returns the call of a response or fault; NULL: its request was not seen. Changes: its first fragment begins the response. */
static rpc_pending_call *find_answered(const rpc_connection *connection, const rpc_header *header)
{
    rpc_pending_call *pending = wmem_map_lookup(connection->pending, GUINT_TO_POINTER(header->call_id));

    if (pending && header->is_first) {
        pending->hint[1] = header->hint > header->size ? header->hint : 0;
        pending->size[1] = 0;
    }
    return pending;
}

/* True of a request that may be a ValidateCounters, and that no operation got. */
static bool is_unread_change(const rpc_pending_call *pending)
{
    const rpc_operation *operation = rpc_find_operation(pending->interface, pending->opnum);
    bool may_change = operation ? operation->flags & RPC_CHANGES
                                : pending->interface == RPC_PERFLIB; /* an operation that was not captured */

    return may_change && pending->handed[0] == NULL;
}

bool rpc_connection_add_pdu(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header,
                            rpc_unread_function unread)
{
    bool is_request = header->type == PDU_REQ, is_answer = header->type == PDU_RESP || header->type == PDU_FAULT;
    int end = at + MIN(RPC_HEADER_SIZE + header->stub_size, tvb_captured_length_remaining(tvb, at));

    if (header->type == PDU_BIND || header->type == PDU_ALTER) {
        add_bind(pinfo, tvb, at, header);
    }
    rpc_connection *connection = rpc_find_connection(pinfo);
    if (connection == NULL) {
        return false;
    }
    if (header->type == PDU_BIND_ACK || header->type == PDU_ALTER_ACK || header->type == PDU_BIND_NAK) {
        add_bind_answer(connection, pinfo, tvb, at, header);
        return true;
    }
    if (header->auth_level > 0 && !is_answer) {
        connection->auth_level = header->auth_level;
    }
    if (!is_request && !is_answer) {
        return true;
    }
    struct rpc_call *handed = wmem_map_remove(connection->handed, handed_key(header->call_id, is_answer));
    rpc_pending_call *pending = is_request ? add_request(pinfo, connection, header) : find_answered(connection, header);
    if (pending == NULL) {
        return true;
    }
    pending->size[is_answer] += header->stub_size;
    pending->handed[is_answer] = handed ? handed : pending->handed[is_answer];
    if (is_request && header->is_last && is_unread_change(pending)) {
        connection->unread_change = pinfo->num;
    }
    if (pending->interface == RPC_MAPPER && is_request) {
        add_map_request(pinfo, tvb, at, end, header, pending);
    } else if (pending->is_mapping) {
        add_mapper_answer(pinfo, tvb, at, end, header);
    } else if (header->is_last) {
        unread(pinfo, connection, pending, header, tvb, at);
    }
    if (is_answer && header->is_last) {
        wmem_map_remove(connection->pending, GUINT_TO_POINTER(header->call_id));
        wmem_free(wmem_file_scope(), pending);
    }
    return true;
}

/* --- Registration ------------------------------------------------------------------------------------------------- */

void rpc_watch_interface(rpc_interface interface, const rpc_watched_interface *watched)
{
    interfaces[interface] = *watched;
}

void rpc_connections_register(int proto)
{
    proto_connections = proto;
    kept_pdus = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), kept_hash, kept_equal);
}
