/* connections.c
 * Connections, and how a client comes to an interface.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/connections.h"

#include <epan/to_str.h>

static rpc_watched_interface interfaces[NUM_RPC_INTERFACES + 1]; /* the mapper's and another's have no operations */

static const e_guid_t uuid_mapper = {0xe1af8308, 0x5d1f, 0x11c9, {0x91, 0xa4, 0x08, 0x00, 0x2b, 0x14, 0xa0, 0xfa}};

double rpc_seconds_since(const nstime_t *request_time, const packet_info *pinfo)
{
    nstime_t elapsed;

    nstime_delta(&elapsed, &pinfo->abs_ts, request_time);
    return pinfo->presence_flags & PINFO_HAS_TS ? nstime_to_sec(&elapsed) : -1;
}

const rpc_operation *rpc_find_operation(rpc_interface iface, uint16_t opnum)
{
    const rpc_operation *operation = interfaces[iface].operations;

    while (operation && operation->name && operation->opnum != opnum) {
        operation++;
    }
    return operation && operation->name ? operation : NULL;
}

/* Returns the interface of a UUID; NUM_RPC_INTERFACES: it is another, or its protocol is disabled in Wireshark. */
static rpc_interface find_interface(const e_guid_t *uuid)
{
    rpc_interface i = 0;

    while (i < RPC_MAPPER && !(memcmp(uuid, interfaces[i].uuid, sizeof *uuid) == 0 && interfaces[i].is_watched())) {
        i++;
    }
    return i < RPC_MAPPER || memcmp(uuid, &uuid_mapper, sizeof *uuid) == 0 ? i : NUM_RPC_INTERFACES;
}

/* --- Headers ----------------------------------------------------------------------------------------------------- */

/* pfc_flags ([C706] 12.6.3.1), and bytes of the UUID that a request with FLAG_OBJECT has in front of its stub. */
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
        .tvb = tvb,
        .at = at,
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
    if (header->auth_size > 0 && trailer >= RPC_COMMON_HEADER_SIZE &&
        tvb_bytes_exist(tvb, at + trailer, RPC_TRAILER_SIZE + 2)) {
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
    return conversation_get_proto_data(find_or_create_conversation(pinfo), proto_connections);
}

rpc_connection *rpc_find_connection(packet_info *pinfo)
{
    wmem_map_t *pipes = find_pipes(pinfo);
    uint64_t pipe = dcerpc_get_transport_salt(pinfo);

    return pipes ? wmem_map_lookup(pipes, &pipe) : NULL;
}

