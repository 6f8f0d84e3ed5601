/* sealed.c
 * Calls that Wireshark could not decrypt: the packet says which key opens them, and whether one was given.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/sealed.h"

#include <epan/expert.h>
#include <epan/prefs-int.h>

/* Where DCE/RPC looks for an interface's dissector, and where the handle that was there is kept. */
#define DCERPC_TABLE "dcerpc.uuid"
#define OWN_TABLE "pcq.dcerpc"

/* sec_trailer ([MS-RPCE] 2.2.2.11): auth_type, auth_level, auth_pad_length, reserved, auth_context_id. */
#define SEC_TRAILER_SIZE 8
#define PKT_PRIVACY 6

/* The header of a request without an object's UUID. */
#define REQUEST_SIZE 24

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10, AUTH_KERBEROS = 16 };

/* What seals a stub, what opens it, and where that goes. */
typedef struct {
    const char *name;
    const char *place; /* a reader has to see it without scrolling */
    const char *option;
    const char *key;
    const char *not_fitting; /* why a key that was given may not fit */
} lock;

static const lock ntlm = {
    "NTLM", "NTLMSSP preferences, NT Password", "-o ntlmssp.nt_password:PASSWORD",
    "the password of the account that logged on, or a keytab with its key",
    "it is another account's, or the logon (NTLMSSP_AUTH) or a call after it is not in the capture"};

static const lock kerberos = {
    "Kerberos", "KRB5 preferences, keytab file", "-o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB; -K needs the first",
    "a keytab with the key of the service that the ticket is for (kerberos.SNameString)",
    "it is of another service, version or encryption type, or the logon (AP-REQ) is not in the capture"};

/* What was given to open it. tshark's -K leaves no trace but that kerberos.decrypt has to be on for it. */
typedef enum { NO_KEY, KEY, KEYTAB, UNUSED_KEYTAB, PERHAPS_KEYTAB } given_key;

static expert_field ei_sealed = EI_INIT;
static expert_field ei_does_not_fit = EI_INIT;
static guid_key perflib, winreg;
static bool (*winreg_is_watched)(void);
static dissector_table_t own_table;
static sealed_listener tell;

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

/* What sealed the stub; NULL if nothing did, or nothing that is known. A stub that was opened is a data source of its
 * own; one that was not lies in its PDU, before the security trailer. */
