/* packet-pcq.c
 * Performance Counter Query Protocol [MS-PCQ]: the DCE/RPC interface PerflibV2.
 *
 * From the top: the table of the eight operations; a call and a PDU; parameters, which are read as the table lists them; operations
 * 0 to 2, which tell what counters there are; operations 3 to 7, the life of a query; the way of a PDU. lpData is read in
 * pcq-buffers.c and pcq/pcq-data.c. A call is learned from on the first pass, if its stub was read to its end and is well-formed.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-buffers.h"
#include "dcerpc/transport.h"
#include "text/value-strings.h"
#include "pcq/pcq-data.h"
#include "perf/bytes.h"
#include "tree/expert-info.h"
#include "tree/fields.h"
#include "names/names.h"
#include "tap/watched-counters.h"

#include <epan/tap.h>

void proto_register_pcq(void);
void proto_reg_handoff_pcq(void);

/* Win32 errors */
#define STATUS_SUCCESS 0
#define STATUS_NOT_ENOUGH_MEMORY 8
#define STATUS_OUTOFMEMORY 14

/* X(opnum, name, flags (dcerpc/connections.h), and the members of an operation). GUIDs are counted in EnumerateCounterSet, bytes elsewhere
 * ([MS-PCQ] 3.1.4.1). */
#define PCQ_OPERATIONS(X) \
    X(0, EnumerateCounterSet, RPC_RETURNS, "WS", "RAT", 256, "counterset", pcq_dissect_counterset_list, \
      describe_buffer_size, NULL) \
    X(1, QueryCounterSetRegistrationInfo, RPC_RETURNS, "WGCLS", "RAT", 134217728, "counter", pcq_dissect_registration, \
      describe_registration, registration_response) \
    X(2, EnumerateCounterSetInstances, RPC_RETURNS, "WGS", "RAT", 67108864, "instance", pcq_dissect_instances, \
      describe_counterset, describe_counterset) \
    X(3, OpenQueryHandle, RPC_OPENS, "W", "HT", 0, NULL, NULL, describe_machine, open_response) \
    X(4, CloseQueryHandle, RPC_CLOSES, "H", "HT", 0, NULL, NULL, NULL, close_response) \
    X(5, QueryCounterInfo, RPC_USES | RPC_RETURNS, "HS", "RAT", 67108864, "counter", pcq_dissect_query, \
      describe_buffer_size, info_response) \
    X(6, QueryCounterData, RPC_USES | RPC_RETURNS | RPC_SAMPLES, "HS", "RAT", 1073741824, NULL, NULL, \
      describe_buffer_size, data_response) \
    X(7, ValidateCounters, RPC_USES | RPC_CHANGES, "HSAD", "AT", 67108864, NULL, pcq_dissect_identifiers, \
      validate_request, validate_response)

#define OPNUM_STRING(opnum, name, ...) {opnum, #name},
static const value_string opnum_vals[] = {PCQ_OPERATIONS(OPNUM_STRING){0, NULL}};

#define OPNUM_ENUM(opnum, name, ...) OPNUM_##name = opnum,
enum { PCQ_OPERATIONS(OPNUM_ENUM) NUM_OPNUMS };

static int proto_pcq = -1;
static int hf_machine, hf_in_size, hf_out_size, hf_rtn_size, hf_status, hf_buffer, hf_request_code, hf_lcid, hf_add,
    hf_opnum;

static int ett_buffer = -1, ett_pcq = -1;

/* A call, from its request to its response and for every later look. Members are zeros as long as their parameter was not read. */
typedef struct {
    rpc_call rpc;
    pcq_request request;
    uint32_t in_size;            /* dwInSize */
    bool add;                    /* dwAdd: ValidateCounters adds counters, else it removes them */
    const query_epoch *asked_in; /* of the query, as the request saw it; NULL: none */
    query_snapshot seen;         /* the query as the response shows it */
    const char *machine;         /* szMachine without backslashes in front */
} pcq_call;

/* A PDU while it is dissected. */
typedef struct {
    rpc_pdu pdu;
    pcq_call *call; /* the same as pdu.call */
    const struct operation *operation;
    uint8_t handle[PERF_HANDLE_SIZE]; /* as little-endian sends it */
    proto_item *handle_item;          /* NULL: not shown */
    tvbuff_t *lpdata;                 /* content of lpData; NULL: it is empty, or was not reached */
    pcq_context context;              /* for lpData */
    buffer_cursor buffer;             /* in lpData */
    proto_tree *buffer_tree;          /* NULL: lpData is empty, or not shown */
    bool succeeded;                   /* the response was read to its end, and its status is 0 */
} pcq_pdu;

/* A row of PCQ_OPERATIONS. */
typedef struct operation {
    const char *parameters; /* of the request in their order, a letter each as in read_all_parameters() */
    const char *results;    /* of the response, likewise */
    uint32_t largest;       /* dwInSize that the interface admits, GUIDs or bytes */
    const char *counted;    /* singular of what lpData lists, for the Info column; NULL: it is described otherwise */
    void (*dissect)(buffer_cursor *cursor, pcq_context *context); /* reads lpData before the status; NULL: later */
    void (*request)(pcq_pdu *p); /* called when the parameters were read; NULL: they say all */
    void (*response)(pcq_pdu *p);
} operation;