rpc_connection *rpc_connection_find_or_create(packet_info *pinfo)
{
    wmem_map_t *pipes = find_pipes(pinfo);
    uint64_t pipe = dcerpc_get_transport_salt(pinfo);
    rpc_connection *connection = pipes ? wmem_map_lookup(pipes, &pipe) : NULL;

    if (connection == NULL) {
        connection = wmem_new0(wmem_file_scope(), rpc_connection);
        connection->pipe = pipe;
        connection->server = server_find_or_create(address_to_str(pinfo->pool, &pinfo->dst));
        connection->contexts = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        connection->pending = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        if (pipes == NULL) {
            pipes = wmem_map_new(wmem_file_scope(), wmem_int64_hash, g_int64_equal);
            conversation_add_proto_data(find_or_create_conversation(pinfo), proto_connections, pipes);
        }
        wmem_map_insert(pipes, &connection->pipe, connection);
    }
    return connection;
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

/* Reads a bind's contexts as far as they were captured; is_ndr64 is said by the first transfer syntax alone. Returns their number. Changes: `contexts`. */
static unsigned read_contexts(rpc_context contexts[UINT8_MAX], const rpc_header *header)
{
    tvbuff_t *tvb = header->tvb;
    int at = header->at + CONTEXTS_AT;
    unsigned said = tvb_get_uint8(tvb, at - 4), count = 0;

    while (count < said && tvb_bytes_exist(tvb, at, CONTEXT_SIZE + SYNTAX_SIZE)) {
        e_guid_t bound, syntax;
        tvb_get_guid(tvb, at + 4, &bound, header->order);
        tvb_get_guid(tvb, at + CONTEXT_SIZE, &syntax, header->order);
        contexts[count++] = (rpc_context){.number = tvb_get_uint16(tvb, at, header->order),
                                          .iface = find_interface(&bound),
                                          .is_ndr64 = memcmp(&syntax, &ndr64, sizeof syntax) == 0};
        at += CONTEXT_SIZE + tvb_get_uint8(tvb, at + 2) * SYNTAX_SIZE;
    }
    return count;
}

bool rpc_add_bind(packet_info *pinfo, const rpc_header *header, call_tap_data *call)
{
    rpc_connection *connection = rpc_find_connection(pinfo);
    rpc_context offered[UINT8_MAX];
    unsigned count = read_contexts(offered, header);
    rpc_interface foremost = NUM_RPC_INTERFACES;

    for (unsigned i = 0; i < count; i++) {
        foremost = MIN(foremost, offered[i].iface);
    }
    if (connection && header->type == PDU_BIND) {
        wmem_map_remove(find_pipes(pinfo), &connection->pipe);
        connection = NULL;
    }
    if (connection == NULL && foremost == NUM_RPC_INTERFACES) {
        return false;
    }
    connection = rpc_connection_find_or_create(pinfo);
    connection->offered = wmem_memdup(wmem_file_scope(), offered, count * sizeof offered[0]);
    connection->num_offered = count;
    for (unsigned i = 0; i < count; i++) {
        wmem_map_insert(connection->contexts, GUINT_TO_POINTER(offered[i].number), &connection->offered[i]);
    }
    *call = (call_tap_data){.operation = "Bind", .is_hkpd = foremost == RPC_WINREG};
    return foremost < RPC_MAPPER;
}

bool rpc_add_bind_answer(rpc_connection *connection, const rpc_header *header, call_tap_data *call)
{
    tvbuff_t *tvb = header->tvb;
    bool is_nak = header->type == PDU_BIND_NAK;
    int address = is_nak ? 0 : tvb_get_uint16(tvb, header->at + ADDRESS_AT, header->order);
    int at = header->at + (ADDRESS_AT + 2 + address + 3) / 4 * 4 + 4;
    rpc_interface foremost = NUM_RPC_INTERFACES;
    uint32_t reason = 0;
    bool is_accepted = false;

    for (unsigned i = 0; i < connection->num_offered; i++, at += RESULT_SIZE) {
        rpc_context *context = &connection->offered[i];
        bool is_there = !is_nak && tvb_bytes_exist(tvb, at, 4);
        bool is_ours = context->iface != NUM_RPC_INTERFACES;
        foremost = MIN(foremost, context->iface);
        if (is_nak || (is_there && tvb_get_uint16(tvb, at, header->order) != 0)) {
            reason = is_nak || !is_ours || reason ? reason : tvb_get_uint16(tvb, at + 2, header->order);
            context->iface = NUM_RPC_INTERFACES;
        }
        is_accepted |= context->iface != NUM_RPC_INTERFACES;
    }
    connection->num_offered = 0;
    *call = (call_tap_data){.operation = "Bind",
                            .is_hkpd = foremost == RPC_WINREG,
                            .is_response = true,
                            .is_fault = is_nak,
                            .has_failed = !is_accepted,
                            .status = is_accepted ? 0 : reason};
    return foremost < RPC_MAPPER;
}

/* --- The endpoint mapper ------------------------------------------------------------------------------------------ */

/* [C706] appendix O: how a tower's floor of an interface begins. */
#define FLOOR_OF_INTERFACE "\x13\0\x0D"
#define FLOOR_SIZE 3

bool rpc_asks_mapper(tvbuff_t *tvb, int at, int end)
{
    e_guid_t uuid;

    for (; at + FLOOR_SIZE + (int)sizeof uuid <= end; at++) {
        if (tvb_memeql(tvb, at, (const uint8_t *)FLOOR_OF_INTERFACE, FLOOR_SIZE) == 0) {
            tvb_get_letohguid(tvb, at + FLOOR_SIZE, &uuid);
            if (find_interface(&uuid) < RPC_MAPPER) {
                return true;
            }
        }
    }
    return false;
}

/* --- Registration ------------------------------------------------------------------------------------------------- */

void rpc_watch_interface(rpc_interface iface, const rpc_watched_interface *watched)
{
    interfaces[iface] = *watched;
}

void rpc_connections_register(int proto)
{
    proto_connections = proto;
}
