/* transport.c
 * PDUs behind Wireshark's dissector of DCE/RPC.
 *
 * From the top: what seals a stub, and which key was given; calls by their headers; PDUs that are kept from the first pass on; what is learned of
 * those that no operation read; the headers of a packet; what it shows; Wireshark's heuristics.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/transport.h"

#include <epan/exceptions.h>
#include <epan/prefs-int.h>

#include "tree/fields.h"
#include "text/numbers.h"
#include "text/value-strings.h"

#define UNREAD_CUT \
    "The answer was cut short when it was captured (frame.cap_len < frame.len), or its parts were not put together " \
    "(-o tcp.desegment_tcp_streams:TRUE -o dcerpc.desegment_dcerpc:TRUE -o dcerpc.reassemble_dcerpc:TRUE)"

static const rpc_protocol *perflib;

/* True of a call of winreg that may be about any key: its packet shows nothing, listeners get it behind an open of HKEY_PERFORMANCE_DATA. */
static bool is_of_any_key(bool is_hkpd, const rpc_operation *operation)
{
    return is_hkpd && !(operation->flags & RPC_OPENS);
}

/* --- What seals them, and which key was given ------------------------------------------------------------------- */

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10 }; /* else Kerberos */

/* Keys that the user gave. KEY: ntlmssp.nt_password. KEYTAB: kerberos.file; UNUSED_KEYTAB: the same with kerberos.decrypt off. PERHAPS_KEYTAB:
 * kerberos.decrypt is on without a file: a keytab of tshark's -K sets no preference, but needs this one. */
typedef enum { NO_KEY, KEY, KEYTAB, UNUSED_KEYTAB, PERHAPS_KEYTAB, NUM_GIVEN } given_key;

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

/* Returns what sealed the stub of this header's request or response, by its security trailer; NULL: it is not sealed, or its token was not
 * captured. SPNEGO chose one of the two: NTLM's signature begins with its version ([MS-NLMP] 2.2.2.9). */
static const lock *find_lock(const rpc_header *header)
{
    tvbuff_t *tvb = header->tvb;
    int token = header->at + header->size - header->auth_size;

    if (header->auth_level != RPC_LEVEL_PRIVACY) {
        return NULL;
    }
    uint8_t type = tvb_get_uint8(tvb, token - RPC_TRAILER_SIZE);
    return type == AUTH_NTLM || (type == AUTH_SPNEGO && tvb_get_ntohs(tvb, token) == 0x0100) ? &ntlm : &kerberos;
}

/* True if a preference is there, and is no empty text. */
static bool is_preference_set(const char *module_name, const char *name)
{
    pref_t *preference = prefs_find_preference(prefs_find_module(module_name), name);

    return preference && *prefs_get_string_value(preference, pref_current) != '\0';
}

/* Returns which key the user gave for a lock: of NTLM the password, or else a keytab, which may hold the key of an account, too. */
static given_key find_given_key(const lock *what)
{
    pref_t *decrypt =
        prefs_find_preference(prefs_find_module("kerberos"), "decrypt"); /* NULL where Wireshark has no Kerberos */
    bool decrypts = decrypt && prefs_get_bool_value(decrypt, pref_current);

    if (what == &ntlm && is_preference_set("ntlmssp", "nt_password")) {
        return KEY;
    }
    if (is_preference_set("kerberos", "file")) {
        return decrypts ? KEYTAB : UNUSED_KEYTAB;
    }
    return decrypts ? PERHAPS_KEYTAB : NO_KEY;
}

/* --- Calls by their headers -------------------------------------------------------------------------------------- */

/* An alloc_hint that was not captured. One that is not larger than its fragment says nothing, and is 0. */
#define NO_HINT UINT32_MAX