/* --- A call ------------------------------------------------------------------------------------------------------ */

static rpc_protocol fields = {.handle_label = "Query handle",
                              .handle_number_label = "Query",
                              .handle_word = "query",
                              .call_size = sizeof(pcq_call)};

/* --- Parameters ------------------------------------------------------------------------------------------------ */

/* Reads szMachine. Changes: the call keeps it without backslashes; a server that no client has named takes it, unless it is its address. */
static void read_machine(pcq_pdu *p)
{
    const char *machine = ndr_wide_string(&p->pdu.cursor, hf_machine, "szMachine");

    if (rpc_pdu_may_learn(&p->pdu)) {
        machine += strspn(machine, "\\");
        p->call->machine = wmem_strdup(wmem_file_scope(), text_cut(p->pdu.pool, machine, TEXT_NAME_MAX));
        if (p->pdu.server->called == NULL && *machine != '\0' && strcmp(machine, p->pdu.server->text) != 0) {
            p->pdu.server->called = p->call->machine;
        }
    }
}

/* Reads dwInSize, in GUIDs or bytes, and reports one that the interface does not admit. Changes: `in_size` of the call. */
static void read_in_size(pcq_pdu *p)
{
    p->call->in_size = ndr_u32(&p->pdu.cursor, hf_in_size);
    if (p->call->in_size > p->operation->largest) {
        expert_report_add(&p->pdu.report, p->pdu.cursor.item, EI_IN_SIZE_RANGE,
                          "dwInSize %u exceeds the interface's maximum (%u)", p->call->in_size, p->operation->largest);
    }
}

/* Reads CounterSetGuid, and shows the counterset's name, if that is known. */
static void read_counterset(pcq_pdu *p)
{
    buffer_cursor *cursor = &p->pdu.cursor;

    ndr_align(&p->pdu.cursor, 4);
    cursor_read_guid(cursor, hf_pcq_counterset_guid, p->call->request.guid);
    pcq_add_known_counterset(cursor, p->pdu.server, p->call->request.guid);
}

#define REQUEST_CODE_STRING(value, name) {value, "PERF_REG_" #name},
static const value_string request_code_vals[] = {PCQ_REQUEST_CODES(REQUEST_CODE_STRING){0, NULL}};

/* Reads RequestCode, and reports one that is unknown. */
static void read_request_code(pcq_pdu *p)
{
    p->call->request.code = ndr_u32(&p->pdu.cursor, hf_request_code);
    if (!try_val_to_str(p->call->request.code, request_code_vals)) {
        expert_report_add(&p->pdu.report, p->pdu.cursor.item, EI_REQUEST_CODE,
                          "RequestCode %u is unknown, the answer's layout too", p->call->request.code);
    }
}

/* Reads dwAdd. */
static void read_add_flag(pcq_pdu *p)
{
    p->call->add = ndr_u32(&p->pdu.cursor, hf_add) != 0;
}

/* Reads RequestLCID, and shows it by RequestCode: a locale, a counter's id with its known name, or a number that is not used. Needs: CounterSetGuid
 * and RequestCode were read. Changes: `request.lcid` of the call. */
static void read_request_lcid(pcq_pdu *p)
{
    pcq_call *call = p->call;
    bool is_counter = call->request.code == PERF_REG_COUNTER_STRUCT;

    call->request.lcid = ndr_u32(&p->pdu.cursor, is_counter ? hf_pcq_counter_id : hf_lcid);
    if (is_counter) {
        pcq_add_known_counter(&p->pdu.cursor, p->pdu.server, call->request.guid, call->request.lcid,
                              /* with_type */ false);
    } else if (!pcq_has_locale(call->request.code) && try_val_to_str(call->request.code, request_code_vals)) {
        proto_item_append_text(p->pdu.cursor.item, " (unused by this RequestCode)");
    }
}

/* Reads the handle, and finds the query of a request. A closed handle stays closed, whoever still uses it. */
static void read_handle(pcq_pdu *p)
{
    p->handle_item = ndr_context_handle(&p->pdu.cursor, fields.handle, p->handle);
    if (p->pdu.is_request && handle_is_null(p->handle)) {
        expert_report_add(&p->pdu.report, p->handle_item, EI_HANDLE_NULL, "The handle is empty: no query has it");
    } else if (p->pdu.is_request) {
        rpc_pdu_find_handle(&p->pdu, PERF_HANDLE_QUERY, p->handle);
    }
}

/* --- lpData ---------------------------------------------------------------------------------------------------- */

/* True if a response tells the sizes of lpData, which then is varying, too. */
static bool has_sizes(const pcq_pdu *p)
{
    return p->operation->results[0] == 'R';
}

/* Returns "96 bytes"; of EnumerateCounterSet, which counts GUIDs, "6 GUIDs". */
static const char *format_count(const pcq_pdu *p, uint64_t count)
{
    return text_counted(p->pdu.pool, count, p->pdu.opnum == OPNUM_EnumerateCounterSet ? "GUID" : "byte");
}

