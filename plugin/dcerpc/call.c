/* call.c
 * The life of a call, for both protocols.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */
#include "dcerpc/call.h"

#include "tree/fields.h"
#include "tree/value-tree.h"
#include "text/value-strings.h"

#include <epan/proto_data.h>
#include <epan/to_str.h>

/* Between the parts of the Info column. */
#define SEPARATOR ", "

static int ett_handle = -1;

/* --- Records --------------------------------------------------------------------------------------------------- */

/* dcerpc_call_value -> the protocol's record, filled by take_record(), emptied with the file */
static wmem_map_t *records;

/* --- Analyze, Conversation Filter: this query, this monitor ---------------------------------------------------- */

/* Wireshark asks of the selected packet alone, and hands over its packet_info: what a filter needs is noted there while the packet is
 * dissected, and goes with it. */
typedef struct {
    const char *number_field; /* of the handle */
    uint32_t number;          /* 0 without one */
} filter_note;

static int proto_noted;

static filter_note *note_of(packet_info *pinfo)
{
    return p_get_proto_data(pinfo->pool, pinfo, proto_noted, 0);
}

void call_note_monitor(packet_info *pinfo)
{
    if (note_of(pinfo) == NULL) {
        p_add_proto_data(pinfo->pool, pinfo, proto_noted, 0, wmem_new0(pinfo->pool, filter_note));
    }
}

static ws_filter_valid has_handle(WS_FILTER_ARGUMENTS)
{
    const filter_note *note = note_of(pinfo);

    return note && note->number != 0;
}

static char *filter_of_handle(WS_FILTER_ARGUMENTS)
{
    const filter_note *note = note_of(pinfo);

    ws_assert(note && note->number != 0);
    return g_strdup_printf("%s == %u", note->number_field, note->number);
}

static ws_filter_valid is_call(WS_FILTER_ARGUMENTS)
{
    return pinfo->net_src.type == pinfo->net_dst.type &&
           (pinfo->net_src.type == AT_IPv4 || pinfo->net_src.type == AT_IPv6) && note_of(pinfo) != NULL;
}

/* All that one client asks one server, whatever the connection. */
static char *filter_of_monitor(WS_FILTER_ARGUMENTS)
{
    const char *field = pinfo->net_src.type == AT_IPv4 ? "ip.addr" : "ipv6.addr";

    return g_strdup_printf("(pcq || hkpd) && %s == %s && %s == %s", field, address_to_str(pinfo->pool, &pinfo->net_src),
                           field, address_to_str(pinfo->pool, &pinfo->net_dst));
}

/* --- A PDU's beginning ----------------------------------------------------------------------------------------- */

/* What a PDU teaches is learned when its call is first seen with it. */
static void note_frame(rpc_pdu *call)
{
    rpc_call *record = call->record;
    uint32_t *frame = call->is_request ? &record->request_frame : &record->response_frame;

    if (*frame == 0 && !PINFO_FD_VISITED(call->pinfo)) {
        *frame = call->pinfo->num;
        call->first_time = true;
    }
}

/* Its record, which is made with its first PDU. */
static void take_record(rpc_pdu *call)
{
    rpc_call *record = wmem_map_lookup(records, call->di->call_data);

    if (record == NULL) {
        record = wmem_alloc0(wmem_file_scope(), call->fields->record_size);
        record->protocol = call->fields;
        record->connection = rpc_connection_find_or_create(call->pinfo, call->is_request);
        record->server = record->connection->server;
        wmem_map_insert(records, call->di->call_data, record);
    }
    call->record = record;
    pdus_note_handed(call->di, record);
}

/* True of a response to a call that another frame answered before. */
static bool is_repeated(const rpc_pdu *call)
{
    uint32_t frame = call->record->response_frame;

    return !call->is_request && frame != 0 && frame != call->pinfo->num;
}

void call_begin(rpc_pdu *call, const rpc_protocol *fields, const char *operation, tvbuff_t *tvb, int offset,
                packet_info *pinfo, proto_tree *tree, dcerpc_info *di, uint8_t *drep)
{
    call->fields = fields;
    call->tapped.operation = operation;
    call->tvb = tvb;
    call->offset = offset;
    call->pinfo = pinfo;
    call->pool = pinfo->pool;
    call->tree = tree;
    call->di = di;
    call->opnum = di->call_data->opnum;
    call->is_request = di->ptype == PDU_REQ;
    call->drep = drep;
    take_record(call);
    rpc_call *record = call->record;
    call->has_column = col_get_writable(pinfo->cinfo, COL_INFO);
    call->about = call->has_column ? wmem_strbuf_new(pinfo->pool, "") : NULL;
    call->info = call->has_column ? wmem_strbuf_new(pinfo->pool, "") : NULL;
    call->before_info = SEPARATOR;
    if (tree) {
        call_note_monitor(pinfo);
    }
    call->server = record->server;
    note_frame(call);
    if (tree && ws_has_data_source(pinfo, "Decrypted SMB3")) { /* who selects a packet sees its tree end at SMB2 */
        tree_add_generated_string(proto_tree_get_root(tree), fields->inside, tvb, "SMB2, Encrypted SMB3 data");
    }
}

