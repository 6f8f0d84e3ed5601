/* packet-pcq.c
 * Performance Counter Query Protocol [MS-PCQ]: the DCE/RPC interface PerflibV2.
 *
 * Reads the parameters of the eight operations, hands what is in lpData to the buffer dissectors, and decides what is
 * learned: only what stood in a stub that was read to its end, adds up, and is seen for the first time.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "packet-pcq.h"

#include "out/names-file.h"
#include "pcq-buffers.h"
#include "pcq-data.h"
#include "pcq-fields.h"
#include "readings/graph.h"
#include "tree/ndr.h"
#include "tree/sealed.h"
#include "tree/strings.h"

/* PerflibV2, da5a86c5-12c2-4943-ab30-7f74a813d853 version 1.0 ([MS-PCQ] 1.9) */
static e_guid_t uuid_perflibv2 = {0xda5a86c5, 0x12c2, 0x4943, {0xab, 0x30, 0x7f, 0x74, 0xa8, 0x13, 0xd8, 0x53}};
#define PERFLIBV2_VERSION 1

/* Largest dwInSize that the interface admits, in GUIDs and in bytes (3.1.4.1.1 to 3.1.4.1.7). */
#define MAX_GUIDS 256
#define MAX_REGISTRATION 134217728
#define MAX_BUFFER 67108864
#define MAX_DATA 1073741824

#define STATUS_SUCCESS 0
#define STATUS_NOT_ENOUGH_MEMORY 8

/* The counters that a handle holds are listed on each packet that carries it; no more than these. */
#define MAX_LISTED_COUNTERS 100

static int proto_pcq = -1;

static int hf_opnum = -1;
static int hf_machine = -1;
static int hf_handle = -1;
static int hf_handle_opened_in = -1;
static int hf_handle_closed_in = -1;
static int hf_query = -1;
static int hf_query_counter = -1;
static int hf_in_size = -1;
static int hf_out_size = -1;
static int hf_rtn_size = -1;
static int hf_request_code = -1;
static int hf_lcid = -1;
static int hf_add = -1;
static int hf_status = -1;
static int hf_buffer = -1;
static int hf_max_count = -1;
static int hf_offset = -1;
static int hf_actual_count = -1;
static int hf_rest = -1;

static int ett_pcq = -1;
static int ett_handle = -1;
static int ett_query = -1;
static int ett_buffer = -1;

static perf_expert expert;
static ndr_count_fields count_fields;
static unsigned pref_sample_limit = 1024;
static const char *pref_names_file = "";
static const char *pref_graph = "";

#define REQUEST_CODE_STRING(value, name) {value, "PERF_REG_" #name},
static const value_string request_code_vals[] = {PCQ_REQUEST_CODES(REQUEST_CODE_STRING){0, NULL}};

static const value_string opnum_vals[] = {
    {0, "EnumerateCounterSet"},
    {1, "QueryCounterSetRegistrationInfo"},
    {2, "EnumerateCounterSetInstances"},
    {3, "OpenQueryHandle"},
    {4, "CloseQueryHandle"},
    {5, "QueryCounterInfo"},
    {6, "QueryCounterData"},
    {7, "ValidateCounters"},
    {0, NULL},
};

/* What is kept of a call, from its request to its response and for every later look at either. Lives with the file;
 * Wireshark keeps the pointer to it. */
typedef struct {
    /* the request as it was read, if it was */
    bool request_read;
    uint8_t guid[16];
    uint32_t request_code;
    uint32_t lcid;
    uint32_t in_size;
    uint64_t array_count; /* of ValidateCounters, which gets the same array back */
    bool add;
    const char *machine;
    /* set on the first pass */
    uint32_t request_event;
    uint32_t response_event;
    uint32_t response_frame;
    perf_handle *handle;    /* of the request */
    perf_handle *answering; /* of the response */
    perf_sample *sample;
} call_record;

/* One PDU while it is dissected. */
typedef struct {
    ndr_reader ndr;
    perf_report report;
    packet_info *pinfo;
    proto_tree *tree;
    dcerpc_info *di;
    call_record *record;
    perf_server *server;
    uint32_t event;
    bool first_time; /* what it teaches may be learned */
    bool strange_handle;
} pdu;

/* --- A PDU's beginning and end --------------------------------------------------------------------------------- */

static call_record *record_of(dcerpc_info *di)
{
    if (di->call_data->se_data == NULL) {
        di->call_data->se_data = wmem_new0(wmem_file_scope(), call_record);
    }
    return di->call_data->se_data;
}

static bool is_request(const pdu *p)
{
    return p->di->ptype == PDU_REQ;
}

/* A PDU takes its event when it is first seen, and keeps it. */
static void take_event(pdu *p)
{
    uint32_t *event = is_request(p) ? &p->record->request_event : &p->record->response_event;

    if (*event == 0 && !PINFO_FD_VISITED(p->pinfo)) {
        *event = perf_next_event();
        p->first_time = true;
        if (!is_request(p)) {
            p->record->response_frame = p->pinfo->num;
        }
    }
    p->event = *event;
}