/* Calls the operation's function for lpData, which reads it from `buffer` into `context`; for cursor_try(). */
static void read_buffer(void *pdu)
{
    pcq_pdu *p = pdu;

    p->operation->dissect(&p->buffer, &p->context);
}

/* Reads and shows what lpData holds, but not counter data, by the operation's function. GUIDs of EnumerateCounterSet have NDR's byte order. The
 * parameters behind lpData are read even if it ends too early. Changes: `context`. */
static void dissect_lpdata(pcq_pdu *p)
{
    bool is_of_ndr = p->pdu.opnum == OPNUM_EnumerateCounterSet;

    p->context = (pcq_context){
        .server = p->pdu.server,
        .request = p->call->rpc.request_read ? p->call->request : (pcq_request){.code = 0},
        .machine = handle_machine(p->call->rpc.handle, p->pdu.server),
        .is_response = !p->pdu.is_request && p->pdu.opnum == OPNUM_ValidateCounters,
        .collected = wmem_array_new(p->pdu.pool, sizeof(pcq_collected_entry)),
        .identifiers = wmem_array_new(p->pdu.pool, sizeof(perf_identifier)),
    };
    if (p->lpdata) {
        cursor_init(&p->buffer, p->lpdata, p->buffer_tree, &p->pdu.report,
                    is_of_ndr ? p->pdu.cursor.encoding : ENC_LITTLE_ENDIAN);
        cursor_try(&p->buffer, read_buffer, p);
    }
}

/* Reports counts of lpData that other parameters contradict. Changes: `in_size` of a request is the
 * array's, since a response to ValidateCounters has the same. */
static void check_counts(pcq_pdu *p, const ndr_array *array)
{
    uint64_t out_size = has_sizes(p) ? p->pdu.tapped.out_size : array->actual_count;
    uint64_t in_size = p->pdu.is_request || p->call->rpc.request_read ? p->call->in_size : array->max_count;

    if (array->actual_count != out_size || array->max_count != in_size) {
        expert_report_add(&p->pdu.report, array->item, EI_ARRAY_COUNTS,
                          "lpData holds %" PRIu64 " with room for %" PRIu64 ", but the parameters say %" PRIu64
                          " and %" PRIu64,
                          array->actual_count, array->max_count, out_size, in_size);
    }
    if (p->pdu.is_request) {
        p->call->in_size = (uint32_t)array->max_count;
    }
}

/* Reads and shows the array lpData: conformant and varying behind two sizes, else conformant; then
 * what is in it. Changes: `lpdata`, if it is not empty, and `buffer_tree`, for its content. */
static void read_lpdata(pcq_pdu *p)
{
    bool has_guids = p->pdu.opnum == OPNUM_EnumerateCounterSet;
    ndr_array array;

    ndr_array_begin(&p->pdu.cursor, has_sizes(p), "lpData", &array);
    check_counts(p, &array);
    tvbuff_t *tvb = ndr_elements(&p->pdu.cursor, &array, has_guids ? 16 : 1);
    proto_item_append_text(array.node, ": %" PRIu64 " %s%s", array.actual_count, has_guids ? "GUID" : "byte",
                           plurality(array.actual_count, "", "s"));
    if (array.max_count != array.actual_count) {
        proto_item_append_text(array.node, ", room for %" PRIu64, array.max_count);
    }
    uint32_t size = tvb_reported_length(tvb);
    if (size > 0) {
        p->lpdata = tree_own_source(p->pdu.pinfo, tvb, "lpData");
        proto_item *item = proto_tree_add_item(p->pdu.tree, hf_buffer, p->lpdata, 0, -1, ENC_NA);
        p->buffer_tree = proto_item_add_subtree(item, ett_buffer);
        proto_item_append_text(item, ", %u byte%s", size, plurality(size, "", "s"));
    }
    if (p->operation->dissect) {
        dissect_lpdata(p);
    }
}

/* Reads *pdwOutSize, what lpData holds, and *pdwRtnSize, what it needs room for. */
static void read_sizes(pcq_pdu *p)
{
    p->pdu.tapped.out_size = ndr_u32(&p->pdu.cursor, hf_out_size);
    p->pdu.tapped.rtn_size = ndr_u32(&p->pdu.cursor, hf_rtn_size);
}

/* Reads the status, and reports a failure, or a success without data. A size probe is neither, but half of a normal call: too small a buffer,
 * answered with the size that is needed. Changes: `succeeded`; in `tapped` `is_probe`, `has_failed`, and of a success its identifiers, for the query and for listeners. */
