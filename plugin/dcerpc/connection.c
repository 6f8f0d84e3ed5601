/* connection.c
 * Connections between two ends.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/connection.h"

#include <epan/dissectors/packet-dcerpc.h>

#include "perf/bytes.h"
#include "text/text.h"

/* A bind's list of contexts: id, number of transfer syntaxes, interface, syntaxes ([C706] 12.6.4.3). */
#define CONTEXTS_AT 28
#define CONTEXT_SIZE 24
#define SYNTAX_SIZE 20

static const e_guid_t ndr64 = {0x71710533, 0xbeba, 0x4937, {0x83, 0x19, 0xb5, 0xdb, 0xef, 0x9c, 0xcc, 0x36}};

/* emptied with the file */
static wmem_map_t *transports;  /* rpc_transport, as its own key: both ends */
static wmem_map_t *connections; /* rpc_connection, as its own key: transport and pipe */

static rpc_connection *last; /* that was found: mostly the next PDU's, too */

/* --- Transports ------------------------------------------------------------------------------------------------- */

static unsigned hash_end(const rpc_transport *transport, int end)
{
    const address *addr = &transport->ends[end];

    return wmem_strong_hash(addr->data, (size_t)addr->len) ^ transport->ports[end] * 0x9E3779B1U;
}

/* The same from either end. */
static unsigned transport_hash(const void *transport)
{
    return hash_end(transport, 0) + hash_end(transport, 1);
}

/* Its ends are these two, `from` and the other. */
static inline bool goes(const rpc_transport *transport, int from, const address *source, uint32_t source_port,
                        const address *target, uint32_t target_port)
{
    return transport->ports[from] == source_port && transport->ports[1 - from] == target_port &&
           addresses_equal(&transport->ends[from], source) && addresses_equal(&transport->ends[1 - from], target);
}

static gboolean transport_equal(const void *a, const void *b)
{
    const rpc_transport *one = a, *other = b;

    return goes(other, 0, &one->ends[0], one->ports[0], &one->ends[1], one->ports[1]) ||
           goes(other, 1, &one->ends[0], one->ports[0], &one->ends[1], one->ports[1]);
}

rpc_transport *connection_transport(const packet_info *pinfo)
{
    if (last && (goes(last->transport, 0, &pinfo->src, pinfo->srcport, &pinfo->dst, pinfo->destport) ||
                 goes(last->transport, 1, &pinfo->src, pinfo->srcport, &pinfo->dst, pinfo->destport))) {
        return last->transport;
    }
    const rpc_transport key = {.ends = {pinfo->src, pinfo->dst}, .ports = {pinfo->srcport, pinfo->destport}};
    return wmem_map_lookup(transports, &key);
}

static rpc_transport *find_or_create_transport(const packet_info *pinfo)
{
    rpc_transport *transport = connection_transport(pinfo);

    if (transport == NULL) {
        transport = wmem_new0(wmem_file_scope(), rpc_transport);
        transport->ports[0] = pinfo->srcport;
        transport->ports[1] = pinfo->destport;
        copy_address_wmem(wmem_file_scope(), &transport->ends[0], &pinfo->src);
        copy_address_wmem(wmem_file_scope(), &transport->ends[1], &pinfo->dst);
        wmem_map_insert(transports, transport, transport);
    }
    return transport;
}

/* --- By their ends --------------------------------------------------------------------------------------------- */

static unsigned connection_hash(const void *key)
{
    const rpc_connection *connection = key;
    const uint64_t parts[] = {(uintptr_t)connection->transport, connection->pipe};

    return wmem_strong_hash((const uint8_t *)parts, sizeof parts);
}

static gboolean connection_equal(const void *a, const void *b)
{
    const rpc_connection *x = a, *y = b;

    return x->transport == y->transport && x->pipe == y->pipe;
}

rpc_connection *connection_find(packet_info *pinfo)
{
    rpc_connection key; /* of which two members are looked at */

    if (!connections_exist()) {
        return NULL;
    }
    key.transport = connection_transport(pinfo);
    key.pipe = dcerpc_get_transport_salt(pinfo);
    bool is_last = last && connection_equal(last, &key);
    rpc_connection *found = is_last ? last : key.transport ? wmem_map_lookup(connections, &key) : NULL;
    last = found ? found : last;
    return found;
}