static void begin(pdu *p, tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                  uint8_t *drep)
{
    memset(p, 0, sizeof *p);
    p->pinfo = pinfo;
    p->tree = tree;
    p->di = di;
    p->record = record_of(di);
    perf_report_init(&p->report, pinfo, &expert);
    ndr_init(&p->ndr, tvb, (uint32_t)offset, tree, &p->report, di, drep);
    p->server = perf_server_get(is_request(p) ? &pinfo->dst : &pinfo->src);
    take_event(p);
    if (is_request(p)) {
        return;
    }
    if (p->record->response_frame != 0 && p->record->response_frame != pinfo->num) {
        perf_found(&p->report, proto_tree_get_parent(tree), FINDING_SECOND_RESPONSE,
                   "The call was answered in frame %u already", p->record->response_frame);
    }
    if (!p->record->request_read) {
        perf_found(&p->report, proto_tree_get_parent(tree), FINDING_REQUEST_MISSING,
                   "The request was not captured whole, or not decrypted: what depends on it stays undecoded");
    }
}

static void append_info(pdu *p, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void append_info(pdu *p, const char *format, ...)
{
    va_list args;

    if (p->ndr.reader.failed || !col_get_writable(p->pinfo->cinfo, COL_INFO)) {
        return;
    }
    va_start(args, format);
    char *text = wmem_strdup_vprintf(p->pinfo->pool, format, args);
    va_end(args);
    col_append_sep_str(p->pinfo->cinfo, COL_INFO, NULL, text);
}

/* True if the stub was read to its end, adds up and may be learned from. */
static bool may_learn(const pdu *p)
{
    return p->first_time && !p->report.damaged && !p->ndr.reader.failed;
}

/* Wireshark hands over stubs as decrypted that are not. Where other things are wrong too, a context handle with
 * attributes that no server sets is such noise. */
static void report_noise(pdu *p)
{
    if (p->strange_handle) {
        perf_found(&p->report, proto_tree_get_parent(p->tree), FINDING_NOT_DECRYPTED,
                   "Neither the handle nor what follows it looks right: the stub was probably not decrypted correctly");
    }
}

/* Padding to the verification trailer's 4 bytes ([MS-RPCE] 2.2.2.13) or NDR64's 8 is no parameter that was missed. */
static int end(pdu *p)
{
    perf_reader *reader = &p->ndr.reader;
    uint32_t left = reader_left(reader);

    if (reader->failed) {
        left = 0;
    } else if (left >= (p->ndr.ndr64 ? 8U : 4U)) {
        proto_item *item = proto_tree_add_item(p->tree, hf_rest, reader->tvb, reader->pos, left, ENC_NA);
        perf_found(&p->report, item, FINDING_TRAILING_BYTES, "%u bytes are left behind the last parameter", left);
    }
    if (p->report.damaged) {
        col_append_str(p->pinfo->cinfo, COL_INFO, ", [does not add up]");
        report_noise(p);
    }
    perf_report_end(&p->report, proto_tree_get_parent(p->tree));
    return (int)tvb_reported_length(reader->tvb);
}

/* --- Parameters ------------------------------------------------------------------------------------------------ */

static void read_machine(pdu *p)
{
    const char *machine = ndr_wide_string(&p->ndr, &count_fields, hf_machine, "szMachine");

    if (machine && p->first_time) {
        machine += strspn(machine, "\\");
        p->record->machine = wmem_strdup(wmem_file_scope(), machine);
    }
}

static void read_in_size(pdu *p, uint32_t largest)
{
    p->record->in_size = ndr_u32(&p->ndr, hf_in_size);
    if (p->record->in_size > largest) {
        perf_found(&p->report, p->ndr.reader.item, FINDING_IN_SIZE_RANGE,
                   "dwInSize %u is more than the interface admits (%u), the server refuses it", p->record->in_size,
                   largest);
    }
}

static const char *entry_text(pdu *p, const perf_query_entry *entry)
{
    const perf_identifier *identifier = &entry->identifier;
    wmem_allocator_t *pool = p->pinfo->pool;
    const char *set = pcq_counterset_label(pool, p->server, identifier->guid, p->event);
    const char *counter = pcq_counter_label(pool, p->server, identifier->guid, identifier->counter_id, p->event);
    const char *path = identifier->instance
                           ? wmem_strdup_printf(pool, "\\%s(%s)\\%s", set, identifier->instance, counter)
                           : wmem_strdup_printf(pool, "\\%s\\%s", set, counter);

    return identifier->status == 0
               ? path
               : wmem_strdup_printf(pool, "%s: refused, %s", path, win32_error_name(pool, identifier->status));
}

static void show_query(pdu *p, proto_tree *tree, const perf_handle *handle)
{
    proto_item *item = NULL;
    proto_tree *list = NULL;
    const perf_query_entry *entry;
    unsigned next = 0, held = 0, refused = 0;

    while ((entry = perf_query_entries(handle, p->event, &next)) != NULL) {
        if (list == NULL) {
            item = proto_tree_add_item(tree, hf_query, p->ndr.reader.tvb, 0, 0, ENC_NA);
            proto_item_set_generated(item);
            list = proto_item_add_subtree(item, ett_query);
        }
        if (held + refused < MAX_LISTED_COUNTERS) {
            add_generated_string(list, hf_query_counter, p->ndr.reader.tvb, entry_text(p, entry));
        }
        held += entry->identifier.status == 0;
        refused += entry->identifier.status != 0;
    }
    if (item) {
        proto_item_append_text(item, ": %u counters", held);
        if (refused > 0) {
            proto_item_append_text(item, ", %u refused", refused);
        }
        if (held + refused > MAX_LISTED_COUNTERS) {
            proto_item_append_text(item, ", the first %u", MAX_LISTED_COUNTERS);
        }
    }
}

/* Where a handle was opened and closed, and what it holds at this moment. */
static void show_handle(pdu *p, proto_item *item, const perf_handle *handle)
{
    if (item == NULL || handle == NULL || !proto_field_is_referenced(p->tree, proto_pcq)) {
        return;
    }
    proto_tree *tree = proto_item_add_subtree(item, ett_handle);
    if (handle->opened_frame != 0) {
        add_generated_uint(tree, hf_handle_opened_in, p->ndr.reader.tvb, handle->opened_frame);
    }
    if (handle->closed_frame != 0) {
        add_generated_uint(tree, hf_handle_closed_in, p->ndr.reader.tvb, handle->closed_frame);
    }
    show_query(p, tree, handle);
}

static bool is_null_handle(const uint8_t *handle)
{
    static const uint8_t null_handle[PERF_HANDLE_SIZE];

    return memcmp(handle, null_handle, PERF_HANDLE_SIZE) == 0;
}

/* The size probe, half of a normal call: too small a buffer, and the size that would do. */
static bool is_size_probe(uint32_t status, uint32_t out_size, uint32_t rtn_size)
{
    return status == STATUS_NOT_ENOUGH_MEMORY && out_size == 0 && rtn_size > 0;
}

static uint32_t read_status(pdu *p)
{
    return ndr_u32(&p->ndr, hf_status);
}

static void report_status(pdu *p, uint32_t status)
{
    if (!p->ndr.reader.failed && status != STATUS_SUCCESS) {
        perf_found(&p->report, p->ndr.reader.item, FINDING_STATUS, "The call failed: %s",
                   win32_error_name(p->pinfo->pool, status));
        append_info(p, "%s", win32_error_name(p->pinfo->pool, status));
    }
}

static void read_context_handle(pdu *p, uint8_t handle[PERF_HANDLE_SIZE])
{
    ndr_context_handle(&p->ndr, hf_handle, handle);
    p->strange_handle = (handle[1] | handle[2] | handle[3]) != 0; /* attributes are 0, some servers use the low bits */
}

/* Open and close can fail in a few ways only. */
static void report_handle_status(pdu *p, uint32_t status)
{
    report_status(p, status);
    if (p->strange_handle && !try_val_to_str_ext(status, &win32_error_ext)) {
        p->report.damaged = true;
    }
}

/* hQuery of a request. Returns the item, which show_handle() completes when the stub has proved sound. */
static proto_item *read_handle(pdu *p, uint8_t handle[PERF_HANDLE_SIZE])
{
    read_context_handle(p, handle);
    proto_item *item = p->ndr.reader.item;
    if (!p->ndr.reader.failed && is_null_handle(handle)) {
        perf_found(&p->report, item, FINDING_HANDLE_NULL, "The handle is empty: no query has it");
    }
    return item;
}

/* Finds the query that a sound request speaks of. A closed handle stays closed, whoever still uses it. */
static void use_handle(pdu *p, const uint8_t *bytes, proto_item *item)
{
    if (may_learn(p)) {
        p->record->handle = perf_handle_use(PERF_HANDLE_QUERY, p->server, bytes, p->event);
    }
    const perf_handle *handle = p->record->handle;
    if (handle && handle->end < p->event) {
        perf_found(&p->report, item, FINDING_HANDLE_CLOSED, "The handle was closed in frame %u", handle->closed_frame);
    }
    show_handle(p, item, handle);
}

/* The query that a response speaks of. A server that answers for a closed handle has given it out anew, and the
 * opening was not captured. */
static perf_handle *answering_handle(pdu *p, bool success)
{
    perf_handle *asked = p->record->handle;

    if (p->first_time) {
        bool anew = asked && success && may_learn(p) && asked->end < p->record->request_event;
        p->record->answering =
            anew ? perf_handle_open(PERF_HANDLE_QUERY, p->server, asked->bytes, p->event, 0, NULL) : asked;
    }
    return p->record->answering;
}

/* --- lpData ---------------------------------------------------------------------------------------------------- */

/* pdwOutSize, pdwRtnSize and the counts of lpData, which operations 0, 1, 2, 5 and 6 return alike. */
typedef struct {
    uint32_t out_size;
    uint32_t rtn_size;
    uint32_t status;
    const char *unit; /* of the sizes */
    tvbuff_t *tvb;    /* lpData, NULL if it could not be found */
    proto_tree *tree;
    proto_item *item;
} returned;

static void open_buffer(pdu *p, const ndr_counts *counts, uint32_t element_size, returned *back)
{
    back->tvb = ndr_elements(&p->ndr, counts, element_size, "lpData");
    if (back->tvb == NULL || tvb_reported_length(back->tvb) == 0) {
        back->tvb = NULL;
        return;
    }
    back->tvb = own_data_source(p->pinfo, back->tvb, "lpData");
    back->item = proto_tree_add_item(p->tree, hf_buffer, back->tvb, 0, -1, ENC_NA);
    back->tree = proto_item_add_subtree(back->item, ett_buffer);
    proto_item_append_text(back->item, ", %u bytes", tvb_reported_length(back->tvb));
}

static void check_counts(pdu *p, const returned *back, const ndr_counts *counts)
{
    if (p->ndr.reader.failed) {
        return;
    }
    if (counts->actual_count != back->out_size) {
        perf_found(&p->report, counts->item, FINDING_ARRAY_COUNTS,
                   "lpData holds %" PRIu64 " %s, but *pdwOutSize says %u", counts->actual_count, back->unit,
                   back->out_size);
    }
    if (p->record->request_read && counts->max_count != p->record->in_size) {
        perf_found(&p->report, counts->item, FINDING_ARRAY_COUNTS,
                   "lpData has room for %" PRIu64 " %s, but dwInSize of the request was %u", counts->max_count,
                   back->unit, p->record->in_size);
    }
}

/* The two sizes and lpData up to where its contents begin. */
static void read_returned(pdu *p, uint32_t element_size, returned *back)
{
    ndr_counts counts;

    memset(back, 0, sizeof *back);
    back->unit = element_size == 1 ? "bytes" : "GUIDs";
    back->out_size = ndr_u32(&p->ndr, hf_out_size);
    back->rtn_size = ndr_u32(&p->ndr, hf_rtn_size);
    ndr_varying_counts(&p->ndr, &count_fields, &counts);
    check_counts(p, back, &counts);
    open_buffer(p, &counts, element_size, back);
}

/* The status behind lpData. Reports it, and says in the Info column what a failed call or a size probe says. Returns
 * true if the call succeeded. */
static bool read_returned_status(pdu *p, returned *back)
{
    back->status = read_status(p);
    if (p->ndr.reader.failed) {
        return false;
    }
    if (is_size_probe(back->status, back->out_size, back->rtn_size)) {
        append_info(p, "needs %u %s", back->rtn_size, back->unit);
        return false;
    }
    report_status(p, back->status);
    return back->status == STATUS_SUCCESS;
}

static void learn(pdu *p, const pcq_context *context)
{
    for (unsigned i = 0; i < wmem_array_get_count(context->lessons); i++) {
        const pcq_lesson *lesson = wmem_array_index(context->lessons, i);
        perf_learn(p->server, &lesson->subject, lesson->kind, &lesson->fact, p->event, p->pinfo->num);
    }
}

static void init_context(pdu *p, pcq_context *context)
{
    pcq_context_init(context, &p->report, p->server, p->event, p->pinfo->num);
    context->is_response = !is_request(p);
    context->request_known = p->record->request_read;
    context->request_code = p->record->request_code;
    context->lcid = p->record->lcid;
    memcpy(context->guid, p->record->guid, sizeof context->guid);
}

static const char *counterset_text(pdu *p)
{
    return pcq_counterset_label(p->pinfo->pool, p->server, p->record->guid, p->event);
}

/* --- Opnum 0: EnumerateCounterSet, 3.1.4.1.1 ------------------------------------------------------------------- */

static int enumerate_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                             uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_machine(&p);
    read_in_size(&p, MAX_GUIDS);
    p.record->request_read = !p.ndr.reader.failed;
    append_info(&p, "room for %u GUIDs", p.record->in_size);
    return end(&p);
}