static void read_status(pcq_pdu *p)
{
    call_tap_data *tapped = &p->pdu.tapped;
    uint32_t status = rpc_pdu_read_status(&p->pdu, hf_status);

    tapped->is_probe = status == STATUS_NOT_ENOUGH_MEMORY && tapped->out_size == 0 && tapped->rtn_size > 0;
    p->succeeded = status == STATUS_SUCCESS;
    if (tapped->is_probe) {
        proto_item_append_text(p->pdu.cursor.item, ", a size probe: no failure");
        info_add_detail(&p->pdu, "size probe: needs %s", format_count(p, tapped->rtn_size));
    } else {
        rpc_pdu_report_status(&p->pdu, status);
    }
    /* even the counter data of an empty query has a header */
    bool is_missed = tapped->rtn_size > 0 || p->pdu.opnum == OPNUM_QueryCounterData;
    bool is_empty = p->succeeded && has_sizes(p) && tapped->out_size == 0;
    if (is_empty && is_missed && p->call->rpc.request_read && p->call->in_size > 0) {
        expert_report_add(&p->pdu.report, p->pdu.cursor.item, EI_NO_DATA,
                          "The call succeeded with room for %s, but lpData is empty; *pdwRtnSize says %u",
                          format_count(p, p->call->in_size), tapped->rtn_size);
    }
    if (p->succeeded && p->context.identifiers) {
        tapped->identifiers = wmem_array_get_raw(p->context.identifiers);
        tapped->num_identifiers = wmem_array_get_count(p->context.identifiers);
    }
}

/* Describes lpData of a success in the Info column: its only text, or how much it lists, then its size: "12 counters, 480 bytes". */
static void describe_lpdata(pcq_pdu *p)
{
    if (p->context.text) {
        info_add_detail(&p->pdu, "\"%s\"", text_cut(p->pdu.pool, p->context.text, TEXT_SHORT));
    } else if (p->context.count > 0 || p->pdu.opnum != OPNUM_QueryCounterSetRegistrationInfo) { /* not all are lists */
        info_add_detail(&p->pdu, "%s", text_counted(p->pdu.pool, p->context.count, p->operation->counted));
    }
    if (p->pdu.opnum != OPNUM_EnumerateCounterSet) {
        info_add_detail(&p->pdu, "%s", format_count(p, p->pdu.tapped.out_size));
    }
}

/* Adds the room for lpData to the Info column of a request: "buffer size: 1024 bytes". */
static void describe_buffer_size(pcq_pdu *p)
{
    info_add_detail(&p->pdu, "buffer size: %s", format_count(p, p->call->in_size));
}

/* --- Opnums 1, 2: QueryCounterSetRegistrationInfo, EnumerateCounterSetInstances, 3.1.4.1.2, 3.1.4.1.3 -------------- */

/* Returns the name of a counter of the call's counterset, or for the id PERF_NO_ID of the counterset, for the Info column: cut, with the mark of an
 * assumed one; "#6" or "{guid}" if it is not known. Needs: the request was read. */
static const char *format_requested_name(pcq_pdu *p, uint32_t id)
{
    const metadata_key key = metadata_counter_key(p->call->request.guid, id);
    metadata_result name = metadata_lookup(p->pdu.server, key).name;

    return text_marked(p->pdu.pool,
                       text_cut(p->pdu.pool, metadata_format_name(p->pdu.pool, &key, name.entry), TEXT_SHORT),
                       name.is_assumed);
}

/* Adds the counterset to the Info column, if the request was read; also to a response's tree, unless its data are the name. */
static void describe_counterset(pcq_pdu *p)
{
    bool has_name = p->context.text && (p->call->request.code == PERF_REG_COUNTERSET_NAME_STRING ||
                                        p->call->request.code == PERF_REG_COUNTERSET_ENGLISH_NAME);

    if (p->call->rpc.request_read) {
        if (!p->pdu.is_request && !has_name) {
            pcq_add_known_counterset(&p->pdu.cursor, p->pdu.server, p->call->request.guid);
        }
        info_add_subject(&p->pdu, "%s", format_requested_name(p, PERF_NO_ID));
    }
}

/* Adds to the Info column, of a response, too: the counterset, what of it is asked for, and in which language or of which counter. */
static void describe_registration(pcq_pdu *p)
{
    const pcq_request *request = &p->call->request;
    const char *code = try_val_to_str(request->code, request_code_vals);

    describe_counterset(p);
    if (!p->call->rpc.request_read) {
        return;
    }
    info_add_subject(&p->pdu, "%s",
                     code ? code + strlen("PERF_REG_")
                          : wmem_strdup_printf(p->pdu.pool, "RequestCode %u", request->code));
    if (pcq_has_locale(request->code)) {
        const char *locale = try_val_to_str(request->lcid, text_lcid_vals); /* "de-DE, German (Germany)" */
        locale = locale ? locale : wmem_strdup_printf(p->pdu.pool, "locale 0x%04x", request->lcid);
        info_add_subject(&p->pdu, "%.*s", (int)strcspn(locale, ","), locale);
    } else if (request->code == PERF_REG_COUNTER_STRUCT) {
        const metadata_key key = metadata_counter_key(request->guid, request->lcid);
        bool is_known = metadata_lookup(p->pdu.server, key).name.entry != NULL;
        info_add_subject(&p->pdu, is_known ? "counter %u %s" : "counter %u", request->lcid,
                         format_requested_name(p, request->lcid));
    }
}

