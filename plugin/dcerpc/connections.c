/* connections.c
 * Connections by their ends, and which of them were captured twice.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/connections.h"

#include <math.h>

#include <epan/dissectors/packet-dcerpc.h>

/* Both sides of a translation see a packet within so many seconds. */
#define MOST_APART 1.0

/* A challenge of NTLM or a Kerberos AP-REP, in SPNEGO or not, is longer; an answer that brings none is always the same. */
#define LEAST_TOKEN 64

/* An answer that gave out what no server gives out twice. */
typedef struct {
    uint64_t ends;
    uint32_t call_id;
    nstime_t at;
    state_host *server;
} unique_answer;

/* emptied with the file */
static wmem_map_t *handles; /* unique_answer by the handle */
static wmem_map_t *samples; /* unique_answer by the handle: its newest */
static wmem_map_t *logons;  /* unique_answer by the checksum of the server's token */
static wmem_map_t *copies;  /* unique_answer by its ends; of the server that the other connection is to */

static uint64_t hash_end(const address *addr, uint32_t port)
{
    return (wmem_strong_hash(addr->data, (size_t)addr->len) + port) * UINT64_C(0x9E3779B97F4A7C15);
}

uint64_t connection_ends(packet_info *pinfo)
{
    uint64_t client = hash_end(&pinfo->src, pinfo->srcport), server = hash_end(&pinfo->dst, pinfo->destport);

    return client + server + (client ^ server) / 3 + dcerpc_get_transport_salt(pinfo);
}

void connection_begins(packet_info *pinfo)
{
    uint64_t ends = connection_ends(pinfo);

    wmem_map_remove(copies, &ends);
}

static bool is_same(const unique_answer *a, const unique_answer *b)
{
    nstime_t apart;

    nstime_delta(&apart, &a->at, &b->at);
    return a->ends != b->ends && a->call_id == b->call_id && fabs(nstime_to_sec(&apart)) < MOST_APART;
}

/* False if it is another's answer: then its connection is a copy of that one's. */
static bool note(wmem_map_t *answers, const void *key, packet_info *pinfo, uint32_t call_id, state_host *server)
{
    const unique_answer *first = wmem_map_lookup(answers, key);
    unique_answer *answer = wmem_new(wmem_file_scope(), unique_answer);

    *answer = (unique_answer){connection_ends(pinfo), call_id, pinfo->abs_ts, server};
    if (first && is_same(first, answer)) {
        answer->server = first->server;
        wmem_map_insert(copies, &answer->ends, answer);
        return false;
    }
    wmem_map_insert(answers, key, answer);
    return true;
}

void connection_note_logon(packet_info *pinfo, tvbuff_t *tvb, int offset)
{
    unsigned order = tvb_get_uint8(tvb, offset + 4) >> 4 == 1 ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN;
    int size = tvb_get_uint16(tvb, offset + 8, order), token = tvb_get_uint16(tvb, offset + 10, order);

    if (token >= LEAST_TOKEN && token < size && tvb_bytes_exist(tvb, offset, size)) {
        const uint8_t *bytes = tvb_get_ptr(tvb, offset + size - token, token);
        char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, bytes, (size_t)token);
        note(logons, wmem_strdup(wmem_file_scope(), sum), pinfo, tvb_get_uint32(tvb, offset + 12, order),
             host_of(pinfo, false, dcerpc_get_transport_salt(pinfo) != 0));
        g_free(sum);
    }
}

bool connection_note_handle(packet_info *pinfo, uint32_t call_id, const state_handle *handle)
{
    return note(handles, handle, pinfo, call_id, handle->server);
}

bool connection_note_sample(packet_info *pinfo, uint32_t call_id, const state_handle *handle, bool same_clocks)
{
    if (!same_clocks) {
        wmem_map_remove(samples, handle);
    }
    return note(samples, handle, pinfo, call_id, handle->server);
}

state_host *connection_copied(packet_info *pinfo)
{
    uint64_t ends = wmem_map_size(copies) > 0 ? connection_ends(pinfo) : 0;
    const unique_answer *answer = wmem_map_lookup(copies, &ends);

    return answer ? answer->server : NULL;
}

void connections_register(void)
{
    handles = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
    samples = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
    logons = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_str_hash, g_str_equal);
    copies = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_int64_hash, g_int64_equal);
}