static int enumerate_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                              uint8_t *drep)
{
    pdu p;
    returned back;
    pcq_context context;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    init_context(&p, &context);
    read_returned(&p, 16, &back);
    if (back.tvb) {
        pcq_dissect_counterset_list(back.tvb, back.tree, &context, p.ndr.reader.encoding);
    }
    if (read_returned_status(&p, &back)) {
        append_info(&p, "%u countersets", context.count);
    }
    return end(&p);
}

/* --- Opnum 1: QueryCounterSetRegistrationInfo, 3.1.4.1.2 ------------------------------------------------------- */

static const char *request_code_text(pdu *p)
{
    const char *name = try_val_to_str(p->record->request_code, request_code_vals);

    return name ? name + strlen("PERF_REG_")
                : wmem_strdup_printf(p->pinfo->pool, "RequestCode %u", p->record->request_code);
}

/* RequestLCID is a locale, a counter id or nothing, by RequestCode. */
static void read_request_lcid(pdu *p)
{
    switch (p->record->request_code) {
    case PERF_REG_COUNTER_STRUCT:
        ndr_align(&p->ndr, 4);
        p->record->lcid = pcq_read_counter_id(&p->ndr.reader);
        break;
    case PERF_REG_COUNTERSET_NAME_STRING:
    case PERF_REG_COUNTERSET_HELP_STRING:
    case PERF_REG_COUNTER_NAME_STRINGS:
    case PERF_REG_COUNTER_HELP_STRINGS:
        p->record->lcid = ndr_u32(&p->ndr, hf_lcid);
        break;
    default:
        p->record->lcid = ndr_u32(&p->ndr, hf_lcid);
        proto_item_append_text(p->ndr.reader.item, " (unused by this RequestCode)");
        break;
    }
}

