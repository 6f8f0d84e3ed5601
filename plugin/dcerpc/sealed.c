/* sealed.c
 * Calls that Wireshark could not decrypt.
 *
 * From the top: what a sealed PDU says in clear; the PDUs that were followed, each kept from the first pass on; what is learned of them and told to
 * listeners; what seals a stub and which key was given; what a packet shows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/call.h"

#include <epan/prefs-int.h>

#include "tree/fields.h"
#include "text/numbers.h"
#include "text/value-strings.h"

static const rpc_protocol *perflib;

/* Which key it is about a call of winreg hides but for those that open HKEY_PERFORMANCE_DATA: of the others listeners are told after one
 * of these, and packets say nothing. */
static bool is_of_any_key(rpc_interface interface, const rpc_operation *operation)
{
    return interface == RPC_WINREG && !(operation->flags & RPC_OPENS);
}

/* --- What a sealed PDU says in clear --------------------------------------------------------------------------- */

/* What a fault has at least ([C706] 12.6.4). */
#define FAULT_SIZE 32

/* One fragment of a request or response whose stub is sealed; or a fault. */
typedef struct {
    rpc_header header;
    int token; /* where the token of what sealed it begins in the PDU's tvb */
    uint8_t auth_type;
} sealed_fragment;

/* False if the PDU at `at` is no whole request or response with a sealed stub. */
static bool read_fragment(sealed_fragment *fragment, const rpc_header *header, tvbuff_t *tvb, int at)
{
    int end = at + header->size - header->auth_size - RPC_TRAILER_SIZE;

    if (header->auth_level != RPC_LEVEL_PRIVACY || header->stub_size == 0 ||
        header->size > (int)tvb_reported_length_remaining(tvb, at) ||
        !tvb_bytes_exist(tvb, end, RPC_TRAILER_SIZE + 2)) {
        return false;
    }
    *fragment = (sealed_fragment){*header, end + RPC_TRAILER_SIZE, tvb_get_uint8(tvb, end)};
    return true;
}

/* --- PDUs that are followed ------------------------------------------------------------------------------------ */

/* One request or response, known when its last fragment has been seen. Lives with the file. */
typedef struct {
    struct {
        uint64_t pipe;
        uint64_t is_response;
        uint32_t call_id;
        uint32_t frame; /* of the last fragment */
    } key;
    rpc_connection *connection;
    rpc_call *call; /* of a call that was read, whose response was not, or is a fault; NULL: the rest is known */
    rpc_interface interface;
    const rpc_operation *operation;
    uint32_t asked_size;     /* of the request's stub */
    double seconds;          /* from the request to this response; negative of a request and where it is not known */
    const late_sample *late; /* whether the sample that it brought is late */
    tapped_sealed sealed;    /* its sizes are those of all fragments; its connection the query, where that is known */
} sealed_pdu;

static wmem_map_t *pdus; /* sealed_pdu, as its own key; emptied with the file */

static unsigned pdu_hash(const void *key)
{
    const sealed_pdu *pdu = key;
    uint64_t number = (uint64_t)pdu->key.frame << 32 | pdu->key.call_id;

    return wmem_int64_hash(&number) + (unsigned)pdu->key.pipe;
}

static gboolean pdu_equal(const void *a, const void *b)
{
    return memcmp(a, b, sizeof((const sealed_pdu *)a)->key) == 0;
}

/* What a response has around the data that it returns: two sizes, three numbers of the array, the status; with NDR64, whose
 * numbers of an array have 8 bytes, padding behind. ValidateCounters returns them without the sizes, and always. QueryValue has four
 * pointers and what three of them point to, too; and what has no more than LEAST_VALUE is no sample. */
#define AROUND_DATA 24
#define AROUND_DATA_NDR64 36
#define NDR64_ALIGNMENT 8
#define AROUND_VALUE 44
#define LEAST_VALUE 52

