/* pcq-call.c
 * What the calls of PerflibV2 have in common.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "pcq-call.h"

#include "text/value-strings.h"

/* Largest array of ValidateCounters ([MS-PCQ] 3.1.4.1.7). */
#define MAX_IDENTIFIERS 67108864

static int hf_machine = -1;
static int hf_in_size = -1;
static int hf_out_size = -1;
static int hf_rtn_size = -1;
static int hf_status = -1;
static int hf_buffer = -1;

static int ett_buffer = -1;

static perf_call_fields fields = {.handle_label = "Query handle", .handle_word = "query"};

void pcq_begin(pcq_pdu *p, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
               uint8_t *drep)
{
    perf_call *call = &p->call;

    perf_call_init(call, &fields, tvb, offset, pinfo, tree, di, drep);
    perf_call_begin(call, sizeof(pcq_record));
    p->record = (pcq_record *)call->record;
    memset(&p->tapped, 0, sizeof p->tapped);
    perf_call_aloud(call);
    if (perf_call_is_request(call)) {
        return;
    }
    if (call->record->response_frame != 0 && call->record->response_frame != pinfo->num) {
        perf_found(&call->report, proto_tree_get_parent(tree), FINDING_SECOND_RESPONSE,
                   "The call was answered in frame %u already", call->record->response_frame);
    }
    if (!call->record->request_read) {
        perf_found(&call->report, proto_tree_get_parent(tree), FINDING_REQUEST_MISSING,
                   "The request was not captured whole, or not decrypted: what depends on it stays undecoded");
    }
}

wmem_allocator_t *pcq_pool(const pcq_pdu *p)
{
    return p->call.pinfo->pool;
}

