/* sealed-pdus.c
 * What a sealed PDU says in clear: its header and security trailer, and of calls in several fragments what they add up to.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/sealed-pdus.h"

#include "perf/bytes.h"

/* The common header, what a request and a response have behind it, and an object's UUID ([C706] 12.6.4). */
#define FLAG_FIRST 0x01
#define FLAG_LAST 0x02
#define FLAG_OBJECT 0x80
#define OBJECT_SIZE 16
#define FAULT_SIZE 32

/* [MS-RPCE] 2.2.1.1.8. */
#define PKT_PRIVACY 6

static wmem_map_t *pdus; /* sealed_pdu, as its own key; emptied with the file */

/* --- Reading --------------------------------------------------------------------------------------------------- */

static unsigned order_of(tvbuff_t *tvb, int offset)
{
    return tvb_get_uint8(tvb, offset + 4) >> 4 == 1 ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN;
}

/* NTLM's signature ([MS-NLMP] 2.2.2.9.1) and Kerberos' Wrap token (RFC 4121 4.2.6.2; the lower half) end with it. */
static uint32_t sequence_of(tvbuff_t *tvb, int token)
{
    if (!tvb_bytes_exist(tvb, token, 16)) {
        return 0;
    }
    switch (tvb_get_ntohs(tvb, token)) {
    case 0x0100:
        return tvb_get_letohl(tvb, token + 12);
    case 0x0504:
        return tvb_get_uint32(tvb, token + 12, ENC_BIG_ENDIAN);
    default:
        return 0;
    }
}

int sealed_pdu_size(const uint8_t *header)
{
    bool is_little = header[4] >> 4 == 1;
    int size = is_little ? perf_le16(header + 8) : header[8] << 8 | header[9];

    return header[0] == 5 && size >= SEALED_HEADER_SIZE ? size : 0;
}

bool sealed_fragment_read(sealed_fragment *fragment, tvbuff_t *tvb, int offset)
{
    unsigned order = order_of(tvb, offset);
    uint8_t type = tvb_get_uint8(tvb, offset + 2), flags = tvb_get_uint8(tvb, offset + 3);
    int size = tvb_get_uint16(tvb, offset + 8, order), auth = tvb_get_uint16(tvb, offset + 10, order);
    int end = offset + size - auth - SEALED_TRAILER_SIZE;
    int stub = offset + SEALED_HEADER_SIZE + (type == PDU_REQ && flags & FLAG_OBJECT ? OBJECT_SIZE : 0);

    if ((type != PDU_REQ && type != PDU_RESP) || auth == 0 || end < stub ||
        size > (int)tvb_reported_length_remaining(tvb, offset) || !tvb_bytes_exist(tvb, end, SEALED_TRAILER_SIZE + 2) ||
        tvb_get_uint8(tvb, end + 1) != PKT_PRIVACY || tvb_get_uint8(tvb, end + 2) > end - stub) {
        return false;
    }
    *fragment = (sealed_fragment){
        .stub = stub,
        .end = end,
        .next = offset + size,
        .is_response = type == PDU_RESP,
        .is_first = flags & FLAG_FIRST,
        .is_last = flags & FLAG_LAST,
        .auth_type = tvb_get_uint8(tvb, end),
        .context = tvb_get_uint16(tvb, offset + 20, order),
        .opnum = type == PDU_REQ ? tvb_get_uint16(tvb, offset + 22, order) : 0,
        .call_id = tvb_get_uint32(tvb, offset + 12, order),
        .size = (uint32_t)(end - stub - tvb_get_uint8(tvb, end + 2)),
        .sequence = sequence_of(tvb, end + SEALED_TRAILER_SIZE),
    };
    return true;
}

bool sealed_fault_read(sealed_fragment *fragment, uint32_t *status, tvbuff_t *tvb, int offset)
{
    if (!tvb_bytes_exist(tvb, offset, FAULT_SIZE)) {
        return false;
    }
    unsigned order = order_of(tvb, offset);
    *fragment = (sealed_fragment){
        .next = offset + MAX(tvb_get_uint16(tvb, offset + 8, order), FAULT_SIZE),
        .is_response = true,
        .is_first = true,
        .is_last = true,
        .call_id = tvb_get_uint32(tvb, offset + 12, order),
    };
    *status = tvb_get_uint32(tvb, offset + 24, order);
    return true;
}

