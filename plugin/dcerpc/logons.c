/* logons.c
 * What a logon to an interface says of the server.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/connection.h"

#include "perf/bytes.h"
#include "text/text.h"

/* [MS-NLMP] 2.2.1.2 and 2.2.2.1: where a challenge says where its pairs of number, size and text are. */
#define CHALLENGE "NTLMSSP\0\2\0\0"
#define TARGET_INFO_AT 40
#define COMPUTER_NAME 1

/* RFC 4120 5.3: a ticket's version is followed by a realm; the request around it has a number there. */
#define TICKET "\xA0\x03\x02\x01\x05\xA1"
#define STRING 0x1B
#define BEFORE_REALM 9
#define BEFORE_SERVICE 13 /* tags and sizes of the name, its type, and the list of its parts */

typedef struct {
    const uint8_t *bytes;
    uint32_t size;
} token;

/* Where it stands from `at` on; with `size` bytes, or the token's size where it does not. */
static uint32_t find_logon(const token *in, uint32_t at, const char *what, uint32_t length, uint32_t size)
{
    while (at + size <= in->size && memcmp(in->bytes + at, what, length) != 0) {
        at++;
    }
    return at + size <= in->size ? at : in->size;
}

static const char *computer_name(wmem_allocator_t *pool, tvbuff_t *tvb, int offset, const token *in)
{
    uint32_t at = find_logon(in, 0, CHALLENGE, sizeof CHALLENGE, TARGET_INFO_AT + 8);

    if (at < in->size) {
        at += MIN(perf_le32(in->bytes + at + TARGET_INFO_AT + 4), in->size);
    }
    while (at + 4 <= in->size) {
        uint32_t number = perf_le16(in->bytes + at), size = perf_le16(in->bytes + at + 2);
        if (number == 0 || size > in->size - at - 4) {
            return NULL;
        }
        if (number == COMPUTER_NAME) {
            return text_get(pool, tvb, (uint32_t)offset + at + 4, size, TEXT_CODE_PAGE_UTF16, ENC_LITTLE_ENDIAN,
                            TEXT_NAME_MAX);
        }
        at += 4 + size;
    }
    return NULL;
}

/* Of "host/srv01.example.com" the second part. */
static const char *service_host(wmem_allocator_t *pool, const token *in)
{
    uint32_t at = find_logon(in, 0, TICKET, sizeof TICKET - 1, BEFORE_REALM);

    while (at < in->size && in->bytes[at + BEFORE_REALM - 2] != STRING) {
        at = find_logon(in, at + 1, TICKET, sizeof TICKET - 1, BEFORE_REALM);
    }
    at += at < in->size ? BEFORE_REALM + in->bytes[at + BEFORE_REALM - 1] + BEFORE_SERVICE : 0;
    for (unsigned part = 0; at + 2 <= in->size && in->bytes[at] == STRING; part++) {
        uint32_t size = MIN(in->bytes[at + 1], in->size - at - 2);
        if (part == 1) {
            return wmem_strndup(pool, (const char *)in->bytes + at + 2, size);
        }
        at += 2 + size;
    }
    return NULL;
}

void logon_read(packet_info *pinfo, tvbuff_t *tvb, int offset, const rpc_header *header, bool is_request)
{
    rpc_connection *connection = connection_find(pinfo);
    uint32_t size = header->size, length = header->auth_size;

    if (connection == NULL || (!connection->contexts[RPC_PERFLIB] && !connection->contexts[RPC_WINREG]) ||
        length == 0 || length >= size || !tvb_bytes_exist(tvb, offset, (int)size)) {
        return;
    }
    int at = offset + (int)(size - length);
    const token in = {tvb_get_ptr(tvb, at, (int)length), length};
    const char *name = is_request ? service_host(pinfo->pool, &in) : computer_name(pinfo->pool, tvb, at, &in);
    if (name && g_utf8_validate(name, -1, NULL)) {
        connection->to =
            host_name(connection_to(connection, pinfo, is_request), is_request ? HOST_TARGET : HOST_LOGON, name);
    }
}