static int registration_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                                uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_machine(&p);
    ndr_align(&p.ndr, 4);
    p.ndr.reader.item = NULL;
    pcq_read_counterset_guid(&p.ndr.reader, p.record->guid);
    p.record->request_code = ndr_u32(&p.ndr, hf_request_code);
    if (!p.ndr.reader.failed && !try_val_to_str(p.record->request_code, request_code_vals)) {
        perf_found(&p.report, p.ndr.reader.item, FINDING_REQUEST_CODE,
                   "RequestCode %u is unknown, the answer's layout too", p.record->request_code);
    }
    read_request_lcid(&p);
    read_in_size(&p, MAX_REGISTRATION);
    p.record->request_read = !p.ndr.reader.failed;
    append_info(&p, "%s, %s", counterset_text(&p), request_code_text(&p));
    if (p.record->request_code == PERF_REG_COUNTER_STRUCT) {
        append_info(&p, "counter %u", p.record->lcid);
    }
    return end(&p);
}

static void describe_registration(pdu *p, const pcq_context *context, const returned *back)
{
    append_info(p, "%s, %s", counterset_text(p), request_code_text(p));
    if (context->text) {
        append_info(p, "\"%s\"", context->text);
    } else if (context->count > 0) {
        append_info(p, "%u %s", context->count, context->count == 1 ? "counter" : "counters");
    }
    append_info(p, "%u bytes", back->out_size);
}

