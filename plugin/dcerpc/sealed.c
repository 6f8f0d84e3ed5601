/* sealed.c
 * Calls that Wireshark could not decrypt.
 *
 * From the top: what a sealed PDU says in clear; the PDUs that were followed, each kept from the first pass on; what is learned of them and told to
 * listeners; what seals a stub and which key was given; what a packet shows; the heuristics that see each PDU.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/sealed.h"

#include <epan/exceptions.h>
#include <epan/expert.h>
#include <epan/dissectors/packet-smb2.h>
#include <epan/prefs-int.h>

#include "tree/fields.h"
#include "text/numbers.h"

static const rpc_fields *perflib;
static const value_string *operations[NUM_RPC_INTERFACES]; /* that are followed */
static const uint8_t *operations_do;                       /* what each of PerflibV2 does */
static unsigned num_operations;

/* As Wireshark names them. Which key it is about a call hides but for those that open HKEY_PERFORMANCE_DATA: of the others listeners are
 * told after one of these, and packets say nothing. */
enum { CLOSE_KEY = 5, QUERY_VALUE = 17 };
static const value_string winreg_operations[] = {{3, "OpenHKPD"},  {CLOSE_KEY, "CloseKey"}, {QUERY_VALUE, "QueryValue"},
                                                 {32, "OpenHKPT"}, {33, "OpenHKPN"},        {0, NULL}};

static bool is_of_any_key(rpc_interface interface, uint16_t opnum)
{
    return interface == RPC_WINREG && (opnum == CLOSE_KEY || opnum == QUERY_VALUE);
}

/* --- What a sealed PDU says in clear --------------------------------------------------------------------------- */

/* [MS-RPCE] 2.2.2.11: auth_type, auth_level, auth_pad_length, reserved, auth_context_id. */
#define TRAILER_SIZE 8

/* What a request has behind its header, and a fault has at least ([C706] 12.6.4). */
#define FLAG_OBJECT 0x80
#define OBJECT_SIZE 16
#define FAULT_SIZE 32

/* One fragment of a request or response whose stub is sealed; or a fault. */
typedef struct {
    rpc_header header;
    bool is_response;
    int token; /* where the token of what sealed it begins in the PDU's tvb, */
    uint8_t auth_type;
    uint32_t size;     /* bytes of the stub, without padding, */
    uint32_t sequence; /* and counts what is sealed in a direction; 0 where that is not known */
} sealed_fragment;

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

/* False if the PDU at `at` is no whole request or response with a sealed stub. */
static bool read_fragment(sealed_fragment *fragment, const rpc_header *header, tvbuff_t *tvb, int at)
{
    bool is_request = header->type == PDU_REQ, has_object = is_request && tvb_get_uint8(tvb, at + 3) & FLAG_OBJECT;
    int end = at + header->size - header->auth_size - TRAILER_SIZE;
    int stub = at + RPC_HEADER_SIZE + (has_object ? OBJECT_SIZE : 0);

    if (header->auth_size == 0 || end < stub || header->size > (int)tvb_reported_length_remaining(tvb, at) ||
        !tvb_bytes_exist(tvb, end, TRAILER_SIZE + 2) || tvb_get_uint8(tvb, end + 1) != RPC_LEVEL_PRIVACY ||
        tvb_get_uint8(tvb, end + 2) > end - stub) {
        return false;
    }
    *fragment = (sealed_fragment){
        .header = *header,
        .is_response = !is_request,
        .token = end + TRAILER_SIZE,
        .auth_type = tvb_get_uint8(tvb, end),
        .size = (uint32_t)(end - stub - tvb_get_uint8(tvb, end + 2)),
        .sequence = sequence_of(tvb, end + TRAILER_SIZE),
    };
    return true;
}

/* --- PDUs that are followed ------------------------------------------------------------------------------------ */