static sealed_pdu *keep_sealed(packet_info *pinfo, rpc_connection *connection, const sealed_pdu *pdu, bool is_ndr64)
{
    sealed_pdu *kept = wmem_memdup(wmem_file_scope(), pdu, sizeof *pdu);
    tapped_sealed *sealed = &kept->sealed;
    uint32_t around = is_ndr64 ? AROUND_DATA_NDR64 : AROUND_DATA, padding = is_ndr64 ? NDR64_ALIGNMENT : 1, size = 0;
    unsigned flags = pdu->operation ? pdu->operation->flags : 0;
    bool returns_data = pdu->key.is_response && flags & RPC_RETURNS;

    if (pdu->interface == RPC_WINREG) {
        size = sealed->size > AROUND_VALUE + LEAST_VALUE ? sealed->size - AROUND_VALUE : 0;
    } else if (sealed->size >= around) {
        size = (sealed->size - around) / padding * padding;
    }
    kept->key.pipe = connection->pipe;
    kept->key.frame = pinfo->num;
    kept->connection = connection;
    sealed->connection = connection;
    sealed->uses_query = flags & (RPC_OPENS | RPC_USES | RPC_CLOSES);
    sealed->takes_sample = flags & RPC_SAMPLES;
    sealed->is_empty = returns_data && size == 0;
    sealed->sample_size = returns_data && sealed->takes_sample ? size : 0;
    wmem_map_insert(pdus, kept, kept);
    return kept;
}

static sealed_pdu *find_pdu(packet_info *pinfo, uint32_t call_id, bool is_response)
{
    const sealed_pdu look_for = {.key = {dcerpc_get_transport_salt(pinfo), is_response, call_id, pinfo->num}};

    return wmem_map_lookup(pdus, &look_for);
}

/* Up to which multiple some senders round what they say of a stub's size. */
#define LARGEST_PADDING 16

/* True unless a fragment is missing, as the first one tells: by the size of all, up to padding, of itself, or none. */
static bool is_size_known(const rpc_pending_call *pending, const rpc_header *last, unsigned way)
{
    uint32_t size = pending->size[way], hint = pending->hint[way];

    return (last->is_first && last->is_last) ||
           ((way == 0 || pending->has_answer_begun) &&
            (hint == 0 || (hint + LARGEST_PADDING > size && hint < size + LARGEST_PADDING)));
}

void sealed_keep(packet_info *pinfo, rpc_connection *connection, const rpc_pending_call *pending,
                 const rpc_header *header, tvbuff_t *tvb, int at)
{
    unsigned way = header->type != PDU_REQ;
    bool is_fault = header->type == PDU_FAULT, is_of_call = way == 1 && pending->call && pending->call->operation;
    const rpc_operation *operation = pdus_find_operation(pending->interface, pending->opnum);
    sealed_fragment fragment;
    const sealed_pdu pdu = {
        .key = {.call_id = header->call_id, .is_response = way},
        .call = is_of_call ? pending->call : NULL,
        .interface = pending->interface,
        .operation = operation,
        .asked_size = pending->size[0],
        .seconds = way == 1 ? pdus_get_seconds(&pending->time, pinfo) : -1,
        .sealed = {.size = pending->size[way], .request_time = pending->time, .request_frame = pending->frame},
    };

    if (!header->is_last) {
        return;
    }
    if (is_of_call && pending->call->response_frame == 0) {
        pending->call->response_frame = pinfo->num;
        if (is_fault && pending->call->protocol->end_by_fault) {
            pending->call->protocol->end_by_fault(pending->call);
        }
    }
    bool is_followed = operation && (connection->sealed_query || !is_of_any_key(pending->interface, operation));
    bool is_sealed = read_fragment(&fragment, header, tvb, at) && is_size_known(pending, header, way);
    if (is_of_call || (is_followed && (is_fault || is_sealed))) {
        keep_sealed(pinfo, connection, &pdu, pending->is_ndr64);
    }
}

/* --- What is learned of them ----------------------------------------------------------------------------------- */