void call_read_stub(rpc_pdu *call, bool is_aloud)
{
    buffer_cursor *cursor = &call->ndr.cursor;

    call->report = (expert_report){.pinfo = is_aloud ? call->pinfo : NULL, .expert = &call->fields->expert};
    cursor_init(cursor, call->tvb, is_aloud ? call->tree : NULL, &call->report,
                call->drep[0] & DREP_LITTLE_ENDIAN ? ENC_LITTLE_ENDIAN : ENC_BIG_ENDIAN);
    cursor->pos = MIN((uint32_t)call->offset, cursor->end);
    call->ndr.ndr64 = call->di->call_data->flags & DCERPC_IS_NDR64;
}

bool call_read(rpc_pdu *call, void (*read)(void *pdu), void *pdu)
{
    call->is_short = !cursor_try(&call->ndr.cursor, read, pdu);
    return !call->is_short;
}

bool call_report_noise(rpc_pdu *call, ndr_first first)
{
    if (!ws_has_data_source(call->pinfo, "Decrypted stub data")) {
        return false;
    }
    call_read_stub(call, true);
    call->is_noise = ndr_is_garbled(&call->ndr, first, !call->is_request);
    if (call->is_noise) {
        proto_item *item = proto_tree_add_item(call->tree, call->fields->noise, call->tvb, call->offset, -1, ENC_NA);
        expert_report_add(&call->report, item, EI_NOT_DECRYPTED,
                          "Stub data probably not decrypted correctly (previous packets not captured?)");
    }
    return call->is_noise;
}

double call_seconds(const rpc_pdu *call)
{
    const dcerpc_call_value *known = call->di->call_data;
    const nstime_t *request_time = &known->req_time;
    nstime_t elapsed;
    bool has_times =
        (call->pinfo->presence_flags & PINFO_HAS_TS) && (request_time->secs != 0 || request_time->nsecs != 0);

    if (call->is_request || known->req_frame == 0 || !has_times) {
        return -1;
    }
    nstime_delta(&elapsed, &call->pinfo->abs_ts, request_time);
    return nstime_to_sec(&elapsed);
}

bool call_may_learn(const rpc_pdu *call)
{
    return call->first_time && !call->is_noise && !call->report.damaged && !call->is_short;
}

/* --- The Info column ------------------------------------------------------------------------------------------- */

void call_append(const rpc_pdu *call, wmem_strbuf_t *to, const char *format, ...)
{
    va_list args;

    if (call->has_column) {
        wmem_strbuf_append(to, wmem_strbuf_get_len(to) > 0 ? SEPARATOR : "");
        va_start(args, format);
        wmem_strbuf_append_vprintf(to, format, args);
        va_end(args);
    }
}

/* Damage, what the call is about, what it says. */
static void write_info(rpc_pdu *call)
{
    column_info *cinfo = call->pinfo->cinfo;
    wmem_strbuf_t *line = call->about;
    const char *separator = SEPARATOR;

    if (call->is_noise ||
        (call->report.damaged && !call->report.shows_end)) { /* as Wireshark's own dissectors write it */
        col_append_sep_str(cinfo, COL_INFO, separator,
                           call->is_noise ? "[Probably not decrypted correctly]" : "[Malformed Packet]");
    }
    if (!call->is_short && wmem_strbuf_get_len(call->info) > 0) {
        if (wmem_strbuf_get_len(line) > 0) {
            wmem_strbuf_append(line, call->before_info);
        } else {
            separator = call->before_info;
        }
        wmem_strbuf_append(line, wmem_strbuf_get_str(call->info));
    }
    if (call->is_noise || wmem_strbuf_get_len(line) == 0) {
        return;
    }
    /* the column cuts what finds no room in it, also within a character */
    const char *before = col_get_text(cinfo, COL_INFO), *text = wmem_strbuf_get_str(line), *end = text;
    size_t taken = (before ? strlen(before) : 0) + strlen(separator);
    size_t room = taken < COL_MAX_INFO_LEN ? COL_MAX_INFO_LEN - 1 - taken : 0;
    if (wmem_strbuf_get_len(line) >= room) {
        g_utf8_validate(text, (gssize)room, &end);
        wmem_strbuf_truncate(line, (size_t)(end - text));
    }
    col_append_sep_str(cinfo, COL_INFO, separator, wmem_strbuf_get_str(line));
}

/* --- Status and handles ---------------------------------------------------------------------------------------- */