static int registration_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                                 uint8_t *drep)
{
    pdu p;
    returned back;
    pcq_context context;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    init_context(&p, &context);
    read_returned(&p, 1, &back);
    if (back.tvb) {
        pcq_dissect_registration(back.tvb, back.tree, &context);
    }
    bool done = read_returned_status(&p, &back);
    if (done && may_learn(&p)) {
        learn(&p, &context);
    }
    if (done && p.record->request_read) {
        describe_registration(&p, &context, &back);
    }
    return end(&p);
}

/* --- Opnum 2: EnumerateCounterSetInstances, 3.1.4.1.3 ---------------------------------------------------------- */

static int instances_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                             uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_machine(&p);
    ndr_align(&p.ndr, 4);
    pcq_read_counterset_guid(&p.ndr.reader, p.record->guid);
    read_in_size(&p, MAX_BUFFER);
    p.record->request_read = !p.ndr.reader.failed;
    append_info(&p, "%s", counterset_text(&p));
    return end(&p);
}

static int instances_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                              uint8_t *drep)
{
    pdu p;
    returned back;
    pcq_context context;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    init_context(&p, &context);
    read_returned(&p, 1, &back);
    if (back.tvb) {
        pcq_dissect_instances(back.tvb, back.tree, &context);
    }
    if (read_returned_status(&p, &back)) {
        if (p.record->request_read) {
            append_info(&p, "%s", counterset_text(&p));
        }
        append_info(&p, "%u instances, %u bytes", context.count, back.out_size);
    }
    return end(&p);
}

/* --- Opnum 3: OpenQueryHandle, 3.1.4.1.4 ----------------------------------------------------------------------- */

static int open_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_machine(&p);
    p.record->request_read = !p.ndr.reader.failed;
    if (p.record->machine && *p.record->machine) {
        append_info(&p, "%s", p.record->machine);
    }
    return end(&p);
}

static int open_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;
    uint8_t handle[PERF_HANDLE_SIZE];

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_context_handle(&p, handle);
    proto_item *item = p.ndr.reader.item;
    uint32_t status = read_status(&p);
    report_handle_status(&p, status);
    int length = end(&p);
    if (may_learn(&p) && status == STATUS_SUCCESS && !is_null_handle(handle)) {
        p.record->handle =
            perf_handle_open(PERF_HANDLE_QUERY, p.server, handle, p.event, pinfo->num, p.record->machine);
    }
    show_handle(&p, item, p.record->handle);
    return length;
}

/* --- Opnum 4: CloseQueryHandle, 3.1.4.1.8 ---------------------------------------------------------------------- */

static int close_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;
    uint8_t handle[PERF_HANDLE_SIZE];

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    proto_item *item = read_handle(&p, handle);
    p.record->request_read = !p.ndr.reader.failed;
    int length = end(&p);
    use_handle(&p, handle, item);
    if (may_learn(&p) && p.record->handle->end == UINT32_MAX) {
        perf_handle_close(p.record->handle, p.event, pinfo->num);
    }
    return length;
}

