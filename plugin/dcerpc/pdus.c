/* pdus.c
 * Connections and their calls, by the headers of PDUs.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/call.h"

#include <epan/exceptions.h>
#include <epan/prefs-int.h>

#include "perf/bytes.h"
#include "text/text.h"

#define FLAG_FIRST 0x01
#define FLAG_LAST 0x02
#define FLAG_OBJECT 0x80
#define OBJECT_SIZE 16

static pdus_interface interfaces[NUM_RPC_INTERFACES];

pref_t *pdus_find_preference(const char *module_name, const char *name)
{
    module_t *module = prefs_find_module(module_name);

    return module ? prefs_find_preference(module, name) : NULL;
}

double pdus_get_seconds(const nstime_t *request_time, const packet_info *pinfo)
{
    nstime_t elapsed;

    nstime_delta(&elapsed, &pinfo->abs_ts, request_time);
    return pinfo->presence_flags & PINFO_HAS_TS ? nstime_to_sec(&elapsed) : -1;
}

const rpc_operation *pdus_find_operation(rpc_interface interface, uint16_t opnum)
{
    const rpc_operation *operation = interface < NUM_RPC_INTERFACES ? interfaces[interface].operations : NULL;

    while (operation && operation->name && operation->opnum != opnum) {
        operation++;
    }
    return operation && operation->name ? operation : NULL;
}

/* --- Headers ----------------------------------------------------------------------------------------------------- */