rpc_connection *connection_of(packet_info *pinfo, bool is_request)
{
    rpc_transport *transport = find_or_create_transport(pinfo);
    rpc_connection *connection = connection_find(pinfo);

    if (connection == NULL) {
        connection = wmem_new0(wmem_file_scope(), rpc_connection);
        connection->transport = transport;
        connection->pipe = dcerpc_get_transport_salt(pinfo);
        connection->client =
            is_request == (addresses_equal(&transport->ends[1], &pinfo->src) && transport->ports[1] == pinfo->srcport);
        wmem_map_insert(connections, connection, connection);
        last = connection;
    }
    return connection;
}

state_server *connection_server(rpc_connection *connection, const packet_info *pinfo, bool is_request)
{
    if (connection->server == NULL) {
        connection->server = server_find_or_create(is_request ? &pinfo->dst : &pinfo->src);
    }
    return connection->server;
}

void connection_end(packet_info *pinfo)
{
    rpc_connection *before = connection_find(pinfo);

    if (before) {
        wmem_map_remove(connections, before);
        last = NULL;
    }
}

bool connections_exist(void)
{
    return wmem_map_size(connections) > 0;
}

/* --- Binds ------------------------------------------------------------------------------------------------------- */

void connection_add_context(rpc_connection *connection, uint16_t context, unsigned bits)
{
    if (connection->contexts == NULL) {
        connection->contexts = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
    }
    wmem_map_insert(connection->contexts, GUINT_TO_POINTER(context), GUINT_TO_POINTER(bits));
    connection->bound |= bits;
}

void connection_bind(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header, rpc_interface interface,
                     const e_guid_t *uuid)
{
    int at = offset + CONTEXTS_AT, end = offset + header->size;
    e_guid_t bound, syntax;

    while (at + CONTEXT_SIZE + SYNTAX_SIZE <= end && tvb_bytes_exist(tvb, at, CONTEXT_SIZE + SYNTAX_SIZE)) {
        tvb_get_guid(tvb, at + 4, &bound, header->order);
        if (memcmp(&bound, uuid, sizeof bound) == 0) {
            uint16_t context = tvb_get_uint16(tvb, at, header->order);
            rpc_connection *connection = connection_of(pinfo, true);
            tvb_get_guid(tvb, at + CONTEXT_SIZE, &syntax, header->order);
            bool is_ndr64 = memcmp(&syntax, &ndr64, sizeof syntax) == 0;
            connection_add_context(connection, context, RPC_CONTEXT_OF(interface) | (is_ndr64 ? RPC_CONTEXT_NDR64 : 0));
        }
        at += CONTEXT_SIZE + tvb_get_uint8(tvb, at + 2) * SYNTAX_SIZE;
    }
}

/* --- What a logon to an interface says of the server -------------------------------------------------------------- */

/* [MS-NLMP] 2.2.1.2 and 2.2.2.1: where a challenge says where its pairs of number, size and text are. */
#define CHALLENGE "NTLMSSP\0\2\0\0"
#define TARGET_INFO_AT 40
#define COMPUTER_NAME 1

void connection_read_challenge(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header)
{
    rpc_connection *connection = connection_find(pinfo);
    uint32_t size = header->size, length = header->auth_size, number, at = 0;

    if (connection == NULL || !connection->bound || length == 0 || length >= size ||
        !tvb_bytes_exist(tvb, offset, (int)size)) {
        return;
    }
    int start = offset + (int)(size - length);
    const uint8_t *token = tvb_get_ptr(tvb, start, (int)length);
    while (at + TARGET_INFO_AT + 8 <= length && memcmp(token + at, CHALLENGE, sizeof CHALLENGE) != 0) {
        at++;
    }
    at = at + TARGET_INFO_AT + 8 <= length ? at + MIN(perf_le32(token + at + TARGET_INFO_AT + 4), length) : length;
    for (uint32_t text = 0; at + 4 <= length && (number = perf_le16(token + at)) != 0; at += 4 + text) {
        text = perf_le16(token + at + 2);
        if (number == COMPUTER_NAME && text <= length - at - 4) {
            server_learn_name(connection_server(connection, pinfo, false),
                              text_get(pinfo->pool, tvb, (uint32_t)start + at + 4, text, TEXT_CODE_PAGE_UTF16,
                                       ENC_LITTLE_ENDIAN, TEXT_NAME_MAX));
            return;
        }
    }
}

static void begin_file(void)
{
    last = NULL;
}

void connections_register(void)
{
    register_cleanup_routine(begin_file);
    transports = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), transport_hash, transport_equal);
    connections = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), connection_hash, connection_equal);
}