/* Learns the names and types that the response brought. */
static void registration_response(pcq_pdu *p)
{
    unsigned count = p->succeeded && rpc_pdu_may_learn(&p->pdu) ? wmem_array_get_count(p->context.collected) : 0;

    for (unsigned i = 0; i < count; i++) {
        const pcq_collected_entry *collected = wmem_array_index(p->context.collected, i);
        metadata_learn(p->pdu.server, collected->key, collected->kind, &collected->entry, p->pdu.pinfo->num);
    }
    describe_registration(p);
}

/* --- Handles --------------------------------------------------------------------------------------------------- */

/* Returns "\Processor(0)\% Processor Time", without the computer, with the mark of an assumed name. `is_short`: cut for the Info column. */
static const char *format_counter_path(pcq_pdu *p, const perf_identifier *identifier, bool is_short)
{
    bool assumed;
    const char *path = pcq_format_path(p->pdu.pool, p->pdu.server, NULL, identifier, &assumed);

    return text_marked(p->pdu.pool, is_short ? text_cut(p->pdu.pool, path, TEXT_SHORT) : path, assumed);
}

/* Returns ", 2 more" behind the first of `count`, "" behind the only one. */
static const char *format_more(pcq_pdu *p, uint32_t count)
{
    return count > 1 ? wmem_strdup_printf(p->pdu.pool, ", %u more", count - 1) : "";
}

/* Returns refused changes or failed blocks for the Info column: "2 refused: \Set(a)\Counter (ERROR_NO_DATA), 1 more". `what`: their word. `first`:
 * the first one; NULL: not known, shown as "?". `status`: of the first. `mark`: stands behind it, in the brackets. */
static const char *format_refusals(pcq_pdu *p, const char *what, uint32_t count, const perf_identifier *first,
                                   uint32_t status, const char *mark)
{
    return wmem_strdup_printf(p->pdu.pool, "%u %s: %s (%s%s)%s", count, what,
                              first ? format_counter_path(p, first, /* is_short */ true) : "?",
                              text_win32_error(p->pdu.pool, status), mark, format_more(p, count));
}

/* Shows the handle: where it was opened and closed, below its item; and its number. */
static void show_query_handle(pcq_pdu *p)
{
    const state_handle *handle = rpc_pdu_get_handle(&p->pdu);

    if (handle && p->handle_item && !handle_is_null(p->handle) && proto_field_is_referenced(p->pdu.tree, proto_pcq)) {
        rpc_pdu_show_handle_lifetime(&p->pdu, p->handle_item, handle);
    }
    rpc_pdu_show_handle_number(&p->pdu, p->pdu.tree, handle);
}

/* Finds the query of a request that carries a handle, CloseQueryHandle's too; reports a closed one. Changes: opens an unknown one, since a well-formed request proves that there is a
 * query; `asked_in` of the call; as query_see_request(). */
static void find_query(pcq_pdu *p)
{
    rpc_call *call = p->pdu.call;

    if (rpc_pdu_may_learn(&p->pdu) && call->handle == NULL && !handle_is_null(p->handle)) {
        call->handle = handle_open(PERF_HANDLE_QUERY, p->pdu.server, p->handle, 0, NULL);
    }
    if (call->handle && p->pdu.first_time) {
        p->call->asked_in = query_see_request(call->handle, call->connection->unread_change);
    }
    rpc_pdu_report_closed_handle(&p->pdu, p->handle_item);
}

/* Returns the handle that a response is about, NULL: not known. Changes: a success or a size probe confirms it. If the request's handle was closed, the
 * response is about its successor (rpc_pdu_confirm_handle()). */
static state_handle *confirm_query(pcq_pdu *p)
{
    rpc_call *call = p->pdu.call;

    if (call->handle && (p->succeeded || p->pdu.tapped.is_probe) && rpc_pdu_may_learn(&p->pdu)) {
        rpc_pdu_confirm_handle(&p->pdu, PERF_HANDLE_QUERY, call->handle->bytes);
    }
    return rpc_pdu_get_handle(&p->pdu);
}

/* --- Opnums 3, 4: OpenQueryHandle, CloseQueryHandle, 3.1.4.1.4, 3.1.4.1.8 ---------------------------------------- */

/* Adds the machine, if the request names one, to the Info column. */
static void describe_machine(pcq_pdu *p)
{
    if (p->call->machine && *p->call->machine) {
        info_add_detail(&p->pdu, "%s", p->call->machine);
    }
}

/* Opens the handle of a successful response, under the machine that the request named. */
static void open_response(pcq_pdu *p)
{
    rpc_call *call = p->pdu.call;

    if (rpc_pdu_may_learn(&p->pdu) && p->succeeded && !handle_is_null(p->handle)) {
        call->handle = handle_open(PERF_HANDLE_QUERY, p->pdu.server, p->handle, p->pdu.pinfo->num, p->call->machine);
    }
}

static void close_response(pcq_pdu *p)
{
    rpc_pdu_close_handle(&p->pdu);
}

/* --- Opnum 5: QueryCounterInfo, 3.1.4.1.5 ---------------------------------------------------------------------- */