/* What a sealed connection asks from one OpenQueryHandle to the next one that finds all closed: of several queries that are open
 * at a time, the seal hides whose a call is. */
typedef struct {
    timing_series *series;
    unsigned num_open;
    bool is_closed; /* the last request closed the only one */
} sealed_query;

/* On the first pass. Whether an open failed its status says, which is sealed: only a fault is seen. */
static void learn_sealed(sealed_pdu *pdu, bool is_fault)
{
    tapped_sealed *sealed = &pdu->sealed;
    sealed_query *query = pdu->connection->sealed_query;
    bool is_request = !pdu->key.is_response, opens = pdu->operation->flags & RPC_OPENS;
    bool closes = is_request && pdu->operation->flags & RPC_CLOSES;

    if (query == NULL || (is_request && opens && query->is_closed)) {
        query = wmem_new0(wmem_file_scope(), sealed_query);
        query->series = wmem_new0(wmem_file_scope(), timing_series);
        pdu->connection->sealed_query = query;
    }
    query->num_open += is_request && opens;
    query->num_open -= query->num_open > 0 && (closes || (opens && is_fault));
    query->is_closed = is_request ? closes && query->num_open == 0 : query->is_closed;
    sealed->connection = query;
    if (pdu->interface == RPC_WINREG) {
        return; /* several questions take turns, and lists of names are among them */
    }
    if (sealed->takes_sample && is_request) {
        timing_add_request(query->series, nstime_to_sec(&sealed->request_time));
    } else if (sealed->takes_sample) {
        pdu->late = sample_add_response(query->series, pdu->seconds, sealed->sample_size > 0);
    }
}

/* Whoever listens is handed a request, response or fault that no key opened; `tapped` says why, or that it is a fault. On the first pass it
 * is learned. `item`: what is shown of it, may be NULL. */
static void tap_sealed_pdu(packet_info *pinfo, sealed_pdu *pdu, proto_item *item, tapped_call *tapped)
{
    const tapped_sealed *sealed = &pdu->sealed;

    if (sealed->uses_query && !PINFO_FD_VISITED(pinfo)) {
        learn_sealed(pdu, tapped->is_fault);
    }
    tapped->is_hkpd = pdu->interface == RPC_WINREG;
    tapped->is_response = pdu->key.is_response;
    tapped->operation = pdu->operation->name;
    tapped->request_frame = sealed->request_frame;
    tapped->seconds = pdu->seconds;
    tapped->is_late = pdu->late != NULL;
    tapped->does_not_seal = rpc_connection_is_unsealed(pdu->connection);
    tapped->server = pdu->connection->server;
    if (tapped->is_fault) {
        tapped->sealed = (tapped_sealed){.connection = sealed->connection, .uses_query = sealed->uses_query};
    } else {
        tapped->subject = &pdu->connection;
        tapped->subject_size = sizeof pdu->connection;
        tapped->request_code = tapped->is_hkpd ? pdu->asked_size : 0;
        tapped->sealed = *sealed;
    }
    tapped_hand_over(pinfo, tapped);
    if (!tapped->is_fault) {
        expert_report report = {.pinfo = pinfo, .expert = &perflib->expert};
        rpc_report_late(&report, item, pdu->late);
    }
}

/* The same of a response that was not read, or a fault, of a call that was. */
static void tap_unread_answer(packet_info *pinfo, const sealed_pdu *pdu, tapped_call *tapped)
{
    const rpc_call *call = pdu->call;

    tapped->is_hkpd = call->protocol != perflib;
    tapped->is_response = true;
    tapped->operation = call->operation;
    tapped->request_frame = call->request_frame;
    tapped->seconds = pdu->seconds;
    tapped->does_not_seal = rpc_connection_is_unsealed(call->connection);
    tapped->server = call->server;
    tapped->handle = call->handle;
    tapped_hand_over(pinfo, tapped);
}

