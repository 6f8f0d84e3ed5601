/* accounts.c
 * As whom clients logged on, where the logon is in clear: by Wireshark's own fields, which cost a tree of each packet.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "taps/taps.h"

#include "taps/output.h"
#include "text/text.h"

#include <epan/conversation.h>
#include <epan/epan_dissect.h>

#define USER "ntlmssp.auth.username"
#define DOMAIN "ntlmssp.auth.domain"
#define WORKSTATION "ntlmssp.auth.hostname"
#define SERVICE "kerberos.SNameString"
#define CLIENT "kerberos.CNameString" /* a key opened the ticket */

/* Characters of one name, and bytes of what all logons of a connection are called. */
#define MAX_NAME 64
#define MAX_ACCOUNTS 512

/* Parts of a service's name, and bytes between two. */
#define MAX_PARTS 8
#define MAX_TAG 4

/* What Wireshark shows for a text of no length. */
#define EMPTY "NULL"

/* Connection, or pipe of it -> text; emptied with the file. NULL as long as nobody asks. */
static wmem_map_t *accounts;

static const GPtrArray *fields_of(const proto_tree *tree, const char *name)
{
    return proto_get_finfo_ptr_array(tree, proto_registrar_get_id_byname(name));
}

static const char *text_of(wmem_allocator_t *pool, const field_info *field)
{
    const char *whole = fvalue_to_string_repr(pool, WS_FIELD_VALUE(field), FTREPR_DISPLAY, BASE_NONE);
    const char *text = text_cut(pool, whole ? whole : EMPTY, MAX_NAME);

    return ws_format_text(pool, text, strlen(text));
}

/* Of the first of a frame; "" without one. */
static const char *first_text(wmem_allocator_t *pool, const proto_tree *tree, const char *name)
{
    const GPtrArray *fields = fields_of(tree, name);
    const char *text = fields && fields->len > 0 ? text_of(pool, g_ptr_array_index(fields, 0)) : "";

    return strcmp(text, EMPTY) == 0 ? "" : text;
}

/* Of the first ticket's; what a key opened after it has names of others. The parts of a name stand together but for a tag. */
static const char *service_name(wmem_allocator_t *pool, const GPtrArray *parts)
{
    const field_info *before = g_ptr_array_index(parts, 0);
    wmem_strbuf_t *name = wmem_strbuf_new(pool, text_of(pool, before));

    for (unsigned i = 1; i < MIN(parts->len, MAX_PARTS); i++) {
        const field_info *part = g_ptr_array_index(parts, i);
        int gap = part->start - (before->start + before->length);
        if (part->ds_tvb != before->ds_tvb || gap < 0 || gap > MAX_TAG) {
            break;
        }
        wmem_strbuf_append_printf(name, "/%s", text_of(pool, part));
        before = part;
    }
    return wmem_strbuf_get_str(name);
}

/* A logon to a pipe or port is that of its calls; one without a pipe is the session's around it. */
static uint64_t key_of_logon(packet_info *pinfo, uint64_t pipe)
{
    const conversation_t *conversation = find_conversation_pinfo(pinfo, 0);

    return pipe * 0x9E3779B97F4A7C15U + (conversation ? conversation->conv_index : UINT32_MAX);
}

/* Of several logons nobody can tell which one a call is of. */
static void learn_account(packet_info *pinfo, const char *account)
{
    uint64_t key = key_of_logon(pinfo, dcerpc_get_transport_salt(pinfo));
    const char *known = wmem_map_lookup(accounts, &key);

    if (known && (strstr(known, account) || strlen(known) >= MAX_ACCOUNTS)) {
        return;
    }
    wmem_map_insert(accounts, wmem_memdup(wmem_file_scope(), &key, sizeof key),
                    wmem_strconcat(wmem_file_scope(), known ? known : "", known ? " or " : "", account, NULL));
}

static tap_packet_status read_logon(void *data _U_, packet_info *pinfo, epan_dissect_t *edt, const void *frame _U_,
                                    tap_flags_t flags _U_)
{
    const GPtrArray *ntlm = fields_of(edt->tree, USER), *kerberos = fields_of(edt->tree, SERVICE);
    wmem_allocator_t *pool = pinfo->pool;

    if (ntlm && ntlm->len > 0) { /* "LAB\\Administrator (WORKSTATION)" */
        const char *user = first_text(pool, edt->tree, USER), *domain = first_text(pool, edt->tree, DOMAIN);
        const char *from = first_text(pool, edt->tree, WORKSTATION);
        learn_account(pinfo, wmem_strdup_printf(pool, "%s%s%s%s%s%s", domain, *domain ? "\\" : "", *user ? user : EMPTY,
                                                *from ? " (" : "", from, *from ? ")" : ""));
    } else if (kerberos && kerberos->len > 0) { /* "Kerberos to host/srv01"; whose ticket it is is sealed in it */
        const char *client = first_text(pool, edt->tree, CLIENT), *between = *client ? ", " : "";
        learn_account(pinfo,
                      wmem_strdup_printf(pool, "%s%sKerberos to %s", client, between, service_name(pool, kerberos)));
    }
    return TAP_PACKET_DONT_REDRAW;
}

const char *account_of(packet_info *pinfo)
{
    if (accounts == NULL) {
        return "";
    }
    uint64_t pipe = key_of_logon(pinfo, dcerpc_get_transport_salt(pinfo)), session = key_of_logon(pinfo, 0);
    const char *account = wmem_map_lookup(accounts, &pipe), *around = wmem_map_lookup(accounts, &session);

    return account ? account : around ? around : "";
}

void accounts_watch(void)
{
    if (accounts == NULL) { /* a filter gets us the fields that stand in it */
        accounts = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_int64_hash, g_int64_equal);
        output_listen("frame", &accounts, USER "||" DOMAIN "||" WORKSTATION "||" SERVICE "||" CLIENT, NULL, read_logon,
                      NULL);
    }
}
