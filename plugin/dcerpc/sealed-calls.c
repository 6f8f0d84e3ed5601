/* sealed-calls.c
 * What is learned of a sealed call, and what listeners are told of it.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/sealed-calls.h"

#include "tap/tapped.h"

static const rpc_fields *perflib;
static const uint8_t *operations; /* what each does */
static unsigned num_operations;

static unsigned does_what(const sealed_pdu *pdu)
{
    return pdu->interface == RPC_PERFLIB && pdu->opnum < num_operations ? operations[pdu->opnum] : 0;
}

/* What a response has around the data that it returns: two sizes, three numbers of the array, the status; with NDR64, whose
 * numbers of an array have 8 bytes, padding behind. ValidateCounters returns them without the sizes, and always. */
#define AROUND_DATA 24
#define AROUND_DATA_NDR64 36
#define NDR64_ALIGNMENT 8

static uint32_t data_size(const sealed_pdu *pdu)
{
    uint32_t around = pdu->is_ndr64 ? AROUND_DATA_NDR64 : AROUND_DATA, padding = pdu->is_ndr64 ? NDR64_ALIGNMENT : 1;

    return pdu->size < around ? 0 : (pdu->size - around) / padding * padding;
}

static void describe(tapped_call *tapped, const sealed_pdu *pdu, unsigned does)
{
    tapped_sealed *sealed = &tapped->sealed;
    uint32_t size = data_size(pdu);

    tapped->subject = &pdu->connection;
    tapped->subject_size = sizeof pdu->connection;
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

void sealed_call_tell(packet_info *pinfo, const sealed_call *call)
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

void sealed_call_follow_noise(const rpc_call *call)
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
    sealed_pdu *pdu = sealed_pdu_add(call->pinfo, &noise);

    if (pdu) {
        sealed_call_tell(call->pinfo, &(sealed_call){TAPPED_NOISE, call->operation, call->tree, pdu, NULL, false, 0});
    } else {
        tapped_hand_over_unread(call->pinfo, TAPPED_NOISE);
    }
}

void sealed_calls_register(const rpc_fields *fields_of_perflib, const uint8_t *operations_of_perflib, unsigned count)
{
    perflib = fields_of_perflib;
    operations = operations_of_perflib;
    num_operations = count;
}