/* A call, from its request until its response: also one that no operation is handed, since it is sealed, cut, or not reassembled. First pass only. */
typedef struct {
    rpc_interface iface;            /* NUM_RPC_INTERFACES: another */
    const rpc_operation *operation; /* NULL: not about performance data, or not captured */
    bool is_ndr64;
    bool is_mapping;     /* asks the endpoint mapper for PerflibV2 or winreg */
    nstime_t begun;      /* of the request's first fragment */
    uint32_t size[2];    /* bytes of stub in all fragments: request, response */
    uint32_t hint[2];    /* alloc_hint of the first fragment */
    rpc_call *handed[2]; /* of an operation that was handed the request, the response; NULL: none was */
    const void *kept;    /* the request's kept_pdu; NULL: none */
} pending_call;

static unsigned num_read; /* calls of rpc_handed whose headers were read */

/* Returns the call whose PDU with this header an operation was handed; NULL: none was. Needs: to be asked for each PDU of the packet, in their order. */
static rpc_call *take_handed(const rpc_header *header)
{
    rpc_call *next = num_read < rpc_handed->len ? g_ptr_array_index(rpc_handed, num_read) : NULL;
    bool is_its = next && next->call_id == header->call_id;

    num_read += is_its;
    return is_its ? next : NULL;
}

/* Adds a fragment of a request, response or fault; a request's first one begins the call. Returns the call; NULL: its request was not seen. */
static pending_call *add_fragment(packet_info *pinfo, rpc_connection *connection, const rpc_header *header)
{
    void *key = GUINT_TO_POINTER(header->call_id);
    bool is_answer = header->type != PDU_REQ;
    rpc_call *handed = take_handed(header);
    pending_call *pending = wmem_map_lookup(connection->pending, key);

    if (header->is_first && !is_answer) {
        const rpc_context *context = wmem_map_lookup(connection->contexts, GUINT_TO_POINTER(header->context));
        if (pending == NULL) {
            pending = wmem_new(wmem_file_scope(), pending_call);
            wmem_map_insert(connection->pending, key, pending);
        }
        rpc_interface iface = context ? context->iface : NUM_RPC_INTERFACES;
        *pending = (pending_call){.iface = iface,
                                  .operation = rpc_find_operation(iface, header->opnum),
                                  .is_ndr64 = context && context->is_ndr64,
                                  .begun = pinfo->abs_ts,
                                  .hint = {NO_HINT, NO_HINT}};
    }
    if (pending == NULL) {
        return NULL;
    }
    if (header->is_first) {
        pending->hint[is_answer] = header->hint > header->size ? header->hint : 0;
        pending->size[is_answer] = 0;
    }
    pending->size[is_answer] += header->stub_size;
    pending->handed[is_answer] = handed ? handed : pending->handed[is_answer];
    return pending;
}

/* Bytes to a multiple of which some senders round a stub's size in alloc_hint. */
#define LARGEST_PADDING 16

/* True unless a fragment is missing: there is one alone, or the sum of all reaches the alloc_hint of the first, up to padding. `way`: 0: request,
 * 1: response. */