/* --- Calls ----------------------------------------------------------------------------------------------------- */

static unsigned pdu_hash(const void *key)
{
    const sealed_pdu *pdu = key;
    const uint64_t parts[] = {pdu->key.pipe, (uint64_t)pdu->key.frame << 32 | pdu->key.call_id};

    return wmem_strong_hash((const uint8_t *)parts, sizeof parts);
}

static gboolean pdu_equal(const void *a, const void *b)
{
    const sealed_pdu *x = a, *y = b;

    return x->key.pipe == y->key.pipe && x->key.call_id == y->key.call_id && x->key.frame == y->key.frame &&
           x->key.is_response == y->key.is_response;
}

static sealed_pdu *keep(packet_info *pinfo, rpc_connection *connection, const sealed_pdu *pdu)
{
    sealed_pdu *kept = wmem_memdup(wmem_file_scope(), pdu, sizeof *pdu);

    kept->key.pipe = connection->pipe;
    kept->key.frame = pinfo->num;
    kept->connection = connection;
    kept->query = connection;
    kept->is_copy = connection->copied != NULL;
    wmem_map_insert(pdus, kept, kept);
    return kept;
}

static sealed_pdu *take_first_time(packet_info *pinfo, rpc_connection *connection, rpc_asked *call,
                                   const sealed_fragment *fragment)
{
    unsigned way = fragment->is_response;
    bool misses_one = fragment->sequence != 0 && fragment->sequence != call->sequences[way] + 1;
    call->begun[way] = fragment->is_first || (call->begun[way] && !misses_one);
    call->sizes[way] = fragment->size + (fragment->is_first ? 0 : call->sizes[way]);
    call->sequences[way] = fragment->sequence;
    if (!fragment->is_last || !call->begun[way]) {
        return NULL;
    }
    nstime_t elapsed;
    nstime_delta(&elapsed, &pinfo->abs_ts, &call->time);
    const sealed_pdu pdu = {
        .key = {.call_id = fragment->call_id, .is_response = fragment->is_response},
        .interface = call->interface,
        .is_ndr64 = call->is_ndr64,
        .opnum = call->opnum,
        .size = call->sizes[way],
        .request_time = call->time,
        .request_frame = call->frame,
        .seconds = fragment->is_response && (pinfo->presence_flags & PINFO_HAS_TS) ? nstime_to_sec(&elapsed) : -1,
    };
    return keep(pinfo, connection, &pdu);
}

static sealed_pdu *find_pdu(packet_info *pinfo, uint32_t call_id, bool is_response)
{
    sealed_pdu look_for = {.key = {dcerpc_get_transport_salt(pinfo), call_id, pinfo->num, is_response}};

    return wmem_map_lookup(pdus, &look_for);
}

sealed_pdu *sealed_pdu_take(packet_info *pinfo, const sealed_fragment *fragment,
                            const value_string *const operations[NUM_RPC_INTERFACES])
{
    if (PINFO_FD_VISITED(pinfo)) {
        return fragment->is_last ? find_pdu(pinfo, fragment->call_id, fragment->is_response) : NULL;
    }
    rpc_connection *connection = connection_find(pinfo);
    rpc_asked *call = connection ? pdus_find_call(connection, fragment->call_id) : NULL;
    bool is_followed =
        call && call->interface < NUM_RPC_INTERFACES && try_val_to_str(call->opnum, operations[call->interface]);
    return is_followed ? take_first_time(pinfo, connection, call, fragment) : NULL;
}

sealed_pdu *sealed_pdu_add(packet_info *pinfo, const sealed_pdu *pdu)
{
    return PINFO_FD_VISITED(pinfo) ? find_pdu(pinfo, pdu->key.call_id, pdu->key.is_response)
                                   : keep(pinfo, connection_of(pinfo, !pdu->key.is_response), pdu);
}

void sealed_pdus_register(void)
{
    pdus = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), pdu_hash, pdu_equal);
}
