/* sealed.c
 * Calls that Wireshark could not decrypt: the packet says which key opens them, and whether one was given.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/sealed.h"

#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/dissectors/packet-smb2.h>
#include <epan/prefs-int.h>

#include "tree/conversation-filters.h"
#include "tree/fields.h"
#include "text/decimal.h"

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10, AUTH_KERBEROS = 16 };

/* What was given to open a stub. tshark's -K leaves no trace but that kerberos.decrypt has to be on for it. */
typedef enum { NO_KEY, KEY, KEYTAB, UNUSED_KEYTAB, PERHAPS_KEYTAB, NUM_GIVEN } given_key;

/* What seals a stub, and why it is not opened; where a key goes stands first, for a reader has to see it without scrolling. */
typedef struct {
    const char *name;
    const char *why[NUM_GIVEN];
} lock;

#define SEALED_WITH(name) "The call is sealed with " name
#define OPENED_BY(name, key) SEALED_WITH(name) "; what opens it is " key
#define NOT_OPENED(name, place, option, key, not_fitting) \
    { \
        [NO_KEY] = "Key: " place " (" option "). " OPENED_BY(name, key), \
        [KEY] = "The key given (ntlmssp.nt_password) does not fit: " not_fitting ". " SEALED_WITH(name), \
        [KEYTAB] = "The key given (kerberos.file) does not fit: " not_fitting ". " SEALED_WITH(name), \
        [UNUSED_KEYTAB] = "The keytab given (kerberos.file) is not used: kerberos.decrypt is off (-o " \
                          "kerberos.decrypt:TRUE). " OPENED_BY(name, key), \
        [PERHAPS_KEYTAB] = "No key that fits: a keytab of -K does not, or none was given (kerberos.decrypt is on, " \
                           "kerberos.file empty). " OPENED_BY(name, key), \
    }

static const lock ntlm = {
    "NTLM", NOT_OPENED("NTLM", "NTLMSSP preferences, NT Password", "-o ntlmssp.nt_password:PASSWORD",
                       "the password of the account that logged on, or a keytab with its key",
                       "it is another account's, the logon (NTLMSSP_NEGOTIATE to _AUTH) or a call after it is not in "
                       "the capture, or Wireshark could not take the packet apart (_ws.malformed)")};

static const lock kerberos = {
    "Kerberos", NOT_OPENED("Kerberos", "KRB5 preferences, keytab file",
                           "-o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB; -K needs the first",
                           "a keytab with the key of the service that the ticket is for (kerberos.SNameString)",
                           "it is of another service, version or encryption type, the logon (AP-REQ) is not in the "
                           "capture, or Wireshark could not take the packet apart (_ws.malformed)")};

static int hf_operation, hf_size;
static int ett_sealed = -1;
static const rpc_fields *perflib;
static const value_string *operations[NUM_RPC_INTERFACES]; /* that are followed */

static const value_string winreg_operations[] = {
    {3, "OpenHKPD"}, {32, "OpenHKPT"}, {33, "OpenHKPN"}, {0, NULL}}; /* as Wireshark names them */

/* SPNEGO chose one of the two: RFC 4121's and RFC 1964's tokens are Kerberos', and NTLM's signature begins with its
 * version ([MS-NLMP] 2.2.2.9). */
static const lock *lock_of_token(tvbuff_t *pdu, int offset)
{
    switch (tvb_get_ntohs(pdu, offset)) {
    case 0x0504:
        return &kerberos;
    case 0x0100:
        return &ntlm;
    default:
        return tvb_get_uint8(pdu, offset) == 0x60 ? &kerberos : NULL;
    }
}

/* What sealed the stub; NULL if that is not known. */
static const lock *lock_of(tvbuff_t *pdu, const sealed_fragment *fragment)
{
    switch (fragment->auth_type) {
    case AUTH_NTLM:
        return &ntlm;
    case AUTH_KERBEROS:
        return &kerberos;
    case AUTH_SPNEGO:
        return lock_of_token(pdu, fragment->end + SEALED_TRAILER_SIZE);
    default:
        return NULL;
    }
}

static pref_t *preference_of(const char *module_name, const char *name)
{
    module_t *module = prefs_find_module(module_name);

    return module ? prefs_find_preference(module, name) : NULL;
}

static bool has_text(pref_t *preference)
{
    const char *text = preference ? prefs_get_string_value(preference, pref_current) : NULL;

    return text && *text;
}