/* One request or response, known when its last fragment has been seen. Lives with the file. */
typedef struct {
    struct {
        uint64_t pipe;
        uint32_t call_id;
        uint32_t frame; /* of the last fragment */
        bool is_response;
    } key;
    rpc_connection *connection;
    rpc_interface interface;
    bool is_copy; /* its connection was captured twice */
    bool is_ndr64;
    bool answers_read; /* noise that answers a request which was none */
    uint16_t opnum;
    uint32_t size;          /* of the stub, over all fragments, */
    uint32_t asked_size;    /* and of the request's */
    nstime_t request_time;  /* when the first fragment of its request came, */
    uint32_t request_frame; /* and where */
    double seconds;         /* from the request to this response; negative of a request and where it is not known */
    const void *query;      /* and the one that it is of; its connection as long as that is not known, */
    const struct state_late *late; /* and whether the sample that it brought is late */
} sealed_pdu;

static wmem_map_t *pdus; /* sealed_pdu, as its own key; emptied with the file */

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
    call->begun[way] = fragment->header.is_first || (call->begun[way] && !misses_one);
    call->sizes[way] = fragment->size + (fragment->header.is_first ? 0 : call->sizes[way]);
    call->sequences[way] = fragment->sequence;
    if (!fragment->header.is_last || !call->begun[way]) {
        return NULL;
    }
    nstime_t elapsed;
    nstime_delta(&elapsed, &pinfo->abs_ts, &call->time);
    const sealed_pdu pdu = {
        .key = {.call_id = fragment->header.call_id, .is_response = fragment->is_response},
        .interface = call->interface,
        .is_ndr64 = call->is_ndr64,
        .opnum = call->opnum,
        .size = call->sizes[way],
        .asked_size = call->sizes[0],
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

/* A fragment of a call that is one of the operations of its context's interface: the PDU that it ends; NULL if it ends
 * none, or one whose beginning was not seen. */
static sealed_pdu *take_pdu(packet_info *pinfo, const sealed_fragment *fragment)
{
    const rpc_header *header = &fragment->header;

    if (PINFO_FD_VISITED(pinfo)) {
        return header->is_last ? find_pdu(pinfo, header->call_id, fragment->is_response) : NULL;
    }
    rpc_connection *connection = connection_find(pinfo);
    rpc_asked *call = connection ? pdus_find_call(connection, header->call_id) : NULL;
    bool is_followed =
        call && call->interface < NUM_RPC_INTERFACES && try_val_to_str(call->opnum, operations[call->interface]);
    is_followed = is_followed && (connection->sealed_query || !is_of_any_key(call->interface, call->opnum));
    return is_followed ? take_first_time(pinfo, connection, call, fragment) : NULL;
}

/* --- What is learned of them ----------------------------------------------------------------------------------- */

/* A request, response or fault that no key opened; or a response that was not read, or a fault, of a call that was. */
typedef struct {
    const char *why;          /* it is not read, and what opens it */
    const char *operation;    /* "QueryCounterData" */
    proto_item *item;         /* what is shown of it, may be NULL */
    sealed_pdu *pdu;          /* NULL of a call that was read, */
    const rpc_record *record; /* whose answer this is */
    bool is_fault;
    uint32_t status;
} sealed_call;

static unsigned does_what(const sealed_pdu *pdu)
{
    if (pdu->interface == RPC_WINREG) {
        return pdu->opnum == CLOSE_KEY     ? SEALED_CLOSES
               : pdu->opnum == QUERY_VALUE ? SEALED_USES | SEALED_RETURNS | SEALED_SAMPLES
                                           : SEALED_OPENS;
    }
    return pdu->interface == RPC_PERFLIB && pdu->opnum < num_operations ? operations_do[pdu->opnum] : 0;
}

/* What a response has around the data that it returns: two sizes, three numbers of the array, the status; with NDR64, whose
 * numbers of an array have 8 bytes, padding behind. ValidateCounters returns them without the sizes, and always. QueryValue has four
 * pointers and what three of them point to, too; and what has no more than LEAST_VALUE is no sample. */
#define AROUND_DATA 24
#define AROUND_DATA_NDR64 36
#define NDR64_ALIGNMENT 8
#define AROUND_VALUE 44
#define LEAST_VALUE 52

static uint32_t data_size(const sealed_pdu *pdu)
{
    uint32_t around = pdu->is_ndr64 ? AROUND_DATA_NDR64 : AROUND_DATA, padding = pdu->is_ndr64 ? NDR64_ALIGNMENT : 1;

    if (pdu->interface == RPC_WINREG) {
        return pdu->size > AROUND_VALUE + LEAST_VALUE ? pdu->size - AROUND_VALUE : 0;
    }
    return pdu->size < around ? 0 : (pdu->size - around) / padding * padding;
}

static void describe(tapped_call *tapped, const sealed_pdu *pdu, unsigned does)
{
    tapped_sealed *sealed = &tapped->sealed;
    uint32_t size = data_size(pdu);

    tapped->subject = &pdu->connection;
    tapped->subject_size = sizeof pdu->connection;
    tapped->request_code = pdu->interface == RPC_WINREG ? pdu->asked_size : 0;
    sealed->size = pdu->size;
    sealed->request_time = pdu->request_time;
    sealed->request_frame = pdu->request_frame;
    sealed->answers_read = pdu->answers_read;
    sealed->takes_sample = does & SEALED_SAMPLES;
    sealed->returns_data = pdu->key.is_response && does & SEALED_RETURNS;
    sealed->has_data = sealed->returns_data && size > 0;
    sealed->sample_size = sealed->has_data && sealed->takes_sample ? size : 0;
}

/* What a sealed connection asks from one OpenQueryHandle to the next one that finds all closed: of several queries that are open
 * at a time, the seal hides whose a call is. */
typedef struct {
    state_pace *pace;
    unsigned num_open;
    bool is_closed; /* the last request closed the only one */
} sealed_query;

static sealed_query *take_query(const sealed_pdu *pdu, bool has_failed)
{
    sealed_query *query = pdu->connection->sealed_query;
    bool is_request = !pdu->key.is_response, opens = does_what(pdu) & SEALED_OPENS;
    bool closes = is_request && does_what(pdu) & SEALED_CLOSES;

    if (query == NULL || (is_request && opens && query->is_closed)) {
        query = wmem_new0(wmem_file_scope(), sealed_query);
        query->pace = pace_new();
        pdu->connection->sealed_query = query;
    }
    query->num_open += is_request && opens;
    query->num_open -= query->num_open > 0 && (closes || (opens && has_failed));
    query->is_closed = is_request ? closes && query->num_open == 0 : query->is_closed;
    return query;
}

/* On the first pass. */
static void learn_sealed(sealed_pdu *pdu, const tapped_sealed *sealed, bool has_failed)
{
    sealed_query *query = take_query(pdu, has_failed);
    pdu->query = query;
    if (pdu->interface == RPC_WINREG) {
        return; /* several questions take turns, and lists of names are among them */
    }
    if (sealed->sample_size > 0) {
        perf_point asked = pace_request_point(&pdu->request_time);
        pdu->late = pace_pass(query->pace, pdu->request_frame, pdu->key.frame, &asked, pdu->seconds);
    } else if (pdu->key.is_response) {
        pace_wait_for(query->pace, pdu->seconds);
    } else if (sealed->takes_sample) {
        pace_ask(&query->pace->requests, nstime_to_sec(&pdu->request_time));
    }
}

static void show_late(packet_info *pinfo, const sealed_call *call)
{
    findings_report report;

    findings_begin(&report, pinfo, &perflib->expert);
    call_show_late(&report, call->item, call->pdu->late);
}

/* On the first pass it is learned; whoever listens is handed it. */
static void hand_over(packet_info *pinfo, sealed_pdu *pdu, tapped_call *tapped)
{
    if (tapped->sealed.uses_query && !tapped->is_repeated && !PINFO_FD_VISITED(pinfo)) {
        learn_sealed(pdu, &tapped->sealed, tapped->has_failed);
    }
    if (tapped_wanted()) {
        tapped->sealed.connection = pdu ? pdu->query : NULL;
        tapped_hand_over(pinfo, tapped);
    }
}

static void tell(packet_info *pinfo, const sealed_call *call)
{
    const rpc_record *record = call->record;
    sealed_pdu *pdu = call->pdu;
    bool has_pdu = pdu != NULL;
    unsigned does = has_pdu ? does_what(pdu) : 0;

    ws_assert(record || has_pdu);
    rpc_connection *connection = record ? record->connection : pdu->connection;
    tapped_call tapped = {
        .unread = call->why,
        .is_hkpd = record ? record->protocol != perflib : pdu->interface == RPC_WINREG,
        .is_response = record || pdu->key.is_response,
        .is_repeated = record ? record->copied != NULL : pdu->is_copy,
        .has_failed = call->is_fault,
        .is_fault = call->is_fault,
        .status = call->status,
        .operation = call->operation,
        .request_frame = record ? record->request_frame : pdu->request_frame,
        .seconds = has_pdu ? pdu->seconds : record->seconds,
        .event = record ? record->response_event : 0,
        .connection = connection,
        .does_not_seal = connection_does_not_seal(connection),
        .server = (record ? record->to : connection_to(connection, pinfo, !pdu->key.is_response))->host,
        .handle = record ? record->handle : NULL,
        .sealed = {.uses_query = does & (SEALED_OPENS | SEALED_USES | SEALED_CLOSES)},
    };

    if (has_pdu && !call->is_fault) {
        describe(&tapped, pdu, does);
    }
    hand_over(pinfo, pdu, &tapped);
    if (has_pdu && !call->is_fault) {
        show_late(pinfo, call);
    }
}

void sealed_follow_noise(const rpc_call *call)
{
    const sealed_pdu noise = {
        .key = {.call_id = call->di->call_id, .is_response = !call_is_request(call)},
        .interface = RPC_PERFLIB,
        .is_ndr64 = call->ndr.ndr64,
        .answers_read = !call_is_request(call) && call->record->request_read,
        .opnum = call->di->call_data->opnum,
        .size = (uint32_t)tvb_reported_length_remaining(call->tvb, call->offset),
        .request_time = call->di->call_data->req_time,
        .request_frame = call->di->call_data->req_frame,
        .seconds = call_seconds(call),
    };
    packet_info *pinfo = call->pinfo;
    bool is_response = noise.key.is_response;
    sealed_pdu *pdu = PINFO_FD_VISITED(pinfo) ? find_pdu(pinfo, noise.key.call_id, is_response)
                                              : keep(pinfo, connection_of(pinfo, !is_response), &noise);

    if (pdu) {
        tell(pinfo, &(sealed_call){TAPPED_NOISE, call->operation, call->tree, pdu, NULL, false, 0});
    } else {
        tapped_hand_over_unread(pinfo, TAPPED_NOISE);
    }
}

/* --- What seals them, and which key was given ------------------------------------------------------------------- */

enum { AUTH_SPNEGO = 9, AUTH_NTLM = 10, AUTH_KERBEROS = 16 };

/* What was given to open a stub; or that it was opened, and Wireshark gave up after that. tshark's -K leaves no trace but that
 * kerberos.decrypt has to be on for it. */
typedef enum { NO_KEY, KEY, KEYTAB, UNUSED_KEYTAB, PERHAPS_KEYTAB, OPENED, NUM_GIVEN } given_key;

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
        [OPENED] = \
            "The key given fits, and Wireshark could not take the packet apart (_ws.malformed). " SEALED_WITH(name), \
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
        return lock_of_token(pdu, fragment->token);
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
static given_key key_given(packet_info *pinfo, const lock *what)
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

static void show_fields(proto_item *item, tvbuff_t *tvb, const sealed_pdu *pdu, const char *operation)
{
    proto_tree *tree = proto_item_add_subtree(item, ett_sealed);

    proto_item_set_generated(
        proto_tree_add_uint_format_value(tree, hf_operation, tvb, 0, 0, pdu->opnum, "%s (%u)", operation, pdu->opnum));
    proto_item_set_generated(proto_tree_add_uint(tree, hf_size, tvb, 0, 0, pdu->size));
}

static void explain(packet_info *pinfo, proto_item *item, tvbuff_t *tvb, const lock *what, sealed_call *call)
{
    static const char *const says[] = {
        "no key",           "the key given does not fit", "the key given does not fit", "kerberos.decrypt is off",
        "no key that fits", "opened and malformed"};
    given_key given = key_given(pinfo, what);
    findings_report report;
    finding_id finding = given == OPENED                              ? FINDING_NOT_DECRYPTED
                         : given == NO_KEY || given == PERHAPS_KEYTAB ? FINDING_SEALED
                                                                      : FINDING_KEY_DOES_NOT_FIT;
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
    findings_add(&report, item, finding, "%s", call->why);
    tell(pinfo, call);
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
    bool is_alone = !*any && fragment->header.is_first && fragment->header.is_last &&
                    at + fragment->header.size == (int)tvb_reported_length(tvb);
    sealed_call call = {.operation = operation_of(pdu), .pdu = pdu};
    proto_item *item = tree ? tree->last_child : NULL;

    if (what == NULL) {
        return;
    }
    if (is_of_any_key(pdu->interface, pdu->opnum)) {
        call.why = what->why[key_given(pinfo, what)];
        tell(pinfo, &call);
        return;
    }
    if (!is_alone) {
        col_set_str(pinfo->cinfo, COL_PROTOCOL, "PCQ");
        (*any ? col_append_fstr : col_add_fstr)(pinfo->cinfo, COL_INFO, "%s%s %s", *any ? ", " : "", call.operation,
                                                fragment->is_response ? "response" : "request");
        item = proto_tree_add_item(tree, perflib->proto, tvb, at, fragment->header.size, ENC_NA);
    }
    *any = true;
    call_note_monitor(pinfo);
    explain(pinfo, item, tvb, what, &call);
}

/* --- Each PDU --------------------------------------------------------------------------------------------------- */

static void show_sealed_fault(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header)
{
    sealed_fragment whole = {.header = *header, .is_response = true};
    sealed_call fault = {.is_fault = true};

    if (!tvb_bytes_exist(tvb, at, FAULT_SIZE)) {
        return;
    }
    whole.header.is_first = whole.header.is_last = true;
    fault.status = tvb_get_uint32(tvb, at + 24, header->order);
    fault.record = call_of_answer(pinfo, header->call_id);
    fault.pdu = fault.record ? NULL : take_pdu(pinfo, &whole);
    if (fault.record || fault.pdu) {
        const rpc_fields *fields = fault.record ? fault.record->protocol : perflib;
        fault.operation = fault.record ? fault.record->operation : operation_of(fault.pdu);
        call_show_fault(fields, fault.operation, tvb, at, MAX(header->size, FAULT_SIZE), pinfo, tree, fault.status);
        tell(pinfo, &fault);
    }
}

static bool show_sealed(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any)
{
    sealed_fragment fragment;
    bool is_sealed = !ws_has_data_source(pinfo, "Decrypted stub data") && read_fragment(&fragment, header, tvb, at);
    sealed_pdu *pdu = is_sealed ? take_pdu(pinfo, &fragment) : NULL;

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
        tell(pinfo, &(sealed_call){.why = TAPPED_CUT, .operation = record->operation, .record = record});
    }
}