void sealed_add_garbled(const rpc_pdu *pdu_read)
{
    const dcerpc_call_value *known = pdu_read->di->call_data;
    packet_info *pinfo = pdu_read->pinfo;
    bool is_response = !pdu_read->is_request;
    const sealed_pdu noise = {
        .key = {.call_id = pdu_read->di->call_id, .is_response = is_response},
        .interface = RPC_PERFLIB,
        .operation = pdus_find_operation(RPC_PERFLIB, known->opnum),
        .seconds = rpc_pdu_get_seconds(pdu_read),
        .sealed = {.size = (uint32_t)tvb_reported_length_remaining(pdu_read->tvb, pdu_read->offset),
                   .request_time = known->req_time,
                   .request_frame = known->req_frame,
                   .answers_read = is_response && pdu_read->call->request_read},
    };
    sealed_pdu *pdu = PINFO_FD_VISITED(pinfo)
                          ? find_pdu(pinfo, noise.key.call_id, is_response)
                          : keep_sealed(pinfo, pdu_read->call->connection, &noise, pdu_read->ndr.ndr64);

    if (pdu) {
        tap_sealed_pdu(pinfo, pdu, pdu_read->tree, &(tapped_call){.unread = TAPPED_NOISE});
    }
}

/* --- What seals them, and which key was given ------------------------------------------------------------------- */

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10, AUTH_KERBEROS = 16 };

/* What was given to open a stub; or that it was opened, and Wireshark gave up after that. tshark's -K leaves no trace but that
 * kerberos.decrypt has to be on for it. */
typedef enum { NO_KEY, KEY, KEYTAB, UNUSED_KEYTAB, PERHAPS_KEYTAB, OPENED, NUM_GIVEN } given_key;

/* What seals a stub, and by what was given why it is not opened: in the Info column, as a finding, and where a key goes, which stands first,
 * for a reader has to see it without scrolling. */
typedef struct {
    const char *name;
    struct {
        const char *says;
        expert_id finding;
        const char *why;
    } given[NUM_GIVEN];
} lock;

#define SEALED_WITH(name) "The call is sealed with " name
#define OPENED_BY(name, key) SEALED_WITH(name) "; what opens it is " key
#define NOT_OPENED(name, place, option, key, not_fitting) \
    { \
        [NO_KEY] = {"no key", EI_SEALED, "Key: " place " (" option "). " OPENED_BY(name, key)}, \
        [KEY] = {"the key given does not fit", EI_KEY_DOES_NOT_FIT, \
                 "The key given (ntlmssp.nt_password) does not fit: " not_fitting ". " SEALED_WITH(name)}, \
        [KEYTAB] = {"the key given does not fit", EI_KEY_DOES_NOT_FIT, \
                    "The key given (kerberos.file) does not fit: " not_fitting ". " SEALED_WITH(name)}, \
        [UNUSED_KEYTAB] = {"kerberos.decrypt is off", EI_KEY_DOES_NOT_FIT, \
                           "The keytab given (kerberos.file) is not used: kerberos.decrypt is off (-o " \
                           "kerberos.decrypt:TRUE). " OPENED_BY(name, key)}, \
        [PERHAPS_KEYTAB] = {"no key that fits", EI_SEALED, \
                            "No key that fits: a keytab of -K does not, or none was given (kerberos.decrypt is on, " \
                            "kerberos.file empty). " OPENED_BY(name, key)}, \
        [OPENED] = { \
            "opened and malformed", EI_NOT_DECRYPTED, \
            "The key given fits, and Wireshark could not take the packet apart (_ws.malformed). " SEALED_WITH(name)}, \
    }

static const lock ntlm = {
    "NTLM", NOT_OPENED("NTLM", "NTLMSSP preferences, NT Password", "-o ntlmssp.nt_password:PASSWORD",
                       "the password of the account that logged on, or a keytab with its key",
                       "it is another account's, or the logon (NTLMSSP_NEGOTIATE to _AUTH) or a call after it is not "
                       "in the capture")};