static bool is_size_known(const pending_call *pending, const rpc_header *last, unsigned way)
{
    return last->is_first || pending->hint[way] < pending->size[way] + LARGEST_PADDING;
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
static uint32_t count_returned_bytes(const pending_call *pending)
{
    uint32_t size = pending->size[1], around = pending->is_ndr64 ? AROUND_DATA_NDR64 : AROUND_DATA;
    uint32_t alignment = pending->is_ndr64 ? NDR64_ALIGNMENT : 1;

    if (pending->iface == RPC_WINREG) {
        return size > AROUND_VALUE + LEAST_VALUE ? size - AROUND_VALUE : 0;
    }
    return size >= around ? (size - around) / alignment * alignment : 0;
}

/* --- PDUs that are kept ------------------------------------------------------------------------------------------- */

/* A PDU that listeners get by its headers, on every pass: "Bind", "Map", or one that no operation
 * could read. Created on the first pass with its last fragment; ends with the file. */
typedef struct {
    uint64_t key; /* make_pdu_key()'s */
    call_tap_data tapped;
    const rpc_protocol *protocol;   /* NULL: "Bind" or "Map", and what follows is not set */
    const rpc_operation *operation; /* NULL: of another interface */
    const lock *lock;               /* NULL: nothing of it is shown, or it is a fault */
    const late_sample *late;        /* of the sample that it brought */
} kept_pdu;

static wmem_map_t *kept_pdus; /* kept_pdu, by its key; emptied with the file */

/* Returns the key of a PDU: the frame, and a digest of what tells it from the frame's others. */
static uint64_t make_pdu_key(packet_info *pinfo, const rpc_header *header)
{
    const uint64_t parts[] = {dcerpc_get_transport_salt(pinfo), header->type, header->call_id, (uint64_t)header->at};

    return (uint64_t)pinfo->num << 32 | wmem_strong_hash((const uint8_t *)parts, sizeof parts);
}

/* Keeps a copy of `pdu` as the packet's. Returns it. Changes: its key. */
static kept_pdu *keep_pdu(packet_info *pinfo, const rpc_header *header, const kept_pdu *pdu)
{
    kept_pdu *kept = wmem_memdup(wmem_file_scope(), pdu, sizeof *pdu);

    kept->key = make_pdu_key(pinfo, header);
    wmem_map_insert(kept_pdus, &kept->key, kept);
    return kept;
}

/* Keeps the last fragment of a call "Map", of a request or the endpoint mapper's answer: failed by a fault, or if its status, the last 4 bytes before
 * `end`, is not 0. Cut: not failed. */
static void keep_mapping(packet_info *pinfo, const rpc_header *header, int end)
{
    bool is_answer = header->type != PDU_REQ, is_fault = header->type == PDU_FAULT;
    bool has_status = is_answer && end - header->at == RPC_HEADER_SIZE + header->stub_size;
    kept_pdu mapping = {.tapped = {.operation = "Map", .is_response = is_answer, .is_fault = is_fault}};

    mapping.tapped.has_failed = is_fault || (has_status && tvb_get_uint32(header->tvb, end - 4, header->order) != 0);
    keep_pdu(pinfo, header, &mapping);
}

/* --- PDUs that no operation could read ---------------------------------------------------------------------------- */

/* A sealed connection from one OpenQueryHandle to the next one that finds all closed: of several queries that are open at a time, the seal
 * hides whose a call is. */
typedef struct {
    timing_series series;
    unsigned num_open;
    bool is_closed; /* the last request closed the only one */
} sealed_query;

/* Adds a PDU whose call is not known (sealed, or a fault) to its connection's sealed query; a new query begins with an open behind the close of the
 * only one. `flags`: of its operation. Needs: the first pass. Whether an open failed is sealed: only a fault is seen. Returns the query. Changes:
 * the connection's query, its number of open ones, and, of PerflibV2's samples, its timing; the PDU's `late`. */
static const sealed_query *learn_sealed(kept_pdu *pdu, rpc_connection *connection, unsigned flags)
{
    const call_tap_data *tapped = &pdu->tapped;
    sealed_query *query = connection->sealed_query;
    bool is_request = !tapped->is_response, opens = flags & RPC_OPENS, closes = is_request && flags & RPC_CLOSES;

    if (query == NULL || (is_request && opens && query->is_closed)) {
        query = connection->sealed_query = wmem_new0(wmem_file_scope(), sealed_query);
    }
    query->num_open += is_request && opens;
    query->num_open -= query->num_open > 0 && (closes || (opens && tapped->is_fault));
    query->is_closed = is_request ? closes && query->num_open == 0 : query->is_closed;
    if (tapped->is_hkpd || !(flags & RPC_SAMPLES)) {
        return query; /* several questions take turns there, and lists of names are among them */
    }
    if (is_request) {
        timing_add_request(&query->series, nstime_to_sec(&tapped->sealed.request_time));
    } else {
        pdu->late = sample_add_response(&query->series, tapped->seconds, tapped->sealed.sample_size > 0);
    }
    return query;
}

/* Fills what listeners get of a PDU whose call is not known. Changes: learns from it, if its operation uses a query. */
static void fill_sealed_call(kept_pdu *pdu, rpc_connection *connection, const pending_call *pending)
{
    call_tap_data *tapped = &pdu->tapped;
    unsigned flags = pdu->operation->flags;
    bool returns_data = tapped->is_response && flags & RPC_RETURNS;
    uint32_t size = returns_data ? count_returned_bytes(pending) : 0;

    if (!tapped->is_fault) {
        tapped->sealed = (call_tap_sealed){
            .size = pending->size[tapped->is_response],
            .sample_size = flags & RPC_SAMPLES ? size : 0,
            .request_time = pending->begun,
        };
        tapped->subject = &tapped->sealed.connection;
        tapped->subject_size = sizeof tapped->sealed.connection;
        tapped->request_code = tapped->is_hkpd ? pending->size[0] : 0;
    }
    tapped->sealed.uses_query = flags & (RPC_OPENS | RPC_USES | RPC_CLOSES);
    tapped->sealed.connection =
        tapped->sealed.uses_query ? (const void *)learn_sealed(pdu, connection, flags) : connection;
    tapped->is_late = pdu->late != NULL;
    tapped->sealed.num_open = connection->sealed_query ? ((const sealed_query *)connection->sealed_query)->num_open : 0;
}

/* True if a key opened a PDU that no operation was handed: NTLM's dissector has the session's key, or a stub is decrypted, and it is no other's. */
static bool is_opened(packet_info *pinfo)
{
    return rpc_handed->len == 0 &&
           (ws_has_data_source(pinfo, "Decrypted data") || ws_has_data_source(pinfo, "Decrypted stub data"));
}

/* Keeps the last fragment of a PDU that no operation could read: a fault, a sealed one of known size, or the answer to a call whose request an
 * operation was handed. Changes: a fault ends the call's change; `kept` of the call. */
static void keep_unread_pdu(packet_info *pinfo, rpc_connection *connection, pending_call *pending,
                            const rpc_header *header)
{
    const rpc_operation *operation = pending->operation;
    bool is_response = header->type != PDU_REQ, is_fault = header->type == PDU_FAULT;
    bool is_hkpd = pending->iface == RPC_WINREG, is_garbled = pending->handed[is_response] != NULL;
    bool is_followed = connection->sealed_query || !is_of_any_key(is_hkpd, operation);
    bool is_sealed = is_followed && !is_fault && (is_garbled || !is_opened(pinfo));
    const lock *what = is_sealed && is_size_known(pending, header, is_response) ? find_lock(header) : NULL;
    const rpc_call *asked = is_response && !is_garbled && what == NULL ? pending->handed[0] : NULL;
    const rpc_call *call = asked && asked->operation ? asked : NULL;
    uint32_t status = is_fault ? tvb_get_uint32(header->tvb, header->at + RPC_HEADER_SIZE, header->order) : 0;

    if (is_fault && call) { /* nothing of a change is done */
        query_end_change(call->change, /* is_known */ true, NULL, 0);
    }
    if (!(call || what || (is_fault && is_followed))) {
        return;
    }
    kept_pdu *pdu = keep_pdu(pinfo, header,
                             &(kept_pdu){.operation = operation,
                                         .protocol = call ? call->protocol : perflib,
                                         .lock = is_garbled ? NULL : what});
    pending->kept = is_response ? pending->kept : pdu;
    pdu->tapped = (call_tap_data){
        .call = pending->handed[0] ? (const void *)pending->handed[0] : pending->kept,
        .is_hkpd = call ? call->protocol != perflib : is_hkpd,
        .is_response = is_response,
        .is_fault = is_fault,
        .has_failed = is_fault,
        .brings_data = operation->flags & RPC_SAMPLES && !(call && is_hkpd),
        .does_not_seal = rpc_connection_is_unsealed(connection),
        .operation = call ? call->operation : operation->name,
        .status = status,
        .seconds = is_response ? rpc_seconds_since(&pending->begun, pinfo) : -1,
        .server = connection->server,
        .handle = call ? call->handle : NULL,
        .unread = is_fault     ? NULL
                  : is_garbled ? UNREAD_GARBLED
                               : UNREAD_CUT,
    };
    if (call == NULL) {
        fill_sealed_call(pdu, connection, pending);
    }
}

/* --- Headers ------------------------------------------------------------------------------------------------------ */

/* Adds a fragment of a request, response or fault to its call; none whose request was not seen. Keeps the last fragment for listeners if it asks or
 * answers the endpoint mapper ("Map"), or if no operation could read it. Needs: the first pass, in the order of the capture. Changes: as
 * keep_unread_pdu(); `unread_change`, by a request that may change counters and was not read; an answer's last fragment frees the call. */
static void add_call_pdu(packet_info *pinfo, rpc_connection *connection, const rpc_header *header)
{
    int at = header->at, captured = tvb_captured_length_remaining(header->tvb, at);
    int end = at + MIN(RPC_HEADER_SIZE + header->stub_size, captured);
    bool is_request = header->type == PDU_REQ;
    pending_call *pending = add_fragment(pinfo, connection, header);

    if (pending && is_request && pending->iface == RPC_MAPPER) {
        pending->is_mapping |= rpc_asks_mapper(header->tvb, at + RPC_HEADER_SIZE, end);
    }
    if (pending == NULL || !header->is_last) {
        return;
    }
    const rpc_call *handed = pending->handed[!is_request];
    bool may_change = pending->operation ? pending->operation->flags & RPC_CHANGES : pending->iface == RPC_PERFLIB;
    if (is_request && may_change && !(pending->handed[0] && pending->handed[0]->change)) {
        connection->unread_change = pinfo->num;
    }
    if (pending->is_mapping) {
        keep_mapping(pinfo, header, end);
    } else if (pending->operation && (!handed || handed->is_garbled[!is_request])) {
        keep_unread_pdu(pinfo, connection, pending, header);
    }
    if (!is_request) {
        wmem_map_remove(connection->pending, GUINT_TO_POINTER(header->call_id));
        wmem_free(wmem_file_scope(), pending);
    }
}

/* Adds a PDU to its connection, on the first pass, in the order of the capture. Returns the connection; NULL: there is none, as before the first bind
 * to a followed interface. `handed`: a call of the packet, which spares the search; NULL: an operation was handed none. */
static rpc_connection *add_pdu(packet_info *pinfo, const rpc_header *header, const rpc_call *handed)
{
    bool is_bind = header->type == PDU_BIND || header->type == PDU_ALTER;
    bool is_bind_answer = header->type == PDU_BIND_ACK || header->type == PDU_ALTER_ACK || header->type == PDU_BIND_NAK;
    bool is_answer = header->type == PDU_RESP || header->type == PDU_FAULT;
    kept_pdu setup = {.protocol = NULL};
    bool is_setup = is_bind && !PINFO_FD_VISITED(pinfo) && rpc_add_bind(pinfo, header, &setup.tapped);
    rpc_connection *connection = handed && !is_bind ? handed->connection : rpc_find_connection(pinfo);

    if (connection == NULL || PINFO_FD_VISITED(pinfo)) {
        return connection;
    }
    if (header->auth_level > 0 && !is_bind_answer && !is_answer) {
        connection->auth_level = header->auth_level;
    }
    if (is_bind_answer) {
        is_setup = rpc_add_bind_answer(connection, header, &setup.tapped);
    } else if (is_answer || header->type == PDU_REQ) {
        add_call_pdu(pinfo, connection, header);
    }
    if (is_setup) {
        keep_pdu(pinfo, header, &setup);
    }
    return connection;
}

/* --- What a packet shows --------------------------------------------------------------------------------------- */

static int hf_operation, hf_size;
static int ett_sealed = -1;

/* Shows what seals a PDU, by the key that was given why it is not opened, and whether it is late. Wireshark has shown protocol and operation of a
 * frame's only PDU, if it is the only fragment. `any`: others stand before it. */
static void show_sealed_pdu(packet_info *pinfo, proto_tree *tree, const rpc_header *header, const kept_pdu *pdu,
                            given_key given, bool any)
{
    tvbuff_t *tvb = header->tvb;
    const rpc_operation *operation = pdu->operation;
    uint32_t size = pdu->tapped.sealed.size;
    proto_item *item = tree ? tree->last_child : NULL;
    char text[TEXT_NUMBER_SIZE];

    if (any || !header->is_first || header->at + header->size != (int)tvb_reported_length(tvb)) {
        int proto = pdu->tapped.is_hkpd ? proto_get_id_by_filter_name("winreg") : perflib->proto;
        col_set_str(pinfo->cinfo, COL_PROTOCOL, proto_get_protocol_short_name(find_protocol_by_id(proto)));
        (any ? col_append_fstr : col_add_fstr)(pinfo->cinfo, COL_INFO, "%s%s %s", any ? ", " : "", operation->name,
                                               header->type == PDU_REQ ? "request" : "response");
        item = proto_tree_add_item(tree, proto, tvb, header->at, header->size, ENC_NA);
    }
    text_integer(text, size);
    col_append_lstr(pinfo->cinfo, COL_INFO, ", ", text, size == 1 ? " byte" : " bytes", ", sealed with ",
                    pdu->lock->name, ", ", pdu->lock->given[given].says, COL_ADD_LSTR_TERMINATOR);
    if (item) {
        proto_tree *inner = proto_item_add_subtree(item, ett_sealed);
        proto_item_set_generated(proto_tree_add_uint_format_value(inner, hf_operation, tvb, 0, 0, operation->opnum,
                                                                  "%s (%u)", operation->name, operation->opnum));
        proto_item_set_generated(proto_tree_add_uint(inner, hf_size, tvb, 0, 0, size));
    }
    expert_report report = {.pinfo = pinfo};
    expert_report_add(&report, item, pdu->lock->given[given].finding, "%s", pdu->lock->given[given].why);
    rpc_report_late(&report, item, pdu->late);
}

/* Shows a fault, which DCE/RPC hands to no operation. `any`: as of show_sealed_pdu(). */
static void show_fault(packet_info *pinfo, proto_tree *tree, const rpc_header *header, const kept_pdu *pdu, bool any)
{
    const call_tap_data *tapped = &pdu->tapped;
    const char *name = text_fault(pinfo->pool, tapped->status);
    proto_item *item = proto_tree_add_item(tree, pdu->protocol->proto, header->tvb, header->at, header->size, ENC_NA);

    col_set_str(pinfo->cinfo, COL_PROTOCOL, proto_get_protocol_short_name(find_protocol_by_id(pdu->protocol->proto)));
    (any ? col_append_fstr : col_add_fstr)(pinfo->cinfo, COL_INFO, "%s%s fault: %s", any ? ", " : "", tapped->operation,
                                           name);
    proto_item_append_text(item, ", %s, fault: %s", tapped->operation, name);
    expert_report report = {.pinfo = pinfo};
    expert_report_add(&report, item, EI_CALL_FAILED, "%s failed: fault %s (0x%08x)", tapped->operation, name,
                      tapped->status);
}

/* Shows and taps on every pass what was kept of a PDU. `any`: others are shown before it in the frame. */
static void show_kept_pdu(packet_info *pinfo, proto_tree *tree, const rpc_header *header, const kept_pdu *pdu, bool any)
{
    call_tap_data tapped = pdu->tapped;

    if (tapped.is_fault) {
        show_fault(pinfo, tree, header, pdu, any);
    } else if (pdu->lock) {
        given_key given = find_given_key(pdu->lock);
        tapped.unread = pdu->lock->given[given].why;
        if (!is_of_any_key(tapped.is_hkpd, pdu->operation)) {
            show_sealed_pdu(pinfo, tree, header, pdu, given, any);
        }
    }
    call_tap_queue(pinfo, &tapped);
}

/* --- Wireshark's heuristics --------------------------------------------------------------------------------------- */

/* Reads the headers of the PDUs in `tvb`: adds them to their connections on the first pass, and shows those that no operation read. Listeners get a
 * request or response without a connection (no bind to a watched interface was captured) as the call "Unbound". A PDU at the end that is not all
 * there may come again, reassembled. */
static void read_headers(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    int end = pinfo->desegment_len != 0 ? pinfo->desegment_offset : (int)tvb_captured_length(tvb);
    rpc_header header;
    const rpc_call *handed = rpc_handed->len > 0 ? g_ptr_array_index(rpc_handed, 0) : NULL;
    bool any = handed != NULL;

    for (int at = 0; at < end && rpc_header_read(&header, tvb, at); at += header.size) {
        const rpc_connection *connection = add_pdu(pinfo, &header, handed);
        const uint64_t key = make_pdu_key(pinfo, &header);
        const kept_pdu *kept = header.is_last ? wmem_map_lookup(kept_pdus, &key) : NULL;
        if (connection == NULL && (header.type == PDU_REQ || header.type == PDU_RESP)) {
            call_tap_queue_setup(pinfo,
                                 &(call_tap_data){.operation = "Unbound", .is_response = header.type == PDU_RESP});
        } else if (kept && kept->protocol == NULL) {
            call_tap_queue_setup(pinfo, &kept->tapped);
        } else if (kept) {
            show_kept_pdu(pinfo, tree, &header, kept, any);
            any = true;
        }
    }
}

/* Heuristics of Wireshark's that are wrapped. */
static struct {
    const char *list; /* that it is in */
    const char *name;
    heur_dissector_t stock; /* NULL: it is not wrapped yet, or not there */
} wrapped[] = {
    {"tcp", "dcerpc_tcp", NULL},
    {"smb_transact", "dcerpc_smb_transact", NULL},
    {"smb2_pipe_subdissectors", "dcerpc_smb2", NULL},
};

/* Calls the stock heuristic of the list that Wireshark tries, and reads headers if it took the packet or threw. Returns its result. */
static ws_heuristic dissect_transport(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    volatile ws_heuristic result = true;
    unsigned i = 0;

    while (i + 1 < array_length(wrapped) && strcmp(wrapped[i].list, pinfo->heur_list_name) != 0) {
        i++;
    }
    const heur_dissector_t stock = wrapped[i].stock;
    g_ptr_array_set_size(rpc_handed, 0);
    num_read = 0;
    TRY
    {
        result = stock(tvb, pinfo, tree, data);
    }
    FINALLY /* what was cut short when it was captured says in its header what it was */
    {
        if (result) {
            read_headers(tvb, pinfo, tree);
        }
    }
    ENDTRY;
    return result;
}

/* Puts dissect_transport() in the place of each heuristic that Wireshark has. They are there once all protocols are. */
static void wrap_heuristics(void)
{
    for (unsigned i = 0; i < array_length(wrapped); i++) {
        heur_dtbl_entry_t *entry = find_heur_dissector_by_unique_short_name(wrapped[i].name);
        if (entry && entry->dissector != dissect_transport) {
            wrapped[i].stock = entry->dissector;
            entry->dissector = dissect_transport;
        }
    }
}

/* --- Registration ------------------------------------------------------------------------------------------------ */

void rpc_transport_register(const rpc_protocol *protocol)
{
    static int *ett[] = {&ett_sealed};
    static hf_register_info fields[] = {
        FIELD(hf_operation, "Sealed operation", "pcq.sealed.operation", FT_UINT16, BASE_DEC, NULL,
              "Operation of a call that no key opened, of PerflibV2 or (3) of winreg"),
        FIELD_U32(hf_size, "Sealed bytes", "pcq.sealed.size",
                  "Bytes of its stub over all fragments, without padding and security trailer"),
    };

    proto_register_field_array(protocol->proto, fields, array_length(fields));
    proto_register_subtree_array(ett, array_length(ett));
    register_init_routine(wrap_heuristics);
    perflib = protocol;
    kept_pdus = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), wmem_int64_hash, g_int64_equal);
}