static int close_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                          uint8_t *drep)
{
    pdu p;
    uint8_t handle[PERF_HANDLE_SIZE];

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_context_handle(&p, handle);
    proto_item *item = p.ndr.reader.item;
    uint32_t status = read_status(&p);
    report_handle_status(&p, status);
    int length = end(&p);
    if (may_learn(&p) && status != STATUS_SUCCESS && p.record->handle &&
        p.record->handle->end == p.record->request_event) {
        perf_handle_not_closed(p.record->handle);
    }
    if (!is_null_handle(handle)) {
        show_handle(&p, item, p.record->handle);
    }
    return length;
}

/* --- Opnum 5: QueryCounterInfo, 3.1.4.1.5 ---------------------------------------------------------------------- */

static int query_request(pdu *p, uint32_t largest)
{
    uint8_t handle[PERF_HANDLE_SIZE];
    proto_item *item = read_handle(p, handle);

    read_in_size(p, largest);
    p->record->request_read = !p->ndr.reader.failed;
    append_info(p, "room for %u bytes", p->record->in_size);
    int length = end(p);
    use_handle(p, handle, item);
    return length;
}

static int info_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    return query_request(&p, MAX_BUFFER);
}

/* Each identifier has a block of its own: no index twice, none beyond the last. */
static void check_indexes(pdu *p, const pcq_context *context, proto_item *item)
{
    uint32_t count = wmem_array_get_count(context->identifiers);
    bool *taken = wmem_alloc0_array(p->pinfo->pool, bool, count);

    for (uint32_t i = 0; i < count; i++) {
        const perf_identifier *identifier = wmem_array_index(context->identifiers, i);
        if (identifier->index >= count) {
            perf_found(&p->report, item, FINDING_INDEX, "Index %u of identifier %u is beyond the %u blocks",
                       identifier->index, i, count);
        } else if (taken[identifier->index]) {
            perf_found(&p->report, item, FINDING_INDEX, "Index %u is given twice, the second time to identifier %u",
                       identifier->index, i);
        } else {
            taken[identifier->index] = true;
        }
    }
}

static int info_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;
    returned back;
    pcq_context context;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    init_context(&p, &context);
    context.is_response = false; /* the status of its identifiers has no meaning */
    read_returned(&p, 1, &back);
    if (back.tvb) {
        pcq_dissect_identifiers(back.tvb, back.tree, &context);
        check_indexes(&p, &context, back.item);
    }
    bool done = read_returned_status(&p, &back);
    if (done) {
        append_info(&p, "%u counters, %u bytes", context.count, back.out_size);
    }
    int length = end(&p);
    perf_handle *handle = answering_handle(&p, done);
    if (done && may_learn(&p) && handle) {
        perf_query_info(handle, wmem_array_get_raw(context.identifiers), context.count, p.event, pinfo->num);
    }
    return length;
}

/* --- Opnum 6: QueryCounterData, 3.1.4.1.6 ---------------------------------------------------------------------- */

static int data_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    pdu p;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    return query_request(&p, MAX_DATA);
}

static void describe_data(pdu *p, const returned *back, pcq_data_context *context)
{
    const perf_data_summary *summary = &context->summary;
    const char *first;

    if (!col_get_writable(p->pinfo->cinfo, COL_INFO)) {
        return;
    }
    append_info(p, "%u blocks, %u values, %u bytes", summary->blocks, summary->values, back->out_size);
    first = pcq_first_value(back->tvb, context);
    if (first) {
        append_info(p, "%s", first);
        if (summary->values > 1) {
            append_info(p, "%u more", summary->values - 1);
        }
    }
}

static void keep_sample(pdu *p, tvbuff_t *tvb)
{
    if (p->record->answering) {
        uint32_t size = tvb_captured_length(tvb);
        p->record->sample =
            perf_sample_keep(p->record->answering, tvb_get_ptr(tvb, 0, (int)size), size, p->event, p->pinfo->num);
    }
}

/* The status stands behind lpData, but what lpData means depends on it: a sample is only what came with success. So
 * the buffer is checked, the stub read to its end, and the buffer shown last, into the place kept for it. */
static int data_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                         uint8_t *drep)
{
    pdu p;
    returned back;
    pcq_data_context context;
    bool sound = true;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    memset(&context, 0, sizeof context);
    context.report = &p.report;
    context.server = p.server;
    context.event = p.event;
    read_returned(&p, 1, &back);
    if (back.tvb) {
        sound = pcq_check_data(back.tvb, &context);
    }
    bool done = read_returned_status(&p, &back);
    context.handle = answering_handle(&p, done);
    if (back.tvb) {
        if (done && sound && may_learn(&p)) {
            keep_sample(&p, back.tvb);
        }
        context.sample = p.record->response_frame == pinfo->num ? p.record->sample : NULL;
        pcq_dissect_data(back.tvb, back.tree, &context);
        describe_data(&p, &back, &context);
    }
    return end(&p);
}

/* --- Opnum 7: ValidateCounters, 3.1.4.1.7 ---------------------------------------------------------------------- */