static void show_unread(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, int at, const rpc_header *header,
                        bool *any)
{
    if (header->type == PDU_FAULT) {
        show_sealed_fault(tvb, pinfo, tree, at, header);
    } else if (header->type == PDU_REQ || header->type == PDU_RESP) {
        bool is_sealed = header->auth_size > 0 && show_sealed(tvb, pinfo, tree, at, header, any);
        if (!is_sealed && header->type == PDU_RESP && header->is_last) {
            tell_answer(pinfo, header->call_id);
        }
    }
}

/* Where nothing is sealed, as where all is opened, this is all that a PDU costs. One that is not all there may come again, put
 * together. */
static void pass_pdus(pdus_cursor *cursor, tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree)
{
    int end = pinfo->desegment_len != 0 ? pinfo->desegment_offset : INT_MAX;
    rpc_header header;
    bool any = false;

    for (int at = 0; at < end && pdu_header_read(&header, tvb, at); at += header.size) {
        pdus_pass(cursor, at, &header);
        if (connections_exist()) {
            show_unread(tvb, pinfo, tree, at, &header, &any);
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
        pdus_leave(&cursor);
        if (result) {
            pass_pdus(&cursor, tvb, pinfo, tree);
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
                  unsigned (*may)(uint16_t opnum))
{
    uuids[interface] = *uuid;
    pdus_watch(interface, &(pdus_interface){&uuids[interface], is_watched, may});
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
    pdus = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), pdu_hash, pdu_equal);
    pdus_register();
    perflib = fields_of_perflib;
    operations[RPC_PERFLIB] = perflib_operations;
    operations[RPC_WINREG] = winreg_operations;
    operations_do = does;
    num_operations = count;
}