uint32_t call_read_status(rpc_pdu *call, int hf)
{
    call->tapped.status = ndr_u32(&call->ndr, hf);
    call->tapped.has_status = true;
    return call->tapped.status;
}

void call_report_status(rpc_pdu *call, uint32_t status)
{
    if (status != 0) {
        const char *name = text_win32_error(call->pinfo->pool, status);
        call->tapped.has_failed = true;
        expert_report_add(&call->report, call->ndr.cursor.item, EI_CALL_FAILED, "%s failed: %s", call->tapped.operation,
                          name);
        info_add_detail(call, "%s", name);
    }
}

void call_show_late(expert_report *report, proto_item *item, const struct state_late *late)
{
    if (late && late->late.seconds > 0) {
        expert_report_add(report, item, EI_LATE, "Late sample: %.3f s since the previous one (usually %.3f s)",
                          late->late.seconds, late->late.usual);
    }
    if (late && late->slow.seconds > 0) {
        expert_report_add(report, item, EI_LATE, "Slow response: %.3f s (usually %.3f s)", late->slow.seconds,
                          late->slow.usual);
    }
}

/* An answer with the bytes of a sample is that sample, captured twice: on both sides of a translation of addresses, for instance. */
static bool is_same_sample(const state_sample *sample, tvbuff_t *tvb)
{
    uint32_t size = tvb_captured_length(tvb);

    return sample && sample->bytes && sample->size == size && size > 0 &&
           memcmp(sample->bytes, tvb_get_ptr(tvb, 0, (int)size), size) == 0;
}

void call_answer(rpc_pdu *call, const value_ops *ops, const state_handle *handle, tvbuff_t *tvb)
{
    rpc_call *record = call->record;

    if (is_repeated(call) && !PINFO_FD_VISITED(call->pinfo) && is_same_sample(record->sample, tvb)) {
        record->same_frame = call->pinfo->num;
    }
    bool has_same_bytes = record->same_frame == call->pinfo->num;
    call->answer = (counter_response){
        .ops = ops,
        .server = call->server,
        .handle = handle,
        .request_frame = record->request_frame,
        .is_repeated = is_repeated(call),
        .is_malformed = call->report.damaged || (is_repeated(call) && !has_same_bytes),
        .sample = has_same_bytes || !is_repeated(call) ? record->sample : NULL,
        .tvb = tvb,
    };
    state_sample *sample = has_same_bytes || !is_repeated(call) ? record->sample : NULL;
    call->answer.table =
        value_response_get_table(call->pool, ops, sample, sample && sample->frame == call->pinfo->num, tvb);
}

void call_tell_answer(rpc_pdu *call, uint32_t counters)
{
    call->tapped.answer = &call->answer;
    call->tapped.has_counters = call->answer.sample != NULL;
    call->tapped.counters = counters;
}

void call_report_answer(rpc_pdu *call, const char *failed, const char *part)
{
    const state_sample *sample = call->answer.sample;

    call_show_late(&call->report, proto_tree_get_parent(call->tree), sample ? sample->late : NULL);
    if (call->has_column) {
        info_add_detail(call, "%s", value_tree_format_info(call->pinfo->pool, &call->answer, failed, part));
        call->before_info = ": ";
    }
}

bool call_handle_is_null(const uint8_t *bytes)
{
    static const uint8_t null_handle[PERF_HANDLE_SIZE];

    return memcmp(bytes, null_handle, PERF_HANDLE_SIZE) == 0;
}

state_handle *call_open_handle(rpc_pdu *call, state_handle_kind kind, const uint8_t *bytes, uint32_t frame,
                               const char *machine)
{
    return handle_open(kind, call->server, bytes, frame, machine);
}

bool call_note_sample(rpc_pdu *call, const sample_series *series, tvbuff_t *tvb)
{
    bool is_same = is_same_sample(series->newest, tvb);

    call->record->sample = is_same ? series->newest : NULL;
    return !is_same;
}

void call_close_handle(const rpc_pdu *call)
{
    state_handle *handle = call_may_learn(call) ? call->record->handle : NULL;

    if (handle && call->tapped.status == 0) {
        samples_close(handle, call->pool);
        handle_confirm(handle);
        handle->closed_frame = handle->closed_frame ? handle->closed_frame : call->record->request_frame;
    }
}

proto_tree *call_show_life(rpc_pdu *call, proto_item *item, const state_handle *handle)
{
    proto_tree *tree = proto_item_add_subtree(item, ett_handle);

    if (handle->opened_frame != 0) {
        tree_add_generated_uint(tree, call->fields->handle_opened_in, call->tvb, handle->opened_frame);
    }
    if (handle->closed_frame != 0) {
        tree_add_generated_uint(tree, call->fields->handle_closed_in, call->tvb, handle->closed_frame);
    }
    return tree;
}

