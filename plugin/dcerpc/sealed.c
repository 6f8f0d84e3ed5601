/* sealed.c
 * Calls that Wireshark could not decrypt.
 *
 * From the top: PDUs that are followed, each kept from the first pass on; learning and tapping; what seals a stub and which key was given;
 * what a packet shows.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/sealed.h"

#include <epan/prefs-int.h>

#include "tree/fields.h"
#include "text/numbers.h"
#include "text/value-strings.h"

static const rpc_protocol *perflib;

/* Bytes of a fault at least ([C706] 12.6.4). */
#define FAULT_SIZE 32

/* True of a call of winreg that may be about any key: its packet shows nothing, listeners get it behind an open of HKEY_PERFORMANCE_DATA. */
static bool is_of_any_key(rpc_interface interface, const rpc_operation *operation)
{
    return interface == RPC_WINREG && !(operation->flags & RPC_OPENS);
}

/* --- PDUs that are followed -------------------------------------------------------------------------------------- */

/* A request or response that no operation could read. Created on the first pass with its last fragment; ends with the file. */
typedef struct {
    struct {
        uint64_t pipe;
        uint64_t is_response;
        uint32_t call_id;
        uint32_t frame; /* of the last fragment */
    } key;
    rpc_connection *connection;
    const rpc_call *call; /* whose request an operation was handed; NULL: only the members behind it are known */
    rpc_interface interface;
    const rpc_operation *operation;
    bool is_garbled;         /* Wireshark decrypted it to something else */
    uint32_t asked_size;     /* bytes of the request's stub */
    double seconds;          /* from the request to this response; negative of a request and where it is not known */
    const late_sample *late; /* of the sample that it brought */
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

/* Returns the offset of the security token behind a sealed stub; 0: the PDU is no whole request or response with a sealed stub. */
static int find_token(tvbuff_t *tvb, int at, const rpc_header *header)
{
    int token = at + header->size - header->auth_size;
    bool is_sealed = header->auth_level == RPC_LEVEL_PRIVACY && header->stub_size > 0;

    return is_sealed && header->size <= (int)tvb_reported_length_remaining(tvb, at) &&
                   tvb_bytes_exist(tvb, token - RPC_TRAILER_SIZE, RPC_TRAILER_SIZE + 2)
               ? token
               : 0;
}

/* Bytes to a multiple of which some senders round a stub's size in alloc_hint. */
#define LARGEST_PADDING 16

/* True unless a fragment is missing: there is one alone, or the sum of all is the alloc_hint of the first, up to padding. True without such a hint,
 * too. `way`: 0: request, 1: response. */
static bool is_size_known(const rpc_pending_call *pending, const rpc_header *last, unsigned way)
{
    uint32_t size = pending->size[way], hint = pending->hint[way];

    return (last->is_first && last->is_last) ||
           ((way == 0 || pending->has_answer_begun) &&
            (hint == 0 || (hint + LARGEST_PADDING > size && hint < size + LARGEST_PADDING)));
}

/* A response has around the data that it returns: two sizes, three numbers of the array, the status; with NDR64, whose numbers of an array
 * have 8 bytes, padding behind. ValidateCounters returns them without the sizes, and always. QueryValue has four pointers and what three of
 * them point to, too; and what has no more than LEAST_VALUE is no sample. */
#define AROUND_DATA 24
#define AROUND_DATA_NDR64 36
#define NDR64_ALIGNMENT 8
#define AROUND_VALUE 44
#define LEAST_VALUE 52

/* Returns the bytes of data in a sealed response, by the size of its stub; 0: it returns none, as a size probe or a failure. */
static uint32_t count_returned_bytes(const rpc_pending_call *pending)
{
    uint32_t size = pending->size[1], around = pending->is_ndr64 ? AROUND_DATA_NDR64 : AROUND_DATA;
    uint32_t alignment = pending->is_ndr64 ? NDR64_ALIGNMENT : 1;

    if (pending->interface == RPC_WINREG) {
        return size > AROUND_VALUE + LEAST_VALUE ? size - AROUND_VALUE : 0;
    }
    return size >= around ? (size - around) / alignment * alignment : 0;
}

void sealed_keep(packet_info *pinfo, rpc_connection *connection, const rpc_pending_call *pending,
                 const rpc_header *header, tvbuff_t *tvb, int at, bool is_garbled)
{
    if (!header->is_last) {
        return;
    }
    const rpc_operation *operation = rpc_find_operation(pending->interface, pending->opnum);
    unsigned way = header->type != PDU_REQ, flags = operation ? operation->flags : 0;
    bool is_fault = header->type == PDU_FAULT, returns_data = way == 1 && flags & RPC_RETURNS;
    bool is_followed = operation && (connection->sealed_query || !is_of_any_key(pending->interface, operation));
    rpc_call *call = way == 1 && !is_garbled && pending->call && pending->call->operation ? pending->call : NULL;

    if (call && call->response_frame == 0) {
        call->response_frame = pinfo->num;
        if (is_fault && call->protocol->end_by_fault) {
            call->protocol->end_by_fault(call);
        }
    }
    bool is_sealed = find_token(tvb, at, header) > 0 && is_size_known(pending, header, way);
    if (call == NULL && !(is_followed && (is_fault || is_sealed))) {
        return;
    }
    uint32_t size = returns_data ? count_returned_bytes(pending) : 0;
    sealed_pdu *pdu = wmem_new(wmem_file_scope(), sealed_pdu);
    *pdu = (sealed_pdu){
        .key = {connection->pipe, way, header->call_id, pinfo->num},
        .connection = connection,
        .call = call,
        .interface = pending->interface,
        .operation = operation,
        .is_garbled = is_garbled,
        .asked_size = pending->size[0],
        .seconds = way == 1 ? rpc_seconds_since(&pending->time, pinfo) : -1,
        .sealed = {.connection = connection,
                   .size = pending->size[way],
                   .sample_size = flags & RPC_SAMPLES ? size : 0,
                   .request_time = pending->time,
                   .request_frame = pending->frame,
                   .is_empty = returns_data && size == 0,
                   .uses_query = flags & (RPC_OPENS | RPC_USES | RPC_CLOSES),
                   .takes_sample = flags & RPC_SAMPLES,
                   .answers_read = is_garbled && way == 1 && pending->call && pending->call->request_read},
    };
    wmem_map_insert(pdus, pdu, pdu);
}

/* --- Learning and tapping ---------------------------------------------------------------------------------------- */

/* A sealed connection from one OpenQueryHandle to the next one that finds all closed: of several queries that are open at a time, the seal
 * hides whose a call is. */
typedef struct {
    timing_series series;
    unsigned num_open;
    bool is_closed; /* the last request closed the only one */
} sealed_query;

/* Learns from a PDU on the first pass which query it is of, and the timing of samples. Whether an open failed is sealed: only a fault is seen.
 * Changes: `late` of the PDU and its `sealed.connection`, which becomes the query. */
static void learn_sealed(sealed_pdu *pdu, bool is_fault)
{
    tapped_sealed *sealed = &pdu->sealed;
    sealed_query *query = pdu->connection->sealed_query;
    bool is_request = !pdu->key.is_response, opens = pdu->operation->flags & RPC_OPENS;
    bool closes = is_request && pdu->operation->flags & RPC_CLOSES;

    if (query == NULL || (is_request && opens && query->is_closed)) {
        query = pdu->connection->sealed_query = wmem_new0(wmem_file_scope(), sealed_query);
    }
    query->num_open += is_request && opens;
    query->num_open -= query->num_open > 0 && (closes || (opens && is_fault));
    query->is_closed = is_request ? closes && query->num_open == 0 : query->is_closed;
    sealed->connection = query;
    if (pdu->interface == RPC_WINREG || !sealed->takes_sample) {
        return; /* several questions take turns there, and lists of names are among them */
    }
    if (is_request) {
        timing_add_request(&query->series, nstime_to_sec(&sealed->request_time));
    } else {
        pdu->late = sample_add_response(&query->series, pdu->seconds, sealed->sample_size > 0);
    }
}

/* Taps a PDU that no operation could read; `tapped` says why, or that it is a fault. `call`: its call if that is known, else NULL. `item`: what
 * is shown of it, may be NULL. Changes: on the first pass it is learned, unless its call is known. */
static void tap_sealed_pdu(packet_info *pinfo, sealed_pdu *pdu, const rpc_call *call, proto_item *item,
                           tapped_call *tapped)
{
    if (call == NULL && pdu->sealed.uses_query && !PINFO_FD_VISITED(pinfo)) {
        learn_sealed(pdu, tapped->is_fault);
    }
    tapped->is_hkpd = call ? call->protocol != perflib : pdu->interface == RPC_WINREG;
    tapped->is_response = pdu->key.is_response;
    tapped->operation = call ? call->operation : pdu->operation->name;
    tapped->request_frame = call ? call->request_frame : pdu->sealed.request_frame;
    tapped->seconds = pdu->seconds;
    tapped->is_late = pdu->late != NULL;
    tapped->does_not_seal = rpc_connection_is_unsealed(pdu->connection);
    tapped->server = pdu->connection->server;
    tapped->handle = call ? call->handle : NULL;
    if (call == NULL && tapped->is_fault) {
        tapped->sealed = (tapped_sealed){.connection = pdu->sealed.connection, .uses_query = pdu->sealed.uses_query};
    } else if (call == NULL) {
        tapped->subject = &pdu->connection;
        tapped->subject_size = sizeof pdu->connection;
        tapped->request_code = tapped->is_hkpd ? pdu->asked_size : 0;
        tapped->sealed = pdu->sealed;
    }
    tapped_hand_over(pinfo, tapped);
    expert_report report = {.pinfo = pinfo, .expert = &perflib->expert};
    rpc_report_late(&report, item, tapped->is_fault ? NULL : pdu->late);
}

/* --- What seals them, and which key was given ------------------------------------------------------------------- */

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10, AUTH_KERBEROS = 16 };