bool pcq_request_read(const pcq_pdu *p)
{
    return p->record->call.request_read;
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

uint32_t pcq_read_u32(pcq_pdu *p, int hf)
{
    return ndr_u32(&p->call.ndr, hf);
}

void pcq_read_machine(pcq_pdu *p)
{
    const char *machine = ndr_wide_string(&p->call.ndr, &fields.ndr, hf_machine, "szMachine");

    if (machine && p->call.first_time) {
        machine += strspn(machine, "\\");
        p->record->machine = wmem_strdup(wmem_file_scope(), machine);
    }
}

void pcq_read_in_size(pcq_pdu *p, uint32_t largest)
{
    p->record->in_size = pcq_read_u32(p, hf_in_size);
    if (p->record->in_size > largest) {
        perf_found(&p->call.report, p->call.ndr.reader.item, FINDING_IN_SIZE_RANGE,
                   "dwInSize %u is more than the interface admits (%u), the server refuses it", p->record->in_size,
                   largest);
    }
}

uint32_t pcq_read_status(pcq_pdu *p)
{
    p->tapped.status = pcq_read_u32(p, hf_status);
    p->tapped.has_status = !p->call.ndr.reader.failed;
    return p->tapped.status;
}

proto_item *pcq_read_handle(pcq_pdu *p, uint8_t handle[PERF_HANDLE_SIZE])
{
    ndr_context_handle(&p->call.ndr, fields.handle, handle);
    return p->call.ndr.reader.item;
}

void pcq_request_end(pcq_pdu *p)
{
    p->record->call.request_read = !p->call.ndr.reader.failed;
    perf_call_end_stub(&p->call);
}

/* --- lpData ---------------------------------------------------------------------------------------------------- */

static void open_buffer(pcq_pdu *p, ndr_array *array, uint32_t element_size, pcq_returned *back)
{
    back->tvb = ndr_elements(&p->call.ndr, array, element_size);
    if (back->tvb == NULL || tvb_reported_length(back->tvb) == 0) {
        back->tvb = NULL;
        return;
    }
    back->tvb = own_data_source(p->call.pinfo, back->tvb, "lpData");
    if (array->tree == NULL) {
        return;
    }
    back->item = proto_tree_add_item(array->tree, hf_buffer, back->tvb, 0, -1, ENC_NA);
    back->tree = proto_item_add_subtree(back->item, ett_buffer);
    proto_item_append_text(back->item, ", %s", perf_counted(pcq_pool(p), tvb_reported_length(back->tvb), "byte"));
}

static void check_counts(pcq_pdu *p, const pcq_returned *back, const ndr_array *array)
{
    if (p->call.ndr.reader.failed) {
        return;
    }
    if (array->actual_count != back->out_size) {
        perf_found(&p->call.report, array->item, FINDING_ARRAY_COUNTS, "lpData holds %s, but *pdwOutSize says %u",
                   perf_counted(pcq_pool(p), array->actual_count, back->unit), back->out_size);
    }
    if (pcq_request_read(p) && array->max_count != p->record->in_size) {
        perf_found(&p->call.report, array->item, FINDING_ARRAY_COUNTS,
                   "lpData has room for %s, but dwInSize of the request was %u",
                   perf_counted(pcq_pool(p), array->max_count, back->unit), p->record->in_size);
    }
}

/* "lpData: 96 bytes of 1024". */
static void label_array(const ndr_array *array, const char *unit)
{
    if (array->node) {
        proto_item_append_text(array->node, ": %" PRIu64 " %s%s", array->actual_count, unit,
                               array->actual_count == 1 ? "" : "s");
        if (array->max_count != array->actual_count) {
            proto_item_append_text(array->node, ", room for %" PRIu64, array->max_count);
        }
    }
}

void pcq_read_returned(pcq_pdu *p, uint32_t element_size, pcq_returned *back)
{
    ndr_array array;

    memset(back, 0, sizeof *back);
    back->unit = element_size == 1 ? "byte" : "GUID";
    back->out_size = pcq_read_u32(p, hf_out_size);
    back->rtn_size = pcq_read_u32(p, hf_rtn_size);
    ndr_varying_array(&p->call.ndr, &fields.ndr, "lpData", &array);
    check_counts(p, back, &array);
    label_array(&array, back->unit);
    open_buffer(p, &array, element_size, back);
}

bool pcq_is_size_probe(const pcq_returned *back)
{
    return back->status == STATUS_NOT_ENOUGH_MEMORY && back->out_size == 0 && back->rtn_size > 0;
}

/* An empty answer to a request that had no room is nothing but that. */
static void report_empty(pcq_pdu *p, const pcq_returned *back)
{
    if (back->out_size == 0 && back->rtn_size > 0 && pcq_request_read(p) && p->record->in_size > 0) {
        perf_found(&p->call.report, p->call.ndr.reader.item, FINDING_NO_DATA,
                   "The call succeeded, lpData is empty, but *pdwRtnSize says %u", back->rtn_size);
    }
}

bool pcq_read_returned_status(pcq_pdu *p, pcq_returned *back)
{
    back->status = pcq_read_status(p);
    if (p->call.ndr.reader.failed) {
        return false;
    }
    p->tapped.has_sizes = true;
    p->tapped.is_probe = pcq_is_size_probe(back);
    p->tapped.out_size = back->out_size;
    p->tapped.rtn_size = back->rtn_size;
    if (p->tapped.is_probe) {
        perf_call_info(&p->call, "needs %s", perf_counted(pcq_pool(p), back->rtn_size, back->unit));
        return false;
    }
    perf_call_report_status(&p->call, back->status);
    if (back->status != STATUS_SUCCESS) {
        return false;
    }
    report_empty(p, back);
    return true;
}

static void check_sent(pcq_pdu *p, const ndr_array *array)
{
    if (p->call.ndr.reader.failed) {
        return;
    }
    if (array->max_count > MAX_IDENTIFIERS) {
        perf_found(&p->call.report, array->item, FINDING_ARRAY_COUNTS,
                   "lpData would have %" PRIu64 " bytes, more than the interface admits (%u)", array->max_count,
                   MAX_IDENTIFIERS);
    } else if (perf_call_is_request(&p->call) && array->max_count != p->record->in_size) {
        perf_found(&p->call.report, array->item, FINDING_ARRAY_COUNTS,
                   "lpData has %" PRIu64 " bytes, but dwInSize is %u", array->max_count, p->record->in_size);
    } else if (!perf_call_is_request(&p->call) && pcq_request_read(p) && array->max_count != p->record->array_count) {
        perf_found(&p->call.report, array->item, FINDING_ARRAY_COUNTS,
                   "lpData has %" PRIu64 " bytes, but that of the request had %" PRIu64, array->max_count,
                   p->record->array_count);
    }
}

void pcq_read_sent(pcq_pdu *p, pcq_returned *back)
{
    ndr_array array;

    memset(back, 0, sizeof *back);
    back->unit = "byte";
    ndr_conformant_array(&p->call.ndr, &fields.ndr, "lpData", &array);
    check_sent(p, &array);
    if (perf_call_is_request(&p->call)) {
        p->record->array_count = array.max_count;
    }
    label_array(&array, back->unit);
    open_buffer(p, &array, 1, back);
}

/* --- What buffers hold ----------------------------------------------------------------------------------------- */

void pcq_init_context(pcq_pdu *p, pcq_context *context)
{
    pcq_context_init(context, &p->call.report, p->call.server, p->call.event, p->call.pinfo->num);
    context->is_response = !perf_call_is_request(&p->call);
    context->request_known = pcq_request_read(p);
    context->request_code = p->record->request_code;
    context->lcid = p->record->lcid;
    memcpy(context->guid, p->record->guid, sizeof context->guid);
}

void pcq_learn(pcq_pdu *p, const pcq_context *context)
{
    for (unsigned i = 0; i < wmem_array_get_count(context->lessons); i++) {
        const pcq_lesson *lesson = wmem_array_index(context->lessons, i);
        perf_learn(p->call.server, &lesson->subject, lesson->kind, &lesson->fact, p->call.event, p->call.pinfo->num);
    }
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

void pcq_call_register(int proto)
{
    static hf_register_info hf[] = {
        {&hf_machine,
         {"Machine", "pcq.machine", FT_STRING, BASE_NONE, NULL, 0, "szMachine, passed on to the providers", HFILL}},
        {&hf_in_size,
         {"Buffer size", "pcq.in_size", FT_UINT32, BASE_DEC, NULL, 0, "dwInSize: GUIDs in operation 0, else bytes",
          HFILL}},
        {&hf_out_size,
         {"Returned size", "pcq.out_size", FT_UINT32, BASE_DEC, NULL, 0,
          "*pdwOutSize: GUIDs in operation 0, else bytes", HFILL}},
        {&hf_rtn_size,
         {"Needed size", "pcq.rtn_size", FT_UINT32, BASE_DEC, NULL, 0, "*pdwRtnSize: GUIDs in operation 0, else bytes",
          HFILL}},
        {&hf_status,
         {"Status", "pcq.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &win32_error_ext, 0, "error_status_t", HFILL}},
        {&hf_buffer, {"Data", "pcq.data", FT_NONE, BASE_NONE, NULL, 0, "lpData", HFILL}},
    };
    static int *ett[] = {&ett_buffer};

    proto_register_field_array(proto, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    perf_call_fields_register(proto, "pcq", "query.number", &fields);
}