static uint16_t number_16(const uint8_t *bytes, bool is_little)
{
    return is_little ? perf_le16(bytes) : (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t number_32(const uint8_t *bytes, bool is_little)
{
    return is_little ? perf_le32(bytes) : perf_be32(bytes);
}

/* Returns false if no PDU begins at `at`, or less than the common header was captured. */
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

/* --- Connections ------------------------------------------------------------------------------------------------- */

static wmem_map_t *connections; /* rpc_connection, as its own key: conversation and pipe; emptied with the file */
static rpc_connection *last_connection; /* that was found: mostly the next PDU's, too */

static unsigned connection_hash(const void *key)
{
    const rpc_connection *connection = key;
    const uint64_t parts[] = {(uintptr_t)connection->conversation, connection->pipe};

    return wmem_strong_hash((const uint8_t *)parts, sizeof parts);
}

static gboolean connection_equal(const void *a, const void *b)
{
    const rpc_connection *x = a, *y = b;

    return x->conversation == y->conversation && x->pipe == y->pipe;
}

static inline bool goes_from(const rpc_connection *connection, int end, const packet_info *pinfo)
{
    return connection->ports[end] == pinfo->srcport && connection->ports[1 - end] == pinfo->destport &&
           addresses_equal(&connection->ends[end], &pinfo->src) &&
           addresses_equal(&connection->ends[1 - end], &pinfo->dst);
}

/* To find a conversation costs as much as all else that a sealed request does. */
static rpc_connection *find_connection(packet_info *pinfo)
{
    rpc_connection *last = last_connection, key; /* of which two members are looked at */

    if (wmem_map_size(connections) == 0) {
        return NULL;
    }
    key.pipe = dcerpc_get_transport_salt(pinfo);
    if (last && last->pipe == key.pipe && (goes_from(last, 0, pinfo) || goes_from(last, 1, pinfo))) {
        return last;
    }
    key.conversation = find_conversation_pinfo(pinfo, 0);
    rpc_connection *found = wmem_map_lookup(connections, &key);
    last_connection = found ? found : last;
    return found;
}

rpc_connection *rpc_connection_find_or_create(packet_info *pinfo, bool is_request)
{
    rpc_connection *connection = find_connection(pinfo);

    if (connection == NULL) {
        connection = wmem_new0(wmem_file_scope(), rpc_connection);
        connection->conversation = find_conversation_pinfo(pinfo, 0);
        connection->pipe = dcerpc_get_transport_salt(pinfo);
        connection->ports[0] = pinfo->srcport;
        connection->ports[1] = pinfo->destport;
        copy_address_wmem(wmem_file_scope(), &connection->ends[0], &pinfo->src);
        copy_address_wmem(wmem_file_scope(), &connection->ends[1], &pinfo->dst);
        connection->server = server_find_or_create(is_request ? &pinfo->dst : &pinfo->src);
        connection->contexts = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        connection->offered = wmem_array_new(wmem_file_scope(), sizeof(uint16_t));
        connection->pending = wmem_map_new(wmem_file_scope(), g_direct_hash, g_direct_equal);
        wmem_map_insert(connections, connection, connection);
        last_connection = connection;
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

/* The bits of a context. */
#define CONTEXT_OF(interface) (1U << (interface))
#define CONTEXT_NDR64 (1U << NUM_RPC_INTERFACES)

static rpc_interface find_interface(unsigned bits)
{
    rpc_interface interface = 0;

    while (interface < NUM_RPC_INTERFACES && !(bits & CONTEXT_OF(interface))) {
        interface++;
    }
    return interface;
}

/* The interface and syntax that are bound at `at`; 0: none that is followed. */
static unsigned read_context(tvbuff_t *tvb, int at, unsigned order)
{
    unsigned bits = 0;
    e_guid_t bound, syntax;

    tvb_get_guid(tvb, at + 4, &bound, order);
    tvb_get_guid(tvb, at + CONTEXT_SIZE, &syntax, order);
    for (unsigned i = 0; i < NUM_RPC_INTERFACES; i++) {
        bool is_it = interfaces[i].uuid && memcmp(&bound, interfaces[i].uuid, sizeof bound) == 0;
        bits |= is_it && interfaces[i].is_watched() ? CONTEXT_OF(i) : 0;
    }
    return bits ? bits | (memcmp(&syntax, &ndr64, sizeof syntax) == 0 ? CONTEXT_NDR64 : 0) : 0;
}

/* A bind begins a connection, an alter_context goes on with it. Returns the interfaces, as bits of contexts. */
static unsigned read_contexts(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header)
{
    rpc_connection *connection = find_connection(pinfo);
    wmem_array_t *offered = wmem_array_new(pinfo->pool, sizeof(uint16_t));
    int at = offset + CONTEXTS_AT, end = offset + header->size;
    unsigned all = 0;

    if (connection && header->type == PDU_BIND) {
        wmem_map_remove(connections, connection);
        last_connection = connection = NULL;
    }
    while (at + CONTEXT_SIZE + SYNTAX_SIZE <= end && tvb_bytes_exist(tvb, at, CONTEXT_SIZE + SYNTAX_SIZE)) {
        uint16_t context = tvb_get_uint16(tvb, at, header->order);
        unsigned bits = read_context(tvb, at, header->order);
        connection = bits ? rpc_connection_find_or_create(pinfo, true) : connection;
        if (connection) {
            wmem_map_insert(connection->contexts, GUINT_TO_POINTER(context), GUINT_TO_POINTER(bits));
        }
        all |= bits;
        wmem_array_append_one(offered, context);
        at += CONTEXT_SIZE + tvb_get_uint8(tvb, at + 2) * SYNTAX_SIZE;
    }
    if (connection) {
        unsigned count = wmem_array_get_count(offered);
        wmem_destroy_array(connection->offered);
        connection->offered = wmem_array_sized_new(wmem_file_scope(), sizeof(uint16_t), MAX(count, 1));
        wmem_array_append(connection->offered, wmem_array_get_raw(offered), count);
        connection->bind_frame = pinfo->num;
        connection->bind_time = pinfo->abs_ts;
    }
    return all;
}

/* A context that is refused is none. Returns the interfaces that were offered, as bits of contexts. Changes: `*reason` of the first of them that
 * was refused; `*is_accepted`, if one of them was not. */
static unsigned read_results(rpc_connection *connection, tvbuff_t *tvb, int offset, const rpc_header *header,
                             uint32_t *reason, bool *is_accepted)
{
    bool is_nak = header->type == PDU_BIND_NAK, has_address = !is_nak && tvb_bytes_exist(tvb, offset + ADDRESS_AT, 2);
    int address = has_address ? tvb_get_uint16(tvb, offset + ADDRESS_AT, header->order) : 0;
    int at = offset + (ADDRESS_AT + 2 + address + 3) / 4 * 4 + 4;
    unsigned results = has_address && tvb_bytes_exist(tvb, at - 4, 1) ? tvb_get_uint8(tvb, at - 4) : 0;
    unsigned all = 0, count = wmem_array_get_count(connection->offered);

    *reason = 0;
    *is_accepted = false;
    for (unsigned i = 0; i < count; i++, at += RESULT_SIZE) {
        void *context = GUINT_TO_POINTER(*(uint16_t *)wmem_array_index(connection->offered, i));
        unsigned bits = GPOINTER_TO_UINT(wmem_map_lookup(connection->contexts, context));
        bool is_there = i < results && at + 4 <= offset + header->size && tvb_bytes_exist(tvb, at, 4);
        bool is_refused = is_nak || (is_there && tvb_get_uint16(tvb, at, header->order) != 0);
        if (bits && is_refused) {
            *reason = *reason || is_nak ? *reason : tvb_get_uint16(tvb, at + 2, header->order);
            wmem_map_insert(connection->contexts, context, NULL);
        }
        *is_accepted |= bits && !is_refused;
        all |= bits;
    }
    return all;
}

/* [MS-NLMP] 2.2.1.2 and 2.2.2.1: where a challenge says where its pairs of number, size and text are. */
#define CHALLENGE "NTLMSSP\0\2\0\0"
#define TARGET_INFO_AT 40
#define COMPUTER_NAME 1

/* Learns what the server calls itself in NTLM's challenge, which the answer to a bind may have. */
static void read_challenge(const rpc_connection *connection, packet_info *pinfo, tvbuff_t *tvb, int offset,
                           const rpc_header *header)
{
    uint32_t size = header->size, length = header->auth_size, number, at = 0;

    if (length == 0 || length >= size || !tvb_bytes_exist(tvb, offset, (int)size)) {
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
            server_learn_name(connection->server, text_get(pinfo->pool, tvb, (uint32_t)start + at + 4, text,
                                                           TEXT_CODE_PAGE_UTF16, ENC_LITTLE_ENDIAN, TEXT_NAME_MAX));
            return;
        }
    }
}

/* --- Calls "Bind" and "Map" ---------------------------------------------------------------------------------------- */

/* [C706] appendix O: a tower's floor of an interface, and of TCP with its port. */
#define FLOOR_OF_INTERFACE "\x13\0\x0D"
#define FLOOR_OF_TCP "\x01\0\x07\x02\0"
#define EPT_MAP 3
#define HANDLE_IN_MAPPED 20

static const e_guid_t uuid_mapper = {0xe1af8308, 0x5d1f, 0x11c9, {0x91, 0xa4, 0x08, 0x00, 0x2b, 0x14, 0xa0, 0xfa}};

/* One that a frame has, kept for each look at it. */
typedef struct {
    uint64_t key; /* frame and place */
    tapped_call tapped;
} setup_call;

static wmem_map_t *setup_calls; /* by its key; emptied with the file */

static void keep_setup_call(const packet_info *pinfo, int at, const rpc_connection *connection,
                            const tapped_call *tapped)
{
    setup_call *setup = wmem_new0(wmem_file_scope(), setup_call);

    setup->key = (uint64_t)pinfo->num << 32 | (uint32_t)at;
    setup->tapped = *tapped;
    setup->tapped.server = connection->server;
    wmem_map_insert(setup_calls, &setup->key, setup);
}

static void tap_setup_call(packet_info *pinfo, int at)
{
    uint64_t key = (uint64_t)pinfo->num << 32 | (uint32_t)at;
    const setup_call *setup = wmem_map_size(setup_calls) > 0 ? wmem_map_lookup(setup_calls, &key) : NULL;

    if (setup) {
        tapped_hand_over_setup(pinfo, &setup->tapped);
    }
}

static void see_bind(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header)
{
    rpc_interface interface = find_interface(read_contexts(pinfo, tvb, at, header));

    if (interface < RPC_MAPPER) {
        keep_setup_call(pinfo, at, find_connection(pinfo),
                        &(tapped_call){.operation = "Bind", .is_hkpd = interface == RPC_WINREG, .seconds = -1});
    }
}

static void see_bind_answer(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header,
                            rpc_connection *connection)
{
    uint32_t reason;
    bool is_accepted;
    rpc_interface interface = find_interface(read_results(connection, tvb, at, header, &reason, &is_accepted));

    read_challenge(connection, pinfo, tvb, at, header);
    if (interface < RPC_MAPPER && connection->bind_frame > 0) {
        keep_setup_call(pinfo, at, connection,
                        &(tapped_call){.operation = "Bind",
                                       .is_hkpd = interface == RPC_WINREG,
                                       .is_response = true,
                                       .is_fault = header->type == PDU_BIND_NAK,
                                       .has_failed = !is_accepted,
                                       .status = is_accepted ? 0 : reason,
                                       .request_frame = connection->bind_frame,
                                       .seconds = pdus_get_seconds(&connection->bind_time, pinfo)});
        connection->bind_frame = 0;
    }
}

/* Returns where it is in a stub; NULL: nowhere. */
static const uint8_t *find_floor(const uint8_t *stub, uint32_t size, const void *what, uint32_t length)
{
    for (uint32_t at = 0; at + length <= size; at++) {
        if (memcmp(stub + at, what, length) == 0) {
            return stub + at;
        }
    }
    return NULL;
}

/* As towers have it: little-endian. */
static void put_uuid(const e_guid_t *uuid, uint8_t *bytes)
{
    const uint32_t first = GUINT32_TO_LE(uuid->data1);
    const uint16_t second = GUINT16_TO_LE(uuid->data2), third = GUINT16_TO_LE(uuid->data3);

    memcpy(bytes, &first, sizeof first);
    memcpy(bytes + 4, &second, sizeof second);
    memcpy(bytes + 6, &third, sizeof third);
    memcpy(bytes + 8, uuid->data4, sizeof uuid->data4);
}

/* One that asks for one of our interfaces. */
static void see_map_request(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header,
                            const rpc_connection *connection, rpc_pending_call *pending)
{
    uint8_t floor[sizeof FLOOR_OF_INTERFACE - 1 + 16] = FLOOR_OF_INTERFACE;
    uint32_t size = MIN(header->stub_size, (uint32_t)tvb_captured_length_remaining(tvb, at + RPC_HEADER_SIZE));

    for (unsigned i = 0; i < RPC_MAPPER && pending->opnum == EPT_MAP && size > 0 && !pending->is_mapping; i++) {
        if (interfaces[i].uuid) {
            put_uuid(interfaces[i].uuid, floor + sizeof FLOOR_OF_INTERFACE - 1);
            pending->is_mapping =
                find_floor(tvb_get_ptr(tvb, at + RPC_HEADER_SIZE, (int)size), size, floor, sizeof floor);
            if (pending->is_mapping) {
                keep_setup_call(pinfo, at, connection,
                                &(tapped_call){.operation = "Map", .is_hkpd = i == RPC_WINREG, .seconds = -1});
            }
        }
    }
}

static void see_map_answer(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header,
                           const rpc_connection *connection, const rpc_pending_call *pending)
{
    uint32_t size = MIN(header->stub_size, (uint32_t)tvb_captured_length_remaining(tvb, at + RPC_HEADER_SIZE));
    bool is_fault = header->type == PDU_FAULT, is_read = size >= HANDLE_IN_MAPPED + 4;
    const uint8_t *stub = size > 0 ? tvb_get_ptr(tvb, at + RPC_HEADER_SIZE, (int)size) : NULL;
    const uint8_t *floor = is_read ? find_floor(stub, size, FLOOR_OF_TCP, sizeof FLOOR_OF_TCP - 1) : NULL;
    bool is_little = header->order == ENC_LITTLE_ENDIAN;
    tapped_call tapped = {
        .operation = "Map",
        .is_response = true,
        .is_fault = is_fault,
        .has_status = is_fault || is_read,
        .status = is_fault && size >= 4 ? number_32(stub, is_little)
                  : is_read             ? number_32(stub + size - 4, is_little)
                                        : 0,
        .port = floor && floor + sizeof FLOOR_OF_TCP + 1 <= stub + size
                    ? number_16(floor + sizeof FLOOR_OF_TCP - 1, false)
                    : 0,
        .request_frame = pending->frame,
        .seconds = pdus_get_seconds(&pending->time, pinfo),
    };

    tapped.has_failed = is_fault || tapped.status != 0;
    keep_setup_call(pinfo, at, connection, &tapped);
}

/* --- Requests and responses -------------------------------------------------------------------------------------- */

/* PDUs that operations were handed while the stock dissector ran, in their order. */
typedef struct {
    uint8_t type;
    uint32_t call_id;
    struct rpc_call *call;
} handed_pdu;

static wmem_array_t *handed_pdus; /* NULL: no stock dissector runs, or it is Decode As's */

void pdus_note_handed(const dcerpc_info *di, struct rpc_call *call)
{
    const handed_pdu handed = {(uint8_t)di->ptype, di->call_id, call};

    if (handed_pdus) {
        wmem_array_append_one(handed_pdus, handed);
    }
}

/* Returns the call; NULL: it is no fragment of a request that was seen. */
static rpc_pending_call *see_request(packet_info *pinfo, rpc_connection *connection, const rpc_header *header,
                                     const handed_pdu *handed)
{
    void *key = GUINT_TO_POINTER(header->call_id);
    rpc_pending_call *pending = wmem_map_lookup(connection->pending, key);

    if (header->is_first) {
        unsigned bits = GPOINTER_TO_UINT(wmem_map_lookup(connection->contexts, GUINT_TO_POINTER(header->context)));
        bool is_new = pending == NULL;
        pending = is_new ? wmem_new(wmem_file_scope(), rpc_pending_call) : pending;
        *pending = (rpc_pending_call){.call_id = header->call_id,
                                      .interface = find_interface(bits),
                                      .opnum = header->opnum,
                                      .is_ndr64 = bits & CONTEXT_NDR64,
                                      .time = pinfo->abs_ts,
                                      .frame = pinfo->num,
                                      .hint[0] = header->hint > header->size ? header->hint : 0};
        if (is_new) {
            wmem_map_insert(connection->pending, key, pending);
        }
    }
    if (pending) {
        const rpc_operation *operation = pdus_find_operation(pending->interface, pending->opnum);
        bool may_change = operation ? operation->flags & RPC_CHANGES
                                    : pending->interface == RPC_PERFLIB; /* an operation that was not captured */
        pending->size[0] += header->stub_size;
        pending->was_handed[0] |= handed != NULL;
        pending->call = handed ? handed->call : pending->call;
        if (may_change && header->is_last && pending->call == NULL) {
            connection->unread_change = pinfo->num;
        }
    }
    return pending;
}

/* Returns the call that is answered; NULL: its request was not seen. */
static rpc_pending_call *see_answer(const rpc_connection *connection, const rpc_header *header, bool is_handed)
{
    rpc_pending_call *pending = wmem_map_lookup(connection->pending, GUINT_TO_POINTER(header->call_id));

    if (pending && header->is_first) {
        pending->hint[1] = header->hint > header->size ? header->hint : 0;
        pending->size[1] = 0;
        pending->has_answer_begun = true;
    }
    if (pending) {
        pending->size[1] += header->stub_size;
        pending->was_handed[1] |= is_handed;
    }
    return pending;
}

/* On the first pass. */
static void see_pdu(packet_info *pinfo, tvbuff_t *tvb, int at, const rpc_header *header, const handed_pdu *handed)
{
    rpc_connection *connection = header->type == PDU_BIND || header->type == PDU_ALTER ? NULL : find_connection(pinfo);
    rpc_pending_call *pending = NULL;

    switch (header->type) {
    case PDU_BIND:
    case PDU_ALTER:
        see_bind(pinfo, tvb, at, header);
        connection = find_connection(pinfo);
        break;
    case PDU_BIND_ACK:
    case PDU_ALTER_ACK:
    case PDU_BIND_NAK:
        if (connection) {
            see_bind_answer(pinfo, tvb, at, header, connection);
        }
        return;
    case PDU_REQ:
        pending = connection ? see_request(pinfo, connection, header, handed) : NULL;
        break;
    case PDU_RESP:
    case PDU_FAULT:
        pending = connection ? see_answer(connection, header, handed != NULL) : NULL;
        break;
    default:
        break;
    }
    if (connection && header->auth_level > 0 && header->type != PDU_RESP && header->type != PDU_FAULT) {
        connection->auth_level = header->auth_level;
    }
    if (pending && pending->interface == RPC_MAPPER && header->type == PDU_REQ) {
        see_map_request(pinfo, tvb, at, header, connection, pending);
    } else if (pending && pending->is_mapping) {
        see_map_answer(pinfo, tvb, at, header, connection, pending);
    } else if (pending && !pending->was_handed[header->type != PDU_REQ]) {
        sealed_keep(pinfo, connection, pending, header, tvb, at);
    }
    if (pending && header->type != PDU_REQ && header->is_last) {
        wmem_map_remove(connection->pending, GUINT_TO_POINTER(header->call_id));
        wmem_free(wmem_file_scope(), pending);
    }
}

/* --- Behind the stock dissector ------------------------------------------------------------------------------------ */

/* What fragments were put together to is handed over with the last; one that is put together with no others, with the first. */
static bool may_be_handed_with(const rpc_header *header)
{
    pref_t *reassembly = header->is_last ? NULL : pdus_find_preference("dcerpc", "reassemble_dcerpc");

    return header->is_last || (header->is_first && reassembly && !prefs_get_bool_value(reassembly, pref_current));
}

/* One that is not all there may come again, put together. */
static void see_pdus(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, wmem_array_t *all_handed)
{
    int end = pinfo->desegment_len != 0 ? pinfo->desegment_offset : (int)tvb_captured_length(tvb);
    unsigned next = 0, count = wmem_array_get_count(all_handed);
    rpc_header header;
    bool any = false;

    for (int at = 0; at < end && read_pdu_header(&header, tvb, at); at += header.size) {
        const handed_pdu *handed = next < count ? wmem_array_index(all_handed, next) : NULL;
        bool is_handed =
            handed && handed->type == header.type && handed->call_id == header.call_id && may_be_handed_with(&header);
        next += is_handed;
        if (!PINFO_FD_VISITED(pinfo)) {
            see_pdu(pinfo, tvb, at, &header, is_handed ? handed : NULL);
        }
        tap_setup_call(pinfo, at);
        if ((header.type == PDU_REQ || header.type == PDU_RESP) && find_connection(pinfo) == NULL) {
            tapped_hand_over_setup(pinfo,
                                   &(tapped_call){.operation = "Unbound", .is_response = header.type == PDU_RESP});
        }
        if (!is_handed && wmem_map_size(connections) > 0) {
            sealed_show_unread(tvb, pinfo, tree, at, &header, &any);
        }
    }
}

/* Wireshark's heuristics for DCE/RPC over something. */
#define WATCHED(X) X(dcerpc_tcp) X(dcerpc_smb2) X(dcerpc_smb_transact)

#define STOCK(name) static heur_dissector_t stock_##name;
WATCHED(STOCK)

static ws_heuristic dissect_transport(heur_dissector_t stock, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                                      void *data)
{
    wmem_array_t *handed = wmem_array_new(pinfo->pool, sizeof(handed_pdu)), *outer = handed_pdus;
    volatile ws_heuristic result = true;

    handed_pdus = handed;
    TRY
    {
        result = stock(tvb, pinfo, tree, data);
    }
    FINALLY /* what was cut short when it was captured says in its header what it was */
    {
        handed_pdus = outer;
        if (result) {
            see_pdus(tvb, pinfo, tree, handed);
        }
    }
    ENDTRY;
    return result;
}

#define WATCH(name) \
    static ws_heuristic watch_##name(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data) \
    { \
        return dissect_transport(stock_##name, tvb, pinfo, tree, data); \
    }

WATCHED(WATCH)

#define INSTALL(name) install_watch(#name, &stock_##name, watch_##name);

static void install_watch(const char *name, heur_dissector_t *stock, heur_dissector_t watched)
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
    interfaces[RPC_MAPPER] = (pdus_interface){&uuid_mapper, what->is_watched, NULL};
    WATCHED(INSTALL)
}

static void begin_file(void)
{
    last_connection = NULL;
}

void pdus_register(void)
{
    register_cleanup_routine(begin_file);
    connections = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), connection_hash, connection_equal);
    setup_calls = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_int64_hash, g_int64_equal);
}