static const lock kerberos = {
    "Kerberos", NOT_OPENED("Kerberos", "KRB5 preferences, keytab file",
                           "-o kerberos.decrypt:TRUE -o kerberos.file:KEYTAB; -K needs the first",
                           "a keytab with the key of the service that the ticket is for (kerberos.SNameString)",
                           "it is of another service, version or encryption type, the logon (AP-REQ) is not in the "
                           "capture, or Wireshark could not take the packet apart (_ws.malformed)")};

/* What sealed the stub; NULL if that is not known. SPNEGO chose one of the two: RFC 4121's and RFC 1964's tokens are Kerberos', and NTLM's
 * signature begins with its version ([MS-NLMP] 2.2.2.9). */
static const lock *lock_of(tvbuff_t *pdu, const sealed_fragment *fragment)
{
    bool is_either = fragment->auth_type == AUTH_SPNEGO;
    unsigned kind = tvb_get_ntohs(pdu, fragment->token);

    return fragment->auth_type == AUTH_NTLM || (is_either && kind == 0x0100)                              ? &ntlm
           : fragment->auth_type == AUTH_KERBEROS || (is_either && (kind == 0x0504 || kind >> 8 == 0x60)) ? &kerberos
                                                                                                          : NULL;
}

static bool has_text(pref_t *preference)
{
    const char *text = preference ? prefs_get_string_value(preference, pref_current) : NULL;

    return text && *text;
}

/* A keytab may hold the key of an account, too, which opens NTLM. Preferences stay where they are as long as the program. */
static given_key key_given(packet_info *pinfo, const lock *what)
{
    static pref_t *password, *file, *decrypt; /* Kerberos' are NULL where Wireshark has none */
    static bool is_looked_up;

    if (!is_looked_up) {
        is_looked_up = true;
        password = pdus_find_preference("ntlmssp", "nt_password");
        file = pdus_find_preference("kerberos", "file");
        decrypt = pdus_find_preference("kerberos", "decrypt");
    }
    bool decrypts = decrypt && prefs_get_bool_value(decrypt, pref_current);
    if (what == &ntlm &&
        ws_has_data_source(pinfo, "Decrypted data")) { /* of packet-ntlmssp.c, once it has the session's key */
        return OPENED;
    }
    if (what == &ntlm && has_text(password)) {
        return KEY;
    }
    if (has_text(file)) {
        return decrypts ? KEYTAB : UNUSED_KEYTAB;
    }
    return decrypts ? PERHAPS_KEYTAB : NO_KEY;
}

/* --- What a packet shows --------------------------------------------------------------------------------------- */

static int hf_operation, hf_size;
static int ett_sealed = -1;

/* Of the only PDU Wireshark has shown the protocol and the operation, if it is the only fragment. `any`: others stand before it. */
static void show_pdu(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const sealed_fragment *fragment,
                     sealed_pdu *pdu, bool *any)
{
    const lock *what = lock_of(tvb, fragment);
    const rpc_header *header = &fragment->header;
    const rpc_operation *operation = pdu->operation;
    uint32_t size = pdu->sealed.size;
    proto_item *item = NULL;
    char text[TEXT_NUMBER_SIZE];

    if (what == NULL) {
        return;
    }
    given_key given = key_given(pinfo, what);
    if (!is_of_any_key(pdu->interface, operation)) {
        item = tree ? tree->last_child : NULL;
        if (*any || !header->is_first || !header->is_last || at + header->size != (int)tvb_reported_length(tvb)) {
            col_set_str(pinfo->cinfo, COL_PROTOCOL, "PCQ");
            (*any ? col_append_fstr : col_add_fstr)(pinfo->cinfo, COL_INFO, "%s%s %s", *any ? ", " : "",
                                                    operation->name, header->type == PDU_REQ ? "request" : "response");
            item = proto_tree_add_item(tree, perflib->proto, tvb, at, header->size, ENC_NA);
        }
        *any = true;
        text_integer(text, size);
        col_append_lstr(pinfo->cinfo, COL_INFO, ", ", text, size == 1 ? " byte" : " bytes", ", sealed with ",
                        what->name, ", ", what->given[given].says, COL_ADD_LSTR_TERMINATOR);
        if (item) {
            rpc_add_filter_data(pinfo);
            proto_tree *inner = proto_item_add_subtree(item, ett_sealed);
            proto_item_set_generated(proto_tree_add_uint_format_value(inner, hf_operation, tvb, 0, 0, operation->opnum,
                                                                      "%s (%u)", operation->name, operation->opnum));
            tree_add_generated_uint(inner, hf_size, tvb, size);
        }
        expert_report report = {.pinfo = pinfo, .expert = &perflib->expert};
        expert_report_add(&report, item, what->given[given].finding, "%s", what->given[given].why);
    }
    tap_sealed_pdu(pinfo, pdu, item, &(tapped_call){.unread = what->given[given].why});
}