/* A keytab may hold the key of an account, too, which opens NTLM. Preferences stay where they are as long as the program. */
static given_key key_given(const lock *what)
{
    static pref_t *password, *file, *decrypt; /* Kerberos' are NULL where Wireshark has none */
    static bool is_looked_up;

    if (!is_looked_up) {
        is_looked_up = true;
        password = preference_of("ntlmssp", "nt_password");
        file = preference_of("kerberos", "file");
        decrypt = preference_of("kerberos", "decrypt");
    }
    bool decrypts = decrypt && prefs_get_bool_value(decrypt, pref_current);
    if (what == &ntlm && has_text(password)) {
        return KEY;
    }
    if (has_text(file)) {
        return decrypts ? KEYTAB : UNUSED_KEYTAB;
    }
    return decrypts ? PERHAPS_KEYTAB : NO_KEY;
}

/* --- What a packet shows --------------------------------------------------------------------------------------- */

static void show_fields(proto_item *item, tvbuff_t *tvb, const sealed_pdu *pdu, const char *operation)
{
    proto_tree *tree = proto_item_add_subtree(item, ett_sealed);

    proto_item_set_generated(
        proto_tree_add_uint_format_value(tree, hf_operation, tvb, 0, 0, pdu->opnum, "%s (%u)", operation, pdu->opnum));
    proto_item_set_generated(proto_tree_add_uint(tree, hf_size, tvb, 0, 0, pdu->size));
}

static void explain(packet_info *pinfo, proto_item *item, tvbuff_t *tvb, const lock *what, sealed_call *call)
{
    static const char *const says[] = {"no key", "the key given does not fit", "the key given does not fit",
                                       "kerberos.decrypt is off", "no key that fits"};
    given_key given = key_given(what);
    findings_report report;
    bool does_not_fit = given != NO_KEY && given != PERHAPS_KEYTAB;
    char size[TEXT_NUMBER_SIZE];

    call->why = what->why[given];
    call->item = item;
    text_integer(size, call->pdu->size);
    col_append_lstr(pinfo->cinfo, COL_INFO, ", ", size, call->pdu->size == 1 ? " byte" : " bytes", ", sealed with ",
                    what->name, ", ", says[given], COL_ADD_LSTR_TERMINATOR);
    if (item) {
        show_fields(item, tvb, call->pdu, call->operation);
    }
    findings_begin(&report, pinfo, &perflib->expert);
    findings_add(&report, item, does_not_fit ? FINDING_KEY_DOES_NOT_FIT : FINDING_SEALED, "%s", call->why);
    sealed_call_tell(pinfo, call);
}

static const char *operation_of(const sealed_pdu *pdu)
{
    return val_to_str_const(pdu->opnum, operations[pdu->interface], "");
}

/* Of the only PDU Wireshark has shown the protocol and the operation, if it is the only fragment. `any`: others stand before it. */
static void show_pdu(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const sealed_fragment *fragment,
                     sealed_pdu *pdu, bool *any)
{
    const lock *what = lock_of(tvb, fragment);
    bool is_alone = !*any && fragment->is_first && fragment->is_last && fragment->next == (int)tvb_reported_length(tvb);
    sealed_call call = {.operation = operation_of(pdu), .pdu = pdu};
    proto_item *item = tree ? tree->last_child : NULL;

    if (what == NULL) {
        return;
    }
    if (!is_alone) {
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "PCQ");
        (*any ? col_append_fstr : col_add_fstr)(pinfo->cinfo, COL_INFO, "%s%s %s", *any ? ", " : "", call.operation,
                                                fragment->is_response ? "response" : "request");
        item = proto_tree_add_item(tree, perflib->proto, tvb, at, fragment->next - at, ENC_NA);
    }
    *any = true;
    conversation_filters_note_call(pinfo);
    explain(pinfo, item, tvb, what, &call);
}

/* --- PDUs ------------------------------------------------------------------------------------------------------ */

static void show_sealed_fault(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at)
{
    sealed_fragment fragment;
    sealed_call fault = {.is_fault = true};

    if (!sealed_fault_read(&fragment, &fault.status, tvb, at)) {
        return;
    }
    fault.record = call_of_answer(pinfo, fragment.call_id);
    fault.pdu = fault.record ? NULL : sealed_pdu_take(pinfo, &fragment, operations);
    if (fault.record || fault.pdu) {
        const rpc_fields *fields = fault.record ? fault.record->protocol : perflib;
        fault.operation = fault.record ? fault.record->operation : operation_of(fault.pdu);
        call_show_fault(fields, fault.operation, tvb, at, fragment.next - at, pinfo, tree, fault.status);
        sealed_call_tell(pinfo, &fault);
    }
}

static bool show_sealed(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, bool *any)
{
    sealed_fragment fragment;
    bool is_sealed = !ws_has_data_source(pinfo, "Decrypted stub data") && sealed_fragment_read(&fragment, tvb, at);
    sealed_pdu *pdu = is_sealed ? sealed_pdu_take(pinfo, &fragment, operations) : NULL;

    if (pdu) {
        show_pdu(tvb, pinfo, tree, at, &fragment, pdu, any);
    }
    return pdu != NULL;
}