/* Has listeners get the number of counters. Changes: the query, whose counters and blocks they are. */
static void info_response(pcq_pdu *p)
{
    if (p->succeeded) {
        p->pdu.tapped.has_counters = true;
        p->pdu.tapped.counters = p->context.count;
    }
    state_handle *handle = confirm_query(p);
    if (p->succeeded && rpc_pdu_may_learn(&p->pdu) && handle) {
        query_apply_info(handle, p->pdu.tapped.identifiers, p->context.count, p->pdu.call->request_frame);
    }
}

/* --- Opnum 6: QueryCounterData, 3.1.4.1.6 ---------------------------------------------------------------------- */

/* Returns "2 failed: \Set\Counter (ERROR_NO_DATA), 1 more" for the Info column. Needs: a block with an error. */
static const char *format_failures(pcq_pdu *p)
{
    value_stream *stream = value_stream_begin(p->pdu.pool, &p->pdu.answer);

    do {
        value_stream_next_group(stream);
    } while (stream->now.at.group->type != PERF_ERROR_RETURN);
    return format_refusals(p, "failed", stream->now.table->failed, stream->identifier, stream->now.at.group->status,
                           stream->assumed == ASSUMED_COUNTER ? ", assumed" : "");
}

/* Learns and shows lpData, behind the status: only a success is a sample. Changes: its series; the query, by its number of blocks. */
static void data_response(pcq_pdu *p)
{
    tvbuff_t *tvb = p->lpdata;
    state_handle *handle = confirm_query(p);
    counter_response *answer = &p->pdu.answer;

    if (tvb) {
        state_sample *sample = rpc_pdu_read_response(&p->pdu, &pcq_value_ops, handle, "", tvb);
        if (sample) {
            sample->query = &p->call->seen;
        }
        answer->query = &p->call->seen;
        if (p->pdu.first_time && p->succeeded && handle && tvb_bytes_exist(tvb, 0, PERF_DATA_HEADER_SIZE)) {
            uint32_t blocks = tvb_get_letohl(tvb, 4); /* dwNumCounters */
            bool is_sound = answer->table->is_sound && rpc_pdu_may_learn(&p->pdu);
            p->call->seen = query_check_block_count(handle, p->call->asked_in, blocks, is_sound);
        }
        value_tree_show(p->buffer_tree, &p->pdu.report, answer, &pcq_tree_ops);
        if (p->succeeded) {
            p->pdu.tapped.answer = answer;
            p->pdu.tapped.counters = answer->table->num_groups;
        }
        rpc_pdu_report_response(&p->pdu, p->pdu.has_column && answer->table->failed > 0 ? format_failures(p) : NULL);
    }
}

/* --- Opnum 7: ValidateCounters, 3.1.4.1.7 ---------------------------------------------------------------------- */

/* Returns ": \Set(instance)\Counter, 2 more" for the Info column, "" without identifiers. */
static const char *format_identifiers(pcq_pdu *p)
{
    if (p->context.count == 0) {
        return "";
    }
    const char *first = format_counter_path(p, wmem_array_index(p->context.identifiers, 0), /* is_short */ true);
    return wmem_strconcat(p->pdu.pool, ": ", first, format_more(p, p->context.count), NULL);
}

/* Describes a change in the Info column, and begins it: of unknown counters, if the request is malformed. */
static void validate_request(pcq_pdu *p)
{
    state_handle *handle = p->pdu.call->handle;

    if (p->pdu.has_column) {
        info_add_detail(&p->pdu, "%s %u%s", p->call->add ? "add" : "remove", p->context.count, format_identifiers(p));
    }
    if (p->pdu.first_time && handle) {
        bool is_read = rpc_pdu_may_learn(&p->pdu);
        p->call->rpc.change =
            query_begin_change(handle, p->call->add, is_read ? wmem_array_get_raw(p->context.identifiers) : NULL,
                               is_read ? p->context.count : 0, p->pdu.pinfo->num);
    }
}

/* Describes refused counters: the first in the Info column; each that was to be added has an expert info at lpData. Needs: a success that refuses one. */
static void describe_refused(pcq_pdu *p)
{
    const perf_identifier *identifiers = p->pdu.tapped.identifiers, *first = NULL;
    bool removes = p->call->rpc.request_read && !p->call->add;
    bool reports = p->call->add && expert_info_is_wanted(p->pdu.tree);

    for (unsigned i = 0; i < p->context.count; i++) {
        first = first == NULL && identifiers[i].status != 0 ? &identifiers[i] : first;
        if (reports && identifiers[i].status != 0) {
            expert_report_add(&p->pdu.report, proto_tree_get_parent(p->buffer_tree), EI_COUNTER_REFUSED,
                              "Refused: %s: %s", format_counter_path(p, &identifiers[i], /* is_short */ false),
                              text_win32_error(p->pdu.pool, identifiers[i].status));
        }
    }
    info_add_subject(&p->pdu, "%s",
                     format_refusals(p, removes ? "refused to be removed" : "refused", p->context.refused, first,
                                     first->status, ""));
}