static const lock *lock_of(tvbuff_t *stub)
{
    tvbuff_t *pdu = tvb_get_ds_tvb(stub);
    int trailer = tvb_raw_offset(stub) + (int)tvb_reported_length(stub);

    if (!tvb_bytes_exist(pdu, trailer, SEC_TRAILER_SIZE + 2) || tvb_get_uint8(pdu, trailer + 1) != PKT_PRIVACY) {
        return NULL;
    }
    switch (tvb_get_uint8(pdu, trailer)) {
    case AUTH_NTLM:
        return &ntlm;
    case AUTH_KERBEROS:
        return &kerberos;
    case AUTH_SPNEGO:
        return lock_of_token(pdu, trailer + SEC_TRAILER_SIZE);
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

/* A keytab may hold the key of an account, too, which opens NTLM. */
static given_key key_given(const lock *what)
{
    pref_t *decrypt = preference_of("kerberos", "decrypt"); /* NULL where Wireshark has no Kerberos */
    bool decrypts = decrypt && prefs_get_bool_value(decrypt, pref_current);

    if (what == &ntlm && has_text(preference_of("ntlmssp", "nt_password"))) {
        return KEY;
    }
    if (has_text(preference_of("kerberos", "file"))) {
        return decrypts ? KEYTAB : UNUSED_KEYTAB;
    }
    return decrypts ? PERHAPS_KEYTAB : NO_KEY;
}

static const char *why_sealed(wmem_allocator_t *pool, const lock *what, given_key given)
{
    switch (given) {
    case KEY:
    case KEYTAB:
        return wmem_strdup_printf(pool, "The key given (%s) does not fit: %s. The call is sealed with %s",
                                  given == KEY ? "ntlmssp.nt_password" : "kerberos.file", what->not_fitting,
                                  what->name);
    case UNUSED_KEYTAB:
        return wmem_strdup_printf(pool,
                                  "The keytab given (kerberos.file) is not used: kerberos.decrypt is off (-o "
                                  "kerberos.decrypt:TRUE). The call is sealed with %s; what opens it is %s",
                                  what->name, what->key);
    case PERHAPS_KEYTAB:
        return wmem_strdup_printf(
            pool,
            "No key that fits: a keytab of -K does not, or none was given (kerberos.decrypt is on, "
            "kerberos.file empty). The call is sealed with %s; what opens it is %s",
            what->name, what->key);
    default:
        return wmem_strdup_printf(pool, "Key: %s (%s). The call is sealed with %s; what opens it is %s", what->place,
                                  what->option, what->name, what->key);
    }
}

static void explain(packet_info *pinfo, proto_tree *tree, const lock *what)
{
    static const char *const says[] = {"no key", "the key given does not fit", "the key given does not fit",
                                       "kerberos.decrypt is off", "no key that fits"};
    given_key given = key_given(what);
    proto_item *item =
        tree && tree->last_child ? tree->last_child : tree; /* the protocol's, which has just been added */
    const char *why = why_sealed(pinfo->pool, what, given);
    bool does_not_fit = given != NO_KEY && given != PERHAPS_KEYTAB;

    col_append_fstr(pinfo->cinfo, COL_INFO, ", sealed with %s, %s", what->name, says[given]);
    expert_add_info_format(pinfo, item, does_not_fit ? &ei_does_not_fit : &ei_sealed, "%s", why);
    tell(pinfo, why);
}

/* winreg's operations 3, 32 and 33; only requests carry the number. */
static bool opens_performance_data(tvbuff_t *stub)
{
    tvbuff_t *pdu = tvb_get_ds_tvb(stub);
    int header = tvb_raw_offset(stub) - REQUEST_SIZE;

    if (header < 0 || tvb_get_uint8(pdu, header) != 5 || tvb_get_uint8(pdu, header + 2) != PDU_REQ) {
        return false;
    }
    bool little_endian = tvb_get_uint8(pdu, header + 4) >> 4 == 1;
    uint16_t opnum = tvb_get_uint16(pdu, header + 22, little_endian ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN);
    return opnum == 3 || opnum == 32 || opnum == 33;
}

static int dissect_perflib(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    int consumed = ws_dissector_try_guid(own_table, &perflib, tvb, pinfo, tree, false, data);
    const lock *what = consumed ? lock_of(tvb) : NULL;

    if (what) {
        explain(pinfo, tree, what);
    }
    return consumed;
}

static int dissect_winreg(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    int consumed = ws_dissector_try_guid(own_table, &winreg, tvb, pinfo, tree, false, data);
    const lock *what = consumed ? lock_of(tvb) : NULL;

    if (what && winreg_is_watched() && opens_performance_data(tvb)) {
        explain(pinfo, tree, what);
    }
    return consumed;
}

/* The new handle is of the same protocol: switched off with it, and with no other. Wireshark takes two of one protocol for
 * the same if they are not described. */
static void watch(guid_key *interface, e_guid_t *uuid, uint16_t version, dissector_t dissector, const char *description)
{
    dissector_table_t table = find_dissector_table(DCERPC_TABLE);

    interface->guid = *uuid;
    interface->ver = version;
    dissector_handle_t stock = table && own_table ? dissector_get_guid_handle(table, interface) : NULL;
    if (stock) {
        dissector_add_guid(OWN_TABLE, interface, stock);
        int proto = dissector_handle_get_protocol_index(stock);
        dissector_add_guid(DCERPC_TABLE, interface,
                           create_dissector_handle_with_name_and_description(dissector, proto, NULL, description));
    }
}

void sealed_watch_perflib(e_guid_t *uuid, uint16_t version)
{
    watch(&perflib, uuid, version, dissect_perflib, "PCQ, sealed calls too");
}

void sealed_watch_winreg(e_guid_t *uuid, uint16_t version, bool (*is_watched)(void))
{
    winreg_is_watched = is_watched;
    watch(&winreg, uuid, version, dissect_winreg, "WINREG, sealed calls too");
}

void sealed_register(int proto, sealed_listener listener)
{
    static ei_register_info findings[] = {
        {&ei_sealed,
         {"pcq.expert.sealed", PI_DECRYPTION, PI_NOTE, "The call is sealed, and no key was given", EXPFILL}},
        {&ei_does_not_fit,
         {"pcq.expert.key_does_not_fit", PI_DECRYPTION, PI_WARN,
          "The call is sealed, and the key given does not open it", EXPFILL}},
    };

    for (unsigned i = 0; i < array_length(findings); i++) {
        findings[i].eiinfo.hf_info.hfinfo.blurb = "The packet says which key opens it; docs/decryption.md says how";
    }
    expert_register_field_array(expert_register_protocol(proto), findings, array_length(findings));
    tell = listener;
    own_table =
        register_dissector_table(OWN_TABLE, "Interfaces whose sealed calls PCQ explains", proto, FT_GUID, BASE_HEX);
}