/* --- Each PDU --------------------------------------------------------------------------------------------------- */

static void show_sealed_fault(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                              sealed_pdu *pdu)
{
    if (!tvb_bytes_exist(tvb, at, FAULT_SIZE)) {
        return;
    }
    const rpc_call *call = pdu->call;
    const rpc_protocol *fields = call ? call->protocol : perflib;
    const char *operation = call ? call->operation : pdu->operation->name;
    uint32_t status = tvb_get_uint32(tvb, at + RPC_HEADER_SIZE, header->order);
    const char *name = text_fault(pinfo->pool, status);
    proto_item *item = proto_tree_add_item(tree, fields->proto, tvb, at, MAX(header->size, FAULT_SIZE), ENC_NA);
    tapped_call fault = {.is_fault = true, .has_failed = true, .status = status};

    rpc_add_filter_data(pinfo);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, proto_get_protocol_short_name(find_protocol_by_id(fields->proto)));
    col_add_fstr(pinfo->cinfo, COL_INFO, "%s fault: %s", operation, name);
    proto_item_append_text(item, ", %s, fault: %s", operation, name);
    expert_report report = {.pinfo = pinfo, .expert = &fields->expert};
    expert_report_add(&report, item, EI_CALL_FAILED, "%s failed: fault %s (0x%08x)", operation, name, status);
    if (call) {
        tap_unread_answer(pinfo, pdu, &fault);
    } else {
        tap_sealed_pdu(pinfo, pdu, NULL, &fault);
    }
}

void sealed_show_unread(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any)
{
    bool is_call = header->type == PDU_REQ || header->type == PDU_RESP || header->type == PDU_FAULT;
    sealed_pdu *pdu = is_call && header->is_last ? find_pdu(pinfo, header->call_id, header->type != PDU_REQ) : NULL;
    sealed_fragment fragment;

    if (pdu && header->type == PDU_FAULT) {
        show_sealed_fault(tvb, pinfo, tree, at, header, pdu);
    } else if (pdu && pdu->operation && !ws_has_data_source(pinfo, "Decrypted stub data") &&
               read_fragment(&fragment, header, tvb, at)) {
        show_pdu(tvb, pinfo, tree, at, &fragment, pdu, any);
    } else if (pdu && pdu->call) { /* what it says of a call that was read: that it is there */
        tap_unread_answer(pinfo, pdu, &(tapped_call){.unread = TAPPED_CUT});
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

void sealed_register(const rpc_protocol *fields_of_perflib)
{
    static int *ett[] = {&ett_sealed};
    static hf_register_info fields[] = {
        FIELD(hf_operation, "Sealed operation", "pcq.sealed.operation", FT_UINT16, BASE_DEC, NULL,
              "Operation of a call that no key opened, of PerflibV2 or (3, 32, 33) of winreg"),
        FIELD_U32(hf_size, "Sealed bytes", "pcq.sealed.size",
                  "Bytes of its stub over all fragments, without padding and security trailer"),
    };

    proto_register_field_array(fields_of_perflib->proto, fields, array_length(fields));
    proto_register_subtree_array(ett, array_length(ett));
    pdus = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), pdu_hash, pdu_equal);
    perflib = fields_of_perflib;
}