/* What a response says of a call that was read: that it is there. */
static void tell_answer(packet_info *pinfo, uint32_t call_id)
{
    const rpc_record *record = call_of_answer(pinfo, call_id);

    if (record) {
        sealed_call_tell(pinfo, &(sealed_call){.why = TAPPED_CUT, .operation = record->operation, .record = record});
    }
}

/* Where nothing is sealed, as where all is opened, this is all that a PDU costs. */
static void show_pdus(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    rpc_header header;
    bool any = false;

    for (int at = 0; connections_exist() && pdu_header_read(&header, tvb, at); at += header.size) {
        if (header.type == PDU_FAULT) {
            show_sealed_fault(tvb, pinfo, tree, at);
        } else if (header.type == PDU_REQ || header.type == PDU_RESP) {
            bool is_sealed = show_sealed(tvb, pinfo, tree, at, &any);
            if (!is_sealed && header.type == PDU_RESP && header.is_last) {
                tell_answer(pinfo, header.call_id);
            }
        }
    }
}

/* Wireshark's heuristics for DCE/RPC over something: they see each PDU. */
#define TRANSPORTS(X) X(tcp, NULL) X(smb2, tree_of(data)) X(smb_transact, NULL)

#define TRANSPORT_WATCH(name, target) \
    static heur_dissector_t stock_##name; \
    static ws_heuristic watch_##name(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data) \
    { \
        call_set_target(target); \
        return dissect_transport(stock_##name, tvb, pinfo, tree, data); \
    }

/* What the client called the server as it connected to its pipes: "\\\\SRV01\\IPC$". */
static const char *tree_of(const void *data)
{
    const smb2_info_t *smb = data;

    return smb && smb->tree ? smb->tree->name : NULL;
}

static ws_heuristic dissect_transport(heur_dissector_t stock, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                                      void *data)
{
    volatile ws_heuristic result = true;
    pdus_cursor cursor;

    pdus_note_message(tvb, pinfo);
    pdus_enter(&cursor, tvb, pinfo);
    TRY
    {
        result = stock(tvb, pinfo, tree, data);
    }
    FINALLY /* what was cut short when it was captured says in its header what it was */
    {
        pdus_leave(&cursor, result);
        if (result) {
            show_pdus(tvb, pinfo, tree);
        }
    }
    ENDTRY;
    return result;
}

TRANSPORTS(TRANSPORT_WATCH)

/* What is around them: a message that was cut short when it was captured, Wireshark takes no PDU out of. */
#define MESSAGES(X) X(smb2_netbios) X(smb_netbios)

#define MESSAGE_WATCH(name) \
    static heur_dissector_t stock_##name; \
    static ws_heuristic watch_##name(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data) \
    { \
        pdus_note_message(tvb, pinfo); \
        return stock_##name(tvb, pinfo, tree, data); \
    }

MESSAGES(MESSAGE_WATCH)

#define TRANSPORT_INSTALL(name, target) install("dcerpc_" #name, &stock_##name, watch_##name);
#define MESSAGE_INSTALL(name) install(#name, &stock_##name, watch_##name);

static void install(const char *name, heur_dissector_t *stock, heur_dissector_t watched)
{
    heur_dtbl_entry_t *entry = find_heur_dissector_by_unique_short_name(name);

    if (entry && entry->dissector != watched) {
        *stock = entry->dissector;
        entry->dissector = watched;
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

static e_guid_t uuids[NUM_RPC_INTERFACES];

void sealed_watch(rpc_interface interface, const e_guid_t *uuid, bool (*is_watched)(void),
                  bool (*may_change)(uint16_t opnum))
{
    uuids[interface] = *uuid;
    pdus_watch(interface, &(pdus_interface){&uuids[interface], is_watched, may_change});
    TRANSPORTS(TRANSPORT_INSTALL)
    MESSAGES(MESSAGE_INSTALL)
}

void sealed_register(const rpc_fields *fields_of_perflib, const value_string *perflib_operations, const uint8_t *does,
                     unsigned count)
{
    int proto = fields_of_perflib->proto;
    static int *ett[] = {&ett_sealed};
    static hf_register_info fields[] = {
        FIELD(hf_operation, "Sealed operation", "pcq.sealed.operation", FT_UINT16, BASE_DEC, NULL,
              "Operation of a call that no key opened, of PerflibV2 or (3, 32, 33) of winreg"),
        FIELD_U32(hf_size, "Sealed bytes", "pcq.sealed.size",
                  "Bytes of its stub over all fragments, without padding and security trailer"),
    };

    proto_register_field_array(proto, fields, array_length(fields));
    proto_register_subtree_array(ett, array_length(ett));
    sealed_pdus_register();
    perflib = fields_of_perflib;
    operations[RPC_PERFLIB] = perflib_operations;
    operations[RPC_WINREG] = winreg_operations;
    sealed_calls_register(fields_of_perflib, does, count);
}