static void check_identifiers_size(pdu *p, const ndr_counts *counts)
{
    if (p->ndr.reader.failed) {
        return;
    }
    if (counts->max_count > MAX_BUFFER) {
        perf_found(&p->report, counts->item, FINDING_NOT_DECRYPTED,
                   "lpData would have %" PRIu64 " bytes, more than the interface admits: the stub was probably not "
                   "decrypted correctly",
                   counts->max_count);
    }
    if (is_request(p)) {
        p->record->array_count = counts->max_count;
        if (counts->max_count != p->record->in_size) {
            perf_found(&p->report, counts->item, FINDING_ARRAY_COUNTS,
                       "lpData has %" PRIu64 " bytes, but dwInSize is %u", counts->max_count, p->record->in_size);
        }
    } else if (p->record->request_read && counts->max_count != p->record->array_count) {
        perf_found(&p->report, counts->item, FINDING_ARRAY_COUNTS,
                   "lpData has %" PRIu64 " bytes, but that of the request had %" PRIu64, counts->max_count,
                   p->record->array_count);
    }
}

/* lpData of both directions: conformant, not varying. */
static void read_identifiers(pdu *p, pcq_context *context, returned *back)
{
    ndr_counts counts;

    memset(back, 0, sizeof *back);
    back->unit = "bytes";
    init_context(p, context);
    ndr_conformant_count(&p->ndr, &count_fields, &counts);
    check_identifiers_size(p, &counts);
    open_buffer(p, &counts, 1, back);
    if (back->tvb) {
        pcq_dissect_identifiers(back->tvb, back->tree, context);
    }
}

static int validate_request(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                            uint8_t *drep)
{
    pdu p;
    uint8_t handle[PERF_HANDLE_SIZE];
    pcq_context context;
    returned back;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    proto_item *item = read_handle(&p, handle);
    read_in_size(&p, MAX_BUFFER);
    read_identifiers(&p, &context, &back);
    p.record->add = ndr_u32(&p.ndr, hf_add) != 0;
    p.record->request_read = !p.ndr.reader.failed;
    append_info(&p, "%s %u counters", p.record->add ? "add" : "remove", context.count);
    int length = end(&p);
    use_handle(&p, handle, item);
    return length;
}

static void describe_validation(pdu *p, const pcq_context *context)
{
    const char *done = !p->record->request_read ? "accepted" : p->record->add ? "added" : "removed";

    append_info(p, "%u %s", context->count - context->refused, done);
    if (context->refused > 0) {
        append_info(p, "%u refused (%s)", context->refused, win32_error_name(p->pinfo->pool, context->first_refusal));
    }
}

static int validate_response(tvbuff_t *tvb, int offset, packet_info *pinfo, proto_tree *tree, dcerpc_info *di,
                             uint8_t *drep)
{
    pdu p;
    pcq_context context;
    returned back;

    begin(&p, tvb, offset, pinfo, tree, di, drep);
    read_identifiers(&p, &context, &back);
    uint32_t status = ndr_u32(&p.ndr, hf_status);
    if (!p.ndr.reader.failed && status == STATUS_SUCCESS) {
        describe_validation(&p, &context);
    }
    report_status(&p, status);
    int length = end(&p);
    perf_handle *handle = answering_handle(&p, status == STATUS_SUCCESS);
    if (may_learn(&p) && handle && status == STATUS_SUCCESS && p.record->request_read) {
        perf_query_changed(handle, p.record->add, wmem_array_get_raw(context.identifiers), context.count, p.event);
    } else if (p.first_time && handle && p.report.damaged) {
        perf_query_unknown_change(handle, p.event);
    }
    return length;
}

/* --- Registration ---------------------------------------------------------------------------------------------- */

static ws_dcerpc_table operations[] = {
    {0, "EnumerateCounterSet", enumerate_request, enumerate_response},
    {1, "QueryCounterSetRegistrationInfo", registration_request, registration_response},
    {2, "EnumerateCounterSetInstances", instances_request, instances_response},
    {3, "OpenQueryHandle", open_request, open_response},
    {4, "CloseQueryHandle", close_request, close_response},
    {5, "QueryCounterInfo", info_request, info_response},
    {6, "QueryCounterData", data_request, data_response},
    {7, "ValidateCounters", validate_request, validate_response},
    {0, NULL, NULL, NULL},
};

static void apply_preferences(void)
{
    perf_sample_limit((uint64_t)pref_sample_limit << 20);
    names_file_choose(pref_names_file);
    graph_choose(pref_graph);
}