/* Keys that the user gave. OPENED: a key fits, and Wireshark gave up after that. PERHAPS_KEYTAB: tshark's -K leaves no trace but that
 * kerberos.decrypt has to be on for it. */
typedef enum { NO_KEY, KEY, KEYTAB, UNUSED_KEYTAB, PERHAPS_KEYTAB, OPENED, NUM_GIVEN } given_key;

/* A security protocol, and by the key that was given why a stub is not opened: for the Info column, as an expert info, and where a key goes.
 * That stands first, since a reader has to see it without scrolling. */
typedef struct {
    const char *name; /* "NTLM" */
    struct {
        const char *says; /* for the Info column: "no key" */
        expert_id finding;
        const char *why; /* text of the expert info */
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

/* Returns what sealed a stub, NULL: not known. Needs: find_token()'s `token`. SPNEGO chose one of the two: RFC 4121's and RFC 1964's tokens are
 * Kerberos', and NTLM's signature begins with its version ([MS-NLMP] 2.2.2.9). */
static const lock *find_lock(tvbuff_t *pdu, int token)
{
    uint8_t type = tvb_get_uint8(pdu, token - RPC_TRAILER_SIZE);
    unsigned kind = type == AUTH_SPNEGO ? tvb_get_ntohs(pdu, token) : 0;

    return type == AUTH_NTLM || kind == 0x0100                            ? &ntlm
           : type == AUTH_KERBEROS || kind == 0x0504 || kind >> 8 == 0x60 ? &kerberos
                                                                          : NULL;
}

static bool is_preference_set(pref_t *preference)
{
    const char *text = preference ? prefs_get_string_value(preference, pref_current) : NULL;

    return text && *text;
}

/* Returns which key the user gave for a lock. A keytab may hold the key of an account, too, which opens NTLM. Preferences are looked up once, and
 * stay where they are as long as the program. */
static given_key find_given_key(packet_info *pinfo, const lock *what)
{
    static pref_t *password, *file, *decrypt; /* Kerberos' are NULL where Wireshark has none */
    static bool is_looked_up;

    if (!is_looked_up) {
        is_looked_up = true;
        password = rpc_find_preference("ntlmssp", "nt_password");
        file = rpc_find_preference("kerberos", "file");
        decrypt = rpc_find_preference("kerberos", "decrypt");
    }
    bool decrypts = decrypt && prefs_get_bool_value(decrypt, pref_current);
    if (what == &ntlm &&
        ws_has_data_source(pinfo, "Decrypted data")) { /* of packet-ntlmssp.c, once it has the session's key */
        return OPENED;
    }
    if (what == &ntlm && is_preference_set(password)) {
        return KEY;
    }
    if (is_preference_set(file)) {
        return decrypts ? KEYTAB : UNUSED_KEYTAB;
    }
    return decrypts ? PERHAPS_KEYTAB : NO_KEY;
}

/* --- What a packet shows --------------------------------------------------------------------------------------- */

static int hf_operation, hf_size;
static int ett_sealed = -1;

/* Shows what seals a PDU and which key opens it, and taps it. Wireshark has shown protocol and operation of a frame's only PDU, if it is the only
 * fragment. `any`: others stand before it. */
static void show_sealed_pdu(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, int token,
                            const rpc_header *header, sealed_pdu *pdu, bool *any)
{
    const lock *what = find_lock(tvb, token);
    const rpc_operation *operation = pdu->operation;
    uint32_t size = pdu->sealed.size;
    proto_item *item = NULL;
    char text[TEXT_NUMBER_SIZE];

    if (what == NULL) {
        return;
    }
    given_key given = find_given_key(pinfo, what);
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
    tap_sealed_pdu(pinfo, pdu, NULL, item, &(tapped_call){.unread = what->given[given].why});
}

/* --- Each PDU --------------------------------------------------------------------------------------------------- */

/* Shows and taps a fault, which DCE/RPC hands to no operation. Does nothing if its status was not captured. */
static void show_fault(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
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

    rpc_add_filter_data(pinfo);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, proto_get_protocol_short_name(find_protocol_by_id(fields->proto)));
    col_add_fstr(pinfo->cinfo, COL_INFO, "%s fault: %s", operation, name);
    proto_item_append_text(item, ", %s, fault: %s", operation, name);
    expert_report report = {.pinfo = pinfo, .expert = &fields->expert};
    expert_report_add(&report, item, EI_CALL_FAILED, "%s failed: fault %s (0x%08x)", operation, name, status);
    tap_sealed_pdu(pinfo, pdu, call, NULL, &(tapped_call){.is_fault = true, .has_failed = true, .status = status});
}

void sealed_show_unread(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any)
{
    const sealed_pdu key = {
        .key = {dcerpc_get_transport_salt(pinfo), header->type != PDU_REQ, header->call_id, pinfo->num}};
    bool is_call = header->type == PDU_REQ || header->type == PDU_RESP || header->type == PDU_FAULT;
    sealed_pdu *pdu = is_call && header->is_last ? wmem_map_lookup(pdus, &key) : NULL;

    if (pdu == NULL) {
        return;
    }
    int token = ws_has_data_source(pinfo, "Decrypted stub data") ? 0 : find_token(tvb, at, header);
    if (header->type == PDU_FAULT) {
        show_fault(tvb, pinfo, tree, at, header, pdu);
    } else if (pdu->is_garbled) {
        tap_sealed_pdu(pinfo, pdu, NULL, tree ? tree->last_child : NULL, &(tapped_call){.unread = TAPPED_NOISE});
    } else if (pdu->operation && token > 0) {
        show_sealed_pdu(tvb, pinfo, tree, at, token, header, pdu, any);
    } else if (pdu->call) { /* all that is known of a response to a call that was read: it is there */
        tap_sealed_pdu(pinfo, pdu, pdu->call, NULL, &(tapped_call){.unread = TAPPED_CUT});
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