/* Describes the outcome of a change. Changes: the query, by what the server accepted. */
static void validate_response(pcq_pdu *p)
{
    uint32_t refused = p->context.refused;

    if (p->succeeded) {
        const char *done = !p->call->rpc.request_read ? "accepted" : p->call->add ? "added" : "removed";
        if (p->pdu.has_column) {
            info_add_detail(&p->pdu, "%u %s%s", p->context.count - refused, done,
                            refused > 0 ? "" : format_identifiers(p));
        }
        if (refused > 0) {
            describe_refused(p);
        }
    }
    confirm_query(p);
    /* without memory for all some of it may be done */
    bool is_known = rpc_pdu_may_learn(&p->pdu) && p->pdu.tapped.status != STATUS_OUTOFMEMORY;
    query_end_change(p->call->rpc.change, is_known, p->pdu.tapped.identifiers, p->pdu.tapped.num_identifiers);
}

/* --- The interface ----------------------------------------------------------------------------------------------- */

/* PerflibV2, da5a86c5-12c2-4943-ab30-7f74a813d853 version 1.0 ([MS-PCQ] 1.9) */
static e_guid_t uuid_perflibv2 = {0xda5a86c5, 0x12c2, 0x4943, {0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53}};
#define PERFLIBV2_VERSION 1

static unsigned pref_sample_limit = 1024;
static const char *pref_names_file = "";

#define OPERATION_ROW(opnum, name, flags, ...) {__VA_ARGS__},
static const operation operations[] = {PCQ_OPERATIONS(OPERATION_ROW)};

/* Hands the PDU to the listeners. Changes: of QueryCounterData the timing of its series; of a garbled PDU the call's `is_garbled` alone, by which
 * transport.c taps it as unread. */
static void pcq_tap_pdu(pcq_pdu *p)
{
    const rpc_pdu *pdu = &p->pdu;
    call_tap_data *tapped = &p->pdu.tapped;
    state_handle *handle = rpc_pdu_get_handle(&p->pdu);
    const query_epoch *epoch = pdu->is_request ? p->call->asked_in : p->call->seen.epoch;

    if (pdu->is_garbled) {
        p->call->rpc.is_garbled[!pdu->is_request] = true;
        return;
    }
    if (pdu->opnum == OPNUM_QueryCounterData) {
        rpc_pdu_add_timing(pdu, handle, "");
    }
    if (!call_tap_is_wanted()) {
        return;
    }
    tapped->request_code = p->call->request.code;
    tapped->brings_data = pdu->opnum == OPNUM_QueryCounterData;
    tapped->adds = p->call->add;
    tapped->format_path = pcq_format_path;
    tapped->counters_hash = epoch ? MAX(epoch->hash, 1) : 0;
    /* a handle, or CounterSetGuid and RequestLCID, tell that another call is the same, beside operation and request_code */
    tapped->subject =
        handle ? (const char *)handle->bytes
               : wmem_strdup_printf(p->pdu.pool, "%s %u", metadata_format_guid(p->pdu.pool, p->call->request.guid),
                                    p->call->request.lcid);
    tapped->subject_size = handle ? sizeof handle->bytes : (uint32_t)strlen(tapped->subject);
    rpc_pdu_tap(&p->pdu, handle);
}

/* Reads the parameters of a request or response as the operation lists them, with lpData's content, but for counter data. For rpc_pdu_read(), since
 * one that is not there throws. Needs: a pcq_pdu. */
static void read_all_parameters(void *pdu)
{
    pcq_pdu *p = pdu;
    static void (*const read[])(pcq_pdu *p) = {
        ['W'] = read_machine, ['G'] = read_counterset, ['C'] = read_request_code, ['L'] = read_request_lcid,
        ['S'] = read_in_size, ['H'] = read_handle,     ['D'] = read_add_flag,     ['R'] = read_sizes,
        ['A'] = read_lpdata,  ['T'] = read_status,
    };

    for (const char *letter = p->pdu.is_request ? p->operation->parameters : p->operation->results; *letter; letter++) {
        read[(unsigned char)*letter](p);
    }
    rpc_pdu_report_trailing_bytes(&p->pdu);
}

/* Dissects a request or response of any of the eight operations, as DCE/RPC hands it over. Returns the stub's length. */
static int pcq_dissect_pdu(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                           uint8_t *drep)
{
    uint16_t opnum = di->call_data->opnum;
    pcq_pdu p = {.call = NULL};

    DISSECTOR_ASSERT(opnum < NUM_OPNUMS); /* no other is registered */
    if (rpc_is_connectionless(di)) {
        return (int)tvb_reported_length(tvb);
    }
    rpc_pdu_begin(&p.pdu, &fields, opnum_vals[opnum].strptr, tvb, offset, pinfo, tree, di, drep);
    p.operation = &operations[opnum];
    p.call = (pcq_call *)p.pdu.call;
    p.call->rpc.operation = opnum_vals[opnum].strptr;
    rpc_pdu_read_stub(&p.pdu, /* is_aloud */ true);
    proto_item *item = proto_tree_get_parent(tree);
    rpc_pdu_report_duplicate(&p.pdu, item);
    if (!p.pdu.is_request && !p.pdu.call->request_read) {
        expert_report_add(&p.pdu.report, item, EI_REQUEST_MISSING,
                          "The request was not captured whole, or not decrypted: what depends on it stays undecoded");
    }
    if (rpc_pdu_report_garbled(&p.pdu, /* ends_with_length */ false)) {
        query_end_change(p.call->rpc.change, /* is_known */ false, NULL, 0);
    } else {
        void (*use)(pcq_pdu *p) = p.pdu.is_request ? p.operation->request : p.operation->response;
        bool is_whole = rpc_pdu_read(&p.pdu, read_all_parameters, &p);
        p.call->rpc.request_read = p.pdu.is_request ? is_whole : p.call->rpc.request_read;
        if (p.pdu.is_request && p.operation->parameters[0] == 'H') {
            find_query(&p);
        }
        if (use) {
            use(&p);
        }
        if (p.succeeded && p.operation->counted) {
            describe_lpdata(&p);
        }
        show_query_handle(&p);
    }
    pcq_tap_pdu(&p);
    return rpc_pdu_end(&p.pdu, item);
}