void call_show_number(rpc_pdu *call, proto_tree *tree, const state_handle *handle)
{
    if (handle && handle->number != 0) {
        if (tree) {
            tree_add_generated_uint(tree, call->fields->handle_number, call->tvb, handle->number);
        }
        if (call->tree) { /* as call_begin() noted it */
            *note_of(call->pinfo) =
                (filter_note){proto_registrar_get_abbrev(call->fields->handle_number), handle->number};
        }
        info_add_subject(call, "%s %u", call->fields->handle_word, handle->number);
    }
}

void call_report_second(const rpc_pdu *call, expert_report *report, proto_item *item)
{
    if (is_repeated(call)) {
        expert_report_add(report, item, EI_SECOND_RESPONSE, "Duplicate response (first response in frame %u)",
                          call->record->response_frame);
    }
}

/* --- A PDU's end ----------------------------------------------------------------------------------------------- */

/* Padding to the verification trailer's 4 bytes ([MS-RPCE] 2.2.2.13) or NDR64's 8 is no parameter that was missed. */
void call_report_rest(rpc_pdu *call)
{
    buffer_cursor *cursor = &call->ndr.cursor;
    uint32_t left = cursor_left(cursor);

    if (left >= (call->ndr.ndr64 ? 8U : 4U)) {
        proto_item *item = proto_tree_add_item(call->tree, call->fields->rest, cursor->tvb, cursor->pos, left, ENC_NA);
        expert_report_add(&call->report, item, EI_TRAILING_BYTES, "%u bytes are left behind the last parameter", left);
    }
}

void call_pace(const rpc_pdu *call, state_handle *handle, const char *question)
{
    if (!call->first_time || handle == NULL) {
        return;
    }
    if (call->is_request) {
        timing_add_request(&sample_series_find_or_create(handle, question)->timing,
                           nstime_to_sec(&call->pinfo->abs_ts));
    } else if (call->record->sample == NULL) {
        pace_respond(&sample_series_find_or_create(handle, question)->timing, call_seconds(call), false);
    }
}

void call_hand_over(rpc_pdu *call, const state_handle *handle)
{
    tapped_call *tapped = &call->tapped;

    tapped->is_response = !call->is_request;
    tapped->is_repeated = is_repeated(call);
    tapped->is_damaged = call->report.damaged;
    tapped->request_frame = call->di->call_data->req_frame;
    tapped->seconds = call_seconds(call);
    tapped->server = call->server;
    tapped->does_not_seal = rpc_connection_is_unsealed(call->record->connection);
    tapped->handle = handle;
    tapped->is_late = tapped->is_response && call->record->sample && call->record->sample->late;
    tapped_hand_over(call->pinfo, tapped);
}

int call_end(rpc_pdu *call, proto_item *item)
{
    if (call->is_request && call->first_time) {
        call->record->request_damaged = call->report.damaged;
    }
    if (call->has_column) {
        write_info(call);
    }
    expert_report_end(&call->report, item);
    return (int)tvb_reported_length(call->tvb);
}

void call_fields_register(int proto, const char *prefix, const char *number_field, rpc_protocol *fields)
{
    static int *ett[] = {&ett_handle};
    const hf_register_info list[] = {
        FIELD_BYTES(fields->handle, fields->handle_label, "handle", "Context handle, as little-endian sends it"),
        FIELD_U32(fields->handle_number, fields->handle_number_label, number_field,
                  "Counts the handles of the capture, each time that one is opened"),
        FIELD_FRAME(fields->handle_opened_in, "Opened in", "handle.opened_in", "The response that opened it"),
        FIELD_FRAME(fields->handle_closed_in, "Closed in", "handle.closed_in", "The request that closed it"),
        FIELD_TEXT(fields->inside, "Performance counters shown under", "inside",
                   "The layer that shows what Wireshark took out of an encrypted message of SMB3"),
        FIELD_BYTES(fields->rest, "Trailing bytes", "rest", "What stands behind the last parameter"),
        FIELD_NODE(fields->noise, "Stub that cannot be read", "noise", "Its bytes, which were probably not decrypted"),
    };

    fields->proto = proto;
    fields_register_prefixed(proto, prefix, list, array_length(list));
    expert_info_register(proto, prefix, &fields->expert);
    if (records == NULL) {
        ndr_fields_register(proto);
        proto_register_subtree_array(ett, array_length(ett));
        records = wmem_map_new_autoreset(wmem_epan_scope(), wmem_file_scope(), g_direct_hash, g_direct_equal);
        pdus_register();
        proto_noted = proto;
        ws_register_conversation_filter("pcq", "Performance Counter Query", has_handle, filter_of_handle);
        ws_register_conversation_filter("pcq", "Performance Counter Monitor", is_call, filter_of_monitor);
    }
}