static void register_fields(void)
{
    static hf_register_info hf[] = {
        {&hf_opnum, {"Operation", "pcq.opnum", FT_UINT16, BASE_DEC, VALS(opnum_vals), 0, NULL, HFILL}},
        {&hf_machine,
         {"Machine", "pcq.machine", FT_STRING, BASE_NONE, NULL, 0, "szMachine, passed on to the providers", HFILL}},
        {&hf_handle,
         {"Query handle", "pcq.handle", FT_BYTES, BASE_NONE, NULL, 0, "Context handle, as little-endian sends it",
          HFILL}},
        {&hf_handle_opened_in,
         {"Opened in", "pcq.handle.opened_in", FT_FRAMENUM, BASE_NONE, NULL, 0, "OpenQueryHandle response", HFILL}},
        {&hf_handle_closed_in,
         {"Closed in", "pcq.handle.closed_in", FT_FRAMENUM, BASE_NONE, NULL, 0, "CloseQueryHandle request", HFILL}},
        {&hf_query,
         {"Query", "pcq.query", FT_NONE, BASE_NONE, NULL, 0, "The counters that the handle holds at this moment",
          HFILL}},
        {&hf_query_counter,
         {"Counter", "pcq.query.counter", FT_STRING, BASE_NONE, NULL, 0, "With the server's verdict", HFILL}},
        {&hf_in_size,
         {"Buffer size", "pcq.in_size", FT_UINT32, BASE_DEC, NULL, 0, "dwInSize: GUIDs in operation 0, else bytes",
          HFILL}},
        {&hf_out_size,
         {"Returned size", "pcq.out_size", FT_UINT32, BASE_DEC, NULL, 0,
          "*pdwOutSize: GUIDs in operation 0, else bytes", HFILL}},
        {&hf_rtn_size,
         {"Needed size", "pcq.rtn_size", FT_UINT32, BASE_DEC, NULL, 0, "*pdwRtnSize: GUIDs in operation 0, else bytes",
          HFILL}},
        {&hf_request_code,
         {"Request code", "pcq.request_code", FT_UINT32, BASE_HEX, VALS(request_code_vals), 0, "RequestCode", HFILL}},
        {&hf_lcid, {"Locale", "pcq.lcid", FT_UINT32, BASE_HEX, VALS(lcid_vals), 0, "RequestLCID", HFILL}},
        {&hf_add, {"Add", "pcq.add", FT_BOOLEAN, BASE_NONE, NULL, 0, "dwAdd: add or remove", HFILL}},
        {&hf_status,
         {"Status", "pcq.status", FT_UINT32, BASE_DEC | BASE_EXT_STRING, &win32_error_ext, 0, "error_status_t", HFILL}},
        {&hf_buffer, {"Data", "pcq.data", FT_NONE, BASE_NONE, NULL, 0, "lpData", HFILL}},
        {&hf_max_count,
         {"Max count", "pcq.array.max_count", FT_UINT64, BASE_DEC, NULL, 0, "Elements that an NDR array has room for",
          HFILL}},
        {&hf_offset, {"Offset", "pcq.array.offset", FT_UINT64, BASE_DEC, NULL, 0, "First element that is sent", HFILL}},
        {&hf_actual_count,
         {"Actual count", "pcq.array.actual_count", FT_UINT64, BASE_DEC, NULL, 0, "Elements that are sent", HFILL}},
        {&hf_rest, {"Bytes left over", "pcq.rest", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
    };
    static int *ett[] = {&ett_pcq, &ett_handle, &ett_query, &ett_buffer};

    proto_register_field_array(proto_pcq, hf, array_length(hf));
    proto_register_subtree_array(ett, array_length(ett));
    count_fields = (ndr_count_fields){hf_max_count, hf_offset, hf_actual_count};
}

static void register_preferences(void)
{
    module_t *module = prefs_register_protocol(proto_pcq, apply_preferences);

    prefs_register_uint_preference(module, "sample_limit", "Memory for samples (MiB)",
                                   "Counter data is kept to calculate values from two samples. Beyond this the oldest "
                                   "are dropped.",
                                   10, &pref_sample_limit);
    prefs_register_filename_preference(module, "names_file", "Names file",
                                       "Names and types that other captures taught, written with "
                                       "\"tshark -z pcq,names,FILE\". If none is given, \"pcq_names\" in the "
                                       "profile's or the personal configuration folder is read.",
                                       &pref_names_file, FALSE);
    prefs_register_string_preference(module, "graph", "Counters for the I/O graph",
                                     "Paths, with * for any text and ; between several: the results of these counters "
                                     "are in pcq.graph and hkpd.graph too, where an I/O graph finds nothing else. "
                                     "\"\\Processor(*)\\% Processor Time\" is that counter of every machine.",
                                     &pref_graph);
    apply_preferences();
}

/* A Wireshark that brings this dissector itself keeps it. */
static bool is_taken(void)
{
    return proto_get_id_by_filter_name("pcq") != -1;
}

void proto_register_pcq(void)
{
    if (is_taken()) {
        return;
    }
    perf_strings_init();
    proto_pcq = proto_register_protocol("Performance Counter Query Protocol", "PCQ", "pcq");
    register_fields();
    pcq_fields_register(proto_pcq);
    pcq_buffers_register(proto_pcq);
    pcq_data_register(proto_pcq);
    perf_expert_register(proto_pcq, "pcq", &expert);
    sealed_register(proto_pcq);
    perf_state_register();
    names_file_register();
    register_preferences();
}

void proto_reg_handoff_pcq(void)
{
    if (proto_pcq != -1) {
        dcerpc_init_uuid(proto_pcq, ett_pcq, &uuid_perflibv2, PERFLIBV2_VERSION, operations, hf_opnum);
        sealed_watch_perflib(&uuid_perflibv2, PERFLIBV2_VERSION);
    }
}