#define DCERPC_ROW(opnum, name, ...) {opnum, #name, pcq_dissect_pdu, pcq_dissect_pdu},
static ws_dcerpc_table dcerpc_table[] = {PCQ_OPERATIONS(DCERPC_ROW){0, NULL, NULL, NULL}};

/* --- Registration ---------------------------------------------------------------------------------------------- */

static void apply_preferences(void)
{
    sample_limit((uint64_t)pref_sample_limit << 20);
}

static void pcq_register_fields(void)
{
    static hf_register_info hf[] = {
        FIELD_TEXT(hf_machine, "Machine", "pcq.machine", "szMachine, passed on to the providers"),
        FIELD_U32(hf_in_size, "Buffer size", "pcq.in_size", "dwInSize: GUIDs in operation 0, else bytes"),
        FIELD_U32(hf_out_size, "Returned size", "pcq.out_size", "*pdwOutSize: GUIDs in operation 0, else bytes"),
        FIELD_U32(hf_rtn_size, "Needed size", "pcq.rtn_size", "*pdwRtnSize: GUIDs in operation 0, else bytes"),
        FIELD_ERROR(hf_status, "Status", "pcq.status", "error_status_t"),
        FIELD_NODE(hf_buffer, "Data", "pcq.data", "lpData"),
        FIELD_HEX_OF(hf_request_code, "Request code", "pcq.request_code", request_code_vals, "RequestCode"),
        FIELD_HEX_OF(hf_lcid, "Locale", "pcq.lcid", text_lcid_vals, "RequestLCID"),
        FIELD(hf_add, "Add", "pcq.add", FT_BOOLEAN, BASE_NONE, NULL, "dwAdd: add or remove"),
        FIELD(hf_opnum, "Operation", "pcq.opnum", FT_UINT16, BASE_DEC, VALS(opnum_vals), "Opnum, 0 to 7"),
    };
    static int *ett[] = {&ett_buffer, &ett_pcq};

    proto_register_field_array(proto_pcq, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    rpc_protocol_register(proto_pcq, "pcq", "query.number", &fields);
    expert_info_register(proto_pcq, /* is_block */ false);
}

void proto_register_pcq(void)
{
    text_value_strings_init();
    proto_pcq = proto_register_protocol("Performance Counter Query Protocol", "PCQ", "pcq");
    pcq_register_fields();
    pcq_buffers_register(proto_pcq);
    pcq_data_register(proto_pcq);
    rpc_transport_register(&fields);
    servers_register();
    metadata_register();
    handles_register();
    samples_register();
    names_file_register(&pref_names_file);
    call_tap_add(register_tap(CALL_TAP_NAME));
    register_tap(SETUP_TAP_NAME);
    module_t *module = prefs_register_protocol(proto_pcq, apply_preferences);
    prefs_register_uint_preference(
        module, "sample_limit", "Memory for samples (MiB)",
        "Maximum memory for the samples that are kept to calculate rates. If it is exceeded, "
        "the oldest samples are discarded.",
        10, &pref_sample_limit);
    prefs_register_filename_preference(
        module, "names_file", "Names file",
        "File with counter names and types for captures that lack them, as written by \"tshark -z pcq,names,FILE\". "
        "If empty, \"pcq_names\" in the profile or personal configuration folder is read.",
        &pref_names_file, false);
    watch_register(proto_pcq, module);
    apply_preferences();
}

static bool is_pcq_watched(void)
{
    return proto_is_protocol_enabled(find_protocol_by_id(proto_pcq));
}

#define FLAGS_ROW(opnum, name, flags, ...) {opnum, #name, flags},

/* Hands the interface's operations to DCE/RPC, and has its connections and sealed calls followed. */
void proto_reg_handoff_pcq(void)
{
    static const rpc_operation flags[] = {PCQ_OPERATIONS(FLAGS_ROW){0}};

    dcerpc_init_uuid(proto_pcq, ett_pcq, &uuid_perflibv2, PERFLIBV2_VERSION, dcerpc_table, hf_opnum);
    rpc_watch_interface(RPC_PERFLIB, &(rpc_watched_interface){&uuid_perflibv2, is_pcq_watched, flags});
}
